"""How many releases it takes to prove that a noise is too small, by betting and by counting."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments.style import COLOURS, key, name_lines, note, panels, styled
from companion.instruments.sweep import stream
from dprank.audit.betting import FIRST, LowerBound, Sampler, lower_bound
from dprank.audit.clopper_pearson import held_out_bound
from dprank.privacy import noise

#: Epsilon that the author of the count promises, and the counts of two neighbours.
PROMISE, PAIR = 1.0, (0, 1)
#: How the two auditors are called in pictures.
BETTING, COUNTING = "betting", "counting, held out"


def count_with_error(factor: float, promise: float = PROMISE) -> Sampler:
    """A count with whole Laplace noise of scale 1 / (`factor` `promise`): its true epsilon is `factor` `promise`."""

    def sample(count: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(count + noise.discrete_laplace(1 / (factor * promise), size, rng=rng), float)[:, None]

    return sample


def up_to(factor: float) -> list[float]:
    """Five true losses over the promised one, from a promise that is kept to the largest.

    Examples
    --------
    >>> up_to(2.0)
    [1, 1.1, 1.2, 1.5, 2]
    """
    found = (round(1 + share * (factor - 1), 6) for share in (0.0, 0.1, 0.2, 0.5, 1.0))
    return [int(it) if it == int(it) else it for it in found]  # the stream of a whole number is named by it


def paths(
    factors: Iterable[float], runs: int, budget: int, *, confidence: float = 0.999, promise: float = PROMISE
) -> pd.DataFrame:
    """Wealth of bets against the promise, a row a round: ``factor`` (true epsilon over promised; 1 for a promise that
    is kept), ``run``, ``samples``, ``wealth``, ``goal``.
    """
    goal = 1 / (1 - confidence)
    rows = [
        (factor, run, goal, samples, wealth)
        for factor, run in product(factors, range(runs))
        for samples, wealth in _bet(factor, run, budget, confidence, promise=promise).path
    ]
    return pd.DataFrame(rows, columns=["factor", "run", "goal", "samples", "wealth"])


def to_catch(
    factors: Iterable[float], runs: int, budget: int, *, confidence: float = 0.999, jobs: int = 1
) -> pd.DataFrame:
    """Releases until the promise is refuted, a row a ``factor`` (above 1) and ``method``: ``runs``, ``caught``,
    ``median``, ``low``, ``high`` (quartiles, infinite where nothing is caught), ``lower`` (mean bound over the true
    loss, whole budget).

    Counting needs to know in advance how many it may have. It is given every power of two afresh, and what is shown is
    the first that suffices: it is not charged for the looks before, nor for what they do to its confidence.
    """
    tasks = [joblib.delayed(_needed)(factor, run, budget, confidence) for factor in factors for run in range(runs)]
    found = [row for both in joblib.Parallel(n_jobs=jobs)(tasks) for row in both]
    frame = pd.DataFrame(found, columns=["factor", "method", "samples", "lower"])
    rows = []
    for (factor, method), part in frame.groupby(["factor", "method"], sort=False):
        low, median, high = np.quantile(part.samples, [0.25, 0.5, 0.75], method="inverted_cdf")
        caught = int(np.isfinite(part.samples).sum())
        rows.append((factor, method, runs, caught, median, low, high, part.lower.mean()))
    return pd.DataFrame(rows, columns=["factor", "method", "runs", "caught", "median", "low", "high", "lower"])


def _needed(factor: float, run: int, budget: int, confidence: float) -> list[tuple[float, str, float, float]]:
    """Of either method, releases until the promise is refuted, and its bound as a share of the true loss."""
    epsilon, rng = factor * PROMISE, stream("audit: counting", {"factor": factor, "run": run})
    bets = _bet(factor, run, budget, confidence)
    all_in = _bet(factor, run, budget, confidence, levels=epsilon * np.linspace(0.02, 1, 50))
    asked = count_with_error(factor), [PAIR], PROMISE
    count = partial(held_out_bound, *asked, rng=rng, confidence=confidence, names=["the count"])
    needed, size = np.inf, 4 * FIRST
    while size <= budget and not np.isfinite(needed):
        needed = size if count(budget=size).refuted else np.inf
        size *= 2
    last = count(budget=budget)
    return [
        (factor, BETTING, bets.samples if bets.refuted else np.inf, all_in.epsilon / epsilon),
        (factor, COUNTING, needed, last.epsilon / epsilon),
    ]


def _bet(
    factor: float, run: int, budget: int, confidence: float, levels: Any = (), promise: float = PROMISE
) -> LowerBound:
    limits = {"confidence": confidence, "budget": budget, "levels": levels, "names": ["the count"]}
    rng = stream("audit: betting", {"factor": factor, "run": run})
    return lower_bound(count_with_error(factor, promise), [PAIR], promise, rng=rng, **limits)


def two_counts(factor: float = 2.0, pair: tuple[int, int] = (3, 4), promise: float = PROMISE) -> pd.DataFrame:
    """The law of a noisy count under two neighbours, a row an ``output``: ``first``, ``second`` (probabilities), and
    whether the output is what is ``bet`` on: the larger count or more; what is promised is ``allowed``.
    """
    outputs, ratio = np.arange(min(pair) - 4, max(pair) + 5), np.exp(-factor * promise)
    laws = [(1 - ratio) / (1 + ratio) * ratio ** np.abs(outputs - count) for count in pair]
    frame = pd.DataFrame({"output": outputs, "first": laws[0], "second": laws[1], "bet": outputs >= max(pair)})
    return frame.assign(first_count=pair[0], second_count=pair[1], allowed=promise)


def numbers(factor: float, promise: float, alarm: float) -> dict[str, str]:
    """Of the count with an error and of the bet, as text."""
    return {
        "promise": f"{promise:g}",
        "truth": f"{factor * promise:g}",
        "alarm": f"{alarm:g}",
        "goal": f"{1 / alarm:,.0f}",
    }


@styled
def draw_bet(frame: pd.DataFrame) -> Figure:
    """Two histograms of a noisy count, one for each neighbour, and the outputs that are bet on."""
    start = frame.output[frame.bet].min()
    low, high = (frame.loc[frame.bet, name].sum() for name in ("first", "second"))
    count, promise = frame.second_count[0], frame.allowed[0]
    message = f"{start} or more is {high / low:.1f} times as likely, where {np.exp(promise):.1f} is allowed"
    figure, (axes,) = panels(message=message, height=2.9)
    columns = ("first", frame.first_count[0], COLOURS[0], -0.2), ("second", count, COLOURS[1], 0.2)
    for name, true, colour, shift in columns:
        axes.bar(frame.output + shift, frame[name], 0.4, color=colour, label=f"the true count is {true}")
    axes.axvspan(start - 0.5, frame.output.max() + 0.6, color="black", alpha=0.13, lw=0, zorder=0)
    said = f"the bet:\n{start} or more\nin {100 * low:.1f} %\nagainst {100 * high:.1f} %\nof releases"
    axes.text(frame.output.max() + 0.4, 0.95, said, ha="right", va="top", transform=axes.get_xaxis_transform())
    axes.set_xticks(frame.output)
    axes.set(xlabel="published number", ylabel="probability", xlim=(frame.output.min() - 0.6, frame.output.max() + 0.6))
    key(figure, *axes.get_legend_handles_labels(), columns=2)
    return figure


_MARKS = ("o", "s", "D", "^", "v", "P", "X")


@styled
def draw_wealth(frame: pd.DataFrame) -> Figure:
    """Wealth of the bets against a promise after every round: a line an audit, a colour a true over promised loss."""
    rich = frame[(frame.wealth >= frame.goal) & (frame.factor > 1)].factor.nunique()
    message = "The more a mechanism loses, the sooner a bet against it pays"
    if not rich:
        message = f"{frame.samples.max():,} releases are too few for a bet to win"
    figure, (axes,) = panels(message=message, height=3.5)
    top = frame.goal.max() * 100
    for (factor, lines), colour, mark in zip(frame.groupby("factor", sort=True), COLOURS, _MARKS, strict=False):
        for number, (_, line) in enumerate(lines.groupby("run")):
            label = "_" if number else f"{factor:g} × the promise" if factor > 1 else "promise kept"
            axes.plot(line.samples, np.minimum(line.wealth, top), color=colour, marker=mark, ms=3, lw=1, label=label)
    goal = frame.goal.max()
    axes.axhline(goal, color="black", lw=0.8, ls=":")
    axes.annotate(
        f"refuted: {goal:,.0f}", (1, goal), (-2, 3), ("axes fraction", "data"), "offset points", ha="right", fontsize=9
    )
    axes.set(xscale="log", yscale="log", xlabel="releases", ylabel="wealth", ylim=(1e-3, top * 2))
    key(figure, *axes.get_legend_handles_labels(), columns=5)
    note(
        figure,
        f"A line: one audit, {frame.run.nunique()} of each colour; it ends where the promise is refuted. Why "
        f"{goal:,.0f}: if the promise is kept, the chance that wealth ever grows {goal:,.0f}-fold is at most "
        f"1/{goal:,.0f}.",
    )
    return figure


@styled
def draw_to_catch(frame: pd.DataFrame) -> Figure:
    """Releases until a broken promise is refuted, against the true loss over the promised: medians and quartiles."""
    message = "The less a promise is broken, the more releases a proof takes"
    figure, (axes,) = panels(message=message, height=3.3)
    lines = zip(frame.groupby("method", sort=False), COLOURS, _MARKS, (0.985, 1.015), strict=False)
    for (method, line), colour, mark, shift in lines:
        seen = line[np.isfinite(line["median"])].sort_values("factor")
        at, median = (seen.factor - 1) * shift, seen["median"]
        bars = [median - seen.low, seen.high.where(np.isfinite(seen.high), median) - median]
        axes.errorbar(at, median, bars, label=method, color=colour, marker=mark, capsize=3)
    factors = sorted(set(frame.factor))
    axes.set_xlim((factors[0] - 1) / 1.2, (factors[-1] - 1) * 1.2)
    needed = frame[["median", "high"]].to_numpy()
    axes.set_ylim(500, 2 * needed[np.isfinite(needed)].max(initial=5000))
    axes.set(xscale="log", yscale="log", xlabel="true ε divided by the promised ε", ylabel="releases until refuted")
    axes.set_xticks([factor - 1 for factor in factors], [f"{factor:g}" for factor in factors])
    axes.minorticks_off()
    name_lines(axes, width=9)
    note(
        figure,
        "Betting: a game that nobody can expect to win if the promise is kept; great wealth refutes the promise. "
        "Counting: half of the releases are used to choose an event, and half to count it. "
        f"Bars: the middle half of {frame.runs.iloc[0]} audits.",
    )
    return figure
