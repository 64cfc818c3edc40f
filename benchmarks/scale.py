"""Counting beyond memory: seconds and peak memory of bounding by DuckDB, against plain `group by` in the same run.

python benchmarks/scale.py --rows 1e8 --persons 1e6 --shards 1      (some minutes and 1 GB of disk; less by default)
python benchmarks/scale.py --rows 1e9 --shards 10                   (shard by shard: a tenth of it is on disk at a time)
python benchmarks/scale.py --spark 1e7                              (the same count by Spark on two cores, too)
"""

import argparse
import multiprocessing
import resource
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dprank.data.bounding import shard_of
from dprank.data.count_files import merged
from dprank.data.declaration import Declaration
from dprank.data.engines import count

CHUNK = 1 << 22
NAMES = [f"item {at}" for at in range(100)]
RULES = Declaration(
    kind="comparisons",
    items=tuple(NAMES),
    person="person",
    columns=("first", "second", "outcome"),
    answers="outcome",
)
PLAIN = """
SELECT first, second, outcome, count(*) FROM read_parquet('{}') GROUP BY first, second, outcome"""


def write(path, rows, persons, shard=(1, 1), seed=0):
    """Answers of people of a shard: names of items, as survey files hold them; how many rows."""
    rng = np.random.default_rng([seed, shard[0]])
    who = np.arange(persons, dtype=np.int64)
    who = who[shard_of(who, shard[1]) == shard[0] - 1]
    names = pa.array(NAMES)
    schema = pa.schema(
        {
            "person": pa.int64(),
            "first": pa.dictionary(pa.int8(), pa.string()),
            "second": pa.dictionary(pa.int8(), pa.string()),
            "outcome": pa.float64(),
        }
    )
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, CHUNK):
            size = min(CHUNK, rows - start)
            first = rng.integers(0, len(NAMES), size, np.int8)
            second = ((first.astype(int) + rng.integers(1, len(NAMES), size)) % len(NAMES)).astype(np.int8)
            items = [pa.DictionaryArray.from_arrays(pa.array(it), names) for it in (first, second)]
            outcome = rng.integers(0, 2, size).astype(float)
            writer.write_table(pa.table([pa.array(rng.choice(who, size)), *items, pa.array(outcome)], schema=schema))


def plain(path, memory, threads):
    """What counting without a bound takes."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '{memory}'; SET threads = {threads}")
    return len(connection.execute(PLAIN.format(path)).fetchall())


def bounded(path, most, memory, threads, shard, folder):
    rules = {"per_person": most, "design": "once", "shard": shard}
    return count(path, RULES, **rules, engine="duckdb", memory=memory, threads=threads, folder=folder)


def by_spark(path, most):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", "16")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR")
    session = builder.getOrCreate()
    start = perf_counter()
    counts = count(path, RULES, per_person=most, design="once", engine="spark", session=session)
    seconds = perf_counter() - start
    session.stop()
    return counts, seconds


def _child(pipe, call, *given):
    start = perf_counter()
    answer = call(*given)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    pipe.send((answer, perf_counter() - start, peak))


def alone(call, *given):
    """The answer of a call, its seconds, and the peak memory of the process that made it, in GiB."""
    here, there = multiprocessing.get_context("spawn").Pipe(False)
    process = multiprocessing.get_context("spawn").Process(target=_child, args=(there, call, *given))
    process.start()
    there.close()
    answer = here.recv()
    process.join()
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=4e6)
    parser.add_argument("--persons", type=float, default=4e4)
    parser.add_argument("--most", type=int, default=5, help="answers of a person that count")
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--numpy", type=float, default=4e6, help="most rows of a shard that numpy counts, too")
    parser.add_argument("--spark", type=float, default=0, help="most rows of a shard that Spark counts, too")
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    rows, persons = int(given.rows) // given.shards, int(given.persons)
    parts = []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = str(Path(folder, "answers.parquet"))
        for part in range(1, given.shards + 1):
            shard = part, given.shards
            write(path, rows, persons, shard)
            counts, seconds, peak = alone(bounded, path, given.most, given.memory, given.threads, shard, folder)
            pairs, free, least = alone(plain, path, given.memory, given.threads)
            said = f"shard {part}/{given.shards}, {rows:.3g} rows, {counts.kept:.3g} count: "
            said += f"{seconds:.1f} s, {peak:.2f} GiB"
            said += f"; plain group by ({pairs} groups) {free:.1f} s, {least:.2f} GiB: {seconds / free:.1f} times"
            assert counts.rows == rows
            if rows <= given.numpy:
                same = count(path, RULES, per_person=given.most, design="once", shard=shard)
                assert same.sums == counts.sums, "numpy counts otherwise"
                said += "; numpy's integers"
            if rows <= given.spark and given.shards == 1:
                same, longer = by_spark(path, given.most)
                assert same.sums == counts.sums, "Spark counts otherwise"
                said += f"; Spark's integers, in {longer:.0f} s"
            print(said, flush=True)
            parts.append(counts)
    total = merged(parts)
    assert not total.missing
    print(f"all: {total.rows:.3g} rows, {total.kept:.3g} count; {sum(total.sums['wins']):.3g} wins")


if __name__ == "__main__":
    sys.exit(main())
