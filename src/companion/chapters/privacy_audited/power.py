"""How many releases it takes to prove that a noise is too small, by betting and by counting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import stream
from dprank.audit.betting import FIRST, LowerBound, Sampler, lower_bound
from dprank.audit.clopper_pearson import held_out_bound
from dprank.privacy import noise

#: Epsilon that the author of the count promises, and the counts of two neighbours.
PROMISE, PAIR = 1.0, (0, 1)
#: How the two auditors are called in pictures.
BETTING, COUNTING = "betting", "counting, held out"


def count_with_error(factor: float) -> Sampler:
    """A count with whole Laplace noise of scale 1 / (`factor` `PROMISE`): its true epsilon is `factor` `PROMISE`."""

    def sample(count: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(count + noise.discrete_laplace(1 / (factor * PROMISE), size, rng=rng), float)[:, None]

    return sample


def paths(factors: Iterable[float], runs: int, budget: int, *, confidence: float = 0.999) -> pd.DataFrame:
    """Wealth of bets against the promise, a row a round: ``factor`` (true epsilon over promised; 1 for a promise that
    is kept), ``run``, ``samples``, ``wealth``, ``goal``.
    """
    rows = []
    for factor in factors:
        for run in range(runs):
            found = _bet(factor, run, budget, confidence)
            common = {"factor": factor, "run": run, "goal": 1 / (1 - confidence)}
            rows += [common | {"samples": samples, "wealth": wealth} for samples, wealth in found.path]
    return pd.DataFrame(rows)


def to_catch(
    factors: Iterable[float], runs: int, budget: int, *, confidence: float = 0.999, jobs: int = 1
) -> pd.DataFrame:
    """Releases until the promise is refuted, a row a ``factor`` (above 1) and ``method``: ``runs``, ``caught``,
    ``median``, ``low``, ``high`` (quartiles, infinite where nothing is caught), ``lower`` (mean bound over the true
    loss, whole budget).

    Counting needs to know in advance how many it may have. It is given every power of two afresh, and what is shown is
    the first that suffices: it is not charged for the looks before, nor for what they do to its confidence.
    """
    cells = [(factor, run) for factor in factors for run in range(runs)]
    found = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(_needed)(factor, run, budget, confidence) for factor, run in cells
    )
    frame = pd.DataFrame([row for both in found for row in both])
    rows = []
    for (factor, method), part in frame.groupby(["factor", "method"], sort=False):
        low, median, high = np.quantile(part.samples, [0.25, 0.5, 0.75], method="inverted_cdf")
        caught = int(np.isfinite(part.samples).sum())
        rows.append(
            {"factor": factor, "method": method, "runs": runs, "caught": caught}
            | {"median": median, "low": low, "high": high, "lower": part.lower.mean()}
        )
    return pd.DataFrame(rows)


def _needed(factor: float, run: int, budget: int, confidence: float) -> list[dict[str, Any]]:
    bets = _bet(factor, run, budget, confidence)
    common: dict[str, Any] = {"factor": factor, "run": run}
    all_in = _bet(factor, run, budget, confidence, levels=PROMISE * factor * np.linspace(0.02, 1, 50))
    rows = [common | {"method": BETTING, "samples": bets.samples if bets.refuted else np.inf, "lower": all_in.epsilon}]
    rng = stream("audit: counting", {"factor": factor, "run": run})
    needed, count = np.inf, 4 * FIRST
    while count <= budget:
        counted = _count(factor, count, confidence, rng)
        if counted.refuted:
            needed = count
            break
        count *= 2
    last = _count(factor, budget, confidence, rng)
    rows.append(common | {"method": COUNTING, "samples": needed, "lower": last.epsilon})
    return [row | {"lower": row["lower"] / (factor * PROMISE)} for row in rows]


def _bet(factor: float, run: int, budget: int, confidence: float, levels: Any = ()) -> LowerBound:
    rng = stream("audit: betting", {"factor": factor, "run": run})
    return lower_bound(
        count_with_error(factor),
        [PAIR],
        PROMISE,
        rng=rng,
        confidence=confidence,
        budget=budget,
        levels=levels,
        names=["the count"],
    )


def _count(factor: float, budget: int, confidence: float, rng: np.random.Generator) -> LowerBound:
    return held_out_bound(
        count_with_error(factor), [PAIR], PROMISE, rng=rng, confidence=confidence, budget=budget, names=["the count"]
    )


# --- figures ----------------------------------------------------------------------------------------------------------


_MARKS = ("o", "s", "D", "^", "v", "P", "X")


@styled
def draw_wealth(frame: pd.DataFrame) -> Figure:
    """Wealth of the bets against a promise after every round: a line an audit, a colour a true over promised loss."""
    figure = Figure(figsize=(6.2, 3.8))
    axes = figure.subplots()
    top = frame.goal.max() * 100
    for (factor, lines), colour, mark in zip(frame.groupby("factor", sort=True), COLOURS, _MARKS, strict=False):
        for number, (_, line) in enumerate(lines.groupby("run")):
            label = f"{factor:g}" if number == 0 else None
            axes.plot(line.samples, np.minimum(line.wealth, top), color=colour, marker=mark, ms=3, lw=1, label=label)
    axes.axhline(frame.goal.max(), color="black", lw=0.8, ls=":")
    axes.set(xscale="log", yscale="log", xlabel="releases", ylabel="wealth", ylim=(1e-3, top * 2))
    figure.legend(*axes.get_legend_handles_labels(), title="true ε / promised ε", loc="outside lower center", ncols=6)
    return figure


@styled
def draw_to_catch(frame: pd.DataFrame) -> Figure:
    """Releases until a broken promise is refuted, against the true loss over the promised: medians and quartiles."""
    figure = Figure(figsize=(6.2, 3.8))
    axes = figure.subplots()
    for (method, line), colour, mark, shift in zip(
        frame.groupby("method", sort=False), COLOURS, _MARKS, (0.985, 1.015), strict=False
    ):
        seen = line[np.isfinite(line["median"])].sort_values("factor")
        high = np.where(np.isfinite(seen.high), seen.high, seen["median"])
        bars = np.array([seen["median"] - seen.low, high - seen["median"]])
        axes.errorbar(
            (seen.factor - 1) * shift, seen["median"], bars, label=method, color=colour, marker=mark, capsize=3
        )
    factors = sorted(set(frame.factor))
    axes.set_xlim((factors[0] - 1) / 1.2, (factors[-1] - 1) * 1.2)
    needed = frame[["median", "high"]].to_numpy()
    axes.set_ylim(500, 2 * needed[np.isfinite(needed)].max(initial=5000))
    axes.set(xscale="log", yscale="log", xlabel="true ε / promised ε", ylabel="releases until refuted")
    axes.set_xticks([factor - 1 for factor in factors], [f"{factor:g}" for factor in factors])
    axes.minorticks_off()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
