"""Reduction I: Fact 2, Theorem 1, and the privacy of its corollaries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed.alabi2022 import corollary_3, corollary_4
from dprank.aggregation.matrix import kemeny_score
from dprank.data.kendall import kendall_distances
from dprank.privacy.gaussian import gaussian_delta

#: With this in place of the O() of Corollary 4, its noise is private for every epsilon up to log(1 / delta).
CONSTANT = (1 + math.sqrt(2)) / 2


def largest_change(orders: NDArray[np.int64], constrained: bool) -> float:
    """Largest change of the score of an order over the sum of the entries' changes; of a pair's sum being 1, or not.

    A ratio of two norms is largest at a corner of the ball of the lower one: one entry moves, or the two of one pair
    against each other.
    """
    largest = 0.0
    for pair in permutations(range(orders.shape[1]), 2):
        change = np.zeros(orders.shape[1:] * 2)
        change[pair] = 1
        if constrained:
            change = (change - change.T) / 2
        largest = max(largest, *(abs(kemeny_score(order, change)) for order in orders))
    return largest


@claim("alabi2022:fact-2")
def check_fact_2(n_items: int = 5) -> Iterator[Check]:
    """Fact 2 at its extreme points, and the half of it that the constraints allow."""
    orders = all_rankings(n_items)
    what = f"change of K over change of the matrix, largest of all {len(orders)} orders of {n_items} items"
    yield printed(f"{what}, any matrices", largest_change(orders, False), "==", 1, error=ROUNDING)
    what = f"{what}, the two entries of a pair summing to 1"
    yield amended(what, largest_change(orders, True), "==", 0.5, error=ROUNDING)


def loose_answers(alpha: float, epsilon: float, rng: np.random.Generator, repetitions: int = 1000) -> pd.Series:
    """An algorithm that trusts only fractions: ``voters``, ``error`` per answer, ``promised`` cost, mean ``cost``.

    Two items, unanimous voters, independent noise on both entries. It orders exactly where its answers are fractions
    that sum to 1, so its ratio is 1, and puts the loser first elsewhere. The voters are the fewest for which Theorem 1
    promises less than 1.
    """
    voters = math.floor(8 * (alpha + 1) / epsilon) + 1
    error = 2 / (epsilon * voters)
    answers = np.array([1.0, 0.0]) + rng.laplace(0, error, (repetitions, 2))
    fractions = (answers >= 0).all(axis=1) & (answers.sum(axis=1) == 1)
    cost = 1 - (fractions & (answers[:, 0] >= answers[:, 1])).mean()
    return pd.Series({"voters": voters, "error": error, "promised": (alpha + 1) * 4 * error, "cost": cost})


def transfer(n_items: int, alpha: float, trials: int, rng: np.random.Generator) -> float:
    """Largest (K(s, w) - alpha OPT(w)) over the sum over pairs of abs(noisy - w), for orders s good enough for `noisy`.

    Good enough: K at most alpha times the optimum of the noisy matrix, which meets the constraints. Fractions w of a
    few random voters; noise of all sizes, clipped; and an instance that attains alpha + 1: unanimous voters, noise on
    one pair.
    """
    orders = all_rankings(n_items)
    first, second = np.triu_indices(n_items, 1)
    above = orders[:, first] < orders[:, second]
    w = np.stack([above[rng.integers(0, len(orders), n)].mean(axis=0) for n in rng.integers(1, 6, trials)])
    noisy = np.clip(w + rng.normal(0, 1, w.shape) * rng.choice([0.02, 0.1, 0.5, 3.0], (trials, 1)), 0, 1)
    agreed = np.ones((2, 1, len(first)))
    agreed[1, 0, 0] = alpha / (alpha + 1)
    w, noisy = np.vstack([w, agreed[0]]), np.vstack([noisy, agreed[1]])
    cost, seen = (above @ (1 - x).T + ~above @ x.T for x in (w, noisy))
    enough = seen <= alpha * seen.min(axis=0) + ROUNDING
    excess = np.where(enough, cost, -np.inf).max(axis=0) - alpha * cost.min(axis=0)
    moved = abs(noisy - w).sum(axis=1)
    return float((excess[moved > 1e-3] / moved[moved > 1e-3]).max())


@claim("alabi2022:thm-1")
def check_thm_1(
    rng: np.random.Generator, alpha: float = 2.0, epsilon: float = 1.0, trials: int = 3000
) -> Iterator[Check]:
    """Theorem 1 with answers that are no fractions, then with answers that are."""
    loose = loose_answers(alpha, epsilon, rng)
    ratio = max(transfer(m, alpha, trials, rng) for m in (2, 3, 4))
    what = f"cost, 2 items, {loose.voters:.0f} voters who agree, ε = {epsilon:g}, α = {alpha:g}, answers as drawn"
    yield printed(what, loose.cost, "<=", loose.promised)
    excess = f"constraints met: cost beyond α OPT over the change of the matrix, 2 to 4 items, α = {alpha:g}"
    # the sum over ordered pairs is twice that over pairs
    yield supplied(f"{excess}, ordered pairs", ratio / 2, "<=", alpha + 1, error=ROUNDING)
    yield amended(f"{excess}, each pair once", ratio, "==", alpha + 1, error=1e-6)


def footnote_answers(fraction: float, noise: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Answers for i before j and j before i by footnote 2: one noise for the pair, clipped to [0, 1]."""
    answer = np.clip(fraction + noise, 0, 1)
    return answer, 1 - answer


