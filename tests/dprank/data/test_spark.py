"""Spark = numpy to the last integer, on a cluster of two processes of which one is killed."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from arrow_columns import TYPES, changed
from test_engines import HAVE, ITEMS, PAIRS, alike
from test_person_labels import ARROW, declared, number, rows_of
from test_person_labels import HAVE as TALLIES

from dprank.data import engine_job, spark_engine
from dprank.data.arrow_texts import is_engine_type
from dprank.data.bounding import shard_of
from dprank.data.count_files import merged
from dprank.data.declaration import Declaration
from dprank.data.engines import count

pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

#: A machine of Java's that lives for minutes: its best compiler costs more than it saves.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Two executors, processes of their own, that one may kill."""
    pyspark = pytest.importorskip("pyspark.sql", reason="make spark")
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": str(folder),
        "spark.local.dir": str(folder),
        "spark.executor.memory": "640m",
        "spark.driver.memory": "640m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(it for it in sys.path if it),
        "spark.task.maxFailures": "8",
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": BRIEF,
        "spark.executor.extraJavaOptions": BRIEF,
    }
    builder = pyspark.SparkSession.builder.master("local-cluster[2,1,640]").appName("dprank tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def table(seed, people, rows=400):
    """Answers of people who answer very differently often, with what is no answer in between."""
    rng = np.random.default_rng(seed)
    who = rng.choice(
        np.array(people, object), rows, p=np.arange(1, len(people) + 1) / np.arange(1, len(people) + 1).sum()
    )
    labels = np.array([*ITEMS, *ITEMS, "rome ", "Atlantis", None], object)
    said = np.array([1.0, 0.5, 0.0, 1.0, 0.0, 0.25, None], object)
    frame = pd.DataFrame(
        {"who": who, "a": rng.choice(labels, rows), "b": rng.choice(labels, rows), "said": rng.choice(said, rows)}
    )
    kind = "string" if any(isinstance(it, str) for it in people) else "Int64"
    return frame.astype({"who": kind, "a": "string", "b": "string", "said": "Float64"})


PEOPLE = {
    "numbers": [*range(40), 2**62, None],
    "numbers below 0": [-5, -1, 0, 3, 2**62, None],
    "texts": ["ann", "Ann ", "bob", "7", "07", "\u200b", "ＡＮＮ", None, "carl"],
}


CASES = {
    "numbers": ("numbers", PAIRS, "any", True),
    "numbers below 0, complete": ("numbers below 0", PAIRS, "complete", False),
    "texts": ("texts", PAIRS, "once", True),
    "texts looked up by workers": ("texts", HAVE, "any", True),
}


@pytest.mark.parametrize("name", CASES)
def test_spark_counts_as_numpy_does(session, tmp_path, monkeypatch, name):
    people, declared, design, ties = CASES[name]
    monkeypatch.setattr(spark_engine, "FEW_LABELS", 3 if "workers" in name else 1_000)
    table(len(people), PEOPLE[people]).to_parquet(tmp_path / "table.parquet")
    bound = {"per_person": 2, "design": design, "ties": ties}
    one, other, third = (
        count(tmp_path / "table.parquet", declared, **bound, engine=it, session=session if it == "spark" else None)
        for it in ("numpy", "duckdb", "spark")
    )
    assert alike(one, other)
    assert alike(one, third)
    assert one.kept


def test_people_of_every_type_are_the_same_to_spark(session, tmp_path):
    """As they are to DuckDB: or the type is refused, whatever the cells hold."""
    have = Declaration(kind="tallies", items=["flu", "gout"], person="who", columns=("what",))
    for kind, (column, cells) in TYPES.items():
        path = tmp_path / f"{kind}.parquet"
        it = changed(column, 0, cells[-1])
        pq.write_table(pa.table({"who": it, "what": ["flu", "gout", "flu", "gout"][: len(it)]}), path)
        if is_engine_type(column.type):
            here = count(path, have, per_person=1, shard=(1, 2))
            there = count(path, have, per_person=1, shard=(1, 2), engine="spark", session=session)
            assert alike(here, there), kind
        else:
            with pytest.raises(ValueError, match="take engine numpy"):
                count(path, have, per_person=1, engine="spark", session=session)


def test_labels_of_people_are_the_same_to_spark(session, tmp_path):
    """Of two shards each counts its people, by numbers that are written out; a float that may be several is nobody."""
    path, have = tmp_path / "who.parquet", declared(TALLIES)
    for kind, (column, whats) in ARROW.items():
        if is_engine_type(column.type):
            pq.write_table(pa.table(rows_of(column)), path)
            there = count(path, have, per_person=1, shard=(2, 2), engine="spark", session=session)
            assert there.rows == (shard_of([number(what) for what in whats], 2) == 1).sum(), kind
            assert alike(there, count(path, have, per_person=1, shard=(2, 2))), kind
    pq.write_table(pa.table(rows_of(pa.array([0.5, 7, 2.0**60], pa.float32()))), path)
    far = count(path, have, per_person=1, engine="spark", session=session)
    assert (far.rows, far.left_out["no person"]) == (3, 1)


def test_shards_of_three_engines_are_the_whole(session, tmp_path):
    table(1, PEOPLE["texts"]).to_parquet(tmp_path / "table.parquet")
    parts = [
        count(tmp_path / "table.parquet", PAIRS, per_person=2, shard=(at, 3), engine=engine, session=session)
        for at, engine in ((3, "spark"), (1, "numpy"), (2, "duckdb"))
    ]
    whole, total = count(tmp_path / "table.parquet", PAIRS, per_person=2), merged(parts)
    assert (total.sums, total.rows, total.left_out) == (whole.sums, whole.rows, whole.left_out)
    assert len(total.engines) == 3


def test_the_hash_of_spark_is_that_of_numpy(session):
    from dprank.data.engine_sql import SPARK, shard_sql

    rng = np.random.default_rng(3)
    persons = np.r_[rng.integers(-(2**63), 2**63 - 1, 500), 0, 1, -1, 2**63 - 1, -(2**63)]
    spark = session.newSession()
    spark.conf.set("spark.sql.ansi.enabled", "false")
    for text in SPARK:
        spark.sql(text)
    frame = spark.createDataFrame([(at, int(it)) for at, it in enumerate(persons)], "place INT, person BIGINT")
    frame.createOrReplaceTempView("given")
    rows = spark.sql(f"SELECT {shard_sql('person', -1, 7)} FROM given ORDER BY place").collect()
    assert [row[0] for row in rows] == shard_of(persons, 7).tolist()


def executors():
    """Processes of executors below this one."""
    import psutil  # type: ignore[import-untyped]

    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_an_executor_that_is_killed_changes_no_integer(session, tmp_path):
    rng = np.random.default_rng(5)
    names = np.array(ITEMS)
    for at in range(8):
        first = rng.integers(0, 4, 60_000)
        other = (first + rng.integers(1, 4, 60_000)) % 4
        who, said = rng.integers(0, 3_000, 60_000), rng.integers(0, 3, 60_000) / 2
        frame = pd.DataFrame({"who": who, "a": names[first], "b": names[other], "said": said})
        frame.to_parquet(tmp_path / f"{at}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    tracker, killed, done = session.sparkContext.statusTracker(), [], threading.Event()

    def kill():
        # once the shuffle of the count has begun to be read or written, for the second time
        finished = 0
        while not done.is_set() and not killed:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                finished = max(finished, info.numCompletedTasks if info else 0)
                if info and info.numTasks > 1 and info.numCompletedTasks and info.numActiveTasks and executors():
                    victim = executors()[0]
                    os.kill(victim, signal.SIGKILL)
                    killed.append((victim, info.name))
                    break
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        counts = count(files, PAIRS, per_person=5, engine="spark", session=session)
    finally:
        done.set()
        thread.join()
    assert killed, "no executor was killed while tasks ran"
    assert alike(counts, count(files, PAIRS, per_person=5))
    assert counts.rows == 480_000


MUTANTS = {
    "rand": ("ranked(key, last)", "rand()"),
    "not of the person": ("mixed(start(), person)", "start()"),
    "signed shifts": None,
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_text_that_bounds_otherwise_is_seen(session, tmp_path, monkeypatch, name):
    table(2, PEOPLE["numbers"], 2_000).to_parquet(tmp_path / "table.parquet")
    whole = count(tmp_path / "table.parquet", PAIRS, per_person=2)
    if MUTANTS[name] is None:
        signed = tuple(text.replace("shiftrightunsigned", "shiftright") for text in spark_engine.SPARK)
        monkeypatch.setattr(spark_engine, "SPARK", signed)
    else:
        right = engine_job.bounded_sql
        monkeypatch.setattr(engine_job, "bounded_sql", lambda *given: right(*given).replace(*MUTANTS[name]))
    assert not alike(whole, count(tmp_path / "table.parquet", PAIRS, per_person=2, engine="spark", session=session))
