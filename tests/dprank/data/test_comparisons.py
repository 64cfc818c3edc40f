"""Exact: counts against a loop over the rows; readers against what was written."""

import threading
import tracemalloc
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checks import each, refused

from dprank.data import comparisons, counting
from dprank.data.bounding import person_ids
from dprank.data.comparisons import FEW_ROWS, Comparisons, read_comparisons
from dprank.data.counting import GRAIN, pairwise_wins, whole_counts, win_counts, win_counts_parquet
from dprank.models import games
from dprank.models.games import Games
from dprank.models.likelihood import mle

SCORES = {"wins": lambda x: float(x == 1), "half": lambda x: x, "net": lambda x: 2 * x - 1}
ABC = ("a", "b", "c")


def random_rows(rows, items, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, items, rows)
    second = (first + rng.integers(1, items, rows)) % items
    return first, second, rng.choice([0, 0.5, 1], rows)


def loop(first, second, outcome, items, score):
    total = np.zeros(items)
    for i, j, x in zip(first, second, outcome, strict=True):
        total[i] += SCORES[score](x)
        total[j] += SCORES[score](1 - x)
    return total


@each("score", SCORES)
@each(("rows", "items"), [(0, 2), (1, 2), (50, 3), (400, 256), (400, 257)])
@pytest.mark.slow
def test_win_counts_adds_up_the_rows(rows, items, score):
    data = random_rows(rows, items)
    counts = win_counts(Comparisons(*data, range(items)), score)
    np.testing.assert_array_equal(counts, loop(*data, items, score))
    assert (counts % GRAIN[score] == 0).all()


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk", [1, 5, 49, 50, 51])
def test_neither_threads_nor_chunks_matter(monkeypatch, chunk, threads):
    monkeypatch.setattr(counting, "_CHUNK", chunk)
    monkeypatch.setattr(counting, "FEW_ROWS", 0)
    data = random_rows(50, 4)
    np.testing.assert_array_equal(win_counts(Comparisons(*data, "abcd"), threads=threads), loop(*data, 4, "wins"))


def kernels(monkeypatch, most):
    for module in (comparisons, counting, games):
        monkeypatch.setattr(module, "FEW_ROWS", most)


@each(("rows", "items"), [(0, 2), (1, 2), (50, 3), (400, 256), (400, 257), (900, 5), (FEW_ROWS, 7)])
@pytest.mark.slow
def test_few_rows_are_counted_without_a_kernel_and_come_out_the_same(rows, items, monkeypatch):
    given, counted = random_rows(rows, items), []
    for most in (0, FEW_ROWS + 1):
        kernels(monkeypatch, most)
        data = Comparisons(*given, range(items))
        pairs = Games.of(data)
        counted.append([*(whole_counts(data, score) for score in SCORES), pairwise_wins(data), pairs.wins, pairs.table])
        counted[-1] += [data.points, pairs.start, pairs.other, pairs.played, pairs.points]
    for many, few in zip(*counted, strict=True):
        assert few.dtype == many.dtype
        np.testing.assert_array_equal(few, many)


def test_a_small_problem_compiles_nothing_but_the_fit(monkeypatch):
    """A kernel takes a second to compile where no cache is warm."""

    def compiled(*_):
        raise AssertionError("a kernel was called")

    for module in (comparisons, counting, games):
        for name in (
            "_points_kernel",
            "_score_kernel",
            "_pair_kernel",
            "_merge",
            "_points_of",
            "_table",
            "_all_reached",
        ):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, compiled)
    data = Comparisons(*random_rows(FEW_ROWS - 1, 3), ABC)
    assert mle(data).theta.shape == win_counts(data).shape == (3,)
    assert pairwise_wins(data).sum() == FEW_ROWS - 1
    with pytest.raises(AssertionError, match="a kernel"):
        Comparisons(*random_rows(FEW_ROWS, 3), ABC)


