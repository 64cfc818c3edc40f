"""Exact laws of few items: the normaliser, total variation, testers, and a centre that is known or not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_distances, all_rankings, distance_law
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from dprank.aggregation import lower_bounds
from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows, theta_at

#: What a total variation distance by Fourier inversion may be off.
INVERSION = 1e-10
#: Constant of the Berry-Esseen inequality for independent summands that need not be alike (Shevtsova 2010).
BERRY_ESSEEN = 0.56

Array = NDArray[np.float64]


@cache
def mahonian(items: int) -> tuple[int, ...]:
    """How many rankings stand at Kendall distance 0, 1, ..., items (items - 1) / 2 from a given one."""
    return tuple(lower_bounds.mahonian(items, math.comb(items, 2)))


def table_entries(items: int) -> int:
    """Numbers that the recursion of `mahonian` computes: the lengths of its rows, j (j - 1) / 2 + 1, summed."""
    return (items**3 - items) // 6 + items


def printed_sum(items: int, phi: Fraction) -> Fraction:
    """The sum over distances i of abs(1/m! - phi^i / Z) times the Mahonian number, as Section 4.1 prints it."""
    counts = mahonian(items)
    z = sum((n * phi**i for i, n in enumerate(counts)), Fraction(0))
    return sum((n * abs(Fraction(1, math.factorial(items)) - phi**i / z) for i, n in enumerate(counts)), Fraction(0))


def best_event(items: int, phi: Fraction, centre: Sequence[int] | None = None) -> Fraction:
    """Largest difference of the probabilities of an event under Mallows and uniform, from all rankings."""
    distances = kendall_distances(all_rankings(items), np.arange(items) if centre is None else np.array(centre))
    weights = [phi ** int(d) for d in distances]
    z, uniform = sum(weights, Fraction(0)), Fraction(1, len(weights))
    return sum((max(w / z - uniform, Fraction(0)) for w in weights), Fraction(0))


def normaliser(items: int, phi: Fraction) -> Fraction:
    """The printed product: i = 1 .. m - 1 of the sum over j = 0 .. i of phi^j."""
    factors = [sum((phi**j for j in range(i + 1)), Fraction(0)) for i in range(1, items)]
    return math.prod(factors, start=Fraction(1))


@claim("busafekete2021:eq-z")
def check_z(items: Iterable[int] = range(2, 8)) -> Iterator[Check]:
    """Definition and product formula of Z."""
    phis = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100), Fraction(1)]
    half = Fraction(1, 2)
    off = max(
        abs(
            sum((phi ** int(d) for d in kendall_distances(all_rankings(m), np.arange(m))), Fraction(0))
            - normaliser(m, phi)
        )
        for m in items
        for phi in phis
    )
    fixed = math.sqrt(normaliser(2, half))
    yield printed("m = 2, φ = 1/2: Σ p(π), which is 1, against the product", 1, "==", float(normaliser(2, half)))
    yield printed("the same with p = φ^d / Z and Z = Σ p solved for Z", fixed, "==", float(normaliser(2, half)))
    yield amended(
        f"Σ φ^d over all rankings against the product, m = 2 to {max(items)}, largest difference", float(off), "==", 0
    )


@claim("busafekete2021:sec-4.1:tv-formula")
def check_tv_formula(items: Iterable[int] = range(2, 7)) -> Iterator[Check]:
    """The printed sum against the largest difference of probabilities of an event."""
    phis = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)]
    zero = Fraction(0)
    ratios = [printed_sum(m, phi) / best_event(m, phi) for m in items for phi in phis]
    what = f"the sum over the total variation distance, m = 2 to {max(items)}, φ = 0, 0.1, 0.5, 0.99"
    yield printed(
        "the sum at m = 2, φ = 0, against its total variation distance", float(printed_sum(2, zero)), "==", 0.5
    )
    yield printed(f"{what}: smallest", float(min(ratios)), "==", 1)
    yield amended(f"{what}: smallest", float(min(ratios)), "==", 2)
    yield amended(f"{what}: largest", float(max(ratios)), "==", 2)


@claim("busafekete2021:sec-4.1:tv-monotone")
def check_tv_monotone(items: Sequence[int] = (2, 3, 5, 8, 12), tolerance: float = 1e-9) -> Iterator[Check]:
    """Total variation falls in phi, in fractions, and halving finds phi_epsilon."""
    phis = [
        Fraction(0),
        Fraction(1, 10**6),
        *(Fraction(i, 20) for i in range(1, 20)),
        1 - Fraction(1, 10**6),
        Fraction(1),
    ]
    falls = min(
        float(a - b) for m in items for tv in [[printed_sum(m, phi) / 2 for phi in phis]] for a, b in pairwise(tv)
    )
    steps, off = 0, 0.0
    for m in items:
        for epsilon in (0.01, 0.25, 0.49):
            low, high, count = 0.0, 1.0, 0
            while high - low > tolerance:
                middle, count = (low + high) / 2, count + 1
                far = Mallows.of_phi(m, middle).total_variation() > epsilon
                low, high = (middle, high) if far else (low, middle)
            steps, off = max(steps, count), max(off, abs(low - math.exp(-theta_at(m, epsilon))))
    grid = f"{len(items)} m from 2 to {max(items)}"
    yield printed(f"smallest fall from one φ to the next, {len(phis)} of them from 0 to 1, {grid}", falls, ">", 0)
    yield printed(
        f"φ_ε by halving against φ_ε by another root finder, {grid}, ε = 0.01, 0.25, 0.49", off, "<=", 2 * tolerance
    )
    yield printed(f"steps of halving until φ_ε is known to within {tolerance:g}", steps, "<=", 30)


@claim("busafekete2021:def-phi-eps")
def check_phi_eps(items: Iterable[int] = range(2, 8)) -> Iterator[Check]:
    """Is phi_epsilon defined, an end of an interval, and free of the centre?"""
    grid = [Fraction(i, 50) for i in range(51)]
    found = sum(best_event(2, phi) > Fraction(1, 2) for phi in grid)
    spread = {best_event(4, Fraction(1, 3), centre) for centre in permutations(range(4))}
    off = max(
        abs(float(printed_sum(m, Fraction(math.exp(-theta_at(m, epsilon)))) / 2) - epsilon)
        for m in items
        for share in (1e-3, 0.1, 0.5, 0.9, 0.999)
        for epsilon in [share * (1 - 1 / math.factorial(m))]
    )
    closed = max(abs(math.exp(-theta_at(2, e)) - (1 - 2 * e) / (1 + 2 * e)) for e in (0.01, 0.1, 0.25, 0.4, 0.49))
    what = f"distance at φ_ε against ε, ε = 0.001 to 0.999 times 1 − 1/m!, m = 2 to {max(items)}, in fractions"
    yield printed("m = 2, ε = 1/2: how many φ in 0, 0.02, ..., 1 lie at distance > ε", found, ">=", 1)
    for says in (supplied, amended):
        yield says(what, off, "<=", INVERSION)
        yield says("φ_ε at m = 2 against (1 − 2ε)/(1 + 2ε)", closed, "<=", ROUNDING)
        yield says("distinct distances of M(1/3, π₀) from uniform, over the 24 centres π₀", len(spread), "==", 1)


# --- the tester ------------------------------------------------------------------------------------------------------


def two_item_tester(epsilon: float, delta: float) -> tuple[int, int]:
    """Fewest rankings of an (epsilon, delta)-tester of two items, and the least lead of an order at which to reject."""
    for n in range(1, 10**5):
        leads = np.arange(n % 2, n + 2, 2)
        size = 2 * stats.binom.sf((n + leads) // 2 - 1, n, 0.5)
        lead = int(leads[np.argmax(size <= delta)]) if (size <= delta).any() else n + 2
        if two_item_power(n, lead, 0.5 + epsilon) >= 1 - delta:
            return n, lead
    raise ValueError(f"epsilon = {epsilon}: more than 100,000 rankings are needed")


def two_item_power(rankings: int, lead: int, before: float) -> float:
    """Probability that one order of two items leads by at least `lead` among independent rankings."""
    law = stats.binom(rankings, before)
    return float(law.sf((rankings + lead + 1) // 2 - 1) + law.cdf((rankings - lead) // 2))


@claim("busafekete2021:def-tester")
def check_tester(epsilon: float = 0.25, delta: float = 0.05) -> Iterator[Check]:
    """The definition of a tester: something satisfies it, and not without data."""
    n, lead = two_item_tester(epsilon, delta)
    biases = np.linspace(epsilon, 0.5, 200)
    power = min(two_item_power(n, lead, 0.5 + b) for b in biases)
    fewer = min(
        max(two_item_power(n - 1, least, 0.5), 1 - two_item_power(n - 1, least, 0.5 + epsilon)) for least in range(1, n)
    )
    case = f"m = 2, ε = {epsilon:g}, δ = {delta:g}"
    yield printed(f"{case}, n = {n}: probability to reject uniform rankings", two_item_power(n, lead, 0.5), "<=", delta)
    yield printed(f"{case}, n = {n}: least power over the alternatives, either centre", power, ">=", 1 - delta)
    yield content(f"{case}, n = {n - 1}: larger error of the best symmetric threshold", fewer, ">", delta)


# --- known or unknown centre -----------------------------------------------------------------------------------------


def known_centre_power(items: int, theta: float, n: int, size: float, coin: bool = True) -> float:
    """Power of the best test of a size from n rankings whose centre the tester knows (Neyman and Pearson).

    It rejects where the sum of the distances from the centre is small, with or without a coin at the boundary.
    """
    null, law = np.ones(1), np.ones(1)
    for _ in range(n):
        null, law = np.convolve(null, distance_law(items, 0.0)), np.convolve(law, distance_law(items, theta))
    below = np.cumsum(null)
    edge = int(np.searchsorted(below, size, side="right"))
    spent = below[edge - 1] if edge else 0.0
    return float(law[:edge].sum() + coin * law[edge] * (size - spent) / null[edge])


def known_centre_samples(items: int, epsilon: float, delta: float, coin: bool = True) -> int:
    """Fewest rankings of an (epsilon, delta)-tester that knows the centre."""
    theta = theta_at(items, epsilon)
    return next(n for n in range(1, 10**4) if known_centre_power(items, theta, n, delta, coin) >= 1 - delta)


def mixture_excess(items: int, theta: float) -> float:
    """Largest relative deviation of a single ranking from uniform if its centre is uniformly random."""
    law = np.exp(-theta * np.arange(items * (items - 1) // 2 + 1))
    mean = law[all_distances(items)].mean(axis=1)
    return float(np.abs(mean / mean.mean() - 1).max())


def overlaps(items: int, theta: float) -> Array:
    """For every centre c: m! times the sum of p(ranking, identity) p(ranking, c), exact. O(m!^2)."""
    weights = np.exp(-theta * np.arange(items * (items - 1) // 2 + 1))
    one = weights[all_distances(items)[0]]
    sums = np.concatenate([weights[all_distances(items)[i : i + 500]] @ one for i in range(0, len(one), 500)])
    return np.asarray(sums * len(one) / one.sum() ** 2)


def chi_square(items: int, theta: float, n: int) -> float:
    """Chi-square distance from uniform of n rankings that share a uniformly random centre; exact, few items."""
    return float((overlaps(items, theta) ** n).mean() - 1)


@claim("busafekete2021:def-h1")
def check_h1(items: int = 10, epsilon: float = 0.95, delta: float = 0.05) -> Iterator[Check]:
    """What a tester that knows the centre can do with one ranking, and one that does not."""
    theta = theta_at(items, epsilon)
    known, unknown = "the tester knows the centre", "the tester does not know the centre"
    what = "power from one ranking at size"
    excess = max(mixture_excess(m, theta_at(m, 0.4)) for m in range(2, 7))
    blind = delta * (1 + mixture_excess(6, theta_at(6, epsilon)))
    two = [chi_square(m, theta_at(m, 0.4), 2) for m in range(3, 8)]
    most = max(known_centre_samples(m, 0.5, delta) for m in (3, 5, 10, 20))
    yield printed(
        f"{what} {delta:g}, m = {items}, ε = {epsilon:g}: one ranking must not suffice (Section 4.1)",
        known_centre_power(items, theta, 1, delta),
        "<",
        1 - delta,
        reading=known,
    )
    yield printed(
        f"least {what} {delta:g} over the centres, m = 6, ε = {epsilon:g}: one ranking must not suffice",
        blind,
        "<",
        1 - delta,
        reading=unknown,
    )
    yield amended("one ranking, random centre: largest relative deviation from uniform", excess, "<=", ROUNDING)
    yield amended("two rankings, random centre, ε = 0.4: χ² from uniform, m = 7 over m = 3", two[-1] / two[0], "<", 1)
    yield amended(f"known centre, ε = 0.5, δ = {delta:g}: most rankings needed, m = 3 to 20", most, "<=", 7)
