"""How likely a chosen set is right: all outcomes at tiny sizes, no data are worse, and the least gap."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from checks import doubted, each, law_p_value, refused
from scipy import special

import dprank
from dprank.topk.chance import gap_needed, rounds_chance, set_chance
from dprank.topk.list_law import list_chances
from dprank.topk.noise_laws import LAWS

SIZES = [(1, 2), (1, 4), (2, 4), (3, 4), (2, 5)]


def right_by_lists(values, k, noise):
    """Chance that the k first values are the k largest noisy ones: a sum over all orders of the k."""
    return list_chances(values, list(permutations(range(k))), noise).sum()


def right_by_rounds(values, k, noise):
    """The same of rounds: every order of the k, a product of the chances of one winner each."""
    total = 0.0
    for order in permutations(range(k)):
        left, chance = list(range(len(values))), 1.0
        for winner in order:
            chance *= list_chances([values[i] for i in left], [[left.index(winner)]], noise)[0]
            left.remove(winner)
        total += chance
    return total


@each("noise, size, gap", list(product(LAWS, SIZES, [0.0, 0.4, 3.0])))
def test_at_tied_data_it_is_the_exact_law(noise, size, gap):
    k, m = size
    values = [gap] * k + [0.0] * (m - k)
    assert set_chance(k, m, 2.5 * gap, noise, 2.5) == pytest.approx(right_by_lists(values, k, noise), abs=1e-10)
    assert rounds_chance(k, m, 2.5 * gap, noise, 2.5) == pytest.approx(right_by_rounds(values, k, noise), abs=1e-9)


@each("noise, size", list(product(LAWS, SIZES)))
def test_no_data_with_that_gap_are_worse(noise, size):
    k, m = size
    rng = np.random.default_rng(k + m)
    for gap in (0.3, 2.0):
        for _ in range(3):
            above, below = gap + np.r_[0.0, rng.exponential(size=k - 1)], -np.r_[0.0, rng.exponential(size=m - k - 1)]
            values = np.r_[above, below]
            assert right_by_lists(values, k, noise) >= set_chance(k, m, gap, noise, 1.0)
            assert right_by_rounds(values, k, noise) >= rounds_chance(k, m, gap, noise, 1.0)


def right_by_outcomes(k, m, gap, noise, scale):
    """Of whole noise: all outcomes, ties broken at random."""
    point = np.arange(0 if noise == "exponential" else -14, 15 if scale < 1 else 40)
    chance = np.exp(-np.abs(point) / scale)
    chance /= chance.sum()
    outcomes, first = np.array(list(product(range(len(point)), repeat=m))), np.arange(m) < k
    noisy = point[outcomes] + gap * first
    cut = -np.sort(-noisy, axis=1)[:, [k - 1]]
    at, better = noisy == cut, noisy > cut
    need = k - better.sum(axis=1)
    fits = ~(better & ~first).any(axis=1) & (need == (at & first).sum(axis=1))
    return float((fits / special.comb(at.sum(axis=1), need) * chance[outcomes].prod(axis=1)).sum())


@pytest.mark.slow
@each("noise, size, gap", list(product(["laplace", "exponential"], [(1, 2), (2, 3), (1, 3)], [0, 1, 2])))
def test_of_whole_noise_it_is_the_sum_over_all_outcomes(noise, size, gap):
    for scale in (0.3, 0.6):
        expected = right_by_outcomes(*size, gap, noise, scale)
        assert set_chance(*size, gap * 0.5, noise, scale * 0.5, 0.5) == pytest.approx(expected, abs=1e-9)


@each("noise, size", list(product(LAWS, [*SIZES, (10, 300), (250, 300)])))
def test_without_a_gap_all_sets_are_alike(noise, size):
    expected = 1 / math.comb(size[1], size[0])
    assert set_chance(*size, 0.0, noise, 3.0) == pytest.approx(expected, rel=1e-6, abs=1.1e-11)
    if noise != "gumbel":
        for step in (0.2, 3.0, 30.0):
            assert set_chance(*size, 0.0, noise, 3.0, step) == pytest.approx(expected, rel=1e-6, abs=1.1e-11)


@each("noise", ["laplace", "exponential"])
def test_wide_noise_is_bounded_from_below_and_not_far(noise, monkeypatch):
    from dprank.topk import chance

    exact = {(k, gap): set_chance(k, 30, gap, noise, 60.0, 1.0) for k in (1, 5) for gap in (0, 100, 400)}
    monkeypatch.setattr(chance, "_WIDE", 10.0)
    chance._set_chance.cache_clear()
    for (k, gap), expected in exact.items():
        bound = set_chance(k, 30, gap, noise, 60.0, 1.0)
        assert expected - 0.04 < bound <= expected + 1e-11
    chance._set_chance.cache_clear()


@each("noise, rounds", list(product(LAWS, [False, True])))
def test_the_gap_needed_is_the_least(noise, rounds):
    at = rounds_chance if rounds else set_chance
    for chance in (0.5, 0.95, 1 - 1e-6):
        gap = gap_needed(chance, 3, 12, noise, 4.0, rounds=rounds)
        assert at(3, 12, gap, noise, 4.0) >= chance
        assert at(3, 12, gap * (1 - 1e-7), noise, 4.0) < chance
    whole = gap_needed(0.95, 3, 12, "laplace", 4.0, 1.0)
    assert set_chance(3, 12, whole, "laplace", 4.0, 1.0) >= 0.95 > set_chance(3, 12, whole - 1, "laplace", 4.0, 1.0)
    assert gap_needed(0.01, 1, 2, noise, 4.0) == 0


@pytest.mark.slow
@each("mechanism, draws", [
    (dprank.Oneshot(2, 1.5, n_items=6, adjacency="add_remove"), 1500),
    (dprank.Oneshot(2, 1.5, "exponential", n_items=6), 1500),
    (dprank.Oneshot(2, 2.0, "gumbel", n_items=6), 600),
    (dprank.Peeling(2, 2.0, n_items=6), 600),
])  # fmt: skip
def test_releases_for_publication_are_right_that_often(mechanism, draws):
    values = np.array([4, 0, 0, 4, 0, 0])
    expected = mechanism.chance_right(4)

    def chance(size):
        right = sum(set(mechanism.release(values, dprank.SECURE).items) == {0, 3} for _ in range(size))
        return law_p_value([right, size - right], [expected, 1 - expected])

    # real coins: four and a half standard errors, 7e-6 a time, of all draws, where the first third raises a doubt
    assert doubted(chance, draws // 3, draws) > 7e-6
    assert 0.3 < expected < 0.99


def test_whole_values_have_whole_gaps():
    mechanism = dprank.Oneshot(2, 1.5, n_items=6, adjacency="add_remove")
    assert mechanism.chance_right(3.2) == mechanism.chance_right(4)
    assert mechanism.chance_right(3.2, law="continuous") < mechanism.chance_right(4, law="continuous")
    needed = mechanism.gap_needed(0.9)
    assert needed == int(needed)
    assert mechanism.chance_right(needed) >= 0.9 > mechanism.chance_right(needed - 1)


def test_what_everybody_chooses_is_right():
    assert set_chance(3, 3, 0.0, "laplace", 1.0) == rounds_chance(3, 3, 0.0, "laplace", 1.0) == 1.0
    assert gap_needed(0.95, 3, 3, "laplace", 1.0) == 0.0


@each("wrong", [-1, math.nan, math.inf, "1", None, True])
def test_what_is_no_gap_is_refused(wrong):
    for mechanism in (dprank.Oneshot(1, 1.0, n_items=3), dprank.Peeling(1, 1.0, n_items=3)):
        with refused("gap = "):
            mechanism.chance_right(wrong)


def test_other_refusals():
    with refused("n_items"):
        dprank.Oneshot(1, 1.0).chance_right(2.0)
    with refused("n_items"):
        dprank.Peeling(1, 1.0).gap_needed(0.9)
    with refused("law = "):
        dprank.Oneshot(1, 1.0, n_items=3).chance_right(2.0, law="whole")
    for chance in (0, 1, 2, math.nan, "0.9", 1 - 1e-12):
        with refused("chance = "):
            dprank.Oneshot(1, 1.0, n_items=3).gap_needed(chance)
    for wrong in ((4, 3, 1.0, "laplace", 1.0), (1, 3, 1.0, "cauchy", 1.0), (1, 3, 1.0, "laplace", 0.0),
                  (1, 3, 1.0, "laplace", 1.0, -1.0)):  # fmt: skip
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            set_chance(*wrong)


@each("adjacency", ["replace", "add_remove"])
@each("law", ["discrete", "continuous"])
@each("noise", ["laplace", "exponential", "gumbel"])
def test_of_two_items_the_chance_is_a_sum_over_all_noise(noise, law, adjacency):
    """Independently of `set_chance`: which grid the noise is on, and that equal noisy values are drawn by lot."""
    b, gap = 1.5, 2.0
    mechanism = dprank.Oneshot(1, b, noise, n_items=2, adjacency=adjacency)
    if noise == "gumbel":  # on the line whatever is asked
        wanted = 1 / (1 + math.exp(-gap / b))
    elif law == "continuous":
        wanted = 1 - math.exp(-gap / b) * (0.5 if noise == "exponential" else 0.5 + gap / b / 4)
    else:
        step = {"replace": 1.0, "add_remove": 0.5}[adjacency]
        z = np.arange(0 if noise == "exponential" else -200, 201)
        chance = np.exp(-np.abs(z) * step / b)
        both = np.multiply.outer(chance, chance) / chance.sum() ** 2
        apart = gap + step * np.subtract.outer(z, z)
        wanted = both[apart > 0].sum() + both[apart == 0].sum() / 2
    assert mechanism.chance_right(gap, law=law) == pytest.approx(wanted, rel=1e-9)


def test_the_gap_needed_is_whole_for_whole_noise_alone():
    mechanism = dprank.Oneshot(2, 3.3, n_items=6)
    assert mechanism.gap_needed(0.9) % 1 == 0
    assert mechanism.gap_needed(0.9, law="continuous") % 1 != 0
