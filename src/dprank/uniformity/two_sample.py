"""2SAMP: are two rankings closer to each other than uniform ones would be?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from dprank._require import require_generator, require_probability, require_real, require_whole, settle
from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows, theta_at
from dprank.release import Decision
from dprank.uniformity._require import LEAST_EXACT, require_data


@dataclass(frozen=True)
class TwoSample:
    """Test of uniformity by the Kendall distance of two rankings (Busa-Fekete et al. 2021, Algorithm 1).

    Uniform rankings are at the same distances from each other as from any fixed one: the null law is that of
    ``Mallows(n_items, 0)``, exactly.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    delta : float
        Size that is allowed, in (0, 1).
    threshold : float
        Reject at distances up to it.

    See Also
    --------
    TwoSample.exact : the largest threshold that keeps the size.
    TwoSample.as_printed : the paper's.
    """

    n_items: int
    delta: float
    threshold: float

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            delta=require_probability("delta", self.delta),
            threshold=require_real("threshold", self.threshold, "it must be finite", math.isfinite),
        )

    @classmethod
    def as_printed(cls, n_items: int, delta: float) -> Self:
        """Algorithm 1, line 6: m (m - 1) / 4 less the square root of m^3 ln(1 / delta) / 12."""
        free = cls(n_items, delta, 0.0)
        n_items, delta = free.n_items, free.delta
        return cls(n_items, delta, n_items * (n_items - 1) / 4 - math.sqrt(n_items**3 * math.log(1 / delta) / 12))

    @classmethod
    def exact(cls, n_items: int, delta: float) -> Self:
        """The largest distance that uniform rankings fall to with probability at most delta.

        -1, which never rejects, where even equal rankings are too likely. O(items * log(items)). `delta` lies in
        [1e-10, 1): the null law has an absolute error of 1e-12.
        """
        null = cls(n_items, delta, 0.0)._null
        delta = require_probability("delta", delta, LEAST_EXACT)
        low, high = -1, null.n_pairs  # P(d <= low) <= delta < P(d <= high)
        while high - low > 1:
            d = np.arange(low + 1, high, max(1, (high - low) // 64))  # a vector of distances costs little more than one
            fits = int((null.distance_cdf(d) <= delta).sum())
            low, high = int(d[fits - 1]) if fits else low, int(d[fits]) if fits < len(d) else high
        return cls(n_items, delta, float(low))

    @property
    def size(self) -> float:
        """Probability of rejecting two uniform rankings."""
        return float(self._null.distance_cdf(self.threshold)) if self.threshold >= 0 else 0.0

    @property
    def least_gap(self) -> float:
        """The 1 - phi_epsilon from which line 3 lets the test run: `printed_gap`."""
        return printed_gap(self.n_items, self.delta)

    def applies(self, epsilon: float) -> bool:
        """Line 3 as printed: whether the test runs at tolerance `epsilon`, in (0, 1 - 1/m!)."""
        return -math.expm1(-theta_at(self.n_items, epsilon)) >= self.least_gap

    def statistic(self, rankings: Rankings) -> int:
        """Kendall distance of the two rankings. O(items * log(items))."""
        require_data(rankings, self.n_items, 2)
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


def printed_gap(n_items: float, delta: float) -> float:
    """8 / (m + 7 - sqrt(12 log(2 / delta) m)): the least 1 - phi_epsilon of Theorem 4 and of Algorithm 1, line 3.

    Negative, which lets the test run always, for some m below 12 log(2 / delta); above 1, never, for some larger m.
    """
    rest = n_items + 7 - math.sqrt(12 * math.log(2 / delta) * n_items)
    return 8 / rest if rest else math.inf
