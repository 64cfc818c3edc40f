"""Bugs planted in private mechanisms, and how an audit goes after them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.case import sampler
from dprank.audit.betting import LowerBound, Sampler, lower_bound
from dprank.privacy.divergence import Divergence, PairLaw, pair_of
from dprank.privacy.guarantee import Guarantee, Mechanism
from dprank.privacy.laws import exact

# An audit by samples alone, with the parameters of `lower_bound`.
Route = Callable[..., LowerBound]
# Neighbours.
Pairs = Sequence[tuple[Any, Any]]
# Of two data sets.
Loss = Callable[[Any, Any], Divergence]
# Probabilities of all that can be published, of one data set: in an array, or by outcome.
Law = Callable[[Any], NDArray[Any] | Mapping[Any, float]]

#: Of two data sets of which some output is possible under one only: epsilon at delta 0 is infinite.
REVEALED = pair_of([0.5, 0.5], [1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Mutant:
    """A mechanism with a bug, the promise that its author makes, and where one would look.

    ``sample(data, size, rng)`` is all that is published of as many releases, shape (size, features);
    ``loss(data, other)`` the exact divergence, where it can be computed; `pairs` are neighbours that an audit of the
    right mechanism tries too; `bits`: floats are published, so that their lowest bits are looked at; `twin` is the same
    without the bug; `law` is known where all that can be published is listed.
    """

    bug: str
    of: type
    guarantee: Guarantee
    pairs: Pairs
    sample: Sampler
    loss: Loss | None = None
    names: Sequence[str] = ()
    bits: bool = False
    twin: Sampler | None = None
    law: Law | None = None

    def exact_epsilon(self) -> float:
        """Largest exact loss over the pairs at the delta that is promised; nan where there is no exact route."""
        if self.loss is None:
            return math.nan
        return max(self.loss(*pair).epsilon(self.guarantee.delta) for pair in self.pairs)

    def bet(self, rng: np.random.Generator, route: Route = lower_bound, **limits: Any) -> LowerBound:
        """Audit it by samples alone, by betting or by another route with the same parameters; `limits` are its own."""
        limits |= {"rng": rng, "names": self.names, "bits": self.bits}
        return route(self.sample, self.pairs, self.guarantee.epsilon, self.guarantee.delta, **limits)


def rewritten(
    bug: str, right: Mechanism, pairs: Pairs, sample: Sampler, loss: Loss | None = None, **known: Any
) -> Mutant:
    """A bug in code of its own, beside a mechanism of the library; what else is known as of `Mutant`.

    The guarantee is that of `right`, and the twin its releases, if nothing else is said.
    """
    known.setdefault("guarantee", right.guarantee)
    known.setdefault("twin", sampler(right))
    return Mutant(bug, type(right), pairs=pairs, sample=sample, loss=loss, **known)


def listed(bug: str, right: Mechanism, pairs: Pairs, sample: Sampler, law: Law, **known: Any) -> Mutant:
    """The same where all that can be published is listed."""
    return rewritten(bug, right, pairs, sample, by_law(law), law=law, **known)


def miscalibrated(bug: str, right: Mechanism, wrong: Mechanism, pairs: Pairs, **known: Any) -> Mutant:
    """A mechanism of the library with the promise of another; what else is known as of `rewritten`."""
    return rewritten(bug, right, pairs, sampler(wrong), partial(exact, wrong), **known)


def by_law(law: Law) -> Callable[[Any, Any], PairLaw]:
    """Divergence from the law of all that is published on one data set; arrays of any shape."""

    def loss(data: Any, other: Any) -> PairLaw:
        p, q = law(data), law(other)
        return pair_of(p, q) if isinstance(p, Mapping) else pair_of(np.ravel(p), np.ravel(q))  # type: ignore[arg-type]

    return loss
