"""The null distance against its definition, and broken twins of the checks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from companion.chapters.testing_uniformity import fixed_epsilon, mallows_laws, null_moments


@pytest.mark.parametrize("m", [2, 3, 4, 7, 12])
def test_berry_esseen_moments_and_kolmogorov_distance(m):
    thirds = [(np.abs(np.arange(j) - (j - 1) / 2) ** 3).mean() for j in range(2, m + 1)]
    sd = math.sqrt(fixed_epsilon.null_variance(m))
    assert null_moments.berry_esseen(m) == pytest.approx(mallows_laws.BERRY_ESSEEN * sum(thirds) / sd**3, rel=1e-12)
    below = np.cumsum(mallows_laws.distance_law(m, 0.0))
    normal = stats.norm.cdf((np.arange(len(below)) - m * (m - 1) / 4) / sd)
    exact = max(np.abs(below - normal).max(), np.abs(np.r_[0, below[:-1]] - normal).max())
    assert null_moments.kolmogorov(m) == pytest.approx(exact, abs=1e-6)
