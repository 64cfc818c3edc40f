"""The game against all that an adversary may do; its delta against exact laws of sets, orders and lists. No chance."""

import math
from itertools import combinations, permutations, product

import mpmath
import numpy as np
import pytest
from checks import each, refused
from scipy import stats
from set_laws import order_law_of_three, set_law

from dprank.pairwise import top_set_law
from dprank.privacy.composition import optimal_delta
from dprank.topk import descent
from dprank.topk.curve import Types, least_scale, pair_law
from dprank.topk.descent import descent_delta, descent_epsilon, descent_shift
from dprank.topk.list_law import list_chances
from dprank.topk.oneshot import Oneshot

ADJACENCIES = ["replace", "add_remove"]
LEVELS = range(-1, 7)


def all_choices(k, shift, epsilon, coins):
    """The best of all strategies of an adversary who sees so many coins at most, by the states that they lead to."""
    p = 1 / (1 + math.exp(-shift))
    loss = np.arange(-coins, coins + 1) * shift
    paid = np.maximum(0, -np.expm1(np.minimum(epsilon - loss, 0)))
    worth = np.tile(paid, (k + 1, 1))
    for _ in range(coins):
        up, down = worth[:, 2:], worth[:, :-2]
        heads_enter = p * up[:-1] + (1 - p) * down[1:]
        tails_enter = p * up[1:] + (1 - p) * down[:-1]
        inner = np.maximum(heads_enter, tails_enter)
        worth = np.r_[paid[None, 1:-1][:, : inner.shape[1]], inner]
        paid = paid[1:-1]
    return float(worth[k, 0])


@each("k", [1, 2, 5, 12])
@each("shift", [0.05, 0.3, 1.0])
@each("steps", [0, 1, 2, 5])
def test_the_game_is_the_best_that_an_adversary_can_do(k, shift, steps):
    best = all_choices(k, shift, steps * shift, 60 + 8 * k)
    told = descent_delta(k, shift, steps * shift)
    assert best <= told
    if steps <= k:
        assert told == pytest.approx(best, rel=1e-7)


@each("k", [1, 4])
@each("shift", [0.3, 1.0])
def test_the_game_is_rounded_up_by_a_billionth(k, shift):
    """After 300 coins all is known, but with a chance that is nothing beside the allowance; twice that is too much."""
    for steps in range(2 * k):
        best = all_choices(k, shift, steps * shift, 400)
        assert best < descent_delta(k, shift, steps * shift) <= best * (1 + 1.1e-9)


@each("k", [1, 3, 10])
@each("shift", [0.1, 0.7])
def test_between_whole_steps_it_is_a_chord(k, shift):
    for share in (0.0, 0.25, 0.6, 0.99):
        epsilon = (1 + share) * shift
        best, told = all_choices(k, shift, epsilon, 60 + 8 * k), descent_delta(k, shift, epsilon)
        assert best <= told < best * (1.001 if share == 0 else 1.2)


def test_one_strategy_is_not_all():
    """Always to take the side that is rarer sees most coins, and is not the worst."""
    for k, shift, epsilon in product((1, 5, 20), (0.1, 0.3), (0.3, 0.9)):
        tails = np.arange(20 * k + 400)
        chance = stats.nbinom.pmf(tails, k, 1 / (1 + math.exp(shift)))
        rarer = (chance * np.maximum(0, -np.expm1(epsilon - shift * (tails - k)))).sum()
        share = rarer / descent_delta(k, shift, min(epsilon, 2 * k * shift))
        assert 0.3 < share < 0.97 or epsilon > 2 * k * shift


@each("k", [12, 40, 300])
@each("epsilon", [0.1, 1.0])
def test_fewer_coins_items_and_losses_cost_less(k, epsilon):
    told = descent_delta(k, 0.05, epsilon)
    assert told < descent_delta(k + 1, 0.05, epsilon)
    assert told < descent_delta(k, 0.055, epsilon)
    assert told > descent_delta(k, 0.05, 1.05 * epsilon)
    # as many coins as items, at least
    assert told >= optimal_delta(k, 0.05, epsilon)


