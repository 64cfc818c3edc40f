"""Counts that a release takes in the place of a file, as `dprank merge` writes them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dprank.data.count_files import Counts, read_counts
from dprank.data.declaration import Declaration
from dprank.mechanism import Countable

__all__ = ["CountsFile", "Given", "given_counts"]

CountsFile = Annotated[
    Path | None, typer.Option("--counts", help="What `dprank merge` wrote, in the place of FILE and of what it holds.")
]


@dataclass(frozen=True)
class Given:
    """Counts from a file, and the declaration that they were made by."""

    counts: Counts
    declaration: Declaration

    def checked(self, mechanism: Any) -> Counts:
        """The counts, if they are what the mechanism takes: looked at before anything is spent."""
        if isinstance(mechanism, Countable):
            mechanism.counts(self.counts)
        return self.counts


def given_counts(path: Path | None, file: Path | None, plan: Path | None, *flags: Any) -> Given | None:
    """The counts that a release was told to take; None where it was told to read a file."""
    if path is None:
        return None
    if file is not None or any(flag is not None for flag in flags):
        raise ValueError("counts go without FILE and without flags of its columns: what was counted is settled")
    counts = read_counts(path)
    with tempfile.TemporaryDirectory(prefix="dprank-") as folder:
        rules = Path(folder, "plan.toml")
        rules.write_text(counts.rules, encoding="utf-8")
        try:
            declaration = Declaration.from_toml(rules)
        except ValueError as error:
            why = str(error).removeprefix(f"{rules}: ")
            raise ValueError(f"{path} was counted by rules that no longer are any; count again: {why}") from None
    if plan is not None and replace(Declaration.from_toml(plan), layout=None) != declaration:
        raise ValueError(f"{plan} is not what was counted by; leave --plan out, or count again")
    return Given(counts, declaration)
