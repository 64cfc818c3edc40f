"""Ranking by the noisy counts of voters: Theorem 3.3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import permutations, product

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.chapters.individual_privacy.voter_estimation import rate
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.two_items import overtaken
from companion.ledger.claim import Check, amended, argument, claim, content, printed
from dprank.pairwise import top_set_law

#: Our constant in Theorem 3.3, for any number of answers.
ENOUGH = 8.0
#: Numbers of answers, of items at which bounds are evaluated, and epsilons of the exact failure of two items.
ANSWERS, SIZES, BUDGETS = (1, 5), np.unique(np.r_[2:1000, np.geomspace(1000, 1e12, 50)]), (0.1, 1.0, 10.0)


def reversal_bound(n_items: ArrayLike, constant: float, answers: int = 1, noise: float = 1.0) -> NDArray[np.float64]:
    """Bound on the chance that two items a gap of C times the rate apart come out in the wrong order.

    For Laplace(s L / epsilon) noise, whatever the voters, epsilon and matrix; s is 1 as printed, privacy needs 2.
    """
    log_n = np.log(np.asarray(n_items, float))
    return np.exp(-answers * constant**2 / 8.8 * log_n) + overtaken(constant / noise * log_n)


def failure_bound(n_items: ArrayLike, constant: float, answers: int = 1, noise: float = 1.0) -> NDArray[np.float64]:
    """Bound on the failure of Algorithm 3 over the class of Theorem 3.3: n^2 / 4 pairs of items have to be in order."""
    return np.asarray(n_items, float) ** 2 / 4 * reversal_bound(n_items, constant, answers, noise)


def two_items_failure(voters: int, epsilon: float, gap: float, answers: int = 1) -> float:
    """Exact chance that Algorithm 3 puts two items in the wrong order: the first wins with chance 1/2 + gap."""
    games = voters * answers
    wins = np.arange(games + 1)
    return float(stats.binom.pmf(wins, games, 0.5 + gap) @ overtaken((2 * wins - games) * epsilon / answers))


def widest_gap(n_items: ArrayLike, tolerance: ArrayLike = 0) -> NDArray[np.float64]:
    """Largest tau_(k-u) - tau_(k+u+1) that any matrix of probabilities has, for every k: 1/2 + u / n."""
    return 0.5 + np.asarray(tolerance, float) / np.asarray(n_items, float)


def least_voters(n_items: int, epsilon: float, gap: float, constant: float = ENOUGH) -> int:
    """The smallest number of voters for which `constant` times the rate is at most `gap`."""
    root = epsilon / 2 * (math.sqrt(1 + 4 * gap / (constant * epsilon)) - 1)
    return math.ceil(n_items * math.log(n_items) / root**2)


def voters_needed(n_items: Iterable[int], epsilons: Iterable[float]) -> pd.DataFrame:
    """Voters from which on Theorem 3.3 and its corollary speak of any matrix at all, with our constant.

    Columns: ``items``, ``epsilon``, ``top set`` (exact recovery of some top set), ``ranking`` (of all items).
    """
    cases = list(product(n_items, epsilons))
    rows = [(n, e, least_voters(n, e, float(widest_gap(n))), least_voters(n, e, 1 / n)) for n, e in cases]
    return pd.DataFrame(rows, columns=["items", "epsilon", "top set", "ranking"])


@claim("cai2025:thm-3.3")
def check_thm_3_3() -> Iterator[Check]:
    """Theorem 3.3 with C = 8: our bound for all cases, and two items exactly where the class begins."""
    s = np.linspace(1e-3, 1 / 2.2, 1000)
    steps = ((np.cosh(s) - 1) / s**2).max()
    yield argument("step of our proof: largest (cosh s − 1)/s² for s up to 1/2.2", steps, "<=", 0.55)
    yield argument("the same: at s = 1/2.2", steps, "==", 2.2**2 * (math.cosh(1 / 2.2) - 1), error=ROUNDING)
    for answers in ANSWERS:
        worst = float((failure_bound(SIZES, ENOUGH, answers) * SIZES**5).max())
        what = f"n^5 × bound on the failure, C = {ENOUGH:g}, L = {answers}, worst of {SIZES.size} n up to 10^12"
        yield printed(what, worst, "<=", 1)
        closed = 32 * (2 ** (-answers * 64 / 8.8) + 2**-9 * (1 + 4 * math.log(2)))
        yield agree("the same, off its value at n = 2", worst - closed)
    exact = []
    for epsilon in BUDGETS:
        m = least_voters(2, epsilon, 0.5)
        gap = float(ENOUGH * rate(2, 10 * m, epsilon))
        for answers in ANSWERS:
            exact += [two_items_failure(m, epsilon, 0.5, answers), two_items_failure(10 * m, epsilon, gap, answers)]
        asked = ENOUGH * float(rate(2, m - 1, epsilon))
        yield argument(f"gap asked of two items with one voter less than m = {m:,}, ε = {epsilon:g}", asked, ">", 0.5)
    what = f"2^5 × exact failure, 2 items, largest of {len(exact)} cases of m, ε and L, gap C × rate"
    yield printed(f"{what}, C = {ENOUGH:g}; two items are far from the worst", 2**5 * max(exact), "<=", 1)
    little = two_items_failure(10**5, 1e-3, float(rate(2, 10**5, 1e-3)))
    yield argument("2^5 × exact failure, 2 items, m = 10^5, ε = 0.001: C = 1 is too small", 2**5 * little, ">", 1)
    law = stats.binom.pmf(range(4), 3, 0.7) @ [top_set_law([w, 3 - w], 1 / 0.7, 1)[1,] for w in range(4)]
    off = two_items_failure(3, 0.7, 0.2) - law
    yield agree("exact failure of three voters, off the mixture of the laws of the top set", off)
    yield content(*room_for(16, float(widest_gap(16)), "widest gap", "u = 0"))


def room_for(items: int, gap: float, name: str, at: str, voters: int = 10**6) -> tuple[str, float, str, float]:
    """How often the gap that is asked for goes into one that there is."""
    what = f"{name} over the gap asked for, {at}, n = {items}, m = {voters:,}, ε = 1"
    return what, gap / (ENOUGH * float(rate(items, voters, 1.0))), ">=", 1


def draw_moments(rho: NDArray[np.float64], a: int, b: int) -> dict[str, float]:
    """What one answer adds to N_a - N_b, by listing what it can be; `rho` is 1/2 on the diagonal.

    ``mean``, ``second`` moment, ``printed mean``, ``closed second``; ``direct``, ``square``, ``joint``: chances that
    the pair of a and b, a win of one of them against the first other item (d_j is not 0), or both are drawn;
    ``printed square``: what Appendix B.4 has for the second.
    """
    rho = np.asarray(rho, float)
    n = len(rho)
    if rho.shape != (n, n) or not np.allclose(rho + rho.T, 1):
        raise ValueError(f"rho has shape {rho.shape}; a square matrix with rho + rho.T = 1 is needed")
    pairs = math.comb(n, 2)
    third = next((j for j in range(n) if j not in (a, b)), -1)
    winner, loser = np.indices((n, n))
    chance = np.where(winner == loser, 0, rho) / pairs
    term = (winner == a) * 1.0 - (winner == b)
    second, first = (np.isin(winner, (a, b)) & np.isin(loser, others) for others in (third, (a, b)))
    x, y = (chance[[a, b], third]) if third >= 0 else (0.0, 0.0)
    tau = rho.mean(1)
    return {
        "mean": (chance * term).sum(),
        "second": (chance * term**2).sum(),
        "direct": chance[first].sum(),
        "joint": chance[first & second].sum(),
        "printed mean": n / pairs * (tau[a] - tau[b]),
        "closed second": (n * (tau[a] + tau[b]) - 1) / pairs,
        "square": chance[second].sum(),
        "printed square": x * (1 - y) + y * (1 - x),
    }


def random_matrix(n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Winning probabilities, uniform above the diagonal."""
    rho = np.full((n_items, n_items), 0.5)
    first, second = np.triu_indices(n_items, 1)
    rho[first, second] = rng.random(first.size)
    rho[second, first] = 1 - rho[first, second]
    return rho


