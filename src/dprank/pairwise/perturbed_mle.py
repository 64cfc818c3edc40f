"""The perturbed maximum likelihood estimator: Algorithm 1 and (3.2) of Cai et al. (2025) (long: two graphs, laws)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    WIDEST_COUNT,
    as_floats,
    require_loss,
    require_one_of,
    require_positive,
    require_whole,
    settle,
)
from dprank._search import least_under
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.data.counting import GRAIN, whole_counts
from dprank.mechanism import Card
from dprank.models.bradley_terry import LINKS, LOGISTIC, Link, require_link
from dprank.models.likelihood import mle, mle_from_counts
from dprank.pairwise._flips import flip_loss
from dprank.pairwise.noisy_counts import require_bound
from dprank.privacy import noise
from dprank.privacy.guarantee import Guarantee, Unit, ratio_up
from dprank.privacy.noise import Law, best_first, require_drawable
from dprank.privacy.pair_ranges import NoRanges, Places, Sampling, drawn, score_places
from dprank.privacy.published import Published, on_steps
from dprank.privacy.ranges import ScoreNoise
from dprank.release import Ranking, source_of

__all__ = ["STEP", "PerturbedMLE", "objective_loss"]

Graph = Literal["private", "public"]
#: Least scale, and on a private graph least ridge, of which anything is promised: below, floats run out.
LEAST = 1e-300
#: Ties make half wins: noise lives on the grid of half a win.
_GRAIN = GRAIN["half"]
#: Strengths are published in multiples of this, and items ordered by them: digits below tell of the solver's way alone.
STEP = 2.0**-40
#: What a supremum found by search is raised by, relatively: far above its rounding.
_SLACK = 1e-9


def objective_loss(
    scale: float, ridge: float, *, link: Link = LOGISTIC, per_person: int = 1, graph: Graph = "private"
) -> float:
    r"""Privacy loss of minimising a likelihood perturbed by Laplace noise: an upper bound on every log density ratio.

    Parameters
    ----------
    scale : float
        lambda of the Laplace noise w in the term :math:`w \cdot \theta`.
    ridge : float
        gamma.
    link : Link
        With bounded score; where the curvature falls as the score rises it must do so as a concave function of it, as
        those of our links do: the maximum below is then the only one.
    per_person : int
        Comparisons that a neighbour may change.
    graph : {"private", "public"}
        Whether a neighbour may have compared other pairs, or only found other outcomes.

    Returns
    -------
    float
        Infinity where the noise or the ridge is too small for any promise.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Notes
    -----
    The minimiser t for noise w solves :math:`w = -\nabla R(t)`, so its density is
    :math:`(2 \lambda)^{-n} e^{-\|\nabla R(t)\|_1 / \lambda} \det \nabla^2 R(t)`. Exchanging one comparison takes
    away one with score at most its supremum s, and adds one with score :math:`r(x)` and curvature
    :math:`c(x)` somewhere on the line; the Hessian is at least gamma, and :math:`\|e_i - e_j\|_2^2 = 2`. Hence the loss

    .. math:: \frac{2 s}{\lambda} + \max_x \Bigl[ \frac{2 r(x)}{\lambda} + \log\Bigl(1 + \frac{2 c(x)}\gamma\Bigr)
              \Bigr]

    for each comparison. It is attained in the limit by data on a few items for each answer, so nothing smaller is true
    for all data. On a public graph an answer is turned round: outcome y has the score :math:`y r(x) - (1 - y) r(-x)`
    and the curvature :math:`y c(x) + (1 - y) c(-x)`, linear in y, so that no other change of y costs more than that
    from 1 to 0. It moves two entries of the gradient by :math:`r(x) + r(-x)` each, and the determinant from one with
    the factor :math:`1 + c(-x) h` to one with :math:`1 + c(x) h`, where :math:`h = (e_i - e_j)^\top H^{-1} (e_i - e_j)
    \le 2 / \gamma` for the Hessian H of all the rest. Hence the loss

    .. math:: \max_x \Bigl[ \frac{2 r(x) + 2 r(-x)}{\lambda} + \log \frac{\gamma + 2 c(x)}{\gamma + 2 c(-x)} \Bigr]

    for each comparison, attained in the limit by the same kind of data (items far away add score and no curvature); for
    the logistic link :math:`2 / \lambda` at every ridge. Answers that change together lose at most the sum, one after
    another, and lose it where their items differ.

    Examples
    --------
    >>> objective_loss(4.0, 1.0, graph="public"), round(objective_loss(4.0, 1.0), 4)
    (0.5, 1.2013)
    """
    require_one_of("graph", graph, get_args(Graph))
    require_link(link)
    scale, ridge = require_loss("scale", scale), require_loss("ridge", ridge)
    per_person = require_whole("per_person", per_person, 1)
    if scale < LEAST:
        return math.inf
    if graph == "public" and link == LOGISTIC:
        return ratio_up(2 * per_person, scale)
    if ridge < LEAST or math.isinf(link.steepest) or math.isinf(link.kappa_2):
        return math.inf
    # a link of one's own may be equal to another, or change
    one = _loss_of_known if any(link is known for known in LINKS.values()) else _loss_of_one
    return per_person * one(scale, ridge, link, graph) * (1 + _SLACK)


def _loss_of_one(scale: float, ridge: float, link: Link, graph: Graph) -> float:
    """Of one comparison that a neighbour may change."""
    width = link.steepest / link.kappa_2 / 4  # in which the score changes; 1 for the logistic link

    def added(u: float) -> float:
        x = width * u
        return 2 * float(link.score(x)) / scale + math.log1p(2 * float(link.curvature(x)) / ridge)

    best = scipy.optimize.minimize_scalar(
        lambda u: -added(u), bounds=(-40, 40), method="bounded", options={"xatol": 1e-9}
    )
    each = 2 * link.steepest / scale + max(-float(best.fun), 2 * link.steepest / scale)
    return min(each, flip_loss(scale, ridge, link)) if graph == "public" else each


#: Whoever plans asks the same again and again.
_loss_of_known = lru_cache(1 << 14)(_loss_of_one)


def _on_grid(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiples of `STEP`, as floats from 4096 on are anyway; no negative zero."""
    near = np.clip(strengths, -4096.0, 4096.0)
    return np.where(near == strengths, np.rint(near / STEP) * STEP + 0.0, strengths)


