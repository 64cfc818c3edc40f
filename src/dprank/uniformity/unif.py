"""UNIF: is a pair of items ordered the same way too often? (Busa-Fekete, Fotakis and Zampetakis 2021, Algorithm 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._binomial import binomial
from dprank._require import (
    as_floats,
    require_generator,
    require_number,
    require_probability,
    require_sizes,
    require_whole,
    settle,
    shown,
)
from dprank._search import least_whole
from dprank.data.rankings import Rankings, require_rankings
from dprank.release import Decision
from dprank.uniformity.pairs import disjoint_pairs, pair_signs

__all__ = [
    "LEAST",
    "MOST_POINTS",
    "OUTSIDE",
    "POINTS",
    "Unif",
    "pair_statistic",
    "square_law",
    "unif_decision",
    "unif_null_sf",
    "unif_null_threshold",
    "unif_sf",
]

#: Values of the statistic that are tabulated at most; beyond, its law is inverted at few frequencies.
POINTS = 1 << 23
#: Most values of the statistic that are tabulated where a table is needed.
MOST_POINTS = 1 << 27
#: Values of the statistic of which a threshold is sought among all at once.
_FEW = 1 << 12
#: Least significance that a threshold or a p-value is given for.
LEAST = 1e-7
#: -log of the probability that may lie outside of a table.
OUTSIDE = 45.0


@dataclass(frozen=True)
class Unif:
    """Test of uniformity by the orders of disjoint pairs of items, in a pairing drawn at random; without privacy.

    With S the rankings that put the first item of a pair first, less those that do not, the statistic Y is the sum of
    S^2 / k over floor(m / 2) pairs, k the number of rankings. Y >= `threshold` rejects (Busa-Fekete et al. 2021,
    Algorithm 2).

    Parameters
    ----------
    n_items : int
        m, at least 2. If it is odd a random item takes no part.
    threshold : float
        Infinity for a test that never rejects.
    n_voters : int, optional
        k, at least 2, where the threshold was made for one number of rankings; by default any.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    Unif.calibrated : the threshold for a given size.

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import Rankings, Unif
    >>> test = Unif.calibrated(n_items=4, n_voters=30, size=0.05)
    >>> agreeing = Rankings([[0, 1, 2, 3]] * 30, ["ash", "elm", "fir", "oak"])
    >>> test.test(agreeing, rng=np.random.default_rng(1)).reject
    True
    """

    n_items: int
    threshold: float
    n_voters: int | None = None

    def __post_init__(self) -> None:
        settle(self, n_items=require_whole("n_items", self.n_items, 2))
        settle(self, threshold=require_number("threshold", self.threshold))
        if self.n_voters is not None:
            settle(self, n_voters=require_whole("n_voters", self.n_voters, 2))

    @classmethod
    def calibrated(cls, *, n_items: int, n_voters: int, size: float = 0.05) -> Self:
        """The least threshold that uniform rankings reach with probability at most `size`.

        Parameters
        ----------
        n_items, n_voters : int
            m and k, at least 2.
        size : float
            In [1e-7, 1): smaller ones drown in the rounding of the law.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Notes
        -----
        Y is discrete, so that the exact size is mostly below `size`; with few rankings of few items there is no such
        threshold below infinity. Nothing is randomised.
        """
        sizes = require_sizes(n_items, n_voters)
        return cls(threshold=unif_null_threshold(sizes["n_items"] // 2, sizes["n_voters"], size), **sizes)

    def test(self, rankings: Rankings, rng: np.random.Generator) -> Decision:
        """Draw a pairing and decide.

        Parameters
        ----------
        rankings : Rankings
            At least two: of a single ranking Y is the number of pairs, whatever the ranking.
        rng : numpy.random.Generator
            Draws the pairing, and nothing else.

        Returns
        -------
        Decision
            Its p-value is not given below 1e-7, where the rounding of the law would show.

        Raises
        ------
        ValueError
            If the rankings are not those the test was made for.
        """
        require_rankings(rankings, self.n_items, 2, n_voters=self.n_voters)
        require_generator(rng)
        signs = pair_signs(rankings.positions, disjoint_pairs(self.n_items, rng=rng))
        return unif_decision(signs, self.threshold)


def pair_statistic(signs: NDArray[Any]) -> NDArray[np.float64]:
    """UNIF's Y: the sum over pairs of (sum over rankings of the sign)^2, divided by the number of rankings.

    Parameters
    ----------
    signs : ndarray of int, shape (..., rankings, pairs)
        Of -1 and +1.

    Returns
    -------
    ndarray of float, shape (...)

    Examples
    --------
    >>> float(pair_statistic(np.array([[1, 1], [1, -1], [1, 1]])))
    3.3333333333333335
    """
    totals = signs.sum(-2, dtype=np.int64)
    return np.asarray((totals**2).sum(-1) / signs.shape[-2])


def unif_decision(signs: NDArray[Any], threshold: float) -> Decision:
    """Reject if UNIF's Y of the signs, of shape (rankings, pairs), reaches a threshold.

    The p-value is exact, but never given below 1e-7, where the rounding of the law would show.

    Examples
    --------
    >>> decision = unif_decision(np.ones((4, 1), np.int8), threshold=4.0)
    >>> decision.reject, decision.p_value
    (True, 0.125)
    """
    value = float(pair_statistic(signs))
    k, n_pairs = signs.shape
    return Decision(value >= threshold, value, threshold, max(LEAST, float(unif_null_sf(n_pairs, k, value))))


def unif_null_sf(n_pairs: int, n_voters: int, y: ArrayLike) -> NDArray[np.float64]:
    """P(Y >= y) for UNIF's Y of uniform rankings: `unif_sf` without bias.

    Examples
    --------
    >>> float(unif_null_sf(n_pairs=1, n_voters=4, y=4.0))
    0.125
    """
    return unif_sf(n_pairs, n_voters, y)


def unif_sf(n_pairs: int, n_voters: int, y: ArrayLike, bias: ArrayLike = 0.0) -> NDArray[np.float64]:
    r"""P(Y >= y) for UNIF's Y if the signs of all pairs and rankings are independent.

    Parameters
    ----------
    n_pairs : int
        N, at least 1.
    n_voters : int
        k, at least 1.
    y : array_like of float
        Infinities are allowed.
    bias : array_like of float, shape () or (pairs,)
        Mean sign of the pairs, in [-1, 1]; 0 for uniform rankings.

    Returns
    -------
    ndarray of float
        In the shape of `y`; absolute error below 1e-8. With N < 20 pairs of more than 300,000 rankings or so the limit
        for many rankings, a (noncentral) chi-square law, stands in: error below 1e-3.

    Notes
    -----
    k Y is a sum of squares on the lattice 4 w (k even) or N + 8 w (k odd). The Fourier transform of one square's law,
    to the power N, is that of the sum: one table of O(k (N + 45)) entries, kept for the next call. Sign sums are
    sub-Gaussian, so that a chi-square bound says where the table may end. A table of more than 2^23 entries is
    replaced by a Fourier series of a few hundred terms.

    Examples
    --------
    >>> float(unif_sf(n_pairs=1, n_voters=4, y=4.0, bias=1.0))
    1.0
    """
    require_whole("n_voters", n_voters, 1)
    biases = _biases(n_pairs, bias)
    base, step = _lattice(n_voters)
    y = as_floats("y", y)
    if np.isnan(y).any():
        raise ValueError("y holds what is no number; numbers are needed")
    # no value of Y lies beyond these ends
    scaled = np.clip(y, -1, n_pairs * n_voters + 1) * n_voters
    if n_pairs == 1:
        return _one_pair(n_voters, biases[0][0], scaled)
    first, size = _window(n_pairs, n_voters, biases)
    if size > POINTS and n_pairs < 20:
        shift = n_voters * sum(count * b * b for b, count in biases)
        return np.asarray(scipy.stats.ncx2.sf(y, n_pairs, shift) if shift else scipy.stats.chi2.sf(y, n_pairs))
    # y = T / k may have been rounded: a value a hair above a lattice point is that point
    w = np.ceil((scaled - base * n_pairs) / step - 1e-9 - 1e-13 * np.abs(scaled))
    inside = np.clip(w, first, first + size)
    if size <= POINTS:
        tail = _tails(n_pairs, n_voters, biases)[(inside - first).astype(int)]
    else:
        tail = _inverted(n_pairs, n_voters, biases, (base * n_pairs + step * (inside - 0.5)) / n_voters)
    return np.where(w < first, 1.0, np.where(w >= first + size, 0.0, tail))


@lru_cache(maxsize=16)
def square_law(n_pairs: int, n_voters: int, bias: float = 0.0) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Law of k Y, the sum of the squared sign sums, if all signs are independent and of one mean.

    Parameters
    ----------
    n_pairs, n_voters : int
        N and k, at least 1.
    bias : float
        Mean sign, in [-1, 1]; 0 for uniform rankings.

    Returns
    -------
    squares : ndarray of int, shape (atoms,)
        Rising. At most O(k (N + 45)) of them without bias: a tail of probability exp(-45) is left out.
    law : ndarray of float, shape (atoms,)
        Their probabilities, with a rounding error of the order of 1e-15. Both arrays are read-only.

    Notes
    -----
    The table of `unif_sf`, at any size: a fast Fourier transform.

    Examples
    --------
    >>> squares, law = square_law(n_pairs=1, n_voters=4)
    >>> squares.tolist(), law.round(3).tolist()
    ([0, 4, 16], [0.375, 0.5, 0.125])
    """
    require_whole("n_voters", n_voters, 1)
    biases = _biases(n_pairs, bias)
    base, step = _lattice(n_voters)
    if n_pairs == 1:
        heads = np.arange((n_voters + 1) // 2, n_voters + 1)
        one = scipy.stats.binom(n_voters, (1 + bias) / 2)
        squares = (2 * heads - n_voters) ** 2
        law = np.where(squares == 0, one.pmf(heads), one.pmf(heads) + one.pmf(n_voters - heads))
    else:
        law = np.clip(_table(n_pairs, n_voters, biases), 0, None)
        squares = base * n_pairs + step * (_window(n_pairs, n_voters, biases)[0] + np.arange(len(law)))
    squares.flags.writeable = law.flags.writeable = False
    return squares, law


def unif_null_threshold(n_pairs: int, n_voters: int, size: float) -> float:
    """The least y on the lattice of UNIF's Y with P(Y >= y) <= `size` for uniform rankings; infinity if none has.

    Parameters
    ----------
    n_pairs, n_voters : int
        At least 1.
    size : float
        In [1e-7, 1): smaller ones drown in the rounding of the law.

    Examples
    --------
    >>> unif_null_threshold(n_pairs=1, n_voters=4, size=0.2), unif_null_threshold(n_pairs=1, n_voters=4, size=0.1)
    (2.0, inf)
    """
    size = require_probability("size", size, LEAST)
    return _null_threshold(require_whole("n_pairs", n_pairs, 1), require_whole("n_voters", n_voters, 1), size)


@lru_cache(maxsize=1 << 12)
def _null_threshold(n_pairs: int, n_voters: int, size: float) -> float:
    base, step = _lattice(n_voters)
    beyond = n_pairs * (n_voters**2 - base) // step + 1  # tail(0) = 1, tail(beyond) = 0

    def value(w: Any) -> Any:
        return (base * n_pairs + step * w) / n_voters

    known = unif_null_sf(n_pairs, n_voters, value(np.arange(beyond + 1))).tolist() if beyond <= _FEW else []

    def tail(w: int) -> float:
        return known[w] if 0 <= w < len(known) else float(unif_null_sf(n_pairs, n_voters, value(w)))

    w = least_whole(lambda w: tail(w) <= size, 0, beyond)
    return value(w) if tail(w) > 0 else math.inf


def _lattice(k: int) -> tuple[int, int]:
    """Squares of the sign sum of k signs are base + step w, w whole."""
    return (0, 4) if k % 2 == 0 else (1, 8)


def _biases(n_pairs: int, bias: ArrayLike) -> tuple[tuple[float, int], ...]:
    """Distinct biases and how often each occurs; the sign of a bias does not matter to a square."""
    require_whole("n_pairs", n_pairs, 1)
    values = np.abs(as_floats("bias", bias))
    if values.shape not in ((), (n_pairs,)) or not (values <= 1).all():
        raise ValueError(f"bias = {shown(bias)}; one number in [-1, 1] or {n_pairs} of them are needed")
    if values.ndim == 0:
        return ((float(values), n_pairs),)
    return tuple((float(b), int(count)) for b, count in zip(*np.unique(values, return_counts=True), strict=True))


def _window(n_pairs: int, k: int, biases: tuple[tuple[float, int], ...]) -> tuple[int, int]:
    """First lattice point and number of them that carry all but exp(-OUTSIDE) of the law, twice."""
    base, step = _lattice(k)
    reach = math.sqrt(n_pairs + 2 * math.sqrt(n_pairs * OUTSIDE) + 2 * OUTSIDE)
    centre = math.sqrt(k * sum(count * b * b for b, count in biases))
    low = max(0, math.floor((k * max(0.0, centre - reach) ** 2 - base * n_pairs) / step))
    high = math.ceil((k * (centre + reach) ** 2 - base * n_pairs) / step)
    return low, min(high, n_pairs * (k * k - base) // step) - low + 1


def _squares(k: int, bias: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Lattice points of one squared sign sum and their probabilities."""
    base, step = _lattice(k)
    ones = np.arange(k + 1)
    return ((2 * ones - k) ** 2 - base) // step, binomial(ones, k, (1 + bias) / 2)


def _table(n_pairs: int, k: int, biases: tuple[tuple[float, int], ...]) -> NDArray[np.float64]:
    """Probabilities of the lattice points of the window, but for rounding."""
    first, size = _window(n_pairs, k, biases)
    if size > MOST_POINTS:
        raise ValueError(f"n_voters = {k} and {n_pairs} pairs; the null law has {size} values, at most 2^27 are listed")
    length = scipy.fft.next_fast_len(size, real=True)
    spectrum = np.ones(length // 2 + 1, complex)
    for bias, count in biases:
        where, law = _squares(k, bias)
        spectrum *= scipy.fft.rfft(np.bincount(where % length, law, length)) ** count
    return np.asarray(np.roll(scipy.fft.irfft(spectrum, length), -(first % length))[:size])


@lru_cache(maxsize=16)
def _tails(n_pairs: int, k: int, biases: tuple[tuple[float, int], ...]) -> NDArray[np.float64]:
    return np.append(np.clip(np.cumsum(_table(n_pairs, k, biases)[::-1])[::-1], 0, 1), 0.0)


@lru_cache(maxsize=16)
def _waves(
    n_pairs: int, k: int, biases: tuple[tuple[float, int], ...]
) -> tuple[NDArray[np.float64], NDArray[np.complex128]]:
    """Frequencies of a square wave whose half period covers the window, and what they weigh in its mean."""
    base, step = _lattice(k)
    width = step * _window(n_pairs, k, biases)[1] / k
    # |E exp(i t S^2 / k)| is close to (1 + 4 t^2)^(-1/4): stop where its N-th power is below 1e-14
    last = 0.5 * math.sqrt(10 ** (56 / n_pairs) - 1)
    n = np.arange(1, max(32, 2 * width * last / math.pi), 2)
    transform = np.ones(len(n), complex)
    for bias, count in biases:
        where, law = _squares(k, bias)
        kept = law > 1e-20
        squares = (base + step * where[kept]) / k
        transform *= np.array([np.exp(1j * t * squares) @ law[kept] for t in math.pi * n / width]) ** count
    return math.pi * n / width, 2 / math.pi * transform / n


def _inverted(
    n_pairs: int, k: int, biases: tuple[tuple[float, int], ...], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(Y > y), y between two lattice points."""
    frequencies, coefficients = _waves(n_pairs, k, biases)
    return np.clip(0.5 + (np.exp(-1j * np.multiply.outer(y, frequencies)) @ coefficients).imag, 0, 1)


def _one_pair(k: int, bias: float, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    least = np.ceil((k + np.sqrt(np.clip(scaled * (1 - 1e-13), 0, None))) / 2 - 1e-9)
    p = (1 + bias) / 2
    both = scipy.stats.binom.sf(least - 1, k, p) + scipy.stats.binom.sf(least - 1, k, 1 - p)
    return np.asarray(np.where(scaled <= 0, 1.0, np.minimum(both, 1.0)))
