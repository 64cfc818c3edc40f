"""Private ranking from pairwise comparisons (Cai, Chakraborty and Wang 2025)."""

from typing import TYPE_CHECKING

from dprank._door import door
from dprank.pairwise.rank_law import mean_rank_difference, rank_law, top_set_law
from dprank.pairwise.strengths import Strengths, strengths

if TYPE_CHECKING:
    from dprank.models.games import Fit
    from dprank.models.likelihood import mle, mle_from_counts
    from dprank.pairwise.local_comparisons import LocalComparisons
    from dprank.pairwise.noisy_counts import NoisyCounts
    from dprank.pairwise.perturbed_mle import PerturbedMLE, objective_loss
    from dprank.pairwise.sensitivity import l1_sensitivity, l2_sensitivity, linf_sensitivity

__all__ = [
    "Fit",
    "LocalComparisons",
    "NoisyCounts",
    "PerturbedMLE",
    "Strengths",
    "l1_sensitivity",
    "l2_sensitivity",
    "linf_sensitivity",
    "mean_rank_difference",
    "mle",
    "mle_from_counts",
    "objective_loss",
    "rank_law",
    "strengths",
    "top_set_law",
]
_HOMES = {
    "dprank.models.games": "Fit",
    "dprank.models.likelihood": "mle mle_from_counts",
    "dprank.pairwise.local_comparisons": "LocalComparisons",
    "dprank.pairwise.noisy_counts": "NoisyCounts",
    "dprank.pairwise.perturbed_mle": "PerturbedMLE objective_loss",
    "dprank.pairwise.sensitivity": "l1_sensitivity l2_sensitivity linf_sensitivity",
}
__getattr__ = door(__name__, _HOMES)
