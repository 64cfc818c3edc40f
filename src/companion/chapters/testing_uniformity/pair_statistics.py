"""The statistic of all pairs: its size and its moments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.instruments.style import COLOURS, styled
from companion.instruments.uniformity import exponent, mean_square_bias
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.unif import Unif, unif_null_sf

#: Probability that an interval of a simulated power misses it.
MISS = 1e-4
#: The printed threshold keeps its size from m = CALM log(1 / delta) on; see `check_alg_2`.
CALM = 6.1


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


@claim("busafekete2021:alg-2")
def check_alg_2() -> Iterator[Check]:
    """Size of UNIF with the printed threshold, with one that holds for every significance, and with the exact one."""
    few = paper.unif(2, 0.015).threshold
    yield printed("size, m = 2, k = 7, δ = 0.015", null_size(2, 7, few), "<=", 0.015)
    k, delta = paper.unif_samples(2, math.log(3), 1e-3), 1e-3
    size = null_size(2, int(k), paper.unif(2, delta).threshold)
    yield printed(f"size, m = 2, φ_ε = 1/3, the algorithm's k = {k:,.0f}, δ = 0.001", size, "<=", delta)
    size = null_size(10, 10_000, paper.unif(10, 1e-4).threshold)
    yield printed("size, m = 10, k = 10,000, δ = 0.0001", size, "<=", 1e-4)
    calm, ours = [], []
    for m in (2, 4, 6, 8, 10, 14, 20, 30, 40, 60):
        for k in (2, 3, 4, 5, 6, 7, 9, 12, 20, 51, 200):
            frame = size_at_atoms(m, k)
            inside = frame[np.log(1 / frame.delta) <= m / CALM]
            calm += [(inside["size"] / inside.delta).max()] if len(inside) else []
            ours += [(frame["size"] / frame.ours).max()] if len(frame) else []
    what = f"largest size / δ, m = 2 .. 60, k = 2 .. 200, all δ with m ≥ {CALM} log(1/δ)"
    yield supplied(what, max(calm), "<=", 1, error=1e-6)
    what = "largest size / δ with the threshold m/2 + √(2m log(1/δ)) + 2 log(1/δ), all δ"
    yield amended(what, max(ours), "<=", 1, error=1e-6)
    few = max(
        null_size(m, k, paper.unif(m, 0.05).threshold) for m in range(2, 19) for k in (*range(2, 31), 50, 100, 1000)
    )
    what = "size as printed at δ = 0.05, largest, m = 2 .. 18, k = 2 .. 30, 50, 100, 1000"
    yield amended(what, few, "<=", 0.05)
    for m, k in ((2, 7), (10, 20), (100, 2), (10000, 2)):
        size = null_size(m, k, Unif.calibrated(n_items=m, n_voters=k, size=0.05).threshold)
        yield amended(f"size with the exact threshold, m = {m}, k = {k}, δ = 0.05", size, "<=", 0.05)


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
def check_moments() -> Iterator[Check]:
    """Moments of one pair's statistic and the orders the paper gives them."""
    yield printed(
        "largest mean of Y_i under H₀, k = 2 .. 10⁶", max(square_moments(k, 0)[0] for k in (2, 10, 10**6)), "<=", 1
    )
    yield printed(
        "largest variance of Y_i under H₀, k = 2 .. 10⁶", max(square_moments(k, 0)[1] for k in (2, 10, 10**6)), "<=", 2
    )
    ratios, sizes = [], [10**4, 10**6, 10**8, 10**10]
    for m in sizes:
        theta = 16 / m * math.atanh(1e-3)  # mu = 0.001
        k = int(paper.unif_samples(m, theta, 0.05))
        ratios.append(square_moments(k, float(Mallows(m, theta).bias(m // 8)))[1] / (k * 1e-6))
    slope = exponent(sizes, ratios)
    what = "V[Y_i] / (kμ²) under H₁, a pair m/8 apart, line 5's k, μ = 0.001, m = 10¹⁰, against m = 10⁴: growth"
    yield printed(what, ratios[-1] / ratios[0], "<=", 10)
    yield printed("exponent of m in that ratio (0 for a bounded one)", slope, "<=", 0.1)
    means, spreads, sums = [], [], []
    for m in (16, 100, 1000):
        for theta in np.geomspace(1e-6, 2, 25) / m * 16:
            law, mu = Mallows(m, float(theta)), paper.unif_bias(m, float(theta))
            b = float(law.bias(math.ceil(m / 8)))
            for k in (2, 10, 10**4):
                mean, variance = square_moments(k, b)
                means.append(mean / (k * mu**2))
                spreads.append(variance / (2 + 4 * k * b * b))
                sums.append((1 + (k - 1) * mean_square_bias(law)) / (2 * k * mu**2))
    yield amended("least E[Y_i] / (kμ²), pairs m/8 apart", min(means), ">=", 4 / 9)
    yield amended("largest V[Y_i] / (2 + 4k b²)", max(spreads), "<=", 1)
    yield amended("least E[Y] / (mkμ²), random pairing", min(sums), ">=", 0.17)


@styled
def draw_null_law(frame: pd.DataFrame) -> Figure:
    """Exact tails of UNIF's statistic for uniform rankings against what the printed threshold promises."""
    figure = Figure(figsize=(6.8, 3.8))
    axes = figure.subplots()
    for (sizes, part), colour, mark in zip(frame.groupby(["m", "k"], sort=False), COLOURS, "osD^v", strict=False):
        m, k = sizes
        look: dict[str, Any] = {"marker": mark, "ls": ":"} if len(part) < 12 else {"ls": "-"}
        axes.plot(part.excess, part["size"], color=colour, label=f"m = {m:,}, k = {k:,}", **look)
    excess = np.linspace(0, frame.excess.max(), 200)
    axes.plot(excess, np.exp(-(excess**2) / 4), color="black", lw=1.2, label="promised δ")
    axes.set(xlabel="(y − m/2) / √m", ylabel="P(Y ≥ y), uniform rankings", yscale="log", ylim=(1e-6, 1.3))
    axes.legend(loc="lower left")
    return figure
