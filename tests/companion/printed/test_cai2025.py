"""Algorithms 1 to 3 and Proposition 3.1 as printed: their noise, what they claim, and what they keep of it."""

import math

import numpy as np
import pytest
from checks import certified_epsilon, each, refused

from companion.chapters.privacy_audited.cases.pairwise import worst_sheets
from companion.printed.cai2025 import algorithm_1, algorithm_2, algorithm_3, proposition_3_1
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT
from dprank.pairwise import NoisyCounts
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import exact, sample

LINKS = pytest.mark.parametrize("link", [LOGISTIC, ARCTAN], ids=lambda link: link.name)
ALARM = 1e-6
DRAWS = 50_000


@LINKS
def test_the_perturbed_likelihood(link):
    edge = algorithm_1(0.8, 5, link=link)
    assert (edge.mechanism.scale, edge.mechanism.ridge) == pytest.approx((10 * link.kappa_1, 5 * link.kappa_2))
    assert (edge.mechanism.graph, edge.mechanism.law) == ("private", "continuous")
    assert edge.claims == Guarantee(0.8, unit="comparison")
    assert edge.guarantee.epsilon < 0.8
    voter = proposition_3_1(0.8, 5, per_person=4, link=link)
    assert (voter.mechanism.scale, voter.mechanism.ridge) == pytest.approx((40 * link.kappa_1, 40 * link.kappa_2))
    assert voter.claims == Guarantee(0.8, unit="voter")
    assert voter.guarantee.epsilon < 0.8
    other = algorithm_1(0.8, 5, link=link, kappa_2=3.0, ridge=7.0).mechanism
    assert (other.scale, other.ridge) == (edge.mechanism.scale, 7)
    assert algorithm_1(0.8, 5, link=link, kappa_2=3.0).mechanism.ridge == pytest.approx(15)
    # a ridge of its own choice loses the claim, and the guarantee says so
    assert algorithm_1(0.8, 5, link=link, ridge=0.01).guarantee.epsilon > 3


def test_noise_and_ridge_out_of_reach():
    for epsilon, options in ((5e-324, {"ridge": 1.0}), (1.0, {"kappa_2": 1e308}), (1e10, {"kappa_2": 5e-324})):
        with refused(f"epsilon = {epsilon}", "the printed noise"):
            algorithm_1(epsilon, 3, **options)
    for epsilon in (0.0, -1.0, math.nan, math.inf):
        with refused(f"epsilon = {epsilon}"):
            algorithm_1(epsilon, 3)
        for algorithm in (algorithm_2, algorithm_3):
            with refused(f"epsilon = {epsilon}"):
                algorithm(epsilon, 3)
    with refused("printed noise inf"):
        algorithm_1(1.0, 3, link=PROBIT)


@each("epsilon", [0.5, 2.0])
@each("answers", [1, 2, 5])
def test_algorithm_3_loses_twice_what_it_claims(answers, epsilon):
    printed = algorithm_3(epsilon, 2, per_person=answers)
    assert printed.mechanism.scale == answers / epsilon
    assert printed.mechanism.sensitivity == 2 * answers
    assert printed.claims == Guarantee(epsilon, unit="voter")
    assert printed.guarantee.epsilon == 2 * epsilon
    assert exact(printed.mechanism, *worst_sheets(printed.mechanism)).epsilon(0) == pytest.approx(2 * epsilon)


def test_algorithm_3_is_caught_by_an_audit():
    printed, rng = algorithm_3(1.0, 2, per_person=2), np.random.default_rng(33)
    drawn = [sample(printed.mechanism, data, DRAWS, rng)[:, 2:] for data in worst_sheets(printed.mechanism)]
    codes = [np.searchsorted([0, 1, 2], scores) @ [4, 1] for scores in drawn]
    found = certified_epsilon(*(np.bincount(code, minlength=16) for code in codes), ALARM)
    assert printed.claims.epsilon < 1.7 < found <= printed.guarantee.epsilon


def test_algorithm_2_keeps_what_it_claims():
    printed = algorithm_2(0.7, 10)
    assert printed.guarantee.epsilon <= printed.claims.epsilon == 0.7
    assert printed.claims == Guarantee(0.7, unit="comparison")
    assert printed.mechanism == NoisyCounts.calibrated(
        epsilon=0.7, n_items=10, unit="comparison", score="wins", law="continuous"
    )


def test_algorithm_3_without_a_number_of_answers_is_for_one():
    assert algorithm_3(0.5, 4).mechanism.scale == algorithm_3(0.5, 4, per_person=1).mechanism.scale == 2.0
    assert algorithm_3(0.5, 4, per_person=3).mechanism.scale == 6.0
