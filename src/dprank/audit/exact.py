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
    laws = np.asarray(p, float), np.asarray(q, float)
    if laws[0].shape != laws[1].shape or laws[0].ndim != 1:
        raise ValueError(f"p and q have shapes {laws[0].shape} and {laws[1].shape}; they must list the same outcomes")
    for name, law in zip("pq", map(np.exp, laws) if log else laws, strict=True):
        if (law < 0).any() or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} sums to {law.sum()} with least entry {law.min()}; it must be a law")
    with np.errstate(divide="ignore"):
        a, b = laws if log else map(np.log, laws)
    possible = (a > -np.inf) | (b > -np.inf)
    return float(np.abs(a[possible] - b[possible]).max())
