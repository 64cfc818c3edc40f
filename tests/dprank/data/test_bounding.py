"""Who is who, by cases; what of a person stays, by brute force. Tests of chance raise a false alarm with ALARM."""

import math
import sys
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
from checks import each, refused
from scipy import stats

from dprank.data.bounding import _mixed, _text, kept, person_ids

ALARM = 1e-6

# --- who is who ------------------------------------------------------------------------------------------------------


@each(
    "alike",
    [
        ["ann", "Ann ", "ANN", "  ann", "ＡＮＮ", "\tann\n"],
        [
            1,
            "1",
            1.0,
            np.int64(1),
            np.float32(1),
            np.uint8(1),
            " 1 ",
            True,
            np.True_,
            "TRUE",
            Fraction(1),
            Decimal(1),
            "１",
        ],
        [-3, "-3", -3.0, np.int8(-3)],
        [0, "0", 0.0, -0.0, False, "False"],
        ["ann lee", "Ann  Lee", "ann\u00a0lee", "ann\tlee"],
        ["straße", "STRASSE"],
        ["é", "e\u0301"],
        [2.5, "2.5", np.float64(2.5), "2.50", Decimal("2.500")],
        [2**63, "9223372036854775808", Decimal(2**63)],
        [10**30, str(10**30)],
    ],
)
def test_one_person_however_written(alike):
    assert len(set(person_ids("who", np.array([*alike, None], object)[:-1]).tolist())) == 1


@each(
    "different",
    [
        ["ann", "an", "anna", "ann1", "nan n"],
        [1, 10, 11, "01", "1.5", "+1", "-1", "1-", "1 1"],
        [2**63, 2**63 + 1, -(2**63), 2**63 - 1, 2**64, 2**64 + 1, 10**19, 10**20, -(2**63) - 1],
        [True, False, 2],
        [math.inf, -math.inf, "x"],
    ],
)
def test_different_persons(different):
    labels = np.empty(len(different), object)
    labels[:] = different
    assert len(set(person_ids("who", labels).tolist())) == len(different)


@each("mixed", [[True, 1], [1, 1.0, "1"], [Decimal("1.50"), 1.5, Fraction(3, 2)]])
def test_a_person_is_not_renamed_by_the_rows_of_others(mixed):
    """What is equal to a label, and written in another way, stood for it where it came first."""
    alone = [person_ids("who", one_label(label))[0] for label in mixed]
    for order in permutations(range(len(mixed))):
        labels = np.concatenate([one_label(mixed[at]) for at in order])
        assert person_ids("who", labels).tolist() == [alone[at] for at in order]


def one_label(label):
    column = np.empty(1, object)
    column[0] = label
    return column


@each("mixed", [[2**53 + 1, 0.5], [2**62 + 1, 1.5, True], [2**63, -1], [0.5, True, 7], [3, "03"], [2.0, 10**30]])
def test_a_list_is_read_label_by_label(mixed):
    """Of all of them numpy would make numbers of one type: floats, of which some are several people."""
    alone = [person_ids("who", one_label(label))[0] for label in mixed]
    for order in permutations(range(len(mixed))):
        assert person_ids("who", [mixed[at] for at in order]).tolist() == [alone[at] for at in order]


def test_moments_of_any_zone_are_those_in_greenwich():
    """By Python's own arithmetic; of years that it has not, 10,000 of the Gregorian calendar later."""
    rng = np.random.default_rng(9)
    there, greenwich = [], []
    for seconds, ahead in zip(
        rng.integers(0, 10**10, 400).tolist(), rng.integers(-5400, 5400, 400).tolist(), strict=True
    ):
        zone, sign = timedelta(seconds=ahead - ahead % 60 * (ahead % 3 > 0)), "-" if ahead < 0 else "+"
        moment = datetime(1800, 1, 1) + timedelta(seconds=seconds)
        offset = f"{sign}{str(abs(zone)).zfill(8)}".removesuffix(":00")
        for later in (0, 10_000):
            local, plain = moment + zone, moment
            there.append(f"{local.year + later}{local.isoformat()[4:]}{offset}")
            greenwich.append(f"{plain.year + later}{plain.isoformat()[4:]}Z")
    ids = person_ids("when", there)
    assert ids.tolist() == person_ids("when", greenwich).tolist()
    assert len(set(ids.tolist())) == len(set(greenwich))


