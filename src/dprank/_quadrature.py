"""Gauss-Legendre panels for integrands that are smooth between known kinks."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

_rule = cache(leggauss)


def cut(ends: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """The ascending `ends` with edges between them, so that no panel is wider than `width`."""
    parts = [np.linspace(a, b, int(np.ceil((b - a) / width)) + 1)[:-1] for a, b in pairwise(ends)]
    return np.concatenate([*parts, ends[-1:]])


def gauss(
    left: NDArray[np.float64], right: NDArray[np.float64], nodes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on the panels from `left` to `right`, shape (panels * nodes,) each."""
    node, weight = _rule(nodes)
    half = (right - left)[:, None] / 2
    return ((left[:, None] + half) + half * node).ravel(), (half * weight).ravel()
