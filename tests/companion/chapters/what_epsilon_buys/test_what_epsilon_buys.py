"""What epsilon buys: beliefs by exact laws against brute force, and prices as they stand in the arena."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, logsumexp

from companion.chapters.what_epsilon_buys import belief, others, outcomes, price, several
from companion.chapters.which_method import table as arena
from dprank import PrivateBorda, Rankings
from dprank.privacy.divergence import pair_of, whole_noise
from dprank.publication import gain

#: False alarms of each statistical test here.
ALARM = 1e-6


def listed(sums: tuple[int, ...], scale: float, reach: int, ties: bool = True) -> dict[tuple[int, ...], float]:
    """Chances of all orders by listing all noise; without `ties` the lower code wins one, as a wrong program has it."""
    steps, chance = whole_noise("laplace", scale, reach)
    law = dict.fromkeys(itertools.permutations(range(len(sums))), 0.0)
    for drawn in itertools.product(range(len(steps)), repeat=len(sums)):
        noisy, weight = [s + steps[d] for s, d in zip(sums, drawn, strict=True)], math.prod(chance[list(drawn)])
        fits = [order for order in law if all(noisy[a] <= noisy[b] for a, b in itertools.pairwise(order))]
        for order in fits if ties else fits[:1]:
            law[order] += weight / (len(fits) if ties else 1)
    return law


@pytest.mark.parametrize("sums", [(0, 0, 0), (0, 1, 1), (2, 0, 1), (0, 1)])
def test_chances_of_orders_are_those_of_all_noise(sums):
    law, right = belief.order_law(sums, 0.4), listed(sums, 0.4, 12)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert law == pytest.approx(right, abs=1e-11)
    wrong = listed(sums, 0.4, 12, ties=False)
    assert max(abs(law[order] - wrong[order]) for order in law) > 0.01


def test_equal_sums_come_in_every_order_alike():
    assert list(belief.order_law([7] * 4, 2.0).values()) == pytest.approx([1 / 24] * 24)


def test_orders_have_the_frequencies_of_releases():
    places = outcomes.people_of(3, 30)
    data = Rankings(places, "ABC")
    mechanism, rng = PrivateBorda.calibrated(epsilon=0.3, n_items=3), np.random.default_rng(1)
    law, number = belief.order_law(belief.sums_of(places), mechanism.scale), 4000
    seen = pd.Series([tuple(mechanism.release(data, rng).order) for _ in range(number)]).value_counts()
    assert stats.chisquare([seen.get(order, 0) for order in law], number * np.array(list(law.values()))).pvalue > ALARM


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_no_release_brings_a_belief_beyond_the_cap(epsilon):
    rng = np.random.default_rng(2)
    for others_said in ([0, 0, 0], [0, 1, 2], rng.integers(0, 40, 4)):
        found = belief.after(np.array(others_said), [epsilon])
        assert (found["right"] <= found["at most"] + 1e-12).all()
        assert (found["right"] >= 0.5).all()
        beliefs = belief.twenty(np.array(others_said), [epsilon])["belief"]
        assert beliefs.between(1 - gain(epsilon) - 1e-12, gain(epsilon) + 1e-12).all()


def test_half_the_noise_is_seen_to_break_the_cap():
    scale = PrivateBorda.calibrated(epsilon=1.0, n_items=3).scale / 2
    law, other = (np.array(list(belief.order_law(sums, scale).values())) for sums in ([0, 1, 2], [2, 1, 0]))
    assert expit(pair_of(law, other).epsilon(0.0)) > gain(1.0)


@pytest.mark.parametrize("items", [2, 3, 4, 5])
def test_noise_up_to_a_shift_by_adding_all_shifts(items):
    noise, shifts = np.random.default_rng(3).integers(-9, 9, (40, items)), np.arange(-400, 400)
    far = np.abs(noise[:, :, None] - shifts).sum(axis=1)
    for scale in (0.7, 3.0, 20.0):
        assert belief.log_weight(noise, scale) == pytest.approx(logsumexp(-far / scale, axis=1), abs=1e-9)


def test_scores_of_two_tell_what_their_difference_tells():
    scale = PrivateBorda.calibrated(epsilon=0.8, n_items=2).scale
    _, chance = whole_noise("laplace", scale, 200)
    difference = np.convolve(chance, chance)  # which moves by two
    right = (1 + np.abs(difference[2:] - difference[:-2]).sum() / 2 + difference[:2].sum() / 2) / 2
    found = belief.after(np.array([3, 8]), [0.8]).set_index("published").loc[belief.SCORES]
    # five standard errors
    assert found["right"] == pytest.approx(right, abs=5 * found["se"])


def test_beliefs_are_calibrated():
    """Of all who are so sure, so many are right: the mean of 1 / belief over the truth is that of a law, 2 at most."""
    for items, epsilon in ((2, 1.0), (4, 2.0)):
        odds = np.exp(-belief.losses(items, epsilon, (20_000,), np.random.default_rng(4)))
        assert odds.mean() == pytest.approx(1.0, abs=5 * odds.std() / 20_000**0.5)
        twice = odds**2  # a wrong ratio of laws
        assert abs(twice.mean() - 1) > 5 * twice.std() / 20_000**0.5


def test_beliefs_of_twenty_releases_are_quantiles_of_all():
    shown = belief.twenty(belief.sums_of(outcomes.people_of(4, 50)), [1.0])
    scores = shown.loc[shown["published"] == belief.SCORES, "belief"].to_numpy()
    assert (np.diff(scores) >= 0).all()
    assert scores.mean() == pytest.approx(belief.beliefs(4, 1.0).mean(), abs=0.01)


def test_dots_of_releases_are_drawn_at_their_beliefs_and_apart():
    shown = belief.twenty(belief.sums_of(outcomes.people_of(4, 50)), [0.1, 3.0])
    axes = belief.draw_twenty(shown).axes[0]
    dots = [np.asarray(line.get_xydata(), float) for line in axes.lines if line.get_marker() == "."]
    believed = [100 * part["belief"].sort_values() for _, part in shown[shown["epsilon"] == 0.1].groupby("published")]
    assert sorted(float(part[0, 0]) for part in dots) == pytest.approx(sorted(part.iloc[0] for part in believed))
    for part in dots:
        near = abs(part[:, None, 0] - part[:, 0]) < 0.6
        same = part[:, None, 1] == part[:, 1]
        assert (near & same).sum() == len(part) == belief.RELEASES


def test_how_often_is_the_mean_of_releases():
    places = outcomes.people_of(4, 60)
    found = outcomes.how_often(belief.sums_of(places), [0.5]).iloc[0]
    seen = outcomes.releases(places, [0.5], number=600)
    firsts = int((seen.loc[seen["place"] == 1, "item"] == 1).sum())
    wholes = int((seen["item"] == seen["place"]).groupby(seen["release"]).all().sum())
    assert stats.binomtest(firsts, 600, found["winner"]).pvalue > ALARM
    assert stats.binomtest(wholes, 600, found["order"]).pvalue > ALARM


def test_without_noise_to_speak_of_every_release_is_the_order():
    seen = outcomes.releases(outcomes.people_of(5, 200), [200.0], number=3)
    assert (seen["item"] == seen["place"]).all()


def test_certainty_is_not_claimed_where_there_is_none():
    assert outcomes.numbers(np.array([0, 900, 1800]), [0.5, 3.0])["winner-3"] == "nearly all"
    assert outcomes.numbers(np.array([0, 0]), [1.0])["winner-1"] == "10 of 20"


def test_the_frontier_is_the_least_loss_of_the_arena():
    whole = arena.load()
    found = price.frontier(whole, 20)
    assert len(found) == 2 * 3 * 7
    asked = {"question": "consensus", "data": "Mallows", "items": 20, "loss": "pairs", "delta": 0}
    for row in found.sample(8, random_state=1).itertuples():
        asked |= {"trust": row.trust, "people": row.people, "epsilon": row.epsilon}
        rivals = whole["mean"][np.all([whole[name] == value for name, value in asked.items()], axis=0)]
        assert len(rivals) > 1
        assert row.lost == min(rivals)
        assert row.belief == gain(row.epsilon)


def test_more_people_lose_less_and_need_less():
    found = price.frontier(arena.load(), 20)
    needed = [price.least_epsilon(found, 0.1, people) for people in price.PEOPLE]
    assert needed == sorted(needed, reverse=True)
    assert len(set(needed)) == 3
    assert price.least_epsilon(found, 0.0, 50) == math.inf
    assert list(price.menu(found).columns) == ["ε: belief at most", "50", "400", "10,000"]


def test_the_arena_says_which_numbers_of_items_it_has():
    with pytest.raises(ValueError, match=r"^items = 7; the arena has ballots of \[5, 20, 100, 1000\] items$"):
        price.frontier(arena.load(), 7)


def test_several_releases_are_as_telling_as_their_joint_law():
    scale = PrivateBorda.calibrated(epsilon=0.2, n_items=2).scale
    _, chance = whole_noise("laplace", scale, 400)
    one = np.convolve(chance, chance)
    p, q = one[2:-2], one[:-4]  # a move by two
    two = [np.multiply.outer(law, law).ravel() for law in (p, q)]
    right = (1 + np.abs(two[0] - two[1]).sum() / 2) / 2
    found = several.added_up(2, 0.2).set_index("releases").loc[2]
    assert found["right"] == pytest.approx(right, abs=5 * found["se"])


def test_bounds_on_several_releases_hold_and_the_second_is_the_smaller():
    weeks = several.added_up(3, 0.2)
    assert (weeks["right"] <= weeks["with delta"]).all()
    assert (weeks["with delta"] <= weeks["sum"] + several.DELTA).all()
    assert weeks["right"].is_monotonic_increasing
    assert weeks["sum"].iloc[0] == gain(0.2)


def test_what_others_chose_is_in_order_and_converted_as_they_did():
    found = others.chosen()
    assert found["ε"].is_monotonic_increasing
    census = found.loc[found["what"].str.startswith("US census"), "ε"].item()
    assert census == pytest.approx(17.14, abs=0.05)  # which the bureau states for the same rho and delta
    assert found["ε"].iloc[0] < 1  # "stronger than epsilon 1", says its source
    assert found["belief at most"].iloc[-1] == "above 99.9 %"
