"""Exact but for the laws of the noise. Seeds are fixed; ALARM: the chance that one of them was unlucky."""

import math
from typing import get_args

import numpy as np
import pytest
from checks import HARDLY, all_rankings, each, law_p_value, refused
from scipy import stats

from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions, shrink
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.rules import Rule
from dprank.data.rankings import Rankings
from dprank.privacy.gaussian import gaussian_delta
from dprank.privacy.noise import SECURE, draw
from dprank.release import Ranking

ALARM = 1e-6


def profile(m, voters, seed=0):
    rng = np.random.default_rng([seed, m])
    return Rankings(np.array([rng.permutation(m) for _ in range(voters)]), [f"item {i}" for i in range(m)])


@each("m", [2, 3, 5])
@each("adjacency", ["replace", "add_remove"])
def test_sensitivities_are_attained_by_rankings(m, adjacency):
    signs = np.array([Rankings([row], list("abcde")[:m]).pairwise()[np.triu_indices(m, 1)] for row in all_rankings(m)])
    half_margins = signs - 0.5
    moved = half_margins[0] - half_margins if adjacency == "replace" else half_margins
    laplace = NoisyMatrix(m, 7.0, adjacency=adjacency)
    assert abs(moved).sum(axis=1).max() / 7 == pytest.approx(laplace.guarantee.epsilon, rel=1e-15)
    assert np.linalg.norm(moved, axis=1).max() == pytest.approx(laplace.l2_sensitivity, rel=1e-14)
    assert abs(moved).max() == laplace.grain
    normal = NoisyMatrix(m, 3.0, "gaussian", delta=1e-4, law="continuous", adjacency=adjacency)
    exact = gaussian_delta(np.linalg.norm(moved, axis=1).max(), 3.0, normal.guarantee.epsilon)
    assert exact == pytest.approx(1e-4, rel=1e-6)


@each("delta", [0.0, 1e-6, 0.3])
@each("law", ["discrete", "continuous"])
@each("adjacency", ["replace", "add_remove"])
def test_calibrated_noise_is_the_least(delta, law, adjacency):
    tight = NoisyMatrix.calibrated(n_items=7, epsilon=0.7, delta=delta, law=law, adjacency=adjacency)
    assert tight.guarantee.epsilon <= 0.7
    less = NoisyMatrix(7, tight.scale * (1 - 1e-6), tight.noise, delta=delta, law=law, adjacency=adjacency)
    assert less.guarantee.epsilon > 0.7
    assert tight.rho == pytest.approx(0.7**2 / 2 if not delta else 21 * tight.grain**2 / (2 * tight.scale**2), rel=1e-8)


def test_discrete_gaussian_noise_is_as_private_as_promised():
    """All three pairs turn round; the sum of the noise decides."""
    noisy = NoisyMatrix.calibrated(n_items=3, epsilon=1.0, delta=1e-3)
    x = np.arange(-400, 401)
    one = np.exp(-(x**2) / (2 * noisy.scale**2))
    total = np.convolve(np.convolve(one / one.sum(), one / one.sum()), one / one.sum())
    loss = (2 * np.arange(-1200, 1201) + 3) / (2 * noisy.scale**2)
    exact = (total * np.maximum(0, -np.expm1(1.0 - loss))).sum()
    assert 0.3e-3 < exact <= 1e-3
    assert (total * np.maximum(0, -np.expm1(0.8 - loss))).sum() > 1e-3


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_noise_has_its_law_on_its_grid(adjacency, noise):
    mechanism = NoisyMatrix(3, 1.5, noise, delta=0.1 * (noise == "gaussian"), adjacency=adjacency)
    margins = np.tile([[0, 3, 1], [-3, 0, -1], [-1, 1, 0]], (20_000, 1, 1)).astype(float)
    noisy = mechanism.perturb(margins, np.random.default_rng(1))
    assert (noisy == -np.swapaxes(noisy, 1, 2)).all()
    steps = (noisy - margins)[:, *np.triu_indices(3, 1)].ravel() / (2 * mechanism.grain)
    assert (steps == np.rint(steps)).all()
    x = np.arange(-60, 61)
    scale = 1.5 / mechanism.grain
    law = np.exp(-abs(x) / scale if noise == "laplace" else -(x**2) / (2 * scale**2))
    counts = np.bincount(np.clip(steps, -60, 60).astype(int) + 60, minlength=121)
    assert law_p_value(counts, law / law.sum()) > ALARM
    mutant = np.exp(-abs(x) * 1.05 / scale if noise == "laplace" else -(x**2) * 1.1 / (2 * scale**2))
    assert law_p_value(counts, mutant / mutant.sum()) < ALARM


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_continuous_noise_has_its_law(noise):
    mechanism = NoisyMatrix(4, 2.5, noise, delta=0.1 * (noise == "gaussian"), law="continuous")
    drawn = mechanism.perturb(np.zeros((3000, 4, 4)), np.random.default_rng(2))[:, *np.triu_indices(4, 1)]
    assert stats.kstest(drawn.ravel() / 2 / 2.5, "laplace" if noise == "laplace" else "norm").pvalue > ALARM


