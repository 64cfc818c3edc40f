"""Exact laws; draws have fixed seeds and every comparison of draws with a law a false-alarm rate of ALARM.

Blocks of two items and no spare room make small cases go through everything that large ones do: `small_blocks` runs
the kernel uncompiled with these sizes."""

from collections import Counter

import numpy as np
import pytest
from checks import denied, doubted, each, law_p_value, refused
from set_laws import count_law, plackett_luce, set_law, unordered

from dprank.data.tallies import finite
from dprank.pairwise import top_set_law
from dprank.privacy.noise import SECURE
from dprank.topk import selection
from dprank.topk.selection import noisy_top_k

ALARM = 1e-6
NOISES = ["laplace", "gumbel", "exponential"]
NOISE = pytest.mark.parametrize("noise", NOISES)


@pytest.fixture
def small_blocks(monkeypatch):
    for name in ("_contenders", "_keep", "_toll", "_above", "_any"):
        monkeypatch.setattr(selection, name, getattr(selection, name).py_func)
    monkeypatch.setattr(selection, "_BLOCK", 2)
    monkeypatch.setattr(selection, "_SPARE", 1)


def p_value(seen, law):
    counts = Counter(seen)
    assert counts.keys() <= law.keys()
    return law_p_value([counts[key] for key in law], list(law.values()))


def sets(values, k, scale, noise, draws, seed=7, **others):
    rng = np.random.default_rng(seed)
    return [tuple(sorted(noisy_top_k(values, k, scale, noise, rng, **others).tolist())) for _ in range(draws)]


# --- the yardstick ----------------------------------------------------------------------------------------------------

CASES = {
    "all equal": ([3, 3, 3, 3, 3, 3], 2),
    "rising": ([0.0, 0.7, 1.1, 2.0, 2.2, 3.9, 4.0], 1),
    "falling": ([5, 4, 3, 2, 1, 0], 3),
    "all but one": ([2.5, 0, 1, 2, 2], 4),
    "unlike in a block": ([6.0, 0.0, 5.0, -2.0, 6.0, 1.0], 2),
}
CASE = pytest.mark.parametrize(("values", "k"), CASES.values(), ids=CASES)


@CASE
def test_the_yardstick_agrees_with_others(values, k):
    laplace = top_set_law(values, 1.3, k)
    assert set_law(values, k, 1.3, "laplace") == pytest.approx(laplace, abs=1e-11)
    assert set_law(values, k, 1.3, "gumbel") == pytest.approx(unordered(plackett_luce(values, k, 1.3)), abs=1e-11)
    for noise in NOISES:
        assert sum(set_law(values, k, 1.3, noise).values()) == pytest.approx(1, abs=1e-11)


# --- law --------------------------------------------------------------------------------------------------------------


@NOISE
@CASE
@pytest.mark.slow
def test_sets_have_the_exact_law(values, k, noise, small_blocks):
    law = set_law(values, k, 1.3, noise)
    assert doubted(lambda draws: p_value(sets(values, k, 1.3, noise, draws, seed=draws), law), 500, 2000) > ALARM
    if noise == "laplace":
        assert denied(set_law(values, k, 0.9, noise), law, 2000) < ALARM or len(set(values)) == 1


@NOISE
def test_the_smallest_are_the_largest_of_the_opposite(noise, small_blocks):
    values = np.array([4.0, 2.0, 0.0, 1.0, 1.5])
    law = set_law(-values, 2, 1.3, noise)
    drawn = lambda draws: sets(values, 2, 1.3, noise, draws, seed=draws, largest=False)  # noqa: E731
    assert doubted(lambda draws: p_value(drawn(draws), law), 500, 2000) > ALARM


def test_gumbel_orders_are_those_of_plackett_and_luce(small_blocks):
    values, rng = np.array([0.0, 1.0, 0.5, 2.0, 1.8]), np.random.default_rng(5)
    seen = [tuple(noisy_top_k(values, 3, 1.3, "gumbel", rng).tolist()) for _ in range(4000)]
    assert p_value(seen, plackett_luce(values, 3, 1.3)) > ALARM


def many(order, dtype):
    """Four groups in 3000 items, in an order, and which item belongs to which."""
    group = np.repeat([0, 1, 2, 3], [2000, 900, 90, 10])
    if order == "shuffled":
        np.random.default_rng(1).shuffle(group)
    if order == "falling":
        group = group[::-1].copy()
    return np.array([0, 8, 16, 30], dtype)[group], group


