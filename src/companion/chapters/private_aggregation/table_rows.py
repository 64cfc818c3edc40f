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

from companion.chapters.private_aggregation import borda_guarantee
from companion.chapters.private_aggregation.local_answers import PER_QUERY
from companion.chapters.private_aggregation.local_bounds import fresh_error
from companion.chapters.private_aggregation.local_costs import design_cost, designs
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


# --- the errors of the tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A mechanism in one of the two tables, or beside them.

    Parameters
    ----------
    table : int
    printed : callable or None
        From the number of items to the printed error, times epsilon n or epsilon sqrt(n), its constant taken as 1.
    proved : callable or None
        The same of a bound proved in the chapter, with its constant.
    constant : float
        What a proof allows for the printed O(), see `check_table_1` and `check_table_2`.
    """

    table: int
    printed: Callable[[int], float] | None = None
    proved: Callable[[int], float] | None = None
    constant: float = math.inf


LOG = math.log(1 / DELTA)

#: The rows of both tables, and noisy Borda scores beside them.
ROWS = {
    "I, Laplace": Row(1, lambda m: printed_rate(3, m), lambda m: EPSILON * matrix_error(m, EPSILON), constant=0.75),
    "I, Gaussian": Row(
        1, lambda m: printed_rate(4, m, 1.0, DELTA), lambda m: EPSILON * matrix_error(m, EPSILON, DELTA), constant=1.5
    ),
    "II, Laplace": Row(1, lambda m: printed_rate(6, m), constant=33.0),
    "II, Gaussian": Row(1, lambda m: printed_rate(7, m, 1.0, DELTA), constant=18.0),
    # the printed error of Hay et al. is that of Corollary 6
    "exponential": Row(1, lambda m: printed_rate(6, m), lambda m: exponential_needs(m, 1.0), constant=1.0),
    "scores, Laplace": Row(1, None, lambda m: EPSILON * borda_guarantee.additive("central", m, EPSILON)),
    "scores, Gaussian": Row(1, None, lambda m: EPSILON * borda_guarantee.additive("central", m, EPSILON, DELTA)),
    "local I": Row(
        2, lambda m: printed_rate(9, m), lambda m: LOCAL_EPSILON * one_pair_error(m, LOCAL_EPSILON), constant=1.5
    ),
    "local II, ours": Row(
        2,
        None,
        lambda m: (
            LOCAL_EPSILON
            * fresh_error(m, LOCAL_EPSILON, 1)
            * math.sqrt(designs(m, LOCAL_EPSILON)["fresh blocks"].blocks)
        ),
    ),
    "local II": Row(2, lambda m: printed_rate(12, m), constant=22 * PER_QUERY),
    "local scores": Row(2, None, lambda m: LOCAL_EPSILON * borda_guarantee.additive("local", m, LOCAL_EPSILON)),
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
    """K times epsilon sqrt(n) from one pair a voter, all voters agreeing, one number a release.

    Parameters
    ----------
    row : {"local I", "local scores"}
    n_items : int
    signal : float
        True margin over the deviation of its estimate; fixes the number of voters.
    repetitions : int
    rng : numpy.random.Generator
    """
    voters = math.ceil(SampledOrder.calibrated(n_items=n_items, epsilon=LOCAL_EPSILON, length=2).variance * signal**2)
    true = np.sign(np.arange(n_items) - np.arange(n_items)[:, None]).astype(float)
    wrong = np.empty(repetitions)
    for r in range(repetitions):
        names = rng.permutation(n_items)  # ties must not know the order
        seen = one_pair_margins(true[np.ix_(names, names)], voters, LOCAL_EPSILON, rng)
        wrong[r] = kemeny_score(names[pair_order(row, seen)], (1 + true) / 2)
    return LOCAL_EPSILON * math.sqrt(voters) * wrong


def measured(sizes: Sequence[int], repetitions: int) -> pd.DataFrame:
    """The errors of all rows of both tables, worst found, where all voters agree.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of items, to 256.
    repetitions : int
        Simulated releases a point, of the rows that need it.

    Returns
    -------
    pandas.DataFrame
        ``row``, ``items``, ``error`` and ``se``, times epsilon n or epsilon sqrt(n); ``printed``, ``proved``: bounds in
        the same unit, missing where there is none; ``table``.
    """
    noises = {0.0: "Laplace", DELTA: "Gaussian"}
    parts: list[dict[str, Any]] = [
        {"row": f"{r['reduction']}, {noises[r['delta']]}", "items": r["n_items"], "error": r["mean"], "se": r["se"]}
        for r in worst_errors(sizes, list(noises), repetitions).to_dict("records")
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
    for name in ("printed", "proved"):
        bound = [getattr(ROWS[row], name) for row in frame.row]
        frame[name] = [f(m) if f else math.nan for f, m in zip(bound, frame["items"], strict=True)]
    return frame.assign(table=[ROWS[row].table for row in frame.row])


def slope(sizes: Sequence[int], errors: Sequence[float], ses: Sequence[float]) -> tuple[float, float]:
    """Exponent of m, least squares on logarithms with equal weights, and its standard error."""
    x = np.log(np.asarray(sizes, float))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    relative = np.asarray(ses, float) / np.asarray(errors, float)
    return float(weights @ np.log(np.asarray(errors, float))), float(np.sqrt((weights**2) @ relative**2))
