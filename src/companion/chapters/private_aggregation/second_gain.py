"""What the second reduction gains over the first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.private_aggregation.query_budget import error_bounds
from companion.chapters.private_aggregation.reduction_two import ROUNDING
from companion.instruments.aggregation import BAR, gain, rule_for, split_vote
from companion.instruments.allowance import Z
from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, claim, printed
from dprank.aggregation.kwiksort import comparisons_law, queries
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.privacy.gaussian import gaussian_scale

#: Half the number of voters over the scale of the noise on a count, at which errors are measured; of Reduction I times
#: the root of the number of items, since it averages over so many pairs.
SIGNALS = {"I": (1.0, 2.0, 4.0), "II": (0.6, 1.0, 1.6)}


def pays(sizes: Sequence[int], delta: float = 0.0) -> pd.DataFrame:
    """Noise on an answer of Reduction II over that of Reduction I, at epsilon = 1, before any order is made.

    A row a number of items: ``items``, ``noise``, ``pairs``, ``q`` (exceeded with chance 1 / m^4 without cycles),
    ``printed`` (2 q over pairs, or 2 sqrt(q over pairs): half of the budget for q answers, all of it for all pairs),
    the same with ``ξ = 0.01`` in place of 1, ``planned`` (expected deciding scale of `PrivateKwikSort.calibrated` over
    that of the noisy matrix) with its ``planned q``. Laplace noise at delta = 0, else Gaussian.
    """
    unit = gaussian_scale(1.0, 1.0, delta) if delta else 1.0
    rows = []
    for m in sizes:
        best, pairs = PrivateKwikSort.calibrated(n_items=m, epsilon=1.0, delta=delta, law="continuous"), math.comb(m, 2)
        whole = unit * math.sqrt(pairs) if delta else pairs
        beyond, spare = comparisons_law(m)[best.queries + 1 :].sum(), best.fallback.scale if best.fallback else 0.0
        few, more = (2 * (queries(m, xi / m**4) / pairs) ** (0.5 if delta else 1.0) for xi in (1.0, 0.01))
        rows.append(
            {
                "items": m,
                "noise": "Gaussian" if delta else "Laplace",
                "pairs": pairs,
                "q": queries(m, m**-4.0),
                "printed": few,
                "ξ = 0.01": more,
                "planned": ((1 - beyond) * best.scale + beyond * spare) / whole,
                "planned q": best.queries,
            }
        )
    return pd.DataFrame(rows)


def helps_from(frame: pd.DataFrame, column: str) -> int:
    """The number of items from which on, to the end of a frame of `pays`, a column is below 1."""
    return int(frame.loc[frame[column] >= 1 - ROUNDING, "items"].max()) + 1


def scaled_error(
    reduction: str, n_items: int, delta: float, signal: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Kemeny score times epsilon n where all voters agree, one number a release at epsilon = 1; the best order costs 0.

    I is the noisy matrix, ordered exactly up to 12 items and by local search above; II is private KwikSort, best split.
    `signal` is half the number of voters over the scale of the noise. Only that matters, so one voter stands for all,
    and the noise is divided by their number.
    """
    rule = rule_for(n_items)
    make = NoisyMatrix if reduction == "I" else PrivateKwikSort
    mechanism: NoisyMatrix | PrivateKwikSort = make.calibrated(
        n_items=n_items, epsilon=1.0, delta=delta, law="continuous", rule=rule
    )
    voters = 2 * signal * mechanism.scale
    small = replace(mechanism, scale=mechanism.scale / voters)
    if isinstance(small, PrivateKwikSort) and small.fallback:
        small = replace(small, fallback=replace(small.fallback, scale=small.fallback.scale / voters))
    one = split_vote(n_items, 1)
    w = pairwise_fractions(one)
    return voters * np.array([kemeny_score(small.release(one, rng).order, w) for _ in range(repetitions)])


def worst_errors(sizes: Sequence[int], deltas: Sequence[float], repetitions: int) -> pd.DataFrame:
    """The largest error times epsilon n over the numbers of voters tried.

    A row a reduction, ``n_items`` and ``delta``: ``signal``, ``mean``, ``se``, ``repetitions`` at the worst.
    """
    cells = [
        {"reduction": r, "n_items": m, "delta": delta, "signal": signal / (math.sqrt(m) if r == "I" else 1.0)}
        for r, m, delta in product(SIGNALS, sizes, deltas)
        for signal in SIGNALS[r]
    ]
    seen = sweep(scaled_error, cells, experiment="alabi2022: reductions", repetitions=repetitions)
    worst = seen.groupby(["reduction", "n_items", "delta"])["mean"].idxmax()
    return seen.loc[worst].reset_index(drop=True)


def gains(errors: pd.DataFrame) -> pd.DataFrame:
    """Error of Reduction I over that of Reduction II.

    ``δ``, ``items``, ``gain`` and its standard error ``se``.
    """
    key = ["delta", "n_items"]
    one, two = (errors[errors.reduction == r].set_index(key).sort_index() for r in ("I", "II"))
    return gain(one, two, "mean").reset_index().rename(columns={"delta": "δ", "n_items": "items"})


def _sizes(items: pd.Series[int]) -> str:
    *before, last = map(str, items)
    return f"with {', '.join(before)} and {last} items" if before else f"with {last} items"


