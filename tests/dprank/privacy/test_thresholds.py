"""Thresholds of losses, drawn exactly. A single test is random, which a right law fails with chance 1e-4."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from checks import law_p_value

from dprank.privacy.noise import SECURE
from dprank.privacy.thresholds import threshold, whole_below

LOSSES, COUNTS = np.array([0, 2, 3, 7]), {0: 1, 2: 5, 3: 6, 7: 60}


def counts(losses):
    return [COUNTS[int(loss)] for loss in losses]


def law(scale):
    """Of the thresholds, to 60 digits."""
    digits = Context(prec=60)
    exact = [digits.exp(digits.divide(Decimal(-int(loss)), Decimal(scale))) for loss in LOSSES]
    steps = [*map(Fraction, exact), Fraction(0)]
    weights = [n * (low - high) for n, low, high in zip(counts(LOSSES), steps, steps[1:], strict=False)]
    return [weight / sum(weights) for weight in weights]


def drawn(number, scale, bits):
    """What comes out for the uniform number of so many bits, whose later ones are 0."""
    rest = [number]

    def draw(n):
        held = rest[0]
        rest[0] = (held << n) % (1 << bits)
        return (held << n) >> bits

    return threshold(LOSSES, counts, COUNTS[7], scale, draw)


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 1e3])
def test_the_uniform_number_is_cut_where_the_law_says(scale):
    bits = 180  # three times what is drawn at a time: also between numbers of 64 and of 128 bits
    edges = [math.ceil(sum(law(scale)[: i + 1]) * 2**bits) for i in range(len(LOSSES))]
    for i, edge in enumerate(edges[:-1]):
        near = 2 ** (bits - 170)  # of digits that the law above has
        assert drawn(edge - near, scale, bits) <= LOSSES[i]
        assert drawn(edge - near, scale, bits) == LOSSES[i] or law(scale)[i] < 2.0**-160
        assert drawn(edge + near, scale, bits) > LOSSES[i]
    assert drawn(0, scale, bits) == 0
    assert drawn(2**bits - 1, scale, bits) == 7 or law(scale)[-1] < 2.0**-170


def test_a_far_loss_is_reached_where_it_counts_for_much():
    losses, alike = np.array([0, 10**6]), {0: 1, 10**6: 10**500}
    for scale, likely in ((1e3, 10**6), (800.0, 0)):  # e^-1000 of 10^500, and e^-1250: the other has chance e^-99
        assert threshold(losses, lambda t: [alike[int(x)] for x in t], 10**500, scale, SECURE.bits) == likely


def test_whole_numbers_are_uniform():
    for rng in (SECURE, np.random.default_rng(1)):
        for n in (1, 3, 3 << 62):
            seen = [whole_below(n, rng) for _ in range(3000)]
            assert 0 <= min(seen) <= max(seen) < n
            if n > 1:
                assert law_p_value(np.bincount([x * 3 // n for x in seen], minlength=3), [1 / 3] * 3) > 1e-4 / 4
