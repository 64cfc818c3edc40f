"""Chances that fair bits decide: cut where the law says, to 160 bits. Nothing here is random."""

import math
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from checks import each
from fed_bits import BITS, fed, reached

from dprank.privacy import exact

DIGITS = Context(prec=400)


def exponential(exponent):
    """exp(exponent), to 400 digits."""
    return Fraction(DIGITS.exp(DIGITS.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))))


@each("scale", [0.01, 1.7, 64.0, 1e6, Fraction(7, 3)])
@each("loss", [0, 1, 9, 1000])
@each("point", [10, 64, 500])
def test_bounds_of_a_weight_hold(loss, scale, point):
    low, high = exact.exp_bounds(loss, scale, point)
    assert low <= exponential(-Fraction(loss) / Fraction(scale)) * 2**point <= high
    assert 0 <= low <= high <= low + 3


@each("scale", [0.3, 1.7, 1e6])
@each("doublings", [1, 5, 700])
@each("spare", [0, 1, 40, 10**4])
def test_a_doubled_weight_is_bounded_as_closely(scale, doublings, spare):
    """Of losses whose weight, so often doubled, is at most 1: also where what is left is next to nothing."""
    loss = math.ceil(doublings * scale * math.log(2)) + math.ceil(spare * scale)
    true = exponential(-Fraction(loss) / Fraction(scale)) * 2**doublings
    for point in (2, 64, 200):
        low, high = exact.exp_bounds(loss, scale, point, doublings)
        assert low <= true * 2**point <= high
        assert 0 <= low <= high <= low + 3


def test_falling_weights_are_bounded_and_bounds_fall():
    losses = [0, 1, 3, 4, 90, 91, 500]
    for scale, point in product((0.3, 20.0), (70, 300)):
        found = list(exact.exp_falls(losses, scale, point))
        assert len(found) == len(losses)
        for loss, (low, high) in zip(losses, found, strict=True):
            assert low <= exponential(-Fraction(loss) / Fraction(scale)) * 2**point <= high
            assert high - low <= 4 * len(losses)
        for side in zip(*found, strict=True):
            assert list(side) == sorted(side, reverse=True)


@each("loss", [1, 2, 30])
def test_a_coin_falls_where_the_uniform_number_does(loss):
    """Of 200 bits that are below or above the chance by 2^-190 of it: 64 and 128 are too few to tell."""
    chance = exponential(-Fraction(loss, 7))
    edge = math.floor(chance * 2**BITS)
    for number, below in ((edge - 2**10, True), (edge + 2**10, False), (0, True), (2**BITS - 1, False)):
        with fed(number):
            assert exact.happens(lambda bits: exact.exp_bounds(loss, 7.0, bits)) == below


def test_a_coin_goes_on_from_the_bits_that_it_has():
    chance = Fraction(1, 3)

    def bounds(bits):
        return math.floor(chance * 2**bits), math.ceil(chance * 2**bits)

    for rest, below in ((0, True), (2**BITS - 1, False)):  # 1/3 is 0.0101...: of 8 bits, 85
        with fed(rest):
            assert exact.happens(bounds, 85, 8) == below
    with fed(2**BITS - 1):
        assert exact.happens(bounds, 84, 8)
    with fed(0):
        assert not exact.happens(bounds, 86, 8)


def test_certain_coins_are_certain():
    for number in (0, 2**BITS - 1):
        with fed(number):
            assert exact.happens(lambda bits: (1 << bits, 1 << bits))
            assert not exact.happens(lambda bits: (0, 0))


THIRDS = [Fraction(1, 3), Fraction(2, 3)]
CLOSE = [Fraction(1, 3) + Fraction(j, 2**70) for j in range(3)]
CHANCES = {
    "thirds": THIRDS,
    "closer than 64 bits": CLOSE,
    "next to 1": [1 - Fraction(1, 3 << 60)],
    "half": [THIRDS[0] * 3 / 2],
}


def cuts(chances, loose=0):
    """Of chances that are known, or not better than by so many units."""

    def bounds(bits):
        low = [max(0, math.floor(p * 2**bits) - loose) for p in chances]
        return low, [min(2**bits, math.ceil(p * 2**bits) + loose) for p in chances]

    return exact.Cuts(bounds)


@each("name", CHANCES)
@each("loose", [0, 1, 1000])
def test_numbers_are_cut_at_their_chances(name, loose):
    chances = CHANCES[name]
    table = cuts(chances, loose)
    for place, chance in enumerate(chances):
        edge = math.ceil(chance * 2**BITS)
        assert reached(table, edge - 2**20) == place
        assert reached(table, edge + 2**20) == place + 1
    assert reached(table, 0) == 0
    assert reached(table, 2**BITS - 1) == len(chances)


@each("name", CHANCES)
def test_sixteen_bits_are_enough_but_where_a_chance_begins_with_them(name):
    table = cuts(CHANCES[name])
    first = table._first
    cells = {math.floor(p * 2**16) for p in CHANCES[name] if (p * 2**16).denominator > 1}
    assert set(np.flatnonzero(first < 0).tolist()) == cells
    for word in range(0, 2**16, 7):
        if word not in cells:
            assert first[word] == sum(p * 2**16 <= word for p in CHANCES[name])


def test_a_table_without_end_grows_with_the_bits():
    """Chances 1 - 2^-(j+1), of which bounds of few bits know the first four: the others are found by more of them."""

    def bounds(bits):
        known = [(1 << bits) - (1 << bits - 1 - j) for j in range(bits // 16)]
        return [*known, known[-1]], [*known, 1 << bits]

    table = exact.Cuts(bounds)
    for number in (0, 1, 3, 4, 9, 11):
        assert reached(table, 2**BITS - 2 ** (BITS - number)) == number
        assert reached(table, 2**BITS - 2 ** (BITS - number - 1) - 1) == number


def test_words_come_from_the_operating_system(monkeypatch):
    monkeypatch.setattr(exact.os, "urandom", lambda size: bytes(range(size)))
    assert exact.fair_words(2, np.uint16).tolist() == [0x0100, 0x0302]
    monkeypatch.undo()
    assert len(exact.fair_words(0, np.uint64)) == 0
    assert len(set(exact.fair_words(1000, np.uint64).tolist())) == 1000


@pytest.mark.parametrize("size", [0, 1, 70_000])
def test_so_many_numbers_are_drawn(size):
    drawn = cuts(THIRDS).draw(size)
    assert (drawn.shape, drawn.dtype) == ((size,), np.int64)
    assert set(drawn.tolist()) <= {0, 1, 2}
