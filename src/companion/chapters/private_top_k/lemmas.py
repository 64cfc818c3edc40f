"""Lemma 4.4 and what it rests on: closeness, Lemma 4.3, and subsets of coins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
from mpmath import iv
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import brentq

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.topk import Array, certified, ends
from companion.ledger.claim import Check, amended, claim, printed
from dprank.topk.noise_laws import LAPLACE

#: The constants of Lemmas 4.4 and 4.5, the root of C0 as the proof writes it, and the ends of Theorem 2.2's ranges.
ROOT_C0, C1, C, EPSILON, DELTA = "3.9", "1.95", "1.9", "0.2", "0.05"
#: C0, and what the lost superscript leaves of it.
SQUARE_C0, LITERAL_C0 = "15.21", "3.92"
#: The bound on tau that the proof of Lemma 4.4 arrives at.
TAU = 0.0072
#: Where Lemma 4.3 and Definition 4.2 are tried: points, shifts, probabilities and closeness.
POINTS, SHIFTS = np.linspace(-30, 30, 601)[:, None], np.geomspace(1e-6, 30, 400)
SHARES, TAUS = np.r_[np.geomspace(1e-6, 0.5, 200), 1 - np.geomspace(1e-6, 0.5, 200)], (0.001, TAU, 0.1, 0.5)
#: Those of them where nothing cancels in plain arithmetic.
NEAR, LARGE = POINTS[np.abs(POINTS[:, 0]) <= 3], SHIFTS[SHIFTS > 1e-3]
#: A shift up to which Lemma 4.3 does without its factor, and one at which it does not.
PLAIN, TOO_FAR = 0.75, 0.8


def bennett(u: Any, log: Callable[[Any], Any] = iv.log) -> Any:
    """Bennett's h(u) = (1 + u) log(1 + u) - u, of an interval or by another logarithm."""
    return (1 + u) * log(1 + u) - u


def enclosed(what: str, value: Any, relation: str, bound: str, says: Callable[..., Check] = printed) -> Check:
    """A check of an enclosure against a number as it is printed."""
    return certified(what, ends(value), relation, float(bound), says)


# --- the numbers of the proof ----------------------------------------------------------------------------------------


def chain(reading: Literal["restored", "literal"]) -> list[tuple[str, Any, str, str]]:
    """Every numeric inequality: name, enclosure of its left side, relation, right side as printed.

    The worst case is epsilon = 0.2, m / delta = 40 and k = C0 log(m / delta): all left sides are monotone in them.
    """

    def square(digits: str) -> Any:
        return iv.mpf(digits) ** 2 if reading == "restored" else iv.mpf(f"{digits}2")

    log = iv.log(2 / iv.mpf(DELTA))
    c0 = square(ROOT_C0)
    root, c1, c, epsilon = iv.sqrt(c0), iv.mpf(C1), iv.mpf(C), iv.mpf(EPSILON)
    tau = epsilon / (c1 * root * log)
    mass = 1 + c / root
    most, u, share = iv.mpf("1.509"), iv.mpf("0.3409"), iv.mpf("0.9787")
    reach = iv.mpf("1.0073") * c1 / most * iv.mpf("1.0213") / root
    exponent = most * bennett(u) / square("0.3409") / square("1.509") * square(C1) * share**2
    return [
        ("exponent of Lemma 4.5 / log(m/δ): C0(1+c/√C0) h(c/(√C0+c))", c0 * mass * bennett(c / (root + c)), ">=", "1"),
        ("τ ≤ 0.2/(C1 √C0 log 40)", tau, "<", "0.0072"),
        ("abs(t − ε)/ε ≤ (1+c/√C0)/C1² · 0.2/log 40", mass / square(C1) * epsilon / log, "<=", "0.0213"),
        ("A/τ ≤ 1/(1 − 0.0072)", 1 / (1 - iv.mpf("0.0072")), "<", "1.0073"),
        ("σ²/(τ²k) ≤ 1.0073² (1+c/√C0)", square("1.0073") * mass, "<=", "1.509"),
        ("At/(1.509τ²k) ≤ 1.0073·1.95/1.509 · 1.0213/√C0", reach, "<=", "0.3409"),
        ("Bennett exponent / log(m/δ), 1.509 · h(0.3409)/0.3409² /1.509² · 1.95² · 0.9787²", exponent, ">=", "1.08"),
        ("λε/k > 8/√C0 where Theorem 2.1 is used", 8 / root, ">", "2"),
        ("closeness times λ, 4 exp(ε/(4√C0 log 40))", 4 * iv.exp(epsilon / (4 * root * log)), "<", "4.014"),
        ("share of ε, 4.014 · 1.95/8", iv.mpf("4.014") * c1 / 8, "<=", "0.9785"),
        ("λε > 8√C0 log 40", 8 * root * log, ">", "115"),
        ("total share of ε, 0.9785 + 1/115", iv.mpf("0.9785") + 1 / iv.mpf(115), "<", "0.99"),
    ]  # fmt: skip


