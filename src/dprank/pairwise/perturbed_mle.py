"""The perturbed maximum likelihood estimator (Cai, Chakraborty and Wang 2025, Algorithm 1 and equation 3.2)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from dprank._require import (
    WIDEST_COUNT,
    as_floats,
    require_claim,
    require_loss,
    require_one_of,
    require_positive,
    require_whole,
    settle,
)
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.data.counting import win_counts
from dprank.models.bradley_terry import LOGISTIC, Link, require_link
from dprank.models.likelihood import mle, mle_from_counts
from dprank.pairwise.noisy_counts import require_at_most
from dprank.privacy import noise
from dprank.privacy.guarantee import Guarantee, Unit, ratio_up
from dprank.privacy.noise import Law, best_first
from dprank.release import Ranking, source_of

Graph = Literal["private", "public"]
#: Least scale, and on a private graph least ridge, of which anything is promised: below, floats run out.
LEAST = 1e-300
#: What a supremum found by search is raised by, relatively: far above its rounding.
_SLACK = 1e-9


def objective_loss(
    scale: float, ridge: float, *, link: Link = LOGISTIC, answers: int = 1, graph: Graph = "private"
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
    answers : int
        Comparisons that a neighbour may change.
    graph : {"private", "public"}
        Whether a neighbour may have compared other pairs, or only found other outcomes.

    Notes
    -----
    The minimiser t for noise w solves :math:`w = -\nabla R(t)`, so its density is
    :math:`(2 \lambda)^{-n} e^{-\|\nabla R(t)\|_1 / \lambda} \det \nabla^2 R(t)`. Exchanging one comparison takes
    away one with score at most its supremum s, and adds one with score :math:`r(x)` and curvature
    :math:`c(x)` somewhere on the line; the Hessian is at least gamma, and :math:`\|e_i - e_j\|_2^2 = 2`. Hence the loss

    .. math:: \frac{2 s}{\lambda} + \max_x \Bigl[ \frac{2 r(x)}{\lambda} + \log\Bigl(1 + \frac{2 c(x)}\gamma\Bigr)
              \Bigr]

    for each of the answers. It is attained in the limit by data on a few items for each answer, so nothing smaller is
    true for all data. On a public graph a logistic answer keeps its curvature and changes its score by 1: the loss is
    :math:`2 / \lambda`, attained, for every ridge; for other links :math:`2 \kappa_1 / \lambda +
    \log(1 + 2 \kappa_2 / \gamma)` is a bound as well.
    """
    require_one_of("graph", graph, get_args(Graph))
    require_link(link)
    scale, ridge = require_loss("scale", scale), require_loss("ridge", ridge)
    answers = require_whole("answers", answers, 1)
    if scale < LEAST:
        return math.inf
    if graph == "public" and link == LOGISTIC:
        return ratio_up(2 * answers, scale)
    if ridge < LEAST or math.isinf(link.steepest) or math.isinf(link.kappa_2):
        return math.inf
    width = link.steepest / link.kappa_2 / 4  # in which the score changes; 1 for the logistic link

    def added(u: float) -> float:
        x = width * u
        return 2 * float(link.score(x)) / scale + math.log1p(2 * float(link.curvature(x)) / ridge)

    best = optimize.minimize_scalar(lambda u: -added(u), bounds=(-40, 40), method="bounded", options={"xatol": 1e-9})
    each = 2 * link.steepest / scale + max(-float(best.fun), 2 * link.steepest / scale)
    if graph == "public":
        each = min(each, 2 * link.kappa_1 / scale + math.log1p(2 * link.kappa_2 / ridge))
    return answers * each * (1 + _SLACK)


