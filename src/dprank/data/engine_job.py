"""What is counted, of which files: what all engines are told, and what becomes of their answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import require_columns, shown
from dprank.data.accounts import REASONS
from dprank.data.answers import codes_of
from dprank.data.arrow_texts import arrow_texts, is_engine_type, is_text_type, plain_type
from dprank.data.bounding import nameless, person_ids
from dprank.data.cleaning import cleaner
from dprank.data.count_files import BEYOND, Counts
from dprank.data.declaration import Declaration
from dprank.data.engine_sql import bounded_sql, coded_sql, counted_sql, part_sql
from dprank.data.files import is_parquet, parquet_file, reading
from dprank.data.headers import no_column
from dprank.data.uuids import uuid_columns

__all__ = ["Job", "found_columns", "require_alike"]


@dataclass(frozen=True)
class Job:
    """What is counted, of which files, for any engine."""

    files: tuple[str, ...]
    declared: Declaration
    per_person: int | None
    design: str
    ties: bool
    part: int
    shards: int

    @property
    def columns(self) -> dict[str, str]:
        """What the text calls a column, and what the declaration does."""
        names = ("first", "second", "answer") if self.declared.kind == "comparisons" else ("item",)
        known = dict(zip(names, self.declared.columns, strict=True))
        return known if self.declared.person is None else {"person": self.declared.person, **known}

    @property
    def counted(self) -> str:
        kind, n_items = self.declared.kind, len(self.declared.items)
        return counted_sql(kind, bounded_sql(kind, n_items, self.per_person, self.design, self.ties))

    def coded(self, mapped: bool, buckets: int = 1) -> str:
        """SQL for the rows of the people of this shard, and the bucket of each; rows of nobody are in the first."""
        coded = coded_sql(self.declared.kind, mapped=mapped, person=self.declared.person is not None)
        if self.shards == buckets == 1:
            return f"SELECT *, {part_sql('', -2, 1)} AS bucket FROM ({coded}) coded"
        names = ", ".join(dict.fromkeys(["person", *self.columns, "reason"]))
        return f"""
SELECT {names}, {part_sql("own", -2, buckets)} AS bucket FROM (
  SELECT *, mixed(start(), person) AS own FROM ({coded}) coded) owned
WHERE {part_sql("own", -1, self.shards)} = {self.part - 1}"""

    def codes(self, column: str, texts: Any) -> NDArray[Any]:
        """What texts in a column of items or answers stand for, -1 for nothing."""
        clean = cleaner(self.declared.clean, self.declared.aliases)
        known = {clean(name): at for at, name in enumerate(self.declared.items)}
        if column == "answer":
            meaning = codes_of(self.declared.answers or "names", known, clean, self.declared.unranked_as)
            return np.array([*map(meaning, texts)], np.int64)
        return np.array([known.get(clean(text), -1) for text in texts], np.int64)

    def looked_up(self, column: str, labels: Any) -> Any:
        """An Arrow table of labels, as they are, and their codes; of those that have any."""
        import pyarrow as pa

        texts = np.array(arrow_texts(labels, people=column == "person"), object)
        if column == "person":
            known = ~nameless(texts)
            codes = np.zeros(len(texts), np.int64)
            codes[known] = person_ids("person", texts[known])
        else:
            codes = self.codes(column, texts)
            known = codes >= 0
        return pa.table({"label": labels.filter(pa.array(known)), "code": pa.array(codes[known], pa.int64())})

    def result(
        self, sums: dict[str, NDArray[np.int64]], rows: int, reasons: dict[int, int], engine: str, others: int
    ) -> Counts:
        """Counts, where all rows are accounted for; `others` are those of other shards."""
        kept = int(sums["persons"].sum() if "persons" in sums else sums["wins"].sum() + sums["ties"].sum() // 2)
        left_out = {REASONS[reason - 1]: number for reason, number in reasons.items() if reason}
        return Counts(
            kind=self.declared.kind,  # type: ignore[arg-type]
            items=self.declared.items,
            per_person=self.per_person,
            design=self.design,  # type: ignore[arg-type]
            ties=self.ties,
            sums={name: tuple(numbers.tolist()) for name, numbers in sums.items()},
            shards=self.shards,
            parts=(self.part,),
            rows=rows,
            others=others,
            sizes=tuple(os.stat(path).st_size for path in self.files),
            left_out=left_out | {BEYOND: reasons.get(0, 0) - kept},
            rules=replace(self.declared, layout=None).to_toml(),
            engines=(engine,),
        )

    def summed(self, tables: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
        """Sums an item, of tables with a column of items: Arrow's, or arrays by name."""
        names = ("wins", "ties", "losses") if self.declared.kind == "comparisons" else ("persons",)
        sums = {name: np.zeros(len(self.declared.items), np.int64) for name in names}
        for table in tables:
            at = np.asarray(table["item"])
            for name in names:
                np.add.at(sums[name], at, np.asarray(table[name]))
        return sums


def require_alike(job: Job, every: bool = False) -> dict[str, str]:
    """Refuse what is no Parquet, or has not the declared columns, of one type: engines would convert.

    `every`: also types that Parquet has more room for than engines.
    """
    types: dict[str, tuple[str, Any]] = {}
    for path in job.files:
        if not is_parquet(path):
            raise ValueError(f"{path} is no Parquet; this engine reads nothing else: take engine numpy")
        with parquet_file(path) as file, reading(path, "Parquet"):
            schema, uuids = file.schema_arrow, uuid_columns(file)
        for name, it in found_columns(job, path, schema.names).items():
            kind = schema.field(it).type
            holds = f"{path}: column {shown(it)} holds {kind}"
            if not is_text_type(kind):
                raise ValueError(f"{holds}; numbers, text or dates are needed")
            if not every and (it in uuids or not is_engine_type(kind)):
                raise ValueError(f"{holds}, for which this engine has no room: take engine numpy")
            column = it, "UUIDs" if it in uuids else plain_type(kind)
            if types.setdefault(name, column) != column:
                raise ValueError(f"{path}: column {shown(it)} has another name or type than in {job.files[0]}")
    return {name: column for name, (column, _) in types.items()}


def found_columns(job: Job, path: str, names: list[str]) -> dict[str, str]:
    """What the file calls the declared columns."""
    clean = cleaner(job.declared.clean, job.declared.aliases)
    header = {clean(name): name for name in names}
    found = {}
    for name, wanted in job.columns.items():
        it = wanted if wanted in names else header.get(clean(wanted))
        if it is None:
            raise ValueError(f"{path}: {no_column([wanted], names, items=job.declared.items)}")
        require_columns(names, [it])
        if sum(other.casefold() == it.casefold() for other in names) > 1:
            raise ValueError(f"{path}: column {shown(it)} differs from another in case only; SQL takes them for one")
        found[name] = it
    return found