@NOISE
@each(
    ("order", "dtype", "k"),
    [("rising", float, 1), ("falling", np.int64, 2), ("shuffled", float, 3)],
)
@pytest.mark.slow
def test_compiled_blocks_have_the_exact_law(noise, order, dtype, k):
    values, group = many(order, dtype)
    law = count_law([0, 8, 16, 30], [2000, 900, 90, 10], k, 9.0, noise)
    rng = np.random.default_rng(11)
    off = count_law([0, 8, 16, 30], [2000, 900, 90, 10], k, 12.0, noise)

    def chance(draws):
        chosen = (noisy_top_k(values, k, 9.0, noise, rng) for _ in range(draws))
        return p_value([tuple(np.bincount(group[items], minlength=4)) for items in chosen], law)

    assert doubted(chance, 750, 3000) > ALARM > denied(law, off, 3000)


@NOISE
def test_every_item_of_equals_is_as_likely(noise):
    rng = np.random.default_rng(12)
    chosen = np.concatenate([noisy_top_k(np.zeros(2000, np.int64), 40, 1.0, noise, rng) for _ in range(1000)])
    places = np.bincount(chosen, minlength=2000)
    assert law_p_value(places, np.full(2000, 1 / 2000)) > ALARM


# --- mutants ----------------------------------------------------------------------------------------------------------


def unconditional(patch):
    patch.setattr(selection, "_above", lambda least, law, rng: selection._any(law, rng))


def passes_by_twice_the_toll(patch):
    toll = selection._toll
    patch.setattr(selection, "_toll", lambda least, law: 2 * toll(least, law))


def passes_by_half_the_toll(patch):
    toll = selection._toll
    patch.setattr(selection, "_toll", lambda least, law: toll(least, law) / 2)


def keeps_one_less(patch):
    keep = selection._keep

    def less(items, noisy, k):
        threshold, held = keep(items, noisy, k)
        return np.sort(noisy[:held])[1] if held > 1 else threshold + 1.0, held

    patch.setattr(selection, "_keep", less)


@NOISE
@pytest.mark.slow
def test_a_broken_kernel_is_caught(noise, small_blocks, monkeypatch):
    # two items set a threshold that the many others seldom exceed
    values, k = [3.0, 3.0] + [0.5] * 6, 2
    law = count_law([3.0, 0.5], [2, 6], k, 1.5, noise)
    count = lambda seen: [(sum(i < 2 for i in s), sum(i > 1 for i in s)) for s in seen]  # noqa: E731
    chance = lambda draws: p_value(count(sets(values, k, 1.5, noise, draws, seed=draws)), law)  # noqa: E731
    assert doubted(chance, 500, 2000) > ALARM
    for mutant in (unconditional, passes_by_twice_the_toll, passes_by_half_the_toll, keeps_one_less):
        with monkeypatch.context() as patch:
            mutant(patch)
            assert any(chance(draws) < ALARM for draws in (500, 1000, 2000)), mutant.__name__


# --- work -------------------------------------------------------------------------------------------------------------


class Counting(np.random.Generator):
    """A generator that counts the exponential draws."""

    drawn = 0

    def standard_exponential(self, *args, **kwargs):
        self.drawn += 1
        return super().standard_exponential(*args, **kwargs)


@pytest.mark.parametrize("k", [64, 300])
def test_few_items_are_looked_at_even_if_all_are_equal(k, monkeypatch):
    for name in ("_contenders", "_keep", "_toll", "_above", "_any"):
        monkeypatch.setattr(selection, name, getattr(selection, name).py_func)
    rng = Counting(np.random.PCG64(1))
    m = 200_000
    noisy_top_k(np.zeros(m), k, 1.0, "exponential", rng)
    # two exponential draws an item: where it is, and what noise it has
    assert rng.drawn < 2 * 1.2 * k * np.log2(2 * m / k) < m / 5


def test_rising_values_are_no_worse(monkeypatch):
    for name in ("_contenders", "_keep", "_toll", "_above", "_any"):
        monkeypatch.setattr(selection, name, getattr(selection, name).py_func)
    rng = Counting(np.random.PCG64(2))
    noisy_top_k(np.arange(200_000) / 100, 64, 10.0, "exponential", rng)
    assert rng.drawn < 10_000


