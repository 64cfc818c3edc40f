"""The minimax risk under edge privacy: Theorem 2.2 and the rate without privacy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import pandas as pd

from companion.chapters.edge_privacy.attack import PRIOR_SLOPE, least_risk, variation_checks
from companion.chapters.edge_privacy.attack_limit import SMALLEST, STEEPEST
from companion.chapters.edge_privacy.fano import fano_bound
from companion.instruments.allowance import ROUNDING, agree
from companion.ledger.claim import Check, amended, argument, claim, content, printed
from dprank.models.bradley_terry import LOGISTIC

#: Items, from the least that (2.10) admits on.
SIZES = (SMALLEST, 100, 10_000, 1_000_000)


def rates(n_items: float, p: float, epsilon: float) -> tuple[float, float]:
    """The two terms of (2.10)."""
    return math.sqrt(math.log(n_items) / (n_items * p)), 1 / (n_items * p * epsilon)


def plain_bound(n: int, p: float) -> float:
    """Lower bound on the sup-norm risk over centred strengths of at most 1 without privacy (Fano), logistic link."""
    h = math.sqrt(math.log(n) / (n * p))
    return h / 2 * (1 - (n * p * h * h / 4 + math.log(2)) / math.log(n))


def private_bound(n: int, p: float, epsilon: float, delta: float) -> float:
    """The same with privacy: DP Fano on n strengths h (e_a - 1 / n)."""
    step = min(1.0, math.log(n - 1) / (5 * epsilon * p * (n - 1)))
    moved = p * (n - 1) * (2 * float(LOGISTIC.cdf(step)) - 1)
    return step * fano_bound(n, epsilon, delta, moved)


def score_bound(n: int, p: float, epsilon: float, delta: float) -> float:
    """The same by the score attack, which bounds the mean absolute error of every single item."""
    gain = math.expm1(epsilon)
    top = 1 - 1 / n - 2 * STEEPEST * gain / n - 2 * STEEPEST * (n - 1) * p * delta
    return max(0.0, top) / (2 * PRIOR_SLOPE + 2 * STEEPEST * gain * n * p)


def corrected_grid(sizes: Sequence[int] = SIZES) -> pd.DataFrame:
    """The three bounds against what we state, at delta = epsilon / (n log n), over sparse and full graphs."""
    rows = []
    for n in sizes:
        for p in (6 * math.log(n) / n * (1 + 1e-9), 1.0):
            for epsilon in (0.999, 1 / math.log(n), 1 / math.sqrt(n), 1 / n):
                delta = epsilon / (n * math.log(n))
                first, second = rates(n, p, epsilon)
                bounds = {
                    "fano": plain_bound(n, p),
                    "private": private_bound(n, p, epsilon, delta),
                    "score": score_bound(n, p, epsilon, delta),
                }
                stated = {
                    "stated_fano": first / 4,
                    "stated_private": min(0.4, 0.08 * math.log(n) * second),
                    "stated_score": 0.2 / (1 + 1 / (4 * second)),
                }
                rows.append({"n": n, "p": p, "epsilon": epsilon, "delta": delta} | bounds | stated)
    return pd.DataFrame(rows)


@claim("cai2025:thm-2.2")
def check_thm_2_2(sizes: Sequence[int] = SIZES) -> Iterator[Check]:
    """(2.10) over the cube, what privacy has to do with it, and lower bounds over centred strengths."""
    zero = max(max(map(abs, corner)) for corner in product((-1.0, 1.0), repeat=4))  # the estimate 0 is (0, 0)-private
    what = "minimax risk over the cube with privacy (the estimate 0) minus the least without any"
    yield content(what, zero - least_risk(4), ">", 0)
    for least in (0.1, 1.0):
        constant = 1 / (1 / math.sqrt(6) + 1 / (6 * least))
        worst, ratios = 0.0, []
        for n in sizes:
            p, epsilon = 6 * math.log(n) / n, least / math.log(n)
            first, second = rates(n, p, epsilon)
            worst = max(worst, constant * (first + second))
            ratios.append(second / first)
        what = f"C times the right side of (2.10), C = {constant:.3g}, largest under ε ≥ {least:g}/log n"
        yield printed(f"{what}; the minimax risk over the cube is 1", worst, "<=", least_risk(4) + ROUNDING)
        yield agree("the same, off 1: there the two terms are 1/√6 and log n/(6nε)", worst - 1)
        what = f"privacy term over the other, largest under ε ≥ {least:g}/log n: n = {sizes[-1]:,} against {sizes[0]}"
        yield content(what, ratios[-1] / ratios[0], ">", 1 + ROUNDING)
    yield from variation_checks()
    grid = corrected_grid(sizes)
    for bound, stated in (
        ("fano", "Fano bound over ¼√(log n/(np))"),
        ("private", "DP Fano bound over min(0.4, 0.08 log n/(npε))"),
        ("score", "score-attack bound, every item, over 0.2/(1 + npε/4)"),
    ):
        least = float((grid[bound] / grid[f"stated_{bound}"]).min())
        yield amended(f"centred strengths: {stated}, smallest of {len(grid)} cases", least, ">=", 1)
    over = (grid.stated_private / grid.stated_fano).groupby(grid.n).max()
    few, many = sizes[1], sizes[-1]
    exact = 0.4 * math.sqrt(many / math.log(many)) / (0.08 * math.sqrt(few * math.log(few)))
    what = f"largest (privacy bound) / (non-private rate), now that ε may be small: n = {many:,} against n = {few}"
    yield amended(f"{what}, over 5 √(n/log n) / √(n′ log n′)", over[many] / over[few] / exact, "==", 1, error=ROUNDING)


@claim("cai2025:sec-2.2.2:nonprivate-rate")
def check_nonprivate_rate(sizes: Sequence[int] = (100, 10_000, 1_000_000)) -> Iterator[Check]:
    """Whether the minimax risk without privacy has the rate of the first term of (2.10)."""
    rate = {n: rates(n, 1.0, 1.0)[0] for n in sizes}
    ratios = [least_risk(4) / rate[n] for n in sizes]
    what = f"minimax risk over the cube / √(log n/(np)), p = 1: growth from n = {sizes[0]} to {sizes[-1]:,}"
    # of the centred strengths whose average win probabilities are nearest to the observed shares of wins
    nearest = {n: 2 * math.sqrt(math.log(2 * n) / (2 * n)) / float(LOGISTIC.pdf(2.0)) for n in sizes}
    upper = max(risk / rate[n] for n, risk in nearest.items())
    lower = min(plain_bound(n, 1.0) / rate[n] for n in sizes)
    yield printed(what, ratios[-1] / ratios[0], "<=", 1 + ROUNDING)
    exact = math.sqrt(sizes[-1] * math.log(sizes[0]) / (sizes[0] * math.log(sizes[-1])))
    yield argument("minimax risk over the cube, which the estimate 0 attains", least_risk(4), "==", 1)
    yield from variation_checks()
    yield argument("the same over that of √(n/log n)", ratios[-1] / ratios[0] / exact, "==", 1, error=ROUNDING)
    yield amended("centred, p = 1: lower bound / √(log n/n), smallest", lower, ">=", 0.25)
    yield amended("centred, p = 1: risk of an estimator / √(log n/n), largest", upper, "<=", 15)
    n = sizes[0]
    closed = (0.75 - math.log(2) / math.log(n)) / 2
    yield agree(f"that lower bound, off (¾ − log 2/log n)/2 at n = {n}", lower - closed)
    closed = math.sqrt(2 * math.log(2 * n) / math.log(n)) / float(LOGISTIC.pdf(2.0))
    yield agree(f"that risk, off √(2 log(2n)/log n)/F'(2) at n = {n}", upper - closed)
