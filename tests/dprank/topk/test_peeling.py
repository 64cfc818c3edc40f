"""Seeds are fixed. A chi-square test of a right law fails with chance 1e-4; mutants are rejected at 1e-9."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checks import denied, doubted, each, law_p_value, refused
from set_laws import rounds_law, set_law, unordered

from dprank.audit import privacy_loss
from dprank.privacy.noise import SECURE
from dprank.topk.noise_laws import LAWS
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling

VALUES = np.array([2.0, 1.0, 1.0, -1.0])


def counted(release, law, repetitions):
    rng = np.random.default_rng(repetitions)
    return p_value(Counter(tuple(release(VALUES, rng).items.tolist()) for _ in range(repetitions)), law)


def p_value(seen, law):
    assert seen.keys() <= law.keys()
    return law_p_value([seen[order] for order in law], list(law.values()))


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.slow
def test_release_has_the_law_of_its_rounds(noise):
    for k in (1, 2, 4):
        law = rounds_law(VALUES, k, 1.5, noise)
        assert sum(law.values()) == pytest.approx(1)
        release = Peeling(k, 1.5, noise, n_items=4).release
        assert doubted(lambda draws, release=release, law=law: counted(release, law, draws), 600, 2500) > 1e-4


@pytest.mark.slow
def test_one_pass_has_that_law_with_gumbel_noise_only():
    for noise, matches in (("gumbel", True), ("laplace", False)):
        release, law = Oneshot(3, 1.5, noise, n_items=4, ordered=True).release, rounds_law(VALUES, 3, 1.5, noise)
        seen = doubted(lambda draws, release=release, law=law: counted(release, law, draws), 1000, 4000)
        assert seen > 1e-4 if matches else seen < 1e-9


@each("noise", LAWS)
@each("adjacency", ["replace", "add_remove"])
def test_guarantee_covers_the_exact_law(noise, adjacency):
    scale, deltas = 2.5, (0.0, 1e-3, 0.05)
    moves = (-1.0, 1.0) if adjacency == "replace" else (0.0, 1.0)
    seen = 0.0
    for k in (1, 2, 3):
        make = lambda k=k, **how: Peeling(k, scale, noise, adjacency=adjacency, n_items=3, **how)  # noqa: E731
        pure = make(composition="basic").guarantee.epsilon
        promises = [
            make(delta=delta, composition=composition).guarantee
            for delta, composition in product(deltas, ("basic", "advanced", "zcdp", "optimal"))
            if delta or composition in ("basic", "optimal")
        ]
        for x in (np.zeros(3), np.array([2.0, 1.0, 0.0]), np.array([6.0, 0.0, -6.0])):
            p = np.array(list(rounds_law(x, k, scale, noise).values()))
            for move in product(moves, repeat=3):
                q = np.array(list(rounds_law(x + move, k, scale, noise).values()))
                seen = max(seen, privacy_loss(p, q) / pure)
                for (a, b), proved in product(((p, q), (q, p)), promises):
                    assert np.maximum(a - math.exp(proved.epsilon) * b, 0).sum() <= proved.delta + 1e-9
    # not loose either: half the epsilon would be caught
    assert 0.5 < seen <= 1 + 1e-9


def test_the_order_of_all_items_leaves_no_choice_in_the_last_round():
    assert Peeling(3, 1.0, "laplace", n_items=3).guarantee == Peeling(2, 1.0, "laplace", n_items=3).guarantee
    assert Peeling(1, 1.0, "laplace", n_items=1).guarantee.epsilon == 0
    assert Peeling(3, 1.0, "laplace").guarantee.epsilon == pytest.approx(6)


@each("composition", ["basic", "advanced", "zcdp", "optimal"])
@each("noise", LAWS)
@pytest.mark.slow
def test_calibrated_is_tight_and_never_promises_too_much(composition, noise):
    for k, epsilon in product((1, 30, 2000), (0.01, 0.2, 3.0)):
        peeling = Peeling.calibrated(
            epsilon=epsilon,
            delta=1e-6,
            k=k,
            noise=noise,
            composition=composition,
            sensitivity=3,
            adjacency="add_remove",
        )
        assert epsilon * (1 - 1e-9) <= peeling.guarantee.epsilon <= epsilon
        assert peeling.guarantee.delta == 1e-6
        assert peeling.guarantee.adjacency == "add_remove"
        double = Peeling.calibrated(
            epsilon=epsilon, delta=1e-6, k=k, noise=noise, composition=composition, sensitivity=3
        )
        assert double.scale == pytest.approx(2 * peeling.scale, rel=1e-9)


def test_pure_scale_is_that_of_theorem_2_1():
    assert Peeling.calibrated(epsilon=0.3, k=7, composition="basic", noise="laplace").scale == pytest.approx(
        2 * 7 / 0.3, rel=1e-12
    )
    assert Peeling.calibrated(epsilon=0.3, k=7, noise="laplace").guarantee.epsilon <= 0.3


def test_gumbel_needs_half_the_scale_by_zcdp():
    laplace = Peeling.calibrated(epsilon=0.5, delta=1e-6, k=50, composition="zcdp", noise="laplace")
    gumbel = Peeling.calibrated(epsilon=0.5, delta=1e-6, k=50, composition="zcdp", noise="gumbel")
    assert gumbel.scale == pytest.approx(laplace.scale / 2, rel=1e-9)
    assert gumbel.rho == pytest.approx(laplace.rho, rel=1e-9)


def test_winners_come_in_order_and_carry_their_names():
    rng = np.random.default_rng(0)
    counts = pd.Series([10, 4000, -500, 900], ["a", "b", "c", "d"])
    named = {"items": counts.index}
    assert Peeling(3, 0.5, "laplace", **named).release(counts, rng).items.tolist() == ["b", "d", "a"]
    assert Peeling(4, 0.5, "gumbel", largest=False, **named).release(counts, rng).items.tolist() == ["c", "a", "d", "b"]
    assert Peeling(2, 0.5, "exponential", n_items=4).release(counts.to_numpy(), rng).items.tolist() == [1, 3]
    assert Peeling(2, 0.5, "laplace", **named).release(counts, rng).values is None


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("noise", ["gumbel", "exponential"])
@pytest.mark.slow
def test_published_orders_have_the_law_of_their_rounds(noise, largest):
    """SECURE has no seed: a false alarm in 1e6 runs each."""
    for k in (2, 4):
        peeling = Peeling(k, 1.5, noise, largest=largest, n_items=4)
        right, wrong = (rounds_law(VALUES if largest else -VALUES, k, scale, noise) for scale in (1.5, 0.75))

        def chance(draws, peeling=peeling, right=right):
            return p_value(Counter(tuple(peeling.release(VALUES, SECURE).items.tolist()) for _ in range(draws)), right)

        assert doubted(chance, 200, 600) > 1e-6 > denied(right, wrong, 600)


def test_only_gumbel_noise_is_published_in_one_pass():
    """What OpenDP calls its noisy top k by exponential noise is permute-and-flip in rounds: another law."""
    for noise, same in (("gumbel", True), ("exponential", False)):
        once, rounds = set_law(VALUES, 2, 1.5, noise), unordered(rounds_law(VALUES, 2, 1.5, noise))
        apart = max(abs(once[chosen] - rounds[chosen]) for chosen in once)
        assert apart < 1e-9 if same else apart > 0.01


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_opendp_s_own_accountant_agrees(adjacency, sensitivity):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    one_way = adjacency == "add_remove"
    space = dp.vector_domain(dp.atom_domain(T="i64"), 9), dp.linf_distance(T="i64", monotonic=one_way)
    for k in (1, 4, 8):
        gumbel, exponential = (
            dp.m.make_noisy_top_k(*space, measure, k, 2.5).map(sensitivity)
            for measure in (dp.zero_concentrated_divergence(), dp.max_divergence())
        )
        ours = {"sensitivity": sensitivity, "adjacency": adjacency, "n_items": 9}
        pure = Peeling(k, 2.5, "exponential", composition="basic", **ours).guarantee.epsilon
        assert pure == pytest.approx(exponential, rel=1e-12)
        assert Oneshot(k, 2.5, "exponential", **ours).guarantee.epsilon == pytest.approx(exponential, rel=1e-12)
        assert Peeling(k, 2.5, "gumbel", **ours).rho == pytest.approx(gumbel, rel=1e-12)
        assert Oneshot(k, 2.5, "gumbel", **ours).rho == pytest.approx(gumbel, rel=1e-12)


def test_published_winners_carry_their_names():
    counts = pd.Series([10, 4000, -500, 900], ["a", "b", "c", "d"])
    for noise in ("gumbel", "exponential"):
        assert Peeling(4, 0.5, noise, items=counts.index).release(counts, SECURE).items.tolist() == ["b", "d", "a", "c"]
        fewest = Peeling(2, 0.5, noise, items=counts.index, largest=False)
        assert fewest.release(counts, SECURE).items.tolist() == ["c", "a"]


def test_bad_input():
    rng = np.random.default_rng(0)
    with refused("k = 0"):
        Peeling(0, 1.0, "laplace")
    with refused("k = 3", "1 to 2"):
        Peeling(3, 1.0, "laplace", n_items=2)
    with refused("scale = 0"):
        Peeling(1, 0, "laplace")
    with refused("sensitivity = -1"):
        Peeling(1, 1.0, "laplace", sensitivity=-1)
    with refused("noise = 'normal'", "gumbel"):
        Peeling(1, 1.0, "normal")
    with refused("adjacency = 'all'", "add_remove"):
        Peeling(1, 1.0, "laplace", adjacency="all")
    with refused("composition = 'rdp'", "zcdp"):
        Peeling(1, 1.0, "laplace", composition="rdp")
    with refused("delta = 1"):
        Peeling(1, 1.0, "laplace", delta=1)
    with refused("delta = 0", "'advanced'"):
        Peeling(1, 1.0, "laplace", composition="advanced")
    with refused("epsilon = 0"):
        Peeling.calibrated(epsilon=0, k=1, noise="laplace")
    with refused("values[1] is missing"):
        Peeling(1, 1.0, "laplace", n_items=2).release([1.0, math.nan], rng)
    with refused("rng = 3"):
        Peeling(1, 1.0, "laplace", n_items=4).release(VALUES, 3)
    for n_items in (2.5, 0):
        with refused(f"n_items = {n_items}", "integer"):
            Peeling(1, 1.0, "laplace", n_items=n_items)
    for parameter in ("scale", "value_scale"):
        with pytest.raises(TypeError, match=parameter):
            Peeling.calibrated(epsilon=1.0, k=1, **{parameter: 2})
    with refused("largest = 1"):
        Peeling(1, 1.0, "laplace", largest=1)
    with refused("dict", "Series"):
        Peeling(1, 1.0, "laplace", n_items=2).release({"a": 1, "b": 2}, rng)
    with refused("epsilon = inf"):
        Peeling.calibrated(epsilon=math.inf, k=1, noise="laplace")
    with refused("dtype bool"):
        Peeling(1, 1.0, "laplace", n_items=2).release([True, False], rng)
    with refused("values have 0 dimensions"):
        Peeling(1, 1.0, "laplace", n_items=2).release(3, rng)
    with refused("noise = 'laplace'", "'gumbel'"):
        Peeling(1, 1.0, "laplace", n_items=2).release([1, 2], SECURE)
    with refused("values[0] is none", "integers"):
        Peeling(1, 1.0, "gumbel", n_items=2).release([2.5, 1], SECURE)
    with refused("sensitivity = 0.5", "integer"):
        Peeling(1, 1.0, "gumbel", sensitivity=0.5, n_items=2).release([2, 1], SECURE)


def test_what_is_the_default_can_be_published():
    for mechanism in (Peeling(1, 1.0, n_items=2), Peeling.calibrated(epsilon=1.0, n_items=2, k=1)):
        assert mechanism.noise == "exponential"
        assert mechanism.release([3, 1], SECURE).publishable


@pytest.mark.parametrize("k", [1, 5, 50])
def test_gumbel_rounds_cost_no_more_than_the_one_pass_of_the_same_law(k):
    # catches rounds that pay for a law of which more is known
    for epsilon, delta in product((0.1, 1.0, 10.0), (0.0, 1e-6)):
        shared = {"epsilon": epsilon, "delta": delta, "k": k, "n_items": 200, "noise": "gumbel"}
        rounds, once = Peeling.calibrated(**shared), Oneshot.calibrated(**shared, ordered=True)
        assert rounds.scale == pytest.approx(once.scale, rel=1e-8)
        assert rounds.guarantee.epsilon <= epsilon
        assert rounds.guarantee.epsilon == pytest.approx(once.guarantee.epsilon, rel=1e-8)
