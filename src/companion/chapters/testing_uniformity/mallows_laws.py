"""Exact laws of few items: the normaliser, total variation, testers, and a centre that is known or not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, reduce
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special, stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_distances, all_rankings, distance_counts, distance_law
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.aggregation import lower_bounds
from dprank.models.mallows import Mallows, theta_at

#: What a total variation distance by Fourier inversion may be off.
INVERSION = 1e-10
#: Constant of the Berry-Esseen inequality for independent summands that need not be alike (Shevtsova 2010).
BERRY_ESSEEN = 0.56

#: Spreads from the law of one ranking to the uniform law, and next to both.
EDGE = Fraction(1, 10**6)
SPREADS = (Fraction(0), EDGE, *(Fraction(i, 20) for i in range(1, 20)), 1 - EDGE, Fraction(1))

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


def best_event(items: int, phi: Fraction, centre: int = 0) -> Fraction:
    """Largest difference of the probabilities of an event under Mallows and uniform, from all rankings."""
    weights = [phi ** int(d) for d in all_distances(items)[centre]]
    z, uniform = sum(weights, Fraction(0)), Fraction(1, len(weights))
    return sum((max(w / z - uniform, Fraction(0)) for w in weights), Fraction(0))


def normaliser(items: int) -> NDArray[np.int64]:
    """Coefficients of the printed product of the sums over j = 0 .. i of phi^j; that of i = 0 is 1."""
    return reduce(np.convolve, [np.ones(i + 1, int) for i in range(items)])


@claim("busafekete2021:eq-z")
def check_z(items: Iterable[int] = range(2, 8)) -> Iterator[Check]:
    """Definition and product formula of Z, as polynomials in phi."""
    items = list(items)
    product, total = float(np.polyval(normaliser(2), 0.5)), float(np.polyval(distance_counts(2), 0.5))
    pairs = [(distance_counts(m), normaliser(m)) for m in items]
    differ = sum(int((counted != stated).sum()) for counted, stated in pairs)
    yield printed("m = 2, φ = 1/2: Σ p(π) for p = φ^d over the product, against it", total / product, "==", product)
    yield printed("the same with p = φ^d / Z and Z = Σ p solved for Z", math.sqrt(total), "==", product)
    yield amended("the same with Z = Σ φ^d", total, "==", product)
    what = f"Σ φ^d over all rankings and the product, m = 2 to {max(items)}"
    yield amended(f"{what}: coefficients of φ that differ", differ, "==", 0)
    degrees = sum(math.comb(m, 2) for m in items)
    yield amended(f"{what}: coefficients compared", sum(len(c) for c, _ in pairs), "==", degrees + len(items))


@claim("busafekete2021:sec-4.1:tv-formula")
def check_tv_formula(items: Iterable[int] = range(2, 7)) -> Iterator[Check]:
    """The printed sum against the largest difference of probabilities of an event."""
    ratios = [printed_sum(m, phi) / best_event(m, phi) for m in items for phi in SPREADS[:-1]]
    grid = f"{len(ratios)} laws, m = 2 to {max(items)}, φ = 0 to {float(max(SPREADS[:-1])):.6f}"
    what = f"the sum over the total variation distance, {grid}"
    half = Fraction(1, 2)
    yield printed("the sum, m = 2, φ = 1/2", float(printed_sum(2, half)), "==", float(best_event(2, half)))
    yield printed(f"{what}: how many differ from 1", sum(ratio != 1 for ratio in ratios), "==", 0)
    yield amended(f"{what}: how many differ from 2", sum(ratio != 2 for ratio in ratios), "==", 0)


def halved(items: int, epsilon: float, tolerance: float) -> tuple[float, int]:
    """phi_epsilon from below, within a tolerance, and the halvings that it takes."""
    low, high, steps = 0.0, 1.0, 0
    while high - low > tolerance:
        middle, steps = (low + high) / 2, steps + 1
        far = Mallows.of_phi(items, middle).total_variation() > epsilon
        low, high = (middle, high) if far else (low, middle)
    return low, steps


@claim("busafekete2021:sec-4.1:tv-monotone")
def check_tv_monotone(
    items: Sequence[int] = (2, 3, 5, 8, 12), epsilons: Sequence[float] = (0.01, 0.25, 0.49), tolerance: float = 1e-9
) -> Iterator[Check]:
    """Total variation falls in phi, in fractions, and halving finds phi_epsilon."""
    curves = [[printed_sum(m, phi) / 2 for phi in SPREADS] for m in items]
    falls = min(float(a - b) for curve in curves for a, b in pairwise(curve))
    last = max(abs(curve[-1]) for curve in curves)
    found = {(m, e): halved(m, e, tolerance) for m in items for e in epsilons}
    off = max(abs(low - math.exp(-theta_at(m, e))) for (m, e), (low, _) in found.items())
    grid, least = f"{len(curves)} m from 2 to {max(items)}", math.ceil(math.log2(1 / tolerance))
    yield printed(f"smallest fall from one φ to the next, {len(SPREADS)} of them from 0 to 1, {grid}", falls, ">", 0)
    yield argument(f"distance at φ = 1, largest, {grid}", float(last), "==", 0)
    what = f"φ_ε by halving against φ_ε by another root finder, {len(found)} pairs (m, ε)"
    yield printed(what, off, "<=", tolerance)
    for steps in {steps for _, steps in found.values()}:
        yield printed(f"steps of halving until φ_ε is known to within {tolerance:g}", steps, "==", least)


@claim("busafekete2021:def-phi-eps")
def check_phi_eps(
    items: Iterable[int] = range(2, 8), shares: Sequence[float] = (1e-3, 0.1, 0.5, 0.9, 0.999)
) -> Iterator[Check]:
    """Is phi_epsilon defined, an end of an interval, and free of the centre?"""
    most = {m: best_event(m, Fraction(0)) for m in items}
    cells = [(m, share * float(top), theta_at(m, share * float(top))) for m, top in most.items() for share in shares]
    off = sum(abs(float(printed_sum(m, Fraction(math.exp(-theta))) / 2) - e) > INVERSION for m, e, theta in cells)
    closed = sum(abs(math.exp(-theta) * (1 + 2 * e) - (1 - 2 * e)) > ROUNDING for m, e, theta in cells if m == 2)
    found = sum(best_event(2, phi) > Fraction(1, 2) for phi in SPREADS)
    centres = range(len(all_distances(3)))
    distances = {(phi, best_event(3, phi, centre)) for phi in SPREADS for centre in centres}
    ends = sum(top + Fraction(1, math.factorial(m)) != 1 for m, top in most.items())
    grid = f"ε = {min(shares)} to {max(shares)} times 1 − 1/m!, m = 2 to {max(most)}"
    yield printed(f"m = 2, ε = 1/2: how many of {len(SPREADS)} φ from 0 to 1 lie at distance > ε", found, ">=", 1)
    yield supplied(f"of {len(cells)} {grid}: how many have no φ_ε at distance ε ± {INVERSION:g}", off, "==", 0)
    yield supplied(f"of {len(shares)} ε at m = 2: how many have a φ_ε other than (1 − 2ε)/(1 + 2ε)", closed, "==", 0)
    what = f"distinct distances of M(φ, π₀) from uniform, m = 3, {len(SPREADS)} φ, over the {len(centres)} centres π₀"
    yield supplied(what, len(distances) / len(SPREADS), "==", 1)
    what = f"m = 2 to {max(most)}: how many have a largest distance, at φ = 0, other than 1 − 1/m!"
    yield amended(what, ends, "==", 0)


def two_item_tester(epsilon: float, delta: float) -> tuple[int, int]:
    """Fewest rankings of an (epsilon, delta)-tester of two items, and the least lead of an order at which to reject."""
    for n in count(1):
        lead = next(lead for lead in count() if two_item_power(n, lead, 0.5) <= delta)
        if two_item_power(n, lead, 0.5 + epsilon) >= 1 - delta:
            break
    return n, lead


def two_item_power(rankings: int, lead: int, before: float) -> float:
    """Probability that one order of two items leads by at least `lead` among independent rankings."""
    ones = np.arange(rankings + 1)
    return float(stats.binom.pmf(ones, rankings, before)[abs(2 * ones - rankings) >= lead].sum())


def larger_error(rankings: int, epsilon: float) -> float:
    """Larger of the errors of the best symmetric test of two items at a tolerance."""
    return min(
        max(two_item_power(rankings, lead, 0.5), 1 - two_item_power(rankings, lead, 0.5 + epsilon))
        for lead in range(rankings + 1)
    )


@claim("busafekete2021:sec-3:kendall")
def check_kendall(items: Sequence[int] = (2, 3, 4)) -> Iterator[Check]:
    """The printed sum of indicators against the distance that all else uses, and the axioms of a metric."""
    wrong = {"values other than the library's": 0, "couples at distance 0 but on the diagonal": 0}
    wrong |= {"couples whose order matters": 0, "triples that break the triangle inequality": 0}
    couples = 0
    for m in items:
        rows = all_rankings(m)
        i, j = np.triu_indices(m, 1)
        turned = (rows[:, None, i] - rows[:, None, j]) * (rows[None, :, i] - rows[None, :, j]) < 0
        d = turned.sum(axis=2)
        counts = (d != all_distances(m), (d == 0) != np.eye(len(rows), dtype=bool), d != d.T)
        triples = d[:, None, :] > d[:, :, None] + d[None, :, :]
        for name, those in zip(wrong, (*counts, triples), strict=True):
            wrong[name] += int(those.sum())
        couples += d.size
    grid = f"m = {min(items)} to {max(items)}, {couples} couples of rankings"
    for name, count_of in wrong.items():
        yield printed(f"{grid}: {name}", count_of, "==", 0)


def tilted(items: int, laws: Sequence[tuple[float, int]]) -> Array:
    """Normalised geometric mean of Mallows laws (phi, centre): in an exponential family it is a member of it."""
    rows = [np.power(phi, all_distances(items)[centre].astype(float)) for phi, centre in laws]
    law = np.prod([row / row.sum() for row in rows], axis=0) ** (1 / len(rows))
    return np.asarray(law / law.sum())


@claim("busafekete2021:sec-3:exponential")
def check_exponential(items: int = 3, phis: Sequence[float] = (0.1, 0.4, 0.9)) -> Iterator[Check]:
    """Does the family hold the geometric means of its members, and do these have one support?"""
    one = tilted(items, [(0.0, 0)])
    far = int(all_distances(items)[0].argmax())
    yield printed(
        f"m = {items}, φ = 0: chance of the reverse of the centre, above 0 in an exponential family", one[far], ">", 0
    )
    # a Mallows law with φ < 1 is largest at its centre alone, the uniform law everywhere
    near = int((all_distances(items)[0] == 1).argmax())
    mean = tilted(items, [(phis[1], 0), (phis[1], near)])
    modes = int((mean > mean.max() - ROUNDING).sum())
    yield printed(
        f"m = {items}, geometric mean around two neighbouring centres: its likeliest rankings", modes, "==", 1
    )
    off = [
        abs(tilted(m, [(a, 0), (b, 0)]) - tilted(m, [(math.sqrt(a * b), 0)])).max()
        for m in (2, 3, 4)
        for a in phis
        for b in phis
    ]
    what = f"one centre, φ > 0: geometric mean of two laws off that of √(φφ′), {len(off)} cases"
    yield supplied(what, max(off), "==", 0, error=ROUNDING)
    law = tilted(items, [(phis[1], 0)])
    slope = np.log(law / law.max()) / math.log(phis[1]) - all_distances(items)[0]
    what = f"m = {items}, one centre: log-probability below its largest, over ln φ, off the distance"
    yield amended(what, abs(slope).max(), "==", 0, error=ROUNDING)


def fixed_power(rankings: int, delta: float, private: bool = True) -> float:
    """Largest power at size `delta` against two items' equal rankings, of the tests that toss no coin; or the private.

    An answer that has chance 0 on one of two neighbours has it on the other: a private one is the same on all data
    that single replacements lead to from one.
    """
    data = np.arange(2**rankings)
    flipped = data[:, None] ^ 2 ** np.arange(rankings) if private else data[:, None]
    near = sparse.coo_array((np.ones(flipped.size), (np.repeat(data, flipped.shape[1]), flipped.ravel())))
    parts = sparse.csgraph.connected_components(near)[1]
    ends = parts[[0, -1]]
    size = np.isin(parts, ends).mean()
    return float(size <= delta)


def coin_test(rankings: int, epsilon_0: float, cut: float) -> Array:
    """Log odds to reject of a test of two items that tosses a coin, by how often one order was seen.

    They rise by `epsilon_0` with the lead over half of the rankings, 0 at `cut`: a ranking moves the logarithms of
    both answers' chances by `epsilon_0` at most.
    """
    return np.asarray(epsilon_0 * (abs(np.arange(rankings + 1) - rankings / 2) - cut))


@claim("busafekete2021:def-tester")
def check_tester(
    epsilon: float = 0.25, delta: float = 0.05, points: int = 200, epsilon_0: float = 1 / 3, rankings: int = 200
) -> Iterator[Check]:
    """The definition of a tester: something satisfies it, not without data; and nothing private, without a coin."""
    n, lead = two_item_tester(epsilon, delta)
    size = two_item_power(n, lead, 0.5)
    powers = [two_item_power(n, lead, 0.5 + bias) for bias in np.linspace(epsilon, 0.5, points)]
    case = f"m = 2, ε = {epsilon:g}, δ = {delta:g}"
    yield supplied(f"{case}, n = {n}, no coin: probability to reject uniform rankings", size, "<=", delta)
    yield supplied(
        f"{case}, n = {n}, no coin: least power over the alternatives, either centre", np.min(powers), ">=", 1 - delta
    )
    what = "larger error of the best symmetric threshold"
    yield argument(f"{case}, n = {n}: {what}", larger_error(n, epsilon), "==", max(size, 1 - powers[0]), error=ROUNDING)
    fewer = min(larger_error(k, epsilon) for k in range(1, n))
    yield argument(f"{case}, n < {n}: {what}", fewer, ">", delta)
    what = "power at φ = 0 of the f from six rankings of two items to {0, 1} of size ≤ δ that are private for some ε₀"
    yield printed(f"{what}, largest", fixed_power(6, delta), ">=", 1 - delta)
    yield argument("the same of all of them", fixed_power(6, delta, private=False), "==", 1)
    odds = coin_test(rankings, epsilon_0, rankings / 7)
    reject = special.expit(odds)
    seen = np.arange(rankings + 1)
    size, *powers = (stats.binom.pmf(seen, rankings, p) @ reject for p in (0.5, *np.linspace(0.5 + epsilon, 1, points)))
    moves = [float(abs(np.diff(special.log_expit(side))).max()) for side in (odds, -odds)]
    with_coin = f"{case}, n = {rankings}, f a chance to reject"
    yield supplied(
        f"{with_coin}: privacy loss over ε₀, ε₀ = {epsilon_0:.3g}", max(moves) / epsilon_0, "<=", 1 + ROUNDING
    )
    yield amended(f"{with_coin}: loss over ε₀, all of it", max(moves) / epsilon_0, "==", 1, error=ROUNDING)
    yield supplied(f"{with_coin}: probability to reject uniform rankings", size, "<=", delta)
    yield supplied(f"{with_coin}: least power over the alternatives", min(powers), ">=", 1 - delta)


def known_centre_power(items: int, theta: float, n: int, size: float, coin: bool = True) -> float:
    """Power of the best test of a size from n rankings whose centre the tester knows (Neyman and Pearson).

    It rejects where the sum of the distances from the centre is small, with or without a coin at the boundary.
    """
    null, law = np.ones(1), np.ones(1)
    for _ in range(n):
        null, law = np.convolve(null, distance_law(items, 0.0)), np.convolve(law, distance_law(items, theta))
    below = np.cumsum(null)
    edge = int(np.searchsorted(below, size, side="right"))
    spent = null[:edge].sum()
    return float(law[:edge].sum() + coin * law[edge] * (size - spent) / null[edge])


def known_centre_samples(items: int, epsilon: float, delta: float, coin: bool = True) -> int:
    """Fewest rankings of an (epsilon, delta)-tester that knows the centre."""
    theta = theta_at(items, epsilon)
    return next(n for n in count(1) if known_centre_power(items, theta, n, delta, coin) >= 1 - delta)


def mixture_excess(items: int, theta: float) -> float:
    """Largest relative deviation of a single ranking from uniform if its centre is uniformly random."""
    mean = np.exp(-theta * all_distances(items).astype(float)).mean(axis=1)
    return float(np.abs(mean / mean.mean() - 1).max())


def overlaps(items: int, theta: float) -> Array:
    """For every centre c: m! times the sum of p(ranking, identity) p(ranking, c), exact. O(m!^2)."""
    weights = np.exp(-theta * np.arange(math.comb(items, 2) + 1))
    one = weights[all_distances(items)[0]]
    sums = np.concatenate([weights[all_distances(items)[i : i + 500]] @ one for i in range(0, len(one), 500)])
    return np.asarray(sums * len(one) / one.sum() ** 2)


def chi_square(items: int, theta: float, n: int) -> float:
    """Chi-square distance from uniform of n rankings that share a uniformly random centre; exact, few items."""
    return float((overlaps(items, theta) ** n).mean() - 1)


def pair_chi_square(items: int, theta: float) -> float:
    """`chi_square` of two rankings, from the mixture of their laws over all centres."""
    ratio = np.exp(-theta * all_distances(items).astype(float))
    ratio /= ratio.mean(axis=1, keepdims=True)
    return float(((ratio @ ratio / len(ratio)) ** 2).mean() - 1)


@claim("busafekete2021:def-h1")
def check_h1(
    items: int = 10, epsilon: float = 0.95, delta: float = 0.05, few: Sequence[int] = (3, 4, 5, 6, 7)
) -> Iterator[Check]:
    """What a tester that knows the centre can do with one ranking, and one that does not."""
    theta = theta_at(items, epsilon)
    near, middle, sizes = 0.4, 0.5, (few[0], items, 2 * items)
    excess = {m: mixture_excess(m, theta_at(m, near)) for m in few[:-1]}
    blind = delta * (1 + max(excess.values()))
    power = known_centre_power(items, theta, 1, delta)
    gain = max(known_centre_power(items, theta, 1, size) - size for size in np.cumsum(distance_law(items))[:-1])
    two = [chi_square(m, theta_at(m, near), 2) for m in few]
    mixed = [pair_chi_square(m, theta_at(m, near)) for m in excess]
    off = sum(abs(one / other - 1) > ROUNDING for one, other in zip(mixed, two, strict=False))
    needed = [known_centre_samples(m, middle, delta) for m in sizes]
    one = f"power from one ranking at size {delta:g}"
    what = f"{one}, m = {items}, ε = {epsilon:g}: one ranking must not suffice (Section 4.1)"
    yield printed(what, power, "<", 1 - delta, reading="the tester knows the centre")
    what = "the centre alone is rejected, m = 3, φ = 1/50, nearer than ε = 0.8: power; size 1/6, δ = 0.2"
    yield printed(what, float(distance_law(3, math.log(50))[0]), "<", 0.8, reading="the tester knows the centre")
    what = f"{one}, random centre, m = {min(excess)} to {max(excess)}, ε = {near:g}: one ranking must not suffice"
    yield printed(what, blind, "<", 1 - delta, reading="the tester does not know the centre")
    yield amended(f"{one}, random centre", blind, "==", delta, error=ROUNDING)
    what = f"known centre, one ranking, m = {items}: power less size, largest over the sizes, against ε = {epsilon:g}"
    yield amended(what, gain, "==", epsilon, error=ROUNDING)
    what = f"two rankings, random centre, ε = {near:g}: χ² from uniform, m = {few[0]} to {few[-1]}: "
    yield amended(f"{what}largest ratio of one to that before", max(b / a for a, b in pairwise(two)), "<", 1)
    yield amended(f"{what}how many of {len(mixed)} are not that of the mixture over all centres", off, "==", 0)
    what = f"known centre, ε = {middle:g}, δ = {delta:g}: most rankings needed, m = {sizes[0]} to {sizes[-1]}"
    yield amended(what, max(needed), "==", 7)
