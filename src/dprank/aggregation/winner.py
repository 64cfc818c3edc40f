"""Who wins: one item, by a score that a voter moves little, and permute-and-flip (McKenna and Sheldon 2020)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._require import (
    require_at_least_0,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank._search import least
from dprank.data.ballots import HEAVIEST, BallotForm, Ballots, require_ballots
from dprank.data.rankings import UNRANKED, Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy.guarantee import Adjacency, Guarantee, ratio_up, require_scale
from dprank.privacy.noise import SecureSource, Source, require_source
from dprank.privacy.published import Published
from dprank.release import Selection, source_of

__all__ = ["PrivateWinner", "WinnerRule"]

WinnerRule = Literal["maximin", "borda"]


@dataclass(frozen=True)
class PrivateWinner:
    r"""Exponential noise on every item's score, and the name of the largest: the winner alone, no order and no scores.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    scale : float
        Of the noise, in voters by "maximin", in net wins by "borda"; above 0.
    rule : {"maximin", "borda"}
        What an item is scored by: its worst margin, over all other items (Simpson 1969, Kramer 1977); or the items that
        it is put before, less those that it is put behind, over all voters.
    adjacency : {"replace", "add_remove"}
        The number of voters is used by neither.
    ballots, max_weight
        As in `dprank.NoisyMatrix`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    PrivateWinner.calibrated : the noise that a given epsilon needs.

    Notes
    -----
    Publishes items: the largest noisy score.

    An item that beats every other in the majority of pairs, a Condorcet winner, has the only worst margin above 0; if
    it wins every pair by x voters or more, every other item loses one by x, and is 2 x or more behind.

    *What it costs.* Given the noise of the others an item wins if its own is above a threshold. A neighbour moves that
    by what it moves a difference of two scores, at most w, and the chance to be above changes by a factor of at most
    :math:`e^{w / scale}`. A voter who comes or goes moves each margin by at most 1, hence a least margin too, and
    the difference of two by 2; one replaced by 4. Of net wins a ballot gives one item at most 2 (m - 1) more than
    another, so that w is 2 (m - 1), or 4 (m - 1). Ballots with ties and gaps move no more: each is a mean of full
    rankings in all pairs that it orders, and 0 in the others. All is multiplied by `max_weight`, and attained.

    Which rule: they may have other winners. Where both have the same, worst margins mostly name it more often at equal
    epsilon, as their noise does not grow with m; net wins do where it leads on average and beats one rival narrowly
    (``benchmarks/selection.py``).

    Copeland's score, the number of pairs won, is no such score: a voter may turn m - 1 pairs, of as many.
    ``NoisyMatrix(rule="copeland")`` has Copeland's order of a noisy matrix.

    Examples
    --------
    >>> from dprank import SECURE, PrivateWinner, Rankings
    >>> votes = Rankings([[0, 1, 2]] * 300 + [[1, 2, 0]] * 100, ["roads", "schools", "parks"])
    >>> mechanism = PrivateWinner.calibrated(epsilon=1.0, n_items=3)
    >>> mechanism.release(votes, SECURE).items.tolist()
    ['roads']
    >>> print(mechanism.guarantee)
    epsilon = 1 (central; replace one voter)
    """

    card: ClassVar[Card] = Card(
        question="winner",
        how="noise on every item's score; the largest is named",
        adjacency=True,
        partial=True,
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("items", "the largest noisy score"),)

    #: How many items come out.
    k: ClassVar[int] = 1

    n_items: int
    scale: float
    _: KW_ONLY
    rule: WinnerRule = "maximin"
    adjacency: Adjacency = "replace"
    ballots: BallotForm = "full"
    max_weight: int = 1

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            rule=require_one_of("rule", self.rule, get_args(WinnerRule)),
            adjacency=require_one_of("adjacency", self.adjacency, get_args(Adjacency)),
            ballots=require_one_of("ballots", self.ballots, get_args(BallotForm)),
            max_weight=require_whole("max_weight", self.max_weight, 1, HEAVIEST),
        )
        if self.ballots == "full" and self.max_weight > 1:
            raise ValueError(f"max_weight = {self.max_weight}; 1 with ballots = 'full': full rankings have no weights")
        settle(self, scale=require_scale(self.scale, self.spread))

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        n_items: int,
        rule: WinnerRule = "maximin",
        adjacency: Adjacency = "replace",
        ballots: BallotForm = "full",
        max_weight: int = 1,
    ) -> Self:
        """The least noise that is epsilon-private.

        Parameters
        ----------
        epsilon : float
            Above 0, finite.
        n_items, rule, adjacency, ballots, max_weight
            As in `PrivateWinner`.

        Raises
        ------
        ValueError
            Naming what is out of range.

        Examples
        --------
        >>> from dprank import PrivateWinner
        >>> [PrivateWinner.calibrated(epsilon=1.0, n_items=9, rule=rule).scale for rule in ("maximin", "borda")]
        [4.0, 32.0]
        """
        free = cls(n_items, 1e100, rule=rule, adjacency=adjacency, ballots=ballots, max_weight=max_weight)
        return replace(free, scale=ratio_up(free.spread, require_positive("epsilon", epsilon)))

    @property
    def spread(self) -> int:
        """Most that a voter moves the difference of two scores."""
        voters = 4 if self.adjacency == "replace" else 2
        return self.max_weight * voters * (1 if self.rule == "maximin" else self.n_items - 1)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the name. Attained."""
        return Guarantee(ratio_up(self.spread, self.scale), adjacency=self.adjacency)

    def chance_right(self, gap: float) -> float:
        r"""Probability that the item of the largest score is named, whatever the data are, if it is ahead by a gap.

        Parameters
        ----------
        gap : float
            Between the largest score and the next, at least 0. By "maximin" a Condorcet winner by x voters in every
            pair has at least 2 x.

        Raises
        ------
        ValueError
            Naming `gap`.

        Notes
        -----
        With :math:`p_j = e^{-g_j / scale}` for gaps :math:`g_j` it is :math:`\int_0^1 \prod_j (1 - p_j t) dt`:
        permute-and-flip comes to the best at a uniform time t, all others before t having failed. It is least where all
        gaps are the least one: :math:`(1 - (1 - p)^m) / (m p)`.

        Examples
        --------
        >>> mechanism = PrivateWinner.calibrated(epsilon=1.0, n_items=5)
        >>> round(mechanism.chance_right(2 * 10), 4), round(mechanism.gap_needed(0.95), 1)
        (0.9866, 14.7)
        """
        p = math.exp(-require_at_least_0("gap", gap) / self.scale)
        if p in (0.0, 1.0):
            return 1.0 if p == 0 else 1 / self.n_items
        return -math.expm1(self.n_items * math.log1p(-p)) / (self.n_items * p)

    def gap_needed(self, chance: float = 0.95) -> float:
        """The least gap from which on the item of the largest score is named with that probability.

        Parameters
        ----------
        chance : float
            In (0, 1), at most 1 - 1e-9.

        Raises
        ------
        ValueError
            Naming `chance`.
        """
        chance = require_probability("chance", chance, most=1 - 1e-9)
        if chance <= 1 / self.n_items:
            return 0.0
        return least(lambda gap: self.chance_right(gap) >= chance, self.scale, 2.0**-30)

    def release(self, data: Rankings | Ballots, rng: Source) -> Selection:
        """The winner's name.

        Parameters
        ----------
        data : Rankings or Ballots
            Of `n_items` items; the latter with ``ballots="partial"``.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research; `SECURE` to publish.

        Returns
        -------
        Selection
            Of one item.

        Raises
        ------
        ValueError
            Where the number of items differs.

        Notes
        -----
        O(voters * items^2) by "maximin", O(voters * items) by "borda".
        """
        rng, scores = require_source(rng), self.scores(data)
        if isinstance(rng, SecureSource):
            winner = int(rng.peel(scores, 1, self.scale, "exponential", largest=True)[0])
        else:
            winner = int(self.draw(scores, 1, rng)[0])
        return Selection(np.array([data.items[winner]], object), mechanism=self, source=source_of(rng, self))

    def draw(self, scores: NDArray[np.int64], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Codes of independent winners for research, shape (size,).

        Examples
        --------
        >>> PrivateWinner(3, 1e-3).draw(np.array([4, 9, -9]), 2, np.random.default_rng(1)).tolist()
        [1, 1]
        """
        return np.argmax(scores + rng.exponential(self.scale, (size, self.n_items)), axis=1)

    def scores(self, data: Rankings | Ballots) -> NDArray[np.int64]:
        """What `release` adds noise to, shape (items,): exact, and not private.

        Examples
        --------
        >>> from dprank import Rankings
        >>> votes = Rankings([[0, 1, 2]] * 3 + [[1, 2, 0]] * 2, "abc")
        >>> [PrivateWinner(3, 1.0, rule=rule).scores(votes).tolist() for rule in ("maximin", "borda")]
        [[1, -5, -1], [6, -4, -2]]
        """
        votes = self._ballots(data)
        if self.rule == "borda":
            return votes.net_wins()
        margins = votes.margins()
        np.fill_diagonal(margins, np.iinfo(np.int64).max)
        return margins.min(axis=1)

    def _ballots(self, data: Any) -> Ballots:
        """Of `n_items` items, no heavier than is promised; full ones alone unless it says otherwise."""
        if self.ballots == "partial":
            return require_ballots(data, self.n_items).bounded_weight(self.max_weight)
        if isinstance(data, Ballots):
            raise ValueError(f"data are dprank.Ballots, {UNRANKED}; ballots = 'partial' takes them")
        return Ballots.from_rankings(require_rankings(data, self.n_items))
