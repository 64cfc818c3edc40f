"""Every mechanism of the library: what is claimed, what is guaranteed, and what the loss is."""

from __future__ import annotations

import math
from dataclasses import is_dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import dprank
from companion.chapters.privacy_audited.cases import cases
from companion.chapters.privacy_audited.cases.case import Case
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import CALIBRATION, COLOURS, key, note, panels, styled
from companion.instruments.sweep import stream
from companion.ledger.papers import families

#: Probability that any of all the lower bounds is above the truth, at most.
ALARM = 0.001
#: Losses that the lower bounds are tried at, as shares of the loss that is expected.
LEVELS = np.r_[0.02, 0.05, np.arange(0.1, 1.0, 0.1), 0.95, 0.98]
#: Papers by the room of the library that holds their mechanisms.
PAPERS = families()


@cache
def known() -> dict[str, Case]:
    """All cases of the library by name."""
    found = cases()
    named = {case.name: case for case in found}
    if len(named) < len(found):
        raise ValueError(f"{len(found)} cases have {len(named)} names; each needs one of its own")
    return named


def frame(budget: int = 100_000, jobs: int = 1) -> pd.DataFrame:
    """Every case by both routes: ``case``, ``mechanism``, ``paper``, ``calibration``, ``claimed`` (the paper's epsilon,
    else the guarantee's), ``guarantee`` (provable), ``delta``, ``exact`` and ``closed_form`` (or nan), ``lower`` (from
    so many releases: the truth is above all of them with probability 1 - `ALARM`), ``found``, ``law``.

    A mechanism with floating-point noise is audited by the law that it has on paper; what its floats say is a matter of
    its own (`floats`).
    """
    return pd.DataFrame(joblib.Parallel(n_jobs=jobs)(joblib.delayed(_row)(name, budget) for name in known()))


def _row(name: str, budget: int) -> dict[str, Any]:
    case = known()[name]
    loss = case.exact_epsilon()
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
    rng, confidence = stream("audit-promises", {"case": case.name}), 1 - ALARM / len(known())
    return case.bet(0.0, case.delta, rng=rng, confidence=confidence, budget=budget, levels=levels, bits=False).epsilon


def picture(table: pd.DataFrame) -> pd.DataFrame:
    """Of every mechanism and calibration the row of `frame` with the largest ``share`` (loss over claim; exact, or else
    the lower bound), and ``cases`` it stands for; of equals the case with the largest lower bound stands for all.
    """
    kinds, papers = ["mechanism", "calibration"], list(PAPERS.values())
    # rounding must not choose between equals
    share = (table.exact.fillna(table.lower) / table.claimed).round(6)
    rows = table.assign(share=share, relative=table.lower / table.claimed, paper=table.paper.map(papers.index))
    rows["cases"] = rows.groupby(kinds).case.transform("size")
    worst = rows.sort_values(["share", "relative"], ascending=False, kind="stable").drop_duplicates(kinds)
    worst = worst.drop(columns="relative").sort_values(["paper", *kinds], ignore_index=True)
    return worst.assign(paper=worst.paper.map(papers.__getitem__))


def by_mechanism(table: pd.DataFrame) -> pd.DataFrame:
    """How the routes of `frame` agree: ``mechanism``, ``paper``, ``cases``, ``exact`` and ``closed forms`` (how many
    have one), ``farthest`` (largest relative distance of these), ``exact / guarantee`` and ``samples / exact``
    (largest).
    """
    finite = table.where(np.isfinite(table.exact) & (table.exact > 0))
    distance = (finite.exact - finite.closed_form).abs() / finite.closed_form
    shares = {"exact / guarantee": table.exact / table.guarantee, "samples / exact": finite.lower / finite.exact}
    counted = {"closed forms": table.closed_form, "farthest": distance, **shares}
    columns = {"paper": "first", "case": "size", "exact": "count", "closed forms": "count", "farthest": "max"}
    grouped = table.assign(**counted).groupby("mechanism", sort=False, as_index=False)
    return grouped.agg(columns | dict.fromkeys(shares, "max")).rename(columns={"case": "cases"})


def mechanisms() -> list[type]:
    """Every class of the library that implements `dprank.privacy.guarantee.Mechanism`."""
    # the command line releases by these; a test of its own audits it as a black box
    names = [module.name for module in walk_packages(dprank.__path__, "dprank.")]
    modules = [import_module(name) for name in names if not name.startswith("dprank.cli")]
    own = [
        [of for of in vars(module).values() if getattr(of, "__module__", "") == module.__name__] for module in modules
    ]
    classes = [of for some in own for of in some if isinstance(of, type) and is_dataclass(of)]
    return [of for of in classes if hasattr(of, "guarantee") and hasattr(of, "release")]


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


