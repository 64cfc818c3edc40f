"""The error and the privacy of the perturbed MLE with all constants: Proposition 2.2 and Theorem 2.1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import optimize

from companion.chapters.edge_privacy.link_conditions import KAPPA_1
from companion.chapters.edge_privacy.perturbed_likelihood import attained_loss
from companion.instruments.allowance import Z
from companion.instruments.loss_curves import AXES, shades
from companion.instruments.style import BAR, key, note, panels, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC, erdos_renyi_counts
from dprank.pairwise import mle_from_counts, objective_loss

#: Half of F(4) - F(2): how steeply F rises at least on average, from a gap within 2, over a step of at most 2.
RISE = float(LOGISTIC.cdf(4.0) - LOGISTIC.cdf(2.0)) / 2
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


def error_bound(n: int, scale: float, c_0: float = C_0) -> tuple[float, float]:
    """Bound on the largest error of the perturbed MLE (logistic, p = 1, strengths within 1), and P(it fails).

    With the range D of the error and phi(u) = F(2 + u) - F(2), n phi(D) + gamma D <= 2 (score + noise + gamma).
    """
    log, gamma = math.log(n), ridge(n, 1.0, c_0)
    force = 2 * (math.sqrt(3 * n * log) + 6 * scale * log + gamma)

    def excess(d: float) -> float:
        return float(n * (LOGISTIC.cdf(2 + d) - LOGISTIC.cdf(2.0)) + gamma * d - force)

    spread = optimize.brentq(excess, 0, force / gamma)
    mean = scale * math.sqrt(48 * log / n) / gamma
    failure = (3 * n + 2) / n**6 if n >= 6 * log else 1.0
    return float(spread) + mean, min(failure, 1.0)


def constants(c_0: float = C_0) -> tuple[float, float]:
    """Constants of the two terms of (2.5) on the complete graph if n >= 400 lambda log n, lambda >= 8, n >= 3."""
    return (2 * math.sqrt(3) + 2 * c_0) / RISE, 12 / RISE + math.sqrt(48) / c_0


def promised(n: int, scale: float, c_0: float = C_0) -> float:
    """Right side of (2.5), p = 1, with those constants."""
    first, second = constants(c_0)
    return first * rate(n, 1, 0) + second * (rate(n, 1, scale) - rate(n, 1, 0))


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
            bound, failure = error_bound(n, scale, c_0)
            plain = rate(n, 1.0, scale)
            known = {"items": n, "scale": scale, "bound": bound, "rate": plain, "ratio": bound / plain}
            rows.append(known | {"promised": promised(n, scale, c_0), "failure": failure})
    return pd.DataFrame(rows)


def largest_estimate(n: int, scale: float) -> float:
    """Bound (n + 6 lambda log n) / gamma on every entry of the estimate, for any truth, with probability 1 - n^-5.

    At the largest entry the likelihood pulls by less than n, and the noise by at most 6 lambda log n.
    """
    return (n + 6 * scale * math.log(n)) / ridge(n, 1)


def two_groups(n: int, halves: Iterable[float], c_0: float = C_0) -> pd.DataFrame:
    """What the ridge leaves of two equal groups at +t and -t, complete graph, expected outcomes, no noise.

    ``t``, ``estimate`` (the s with n / 2 (F(2 t) - F(2 s)) = gamma s), ``error``, ``over rate``.
    """
    gamma = ridge(n, 1.0, c_0)
    rows = []
    for t in halves:
        # the tail, so that no digit is lost
        s = optimize.brentq(lambda s, t=t: n / 2 * (LOGISTIC.cdf(-2 * s) - LOGISTIC.cdf(-2 * t)) - gamma * s, 0, t)
        rows.append({"t": t, "estimate": s, "error": t - s, "over rate": (t - s) / rate(n, 1.0, 0)})
    return pd.DataFrame(rows)


#: epsilon = 1, and 1 / sqrt(log n), the least that Theorem 2.1 allows with c_2 = 1.
BUDGETS: dict[str, Callable[[int], float]] = {
    "ε = 1": lambda n: 1.0,
    "ε = 1/√log n": lambda n: 1 / math.sqrt(math.log(n)),
}


def sparsest(items: int, epsilon: float, c_1: float = 4.0) -> float:
    """p = c_1 log n / (n epsilon), the boundary of Theorem 2.1, or 1."""
    return min(1.0, c_1 * math.log(items) / (items * epsilon))


def errors(items: int, privacy: str, repetitions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Largest error over its rate (2.6): sparse graphs, strengths equally spaced from -1 to 1, lambda = 8 / epsilon."""
    epsilon = BUDGETS[privacy](items)
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
    cells: list[dict[str, Any]] = [{"items": n, "privacy": privacy} for privacy in BUDGETS for n in sizes]
    frame = sweep(errors, cells, experiment="largest error over its rate", repetitions=repetitions)
    pairs = [(n, BUDGETS[privacy](n)) for n, privacy in zip(frame["items"], frame.privacy, strict=True)]
    frame["probability"] = [sparsest(n, epsilon) for n, epsilon in pairs]
    return frame


