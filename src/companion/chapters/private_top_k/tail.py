"""Lemma 4.5: tails of sums of coins that differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from mpmath import iv
from scipy.optimize import brentq
from scipy.stats import binom, poisson

from companion.chapters.private_top_k.lemmas import C, bennett, chain, enclosed, least_ratio
from companion.instruments.allowance import agree
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied

#: Arguments of Bennett's h.
SMALL = np.linspace(0, 1, 1001)[10:-1]
#: Where Lemma 4.5 is tried: variables, k, and how far the mean lies above k, as a share of it.
SIZES = (2, 1, 0.5), (5, 1, 1.0), (5, 4, 0.2), (20, 5, 0.5), (100, 30, 0.3), (400, 100, 1e-3), (400, 3, 60)


def least_ratio_bennett(c: float) -> float:
    """What `least_ratio` is with the exponent that Lemma 4.5 prints."""

    def excess(c0: float) -> float:
        t = c / c0**0.5
        return c0 * (1 + t) * bennett(t / (1 + t), math.log) - 1

    return float(brentq(excess, 0.1 * c, 100 * c**2))


def log_poisson_binomial_tail(q: Sequence[float], k: int) -> float:
    """Log probability that at most k of independent events of probabilities q happen; O(k * len(q))."""
    law = np.full(k + 1, -np.inf)
    law[0] = 0.0
    for p in q:
        with np.errstate(divide="ignore"):
            stay, move = np.log1p(-p), np.log(p)
        law[1:] = np.logaddexp(law[1:] + stay, law[:-1] + move)
        law[0] += stay
    return float(np.logaddexp.reduce(law))


def tail_over_bound(m: int, k: int, c: float = float(C), cells: int = 4000) -> tuple[float, float]:
    """Largest P(at most k) / (delta / m) over delta in (0, 1), all q = K / m, bracketed from below and above.

    Both fall as log(m / delta) grows: on a cell of it the tail of its left end and the delta / m of its right end bound
    the ratio. Equal q are the worst for K >= k + 1 (Hoeffding 1956).
    """
    log = np.linspace(math.log(m), ((m - k) / c) ** 2 / k, cells + 1)
    if log[-1] <= log[0]:
        return 0.0, 0.0  # K > m for every delta: no such vector
    q = (k + c * np.sqrt(k * log)) / m
    inside = q < 1
    tail = np.where(inside, binom.logcdf(k, m, np.where(inside, q, 0.5)), -np.inf)
    return float(np.exp((tail + log).max())), float(np.exp((tail[:-1] + log[1:]).max()))


def smallest_tail_counterexample(c: float = float(C)) -> dict[str, Any]:
    """The fewest ``items`` at which 'Specifically' fails: ``k``, ``delta``, ``q`` (fractions), ``probability`` (exact),
    ``allowed`` (delta / m), ``smaller`` (an upper bound of their ratio over all fewer items, all k and delta).
    """
    smaller, m = 0.0, 2
    while True:
        found = [(*tail_over_bound(m, k, c), k) for k in range(1, m)]
        low, _, k = max(found)
        if low > 1:
            break
        smaller = max(smaller, *(high for _, high, _ in found))
        m += 1
    for delta in (Fraction(digit, 10**power) for power in range(1, 40) for digit in (5, 2, 1)):
        target = k + iv.mpf(str(c)) * iv.sqrt(k * iv.log(iv.mpf(m * delta.denominator) / delta.numerator))
        q = Fraction(math.ceil(float(target.b) / m * 10**6), 10**6)
        if q < 1:
            tail = sum((math.comb(m, a) * q**a * (1 - q) ** (m - a) for a in range(k + 1)), Fraction(0))
            if tail > delta / m:
                break
    return {"items": m, "k": k, "delta": delta, "q": q, "probability": tail, "allowed": delta / m, "smaller": smaller}


def largest_failing_k(log: float, c: float = float(C)) -> int:
    """Largest k at which the Poisson tail (any number of items, at last) exceeds exp(-log); 0 if none does."""
    k = np.arange(1, math.ceil(least_ratio(c) * log) + 1)  # Chernoff's bound covers larger ones
    return int(k[poisson.logcdf(k, k + c * np.sqrt(k * log)) > -log].max(initial=0))


def failing_table(logs: Iterable[float] = (5, 10, 20, 50, 200, 500)) -> pd.DataFrame:
    """By log(m / delta): the largest k at which 'Specifically' fails for many items, and its share of the logarithm."""
    frame = pd.DataFrame({"log(m/δ)": float(log), "largest failing k": largest_failing_k(log)} for log in logs)
    return frame.assign(ratio=frame["largest failing k"] / frame["log(m/δ)"])


@claim("qiao2021:lem-4.5")
def check_tail() -> Iterator[Check]:
    """Lemma 4.5, general part: exact tails over the bound for equal, unequal and extreme probabilities."""
    over, off, sums, series = [], [], [], []
    for m, k, t in SIZES:
        mean, p = (1 + t) * k, (1 + t) * k / m
        bound = -mean * bennett(t / (1 + t), math.log)
        spread = np.minimum(p + min(p, 1 - p) * np.linspace(-1, 1, m), 1)
        certain = np.r_[np.ones(int(mean)), mean % 1, np.zeros(m - int(mean))][:m]
        kinds = np.array([np.full(m, p), spread, certain])
        logs = [log_poisson_binomial_tail(q.tolist(), k) for q in kinds]
        over += [log - bound for log in logs]
        series.append((t, bound / (-k * t**2 / 2)))
        off.append(abs(logs[0] - binom.logcdf(k, m, p)))
        sums += (kinds.sum(axis=1) / mean - 1).tolist()
    # 1 + 3u²/10 + ... by the power series: the least is at the least u
    above = (bennett(-SMALL, np.log) - bennett(SMALL, np.log)) / (SMALL**3 / 3)
    what = "log of exact P(Σ Z ≤ k) less log of the bound, largest"
    chernoff = "h(−u), of Chernoff's exponent, less h(u), the printed one, over u³/3, least for u in [0.01, 1)"
    yield printed(f"{what} over {len(over)} sizes and kinds of probabilities", np.max(over), "<=", 0)
    yield printed(chernoff, float(above.min()), ">=", 1)
    t, near = min(series)
    yield argument(f"exponent of the bound over kt²/2, t = {t:g}: 1 − 4t/3", near, "==", 1 - 4 * t / 3, error=2 * t**2)
    yield argument("h(−u) − h(u) over u³/3 at u = 0.01: its series", above[0], "==", 1, error=0.31 * SMALL[0] ** 2)
    yield agree("log of exact P(Σ Z ≤ k), off that of the binomial law", np.max(off))
    yield agree("sums of the probabilities over their mean, off 1", np.abs(sums).max())


@claim("qiao2021:lem-4.5:specific")
def check_tail_specific(smallest: dict[str, Any]) -> Iterator[Check]:
    """Lemma 4.5, 'Specifically': false for small k, true from C0 log(m / delta), and from 2.16 log(m / delta)."""
    m, k, delta = smallest["items"], smallest["k"], smallest["delta"]
    what = f"P(Σ Z ≤ {k}), {m} variables with q = {float(smallest['q']):g}, δ = {float(delta):g}"
    name, value, relation, bound = chain("restored")[0]
    at, log = 2.0, 300.0
    few = int(at * log)
    excess = float(poisson.logcdf(few, few + float(C) * math.sqrt(few * log))) + log
    ratio, ends = "least C0 for which {} gives δ/m", (least_ratio(float(C)), least_ratio_bennett(float(C)))
    yield printed(what, float(smallest["probability"]), "<=", float(smallest["allowed"]), error=1e-18)
    yield amended(f"largest P(Σ Z ≤ k)/(δ/m), below {m} variables, any k, δ", smallest["smaller"], "<=", 1)
    yield enclosed(f"k ≥ 3.9² log(m/δ), {name}", value, relation, bound, supplied)
    yield amended(ratio.format("Chernoff's bound"), ends[0], "==", 2.16, error=0.005)
    yield amended(ratio.format("the printed bound"), ends[1], "==", 9.64, error=0.005)
    yield amended(f"k = 2 log(m/δ) = {few}, many items: log of P(Σ Z ≤ k)/(δ/m)", excess, ">", 0)  # fmt: skip
