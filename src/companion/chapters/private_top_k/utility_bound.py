"""Qiao, Su and Zhang (2021), Theorem 2.3: how surely noisy top-k selection finds the true set.

Values are 0, gap, 2 gap, ... in units of the noise scale, the k smallest are wanted: by symmetry as good as the k
largest. Failure probabilities are exact, with full relative accuracy however small they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from companion.instruments import style
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.style import CALIBRATION, COLOURS, styled
from companion.instruments.topk import Array, panels
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import qiao2021
from dprank.pairwise.rank_law import top_set_law
from dprank.topk.noise_laws import LAPLACE

#: Items further than so many scales from the boundary change a failure probability by a share below 1e-16.
_REACH = 60.0


def swapped(gap: ArrayLike) -> Array:
    """Probability that Laplace noise swaps two values a gap (in scales) apart: exp(-gap) (2 + gap) / 4."""
    gap = np.asarray(gap, float)
    return np.exp(-gap) * (2 + gap) / 4


def printed_failure(items: float, gap: ArrayLike) -> Array:
    """What Theorem 2.3 leaves for failure, 1 - p."""
    return np.minimum(1.0, (items - 1) * swapped(gap))


def our_failure(gap: ArrayLike) -> Array:
    """A bound for any number of items: `swapped` over all pairs across the boundary, n of which are n gaps apart.

    With r = exp(-gap) the sum of n (2 + n gap) r^n / 4 is r / (2 (1 - r)^2) + gap r (1 + r) / (4 (1 - r)^3).
    """
    gap = np.asarray(gap, float)
    if not (gap > 0).all():
        raise ValueError(f"gap = {gap.min()}; it must be above 0")
    r, rest = np.exp(-gap), -np.expm1(-gap)
    return np.minimum(1.0, r / (2 * rest**2) + gap * r * (1 + r) / (4 * rest**3))


def exact_failure(items: int, k: int, gap: float) -> float:
    """Exact probability that the noisy k smallest are not the true ones, values a gap (in scales) apart.

    The last of the true ones lies at v, and somebody else below it: an integral of positive terms, by Gauss-Legendre
    panels between the kinks. Items more than `_REACH` scales away from the boundary are left out.
    """
    if not (1 <= k < items and gap > 0):
        raise ValueError(f"k = {k}, gap = {gap}; k in 1 .. {items - 1} and a gap above 0 are allowed")
    near = math.ceil(_REACH / gap)
    mine, others = gap * np.arange(-min(k, near) + 1, 1), gap * np.arange(1, min(items - k, near) + 1)
    half, at, weight = panels(np.r_[mine, others], -_REACH, gap + _REACH)
    v, mass = at.ravel(), (half * weight).ravel()
    density = np.zeros_like(v)
    below = np.zeros_like(v)
    for x in mine:
        below += LAPLACE.log_below(v - x)
        density += np.exp(LAPLACE.log_density(v - x) - LAPLACE.log_below(v - x))
    above = sum((LAPLACE.log_above(v - x) for x in others), np.zeros_like(v))
    return float(mass @ (density * np.exp(below) * -np.expm1(above)))


def failures(gaps: Iterable[float], sizes: Sequence[int] = (10, 1000, 8 * 10**6)) -> pd.DataFrame:
    """Failure against the gap: ``gap`` (in scales), ``items`` (0 for any number), ``kind`` ("as printed", "corrected",
    or "exact", half of the most items wanted), ``failure``.
    """
    gap, most = np.array([*gaps], float), max(sizes)
    parts: list[tuple[int, str, Any]] = [(m, "as printed", printed_failure(m, gap)) for m in sizes]
    parts += [(0, "corrected", our_failure(gap)), (most, "exact", [exact_failure(most, most // 2, x) for x in gap])]
    frames = [pd.DataFrame({"gap": gap, "items": m, "kind": kind, "failure": some}) for m, kind, some in parts]
    return pd.concat(frames, ignore_index=True)


def needed_gap(items: float, failure: float) -> float:
    """The gap (in scales) from which Theorem 2.3's bound on failure is at most `failure`."""
    return float(brentq(lambda gap: math.log((items - 1) * float(swapped(gap)) / failure), 0, 500))


