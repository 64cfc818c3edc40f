"""Busa-Fekete, Fotakis and Zampetakis (2021): the Mallows model, its distance from uniform, what a fixed epsilon means.

Small numbers of items are enumerated with exact fractions; for many there are bounds with every constant written out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray
from scipy import special, stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import CALIBRATION, COLOURS, styled
from companion.instruments.uniformity import all_rankings, distance_law, divergence, exponent
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.aggregation import lower_bounds
from dprank.data.kendall import kendall_distances, pairwise_kendall_distances
from dprank.models.mallows import Mallows, theta_at

#: What a total variation distance by Fourier inversion may be off.
INVERSION = 1e-10
#: Constant of the Berry-Esseen inequality for independent summands that need not be alike (Shevtsova 2010).
BERRY_ESSEEN = 0.56

Array = NDArray[np.float64]


# --- exact laws of few items -----------------------------------------------------------------------------------------


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


@cache
def _distances(items: int) -> NDArray[np.uint8]:
    """Kendall distances of all pairs of rankings."""
    return pairwise_kendall_distances(all_rankings(items)).astype(np.uint8)


def mixture_excess(items: int, theta: float) -> float:
    """Largest relative deviation of a single ranking from uniform if its centre is uniformly random."""
    law = np.exp(-theta * np.arange(items * (items - 1) // 2 + 1))
    mean = law[_distances(items)].mean(axis=1)
    return float(np.abs(mean / mean.mean() - 1).max())


def overlaps(items: int, theta: float) -> Array:
    """For every centre c: m! times the sum of p(ranking, identity) p(ranking, c), exact. O(m!^2)."""
    weights = np.exp(-theta * np.arange(items * (items - 1) // 2 + 1))
    one = weights[_distances(items)[0]]
    sums = np.concatenate([weights[_distances(items)[i : i + 500]] @ one for i in range(0, len(one), 500)])
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


# --- what a fixed epsilon means --------------------------------------------------------------------------------------


def null_variance(items: float) -> float:
    """Variance of the Kendall distance of a uniform ranking from a given one."""
    return items * (items - 1) * (2 * items + 5) / 72


def limit(epsilon: float) -> float:
    """Where theta_epsilon times the standard deviation of the null distance goes: 2 Phi^-1((1 + epsilon) / 2)."""
    return float(2 * stats.norm.ppf((1 + epsilon) / 2))


def log_affinity(items: int, theta: float) -> float:
    """log of the sum of sqrt(p u), p Mallows and u uniform; 1 - TV lies between half its square and itself."""
    ends = Mallows(items, theta).log_normaliser + math.lgamma(items + 1)
    return Mallows(items, theta / 2).log_normaliser - ends / 2


def bracket(items: float, epsilon: float) -> tuple[float, float]:
    """Proved bounds on theta_epsilon: 2 epsilon / sd and 4 sqrt(L) / sd, L = -log(1 - epsilon).

    Here var and sd are those of the null distance. The upper bound asks that 16 L (m + 1)^5 <= 600 var^2; else it is
    infinite.
    """
    variance, spread = null_variance(items), -math.log1p(-epsilon)
    upper = 4 * math.sqrt(spread / variance) if 16 * spread * (items + 1) ** 5 <= 600 * variance**2 else math.inf
    return 2 * epsilon / math.sqrt(variance), upper


def known_limit(epsilon: float, delta: float) -> int:
    """Rankings of an (epsilon, delta)-tester of many items that knows the centre: normal limit."""
    return math.ceil((2 * stats.norm.isf(delta) / limit(epsilon)) ** 2)


def unif_samples(items: int, theta: float, delta: float) -> float:
    """Line 5 of UNIF where the number of pairs that it counts on, m_1, is positive; NaN elsewhere."""
    return paper.unif_samples(items, theta, delta) if items > 4 * math.log(2 / delta) else math.nan


def sample_table(items: Iterable[int], epsilons: Iterable[float], delta: float) -> pd.DataFrame:
    """What a fixed epsilon asks for.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``epsilon``, ``theta`` (theta_epsilon), ``gap`` (1 - phi_epsilon), ``printed_gap`` (Theorem 4's),
        ``mu``, ``unif`` (line 5 of UNIF).
    """
    rows = []
    for epsilon in epsilons:
        for m in items:
            theta = theta_at(m, epsilon)
            rows.append(
                {
                    "items": m,
                    "epsilon": epsilon,
                    "theta": theta,
                    "gap": -math.expm1(-theta),
                    "printed_gap": paper.two_sample_gap(m, delta),
                    "mu": math.tanh(m * theta / 16),
                    "unif": unif_samples(m, theta, delta),
                }
            )
    return pd.DataFrame(rows)


def condition_table(frame: pd.DataFrame, delta: float) -> pd.DataFrame:
    """A `sample_table` and below it, with no ``epsilon``, `least_epsilon` over the same range of items, or to 100."""
    most = max(100, frame["items"].max())  # below about 40 no law that is not constant meets the condition
    items = np.unique(np.geomspace(max(always_met(delta)) + 1, most, 200).astype(int))
    return pd.concat([frame[["items", "epsilon", "gap"]], least_epsilon(items, delta)], ignore_index=True)


def rate_table(items: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Rankings needed at one epsilon.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``unif`` (line 5 of UNIF), ``bound`` (no test below it, to leading order), ``known`` (enough if the
        centre is known, normal limit), ``claimed`` (the abstract's m^-1/2 through the least ``unif``).
    """
    rows = []
    for m in items:
        theta = theta_at(m, epsilon)
        rows.append((m, unif_samples(m, theta, delta), least_samples(m, theta, delta), known_limit(epsilon, delta)))
    frame = pd.DataFrame(rows, columns=["items", "unif", "bound", "known"])
    least = frame.loc[frame.unif.idxmin()]
    return frame.assign(claimed=least.unif * (frame["items"] / least["items"]) ** -0.5)


def fixed_phi(items: Iterable[int], phi: float, delta: float) -> pd.DataFrame:
    """UNIF's k at a fixed phi: ``items``, ``unif``, and the `zeros` of 1 - TV."""
    theta = -math.log(phi)
    rows = [(m, unif_samples(m, theta, delta), zeros(m, theta)) for m in items]
    return pd.DataFrame(rows, columns=["items", "unif", "zeros"])


def exponent_at(frame: pd.DataFrame, column: str, epsilon: float) -> float:
    """Slope of log column against log items at one epsilon, by least squares."""
    part = frame[frame.epsilon == epsilon].dropna(subset=column)
    return exponent(part["items"], part[column])


def zeros(items: int, theta: float) -> float:
    """-log10(1 - TV) of a Mallows law and the uniform one: how many zeros follow the point in 1 - TV."""
    return -Mallows(items, theta).log_overlap() / math.log(10)


def least_epsilon(items: Iterable[int], delta: float) -> pd.DataFrame:
    """How far from uniform a law must be to meet Theorem 4's condition.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``gap`` (the printed one), ``zeros`` (-log10(1 - TV) of the law with 1 - phi = gap), ``proved`` (at
        least so many, by the affinity); only rows with 0 < gap < 1, for the others are met always or never.
    """
    rows = []
    for m in items:
        gap = paper.two_sample_gap(m, delta)
        if 0 < gap < 1:
            theta = -math.log1p(-gap)
            proved = -log_affinity(m, theta) / math.log(10)
            rows.append({"items": m, "gap": gap, "zeros": zeros(m, theta), "proved": proved})
    return pd.DataFrame(rows)


def always_met(delta: float, most: int = 10**4) -> list[int]:
    """The numbers of items at which Theorem 4's condition is met even by the uniform law."""
    return [m for m in range(2, most) if paper.two_sample_gap(m, delta) < 0]


@claim("busafekete2021:thm-4:epsilon")
def check_condition(frame: pd.DataFrame, delta: float, phi: float = 0.9) -> Iterator[Check]:
    """Theorem 4's condition, at a fixed phi and at a fixed epsilon."""
    some = [m for m in [*range(2, 2000), *np.geomspace(2000, 1e12, 40)] if paper.two_sample_gap(m, delta) > 0]
    since = 1 + max(m for m in range(2, 10**5) if paper.two_sample_gap(m, delta) > 1 - phi)
    later = max(paper.two_sample_gap(m, delta) for m in np.geomspace(since, 1e12, 200))
    best = least_epsilon([*range(2, 300), 10**3, 10**4], delta)
    large = frame[frame["items"] == frame["items"].max()]
    share, free = float((large.gap / large.printed_gap).max()), always_met(delta)
    yield printed(
        f"m times the least 1 − φ_ε allowed, where it is positive, m ≤ 10¹², δ = {delta:g}: smallest",
        min(m * paper.two_sample_gap(m, delta) for m in some),
        ">=",
        8 * (1 - 1e-6),
    )
    yield printed(
        "the same from m = 10⁴ on: largest",
        max(m * paper.two_sample_gap(m, delta) for m in some if m >= 10**4),
        "<=",
        9,
    )
    yield printed(f"φ_ε = {phi:g}: largest 1 − φ_ε asked for from m = {since} to 10¹²", later, "<=", 1 - phi)
    yield content(
        f"fixed ε = {large.epsilon.max():g}, m = {large['items'].max():,}: 1 − φ_ε over what is asked", share, ">=", 1
    )
    yield content(f"δ = {delta:g}: numbers of items at which even φ_ε = 1 passes", len(free), "==", 0)
    yield amended(
        f"−log₁₀(1 − ε) where the condition can fail and can be met, smallest, m ≤ 10⁴, δ = {delta:g}",
        float(best.zeros.min()),
        ">=",
        22,
    )
    yield amended("the same over its proved bound, smallest", float((best.zeros / best.proved).min()), ">=", 1)
    yield amended("proved bound at m = 10⁴, over m", float(best.proved.iloc[-1]) / 10**4, ">=", 0.07)


@claim("busafekete2021:thm-5:epsilon")
def check_phi_eps_rate(frame: pd.DataFrame, epsilon: float = 0.5) -> Iterator[Check]:
    """Is 1 - phi_epsilon at least of order epsilon / m? It is of order epsilon m^-3/2."""
    part = frame[frame.epsilon == epsilon]
    first, last = int(part["items"].min()), int(part["items"].max())
    scaled = part.assign(scaled=part.gap * part["items"] / epsilon)
    edge = [theta_at(m, m**-0.5) * m**1.5 for m in (first, last)]
    low, high = np.array([bracket(m, e) for m, e in zip(frame["items"], frame.epsilon, strict=True)]).T
    off = abs(float(part.theta.iloc[-1]) * math.sqrt(null_variance(last)) / limit(epsilon) - 1)
    what, grid = f"ε = {epsilon:g}, m = {first} to {last:,}", f"m = {first} to {last:,}, {frame.epsilon.nunique()} ε"
    proved = bracket(10**12, epsilon)[1] * 10**12 / epsilon
    yield printed(
        f"{what}: exponent of m(1 − φ_ε)/ε, which is to be ≥ c > 0", exponent_at(scaled, "scaled", epsilon), ">=", -0.1
    )
    yield printed(
        f"ε = {epsilon:g}: proved bound on mθ_ε/ε at m = 10¹², against its value at m = {first}",
        proved,
        ">=",
        float(scaled.scaled.iloc[0]),
    )
    yield printed(f"ε = 1/√m: mθ_ε/ε at m = {last:,} over its value at m = {first}", edge[1] / edge[0], ">=", 0.5)
    yield printed(f"{what}: exponent of μ, which is to be free of m", exponent_at(part, "mu", epsilon), ">=", -0.1)
    yield amended(f"θ_ε over its proved lower bound, smallest, {grid}", float((frame.theta / low).min()), ">=", 1)
    yield amended(
        f"θ_ε over its upper bound, largest where that is proved, {grid}", float((frame.theta / high).max()), "<=", 1
    )
    yield amended(f"{what}: exponent of μ, plus 1/2", abs(exponent_at(part, "mu", epsilon) + 0.5), "<=", 0.01)
    yield amended(f"ε = {epsilon:g}, m = {last:,}: θ_ε times sd over its limit, less 1", off, "<=", 1 / last)


# --- how many rankings any test needs --------------------------------------------------------------------------------


def shared_variance(items: int) -> tuple[float, float]:
    """Of the covariance C(c) of the distances of a uniform ranking from two centres: its variance over a random c, and
    the sub-Gaussian variance that the bounded differences inequality proves.

    C(c) is the sum over items i < j of (2 (j - i) + 1) / 12, with the sign of their order in c.
    """
    i = np.arange(1, items + 1, dtype=float)
    above, below = (items - i) * (items - i + 2) / 12, (i - 1) * (i + 1) / 12
    gap = np.arange(1, items, dtype=float)
    squares = ((items - gap) * (2 * gap + 1) ** 2).sum() / 144
    return float(squares / 3 + ((above - below) ** 2).sum() / 3), float(((above + below) ** 2).sum())


def least_samples(items: int, theta: float, delta: float) -> float:
    """Rankings below which no test with unknown centre has both errors at most delta, to leading order in theta.

    Solves exp(n (n - 1) theta^4 V / 2) - 1 = 4 (1 - 2 delta)^2 for n, V the variance of `shared_variance`.
    """
    room = 2 * math.log1p(4 * (1 - 2 * delta) ** 2) / shared_variance(items)[0] / theta**4
    return 0.5 + math.sqrt(0.25 + room)


def remainder(items: float, theta: float) -> float:
    """Bound on log overlap - theta^2 C(c): cumulants of order 4, 6, ... of a sum with a dependency graph.

    Janson's bound for N = m (m - 1) / 2 pairs, each sharing an item with at most 2m - 4 others.
    """
    pairs, degree = items * (items - 1) / 2, 2 * items - 3
    x = 2 * math.e * degree * theta
    if x >= 0.5:
        return math.inf
    r = np.arange(4, 60, 2)
    logs = (
        r * math.log(theta)
        + (r - 1) * math.log(2 * degree)
        + (r - 2) * np.log(r)
        + math.log(pairs)
        - special.gammaln(r + 1)
    )
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
    slopes = [math.log(k[1] / k[0]) / decades for k in (any_test, unif)]
    grid = f"m = {part['items'].min()} to {part['items'].max():,}"
    yield printed(f"{what}, {grid}: exponent of the k that UNIF draws", exponent_at(part, "unif", epsilon), "<=", -0.5)
    yield printed(
        f"{what}, m = 10¹²: rankings from which provably no test is enough; two are to be", any_test[0], "<", 2
    )
    yield amended(f"{what}, m = 10¹² to 10¹⁶: exponent of that bound on any test", slopes[0], ">=", 0.49)
    yield amended(
        f"{what}, m = 10¹² to 10¹⁶: exponent of a lower bound on UNIF's k, less 1/2", abs(slopes[1] - 0.5), "<=", 0.01
    )
    yield amended("UNIF's k at a fixed φ = 0.9, m = 10⁶", unif_samples(10**6, -math.log(0.9), delta), "==", 2)


def overlap_table(items: Iterable[int], epsilon: float, n: int) -> pd.DataFrame:
    """Exact chi-square of n rankings with a random common centre, beside its leading-order form.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``exact``, ``leading``: exp(n (n - 1) theta^4 V / 2) - 1, V the variance of `shared_variance`.
    """
    rows = []
    for m in items:
        theta = theta_at(m, epsilon)
        leading = math.expm1(n * (n - 1) * theta**4 * shared_variance(m)[0] / 2)
        rows.append({"items": m, "exact": chi_square(m, theta, n), "leading": leading})
    return pd.DataFrame(rows)


# --- moments, normality, divergence, cost ----------------------------------------------------------------------------


@claim("busafekete2021:sec-7.2:moments")
def check_moments(items: Iterable[int] = range(2, 61)) -> Iterator[Check]:
    """Mean, variance and symmetry of the null distance, in whole numbers."""
    worst = [Fraction(0)] * 3
    for m in items:
        counts, total = mahonian(m), math.factorial(m)
        mean = Fraction(sum(i * n for i, n in enumerate(counts)), total)
        square = Fraction(sum(i * i * n for i, n in enumerate(counts)), total)
        off = (
            abs(mean - Fraction(m * (m - 1), 4)),
            abs(square - mean**2 - Fraction(m * (m - 1) * (2 * m + 5), 72)),
            Fraction(sum(a != b for a, b in zip(counts, counts[::-1], strict=True))),
        )
        worst = [max(a, b) for a, b in zip(worst, off, strict=True)]
    names = ("mean against m(m−1)/4", "variance against m(m−1)(2m+5)/72", "numbers that differ from their mirror image")
    for name, most in zip(names, worst, strict=True):
        yield printed(f"{name}: largest difference, m = 2 to {max(items)}, exact", float(most), "==", 0)


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
    ends = float(stats.norm.cdf(1) - 0.5)
    guarantee = max(berry_esseen(k) * math.sqrt(k) for k in [*range(2, 200), 10**3, 10**4, 10**6])
    grid = f"m = 2 to {m}"
    yield printed("guaranteed error at m = 10⁴ (no guarantee would be 1 or more)", berry_esseen(10**4), ">=", 1)
    yield printed(
        f"symmetric law, half at 0 and half at m(m−1)/2, any m: its error, against the guarantee at m = {m}",
        ends,
        "<=",
        berry_esseen(m),
    )
    yield amended("guarantee times √m, largest, m = 2 to 10⁶", guarantee, "<=", 0.95)
    yield amended(
        f"exact error over its guarantee, largest, {grid}", float((frame.kolmogorov / frame.guarantee).max()), "<=", 1
    )
    yield amended(f"exact error times m, largest, {grid}", float((frame.kolmogorov * frame["items"]).max()), "<=", 0.7)


@claim("busafekete2021:sec-8:kl")
def check_kl(
    items: Iterable[int] = (2, 3, 10, 100, 1000), thetas: Iterable[float] = (0.01, 0.1, 0.5)
) -> Iterator[Check]:
    """The Taylor remainder in Section 8, with and without its factor 1/2."""
    least, most = [], []
    for m in items:
        for theta in np.array([*thetas]) / math.sqrt(null_variance(m)):
            curvatures = [Mallows(m, s).distance_moments()[1] for s in np.linspace(0, theta, 21)]
            ratio = divergence(Mallows(m, theta)) / theta**2
            least.append(ratio / min(curvatures))
            most.append(ratio / max(curvatures))
    two = math.log(2)
    grid = f"m = {min(items)} to {max(items):,}, θ·sd = {min(thetas):g} to {max(thetas):g}"
    what = "KL/(ln φ)² over the"
    yield printed(
        f"m = 2, φ = 1/2: {what} least ∇² ln Z on [ln φ, 0]", divergence(Mallows(2, two)) / two**2 / (2 / 9), ">=", 1
    )
    yield printed(f"{what} least ∇² ln Z on [ln φ, 0]: largest, {grid}", max(least), ">=", 1)
    yield amended(f"{what} least ∇² ln Z on [ln φ, 0]: smallest, {grid}", min(least), ">=", 0.5 - 1e-6)
    yield amended(f"{what} largest ∇² ln Z on [ln φ, 0]: largest, {grid}", max(most), "<=", 0.5 + 1e-6)


def output_bits(items: int) -> int:
    """Binary digits of all Mahonian numbers of one order: what any method has to write."""
    return sum(n.bit_length() for n in mahonian(items))


@claim("busafekete2021:sec-4.1:mahonian")
def check_mahonian(sizes: Sequence[int] = (10, 20, 40, 80)) -> Iterator[Check]:
    """Cost of the Mahonian table, and of the total variation distance without it."""
    entries, bits = (exponent(sizes, [f(s) for s in sizes]) for f in (table_entries, output_bits))
    grid = f"m = {min(sizes)} to {max(sizes)}"
    off = max(
        abs(float(printed_sum(s, 1 - gap) / 2) - Mallows.of_gap(s, float(gap)).total_variation())
        for s in (2, 3, 10, 30)
        for gap in (Fraction(3, 4), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))
    )
    yield printed(f"exponent of the numbers that the recursion computes, {grid}", entries, "<=", 2)
    yield printed(f"exponent of the binary digits of its result, which any method writes, {grid}", bits, "<=", 2)
    yield amended("numbers computed at m = 1000, over m³/6", table_entries(1000) / (1000**3 / 6), "<=", 1.01)
    yield amended("TV without the table against exact fractions, m = 2 to 30, largest difference", off, "<=", INVERSION)


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_condition(frame: pd.DataFrame) -> Figure:
    """1 - phi_epsilon against m for several epsilon with Theorem 4's line; and the least epsilon that reaches it."""
    figure = Figure(figsize=(7.2, 3.6))
    left, right = figure.subplots(1, 2)
    laws = frame.dropna(subset="epsilon")
    for colour, (epsilon, part) in zip(COLOURS[2:], laws.groupby("epsilon", sort=False), strict=False):
        left.plot(part["items"], part.gap, marker="o", color=colour, label=f"ε = {epsilon:g}")
    bound = frame[frame.epsilon.isna()]
    as_printed = CALIBRATION["as printed"]["color"]
    left.plot(bound["items"], bound.gap, color=as_printed, lw=2.2, label="Theorem 4 asks for")
    left.set(xscale="log", yscale="log", xlabel="items m", ylabel="1 − φ", xlim=(laws["items"].min() / 1.3, None))
    left.legend(fontsize=8)
    right.plot(bound["items"], bound.zeros, color=as_printed, lw=2.2, label="exact")
    right.plot(bound["items"], bound.proved, color="black", lw=1, ls=":", label="proved: at least")
    right.legend(fontsize=8)
    right.set(xscale="log", yscale="log", xlabel="items m", ylabel="zeros after the point in 1 − ε")
    right.yaxis.set_minor_formatter(NullFormatter())
    ticks = [t for t in (20, 100, 500, 2000, 10_000, 50_000) if t < bound.zeros.max()]
    right.set_yticks(ticks, [f"{t:,}" for t in ticks])
    return figure


@styled
def draw_samples(frame: pd.DataFrame) -> Figure:
    """Rankings against items at a fixed epsilon: what UNIF draws, what any test needs, what the abstract says."""
    figure = Figure(figsize=(6.4, 3.8))
    axes = figure.subplots()
    items, as_printed = frame["items"], CALIBRATION["as printed"]["color"]
    axes.plot(items, frame.unif, "s-", color=COLOURS[0], label="UNIF, its own k")
    axes.plot(items, frame.bound, "o-", color=COLOURS[2], label="any test, centre unknown (leading order)")
    axes.plot(items, frame.known, "D-", color=COLOURS[3], label="best test, centre known")
    axes.plot(items, frame.claimed, "--", color=as_printed, label="the abstract's rate, through UNIF's least k")
    axes.set(xscale="log", yscale="log", xlabel="items m", ylabel="rankings")
    figure.legend(fontsize=8, loc="outside upper center", ncols=2)
    return figure
