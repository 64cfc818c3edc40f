"""Items are declared: what is released, refused and completed says nothing of labels that the data happen to hold."""

from array import array
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from checks import refused

from dprank.audit import audit
from dprank.data.tallies import declared
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import exact, sample
from dprank.privacy.noise import SECURE
from dprank.release import Selection
from dprank.topk import Oneshot, Peeling, undeclared

ILLS = ["flu", "gout", "measles"]
#: Diagnoses of all patients, and of all but the one who alone has kuru.
WITH = pd.Series(["flu"] * 3 + ["kuru"] + ["gout"]).value_counts()
WITHOUT = pd.Series(["flu"] * 3 + ["gout"]).value_counts()
MAKES = {
    "Oneshot": lambda k=1, scale=1.0, **how: Oneshot(k, scale, "exponential", **how),
    "Oneshot, Gumbel": lambda k=1, scale=1.0, **how: Oneshot(k, scale, "gumbel", **how),
    "Peeling": lambda k=1, scale=1.0, **how: Peeling(k, scale, "gumbel", **how),
}
every_make = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
every_source = pytest.mark.parametrize("rng", [np.random.default_rng(0), SECURE], ids=["seeded", "secure"])


# --- what is declared -------------------------------------------------------------------------------------------------


@every_make
def test_items_fix_their_number(make):
    assert make(items=ILLS).n_items == 3
    assert make(items=ILLS).items == ("flu", "gout", "measles")
    assert make(items=np.array(ILLS)) == make(items=pd.Index(ILLS), n_items=3) == make(items=iter(ILLS))
    assert make(items=ILLS).guarantee == make(n_items=3).guarantee
    assert hash(make(items=ILLS)) == hash(make(items=tuple(ILLS)))
    assert replace(make(items=ILLS), scale=2.0).items == tuple(ILLS)
    assert make(items=[3, 1, 2]).items == (3, 1, 2)


@pytest.mark.parametrize("kind", [Oneshot, Peeling])
def test_calibrations_take_items(kind):
    numbered = kind.calibrated(epsilon=0.2, n_items=3, k=1)
    assert kind.calibrated(epsilon=0.2, items=ILLS, k=1) == replace(numbered, items=tuple(ILLS))


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (("items names 3 items", "n_items = 4"), {"items": ILLS, "n_items": 4}),
        (("items[2]", "twice"), {"items": ["flu", "gout", "flu"]}),
        (("items[1]", "twice"), {"items": [1, True]}),
        (("items[1]", "missing"), {"items": ["flu", float("nan")]}),
        (("items[0]", "missing"), {"items": [None, "flu"]}),
        (("items[0]", "hashable"), {"items": [["flu"], ["gout"]]}),
        (("items = 'flu'", "names"), {"items": "flu"}),
        (("items = 3", "names"), {"items": 3}),
        (("items", "at least one"), {"items": []}),
        (("k = 3", "1 to 2"), {"k": 3, "items": ILLS[:2]}),
    ],
    ids=str,
)
@every_make
def test_bad_items_are_refused(make, words, how):
    with refused(*words):
        make(**how)


# --- what data are refused: all or none -------------------------------------------------------------------------------


@every_make
@every_source
@pytest.mark.parametrize("values", [WITH, WITHOUT, [3, 1], [], np.zeros(5, int), "flu"], ids=str)
def test_nothing_is_released_where_nothing_is_declared(make, values, rng):
    with refused("items = None", "declare"):
        make().release(values, rng)


@every_make
@every_source
@pytest.mark.parametrize("values", [WITH, WITHOUT, WITHOUT.iloc[:0], pd.Series([3, 1, 2])], ids=len)
def test_a_number_of_items_never_suffices_for_labels(make, values, rng):
    with refused("items = None", "Series", "declare"):
        make(n_items=3).release(values, rng)


@every_make
@every_source
def test_labels_that_are_not_declared_change_nothing(make, rng):
    sharp = make(k=2, scale=0.01, items=ILLS)
    told = {tuple(sharp.release(series, rng).items) for series in (WITH, WITHOUT, WITH * 1000, WITH[::-1])}
    assert {tuple(sorted(items)) for items in told} == {("flu", "gout")}
    huge = pd.concat([WITHOUT, pd.Series({"kuru": np.nan, 7: 1e300, ("a", 1): 0.5, np.nan: 9})])
    assert sorted(sharp.release(huge, rng).items) == ["flu", "gout"]


