"""What no private estimate can do, and what the paper's does: Theorem 3.2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from companion.chapters.edge_privacy.link_conditions import KAPPA_1, KAPPA_2
from companion.chapters.individual_privacy import packings
from companion.chapters.individual_privacy.voter_estimation import WITHIN, mean_noise, rate
from companion.instruments.allowance import CLOSED, ROUNDING, Z, agree
from companion.ledger.claim import Check, amended, argument, claim, content, printed
from dprank.models.bradley_terry import LOGISTIC, Link

#: What the worst risk of a private estimate is at least, in rates, L = 1.
LEAST = 1 / 800
#: What is between an error of `WITHIN` rates and that, L = 1.
OPEN = WITHIN / LEAST
#: Numbers of items and the place of the pair that the proof of Theorem 3.2 exchanges.
SWAPPED = ((2, 1), (5, 2), (5, 4))


def pair_estimate_risk(n_items: int, comparisons: float, scale: float = 0.0, link: Link = LOGISTIC) -> float:
    """Upper bound on the worst expected largest error of a plain estimate of centred strengths in [-1, 1].

    It takes the share of wins of every pair (compared mu times on average), inverts the link, averages over opponents.
    Except with chance C(n, 2) (e^(-mu/8) + 2 e^(-t^2 mu)) every pair is compared mu / 2 times, its share within t; but
    with chance 1 / mu Laplace noise on each count is at most B = scale log(n (n - 1) mu). Else the error is at most 2.
    """
    pairs = math.comb(n_items, 2)
    spread = math.sqrt(math.log(8 * pairs * comparisons) / comparisons)
    fails = pairs * (math.exp(-comparisons / 8) + 2 * math.exp(-(spread**2) * comparisons))
    noisy, beyond = noise_on_shares(pairs, comparisons, scale) if scale else (0.0, 0.0)
    return min(2.0, (spread + noisy) / float(link.pdf(2.0)) + 2 * (fails + beyond))


def noise_on_shares(pairs: int, comparisons: float, scale: float) -> tuple[float, float]:
    """What Laplace noise on the counts of so many pairs adds to a share at most, and the chance that it adds more."""
    bound = scale * math.log(2 * pairs * comparisons)
    return 2 * bound / max(comparisons / 2 - 2 * bound, 1e-300), 1 / comparisons


def published_subset(n_items: int, epsilons: Iterable[float], share: float = 0.1) -> pd.DataFrame:
    """An estimate that publishes every answer with probability n^-2: (0, delta)-private, L = 1.

    ``items``, ``epsilon``, ``delta``, ``voters`` (so that n log n / (m epsilon) = share), ``rate``, ``risk`` (bound on
    the worst), ``over rate``.
    """
    epsilon = np.array(list(epsilons), float)
    delta = float(n_items) ** -2
    voters = np.ceil(n_items * math.log(n_items) / (share * epsilon))
    r = rate(n_items, voters, epsilon)
    risk = np.array([pair_estimate_risk(n_items, delta * m / math.comb(n_items, 2)) for m in voters])
    known = {"items": n_items, "epsilon": epsilon, "delta": delta, "voters": voters}
    return pd.DataFrame(known | {"rate": r, "risk": risk, "over rate": risk / r})


def same_data(n_items: int, shift: float = 1.0, link: Link = LOGISTIC) -> tuple[float, float]:
    """Strengths all at plus and all at minus `shift`: largest difference of any winning probability, half distance.

    If the first is 0, the worst error of every estimate is at least the second.
    """
    up, down = np.full(n_items, shift), np.full(n_items, -shift)
    moved = link.cdf(up[:, None] - up) - link.cdf(down[:, None] - down)
    return float(np.abs(moved).max()), float(np.abs(up - down).max() / 2)


@claim("cai2025:thm-3.2")
def check_thm_3_2() -> Iterator[Check]:
    """Theorem 3.2 over the printed strengths, and over centred ones with delta tied to epsilon."""
    moved, half = same_data(6)
    zero = max(max(map(abs, corner)) for corner in product((-1.0, 1.0), repeat=6))  # worst error of the estimate 0

    yield printed("change of the winning probabilities from θ = (1, ..., 1) to −θ", moved, "<=", 0)
    yield printed("worst error of every estimate, private or not, at least; any rate up to 1", half, ">=", 1)
    yield content("least worst error with perfect privacy (the estimate 0) less that without any", zero - half, ">", 0)
    for answers in (1, 5):
        frame = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES, answers)
        what = f"centred: least bound on worst risk over rate, δ = ε/(10 n log n), L = {answers}, {len(frame):,} cases"
        yield amended(what, packings.estimation_risk(frame).min(), ">=", LEAST / answers)
        yield from packings.packing_checks(6 + answers, answers)
    for n in (2, 10, 100):
        frame = published_subset(n, 10.0 ** -np.arange(2, 40))
        first = int((frame["over rate"] < LEAST).argmax())
        before, row = frame["over rate"][first - 1], frame.iloc[first]
        at = f"n = {n}, L = 1, ε = {row.epsilon:.3g} (the first power of ten), m = {row.voters:.3g}"
        what = f"centred, δ = n^−2 far above ε: answers published with chance δ, worst risk (at most) over rate, {at}"
        yield amended(what, row["over rate"], "<", LEAST)
        yield argument(f"the same a power of ten before, n = {n}", before, ">=", LEAST)
        part = n * math.log(n) / (row.voters * row.epsilon)
        yield argument(f"n log n / (mε) there, n = {n}", part, "==", 0.1, error=1e-3)


def nearest_risk(n_items: int, voters: float, answers: int = 1) -> float:
    """Upper bound on the worst risk, without privacy, of the centred strengths whose expected wins are nearest.

    Wins are sums of mL independent terms in [0, 1] of variances that add up to at most S = 2mL / n: the largest of n is
    off by at most sqrt(2 S log 2n) + log(2n) / 3 on average. Expected wins differ by S F'(2) times the largest
    difference of centred strengths in [-1, 1] at least, and the nearest are at most twice as far as the truth.
    """
    degree, log = 2 * voters * answers / n_items, math.log(2 * n_items)
    return 2 * (math.sqrt(2 * degree * log) + log / 3) / (degree * float(LOGISTIC.pdf(2.0)))


@claim("cai2025:sec-3.2:nonprivate-rate")
def check_nonprivate_rate() -> Iterator[Check]:
    """Whether the minimax risk without privacy has the rate of the first term, over the cube and centred."""
    moved, half = same_data(6)
    first = {m: math.sqrt(16 * math.log(16) / m) for m in (10**4, 10**8)}
    cube, centred = "over ‖θ‖∞ ≤ 1, as in Theorem 3.2", "over centred θ in [−1, 1]"
    what = "worst risk of every estimate, at least, over 100 √(n log n/m), n = 16, m = 10⁸"
    yield printed(what, half / (100 * first[10**8]), "<=", 1, reading=cube)
    yield argument("change of the winning probabilities from θ = (1, ..., 1) to −θ", moved, "==", 0)
    for answers in (1, 5):
        cases = [(n, n * math.log(n) / r**2) for n, r in product(packings.ITEMS, packings.RATES)]
        upper = max(nearest_risk(n, m, answers) / math.sqrt(n * math.log(n) / m) for n, m in cases)
        what = (
            f"risk of an estimator over √(n log n/m), largest of {len(cases)} cases with that at most 1, L = {answers}"
        )
        yield printed(what, upper, "<=", 30, reading=centred)
        # so little privacy that the second term of the rate is nothing
        lower = packings.estimation_risk(packings.exact_recovery(packings.ITEMS, [1e4], packings.RATES, answers)).min()
        what = f"worst risk of every estimate over √(n log n/m), at least, {len(cases)} cases, L = {answers}"
        yield printed(what, lower, ">=", LEAST / answers, reading=centred)
        frame = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES, answers)
        what = f"centred, private: worst risk of every estimate over both terms, at least, L = {answers}"
        yield printed(what, packings.estimation_risk(frame).min(), ">=", LEAST / answers, reading=centred)
        yield amended(f"the same, against 1/(800 L), L = {answers}", lower, ">=", LEAST / answers)


def suboptimality(n_items: int, epsilon: float, voters: Iterable[float]) -> pd.DataFrame:
    """Risk of the printed estimate against another private one, L = 1, logistic: ``voters``, ``printed``, ``other``.

    And ``ratio``. A lower bound for any strengths of mean 0, with constants that (A1) and (A2) allow; an upper bound
    for `pair_estimate_risk`, Laplace(2 / epsilon).
    """
    m = np.array(list(voters), float)
    other = [pair_estimate_risk(n_items, x / math.comb(n_items, 2), 2 / epsilon) for x in m]
    as_printed = mean_noise(n_items) * KAPPA_1 / KAPPA_2
    return pd.DataFrame({"voters": m, "printed": as_printed, "other": other, "ratio": as_printed / np.array(other)})


@claim("cai2025:thm-3.2:optimal")
def check_optimal(frame: pd.DataFrame, times: float = 100.0) -> Iterator[Check]:
    """Whether the estimate of Theorem 3.1 is optimal up to a constant; `frame` is that of `estimation_curve`."""
    epsilon, answers = frame.epsilon.iloc[0], int(frame.answers.iloc[0])
    for n, power in product((2, 16), (16, 18)):
        row = suboptimality(n, epsilon, [10.0**power]).iloc[0]
        at = f"n = {n}, m = 10^{power}, L = 1, ε = {epsilon:g}, κ1 = {KAPPA_1:g}, κ2 = {KAPPA_2:g}"
        what = f"risk of the printed estimate, at least, against {times:g} × that of a private average of pairs, {at}"
        yield printed(what, row.printed, "<=", times * row.other, error=CLOSED)
    centred = frame[frame.calibration == "centred"]
    ratios = centred["mean"] / centred.rate
    row, worst = centred.loc[ratios.idxmax()], ratios.max()
    at = f"largest of {len(centred)}, n = {row.n_items}, m = {row.voters:,}, {row.strengths} strengths"
    what = f"mean error of the centred estimate over the rate, {at}"
    yield amended(what, worst, "<=", WITHIN, error=Z * row.se / row.rate)
    least = packings.estimation_risk(packings.exact_recovery(packings.ITEMS, [epsilon], packings.RATES, answers)).min()
    what = f"worst risk of every private estimate over the rate, L = {answers}, at least"
    yield amended(what, least, ">=", LEAST / answers)
    what = f"the centred estimate's mean error over that, L = {answers}: what is open"
    yield amended(what, worst / least, "<=", OPEN * answers, error=Z * row.se / row.rate / least)


def swapped_pair(n_items: int, place: int, risk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two centred strength vectors that differ in places K and K + 1 only, which are 100 risks apart and exchanged."""
    theta: NDArray[np.float64] = 100 * risk * (np.arange(n_items, 0.0, -1) - (n_items + 1) / 2)
    other = theta.copy()
    other[[place - 1, place]] = theta[[place, place - 1]]
    return theta, other


