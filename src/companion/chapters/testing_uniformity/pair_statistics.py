"""The statistic of all pairs: its size and its moments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy import stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import CALIBRATION, COLOURS, key, note, on_phone, panels, styled
from companion.instruments.uniformity import exponent, mean_square_bias
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.unif import Unif, unif_null_sf

#: Probability that an interval of a simulated power misses it.
MISS = 1e-4
#: The printed threshold keeps its size from m = CALM log(1 / delta) on; see `check_alg_2`.
CALM = 6.1
#: The paper's mu where many rankings are few pairs' worth.
MU = 1e-6
#: Colours of numbers of items; orange is what is printed.
_SIZES = COLOURS[0], COLOURS[2], COLOURS[3], COLOURS[6]
_EXCEEDED = COLOURS[1]


def size_at_atoms(n_items: int, n_rankings: int) -> pd.DataFrame:
    """The printed threshold against the exact law of Y, for all significances at once.

    A value v of Y above m/2 is rejected if log(1/delta) <= (v - m/2)^2 / (4m). The size is at most delta for every
    delta if and only if P(Y >= v) <= exp(-(v - m/2)^2 / (4m)) at every v that Y can take.

    ``value``, ``size`` (P(Y >= value)), ``delta`` (the least with which `value` is rejected), ``ours`` (the same for
    the threshold m/2 + sqrt(2 m log(1/delta)) + 2 log(1/delta)).
    """
    pairs, k = n_items // 2, n_rankings
    # the lattice of `dprank.uniformity.unif`: k Y is 4 w or N + 8 w
    base, step = (0, 4) if k % 2 == 0 else (1, 8)
    most = min(pairs * k, pairs + 12 * math.sqrt(pairs) + 60)
    value = (base * pairs + step * np.arange((k * most - base * pairs) // step + 1)) / k
    value = value[value > n_items / 2]
    size = unif_null_sf(pairs, k, value)
    real = (size > 1e-8) & (size - np.append(size[1:], 0) > 1e-10)  # values that do occur, above the table's rounding
    excess = value - n_items / 2
    ours = (np.sqrt(n_items / 2 + 2 * excess) - math.sqrt(n_items / 2)) ** 2 / 4
    frame = {"value": value, "size": size, "delta": np.exp(-(excess**2) / (4 * n_items)), "ours": np.exp(-ours)}
    return pd.DataFrame(frame)[real].reset_index(drop=True)


def null_size(n_items: int, n_rankings: int, threshold: float) -> float:
    """Exact probability that uniform rankings reach a threshold."""
    return float(unif_null_sf(n_items // 2, n_rankings, threshold))


def null_curves(sizes: Iterable[tuple[int, int]], points: int = 150) -> pd.DataFrame:
    """The exact law of Y for uniform rankings, in the unit of the printed threshold.

    ``m``, ``k``, ``excess`` ((y - m/2) / sqrt(m)), ``size`` (P(Y >= y)), ``promised`` (the delta whose printed
    threshold is y).
    """
    frames = []
    for m, k in sizes:
        frame = size_at_atoms(m, k)
        frame = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, points).round().astype(int))]
        excess = (frame.value - m / 2) / math.sqrt(m)
        curve = {"m": m, "k": k, "excess": excess, "size": frame["size"], "promised": frame.delta}
        frames.append(pd.DataFrame(curve))
    return pd.concat(frames, ignore_index=True)


def off_listing(n_items: int, n_rankings: int) -> float:
    """Largest difference of the sizes of `size_at_atoms` from those over all outcomes of all signs; few of them."""
    signs = np.array(list(product((-1, 1), repeat=n_items // 2 * n_rankings)))
    sums = (signs.reshape(len(signs), -1, n_rankings).sum(axis=2) ** 2).sum(axis=1)
    values = np.unique(sums[sums > n_items * n_rankings / 2])
    return float(abs((sums >= values[:, None]).mean(axis=1) - size_at_atoms(n_items, n_rankings)["size"]).max())


def our_threshold(n_items: int, delta: float) -> float:
    """A threshold of Y whose size is at most delta for all items, rankings and delta."""
    return n_items / 2 + math.sqrt(2 * n_items * math.log(1 / delta)) + 2 * math.log(1 / delta)


@claim("busafekete2021:alg-2")
def check_alg_2(
    items: Sequence[int] = (2, 4, 6, 8, 10, 14, 20, 30, 40, 60),
    rankings: Sequence[int] = (2, 3, 4, 5, 6, 7, 9, 12, 20, 51, 200),
    delta: float = 0.05,
    coarse: float = 0.015,
) -> Iterator[Check]:
    """Size of UNIF with the printed threshold, with one that holds for every significance, and with the exact one."""
    size = null_size(2, 7, paper.unif(2, coarse).threshold)
    yield printed(f"size, m = 2, k = 7, δ = {coarse:g}", size, "<=", coarse)
    yield argument("the same, against the chance that 7 rankings agree on a pair", size, "==", 2**-6, error=ROUNDING)
    own = int(paper.unif_samples(2, math.log(3), 1e-3))
    for m, k, least, about in ((2, own, 1e-3, ", the algorithm's for φ_ε = 1/3"), (10, 10_000, 1e-4, "")):
        threshold = paper.unif(m, least).threshold
        size, tail = null_size(m, k, threshold), stats.chi2.sf(threshold, m // 2)
        what = f"size, m = {m}, k = {k:,}{about}, δ = {least:g}"
        yield printed(what, size, "<=", least)
        # a sum of k signs moves in steps of 2: at Y = z² one step changes the tail by a share of some 2z / √k
        error = 2 * math.sqrt(threshold / k) * tail
        yield argument(f"{what}, against χ² of {m // 2} degrees of freedom", size, "==", tail, error=error)
    calm, ours, last = [], [], []
    cells = [(m, k) for m in items for k in rankings]
    for m, k in cells:
        frame = size_at_atoms(m, k)
        inside = frame[np.log(1 / frame.delta) <= m / CALM]
        calm += (inside["size"] / inside.delta).tolist()
        ours += (frame["size"] / frame.ours).tolist()
        end = frame.iloc[-1]
        last += [paper.unif(m, end.delta).threshold / end.value, our_threshold(m, end.ours) / end.value]
    grid = f"{len(cells)} pairs, m = {items[0]} .. {items[-1]}, k = {rankings[0]} .. {rankings[-1]}"
    what = f"largest size / δ, all δ with m ≥ {CALM} log(1/δ), {grid}"
    yield supplied(what, max(calm), "<=", 1, error=1e-6)
    what = f"largest size / δ with the threshold m/2 + √(2m log(1/δ)) + 2 log(1/δ), all δ, {grid}"
    yield amended(what, max(ours), "<=", 1, error=1e-6)
    wrong = sum(abs(ratio - 1) > ROUNDING for ratio in last)
    what = f"of {len(last)} thresholds at the δ that rejects the largest y: how many are not that y, {grid}"
    yield argument(what, wrong, "==", 0)
    few = [(m, k) for m, k in cells if m // 2 * k <= 14]
    what = f"of {len(few)} pairs (m, k): how many have a P(Y ≥ y) other than over all outcomes of all signs"
    yield argument(what, sum(off_listing(m, k) > ROUNDING for m, k in few), "==", 0)
    most = max(null_size(m, k, paper.unif(m, delta).threshold) for m in range(2, 19) for k in (*range(2, 31), 50, 1000))
    what = f"size as printed at δ = {delta:g}, largest, m = 2 .. 18, k = 2 .. 30, 50, 1000"
    yield amended(what, most, "<=", delta)
    yield amended(f"{what}: that of 6 rankings that agree on a pair", most, "==", 2**-5, error=ROUNDING)
    for m, k in ((2, 7), (10, 20), (100, 2), (10_000, 2)):
        frame = size_at_atoms(m, k)
        size = null_size(m, k, Unif.calibrated(n_items=m, n_voters=k, size=delta).threshold)
        what = f"size with the exact threshold, m = {m}, k = {k}, δ = {delta:g}"
        yield amended(what, size, "<=", delta)
        what = f"{what}, the largest that is at most δ"
        yield amended(what, size, "==", frame["size"][frame["size"] <= delta].max(), error=ROUNDING)


def thresholds(sizes: Iterable[tuple[int, int]], delta: float) -> pd.DataFrame:
    """Thresholds of UNIF and their exact sizes.

    ``m``, ``k``, ``as printed``, ``size as printed``, ``exact``, ``size exact``.
    """
    rows = []
    for m, k in sizes:
        at = [paper.unif(m, delta).threshold, Unif.calibrated(n_items=m, n_voters=k, size=delta).threshold]
        as_printed, exact = zip(at, unif_null_sf(m // 2, k, at), strict=True)
        rows.append((m, k, *as_printed, *exact))
    return pd.DataFrame(rows, columns=["m", "k", "as printed", "size as printed", "exact", "size exact"])


def square_moments(n_rankings: int, bias: float) -> tuple[float, float]:
    """Mean and variance of S^2 / k, S the sum of k independent signs of mean `bias`."""
    k, b = n_rankings, bias * bias
    return 1 + (k - 1) * b, (1 - 1 / k) * (2 * (1 - b * b) + 4 * (k - 2) * b * (1 - b))


@claim("busafekete2021:sec-4.2:moments")
def check_moments(
    items: Sequence[int] = (16, 100, 1000), rankings: Sequence[int] = (2, 10, 10**4), delta: float = 0.05
) -> Iterator[Check]:
    """Moments of one pair's statistic and the orders the paper gives them."""
    off = []
    for k in rankings:
        ones = np.arange(k + 1)
        for b in (0.0, 0.01, 0.9):
            p, y = stats.binom.pmf(ones, k, (1 + b) / 2), (2 * ones - k) ** 2 / k
            both = np.array([p @ y, p @ (y - p @ y) ** 2])
            off.append(float(abs(both / square_moments(k, b) - 1).max()))
    null = [square_moments(k, 0) for k in rankings]
    grid = f"k = {rankings[0]} .. {rankings[-1]:,}"
    what = f"mean and variance of Y_i against those of the binomial law, {grid}, {len(off)} laws"
    yield argument(f"{what}: how many differ", len(off) - sum(share <= ROUNDING for share in off), "==", 0)
    yield printed(f"largest mean of Y_i under H₀, {grid}", max(mean for mean, _ in null), "<=", 1)
    yield printed(f"largest variance of Y_i under H₀, {grid}", max(variance for _, variance in null), "<=", 2)
    ratios, sizes = [], [10**10, 10**12, 10**14]
    for m in sizes:
        theta = 16 / m * math.atanh(MU)
        k = int(paper.unif_samples(m, theta, delta))
        ratios.append(square_moments(k, float(Mallows(m, theta).bias(m // 8)))[1] / (k * MU**2))
    what = f"V[Y_i] / (kμ²) under H₁, a pair m/8 apart, line 5's k, μ = {MU:g}"
    slope = exponent(sizes, ratios)
    yield printed(f"{what}, m = 10¹⁰ to 10¹⁴: exponent of m (0 for a bounded one)", slope, "<=", 0.1)
    # kμ² tends to 80x, x = √(log(2/δ) / m), and V to 2; the next terms are 4kb² / 2 = 71x of it, less 12x in k
    for m, ratio in zip(sizes, ratios, strict=True):
        x = math.sqrt(math.log(2 / delta) / m)
        yield amended(f"{what}, m = {m:.0e}, times 40 √(log(2/δ) / m)", 40 * x * ratio, "==", 1, error=100 * x)
    means, spreads, sums = [], [], []
    for m in items:
        for theta in np.geomspace(1e-6, 2, 25) / m * 16:
            law, mu = Mallows(m, float(theta)), paper.unif_bias(m, float(theta))
            b = float(law.bias(math.ceil(m / 8)))
            for k in rankings:
                mean, variance = square_moments(k, b)
                means.append(mean / (k * mu**2))
                spreads.append(variance / (2 + 4 * k * b * b))
                sums.append((1 + (k - 1) * mean_square_bias(law)) / (2 * k * mu**2))
    grid = f"{len(means)} laws, m = {items[0]} .. {items[-1]}, {grid}"
    yield amended(f"least E[Y_i] / (kμ²), pairs m/8 apart, {grid}", min(means), ">=", 4 / 9)
    yield amended(f"largest V[Y_i] / (2 + 4k b²), {grid}", max(spreads), "<=", 1)
    yield amended(f"least E[Y] / (mkμ²), random pairing, far pairs alone give 0.17, {grid}", min(sums), ">=", 0.17)


@styled
def draw_null_law(frame: pd.DataFrame) -> Figure:
    """Exact tails of UNIF's statistic for uniform rankings against what the printed threshold promises."""
    over = frame["size"] > np.exp(-(frame.excess**2) / 4)
    few = over.groupby(frame.m).any()
    passing = " or ".join(f"{m:,}" for m in few.index[few])
    message = f"With {passing} items the printed threshold can be too low"
    figure, (axes,) = panels(message=message, height=4.2 if on_phone() else 3.2)
    for (sizes, part), colour, mark in zip(frame.groupby(["m", "k"], sort=False), _SIZES, "osD^v", strict=False):
        m, k = sizes
        look: dict[str, Any] = {"marker": mark, "ls": ":", "zorder": 3} if len(part) < 12 else {"ls": "-"}
        exceeded = part["size"].where(part["size"] > np.exp(-(part.excess**2) / 4))
        wide = 13 if "marker" in look else 7
        axes.plot(part.excess, exceeded, color=_EXCEEDED, alpha=0.3, lw=7, marker="o", ms=wide, mew=0, label="_")
        axes.plot(part.excess, part["size"], color=colour, label=f"{m:,} items, {k:,} rankings", **look)
    excess = np.linspace(0, frame.excess.max(), 200)
    axes.plot(
        excess,
        np.exp(-(excess**2) / 4),
        color=CALIBRATION["as printed"]["color"],
        lw=2.2,
        label="promised by the printed formula",
    )
    axes.set(yscale="log", ylim=(1e-6, 1.3), ylabel="chance that shuffled rankings pass")
    axes.set_xlabel("threshold above the statistic's mean,\nin units of √items")
    handles, labels = axes.get_legend_handles_labels()
    handles.append(Line2D([], [], color=_EXCEEDED, alpha=0.3, lw=7, solid_capstyle="butt"))
    key(figure, handles, [*labels, "more than promised"], columns=1 if on_phone() else 3)
    note(
        figure,
        "Pass: the test's statistic exceeds the threshold. Mean: its mean if rankings are shuffled. Orange line: for "
        "each threshold the chance that the paper promises. The numbers of rankings differ, too.",
    )
    return figure
