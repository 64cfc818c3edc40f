"""What ranking by noisy counts can promise: Section 2.3 and Appendix A.6.

How far apart win probabilities must be for noisy counts to get a top set right, with every constant written out. All
numbers are closed forms, exact convolutions or quadratures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from companion.chapters.edge_privacy.estimand import Array, excess_distance
from companion.instruments.allowance import CLOSED, ROUNDING, agree
from companion.instruments.two_items import log_first_wins, overtaken
from companion.ledger.claim import Check, amended, argument, claim, content, printed
from dprank._binomial import binomial
from dprank.pairwise import top_set_law

#: The constant of Theorem 2.3 and Corollary 2.2 that is large enough; ours.
SUFFICIENT = 15.0


# --- the class of Theorem 2.3 ----------------------------------------------------------------------------------------


def rate(items: float, probability: float, epsilon: float) -> tuple[float, float]:
    """The two parts of the separation: sqrt(log n / (np)) and log n / (n p epsilon)."""
    log, mean = math.log(items), items * probability
    return math.sqrt(log / mean), log / (mean * epsilon)


def largest_gap(items: int, tolerance: int = 0) -> float:
    """Largest possible tau_(k-m) - tau_(k+m+1) for every k, which three tied blocks attain: 1/2 + m / n.

    The worst of s = k - m at the top has at most n - s / 2 points, the best of t = n - k - m at the bottom at least t /
    2.
    """
    return 0.5 + tolerance / items


def least_items(constant: float, probability: float, epsilon: float) -> int:
    """The least n from which on some matrix has the gap that exact recovery asks for: it falls from n = 3 on."""

    def empty(n: int) -> bool:
        return constant * sum(rate(n, probability, epsilon)) > 0.5

    if not empty(3):
        return 3 if empty(2) else 2
    low, high = 3, 6
    while empty(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if empty(middle) else (low, middle)
    return high


def emptiness(items: Iterable[int], epsilons: Iterable[float], constant: float = SUFFICIENT) -> pd.DataFrame:
    """The gap asked for at p = 1: ``epsilon``, a column for each n (1/2 is possible), ``possible from``."""
    items = list(items)
    rows = []
    for epsilon in epsilons:
        asked = {f"n = {n}": constant * sum(rate(n, 1, epsilon)) for n in items}
        rows.append({"epsilon": epsilon, **asked, "possible from": f"{least_items(constant, 1, epsilon):,}"})
    return pd.DataFrame(rows)


# --- bounds ----------------------------------------------------------------------------------------------------------


def log_count_bound(items: float, constant: float) -> float:
    """Logarithm of n^(-C^2 / 4): Bernstein's bound on N_a - N_b falling C sqrt(np log n) short of its mean."""
    return -(constant**2) / 4 * math.log(items)


def log_noise_tail(items: float, constant: float) -> float:
    """Logarithm of P(W_b - W_a >= C log n / epsilon), exact: n^(-C / 2) (1 + C log(n) / 4) / 2."""
    return log_first_wins(-constant * math.log(items), 2.0)


def log_pair_bound(items: float, constant: float) -> float:
    """Logarithm of the bound on two items coming out in the wrong order when tau differs by C times the rate."""
    return float(np.logaddexp(log_count_bound(items, constant), log_noise_tail(items, constant)))


def scaled_bound(items: float, constant: float, pairs: float, power: float) -> float:
    """n^power times the union bound over so many pairs."""
    return math.exp(log_pair_bound(items, constant) + math.log(pairs) + power * math.log(items))


# --- exact laws ------------------------------------------------------------------------------------------------------


def difference_law(
    items: int, probability: float, direct: float, first: float, second: float
) -> tuple[NDArray[np.int64], Array]:
    """Values and law of N_a - N_b: a beats b with chance `direct`, a and b the others with `first`, `second`."""
    others = np.arange(items - 1)
    wins_a = binomial(others, items - 2, probability * first)
    wins_b = binomial(others, items - 2, probability * second)
    meeting = [probability * (1 - direct), 1 - probability, probability * direct]
    return np.arange(1 - items, items), np.convolve(np.convolve(wins_a, wins_b[::-1]), meeting)