def tails_of_the_proof(n: int = 100, c: float = 8.0) -> Iterator[Check]:
    """The tails of counts and of noise that Appendix B.4 prints, at many voters and at the paper's five answers."""
    voters, log = 1e12, math.log(n)
    extra = c * (math.sqrt(voters * log / n) + log)  # epsilon = 1
    exponent = c**2 * voters * log / n / (4 * voters / n - extra + 2 / 3 * extra)
    what = f"exponent of the printed Bernstein bound over C² log n, C = {c:g}, n = {n}, m = 10¹², ε = 1"
    yield printed(what, exponent / (c**2 * log), ">=", 1)
    log_chance = math.log(float(overtaken(40 * log / 5)))
    what = f"log P(two Laplace(L/ε) differ by C log n/ε) over −(C/4) log n, L = 5, C = 40, n = {n}"
    yield printed(what, log_chance / (-10 * log), ">=", 1)


@claim("cai2025:thm-3.3:proof")
def check_thm_3_3_proof(rng: np.random.Generator) -> Iterator[Check]:
    """Appendix B.4: the mean of the count difference, the independence of its terms, the final bound."""
    sizes = [2, 3, 4, 7, 12]
    moments = [draw_moments(random_matrix(n, rng), 0, 1) for n in sizes for _ in range(5)]
    off = max(abs(x["mean"] - x["printed mean"]) for x in moments)
    cases = f"{len(moments)} random matrices, n = 2 to 12"
    even = draw_moments(np.full((3, 3), 0.5), 0, 1)
    depend = even["joint"] - even["direct"] * even["square"]
    n, constants = np.array([2.0, 3, 4, 6, 16, 100, 1e4, 1e8]), np.arange(0.5, 40.5, 0.5)
    as_printed = np.array([[min(1, x**2 * (x ** -(c**2) + x ** (-c / 4))) for x in n] for c in constants])
    ratio = max(
        float((np.minimum(1, failure_bound(n, c, answers)) / row).max())
        for answers in (1, 2, 5)
        for c, row in zip(constants, as_printed, strict=True)
    )
    second = max(abs(x["second"] - x["closed second"]) for x in moments)
    yield from tails_of_the_proof()
    yield amended(f"error of the printed mean of N_a − N_b per answer, {cases}", off, "==", 0, error=ROUNDING)
    what = "P(d_0 ≠ 0 and d_j ≠ 0) − product of their chances, one answer, 3 items, ρ = ½"
    yield printed(what, depend, "==", 0, error=ROUNDING)
    what = "second moment of d_j, 3 items, ρ = ½, against the printed one"
    yield printed(what, even["square"], "==", even["printed square"], error=ROUNDING)
    yield amended("proved failure over the printed bound (both cut at 1), C = 0.5 to 40", ratio, "<=", 1)
    what = f"error of (n(τ_a + τ_b) − 1)/pairs as second moment of an answer, {cases}"
    yield amended(what, second, "==", 0, error=ROUNDING)
    worst = float((failure_bound(n, ENOUGH) * n**5).max())
    yield amended("proved failure × n^5, C = 8, L = 1, worst n", worst, "<=", 1)


