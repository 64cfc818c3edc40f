"""Laws of dependent noise, of sets drawn at once, of winners and of unequal items: enumerated, or simulated.

Simulations are 4 standard errors wide: a right law fails one of them with chance 6.4e-5.
"""

import dataclasses
import math
from itertools import combinations, permutations

import numpy as np
import pytest
from checks import each
from plan_brute import near, wrong_pairs

import dprank
from dprank.aggregation.winner_laws import permute_and_flip
from dprank.plan import crowd, dependent, planner, unequal
from dprank.plan.joint import sets_right
from dprank.plan.laws import pair_right, pairs_of
from dprank.plan.winner import first_named
from dprank.privacy.conditioned import conditioned_laplace, conditioned_variance
from dprank.privacy.cube import cube_noise

#: A grid so fine that whole noise is as good as noise on the line.
FINE = 400.0
DRAWS = 40_000


def drawn(noise, n_items, rng):
    """Noises of scale 1 by the samplers of the library."""
    draw = {"conditioned": conditioned_laplace, "cube": cube_noise}[noise]
    return draw(FINE, n_items, DRAWS, rng=rng) / FINE


@each("noise, n_items", [(noise, m) for noise in ("conditioned", "cube") for m in (2, 3, 6, 15)])
def test_two_items_with_noises_that_depend_on_each_other(noise, n_items):
    rng = np.random.default_rng([1, n_items])
    sampled, own = drawn(noise, n_items, rng), dependent.dependent_draws(noise, n_items, DRAWS, rng)
    wide = math.sqrt(dependent.dependent_variance(noise, n_items))
    for apart, deviation in ((0.4, 0.0), (1.5, 0.0), (0.4, 0.2), (1.0, 1.0), (2.0, 30.0)):
        right = dependent.dependent_right(noise, n_items, 2.0, 2 * apart * wide, (2 * deviation * wide) ** 2)
        luck = deviation * wide * rng.standard_normal(DRAWS)
        for noises in (sampled, own):
            # steps of the grid are up to 1 / 400
            assert near(float(right), noises[:, 0] - noises[:, 1] + luck < apart * wide, 0.002)
    # a twin that takes the noises for independent is found out
    if noise == "conditioned" and n_items == 2:
        assert not near(float(pair_right(0.4 * wide, 0.0, "laplace", 1.0)), sampled[:, 0] - sampled[:, 1] < 0.4 * wide)


def test_variances_are_those_of_the_library():
    for m in (2, 3, 9, 200):
        exact = 2 * m / (m - 1) * conditioned_variance(FINE, m) / FINE**2
        assert math.isclose(dependent.dependent_variance("conditioned", m), exact, rel_tol=1e-4)
    assert math.isclose(dependent.dependent_variance("cube", 5), 2 * 6 * 7 / 3)


@each("noise, n_items", [("conditioned", 4), ("conditioned", 12), ("cube", 4), ("cube", 12)])
def test_scores_that_are_apart_are_in_their_order(noise, n_items):
    apart = dependent.dependent_apart(noise, n_items, 1.0, 0.0, 0.95)
    within = np.ptp(drawn(noise, n_items, np.random.default_rng(3)), axis=1) <= apart
    if noise == "cube":
        assert near(0.95, within, 0.001)
    else:  # the sum of the pairs' chances
        assert 0.95 < within.mean() < 0.99


@each("n_items, k", [(4, 2), (6, 3), (7, 1), (6, 5)])
def test_sets_that_are_drawn_at_once_by_listing_them(n_items, k):
    rng = np.random.default_rng([4, n_items])
    for values in (rng.normal(0, 2, n_items), rng.integers(0, 3, n_items).astype(float)):
        weights = {}
        for chosen in combinations(range(n_items), k):
            others = [values[item] for item in range(n_items) if item not in chosen]
            weights[chosen] = math.exp(-(max(others) - min(values[list(chosen)])) / 0.7)
        total = sum(weights.values())
        held = sum(weight * sum(item < k for item in chosen) for chosen, weight in weights.items()) / total
        found = sets_right(values, k, 0.7)
        assert math.isclose(found.items, held, rel_tol=1e-12)
        assert math.isclose(found.all, weights[tuple(range(k))] / total, rel_tol=1e-12)


