"""The induction behind the error bound of the perturbed MLE, closed with explicit constants: Appendix A.2."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from companion.chapters.edge_privacy import tails
from companion.chapters.edge_privacy.descent import rates
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC

#: Deviations t = A sqrt(D log n), B sqrt(D log n) of the two sums in (A.33), D = np, that fail w.p. n^-9 each.
SUM_A, SUM_B = math.sqrt(6.75), 2.3


def closing_constants(kappa_1: float, kappa_2: float, c0: float, c2: float, slope: float) -> dict[str, float]:
    """Constants with which the induction of Propositions A.1 to A.4 closes: ``C1`` to ``C4``, ``A.33``, ``c1``.

    `slope` is a lower bound of F'(a) F'(b) / (F(b)(1 - F(b))) at differences of at most 4; p >= c1 lambda log n / n.
    """
    lead = math.sqrt(3 * kappa_1**2 + 0.75 * kappa_1**4 + (SUM_A * kappa_1 + SUM_B * kappa_1**2) ** 2)
    first, third = 2 * kappa_2 * (3 * kappa_1 + c0 + 2), 2.02 * kappa_2 * lead
    second = 2 * (kappa_1**2 * (first + third) / 4 + 9 + c0) / slope
    fourth = second + third
    # (C3 + C4) times the rate is at most 1 when the rate is, which is at most 1/sqrt(c1 c2) + 1/c1
    c1 = max(1.1 * (third + fourth) ** 2 / c2, tails.C_SPECTRUM, 18 * c2)
    return {"C1": first, "C2": second, "C3": third, "C4": fourth, "A.33": lead, "c1": c1}


def one_step(
    constants: dict[str, float],
    items: float,
    mean: float,
    scale: float,
    *,
    kappa_1: float,
    kappa_2: float,
    c0: float,
    slope: float,
) -> dict[str, float]:
    """What the hypotheses at step t imply at step t + 1, over what they claim there: below 1 if it closes.

    On the events of Lemmas A.1 to A.3 and of (A.33), with noise of an l2 norm up to lambda sqrt(18 n log n). ``reach``:
    the largest error of any iterate, at most 1.
    """
    log = math.log(items)
    s = c0 * math.sqrt(log / mean)
    step, gamma = 1 / (s + 3 * kappa_2), s * mean
    norm = math.sqrt(items * log / mean) + scale * log / math.sqrt(mean)
    entry = math.sqrt(log / mean) + scale * log / mean
    c = constants
    keep = 1 - step / (2 * kappa_2)
    first = (
        keep * c["C1"] * norm
        + step / mean * ((3 * kappa_1 + c0) * math.sqrt(items * mean * log) + scale * math.sqrt(18 * items * log))
        + 8 * scale * math.sqrt(log) / gamma
    )
    third = keep * c["C3"] * entry + step / mean * c["A.33"] * math.sqrt(mean * log)
    second = (
        (1 - step * slope * (items - 1) / items) * c["C2"] * entry
        + step * kappa_1**2 / (4 * math.sqrt(items)) * (c["C1"] * norm + c["C3"] * entry)
        + step * (9 * scale * log / mean + c0 * math.sqrt(log / mean))
    )
    return {
        "C1": first / (c["C1"] * norm),
        "C2": second / (c["C2"] * entry),
        "C3": third / (c["C3"] * entry),
        "C4": (second + third) / (c["C4"] * entry),
        "reach": (c["C3"] + c["C4"]) * entry,
    }


def logistic_constants(c0: float = 1.0, c2: float = 8.0) -> tuple[dict[str, float], dict[str, float]]:
    """Closing constants for the logistic link, and the arguments that `one_step` needs."""
    link = {"kappa_1": 1.0, "kappa_2": tails.condition_number(), "c0": c0, "slope": tails.flattest(LOGISTIC)}
    return closing_constants(**link, c2=c2), link


def least_items(c1: float, scale: float) -> float:
    """The least number of items, to 1 %, for which some p <= 1 satisfies p >= c1 lambda log n / n."""
    n = c1 * scale * 3.0
    while c1 * scale * math.log(n) > n:
        n *= 1.01
    return n


def closure(c0: float = 1.0, c2: float = 8.0) -> pd.DataFrame:
    """`one_step` on a grid with all boundaries: logistic link, np from c1 lambda log n to n, both ends of lambda."""
    constants, link = logistic_constants(c0, c2)
    rows = []
    for grow in (1, 10, 1e3, 1e6, 1e20):
        for wide in (False, True):
            n = least_items(constants["c1"], c2 * math.sqrt(math.log(1e30)) if wide else c2) * grow
            scale = c2 * math.sqrt(math.log(n)) if wide else c2
            rows += [
                {"items": n, "mean": mean, "scale": scale} | one_step(constants, n, mean, scale, **link)
                for mean in np.geomspace(constants["c1"] * scale * math.log(n), n, 7)
                if mean <= n * (1 + ROUNDING)
            ]
    return pd.DataFrame(rows)


def first_step_error(bound: float, items: float, scale: float, c0: float = 1.0) -> float:
    """A lower bound of the l-infinity error after one step from a truth with an entry `bound`, p = 1.

    On the event of Lemma A.2, logistic link: the step moves the entry by eta (gamma theta + gradient + noise).
    """
    gamma = c0 * math.sqrt(items * math.log(items))
    eta = 1 / (gamma + 3 * tails.condition_number() * items)
    return eta * (gamma * bound - (items - 1) - 9 * scale * math.log(items))


def unbounded(name: str) -> Iterator[Check]:
    """One of the bounds at t = 1, p = 1, if nothing keeps the truth bounded: an entry so large that it fails twice."""
    constants, _ = logistic_constants()
    scale = 8.0
    n = least_items(constants["c1"], scale)
    claimed = constants[name] * rates(int(n), n, scale)[name]
    nothing = first_step_error(0.0, n, scale)
    bound = 2 * (claimed - nothing) / (first_step_error(1.0, n, scale) - nothing)
    what = f"error after one step over its bound, {name} = {constants[name]:,.0f}, p = 1, n = {n:.0e}"
    yield printed(f"{what}, an entry of θ* is {bound:.0e}", first_step_error(bound, n, scale) / claimed, "<", 1)


def closes(name: str, *says: Callable[..., Check]) -> Iterator[Check]:
    """One of the bounds at t + 1 from those at t, with our constants and strengths of at most 1."""
    constants, _ = logistic_constants()
    grid = closure()
    for each in says:
        at = f"{name} = {constants[name]:,.0f}, ‖θ*‖∞ ≤ 1, worst of {len(grid)}"
        yield each(f"bound at t + 1 over hypothesis at t + 1, {at}", grid[name].max(), "<", 1)
        yield each("(C3 + C4) times the ℓ∞ rate, worst", grid.reach.max(), "<=", 1)


@claim("cai2025:prop-a.1")
def check_prop_a1(frame: pd.DataFrame) -> Iterator[Check]:
    """Proposition A.1, the l2 norm: without a bound on the truth, with explicit constants, and on runs."""
    yield from unbounded("C1")
    yield from closes("C1", supplied, amended)
    what = f"largest ‖θ_t − θ*‖₂ over what the first step and the spectrum of a run allow, {len(frame)} runs"
    yield amended(what, frame["l2"].max(), "<=", 1)


@claim("cai2025:prop-a.2")
def check_prop_a2() -> Iterator[Check]:
    """Proposition A.2, own entries of the copies: the step of an entry has no surprise, but the ridge pulls."""
    yield from unbounded("C2")
    yield from closes("C2", supplied, amended)


def strong_item(third: float, items: float, scale: float = 8.0, deviation: float = 2.0) -> dict[str, float]:
    """A strong item of n, p = 1, that wins `deviation` sqrt(V log n) more often than expected, V its variance.

    All others are even and its lead is so large that V = n / C3². ``distance`` is the least that the copy and the
    iterate are apart, over C3 rates, at the step at which this is 1.1; ``steps`` is their number, ``fourth`` the most
    that the item is off until then, over the rate: what C4 must exceed. ``log chance``: at least, of so many wins.
    """
    log, kappa = math.log(items), tails.condition_number()
    odds = third**2  # 1 / (1 - chance to win), nearly V's share
    variance, lead = items * (1 - 1 / odds) / odds, math.log(odds - 1)
    surplus = deviation * math.sqrt(variance * log)
    rate, gamma = math.sqrt(log / items) + scale * log / items, math.sqrt(items * log)
    eta = 1 / (gamma + 3 * kappa * items)
    pull = eta * (gamma + math.exp(0.2) * variance)  # curvature on the way, while the item is off by 0.1 at most
    limit = eta * surplus / pull
    goal = 1.1 * third * rate
    steps = math.ceil(math.log1p(-goal / limit) / math.log1p(-pull)) if goal < limit else math.inf
    off = eta * steps * (gamma * lead + surplus + 9 * scale * log)
    # a point of a binomial law: exp(-n KL) / sqrt(8 V), and n KL <= chi²
    chance = -(deviation**2) * log - math.log(8 * variance) / 2
    return {
        "distance": limit * -math.expm1(steps * math.log1p(-pull)) / (third * rate),
        "steps": steps,
        "lead": lead,
        "fourth": off / rate,
        "off": off,
        "log chance": chance,
    }


@claim("cai2025:prop-a.3")
def check_prop_a3(frame: pd.DataFrame) -> Iterator[Check]:
    """Proposition A.3, copies against the descent: an item too strong, the closing grid, (A.33), and runs."""
    constants, _ = logistic_constants()
    n = 1e18
    case = strong_item(constants["C3"], n)
    at = f"C3 = {constants['C3']:,.0f}, p = 1, n = {n:.0e}, an item {case['lead']:.1f} ahead of all"
    what = f"distance of copy and iterate over its bound, at least, {at}, with a chance above n⁻⁸ a step"
    yield printed(what, case["distance"], "<", 1)
    yield argument(f"log of that chance, a step, less log n⁻⁸, {at}", log_spare(case, n), ">", 0)
    what = f"how far the item itself is off until then: (A.13) holds, C4 = {case['fourth']:.1e}"
    yield argument(what, case["off"], "<=", 0.1)
    yield from closes("C3", supplied, amended)
    exponent = SUM_B**2 / (0.5 + SUM_B / 3 / math.sqrt(tails.C_SPECTRUM))
    yield argument("(A.33), exponent of the sum of the B_j, by Bernstein", exponent, ">=", 9)
    yield agree("(A.33), exponent of the sum of the A_j, by Hoeffding, off 9", 4 * SUM_A**2 / 3 - 9)
    what = f"largest measured A.33, {len(frame)} runs with ‖θ*‖∞ = 1"
    yield amended(what, frame["A.33"].max(), "<=", constants["A.33"])
    yield amended(f"sums of the copies off that of the descent, {len(frame)} runs", frame.drift.max(), "<=", 1e-6)


def log_spare(case: dict[str, float], items: float) -> float:
    """Log of the chance that a step fails, at least, less that of n^-8: some step up to the last one does."""
    return case["log chance"] - math.log(case["steps"]) + 8 * math.log(items)


@claim("cai2025:prop-a.4")
def check_prop_a4() -> Iterator[Check]:
    """Proposition A.4, every entry: it inherits what A.2 lacks, and follows from A.2 and A.3."""
    yield from unbounded("C4")
    yield from closes("C4", supplied, amended)
    constants, _ = logistic_constants()
    yield agree("C4 off C2 + C3", constants["C4"] - constants["C2"] - constants["C3"])


def added(log: float, c_1: float, c_2: float, *, sharp: bool) -> float:
    """What the noise adds to the l2 error in a step, over the rate of (A.15): np = c_1 lambda log n.

    lambda = c_2 sqrt(log n), kappa_2 = 57, step 1 / (3 kappa_2 np) at most; norm of w as in (A.18), or `sharp`.
    """
    scale = c_2 * math.sqrt(log)
    mean = c_1 * scale * log  # np; what is below is over sqrt(n)
    norm = scale * math.sqrt(18 * log) if sharp else 9 * scale * log
    return norm / (3 * tails.condition_number() * mean) / math.sqrt(log / mean)


@claim("cai2025:eq-a.18")
def check_eq_a18(c_1: float = 1.0, c_2: float = 1.0) -> Iterator[Check]:
    """From (A.18) to (A.15): the noise's norm times the step against the rate, and the display in between."""
    logs = (math.log(10) * 6, 1e4, 1e8)
    grow = [added(log, c_1, c_2, sharp=False) for log in logs]
    what = "η‖w‖₂, as (A.18) bounds it, over √(log n/p), np = λ log n, λ = √log n: log n = 10⁸ over n = 10⁶"
    yield printed(what, grow[-1] / grow[0], "<=", 1)
    yield agree("that growth, off its power 1/4 of log n", grow[-1] / grow[0] / (logs[-1] / logs[0]) ** 0.25 - 1)
    second = math.sqrt(logs[0]) * logs[0] ** 0.5 / math.exp(logs[0] / 2)
    yield argument("the other term of the rate over √(log n/p) there, n = 10⁶: it is the smaller", second, "<=", 0.02)
    p, kappa = 1e-6, tails.condition_number()
    what = f"η·9λ√n log n over 9λ log n/√(np), η = 1/(3κ₂np), p = {p:g}"
    yield printed(what, 1 / (3 * kappa * math.sqrt(p)), "<=", 1)
    sharp = [added(log, c_1, c_2, sharp=True) for log in logs]
    yield amended("η λ√(18 n log n) over √(log n/p): log n = 10⁸ over n = 10⁶", sharp[-1] / sharp[0], "<=", 1)
    yield from closes("C1", amended)
    n = 20
    noise = np.r_[np.full(n - 1, 2.0), 1.0]  # l-infinity 2, l1 within n times 2
    most = np.linalg.norm(noise) ** 2 / (np.abs(noise).max() * np.abs(noise).sum())
    yield argument("‖w‖₂² over ‖w‖∞‖w‖₁, of a vector", most, "<=", 1)


