"""Who has which items: what is read, refused and counted, and that a bound per person holds by brute force."""

from itertools import chain, combinations, product

import numpy as np
import pandas as pd
import pytest
from checks import refused

import dprank
from dprank.data.bounding import person_ids
from dprank.data.tallies import Tallies, counted, read_tallies
from dprank.privacy.laws import exact, sample
from dprank.privacy.noise import SECURE
from dprank.topk import Oneshot, Peeling

ILLS = ["flu", "gout", "kuru"]
TALLIES = Tallies([7, 7, 8, 7, 9], [0, 1, 0, 0, 2], ILLS)


# --- what is known ----------------------------------------------------------------------------------------------------


def test_an_item_of_a_person_counts_once():
    assert len(TALLIES) == 4
    assert TALLIES.n_items == 3
    assert TALLIES.counts().tolist() == [2, 1, 1]
    assert TALLIES.counts(per_person=1).sum() == 3
    assert TALLIES.counts(np.int8(2)).tolist() == [2, 1, 1]
    assert TALLIES.counts(2**53).tolist() == [2, 1, 1]


def test_order_and_repetition_are_forgotten():
    again = Tallies([9, 8, 7, 7, 7, 8], [2, 0, 1, 0, 0, 0], np.array(ILLS))
    assert again == TALLIES
    assert hash(again) == hash(TALLIES)
    assert again != Tallies([9, 8, 7, 7], [2, 0, 1, 0], ILLS[::-1])
    assert again != Tallies([9, 8, 7], [2, 0, 1], ILLS)


@pytest.mark.parametrize("columns", [([], []), (np.zeros(0), np.zeros(0, np.uint8)), ((), pd.Series(dtype=int))])
def test_nobody(columns):
    nobody = Tallies(*columns, ILLS)
    assert len(nobody) == 0
    assert nobody.counts().tolist() == nobody.counts(1).tolist() == [0, 0, 0]


def test_who_has_what_is_not_shown():
    assert repr(TALLIES) == "Tallies of 3 items by persons who are known: data, secret"
    assert "7" not in repr(TALLIES)


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (("person", "item", "number of rows"), ([1, 2], [0], ILLS)),
        (("person holds str_", "integers"), (["a", "b"], [0, 1], ILLS)),
        (("person holds float64", "integers"), ([1.0, 2.5], [0, 1], ILLS)),
        (("person holds bool", "integers"), ([True, False], [0, 1], ILLS)),
        (("person", "one-dimensional"), ([[1], [2]], [0, 1], ILLS)),
        (("person", "one-dimensional"), ([[1], [2, 3]], [0, 1], ILLS)),
        (("person", "one-dimensional"), (5, 0, ILLS)),
        (("person has masked",), (np.ma.array([1, 2], mask=[0, 1]), [0, 1], ILLS)),
        (("item",), ([1, 2], [0, 3], ILLS)),
        (("item",), ([1, 2], [0, -1], ILLS)),
        (("item",), ([1, 2], ["flu", "gout"], ILLS)),
        (("item",), ([1, 2], [0.0, 1.5], ILLS)),
        (("item has masked",), ([1, 2], np.ma.array([0, 1], mask=[0, 1]), ILLS)),
        (("items = None", "declare"), ([1], [0], None)),
        (("items = 'flu'", "names"), ([1], [0], "flu")),
        (("items = 3", "names"), ([1], [0], 3)),
        (("items", "at least one"), ([1], [0], [])),
        (("items[1]", "twice"), ([1], [0], ["flu", "flu"])),
        (("items[1]", "twice"), ([1], [0], [1, True])),
        (("items[1]", "missing"), ([1], [0], ["flu", None])),
        (("items[1]", "missing"), ([1], [0], ["flu", pd.NA])),
        (("items[1]", "missing"), ([1], [0], ["flu", pd.NaT])),
        (("items[0]", "missing"), ([1], [0], [float("nan")])),
        (("items[0]", "hashable"), ([1], [0], [["flu"]])),
    ],
    ids=str,
)
def test_bad_columns_are_refused(words, columns):
    with refused(*words):
        Tallies(*columns)


