"""Exact; TOLERANCE is rounding, in units of the loss."""

from itertools import combinations

import numpy as np
import pytest
from checks import each, refused

from dprank.audit import privacy_loss

TOLERANCE = 1e-12


def laws(outcomes, seed):
    return np.random.default_rng(seed).dirichlet(np.full(outcomes, 0.7), 2)


@each("seed", range(10))
def test_no_event_is_worse_than_the_worst_outcome(seed):
    p, q = laws(7, seed)
    events = [list(e) for size in range(1, 7) for e in combinations(range(7), size)]
    worst = max(abs(np.log(p[e].sum() / q[e].sum())) for e in events)
    assert privacy_loss(p, q) == pytest.approx(worst, rel=TOLERANCE)


@pytest.mark.parametrize("keep", [0.5, 0.6, 0.99, 1 - 1e-9])
def test_randomized_response(keep):
    assert privacy_loss([keep, 1 - keep], [1 - keep, keep]) == pytest.approx(
        abs(np.log(keep / (1 - keep))), abs=TOLERANCE
    )


@pytest.mark.parametrize("seed", range(5))
def test_symmetric_additive_and_lessened_by_postprocessing(seed):
    (p, q), (r, s) = laws(6, seed), laws(4, seed + 100)
    loss = privacy_loss(p, q)
    assert privacy_loss(q, p) == loss
    assert privacy_loss(p, p) == 0
    merged = [privacy_loss(np.add.reduceat(p, [0, 2, 3]), np.add.reduceat(q, [0, 2, 3]))]
    assert max(merged) <= loss + TOLERANCE
    # the most that two independent releases lose: the worst outcome of both may pull in opposite directions
    both = privacy_loss(np.outer(p, r).ravel(), np.outer(q, s).ravel())
    forth = np.log(p / q).max() + np.log(r / s).max()
    back = np.log(q / p).max() + np.log(s / r).max()
    assert both == pytest.approx(max(forth, back), rel=TOLERANCE)


@pytest.mark.parametrize("seed", range(5))
def test_logarithms_say_the_same_and_hold_more(seed):
    p, q = laws(6, seed)
    assert privacy_loss(np.log(p), np.log(q), log=True) == pytest.approx(privacy_loss(p, q), rel=TOLERANCE)
    assert privacy_loss([0.0, -1000.0], [0.0, -3000.0], log=True) == 2000
    assert privacy_loss([0.0, -1000.0], [0.0, -np.inf], log=True) == np.inf
    assert privacy_loss([0.0, -np.inf], [0.0, -np.inf], log=True) == 0
    with refused("q has", "law"):
        privacy_loss(np.log(p), q, log=True)


def test_impossible_outcomes():
    assert privacy_loss([0.5, 0.5, 0.0], [0.5, 0.5, 0.0]) == 0
    assert privacy_loss([1.0, 0.0], [0.5, 0.5]) == np.inf
    assert privacy_loss([0.5, 0.5], [1.0, 0.0]) == np.inf


@pytest.mark.parametrize(
    ("p", "q", "words"),
    [
        ([0.5, 0.5], [1.0], ["p and q", "same outcomes"]),
        ([[0.5, 0.5]], [[0.5, 0.5]], ["p and q", "same outcomes"]),
        ([0.5, 0.6], [0.5, 0.5], ["p has", "law"]),
        ([0.5, 0.5], [1.5, -0.5], ["q has", "law"]),
        ([0.5, np.nan], [0.5, 0.5], ["p has", "law"]),
    ],
)
def test_refuses_what_is_no_law(p, q, words):
    with refused(*words):
        privacy_loss(p, q)
