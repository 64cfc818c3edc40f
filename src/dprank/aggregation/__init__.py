"""Rank aggregation and its private forms (Alabi, Ghazi, Kumar and Manurangsi 2022): one order from voters' rankings.

Which mechanism, at the same epsilon; all but the last three have an ``additive_error`` to plan with:

- `PrivateBorda`: few voters or strong noise. Noise on one score an item; also the default where in doubt.
- `NoisyMatrix`: many voters, or a delta above 0. Noise on every pair, then an order of least Kemeny score.
- `PrivateWinner`: the first alone is wanted. Noise that hardly grows with the number of items.
- `LocalMatrix`: nobody is trusted. Every voter sends a few items, once, with ``report``; ``aggregate`` needs no trust.
  `LocalBorda` likewise, on scores.
- `ExponentialMechanism`: up to 22 items, the least error proved without delta; for research, as it computes in floats.
- `PrivateFootrule`: many voters, of whom single items divide many, if what counts is how far items are misplaced.
- `PrivateKwikSort`, `LocalKwikSort`: the paper's, to be compared with.

One release answers for one set of ballots: two releases cost the sum of their epsilons (`dprank.compose`).
Without privacy: `pairwise_fractions`, then `kemeny`'s order of least `kemeny_score`.
"""

from typing import TYPE_CHECKING

from dprank._door import door

if TYPE_CHECKING:
    from dprank.aggregation.exponential import ExponentialMechanism
    from dprank.aggregation.kemeny import Consensus, KemenyTimeout
    from dprank.aggregation.local_borda import LocalBorda
    from dprank.aggregation.local_kwiksort import LocalKwikSort
    from dprank.aggregation.local_reports import LocalMatrix
    from dprank.aggregation.matrix import kemeny_score, pairwise_fractions, shrink
    from dprank.aggregation.noisy_matrix import NoisyMatrix
    from dprank.aggregation.private_borda import PrivateBorda
    from dprank.aggregation.private_footrule import PrivateFootrule
    from dprank.aggregation.private_kwiksort import PrivateKwikSort
    from dprank.aggregation.winner import PrivateWinner

__all__ = [
    "Consensus",
    "ExponentialMechanism",
    "KemenyTimeout",
    "LocalBorda",
    "LocalKwikSort",
    "LocalMatrix",
    "NoisyMatrix",
    "PrivateBorda",
    "PrivateFootrule",
    "PrivateKwikSort",
    "PrivateWinner",
    "kemeny_score",
    "pairwise_fractions",
    "shrink",
]
_HOMES = {
    "dprank.aggregation.exponential": "ExponentialMechanism",
    "dprank.aggregation.kemeny": "Consensus KemenyTimeout",
    "dprank.aggregation.local_borda": "LocalBorda",
    "dprank.aggregation.local_kwiksort": "LocalKwikSort",
    "dprank.aggregation.local_reports": "LocalMatrix",
    "dprank.aggregation.matrix": "kemeny_score pairwise_fractions shrink",
    "dprank.aggregation.noisy_matrix": "NoisyMatrix",
    "dprank.aggregation.private_borda": "PrivateBorda",
    "dprank.aggregation.private_footrule": "PrivateFootrule",
    "dprank.aggregation.private_kwiksort": "PrivateKwikSort",
    "dprank.aggregation.winner": "PrivateWinner",
}
__getattr__ = door(__name__, _HOMES)