def test_sets_are_those_that_the_mechanism_draws():
    values = np.array([9.0, 8.0, 8.0, 6.0, 3.0, 0.0])
    made = dprank.JointExponential.calibrated(epsilon=1.0, n_items=6, k=2)
    chosen = made.draw(values, 20_000, np.random.default_rng(5))
    found = sets_right(values, 2, made.scale)
    assert near(found.items, (chosen < 2).sum(axis=1))
    assert near(found.all, (chosen < 2).all(axis=1))
    # half of the noise would be seen
    assert not near(sets_right(values, 2, made.scale / 2).all, (chosen < 2).all(axis=1))


def test_the_first_of_noisy_scores_is_named_as_often_as_the_law_says():
    rng = np.random.default_rng(6)
    for scores in (rng.normal(0, 3, (5, 4)), np.zeros((1, 6)), np.array([[0.0, 40.0]]), np.array([[40.0, 0.0]])):
        exact = np.mean([permute_and_flip(row / 2.0)[0] for row in scores])
        assert math.isclose(first_named(scores, 2.0), exact, abs_tol=1e-6)
    assert first_named(np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 1.0], [0.0, 1.0, 1.0]]), 0.0) == pytest.approx(4 / 9)


# --- crowds ----------------------------------------------------------------------------------------------------------


@each("people", [crowd.Crowd(6, 0.8, 0.6, 3), crowd.Crowd(6, 0.8, 0.6, 6), crowd.Crowd(9, 0.9, 1.0, 2)])
def test_what_is_counted_is_what_the_ballots_say(people):
    places, each, (i, j, _) = crowd.ballots(people), crowd.middles(people), pairs_of(people.n_items)
    variance = np.var(each[:, j] - each[:, i], axis=0)
    assert np.allclose(crowd.scored(people).variance, variance, rtol=1e-12, atol=0)
    signs = np.where((places[:, i] >= 0) & (places[:, j] >= 0), np.sign(places[:, j] - places[:, i]), 0)
    assert crowd._leads(places).tolist() == signs.sum(axis=0).tolist()


def test_camps_have_the_mean_places_and_margins_of_both():
    people = crowd.Crowd(4, 0.5, 0.7, 4)
    orders = np.array(list(permutations(range(4))))
    weight = np.zeros(len(orders))
    for share, centre in ((0.7, [0, 1, 2, 3]), (0.3, [2, 3, 0, 1])):
        turned = np.array([sum(row[i] > row[j] for i, j in combinations(np.argsort(centre), 2)) for row in orders])
        weight += share * 0.5**turned / (0.5**turned).sum()
    assert np.allclose(crowd.scored(people).mean, weight @ orders - 1.5)
    before = np.array([weight @ (orders[:, i] < orders[:, j]) for i, j in combinations(range(4), 2)])
    assert np.allclose(crowd.margins(people, 10**12).mean(axis=0) / 10**12, 2 * before - 1, atol=1e-6)


def test_ballots_that_name_the_first_items_alone_compare_these_alone():
    people = crowd.Crowd(5, 0.6, 1.0, 2)
    places = crowd.ballots(people)
    names = "abcde"
    exact = dprank.Ballots(places, names)
    assert np.allclose(-2 * crowd.middles(people).sum(axis=0), exact.net_wins())
    i, j = np.triu_indices(5, 1)
    mean = crowd.margins(people, 10**12).mean(axis=0) / 10**12
    assert np.allclose(mean, exact.margins()[i, j] / len(places), atol=1e-6)


def test_of_choices_that_are_as_good_the_one_that_camps_harm_least_is_taken(monkeypatch):
    asked = {"items": 5, "persons": 10_000, "epsilon": 1.0}
    found = dprank.plan("consensus", **asked)
    assert found.best.mechanism != "PrivateBorda"
    assert "safer: where four in ten" in found.reason
    # who says that there is one order gets the least error
    sure = dprank.plan("consensus", camps=1.0, **asked)
    assert sure.best is sure.choices[0]
    assert sure.best.elsewhere is None
    # with camps said, what was weighed elsewhere is the error
    camps = dprank.plan("consensus", camps=0.6, **asked)
    error = next(choice.error for choice in camps.choices if str(choice) == str(found.best))
    assert math.isclose(error, found.best.elsewhere, abs_tol=1e-9)
    assert (
        camps.best.error < next(choice.error for choice in camps.choices if choice.mechanism == "PrivateBorda") - 0.02
    )
    # few people: noise decides, whoever they are
    few = dprank.plan("consensus", items=20, persons=400, epsilon=1.0)
    assert few.best is few.choices[0]
    # a plan that looks at one order alone recommends what camps harm
    monkeypatch.setattr(planner, "_robust", lambda ranked: ranked[0])
    assert dprank.plan("consensus", **asked).best.mechanism == "PrivateBorda"


