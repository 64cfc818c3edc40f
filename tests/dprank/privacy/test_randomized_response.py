"""Exact, but for draws: with fixed seeds, and of `SECURE`, at a false-alarm rate of ALARM each."""

from __future__ import annotations

import math
import secrets
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from checks import each, law_p_value, refused

from dprank.privacy.noise import SECURE
from dprank.privacy.randomized_response import GRAIN, bit_loss, flips_for, randomise, require_telling

ALARM = 1e-6


@each("epsilon", [1e-12, 1e-9, 1e-3, 1 / 3, 1.0, 5.0, 30.0, 100.0, 1e6])
@each("bits", [1, 3, 500])
def test_chances_never_spend_more_than_promised_and_hardly_less(epsilon, bits):
    flips = flips_for(epsilon, bits)
    spent = bits * bit_loss(flips)
    assert spent <= epsilon * (1 + 1e-15)
    if 1e-3 <= epsilon / bits <= 10:
        assert spent == pytest.approx(epsilon, rel=1e-9)
        assert bits * bit_loss(flips - 8) > epsilon


def test_fair_coins_are_refused():
    """The largest epsilon that leaves nothing but them, and the least that does not."""
    for bits, said in ((1, "1 answer of"), (3, "3 answers of")):
        least = bit_loss(GRAIN // 2 - 1, bits)
        assert flips_for(least, bits) == GRAIN // 2 - 1
        with refused(f"epsilon = {math.nextafter(least, 0)}", said, "fair coins"):
            flips_for(math.nextafter(least, 0), bits)


@each("bits", [1, 3])
def test_one_reversal_fewer_would_spend_too_much(bits):
    for epsilon in np.geomspace(1e-6, 20, 400).tolist():
        flips = flips_for(epsilon, bits)
        assert bit_loss(flips, bits) <= epsilon < bit_loss(flips - 1, bits)


def test_loss_is_rounded_up():
    for flips in (1, 3, 12345, GRAIN // 3, GRAIN // 2 - 1):
        # e^loss >= odds, exactly, by a partial sum of the exponential series from below
        loss, odds = Fraction(bit_loss(flips)), Fraction(GRAIN - flips, flips)
        term, total, n = Fraction(1), Fraction(1), 0
        while n < 170:
            n += 1
            term = term * loss / n
            total += term
        assert total >= odds
    assert bit_loss(GRAIN // 2) == 0


@pytest.mark.parametrize("source", [np.random.default_rng(1), SECURE])
def test_reversals_have_their_probability_and_are_independent(source):
    flips = flips_for(0.7)
    signs = np.tile(np.int8([1, -1, 1]), (40_000, 1))
    reversed_ = randomise(signs, flips, source) != signs
    q = flips / GRAIN
    law = np.array([q ** sum(v) * (1 - q) ** (3 - sum(v)) for v in product((0, 1), repeat=3)])
    counts = np.bincount(reversed_ @ [4, 2, 1], minlength=8)
    assert law_p_value(counts, law) > ALARM


class Stub(np.random.Generator):
    """Hands out the words it was given, if they can be asked for at all."""

    def __init__(self, words):
        super().__init__(np.random.PCG64(0))
        self.words = np.array(words, np.uint64)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        assert (low, high, endpoint) == (0, GRAIN, False)
        return self.words.reshape(size).astype(dtype)


@pytest.mark.parametrize("flips", [1, 2, 12345, GRAIN // 2])
def test_exactly_so_many_words_reverse_a_sign(flips, monkeypatch):
    """The coin is exact: words below `flips` reverse, of the 2^53 there are."""
    words, signs = [0, flips - 1, flips, GRAIN - 1], np.ones(4, np.int8)
    wanted = [1 if word >= flips else -1 for word in words]
    assert randomise(signs, flips, Stub(words)).tolist() == wanted
    # the first 53 of 64 bits of the operating system's, whatever the other 11 are
    for rest in (0, 2**11 - 1):
        raw = (np.array(words, np.uint64) << np.uint64(11)) + np.uint64(rest)
        monkeypatch.setattr(secrets, "token_bytes", lambda n, raw=raw: raw.tobytes()[:n])
        assert randomise(signs, flips, SECURE).tolist() == wanted


def test_the_fewest_reversals_are_one():
    """And the least that is lost then, log(2^53 - 1), is found at once for every larger epsilon."""
    assert flips_for(1e6) == flips_for(37.0) == 1
    assert bit_loss(1) == pytest.approx(math.log(2.0**53 - 1), rel=1e-14)
    assert bit_loss(1) < 37 < 2 * bit_loss(1) == pytest.approx(bit_loss(1, 2), rel=1e-15)
    assert bit_loss(GRAIN // 2, 3) == 0


def test_the_check_of_reversals_sees_broken_twins():
    flips, rng = flips_for(0.7), np.random.default_rng(2)
    signs = np.tile(np.int8([1, -1, 1]), (40_000, 1))
    q = flips / GRAIN
    law = np.array([q ** sum(v) * (1 - q) ** (3 - sum(v)) for v in product((0, 1), repeat=3)])
    right = randomise(signs, flips, rng)
    twins = {
        "inverted": -right,
        "one coin": signs * np.where(rng.random((40_000, 1)) < q, -1, 1),
        "last untouched": np.column_stack([right[:, :2], signs[:, 2]]),
        "all of epsilon on every bit": randomise(signs, flips_for(3 * 0.7), rng),
    }
    for name, twin in twins.items():
        assert law_p_value(np.bincount((twin != signs) @ [4, 2, 1], minlength=8), law) < 1e-12, name


def test_loss_is_rounded_up_by_three_units_in_the_last_place_at_most():
    """The logarithm is known to within one, and is then raised by two."""
    rng = np.random.default_rng(6)
    for flips in (1, 2, 3, 12345, *rng.integers(1, GRAIN // 2, 100).tolist()):
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.mpf(GRAIN - flips) / flips)
            raised = float((bit_loss(flips) - exact) / math.ulp(float(exact)))
        assert 1 <= raised <= 3
        assert bit_loss(flips, 1) == bit_loss(flips)
        for bits in (2, 3, 77):
            assert bit_loss(flips, bits) == math.nextafter(bits * bit_loss(flips), math.inf)


def test_no_fewer_reversals_would_do():
    for flips in (1, 2, 3, 7, 100, 12345, 10**9 + 7):
        assert flips_for(bit_loss(flips)) == flips
        assert flips_for(bit_loss(flips, 3), 3) == flips
        for bits in (1, 3):
            assert flips_for(math.nextafter(bit_loss(flips, bits), 0), bits) == flips + 1


@each(
    ("call", "field", "least", "most"),
    [
        (bit_loss, "flips", 1, GRAIN // 2),
        (lambda x: bit_loss(5, x), "bits", 1, 2**106),
        (lambda x: flips_for(2.0**60, x), "bits", 1, 2**106),
        (lambda x: randomise(np.ones(2, np.int8), x, SECURE), "flips", 0, GRAIN),
    ],
)
def test_what_is_allowed_and_what_is_not(call, field, least, most):
    call(least)
    call(most)
    with refused(f"{field} = {least - 1}"):
        call(least - 1)
    with refused(f"{field} = {most + 1}", f"from {least} to {most} is"):
        call(most + 1)


def test_no_reversal_and_nothing_but_reversals():
    signs = np.int8([1, -1, 1])
    for source in (np.random.default_rng(1), SECURE):
        assert randomise(signs, 0, source).tolist() == [1, -1, 1]
        assert randomise(signs, GRAIN, source).tolist() == [-1, 1, -1]
        # in bytes, whose sums are exact; of floats of 16 bits those of 2,049 answers are not
        assert {randomise(given, 5, source).dtype for given in (signs, np.ones((3, 2), np.int8))} == {np.dtype(np.int8)}


def test_one_answer_is_meant_where_no_number_is_said():
    assert bit_loss(12345) == bit_loss(12345, 1) != bit_loss(12345, 2)
    assert flips_for(0.7) == flips_for(0.7, 1) != flips_for(0.7, 2)
    assert require_telling(GRAIN // 2 - 1, 1e-20) == GRAIN // 2 - 1
    for given, said in (((), "1 answer of"), ((1,), "1 answer of"), ((2,), "2 answers of")):
        for flips in (GRAIN // 2, GRAIN // 2 + 1):
            with refused("epsilon = 1e-20", f"too little for {said} each voter"):
                require_telling(flips, 1e-20, *given)