def in_words(part: pd.DataFrame) -> str:
    """Which reduction errs less in rows of `gains`, as far as 95 % intervals tell: a clause for the reader."""
    last = part.iloc[-1]
    clear = {name: part.loc[sign * (part.gain - 1) > BAR * part.se, "items"] for name, sign in (("I", -1), ("II", 1))}
    told = [f"Reduction {n} is clearly better {_sizes(at)}" for n, at in clear.items() if len(at)]
    better = ", and ".join(told) or "neither is clearly better at any size"
    seen = f"the gain for {last['items']:.0f} items is {last.gain:.2f} ± {BAR * last.se:.2f}"
    return f"{seen}; {better} (95 % confidence)"


def proved_gain(n_items: int, noise: float = 0.5) -> float:
    """At most the error of Reduction I, ordered exactly, over that of II, both with Gaussian noise; all voters agree.

    `noise` is the deviation of an answer of II: that of an entry of I is m / sqrt(q) times it, and q is m - 1 at least.
    Of II only what goes wrong at the first pivot is counted, pairs with it and pairs that it separates the wrong way;
    less 1 for the fallback, rarer than m^-4.
    """
    m, wrong = n_items, stats.norm.cdf(-1 / (2 * noise))
    once = (m - 1) * wrong + (m - 1) * (m - 2) * (wrong * (1 - wrong) / 3 + wrong**2 / 6) - 1
    entry = m * noise / math.sqrt(m - 1)
    return NoisyMatrix(m, entry, "gaussian", delta=0.1, law="continuous").additive_error(1) / once


@claim("alabi2022:sec-central:factor")
def check_sec_central_factor(errors: pd.DataFrame, sizes: Sequence[int]) -> Iterator[Check]:
    """The factors of the printed bounds, and of the errors of the algorithms.

    `worst_errors` at delta = 0 and another one; the bounds are of 256 items at most.
    """
    frame = error_bounds(sizes, 1.0)
    log = np.log(frame["items"])
    for kind, factor in (
        ("Θ̃(m), pure", frame.pairs / (2 * frame.queries) * log / frame["items"]),
        ("Θ̃(√m), approximate", np.sqrt(frame.pairs / frame.queries * log / frame["items"])),
    ):
        what = (
            f"{kind}: bound of I over bound of II over the printed factor, largest over smallest of {len(frame)} sizes"
        )
        yield printed(what, float(factor.max() / factor.min()), "<=", 1.5, reading="of the bounds")
    m = 10**10
    what = f"error of I over error of II, δ > 0, all agree, proved at most, m = {m:.0e}; √m/log m"
    far = proved_gain(m)
    yield printed(what, far, ">=", math.sqrt(m) / math.log(m), reading="of the errors", error=1e-9 * far)
    for delta, part in gains(errors).groupby("δ"):
        low, high = part.iloc[0], part.iloc[-1]
        grown = high.gain / low.gain
        error = Z * grown * math.hypot(low.se / low.gain, high.se / high.gain)
        span = high["items"] / low["items"]
        logs = math.log(high["items"]) / math.log(low["items"])
        need = span / logs if delta == 0 else math.sqrt(span / logs)
        sizes_text = f"from {low['items']:g} to {high['items']:g} items"
        factor = "m/log m" if delta == 0 else "√(m/log m)"
        what = f"error of I over error of II, worst found, δ = {delta:g}: growth {sizes_text}; growth of {factor}"
        yield printed(what, grown, ">=", need, reading="of the errors", error=error)
        most = 1.0 if delta else math.sqrt(high["items"] / math.log(high["items"]))
        what = (
            f"error of I over error of II at {high['items']:g} items, δ = {delta:g}; {'1' if delta else '√(m/log m)'}"
        )
        yield amended(what, high.gain, "<=", most, error=Z * high.se)


_LOOK: dict[str, dict[str, Any]] = {
    "I": {"color": COLOURS[0], "marker": "o", "label": "asks all pairs"},
    "II": {"color": COLOURS[1], "marker": "s", "label": "asks fewer (KwikSort)"},
}


@styled
def draw_worst_errors(frame: pd.DataFrame) -> Figure:
    """Largest error found over m^2.5, against the number of items m; a panel a delta, bars are 95 % intervals."""
    message = "Fewer questions help only with Laplace noise and many items"
    figure, made = panels(frame.delta.nunique(), message=message, height=3.0, sharex=True)
    ticks = (0.05, 0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50)
    for axes, (delta, rows) in zip(made, frame.groupby("delta"), strict=True):
        for reduction, part in rows.groupby("reduction"):
            unit = part.n_items**2.5
            # side by side, so that no bar hides another
            at = part.n_items * (0.97 if reduction == "I" else 1.03)
            axes.errorbar(at, part["mean"] / unit, BAR * part.se / unit, capsize=2, **_LOOK[str(reduction)])
        noise = f"Gaussian noise, δ = 1 in {1 / delta:,.0f}" if delta else "Laplace noise, δ = 0"
        axes.set(title=noise, xscale="log", yscale="log")
        low, high = axes.get_ylim()
        low = min(low, 0.45) if delta else low
        axes.set_ylim(low, high)
        axes.set_yticks([t for t in ticks if low <= t <= high], [f"{t:g}" for t in ticks if low <= t <= high])
        axes.set_xticks(rows.n_items.unique(), [str(m) for m in rows.n_items.unique()])
        axes.minorticks_off()
    label_outer(made, "items m", "error × ε × voters / $m^{2.5}$")
    for axes in made:
        axes.yaxis.label.set_fontsize(12)
    key(figure, *made[0].get_legend_handles_labels())
    note(
        figure,
        "Error: pairs in the wrong order where all voters agree, at the worst number of voters tried. The error is "
        "multiplied by ε and the voters, since noise matters less with more of either, and divided by m to the power "
        "2.5, so that growth like this power is level. δ: a small chance that the privacy fails. Bars: 95 %.",
    )
    return figure
