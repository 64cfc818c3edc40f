"""Qiao, Su and Zhang (2021) as printed: the noise of Theorems 2.1, 2.2 and 3.5.

The paper's neighbours move every value by at most the sensitivity; whether they replace a record or add or remove one
is left to the values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from companion.printed import Printed
from dprank._require import require_below_1, require_bool, require_positive, require_probability
from dprank.data.tallies import require_items, require_k
from dprank.privacy.guarantee import Adjacency, Guarantee, ratio_up
from dprank.topk.accounting import times_up
from dprank.topk.oneshot import Oneshot
from dprank.topk.private_spectral import PrivateRankCentrality

#: The example that closes Section 2: at a gap of 20 scales and up to 8 million items p is said to exceed this.
EXAMPLE_P = 0.99


def theorem_2_1(
    *,
    epsilon: float,
    n_items: int | None = None,
    items: Iterable[Any] | None = None,
    k: int,
    values: bool = True,
    sensitivity: float = 1.0,
    adjacency: Adjacency = "replace",
) -> Printed:
    """Algorithm 1 with the noise of Theorem 2.1: the k smallest, and their values under fresh noise of that scale."""
    n_items, items = require_items(n_items, items)
    k = require_k(k, math.inf if n_items is None else n_items)
    epsilon, size = require_positive("epsilon", epsilon), require_positive("sensitivity", sensitivity, up=True)
    scale = ratio_up(times_up(2 * k, size), epsilon)
    return _algorithm_1(epsilon, 0.0, k, scale, values, size, adjacency, n_items, items)


def theorem_2_2(
    *,
    epsilon: float,
    delta: float,
    n_items: int | None = None,
    items: Iterable[Any] | None = None,
    k: int,
    values: bool = True,
    sensitivity: float = 1.0,
    adjacency: Adjacency = "replace",
) -> Printed:
    """Algorithm 1 with the noise of Theorem 2.2, at most at epsilon = 0.2 and delta = 0.05: the k smallest."""
    n_items, items = require_items(n_items, items)
    k = require_k(k, math.inf if n_items is None else n_items)
    epsilon, delta = require_positive("epsilon", epsilon), require_probability("delta", delta)
    size = require_positive("sensitivity", sensitivity, up=True)
    if n_items is None or n_items < 2 or epsilon > 0.2 or delta > 0.05:
        raise ValueError(
            f"epsilon = {epsilon}, delta = {delta}, n_items = {n_items}; "
            "Theorem 2.2 is for epsilon <= 0.2, delta <= 0.05, n_items >= 2"
        )
    scale = 8 * size * math.sqrt(k * math.log(n_items / delta)) / epsilon
    return _algorithm_1(epsilon, delta, k, scale, values, size, adjacency, n_items, items)


def _algorithm_1(
    epsilon: float,
    delta: float,
    k: int,
    scale: float,
    values: bool,
    sensitivity: float,
    adjacency: Adjacency,
    n_items: int | None,
    items: Iterable[Any] | None,
) -> Printed:
    mechanism = Oneshot(
        k,
        scale,
        sensitivity=sensitivity,
        adjacency=adjacency,
        delta=delta,
        value_scale=scale if require_bool("values", values) else None,
        n_items=n_items,
        items=items,
        largest=False,
    )
    return Printed(mechanism, Guarantee(epsilon, delta, adjacency=mechanism.adjacency))


def theorem_3_5(
    *,
    epsilon: float,
    delta: float,
    n_items: int,
    k: int,
    samples: int,
    pairs: ArrayLike | None = None,
    d: float | None = None,
    rho: float | None = None,
) -> Printed:
    """Algorithm 3 with the noise of Theorem 3.5, from a bound on the ergodicity coefficient or that of the data."""
    epsilon, delta = require_positive("epsilon", epsilon), require_probability("delta", delta)
    if rho is not None:
        rho = require_below_1("rho", rho)
    free = PrivateRankCentrality(
        n_items, k, samples, 1.0, pairs=pairs, d=d, damped=rho is None, relative=False, delta=delta
    )
    s = 2 / (free.normalisation * free.samples * (1 - (rho or 0.0)))
    scale = 8 * s * math.sqrt(free.k * math.log(free.n_items / delta)) / epsilon
    return Printed(replace(free, scale=scale), Guarantee(epsilon, delta, unit="comparison"))
