"""The rows of Tables 1 and 2: what each prints, what is proved, and the error that each has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from companion.chapters.local_aggregation.local_answers import PER_QUERY
from companion.chapters.local_aggregation.local_bounds import fresh_error
from companion.chapters.local_aggregation.local_costs import design_cost, designs
from companion.chapters.private_aggregation import borda_guarantee
from companion.chapters.private_aggregation.second_gain import worst_errors
from companion.instruments.aggregation import best_order, exponential_needs, matrix_error, one_pair_error, printed_rate
from companion.instruments.sweep import sweep
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.randomisers import SampledOrder
from dprank.aggregation.rules import borda
from dprank.models.draws import multinomial
from dprank.models.mallows import Mallows

#: Of the approximate rows.
DELTA = 1e-6
#: At which errors are measured, central and local; other epsilons follow from the scaling, see the chapter.
EPSILON, LOCAL_EPSILON = 1.0, 0.1


@dataclass(frozen=True)
class Row:
    """A mechanism of a table or beside it, and bounds of its error by number of items.

    `corollary`: which prints it, with the `constant` that a proof allows for its O(); `proved`: ours for one voter, at
    `EPSILON` or `LOCAL_EPSILON`.
    """

    table: int
    corollary: int = 0
    constant: float = math.inf
    proved: Callable[[int], float] | None = None

    def printed(self, n_items: int) -> float:
        """The printed error times epsilon n or epsilon sqrt(n), its constant taken as 1."""
        return printed_rate(self.corollary, n_items, 1.0, DELTA) if self.corollary else math.nan


def _fresh(n_items: int) -> float:
    """Proved additive error of KwikSort with fresh blocks, times sqrt(n)."""
    blocks = designs(n_items, LOCAL_EPSILON)["fresh blocks"].blocks
    return fresh_error(n_items, LOCAL_EPSILON, 1) * math.sqrt(blocks)


LOG = math.log(1 / DELTA)

#: The rows of both tables, and noisy Borda scores beside them.
ROWS = {
    "I, Laplace": Row(1, 3, 0.75, lambda m: matrix_error(m, EPSILON)),
    "I, Gaussian": Row(1, 4, 1.5, lambda m: matrix_error(m, EPSILON, DELTA)),
    "II, Laplace": Row(1, 6, 33.0),
    "II, Gaussian": Row(1, 7, 18.0),
    # the printed error of Hay et al. is that of Corollary 6
    "exponential": Row(1, 6, 1.0, lambda m: exponential_needs(m, 1.0)),
    "scores, Laplace": Row(1, proved=lambda m: borda_guarantee.additive("central", m, EPSILON)),
    "scores, Gaussian": Row(1, proved=lambda m: borda_guarantee.additive("central", m, EPSILON, DELTA)),
    "local I": Row(2, 9, 1.5, lambda m: one_pair_error(m, LOCAL_EPSILON)),
    "local II, ours": Row(2, proved=_fresh),
    "local II": Row(2, 12, 11 * PER_QUERY),
    "local scores": Row(2, proved=lambda m: borda_guarantee.additive("local", m, LOCAL_EPSILON)),
}


def exponential_error(n_items: int) -> float:
    """Worst K times epsilon n of the exponential mechanism where all voters agree, exactly.

    It then draws a Mallows law: of parameter x where epsilon n = 2 pairs x.
    """

    def negative(log: float) -> float:
        return -math.exp(log) * Mallows(n_items, math.exp(log)).distance_moments()[0]

    return -2 * math.comb(n_items, 2) * float(minimize_scalar(negative, bounds=(-6, 3), method="bounded").fun)


def scores_error(n_items: int, delta: float) -> float:
    """Worst K times epsilon n of noisy Borda scores where all voters agree, exactly, over a grid of numbers of voters.

    Sums of places k apart in the order differ by k n, and change places with the chance that the difference of two
    noises exceeds that.
    """
    scale = PrivateBorda.calibrated(n_items=n_items, epsilon=EPSILON, delta=delta, law="continuous").scale
    gaps = np.arange(1, n_items)
    step = np.geomspace(0.1, 4, 60)[:, None] / math.sqrt(n_items)
    wrong = norm.sf(gaps * step / math.sqrt(2)) if delta else (1 + gaps * step / 2) * np.exp(-gaps * step) / 2
    return float(((wrong * (n_items - gaps)).sum(axis=1) * step[:, 0]).max()) * scale * EPSILON


def _worst_design(n_items: int, design: LocalKwikSort) -> float:
    """Worst K times epsilon sqrt(n) of a design for KwikSort, exactly, where all voters agree."""
    unit = 1 / math.tanh(design.report_epsilon / 2) ** 2
    sizes = np.unique(np.geomspace(0.1 * unit, 20 * unit, 24).astype(int) + 1)
    voters = sizes * design.blocks
    return max(LOCAL_EPSILON * design_cost(design, int(n)) * math.sqrt(n) for n in voters)


def one_pair_margins(
    margins: NDArray[np.float64], voters: int, epsilon: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Estimated margins from one random pair a voter, for voters drawn from a law with such margins; exact law.

    Every voter sends one of the m (m - 1) signed pairs, so that the counts are multinomial. (Where all voters agree
    this is the law for the voters given, too.)
    """
    report = SampledOrder.calibrated(n_items=len(margins), epsilon=epsilon, length=2)
    off = ~np.eye(len(margins), dtype=bool)
    sent = np.zeros(margins.shape)
    sent[off] = multinomial(voters, (1 + report.shrinkage * margins[off]) / 2 / report.n_pairs, rng=rng)
    return (sent - sent.T) / (voters * report.chance * report.shrinkage)


