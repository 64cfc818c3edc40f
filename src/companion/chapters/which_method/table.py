"""The arena's table: all heats as they were run, committed, and any of its cells run again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.chapters.which_method.arena import EPSILONS, Label, entered, heats, run
from companion.instruments.seed import root_seed
from companion.ledger.files import find_root

__all__ = ["again", "cells", "due", "heats", "load", "path", "ran", "update", "write"]

_HEAT = ("question", "data", "items", "people", "answers", "k")
_LABEL = ("epsilon", "delta", "trust", "method")
#: Order of the rows, which says nothing of who was run first.
_ORDER = [*_HEAT, *_LABEL, "loss"]
_COLUMNS = [*_ORDER, "mean", "se", "repetitions", "made"]


def path(root: Path | None = None) -> Path:
    """Of the file."""
    return (root or find_root()) / "data" / "arena.parquet"


def load(root: Path | None = None) -> pd.DataFrame:
    """A row a heat, epsilon, mechanism and loss, with ``mean``, ``se`` and ``repetitions``.

    ``made`` is the mechanism with all its parameters: one that draws other noise today was another.
    """
    return pd.read_parquet(path(root))


def settled(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns, types and order of the file."""
    frame = frame.reindex(columns=_COLUMNS)
    for name in ("answers", "k"):
        frame[name] = frame[name].fillna(0).astype(np.int64)  # 0: a question without it
    return frame.sort_values(_ORDER, ignore_index=True)


def heat_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """The heat of a row, as it names its stream."""
    whole = {name: int(row[name]) for name in ("items", "people", "answers", "k") if row[name]}
    return {"question": row["question"], "data": row["data"], **whole}


def label_of(row: Mapping[str, Any]) -> Label:
    """Epsilon, delta, trust and name of a row's mechanism."""
    return float(row["epsilon"]), float(row["delta"]), str(row["trust"]), str(row["method"])


def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a heat, epsilon and mechanism."""
    return frame[[*_HEAT, *_LABEL]].drop_duplicates()


def due(heat: Mapping[str, Any]) -> dict[Label, str]:
    """Labels of all who enter a heat today, and how they are made."""
    everybody = [it for epsilon in EPSILONS for it in entered(heat, epsilon)]
    return {label: re.sub(" at 0x[0-9a-f]+", "", repr(mechanism)) for label, mechanism in everybody}


def ran(heat: Mapping[str, Any], only: Container[Label]) -> pd.DataFrame:
    """Rows of a heat."""
    made, frame = due(heat), run([heat], only=only)
    return settled(frame.assign(made=[made[label_of(row)] for _, row in frame.iterrows()]))


def again(frame: pd.DataFrame, which: Sequence[int]) -> Iterator[str]:
    """Run some of `cells` again, by their numbers, and say of every result that is another."""
    for _, cell in cells(frame).iloc[list(which)].iterrows():
        heat, label = heat_of(cell), label_of(cell)
        seen = ran(heat, {label})
        old = frame[(frame[[*_HEAT, *_LABEL]] == cell).all(axis=1)]
        for (_, before), (_, after) in zip(old.iterrows(), seen.iterrows(), strict=True):
            for name in ("mean", "se", "repetitions", "made"):
                if before[name] != after[name]:
                    where = json.dumps(heat | dict(zip(_LABEL, label, strict=True)))
                    yield f"{where}: {before['loss']}: {name}: expected {before[name]!r}, observed {after[name]!r}"


def update(root: Path | None = None, say: Callable[[str], None] = print) -> int:
    """Run what the table lacks; rows of whoever does not enter so today go. How many cells were run."""
    done = load(root) if path(root).exists() else settled(pd.DataFrame())
    kept, number = [], 0
    for heat in heats():
        here = pd.Series({name: heat.get(name, 0) for name in _HEAT})
        mine, today = done[(done[list(_HEAT)] == here).all(axis=1)], due(heat)
        mine = mine[[today.get(label_of(row)) == row["made"] for _, row in mine.iterrows()]]
        missing = today.keys() - {label_of(row) for _, row in mine.iterrows()}
        if missing:
            say(f"{json.dumps(heat)}: {len(missing)} cells")
            mine = pd.concat([mine, ran(heat, missing)]) if len(mine) else ran(heat, missing)
        kept.append(mine)
        number += len(missing)
    write(pd.concat(kept), root)
    return number


def write(frame: pd.DataFrame, root: Path | None = None) -> None:
    """Make it the table, with the root of its seeds."""
    whole = settled(frame)
    whole.attrs = {"seed": root_seed()}
    whole.to_parquet(path(root), index=False)
