"""No statistics here. Epsilons are compared exactly, as fractions."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from checks import each, refused

from dprank._require import require_one_of
from dprank.privacy.guarantee import Guarantee, compose, ratio_up, require_promise, require_scale


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


@each(
    ("numerator", "denominator", "expected"),
    [
        (2, 0, math.inf),
        (0.5, 0, math.inf),
        (0, 0, math.inf),
        (2, math.inf, 0),
        (0, 3, 0),
        (5e-324, 2, 5e-324),
        (2, 5e-324, math.inf),
        (math.inf, 2, math.inf),
        (math.inf, math.inf, math.inf),
        # whole numbers that are no floats
        (2**53 + 1, 2**53 + 1, 1),
        (np.int64(2**53 + 1), np.int64(2**53 + 1), 1),
        (10**400, 10**400, 1),
        (10**400, 1, math.inf),
    ],
)
def test_ratio_up_at_the_ends(numerator, denominator, expected):
    assert ratio_up(numerator, denominator) == expected


def test_ratio_up_rounds_what_is_no_float_to_the_safe_side():
    for number in (Fraction(1, 3), Fraction(2, 3), Fraction(2**60 - 1, 2**60), Decimal("0.1"), Decimal("0.7")):
        assert ratio_up(number, 1) >= number
        assert Fraction(ratio_up(1, number)) * Fraction(number) >= 1


def test_noise_is_refused_where_its_epsilon_is_no_float_and_only_there():
    for name in ("scale", "value_scale"):
        require_promise(2.0, 1.7e308, name)
        with refused(f"{name} = 2.0; too little noise"):
            require_promise(2.0, math.inf, name)
        assert require_scale(2.0**-1023, 1.0, name) == 2.0**-1023  # epsilon 2^1023
        for scale, sensitivity in ((2.0**-1024, 1.0), (0.5, 1.7e308)):
            with refused(f"{name} = {scale}; too little noise"):
                require_scale(scale, sensitivity, name)
        for scale in (0, -1.0, math.nan):
            with refused(f"{name} = "):
                require_scale(scale, 1.0, name)
    with refused("scale = 2.0"):
        require_promise(2.0, math.inf)
    with refused("scale = 0.0"):
        require_scale(0.0, 1.0)


@each(
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
    require_one_of("x", 1, (1, 2))
    for other in (3, True, 1.0, "1", None):
        with refused(f"x = {other!r}", "1, 2"):
            require_one_of("x", other, (1, 2))


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


def test_composition_refuses_to_mix_models():
    with refused("cannot compose", "model"):
        compose(Guarantee(1.0), Guarantee(1.0, model="local"))
    with refused("at least one"):
        compose()
    with refused("one by one"):
        compose([Guarantee(1.0)])


# --- other neighbours ------------------------------------------------------------------------------------------------

PROMISES = list(product(("voter", "comparison"), ("add_remove", "replace")))
#: What one voter may give: comparisons x and y, each at most once. Without any there is no such voter.
GIVEN = ("", "x", "y", "xy")
NEIGHBOURS = {
    ("voter", "add_remove"): [("", "x"), ("", "y"), ("", "xy")],
    ("voter", "replace"): [("x", "y"), ("x", "xy"), ("y", "xy")],
    ("comparison", "add_remove"): [("", "x"), ("", "y"), ("x", "xy"), ("y", "xy")],
    ("comparison", "replace"): [("x", "y")],
}


def loss(chances, pairs, delta):
    """Least e^epsilon at delta, as a fraction, of a yes or no with these chances of a yes."""
    sides = [(chances[a], chances[b]) for pair in pairs for a, b in (pair, pair[::-1])]
    sides += [(1 - p, 1 - q) for p, q in sides]
    return max((p - delta) / q for p, q in sides)


@each("delta", [Fraction(0), Fraction(1, 64)])
@each(("unit", "adjacency"), PROMISES)
@each(("of", "under"), PROMISES)
def test_conversions_are_true_of_all_coins_and_attained(of, under, unit, adjacency, delta):
    """Coins for every data set, on a grid of chances that rise by all that epsilon = log 2 allows."""
    promised = Guarantee(math.log(2), float(delta), unit=of, adjacency=under)
    if (of, unit) == ("comparison", "voter") or (under, adjacency) == ("replace", "add_remove"):
        with refused("says nothing about", unit):
            promised.converted(unit, adjacency)
        return
    converted = promised.converted(unit, adjacency)
    twice = under == "add_remove" and (of, under) != (unit, adjacency)
    factor, grown = (4, 3 * delta) if twice else (2, delta)
    assert (converted.unit, converted.adjacency, converted.epsilon) == (unit, adjacency, math.log(factor))
    assert 0 <= Fraction(converted.delta) - grown <= grown / 2**50
    levels = [Fraction(1, 32), Fraction(2, 32) + delta, Fraction(4, 32) + 3 * delta]
    coins = [dict(zip(GIVEN, chances, strict=True)) for chances in product(levels, repeat=len(GIVEN))]
    private = [coin for coin in coins if loss(coin, NEIGHBOURS[of, under], delta) <= 2]
    assert len(private) < len(coins)
    assert max(loss(coin, NEIGHBOURS[unit, adjacency], grown) for coin in private) == factor


def test_composition_finds_what_all_imply():
    once = {unit: Guarantee(0.5, 2.0**-20, unit=unit, adjacency="add_remove") for unit in ("voter", "comparison")}
    other = Guarantee(0.25, unit="voter")
    assert compose(once["voter"], once["voter"]) == Guarantee(1.0, 2.0**-19, adjacency="add_remove")
    for first, second, unit, adjacency, epsilon in (
        (once["voter"], other, "voter", "replace", 1.25),
        (other, once["voter"], "voter", "replace", 1.25),
        (once["voter"], once["comparison"], "comparison", "add_remove", 1.5),
        (once["comparison"], other, "comparison", "replace", 1.25),
        (Guarantee(0.5, unit="comparison"), other, "comparison", "replace", 0.75),
    ):
        both = compose(first, second)
        assert (both.unit, both.adjacency, both.epsilon) == (unit, adjacency, epsilon)
        assert both.delta == sum(g.converted(unit, adjacency).delta for g in (first, second))


def test_conversions_without_end():
    assert Guarantee(math.inf, 0.5, adjacency="add_remove").converted("voter", "replace") == Guarantee(math.inf, 0.5)
    assert Guarantee(1e308, adjacency="add_remove").converted("voter", "replace") == Guarantee(math.inf)
    # where e^epsilon is a float without doubt
    assert 0.04 < Guarantee(708.9, 1e-309, adjacency="add_remove").converted("voter", "replace").delta < 0.1
    for epsilon, delta in ((1.0, 0.5), (709.0, 1e-320), (709.5, 1e-320), (720.0, 1e-320), (1e300, 1e-9)):
        with refused("delta = ", "[0, 1)"):
            Guarantee(epsilon, delta, adjacency="add_remove").converted("voter", "replace")


def test_a_guarantee_is_made_of_pythons_numbers_and_rounded_up():
    third = Guarantee(Fraction(1, 3), Decimal("0.1"))
    assert Fraction(third.epsilon) > Fraction(1, 3)
    assert Fraction(third.delta) > Fraction(1, 10)
    given = Guarantee(np.float32(0.1), np.float16(0.25))
    assert (type(given.epsilon), type(given.delta), given.epsilon) == (float, float, float(np.float32(0.1)))
    assert Guarantee(np.uint8(200)) == Guarantee(200)


@pytest.mark.parametrize("strangers", [(0.5,), (Guarantee(1.0), 0.5), ([Guarantee(1.0)], Guarantee(1.0))])
def test_only_guarantees_are_composed(strangers):
    with refused("compose takes guarantees one by one"):
        compose(*strangers)
