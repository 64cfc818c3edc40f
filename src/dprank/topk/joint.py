"""The exponential mechanism over all choices of k items at once: nothing is composed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    require_at_least_0,
    require_bool,
    require_one_of,
    require_positive,
    require_probability,
    settle,
)
from dprank.data.tallies import Tallies, counted, finite, require_exact_values, require_items, require_k
from dprank.mechanism import Card
from dprank.privacy.guarantee import Adjacency, Guarantee, ratio_up, require_scale
from dprank.privacy.noise import SecureSource, Source, require_source
from dprank.privacy.published import Published
from dprank.privacy.thresholds import threshold
from dprank.release import Selection, source_of
from dprank.topk.joint_counts import Choices, Lists, Sets
from dprank.topk.selection import named, spread, unranked

__all__ = ["MOST_PAIRS", "JointExponential"]

if TYPE_CHECKING:
    import pandas as pd

#: Most of k times the number of items: a few gigabytes.
MOST_PAIRS = 2 * 10**7
#: Differences of floats up to here are finite.
_FARTHEST = 1e300


@dataclass(frozen=True)
class JointExponential:
    r"""Draw k items together, with probability proportional to exp(-loss / scale), from all choices that there are.

    Parameters
    ----------
    k : int
        From 1 to `n_items`; k times their number at most 2 * 10^7.
    scale : float
        In units of the values, above 0.
    sensitivity, adjacency, items, largest
        As in `dprank.Peeling`.
    n_items : int, optional
        Public number of values m. It, or `items`, is needed: how many choices there are depends on it.
    ordered : bool
        Whether lists are drawn, best first, or sets.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    JointExponential.calibrated : the scale that a given epsilon needs.

    Notes
    -----
    Publishes items: one draw, the likelier the larger the values.

    With values best first, a list s loses :math:`\max_i (c_i - c_{s_i})` (Gillenwater, Joseph, Muñoz Medina and Ribero
    Diaz 2022, "A Joint Exponential Mechanism for Differentially Private Top-k"). A set S loses
    :math:`\max_{j \notin S} c_j - \min_{i \in S} c_i`, which is below 0 if it is the right one (Shekelyan and Loukides
    2022, "Differentially Private Top-k Selection via Canonical Lipschitz Mechanism", whose loss is half of it). So the
    right set is ahead of others by twice the gap, and right lists by once.

    *What it costs.* Let a neighbour move every value by between a and a + w: w is twice the sensitivity if values move
    in any directions, with a = -w / 2, and once if all move one way, with a = 0 or a = -w. The i-th largest value,
    the largest of some and the least of some then move by between a and a + w, too. Hence a loss, a largest difference
    of two of these, moves by between -w and w, and the difference of two losses by at most 2 w. The log ratio of two
    laws is a loss's move less that of the normaliser, a mean of exponentials of moves: at most 2 w / scale. Sets attain
    it, and lists of many items approach it. Where k = 1 all lists are compared with the same largest value, and of two
    losses only the values taken differ: w / scale, and this is the exponential mechanism; one item is drawn so, in
    order or not. Two items have one difference of values, which moves by w: their lists cost w / scale, too. All
    items, as a set, cost nothing.

    `Peeling` pays w / scale for each of k rounds. For more than one item sets need less where all k are tied and all
    others too: of :math:`\binom{m}{k}` sets all but one lose alike, and the gap must be some
    :math:`(w / \varepsilon) \log \binom{m}{k}`, where rounds need :math:`(w / \varepsilon) k \log m`. Below that gap
    a set is as good as any, while rounds still find some of the items. Lists need
    :math:`2 (w / \varepsilon) \log(m! / (m - k)!)`, and do well where values near the top are far apart. One item is
    best had by permute-and-flip, a round of `Peeling`.

    A published release is drawn exactly (`dprank.privacy.thresholds`): values are whole, so losses are, and choices
    are counted by loss as whole numbers.

    Examples
    --------
    >>> import dprank
    >>> mechanism = dprank.JointExponential.calibrated(epsilon=1.0, n_items=4, k=2, adjacency="add_remove")
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; add/remove one voter)
    >>> mechanism.release([90, 10, 70, 0], dprank.SECURE).items.shape
    (2,)
    """

    card: ClassVar[Card] = Card(
        question="topk",
        how="k items drawn together, the likelier the larger their counts",
        adjacency=True,
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("items", "one draw, the likelier the larger the values"),)

    k: int
    scale: float
    _: KW_ONLY
    sensitivity: float = 1.0
    adjacency: Adjacency = "replace"
    n_items: int | None = None
    items: Iterable[Any] | None = None
    largest: bool = True
    ordered: bool = False

    def __post_init__(self) -> None:
        n_items, items = require_items(self.n_items, self.items)
        if n_items is None:
            raise ValueError("n_items = None; the number of items, or their names, must be declared")
        settle(
            self,
            n_items=n_items,
            items=items,
            k=require_k(self.k, n_items),
            scale=require_positive("scale", self.scale),
            sensitivity=require_positive("sensitivity", self.sensitivity, up=True),
            adjacency=require_one_of("adjacency", self.adjacency, get_args(Adjacency)),
            largest=require_bool("largest", self.largest),
            ordered=require_bool("ordered", self.ordered),
        )
        if self.k * n_items > MOST_PAIRS:
            raise ValueError(f"k = {self.k}; with {n_items} items at most {MOST_PAIRS // n_items} are drawn together")
        require_scale(self.scale, self.spread)

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        n_items: int | None = None,
        items: Iterable[Any] | None = None,
        k: int,
        sensitivity: float = 1.0,
        adjacency: Adjacency = "replace",
        largest: bool = True,
        ordered: bool = False,
    ) -> Self:
        """The least scale that is epsilon-private.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        n_items, items, k, sensitivity, adjacency, largest, ordered
            As in `JointExponential`.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Examples
        --------
        >>> import dprank
        >>> dprank.JointExponential.calibrated(epsilon=0.5, n_items=9, k=3).scale
        8.0
        """
        free = cls(
            k,
            1.0,
            sensitivity=sensitivity,
            adjacency=adjacency,
            n_items=n_items,
            items=items,
            largest=largest,
            ordered=ordered,
        )
        epsilon = require_positive("epsilon", epsilon)
        return replace(free, scale=ratio_up(free.spread or spread(free.sensitivity, adjacency), epsilon))

    @property
    def spread(self) -> float:
        """Most that the difference of two losses may move, see the notes."""
        one, m = spread(self.sensitivity, self.adjacency), self._m
        if m == 1 or (self.k == m and not self.ordered):
            return 0.0
        return one if self._single or m == 2 else 2 * one

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of what is drawn."""
        return Guarantee(ratio_up(self.spread, self.scale), adjacency=self.adjacency)

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy, from the bounded range (Cesar and Rogers 2021)."""
        return self.guarantee.epsilon**2 / 8

    @property
    def _m(self) -> int:
        assert self.n_items is not None
        return self.n_items

    @property
    def _single(self) -> bool:
        return self.k == 1

    def chance_right(self, gap: float) -> float:
        r"""Probability that the chosen set is the true one, whatever the data are, if a gap divides them.

        Parameters
        ----------
        gap : float
            As of `dprank.Oneshot.chance_right`.

        Raises
        ------
        ValueError
            Naming `gap`, or with lists, for which the worst data are not known.

        Notes
        -----
        Every other set loses at least twice the gap more (once, where k = 1), and no more where all k are tied and all
        others too: :math:`1 / (1 + (\binom m k - 1) e^{-2 g / scale})`, attained.

        Examples
        --------
        >>> mechanism = JointExponential.calibrated(epsilon=1.0, n_items=20, k=3, adjacency="add_remove")
        >>> round(mechanism.chance_right(20), 6), round(mechanism.gap_needed(0.95), 1)
        (0.999998, 10.0)
        """
        lead = require_at_least_0("gap", gap) * self._lead / self.scale
        return math.exp(-float(np.logaddexp(0.0, self._log_others - lead)))

    def gap_needed(self, chance: float = 0.95) -> float:
        """The least gap from which on the chosen set is the true one with that probability, whatever the data are.

        Parameters
        ----------
        chance : float
            In (0, 1), at most 1 - 1e-9.

        Raises
        ------
        ValueError
            Naming `chance`, or with lists.
        """
        chance = require_probability("chance", chance, most=1 - 1e-9)
        return max(0.0, self.scale / self._lead * (self._log_others + math.log(chance) - math.log1p(-chance)))

    @property
    def _lead(self) -> int:
        """How many gaps the right set is ahead."""
        if self.ordered and not self._single:
            raise ValueError("ordered = True; how likely a list has the right items is known for k = 1 only")
        return 1 if self._single else 2

    @property
    def _log_others(self) -> float:
        """Logarithm of the number of wrong sets."""
        log_sets = float(
            scipy.special.gammaln(self._m + 1)
            - scipy.special.gammaln(self.k + 1)
            - scipy.special.gammaln(self._m - self.k + 1)
        )
        return log_sets + math.log1p(-math.exp(-log_sets)) if log_sets > 1e-9 else -math.inf

    def release(self, values: Tallies | ArrayLike | pd.Series, rng: Source) -> Selection:
        """The k items; no values.

        Parameters
        ----------
        values : dprank.Tallies, Series, or array_like of int or float, shape (items,)
            As of `dprank.Oneshot.release`: what is not there is 0, what is not declared is left out. Of tallies all
            items of a person count.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`: integer values and sensitivity.

        Returns
        -------
        Selection

        Raises
        ------
        ValueError
            As `dprank.Peeling.release`.

        Notes
        -----
        O(k m log(k m)) time and O(k m) memory. With `SECURE` also O(k) products of numbers of k log m digits for every
        whole loss up to about scale * k * log m: at epsilon 1 milliseconds for k = 50 of 10^4 items, seconds for 500 of
        4000, minutes for 1000 of 10^4. Whoever can measure the time may learn from it.
        """
        rng = require_source(rng)
        values = counted(values, self.n_items, self.items, sensitivity=self.sensitivity)
        given = finite(values)
        if isinstance(rng, SecureSource):
            given = require_exact_values(values, self.sensitivity)
            places, choices = self._choices(given)
            drawn = threshold(choices.losses(), choices.counts, choices.total, self.scale, rng.bits)
            codes = places[choices.draw(drawn, rng)]
        else:
            codes = self.draw(given, 1, rng)[0]
        if not self.ordered:
            codes = unranked(values, codes)
        return Selection(named(values, codes), mechanism=self, source=source_of(rng, self))

    def draw(self, values: NDArray[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Codes of independent choices for research, shape (size, k): thresholds in floats, then choices below them.

        Parameters
        ----------
        values : ndarray of int or float, shape (items,)
            Finite.
        size : int
        rng : numpy.random.Generator

        Examples
        --------
        >>> JointExponential(2, 1e-3, n_items=3).draw(np.array([5, 1, 9]), 2, np.random.default_rng(1)).tolist()
        [[0, 2], [0, 2]]
        """
        places, choices = self._choices(values)
        losses, log_counts = choices.log_counts()
        steps = np.append(np.diff(losses), np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            logs = log_counts - losses / self.scale + np.log(-np.expm1(-steps / self.scale))
        weights = np.cumsum(np.exp(logs - logs.max()))
        at = np.searchsorted(weights, rng.random(size) * weights[-1], "right")
        # halfway to the next loss rounding decides nothing
        between = (losses + steps / 2)[at]
        codes = places[choices.draws(between, rng)]
        return codes if self.ordered else np.sort(codes, axis=1)

    def _choices(self, values: NDArray[Any]) -> tuple[NDArray[np.int64], Choices]:
        """Codes best first, and the choices among them."""
        if values.dtype.kind == "f":
            values = np.clip(values, -_FARTHEST, _FARTHEST)
        behind = values.max() - values if self.largest else values - values.min()
        places = np.argsort(behind, kind="stable")
        return places, (Lists if self.ordered or self._single else Sets)(-behind[places], self.k)
