"""The question a user asks: what does this mechanism really lose on these neighbours?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dprank.audit.betting import LowerBound, lower_bound
from dprank.audit.case import exact, released, sample
from dprank.mechanism import Guarantee, Mechanism

#: Relative room for rounding before a loss counts as more than was promised.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Audit:
    """What is known of a mechanism's privacy loss.

    Parameters
    ----------
    guarantee : Guarantee
        What it promises.
    exact : float or None
        Largest exact epsilon over the pairs at the promised delta, by the law of the output; None without a route.
    worst : int
        The pair that attains `exact`; 0 without a route.
    samples : LowerBound
        What its own releases show.
    """

    guarantee: Guarantee
    exact: float | None
    worst: int
    samples: LowerBound

    @property
    def epsilon(self) -> float:
        """Best bound below the true epsilon: exact on these pairs, or of the stated confidence."""
        return max(self.exact or 0.0, self.samples.epsilon)

    @property
    def broken(self) -> bool:
        """Whether more is lost than was promised."""
        promise = self.guarantee.epsilon
        too_much = self.exact is not None and self.exact > promise + ROUNDING * max(1.0, promise)
        return too_much or (math.isfinite(promise) and self.samples.refuted)

    def __str__(self) -> str:
        law = "no exact route" if self.exact is None else f"exact loss {self.exact:.6g} on pair {self.worst}"
        seen = f"at least {self.samples.epsilon:.3g} by {self.samples.samples} releases"
        by = f" (pair {self.samples.pair}: {self.samples.event})" if self.samples.refuted else ""
        return f"{'BROKEN' if self.broken else 'kept'}: {self.guarantee}\n{law}; {seen}{by}"


def audit(
    mechanism: Mechanism,
    pairs: Sequence[tuple[Any, Any]],
    *,
    rng: np.random.Generator,
    budget: int = 20_000,
    confidence: float = 0.999,
    bits: bool = True,
) -> Audit:
    """Exact loss where the output's law is known, and a lower bound from the releases of the code itself.

    Parameters
    ----------
    mechanism : Mechanism
        Any; one that the library does not know is audited by its releases alone.
    pairs : sequence of (data, data)
        Neighbours under the guarantee's adjacency, as many as seem worth a try: the extremes, ties, far gaps.
        `dprank.audit.search` finds some. Of a local mechanism, rankings of one voter, whose report is audited.
    rng : numpy.random.Generator
    budget : int
        Most releases in all. Small excesses of epsilon need many: a tenth takes about 1e5.
    confidence : float
        Of the lower bound.
    bits : bool
        Whether to look at the lowest bits of floats, which betray the data of any floating-point noise.

    Returns
    -------
    Audit
        `broken` is proof of a bug, or of neighbours that are none; the opposite proves nothing but for the pairs that
        the exact route was given.
    """
    promise = mechanism.guarantee
    try:
        losses = [exact(mechanism, *pair).epsilon(promise.delta) for pair in pairs]
    except NotImplementedError:
        losses = []
    worst = int(np.argmax(losses)) if losses else 0
    # nothing is promised by infinity: the bets then only look for how much is lost
    claim = promise.epsilon if math.isfinite(promise.epsilon) else 1.0
    levels = (claim or 1.0) * np.arange(0.1, 2.0, 0.1)
    draw = sample if promise.model == "local" else released
    found = lower_bound(
        lambda data, size, rng: draw(mechanism, data, size, rng),
        pairs,
        claim,
        promise.delta,
        rng=rng,
        confidence=confidence,
        budget=budget,
        levels=levels,
        bits=bits,
    )
    return Audit(promise, losses[worst] if losses else None, worst, found)
