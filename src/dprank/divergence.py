"""How far two laws are apart in the sense of differential privacy: hockey-stick divergences, both ways round."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from dprank._require import require_below_1, require_real
from dprank.gaussian import gaussian_delta, gaussian_epsilon


class Divergence(Protocol):
    """Of the laws of one output under two data sets, the larger of both directions."""

    def delta(self, epsilons: Any) -> Any:
        """Least delta at an epsilon, at least 0."""
        ...

    def epsilon(self, delta: float) -> float:
        """Least epsilon at a delta in [0, 1)."""
        ...


@dataclass(frozen=True)
class PairLaw:
    """Two laws on the same classes of outcomes, whose members have all the same likelihood ratio.

    Parameters
    ----------
    log_p, log_q : ndarray of float, shape (classes,)
        Log probabilities of the classes under two neighbouring data sets.
    """

    log_p: NDArray[np.float64]
    log_q: NDArray[np.float64]

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Least delta at every epsilon: the larger of the two hockey-stick divergences, shape of `epsilons`."""
        epsilon = np.asarray(epsilons, float)[..., None]
        return np.maximum(
            _hockey_stick(self.log_p, self.log_q, epsilon), _hockey_stick(self.log_q, self.log_p, epsilon)
        )

    def epsilon(self, delta: float) -> float:
        """Least epsilon at one delta in [0, 1): no root is sought, the worst events are those of largest ratio."""
        delta = require_below_1("delta", delta)
        return max(0.0, _least_epsilon(self.log_p, self.log_q, delta), _least_epsilon(self.log_q, self.log_p, delta))

    def renyi(self, order: float) -> float:
        """Renyi divergence of an order above 1, the larger of the two directions."""
        require_real("order", order, "it must be above 1 and finite", lambda x: 1 < x < math.inf)
        log_moment = max(
            logsumexp(order * a - (order - 1) * b) for a, b in ((self.log_p, self.log_q), (self.log_q, self.log_p))
        )
        return float(log_moment / (order - 1))

    def kl(self) -> float:
        """Relative entropy, the limit of `renyi` at order 1."""
        loss = self.log_p - self.log_q
        return float(max(np.exp(self.log_p) @ loss, -np.exp(self.log_q) @ loss))

    def rho(self, most: float = 1e6) -> float:
        """Least rho of zero-concentrated privacy: the largest Renyi divergence over its order, orders up to `most`."""
        found = minimize_scalar(
            lambda at: -self.renyi(1 + math.exp(at)) / (1 + math.exp(at)), bounds=(-7, math.log(most)), method="bounded"
        )
        return max(self.kl(), -float(found.fun))


@dataclass(frozen=True)
class GaussianShift:
    """Gaussian noise whose centre moves (`dprank.gaussian`).

    Parameters
    ----------
    l2 : float
        Euclidean length of the move, at least 0.
    scale : float
        Standard deviation, above 0.
    """

    l2: float
    scale: float

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Least delta at every epsilon, shape of `epsilons`."""
        epsilons = np.asarray(epsilons, float)
        flat = [gaussian_delta(self.l2, self.scale, float(epsilon)) for epsilon in epsilons.ravel()]
        return np.array(flat).reshape(epsilons.shape)

    def epsilon(self, delta: float) -> float:
        """Least epsilon at one delta; infinite at 0 unless nothing moves."""
        if delta == 0:
            return math.inf if self.l2 > 0 else 0.0
        return gaussian_epsilon(self.l2, self.scale, delta)


def pair_of(p: ArrayLike | Mapping[Any, float], q: ArrayLike | Mapping[Any, float], *, log: bool = False) -> PairLaw:
    """Two laws on a finite set, outcome by outcome.

    Parameters
    ----------
    p, q : array_like of float, shape (outcomes,), or mapping of outcome to float
        Probabilities of the same outcomes; in a mapping a missing outcome is impossible.
    log : bool
        Whether they are log probabilities.

    Raises
    ------
    ValueError
        If the shapes differ, or either is not a law.
    """
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        nothing = -math.inf if log else 0.0
        outcomes = dict.fromkeys([*p, *q])
        p, q = ([law.get(outcome, nothing) for outcome in outcomes] for law in (p, q))
    laws = np.asarray(p, float), np.asarray(q, float)
    if laws[0].shape != laws[1].shape or laws[0].ndim != 1:
        raise ValueError(f"p and q have shapes {laws[0].shape} and {laws[1].shape}; they must list the same outcomes")
    for name, law in zip("pq", map(np.exp, laws) if log else laws, strict=True):
        if (law < 0).any() or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} sums to {law.sum()} with least entry {law.min()}; it must be a law")
    with np.errstate(divide="ignore"):
        a, b = laws if log else map(np.log, laws)
    possible = (a > -np.inf) | (b > -np.inf)
    return PairLaw(a[possible], b[possible])


def _hockey_stick(
    log_p: NDArray[np.float64], log_q: NDArray[np.float64], epsilon: NDArray[np.float64]
) -> NDArray[np.float64]:
    return (np.exp(log_p) * -np.expm1(-np.maximum(log_p - log_q - epsilon, 0))).sum(axis=-1)


def _least_epsilon(log_p: NDArray[np.float64], log_q: NDArray[np.float64], delta: float) -> float:
    """Epsilon of one direction.

    It needs P(A) <= e^epsilon Q(A) + delta for every event A, and events {log ratio above a level} are the worst.
    """
    order = np.argsort(log_q - log_p)
    p, q = (np.logaddexp.accumulate(law[order]) for law in (log_p, log_q))
    if delta == 0:
        return float((log_p - log_q).max())
    counts = p > math.log(delta)
    with np.errstate(divide="ignore"):
        needs = p[counts] + np.log(-np.expm1(math.log(delta) - p[counts])) - q[counts]
    return float(needs.max(initial=-math.inf))