def test_whole_numbers_are_themselves_and_no_text_is_one_of_them():
    given = [0, 7, 2**63 - 1, "12", 3.0, "4.00", "-0"]
    assert person_ids("who", np.array(given, object)).tolist() == [0, 7, 2**63 - 1, 12, 3, 4, 0]
    assert person_ids("who", np.arange(5, dtype=np.uint8)).tolist() == [0, 1, 2, 3, 4]
    assert person_ids("who", []).tolist() == []
    others = np.array(["ann", "007", "1.5", "1.0.0", 2**63, "-1", -(2**63)], object)
    hashed = person_ids("who", others)
    assert len(set(hashed.tolist())) == len(others)
    assert (hashed < 0).all()  # whoever calls himself by the number that ann has is another one
    assert person_ids("who", np.array(["ann", str(hashed[0])], object))[0] == hashed[0]
    assert len(set(person_ids("who", np.array(["ann", str(hashed[0])], object)).tolist())) == 2
    assert person_ids("who", np.array([-1, 5])).tolist() == person_ids("who", np.array(["-1", "5"])).tolist()


#: Of Unicode's characters that show nothing, one of every block that has any; and a control.
UNSEEN = "\u034f\u115f\u17b4\u180b\u2060\u2065\u2800\u3164\ufe00\ufe0f\uffa0\ufff0\U000e0020\U000e0100\0\x7f"
#: And the ends of all blocks of several.
UNSEEN += "\u1160\u17b5\u180f\ufff8\U000e0000\U000e0fff"


@each(
    "alike",
    [
        ["Ann", "Ann\u200b", "\ufeffann", "a\u00adnn", *(f"a{it}nn" for it in UNSEEN)],
        ["Μαΐστρος", "Μαΐστρος".upper()],
        ["1", "1.0", 1, 1.0],
        ["12021-03-04 01:00+02:00", "12021-03-03T23:00Z", "12021-03-03 21:30:00 -0130"],
    ],
)
def test_who_looks_alike_is_one_person(alike):
    assert len(set(person_ids("who", np.array(alike, object)).tolist())) == 1


def test_all_letters_in_both_cases():
    """All that Unicode has, but the dotless i, which is a letter of its own."""
    letters = [chr(code) for code in range(32, sys.maxunicode) if len({chr(code), chr(code).upper()}) == 2]
    lower, upper = (person_ids("who", np.array(some, object)) for some in (letters, [x.upper() for x in letters]))
    assert [letters[at] for at in np.flatnonzero(lower != upper)] == ["ı"]


@each("gone", [None, np.nan, pd.NA, pd.NaT, "", "   ", "\t", float("nan"), "\0", "\u200b\ufe0f", "\u3164", "\u2800"])
def test_nobody_is_no_person(gone):
    labels = np.array(["ann", gone, "bob", gone], object)
    with refused("who[1] is missing", "every row needs its person"):
        person_ids("who", labels)
    with refused("who[8] is missing"):
        person_ids("who", labels, [5, 8, 9, 10])
    with refused("who[1] is missing"):
        person_ids("who", pd.Series(labels, index=[7, 7, 7, 7]))


class Loud:
    """A label that says too much where it can."""

    def __str__(self):
        return "secret"

    __repr__ = __str__


class Unhashable(Loud):
    __hash__ = None  # type: ignore[assignment]


def test_hostile_labels():
    for label in (Loud(), Unhashable(), [1], {1: 2}, {3}, (1, 2), 1j, b"ann", np.timedelta64(1), object):
        with refused("who holds", "numbers, text or dates"):
            person_ids("who", one_label(label))
    # a lone surrogate and a novel are texts, too
    texts = np.array(["\ud800", "x" * 100_000, "\udfff"], object)
    assert len(set(person_ids("who", texts).tolist())) == 3


