"""Incomplete graphs: the sampler's law, sensitivity, and who wins; fixed seeds."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from checks import each
from scipy.special import expit

from companion.chapters.real_surveys import incomplete as s
from companion.chapters.real_surveys import survey_likelihood
from dprank.pairwise import PerturbedMLE, l1_sensitivity
from dprank.pairwise.rank_law import places


@each("n", [4, 5, 11])
@each("graph", s.GRAPHS)
@each("p", [0.05, 0.3, 0.8, 1.0])
def test_pair_probabilities(graph, n, p):
    chance = s.pair_probabilities(graph, n, p)
    assert chance.mean() == pytest.approx(p)
    assert ((chance >= 0) & (chance <= 1 + 1e-12)).all()
    if graph == "two leagues" and p == 0.05:
        assert chance.max() / chance.min() == pytest.approx(s.WITHIN)


def test_sampler_has_its_law():
    theta = np.tile([0.0, -0.7, -1.5], (20000, 1))
    chance = np.array([0.2, 0.5, 0.9])
    played, wins = s._compare(theta, chance, np.random.default_rng(2))
    error = 5 * 0.5 / 20000**0.5
    assert np.abs(played.mean(0)[np.triu_indices(3, 1)] - chance).max() < error
    assert (played == played.transpose(0, 2, 1)).all()
    first = chance[:2] @ expit([0.7, 1.5])
    assert abs(wins[:, 0].mean() - first) < 2 * error
    assert (wins.sum(1) == played.sum((1, 2)) / 2).all()


def test_wins_and_losses_together_have_sensitivity_four():
    """All data on three items with at most one comparison a pair; one comparison is exchanged for another."""
    pairs = list(combinations(range(3), 2))

    def count(outcomes):
        table = np.zeros((2, 3))
        for (i, j), won in zip(pairs, outcomes, strict=True):
            if won is not None:
                table[0, i if won else j] += 1
                table[1, j if won else i] += 1
        return table

    moved = set()
    for data in product((None, 0, 1), repeat=3):
        for gone in (k for k in range(3) if data[k] is not None):
            rest = (*data[:gone], None, *data[gone + 1 :])
            for new, won in product((k for k in range(3) if rest[k] is None), (0, 1)):
                other = (*rest[:new], won, *rest[new + 1 :])
                moved.add(np.abs(count(data) - count(other)).sum())
    assert max(moved) == 4


def incomplete_errors(method, epsilon):
    cell = {"graph": "Erdős–Rényi", "n_items": 30, "probability": 1.0}
    rng = np.random.default_rng(5)
    return s.incomplete_errors(method, epsilon=epsilon, repetitions=40, rng=rng, **cell)


@each("method", s.METHODS)
def test_every_method_gets_better_with_epsilon(method):
    draws, noisy = (incomplete_errors(method, epsilon) for epsilon in (2000.0, 0.01))
    assert draws.mean() < 0.6
    assert noisy.mean() > 0.8


def test_on_a_complete_graph_public_mle_is_net_wins():
    rng = np.random.default_rng(6)
    played, wins = s._compare(np.zeros((50, 8)), np.ones(28), rng)
    net = 2 * wins - played.sum(1) + rng.laplace(0, 3, wins.shape)
    theta = np.stack([survey_likelihood.public_mle(row[None], p, 1.0)[0] for row, p in zip(net, played, strict=True)])
    assert (places(theta) == places(net)).all()


def test_leagues_need_the_likelihood():
    three = ("net wins", "MLE, private graph", "MLE, public graph")
    frame = s.incomplete(60, [0.5], 2.5, 60, three).set_index(["graph", "method"])["mean"]
    assert frame["two leagues", "MLE, public graph"] < 0.8 * frame["two leagues", "net wins"]
    assert frame["Erdős–Rényi", "net wins"] < 0.95 * frame["Erdős–Rényi", "MLE, private graph"]
    table = s.net_or_mle([60], [0.5], [2.5], 60).set_index("graph")
    assert table.loc["two leagues", "public graph"] == "MLE"
    assert table.loc["Erdős–Rényi", "secret graph"] == "net wins"


def test_private_graph_noise_is_twice_that_of_net_wins():
    mechanism = PerturbedMLE.calibrated(
        epsilon=1.0, n_items=50, ridge=1e9, graph="private", unit="comparison", law="continuous"
    )
    net = l1_sensitivity(50, 1, score="net") / 2
    assert mechanism.scale == pytest.approx(2 * net, rel=1e-6)
