"""Every mechanism of the library: what is claimed, what is guaranteed, and what the loss is."""

from __future__ import annotations

import inspect
import math
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import joblib
import numpy as np
import pandas as pd

import dprank
from companion.experiments.audit.bugs import planted
from companion.experiments.audit.cases import cases
from companion.experiments.audit.cases.case import Case, sampler
from companion.experiments.sweep import stream
from dprank.audit.betting import lower_bound
from dprank.privacy.laws import NoExactRoute, exact

#: Probability that any of all the lower bounds is above the truth, at most.
ALARM = 0.001
#: Losses that the lower bounds are tried at, as shares of the loss that is expected.
LEVELS = np.r_[0.02, 0.05, np.arange(0.1, 1.0, 0.1), 0.95, 0.98]
#: Rounding of an exact loss, as a share of what it is compared with.
ROUNDING = 1e-9
#: Papers by the room of the library that holds their mechanisms.
PAPERS = {
    "pairwise": "Cai et al.",
    "uniformity": "Busa-Fekete et al.",
    "topk": "Qiao et al.",
    "aggregation": "Alabi et al.",
}


@cache
def known() -> dict[str, Case]:
    """All cases of the library by name."""
    found = cases()
    named = {case.name: case for case in found}
    if len(named) < len(found):
        raise ValueError(f"{len(found)} cases have {len(named)} names; each needs one of its own")
    return named


def frame(budget: int = 100_000, jobs: int = 1) -> pd.DataFrame:
    """Every case by both routes.

    Parameters
    ----------
    budget : int
        Releases a case for its lower bound; 0 leaves it out.
    jobs : int

    Returns
    -------
    pandas.DataFrame
        ``case``, ``mechanism``, ``paper``, ``calibration``, ``claimed`` (epsilon: the paper's, else the guarantee's),
        ``guarantee`` (what is provable), ``delta``, ``exact`` and ``closed_form`` (nan where there is none), ``lower``
        (true epsilon is above it; all rows together with probability 1 - `ALARM`), ``found``, ``law``.

    Notes
    -----
    A mechanism with floating-point noise is audited by the law that it has on paper; what its floats say is a matter of
    its own (`companion.experiments.audit.floats`).
    """
    return pd.DataFrame(joblib.Parallel(n_jobs=jobs)(joblib.delayed(_row)(name, budget) for name in known()))


def _row(name: str, budget: int) -> dict[str, Any]:
    case = known()[name]
    try:
        loss = exact(case.mechanism, case.data, case.other).epsilon(case.delta)
    except NoExactRoute:
        loss = math.nan
    return {
        "case": name,
        "mechanism": case.kind.__name__,
        "paper": PAPERS[case.kind.__module__.split(".")[1]],
        "calibration": "calibrated" if case.printed is None else "as printed",
        "claimed": case.claimed,
        "guarantee": case.guaranteed,
        "delta": case.delta,
        "exact": loss,
        "closed_form": math.nan if case.closed_form is None else case.closed_form,
        "lower": _lower(case, loss, budget),
        "found": case.found,
        "law": getattr(case.mechanism, "law", ""),
    }


def _lower(case: Case, loss: float, budget: int) -> float:
    """Lower bound on epsilon from samples, at levels below the loss that is expected and above it."""
    if not budget:
        return math.nan
    expected = max(x for x in (loss, case.claimed, case.mechanism.guarantee.epsilon, 0.0) if math.isfinite(x))
    near = loss if 0 < loss < math.inf else expected
    levels = np.unique(np.r_[0.0, near * LEVELS, near * np.array([1.0, 1.05, 1.2]), expected])
    return lower_bound(
        sampler(case.mechanism),
        [(case.data, case.other)],
        0.0,
        case.delta,
        rng=stream("audit-promises", {"case": case.name}),
        confidence=1 - ALARM / len(known()),
        budget=budget,
        levels=levels,
        bits=False,
    ).epsilon