def most_items(gap: float, failure: float) -> int:
    """The most items for which Theorem 2.3 leaves less than `failure`."""
    return math.ceil(failure / float(swapped(gap)))


#: Where Theorem 2.3 is tried: gaps in scales, numbers of items, and steps between values that are not equally spaced.
GAPS, SIZES, MANY = (0.25, 0.5, 1, 2, 5, 10, 20, 40), (2, 3, 5, 50), 10**6
STEPS = (1, 1, 3, 2), (4, 5, 6, 9), (8, 4, 4, 4), (0, 1, 2, 3), (3, 0, 0, 1), (0,)
#: The example after it: items, with a superscript that our copy has lost and as it stands there, and gap.
EXAMPLE, LITERAL, GAP = 8 * 10**6, 8 * 106, 20.0


@claim("qiao2021:thm-2.3")
def check_utility() -> Iterator[Check]:
    """Theorem 2.3 against exact probabilities: equal and unequal gaps, ties, all k."""
    shapes = [(m, k) for m in SIZES for k in sorted({1, m // 2, m - 1})]
    exact = {(m, k, x): exact_failure(m, k, x) for m, k in shapes for x in GAPS}
    ratios = {at: chance / float(printed_failure(at[0], at[2])) for at, chance in exact.items()}
    two = [abs(ratio - 1) for (m, _, _), ratio in ratios.items() if m == 2]
    few = [
        (at, 1 - top_set_law(-at[2] * np.arange(at[0]), 1.0, at[1])[tuple(range(at[1]))]) for at in exact if at[0] <= 5
    ]
    off = max(abs(exact[at] - chance) for at, chance in few)
    unequal = []
    for steps in STEPS:
        values = np.r_[0, np.cumsum(steps)]
        bound = float(printed_failure(len(values), min(steps)))
        laws = ((k, top_set_law(-values, 1.0, k)) for k in range(1, len(values)))
        unequal += [(1 - law[tuple(range(k))]) / bound for k, law in laws]
    tied = 1 - top_set_law(-np.repeat([0.0, GAP], 3), 1.0, 3)[0, 1, 2]
    ours = [exact_failure(m, m // 2, x) / float(our_failure(x)) for m in (2, 3, 10, MANY) for x in GAPS]
    wrong = "exact chance of a wrong set"
    equal = f"equal gaps of {min(GAPS)}λ to {max(GAPS)}λ, up to {max(SIZES)} items"
    for cases, chances in ((equal, ratios.values()), (f"{len(unequal)} unequal gaps and ties", unequal)):
        yield printed(f"{wrong} over 1 − p, {cases}: largest", max(chances), "<=", 1 + ROUNDING)
    yield amended(f"{wrong} over 1 − p, two items, off 1: largest", max(two), "==", 0, error=ROUNDING)
    yield amended(f"{wrong} over our bound without m, up to 10⁶ items: largest", max(ours), "<=", 1 + ROUNDING)
    # of pairs further apart than the gap there is a share of some e^-40
    yield amended(f"{wrong} over our bound without m, Δ = 40λ, 10⁶ items", ours[-1], "==", 1, error=ROUNDING)
    crossing = 9 * float(swapped(GAP))
    yield amended(f"{wrong}, 3 and 3 tied values 20λ apart, k = 3 (p = 0): 9 pairs to swap", tied, "<=", crossing)
    yield agree(f"{wrong}, off that by the law of all sets, up to 5 items: largest", off)


@claim("qiao2021:thm-2.3:example")
def check_example() -> Iterator[Check]:
    """The closing sentence of Section 2: Theorem 2.3's p at a gap of 20 scales and eight million items."""
    p, least = 1 - float(printed_failure(EXAMPLE, GAP)), needed_gap(EXAMPLE, 0.01)
    exact, ours = exact_failure(EXAMPLE, EXAMPLE // 2, GAP), float(our_failure(GAP))
    plain = 1 - float(printed_failure(LITERAL, GAP))
    lost, as_it_stands = "m ≤ 8·10⁶: a superscript is lost in our copy", "m ≤ 848: 8 × 106, as it stands in our copy"
    yield printed("p of Theorem 2.3, Δ = 20λ, m = 8·10⁶", p, ">", qiao2021.EXAMPLE_P, reading=lost)
    yield printed("p of Theorem 2.3, Δ = 20λ, m = 848", plain, ">", qiao2021.EXAMPLE_P, reading=as_it_stands)
    yield amended("p of Theorem 2.3, Δ = 20λ, m = 8·10⁶", p, "==", 0.909, error=5e-4)
    yield amended("most items with p > 0.99, Δ = 20λ", most_items(GAP, 0.01), "==", 882_119)
    yield amended("least Δ/λ with p ≥ 0.99, m = 8·10⁶: below 22.31 by less than 0.01", least, "==", 22.305, error=0.005)
    yield amended("our bound without m on the chance of a wrong set, Δ = 20λ", ours, "<", 1.2e-8)
    # at least the chance that the two at the boundary swap, at most the sum over all pairs
    share = 1 - float(swapped(GAP)) / ours
    yield agree("exact chance of a wrong set over it, m = 8·10⁶, k = m/2, off 1", exact / ours - 1, share)


@claim("qiao2021:sec-2:almost-surely")
def check_almost_surely() -> Iterator[Check]:
    """Large gaps: whether the true set is certain, or certain in the limit."""
    gaps = np.array([10.0, 20.0, 40.0])
    chances = [exact_failure(MANY, MANY // 2, gap) for gap in gaps]
    what = f"exact chance of a wrong set, {MANY:,} items, k = m/2"
    yield printed(f"{what}, Δ = {gaps[-1]:g}λ", chances[-1], "==", 0, reading="with probability one")
    limit = "with a probability that tends to one"
    yield printed(
        f"1 − p of Theorem 2.3, {MANY:,} items, Δ = {gaps[-1]:g}λ",
        float(printed_failure(MANY, gaps[-1])),
        "<=",
        1e-9,
        reading=limit,
    )
    yield printed(
        f"least of Theorem 2.3's 1 − p at a gap over that at twice the gap, from {gaps[0]:g}λ on",
        float((swapped(gaps[:-1]) / swapped(gaps[1:])).min()),
        ">",
        1e3,
        reading=limit,
    )
    # two items at the boundary swap with this chance, and neighbours further away hardly add to it
    off = max(abs(chance / float(swapped(gap)) - 1) for chance, gap in zip(chances, gaps, strict=True))
    yield amended(f"{what}, over (2 + Δ/λ)e^(−Δ/λ)/4, Δ from {gaps[0]:g}λ on, largest off 1", off, "<=", 1e-3)


@styled
def draw_failure(frame: pd.DataFrame) -> Figure:
    """Probability of a wrong set against the gap: bounds as lines, exact values as marks."""
    message = "Our bound on a wrong set holds for any number of items"
    figure, (axes,) = style.panels(message=message, height=4.4 if style.on_phone() else 3.4)
    as_printed = frame[frame.kind == "as printed"]
    for (items, part), line in zip(as_printed.groupby("items"), (":", "--", "-"), strict=False):
        colour = CALIBRATION["as printed"]["color"]
        axes.plot(part["gap"], part.failure, color=colour, ls=line, label=f"Theorem 2.3, {items:,} items")
    ours, exact = (frame[frame.kind == kind] for kind in ("corrected", "exact"))
    axes.plot(ours["gap"], ours.failure, color=CALIBRATION["corrected"]["color"], label="ours, any number")
    label = f"exact, {exact['items'].max():,} items"
    axes.plot(exact["gap"], exact.failure, "o", color=COLOURS[6], ms=3, label=label)
    axes.plot(GAP, 1 - qiao2021.EXAMPLE_P, "kx", ms=8, mew=2, label=f"the paper's example, {EXAMPLE:,} items")
    axes.set(xlabel="gap between neighbours, in noise scales", ylabel="chance of a wrong set", yscale="log")
    axes.set_ylim(bottom=exact.failure.min() / 3, top=2)
    style.key(figure, *axes.get_legend_handles_labels(), columns=1 if style.on_phone() else 3)
    style.note(
        figure,
        "Set: the items selected. Neighbours: two items next to each other by their counts. Theorem 2.3 and the "
        "example are from Qiao et al.",
    )
    return figure
