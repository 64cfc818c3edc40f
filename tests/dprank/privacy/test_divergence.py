"""Laws of vectors of noise against integrals, listed outcomes and `dp-accounting`. Nothing here is random."""

from __future__ import annotations

import logging
import math
from functools import reduce
from itertools import combinations, pairwise

import numpy as np
import pytest
from checks import each, refused
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import integrate, stats

from dprank.privacy import divergence
from dprank.privacy.divergence import (
    GaussianShift,
    LaplaceShift,
    PairLaw,
    discrete_gaussian_shift,
    discrete_laplace_shift,
    noise_shift,
    pair_of,
)
from dprank.privacy.gaussian import gaussian_epsilon

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 1.7])


# --- Laplace ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.01, 0.7, 1.5, 8.0, 60.0])
def test_one_laplace_number_has_its_closed_form(a):
    epsilons = np.r_[EPSILONS, 0.999 * a, a, 1.1 * a]
    for shift in (LaplaceShift([a], 1.0), LaplaceShift([0.0, -3 * a], 3.0)):
        wanted = np.maximum(0, -np.expm1((epsilons - a) / 2))
        assert shift.delta(epsilons) == pytest.approx(wanted, rel=1e-12, abs=1e-15)
        assert shift.epsilon(0.0) == pytest.approx(a, rel=1e-15)
        for delta in (0.001, 0.2):
            assert shift.epsilon(delta) == pytest.approx(max(0, a + 2 * math.log1p(-delta)), rel=1e-12, abs=1e-12)


@each("moves", [(1.0, 1.0), (1.0, 2.0), (0.5, 1.25)])
@each("epsilon", [0.0, 0.3, 0.9])
def test_two_laplace_numbers_against_a_double_integral(moves, epsilon):
    a, b = moves
    # the loss of the second number integrated in closed form, that of the first by quadrature between its kinks
    second = LaplaceShift([b], 1.0)

    def inner(left):
        if left < -b:
            return -math.expm1(left)
        return (
            float(second.delta(left)) if left >= 0 else -math.expm1(left) + math.exp(left) * float(second.delta(-left))
        )

    def at(x):
        return 0.5 * math.exp(-abs(x)) * inner(epsilon - (abs(x - a) - abs(x)))

    # where the first number's loss makes the second's a kink
    kinks = sorted({0.0, a, *(min(max((a - epsilon + s * c) / 2, 0), a) for s in (-1, 1) for c in (0, b))})
    total = 0.5 * inner(epsilon - a) + 0.5 * math.exp(-a) * inner(epsilon + a)
    total += sum(integrate.quad(at, x, y, epsabs=1e-14)[0] for x, y in pairwise(kinks))
    assert float(LaplaceShift(moves, 1.0).delta(epsilon)) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize(
    ("moves", "scale"), [((1, 1, 2), 3.0), ((1,) * 6, 4.0), ((0.5, 1.5, 3), 2.0), ((1,) * 45, 20.0)]
)
def test_laplace_vectors_lie_in_the_bracket_of_dp_accounting(moves, scale):
    logging.disable(logging.WARNING)  # rounding down is done in another way, it says
    high, low = (
        reduce(
            lambda a, b: a.compose(b),
            [
                pld.from_laplace_mechanism(
                    scale, sensitivity=move, pessimistic_estimate=up, value_discretization_interval=1e-3
                )
                for move in moves
            ],
        )
        for up in (True, False)
    )
    logging.disable(logging.NOTSET)
    ours = LaplaceShift(moves, scale)
    for epsilon, delta in zip(EPSILONS, ours.delta(EPSILONS), strict=True):
        assert low.get_delta_for_epsilon(epsilon) <= delta + 1e-12
        assert delta <= high.get_delta_for_epsilon(epsilon) + 1e-12
        if delta > 0:
            assert ours.epsilon(delta) == pytest.approx(epsilon, rel=1e-9, abs=1e-12)


def test_laplace_is_the_limit_of_ever_finer_whole_noise():
    moves, scale = np.array([1, 1, 2, 3]), 2.5
    coarse, fine = (discrete_laplace_shift(n * moves, n * scale).delta(EPSILONS) for n in (40, 80))
    exact = LaplaceShift(moves, scale).delta(EPSILONS)
    assert (fine > exact).all()
    assert (4 * fine - coarse) / 3 == pytest.approx(exact, rel=1e-7)


