"""The arena's table: all heats as they were run, committed, and any of its cells run again."""

from __future__ import annotations

import json
import math
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from companion.chapters.which_method.arena import EPSILONS, Label, drawn_of, entered, heats, repetitions_of, run
from companion.instruments.seed import root_seed
from companion.ledger.files import find_root

__all__ = [
    "HEAT",
    "LABEL",
    "SAME",
    "again",
    "agrees",
    "cells",
    "due",
    "heats",
    "load",
    "made_of",
    "path",
    "ran",
    "update",
    "write",
]

#: Columns that say which heat a row is of, and which mechanism.
HEAT = ["question", "data", "items", "people", "answers", "k"]
LABEL = ["epsilon", "delta", "trust", "method"]
#: Relative difference within which a float that another processor computed is the same.
SAME = 1e-9
#: Order of the rows, which says nothing of who was run first.
_ORDER = [*HEAT, *LABEL, "loss"]
_FLOAT = re.compile(r"-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)")
_COLUMNS = [*_ORDER, "mean", "se", "repetitions", "made", "spent"]


def path(root: Path | None = None) -> Path:
    """Of the file."""
    return (root or find_root()) / "data" / "arena.parquet"


def load(root: Path | None = None) -> pd.DataFrame:
    """A row a heat, epsilon, mechanism and loss, with ``mean``, ``se`` and ``repetitions``.

    ``made`` is the mechanism with all its parameters: one that draws other noise today was another. ``spent`` is the
    epsilon that is proved of it, at a delta of at most ``delta``: above ``epsilon`` where a paper's print breaks its
    promise, below where noise is wasted.
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
    return frame[[*HEAT, *LABEL]].drop_duplicates()


def due(heat: Mapping[str, Any], some: Collection[float] = ()) -> dict[Label, tuple[str, float]]:
    """Labels of all who enter a heat today, at some epsilons or all; how they are made and what they spend."""
    asked = [epsilon for epsilon in EPSILONS if not some or epsilon in some]
    everybody = [it for epsilon in asked for it in entered(heat, epsilon)]
    return {label: (made_of(mechanism), float(mechanism.guarantee.epsilon)) for label, mechanism in everybody}


def made_of(mechanism: Any) -> str:
    """A mechanism with all its parameters."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(mechanism))


def agrees(before: Any, after: Any) -> bool:
    """Whether two results are the same on any processor: floats within `SAME`, those in a text too, all else exactly.

    Examples
    --------
    >>> agrees("Noise(scale=0.30000000000000004, items=5)", "Noise(scale=0.3, items=5)"), agrees(5, 6)
    (True, False)
    """
    if isinstance(before, str) and isinstance(after, str):
        words, others = _FLOAT.split(before), _FLOAT.split(after)
        numbers = zip(map(float, _FLOAT.findall(before)), map(float, _FLOAT.findall(after)), strict=False)
        return words == others and all(agrees(one, other) for one, other in numbers)
    if isinstance(before, float) and isinstance(after, float):
        return math.isclose(before, after, rel_tol=SAME, abs_tol=1e-15) or (before != before and after != after)
    return bool(before == after)


def _told(frame: pd.DataFrame, today: Mapping[Label, tuple[str, float]]) -> pd.DataFrame:
    """With what is known of the mechanisms."""
    each = [today[label_of(row)] for _, row in frame.iterrows()]
    return settled(frame.assign(made=[made for made, _ in each], spent=[spent for _, spent in each]))


def ran(heat: Mapping[str, Any], only: Collection[Label]) -> pd.DataFrame:
    """Rows of a heat."""
    return _told(run([heat], only=only), due(heat, {epsilon for epsilon, *_ in only}))


def again(frame: pd.DataFrame, which: Sequence[int]) -> Iterator[str]:
    """Run some of `cells` again, by their numbers, and say of every result that is another."""
    for _, cell in cells(frame).iloc[list(which)].iterrows():
        heat, label = heat_of(cell), label_of(cell)
        seen = ran(heat, {label})
        old = frame[(frame[[*HEAT, *LABEL]] == cell).all(axis=1)]
        for (_, before), (_, after) in zip(old.iterrows(), seen.iterrows(), strict=True):
            for name in ("mean", "se", "repetitions", "made", "spent"):
                if not agrees(before[name], after[name]):
                    where = json.dumps(heat | dict(zip(LABEL, label, strict=True)))
                    yield f"{where}: {before['loss']}: {name}: expected {before[name]!r}, observed {after[name]!r}"


def update(
    root: Path | None = None,
    say: Callable[[str], None] = print,
    jobs: int = -1,
    only: Container[str] | None = None,
) -> int:
    """Run what the table lacks, in so many processes; `only` some questions and kinds of people. How many were run.

    Rows of whoever does not enter so today go. What was run stays, also where the rest is broken off. At last it says
    how long all took, and the most memory that each process held, added up.
    """
    start = time.monotonic()
    done = load(root) if path(root).exists() else settled(pd.DataFrame())
    rows = dict(list(done.groupby(HEAT)))
    everybody = {tuple(heat.get(name, 0) for name in HEAT): heat for heat in heats()}
    kept = {key: frame for key, frame in rows.items() if key in everybody}
    asked = [key for key, it in everybody.items() if only is None or it["question"] in only or it["data"] in only]
    asked.sort(key=lambda key: -drawn_of(everybody[key]) * repetitions_of(everybody[key]))  # the longest first
    tasks = (joblib.delayed(_completed)(everybody[key], kept.get(key, done.iloc[:0])) for key in asked)
    number, peaks = 0, {}
    try:
        for frame, cells_run, seconds, process, peak in joblib.Parallel(jobs, return_as="generator_unordered")(tasks):
            kept[tuple(frame.loc[0, HEAT])] = frame
            number, peaks[process] = number + cells_run, peak
            if cells_run:
                say(f"{json.dumps(heat_of(frame.loc[0]))}: {cells_run} cells, {seconds:.1f} s")
    finally:
        write(pd.concat(kept.values()) if kept else done, root)
    took, held = (time.monotonic() - start) / 60, sum((peaks | {os.getpid(): _peak()}).values())
    say(f"{took:.1f} minutes; {held:.2f} GiB at most, of all {len(peaks.keys() | {os.getpid()})} processes together")
    return number


def _completed(heat: Mapping[str, Any], done: pd.DataFrame) -> tuple[pd.DataFrame, int, float, int, float]:
    """Rows of a heat, those of `done` that are as today and the rest; how many cells were run, and the effort."""
    start, today, often = time.process_time(), due(heat), repetitions_of(heat)
    fresh = [
        agrees(today.get(label_of(row), ("",))[0], row["made"]) and row["repetitions"] == often
        for _, row in done.iterrows()
    ]
    kept = _told(done[np.array(fresh, bool)], today)
    missing = today.keys() - {label_of(row) for _, row in kept.iterrows()}
    frames = [frame for frame in (kept, ran(heat, missing) if missing else None) if frame is not None and len(frame)]
    return settled(pd.concat(frames)), len(missing), time.process_time() - start, os.getpid(), _peak()


def _peak() -> float:
    """The most memory that this process ever held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2 ** (30 if sys.platform == "darwin" else 20)


def write(frame: pd.DataFrame, root: Path | None = None) -> None:
    """Make it the table, with the root of its seeds."""
    whole = settled(frame)
    whole.attrs = {"seed": root_seed()}
    whole.to_parquet(path(root), index=False)
