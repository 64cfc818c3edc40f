r"""A lower bound on the privacy loss of a black box, by betting against its promise.

A promise of (epsilon, delta) says that :math:`P(A) \le e^\epsilon Q(A) + \delta` for the laws P and Q of the output at
two neighbouring data sets and every event A. Draw x = 1[output of the one in A] and y = 1[output of the other in A]:

.. math:: W \leftarrow W (1 + \lambda (x - e^\epsilon y - \delta)), \quad 0 \le \lambda < 1 / (e^\epsilon + \delta)

is a wealth that does not grow in expectation if the promise is kept, whatever pair, event and stake were chosen from
*earlier* draws. By Ville's inequality it ever reaches 1 / alpha with probability alpha at most: the audit may be
watched, stopped or prolonged at any time (Shafer 2021; Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    as_floats,
    require_below_1,
    require_generator,
    require_probability,
    require_real,
    require_whole,
)
from dprank.audit._cuts import chances, tame
from dprank.audit.events import Event, Partition, counts, proposals

__all__ = [
    "FIRST",
    "LARGEST",
    "MEMORY",
    "PARTS",
    "STAKES",
    "Judged",
    "LowerBound",
    "Plan",
    "Sampler",
    "Seen",
    "ceiling",
    "check",
    "draw_rows",
    "log_returns",
    "lower_bound",
]

# Called as sampler(data, size, rng): features of as many releases of one data set, shape (size, features).
Sampler = Callable[[Any, int, np.random.Generator], NDArray[Any]]

#: Releases of each data set of a pair before the first bet.
FIRST = 256
#: Most numbers of each data set that one round draws, and that are kept to learn from.
MEMORY = 1 << 20
#: Parts of a round, after each of which the stake is thought over.
PARTS = 16
#: Largest epsilon whose exponential is far from overflow.
LARGEST = 500.0
#: What stands for outputs that are no numbers or infinite, far from overflow when they are added up.
NAN, INFINITY = -(2.0**1000), 2.0**1001
#: Stakes tried, as shares of the largest.
STAKES = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.98])
#: Share of rounds that visit a pair whatever was seen of it.
_EXPLORE = 0.25


@dataclass(frozen=True)
class LowerBound:
    """What samples alone say of a privacy loss.

    Parameters
    ----------
    epsilon : float
        At the delta asked for, the true epsilon is larger, with the stated confidence; 0 says nothing.
    confidence : float
        Probability that `epsilon` is not above the truth, at least.
    claimed : float
        Epsilon that was promised.
    wealth : float
        Largest wealth of the bets against `claimed`; the promise is refuted at 1 / (1 - confidence).
    samples : int
        Releases drawn, of all data sets together.
    pair, swapped : int, bool
        Neighbours of the last bet against `claimed`, and whether the second of them makes the event likely.
    event : str
        In words.
    path : tuple of (int, float)
        Samples and wealth before the first round and after every one.

    Examples
    --------
    >>> found = LowerBound(epsilon=1.5, confidence=0.9, claimed=1.0, wealth=20.0, samples=4000)
    >>> found.refuted  # 20 is at least 1 / (1 - 0.9)
    True
    """

    epsilon: float
    confidence: float
    claimed: float
    wealth: float
    samples: int
    pair: int = 0
    swapped: bool = False
    event: str = ""
    path: tuple[tuple[int, float], ...] = ()

    @property
    def refuted(self) -> bool:
        """Whether the promise is shown to be broken."""
        return self.wealth >= 1 / (1 - self.confidence)


def lower_bound(
    sample: Sampler,
    pairs: Sequence[tuple[Any, Any]],
    epsilon: float,
    delta: float = 0.0,
    *,
    rng: np.random.Generator,
    confidence: float = 0.999,
    budget: int = 1_000_000,
    levels: ArrayLike = (),
    names: Sequence[str] = (),
    bits: bool = True,
) -> LowerBound:
    """Bet that a promise of privacy is broken, until it is refuted or the budget is spent.

    Parameters
    ----------
    sample : callable
        ``sample(data, size, rng)`` gives one row of numbers a release, shape (size, features). Infinities are outputs
        like any other, and so is NaN.
    pairs : sequence of (data, data)
        Neighbours, at least one pair.
    epsilon, delta : float
        What is promised: at least 0, finite; in [0, 1).
    rng : numpy.random.Generator
    confidence : float
        In (0, 1): a kept promise is refuted with probability 1 - confidence at most. An audit of M mechanisms divides
        1 - confidence by M.
    budget : int
        Most releases in all.
    levels : array_like of float
        Other epsilons to bet against. With levels above `epsilon` the audit goes on after a refutation, to find how
        large the loss is.
    names : sequence of str
        Of the features, for the event in words.
    bits : bool
        Whether to look at the lowest set bits of floats, where floating-point noise betrays its data. False audits
        the law that a mechanism of the research kind has on paper.

    Returns
    -------
    LowerBound

    Raises
    ------
    ValueError
        If a parameter is out of range, or the sampler does not return numbers of that shape.

    Notes
    -----
    A round draws as much of a pair as was seen of it before. Events are proposed on one half of that and judged on the
    other; the bet is on the event for which the judges saw the largest growth of wealth, at the pair for which it is
    largest, but a quarter of the rounds visit a pair at random. Within a round the stake is thought over after each of
    `PARTS` parts, from what the judges saw and what came since: an event that only looked promising loses little.
    O(budget) draws and about as many comparisons for each feature.

    Examples
    --------
    >>> def leak(data, size, rng):  # publishes the data as they are
    ...     return np.full((size, 1), data)
    >>> lower_bound(leak, [(3, 4)], epsilon=1.0, rng=np.random.default_rng(1), budget=4000).refuted
    True
    """
    grid, delta, goal = check(pairs, epsilon, delta, rng, confidence, budget, levels)
    claim = int(np.searchsorted(grid, epsilon))
    wealth, best = np.zeros(len(grid)), np.zeros(len(grid))  # logarithms
    samples = last = 0
    event: Event | None = None

    def draw(pair: int, size: int) -> Seen:
        nonlocal samples
        samples += 2 * size
        return Seen(*(draw_rows(sample, data, size, rng) for data in pairs[pair]))

    seen = [draw(pair, FIRST) for pair in range(len(pairs))]
    plans: dict[int, Plan] = {}
    path = [(samples, 1.0)]
    while (best < goal).any() and samples + 2 * FIRST <= budget:
        frontier = int(np.argmax(best < goal))
        for stale in sorted(set(range(len(pairs))) - set(plans)):
            plans[stale] = seen[stale].plan(grid, delta, bits)
        # without a promising bet, the pair least looked at
        pair = max(range(len(pairs)), key=lambda at: (plans[at].growth[frontier], -len(seen[at].first)))
        if rng.random() < _EXPLORE:
            pair = int(rng.integers(len(pairs)))
        plan, fresh = plans.pop(pair), draw(pair, min(len(seen[pair].first), (budget - samples) // 2))
        gains = plan.gains(fresh, grid, delta)
        best = np.maximum(best, wealth + gains.max(axis=0))
        wealth += gains[-1]
        seen[pair] = seen[pair].joined(fresh)
        if plan.bets[claim] is not None:
            last, event = pair, plan.bets[claim]
        path.append((samples, _exp(wealth[claim])))
    # levels are nested: only where all below are refuted is the chance of any error 1 - confidence
    refuted = int(np.argmin(np.append(best >= goal, False)))
    lower = float(grid[refuted - 1]) if refuted else 0.0
    told: dict[str, Any] = {} if event is None else {"swapped": event.swapped, "event": event.describe(names)}
    return LowerBound(lower, confidence, float(epsilon), _exp(best[claim]), samples, last, **told, path=tuple(path))


def ceiling(budget: int, pairs: int = 1, confidence: float = 0.999) -> float:
    """Largest epsilon that so many releases can refute: of an event that is certain for one data set, and never happens
    for the other. A promise above it is not put to the test.

    Examples
    --------
    >>> round(ceiling(1_000), 1), round(ceiling(100_000), 1)
    (3.5, 8.9)
    """
    pairs = require_whole("pairs", pairs, 1)
    rounds = (require_whole("budget", budget, 2 * FIRST * pairs + 2) - 2 * FIRST * pairs) / 2
    return max(0.0, math.log(STAKES[-1] / math.expm1(-math.log(1 - confidence) / rounds)))


def check(
    pairs: Sequence[tuple[Any, Any]],
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    confidence: float,
    budget: int,
    levels: ArrayLike,
) -> tuple[NDArray[np.float64], float, float]:
    """Epsilons to test in rising order, delta, and the logarithm of 1 / (1 - confidence); see `lower_bound`.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> grid, delta, goal = check([(3, 4)], 1.0, 0.0, np.random.default_rng(1), 0.9, 4000, levels=[2.0, 0.5])
    >>> grid.tolist(), delta, round(math.exp(goal), 6)
    ([0.5, 1.0, 2.0], 0.0, 10.0)
    """
    needed = f"it must be at least 0 and at most {LARGEST:g}"
    for name, value in [("epsilon", epsilon), *(("levels", level) for level in np.ravel(np.asarray(levels)).tolist())]:
        require_real(name, value, needed, lambda x: 0 <= x <= LARGEST)
    delta = require_below_1("delta", delta)
    require_generator(rng)
    require_probability("confidence", confidence, 1e-6)
    if not len(pairs):
        raise ValueError("pairs is empty; at least one pair of neighbours is needed")
    require_whole("budget", budget, 2 * FIRST * (len(pairs) + 1))
    return np.unique(np.append(as_floats("levels", levels), epsilon)), delta, -math.log(1 - confidence)


def draw_rows(sample: Sampler, data: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Releases of one data set, a row each.

    Raises
    ------
    ValueError
        If the sampler returns another number of rows, no features, or what are no numbers.

    Examples
    --------
    >>> draw_rows(lambda data, size, rng: np.full((size, 1), data), 3, 2, np.random.default_rng(1)).tolist()
    [[3.0], [3.0]]
    """
    drawn = np.asarray(sample(data, size, rng))
    if drawn.dtype.kind not in "biuf" or drawn.ndim != 2 or len(drawn) != size or not drawn.shape[1]:
        raise ValueError(
            f"sample returned {drawn.dtype} of shape {drawn.shape}; numbers of shape ({size}, features) are needed"
        )
    # one layout in memory: sums must round alike for both data sets
    rows = np.array(drawn, float, order="C")
    if drawn.dtype.kind == "f":
        tame(rows, NAN, INFINITY)
    return rows


