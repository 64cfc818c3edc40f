"""numpy = DuckDB to the last integer, whatever the table, the shards and their order; twins that differ are seen."""

import itertools
import string
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrow_columns import TYPES, changed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dprank.data import duckdb_engine
from dprank.data.arrow_texts import is_engine_type
from dprank.data.bounding import shard_of
from dprank.data.count_files import merged, read_counts
from dprank.data.declaration import Declaration
from dprank.data.engine_sql import DUCKDB, bounded_sql
from dprank.data.engines import ENGINES, count, split

ITEMS = ("London", "Paris", "Rome", "Oslo")
PAIRS = Declaration(
    kind="comparisons",
    items=ITEMS,
    person="who",
    columns=("a", "b", "said"),
    answers="outcome",
    clean=("strip", "casefold"),
)
HAVE = Declaration(kind="tallies", items=ITEMS, person="who", columns=("a",), clean=("strip", "casefold"))
DESIGNS = st.sampled_from(["any", "once", "complete"])

labels = st.sampled_from([*ITEMS, "rome ", "PARIS", "Atlantis", None])
texts = st.sampled_from(["ann", "Ann ", "bob", "7", "7.0", "07", "-3", "", "  ", "\u200b", "ＡＮＮ", None])
numbers = st.one_of(st.integers(0, 3), st.sampled_from([-5, 2**62, None]))
plain = st.integers(0, 4)
outcomes = st.sampled_from([1.0, 0.5, 0.0, 0.3, None])
people = st.sampled_from(
    [(texts, "string"), (numbers, "Int64"), (plain, "Int64"), (st.sampled_from([1.0, 2.5]), "Float64")]
)


@st.composite
def tables(draw):
    """A small table of answers in which people have many rows, and the same again."""
    who, kind = draw(people)
    least = draw(st.sampled_from([1, 20, 20]))  # what is drawn is seldom much longer
    rows = draw(st.lists(st.tuples(who, labels, labels, outcomes), min_size=least, max_size=60))
    rows += draw(st.lists(st.sampled_from(rows), max_size=20))
    columns = dict(zip(("who", "a", "b", "said"), map(list, zip(*rows, strict=True)), strict=True))
    frame = pd.DataFrame(columns, dtype=object)
    return frame.astype({"who": kind, "a": "string", "b": "string", "said": "Float64"})


def alike(one, other):
    """Equal but for what counted, and which files."""
    return replace(one, engines=(), sizes=()) == replace(other, engines=(), sizes=())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


class Attached:
    """A new file of a DuckDB that runs, which takes a third of the time of another DuckDB; closed, it is left."""

    def __init__(self, path):
        self.cursor = counting().cursor()
        self.cursor.execute(f"ATTACH '{path}' AS own; USE own")

    def __getattr__(self, name):
        return getattr(self.cursor, name)

    def close(self):
        self.cursor.close()
        counting().execute("DETACH own")


@pytest.fixture
def started(monkeypatch):
    """Every engine of this test is a file of one DuckDB."""
    import duckdb

    counting()
    monkeypatch.setattr(duckdb, "connect", Attached)


SOME = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@SOME
@pytest.mark.usefixtures("started")
@given(frame=tables(), most=st.integers(1, 4), design=DESIGNS, ties=st.booleans())
def test_duckdb_counts_comparisons_as_numpy_does(folder, frame, most, design, ties):
    path = folder / "table.parquet"
    frame.to_parquet(path)
    bound = {"per_person": most, "design": design, "ties": ties}
    assert alike(count(path, PAIRS, **bound), count(path, PAIRS, **bound, engine="duckdb"))


@pytest.mark.slow
@SOME
@pytest.mark.usefixtures("started")
@given(frame=tables(), most=st.integers(1, 4), shards=st.integers(1, 4), data=st.data())
def test_shards_in_any_order_of_any_engine_are_the_whole(folder, frame, most, shards, data):
    path = folder / "shards.parquet"
    frame.to_parquet(path)
    whole = count(path, HAVE, per_person=most)
    parts = []
    for part in range(1, shards + 1):
        one, other = (count(path, HAVE, per_person=most, shard=(part, shards), engine=it) for it in ("numpy", "duckdb"))
        assert alike(one, other)
        parts.append(data.draw(st.sampled_from([one, other])))
    total = merged(data.draw(st.permutations(parts)))
    assert (total.sums, total.rows, total.left_out) == (whole.sums, whole.rows, whole.left_out)
    assert not total.missing


