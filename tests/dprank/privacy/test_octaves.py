"""`peel`, followed down every path of its coins: its law to 12 digits.

A test of draws, which have no seed, denies a right law once in 1 / ALARM_SECURE runs.
"""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import permutations
from typing import Any

import flint
import numpy as np
import pytest
from checks import doubted, each, law_p_value
from scipy import stats

from dprank.privacy import octaves

ALARM_SECURE = 1e-9


class Paths:
    """Coins that go one way after another: of whole numbers, of bits, and of chances that a coin is given."""

    def __init__(self, off=1.0):
        self.off, self.path, self.ways, self.odds = off, [], [], []

    def fork(self, chances):
        at = len(self.ways)
        if at == len(self.path):
            self.path.append(0)
        self.ways.append(len(chances))
        self.odds.append(chances[self.path[at]])
        return self.path[at]

    def randbelow(self, n):
        return self.fork([1 / n] * n)

    def randbits(self, n):
        return self.fork([2.0**-n] * 2**n)

    def heads(self, chance):
        assert -1e-12 <= chance <= 1 + 1e-12
        return chance > 1 - 1e-12 or bool(self.fork([1 - self.off * chance, self.off * chance]))

    def turn(self):
        """To the next path, if there is one."""
        path = self.path[: len(self.ways)]
        while path and path[-1] + 1 == self.ways[len(path) - 1]:
            path.pop()
        self.path, self.ways, self.odds = [*path[:-1], path[-1] + 1] if path else [], [], []
        return bool(path)


def followed(monkeypatch, run, start=(), off=1.0):
    """(path, chance, result) of all paths that begin so."""
    coins = Paths(off)
    coins.path = list(start)
    monkeypatch.setattr(octaves, "secrets", coins)
    monkeypatch.setattr(
        octaves._Octaves,
        "_heads",
        lambda self, loss, doublings: coins.heads(2.0**doublings * math.exp(-loss / self._scale)),
    )
    while coins.path[: len(start)] == list(start):
        result = run()
        yield coins.path[: len(coins.ways)], math.prod(coins.odds[len(start) :]), result
        if not coins.turn():
            return


def softmax(behind, scale):
    weights = np.exp(-(behind - behind.min()) / scale)
    return weights / weights.sum()


def permute_and_flip(behind, scale):
    heads = np.exp(-(behind - behind.min()) / scale)
    chances = np.zeros(len(heads))
    for order in permutations(range(len(heads))):
        still = 1 / math.factorial(len(heads))
        for item in order:
            chances[item] += still * heads[item]
            still *= 1 - heads[item]
    return chances


def one_round(monkeypatch, values, k, scale, way, before, off=1.0):
    """Law of the next item after paths of earlier rounds, given that one is taken; and the paths that take one."""
    law, ends = defaultdict(float), []

    def run():
        state = octaves._Octaves(values, k, scale, True)
        for _ in before:
            state._ready()
            state._take(state._try()) if way == "gumbel" else state.by_flips()
        if way == "exponential":
            return state._item(state.by_flips())
        state._ready()
        place = state._try()
        return None if place is None else state._item(place)

    for path, chance, item in followed(monkeypatch, run, sum(before, ()), off):
        law[item] += chance
        if item is not None and chance > 0:
            ends.append((item, (*before, tuple(path[len(sum(before, ())) :]))))
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    failed = law.pop(None, 0.0)
    return {item: chance / (1 - failed) for item, chance in law.items()}, ends


TABLES = {
    "all apart": (np.array([9, 7, 4, 1]), 2.0, 1),
    "two alike": (np.array([3, 9, 9, 6]), 3.1, 1),
    "in one octave": (np.array([7, 8, 8]), 50.0, 2),
    "far behind": (np.array([20, 1, 19, 0]), 1.3, 2),
    "all alike": (np.array([-5, -5, -5]), 0.4, 1),
    "a gap of octaves": (np.array([0, 40, 41]), 1.0, 3),
    "close in the next octave": (np.array([10, 4, 3]), 10.0, 2),
    "close in the rest": (np.array([10, 4, 3]), 10.0, 1),
}