@dataclass(frozen=True, eq=False)
class Plan:
    """What to bet on, level by level.

    Parameters
    ----------
    bets : list of Event or None
    growth : list of float
        Of the logarithm of wealth, a draw, as the judges saw it.
    judged : list of ndarray, shape (4,)
        Draws that judged the event: it happened to neither data set, the second, the first, both.

    Examples
    --------
    >>> seen = Seen(np.full((64, 1), 3.0), np.full((64, 1), 4.0))
    >>> plan = seen.plan(np.array([1.0]), delta=0.0, bits=False)
    >>> plan.bets[0].describe(["the release"]), plan.growth[0] > 0
    ('the release < 4', True)
    """

    bets: list[Event | None]
    growth: list[float]
    judged: list[NDArray[np.float64]]

    def gains(self, fresh: Seen, grid: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
        """Log of what the bets return on fresh draws, after every part of the round, shape (parts, levels)."""
        gained = np.zeros((PARTS, len(grid)))
        tables: dict[int, NDArray[np.float64]] = {}
        for level, event in enumerate(self.bets):
            if event is None:
                continue
            if id(event) not in tables:
                tables[id(event)] = _tables(*(event.holds(rows) for rows in fresh.ordered(event.swapped)))
            parts = tables[id(event)]
            before = self.judged[level] + np.cumsum(parts, axis=0) - parts
            returns = log_returns(float(grid[level]), delta)
            stakes = np.argmax(before @ returns.T, axis=1)  # from the past alone
            gained[:, level] = (parts * returns[stakes]).sum(axis=1).cumsum()
        return gained


@dataclass(frozen=True, eq=False)
class Seen:
    """Features of releases of two neighbouring data sets.

    Parameters
    ----------
    first, second : ndarray of float, shape (rows, features)

    Examples
    --------
    >>> seen = Seen(np.array([[3.0]]), np.array([[4.0]]))
    >>> seen.joined(seen).first.tolist(), [rows.tolist() for rows in seen.ordered(swapped=True)]
    ([[3.0], [3.0]], [[[4.0]], [[3.0]]])
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]

    def ordered(self, swapped: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The data set first that is to make an event likely."""
        return (self.second, self.first) if swapped else (self.first, self.second)

    def joined(self, fresh: Seen) -> Seen:
        """With newer ones, the latest up to `MEMORY` numbers."""
        kept = max(FIRST, MEMORY // self.first.shape[1])
        return Seen(
            np.concatenate([self.first, fresh.first])[-kept:], np.concatenate([self.second, fresh.second])[-kept:]
        )

    def judged(self, bits: bool) -> Judged:
        """Events proposed on every second row and counted on the others."""
        partitions = proposals(self.first[::2], self.second[::2], bits=bits)
        first, second = self.first[1::2], self.second[1::2]
        both = zip(counts(partitions, first), counts(partitions, second), strict=True)
        return Judged(partitions, list(both), len(first))

    def plan(self, grid: NDArray[np.float64], delta: float, bits: bool) -> Plan:
        """Best bets, with half a deviation of caution."""
        judged = self.judged(bits)
        n = judged.rows
        chance = chances(*judged.shares(), n)
        made: dict[int, Event] = {}
        plan = Plan([], [], [])
        for epsilon in grid:
            means = log_returns(float(epsilon), delta) @ chance
            at = int(np.argmax(means.max(axis=0)))
            plan.growth.append(float(means[:, at].max()))
            plan.bets.append(made.setdefault(at, judged.event(at)) if plan.growth[-1] > 0 else None)
            plan.judged.append(n * chance[:, at])
        return plan


@dataclass(frozen=True, eq=False)
class Judged:
    """Events and how often each happened in samples that did not propose it.

    Parameters
    ----------
    partitions : list of Partition
    counts : list of (ndarray, ndarray)
        `Partition.counts` of both samples.
    rows : int
        Size of either.

    Examples
    --------
    >>> judged = Seen(np.full((64, 1), 3.0), np.full((64, 1), 4.0)).judged(bits=False)
    >>> high, low = judged.shares()
    >>> judged.rows, float(high.max()), float(low[high.argmax()])
    (32, 1.0, 0.0)
    """

    partitions: list[Partition]
    counts: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    rows: int

    def shares(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of every event, how often it happened to the data set that is to make it likely, and to the other."""
        a, b = (np.concatenate([count.ravel() for count in side]) for side in zip(*self.counts, strict=True))
        n = self.rows
        return np.concatenate([a, n - b]) / n, np.concatenate([b, n - a]) / n

    def event(self, at: int) -> Event:
        """Number `at` of `shares`."""
        sizes = [count.size for count, _ in self.counts]
        swapped, at = divmod(at, sum(sizes))
        number = int(np.searchsorted(np.cumsum(sizes), at, side="right"))
        order, size = divmod(at - sum(sizes[:number]), self.counts[number][0].shape[1])
        return Event(self.partitions[number], order, size + 1, bool(swapped))


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, 700.0))


def _tables(x: NDArray[np.bool_], y: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Draws by x and y in every part of a round, shape (parts, 4)."""
    part = np.arange(len(x)) * PARTS // len(x)
    return np.bincount(4 * part + 2 * x + y, minlength=4 * PARTS).reshape(PARTS, 4).astype(float)


@lru_cache(maxsize=256)
def log_returns(epsilon: float, delta: float) -> NDArray[np.float64]:
    """Log factors of wealth for (x, y) = 00, 01, 10, 11, shape (stakes, 4): a row for each of `STAKES`.

    Examples
    --------
    >>> log_returns(1.0, 0.0)[-1].round(3).tolist()  # of the largest: little is left if y alone is 1
    [0.0, -3.912, 0.308, -0.966]
    """
    x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    returns = np.log1p(STAKES[:, None] / (math.exp(epsilon) + delta) * (x - math.exp(epsilon) * y - delta))
    returns.flags.writeable = False
    return returns
