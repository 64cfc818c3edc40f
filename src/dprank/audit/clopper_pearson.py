"""The classical lower bound on a privacy loss: an event learned on half the releases, counted on the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_floats
from dprank.audit.betting import LowerBound, Sampler, Seen, check, draw_rows

__all__ = ["KEPT", "held_out_bound", "loss_bounds"]

#: Events that one audit counts on releases that did not choose them.
KEPT = 3
#: Logarithm of the least chance of error that is told apart from 0; quantiles of beta laws fail far beyond it.
_LEAST = -150.0


def held_out_bound(
    sample: Sampler,
    pairs: Sequence[tuple[Any, Any]],
    epsilon: float,
    delta: float = 0.0,
    *,
    rng: np.random.Generator,
    confidence: float = 0.999,
    budget: int = 1_000_000,
    names: Sequence[str] = (),
    bits: bool = True,
) -> LowerBound:
    r"""Bound a privacy loss from below by simultaneous Clopper-Pearson intervals.

    Parameters
    ----------
    sample, pairs, epsilon, delta, rng, confidence, names, bits
        As of `dprank.audit.betting.lower_bound`.
    budget : int
        Releases in all, spent whole: half of them on all pairs alike, to choose a pair and `KEPT` events, half on that
        pair.

    Returns
    -------
    LowerBound
        `epsilon` is the bound itself, below or above what is claimed; `wealth` is 1 / p for the p-value of the claim.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the sampler does not return numbers of that shape.

    Notes
    -----
    With a lower bound p of the probability of an event under one law and an upper bound q under the other, the loss is
    at least :math:`\log((p - \delta) / q)`. Each of the 2 `KEPT` bounds may fail with chance
    (1 - confidence) / (2 `KEPT`). The budget must be known in advance: there is no looking at the result before.

    Examples
    --------
    >>> def leak(data, size, rng):  # publishes the data as they are
    ...     return np.full((size, 1), data)
    >>> held_out_bound(leak, [(3, 4)], epsilon=1.0, rng=np.random.default_rng(1), budget=4000).epsilon > 1
    True
    """
    check(pairs, epsilon, delta, rng, confidence, budget, ())
    learning = budget // (4 * len(pairs))
    seen = [Seen(*(draw_rows(sample, data, learning, rng) for data in pair)).judged(bits) for pair in pairs]
    error = (1 - confidence) / (2 * KEPT)
    ranked = []
    for number, judged in enumerate(seen):
        high, low = judged.shares()
        promise = loss_bounds(high * judged.rows, low * judged.rows, judged.rows, delta, error)
        ranked += [(float(promise[at]), number, int(at)) for at in np.argsort(-promise, kind="stable")[:KEPT]]
    pair = max(ranked)[1]
    events = [seen[pair].event(at) for _, number, at in ranked if number == pair]
    size = (budget - 2 * learning * len(pairs)) // 2
    held_out = Seen(*(draw_rows(sample, data, size, rng) for data in pairs[pair]))
    counts = [[event.holds(rows).sum() for rows in held_out.ordered(event.swapped)] for event in events]
    first, second = np.array(counts, float).T

    def bounds(log_error: float) -> NDArray[np.float64]:
        return loss_bounds(first, second, size, delta, math.exp(log_error) / (2 * KEPT))

    def missing(log_error: float) -> float:
        return epsilon - float(bounds(log_error).max())

    found = bounds(math.log(1 - confidence))
    log_p = 0.0 if missing(0.0) >= 0 else _LEAST if missing(_LEAST) < 0 else scipy.optimize.brentq(missing, _LEAST, 0.0)
    event = events[int(np.argmax(found))]
    return LowerBound(
        max(0.0, float(found.max())),
        confidence,
        float(epsilon),
        math.exp(-log_p),
        2 * learning * len(pairs) + 2 * size,
        pair,
        event.swapped,
        event.describe(names),
    )


def loss_bounds(first: ArrayLike, second: ArrayLike, rows: int, delta: float, error: float) -> NDArray[np.float64]:
    """Lower bounds of the loss from counts of events under both laws.

    Parameters
    ----------
    first, second : array_like of float, shape (events,)
        How often each event happened in `rows` releases of either data set.
    rows : int
    delta : float
    error : float
        Chance that the bound on one probability fails.

    Returns
    -------
    ndarray of float, shape (events,)
        Minus infinity where nothing is shown.

    Examples
    --------
    >>> bounds = loss_bounds([750, 0], [250, 0], rows=1000, delta=0.0, error=0.01)
    >>> 0.9 < float(bounds[0]) < math.log(3), float(bounds[1])  # 3/4 against 1/4, and never seen
    (True, -inf)
    """
    # counts of many events are few numbers
    x, of_x = np.unique(as_floats("first", first), return_inverse=True)
    y, of_y = np.unique(as_floats("second", second), return_inverse=True)
    p = np.where(x > 0, scipy.stats.beta.ppf(error, np.maximum(x, 1), rows - x + 1), 0.0)[of_x]
    q = np.where(y < rows, scipy.stats.beta.isf(error, y + 1, np.maximum(rows - y, 1)), 1.0)[of_y]
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(p - delta, 0)) - np.log(q)
