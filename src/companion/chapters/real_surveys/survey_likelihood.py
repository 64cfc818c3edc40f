"""The perturbed MLE on a questionnaire: what it loses, the noise that it needs, how it ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from companion.chapters.ranking_universities.survey_counts import SURVEYS, survey_data, survey_mechanism
from companion.chapters.real_surveys.answers import PRINTED
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import sweep
from companion.printed.cai2025 import proposition_3_1
from dprank.data.counting import pairwise_wins
from dprank.pairwise import PerturbedMLE, mle_from_counts
from dprank.pairwise.rank_law import places
from dprank.privacy import noise

#: Ridge, times epsilon, of our calibrated MLE on a questionnaire: large enough that almost only the scores cost.
RIDGE = 100.0


def random_difference(n_items: int) -> float:
    """Expected mean absolute rank difference between any order and a uniformly random one: (n^2 - 1) / (3 n)."""
    return (n_items**2 - 1) / (3 * n_items)


Table = tuple[NDArray[np.float64], NDArray[np.float64]]


@cache
def decided(survey: str) -> Table:
    """How often each pair was compared, (items, items), and the wins, (items,), undecided answers left out.

    As in the authors' Figure 8.
    """
    data = survey_data(survey)
    wins = pairwise_wins(data[data.points != 1])
    return wins + wins.T, wins.sum(1)


@cache
def halved(survey: str) -> Table:
    """As `decided`, with half a win for both where an answer is undecided."""
    wins = pairwise_wins(survey_data(survey))
    return wins + wins.T, wins.sum(1)


@cache
def planned(survey: str) -> Table:
    """As `halved`, with every question that was put counted as answered, undecided where the answer is missing.

    A student who leaves an answer open then does not change the graph. The CEMS form lacked a question for some; it
    counts for those who were asked.
    """
    played, wins = halved(survey)
    if survey == "CEMS":
        return played, wins
    full = PRINTED[survey][0] * (1 - np.eye(len(wins)))
    return full, wins + (full - played).sum(1) / 2


def questionnaire_loss(n_items: int, scale: float, ridge: float) -> float:
    r"""Bound on the privacy loss of the perturbed logistic MLE for a voter who answers every pair at most once.

    Any answer may be missing, or undecided and then left out or counted as half a win for both.

    With :math:`\sigma` a vector of signs, a of them plus, a pair of unlike signs can cost
    :math:`\max_{0 \le r \le 1} [2 r / \lambda + \log(1 + 2 r (1 - r) / \gamma)]`, which is at least
    :math:`2 / \lambda`; a pair of like signs only :math:`\log(1 + 1 / (2 \gamma))`. The bound is the largest sum over
    a. The maximum over r is attained where a quadratic vanishes.
    """
    # 2 r^2 - 2 r (1 - scale) - (ridge + scale) = 0, its positive root without cancellation
    root = math.hypot(scale - 1, math.sqrt(2 * (ridge + scale)))
    r = min((ridge + scale) / (root + scale - 1), 1.0) if scale > 1 else min((1 - scale + root) / 2, 1.0)
    unlike = 2 * r / scale + math.log1p(2 * r * (1 - r) / ridge)
    like = math.log1p(1 / (2 * ridge))
    pairs = math.comb(n_items, 2)
    crossing = (a * (n_items - a) for a in range(n_items + 1))
    return max(c * unlike + (pairs - c) * like for c in crossing) * (1 + ROUNDING)


def questionnaire_scale(n_items: int, epsilon: float, ridge: float) -> float:
    """The least noise for which `questionnaire_loss` is at most epsilon."""

    def excess(log_scale: float) -> float:
        return math.log(questionnaire_loss(n_items, math.exp(log_scale), ridge) / epsilon)

    return math.exp(brentq(excess, math.log(1e-6), math.log(1e12), xtol=1e-13)) * (1 + ROUNDING)


def printed_mle(epsilon: float, n_items: int) -> PerturbedMLE:
    """Proposition 3.1 with kappa_1 = 1 and kappa_2 = 1/4."""
    mechanism: PerturbedMLE = proposition_3_1(epsilon, n_items, per_person=math.comb(n_items, 2)).mechanism
    return mechanism


def questionnaire_mle(epsilon: float, n_items: int) -> PerturbedMLE:
    """The least noise where every pair is answered at most once and the answered pairs are secret."""
    ridge, pairs = RIDGE / epsilon, math.comb(n_items, 2)
    scale = questionnaire_scale(n_items, epsilon, ridge)
    return PerturbedMLE(n_items, scale, ridge, graph="private", per_person=pairs, law="continuous")


LIKELIHOODS = {"as printed": printed_mle, "private graph": questionnaire_mle}


def survey_mle(calibration: str, epsilon: float, survey: str) -> PerturbedMLE:
    """The perturbed MLE for a survey, calibrated in one of `LIKELIHOODS`."""
    return LIKELIHOODS[calibration](epsilon, survey_data(survey).n_items)


def public_mle(scores: NDArray[np.float64], played: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Strengths from (private) net wins on a public graph, shape (replicates, items): post-processing.

    A net win more is half a win more when the number of comparisons is known. Noisy net wins need not sum to zero;
    true ones do, so their mean is taken off, which changes no order.
    """
    net = scores - scores.mean(1, keepdims=True)
    return mle_from_counts(played, (net + played.sum(1)) / 2, ridge=ridge)[0]


def with_noise_inside(
    calibration: str, survey: str, epsilon: float, repetitions: int, rng: np.random.Generator
) -> Table:
    """Estimates of the perturbed MLE, a row each, and the estimate without noise."""
    mechanism, (played, wins) = survey_mle(calibration, epsilon, survey), decided(survey)
    private = mechanism.estimate(played, np.tile(wins, (repetitions, 1)), rng)
    return private, mle_from_counts(played, wins[None], ridge=mechanism.ridge)[0]


def with_noise_before(survey: str, epsilon: float, repetitions: int, rng: np.random.Generator) -> Table:
    """As `with_noise_inside` on a public graph: net wins get noise, and the likelihood is post-processing."""
    played, wins = planned(survey)
    net = 2 * wins - played.sum(1)
    drawn = noise.laplace(survey_mechanism("net wins", epsilon, survey).scale, (repetitions, len(net)), rng=rng)
    return public_mle(net + drawn, played, 1.0), public_mle(net[None], played, 1.0)


ESTIMATES: dict[str, Callable[..., Table]] = {
    "as printed": partial(with_noise_inside, "as printed"),
    "private graph": partial(with_noise_inside, "private graph"),
    "public graph": with_noise_before,
}


def mle_differences(
    survey: str, calibration: str, epsilon: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Mean absolute rank difference between private estimates and the same estimate without noise."""
    private, target = ESTIMATES[calibration](survey, epsilon, repetitions, rng)
    return np.asarray(np.abs(places(private) - places(target)).mean(1))


def mle_curve(
    epsilons: Iterable[float], repetitions: int, calibrations: Iterable[str] = ("as printed",)
) -> pd.DataFrame:
    """Mean rank difference of the perturbed MLE, simulated as in Figure 8.

    ``survey``, ``calibration``, ``epsilon``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [
        {"survey": survey, "calibration": calibration, "epsilon": float(epsilon)}
        for survey, calibration, epsilon in product(SURVEYS, calibrations, epsilons)
    ]
    return sweep(mle_differences, cells, experiment="cai2025:fig-8:mle", repetitions=repetitions)
