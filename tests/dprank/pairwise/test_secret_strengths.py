"""Strengths from noisy net wins on a secret graph: what they solve, and how far off they are by simulation."""

import math

import numpy as np
import pytest
from checks import each, refused

import dprank
from dprank.pairwise import NoisyCounts, strengths
from dprank.privacy.conditioned import conditioned_laplace, conditioned_variance


def net_wins(theta, answers, replicates, rng):
    """Of so many answers, each to a pair at random: the pair first, then who wins."""
    m = len(theta)
    i, j = np.triu_indices(m, 1)
    met = rng.multinomial(answers, np.full(len(i), 1 / len(i)), replicates)
    won = rng.binomial(met, 1 / (1 + np.exp(theta[j] - theta[i])))
    sides = np.eye(m)[i] - np.eye(m)[j]
    return (2 * won - met) @ sides


def released(mechanism, scores):
    return dprank.Ranking(tuple(map(str, range(len(scores)))), np.argsort(-scores), scores, mechanism=mechanism)


@each("noise", ["laplace", "conditioned"])
def test_the_estimate_solves_its_equation(noise):
    rng = np.random.default_rng(1)
    mechanism = NoisyCounts(5, 6.0, unit="comparison", noise=noise)
    scores = rng.integers(-300, 300, 5).astype(float)
    for answers, spread in ((800, 1.0), (1234.5, 40.0)):
        found = strengths(released(mechanism, scores), answers, spread=spread)
        theta, n = found.theta, answers / 10
        half = 1 / (2 * math.sinh(1 / 12) ** 2) if noise == "laplace" else conditioned_variance(6.0, 5) * 5 / 4
        ridge = (half + 5 * n) / (5 * n) / spread**2
        left = n * np.tanh((theta[:, None] - theta) / 2).sum(axis=1) + 2 * ridge * theta
        assert left == pytest.approx(scores - scores.mean(), abs=1e-3)
        assert abs(theta.sum()) < 1e-9
        # the derivative of what solves it, by differences
        step, own = 1e-2, np.zeros(5)
        for k in range(5):
            moved = scores + step * (np.arange(5) == k)
            own += half * ((strengths(released(mechanism, moved), answers, spread=spread).theta - theta) / step) ** 2
        assert found.noise_error == pytest.approx(np.sqrt(own), rel=1e-3)


@each(
    ("noise", "law"),
    [
        ("laplace", "discrete"),
        ("laplace", "continuous"),
        ("conditioned", "discrete"),
        ("gaussian", "discrete"),
        ("cube", "discrete"),
    ],
)
def test_errors_are_those_of_repeated_releases(noise, law):
    """Of 600 surveys each: standard deviations to a tenth (false alarm below 1e-3 a number), centre to four errors."""
    rng, m, answers = np.random.default_rng(2), 6, 3000
    theta = np.linspace(-1, 1, m)
    mechanism = NoisyCounts.calibrated(
        epsilon=0.3, delta=0.01 * (noise == "gaussian"), n_items=m, unit="comparison", noise=noise, law=law
    )
    exact = net_wins(theta, answers, 600, rng)
    noisy = np.array([mechanism.perturb(row, rng) for row in exact])
    found = [strengths(released(mechanism, row), answers, spread=100.0) for row in noisy]
    estimates = np.array([one.theta for one in found])
    claimed = np.sqrt(np.mean([one.error**2 for one in found], axis=0))
    assert estimates.std(axis=0) == pytest.approx(claimed, rel=0.12)
    assert np.abs(estimates.mean(axis=0) - theta).max() < 4 * claimed.max() / math.sqrt(600) + 0.01
    again = [mechanism.perturb(exact[0], rng) for _ in range(300)]
    alone = np.array([strengths(released(mechanism, row), answers, spread=100.0).theta for row in again])
    assert alone.std(axis=0) == pytest.approx(found[0].noise_error, rel=0.2)


def test_it_beats_the_perturbed_likelihood_on_a_secret_graph():
    """Mean error of strengths of 40 surveys, of which the likelihood has the best of its ridges."""
    rng, m, answers, epsilon = np.random.default_rng(3), 8, 2800, 1.0
    theta = np.linspace(-1, 1, m)
    exact = net_wins(theta, answers, 40, rng)
    counts = NoisyCounts.calibrated(epsilon=epsilon, n_items=m, unit="comparison")
    found = [strengths(released(counts, counts.perturb(row, rng)), answers).theta for row in exact]
    ours = np.sqrt(np.mean((np.array(found) - theta) ** 2))
    i, j = np.triu_indices(m, 1)
    theirs = []
    for ridge in (0.5, 1.0, 3.0, 10.0):
        mechanism = dprank.PerturbedMLE.calibrated(
            epsilon=epsilon, n_items=m, ridge=ridge, graph="private", unit="comparison", law="continuous"
        )
        tables, wins = np.zeros((40, m, m)), np.zeros((40, m))
        for r in range(40):
            met = rng.multinomial(answers, np.full(len(i), 1 / len(i)))
            won = rng.binomial(met, 1 / (1 + np.exp(theta[j] - theta[i])))
            tables[r, i, j] = tables[r, j, i] = met
            wins[r] = np.bincount(i, won, m) + np.bincount(j, met - won, m)
        estimates = np.array([mechanism.estimate(tables[r], wins[r : r + 1], rng)[0] for r in range(40)])
        estimates -= estimates.mean(axis=1, keepdims=True)
        theirs.append(float(np.sqrt(np.mean((estimates - theta) ** 2))))
    assert ours < 1.2 * min(theirs)


@each(("n", "scale"), [(2, 1.0), (2, 5.0), (3, 1.0), (6, 2.0), (40, 9.0)])
def test_the_variance_of_conditioned_noise(n, scale):
    """Of 40,000 draws, to 3 percent: false alarm below 1e-3."""
    drawn = conditioned_laplace(scale, n, 40_000, rng=np.random.default_rng(4))
    assert float(drawn.var()) == pytest.approx(conditioned_variance(scale, n), rel=0.03)


@each(
    ("made", "arguments", "words"),
    [
        ({"score": "half"}, {"answers": 10}, ["score = 'net'"]),
        ({}, {"answers": 0}, ["answers = 0", "1 to 2^53"]),
        ({}, {"answers": math.nan}, ["answers = nan"]),
        ({}, {"answers": 10, "spread": 0}, ["spread = 0"]),
    ],
)
def test_refuses(made, arguments, words):
    release = released(NoisyCounts(3, 4.0, **made), np.zeros(3))
    with refused(*words):
        strengths(release, **arguments)
    with refused("NoisyCounts"):
        strengths(dprank.Ranking(("a", "b"), np.array([0, 1])), 10)
