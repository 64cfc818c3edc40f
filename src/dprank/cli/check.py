"""The command `check`: what a file holds, for its keeper alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dprank.cli.options import (
    Alias,
    Answers,
    AsJson,
    Clean,
    Columns,
    File,
    Item,
    Items,
    Person,
    Plan,
    Wide,
    console,
    declaration_of,
    listed,
)
from dprank.data.cleaning import nearest
from dprank.data.declaration import Declaration, Intake

__all__ = ["check"]

SECRET = "not for publication: this tells of the data"


def check(
    file: File,
    comparisons: Columns = None,
    wide: Wide = False,
    item: Item = None,
    items: Items = None,
    person: Person = None,
    answers: Answers = None,
    clean: Clean = None,
    alias: Alias = None,
    plan: Plan = None,
    out: Annotated[Path | None, typer.Option(help="Write the declaration here, for --plan.")] = None,
    as_json: AsJson = False,
) -> None:
    """Look at raw data: what counts, what is left out and why. Not for publication.

    Example: dprank check survey.csv --comparisons left,right,answer --map left=1,right=0,equal=0.5
    --person person --items items.txt --out plan.toml
    """
    kind = "comparisons" if comparisons else "tallies" if item else "ballots"
    if plan is None and sum(map(bool, (comparisons, wide, item))) != 1:
        raise ValueError("say what a row is: --comparisons FIRST,SECOND,ANSWER, --wide, or --item COLUMN")
    columns = listed(comparisons) or ((item,) if item else ())
    declared = declaration_of(kind, items, person, columns, answers, clean, alias, plan)
    intake = declared.read(file)
    if out:
        out.write_text(declared.to_toml(), encoding="utf-8")
    found = _looked(intake, declared)
    if as_json:
        print(json.dumps(found | {"mark": SECRET}, ensure_ascii=False, indent=2))
        return
    shown = console()
    shown.print(f"[{SECRET}]", markup=False)
    for name, value in found.items():
        if isinstance(value, Mapping):
            for key, number in value.items():
                shown.print(f"{name}: {key}: {number}", markup=False)
        else:
            shown.print(f"{name}: {value}", markup=False)
    shown.print("every rule above looks at one row, or at one person's rows: it keeps the guarantee", markup=False)
    if out:
        shown.print(f"declaration: {out}", markup=False)


def _looked(intake: Intake, declared: Declaration) -> dict[str, Any]:
    """What the curator is told."""
    import numpy as np

    found: dict[str, Any] = {
        "file": intake.said,
        "rows": intake.rows,
        "rows that count": intake.kept,
        "left out": dict(intake.left_out),
        "unknown items": {
            f"{label!r}" + (f", like {like!r}" if (like := nearest(label, declared.items)) else ""): number
            for label, number in intake.unknown.items()
        },
    }
    people = getattr(intake.data, "person", getattr(intake.data, "voter", None))
    if people is not None and len(people):
        _, each = np.unique(people, return_counts=True)
        found["people"] = len(each)
        found["answers a person"] = {
            "fewest": int(each.min()),
            "median": float(np.median(each)),
            "most": int(each.max()),
        }
    return found
