"""Peeling: k rounds of a noisy maximum, each winner removed before the next."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dprank.mechanism import Adjacency, Guarantee, ratio_up, require
from dprank.topk._require import finite, require_delta, require_k, require_positive
from dprank.topk.composition import Composition, epsilon_per_round, rho, total_epsilon
from dprank.topk.noise_laws import LAWS, Noise
from dprank.topk.oneshot import TopK


@dataclass(frozen=True)
class Peeling:
    r"""Report which noisy value is the largest, take it away, and so on, with fresh noise in each of k rounds.

    Parameters
    ----------
    k : int
        At least 1.
    scale : float
        Of the noise, in units of the values, above 0.
    noise : {"laplace", "gumbel", "exponential"}
        A round is Report Noisy Max, the exponential mechanism, or permute-and-flip.
    sensitivity : float
        Most that one record may move any one value, above 0.
    adjacency : {"replace", "add_remove"}
        Whether values may move in any directions, or all in one (counts, when a record is added or removed).
    delta : float
        At which the guarantee is stated, in [0, 1); above 0 for the compositions "advanced" and "zcdp".
    composition : {"basic", "advanced", "zcdp", "optimal"}
        How the losses of the rounds are added up, see `dprank.topk.composition.total_epsilon`.
    n_items : int, optional
        Public number of values m. The last round has no choice left, and costs nothing, when k = m.
    largest : bool
        Whether the k largest are wanted, or the k smallest.

    See Also
    --------
    Peeling.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Given the noise of the others, an item wins a round if its own noise is above a threshold. A neighbour moves that
    threshold by at most w: twice the sensitivity if values move in any directions, once if all move one way. Under each
    of the three laws the chance to be above it then changes by a factor of at most :math:`e^{w / scale}`.

    One pass of Gumbel noise (`dprank.topk.oneshot.Oneshot`, ordered) releases the same order with the same law.
    """

    k: int
    scale: float
    noise: Noise = "laplace"
    _: KW_ONLY
    sensitivity: float = 1.0
    adjacency: Adjacency = "replace"
    delta: float = 0.0
    composition: Composition = "optimal"
    n_items: int | None = None
    largest: bool = True

    def __post_init__(self) -> None:
        require_k(self.k, math.inf if self.n_items is None else self.n_items)
        require_positive("scale", self.scale)
        require_positive("sensitivity", self.sensitivity)
        require_delta(self.delta)
        require("noise", self.noise, tuple(LAWS))
        require("adjacency", self.adjacency, get_args(Adjacency))
        require("composition", self.composition, get_args(Composition))
        if self.composition in ("advanced", "zcdp") and self.delta == 0:
            raise ValueError(f"delta = {self.delta}; {self.composition!r} composition needs it above 0")

    @classmethod
    def calibrated(cls, k: int, epsilon: float, delta: float = 0.0, **others: Any) -> Self:
        """The least noise for which the composition proves (epsilon, delta) privacy.

        Parameters
        ----------
        k : int
        epsilon : float
            Above 0, finite.
        delta : float
        **others
            Of `Peeling`, without the scale.
        """
        require_positive("epsilon", epsilon)
        free = cls(k, 1.0, delta=delta, **others)
        loss = epsilon_per_round(
            free.composition, max(free.rounds, 1), epsilon, delta, bounded_range=free.noise == "gumbel"
        )
        tight = replace(free, scale=ratio_up(free._move, loss))
        while tight.guarantee.epsilon > epsilon:
            tight = replace(tight, scale=tight.scale * (1 + 2.0**-44))
        return tight

    @property
    def rounds(self) -> int:
        """Rounds that have a choice."""
        return self.k if self.n_items is None else min(self.k, self.n_items - 1)

    @property
    def epsilon_0(self) -> float:
        """Pure privacy loss of a round; for Gumbel noise also the range of its log ratio."""
        return ratio_up(self._move, self.scale)

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of the k rounds."""
        return rho(self.rounds, self.epsilon_0, self.noise == "gumbel")

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the released order at `delta`, by `composition`."""
        epsilon = total_epsilon(
            self.composition, self.rounds, self.epsilon_0, self.delta, bounded_range=self.noise == "gumbel"
        )
        return Guarantee(epsilon, self.delta, adjacency=self.adjacency)

    def release(self, values: ArrayLike | pd.Series, rng: np.random.Generator) -> TopK:
        """The k winners in the order of their rounds; no values.

        Parameters
        ----------
        values : array_like of int or float, or Series, shape (items,)
            Finite. Items are named by the index of a Series, by position otherwise.
        rng : numpy.random.Generator
            For research: floating-point noise can leak what it should hide.

        Raises
        ------
        ValueError
            If values are not finite, or fewer than k, or not n_items.

        Notes
        -----
        k m - k (k - 1) / 2 draws of noise, and as many comparisons.
        """
        given = finite(values)
        if self.n_items not in (None, len(given)):
            raise ValueError(f"values are {len(given)}; this mechanism is for n_items = {self.n_items}")
        require_k(self.k, len(given))
        if not isinstance(rng, np.random.Generator):
            raise ValueError(f"rng = {rng!r}; floating-point noise is for research: pass a numpy.random.Generator")
        left, items = np.arange(len(given)), []
        for _ in range(self.k):
            noisy = (given[left] if self.largest else -given[left]) + LAWS[self.noise].draw(self.scale, len(left), rng)
            winner = int(noisy.argmax())
            items.append(left[winner])
            left = np.delete(left, winner)
        return TopK(values.index.to_numpy()[items] if isinstance(values, pd.Series) else np.array(items), None)

    @property
    def _move(self) -> float:
        """Most that the difference of two values may move."""
        return self.sensitivity * (2 if self.adjacency == "replace" else 1)
