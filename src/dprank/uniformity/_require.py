"""What tests of uniformity refuse, each in one line that names the field, its value and what is allowed.

Numbers are handed back as Python's: small integers and floats of numpy overflow, or are no fractions.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from dprank.noise import SecureSource
from dprank.rankings import Rankings

#: Size from which rounding could keep a search for a threshold from ending.
MOST = 1 - 1e-9
#: Least significance for which the exact law of Kendall distances, absolute error 1e-12, is asked.
LEAST_EXACT = 1e-10
#: Width of whole noise up to which `dprank.noise` draws it.
WIDEST = 2.0**50


def settle(instance: Any, **values: Any) -> None:
    """Set fields of a frozen dataclass to what a validator handed back."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)


def require_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Refuse what is not an integer from `least` to `most`."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} = {_shown(value)}; an integer {allowed} is needed")
    return int(value)


def require_sizes(n_items: Any, n_rankings: Any) -> dict[str, int]:
    """Refuse fewer than two items or rankings."""
    return {"n_items": require_whole("n_items", n_items, 2), "n_rankings": require_whole("n_rankings", n_rankings, 2)}


def require_real(name: str, value: Any, needed: str, fits: Callable[[float], bool]) -> float:
    """Refuse what is not a real number that `fits`, which must be false of NaN."""
    number = math.nan
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf  # or minus that: allowed nowhere but where both are
    if not fits(number):
        raise ValueError(f"{name} = {_shown(value)}; {needed}")
    return number


def require_number(name: str, value: Any) -> float:
    """Refuse what is not a number; infinities are."""
    return require_real(name, value, "a number is needed", lambda x: not math.isnan(x))


def require_positive(name: str, value: Any) -> float:
    """Refuse what is not a finite number above 0."""
    return require_real(name, value, "it must be above 0 and finite", lambda x: 0 < x < math.inf)


def require_scale(scale: Any) -> float:
    """Refuse a width of noise that is negative or not finite."""
    return require_real("scale", scale, "it must be at least 0 and finite", lambda x: 0 <= x < math.inf)


def require_probability(name: str, value: Any, least: float = 0.0, most: float = 1.0) -> float:
    """Refuse what does not lie inside (0, 1), or within bounds inside of that."""
    number = require_real(name, value, "it must lie in (0, 1)", lambda x: 0 < x < 1)
    if number < least:
        raise ValueError(f"{name} = {_shown(value)}; it must be at least {least:g}, or rounding would show")
    if number > most:
        raise ValueError(f"{name} = {_shown(value)}; it must be at most 1 - {1 - most:g}, or rounding would show")
    return number


def require_spared(value: Any) -> float:
    """Refuse a `privacy_delta` outside of [0, 1)."""
    return require_real("privacy_delta", value, "it must lie in [0, 1)", lambda x: 0 <= x < 1)


def require_whole_noise(epsilon_0: float, scale: float) -> float:
    """Refuse an epsilon so small that its noise, of this scale, could not be drawn."""
    if scale > WIDEST:
        raise ValueError(f"epsilon_0 = {epsilon_0}; noise of scale {scale:.4g} would be needed, at most 2^50 is drawn")
    return scale


def require_draws(draws: Any, delta: float, name: str = "draws") -> int:
    """Refuse so few simulated null statistics that no p-value could be as small as `delta`."""
    draws = require_whole(name, draws, 1)
    if not delta * (draws + 1) >= 1:
        raise ValueError(f"{name} = {draws}; at least 1 / delta - 1 = {1 / delta - 1:g} are needed")
    return draws


def require_data(data: Any, n_items: int, n_rankings: int | None = None, *, least: int = 2) -> None:
    """Refuse data of other sizes than a test was made for; without `n_rankings`, fewer than `least` of them."""
    if not isinstance(data, Rankings):
        raise ValueError(f"data = {type(data).__name__}; dprank.rankings.Rankings is needed")
    if data.n_items != n_items:
        raise ValueError(f"n_items = {data.n_items} in the data; this test is for n_items = {n_items}")
    if n_rankings is not None and len(data) != n_rankings:
        raise ValueError(f"n_rankings = {len(data)} in the data; this test is for n_rankings = {n_rankings}")
    if len(data) < least:
        raise ValueError(f"n_rankings = {len(data)} in the data; at least {least} are needed")


def require_generator(rng: Any, why: str = "") -> np.random.Generator:
    """Refuse what is no generator, and so `dprank.noise.SECURE` where floating-point coins are tossed."""
    if not isinstance(rng, np.random.Generator):
        because = f"{why}: " if why else ""
        raise ValueError(f"rng = {_shown(rng)}; {because}a numpy.random.Generator is needed")
    return rng


def require_source(rng: Any) -> np.random.Generator | SecureSource:
    """Refuse what is neither a generator nor `dprank.noise.SECURE`."""
    if not isinstance(rng, np.random.Generator | SecureSource):
        raise ValueError(f"rng = {_shown(rng)}; a numpy.random.Generator or dprank.noise.SECURE is needed")
    return rng


def _shown(value: Any) -> str:
    text = " ".join((str(value) if isinstance(value, numbers.Real) else repr(value)).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