def counts_short(
    items: int, probability: float, direct: float, first: float, second: float, epsilon: float
) -> tuple[float, float]:
    """C of the class of two items whose tau are so far apart, P(N_a - N_b falls C sqrt(np log n) short of its mean).

    The others tie. With ``first >= second >= 1/2`` the two are the best items, and the class has k = 1, m = 0.
    """
    values, law = difference_law(items, probability, direct, first, second)
    gap = (2 * direct - 1 + (items - 2) * (first - second)) / items
    constant = gap / sum(rate(items, probability, epsilon))
    short = items * probability * gap - constant * math.sqrt(items * probability * math.log(items))
    return constant, float(law[values <= short + 1e-9].sum())


def pair_reversed(items: int, probability: float, direct: float, first: float, second: float, epsilon: float) -> float:
    """P(the noisy counts of those two are in the wrong order)."""
    values, law = difference_law(items, probability, direct, first, second)
    return float(law @ (values <= 0 if epsilon == math.inf else overtaken(values * epsilon / 2)))


def leader(items: Sequence[int], probability: float, epsilon: float = math.inf) -> pd.DataFrame:
    """One item beats all others, which tie, k = 1: the proof's bound on the counts.

    ``items``, ``constant`` (largest C of the class), ``exact`` (P(N_a - N_b falls C sqrt(np log n) short of its mean)),
    ``printed`` n^(-C^2), ``corrected`` n^(-C^2 / 4).
    """
    rows = []
    for n in items:
        constant, exact = counts_short(n, probability, 1, 1, 0.5, epsilon)
        power = constant**2 * math.log(n)
        bounds = {"printed": math.exp(-power), "corrected": math.exp(-power / 4)}
        rows.append({"items": n, "constant": constant, "exact": exact} | bounds)
    return pd.DataFrame(rows)


def first_violation(probability: float) -> int:
    """The least number of items for which that probability exceeds n^(-C^2)."""
    for n in range(2, 1000):
        row = leader([n], probability).iloc[0]
        if row.exact > row.printed * (1 + ROUNDING):
            return n
    raise ValueError(f"probability = {probability}; a value with a violation below 1000 items is needed")


def block_epsilon(items: float, constant: float) -> float:
    """Epsilon at which two blocks of equal size, of which one always beats the other, are just in the class, p = 1."""
    room = items / (2 * constant) - math.sqrt(items * math.log(items))
    return math.log(items) / room


def block_failure(items: float, epsilon: float) -> float:
    """Exact P(noisy counts miss the better of two blocks of equal size), p = 1.

    Every item of the first beats every item of the second, and all of a block win equally often: counts are sure, n / 2
    apart. The set is missed if max W over the second less min W over the first exceeds that.
    """
    k, distance = items / 2, items * epsilon / 4  # in scales of the noise
    node, weight = leggauss(20)
    reach = 60 + 2 * math.log(items)
    ends = np.unique(np.r_[np.arange(-reach, distance + reach), 0.0, distance])
    half = np.diff(ends)[:, None] / 2
    x = ((ends[:-1, None] + half) + half * node).ravel()

    def log_below(z: Array) -> Array:
        tail = np.exp(-np.abs(z)) / 2
        return np.where(z < 0, np.log(tail), np.log1p(-tail))

    density = np.exp(math.log(k) + (k - 1) * log_below(x) - np.abs(x) - math.log(2))
    beyond = -np.expm1(k * log_below(distance - x))
    return float((half * weight).ravel() @ (density * beyond))


def sufficiency(constants: Iterable[float], items: Sequence[float]) -> pd.DataFrame:
    """n^5 times `block_failure` at the border of the class: ``C``, and a column for each n, a power of ten.

    Two items are added to each, so that half of them is odd.
    """
    return pd.DataFrame(
        {"C": c} | {f"n = {n:.0e}": n**5.0 * block_failure(n + 2, block_epsilon(n + 2, c)) for n in items}
        for c in constants
    )


# --- Theorem 2.3 and its consequences --------------------------------------------------------------------------------

