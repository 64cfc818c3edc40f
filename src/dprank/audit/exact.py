"""Exact privacy loss where the law of the output is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from dprank.privacy.divergence import pair_of

__all__ = ["privacy_loss"]


def privacy_loss(p: ArrayLike | Mapping[Any, float], q: ArrayLike | Mapping[Any, float], *, log: bool = False) -> float:
    """The least epsilon that two laws on a finite set allow: the largest absolute log ratio of their probabilities.

    Parameters
    ----------
    p, q, log
        As of `dprank.privacy.divergence.pair_of`, under two neighbouring data sets.

    Returns
    -------
    float
        Infinite where an outcome is possible under one only. By the mediant inequality no event does worse than the
        worst single outcome, and both directions are covered.

    Raises
    ------
    ValueError
        If the shapes differ, or either is not a law.

    Examples
    --------
    >>> round(privacy_loss([0.75, 0.25], [0.25, 0.75]), 4)  # log 3
    1.0986
    >>> privacy_loss([0.5, 0.5], [1.0, 0.0])
    inf
    """
    return pair_of(p, q, log=log).epsilon(0)