# --- extremes ---------------------------------------------------------------------------------------------------------


@NOISE
@each(("m", "k"), [(1, 1), (2, 1), (2, 2), (511, 511), (512, 1), (513, 512), (1500, 1499)])
def test_k_different_items_whatever_the_sizes(m, k, noise):
    for values in (np.zeros(m), np.arange(m), -np.arange(m) * 1e3):
        chosen = noisy_top_k(values, k, 1.0, noise, np.random.default_rng(3))
        assert len(set(chosen.tolist())) == k == len(chosen)
        assert set(chosen.tolist()) <= set(range(m))


@NOISE
@each("scale", [1e-300, 1e-6])
@each("dtype", [float, np.int64, np.int16])
def test_next_to_no_noise_sorts(noise, scale, dtype):
    values = np.random.default_rng(4).permutation(np.arange(-2000, 2000, dtype=dtype))
    order = np.argsort(values)
    rng = np.random.default_rng(4)
    assert noisy_top_k(values, 50, scale, noise, rng).tolist() == order[::-1][:50].tolist()
    assert noisy_top_k(values, 50, scale, noise, rng, largest=False).tolist() == order[:50].tolist()


@NOISE
def test_huge_integers_keep_their_last_bits(noise):
    values = 2**62 + np.random.default_rng(4).permutation(3000)
    assert noisy_top_k(values, 3, 1e-3, noise, np.random.default_rng(4)).tolist() == np.argsort(-values)[:3].tolist()


@NOISE
@pytest.mark.slow
def test_noise_beyond_the_values_chooses_anything(noise):
    rng = np.random.default_rng(6)
    chosen = np.concatenate([noisy_top_k(np.arange(1000.0), 5, 1e300, noise, rng) for _ in range(2000)])
    assert law_p_value(np.bincount(chosen // 100, minlength=10), np.full(10, 0.1)) > ALARM


def test_the_same_seed_chooses_the_same():
    one, again, other = (
        noisy_top_k(np.zeros(5000), 9, 1.0, "laplace", np.random.default_rng(s)).tolist() for s in (1, 1, 2)
    )
    assert one == again != other


# --- input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_values_are_not_copied(dtype):
    values = np.arange(10, dtype=dtype)
    assert np.shares_memory(finite(values), values)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float32])
def test_other_numbers_are_taken(dtype):
    values = np.array([0, 1, 0, 0, 1], dtype)
    chosen = noisy_top_k(values, 2, 1e-6, "laplace", np.random.default_rng(0))
    assert sorted(chosen.tolist()) == [1, 4]


@each(
    ("words", "changed"),
    [
        (("k = 0", "1 to 3"), {"k": 0}),
        (("k = 4", "1 to 3"), {"k": 4}),
        (("k = 1.5",), {"k": 1.5}),
        (("k = True",), {"k": True}),
        (("scale = 0",), {"scale": 0.0}),
        (("scale = nan",), {"scale": np.nan}),
        (("scale = inf",), {"scale": np.inf}),
        (("noise = 'gauss'",), {"noise": "gauss"}),
        (("values[1] is missing",), {"values": [1.0, np.nan, 2.0]}),
        (("values[2] is missing or infinite",), {"values": [1.0, 2.0, np.inf]}),
        (("values[0] is missing or infinite",), {"values": [-np.inf, 2.0, 1.0]}),
        (("2 dimensions",), {"values": [[1, 2, 3]]}),
        (("empty",), {"values": []}),
        (("dtype object",), {"values": np.array([1, None, 3])}),
        (("dtype bool",), {"values": [True, False, True]}),
        (("values are a list",), {"values": [[1], [2, 3]]}),
        (("scale = '1'",), {"scale": "1"}),
        (("k = None",), {"k": None}),
    ],
)
def test_bad_input_is_refused(words, changed):
    given = {"values": [1, 2, 3], "k": 1, "scale": 1.0, "noise": "laplace"} | changed
    with refused(*words):
        noisy_top_k(**given, rng=np.random.default_rng(0))


@pytest.mark.parametrize("rng", [None, 7, SECURE], ids=str)
def test_other_sources_of_noise_are_refused(rng):
    with refused("rng = <SecureSource>" if rng is SECURE else f"rng = {rng}", "numpy.random.Generator"):
        noisy_top_k([1, 2, 3], 1, 1.0, "laplace", rng)