@pytest.mark.parametrize("rule", get_args(Rule))
def test_without_noise_the_order_is_that_of_the_rule(rule):
    data = profile(6, 31)
    released = NoisyMatrix(6, HARDLY, rule=rule).release(data, np.random.default_rng(0))
    w = pairwise_fractions(data)
    assert sorted(released.order) == list(range(6))
    assert released.ranking[0] == f"item {released.order[0]}"
    assert (released.margins == 2 * data.pairwise() - 31 + 31 * np.eye(6)).all()
    if rule in ("auto", "kemeny"):
        assert kemeny_score(released.order, w) == pytest.approx(kemeny(w).cost)


def test_a_release_is_reproducible_and_carries_its_matrix():
    mechanism, data = NoisyMatrix.calibrated(n_items=5, epsilon=1.0), profile(5, 200)
    one, other = (mechanism.release(data, np.random.default_rng(3)) for _ in range(2))
    assert (one.margins == other.margins).all()
    assert (one.order == other.order).all()
    assert (one.margins % 2 == 0)[~np.eye(5, dtype=bool)].all()
    assert one.guarantee == mechanism.guarantee
    assert abs(mechanism.release(data, SECURE).margins).max() > 0


def test_bad_input_is_refused():
    for words, arguments in (
        (("n_items = 1",), {"n_items": 1}),
        (("scale = -1",), {"scale": -1.0}),
        (("noise = 'cauchy'", "laplace"), {"noise": "cauchy"}),
        (("delta = 0.1", "Laplace"), {"delta": 0.1}),
        (("delta = 0.0", "Gaussian"), {"noise": "gaussian"}),
        (("delta = 1",), {"noise": "gaussian", "delta": 1.0}),
        (("rule = 'dictator'",), {"rule": "dictator"}),
        (("law = 'rounded'",), {"law": "rounded"}),
    ):
        with refused(*words):
            NoisyMatrix(**({"n_items": 3, "scale": 1.0} | arguments))
    with refused("epsilon = 0"):
        NoisyMatrix.calibrated(n_items=3, epsilon=0.0)
    with refused("4", "n_items = 3"):
        NoisyMatrix(3, 1.0).release(profile(4, 2), np.random.default_rng(0))
    with refused("rng", "research"):
        NoisyMatrix(4, 1.0, law="continuous").release(profile(4, 2), SECURE)
    with refused("rule = 'borda'"):
        NoisyMatrix(3, 1.0, rule="borda").additive_error(10)
    with pytest.raises(TypeError, match="noise"):  # it goes with delta
        NoisyMatrix.calibrated(n_items=3, epsilon=1.0, noise="gaussian")


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_digits_that_whole_noise_would_not_hide_are_refused(adjacency):
    mechanism, rng = NoisyMatrix.calibrated(n_items=3, epsilon=1.0, adjacency=adjacency), np.random.default_rng(0)
    for wrong in (0.5, 0.37, np.nan):
        with refused("margin holds fractions", "whole"):
            mechanism.perturb(np.array([[0, wrong, 2], [-wrong, 0, 2], [-2, -2, 0]]), rng)
    mixed = np.array([[0, 1, 2], [-1, 0, 2], [-2, -2, 0]])  # noise of even numbers would show which is odd
    if adjacency == "replace":
        with refused("odd and even"):
            mechanism.perturb(mixed, rng)
    else:
        assert mechanism.perturb(mixed, rng).shape == (3, 3)
    NoisyMatrix.calibrated(n_items=3, epsilon=1.0, law="continuous").perturb(mixed / 7, rng)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.slow
def test_additive_errors_bound_what_is_paid_and_are_not_idle(delta, adjacency):
    rng = np.random.default_rng(4)
    data = Rankings(np.array([[0, 1, 2, 3, 4]] * 30 + [[4, 3, 2, 1, 0]] * 20), "abcde")
    w = pairwise_fractions(data)
    mechanism = NoisyMatrix.calibrated(n_items=5, epsilon=1.0, delta=delta, adjacency=adjacency)
    paid = np.array([kemeny_score(mechanism.release(data, rng).order, w) for _ in range(300)]) - kemeny(w).cost
    assert mechanism.ratio == 1
    assert paid.mean() <= mechanism.additive_error(50)
    # what pure noise gains is the bound's own subject: within a factor
    still = NoisyMatrix(5, 30.0, mechanism.noise, delta=delta, adjacency=adjacency)
    gains = [-kemeny_score(kemeny_order, x / 2) for x, kemeny_order in _noise_orders(still, rng)]
    assert 0.4 * still.additive_error(1) < np.mean(gains) <= still.additive_error(1)


def _noise_orders(mechanism, rng):
    for _ in range(200):
        x = mechanism.perturb(np.zeros((5, 5)), rng)
        yield x, kemeny(shrink(x)).order


