"""Neighbours of data under every adjacency, all of them or at random, and the largest moves of scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dprank._require import as_floats, require_whole
from dprank.data.comparisons import Comparisons, Design
from dprank.data.rankings import Rankings
from dprank.privacy.guarantee import Adjacency, Unit

__all__ = [
    "ComparisonNeighbours",
    "Edges",
    "Neighbours",
    "OneRanking",
    "RankingNeighbours",
    "ValueNeighbours",
    "edge_data",
    "voter_scores",
    "worst_pair",
]

# items of a pair in ascending order, and who won; and whose answer it is
_Answer: TypeAlias = tuple[int, int, float]
_Row: TypeAlias = tuple[int, int, float, int]


class Edges(NamedTuple):
    """All data with at most one comparison a pair, and which of them are neighbours.

    Examples
    --------
    >>> wins, neighbours = edge_data(2)
    >>> wins.tolist(), neighbours  # nothing compared, won by the first, won by the second
    ([[0, 0], [1, 0], [0, 1]], [(1, 2)])
    """

    wins: NDArray[np.int64]  # (data sets, items)
    neighbours: list[tuple[int, int]]


def edge_data(n_items: int) -> Edges:
    """Every outcome of every comparison graph, and all edge-adjacent pairs (Cai et al. 2025, Section 2.1).

    Two data sets are adjacent if one outcome differs, or one compared pair with its outcome is another.

    Parameters
    ----------
    n_items : int
        At least 2. There are 3^(n (n - 1) / 2) data sets: 27 for 3 items, 729 for 4.

    Examples
    --------
    >>> edges = edge_data(3)
    >>> edges.wins.shape, all(abs(edges.wins[a] - edges.wins[b]).sum() <= 2 for a, b in edges.neighbours)
    ((27, 3), True)
    """
    pairs = list(combinations(range(n_items), 2))
    # of a pair: not compared, won by its first item, won by its second
    data = list(product((None, 0, 1), repeat=len(pairs)))
    index = {d: row for row, d in enumerate(data)}
    wins = np.zeros((len(data), n_items), np.int64)
    for row, outcomes in enumerate(data):
        for pair, winner in zip(pairs, outcomes, strict=True):
            if winner is not None:
                wins[row, pair[winner]] += 1

    def adjacent(outcomes: tuple[int | None, ...]) -> Iterator[tuple[int | None, ...]]:
        for gone, winner in enumerate(outcomes):
            if winner is None:
                continue
            yield (*outcomes[:gone], 1 - winner, *outcomes[gone + 1 :])
            rest = (*outcomes[:gone], None, *outcomes[gone + 1 :])
            for new in range(len(pairs)):
                if new != gone and rest[new] is None:
                    for won in (0, 1):
                        yield (*rest[:new], won, *rest[new + 1 :])

    return Edges(
        wins, [(row, index[other]) for row, d in enumerate(data) for other in adjacent(d) if row < index[other]]
    )


def voter_scores(n_items: int, answers: int, *, repeats: bool, ties: bool, score: str) -> NDArray[np.int64]:
    """Every score vector that the answer sheet of one voter can give.

    Parameters
    ----------
    n_items, answers : int
        Sheets with 0 .. answers comparisons.
    repeats : bool
        Whether a pair may be answered more than once.
    ties : bool
        Whether an answer may be undecided.
    score : {"wins", "net"}

    Returns
    -------
    ndarray of int, shape (distinct vectors, items)
        The cost grows with their number, which answer sheets reach one answer at a time.

    Examples
    --------
    >>> voter_scores(2, 1, repeats=False, ties=False, score="net").tolist()
    [[-1, 1], [0, 0], [1, -1]]
    """
    lost = {"wins": 0, "net": -1}[score]
    # a vector is a number, its entries, each of -answers .. answers, the digits: sums and order are those of vectors
    base = 2 * answers + 1
    unit = [base**place for place in reversed(range(n_items))]
    pairs = combinations(unit, 2)
    moves = [[*[0] * ties, i + lost * j, j + lost * i] for i, j in pairs]
    reached = {0}
    if repeats:
        for _ in range(answers):
            reached |= {s + gain for s in reached for gains in moves for gain in gains}
    else:
        counted = {(0, 0)}
        for gains in moves:
            counted |= {(used + 1, s + gain) for used, s in counted if used < answers for gain in gains}
        reached = {s for _, s in counted}
    codes = np.array(sorted(reached), object) + answers * sum(unit)
    return np.array(codes[:, None] // np.array(unit, object) % base, np.int64) - answers


def worst_pair(scores: NDArray[np.int64]) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The largest l1 distance between two rows, and two rows that attain it.

    The distance is the largest signed sum of the difference, and for given signs each row can be chosen alone.
    O(2^items * rows).

    Examples
    --------
    >>> distance, one, other = worst_pair(np.array([[0, 0], [0, 1], [2, 0]]))
    >>> distance, sorted([one.tolist(), other.tolist()])
    (3, [[0, 1], [2, 0]])
    """
    best = (-1, 0, 0)
    for signs in product((-1, 1), repeat=scores.shape[1]):
        along = scores @ np.array(signs)
        a, b = int(along.argmax()), int(along.argmin())
        best = max(best, (int(along[a] - along[b]), a, b))
    return best[0], scores[best[1]], scores[best[2]]


