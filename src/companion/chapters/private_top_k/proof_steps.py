"""Qiao, Su and Zhang (2021): the steps of the proofs of Lemmas 4.1 and 4.4 between their displays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import ArrayLike

from companion.chapters.private_top_k.lemma_proofs import CHANCES, COINS, MOVES
from companion.chapters.private_top_k.lemmas import DELTA, bennett, certified_share, enclosed
from companion.chapters.private_top_k.order_and_values import cross_ratio
from companion.chapters.private_top_k.tail import log_poisson_binomial_tail
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.topk import Array, integral_above, list_chances, noise_grid
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.topk.noise_laws import LAPLACE

#: Values of four items, in noise scales, and places of the boundary between those chosen and the others.
VALUES, PLACES = (0.0, 1.0, 2.0, 3.0), (-1.0, 0.0, 0.5)


def chances(others: ArrayLike, at: float) -> Array:
    """q_i: that the noisy values of the others lie above a place, in noise scales."""
    return np.asarray(np.exp(LAPLACE.log_above(at - np.asarray(others, float))))


def outcomes(q: ArrayLike) -> tuple[Array, Array]:
    """All vectors z of zeros and ones, and P_q(z)."""
    q = np.asarray(q, float)
    z = np.array(list(product((0, 1), repeat=len(q))))
    return z, np.where(z, q, 1 - q).prod(1)


def given_number(q: ArrayLike, number: int) -> Array:
    """Chance of each item to be in, given that so many are."""
    z, p = outcomes(q)
    kept = z.sum(1) == number
    return np.asarray(p[kept] @ z[kept] / p[kept].sum())


@claim("qiao2021:sec-1:multinomial")
def check_multinomial() -> Iterator[Check]:
    """Given the last noisy value chosen, the others are chosen each by itself: their number has no fixed value."""
    spread, off = [], []
    for place in PLACES:
        q = chances(VALUES, place)
        z, p = outcomes(q)
        number = z.sum(1)
        spread.append(float(p @ number**2 - (p @ number) ** 2))
        off += [math.exp(log_poisson_binomial_tail(q.tolist(), k)) - p[number <= k].sum() for k in range(len(q))]
    sets = max(abs(cross_ratio(VALUES, place, order=False)) for place in PLACES)
    what = "variance of the number of four items above a fixed value (0: a multinomial vector has a fixed sum)"
    yield printed(f"{what}, largest of {len(PLACES)}", max(spread), "==", 0)
    what = "log cross ratio of two of four items above a fixed value, largest (0: independent choices)"
    yield amended(what, sets, "==", 0, error=ROUNDING)
    yield amended("law of their number, off that of a Poisson binomial", np.abs(off).max(), "==", 0, error=ROUNDING)


def set_by_boundary(values: ArrayLike, k: int) -> float:
    """P(the first k are chosen): the sum over the last of them, j, of the integral of l(g) P(M(q) in S_j)."""
    x = np.asarray(values, float)
    grid = noise_grid(x, "laplace")
    inside, total = range(k), 0.0
    for j in inside:
        others = [i for i in range(len(x)) if i != j]
        logs = sum((grid.above[i] if i < k else grid.below[i] for i in others), grid.density[j])
        total += float(integral_above(np.exp(logs), grid.half)[0, 0])
    return total


@claim("qiao2021:lem-4.1:given")
def check_given() -> Iterator[Check]:
    """What is known of the others given who stands at the boundary, and given the noise there alone."""
    q = chances(VALUES[1:], 0.5)
    one, two = (given_number(part, k - 1) / part for part, k in ((q[:1], 1), (q, 2)))
    x = [0.0, 1.0, 2.5, 0.5]
    lists = sum(list_chances(x, list(permutations(range(2)))))
    what = "P(i is chosen, given J_k = j and g_j) over q_i"
    yield printed(f"{what}, 1 of 2 items", float(one[0]), "==", 1)
    yield printed(f"{what}, 2 of 4 items, least", float(two.min()), "==", 1)
    sum_up = "Σ_j of the integral of l(g) P(M(q) in S_j), 2 of 4 items, less P(S) by all lists"
    yield amended(sum_up, set_by_boundary(x, 2) - lists, "==", 0, error=ROUNDING)
    z, p = outcomes(q)
    yield agree("chance of an item to be in, all numbers together, off q_i", p @ z - q)


def log_ratios(q: ArrayLike, moved: ArrayLike) -> tuple[Array, Array]:
    """Both values of zeta_i, log q'_i/q_i and log (1 - q'_i)/(1 - q_i)."""
    q, moved = np.asarray(q, float), np.asarray(moved, float)
    return np.log(moved / q), np.log((1 - moved) / (1 - q))


@claim("qiao2021:lem-4.4:bennett")
def check_bennett(epsilon: float = 0.2) -> Iterator[Check]:
    """Sum of zeta, its mean, variance and range, and Bennett's bound on its lower tail, by enumeration."""
    mass, moments, ranges, over = [], [], [], []
    q, signs = COINS
    for tau in (0.0072, 0.05, 0.3, 0.9):
        moved = q + tau * signs * q * (1 - q)
        up, down = log_ratios(q, moved)
        z, p = outcomes(q)
        total = np.where(z, up, down).sum(1)
        exceeds = p >= math.exp(epsilon) * np.where(z, moved, 1 - moved).prod(1)
        mass.append(p[exceeds].sum() - p[total <= -epsilon].sum())
        mean = float((q * up + (1 - q) * down).sum())
        variance, widest = float((q * (1 - q) * (up - down) ** 2).sum()), float(np.abs(up - down).max())
        moments += [p @ total - mean, p @ (total - mean) ** 2 - variance]
        centred = np.array([up, down]) - (q * up + (1 - q) * down)
        ranges.append(float(np.abs(centred).max()) / widest)
        for t in widest * np.linspace(0.05, 3, 60):
            bound = math.exp(-variance * bennett(widest * t / variance, math.log) / widest**2)
            over.append(p[total < mean - t].sum() / bound)
    where = f"{len(q)} items, four τ"
    yield printed(f"mass of S* less P(Σζ ≤ −ε), {where}, largest", float(np.abs(mass).max()), "==", 0, error=ROUNDING)
    yield printed(
        f"mean and variance of Σζ, off the formulas, {where}", float(np.abs(moments).max()), "==", 0, error=ROUNDING
    )
    yield printed(f"abs(ζ̃)/A, {where}, largest", max(ranges), "<=", 1)
    yield printed(f"P(Σζ < its mean − t) over exp(−σ²h(At/σ²)/A²), {where}, 60 t each, largest", max(over), "<=", 1)


