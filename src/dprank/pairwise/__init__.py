"""Private ranking from pairwise comparisons (Cai, Chakraborty and Wang 2025)."""

from dprank.pairwise.noisy_counts import NoisyCounts, NoisyRanking, l1_sensitivity
from dprank.pairwise.rank_law import mean_rank_difference, rank_law, top_set_law

__all__ = [
    "NoisyCounts",
    "NoisyRanking",
    "l1_sensitivity",
    "mean_rank_difference",
    "rank_law",
    "top_set_law",
]
