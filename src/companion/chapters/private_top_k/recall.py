"""How much of the true top k every mechanism finds, at equal privacy (companion to Section 2 of the paper)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray
from scipy.special import comb

from companion.instruments import style
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import sweep
from companion.instruments.topk import NAMES, panels, printed_scale, theorem_2_1
from dprank.topk.noise_laws import LAWS, Noise
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling

#: Noise beyond so many scales changes a recall by less than 1e-9.
_REACH = 25.0
#: What is compared: the name a reader sees, and the mechanism at (k, epsilon, delta, number of items). "Ours" is the
#: smaller noise of our bound and of Theorem 2.1.
MECHANISMS: dict[str, Callable[[int, float, float, int], Oneshot | Peeling]] = {
    "Laplace, Theorem 2.1": lambda k, epsilon, delta, m: Oneshot(k, theorem_2_1(k, epsilon)),
    "Laplace, Theorem 2.2": lambda k, epsilon, delta, m: Oneshot(k, printed_scale(k, epsilon, delta, m)),
    "Laplace, ours": lambda k, epsilon, delta, m: Oneshot.calibrated(epsilon=epsilon, delta=delta, k=k),
    "Gumbel": lambda k, epsilon, delta, m: Oneshot.calibrated(epsilon=epsilon, delta=delta, k=k, noise="gumbel"),
    "exponential, pure": lambda k, epsilon, delta, m: Oneshot.calibrated(epsilon=epsilon, k=k, noise="exponential"),
    "peeling, Laplace": lambda k, epsilon, delta, m: Peeling.calibrated(
        epsilon=epsilon, delta=delta, k=k, noise="laplace", composition="optimal"
    ),
}


def zipf(n_items: int, total: int) -> NDArray[np.int64]:
    """Counts that follow Zipf's law: item i has total / i, i = 1 .. n_items, rounded."""
    return np.rint(total / np.arange(1, n_items + 1)).astype(np.int64)


def recall_draws(
    n_items: int, total: int, k: int, epsilon: float, delta: float, mechanism: str, *, repetitions: int, rng: Generator
) -> NDArray[np.float64]:
    """Share of the true top k that a release finds; the first k of `zipf` are the true ones."""
    counts = zipf(n_items, total)
    one = replace(MECHANISMS[mechanism](k, epsilon, delta, n_items), n_items=n_items)
    return np.array([(one.release(counts, rng).items < k).mean() for _ in range(repetitions)])


def recall(
    ks: Iterable[int],
    epsilons: Iterable[float],
    *,
    repetitions: int,
    n_items: int = 5000,
    total: int = 20_000,
    delta: float = 1e-6,
    jobs: int = 1,
) -> pd.DataFrame:
    """Mean recall of many releases: ``k``, ``epsilon``, ``mechanism``, ``mean``, ``se``, ``scale`` of the noise."""
    common: dict[str, Any] = {"n_items": n_items, "total": total, "delta": delta}
    cells = [
        common | {"k": k, "epsilon": epsilon, "mechanism": mechanism}
        for k, epsilon, mechanism in product(ks, epsilons, MECHANISMS)
    ]
    frame = sweep(recall_draws, cells, experiment="qiao2021 recall", repetitions=repetitions, jobs=jobs)
    scales = [MECHANISMS[cell.mechanism](cell.k, cell.epsilon, delta, n_items).scale for cell in frame.itertuples()]
    return frame.assign(scale=scales)


def exact_recall(values: ArrayLike, k: int, scale: float, noise: Noise) -> float:
    """Expected share of the first k items, the largest, among the noisy k largest; values in falling order.

    Given an item's noisy value the number of others above it, fewer than k if it is selected, is a sum of independent
    events, whose law is built from groups of equal values.
    """
    x, law = np.asarray(values, float) / scale, LAWS[noise]
    groups, found, n = np.unique(x, return_counts=True), 0.0, np.arange(k)
    for best, count in zip(*np.unique(x[:k], return_counts=True), strict=True):
        half, at, weight = panels(x[np.abs(x - best) < _REACH], best - _REACH, best + _REACH)
        v, mass = at.ravel(), (half * weight).ravel()
        law_above = np.zeros((k, v.size))  # of how many others lie above v, below k
        law_above[0] = 1.0
        for value, size in zip(*groups, strict=True):
            others = size - (value == best)
            above, below = np.exp(law.log_above(v - value)), np.exp(law.log_below(v - value))
            some = n[n <= others, None]
            group = comb(others, some) * above**some * below ** (others - some)
            shifted = [np.pad(law_above[: k - j] * part, ((j, 0), (0, 0))) for j, part in enumerate(group)]
            law_above = np.sum(shifted, axis=0)
        found += count * float(mass @ (np.exp(law.log_density(v - best)) * law_above.sum(0)))
    return found / k


def short_lists(
    ks: Iterable[int], totals: Iterable[int], *, n_items: int = 5000, epsilon: float = 0.2, delta: float = 1e-6
) -> pd.DataFrame:
    """Exact recall of short lists from `zipf` at proved scales: ``N`` (the largest count), ``k``, a column a law."""
    rows = []
    for total, k in product(totals, ks):
        row: dict[str, float] = {"N": total, "k": k}
        for noise, name in NAMES.items():
            scale = Oneshot.calibrated(epsilon=epsilon, delta=delta, k=k, noise=noise).scale
            row[name] = exact_recall(zipf(n_items, total), k, scale, noise)
        rows.append(row)
    return pd.DataFrame(rows)


_LOOKS = {
    "Laplace, Theorem 2.1": {"color": COLOURS[0], "marker": "^", "linestyle": "--"},
    "Laplace, Theorem 2.2": CALIBRATION["as printed"],
    "Laplace, ours": CALIBRATION["corrected"],
    "Gumbel": CALIBRATION["net wins"],
    "exponential, pure": {"color": COLOURS[3], "marker": "v"},
    "peeling, Laplace": {"color": COLOURS[5], "marker": "x", "linestyle": "-."},
}


@styled
def draw_recall(frame: pd.DataFrame) -> Figure:
    """Share of the true top k found, against epsilon at one k and against k at one epsilon."""
    message = "Wherever mechanisms clearly differ, Gumbel noise finds the most of the list"
    figure, made = style.panels(2, message=message, height=3.0, sharey=True)
    words = {"k": "items selected", "epsilon": "privacy loss allowed, ε"}
    for axes, along, fixed in zip(made, ("epsilon", "k"), ("k", "epsilon"), strict=True):
        part = frame[frame.panel == along].sort_values(along, kind="stable")
        for name, rows in part.groupby("mechanism", sort=False):
            axes.errorbar(rows[along], rows["mean"], BAR * rows.se, label=name, capsize=2, **_LOOKS[str(name)])
        value = part[fixed].iloc[0]
        axes.set(title=f"{value:g} items selected" if fixed == "k" else f"ε = {value:g}", xlabel=words[along])
        axes.set(xscale="log", ylim=(0, 1.02), ylabel="share of the true list found")
        axes.set_xticks(part[along].unique(), [f"{v:g}" for v in part[along].unique()])
        axes.minorticks_off()
    style.key(figure, *made[0].get_legend_handles_labels(), columns=3)
    return figure
