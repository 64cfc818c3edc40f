"""Noisy win counts (Cai, Chakraborty and Wang 2025, Algorithms 2, 3) (long: their sensitivity is proved beside)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    WIDEST_COUNT,
    as_floats,
    require_bool,
    require_one_of,
    require_positive,
    require_whole,
    settle,
    shown,
)
from dprank.data.ballots import HEAVIEST, Ballots, require_ballots
from dprank.data.comparisons import Comparisons, Design, require_comparisons
from dprank.data.count_files import Counts
from dprank.data.counting import GRAIN, Score, whole_counts
from dprank.data.rankings import Rankings
from dprank.privacy import noise
from dprank.privacy.guarantee import Adjacency, Guarantee, Unit, ratio_up, require_scale
from dprank.privacy.noise import Law, best_first
from dprank.privacy.pair_ranges import Places, Sampling, drawn, score_places
from dprank.privacy.ranges import ScoreNoise
from dprank.release import Ranking, source_of

__all__ = ["NoisyCounts", "l1_sensitivity"]


def l1_sensitivity(
    n_items: int,
    per_person: int,
    *,
    score: Score = "net",
    design: Design = "any",
    ties: bool = True,
    adjacency: Adjacency = "replace",
) -> int:
    r"""Most that one voter can move the vector of scores, in the sum of absolute values.

    Parameters
    ----------
    n_items : int
        From 2 to 2^53.
    per_person : int
        Public bound L on the comparisons of one voter, from 1 to 2^53. One comparison as the unit of privacy is a voter
        with one answer.
    score : {"wins", "half", "net"}
        Wins; wins plus half the ties; wins minus losses.
    design : {"any", "once", "complete"}
        What a voter may do: answer any pairs, again and again; at most `per_person` pairs, none twice; every pair
        exactly once.
    ties : bool
        Whether an answer may be undecided.
    adjacency : {"replace", "add_remove"}

    Returns
    -------
    int
        Attained by some pair of neighbours: no smaller number is a sensitivity.

    Raises
    ------
    ValueError
        Naming what is out of range, or more answers than a design has pairs.

    Notes
    -----
    O(1). The norm is the largest :math:`\sigma \cdot (s - s')` over sign vectors :math:`\sigma`, and the two
    voters' scores s and s' are chosen apart: the answer is :math:`\max_\sigma h(\sigma) + h(-\sigma)`, or
    :math:`\max_\sigma h(\sigma)` for adding a voter, where h is the most one voter can contribute to
    :math:`\sigma \cdot s`. With a plus signs and b = n - a minus signs there are only three kinds of pairs, which makes
    h a count. It depends on nothing but a, and is concave in it: the sum is largest in the middle, as it is symmetric,
    and h alone in the middle or at n. A voter whose answers are all left out, as those to an incomplete sheet of a
    complete design are, moves the scores by h alone: no more.

    Examples
    --------
    >>> l1_sensitivity(3, 1), l1_sensitivity(3, 3), l1_sensitivity(3, 3, design="once")
    (4, 12, 8)
    >>> l1_sensitivity(3, 3, score="wins", design="complete", ties=False, adjacency="add_remove")
    3
    """
    n_items, per_person = require_whole("n_items", n_items, 2), require_whole("per_person", per_person, 1)
    pairs = n_items * (n_items - 1) // 2
    require_one_of("score", score, get_args(Score))
    require_one_of("design", design, get_args(Design))
    require_one_of("adjacency", adjacency, get_args(Adjacency))
    ties = require_bool("ties", ties)
    if design != "any" and per_person > pairs:
        raise ValueError(f"per_person = {per_person}; {design} of {pairs} pairs allows 1 .. {pairs}")
    if design == "complete" and per_person != pairs:
        raise ValueError(f"per_person = {per_person}; a complete design has {pairs}, one for each pair")

    def most(plus: int) -> int:
        minus = n_items - plus
        cross, like_plus, like_minus = plus * minus, math.comb(plus, 2), math.comb(minus, 2)
        # an answer adds `gain` where it helps most: a net win across the signs counts for both items
        helpful, gain = (cross, 2) if score == "net" else (cross + like_plus, 1)
        if design == "any":
            return gain * per_person
        if design == "once":
            return gain * min(per_person, helpful)
        # pairs of two minuses must be answered too; only an undecided answer keeps their wins away
        forced = like_minus if score == "half" or (score == "wins" and not ties) else 0
        return gain * helpful - forced

    middle = n_items // 2
    return max(most(middle), most(n_items)) if adjacency == "add_remove" else most(middle) + most(n_items - middle)


def require_bound(per_person: int | None, unit: Unit) -> int:
    """Refuse to guess how many answers of a voter count.

    Examples
    --------
    >>> require_bound(3, "voter"), require_bound(None, "comparison")
    (3, 1)
    """
    if per_person is None and unit == "voter":
        raise ValueError("per_person = None; say how many answers of one voter count: what is beyond is left out")
    return 1 if per_person is None else per_person


@dataclass(frozen=True)
class NoisyCounts:
    """Laplace noise on the score of every item, then sort (Cai, Chakraborty and Wang 2025, Algorithms 2 and 3).

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        Of the Laplace noise, in the unit of the score; above 0.
    per_person : int
        Public bound on the comparisons of one voter; 1 where the unit is one comparison. `release` leaves out what goes
        beyond it (see `Comparisons.bounded`).
    unit : {"voter", "comparison"}
    adjacency : {"replace", "add_remove"}
    score, design, ties
        As in `l1_sensitivity`: a public promise about what is counted. `release` leaves out answers that break it.
    law : {"discrete", "continuous"}
        Noise on the grid of possible scores, fit for release; or on the real line, as papers print it.
    max_weight : int
        Public bound on how much the answers of one voter count, 1 to 2^20; above 1 only for `Ballots`, which have
        weights: a heavier ballot counts as this.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    A ballot answers some pairs, none twice, and a tie or a gap adds nothing to a net win: with ``score="net"``,
    ``design="once"`` and as many answers as there are pairs, `release` takes `Ballots`. Weights w and w' make of the
    scores s and s' of a replaced voter w s and w' s', whose distance is convex in both: it is largest where each weight
    is the bound or 0, and a voter of weight 0 is as one without answers. So the sensitivity is that of
    `l1_sensitivity` times the bound.

    See Also
    --------
    NoisyCounts.calibrated : the noise that a given epsilon needs.

    Examples
    --------
    >>> import dprank
    >>> answers = dprank.read_comparisons(
    ...     dprank.example("answers.csv"), items=["London", "Paris", "Rome"], voter="person"
    ... )
    >>> mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3, design="once")
    >>> mechanism.sensitivity, mechanism.scale
    (8, 8.0)
    >>> release = mechanism.release(answers, dprank.SECURE)
    >>> release.publishable, len(release.ranking), str(release.guarantee)
    (True, 3, 'epsilon = 1 (central; replace one voter)')
    """

    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)

    n_items: int
    scale: float
    _: KW_ONLY
    per_person: int = 1
    unit: Unit = "voter"
    adjacency: Adjacency = "replace"
    score: Score = "net"
    design: Design = "any"
    ties: bool = True
    law: Law = "discrete"
    max_weight: int = 1

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            per_person=require_whole("per_person", self.per_person, 1),
            ties=require_bool("ties", self.ties),
            max_weight=require_whole("max_weight", self.max_weight, 1, HEAVIEST),
            **{
                name: require_one_of(name, getattr(self, name), get_args(allowed))
                for name, allowed in (
                    ("unit", Unit),
                    ("adjacency", Adjacency),
                    ("score", Score),
                    ("design", Design),
                    ("law", Law),
                )
            },
        )
        if self.unit == "comparison" and (self.per_person, self.design) != (1, "any"):
            raise ValueError(
                f"per_person = {self.per_person}, design = {self.design!r}; with unit = 'comparison' they are 1, 'any'"
            )
        if self.max_weight > 1 and not self._takes_ballots:
            raise ValueError(f"max_weight = {self.max_weight}; 1 but for ballots: {self._for_ballots}")
        settle(self, scale=require_scale(self.scale, self.sensitivity))

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        n_items: int,
        per_person: int | None = None,
        unit: Unit = "voter",
        adjacency: Adjacency = "replace",
        score: Score = "net",
        design: Design = "any",
        ties: bool = True,
        law: Law = "discrete",
        max_weight: int = 1,
    ) -> Self:
        """The least noise that makes the released vector epsilon-private.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        per_person : int, optional
            How many answers of one voter count: what is beyond is left out, so it must be said unless the unit is one
            comparison.
        n_items, unit, adjacency, score, design, ties, law, max_weight
            As in `NoisyCounts`.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Examples
        --------
        >>> NoisyCounts.calibrated(epsilon=0.5, n_items=6, per_person=15, design="once").scale
        72.0
        """
        free = cls(
            n_items,
            1.0,
            per_person=require_bound(per_person, unit),
            unit=unit,
            adjacency=adjacency,
            score=score,
            design=design,
            ties=ties,
            law=law,
            max_weight=max_weight,
        )
        scale = ratio_up(free.sensitivity, require_positive("epsilon", epsilon))
        if math.isinf(scale):
            raise ValueError(f"epsilon = {shown(epsilon)}; no finite noise is that private")
        return replace(free, scale=scale)

    @property
    def sensitivity(self) -> int:
        """Largest l1 distance between the scores of neighbouring data."""
        return self.max_weight * l1_sensitivity(
            self.n_items,
            self.per_person,
            score=self.score,
            design=self.design,
            ties=self.ties,
            adjacency=self.adjacency,
        )

    @property
    def _takes_ballots(self) -> bool:
        public = self.score, self.design, self.unit, self.per_person
        return public == ("net", "once", "voter", math.comb(self.n_items, 2))

    @property
    def _for_ballots(self) -> str:
        return f"score = 'net', design = 'once' and per_person = {math.comb(self.n_items, 2)} are needed"

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy vector, hence of all computed from it; attained by the worst neighbours."""
        return Guarantee(ratio_up(self.sensitivity, self.scale), unit=self.unit, adjacency=self.adjacency)

    @property
    def noise_law(self) -> ScoreNoise:
        """What `release` adds to every score."""
        return ScoreNoise("laplace", self.scale, GRAIN[self.score] if self.law == "discrete" else 0.0)

    @property
    def contribution(self) -> int:
        """The most by which one person moves the difference of two scores from 0; attained."""
        m, most = self.n_items, self.per_person
        double = 2 if self.score == "net" else 1
        if self.design == "any":
            return self.max_weight * double * most
        # each pair once: the two items' own, then each of them with the others
        rest = 2 * (m - 2) if self.score == "net" else m - 2
        return self.max_weight * (double + min(most - 1, rest))

    def drawn_deviation(self, sampling: Sampling | None, persons: int | None) -> float:
        r"""How far drawing people moves the difference of two scores: `deviation` of `dprank.privacy.pair_errors`.

        Parameters
        ----------
        sampling : {"persons", "answers"} or None
            Persons drawn independently, whatever each of them answers; the unit must be a voter. Or answers that are
            independent too, as in the Bradley-Terry model or any other with a probability for each pair, no pair asked
            more often than another. None for 0.
        persons : int or None
            How many there are at most, a public number; of unit "comparison", answers.

        Raises
        ------
        ValueError
            Naming what is missing.

        Notes
        -----
        A person is in a range of length 2 R, R the `contribution`: :math:`R \sqrt n`. Of N answers a share
        :math:`1 / \binom m2` is on the pair itself and :math:`2 (m - 2) / \binom m2` on one of its items. Of net wins
        they lie in ranges of length 4 and 2: :math:`2 \sqrt{N / (m - 1)}`, and half of it for the other scores.

        Examples
        --------
        >>> mechanism = NoisyCounts.calibrated(epsilon=1.0, n_items=6, per_person=3, design="once")
        >>> mechanism.drawn_deviation("persons", 400), round(mechanism.drawn_deviation("answers", 400), 1)
        (80.0, 31.0)
        """
        n = drawn(sampling, persons)
        if sampling == "answers":
            return (
                self.max_weight
                * (2 if self.score == "net" else 1)
                * math.sqrt(n * self.per_person / (self.n_items - 1))
            )
        if sampling == "persons" and self.unit == "comparison":
            raise ValueError("sampling = 'persons' with unit = 'comparison'; nothing bounds a person there: 'answers'")
        return self.contribution * math.sqrt(n)

    def open_places(
        self, release: Ranking, level: float, sampling: Sampling | None = None, persons: int | None = None
    ) -> Places:
        """What `Ranking.intervals` says: places by the exact scores, or by the mean scores of whom people are from."""
        deviation = self.drawn_deviation(sampling, persons)
        return score_places(release.scores, self.noise_law, level, deviation)  # type: ignore[arg-type]

    def release(
        self, data: Comparisons | Ballots | Rankings | Counts, rng: np.random.Generator | noise.SecureSource
    ) -> Ranking:
        """One private ranking.

        Parameters
        ----------
        data : Comparisons, Ballots, Rankings or Counts
            Comparisons with voters where the unit is a voter. What goes beyond `per_person`, `design` or `ties` is left
            out, and nothing is said of it (see `Comparisons.bounded`). Of ballots see the notes of the class;
            counts are of all shards, bounded just so.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Returns
        -------
        Ranking
            With the noisy scores.

        Raises
        ------
        ValueError
            If the data are of another number of items, or have no voters where those are protected; or are ballots, and
            the design is not that of ballots.
        """
        counts = self.counts(data)
        scores = self._noisy(counts, counts.shape, rng)
        order, source = best_first(scores, rng), source_of(rng, self)
        return Ranking(data.items, order, scores, mechanism=self, source=source)

    def counts(self, data: Comparisons | Ballots | Rankings | Counts) -> NDArray[np.int64]:
        """What `release` adds noise to, in units of ``GRAIN[score]``, shape (items,): exact, and not private.

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
        >>> data = Comparisons([0, 0, 0], [1, 1, 2], [1, 1, 1], items=["a", "b", "c"], voter=[7, 7, 8])
        >>> NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=1).counts(data).tolist()
        [2, -1, -1]
        """
        if isinstance(data, Ballots | Rankings):
            if not self._takes_ballots:
                raise ValueError(f"data are dprank.{type(data).__name__}; for them {self._for_ballots}")
            return require_ballots(data, self.n_items).bounded_weight(self.max_weight).net_wins()
        most = self.per_person if self.unit == "voter" else None
        if isinstance(data, Counts):
            promised: dict[str, Any] = {"n_items": self.n_items, "per_person": most}
            return data.require("comparisons", **promised, design=self.design, ties=self.ties).scores(self.score)
        require_comparisons(data, self.n_items)
        return whole_counts(data.bounded(most, design=self.design, ties=self.ties), self.score)

    def perturb(
        self, scores: ArrayLike, rng: np.random.Generator | noise.SecureSource, repetitions: int | None = None
    ) -> NDArray[np.float64]:
        """Noisy scores of given scores.

        Parameters
        ----------
        scores : array_like of float, shape (items,)
            Exact scores, as of `win_counts`.
        rng : numpy.random.Generator or dprank.SECURE
        repetitions : int, optional
            Independent draws, one a row.

        Returns
        -------
        ndarray of float, shape (items,) or (repetitions, items)

        Raises
        ------
        ValueError
            If the scores are not such numbers.

        Examples
        --------
        >>> noisy = NoisyCounts(3, 4.0).perturb([2, 0, -2], np.random.default_rng(0), repetitions=5)
        >>> noisy.shape, bool((noisy == np.round(noisy)).all())
        ((5, 3), True)
        """
        scores = as_floats("scores", scores)
        if scores.shape != (self.n_items,) or not np.isfinite(scores).all():
            raise ValueError(f"scores are not {self.n_items} finite numbers, one an item: those are needed")
        shape = scores.shape if repetitions is None else (require_whole("repetitions", repetitions, 0), *scores.shape)
        if self.law == "continuous":
            return self._smoothed(scores, shape, rng)
        counts = scores / GRAIN[self.score]
        if (counts != np.round(counts)).any():
            raise ValueError(f"scores are not all multiples of {GRAIN[self.score]:g}, as {self.score!r} scores are")
        if (np.abs(scores) > WIDEST_COUNT).any():
            raise ValueError("scores are not all within 2^51, where whole noise is added exactly")
        return self._noisy(counts.astype(np.int64), shape, rng)

    def _noisy(
        self, counts: NDArray[np.int64], shape: tuple[int, ...], rng: np.random.Generator | noise.SecureSource
    ) -> NDArray[np.float64]:
        """Noisy scores of exact counts: whole noise on whole numbers, made floats at the very end."""
        grain = GRAIN[self.score]
        if self.law == "continuous":
            return self._smoothed(counts.astype(np.float64) * grain, shape, rng)
        noisy = counts + noise.discrete_laplace(self.scale / grain, shape, rng=rng)
        return noisy.astype(np.float64) * grain

    def _smoothed(self, scores: NDArray[np.float64], shape: tuple[int, ...], rng: Any) -> NDArray[np.float64]:
        return scores + noise.laplace(self.scale, shape, rng=rng)
