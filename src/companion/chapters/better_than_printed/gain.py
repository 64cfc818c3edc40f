"""What is gained where something better at equal privacy replaces what a paper prints."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["OF_THE_BOOK", "At", "Factor", "Gain", "measured", "over", "plain"]

#: What a factor compares: of a chance ours is the larger, of all others what is printed.
Measure = Literal[
    "less noise",
    "fewer voters",
    "less error proved",
    "fewer pairs lost",
    "chance to see agreement",
    "chance to be right",
]


class Factor(NamedTuple):
    """How many times better, and the standard error of its logarithm: 0 if it is exact."""

    value: float
    log_se: float = 0.0


def over(worse: float, better: float) -> Factor:
    """Of two numbers that are known exactly."""
    return Factor(worse / better)


def measured(worse: tuple[float, float], better: tuple[float, float]) -> Factor:
    """Of two means with their standard errors, independent: that of the logarithm to first order.

    A ValueError says where a mean is 0: more is to be simulated.
    """
    if min(worse[0], better[0]) <= 0:
        raise ValueError(f"means = {worse[0]:g}, {better[0]:g}; both must be above 0, with more repetitions")
    return Factor(float(worse[0] / better[0]), math.hypot(worse[1] / worse[0], better[1] / better[0]))


@dataclass(frozen=True, kw_only=True)
class At:
    """The sizes that a reader may set: k is `chosen` of ten times as many with `epsilon` and `delta`, the walk's too;
    one bit is of `bit_items`; `people` vote where noise is on scores.
    """

    chosen: int = 100
    epsilon: float = 0.2
    delta: float = 1e-6
    bit_items: int = 1000
    people: int = 400


#: The sizes of the book.
OF_THE_BOOK = At()


def plain(number: float) -> str:
    """A number as one writes it.

    Examples
    --------
    >>> plain(1e-06), plain(0.05)
    ('1e-6', '0.05')
    """
    return f"{number:g}".replace("e-0", "e-")


@dataclass(frozen=True, kw_only=True)
class Gain:
    """One place: what the paper `prints`, `ours` instead, and the `factor` between them, `at` which size: from
    so many simulated releases, where it is simulated.

    `claim` is the ledger's id of what is printed; `mechanism` the library's class; `proof` the page, and anchor, that
    proves the better one, seen from the notebooks; `where` says how far it is the better one.
    """

    name: str
    claim: str
    prints: str
    ours: str
    mechanism: str
    proof: str
    at: str
    measure: Measure
    where: str
    factor: Callable[[int], Factor]

    @property
    def paper(self) -> str:
        """Its key."""
        return self.claim.partition(":")[0]
