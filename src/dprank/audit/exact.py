"""Exact privacy loss where the law of the output is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def privacy_loss(p: ArrayLike, q: ArrayLike, *, log: bool = False) -> float:
    """The least epsilon that two laws on a finite set allow: the largest absolute log ratio of their probabilities.

    Parameters
    ----------
    p, q : array_like of float, shape (outcomes,)
        Probabilities of the same outcomes under two neighbouring data sets.
    log : bool
        Whether p and q are log probabilities, which hold what would underflow.

    Returns
    -------
    float
        Infinite where an outcome is possible under one only. By the mediant inequality no event does worse than the
        worst single outcome, and both directions are covered.
    """
    p, q = np.asarray(p, float), np.asarray(q, float)
    if p.shape != q.shape or p.ndim != 1:
        raise ValueError(f"p and q have shapes {p.shape} and {q.shape}; they must be the same list of outcomes")
    for name, law in (("p", np.exp(p) if log else p), ("q", np.exp(q) if log else q)):
        if (law < 0).any() or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} sums to {law.sum()} with least entry {law.min()}; it must be a law")
    if not log:
        with np.errstate(divide="ignore"):
            p, q = np.log(p), np.log(q)
    possible = (p > -np.inf) | (q > -np.inf)
    return float(np.abs(p[possible] - q[possible]).max())
