"""What voters draw and send, whatever they are asked: lists at random, and reports checked at the door."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank._require import as_list, require_unmasked
from dprank.privacy.noise import SecureSource, Source

__all__ = ["random_lists", "require_lists", "require_reports"]


def require_reports(
    reports: Any, width: int, kinds: str, fits: Callable[[NDArray[Any]], Any], needed: str
) -> NDArray[Any]:
    """A table of at least one row of so many numbers that all fit; or the first report that does not, refused.

    Examples
    --------
    >>> require_reports([[1, 2], [3, -4]], 2, "i", lambda table: table > 0, "2 numbers above 0 are")
    Traceback (most recent call last):
        ...
    ValueError: reports[1] = <list>; 2 numbers above 0 are needed
    """

    if not isinstance(reports, Iterable):
        raise ValueError(f"reports are of type {type(reports).__name__}; a list of them is needed")

    require_unmasked("reports", reports)

    def table_of(rows: Any) -> NDArray[Any] | None:
        try:
            table = np.asarray(rows)
        except Exception:  # what is foreign may raise anything
            return None
        shaped = table.ndim == 2 and table.shape[1] == width and len(table) and table.dtype.kind in kinds
        return table if shaped and np.all(fits(table)) else None

    rows = (
        np.atleast_1d(reports) if isinstance(reports, np.ndarray) else as_list("reports", reports, "a list is needed")
    )
    if (table := table_of(rows)) is not None:
        return table
    tables = list[NDArray[Any]]()
    for voter, row in enumerate(rows):
        if (own := table_of([row])) is None:
            raise ValueError(f"reports[{voter}] = <{type(row).__name__}>; {needed} needed")
        tables.append(own)
    if not tables:
        raise ValueError("reports are none, or no table; at least one row is needed")
    # integers of several kinds fit one by one, though together numpy would make them floats
    kind = np.int64 if all(own.dtype.kind in "iu" for own in tables) else np.float64
    return np.concatenate([own.astype(kind) for own in tables])


def require_lists(reports: Any, size: int, n_items: int) -> NDArray[np.int64]:
    """Refuse what are no lists of so many different items.

    Examples
    --------
    >>> require_lists([[2, 0]], 2, 3).tolist()
    [[2, 0]]
    >>> require_lists([[2, 2]], 2, 3)
    Traceback (most recent call last):
        ...
    ValueError: reports[0] = <list>; 2 different items of 0 .. 2 are needed
    """

    def fits(table: NDArray[Any]) -> Any:
        return ((table >= 0) & (table < n_items)).all() and np.diff(np.sort(table, axis=1), axis=1).all()

    needed = f"{size} different items of 0 .. {n_items - 1} are"
    return require_reports(reports, size, "iu", fits, needed).astype(np.int64)


def random_lists(voters: int, n_items: int, length: int, rng: Source) -> NDArray[np.int64]:
    """Random lists of `length` different items, every list equally likely; shape (voters, length).

    Examples
    --------
    >>> lists = random_lists(4, n_items=3, length=2, rng=np.random.default_rng(1))
    >>> lists.shape, bool((lists[:, 0] == lists[:, 1]).any())
    ((4, 2), False)
    """
    if isinstance(rng, SecureSource):
        draw = secrets.SystemRandom().sample
        return np.array([draw(range(n_items), length) for _ in range(voters)], np.int64)
    if length == 2:
        first = rng.integers(0, n_items, voters)
        return np.stack([first, (first + rng.integers(1, n_items, voters)) % n_items], axis=1)
    return np.argsort(rng.random((voters, n_items)), axis=1)[:, :length]