#: Numbers of items on which closed forms are evaluated: all small ones, then powers up to 10^12.
ITEMS = (*range(2, 200), *(round(10 ** (e / 4)) for e in range(10, 49)))
POWERS = tuple(10**e for e in range(5, 13))
#: Constants at which the noise and the final bound of the proof are evaluated; n, p and epsilon of two rates.
NOISY, LARGE = np.geomspace(0.01, 200, 40), np.geomspace(8, 200, 40)
RATES = tuple(product((2, 3, 10, 10**3, 10**6, 10**12), (1e-3, 0.1, 1.0), (1e-6, 0.01, 1.0, 10.0, 1e6)))


def size_checks() -> Iterator[Check]:
    """Whether any matrix has the gap at a million items, and from how many items on."""
    asked, at = SUFFICIENT * sum(rate(10**6, 1, 1)), f"C = {SUFFICIENT:g}, m = 0, p = 1, ε = 1"
    yield content(f"largest gap of any ρ over the gap asked for, {at}, n = 10⁶", largest_gap(10**6) / asked, ">=", 1)
    least = least_items(SUFFICIENT, 1, 1)
    for n, relation in ((least, "<="), (least - 1, ">")):
        asked = SUFFICIENT * sum(rate(n, 1, 1))
        yield argument(f"gap asked for over the largest of any ρ, {at}, n = {n:,}", asked / largest_gap(n), relation, 1)


#: Matrices at the border of their class: items, probability, epsilon; direct, first, second.
BORDER = tuple(product((10, 100, 1000), (0.05, 0.3, 1.0), (0.05, 0.3, 1.0, 10.0, math.inf)))
DESIGNS = tuple((n, p, *wins, e) for n, p, e in BORDER for wins in ((1, 1, 0.5), (1, 1, 0.8), (0.5, 0.9, 0.5)))


def worst_counts() -> float:
    """Exact probability that counts fall short, over its bound, largest of the designs at the border."""
    found = [(design[0], *counts_short(*design)) for design in DESIGNS]
    return max(exact / math.exp(log_count_bound(n, constant)) for n, constant, exact in found)


def reversals() -> list[float]:
    """Exact probability that a pair is reversed, over its bound, of the designs for which that is below 1."""
    bounds = [(design, log_pair_bound(design[0], counts_short(*design)[0])) for design in DESIGNS]
    return [pair_reversed(*design) / math.exp(log) for design, log in bounds if log < 0]


@claim("cai2025:thm-2.3")
def check_thm_2_3(n_items: int) -> Iterator[Check]:
    """Theorem 2.3 with C = 15 or more: each step of the argument, and whether the class is empty."""
    constants = (SUFFICIENT, 16.0, 20.0, 50.0, 200.0)
    worst = max(scaled_bound(n, c, n * n / 4, 5) for n in ITEMS for c in constants)
    pairs = reversals()
    blocks = max(
        block_failure(n + 2, block_epsilon(n + 2, c)) / scaled_bound(n + 2, c, (n + 2) ** 2 / 4, 0)
        for c, e in product((8.0, 12.0, SUFFICIENT, 20.0), range(5, 13))
        for n in [10.0**e]
    )
    grid = "n = 2 to 10¹², any p, ε, k, m"
    yield printed(f"largest n⁵ × bound on P(d_H > 2m), C = {SUFFICIENT:g} and more, {grid}", worst, "<=", 1)
    yield printed(f"exact P(the counts fall short) over its bound, {len(DESIGNS)} designs", worst_counts(), "<=", 1)
    yield printed(f"exact P(a pair is reversed) over its bound, {len(pairs)} designs", max(pairs), "<=", 1)
    what = "exact P(the set is missed) over its bound, two blocks, C = 8 to 20, n = 10⁵ to 10¹²"
    yield printed(what, blocks, "<=", 1)
    _, excess = excess_distance(n_items, "broken")
    what = f"largest d_H − 2m with separated items in order, all tie patterns, {n_items} items"
    yield printed(what, excess, "<=", 0)
    yield from size_checks()


