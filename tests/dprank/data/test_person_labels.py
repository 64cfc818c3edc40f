"""A label is the same person whatever stands beside it: every kind alone and with every other, five ways in.

What is expected is written out here: whole numbers stand for themselves, everything else for a hash of a text.
"""

import contextlib
import hashlib
import itertools
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checks import refused

from dprank.data import accounts, ballots, bounding, comparisons, engine_job, engines, rankings, tallies
from dprank.data.ballots import Ballots
from dprank.data.bounding import person_ids, shard_of
from dprank.data.comparisons import Comparisons, read_comparisons
from dprank.data.declaration import Declaration
from dprank.data.engines import count
from dprank.data.files import as_pandas
from dprank.data.rankings import Rankings
from dprank.data.tallies import Tallies, read_tallies
from dprank.data.uuids import uuid_columns

CAIRO, BEHIND = ZoneInfo("Africa/Cairo"), timezone(timedelta(hours=-3, minutes=-30))

#: Labels, and the whole numbers or the texts that they are.
LABELS = {
    "a whole number": (7, 7),
    "no float": (2**53 + 1, 2**53 + 1),
    "63 bits": (2**63 - 1, 2**63 - 1),
    "64 bits": (2**63 + 5, "9223372036854775813"),
    "a hundred digits": (10**100 + 1, str(10**100 + 1)),
    "below zero": (-3, "-3"),
    "8 bits": (np.uint8(200), 200),
    "16 bits": (np.int16(-500), "-500"),
    "64 bits, no sign": (np.uint64(2**63 + 7), "9223372036854775815"),
    "a whole float": (3.0, 3),
    "a float": (2.5, "2.5"),
    "a tenth": (0.1, "0.1"),
    "a third below zero": (-1 / 3, "-0.3333333333333333"),
    "a small float": (1.5e-5, "0.000015"),
    "the largest float": (2.0**53 - 1, 2**53 - 1),
    "32 bits, a tenth": (np.float32(0.1), "0.10000000149011612"),
    "32 bits, whole": (np.float32(12), 12),
    "16 bits, a tenth": (np.float16(0.1), "0.0999755859375"),
    "infinity": (math.inf, "inf"),
    "below all": (-np.inf, "-inf"),
    "true": (True, 1),
    "false": (np.False_, 0),
    "decimals": (Decimal("1.10"), "1.1"),
    "whole decimals": (Decimal("4.00"), 4),
    "small decimals": (Decimal("0.00000030"), "0.0000003"),
    "a ratio": (Fraction(1, 3), "1/3"),
    "a day": (date(2020, 1, 2), "2020-01-02"),
    "the first day": (date(1, 1, 1), "0001-01-01"),
    "the last day": (date(9999, 12, 31), "9999-12-31"),
    "a moment": (datetime(2020, 1, 2, 3, 4, 5), "2020-01-02 03:04:05"),
    "tenths of a second": (datetime(2020, 1, 2, 0, 0, 0, 600_000), "2020-01-02 00:00:00.6"),
    "midnight": (datetime(2020, 1, 3), "2020-01-03"),
    "nanoseconds": (pd.Timestamp("1999-12-31 23:59:59.123456789"), "1999-12-31 23:59:59.123456789"),
    "seconds": (pd.Timestamp("1999-12-31 23:59:58").as_unit("s"), "1999-12-31 23:59:58"),
    "Cairo": (pd.Timestamp("2020-01-01", tz=CAIRO), "2019-12-31 22:00:00+00:00"),
    "Cairo, 1850": (datetime(1850, 1, 1, tzinfo=CAIRO), "1849-12-31 21:54:51+00:00"),
    "behind": (datetime(9999, 12, 31, 22, tzinfo=BEHIND), "10000-01-01 01:30:00+00:00"),
    "midnight in Greenwich": (datetime(2020, 1, 5, tzinfo=UTC), "2020-01-05+00:00"),
    "numpy's year": (np.datetime64("2021"), "2021-01-01"),
    "numpy's month": (np.datetime64("2021-02"), "2021-02-01"),
    "numpy's day": (np.datetime64("2020-01-06"), "2020-01-06"),
    "numpy's hour": (np.datetime64("2020-01-06T05"), "2020-01-06 05:00:00"),
    "numpy's minute": (np.datetime64("2020-01-06T05:06"), "2020-01-06 05:06:00"),
    "numpy's milliseconds": (np.datetime64("2020-01-06T05:06:07.080"), "2020-01-06 05:06:07.08"),
    "numpy's nanoseconds": (np.datetime64("2020-01-09T00:00:00.000000000"), "2020-01-09"),
    "a UUID": (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    "text": (" Ann\u200b Lee ", "ann lee"),
    "text of numpy": (np.str_("CARL"), "carl"),
    "wide letters": ("\uff22\uff2f\uff22", "bob"),
    "leading zeros": ("007", "007"),
    "a number as text": ("12.50", "12.5"),
    "a whole number as text": ("9007199254740995.0", 2**53 + 3),
    "a small number as text": ("2E-5", "0.00002"),
    "a power of ten as text": ("1e5", "1e5"),
    "a day as text": ("2020-02-01 00:00:00", "2020-02-01"),
    "a day and a number as text": ("2020-02-01-05", "2020-02-01-05"),
    "no day as text": ("2020-02-01 25:00", "2020-02-01 25:00"),
    "a moment as text": ("2020-02-01T10:09+0200", "2020-02-01 08:09:00+00:00"),
    "a UUID as text": ("00000000-0000-0000-0000-00000000000A", "00000000-0000-0000-0000-00000000000a"),
    "nan as text": ("nan", "nan"),
}  # fmt: skip


def number(what):
    """Of a whole number or a text, apart from the library."""
    if isinstance(what, int):
        return what
    return int(hashlib.sha256(what.encode("utf-8", "surrogatepass")).hexdigest()[:16], 16) // 2 - 2**63


WHO = [label for label, _ in LABELS.values()]
NUMBERS = [number(what) for _, what in LABELS.values()]


def objects(labels):
    column = np.empty(len(labels), object)
    for at, label in enumerate(labels):
        column[at] = label
    return column


def test_fifty_kinds_are_as_many_people():
    assert len(set(NUMBERS)) == len(NUMBERS) >= 50


def test_what_shows_nothing_is_no_letter_of_a_name_and_what_stands_beside_it_is():
    """The ends of Unicode's ranges of default ignorable characters, and the first beyond them on either side."""
    for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF), (0x2800, 0x2800)):
        labels = ["ann", *(f"ann{chr(code)}" for code in (first, last, first - 1, last + 1))]
        ann, *others = person_ids("person", labels).tolist()
        # behind the third range come characters that annotate, and show nothing either
        assert [other == ann for other in others] == [True, True, False, last == 0xFFF8]


