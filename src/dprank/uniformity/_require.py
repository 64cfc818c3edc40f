"""What tests of uniformity refuse, each in one line that names the field, its value and what is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dprank.rankings import Rankings


def require_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} = {value!r}; an integer of at least {least} is needed")


def require_sizes(n_items: Any, n_rankings: Any) -> None:
    """Refuse fewer than two items or rankings."""
    require_whole("n_items", n_items, 2)
    require_whole("n_rankings", n_rankings, 2)


def require_positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above 0."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} = {value}; it must be above 0 and finite")


def require_scale(scale: float) -> None:
    """Refuse a width of noise that is negative or not finite."""
    if not 0 <= scale < math.inf:
        raise ValueError(f"scale = {scale}; it must be at least 0 and finite")


def require_probability(name: str, value: float) -> None:
    """Refuse what does not lie inside (0, 1)."""
    if not 0 < value < 1:
        raise ValueError(f"{name} = {value}; it must lie in (0, 1)")


def require_draws(draws: int, delta: float) -> None:
    """Refuse so few simulated null statistics that no p-value could be as small as `delta`."""
    if not delta * (draws + 1) >= 1:
        raise ValueError(f"draws = {draws}; at least 1 / delta - 1 = {1 / delta - 1:g} are needed")


def require_data(data: Rankings, n_items: int, n_rankings: int | None = None, *, least: int = 2) -> None:
    """Refuse data of other sizes than a test was made for; without `n_rankings`, fewer than `least` of them."""
    if data.n_items != n_items:
        raise ValueError(f"n_items = {data.n_items} in the data; this test is for n_items = {n_items}")
    if n_rankings is not None and len(data) != n_rankings:
        raise ValueError(f"n_rankings = {len(data)} in the data; this test is for n_rankings = {n_rankings}")
    if len(data) < least:
        raise ValueError(f"n_rankings = {len(data)} in the data; at least {least} are needed")


def require_generator(rng: Any, why: str) -> np.random.Generator:
    """Refuse a missing generator, and `dprank.noise.SECURE` where floating-point coins are tossed."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {rng!r}; {why}: pass a numpy.random.Generator")
    return rng
