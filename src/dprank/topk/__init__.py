"""Private selection of the top k (Qiao, Su and Zhang 2021)."""

from dprank.data.tallies import undeclared
from dprank.topk.joint import JointExponential
from dprank.topk.local import LocalTopK
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.topk.spectral import rank_centrality

__all__ = [
    "JointExponential",
    "LocalTopK",
    "Oneshot",
    "Peeling",
    "PrivateRankCentrality",
    "rank_centrality",
    "undeclared",
]
