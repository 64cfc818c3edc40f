"""A Parquet file whose footer contradicts itself is refused by every door, before anything is read."""

from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checks import refused

import dprank
from dprank.data.count_files import read_counts
from dprank.data.counting import win_counts_parquet
from dprank.data.engines import count
from dprank.data.files import parquet_file
from dprank.data.sniffing import sniff

ITEMS = ["oak", "elm"]
ANSWERS = dprank.Declaration(
    kind="comparisons", items=ITEMS, person="who", columns=["left", "right", "answer"], answers={"1": 1, "2": 0}
)
DOORS = {
    "comparisons": lambda path: dprank.read_comparisons(
        path, items=ITEMS, first="left", second="right", outcome="answer", voter="who"
    ),
    "rankings": lambda path: dprank.read_rankings(path, items=["oak", "elm"], voter="who"),
    "tallies": lambda path: dprank.read_tallies(path, items=ITEMS, person="who", item="left"),
    "declared": ANSWERS.read,
    "engine": lambda path: count(path, ANSWERS, per_person=1, engine="duckdb"),
    "batches": lambda path: win_counts_parquet(path, ITEMS, "half", first="left", second="right", outcome="answer"),
    "counts": read_counts,
    "check": sniff,
}


@pytest.fixture
def path(tmp_path):
    columns = {"who": [1, 2, 3], "left": ["oak"] * 3, "right": ["elm"] * 3, "answer": [1, 2, 1]}
    pq.write_table(pa.table(columns | {"oak": [1, 2, 1], "elm": [2, 1, 2]}), tmp_path / "answers.parquet")
    return tmp_path / "answers.parquet"


def damage(path):
    """Five rows in a group that holds three, by the footer alone."""
    raw = path.read_bytes()
    for at in (it for it in range(len(raw)) if raw[it] == 6):  # 3, as Thrift's compact form writes it
        path.write_bytes(raw[:at] + bytes([10]) + raw[at + 1 :])
        with suppress(Exception):
            footer = pq.read_metadata(path)
            group = footer.row_group(0)
            if (footer.num_rows, group.num_rows, group.column(0).num_values) == (3, 5, 3):
                return
    raise AssertionError("no such byte")


@pytest.mark.parametrize("door", DOORS)
def test_no_door_reads_a_group_of_more_rows_than_it_holds(door, path):
    damage(path)
    with refused("answers.parquet is no Parquet table"):
        DOORS[door](path)


def test_whole_files_are_open(path):
    with parquet_file(path) as file:
        assert file.metadata.num_rows == 3
    pq.write_table(pa.table({}), path)  # a group without columns, or none
    parquet_file(path).close()
    nested = pa.table({"one": [[1, 2], [], None]})  # more values than rows, or as many
    pq.write_table(nested, path, row_group_size=2)
    parquet_file(path).close()