@each("name", TABLES)
@each("way", ["gumbel", "exponential"])
def test_every_round_has_its_law(name, way, monkeypatch):
    """Of whatever was taken, and by whichever coins: out of an octave, out of the rest, near or far."""
    values, scale, reach = TABLES[name]
    if way == "exponential":
        values = values[:3]
    monkeypatch.setattr(octaves, "_REACH", reach - len(values).bit_length())
    law_of = softmax if way == "gumbel" else permute_and_flip
    rounds: list[Any] = [((), ())]
    seen = 0
    for _ in range(len(values) - 1):
        following = []
        for taken, before in rounds:
            law, ends = one_round(monkeypatch, values, len(values) - 1, scale, way, before)
            left = np.setdiff1d(np.arange(len(values)), taken)
            expected = dict(zip(left.tolist(), law_of(values.max() - values[left], scale), strict=True))
            assert law == pytest.approx(expected, abs=1e-12)
            by_item = defaultdict(list)
            for item, paths in ends:
                by_item[item].append(((*taken, item), paths))
            # the first path to an item, the last, and one between: other coins, other octaves
            following += [some[at] for some in by_item.values() for at in {0, len(some) // 2, len(some) - 1}]
            seen += len(ends)
        rounds = following
    assert seen > 3


@each("way", ["gumbel", "exponential"])
def test_a_coin_off_by_a_thousandth_is_seen(way, monkeypatch):
    """Of all coins but those that are certain: the best item's."""
    values, scale, reach = TABLES["two alike"]
    monkeypatch.setattr(octaves, "_REACH", reach - 2)
    law, _ = one_round(monkeypatch, values[:3], 1, scale, way, (), off=0.999)
    expected = (softmax if way == "gumbel" else permute_and_flip)(values.max() - values[:3], scale)
    worst = max(abs(law[item] - chance) for item, chance in enumerate(expected))
    assert 1e-5 < worst < 1e-3


def test_every_item_has_a_place(monkeypatch):
    """Also where octaves end: just before, there, and behind."""
    monkeypatch.setattr(octaves, "_REACH", -1)
    for scale in (1.0, 10.0):
        for end in range(12, 60):
            values = -np.array([0, 1, end, end, end + 1, end - 1, 7 * end])
            for k in (1, 2, 3):
                state = octaves._Octaves(values, k, scale, True)
                assert sorted(state._item(place) for place in range(len(values))) == [*range(len(values))]


@each("times", [0, 1, 2])
def test_halving_is_binomial(times, monkeypatch):
    law = defaultdict(float)
    for _, chance, n in followed(monkeypatch, lambda: octaves._halved(3, times)):
        law[n] += chance
    assert dict(law) == pytest.approx({n: p for n in range(4) if (p := stats.binom.pmf(n, 3, 0.5**times)) > 0})


def test_what_is_drawn_in_turn_is_all_once():
    for size in (1, 2, 7):
        seen = []
        assert sorted(octaves._another(size, seen) for _ in range(size)) == [*range(size)] == seen


def test_an_octave_gives_each_once():
    for order in permutations(range(4)):
        octave, taken = octaves._Octave(0, 10, 14), []
        for step, drawn in enumerate(order):
            at = drawn % (4 - step)
            taken.append(octave.place(at))
            octave.take(at)
        assert sorted(taken) == [10, 11, 12, 13]


@each("scale", [0.3, 2.0, 777.7, 1e9, 2.0**-40])
def test_octaves_bound_weights_from_above(scale):
    """By at most twice, but for rounding; and by no less than that."""
    values = np.unique(np.r_[0, 1, 2, 3, (scale * np.array([0.5, 0.69, 0.7, 1.38, 1.39, 60.0])).astype(int)])[
        ::-1
    ].copy()
    state = octaves._Octaves(values, len(values), scale, True)
    for loss in (values[0] - values).tolist():
        number = state._number(loss)
        assert state._least(number) <= loss < state._least(number + 1)
        nats = Fraction(loss) / Fraction(scale) - number * Fraction(math.log(2))
        assert -Fraction(number + 1, 10**15) <= nats <= Fraction(math.log(2)) + Fraction(number + 1, 10**15)


@each("scale", [5e-324, 1e-9, 1.0, 1e300])
def test_the_bound_of_log_2_is_above_it_and_close(scale):
    """So close that what an octave leaves to a coin is a half, or hardly less, of losses of 64 bits."""
    bound = octaves._above_log_2(scale)
    with flint.ctx.workprec(4000):
        above = flint.arb(flint.fmpq(bound.numerator, bound.denominator)) - flint.arb(2).log()
        assert above > 0
        assert above * 2**64 / flint.arb(scale) < flint.arb(2) ** -60


@each("way", ["gumbel", "exponential"])
@each("largest", [True, False])
def test_the_order_is_that_of_values_far_apart(way, largest):
    ends = np.iinfo(np.int64)
    for given in ([ends.max, ends.min, 0, 5], [ends.min, ends.max], [3, 1, 2], [2**62, -(2**62), 0, 2**61]):
        values = np.array(given)
        order = np.argsort(values)[:: -1 if largest else 1].tolist()
        for scale in (1e-3, 5e-324):
            for k in range(1, len(values) + 1):
                assert octaves.peel(values, k, scale, way, largest=largest).tolist() == order[:k]
        assert sorted(octaves.peel(values, len(values), 1e300, way, largest=largest).tolist()) == [*range(len(values))]


@pytest.mark.slow
@each("way", ["gumbel", "exponential"])
def test_all_of_many_are_taken_once(way):
    rng = np.random.default_rng(5)
    for values in (rng.integers(0, 40, 300), np.full(300, 3), rng.integers(0, 10**6, 300), rng.geometric(0.5, 300)):
        for scale in (0.5, 40.0, 10**5):
            assert sorted(octaves.peel(values, 300, scale, way).tolist()) == [*range(300)]
            assert len(set(octaves.peel(values, 30, scale, way, largest=False).tolist())) == 30


@pytest.mark.slow
@each(("way", "law_of"), [("gumbel", softmax)])
@each("scale", [20.0, 3000.0])
def test_the_first_of_a_thousand_has_its_law(way, law_of, scale):
    values = np.random.default_rng(1).integers(0, 10_000, 1000)

    def chance(size):
        first = [octaves.peel(values, 1, scale, way)[0] for _ in range(size)]
        return law_p_value(np.bincount(first, minlength=1000), law_of(values.max() - values, scale))

    assert doubted(chance, 500, 4000) > ALARM_SECURE


def opendp_peel(values, k, scale, way):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measure = dp.zero_concentrated_divergence() if way == "gumbel" else dp.max_divergence()
    space = dp.vector_domain(dp.atom_domain(T="i64"), len(values)), dp.linf_distance(T="i64")
    select = dp.m.make_noisy_top_k(*space, measure, k, scale)
    return lambda: select(values.tolist())


@pytest.mark.slow
@each("way", ["gumbel", "exponential"])
@each("spread", [0, 30, 1000])
def test_opendp_takes_the_same(way, spread):
    """Two samples of tables whose values are alike, close and far apart: places, by value, of the first three."""
    values = np.random.default_rng(2).integers(0, spread + 1, 60)
    rank = np.argsort(np.argsort(-values)) // 3
    theirs = opendp_peel(values, 3, 25.0, way)

    def chance(size):
        seen = [[rank[it] for _ in range(size) for it in draw()]
                for draw in (lambda: octaves.peel(values, 3, 25.0, way), theirs)]  # fmt: skip
        table = np.array([np.bincount(some, minlength=20) for some in seen])
        return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue

    # three of a release are not independent, but negatively dependent: the alarm is rarer
    assert doubted(chance, 400, 1500) > ALARM_SECURE
