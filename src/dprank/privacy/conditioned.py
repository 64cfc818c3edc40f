"""Laplace noise on whole numbers that is known to sum to zero: its sampler, and how far two of its values are apart."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._require import MOST_AT_ONCE, require_at_least_0, require_positive, require_probability, require_whole
from dprank.privacy.noise import WIDEST, SecureSource, Source, discrete_laplace, geometric, require_source
from dprank.privacy.pair_errors import PairError

__all__ = ["ConditionedError", "conditioned_laplace", "conditioned_variance"]

#: Numbers of vectors that are drawn at a time.
_TRIED = 1 << 16


def conditioned_laplace(scale: float, n: int, size: int, *, rng: Source) -> NDArray[np.int64]:
    r"""Vectors of n whole numbers that sum to zero, with P(z) proportional to exp(-sum of abs(z) / scale).

    That is the law of independent discrete Laplace variables, given that their sum is 0; and the K-norm mechanism
    (Hardt and Talwar 2010) of the polytope with corners :math:`e_i - e_j`, on the whole numbers.

    Parameters
    ----------
    scale : float
        At least 0, at most 2^50 / n; 0 gives no noise.
    n : int
        From 2 to 10^8.
    size : int
        How many vectors, at most 10^8 / n.
    rng : numpy.random.Generator or dprank.SECURE
        A seeded generator for research, through floats; `SECURE` for publishing, exactly.

    Returns
    -------
    ndarray of int, shape (size, n)

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    A discrete Laplace variable is the difference of two geometric ones. Given that both sums of n of these are T, each
    is one of the :math:`\binom{T + d}{d}` ways, d = n - 1, to write T as an ordered sum, all alike. The law of T is in
    proportion to :math:`\binom{T + d}{d}^2 x^T`, where :math:`x = e^{-2 / scale}`, and

    .. math:: \sum_T \binom{T + d}{d}^2 x^T = (1 - x)^{-(2 d + 1)} \sum_k \binom dk^2 x^k

    (from Pfaff's transformation of a hypergeometric function), so that T is the sum of 2 d + 1 geometric variables and
    of a number k, which is what two binomial variables of d trials with odds :math:`\sqrt x` are if they are equal.
    A discrete Laplace variable is positive with just these odds. Nothing is approximated, and no number is a float.

    O(n) draws to the power of 3/2 for each vector: two binomial variables are equal once in about :math:`\sqrt{\pi d}`
    times, or more often.

    Examples
    --------
    >>> drawn = conditioned_laplace(3.0, 4, 10**5, rng=np.random.default_rng(1))
    >>> bool((drawn.sum(axis=1) == 0).all()), round(float(np.abs(drawn).sum(axis=1).mean()))  # (n - 1) scale, about
    (True, 9)
    """
    scale, n = require_at_least_0("scale", scale), require_whole("n", n, 2, MOST_AT_ONCE)
    size = require_whole("size", size, 0, MOST_AT_ONCE // n)
    if scale > WIDEST / n:
        raise ValueError(f"scale = {scale}; above 2^50 / {n} the draws would not fit 64 bits")
    require_source(rng)
    if scale == 0:
        return np.zeros((size, n), np.int64)
    if isinstance(rng, SecureSource):
        return np.array(_exact(scale, n, size, rng), np.int64).reshape(size, n)
    d, odds = n - 1, math.exp(-1 / scale)
    both = np.tile([0, 1], (size, 1))
    while (unequal := both[:, 0] != both[:, 1]).any():
        both[unequal] = rng.binomial(d, odds / (1 + odds), (int(unequal.sum()), 2))
    total = both[:, 0] + rng.negative_binomial(2 * d + 1, -math.expm1(-2 / scale), size)
    # uniform shares of the unit, then of T: every ordered sum alike
    one, other = (rng.multinomial(total, rng.dirichlet(np.ones(n), size)) for _ in range(2))
    return np.asarray(one - other, np.int64)


def conditioned_variance(scale: float, n: int) -> float:
    r"""Variance of each number of `conditioned_laplace`; minus a share of 1 / (n - 1) is the covariance of two.

    Parameters
    ----------
    scale, n
        As of `conditioned_laplace`.

    Notes
    -----
    Two ordered sums of T, each uniform, differ in each place with variance
    :math:`2 T (T + n) (n - 1) / (n^2 (n + 1))`; the moments of T are those of the geometric variables and of k, whose
    chances are summed. O(n).

    Examples
    --------
    >>> scale = 40.0
    >>> round(conditioned_variance(scale, 2) / (2 * (scale / 2) ** 2), 3)  # one Laplace variable of half the scale
    1.0
    """
    scale, n = require_positive("scale", scale), require_whole("n", n, 2, MOST_AT_ONCE)
    d, x, k = n - 1, math.exp(-2 / scale), np.arange(n)
    with np.errstate(over="ignore"):  # of scales next to 0
        log_chance = (
            2 * (scipy.special.gammaln(n) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k)) - 2 * k / scale
        )
    chance = np.exp(log_chance - log_chance.max())
    chance /= chance.sum()
    failures = (2 * d + 1) * x / -math.expm1(-2 / scale)
    mean = failures + float(chance @ k)
    spread = failures / -math.expm1(-2 / scale) + float(chance @ (k - chance @ k) ** 2)
    return 2 * (spread + mean * mean + n * mean) * d / (n * n * (n + 1))


def _exact(scale: float, n: int, size: int, rng: SecureSource) -> list[NDArray[np.int64]]:
    d, found = n - 1, list[NDArray[np.int64]]()
    while len(found) < size:
        tried = min(size - len(found), max(1, _TRIED // n))
        one, other = (discrete_laplace(scale, (2, tried, d), rng=rng) > 0).sum(axis=2)
        equal = one[one == other].tolist()
        drawn = geometric(scale / 2, len(equal) * (2 * d + 1), rng=rng).reshape(len(equal), 2 * d + 1)
        totals = [ones + sum(rest) for ones, rest in zip(equal, drawn.tolist(), strict=True)]
        found += [_two_ordered_sums_apart(total, d) for total in totals]
    return found


def _two_ordered_sums_apart(total: int, d: int) -> NDArray[np.int64]:
    """Differences of two ordered sums of the total, all alike: numbers of stars between d bars among the stars."""
    draw = secrets.SystemRandom().sample
    one, other = (np.sort(np.array(draw(range(total + d), d), np.int64)) for _ in range(2))
    return np.diff(one - other, prepend=0, append=0)


@dataclass(frozen=True)
class ConditionedError(PairError):
    r"""Error in the difference of two scores with noise of `conditioned_laplace`.

    Parameters
    ----------
    noises
        One law of Laplace noise on a grid, twice: of independent noise of that scale.
    deviation
        As in `PairError`.

    Notes
    -----
    Let s and D be sum and difference of two of the noises. Since :math:`|z_i| + |z_j| = \max(|s|, |D|)`, the law of
    :math:`|D|` given :math:`|s| = t` is in proportion to :math:`e^{-\max(t, |D|) / scale}` on the numbers of t's
    parity, however the other noises are. Likelihood ratios say that it grows with t, but for one step where the parity
    is another. And :math:`|s|` is smaller than of independent noises, stochastically: conditioning multiplies its law
    by that of the sum of the others, which falls. So :math:`|D|` is at most one step above what it is there. Drawing
    comes on top, with half of the chance.

    Examples
    --------
    >>> from dprank.privacy.ranges import ScoreNoise
    >>> law = ScoreNoise("laplace", 8.0, step=1.0)
    >>> ConditionedError(((law, 2, 1.0),)).quantile(0.01) - PairError(((law, 2, 1.0),)).quantile(0.01)
    1.0
    """

    def quantile(self, chance: float) -> float:
        """A number that the error exceeds with at most that chance."""
        chance = require_probability("chance", chance)
        share = chance / 2 if self.deviation else chance
        noise = PairError(self.noises).quantile(share) + self.noises[0][0].step
        return noise + PairError(deviation=self.deviation).quantile(share) if self.deviation else noise
