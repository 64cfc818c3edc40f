"""What the tests cost as items are added, and what phi_epsilon is: no formula, and a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np

from companion.chapters.testing_uniformity.fixed_epsilon import bracket, null_variance
from companion.chapters.testing_uniformity.mallows_laws import mahonian, printed_sum, table_entries
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.instruments.uniformity import all_distances, divergence, exponent
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.data.kendall import kendall_distance
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.pairs import disjoint_pairs


def merged(order: Sequence[int]) -> tuple[list[int], int, int]:
    """An order sorted by merging, how many of its pairs stand the wrong way round, and the comparisons that it took."""
    if len(order) < 2:
        return list(order), 0, 0
    (left, wrong, steps), (right, others, more) = merged(order[: len(order) // 2]), merged(order[len(order) // 2 :])
    out, i, j, wrong, steps = [], 0, 0, wrong + others, steps + more
    while i < len(left) and j < len(right):
        steps += 1
        if right[j] < left[i]:
            wrong, j = wrong + len(left) - i, j + 1
            out.append(right[j - 1])
        else:
            i += 1
            out.append(left[i - 1])
    return out + left[i:] + right[j:], wrong, steps


def comparisons(items: int) -> tuple[int, int]:
    """Comparisons that the Kendall distance of two shuffled rankings takes, and how far it is off the library's."""
    order = stream("busafekete2021 comparisons", {"items": items}).permutation(items)
    _, wrong, steps = merged(order.tolist())
    return steps, wrong - kendall_distance(order, np.arange(items))


@claim("busafekete2021:abstract:scale")
def check_scale(sizes: Sequence[int] = (100, 1000, 10_000)) -> Iterator[Check]:
    """Comparisons that both tests make of two rankings, or of one."""
    rng = stream("busafekete2021 pairs to look at", {})
    steps, off = zip(*map(comparisons, sizes), strict=True)
    pairs = [len(disjoint_pairs(m, rng=rng)) for m in sizes]
    grid = f"m = {sizes[0]} to {sizes[-1]:,}"
    yield printed(
        f"comparisons of 2SAMP, by merging, over m log₂ m, largest, {grid}",
        max(s / m / math.log2(m) for s, m in zip(steps, sizes, strict=True)),
        "<=",
        1,
    )
    yield printed(
        f"exponent of m in the comparisons of UNIF in one ranking, {grid}", exponent(sizes, pairs), "<=", 1 + ROUNDING
    )
    yield argument(f"distance by merging, off the library's, {grid}", max(map(abs, off)), "==", 0)


@claim("busafekete2021:sec-4.1:cost")
def check_cost(sizes: Sequence[int] = (10, 100, 1000)) -> Iterator[Check]:
    """What 2SAMP compares against what the recursion for phi_epsilon computes."""
    shares = [comparisons(m)[0] / table_entries(m) for m in sizes]
    what = "comparisons for the distance over numbers of the table for one φ, m = "
    for m, share in zip(sizes, shares, strict=True):
        yield printed(f"{what}{m:,}", share, "<", 1)
    fall = max(b / a for a, b in pairwise(shares))
    yield printed("that share at ten times as many items over it, largest", fall, "<", 1)


