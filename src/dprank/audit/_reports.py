"""What voters sent, and what is published of it: in any order the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, is_dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.audit._words import ALL, ORDER, TYPES, WHOLE, Words, laid, typed
from dprank.audit.rephrased import rephrased, taken
from dprank.privacy.guarantee import Mechanism
from dprank.privacy.noise import exact_parameters

__all__ = ["Sent", "published", "sent"]

#: How many voters report.
_VOTERS = 24


@dataclass(frozen=True)
class Sent:
    """Reports of voters.

    Parameters
    ----------
    rows : list or ndarray
        What each of them sent.
    asked : ndarray of int, shape (voters, pairs, 2), optional
        Pairs that each was asked about, where that is needed to read the reports.

    Examples
    --------
    >>> len(Sent([[1, 0], [0, 1]]))
    2
    """

    rows: Any
    asked: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.rows)


def sent(mechanism: Mechanism, pairs: Sequence[tuple[Any, Any]], rng: np.random.Generator) -> Sent | None:
    """Reports of voters with the data of the pairs; None where they are not gathered by `aggregate`, or for research.

    Examples
    --------
    >>> import dprank
    >>> poll = dprank.LocalBorda.calibrated(epsilon=1.0, n_items=3)
    >>> len(sent(poll, [([0, 1, 2], [2, 1, 0])], np.random.default_rng(1)))
    24
    """
    poll: Any = mechanism
    if is_dataclass(poll) and not exact_parameters(poll):  # heirs are looked at, which do not say what they draw from
        return None
    if not callable(getattr(poll, "aggregate", None)) or list(signature(poll.report).parameters)[1:] != ["rng"]:
        return None
    voters = [data for pair in pairs for data in pair]
    voters = [voters[at % len(voters)] for at in range(_VOTERS)]
    asked = None
    if "pairs" in signature(poll.aggregate).parameters:
        asked = np.array([[rng.permutation(poll.n_items)[:2] for _ in voters[0]] for _ in voters], np.int64)
        voters = [voter for voter in voters if len(voter) == len(voters[0])]
        asked = asked[: len(voters)]
    return Sent([list(poll.report(voter, rng)) for voter in voters], asked)


def published(mechanism: Any, reports: Sent, rng: Any) -> Any:
    """What is published of reports.

    Examples
    --------
    >>> import dprank
    >>> poll = dprank.LocalBorda.calibrated(epsilon=9.0, n_items=2)
    >>> published(poll, Sent([[0, 1], [0, 1]]), np.random.default_rng(1)).order.tolist()
    [0, 1]
    """
    names = signature(mechanism.aggregate).parameters
    given = {"items": tuple(map(str, range(mechanism.n_items)))} if "items" in names else {}
    asked = [] if reports.asked is None else [reports.asked]
    return mechanism.aggregate(reports.rows, *asked, rng, **given)


@rephrased.register
def _(data: Sent, rng: np.random.Generator) -> Iterator[Words]:
    order = rng.permutation(len(data))
    mixed = taken(data, order)
    yield Words(ORDER, mixed, order)
    if len({len(row) for row in data.rows}) == 1:
        yield Words(TYPES, _retyped(data, rng))
        yield Words(ALL, _retyped(mixed, rng), order)


@taken.register
def _(data: Sent, rows: NDArray[np.intp]) -> Sent:
    return Sent([data.rows[at] for at in rows], None if data.asked is None else data.asked[rows])


def _retyped(data: Sent, rng: np.random.Generator) -> Sent:
    asked = None if data.asked is None else typed(data.asked, rng, WHOLE)
    return Sent(laid(typed(np.array(data.rows), rng, WHOLE), rng), asked)
