"""The table of what everybody in the arena loses: committed, and any of its cells computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from companion.chapters.which_method.arena import EPSILONS, entered
from companion.chapters.which_method.fairness import Size, loss
from companion.chapters.which_method.table import heat_of, heats, made_of
from companion.instruments.sweep import stream
from companion.ledger.files import find_root

__all__ = ["ALLOWED", "SLACK", "again", "by_method", "load", "over", "path", "rerun", "some", "update"]

_HEAT = ["question", "data", "items", "people", "answers", "k"]
_LABEL = ["epsilon", "delta", "trust", "method"]
#: Share of epsilon that may go unused, and relative room for rounding before it counts as broken.
ALLOWED, SLACK = 0.05, 1e-6
#: Relative difference at which a loss that is computed again is another.
_SAME = 1e-6


def path(root: Path | None = None) -> Path:
    """Of the file."""
    return (root or find_root()) / "data" / "fairness.parquet"


def load(root: Path | None = None) -> pd.DataFrame:
    """A row a heat, epsilon and mechanism: ``loss``, ``how`` it is known, ``on`` which neighbours, ``unused`` share.

    ``made`` is the mechanism with all its parameters, as in the arena's table.
    """
    frame = pd.read_parquet(path(root))
    return frame.assign(unused=1 - frame["loss"] / frame["epsilon"])


def size_of(heat: Mapping[str, Any]) -> Size:
    """What a loss depends on besides the mechanism."""
    return Size(heat["people"], heat.get("answers", 1))


def update(root: Path | None = None, say: Callable[[str], None] = print, jobs: int = 1) -> int:
    """Compute what the table lacks; rows of whoever does not enter so today go. How many losses were computed.

    The same mechanism on data of the same size is audited once, whatever the data are.
    """
    known: dict[tuple[str, Size], Any] = {}
    if path(root).exists():
        done = load(root)
        for row in done.to_dict("records"):
            known[row["made"], size_of(heat_of(row))] = row["loss"], row["how"], row["on"]
    cells = [(heat, *one) for heat in heats() for epsilon in EPSILONS for one in entered(heat, epsilon)]
    missing = {(made_of(it), size_of(heat)): it for heat, _, it in cells}
    missing = {key: it for key, it in missing.items() if key not in known}
    say(f"{len(cells)} cells, {len(missing)} losses to compute")
    found = joblib.Parallel(n_jobs=jobs)(joblib.delayed(loss)(it, key[1]) for key, it in missing.items())
    known |= dict(zip(missing, map(tuple, found), strict=True))
    rows = [
        {name: heat.get(name, 0) for name in _HEAT}
        | dict(zip(_LABEL, label, strict=True))
        | dict(zip(("loss", "how", "on"), known[made_of(it), size_of(heat)], strict=True))
        | {"made": made_of(it)}
        for heat, label, it in cells
    ]
    frame = pd.DataFrame(rows).sort_values([*_HEAT, *_LABEL], ignore_index=True)
    frame.to_parquet(path(root), index=False)
    return len(missing)


def some(frame: pd.DataFrame, number: int) -> pd.DataFrame:
    """So many random rows, the same ones each time."""
    picked = stream("arena: losses again", {"cells": number}).permutation(len(frame))[:number]
    return frame.iloc[picked]


def rerun(frame: pd.DataFrame) -> Iterator[str]:
    """Compute the losses of rows again, and say of each that is another, or of a mechanism that is made otherwise."""
    for row in frame.to_dict("records"):
        heat, label = heat_of(row), tuple(row[name] for name in _LABEL)
        where = json.dumps(heat | {name: row[name] for name in _LABEL})
        today = dict(entered(heat, row["epsilon"])).get(label)
        if today is None or made_of(today) != row["made"]:
            yield f"{where}: made: expected {row['made']}, observed {today and made_of(today)}"
            continue
        seen = loss(today, size_of(heat)).epsilon
        if not np.isclose(seen, row["loss"], rtol=_SAME, atol=1e-12):
            yield f"{where}: loss: expected {row['loss']!r}, observed {seen!r}"


def over(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of who loses more than the heat allows."""
    return frame[frame["loss"] > frame["epsilon"] * (1 + SLACK)]


def by_method(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a question, trust, mechanism and delta, with the largest and least share of epsilon that is used.

    ``audits``: cells; ``exact``: share of them whose exact law is known; ``most``, ``least``: of epsilon; ``unused``:
    share of cells in which more than `ALLOWED` of epsilon is not known to be used.
    """
    used = frame.assign(used=1 - frame["unused"], exact=frame["how"] == "exact law")
    used["much"] = used["unused"] > ALLOWED
    groups = used.groupby(["question", "trust", "method", "delta"])
    return groups.agg(
        audits=("loss", "size"),
        exact=("exact", "mean"),
        most=("used", "max"),
        least=("used", "min"),
        unused=("much", "mean"),
    ).reset_index()


def again(frame: pd.DataFrame, number: int) -> tuple[int, list[str]]:
    """So many random rows computed again: how many, and what differs."""
    picked = some(frame, number)
    return len(picked), list(rerun(picked))