@claim("cai2025:cor-2.2")
def check_cor_2_2() -> Iterator[Check]:
    """Corollary 2.2 with C = 15: the bound for m = 0, and the exact failure of two blocks, for which 14 will not do."""
    worst = max(scaled_bound(n, SUFFICIENT, n * n / 4, 5) for n in ITEMS)
    exact = sufficiency([SUFFICIENT, SUFFICIENT - 1], POWERS).iloc[:, 1:].max(axis=1)
    what = "largest n⁵ × exact P(S̃ ≠ S), two blocks at the border, n = 10⁵ to 10¹²"
    yield printed(f"largest n⁵ × bound on P(S̃ ≠ S), C = {SUFFICIENT:g}, n = 2 to 10¹², any p, ε, k", worst, "<=", 1)
    yield printed(f"{what}, C = {SUFFICIENT:g}", exact[0], "<=", 1)
    few = (1 + SUFFICIENT / 4 * math.log(6)) / (8 * math.sqrt(6))
    yield agree("that bound off (1 + C log(n)/4)/(8√n), n = 6: the noise alone", worst - few)
    yield argument(f"{what}, C = {SUFFICIENT - 1:g}: no smaller whole C will do", exact[1], ">", 1)
    off = block_failure(6, 1.0) - 1 + top_set_law(np.repeat([4.0, 1.0], 3), 2.0, 3)[0, 1, 2]
    yield agree("P(S̃ ≠ S), two blocks of 3, ε = 1, off the exact law", off)
    yield from size_checks()