# --- closeness and Lemma 4.3 -----------------------------------------------------------------------------------------


def shift_ratio(z: ArrayLike, shift: ArrayLike, factor: bool = True) -> Array:
    """The left side of Lemma 4.3 over its right side at z and z' = z + shift, with or without its factor exp(d)."""
    z, shift = np.broadcast_arrays(np.asarray(z, float), np.asarray(shift, float))
    # by symmetry to the left of zero, where G(z) is the small tail
    z, shift = np.where(z > 0, -z, z), np.where(z > 0, -shift, shift)
    d, below = np.abs(shift), np.minimum(z + shift, 0)
    # G(z') - G(z), each side of zero without cancellation
    rise = np.exp(z) * np.expm1(below - z) / 2 - np.expm1(-np.maximum(z + shift, 0)) / 2
    right = 2 * d * np.exp(z) / 2 * (1 - np.exp(z) / 2)
    return np.abs(rise) / right * (np.exp(-d) if factor else 1.0)


@claim("qiao2021:lem-4.3")
def check_shift() -> Iterator[Check]:
    """Lemma 4.3 on a grid, its constant in the limit, and what the factor exp(d) is needed for."""
    z, d = NEAR, LARGE  # for -d the same happens to -z
    before, after = np.exp(LAPLACE.log_below(z)), np.exp(LAPLACE.log_below(z + d))
    plain = (after - before) / (2 * d * before * (1 - before))
    by_law = np.array([plain, plain * np.exp(-d)])
    off = np.abs(by_law - [shift_ratio(z, d, factor=factor) for factor in (False, True)]).max()
    most = float(shift_ratio(POINTS, SHIFTS).max())

    def without(shifts: Array) -> float:
        """Largest without the factor: at worst 0 lies between z and z'."""
        return float(shift_ratio(-shifts * np.linspace(0, 1, 101)[:, None], shifts, factor=False).max())

    what, plain_what = "largest left side over right side", "largest left side over right side without its factor e^d"
    yield printed(f"{what}, d = abs(z − z') from 10⁻⁶ to 30", most, "<=", 1)
    # at z = 0 it is (1 - e^-d) / (d e^d), above 1 - 3d/2
    yield amended(f"{what}, d from 10⁻⁶ on: the constant 2 is least", most, "==", 1, error=1.5 * SHIFTS[0])
    yield amended(f"{plain_what}, d ≤ {PLAIN}", without(SHIFTS[SHIFTS <= PLAIN]), "<=", 1, error=ROUNDING)
    yield amended(f"{plain_what}, d = {TOO_FAR}", without(np.array([TOO_FAR])), ">", 1)
    yield agree("left side over right side, off that by the law of the noise, with its factor and without", off)


@claim("qiao2021:def-4.2")
def check_closeness() -> Iterator[Check]:
    """Definition 4.2: q' is a vector of probabilities, and the order of q and q' matters little."""
    q, most = SHARES, SHARES * (1 - SHARES)
    room = np.array([1 - q - most, q - most])
    squares = room / np.array([(1 - q) ** 2, q**2])
    taus = np.array(TAUS)
    moved = q - np.outer(taus, most)  # upwards the same happens to 1 - q
    back = (most / (moved * (1 - moved))).max(axis=1) * (1 - taus)
    what = "distance of q' from the end it moves to, over q² or (1 − q)², τ = 1, off 1"
    yield printed("how far a vector τ-close to one in (0,1) can leave [0,1], τ ≤ 1", -float(room.min()), "<=", 0)
    # products are rounded by some 1e-16 q, which q² feels as 1e-16 / q: 2e-10 at the least q
    yield agree(what, np.abs(squares - 1).max())
    # (1 - τ) / ((1 - τ + τq)(1 + τq)) at the end that it moves to: short of 1 by less than q τ (2 - τ) / (1 - τ)
    short = float(q.min() * (taus * (2 - taus) / (1 - taus)).max()) + ROUNDING
    what = f"closeness the other way round, over τ/(1 − τ), largest for each of {len(moved)} τ, off 1"
    yield amended(what, np.abs(back - 1).max(), "==", 0, error=short)


# --- Lemma 4.5 -------------------------------------------------------------------------------------------------------


