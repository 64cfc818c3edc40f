"""Figures on the distance of Mallows models from uniform (Busa-Fekete, Fotakis and Zampetakis 2021)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from companion.figures.style import CALIBRATION, COLOURS, styled


@styled
def condition(frame: pd.DataFrame) -> Figure:
    """1 - phi_epsilon against m for several epsilon with Theorem 4's line; and the least epsilon that reaches it."""
    figure = Figure(figsize=(7.2, 3.6))
    left, right = figure.subplots(1, 2)
    laws = frame.dropna(subset="epsilon")
    for colour, (epsilon, part) in zip(COLOURS[2:], laws.groupby("epsilon", sort=False), strict=False):
        left.plot(part["items"], part.gap, marker="o", color=colour, label=f"ε = {epsilon:g}")
    bound = frame[frame.epsilon.isna()]
    printed = CALIBRATION["as printed"]["color"]
    left.plot(bound["items"], bound.gap, color=printed, lw=2.2, label="Theorem 4 asks for")
    left.set(xscale="log", yscale="log", xlabel="items m", ylabel="1 − φ", xlim=(laws["items"].min() / 1.3, None))
    left.legend(fontsize=8)
    right.plot(bound["items"], bound.zeros, color=printed, lw=2.2, label="exact")
    right.plot(bound["items"], bound.proved, color="black", lw=1, ls=":", label="proved: at least")
    right.legend(fontsize=8)
    right.set(xscale="log", yscale="log", xlabel="items m", ylabel="zeros after the point in 1 − ε")
    right.yaxis.set_minor_formatter(NullFormatter())
    ticks = [t for t in (20, 100, 500, 2000, 10_000, 50_000) if t < bound.zeros.max()]
    right.set_yticks(ticks, [f"{t:,}" for t in ticks])
    return figure


@styled
def samples(frame: pd.DataFrame) -> Figure:
    """Rankings against items at a fixed epsilon: what UNIF draws, what any test needs, what the abstract says."""
    figure = Figure(figsize=(6.4, 3.8))
    axes = figure.subplots()
    items, printed = frame["items"], CALIBRATION["as printed"]["color"]
    axes.plot(items, frame.unif, "s-", color=COLOURS[0], label="UNIF, its own k")
    axes.plot(items, frame.bound, "o-", color=COLOURS[2], label="any test, centre unknown (leading order)")
    axes.plot(items, frame.known, "D-", color=COLOURS[3], label="best test, centre known")
    axes.plot(items, frame.claimed, "--", color=printed, label="the abstract's rate, through UNIF's least k")
    axes.set(xscale="log", yscale="log", xlabel="items m", ylabel="rankings")
    figure.legend(fontsize=8, loc="outside upper center", ncols=2)
    return figure
