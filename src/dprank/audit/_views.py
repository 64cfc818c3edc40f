"""Views of releases, one number of every row: by which of them events are proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dprank.audit._cuts import looked, standardised

__all__ = ["JOINT", "TREE_ROWS", "Rows", "Views", "Words", "lowest_bit", "named", "views_of"]

Rows = NDArray[np.float64]
Words = Callable[[Sequence[str]], str]

#: Most features of which all differences are looked at, and most that are put together in one number.
PAIRED, JOINT = 6, 32
#: Rows of each sample that a direction, or a tree, learns from.
TREE_ROWS = 1 << 13
#: Kinds of views, as `looked` knows them, and two that it leaves to others.
_COLUMN, _DIFFERENCE, _LEAST, _LARGEST, _WEIGHTED, _SUM, _WIDE_SUM, _BIT = range(8)
#: Numbers from which on NumPy adds them in another order than one after another.
_WIDE = 8
_OF_ALL = {
    _LEAST: "the least",
    _LARGEST: "the largest",
    _WEIGHTED: "a weighted sum of the outputs",
    _SUM: "the sum",
    _WIDE_SUM: "the sum",
}


@dataclass(frozen=True, eq=False)
class Views:
    """Numbers of every row, by kind and two columns of each, shape (views, 3)."""

    kinds: NDArray[np.intp]
    direction: NDArray[np.float64]

    def __call__(self, rows: Rows, which: slice = slice(None)) -> NDArray[np.float64]:
        """Shape (views, rows)."""
        kinds = self.kinds[which]
        found = looked(rows, kinds, self.direction)
        for at in np.flatnonzero(kinds[:, 0] > _SUM).tolist():
            found[at] = rows.sum(axis=1) if kinds[at, 0] == _WIDE_SUM else lowest_bit(rows[:, kinds[at, 1]])
        return found

    def name(self, number: int, names: Sequence[str]) -> str:
        """In words."""
        kind, a, b = self.kinds[number].tolist()
        if kind in _OF_ALL:
            return _OF_ALL[kind]
        first = named(names, a)
        return {_COLUMN: first, _BIT: f"the lowest set bit of {first}"}.get(kind, f"{first} - {named(names, b)}")


def views_of(p: Rows, q: Rows, bits: bool) -> Views:
    """Of every feature, of several at once, and of the lowest bits."""
    features = p.shape[1]
    direction = _projection(p, q)
    views = [*_fixed_views(features), *([(_WEIGHTED, 0, 0)] if len(direction) else [])]
    few = range(min(features, PAIRED)) if bits else ()
    views += [(_BIT, c, 0) for c in few if any(_has_bits(rows[:, c]) for rows in (p, q))]
    return Views(np.array(views, np.intp), direction)


@cache
def _fixed_views(features: int) -> list[tuple[int, int, int]]:
    """Those that no sample has a say in."""
    next_ones = [(a, a + 1) for a in range(min(features, JOINT) - 1)]
    pairs = combinations(range(features), 2) if features <= PAIRED else next_ones
    whole = (_SUM if features < _WIDE else _WIDE_SUM, _LEAST, _LARGEST) if features >= 2 else ()
    return [
        *((_COLUMN, c, 0) for c in range(features)),
        *((_DIFFERENCE, a, b) for a, b in pairs),
        *((kind, 0, 0) for kind in whole),
    ]


def _has_bits(x: NDArray[np.float64]) -> bool:
    """Whether there are fractions, or zeros with a sign."""
    return bool((x != np.round(x)).any() or np.signbit(x[x == 0]).any())


def _projection(p: Rows, q: Rows) -> NDArray[np.float64]:
    """Fisher's discriminant: the direction in which the samples differ most for their spread, if any without noise;
    empty where there is none.
    """
    p, q = p[:TREE_ROWS], q[:TREE_ROWS]
    if not 2 <= p.shape[1] <= JOINT:
        return np.zeros(0)
    unit, difference, *apart = standardised(p, q)
    if not np.isfinite(unit).all():
        return np.zeros(0)
    # what `numpy.cov` gives
    spread, more = (np.dot(rows.T, rows) * np.true_divide(1, len(rows) - 1) for rows in apart)
    return np.linalg.solve(spread + more + 1e-9 * np.eye(p.shape[1]), difference) / unit


def lowest_bit(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Exponent of the lowest set bit of doubles, the power of 2 of which each is an odd multiple.

    1024 for 0 and what is not finite, 1025 for -0.

    Examples
    --------
    >>> lowest_bit(np.array([1.0, 6.0, 0.75, 0.0, -0.0])).tolist()  # 6 = 3 * 2^1, 0.75 = 3 * 2^-2
    [0.0, 1.0, -2.0, 1024.0, 1025.0]
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = (whole & -whole).astype(np.float64)
    return np.where(
        whole == 0, 1024.0 + (np.signbit(x) & (x == 0)), np.log2(np.where(low > 0, low, 1.0)) + exponent - 53
    )


def named(names: Sequence[str], column: int) -> str:
    """A feature in words."""
    return names[column] if column < len(names) else f"output {column}"