@dataclass(frozen=True)
class PerturbedMLE:
    """Laplace noise on the linear term of a penalised log likelihood; its minimiser is the release.

    Algorithm 1 and Proposition 3.1 of Cai, Chakraborty and Wang (2025).

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        lambda of the Laplace noise, above 0.
    ridge : float
        gamma, above 0: keeps the estimate finite, and pulls strengths towards each other.
    graph : {"public", "private"}
        Whether everybody may know which pairs were compared, and by whom: because a plan said so beforehand, and not
        one answer is missing that it asked for. Or whether that is part of the secret.
    per_person, unit
        As in `dprank.NoisyCounts`.
    link : Link
    law : {"discrete", "continuous"}
        For the logistic link on a public graph, integer noise on the win counts, of which the estimate is then
        post-processing: fit for release. Or noise on the real line, as the paper prints it: for research.

    Raises
    ------
    ValueError
        Naming what is out of range, or does not go together.

    See Also
    --------
    PerturbedMLE.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Publishes scores: noisy wins and the public graph (multiples of 2^-40); order: the scores, equal ones by chance.

    Examples
    --------
    >>> import dprank
    >>> answers = dprank.read_comparisons(
    ...     dprank.example("answers.csv"), items=["London", "Paris", "Rome"], voter="person"
    ... )
    >>> mechanism = dprank.PerturbedMLE.calibrated(epsilon=1.0, n_items=3, ridge=1.0, graph="public", per_person=3)
    >>> release = mechanism.release(answers, dprank.SECURE)
    >>> release.publishable, str(release.guarantee)
    (True, 'epsilon = 1 (central; replace one voter)')
    """

    card: ClassVar[Card] = Card(
        question="ranking",
        how="noise on the wins, then a Bradley-Terry fit",
        gives=("scores",),
        needs="everybody may know who compared what, and nobody leaves out what they were asked",
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        on_steps("scores", "noisy wins and the public graph", "multiples of 2^-40", lambda _: STEP),
        Published("order", "the scores, equal ones by chance"),
    )

    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)
    #: Ranges of places depend on the number of persons, which a release does not say.
    asks_persons: ClassVar[bool] = True

    n_items: int
    scale: float
    ridge: float
    _: KW_ONLY
    graph: Graph
    per_person: int = 1
    unit: Unit = "voter"
    link: Link = LOGISTIC
    law: Law = "discrete"

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            scale=require_positive("scale", self.scale),
            ridge=require_positive("ridge", self.ridge),
            link=require_link(self.link),
            per_person=require_whole("per_person", self.per_person, 1),
            unit=require_one_of("unit", self.unit, get_args(Unit)),
            graph=require_one_of("graph", self.graph, get_args(Graph)),
            law=require_one_of("law", self.law, get_args(Law)),
        )
        if self.unit == "comparison" and self.per_person != 1:
            raise ValueError(f"per_person = {self.per_person}; with unit = 'comparison' it is 1")
        if self.law == "discrete" and not self._counts:
            raise ValueError(
                f"law = 'discrete' with graph = {self.graph!r}, link = {self.link.name!r}; whole noise is for the "
                "logistic link on a public graph: say law = 'continuous' for research, or publish NoisyCounts"
            )
        if math.isinf(self.link.steepest):
            raise ValueError(f"link = {self.link.name!r}; its score is unbounded, so one answer outweighs any noise")
        if math.isinf(self.guarantee.epsilon):
            raise ValueError(f"scale = {self.scale}, ridge = {self.ridge}; too little for any finite epsilon")

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        n_items: int,
        ridge: float,
        graph: Graph,
        per_person: int | None = None,
        unit: Unit = "voter",
        link: Link = LOGISTIC,
        law: Law = "discrete",
    ) -> Self:
        """The least noise that makes the estimate epsilon-private with a given ridge.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        n_items, graph, unit, link, law
            As in `PerturbedMLE`.
        per_person : int, optional
            As in `dprank.NoisyCounts.calibrated`.
        ridge : float
            On a private graph the curvature that one answer adds must hide behind it: at an epsilon a ridge that is too
            small is refused, and a larger one needs less noise, never less than 4 per_person / epsilon (logistic).

        Raises
        ------
        ValueError
            Naming what is out of range, or does not go together.

        Examples
        --------
        >>> PerturbedMLE.calibrated(epsilon=0.5, n_items=6, ridge=1.0, graph="public", per_person=15).scale
        60.0
        """
        free = cls(
            n_items, 1.0, ridge, graph=graph, per_person=require_bound(per_person, unit), unit=unit, link=link, law=law
        )
        epsilon = require_positive("epsilon", epsilon)
        if free._counts:
            scale = ratio_up(2 * free.per_person, epsilon)
        else:
            loss = lambda scale: objective_loss(scale, free.ridge, **free._model)  # noqa: E731
            if not loss(1e300) <= epsilon:
                raise ValueError(
                    f"ridge = {free.ridge} is too small for epsilon = {epsilon} at any noise: the curvature of one "
                    f"voter's answers alone costs {loss(1e300):.6g}"
                )
            scale = least_under(loss, epsilon, 1 / epsilon, 1e-12)
        if math.isinf(scale):
            raise ValueError(f"epsilon = {epsilon}; no finite noise is that private")
        return replace(free, scale=require_drawable(epsilon, scale, free.law, grain=_GRAIN))

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the estimate, hence of every ranking computed from it."""
        return Guarantee(objective_loss(self.scale, self.ridge, **self._model), unit=self.unit)

    def release(self, data: Comparisons, rng: np.random.Generator | noise.SecureSource) -> Ranking:
        """One private estimate, and the order it gives.

        Parameters
        ----------
        data : Comparisons
            With voters where the unit is a voter. Answers beyond `per_person` are left out, and nothing is said of it
            (see `Comparisons.bounded`); which pairs remain does not depend on outcomes.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Returns
        -------
        Ranking
            Its scores are the strengths, centred: their mean is 0, but for rounding to multiples of `STEP`.

        Raises
        ------
        ValueError
            If the data are of another number of items, or have no voters where those are protected.

        Notes
        -----
        On a public graph with whole noise all that is published is a function of the noisy wins and the graph, to the
        last bit: the solver reads pairs in an order of its own (`dprank.models.games.Games`), not in that of the rows.

        A likelihood sees differences of strengths only, so that the mean of the minimiser is the mean of the noise over
        the ridge, whatever the data, and large where the ridge is small. Taking it away is post-processing.
        """
        theta = self._minimiser(data, rng)
        scores = _on_grid(theta - theta.mean())
        return Ranking(data.items, best_first(scores, rng), scores, mechanism=self, source=source_of(rng, self))

    def open_places(
        self, release: Ranking, level: float, sampling: Sampling | None = None, persons: int | None = None
    ) -> Places:
        r"""What `Ranking.intervals` says, where every pair was compared equally often: places by the exact strengths.

        Parameters
        ----------
        release : Ranking
            Of this mechanism.
        level : float
            In (0, 1).
        sampling : {"persons", "answers"} or None
            As in `dprank.NoisyCounts.drawn_deviation`: then places by the mean number of wins.
        persons : int
            Of the public graph, needed: each gave `per_person` answers, and no pair has more of them than another.

        Raises
        ------
        ValueError
            Naming what is missing; where the graph is private or the link not logistic, or where strengths are none of
            such a graph. Nothing honest is known of others: there what noise on one item's wins does to the order of
            two others depends on the exact strengths.

        Notes
        -----
        O(items^2). The minimiser solves :math:`\sum_j n \sigma(\theta_i - \theta_j) + \gamma \theta_i = w_i` with
        noisy wins w. What stands on the left is one increasing function of :math:`\theta_i` for all items, so that
        strengths are in the order of wins, with noise and without, and the differences of noisy wins can be read off
        the released strengths: their noise is independent, of a known law.
        """
        if not self._counts:
            raise ValueError(
                f"intervals of a PerturbedMLE with graph = {self.graph!r}, link = {self.link.name!r}; known are those "
                "of the logistic link on a public graph, or publish NoisyCounts"
            )
        if persons is None:
            raise ValueError("persons = None; say how many there were on the public graph, all pairs equally often")
        drawn(sampling, None if sampling is None else persons)
        answers, played = persons * self.per_person, self.answers_a_pair(persons)
        assert release.scores is not None
        theta = release.scores
        wins = played * LOGISTIC.cdf(theta[:, None] - theta).sum(axis=1) + self.ridge * theta
        step = _GRAIN if self.law == "discrete" else 0.0
        if step:
            steps = (wins - wins[0]) / step
            if (abs(steps - np.rint(steps)) > 1e-3).any():
                raise NoRanges(f"persons = {persons}; these are no strengths of a graph with {played} answers a pair")
            wins = np.rint(steps) * step
        deviation = 0.0
        if sampling is not None:
            square = answers / (self.n_items - 1) if sampling == "answers" else persons * self.per_person**2
            deviation = math.sqrt(square)
        return score_places(wins, ScoreNoise("laplace", self.scale, step), level, deviation)

    def answers_a_pair(self, persons: int) -> int:
        """How many answers there are to each pair, if each of so many persons gives `per_person`, all pairs alike.

        Raises
        ------
        ValueError
            Where they are not as many of each pair.

        Examples
        --------
        >>> PerturbedMLE(3, 4.0, 1.0, graph="public").answers_a_pair(60)
        20
        """
        answers, pairs = drawn("persons", persons) * self.per_person, math.comb(self.n_items, 2)
        played, odd = divmod(answers, pairs)
        if odd:
            raise ValueError(f"persons = {persons}; {answers} answers are not equally many of each of {pairs} pairs")
        return played

    def _minimiser(self, data: Comparisons, rng: np.random.Generator | noise.SecureSource) -> NDArray[np.float64]:
        """Of the perturbed objective, as it is: for every data set one to one with the noise."""
        data = self.bounded(data)
        if not self._counts:
            return mle(data, link=self.link, ridge=self.ridge, linear=self._noise((self.n_items,), rng)).theta
        wins = self._noisy(whole_counts(data, "half"), (self.n_items,), rng)
        return mle(data, ridge=self.ridge, wins=wins).theta

    def bounded(self, data: Comparisons) -> Comparisons:
        """What of the data `release` counts: not private."""
        return require_comparisons(data, self.n_items).bounded(self.per_person if self.unit == "voter" else None)

    def estimate(
        self, played: ArrayLike, wins: ArrayLike, rng: np.random.Generator | noise.SecureSource
    ) -> NDArray[np.float64]:
        """Private estimates from the sufficient statistics of the logistic link, many data sets at once.

        Parameters
        ----------
        played, wins
            As in `mle_from_counts`.
        rng : numpy.random.Generator or dprank.SECURE
            Every row of wins receives noise of its own.

        Returns
        -------
        ndarray of float, shape (replicates, items)
            Not centred: minimisers as they are.

        Raises
        ------
        ValueError
            If the link is not the logistic one, or the counts are none.

        Examples
        --------
        >>> mechanism = PerturbedMLE(3, 4.0, 1.0, graph="public")
        >>> played = 10 * (1 - np.eye(3))
        >>> mechanism.estimate(played, [[18, 8, 4]], np.random.default_rng(0)).shape
        (1, 3)
        """
        if self.link != LOGISTIC:
            raise ValueError(f"link = {self.link.name!r}; win counts suffice for the logistic link only")
        wins = as_floats("wins", wins)
        if wins.ndim != 2 or wins.shape[1] != self.n_items:
            raise ValueError(f"wins has shape {wins.shape}; one row a replicate, of n_items = {self.n_items} numbers")
        if self.law == "continuous":
            noisy = wins - self._noise(wins.shape, rng)
        else:
            whole = wins / _GRAIN
            if ((whole != np.round(whole)) | ~(np.abs(wins) <= WIDEST_COUNT)).any():
                raise ValueError(f"wins are not all multiples of {_GRAIN} within 2^51, which noise on that grid hides")
            noisy = self._noisy(whole.astype(np.int64), wins.shape, rng)
        return mle_from_counts(played, noisy, ridge=self.ridge)[0]

    @property
    def _counts(self) -> bool:
        return self.graph == "public" and self.link == LOGISTIC

    @property
    def _model(self) -> dict[str, Any]:
        return {"link": self.link, "per_person": self.per_person, "graph": self.graph}

    def _noisy(
        self, counts: NDArray[np.int64], shape: tuple[int, ...], rng: np.random.Generator | noise.SecureSource
    ) -> NDArray[np.float64]:
        """Noisy wins of exact counts of half wins: whole noise on whole numbers, made floats at the very end."""
        drawn = self._noise(shape, rng)
        if self.law == "continuous":
            return counts.astype(np.float64) * _GRAIN - drawn
        return (counts - drawn).astype(np.float64) * _GRAIN

    def _noise(self, shape: tuple[int, ...], rng: Any) -> NDArray[Any]:
        """Of wins; if discrete, in half wins."""
        return noise.draw("laplace", self.law, self.scale / (_GRAIN if self.law == "discrete" else 1), shape, rng=rng)
