"""Is what a plan recommends the best of the arena? Cell by cell, with the error bars of both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from companion.chapters.which_method import table
from companion.chapters.which_method.arena import FIRST_LOSS, setting_of
from companion.chapters.which_method.contenders import DELTA, UNNAMED, publishable
from companion.chapters.which_method.table import heat_of
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, claim, printed
from dprank.plan.planner import Choice, Plan, named, plan
from dprank.questions import QUESTIONS

__all__ = ["BARS", "CELL", "advised", "check_advice", "check_again", "plan_for", "rerun", "some", "standing"]

#: Standard errors of the difference of two losses within which they are the same.
BARS = 2.0
#: Share of cells in which a plan is right, as the guide promises; how sure an interval of it is.
RIGHT, SURE = 0.95, 0.9
#: Items times people up to which a heat is run again while a page is made.
SMALL = 100_000
#: The columns that say which heat a row is of, at which epsilon, and who is trusted.
CELL = [*table.HEAT, "epsilon", "trust"]
#: Pages and tables ask for the plan of a heat again.
_plan = lru_cache(1 << 10)(plan)


def standing(frame: pd.DataFrame, delta: float) -> pd.DataFrame:
    """The rows by which questions are judged, of what can be published at a delta; ``excess`` over the best, ``alike``.

    Two are alike if their losses differ by less than `BARS` standard errors of the difference.
    """
    judged = frame[(frame["loss"] == frame["question"].map(FIRST_LOSS)) & (frame["delta"] <= delta)]
    judged = judged[judged["method"].map(publishable).astype(bool)]
    judged = judged.reset_index(drop=True)
    best = judged.loc[judged.groupby(CELL)["mean"].transform("idxmin"), ["mean", "se"]].set_axis(judged.index)
    excess = judged["mean"] - best["mean"]
    alike = excess <= BARS * np.hypot(judged["se"], best["se"])
    return judged.assign(excess=excess, alike=alike)


def plan_for(heat: Mapping[str, Any], epsilon: float, delta: float, trust: str) -> Plan:
    """The plan of a heat, by the numbers that everybody may know."""
    asked = vars(setting_of(heat, epsilon, trust)) | {"delta": delta}
    sizes = {"items": asked.pop("n_items"), "persons": asked.pop("persons")}
    return _plan(asked.pop("question"), **sizes, **asked)


def some(frame: pd.DataFrame, number: int) -> pd.DataFrame:
    """The rows of so many random cells, a heat, an epsilon and a trust, of questions that a plan answers."""
    cells = frame.loc[frame["question"].isin([*QUESTIONS]), CELL].drop_duplicates()
    picked = stream("arena: advice", {"cells": number}).permutation(len(cells))[:number]
    return frame.merge(cells.iloc[picked])


def rerun(frame: pd.DataFrame, number: int) -> tuple[int, list[str]]:
    """So many random cells of the smaller heats run again: how many, and what differs."""
    small = frame[frame["items"] * frame["people"] <= SMALL]
    picked = stream("arena: again", {"cells": number}).permutation(len(table.cells(small)))[:number]
    return len(picked), list(table.again(small, picked.tolist()))


def called(choice: Choice) -> str:
    """Its name in the arena."""
    return named(choice.mechanism, {key: it for key, it in choice.parameters.items() if key not in UNNAMED})


def advised(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a cell: ``advice``, its ``loss``, its ``excess`` over the ``best``; is it ``right``, alike to the best?

    Of questions that a plan answers. The three are nan where the advice was not run: it does not take such ballots, or
    takes too long.
    ``close``: the plan says that it is too close to call.
    """
    rows = []
    frame = frame[frame["question"].isin([*QUESTIONS])]
    for delta in (0.0, DELTA):
        for cell, group in standing(frame, delta).groupby(CELL):
            where = dict(zip(CELL, cell, strict=True))
            found = plan_for(heat_of(where), where["epsilon"], delta, where["trust"])
            mine = group[group["method"] == called(found.best)].sort_values("delta")
            best = group.loc[group["mean"].idxmin(), "method"]
            row = where | {"budget": delta, "advice": called(found.best), "best": best, "close": _close(found)}
            row |= {"second": "" if found.second is None else called(found.second), "means": found.error_means}
            if mine.empty:
                rows.append(row | {"loss": math.nan, "excess": math.nan, "right": math.nan})
                continue
            at = mine.iloc[-1 if found.best.parameters.get("delta") else 0]
            rows.append(row | {"loss": at["mean"], "excess": at["excess"], "right": float(at["alike"])})
    return pd.DataFrame(rows)


@claim("guide:again")
def check_again(several: int, differing: list[str]) -> Iterator[Check]:
    """Random cells of the smaller heats, see `rerun`."""
    yield printed(f"numbers that differ from the table, of {several} cells", len(differing), "==", 0)


@claim("guide:advice")
def check_advice(found: pd.DataFrame) -> Iterator[Check]:
    """Random cells, with and without a delta, see `advised`; the exact interval of a share."""
    judged = found["right"].dropna()
    low, high = binomtest(int(judged.sum()), len(judged)).proportion_ci(SURE)
    what = f"share of {len(judged)} cells in which the recommendation is the best, or alike to it"
    yield printed(what, (low + high) / 2, ">=", RIGHT, error=(high - low) / 2)


def _close(found: Plan) -> bool:
    """Whether a plan says that another is as good, or nearly."""
    return "too close to call" in found.reason or "as good" in found.reason