def from_rankings(n: int = 6) -> Iterator[Check]:
    """The hard matrices are parametric: two levels of strengths; and gaps of tau are at most those of the strengths."""
    lead = 0.05
    apart = float(special.logit(0.5 + lead))
    theta = np.where(np.arange(n) < 1, apart * (n - 1) / n, -apart / n)
    rho = LOGISTIC.cdf(theta[:, None] - theta)
    wanted = 0.5 + lead * ((np.arange(n) < 1)[:, None] * 1.0 - (np.arange(n) < 1))
    yield agree(
        f"the matrix with one item {lead:g} ahead of {n - 1} even ones, off that of two strengths", rho - wanted
    )
    tau = rho.mean(1)
    yield agree("its gap of τ, off its lead", tau[0] - tau[1] - lead)


@claim("cai2025:thm-3.2:proof")
def check_thm_3_2_proof(risk: float = 1e-3) -> Iterator[Check]:
    """The reduction of Appendix B.3: its two vectors, and the delta that its lower bound can use."""
    for n, place in SWAPPED:
        theta, other = swapped_pair(n, place, risk)
        apart = np.abs(theta - other).max() / risk
        at = f"n = {n}, K = {place}"
        yield printed(f"ℓ∞ distance of the two vectors, in units of the risk, {at}", apart, "<=", 10)
        yield argument("the same: they are 100 risks apart", apart, "==", 100, error=ROUNDING)
        yield argument(f"places in which they differ, {at}", int(np.count_nonzero(theta - other)), "==", 2)
        worst = (theta[place - 1] - theta[place] - 20 * risk) / risk
        what = f"least estimated lead of K over K + 1 within 10 risks of the truth, in risks, {at}"
        yield amended(what, worst, "==", 80, error=ROUNDING)
        yield agree(f"sum of the strengths in risks, {at}", theta.sum() / risk)
    success, failure = 1 - Fraction(1, 10), Fraction(1, 10)  # of Markov's inequality at ten risks, and Theorem 3.4
    what = "chance of success that Markov's inequality gives at 10 risks, and the most that Theorem 3.4 leaves"
    yield printed(what, float(success), ">", float(1 - failure))
    yield amended("the same at 50 risks, half the gap", float(1 - Fraction(1, 50)), ">", float(1 - failure))
    steps = np.arange(10, 1000)
    ratio = np.where(steps % 2, 1 / steps, 1.0)  # a_n / r_n
    tail = ratio[steps >= 500]
    what = "a_n/r_n, 1 and 1/n by turns, which is not o(1), n from 500 to 999"
    yield argument(f"largest {what}", tail.max(), ">=", 1)
    yield printed(f"least {what}: a_n ≳ r_n", tail.min(), ">=", 0.01)
    yield from from_rankings()
    many, epsilon = 1000.0, 1.0
    log = -2 * math.log(many)
    what = "log of δ = n^−2 (ω = 1) less log of the δ that Theorem 3.4 allows with u = 1, c0 = 1, n = 1000, ε = 1"
    apart = log - float(packings.tolerant_log_delta(many, 1.0, epsilon))
    yield printed(what, apart, "<=", 0)
    yield agree("the same, off 8 log n + log log n", apart - 8 * math.log(many) - math.log(math.log(many)))
    what = "log of δ = n^−2 less log of ε/(10 n log n), which suffices here, n = 1000, ε = 1"
    yield amended(what, log - float(packings.log_delta(many, epsilon)), "<=", 0)
    off = log - float(packings.log_delta(many, epsilon)) - math.log(10 * math.log(many) / many)
    yield agree("the same, off log(10 log(n)/n)", off)