def test_order_signs_zeros_and_the_unit_change_nothing():
    wanted = LaplaceShift([1, 2, 3], 2.0).delta(EPSILONS)
    for moves, scale in (([3, -1, 0, 2], 2.0), ([0.1, 0.2, 0.3], 0.2), ([1 / 3, 2 / 3, 1.0], 2 / 3)):
        assert LaplaceShift(moves, scale).delta(EPSILONS) == pytest.approx(wanted, rel=1e-12)
    assert LaplaceShift([], 1.0).delta(EPSILONS).tolist() == [0] * len(EPSILONS)
    assert LaplaceShift([0.0], 1.0).epsilon(0.0) == 0
    # without a delta moves need no grid
    assert LaplaceShift([1.0, math.pi], 2.0).epsilon(0.0) == (1 + math.pi) / 2


def test_no_delta_is_negative_though_sums_may_round_below_0(monkeypatch):
    monkeypatch.setattr(LaplaceShift, "_delta", lambda self, epsilon: -2.5e-86)
    assert LaplaceShift([1.0], 1.0).delta([0.5, 2.0]).tolist() == [0, 0]


def test_many_moves_neither_overflow_nor_lose_digits():
    shift = LaplaceShift([1.0] * 100, 0.5)
    assert shift.epsilon(0.0) == 200
    fine, coarse = (discrete_laplace_shift([n] * 100, n / 2) for n in (64, 32))
    epsilons = np.array([0.0, 100.0, 150.0, 180.0])
    limit = (4 * fine.delta(epsilons) - coarse.delta(epsilons)) / 3
    assert shift.delta(epsilons) == pytest.approx(limit, rel=2e-4)
    # all numbers beyond their centres: the atom of the largest loss
    assert float(shift.delta(199.0)) > 0.5**100 * -math.expm1(-1)


@each("n", [1, 7, 60])
def test_the_mass_that_is_kept_of_many_moves_is_1(n):
    """Else that of a thousand, 2^1000 say, were no float; in atoms is what no number between its centres has."""
    atoms, log_mass = LaplaceShift([1.0] * n, 4.0)._law[1::2]
    assert atoms.sum() == pytest.approx((1 + 1 / 8) ** -n, rel=1e-12)
    assert log_mass == pytest.approx(n * (math.log1p(1 / 8) - 1 / 8), rel=1e-12)


def test_bad_laplace_input():
    with refused("scale"):
        LaplaceShift([1.0], 0.0)
    with refused("moves"):
        LaplaceShift([math.inf], 1.0)
    with refused("moves"):
        LaplaceShift([1.0, math.pi], 1.0).delta(0.1)
    with refused("delta"):
        LaplaceShift([1.0], 1.0).epsilon(1.0)


# --- whole noise -----------------------------------------------------------------------------------------------------


def listed(law, moves, reach):
    """Delta by all outcomes within reach of a product law."""
    x = np.arange(-reach, reach + 1)
    p = reduce(np.multiply.outer, [law(x) for _ in moves]).ravel()
    q = reduce(np.multiply.outer, [law(x - move) for move in moves]).ravel()
    return [float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for epsilon in EPSILONS]


@each("moves", [(1,), (4,), (1, 2), (2, -2), (3, 0, 1)])
@each("scale", [0.5, 2.0])
def test_discrete_laplace_vectors_against_listed_outcomes(moves, scale):
    law = discrete_laplace_shift(moves, scale)
    brute = listed(lambda x: np.tanh(0.5 / scale) * np.exp(-np.abs(x) / scale), moves, int(34 * scale) + 4)
    assert law.delta(EPSILONS) == pytest.approx(brute, rel=1e-9, abs=1e-13)
    assert law.epsilon(0.0) == pytest.approx(np.abs(moves).sum() / scale, rel=1e-12)
    assert np.exp(law.log_p).sum() == pytest.approx(1, rel=1e-12)
    assert np.exp(law.log_q).sum() == pytest.approx(1, rel=1e-12)


@each("moves", [(1,), (4,), (1, 2), (2, -4), (3, 0, 1), (2, 5)])
@each("scale", [0.4, 2.0])
def test_discrete_gaussian_vectors_against_listed_outcomes(moves, scale):
    law = discrete_gaussian_shift(moves, scale)
    everywhere = np.exp(-(np.arange(-200.0, 201) ** 2) / (2 * scale**2)).sum()
    brute = listed(lambda x: np.exp(-(x**2) / (2 * scale**2)) / everywhere, moves, int(9 * scale) + 6)
    assert law.delta(EPSILONS) == pytest.approx(brute, rel=1e-9, abs=1e-13)
    assert np.exp(law.log_p).sum() == pytest.approx(1, rel=1e-12)
    assert np.exp(law.log_q).sum() == pytest.approx(1, rel=1e-12)
    assert law.epsilon(0.0) == math.inf


