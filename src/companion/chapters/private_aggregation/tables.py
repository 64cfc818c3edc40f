"""Tables 1 and 2: measured errors beside the rows, and what the second reduction gains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from companion.chapters.local_aggregation.local_reports import LARGE, cube_excess
from companion.chapters.private_aggregation.fitted_rates import rates_checks
from companion.chapters.private_aggregation.matrix_order import existing
from companion.chapters.private_aggregation.query_budget import scores_over
from companion.chapters.private_aggregation.table_rows import DELTA, LOG, ROWS, slope
from companion.instruments.aggregation import BAR, gain, gaussian_constant
from companion.instruments.allowance import Z
from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.models.mallows import Mallows

#: Columns of `measured`.
BOUNDS = ("printed", "proved")


def exponents(errors: pd.DataFrame) -> pd.DataFrame:
    """Exponents of m on the same sizes: ``table``, ``row``, ``measured``, ``se``, ``printed``, ``proved``."""
    rows = []
    for row in ROWS:
        part = errors[errors.row == row].sort_values("items")
        sizes = part["items"].tolist()
        fit, se = slope(sizes, part.error.tolist(), part.se.tolist())
        bounds = {name: exponent(sizes, part[name]) if part[name].notna().all() else math.nan for name in BOUNDS}
        rows.append({"table": ROWS[row].table, "row": row, "measured": fit, "se": se} | bounds)
    return pd.DataFrame(rows)


def over_bounds(errors: pd.DataFrame) -> pd.DataFrame:
    """Measured errors at the largest size, and as shares of the bounds there."""
    last = errors[errors["items"] == errors["items"].max()].set_index("row").loc[list(ROWS)].reset_index()
    shares = {f"of {name}": last.error / last[name] for name in BOUNDS}
    return last[["table", "row", "items", "error"]].assign(**shares)


def _within(errors: pd.DataFrame, table: int) -> Iterator[Check]:
    """Errors of the printed rows over the printed rate; then of all rows with a bound of ours over that."""
    for row, part in errors[errors.table == table].groupby("row", sort=False):
        for name, limit, says in (("printed", ROWS[row].constant, supplied), ("proved", 1.0, amended)):
            if part[name].isna().any():
                continue
            worst = part.loc[(part.error / part[name]).idxmax()]
            what = f"{row}: largest error over the {name} one, {part['items'].min():g} to {part['items'].max():g} items"
            if says is supplied:
                what += ", all agree; the proof's constant, for any votes"
            yield says(what, worst.error / worst[name], "<=", limit, error=Z * worst.se / worst[name])


def _flatter(errors: pd.DataFrame, *rows: str) -> Iterator[Check]:
    """Whether errors rise more slowly than printed."""
    for row, fit in exponents(errors).set_index("row").loc[list(rows)].iterrows():
        what = f"{row}: measured exponent of m, less the printed one on the same sizes"
        yield amended(what, fit.measured - fit.printed, "<", 0, error=Z * fit.se)


@claim("alabi2022:table-1")
def check_table_1(errors: pd.DataFrame, fits: pd.DataFrame) -> Iterator[Check]:
    """Table 1: no constant for the approximate rows at large epsilon; explicit ones at epsilon 1; what is measured.

    The constants are those of the proofs: for the rows at ratio 1 + xi, 3/2 times all pairs times the mean noise at
    ratio 2; for the others those of Corollaries 6 and 7, and 1.
    """
    grown = gaussian_constant(1e5, DELTA) / gaussian_constant(10.0, DELTA)
    what = "Gaussian rows: least constant of their noise, δ = 10⁻⁶, growth from ε = 10 to ε = 10⁵"
    least = max(gaussian_constant(share * LOG, DELTA) for share in np.geomspace(1e-3, 1, 13))
    yield printed(what, grown, "<=", 1.0)
    yield supplied("the same constant, largest where ε ≤ log(1/δ)", least, "<=", 1 + math.sqrt(0.5))
    for row, most, what in (
        ("I, Gaussian", existing([DELTA]), "an exact order of the least Gaussian noise, ε ≤ 4 m log(1/δ)/log m"),
        ("II, Gaussian", scores_over(range(3, 101), [DELTA]) / 2, "twice: noisy Borda scores, ε ≤ 4 log m log(1/δ)"),
    ):
        yield amended(f"{row}, whatever the algorithm: proved error over the printed one, {what}", most, "<=", 1)
    yield from _within(errors, 1)
    yield from _flatter(errors, "I, Laplace", "I, Gaussian")
    yield from rates_checks(fits, 1)


@claim("alabi2022:table-2")
def check_table_2(errors: pd.DataFrame, fits: pd.DataFrame) -> Iterator[Check]:
    """Table 2: the cited randomiser at large epsilon; explicit constants at epsilon 1/10; what is measured."""
    lone = [epsilon * cube_excess(epsilon) for epsilon in LARGE]
    what = "first row, one voter, 3 items: K − OPT over m³/(ε√n), exponent in ε from 10 to 1000"
    yield printed(what, exponent(LARGE, lone), "<=", 0.0)
    yield from _within(errors, 2)
    yield from _flatter(errors, "local I")
    yield from rates_checks(fits, 2)


#: First and second reduction in each of the three settings.
PAIRED = {
    "pure": ("I, Laplace", "II, Laplace"),
    "approximate": ("I, Gaussian", "II, Gaussian"),
    "local": ("local I", "local II, ours"),
}


def printed_gain(setting: str, n_items: int) -> float:
    """Printed error of the first reduction over that of the second, constants taken as 1."""
    first, second = (ROWS[row.removesuffix(", ours")].printed(n_items) for row in PAIRED[setting])
    return first / second


def gains(errors: pd.DataFrame) -> pd.DataFrame:
    """Error of the first reduction over the second's: ``setting``, ``items``, ``gain``, ``se``, ``printed`` ratio."""
    parts = []
    for setting, rows in PAIRED.items():
        one, two = (errors[errors.row == row].set_index("items").sort_index() for row in rows)
        found = gain(one, two, "error")
        rate = [printed_gain(setting, m) for m in found.index]
        parts.append(found.assign(setting=setting, printed=rate).reset_index())
    return pd.concat(parts, ignore_index=True)[["setting", "items", "gain", "se", "printed"]]


