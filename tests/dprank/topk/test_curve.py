"""Exact curves against enumeration, closed forms, fifty digits, simulation, and deliberately broken twins.

One chi-square test with a fixed seed; a right law fails it with probability 1e-6.
"""

import math
from itertools import combinations, combinations_with_replacement, permutations

import mpmath
import numpy as np
import pytest
from checks import each, law_p_value, refused

from dprank.audit import privacy_loss
from dprank.pairwise.rank_law import top_set_law
from dprank.privacy import divergence
from dprank.privacy.divergence import PairLaw
from dprank.topk import curve
from dprank.topk.bound import log_delta
from dprank.topk.curve import Types, compositions, least_scale, pair_law, worst_pair
from dprank.topk.noise_laws import LAWS

FALSE_ALARM = 1e-6
EPSILONS = np.linspace(0, 1.5, 7)
noises = pytest.mark.parametrize("noise", LAWS)
#: Eight values of three types, the last moved by less than the others.
MIXED = Types((3, 4, 1), (0.0, 0.7, 3.0), (0.4, 0.3, 2.8))


def spread(types, which):
    return np.repeat(types[which], types.counts)


def grouped(types, k, sets):
    """Sums of a law over sets by composition, in the order of `compositions`."""
    kind = np.repeat(range(len(types.counts)), types.counts)
    sums = {}
    for chosen, probability in sets.items():
        key = tuple(np.bincount(kind[list(chosen)], minlength=len(types.counts)))
        sums[key] = sums.get(key, 0.0) + probability
    return np.log([sums[tuple(row)] for row in compositions(types.counts, k).astype(int)])


def brute_delta(p, q, epsilon):
    return max(sum(max(a - math.exp(epsilon) * b, 0) for a, b in zip(*pair, strict=True)) for pair in ((p, q), (q, p)))


