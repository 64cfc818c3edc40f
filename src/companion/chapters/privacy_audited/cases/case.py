"""A mechanism and two neighbouring data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from dprank.audit.betting import LowerBound, Sampler, lower_bound
from dprank.privacy.guarantee import Mechanism
from dprank.privacy.laws import NoExactRoute, exact, sample


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism on two neighbouring data sets, the worst that are known, found "by hand", "exhausted" or "climbed".

    `data` and `other` are what `release` takes; of a local mechanism the ranking of one voter, as positions. `printed`
    and `printed_delta` are what the paper promises, where the calibration is the paper's; `closed_form` is the loss
    that the field's formula gives for this pair, at the delta of the guarantee; `source` is the key of the paper.
    """

    name: str
    mechanism: Mechanism
    data: Any
    other: Any
    printed: float | None = None
    closed_form: float | None = None
    found: str = "by hand"
    source: str = ""
    printed_delta: float | None = None

    @property
    def kind(self) -> type:
        """The library's class that the mechanism is of; what a paper prints may be a class of its own."""
        return next(kind for kind in type(self.mechanism).__mro__ if kind.__module__.startswith("dprank."))

    @property
    def claimed(self) -> float:
        """Epsilon that is promised: the paper's, else that of the guarantee."""
        return self.mechanism.guarantee.epsilon if self.printed is None else self.printed

    @property
    def delta(self) -> float:
        """Delta that is promised with it."""
        return self.mechanism.guarantee.delta if self.printed_delta is None else self.printed_delta

    @property
    def guaranteed(self) -> float:
        """Epsilon that is provable at `delta`: infinite where the guarantee needs a larger one."""
        guarantee = self.mechanism.guarantee
        return guarantee.epsilon if guarantee.delta <= self.delta else math.inf

    def exact_epsilon(self) -> float:
        """The loss at `delta`; nan where there is no exact route."""
        try:
            return exact(self.mechanism, self.data, self.other).epsilon(self.delta)
        except NoExactRoute:
            return math.nan

    def bet(self, epsilon: float, delta: float, **limits: Any) -> LowerBound:
        """Audit a promise by samples alone, with the parameters of `lower_bound`."""
        return lower_bound(sampler(self.mechanism), [(self.data, self.other)], epsilon, delta, **limits)


def sampler(mechanism: Mechanism) -> Sampler:
    """`sample` of one mechanism, as `dprank.audit.betting.lower_bound` takes it."""
    return partial(sample, mechanism)
