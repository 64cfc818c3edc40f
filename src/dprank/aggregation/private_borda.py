"""Private rank aggregation by Borda's count: noise on m mean places instead of m(m-1)/2 fractions.

Not in Alabi, Ghazi, Kumar and Manurangsi (2022), whose algorithms noise pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_positive, require_whole
from dprank.aggregation.additive import FINITE, AdditiveNoise, noise_of
from dprank.data.ballots import BallotForm, Ballots
from dprank.data.rankings import Rankings
from dprank.mechanism import Card
from dprank.privacy.discrete_gaussian import Answers, smoothed_epsilon
from dprank.privacy.guarantee import Adjacency
from dprank.privacy.noise import Law, Source, best_first
from dprank.privacy.pair_ranges import Places, Sampling, drawn, score_places
from dprank.privacy.published import Published
from dprank.privacy.ranges import ScoreNoise
from dprank.release import Ranking, source_of

__all__ = ["PrivateBorda"]

#: Most items of which all is listed that a replaced ranking may do, or one that is added, for the exact law of discrete
#: Gaussian noise: of more it would be too long.
_REPLACED, _ADDED = 6, 32


def _whole_again(release: Ranking) -> NDArray[np.float64]:
    """Scores from differences that are whole numbers of grains."""
    scores, grain = np.asarray(release.scores), release.mechanism.grain
    return np.asarray(grain * centred_scores(np.rint((scores[0] - scores) / grain)))


@dataclass(frozen=True)
class PrivateBorda(AdditiveNoise):
    r"""Independent noise on the sum of places of every item, then sort.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    scale : float
        Of the noise, in places: Laplace scale, or standard deviation; above 0.
    noise : {"laplace", "gaussian"}
    delta : float
        At which the guarantee of Gaussian noise is stated, in (0, 1); 0 for Laplace noise.
    adjacency : {"replace", "add_remove"}
        The number of voters is used by neither.
    law : {"discrete", "continuous"}
        Whole noise, fit for release; or on the real line.
    ballots, max_weight
        As in `dprank.NoisyMatrix`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    PrivateBorda.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Publishes scores: noisy sums of places (whole numbers, or halves, less their mean); order: the scores, equal ones by
    chance.

    The order depends on differences of scores only, so that a common shift of all scores changes nothing, and a voter
    moves them by no more than the least norm of the move over all shifts. To replace a ranking moves the sums most
    where it is turned round, with :math:`l_1` norm :math:`\lfloor m^2 / 2 \rfloor` and :math:`l_2` norm
    :math:`\sqrt{m (m^2 - 1) / 3}`, and no shift shortens either. To add a ranking moves them, after the shift by the
    middle place, by half of that: without the shift it would be :math:`m (m - 1) / 2`. Where that place lies between
    two, whole noise is shifted to one of them, or nearly hides the shift to the middle, as differences alone are seen
    (`dprank.privacy.discrete_gaussian.smoothed_epsilon`); the smaller epsilon holds.

    With ``ballots="partial"`` what is summed is the place of an item about the middle: half the number of items that a
    ballot puts before it, less half of those that it puts behind it. Of a full ranking that is its place less the
    middle one. Every other ballot is a mean of full rankings in all pairs that it orders and in none that it does not,
    and norms are convex: no ballot moves the sums more than a full one, of weight `max_weight`. All sums are multiples
    of a half, and need no shift.

    Examples
    --------
    >>> from dprank import SECURE, PrivateBorda, Rankings
    >>> votes = Rankings([[0, 1, 2]] * 300 + [[1, 2, 0]] * 100, ["roads", "schools", "parks"])
    >>> mechanism = PrivateBorda.calibrated(epsilon=1.0, n_items=3)
    >>> mechanism.release(votes, SECURE).ranking
    ('roads', 'schools', 'parks')
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; replace one voter)
    """

    card: ClassVar[Card] = Card(
        question="consensus",
        how="noise on every item's sum of places, then sort",
        delta=True,
        adjacency=True,
        partial=True,
        gives=("scores",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("scores", "noisy sums of places", "whole numbers, or halves, less their mean", _whole_again),
        Published("order", "the scores, equal ones by chance"),
    )

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 5.0
    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int,
        adjacency: Adjacency = "replace",
        law: Law = "discrete",
        ballots: BallotForm = "full",
        max_weight: int = 1,
    ) -> Self:
        """The least noise that is (epsilon, delta) private: Laplace for delta = 0, else Gaussian.

        Of discrete Gaussian noise, the least that `guarantee` proves: that of noise on the line, to a percent or so.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        n_items, adjacency, law, ballots, max_weight
            As in `PrivateBorda`.

        Raises
        ------
        ValueError
            Naming what is out of range, or `epsilon` where no noise that can be drawn is enough.

        Examples
        --------
        >>> from dprank import PrivateBorda
        >>> PrivateBorda.calibrated(epsilon=1.0, n_items=4).scale
        8.0
        """
        epsilon = require_positive("epsilon", epsilon)
        parameters: dict[str, Any] = {"adjacency": adjacency, "law": law, "ballots": ballots, "max_weight": max_weight}
        return cls(n_items, FINITE, noise_of(delta), delta=delta, **parameters)._least(epsilon)

    @property
    def l1_sensitivity(self) -> float:
        """Least bound on the sum of absolute moves that one voter causes, up to a common shift."""
        return float(self.max_weight * (self.n_items**2 // (2 if self.adjacency == "replace" else 4)))

    @property
    def l2_sensitivity(self) -> float:
        """The same of the Euclidean norm, rounded up; shifts are whole where the noise is."""
        m = self.n_items
        square = Fraction(m * (m * m - 1), 3 if self.adjacency == "replace" else 12)
        if self._halved and self.law == "discrete":
            square += Fraction(m, 4)  # the middle place lies between two
        return math.nextafter(math.sqrt(square * self.max_weight**2), math.inf)

    @property
    def _answers(self) -> Answers:
        return Answers(self.l2_sensitivity / self.grain, self.scale / self.grain, self.n_items)

    @property
    def _moves(self) -> tuple[dict[int, int], ...]:
        replaced = self.adjacency == "replace"
        if self.ballots == "partial" or self.n_items > (_REPLACED if replaced else _ADDED):
            return ()
        return _replacements(self.n_items) if replaced else (_addition(self.n_items),)

    def _discrete_epsilon(self) -> float:
        found = super()._discrete_epsilon()
        if not self._halved:
            return found
        m = self.n_items
        across = Answers(math.nextafter(math.sqrt(m * (m * m - 1) / 12), math.inf), self.scale, m)
        return min(found, smoothed_epsilon([across], self.delta, folded=self.scale / math.sqrt(m)))

    @property
    def _halved(self) -> bool:
        """Whether no whole shift of all sums makes the move of a voter who comes or goes shortest."""
        return self.ballots == "full" and self.adjacency == "add_remove" and self.n_items % 2 == 0

    @property
    def noise_law(self) -> ScoreNoise:
        """What is in every score that `release` shows, up to a common shift."""
        return ScoreNoise(self.noise, self.scale, self.grain if self.law == "discrete" else 0.0)

    def drawn_deviation(self, sampling: Sampling | None, persons: int | None) -> float:
        """How far drawing voters moves the difference of two scores, as of `dprank.NoisyCounts.drawn_deviation`.

        Parameters
        ----------
        sampling : {"persons"} or None
            Voters drawn independently, with whatever rankings; None for 0.
        persons : int or None
            How many voters there are at most, a public number.

        Raises
        ------
        ValueError
            Naming what is missing.

        Examples
        --------
        >>> PrivateBorda.calibrated(epsilon=1.0, n_items=4).drawn_deviation("persons", 400)  # 3 places, 400 times
        60.0
        """
        n = drawn(sampling, persons)
        if sampling == "answers":
            raise ValueError("sampling = 'answers'; a ballot is all of one person: 'persons'")
        return self.max_weight * (self.n_items - 1) * math.sqrt(n)

    def open_places(
        self, release: Ranking, level: float, sampling: Sampling | None = None, persons: int | None = None
    ) -> Places:
        """What `Ranking.intervals` says: places by the exact sums, or by the mean places that the population gives."""
        deviation = self.drawn_deviation(sampling, persons)
        return score_places(release.scores, self.noise_law, level, deviation)  # type: ignore[arg-type]

    def additive_error(self, n_voters: int) -> float:
        """Bound on the expected Kemeny score of the released order, less five times the least there is.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing. No data are
        read, so that one can plan before any budget is spent.

        Parameters
        ----------
        n_voters : int
            At least 1; of ballots with weights their sum.

        Returns
        -------
        float
            Twice the expected sum of absolute noise, a voter: in pairs on which the average voter disagrees. A pair
            that a ballot does not order costs any order one half.
        """
        return 2 * self.n_items * self._wander / require_whole("n_voters", n_voters, 1)

    def release(self, data: Rankings | Ballots, rng: Source) -> Ranking:
        """One private order, with its scores.

        Parameters
        ----------
        data : Rankings or Ballots
            Of `n_items` items; the latter with ``ballots="partial"``.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Raises
        ------
        ValueError
            Where the number of items differs.

        Notes
        -----
        O(voters * items + items log items).
        """
        sums = self.counts(data)
        scores = self.grain * centred_scores(sums + self._drawn(sums.shape, rng))
        return Ranking(data.items, best_first(scores, rng), scores, mechanism=self, source=source_of(rng, self))

    def counts(self, data: Rankings | Ballots) -> NDArray[np.int64]:
        """What `release` adds noise to, in units of `grain`, shape (items,): exact, and not private.

        Parameters
        ----------
        data
            As in `release`.

        Raises
        ------
        ValueError
            As `release`.

        Examples
        --------
        >>> from dprank import Ballots
        >>> mechanism = PrivateBorda(3, 4.0, ballots="partial")
        >>> mechanism.counts(Ballots([[0, 1, 1], [0, -1, 1]], "abc")).tolist()  # half a place each
        [-3, 1, 2]
        """
        if self.ballots == "full":
            return self._rankings(data).positions.sum(axis=0, dtype=np.int64)
        return -self._ballots(data).net_wins()

    def perturb(self, sums: NDArray[Any], rng: Source) -> NDArray[np.float64]:
        """Sums of places with noise: what `guarantee` covers is their differences.

        Under "add_remove" the sums themselves are not covered: a voter who comes or goes shifts them all.

        Parameters
        ----------
        sums : ndarray, shape (..., items)
            Multiples of `grain`, for noise on the grid; leading axes are independent repetitions.
        rng : numpy.random.Generator or dprank.SECURE

        Returns
        -------
        ndarray of float, shape (..., items)
            Noise on the grid is added to integers, and only the sum becomes a float.

        Raises
        ------
        ValueError
            Where whole noise would leave digits as they are.
        """
        sums = self._require_counts("sum", sums, 1, self.grain)
        return self.grain * np.asarray(sums + self._drawn(sums.shape, rng), float)


@cache
def _replacements(n_items: int) -> tuple[dict[int, int], ...]:
    """By how much the places of so many items differ, of all pairs of rankings whose moves no other pair exceeds."""
    places = np.arange(n_items)
    moves = {tuple(np.sort(np.abs(np.array(other) - places)).tolist()) for other in permutations(range(n_items))}
    longest = [one for one in moves if not any(one != other and np.less_equal(one, other).all() for other in moves)]
    return tuple(dict(Counter(one)) for one in sorted(longest))


def _addition(n_items: int) -> dict[int, int]:
    """By how much a ranking moves sums of places, but for a whole shift of all."""
    return dict(Counter(np.abs(np.arange(n_items) - n_items // 2).tolist()))


def centred_scores(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores from sums of places: a function of their differences, to the last bit.

    Examples
    --------
    >>> centred_scores(np.array([10.0, 14.0])).tolist()  # few places are best
    [2.0, -2.0]
    """
    ahead = places[0] - places
    return ahead - ahead.mean()