def many(path, rows=12_000, persons=400, seed=1):
    """Answers of people who answer very differently often, many of them twice."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, persons, rows) * rng.integers(0, 2, rows)
    a, b = rng.integers(0, 4, (2, rows))
    said = rng.integers(0, 3, rows) / 2
    frame = pd.DataFrame({"who": who, "a": np.array(ITEMS)[a], "b": np.array(ITEMS)[b], "said": said})
    frame.to_parquet(path)
    return frame


@pytest.mark.slow
@pytest.mark.parametrize("design", ["any", "once", "complete"])
def test_buckets_change_nothing(tmp_path, monkeypatch, design):
    many(tmp_path / "all.parquet")
    monkeypatch.setattr(duckdb_engine, "BUCKET_ROWS", 2_000)
    bound = {"per_person": 6, "design": design}
    one, other = (count(tmp_path / "all.parquet", PAIRS, **bound, engine=it) for it in ("numpy", "duckdb"))
    assert alike(one, other)
    assert sum(one.sums["wins"]) > 100
    assert one.left_out["beyond what counts of a person"] > 1_000


@pytest.mark.slow
def test_files_of_any_cut_are_one_table(tmp_path):
    frame = many(tmp_path / "all.parquet")
    for at, rows in enumerate(np.array_split(np.random.default_rng(2).permutation(len(frame)), 3)):
        frame.iloc[rows].to_parquet(tmp_path / f"part-{at}.parquet")
    whole = count(tmp_path / "all.parquet", PAIRS, per_person=3)
    for engine in ("numpy", "duckdb"):
        assert alike(whole, count(sorted(tmp_path.glob("part-*")), PAIRS, per_person=3, engine=engine))


@pytest.mark.slow
def test_machines_that_split_their_own_files_count_the_whole(tmp_path):
    frame = many(tmp_path / "all.parquet").assign(who=lambda it: "p" + it["who"].astype(str))
    whole_path = tmp_path / "text.parquet"
    frame.to_parquet(whole_path)
    frame[::2].to_parquet(tmp_path / "east.parquet")
    frame[1::2].to_parquet(tmp_path / "west.parquet")
    east, west = (split(tmp_path / f"{it}.parquet", PAIRS, 3, tmp_path / it) for it in ("east", "west"))
    parts = []
    for at in (2, 1, 3):
        files = [path for it in (east, west) for path in it[at - 1].glob("*")]
        engine = "duckdb" if at == 1 else "numpy"
        parts.append(count(files, PAIRS, per_person=2, shard=(at, 3), engine=engine))
    whole = count(whole_path, PAIRS, per_person=2)
    total = merged(parts)
    assert (total.sums, total.rows, total.left_out) == (whole.sums, whole.rows, whole.left_out)
    # what one shard's folder lacks is nobody else's: another shard of the same files is empty
    assert count(list(east[0].glob("*")), PAIRS, per_person=2, shard=(2, 3)).rows == 0


def test_the_hash_is_the_same_in_sql():
    import duckdb

    rng = np.random.default_rng(3)
    persons = np.r_[rng.integers(-(2**63), 2**63 - 1, 5_000), 0, 1, -1, 2**63 - 1, -(2**63)]
    connection = duckdb.connect()
    for text in DUCKDB:
        connection.execute(text)
    connection.execute("CREATE TABLE given (place BIGINT, person BIGINT)")
    connection.execute("INSERT INTO given SELECT unnest($1), unnest($2)", [list(range(len(persons))), persons.tolist()])
    rows = connection.execute("SELECT part(mixed(mixed(start(), person), -1), 7) FROM given ORDER BY place").fetchall()
    assert [row[0] for row in rows] == shard_of(persons, 7).tolist()


@cache
def counting():
    """DuckDB with its functions."""
    import duckdb

    connection = duckdb.connect()
    for line in DUCKDB:
        connection.execute(line)
    return connection


def counted_by(text, frame):
    """What a text keeps of a table of numbers."""
    counting().register("coded", frame)
    return sorted(counting().execute(text).fetchall())


MUTANTS = {
    "the order of the table": lambda text: text.replace("ranked(key, last)", "1"),
    "rand": lambda text: text.replace("mixed(start(), person)", "mixed(start(), CAST(1e9 * random() AS BIGINT))"),
    "not of the person": lambda text: text.replace("mixed(start(), person)", "start()"),
    "the other end": lambda text: text.replace("ranked(key, last)", "ranked(key, last) DESC"),
    "one more": lambda text: text.replace("place <= 3", "place <= 4"),
    "one fewer": lambda text: text.replace("place <= 3", "place < 3"),
    "no bound": lambda text: text.replace("place <= 3", "true"),
    "of all people together": lambda text: text.replace("PARTITION BY person ", ""),
    "outcomes choose": lambda text: text.replace("mixed(key, answer)", "answer").replace("(key, last)", "(last, key)"),
    "pairs are not turned": lambda text: text.replace("WHEN first < second", "WHEN true"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_text_that_bounds_otherwise_is_seen(name):
    rng = np.random.default_rng(4)
    first = rng.integers(0, 4, 2_000)
    frame = pd.DataFrame(
        {
            "person": rng.integers(0, 60, 2_000),
            "first": first,
            "second": (first + rng.integers(1, 4, 2_000)) % 4,
            "answer": rng.integers(0, 3, 2_000),
            "reason": 0,
        }
    )
    text = bounded_sql("comparisons", 4, 3)
    broken = MUTANTS[name](text)
    assert broken != text
    right = counted_by(text, frame)
    assert counted_by(text, frame[::-1]) == right
    assert counted_by(broken, frame) != right


@pytest.mark.slow
def test_a_bound_for_each_file_is_seen(tmp_path):
    frame = many(tmp_path / "all.parquet")
    frame[::2].to_parquet(tmp_path / "even.parquet")
    frame[1::2].to_parquet(tmp_path / "odd.parquet")
    whole = count(tmp_path / "all.parquet", PAIRS, per_person=3)
    each = [count(tmp_path / f"{it}.parquet", PAIRS, per_person=3) for it in ("even", "odd")]
    assert sum(it.kept for it in each) > whole.kept
    with pytest.raises(ValueError, match="shard 1/1 is there twice"):
        merged(each)


FAULTS = {
    "no column 'who'": lambda frame: frame.drop(columns="who"),
    "differs from another in case only": lambda frame: frame.assign(WHO=1),
}


@pytest.mark.parametrize("said", FAULTS)
def test_duckdb_refuses_tables_that_it_would_read_otherwise(tmp_path, said):
    frame = many(tmp_path / "all.parquet", 10)
    FAULTS[said](frame).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=said):
        count(tmp_path / "other.parquet", PAIRS, per_person=3, engine="duckdb")


def test_files_of_different_types_are_refused(tmp_path):
    frame = many(tmp_path / "all.parquet", 10)
    frame.assign(who=frame["who"] + 0.5).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="another name or type"):
        count([tmp_path / "all.parquet", tmp_path / "other.parquet"], PAIRS, per_person=3, engine="duckdb")


def test_numpy_too_refuses_what_could_make_two_of_a_person(tmp_path):
    frame = many(tmp_path / "all.parquet", 10)
    frame.assign(who=pd.to_datetime(frame["who"])).to_parquet(tmp_path / "dates.parquet")
    frame.to_csv(tmp_path / "all.csv", index=False)
    files = [tmp_path / f"all.{it}" for it in ("parquet", "csv")]
    with pytest.raises(ValueError, match="one kind is needed"):
        count(files, PAIRS, per_person=3)
    with pytest.raises(ValueError, match="another name or type"):
        count([files[0], tmp_path / "dates.parquet"], PAIRS, per_person=3)


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_a_file_is_counted_once_by_whatever_name(tmp_path, engine):
    path = tmp_path / "all.parquet"
    many(path, 10)
    (tmp_path / "soft.parquet").symlink_to(path)
    (tmp_path / "hard.parquet").hardlink_to(path)
    for again in (path, tmp_path / "soft.parquet", tmp_path / "hard.parquet", tmp_path / "." / "all.parquet"):
        with pytest.raises(ValueError, match="every file once is needed"):
            count([path, again], PAIRS, per_person=3, engine=engine)
    with pytest.raises(ValueError, match="every file once is needed"):
        split([path, tmp_path / "soft.parquet"], PAIRS, 2, tmp_path / "shards")
    assert not (tmp_path / "shards").exists()


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_offices_that_count_their_own_files_by_halves_are_stopped(tmp_path, engine):
    """Of each office's people the other half would be counted by nobody."""
    frame = many(tmp_path / "all.parquet", 400)
    offices = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    frame[:150].to_parquet(offices[0])
    frame[150:].to_parquet(offices[1])
    halves = [count(path, PAIRS, per_person=3, shard=(at, 2), engine=engine) for at, path in enumerate(offices, 1)]
    assert [it.rows + it.others for it in halves] == [150, 250]
    with pytest.raises(ValueError, match="different files"):
        merged(halves)
    right = merged([count(offices, PAIRS, per_person=3, shard=(at, 2), engine=engine) for at in (2, 1)])
    assert (right.rows, right.others, right.sizes) == (400, 0, ())


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize("kind", TYPES)
def test_people_of_every_type_are_the_same_to_duckdb(kind, tmp_path):
    """Or the type is refused, whatever the cells hold: one of them must not decide whether a file is counted."""
    column, cells = TYPES[kind]
    diseases = string.ascii_lowercase[:16]
    have = Declaration(kind="tallies", items=[*diseases], person="who", columns=("what",))
    path = tmp_path / "have.parquet"
    for it in (column, *(changed(column, 0, cell) for cell in cells)):
        pq.write_table(pa.table({"who": pa.chunked_array([it] * 16), "what": np.repeat([*diseases], len(it))}), path)
        # everybody has all, of which one thing is counted: whoever is another person to one of them has another
        for shard in ((1, 1), (1, 2)) if it is column else ((1, 1),):
            here = count(path, have, per_person=1, shard=shard)
            if not is_engine_type(column.type):
                with pytest.raises(ValueError, match="take engine numpy"):
                    count(path, have, per_person=1, shard=shard, engine="duckdb")
            else:
                assert alike(here, count(path, have, per_person=1, shard=shard, engine="duckdb"))


