"""Of the lower bounds, what the paper prints in formulas, in lines; chapters show them."""

from __future__ import annotations

import numpy as np


def ranking_of_signs(x, t):
    """The map as its formula says: places of 2 d + t items."""
    d = len(x)
    j = np.arange(d)
    pi = np.arange(2 * d + t)
    pi[j] = np.where(x == 1, j, j + d + t)
    pi[j + d + t] = np.where(x == 1, j + d + t, j)
    return pi


def signs_of_ranking(pi, d):
    """Its inverse, rho: -1 where item j precedes its partner."""
    return np.where(pi[:d] < pi[-d:], -1, 1)
