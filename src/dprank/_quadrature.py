"""Gauss-Legendre panels for integrands that are smooth between known kinks."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
from numpy.typing import NDArray

#: Nodes and weights on [-1, 1].
rule = cache(leggauss)


def cut(ends: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """The ascending `ends` with edges between them, so that no panel is wider than `width`."""
    parts = [np.linspace(a, b, int(np.ceil((b - a) / width)) + 1)[:-1] for a, b in pairwise(ends)]
    return np.concatenate([*parts, ends[-1:]])


def gauss(
    left: NDArray[np.float64], right: NDArray[np.float64], nodes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on the panels from `left` to `right`, shape (panels * nodes,) each."""
    node, weight = rule(nodes)
    half = (right - left)[:, None] / 2
    return ((left[:, None] + half) + half * node).ravel(), (half * weight).ravel()


def beyond(
    values: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64], nodes: int
) -> NDArray[np.float64]:
    """Integrals from every node of `gauss` to the last edge, of what has these `values` at the nodes."""
    table = values.reshape(len(left), nodes)
    half = (right - left)[:, None] / 2
    panels = half[:, 0] * (table @ rule(nodes)[1])
    after = np.cumsum(panels[::-1])[::-1] - panels
    return np.asarray(after[:, None] + half * (table @ _to_the_edge(nodes))).ravel()


@cache
def _to_the_edge(nodes: int) -> NDArray[np.float64]:
    """Weights of the values at all nodes (rows) in the integral from each node (columns) to 1."""
    polynomials = legvander(rule(nodes)[0], nodes)
    degrees = np.arange(1, nodes)
    integrals = np.column_stack([1 - rule(nodes)[0], (polynomials[:, :-2] - polynomials[:, 2:]) / (2 * degrees + 1)])
    return np.asarray(np.linalg.solve(polynomials[:, :-1].T, integrals.T), float)
