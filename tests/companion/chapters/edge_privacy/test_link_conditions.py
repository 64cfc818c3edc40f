"""The flat link by differences."""

from __future__ import annotations

import math

import numpy as np

from companion.chapters.edge_privacy import link_conditions


def test_flat_link_is_what_it_is_said_to_be():
    x = np.linspace(-6, 6, 4001)
    numeric = np.gradient(link_conditions.flat_cdf(x), x)
    f = link_conditions.flat_cdf(x)
    np.testing.assert_allclose(numeric, link_conditions.flat_steepness(x) * f * (1 - f), atol=1e-5)
    np.testing.assert_allclose(link_conditions.flat_steepness(math.sqrt(3)), 9 / 8)
    for n in (2, 6):
        t = 0.2
        theta = np.r_[np.full(n // 2, t), np.full(n // 2, -t)]
        tau = link_conditions.flat_cdf(theta[:, None] - theta).mean(1)
        np.testing.assert_allclose(tau[0] - tau[-1], link_conditions.gaps([t])["tau gap"].iloc[0])