@every_make
@every_source
def test_declared_items_that_nobody_has_count_0(make, rng):
    rare = pd.Series({"flu": 90, "gout": 80})
    for series in (rare, rare.astype(float), rare.astype("Int64"), rare[::-1], rare.astype("int64[pyarrow]")):
        fewest = make(k=1, scale=0.01, items=ILLS, largest=False).release(series, rng)
        assert fewest.items.tolist() == ["measles"]
    nobody = pd.Series([], dtype=str).value_counts()
    for empty in (nobody, pd.Series(), WITH.iloc[:0]):
        assert sorted(make(k=3, items=ILLS).release(empty, rng).items) == ILLS


@every_make
@every_source
def test_an_array_is_completed_and_cut_by_code(make, rng):
    sharp = make(k=2, scale=0.01, n_items=3)
    for counts in ([0, 50, 90], [0, 50, 90, 70], (0, 50, 90, 70, np.nan), np.array([0, 50, 90, 70.5])):
        assert sorted(sharp.release(counts, rng).items) == [1, 2]
    assert sorted(sharp.release([30, 50], rng).items) == [0, 1]
    assert sharp.release([], rng).items.shape == (2,)
    assert sorted(make(k=2, scale=0.01, items=ILLS).release([0, 50, 90], rng).items) == ["gout", "measles"]


def test_values_belong_to_their_items():
    mechanism = Oneshot(3, 0.01, value_scale=0.01, items=ILLS)
    for rng in (np.random.default_rng(0), SECURE):
        released = mechanism.release(WITH[::-1] * 1000, rng)
        assert released.items.tolist() == ILLS
        assert np.abs(released.values - [3000, 1000, 0]).max() < 1


LABELS = {
    "numbers": ([3, 10, 7], [7.0, 3, 10]),
    "dates": (list(pd.date_range("2020-01-01", periods=3)), pd.date_range("2020-01-01", periods=3)[::-1]),
    "dates and a word": (list(pd.date_range("2020-01-01", periods=2)), [*pd.date_range("2020-01-01", periods=2), "x"]),
    "pairs": ([("a", 1), ("a", 2), ("b", 1)], pd.MultiIndex.from_product([["b", "a"], [2, 1]])),
    "categories": (ILLS, pd.CategoricalIndex(["gout", "kuru", "measles", "flu"])),
}


@pytest.mark.parametrize(("items", "index"), LABELS.values(), ids=LABELS)
def test_labels_of_any_kind_are_found(items, index):
    counts = pd.Series(range(100, 100 * len(index) + 1, 100), index)
    found = Oneshot(len(items), 0.01, value_scale=0.01, items=items, ordered=True).release(
        counts, np.random.default_rng(0)
    )
    truth = {label: count for label, count in counts.items() if label in items}
    assert {item: round(value, -2) for item, value in zip(found.items, found.values, strict=True)} == truth
    assert len(truth) == len(items)


def test_what_a_label_is_does_not_depend_on_other_labels():
    """A date index would read the text of a declared item as a date; one label that is no date would make it stop."""
    days = pd.date_range("2020-01-01", periods=2)
    mechanism = Oneshot(1, 0.01, items=["2020-01-01", "other"], largest=False, ordered=True)
    for index in (days, [*days, "x"]):
        counts = pd.Series(range(50, 50 + len(index)), index)
        assert declared(counts, mechanism.n_items, mechanism.items).tolist() == [0, 0]


@every_source
def test_a_declared_item_twice_is_refused_by_its_place(rng):
    with refused("items[1]", "twice"):
        Oneshot(1, 1.0, items=ILLS).release(pd.Series([3, 1, 2], ["gout", "flu", "gout"]), rng)
    sharp = Oneshot(2, 0.01, items=ILLS)
    assert sorted(sharp.release(pd.Series([9, 8, 1, 2], ["gout", "flu", "kuru", "kuru"]), rng).items) == ["flu", "gout"]


def test_messages_hold_no_label_of_the_data():
    cases = [
        (Oneshot(1, 1.0), WITH),
        (Oneshot(1, 1.0, n_items=3), WITH),
        (Oneshot(1, 1.0, items=ILLS), pd.concat([WITH, WITH])),
        (Oneshot(1, 1.0, items=ILLS), WITH.astype(str)),
        (Oneshot(1, 1.0, items=ILLS), WITH * np.nan),
        (Oneshot(1, 1.0, items=ILLS), WITH / 2),
        (Oneshot(1, 1.0, items=ILLS), dict(WITH)),
    ]
    for mechanism, values in cases:
        with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
            mechanism.release(values, SECURE)
        assert "kuru" not in str(error.value)


