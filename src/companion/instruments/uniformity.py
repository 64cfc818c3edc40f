"""What several sections on Busa-Fekete, Fotakis and Zampetakis (2021) compute with."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from dprank.data.kendall import pairwise_kendall_distances
from dprank.models.mallows import Mallows

#: Chance that `certain` is wrong.
FALSE_ALARM = 1e-6


@cache
def all_rankings(n_items: int) -> NDArray[np.int64]:
    """Every ranking, as positions, shape (n_items!, items); at most 8 items. Read-only."""
    if not 2 <= n_items <= 8:
        raise ValueError(f"n_items = {n_items}; allowed: 2 to 8, all rankings are listed")
    rows = np.array(list(permutations(range(n_items))))
    rows.flags.writeable = False
    return rows


@cache
def all_distances(n_items: int) -> NDArray[np.uint8]:
    """Kendall distances of all pairs of rankings, in the order of `all_rankings`. Read-only."""
    distances = pairwise_kendall_distances(all_rankings(n_items)).astype(np.uint8)
    distances.flags.writeable = False
    return distances


def distance_counts(n_items: int) -> NDArray[np.int64]:
    """How many rankings stand at Kendall distance 0, 1, ... from the identity, counted."""
    return np.bincount(all_distances(n_items)[0])


def all_pairings(n_items: int) -> list[NDArray[np.int64]]:
    """Every way to cut an even number of items into pairs, each of shape (pairs, 2)."""

    def cut(items: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        if not items:
            return [[]]
        first, *rest = items
        return [[(first, other), *more] for other in rest for more in cut(tuple(i for i in rest if i != other))]

    return [np.array(pairs) for pairs in cut(tuple(range(n_items)))]


def distance_law(n_items: int, theta: float = 0.0) -> NDArray[np.float64]:
    """Probabilities of the Kendall distances 0, 1, ... from the centre, by sums of positive terms only.

    Relative precision is kept far into the tail. O(items^4).
    """
    law = np.ones(1)
    for j in range(2, n_items + 1):
        law = np.convolve(law, special.softmax(-theta * np.arange(j)))
    return law


def mean_square_bias(law: Mallows) -> float:
    """Mean over all pairs of items of the squared bias towards the centre's order: what a random pair has."""
    gap = np.arange(1, law.n_items)
    return float(((law.n_items - gap) * law.bias(gap) ** 2).sum() / law.n_pairs)


def divergence(law: Mallows) -> float:
    """Kullback-Leibler divergence of a Mallows law from the uniform one, in nats; exact."""
    return math.lgamma(law.n_items + 1) - law.log_normaliser - law.theta * law.distance_moments()[0]


def exponent(x: ArrayLike, y: ArrayLike) -> float:
    """Slope of log y against log x, by least squares."""
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def least(enough: Callable[[int], bool], start: int = 2, share: float = 0.0) -> int:
    """A number from `start` on at which `enough` (false up to some number, then true) is true, by doubling and halving.

    The least such number is below the answer by at most a `share` of it; 0 for the least one itself.
    """
    low, high = start - 1, start
    while not enough(high):
        low, high = high, 2 * high
    while high - low > max(1, math.floor(share * high)):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def spread(n_items: int, n_rankings: int, scaled: float) -> float:
    """-log phi at ``scaled`` units of ``m^(-5/4) (n - 1)^(-1/2)``, in which the power curves of all panels agree."""
    return scaled * n_items**-1.25 * (n_rankings - 1) ** -0.5


def crossing(x: ArrayLike, y: ArrayLike, level: float) -> float:
    """Where a rising power curve first reaches `level`, between grid points; NaN where it does not."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    reached = np.flatnonzero(y >= level)
    if not reached.size or reached[0] == 0:
        return math.nan
    k = reached[0]
    return float(x[k - 1] + (x[k] - x[k - 1]) * (level - y[k - 1]) / (y[k] - y[k - 1]))


def wilson(mean: ArrayLike, repetitions: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's 95 % interval for a binomial proportion; conservative for a mean of numbers between 0 and 1."""
    p, n, z = np.asarray(mean, float), np.asarray(repetitions, float), 1.96
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def certain(mean: float, repetitions: int, false_alarm: float = FALSE_ALARM) -> float:
    """How far the expectation of a number in [0, 1] can be from its mean over `repetitions` draws.

    From the Chernoff bound ``P(mean >= q) <= exp(-n KL(q, p))``, which holds for every law on [0, 1], both ways.
    """

    def relative_entropy(p: float) -> float:
        return float(special.rel_entr(mean, p) + special.rel_entr(1 - mean, 1 - p))

    limit = math.log(2 / false_alarm) / repetitions
    ends = []
    for far in (0.0, 1.0):
        low, high = mean, far
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if relative_entropy(middle) <= limit else (low, middle)
        ends.append(abs(high - mean))
    return max(ends)