def growth(frame: pd.DataFrame) -> tuple[float, float]:
    """Slope of log mean against log n, weighted, and its standard error."""
    x, y, weight = np.log(frame["items"]), np.log(frame["mean"]), (frame["mean"] / frame.se) ** 2
    centred = x - np.average(x, weights=weight)
    information = float((weight * centred**2).sum())
    return float((weight * centred * y).sum()) / information, information**-0.5


def log_exponent(items: pd.Series) -> float:
    """The exponent b with which n^b looks like log n between the fewest and the most items."""
    few, many = items.min(), items.max()
    return math.log(math.log(many) / math.log(few)) / math.log(many / few)


def _simulated(frame: pd.DataFrame) -> Iterator[Check]:
    for privacy, part in frame.groupby("privacy", sort=False):
        sizes = f"n = {part['items'].min()} to {part['items'].max()}"
        slope, se = growth(part)
        what = f"exponent b of n^b fitted to ℓ∞ error over rate, p = 4 log n/(nε), {privacy}, {sizes}"
        yield supplied(f"{what}, against that of log n", slope, "<", log_exponent(part["items"]), error=Z * se)


def _proved(scales: Iterable[tuple[str, float, float]]) -> Iterator[Check]:
    """The bound on the complete graph against its promise, from the least n it is made for."""
    first, second = constants()
    rate_of = f"{first:.0f} √(log n/(np)) + {second:.0f} λ log n/(np)"
    for name, factor, power in scales:
        least = smallest_dense(factor, power)
        ratios, failures = [], []
        for n in [least, *(10**k for k in range(6, 13) if 10**k > least)]:
            scale = factor * math.log(n) ** power
            bound, failure = error_bound(n, scale)
            ratios.append(bound / promised(n, scale))
            failures.append(failure * n**5)
        at = f"p = 1, {name}, n = {least:,} to 10¹²"
        yield supplied(f"proved ℓ∞ error over {rate_of}, {at}", max(ratios), "<=", 1)
        yield supplied(f"n⁵ times the probability that this fails, {at}", max(failures), "<=", 4)


@claim("cai2025:prop-2.2")
def check_prop_2_2(frame: pd.DataFrame) -> Iterator[Check]:
    """(2.5) without a bound on the strengths, and with one: proved on the complete graph, simulated elsewhere."""
    known = max(constants())
    for n in (10**5, 10**6, 10**7):
        least = (n - largest_estimate(n, 8.0)) / rate(n, 1.0, 8.0)
        what = f"ℓ∞ error over rate, at least, with probability 1 − n⁻⁵: p = 1, λ = 8, n = {n:,}, ‖θ*‖∞ = n"
        yield printed(what, least, "<=", known)
    yield from _proved([("λ = 8", 8.0, 0.0), ("λ = 8 √log n", 8.0, 0.5)])
    yield from _simulated(frame)
    n = 10**6
    for c_0 in (0.01, C_0):
        bound, _ = error_bound(n, 8.0, c_0)
        what = f"proved ℓ∞ error, ‖θ*‖∞ ≤ 1, p = 1, λ = 8, n = {n:,}, c₀ = {c_0:g}"
        yield amended(what, bound, "<=", promised(n, 8.0, c_0))


