"""How far the difference of two scores may be off, where noise and the drawing of persons come together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_at_least_0, require_positive, require_probability, require_whole, settle
from dprank._search import least, least_whole
from dprank.privacy.ranges import ScoreNoise

__all__ = ["PairError"]

Array = NDArray[np.float64]

#: 5! (e / 5)^5, see `PairError`.
DOMINATED = 120 * (math.e / 5) ** 5
#: Tails are computed to less than this; below the second, bounds by moments are as good.
_SLACK, _LEAST = 1e-12, 1e-10
#: Terms of a sum over frequencies, at most; and the size of those that are left out.
_TERMS, _NOTHING = 1 << 18, 1e-13
#: A variance below which an error is nothing: that of a scale next to 0 is no float.
_FAINT = 1e-280
#: Intervals of a table of a tail.
_POINTS = 400


@dataclass(frozen=True)
class PairError:
    r"""Error in the difference of two scores: a symmetric law of noise, and sums of bounded numbers, all independent.

    Parameters
    ----------
    noises : tuple of (ScoreNoise, int, float)
        Laws, how many independent ones of each, and by what each is multiplied, above 0.
    deviation : float
        Of bounded numbers that are drawn independently: the root of the sum of squares of half the lengths of their
        ranges; 0 for none.
    variance, bound : float
        Of others: a bound on the sum of their variances, and on how far one is above its mean; 0 for none.

    Raises
    ------
    ValueError
        Naming what is out of range, or where there is no error at all.

    Notes
    -----
    Noise alone: the tail is a Fourier sum, exact but for 1e-12, of T apart where no more than 1e-14 lies beyond T / 2.

    A sum S of independent numbers, each in a range of length :math:`2 s_v`, minus its mean, is dominated by Gaussian
    noise G of deviation :math:`s = (\sum s_v^2)^{1/2}`: :math:`E f(S) \le E f(G)` for all
    :math:`f(x) = (x - t)_+^5` (Pinelis 2006, "On normal domination of (super)martingales", Theorem 2.1). Such f are
    closed under shifts, so with independent noise N also :math:`E f(S + N) \le E f(G + N)`; by Jensen's inequality the
    same holds of whole Laplace noise N and Laplace noise on the line, which is N plus a difference of two fractional
    parts of exponential variables, of one law and independent of N. Where G + N is log-concave, as sums of Gaussian and
    Laplace variables are,

    .. math:: P(S + N > x) \le 5!\, (e / 5)^5\, P(G + N > x) < 5.7\, P(G + N > x).

    That holds for every number of persons; nothing is left to a limit. Where the noise is the larger part, the exact
    tail T of N does better: for every :math:`\lambda > 0`, with
    :math:`C = \sup_y (\log T(y) + \lambda y)` and Hoeffding's bound on S,

    .. math:: P(S + N > x) = E\, T(x - S) \le E e^{C - \lambda (x - S)} \le e^{C - \lambda x + \lambda^2 s^2 / 2} .

    The least of both and of :math:`\min_\lambda E e^{\lambda (S + N - x)}` is taken, with Bennett's bound where
    variances are given, and :math:`e^{\lambda^2 \sigma^2 / 2}` for whole Gaussian noise.

    Examples
    --------
    >>> noise = ScoreNoise("laplace", 8.0)
    >>> round(PairError(((noise, 2, 1.0),)).quantile(0.01), 2)  # exp(-t) (1 + t / 2) / 2 = 0.01 at t = 5.19
    41.53
    """

    noises: tuple[tuple[ScoreNoise, int, float], ...] = ()
    _: KW_ONLY
    deviation: float = 0.0
    variance: float = 0.0
    bound: float = 0.0

    def __post_init__(self) -> None:
        settle(
            self,
            noises=tuple(
                (law, require_whole("how many", n, 1), require_positive("weight", w)) for law, n, w in self.noises
            ),
            **{name: require_at_least_0(name, getattr(self, name)) for name in ("deviation", "variance", "bound")},
        )
        if not (self.noises or self.deviation or self.variance):
            raise ValueError("noises, deviation and variance are all nothing: an error is needed")

    def quantile(self, chance: float) -> float:
        """A number that the error exceeds with at most that chance; on a grid, one of its points.

        Parameters
        ----------
        chance : float
            In (0, 1).

        Notes
        -----
        Some milliseconds for up to 2^18 frequencies; all that is asked again is remembered.
        """
        return _quantile(self, require_probability("chance", chance))

    @cached_property
    def step(self) -> float:
        """Of the grid on which the error lies; 0 where it lies on none."""
        steps = {law.step for law, _, _ in self.noises}
        whole = all(weight == int(weight) for _, _, weight in self.noises)
        return steps.pop() if len(steps) == 1 and whole and not (self.deviation or self.variance) else 0.0

    def _by_moments(self, chance: float) -> float:
        """The least of (log E exp(x D) - log(chance)) / x."""
        from scipy.optimize import minimize_scalar  # a fifth of a second, and few commands need it

        nats = -math.log(chance)
        square = self.deviation**2 + sum(n * (w * law.scale) ** 2 for law, n, w in self.noises) + self.variance
        square = max(square, _FAINT)  # the square of a scale next to 0 is 0
        steep = max((w * law.scale for law, _, w in self.noises if law.noise == "laplace"), default=0.0)
        most = 10 * math.sqrt(2 * (nats + 1) / square)
        top = min(most, (1 - 1e-9) / steep) if steep else most

        def at(u: float) -> float:
            x = top * math.exp(-u)
            held = self.deviation**2 * x * x / 2
            for law, n, weight in self.noises:
                part = (weight * law.scale * x) ** 2
                held += n * (-math.log1p(-part) if law.noise == "laplace" else part / 2)
            if self.variance:
                held += self.variance / self.bound**2 * (math.expm1(self.bound * x) - self.bound * x)
            return (held + nats) / x

        grid = np.linspace(0, 12, 49)
        start = grid[int(np.argmin([at(u) for u in grid]))]
        found = minimize_scalar(at, bounds=(max(start - 0.25, 0), start + 0.25), method="bounded")
        return min(float(found.fun), at(start))

    def _transform(self, theta: NDArray[Any]) -> Array:
        """Characteristic function of noise and Gaussian part."""
        out = np.exp(-((self.deviation * theta) ** 2) / 2)
        for law, n, weight in self.noises:
            out = out * _transformed(law, weight * theta) ** n
        return out


def _transformed(law: ScoreNoise, theta: NDArray[Any]) -> Array:
    if law.noise == "laplace" and law.step:
        ratio = math.exp(-law.step / law.scale)
        return np.asarray((1 - ratio) ** 2 / ((1 - ratio) ** 2 + 4 * ratio * np.sin(law.step * theta / 2) ** 2))
    if law.noise == "laplace":
        return 1 / (1 + (law.scale * theta) ** 2)
    if not law.step:
        return np.exp(-((law.scale * theta) ** 2) / 2)
    scale, turn = law.scale / law.step, np.mod(law.step * theta + math.pi, 2 * math.pi) - math.pi
    if scale < 0.4:  # few whole numbers
        k = np.arange(1, 20)
        chance = np.exp(-((k / scale) ** 2) / 2)
        return np.asarray((1 + 2 * np.cos(np.multiply.outer(turn, k)) @ chance) / (1 + 2 * chance.sum()))
    images = 2 * math.pi * np.arange(-6, 7)
    return np.asarray(
        np.exp(-((scale * np.add.outer(turn, images)) ** 2) / 2).sum(-1) / np.exp(-((scale * images) ** 2) / 2).sum()
    )


@lru_cache(maxsize=4096)
def _quantile(error: PairError, chance: float) -> float:
    if len(error.noises) == 1 and error.noises[0][0].noise == "laplace" and error.noises[0][1] == 1:
        law, _, weight = error.noises[0]
        if not (error.deviation or error.variance):
            return weight * _of_one(law, chance)
    found = error._by_moments(chance)
    if error.deviation and error.noises and not error.variance:
        found = min(found, _by_tail(replace(error, deviation=0.0), error.deviation, chance))
    gaussian_steps = any(law.noise == "gaussian" and law.step for law, _, _ in error.noises)
    if error.step:
        found = math.floor(found / error.step) * error.step
    smoothed = error
    share = chance
    if error.deviation:
        share /= DOMINATED
        smoothed = replace(error, noises=tuple((replace(law, step=0.0), n, w) for law, n, w in error.noises))
    if error.variance or share < _LEAST or (error.deviation and gaussian_steps):
        return found
    above = _inverted(smoothed)
    if above is None:
        return found
    fits = lambda q: above(q) + _SLACK <= share  # noqa: E731
    if smoothed.step:
        return min(found, least_whole(fits, -1, 1) * smoothed.step)
    return min(found, least(fits, found, 2.0**-22)) if fits(found) else found


def _by_tail(noise: PairError, deviation: float, chance: float) -> float:
    """The least of (C(x) + x^2 deviation^2 / 2 - log(chance)) / x, of a table of the noise's tail."""
    table = _tail_table(noise)
    if table is None:
        return math.inf
    end, log_tail = table
    slopes = -np.diff(log_tail) / np.diff(end)
    falls = slopes[slopes > 0]
    if not len(falls):  # the noise is 0: what is left is Gaussian
        falls = np.array([math.sqrt(-2 * math.log(chance)) / deviation])
    x = np.unique(np.quantile(falls, np.linspace(0.01, 0.99, 60)))
    most = (log_tail + np.multiply.outer(x, end)).max(axis=1)
    return float(((np.maximum(most, 0.0) + (x * deviation) ** 2 / 2 - math.log(chance)) / x).min())


