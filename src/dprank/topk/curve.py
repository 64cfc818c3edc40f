r"""Exact privacy curves of one-shot selection: the law of the chosen set by one-dimensional quadrature.

Given the noisy value v of the last chosen item the others are independent, so a set S of k items is chosen with
probability

.. math:: P(S) = \int \sum_{j \in S} f(v - x_j) \prod_{i \in S, i \ne j} P(Z > v - x_i)
   \prod_{i \notin S} P(Z < v - x_i) \, dv .

Items of equal value before and after the change are one type. All sets with the same number of each type are equally
probable, and so are they at the neighbour: the sums over sets become sums over compositions of k, in log space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._quadrature import cut, gauss
from dprank._require import (
    as_array,
    as_floats,
    require_below_1,
    require_loss,
    require_one_of,
    require_positive,
    require_whole,
    shown,
)
from dprank.data.tallies import require_k
from dprank.privacy.divergence import PairLaw
from dprank.privacy.guarantee import Adjacency
from dprank.topk.noise_laws import LAWS, Noise, NoiseLaw

__all__ = ["Types", "WorstPair", "compositions", "least_scale", "log_set_probability", "pair_law", "worst_pair"]

#: An integrand this far below its peak, in logarithms, is left out; and so is noise beyond it.
_TAIL = 60.0
_NODES = 20
#: Offset, in noise scales beyond what one value moves, that a search for the worst pair goes to: some grow for ever.
_FAR = 64.0
#: Numbers that one step of the quadrature may hold.
_CHUNK = 4_000_000


class Types(NamedTuple):
    """Values and their neighbours, grouped: counts[t] items move from before[t] to after[t].

    Examples
    --------
    >>> Types([1, 2], before=[5.0, 3.0], after=[4.0, 3.0])  # one of three items falls from 5 to 4
    Types(counts=[1, 2], before=[5.0, 3.0], after=[4.0, 3.0])
    """

    counts: Sequence[int]
    before: Sequence[float]
    after: Sequence[float]


def pair_law(types: Types, k: int, scale: float, noise: Noise = "laplace", *, nodes: int = _NODES) -> PairLaw:
    """Exact laws of the chosen set of the k largest noisy values, at two neighbouring data sets.

    Parameters
    ----------
    types : Types
        Counts at least 1, values finite; k is at most the number of items.
    k : int
        At least 1.
    scale : float
        Of the noise, in units of the values, above 0.
    noise : {"laplace", "gumbel", "exponential"}
    nodes : int
        Of the Gauss-Legendre rule on a panel; panels are 1 / sqrt(k) scales wide and end in the kinks.

    Returns
    -------
    PairLaw
        A class for each composition of k, in the order of `compositions`. Probabilities have a relative error of about
        1e-12 however small they are (the tests compare 20 with 40 nodes up to k = 300).

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    O(compositions * panels * nodes), the compositions k^(types - 1) and the panels in which an integrand matters
    O(1) for equal values, O(sqrt(k) * range / scale) at most.

    Examples
    --------
    >>> law = pair_law(Types([1, 1], [0, 0], [math.log(3), 0]), 1, 1.0, "gumbel")
    >>> np.exp(law.log_p).round(4).tolist(), np.exp(law.log_q).round(4).tolist()  # of the second item, of the first
    ([0.5, 0.5], [0.25, 0.75])
    """
    counts, before, after = _arrays(types)
    require_k(k, int(counts.sum()))
    require_positive("scale", scale)
    require_one_of("noise", noise, tuple(LAWS))
    chosen = compositions(counts, k)
    ways = sum(_log_choices(n, int(take.max()))[take] for n, take in zip(counts, chosen.T.astype(int), strict=True))
    log_p, log_q = (
        ways + log_set_probability(counts, values / scale, chosen, LAWS[noise], nodes) for values in (before, after)
    )
    return PairLaw(log_p, log_q)


def _arrays(types: Types) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    try:
        counts, before, after = (as_floats("types", part) for part in types)
    except (TypeError, ValueError):
        raise ValueError(f"types = {shown(types)}; counts, before and after must be numbers") from None
    if not (counts.ndim == 1 and counts.shape == before.shape == after.shape and len(counts)):
        raise ValueError(f"types = {shown(types)}; counts, before and after must be of one length, at least 1")
    if not (np.isfinite(counts) & (counts >= 1) & (counts == np.round(counts))).all():
        raise ValueError(f"counts = {shown(types[0])}; they must be whole numbers, at least 1")
    for name, values, given in (("before", before, types[1]), ("after", after, types[2])):
        if not np.isfinite(values).all():
            raise ValueError(f"{name} = {shown(given)}; finite numbers are needed")
    return counts, before, after


def _log_choices(n: float, most: int) -> NDArray[np.float64]:
    """Log binomial coefficients of n over 0 .. most; the gamma function would lose digits where n is large."""
    step = np.arange(most)
    return np.r_[0.0, np.cumsum(np.log((n - step) / (step + 1)))]


def least_scale(types: Types, k: int, epsilon: float, delta: float, noise: Noise = "laplace") -> float:
    """Scale at which one pair of neighbours needs exactly epsilon at delta: no smaller noise is private enough.

    Parameters
    ----------
    types, k, noise
        As in `pair_law`; some values must move by different amounts.
    epsilon : float
        Above 0.
    delta : float
        In [0, 1).

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Some tens of calls of `pair_law`. The upper end of the search is the scale at which no pair that moves by so much
    needs more, whatever delta.

    Examples
    --------
    >>> round(least_scale(Types([1, 1], [1, 0], [0, 1]), 1, 0.5, 0.0, "gumbel"), 4)
    2.0
    """
    require_positive("epsilon", epsilon)
    require_below_1("delta", delta)
    counts, before, after = _arrays(types)
    require_k(k, int(counts.sum()))
    apart = require_positive("largest difference of two moves", float(np.ptp(after - before)))
    high = k * apart / epsilon
    excess = lambda log_scale: pair_law(types, k, math.exp(log_scale), noise).epsilon(delta) - epsilon  # noqa: E731
    low = math.log(high) - 1
    while excess(low) <= 0:
        low -= 1
    return math.exp(float(scipy.optimize.brentq(excess, low, math.log(high) + 1e-6, xtol=1e-9)))


class WorstPair(NamedTuple):
    """The worst pair of neighbours that a search found.

    Examples
    --------
    >>> worst_pair(2, 2, 1.0, delta=0.0)
    WorstPair(value=0.0, types=Types(counts=(2,), before=(0.0,), after=(1.0,)), k=2)
    """

    value: float  # epsilon at the given delta, or delta at the given epsilon
    types: Types
    k: int  # chosen among `types`: the other items lie so far above or below that they play no part (a limit)


def worst_pair(
    k: int,
    n_items: int,
    scale: float,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    noise: Noise = "laplace",
    adjacency: Adjacency = "replace",
    sensitivity: float = 1.0,
) -> WorstPair:
    """Search for neighbours with the largest delta at one epsilon, or the largest epsilon at one delta.

    A found pair is a lower bound on what privacy needs: no proof says that there is no worse one. The search is over
    two groups of equal values, one of which rises; how many there are of each, how many of the k are chosen among
    them, and the offset between them, up to 64 noise scales more than a value moves, are climbed from several starts.

    Parameters
    ----------
    k, n_items : int
        1 <= k <= n_items.
    scale : float
        Of the noise, in units of the values, above 0.
    epsilon, delta : float, optional
        One of them: epsilon at least 0, or delta in [0, 1).
    noise : {"laplace", "gumbel", "exponential"}
    adjacency : {"replace", "add_remove"}
        Whether values may move in any directions, or all in one.
    sensitivity : float
        Most that one value may move, above 0.

    Returns
    -------
    WorstPair
        After a few hundred calls of `pair_law`; with k = n_items there is nothing to learn, and the value is 0.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> found = worst_pair(1, 2, 1.0, epsilon=0.0, noise="gumbel")
    >>> round(found.value, 4), found.types.before, found.types.after  # two items change places
    (0.4621, (-1.0, 0.0), (0.0, -1.0))
    """
    if (epsilon is None) == (delta is None):
        raise ValueError(f"epsilon, delta = {epsilon}, {delta}; exactly one of them is needed")
    if epsilon is not None:
        require_loss("epsilon", epsilon)
    else:
        require_below_1("delta", delta)
    require_k(k, require_whole("n_items", n_items, 1))
    require_positive("scale", scale)
    require_positive("sensitivity", sensitivity)
    require_one_of("noise", noise, tuple(LAWS))
    require_one_of("adjacency", adjacency, get_args(Adjacency))
    fall = sensitivity if adjacency == "replace" else 0.0
    seen: dict[tuple[int, int, int, float], float] = {}

    def types(at: tuple[int, int, int, float]) -> Types:
        chosen, rest, up, offset = at
        return Types((up, chosen + rest - up), (offset * scale, 0.0), (offset * scale + sensitivity, 0.0 - fall))

    farthest = _FAR + sensitivity / scale

    def value(at: tuple[int, int, int, float]) -> float:
        chosen, rest, up, offset = at
        if abs(offset) > farthest or not (1 <= chosen <= k and 1 <= rest <= n_items - k and 1 <= up < chosen + rest):
            return -math.inf
        if at not in seen:
            law = pair_law(types(at), chosen, scale, noise)
            seen[at] = float(law.delta(epsilon)) if epsilon is not None else law.epsilon(delta or 0.0)
        return seen[at]

    if k == n_items:
        return WorstPair(0.0, Types((k,), (0.0,), (sensitivity,)), k)
    rests = {min(n_items - k, rest) for rest in (1, k, k + k // 2, 5 * k)}
    starts = {
        (chosen, rest, up, offset)
        for rest in rests
        for chosen in {k, min(k, rest + rest // 2)}
        for up in {1, rest, chosen, (chosen + rest) // 2, chosen + rest - 1}
        for offset in (-4.0, -1.0, 0.0, 1.0, 4.0)
    }
    best = max((_climb(value, at) for at in sorted(starts, key=value)[-8:]), key=value)
    return WorstPair(value(best), types(best), best[0])


def _climb(value: Callable[[Any], float], at: tuple[int, int, int, float]) -> tuple[int, int, int, float]:
    """Pattern search: steps that shrink by half where none of them gains."""
    jump, slide = max(1, at[0] // 4), 1.0
    while True:
        chosen, rest, up, offset = at
        steps = [(chosen, rest, up, offset + sign * slide) for sign in (-1, 1)]
        for by in (-jump, jump):
            steps += [(chosen + by, rest, up, offset), (chosen, rest + by, up, offset), (chosen, rest, up + by, offset)]
            steps += [(chosen, rest + by, up + by, offset), (chosen + by, rest, up + by, offset)]
        best = max(steps, key=value)
        if value(best) > value(at):
            at = best
        elif jump == 1 and slide < 0.1:
            return at
        else:
            jump, slide = max(1, jump // 2), slide / 2


def compositions(counts: ArrayLike, k: int) -> NDArray[np.float64]:
    """All ways to take k items of the types, shape (compositions, types), as whole floats.

    Examples
    --------
    >>> compositions([2, 1], 2).tolist()
    [[1.0, 1.0], [2.0, 0.0]]
    """
    counts = as_array("counts", counts)
    sizes = [int(min(n, k)) + 1 for n in counts[:-1]]
    first = np.indices(sizes).reshape(len(sizes), math.prod(sizes))
    last = k - first.sum(axis=0)
    fits = (last >= 0) & (last <= counts[-1])
    return np.vstack([first[:, fits], last[fits]]).T.astype(float)


def log_set_probability(
    counts: NDArray[np.float64],
    values: NDArray[np.float64],
    chosen: NDArray[np.float64],
    law: NoiseLaw,
    nodes: int = _NODES,
) -> NDArray[np.float64]:
    """Log probability of one set of every composition, at noise of scale 1.

    Parameters
    ----------
    counts, values : ndarray of float, shape (types,)
        Whole numbers, and values in units of the scale of the noise.
    chosen : ndarray of float, shape (compositions, types)
        Whole, at most `counts`, rows with a common sum k of at least 1.
    law : NoiseLaw
    nodes : int
        As in `pair_law`.

    Returns
    -------
    ndarray of float, shape (compositions,)

    Examples
    --------
    >>> two, equal, one = np.array([2.0]), np.zeros(1), np.array([[1.0]])
    >>> np.exp(log_set_probability(two, equal, one, LAWS["laplace"])).round(4).tolist()
    [0.5]
    """
    k, items = chosen[0].sum(), counts.sum()
    if k == items:
        return np.zeros(len(chosen))
    panels = _panels(values, law, items)
    # the threshold's spread is of order 1 / sqrt(k)
    parts = math.ceil(math.sqrt(min(k, items - k) if law.name == "laplace" else k))
    out = np.empty(len(chosen))
    step = max(1, _CHUNK // (2 * parts * panels.shape[1]))
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        wide = panels[:, _matter(panels, counts, values, some, law)]
        fine = _split(wide, parts)
        left, right = fine[:, _matter(fine, counts, values, some, law)]
        at, mass = gauss(left, right, nodes)
        inner = max(1, _CHUNK // len(at))
        for row in range(0, len(some), inner):
            exponent, rate = _integrand(at, counts, values, some[row : row + inner], law)
            peak = exponent.max(axis=1, keepdims=True)
            total = (np.exp(exponent - peak) * rate) @ mass
            out[start + row : start + row + len(total)] = peak[:, 0] + np.log(total)
    return out


def _panels(values: NDArray[np.float64], law: NoiseLaw, items: float) -> NDArray[np.float64]:
    """Left and right ends, shape (2, panels), of panels at most a scale wide that no kink cuts."""
    reach = _TAIL + math.log(items)
    kinks = (values[:, None] + law.kinks).ravel()
    ends = np.unique(np.concatenate([[values.min() - reach], kinks, [values.max() + reach]]))
    edges = cut(ends, 1.0)
    return np.stack([edges[:-1], edges[1:]])


def _split(panels: NDArray[np.float64], parts: int) -> NDArray[np.float64]:
    left, right = panels[..., None]
    width = (right - left) / parts
    left = left + width * np.arange(parts)
    return np.stack([left, left + width]).reshape(2, -1)


def _integrand(
    at: NDArray[np.float64],
    counts: NDArray[np.float64],
    values: NDArray[np.float64],
    chosen: NDArray[np.float64],
    law: NoiseLaw,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log probability that the chosen lie above and the others below, and the rate at which the last chosen ends it."""
    z = at - values[:, None]
    above, below = law.log_tails(z)
    below = np.maximum(below, -1e200)  # a finite stand-in: 0 * inf is not 0
    return chosen @ above + (counts - chosen) @ below, chosen @ np.exp(law.log_density(z) - above)


def _matter(
    panels: NDArray[np.float64],
    counts: NDArray[np.float64],
    values: NDArray[np.float64],
    chosen: NDArray[np.float64],
    law: NoiseLaw,
) -> NDArray[np.bool_]:
    """Which panels any composition needs: integrands of log-concave noise fall off for good beyond their peak."""
    exponent, rate = _integrand(panels.ravel(), counts, values, chosen, law)
    with np.errstate(divide="ignore"):
        height = exponent + np.log(rate)
    near = (height > height.max(axis=1, keepdims=True) - _TAIL).any(axis=0).reshape(2, -1).any(axis=0)
    near[1:] |= near[:-1].copy()  # a peak may hide between two ends
    near[:-1] |= near[1:].copy()
    return near
