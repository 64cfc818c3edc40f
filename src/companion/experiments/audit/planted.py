"""Bugs planted in private mechanisms, and how an audit goes after them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.audit.betting import LowerBound, lower_bound
from dprank.divergence import Divergence
from dprank.mechanism import Guarantee

Sample = Callable[[Any, int, np.random.Generator], NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Mutant:
    """A mechanism with a bug, the promise that its author makes, and where one would look.

    Parameters
    ----------
    bug : str
        What went wrong, in a few words; of its own.
    of : type
        Class of the library whose mechanism it breaks.
    guarantee : Guarantee
        What would hold without the bug.
    pairs : sequence of (data, data)
        Neighbours that an audit of the right mechanism tries too.
    sample : callable
        ``sample(data, size, rng)``: all that is published of as many releases, shape (size, features).
    loss : callable, optional
        ``loss(data, other)``: exact divergence, where it can be computed.
    names : sequence of str
        Of the features.
    bits : bool
        Whether floats are published, so that their lowest bits are looked at.
    """

    bug: str
    of: type
    guarantee: Guarantee
    pairs: Sequence[tuple[Any, Any]]
    sample: Sample
    loss: Callable[[Any, Any], Divergence] | None = None
    names: Sequence[str] = ()
    bits: bool = False

    def exact_epsilon(self) -> float:
        """Largest exact loss over the pairs at the delta that is promised; nan where there is no exact route."""
        if self.loss is None:
            return math.nan
        return max(self.loss(*pair).epsilon(self.guarantee.delta) for pair in self.pairs)

    def bet(self, rng: np.random.Generator, *, budget: int = 1_000_000, confidence: float = 0.999) -> LowerBound:
        """Audit it by samples alone."""
        promise = self.guarantee
        return lower_bound(
            self.sample,
            self.pairs,
            promise.epsilon,
            promise.delta,
            rng=rng,
            budget=budget,
            confidence=confidence,
            names=self.names,
            bits=self.bits,
        )
