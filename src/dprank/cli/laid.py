"""Flags of how a table stands in its file: one list of them, for every command that reads a table."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

__all__ = ["Laid", "standard_input", "with_layout"]

#: What a command is given: the flags that were said, by the keys of `dprank.data.layout.Layout`.
Laid = Mapping[str, Any] | None
Command = TypeVar("Command", bound=Callable[..., Any])

FLAGS = {
    "sheet": Annotated[
        str | None, typer.Option(help="Which sheet of a workbook (.xlsx, .ods) holds the table, where several do.")
    ],
    "encoding": Annotated[
        str | None,
        typer.Option(help="Of a text that is neither UTF-8 nor UTF-16 with its mark, as cp1252, which Excel writes."),
    ],
    "skip": Annotated[int | None, typer.Option(help="How many lines, as a title, stand above the header.")],
    "header": Annotated[
        int | None,
        typer.Option(
            help="How many rows the header has: 2, of questions and items as in SurveyMonkey; 3, of which the first "
            "holds the names and two are dropped, as in Qualtrics."
        ),
    ],
    "contest": Annotated[
        str | None,
        typer.Option(help="Of a cast vote record (--form dominion) which contest, where several are ranked."),
    ],
    "overvotes": Annotated[
        str | None,
        typer.Option(
            help="Of a cast vote record what a place with several candidates says: skip (nothing; so by default), or "
            "exhaust (the ballot ends there)."
        ),
    ],
    "sql": Annotated[
        str | None,
        typer.Option(
            help="Of a database of SQLite or DuckDB the query whose rows are the table. One that counts, limits or "
            "joins people makes a row of several: what is protected is a row that it gives."
        ),
    ],
}


#: What stands for standard input in the place of a file.
INPUT = Path("-")


def _require_dataset(said: Mapping[str, Any]) -> None:
    """Refuse to spend of a budget for people who have no name: that of the file stands for them elsewhere."""
    if said.get("budget") and not (said.get("dataset") or said.get("rehearse")):
        raise ValueError("dataset is missing; say with --dataset whose budget it is: standard input has no name")


@contextmanager
def standard_input() -> Iterator[Path]:
    """What comes by standard input, as a file: tables are looked at twice. It is this user's alone, and is removed."""
    import shutil
    import tempfile

    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("standard input is a terminal; a table is needed: dprank check - … < votes.csv")
    with tempfile.TemporaryDirectory(prefix="dprank-") as folder:
        path = Path(folder, "standard input")
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield path
        except ValueError as error:
            error.args = tuple(it.replace(f"{folder}{os.sep}", "") if type(it) is str else it for it in error.args)
            raise


def with_layout(command: Command) -> Command:
    """A command with these flags in the place of its parameter `layout`, which is told what they say.

    Examples
    --------
    >>> @with_layout
    ... def read(file: str, layout: Laid = None, loud: bool = False) -> None:
    ...     print(file, layout)
    >>> read("a.csv", skip=2, sheet=None)
    a.csv {'skip': 2}
    >>> list(inspect.signature(read).parameters)
    ['file', 'sheet', 'encoding', 'skip', 'header', 'contest', 'overvotes', 'sql', 'loud']
    """

    @wraps(command)
    def told(*given: Any, **said: Any) -> Any:
        layout = {name: said[name] for name in FLAGS if said.get(name) is not None}
        rest = {key: it for key, it in said.items() if key not in FLAGS} | {"layout": layout or None}
        if said.get("file") != INPUT:
            return command(*given, **rest)
        _require_dataset(said)
        with standard_input() as file:
            return command(*given, **rest | {"file": file})

    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        flags = FLAGS if name == "layout" else {name: hints.get(name, parameter.annotation)}
        parameters += [parameter.replace(name=flag, annotation=of) for flag, of in flags.items()]
    told.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    told.__annotations__ = {it.name: it.annotation for it in parameters} | {"return": None}
    return told  # type: ignore[return-value]
