"""The k largest of many noisy values, without drawing most of the noise."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._jit import njit
from dprank._require import require_generator, require_one_of, require_positive
from dprank.data.tallies import labels_of, require_values
from dprank.privacy import noise as noises
from dprank.privacy.guarantee import Adjacency
from dprank.topk.noise_laws import LAWS, Noise

__all__ = ["named", "noisy_top_k", "spread", "unranked", "whole_top_k"]

if TYPE_CHECKING:
    import pandas as pd

# items that share a bound on their chance to matter
_BLOCK = 512
# contenders are held until they are at least so many more than k, then thinned to k
_SPARE = 64
_CODE = {"laplace": 0, "gumbel": 1, "exponential": 2}


def noisy_top_k(
    values: ArrayLike, k: int, scale: float, noise: Noise, rng: np.random.Generator, *, largest: bool = True
) -> NDArray[np.int64]:
    r"""Positions of the k largest values after independent noise is added to every one.

    Parameters
    ----------
    values : array_like of int or float, shape (items,)
        Finite. Contiguous 64-bit numbers are not copied.
    k : int
        In 1 .. items.
    scale : float
        Of the noise, in units of the values, above 0.
    noise : {"laplace", "gumbel", "exponential"}
    rng : numpy.random.Generator
        Floating-point noise is for research.
    largest : bool
        False for the k smallest; noise is then subtracted.

    Returns
    -------
    ndarray of int, shape (k,)
        Best first.

    Raises
    ------
    ValueError
        Naming what is out of range, or the first value that is not finite.

    Notes
    -----
    Exact in law. Once k noisy values are at least T, an item of value x matters only if its noise exceeds
    (T - x) / scale. For a block of items with maximum x that has chance p at most, so the next item to look at is a
    geometric number of items away; its noise is drawn from what lies above the bound of the block, and the item is
    kept if it exceeds T. Blocks come by falling maximum, which brings T up early whatever order the data are in.

    O(items) for the maxima, a pass at the speed of memory. Noise is drawn for about k log2(2 items / k) items if all
    values are equal (k at least 64), for fewer if those of a block are alike, and never for more than all. The time
    depends on the values: whoever can measure it may learn from it.

    Examples
    --------
    >>> noisy_top_k([90, 10, 80], 2, 0.1, "laplace", np.random.default_rng(0)).tolist()
    [0, 2]
    """
    given = require_values(values, k)
    scale = require_positive("scale", scale)
    require_one_of("noise", noise, tuple(LAWS))
    require_generator(rng, "floating-point noise is for research")
    best = np.maximum if largest else np.minimum
    whole = len(given) // _BLOCK * _BLOCK
    bests = best.reduce(given[:whole].reshape(-1, _BLOCK), axis=1)
    if whole < len(given):
        bests = np.append(bests, best.reduce(given[whole:]))
    order = np.argsort(bests)[:: -1 if largest else 1].copy()
    sign = given.dtype.type(1 if largest else -1)
    given = given.view()
    given.flags.writeable = False  # as it may be given: compiled once for both
    items, noisy = _contenders(given, sign, best.reduce(bests), bests, order, k, scale, _CODE[noise], rng)
    chosen = np.argpartition(-noisy, k - 1)[:k]
    return items[chosen[np.argsort(-noisy[chosen])]]


def whole_top_k(
    values: NDArray[np.int64],
    k: int,
    scale: float,
    noise: Noise,
    rng: noises.Source,
    *,
    grid: int,
    largest: bool = True,
) -> NDArray[np.int64]:
    """Positions of the k largest integers after whole Laplace or exponential noise, equal ones in random order.

    Parameters
    ----------
    values : ndarray of int, shape (items,)
    k, scale, largest
        As of `noisy_top_k`.
    noise : {"laplace", "exponential"}
    rng : numpy.random.Generator or dprank.SECURE
    grid : int
        Noise is on the multiples of 1 / grid. A shift by some of them changes its law as it does that of noise on
        reals: with random ties it is noise spread evenly over the cell above each of them.

    Returns
    -------
    ndarray of int, shape (k,)
        Best first.

    Examples
    --------
    >>> whole_top_k(np.array([90, 10, 80]), 2, 0.1, "laplace", np.random.default_rng(1), grid=1).tolist()
    [0, 2]
    """
    draw = noises.discrete_laplace if noise == "laplace" else noises.geometric
    noisy = draw(grid * scale, len(values), rng=rng) + (grid if largest else -grid) * values
    if isinstance(rng, noises.SecureSource):
        chosen = _best(noisy, k, rng)
    else:
        shuffled = rng.permutation(len(values))
        chosen = shuffled[np.argpartition(-noisy[shuffled], k - 1)[:k]]
    return chosen[np.argsort(-noisy[chosen], kind="stable")]


def _best(noisy: NDArray[np.int64], k: int, rng: noises.SecureSource) -> NDArray[np.int64]:
    """Positions of the k largest, in random order; which of those that tie for the last places, is random, too."""
    least = np.partition(noisy, -k)[-k]
    above, ties = np.flatnonzero(noisy > least), np.flatnonzero(noisy == least)
    chosen = np.r_[above, ties[rng.permutation(len(ties))[: k - len(above)]]]
    return chosen[rng.permutation(k)]


def spread(sensitivity: float, adjacency: Adjacency) -> float:
    """Most that the difference of two values may move.

    Examples
    --------
    >>> spread(1.0, "replace"), spread(1.0, "add_remove")
    (2.0, 1.0)
    """
    return require_positive("sensitivity", sensitivity, up=True) * (2 if adjacency == "replace" else 1)


def named(values: ArrayLike | pd.Series, codes: NDArray[np.int64]) -> NDArray[Any]:
    """Items as the index of a Series names them, or as codes.

    Examples
    --------
    >>> import pandas as pd
    >>> named(pd.Series([90, 10], ["flu", "gout"]), np.array([1])).tolist(), named([90, 10], np.array([1])).tolist()
    (['gout'], [1])
    """
    labels = labels_of(values)
    return codes if labels is None else labels[codes]


def unranked(values: ArrayLike | pd.Series, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes in an order that tells no more than which they are: of their labels; ascending without labels.

    The order of a Series may be a secret: `value_counts` sorts by the counts. Labels that cannot be compared go by type
    and text.

    Examples
    --------
    >>> import pandas as pd
    >>> unranked(pd.Series([90, 10], ["gout", "flu"]), np.array([0, 1])).tolist()  # flu, gout
    [1, 0]
    >>> unranked([10, 90], np.array([1, 0])).tolist()
    [0, 1]
    """
    codes = np.sort(codes)
    if labels_of(values) is None:
        return codes
    labels = named(values, codes)
    if labels.dtype != object:
        return codes[np.argsort(labels, kind="stable")]
    places = list(range(len(labels)))
    try:
        by_label = sorted(places, key=labels.__getitem__)
        # sets and NaN compare without being in order
        ranked = all(labels[i] < labels[j] for i, j in pairwise(by_label))
    except (TypeError, ValueError):
        ranked = False
    if not ranked:
        by_label = sorted(places, key=lambda i: (type(labels[i]).__name__, str(labels[i])))
    return codes[by_label]


