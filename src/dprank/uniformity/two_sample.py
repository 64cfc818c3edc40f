"""2SAMP: are two rankings closer to each other than uniform ones would be?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from dprank._require import require_generator, require_probability, require_real, require_whole, settle
from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings, require_rankings
from dprank.models.mallows import Mallows
from dprank.release import Decision
from dprank.uniformity._thresholds import LEAST_EXACT

__all__ = ["TwoSample"]


@dataclass(frozen=True)
class TwoSample:
    """Test of uniformity by the Kendall distance of two rankings, without privacy: 2SAMP.

    Uniform rankings are at the same distances from each other as from any fixed one: the null law is that of
    ``Mallows(n_items, 0)``, exactly (Busa-Fekete et al. 2021, Algorithm 1).

    Parameters
    ----------
    n_items : int
        m, at least 2.
    size : float
        Probability of rejecting uniform rankings that is allowed, in (0, 1).
    threshold : float
        Reject at distances up to it.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    TwoSample.calibrated : the largest threshold that keeps the size.

    Examples
    --------
    >>> from dprank import Rankings, TwoSample
    >>> test = TwoSample.calibrated(n_items=6, size=0.05)
    >>> two = Rankings([[0, 1, 2, 3, 4, 5], [0, 2, 1, 3, 4, 5]], list("abcdef"))
    >>> print(test.test(two))
    the rankings are not uniform, p = 0.00833; not for publication: of no private release
    """

    n_items: int
    size: float
    threshold: float

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            size=require_probability("size", self.size),
            threshold=require_real("threshold", self.threshold, "it must be finite", math.isfinite),
        )

    @classmethod
    def calibrated(cls, *, n_items: int, size: float = 0.05) -> Self:
        """The largest distance that uniform rankings fall to with probability at most `size`.

        -1, which never rejects, where even equal rankings are too likely. O(items * log(items)).

        Parameters
        ----------
        n_items : int
            m, at least 2.
        size : float
            In [1e-10, 1): the null law has an absolute error of 1e-12.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        null = cls(n_items, size, 0.0)._null
        size = require_probability("size", size, LEAST_EXACT)
        low, high = -1, null.n_pairs  # P(d <= low) <= size < P(d <= high)
        while high - low > 1:
            d = np.arange(low + 1, high, max(1, (high - low) // 64))  # a vector of distances costs little more than one
            fits = int((null.distance_cdf(d) <= size).sum())
            low, high = int(d[fits - 1]) if fits else low, int(d[fits]) if fits < len(d) else high
        return cls(n_items, size, float(low))

    @property
    def exact_size(self) -> float:
        """Probability of rejecting two uniform rankings."""
        return float(self._null.distance_cdf(self.threshold)) if self.threshold >= 0 else 0.0

    def statistic(self, rankings: Rankings) -> int:
        """Kendall distance of the two rankings. O(items * log(items))."""
        require_rankings(rankings, self.n_items, n_voters=2)
        return kendall_distance(*rankings.positions)

    def test(self, rankings: Rankings, rng: np.random.Generator | None = None) -> Decision:
        """Decide; nothing is drawn from `rng`, a numpy.random.Generator if given.

        Raises
        ------
        ValueError
            If `rankings` are not two rankings of `n_items` items.
        """
        if rng is not None:
            require_generator(rng)
        distance = self.statistic(rankings)
        p_value = float(self._null.distance_cdf(distance))
        return Decision(distance <= self.threshold, float(distance), self.threshold, p_value)

    @property
    def _null(self) -> Mallows:
        return Mallows(self.n_items, 0.0)
