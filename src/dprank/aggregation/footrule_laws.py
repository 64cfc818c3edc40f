"""Of what `PrivateFootrule` computes its order from, and many orders; registered by `dprank.aggregation.laws`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dprank.aggregation.private_footrule import PrivateFootrule, cheapest_orders
from dprank.data.rankings import Rankings
from dprank.privacy.divergence import Divergence, noise_shift
from dprank.privacy.laws import exact, sample

__all__ = ["draw_private_footrules", "noisy_places_law"]


@exact.register
def noisy_places_law(mechanism: PrivateFootrule, data: Rankings, other: Rankings) -> Divergence:
    """Of the noisy counts of places: exact for them, and an upper bound for the order, which is all that is published.

    Examples
    --------
    >>> one, other = (Rankings([places], "ab") for places in ([0, 1], [1, 0]))
    >>> round(noisy_places_law(PrivateFootrule(2, 4.0), one, other).epsilon(0), 6)  # four counts move by 1 each
    1.0
    """
    move = np.ravel(mechanism.counts(other) - mechanism.counts(data))
    return noise_shift(mechanism.noise, mechanism.law, move, mechanism.scale)


@sample.register
def draw_private_footrules(
    mechanism: PrivateFootrule, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Orders.

    Examples
    --------
    >>> votes = Rankings([[1, 0]] * 9, "ab")
    >>> draw_private_footrules(PrivateFootrule(2, 0.1), votes, 2, np.random.default_rng(1)).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    noisy = mechanism.perturb(np.tile(mechanism.counts(data), (size, 1, 1)), rng)
    return cheapest_orders(noisy, rng).astype(float)
