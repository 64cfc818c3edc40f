"""Rank aggregation and its private forms (Alabi, Ghazi, Kumar and Manurangsi 2022)."""

from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import LocalBorda, PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort

__all__ = [
    "ExponentialMechanism",
    "LocalBorda",
    "LocalKwikSort",
    "LocalMatrix",
    "NoisyMatrix",
    "PrivateBorda",
    "PrivateKwikSort",
    "kemeny_score",
    "pairwise_fractions",
]