@njit(cache=True, error_model="numpy")
def _contenders(values, sign, top, bests, order, k, scale, law, rng):
    """At least k items with the k largest among them, and their noisy values less the top value."""
    room = min(len(values), max(2 * k, k + _SPARE))
    items, noisy = np.empty(room, np.int64), np.empty(room)
    held, threshold = 0, -np.inf
    clock = rng.standard_exponential()
    for block in order:
        i, stop = block * _BLOCK, min((block + 1) * _BLOCK, len(values))
        ahead = np.float64(sign * (bests[block] - top))
        while i < stop:
            least = (threshold - ahead) / scale
            if least > 0:
                # the clock rings after an exponential time; every item passed takes -log(1 - p) of it
                toll = _toll(least, law)
                if clock >= (stop - i) * toll:
                    clock -= (stop - i) * toll
                    break
                i = min(i + int(clock / toll), stop - 1)
                clock = rng.standard_exponential()
                draw = _above(least, law, rng)
            else:
                draw = _any(law, rng)
            value = np.float64(sign * (values[i] - top)) + scale * draw
            if value >= threshold:
                if held == room:
                    threshold, held = _keep(items, noisy, k)
                items[held], noisy[held] = i, value
                held += 1
            i += 1
    return items[:held], noisy[:held]


@njit(cache=True, error_model="numpy")
def _keep(items, noisy, k):
    """Move the k largest to the front; how large the least of them is, and k."""
    threshold = np.partition(noisy, len(noisy) - k)[len(noisy) - k]
    spare = k - np.sum(noisy > threshold)
    held = 0
    for j in range(len(noisy)):
        if noisy[j] == threshold:
            spare -= 1
        if noisy[j] > threshold or (noisy[j] == threshold and spare >= 0):
            items[held], noisy[held] = items[j], noisy[j]
            held += 1
    return threshold, held


@njit(inline="always")
def _toll(least, law):
    """-log P(noise <= least), least above 0."""
    if law == 1:
        return math.exp(-least)
    return -math.log1p(-math.exp(-least) / (2 if law == 0 else 1))


@njit(inline="always")
def _above(least, law, rng):
    """Noise given that it exceeds least, which is above 0."""
    if law == 1:
        return -math.log(-math.log1p((1 - rng.random()) * math.expm1(-math.exp(-least))))
    return least + rng.standard_exponential()


@njit(inline="always")
def _any(law, rng):
    if law == 1:
        return -math.log(rng.standard_exponential())
    size = rng.standard_exponential()
    return -size if law == 0 and rng.random() < 0.5 else size