@claim("alabi2022:sec-results:second-reduction")
def check_second_reduction(errors: pd.DataFrame) -> Iterator[Check]:
    """Does the second reduction improve on the first, in its bounds and in its errors?"""
    sizes, m = (10**2, 10**6), 10**10
    proved = NoisyMatrix(m, 2.0 * m, "gaussian", delta=DELTA, law="continuous").additive_error(1) / m**3
    what = f"approximate: error of I over m³ √(log(1/δ))/(εn), proved at most, m = {m:.0e}; 1/log m"
    yield printed(what, proved, ">=", 1 / math.log(m), reading="of the errors", error=1e-9 * proved)
    for setting, part in gains(errors).groupby("setting", sort=False):
        last = part.loc[part["items"].idxmax()]
        grown = exponent(sizes, [printed_gain(str(setting), m) for m in sizes])
        what = f"{setting}: bound of I over bound of II, exponent of m from {sizes[0]:,} to {sizes[1]:,} items"
        yield printed(what, grown, ">", 0, reading="of the bounds")
        what = f"{setting}: error of I over error of II, {last['items']:g} items, all voters agree"
        if setting == "pure":
            most = math.sqrt(last["items"])
            yield amended(f"{what}; against √m", last.gain, "<=", most, error=Z * last.se)
        else:
            yield printed(what, last.gain, ">", 1.0, reading="of the errors", error=Z * last.se)
            yield amended(what, last.gain, "<=", 1.0, error=Z * last.se)


def scaling(n_items: int, products: Iterable[float], points: int = 60) -> pd.DataFrame:
    """Worst error of the exponential mechanism over planted orders, exactly: ``epsilon n``, ``margin`` (the worst),
    ``error``, ``error × epsilon n``, ``share`` of all pairs.

    A share (1 + margin) / 2 of the voters has one order, the others its reverse. The order drawn has a Mallows law of
    parameter epsilon n margin / (2 pairs), and each of its inversions costs the margin.
    """
    pairs, rows = math.comb(n_items, 2), []
    for amount in products:
        errors = {
            margin: margin * Mallows(n_items, amount * margin / (2 * pairs)).distance_moments()[0]
            for margin in np.geomspace(1e-4, 1, points)
        }
        margin = max(errors, key=lambda g: errors[g])
        row = {"epsilon n": amount, "margin": margin, "error": errors[margin]}
        rows.append(row | {"error × epsilon n": errors[margin] * amount, "share": errors[margin] / pairs})
    return pd.DataFrame(rows)


