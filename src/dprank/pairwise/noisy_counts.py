"""Noisy win counts (Cai, Chakraborty and Wang 2025, Algorithms 2, 3) (long: four noises, of each what it promises)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    WIDEST_COUNT,
    as_floats,
    require_below_1,
    require_bool,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
    shown,
)
from dprank._search import least_under
from dprank.data.ballots import HEAVIEST, Ballots, require_ballots
from dprank.data.comparisons import Comparisons, Design, require_comparisons
from dprank.data.count_files import Counts
from dprank.data.counting import GRAIN, Score, whole_counts
from dprank.data.rankings import Rankings
from dprank.mechanism import Card
from dprank.pairwise.sensitivity import l1_sensitivity, l2_sensitivity, linf_sensitivity
from dprank.privacy import noise as laws
from dprank.privacy.conditioned import ConditionedError, conditioned_laplace
from dprank.privacy.cube import CubeError, cube_noise, require_radii
from dprank.privacy.discrete_gaussian import Answers, smoothed_epsilon
from dprank.privacy.gaussian import LEAST, STEEPEST, gaussian_epsilon, gaussian_scale, zcdp
from dprank.privacy.guarantee import Adjacency, Guarantee, Unit, ratio_up, require_scale
from dprank.privacy.noise import Law, Source, best_first, require_drawable
from dprank.privacy.pair_ranges import Places, Sampling, drawn, pair_places, score_places
from dprank.privacy.published import Published, on_steps
from dprank.privacy.ranges import ScoreNoise
from dprank.release import Ranking, source_of

__all__ = ["CountNoise", "NoisyCounts"]

#: Independent Laplace noise; independent Gaussian noise; Laplace noise that sums to zero, as net wins do; noise that is
#: uniform in a cube of random size.
CountNoise = Literal["laplace", "gaussian", "conditioned", "cube"]


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
    r"""Noise on the score of every item, then sort (Cai, Chakraborty and Wang 2025, Algorithms 2 and 3).

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        Of the noise: Laplace scale, or standard deviation, in the unit of the score; above 0.
    noise : {"laplace", "gaussian", "conditioned", "cube"}
        Laplace noise, for a delta of 0; Gaussian noise, for one above. For whole scores and a delta of 0 also Laplace
        noise that is conditioned to sum to zero, of net wins; or noise that is uniform in a cube of random size, see
        `dprank.privacy.cube.cube_noise`.
    delta : float
        In [0, 1).
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
    Publishes scores: noisy counts (multiples of 1, or of 1/2 with half wins); order: the scores, equal ones by chance.

    A ballot answers some pairs, none twice, and a tie or a gap adds nothing to a net win: with ``score="net"``,
    ``design="once"`` and as many answers as there are pairs, `release` takes `Ballots`. Weights w and w' make of the
    scores s and s' of a replaced voter w s and w' s', whose distance is convex in both: it is largest where each weight
    is the bound or 0, and a voter of weight 0 is as one without answers. So the sensitivity is that of
    `dprank.pairwise.l1_sensitivity` times the bound.

    Conditioned noise has a law in proportion to :math:`e^{-\|z\|_1 / scale}` on the whole vectors that sum to zero.
    Net wins sum to zero, so that what a neighbour moves, v, is such a vector: z and z + v are both possible, the sum
    over all z is the same for both, and the ratio is at most :math:`e^{\|v\|_1 / scale}`. That is the promise of
    independent noise of this scale, for less noise in the difference of two items: among m items, where it is wide, a
    share of :math:`3 / (2 m + 2)` less variance, which is half of it among two. Where answers may all be on one pair,
    or one comparison is the unit, the hull of the moves is all of
    :math:`\{\sum z = 0, \|z\|_1 \le sensitivity\}`: the K-norm mechanism of what a neighbour may move (Hardt and Talwar
    2010).

    Noise in a cube needs a scale for what one score moves, not all of them: it pays where a voter moves many scores by
    a little. Its deviation is that times :math:`\sqrt{(m + 1) (m + 2) / 3}` over epsilon, where it is wide, of Laplace
    noise :math:`\sqrt 2` times the sensitivity: where everybody meets each item once, less than half.

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

    card: ClassVar[Card] = Card(
        question="ranking",
        how="noise on what every item has won, then sort",
        delta=True,
        adjacency=True,
        gives=("scores",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        on_steps("scores", "noisy counts", "multiples of 1, or of 1/2 with half wins", lambda m: GRAIN[m.score]),
        Published("order", "the scores, equal ones by chance"),
    )

    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)

    n_items: int
    scale: float
    _: KW_ONLY
    noise: CountNoise = "laplace"
    delta: float = 0.0
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
            delta=require_below_1("delta", self.delta) and require_probability("delta", self.delta, LEAST),
            **{
                name: require_one_of(name, getattr(self, name), get_args(allowed))
                for name, allowed in (
                    ("noise", CountNoise),
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
        if (self.noise == "gaussian") != (self.delta > 0):
            raise ValueError(f"delta = {self.delta}; in (0, 1) for Gaussian noise, 0 for other noise")
        if self.noise == "conditioned" and (self.score, self.law) != ("net", "discrete"):
            raise ValueError(
                f"score = {self.score!r}, law = {self.law!r}; with noise = 'conditioned' they are 'net', 'discrete'"
            )
        if self.noise == "cube" and self.law != "discrete":
            raise ValueError(f"law = {self.law!r}; with noise = 'cube' it is 'discrete'")
        settle(self, scale=require_scale(self.scale, self._moved))
        if self.noise == "gaussian" and self.l2_sensitivity / self.scale > STEEPEST:
            raise ValueError(f"scale = {self.scale}; too little noise for any finite epsilon")

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int,
        noise: CountNoise | None = None,
        per_person: int | None = None,
        unit: Unit = "voter",
        adjacency: Adjacency = "replace",
        score: Score = "net",
        design: Design = "any",
        ties: bool = True,
        law: Law = "discrete",
        max_weight: int = 1,
    ) -> Self:
        """The least noise that makes the released vector (epsilon, delta) private.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        noise : {"laplace", "gaussian", "conditioned", "cube"}, optional
            Unless said, Laplace for a delta of 0, else Gaussian.
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
        >>> survey = {"epsilon": 1.0, "n_items": 40, "per_person": 20, "design": "matching"}
        >>> NoisyCounts.calibrated(**survey).noise_law.scale
        80.0
        >>> NoisyCounts.calibrated(**survey, delta=1e-6).scale < 60  # the deviation: that of Laplace noise is 113
        True
        """
        free = cls(
            n_items,
            1.0,
            noise=noise or ("gaussian" if require_below_1("delta", delta) else "laplace"),
            delta=delta,
            per_person=require_bound(per_person, unit),
            unit=unit,
            adjacency=adjacency,
            score=score,
            design=design,
            ties=ties,
            law=law,
            max_weight=max_weight,
        )
        epsilon = require_positive("epsilon", epsilon)
        if free.noise == "gaussian":
            if law == "continuous":
                scale = gaussian_scale(free.l2_sensitivity, epsilon, free.delta)
            else:
                scale = least_under(lambda s: replace(free, scale=s).guarantee.epsilon, epsilon, free.l2_sensitivity)
            return replace(free, scale=require_drawable(epsilon, scale, law, grain=GRAIN[score]))
        scale = ratio_up(free._moved, epsilon)
        if math.isinf(scale):
            raise ValueError(f"epsilon = {shown(epsilon)}; no finite noise is that private")
        if free.noise == "cube":
            require_radii(scale / GRAIN[score], free.n_items)
        else:  # to sum to zero asks for room
            grain = GRAIN[score] / (free.n_items if free.noise == "conditioned" else 1)
            require_drawable(epsilon, scale, law, grain=grain)
        return replace(free, scale=scale)

    @property
    def sensitivity(self) -> int:
        """Largest l1 distance between the scores of neighbouring data."""
        return self.max_weight * l1_sensitivity(self.n_items, self.per_person, **self._promise)

    @property
    def linf_sensitivity(self) -> int:
        """Largest move of one score between neighbouring data."""
        return self.max_weight * linf_sensitivity(self.n_items, self.per_person, **self._promise)

    @property
    def _moved(self) -> int:
        """What the scale is compared with, without delta."""
        return self.linf_sensitivity if self.noise == "cube" else self.sensitivity

    @property
    def l2_sensitivity(self) -> float:
        """Bound on the Euclidean distance between the scores of neighbouring data, rounded up."""
        one = l2_sensitivity(self.n_items, self.per_person, **self._promise)
        return one if self.max_weight == 1 else math.nextafter(self.max_weight * one, math.inf)

    @property
    def _promise(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("score", "design", "ties", "adjacency")}

    @property
    def _takes_ballots(self) -> bool:
        public = self.score, self.design, self.unit, self.per_person
        return public == ("net", "once", "voter", math.comb(self.n_items, 2))

    @property
    def _for_ballots(self) -> str:
        return f"score = 'net', design = 'once' and per_person = {math.comb(self.n_items, 2)} are needed"

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of Gaussian noise, discrete or not; of other noise by its epsilon."""
        if self.noise != "gaussian":
            return self.guarantee.epsilon**2 / 2
        ratio = ratio_up(self.l2_sensitivity, self.scale)
        return ratio * ratio / 2 * (1 + 1e-12)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy vector, hence of all computed from it; without delta attained by the worst neighbours.

        That of discrete Gaussian noise is the less of that by `rho` and by the smoothing of
        `dprank.privacy.discrete_gaussian`.
        """
        if self.noise != "gaussian":
            epsilon = ratio_up(self._moved, self.scale)
        elif self.law == "continuous":
            epsilon = gaussian_epsilon(self.l2_sensitivity, self.scale, self.delta)
        else:
            grain = GRAIN[self.score]
            answers = Answers(self.l2_sensitivity / grain, self.scale / grain, self.n_items)
            epsilon = min(zcdp(self.rho, self.delta), smoothed_epsilon([answers], self.delta))
        return Guarantee(epsilon, self.delta, unit=self.unit, adjacency=self.adjacency)

    @property
    def noise_law(self) -> ScoreNoise:
        """What `release` adds to every score; where noises depend on each other, independent noise of that scale."""
        name = "gaussian" if self.noise == "gaussian" else "laplace"
        return ScoreNoise(name, self.scale, GRAIN[self.score] if self.law == "discrete" else 0.0)  # type: ignore[arg-type]

    @property
    def contribution(self) -> int:
        """The most by which one person moves the difference of two scores from 0; attained."""
        m, most = self.n_items, self.per_person
        double = 2 if self.score == "net" else 1
        if self.design == "any":
            return self.max_weight * double * most
        if self.design == "matching":  # the two items' own answer; or one of each, that one wins and the other loses
            return self.max_weight * double
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
        assert release.scores is not None
        two = ((self.noise_law, 2, 1.0),)
        if self.noise == "conditioned":
            return pair_places(release.scores, ConditionedError(two, deviation=deviation), level)
        if self.noise == "cube":
            return pair_places(release.scores, CubeError(two, deviation=deviation, n_items=self.n_items), level)
        return score_places(release.scores, self.noise_law, level, deviation)

    def release(self, data: Comparisons | Ballots | Rankings | Counts, rng: Source) -> Ranking:
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

    def perturb(self, scores: ArrayLike, rng: Source, repetitions: int | None = None) -> NDArray[np.float64]:
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

    def _noisy(self, counts: NDArray[np.int64], shape: tuple[int, ...], rng: Source) -> NDArray[np.float64]:
        """Noisy scores of exact counts: whole noise on whole numbers, made floats at the very end."""
        grain = GRAIN[self.score]
        if self.law == "continuous":
            return self._smoothed(counts.astype(np.float64) * grain, shape, rng)
        if self.noise == "conditioned" or self.noise == "cube":
            draw = conditioned_laplace if self.noise == "conditioned" else cube_noise
            drawn = draw(self.scale / grain, self.n_items, math.prod(shape[:-1]), rng=rng).reshape(shape)
        else:
            drawn = laws.draw(self.noise, "discrete", self.scale / grain, shape, rng=rng)
        return (counts + drawn).astype(np.float64) * grain

    def _smoothed(self, scores: NDArray[np.float64], shape: tuple[int, ...], rng: Any) -> NDArray[np.float64]:
        return scores + laws.draw(self.noise, "continuous", self.scale, shape, rng=rng)  # type: ignore[arg-type]