def privacy_size(c_0: float, c_1: float = 1.0, c_2: float = 1.0, kappa_2: float = KAPPA_2) -> float:
    """log n from which Theorem 2.1 has a ridge of at least 4 kappa_2 / epsilon.

    It is at least c_0 sqrt(c_1) log n / sqrt(epsilon), so c_0 sqrt(c_1 c_2) (log n)^(3/4) >= 4 kappa_2 is enough.
    """
    return (4 * kappa_2 / (c_0 * math.sqrt(c_1 * c_2))) ** (4 / 3)


def ridges(sizes: Iterable[int], epsilons: Iterable[float], p: float = 1.0, c_0: float = C_0) -> pd.DataFrame:
    """Theorem 2.1: ``items``, ``epsilon``, ``ridge``, ``loss``, ``needed`` (4 kappa_2 / epsilon, kappa_2 = 1/4).

    And ``both halves``, the same with the one kappa_2 that both halves of (A2) need.
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
        loss = attained_loss(8 * KAPPA_1 / epsilon, ridge(n, 0.5, c_0))
        at = f"n = {n:,}, p = 1/2, κ₁ = {KAPPA_1:g}, c₁ = c₂ = 1, c₀ = {c_0:g}, ε = {epsilon:g}"
        yield printed(f"log density ratio of explicit neighbours: {at}", loss, "<=", epsilon)
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


def in_strengths(frame: pd.DataFrame) -> pd.DataFrame:
    """`error_ratios` with the largest errors themselves: ``rate``, ``error``, ``error_se``."""
    rates = [
        rate(n, p, 1 / BUDGETS[privacy](n))
        for n, p, privacy in zip(frame["items"], frame.probability, frame.privacy, strict=True)
    ]
    return frame.assign(rate=rates, error=frame["mean"] * rates, error_se=frame.se * rates)


@styled
def draw_error_ratios(frame: pd.DataFrame) -> Figure:
    """Mean largest error of `in_strengths` against the number of items, on the sparsest graphs that are allowed."""
    least, most = f"{frame['mean'].min():.0f}", f"{frame['mean'].max():.0f}"
    message = f"The largest errors are {least} to {most} times the theorem's rate"
    figure, made = panels(2, message=message, height=2.8)
    looks = zip(frame.groupby("privacy", sort=False), "os", shades(2), strict=False)
    for (privacy, part), mark, colour in looks:
        look = {"capsize": 2, "label": privacy.replace("log n", "log(items)"), "marker": mark, "color": colour}
        made[0].errorbar(part["items"], part.error, BAR * part.error_se, **look)
        made[1].errorbar(part["items"], part["mean"], BAR * part.se, **look)
    made[0].axhline(1, color="black", lw=1.2, ls="--", label="all items called equal")
    made[0].set(title="true strengths: −1 to 1", ylabel="largest error of a strength")
    made[1].set(title="the same, in units of the rate", ylabel="largest error / rate")
    ticks = sorted(frame["items"].unique())
    for axes in made:
        axes.set(xlabel=AXES["n"], xscale="log")
        axes.set_ylim(bottom=0)
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.minorticks_off()
    key(figure, *made[0].get_legend_handles_labels())
    note(
        figure,
        "Rate: the error that Theorem 2.1 promises, up to a factor that it leaves open. "
        "Pairs compared: hardly more than the theorem asks for.",
    )
    return figure