@claim("cai2025:thm-2.3:proof")
def check_thm_2_3_proof(probability: float = 0.5) -> Iterator[Check]:
    """The bound on the counts that Appendix A.6 prints, what holds instead, and the bound it concludes with."""
    first = first_violation(probability)
    for items, epsilon in (([first, 100, 3000], math.inf), ([300], 10.0)):
        for row in leader(items, probability, epsilon).itertuples():
            at = f"n = {row.items}, p = {probability:g}, ε = {epsilon:g}, C = {row.constant:.3g}"
            what = f"one item beats all, others tie: P(N_a − N_b falls C√(np log n) short) against n^(−C²), {at}"
            yield printed(what.replace("inf", "∞"), row.exact, "<=", row.printed, error=CLOSED * row.exact)
    before = leader([first - 1], probability).iloc[0]
    what = f"the same for n = {first - 1}, the last before that"
    yield argument(what, before.exact, "<=", before.printed, error=CLOSED * before.exact)
    # the printed denominator is 4np - Cx / 3 and Cx <= np (gap), x = sqrt(np log n) + log(n) / epsilon
    least = min(4 - largest_gap(n, m) / 3 for n in range(2, 200) for m in range((n - 2) // 2 + 1))
    yield printed("printed denominator of Bernstein's bound over np, smallest, n < 200, any m", least, "<=", 1)
    noise = max(math.exp(log_noise_tail(n, c) + c / 4 * math.log(n)) for n, c in product(ITEMS, NOISY))
    final = max(
        math.exp(log_pair_bound(n, c) - np.logaddexp(-c * c * math.log(n), -c / 4 * math.log(n)))
        for n, c in product(ITEMS, LARGE)
    )
    yield amended(
        f"the same exact probability over n^(−C²/4), largest of {len(DESIGNS)} designs", worst_counts(), "<=", 1
    )
    yield amended("exact P(W_b − W_a ≥ C log n/ε) over n^(−C/4), largest", noise, "<=", 1)
    log = min(NOISY) * math.log(min(ITEMS))
    closed = math.exp(-log / 4) * (1 + log / 4) / 2
    yield agree("the same, off ½ n^(−C/4)(1 + C log(n)/4), n = 2, C = 0.01", noise - closed)
    yield amended("our bound over n²/4 (n^(−C²) + n^(−C/4)), largest, C ≥ 8", final, "<=", 1)
    off = [law_off(*design) for *design, _ in DESIGNS]
    yield agree("mass and mean of the law of N_a − N_b, off 1 and np(τ_a − τ_b)", off)


def law_off(n: int, p: float, direct: float, first: float, second: float) -> list[float]:
    """How far the mass of `difference_law` is from one, and its mean, over n, from its closed form."""
    values, law = difference_law(n, p, direct, first, second)
    mean = p * (2 * direct - 1 + (n - 2) * (first - second))
    return [law.sum() - 1, (values @ law - mean) / n]


def ranking_demand(items: int, constant: float) -> float:
    """The gap asked for between all neighbours, p = 1, no noise, over 1 / n: n - 1 gaps add up to 1 - 1 / n at most."""
    return constant * items * sum(rate(items, 1, math.inf))


def groups(items: int, epsilon: float, constant: float = SUFFICIENT) -> int:
    """How many groups of equal size can be apart by the gap asked for, p = 1: neighbours differ by 1 / groups."""
    return max(1, math.floor(1 / (constant * sum(rate(items, 1, epsilon)))))


#: From this constant on no matrix has all the gaps, whatever n, p and epsilon: just above 1 / sqrt(2 log 2).
EMPTY = 0.85


@claim("cai2025:sec-2.3.1:rank-all")
def check_rank_all(items: int) -> Iterator[Check]:
    """Ranking all items: the union bound, whether its hypothesis can be met, and what can be had instead."""
    union = max(scaled_bound(n, SUFFICIENT, (n - 1) * n * n / 4, 4) for n in ITEMS)
    least = {
        constant: min(ranking_demand(n, constant) for n in range(2, items + 1)) for constant in (SUFFICIENT, EMPTY)
    }
    pairs = max(scaled_bound(n, SUFFICIENT, n * (n - 1) / 2, 5) for n in ITEMS)
    c = f"C = {SUFFICIENT:g}"
    yield printed(f"largest n⁴ × union bound over all k, {c}, n = 2 to 10¹²", union, "<=", 1)
    for constant, demand in least.items():
        what = f"gap asked for over the largest possible, C = {constant:g}, p = 1, ε = ∞, least of n = 2 to {items:,}"
        yield content(what, demand, "<=", 1, error=ROUNDING)
    yield amended(f"largest n⁵ × union bound over all separated pairs, {c}, n = 2 to 10¹²", pairs, "<=", 1)
    yield amended(f"groups that can be ranked, {c}, n = 10⁶, p = 1, ε = 1", groups(10**6, 1), ">=", 2)


# --- Section 2.3.2: which class a lower bound must be shown for ------------------------------------------------------


def two_items_error(gap: float, epsilon: float) -> float:
    """Largest exact error of Algorithm 2 on two items, always compared, `gap` apart at least."""
    wrong = math.exp(log_first_wins(-1, 2 / epsilon))
    win = 0.5 + gap
    return win * wrong + (1 - win) * (1 - wrong)


@claim("cai2025:sec-2.3.2:inclusion")
def check_inclusion(epsilon: float = 1.0) -> Iterator[Check]:
    """The printed inclusion, the inference from it, and the inclusion that carries a lower bound over."""
    cases = [rate(*case) for case in RATES]
    inside = min((a + b) / (2 * min(a, b)) for a, b in cases)
    reverse = min(2 * max(a, b) / (a + b) for a, b in cases)
    a, b = rate(2, 1, epsilon)
    c = 0.4
    gap = c * (a + b)
    whole = two_items_error(gap, epsilon)
    # the union of the classes with c / 10 in place of 2c holds the class all the more
    parts = min(two_items_error(c / 10 * x, epsilon) for x in (a, b))
    at = f"2 items, p = 1, ε = {epsilon:g}, c = {c:g}"
    grid = f"{len(cases)} choices of n, p, ε"
    part = "{gap ≥ ca/10}, {gap ≥ cb/10}"
    yield argument(f"c(a + b) over the smaller of 2ca and 2cb, least, {grid}", inside, ">=", 1 - ROUNDING)
    what = f"inference, with another union that holds Θ: error over Θ against the smaller of those over {part}, {at}"
    yield printed(what, whole, ">=", parts)
    yield amended(f"the larger of 2ca and 2cb over c(a + b), least, {grid}", reverse, ">=", 1 - ROUNDING)
    parts = min(two_items_error(2 * c * x, epsilon) for x in (a, b))
    what = f"error over Θ against the smaller of those over {{gap ≥ 2ca}}, {{gap ≥ 2cb}}, {at}"
    yield amended(what, whole, ">=", parts)
    better, worse = (top_set_law([1, 0], 2 / epsilon, 1)[item,] for item in (0, 1))
    yield agree("error over Θ off the exact law of the top set", whole - (0.5 + gap) * worse - (0.5 - gap) * better)
