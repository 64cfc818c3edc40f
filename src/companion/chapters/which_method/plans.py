"""What a plan says of every size of the arena: committed, since so many plans take half an hour, and asked again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

import dprank
from companion.chapters.which_method.advice import called
from companion.chapters.which_method.arena import EPSILONS, heats, setting_of
from companion.chapters.which_method.contenders import DELTA
from companion.chapters.which_method.people_needed import MOST, WITHIN, needed
from companion.chapters.which_method.populations import CAMP
from companion.instruments.sweep import stream
from companion.ledger.files import find_root
from dprank.plan.planner import Plan
from dprank.plan.tags import TAGS, choosable
from dprank.questions import QUESTIONS

__all__ = ["KEY", "SUPPOSED", "TOLD", "again", "asked", "due", "load", "needed_of", "update"]

_SIZE = ["question", "items", "people", "answers", "k"]
#: Columns that say what is asked.
KEY = [*_SIZE, "trust", "told", "delta", "epsilon"]
#: Kind of people that a plan supposes.
SUPPOSED = {"ranking": "ladder", "consensus": "Mallows", "winner": "Mallows", "topk": "ladder", "agreement": "Mallows"}
#: The error at which people are counted.
ERROR = 0.01
#: What else a plan may be told: that it is secret who compared what, or of two camps; and whose trust that takes.
TOLD: dict[str, dict[str, tuple[str, ...]]] = {
    "ranking": {"secret": ("curator",)},
    "consensus": {"camps": ("curator", "nobody")},
    "winner": {"camps": ("curator",)},
}


def path(root: Path | None = None) -> Path:
    """Of the file."""
    return (root or find_root()) / "data" / "plans.parquet"


def load(root: Path | None = None) -> pd.DataFrame:
    """A row a size, trust, delta and epsilon, and what is ``told``: what a plan says of it.

    ``use`` and ``error`` of its best choice, ``spends``: whether that spends the delta; the same of the ``second``, ""
    if there is none; ``needed``: people with whom the best choice errs in one case of a hundred, infinity beyond 10^8;
    it is asked for without a delta alone.
    """
    return pd.read_parquet(path(root))


def due() -> Iterator[dict[str, Any]]:
    """All that is asked, of sizes that the arena has measured; a delta where some mechanism can spend it."""
    for question in QUESTIONS:
        sizes = [it for it in heats() if (it["question"], it["data"]) == (question, SUPPOSED[question])]
        for trust in ("curator", "nobody"):
            spent = any(TAGS[name].delta for name in choosable(question, trust))
            told = ["", *(name for name, trusts in TOLD.get(question, {}).items() if trust in trusts)]
            for size in sizes if choosable(question, trust) else ():
                where = {name: size.get(name, 0) for name in _SIZE}
                for delta in (0.0, DELTA) if spent else (0.0,):
                    for name in told:
                        for epsilon in sorted(EPSILONS, reverse=True):
                            yield where | {"trust": trust, "told": name, "delta": delta, "epsilon": epsilon}


def asked(row: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `dprank.plan`."""
    heat = {name: row[name] for name in _SIZE if row[name]} | {"data": SUPPOSED[row["question"]]}
    setting = vars(setting_of(heat, row["epsilon"], row["trust"])) | {"delta": row["delta"]}
    if row["told"]:
        setting |= {"public_graph": False} if row["told"] == "secret" else {"camps": CAMP}
    return {"items": setting.pop("n_items")} | setting


def _said(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan says of a row."""
    found: Plan = dprank.plan(**asked(row))
    spends = lambda it: bool(it is not None and it.parameters.get("delta"))  # noqa: E731
    second = found.second
    return {
        "use": called(found.best),
        "error": found.best.error,
        "spends": spends(found.best),
        "second": "" if second is None else called(second),
        "second_error": math.nan if second is None else second.error,
        "second_spends": spends(second),
    }


def needed_of(row: Mapping[str, Any], beyond: float = 0.0) -> float:
    """How many people err so little; `beyond` is how many are too few."""
    of_people = asked(row)
    del of_people["persons"]
    if row["question"] == "agreement":  # its lead is the fainter the more people there are
        del of_people["gap"]
    return needed(ERROR, beyond=beyond, **of_people)


def _group(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that differ in epsilon and people alone, the largest epsilon first: with less no fewer people are enough."""
    found: list[dict[str, Any]] = []
    for _, group in groupby(rows, key=lambda row: row["epsilon"]):
        alike = list(group)
        before = min(found[-1]["needed"], MOST) if found else 0.0
        people = math.nan if alike[0]["delta"] else needed_of(alike[0], beyond=before / (1 + WITHIN) - 1)
        found += [row | _said(row) | {"needed": people} for row in alike]
    return found


def update(root: Path | None = None, say: Callable[[str], None] = print, jobs: int = -1) -> int:
    """Ask for what the table lacks, in so many processes; how many plans that were. What was asked stays."""
    done = load(root) if path(root).exists() else pd.DataFrame(columns=KEY)
    known = set(done[KEY].itertuples(index=False, name=None))
    missing = [row for row in due() if tuple(row[name] for name in KEY) not in known]
    alike = lambda row: [row[name] for name in KEY if name not in ("people", "epsilon")]  # noqa: E731
    missing.sort(key=lambda row: (row["delta"], *map(str, alike(row)), -row["epsilon"], row["people"]))
    groups = [list(rows) for _, rows in groupby(missing, key=alike)]
    rows = done.to_dict("records")
    for found in joblib.Parallel(jobs, return_as="generator_unordered")(joblib.delayed(_group)(it) for it in groups):
        rows += found
        pd.DataFrame(rows).sort_values(KEY, ignore_index=True).to_parquet(path(root), index=False)
        say(f"{found[0]['question']}, {found[0]['items']} items: {len(found)} plans")
    return len(missing)


def again(frame: pd.DataFrame, number: int) -> tuple[int, list[str]]:
    """So many random rows asked again, but for the people needed: how many, and what differs."""
    picked = frame.iloc[stream("plans: again", {"rows": number}).permutation(len(frame))[:number]]
    differing = []
    for row in picked.to_dict("records"):
        differing += [
            f"{[row[name] for name in KEY]}: {name}: expected {row[name]!r}, observed {seen!r}"
            for name, seen in _said(row).items()
            if not (seen == row[name] or (isinstance(seen, float) and np.isclose(seen, row[name], 1e-6, 1e-9, True)))
        ]
    return len(picked), differing
