"""Counting by Spark: the same text, handed to a cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from dprank.data.count_files import Counts
from dprank.data.engine_job import Job, require_alike
from dprank.data.engine_sql import SPARK

__all__ = ["FEW_LABELS", "by_spark"]

#: More labels are looked up by the workers, which then must have dprank.
FEW_LABELS = 100_000


def by_spark(job: Job, session: Any) -> Counts:
    """Counts of a job, by a session of Spark or, without one, by a local one."""
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise ValueError("pyspark is not installed: pip install 'dprank[spark]'") from None
    columns = require_alike(job)
    if session is None:
        session = SparkSession.builder.master("local[*]").appName("dprank").getOrCreate()
    # tables, functions and settings of its own: a sum that overflows wraps, as 64 bits do
    spark = session.newSession()
    spark.conf.set("spark.sql.ansi.enabled", "false")
    for text in SPARK:
        spark.sql(text)
    read = spark.read.parquet(*job.files)
    given = read.select(*(_column(read, it).alias(name) for name, it in columns.items()))
    given.createOrReplaceTempView("given")
    mapped = job.declared.person is not None and not _plain_numbers(spark, given)
    looked_up = [name for name in columns if name != "person" or mapped]
    for name in looked_up:
        _look_up(spark, job, name).createOrReplaceTempView(f"{name}s")
    try:
        spark.sql(job.coded(mapped)).createOrReplaceTempView("coded")
        table = spark.sql(job.counted).toArrow()
        why = spark.sql("SELECT reason, count(*) FROM coded GROUP BY reason").collect()
        reasons = Counter({row[0]: row[1] for row in why})
        # of one shard nobody counts the rows but the text itself
        rows = given.count()
        total = rows if job.shards == 1 else reasons.total()
    finally:
        for name in looked_up:
            spark.table(f"{name}s").unpersist()
    return job.result(job.summed([table]), total, reasons, f"spark {spark.version}", rows - total)


def _column(read: Any, name: str) -> Any:
    """A column, of texts without their collation: by it Spark takes several for one."""
    column = read[f"`{name.replace('`', '``')}`"]
    return column.cast("string") if read.schema[name].dataType.typeName().startswith("string") else column


def _look_up(spark: Any, job: Job, column: str) -> Any:
    """A table of the labels and codes of a column: made here where labels are few, else by the workers."""
    labels = spark.sql(f"SELECT DISTINCT {column} AS label FROM given")
    few = labels.limit(FEW_LABELS + 1).toArrow()
    if few.num_rows <= FEW_LABELS:
        table = job.looked_up(column, few.column("label").combine_chunks())
        return spark.createDataFrame(table) if table.num_rows else labels.limit(0).selectExpr("label", "0L AS code")
    kind = labels.schema[0].dataType.simpleString()
    return labels.mapInArrow(_Lookup(job, column), f"label {kind}, code BIGINT").persist()


@dataclass(frozen=True)
class _Lookup:
    """What workers of Spark run on batches of labels."""

    job: Job
    column: str

    def __call__(self, batches: Any) -> Any:
        for batch in batches:
            yield from self.job.looked_up(self.column, batch.column(0)).to_batches()


def _plain_numbers(spark: Any, given: Any) -> bool:
    if given.schema["person"].dataType.simpleString() not in ("tinyint", "smallint", "int", "bigint"):
        return False
    return (spark.sql("SELECT min(person) FROM given").collect()[0][0] or 0) >= 0
