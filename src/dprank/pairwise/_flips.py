"""What one answer that is turned round costs a perturbed likelihood on a public graph: a supremum, from above."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dprank.models.bradley_terry import Link

Array = NDArray[np.float64]

#: By which share the result may exceed the supremum.
WITHIN = 1e-4
#: Cells that are looked at together, at most; and how often a cell is halved.
_CELLS, _HALVINGS = 2**15, 60
#: Where cells begin and end, in widths of the link.
_EDGES = np.r_[0.0, 2.0 ** np.arange(-6, 20.25, 0.25)]
#: Steps of a finer grid.
_NINE = np.arange(9.0)


def flip_loss(scale: float, ridge: float, link: Link) -> float:
    r"""Largest of :math:`\frac2\lambda (r(x) + r(-x)) + \log \frac{\gamma + 2 c(x)}{\gamma + 2 c(-x)}`, rounded up.

    Parameters
    ----------
    scale, ridge : float
        lambda and gamma, above 0.
    link : Link
        Of bounded score r, which falls, and bounded curvature c, which rises to one maximum and falls after it.

    Returns
    -------
    float
        At least the supremum over all x. Above it by a share of 1e-4 at most, but for links whose curvatures at x and
        -x are nearly the same (the logistic one), or whose score is far from its limits a million widths from 0.

    Notes
    -----
    The scores of x and -x are the same together, and the logarithm changes its sign: x >= 0 is enough, with the size of
    the logarithm. The function may have several maxima, one near 0 for the scores and one far out for the curvatures.
    On a cell [a, b] the scores are at most :math:`r(a) + r(-b)`, and at most those at a and b - a times their largest
    slope, :math:`c(-x) - c(x)`; the logarithm is at most that of the largest c on one side and the least on the other.
    Extremes of c are at the ends, since cells are split where c is largest. A cell of which this is more than what was
    found is halved. Some milliseconds.

    Examples
    --------
    >>> from dprank.models.bradley_terry import ARCTAN, LOGISTIC
    >>> round(flip_loss(4.0, 1.0, ARCTAN), 3), round(flip_loss(4.0, 1.0, LOGISTIC), 3)
    (0.775, 0.5)
    """

    def height(x: Array) -> Array:
        both = np.concatenate((x, -x))
        c, d = link.curvature(both).reshape(2, -1)
        r, s = link.score(both).reshape(2, -1)
        return 2 * (r + s) / scale + _log_ratio(np.maximum(c, d), np.minimum(c, d), ridge)

    def ceiling(a: Array, b: Array) -> Array:
        here, there = (np.sort([link.curvature(x), link.curvature(y)], axis=0) for x, y in ((a, b), (-a, -b)))
        sloped = link.score(-a) + (b - a) * np.maximum(there[1] - here[0], 0)
        scores = link.score(a) + np.minimum(link.score(-b), sloped)
        turned = np.maximum(_log_ratio(here[1], there[0], ridge), _log_ratio(there[1], here[0], ridge))
        return 2 * scores / scale + turned

    edges = link.steepest / link.kappa_2 / 4 * _EDGES
    top = _summit(link.curvature, np.r_[-edges[:0:-1], edges])
    edges = np.unique(np.append(edges, abs(top)))
    last = edges[-1:]
    far = np.maximum(link.curvature(last), link.curvature(-last))
    beyond = 2 * (link.score(last) + link.steepest) / scale + _log_ratio(far, np.zeros(1), ridge)
    best = float(height(np.array([_summit(height, edges)]))[0])
    a, b = edges[:-1], edges[1:]
    for _ in range(_HALVINGS):
        high = ceiling(a, b) > best * (1 + WITHIN)
        a, b = a[high], b[high]
        if not 0 < len(a) <= _CELLS:
            break
        middle = (a + b) / 2
        at = int(np.argmax(height(middle)))
        best = max(best, float(height(np.array([_summit(height, np.r_[a[at], middle[at], b[at]])]))[0]))
        a, b = np.r_[a, middle], np.r_[middle, b]
    return max(best * (1 + WITHIN), float(beyond[0]), float(ceiling(a, b).max(initial=0.0)))


def _log_ratio(more: Array, less: Array, ridge: float) -> Array:
    """Of what two curvatures c make of the determinant, gamma + 2 c; at least 0."""
    return np.asarray(np.log1p(2 * np.maximum(more - less, 0) / (ridge + 2 * less)))


def _summit(height: Callable[[Array], Array], grid: Array) -> float:
    """A place as high as any of a grid, and where it is highest nearby."""
    for _ in range(26):
        at = int(np.argmax(height(grid)))
        low, high = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
        grid = low + _NINE * ((high - low) / 8)
        grid[8] = high
    return float(grid[np.argmax(height(grid))])
