"""The commands `count`, `split`, `merge`: exact counts of shards of the people, and one file that a release takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dprank.cli.laid import Laid, with_layout
from dprank.cli.options import (
    Alias,
    Answers,
    AsJson,
    Clean,
    Columns,
    Item,
    Items,
    Person,
    Plan,
    UnrankedAs,
    console,
    declaration_of,
    form_of,
    show_json,
)
from dprank.cli.writing import require_replaceable
from dprank.data.count_files import SECRET, Counts, merged, read_counts
from dprank.data.declaration import Declaration
from dprank.data.engines import ENGINES, split
from dprank.data.engines import count as counted
from dprank.data.files import is_parquet
from dprank.data.folders import files_of

__all__ = ["count_command", "merge_command", "split_command"]

Files = Annotated[
    list[Path],
    typer.Argument(help="Parquet, also a folder of it, or what `check` takes: one table in any number of files."),
]
OutCounts = Annotated[Path, typer.Option(help="Where the counts go: .parquet or .json. Secret.")]
Shard = Annotated[str, typer.Option(help="Which people: 3/16 are the third sixteenth, by a hash of who they are.")]
Memory = Annotated[str, typer.Option(help="What DuckDB may hold; more goes to files.")]


@with_layout
def count_command(
    files: Files,
    out: OutCounts,
    comparisons: Columns = None,
    item: Item = None,
    items: Items = None,
    person: Person = None,
    answers_map: Answers = None,
    unranked_as: UnrankedAs = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    layout: Laid = None,
    answers: Annotated[int | None, typer.Option(help="How many answers of a person count.")] = None,
    per_person: Annotated[int | None, typer.Option(help="How many items of a person count.")] = None,
    design: Annotated[str, typer.Option(help="any, once, complete or matching; a release says once.")] = "once",
    shard: Shard = "1/1",
    engine: Annotated[str | None, typer.Option(help=f"{', '.join(ENGINES)}; duckdb where files are Parquet.")] = None,
    memory: Memory = "4GB",
    folder: Annotated[Path | None, typer.Option(help="For DuckDB's files, removed at the end.")] = None,
    master: Annotated[str | None, typer.Option(help="Of Spark: spark://HOST:PORT, or local[2].")] = None,
    as_json: AsJson = False,
) -> None:
    """Exact counts of one shard of the people: secret, whole numbers that can be merged before noise is drawn.

    Example: dprank count staff.csv --plan plan.toml --answers 3 --shard 1/2 --out counts-1.json
    """
    require_replaceable(out, ours=lambda _: False, device=False)
    files = _each(files)
    form = form_of(files[0], plan, comparisons=comparisons, item=item)
    declared = declaration_of(
        form.get("kind"), form, items=items, person=person, clean=clean, alias=alias, plan=plan, answers=answers_map,
        unranked_as=unranked_as, layout=layout,
    )  # fmt: skip
    if declared.kind != "ballots" and declared.form != "long":
        raise ValueError(
            f"{declared.kind} in form {declared.form!r} are not counted so; long comparisons or tallies are"
        )
    tallies = declared.kind == "tallies"
    if (per_person if not tallies else answers) is not None:
        raise ValueError("say --per-person of items that a person has, and --answers of comparisons")
    most = per_person if tallies else answers
    if most is None and declared.person is not None:
        flag = "per-person" if tallies else "answers"
        raise ValueError(f"{flag} is missing; say with --{flag} how many of a person's count")
    chosen: Any = engine or ("duckdb" if all(map(is_parquet, files)) else "numpy")
    counts = counted(
        list(files),
        declared,
        per_person=most,
        design="any" if tallies or most is None else design,  # type: ignore[arg-type]
        shard=_shard(shard),
        engine=chosen,
        memory=memory,
        folder=folder,
        session=None if master is None else _session(master),
    )
    counts.write(out)
    _show(counts, out, as_json)


def split_command(
    files: Files,
    shards: Annotated[int, typer.Option(help="Into how many.")],
    out: Annotated[Path, typer.Option(help="A new folder, with a folder for each shard. Personal data.")],
    plan: Annotated[Path, typer.Option(help="A declaration, as `check --out` writes it.")],
    memory: Memory = "4GB",
) -> None:
    """Rows as they are, in a folder for each shard of the people: what each counter reads alone.

    Example: dprank split staff.csv --plan plan.toml --shards 4 --out shards
    """
    folders = split(_each(files), Declaration.from_toml(plan), shards, out, memory=memory)
    shown = console()
    shown.print("[personal data: for the counters of these shards alone]", markup=False)
    shown.print(f"folders: {folders[0]} to {folders[-1]}", markup=False)


def merge_command(
    files: Annotated[list[Path], typer.Argument(help="Files of `dprank count` or `dprank merge`.")],
    out: OutCounts,
    as_json: AsJson = False,
) -> None:
    """Counts of the shards of all files, added up; no shard twice, and all of one bound and one set of rules.

    Example: dprank merge counts-*.json --out merged.json
    """
    require_replaceable(out, ours=lambda _: False, device=False)
    counts = merged(map(read_counts, files))
    counts.write(out)
    _show(counts, out, as_json)


def _each(given: list[Path]) -> list[Path]:
    """Every file, also of a folder, or of a pattern that no shell has filled in."""
    return [it for path in given for it in (files_of(path) or [path])]


def _show(counts: Counts, out: Path, as_json: bool) -> None:
    """What the curator is told."""
    found = {
        "shards": f"{len(counts.parts)} of {counts.shards}",
        "rows": counts.rows,
        "rows that count": counts.kept,
        "left out": dict(counts.left_out or {}),
        "rows of other shards": counts.others,
        "counted by": list(counts.engines),
    }
    if as_json:
        show_json(json.dumps(found | {"mark": SECRET}, ensure_ascii=False, indent=2))
        return
    shown = console()
    shown.print(f"[{SECRET}]", markup=False)
    for name, value in found.items():
        if isinstance(value, dict):
            for reason, number in value.items():
                shown.print(f"{name}: {reason}: {number}", markup=False)
        else:
            shown.print(f"{name}: {', '.join(value) if isinstance(value, list) else value}", markup=False)
    shown.print(f"counts: {out}", markup=False)


def _shard(text: str) -> tuple[int, int]:
    part, sign, shards = text.partition("/")
    if not sign or not (part.isdecimal() and shards.isdecimal() and len(text) < 20):
        raise ValueError(f"shard = {text!r}; which of how many is needed, as 3/16")
    return int(part), int(shards)


def _session(master: str) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise ValueError("pyspark is not installed: pip install 'dprank[spark]'") from None
    return SparkSession.builder.master(master).appName("dprank").getOrCreate()