# --- data that are neighbours of given ones --------------------------------------------------------------------------


class Neighbours(Protocol):
    """One adjacency: which data are neighbours of given ones.

    Examples
    --------
    >>> kept: Neighbours = RankingNeighbours("add_remove")
    >>> [len(other) for other in kept.all(Rankings([[0, 1]], "ab"))]  # one removed, or either of two added
    [0, 2, 2]
    """

    def all(self, data: Any) -> Iterator[Any]:
        """Every neighbour, once or more often; where there are few enough to list."""
        ...

    def draw(self, data: Any, rng: np.random.Generator) -> Any:
        """One of them at random: each has a chance."""
        ...


@dataclass(frozen=True)
class ComparisonNeighbours:
    """Neighbours of comparisons.

    Parameters
    ----------
    unit : {"comparison", "voter"}
        What differs: one comparison, or all the answers of one voter.
    adjacency : {"replace", "add_remove"}
        By any other value of it, which flips or moves an edge, or by adding or removing it.
    answers : int
        Public bound on the comparisons of one voter.
    design : {"any", "once", "complete", "matching"}
        As in `dprank.pairwise.l1_sensitivity`. Where one comparison is the unit, "once" says that no pair is compared
        twice in all the data, as in the comparison graphs of Cai et al. (2025).
    ties : bool
        Whether an answer may be undecided.

    Notes
    -----
    Under replacement a voter without answers is one of the data, though no row shows it: their sheet may be filled.
    One comparison has n (n - 1) / 2 times 2 values, 3 with ties; the sheets of a voter with L answers are about as many
    to the power of L.

    Examples
    --------
    >>> data = Comparisons([0], [1], [1.0], ["roads", "schools"])
    >>> [other.outcome.tolist() for other in ComparisonNeighbours().all(data)]  # the other one wins
    [[0.0]]
    """

    unit: Unit = "comparison"
    adjacency: Adjacency = "replace"
    answers: int = 1
    design: Design = "any"
    ties: bool = False

    def all(self, data: Comparisons) -> Iterator[Comparisons]:
        """Every neighbour: O(comparisons + voters * sheets) of them."""
        rows = _rows(data)
        if self.unit == "comparison":
            yield from (_comparisons(new, data.items) for new in self._edges(rows, data.n_items))
            return
        for who in dict.fromkeys(row[3] for row in rows):
            others = [row for row in rows if row[3] != who]
            if self.adjacency == "add_remove":
                yield _comparisons(others, data.items)
                continue
            own = [row[:3] for row in rows if row[3] == who]
            for sheet in self.sheets(data.n_items):
                if sorted(sheet) != sorted(own):
                    yield _comparisons([*others, *((*answer, who) for answer in sheet)], data.items)
        if self.adjacency == "add_remove" or self.design != "complete":
            new = 1 + max((row[3] for row in rows), default=-1)
            for sheet in self.sheets(data.n_items):
                if sheet:
                    yield _comparisons([*rows, *((*answer, new) for answer in sheet)], data.items)

    def draw(self, data: Comparisons, rng: np.random.Generator) -> Comparisons:
        """One neighbour at random, without listing any; the data themselves where that gives none."""
        rows = _rows(data)
        voters = list(dict.fromkeys(row[3] for row in rows))
        units: list[int | None] = [*(range(len(rows)) if self.unit == "comparison" else voters)]
        if self.adjacency == "add_remove" and (not units or rng.random() < 0.5):
            at = None
        else:
            silent = self.adjacency == "replace" and self.unit == "voter" and self.design != "complete"
            units += [None] * silent
            if not units:
                return data
            at = units[int(rng.integers(len(units)))]
        column = [*range(len(rows))] if self.unit == "comparison" else [row[3] for row in rows]
        kept = [row for row, unit in zip(rows, column, strict=True) if unit != at]
        if self.adjacency == "add_remove" and at is not None:
            return _comparisons(kept, data.items)
        if self.unit == "comparison":
            who, count = (0 if at is None else rows[at][3]), 1
        else:
            who = 1 + max(voters, default=-1) if at is None else at
            count = self.answers if self.design == "complete" else int(rng.integers(0, self.answers + 1))
        return _comparisons([*kept, *((*answer, who) for answer in self._sheet(kept, count, data, rng))], data.items)

    def sheets(self, n_items: int) -> Iterator[tuple[_Answer, ...]]:
        """Every answer sheet that one voter may give, each order of the same answers once."""
        pairs, values = list(combinations(range(n_items), 2)), self._values
        for size in [self.answers] if self.design == "complete" else range(self.answers + 1):
            choose = combinations_with_replacement if self.design == "any" else combinations
            one = [(i, j, value) for i, j in pairs for value in values]
            for sheet in choose(one, size):
                asked = [answer[:2] for answer in sheet]
                named = [*chain(*asked)] if self.design == "matching" else asked
                if self.design == "any" or len(set(named)) == len(named):
                    yield sheet

    @property
    def _values(self) -> tuple[float, ...]:
        return (0.0, 0.5, 1.0) if self.ties else (0.0, 1.0)

    def _edges(self, rows: list[_Row], n_items: int) -> Iterator[list[_Row]]:
        one = [(i, j, value) for i, j in combinations(range(n_items), 2) for value in self._values]
        if self.adjacency == "add_remove":
            yield from ([*rows[:at], *rows[at + 1 :]] for at in range(len(rows)))
            yield from ([*rows, (*new, 0)] for new in self._free(one, rows))
            return
        for at, row in enumerate(rows):
            rest = [*rows[:at], *rows[at + 1 :]]
            for new in self._free(one, rest):
                if new != row[:3]:
                    yield [*rows[:at], (*new, row[3]), *rows[at + 1 :]]

    def _free(self, one: list[_Answer], rows: list[_Row]) -> list[_Answer]:
        """Comparisons that may be added."""
        taken = {row[:2] for row in rows} if self.design == "once" else set()
        return [new for new in one if new[:2] not in taken]

    def _sheet(self, kept: list[_Row], count: int, data: Comparisons, rng: np.random.Generator) -> list[_Answer]:
        pairs = list(combinations(range(data.n_items), 2))
        if self.unit == "comparison" and self.design == "once":
            pairs = sorted({*pairs} - {row[:2] for row in kept})
        count = min(count, len(pairs)) if self.design != "any" else count
        if self.design == "matching":
            order = rng.permutation(data.n_items)[: 2 * min(count, data.n_items // 2)].reshape(-1, 2)
            pairs = [(int(min(two)), int(max(two))) for two in order]
            count = len(pairs)
        chosen = rng.choice(len(pairs), count, replace=self.design == "any")
        return [(*pairs[pair], self._values[int(rng.integers(len(self._values)))]) for pair in chosen]


@dataclass(frozen=True)
class RankingNeighbours:
    """Neighbours of rankings: one voter's replaced by any other, or one added or removed.

    Parameters
    ----------
    adjacency : {"replace", "add_remove"}
    least : int
        Fewest voters: none is removed from so few.

    Examples
    --------
    >>> data = Rankings([[0, 1], [0, 1]], "ab")
    >>> [other.positions.tolist() for other in RankingNeighbours().all(data)]
    [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    """

    adjacency: Adjacency = "replace"
    least: int = 0

    def all(self, data: Rankings) -> Iterator[Rankings]:
        """Every neighbour: voters * (items! - 1) of them, or voters + items!."""
        positions = data.positions.tolist()
        if self.adjacency == "add_remove":
            if len(positions) > self.least:
                yield from (_rankings([*positions[:v], *positions[v + 1 :]], data) for v in range(len(positions)))
            yield from (_rankings([*positions, list(new)], data) for new in permutations(range(data.n_items)))
            return
        for v, old in enumerate(positions):
            for new in permutations(range(data.n_items)):
                if list(new) != old:
                    yield _rankings([*positions[:v], list(new), *positions[v + 1 :]], data)

    def draw(self, data: Rankings, rng: np.random.Generator) -> Rankings:
        """One neighbour at random, reversed rankings among them every second time."""
        positions = data.positions.tolist()
        removable = len(positions) > self.least
        if self.adjacency == "add_remove" and (not removable or rng.random() < 0.5):
            return _rankings([*positions, rng.permutation(data.n_items).tolist()], data)
        if not positions:
            return data
        v = int(rng.integers(len(positions)))
        rest = [*positions[:v], *positions[v + 1 :]]
        if self.adjacency == "add_remove":
            return _rankings(rest, data)
        new = rng.permutation(data.n_items).tolist()
        if rng.random() < 0.5:
            new = [data.n_items - 1 - place for place in positions[v]]
        return _rankings([*positions[:v], new, *positions[v + 1 :]], data)


@dataclass(frozen=True)
class OneRanking:
    """Neighbours of the ranking of one voter, as positions, under local privacy: all others of as many items.

    Examples
    --------
    >>> [other.tolist() for other in OneRanking().all([0, 1])], len(list(OneRanking().all([0, 1, 2])))
    ([[1, 0]], 5)
    """

    def all(self, data: Any) -> Iterator[NDArray[np.int64]]:
        """Every other ranking."""
        given = tuple(np.asarray(data).tolist())
        yield from (np.array(new) for new in permutations(range(len(given))) if new != given)

    def draw(self, data: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """One ranking at random."""
        return rng.permutation(len(data))


@dataclass(frozen=True)
class ValueNeighbours:
    """Neighbours of a vector of values, each of which one record may move.

    Parameters
    ----------
    sensitivity : float
        Most that one value may move, above 0.
    adjacency : {"replace", "add_remove"}
        Whether values may move in any directions, or all in one.
    contributions : int, optional
        Most values that may move, where that is public: twice as many under replacement, once up and once down.
    steps : int
        Moves tried are whole multiples of the sensitivity over this: 1 for corners only.

    Examples
    --------
    >>> upwards = ValueNeighbours(adjacency="add_remove", contributions=1)
    >>> [other.tolist() for other in upwards.all([5.0, 5.0])]
    [[5.0, 6.0], [6.0, 5.0], [4.0, 5.0], [5.0, 4.0]]
    """

    sensitivity: float = 1.0
    adjacency: Adjacency = "replace"
    contributions: int | None = None
    steps: int = 1

    def __post_init__(self) -> None:
        require_whole("steps", self.steps, 1)
        require_whole("contributions", 1 if self.contributions is None else self.contributions, 1)

    def all(self, data: Any) -> Iterator[NDArray[np.float64]]:
        """Every corner of the box of moves, or of its grid: (2 steps + 1)^items, fewer if they all go one way."""
        values = as_floats("data", data)
        for signs in ((-1, 0, 1),) if self.adjacency == "replace" else ((0, 1), (-1, 0)):
            sizes = range(min(signs) * self.steps, max(signs) * self.steps + 1)
            for move in product(sizes, repeat=len(values)):
                if any(move) and self._allowed(move):
                    yield values + self.sensitivity * np.array(move) / self.steps

    def draw(self, data: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        """Corners at random."""
        values = as_floats("data", data)
        if not len(values):
            raise ValueError("data are empty; there is no neighbour without a value")
        signs = [-1, 0, 1] if self.adjacency == "replace" else [[0, 1], [-1, 0]][int(rng.integers(2))]
        while True:
            move = rng.choice(signs, len(values))
            if move.any() and self._allowed(move.tolist()):
                return values + self.sensitivity * move

    def _allowed(self, move: Sequence[int]) -> bool:
        up, down = sum(step > 0 for step in move), sum(step < 0 for step in move)
        return self.contributions is None or max(up, down) <= self.contributions


def _rows(data: Comparisons) -> list[_Row]:
    """Of the pair in ascending order."""
    voter = np.zeros(len(data), np.int64) if data.voter is None else data.voter
    columns = (data.first.tolist(), data.second.tolist(), data.outcome.tolist(), voter.tolist())
    return [(i, j, won, who) if i < j else (j, i, 1 - won, who) for i, j, won, who in zip(*columns, strict=True)]


def _comparisons(rows: Sequence[_Row], items: tuple[str, ...]) -> Comparisons:
    first, second, outcome, voter = np.array(rows, float).reshape(-1, 4).T
    return Comparisons(first.astype(int), second.astype(int), outcome, items, voter.astype(int))


def _rankings(positions: Sequence[Sequence[int]], like: Rankings) -> Rankings:
    return Rankings(np.array(positions, np.int64).reshape(-1, like.n_items), like.items)
