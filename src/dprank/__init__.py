"""Differentially private ranking: data, mechanisms whose guarantees are derived, releases, and an auditor.

Everything a user needs is here, by name; a name is imported when it is first used.
"""

# a name is told to type checkers under the same name, which says that it is meant to be had from here
# ruff: noqa: PLE0604
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dprank.aggregation.exponential import ExponentialMechanism as ExponentialMechanism
    from dprank.aggregation.kemeny import kemeny as kemeny
    from dprank.aggregation.local_borda import LocalBorda as LocalBorda
    from dprank.aggregation.local_kwiksort import LocalKwikSort as LocalKwikSort
    from dprank.aggregation.local_reports import LocalMatrix as LocalMatrix
    from dprank.aggregation.matrix import kemeny_score as kemeny_score
    from dprank.aggregation.matrix import pairwise_fractions as pairwise_fractions
    from dprank.aggregation.noisy_matrix import NoisyMatrix as NoisyMatrix
    from dprank.aggregation.private_borda import PrivateBorda as PrivateBorda
    from dprank.aggregation.private_footrule import PrivateFootrule as PrivateFootrule
    from dprank.aggregation.private_kwiksort import PrivateKwikSort as PrivateKwikSort
    from dprank.aggregation.winner import PrivateWinner as PrivateWinner
    from dprank.audit.auditor import Audit as Audit
    from dprank.audit.auditor import audit as audit
    from dprank.data.ballots import Ballots as Ballots
    from dprank.data.comparisons import Comparisons as Comparisons
    from dprank.data.comparisons import read_comparisons as read_comparisons
    from dprank.data.counting import pairwise_wins as pairwise_wins
    from dprank.data.counting import win_counts as win_counts
    from dprank.data.declaration import Declaration as Declaration
    from dprank.data.examples import example as example
    from dprank.data.kendall import kendall_distance as kendall_distance
    from dprank.data.rankings import Rankings as Rankings
    from dprank.data.rankings import read_rankings as read_rankings
    from dprank.data.tallies import Tallies as Tallies
    from dprank.data.tallies import read_tallies as read_tallies
    from dprank.data.tallies import undeclared as undeclared
    from dprank.models.bradley_terry import sample_voters as sample_voters
    from dprank.models.likelihood import mle as mle
    from dprank.models.mallows import Mallows as Mallows
    from dprank.pairwise.local_comparisons import LocalComparisons as LocalComparisons
    from dprank.pairwise.noisy_counts import NoisyCounts as NoisyCounts
    from dprank.pairwise.perturbed_mle import PerturbedMLE as PerturbedMLE
    from dprank.plan.planner import Choice as Choice
    from dprank.plan.planner import Plan as Plan
    from dprank.plan.planner import plan as plan
    from dprank.privacy.budget import Budget as Budget
    from dprank.privacy.budget import BudgetRefused as BudgetRefused
    from dprank.privacy.guarantee import Guarantee as Guarantee
    from dprank.privacy.guarantee import compose as compose
    from dprank.privacy.noise import SECURE as SECURE
    from dprank.release import Decision as Decision
    from dprank.release import Ranking as Ranking
    from dprank.release import Release as Release
    from dprank.release import Report as Report
    from dprank.release import Selection as Selection
    from dprank.topk.joint import JointExponential as JointExponential
    from dprank.topk.local import LocalTopK as LocalTopK
    from dprank.topk.oneshot import Oneshot as Oneshot
    from dprank.topk.peeling import Peeling as Peeling
    from dprank.topk.private_spectral import PrivateRankCentrality as PrivateRankCentrality
    from dprank.topk.spectral import rank_centrality as rank_centrality
    from dprank.uniformity.bucketed import BatchVote as BatchVote
    from dprank.uniformity.bucketed import Bucketed as Bucketed
    from dprank.uniformity.friedman import Friedman as Friedman
    from dprank.uniformity.laplace import LaplaceUnif as LaplaceUnif
    from dprank.uniformity.local import LocalOneBit as LocalOneBit
    from dprank.uniformity.local import LocalPairs as LocalPairs
    from dprank.uniformity.local_two_stage import LocalTwoStage as LocalTwoStage
    from dprank.uniformity.mallows_approximate import MallowsApproximate as MallowsApproximate
    from dprank.uniformity.noisy_norm import NoisyNorm as NoisyNorm
    from dprank.uniformity.optimal_vote import OptimalVote as OptimalVote
    from dprank.uniformity.truncated import Trun as Trun
    from dprank.uniformity.two_sample import TwoSample as TwoSample
    from dprank.uniformity.unif import Unif as Unif

__version__ = "0.2.0"

#: Where each name lives.
_HOMES = {
    "Audit": "audit.auditor",
    "Ballots": "data.ballots",
    "BatchVote": "uniformity.bucketed",
    "Bucketed": "uniformity.bucketed",
    "Budget": "privacy.budget",
    "BudgetRefused": "privacy.budget",
    "Choice": "plan.planner",
    "Comparisons": "data.comparisons",
    "Decision": "release",
    "Declaration": "data.declaration",
    "ExponentialMechanism": "aggregation.exponential",
    "Friedman": "uniformity.friedman",
    "Guarantee": "privacy.guarantee",
    "JointExponential": "topk.joint",
    "LaplaceUnif": "uniformity.laplace",
    "LocalBorda": "aggregation.local_borda",
    "LocalComparisons": "pairwise.local_comparisons",
    "LocalKwikSort": "aggregation.local_kwiksort",
    "LocalMatrix": "aggregation.local_reports",
    "LocalOneBit": "uniformity.local",
    "LocalPairs": "uniformity.local",
    "LocalTopK": "topk.local",
    "LocalTwoStage": "uniformity.local_two_stage",
    "Mallows": "models.mallows",
    "MallowsApproximate": "uniformity.mallows_approximate",
    "NoisyCounts": "pairwise.noisy_counts",
    "NoisyMatrix": "aggregation.noisy_matrix",
    "NoisyNorm": "uniformity.noisy_norm",
    "Oneshot": "topk.oneshot",
    "Peeling": "topk.peeling",
    "OptimalVote": "uniformity.optimal_vote",
    "PerturbedMLE": "pairwise.perturbed_mle",
    "Plan": "plan.planner",
    "PrivateBorda": "aggregation.private_borda",
    "PrivateFootrule": "aggregation.private_footrule",
    "PrivateKwikSort": "aggregation.private_kwiksort",
    "PrivateRankCentrality": "topk.private_spectral",
    "PrivateWinner": "aggregation.winner",
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
    "plan": "plan.planner",
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
