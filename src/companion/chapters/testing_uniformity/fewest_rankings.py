"""How many rankings any test needs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import special

from companion.chapters.testing_uniformity.fixed_epsilon import (
    bracket,
    exponent_at,
    least_samples,
    shared_variance,
    unif_samples,
)
from companion.chapters.testing_uniformity.mallows_laws import chi_square
from companion.instruments.style import CALIBRATION, COLOURS, name_lines, note, panels, styled
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.mallows import theta_at


def remainder(items: float, theta: float) -> float:
    """Bound on log overlap - theta^2 C(c): cumulants of order 4, 6, ... of a sum with a dependency graph.

    Janson's bound for N = m (m - 1) / 2 pairs, each sharing an item with at most 2m - 4 others.
    """
    pairs, degree = items * (items - 1) / 2, 2 * items - 3
    x = 2 * math.e * degree * theta
    if x >= 0.5:
        return math.inf
    r = np.arange(4, 60, 2)
    logs = r * math.log(theta) + (r - 1) * math.log(2 * degree) + (r - 2) * np.log(r)
    logs += math.log(pairs) - special.gammaln(r + 1)
    tail = pairs / degree * x**60
    return float(np.exp(logs).sum() + tail + theta**4 * (items + 1) ** 5 / 1200)


def proved_samples(items: float, epsilon: float, delta: float) -> float:
    """Rankings up to which it is proved that no test with unknown centre has both errors at most delta."""
    theta = bracket(items, epsilon)[1]
    room, linear = math.log1p(4 * (1 - 2 * delta) ** 2), remainder(items, theta)
    if not math.isfinite(linear):
        return 0.0
    square = theta**4 * items * ((items**2 - 1) / 12) ** 2 / 2
    return 2 * room / (linear + math.sqrt(linear**2 + 4 * square * room))


def two_rankings_share(items: int, phi: Fraction) -> Fraction:
    """Total variation of two rankings of an unknown centre from uniform, over 2 d^2, d that of one of a known centre.

    The first is a shuffled deck whatever the second looks like from it: the product of two Mallows permutations.
    """
    orders = list(permutations(range(items)))
    weights = [phi ** sum(a > b for i, a in enumerate(it) for b in it[i:]) for it in orders]
    law = {it: weight / sum(weights) for it, weight in zip(orders, weights, strict=True)}
    seen: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for (one, p), (other, q) in product(law.items(), repeat=2):
        seen[tuple(other[i] for i in one)] += p * q
    uniform, nothing = Fraction(1, len(law)), Fraction(0)
    two, alone = (sum((abs(p - uniform) for p in of.values()), nothing) / 2 for of in (seen, law))
    return two / (2 * alone**2)


@claim("busafekete2021:abstract:rate")
def check_rate(frame: pd.DataFrame, epsilon: float = 0.5, delta: float = 0.05) -> Iterator[Check]:
    """Samples at a fixed epsilon and at a fixed phi."""
    part = frame[frame.epsilon == epsilon]
    if (large := part["items"] >= 300).sum() > 1:  # a grid of a reader's may end before
        part = part[large]
    what = f"ε = {epsilon:g}, δ = {delta:g}"
    sizes = (10**12, 10**16)
    any_test = [proved_samples(m, epsilon, delta) for m in sizes]
    unif = [unif_samples(m, bracket(m, epsilon)[1], delta) for m in sizes]
    decades = math.log(sizes[1] / sizes[0])
    slope, slope_unif = (math.log(k[1] / k[0]) / decades for k in (any_test, unif))
    grid = f"m = {part['items'].min()} to {part['items'].max():,}"
    about = f"{what}, any m: most power that a test of two rankings can have, δ + 2ε²"
    yield printed(about, delta + 2 * epsilon**2, ">=", 1 - delta)
    yield printed(f"{what}, {grid}: exponent of the k that UNIF draws", exponent_at(part, "unif", epsilon), "<=", -0.5)
    laws = [(m, Fraction(part, 10)) for m in (2, 3, 4) for part in (0, 1, 5, 9)]
    shares = [two_rankings_share(m, phi) for m, phi in laws]
    about = f"distance from uniform of two rankings of an unknown centre over 2d², {len(laws)} laws, m = 2 to 4"
    yield argument(f"{about}: largest", float(max(shares)), "<=", 1)
    yield argument(f"{about}: at m = 2", float(min(shares[:4])), "==", 1)
    yield amended(f"{what}, m = 10¹² to 10¹⁶: exponent of that bound on any test", slope, ">=", 0.49)
    # line 5 is 1, and √m (1 + c √(log(2/δ) / m)) with c = 2 + 9.6 to leading order, rounded up
    error = (20 * math.sqrt(-math.log(delta / 2) / sizes[0]) + 2 / unif[0]) / decades
    about = f"{what}, m = 10¹² to 10¹⁶: exponent of a lower bound on UNIF's k"
    yield amended(about, slope_unif, "==", 0.5, error=error)
    m = 10**4
    theta = theta_at(m, epsilon)
    between = unif_samples(m, theta, delta) / least_samples(m, theta, delta)
    about = f"{what}, m = {m:,}: UNIF's k over the bound on any test, to leading order"
    yield amended(about, between, "<=", 1000)
    yield amended("UNIF's k at a fixed φ = 0.9, m = 10⁶", unif_samples(10**6, -math.log(0.9), delta), "==", 2)


def overlap_table(items: Iterable[int], epsilon: float, n: int) -> pd.DataFrame:
    """Exact chi-square of n rankings with a random common centre, beside its leading-order form.

    ``items``, ``exact``, ``leading``: exp(n (n - 1) theta^4 V / 2) - 1, V the variance of `shared_variance`.
    """
    rows = []
    for m in items:
        theta = theta_at(m, epsilon)
        leading = math.expm1(n * (n - 1) * theta**4 * shared_variance(m)[0] / 2)
        rows.append({"items": m, "exact": chi_square(m, theta, n), "leading": leading})
    return pd.DataFrame(rows)


@styled
def draw_samples(frame: pd.DataFrame) -> Figure:
    """Rankings against items at a fixed epsilon: what UNIF draws, what any test needs, what the abstract says."""
    message = "Where nobody knows the order, long lists take more rankings, not fewer"
    figure, (axes,) = panels(message=message, height=3.4)
    items, as_printed = frame["items"], CALIBRATION["as printed"]["color"]
    axes.plot(items, frame.unif, "s-", color=COLOURS[0], label="what UNIF asks for")
    axes.plot(items, frame.bound, "o-", color=COLOURS[2], label="needed if the order is unknown")
    axes.plot(items, frame.known, "D-", color=COLOURS[3], label="enough if the order is known")
    axes.plot(items, frame.claimed, "--", color=as_printed, label="the abstract's rate")
    axes.set(xscale="log", yscale="log", xlabel="items", ylabel="rankings needed")
    note(
        figure,
        "UNIF: a test by Busa-Fekete et al. of whether rankings are shuffled. Distance: the most by which the "
        "probability of any event differs. Dashed: only the slope is that of their abstract. Order: the one towards "
        "which the rankings lean.",
    )
    name_lines(axes, width=12)
    return figure