@pytest.mark.parametrize("moves", [(1, 1, 2), (1,) * 10])
def test_whole_noise_agrees_with_dp_accounting(moves):
    scale = 2.0  # losses are then multiples of a float, and theirs need no rounding
    pairs = [
        (
            discrete_laplace_shift(moves, scale),
            [
                pld.from_discrete_laplace_mechanism(1 / scale, sensitivity=m, value_discretization_interval=1 / scale)
                for m in moves
            ],
        ),
        (
            discrete_gaussian_shift(moves, scale),
            [
                pld.from_discrete_gaussian_mechanism(
                    scale, sensitivity=m, value_discretization_interval=1 / (2 * scale**2)
                )
                for m in moves
            ],
        ),
    ]
    for ours, theirs in pairs:
        together = reduce(lambda a, b: a.compose(b), theirs)
        for epsilon in EPSILONS:
            assert float(ours.delta(epsilon)) == pytest.approx(together.get_delta_for_epsilon(epsilon), rel=1e-7)
        assert ours.epsilon(1e-6) == pytest.approx(together.get_epsilon_for_delta(1e-6), rel=1e-6)


def test_wide_whole_gaussian_noise_is_gaussian_noise():
    law, real = discrete_gaussian_shift([20, 20], 60.0), GaussianShift(math.sqrt(800), 60.0)
    assert law.delta(EPSILONS) == pytest.approx(real.delta(EPSILONS), rel=1e-3)
    assert law.epsilon(1e-6) == pytest.approx(gaussian_epsilon(math.sqrt(800), 60.0, 1e-6), rel=1e-3)


def test_the_privacy_of_whole_gaussian_noise_is_concentrated():
    moves, scale = (1, 1, 2), 3.0
    law = discrete_gaussian_shift(moves, scale)
    within = PairLaw(law.log_p[:-2], law.log_q[:-2])
    assert within.rho(most=50) <= np.dot(moves, moves) / (2 * scale**2) * (1 + 1e-9)


def test_a_shorter_reach_is_counted_as_lost(monkeypatch):
    exact = discrete_gaussian_shift([1, 1], 2.0).delta(EPSILONS)
    monkeypatch.setattr(divergence, "REACH", 3.0)
    short = discrete_gaussian_shift([1, 1], 2.0).delta(EPSILONS)
    assert (short >= exact).all()
    assert short == pytest.approx(exact, abs=8 * stats.norm.sf(3.0))


@pytest.mark.parametrize("of", [discrete_laplace_shift, discrete_gaussian_shift])
def test_bad_whole_input(of):
    with refused("moves"):
        of([0.5], 1.0)
    with refused("moves"):
        of([[1]], 1.0)
    with refused("scale"):
        of([1], -1.0)
    assert of([0, 0], 1.0).epsilon(0.0) == 0


# --- faults in these laws would show ---------------------------------------------------------------------------------


def test_signs_of_moves_do_not_cancel():
    for of in (discrete_laplace_shift, discrete_gaussian_shift):
        assert of([2, -2], 3.0).delta(EPSILONS) == pytest.approx(of([2, 2], 3.0).delta(EPSILONS), rel=1e-12)


def test_a_vector_leaks_more_than_its_longest_move_and_less_than_all_moves_as_one():
    for of in (LaplaceShift, discrete_laplace_shift):
        one, both, joined = (of(moves, 3.0).delta(EPSILONS) for moves in ([2], [2, 1], [3]))
        assert ((one < both) & (both < joined) | (joined == 0)).all()


def test_pair_laws_list_every_loss_once():
    law = discrete_laplace_shift([1, 2], 2.0)
    assert 2 * (law.log_p - law.log_q) == pytest.approx([-3, -1, 1, 3])


@pytest.mark.parametrize(
    ("noise", "law", "shift"),
    [
        ("laplace", "continuous", LaplaceShift([1.0, -3.0], 2.0)),
        ("gaussian", "continuous", GaussianShift(math.sqrt(10), 2.0)),
        ("laplace", "discrete", discrete_laplace_shift([1, -3], 2.0)),
        ("gaussian", "discrete", discrete_gaussian_shift([1, -3], 2.0)),
    ],
    ids=["laplace", "gaussian", "discrete laplace", "discrete gaussian"],
)
def test_every_noise_has_its_shift(noise, law, shift):
    for moves in ([1, -3], np.array([1.0, -3.0])):
        assert noise_shift(noise, law, moves, 2.0).delta(EPSILONS).tolist() == shift.delta(EPSILONS).tolist()