@lru_cache(maxsize=64)
def _tail_table(noise: PairError) -> tuple[Array, Array] | None:
    """Ends of intervals from 0 on, and the logarithm of the chance of more than their beginning."""
    far = noise._by_moments(_LEAST)
    step = noise.step * max(1, math.ceil(far / noise.step / _POINTS)) if noise.step else far / _POINTS
    begin = step * np.arange(math.ceil(far / step) + 1)
    if len(noise.noises) == 1 and noise.noises[0][:2] == (law := noise.noises[0][0], 2) and law.noise == "laplace":
        tail = _of_two(law, begin / noise.noises[0][2])
    else:
        above = _inverted(noise)
        if above is None:
            return None
        tail = np.array([above(q) for q in (begin / noise.step if noise.step else begin)])
    return np.asarray(begin + step), np.asarray(np.log(tail + _SLACK))


def _of_two(law: ScoreNoise, q: NDArray[Any]) -> Array:
    """Chance that the sum of two Laplace variables is more than each of these numbers, on the grid if there is one."""
    if not law.step:
        t = q / law.scale
        return np.asarray(np.exp(-t) * (1 + t / 2) / 2)
    # P(k) is in proportion to r^k (k + c)
    ratio, k = math.exp(-law.step / law.scale), np.rint(q / law.step) + 1
    rest = -math.expm1(-law.step / law.scale)
    c = (1 + ratio**2) / (rest * (1 + ratio))
    return np.asarray(ratio**k * ((k + c) * rest + ratio) / (1 + ratio) ** 2)


