"""Experiment 4: the oneshot algorithm as the authors ran it, beside counts and MLE."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.edge_privacy.comparisons import edge_mle, noisy_wins
from companion.instruments.allowance import Z
from companion.instruments.loss_curves import AXES, band, label_of
from companion.instruments.strengths import Draws, centred, missed, strengths, top_size
from companion.instruments.style import COLOURS, key, label_outer, panels, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, claim, content, printed
from companion.printed.cai2025_curves import figure_4


def transition_matrix(won: NDArray[np.float32]) -> NDArray[np.float64]:
    """Rank centrality's chain on a complete graph: from i to j with probability 1 / n if j beat i (``won[j, i]``)."""
    chain = won.T.astype(float) / len(won)
    np.fill_diagonal(chain, 1 - chain.sum(1))
    return chain


def ergodicity(won: NDArray[np.float32]) -> float:
    """Half the largest l1 distance of two rows of `transition_matrix`, O(items^3) in one matrix product.

    Two rows differ by the items that beat one of the two only, by the winner of the two, and on their diagonals.
    """
    n = len(won)
    lost = won.sum(0)
    apart = lost[:, None] + lost - 2 * (won.T @ won)
    stay = n - lost
    # the entries of the two items themselves, where one row has its diagonal
    own = np.abs(stay[:, None] - won) + np.abs(stay - won.T)
    total = apart - won - won.T + own
    np.fill_diagonal(total, 0)
    return float(total.max() / (2 * n))


def stationary(chain: NDArray[np.float64], tolerance: float = 1e-12) -> NDArray[np.float64]:
    """Stationary distribution by power iteration, to an l1 change below the tolerance."""
    law = np.full(len(chain), 1 / len(chain))
    for _ in range(10_000):
        new = law @ chain
        if np.abs(new - law).sum() < tolerance:
            return np.asarray(new / new.sum())
        law = new
    raise ArithmeticError(f"the chain of {len(chain)} items does not settle")


def oneshot_scale(n: int, k: int, rho: float, epsilon: float) -> float:
    """Laplace scale 8 s sqrt(k log(n / delta)) / epsilon, s = 2 / (n (1 - rho)) and delta = n^-2, as run.

    rho comes from the answers, so the scale tells of them. The released set alone is private for epsilon up to 0.2: it
    is that of the shares times 1 - rho, at a scale that no answer moves (chapter 8).
    """
    return 0.0 if math.isinf(epsilon) else 16 / (n * (1 - rho)) * math.sqrt(3 * k * math.log(n)) / epsilon


def oneshot_draws(n: int, *, epsilons: Sequence[float], repetitions: int, rng: np.random.Generator) -> Draws:
    """Share of the top k missed at p = 1, by epsilon and method, oneshot as the authors ran it.

    "oneshot less ..." are differences on the same data, "noise / spread" is the scale of oneshot's noise over the
    standard deviation of its scores.
    """
    draws: Draws = {}
    k, upper = top_size(n), np.triu_indices(n, 1)
    complete = 1 - np.eye(n, dtype=np.float32)
    for row in range(repetitions):
        truth = centred(strengths(n, rng=rng)[:, ::-1])
        won = np.zeros((n, n), np.float32)
        gap = (truth[0][:, None] - truth[0])[upper]
        won[upper] = rng.random(len(gap)) * (1 + np.exp(-gap)) < 1
        won.T[upper] = 1 - won[upper]
        score, rho = stationary(transition_matrix(won)), ergodicity(won)
        wins = won.sum(1, dtype=float)[None]
        seed, chance = int(rng.integers(2**62)), rng.random((1, n))
        for epsilon in epsilons:
            again = [np.random.default_rng([seed, which]) for which in range(3)]
            scale = oneshot_scale(n, k, rho, epsilon)
            scores = {
                "counts": wins + noisy_wins(epsilon, n).perturb(np.zeros(n), again[0], 1),
                "MLE": edge_mle(epsilon, n, 1.0).estimate(complete, wins, again[1]),
                # shares of a stationary distribution are small: in units of 1 / n^2 for the breaking of ties
                "oneshot": n**2 * (score + again[2].laplace(0.0, scale, n))[None],
            }
            share = {method: missed(value, truth, chance)[0] for method, value in scores.items()}
            less = {f"oneshot less {method}": share["oneshot"] - share[method] for method in ("counts", "MLE")}
            for name, value in {**share, **less, "noise / spread": scale / score.std()}.items():
                draws.setdefault((epsilon, name), np.empty(repetitions))[row] = value
    return draws