def test_columns_of_any_kind():
    names = ["b", "a", "b", "A"]
    expected = person_ids("who", names)
    for column in (
        pd.Series(names, dtype="category"),
        pd.Series(names, dtype="string"),
        np.array(names),
        pd.Series(names, index=[3, 3, 1, 0]),
    ):
        assert person_ids("who", column).tolist() == expected.tolist()
    assert expected[0] == expected[2] != expected[1] == expected[3]
    whole = pd.Series([1, 2, 1], dtype="Int64")
    assert person_ids("who", whole).tolist() == [1, 2, 1]
    # beyond 63 bits a whole number is a text, in a column of its own too
    for labels in ([2**63], [2**63, 5, 2**64 - 1]):
        assert (
            person_ids("who", np.array(labels, np.uint64)).tolist()
            == person_ids("who", list(map(str, labels))).tolist()
        )


def test_no_two_of_many_are_merged_by_accident():
    """64 bits for 10^5 names: the chance of a collision is 3e-10."""
    names = [f"person {i}" for i in range(50_000)] + [f"{i}@{i % 7}.org" for i in range(50_000)]
    ids = person_ids("who", names)
    assert len(np.unique(ids)) == len(names)
    # a shorter hash would not do
    assert len(np.unique(ids.view(np.uint64) >> np.uint64(32))) < len(names)


# --- what stays ------------------------------------------------------------------------------------------------------


def stays(rows, most, columns=1):
    """Which rows stay, as a multiset: the first columns say whose they are."""
    table = np.array(rows, np.int64).reshape(len(rows), -1).T
    mask = kept(list(table[:columns]), list(table[columns:]), most)
    return Counter(tuple(row) for row, stay in zip(rows, mask, strict=True) if stay)


SHEETS = [(), (1,), (1, 2), (1, 1, 2), (2, 3, 5), (5, 5, 5, 1)]


@each("most", [1, 2, 3])
def test_neither_the_order_of_the_table_nor_the_others_matter(most):
    """Brute force: every order of every small table of three persons, one of whom changes."""
    mine = [(7, what) for what in (4, 4, 9, 2)]
    alone = stays(mine, most)
    assert alone.total() == min(most, 4)
    for sheet in SHEETS:
        for who in (3, 8, -(2**63)):
            rows = mine + [(who, what) for what in sheet]
            found = {
                frozenset(stays(list(order), most).items()) for order in list(permutations(rows))[:: 7 * len(rows)]
            }
            assert len(found) == 1
            whole = Counter(dict(found.pop()))
            assert Counter({row: n for row, n in whole.items() if row[0] == 7}) == alone
            assert whole.total() == alone.total() + min(most, len(sheet))


def test_every_table_of_two_persons():
    """What stays of one is the same whatever the other has."""
    rows = [(who, what) for who in (1, 2) for what in (0, 1, 2)]
    seen = {}
    for chosen in product((0, 1, 2), repeat=len(rows)):
        table = [row for row, times in zip(rows, chosen, strict=True) for _ in range(times)]
        whole = stays(table, 2) if table else Counter()
        for who in (1, 2):
            mine = tuple(row for row in table if row[0] == who)
            part = {row: n for row, n in whole.items() if row[0] == who}
            assert seen.setdefault(mine, part) == part
            assert sum(part.values()) == min(2, len(mine))


def first_rows(group, what, most):
    """Mutant: the first rows of the table."""
    place = pd.Series(group[0]).groupby(group[0]).cumcount()
    return (place < most).to_numpy()


def by_rank(group, what, most):
    """Mutant: a hash of the place of a person among all."""
    return kept([np.unique(group[0], return_inverse=True)[1]], what, most)


def by_row(group, what, most):
    """Mutant: a hash of the row's number as well."""
    return kept(group, [np.arange(len(what[0])), *what], most)