def contraction_factor(eta: float, gamma: float, mean: float, weights: NDArray[np.float64]) -> float:
    """1 - eta gamma - eta p sum of the weights, whose mean over n counts with np."""
    return 1 - eta * gamma - eta * mean * float(weights.mean())


@claim("cai2025:eq-a.23")
def check_eq_a23(items: int = 50, cases: int = 200) -> Iterator[Check]:
    """(A.23) and the lines before it: its lower display, that (A0) gives a slope, and the contraction."""
    kappa, rng = tails.condition_number(), stream("cai2025:eq-a.23", {"items": items})
    kappa_1, mean, gamma = 1.001, float(items), math.sqrt(items * math.log(items))
    eta = 1 / (gamma + 3 * kappa * mean)
    left = 1 - eta * (gamma + kappa_1**2 * mean / 4)
    over = (3 * kappa - kappa_1**2 / 4) * mean
    what = f"1 − η(γ + κ₁²np/4) less (3κ₂ − κ₁²/4)np over γ + np, n = {items}, p = 1, κ₂ = {kappa:g}"
    yield printed(what, left - over / (gamma + mean), "==", 0, error=ROUNDING)
    yield amended("the same with γ + 3κ₂np", left - over / (gamma + 3 * kappa * mean), "==", 0, error=ROUNDING)
    step = 1e-4
    flat = (expit(step**3 / (1 + step**2)) - 0.5) / step
    yield printed("slope at 0 of F(x) = 1/(1 + e^(−x³/(1 + x²))), which meets (A0)", flat, ">", 1e-6)
    slope = tails.flattest(LOGISTIC)
    low, high = math.inf, -math.inf
    for _ in range(cases):
        theta, off = rng.uniform(-1, 1, items), rng.uniform(-1, 1, items)
        v = theta + off
        near, far = (v[0] - v)[1:], (theta[0] - theta)[1:]
        b = near + rng.random(items - 1) * (far - near)
        weights = LOGISTIC.pdf(b) * (LOGISTIC.score(near) + LOGISTIC.score(-near)) * (items - 1) / items
        factor = contraction_factor(eta, gamma, mean, weights)
        low, high = min(low, factor), max(high, factor)
    at = f"least of {cases} random v within 1 of θ*, ‖θ*‖∞ ≤ 1, n = {items}"
    yield amended(f"1 − ηγ − ηpΣ F′(b)F′/(F(1 − F)), {at}", low, ">", 0)
    shrunk = 1 - eta * mean * slope * (items - 1) / items
    yield amended("the largest of these over 1 − c₅ηpn, c₅ the least curvature on [−4, 4]", high / shrunk, "<=", 1)
    deep = 1 / (3 * kappa + math.sqrt(math.log(items) / items))
    yield argument("ηnp, which is a constant: 1 − c₅ηpn ≤ 1 − c₆", eta * mean, "==", deep, error=ROUNDING)


