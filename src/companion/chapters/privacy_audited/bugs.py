"""Every planted bug, and which route catches it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from textwrap import shorten
from typing import Any

import joblib
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.privacy_audited import mutants
from companion.chapters.privacy_audited.mutants import topk
from companion.chapters.privacy_audited.planted import Mutant
from companion.instruments.style import COLOURS, key, on_phone, panels, styled
from companion.instruments.sweep import stream
from dprank.audit.clopper_pearson import held_out_bound

#: What our promise on power is about: runs, releases a run, and seconds of one core.
RUNS, BUDGET, SECONDS = 10, 1_000_000, 5.0
#: Planted bugs, at least.
LEAST = 30
#: Share of the runs that must catch a bug, share of the bugs, and the rise of the loss that no bug may hide.
OFTEN, POWER, RISE = 0.9, 0.95, 1.2
#: Rounding of an exact loss, as a share of it.
ROUNDING = 1e-6


@cache
def planted() -> dict[str, Mutant]:
    """All planted bugs of all families, and one that breaks nothing, by class and words."""
    modules = [import_module(f"{mutants.__name__}.{module.name}") for module in iter_modules(mutants.__path__)]
    found = [*(mutant for module in modules for mutant in module.mutants()), topk.harmless()]
    named = {f"{mutant.of.__name__}: {mutant.bug}": mutant for mutant in found}
    if len(named) < len(found):
        raise ValueError(f"{len(found)} planted bugs have {len(named)} names; each needs one of its own")
    return named


def table(
    runs: int = RUNS, budget: int = BUDGET, jobs: int = 1, only: Sequence[str] = (), baseline: bool = True
) -> pd.DataFrame:
    """Both routes against every planted bug: ``name``, ``bug``, ``mechanism``, ``promised``, ``delta``, ``exact`` (or
    nan), ``ratio`` of the two, ``by_exact``, ``runs``, ``caught``, ``baseline``, ``samples``, ``seconds``, ``event``,
    ``budget``.

    Of the runs betting ``caught`` so many, and Clopper and Pearson's bounds on as many held-out releases ``baseline``;
    samples and seconds of a processor are medians. A bug within its promise is audited once: no audit may catch it.
    """
    names = list(only) or list(planted())
    exact = dict(zip(names, joblib.Parallel(n_jobs=jobs)(joblib.delayed(_exact)(name) for name in names), strict=True))
    tasks = [(name, run) for name in names for run in range(runs if _breaks(planted()[name], exact[name]) else 1)]
    audits = joblib.Parallel(n_jobs=jobs)(joblib.delayed(_audit)(name, run, budget, baseline) for name, run in tasks)
    outcomes = pd.DataFrame(audits, columns=["name", "caught", "samples", "event", "seconds", "baseline"])
    return pd.DataFrame([_row(name, exact[name], part, budget) for name, part in outcomes.groupby("name", sort=False)])


def breaking(frame: pd.DataFrame) -> pd.DataFrame:
    """The bugs of `table` that break their promise, as far as the exact route can tell."""
    return frame[~(frame.ratio <= 1 + ROUNDING)]


def often(frame: pd.DataFrame) -> pd.Series:
    """Whether betting caught a bug of `table` often enough."""
    return frame.caught >= OFTEN * frame.runs


def escaped(frame: pd.DataFrame) -> pd.DataFrame:
    """The bugs of `table` that raise the loss by `RISE` or more, or by who knows how much, and get past both routes."""
    large = frame[~(frame.ratio < RISE)]
    return large[~large.by_exact & ~often(large)]


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """`table` as a page shows it: shares of runs as "9 of 10", long events cut."""
    of_runs = {
        name: [f"{caught} of {runs}" for caught, runs in zip(column, frame.runs, strict=True)]
        for name, column in (("betting", frame.caught), ("counting", frame.baseline))
    }
    page = frame.rename(columns={"promised": "promised ε", "delta": "δ", "exact": "true ε", "samples": "releases"})
    page = page.assign(**of_runs, event=[shorten(event, 60, placeholder=" …") for event in frame.event])
    return page[["mechanism", "bug", "promised ε", "δ", "true ε", *of_runs, "releases", "event"]]


def in_brief(frame: pd.DataFrame) -> pd.DataFrame:
    """A row a mechanism, over its bugs in `table` that break their promise: ``mechanism``, ``bugs``, ``least rise`` of
    the loss, how many ``exact route``, ``betting`` and ``counting`` catch (often enough), ``releases`` (of the
    slowest).
    """
    broken = breaking(frame)
    caught = broken.assign(betting=often(broken), counting=broken.baseline >= OFTEN * broken.runs)
    columns = {"bug": "size", "ratio": "min", "by_exact": "sum", "betting": "sum", "counting": "sum", "samples": "max"}
    brief = caught.groupby("mechanism", sort=False, as_index=False).agg(columns)
    names = {"bug": "bugs", "ratio": "least rise", "by_exact": "exact route", "samples": "releases"}
    return brief.rename(columns=names)


def _exact(name: str) -> float:
    return planted()[name].exact_epsilon()


def _breaks(mutant: Mutant, exact: float) -> bool:
    return not exact <= mutant.guarantee.epsilon * (1 + ROUNDING)


def _audit(name: str, run: int, budget: int, baseline: bool) -> tuple[str, bool, int, str, float, bool]:
    mutant = planted()[name]
    start = time.process_time()
    found = mutant.bet(stream("audit-bugs", {"name": name, "run": run}), budget=budget)
    seconds = time.process_time() - start
    fresh = stream("audit-bugs-baseline", {"name": name, "run": run})
    held_out = baseline and mutant.bet(fresh, held_out_bound, budget=found.samples).refuted
    return name, found.refuted, found.samples, found.event, seconds, held_out


def _row(name: str, exact: float, runs: pd.DataFrame, budget: int) -> dict[str, object]:
    mutant = planted()[name]
    promised = mutant.guarantee.epsilon
    caught = runs[runs.caught]
    return {
        "name": name,
        "bug": mutant.bug,
        "mechanism": mutant.of.__name__,
        "promised": promised,
        "delta": mutant.guarantee.delta,
        "exact": exact,
        "ratio": exact / promised if promised else math.inf,
        "by_exact": exact > promised * (1 + ROUNDING),
        "runs": len(runs),
        "caught": len(caught),
        "baseline": int(runs.baseline.sum()),
        "samples": int(runs.samples.median()),
        "seconds": float(runs.seconds.median()),
        "event": str(caught.event.mode().iloc[0]) if len(caught) else "",
        "budget": budget,
    }


#: Loss over the promise beyond which a mark points outwards.
HIGH = 30.0
_LOOKS = (True, COLOURS[0], "o", "caught in nine of ten runs"), (False, COLOURS[1], "X", "caught less often")


@styled
def draw_releases_needed(frame: pd.DataFrame) -> Figure:
    """Releases until a bug is proved against the loss over the promise; bugs without an exact loss on the right."""
    message = "Bugs of equal loss take very different numbers of releases to prove"
    figure, (axes,) = panels(message=message, height=3.5)
    ratio = frame.ratio.clip(upper=HIGH).fillna(2 * HIGH)
    for often, colour, mark, label in _LOOKS:
        if (part := frame.often == often).any():
            look: dict[str, Any] = {"color": colour, "marker": mark, "linestyle": "", "alpha": 0.8}
            axes.plot(ratio[part], frame.samples[part], label=label, **look)
    axes.axvline(1, color="black", lw=1)
    axes.text(1.03, 0.98, "as promised", rotation=90, va="top", fontsize=9, transform=axes.get_xaxis_transform())
    ticks = [1, 2, 3, 10, HIGH, 2 * HIGH] if on_phone() else [1, 1.2, 1.5, 2, 3, 5, 10, HIGH, 2 * HIGH]
    axes.set(xscale="log", yscale="log", xlabel="true loss divided by the promised ε", ylabel="releases until proved")
    axes.set_xticks(ticks, [*(f"{tick:g}" for tick in ticks[:-2]), f"≥{HIGH:g}", "not\nknown"])
    axes.minorticks_off()
    key(figure, *axes.get_legend_handles_labels(), columns=2)
    return figure
