"""Pure privacy of the one-shot mechanism against brute force, closed forms and deliberately broken twins."""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from checks import each, patch_all, refused
from dp_accounting import get_sigma_gaussian
from scipy.integrate import quad

from companion.chapters.private_top_k import order_and_values, pure
from companion.instruments.topk import noise_grid
from companion.ledger.claim import derive
from dprank.audit import privacy_loss
from dprank.pairwise.rank_law import top_set_law
from dprank.privacy.composition import rho, zcdp
from dprank.topk.bound import shift_for

NOISES = ("laplace", "gumbel", "exponential")
MOVES = {"any direction": (-1, 0, 1), "all one way": (0, 1)}


def falls(checks, about="printed"):
    """Whether a check about the statement is false."""
    return any(check.outcome is False for check in checks if check.about == about)


# --- quadratures -----------------------------------------------------------------------------------------------------


@each("noise", NOISES)
@each("k", [1, 2, 3])
def test_lists_sum_to_their_set(noise, k):
    values = np.array([0.0, -1.5, 0.7, 2.0])
    orders = [[*order, *range(k, 4)] for order in permutations(range(k))]
    lists = sum(math.exp(pure.log_list_chance(values[order], k, noise)) for order in orders)
    assert lists == pytest.approx(math.exp(pure.log_set_chance(values, k, noise)), rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_gumbel_list_is_plackett_luce(k):
    values = np.array([0.0, -1.5, 0.7, 2.0])
    weight = np.exp(values)
    expected = np.prod([weight[i] / weight[i:].sum() for i in range(k)])
    assert math.exp(pure.log_list_chance(values, k, "gumbel")) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("gap", [0.0, 0.5, 4.0, 100.0])
def test_two_items_in_closed_form(gap):
    laplace = math.log1p(gap / 2) - gap - math.log(2)
    assert pure.log_set_chance([-gap, 0.0], 1) == pytest.approx(laplace, abs=1e-10)
    assert pure.log_set_chance([-gap, 0.0], 1, "exponential") == pytest.approx(-gap - math.log(2), abs=1e-10)
    loss = pure.found_loss("set", 2, 1, 0.3, "any direction", gap=gap)
    assert loss == pytest.approx(0.6 - math.log1p(0.6 / (2 + gap)), abs=1e-9)


# --- pure losses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", MOVES)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.slow
def test_lattice_loss_is_that_over_all_neighbours(adjacency, k):
    def law(counts):
        return [*top_set_law(counts, 2.0, k).values()]

    neighbours = [
        (x, np.add(x, move)) for x in product(range(3), repeat=3) for move in product(MOVES[adjacency], repeat=3)
    ]
    brute = max(privacy_loss(law(x), law(y)) for x, y in neighbours)
    # brute force starts in 0 .. 2, ours goes one way from there only
    assert pure.lattice_loss(3, k, 2.0, 2, adjacency) <= brute + 1e-9
    assert brute <= pure.lattice_loss(3, k, 2.0, 4, adjacency) + 1e-9


@each("adjacency", MOVES)
@each("k", [1, 2, 3])
@pytest.mark.slow
def test_no_list_of_three_loses_more_than_the_supremum(adjacency, k):
    shift = 0.5
    chance = cache(lambda *values: pure.log_list_chance(values, k))
    plain, shown = [], []
    for x in product((0.0, 6.0), repeat=3):
        for move in product(MOVES[adjacency], repeat=3):
            plain.append(abs(chance(*x) - chance(*np.add(x, np.multiply(shift, move)))))
            shown.append(plain[-1] + shift * np.abs(move[:k]).sum())
    for release, losses in (("list", plain), ("list, fresh values", shown)):
        supremum = shift * pure.supremum(release, 3, k, adjacency)
        assert 0.8 * supremum < max(losses) <= supremum + 1e-9


@each(("m", "k"), [(m, k) for m in (2, 3, 4, 5) for k in range(1, m + 1)])
@pytest.mark.slow
def test_suprema_are_approached_and_not_passed(m, k):
    frame = pure.suprema(m, k, 0.25)
    assert (frame.found <= frame.supremum + 1e-9).all()
    assert (frame.found >= frame.supremum - 0.02 * frame.supremum.clip(lower=1e-9)).all()


@pytest.mark.parametrize(("k", "laplace", "others"), [(1, 2, 2), (2, 4, 4), (3, 4, 6), (4, 2, 8)])
def test_only_laplace_noise_gains_from_few_left_out(k, laplace, others):
    row = pure.noise_laws(5, 0.5).set_index("k").loc[k]
    assert row.to_list() == pytest.approx([laplace, others, others], rel=0.01)


@pytest.mark.parametrize(("adjacency", "others"), [("any direction", 1), ("all one way", 0)])
def test_index_and_fresh_value_by_their_joint_density(adjacency, others):
    shift, gap = 0.5, 5.0
    values = np.linspace(-40, 40, 4001)

    def log_density(x):
        return pure.log_set_chance(x, 1) - np.abs(values - x[0])

    before = np.array([-gap, 0.0])
    after = before + shift * np.array([-1, others])
    ratio = np.abs(log_density(before) - log_density(after)).max()
    release = "set, fresh values"
    assert ratio == pytest.approx(pure.found_loss(release, 2, 1, shift, adjacency, gap=gap), rel=1e-9)
    if adjacency == "any direction":
        start = pure.found_loss(release, 2, 1, shift, adjacency, gap=0.0)
        assert pure.pair_loss(pure.EQUAL, pure.APART, 1, shift) == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_own_noisy_maximum_by_its_density(m):
    shift, values = 0.3, np.linspace(-30, 30, 601)
    law = pure.LAWS["laplace"]

    def log_density(x):
        return law.log_density(values - x[0]) + sum(law.log_below(values - y) for y in x[1:])

    before = np.linspace(0, 1, m)
    losses = [
        np.abs(log_density(before) - log_density(before + shift * np.array(move))).max()
        for move in product((-1, 0, 1), repeat=m)
    ]
    assert max(losses) == pytest.approx(m * shift, rel=1e-12)
    assert pure.found_loss("set, own noisy values", m, 1, shift, "all one way") == pytest.approx(m * shift)


# --- approximate privacy ---------------------------------------------------------------------------------------------


def test_order_of_two_equal_items_in_closed_form():
    ahead = 1 - math.exp(-0.4) * 1.2 / 2
    row = order_and_values.order_deltas([0.0, 0.0], 1, 0.2, [0.1]).iloc[0]
    # the other way round e^-epsilon / 2 is compared with what is left
    expected = max(ahead - math.exp(0.1) / 2, 0.5 - math.exp(0.1) * (1 - ahead))
    assert row["δ of the set"] == pytest.approx(expected, rel=1e-9)
    assert row["δ of the ordered list"] == pytest.approx(expected, rel=1e-9)


def test_own_value_delta_against_adaptive_quadrature():
    def density(v, c):
        below = math.exp(v - c) / 2 if v < c else 1 - math.exp(c - v) / 2
        return 3 * math.exp(-abs(v - c)) / 2 * below**2

    expected = quad(lambda v: max(density(v, 0) - math.exp(0.5) * density(v, 0.3), 0), -40, 40, limit=500)[0]
    other = quad(lambda v: max(density(v, 0) - math.exp(0.5) * density(v, -0.3), 0), -40, 40, limit=500)[0]
    assert order_and_values.own_value_delta(3, 0.3, 0.5) >= max(expected, other) - 1e-6
    assert order_and_values.own_value_delta(3, 0.3, 0.9) == pytest.approx(0, abs=1e-9)  # beyond the pure loss


def test_room_for_one_item_and_a_twin_that_moves_too_far(monkeypatch):
    alpha = 0.5 * math.log1p(math.exp(-0.5)) / 0.5
    assert order_and_values.item_room(10, 0.5, alpha)[0] >= -1e-12
    grid = noise_grid
    monkeypatch.setattr(order_and_values, "noise_grid", lambda values, noise: grid(1.2 * np.array(values), noise))
    assert order_and_values.item_room(10, 0.5, alpha)[0] < -1e-3


@pytest.mark.parametrize(("threshold", "list_too"), [(-1.0, False), (3.0, True)])
def test_sets_above_a_value_are_choices_of_each_item_and_lists_are_not(threshold, list_too):
    values = [0.0, 1.0, 2.0, 3.0]
    assert abs(order_and_values.cross_ratio(values, threshold, order=False)) < 1e-12
    # above all values Laplace tails have no memory: the order is a fair coin
    assert (abs(order_and_values.cross_ratio(values, threshold, order=True)) < 1e-12) == list_too


def test_cross_ratio_of_lists_by_adaptive_quadrature():
    x, v = [0.0, 1.0, 2.0, 3.0], 0.5

    def first_of_two(i, j):
        return quad(
            lambda z: math.exp(-abs(z - x[j])) / 2 * -math.expm1(pure.LAWS["laplace"].log_below(z - x[i])),
            v,
            40,
            points=x,
        )[0]

    pairs = [(0, 1), (2, 3), (0, 3), (2, 1)]
    logs = [math.log(first_of_two(*pair)) for pair in pairs]
    assert order_and_values.cross_ratio(x, v, order=True) == pytest.approx(
        logs[0] + logs[1] - logs[2] - logs[3], rel=1e-6
    )


@pytest.mark.slow
def test_choices_that_hang_together_are_noticed(monkeypatch):
    ratio = order_and_values.cross_ratio
    for always in (True, False):
        monkeypatch.setattr(order_and_values, "cross_ratio", lambda x, v, order, always=always: ratio(x, v, always))
        assert derive(order_and_values.check_set_only()) == "refuted"


def test_values_after_gumbel_noise_spend_all_of_the_budget():
    frame = order_and_values.value_costs((5, 40), 0.5, 1e-5)
    costs = frame["Gumbel, fresh values, δ = 1e-05"]
    for k, scale in zip(frame.k, costs, strict=True):
        assert zcdp(rho(k, 2 / scale, True) + rho(k, 1 / scale), 1e-5) == pytest.approx(0.5, rel=1e-6)
    own, gumbel = order_and_values.values_pay(0.5, 1e-5)
    at = order_and_values.value_costs((own - 1, own, gumbel - 1, gumbel), 0.5, 1e-5).to_numpy()
    assert (at[:2, 2] < at[:2, 1]).tolist() == (at[2:, 3] < at[2:, 1]).tolist() == [False, True]


def test_own_noisy_values_beat_a_small_second_phase():
    frame = order_and_values.second_phase((0.05, 1.0), 1000, 100, 0.2, 1e-6)
    worse = frame["Theorem 2.2, Gaussian scores"] > frame["own noisy values"]
    assert worse.tolist() == [True, False]
    alone = order_and_values.second_phase((1.0,), 10, 1, 0.2, 1e-6).iloc[0]
    assert alone["own noisy values"] == pytest.approx(1 / shift_for(1, 0.4, 2e-6))


# --- Gaussian scores -------------------------------------------------------------------------------------------------


def test_largest_of_one_and_two_gaussians():
    assert order_and_values.mean_largest(1) == pytest.approx(math.sqrt(2 / math.pi), rel=1e-8)
    assert order_and_values.mean_largest(2) == pytest.approx(2 / math.sqrt(math.pi), rel=1e-8)


# --- checks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0, 5.0])
@pytest.mark.slow
def test_verdicts_do_not_hang_on_epsilon(epsilon):
    assert derive(pure.check_noisy_min(epsilon)) == "refuted"
    assert derive(pure.check_theorem_2_1((epsilon,), 3, 2)) == "holds"
    assert derive(pure.check_pure_k(epsilon)) == "depends on the reading"


@each(("name", "verdict"), [("lattice_loss", "refuted"), ("_behind_loss", "true but empty")])
def test_half_the_noise_breaks_theorem_2_1_and_twice_the_noise_leaves_it_loose(monkeypatch, name, verdict):
    true = getattr(pure, name)
    with monkeypatch.context() as patch:
        patch.setattr(pure, name, lambda m, k, at, *rest: true(m, k, at / 2, *rest))
        assert derive(pure.check_theorem_2_1((1.0,), 3, 2)) == verdict


def test_twins_that_move_one_way_only_refute_nothing(monkeypatch):
    monkeypatch.setitem(pure.WORST_MOVE, "any direction", (-1.0, 0.0))
    patch_all(monkeypatch, (pure, order_and_values), "APART", lambda _: pure.ONE_UP)
    assert not falls(order_and_values.check_algorithm_1(1.0))
    assert derive(pure.check_pure_k(1.0)) == "holds"
    assert derive(pure.check_adjacency(1.0)) == "holds"


def test_one_sided_hockey_stick_is_noticed(monkeypatch):
    monkeypatch.setattr(order_and_values, "hockey_stick", lambda p, q, epsilon: float(np.abs(np.subtract(p, q)).sum()))
    assert falls(order_and_values.check_definition(0.5, 20))


def test_halved_losses_are_noticed(monkeypatch):
    halved = lambda found: lambda *args, **more: found(*args, **more) / 2  # noqa: E731
    for name in ("found_loss", "pair_loss"):
        patch_all(monkeypatch, (pure, order_and_values), name, halved)
    assert falls(pure.check_noisy_min(1.0), "corrected")
    assert derive(order_and_values.check_fresh_noise(1.0)) == "refuted"
    assert derive(order_and_values.check_algorithm_1(1.0)) == "holds"


@pytest.mark.slow
def test_order_that_costs_more_than_is_promised_is_noticed(monkeypatch):
    for name in ("order_spare", "values_spare"):
        monkeypatch.setattr(order_and_values, name, lambda: 0.9)
    assert falls(order_and_values.check_set_only(), "corrected")
    assert falls(order_and_values.check_algorithm_1(1.0), "corrected")


def test_gaussian_noise_that_spends_too_much_is_noticed(monkeypatch):
    sigma = get_sigma_gaussian
    monkeypatch.setattr(order_and_values, "get_sigma_gaussian", lambda *args: 0.9 * sigma(*args))
    assert derive(order_and_values.check_gaussian(1.0, 1e-6)) == "refuted"


def test_bad_input_is_refused():
    for chance in (pure.log_set_chance, pure.log_list_chance):
        for k in (0, 3):
            with refused(f"k = {k}", "1 .. 2"):
                chance([0.0, 1.0], k)
    with refused("release = 'sets'", "'list'"):
        pure.supremum("sets", 3, 1, "any direction")
    with refused("adjacency = 'replace'", "any direction"):
        pure.supremum("set", 3, 1, "replace")
    with refused("alpha = 5"):
        order_and_values.item_room(2, 1.0, 5)