@dataclass(frozen=True)
class PerturbedMLE:
    """Laplace noise on the linear term of a penalised log likelihood; its minimiser is the release.

    Parameters
    ----------
    n_items : int
        At least 2.
    scale : float
        lambda of the Laplace noise, above 0.
    ridge : float
        gamma, above 0.
    link : Link
    answers : int
        Public bound on the comparisons of one voter; 1 where the unit is one comparison.
    unit : {"comparison", "voter"}
    graph : {"private", "public"}
        Whether it is part of the secret which pairs were compared.
    law : {"continuous", "discrete"}
        Noise on the real line, as the paper prints it: for research. Or, for the logistic link on a public graph,
        integer noise on the win counts, of which the estimate is then post-processing: fit for release.
    claimed_epsilon : float, optional
        What the paper says of this calibration. It enters nothing.

    See Also
    --------
    PerturbedMLE.calibrated : the noise that a given epsilon needs.
    PerturbedMLE.as_printed : the paper's own noise and ridge.
    """

    n_items: int
    scale: float
    ridge: float
    _: KW_ONLY
    link: Link = LOGISTIC
    answers: int = 1
    unit: Unit = "comparison"
    graph: Graph = "private"
    law: Law = "continuous"
    claimed_epsilon: float | None = None

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            scale=require_positive("scale", self.scale),
            ridge=require_positive("ridge", self.ridge),
            link=require_link(self.link),
            answers=require_whole("answers", self.answers, 1),
            unit=require_one_of("unit", self.unit, get_args(Unit)),
            graph=require_one_of("graph", self.graph, get_args(Graph)),
            law=require_one_of("law", self.law, get_args(Law)),
            claimed_epsilon=require_claim(self.claimed_epsilon),
        )
        if self.unit == "comparison" and self.answers != 1:
            raise ValueError(f"answers = {self.answers}; with unit = 'comparison' it is 1")
        if self.law == "discrete" and not self._counts:
            raise ValueError("law = 'discrete'; only the logistic link on a public graph is a function of win counts")
        if math.isinf(self.link.steepest):
            raise ValueError(f"link = {self.link.name!r}; its score is unbounded, so one answer outweighs any noise")
        if math.isinf(self.guarantee.epsilon):
            raise ValueError(f"scale = {self.scale}, ridge = {self.ridge}; too little for any finite epsilon")

    @classmethod
    def calibrated(cls, epsilon: float, n_items: int, *, ridge: float, **parameters: Any) -> Self:
        """The least noise that makes the estimate epsilon-private with a given ridge.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        n_items : int
        ridge : float
            On a private graph the curvature that one answer adds must hide behind it: at an epsilon a ridge that is too
            small is refused, and a larger one needs less noise, never less than 4 answers / epsilon (logistic).
        **parameters
            Of `PerturbedMLE`, without scale.
        """
        free, epsilon = cls(n_items, 1.0, ridge, **parameters), require_positive("epsilon", epsilon)
        if free._counts:
            scale = ratio_up(2 * free.answers, epsilon)
        else:
            loss = lambda scale: objective_loss(scale, free.ridge, **free._model)  # noqa: E731
            low, scale = 1e-300, 1e300
            if not loss(scale) <= epsilon:
                raise ValueError(
                    f"ridge = {free.ridge} is too small for epsilon = {epsilon} at any noise: the curvature of one "
                    f"voter's answers alone costs {loss(scale):.6g}"
                )
            while scale > low * (1 + 1e-12):
                middle = math.sqrt(low) * math.sqrt(scale)
                low, scale = (low, middle) if loss(middle) <= epsilon else (middle, scale)
        if math.isinf(scale):
            raise ValueError(f"epsilon = {epsilon}; no finite noise is that private")
        return replace(free, scale=scale)

    @classmethod
    def as_printed(
        cls,
        epsilon: float,
        n_items: int,
        *,
        kappa_2: float | None = None,
        ridge: float | None = None,
        **parameters: Any,
    ) -> Self:
        """The paper's calibration, with the epsilon it claims beside what is provable.

        Noise 8 kappa_1 / epsilon and ridge 4 kappa_2 / epsilon for one comparison (Algorithm 1), 8 L kappa_1 / epsilon
        and 8 L kappa_2 / epsilon for a voter with L answers (Proposition 3.1). kappa_1 is the link's least constant,
        and so is kappa_2 unless it is given.

        Parameters
        ----------
        epsilon : float
            As claimed.
        n_items : int
        kappa_2 : float, optional
        ridge : float, optional
            Another gamma than the least that is printed, such as c0 sqrt(n p log n).
        **parameters
            Of `PerturbedMLE`.
        """
        epsilon = require_positive("epsilon", epsilon)
        free = cls(n_items, 1.0, 1.0, claimed_epsilon=epsilon, **parameters)
        curvature = free.link.kappa_2 if kappa_2 is None else require_positive("kappa_2", kappa_2)
        times = 4 if free.unit == "comparison" else 8 * free.answers
        scale = 8 * free.answers * free.link.kappa_1 / epsilon
        gamma = times * curvature / epsilon if ridge is None else require_positive("ridge", ridge)
        if math.isinf(scale) or not 0 < gamma < math.inf:
            raise ValueError(f"epsilon = {epsilon}; the printed noise {scale} and ridge {gamma} are out of range")
        return replace(free, scale=scale, ridge=gamma)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the estimate, hence of every ranking computed from it."""
        return Guarantee(objective_loss(self.scale, self.ridge, **self._model), unit=self.unit)

    def release(self, data: Comparisons, rng: np.random.Generator | noise.SecureSource) -> Ranking:
        """One private estimate, and the order it gives.

        Parameters
        ----------
        data : Comparisons
            With voters where the unit is a voter.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE` and discrete noise.

        Returns
        -------
        Ranking
            Its scores are the strengths, centred: their mean is 0.

        Raises
        ------
        ValueError
            If the data break what was promised of them: `items`, `answers`.

        Notes
        -----
        A likelihood sees differences of strengths only, so that the mean of the minimiser is the mean of the noise over
        the ridge, whatever the data, and large where the ridge is small. Taking it away is post-processing.
        """
        theta = self._minimiser(data, rng)
        order, source = best_first(theta, rng), source_of(rng, self)
        return Ranking(data.items, order, theta - theta.mean(), mechanism=self, source=source)

    def _minimiser(self, data: Comparisons, rng: np.random.Generator | noise.SecureSource) -> NDArray[np.float64]:
        """Of the perturbed objective, as it is: for every data set one to one with the noise."""
        require_comparisons(data, self.n_items)
        if self.unit == "voter":
            require_at_most(data, self.answers)
        noisy = self._noise((self.n_items,), rng)
        if self._counts:
            return mle(data, ridge=self.ridge, wins=win_counts(data, "half") - noisy).theta
        return mle(data, link=self.link, ridge=self.ridge, linear=noisy).theta

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
        """
        if self.link != LOGISTIC:
            raise ValueError(f"link = {self.link.name!r}; win counts suffice for the logistic link only")
        wins = as_floats("wins", wins)
        if wins.ndim != 2 or wins.shape[1] != self.n_items:
            raise ValueError(f"wins has shape {wins.shape}; one row a replicate, of n_items = {self.n_items} numbers")
        if self.law == "discrete" and ((2 * wins != np.round(2 * wins)) | (np.abs(wins) > WIDEST_COUNT)).any():
            raise ValueError("wins are not all multiples of 0.5 within 2^51, which noise on that grid hides")
        return mle_from_counts(played, wins - self._noise(wins.shape, rng), ridge=self.ridge)[0]

    @property
    def _counts(self) -> bool:
        return self.graph == "public" and self.link == LOGISTIC

    @property
    def _model(self) -> dict[str, Any]:
        return {"link": self.link, "answers": self.answers, "graph": self.graph}

    def _noise(self, shape: tuple[int, ...], rng: np.random.Generator | noise.SecureSource) -> NDArray[np.float64]:
        if self.law == "continuous":
            return noise.laplace(self.scale, shape, rng=rng)  # type: ignore[arg-type]
        # ties make half wins: the grid is that of half a win
        return noise.discrete_laplace(2 * self.scale, shape, rng=rng) / 2
