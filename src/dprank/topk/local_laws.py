"""The law of one person's report on their items. Registered by `dprank.topk.laws`."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.privacy.divergence import PairLaw, pair_of
from dprank.privacy.laws import NoExactRoute, exact, sample
from dprank.privacy.randomized_response import GRAIN
from dprank.topk.local import LocalTopK

__all__ = ["draw_sets", "sets_law", "sets_sent"]

#: Most sets that are listed.
_SETS = 200_000


def sets_sent(mechanism: LocalTopK, own: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All sets that may be sent, in lexicographic order, and their probabilities.

    Parameters
    ----------
    mechanism : LocalTopK
        Of few items.
    own : array_like of int
        Codes of a person's items, at most `per_person`, none twice.

    Raises
    ------
    NoExactRoute
        Where there are too many sets.

    Examples
    --------
    >>> codes, chances = sets_sent(LocalTopK(1, 1, 1, 1, 1 << 52, n_items=2), [1])  # the item half the time, else any
    >>> codes.ravel().tolist(), chances.round(3).tolist()
    ([0, 1, 2], [0.167, 0.667, 0.167])
    """
    overlap, share = mechanism.overlap, mechanism.kept / GRAIN
    if overlap.all > _SETS:
        raise NoExactRoute(f"sets of {mechanism.length} codes of {mechanism.n_items} items: too many to list")
    sets = np.array(list(combinations(range(mechanism.n_codes), mechanism.length)))
    fits = np.isin(sets, mechanism.filled(own)).sum(axis=1) >= mechanism.hits
    return sets, share * fits / overlap.fitting + (1 - share) / overlap.all


@exact.register
def sets_law(mechanism: LocalTopK, data: Any, other: Any) -> PairLaw:
    """Of one person's report, by the codes of their items.

    Examples
    --------
    >>> poll = LocalTopK.calibrated(epsilon=1.0, n_items=4, k=1, per_person=2)
    >>> round(sets_law(poll, [0, 1], [2]).epsilon(0), 6)
    1.0
    """
    return pair_of(*(sets_sent(mechanism, own)[1] for own in (data, other)))


@sample.register
def draw_sets(mechanism: LocalTopK, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Of one person.

    Examples
    --------
    >>> poll = LocalTopK(1, 1, 1, 1, GRAIN - 1, n_items=3)
    >>> draw_sets(poll, [2], 3, np.random.default_rng(1)).tolist()
    [[2.0], [2.0], [2.0]]
    """
    return mechanism.sent(np.tile(mechanism.filled(data), (size, 1)), rng).astype(float)
