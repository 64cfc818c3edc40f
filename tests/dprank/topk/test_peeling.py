"""Seeds are fixed. A chi-square test of a right law fails with chance 1e-4; mutants are rejected at 1e-9."""

import math
from functools import cache
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from checks import law_p_value, refused
from scipy.special import softmax

from dprank.audit import privacy_loss
from dprank.pairwise import top_set_law
from dprank.topk.noise_laws import LAWS
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling

VALUES = np.array([2.0, 1.0, 1.0, -1.0])


@cache
def winner(values, scale, noise):
    """Law of one round; values are a tuple."""
    x = np.array(values) / scale
    if noise == "gumbel":
        return softmax(x)
    if noise == "laplace":
        sets = top_set_law(x, 1.0, 1)
        return np.array([sets[(i,)] for i in range(len(x))])
    # the others are below x_i + z with chance the product of 1 - exp(x_j - x_i - z); expand it, integrate above max x
    law = []
    for i in range(len(x)):
        rest, total = np.delete(x, i), 0.0
        for some in product((False, True), repeat=len(rest)):
            picked = rest[list(some)]
            count = len(picked) + 1
            total += (-1) ** len(picked) * math.exp(x[i] + picked.sum() - count * x.max()) / count
        law.append(total)
    return np.array(law)


def law_of(values, k, scale, noise):
    """Law of the ordered list, the product of its rounds."""
    law = {}
    for items in permutations(range(len(values)), k):
        left, chance = list(range(len(values))), 1.0
        for item in items:
            chance *= winner(tuple(values[left]), scale, noise)[left.index(item)] if len(left) > 1 else 1.0
            left.remove(item)
        law[items] = chance
    return law


def counted(release, law, repetitions):
    rng = np.random.default_rng(7)
    seen = dict.fromkeys(law, 0)
    for _ in range(repetitions):
        seen[tuple(release(VALUES, rng).items.tolist())] += 1
    return law_p_value(list(seen.values()), list(law.values()))


@pytest.mark.parametrize("noise", LAWS)
def test_release_has_the_law_of_its_rounds(noise):
    for k in (1, 2, 4):
        law = law_of(VALUES, k, 1.5, noise)
        assert sum(law.values()) == pytest.approx(1)
        assert counted(Peeling(k, 1.5, noise).release, law, 4000) > 1e-4


def test_one_pass_has_that_law_with_gumbel_noise_only():
    for noise, matches in (("gumbel", True), ("laplace", False)):
        once = Oneshot(3, 1.5, noise, ordered=True)
        p_value = counted(once.release, law_of(VALUES, 3, 1.5, noise), 20_000)
        assert p_value > 1e-4 if matches else p_value < 1e-9


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_guarantee_covers_the_exact_law(noise, adjacency):
    scale, deltas = 2.5, (0.0, 1e-3, 0.05)
    moves = (-1.0, 1.0) if adjacency == "replace" else (0.0, 1.0)
    seen = 0.0
    for k, x in product((1, 2, 3), (np.zeros(3), np.array([2.0, 1.0, 0.0]), np.array([6.0, 0.0, -6.0]))):
        p = np.array(list(law_of(x, k, scale, noise).values()))
        for move in product(moves, repeat=3):
            q = np.array(list(law_of(x + move, k, scale, noise).values()))
            loss = privacy_loss(p, q)
            pure = Peeling(k, scale, noise, adjacency=adjacency, composition="basic", n_items=3).guarantee
            seen = max(seen, loss / pure.epsilon)
            for delta, composition in product(deltas, ("basic", "advanced", "zcdp", "optimal")):
                if delta or composition in ("basic", "optimal"):
                    proved = Peeling(
                        k, scale, noise, adjacency=adjacency, delta=delta, composition=composition, n_items=3
                    ).guarantee
                    for a, b in ((p, q), (q, p)):
                        assert np.maximum(a - math.exp(proved.epsilon) * b, 0).sum() <= proved.delta + 1e-9
    # not loose either: half the epsilon would be caught
    assert 0.5 < seen <= 1 + 1e-9