def picture(table: pd.DataFrame) -> pd.DataFrame:
    """Of every mechanism, as printed and as calibrated, the case with the largest loss for its claim.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `frame`.

    Returns
    -------
    pandas.DataFrame
        Rows of `table`, by paper, mechanism and calibration, with ``share`` (the exact loss, or else the lower bound,
        over the claim; of equals the case with the largest lower bound stands for all) and ``cases``, how many the row
        stands for.
    """
    # rounding must not choose between equals
    rows = table.assign(
        share=(table.exact.fillna(table.lower) / table.claimed).round(6), relative=table.lower / table.claimed
    )
    rows["cases"] = rows.groupby(["mechanism", "calibration"]).case.transform("size")
    worst = rows.sort_values(["share", "relative"], ascending=False, kind="stable")
    worst = worst.drop_duplicates(["mechanism", "calibration"]).drop(columns="relative")
    order = list(PAPERS.values())
    return worst.sort_values(
        ["paper", "mechanism", "calibration"],
        key=lambda x: x.map(order.index) if x.name == "paper" else x,
        ignore_index=True,
    )


def by_mechanism(table: pd.DataFrame) -> pd.DataFrame:
    """How the routes of `frame` agree: a row a mechanism.

    Returns
    -------
    pandas.DataFrame
        ``mechanism``, ``paper``, ``cases``, ``exact`` (how many have an exact loss), ``closed forms`` (how many),
        ``farthest`` (largest relative distance of exact loss and closed form), ``exact / guarantee`` (largest),
        ``samples / exact`` (largest lower bound over the exact loss).
    """
    rows = []
    for mechanism, part in table.groupby("mechanism", sort=False):
        finite = part[np.isfinite(part.exact) & (part.exact > 0)]
        rows.append(
            {
                "mechanism": mechanism,
                "paper": part.paper.iloc[0],
                "cases": len(part),
                "exact": int(part.exact.notna().sum()),
                "closed forms": int(part.closed_form.notna().sum()),
                "farthest": float(((finite.exact - finite.closed_form).abs() / finite.closed_form).max()),
                "exact / guarantee": float((part.exact / part.guarantee).max()),
                "samples / exact": float((finite.lower / finite.exact).max()),
            }
        )
    return pd.DataFrame(rows)


def mechanisms() -> list[type]:
    """Every class of the library that implements `dprank.privacy.guarantee.Mechanism`."""
    modules = [import_module(module.name) for module in walk_packages(dprank.__path__, "dprank.")]
    return [
        found
        for module in modules
        for found in vars(module).values()
        if inspect.isclass(found)
        and found.__module__ == module.__name__
        and is_dataclass(found)
        and hasattr(found, "guarantee")
        and hasattr(found, "release")
    ]


def uncovered() -> list[str]:
    """Mechanisms of the library without a case, or without a planted bug."""
    have = {
        "case": {type(case.mechanism) for case in known().values()},
        "planted bug": {mutant.of for mutant in planted().values()},
    }
    return [
        f"{which.__name__} has no {what}"
        for what, classes in have.items()
        for which in mechanisms()
        if which not in classes
    ]


def broken(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of `frame` whose loss is above their provable guarantee."""
    return table[_above(table, table.guarantee)]


def lies(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of `frame` as printed whose loss is above what the paper claims."""
    return table[(table.calibration == "as printed") & _above(table, table.claimed)]


def worst_lies(table: pd.DataFrame) -> pd.DataFrame:
    """Of every mechanism in `lies` the case of largest loss for its claim."""
    worse = lies(table)
    share = worse[["exact", "lower"]].max(axis=1) / worse.claimed
    return worse.assign(share=share).loc[share.groupby(worse.mechanism, sort=False).idxmax()]


def _above(table: pd.DataFrame, promised: pd.Series) -> pd.Series:
    return (table.exact > promised * (1 + ROUNDING)) | (table.lower > promised)