def test_shifts_of_nothing_and_of_no_grid():
    for noise in ("laplace", "gaussian"):
        for law in ("continuous", "discrete"):
            assert noise_shift(noise, law, [0.0, 0.0], 2.0).epsilon(0.0) == 0
        with refused("moves"):
            noise_shift(noise, "discrete", [0.5], 2.0)


@pytest.mark.parametrize("one_sided", [0.1, 0.07, 0.01, 0.001])
def test_mass_of_exactly_delta_costs_no_epsilon(one_sided):
    rest = 1 - 3 * one_sided
    pair = pair_of([one_sided] * 3 + [rest] + [0] * 3, [0] * 3 + [rest] + [one_sided] * 3)
    assert pair.epsilon(3 * one_sided) == pytest.approx(0, abs=1e-12)
    assert pair.epsilon(3 * one_sided * (1 - 1e-9)) == math.inf


def test_moments_of_a_law_with_one_sided_outcomes_are_infinite():
    pair = discrete_gaussian_shift([1], 1.0)
    assert pair.kl() == pair.rho() == pair.renyi(2.0) == math.inf


def test_the_unit_of_the_moves_does_not_matter():
    small, large = (LaplaceShift((unit, 3 * unit), unit) for unit in (1e-9, 1e9))
    assert small.epsilon(1e-3) == pytest.approx(large.epsilon(1e-3), rel=1e-12)
    assert LaplaceShift([1.0] * 200, 0.2).delta(0.0) <= 1
    # tenths are no floats, but whole multiples of one all the same
    for tenths in combinations(range(1, 16), 2):
        whole = LaplaceShift(tenths, 10.0).delta(0.1)
        assert LaplaceShift([n / 10 for n in tenths], 1.0).delta(0.1) == pytest.approx(whole, rel=1e-9)


def test_rho_is_the_largest_renyi_divergence_over_its_order():
    rare = pair_of([1e-6, 1 - 1e-6], [1e-12, 1 - 1e-12])
    for pair in (rare, discrete_laplace_shift([1], 0.7), pair_of([0.2, 0.8], [0.6, 0.4])):
        orders = 1 + np.geomspace(1e-3, 1e5, 200)
        ratios = np.array([pair.renyi(order) / order for order in orders])
        assert pair.rho() >= ratios.max() * (1 - 1e-9)
        assert pair.rho() <= max(ratios.max() * 1.01, pair.kl() * (1 + 1e-9))
    # the relative entropy is far below it here
    assert rare.rho() > 2 > 1e4 * rare.kl()


def test_rho_is_found_at_orders_next_to_1():
    """Here it is at the order 1.0015: by a search from 1 + exp(-6) on it would be less by a share of 1.4e-6."""
    pair = pair_of([0.2, 0.8], [0.9972199026213917, 0.0027800973786083])
    orders = 1 + np.geomspace(5e-4, 0.1, 400)
    ratios = np.array([pair.renyi(order) / order for order in orders])
    assert 1.001 < orders[ratios.argmax()] < 1.002
    assert pair.rho() >= ratios.max() * (1 - 1e-10)


@pytest.mark.parametrize("scale", [1.0, 2.5, 0.4])
def test_cut_noise_has_its_formula(scale):
    x = np.arange(-30, 31)
    for noise, weight in (("laplace", np.exp(-np.abs(x) / scale)), ("gaussian", np.exp(-(x**2) / (2 * scale**2)))):
        steps, law = divergence.whole_noise(noise, scale, 30)
        assert steps.tolist() == x.tolist()
        assert law == pytest.approx(weight / weight.sum(), rel=1e-12)


@pytest.mark.parametrize("reach", [0, 1, 3])
def test_no_noise_is_the_number_itself(reach):
    for noise in ("laplace", "gaussian"):
        steps, law = divergence.whole_noise(noise, 0, reach)
        assert dict(zip(steps.tolist(), law.tolist(), strict=True)) == {x: float(x == 0) for x in steps.tolist()}


def test_no_finite_epsilon_without_a_delta():
    assert (GaussianShift(0.5, 1.0).epsilon(0.0), GaussianShift(0.0, 1.0).epsilon(0.0)) == (math.inf, 0.0)


@each("log", [False, True])
def test_outcomes_that_a_mapping_lacks_are_impossible(log):
    p, q = {"a": 1.0}, {"b": 0.75, "a": 0.25}
    pair = pair_of(*({s: math.log(x) for s, x in law.items()} for law in (p, q)), log=True) if log else pair_of(p, q)
    assert (pair.delta(0.0), pair.epsilon(0.75)) == (pytest.approx(0.75, rel=1e-12), 0.0)


