"""Randomized response (Warner 1965): every sign is reversed by a coin whose odds are exactly those promised."""

from __future__ import annotations

import math
import secrets
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dprank._require import MOST, require_positive, require_whole
from dprank.privacy.noise import SecureSource, Source, require_source

__all__ = ["GRAIN", "bit_loss", "flips_for", "randomise", "require_telling"]

#: Chances are whole numbers of 2^-53.
GRAIN = 1 << 53


def bit_loss(flips: int, bits: int = 1) -> float:
    """Privacy loss of bits reversed with probability flips / 2^53 each, rounded up.

    Parameters
    ----------
    flips : int
        1 to 2^52, a fair coin; of one bit the loss is log((2^53 - flips) / flips).
    bits : int
        Answers of one voter, from 1 to 2^106.

    Examples
    --------
    >>> round(math.exp(bit_loss(GRAIN // 4)), 4), bit_loss(GRAIN // 2)  # a lie in four, and a fair coin
    (3.0, 0.0)
    """
    flips, bits = require_whole("flips", flips, 1, GRAIN // 2), require_whole("bits", bits, 1, MOST**2)
    if 2 * flips == GRAIN:
        return 0.0
    loss = math.nextafter(math.nextafter(math.log1p((GRAIN - 2 * flips) / flips), math.inf), math.inf)
    return math.nextafter(bits * loss, math.inf) if bits > 1 else loss


def flips_for(epsilon: float, bits: int = 1) -> int:
    """The fewest reversals, in units of 2^-53, with which `bits` randomised answers are epsilon-private together.

    Parameters
    ----------
    epsilon : float
        Above 0, finite.
    bits : int
        At least 1.

    Raises
    ------
    ValueError
        Naming what is out of range, or an epsilon so small that the answers would be fair coins, which tell nothing.

    Examples
    --------
    >>> round(flips_for(math.log(3)) / GRAIN, 4)
    0.25
    """
    epsilon, bits = require_positive("epsilon", epsilon), require_whole("bits", bits, 1, MOST**2)
    share = epsilon / bits
    flips = max(1, math.floor(GRAIN * float(scipy.special.expit(-share))))
    while bit_loss(flips, bits) > epsilon:
        flips += 1
    return require_telling(flips, epsilon, bits)


def require_telling(flips: int, epsilon: float, bits: int = 1) -> int:
    """Refuse answers that would be fair coins.

    Examples
    --------
    >>> require_telling(GRAIN // 2, 1e-20)
    Traceback (most recent call last):
        ...
    ValueError: epsilon = 1e-20; too little for 1 answer of each voter: all would be fair coins
    """
    if flips >= GRAIN // 2:
        answers = "1 answer" if bits == 1 else f"{bits} answers"
        raise ValueError(f"epsilon = {epsilon}; too little for {answers} of each voter: all would be fair coins")
    return flips


def randomise(signs: NDArray[Any], flips: int, rng: Source) -> NDArray[np.int8]:
    """Randomised response: every sign, -1 or +1, is reversed with probability flips / 2^53, on its own.

    Examples
    --------
    >>> signs, rng = np.ones(10**5, np.int8), np.random.default_rng(1)
    >>> [round(float(randomise(signs, flips, rng).mean()), 1) for flips in (0, GRAIN // 4, GRAIN)]
    [1.0, 0.5, -1.0]
    """
    require_source(rng)
    flips = require_whole("flips", flips, 0, GRAIN)
    if isinstance(rng, SecureSource):
        words = np.frombuffer(secrets.token_bytes(8 * signs.size), np.uint64).reshape(signs.shape) >> np.uint64(11)
    else:
        words = rng.integers(0, GRAIN, signs.shape, np.uint64)
    return signs * (1 - 2 * np.asarray(words < flips, np.int8))
