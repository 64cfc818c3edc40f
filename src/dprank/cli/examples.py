"""The command `example`: a made-up table to try the others on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dprank.cli.options import console
from dprank.data.examples import NAMES, example

__all__ = ["example_command"]


def example_command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.", autocompletion=lambda: list(NAMES))],
    out: Annotated[Path | None, typer.Option(help="Where it goes; under its own name here unless given.")] = None,
) -> None:
    """A made-up table, copied to where you are: all examples of this help run on them. What is there already stays.

    Example: dprank example staff.csv
    """
    source, target = example(name), out or Path(name)
    with target.open("xb") as file:
        file.write(source.read_bytes())
    console().print(f"example: {target}", markup=False)
