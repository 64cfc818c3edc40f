"""One-shot private selection of the k largest or smallest values (Qiao, Su and Zhang 2021, Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from dprank._require import (
    require_below_1,
    require_bool,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank.data.tallies import (
    MOST_CHOSEN,
    declared,
    finite,
    refuse_scales,
    require_exact_values,
    require_items,
    require_k,
)
from dprank.privacy import noise as noises
from dprank.privacy.composition import Composition, epsilon_per_round, rho, total_epsilon
from dprank.privacy.gaussian import zcdp
from dprank.privacy.guarantee import Adjacency, Guarantee, compose, ratio_up, require_promise, require_scale
from dprank.release import Selection, source_of
from dprank.topk.bound import log_delta, shift_for
from dprank.topk.noise_laws import Noise
from dprank.topk.selection import named, noisy_top_k, spread, unranked

# relative; calibrated scales that numbers were inverted for are so much larger than found
_SLACK = 1e-9
# how the rounds of Gumbel noise compose
_ROUNDS: tuple[Composition, ...] = ("optimal", "zcdp")


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
        one person contributed, as a rule. It is 1 for counts of distinct persons, in however many counts one may be.
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
    contributions : int, optional
        Public bound, at least 1, on how many values adding or removing a record may move (diagnoses a patient may
        have, say); replacing one may move twice as many. It makes Laplace noise and released values cheaper.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    Oneshot.calibrated : the noise that a given epsilon needs.
    Oneshot.as_printed : the paper's own noise.

    Notes
    -----
    Items are declared, never read off the data: what one person alone has would come out with a chance above 0 against
    none without that person, at every scale. Let a neighbour move each label's value, 0 where a label is absent, by at
    most the sensitivity, as counts are moved. The values of a list of labels that does not depend on the data then move
    by at most the sensitivity each, and in the directions that `adjacency` allows: they are neighbouring values of m
    items, and what follows holds of them. So absent items are 0, and undeclared ones are left out without a word, since
    to refuse a label would tell of whoever alone has it.

    Differences of values decide, and the difference of two moves by at most w: twice the sensitivity if values move in
    any directions, once if all move one way. So moving one way is moving in any directions by half the sensitivity,
    as far as the chosen are concerned.

    Pure: push the noise of the k chosen up by at most w each, and they stay chosen. That costs k w / scale under each
    of the three laws. Laplace noise may as well push the m - k others down, and an order of all m outlives any shift of
    all m, by the median move say, from which the moves differ by floor(m / 2) w together at most: min(k, m - k) w /
    scale for the set, min(k, floor(m / 2)) w / scale for the order.

    If a record moves at most c values, Laplace noise may undo the moves themselves: c moves by the sensitivity if a
    record is added or removed, 2c if it is replaced, hence c w / scale either way. These moves are as many independent
    releases, so they also compose, to an (epsilon, delta) and to a rho; and no more of the k released values move. This
    says nothing of Gumbel and exponential noise, which cannot be pushed down: raising a single item that was far ahead
    of the k chosen costs k sensitivity / scale.

    Approximate: Laplace noise by `dprank.topk.bound.log_delta`; a set is symmetric, so k or m - k.

    Gumbel noise selects, in order, as k rounds of the exponential mechanism do (the last of m is no choice). A round
    loses at most w / scale and costs (w / scale)^2 / 8 of zCDP [1]_; `dprank.privacy.composition` adds the rounds up,
    and the k released values.

    A published release has the same guarantees. Its Gumbel noise is real and exact. Its Laplace and exponential noise
    is whole, and ties are broken at random: that is noise spread evenly over the unit above its integer, and a shift by
    an integer changes that density as it does the noise. Half a spread must be an integer for that, hence noise on
    halves where values move one way.

    References
    ----------
    .. [1] Mark Cesar and Ryan Rogers. Bounding, concentrating, and truncating: unifying privacy loss composition for
       data analytics. ALT 2021.
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
    items: Iterable[Any] | None = None
    largest: bool = True
    ordered: bool = False
    contributions: int | None = None

    def __post_init__(self) -> None:
        c = self.contributions
        n_items, items = require_items(self.n_items, self.items)
        settle(self, n_items=n_items, items=items)
        require_one_of("noise", self.noise, get_args(Noise))
        require_one_of("adjacency", self.adjacency, get_args(Adjacency))
        settle(
            self,
            k=require_k(self.k, self._m, MOST_CHOSEN),
            scale=require_positive("scale", self.scale),
            sensitivity=require_positive("sensitivity", self.sensitivity, up=True),
            delta=require_below_1("delta", self.delta),
            value_scale=None if self.value_scale is None else require_positive("value_scale", self.value_scale),
            largest=require_bool("largest", self.largest),
            ordered=require_bool("ordered", self.ordered),
            contributions=None if c is None else require_whole("contributions", c, 1, MOST_CHOSEN),
        )
        require_scale(self.scale, self._pushes * self._spread)
        if self.value_scale is not None:
            require_scale(self.value_scale, self._shown_moves * self.sensitivity, "value_scale")
            require_promise(self.scale, self._chosen(0.0) + self._shown(0.0))

    @classmethod
    def as_printed(
        cls,
        k: int,
        epsilon: float,
        delta: float = 0.0,
        n_items: int | None = None,
        *,
        items: Iterable[Any] | None = None,
        sensitivity: float = 1.0,
        values: bool = True,
        largest: bool = False,
        **parameters: Any,
    ) -> Self:
        """Algorithm 1 with the noise of Theorem 2.1 (delta = 0) or of Theorem 2.2.

        Parameters
        ----------
        k : int
        epsilon : float
            As claimed: above 0, and at most 0.2 in Theorem 2.2.
        delta : float
            As claimed: at most 0.05.
        n_items : int, optional
            The noise of Theorem 2.2 needs it, at least 2.
        items : iterable of hashable, optional
            Public names, whose number `n_items` then is.
        sensitivity : float
        values : bool
            Whether the k values are released under fresh noise of the same scale, as Algorithm 1 says.
        largest : bool
            Algorithm 1 reports the k smallest.
        **parameters
            Of `Oneshot`.

        Raises
        ------
        ValueError
            Naming what is out of range; also where Theorem 2.2 says nothing.
        """
        refuse_scales(parameters)
        values, (n_items, items) = require_bool("values", values), require_items(n_items, items)
        k = require_k(k, math.inf if n_items is None else n_items)
        epsilon = require_positive("epsilon", epsilon)
        sensitivity = require_positive("sensitivity", sensitivity, up=True)
        delta = require_below_1("delta", delta)
        if delta == 0:
            scale = ratio_up(_times_up(2 * k, sensitivity), epsilon)
        elif n_items is None or n_items < 2 or epsilon > 0.2 or delta > 0.05:
            raise ValueError(
                f"epsilon = {epsilon}, delta = {delta}, n_items = {n_items}; "
                "Theorem 2.2 is for epsilon <= 0.2, delta <= 0.05, n_items >= 2"
            )
        else:
            scale = 8 * sensitivity * math.sqrt(k * math.log(n_items / delta)) / epsilon
        return cls(
            k,
            scale,
            sensitivity=sensitivity,
            delta=delta,
            n_items=n_items,
            items=items,
            value_scale=scale if values else None,
            largest=largest,
            **parameters,
        )

    @classmethod
    def calibrated(
        cls,
        k: int,
        epsilon: float,
        delta: float = 0.0,
        noise: Noise = "laplace",
        *,
        values: bool = False,
        share: float | None = None,
        **parameters: Any,
    ) -> Self:
        """The least noise for which (epsilon, delta) is proved.

        Parameters
        ----------
        k : int
        epsilon : float
            Above 0, finite.
        delta : float
            In [0, 1).
        noise : {"laplace", "gumbel", "exponential"}
        values : bool
            Whether the k values are released too. Delta is then split so that the product of the two scales is least.
        share : float, optional
            Of epsilon (of rho, where one conversion of the sum is better) that pays for the values, in (0, 1); a half
            by default. Choosing all of `n_items` is free, and the values then have all of epsilon.
        **parameters
            Of `Oneshot`, without the scales.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Notes
        -----
        A millisecond or two for Laplace noise, some tens for Gumbel noise with a delta; O(k) where the optimal
        composition is sought.
        """
        refuse_scales(parameters)
        epsilon, values = require_positive("epsilon", epsilon), require_bool("values", values)
        free = cls(k, 1.0, noise, delta=delta, **parameters)
        k, delta = free.k, free.delta
        parameters["items"] = free.items
        share = None if share is None else require_probability("share", share)
        if share is not None and not values:
            raise ValueError(f"share = {share}, values = {values}; only released values have a share")
        if not values or free._pushes == 0:
            scale = free._selection_scale(epsilon, delta)
            value_scale = free._value_scale(epsilon, delta) if values else None
            return cls(k, scale, noise, delta=delta, value_scale=value_scale, **parameters)
        share = 0.5 if share is None else share
        paid = share * epsilon
        rest = math.nextafter(epsilon - paid, 0)
        scales = [(free._selection_scale(rest, d), free._value_scale(paid, e)) for d, e in _splits(delta)]
        if noise == "gumbel" and delta > 0 and free._pushes:
            # one conversion of the sum; share is then that of rho
            total = rho(1, epsilon_per_round("zcdp", 1, epsilon, delta)) * (1 - _SLACK)
            scale = free._spread * math.sqrt(free._pushes / (8 * (1 - share) * total))
            scales.append((scale, free.sensitivity * math.sqrt(free._shown_moves / (2 * share * total))))
        scale, value_scale = min(scales, key=math.prod)
        return cls(k, scale, noise, delta=delta, value_scale=value_scale, **parameters)

    @property
    def guarantee(self) -> Guarantee:
        """What is proved of `release` at `delta`, by the best of the routes in the notes.

        A release with values is a composition: delta may go to either part, or half to each. It may help nothing: the
        guarantee is pure then.
        """

        def promise(epsilon: float, delta: float) -> Guarantee:
            return Guarantee(epsilon, delta, adjacency=self.adjacency)

        routes = [compose(promise(self._chosen(d), d), promise(self._shown(e), e)) for d, e in _splits(self.delta)]
        if self.noise == "gumbel":
            routes.append(promise(zcdp(self.rho, self.delta), self.delta))
        return min(routes, key=lambda route: route.epsilon)

    @property
    def rho(self) -> float:
        """The rho of a zero-concentrated guarantee of `release`."""
        loss = self._spread / self.scale
        chosen = rho(int(self._pushes), loss, True) if self.noise == "gumbel" else rho(1, self._pushes * loss)
        if self.noise == "laplace" and self._moves < math.inf:
            chosen = min(chosen, rho(int(self._moves), self.sensitivity / self.scale))
        shown = 0.0 if self.value_scale is None else rho(self._shown_moves, self.sensitivity / self.value_scale)
        return chosen + shown

    @property
    def _spread(self) -> float:
        return spread(self.sensitivity, self.adjacency)

    @property
    def _m(self) -> float:
        return math.inf if self.n_items is None else self.n_items

    @property
    def _unordered_m(self) -> float:
        """Items for `log_delta`: in an order the others do not tell what the chosen do."""
        return math.inf if self.ordered else self._m

    @property
    def _moves(self) -> float:
        """How many values one record may move."""
        each = math.inf if self.contributions is None else self.contributions
        return 2 * each if self.adjacency == "replace" else each

    @property
    def _shown_moves(self) -> int:
        """How many released values one record may move."""
        return int(min(self.k, self._moves))

    @property
    def _pushes(self) -> float:
        """How many shifts by the spread keep what is chosen as it is."""
        if self.noise != "laplace":
            return min(self.k, self._m - 1) if self.ordered else self.k if self.k < self._m else 0
        half = math.inf if self.n_items is None else self.n_items // 2
        moved = math.inf if self.contributions is None else self.contributions
        return min(self.k, half if self.ordered else self._m - self.k, moved)

    def _chosen(self, delta: float) -> float:
        """Epsilon of the selection."""
        pure = ratio_up(_times_up(self._pushes, self._spread), self.scale)
        if delta == 0 or pure == 0:
            return pure
        if self.noise == "gumbel":
            each, rounds = ratio_up(self._spread, self.scale), int(self._pushes)
            return min(pure, *(total_epsilon(c, rounds, each, delta, bounded_range=True) for c in _ROUNDS))
        if self.noise == "exponential":
            return pure
        if self._moves < math.inf:
            each = ratio_up(self.sensitivity, self.scale)
            pure = min(pure, total_epsilon("optimal", int(self._moves), each, delta))

        def excess(epsilon: float) -> float:
            return log_delta(self.k, shift, epsilon, self._unordered_m) - math.log(delta)

        shift = ratio_up(self._spread / 2, self.scale)
        if excess(pure) > 0:
            return pure
        epsilon = 0.0 if excess(0.0) <= 0 else float(brentq(excess, 0.0, pure, xtol=1e-300, rtol=1e-14))
        while excess(epsilon) > 0:
            epsilon *= 1 + 1e-13
        return epsilon

    def _shown(self, delta: float) -> float:
        """Epsilon of the released values."""
        if self.value_scale is None:
            return 0.0
        pure = ratio_up(_times_up(self._shown_moves, self.sensitivity), self.value_scale)
        each = ratio_up(self.sensitivity, self.value_scale)
        return min(pure, total_epsilon("optimal", self._shown_moves, each, delta)) if delta else pure

    def _selection_scale(self, epsilon: float, delta: float) -> float:
        """Least scale at which the selection is (epsilon, delta) private; where nothing is chosen, any would do."""
        pushes = self._pushes or 1
        scale = ratio_up(_times_up(pushes, self._spread), epsilon)
        if delta == 0 or self._pushes == 0:
            return scale
        if self.noise == "gumbel":
            each = max(epsilon_per_round(c, int(pushes), epsilon, delta, bounded_range=True) for c in _ROUNDS)
            return min(scale, self._spread / each * (1 + _SLACK))
        if self.noise == "exponential":
            return scale
        if self._moves < math.inf:
            each = epsilon_per_round("optimal", int(self._moves), epsilon, delta)
            scale = min(scale, self.sensitivity / each * (1 + _SLACK))
        return min(scale, self._spread / 2 / shift_for(self.k, epsilon, delta, self._unordered_m) * (1 + _SLACK))

    def _value_scale(self, epsilon: float, delta: float) -> float:
        """Least scale at which the k values are (epsilon, delta) private."""
        scale = ratio_up(_times_up(self._shown_moves, self.sensitivity), epsilon)
        if delta == 0:
            return scale
        each = epsilon_per_round("optimal", self._shown_moves, epsilon, delta)
        return min(scale, self.sensitivity / each * (1 + _SLACK))

    def release(self, values: ArrayLike | pd.Series, rng: np.random.Generator | noises.SecureSource) -> Selection:
        """Choose k items, and add fresh noise to their values where these are released.

        Parameters
        ----------
        values : Series, or array_like of int or float, shape (items,)
            Finite counts, or other numbers that are 0 where there is no record. Of a Series those of the declared
            `items`, in whatever order it is; an array is by position, which must be public, not the order of the
            counts. What is not there is 0, and what is not declared is left out (`dprank.topk.undeclared` shows it):
            the notes of `Oneshot` prove that the guarantee holds.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`: integer values and sensitivity.

        Returns
        -------
        Selection

        Raises
        ------
        ValueError
            Always, if no items are declared, or only their number and values have labels. If values are not finite, or
            one item has two of them; or if `SECURE` has no exact noise for them.

        Notes
        -----
        As `dprank.topk.selection.noisy_top_k`, which draws little of the noise; its running time depends on the data.
        With `SECURE` about 10 microseconds an item for Laplace noise and 20 for exponential noise, whatever the values;
        1 for Gumbel noise, up to 20 where k is large or values are very many scales apart. That too can be measured.
        """
        rng, values = noises.require_source(rng), declared(values, self.n_items, self.items)
        given = finite(values)
        if isinstance(rng, noises.SecureSource):
            given = whole = require_exact_values(values, self.sensitivity)
            if self.noise == "gumbel":
                # k rounds have the law of one pass
                codes = rng.peel(whole, self.k, self.scale, "gumbel", largest=self.largest)
            else:
                codes = self._on_grid(whole, rng)
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

    def _on_grid(self, values: NDArray[np.int64], rng: np.random.Generator | noises.SecureSource) -> NDArray[np.int64]:
        """Best first, by whole Laplace or exponential noise and random ties."""
        # on halves where all values move one way: see the notes
        grid = 1 if self.adjacency == "replace" else 2
        draw = noises.discrete_laplace if self.noise == "laplace" else noises.geometric
        noisy = draw(grid * self.scale, len(values), rng=rng) + (grid if self.largest else -grid) * values
        shuffled = rng.permutation(len(values))
        chosen = shuffled[np.argpartition(-noisy[shuffled], self.k - 1)[: self.k]]
        return chosen[np.argsort(-noisy[chosen], kind="stable")]


def _times_up(count: float, size: float) -> float:
    """The product, rounded up."""
    product = count * size
    return product if Fraction(product) >= Fraction(count) * Fraction(size) else math.nextafter(product, math.inf)


def _splits(delta: float) -> list[tuple[float, float]]:
    """What the selection and the values may have of delta; pure first."""
    return sorted({(0.0, 0.0), (0.0, delta), (delta / 2, delta / 2), (delta, 0.0)})
