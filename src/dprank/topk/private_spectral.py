r"""Private rank centrality (Qiao, Su, Zhang 2021, Algorithm 3), its sensitivity asking nothing of data (long: proofs).

With the stationary distribution :math:`\pi` of the chain and its ergodicity coefficient :math:`\tau`, the scores
:math:`(1 - \tau) \pi`, set to 0 where :math:`\tau = 1`, are of bounded sensitivity over all data on any public graph,
and so are :math:`(1 - \tau) \pi / \max \pi`; the proofs are in `dprank.topk._chain_moves`. Selecting from them is
selecting from :math:`\pi` by noise whose scale is a multiple of :math:`1 / (1 - \tau)`: the scale may be read off the
data, as long as nothing but the chosen set is released.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve

from dprank._frozen import FrozenFields
from dprank._require import (
    MOST,
    MOST_AT_ONCE,
    require_below_1,
    require_bool,
    require_generator,
    require_positive,
    require_real,
    require_whole,
    settle,
)
from dprank.data.comparisons import Comparisons, require_comparisons
from dprank.data.tallies import require_k
from dprank.privacy.guarantee import Guarantee, ratio_up, require_scale
from dprank.privacy.published import Published
from dprank.release import Selection
from dprank.topk._chain_moves import damped_move, undamped_move
from dprank.topk.oneshot import Oneshot
from dprank.topk.spectral import (
    comparison_graph,
    ergodicity_coefficient,
    require_normalisation,
    stationary_distribution,
    transition_matrix,
)

__all__ = ["LEAST_TELEPORT", "MOST_COMPLETE", "PrivateRankCentrality"]

#: Least chance of a jump: the rounding of a chain that hardly ever jumps is more than one comparison moves.
LEAST_TELEPORT = 1e-6
#: Most items all of whose pairs are compared.
MOST_COMPLETE = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class PrivateRankCentrality(FrozenFields):
    """The k items with the largest long-run shares of the comparison chain, chosen by one-shot Laplace noise.

    Graph, samples per edge and normalisation are public; one sample of one edge is what is protected, not all that one
    person answered.

    Parameters
    ----------
    n_items : int
        At least 2.
    k : int
        In 1 .. n_items.
    samples : int
        L, the public number of comparisons of every edge, at least 1.
    scale : float
        Of the Laplace noise, in units of `scores`, above 0.
    pairs : array_like of int, shape (edges, 2), optional
        The public comparison graph, every pair once; by default all pairs, of up to 10,000 items. Connected, unless
        `teleport` is above 0.
    d : float, optional
        Public normalisation, at least the largest degree, which is the default, and at most 2^53.
    teleport : float
        Chance g with which the walk jumps to an item drawn at random: 0, or from 1e-6 on, below 1.
    damped : bool
        Whether scores are multiplied by 1 - tau, tau the ergodicity coefficient of the data: the same as dividing the
        noise by it. Without it the noise must do for the worst tau of all data on the graph.
    relative : bool
        Whether scores are divided by the largest, which takes them from about 1 / n_items to about 1.
    delta : float
        At which the guarantee is stated, in [0, 1).

    Raises
    ------
    ValueError
        One line with the field, its value and what is allowed.

    See Also
    --------
    PrivateRankCentrality.calibrated : the noise that an epsilon needs.
    dprank.NoisyCounts : for publishing.

    Notes
    -----
    Publishes items: the largest noisy scores.

    The guarantee is that of exact arithmetic. Scores are real numbers, so there is no secure release: `release` refuses
    `dprank.SECURE`. To publish, add noise to the win counts, which are integers (`dprank.pairwise.NoisyCounts`).

    The graph is public, and nothing is said of who compares what: a comparison that is moved from one pair to another
    counts as two.

    On a thin graph, where `worst_coefficient` is 1, two items may share no rival. Damped scores may then be all 0, and
    the set is drawn blindly. A teleport above 0 avoids that.

    Examples
    --------
    >>> import dprank
    >>> import numpy as np
    >>> mechanism = dprank.PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=1000)
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; replace one comparison)
    >>> second_wins = [0.1, 0.4, 0.9]  # of the pairs (0, 1), (0, 2), (1, 2)
    >>> mechanism.select(second_wins, np.random.default_rng(0)).items.tolist()
    [0]
    """

    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("items", "the largest noisy scores"),)

    #: Which items are released, and not which of them is best.
    ordered: ClassVar[bool] = False

    n_items: int
    k: int
    samples: int
    scale: float
    _: KW_ONLY
    pairs: ArrayLike | None = None
    d: float | None = None
    teleport: float = 0.0
    damped: bool = True
    relative: bool = True
    delta: float = 0.0

    def __post_init__(self) -> None:
        settle(self, n_items=require_whole("n_items", self.n_items, 2, MOST_AT_ONCE))
        if self.pairs is None and self.n_items > MOST_COMPLETE:
            raise ValueError(f"n_items = {self.n_items}; pairs are needed for more than {MOST_COMPLETE} items")
        settle(
            self,
            k=require_k(self.k, self.n_items),
            samples=require_whole("samples", self.samples, 1),
            scale=require_positive("scale", self.scale),
            delta=require_below_1("delta", self.delta),
            teleport=require_real(
                "teleport",
                self.teleport,
                f"it must be 0, or in [{LEAST_TELEPORT:g}, 1)",
                lambda x: x == 0 or LEAST_TELEPORT <= x < 1,
            ),
            d=None
            if self.d is None
            else require_real("d", self.d, "it must lie in (0, 2^53]", lambda x: 0 < x <= MOST),
            damped=require_bool("damped", self.damped),
            relative=require_bool("relative", self.relative),
        )
        settle(self, pairs=self._complete() if self.pairs is None else self._connected(self.pairs))
        self._settle_scale()
        super().__post_init__()

    def _complete(self) -> NDArray[np.int64]:
        """All pairs, in ascending order: nothing of them is to be looked at."""
        if self.d is not None:
            require_normalisation(self.d, self.n_items - 1)
        edges, at = np.empty((math.comb(self.n_items, 2), 2), np.int64), 0
        for item in range(self.n_items - 1):
            rows = slice(at, at := at + self.n_items - 1 - item)
            edges[rows, 0], edges[rows, 1] = item, np.arange(item + 1, self.n_items)
        return edges

    def _connected(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """The pairs that are given, in ascending order; refuses a small d, and items that nothing connects."""
        edges = np.sort(comparison_graph(self.n_items, pairs), axis=1)
        edges = edges[np.argsort(edges @ [self.n_items, 1])]
        even = transition_matrix(self.n_items, edges, np.full(len(edges), 0.5), self.d)
        groups, group = connected_components(even, directed=False)
        if groups > 1 and self.teleport == 0:
            apart = int(np.argmax(group != group[0]))
            raise ValueError(
                f"pairs do not connect items 0 and {apart}; a connected graph, or teleport above 0, is needed"
            )
        return edges

    def _settle_scale(self) -> None:
        if math.isfinite(self.sensitivity):
            settle(self, scale=require_scale(self.scale, 2 * self.k * self.sensitivity))

    def _scaled(self, scale: float) -> Self:
        """The same on the same graph, which is not looked at again."""
        other = object.__new__(type(self))
        settle(other, **vars(self) | {"scale": require_positive("scale", scale)})
        other._settle_scale()
        return other

    def __repr__(self) -> str:
        of = {field.name: repr(getattr(self, field.name)) for field in fields(self)}
        of["pairs"] = f"<{len(self.edges)} pairs>"
        return f"PrivateRankCentrality({', '.join(f'{name}={value}' for name, value in of.items())})"

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        delta: float = 0.0,
        n_items: int,
        k: int,
        samples: int,
        pairs: ArrayLike | None = None,
        d: float | None = None,
        teleport: float = 0.0,
        damped: bool = True,
        relative: bool = True,
    ) -> Self:
        """The least noise for which (epsilon, delta) is proved.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        delta, n_items, k, samples, ...
            As in `PrivateRankCentrality`.

        Raises
        ------
        ValueError
            Also if no noise will do: without damping and teleport, on a graph that lacks a pair.
        """
        free = cls(
            n_items,
            k,
            samples,
            1.0,
            pairs=pairs,
            d=d,
            teleport=teleport,
            damped=damped,
            relative=relative,
            delta=delta,
        )
        if math.isinf(free.sensitivity):
            raise ValueError(
                f"teleport = {free.teleport}, damped = {free.damped}; on a graph that lacks a pair some data have "
                "ergodicity coefficient 1: teleport above 0 or damped = True is needed"
            )
        chosen = Oneshot.calibrated(epsilon=epsilon, delta=delta, n_items=n_items, k=k, sensitivity=free.sensitivity)
        total = free.set_sensitivity
        return free._scaled(min(chosen.scale, ratio_up(total, epsilon)) if total else chosen.scale)

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """The public graph, shape (edges, 2): every pair once, the smaller code first, in ascending order."""
        return np.asarray(self.pairs)

    @cached_property
    def normalisation(self) -> float:
        """What the chain divides by: `d`, or the largest degree."""
        return int(np.bincount(self.edges.ravel()).max(initial=1)) if self.d is None else self.d

    @property
    def worst_coefficient(self) -> float:
        """Largest ergodicity coefficient of all data on the graph; attained."""
        complete = len(self.edges) == self.n_items * (self.n_items - 1) // 2
        return (1 - self.teleport) * (1 - 1 / self.normalisation if complete else 1.0)

    @property
    def sensitivity(self) -> float:
        """Half the most by which one sample can move the difference of two scores: what matters for one-shot noise.

        Infinite where neither damping nor teleport nor the complete graph bounds it.
        """
        return self._moved(1) / 2

    @property
    def set_sensitivity(self) -> float:
        """The most by which one sample can move the scores of k items against those of the others, in total.

        The privacy loss of their set is at most this over the scale. Infinite where `sensitivity` is.

        Examples
        --------
        >>> shares = PrivateRankCentrality(50, 5, samples=1, scale=1.0, relative=False)
        >>> round(49 * shares.set_sensitivity, 9), round(49 * 2 * 5 * shares.sensitivity, 9)
        (3.0, 15.0)
        """
        return self._moved(min(self.k, self.n_items - self.k))

    def _moved(self, pushes: int) -> float:
        unit, worst = (1 - self.teleport) / (self.normalisation * self.samples), self.worst_coefficient
        if self.damped:
            return unit * damped_move(pushes, relative=self.relative)
        if worst == 1:
            return math.inf
        met = (1 - self.teleport) * max(1 - 1 / self.normalisation, 0)
        return unit * undamped_move(pushes, met, worst, relative=self.relative)

    @property
    def guarantee(self) -> Guarantee:
        """What is proved of `release`, one sample of one edge being replaced; it holds for all data.

        The better of `set_sensitivity` over the scale, which no delta helps, and what `dprank.Oneshot` promises of any
        scores that move as far as `sensitivity`.
        """
        routes = [Guarantee(ratio_up(self.set_sensitivity, self.scale), unit="comparison", adjacency="replace")]
        if math.isfinite(self.sensitivity):
            routes.append(replace(self._selection.guarantee, unit="comparison", adjacency="replace"))
        return min(routes, key=lambda route: route.epsilon)

    def chance_right(self, gap: float) -> float:
        """Probability that the chosen set is the true one if a gap divides `scores`, as of `dprank.Oneshot`.

        Parameters
        ----------
        gap : float
            Between the k-th largest score and the next. Where scores are damped it is damped too.

        Raises
        ------
        ValueError
            Naming `gap`.

        Examples
        --------
        >>> mechanism = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=1000)
        >>> round(mechanism.chance_right(0.01), 3)
        0.953
        """
        return self._selection.chance_right(gap, law="continuous")

    @property
    def _selection(self) -> Oneshot:
        own = self.sensitivity if math.isfinite(self.sensitivity) else 1.0
        return Oneshot(self.k, self.scale, sensitivity=own, delta=self.delta, n_items=self.n_items)

    def scores(self, shares: ArrayLike) -> NDArray[np.float64]:
        """Exact scores, to which noise is added. They are not private.

        Parameters
        ----------
        shares : array_like of float, shape (edges,)
            Of every edge, in the order of `edges`, the share of its comparisons won by the second item.

        Returns
        -------
        ndarray of float, shape (items,)
            All 0 where the data leave the ergodicity coefficient at 1 and scores are damped: the set is then drawn
            blindly, since to refuse would tell of the data.

        Raises
        ------
        ValueError
            If `shares` are of another length, or one does not lie in [0, 1]; undamped and without teleport also where
            the data leave no unique stationary distribution.

        Notes
        -----
        One sparse stationary distribution and, if damped, the coefficient: O(items^2 * largest degree).
        """
        chain = transition_matrix(self.n_items, self.edges, shares, self.normalisation)
        gap = 1.0
        if self.damped:
            tau = ergodicity_coefficient(chain)
            # below 1 it is at most 1 - 1 / (d L): a sample is the least that an entry off the diagonal can hold, and
            # if P_ji is not 0 then i won a sample that adds to P_ii. With ties, or more samples than declared,
            # less may be left: to set scores to 0 there does no harm, as neighbours have 1 - tau at most 1.5 / (d L)
            if not self.teleport and tau > 1 - 0.5 / (self.normalisation * self.samples):
                return np.zeros(self.n_items)
            gap = 1 - (1 - self.teleport) * tau
        law = _with_teleport(chain, self.teleport) if self.teleport else stationary_distribution(chain)
        return np.asarray(gap * law / (law.max() if self.relative else 1.0))

    def shares(self, data: Comparisons) -> NDArray[np.float64]:
        """Shares of `scores`, whatever the data: those of the public graph, of which every edge has its samples.

        Comparisons of no edge are left out. Those that an edge lacks are ties; of more than `samples` the share is that
        of all of them, each of which then counts for less. So one comparison more, less or other of an edge moves its
        share by at most 1 / samples, and to refuse data would tell who broke the design.

        Parameters
        ----------
        data : Comparisons

        Returns
        -------
        ndarray of float, shape (edges,)
            O(comparisons * log(edges)) time.

        Raises
        ------
        ValueError
            If the data are none, or declare another number of items.
        """
        require_comparisons(data, self.n_items)
        low, high = np.minimum(data.first, data.second), np.maximum(data.first, data.second)
        edge = self.edges @ [self.n_items, 1]
        if not len(edge):
            return np.zeros(0)
        code = low.astype(np.int64) * self.n_items + high
        at = np.minimum(np.searchsorted(edge, code), len(edge) - 1)
        known = edge[at] == code
        # the outcome is that of the first item of a row
        won = np.where(data.second == high, 1 - data.outcome, data.outcome)
        played = np.bincount(at[known], minlength=len(edge))
        wins = np.bincount(at[known], won[known], minlength=len(edge))
        missing = np.maximum(self.samples - played, 0)
        return (wins + missing / 2) / (played + missing)

    def release(self, data: Comparisons, rng: np.random.Generator) -> Selection:
        """One private set.

        Parameters
        ----------
        data : Comparisons
            `samples` comparisons of every edge; what is more or less is set right as `shares` says.
        rng : numpy.random.Generator

        Returns
        -------
        Selection
            Item names in ascending order, no values.

        Raises
        ------
        ValueError
            If `rng` is no generator, or the data declare another number of items. Of a mechanism that promises nothing
            (an infinite `sensitivity`) also where the data leave no unique stationary distribution.
        ArithmeticError
            Of more than 300 items, where the chain of the data mixes too slowly for any solver: the guarantee is that
            of exact arithmetic.
        """
        shares = self.shares(data)
        _require_seeded(rng)
        chosen = replace(self._selection, items=data.items).release(self.scores(shares), rng)
        return replace(chosen, mechanism=self)

    def select(self, shares: ArrayLike, rng: np.random.Generator) -> Selection:
        """One private set from the `shares` of the data.

        Parameters
        ----------
        shares : array_like of float, shape (edges,)
            As in `scores`.
        rng : numpy.random.Generator

        Returns
        -------
        Selection
            Item codes in ascending order, no values.
        """
        _require_seeded(rng)
        return replace(self._selection.release(self.scores(shares), rng), mechanism=self)


def _require_seeded(rng: Any) -> None:
    require_generator(rng, "noise on real numbers is for research (publish dprank.pairwise.NoisyCounts)")


def _with_teleport(chain: sparse.csr_array, teleport: float) -> NDArray[np.float64]:
    """Stationary distribution of (1 - teleport) chain + teleport / items, from a system that is never singular."""
    n = chain.shape[0]
    system = sparse.csc_array(sparse.eye_array(n) - (1 - teleport) * chain.T)
    return np.asarray(spsolve(system, np.full(n, teleport / n)))
