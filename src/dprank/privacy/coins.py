"""Exact laws of small random programs, from the programs themselves: every coin is followed both ways."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from itertools import permutations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Result", "law_of"]

Result = TypeVar("Result", bound=Hashable)


def law_of(run: Callable[[np.random.Generator], Result]) -> dict[Result, float]:
    """Probability of every result of a program.

    Parameters
    ----------
    run : callable
        Takes a generator, of which it may call ``choice(items)``, ``integers(n)``, ``permutation(n)``,
        ``binomial(n, p)`` and ``random()``, one draw a call; what ``random`` gives may be compared with 1/2 only.

    Returns
    -------
    dict of result to float

    Notes
    -----
    Runs the program once for every way that all its draws can fall.

    Examples
    --------
    >>> law_of(lambda rng: rng.integers(2) + rng.integers(2))
    {0: 0.25, 1: 0.5, 2: 0.25}
    """
    law: defaultdict[Result, float] = defaultdict(float)
    coins = _Coins()
    while coins.more:
        result = run(coins)
        law[result] += coins.turn()
    return dict(law)


@cache
def _chances(n: int, p: float) -> list[float]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


@cache
def _orders(items: int) -> list[tuple[int, ...]]:
    return list(permutations(range(items)))


class _Coins(np.random.Generator):
    """A generator that takes every path through a tree of draws, one after the other, the last draw first."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))
        self.more = True
        self._path: list[int] = []
        self._chances: list[Sequence[float]] = []

    def turn(self) -> float:
        """Probability of the path that was taken; the next run takes another."""
        chance = math.prod(chances[way] for way, chances in zip(self._path, self._chances, strict=True))
        while self._path and self._path[-1] + 1 == len(self._chances[len(self._path) - 1]):
            self._path.pop()
        self.more = bool(self._path)
        if self.more:
            self._path[-1] += 1
        self._chances = []
        return chance

    def _fork(self, chances: Sequence[float]) -> int:
        at = len(self._chances)
        self._chances.append(chances)
        if at == len(self._path):
            self._path.append(0)
        return self._path[at]

    def _one_of(self, ways: int) -> int:
        return self._fork([1 / ways] * ways)

    def choice(self, a: Sequence[Any]) -> Any:  # type: ignore[override]
        return a[self._one_of(len(a))]

    def integers(self, low: int) -> int:  # type: ignore[override]
        return self._one_of(low)

    def permutation(self, x: int) -> NDArray[np.int64]:  # type: ignore[override]
        orders = _orders(x)
        return np.array(orders[self._one_of(len(orders))])

    def binomial(self, n: int, p: float, size: None = None) -> int:  # type: ignore[override]
        return self._fork(_chances(n, p))

    def random(self) -> float:  # type: ignore[override]
        return (0.25, 0.75)[self._one_of(2)]