@pytest.mark.parametrize("most", [0, FEW_ROWS])
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u1", "?", "f2", "object"])
def test_outcomes_are_what_they_are_on_both_ways(kind, most, monkeypatch):
    kernels(monkeypatch, most)
    given = np.array([1, 0, 1]).astype(kind)
    assert Comparisons([0, 1, 2], [1, 2, 0], given, ABC).points.tolist() == [2, 0, 2]
    for wrong in ([1, 0, 0.3], [1, np.nan, 1], [1, 0, -1], [2, 0, 1], [1, np.inf, 0], [1, 0, 128]):
        row = next(row for row, x in enumerate(wrong) if x not in (0, 0.5, 1))
        with refused(f"outcome[{row}]"):
            Comparisons([0, 1, 2], [1, 2, 0], np.array(wrong), ABC)


def test_whole_counts_are_integers_in_the_unit_of_the_score():
    data = Comparisons(*random_rows(60, 4), "abcd")
    for score, grain in GRAIN.items():
        counts = whole_counts(data, score)
        assert counts.dtype == np.int64
        np.testing.assert_array_equal(counts * grain, win_counts(data, score))


def test_pairwise_wins_adds_up_the_rows():
    first, second, outcome = data = random_rows(200, 5)
    expected = np.zeros((5, 5))
    np.add.at(expected, (first, second), outcome)
    np.add.at(expected, (second, first), 1 - outcome)
    table = pairwise_wins(Comparisons(*data, "abcde"))
    np.testing.assert_array_equal(table, expected)
    np.testing.assert_array_equal(table.sum(axis=1), win_counts(Comparisons(*data, "abcde"), "half"))


@each(
    ("codes", "outcome"),
    [("i1", "?"), ("u1", "u1"), ("u8", "i8"), (">i4", "f4"), ("i8", "f2"), ("i8", ">f8"), ("i8", "longdouble")],
)
def test_any_integer_codes_and_any_numeric_outcomes(codes, outcome):
    data = Comparisons(np.array([0, 1, 2], codes), np.array([1, 2, 0], codes), np.array([1, 0, 1], outcome), ABC)
    assert data.outcome.tolist() == [1, 0, 1]
    assert data.first.tolist() == [0, 1, 2]


def test_strided_columns():
    first, second, outcome = random_rows(40, 3)
    data = Comparisons(first[::-2], second[::-2], outcome[::-2], ABC)
    np.testing.assert_array_equal(win_counts(data), loop(first[::-2], second[::-2], outcome[::-2], 3, "wins"))


COLUMNS = {"first": [0, 1, 2], "second": [1, 2, 0], "outcome": [1, 0.5, 0], "voter": [7, 7, 8]}


@pytest.mark.parametrize("name", COLUMNS)
def test_is_immutable_and_leaves_the_caller_s_arrays_alone(name):
    given = {key: np.array(values) for key, values in COLUMNS.items()}
    data = Comparisons(**given, items=ABC)
    given[name][:] = given[name][::-1].copy()
    assert getattr(data, name).tolist() == COLUMNS[name]
    with pytest.raises(ValueError, match="read-only"):
        getattr(data, "points" if name == "outcome" else name)[0] = 0


@pytest.mark.parametrize("rows", [slice(1, None), [1, 2], [False, True, True]])
def test_some_rows(rows):
    part = Comparisons(**COLUMNS, items=ABC)[rows]
    assert [getattr(part, name).tolist() for name in COLUMNS] == [column[1:] for column in COLUMNS.values()]
    assert (len(part), part.items, part.voters.tolist()) == (2, ABC, [7, 8])