@claim("cai2025:eq-a.33")
def check_eq_a33(kappa_1: float = 1.0, far: float = 1.0) -> Iterator[Check]:
    """Appendix A.2.4: the three terms of (A.35), and the two tail bounds at t = C kappa_1^2 sqrt(np log n), C = 4."""
    share = np.linspace(1e-6, 1, 10_001)
    second = (3 / 8 * (1 - share) ** 2 + share / 4).max()
    yield argument("term 2 of (A.35) over npκ₁⁴‖v − θ*‖², largest", second, "<=", 1)
    n, constant = 1e6, 4.0
    for degree in (1.5 * math.log(n), 100 * math.log(n), n):
        t = constant * kappa_1**2 * math.sqrt(degree * math.log(n))
        variance = degree * kappa_1**4 * far**2 / 4
        exponent = t**2 / (2 * variance + kappa_1**2 * far * t / 3) / math.log(n)
        at = f"np = {degree:.3g}, n = 10⁶, ‖v − θ*‖∞ = {far:g}, C = {constant:g}"
        yield printed(f"log_n of the printed bound on P(|Σ B_j| > t) less log_n 2, {at}", exponent, "<=", -8)
        yield amended(f"the same with one minus, {at}", -exponent, "<=", -8)
        hoeffding = 4 * t**2 / (3 * degree * kappa_1**2) / math.log(n)
        stated = t**2 / (degree * kappa_1**2) / math.log(n)
        yield amended(f"log_n of the printed bound on P(|Σ A_j| > t) less log_n 2, {at}", -stated, "<=", -8)
        yield argument("Hoeffding's exponent over the printed one: it is the sharper", hoeffding / stated, ">=", 1)


def edge_numbers() -> dict[str, str]:
    """Numbers of the text on Appendix A.2."""
    constants, _ = logistic_constants()
    least = least_items(constants["c1"], 8.0)
    return {
        "lemma-kappa": f"{tails.condition_number():.0f}",
        "lemma-c-degrees": f"{tails.C_DEGREES:.0f}",
        "lemma-c-sharp": f"{11 / tails.UPPER:.1f}",
        "lemma-c-gradient": f"{tails.C_GRADIENT:.0f}",
        "lemma-c-spectrum": f"{tails.C_SPECTRUM:.0f}",
        "lemma-linear": f"{tails.last_linear()}",
        "lemma-c1": f"{constants['c1']:.1e}",
        "lemma-least-items": f"{least:.1e}",
    }
