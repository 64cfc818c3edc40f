r"""Privacy of discrete Gaussian noise on whole numbers at a delta: nearly that of Gaussian noise on the line.

Write :math:`\rho_s(x) = e^{-x^2 / (2 s^2)}`. By Poisson's summation the sum of :math:`\rho_t(z - y)` over all integers
z lies within the factors :math:`1 \pm h(t)` of :math:`\sqrt{2 \pi} t` for every real y, where
:math:`h(t) = 2 \sum_{k \ge 1} q^{k^2} \le 2 q / (1 - q^3)` with :math:`q = e^{-2 \pi^2 t^2}`; and it is
:math:`1 + h(t)` times that for y = 0.

*Smoothing.* Add Gaussian noise of variance :math:`s^2 - t^2` to an integer, and draw from the result y an integer z
with a probability in proportion to :math:`\rho_t(z - y)`. The normal density of that variance and :math:`\rho_t`
convolve to :math:`\rho_s`. So discrete Gaussian noise of scale s gives z with a probability between
:math:`1 - h(t)` and :math:`1 + h(t)` times the same, over :math:`1 + h(s)`. Of n answers with discrete Gaussian noise,
also where the next question depends on earlier ones, the probabilities are hence between :math:`(1 - h(t))^n / C` and
:math:`(1 + h(t))^n / C` times those of a function of n answers with noise on the line, where
:math:`C = (1 + h(s))^n \ge 1`. If the latter are :math:`(\varepsilon, \delta)` private, the former are
:math:`(\varepsilon + \log \frac{1 + H}{1 - H}, (1 + H) \delta)` private with :math:`H = (1 + h(t))^n - 1`, for every t,
because :math:`(1 - h)^n \ge 2 - (1 + h)^n`. Answers on the line compose as one (Dong, Roth and Su 2022, Corollary 2).
A t of one half, say, costs a share of :math:`1 / (8 s^2)` of the scale.

*Exactly.* Numbers that move by the integers d have the loss :math:`(|d|^2 + 2 d \cdot Z) / (2 s^2)`: its law is a
convolution. A number that moves by less loses less, whatever the event: the noise is log-concave, so that tests of one
centre against another are thresholds, whose power grows with the distance; hence what is observed of the nearer pair is
a function of what is observed of the farther one and of chance (Blackwell), and so it is of vectors and of answers to
questions that depend on earlier answers (Zhu, Dong and Wang 2022, Theorem 10). A sum of j draws is beyond
:math:`r s \sqrt j` at most :math:`2 e^{-r^2 / 2}` of the time, as the moments of a draw are below those of a normal
variable (Canonne, Kamath and Steinke 2020): what is cut off there is added to delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dprank._search import least_under
from dprank.privacy.gaussian import LEAST, ROUNDING, gaussian_epsilon

__all__ = ["Answers", "exact_delta", "exact_epsilon", "smoothed_epsilon"]

#: Longest table of a law that is convolved.
LONGEST = 1 << 11
#: Largest loss that is told exactly, and least delta.
MOST_LOSS, LEAST_EXACT = 300.0, 1e-100
#: Share of delta that may be cut off, far below `ROUNDING`.
_CUT = 1e-11
#: Relative allowance for rounding of what is not left to `gaussian_epsilon`.
_UP = 1 + 1e-12


class Answers(NamedTuple):
    """Numbers with independent discrete Gaussian noise, all in steps of its grid.

    Examples
    --------
    >>> Answers(l2=2.0, scale=8.0, numbers=4)
    Answers(l2=2.0, scale=8.0, numbers=4)
    """

    l2: float  # most that they move together
    scale: float
    numbers: int


def smoothed_epsilon(parts: Iterable[Answers], delta: float, *, folded: float = math.inf) -> float:
    r"""Epsilon at a delta of answers with discrete Gaussian noise, by those on the line that nearly make them.

    Parameters
    ----------
    parts : iterable of Answers
        Of any scales; the next question may depend on earlier answers.
    delta : float
        In (0, 1), at least 1e-300.
    folded : float
        Where only differences of the numbers are seen: the scale over the root of how many there are. Then `l2` may be
        the move that is left after any common shift, whole or not.

    Returns
    -------
    float
        Infinity where the noise is less than about one step of the grid.

    Notes
    -----
    Some milliseconds. t^2 is :math:`\log(32 n s^3 / \Delta) / (2 \pi^2)`, close to what is best, with which epsilon
    falls as s grows.

    What is seen of differences is the class of a vector z up to common shifts of all n numbers. Its probability is the
    sum of :math:`\rho_s` over a line with steps of :math:`\sqrt n`, hence within :math:`1 \pm h(s / \sqrt n)` of a
    constant times :math:`\rho_s` of the part of z across that line. Those parts are a lattice, whose dual are the whole
    vectors that sum to 0. The sums of :math:`\rho_t` over its shifts are within :math:`1 \pm H` of a constant: H may be
    the sum of :math:`e^{-2 \pi^2 t^2 |k|^2}` over that dual but for 0, and over all whole vectors it is
    :math:`(1 + h(t))^n - 1`. All else is as above, in one dimension less.

    Examples
    --------
    >>> from dprank.privacy.gaussian import gaussian_epsilon, zcdp
    >>> [round(epsilon, 3) for epsilon in (
    ...     gaussian_epsilon(2.0, 8.0, 1e-6), smoothed_epsilon([Answers(2.0, 8.0, 4)], 1e-6), zcdp(2 / 8**2, 1e-6))]
    [1.061, 1.066, 1.143]
    """
    square = spread = 0.0
    for l2, scale, numbers in parts:
        if l2 == 0:
            continue
        log_scale = math.log(scale)
        width = (math.log(32 * numbers) + 3 * log_scale - math.log(l2)) / (2 * math.pi**2)
        if not 0 < width < min(scale, 1e150) ** 2:
            return math.inf
        # l2 / sqrt(scale^2 - width), squared
        square += min(l2 / scale, 1e150) ** 2 / (1 - width / scale / scale)
        spread += numbers * math.log1p(_unevenness(width))
    if square == 0:
        return 0.0
    uneven = math.expm1(min(spread, 1.0))
    line = _unevenness(folded * folded)
    if not (uneven < 0.5 and line < 0.5):
        return math.inf
    more = math.log1p(uneven) - math.log1p(-uneven) + math.log1p(line) - math.log1p(-line)
    delta = delta / ((1 + uneven) * (1 + line) * _UP)
    if delta < LEAST:
        return math.inf
    return (gaussian_epsilon(math.sqrt(square) * _UP, 1.0, delta) + more) * _UP


def _unevenness(square: float) -> float:
    """h(t) of the square of t, rounded up."""
    q = math.exp(-2 * math.pi**2 * square)
    return 2 * q / (1 - q**3) * _UP if q < 1 else math.inf


def exact_delta(parts: Sequence[tuple[Mapping[int, int], float]], epsilon: float, least_delta: float = 1e-20) -> float:
    """Least delta of whole numbers that move, with discrete Gaussian noise.

    Parameters
    ----------
    parts : sequence of (mapping, float)
        How many numbers move by how many steps, and the scale of their noise in steps; one part or two.
    epsilon : float
        At least 0.
    least_delta : float
        How small a delta is of interest, at least 1e-100: draws rarer than a share of 1e-11 of it are counted whole.

    Returns
    -------
    float
        Rounded up; 1 where the tables would be longer than `LONGEST`, or losses more than `MOST_LOSS`.

    Examples
    --------
    >>> round(exact_delta([({1: 1}, 2.0)], 0.0), 4)  # of two neighbours: total variation is the chance of 0
    0.1995
    """
    laws = _laws(tuple((tuple(sorted(moves.items())), scale) for moves, scale in parts), least_delta)
    return 1.0 if laws is None else _delta(laws, epsilon)


def exact_epsilon(parts: Sequence[tuple[Mapping[int, int], float]], delta: float) -> float:
    """Least epsilon at a delta of whole numbers that move.

    Parameters
    ----------
    parts
        As in `exact_delta`.
    delta : float
        In (0, 1).

    Returns
    -------
    float
        Rounded up as if delta were less by a share of 1e-9; infinity where `exact_delta` is not computed.

    Examples
    --------
    >>> round(exact_epsilon([({1: 4}, 8.0)], 1e-6), 3)  # four numbers move by a step each
    1.061
    """
    if delta < LEAST_EXACT:
        return math.inf
    laws = _laws(tuple((tuple(sorted(moves.items())), scale) for moves, scale in parts), delta)
    if laws is None:
        return math.inf
    allowed = delta * (1 - ROUNDING)
    if _delta(laws, MOST_LOSS) > allowed:
        return math.inf
    return 0.0 if _delta(laws, 0.0) <= allowed else least_under(lambda epsilon: _delta(laws, epsilon), allowed, 1.0)


class _Laws(NamedTuple):
    """Losses of two independent parts, those of the second ascending, and what was cut off."""

    first: NDArray[np.float64]
    first_mass: NDArray[np.float64]
    second: NDArray[np.float64]
    above: NDArray[np.float64]  # mass of the second from each loss on
    above_other: NDArray[np.float64]  # the same at the other data set
    lost: float


@lru_cache(maxsize=64)
def _laws(parts: tuple[tuple[tuple[tuple[int, int], ...], float], ...], delta: float) -> _Laws | None:
    numbers = sum(count for moves, _ in parts for _, count in moves)
    reach = math.sqrt(2 * math.log(6 * max(numbers, 1) / (_CUT * delta)))
    found = [(np.zeros(1), np.ones(1))]
    for moves, scale in parts:
        moved = [(step, count) for step, count in moves if step and count]
        if not moved:
            continue
        square = sum(step * step * count for step, count in moved)
        common = math.gcd(*(step for step, _ in moved))
        if not (2 * reach * scale * math.sqrt(square) / common + 2 <= LONGEST and square / scale / scale < MOST_LOSS):
            return None
        mass = _convolved([(step // common, count) for step, count in moved], scale, reach)
        at = common * (np.arange(len(mass)) - len(mass) // 2)
        found.append(((square + 2 * at) / (2 * scale * scale), mass))
    (first, first_mass), (second, mass) = found[-2:] if len(found) > 1 else found * 2
    if np.abs(first).max() > 2 * MOST_LOSS or np.abs(second).max() > 2 * MOST_LOSS:
        return None
    above, above_other = (np.r_[np.cumsum(x[::-1])[::-1], 0.0] for x in (mass, mass * np.exp(-second)))
    return _Laws(first, first_mass, second, above, above_other, _CUT * delta)


def _delta(laws: _Laws, epsilon: float) -> float:
    rest = epsilon - laws.first
    where = np.searchsorted(laws.second, rest, side="right")
    above = laws.above[where]
    beyond = above - np.exp(np.minimum(rest, 2 * MOST_LOSS)) * laws.above_other[where]
    # rounding of exponents up to 600, and of what cancels
    allowed = 1e-12 * float(laws.first_mass @ above)
    return min(1.0, float(laws.first_mass @ np.maximum(beyond, 0.0)) + allowed + laws.lost)


def _convolved(moves: Sequence[tuple[int, int]], scale: float, reach: float) -> NDArray[np.float64]:
    """Law of the sum of steps times draws, about 0, but for what is rarer than the reach."""
    wide = math.ceil(reach * scale)
    draws = np.arange(-wide, wide + 1)
    one = np.exp(-((draws / scale) ** 2) / 2)
    one /= one.sum()
    total, square = np.ones(1), 0
    for step, count in moves:
        drawn = _power(one, count, scale, reach)
        spread = np.zeros((len(drawn) - 1) * step + 1)
        spread[::step] = drawn
        square += step * step * count
        total = _trimmed(np.convolve(total, spread), reach * scale * math.sqrt(square))
    return total


def _power(one: NDArray[np.float64], count: int, scale: float, reach: float) -> NDArray[np.float64]:
    """Law of the sum of so many draws."""
    if count == 1:
        return one
    half = _power(one, count // 2, scale, reach)
    both = np.convolve(half, half)
    if count % 2:
        both = np.convolve(both, one)
    return _trimmed(both, reach * scale * math.sqrt(count))


def _trimmed(law: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    extra = len(law) // 2 - math.ceil(most)
    return law[extra : len(law) - extra] if extra > 0 else law