@each("k", range(1, 8))
def test_laplace_sets_are_those_enumerated(k):
    before, after = (top_set_law(spread(MIXED, side), 0.9, k) for side in (1, 2))
    law = pair_law(MIXED, k, 0.9)
    assert np.allclose(law.log_p, grouped(MIXED, k, before), rtol=0, atol=1e-12)
    assert np.allclose(law.log_q, grouped(MIXED, k, after), rtol=0, atol=1e-12)
    p, q = list(before.values()), list(after.values())
    assert law.epsilon(0) == pytest.approx(privacy_loss(p, q), rel=1e-11)
    assert np.allclose(law.delta(EPSILONS), [brute_delta(p, q, e) for e in EPSILONS], rtol=0, atol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_gumbel_sets_are_those_of_plackett_and_luce(k):
    types = Types((2, 3), (0.0, 1.3), (0.4, 1.0))
    law = pair_law(types, k, 0.8, "gumbel")
    for side, ours in ((1, law.log_p), (2, law.log_q)):
        weight = np.exp(spread(types, side) / 0.8)
        sets = {}
        for order in permutations(range(5), k):
            left, probability = weight.sum(), 1.0
            for item in order:
                probability *= weight[item] / left
                left -= weight[item]
            key = tuple(sorted(order))
            sets[key] = sets.get(key, 0.0) + probability
        assert np.allclose(ours, grouped(types, k, sets), rtol=0, atol=1e-12)


def test_exponential_noise_gives_one_set_of_chance_one_in_k_plus_one_the_whole_pure_loss():
    for k in (1, 5, 60):
        law = pair_law(Types((1, k), (0, 0), (0.1, -0.1)), k, 1.0, "exponential")
        epsilons = np.linspace(0, 0.2 * k, 5, endpoint=False)
        left_out = -np.expm1(epsilons - 0.2 * k) / (k + 1)
        assert law.log_p[0] == pytest.approx(-math.log(k + 1), abs=1e-12)
        assert (law.delta(epsilons) >= left_out * (1 - 1e-12)).all()
        assert law.epsilon(0) == pytest.approx(0.2 * k, rel=1e-11)


def test_exponential_tail_by_fifty_digits():
    """Probability of a set that noise hardly ever selects: three low values above two that lie 30 scales higher."""
    law = pair_law(Types((3, 2), (0.0, 30.0), (0.0, 29.5)), 3, 1.0, "laplace")
    with mpmath.workdps(50):

        def below(z):
            return mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2

        def density(v):
            return 3 * mpmath.exp(-abs(v)) / 2 * (1 - below(v)) ** 2 * below(v - 30) ** 2

        exact = mpmath.quad(density, [-80, -20, 0, 10, 20, 30, 40, 60, 120])
    assert law.log_p[-1] == pytest.approx(float(mpmath.log(exact)), abs=1e-11)
    assert law.log_p[-1] < -20


@noises
@each(("counts", "k"), [((300, 300), 300), ((10, 11, 12), 15), ((40, 2), 41), ((1000, 999_000), 100)])
def test_twice_the_nodes_change_nothing_and_probabilities_sum_to_one(noise, counts, k):
    types = Types(counts, (0.0, 0.4, 1.0)[: len(counts)], (0.02, 0.38, 1.01)[: len(counts)])
    coarse, fine = (pair_law(types, k, 1.0, noise, nodes=nodes) for nodes in (20, 40))
    assert np.allclose(coarse.log_p, fine.log_p, rtol=1e-14, atol=1e-11)
    assert np.allclose(coarse.log_q, fine.log_q, rtol=1e-14, atol=1e-11)
    for law in (coarse.log_p, coarse.log_q):
        assert np.exp(law).sum() == pytest.approx(1, abs=1e-11)


@noises
def test_simulated_sets_follow_the_law(noise):
    types, k, draws = Types((12, 9, 4), (0.0, 0.5, 1.5), (0.1, 0.4, 1.6)), 7, 20_000
    noisy = spread(types, 1) + LAWS[noise].draw(0.7, (draws, 25), np.random.default_rng(20261121))
    kind = np.repeat(range(3), types.counts)[np.argpartition(-noisy, k - 1, axis=1)[:, :k]]
    seen = (kind[:, :, None] == np.arange(3)).sum(axis=1)
    rows = compositions(types.counts, k).astype(int)
    counts = [(seen == row).all(axis=1).sum() for row in rows]
    assert law_p_value(counts, np.exp(pair_law(types, k, 0.7, noise).log_p)) > FALSE_ALARM


# --- identities ------------------------------------------------------------------------------------------------------


@noises
def test_only_differences_of_values_count_and_only_over_the_scale(noise):
    moved = Types(MIXED.counts, np.add(MIXED.before, 5.0), np.add(MIXED.after, 4.2))
    scaled = Types(MIXED.counts, np.multiply(MIXED.before, 3.0), np.multiply(MIXED.after, 3.0))
    law = pair_law(MIXED, 3, 0.9, noise)
    for other in (pair_law(moved, 3, 0.9, noise), pair_law(scaled, 3, 2.7, noise)):
        assert np.allclose(law.log_p, other.log_p, rtol=0, atol=1e-12)
        assert np.allclose(law.log_q, other.log_q, rtol=0, atol=1e-12)


def test_laplace_noise_leaves_k_as_it_selects_k():
    mirror = Types(MIXED.counts, np.negative(MIXED.before), np.negative(MIXED.after))
    deltas = [pair_law(types, k, 0.9).delta(EPSILONS) for types, k in ((MIXED, 3), (mirror, 5))]
    assert np.allclose(*deltas, rtol=0, atol=1e-13)
    gumbel = [pair_law(types, k, 0.9, "gumbel").delta(EPSILONS) for types, k in ((MIXED, 3), (mirror, 5))]
    assert not np.allclose(*gumbel, rtol=0, atol=1e-4), "Gumbel noise is not symmetric"


@noises
def test_hockey_stick_identities(noise):
    law = pair_law(Types((4, 6), (0.0, 0.3), (0.2, 0.1)), 4, 1.0, noise)
    p, q = np.exp(law.log_p), np.exp(law.log_q)
    assert law.delta(0) == pytest.approx(abs(p - q).sum() / 2, rel=1e-12), "total variation"
    odds = np.linspace(1, 6, 200)
    curved = law.delta(np.log(odds))
    assert (np.diff(curved) <= 0).all()
    assert (np.diff(curved, 2) >= -1e-15).all(), "convex in e^epsilon"
    assert law.delta(law.epsilon(0)) < 1e-14
    for delta in (0.1, 1e-3, 1e-6, 1e-12, 1e-30):
        at = law.epsilon(delta)
        assert at == 0 or float(law.delta(at)) == pytest.approx(delta, rel=1e-6) or delta < 1e-16 * math.exp(at)


def test_small_deltas_are_exact():
    """Two items far apart, by closed form: the one behind wins with probability exp(-t)(1 + t / 2) / 2."""
    law = pair_law(Types((1, 1), (0.0, 70.0), (0.5, 69.5)), 1, 1.0)
    behind = [math.exp(-t) * (1 + t / 2) / 2 for t in (70.0, 69.0)]
    assert float(law.delta(0.2)) == pytest.approx(behind[1] - math.exp(0.2) * behind[0], rel=1e-11)
    assert float(law.delta(0.2)) < 1e-28
    assert law.epsilon(float(law.delta(0.2))) == pytest.approx(0.2, rel=1e-9)


def test_pure_loss_is_approached_and_never_passed():
    for k, rest in ((1, 3), (3, 1), (3, 4), (2, 2)):
        laws = [pair_law(Types((k, rest), (0.0, x), (0.3, x - 0.3)), k, 1.0) for x in (0.0, 5.0, 40.0)]
        losses = [law.epsilon(0) for law in laws]
        assert losses == sorted(losses)
        pure = 2 * min(k, rest) * 0.3
        assert (0.98 if k == rest else 1 - 1e-9) * pure < losses[-1] <= pure * (1 + 1e-12)


def test_renyi_divergences_are_moments_and_grow_with_the_order():
    law = pair_law(Types((4, 6), (0.0, 0.3), (0.4, -0.1)), 4, 1.0)
    p, q = np.exp(law.log_p), np.exp(law.log_q)
    assert law.kl() == pytest.approx(max((p * np.log(p / q)).sum(), (q * np.log(q / p)).sum()), rel=1e-10)
    assert law.renyi(2) == pytest.approx(math.log(max((p**2 / q).sum(), (q**2 / p).sum())), rel=1e-10)
    orders = [law.renyi(order) for order in (1.0001, 1.5, 2, 8, 1e4)]
    assert orders == sorted(orders)
    assert orders[0] == pytest.approx(law.kl(), rel=1e-3)
    assert orders[-1] == pytest.approx(law.epsilon(0), rel=1e-3)
    assert law.rho() == pytest.approx(
        max(law.kl(), *(law.renyi(x) / x for x in np.geomspace(1.001, 100, 400))), rel=1e-4
    )


def test_selecting_all_tells_nothing():
    law = pair_law(MIXED, 8, 1.0)
    assert law.log_p.tolist() == law.log_q.tolist() == [0.0]
    assert worst_pair(4, 4, 1.0, delta=0.01).value == 0


@pytest.mark.parametrize(("k", "n_items", "scale"), [(1, 2, 4.0), (1, 2, 1.0), (2, 4, 4.0)])
def test_a_search_ends_where_the_loss_grows_for_ever(k, n_items, scale):
    """At delta = 0 it comes ever closer to 2 k / scale the farther the groups are apart."""
    best = worst_pair(k, n_items, scale, delta=0.0)
    assert 0.98 * 2 * k / scale < best.value <= 2 * k / scale
    assert abs(best.types.before[0] - best.types.before[1]) <= 64 * scale + 1


# --- search and inverse ----------------------------------------------------------------------------------------------


@noises
def test_the_least_scale_needs_exactly_epsilon(noise):
    for k, rest, epsilon, delta in ((1, 1, 0.2, 1e-6), (10, 10, 0.2, 1e-6), (5, 9, 3.0, 0.01), (2, 2, 0.5, 0.0)):
        types = Types((k, rest), (0.0, 0.0), (1.0, -1.0))
        scale = least_scale(types, k, epsilon, delta, noise)
        assert pair_law(types, k, scale, noise).epsilon(delta) == pytest.approx(epsilon, rel=1e-6)
        assert scale <= 2 * k / epsilon * (1 + 1e-6)


@noises
@each(("k", "n_items"), [(1, 2), (1, 3), (2, 3), (2, 4), (3, 4)])
@pytest.mark.slow
def test_no_pair_of_three_kinds_on_a_grid_is_worse_than_the_pair_found(noise, k, n_items):
    delta, shift = 0.01, 0.3
    bases = (0.0, 0.5, 3.0) if n_items < 4 else (0.0, 1.0)
    cells = [(base, move) for base in bases for move in (-shift, 0.0, shift)]
    best = worst_pair(k, n_items, 1.0, delta=delta, noise=noise, sensitivity=shift)
    for items in combinations_with_replacement(cells, n_items):
        kinds = sorted(set(items))
        if min(items)[0] == 0 and len({move for _, move in items}) > 1 and len(kinds) < 4:
            types = Types([items.count(kind) for kind in kinds], [b for b, _ in kinds], [b + move for b, move in kinds])
            assert pair_law(types, k, 1.0, noise).delta(best.value * (1 + 1e-9)) <= delta
    assert best.value <= 2 * k * shift * (1 + 1e-6)
    assert pair_law(best.types, best.k, 1.0, noise).epsilon(delta) == best.value


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
@pytest.mark.slow
def test_more_groups_and_smaller_moves_gain_less_than_a_tenth_of_a_percent(noise):
    rng, k, delta, shift = np.random.default_rng(1), 8, 0.01, 0.1
    best = worst_pair(k, 200, 1.0, delta=delta, noise=noise, sensitivity=shift)
    (up, down), (offset, _) = best.types.counts, best.types.before
    counts = np.array([up // 2, up - up // 2, down // 2, down - down // 2])
    base, move = np.array([offset, offset, 0, 0]), shift * np.array([1.0, 1, -1, -1])
    value = best.value
    for _ in range(60):
        steps = (
            rng.normal(0, 0.3, 4),
            rng.integers(-2, 3, 4),
            np.clip(move + rng.normal(0, shift / 4, 4), -shift, shift),
        )
        which = rng.random(4) < 0.4
        new_base, new_counts = base + which * steps[0], np.maximum(counts + which * steps[1], 1)
        new_move = np.where(rng.random(4) < 0.2, steps[2], move)
        other = pair_law(Types(new_counts, new_base, new_base + new_move), k, 1.0, noise).epsilon(delta)
        if other > value:
            base, counts, move, value = new_base, new_counts, new_move, other
    assert best.value <= value < best.value * 1.001


@pytest.mark.slow
def test_all_one_way_is_half_the_sensitivity_in_any_direction():
    one_way = worst_pair(5, 60, 10.0, delta=1e-4, adjacency="add_remove")
    assert set(np.subtract(one_way.types.after, one_way.types.before)) == {0.0, 1.0}
    assert one_way.value == pytest.approx(worst_pair(5, 60, 20.0, delta=1e-4).value, rel=1e-9)


@pytest.mark.slow
def test_the_pair_found_stays_below_the_bound_and_both_objectives_agree():
    best = worst_pair(12, 100, 25.0, epsilon=0.6)
    assert 1e-8 < best.value < math.exp(log_delta(12, 1 / 25, 0.6))
    assert worst_pair(12, 100, 25.0, delta=best.value).value == pytest.approx(0.6, rel=1e-3)


# --- broken twins ----------------------------------------------------------------------------------------------------


def test_a_twin_that_ignores_the_kinks_is_off(monkeypatch):
    edges = np.linspace(-61, 64, 126)
    monkeypatch.setattr(curve, "_panels", lambda values, law, items: np.stack([edges[:-1], edges[1:]]))
    before = top_set_law(spread(MIXED, 1), 0.9, 3)
    assert abs(pair_law(MIXED, 3, 0.9).log_p - grouped(MIXED, 3, before)).max() > 1e-6


def test_a_twin_that_forgets_how_many_sets_there_are_does_not_sum_to_one(monkeypatch):
    monkeypatch.setattr(curve, "_log_choices", lambda n, most: np.zeros(most + 1))
    assert np.exp(pair_law(MIXED, 3, 0.9).log_p).sum() < 0.5


def test_a_twin_that_looks_one_way_misses_the_worse_way(monkeypatch):
    law = pair_law(Types((1, 5), (0, 0), (0.3, -0.3)), 1, 1.0)
    both, swapped = law.delta(0.3), PairLaw(law.log_q, law.log_p).delta(0.3)
    assert both == swapped
    hockey = divergence._hockey_stick
    one_way = {float(hockey(*pair, np.array([0.3]))) for pair in ((law.log_p, law.log_q), (law.log_q, law.log_p))}
    assert min(one_way) < 0.9 * max(one_way) == pytest.approx(0.9 * float(both))


def test_sets_of_one_composition_are_alike():
    law = top_set_law(spread(MIXED, 1), 0.9, 4)
    assert law[0, 1, 3, 7] == pytest.approx(law[1, 2, 6, 7], rel=1e-12)
    assert len(list(combinations(range(8), 4))) == len(law)
    assert len(compositions(MIXED.counts, 4)) == 8


def test_bad_input_is_one_line():
    good = Types((2, 2), (0.0, 0.0), (1.0, -1.0))
    with refused("one length", "counts"):
        pair_law(Types((2, 2), (0.0,), (1.0, 1.0)), 1, 1.0)
    with refused("counts", "at least 1"):
        pair_law(Types((2, 0), (0.0, 1.0), (1.0, 1.0)), 1, 1.0)
    with refused("counts = <tuple>"):
        pair_law(Types((2, 1.5), (0.0, 1.0), (1.0, 1.0)), 1, 1.0)
    with refused("types = ", "must be numbers"):
        pair_law(Types((2, "x"), (0.0, 1.0), (1.0, 1.0)), 1, 1.0)
    with refused("n_items = 4.5"):
        worst_pair(1, 4.5, 1.0, delta=0.1)
    with refused("scale = 0"):
        worst_pair(4, 4, 0.0, delta=0.1)
    with refused("delta = 1"):
        worst_pair(4, 4, 1.0, delta=1.0)
    with refused("noise = 'gauss'"):
        worst_pair(4, 4, 1.0, delta=0.1, noise="gauss")
    for k in (0, 5):
        with refused(f"k = {k}"):
            least_scale(good, k, 1.0, 0.1)
    with refused("delta = 1"):
        least_scale(good, 1, 1.0, 1.0)
    with refused("epsilon = inf"):
        least_scale(good, 1, math.inf, 0.1)
    with refused("before", "finite"):
        pair_law(Types((2, 2), (0.0, math.inf), (1.0, 1.0)), 1, 1.0)
    for k in (0, 5):
        with refused("k", str(k), "4"):
            pair_law(good, k, 1.0)
    with refused("scale", "0"):
        pair_law(good, 1, 0.0)
    with refused("noise", "gauss"):
        pair_law(good, 1, 1.0, "gauss")
    with refused("delta", "1.0"):
        pair_law(good, 1, 1.0).epsilon(1.0)
    with refused("order", "1"):
        pair_law(good, 1, 1.0).renyi(1)
    with refused("epsilon", "-1"):
        worst_pair(1, 4, 1.0, epsilon=-1)
    with refused("epsilon, delta", "None"):
        worst_pair(1, 4, 1.0)
    with refused("adjacency", "any"):
        worst_pair(1, 4, 1.0, delta=0.1, adjacency="any")
    with refused("largest difference", "0.0"):
        least_scale(Types((2, 2), (0.0, 0.0), (1.0, 1.0)), 1, 1.0, 0.1)