def mean_terms(q: Array, move: Array) -> tuple[Array, Array, Array, Array]:
    """q log(1 + u) and (1 - q) log(1 - v) for u = D/q, v = D/(1 - q), D = move q (1 - q); and u, v."""
    u, v = move * (1 - q), move * q
    return q * np.log1p(u), (1 - q) * np.log1p(-v), u, v


@claim("qiao2021:lem-4.4:cases")
def check_cases() -> Iterator[Check]:
    """The displays that bound the mean of a log-ratio, case by case, on a grid of q and of moves up and down."""
    q = CHANCES[1:-1]
    first, second, u, v = mean_terms(q, MOVES)
    tau, ups = np.abs(MOVES), MOVES[:, 0] > 0
    most = q * u**2 + (1 - q) * v**2
    shown = np.where(
        np.abs(first) >= np.abs(second),
        np.abs(q * (u + u**2) + (1 - q) * (-v + v**2)),
        np.abs(q * (u - u**2) + (1 - q) * (-v - v**2)),
    )
    small, line = np.linspace(-0.5, 0.5, 1001), np.r_[np.linspace(-0.999, 1, 1000), np.geomspace(1, 1e6, 100)]
    still = mean_terms(np.array([0.5]), np.array([[0.0]]))[0][0, 0]
    signs = min(float(first[ups].min()), float(-second[ups].max()))
    yield supplied("largest of log(1 + u) − u, u > −1", float((np.log1p(line) - line).max()), "<=", 0)
    yield supplied(
        "least of log(1 + u) − u + u², abs(u) ≤ 1/2", float((np.log1p(small) - small + small**2).min()), ">=", 0
    )
    yield printed("q log(1 + Δ/q), q = 1/2, Δ = 0", float(still), ">", 0)
    yield supplied("least of q log(1 + Δ/q) and −(1 − q) log(1 − Δ/(1 − q)), Δ > 0", signs, ">", 0)
    what = "abs(mean of a log-ratio) over the bound displayed for its case, Δ up and down, largest"
    yield supplied(what, float((np.abs(first + second) / shown).max()), "<=", 1)
    yield supplied(
        "displayed bound over q(Δ/q)² + (1 − q)(Δ/(1 − q))², off 1",
        float(np.abs(shown / most - 1).max()),
        "==",
        0,
        error=ROUNDING,
    )
    step = tau**2 * (q * (1 - q) ** 2 + q**2 * (1 - q))
    yield supplied("that over τ²(q(1 − q)² + q²(1 − q)), largest", float((most / step).max()), "<=", 1 + ROUNDING)
    yield supplied("that over τ²q, largest", float((step / (tau**2 * q)).max()), "<=", 1)
    met = int((np.abs(first[ups]) >= np.abs(second[ups])).sum())
    yield amended("points of the grid in the first of the two cases, Δ > 0", met, "==", 0)


