"""The law of what `PrivateFootrule` computes its order from; registered by `dprank.aggregation.laws`."""

from __future__ import annotations

import numpy as np

from dprank.aggregation.private_footrule import PrivateFootrule
from dprank.data.rankings import Rankings
from dprank.privacy.divergence import Divergence, noise_shift
from dprank.privacy.laws import exact

__all__ = ["noisy_places_law"]


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