def equation(items: int, epsilon: float) -> list[int]:
    """Whole coefficients, lowest power first, of a polynomial in phi that vanishes at phi_epsilon; 1 / epsilon whole.

    Total variation is P(D <= r) - P_1(D <= r), with r the largest distance that is likelier than under uniformity.
    """
    counts, inverse = mahonian(items), round(1 / epsilon)
    theta = theta_at(items, epsilon)
    law = Mallows(items, theta)
    radius = math.floor((math.lgamma(items + 1) - law.log_normaliser) / theta)
    total = math.factorial(items)
    weight = inverse * sum(counts[: radius + 1]) + total  # m! / epsilon times the chance that the ball is to have
    found = [inverse * total * (d <= radius) * n - weight * n for d, n in enumerate(counts)]
    return [c // math.gcd(*found) for c in found]


def roots_in(coefficients: Sequence[int], prime: int, power: int) -> int:
    """Distinct roots of a polynomial in the field of prime^power elements: the degree of what it shares with
    x^(prime^power) - x.
    """

    def reduced(a: list[int], by: list[int]) -> list[int]:
        a = [c % prime for c in a]
        while len(a) >= len(by):
            factor = a[-1] * pow(by[-1], -1, prime)
            a = [(c - factor * b) % prime for c, b in zip(a, [0] * (len(a) - len(by)) + by, strict=True)][:-1]
        while a and a[-1] == 0:
            a.pop()
        return a

    whole = reduced(list(coefficients), [0] * len(coefficients) + [1])
    image = [1]
    for bit in f"{prime**power:b}":
        image = reduced(np.convolve(image, image).tolist(), whole)
        image = reduced([0, *image], whole) if bit == "1" else image
    image += [0] * (2 - len(image))
    rest = reduced([image[0], image[1] - 1, *image[2:]], whole)
    while rest:
        whole, rest = rest, reduced(whole, rest)
    return len(whole) - 1


@claim("busafekete2021:sec-4.1:closed-form")
def check_closed_form(items: int = 4, epsilon: float = 0.5, primes: tuple[int, int] = (11, 17)) -> Iterator[Check]:
    """phi_epsilon of four items as a root of a polynomial of degree 6 that no expression in roots solves.

    Modulo one prime it has no factor, modulo another one of degree 5: its group takes each root to each, and moves five
    of them round while the sixth stays. Of the transitive groups of six letters with a cycle of five none is solvable.
    """
    coefficients = equation(items, epsilon)
    theta = theta_at(items, epsilon)
    whole, parted = primes
    at = f"the polynomial of φ_ε, m = {items}, ε = {epsilon:g}"
    for power in (1, 2, 3):
        what = f"{at}: roots in the field of {whole}^{power} elements, as a factor of degree {power} would have"
        yield printed(what, roots_in(coefficients, whole, power), "==", 0)
    for power in (1, 2):
        what = f"{at}: roots in the field of {parted}^{power} elements; the other factor is of degree 5"
        yield printed(what, roots_in(coefficients, parted, power), "==", 1)
    yield argument("its degree", len(coefficients) - 1, "==", 6)
    off = float(np.polyval(coefficients[::-1], math.exp(-theta))) / sum(map(abs, coefficients))
    yield argument(f"{at}, there, over the sum of its coefficients", off, "==", 0, error=ROUNDING)
    far = float(printed_sum(items, Fraction(math.exp(-theta))) / 2)
    yield argument(f"total variation there, by the sum over distances, m = {items}", far, "==", epsilon, error=ROUNDING)
    two = max(abs(math.exp(-theta_at(2, e)) - (1 - 2 * e) / (1 + 2 * e)) for e in (0.01, 0.1, 0.25, 0.4, 0.49))
    yield amended("m = 2: φ_ε off (1 − 2ε)/(1 + 2ε)", two, "==", 0, error=ROUNDING)


def samples_distance(items: int, theta: float, n: int) -> float:
    """Total variation distance of n Mallows rankings of one known centre from uniform ones, by all outcomes."""
    one = np.exp(-theta * all_distances(items)[0])
    law = reduce(np.kron, [one / one.sum()] * n)
    return float(abs(law - 1 / len(law)).sum() / 2)


@claim("busafekete2021:sec-8:lecam")
def check_lecam(
    items: Sequence[int] = (100, 1000, 10_000),
    epsilons: Sequence[float] = (0.1, 0.5, 0.9),
    small: float = 0.01,
    delta: float = 0.05,
) -> Iterator[Check]:
    """The divergence, that it falls with phi, how far bounds on phi_epsilon carry it; and what needs neither."""
    by_kl, any_bound = "a bound by the divergence", "any bound by Le Cam's method"
    curves = [[divergence(Mallows(m, x / math.sqrt(null_variance(m)))) for x in np.linspace(0.1, 6, 25)] for m in items]
    yield printed(
        f"least rise of KL with 1 − φ, m = {items[0]} to {items[-1]:,}",
        min(b - a for c in curves for a, b in pairwise(c)),
        ">",
        0,
        reading=by_kl,
    )
    cells = [(m, e, theta_at(m, e)) for m in items for e in epsilons]
    found = [divergence(Mallows(m, theta)) for m, _, theta in cells]
    square = max(kl / (theta**2 * null_variance(m) / 2) for kl, (m, _, theta) in zip(found, cells, strict=True))
    yield printed(
        f"KL at φ_ε over (ln φ_ε)² σ²/2, largest of {len(cells)}: it needs no more than a bound on φ_ε",
        square,
        "<=",
        1,
        reading=by_kl,
    )
    without = (1 - 2 * delta) / small
    what = (
        f"rankings that any test needs at ε = {small:g}, δ = {delta:g}, by nε ≥ 1 − 2δ: neither KL nor φ_ε; trivial: 1"
    )
    yield printed(what, without, "<=", 1, reading=any_bound)
    shares = [samples_distance(3, theta_at(3, e), n) / (n * e) for e in epsilons[:2] for n in (2, 3, 4)]
    yield argument(
        "distance of n rankings of 3 items from uniform ones over nε, largest of six cases", max(shares), "<=", 1
    )
    yield amended(
        f"rankings that any test needs at ε = {small:g}, δ = {delta:g}, by nε ≥ 1 − 2δ",
        without,
        "==",
        90,
        error=ROUNDING,
    )
    half = [kl for kl, (_, e, _) in zip(found, cells, strict=True) if e == 0.5]
    what = f"2(1 − 2δ)²/KL, what KL proves of any test that knows the centre, ε = 1/2, m = {items[0]} to {items[-1]:,}"
    yield amended(f"{what}: largest", 2 * (1 - 2 * delta) ** 2 / min(half), "<=", 2)
    bounded = [(kl, e) for kl, (m, e, _) in zip(found, cells, strict=True) if math.isfinite(bracket(m, e)[1])]
    share = max(kl / (-8 * math.log1p(-e)) for kl, e in bounded)
    yield amended(f"KL at φ_ε over 8 log(1/(1 − ε)), largest of {len(bounded)}", share, "<=", 1)


def normaliser_excess(items: int, theta: float) -> float:
    """log Z - log m! + theta m (m - 1) / 4: at least 0 (Jensen), and theta^2 sigma^2 / 2 at most.

    The second since log(sinh x / x) is concave in x^2, with slope 1/6 at most.
    """
    return Mallows(items, theta).log_normaliser - math.lgamma(items + 1) + theta * items * (items - 1) / 4


@claim("busafekete2021:sec-8:hard-nut")
def check_hard_nut(
    items: Sequence[int] = (100, 300, 1000, 3000, 10_000),
    epsilon: float = 0.5,
    small: float = 0.01,
    delta: float = 0.05,
) -> Iterator[Check]:
    """Is Z at phi_epsilon hard to bound, and is that unavoidable?"""
    laws = {m: theta_at(m, epsilon) for m in items}
    ranges = [theta**2 * null_variance(m) / 2 for m, theta in laws.items()]
    grid = f"ε = {epsilon:g}, m = {items[0]} to {items[-1]:,}"
    what = f"{grid}: exponent of m in the log of upper over lower bound on Z(φ_ε), above 0 if they drift apart"
    yield printed(what, exponent(items, ranges), ">", 0.01)
    what = f"rankings that any test needs at ε = {small:g}, δ = {delta:g}, by nε ≥ 1 − 2δ, which has no Z; trivial: 1"
    yield printed(what, (1 - 2 * delta) / small, "<=", 1)
    wide = [(m, x / math.sqrt(null_variance(m))) for m in (2, 3, 10, *items) for x in (0.5, 1, 3, 10)]
    wide += laws.items()
    excess = np.array([normaliser_excess(m, theta) for m, theta in wide])
    most = np.array([theta**2 * null_variance(m) / 2 for m, theta in wide])
    of = f"log Z − log m! + θm(m−1)/4, {len(wide)} laws, m = 2 to {items[-1]:,}"
    yield amended(f"{of}: smallest", float(excess.min()), ">=", 0)
    yield amended(f"{of}: largest over θ²σ²/2", float((excess / most).max()), "<=", 1, error=1e-8)
    yield amended(f"{grid}: upper over lower bound on Z(φ_ε), largest", math.exp(max(ranges)), "<=", 2.6)
