"""Moments, normality and divergence of the null distance, and what its table costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from scipy import integrate, stats

from companion.chapters.testing_uniformity.fixed_epsilon import null_variance
from companion.chapters.testing_uniformity.mallows_laws import (
    BERRY_ESSEEN,
    INVERSION,
    mahonian,
    printed_sum,
    table_entries,
)
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import divergence, exponent
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.mallows import Mallows


@claim("busafekete2021:sec-7.2:moments")
def check_moments(items: Iterable[int] = range(2, 61)) -> Iterator[Check]:
    """Mean, variance and symmetry of the null distance, in whole numbers."""
    items, off = list(items), []
    for m in items:
        counts, total = mahonian(m), math.factorial(m)
        mean = Fraction(sum(i * n for i, n in enumerate(counts)), total)
        square = Fraction(sum(i * i * n for i, n in enumerate(counts)), total)
        by_mean, by_variance = Fraction(m * (m - 1), 4), Fraction(m * (m - 1) * (2 * m + 5), 72)
        off.append((mean != by_mean, square - mean**2 != by_variance, counts != counts[::-1]))
    names = ("a mean other than m(m−1)/4", "a variance other than m(m−1)(2m+5)/72", "a law that is not symmetric")
    for name, of_all in zip(names, zip(*off, strict=True), strict=True):
        yield printed(f"of {len(items)} m from 2 to {max(items)}: how many have {name}", sum(of_all), "==", 0)


def kolmogorov(items: int) -> float:
    """Largest distance between the exact null law of the Kendall distance and the normal law of its moments."""
    law = Mallows(items, 0.0)
    d = np.arange(law.n_pairs + 1)
    mean, variance = law.distance_moments()
    exact, normal = law.distance_cdf(d), stats.norm.cdf((d - mean) / math.sqrt(variance))
    return float(max(np.abs(exact - normal).max(), np.abs(np.append(0.0, exact[:-1]) - normal).max()))


def berry_esseen(items: int) -> float:
    """Proved bound on `kolmogorov`, for any number of items: 0.56 times the sum of third absolute moments over sd^3."""
    j = np.arange(2, items + 1, dtype=float)
    odd, even = ((j**2 - 1) / 4) ** 2 / (2 * j), j * (j**2 / 2 - 1) / 16
    thirds = np.where(np.arange(2, items + 1) % 2, odd, even)
    return float(BERRY_ESSEEN * thirds.sum() / null_variance(items) ** 1.5)


def normal_table(items: Iterable[int]) -> pd.DataFrame:
    """Distance of the null law from normal: ``items``, ``kolmogorov`` (exact), ``guarantee`` (Berry and Esseen)."""
    return pd.DataFrame([{"items": m, "kolmogorov": kolmogorov(m), "guarantee": berry_esseen(m)} for m in items])


@claim("busafekete2021:sec-7.2:normal")
def check_normal(frame: pd.DataFrame) -> Iterator[Check]:
    """Is symmetry a reason, and is there no guarantee?"""
    m = int(frame["items"].max())
    # half of the law at 0, half at m(m−1)/2: one standard deviation to either side of the mean
    ends = float(stats.norm.cdf(1) - 0.5)
    guarantee = max(berry_esseen(k) * math.sqrt(k) for k in [*range(2, 200), 10**3, 10**4, 10**6])
    ratio, scaled = frame.kolmogorov / frame.guarantee, frame.kolmogorov * frame["items"]
    yield printed("guaranteed error at m = 10⁴ (no guarantee would be 1 or more)", berry_esseen(10**4), ">=", 1)
    what = "symmetric law, half at 0 and half at m(m−1)/2, any m: its error, against the guarantee"
    yield printed(f"{what} at m = {m}", ends, "<=", berry_esseen(m))
    yield amended("guarantee times √m, largest, m = 2 to 10⁶", guarantee, "<=", 0.95)
    yield amended(f"exact error over its guarantee, largest, m = 2 to {m}", float(ratio.max()), "<=", 1)
    yield amended(f"exact error times m, largest, m = 2 to {m}", float(scaled.max()), "<=", 0.7)


def remainder(items: int, theta: float, points: int = 21) -> tuple[float, float, float]:
    """KL over theta^2 over the least and over the largest curvature on the way, and how far from its integral."""
    s = np.linspace(0, theta, points)
    curvatures = np.array([Mallows(items, x).distance_moments()[1] for x in s])
    ratio = divergence(Mallows(items, theta)) / theta**2
    integral = integrate.simpson(s * curvatures, x=s) / theta**2
    return ratio / curvatures.min(), ratio / curvatures.max(), abs(float(integral) / ratio - 1)


@claim("busafekete2021:sec-8:kl")
def check_kl(
    items: Sequence[int] = (2, 3, 10, 100, 1000), spans: Sequence[float] = (0.01, 0.1, 0.5)
) -> Iterator[Check]:
    """The Taylor remainder in Section 8, with and without its factor 1/2."""
    scales = {m: math.sqrt(Mallows(m, 0.0).distance_moments()[1]) for m in items}
    found = {(m, span): remainder(m, span / scale) for m, scale in scales.items() for span in spans}
    least, most, off = zip(*found.values(), strict=True)
    grid = f"{len(found)} laws, m = {items[0]} to {items[-1]:,}, θ·sd = {spans[0]:g} to {spans[-1]:g}"
    what = "KL/(ln φ)² over the least ∇² ln Z on [ln φ, 0]"
    yield printed(f"m = 2, φ = 1/2: {what}", remainder(2, math.log(2))[0], ">=", 1, error=ROUNDING)
    yield printed(f"{what}: largest, {grid}", max(least), ">=", 1)
    yield amended(f"{what}: smallest, {grid}", min(least), ">=", 0.5 - 1e-6)
    # the fourth cumulant is at most 2 sd^4: the curvature falls by a share of (θ·sd)² at most
    near = max(found[m, spans[0]][0] for m in items)
    yield amended(f"{what}: largest at θ·sd = {spans[0]:g}", near, "==", 0.5, error=spans[0] ** 2)
    what = "KL/(ln φ)² over the largest ∇² ln Z on [ln φ, 0]"
    yield amended(f"{what}: largest, {grid}", max(most), "<=", 0.5 + 1e-6)
    # KL is a difference of numbers near log m!: at θ·sd = 0.01 rounding takes a share of some 1e-7 of it
    what = f"∫ s ∇² ln Z(s) ds from 0 to θ, by Simpson's rule, against KL: largest relative difference, {grid}"
    yield argument(what, max(off), "<=", 1e-6)


def output_bits(items: int) -> int:
    """Binary digits of all Mahonian numbers of one order: what any method has to write."""
    return sum(n.bit_length() for n in mahonian(items))


@claim("busafekete2021:sec-4.1:mahonian")
def check_mahonian(
    sizes: Sequence[int] = (10, 20, 40, 80), few: Sequence[int] = (2, 3, 10, 20), parts: Sequence[int] = (2, 10, 10**4)
) -> Iterator[Check]:
    """Cost of the Mahonian table, and of the total variation distance without it."""
    entries, bits = (exponent(sizes, [f(s) for s in sizes]) for f in (table_entries, output_bits))
    grid, (*_, most, _) = f"m = {min(sizes)} to {max(sizes)}", sizes
    rows = [len(mahonian(m)) for m in range(1, most + 1)]
    cells = [(m, 1 / Fraction(part)) for m in few for part in parts]
    fast = [Mallows.of_gap(m, float(gap)).total_variation() for m, gap in cells]
    off = [abs(float(printed_sum(m, 1 - gap) / 2) - tv) for (m, gap), tv in zip(cells, fast, strict=True)]
    yield printed(f"exponent of the numbers that the recursion computes, {grid}", entries, "<=", 2)
    yield printed(f"exponent of the binary digits of its result, which any method writes, {grid}", bits, "<=", 2)
    before, after = (output_bits(m) / m**2 for m in (sizes[-1] // 4, sizes[-1]))
    what = f"binary digits of the numbers of m = {sizes[-1]} over m², to be at most twice those of {sizes[-1] // 4}"
    yield printed(what, after, "<=", 2 * before)
    yield amended(f"numbers in the rows of the table, m = 1 to {most}, counted", sum(rows), "==", table_entries(most))
    yield amended(f"sum of the numbers of m = {most} over m!", sum(mahonian(most)) / math.factorial(most), "==", 1)
    what = f"TV without the table, {len(off)} laws, m = {few[0]} to {few[-1]}: how many are off by > {INVERSION:g}"
    yield amended(what, sum(gap > INVERSION for gap in off), "==", 0)