def test_csv_is_for_numpy(tmp_path):
    (tmp_path / "answers.csv").write_text("who,a,b,said\n1,Rome,Oslo,1\n")
    assert count(tmp_path / "answers.csv", PAIRS, per_person=3).kept == 1
    with pytest.raises(ValueError, match="no Parquet"):
        count(tmp_path / "answers.csv", PAIRS, per_person=3, engine="duckdb")


def test_one_line_says_what_to_install(tmp_path, monkeypatch):
    many(tmp_path / "all.parquet", 10)
    for engine, package in (("duckdb", "duckdb"), ("spark", "pyspark.sql")):
        monkeypatch.setitem(__import__("sys").modules, package, None)
        with pytest.raises(ValueError, match=rf"pip install 'dprank\[{engine}\]'"):
            count(tmp_path / "all.parquet", PAIRS, per_person=3, engine=engine)


def test_without_pyarrow_every_door_says_how_to_have_it(tmp_path, monkeypatch):
    many(tmp_path / "all.parquet", 10)
    done = count(tmp_path / "all.parquet", PAIRS, per_person=3)
    done.write(tmp_path / "counts.parquet")
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text("who,a,b,said\n1,Rome,Oslo,1\n")
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    assert count(files[0], PAIRS, per_person=3).kept == 1
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    doors = [
        *(
            lambda engine=engine: count(tmp_path / "all.parquet", PAIRS, per_person=3, engine=engine)
            for engine in ENGINES
        ),
        lambda: count(files, PAIRS, per_person=3),
        lambda: count(files[0], PAIRS, per_person=3, shard=(1, 2)),
        lambda: split(files, PAIRS, 2, tmp_path / "shards"),
        lambda: done.write(tmp_path / "more.parquet"),
        lambda: read_counts(tmp_path / "counts.parquet"),
    ]
    for door in doors:
        with pytest.raises(ValueError, match=r"pip install 'dprank\[(parquet|spark)\]'"):
            door()
    assert not (tmp_path / "shards").exists()


