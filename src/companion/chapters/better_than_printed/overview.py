"""All gains in one table and one picture, and what did not pay."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from companion.chapters.better_than_printed import agreement, comparisons, consensus, selection, unpaid
from companion.chapters.better_than_printed.gain import OF_THE_BOOK, At, Gain
from companion.instruments.style import BAR, COLOURS, note, on_phone, panels, styled
from companion.ledger.card import Html, anchor
from companion.ledger.files import find_root, load_ledger
from companion.ledger.papers import PAPERS

__all__ = ["GAINS", "At", "catalogue", "draw_factors", "frame", "gains", "numbers", "shown", "unpaid_frame"]


def gains(at: At = OF_THE_BOOK) -> tuple[Gain, ...]:
    """All of them, at the sizes that a reader may set."""
    return (*comparisons.GAINS, *agreement.gains(at), *selection.gains(at), *consensus.gains(at))


GAINS = gains()
#: Where the audit of chapter 12 has a mechanism.
AUDIT = "12a-promises-and-bugs.html#the-routes-agree-exact-loss-and-closed-form"
_TICKS = (1, 2, 5, 10, 20, 50, 100, 1000)
_FEWER = (1, 2, 5, 10, 100, 1000)


def frame(repetitions: int = 200, gains: Iterable[Gain] = GAINS) -> pd.DataFrame:
    """A row a gain: its texts, ``factor``, ``low`` and ``high`` (95 %; alike where it is exact), ``exact``.

    Papers stay together, each from its largest factor to its least.
    """
    rows = []
    for gain in gains:
        value, log_se = gain.factor(repetitions)
        spread = math.exp(BAR * log_se)
        texts = {
            name: getattr(gain, name) for name in ("paper", "name", "claim", "prints", "ours", "mechanism", "proof")
        }
        rows.append(
            texts
            | {"at": gain.at, "measure": gain.measure, "where": gain.where, "factor": value}
            | {"low": value / spread, "high": value * spread, "exact": log_se == 0}
        )
    table = pd.DataFrame(rows)
    order = list(dict.fromkeys(table["paper"]))
    return table.sort_values(
        ["paper", "factor"], key=lambda it: it.map(order.index) if it.name == "paper" else -it, ignore_index=True
    )


def shown(factor: float, low: float, high: float) -> str:
    """A factor to three digits, with its error bar."""
    one, *bar = (f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in (factor, low, high))
    return one if low == high else f"{one} ({bar[0]} to {bar[1]})"


def catalogue(table: pd.DataFrame) -> Html:
    """The table for readers, with links to the claim, the proof and the audit."""
    ledger = load_ledger(find_root())
    body = []
    for row in table.itertuples():
        claim = ledger[row.claim]
        cells = (
            f'<a href="{claim.chapter}.html#{anchor(claim.id)}">{row.name}</a><br><small>{row.at}</small>',
            f'{row.prints}<br>→ {row.ours}<br><small><a href="{row.proof}">{row.mechanism}, proof</a> · '
            f'<a href="{AUDIT}">audit</a></small>',
            f"<strong>{shown(row.factor, row.low, row.high)}</strong> × {row.measure}",
            row.where,
        )
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("place", "printed → ours", "factor", "where"))
    return Html(f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>')


def unpaid_frame(repetitions: int = 200) -> pd.DataFrame:
    """What paid little or nothing: ``what``, ``at``, ``factor`` with its error bar, as text."""
    rows = []
    for name, at, factor in unpaid.rows(repetitions):
        spread = math.exp(BAR * factor.log_se)
        text = shown(factor.value, factor.value / spread, factor.value * spread)
        rows.append({"what": name, "at": at, "factor": text})
    return pd.DataFrame(rows)


def numbers(table: pd.DataFrame) -> dict[str, str]:
    """Of the table, as text."""
    exact = table[table["exact"]]
    largest = table.loc[table["factor"].idxmax()]
    return {
        "all": f"{len(table)}",
        "exact": f"{len(exact)}",
        "measured": f"{len(table) - len(exact)}",
        "median": f"{table['factor'].median():.1f}",
        "twice": f"{int((table['factor'] >= 2).sum())}",
        "largest": f"{largest['factor']:,.0f}",
        "largest-ours": str(largest["ours"]),
        "largest-prints": str(largest["prints"]),
        "always": f"{int(table['where'].str.startswith(('always', 'at every')).sum())}",
    } | {
        name: shown(row.factor, row.factor, row.factor)
        for name, row in (
            (mechanism, table[table["name"].str.startswith(start)].iloc[0]) for mechanism, start in _NAMED
        )
    }


#: Rows that sentences name.
_NAMED = (
    ("laplace", "Theorem 2.2, its own"),
    ("gumbel", "Theorem 2.2, Gumbel"),
    ("walk", "Theorem 3.5"),
    ("scores", "Corollary 3, noise on scores"),
    ("answer", "Algorithm 2"),
    ("public", "Algorithm 1, who compared what is public"),
    ("secret", "Algorithm 1, who compared what is secret"),
    ("bit", "Algorithm 5, one bit"),
)


@styled
def draw_factors(table: pd.DataFrame) -> Figure:
    """A dot a gain on a log axis, hollow with a bar where it was measured; papers in blocks."""
    papers = list(dict.fromkeys(table["paper"]))
    heights = [(table["paper"] == paper).sum() + 0.7 for paper in papers]
    message = f"{int((table['factor'] >= 2).sum())} of {len(table)} replacements are at least twice as good as printed"
    each = (0.36 if on_phone() else 0.24) * sum(heights) / len(papers) + 0.3
    shape: dict[str, Any] = {"columns": 1, "sharex": True, "height_ratios": heights}
    figure, made = panels(len(papers), message=message, height=each, **shape)
    for axes, paper, colour in zip(made, papers, COLOURS, strict=False):
        rows = table[table["paper"] == paper].reset_index(drop=True)
        for place, row in rows.iterrows():
            axes.plot([1, row["factor"]], [place, place], color=colour, lw=1, alpha=0.5)
            axes.plot([row["low"], row["high"]], [place, place], color=colour, lw=3, alpha=0.6)
            face = colour if row["exact"] else "none"
            axes.plot(row["factor"], place, "o", color=colour, markerfacecolor=face, markersize=6)
            number = f"{row['factor']:,.0f}" if row["factor"] >= 100 else f"{row['factor']:.2g}"
            gain = f"{number} × {row['measure']}"
            look: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8, "color": colour}
            if on_phone():
                axes.annotate(f"{row['name']}: {gain}", (1, place), (2, 6), **look)
            else:
                axes.annotate(gain, (max(row["high"], 2), place), (7, 0), va="center", **look)
        axes.set_yticks(range(len(rows)), [""] * len(rows) if on_phone() else rows["name"], fontsize=8)
        axes.set(ylim=(len(rows) - 0.5, -0.9), xscale="log", title=PAPERS[paper].name)
        axes.set_xlim(0.93, 4_000 if on_phone() else 40_000)
        axes.axvline(1, color="0.4", lw=1)
        axes.axvspan(1, 2, color="0.5", alpha=0.22, lw=0, zorder=0)
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_minor_locator(NullLocator())
        ticks = _FEWER if on_phone() else _TICKS
        axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    made[-1].set_xlabel("how many times better, at equal privacy")
    note(figure, "Shaded: less than twice as good. Full dots are exact; hollow ones were measured, with 95 % bars.")
    return figure