# --- unequal items ---------------------------------------------------------------------------------------------------


def unequal_polls(chance, lead, answers, releases, rng):
    """Wins of every item over every other, of answers that are drawn one by one, shape (releases, items, items)."""
    i, j = np.triu_indices(len(chance), 1)
    played = rng.multinomial(answers, chance[i, j] / chance[i, j].sum(), releases)
    won = rng.binomial(played, (1 + lead[i, j]) / 2)
    wins = np.zeros((releases, *chance.shape))
    wins[:, i, j], wins[:, j, i] = won, played - won
    return wins


@pytest.mark.slow
@each("n_items, answers, scale", [(6, 300, 3.0), (6, 5000, 3.0), (50, 20_000, 20.0)])
def test_counts_and_strengths_where_items_are_asked_unequally(n_items, answers, scale):
    rng, gap, releases = np.random.default_rng([7, n_items]), 0.1, 400
    tried = max(1, unequal._TRIED // n_items)
    wrong = {"net": [], "wins": [], "fitted": []}
    fitted = dprank.PerturbedMLE.calibrated(epsilon=1.0, n_items=n_items, per_person=1, graph="public", ridge=1.0)
    fitted = dataclasses.replace(fitted, scale=scale)
    for half in range(tried):
        asked = unequal.asked(n_items, gap, half)
        wins = unequal_polls(*asked, answers, releases // tried, rng)
        noise = rng.laplace(0, scale, wins.shape[:2])
        wrong["net"] += [*wrong_pairs(wins.sum(2) - wins.sum(1) + noise)]
        wrong["wins"] += [*wrong_pairs(wins.sum(2) + noise)]
        some = wins[: 60 // tried + 1]
        played = some + np.swapaxes(some, 1, 2)
        found = [fitted.estimate(one, won.sum(1)[None], rng)[0] for one, won in zip(played, some, strict=True)]
        wrong["fitted"] += [*wrong_pairs(np.array(found))]
    right = lambda apart, wide: pair_right(apart, wide, "laplace", scale)  # noqa: E731
    for score in ("net", "wins"):
        foreseen = unequal.counted_wrong(n_items, gap, score, answers, right)
        # few halves of few items are no sample of errors that are alike
        assert near(foreseen, wrong[score], 0.01), (score, foreseen, np.mean(wrong[score]))
    foreseen = unequal.fitted_wrong(n_items, gap, answers, math.sqrt(2) * scale)
    assert near(foreseen, wrong["fitted"], 0.04), (foreseen, np.mean(wrong["fitted"]))


def test_counts_are_wrong_forever_where_items_are_asked_unequally_and_strengths_are_not():
    asked = {"items": 20, "persons": 10**6, "epsilon": 1.0, "public_graph": True}
    found = dprank.plan("ranking", **asked)
    assert found.best.mechanism == "PerturbedMLE"
    counts = next(choice for choice in found.choices if choice.mechanism == "NoisyCounts")
    assert found.best.elsewhere < 0.01 < 0.05 < counts.elsewhere
    assert len(pairs_of(20).weight) == 190


def test_what_is_not_weighed_says_why():
    found = dprank.plan("topk", items=10**5, persons=10**5, epsilon=1.0, k=5, ordered=False)
    assert "JointExponential" in found.left_out
    assert "JointExponential" not in {choice.mechanism for choice in found.choices}
    # noise so wide that nobody draws it
    wide = dprank.plan("ranking", items=300, persons=1000, epsilon=0.01, answers=[50])
    assert any("cube" in name and "radii" in why for name, why in wide.left_out.items())
    assert dprank.plan("agreement", items=4, persons=50, epsilon=1.0).left_out == {}