# --- arrays, lists, and columns of every type ------------------------------------------------------------------------

WAYS = {
    "list": list,
    "tuple": tuple,
    "objects": objects,
    "column of objects": lambda labels: pd.Series(objects(labels)),
    "column": pd.Series,
    "columns": lambda labels: pd.concat([pd.Series([label]) for label in labels], ignore_index=True),
    "category": lambda labels: pd.Series(
        pd.Categorical.from_codes(range(len(labels)), pd.Index(objects(labels), dtype=object))
    ),
}


def column_of(way, labels):
    """None where pandas has no such column."""
    with contextlib.suppress(TypeError, ValueError, OverflowError, NotImplementedError), np.errstate(over="ignore"):
        return way(labels)


def run_together(column, labels):
    """Whether pandas made floats of whole numbers that are none: then all is refused."""
    return getattr(column, "dtype", np.dtype(object)).kind == "f" and any(
        2**53 <= abs(float(it)) < math.inf for it in labels
    )


def misnamed(way):
    """Pairs of which one has another number than alone; how many there are, and how many are refused."""
    faults, seen, refusals = [], 0, 0
    for pair in itertools.permutations(range(len(WHO)), 2):
        labels = [WHO[at] for at in pair]
        column = column_of(way, labels)
        if column is None:
            continue
        seen += 1
        if run_together(column, labels):
            refusals += 1
            with refused("is a float of 2^53 or more"):
                bounding.person_ids("who", column)
            continue
        found = None
        with contextlib.suppress(ValueError):
            found = bounding.person_ids("who", column).tolist()
        if found != [NUMBERS[at] for at in pair]:
            faults.append(tuple([*LABELS][at] for at in pair))
    return faults, seen, refusals


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_a_label_is_the_same_person_alone_and_with_every_other(name):
    way, alone = WAYS[name], 0
    for label, expected in zip(WHO, NUMBERS, strict=True):
        if (column := column_of(way, [label])) is not None:
            assert person_ids("who", column).tolist() == [expected], label
            alone += 1
    faults, seen, refusals = misnamed(way)
    assert faults == []
    assert alone >= 50
    assert seen > 2_400
    assert refusals < 200
    for order in (1, -1):
        if (column := column_of(way, WHO[::order])) is not None:
            assert person_ids("who", column).tolist() == NUMBERS[::order]


