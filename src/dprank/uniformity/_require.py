"""What tests of uniformity refuse beside what `dprank._require` does, each in one line."""

from __future__ import annotations

from typing import Any

from dprank._require import MOST_AT_ONCE, require_whole
from dprank.data.rankings import Rankings
from dprank.privacy.noise import WIDEST

#: Size from which rounding could keep a search for a threshold from ending.
MOST = 1 - 1e-9
#: Most null statistics that are simulated.
MOST_DRAWS = 10**7
#: Least significance for which the exact law of Kendall distances, absolute error 1e-12, is asked.
LEAST_EXACT = 1e-10


def require_sizes(n_items: Any, n_rankings: Any, most: int = MOST_AT_ONCE) -> dict[str, int]:
    """Refuse fewer than two items or rankings, or more than are held at once; closed forms may take more."""
    sizes = {"n_items": n_items, "n_rankings": n_rankings}
    return {name: require_whole(name, size, 2, most) for name, size in sizes.items()}


def require_whole_noise(epsilon_0: float, scale: float) -> float:
    """Refuse an epsilon so small that its noise, of this scale, could not be drawn."""
    if scale > WIDEST:
        raise ValueError(f"epsilon_0 = {epsilon_0}; noise of scale {scale:.4g} would be needed, at most 2^50 is drawn")
    return scale


def require_draws(draws: Any, delta: float, name: str = "draws") -> int:
    """Refuse so few simulated null statistics that no p-value could be as small as `delta`."""
    draws = require_whole(name, draws, 1, MOST_DRAWS)
    if not delta * (draws + 1) >= 1:
        raise ValueError(f"{name} = {draws}; at least 1 / delta - 1 = {1 / delta - 1:g} are needed")
    return draws


def require_data(data: Any, n_items: int, n_rankings: int | None = None, *, least: int = 2) -> None:
    """Refuse data of other sizes than a test was made for; without `n_rankings`, fewer than `least` of them."""
    if not isinstance(data, Rankings):
        raise ValueError(f"data = {type(data).__name__}; dprank.Rankings is needed")
    if data.n_items != n_items:
        raise ValueError(f"n_items = {data.n_items} in the data; this test is for n_items = {n_items}")
    if n_rankings is not None and len(data) != n_rankings:
        raise ValueError(f"n_rankings of the data is another; this test is for n_rankings = {n_rankings}")
    if len(data) < least:
        raise ValueError(f"n_rankings of the data is too small; at least {least} are needed")