# --- exact laws ------------------------------------------------------------------------------------------------------


def excess(p, q, epsilon):
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((p, q), (q, p)))


def shifted(values, adjacency):
    """What one person can make of them, but for an exchange of equal ones."""
    seen = set()
    for shift in product([-1, 1] if adjacency == "replace" else [0, 1], repeat=len(values)):
        if (what := tuple(sorted(zip(values, shift, strict=True)))) not in seen:
            seen.add(what)
            yield np.add(values, shift)


@each("adjacency", ADJACENCIES)
@each("k", [1, 2, 3])
@each("delta", [0.05, 0.3])
@pytest.mark.slow
def test_sets_lose_no_more_than_is_promised(adjacency, k, delta):
    for epsilon in (0.05, 0.3, 1.0):
        made = Oneshot.calibrated(epsilon=epsilon, delta=delta, n_items=6, k=k, adjacency=adjacency)
        told = made.guarantee
        assert told.epsilon <= epsilon
        needs = []
        for values in ([0] * 6, [0, 0, 0, 3, 3, 3], [0, 1, 2, 3, 4, 5]):
            here = np.array(list(set_law(values, k, made.scale, "laplace", LEVELS).values()))
            for other in shifted(values, adjacency):
                there = np.array(list(set_law(other, k, made.scale, "laplace", LEVELS).values()))
                needs.append(excess(here, there, told.epsilon))
        assert max(needs) <= max(told.delta, 1e-12)


@each("delta", [0.01, 0.2])
@each("k", [1, 2, 3])
def test_orders_lose_no_more_than_is_promised(k, delta):
    for epsilon in (0.1, 0.7):
        made = Oneshot.calibrated(epsilon=epsilon, delta=delta, n_items=3, k=k, ordered=True)
        for values in ([0, 0, 0], [0, 2, 2], [0, 2, 4], [0, 9, 9]):
            here = _three(values, made.scale, k)
            for other in shifted(values, "replace"):
                assert excess(here, _three(other, made.scale, k), epsilon) <= delta


def _three(values, scale, k):
    law = order_law_of_three(values, scale, "laplace")
    first = {}
    for order, chance in law.items():
        first[order[:k]] = first.get(order[:k], 0.0) + chance
    return np.array([first[key] for key in sorted(first)])


def test_lists_of_two_of_five_lose_no_more_than_is_promised():
    made = Oneshot.calibrated(epsilon=0.2, delta=0.05, n_items=5, k=2, ordered=True)
    lists = list(permutations(range(5), 2))
    for values in ([0.0] * 5, [0.0, 0.0, 2.0, 2.0, 4.0]):
        here = list_chances(np.array(values) / made.scale, lists)
        for other in shifted(values, "replace"):
            there = list_chances(other / made.scale, lists)
            assert excess(here, there, 0.2) <= 0.05


@each("adjacency", ADJACENCIES)
def test_whole_noise_loses_no_more_than_is_promised(adjacency):
    grain = 1.0 if adjacency == "replace" else 0.5
    for k, epsilon, delta in product((1, 2), (0.2, 0.8), (0.05, 0.2)):
        made = Oneshot.calibrated(epsilon=epsilon, delta=delta, n_items=4, k=k, adjacency=adjacency)
        for values in ([0] * 4, [0, 0, 2, 2], [0, 1, 1, 3]):
            sets = list(combinations(range(4), k))
            here = top_set_law(values, made.scale, k, "discrete", grain)
            for other in shifted(values, adjacency):
                there = top_set_law(other, made.scale, k, "discrete", grain)
                p, q = (np.array([law.get(s, 0.0) for s in sets]) for law in (here, there))
                assert p.sum() == pytest.approx(1)
                assert excess(p, q, epsilon) <= delta


