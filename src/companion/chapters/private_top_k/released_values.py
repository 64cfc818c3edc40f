"""Qiao, Su and Zhang (2021): Theorem 2.2 for all that Algorithm 1 returns, and scores from a second phase."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mpmath

from companion.chapters.private_top_k.approximate import proof_ratio, proof_room
from companion.chapters.private_top_k.lemmas import ROOT_C0, chain
from companion.chapters.private_top_k.order_and_values import second_phase, values_spare
from companion.instruments.allowance import agree
from companion.instruments.topk import DELTA, EPSILON, certified, ends, printed_scale
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, printed, supplied

#: The constant in place of 8 that is left for the set, at least, once the values are paid.
LEFT = 6.0
#: Share of epsilon, and the privacy of the set, where a second phase costs "slightly more".
SLIGHTLY, SCORES = 0.05, (0.2, 1e-6)
#: The k from which on Gaussian scores are then the better ones, of ten times as many items.
FIRST = 33


def constant_left() -> tuple[float, float]:
    """Enclosure of the constant that Theorem 2.2's 8 leaves for the set at delta / 2, by zCDP of the fresh values.

    With L = log(m / delta) they cost rho = epsilon^2 / (128 L), hence rho + 2 sqrt(rho log(2 / delta)) at delta / 2;
    and log(2 m / delta) is L + log 2. Both are worst at the least L, and at m = 2, where log(2 / delta) is L.
    """
    iv = mpmath.iv
    length, epsilon = iv.log(2 / iv.mpf(str(DELTA))), iv.mpf(str(EPSILON))
    kept = 1 - epsilon / (128 * length) - 2 / iv.sqrt(iv.mpf(128))
    return ends(8 * kept / iv.sqrt(1 + iv.log(iv.mpf(2)) / length))


@claim("qiao2021:thm-2.2:values")
def check_values() -> Iterator[Check]:
    """Theorem 2.2 for set and fresh values: the values by zCDP at half of delta, the set by our proof at the rest."""
    what = "constant left for the set by 8 √(k log(m/δ))/ε, fresh values paid by zCDP at δ/2, certified"
    yield certified(what, constant_left(), ">=", LEFT)
    cost, room = proof_ratio(1.0, LEFT), proof_room(math.log(2 / DELTA), LEFT)
    what = (
        f"our proof with {LEFT:g} for 8, k > {(LEFT / 2) ** 2:g} log(m/δ): cost of the k items over log(m/δ), certified"
    )
    yield certified(f"{what}; bound: what is left", cost, "<=", room)
    t = 2 / LEFT
    plain = -math.log1p(-math.expm1(t) * math.expm1((1 + 1 / LEFT) * t)) / t**2
    yield agree("that cost, off its plain value", sum(cost) / 2 - plain)
    what = "log δ proved for set and fresh values over log δ promised, noise of Theorem 2.2, k up to 10⁶: least"
    yield printed(what, values_spare(), ">=", 1)


@claim("qiao2021:sec-4:completes")
def check_completes() -> Iterator[Check]:
    """What the proof of Lemma 4.1 uses of epsilon where it is tightest, and what the fresh values ask for besides."""
    root = float(ROOT_C0)  # at the least k to which Lemma 4.4 applies
    share = float(chain("restored")[-1][1].mid)
    scale = printed_scale(1, 1.0, DELTA, 2) * root * math.sqrt(math.log(2 / DELTA))  # at k = C0 log(m/δ), ε = 1
    values = root**2 * math.log(2 / DELTA) / scale
    at = "k = 3.9² log(m/δ)"
    yield printed("share of ε that the proof of Lemma 4.1 uses", share, "<=", 1, reading="the mechanism returns a set")
    what = f"that share and what k fresh values lose by the pure guarantee, over ε, {at}"
    yield printed(what, share + values, "<=", 1, reading="it returns values too, as Algorithm 1 does")
    what = "constant left for the set by 8 √(k log(m/δ))/ε, fresh values paid by zCDP at δ/2, certified"
    yield certified(what, constant_left(), ">=", LEFT, amended)


def score_ratio(share: float, m: int, k: int) -> float:
    """Expected largest noise of Gaussian scores, for so much of epsilon more, over that of fresh values."""
    row = second_phase([share], m, k, *SCORES).iloc[0]
    return float(row["Theorem 2.2, Gaussian scores"] / row["Theorem 2.2, fresh values"])


def own_ratio(share: float, m: int, k: int) -> float:
    """The same over the own noisy values of one pass at the same total privacy."""
    row = second_phase([share], m, k, *SCORES).iloc[0]
    return float(row["Theorem 2.2, Gaussian scores"] / row["own noisy values"])


@claim("qiao2021:sec-4:more-accurate")
def check_more_accurate() -> Iterator[Check]:
    """Gaussian scores for a twentieth of epsilon more against Algorithm 1's values, and against those compared."""
    epsilon, delta = SCORES
    at = f"ε = {epsilon:g}, δ = δ₂ = {delta:g}"
    what = (
        f"expected largest noise of Gaussian scores, ε₂ = {SLIGHTLY:g}ε, over that of Algorithm 1's fresh values, {at}"
    )
    for m, k, says in ((20, 2, printed), (1000, 100, supplied), (10_000, 1000, supplied)):
        yield says(f"{what}, {k} of {m:,} items", score_ratio(SLIGHTLY, m, k), "<", 1)
    first = least(lambda k: score_ratio(SLIGHTLY, 10 * k, k) < 1)
    yield amended(f"least k at which Gaussian scores have less, ε₂ = {SLIGHTLY:g}ε, m = 10k, {at}", first, "==", FIRST)
    own = "expected largest noise of Gaussian scores over that of own noisy values at the same total privacy"
    yield amended(f"{own}, ε₂ = {SLIGHTLY:g}ε, 100 of 1,000 items, {at}", own_ratio(SLIGHTLY, 1000, 100), ">", 3)
    yield amended(f"{own}, ε₂ = 0.5ε, 100 of 1,000 items, {at}", own_ratio(0.5, 1000, 100), "<", 1)