@claim("cai2025:sec-3.3:rank-all")
def check_rank_all() -> Iterator[Check]:
    """The ranking of all items: the union bound, and whether any matrix has such gaps."""
    for answers in ANSWERS:
        worst = float((SIZES * (SIZES - 1) / 2 * reversal_bound(SIZES, ENOUGH, answers) * SIZES**4).max())
        what = f"n^4 × bound on a wrong ranking, all pairs, C = {ENOUGH:g}, L = {answers}"
        yield printed(f"{what}, worst of {SIZES.size} n up to 10^12", worst, "<=", 1)
        closed = 16 * (2 ** (-answers * 64 / 8.8) + 2**-9 * (1 + 4 * math.log(2)))
        yield agree("the same, off its value at n = 2", worst - closed)
    gaps = np.diff(clear_ranking(16).mean(1)[::-1])
    yield content(*room_for(16, float(gaps.min()), "least gap of the clearest ranking", "all items"))
    yield agree("gaps of the clearest ranking off 1/n, n = 16", gaps - 1 / 16)


def clear_ranking(n_items: int) -> NDArray[np.float64]:
    """Winning probabilities of items of which the better always wins: all gaps of tau are 1 / n, the most possible."""
    return np.triu(np.ones((n_items, n_items)), 1) + 0.5 * np.eye(n_items)


def count_numbers() -> dict[str, str]:
    """Numbers of the text on Theorem 3.3."""
    n = np.arange(2.0, 1000)
    worst = float((failure_bound(n, ENOUGH) * n**5).max())
    return {
        "voter-cosh": f"{(math.cosh(1 / 2.2) - 1) * 2.2**2:.3f}",
        "voter-eighth": f"{math.ceil(100 * worst) / 100:.2f}",
    }


def count_moves(n_items: int, users: int, answers: int, whole: bool) -> int:
    """Largest change of the win counts in l1 when one answer, or all of one person, are replaced, by listing."""
    wins = [[int(i == winner) for i in range(n_items)] for winner, _ in permutations(range(n_items), 2)]
    kinds = range(len(wins))
    data = list(product(product(kinds, repeat=answers), repeat=users))
    counts = np.array([np.sum([wins[a] for person in one for a in person], 0) for one in data])
    flat = np.array(data)
    persons = (flat[:, None] != flat).any(-1).sum(-1)
    single = (flat[:, None] != flat).sum((-1, -2))
    near = persons == 1 if whole else single == 1
    moved = np.abs(counts[:, None] - counts).sum(-1)
    return int(moved[near].max())


@claim("cai2025:sec-3.1:stronger")
def check_stronger(n_items: int = 3, answers: int = 2, epsilon: float = 1.0) -> Iterator[Check]:
    """Whether protecting all answers of a person asks for more than protecting one: noisy counts, all small data."""
    one, all_of = (count_moves(n_items, 1, answers, whole) for whole in (False, True))
    of = f"{n_items} items, one person, L = {answers}, ε = {epsilon:g}"
    what = "privacy loss of noisy counts"
    yield printed(f"{what} for one answer, noise for all of a person, {of}", epsilon * one / all_of, "<=", epsilon)
    yield printed(f"{what} for all answers of a person, noise for one, {of}", epsilon * all_of / one, ">", epsilon)
    yield agree("change of the counts off 2 for an answer, 2L for a person", [one - 2, all_of - 2 * answers])
