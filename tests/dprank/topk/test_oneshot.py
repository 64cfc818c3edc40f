"""Exact laws of small cases against what is promised; ROUNDING is their relative error. Draws from a law are compared
with it at a false-alarm rate of ALARM: seeded, but for draws of SECURE, which cannot be."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from checks import law_p_value, refused
from scipy.special import logsumexp
from set_laws import order_law_of_three, plackett_luce, set_law

from dprank.audit import privacy_loss
from dprank.noise import SECURE
from dprank.pairwise import top_set_law
from dprank.topk.oneshot import Oneshot

ROUNDING = 1e-9
ALARM = 1e-6

NOISES = ["laplace", "gumbel", "exponential"]
NOISE = pytest.mark.parametrize("noise", NOISES)
ADJACENCY = pytest.mark.parametrize("adjacency", ["replace", "add_remove"])


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
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_no_neighbours_lose_more_than_is_promised(noise, adjacency, k):
    mechanism = Oneshot(k, 1.5, noise, adjacency=adjacency, n_items=5)
    promised = mechanism.guarantee.epsilon
    far = [0] * k + [12] * (5 - k)
    losses = [worst_loss(mechanism, values) for values in ([0] * 5, far, [0.0, 0.7, 1.9, 3.2, 3.4])]
    assert max(losses) <= promised * (1 + ROUNDING)
    if noise == "laplace" or k < 4:
        assert max(losses) > 0.95 * promised


@ADJACENCY
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("k", [2, 3])
def test_orders_of_three_lose_no_more_than_is_promised(noise, adjacency, k):
    mechanism = Oneshot(k, 1.5, noise, adjacency=adjacency, n_items=3, ordered=True)
    promised = mechanism.guarantee.epsilon
    assert promised == pytest.approx({"laplace": 1.5}.get(noise, 2) * (2 if adjacency == "replace" else 1) / 1.5)
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
    assert Oneshot.calibrated(3, 1.0, n_items=3).guarantee.epsilon == 0


def test_the_few_left_out_are_cheap_for_laplace_noise_only():
    assert Oneshot(9, 1.0, n_items=10).guarantee.epsilon == 2
    assert Oneshot(9, 1.0, "gumbel", n_items=10).guarantee.epsilon == 18
    assert worst_loss(Oneshot(4, 1.5, "gumbel"), [0, 0, 0, 0, 12]) > 1.5 * 2 / 1.5


MUTANTS = {
    "half the noise": lambda m: replace(m, scale=m.scale / 2),
    "a tenth too little": lambda m: replace(m, scale=0.9 * m.scale),
    "noise for one less": lambda m: replace(m, scale=m.scale * (m.k - 1) / m.k),
}


@ADJACENCY
@NOISE
@pytest.mark.parametrize("mutant", MUTANTS)
def test_too_little_noise_is_caught(mutant, noise, adjacency):
    mechanism = Oneshot.calibrated(2, 1.0, noise=noise, adjacency=adjacency, n_items=5)
    values = [0, 0, 12, 12, 12]
    assert 0.95 < worst_loss(mechanism, values) <= 1 + ROUNDING
    assert worst_loss(MUTANTS[mutant](mechanism), values) > 1.05


def test_counts_moved_in_any_direction_are_caught():
    mechanism = Oneshot.calibrated(2, 1.0, adjacency="add_remove", n_items=5)
    assert worst_loss(mechanism, [0, 0, 12, 12, 12], "replace") > 1.9


# --- approximate ------------------------------------------------------------------------------------------------------


@ADJACENCY
@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
@pytest.mark.parametrize("delta", [1e-3, 0.05, 0.4])
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
        Oneshot.calibrated(100, 0.2, delta, noise).scale
        for delta, noise in ((0.0, "laplace"), (1e-6, "laplace"), (1e-6, "gumbel"))
    )
    assert gumbel < laplace / 2 < pure / 4
    assert Oneshot.calibrated(3, 0.2, 1e-6) == replace(Oneshot.calibrated(3, 0.2), delta=1e-6)
    assert Oneshot(3, 30.0, delta=1e-6).guarantee.delta == 0
    # the approximate bound says nothing of an order, nor of exponential noise
    assert Oneshot.calibrated(100, 0.2, 1e-6, ordered=True).scale == pure
    assert Oneshot.calibrated(100, 0.2, 1e-6, "exponential").scale == pure
    assert Oneshot.calibrated(100, 0.2, 1e-6, "gumbel", ordered=True).scale == gumbel


def test_selecting_most_is_selecting_the_few_left():
    for delta in (1e-6, 0.1):
        few, most = (Oneshot.calibrated(k, 0.2, delta, n_items=1000).scale for k in (90, 910))
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
@pytest.mark.parametrize("values", [False, True])
def test_calibrated_keeps_epsilon_and_wastes_none(noise, values):
    rng = np.random.default_rng(41)
    for _ in range(20):
        k, epsilon = int(10 ** rng.uniform(0, 4)), float(np.exp(rng.uniform(-5, 3)))
        delta = float(rng.choice([0.0, 10 ** rng.uniform(-12, -1)]))
        adjacency = str(rng.choice(["replace", "add_remove"]))
        size = float(rng.uniform(0.1, 9))
        mechanism = Oneshot.calibrated(
            k, epsilon, delta, noise, values=values, share=0.3, sensitivity=size, adjacency=adjacency, n_items=3 * k
        )
        promised = mechanism.guarantee
        assert promised.epsilon <= epsilon
        assert promised.epsilon >= epsilon * (1 - 1e-6)
        assert promised.delta in (0, delta)
        assert promised.adjacency == adjacency == mechanism.adjacency


def test_pure_promises_are_never_below_the_exact_quotient():
    rng = np.random.default_rng(42)
    for _ in range(300):
        epsilon, size, k = float(rng.uniform(0.01, 9)), float(rng.uniform(0.1, 9)), int(rng.integers(1, 999))
        mechanism = Oneshot.calibrated(k, epsilon, sensitivity=size)
        assert 2 * k * Fraction(size) / Fraction(mechanism.scale) <= Fraction(mechanism.guarantee.epsilon)


@pytest.mark.parametrize(("adjacency", "factor"), [("replace", 1.5), ("add_remove", 1.0)])
@pytest.mark.parametrize("k", [1, 4])
def test_algorithm_1_with_values_keeps_epsilon_for_counts_only(adjacency, factor, k):
    printed = Oneshot.as_printed(k, 0.8, adjacency=adjacency)
    assert printed.scale == printed.value_scale == 2 * k / 0.8
    assert not printed.largest
    assert printed.guarantee.epsilon == pytest.approx(0.8 * factor)
    alone = Oneshot.as_printed(k, 0.8, adjacency=adjacency, values=False)
    assert alone.guarantee.epsilon == pytest.approx(0.8 if adjacency == "replace" else 0.4)


def test_theorem_2_2_as_printed():
    printed = Oneshot.as_printed(100, 0.2, 1e-6, 10**6, sensitivity=3.0, values=False)
    assert printed.scale == 8 * 3 * math.sqrt(100 * math.log(1e12)) / 0.2
    assert printed.guarantee.delta == 1e-6
    assert printed.guarantee.epsilon < 0.1
    assert Oneshot.as_printed(3, 0.2, 0.05, 40).guarantee.epsilon < 0.2


# --- release ----------------------------------------------------------------------------------------------------------


def p_value(seen, law):
    counts = Counter(seen)
    assert counts.keys() <= law.keys()
    return law_p_value([counts[key] for key in law], list(law.values()))


@NOISE
def test_released_sets_have_the_exact_law_and_no_order(noise):
    mechanism, rng = Oneshot(2, 1.5, noise), np.random.default_rng(51)
    seen = [tuple(mechanism.release([0.0, 2.0, 1.0, 1.5], rng).items.tolist()) for _ in range(2500)]
    assert p_value(seen, set_law([0.0, 2.0, 1.0, 1.5], 2, 1.5, noise)) > ALARM
    assert all(a < b for a, b in seen)


def test_released_orders_have_the_exact_law():
    rng = np.random.default_rng(52)
    for noise in NOISES:
        mechanism = Oneshot(3, 1.5, noise, ordered=True)
        seen = [tuple(mechanism.release([2.0, 0.0, 1.5], rng).items.tolist()) for _ in range(2500)]
        assert p_value(seen, order_law_of_three([2.0, 0.0, 1.5], 1.5, noise)) > ALARM


@pytest.mark.parametrize(("adjacency", "grain"), [("replace", 1.0), ("add_remove", 0.5)])
@pytest.mark.parametrize("largest", [True, False])
def test_published_sets_have_the_exact_discrete_law(adjacency, grain, largest):
    """On halves where values move one way."""
    values = np.array([1, 0, 0, 1])
    mechanism, rng = Oneshot(2, 0.4, adjacency=adjacency, largest=largest), np.random.default_rng(54)
    right, wrong = (
        top_set_law(values if largest else -values, 0.4, 2, "discrete", unit) for unit in (grain, 1.5 - grain)
    )
    published = [tuple(mechanism.release(values, SECURE).items.tolist()) for _ in range(300)]
    seeded = [tuple(sorted(mechanism._on_grid(values, rng).tolist())) for _ in range(10_000)]
    assert p_value(published, right) > ALARM
    assert p_value(seeded, right) > ALARM
    assert p_value(seeded, wrong) < ALARM


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
    mechanism, rng = Oneshot(3, 0.1, value_scale=2.0), np.random.default_rng(53)
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
    released = Oneshot(2, 1.0).release(counts, np.random.default_rng(0))
    assert released.items.tolist() == ["birch", "cedar"]
    best = Oneshot(2, 1.0, ordered=True, largest=False).release(counts, np.random.default_rng(0))
    assert set(best.items.tolist()) == {"ash", "dogwood"}


def test_seeds_reproduce():
    mechanism = Oneshot(5, 3.0, "gumbel", value_scale=2.0)
    one, again, other = (mechanism.release(np.zeros(3000), np.random.default_rng(s)) for s in (1, 1, 2))
    assert one.items.tolist() == again.items.tolist() != other.items.tolist()
    assert one.values.tolist() == again.values.tolist()


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("k = 0",), {"k": 0}),
        (("k = -1",), {"k": -1}),
        (("k = 2.5",), {"k": 2.5}),
        (("k = 5", "1 .. 4"), {"k": 5, "n_items": 4}),
        (("scale = 0",), {"scale": 0.0}),
        (("scale = nan",), {"scale": math.nan}),
        (("noise = 'normal'",), {"noise": "normal"}),
        (("sensitivity = 0",), {"sensitivity": 0.0}),
        (("adjacency = 'swap'",), {"adjacency": "swap"}),
        (("delta = 1",), {"delta": 1.0}),
        (("delta = -0.1",), {"delta": -0.1}),
        (("delta = nan",), {"delta": math.nan}),
        (("value_scale = 0",), {"value_scale": 0.0}),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(words, changed):
    with refused(*words):
        Oneshot(**({"k": 2, "scale": 1.0} | changed))


@pytest.mark.parametrize("make", [Oneshot.calibrated, Oneshot.as_printed])
@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("k = 0",), {"k": 0}),
        (("k = 9", "1 .. 8"), {"k": 9, "n_items": 8}),
        (("epsilon = 0",), {"epsilon": 0.0}),
        (("epsilon = -1",), {"epsilon": -1.0}),
        (("epsilon = nan",), {"epsilon": math.nan}),
        (("delta = 1",), {"delta": 1.0}),
        (("delta = -1e-06",), {"delta": -1e-6}),
    ],
    ids=str,
)
def test_bad_calibrations_are_refused(make, words, changed):
    with refused(*words):
        make(**({"k": 2, "epsilon": 0.1} | changed))


@pytest.mark.parametrize(
    "changed", [{"epsilon": 0.21}, {"delta": 0.06}, {"n_items": 1, "k": 1}, {"n_items": None}], ids=str
)
def test_theorem_2_2_is_refused_where_it_is_silent(changed):
    with refused("epsilon <= 0.2, delta <= 0.05, n_items >= 2"):
        Oneshot.as_printed(**({"k": 2, "epsilon": 0.2, "delta": 0.05, "n_items": 9} | changed))


@pytest.mark.parametrize("share", [0.0, 1.0, math.nan])
def test_a_share_of_all_or_nothing_is_refused(share):
    with refused(f"share = {share}"):
        Oneshot.calibrated(2, 1.0, values=True, share=share)


@pytest.mark.parametrize(
    ("words", "parameters", "values"),
    [
        (("k = 4", "1 .. 3"), {"k": 4}, [1, 2, 3]),
        (("n_items = 4", "3"), {"n_items": 4}, [1, 2, 3]),
        (("values[1] = nan",), {}, [1, math.nan, 3]),
        (("values[0] = -inf",), {}, [-math.inf, 2, 3]),
        (("shape ()",), {}, 3),
        (("dtype",), {}, ["a", "b"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("rng", [np.random.default_rng(0), SECURE], ids=["seeded", "secure"])
def test_bad_values_are_refused(words, parameters, values, rng):
    with refused(*words):
        Oneshot(**({"k": 2, "scale": 1.0} | parameters)).release(values, rng)


@pytest.mark.parametrize(
    ("words", "parameters", "values"),
    [
        (("noise = 'gumbel'",), {"noise": "gumbel"}, [1, 2, 3]),
        (("noise = 'exponential'",), {"noise": "exponential"}, [1, 2, 3]),
        (("sensitivity = 0.5",), {"sensitivity": 0.5}, [1, 2, 3]),
        (("values[1] = 2.5",), {}, [1, 2.5, 3]),
        (("values[2] = ", "2^51"), {}, [1, 2, 2**52]),
    ],
    ids=str,
)
def test_floats_are_not_published(words, parameters, values):
    with refused(*words):
        Oneshot(2, 1.0, **parameters).release(values, SECURE)


@pytest.mark.parametrize("rng", [None, 7, np.random.RandomState(0)], ids=lambda rng: type(rng).__name__)
def test_other_sources_of_noise_are_refused(rng):
    with refused("rng = "):
        Oneshot(2, 1.0).release([1, 2, 3], rng)
