"""Differentially private ranking: data, mechanisms whose guarantees are derived, releases, and an auditor.

Everything a user needs is here, by name; a name is imported when it is first used.
"""

# ruff: noqa: F401, PLE0604
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dprank.aggregation.exponential import ExponentialMechanism
    from dprank.aggregation.kemeny import kemeny
    from dprank.aggregation.local_borda import LocalBorda
    from dprank.aggregation.local_kwiksort import LocalKwikSort
    from dprank.aggregation.local_reports import LocalMatrix
    from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
    from dprank.aggregation.noisy_matrix import NoisyMatrix
    from dprank.aggregation.private_borda import PrivateBorda
    from dprank.aggregation.private_kwiksort import PrivateKwikSort
    from dprank.audit.auditor import Audit, audit
    from dprank.data.comparisons import Comparisons, read_comparisons
    from dprank.data.counting import pairwise_wins, win_counts
    from dprank.data.examples import example
    from dprank.data.kendall import kendall_distance
    from dprank.data.rankings import Rankings, read_rankings
    from dprank.data.tallies import Tallies, read_tallies, undeclared
    from dprank.models.bradley_terry import sample_voters
    from dprank.models.likelihood import mle
    from dprank.models.mallows import Mallows
    from dprank.pairwise.noisy_counts import NoisyCounts
    from dprank.pairwise.perturbed_mle import PerturbedMLE
    from dprank.privacy.guarantee import Guarantee, compose
    from dprank.privacy.noise import SECURE
    from dprank.release import Decision, Ranking, Release, Report, Selection
    from dprank.topk.oneshot import Oneshot
    from dprank.topk.peeling import Peeling
    from dprank.topk.private_spectral import PrivateRankCentrality
    from dprank.topk.spectral import rank_centrality
    from dprank.uniformity.bucketed import BatchVote, Bucketed
    from dprank.uniformity.friedman import Friedman
    from dprank.uniformity.laplace import LaplaceUnif
    from dprank.uniformity.local import LocalOneBit, LocalPairs
    from dprank.uniformity.mallows_approximate import MallowsApproximate
    from dprank.uniformity.noisy_norm import NoisyNorm
    from dprank.uniformity.truncated import Trun
    from dprank.uniformity.two_sample import TwoSample
    from dprank.uniformity.unif import Unif

__version__ = "0.2.0"

#: Where each name lives.
_HOMES = {
    "Audit": "audit.auditor",
    "BatchVote": "uniformity.bucketed",
    "Bucketed": "uniformity.bucketed",
    "Comparisons": "data.comparisons",
    "Decision": "release",
    "ExponentialMechanism": "aggregation.exponential",
    "Friedman": "uniformity.friedman",
    "Guarantee": "privacy.guarantee",
    "LaplaceUnif": "uniformity.laplace",
    "LocalBorda": "aggregation.local_borda",
    "LocalKwikSort": "aggregation.local_kwiksort",
    "LocalMatrix": "aggregation.local_reports",
    "LocalOneBit": "uniformity.local",
    "LocalPairs": "uniformity.local",
    "Mallows": "models.mallows",
    "MallowsApproximate": "uniformity.mallows_approximate",
    "NoisyCounts": "pairwise.noisy_counts",
    "NoisyMatrix": "aggregation.noisy_matrix",
    "NoisyNorm": "uniformity.noisy_norm",
    "Oneshot": "topk.oneshot",
    "Peeling": "topk.peeling",
    "PerturbedMLE": "pairwise.perturbed_mle",
    "PrivateBorda": "aggregation.private_borda",
    "PrivateKwikSort": "aggregation.private_kwiksort",
    "PrivateRankCentrality": "topk.private_spectral",
    "Ranking": "release",
    "Rankings": "data.rankings",
    "Release": "release",
    "Report": "release",
    "SECURE": "privacy.noise",
    "Selection": "release",
    "Trun": "uniformity.truncated",
    "TwoSample": "uniformity.two_sample",
    "Unif": "uniformity.unif",
    "audit": "audit.auditor",
    "compose": "privacy.guarantee",
    "kemeny": "aggregation.kemeny",
    "kemeny_score": "aggregation.matrix",
    "kendall_distance": "data.kendall",
    "mle": "models.likelihood",
    "pairwise_fractions": "aggregation.matrix",
    "pairwise_wins": "data.counting",
    "rank_centrality": "topk.spectral",
    "sample_voters": "models.bradley_terry",
    "Tallies": "data.tallies",
    "example": "data.examples",
    "read_comparisons": "data.comparisons",
    "read_rankings": "data.rankings",
    "read_tallies": "data.tallies",
    "undeclared": "data.tallies",
    "win_counts": "data.counting",
}
__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dprank' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"dprank.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
