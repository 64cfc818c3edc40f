"""Lower bounds on voters against linear programs, enumeration and broken twins. Nothing is random here."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from checks import all_rankings, each, refused
from scipy.optimize import linprog

from dprank.aggregation import lower_bounds as lb
from dprank.data.kendall import kendall_distance

CUBE = np.array(list(product((-1, 1), repeat=3)))


def test_embedding_by_hand():
    # d = 1, t = 2: items 0 and 3 change places where x = 1
    assert lb.embed([1], 2).tolist() == [3, 1, 2, 0]
    assert lb.embed([-1], 2).tolist() == [0, 1, 2, 3]
    assert lb.embed([[1, -1]], 0, convention="formula").tolist() == [[0, 3, 2, 1]]


@pytest.mark.parametrize("middle", [0, 1, 4])
def test_signs_undo_the_words_and_not_the_formula(middle):
    assert (lb.signs(lb.embed(CUBE, middle), 3) == CUBE).all()
    assert (lb.signs(lb.embed(CUBE, middle, convention="formula"), 3) == -CUBE).all()


@each("convention", ["words", "formula"])
@each("middle", [0, 1, 4])
def test_embedded_distance_is_kendalls(middle, convention):
    pi = lb.embed(CUBE, middle, convention=convention)
    for x, a in zip(CUBE, pi, strict=True):
        for y, b in zip(CUBE, pi, strict=True):
            assert kendall_distance(a, b) == lb.embedded_distance((x != y).sum(), 3, middle)


@pytest.mark.parametrize("m", [1, 2, 4, 6])
def test_mahonian_counts_rankings(m):
    identity = np.arange(m)
    distances = [kendall_distance(row, identity) for row in all_rankings(m)] if m > 1 else [0]
    most = m * (m - 1) // 2 + 2
    assert lb.mahonian(m, most) == np.bincount(distances, minlength=most + 1).tolist()
    assert lb.mahonian(m, 1) == lb.mahonian(m, most)[:2]


def least_error(distances, budget):
    """Least mean distance over all laws of the output, one for each unanimous data set, e^budget apart: a program."""
    size = len(distances)
    cells = size * size
    rows = []
    for out in range(size):
        for one in range(size):
            for other in range(size):
                if one != other:
                    row = np.zeros(cells + 1)
                    row[one * size + out], row[other * size + out] = 1, -math.exp(budget)
                    rows.append(row)
    for one in range(size):
        row = np.zeros(cells + 1)
        row[one * size : (one + 1) * size], row[-1] = distances[one], -1
        rows.append(row)
    total = np.hstack([np.kron(np.eye(size), np.ones(size)), np.zeros((size, 1))])
    cost = np.r_[np.zeros(cells), 1]
    return linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=total, b_eq=np.ones(size)).fun


@pytest.mark.parametrize("error", [Fraction(9, 100), Fraction(1, 2), Fraction(5, 4)])
def test_pure_threshold_is_the_linear_programs(error):
    rankings = all_rankings(3)
    distances = np.array([[kendall_distance(a, b) for b in rankings] for a in rankings], float)
    budget = lb.pure_threshold(3, error)
    assert least_error(distances, budget) == pytest.approx(float(error), rel=1e-6)
    assert least_error(distances, budget - 0.1) > float(error)


def test_coded_threshold_is_the_linear_programs():
    hamming = np.array([[(x != y).sum() for y in CUBE] for x in CUBE], float)
    budget = lb.coded_threshold(3, 1, Fraction(1, 2))
    assert 2 * least_error(hamming, budget) == pytest.approx(0.5, rel=1e-6)


def test_pure_threshold_ends():
    assert lb.pure_threshold(2, Fraction(1, 25)) == pytest.approx(math.log(24))
    assert lb.pure_threshold(5, 5) == lb.coded_threshold(4, 1, 4) == lb.local_threshold(5, 5) == 0
    assert lb.pure_threshold(300, 900) > 700


def test_local_threshold_at_its_ends():
    assert lb.local_threshold(30, 1e-50) == pytest.approx(math.lgamma(31))
    assert lb.local_threshold(30, 5e-324) == pytest.approx(math.lgamma(31))
    for m in (2, 5, 30):
        mean, variance = m * (m - 1) / 4, m * (m - 1) * (2 * m + 5) / 72
        assert 0 <= lb.local_threshold(m, math.nextafter(mean, 0)) < 1e-12
        assert lb.local_threshold(m, mean * 0.999) == pytest.approx((mean / 1000) ** 2 / (2 * variance), rel=1e-2)


@pytest.mark.parametrize("error", [0.04, 0.3])
def test_local_threshold_of_two_items_is_a_bits(error):
    entropy = -error * math.log(error) - (1 - error) * math.log1p(-error)
    assert lb.local_threshold(2, error) == pytest.approx(math.log(2) - entropy)


def test_rate_falls_short_of_no_channel():
    # a symmetric channel on all rankings of 4 items: its information is no less than the rate at its own distortion
    rankings = all_rankings(4)
    distances = np.array([kendall_distance(a, np.arange(4)) for a in rankings])
    for stay in (0.3, 0.7, 0.95):
        law = np.where(distances == 0, stay, (1 - stay) / 23)
        information = math.log(24) + law @ np.log(law)
        assert lb.local_threshold(4, float(law @ distances)) < information


def test_divergence_of_private_pairs():
    # all laws on three outcomes of a grid, and randomized response, which attains the bound
    epsilon = 0.7
    grid = [p for p in product(np.arange(1, 19) / 20, repeat=2) if sum(p) < 0.999]
    laws = np.array([(*p, 1 - sum(p)) for p in grid])
    ratio = np.abs(np.log(laws[:, None] / laws)).max(-1)
    divergence = (laws[:, None] * np.log(laws[:, None] / laws)).sum(-1)
    assert divergence[ratio <= epsilon].max() <= epsilon * math.tanh(epsilon / 2)
    p = 1 / (1 + math.exp(-epsilon))
    assert (2 * p - 1) * epsilon == pytest.approx(epsilon * math.tanh(epsilon / 2))


def test_tracing_threshold_grows_with_the_root_and_falls_with_delta():
    sheet = {"epsilon": 0.1, "error": 0.0}
    one, four = (lb.tracing_threshold(d, d, 0.03, **sheet) for d in (10**6, 4 * 10**6))
    assert four / one == pytest.approx(2, rel=1e-3)
    assert lb.tracing_threshold(10**6, 10**6, 0.03, delta=1e-3, **sheet) < one
    assert lb.tracing_threshold(10, 10, 0.03, epsilon=0.1, error=1e3) < 0
    for epsilon in (699, 711, 1e300):
        assert lb.tracing_threshold(10, 10, 0.03, epsilon=epsilon, error=0) == pytest.approx(-0.06)


@each(
    ("call", "words"),
    [
        (lambda: lb.embed([0, 1], 1), ("x[0]",)),
        (lambda: lb.embed(1, 1), ("x", "shape ()")),
        (lambda: lb.embed([1], -1), ("middle", "-1")),
        (lambda: lb.embed([1], 1, convention="prose"), ("convention", "prose")),
        (lambda: lb.signs([0, 1, 2], 2), ("d = 2", "from 1 to 1")),
        (lambda: lb.mahonian(0, 1), ("n_items", "0")),
        (lambda: lb.pure_threshold(1, 1), ("n_items", "1")),
        (lambda: lb.pure_threshold(3, 0), ("error", "0")),
        (lambda: lb.coded_threshold(1, 1, -1), ("error", "-1")),
        (lambda: lb.local_threshold(3, math.nan), ("error", "nan")),
        (lambda: lb.tracing_threshold(1, 1, 0.0, epsilon=1, error=0), ("spread", "0")),
        (lambda: lb.tracing_threshold(1, 1, 0.1, epsilon=1, error=0, ratio=0.5), ("ratio", "0.5")),
        (lambda: lb.tracing_threshold(1, 1, 0.1, epsilon=1, error=0, delta=-1), ("delta", "-1")),
    ],
)
def test_bad_input(call, words):
    with refused(*words):
        call()
