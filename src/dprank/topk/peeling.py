"""Peeling: k rounds of a noisy maximum, each winner removed before the next."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from dprank._require import require_below_1, require_bool, require_one_of, require_positive, settle
from dprank.data.tallies import (
    MOST_CHOSEN,
    Tallies,
    counted,
    finite,
    require_exact_values,
    require_items,
    require_k,
)
from dprank.mechanism import Card
from dprank.privacy.composition import Composition, require_spare
from dprank.privacy.guarantee import Adjacency, Guarantee, require_promise, require_scale
from dprank.privacy.noise import SecureSource, require_source
from dprank.privacy.published import Published
from dprank.release import Selection, source_of
from dprank.topk.accounting import Rounds
from dprank.topk.chance import gap_needed, rounds_chance
from dprank.topk.noise_laws import LAWS, Noise
from dprank.topk.selection import named, spread

__all__ = ["Peeling"]

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Peeling:
    r"""Report which noisy value is the largest, take it away, and so on, with fresh noise in each of k rounds.

    Parameters
    ----------
    k : int
        From 1 to 10^7.
    scale : float
        Of the noise, in units of the values, above 0.
    noise : {"exponential", "gumbel", "laplace"}
        A round is permute-and-flip, the exponential mechanism, or Report Noisy Max.
    sensitivity : float
        Most that one record may move any one value, above 0: 1 for counts of distinct persons, in however many counts
        one may be, and at least that where `dprank.Tallies` are released.
    adjacency : {"replace", "add_remove"}
        Whether values may move in any directions, or all in one (counts, when a record is added or removed).
    delta : float
        At which the guarantee is stated, in [0, 1); above 0 for the compositions "advanced" and "zcdp".
    composition : {"basic", "advanced", "zcdp", "optimal"}
        How the losses of the rounds are added up, see `dprank.privacy.composition.total_epsilon`. Of rounds with
        Gumbel noise "optimal" is the less of that and "zcdp", which knows more of them.
    n_items : int, optional
        Public number of values m, at least k. The last round has no choice left, and costs nothing, when k = m.
        A release needs it: it is enough for an array, with one value for each of the codes 0 .. m - 1.
    items : iterable of hashable, optional
        Public names of the m values, different from each other, decided before looking at the data.
    largest : bool
        Whether the k largest are wanted, or the k smallest.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    Peeling.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Publishes items: the largest noisy value of each round.

    What a round costs is proved in `dprank.topk.accounting`.

    One pass of Gumbel noise (`dprank.topk.oneshot.Oneshot`, ordered) releases the same order with the same law.

    Gumbel and exponential rounds can be published (`dprank.SECURE`) where values and sensitivity are integers;
    Laplace rounds are for research. Permute-and-flip errs no more than the exponential mechanism of the same epsilon
    (McKenna and Sheldon 2020), hence the default; by the composition "zcdp" Gumbel noise needs half the scale of the
    others: over many rounds it is the better.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.Peeling.calibrated(epsilon=1.0, n_items=4, k=2, adjacency="add_remove")
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; add/remove one voter)
    >>> mechanism.release([90, 10, 50, 0], dprank.SECURE).items.shape
    (2,)
    """

    card: ClassVar[Card] = Card(
        question="topk",
        how="k rounds of noise on every count that is left; the largest is named",
        delta=True,
        adjacency=True,
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("items", "the largest noisy value of each round"),)

    #: Whose rounds `dprank.SECURE` draws.
    exact_noise: ClassVar[tuple[str, ...]] = ("gumbel", "exponential")

    k: int
    scale: float
    noise: Noise = "exponential"
    _: KW_ONLY
    sensitivity: float = 1.0
    adjacency: Adjacency = "replace"
    delta: float = 0.0
    composition: Composition = "optimal"
    n_items: int | None = None
    items: Iterable[Any] | None = None
    largest: bool = True

    def __post_init__(self) -> None:
        n_items, items = require_items(self.n_items, self.items)
        settle(self, n_items=n_items, items=items)
        settle(
            self,
            k=require_k(self.k, math.inf if self.n_items is None else self.n_items, MOST_CHOSEN),
            scale=require_positive("scale", self.scale),
            sensitivity=require_positive("sensitivity", self.sensitivity, up=True),
            delta=require_below_1("delta", self.delta),
            largest=require_bool("largest", self.largest),
        )
        require_one_of("noise", self.noise, tuple(LAWS))
        require_one_of("adjacency", self.adjacency, get_args(Adjacency))
        require_one_of("composition", self.composition, get_args(Composition))
        require_spare(self.composition, self.delta)
        require_scale(self.scale, self.rounds * spread(self.sensitivity, self.adjacency))
        if self.composition in ("advanced", "zcdp"):
            require_promise(self.scale, self.guarantee.epsilon)

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int | None = None,
        items: Iterable[Any] | None = None,
        k: int,
        noise: Noise = "exponential",
        composition: Composition = "optimal",
        sensitivity: float = 1.0,
        adjacency: Adjacency = "replace",
        largest: bool = True,
    ) -> Self:
        """The least noise for which the composition proves (epsilon, delta) privacy.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta, n_items, items, k, ...
            As in `Peeling`.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Examples
        --------
        >>> import dprank
        >>> for noise, composition in (("exponential", "optimal"), ("gumbel", "zcdp")):
        ...     mechanism = dprank.Peeling.calibrated(
        ...         epsilon=1.0, delta=1e-6, k=50, noise=noise, composition=composition
        ...     )
        ...     print(f"{noise} noise of scale {mechanism.scale:.0f}")
        exponential noise of scale 58
        gumbel noise of scale 32
        """
        free = cls(
            k,
            1.0,
            noise,
            sensitivity=sensitivity,
            adjacency=adjacency,
            delta=delta,
            composition=composition,
            n_items=n_items,
            items=items,
            largest=largest,
        )
        return replace(free, scale=free._rounds.scale(epsilon, free.delta))

    @property
    def rounds(self) -> int:
        """Rounds that have a choice."""
        return self.k if self.n_items is None else min(self.k, self.n_items - 1)

    @property
    def round_epsilon(self) -> float:
        """Pure privacy loss of a round; for Gumbel noise also the range of its log ratio."""
        return self._rounds.each(self.scale)

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of the k rounds."""
        return self._rounds.rho(self.scale)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the released order at `delta`, by `composition`."""
        return Guarantee(self._rounds.epsilon(self.scale, self.delta), self.delta, adjacency=self.adjacency)

    def chance_right(self, gap: float) -> float:
        """Probability that the chosen set is the true one, whatever the data are, if a gap divides them.

        Parameters
        ----------
        gap : float
            As of `dprank.Oneshot.chance_right`.

        Raises
        ------
        ValueError
            Naming `gap`, or where the number of items is not declared.

        Notes
        -----
        Attained where all k are tied and all others too; `dprank.topk.chance.rounds_chance`: O(k), but for Gumbel
        noise. The rounds of `dprank.SECURE` have the law of noise on the line.

        Examples
        --------
        >>> mechanism = Peeling.calibrated(epsilon=1.0, n_items=20, k=3, adjacency="add_remove")
        >>> round(mechanism.chance_right(20), 3), round(mechanism.gap_needed(0.95), 1)
        (0.977, 17.6)
        """
        return rounds_chance(self.k, self._declared, gap, self.noise, self.scale)

    def gap_needed(self, chance: float = 0.95) -> float:
        """The least gap from which on the chosen set is the true one with that probability, whatever the data are.

        Parameters
        ----------
        chance : float
            In (0, 1), at most 1 - 1e-9.

        Raises
        ------
        ValueError
            Naming `chance`, or where the number of items is not declared.

        Notes
        -----
        Some tens of `chance_right`.
        """
        return gap_needed(chance, self.k, self._declared, self.noise, self.scale, rounds=True)

    @property
    def _declared(self) -> int:
        if self.n_items is None:
            raise ValueError("n_items = None; how likely a choice is right depends on the number of items")
        return self.n_items

    @property
    def _rounds(self) -> Rounds:
        return Rounds(self.rounds, self.noise, self.composition, spread(self.sensitivity, self.adjacency))

    def release(self, values: Tallies | ArrayLike | pd.Series, rng: np.random.Generator | SecureSource) -> Selection:
        """The k winners in the order of their rounds; no values.

        Parameters
        ----------
        values : dprank.Tallies, Series, or array_like of int or float, shape (items,)
            As of `dprank.Oneshot.release`: what is not there is 0, what is not declared is left out. Of tallies all
            items of a person count: rounds cost the same however many there are.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`: integer values and sensitivity, Gumbel or exponential
            noise.

        Returns
        -------
        Selection

        Raises
        ------
        ValueError
            Always, if no items are declared, or only their number and values have labels; if tallies have other items,
            or the sensitivity is below 1. If values are not finite, or one item has two of them; or if `SECURE` has no
            exact noise for them.

        Notes
        -----
        k m - k (k - 1) / 2 draws of noise, and as many comparisons. With `SECURE` as `dprank.privacy.octaves.peel`:
        about 0.1 microseconds an item and 50 to 200 a round, with exponential noise also a nanosecond an item and
        round, more or less where values are apart or alike: whoever can measure the time may learn from it.
        """
        rng = require_source(rng)
        values = counted(values, self.n_items, self.items, sensitivity=self.sensitivity)
        given = finite(values)
        if isinstance(rng, SecureSource):
            if self.noise == "laplace":
                raise ValueError(f"noise = {self.noise!r}; exact rounds for publishing are 'gumbel' and 'exponential'")
            whole = require_exact_values(values, self.sensitivity)
            codes = rng.peel(whole, self.k, self.scale, self.noise, largest=self.largest)
            return Selection(named(values, codes), mechanism=self, source=source_of(rng, self))
        left, items = np.arange(len(given)), []
        for _ in range(self.k):
            noisy = (given[left] if self.largest else -given[left]) + LAWS[self.noise].draw(self.scale, len(left), rng)
            winner = int(noisy.argmax())
            items.append(left[winner])
            left = np.delete(left, winner)
        return Selection(named(values, np.array(items)), mechanism=self, source=source_of(rng, self))
