"""Edge and individual privacy beside each other: noise, rates, thresholds, and what the paper says of all of these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd

from companion.chapters.edge_privacy import counting_rates, full_ranking
from companion.chapters.individual_privacy import estimation_limits, noisy_counts, packings
from companion.chapters.individual_privacy.recovery_limits import constant_failure, log_noiseless_failure
from companion.chapters.individual_privacy.voter_estimation import rate
from companion.instruments.allowance import CLOSED, ROUNDING, agree
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed.cai2025 import algorithm_1, algorithm_2, algorithm_3, proposition_3_1
from dprank.audit.neighbours import edge_data, voter_scores, worst_pair

#: Numbers of items and answers, and epsilons, at which noise and rates are compared.
ITEMS, ANSWERS, EPSILONS = (3, 10, 100, 10**4, 10**6), (1, 2, 5), (0.1, 0.5, 1.0)
#: Our constants of Theorem 3.3 with noise that is private, and of the lower bound at L = 1.
ENOUGH, TOO_LITTLE = 16.0, 1 / 160


def noise_factors(answers: int, epsilon: float = 1.0) -> dict[str, float]:
    """Printed noise for a person over that for one comparison: ``likelihood``, ``ridge``, ``counts``."""
    person, edge = proposition_3_1(epsilon, 3, per_person=answers).mechanism, algorithm_1(epsilon, 3).mechanism
    counts = algorithm_3(epsilon, 3, per_person=answers).mechanism.scale / algorithm_2(epsilon, 3).mechanism.scale
    return {"likelihood": person.scale / edge.scale, "ridge": person.ridge / edge.ridge, "counts": counts}


def moved_counts(answers: int) -> tuple[int, int]:
    """Most that a person with so many answers, and that one comparison, moves the wins of three items in l1."""
    person, _, _ = worst_pair(voter_scores(3, answers, repeats=True, ties=False, score="wins"))
    wins, neighbours = edge_data(3)
    return int(person), max(int(np.abs(wins[a] - wins[b]).sum()) for a, b in neighbours)


@claim("cai2025:sec-3.1:factor-l")
def check_factor_l() -> Iterator[Check]:
    """By how much the printed noise for a person exceeds that for a comparison, and by how much it must."""
    for answers in ANSWERS:
        found = noise_factors(answers)
        for name, reading in (("likelihood", "noise of the likelihood"), ("counts", "noise of the counts")):
            what = f"printed noise for a person over that for a comparison, over L, {name}, L = {answers}"
            yield printed(what, found[name] / answers, ">=", 1 - ROUNDING, reading=reading)
        person, edge = moved_counts(answers)
        what = f"most that a person moves the counts over what a comparison does, 3 items, over L, L = {answers}"
        yield amended(what, person / edge / answers, "==", 1)
        what = f"printed ridge for a person over that for a comparison, over L, L = {answers}: twice what is due"
        yield argument(what, found["ridge"] / answers, "==", 2, error=ROUNDING)


@claim("cai2025:sec-3.3:no-algorithm")
def check_no_algorithm() -> Iterator[Check]:
    """Below the threshold of individual privacy: one matrix, and the worst one."""
    for n, k in ((2, 1), (6, 3)):
        lead = np.repeat([1e-6, 0.0], [k, n - k])
        what = f"P(wrong) of always naming the first {k} of {n} items, which lead by 10⁻⁶"
        failure = constant_failure(0.5 + lead[:, None] - lead, range(k))
        yield printed(what, failure, ">=", 0.1, reading="whatever the matrix")
    for answers in (1, 5):
        wrong = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES, answers).wrong.min()
        what = f"guaranteed P(wrong) at rate/(160 L), δ = ε/(10 n log n), n ≥ 4, any k, L = {answers}, least"
        yield printed(what, wrong, ">=", 0.1, reading="the worst matrix, a small δ")
        yield amended(what, wrong, ">=", 0.1)
    log = log_noiseless_failure(TOO_LITTLE, 1e-8)
    what = "log P(counts without noise miss the better of two), δ = 1, ε = 10⁻⁸, gap rate/160"
    yield printed(what, log, ">=", math.log(0.1), reading="the worst matrix, any δ", error=ROUNDING)


@claim("cai2025:sec-3.3:necessary-sufficient")
def check_necessary_sufficient() -> Iterator[Check]:
    """Whether the separation is necessary, and sufficient, for private recovery of the top k."""
    rho = 0.5 + np.array([[0.0, 1e-6], [-1e-6, 0.0]])
    what = "P(wrong) of always naming the first of 2 items, which leads by 10⁻⁶"
    yield printed(what, constant_failure(rho, [0]), ">=", 0.1, reading="necessary for every matrix")
    log = log_noiseless_failure(TOO_LITTLE, 1e-8)
    what = "log P(counts without noise miss the better of two), δ = 1, ε = 10⁻⁸, gap rate/160"
    worst = "necessary for the worst matrix, as Theorem 3.4 at u = 0 has it"
    yield printed(what, log, ">=", math.log(0.1), reading=worst, error=ROUNDING)
    private = noisy_counts.failure_bound(noisy_counts.SIZES, ENOUGH, 1, noise=2.0) * noisy_counts.SIZES**5
    wrong = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES).wrong.min()
    for says in (supplied, amended):
        what = f"sufficient: n⁵ × bound on P(wrong), Laplace(2L/ε), C = {ENOUGH:g}, L = 1, n to 10¹², largest"
        yield says(what, float(private.max()), "<=", 1)
        what = "necessary: guaranteed P(wrong) at rate/160, δ = ε/(10 n log n), n ≥ 4, any k, least"
        yield says(what, wrong, ">=", 0.1)


def both_rates(items: float, edges: float, voters: float, epsilon: float) -> np.ndarray:
    """The two terms of the rate under edge privacy (np = `edges`), and under individual privacy."""
    log = math.log(items)
    edge = [math.sqrt(log / edges), log / (edges * epsilon)]
    return np.array([edge, [math.sqrt(items * log / voters), items * log / (voters * epsilon)]])


@claim("cai2025:sec-4:rates-in-n")
def check_rates_in_n() -> Iterator[Check]:
    """How the two rates move with the number of items, all else fixed: term by term, from every n to the next."""
    sizes = np.unique(np.r_[3:2000, np.geomspace(2000, 1e12, 60).astype(np.int64)])
    grid = [np.array([both_rates(n, n * p, 1000.0, 0.5) for n in sizes]) for p in (0.1, 1.0)]
    falls = max(float((it[1:, 0] / it[:-1, 0]).max()) for it in grid)
    rises = min(float((it[1:, 1] / it[:-1, 1]).min()) for it in grid)
    yield printed(
        "edge privacy, p and ε fixed: a term at a larger n over the one before, n ≥ 3, largest", falls, "<", 1
    )
    yield printed("individual privacy, m and ε fixed: the same, least", rises, ">", 1)
    two, three = both_rates(2, 2, 1000, 0.5), both_rates(3, 3, 1000, 0.5)
    yield argument("edge privacy, n = 3 over n = 2: the one exception", (three[0] / two[0]).min(), ">", 1)
    n = 100
    off = [both_rates(n, n, 1000, 0.5)[0].sum() - sum(counting_rates.rate(n, 1, 0.5))]
    off += [both_rates(n, n, 1000, 0.5)[1].sum() - float(rate(n, 1000, 0.5))]
    yield agree("both rates off those of Theorems 2.3 and 3.3, n = 100", off)


def equal_total(items: Iterable[int], total: float, answers: int, epsilon: float) -> pd.DataFrame:
    """Rates at equal numbers of comparisons: ``items``, ``edge``, ``individual``, ``plain`` (no privacy)."""
    rows = []
    for n in items:
        terms = both_rates(n, total * 2 / (n - 1), total / answers, epsilon)
        rows.append({"items": n, "edge": terms[0].sum(), "individual": terms[1].sum(), "plain": terms[0, 0]})
    return pd.DataFrame(rows)


@claim("cai2025:sec-5:divergence")
def check_divergence(total: float = 1e8) -> Iterator[Check]:
    """Whether it is privacy that makes the two rates diverge in the number of items."""
    few, many = ITEMS[1], ITEMS[2]
    for answers, epsilon in product(ANSWERS, EPSILONS):
        frame = equal_total((few, many), total, answers, epsilon).set_index("items")
        change = frame.loc[many] / frame.loc[few]
        at = f"n = {many} over n = {few}, {total:.0e} comparisons, L = {answers}, ε = {epsilon:g}"
        yield printed(f"edge private rate, {at}", change.edge, "<", 1)
        ratio = equal_total(ITEMS, total, answers, epsilon)
        spread = ratio.individual / ratio.edge
        what = f"individual over edge rate at equal numbers of comparisons, L = {answers}, ε = {epsilon:g}"
        yield amended(f"{what}, least", spread.min(), ">=", math.sqrt(2 * answers) * (1 - ROUNDING))
        yield amended(f"{what}, largest", spread.max(), "<=", 3 * answers * (1 + ROUNDING))
    plain = [both_rates(n, n, 1000, 1.0)[:, 0] for n in (few, many)]
    falls, rises = plain[1] / plain[0]
    yield argument("first term, no privacy in it, p fixed: n = 100 over n = 10", falls, "<", 1)
    yield argument("first term, no privacy in it, m fixed: n = 100 over n = 10", rises, ">", 1)


@claim("cai2025:abstract:optimal")
def check_optimal() -> Iterator[Check]:
    """Four promises of optimality: both methods, under both kinds of privacy."""
    row = estimation_limits.suboptimality(16, 0.5, [1e18]).iloc[0]
    what = "individual privacy, MLE: risk, at least, over 100 × that of a private average of pairs, n = 16, m = 10¹⁸"
    yield printed(what, row.printed / (100 * row.other), "<=", 1, error=CLOSED)
    scale = algorithm_3(1.0, 3, per_person=1).mechanism.scale
    person, _ = moved_counts(1)
    yield printed(
        "individual privacy, counts: privacy loss of Algorithm 3's noisy counts, ε = 1", person / scale, "<=", 1
    )
    sure = max(counting_rates.scaled_bound(n, counting_rates.SUFFICIENT, n * n / 4, 5) for n in counting_rates.ITEMS)
    yield amended(
        f"edge privacy, counts: n⁵ P(wrong set) at {counting_rates.SUFFICIENT:g} × the threshold", sure, "<=", 1
    )
    wrong = full_ranking.recovery_errors(full_ranking.NECESSARY).min()
    what = f"edge privacy, any method, δ = ε/(n log n): P(wrong set) at {full_ranking.NECESSARY:g} × the threshold"
    yield amended(what, wrong, ">=", 0.1)
    private = noisy_counts.failure_bound(noisy_counts.SIZES, ENOUGH, 1, noise=2.0) * noisy_counts.SIZES**5
    what = f"individual privacy, counts with Laplace(2L/ε): n⁵ P(wrong set) at {ENOUGH:g} × the threshold, L = 1"
    yield amended(what, float(private.max()), "<=", 1)
    least = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES).wrong.min()
    yield amended("individual privacy, any method: P(wrong set) at 1/160 of the threshold, L = 1", least, ">=", 0.1)
