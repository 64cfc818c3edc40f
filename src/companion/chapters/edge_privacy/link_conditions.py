"""What the paper asks of a link, (A0) to (A2), and what that says of gaps: Remark 1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT, Link

#: The links that satisfy (A0), (A1) and (A2), and one that does not.
LINKS = (LOGISTIC, ARCTAN, PROBIT)
#: Differences of strengths, near, far, and those at which (A2) asks for curvature.
LINE, FAR = np.linspace(-30, 30, 60_001), np.linspace(-700, 700, 14_001)
FOUR = LINE[np.abs(LINE) <= 4 + 1e-9]
#: Constants that (A1) and both halves of (A2) allow the logistic link: above 1, and above 56.6.
KAPPA_1, KAPPA_2 = 1.1, 57


def link_constants() -> pd.DataFrame:
    """What (A0), (A1) and (A2) ask of a link, found on a fine grid.

    ``link``, ``asymmetry`` (largest of F(x) + F(-x) - 1), ``steepness`` (largest F' / (F (1 - F))), ``curvature``
    (largest (-log F)''), ``curvature to 4`` (least, x from -4 to 4), ``kappa_2`` (the one that both halves of (A2)
    need).
    """
    columns = ("link", "asymmetry", "steepness", "curvature", "curvature to 4", "kappa_2")
    rows = []
    for link in LINKS:
        most, within = link.curvature(LINE).max(), link.curvature(FOUR).min()
        off = np.abs(link.cdf(LINE) + link.cdf(-LINE) - 1).max()
        rows.append((link.name, off, steepness(link, LINE).max(), most, within, max(most, 1 / within)))
    return pd.DataFrame(rows, columns=columns)


def steepness(link: Link, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """F' / (F (1 - F)) of equation (2.3): the scores of both outcomes together."""
    return link.score(x) + link.score(-x)


@claim("cai2025:cond-a0")
def check_cond_a0() -> Iterator[Check]:
    """(A0) for the logistic link: symmetric, strictly increasing, from 0 to 1."""
    sums, ends = LOGISTIC.cdf(LINE) + LOGISTIC.cdf(-LINE), LOGISTIC.cdf(FAR[[0, -1]])
    yield printed("largest |F(x) + F(−x) − 1|, x from −30 to 30", np.abs(sums - 1).max(), "==", 0, error=1e-15)
    yield printed("least F′(x), x from −700 to 700", LOGISTIC.pdf(FAR).min(), ">", 0)
    yield printed("least F(x), x from −700 to 700", LOGISTIC.cdf(FAR).min(), ">", 0)
    yield printed("F(700) − F(−700)", np.ptp(ends), "==", 1)


@claim("cai2025:cond-a1")
def check_cond_a1() -> Iterator[Check]:
    """(A1) for the logistic link, whose F' / (F (1 - F)) is 1 everywhere: any constant above 1 will do."""
    ratio = steepness(LOGISTIC, LINE)
    yield printed(
        "F′/(F(1 − F)): it is 1 for every x, the sum of what it is off", np.abs(ratio - 1).sum(), "<=", ROUNDING
    )
    yield printed("largest F′/(F(1 − F)), with κ₁ = 1.001", ratio.max(), "<", 1.001)


@claim("cai2025:cond-a2")
def check_cond_a2() -> Iterator[Check]:
    """(A2) for the logistic link with 57 for both halves: the first needs 1/4 only, the second no less."""
    curvature, within = LOGISTIC.curvature(LINE), LOGISTIC.curvature(FOUR).min()
    yield printed("least (−log F)″, x from −30 to 30", curvature.min(), ">", 0)
    most = curvature.max()
    yield printed("largest (−log F)″: it is 1/4, below κ₂ of the other half", most, "==", 0.25, error=ROUNDING)
    yield printed(f"least (−log F)″ for |x| ≤ 4, with κ₂ = {KAPPA_2}", within, ">", 1 / KAPPA_2)
    yield argument(f"the same, with {KAPPA_2 - 1}", within, "<=", 1 / (KAPPA_2 - 1))


def flat_cdf(x: ArrayLike) -> NDArray[np.float64]:
    """A link with (A0) and (A1) whose slope at 0 is 0: the logistic function of g(x) = x^3 / (1 + x^2)."""
    x = np.asarray(x, float)
    return np.asarray(special.expit(x**3 / (1 + x**2)))


def flat_steepness(x: ArrayLike) -> NDArray[np.float64]:
    """F' / (F (1 - F)) of that link, which is g'(x) = x^2 (3 + x^2) / (1 + x^2)^2: at most 9/8, at x^2 = 3."""
    s = np.square(np.asarray(x, float))
    return np.asarray(s * (3 + s) / (1 + s) ** 2)


def gaps(halves: Iterable[float]) -> pd.DataFrame:
    """Half of the items at +t, half at -t, flat link, any even n: ``t``, ``theta gap``, ``tau gap``, ``ratio``."""
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
    yield amended("largest |F(x) + F(−x) − 1| of this F", odd, "==", 0, error=ROUNDING)
    for says in (supplied, amended):
        for link in links:
            low, high = gap_ratios(link)
            least = float(link.pdf(2.0))
            yield says(f"least τ gap over θ gap over F′(2), {link.name}, with (A2)", low / least, ">=", 1)
            yield says(f"largest, {link.name}", high, "<=", link.kappa_1 / 4 + ROUNDING)
    for link in links:
        kappa_2 = max(1 / link.curvature(FOUR).min(), link.kappa_2)
        yield argument(f"F′(2) over 1/κ₂, {link.name}", float(link.pdf(2.0)) * kappa_2, ">=", 1)
