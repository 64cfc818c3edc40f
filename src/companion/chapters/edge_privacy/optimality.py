"""Whether the error of the perturbed MLE can be undercut: the conclusion of Remark 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from companion.chapters.edge_privacy.estimation import BUDGETS, error_bound, growth, log_exponent, rate
from companion.instruments.allowance import Z
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC, erdos_renyi_counts


def lower_bound(n: int, epsilon: float, p: float = 1.0) -> tuple[float, float]:
    """Two gaps at which no method finds the best of n items with probability above 1/2: by privacy, by chance.

    Which item leads by the gap is unknown, all others are equal. The first is log(n / 4) / ((e^epsilon - 1) m), m = n /
    2 on the complete graph, else n p (where at least 8), for delta up to `most_delta`; the second is Fano's. If a gap
    is at most 1, some strengths within 1 have an error of half of it, with probability at least 1/2.
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
    """Gap at which counts with noise up to `bounded` find the best of n items, but for probability n^-6, p = 1.

    The lead has mean at least F'(1) n gap for a gap up to 1; it falls short by sqrt(7 n log n) with probability n^-7.
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
    """p = 1, epsilon = 10 log n / n: ``items``, ``epsilon``, ``forced`` by privacy (a gap), ``most delta``, ``enough``.

    The last is for noise cut off at `truncation`.
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
        what = f"P(best found) by ε-private counts at our bound for any method, n = {n}, p = 1, ε = {epsilon:g}"
        yield says(what, seen, "<=", 0.5, error=Z * se)
        ratios = []
        for n in (10**6, 10**9, 10**12):
            epsilon = 1 / math.sqrt(math.log(n))
            ratios.append(2 * error_bound(n, 8 / epsilon)[0] / max(lower_bound(n, epsilon)))
        what = "upper over lower bound on the error, p = 1, ε = 1/√log n: largest for n = 10⁹, 10¹², over n = 10⁶"
        yield says(what, max(ratios[1:]) / ratios[0], "<=", 1)
        for privacy, part in frame.groupby("privacy", sort=False):
            known = [(n, BUDGETS[str(privacy)](n), p) for n, p in zip(part["items"], part.probability, strict=True)]
            unit = np.array([rate(n, p, 1 / e) / (max(lower_bound(n, e, p)) / 2) for n, e, p in known])
            slope, se = growth(part.assign(mean=part["mean"] * unit, se=part.se * unit))
            what = f"exponent b of n^b fitted to mean error over lower bound, p = 4 log n/(nε), {privacy}"
            yield says(f"{what}, against that of log n", slope, "<", log_exponent(part["items"]), error=Z * se)


def shared(n: float, epsilon: float, exponent: float) -> dict[str, float]:
    """Gaps on the complete graph, p = 1: what privacy forces, and what is enough for counts to find the best item.

    ``pure`` (forced, delta = 0), ``few`` (forced for delta up to ``delta``: only N = n^exponent items may lead),
    ``counts`` (enough, Laplace noise below 14 log n / epsilon but for probability n^-6), ``cut`` (enough for (epsilon,
    epsilon)-privacy, noise cut off).
    """
    known = n**exponent
    forced = math.log(known / 4) / (math.expm1(epsilon) * n / 2)
    loud = 14 * math.log(n) / epsilon
    return {
        "pure": lower_bound(n, epsilon)[0],  # type: ignore[arg-type]
        "few": forced,
        "delta": math.expm1(epsilon) / (2 * known * math.log(known / 4)),
        "counts": enough(n, loud),  # type: ignore[arg-type]
        "cut": enough(n, truncation(epsilon, epsilon)),  # type: ignore[arg-type]
    }


@claim("cai2025:sec-5:pure-cost")
def check_pure_cost(exponent: float = 0.5) -> Iterator[Check]:
    """Whether pure privacy costs more than approximate: at delta = epsilon, and for delta below a power of n."""
    powers = (24, 40, 60, 100)
    cases = [shared(10.0**k, 10.0 ** (-0.9 * k), exponent) for k in powers]
    over = [case["cut"] / case["pure"] for case in cases]
    at = f"p = 1, ε = n^−0.9: n = 10^{powers[-1]} over n = 10^{powers[0]}"
    what = "gap at which (ε, ε)-private counts find the best, over the gap that ε-privacy needs"
    yield printed(f"{what}, {at}", over[-1] / over[0], ">=", 1)
    yield printed(f"{what}, n = 10^{powers[-1]}", over[-1], ">=", 1)
    yield argument("largest gap in these", max(case["pure"] for case in cases), "<=", 1)
    ratios = [case["counts"] / case["few"] for case in cases]
    what = "gap at which ε-private counts find the best, over that which (ε, δ)-privacy needs, δ ≤ ε/(n^½ log n)"
    for says in (supplied, amended):
        yield says(f"{what}, {at}", ratios[-1] / ratios[0], "<=", 1)
    units = [10.0 ** (-(0.9 + exponent) * k) / (k * math.log(10)) for k in powers]
    allowed = min(case["delta"] / unit for case, unit in zip(cases, units, strict=True))
    yield argument("δ allowed there over ε/(n^½ log n), least", allowed, ">=", 1)
    n, epsilon = 64, 0.2
    law = shared(n, epsilon, 1.0)
    yield argument("the same with all items, off the bound of Remark 1", law["few"] / law["pure"], "==", 1, error=1e-12)