@claim("alabi2022:sec-central:independent")
def check_independent(n_items: int = 4, scale: float = 0.1, points: int = 10_001) -> Iterator[Check]:
    """Is the noise on each fraction independent? Footnote 2 draws one for two of them, and clips."""
    every, pairs = "each of the m(m − 1) fractions", "each pair i < j, before clipping"
    noise = stats.laplace.ppf((np.arange(points) + 0.5) / points, scale=scale)
    here, there = footnote_answers(0.5, noise)
    what = f"correlation of the noise on w_ij and on w_ji, w = 1/2, Laplace noise of scale {scale:g}"
    yield printed(what, float(np.corrcoef(here, there)[0, 1]), "==", 0, reading=every, error=ROUNDING)
    spent, count = matrix_loss(n_items, 1.0), math.comb(n_items, 2)
    what = f"exact loss of the noisy fractions of {n_items} items over ε/m² times the numbers that are noised"
    yield printed(what, spent * n_items**2 / count, "==", 1, reading=pairs, error=ROUNDING)
    agreed, _ = footnote_answers(1.0, noise)
    what = f"mean noise after clipping where all voters agree, over −b/2, b = {scale:g}"
    yield amended(what, float((agreed - 1).mean() / (-scale / 2)), "==", 1, error=1e-3)
    yield amended("answers of a pair that do not add up to 1", int((here + there != 1).sum()), "==", 0)


def second_line(noise: float, scale: float, alpha: float) -> float:
    """Right side of the second line in the proof of Theorem 1, two opposite voters and two items, at one noise.

    The error of an answer is the mean size of Laplace noise, clipped at one half.
    """
    error = -scale * math.expm1(-0.5 / scale)
    return 4 * error + alpha * (0.5 - min(abs(noise), 0.5))


@claim("alabi2022:thm-1:proof")
def check_thm_1_proof(alpha: float = 1.001, scale: float = 0.01) -> Iterator[Check]:
    """The second line of the display bounds a mean by a number that the noise moves."""
    # two items, half of the voters for either order: every order costs 1/2
    left, at = 0.5, f"two items, voters in two equal halves, b = {scale:g}, α = {alpha:g}"
    # the right side falls with the size of the noise
    cut = brentq(lambda noise: second_line(noise, scale, alpha) - left, 0, 0.5)
    yield printed(
        f"{at}: chance that noise is so large that the right side is below E K", math.exp(-cut / scale), "==", 0
    )
    yield printed(f"{at}, noise 1/10: E K", left, "<=", second_line(0.1, scale, alpha))
    mean = quad(lambda noise: second_line(noise, scale, alpha) * math.exp(-noise / scale) / scale, 0, 1, points=[0.5])[
        0
    ]
    yield amended(f"{at}: E K over the mean of the right side", left / mean, "<=", 1)
    yield argument(
        f"{at}: that mean", mean, "==", 0.5 * alpha + (4 - alpha) * -scale * math.expm1(-0.5 / scale), error=1e-8
    )


def matrix_loss(n_items: int, epsilon: float) -> float:
    """Exact loss of the noisy matrix of Corollary 3: the widest move of the counts over the Laplace scale.

    One voter leaves one ranking for another: all are tried, for up to 8 items.
    """
    orders = all_rankings(n_items)
    # relabelled, the first ranking is the identity
    return float(kendall_distances(orders, orders[0]).max()) / corollary_3(n_items, epsilon).mechanism.scale


def printed_delta(n_items: int, epsilon: float, delta: float, constant: float = CONSTANT) -> float:
    """Exact least delta, at `epsilon`, of Corollary 4's noise with a constant in place of its O()."""
    noisy = corollary_4(n_items, epsilon, delta, constant=constant).mechanism
    return gaussian_delta(noisy.l2_sensitivity, noisy.scale, epsilon)


def too_large_epsilon(n_items: int, delta: float, constant: float) -> float:
    """An epsilon from which on Corollary 4's noise gives at most half the protection: exact delta above 1/2.

    The chapter shows that it tends to 1.
    """
    epsilon = 1.0
    while printed_delta(n_items, epsilon, delta, constant) <= 0.5:
        epsilon *= 2
    return epsilon


def gaussian_privacy(constants: tuple[float, ...] = (CONSTANT, 10.0, 100.0), delta: float = 1e-6) -> pd.DataFrame:
    """Where Corollary 4's noise for 10 items fails at large epsilon and at delta near 1: ``constant``; ``ε`` and ``δ
    exact`` there (claimed: `delta`); ``1 − δ claimed`` and ``1 − δ exact`` at epsilon 1.
    """
    rows = []
    for constant in constants:
        epsilon, gap = too_large_epsilon(10, delta, constant), 0.1
        while printed_delta(10, 1.0, 1 - gap, constant) <= 1 - gap:
            gap /= 10
        large, near = printed_delta(10, epsilon, delta, constant), printed_delta(10, 1.0, 1 - gap, constant)
        rows.append([constant, epsilon, large, gap, 1 - near])
    return pd.DataFrame(rows, columns=["constant", "ε", "δ exact", "1 − δ claimed", "1 − δ exact"])


def supplied_delta() -> float:
    """Largest exact delta over claimed delta of Corollary 4's noise with `CONSTANT`, epsilon up to log(1 / delta)."""
    return max(
        printed_delta(m, share * math.log(1 / delta), delta) / delta
        for m in (2, 3, 10, 100, 1000)
        for delta in (1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999)
        for share in (0.001, 0.01, 0.1, 0.3, 0.6, 0.9, 1.0)
    )
