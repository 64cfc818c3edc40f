"""No statistics here. Epsilons are compared exactly, as fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from checks import refused

from dprank.mechanism import Guarantee, compose, ratio_up, require


def awkward_floats(size, seed):
    """Random bits between 1e-150 and 1e150: quotients neither overflow nor lose bits."""
    rng = np.random.default_rng(seed)
    return np.ldexp(rng.uniform(0.5, 1, size), rng.integers(-500, 500, size)).tolist()


PAIRS = list(zip(awkward_floats(3000, 1), awkward_floats(3000, 2), strict=True))
PAIRS += [
    (sensitivity, epsilon)
    for sensitivity in range(1, 40)
    for epsilon in (0.1, 0.3, 0.7, 1 / 3, 1, 2.5, 1e-3, 5e-324 * 2**80)
]


def test_ratio_up_is_the_least_float_not_below_the_quotient():
    for a, b in PAIRS:
        ratio = ratio_up(a, b)
        assert Fraction(math.nextafter(ratio, 0)) < Fraction(a) / Fraction(b) <= Fraction(ratio)


def keeps_epsilon(ratio):
    return all(ratio(a, ratio(a, b)) <= b for a, b in PAIRS)


def test_a_scale_rounded_up_keeps_its_epsilon_and_a_plain_quotient_does_not():
    assert keeps_epsilon(ratio_up)
    assert not keeps_epsilon(lambda a, b: a / b)


@pytest.mark.parametrize(
    ("numerator", "denominator", "expected"),
    [(2, 0, math.inf), (0, 0, 0), (2, math.inf, 0), (0, 3, 0), (5e-324, 2, 5e-324), (2, 5e-324, math.inf)],
)
def test_ratio_up_at_the_ends(numerator, denominator, expected):
    assert ratio_up(numerator, denominator) == expected


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("epsilon", -1e-9, ["epsilon = -1e-09", "at least 0"]),
        ("epsilon", math.nan, ["epsilon = nan"]),
        ("delta", 1.0, ["delta = 1.0", "[0, 1)"]),
        ("delta", -0.5, ["delta = -0.5"]),
        ("delta", math.nan, ["delta = nan"]),
        ("unit", "person", ["unit = 'person'", "'comparison', 'voter'"]),
        ("adjacency", "add", ["adjacency = 'add'", "'replace', 'add_remove'"]),
        ("model", "shuffle", ["model = 'shuffle'", "'central', 'local'"]),
    ],
)
def test_guarantee_refuses(field, value, words):
    with refused(*words):
        Guarantee(**({"epsilon": 1.0} | {field: value}))


def test_guarantee_says_what_it_promises():
    assert str(Guarantee(0.5)) == "epsilon = 0.5 (central; replace one voter)"
    text = str(Guarantee(math.inf, 1e-6, unit="comparison", adjacency="add_remove", model="local"))
    assert text == "epsilon = inf, delta = 1e-06 (local; add/remove one comparison)"


def test_require_names_field_value_and_choice():
    require("x", 1, (1, 2))
    with refused("x = 3", "1, 2"):
        require("x", 3, (1, 2))


def test_composition_adds_and_never_promises_too_much():
    rng = np.random.default_rng(0)
    for epsilons in rng.random((300, 7)):
        total = compose(*(Guarantee(e, e / 100) for e in epsilons))
        exact = sum(map(Fraction, epsilons.tolist()))
        assert exact <= Fraction(total.epsilon) <= exact * (1 + Fraction(1, 2**51))
        assert sum(Fraction(e / 100) for e in epsilons.tolist()) <= Fraction(total.delta)
    assert any(Fraction(math.fsum(e)) < sum(map(Fraction, e)) for e in rng.random((300, 7)).tolist()), (
        "rounding to nearest would have promised too much"
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 3.0, math.inf])
def test_composition_of_one_is_itself_and_zeros_are_free(epsilon):
    one = Guarantee(epsilon, 1e-3, unit="comparison", adjacency="add_remove", model="local")
    assert compose(one) == one
    assert compose(Guarantee(0.0), Guarantee(0.0)).epsilon == 0
    assert compose(Guarantee(epsilon), Guarantee(math.inf)).epsilon == math.inf


def test_composition_of_huge_epsilons_promises_nothing():
    assert compose(Guarantee(1e308), Guarantee(1e308)).epsilon == math.inf


@pytest.mark.parametrize("other", [{"unit": "comparison"}, {"adjacency": "add_remove"}, {"model": "local"}])
def test_composition_refuses_to_mix(other):
    with refused("cannot compose", "must agree"):
        compose(Guarantee(1.0), Guarantee(1.0, **other))
    with refused("at least one"):
        compose()