@each(
    ("change", "words"),
    [
        ({"first": [0, 1, 3]}, ["first[2]", "0 .. 2"]),
        ({"second": [1, -1, 0]}, ["second[1]", "0 .. 2"]),
        ({"first": [0, 2, 2]}, ["second[1]", "differ"]),
        ({"first": [0.0, 1, 2]}, ["first", "float64", "integers"]),
        ({"first": [[0], [1], [2]]}, ["first", "one-dimensional"]),
        ({"second": [1, 2]}, ["second has another number of rows than first"]),
        ({"outcome": [1, 0]}, ["points has another number of rows than first"]),
        ({"voter": [1]}, ["voter has another number of rows than first"]),
        ({"voter": [1.0, 2, 3]}, ["voter", "float64"]),
        ({"outcome": [1, 0.4, 2]}, ["outcome[1]", "1, 0.5 and 0"]),
        ({"outcome": [1, 0, np.nan]}, ["outcome[2]"]),
        ({"outcome": [1, 0, -1]}, ["outcome[2]"]),
        ({"outcome": [1, 0, 2**60]}, ["outcome[2]"]),
        ({"outcome": ["1", "0", "1"]}, ["outcome", "numbers"]),
        ({"outcome": [[1, 0, 0]]}, ["outcome", "one-dimensional"]),
        ({"items": "aab"}, ["items[1] is items[0]"]),
        ({"items": "a"}, ["items has length 1", "at least two"]),
    ],
)
def test_refuses(change, words):
    with refused(*words):
        Comparisons(**({"items": ABC} | COLUMNS | change))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: win_counts(c, "points"), ["score = 'points'", "'wins', 'half', 'net'"]),
        (lambda c: win_counts(c, threads=0), ["threads = 0", "at least 1"]),
        (lambda c: c.bounded(1), ["voter is absent"]),
        (lambda c: c.voters, ["voter is absent"]),
        (lambda c: c.bounded(design="twice"), ["design = 'twice'", "'any', 'once', 'complete'"]),
        (lambda c: c.bounded(ties=1), ["ties = 1", "True or False"]),
        (lambda c: Comparisons(**COLUMNS, items=ABC).bounded(0), ["per_person = 0", "at least 1"]),
    ],
)
def test_refuses_a_question(call, words):
    with refused(*words):
        call(Comparisons([0], [1], [1], ABC))


@each("per_person", [1, 2, 5, 100])
@each("design", ["any", "once", "complete"])
@each("ties", [True, False])
def test_bounded_keeps_what_was_promised_and_no_less(per_person, design, ties):
    voter = np.random.default_rng(0).integers(0, 6, 60)
    data = Comparisons(*random_rows(60, 3), ABC, voter)
    kept = data.bounded(per_person, design=design, ties=ties)
    for who in range(6):
        given, stays = ([row for row in rows(table) if row[0] == who] for table in (data, kept))
        allowed = [row for row in given if ties or row[3] != 1]
        pairs = {frozenset(row[1:3]) for row in allowed}
        most = min(per_person, len(allowed) if design == "any" else len(pairs))
        assert len(stays) == (0 if design == "complete" and most < per_person else most)
        assert not Counter(stays) - Counter(allowed)
        assert design == "any" or len({frozenset(row[1:3]) for row in stays}) == len(stays)
    assert len(data[:0].bounded(per_person, design=design, ties=ties)) == 0


def rows(data):
    return list(zip(data.voter.tolist(), data.first.tolist(), data.second.tolist(), data.points.tolist(), strict=True))


def test_within_the_promise_nothing_is_copied():
    data = Comparisons(**COLUMNS, items=ABC)
    assert data.bounded() is data.bounded(2) is data.bounded(2, design="once") is data
    assert data.bounded(1, design="complete", ties=False)[:] == data[[0, 2]]
    assert Comparisons([0, 0], [1, 1], [1, 0.5], ABC).bounded(ties=False).points.tolist() == [2]


