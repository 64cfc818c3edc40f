"""How far apart strengths must be to be ranked, and which term decides: Corollary 2.1 and what follows it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, stats

from companion.chapters.edge_privacy.attack import all_outcomes, outcome_law
from companion.chapters.edge_privacy.estimation import rate, sparsest
from companion.instruments.allowance import ROUNDING, Z, agree
from companion.instruments.sweep import stream
from companion.instruments.two_items import overtaken
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC, erdos_renyi_counts

#: Least slope of the logistic function where strengths of at most 1 differ: at 2.
SLOPE = float(LOGISTIC.pdf(2.0))
#: Probability that `swap_probability` may leave out: Hoeffding, 12 sqrt(n) from the mean.
LEFT_OUT = 1e-120
#: Numbers of items whose best one is swapped, epsilons of our constants, and log n at which two terms are compared.
SWAPPED, EPSILONS = (100, 1000, 10_000, 100_000), (1.0, 0.5)
LOGS = tuple(math.log(10) * k for k in (2, 6, 12, 300, 10**6))


def swap_probability(n: int, gap: float, scale: float) -> float:
    """P(the perturbed MLE puts a given other item before the best), exact but for `LEFT_OUT`, p = 1.

    The best item leads by `gap`, all others are equal: P(N_2 + w_2 > N_1 + w_1), a lower bound on the top one's
    failure.
    """
    others, reach = n - 2, math.ceil(12 * math.sqrt(n))
    laws, middles = [], []
    for chance in (LOGISTIC.cdf(gap), 0.5):
        middle = round(others * float(chance))
        wins = np.arange(middle - reach, middle + reach + 1)
        laws.append(stats.binom.pmf(wins, others, chance))
        middles.append(middle)
    lead = np.convolve(laws[0], laws[1][::-1])
    first = middles[0] - middles[1] - 2 * reach
    value = first + np.arange(len(lead))
    won = float(LOGISTIC.cdf(gap))
    met = ((1, won), (-1, 1 - won))
    return float(sum(chance * (lead @ overtaken((value + direct) / scale)) for direct, chance in met))


def separation(n: int, epsilon: float) -> float:
    """A gap that is enough on the complete graph with lambda = 8 / epsilon, every k: our constants in (2.7).

    A lead of mean at least F'(2) n gap falls short by sqrt(7 n log n) with probability n^-7 at most (Hoeffding), and
    noise makes up 8 lambda log n with less.
    """
    first, second = separation_constants()
    return first * math.sqrt(math.log(n) / n) + second * math.log(n) / (n * epsilon)


def separation_constants() -> tuple[float, float]:
    """Constants of the two terms of (2.7)."""
    return math.sqrt(7) / SLOPE, 64 / SLOPE


def separable(epsilon: float) -> int:
    """Least n for which two strengths within 1 can be that far apart."""
    return math.ceil(optimize.brentq(lambda n: separation(n, epsilon) - 2, 10, 1e12))


def swaps(sizes: Iterable[int], constants: Iterable[float], epsilon: float = 1.0) -> pd.DataFrame:
    """The best item falls behind one other, p = 1: ``constant`` times the rate as ``gap``, ``items``, ``swap`` (exact).

    And ``exponent``: the probability is n to the minus this.
    """
    rows = []
    for c, n in product(constants, sizes):
        gap = c * rate(n, 1.0, 1 / epsilon)
        swap = swap_probability(n, gap, 8 / epsilon)
        rows.append((c, n, gap, swap, -math.log(swap) / math.log(n)))
    return pd.DataFrame(rows, columns=["constant", "items", "gap", "swap", "exponent"])


def listed_swap(gap: float, scale: float) -> float:
    """`swap_probability` of four items by listing all outcomes."""
    theta, outcomes = np.array([gap, 0, 0, 0]), all_outcomes(4)
    wins = outcomes.sum(-1)
    return float(
        outcome_law(LOGISTIC.cdf(theta[:, None] - theta), outcomes) @ overtaken((wins[:, 0] - wins[:, 1]) / scale)
    )


def rarely_swapped(n: int, power: float = 5.0) -> float:
    """The gap, epsilon = 1, at which the best item falls behind a given one with probability n^-power / (n - 1)."""

    def excess(gap: float) -> float:
        return math.log(swap_probability(n, gap, 8.0) + LEFT_OUT) + power * math.log(n) + math.log(n - 1)

    return float(optimize.brentq(excess, 0, 2))


@claim("cai2025:cor-2.1")
def check_cor_2_1() -> Iterator[Check]:
    """Corollary 2.1 with a small constant in (2.7), and with ours."""
    for row in swaps(SWAPPED, (0.1,)).itertuples():
        what = (
            "b, where the best item falls behind one other with probability n^−b: gap 0.1 times the rate, p = 1, ε = 1"
        )
        yield printed(f"{what}, n = {row.items:,}", row.exponent, ">=", 5)
    first, second = separation_constants()
    for epsilon in EPSILONS:
        least = separable(epsilon)
        sizes = [least, *(10**k for k in range(4, 10) if 10**k > least)]
        chance = [n ** -((SLOPE * first) ** 2) + overtaken(SLOPE * second / 8 * math.log(n)) for n in sizes]
        bound = max(n**5 * n**2 / 4 * wrong for n, wrong in zip(sizes, chance, strict=True))
        what = f"n⁵ times the bound on P(wrong top k), our constants, every k, p = 1, ε = {epsilon:g}, n ≥ {least:,}"
        for says in (supplied, amended):
            yield says(what, bound, "<=", 1)
        closed = (1 + (1 + 4 * math.log(least)) / (2 * least)) / 4
        yield agree("the same, off its value at the least n", bound - closed)
        fits = separation(least, epsilon) <= 2 < separation(least - 1, epsilon)
        yield argument(f"whether n = {least:,} is the least for such a gap within 2", fits, "==", True)
    n = SWAPPED[2]
    share = rarely_swapped(n) / separation(n, 1.0)
    what = f"gap at which the best falls behind one of {n:,} with probability n⁻⁵/(n − 1), exactly, over our gap"
    for says in (supplied, amended):
        yield says(f"{what}, p = 1, ε = 1", share, "<=", 1)
    off = [swap_probability(4, 0.7, scale) - listed_swap(0.7, scale) for scale in (0.5, 8.0)]
    yield agree("P(the best falls behind one other), off the listing of outcomes, 4 items", off)


def changed(theta: ArrayLike) -> NDArray[np.float64]:
    """Comparisons, in expectation, that tell each item from the next: outcomes that change if the two exchange places.

    The sum over the other j of 2 (F(theta_i - theta_j) - F(theta_k - theta_j)), and F(theta_i - theta_k) - F(theta_k -
    theta_i).
    """
    theta = np.sort(np.asarray(theta, float))[::-1]
    against = LOGISTIC.cdf(theta[:, None] - theta)
    step = against[:-1] - against[1:]
    rows = np.arange(len(theta) - 1)
    own = step[rows, rows] + step[rows, rows + 1]
    return 2 * (step.sum(1) - own) + own


def ranking_limit(epsilon: float, comparisons: ArrayLike) -> float:
    """Upper bound on P(all in the right order) under edge privacy, by exchanges of neighbours in the order.

    1 / (1 + sum exp(-(e^epsilon - 1) D)), D of `changed`.
    """
    return float(1 / (1 + np.exp(-math.expm1(epsilon) * np.asarray(comparisons, float)).sum()))


def most_comparisons(n: int) -> float:
    """What the mean of `changed` cannot exceed, whatever the strengths: 2 n / (n - 1)."""
    return 2 * n / (n - 1)


def universal_limit(epsilon: float, n: int) -> float:
    """The same for any strengths: the exponential is convex, so the bound is largest where all D equal their mean."""
    return ranking_limit(epsilon, np.full(n - 1, most_comparisons(n)))


def log_many_limit(n_items: int, epsilon: float) -> float:
    """Log of a bound on P(all in order), any strengths: neighbours exchanged in any of (n - 1) / 2 separate places.

    Of the two ways to pair neighbours one has a mean of `changed` of 2 n / (n - 1) at most; log(1 + e^-x) is convex.
    """
    return -((n_items - 1) // 2) * math.log1p(math.exp(-math.expm1(epsilon) * most_comparisons(n_items)))


def log_orders(n_items: int, epsilon: float) -> float:
    """Log of the sum over all orders of e^(-epsilon inversions)."""
    j = np.arange(1, n_items + 1)
    return float((np.log(-np.expm1(-j * epsilon)) - math.log(-math.expm1(-epsilon))).sum())


def log_attained(n_items: int, epsilon: float) -> float:
    """Log of P(all in order) of an epsilon-private method, strengths far apart, p = 1.

    Orders are drawn with weight e^(-epsilon/2) for every answer that they contradict; answers are sure.
    """
    return -log_orders(n_items, epsilon / 2)


def right_order(theta: ArrayLike, scale: float, draws: int) -> tuple[float, float]:
    """Share of draws in which the noisy counts of a complete graph rank everything right, and its standard error."""
    theta = np.sort(np.asarray(theta, float))[::-1]
    rng = stream("right order", {"theta": theta.tolist(), "scale": scale})
    _, wins = erdos_renyi_counts(theta, 1.0, draws, rng=rng)
    noisy = wins - rng.laplace(0, scale, wins.shape)
    share = float((np.diff(noisy) < 0).all(1).mean())
    return share, math.sqrt(max(share * (1 - share), 1 / draws) / draws)


def room(sizes: Iterable[int], epsilon: float = 1.0) -> pd.DataFrame:
    """Full ranking: ``items``, ``constant`` (largest that (2.7) can have for all k in Theta, p = 1), ``failure``."""
    rows = []
    for n in sizes:
        largest = 2 / ((n - 1) * rate(n, 1.0, 1 / epsilon))
        rows.append({"items": n, "constant": largest, "failure": 1 - universal_limit(epsilon, n)})
    return pd.DataFrame(rows)


@claim("cai2025:sec-2.2:rank-all")
def check_rank_all(draws: int) -> Iterator[Check]:
    """No private method can rank everything, whatever the gaps."""
    for epsilon in (1.0, 0.5):
        for n in (10, 1000, 10**6):
            fails = 1 - universal_limit(epsilon, n)
            what = "b, where some item is out of place with probability at least n^−b: any strengths, any p"
            yield printed(f"{what}, ε = {epsilon:g}, n = {n:,}", -math.log(fails) / math.log(n), ">=", 5)
    rng = stream("changed comparisons", {})
    share = 0.0
    for n in (2, 3, 5, 20, 100):
        for spread in (0.1, 1.0, 10.0, 1000.0):
            kinds = (
                np.linspace(0, spread, n),
                rng.uniform(0, spread, n),
                rng.standard_exponential(n).cumsum() * spread,
            )
            share = max(share, *(float(changed(theta).mean()) / most_comparisons(n) for theta in kinds))
    yield amended("mean number of telling comparisons over 2n/(n − 1), 60 vectors", share, "<=", 1)
    for n, gap in ((3, 2.0), (10, 0.2), (10, 5.0)):
        theta = gap * np.arange(n)
        seen, se = right_order(theta, 8.0, draws)
        limit = ranking_limit(1.0, changed(theta))
        what = f"P(all in place), equal gaps of {gap:g}, n = {n}, p = 1, ε = 1"
        yield amended(what, seen, "<=", limit, error=Z * se)
    n, epsilon = 1000, 1.0
    many, attained = log_many_limit(n, epsilon), log_attained(n, epsilon)
    yield amended(f"bound by exchanges in separate places, n = {n}, ε = 1", math.exp(many), "<=", 2e-7)
    sizes = product((2, 3, 10, n, 10**5), (0.1, epsilon, 3.0))
    what = "log P(all in place) of an ε-private method, strengths far apart, p = 1, less that bound, largest"
    yield amended(what, max(log_attained(*case) - log_many_limit(*case) for case in sizes), "<=", 0)
    yield amended(f"that chance to the power 1/n, n = {n}, ε = 1", math.exp(attained / n), ">=", 0.39)
    yield amended("the bound to the power 1/n", math.exp(many / n), "<=", 0.985)


def dominance(log_sizes: Iterable[float], c_1: float = 1.0) -> pd.DataFrame:
    """Privacy term of (2.7) over the other at epsilon = 1 / sqrt(log n), by ``log n``, for degrees (log n)^a.

    ``largest`` (least p of Theorem 2.1: a = 1.5, times c_1), ``inside`` (1.75), ``edge`` (2), ``outside`` (2.25).
    """
    rows = []
    for log in log_sizes:
        degree = {"largest": c_1 * log**1.5, "inside": log**1.75, "edge": log**2, "outside": log**2.25}
        ratio = {name: (log * log**0.5 / d) / math.sqrt(log / d) for name, d in degree.items()}
        rows.append({"log n": log} | ratio)
    return pd.DataFrame(rows)


@claim("cai2025:sec-2.2:dominates")
def check_dominates() -> Iterator[Check]:
    """The privacy term wins for n p well below (log n)^2, loses above, and Theorem 2.1 allows such p."""
    frame = dominance(LOGS)
    last, small = frame.iloc[-1], frame.iloc[1]
    least = (frame.inside / frame.inside.shift()).min()
    yield printed("privacy term over the other, np = (log n)^1.75, ε = 1/√log n, n = 10⁶", small.inside, ">", 1)
    yield printed("least ratio of successive values, n = 10² to 10^(10⁶)", least, ">", 1)
    yield printed("the same terms at np = (log n)²: no domination at the edge", last.edge, "==", 1, error=ROUNDING)
    yield printed("at np = (log n)^2.25: it is the other way round, n = 10⁶", small.outside, "<", 1)
    powers = {"largest": 1 / 4, "inside": 1 / 8, "edge": 0.0, "outside": -1 / 8}
    off = [frame[name] / frame["log n"] ** power - 1 for name, power in powers.items()]
    yield agree("those ratios, off (log n)^(1 − a/2) at np = (log n)^a", off)
    n, log = 10**6, math.log(1e6)
    degree = n * sparsest(n, log**-0.5, 1.0)
    yield printed("least np of Theorem 2.1 over (log n)^1.75, c₁ = 1, n = 10⁶", degree / log**1.75, "<=", 1)
    terms = rate(n, degree / n, log**0.5) / rate(n, degree / n, 0) - 1
    yield agree("the two terms of (2.7) there, off the largest ratio", terms - small.largest)
