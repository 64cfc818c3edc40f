"""Exact error on unanimous voters, and which design has least."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from companion.chapters.local_aggregation.local_answers import lemma_queries, one_pair_each, overload
from companion.instruments.style import BAR, CALIBRATION, COLOURS, key, label_outer, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import least
from companion.printed.alabi2022 import PrintedKwikSort, Report, algorithm_3, plus_chances
from dprank.aggregation.kwiksort import queries
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score
from dprank.aggregation.rules import borda
from dprank.models.draws import binomial


def wrong_chances(size: int, epsilon_0: float, report: Any) -> tuple[float, float]:
    """Chances that a block of unanimous voters misplaces an item that belongs before the pivot, and one behind it."""
    no, yes = plus_chances(epsilon_0, report)
    if report == "centred":
        low = stats.binom.cdf(math.ceil(size / 2) - 1, size, yes)
        wrong = float(low + (stats.binom.pmf(size // 2, size, yes) / 2 if size % 2 == 0 else 0))
        return wrong, wrong
    threshold = size / 2 * (1 + math.tanh(epsilon_0 / 2) / 2)
    return float(stats.binom.cdf(threshold, size, yes)), float(stats.binom.sf(threshold, size, no))


def placement_cost(n_items: int, before: float, behind: float) -> float:
    """Exact expected Kendall error of KwikSort, items `before` and `behind` the pivot erring with these chances.

    A call on u items is again one on a ranking, so the size of the left part is all that matters; its generating
    function is the mean over the pivot's place r of a^r b^(u-1-r), a and b being those of one item. O(items^2).
    """
    cost = np.zeros(n_items + 1)
    parts, power = np.ones(1), np.ones(1)
    for u in range(2, n_items + 1):
        power = np.convolve(power, [1 - behind, behind])
        parts = np.convolve(parts, [before, 1 - before]) + power
        crossing = before * (1 - before) + behind * (1 - behind) + before * behind
        here = (u - 1) / 2 * (before + behind) + (u - 1) * (u - 2) / 6 * crossing
        cost[u] = here + float((parts / u) @ (cost[:u] + cost[u - 1 :: -1]))
    return float(cost[n_items])


def form_of(design: LocalKwikSort) -> Report:
    """Of the reports of a design."""
    return design.report if isinstance(design, PrintedKwikSort) else "centred"


def design_cost(design: LocalKwikSort, voters: int) -> float:
    """Exact expected Kendall error of a design on unanimous voters; the rare runs out of answers are left out."""
    wrong = wrong_chances(voters // design.blocks, design.report_epsilon, form_of(design))
    return placement_cost(design.n_items, *wrong)


@cache
def designs(n_items: int, epsilon: float, tail: float = 1e-6) -> dict[str, LocalKwikSort]:
    """Algorithm 3 with its counter mended, the same with centred reports and exact constants, and ours.

    All spend epsilon on the reports and nothing on a fallback. The last one asks every voter about one pair in advance.
    """
    asked = queries(n_items, tail)
    reports = least(lambda k: overload(asked, n_items, k) <= tail, start=1)
    return {
        "as printed": algorithm_3(n_items, lemma_queries(n_items), epsilon, counter="query").mechanism,
        "corrected": PrintedKwikSort(n_items, epsilon / reports, reports, n_items, report="centred", counter="query"),
        "fresh blocks": LocalKwikSort.calibrated(n_items=n_items, epsilon=epsilon, tail=tail),
        "one pair each": one_pair_each(n_items, epsilon),
    }


def cost_curves(n_items: Iterable[int], epsilon: float, points: int = 25) -> pd.DataFrame:
    """Exact expected error on unanimous voters: ``items``, ``design``, ``voters``, ``error`` (share of all pairs)."""
    return pd.DataFrame(
        {"items": m, "design": name, "voters": int(n), "error": design_cost(design, int(n)) / math.comb(m, 2)}
        for m in n_items
        for name, design in designs(m, epsilon).items()
        for n in np.geomspace(max(design.blocks, 100), 1e8, points).astype(int)
    )


def matrix_costs(n_items: int, voters: int, epsilon: float, repetitions: int, rng: np.random.Generator) -> Any:
    """Errors of Borda's order of the noisy matrix: unanimous voters, asked about one pair each, told in advance."""
    pairs, first = math.comb(n_items, 2), np.triu_indices(n_items, 1)
    errors, truth = np.empty(repetitions), np.triu(np.ones((n_items, n_items)), 1)
    for r in range(repetitions):
        plus = binomial(voters // pairs, plus_chances(epsilon, "centred")[1], pairs, rng=rng) / (voters // pairs)
        w = np.zeros((n_items, n_items))
        w[first], w.T[first] = plus, 1 - plus
        errors[r] = kemeny_score(borda(w + 1e-9 * rng.random(w.shape)), truth) / pairs
    return errors


def matrix_curve(n_items: Iterable[int], epsilon: float, repetitions: int, points: int = 7) -> pd.DataFrame:
    """`matrix_costs` over a grid of voters, with standard errors: columns of `cost_curves`, ``mean`` and ``se``."""
    cells = [
        {"n_items": m, "voters": int(n), "epsilon": epsilon}
        for m in n_items
        for n in np.geomspace(max(math.comb(m, 2), 100), 3e4 * m, points)
    ]
    frame = sweep(matrix_costs, cells, experiment="blocks: matrix", repetitions=repetitions)
    return frame.rename(columns={"n_items": "items"}).assign(design="matrix")


def overtaking(simulated: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """From how many voters on KwikSort errs less than Borda's order in `matrix_curve`, interpolated in logarithms:
    ``items``, ``fresh blocks``, ``one pair each``; ``share`` of wrong pairs where fresh blocks draw level.
    """
    rows = []
    for m, seen in simulated[simulated["mean"] > 0].groupby("items"):
        row: dict[str, float] = {"items": m}
        size, other = np.log(seen["voters"].to_numpy(float)), np.log(seen["mean"].to_numpy())
        for name in ("fresh blocks", "one pair each"):
            design = designs(m, epsilon)[name]
            own = np.log([max(design_cost(design, n) / math.comb(m, 2), 1e-300) for n in seen["voters"]])
            gap = other - own
            after = int(np.argmax(gap > 0))
            part = gap[after] / (gap[after] - gap[after - 1]) if after else 0.0
            row[name] = round(math.exp(size[after] - part * (size[after] - size[max(after - 1, 0)])))
            if name == "fresh blocks":
                row["share"] = math.exp(other[after] - part * (other[after] - other[max(after - 1, 0)]))
        rows.append(row)
    return pd.DataFrame(rows)


def voters_needed(n_items: Iterable[int], epsilon: float, share: float = 0.25) -> pd.DataFrame:
    """Unanimous voters, within 1 %, from which a design misplaces a smaller share of all pairs: ``items``, a column a
    design, and the mean number of ``rounds`` of KwikSort when all calls of one depth are made at once.
    """
    rows = []
    for m in n_items:
        row: dict[str, float] = {"items": m}
        for name, design in designs(m, epsilon).items():
            good = share * math.comb(m, 2)
            row[name] = least(lambda n, d=design, g=good: design_cost(d, n) <= g, design.blocks, 0.01)  # type: ignore[misc]
        rows.append(row | {"rounds": mean_rounds(m)})
    return pd.DataFrame(rows)


def told(simulated: pd.DataFrame, n_items: int, epsilon: float, share: float) -> dict[str, str]:
    """What the road says of so many ``items``: voters until no more than ``share`` of the pairs are wrong, ``printed``
    and ``fresh``; ``reports`` a voter as printed; what ``borda`` has wrong at first, of `matrix_curve`.
    """
    voters = voters_needed([n_items], epsilon, share).iloc[0]
    first = simulated.groupby("items")["mean"].first().max()
    numbers = {"items": f"{n_items}", "epsilon": f"{epsilon:g}", "share": f"{100 * share:g} %"}
    numbers |= {"borda": f"{100 * first:.0f} %", "reports": f"{designs(n_items, epsilon)['as printed'].reports}"}
    for name, design in (("printed", "as printed"), ("fresh", "fresh blocks")):
        numbers[name] = f"{float(f'{voters[design]:.3g}'):,.0f}"
    return numbers


def mean_rounds(n_items: int) -> float:
    """Mean depth of KwikSort's recursion on a tournament without cycles, calls on fewer than two items not counted."""
    within = np.zeros((n_items + 1, n_items + 1))  # chance that a call on u items takes at most k rounds
    within[:2] = 1
    for u in range(2, n_items + 1):
        within[u, 1:] = (within[:u, :-1] * within[u - 1 :: -1, :-1][:u]).mean(axis=0)
    return float((1 - within[n_items]).sum())


_LOOK = {
    "as printed": ("KwikSort as printed", CALIBRATION["as printed"]["color"], "-"),
    "corrected": ("KwikSort as corrected", CALIBRATION["corrected"]["color"], "-"),
    "fresh blocks": ("KwikSort, fresh voters for each question", COLOURS[2], "-"),
    "one pair each": ("KwikSort, each voter one pair, fixed before", COLOURS[3], "--"),
}


@styled
def draw_cost_curves(frame: pd.DataFrame) -> Figure:
    """Exact error of the designs against the number of voters, a panel a number of items; Borda's with 95 % bars."""
    message = "As printed, KwikSort needs far more voters than with fresh voters"
    figure, made = panels(frame["items"].nunique(), message=message, height=2.9, sharey=True)
    for axes, (items, part) in zip(made, frame.groupby("items"), strict=True):
        for design, (label, colour, line) in _LOOK.items():
            curve = part[part.design == design]
            axes.plot(
                curve.voters, curve.error, line, color=colour, label=label, lw=3 if design == "fresh blocks" else 1.6
            )
        seen = part[part.design == "matrix"]
        bars: dict[str, Any] = {"ls": "", "marker": "v", "color": COLOURS[4], "capsize": 2}
        axes.errorbar(seen.voters, seen["mean"], BAR * seen.se, label="Borda order, each voter one pair", **bars)
        axes.axhline(0.5, color="black", lw=1, ls=":")
        axes.set(title=f"{items} items", xscale="log", ylim=(0, 0.55))
    made[0].annotate("a coin", (1, 0.5), (-3, 3), ("axes fraction", "data"), "offset points", ha="right")
    label_outer(made, "voters (all of one mind)", "share of pairs in the wrong order")
    key(figure, *made[0].get_legend_handles_labels(), columns=2)
    return figure