#: Losses over the claimed one that are drawn to scale; beyond, a mark at the edge points outwards.
LOW, HIGH = 0.1, 20.0
_LOOK = {"as printed": CALIBRATION["as printed"], "calibrated": CALIBRATION["corrected"]}
_CALIBRATED = {"as printed": "as printed", "calibrated": "as calibrated here"}
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10)


@styled
def draw_claimed_and_true(frame: pd.DataFrame) -> Figure:
    """Loss, guarantee and lower bound over the claimed epsilon; in the shaded half more is lost than was claimed.

    Without a column ``lower`` nothing is said of samples; with a column ``epsilon`` all claim that one.
    """
    papers, sampled = frame.paper.unique(), "lower" in frame
    printed = frame[frame.calibration == "as printed"]
    more = int((printed.share > 1 + ROUNDING).sum())
    message = f"{more or 'None'} of {len(printed)} mechanisms lose more privacy than their papers say"
    heights = [(frame.paper == paper).sum() + 0.6 for paper in papers]
    shared: dict[str, Any] = {"columns": 1, "sharex": True, "gridspec_kw": {"height_ratios": heights}}
    each = 0.27 * (len(frame) / len(papers) + 2) + 0.2
    figure, made = panels(len(papers), message=message, height=each, **shared)
    for axes, paper in zip(made, papers, strict=True):
        rows = frame[frame.paper == paper].reset_index(drop=True)
        for place, row in rows.iterrows():
            _draw_row(axes, place, row, said="epsilon" in frame)
        axes.set_yticks(range(len(rows)), rows.mechanism)
        for label, calibration in zip(axes.get_yticklabels(), rows.calibration, strict=True):
            label.set_color(_LOOK[calibration]["color"])
        axes.set(title=paper, ylim=(len(rows) - 0.4, -0.6), xscale="log", xlim=(LOW * 0.8, HIGH * 1.1))
        axes.axvline(1, color="black", lw=1, zorder=0)
        axes.axvspan(1, HIGH * 1.1, color=COLOURS[1], alpha=0.2, lw=0, zorder=0)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        axes.minorticks_off()
    made[-1].set_xlabel("ε lost divided by ε claimed\n(shaded: more than claimed)")
    handles = _legend(sampled)
    key(figure, handles, [str(it.get_label()) for it in handles], columns=4)
    if sampled:
        note(figure, f"A small arrow at {LOW:g}: samples showed a loss of {LOW:g} of the claim, or less.")
    return figure


def _draw_row(axes: Axes, place: int, row: pd.Series, *, said: bool) -> None:
    """A mechanism's marks, and by how much it loses more; at which promise, unless that is `said` for all."""
    look = _LOOK[row.calibration]
    found = (row.get(key, LOW * row.claimed) / row.claimed for key in ("lower", "exact", "guarantee"))
    lower, exact, guarantee = (np.clip(it, LOW, HIGH) for it in found)
    top = guarantee if np.isnan(exact) else exact
    # the truth lies on this line: from what samples show to what is proved
    axes.plot([lower, top], [place, place], color=look["color"], lw=1.2, alpha=0.6)
    if top > LOW and "lower" in row:
        axes.plot(lower, place, marker=5, color=look["color"], markersize=5, alpha=0.8)
    for value, marker in ((guarantee, "|"), (exact, look["marker"])):
        beyond = ">" if value >= HIGH else "<" if value <= LOW else ""
        size = 13 if marker == "|" and not beyond else 6
        axes.plot(value, place, marker=beyond or marker, color=look["color"], markersize=size, linestyle="")
    if row.calibration == "as printed" and row.share > 1:
        times = f"× {row.share:.3g}".replace("inf", "∞")
        if not said:
            times += f" at ε = {Fraction(row.claimed).limit_denominator(100)}"
        side: dict[str, Any] = {"xytext": (6, 0), "va": "center"}
        if top > HIGH / 3 or guarantee > 1.05 * top:  # no room to the right
            side = {"xytext": (-6, 3), "ha": "right", "va": "bottom"}
        axes.annotate(times, (top, place), textcoords="offset points", fontsize=8.5, **side)


def _legend(sampled: bool) -> list[Line2D]:
    looks = [{"markersize": 6, "label": f"lost, {_CALIBRATED[name]}", **look} for name, look in _LOOK.items()]
    looks.append({"marker": "|", "markersize": 13, "label": "proved: no more", "color": "0.4"})
    looks += [{"marker": 5, "label": "seen in samples: no less", "color": "0.4"}] * sampled
    looks.append({"marker": ">", "markersize": 6, "label": "large arrow: beyond the axis", "color": "0.4"})
    return [Line2D([], [], linestyle="", **look) for look in looks]