#: Columns of one type, and what their labels are.
TYPED = {
    **{kind: (np.array([7, 0, 100], kind), [7, 0, 100])
        for kind in ("u1", "i2", "u4", ">i4", "i8", ">u8", "f2", ">f8")},
    "i1": (np.array([7, -3], "i1"), [7, "-3"]),
    ">i8": (np.array([2**53 + 1, -(2**63)], ">i8"), [2**53 + 1, str(-(2**63))]),
    "u8": (np.array([2**63 - 1, 2**63 + 5], "u8"), [2**63 - 1, "9223372036854775813"]),
    "f4": (np.array([0.1, 12, -0.0, 2**24], "f4"), ["0.10000000149011612", 12, 0, 2**24]),
    "f8": (np.array([0.1, 1.5e-5, -7, np.inf, 2.0**53 - 1]), ["0.1", "0.000015", "-7", "inf", 2**53 - 1]),
    "?": (np.array([True, False]), [1, 0]),
    "U": (np.array(["Ann ", "12.50", "7"]), ["ann", "12.5", 7]),
    "M8[Y]": (np.array(["2021"], "M8[Y]"), ["2021-01-01"]),
    "M8[M]": (np.array(["2021-02"], "M8[M]"), ["2021-02-01"]),
    "M8[W]": (np.array(["2020-01-02"], "M8[W]"), ["2020-01-02"]),
    "M8[D]": (np.array(["2020-01-02", "10000-01-01"], "M8[D]"), ["2020-01-02", "10000-01-01"]),
    "M8[h]": (np.array(["2020-01-02", "2020-01-02T03"], "M8[h]"), ["2020-01-02", "2020-01-02 03:00:00"]),
    "M8[15m]": (np.array(["2020-01-02T03:15"], "M8[15m]"), ["2020-01-02 03:15:00"]),
    ">M8[s]": (np.array(["2020-01-02", "2020-01-02T03:04:05"], ">M8[s]"), ["2020-01-02", "2020-01-02 03:04:05"]),
    "M8[ms]": (np.array(["10000-01-01", "2020-01-02T03:04:05.6"], "M8[ms]"), ["10000-01-01", "2020-01-02 03:04:05.6"]),
    "M8[fs]": (np.array(["1970-01-01T00:00:00.5"], "M8[fs]"), ["1970-01-01 00:00:00.5"]),
    "Int8": (pd.array([7, -3], "Int8"), [7, "-3"]),
    "Int64": (pd.array([7, 2**53 + 1], "Int64"), [7, 2**53 + 1]),
    "UInt64": (pd.array([7, 2**63 + 5], "UInt64"), [7, "9223372036854775813"]),
    "Float32": (pd.array([0.1, 12], "Float32"), ["0.10000000149011612", 12]),
    "Float64": (pd.array([0.1, 12], "Float64"), ["0.1", 12]),
    "boolean": (pd.array([True, False], "boolean"), [1, 0]),
    "string": (pd.array(["Ann", "7.0"], "string"), ["ann", 7]),
    "category of numbers": (pd.Categorical([7, 2**53 + 1]), [7, 2**53 + 1]),
    "category of moments": (pd.Categorical(pd.to_datetime(["2020-01-02"])), ["2020-01-02"]),
    "category of zones": (pd.Categorical(pd.to_datetime(["2020-01-02"]).tz_localize("UTC")), ["2020-01-02+00:00"]),
    "index": (pd.Index([7, 8]), [7, 8]),
    "sparse": (pd.arrays.SparseArray([7, 0, 7]), [7, 0, 7]),
    "seconds": (pd.array(["1000-01-01"], "datetime64[s]"), ["1000-01-01"]),
    "nanoseconds": (pd.array(["2020-01-02"], "datetime64[ns]"), ["2020-01-02"]),
    "zone": (pd.to_datetime(["2020-01-02"]).tz_localize("Africa/Cairo").array, ["2020-01-01 22:00:00+00:00"]),
    "days of Arrow": (pd.array([date(2020, 1, 2)], pd.ArrowDtype(pa.date32())), ["2020-01-02"]),
    "moments of Arrow": (pd.array([datetime(2020, 1, 2)], pd.ArrowDtype(pa.timestamp("ms"))), ["2020-01-02"]),
    "decimals of Arrow": (pd.array([Decimal("1.50")], pd.ArrowDtype(pa.decimal128(9, 5))), ["1.5"]),
    "floats of Arrow": (pd.array([0.1], pd.ArrowDtype(pa.float32())), ["0.10000000149011612"]),
    "numbers of Arrow": (pd.array([7, 2**53 + 1], pd.ArrowDtype(pa.int64())), [7, 2**53 + 1]),
    "text of Arrow": (pd.array(["Ann"], pd.ArrowDtype(pa.string())), ["ann"]),
}  # fmt: skip