def split(k, offset=0.0):
    return Types([k, k], [offset, 0.0], [offset + 1, -1.0])


@each("k, near", [(1, 0.5), (5, 0.6), (20, 0.7), (100, 0.8), (300, 0.87)])
def test_equal_values_half_of_which_rise_need_nearly_as_much(k, near):
    for delta in (0.05, 1e-3, 1e-6):
        for epsilon in (0.2, 1.0):
            told = 1 / descent_shift(k, epsilon, delta)
            pure = 2 * k / epsilon
            needed = least_scale(split(k), k, epsilon, delta)
            assert needed <= min(told, pure) * (1 + 1e-6)
            assert needed > near * min(told, pure) or k < 30
    law = pair_law(split(k), k, 20.0 * math.sqrt(k))
    for epsilon in (0.0, 0.05, 0.1, 0.3):
        assert float(law.delta(epsilon)) <= descent_delta(k, 1 / (20.0 * math.sqrt(k)), epsilon)


@each("slip", ["loss", "items", "epsilon"])
def test_a_slip_of_a_fifth_is_below_the_exact_delta(slip):
    k, scale = 200, 60.0
    law = pair_law(split(k), k, scale)
    wrong = {
        "loss": lambda epsilon: descent_delta(k, 0.8 / scale, epsilon),
        "items": lambda epsilon: descent_delta(k * 3 // 5, 1 / scale, epsilon),
        "epsilon": lambda epsilon: descent_delta(k, 1 / scale, 1.25 * epsilon),
    }[slip]
    epsilons = [0.2, 0.5, 1.0, 1.4]
    assert all(float(law.delta(epsilon)) <= descent_delta(k, 1 / scale, epsilon) for epsilon in epsilons)
    assert any(float(law.delta(epsilon)) > wrong(epsilon) for epsilon in epsilons)


# --- many items, and the ends ----------------------------------------------------------------------------------------


@each("delta", [0.05, 1e-6, 1e-12])
@each("epsilon", [0.1, 2.0])
def test_counted_coins_cost_little_more_than_the_game(monkeypatch, delta, epsilon):
    monkeypatch.setattr(descent, "MOST_PLAYED", 1 << 10)
    played = descent_shift(900, epsilon, delta)
    monkeypatch.setattr(descent, "MOST_PLAYED", 100)
    counted = descent_shift(900, epsilon, delta)
    assert counted < played < 1.08 * counted
    assert descent_epsilon(900, counted, delta) == pytest.approx(epsilon, rel=1e-9)


@each("shift", [1e-3, 0.2, 3.0])
@each("k", [1, 30, 5000])
@each("rarely", [1e-2, 1e-9])
def test_so_many_coins_are_enough_but_rarely(k, shift, rarely):
    coins = descent._coins(k, shift, rarely)
    assert stats.binom.cdf(k - 1, coins, 1 / (1 + math.exp(shift))) <= rarely
    assert coins < 2 * k * math.exp(shift) + 40 * math.exp(2 * shift) * math.sqrt(k) * -math.log(rarely)
    fail = [math.exp(-2 * (n / (1 + math.exp(shift)) - k) ** 2 / n) for n in (coins, coins - 1)]
    assert fail[0] <= rarely < fail[1], "not one coin more than Hoeffding asks for"


@each("k", [1, 7, 200])
def test_a_hair_above_a_whole_number_of_coins_asks_for_one_more(k):
    """Shifts at which the formula, with all digits, turns from so many coins to one more."""

    def asked(shift):
        chance = 1 / (1 + mpmath.exp(mpmath.mpf(shift)))
        spare = mpmath.sqrt(-mpmath.log(mpmath.mpf(0.01)) / 2)
        return ((spare + mpmath.sqrt(spare * spare + 4 * chance * k)) / (2 * chance)) ** 2

    with mpmath.workdps(40):
        for more in range(1, 21):
            coins, low, high = math.ceil(asked(0.1)) + more, 0.1, 3.0
            while math.nextafter(low, high) < high:
                low, high = ((low + high) / 2, high) if asked((low + high) / 2) <= coins else (low, (low + high) / 2)
            assert coins < asked(high) < coins * (1 + mpmath.mpf(10) ** -14)
            assert descent._coins(k, high, 0.01) == coins + 1


@each(("k", "shift", "delta"), [(1025, 0.01, 1e-6), (1500, 0.01, 1e-2), (5000, 0.005, 1e-9)])
def test_of_delta_a_fiftieth_is_for_more_coins_and_a_fiftieth_is_spared(k, shift, delta):
    epsilon = descent_epsilon(k, shift, delta)
    coins = descent._coins(k, shift, 0.02 * delta)
    assert optimal_delta(coins, shift, epsilon) + 0.02 * delta == pytest.approx(0.98 * delta, rel=1e-6)


def test_up_to_1024_items_are_played_for_and_of_more_the_coins_are_counted():
    """All of delta is the game's: coins as well would be above it."""
    for k in (1023, 1024):
        assert descent_delta(k, 0.01, descent_epsilon(k, 0.01, 1e-6)) == pytest.approx(1e-6, rel=1e-6)
    assert 1.01 * descent_epsilon(1024, 0.01, 1e-6) < descent_epsilon(1025, 0.01, 1e-6)


def test_epsilon_and_shift_are_inverse_and_rounded_to_the_safe_side():
    for k, epsilon, delta in product((2, 17, 400, 3000), (0.05, 0.7, 4.0), (0.1, 1e-5)):
        shift = descent_shift(k, epsilon, delta)
        if 2 * k * shift > epsilon * (1 + 1e-9):
            assert descent._fits(k, shift, epsilon, delta)
            assert not descent._fits(k, shift * (1 + 1e-6), epsilon, delta)
            assert descent_epsilon(k, shift, delta) == pytest.approx(epsilon, rel=1e-9)
        else:
            assert shift == epsilon / (2 * k)


def test_the_ends():
    assert descent_delta(3, 1000.0, 1.0) == 1
    assert descent_epsilon(3, 1000.0, 0.1) == math.inf
    assert descent_epsilon(3, 1e-9, 0.1) == 0
    assert descent_epsilon(3, 0.1, 1e-200) == math.inf
    assert descent_delta(3, 0.1, math.inf) == pytest.approx(descent_delta(3, 0.1, 0.6))
    assert descent_epsilon(10**7, 1e-4, 1e-6) == math.inf  # more coins than are added up
    assert descent_shift(10, 1e-200, 1e-9) > 0
    for k in (0, 1025):
        with refused("k = "):
            descent_delta(k, 0.1, 1.0)
    for delta in (0.0, 1.0):
        with refused("delta = "):
            descent_epsilon(3, 0.1, delta)
    for epsilon in (0.0, math.inf, 1e-300, 1e300):
        with refused("epsilon = ", "(1e-300, 1e300)"):
            descent_shift(3, epsilon, 0.1)
    assert descent_shift(3, 0.9e-300 * 1.2, 0.1) > 0
    assert 0 < descent_shift(3, 0.99e300, 0.1) < 700
    # so small a delta is not told, though the game would
    assert descent_delta(1000, 0.02, 40.0) < 1e-200
    below = math.nextafter(1e-100, 0.0)
    assert descent_epsilon(1000, 0.02, below) == math.inf > descent_epsilon(1000, 0.02, 1e-100)


@each(("k", "steps"), [(1, 0), (3, 2), (12, 5), (40, 90)])
def test_the_game_keeps_to_its_tables(k, steps):
    """As Python the kernel checks its indices; compiled, it would read and write beside its tables."""
    played, reach = descent._played, steps + 2 + min(k, 8 * math.isqrt(k) + 20)
    given = k, 0.5 / math.cosh(0.15), math.tanh(0.15), steps, reach
    assert played.py_func(*given) == pytest.approx(played(*given), rel=1e-13)