#: Items at which Lemma 4.4's condition is looked at; C0, and what is left of it when k falls by one.
SIZES_OF_K, C0_PRINTED, C0_LESS = (200, 1000, 10**6), 3.9**2, "14.9"


@claim("qiao2021:lem-4.1:one-less")
def check_one_less() -> Iterator[Check]:
    """Lemma 4.4 is applied to sets of k - 1 of the m - 1 others, at the least k of which the proof speaks."""
    for m in SIZES_OF_K:
        log = math.log(m / float(DELTA))
        k = math.ceil(C0_PRINTED * log)
        what = f"k − 1, the size of the sets in S_j, over C0 log(m/δ), m = {m:,}, δ = {DELTA}, k = {k}"
        yield printed(what, (k - 1) / (C0_PRINTED * log), ">=", 1)
        yield argument(f"k, over the same, m = {m:,}", k / (C0_PRINTED * log), ">=", 1)
    least = C0_PRINTED - 1 / math.log(2 / float(DELTA))
    yield amended("least (k − 1)/log(m/δ), k ≥ C0 log(m/δ)", least, ">=", float(C0_LESS))
    share = certified_share(C0_LESS)
    what = f"exponent of Lemma 4.4 over log(m/δ) for k ≥ {C0_LESS} log(m/δ), at least, certified"
    yield enclosed(what, share, ">=", "1", amended)


@claim("qiao2021:lem-4.1:unit")
def check_unit(units: tuple[float, ...] = (0.1, 3.0, 250.0)) -> Iterator[Check]:
    """Whether s = 1 is no loss: values and noise in units of s choose the same sets."""
    whole = set_by_boundary([0.0, 1.0, 2.5, 0.5], 2)
    for unit in units:
        scaled = np.array([0.0, 1.0, 2.5, 0.5]) * unit
        off = set_by_boundary(scaled / unit, 2) - whole
        law = _scaled_set(scaled, unit)
        yield printed(f"chance of a set, s = {unit:g} and λ = s, less that at s = 1", law - whole, "==", 0, error=1e-6)
        yield agree(f"the same by values in units of s = {unit:g}", off)


def _scaled_set(values: Array, scale: float, points: int = 4001) -> float:
    """P(the first two of four are chosen) by a plain sum over the k-th value, noise Laplace(scale)."""
    grid = np.linspace(values.min() - 40 * scale, values.max() + 40 * scale, points * 10)
    gap = np.abs(grid - values[:, None]) / scale
    density = np.exp(-gap) / (2 * scale)
    above = np.where(grid < values[:, None], 1 - np.exp(-gap) / 2, np.exp(-gap) / 2)
    below = (1 - above[2]) * (1 - above[3])
    total = (density[0] * above[1] + density[1] * above[0]) * below
    return float(np.trapezoid(total, grid))