def test_what_stays_does_not_depend_on_the_order_or_on_how_a_pair_is_written():
    rng = np.random.default_rng(3)
    data = Comparisons(*random_rows(60, 4), "abcd", rng.integers(0, 5, 60))
    for promise in ({"per_person": 2}, {"per_person": 3, "design": "once"}, {"per_person": 4, "ties": False}):
        wins, voters = [], []
        for _ in range(20):
            turned, order = rng.random(60) < 0.5, rng.permutation(60)
            first, second = np.where(turned, (data.second, data.first), (data.first, data.second))[:, order]
            outcome = np.where(turned, 1 - data.outcome, data.outcome)[order]
            kept = Comparisons(first, second, outcome, "abcd", data.voter[order]).bounded(**promise)
            wins.append(pairwise_wins(kept).tolist())
            voters.append(np.sort(kept.voter).tolist())
        assert wins == wins[:1] * 20
        assert voters == voters[:1] * 20


def test_what_stays_of_a_voter_does_not_depend_on_the_others():
    rng = np.random.default_rng(4)
    data = Comparisons(*random_rows(60, 4), "abcd", rng.integers(0, 5, 60))
    for promise in ({"per_person": 2}, {"per_person": 3, "design": "once"}, {"per_person": 6, "design": "complete"}):
        kept = data.bounded(**promise)
        for who in range(5):
            alone = data[data.voter == who].bounded(**promise)
            assert alone == kept[kept.voter == who]


FRAME = pd.DataFrame(
    {"x": list("abcab"), "y": list("bcabc"), "z": [1, 0, 0.5, np.nan, 1], "w": ["q", "p", "q", "p", "r"]}
)
NAMED = {"items": ABC, "first": "x", "second": "y", "outcome": "z"}


@pytest.mark.parametrize("kind", ["frame", "category", "csv", "parquet"])
def test_readers_agree(kind, tmp_path):
    if kind == "csv":
        FRAME.to_csv(tmp_path / "t", index=False)
        data = read_comparisons(tmp_path / "t", **NAMED, voter="w", missing="drop")
    elif kind == "parquet":
        FRAME.to_parquet(tmp_path / "t.parquet")
        data = read_comparisons(tmp_path / "t.parquet", **NAMED, voter="w", missing="drop")
    else:
        frame = FRAME.astype({"x": "category", "z": "Float64"}) if kind == "category" else FRAME
        data = Comparisons.from_frame(frame, **NAMED, voter="w", missing="drop")
    assert data.first.tolist() == [0, 1, 2, 1]
    assert data.second.tolist() == [1, 2, 0, 2]
    assert data.outcome.tolist() == [1, 0, 0.5, 1]
    q, p, r = person_ids("w", ["q", "p", "r"])
    assert data.voter.tolist() == [q, p, q, r]


@pytest.mark.parametrize(
    "names", [["0", "1"], ["01", "1"], ["1.0", "1"], ["NA", "None"], ["nan", "null"], ["True", "1e5"]]
)
def test_names_survive_a_csv_as_written(tmp_path, names):
    """The samplers' own names are digits, and Namibia's code is NA."""
    a, b = names
    pd.DataFrame({"first": [a, b], "second": [b, a], "outcome": [1, 1], "v": names}).to_csv(tmp_path / "t", index=False)
    data = read_comparisons(tmp_path / "t", items=names, voter="v")
    assert data.first.tolist() == [0, 1]
    assert len(data.voters) == (1 if names == ["1.0", "1"] else 2)  # items are as written, one person is one


def test_persons_are_known_by_their_name_in_every_table(tmp_path):
    tables = [["ann", "Bob"], ["  Bob", "ANN "], [1, 2], ["1", "2"], [2.0, 1.0]]
    frames = [pd.DataFrame({"first": ["a", "b"], "second": ["b", "c"], "outcome": [1, 1], "v": v}) for v in tables]
    ann, bob, *numbers = [Comparisons.from_frame(f, items=ABC, voter="v").voter.tolist() for f in frames]
    assert ann == bob[::-1]
    assert numbers == [[1, 2], [1, 2], [2, 1]]
    frames[1].to_csv(tmp_path / "t.csv", index=False)
    assert read_comparisons(tmp_path / "t.csv", items=ABC, voter="v").voter.tolist() == bob


