"""Pure privacy: codes, and how many voters any private aggregation needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
from scipy.special import entr

from companion.instruments.aggregation import exponential_needs
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, argument, claim, printed
from dprank.aggregation.lower_bounds import coded_threshold, mahonian, pure_threshold

#: The printed additive error as a share of m^2.
SHARE = Fraction(1, 100)


def printed_error(n_items: int, share: Fraction = SHARE) -> Fraction:
    """An additive error by its share of m^2; that of the lower bounds as printed is 0.01 m^2. Exactly."""
    return share * n_items**2


def least_error(n_items: int, budget: float) -> float:
    """Where all voters agree, the least mean error of pure privacy with epsilon times voters so large.

    The inverse of `pure_threshold`: the best law has its largest value nearer than some distance, its smallest beyond.
    """
    every = math.factorial(n_items)
    law = np.array([count / every for count in mahonian(n_items, math.comb(n_items, 2))])
    far = math.exp(-budget)
    near, cost = np.cumsum(law), np.cumsum(law * np.arange(len(law)))
    return float(((cost + far * (cost[-1] - cost)) / (near + far * (near[-1] - near))).min())


def pure_floor(n_items: int) -> float:
    """A bound below `pure_threshold` for an error of `SHARE` items^2; it grows faster than items.

    At most C(m + r, m) <= (e (m + r)/m)^m rankings are within r, and m! >= (m/e)^m.
    """
    share = float(SHARE)
    return n_items * (math.log(n_items / (1 + share * n_items)) - 2) + math.log((1 - 1 / n_items) / (4 * share) - 1)


def code_floor(n_items: int) -> float:
    """A bound below `best_code` for at least 4 items; over items it grows.

    With d a third of the items, rounded down, a share of at most lam of d signs may be wrong. At most exp(d h(lam)) of
    the 2^d vectors differ from one in that many places or fewer, h being the binary entropy in nats.
    """
    lam = 9 * float(SHARE) * n_items / (n_items - 2)
    return (n_items - 2) / 3 * (math.log(2) + lam * math.log(lam) + (1 - lam) * math.log1p(-lam))


def best_code(n_items: int) -> float:
    """The paper's route to Theorem 13, at the best d for all items: `coded_threshold` with error 0.01 m^2."""
    return max(coded_threshold(d, n_items - 2 * d, printed_error(n_items)) for d in range(1, n_items // 2 + 1))


def pure_table(items: Iterable[int]) -> pd.DataFrame:
    """Voters by number of items, for pure privacy with epsilon 1 and an additive error of 0.01 m^2.

    Columns: ``items``; ``needed`` (unanimous voters with any ranking), ``needed (π^x)`` (the paper's route) and
    ``enough (exponential mechanism)``, whole voters, rounded up; ``ε n / items``: the first of these before it is
    rounded, over items, rounded down.
    """
    rows = []
    for m in items:
        low, enough = pure_threshold(m, printed_error(m)), exponential_needs(m, float(printed_error(m)))
        row = {"items": m, "needed": math.ceil(low), "ε n / items": math.floor(1000 * low / m) / 1000}
        voters = {"needed (π^x)": math.ceil(best_code(m)), "enough (exponential mechanism)": math.ceil(enough)}
        rows.append(row | voters)
    return pd.DataFrame(rows)


@claim("alabi2022:thm-13")
def check_thm_13(exact_to: int = 100, far: Sequence[int] = (100, 10**3, 10**6, 10**12)) -> Iterator[Check]:
    """Theorem 13 with the constant 3/2."""
    exact = {m: pure_threshold(m, printed_error(m)) / m for m in range(2, exact_to + 1)}
    worst = min(exact, key=lambda m: exact[m])
    yield argument("numbers of items with an exact value", len(exact), "==", exact_to - 1)
    yield printed(f"least ε n / m, exact for 2 to {exact_to} items (at m = {worst})", exact[worst], ">=", 1.5)
    for m in far:
        yield printed(f"bound below ε n / m, m = {m:.0e}", pure_floor(m) / m, ">=", 1.5)
    gap = min(exact[m] - pure_floor(m) / m for m in exact)
    yield printed(f"least of the exact value minus that bound, over m, 2 to {exact_to} items", gap, ">=", 0)
    limit = pure_floor(far[-1]) / far[-1]
    yield argument(f"that bound at m = {far[-1]:.0e}: log 100 − 2", limit, "==", math.log(100) - 2, error=ROUNDING)
    # the bound less what is left of m! / C(m + r, m) by the two inequalities
    rest = pure_floor(exact_to) - exact_to * (math.log(exact_to / (1 + exact_to / 100)) - 2)
    most = math.log(25 * (1 - 1 / exact_to) - 1)
    yield argument(f"its last term at m = {exact_to}: log((m(m − 1)/4 − r)/r)", rest, "==", most, error=ROUNDING)


@claim("alabi2022:sec-lower:codes")
def check_codes(exact_to: int = 100, far: Sequence[int] = (100, 10**3, 10**6, 10**12)) -> Iterator[Check]:
    """The sketch for pure privacy: the rankings of vectors, Observation 15 and packing."""
    exact = {m: best_code(m) for m in range(2, exact_to + 1)}
    worst = min(exact, key=lambda m: exact[m] / m)
    yield argument("numbers of items with an exact value", len(exact), "==", exact_to - 1)
    what = f"least ε n / m by the π^x alone, exact for 2 to {exact_to} items (at m = {worst})"
    yield printed(what, exact[worst] / worst, ">=", 0.1)
    for m in far:
        yield printed(f"bound below ε n / m by the π^x alone, m = {m:.0e}", code_floor(m) / m, ">=", 0.1)
    gap = min(exact[m] - code_floor(m) for m in range(4, exact_to + 1))
    yield printed(f"least of the exact ε n minus that bound, 4 to {exact_to} items", gap, ">=", 0)
    limit = (math.log(2) - float(entr([0.09, 0.91]).sum())) / 3
    what = f"that bound over m at m = {far[-1]:.0e}: (log 2 − h(0.09))/3"
    yield argument(what, code_floor(far[-1]) / far[-1], "==", limit, error=ROUNDING)
    share = max(exact[m] / pure_threshold(m, printed_error(m)) for m in exact)
    yield printed(f"most of ε n by the π^x over ε n by all rankings, 2 to {exact_to} items", share, "<=", 1 + ROUNDING)
