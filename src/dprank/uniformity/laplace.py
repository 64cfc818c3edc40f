"""Laplace noise on UNIF's statistic (Busa-Fekete, Fotakis and Zampetakis 2021, Section 5, first part)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    as_floats,
    require_generator,
    require_number,
    require_one_of,
    require_positive,
    require_probability,
    require_sizes,
    settle,
)
from dprank._search import least_whole_under
from dprank.data.rankings import Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy import noise
from dprank.privacy.guarantee import Guarantee, ratio_up, require_scale
from dprank.privacy.noise import Law, require_drawable, require_source
from dprank.privacy.published import Published
from dprank.release import Decision, source_of
from dprank.uniformity._thresholds import LARGEST
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import square_law

__all__ = ["LaplaceUnif", "disagreements", "discrete_laplace_cdf"]


def disagreements(positions: NDArray[Any], pairs: NDArray[np.int64]) -> int:
    r"""How often two rankings order a pair of items differently, over all pairs of rankings and the given item pairs.

    Parameters
    ----------
    positions : ndarray of int, shape (rankings, items)
    pairs : ndarray of int, shape (pairs, 2)

    Returns
    -------
    int
        U, the sum of B (k - B) over the pairs, B being how many of the k rankings put the first item first.

    Notes
    -----
    UNIF's statistic is Y = P k - 4 U / k for P pairs. U is whole, and replacing a ranking moves it by at most
    P (k - 1), which is attained where all rankings agree.

    Examples
    --------
    >>> disagreements(np.array([[0, 1], [1, 0], [0, 1]]), np.array([[0, 1]]))
    2
    """
    first = (pair_signs(positions, pairs) > 0).sum(0, dtype=np.int64)
    return int((first * (len(positions) - first)).sum())


def _whole_again(release: Decision) -> float:
    """Y from a whole number of disagreements."""
    test = release.mechanism
    whole = round((test.n_pairs * test.n_voters - release.statistic) * test.n_voters / 4)
    return float(test.statistic(whole))


@dataclass(frozen=True)
class LaplaceUnif:
    """UNIF with Laplace noise on its statistic: Algorithm 4, reconstructed.

    Parameters
    ----------
    n_items : int
        m, at least 2. If it is odd one random item is left alone.
    n_voters : int
        k, at least 2, public.
    scale : float
        Of the noise on the number of disagreements; the noise on Y is 4 / k times as wide.
    threshold : float
        Rejects if the noisy Y is at least that.
    law : {"discrete", "continuous"}
        Whole noise, fit for release; or noise on the real line, for research, whose guarantee is about real numbers.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    LaplaceUnif.calibrated : the least noise for an epsilon, and the exact threshold.

    Notes
    -----
    Publishes statistic: the noisy number of disagreements (whole numbers over that of voters); threshold: nothing
    private (one number); reject: the statistic; p_value: the statistic (values of a public function).

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import LaplaceUnif, Rankings
    >>> test = LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=100, size=0.05)
    >>> print(test.guarantee)
    epsilon = 1 (central; replace one voter)
    >>> agreeing = Rankings([[0, 1, 2, 3]] * 100, ["ash", "elm", "fir", "oak"])
    >>> test.release(agreeing, rng=np.random.default_rng(1)).reject
    True
    """

    card: ClassVar[Card] = Card(
        question="agreement",
        how="noise on how many disagree about random pairs",
        gives=("p_value",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("statistic", "the noisy number of disagreements", "whole numbers over that of voters", _whole_again),
        Published("threshold", "nothing private", "one number", lambda r: r.mechanism.threshold),
        Published("reject", "the statistic"),
        Published(
            "p_value", "the statistic", "values of a public function", lambda r: r.mechanism.null_sf(r.statistic)
        ),
    )

    n_items: int
    n_voters: int
    scale: float
    threshold: float
    law: Law = "discrete"

    def __post_init__(self) -> None:
        settle(self, **require_sizes(self.n_items, self.n_voters))
        require_one_of("law", self.law, get_args(Law))
        settle(
            self,
            scale=require_scale(self.scale, self.sensitivity),
            threshold=require_number("threshold", self.threshold),
        )

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, n_voters: int, size: float = 0.05) -> Self:
        """The least whole noise that makes the released statistic private, and the exact threshold.

        Parameters
        ----------
        epsilon : float
            Above 0.
        n_items, n_voters : int
            As in `LaplaceUnif`.
        size : float
            In (0, 1 - 1e-9]: uniform rankings are rejected with the largest probability at most that which whole
            numbers allow.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Notes
        -----
        O(k (m + 90)) entries of the null law, once for each step of a bisection.
        """
        epsilon, size = require_positive("epsilon", epsilon), require_probability("size", size, most=LARGEST)
        free = cls(n_items, n_voters, 1.0, 0.0)
        scale = require_drawable(epsilon, ratio_up(free.sensitivity, epsilon))
        counts, law = free.law_of_counts()

        def rejected(fewer: int) -> float:
            return float(law @ discrete_laplace_cdf(-fewer - counts, scale))

        fewer = least_whole_under(rejected, size, -int(counts[-1]) - 1, math.ceil(scale) - int(counts[0]))
        return cls(n_items, n_voters, scale, free.statistic(-fewer))

    @property
    def n_pairs(self) -> int:
        """P, the number of disjoint pairs."""
        return self.n_items // 2

    @property
    def sensitivity(self) -> int:
        """Most that replacing one ranking moves the number of disagreements; 4 / k of it for Y. Attained."""
        return self.n_pairs * (self.n_voters - 1)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy statistic, hence of the decision and its p-value."""
        return Guarantee(ratio_up(self.sensitivity, self.scale))

    def statistic(self, disagreements: float) -> float:
        """Y = P k - 4 U / k for U disagreements, noisy or not."""
        return self.n_pairs * self.n_voters - 4 * disagreements / self.n_voters

    def law_of_counts(self, bias: float = 0.0) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Numbers of disagreements, rising, and their probabilities if all pairs are independent and equally biased.

        Parameters
        ----------
        bias : float
            P(one order) - P(the other), in [-1, 1]; 0 for uniform rankings, whose disjoint pairs are independent.
        """
        squares, law = square_law(self.n_pairs, self.n_voters, bias)
        return (self.n_pairs * self.n_voters**2 - squares[::-1]) // 4, law[::-1]

    def null_sf(self, y: ArrayLike) -> NDArray[np.float64]:
        """P(noisy Y >= y) for uniform rankings, in an array of the shape of `y`: p-value, and size at the threshold.

        O(k sqrt(m)) for each value. With whole noise, y is rounded to the grid of possible values where it is off it by
        less than a millionth of a step.
        """
        counts, law = self.law_of_counts()
        u = (self.n_pairs * self.n_voters - as_floats("y", y)) * self.n_voters / 4
        cdf = discrete_laplace_cdf if self.law == "discrete" else _continuous_cdf
        u = np.floor(u + 1e-6) if self.law == "discrete" else u
        return np.array([law @ cdf(one - counts, self.scale) for one in u.ravel()]).reshape(u.shape).clip(0, 1)

    def release(self, data: Rankings, rng: np.random.Generator | noise.SecureSource) -> Decision:
        """One private test.

        Parameters
        ----------
        data : Rankings
            `n_voters` rankings of `n_items` items.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Returns
        -------
        Decision
            All of it may be published; `p_value` is exact.
        """
        require_rankings(data, self.n_items, n_voters=self.n_voters)
        if self.law == "discrete":
            require_source(rng)
        else:
            require_generator(rng, "floating-point noise is for research")
        pairs = disjoint_pairs(self.n_items, rng=rng)
        count = disagreements(data.positions, pairs)
        if self.law == "discrete":
            noisy: float = count + int(noise.discrete_laplace(self.scale, 1, rng=rng)[0])
        else:
            noisy = count + float(noise.laplace(self.scale, 1, rng=rng)[0])  # type: ignore[arg-type]
        y = self.statistic(noisy)
        p_value, source = float(self.null_sf(y)), source_of(rng, self)
        return Decision(y >= self.threshold, y, self.threshold, p_value, mechanism=self, source=source)


def discrete_laplace_cdf(x: NDArray[Any], scale: float) -> NDArray[np.float64]:
    """P(N <= x) for whole x and the whole noise N of `dprank.privacy.noise.discrete_laplace`.

    Examples
    --------
    >>> discrete_laplace_cdf(np.array([-1, 0, 1]), scale=1.0).round(3).tolist()
    [0.269, 0.731, 0.901]
    """
    if scale == 0:
        return (x >= 0).astype(float)
    q = math.exp(-1 / scale)
    with np.errstate(over="ignore"):
        below, above = np.exp(np.minimum(x, 0) / scale), np.exp(-np.maximum(x, 0) / scale)
    return np.where(x < 0, below, 1 + q - q * above) / (1 + q)


def _continuous_cdf(x: NDArray[Any], scale: float) -> NDArray[np.float64]:
    return np.asarray(scipy.stats.laplace.cdf(x, scale=scale))
