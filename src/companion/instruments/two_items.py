"""Two items under Laplace noise."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def log_first_wins(gap: float, scale: float) -> float:
    """Log probability that the first of two items comes first when Laplace noise is added to both counts.

    With t = abs(gap) / scale the item that is behind comes first with probability exp(-t) (1 + t / 2) / 2, the tail of
    the difference of two Laplace variables.
    """
    t = abs(gap) / scale
    behind = math.log1p(t / 2) - t - math.log(2)
    return math.log1p(-math.exp(behind)) if gap >= 0 else behind


def overtaken(lead: ArrayLike) -> NDArray[np.float64]:
    """Probability that the second item comes first when the first leads by so many scales of the noise."""
    lead = np.asarray(lead, float)
    behind = 0.5 * np.exp(-np.abs(lead)) * (1 + np.abs(lead) / 2)
    return np.asarray(np.where(lead >= 0, behind, 1 - behind))
