"""The first two of many items are often exchanged, however far apart all strengths are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import ArrayLike

from companion.chapters.edge_privacy.estimation import rate
from companion.chapters.edge_privacy.ordering import swap_probability
from companion.instruments.style import COLOURS, name_lines, note, panels, styled
from companion.instruments.two_items import overtaken
from dprank.models.bradley_terry import LOGISTIC

#: A bound on the logistic link that (A1) allows: it asks for more than 1, and this is the least noise that is printed.
KAPPA_1 = 1.001
#: Gaps, in printed sums, and how the two kinds of items are named.
MULTIPLES = tuple(float(f"{10**power:.3g}") for power in np.linspace(-2, 2, 25))
ALL, FIRST = "all gaps this wide", "only the first is"


def exchanged(theta: ArrayLike, scale: float) -> float:
    """P(the perturbed MLE puts the second item before the first), exact, p = 1; strengths fall.

    Its order is that of wins less Laplace noise, and each of the other items adds -1, 0 or 1 to the first one's lead.
    """
    theta = np.asarray(theta, float)
    first, second = (LOGISTIC.cdf(theta[at] - theta[2:]) for at in (0, 1))
    lead = np.ones(1)
    for won, also in zip(first, second, strict=True):
        lead = np.convolve(lead, [(1 - won) * also, won * also + (1 - won) * (1 - also), won * (1 - also)])
    value = np.arange(len(lead)) - (len(theta) - 2)
    won = float(LOGISTIC.cdf(theta[0] - theta[1]))
    met = ((1, won), (-1, 1 - won))
    return float(sum(chance * (lead @ overtaken((value + direct) / scale)) for direct, chance in met))


def wide_gaps(sizes: Iterable[int], alone: int, epsilon: float) -> pd.DataFrame:
    """The first two exchanged, p = 1, the printed noise: ``kind``, ``items``, ``epsilon``, ``gap``, ``exchanged``.

    And ``multiple`` of the printed sum that the gap is: all neighbours are that far apart, for each of the `sizes`, or
    the first two only (`alone` items).
    """
    scale, rows = 8 * KAPPA_1 / epsilon, []
    for kind, n in [*((ALL, n) for n in sizes), (FIRST, alone)]:
        for c in MULTIPLES:
            gap = c * rate(n, 1.0, 1 / epsilon)
            chance = exchanged(-gap * np.arange(n), scale) if kind == ALL else swap_probability(n, gap, scale)
            rows.append((kind, n, epsilon, c, gap, chance))
    return pd.DataFrame(rows, columns=["kind", "items", "epsilon", "multiple", "gap", "exchanged"])


@styled
def draw_wide_gaps(frame: pd.DataFrame) -> Figure:
    """The chance against the width of the gaps, a line for each number of items; it falls only if one gap is wide."""
    message = "However wide all gaps are, the top two often change places"
    figure, (axes,) = panels(message=message, height=2.8)
    sizes = frame[frame.kind == ALL]["items"]
    names = {ALL: f"{ALL}: {sizes.min():,} to {sizes.max():,} items"}
    dashes = dict(zip(sizes.unique(), ("-", "--", ":"), strict=False))
    for (kind, n), part in frame.groupby(["kind", "items"], sort=False):
        colour, dash = (COLOURS[1], dashes[n]) if kind == ALL else (COLOURS[0], "-")
        said = names.pop(kind, "_") if kind == ALL else f"{kind}: {n:,} items"
        axes.plot(part.multiple, part.exchanged, color=colour, ls=dash, label=said)
    axes.set(xscale="log", xlim=(min(MULTIPLES), max(MULTIPLES)), ylim=(-0.03, 0.55))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.set_xlabel("width of a gap, in printed sums")
    axes.set_ylabel("chance that the second\ncomes out first")
    name_lines(axes)
    note(
        figure,
        "Favourites win ever more surely to the right. All pairs are compared once, ε = "
        f"{frame.epsilon.iloc[0]:g}, noise as printed. Printed sum: √(log n/n) + log n/(nε).",
    )
    return figure
