"""Flags that several commands have, and what they say together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from dprank.data.cleaning import RULES
from dprank.data.declaration import Declaration

__all__ = ["console", "declaration_of", "listed", "number", "paired"]

File = Annotated[Path, typer.Argument(help="CSV or Parquet.")]
MaybeFile = Annotated[Path | None, typer.Argument(help="CSV or Parquet.")]
Items = Annotated[
    str | None,
    typer.Option(help="All items, with commas between; or a text file with one a line. Never read off the data."),
]
Person = Annotated[str | None, typer.Option(help="The column that says who.")]
Clean = Annotated[str | None, typer.Option(help=f"Rules, with commas between: {', '.join(RULES)}.")]
Alias = Annotated[list[str] | None, typer.Option(help="What is written and what is meant: scool=school. Repeat it.")]
Plan = Annotated[Path | None, typer.Option(help="A declaration, as `check --out` writes it; flags go before it.")]
Columns = Annotated[str | None, typer.Option("--comparisons", help="Columns of first item, second item, answer.")]
Answers = Annotated[str | None, typer.Option("--map", help="What an answer means: left=1,right=0,equal=0.5.")]
Item = Annotated[str | None, typer.Option("--item", help="The column of the item that a person has.")]
Wide = Annotated[bool, typer.Option("--wide", help="Ballots: a column an item, which holds its place, 1 for the best.")]
Epsilon = Annotated[float, typer.Option(help="What the whole release spends; there is no default.")]
Delta = Annotated[float, typer.Option(help="Chance of the events that the promise leaves out.")]
Protect = Annotated[
    str, typer.Option(help="One answer, one ballot, or one person with all answers: answer, ballot, person.")
]
Persons = Annotated[
    int | None,
    typer.Option(help="How many took part at most, a public number: shows ranges with sampling beside those of noise."),
]
Sampled = Annotated[
    str | None,
    typer.Option(help="What was drawn: persons, or answers (each by itself, as in the Bradley-Terry model)."),
]
Top = Annotated[int | None, typer.Option(help="Says which items may be among so many best.")]
Out = Annotated[Path | None, typer.Option(help="Where the published file goes.")]
Rehearse = Annotated[bool, typer.Option("--rehearse", help="On made-up data: nothing is read of yours or spent.")]
AsJson = Annotated[bool, typer.Option("--json", help="For another program.")]
BudgetFile = Annotated[
    Path | None, typer.Option(help="A budget that `dprank budget` made: spent before noise is drawn.")
]
Dataset = Annotated[str | None, typer.Option(help="Whose budget it is; the name of the file by default.")]


def console() -> Console:
    """What is shown, without breaking its lines."""
    return Console(soft_wrap=True, highlight=False)


def listed(text: str | None) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part.strip() for part in text.split(",")) if text else ()


def paired(name: str, texts: tuple[str, ...]) -> dict[str, str]:
    """What stands before and after the sign = of each text."""
    pairs = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise ValueError(f"{name} = {text!r}; name=value is needed")
        pairs[key] = value
    return pairs


def declaration_of(
    kind: str,
    items: str | None,
    person: str | None,
    columns: tuple[str, ...],
    answers: str | None,
    clean: str | None,
    alias: list[str] | None,
    plan: Path | None,
) -> Declaration:
    """Flags before the plan, and the plan before nothing."""
    base: dict[str, Any] = vars(Declaration.from_toml(plan)) if plan else {"kind": kind, "items": ()}
    given: dict[str, Any] = {"person": person, "columns": columns or None, "clean": listed(clean) or None}
    if items is not None:
        path = Path(items)
        lines = path.read_text(encoding="utf-8-sig").splitlines() if path.is_file() else items.split(",")
        given["items"] = tuple(line.strip() for line in lines if line.strip())
    if answers is not None:
        given["answers"] = {key: number("map", value) for key, value in paired("map", listed(answers)).items()}
    if alias:
        given["aliases"] = paired("alias", tuple(alias))
    merged = base | {key: value for key, value in given.items() if value is not None}
    if not merged["items"]:
        raise ValueError("items are missing; say all of them with --items: what the data hold is no public list")
    return Declaration(**merged)


def number(name: str, text: str) -> float:
    """A number of a flag."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} = {text!r}; a number is needed") from None