def pair_order(row: str, margins: NDArray[np.float64]) -> NDArray[np.int64]:
    """How the rows that estimate margins from one pair a voter order them."""
    return best_order(margins) if row == "local I" else borda(margins)


def local_error(
    row: str, n_items: int, signal: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K times epsilon sqrt(n) from one pair a voter, all agreeing; `signal`: a margin over its estimate's deviation."""
    voters = math.ceil(SampledOrder.calibrated(n_items=n_items, epsilon=LOCAL_EPSILON, length=2).variance * signal**2)
    true = np.sign(np.arange(n_items) - np.arange(n_items)[:, None]).astype(float)
    wrong = np.empty(repetitions)
    for r in range(repetitions):
        names = rng.permutation(n_items)  # ties must not know the order
        seen = one_pair_margins(true[np.ix_(names, names)], voters, LOCAL_EPSILON, rng)
        wrong[r] = kemeny_score(names[pair_order(row, seen)], (1 + true) / 2)
    return LOCAL_EPSILON * math.sqrt(voters) * wrong


def measured(sizes: Sequence[int], repetitions: int) -> pd.DataFrame:
    """Worst errors found where all voters agree: ``row``, ``items``, ``error`` and ``se``, times epsilon n or epsilon
    sqrt(n), bounds ``printed`` and ``proved`` in the same unit (missing where there is none), ``table``.
    """
    noises = {0.0: "Laplace", DELTA: "Gaussian"}
    parts: list[dict[str, Any]] = [
        {"row": f"{r.reduction}, {noises[r.delta]}", "items": r.n_items, "error": r.mean, "se": r.se}
        for r in worst_errors(sizes, list(noises), repetitions).itertuples()
    ]
    for m in sizes:
        design = designs(m, LOCAL_EPSILON)
        exact = {
            "exponential": exponential_error(m),
            "scores, Laplace": scores_error(m, 0.0),
            "scores, Gaussian": scores_error(m, DELTA),
            "local II, ours": _worst_design(m, design["fresh blocks"]),
            "local II": _worst_design(m, design["as printed"]),
        }
        parts += [{"row": row, "items": m, "error": error, "se": 0.0} for row, error in exact.items()]
    signals = {"local I": (1.0, 1.5, 2.0, 3.0, 4.0), "local scores": (0.3, 0.6, 1.2)}
    cells = [
        {"row": row, "n_items": m, "signal": s / (math.sqrt(m) if row == "local I" else 1.0)}
        for row, m in product(signals, sizes)
        for s in signals[row]
    ]
    seen = sweep(local_error, cells, experiment="alabi2022: table 2", repetitions=repetitions)
    worst = seen.loc[seen.groupby(["row", "n_items"])["mean"].idxmax()]
    worst = worst.rename(columns={"n_items": "items", "mean": "error"})[["row", "items", "error", "se"]]
    frame = pd.concat([pd.DataFrame(parts), worst], ignore_index=True)
    tables = [ROWS[row].table for row in frame.row]
    bounds = [(ROWS[row], m) for row, m in zip(frame.row, frame["items"], strict=True)]
    proved = np.array([row.proved(m) if row.proved else math.nan for row, m in bounds])
    proved *= np.where(np.equal(tables, 1), EPSILON, LOCAL_EPSILON)
    return frame.assign(printed=[row.printed(m) for row, m in bounds], proved=proved, table=tables)


def slope(sizes: Sequence[int], errors: Sequence[float], ses: Sequence[float]) -> tuple[float, float]:
    """Exponent of m, least squares on logarithms with equal weights, and its standard error."""
    x = np.log(np.asarray(sizes, float))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    relative = np.asarray(ses, float) / np.asarray(errors, float)
    return float(weights @ np.log(np.asarray(errors, float))), float(np.sqrt((weights**2) @ relative**2))