def least_ratio(c: float) -> float:
    """The least C0 with C0 (t - log(1 + t)) >= 1 for t = c / sqrt(C0); c above the root of 2."""
    return float(brentq(lambda c0: c0 * (c / c0**0.5 - math.log1p(c / c0**0.5)) - 1, 0.01 * c, 1e6 * c**2))


def log_choose(m: int, a: Any) -> Any:
    return special.gammaln(m + 1) - special.gammaln(a + 1) - special.gammaln(m - a + 1)


# --- Lemma 4.4 -------------------------------------------------------------------------------------------------------


def log_excess(k: int, counts: Sequence[int], q: ArrayLike, moved: ArrayLike, epsilon: float) -> float:
    """Log of the largest P(M(q) in S) - exp(epsilon) P(M(q') in S) over families S of k-subsets; -inf if none exceeds.

    Items are of two kinds: so many of each (`counts`), with a probability each in q and in q' (`moved`). The best S are
    the sets whose ratio exceeds exp(epsilon).
    """
    (u, v), q, moved = counts, np.asarray(q, float), np.asarray(moved, float)
    a = np.arange(max(0, k - v), min(u, k) + 1)
    taken = np.stack([a, k - a])
    left = np.array([[u], [v]]) - taken
    before = log_choose(u, a) + log_choose(v, k - a) + np.log(q) @ taken + np.log1p(-q) @ left
    loss = np.log(q / moved) @ taken + (np.log1p(-q) - np.log1p(-moved)) @ left
    with np.errstate(divide="ignore"):
        return float(special.logsumexp(before + np.log(-np.expm1(np.minimum(epsilon - loss, 0.0)))))


def closeness_limit(k: float, log: float, epsilon: float, c1: float = float(C1)) -> float:
    """Lemma 4.4's largest tau; log is log(m / delta)."""
    return epsilon / (c1 * math.sqrt(k * log))


def our_exponent(k: float, tau: float, epsilon: float) -> float:
    """An exponent E: families of sets of at most k items satisfy the inequality of Lemma 4.4 with exp(-E) for delta/m.

    E = alpha epsilon + k (alpha log(1 + tau) + log(1 - alpha tau)) for any alpha >= 1 with alpha tau < 1; here
    alpha tau = t / (1 + t) with t = epsilon / (tau k). The book has the proof.
    """
    t = epsilon / (tau * k)
    alpha = t / (1 + t) / tau
    if not (alpha >= 1 and tau < 1):
        raise ValueError(f"tau = {tau}; k = {k}, epsilon = {epsilon}: it must be at most epsilon / (k + epsilon)")
    return alpha * epsilon + k * (alpha * math.log1p(tau) + math.log1p(-alpha * tau))


def certified_share(c0: str, c1: str = C1) -> Any:
    """Enclosure of a lower bound of `our_exponent` over log(m / delta), for all k >= C0 log(m / delta).

    It is C1^2 (t - log(1 + t)) / t^2 - epsilon / (2 log(m / delta)), t = C1 sqrt(log(m / delta) / k), and falls with t.
    """
    t = iv.mpf(c1) / iv.sqrt(iv.mpf(c0))
    return iv.mpf(c1) ** 2 * (t - iv.log(1 + t)) / t**2 - iv.mpf(EPSILON) / (2 * iv.log(2 / iv.mpf(DELTA)))


