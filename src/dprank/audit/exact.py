"""Exact privacy loss where the law of the output is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def privacy_loss(p: ArrayLike, q: ArrayLike) -> float:
    """The least epsilon that two laws on a finite set allow: the largest absolute log ratio of their probabilities.

    Parameters
    ----------
    p, q : array_like of float, shape (outcomes,)
        Probabilities of the same outcomes under two neighbouring data sets.

    Returns
    -------
    float
        Infinite where an outcome is possible under one only. By the mediant inequality no event does worse than the
        worst single outcome, and both directions are covered.
    """
    p, q = np.asarray(p, float), np.asarray(q, float)
    if p.shape != q.shape or p.ndim != 1:
        raise ValueError(f"p and q have shapes {p.shape} and {q.shape}; they must be the same list of outcomes")
    for name, law in (("p", p), ("q", q)):
        if (law < 0).any() or not abs(law.sum() - 1) < 1e-9:
            raise ValueError(f"{name} sums to {law.sum()} with least entry {law.min()}; it must be a law")
    possible = (p > 0) | (q > 0)
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(p[possible]) - np.log(q[possible])).max())
