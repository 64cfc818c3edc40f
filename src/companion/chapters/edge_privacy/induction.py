"""The induction behind the error bound of the perturbed MLE, closed with explicit constants: Appendix A.2."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from companion.chapters.edge_privacy import tails
from companion.chapters.edge_privacy.descent import rates
from companion.instruments.allowance import ROUNDING, agree
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


@claim("cai2025:prop-a.1")
def check_prop_a1(frame: pd.DataFrame) -> Iterator[Check]:
    """Propositions A.1 to A.4: without a bound on the truth, with explicit constants, and on runs."""
    constants, _ = logistic_constants()
    scale = 8.0
    n = least_items(constants["c1"], scale)
    claim = constants["C4"] * rates(int(n), n, scale)["C4"]
    nothing = first_step_error(0.0, n, scale)
    bound = 2 * (claim - nothing) / (first_step_error(1.0, n, scale) - nothing)
    what = f"ℓ∞ error after one step, p = 1, n = {n:.0e}, an entry of θ* is {bound:.0e}"
    grid = closure()
    yield printed(what, first_step_error(bound, n, scale), "<", claim)
    for name in ("C1", "C2", "C3", "C4"):
        at = f"{name} = {constants[name]:,.0f}, ‖θ*‖∞ ≤ 1, worst of {len(grid)}"
        yield supplied(f"bound at t + 1 over hypothesis at t + 1, {at}", grid[name].max(), "<", 1)
    yield supplied("(C3 + C4) times the ℓ∞ rate, worst", grid.reach.max(), "<=", 1)
    exponent = SUM_B**2 / (0.5 + SUM_B / 3 / math.sqrt(tails.C_SPECTRUM))
    yield argument("(A.33), exponent of the sum of the B_j, by Bernstein", exponent, ">=", 9)
    yield agree("(A.33), exponent of the sum of the A_j, by Hoeffding, off 9", 4 * SUM_A**2 / 3 - 9)
    what = f"largest measured A.33, {len(frame)} runs with ‖θ*‖∞ = 1"
    yield amended(what, frame["A.33"].max(), "<=", constants["A.33"])
    what = f"largest ‖θ_t − θ*‖₂ over what the first step and the spectrum of a run allow, {len(frame)} runs"
    yield amended(what, frame["l2"].max(), "<=", 1)


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