def test_nobody_forgets_who_answered():
    """Without a word of voters, one comparison alone could be protected, and nobody would know."""
    frame = pd.DataFrame({"first": ["a"], "second": ["b"], "outcome": [1]})
    with pytest.raises(TypeError, match="voter"):
        Comparisons.from_frame(frame, items=ABC)
    assert Comparisons.from_frame(frame, items=ABC, voter=None).voter is None


@pytest.mark.parametrize("gone", [None, np.nan, pd.NA])
def test_a_missing_name_is_no_item_whatever_items_are_called(gone):
    frame = pd.DataFrame({"first": ["a", gone], "second": ["nan", "a"], "outcome": [1, 1]}, dtype=object)
    with refused("first[1]", "none of the 4 items"):
        Comparisons.from_frame(frame.astype({"outcome": int}), items=["a", "nan", "None", "<NA>"], voter=None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ["z[3] is missing", "missing='drop'"]),
        ({"missing": "skip"}, ["missing = 'skip'", "'refuse', 'drop'"]),
        ({"items": "ab", "missing": "drop"}, ["x[2] is none of the 2 items"]),
        ({"first": "X"}, ["column 'X' is not in the table", "4 columns"]),
        ({"voter": "V"}, ["column 'V'"]),
    ],
)
def test_refuses_a_table(change, words):
    with refused(*words):
        Comparisons.from_frame(FRAME, **(NAMED | {"voter": None} | change))


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("x", "d", ["x[4] is none of the 3 items"]),
        ("y", None, ["y[4]", "none of the 3 items"]),
        ("y", "b", ["y[4]", "compared with"]),
        ("z", 0.3, ["z[4]", "1, 0.5 and 0"]),
        ("w", None, ["w[4] is missing"]),
    ],
)
def test_errors_name_the_column_and_the_row_of_the_table_even_after_dropped_rows(column, value, words):
    frame = FRAME.copy()
    frame.loc[4, column] = value
    with refused(*words):
        Comparisons.from_frame(frame, **NAMED, voter="w", missing="drop")


def encode(codes, kind):
    names = pa.array(np.array(ABC)[codes])
    return {
        "codes": pa.array(codes),
        "bytes": pa.array(codes.astype(np.uint8)),
        "names": names,
        "large": names.cast(pa.large_string()),
        "dictionary": pa.DictionaryArray.from_arrays((2 - codes).astype(np.int8), list("cba")),
    }[kind]


def write(path, first, second, outcome, row_group_size=7, names=("first", "second", "outcome")):
    pq.write_table(pa.table([first, second, outcome], list(names)), path, row_group_size=row_group_size)
    return path


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", ["codes", "bytes", "names", "large", "dictionary"])
@pytest.mark.parametrize(("batch", "threads"), [(1, 1), (10, 2), (64, 7), (1 << 18, 2)])
@pytest.mark.slow
def test_parquet_counts_what_memory_counts(monkeypatch, tmp_path, batch, threads, kind, score):
    monkeypatch.setattr(counting, "_BATCH", batch)
    first, second, outcome = data = random_rows(64, 3)
    path = write(tmp_path / "t", encode(first, kind), encode(second, kind), pa.array(outcome), names=("x", "y", "z"))
    counts = win_counts_parquet(path, ABC, score, first="x", second="y", outcome="z", threads=threads)
    np.testing.assert_array_equal(counts, loop(*data, 3, score))


@pytest.mark.parametrize("items", [256, 257])
def test_parquet_of_many_names(tmp_path, items):
    first, second, outcome = data = random_rows(2000, items)
    columns = (pa.array(column.astype(str)) for column in (first, second))
    counts = win_counts_parquet(write(tmp_path / "t", *columns, pa.array(outcome)), list(map(str, range(items))))
    np.testing.assert_array_equal(counts, loop(*data, items, "wins"))