def test_numbers_of_persons_of_any_width():
    wide = Tallies(np.array([2**64 - 1, 2**63, 5], np.uint64), [0, 0, 0], ILLS)
    assert wide.counts().tolist() == [3, 0, 0]
    assert Tallies(np.array([-128, 127], np.int8), np.array([2, 2], np.uint8), ILLS).counts(1).tolist() == [0, 0, 2]


@pytest.mark.parametrize("per_person", [0, -1, 1.5, "1", True, np.array(1), float("nan")], ids=repr)
def test_bad_bounds_are_refused(per_person):
    with refused("per_person = "):
        TALLIES.counts(per_person)


# --- tables -----------------------------------------------------------------------------------------------------------


def table(rows):
    return pd.DataFrame(rows, columns=["who", "what"], dtype=object)


def read(rows, items=ILLS):
    return Tallies.from_frame(table(rows), items=items, person="who", item="what")


def test_a_person_is_one_however_written():
    rows = [("ann", "flu"), ("Ann ", "gout"), ("ANN", "flu"), (7, "flu"), ("7", "kuru"), (7.0, "gout")]
    assert read(rows).counts(per_person=1).sum() == 2
    assert read(rows).counts().tolist() == [2, 2, 1]
    assert read(rows[::-1]) == read(rows)


@pytest.mark.parametrize(
    "label", ["plague", "Flu", "flu ", None, float("nan"), pd.NA, pd.NaT, 3, 2.5, ["flu"], {"flu": 1}, b"flu", ("flu",)]
)
def test_what_is_not_declared_is_left_out(label):
    """To refuse it would tell of whoever alone has it; so would a bound that it used up."""
    rows = [("ann", "flu"), ("bob", "gout")]
    with_more = table([*rows, ("ann", "flu")])
    with_more.at[2, "what"] = label
    read_more = Tallies.from_frame(with_more, items=ILLS, person="who", item="what")
    assert read_more == read(rows)
    assert read_more.counts(1).tolist() == [1, 1, 0]


def test_items_are_compared_as_they_are():
    rows = [(1, 3), (2, 3.0), (3, "3"), (4, True), (5, ("a", 1)), (6, pd.Timestamp("2020-01-01"))]
    items = [3, ("a", 1), pd.Timestamp("2020-01-01"), "2020-01-01"]
    assert read(rows, items).counts().tolist() == [2, 1, 1, 0]
    assert read(rows, ["3"]).counts().tolist() == [1]


@pytest.mark.parametrize("gone", [None, float("nan"), pd.NA, pd.NaT, "", "  "], ids=repr)
def test_a_missing_person_is_refused_by_row(gone):
    with refused("who[1]", "missing"):
        read([("ann", "flu"), (gone, "flu")])


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (("frame is of type list",), {"frame": [("ann", "flu")]}),
        (("frame is of type Series",), {"frame": pd.Series(["flu"])}),
        (("column 'patient'", "not in the table"), {"person": "patient"}),
        (("column 'ill'", "not in the table"), {"item": "ill"}),
        (("column 'what'", "2 times"), {"frame": pd.DataFrame([["a", "b", "c"]], columns=["who", "what", "what"])}),
        (("items = None",), {"items": None}),
        (("items[1]", "twice"), {"items": ["flu", "flu"]}),
        (("who", "label"), {"frame": table([(["ann"], "flu")])}),
    ],
    ids=str,
)
def test_bad_tables_are_refused(words, how):
    given = {"frame": table([("ann", "flu")]), "items": ILLS, "person": "who", "item": "what"} | how
    with refused(*words):
        Tallies.from_frame(given.pop("frame"), **given)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files(tmp_path, suffix):
    rows = pd.DataFrame({"who": ["ann", "bob", "Ann"], "what": ["flu", "flu", "kuru"], "age": [3, 4, 5]})
    path = tmp_path / f"rows{suffix}"
    rows.to_csv(path, index=False) if suffix == ".csv" else rows.to_parquet(path)
    for given in (path, str(path)):
        assert read_tallies(given, items=ILLS, person="who", item="what").counts().tolist() == [2, 0, 1]
    with refused("column 'ill'"):
        read_tallies(path, items=ILLS, person="who", item="ill")