@pytest.mark.slow
def test_answers_without_people(tmp_path):
    columns, clean = ("a", "b", "said"), ("casefold", "strip")
    alone = Declaration(kind="comparisons", items=ITEMS, columns=columns, answers="outcome", clean=clean)
    many(tmp_path / "all.parquet")
    one, other = (count(tmp_path / "all.parquet", alone, engine=it) for it in ("numpy", "duckdb"))
    assert alike(one, other)
    assert one.unit == "comparison"
    assert one.kept > 8_000


def test_files_of_counts_come_back_as_they_went(tmp_path):
    many(tmp_path / "all.parquet", 1_000)
    counts = count(tmp_path / "all.parquet", PAIRS, per_person=3)
    for name in ("counts.json", "counts.parquet"):
        counts.write(tmp_path / name)
        assert read_counts(tmp_path / name) == counts
        assert b"secret" in (tmp_path / name).read_bytes()
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.parquet", "counts.json", "counts.parquet"]


def test_what_was_counted_otherwise_is_not_added_up(tmp_path):
    many(tmp_path / "all.parquet", 1_000)
    path = tmp_path / "all.parquet"
    first = count(path, PAIRS, per_person=3, shard=(1, 2))
    others = {
        "per_person": count(path, PAIRS, per_person=2, shard=(2, 2)),
        "design": count(path, PAIRS, per_person=3, design="once", shard=(2, 2)),
        "ties": count(path, PAIRS, per_person=3, ties=False, shard=(2, 2)),
        "shards": count(path, PAIRS, per_person=3, shard=(2, 3)),
        "kind": count(path, HAVE, per_person=3, shard=(2, 2)),
        "rules": count(
            path,
            Declaration(kind="comparisons", items=ITEMS, person="who", columns=("a", "b", "said"), answers="outcome"),
            per_person=3,
            shard=(2, 2),
        ),
    }
    for name, other in others.items():
        for pair in itertools.permutations([first, other]):
            with pytest.raises(ValueError, match=f"{name} differs"):
                merged(pair)