@pytest.mark.slow
def test_parquet_without_rows_and_with_truth_values(tmp_path):
    first, second = encode(np.array([0, 1]), "names"), encode(np.array([1, 2]), "names")
    assert win_counts_parquet(write(tmp_path / "t", first, second, pa.array([True, False])), ABC).tolist() == [1, 0, 1]
    empty = write(tmp_path / "t", first[:0], second[:0], pa.array([], pa.float64()))
    assert win_counts_parquet(empty, ABC).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("x", "d", ["x[9] is none of the 3 items"]),
        ("x", None, ["x[9] is missing"]),
        ("y", "a", ["y[9]", "compared with"]),
        ("z", 0.3, ["z[9]", "1, 0.5 and 0"]),
        ("z", None, ["z[9] is missing"]),
    ],
)
@pytest.mark.parametrize("batch", [4, 100])
def test_errors_name_the_column_and_the_row_of_the_file(monkeypatch, tmp_path, batch, column, value, words):
    monkeypatch.setattr(counting, "_BATCH", batch)
    columns = {"x": list("ab" * 6), "y": list("cc" * 6), "z": [1, 0.5] * 6}
    columns[column][9] = value
    if (column, value) == ("y", "a"):
        columns["x"][9] = "a"
    path = write(tmp_path / "t", *map(pa.array, columns.values()), names=columns)
    with refused(*words):
        win_counts_parquet(path, ABC, first="x", second="y", outcome="z")


@pytest.mark.parametrize("threads", [1, 7])
def test_of_many_bad_rows_the_first_of_the_file_is_named(monkeypatch, tmp_path, threads):
    monkeypatch.setattr(counting, "_BATCH", 3)
    path = write(tmp_path / "t", pa.array([0] * 60), pa.array([1] * 60), pa.array([1] + [0.3] * 59))
    with refused("outcome[1]"):
        win_counts_parquet(path, ABC, threads=threads)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"first": pa.array([0, 3])}, ["first[1]", "0 .. 2"]),
        ({"first": pa.array([0.0, 2.0])}, ["first", "integers"]),
        ({"outcome": pa.array(["1", "0"])}, ["outcome", "numbers"]),
        ({"outcome": pa.array(np.array([1, 0.3], "f2"))}, ["outcome[1]"]),
    ],
)
@pytest.mark.slow
def test_refuses_a_column(tmp_path, columns, words):
    good = {"first": pa.array([0, 2]), "second": pa.array([1, 1]), "outcome": pa.array([1, 0])}
    with refused(*words):
        win_counts_parquet(write(tmp_path / "t", **(good | columns)), ABC)


def test_refuses_a_file_that_lacks_a_column(tmp_path):
    path = write(tmp_path / "t", pa.array([0]), pa.array([1]), pa.array([1]))
    with refused("three columns", "'first', 'first', 'outcome'"):
        win_counts_parquet(path, ABC, second="first")
    with refused("threads = 0"):
        win_counts_parquet(path, ABC, threads=0)
    with refused("column 'who' is not in the table", "3 columns"):
        win_counts_parquet(path, ABC, first="who")
    with refused("score = 'points'"):
        win_counts_parquet(path, ABC, "points")


def peak(call):
    """Bytes that numpy held at most, and Arrow at any of many looks."""
    held, done = [pa.total_allocated_bytes()], threading.Event()

    def watch():
        while not done.wait(1e-4):
            held.append(pa.total_allocated_bytes())

    watcher = threading.Thread(target=watch)
    tracemalloc.start()
    watcher.start()
    try:
        kept = call()
        held.append(pa.total_allocated_bytes())
        del kept
        return max(held) - held[0] + tracemalloc.get_traced_memory()[1]
    finally:
        done.set()
        watcher.join()
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_file(monkeypatch, tmp_path):
    batch, items = 1 << 10, 1000
    monkeypatch.setattr(counting, "_BATCH", batch)
    names, files = [str(i) for i in range(items)], []
    for batches in (16, 256):
        columns = map(pa.array, random_rows(batches * batch, items))
        files.append(write(tmp_path / str(batches), *columns, row_group_size=4 * batch))
    win_counts_parquet(files[0], names)
    # looks at Arrow miss the peak of a short run: the largest of five is near it
    short = max(peak(lambda: win_counts_parquet(files[0], names)) for _ in range(5))
    assert peak(lambda: win_counts_parquet(files[1], names)) < 2 * short
    short, long = (peak(lambda f=f: pq.read_table(f)) for f in files)
    assert long > 5 * short, "the yardstick must notice a file that is read whole"