def worst_found(c0: float, epsilon: float = float(EPSILON), delta: float = float(DELTA)) -> pd.DataFrame:
    """Exact excess of Lemma 4.4 at the smallest k it allows, over delta / m: ``m``, ``k``, ``excess`` (largest found),
    ``excess, k − 1 of m − 1`` (as the proof of Lemma 4.1 needs it), ``bound`` by `our_exponent` for both.

    Some share of the items moves up as far as tau allows, the rest down; probabilities run over a grid. A search: the
    largest found is a lower bound of the worst.
    """
    fewest = next(m for m in range(2, 10**6) if math.ceil(c0 * math.log(m / delta)) <= m)
    rows = []
    for m in (fewest, 2 * fewest, 10 * fewest, 100 * fewest):
        log = math.log(m / delta)
        k = math.ceil(c0 * log)
        tau = closeness_limit(k, log, epsilon)
        shares = k / m * np.array([0.5, 0.8, 1, 1.2, 1.5, 2, 3])
        pairs = list(product([*shares[shares < 1], 1 - 0.3 * (1 - k / (m + 1))], repeat=2))
        largest = [
            max(
                log_excess(size, (u, items - u), (p, r), (p + tau * p * (1 - p), r - tau * r * (1 - r)), epsilon)
                for u in {items, 3 * items // 4, items // 2, items // 4, 0}
                for p, r in pairs
            )
            for size, items in ((k, m), (k - 1, m - 1))
        ]
        rows.append((m, k, *np.exp(np.add(log, [*largest, -our_exponent(k, tau, epsilon)]))))
    return pd.DataFrame(rows, columns=["m", "k", "excess", "excess, k − 1 of m − 1", "bound"])


def one_kind_excess(m: int, k: int, log: float, q: ArrayLike, epsilon: float = float(EPSILON)) -> Array:
    """Excess over delta / m when all m items have probability q and move up as far as tau allows, for an array of q."""
    q = np.asarray(q, float)
    tau = closeness_limit(k, log, epsilon)
    loss = -k * np.log1p(tau * (1 - q)) - (m - k) * np.log1p(-tau * q)
    law = log_choose(m, k) + k * np.log(q) + (m - k) * np.log1p(-q)
    return np.asarray(np.exp(law + log) * -np.expm1(np.minimum(epsilon - loss, 0.0)))


def without_condition(delta: Fraction | None = None) -> dict[str, Any]:
    """The fewest ``items`` at which a search breaks Lemma 4.4 with k = 1, ``delta`` and ``q`` (fractions), ``excess``.

    It is enclosed, over delta / m. The condition k >= C0 log(m / delta) is not asked; all items are alike and move up.
    """
    q = np.linspace(0.0025, 0.9975, 399)
    for m in range(3, 2000):
        if delta is None:
            logs = np.linspace(math.log(20 * m), max(math.log(20 * m), ((m - 1) / float(C1)) ** 2), 200)
        else:
            logs, q = np.array([math.log(m / delta)]), np.linspace(0.2, 2, 400) * 8 / m
            q = q[q < 1]
        values = [one_kind_excess(m, 1, float(log), q) for log in logs]
        best = int(np.argmax([value.max() for value in values]))
        if values[best].max() > 1:
            break
    p = Fraction(float(q[values[best].argmax()])).limit_denominator(10**5)
    small = delta or Fraction(f"{m * math.exp(-logs[best]):.2g}")
    x, d, e = (iv.mpf(f.numerator) / f.denominator for f in (p, small, Fraction(EPSILON)))
    tau = e / (iv.mpf(C1) * iv.sqrt(iv.log(m / d)))
    loss = -iv.log(1 + tau * (1 - x)) - (m - 1) * iv.log(1 - tau * x)
    excess = m * x * (1 - x) ** (m - 1) * (1 - iv.exp(e - loss)) * m / d
    return {"items": m, "delta": small, "q": p, "excess": excess}


@claim("qiao2021:lem-4.4")
def check_subsets(without: dict[str, Any]) -> Iterator[Check]:
    """Lemma 4.4: our exponent certified on all its range, exact values at its boundary, and the condition's use."""
    found = pd.concat([worst_found(float(SQUARE_C0)), worst_found(float(LITERAL_C0))], ignore_index=True)
    length = np.log(found.m / float(DELTA))
    columns = ("excess", "excess, k − 1 of m − 1", "bound")
    exact, few, ours = (1 - np.log(found[column].clip(lower=1e-300)) / length for column in columns)
    what = "certified least exponent of our proof of Lemma 4.4 / log(m/δ), all k ≥"
    k, log = 1500, 1000.0
    t = float(C1) * math.sqrt(log / k)
    spread = k * (1 + np.array([1.01, 1.02, 1.05]) * t) / 10**7
    many = float(np.log(np.maximum(one_kind_excess(10**7, k, log, spread), 1e-300)).max())
    name = f"k = 1, {without['items']} items, δ = {float(without['delta']):g}, no condition on k: excess over δ/m"
    leak = "exponent of the largest exact P(q, S) − e^ε P(q', S) found"
    yield enclosed(f"{what} 3.9² log(m/δ)", certified_share(SQUARE_C0), ">=", "1")
    yield printed(f"{leak} over log(m/δ), smallest k allowed: least", float(exact.min()), ">=", 1)
    for where, exponents in (("smallest k allowed", exact), ("k − 1 of m − 1 items", few)):
        yield amended(f"{leak} over that of our proof, {where}: least", float((exponents / ours).min()), ">=", 1)
    yield enclosed(f"{what} 3.92 log(m/δ)", certified_share(LITERAL_C0), ">=", "1", amended)
    yield enclosed(name, without["excess"], ">", "1", amended)
    limit = least_ratio(float(C1))
    yield amended("least C0 for which Chernoff's bound gives δ/m, with C1 for c", limit, "==", 1.8, error=0.05)
    yield amended(f"k = 1.5 log(m/δ) = {k}, 10⁷ items: log of excess over δ/m", many, ">", 0)