@pytest.mark.parametrize("text", ["", "{}", "[]", "PAR1", string.printable, '{"schema": "dprank.counts/2"}'])
def test_what_is_no_file_of_counts_is_refused_in_a_line(tmp_path, text):
    (tmp_path / "counts").write_text(text)
    with pytest.raises(ValueError, match=r"counts .*") as refused:
        read_counts(tmp_path / "counts")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_no_zero_of_one_person_is_that_of_others(tmp_path, engine):
    # catches a zero with a sign, which DuckDB takes for the other, and the first of them for both
    columns = ("first", "second", "outcome")
    declared = Declaration(kind="comparisons", items=["a", "b"], person="who", columns=columns, answers="outcome")
    answers = {"first": ["a"] * 5, "second": ["b"] * 5, "who": range(5)}
    seen = []
    for at in (0, 4, None):
        outcome = [-0.0 if row == at else 0.0 for row in range(5)]
        pd.DataFrame(answers | {"outcome": outcome}).to_parquet(tmp_path / "a.parquet")
        seen.append(count([tmp_path / "a.parquet"], declared, per_person=1, design="once", engine=engine))
    assert [it.left_out for it in seen] == [{}] * 3
    assert [it.sums["wins"] for it in seen] == [(0, 5)] * 3


@pytest.mark.parametrize("engine", ["numpy", "duckdb"])
def test_one_table_of_several_writers(tmp_path, engine):
    """Texts are texts: of pandas 2 and DuckDB, of pandas 3 and polars, or each kept once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.array(["London", "Paris", "Rome"])
    kinds = [texts, texts.cast(pa.large_string()), texts.dictionary_encode()]
    files = [tmp_path / f"{at}.parquet" for at in range(3)]
    for file, column in zip(files, kinds, strict=True):
        people = pa.array([f"{file.stem} {at}" for at in range(3)])
        people = people.dictionary_encode() if column is kinds[2] else people.cast(column.type)
        pq.write_table(pa.table({"who": people, "a": column}), file)
    have = Declaration(kind="tallies", items=ITEMS, person="who", columns=("a",))
    for order in itertools.permutations(files):
        assert count(order, have, per_person=1, engine=engine).sums == {"persons": (3, 3, 3, 0)}
    pq.write_table(pa.table({"who": pa.array([1, 2, 3]), "a": texts}), files[0])
    with pytest.raises(ValueError, match="has another name or type"):
        count(files, have, per_person=1, engine=engine)
