"""Which doubles a naive sampler of Laplace noise can publish: the numbers that it leaves out betray the data.

The noise is a function of one of 2^53 uniforms, so most doubles near a value are never published, and which ones are
depends on the value (Mironov 2012).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import as_floats, require_number, require_positive

__all__ = ["GRID", "LONGEST", "laplace_of", "possible"]

#: Uniforms are whole multiples of 2^-53.
GRID = 2.0**53
#: Uniforms more than rounding can need, on both sides of a window.
_MARGIN = 4.0
#: Longest window of uniforms that is searched; windows are long where values are large for the noise.
LONGEST = 100_000


def laplace_of(uniforms: ArrayLike, scale: float) -> NDArray[np.float64]:
    """Laplace noise as numpy's `Generator.laplace` makes it of uniforms in (0, 1), to the last bit.

    Parameters
    ----------
    uniforms : array_like of float
        What `Generator.random` draws; the generator draws again at 0.
    scale : float
        Above 0.

    Examples
    --------
    >>> laplace_of([0.25, 0.5, 0.75], 1.0).round(4).tolist()  # quartiles: log 2 from the middle
    [-0.6931, 0.0, 0.6931]
    """
    u = as_floats("uniforms", uniforms)
    upper = u >= 0.5
    # numpy's own vectorised logarithm differs from the one of the C library in the last bit
    logs = np.array(list(map(math.log, np.where(upper, 2.0 - u - u, u + u).ravel().tolist()))).reshape(u.shape)
    return np.where(upper, 0.0 - scale * logs, 0.0 + scale * logs)


def possible(outputs: ArrayLike, value: float, scale: float) -> NDArray[np.bool_]:
    """Whether doubles could have been published as a value plus naive Laplace noise.

    Parameters
    ----------
    outputs : array_like of float, shape (releases,)
        Published numbers.
    value : float
        What they may have come from.
    scale : float
        Of the noise, above 0.

    Returns
    -------
    ndarray of bool, shape (releases,)
        False where no uniform of the generator gives that output: then the release proves that this was not the value.

    Raises
    ------
    ValueError
        If outputs are no list of finite numbers, the value is not finite, the scale not above 0, or the value so large
        for it that more than `LONGEST` uniforms may round to one output: then little is betrayed anyway.

    Notes
    -----
    Noise t needs a uniform near exp(-abs(t) / scale) / 2, or one minus it. The logarithm is monotone and at most two
    units in the last place off, so that only uniforms in a short window can round to the output; all of them are tried.

    Examples
    --------
    >>> released = 3.0 + np.random.default_rng(1).laplace(0.0, 1.0, 100)
    >>> bool(possible(released, 3.0, 1.0).all()), bool(possible(released, 4.0, 1.0).all())
    (True, False)
    """
    require_positive("scale", scale)
    y = as_floats("outputs", outputs)
    if y.ndim != 1 or not np.isfinite(y).all():
        raise ValueError("outputs hold what is not finite, or have rows; a list of finite numbers is needed")
    noise = y - require_number("value", value)
    slack = np.spacing(np.abs(y)) + 4 * np.spacing(np.abs(noise))
    half = GRID / 2
    near, far = (half * np.exp(-np.maximum(np.abs(noise) + side * slack, 0) / scale) for side in (-1, 1))
    first, last = np.maximum(np.floor(far) - _MARGIN, 1), np.minimum(np.ceil(near) + _MARGIN, half)
    longest = int((last - first).max(initial=-1)) + 1
    if longest > LONGEST:
        raise ValueError(f"{longest:.3g} uniforms may round to one of the outputs; at most {LONGEST} are tried")
    found = np.zeros(len(y), bool)
    for step in range(longest):
        open_ = np.flatnonzero(~found & (first + step <= last))
        u, sign = (first[open_] + step) / GRID, noise[open_]
        # 2 - u - u rounds, so that the two tails are no mirror images; each gives noise of one sign
        for side, tail in ((sign <= 0, u), (sign >= 0, 1 - u)):
            found[open_[side]] |= value + laplace_of(tail[side], scale) == y[open_[side]]
    return found
