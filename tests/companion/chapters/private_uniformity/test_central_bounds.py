"""No private test of bits does better, and broken twins."""

import math
from itertools import product

import pytest

from companion.chapters.private_uniformity import central_bounds
from companion.ledger.claim import derive

DELTA = 0.05


def test_no_private_test_of_bits_beats_the_bound():
    for n, epsilon in product((1, 3, 8), (0.2, 1.0)):
        for p in (0.6, 1.0):
            power = central_bounds.best_private_power(n, p, epsilon, DELTA)
            assert power <= DELTA * (1 + (p - 0.5) * math.expm1(epsilon)) ** n + 1e-9
            assert power >= DELTA - 1e-9
    assert central_bounds.best_private_power(1, 1.0, 1.0, 0.05) == pytest.approx(
        0.05 * (1 + math.expm1(1.0)) / (math.e / 2 + 0.5)
    )


@pytest.mark.slow
def test_fewer_bits_than_the_bound_are_seen():
    needs = central_bounds.bernoulli_needs([1.0, 0.3], 0.75, DELTA)
    mutant = needs.assign(**{"bits needed": needs["lower bound"] * 0.9})
    assert derive(central_bounds.check_lower(mutant, 0.75, DELTA)) == "refuted"