def test_laws_sum_to_one_but_for_a_share_of_1e_9():
    assert pair_of([0.5, 0.5 + 0.9e-9], [0.5, 0.5 - 0.9e-9]).delta(0.0) < 1e-8
    for off in (1.1e-9, -1.1e-9):
        with refused("q ", "does not sum to 1"):
            pair_of([0.5, 0.5], [0.5, 0.5 + off])


def test_an_outcome_that_neither_law_knows_is_left_out():
    pair = pair_of([0.5, 0.0, 0.5, 0.0], [0.25, 0.0, 0.5, 0.25])
    assert len(pair.log_p) == 3
    assert pair.delta(0.0) == pytest.approx(0.25, rel=1e-12)
    assert (pair.epsilon(0.2), pair.epsilon(0.25)) == (math.inf, 0.0)


def test_a_grid_has_so_many_cells_and_no_more():
    most = divergence.CELLS // 2
    assert divergence.CELLS == 2**14
    # the second move hardly counts
    assert LaplaceShift([1, most - 1], 1000.0).epsilon(0.0) == pytest.approx(most / 1000)
    wide = LaplaceShift([1, most - 1], most / 2)
    assert float(wide.delta(0.5)) == pytest.approx(float(LaplaceShift([most], most / 2).delta(0.5)), rel=1e-3)
    with refused("moves", f"at most {most} steps"):
        LaplaceShift([1, most], most / 2).delta(0.5)


def test_what_lies_beyond_the_reach_is_a_class_of_its_own():
    for moves in ([1], [1, 1, 2]):
        law = discrete_gaussian_shift(moves, 2.0)
        lost = math.log(4 * len(moves)) + stats.norm.logsf(10.0)
        assert [law.log_p[-2], law.log_q[-1]] == pytest.approx([lost, lost], rel=1e-12)
        assert law.log_p[-1] == law.log_q[-2] == -math.inf
        loss = law.log_p[:-2] - law.log_q[:-2]
        norm = sum(move * move for move in moves)
        # the noise of every number reaches ten standard deviations, and the longest move more
        assert loss.max() - norm / 8 == pytest.approx(sum(moves) * (20 + max(moves)) / 4)


def test_laws_too_wide_for_memory_are_refused():
    assert (divergence.MOST_PRODUCTS, divergence.WIDEST_TABLE) == (1e9, 2**26)
    with refused("reach = "):
        divergence.whole_noise("laplace", 1.0, 2**26 + 1)
    with refused("reach = -1"):
        divergence.whole_noise("laplace", 1.0, -1)
    for moves, scale in (([1, 1, 1], 1000.0), ([1, 2000], 40.0)):
        with refused(f"scale = {scale}", "10^9"):
            discrete_gaussian_shift(moves, scale)
    for of in (discrete_laplace_shift, discrete_gaussian_shift):
        with refused("scale", "too little"):
            of([1], 1e-310 if of is discrete_laplace_shift else 0.9e-153)


@each("delta", [0.01, 0.3])
def test_mass_above_delta_counts_from_a_share_of_1e_12_on(delta):
    for share, least in ((1.5e-12, math.inf), (0.7e-12, 0.0)):
        mass = delta * (1 + share)
        assert pair_of([mass, 1 - mass], [0, 1]).epsilon(delta) == pytest.approx(least, abs=1e-11)


def test_orders_and_tiny_scales():
    pair = pair_of([0.2, 0.8], [0.6, 0.4])
    for order in (1.0, 0.5, math.inf, math.nan):
        with refused("order = "):
            pair.renyi(order)
    for order in (1.001, 1.5, 3.0):
        moments = [
            sum(a**order * b ** (1 - order) for a, b in ((x, y), (1 - x, 1 - y))) for x, y in ((0.2, 0.6), (0.6, 0.2))
        ]
        assert pair.renyi(order) == pytest.approx(math.log(max(moments)) / (order - 1), rel=1e-9)
    assert pair.kl() == pytest.approx(
        max(0.2 * math.log(1 / 3) + 0.8 * math.log(2), 0.6 * math.log(3) - 0.4 * math.log(2))
    )
    for scale in (1e-151, 1.1e-150, 1e-3):
        assert divergence.whole_noise("gaussian", scale, 2)[1].tolist() == [0, 0, 1, 0, 0]


@each("shift", [discrete_laplace_shift, discrete_gaussian_shift])
def test_moves_are_whole_every_one(shift):
    shift([1, 0, -2], 2.0)
    for moves in ([1, math.inf], [-math.inf, 1], [math.nan, 1], [1, 0.5], [0.5], [[1, 2]], 1):
        with refused("moves", "whole numbers"):
            shift(moves, 2.0)
