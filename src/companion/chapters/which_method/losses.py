"""The table of what everybody in the arena loses: committed, and any of its cells computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from companion.chapters.which_method.arena import EPSILONS, entered
from companion.chapters.which_method.as_printed import OWN
from companion.chapters.which_method.fairness import NONE_KNOWN, Loss, Size, loss
from companion.chapters.which_method.table import HEAT, LABEL, agrees, heat_of, heats, made_of
from companion.instruments.sweep import stream
from companion.ledger.files import find_root

__all__ = ["ALLOWED", "SLACK", "again", "load", "over", "path", "rerun", "some", "update"]

_SIZE = [name for name in HEAT if name != "data"]
#: Share of epsilon that may go unused, and relative room for rounding before it counts as broken.
ALLOWED, SLACK = 0.05, 1e-6
#: Relative difference at which a loss that is computed again is another.
_SAME = 1e-6


def path(root: Path | None = None) -> Path:
    """Of the file."""
    return (root or find_root()) / "data" / "fairness.parquet"


def load(root: Path | None = None) -> pd.DataFrame:
    """A row a heat, epsilon and mechanism: ``loss``, ``how`` it is known, ``on`` which neighbours, ``unused`` share.

    ``made`` is the mechanism with all its parameters, as in the arena's table. Where an upper bound on the loss is all
    there is, nothing is known to be used.
    """
    frame = pd.read_parquet(path(root))
    return frame.assign(unused=np.where(frame["how"] == "of more", 1.0, 1 - frame["loss"] / frame["epsilon"]))


def size_of(heat: Mapping[str, Any]) -> Size:
    """What a loss depends on besides the mechanism."""
    return Size(heat["people"], heat.get("answers", 1))


def update(root: Path | None = None, say: Callable[[str], None] = print, jobs: int = -1) -> int:
    """Compute what the table lacks, in so many processes; rows of whoever does not enter so today go. How many were.

    Mechanisms with the noise that a paper prints promise another epsilon than the others, or none: they are left out.
    The same mechanism on data of the same size is audited once, whatever the data are. What was computed stays, also
    where the rest is broken off.
    """
    done = load(root) if path(root).exists() else pd.DataFrame(columns=[*HEAT, *LABEL, "loss", "how", "on", "made"])
    of_size = lambda it: tuple(it.get(name, 0) for name in _SIZE)  # noqa: E731
    groups = [list(alike) for _, alike in groupby(sorted(heats(), key=of_size, reverse=True), key=of_size)]
    here = [done[(done[_SIZE] == of_size(group[0])).all(axis=1)].to_dict("records") for group in groups]
    tasks = (joblib.delayed(_completed)(*one) for one in zip(groups, here, strict=True))
    rows, number, seen = [], 0, set()
    for group, found, computed in joblib.Parallel(jobs, return_as="generator_unordered")(tasks):
        rows += found
        number += computed
        seen.add(of_size(group[0]))
        if computed:
            kept = [row for row in done.to_dict("records") if of_size(row) not in seen]
            _write(rows + kept, root)
            say(f"{json.dumps(group[0] | {'data': [it['data'] for it in group]})}: {computed} losses")
    _write(rows, root)
    return number


def _write(rows: list[dict[str, Any]], root: Path | None) -> None:
    frame = pd.DataFrame(rows)[[*HEAT, *LABEL, "loss", "how", "on", "made"]]
    frame.sort_values([*HEAT, *LABEL], ignore_index=True).to_parquet(path(root), index=False)


def _completed(group: list[dict[str, Any]], done: list[dict[str, Any]]) -> tuple[list[Any], list[Any], int]:
    """Rows of heats of one size, those of `done` that are as today and the rest; and how many were computed."""
    # neighbours that nobody knew may be known by now
    known = [row for row in done if row["how"] != NONE_KNOWN]
    found = {row["made"]: Loss(row["loss"], row["how"], row["on"]) for row in known}
    rows, before = [], len(found)
    for heat in group:
        for epsilon in EPSILONS:
            for label, mechanism in entered(heat, epsilon):
                if label[3].endswith(OWN):
                    continue
                made = made_of(mechanism)
                if made not in found:
                    found[made] = loss(mechanism, size_of(heat))
                where = {name: heat.get(name, 0) for name in HEAT} | dict(zip(LABEL, label, strict=True))
                lost, how, on = found[made]
                rows.append(where | {"loss": lost, "how": how, "on": on, "made": made})
    return group, rows, len(found) - before


def some(frame: pd.DataFrame, number: int) -> pd.DataFrame:
    """So many random rows, the same ones each time."""
    picked = stream("arena: losses again", {"cells": number}).permutation(len(frame))[:number]
    return frame.iloc[picked]


def rerun(frame: pd.DataFrame) -> Iterator[str]:
    """Compute the losses of rows again, and say of each that is another, or of a mechanism that is made otherwise."""
    for row in frame.to_dict("records"):
        heat, label = heat_of(row), tuple(row[name] for name in LABEL)
        where = json.dumps(heat | {name: row[name] for name in LABEL})
        today = dict(entered(heat, row["epsilon"])).get(label)
        if today is None or not agrees(made_of(today), row["made"]):
            yield f"{where}: made: expected {row['made']}, observed {today and made_of(today)}"
            continue
        seen = loss(today, size_of(heat)).epsilon
        if not np.isclose(seen, row["loss"], rtol=_SAME, atol=1e-12):
            yield f"{where}: loss: expected {row['loss']!r}, observed {seen!r}"


def over(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of who loses more than the heat allows."""
    return frame[frame["loss"] > frame["epsilon"] * (1 + SLACK)]


def again(frame: pd.DataFrame, number: int) -> tuple[int, list[str]]:
    """So many random rows computed again: how many, and what differs."""
    picked = some(frame, number)
    return len(picked), list(rerun(picked))