@pytest.mark.parametrize("text", [b"", b"who,what\nann,flu,7\n", b"\xff\xfe\x00", b'who,what\n"ann,flu\n'], ids=repr)
def test_what_is_no_table_is_refused_without_a_word_of_it(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        read_tallies(path, items=ILLS, person="who", item="what")
    assert "ann" not in str(error.value)


def test_the_example_is_read():
    items = ["asthma", "flu", "gout", "kuru", "measles", "migraine"]
    patients = dprank.read_tallies(dprank.example("diagnoses.csv"), items=items, person="patient", item="diagnosis")
    assert (patients.counts(1) <= patients.counts()).all()
    assert 0 < patients.counts(1).sum() < patients.counts().sum()


# --- bounds, by brute force -------------------------------------------------------------------------------------------

SETS = [list(chosen) for size in range(4) for chosen in combinations(range(3), size)]


def people(sets):
    """A table in which person p has the items sets[p]."""
    rows = [(person, item) for person, items in enumerate(sets) for item in items]
    return Tallies(*(zip(*rows, strict=True) if rows else ([], [])), items=ILLS)


def first_rows(tallies, per_person):
    """A mutant: the first rows of the table, and of the persons in it, as many as persons may have together."""
    stays = np.arange(len(tallies)) < per_person * len(np.unique(tallies.person))
    return np.bincount(tallies.item[stays], minlength=3)


def right(tallies, per_person):
    return tallies.counts(per_person)


def worst_moves(count, per_person, others=2):
    """Most that adding or replacing one person moves: (any count, counts down plus up), over all tables."""
    added, replaced = np.zeros(2, int), np.zeros(2, int)
    one_way = True
    for rest in product(SETS, repeat=others):
        for at in range(others + 1):  # where in the table the person stands
            with_one = {
                index: count(people([*rest[:at], mine, *rest[at:]]), per_person) for index, mine in enumerate(SETS)
            }
            without = count(people([*rest[:at], [], *rest[at:]]), per_person)
            moves = [found - without for found in with_one.values()]
            one_way &= all((move >= 0).all() for move in moves)
            added = np.maximum(added, np.max([[abs(m).max(), abs(m).sum()] for m in moves], axis=0))
            both = [a - b for a, b in combinations(with_one.values(), 2)]
            replaced = np.maximum(replaced, np.max([[abs(m).max(), abs(m).sum()] for m in both], axis=0))
    return added.tolist(), replaced.tolist(), one_way


@pytest.mark.parametrize("per_person", [1, 2, None])
def test_a_person_moves_no_more_than_is_assumed(per_person):
    """Persons may have three items each, beyond the bound or not: `Oneshot` takes c counts, or 2c, by 1."""
    bound = per_person or 3
    added, replaced, one_way = worst_moves(right, per_person)
    assert one_way
    assert added == [1, bound]
    assert replaced == [1, min(2 * bound, 3)]


def test_a_bound_on_rows_of_the_table_is_none():
    added, replaced, one_way = worst_moves(first_rows, 1)
    assert not one_way or added[1] > 1 or replaced[1] > 2


@pytest.mark.parametrize("per_person", [1, 2])
def test_what_is_kept_of_a_person_depends_on_nobody_else(per_person):
    for mine in SETS:
        alone = people([mine]).counts(per_person)
        for rest in SETS:
            together = people([mine, rest]).counts(per_person)
            assert (together - alone >= 0).all()
            assert (together - alone).sum() == min(len(rest), per_person)


# --- releases ---------------------------------------------------------------------------------------------------------

MAKES = {
    "Oneshot": lambda **how: Oneshot(2, 0.01, **how),
    "Oneshot, Gumbel": lambda **how: Oneshot(2, 0.01, "gumbel", **how),
    "Peeling": lambda **how: Peeling(2, 0.01, **how),
}
every_make = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
every_source = pytest.mark.parametrize("rng", [np.random.default_rng(0), SECURE], ids=["seeded", "secure"])
CROWD = people([[0]] * 90 + [[2]] * 50 + [[0, 1]] * 9)


@every_make
@every_source
@pytest.mark.parametrize("items", [ILLS, ILLS[::-1], ["gout", "kuru", "flu"], np.array(ILLS)], ids=str)
def test_tallies_are_released_by_name(make, rng, items):
    assert sorted(make(items=items).release(CROWD, rng).items) == ["flu", "kuru"]


@every_make
@pytest.mark.parametrize(
    ("words", "how"),
    [
        (("items = None", "declare"), {}),
        (("items = None", "declare"), {"n_items": 3}),
        (("items are not those",), {"items": ILLS[:2]}),
        (("items are not those",), {"items": [*ILLS, "measles"]}),
        (("items are not those",), {"items": ["flu", "gout", "Kuru"]}),
        (("sensitivity = 0.5", "by 1"), {"items": ILLS, "sensitivity": 0.5}),
    ],
    ids=str,
)
@every_source
def test_other_declarations_are_refused_whoever_has_what(make, rng, words, how):
    for tallies in (CROWD, people([])):
        with refused(*words):
            make(**how).release(tallies, rng)


@every_make
@every_source
def test_more_noise_is_fine(make, rng):
    assert sorted(make(items=ILLS, sensitivity=2).release(CROWD, rng).items) == ["flu", "kuru"]


def test_the_bound_of_the_mechanism_is_kept():
    greedy = people([[0, 1, 2]] * 300)
    for per_person in (1, 2, None):
        mechanism = Oneshot(3, 0.01, value_scale=0.01, items=ILLS[::-1], per_person=per_person)
        for rng in (np.random.default_rng(0), SECURE):
            released = mechanism.release(greedy, rng)
            shown = dict(zip(released.items, np.round(released.values).astype(int).tolist(), strict=True))
            assert shown == dict(zip(ILLS, greedy.counts(per_person).tolist(), strict=True))
            assert sum(shown.values()) == 300 * (per_person or 3)


def test_counts_of_tallies_and_of_lists():
    assert counted(CROWD, 3, ILLS[::-1]).to_dict() == {"kuru": 50, "gout": 9, "flu": 99}
    assert counted([1, 2, 3], 3, None, per_person=1) == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_the_exact_loss_between_neighbouring_tables_is_within_the_guarantee(adjacency):
    """The bound is what makes it so: a person of three items, and the promise of one."""
    mechanism = Oneshot.calibrated(epsilon=1.0, items=ILLS, k=1, adjacency=adjacency, per_person=1)
    believing, worst, believed = Oneshot(1, mechanism.scale, n_items=3, adjacency=adjacency, per_person=1), 0.0, 0.0
    for rest in ([], [[1]] * 4, [[2], [2], [1]]):
        tables = [people([mine, *rest]) for mine in SETS]
        pairs = combinations(tables, 2) if adjacency == "replace" else ((tables[0], one) for one in tables)
        for one, other in pairs:
            worst = max(worst, exact(mechanism, one, other).epsilon(0.0))
            believed = max(believed, exact(believing, one.counts(), other.counts()).epsilon(0.0))
    assert 0.5 < worst <= 1 + 1e-9
    assert believed >= worst


def test_samples_of_the_audit_read_tallies():
    rows = sample(Oneshot(1, 0.01, items=ILLS, per_person=1), CROWD, 20, np.random.default_rng(0))
    assert set(chain.from_iterable(rows.tolist())) == {0.0}
    assert set(sample(Peeling(1, 0.01, items=ILLS), CROWD, 20, np.random.default_rng(0)).ravel()) == {0.0}


def test_numbers_of_persons_of_any_length():
    """No float holds the first, and Python writes no decimals of the second."""
    ids = person_ids("who", [10**400, 10**5000, -(10**5000), 1, "1", 1.0, float("inf"), 10**400])
    assert len(set(ids.tolist())) == 5
    assert ids[0] == ids[-1]
    assert ids[3] == ids[4] == ids[5] == 1


def test_an_empty_cell_of_one_person_moves_no_other_person_s_item(tmp_path):
    long = 2**53
    for anns in (5, None):
        frame = pd.DataFrame({"who": range(4), "item": pd.array([long + 1] * 3 + [anns], "Int64")})
        frame.to_parquet(tmp_path / "t.parquet")
        assert read_tallies(
            tmp_path / "t.parquet", items=[long, long + 1], person="who", item="item"
        ).counts().tolist() == [0, 3]


def test_items_of_a_csv_file_are_text(tmp_path):
    """Numbers would be none of them, and the release would be noise."""
    (tmp_path / "t.csv").write_text("who,item\nann,1\n")
    with refused("items[1] is a int", "the items of a CSV file are text"):
        read_tallies(tmp_path / "t.csv", items=["1", 2], person="who", item="item")