def native(column):
    """In this machine's order of bytes: pandas knows no other."""
    return column.astype(column.dtype.newbyteorder("=")) if isinstance(column, np.ndarray) else column


@pytest.mark.slow
@pytest.mark.parametrize("kind", TYPED)
def test_a_column_of_one_type_is_the_same_people_alone_and_with_every_label(kind):
    column, whats = TYPED[kind]
    expected = [number(what) for what in whats]
    assert person_ids("who", column).tolist() == expected
    for at, it in enumerate(expected):
        assert person_ids("who", column[at : at + 1]).tolist() == [it]
    if isinstance(column, np.ndarray) and column.dtype.kind == "M" and column.dtype not in ("M8[s]", "M8[ms]"):
        return  # no type of pandas
    series = pd.Series(native(column))
    assert person_ids("who", series).tolist() == expected
    for label, other in zip(WHO, NUMBERS, strict=True):
        if kind == "sparse" and getattr(label, "tzinfo", None):
            continue  # pandas warns that it would lose the time zone
        more = pd.concat([series, pd.Series(objects([label]), dtype=object)], ignore_index=True)
        assert person_ids("who", more).tolist() == [*expected, other], label


FAR = [2.0**53, -(2.0**53), 1e22, np.float32(2**60), np.float64(1e300)]


def test_floats_in_which_whole_numbers_run_together_are_refused():
    """By their row, and nothing that stands there; infinity is a label of its own."""
    for far in FAR:
        for column in ([7, far], (0.5, far), np.array([7, far]), objects(["ann", far]), pd.Series([0.5, far])):
            with refused("who[1] is a float of 2^53 or more, where whole numbers run together"):
                person_ids("who", column)
            with refused("who[9] is a float of 2^53 or more"):
                person_ids("who", column, [4, 9])
    for wide in (np.longdouble(2) ** 60 + 1, np.longdouble(0.5)):
        if wide.dtype.itemsize > 8:
            for column in ([wide], np.array([wide]), objects(["ann", wide])):
                with refused("who holds", "labels are numbers, text or dates"):
                    person_ids("who", column)
    with refused("who[2] is missing"):  # first said of what is missing, wherever
        person_ids("who", [1, 2.0**60, None])
    assert person_ids("who", [2**60, "1.5e300", "9007199254740993.0"]).tolist()[::2] == [2**60, 2**53 + 1]


# --- frames ----------------------------------------------------------------------------------------------------------


def doors(frame, monkeypatch):
    """Numbers of the people of a frame with a row a person, by four doors."""
    seen = []

    def watched(*given):
        seen.append(person_ids(*given))
        return seen[-1]

    for module in (comparisons, tallies, rankings, ballots):  # of which two keep no numbers
        monkeypatch.setattr(module, "person_ids", watched)
    asked = Comparisons.from_frame(frame, items=["a", "b"], voter="who")
    have = Tallies.from_frame(frame, items=["a", "b"], person="who", item="first")
    Rankings.from_frame(frame, items=["a", "b"], voter="who")
    Ballots.from_frame(frame, items=["a", "b"], voter="who")
    assert asked.voter.tolist() == seen[0].tolist()
    assert set(have.person.tolist()) == set(seen[1].tolist())
    return [it.tolist() for it in seen]


def rows_of(column):
    n = len(column)
    return {"who": column, "first": ["a"] * n, "second": ["b"] * n, "outcome": [1.0] * n, "a": [1] * n, "b": [2] * n}


def test_frames_of_pandas(monkeypatch):
    assert doors(pd.DataFrame(rows_of(objects(WHO))), monkeypatch) == [NUMBERS] * 4
    for kind, (column, whats) in TYPED.items():
        if not isinstance(column, np.ndarray) or column.dtype.kind != "M":
            frame = pd.DataFrame(rows_of(native(column)))
            frame["who"] = pd.Series(native(column))
            assert doors(frame, monkeypatch) == [[number(what) for what in whats]] * 4, kind


