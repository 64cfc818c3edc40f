"""Mallows rankings: P(ranking) ~ phi^d, d its Kendall distance from a centre (long: law, moments, ends, draws)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    MOST_AT_ONCE,
    as_array,
    as_floats,
    require_generator,
    require_real,
    require_whole,
    settle,
    shown,
)
from dprank.data.kendall import as_positions
from dprank.models.insertion import decode, select_table
from dprank.models.series import BERNOULLI, K, log_shrinkage, mass, sum_over_items

__all__ = ["Mallows", "theta_at"]

# what exp(-_NEGLIGIBLE) bounds is left out
_NEGLIGIBLE = 40.0
#: Uniform numbers that are drawn at once.
_TOGETHER = 2**14


@dataclass(frozen=True)
class Mallows:
    """Mallows phi-model on rankings of `n_items` items.

    Parameters
    ----------
    n_items : int
        m, from 2 to 2^53.
    theta : float
        -log phi, from 0 (uniform) to infinity (always the centre). Near the uniform law phi itself is too coarse for
        floating point.

    Notes
    -----
    The Kendall distance D from the centre is a sum of m independent truncated geometric variables, the j-th below j,
    and all that follows comes from it. Sums over j take O(log m) time: beyond the first few terms an Euler-Maclaurin
    formula evaluates them (the first 45 / theta if theta > 0.03), correct to about 1e-15 of their size.

    Examples
    --------
    >>> law = Mallows.of_phi(5, 0.5)
    >>> round(law.distance_moments()[0], 3), law.n_pairs, round(float(law.before(1)), 3)
    (2.477, 10, 0.667)
    >>> law.sample(3, rng=np.random.default_rng(0)).shape
    (3, 5)
    """

    n_items: int
    theta: float

    def __post_init__(self) -> None:
        # products of small numpy integers overflow
        settle(self, n_items=require_whole("n_items", self.n_items, 2))
        settle(self, theta=require_real("theta", self.theta, "-log phi must be at least 0", lambda x: x >= 0))

    @classmethod
    def of_phi(cls, n_items: int, phi: float) -> Self:
        """The law with spread `phi` in [0, 1]."""
        phi = require_real("phi", phi, "it must lie in [0, 1]", lambda x: 0 <= x <= 1)
        return cls(n_items, -math.log(phi) if phi > 0 else math.inf)

    @classmethod
    def of_gap(cls, n_items: int, gap: float) -> Self:
        """The law with phi = 1 - `gap`, exact however small the gap in [0, 1] is."""
        gap = require_real("gap", gap, "1 - phi must lie in [0, 1]", lambda x: 0 <= x <= 1)
        return cls(n_items, -math.log1p(-gap) if gap < 1 else math.inf)

    @property
    def phi(self) -> float:
        """Spread."""
        return math.exp(-self.theta)

    @property
    def n_pairs(self) -> int:
        """m (m - 1) / 2, the largest distance."""
        return self.n_items * (self.n_items - 1) // 2

    @property
    def log_normaliser(self) -> float:
        """log Z(phi), Z the product over j = 1 .. m of 1 + phi + ... + phi^(j-1). O(items)."""
        j = np.arange(1, self.n_items + 1)
        return float((np.log(j) if self.theta == 0 else np.log(mass(j, self.theta) / mass(1, self.theta))).sum())

    def distance_moments(self) -> tuple[float, float]:
        """Mean and variance of the Kendall distance from the centre, to about 1e-14 of each."""
        return _distance_mean(self.n_items, self.theta), _distance_variance(self.n_items, self.theta)

    def distance_cdf(self, distances: ArrayLike, count: int = 1) -> NDArray[np.float64]:
        """P(D <= d) for the Kendall distance D from the centre, or for the sum of several independent ones.

        Parameters
        ----------
        distances : array_like of float
            d; infinities are allowed.
        count : int
            How many distances are summed, at least 1.

        Returns
        -------
        ndarray of float
            In the shape of `distances`.

        Notes
        -----
        Absolute error below 1e-12: smaller tails are lost. The characteristic function at odd multiples of pi / N makes
        an error of at most P(D is farther than N from d), which Chernoff's bound puts below exp(-40); frequencies
        beyond which it stays below exp(-40) are left out. 6 to 130 are left for one distance, whatever m is: the
        first call for a law takes about a millisecond, and each distinct distance one or two microseconds more.
        """
        d = as_floats("distances", distances)
        if np.isnan(d).any():
            raise ValueError("distances has a nan; numbers are needed")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"count = {count!r}; an integer of at least 1 is needed")
        mean, variance = (int(count) * x for x in self.distance_moments())
        if variance == 0:
            return (d >= 0).astype(float)
        reach, t, wave, angle = _inversion(self.n_items, self.theta, int(count))
        asked, back = np.unique(np.floor(d.clip(mean - reach - 1, mean + reach + 1)), return_inverse=True)
        cdf, step = np.empty_like(asked), max(1, (1 << 20) // len(t))
        for i in range(0, len(asked), step):
            cdf[i : i + step] = 0.5 - np.sin(angle - t * (asked[i : i + step, None] + 0.5)) @ wave
        most = min(mean + reach, int(count) * self.n_pairs)
        cdf = np.where(asked < max(mean - reach, 0), 0.0, np.where(asked >= most, 1.0, cdf))
        return cdf.clip(0, 1)[back].reshape(d.shape)

    def total_variation(self) -> float:
        """Total variation distance from the uniform law, with an absolute error below 1e-12.

        Notes
        -----
        The likelihood ratio falls with the distance, so that the best event is a ball: all rankings whose probability
        exceeds 1 / m!.
        """
        if self.theta == 0:
            return 0.0
        if math.isinf(self.theta):
            return -math.expm1(-math.lgamma(self.n_items + 1))
        radius = math.floor(log_shrinkage(self.n_items, self.theta) / self.theta)
        return float(self.distance_cdf(radius) - Mallows(self.n_items, 0.0).distance_cdf(radius))

    def log_overlap(self) -> float:
        """log(1 - total variation distance from the uniform law), to 1e-12 however close to 1 the distance is.

        Notes
        -----
        1 - TV is the sum of the smaller of the two probabilities of each distance. Under the law of some theta between
        0 and ours whose mean is where the two cross, it is the mean of a function that peaks there, times a constant.
        The error of 1e-12 is absolute, and relative where the logarithm is large.
        """
        if self.theta == 0:
            return 0.0
        m, theta = self.n_items, self.theta
        if math.isinf(theta):
            return -math.lgamma(m + 1)
        if theta * math.sqrt(_distance_variance(m, 0.0)) < 4:
            return math.log1p(-self.total_variation())
        crossing = log_shrinkage(m, theta) / theta
        radius = math.floor(crossing)
        tilt = scipy.optimize.brentq(lambda x: _distance_mean(m, x) - crossing, 0, theta, rtol=1e-3)
        window = 2 * math.ceil((_reach(m, tilt) + _NEGLIGIBLE / min(tilt, theta - tilt)) / 2 + 1)
        t, log, angle = _wave(m, tilt, window)
        below = 1 / -np.expm1(-tilt + 1j * t)
        above = np.exp((crossing - radius - 1) * theta + tilt - 1j * t) / -np.expm1(tilt - theta - 1j * t)
        peak = 2 / window * (np.exp(log + 1j * (angle - t * radius)) * (below + above)).real.sum()
        return tilt * radius - log_shrinkage(m, tilt) + math.log(peak)

    def before(self, gap: ArrayLike) -> NDArray[np.float64]:
        """Probability that an item precedes another that stands `gap` places behind it in the centre.

        Parameters
        ----------
        gap : array_like of float
            As in `bias`.
        """
        return (1 + self.bias(gap)) / 2

    def bias(self, gap: ArrayLike) -> NDArray[np.float64]:
        """Probability of the centre's order less that of the opposite one, for two items `gap` places apart in it.

        Parameters
        ----------
        gap : array_like of float
            Finite; negative for an item that stands behind the other.

        Raises
        ------
        ValueError
            Where `gap` has what is not a finite number.

        Notes
        -----
        (g + 1) coth((g + 1) theta / 2) - g coth(g theta / 2), to about 1e-14 of itself; odd in the gap.
        """
        g = as_array("gap", gap)
        if g.size and (g.dtype.kind not in "iuf" or not np.isfinite(g).all()):
            raise ValueError(f"gap = {shown(gap)}; finite numbers of places are needed")
        g = g.astype(float)
        # no item has gap 0 from itself: sign(0) makes that 0
        size, half = np.maximum(np.abs(g), 1.0), self.theta / 2
        if math.isinf(half):
            return np.sign(g)
        low, high = np.minimum(size * half, 1.0), np.minimum((size + 1) * half, 1.0)
        # divided differences of x^2, x^4, ... times the series of x coth(x)
        powers, near = np.ones_like(low), np.zeros_like(low)
        for k, c in enumerate(BERNOULLI[:20], 1):
            near += c * 4.0**k * powers
            powers = powers * high**2 + low ** (2 * k)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            a, b = size * half, (size + 1) * half
            # sinh(half) / sinh(a) / sinh(b) without overflow
            fall = np.exp(half - a - b) * 2 * mass(1, 2 * half) / (mass(2, a) * mass(2, b))
            far = 1 / np.tanh(b) - size * fall
        return np.sign(g) * np.where((size + 1) * half < 1, near * (low + high), far)

    def sample(self, size: int, *, rng: np.random.Generator, centre: ArrayLike | None = None) -> NDArray[np.int32]:
        """Independent rankings.

        Parameters
        ----------
        size : int
            At least 0.
        rng : numpy.random.Generator
            One uniform number an item and ranking is drawn, whatever theta is: ranking after ranking, the item that
            the centre puts last first.
        centre : array_like of int, shape (items,) or (size, items), optional
            Positions of the items in the central ranking, or in that of each sample; 0 .. m - 1 by default.

        Returns
        -------
        ndarray of int, shape (size, items)
            Positions. O(size * items * log(items)), some 25 ns an item at 1000 items.

        Raises
        ------
        ValueError
            In one line, where an argument is none of these.

        Notes
        -----
        Repeated insertion: how many of the items before it in the centre an item falls behind is truncated geometric.
        These codes are decoded in 64-bit words of free places below a tree of counts, four rankings in turn, so that
        the processor need not wait for any of them.
        """
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise ValueError(f"size = {shown(size)}; a whole number of rankings is needed")
        require_generator(rng)
        m = self.n_items
        middle = as_positions("centre", np.atleast_2d(np.arange(m) if centre is None else centre))
        if middle.shape[1] != m or len(middle) not in (1, size):
            raise ValueError(f"centre has shape {middle.shape}; ({m},) or ({size}, {m}) is needed")
        orders = np.argsort(middle, axis=1).astype(np.int32)
        out, mass = np.empty((size, m), np.int32), np.expm1(-self.theta * np.arange(m, 0, -1))
        rows = max(4, _TOGETHER // m // 4 * 4)
        for start in range(0, size, rows):
            part = slice(start, start + rows)
            uniform = rng.random(out[part].shape)
            logs = np.log1p(uniform * mass) if 0 < self.theta < np.inf else uniform
            own = orders[part] if len(orders) > 1 else orders
            decode(uniform, logs, float(self.theta), mass, own, select_table(), out[part])
        return out


def _series(m: int, theta: float) -> tuple[NDArray[Any], ...]:
    """Items and their weights, theta times the items, the same up to 1, and numbers and factors of the series there."""
    j, weights = sum_over_items(m, theta)
    return j, weights, theta * j, np.minimum(theta * j, 1.0), K[:12, None], BERNOULLI[:12, None]


@lru_cache(maxsize=1024)
def _distance_mean(m: int, theta: float) -> float:
    """Mean of the Kendall distance from the centre."""
    if math.isinf(theta):
        return 0.0
    j, weights, x, near, k, c = _series(m, theta)
    mean = (j - 1) / 2 - (c * (near ** (2 * k - 1) * j - min(theta, 1.0) ** (2 * k - 1))).sum(0)
    far = x > 1
    if far.any():
        y = j[far]
        mean[far] = math.exp(-theta) / mass(1, theta) - y * np.exp(-x[far]) / mass(y, theta)
    return float(weights @ mean)


@lru_cache(maxsize=1024)
def _distance_variance(m: int, theta: float) -> float:
    """Variance of the Kendall distance from the centre."""
    if math.isinf(theta):
        return 0.0
    j, weights, x, near, k, c = _series(m, theta)
    variance = (c * (2 * k - 1) * (near ** (2 * k - 2) * j**2 - min(theta, 1.0) ** (2 * k - 2))).sum(0)
    far = x > 1
    if far.any():
        y, p, p1 = j[far], mass(j[far], theta), mass(1, theta)
        variance[far] = math.exp(-theta) / p1**2 - (y / p) ** 2 * np.exp(-x[far])
    return float(weights @ variance)


def theta_at(n_items: int, epsilon: float) -> float:
    """The theta at which the Mallows law stands at total variation distance `epsilon` from uniform.

    Parameters
    ----------
    n_items : int
        From 2 to 10^8.
    epsilon : float
        Above 0 and below 1 - 1/m!, the distance of a law that is certain of its centre.

    Returns
    -------
    float
        Infinity where `epsilon` is the distance of phi = 0 but for rounding. In some 20 ms at 1e6 items.

    Raises
    ------
    ValueError
        Naming the allowed range, where `epsilon` lies outside it.

    Notes
    -----
    From `epsilon` = 1e-9 to 1/2 the law's distance is `epsilon` with an absolute error below 1e-12; above, 1 less the
    distance is 1 - `epsilon` with a relative error below 2e-12. Below 1e-9 the distance is taken as linear in theta,
    with half the mean absolute deviation of the uniform Kendall distance as its slope: the relative error is below
    1e-9, however small `epsilon` is (and theta, where floating point still holds it in full).

    ``exp(-theta_at(m, epsilon))`` is phi_epsilon of Busa-Fekete, Fotakis and Zampetakis (2021).

    Examples
    --------
    >>> round(Mallows(6, theta_at(6, 0.25)).total_variation(), 9)
    0.25
    """
    n_items = require_whole("n_items", n_items, 2, MOST_AT_ONCE)
    most = Mallows(n_items, math.inf).total_variation()
    needed = f"it must lie above 0 and below 1 - 1/{n_items}! = {most}"
    epsilon = require_real("epsilon", epsilon, needed, lambda x: 0 < x < most)
    if epsilon < 1e-9:
        return float(epsilon / (_mean_deviation(int(n_items)) / 2))

    def excess(theta: float) -> float:
        law = Mallows(n_items, theta)
        return law.total_variation() - epsilon if epsilon < 0.5 else math.log1p(-epsilon) - law.log_overlap()

    # two normal laws of equal variance: near the answer unless epsilon is large
    quantile = min(float(scipy.special.ndtri((1 + epsilon) / 2)), 8.3)
    low = high = 2 * quantile / math.sqrt(_distance_variance(n_items, 0.0))
    while excess(high) <= 0:
        if high > 700:
            return math.inf
        high *= 1.5
    while excess(low) > 0:
        low /= 1.5
    return float(scipy.optimize.brentq(excess, low, high, xtol=1e-300, rtol=1e-13))


def _mean_deviation(m: int) -> float:
    """Mean absolute deviation of the uniform Kendall distance, to about 1e-12 of itself.

    On the lattice the distance from 0 is half a window less a sum of waves: those of an even triangle.
    """
    window = 2 * math.ceil(_reach(m, 0.0) + 2)
    t, log, angle = _wave(m, 0.0, window)
    mean = m * (m - 1) / 4
    # a mean between two lattice points: the average over both
    heights = np.cos(angle - t * mean) * np.cos(t * (mean % 1)) / np.sin(t / 2) ** 2
    return window / 2 - float(np.exp(log) @ heights) / window


@lru_cache(maxsize=64)
def _inversion(m: int, theta: float, count: int) -> tuple[float, NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Reach of the sum of `count` distances, frequencies, and weights and angles of the waves that make up its law."""
    reach = _reach(m, theta, count)
    window = 2 * math.ceil(reach + 2)
    t, log, angle = _wave(m, theta, window, count)
    return reach, t, np.exp(count * log) / np.sin(t / 2) / window, count * angle


