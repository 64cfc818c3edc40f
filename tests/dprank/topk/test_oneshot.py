"""Exact laws of small cases against what is promised; ROUNDING is their relative error. Draws from a law are compared
with it at a false-alarm rate of ALARM: seeded, but for draws of SECURE, which cannot be."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from checks import denied, doubted, each, law_p_value, refused
from scipy.special import logsumexp
from set_laws import grid_set_law, order_law_of_three, plackett_luce, set_law, unordered

from dprank.audit import privacy_loss
from dprank.pairwise import top_set_law
from dprank.privacy.composition import epsilon_per_round, optimal
from dprank.privacy.guarantee import ratio_up
from dprank.privacy.noise import SECURE, WIDEST
from dprank.topk import accounting, oneshot
from dprank.topk.bound import log_delta
from dprank.topk.descent import _fits, descent_shift
from dprank.topk.oneshot import Oneshot
from dprank.topk.selection import named, unranked, whole_top_k

ROUNDING = 1e-9
ALARM = 1e-6

NOISES = ["laplace", "gumbel", "exponential"]
NOISE = pytest.mark.parametrize("noise", NOISES)
ADJACENCY = each("adjacency", ["replace", "add_remove"])


def neighbours(values, adjacency):
    """Corners of what one record may do: losses are convex in the shift, and worst in a corner."""
    for shift in product([-1, 1] if adjacency == "replace" else [0, 1], repeat=len(values)):
        yield np.add(values, shift)


def law(mechanism, values):
    """Exact law of what is selected, as an array."""
    if mechanism.ordered and mechanism.noise == "gumbel":
        out = plackett_luce(values, mechanism.k, mechanism.scale)
    elif mechanism.ordered:
        assert len(values) == 3 <= mechanism.k + 1
        out = order_law_of_three(values, mechanism.scale, mechanism.noise)
    else:
        out = set_law(values, mechanism.k, mechanism.scale, mechanism.noise)
    return np.array(list(out.values()))


def worst_loss(mechanism, values, adjacency=None):
    here = law(mechanism, values)
    return max(privacy_loss(here, law(mechanism, x)) for x in neighbours(values, adjacency or mechanism.adjacency))


def worst_delta(mechanism, values, epsilon):
    here = law(mechanism, values)
    there = [law(mechanism, x) for x in neighbours(values, mechanism.adjacency)]
    grown = math.exp(epsilon)
    return max(max(np.maximum(here - grown * x, 0).sum(), np.maximum(x - grown * here, 0).sum()) for x in there)


# --- pure -------------------------------------------------------------------------------------------------------------


@NOISE
@ADJACENCY
@each("k", [1, 2, 3, 4])
@pytest.mark.slow
def test_no_neighbours_lose_more_than_is_promised(noise, adjacency, k):
    mechanism = Oneshot(k, 1.5, noise, adjacency=adjacency, n_items=5)
    promised = mechanism.guarantee.epsilon
    far = [0] * k + [12] * (5 - k)
    apart = [[0.0, 0.7, 1.9, 3.2, 3.4]] if k in (2, 3) else []
    losses = [worst_loss(mechanism, values) for values in ([0] * 5, far, *apart)]
    assert max(losses) <= promised * (1 + ROUNDING)
    if noise == "laplace" or k < 4:
        assert max(losses) > 0.95 * promised


@ADJACENCY
@each("noise", NOISES)
@each("k", [2, 3])
def test_orders_of_three_lose_no_more_than_is_promised(noise, adjacency, k):
    mechanism = Oneshot(k, 1.5, noise, adjacency=adjacency, n_items=3, ordered=True)
    promised = mechanism.guarantee.epsilon
    assert promised == pytest.approx({"laplace": 1}.get(noise, 2) * (2 if adjacency == "replace" else 1) / 1.5)
    losses = [worst_loss(mechanism, values) for values in ([0, 0, 0], [0, 9, 9], [0, 0, 9], [0, 9, 18])]
    assert 0.6 * promised < max(losses) <= promised * (1 + ROUNDING)


@NOISE
def test_half_of_the_sensitivity_in_any_direction_is_all_of_it_one_way(noise):
    one_way = Oneshot(2, 1.5, noise, adjacency="add_remove", n_items=4)
    any_way = Oneshot(2, 1.5, noise, sensitivity=0.5, n_items=4)
    assert one_way.guarantee.epsilon == any_way.guarantee.epsilon


def test_what_needs_no_choice_costs_nothing():
    for noise, ordered in product(NOISES, [False, True]):
        assert Oneshot(1, 1.0, noise, n_items=1, ordered=ordered).guarantee.epsilon == 0
        assert (Oneshot(3, 1.0, noise, n_items=3, ordered=ordered).guarantee.epsilon == 0) is not ordered
    assert Oneshot.calibrated(epsilon=1.0, n_items=3, k=3).guarantee.epsilon == 0


def test_the_few_left_out_are_cheap_for_laplace_noise_only():
    assert Oneshot(9, 1.0, n_items=10).guarantee.epsilon == 2
    assert Oneshot(9, 1.0, "gumbel", n_items=10).guarantee.epsilon == 18
    assert worst_loss(Oneshot(4, 1.5, "gumbel"), [0, 0, 0, 0, 12]) > 1.5 * 2 / 1.5


# --- bounds per person ------------------------------------------------------------------------------------------------

FAR = [[0, 0, 0, 12, 12, 12], [0, 0, 0, 0, 0, 0], [0.0, 0.7, 1.9, 3.2, 3.4, 8.0]]


def neighbours_by(moved, values, adjacency):
    """All that one record may do that moves so many values."""
    for shift in product([-1, 0, 1] if adjacency == "replace" else [0, 1], repeat=len(values)):
        if np.count_nonzero(shift) == moved:
            yield np.add(values, shift)


def loss_by(moved, mechanism, values):
    here = law(mechanism, values)
    return max(privacy_loss(here, law(mechanism, x)) for x in neighbours_by(moved, values, mechanism.adjacency))


@pytest.mark.parametrize(("adjacency", "c", "moved"), [("add_remove", 1, 1), ("add_remove", 2, 2), ("replace", 1, 2)])
@pytest.mark.slow
def test_records_of_few_values_lose_no_more_than_is_promised(adjacency, c, moved):
    mechanism = Oneshot(3, 1.5, adjacency=adjacency, n_items=6, per_person=c)
    promised = mechanism.guarantee.epsilon
    assert promised == pytest.approx(moved / 1.5)
    losses = [loss_by(m, mechanism, values) for values in FAR for m in range(1, moved + 1)]
    assert 0.95 * promised < max(losses) <= promised * (1 + ROUNDING)
    if c > 1:
        assert max(losses) > 1.5 * replace(mechanism, per_person=c - 1).guarantee.epsilon


@pytest.mark.parametrize(("adjacency", "moved"), [("add_remove", 1), ("replace", 2)])
def test_orders_of_few_values_lose_no_more_than_is_promised(adjacency, moved):
    mechanism = Oneshot(3, 1.5, adjacency=adjacency, ordered=True, per_person=1)
    promised = mechanism.guarantee.epsilon
    assert promised == pytest.approx(moved / 1.5)
    losses = [loss_by(m, mechanism, x) for x in ([0, 0, 0], [0, 9, 9], [0, 9, 18]) for m in range(1, moved + 1)]
    assert 0.9 * promised < max(losses) <= promised * (1 + ROUNDING)


@pytest.mark.parametrize("delta", [0.01, 0.2])
@pytest.mark.slow
def test_approximate_promises_for_few_values(delta):
    mechanism = Oneshot(3, 3.0, adjacency="add_remove", n_items=6, per_person=2, delta=delta)
    promised = mechanism.guarantee
    assert promised.epsilon < replace(mechanism, delta=0.0).guarantee.epsilon
    for values in FAR:
        here = law(mechanism, values)
        for x in neighbours_by(2, values, "add_remove"):
            for p, q in ((here, law(mechanism, x)), (law(mechanism, x), here)):
                assert np.maximum(p - math.exp(promised.epsilon) * q, 0).sum() <= promised.delta + ROUNDING


@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
def test_few_values_do_not_help_noise_that_cannot_be_pushed_down(noise):
    for ordered in (False, True):
        free = Oneshot(2, 1.5, noise, adjacency="add_remove", ordered=ordered)
        few = replace(free, per_person=1)
        assert few.guarantee == free.guarantee
        assert few.rho == free.rho
    assert loss_by(1, replace(few, ordered=False), [0, 0, 12]) > 0.95 * few.guarantee.epsilon


def test_no_more_released_values_move_than_a_person_has():
    for adjacency, moved in (("add_remove", 2), ("replace", 4)):
        mechanism = Oneshot(5, 1.0, n_items=5, value_scale=4.0, adjacency=adjacency, per_person=2)
        assert mechanism.guarantee.epsilon == pytest.approx(moved / 4)
        assert replace(mechanism, k=1, n_items=1).guarantee.epsilon == pytest.approx(1 / 4)
        assert mechanism.rho == pytest.approx(moved / 4**2 / 2)
        assert replace(mechanism, delta=0.1).guarantee.epsilon == optimal(moved, 1 / 4, 0.1)


def test_rho_of_few_values_is_above_the_renyi_divergences():
    mechanism = Oneshot(3, 1.5, adjacency="add_remove", n_items=6, per_person=2)
    assert mechanism.rho == pytest.approx(2 / 1.5**2 / 2)
    for values in FAR:
        p = law(mechanism, values)
        for x in neighbours_by(2, values, "add_remove"):
            q = law(mechanism, x)
            for order in (1.1, 2, 5, 40):
                for a, b in ((p, q), (q, p)):
                    divergence = logsumexp(order * np.log(a) + (1 - order) * np.log(b)) / (order - 1)
                    assert divergence <= order * mechanism.rho * (1 + ROUNDING)


@pytest.mark.parametrize(("adjacency", "grain"), [("replace", 1.0), ("add_remove", 0.5)])
def test_discrete_noise_keeps_what_few_values_are_promised(adjacency, grain):
    mechanism = Oneshot(3, 1.7, adjacency=adjacency, n_items=6, per_person=1)
    for values in ([0, 0, 0, 5, 5, 5], [0, 1, 1, 2, 3, 3]):
        here = np.array(list(top_set_law(values, 1.7, 3, "discrete", grain).values()))
        for x in neighbours_by(2 if adjacency == "replace" else 1, values, adjacency):
            there = np.array(list(top_set_law(x, 1.7, 3, "discrete", grain).values()))
            assert np.abs(np.log(here / there)).max() <= mechanism.guarantee.epsilon * (1 + 1e-6)


# --- mutants ----------------------------------------------------------------------------------------------------------

MUTANTS = {
    "half the noise": lambda m: replace(m, scale=m.scale / 2),
    "a tenth too little": lambda m: replace(m, scale=0.9 * m.scale),
    "noise for one less": lambda m: replace(m, scale=m.scale * (m.k - 1) / m.k),
}


@ADJACENCY
@NOISE
@each("mutant", MUTANTS)
@pytest.mark.slow
def test_too_little_noise_is_caught(mutant, noise, adjacency):
    mechanism = Oneshot.calibrated(epsilon=1.0, n_items=5, k=2, noise=noise, adjacency=adjacency)
    values = [0, 0, 12, 12, 12]
    assert 0.95 < worst_loss(mechanism, values) <= 1 + ROUNDING
    assert worst_loss(MUTANTS[mutant](mechanism), values) > 1.05


def test_counts_moved_in_any_direction_are_caught():
    mechanism = Oneshot.calibrated(epsilon=1.0, n_items=5, k=2, adjacency="add_remove")
    assert worst_loss(mechanism, [0, 0, 12, 12, 12], "replace") > 1.9


# --- approximate ------------------------------------------------------------------------------------------------------


@ADJACENCY
@each("noise", ["laplace", "gumbel"])
@each("delta", [1e-3, 0.05, 0.4])
def test_delta_is_not_above_what_is_promised(noise, adjacency, delta):
    mechanism = Oneshot(3, 2.0, noise, adjacency=adjacency, delta=delta, n_items=6)
    promised = mechanism.guarantee
    assert promised.delta in (0, delta)
    assert promised.epsilon <= replace(mechanism, delta=0.0).guarantee.epsilon
    for values in ([0] * 6, [0, 0, 0, 9, 9, 9], [0, 1, 2, 3, 4, 5]):
        here, there = law(mechanism, values), law(mechanism, np.add(values, [1, 1, 1, 0, 0, 0]))
        for p, q in ((here, there), (there, here)):
            assert np.maximum(p - math.exp(promised.epsilon) * q, 0).sum() <= promised.delta + ROUNDING


def test_delta_helps_when_k_is_large_enough():
    pure, laplace, gumbel = (
        Oneshot.calibrated(epsilon=0.2, delta=delta, k=100, noise=noise).scale
        for delta, noise in ((0.0, "laplace"), (1e-6, "laplace"), (1e-6, "gumbel"))
    )
    assert gumbel < 0.7 * laplace < pure / 4
    assert Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=3) == replace(Oneshot.calibrated(epsilon=0.2, k=3), delta=1e-6)
    assert Oneshot(3, 30.0, delta=1e-6).guarantee.delta == 0
    # the approximate bound says nothing of exponential noise
    ordered = Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100, ordered=True)
    assert ordered.scale == laplace
    assert Oneshot.calibrated(epsilon=0.2, delta=1e-6, n_items=100, k=90).scale < ordered.scale
    # the few left out do not tell the order of the many, but there are few coins
    assert Oneshot.calibrated(epsilon=0.2, delta=1e-6, n_items=1000, k=100, ordered=True).scale == laplace
    known = Oneshot.calibrated(epsilon=0.2, delta=1e-6, n_items=110, k=100, ordered=True)
    assert known.scale == pytest.approx(1 / epsilon_per_round("optimal", 110, 0.2, 1e-6))
    one_way = Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100, ordered=True, adjacency="add_remove")
    assert one_way.scale == pytest.approx(laplace / 2, rel=1e-8)
    assert Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100, noise="exponential").scale == pure
    assert Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100, noise="gumbel", ordered=True).scale == gumbel


def test_selecting_most_is_selecting_the_few_left():
    for delta in (1e-6, 0.1):
        few, most = (Oneshot.calibrated(epsilon=0.2, delta=delta, n_items=1000, k=k).scale for k in (90, 910))
        assert most == few


def test_rho_is_that_of_k_exponential_mechanisms():
    assert Oneshot(5, 4.0, "gumbel").rho == pytest.approx(5 * 0.5**2 / 8)
    assert Oneshot(5, 4.0, "gumbel", n_items=5, ordered=True).rho == pytest.approx(4 * 0.5**2 / 8)
    assert Oneshot(5, 4.0).rho == pytest.approx((5 * 0.5) ** 2 / 2)
    assert Oneshot(5, 4.0, "gumbel", value_scale=10.0).rho == pytest.approx(5 * 0.5**2 / 8 + 5 * 0.1**2 / 2)


def test_rho_is_above_the_renyi_divergences():
    for noise, values in product(NOISES, ([0] * 5, [0, 0, 12, 12, 12], [0.0, 0.7, 1.9, 3.2, 3.4])):
        mechanism = Oneshot(2, 1.5, noise, n_items=5)
        p, q = law(mechanism, values), law(mechanism, np.add(values, [1, 1, -1, -1, -1]))
        for order in (1.1, 2, 5, 40):
            for a, b in ((p, q), (q, p)):
                divergence = logsumexp(order * np.log(a) + (1 - order) * np.log(b)) / (order - 1)
                assert divergence <= order * mechanism.rho * (1 + ROUNDING)


# --- calibration ------------------------------------------------------------------------------------------------------


@NOISE
@each("values", [False, True])
@pytest.mark.slow
def test_calibrated_keeps_epsilon_and_wastes_none(noise, values):
    rng = np.random.default_rng(41)
    for _ in range(12):
        k, epsilon = int(10 ** rng.uniform(0, 4)), float(np.exp(rng.uniform(-5, 3)))
        delta = float(rng.choice([0.0, 10 ** rng.uniform(-12, -1)]))
        adjacency = str(rng.choice(["replace", "add_remove"]))
        size = float(rng.uniform(0.1, 9))
        mechanism = Oneshot.calibrated(
            epsilon=epsilon,
            delta=delta,
            n_items=3 * k,
            k=k,
            noise=noise,
            values=values,
            share=0.3 if values else None,
            sensitivity=size,
            adjacency=adjacency,
            ordered=bool(rng.integers(2)),
            per_person=[None, 1, 7, k][rng.integers(4)],
        )
        promised = mechanism.guarantee
        assert promised.epsilon <= epsilon
        assert promised.epsilon >= epsilon * (1 - 1e-6)
        assert promised.delta in (0, delta)
        assert promised.adjacency == adjacency == mechanism.adjacency


@each(
    "options",
    [
        {"noise": "laplace"},
        {"noise": "laplace", "per_person": 60},
        {"noise": "gumbel"},
        {"noise": "gumbel", "ordered": True},
        {"noise": "laplace", "n_items": 100, "values": True},
    ],
)
def test_searched_scales_are_by_1e_9_larger_than_found(options):
    mechanism = Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100, **options)
    field = "value_scale" if options.get("values") else "scale"

    def spent(less):
        return replace(mechanism, **{field: getattr(mechanism, field) * (1 - less)}).guarantee.epsilon

    assert spent(0) < spent(0.8e-9) <= 0.2 < spent(1.2e-9)


@NOISE
@each("delta", [0.0, 1e-6])
def test_values_have_half_of_epsilon_unless_told_otherwise(noise, delta):
    half, most = (
        Oneshot.calibrated(epsilon=1.0, delta=delta, k=20, noise=noise, values=True, share=share)
        for share in (0.5, 0.9)
    )
    assert Oneshot.calibrated(epsilon=1.0, delta=delta, k=20, noise=noise, values=True) == half
    assert half.scale < most.scale
    assert half.value_scale > most.value_scale


def test_pure_promises_are_never_below_the_exact_quotient():
    rng = np.random.default_rng(42)
    for _ in range(300):
        epsilon, size, k = float(rng.uniform(0.01, 9)), float(rng.uniform(0.1, 9)), int(rng.integers(1, 999))
        mechanism = Oneshot.calibrated(epsilon=epsilon, k=k, sensitivity=size)
        assert 2 * k * Fraction(size) / Fraction(mechanism.scale) <= Fraction(mechanism.guarantee.epsilon)


def test_a_sensitivity_that_is_no_float_is_rounded_up():
    for exact in (Fraction(1, 3), Fraction(1) + Fraction(1, 2**60), 2**53 + 1):
        assert Fraction(Oneshot(3, 1e20, sensitivity=exact).sensitivity) >= exact


@pytest.mark.parametrize("k", [1, 2, 5, 20, 100])
def test_gumbel_scales_spend_all_of_epsilon_by_either_composition(k):
    """That of rounds with a bounded range: without the range the sum would be up to five times as large."""
    chosen = Oneshot(k, 1.0, "gumbel")._chosen
    assert chosen.epsilon(chosen.scale(1.0, 1e-6), 1e-6) == pytest.approx(1.0, rel=1e-8)


def test_an_order_of_two_is_one_choice_at_every_delta():
    """The last of all items is known: no fewer coins than one are seen, and no more."""
    for k in (1, 2):
        mechanism = Oneshot(k, 4.0, n_items=2, ordered=True, delta=1e-6)
        assert mechanism.guarantee.epsilon == pytest.approx(0.5, rel=1e-4)
        assert mechanism.guarantee.epsilon <= 0.5


def test_where_the_game_is_not_told_a_public_number_of_items_makes_sets_cheaper():
    known, unknown = (replace(Oneshot(1000, 200.0), n_items=m)._chosen for m in (9000, None))
    delta = 1e-101
    epsilon = known.epsilon(200.0, delta)
    assert log_delta(1000, 1 / 200, epsilon, 9000) == pytest.approx(math.log(delta), abs=1e-9)
    assert epsilon < unknown.epsilon(200.0, delta) < known.epsilon(200.0, 0.0)
    # what is not chosen tells nothing of an order
    assert replace(known, ordered=True).epsilon(200.0, delta) == unknown.epsilon(200.0, delta)


@pytest.mark.parametrize("wrong", [0.999, 0.9])
def test_a_scale_that_was_found_too_small_is_mended_and_not_by_more_than_twice(monkeypatch, wrong):
    """Whatever inverts a law, the scale is the one at which the promise holds."""
    right = Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100).scale
    monkeypatch.setattr(accounting, "descent_shift", lambda *given: descent_shift(*given) / wrong)
    found = Oneshot.calibrated(epsilon=0.2, delta=1e-6, k=100)
    assert found.guarantee.epsilon <= 0.2
    assert right <= found.scale <= (1 + 2 * (1 / wrong - 1)) * right


# --- release ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_half_a_spread_is_a_whole_number_of_steps_of_published_noise(monkeypatch, adjacency, noise):
    """Half of it is what a common shift leaves of a move; and it is the grid of which chances are told."""
    grids = []

    def seen(*given, grid, **named):
        grids.append(grid)
        return whole_top_k(*given, grid=grid, **named)

    monkeypatch.setattr(oneshot, "whole_top_k", seen)
    mechanism = Oneshot(1, 4.0, noise, adjacency=adjacency, n_items=3)
    mechanism.release([3, 1, 2], SECURE)
    assert grids == [1 / mechanism._step("discrete")]
    assert grids[0] * mechanism._chosen.spread / 2 == 1


def p_value(seen, law):
    law = {key: p / sum(law.values()) for key, p in law.items()}
    counts = Counter(seen)
    assert counts.keys() <= law.keys()
    return law_p_value([counts[key] for key in law], list(law.values()))


@NOISE
@pytest.mark.slow
def test_released_sets_have_the_exact_law_and_no_order(noise):
    mechanism, rng = Oneshot(2, 1.5, noise, n_items=4), np.random.default_rng(51)
    law = set_law([0.0, 2.0, 1.0, 1.5], 2, 1.5, noise)
    assert all(a < b for a, b in law), "no other key is allowed"

    def chance(draws):
        return p_value([tuple(mechanism.release([0.0, 2.0, 1.0, 1.5], rng).items.tolist()) for _ in range(draws)], law)

    assert doubted(chance, 600, 2500) > ALARM


@pytest.mark.slow
def test_released_orders_have_the_exact_law():
    rng = np.random.default_rng(52)
    for noise in NOISES:
        mechanism = Oneshot(3, 1.5, noise, n_items=3, ordered=True)
        law = order_law_of_three([2.0, 0.0, 1.5], 1.5, noise)

        def chance(draws, mechanism=mechanism, law=law):
            return p_value([tuple(mechanism.release([2.0, 0.0, 1.5], rng).items.tolist()) for _ in range(draws)], law)

        assert doubted(chance, 600, 2500) > ALARM


@pytest.mark.parametrize(("adjacency", "grain", "largest"), [("replace", 1.0, True), ("add_remove", 0.5, False)])
@pytest.mark.parametrize("noise", ["laplace", "exponential"])
@pytest.mark.slow
def test_published_sets_have_the_exact_discrete_law(noise, adjacency, grain, largest):
    """On halves where values move one way; exponential noise is memoryless, and no grid shows."""
    values = np.array([1, 0, 0, 1])
    mechanism = Oneshot(2, 0.4, noise, adjacency=adjacency, largest=largest, n_items=4)
    rng = np.random.default_rng(54)
    off = (0.4, 1.5 - grain) if noise == "laplace" else (0.5, grain)
    right, wrong = (
        grid_set_law(values if largest else -values, 2, scale, noise, unit, reach=12)
        for scale, unit in ((0.4, grain), off)
    )
    published = [tuple(mechanism.release(values, SECURE).items.tolist()) for _ in range(300)]
    assert p_value(published, right) > ALARM

    def chance(draws):
        options = {"grid": round(1 / grain), "largest": largest}
        seeded = [tuple(sorted(whole_top_k(values, 2, 0.4, noise, rng, **options).tolist())) for _ in range(draws)]
        return p_value(seeded, right)

    assert doubted(chance, 2500, 10_000) > ALARM > denied(right, wrong, 10_000)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.slow
def test_published_gumbel_sets_and_orders_have_their_law(largest):
    values = np.array([2, 0, 0, 1])
    right, wrong = (plackett_luce(values if largest else -values, 2, scale) for scale in (1.5, 0.75))
    ordered = Oneshot(2, 1.5, "gumbel", n_items=4, largest=largest, ordered=True)

    def chance(draws, mechanism=ordered, law=right):
        return p_value([tuple(mechanism.release(values, SECURE).items.tolist()) for _ in range(draws)], law)

    assert doubted(chance, 200, 600) > ALARM > denied(right, wrong, 600)
    sets = lambda draws: chance(draws, replace(ordered, ordered=False), unordered(right))  # noqa: E731
    assert doubted(sets, 200, 600) > ALARM
    all_of_them = replace(ordered, k=4)
    assert sorted(all_of_them.release(values, SECURE).items.tolist()) == [0, 1, 2, 3]
    assert replace(all_of_them, ordered=False).release(values, SECURE).items.tolist() == [0, 1, 2, 3]


def test_two_yardsticks_of_discrete_noise_agree():
    for grain in (1.0, 0.5):
        listed = grid_set_law([1, 0, 2], 2, 0.8, "laplace", grain)
        assert listed == pytest.approx(top_set_law([1, 0, 2], 0.8, 2, "discrete", grain), abs=1e-9)


@pytest.mark.parametrize(("adjacency", "grain"), [("replace", 1.0), ("add_remove", 0.5)])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.slow
def test_whole_exponential_noise_keeps_the_guarantee(adjacency, grain, k):
    mechanism = Oneshot(k, 0.8, "exponential", adjacency=adjacency, n_items=3)
    worst = 0.0
    for values in ([0, 0, 0], [5, 5, 0], [0, 1, 3]):
        here = np.array(list(grid_set_law(values, k, 0.8, "exponential", grain).values()))
        for x in neighbours(values, adjacency):
            there = np.array(list(grid_set_law(x, k, 0.8, "exponential", grain).values()))
            worst = max(worst, np.abs(np.log(here / there)).max())
    promised = mechanism.guarantee.epsilon
    assert 0.5 * promised < worst <= promised * (1 + 1e-6)


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("delta", [0.0, 0.3])
def test_discrete_noise_keeps_the_guarantee(adjacency, delta):
    mechanism = Oneshot(2, 1.7, adjacency=adjacency, delta=delta, n_items=5)
    grain = 1.0 if adjacency == "replace" else 0.5
    promised = mechanism.guarantee
    for values in ([0, 0, 0, 0, 0], [12, 12, 0, 0, 0], [0, 1, 1, 2, 3]):
        here = np.array(list(top_set_law(values, 1.7, 2, "discrete", grain).values()))
        for x in neighbours(values, adjacency):
            there = np.array(list(top_set_law(x, 1.7, 2, "discrete", grain).values()))
            above = np.maximum(here - math.exp(promised.epsilon) * there, 0).sum()
            assert above <= promised.delta + ROUNDING


def test_released_values_are_of_the_chosen_with_fresh_noise():
    values = np.array([50, 10, 40, 30, 20])
    mechanism, rng = Oneshot(3, 0.1, value_scale=2.0, n_items=5), np.random.default_rng(53)
    released = [mechanism.release(values, rng) for _ in range(2500)]
    assert {tuple(r.items.tolist()) for r in released} == {(0, 2, 3)}
    noise = np.array([r.values for r in released]) - values[[0, 2, 3]]
    cuts = np.r_[-2 * np.log(2), 0, 2 * np.log(2)]
    cells = np.bincount(np.searchsorted(cuts, noise.ravel()), minlength=4)
    assert law_p_value(cells, np.full(4, 0.25)) > ALARM
    smallest = replace(mechanism, largest=False).release(values, rng)
    assert smallest.items.tolist() == [1, 3, 4]
    assert np.abs(smallest.values - [10, 30, 20]).max() < 2 * 30
    published = mechanism.release(values, SECURE)
    assert published.items.tolist() == [0, 2, 3]
    assert (published.values == np.round(published.values)).all()
    assert mechanism.release(values, rng).items.dtype.kind == "i"
    assert replace(mechanism, value_scale=None).release(values, rng).values is None


def test_a_series_names_its_items():
    counts = pd.Series([5, 900, 700, 1], ["ash", "birch", "cedar", "dogwood"])
    released = Oneshot(2, 1.0, items=counts.index).release(counts, np.random.default_rng(0))
    assert released.items.tolist() == ["birch", "cedar"]
    best = Oneshot(2, 1.0, items=counts.index, ordered=True, largest=False).release(counts, np.random.default_rng(0))
    assert set(best.items.tolist()) == {"ash", "dogwood"}


LABELS = {
    "text": ["ash", "birch", "cedar", "dogwood", "elm"],
    "numbers": [3, 10, 7, 1, 2],
    "dates": pd.date_range("2020-01-01", periods=5),
    "mixed": ["ash", 3, (1, 2), 2.5, None],
    "sets": [frozenset(x) for x in ("a", "b", "ab", "c", "d")],
    "with NaN": pd.Index([2.0, math.nan, 1.0, 4.0, 3.0], dtype=object),
    "tuples": pd.MultiIndex.from_product([["b", "a"], [2, 1]]).append(pd.MultiIndex.from_tuples([("c", 0)])),
}


def tells_the_input(order, labels):
    """Whether the order of the input shows in the names that are released of it."""
    counts, rng = pd.Series([500, 400, 300, 200, 100], labels), np.random.default_rng(55)
    shuffles = [counts.iloc[rng.permutation(5)] for _ in range(8)]
    codes = [rng.permutation(5) for _ in shuffles]
    return (
        len(
            {
                tuple(map(str, named(x, order(x, c))))
                for x, c in zip([counts, *shuffles], [codes[0], *codes], strict=False)
            }
        )
        > 1
    )


@each("kind", LABELS)
def test_the_order_of_a_series_does_not_show(kind):
    assert not tells_the_input(unranked, LABELS[kind])
    assert tells_the_input(lambda _, codes: np.sort(codes), LABELS[kind])


def test_sorted_and_shuffled_counts_release_the_same():
    counts = pd.Series([900, 700, 800, 5, 1], ["cedar", "ash", "birch", "elm", "dogwood"])
    mechanism = Oneshot(3, 0.5, value_scale=0.5, items=counts.index)
    for series in (counts, counts.sort_values(), counts.sort_values(ascending=False)):
        for rng in (np.random.default_rng(0), SECURE):
            released = mechanism.release(series, rng)
            assert released.items.tolist() == ["ash", "birch", "cedar"]
            assert np.abs(released.values - [700, 800, 900]).max() < 20


def test_published_values_are_integers():
    mechanism = Oneshot(2, 1.0, value_scale=3.0, n_items=3)
    for values in ([5, 900, 700], [5.0, 900.0, 700.0]):
        assert mechanism.release(values, SECURE).values.dtype == np.int64
    assert mechanism.release([5, 900, 700], np.random.default_rng(0)).values.dtype == float


def test_seeds_reproduce():
    mechanism = Oneshot(5, 3.0, "gumbel", value_scale=2.0, n_items=3000)
    one, again, other = (mechanism.release(np.zeros(3000), np.random.default_rng(s)) for s in (1, 1, 2))
    assert one.items.tolist() == again.items.tolist() != other.items.tolist()
    assert one.values.tolist() == again.values.tolist()


# --- bad input --------------------------------------------------------------------------------------------------------


@each(
    ("words", "changed"),
    [
        (("k = 0",), {"k": 0}),
        (("k = -1",), {"k": -1}),
        (("k = 2.5",), {"k": 2.5}),
        (("k = 5", "1 to 4"), {"k": 5, "n_items": 4}),
        (("scale = 0",), {"scale": 0.0}),
        (("scale = nan",), {"scale": math.nan}),
        (("noise = 'normal'",), {"noise": "normal"}),
        (("sensitivity = 0",), {"sensitivity": 0.0}),
        (("adjacency = 'swap'",), {"adjacency": "swap"}),
        (("delta = 1",), {"delta": 1.0}),
        (("delta = -0.1",), {"delta": -0.1}),
        (("delta = nan",), {"delta": math.nan}),
        (("value_scale = 0",), {"value_scale": 0.0}),
        (("value_scale = inf",), {"value_scale": math.inf}),
        (("value_scale = 1e-308", "too little noise"), {"value_scale": 1e-308, "sensitivity": 10.0, "scale": 1e9}),
        (("n_items = 4.5", "integer"), {"n_items": 4.5}),
        (("n_items = 0",), {"n_items": 0}),
        (("n_items = True",), {"n_items": True}),
        (("k = True",), {"k": True}),
        (("k = '2'",), {"k": "2"}),
        (("scale = '1'",), {"scale": "1"}),
        (("scale = inf",), {"scale": math.inf}),
        (("sensitivity = None",), {"sensitivity": None}),
        (("delta = None",), {"delta": None}),
        (("delta = '1'",), {"delta": "1"}),
        (("sensitivity = '1'",), {"sensitivity": "1"}),
        (("value_scale = '1'",), {"value_scale": "1"}),
        (("n_items = '4'",), {"n_items": "4"}),
        (("largest = 1",), {"largest": 1}),
        (("ordered = 'no'",), {"ordered": "no"}),
        (("per_person = 0",), {"per_person": 0}),
        (("per_person = 1.5",), {"per_person": 1.5}),
        (("per_person = '1'",), {"per_person": "1"}),
        (("per_person = True",), {"per_person": True}),
    ],
)
def test_bad_parameters_are_refused(words, changed):
    with refused(*words):
        Oneshot(**({"k": 2, "scale": 1.0} | changed))


@each(
    ("words", "changed"),
    [
        (("k = 0",), {"k": 0}),
        (("k = 9", "1 to 8"), {"k": 9, "n_items": 8}),
        (("epsilon = 0",), {"epsilon": 0.0}),
        (("epsilon = -1",), {"epsilon": -1.0}),
        (("epsilon = nan",), {"epsilon": math.nan}),
        (("delta = 1",), {"delta": 1.0}),
        (("delta = -1e-06",), {"delta": -1e-6}),
        (("epsilon = inf",), {"epsilon": math.inf}),
        (("epsilon = '1'",), {"epsilon": "1"}),
        (("n_items = 8.5",), {"n_items": 8.5}),
        (("sensitivity = -1",), {"sensitivity": -1}),
        (("values = 1", "True or False"), {"values": 1}),
        (("delta = '1'",), {"delta": "1"}),
    ],
)
def test_bad_calibrations_are_refused(words, changed):
    with refused(*words):
        Oneshot.calibrated(**({"k": 2, "epsilon": 0.1} | changed))


def test_scales_are_computed_and_all_is_said_by_name():
    for scale in ("scale", "value_scale"):
        with pytest.raises(TypeError, match=scale):
            Oneshot.calibrated(epsilon=1.0, k=2, **{scale: 2.0})
    with pytest.raises(TypeError, match="positional"):
        Oneshot.calibrated(2, 1.0)
    with pytest.raises(TypeError, match="epsilon"):
        Oneshot.calibrated(k=2)


@each("share", [0.0, 1.0, math.nan, "1"])
@each("values", [True, False])
def test_a_share_of_all_or_nothing_is_refused(share, values):
    with refused("share = ", str(share), "(0, 1)"):
        Oneshot.calibrated(epsilon=1.0, k=2, values=values, share=share)


def test_a_share_of_no_values_is_refused():
    with refused("share = 0.3", "values = False"):
        Oneshot.calibrated(epsilon=1.0, k=2, share=0.3)


@NOISE
@each("delta", [0.0, 1e-3])
def test_where_nothing_is_chosen_values_have_all_of_epsilon(noise, delta):
    mechanism = Oneshot.calibrated(epsilon=1.0, delta=delta, n_items=4, k=4, noise=noise, values=True)
    alone = replace(mechanism, delta=0.0)
    assert 1 - 1e-6 < mechanism.guarantee.epsilon <= 1
    assert mechanism.value_scale == 4 if delta == 0 else mechanism.value_scale <= 4 <= 4 * alone.guarantee.epsilon


@each(
    ("words", "parameters", "values"),
    [
        (("values[1] is missing or infinite",), {}, [1, math.nan, 3]),
        (("values[0] is missing or infinite",), {}, [-math.inf, 2, 3]),
        (("values are a dict", "a Series"), {}, {"ash": 1, "birch": 2}),
        (("values have 0 dimensions",), {}, 3),
        (("values have 2 dimensions",), {}, [[1, 2, 3]]),
        (("dtype",), {}, ["a", "b", "c"]),
        (("dtype bool",), {}, [True, False, True]),
        (("dtype object",), {}, [1, None, 3]),
    ],
)
@each("rng", [np.random.default_rng(0), SECURE])
def test_bad_values_are_refused(words, parameters, values, rng):
    with refused(*words):
        Oneshot(**({"k": 2, "scale": 1.0, "n_items": 3} | parameters)).release(values, rng)


TREES = ["ash", "birch", "cedar"]


@each(
    ("words", "parameters", "values"),
    [
        (("sensitivity = 0.5",), {"sensitivity": 0.5}, [1, 2, 3]),
        (("sensitivity = 0.5",), {"sensitivity": 0.5, "noise": "gumbel"}, [1, 2, 3]),
        (("values[0] is none", "integers"), {"noise": "gumbel"}, [1.5, 2, 3]),
        (("values[0] is none", "integers"), {"noise": "exponential"}, [1.5, 2, 3]),
        (("values[1] is none", "integers"), {}, [1, 2.5, 3]),
        (("values[2] is none", "2^51"), {}, [1, 2, 2**52]),
        (("values[1] is none", "2^51"), {"items": TREES}, pd.Series([1, 2.5, 3], TREES)),
    ],
)
def test_floats_are_not_published(words, parameters, values):
    with refused(*words):
        Oneshot(2, 1.0, **{"n_items": 3} | parameters).release(values, SECURE)


@pytest.mark.parametrize("dtype", ["float", "Int64"])
def test_missing_values_are_refused(dtype):
    with refused("values[1] is missing"):
        Oneshot(1, 1.0, items=TREES).release(pd.Series([3, None], TREES[:2], dtype), np.random.default_rng(0))


def test_numbers_of_numpy_are_as_good_as_pythons():
    small = Oneshot(
        np.int8(100), np.float32(0.5), sensitivity=np.int8(3), n_items=np.int16(30_000), delta=np.float32(0)
    )
    assert small == Oneshot(100, 0.5, sensitivity=3, n_items=30_000)
    assert small.guarantee == Oneshot(100, 0.5, sensitivity=3, n_items=30_000).guarantee


@pytest.mark.parametrize("rng", [None, 7, np.random.RandomState(0)], ids=lambda rng: type(rng).__name__)
def test_other_sources_of_noise_are_refused(rng):
    with refused("rng = "):
        Oneshot(2, 1.0, n_items=3).release([1, 2, 3], rng)


def test_approximate_promises_are_rounded_up():
    """Delta is not passed by an ulp: the bound at the promised epsilon, with the shift rounded up."""
    rng = np.random.default_rng(44)
    for _ in range(30):
        k, delta = int(rng.integers(20, 3000)), float(10 ** rng.uniform(-12, -2))
        scale = float(rng.uniform(1, 40) * math.sqrt(k))
        mechanism = Oneshot(k, scale, delta=delta)
        promised = mechanism.guarantee
        if promised.delta:
            assert _fits(k, ratio_up(1.0, scale), promised.epsilon, delta)
            assert log_delta(k, ratio_up(1.0, scale), promised.epsilon) > math.log(delta)


@pytest.mark.parametrize(("adjacency", "step"), [("replace", 1.0), ("add_remove", 0.5)])
def test_one_of_two_is_right_as_often_as_noise_on_its_grid_lets_it(adjacency, step):
    mechanism = Oneshot.calibrated(epsilon=1.0, n_items=2, k=1, adjacency=adjacency)
    mass = np.exp(-np.abs(np.arange(-300, 301)) * step / mechanism.scale)
    ahead = np.convolve(mass, mass) / mass.sum() ** 2  # of the better one's noise over the other's, in steps
    for gap in (0, 1, 3):
        zero = len(ahead) // 2 - round(gap / step)
        right = ahead[zero + 1 :].sum() + ahead[zero] / 2
        assert mechanism.chance_right(gap) == pytest.approx(right, abs=1e-9)


@each("noise", ["laplace", "exponential", "gumbel"])
def test_noise_wider_than_can_be_drawn_is_refused_when_it_is_calibrated(noise):
    """On halves that is half of the widest; Gumbel noise has no grid, and no end. Values have Laplace noise always."""
    ask = partial(Oneshot.calibrated, n_items=5, noise=noise)
    least = 4 / (WIDEST / 2)  # two items, each lost at twice the sensitivity
    assert ask(epsilon=least * 1.01, k=2).scale < WIDEST / 2
    if noise == "gumbel":
        assert ask(epsilon=least * 0.99, k=2).scale > WIDEST / 2
    else:
        with refused(f"epsilon = {least * 0.99}; noise of scale 5.686e+14 would be needed, at most 5.629e+14 can be"):
            ask(epsilon=least * 0.99, k=2)
    every = 5 / (WIDEST / 2)  # all five are chosen for nothing, and their values shown
    assert ask(epsilon=every * 1.01, k=5, values=True).value_scale < WIDEST / 2
    with refused("noise of scale 5.686e+14 would be needed, at most 5.629e+14 can be"):
        ask(epsilon=every * 0.99, k=5, values=True)


def test_chances_of_a_number_of_items_that_is_not_declared_are_not_told():
    for call in (lambda: Oneshot(2, 4.0).chance_right(3), lambda: Oneshot(2, 4.0).gap_needed()):
        with refused("n_items = None; how likely"):
            call()


def test_unless_told_the_largest_are_chosen_as_a_set_of_replaced_records_by_laplace_noise():
    plain = Oneshot.calibrated(epsilon=1.0, n_items=9, k=2)
    assert plain == Oneshot(2, plain.scale, "laplace", n_items=9, largest=True, ordered=False, adjacency="replace")
    assert plain.guarantee == Oneshot(2, plain.scale, n_items=9).guarantee


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "exponential"])
def test_places_that_tie_go_to_any_of_them_in_any_order(noise):
    """Noise next to none: one item is ahead, four tie for the other two places. Right laws fail once in 10^9 runs."""
    values = np.array([3, 7, 3, 3, 3])
    seen = Counter(tuple(whole_top_k(values, 3, 1e-3, noise, SECURE, grid=1).tolist()) for _ in range(2400))
    orders = [(1, *rest) for rest in permutations([0, 2, 3, 4], 2)]
    assert seen.keys() <= set(orders)
    assert law_p_value([seen[it] for it in orders], np.full(12, 1 / 12)) > 1e-9
    tied = Counter(tuple(whole_top_k(np.ones(3, int), 2, 1e-3, noise, SECURE, grid=1).tolist()) for _ in range(1200))
    assert law_p_value([tied[it] for it in permutations(range(3), 2)], np.full(6, 1 / 6)) > 1e-9
    ahead = Counter(
        tuple(whole_top_k(np.array([5, 5, 3]), 3, 1e-3, noise, SECURE, grid=1).tolist()) for _ in range(600)
    )
    assert law_p_value([ahead[it] for it in [(0, 1, 2), (1, 0, 2)]], [0.5, 0.5]) > 1e-9