MIDDAY = 12 * 3600 * 1000
#: Columns of Arrow, and of Parquet, of one type, and what their labels are.
ARROW = {
    "int8": (pa.array([7, -3], pa.int8()), [7, "-3"]),
    "int64": (pa.array([7, 2**53 + 1]), [7, 2**53 + 1]),
    "uint64": (pa.array([7, 2**63 + 5], pa.uint64()), [7, "9223372036854775813"]),
    "half": (pa.array(np.array([0.1, 12], "f2")), ["0.0999755859375", 12]),
    "float": (pa.array([0.1, 12, -0.0], pa.float32()), ["0.10000000149011612", 12, 0]),
    "double": (pa.array([0.1, 1.5e-5, -7, np.inf, 2.0**53 - 1]), ["0.1", "0.000015", "-7", "inf", 2**53 - 1]),
    "bool": (pa.array([True, False]), [1, 0]),
    "tenths": (pa.array([Decimal("1.5"), Decimal("4.0")], pa.decimal128(5, 1)), ["1.5", 4]),
    "hundredths": (pa.array([Decimal("1.50"), Decimal("0.25")], pa.decimal128(5, 2)), ["1.5", "0.25"]),
    "small": (pa.array([Decimal("3E-9"), Decimal(0)], pa.decimal128(20, 10)), ["0.000000003", 0]),
    "date32": (pa.array([date(2020, 1, 2), date(1, 1, 1)]), ["2020-01-02", "0001-01-01"]),
    "date64": (pa.array([0, 2 * MIDDAY]).view(pa.date64()), ["1970-01-01", "1970-01-02"]),
    "s": (pa.array([0, 1], pa.timestamp("s")), ["1970-01-01", "1970-01-01 00:00:01"]),
    "ms": (pa.array([0, MIDDAY], pa.timestamp("ms")), ["1970-01-01", "1970-01-01 12:00:00"]),
    "us": (pa.array([0, 500_000], pa.timestamp("us")), ["1970-01-01", "1970-01-01 00:00:00.5"]),
    "ns": (pa.array([0, 1], pa.timestamp("ns")), ["1970-01-01", "1970-01-01 00:00:00.000000001"]),
    "zone": (pa.array([0, 1], pa.timestamp("s", "Africa/Cairo")), ["1970-01-01+00:00", "1970-01-01 00:00:01+00:00"]),
    "text": (pa.array(["Ann ", "12.50", "7.0"]), ["ann", "12.5", 7]),
    "large text": (pa.array(["Ann "], pa.large_string()), ["ann"]),
    "dictionary": (pa.array(["Ann ", "7"]).dictionary_encode(), ["ann", 7]),
    "dictionary of floats": (pa.array([0.1, 12], pa.float32()).dictionary_encode(), ["0.10000000149011612", 12]),
}  # fmt: skip
if hasattr(pa, "uuid"):
    ARROW["uuid"] = pa.array([UUID(int=5).bytes], pa.uuid()), ["00000000-0000-0000-0000-000000000005"]


@pytest.mark.slow
def test_tables_of_pyarrow(monkeypatch):
    for kind, (column, whats) in ARROW.items():
        expected = [number(what) for what in whats]
        for at, it in enumerate(expected):
            assert person_ids("who", as_pandas(pa.table({"who": column.slice(at, 1)}))["who"]).tolist() == [it], kind
        assert doors(pa.table(rows_of(column)), monkeypatch) == [expected] * 4, kind


def test_tables_of_polars(monkeypatch):
    """Each label alone, with every other of its kind, and with a text, which makes texts of them."""
    polars = pytest.importorskip("polars")
    kinds = {
        "numbers": [7, -3, 3.0, 2.5, 0.1],
        "floats": [0.1, 1.5e-5, 3e-7, -0.0, 2.0**53 - 1],
        "truth": [True, False],
        "truth and numbers": [True, 7, False],
        "decimals": [Decimal("1.10"), Decimal("4.00"), Decimal("1.255")],
        "days": [date(2020, 1, 2), date(1, 1, 1)],
        "moments": [datetime(2020, 1, 2), datetime(2020, 1, 2, 3, 4, 5), datetime(2020, 1, 2, 0, 0, 0, 600_000)],
        "zones": [datetime(2020, 1, 5, tzinfo=CAIRO), datetime(2020, 1, 5, 1, tzinfo=CAIRO)],
        "texts": ["Ann ", "12.50"],
    }
    for kind, labels in kinds.items():
        expected = [person_ids("who", [label])[0] for label in labels]
        for label, it in zip(labels, expected, strict=True):
            alone = polars.Series([label])
            assert doors(polars.DataFrame(rows_of(alone)), monkeypatch) == [[it]] * 4, label
            texts = polars.concat([alone.cast(polars.String), polars.Series(["zz"])])
            assert person_ids("who", texts)[0] == it, label
        together = polars.DataFrame(rows_of(polars.Series(labels, strict=False)))
        assert doors(together, monkeypatch) == [expected] * 4, kind
    single = polars.DataFrame(rows_of(polars.Series([0.1, 12], dtype=polars.Float32)))
    assert doors(single, monkeypatch) == [[number("0.10000000149011612"), 12]] * 4
    with refused("who[1] is a float of 2^53 or more"):
        doors(polars.DataFrame(rows_of(polars.Series([0.5, 2**53 + 1], strict=False))), monkeypatch)


