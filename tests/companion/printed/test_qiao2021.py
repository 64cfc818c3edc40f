"""What Qiao, Su and Zhang (2021) print, beside what is provable of it."""

import math

import pytest
from checks import each, refused

from companion.printed.qiao2021 import theorem_2_1, theorem_2_2, theorem_3_5

ILLS = ["flu", "gout", "measles"]
PATH = ((0, 1), (1, 2))


@pytest.mark.parametrize(("adjacency", "factor"), [("replace", 1.5), ("add_remove", 1.0)])
@pytest.mark.parametrize("k", [1, 4])
def test_algorithm_1_with_values_keeps_epsilon_for_counts_only(adjacency, factor, k):
    printed = theorem_2_1(epsilon=0.8, k=k, adjacency=adjacency)
    assert printed.mechanism.scale == printed.mechanism.value_scale == 2 * k / 0.8
    assert not printed.mechanism.largest
    assert (printed.claims.epsilon, printed.claims.delta, printed.claims.adjacency) == (0.8, 0, adjacency)
    assert printed.guarantee.epsilon == pytest.approx(0.8 * factor)
    alone = theorem_2_1(epsilon=0.8, k=k, adjacency=adjacency, values=False)
    assert alone.mechanism.value_scale is None
    assert alone.guarantee.epsilon == pytest.approx(0.8 if adjacency == "replace" else 0.4)


def test_theorem_2_2():
    printed = theorem_2_2(epsilon=0.2, delta=1e-6, n_items=10**6, k=100, sensitivity=3.0, values=False)
    assert printed.mechanism.scale == 8 * 3 * math.sqrt(100 * math.log(1e12)) / 0.2
    assert printed.guarantee.delta == printed.claims.delta == 1e-6
    assert printed.guarantee.epsilon < 0.1 < printed.claims.epsilon
    assert theorem_2_2(epsilon=0.2, delta=0.05, n_items=40, k=3).guarantee.epsilon < 0.2


def test_items_have_names():
    named = theorem_2_2(epsilon=0.2, delta=0.05, items=ILLS, k=1).mechanism
    assert named.scale == theorem_2_2(epsilon=0.2, delta=0.05, n_items=3, k=1).mechanism.scale
    assert named.items == theorem_2_1(epsilon=1, items=ILLS, k=1).mechanism.items == tuple(ILLS)


def test_theorem_3_5():
    scale = 8 * 2 / (2 * 10 * 0.5) * math.sqrt(2 * math.log(3 / 0.05)) / 0.2
    asked = {"epsilon": 0.2, "delta": 0.05, "n_items": 3, "samples": 10}
    printed = theorem_3_5(**asked, k=2, rho=0.5)
    assert printed.mechanism.scale == pytest.approx(scale)
    assert printed.guarantee.epsilon <= printed.claims.epsilon == 0.2
    assert printed.guarantee.unit == printed.claims.unit == "comparison"
    own = theorem_3_5(**asked, k=2)
    assert own.mechanism.damped
    assert own.mechanism.scale == pytest.approx(scale / 2)
    assert own.guarantee.epsilon <= 0.2
    # a rho that some data on the graph exceed proves nothing
    assert theorem_3_5(**asked, k=1, rho=0.5, pairs=PATH).guarantee.epsilon == math.inf


@pytest.mark.parametrize(
    "changed", [{"epsilon": 0.21}, {"delta": 0.06}, {"n_items": 1, "k": 1}, {"n_items": None}], ids=str
)
def test_theorem_2_2_is_refused_where_it_is_silent(changed):
    with refused("epsilon <= 0.2, delta <= 0.05, n_items >= 2"):
        theorem_2_2(**{"k": 2, "epsilon": 0.2, "delta": 0.05, "n_items": 9} | changed)


@each("theorem", [theorem_2_1, theorem_2_2])
@each(
    ("words", "changed"),
    [
        (("k = 0",), {"k": 0}),
        (("k = 9", "1 to 8"), {"k": 9, "n_items": 8}),
        (("epsilon = 0",), {"epsilon": 0.0}),
        (("epsilon = nan",), {"epsilon": math.nan}),
        (("epsilon = '1'",), {"epsilon": "1"}),
        (("n_items = 8.5",), {"n_items": 8.5}),
        (("sensitivity = -1",), {"sensitivity": -1}),
        (("values = 1", "True or False"), {"values": 1}),
    ],
)
def test_bad_input(theorem, words, changed):
    more = {"delta": 0.05} if theorem is theorem_2_2 else {}
    with refused(*words):
        theorem(**{"k": 2, "epsilon": 0.1, "n_items": 9} | more | changed)


@each(("words", "changed"), [("rho = 1", {"rho": 1}), ("delta = 0", {"delta": 0.0}), ("epsilon = 0", {"epsilon": 0.0})])
def test_bad_input_of_theorem_3_5(words, changed):
    with refused(words):
        theorem_3_5(**{"epsilon": 0.2, "delta": 0.05, "n_items": 3, "k": 1, "samples": 1} | changed)
