"""Approximate privacy: fingerprints, and who is traced."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from companion.instruments.aggregation import matrix_error
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, COLOURS, key, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_rankings, certain, exponent
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.aggregation.lower_bounds import tracing_threshold
from dprank.aggregation.private_borda import PrivateBorda
from dprank.data.kendall import pairwise_kendall_distances

#: Shares of the items that are d, and spreads of the marginals at ratio 1, of which `best_tracing` takes the best.
D_SHARES, SPREADS = np.arange(0.1, 0.5, 0.05), np.geomspace(1e-3, 1.0, 40)


def best_tracing(n_items: int, epsilon: float, delta: float, *, error: float) -> float:
    """`tracing_threshold` for all items and ratio 1 at the best of a grid of d and spread."""
    ds = {max(1, round(f * n_items)) for f in D_SHARES}
    sheet = {"epsilon": epsilon, "delta": delta, "error": error}
    return max(tracing_threshold(d, n_items - 2 * d, float(a), **sheet) for d in ds for a in SPREADS)


def first_items(epsilon: float, delta: float, share: Fraction, most: int = 10**6) -> float:
    """From how many items on `best_tracing` asks for more than one voter, for an error of a share of items^2.

    Infinite where it does not up to `most`; taken to grow with the items.
    """

    def asks(n_items: int) -> bool:
        return best_tracing(n_items, epsilon, delta, error=float(share * n_items**2)) > 1

    low, high = 3, 6
    while not asks(high):
        low, high = high, 2 * high
        if low > most:
            return math.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if asks(middle) else (middle, high)
    return high


def theorem_14(n_items: int, epsilon: float, ratio: float) -> tuple[float, float]:
    """Our Theorem 14 at its own n and delta: that n, and the threshold there that the tracing argument gives."""
    n, d = math.sqrt(n_items / ratio) / (40 * math.sinh(epsilon)), n_items // 3
    sheet = {"epsilon": epsilon, "delta": 1 / (272 * ratio * n), "ratio": ratio, "error": n_items**2 / 72}
    return n, tracing_threshold(d, n_items - 2 * d, 1 / (32 * ratio), **sheet)


def idle_error(n_items: int) -> float:
    """Proved additive error over m^2, ratio 1, of a (1, 1/n^2)-DP noisy matrix of n = m^0.85 voters.

    At epsilon = m^-0.4, which only the printed theorem knows of, n is m^-0.05 times sqrt(m) / epsilon.
    """
    n = n_items**0.85
    return matrix_error(n_items, 1.0, n**-2) / n / n_items**2


def random_voter(n_items: int, voters: int) -> tuple[float, float]:
    """Publishing the ranking of a random voter: exact worst cost over the optimum, exact delta at epsilon 0.

    All data sets of a few voters and items, and for delta all neighbours that differ in the last voter.
    """
    rankings = all_rankings(n_items)
    table = pairwise_kendall_distances(rankings)
    data = np.array(list(product(range(len(rankings)), repeat=voters)))
    scores = table[data].mean(1)
    cost = np.take_along_axis(scores, data, 1).mean(1)
    best = scores.min(1)
    law = (data[:, :, None] == np.arange(len(rankings))).mean(1).reshape(-1, len(rankings), len(rankings))
    moved = np.abs(law[:, :, None] - law[:, None]).sum(-1).max() / 2
    return float((cost[best > 0] / best[best > 0]).max(initial=0.0)), float(moved)


def majority_identity(voters: int, spread: float, grid: int = 20) -> tuple[float, float]:
    """Both sides of the tracing identity for the majority of a few voters, by Gauss-Gegenbauer quadrature.

    E[y sum_i (x_i - p)], by enumerating the votes, and 2 a E[p y]; y is the majority, or 1 in a tie.
    """
    p, weight = roots_jacobi(grid, spread - 1, spread - 1)
    weight = weight / weight.sum()
    k = np.arange(voters + 1)
    log_count = np.array([math.log(math.comb(voters, int(i))) for i in k])
    law = np.exp(log_count + k * np.log((1 + p[:, None]) / 2) + (voters - k) * np.log((1 - p[:, None]) / 2))
    y = np.where(2 * k >= voters, 1, -1)
    traced = (law * y * (2 * k - voters - voters * p[:, None])).sum(1)
    return float(weight @ traced), float(2 * spread * (weight @ (p * (law @ y))))


@claim("alabi2022:thm-14")
def check_thm_14(
    items: Sequence[int] = (5, 10**2, 10**4, 10**6, 10**9),
    ratios: Sequence[float] = (1, 2, 5, 50),
    epsilons: Sequence[float] = (1e-4, 0.01, 0.1, 1.0),
    far: Sequence[int] = (10**11, 10**13, 10**15),
    votes: Sequence[tuple[float, int]] = ((1.0, 3), (0.25, 5), (0.05, 4)),
    elections: Sequence[tuple[int, int]] = ((3, 2), (3, 3), (3, 4)),
) -> Iterator[Check]:
    """Theorem 14: epsilon idle and fixed, epsilon idle and falling with m, and epsilon where it belongs."""
    fixed, falling = "ε fixed", "ε may depend on m"
    at = {(m, e, a): theorem_14(m, e, a) for m, e, a in product(items, epsilons, ratios)}
    ratio = {cell: found / n for cell, (n, found) in at.items() if n >= 1}
    one = min(over for (_, e, _), over in ratio.items() if e == epsilons[-1])
    yield printed("least of (voters needed) / (√m / (40 √α sinh 1)), c = 1/72, all m, α", one, ">=", 1, reading=fixed)
    for m in far:
        what = f"error / m² of a (1, 1/n²)-DP algorithm, ratio 1, m = {m:.0e}, ε = m^-0.4, n = m^-0.05 √m / ε"
        yield printed(what, idle_error(m), ">=", 1 / 72, reading=falling)
    # √(m log m log n) / n for n = m^0.85
    slope = exponent(np.array(far, float), [idle_error(m) / math.log(m) for m in far])
    yield argument("exponent in m of that error / m² over log m", slope, "==", 0.5 - 0.85, error=0.01)
    for spread, voters in votes:
        left, right = majority_identity(voters, spread)
        what = f"E Σ_i y (x_i − p) over 2a E[p y], majority of {voters}, a = {spread:g}"
        yield amended(what, left / right, "==", 1, error=ROUNDING)
    # given p the majority of three has the mean (3p − p³)/2
    yield argument("2a E[p y], majority of 3, a = 1", majority_identity(3, 1.0)[1], "==", 1 - 1 / 5, error=ROUNDING)
    least = min(ratio.values())
    yield amended("least of (voters needed) / (√m / (40 √α sinh ε)), δ = 1/(272 α n), ε ≤ 1", least, ">=", 1)
    for m, n in elections:
        cost, delta = random_voter(m, n)
        yield amended(f"a random voter's ranking: δ at ε = 0, m = {m}, n = {n}", delta, "==", 1 / n, error=ROUNDING)
        what = f"a random voter's ranking: most cost / OPT, m = {m}, n = {n}; 2 − 2/n"
        yield amended(what, cost, "==", 2 - 2 / n, error=ROUNDING)


def spread_of(alpha: float, grid: int = 40) -> tuple[float, float]:
    """Standard deviation, and mean size, of a marginal whose law is symmetric Beta(alpha, alpha) on [-1, 1]."""
    p, weight = roots_jacobi(grid, alpha - 1, alpha - 1)
    weight = weight / weight.sum()
    return math.sqrt(float(weight @ p**2)), float(weight @ abs(p))


@claim("alabi2022:footnote-4")
def check_footnote_4(ratio: float = 5.0, n_items: int = 300) -> Iterator[Check]:
    """Marginals near -1 or +1: of which law is the standard deviation large, and what they are needed for."""
    near = 0.99
    vote, marginal = "of a voter's sign, whose mean is the marginal", "of the marginals over the coordinates"
    what = f"standard deviation of a sign of mean {near:g}, over that of mean 0"
    yield printed(what, math.sqrt(1 - near**2), ">=", 1, reading=vote)
    small = 1 / (32 * ratio)
    (wide, size), (uniform, _) = spread_of(small), spread_of(1.0)
    what = f"standard deviation of Beta marginals of mean size {size:.3f}, over that of uniform ones"
    yield printed(what, wide / uniform, ">=", 1, reading=marginal)
    d, sheet = n_items // 3, {"epsilon": 1.0, "delta": 1e-9, "ratio": ratio, "error": n_items**2 / 72}
    needed = {a: tracing_threshold(d, n_items - 2 * d, a, **sheet) for a in (small, 1.0)}
    what = f"voters needed at ratio {ratio:g}, m = {n_items}, by tracing"
    yield amended(f"{what}, marginals near −1 and +1", needed[small], ">", 0)
    yield amended(f"{what}, uniform marginals: nothing is shown", needed[1.0], "<=", 0)


#: Outsiders whose scores set the threshold: one more outsider passes it with chance 2 / 200.
OUTSIDERS, PASS = 199, 2
DELTA = 1e-6


def voters_at(n_items: int, share: float) -> int:
    """Voters, at least one, that are nearest to a share of the root of the items."""
    return max(1, round(share * math.sqrt(n_items)))


def trace(
    n_items: int, share: float, epsilon: float | None, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """Attack the Borda order, published exactly or with Gaussian noise on its scores.

    Voters have the rankings pi^x, with independent signs of means p_j uniform on [-1, 1]. Items j and j + d + t are a
    distance d + t apart, so the released signs are those of (d + t) sum_i x^i_j plus two items' noise.

    ``("traced",)``: share of voters whose score exceeds a threshold that an outsider passes in 1 % of cases;
    ``("wrong",)``: signs of voters got wrong, as a share, beyond the majority's.
    """
    d, n = n_items // 3, voters_at(n_items, share)
    noise = 0.0
    if epsilon is not None:
        noise = (
            PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=DELTA, law="continuous").scale
            * math.sqrt(2)
            / (n_items - d)
        )
    traced, wrong = np.empty((2, repetitions))
    for r in range(repetitions):
        p = rng.uniform(-1, 1, d)
        x, outside = (np.where(rng.random((size, d), np.float32) < (1 + p) / 2, 1.0, -1.0) for size in (n, OUTSIDERS))
        total = x.sum(0)
        y = np.where(total + noise * rng.standard_normal(d) >= 0, 1.0, -1.0)
        threshold = np.partition(outside @ y, -PASS)[-PASS]
        traced[r] = (x @ y > threshold).mean()
        wrong[r] = (np.abs(total) - y * total).mean() / (2 * n)
    return {("traced",): traced, ("wrong",): wrong}


def tracing(
    items: Sequence[int], shares: Sequence[float], epsilons: Sequence[float | None], repetitions: int
) -> pd.DataFrame:
    """`trace` on a grid.

    Columns: ``n_items``, ``share``, ``epsilon`` (NaN for no noise), ``outcome``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [{"n_items": m, "share": s, "epsilon": e} for m in items for e in epsilons for s in shares]
    return sweep(trace, cells, experiment="alabi2022-tracing", repetitions=repetitions, outcomes=["outcome"])