@pytest.mark.slow
def test_the_names_of_columns_decide_nothing():
    """Three voters in a cycle, without noise: every item is first as often as the others."""
    data, rng = Rankings([[0, 1, 2], [1, 2, 0], [2, 0, 1]], "abc"), np.random.default_rng(5)
    for rule in get_args(Rule):
        first = [NoisyMatrix(3, HARDLY, rule=rule).release(data, rng).order[0] for _ in range(500)]
        assert law_p_value(np.bincount(first, minlength=3), np.full(3, 1 / 3)) > ALARM


@pytest.mark.parametrize("m", [2, 5, 30])
def test_additive_errors_are_those_of_their_noise(m):
    """Formula by formula, with the sums over pairs and orders written out."""
    pairs, orders, n = m * (m - 1) // 2, sum(math.log(i) for i in range(1, m + 1)), 70
    laplace, normal = NoisyMatrix(m, 3.0), NoisyMatrix(m, 3.0, "gaussian", delta=1e-6)
    assert laplace.additive_error(n) == pytest.approx(3 * 2 * math.sqrt(orders * (pairs + orders)) / n, rel=1e-12)
    assert normal.additive_error(n) == pytest.approx(3 * math.sqrt(m * (m - 1) * orders) / n, rel=1e-12)


@each("law", ["discrete", "continuous"])
@each("noise", ["laplace", "gaussian"])
@each("adjacency", ["replace", "add_remove"])
def test_the_noise_of_a_seed_is_what_is_added(adjacency, noise, law):
    delta = 0.1 * (noise == "gaussian")
    mechanism = NoisyMatrix(3, 1.5, noise, delta=delta, adjacency=adjacency, law=law)
    margins = np.array([[0, 3, 1], [-3, 0, -1], [-1, 1, 0]])
    drawn = draw(noise, law, 1.5 / mechanism.grain, 3, rng=np.random.default_rng(3))
    noisy = mechanism.perturb(margins, np.random.default_rng(3))
    assert noisy[np.triu_indices(3, 1)].tolist() == ([3, 1, -1] + 2 * mechanism.grain * drawn).tolist()


def test_the_least_numbers():
    assert NoisyMatrix(2, 1.0).additive_error(1) == pytest.approx(2 * math.sqrt(math.log(2) * (1 + math.log(2))))
    with refused("n_voters = 0"):
        NoisyMatrix(2, 1.0).additive_error(0)


@each("adjacency", ["replace", "add_remove"])
def test_large_noise_is_added_to_integers_exactly(monkeypatch, adjacency):
    """As floats, counts and noise of 2^53 and more would be rounded apart, and what is odd would show."""
    mechanism = NoisyMatrix(2, 2.0**48, adjacency=adjacency)
    far = np.int64(2**54 + 2)
    monkeypatch.setattr(NoisyMatrix, "_drawn", lambda self, size, rng: np.full(size, far))
    seen = {
        mechanism.perturb(np.array([[0, c], [-c, 0]], kind), SECURE)[0, 1] for c in (1, 3) for kind in (np.int64, float)
    }
    steps = 2 if adjacency == "replace" else 1
    assert seen == {float(c + steps * int(far)) for c in (1, 3)}


def places(m, scale, noise, law, margins, **sampling):
    delta = 1e-5 if noise == "gaussian" else 0.0
    mechanism = NoisyMatrix(m, scale, noise, delta=delta, law=law, rule="borda")
    order = np.argsort(-margins.sum(axis=1))
    release = Ranking([f"item {i}" for i in range(m)], order, margins=margins, mechanism=mechanism)
    return np.array([mechanism.open_places(release, level, **sampling) for level in (0.5, 0.9)]).tolist()


@each("seed", [1, 2, 3])
def test_places_by_net_wins_have_the_law_of_their_noise(seed):
    """On the line Gaussian net wins are scores with independent noise, and Laplace ones a limit of fine whole noise."""
    m, scale = 12, 30.0
    margins = np.triu(2.0 * np.random.default_rng(seed).integers(-200, 200, (m, m)), 1)
    margins -= margins.T
    wins = margins.sum(axis=1)
    borda = PrivateBorda(m, 2 * scale * math.sqrt(m), "gaussian", delta=1e-5, law="continuous")
    release = Ranking([f"item {i}" for i in range(m)], np.argsort(-wins), wins, mechanism=borda)
    exact = np.array([borda.open_places(release, level) for level in (0.5, 0.9)]).tolist()
    assert places(m, scale, "gaussian", "continuous", margins) == exact
    assert places(m, scale, "gaussian", "discrete", margins) != exact  # bounded pair by pair
    laplace = places(m, scale, "laplace", "continuous", margins)
    assert laplace == places(m, scale, "laplace", "discrete", margins) != exact


def test_ballots_are_not_drawn_answer_by_answer():
    with refused("sampling = 'answers'; a ballot is all of one person"):
        places(3, 9.0, "laplace", "discrete", np.zeros((3, 3)), sampling="answers", persons=9)