def moved_by_others(rule):
    """How often what stays of a person depends on the order of the table or on somebody else."""
    faults = 0
    for seed, most in product(range(40), (1, 2)):
        mine = np.random.default_rng(seed).integers(0, 50, 4)
        alone = np.sort(mine[rule([np.full(4, 7)], [mine], most)]).tolist()
        for who, order in product((3, 8), (slice(None), slice(None, None, -1))):
            people, things = np.r_[who, who, np.full(4, 7)][order], np.r_[1, 2, mine][order]
            mask = rule([people], [things], most) & (people == 7)
            faults += np.sort(things[mask]).tolist() != alone
    return faults


@each("mutant", [first_rows, by_rank, by_row])
def test_other_rules_are_caught(mutant):
    assert moved_by_others(kept) == 0
    assert moved_by_others(mutant) > 20


def test_how_many_rows_say_what_first_is_not_changed_by_what_they_say_then():
    """Which pairs a voter is counted for, whatever the outcomes."""
    pairs = [1, 1, 2, 4, 4, 4]
    for most in (1, 2, 3, 5):
        found = set()
        for said in product((0, 1, 2), repeat=len(pairs)):
            rows = [(7, pair, x) for pair, x in zip(pairs, said, strict=True)]
            found.add(frozenset(Counter(row[1] for row in stays(rows, most).elements()).items()))
        assert len(found) == 1


def test_the_share_kept_is_uniform_over_what_there_is():
    """Of 6 things 20,000 persons keep 2 each: every one of the 15 pairs as often; also for persons in a row."""
    n, things, most = 20_000, 6, 2
    for people in (np.arange(n), np.random.default_rng(5).integers(-(2**62), 2**62, n)):
        who, what = np.repeat(people, things), np.tile(np.arange(things), n)
        mask = kept([who], [what], most).reshape(n, things)
        assert (mask.sum(axis=1) == most).all()
        _, counts = np.unique(mask @ (1 << np.arange(things)), return_counts=True)
        assert len(counts) == math.comb(things, most)
        assert stats.chisquare(counts).pvalue > ALARM
    # and a rule by which a thing is liked a tenth more is told from it
    skewed = np.where(np.arange(len(counts)) < 5, 1.1, 1.0)
    liked = np.random.default_rng(6).multinomial(n, skewed / skewed.sum())
    assert stats.chisquare(liked).pvalue < ALARM


def test_neighbouring_persons_do_not_keep_alike():
    """What person i keeps says nothing of what i + 1 keeps: 3 of 3 things, chi-square of the 9 combinations."""
    n = 60_000
    who, what = np.repeat(np.arange(n), 3), np.tile(np.arange(3), n)
    choice = kept([who], [what], 1).reshape(n, 3).argmax(axis=1)
    table = np.bincount(3 * choice[:-1:2] + choice[1::2], minlength=9).reshape(3, 3)
    assert stats.chi2_contingency(table).pvalue > ALARM
    assert stats.chisquare(table.ravel()).pvalue > ALARM


def test_no_rows_and_many():
    assert kept([np.zeros(0, int)], [np.zeros(0, int)], 1).tolist() == []
    assert kept([np.zeros(5, int)], [np.arange(5)], 2**53).all()
    assert kept([np.array([2**63, 1], np.uint64)], [np.zeros(2, np.uint8)], 1).all()


def test_shards_are_by_splitmix64_as_published():
    """Else two machines with two releases of ours would count one person in two shards."""
    first = _mixed(np.array([1234567], np.uint64))
    second = _mixed(np.array([1234567 + 0x9E3779B97F4A7C15], np.uint64))
    assert (int(first[0]), int(second[0])) == (6457827717110365317, 3203168211198807973)


@each("label", [Decimal("NaN"), Decimal("-NaN"), Decimal("sNaN"), float("nan"), np.float32("nan"), None, pd.NA, pd.NaT])
def test_what_is_no_number_names_nobody(label):
    assert _text("person", label) == ""