def _of_one(law: ScoreNoise, chance: float) -> float:
    """Least number that one Laplace variable exceeds with at most that chance."""
    if not law.step:
        return max(0.0, -law.scale * math.log(2 * chance))
    # P(w >= j) = r^j / (1 + r)
    ratio = law.step / law.scale
    j = math.ceil(-(math.log(chance) + math.log1p(math.exp(-ratio))) / ratio - 1e-12)
    return max(j - 1, 0 if chance < 0.5 else -1) * law.step


@lru_cache(maxsize=256)
def _inverted(error: PairError) -> Callable[[float], float] | None:
    """Chance of more than a number, of steps where there are any; None where it would take too many terms."""
    half = error._by_moments(1e-14)
    step = error.step
    if step:
        n = math.ceil(half / step)
        period = (2 * n + 1) * step
    else:
        n, period = _TERMS + 1, 2 * half
    envelope = lambda theta: float(error._transform(np.array([theta]))[0])  # noqa: E731
    most, k = min(n, _TERMS + 1), 1
    # of larger frequencies the transform is as small or smaller but where weights differ: all are summed then
    even = len({w for _, _, w in error.noises}) <= 1 or not step
    while k < most and (not even or envelope(2 * math.pi * k / period) > _NOTHING):
        k = min(2 * k, most)
    if k > _TERMS and (n > _TERMS):
        return None
    theta = np.arange(1.0, k + 1) * (2 * math.pi / period)
    held = error._transform(theta)
    seen = held > _NOTHING
    theta, held = theta[seen], held[seen]
    if step:
        share = held / np.sin(step * theta / 2) / (2 * n + 1)
        return lambda q: 0.5 - (q + 0.5) / (2 * n + 1) - float(share @ np.sin((q + 0.5) * step * theta))
    share = 2 / period * held / theta
    return lambda q: 0.5 - q / period - float(share @ np.sin(q * theta))
