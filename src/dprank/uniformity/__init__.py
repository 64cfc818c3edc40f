"""Tests of uniformity for rankings, without and with privacy (Busa-Fekete, Fotakis and Zampetakis 2021)."""

from typing import TYPE_CHECKING

from dprank._door import door

if TYPE_CHECKING:
    from dprank.release import Decision
    from dprank.uniformity.bucketed import BatchVote, Bucketed
    from dprank.uniformity.friedman import Friedman
    from dprank.uniformity.laplace import LaplaceUnif
    from dprank.uniformity.local import LocalOneBit, LocalPairs
    from dprank.uniformity.local_two_stage import LocalTwoStage
    from dprank.uniformity.mallows_approximate import MallowsApproximate
    from dprank.uniformity.noisy_norm import NoisyNorm
    from dprank.uniformity.optimal_vote import OptimalVote
    from dprank.uniformity.truncated import Trun
    from dprank.uniformity.two_sample import TwoSample
    from dprank.uniformity.unif import Unif

__all__ = [
    "BatchVote",
    "Bucketed",
    "Decision",
    "Friedman",
    "LaplaceUnif",
    "LocalOneBit",
    "LocalPairs",
    "LocalTwoStage",
    "MallowsApproximate",
    "NoisyNorm",
    "OptimalVote",
    "Trun",
    "TwoSample",
    "Unif",
]
_HOMES = {
    "dprank.release": "Decision",
    "dprank.uniformity.bucketed": "BatchVote Bucketed",
    "dprank.uniformity.friedman": "Friedman",
    "dprank.uniformity.laplace": "LaplaceUnif",
    "dprank.uniformity.local": "LocalOneBit LocalPairs",
    "dprank.uniformity.local_two_stage": "LocalTwoStage",
    "dprank.uniformity.mallows_approximate": "MallowsApproximate",
    "dprank.uniformity.noisy_norm": "NoisyNorm",
    "dprank.uniformity.optimal_vote": "OptimalVote",
    "dprank.uniformity.truncated": "Trun",
    "dprank.uniformity.two_sample": "TwoSample",
    "dprank.uniformity.unif": "Unif",
}
__getattr__ = door(__name__, _HOMES)