ROW_LOOKS = {
    "I, Laplace": (COLOURS[0], "o"),
    "I, Gaussian": (COLOURS[0], "o"),
    "II, Laplace": (COLOURS[1], "s"),
    "II, Gaussian": (COLOURS[1], "s"),
    "exponential": (COLOURS[3], "^"),
    "scores, Laplace": (COLOURS[2], "D"),
    "scores, Gaussian": (COLOURS[2], "D"),
    "local I": (COLOURS[0], "o"),
    "local II": (COLOURS[1], "s"),
    "local II, ours": (COLOURS[4], "s"),
    "local scores": (COLOURS[2], "D"),
}
#: Factors that move marks aside which would hide others.
_ASIDE = {"I, Laplace": 0.9, "I, Gaussian": 0.9, "scores, Gaussian": 1.1, "local I": 0.9, "local scores": 1.1}
_TICKS = (0.2, 0.5, 1, 2, 5, 10, 20, 50)
#: Where the axis is too short for more than two of these.
_FINER = (0.5, 0.7, 1, 1.5, 2, 3)
#: Rows of a panel and their names: what errs on the same scale.
_PANELS = {
    "trusted, Laplace noise": {
        "I, Laplace": "noise on all pairs",
        "II, Laplace": "fewer questions",
        "exponential": "an order drawn, good ones likelier",
        "scores, Laplace": "noise on mean places",
    },
    "trusted, Gaussian noise": {
        "I, Gaussian": "noise on all pairs",
        "II, Gaussian": "fewer questions",
        "scores, Gaussian": "noise on mean places",
    },
    "nobody is trusted": {
        "local I": "noise on all pairs",
        "local II": "fewer questions",
        "local II, ours": "fewer questions, ours",
        "local scores": "noise on mean places",
    },
}


def _beside_printed(frame: pd.DataFrame, name: str) -> str:
    """How a method's error grows beside the printed one, from the fewest items to the most, in all panels."""
    rows = (row for panel in _PANELS.values() for row, called in panel.items() if called == name)
    parts = (frame[frame["row"] == row].sort_values("items") for row in rows)
    faster = {
        it["error"].iloc[-1] / it["error"].iloc[0] > it["printed"].iloc[-1] / it["printed"].iloc[0] for it in parts
    }
    return {True: "faster", False: "more slowly"}[faster.pop()] if len(faster) == 1 else "partly faster"


@styled
def draw_errors(frame: pd.DataFrame) -> Figure:
    """Measured errors over m^2.5 against the number of items; thin lines rise as the printed ones."""
    pairs, fewer = (_beside_printed(frame, name) for name in ("noise on all pairs", "fewer questions"))
    message = f"The error of noise on all pairs grows {pairs} than printed"
    figure, made = panels(len(_PANELS), message=message, height=3.3)
    ticks = sorted(frame["items"].unique())
    for axes, (title, rows) in zip(made, _PANELS.items(), strict=True):
        for row, name in rows.items():
            part, (colour, marker) = frame[frame["row"] == row], ROW_LOOKS[row]
            unit = part["items"] ** 2.5
            look: dict[str, Any] = {"color": colour, "marker": marker, "ls": "none", "capsize": 2, "label": name}
            beside = part["items"] * _ASIDE.get(row, 1)
            axes.errorbar(beside, part["error"] / unit, BAR * part["se"] / unit, **look)
            guide = part["printed"] * part["error"].iloc[0] / part["printed"].iloc[0]
            axes.plot(beside, guide / unit, color=colour, lw=0.8)
        axes.set(title=title, xscale="log", yscale="log")
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.set_xticks([], minor=True)
        low, high = axes.get_ylim()
        coarse, finer = ([it for it in ticks if low <= it <= high] for ticks in (_TICKS, _FINER))
        shown = coarse if len(coarse) > 2 else finer
        axes.set_yticks(shown, [f"{it:g}" for it in shown])
        axes.set_yticks([], minor=True)
    label_outer(made, "items m", "")
    for axes, voters in zip(made, ("voters", "voters", "√voters"), strict=True):
        axes.set_ylabel(f"wrong pairs × ε × {voters} / $m^{{2.5}}$")
    named = {name: it for axes in made for it, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    named["line: growth as printed"] = Line2D([], [], color="0.4", lw=0.8)
    key(figure, named.values(), named.keys(), columns=3)
    note(
        figure,
        "All voters agree; each point is at the number of voters that makes the error largest. Where points are level, "
        "the error grows like m to the power 2.5. Lines begin at the first point; a method without a line is not in "
        f"the paper. Fewer questions: only pairs that sorting asks about, whose error grows {fewer} than printed; "
        "ours: fresh voters for each question. Trusted: somebody sees all ballots and adds noise; nobody is trusted: "
        "each voter adds noise. Bars: 95 %.",
    )
    return figure
