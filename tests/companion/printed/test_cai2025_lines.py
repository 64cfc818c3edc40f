"""The algorithms in their own lines, against the exact law of noisy counts and of the noise in an estimate."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from checks import each
from scipy import stats

from companion.printed.cai2025 import algorithm_1, algorithm_2, algorithm_3, proposition_3_1
from companion.printed.cai2025_lines import minimiser, noisy_best, noisy_counts, person_mle, perturbed_mle
from dprank import Comparisons, mle, sample_voters
from dprank.models.likelihood import gradient
from dprank.topk.list_law import list_chances

#: Chance that a right algorithm fails a test.
ALARM = 1e-6
DRAWS = 12_000
ITEMS = ["a", "b", "c"]


def misfit(drawn: list[tuple[str, ...]], orders: list[tuple[str, ...]], chances: np.ndarray) -> float:
    """How likely draws that far from the law are, by chi-square."""
    seen = np.array([drawn.count(order) for order in orders])
    assert seen.sum() == len(drawn)
    return stats.chisquare(seen, len(drawn) * chances / chances.sum()).pvalue


@each(("per_person", "epsilon"), [(1, 1.0), (3, 2.0)])
def test_algorithm_3_has_the_law_of_its_noise(per_person: int, epsilon: float) -> None:
    winners, rng = ["a", "b", "a", "c", "a", "b"], np.random.default_rng(1)
    drawn = [tuple(noisy_counts(winners, ITEMS, per_person, epsilon, 2, rng)) for _ in range(DRAWS)]
    places = list(permutations(range(3), 2))
    scale = algorithm_3(epsilon, 3, per_person=per_person).mechanism.scale
    chances = np.array(list_chances(np.array([3, 2, 1]) / scale, places))
    orders = [tuple(ITEMS[at] for at in place) for place in places]
    assert misfit(drawn, orders, chances) > ALARM
    half = np.array(list_chances(np.array([3, 2, 1]) / scale * 2, places))
    assert misfit(drawn, orders, half) < ALARM, "half the noise is noticed"


#: Who of four items beat whom; the last two have not met.
WON = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]], float)
FIRST, SECOND = np.nonzero(WON)
LEAGUE = Comparisons(FIRST, SECOND, np.ones(len(FIRST)), items=list("abcd"))


def test_algorithm_2_has_the_law_of_its_noise() -> None:
    epsilon, rng = 1.0, np.random.default_rng(2)
    drawn = [tuple(ITEMS[at] for at in noisy_best(WON[:3, :3], epsilon, 2, rng)) for _ in range(DRAWS)]
    places = list(permutations(range(3), 2))
    scale = algorithm_2(epsilon, 3).mechanism.scale
    chances = np.array(list_chances(np.array([2, 1, 0]) / scale, places))
    orders = [tuple(ITEMS[at] for at in place) for place in places]
    assert misfit(drawn, orders, chances) > ALARM
    half = np.array(list_chances(np.array([2, 1, 0]) / scale * 2, places))
    assert misfit(drawn, orders, half) < ALARM, "half the noise is noticed"


@each("ridge", [0.3, 1.0, 20.0])
def test_the_minimiser_is_that_of_the_library(ridge: float) -> None:
    w = np.random.default_rng(3).laplace(scale=8, size=4)
    theta = minimiser(WON + WON.T, WON.sum(axis=1) - w, ridge)
    assert np.allclose(theta, mle(LEAGUE, ridge=ridge, linear=w).theta, atol=1e-7)


def noise_of(theta: np.ndarray, data: Comparisons, ridge: float) -> np.ndarray:
    """The one noise with which the estimate is the minimiser: it maps to estimates one to one."""
    return -gradient(theta, data) - ridge * theta


@each("epsilon", [1.0, 3.0])
def test_algorithm_1_has_the_law_of_its_noise(epsilon: float) -> None:
    """The noise that an estimate tells is Laplace of the printed scale; half as much would be noticed."""
    rng, made = np.random.default_rng(4), algorithm_1(epsilon, 4).mechanism
    found = [noise_of(perturbed_mle(WON, epsilon, 1, 1 / 4, rng), LEAGUE, made.ridge) for _ in range(300)]
    assert stats.kstest(np.ravel(found), stats.laplace(scale=made.scale).cdf).pvalue > ALARM
    assert stats.kstest(np.ravel(found), stats.laplace(scale=made.scale / 2).cdf).pvalue < ALARM


def test_a_persons_estimate_has_the_law_of_its_noise() -> None:
    rng, made = np.random.default_rng(5), proposition_3_1(0.5, 4, per_person=5).mechanism
    survey = sample_voters([1.0, 0.5, 0.0, -1.5], 50, 5, rng=rng)
    found = [noise_of(person_mle(survey, 5, 0.5, 1, 1 / 4, rng), survey, made.ridge) for _ in range(300)]
    assert stats.kstest(np.ravel(found), stats.laplace(scale=made.scale).cdf).pvalue > ALARM
    assert stats.kstest(np.ravel(found), stats.laplace(scale=made.scale / 5).cdf).pvalue < ALARM