# --- files -----------------------------------------------------------------------------------------------------------

ASKED = {"kind": "comparisons", "columns": ("first", "second", "outcome"), "person": "who", "answers": "outcome"}
HAVE = {"kind": "tallies", "columns": ("first",), "person": "who"}
RANKED = {"kind": "ballots", "form": "wide", "ballots": "full", "person": "who"}


def declared(keys):
    return Declaration(items=["a", "b"], **keys)


def people_of(path, monkeypatch):
    """Numbers of the people of a file with a row a person, by three kinds of data."""
    seen = []

    def watched(*given):
        seen.append(person_ids(*given))
        return seen[-1]

    def read(keys):
        seen.clear()
        return declared(keys).read(path).data, max(seen, key=len).tolist()  # others are of rows that tell nothing

    monkeypatch.setattr(accounts, "person_ids", watched)
    (asked, voters), (have, persons), (_, ranked) = map(read, (ASKED, HAVE, RANKED))
    assert asked.voter.tolist() == voters
    assert set(have.person.tolist()) == set(persons)
    return [voters, persons, ranked]


def cell(label):
    """As Python writes it; numpy's dates in nanoseconds, and its floats as the values that they have."""
    if isinstance(label, np.datetime64):
        return str(label.astype("M8[ns]"))
    return repr(float(label)) if isinstance(label, np.floating) else str(label)


@pytest.mark.slow
def test_files_of_csv(tmp_path, monkeypatch):
    for at, (label, it) in enumerate(zip(WHO, NUMBERS, strict=True)):
        pd.DataFrame(rows_of([cell(label)])).to_csv(tmp_path / f"{at}.csv", index=False)
        assert declared(HAVE).read(tmp_path / f"{at}.csv").data.person.tolist() == [it], label
    pd.DataFrame(rows_of([cell(label) for label in WHO])).to_csv(tmp_path / "all.csv", index=False)
    assert people_of(tmp_path / "all.csv", monkeypatch) == [NUMBERS] * 3
    for kind, (column, whats) in TYPED.items():
        series = pd.Series(column) if not isinstance(column, np.ndarray) or column.dtype.kind in "iub?" else None
        if series is not None and "loat" not in kind:
            # as pandas writes them: a day without its time, if all are at midnight
            pd.DataFrame(rows_of(column)).assign(who=series).to_csv(tmp_path / "typed.csv", index=False)
            people = declared(ASKED).read(tmp_path / "typed.csv").data.voter.tolist()
            assert people == [number(what) for what in whats], kind


@pytest.mark.slow
def test_files_of_parquet(tmp_path, monkeypatch):
    path = tmp_path / "who.parquet"
    for kind, (column, whats) in ARROW.items():
        expected = [number(what) for what in whats]
        for at, it in enumerate(expected):
            pq.write_table(pa.table(rows_of(column.slice(at, 1))), path)
            assert declared(HAVE).read(path).data.person.tolist() == [it], kind
        pq.write_table(pa.table(rows_of(column)), path)
        assert people_of(path, monkeypatch) == [expected] * 3, kind
        assert read_comparisons(path, items=["a", "b"], voter="who").voter.tolist() == expected, kind
    texts = pa.array([cell(label) for label in WHO])
    pq.write_table(pa.table(rows_of(texts)), path)
    assert people_of(path, monkeypatch) == [NUMBERS] * 3


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_people_whom_engines_count(engine, tmp_path, monkeypatch):
    """Of two shards each counts its people: who they are is told by the numbers written out here."""
    path, more = tmp_path / "who.parquet", tmp_path / "more.parquet"
    looked_up = []

    def watched(name, labels):
        looked_up.append((list(labels), person_ids(name, labels)))
        return looked_up[-1][1]

    for module in (engine_job, engines):
        monkeypatch.setattr(module, "person_ids", watched)
    for kind, (column, whats) in ARROW.items():
        if engine == "duckdb" and (pa.types.is_timestamp(column.type) or kind in ("half", "uuid")):
            continue  # which it refuses, by their type
        expected = np.array([number(what) for what in whats])
        pq.write_table(pa.table(rows_of(column)), path)
        pq.write_table(pa.table(rows_of(column)), more)
        looked_up.clear()
        there = count([path, more], declared(HAVE), per_person=1, shard=(2, 2), engine=engine)
        assert there.rows == 2 * (shard_of(expected, 2) == 1).sum(), kind
        for labels, ids in looked_up:
            assert set(ids.tolist()) == set(expected.tolist()), (kind, labels)
        assert looked_up or kind == "int64", kind


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_a_float_that_may_be_several_people_is_nobody_in_a_file(engine, tmp_path):
    """And refuses none: the row is left out, and in the account; of items such a float is a label."""
    path = tmp_path / "who.parquet"
    have = declared(HAVE)
    for kind in (pa.float64(), pa.float32()):
        plain, far = (pa.array([0.5, 7, it, it], kind) for it in (8, 2.0**60))
        for column in (far, far.dictionary_encode()):
            pq.write_table(pa.table(rows_of(column)), path)
            counted = count(path, have, per_person=1, engine=engine)
            assert (counted.rows, counted.left_out["no person"], counted.sums["persons"]) == (4, 2, (2, 0))
        intake = have.read(path)
        assert intake.left_out == {"no person": 2}
        assert intake.data.person.tolist() == [number("0.5"), 7]
        pq.write_table(pa.table(rows_of(plain)), path)
        assert have.read(path).left_out == {}
    table = rows_of(pa.array(["ann", "bob"])) | {"first": pa.array([1e22, 0.1], pa.float32())}
    pq.write_table(pa.table(table), path)
    numbers = Declaration(kind="tallies", columns=("first",), person="who", items=["1e+22", "0.1"])
    assert numbers.read(path).data.counts().tolist() == [1, 1]