def oneshot(sizes: Iterable[int], epsilons: Sequence[float], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Experiment 4: ``n``, ``epsilon``, ``method``, ``mean``, ``se``; ``chance``, the share a blind guess misses."""
    frame = sweep(
        partial(oneshot_draws, epsilons=epsilons),
        [{"n": int(n)} for n in sizes],
        experiment="cai2025 oneshot",
        repetitions=repetitions,
        outcomes=("epsilon", "method"),
        jobs=jobs,
    )
    return frame.assign(chance=[1 - top_size(n) / n for n in frame.n])


@claim("cai2025:exp-4")
def check_exp_4(frame: pd.DataFrame) -> Iterator[Check]:
    """In Experiment 4."""
    yield from oneshot_checks(frame)


def oneshot_checks(frame: pd.DataFrame) -> Iterator[Check]:
    """Counts and MLE against oneshot as run, and what is left of oneshot under its noise."""
    noisy = frame[np.isfinite(frame.epsilon)].set_index(["n", "epsilon"])
    for method in ("counts", "MLE"):
        less = noisy[noisy.method == f"oneshot less {method}"]
        size, epsilon = where = (less["mean"] - Z * less.se).idxmin()
        what = f"{method}, n = {size}, ε = {epsilon:g}: how much more oneshot misses, least certain of {len(less)}"
        yield printed(what, less["mean"][where], ">", 0, error=Z * less.se[where])
    ratio = noisy[noisy.method == "noise / spread"]["mean"]
    size, epsilon = ratio.idxmin()
    what = f"oneshot, n = {size}, ε = {epsilon:g}: noise over the spread of its scores, least of {len(ratio)}"
    yield content(what, ratio.min(), "<", 1)
    yield amended(what, ratio.min(), ">", 100)
    free = frame[np.isinf(frame.epsilon)].set_index("n")
    gap = free[free.method == "oneshot less counts"]
    size = (gap["mean"] + Z * gap.se).idxmax()
    what = f"without noise, n = {size}: what rank centrality misses more than counts"
    yield amended(what, gap["mean"][size], "<=", 0.06, error=Z * gap.se[size])


def with_published(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame of `oneshot` and the points of Figure 4 within it: ``source`` is "ours" or "published"."""
    known = figure_4()
    known = known[known.n.between(frame.n.min(), frame.n.max()) & known.epsilon.isin(frame.epsilon)]
    return pd.concat([frame.assign(source="ours"), known.assign(source="published")], ignore_index=True)


#: How the figure names and draws a method.
_LOOKS: dict[str, tuple[str, str, str]] = {
    "oneshot": ("oneshot", COLOURS[2], "D"),
    "MLE": ("estimator", COLOURS[1], "s"),
    "counts": ("counting", COLOURS[0], "o"),
}


@styled
def draw_oneshot(frame: pd.DataFrame) -> Figure:
    """Share of the top k missed by three methods against the number of items, a panel an epsilon (Figure 4)."""
    groups = list(frame[frame.method.isin(_LOOKS)].groupby("epsilon"))
    message = "With its noise, oneshot finds no more than a blind guess"
    figure, made = panels(len(groups), message=message, height=2.7, sharey=True)
    for axes, (epsilon, rows) in zip(made, groups, strict=True):
        for method, (name, colour, marker) in _LOOKS.items():
            ours, known = (rows[(rows.method == method) & (rows.source == which)] for which in ("ours", "published"))
            band(axes, ours.n, ours, color=colour, marker=marker, ms=3.5, label=name)
            axes.plot(known.n, known["mean"], "kx", ms=8, mew=1.8, label="_")
        blind = rows[rows.source == "ours"]
        axes.plot(blind.n, blind.chance, color="black", lw=1, ls="--", label="blind guess")
        if math.isinf(epsilon):
            middle = blind.iloc[len(blind) // 2]
            axes.annotate("all three", (middle.n, middle["mean"]), (0, 8), textcoords="offset points", ha="center")
        axes.set(title="without noise" if math.isinf(epsilon) else f"ε = {label_of(epsilon)}", ylim=(0, 0.85))
    made[0].plot([], [], "kx", ms=8, mew=1.8, label="published")
    label_outer(made, AXES["n"], "share of the best missed")
    key(figure, *made[0].get_legend_handles_labels(), columns=5)
    return figure
