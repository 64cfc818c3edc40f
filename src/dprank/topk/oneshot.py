"""One-shot private selection of the k largest or smallest values (Qiao, Su and Zhang 2021, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from dprank._require import (
    require_at_least_0,
    require_below_1,
    require_bool,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank.data.count_files import Counts
from dprank.data.tallies import MOST_CHOSEN, Tallies, counted, finite, require_exact_values, require_items, require_k
from dprank.mechanism import Card
from dprank.privacy import noise as noises
from dprank.privacy.gaussian import zcdp
from dprank.privacy.guarantee import Adjacency, Guarantee, compose, require_promise, require_scale
from dprank.privacy.published import Published, on_steps
from dprank.release import Selection, source_of
from dprank.topk.accounting import Chosen, Shown, shared_scales, splits
from dprank.topk.chance import gap_needed, set_chance
from dprank.topk.noise_laws import Noise
from dprank.topk.selection import named, noisy_top_k, unranked, whole_top_k

__all__ = ["Oneshot"]

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Oneshot:
    r"""Add noise to every value once and report which k are the largest (or smallest).

    Parameters
    ----------
    k : int
        From 1 to 10^7.
    scale : float
        Of the noise, in units of the values, above 0.
    noise : {"laplace", "gumbel", "exponential"}
    sensitivity : float
        Most that one record may move any one value, above 0. A record is what is added, removed or replaced: all that
        one person contributed, as a rule. It is 1 for counts of distinct persons, in however many counts one may be,
        and at least that where `dprank.Tallies` are released.
    adjacency : {"replace", "add_remove"}
        Whether values may move in any directions, or all in one (counts, when a record is added or removed).
    delta : float
        At which the guarantee is stated, in [0, 1).
    value_scale : float, optional
        Scale of the fresh Laplace noise of the k released values; none are released without it.
    n_items : int, optional
        Public number of values m, at least k; the guarantee may then use it. A release needs it: it is enough for an
        array, with one value for each of the codes 0 .. m - 1.
    items : iterable of hashable, optional
        Public names of the m values, different from each other, decided before looking at the data. The labels of a
        Series are data: an item list read off them would itself reveal who is in them.
    largest : bool
        Whether the k largest are wanted, or the k smallest.
    ordered : bool
        Whether the order of the k is released too, best first.
    per_person : int, optional
        Public bound, at least 1, on how many values adding or removing a record may move (diagnoses a patient may
        have, say); replacing one may move twice as many. It makes Laplace noise and released values cheaper. Of
        `dprank.Tallies` so many items of each person are counted, and the bound holds. Of a list of counts it is
        believed: where a person is in more of them, that person is promised too much.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    Oneshot.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Publishes items: the largest noisy values; values: their values under fresh noise (whole numbers).

    Items are declared, never read off the data: what one person alone has would come out with a chance above 0 against
    none without that person, at every scale. Let a neighbour move each label's value, 0 where a label is absent, by at
    most the sensitivity, as counts are moved. The values of a list of labels that does not depend on the data then move
    by at most the sensitivity each, and in the directions that `adjacency` allows: they are neighbouring values of m
    items, and what follows holds of them. So absent items are 0, and undeclared ones are left out without a word, since
    to refuse a label would tell of whoever alone has it.

    How much noise pays for a choice is proved in `dprank.topk.accounting`. A published release has the same guarantees:
    its Gumbel noise is real and exact, and its Laplace and exponential noise is whole, with ties broken at random.

    Examples
    --------
    >>> import dprank
    >>> items = ["asthma", "flu", "gout", "kuru", "measles", "migraine"]
    >>> table = dprank.example("diagnoses.csv")
    >>> patients = dprank.read_tallies(table, items=items, person="patient", item="diagnosis")
    >>> mechanism = dprank.Oneshot.calibrated(
    ...     epsilon=1.0, items=items, k=2, adjacency="add_remove", ordered=True, per_person=2
    ... )
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; add/remove one voter)
    >>> len(mechanism.release(patients, dprank.SECURE).items)
    2
    """

    card: ClassVar[Card] = Card(
        question="topk",
        how="noise on every count, once; the k largest are named",
        delta=True,
        adjacency=True,
        gives=("values",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("items", "the largest noisy values"),
        on_steps("values", "their values under fresh noise", "whole numbers"),
    )

    k: int
    scale: float
    noise: Noise = "laplace"
    _: KW_ONLY
    sensitivity: float = 1.0
    adjacency: Adjacency = "replace"
    delta: float = 0.0
    value_scale: float | None = None
    n_items: int | None = None
    items: Iterable[Any] | None = None
    largest: bool = True
    ordered: bool = False
    per_person: int | None = None

    def __post_init__(self) -> None:
        n_items, items = require_items(self.n_items, self.items)
        settle(
            self,
            noise=require_one_of("noise", self.noise, get_args(Noise)),
            adjacency=require_one_of("adjacency", self.adjacency, get_args(Adjacency)),
            n_items=n_items,
            items=items,
            k=require_k(self.k, n_items or math.inf, MOST_CHOSEN),
            scale=require_positive("scale", self.scale),
            sensitivity=require_positive("sensitivity", self.sensitivity, up=True),
            delta=require_below_1("delta", self.delta),
            value_scale=None if self.value_scale is None else require_positive("value_scale", self.value_scale),
            largest=require_bool("largest", self.largest),
            ordered=require_bool("ordered", self.ordered),
            per_person=None
            if self.per_person is None
            else require_whole("per_person", self.per_person, 1, MOST_CHOSEN),
        )
        chosen, shown = self._chosen, self._shown
        require_scale(self.scale, chosen.pushes * chosen.spread)
        if self.value_scale is not None:
            require_scale(self.value_scale, shown.moves * shown.sensitivity, "value_scale")
            require_promise(self.scale, chosen.epsilon(self.scale, 0.0) + shown.epsilon(self.value_scale, 0.0))

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int | None = None,
        items: Iterable[Any] | None = None,
        k: int,
        noise: Noise = "laplace",
        values: bool = False,
        share: float | None = None,
        sensitivity: float = 1.0,
        adjacency: Adjacency = "replace",
        largest: bool = True,
        ordered: bool = False,
        per_person: int | None = None,
    ) -> Self:
        """The least noise for which (epsilon, delta) is proved.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta, n_items, items, k, ...
            As in `Oneshot`.
        values : bool
            Whether the k values are released too. Delta is then split so that the product of the two scales is least.
        share : float, optional
            Of epsilon (of rho, where one conversion of the sum is better) that pays for the values, in (0, 1); a half
            by default. Choosing all of `n_items` is free, and the values then have all of epsilon.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Notes
        -----
        A millisecond or two without a delta, some tens with one, up to half a second for a thousand items; O(k) where
        the optimal composition is sought.
        """
        epsilon, values = require_positive("epsilon", epsilon), require_bool("values", values)
        free = cls(
            k,
            1.0,
            noise,
            sensitivity=sensitivity,
            adjacency=adjacency,
            delta=delta,
            n_items=n_items,
            items=items,
            largest=largest,
            ordered=ordered,
            per_person=per_person,
        )
        share = None if share is None else require_probability("share", share)
        if share is not None and not values:
            raise ValueError(f"share = {share}, values = {values}; only released values have a share")
        chosen, shown, delta = free._chosen, free._shown, free.delta
        value_scale: float | None = None
        if values and chosen.pushes:
            scale, value_scale = shared_scales(chosen, shown, epsilon, delta, 0.5 if share is None else share)
        else:
            scale = chosen.scale(epsilon, delta)
            value_scale = shown.scale(epsilon, delta) if values else None
        if free.noise != "gumbel":  # which is drawn exactly at any scale; the others on halves at the least
            noises.require_drawable(epsilon, scale, grain=0.5)
        if value_scale is not None:
            noises.require_drawable(epsilon, value_scale, grain=0.5)
        return replace(free, scale=scale, value_scale=value_scale)

    @property
    def guarantee(self) -> Guarantee:
        """What is proved of `release` at `delta`, by the best of the routes in the notes.

        Of a release with values delta may go to either part, or half to each. Where it helps nothing, epsilon is pure.
        """

        def promise(epsilon: float, delta: float) -> Guarantee:
            return Guarantee(epsilon, delta, adjacency=self.adjacency)

        chosen, shown = partial(self._chosen.epsilon, self.scale), partial(self._shown.epsilon, self.value_scale)
        routes = [compose(promise(chosen(d), d), promise(shown(e), e)) for d, e in splits(self.delta)]
        if self.noise == "gumbel":
            routes.append(promise(zcdp(self.rho, self.delta), self.delta))
        return min(routes, key=lambda route: route.epsilon)

    @property
    def shows(self) -> tuple[str, ...]:
        """What a release has besides the items."""
        return () if self.value_scale is None else ("values",)

    @property
    def rho(self) -> float:
        """The rho of a zero-concentrated guarantee of `release`."""
        return self._chosen.rho(self.scale) + self._shown.rho(self.value_scale)

    def chance_right(self, gap: float, *, law: noises.Law = "discrete") -> float:
        """Probability that the chosen set is the true one, whatever the data are, if a gap divides them.

        Parameters
        ----------
        gap : float
            Between the k-th largest (smallest) true value and the next, in units of the values; at least 0. True values
            are those that noise is added to: of tallies, counts of `per_person` items of each person.
        law : {"discrete", "continuous"}
            Of the noise: that of `dprank.SECURE` and integer values, or on the real line.

        Raises
        ------
        ValueError
            Naming `gap`, or where the number of items is not declared.

        Notes
        -----
        Attained where all k are tied and all others too, just so far behind; from public numbers alone. See
        `dprank.topk.chance.set_chance`: some milliseconds.

        Examples
        --------
        >>> mechanism = Oneshot.calibrated(epsilon=1.0, n_items=20, k=3, adjacency="add_remove")
        >>> round(mechanism.chance_right(20), 3), mechanism.gap_needed(0.95)
        (0.932, 22.0)
        """
        gap, step = require_at_least_0("gap", gap), self._step(law)
        # whole values are a whole number apart
        return set_chance(
            self.k, self._declared, math.ceil(gap) if law == "discrete" else gap, self.noise, self.scale, step
        )

    def gap_needed(self, chance: float = 0.95, *, law: noises.Law = "discrete") -> float:
        """The least gap from which on the chosen set is the true one with that probability, whatever the data are.

        Parameters
        ----------
        chance : float
            In (0, 1), at most 1 - 1e-9.
        law
            As in `chance_right`.

        Raises
        ------
        ValueError
            Naming `chance`, or where the number of items is not declared.

        Notes
        -----
        Some tens of `chance_right`.
        """
        step = self._step(law)
        needed = gap_needed(chance, self.k, self._declared, self.noise, self.scale, step)
        return float(math.ceil(needed)) if law == "discrete" else needed

    @property
    def _declared(self) -> int:
        if self.n_items is None:
            raise ValueError("n_items = None; how likely a choice is right depends on the number of items")
        return self.n_items

    def _step(self, law: noises.Law) -> float:
        """Of the grid of noise and of values, which lie on whole numbers at least."""
        require_one_of("law", law, get_args(noises.Law))
        if law == "continuous" or self.noise == "gumbel":
            return 0.0
        return 1.0 if self.adjacency == "replace" else 0.5

    @property
    def _chosen(self) -> Chosen:
        m = math.inf if self.n_items is None else self.n_items
        bound = math.inf if self.per_person is None else self.per_person
        return Chosen(self.k, self.noise, self.sensitivity, self.adjacency, self.ordered, m, bound)

    @property
    def _shown(self) -> Shown:
        return Shown(int(min(self.k, self._chosen.moves)), self.sensitivity)

    def release(
        self, values: Tallies | Counts | ArrayLike | pd.Series, rng: np.random.Generator | noises.SecureSource
    ) -> Selection:
        """Choose k items, and add fresh noise to their values where these are released.

        Parameters
        ----------
        values : dprank.Tallies, dprank.Counts, Series, or array_like of int or float, shape (items,)
            Who has which items, of which `per_person` are counted for each person: the bound is kept. Or counts of all
            shards in which just so many were. Or finite counts
            of which it is believed, or other numbers that are 0 where there is no record. Of a Series those of the
            declared `items`, in whatever order it is; an array is by position, which must be public, not the order of
            the counts. What is not there is 0, and what is not declared is left out (`dprank.undeclared` shows it): the
            notes of `Oneshot` prove that the guarantee holds.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`: integer values and sensitivity.

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
        As `dprank.topk.selection.noisy_top_k`, which draws little of the noise; its running time depends on the data.
        With `SECURE` and Laplace or exponential noise about 0.1 microseconds an item, whatever the values, up to 20
        where there are fewer than 10^4; with Gumbel noise about 0.1 an item and 50 a round of `k`, more or less where
        values are apart or alike (`dprank.privacy.octaves.peel`). That too can be measured.
        """
        rng = noises.require_source(rng)
        values = counted(values, self.n_items, self.items, sensitivity=self.sensitivity, per_person=self.per_person)
        given = finite(values)
        if isinstance(rng, noises.SecureSource):
            given = whole = require_exact_values(values, self.sensitivity)
            if self.noise == "gumbel":
                # k rounds have the law of one pass
                codes = rng.peel(whole, self.k, self.scale, "gumbel", largest=self.largest)
            else:
                # on halves where all values move one way: half a spread must be an integer
                grid = 1 if self.adjacency == "replace" else 2
                codes = whole_top_k(whole, self.k, self.scale, self.noise, rng, grid=grid, largest=self.largest)
        else:
            codes = noisy_top_k(given, self.k, self.scale, self.noise, rng, largest=self.largest)
        if not self.ordered:
            codes = unranked(values, codes)
        names, source = named(values, codes), source_of(rng, self)
        if self.value_scale is None:
            return Selection(names, mechanism=self, source=source)
        draw = noises.discrete_laplace if isinstance(rng, noises.SecureSource) else noises.laplace
        shown = given[codes] + draw(self.value_scale, self.k, rng=rng)  # type: ignore[arg-type]
        return Selection(names, shown, mechanism=self, source=source)