# --- UUIDs -----------------------------------------------------------------------------------------------------------


def without_uuids(*given, **options):
    """As pyarrow before 21 reads what other programs wrote: UUIDs are bytes."""
    with contextlib.suppress(TypeError):  # of those versions themselves
        return PARQUET_FILE(*given, arrow_extensions_enabled=False, **options)
    return PARQUET_FILE(*given, **options)


PARQUET_FILE = pq.ParquetFile


@pytest.mark.parametrize("old", [True, False])
def test_people_by_uuids_of_other_programs(old, tmp_path, monkeypatch):
    """Whatever the version of pyarrow: the text of each, and no other engine, whose shards would be others."""
    duckdb = pytest.importorskip("duckdb")
    path, who = tmp_path / "who.parquet", [UUID(int=2**127 + 3**70 * at) for at in range(40)]
    rows = ", ".join(f"('{it}'::UUID, 'a')" for it in who)
    duckdb.sql(f"COPY (SELECT * FROM (VALUES {rows}) it(who, first)) TO '{path}' (FORMAT parquet)")
    if old:
        monkeypatch.setattr(pq, "ParquetFile", without_uuids)
    with pq.ParquetFile(path) as file:
        assert uuid_columns(file) == {"who"}
    expected = [number(str(it)) for it in who]
    have = declared(HAVE)
    assert have.read(path).data.person.tolist() == sorted(expected)
    parts = [count(path, have, per_person=1, shard=(at, 2)) for at in (1, 2)]
    assert [part.rows for part in parts] == np.bincount(shard_of(expected, 2)).tolist()
    with refused("for which this engine has no room: take engine numpy"):
        count(path, have, per_person=1, engine="duckdb")
    if not old:
        assert read_tallies(path, items=["a"], person="who", item="first").person.tolist() == sorted(expected)
        table = pq.read_table(path)
        if not pa.types.is_fixed_size_binary(table["who"].type):
            found = Tallies.from_frame(table, items=["a"], person="who", item="first")
            assert found.person.tolist() == sorted(expected)
    bare = tmp_path / "bytes.parquet"
    pq.write_table(pa.table({"who": pa.array([it.bytes for it in who], pa.binary(16)), "first": ["a"] * 40}), bare)
    with pq.ParquetFile(bare) as file:
        assert uuid_columns(file) == set()
    with refused("another name or type"):  # bytes that nobody called UUIDs are texts
        count([path, bare], have, per_person=1)


# --- attacks that worked ---------------------------------------------------------------------------------------------