def test_the_order_of_all_items_leaves_no_choice_in_the_last_round():
    assert Peeling(3, 1.0, n_items=3).guarantee == Peeling(2, 1.0, n_items=3).guarantee
    assert Peeling(1, 1.0, n_items=1).guarantee.epsilon == 0
    assert Peeling(3, 1.0).guarantee.epsilon == pytest.approx(6)


@pytest.mark.parametrize("composition", ["basic", "advanced", "zcdp", "optimal"])
@pytest.mark.parametrize("noise", LAWS)
def test_calibrated_is_tight_and_never_promises_too_much(composition, noise):
    for k, epsilon in product((1, 30, 2000), (0.01, 0.2, 3.0)):
        peeling = Peeling.calibrated(
            k, epsilon, 1e-6, noise=noise, composition=composition, sensitivity=3, adjacency="add_remove"
        )
        assert epsilon * (1 - 1e-9) <= peeling.guarantee.epsilon <= epsilon
        assert peeling.guarantee.delta == 1e-6
        assert peeling.guarantee.adjacency == "add_remove"
        double = Peeling.calibrated(k, epsilon, 1e-6, noise=noise, composition=composition, sensitivity=3)
        assert double.scale == pytest.approx(2 * peeling.scale, rel=1e-9)


def test_pure_scale_is_that_of_theorem_2_1():
    assert Peeling.calibrated(7, 0.3, composition="basic").scale == pytest.approx(2 * 7 / 0.3, rel=1e-12)
    assert Peeling.calibrated(7, 0.3).guarantee.epsilon <= 0.3


def test_gumbel_needs_half_the_scale_by_zcdp():
    laplace = Peeling.calibrated(50, 0.5, 1e-6, composition="zcdp")
    gumbel = Peeling.calibrated(50, 0.5, 1e-6, composition="zcdp", noise="gumbel")
    assert gumbel.scale == pytest.approx(laplace.scale / 2, rel=1e-9)
    assert gumbel.rho == pytest.approx(laplace.rho, rel=1e-9)


def test_winners_come_in_order_and_carry_their_names():
    rng = np.random.default_rng(0)
    counts = pd.Series([10, 4000, -500, 900], ["a", "b", "c", "d"])
    assert Peeling(3, 0.5).release(counts, rng).items.tolist() == ["b", "d", "a"]
    assert Peeling(4, 0.5, "gumbel", largest=False).release(counts, rng).items.tolist() == ["c", "a", "d", "b"]
    assert Peeling(2, 0.5, "exponential").release(counts.to_numpy(), rng).items.tolist() == [1, 3]
    assert Peeling(2, 0.5).release(counts, rng).values is None


def test_bad_input():
    rng = np.random.default_rng(0)
    with refused("k = 0"):
        Peeling(0, 1.0)
    with refused("k = 5", "1 .. 4"):
        Peeling(5, 1.0).release(VALUES, rng)
    with refused("k = 3", "1 .. 2"):
        Peeling(3, 1.0, n_items=2)
    with refused("scale = 0"):
        Peeling(1, 0)
    with refused("sensitivity = -1"):
        Peeling(1, 1.0, sensitivity=-1)
    with refused("noise = 'normal'", "gumbel"):
        Peeling(1, 1.0, "normal")
    with refused("adjacency = 'all'", "add_remove"):
        Peeling(1, 1.0, adjacency="all")
    with refused("composition = 'rdp'", "zcdp"):
        Peeling(1, 1.0, composition="rdp")
    with refused("delta = 1"):
        Peeling(1, 1.0, delta=1)
    with refused("delta = 0", "'advanced'"):
        Peeling(1, 1.0, composition="advanced")
    with refused("epsilon = 0"):
        Peeling.calibrated(1, 0)
    with refused("n_items = 5"):
        Peeling(1, 1.0, n_items=5).release(VALUES, rng)
    with refused("nan"):
        Peeling(1, 1.0).release([1.0, math.nan], rng)
    with refused("rng = 3"):
        Peeling(1, 1.0).release(VALUES, 3)
