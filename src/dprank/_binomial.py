"""Binomial chances, without what scipy checks at every call: searches ask thousands of times, of a few counts each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def binomial(counts: NDArray[np.integer[Any]], n: int, p: float) -> NDArray[np.float64]:
    """Chances of these counts, each from 0 to n, of n tries that succeed with probability p: bit for bit scipy's."""
    from scipy import stats  # a third of a second, and not every mechanism needs it

    return np.clip(stats.binom._pmf(counts, n, p), 0.0, 1.0)