DAYS = pd.Timestamp("1950-01-01") + pd.to_timedelta(np.arange(300), unit="D")
#: Labels of 300 people in a column of one type, and that of one more, of which pandas makes another type.
ATTACKS = {
    "a finer moment": (DAYS.as_unit("s"), pd.Timestamp("2001-01-01 00:00:00.000001")),
    "a text beside dates": (DAYS, "unknown"),
    "a day beside moments": (DAYS, date(2001, 1, 1)),
    "a time zone": (DAYS, pd.Timestamp("2001-01-01", tz="UTC")),
    "a text beside floats": ((np.arange(300) * 0.1 + 0.05).astype(np.float32), "unknown"),
    "a longer float": ((np.arange(300) * 0.1 + 0.05).astype(np.float32), 0.1),
    "a text beside short floats": ((np.arange(300) / 8).astype(np.float16), "unknown"),
    "a text beside numbers": (2**60 + 97 * np.arange(300), "unknown"),
    "a number below zero": (2**53 + 97 * np.arange(300), -4),
    "nobody's number": (np.arange(300), 10**30),
    "a truth value": (np.arange(2, 302), True),
    "a half": (np.arange(300), 0.5),
    "a number beside truth": (np.array([True, False] * 150), 3),
    "decimals": (objects([Decimal(at) / 4 for at in range(300)]), Decimal("0.001")),
}


def with_one_more(column, label):
    """Two things of everybody, and one of one more."""
    who, first = pd.Series(column).repeat(2), ["a", "b"] * 300
    more = pd.concat([who, pd.Series([label])])
    return pd.DataFrame({"who": who, "first": first}), pd.DataFrame({"who": more, "first": [*first, "a"]})


@pytest.mark.parametrize("name", ATTACKS)
def test_one_more_person_changes_no_row_of_others(name):
    """With 300 others, of whom each kept one of two things by their number, one label drew all of them anew."""
    few, many = (
        Tallies.from_frame(it, items=["a", "b"], person="who", item="first") for it in with_one_more(*ATTACKS[name])
    )
    assert (many.counts(1) - few.counts(1)).tolist() == [1, 0]
    assert set(few.person.tolist()) <= set(many.person.tolist())
    assert len(np.unique(few.person)) in (2, 300)


def test_one_more_person_changes_no_ballot_of_others():
    """Of several ballots one stays, by the number of its person; of several answers, too."""
    column, label = ATTACKS["a text beside dates"]
    rows = pd.DataFrame({"who": pd.Series(column).repeat(2), "a": [1, 2] * 300, "b": [2, 1] * 300})
    one = pd.DataFrame({"who": [label], "a": [1], "b": [2]})
    more = pd.concat([rows, one], ignore_index=True)
    for kind in (Rankings, Ballots):
        few, many = (kind.from_frame(it, items=["a", "b"], voter="who") for it in (rows, more))
        places = "positions" if kind is Rankings else "places"
        assert getattr(many, places)[:-1].tolist() == getattr(few, places).tolist()
    answers = rows.assign(first="a", second="b", outcome=[1.0, 0.0] * 300)
    both = pd.concat([answers, one.assign(first="a", second="b", outcome=1.0)], ignore_index=True)
    before, after = (Comparisons.from_frame(it, items=["a", "b"], voter="who").bounded(1) for it in (answers, both))
    assert after.outcome[:-1].tolist() == before.outcome.tolist()


def test_a_half_among_numbers_that_are_no_floats_is_refused():
    _, more = with_one_more(2**60 + 97 * np.arange(300), 0.5)
    with refused("who[0] is a float of 2^53 or more"):
        Tallies.from_frame(more, items=["a", "b"], person="who", item="first")


# --- rules that would be wrong ---------------------------------------------------------------------------------------

TEXT, ISO, COLUMN = bounding._text, bounding._iso, bounding._column
#: What is replaced, by what, and the way in by which it shows.
MUTANTS = {
    "numpy's type of a list": ("_column", np.asarray, "list"),
    "floats as their own type writes them": (
        "_text",
        lambda name, it: str(it) if isinstance(it, np.float32) else TEXT(name, it),
        "objects",
    ),
    "whole floats with a point": ("_text", lambda name, it: str(it), "objects"),
    "floats as they are": ("RUN_TOGETHER", 2.0**62, "columns"),
    "moments with their midnight": ("_moment", lambda day, *others: " ".join((day, *others)), "objects"),
    "moments without their zone": (
        "_moment",
        lambda day, minute, second, part, zone, greenwich: " ".join((day, minute, second, part)),
        "objects",
    ),
    "zeros at the end": ("_decimals", lambda *groups: "".join(groups), "objects"),
    "numpy's units": ("_iso", lambda moment, unit: moment, "objects"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_rule_is_seen(name, monkeypatch):
    what, wrong, way = MUTANTS[name]
    monkeypatch.setattr(bounding, what, wrong)
    try:
        faults = misnamed(WAYS[way])[0]
    except pytest.fail.Exception:  # what had to be refused was not
        faults = [name]
    assert faults
