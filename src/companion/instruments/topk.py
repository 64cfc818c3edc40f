"""What several sections on Qiao, Su and Zhang (2021) compute with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from companion.ledger.claim import Check, printed
from dprank.topk.curve import Types
from dprank.topk.list_law import TAIL as TAIL
from dprank.topk.list_law import integral_above as integral_above
from dprank.topk.list_law import list_chances as list_chances
from dprank.topk.list_law import noise_grid as noise_grid
from dprank.topk.list_law import panels as panels
from dprank.topk.noise_laws import Noise

Array = NDArray[np.float64]

#: The largest privacy parameters that Theorems 2.2 and 3.5 allow.
EPSILON, DELTA = 0.2, 0.05
#: What readers call the noise laws.
NAMES: dict[Noise, str] = {"laplace": "Laplace", "gumbel": "Gumbel", "exponential": "exponential"}


def theorem_2_1(k: int, epsilon: float) -> float:
    """Noise of Theorem 2.1 for sensitivity 1."""
    return 2 * k / epsilon


def theorem_2_2(k: int, log_m: float, epsilon: float, delta: float) -> float:
    """Noise of Theorem 2.2 for sensitivity 1, from the logarithm of m; its conditions are not asked for."""
    return 8 * math.sqrt(k * (log_m - math.log(delta))) / epsilon


def printed_scale(k: int, epsilon: float, delta: float, n_items: float) -> float:
    """The same from m: 8 sqrt(k log(m / delta)) / epsilon."""
    return theorem_2_2(k, math.log(n_items), epsilon, delta)


def split(up: int, down: int, shift: float = 1.0, offset: float = 0.0) -> Types:
    """Equal values of which `up` rise and `down` fall by `shift`; before, the first lie `offset` above the others."""
    return Types((up, down), (offset, 0.0), (offset + shift, -shift))


def hockey_stick(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """Least delta of Definition 1.2 at `epsilon`, from p to q: the sum of the positive parts of p - e^epsilon q."""
    return float(np.maximum(np.asarray(p) - math.exp(epsilon) * np.asarray(q), 0).sum())


def gaussian_delta(mu: float, epsilons: ArrayLike) -> Array:
    """Delta of a Gaussian mechanism whose mean moves by mu deviations (Dong, Roth and Su 2022)."""
    epsilon = np.asarray(epsilons, float)
    return np.asarray(norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)))


def ends(interval: Any) -> tuple[float, float]:
    """Both ends of an mpmath interval."""
    return float(interval.a), float(interval.b)


def certified(
    what: str, bounds: tuple[float, float], relation: str, bound: float, says: Callable[..., Check] = printed
) -> Check:
    """A check of a number that is known to lie within bounds: half their distance, rounded up, is its error."""
    low, high = bounds
    middle = (low + high) / 2
    half = math.nextafter(max(high - middle, middle - low), math.inf) if low < high else 0.0
    return says(what, middle, relation, bound, error=half)
