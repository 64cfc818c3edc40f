"""Exact loss of noise whose numbers depend on each other: conditioned to sum to zero, or uniform in a random cube."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_array, require_positive
from dprank.privacy.cube import cube_law
from dprank.privacy.divergence import PairLaw

__all__ = ["conditioned_shift", "cube_shift"]

Array = NDArray[np.float64]

#: Scales beyond which conditioned noise is cut off: less than exp(-60) of it is there.
_REACH = 60
#: Of the table that its law is computed in.
_MOST_CELLS = 10**7


def conditioned_shift(moves: ArrayLike, scale: float) -> PairLaw:
    """Discrete Laplace noise that is conditioned to sum to zero, on whole numbers whose moves do so too.

    Parameters
    ----------
    moves : array_like of int, shape (items,)
        Summing to zero.
    scale : float
        Of the noise, above 0.

    Returns
    -------
    PairLaw
        A class for every loss, a whole multiple of 1 / scale, to a relative 1e-11 each.

    Raises
    ------
    ValueError
        If the moves do not sum to zero, or the table of sums and losses would have more than 10^7 numbers.

    Notes
    -----
    Weights of sum and loss of the items so far, an item after another. Of one that moves by k > 0, noise x of 0 or more
    loses k, of -k or less gains k, and what is in between loses k + 2 x: two geometric tails, which recursive filters
    add, and k - 1 shifts. All terms are positive. O(items * scale * (sum of the moves)^2).

    Examples
    --------
    Of two items the noise is one number on both, of half the scale.

    >>> from dprank.privacy.divergence import discrete_laplace_shift
    >>> one, two = discrete_laplace_shift([3], 4.0), conditioned_shift([3, -3], 8.0)
    >>> round(one.epsilon(0.0), 9), round(two.epsilon(0.0), 9), bool(abs(one.delta(0.5) - two.delta(0.5)) < 1e-9)
    (0.75, 0.75, True)
    """
    steps = [int(move) for move in as_array("moves", moves)]
    if sum(steps):
        raise ValueError(f"moves sum to {sum(steps)}; 0 is needed")
    half, scale = sum(map(abs, steps)), require_positive("scale", scale)
    reach = math.ceil(_REACH * scale) + half
    if (2 * half + 1) * (2 * reach + 1) > _MOST_CELLS:
        raise ValueError(f"scale = {scale}; with these moves the law would be a table of more than 10^7 numbers")
    # a row for each loss, from -half to half; a column for each sum
    held = np.zeros((2 * half + 1, 2 * reach + 1))
    held[half, reach] = 1.0
    for step in sorted(steps, key=abs, reverse=True):
        turned = 1 if step >= 0 else -1
        held = _one_more(held[:, ::turned], abs(step), math.exp(-1 / scale))[:, ::turned]
        held /= held.max()
    law = held[:, reach]
    possible = law > 0
    log_p = np.log(law[possible] / law.sum())
    return PairLaw(log_p, log_p - (np.arange(-half, half + 1) / scale)[possible])


def cube_shift(moves: ArrayLike, scale: float) -> PairLaw:
    """Noise that is uniform in a cube of random size, on whole numbers each of which moves.

    Parameters
    ----------
    moves : array_like of int, shape (items,)
    scale : float
        As of `dprank.privacy.cube.cube_noise`, above 0.

    Returns
    -------
    PairLaw
        A class for every loss, a whole multiple of 1 / scale.

    Notes
    -----
    How many vectors have a largest number of r, and of r + l with the moves, are differences of volumes of boxes.
    O(items * scale * largest move), each.

    Examples
    --------
    >>> round(cube_shift([2, -2, 1], 4.0).epsilon(0.0), 9)
    0.5
    """
    steps, scale = np.asarray(as_array("moves", moves), float), require_positive("scale", scale)
    far, m = int(np.abs(steps).max(initial=0)), len(steps)
    r = np.arange(len(cube_law(scale, m)) + far, dtype=float)
    log_weight = m * np.log(2 * r + 1) - r / scale
    weight = np.exp(log_weight - log_weight.max())

    def inside(s: Array, t: Array) -> Array:
        """Vectors up to s that are up to t with the moves, as a share of all up to r."""
        low, high = np.maximum(-s, -t - steps[:, None]), np.minimum(s, t - steps[:, None])
        return np.asarray(np.prod(np.maximum(high - low + 1, 0) / (2 * r + 1), axis=0))

    def layer(k: int) -> Array:
        return inside(r, r + k) - inside(r - 1, r + k) - inside(r, r + k - 1) + inside(r - 1, r + k - 1)

    losses = np.arange(-far, far + 1)
    chance = np.maximum([weight @ layer(int(k)) for k in losses], 0)
    possible = chance > 0
    log_p = np.log(chance[possible] / chance.sum())
    return PairLaw(log_p, log_p - losses[possible] / scale)


def _one_more(held: Array, step: int, ratio: float) -> Array:
    """Weights after an item that moves up by so much."""
    up = lambda rows: scipy.signal.lfilter([1.0], [1.0, -ratio], rows, axis=1)  # noqa: E731
    down = lambda rows: up(rows[:, ::-1])[:, ::-1]  # noqa: E731
    if step == 0:
        return np.asarray(up(held) + ratio * _moved(down(held), 0, -1))
    parts = [(step, up(held)), (-step, ratio**step * _moved(down(held), 0, -step))]
    parts += [(step + 2 * x, ratio**-x * _moved(held, 0, x)) for x in range(1 - step, 0)]
    return np.asarray(sum(_moved(part, loss, 0) for loss, part in parts))


def _moved(table: Array, rows: int, columns: int) -> Array:
    """A table moved down and to the right; what comes in is 0."""
    out = np.zeros_like(table)
    (r, c), (height, width) = (rows, columns), table.shape
    out[max(r, 0) : height + min(r, 0), max(c, 0) : width + min(c, 0)] = table[
        max(-r, 0) : height - max(r, 0), max(-c, 0) : width - max(c, 0)
    ]
    return out
