"""What a fixed epsilon means, against fractions and what the proofs say."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from companion.chapters.testing_uniformity import fixed_epsilon, mallows_laws
from companion.ledger.claim import derive
from dprank.models.mallows import Mallows, theta_at

ITEMS = (30, 100, 300, 1000)


@pytest.fixture(scope="module")
def frame():
    return fixed_epsilon.sample_table(ITEMS, (0.1, 0.5, 0.99), 0.05)


@pytest.mark.parametrize("m", [2, 5, 9])
def test_affinity_is_the_sum_of_roots_and_brackets_the_distance(m):
    for theta in (0.01, 0.5, 2.0):
        law = mallows_laws.distance_law(m, theta)
        null = mallows_laws.distance_law(m, 0.0)
        affinity = math.exp(fixed_epsilon.log_affinity(m, theta))
        assert affinity == pytest.approx(np.sqrt(law * null).sum(), rel=1e-10)
        near = 1 - np.maximum(law - null, 0).sum()
        assert affinity**2 / 2 <= near <= affinity


@pytest.mark.parametrize("m", [30, 100, 500])
def test_bracket_holds_the_truth_and_asks_for_enough_items(m):
    for epsilon in (0.01, 0.5, 0.9, 0.999):
        low, high = fixed_epsilon.bracket(m, epsilon)
        assert low <= theta_at(m, epsilon) <= high
    assert fixed_epsilon.bracket(3, 0.9)[1] == math.inf


def test_variance_is_bounded_as_the_proof_says():
    for m in (2, 10, 100):
        for s in np.geomspace(1e-4, 3, 30):
            variance = Mallows(m, s).distance_moments()[1]
            assert variance <= fixed_epsilon.null_variance(m) * (1 + 1e-12)
            assert variance >= fixed_epsilon.null_variance(m) - s**2 * (m + 1) ** 5 / 1200


def test_zeros_against_fractions():
    m, gap = 40, Fraction(4, 5)
    counts = mallows_laws.mahonian(m)
    weights = [n * (1 - gap) ** i for i, n in enumerate(counts)]
    total, all_of_them = sum(weights), math.factorial(m)
    near = sum(min(w / total, Fraction(n, all_of_them)) for w, n in zip(weights, counts, strict=True))
    theta = -math.log1p(-float(gap))
    assert fixed_epsilon.zeros(m, theta) == pytest.approx(-math.log10(near), rel=1e-9)
    best = fixed_epsilon.least_epsilon(range(2, 120), 0.05)
    assert (best.proved <= best.zeros).all()
    assert (best.zeros <= 2 * best.proved + math.log10(2)).all()


@pytest.mark.slow
def test_a_law_at_the_claimed_rate_would_pass(frame):
    claimed = frame.assign(gap=frame.epsilon * 20 / frame["items"])
    checks = fixed_epsilon.check_phi_eps_rate(claimed)
    assert checks[0].outcome
    assert derive(fixed_epsilon.check_condition(claimed[claimed["items"] > 100], 0.05)) == "true but empty"


@pytest.mark.slow
def test_condition_draws_also_few_items(frame):
    drawn, few = (
        fixed_epsilon.draw_condition(fixed_epsilon.condition_table(some, 0.05))
        for some in (frame, fixed_epsilon.sample_table([30, 31], [0.5], 0.05))
    )
    assert len(drawn.axes) == len(few.axes) == 2
    assert "far more agreement than long rankings have" in drawn.get_suptitle().replace("\n", " ")
    for _, part in frame[frame["items"] >= 200].groupby("epsilon"):
        assert ((part.printed_gap / part.gap).diff().iloc[1:] > 0).all()
    assert list(fixed_epsilon.fixed_phi((1000, 10**6), 0.9, 0.05).unif)[-1] == 2


@pytest.mark.parametrize("m", [2, 4, 6])
def test_the_rulers_against_all_rankings(m):
    row = fixed_epsilon.ruler_table([m], 0.7, 0.3).iloc[0]

    def distance(phi):
        costs = [sum(a > b for a, b in combinations(order, 2)) for order in permutations(range(m))]
        weights = np.array([phi**cost for cost in costs])
        return abs(weights / weights.sum() - 1 / len(weights)).sum() / 2

    assert row.distance == pytest.approx(distance(0.7), rel=1e-12)
    assert distance(1 - row.gap) == pytest.approx(0.3, rel=1e-9)


def test_the_marks_on_the_rulers_move_apart():
    frame = fixed_epsilon.ruler_table([10, *ITEMS], 0.98, 0.5)
    figure = fixed_epsilon.draw_rulers(frame)
    first, second = (next(line for line in axes.lines if line.get_marker() == "o") for axes in figure.axes)
    assert (np.diff(first.get_xdata()) >= 0).all(), "further from chance"
    assert (np.diff(second.get_xdata()) < 0).all(), "less lean"
    assert "the same lean is ever further from shuffled" in figure.get_suptitle().replace("\n", " ")
    said = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {"> 0.99", "20 %"} <= set(said)
    assert not [text for text in said if "e-" in text]
