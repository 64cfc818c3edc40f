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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_at_least_0, require_below_1, require_generator, require_probability, require_whole
from dprank.audit.events import Event, proposals

#: Draws one data set gives: features of as many releases, shape (size, features).
Sampler = Callable[[Any, int, np.random.Generator], NDArray[Any]]

#: Releases of each data set of a pair before the first bet.
FIRST = 256
#: Most releases of each data set that one round draws, and that are kept to learn from.
ROUND, MEMORY = 1 << 17, 1 << 16
#: Stakes tried, as shares of the largest.
_STAKES = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9, 0.98])
#: Share of rounds that visit a pair other than the best so far.
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
        Samples and wealth after every round.
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
        ``sample(data, size, rng)`` gives one row of numbers a release, shape (size, features).
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

    Notes
    -----
    Rounds double in length. Before each, events are proposed on one half of what was seen of a pair and judged on the
    other, and the stake maximises the growth that the judges saw. A quarter of the rounds go to other pairs. O(budget)
    draws and about as many comparisons for each feature.
    """
    require_at_least_0("epsilon", epsilon)
    require_below_1("delta", delta)
    require_generator(rng)
    require_probability("confidence", confidence)
    require_whole("budget", budget, 4 * FIRST)
    if not len(pairs):
        raise ValueError("pairs is empty; at least one pair of neighbours is needed")
    grid = np.unique(np.r_[epsilon, np.asarray(levels, float)])
    claim, goal = int(np.searchsorted(grid, epsilon)), -math.log(1 - confidence)
    wealth, best = np.zeros(len(grid)), np.zeros(len(grid))  # logarithms
    samples, path, last = 0, [(0, 1.0)], ("", 0, False)

    def draw(pair: int, size: int) -> _Seen:
        nonlocal samples
        samples += 2 * size
        return _Seen(*(np.asarray(sample(data, size, rng), float).reshape(size, -1) for data in pairs[pair]))

    seen = [draw(pair, FIRST) for pair in range(len(pairs))]
    plans = [past.plan(grid, delta, bits) for past in seen]
    size = FIRST
    while (best < goal).any() and samples + 2 * size <= budget:
        frontier = int(np.argmax(best < goal))
        # without a promising bet, the pair least looked at
        pair = max(range(len(pairs)), key=lambda at: (plans[at].growth[frontier], -len(seen[at].first)))
        if rng.random() < _EXPLORE:
            pair = int(rng.integers(len(pairs)))
        plan, fresh = plans[pair], draw(pair, size)
        wealth += plan.gains(fresh, grid, delta)
        best = np.maximum(best, wealth)
        seen[pair] = seen[pair].joined(fresh)
        plans[pair] = seen[pair].plan(grid, delta, bits)
        if (event := plan.bets[claim]) is not None:
            last = (event.describe(names), pair, event.swapped)
        path.append((samples, _exp(wealth[claim])))
        size = max(FIRST, min(2 * size, ROUND, (budget - samples) // 2))
    # levels are nested: only where all below are refuted is the chance of any error 1 - confidence
    refuted = int(np.argmin(np.r_[best >= goal, False]))
    lower = float(grid[refuted - 1]) if refuted else 0.0
    return LowerBound(
        lower, confidence, float(epsilon), _exp(best[claim]), samples, last[1], last[2], last[0], tuple(path)
    )


def _exp(logarithm: float) -> float:
    return math.exp(min(logarithm, 700.0))


@dataclass(frozen=True, eq=False)
class _Plan:
    """Of every level the event to bet on, or none, the stake, and the growth of wealth a draw that it promises."""

    bets: list[Event | None]
    stakes: list[float]
    growth: list[float]

    def gains(self, fresh: _Seen, grid: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
        """Log of what the bets return on fresh draws."""
        gained = np.zeros(len(grid))
        happened: dict[int, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}
        for level, event in enumerate(self.bets):
            if event is None:
                continue
            if id(event) not in happened:
                happened[id(event)] = event.holds(fresh.first), event.holds(fresh.second)
            x, y = happened[id(event)][:: -1 if event.swapped else 1]
            table = np.array([[np.sum(~x & ~y), np.sum(~x & y)], [np.sum(x & ~y), np.sum(x & y)]])
            gained[level] = (table * _returns(self.stakes[level], float(grid[level]), delta)).sum()
        return gained


@dataclass(frozen=True, eq=False)
class _Seen:
    """Features of releases of two neighbouring data sets."""

    first: NDArray[np.float64]
    second: NDArray[np.float64]

    def joined(self, fresh: _Seen) -> _Seen:
        """With newer ones, the latest `MEMORY`."""
        return _Seen(
            np.concatenate([self.first, fresh.first])[-MEMORY:], np.concatenate([self.second, fresh.second])[-MEMORY:]
        )

    def plan(self, grid: NDArray[np.float64], delta: float, bits: bool) -> _Plan:
        """Best bets: events proposed on every second row, judged on the others, with half a deviation of caution."""
        partitions = proposals(self.first[::2], self.second[::2], bits=bits)
        first, second = self.first[1::2], self.second[1::2]
        counts = [(ranked.counts(first), ranked.counts(second)) for ranked in partitions]
        where = [(at, size) for at, (a, _) in enumerate(counts) for size in range(1, len(a) + 1)]
        a, b = (np.concatenate(side) for side in zip(*counts, strict=True))
        n = len(first)
        # the first cells, and all the others with the data sets swapped
        high, low = np.r_[a, n - b] / n, np.r_[b, n - a] / n
        p = np.maximum(high - 0.5 * np.sqrt(high * (1 - high) / n), 0)
        q = np.minimum(low + 0.5 * np.sqrt(low * (1 - low) / n) + 0.5 / n, 1)
        chance = np.array([[(1 - p) * (1 - q), (1 - p) * q], [p * (1 - q), p * q]])
        made: dict[int, Event] = {}
        bets: list[Event | None] = []
        stakes, growth = [], []
        for epsilon in grid:
            returns = np.array([_returns(stake, float(epsilon), delta) for stake in _STAKES])
            means = np.einsum("sxy,xye->se", returns, chance)
            stake, at = divmod(int(np.argmax(means)), means.shape[1])
            swapped, row = divmod(at, len(where))
            event = made.setdefault(at, Event(partitions[where[row][0]], where[row][1], bool(swapped)))
            growth.append(float(means[stake, at]))
            bets.append(event if growth[-1] > 0 else None)
            stakes.append(float(_STAKES[stake]))
        return _Plan(bets, stakes, growth)


def _returns(stake: float, epsilon: float, delta: float) -> NDArray[np.float64]:
    """Log factors of wealth by x and y, for a share of the largest stake."""
    largest = 1 / (math.exp(epsilon) + delta)
    x, y = np.ix_([0.0, 1.0], [0.0, 1.0])
    return np.log1p(stake * largest * (x - math.exp(epsilon) * y - delta))