def test_the_curator_sees_what_is_left_out():
    assert undeclared(WITH, ILLS) == ["kuru"]
    assert undeclared(WITHOUT, ILLS) == []
    assert undeclared(pd.Series({"Flu": 2, 7: 1, "gout": 1}), ILLS) == ["Flu", 7]


# --- the audit --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelsOffTheData:
    """What version 0.1 did: the items are those that the data hold."""

    right: Oneshot

    @property
    def guarantee(self) -> Guarantee:
        return self.right.guarantee

    def release(self, counts: pd.Series, rng: np.random.Generator) -> Selection:
        return replace(self.right, items=tuple(counts.index), n_items=None).release(counts, rng)


RIGHT = Oneshot.calibrated(epsilon=1.0, items=[*ILLS, "kuru"], k=1, adjacency="add_remove")
NARROW = Oneshot.calibrated(epsilon=1.0, items=ILLS, k=1, adjacency="add_remove")
ROUNDS = Peeling.calibrated(epsilon=1.0, items=[*ILLS, "kuru"], k=1, noise="gumbel", adjacency="add_remove")


@pytest.mark.slow
def test_labels_off_the_data_are_called_broken():
    found = audit(LabelsOffTheData(RIGHT), [(WITH, WITHOUT)], rng=np.random.default_rng(1), budget=3000)
    assert found.broken
    assert found.epsilon > 1


@pytest.mark.parametrize("mechanism", [RIGHT, NARROW, ROUNDS], ids=["declared", "left out", "rounds"])
@pytest.mark.slow
def test_declared_items_keep_their_promise_on_such_a_pair(mechanism):
    pairs = [(WITH, WITHOUT), (WITH.iloc[:1], WITHOUT.iloc[:0])]
    found = audit(mechanism, pairs[:1], rng=np.random.default_rng(2), budget=1024)
    assert not found.broken
    assert found.exact is not None
    assert (found.exact == 0) == (mechanism == NARROW)
    assert 0 <= exact(mechanism, *pairs[1]).epsilon(0) < 3


def test_the_laws_of_the_audit_read_series_by_label():
    mechanism, rng = replace(RIGHT, scale=0.1), np.random.default_rng(3)
    for series in (WITH * 100, WITH[::-1] * 100, WITHOUT * 100):
        assert set(sample(mechanism, series, 50, rng).ravel()) == {0.0}
    assert exact(mechanism, WITH, WITH[::-1]).epsilon(0) == pytest.approx(0, abs=1e-12)


KINDS = [list, tuple, np.array, pd.array, pd.Index, lambda x: array("q", x), lambda x: memoryview(array("q", x))]


@pytest.mark.parametrize("kind", KINDS, ids=["list", "tuple", "numpy", "pandas", "index", "array", "memory"])
@pytest.mark.parametrize("mechanism", [Oneshot(2, 1e-3, n_items=2), Peeling(2, 1e-3, "gumbel", n_items=2)])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_as_many_numbers_as_are_declared_whatever_holds_them(kind, mechanism, length):
    """Where all items are chosen epsilon is 0: numbers beyond those would be published as they are."""
    assert set(mechanism.release(kind([0, 0, 9, 0, 9][:length]), SECURE).items) == {0, 1}


def test_a_range_has_a_length_of_its_own_too():
    assert set(Oneshot(2, 1e-3, n_items=2).release(range(5), SECURE).items) == {0, 1}


@pytest.mark.parametrize(("label", "count"), [("Zz", 2**64), ("Zz", None), ("Zz", "many"), ({"a": 1}, 3), ([], 3)])
def test_what_is_left_out_is_left_out_whatever_it_is(label, count):
    index = pd.Series(["flu", "gout", None], dtype=object)
    index[2] = label
    given = pd.Series([3, 1, count], index=pd.Index(index, dtype=object), dtype=object)
    whole = declared(given, 2, ["flu", "gout"])
    assert whole.tolist() == [3, 1]
    assert whole.dtype == np.int64


@pytest.mark.parametrize("noise", ["laplace", "gumbel", "exponential"])
def test_differences_of_integers_do_not_wrap(noise):
    mechanism = Oneshot.calibrated(epsilon=1.0, n_items=2, k=1, noise=noise)
    for values in ([2**62, 1 - 2**62], [2**63 - 1, 0], [-1, -(2**63)]):
        chosen = {mechanism.release(values, np.random.default_rng(s)).items[0] for s in range(20)}
        assert chosen == {0}
    for beyond in ([2**62, -(2**62)], [2**62, -(2**62) - 1], [0, -(2**63)]):
        with refused("2^63 or more apart"):
            mechanism.release(beyond, np.random.default_rng(0))
