"""How far the perturbed MLE of Cai, Chakraborty and Wang (2025) is from the truth: Section 2.2.1 and Remark 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from companion.chapters.edge_privacy.perturbed_likelihood import attained_loss
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC, Link, erdos_renyi_counts
from dprank.pairwise import mle_from_counts, objective_loss

#: Least slope of the logistic function where strengths of at most 1 differ: at 2.
SLOPE = float(LOGISTIC.pdf(2.0))
#: Half of F(4) - F(2): how steeply F rises at least on average, from a gap within 2, over a step of at most 2.
RISE = float(LOGISTIC.cdf(4.0) - LOGISTIC.cdf(2.0)) / 2
#: Probability that `swap_probability` may leave out: Hoeffding, 12 sqrt(n) from the mean.
LEFT_OUT = 1e-120
#: How many times lambda log n the expected degree n p must be in our bound on the complete graph.
DENSE = 400.0
#: c_0 of the authors' code, and the constant of (A2) that privacy needs with the logistic link.
C_0, KAPPA_2 = 2.0, 0.25


def ridge(n: int, p: float, c_0: float = C_0) -> float:
    """The ridge c_0 sqrt(n p log n) of Proposition 2.2."""
    return c_0 * math.sqrt(n * p * math.log(n))


def rate(n: int, p: float, scale: float) -> float:
    """Right side of (2.5), with noise of the given scale; of (2.6) and (2.7) with scale 1 / epsilon."""
    return math.sqrt(math.log(n) / (n * p)) + scale * math.log(n) / (n * p)


# --- Proposition 2.2: a bound with all its constants -----------------------------------------------------------------


def error_bound(n: int, p: float, scale: float, c_0: float = C_0) -> tuple[float, float]:
    """Bound on the largest error of the perturbed MLE (logistic link, strengths within 1), and its failure probability.

    Let e be the error, D its range, and phi(u) = F(2 + u) - F(2). The stationary equations of the items with the
    largest and the least error, subtracted, give m phi(D) + gamma D <= 2 (score + noise + gamma), where m is the number
    of items that both met (n on the complete graph, where they also met each other). The sum of all equations gives the
    mean error. On the complete graph the rate is that of Proposition 2.2; on sparser graphs it lacks a factor p.
    """
    log, gamma = math.log(n), ridge(n, p, c_0)
    degree, common = (n, n) if p == 1 else (1.5 * n * p, (n - 2) * p**2 / 2)
    force = 2 * (math.sqrt(3 * degree * log) + 6 * scale * log + gamma)

    def excess(d: float) -> float:
        return float(common * (LOGISTIC.cdf(2 + d) - LOGISTIC.cdf(2.0)) + gamma * d - force)

    spread = optimize.brentq(excess, 0, force / gamma)
    mean = scale * math.sqrt(48 * log / n) / gamma
    failure = (3 * n + 2) / n**6 if n >= 6 * log else 1.0
    if p < 1:
        failure += n * math.exp(-n * p / 12) + n**2 / 2 * math.exp(-(n - 2) * p**2 / 8)
    return float(spread) + mean, min(failure, 1.0)


def constants(c_0: float = C_0) -> tuple[float, float]:
    """Constants of the two terms of (2.5) on the complete graph if n >= 400 lambda log n, lambda >= 8, n >= 3."""
    return (2 * math.sqrt(3) + 2 * c_0) / RISE, 12 / RISE + math.sqrt(48) / c_0


def promised(n: int, p: float, scale: float, c_0: float = C_0) -> float:
    """Right side of (2.5) with those constants."""
    first, second = constants(c_0)
    return first * rate(n, p, 0) + second * (rate(n, p, scale) - rate(n, p, 0))


def smallest_dense(factor: float, epsilon_of_log: float) -> int:
    """Least n with n >= 400 lambda log n for lambda = factor (log n)^epsilon_of_log."""

    def short(n: float) -> float:
        return n - DENSE * factor * math.log(n) ** (1 + epsilon_of_log)

    return math.ceil(optimize.brentq(short, 50, 1e12))


def bounds(sizes: Iterable[int], scales: Iterable[float], c_0: float = C_0) -> pd.DataFrame:
    """`error_bound`, p = 1: ``items``, ``scale``, ``bound``, ``rate``, ``ratio``, ``promised``, ``failure``."""
    rows = []
    for n in sizes:
        for scale in scales:
            bound, failure = error_bound(n, 1.0, scale, c_0)
            plain = rate(n, 1.0, scale)
            known = {"items": n, "scale": scale, "bound": bound, "rate": plain, "ratio": bound / plain}
            rows.append(known | {"promised": promised(n, 1.0, scale, c_0), "failure": failure})
    return pd.DataFrame(rows)


def largest_estimate(n: int, p: float, scale: float, c_0: float = C_0) -> float:
    """Bound on every entry of the estimate, whatever the truth, with probability 1 - n^-5.

    It is (n + 6 lambda log n) / gamma: at the largest entry the likelihood pulls by at most the degree, below n, and
    the noise by at most 6 lambda log n.
    """
    return (n + 6 * scale * math.log(n)) / ridge(n, p, c_0)


def two_groups(n: int, halves: Iterable[float], c_0: float = C_0) -> pd.DataFrame:
    """What the ridge leaves of two equal groups at +t and -t: complete graph, no noise, expected outcomes.

    Returns
    -------
    pandas.DataFrame
        ``t``, ``estimate`` (the s with n / 2 (F(2 t) - F(2 s)) = gamma s), ``error`` (t - s), ``over rate``.
    """
    gamma = ridge(n, 1.0, c_0)
    rows = []
    for t in halves:
        # the tail, so that no digit is lost
        s = optimize.brentq(lambda s, t=t: n / 2 * (LOGISTIC.cdf(-2 * s) - LOGISTIC.cdf(-2 * t)) - gamma * s, 0, t)
        rows.append({"t": t, "estimate": s, "error": t - s, "over rate": (t - s) / rate(n, 1.0, 0)})
    return pd.DataFrame(rows)


# --- Proposition 2.2 on sparse graphs: simulated ---------------------------------------------------------------------


def budget(items: int, privacy: str) -> float:
    """epsilon = 1, or 1 / sqrt(log n), the least that Theorem 2.1 allows with c_2 = 1."""
    if privacy not in ("ε = 1", "ε = 1/√log n"):
        raise ValueError(f"privacy = {privacy!r}; allowed are 'ε = 1', 'ε = 1/√log n'")
    return 1.0 if privacy == "ε = 1" else 1 / math.sqrt(math.log(items))


def sparsest(items: int, epsilon: float, c_1: float = 4.0) -> float:
    """p = c_1 log n / (n epsilon), the boundary of Theorem 2.1, or 1."""
    return min(1.0, c_1 * math.log(items) / (items * epsilon))


def errors(items: int, privacy: str, repetitions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Largest error over its rate (2.6): sparse graphs, strengths equally spaced from -1 to 1, lambda = 8 / epsilon."""
    epsilon = budget(items, privacy)
    p, theta = sparsest(items, epsilon), np.linspace(-1, 1, items)
    largest: list[float] = []
    while len(largest) < repetitions:
        # at most 80 MB of comparisons at a time
        some = min(repetitions - len(largest), max(1, 20_000_000 // items**2))
        played, wins = erdos_renyi_counts(theta, p, some, rng=rng)
        noise = rng.laplace(0, 8 / epsilon, wins.shape)
        estimate, _ = mle_from_counts(played, wins - noise, ridge=ridge(items, p), tolerance=1e-6)
        largest += np.abs(estimate - theta).max(1).tolist()
    return np.array(largest) / rate(items, p, 1 / epsilon)


def error_ratios(sizes: Iterable[int], repetitions: int) -> pd.DataFrame:
    """Mean of `errors`: ``items``, ``privacy``, ``probability``, ``mean``, ``se``."""
    cells: list[dict[str, Any]] = [
        {"items": n, "privacy": privacy} for privacy in ("ε = 1", "ε = 1/√log n") for n in sizes
    ]
    frame = sweep(errors, cells, experiment="largest error over its rate", repetitions=repetitions)
    pairs = [(n, budget(n, privacy)) for n, privacy in zip(frame["items"], frame.privacy, strict=True)]
    frame["probability"] = [sparsest(n, epsilon) for n, epsilon in pairs]
    return frame


def growth(frame: pd.DataFrame) -> tuple[float, float]:
    """Slope of log mean against log n, weighted, and its standard error."""
    x, y, weight = np.log(frame["items"]), np.log(frame["mean"]), (frame["mean"] / frame.se) ** 2
    centred = x - np.average(x, weights=weight)
    information = float((weight * centred**2).sum())
    return float((weight * centred * y).sum()) / information, information**-0.5


def _simulated(frame: pd.DataFrame) -> list[Check]:
    checks = []
    for privacy, part in frame.groupby("privacy", sort=False):
        sizes = f"n = {part['items'].min()} to {part['items'].max()}"
        at = f"p = 4 log n/(nε), {privacy}, {sizes}"
        slope, se = growth(part)
        what = f"exponent b of n^b fitted to ℓ∞ error over rate, {at}"
        checks.append(supplied(what, slope, "<=", 0.2, error=Z * se))
    return checks


def _proved(scales: Iterable[tuple[str, float, float]]) -> list[Check]:
    """The bound on the complete graph against its promise, from the least n it is made for."""
    checks = []
    for name, factor, power in scales:
        least = smallest_dense(factor, power)
        ratios, failures = [], []
        for n in [least, *(10**k for k in range(6, 13) if 10**k > least)]:
            scale = factor * math.log(n) ** power
            bound, failure = error_bound(n, 1.0, scale)
            ratios.append(bound / promised(n, 1.0, scale))
            failures.append(failure * n**5)
        at = f"p = 1, {name}, n = {least:,} to 10¹²"
        checks.append(supplied(f"proved ℓ∞ error over {_promise()}, {at}", max(ratios), "<=", 1))
        checks.append(supplied(f"n⁵ times the probability that this fails, {at}", max(failures), "<=", 4))
    return checks


def _promise() -> str:
    first, second = constants()
    return f"{first:.0f} √(log n/(np)) + {second:.0f} λ log n/(np)"


@claim("cai2025:prop-2.2")
def check_prop_2_2(frame: pd.DataFrame) -> Iterator[Check]:
    """(2.5) without a bound on the strengths, and with one: proved on the complete graph, simulated elsewhere."""
    checks, known = [], max(constants())
    for n in (10**5, 10**6, 10**7):
        least = (n - largest_estimate(n, 1.0, 8.0)) / rate(n, 1.0, 8.0)
        what = f"ℓ∞ error over rate, at least, with probability 1 − n⁻⁵: p = 1, λ = 8, n = {n:,}, ‖θ*‖∞ = n"
        checks.append(printed(what, least, "<=", known))
    checks += _proved([("λ = 8", 8.0, 0.0), ("λ = 8 √log n", 8.0, 0.5)])
    yield from checks
    yield from _simulated(frame)
    yield from _corrected_error(0.01)
    yield from _corrected_error(C_0)


def _corrected_error(c_0: float) -> list[Check]:
    n = 10**6
    bound, _ = error_bound(n, 1.0, 8.0, c_0)
    what = f"proved ℓ∞ error, ‖θ*‖∞ ≤ 1, p = 1, λ = 8, n = {n:,}, c₀ = {c_0:g}"
    return [amended(what, bound, "<=", promised(n, 1.0, 8.0, c_0))]


# --- Theorem 2.1 -----------------------------------------------------------------------------------------------------


def privacy_size(c_0: float, c_1: float = 1.0, c_2: float = 1.0, kappa_2: float = KAPPA_2) -> float:
    """log n from which the conditions of Theorem 2.1 make the ridge at least 4 kappa_2 / epsilon.

    gamma >= c_0 sqrt(c_1) log n / sqrt(epsilon), so c_0 sqrt(c_1 c_2) (log n)^(3/4) >= 4 kappa_2 is enough.
    """
    return (4 * kappa_2 / (c_0 * math.sqrt(c_1 * c_2))) ** (4 / 3)


def ridges(sizes: Iterable[int], epsilons: Iterable[float], p: float = 1.0, c_0: float = C_0) -> pd.DataFrame:
    """Privacy of Theorem 2.1.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``epsilon``, ``ridge``, ``loss`` (exact), ``needed`` (4 kappa_2 / epsilon with kappa_2 = 1/4), ``both
        halves`` (the same with the one kappa_2 that both halves of (A2) need).
    """
    both = 1 / float(LOGISTIC.curvature(4.0))
    rows = []
    for n in sizes:
        for e in epsilons:
            gamma = ridge(n, p, c_0)
            needed = {"needed": 4 * KAPPA_2 / e, "both halves": 4 * both / e}
            rows.append({"items": n, "epsilon": e, "ridge": gamma, "loss": objective_loss(8 / e, gamma)} | needed)
    return pd.DataFrame(rows)


@claim("cai2025:thm-2.1")
def check_thm_2_1(frame: pd.DataFrame) -> Iterator[Check]:
    """The privacy of Theorem 2.1 for small constants, and both halves with a ridge that is large enough."""
    for n, epsilon, c_0 in ((10, 0.9, 0.01), (10_000, 0.9, 0.001)):
        loss = attained_loss(8 / epsilon, ridge(n, 0.5, c_0))
        what = f"log density ratio of explicit neighbours: n = {n:,}, p = 1/2, c₁ = c₂ = 1, c₀ = {c_0:g}"
        yield printed(f"{what}, ε = {epsilon:g}", loss, "<=", epsilon)
    worst = 0.0
    for n in np.unique(np.geomspace(3, 10**7, 40).astype(int)):
        for e in np.linspace(1 / math.sqrt(math.log(n)), 1, 12) if n > 2 else ():
            # the sparsest graph that the theorem allows with c_1 = 1, where there is one
            if math.log(n) <= n * e:
                gamma = max(ridge(n, math.log(n) / (n * e), 0.01), 4 * KAPPA_2 / e)
                worst = max(worst, objective_loss(8 / e, gamma) / e)
    what = "exact privacy loss over ε, γ ≥ 1/ε, n = 3 to 10⁷, c₂/√log n ≤ ε ≤ 1, c₁ = c₂ = 1"
    yield supplied(what, worst, "<=", 1)
    authors = ridges(range(100, 701, 100), (0.2, 0.5, 1.0), p=0.1)
    share = (authors.loss / authors.epsilon).max()
    what = "exact privacy loss over ε, c₀ = 2, p ≥ 0.1, n = 100 to 700, ε = 0.2 to 1"
    yield supplied(what, share, "<=", 1)
    yield from _proved([("λ = 8, that is ε = 1", 8.0, 0.0), ("λ = 8/ε, ε = 1/√log n", 8.0, 0.5)])
    yield from _simulated(frame)
    for c_0 in (0.01, 1.0):
        size = privacy_size(c_0)
        # at that n the boundary values c_1 = c_2 = 1: epsilon = 1 / sqrt(log n), n p = log n / epsilon
        e = size**-0.5
        loss = objective_loss(8 / e, c_0 * math.sqrt(size / e * size))
        what = f"exact privacy loss over ε, c₀ = {c_0:g}, c₁ = c₂ = 1, at the n with log n = {size:.4g}"
        yield amended(what, loss / e, "<=", 1)


# --- Corollary 2.1 ---------------------------------------------------------------------------------------------------


def tail(u: float) -> float:
    """P(w - w' > u) for two Laplace variables of scale 1, u >= 0."""
    return math.exp(-u) * (1 + u / 2) / 2


def swap_probability(n: int, gap: float, scale: float) -> float:
    """Exact probability that the perturbed MLE puts another item before the best: complete graph, logistic link.

    The best item leads by `gap`, all others are equal. On the complete graph the order is that of the noisy counts, so
    this is P(N_2 + w_2 > N_1 + w_1) for one given other item, and a lower bound on the failure of the top one.
    Outcomes farther than 24 standard deviations are left out: less than `LEFT_OUT`.
    """
    if n < 3:
        raise ValueError(f"n = {n}; at least 3 items are needed")
    others, reach = n - 2, math.ceil(12 * math.sqrt(n))
    laws, starts = [], []
    for chance in (LOGISTIC.cdf(gap), 0.5):
        middle = round(others * float(chance))
        wins = np.arange(max(0, middle - reach), min(others, middle + reach) + 1)
        laws.append(stats.binom.pmf(wins, others, chance))
        starts.append(int(wins[0]))
    lead = np.convolve(laws[0], laws[1][::-1])
    first = starts[0] - (starts[1] + len(laws[1]) - 1)
    value = first + np.arange(len(lead))
    won = float(LOGISTIC.cdf(gap))
    total = 0.0
    for direct, chance in ((1, won), (-1, 1 - won)):
        t = np.abs(value + direct) / scale if scale else np.where(value + direct == 0, 0.0, np.inf)
        behind = np.exp(-t) * (1 + np.where(np.isinf(t), 0, t) / 2) / 2
        total += chance * float(lead @ np.where(value + direct >= 0, behind, 1 - behind))
    return total


def separation(n: int, epsilon: float) -> float:
    """A gap that is enough on the complete graph with lambda = 8 / epsilon, for every k: our constants in (2.7).

    The lead of an item over another in wins is a sum of n independent terms with mean at least F'(2) n gap; it falls
    short by sqrt(7 n log n) with probability at most n^-7 (Hoeffding), and noise makes up 8 lambda log n with less.
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
    """Swap of the best item with one other, for gaps of several multiples of the right side of (2.7), p = 1.

    Returns
    -------
    pandas.DataFrame
        ``constant``, ``items``, ``gap``, ``swap`` (exact probability), ``exponent`` (it is n to the minus this).
    """
    rows = []
    for c in constants:
        for n in sizes:
            gap = c * rate(n, 1.0, 1 / epsilon)
            swap = swap_probability(n, gap, 8 / epsilon)
            rows.append(
                {"constant": c, "items": n, "gap": gap, "swap": swap, "exponent": -math.log(swap) / math.log(n)}
            )
    return pd.DataFrame(rows)


@claim("cai2025:cor-2.1")
def check_cor_2_1() -> Iterator[Check]:
    """Corollary 2.1 with a small constant in (2.7), and with ours."""
    for row in swaps((100, 1000, 10_000, 100_000), (0.1,)).itertuples():
        at = f"gap 0.1 times the rate, p = 1, ε = 1, n = {row.items:,}"
        yield printed(
            f"b, where the best item falls behind one other with probability n^−b: {at}", row.exponent, ">=", 5
        )
    for says in (supplied, amended):
        for epsilon in (1.0, 0.5):
            least = separable(epsilon)
            sizes = [least, *(10**k for k in range(4, 10) if 10**k > least)]
            bound = max(n**5 * n**2 / 4 * (n**-7.0 + tail(8 * math.log(n))) for n in sizes)
            what = (
                f"n⁵ times the bound on P(wrong top k), our constants, every k, p = 1, ε = {epsilon:g}, n ≥ {least:,}"
            )
            yield says(what, bound, "<=", 1)
        n = 10_000
        swap = swap_probability(n, separation(n, 1.0), 8.0)
        what = f"n⁵ times n − 1 times the exact probability of a swap at that gap, p = 1, ε = 1, n = {n:,}"
        yield says(what, n**5 * (n - 1) * (swap + LEFT_OUT), "<=", 1)


# --- ranking everything ----------------------------------------------------------------------------------------------


def changed(theta: ArrayLike) -> NDArray[np.float64]:
    """Comparisons, in expectation, that tell each item from the next: sums of differences of winning probabilities.

    For neighbours i and k in the order: the sum over the other j of 2 (F(theta_i - theta_j) - F(theta_k - theta_j)),
    and F(theta_i - theta_k) - F(theta_k - theta_i). If the two exchange their strengths, this many outcomes change.
    """
    theta = np.sort(np.asarray(theta, float))[::-1]
    against = LOGISTIC.cdf(theta[:, None] - theta)
    step = against[:-1] - against[1:]
    rows = np.arange(len(theta) - 1)
    own = step[rows, rows] + step[rows, rows + 1]
    return 2 * (step.sum(1) - own) + own


def ranking_limit(epsilon: float, comparisons: ArrayLike) -> float:
    """Upper bound on P(all items in the right order) under epsilon edge privacy, by exchanges of neighbours.

    Parameters
    ----------
    epsilon : float
    comparisons : array_like of float
        D of `changed`, for each pair of neighbours in the order; the bound is 1 / (1 + sum exp(-(e^epsilon - 1) D)).
    """
    return float(1 / (1 + np.exp(-math.expm1(epsilon) * np.asarray(comparisons, float)).sum()))


def most_comparisons(n: int) -> float:
    """What the mean of `changed` cannot exceed, whatever the strengths: 2 n / (n - 1)."""
    return 2 * n / (n - 1)


def universal_limit(epsilon: float, n: int) -> float:
    """The same for any strengths: the exponential is convex, so the bound is largest where all D equal their mean."""
    return ranking_limit(epsilon, np.full(n - 1, most_comparisons(n)))


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


# --- which term dominates --------------------------------------------------------------------------------------------


def dominance(log_sizes: Iterable[float], c_1: float = 1.0) -> pd.DataFrame:
    """Privacy term of (2.7) over the other at epsilon = 1 / sqrt(log n), for degrees n p = (log n)^a and at c_1's edge.

    Returns
    -------
    pandas.DataFrame
        ``log n``, ``largest`` (ratio at the least p of Theorem 2.1: (log n)^(1/4) / sqrt(c_1)), ``inside`` (at
        n p = (log n)^1.75), ``edge`` (at n p = (log n)^2), ``outside`` (at n p = (log n)^2.25).
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
    frame = dominance([math.log(10) * k for k in (2, 6, 12, 300, 10**6)])
    last = frame.iloc[-1]
    small = frame.iloc[1]
    yield printed("privacy term over the other, np = (log n)^1.75, ε = 1/√log n, n = 10⁶", small.inside, ">", 1)
    yield printed("the same, n = 10^(10⁶)", last.inside, ">", 4)
    yield printed(
        "least ratio of successive values, n = 10² to 10^(10⁶)", (frame.inside / frame.inside.shift()).min(), ">", 1
    )
    yield printed("the same terms at np = (log n)²: no domination at the edge", last.edge, "==", 1, error=ROUNDING)
    yield printed("at np = (log n)^2.25: it is the other way round, n = 10⁶", small.outside, "<", 1)
    yield printed("least p of Theorem 2.1 over (log n)^1.75/n, c₁ = 1, n = 10⁶", math.log(1e6) ** -0.25, "<=", 1)


# --- Remark 1 --------------------------------------------------------------------------------------------------------


def flat_cdf(x: ArrayLike) -> NDArray[np.float64]:
    """A link with (A0) and (A1) whose slope at 0 is 0: the logistic function of g(x) = x^3 / (1 + x^2)."""
    x = np.asarray(x, float)
    return np.asarray(special.expit(x**3 / (1 + x**2)))


def flat_steepness(x: ArrayLike) -> NDArray[np.float64]:
    """F' / (F (1 - F)) of that link, which is g'(x) = x^2 (3 + x^2) / (1 + x^2)^2: at most 9/8, at x^2 = 3."""
    s = np.square(np.asarray(x, float))
    return np.asarray(s * (3 + s) / (1 + s) ** 2)


def gaps(halves: Iterable[float]) -> pd.DataFrame:
    """Half of the items at +t, half at -t, flat link: ``t``, ``theta gap``, ``tau gap``, ``ratio``. Any even n.

    The gap of average winning probabilities is F(2 t) - 1/2, whatever n.
    """
    rows = []
    for t in halves:
        x = 2 * t
        # expit(g) - 1/2 = tanh(g / 2) / 2
        tau = math.tanh(x**3 / (1 + x**2) / 2) / 2
        rows.append({"t": t, "theta gap": x, "tau gap": tau, "ratio": tau / x})
    return pd.DataFrame(rows)


def gap_ratios(link: Link) -> tuple[float, float]:
    """Least and largest ratio of the gaps of tau to those of theta, over strengths within 1 of many kinds."""
    rng = stream("gap ratios", {"link": link.name})
    seen = []
    for n in (2, 3, 10, 100):
        ends = np.r_[1.0, 1 - 1e-3, np.full(n - 2, -1.0)]
        even = np.linspace(-1, 1, n)
        for theta in map(np.unique, (even, ends, 1e-3 * even, *rng.uniform(-1, 1, (20, n)))):
            tau = link.cdf(theta[:, None] - theta).mean(1)
            seen += (np.diff(tau) / np.diff(theta)).tolist()
    return min(seen), max(seen)


@claim("cai2025:rem-1")
def check_rem_1(links: Iterable[Link]) -> Iterator[Check]:
    """(A0) and (A1) do not keep the gaps of one order; with (A2) they are."""
    x = np.linspace(-50, 50, 100_001)
    frame = gaps((0.1, 0.01, 0.001, 0.0001))
    for last, row in zip(frame.ratio, frame.iloc[1:].itertuples(), strict=False):
        what = f"b, where τ gap over θ gap is of order t^b: strengths ±t, t = {10 * row.t:g} to {row.t:g}"
        order = math.log10(last / row.ratio)
        yield printed(f"{what}, F(x) = logistic of x³/(1 + x²)", order, "<=", 0)
    steep, rising = flat_steepness(x).max(), np.diff(flat_cdf(np.linspace(-3, 3, 601))).min()
    odd = np.abs(flat_cdf(x) + flat_cdf(-x) - 1).max()
    yield amended("F′/(F(1 − F)) of this F, largest: (A1) with any κ₁ > 9/8", steep, "<=", 9 / 8 + ROUNDING)
    yield amended("least rise of this F over steps of 0.01, x from −3 to 3", rising, ">", 0)
    yield amended("largest |F(x) + F(−x) − 1| of this F", odd, "<=", ROUNDING)
    for says in (supplied, amended):
        for link in links:
            within = np.linspace(-4, 4, 8001)
            kappa_2 = max(1 / link.curvature(within).min(), link.kappa_2)
            low, high = gap_ratios(link)
            yield says(f"least τ gap over θ gap, {link.name}, with (A2)", low, ">=", 1 / kappa_2)
            yield says(f"largest, {link.name}", high, "<=", link.kappa_1 / 4 + ROUNDING)


# --- Remark 1: optimality --------------------------------------------------------------------------------------------


def lower_bound(n: int, epsilon: float, p: float = 1.0) -> tuple[float, float]:
    """Two gaps at which no method finds the best of n items with probability above 1/2 for all.

    One item leads by the gap, which one is unknown, all others are equal. The first gap is forced by privacy,
    log(n / 4) / ((e^epsilon - 1) m) with m = n / 2 on the complete graph, else n p (where that is at least 8), for
    every (epsilon, delta) with delta at most `most_delta`; the second by chance (Fano). Where one is at most 1, some
    strengths within 1 have an error of half of it, with probability at least 1/2.
    """
    log, contact = math.log(n / 4), n / 2 if p == 1 else n * p
    return log / (math.expm1(epsilon) * contact), math.sqrt(2 * max(log - math.log(4), 0) / (n * p))


def most_delta(n: int, epsilon: float) -> float:
    """delta up to which the first of those gaps is proved: (e^epsilon - 1) / (2 n log(n / 4))."""
    return math.expm1(epsilon) / (2 * n * math.log(n / 4))


def truncation(epsilon: float, delta: float) -> float:
    """Where to cut Laplace noise of scale 2 / epsilon on both changed counts for (epsilon, delta) edge privacy."""
    return 2 / epsilon * math.log1p(math.expm1(epsilon / 2) / delta)


def enough(n: int, bounded: float) -> float:
    """Gap at which counts with noise of at most `bounded` find the best of n items, but for probability n^-6, p = 1.

    The lead has mean at least F'(1) n gap for a gap of at most 1, and falls short by sqrt(7 n log n) with probability
    n^-7 at most.
    """
    return (math.sqrt(7 * n * math.log(n)) + 2 * bounded) / (n * float(LOGISTIC.pdf(1.0)))


def found_best(n: int, epsilon: float, gap: float, draws: int) -> tuple[float, float]:
    """Share of draws in which noisy counts, epsilon private, find the best of n items; p = 1."""
    rng = stream("found best", {"n": n, "epsilon": epsilon, "gap": gap})
    theta = np.zeros(n)
    theta[0] = gap
    _, wins = erdos_renyi_counts(theta, 1.0, draws, rng=rng)
    noisy = wins + rng.laplace(0, 2 / epsilon, wins.shape)
    share = float((noisy.argmax(1) == 0).mean())
    return share, math.sqrt(max(share * (1 - share), 1 / draws) / draws)


def cheaper(sizes: Iterable[int], delta: float) -> pd.DataFrame:
    """p = 1 and epsilon = 10 log n / n: the gap that privacy is said to force, and what bounded noise needs.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``epsilon``, ``forced`` (first gap of `lower_bound`), ``enough`` (for noise cut off at `truncation`),
        ``most delta``.
    """
    rows = []
    for n in sizes:
        e = 10 * math.log(n) / n
        known = {"items": n, "epsilon": e, "forced": lower_bound(n, e)[0], "most delta": most_delta(n, e)}
        rows.append(known | {"enough": enough(n, truncation(e, delta))})
    return pd.DataFrame(rows)


@claim("cai2025:rem-1:optimal")
def check_optimal(frame: pd.DataFrame, draws: int) -> Iterator[Check]:
    """The lower bound behind Remark 1 needs a small delta; with it the remark's conclusion follows."""
    for row in cheaper((10**6, 10**8, 10**10), 0.01).itertuples():
        what = "gap at which (ε, 0.01)-private counts find the best, over the gap said to be needed"
        yield printed(f"{what}, p = 1, ε = 10 log n/n, n = {row.items:,}", row.enough / row.forced, ">=", 1)
    for says in (supplied, amended):
        n, epsilon = 64, 0.2
        seen, se = found_best(n, epsilon, lower_bound(n, epsilon)[0], draws)
        what = f"P(best found) by ε-private counts at our lower bound, n = {n}, p = 1, ε = {epsilon:g}"
        yield says(what, seen, "<=", 0.5, error=Z * se)
        ratios = []
        for n in (10**6, 10**9, 10**12):
            epsilon = 1 / math.sqrt(math.log(n))
            ratios.append(2 * error_bound(n, 1.0, 8 / epsilon)[0] / max(lower_bound(n, epsilon)))
        what = "upper over lower bound on the error, p = 1, ε = 1/√log n: largest for n = 10⁹, 10¹², over n = 10⁶"
        yield says(what, max(ratios[1:]) / ratios[0], "<=", 1)
        for privacy, part in frame.groupby("privacy", sort=False):
            known = [(n, budget(n, str(privacy)), p) for n, p in zip(part["items"], part.probability, strict=True)]
            unit = np.array([rate(n, p, 1 / e) / (max(lower_bound(n, e, p)) / 2) for n, e, p in known])
            slope, se = growth(part.assign(mean=part["mean"] * unit, se=part.se * unit))
            what = f"exponent b of n^b fitted to mean error over lower bound, p = 4 log n/(nε), {privacy}"
            yield says(what, slope, "<=", 0.2, error=Z * se)


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_error_ratios(frame: pd.DataFrame) -> Figure:
    """Mean largest error over its rate against the number of items, on the sparsest graphs that are allowed."""
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    looks = zip(frame.groupby("privacy", sort=False), "os", COLOURS, strict=False)
    for (privacy, part), mark, colour in looks:
        axes.errorbar(part["items"], part["mean"], BAR * part.se, capsize=2, label=privacy, marker=mark, color=colour)
    axes.set(xlabel="items n", ylabel="ℓ∞ error over rate (2.6)", xscale="log")
    axes.set_ylim(bottom=0)
    ticks = sorted(frame["items"].unique())
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend()
    return figure
