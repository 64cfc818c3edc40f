"""Search for the worst neighbours: all pairs where there are few, climbing where there are many.

A pair that is found proves how large the privacy loss is at least; only exhaustion proves that there is no worse one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dprank._require import require_generator, require_whole
from dprank.audit.neighbours import Neighbours

__all__ = ["DRAWN", "WorstNeighbours", "climb", "worst"]

#: Neighbours drawn of data that are new to a climb.
DRAWN = 4


@dataclass(frozen=True, eq=False)
class WorstNeighbours:
    """The worst neighbours that were met.

    Parameters
    ----------
    loss : float
        Largest loss.
    data, other : object
        A pair that attains it.
    tried : int
        Pairs that were looked at.

    Examples
    --------
    >>> from dprank.audit.neighbours import ValueNeighbours
    >>> met = worst(lambda one, other: abs(one - other).sum(), [[0.0, 0.0]], ValueNeighbours())
    >>> float(met.loss), met.tried  # both values move; 3^2 - 1 moves
    (2.0, 8)
    """

    loss: float
    data: Any
    other: Any
    tried: int


def worst(loss: Callable[[Any, Any], float], starts: Iterable[Any], neighbours: Neighbours) -> WorstNeighbours:
    """Look at every neighbour of every data set.

    Parameters
    ----------
    loss : callable
        ``loss(data, other)``, the same in both directions, such as
        ``lambda *pair: exact(mechanism, *pair).epsilon(delta)``.
    starts : iterable
        Data sets: all there are, and the answer is the truth for them.
    neighbours : Neighbours
        Of each.

    Raises
    ------
    ValueError
        If no data set has a neighbour.

    Examples
    --------
    >>> from dprank.audit.neighbours import OneRanking
    >>> moved = lambda one, other: sum(abs(a - b) for a, b in zip(one, other.tolist()))
    >>> met = worst(moved, [[0, 1, 2]], OneRanking())
    >>> met.loss, met.tried  # 3! - 1 other rankings
    (4, 5)
    """
    found, tried = WorstNeighbours(-math.inf, None, None, 0), 0
    for data in starts:
        for other in neighbours.all(data):
            tried += 1
            if (here := loss(data, other)) > found.loss:
                found = WorstNeighbours(here, data, other, tried)
    if not tried:
        raise ValueError("starts have no neighbours; at least one pair is needed")
    return WorstNeighbours(found.loss, found.data, found.other, tried)


def climb(
    loss: Callable[[Any, Any], float],
    start: Callable[[np.random.Generator], Any],
    neighbours: Neighbours,
    *,
    rng: np.random.Generator,
    steps: int = 200,
    restarts: int = 4,
    moves: Sequence[Callable[[Any, np.random.Generator], Any]] = (),
    enough: float = math.inf,
) -> WorstNeighbours:
    """Climb over data and neighbour together.

    Parameters
    ----------
    loss : callable
        As of `worst`.
    start : callable
        ``start(rng)`` gives data to begin with.
    neighbours : Neighbours
    rng : numpy.random.Generator
    steps : int
        Of each climb, at least 1.
    restarts : int
        Climbs, at least 1.
    moves : sequence of callable
        ``move(data, rng)`` gives data far away, which need not be neighbours: gaps widened, votes doubled. Some bugs
        show only there.
    enough : float
        A loss at which the search ends: what is promised, if all that is asked is whether neighbours lose as much.

    Returns
    -------
    WorstNeighbours
        What exhaustion would find, or less.

    Raises
    ------
    ValueError
        If `rng` is no generator, or `steps` or `restarts` are below 1.

    Notes
    -----
    A step changes the neighbour, the data, or both by one of the moves, and stays unless the loss falls. New data are
    tried with the best of `DRAWN` neighbours, and with the old data where these are neighbours.

    Examples
    --------
    >>> from dprank.audit.neighbours import OneRanking
    >>> distance = lambda one, other: int(abs(np.subtract(one, other)).sum())
    >>> climb(distance, lambda rng: rng.permutation(3), OneRanking(), rng=np.random.default_rng(1), steps=50).loss
    4
    """
    require_generator(rng)
    require_whole("steps", steps, 1)
    require_whole("restarts", restarts, 1)
    tried, best = 0, WorstNeighbours(-math.inf, None, None, 0)

    def met(data: Any, others: Sequence[Any]) -> WorstNeighbours:
        nonlocal tried
        tried += len(others)
        losses = [loss(data, other) for other in others]
        at = int(np.argmax(losses))
        return WorstNeighbours(losses[at], data, others[at], tried)

    def fresh(data: Any) -> list[Any]:
        return [neighbours.draw(data, rng) for _ in range(DRAWN)]

    for _ in range(restarts):
        here = met(data := start(rng), fresh(data))
        for _ in range(steps):
            if here.loss >= enough:
                break
            kind = rng.random()
            if kind < 0.4:
                new = met(here.data, [neighbours.draw(here.data, rng)])
            elif kind < 0.8 or not moves:
                # along the chain of neighbours: from either end, keeping the other as one of the candidates
                end, back = (here.data, here.other) if kind < 0.6 else (here.other, here.data)
                data = neighbours.draw(end, rng)
                new = max(met(data, [end, *fresh(data)]), met(end, [back, data]), key=lambda pair: pair.loss)
            else:
                data = moves[int(rng.integers(len(moves)))](here.data, rng)
                new = met(data, fresh(data))
            if new.loss >= here.loss:
                here = new
        best = max(best, here, key=lambda pair: pair.loss)
        if best.loss >= enough:
            break
    return WorstNeighbours(best.loss, best.data, best.other, tried)
