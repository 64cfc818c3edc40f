"""Private selection of the top k (Qiao, Su and Zhang 2021)."""

from typing import TYPE_CHECKING

from dprank._door import door

if TYPE_CHECKING:
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
_HOMES = {
    "dprank.data.tallies": "undeclared",
    "dprank.topk.joint": "JointExponential",
    "dprank.topk.local": "LocalTopK",
    "dprank.topk.oneshot": "Oneshot",
    "dprank.topk.peeling": "Peeling",
    "dprank.topk.private_spectral": "PrivateRankCentrality",
    "dprank.topk.spectral": "rank_centrality",
}
__getattr__ = door(__name__, _HOMES)
