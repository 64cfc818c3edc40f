"""One-shot private selection of the k largest or smallest values (Qiao, Su and Zhang 2021, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank.mechanism import Adjacency, Guarantee
from dprank.topk.noise_laws import LAWS, Noise


class TopK(NamedTuple):
    """What a selection releases."""

    items: NDArray[Any]  # codes of the chosen, ascending unless the mechanism releases their order
    values: NDArray[np.float64] | None  # their values under fresh noise, where the mechanism releases them


@dataclass(frozen=True)
class Oneshot:
    """Add noise to every value once and report which k are the largest (or smallest).

    Parameters
    ----------
    k : int
        At least 1.
    scale : float
        Of the noise, in units of the values, above 0.
    noise : {"laplace", "gumbel", "exponential"}
    sensitivity : float
        Most that one record may move any one value, above 0.
    adjacency : {"replace", "add_remove"}
        Whether values may move in any directions, or all in one (counts, when a record is added or removed).
    delta : float
        At which the guarantee is stated, in [0, 1).
    value_scale : float, optional
        Scale of the fresh Laplace noise of the k released values; none are released without it.
    n_items : int, optional
        Public number of values m: min(k, m - k) then replaces k in the pure guarantee.
    largest : bool
        Whether the k largest are wanted, or the k smallest.
    """

    k: int
    scale: float
    noise: Noise = "laplace"
    _: KW_ONLY
    sensitivity: float = 1.0
    adjacency: Adjacency = "replace"
    delta: float = 0.0
    value_scale: float | None = None
    n_items: int | None = None
    largest: bool = True

    @classmethod
    def as_printed(
        cls, k: int, epsilon: float, delta: float = 0.0, n_items: int | None = None, *, values: bool = True, **others: Any
    ) -> Self:
        """Algorithm 1 with the noise of Theorem 2.1 (delta = 0) or of Theorem 2.2."""
        raise NotImplementedError

    @classmethod
    def calibrated(cls, k: int, epsilon: float, delta: float = 0.0, **others: Any) -> Self:
        """The least noise for which the guarantee is proved."""
        raise NotImplementedError

    @property
    def guarantee(self) -> Guarantee:
        """What is proved of `release` at `delta`."""
        raise NotImplementedError

    def release(self, values: ArrayLike, rng: np.random.Generator) -> TopK:
        """Choose k items, and add fresh noise to their values where these are released."""
        given = np.asarray(values, float)
        noisy = (given if self.largest else -given) + LAWS[self.noise].draw(self.scale, len(given), rng)
        items = np.sort(np.argpartition(-noisy, self.k - 1)[: self.k]) if self.k < len(given) else np.arange(self.k)
        shown = None if self.value_scale is None else given[items] + rng.laplace(0, self.value_scale, self.k)
        return TopK(items, shown)

    def spread(self) -> float:
        """Most that the difference of two values may move: twice the sensitivity, or once if all move one way."""
        return self.sensitivity * (2 if self.adjacency == "replace" else 1)


assert math  # replaced by the owner
