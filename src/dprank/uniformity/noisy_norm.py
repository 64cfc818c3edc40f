"""A private test of uniformity whose sensitivity is small without truncation: the norm, not its square (ours)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from itertools import permutations
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    MOST_DRAWS,
    as_array,
    as_floats,
    require_draws,
    require_generator,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank._search import least_whole
from dprank.data.rankings import Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy import noise
from dprank.privacy.guarantee import Guarantee, ratio_up, require_scale
from dprank.privacy.noise import require_drawable, require_source
from dprank.privacy.published import Published, on_steps
from dprank.release import Decision, source_of
from dprank.uniformity._thresholds import LARGEST
from dprank.uniformity.laplace import discrete_laplace_cdf
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import unif_null_sf

__all__ = ["NoisyNorm", "Statistic"]

Statistic = Literal["pairs", "ranks"]
#: exp(-_FAR) is the mass of a null law that may be left out.
_FAR = 45.0
#: Places of simulated rankings that are held at a time.
_BLOCK = 1 << 16
#: Up to so many items, and from so many voters an order on, it takes less to draw how many voters give each order.
_FEW_ITEMS, _EACH = 7, 4


def _threshold_again(release: Decision) -> float:
    """The threshold, a whole number or infinite; of pairs that of the test."""
    test = release.mechanism
    if test.statistic == "pairs":
        return float(test.threshold())
    return float(np.rint(release.threshold))


def _p_value_again(release: Decision) -> float:
    """Of pairs from the statistic; with ranks a whole number over another."""
    test = release.mechanism
    if test.statistic == "pairs":
        return float(test.p_value(release.statistic))
    return float(round(release.p_value * (1 + test.null_draws)) / (1 + test.null_draws))


@dataclass(frozen=True)
class NoisyNorm:
    r"""Release the norm of a sum of vectors, one a ranking, with Laplace noise on a grid; reject if it is large (ours).

    Parameters
    ----------
    n_items, n_voters : int
        m and k, at least 2; public.
    scale : float
        Of the discrete Laplace noise, in steps of the grid; above 0.
    statistic : {"pairs", "ranks"}
        What a ranking contributes: a sign for each of floor(m / 2) disjoint pairs, or the places of all items,
        centred and doubled (Friedman's test).
    size : float
        Largest probability of rejecting uniform rankings, in (0, 1 - 1e-9].
    steps : int
        Steps of the grid to one sensitivity, from 1 to 10,000.
    null_draws : int
        For ``statistic="ranks"``: simulated null data sets, at least 1 / size - 1, with fewer the test could never
        reject. No p-value is below 1 / (null_draws + 1), which is 1/1000 by default.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    Publishes statistic: the noisy norm (whole numbers of steps); threshold: nothing private, but coins of its own with
    ranks (whole numbers); reject: statistic and threshold; p_value: the statistic, and those coins (values of a public
    function, or whole numbers over a public one).

    Replacing one ranking replaces one vector v by w. By the triangle inequality the norm of the sum moves by at most
    the norm of v - w, at most :math:`2 \sqrt{\lfloor m/2 \rfloor}` for signs and :math:`\sqrt{4 m (m^2 - 1) / 3}` for
    doubled places; both are attained when all rankings agree and one is reversed. Rounding down to a grid of which the
    sensitivity is a whole number of steps costs nothing: two numbers that differ by at most so many steps round to
    such. The square of the norm is an integer, and so is everything computed up to the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import NoisyNorm, Rankings
    >>> test = NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=250, statistic="ranks")
    >>> print(test.guarantee)
    epsilon = 1 (central; replace one voter)
    >>> agreeing = Rankings([[0, 1, 2, 3]] * 250, ["ash", "elm", "fir", "oak"])
    >>> decision = test.release(agreeing, rng=np.random.default_rng(1))
    >>> decision.reject, decision.p_value
    (True, 0.001)
    """

    card: ClassVar[Card] = Card(
        question="agreement",
        how="noise on how strongly all ballots together lean",
        gives=("p_value",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        on_steps("statistic", "the noisy norm", "whole numbers of steps"),
        Published("threshold", "nothing private, but coins of its own with ranks", "whole numbers", _threshold_again),
        Published("reject", "statistic and threshold"),
        Published(
            "p_value",
            "the statistic, and those coins",
            "values of a public function, or whole numbers over a public one",
            _p_value_again,
        ),
    )

    n_items: int
    n_voters: int
    scale: float
    _: KW_ONLY
    statistic: Statistic = "pairs"
    size: float = 0.05
    steps: int = 64
    null_draws: int = 999

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            n_voters=require_whole("n_voters", self.n_voters, 2),
        )
        settle(
            self,
            steps=require_whole("steps", self.steps, 1, 10_000),
            null_draws=require_whole("null_draws", self.null_draws, 1, MOST_DRAWS),
            size=require_probability("size", self.size, most=LARGEST),
        )
        settle(self, scale=require_scale(self.scale, self.steps))
        require_one_of("statistic", self.statistic, get_args(Statistic))
        if self.statistic == "ranks":
            require_draws(self.null_draws, self.size, "null_draws")
        if self.n_voters**2 * self.squared_sensitivity >= 2**62:
            raise ValueError(
                f"n_voters = {self.n_voters}; too many for integers of 64 bits with n_items = {self.n_items}"
            )

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        n_items: int,
        n_voters: int,
        size: float = 0.05,
        statistic: Statistic = "pairs",
        steps: int = 64,
        null_draws: int = 999,
    ) -> Self:
        """The least noise that makes the released norm private.

        Parameters
        ----------
        epsilon : float
            Above 0.
        n_items, n_voters, size, statistic, steps, null_draws
            As in `NoisyNorm`.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        epsilon = require_positive("epsilon", epsilon)
        free = cls(n_items, n_voters, 1.0, statistic=statistic, size=size, steps=steps, null_draws=null_draws)
        return replace(free, scale=require_drawable(epsilon, ratio_up(free.steps, epsilon)))

    @property
    def least_p_value(self) -> float | None:
        """The least p-value that simulated null data can show, for ranks; None for pairs, whose null law is exact."""
        return 1 / (1 + self.null_draws) if self.statistic == "ranks" else None

    @property
    def squared_sensitivity(self) -> int:
        """Square of the most that one ranking can move the norm."""
        m = self.n_items
        return 4 * (m // 2) if self.statistic == "pairs" else 4 * m * (m * m - 1) // 3

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy norm, hence of decision and p-value; attained."""
        return Guarantee(ratio_up(self.steps, self.scale))

    def squared_norm(self, positions: NDArray[Any], pairs: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Square of the norm, an integer.

        Parameters
        ----------
        positions : ndarray of int, shape (..., rankings, items)
        pairs : ndarray of int, shape (pairs, 2), optional
            Disjoint; needed for, and only for, ``statistic="pairs"``.
        """
        if (pairs is None) != (self.statistic == "ranks"):
            raise ValueError(f"pairs = {pairs}; they are due with statistic = 'pairs', and only there")
        if pairs is None:
            sums = 2 * positions.sum(-2, dtype=np.int64) - (self.n_items - 1) * positions.shape[-2]
        else:
            sums = pair_signs(positions, pairs).sum(-2, dtype=np.int64)
        return (sums**2).sum(-1)

    def on_grid(self, squared: ArrayLike) -> NDArray[np.int64]:
        """The norm in whole steps, rounded down, from its square."""
        exact = as_array("squared", squared)
        if exact.dtype == object or (exact.size and int(exact.max()) >= 2**62 // self.steps**2):
            flat = [math.isqrt(int(s) * self.steps**2 // self.squared_sensitivity) for s in exact.ravel()]
            return np.array(flat, np.int64).reshape(exact.shape)
        scaled = exact.astype(np.int64) * self.steps**2 // self.squared_sensitivity
        root = np.sqrt(scaled).astype(np.int64)
        # below 2^62 a floating-point root may be too large by one, but never too small
        return root - (root**2 > scaled)

    def noise_sf(self, steps: ArrayLike) -> NDArray[np.float64]:
        """Probability that the noise is at least so many steps."""
        return discrete_laplace_cdf(-as_floats("steps", steps), self.scale)

    def p_value(self, noisy: float) -> float:
        """Probability, under uniform rankings, of a noisy norm of at least `noisy` steps; for pairs."""
        steps, law = self._null_law()
        return min(1.0, float(law @ self.noise_sf(noisy - steps)))

    def threshold(self) -> int:
        """Least number of steps whose p-value is at most `size`; for pairs."""
        return _threshold(self)

    def null_norms(self, rng: np.random.Generator, draws: int | None = None) -> NDArray[np.int64]:
        """Norms of simulated uniform data in steps of the grid, without noise; for ranks.

        O(draws * k * m); of few items and many voters O(draws * m! * m), by how many voters give each order.
        """
        require_generator(rng)
        draws = self.null_draws if draws is None else draws
        if self.n_items <= _FEW_ITEMS and self.n_voters >= _EACH * math.factorial(self.n_items):
            orders = np.array(list(permutations(range(self.n_items))))
            voters = rng.multinomial(self.n_voters, np.full(len(orders), 1 / len(orders)), draws)
            sums = 2 * voters @ orders - (self.n_items - 1) * self.n_voters
            return self.on_grid((sums**2).sum(-1))
        some = max(1, _BLOCK // (self.n_voters * self.n_items))
        squares = [np.empty(0, np.int64)]
        for start in range(0, draws, some):
            shape = min(some, draws - start) * self.n_voters, self.n_items
            uniform = np.broadcast_to(np.arange(self.n_items), shape).copy()
            data = rng.permuted(uniform, axis=1, out=uniform).reshape(-1, self.n_voters, self.n_items)
            squares.append(self.squared_norm(data))
        return self.on_grid(np.concatenate(squares))

    def release(self, data: Rankings, rng: np.random.Generator | noise.SecureSource) -> Decision:
        """Noisy norm, in steps of the grid, with its p-value: all of it private.

        Parameters
        ----------
        data : Rankings
            `n_voters` rankings of `n_items` items.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`.

        Returns
        -------
        Decision
            All of it may be published.

        Raises
        ------
        ValueError
            If the data are of other numbers of items or voters than the test was made for.

        Notes
        -----
        For pairs the p-value is computed from the null law. For ranks it is (1 + c) / (1 + r), c the number of
        r = `null_draws` simulated uniform data sets, noise included, that are at least as large: valid at any r, though
        another simulation would give another, and never below 1 / (1 + r).
        """
        require_rankings(data, self.n_items, n_voters=self.n_voters)
        require_source(rng)
        public = rng if isinstance(rng, np.random.Generator) else np.random.default_rng()
        pairs = disjoint_pairs(self.n_items, rng=public) if self.statistic == "pairs" else None
        exact = int(self.on_grid(self.squared_norm(data.positions, pairs)))
        noisy = exact + int(noise.discrete_laplace(self.scale, 1, rng=rng)[0])
        if pairs is not None:
            p, threshold = self.p_value(noisy), float(self.threshold())
        else:
            null = self.null_norms(public) + noise.discrete_laplace(self.scale, self.null_draws, rng=public)
            p = (1 + int((null >= noisy).sum())) / (1 + self.null_draws)
            allowed = math.floor(self.size * (1 + self.null_draws)) - 1
            threshold = float(np.sort(null)[-1 - allowed] + 1) if allowed >= 0 else math.inf
        return Decision(noisy >= threshold, float(noisy), threshold, p, mechanism=self, source=source_of(rng, self))

    def _null_law(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        if self.statistic != "pairs":
            raise ValueError(f"statistic = {self.statistic!r}; the exact null law is known for 'pairs'")
        return _grid_law(self.n_items // 2, self.n_voters, self.steps)


@lru_cache(maxsize=16)
def _threshold(test: NoisyNorm) -> int:
    # where the size is above 1/2 it is below 0: noise alone is at least 0 too often
    return least_whole(lambda steps: test.p_value(steps) <= test.size, -1, test.steps * test.n_voters)


def _end(n_pairs: int, n_voters: int) -> int:
    """Where the null law of the squared norm ends: at its largest value, or at the chi-square bound on its tail."""
    far = n_voters * (n_pairs + 2 * math.sqrt(_FAR * n_pairs) + 2 * _FAR)
    return min(n_pairs * n_voters**2, math.ceil(far))


@lru_cache(maxsize=16)
def _grid_law(n_pairs: int, n_voters: int, steps: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Null law of the norm in whole steps."""
    last = math.isqrt(_end(n_pairs, n_voters) * steps**2 // (4 * n_pairs)) + 1
    # the norm is at least u steps where its square is at least that number of whole units
    squares = [-(-u * u * 4 * n_pairs // steps**2) for u in range(last + 1)]
    above = np.append(unif_null_sf(n_pairs, n_voters, np.array(squares) / n_voters), 0.0)
    return np.arange(last + 1), (above[:-1] - above[1:]).clip(0)