@pytest.mark.parametrize("rows", [10, -4, [True], [False] * 4, [0, 3], "x", 1.5, (0, 0)])
def test_rows_that_are_not_there_tell_nothing_of_those_that_are(rows):
    with refused("rows are none of the table"):
        Comparisons([0, 1, 0], [1, 2, 2], [1, 0, 1], list("abc"))[rows]


def test_answers_kept_are_a_whole_number():
    table = Comparisons([0, 1], [1, 2], [1, 0], list("abc"), [1, 1])
    for most in ("x", 0, 1.5, [1]):
        with refused("per_person = "):
            table.bounded(most)


@pytest.mark.parametrize("header", ["person,first,second,outcome", "first,second,outcome,person"])
def test_a_header_that_is_too_short_names_no_columns(header, tmp_path):
    """pandas would shift all names by one, and three answers of one person would be three persons'."""
    path = tmp_path / "short.csv"
    path.write_text(header + "\nalice,1,a,b,1\nalice,2,a,c,1\n")
    with refused(str(path), "more fields than its header"):
        read_comparisons(path, items=list("abc"), voter="person")


@pytest.mark.parametrize("name", ["NA", "None", "nan", "null", "N/A"])
def test_columns_that_are_called_like_nothing_come_once_too(name, tmp_path):
    path = tmp_path / "twice.csv"
    path.write_text(f"{name},{name},first,second,outcome\n1,2,a,b,1\n")
    with refused(name):
        read_comparisons(path, items=["a", "b"], voter=name)


def test_masked_cells_are_not_counted():
    masked = np.ma.array([1, 0], mask=[0, 1])
    for column, arguments in (("outcome", ([0, 1], [1, 0], masked)), ("first", (masked, [0, 1], [1, 0]))):
        with refused(column, "masked"):
            Comparisons(*arguments, ["a", "b"])
    with refused("voter", "masked"):
        Comparisons([0, 1], [1, 0], [1, 0], ["a", "b"], masked)
    assert len(Comparisons([0, 1], [1, 0], np.ma.array([1, 0]), ["a", "b"])) == 2


def test_spans_of_time_are_no_items():
    for column, arguments in (
        ("first", (np.array([0, 1], "m8[s]"), [1, 0])),
        ("second", ([1, 0], np.array([0, 1], "m8[s]"))),
    ):
        with refused(column, "integers"):
            Comparisons(*arguments, [1, 0], ["a", "b"])


def test_the_word_in_a_column_of_outcomes_is_at_fault(tmp_path):
    (tmp_path / "t.csv").write_text("first,second,outcome\na,b,1\na,b,win\n")
    with refused("outcome[1] is not allowed", "1, 0.5 and 0"):
        read_comparisons(tmp_path / "t.csv", items="ab", voter=None)


def test_an_empty_cell_of_one_person_moves_nobody_else(tmp_path):
    """It made floats of a column of whole numbers, and beyond 2^53 one label of several."""
    long = 2**53
    rows = [(long, long + 1, 1.0, long + v) for v in range(4)]
    for gone in [(long, long + 1, None, None), (None, None, None, long)]:
        frame = pd.DataFrame([*rows, gone], columns=["first", "second", "outcome", "who"], dtype=object)
        frame.astype({"first": "Int64", "second": "Int64", "outcome": "Float64", "who": "Int64"}).to_parquet(
            tmp_path / "t.parquet"
        )
        data = read_comparisons(tmp_path / "t.parquet", items=[str(long), str(long + 1)], voter="who", missing="drop")
        assert (len(data), len(data.voters)) == (4, 4)