def _wave(m: int, theta: float, window: int, count: int = 1) -> tuple[NDArray[np.float64], ...]:
    """The frequencies of a window that matter, odd multiples of pi / window, and the characteristic function there."""
    t = np.pi / window * np.arange(1, min(window, _band(m, theta, count) * window / np.pi + 2), 2)
    return t, *_log_characteristic(m, theta, t)


def _log_characteristic(
    m: int, theta: float, t: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logarithm of the modulus, and angle, of E exp(i t D)."""
    scale = math.hypot(theta, t[-1])
    j, weights = sum_over_items(m, scale)
    j = np.append(j, 1.0)[:, None]
    weights = np.append(weights, -float(m))
    if m * scale < 4:
        # power series in z = i t - theta of log(sinh(z / 2) / (z / 2)), less the same at t = 0
        square, base = j**2 * (theta**2 - t**2 - 2j * theta * t), j**2 * theta**2
        powers, total = np.ones_like(square), np.zeros_like(square)
        for k in range(1, math.ceil(_NEGLIGIBLE / 2 / math.log(2 * math.pi / (m * scale))) + 1):
            total += BERNOULLI[k - 1] / (2 * k) * powers
            powers = powers * square + base**k
        log = weights @ (j**2 * (-(t**2) - 2j * theta * t) * total)
        return log.real, log.imag + t * (m * (m - 1) / 4)
    q, p = np.exp(-theta * j), mass(j, theta)
    chord = 4 * np.sin(j * t / 2) ** 2 * q
    if theta >= t[-1]:
        modulus = np.log1p(chord / p**2)
    else:
        with np.errstate(divide="ignore"):
            modulus = np.log(chord + p**2) - 2 * np.log(j if theta == 0 else p / p[-1])
    angle = np.arctan2(-np.sin(j * t) * q, p + chord / 2)
    return weights @ modulus / 2, weights @ angle


def _reach(m: int, theta: float, count: int = 1) -> float:
    """How far from its mean the sum of `count` distances goes with probability above exp(-40), at most.

    Chernoff's bound; on (0, s) the second derivative of the cumulant generating function, a variance, is largest at s.
    """
    law = Mallows(m, theta)
    s = math.sqrt(2 * _NEGLIGIBLE / (count * _distance_variance(m, theta)))
    tilts = [s, *(theta * f for f in (0.25, 0.5, 0.75, 0.95) if 0 < theta * f < s)]
    bounds = [_NEGLIGIBLE / s + count * s / 2 * _distance_variance(m, max(theta - s, 0.0)) for s in tilts]
    return min(count * law.n_pairs, *bounds)


def _band(m: int, theta: float, count: int) -> float:
    """A frequency beyond which the characteristic function to the power `count` stays below exp(-40).

    The j-th factor's squared modulus is r(j, t) / r(1, t) with r = 1 + sin(j t / 2)^2 / sinh(j theta / 2)^2 and falls
    until t = 2 pi / j, for tan is convex; nowhere does it exceed 1, or what sin(j t / 2)^2 <= 1 gives.
    """
    edges = np.unique(np.geomspace(1, m + 1, min(m, 400) + 1).astype(int))
    j, times = edges[:-1], np.diff(edges)
    top = np.log((1 + np.exp(-theta * j)) * (1 / j if theta == 0 else mass(1, theta) / mass(j, theta)))

    def bound(t: float) -> float:
        bottom = np.log(mass(1, theta) ** 2 + 4 * math.sin(t / 2) ** 2 * math.exp(-theta)) / 2
        return float(times @ np.minimum(top - bottom, 0.0))

    def modulus(t: float) -> float:
        return float(_log_characteristic(m, theta, np.array([t]))[0][0])

    lobe, negligible = 2 * math.pi / m, -_NEGLIGIBLE / count
    falls = bound(lobe) < negligible
    t = math.sqrt(-2 * negligible / _distance_variance(m, theta))
    while t < math.pi:
        if bound(t) < negligible or (falls and t <= lobe and modulus(t) < negligible):
            return t
        t *= 1.1
    return math.pi