@claim("alabi2022:sec-lower:signs")
def check_signs(frame: pd.DataFrame) -> Iterator[Check]:
    """Whether the signs of the marginals alone give voters away: few voters, many items, in the one cell with fewest.

    A stranger passes with chance PASS / (OUTSIDERS + 1), a voter of a (1, delta)-DP release at most e times that, plus
    delta.
    """
    exact = frame[(frame.outcome == "traced") & frame.epsilon.isna()]
    most = exact[exact.n_items == exact.n_items.max()]
    first = most.loc[most.share.idxmin()]
    allowed = math.e * PASS / (OUTSIDERS + 1) + 0.1
    n = voters_at(first.n_items, first.share)
    what = f"share of voters traced at 1 % false alarms, exact signs, m = {first.n_items:,}, n = {n}"
    error = certain(float(first["mean"]), int(first.repetitions))
    yield printed(f"{what}; (1, 0.1)-DP allows e/100 + 0.1", float(first["mean"]), ">", allowed, error=error)


@styled
def draw_tracing(frame: pd.DataFrame) -> Figure:
    """Voters traced, and wrong signs, against voters over the root of items."""
    message = "With few voters, an exact order gives them away; noise hides them"
    figure, (traced, wrong) = panels(2, message=message, height=3.1)
    marks = dict(zip(sorted(frame.n_items.unique()), ("o", "s"), strict=True))
    kinds = frame.epsilon.fillna(math.inf)
    for epsilon, colour in zip(sorted(kinds.unique(), reverse=True), COLOURS, strict=False):
        exact = math.isinf(epsilon)
        for items, mark in marks.items():
            look: dict[str, Any] = {"color": colour, "marker": mark, "lw": 1.2, "capsize": 2}
            look["label"] = f"{'exact' if exact else f'ε = {epsilon:g}'}, {items:,} items"
            rows = frame[(kinds == epsilon) & (frame.n_items == items)]
            for axes, outcome in ((traced, "traced"), (wrong, "wrong"))[: 1 if exact else 2]:
                part = rows[rows.outcome == outcome]
                axes.errorbar(part.share, part["mean"], BAR * part.se, **look)
    strangers = PASS / (OUTSIDERS + 1)
    traced.axhline(strangers, color=COLOURS[6], lw=1, ls=":")
    traced.annotate("strangers", (1.01, strangers), xycoords=("axes fraction", "data"), va="center", fontsize=9,
                    annotation_clip=False)  # fmt: skip
    traced.set(title="voters who are recognised", ylabel="share of the voters")
    traced.set_yscale("log", nonpositive="clip")
    ticks = (0.001, 0.01, 0.1, 1)
    traced.set(ylim=(ticks[0], 1), yticks=ticks, yticklabels=[f"{100 * tick:g} %" for tick in ticks])
    traced.yaxis.set_minor_formatter(NullFormatter())
    wrong.set(title="pairs that noise gets wrong", ylabel="share of the voters' pairs")
    for axes in (traced, wrong):
        axes.set(xscale="log", xlabel="voters / √items")
    wrong.set_ylim(bottom=0)
    key(figure, *traced.get_legend_handles_labels(), columns=3)
    note(
        figure,
        f"Dotted: the share of strangers, who did not vote, that are taken for voters, {100 * strangers:g}"
        "\N{NO-BREAK SPACE}%.",
    )
    return figure
