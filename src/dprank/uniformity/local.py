"""Uniformity under local privacy: every voter randomises before answering, and nobody is trusted.

Busa-Fekete, Fotakis and Zampetakis (2021), Section 6, and a test of ours that needs far fewer voters.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    as_array,
    require_one_of,
    require_positive,
    require_probability,
    require_whole,
    settle,
)
from dprank.data.kendall import as_positions
from dprank.data.rankings import Rankings, require_rankings
from dprank.mechanism import Card
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import Source, require_source
from dprank.privacy.published import Published
from dprank.privacy.randomized_response import GRAIN, bit_loss, flips_for, randomise
from dprank.release import Decision, source_of
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import LEAST, unif_decision, unif_null_threshold

__all__ = ["LocalOneBit", "LocalPairs"]


@dataclass(frozen=True)
class _Randomised:
    n_items: int
    flips: int
    size: float = 0.05

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            flips=require_whole("flips", self.flips, 1, GRAIN // 2),
            size=require_probability("size", self.size, LEAST),
        )

    @property
    def n_pairs(self) -> int:
        """floor(m / 2); an odd item is left alone."""
        return self.n_items // 2

    @property
    def shrinkage(self) -> float:
        """What is left of a sign's mean after randomised response: tanh of half the loss of a bit."""
        return 1 - 2 * self.flips / GRAIN


@dataclass(frozen=True)
class LocalPairs(_Randomised):
    """Every voter sends the orders of all floor(m/2) pairs, each by randomised response (Algorithms 5 and 6).

    The curator sums squares as in UNIF. Under uniform rankings randomised signs are fair coins as well, so that the
    null law is UNIF's. The appendix with the algorithms is lost to us: they are reconstructed from Section 6 of
    Busa-Fekete, Fotakis and Zampetakis (2021).

    Parameters
    ----------
    n_items : int
        m, at least 2.
    flips : int
        Probability that a sign is reversed, in units of 2^-53; from 1 to 2^52, a fair coin.
    size : float
        Largest probability of rejecting uniform rankings, in [1e-7, 1), for the rounding of the law.
    randomness : {"public", "private"}
        One random pairing told to everybody, or the pairs (0, 1), (2, 3), ...

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    LocalOneBit : needs far fewer voters.

    Notes
    -----
    Publishes statistic: sums of reports, and their number (whole numbers over that of reports); threshold: the number
    of reports (whole numbers over it); reject: statistic and threshold; p_value: the statistic, and the number of
    reports (values of a public function).

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import LocalPairs, Rankings
    >>> test = LocalPairs.calibrated(epsilon=1.0, n_items=4)
    >>> print(test.guarantee)
    epsilon = 1 (local; replace one voter)
    >>> agreeing = Rankings([[0, 1, 2, 3]] * 1000, ["ash", "elm", "fir", "oak"])
    >>> test.release(agreeing, rng=np.random.default_rng(1)).reject
    True
    """

    card: ClassVar[Card] = Card(
        question="agreement",
        how="everybody sends the order of some pairs; a coin may reverse each",
        trust="nobody",
        gives=("p_value",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("statistic", "sums of reports, and their number", "whole numbers over that of reports"),
        Published("threshold", "the number of reports", "whole numbers over it"),
        Published("reject", "statistic and threshold"),
        Published("p_value", "the statistic, and the number of reports", "values of a public function"),
    )

    _: KW_ONLY
    randomness: Literal["public", "private"] = "public"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("randomness", self.randomness, ("public", "private"))

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        n_items: int,
        size: float = 0.05,
        randomness: Literal["public", "private"] = "public",
    ) -> Self:
        """Each of the floor(m/2) signs takes its share of the budget.

        Parameters
        ----------
        epsilon : float
            Above 0.
        n_items, size, randomness
            As in `LocalPairs`.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        epsilon, n_items = require_positive("epsilon", epsilon), require_whole("n_items", n_items, 2)
        return cls(n_items, flips_for(epsilon, n_items // 2), size, randomness=randomness)

    @property
    def guarantee(self) -> Guarantee:
        """Attained by two rankings that order all pairs oppositely."""
        return Guarantee(bit_loss(self.flips, self.n_pairs), model="local")

    def pairs(self, rng: Source) -> NDArray[np.int64]:
        """The pairs that all voters are told, shape (pairs, 2)."""
        return disjoint_pairs(self.n_items, rng=require_source(rng) if self.randomness == "public" else None)

    def report(self, ranking: ArrayLike, pairs: NDArray[np.int64], rng: Source) -> NDArray[np.int8]:
        """What a peer sends.

        Parameters
        ----------
        ranking : array_like of int, shape (..., items)
            Positions of one ranking, or of many. O(their number * items): all are checked.
        pairs : ndarray of int, shape (n_pairs, 2)
            What the curator announced: `n_pairs` disjoint pairs, for which alone the guarantee is made.
        rng : numpy.random.Generator or dprank.SECURE
            The peer's own.

        Returns
        -------
        ndarray of int8, shape (..., n_pairs)
            +1 or -1.

        Raises
        ------
        ValueError
            For more, fewer or overlapping pairs: a curator is not trusted with the questions either. For what is no
            ranking of the items.
        """
        pairs = _disjoint(pairs, self.n_items, self.n_pairs)
        return randomise(pair_signs(_positions(ranking, self.n_items), pairs), self.flips, rng)

    def threshold(self, n_voters: int) -> float:
        """UNIF's statistic of so many voters from which it rejects: the least that keeps the size."""
        return unif_null_threshold(self.n_pairs, n_voters, self.size)

    def decide(self, reports: ArrayLike) -> Decision:
        """What the curator says of reports of shape (voters, pairs), at least two voters, of -1 and +1."""
        signs = _signs(reports, self.n_pairs)
        return _of_voters(self, signs, self.threshold(len(signs)))

    def release(self, data: Rankings, rng: Source) -> Decision:
        """One decision from at least two rankings; O(voters * items).

        Parameters
        ----------
        data : Rankings
            One ranking of the `n_items` items a voter.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`.
        """
        require_rankings(data, self.n_items, 2)
        require_source(rng)
        decision = self.decide(self.report(data.positions, self.pairs(rng), rng))
        return replace(decision, mechanism=self, source=source_of(rng, self))


@dataclass(frozen=True)
class LocalOneBit(_Randomised):
    """Every voter answers one question, whether a comes before b, with the whole budget (ours).

    A few random disjoint pairs are told to everybody; voter v is asked about pair v mod `groups`. The statistic is
    UNIF's, with floor(n / groups) voters a pair; a remainder of fewer than `groups` voters is not asked.

    Parameters
    ----------
    n_items, flips, size
        As in `LocalPairs`.
    groups : int
        1 .. floor(m/2) pairs. Few, for the noise of the statistic grows with their number; not too few, for a random
        pair may stand close together in the centre. 8 is within 8 % of the best for power from 0.8 to 0.95.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    dprank.uniformity.local_two_stage.LocalTwoStage : of four items or more it finds more, in two rounds.

    Notes
    -----
    Publishes statistic: sums of reports, and their number (whole numbers over that of a group); threshold: the number
    of reports (whole numbers over that of a group); reject: statistic and threshold; p_value: the statistic, and the
    number of reports (values of a public function).

    Examples
    --------
    >>> import numpy as np
    >>> from dprank import LocalOneBit, Rankings
    >>> test = LocalOneBit.calibrated(epsilon=1.0, n_items=4)
    >>> test.groups
    2
    >>> agreeing = Rankings([[0, 1, 2, 3]] * 400, ["ash", "elm", "fir", "oak"])
    >>> test.release(agreeing, rng=np.random.default_rng(1)).reject
    True
    """

    card: ClassVar[Card] = Card(
        question="agreement",
        how="everybody sends the order of one pair; a coin may reverse it",
        trust="nobody",
        gives=("p_value",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("statistic", "sums of reports, and their number", "whole numbers over that of a group"),
        Published("threshold", "the number of reports", "whole numbers over that of a group"),
        Published("reject", "statistic and threshold"),
        Published("p_value", "the statistic, and the number of reports", "values of a public function"),
    )

    groups: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        settle(self, groups=require_whole("groups", self.groups, 1))
        if self.groups > self.n_pairs:
            raise ValueError(f"groups = {self.groups}; {self.n_items} items allow 1 .. {self.n_pairs} disjoint pairs")

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, size: float = 0.05, groups: int | None = None) -> Self:
        """The whole budget on one sign.

        Parameters
        ----------
        epsilon : float
            Above 0.
        n_items, size
            As in `LocalPairs`.
        groups : int, optional
            By default 8, or as many as there are pairs.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        epsilon, n_items = require_positive("epsilon", epsilon), require_whole("n_items", n_items, 2)
        return cls(n_items, flips_for(epsilon), size, min(8, n_items // 2) if groups is None else groups)

    @property
    def guarantee(self) -> Guarantee:
        """Attained by two rankings that order the voter's pair oppositely."""
        return Guarantee(bit_loss(self.flips), model="local")

    def pairs(self, rng: Source) -> NDArray[np.int64]:
        """The pairs that are asked about, shape (groups, 2)."""
        return disjoint_pairs(self.n_items, rng=require_source(rng))[: self.groups]

    def report(self, ranking: ArrayLike, pair: NDArray[np.int64], rng: Source) -> NDArray[np.int8]:
        """What a peer who is asked about `pair` sends: +1 or -1; shape (...,) for rankings of shape (..., items)."""
        pairs = _disjoint(np.atleast_2d(pair), self.n_items, 1)
        return randomise(pair_signs(_positions(ranking, self.n_items), pairs)[..., 0], self.flips, rng)

    def decide(self, reports: ArrayLike) -> Decision:
        """What the curator says of reports of shape (voters a group, groups), at least two voters, of -1 and +1."""
        signs = _signs(reports, self.groups)
        return _of_voters(self, signs, unif_null_threshold(self.groups, len(signs), self.size))

    def release(self, data: Rankings, rng: Source) -> Decision:
        """One decision from at least two rankings a group; O(voters).

        Parameters
        ----------
        data, rng
            As in `LocalPairs.release`.
        """
        require_rankings(data, self.n_items, 2 * self.groups)
        require_source(rng)
        size = len(data) // self.groups
        dealt = data.positions[rng.permutation(len(data))[: size * self.groups]]
        asked = dealt.reshape(size, self.groups, self.n_items)
        answers = [self.report(asked[:, g], pair, rng) for g, pair in enumerate(self.pairs(rng))]
        return replace(self.decide(np.stack(answers, axis=1)), mechanism=self, source=source_of(rng, self))


def _of_voters(mechanism: _Randomised, signs: NDArray[np.int8], threshold: float) -> Decision:
    return replace(unif_decision(signs, threshold), mechanism=mechanism, source="voters")


def _positions(ranking: ArrayLike, n_items: int) -> NDArray[Any]:
    """One ranking of all items, or many of them."""
    places = as_array("ranking", ranking)
    if places.ndim == 0 or places.shape[-1] != n_items:
        raise ValueError(f"ranking has rows of another length; positions of {n_items} items are needed")
    return as_positions("ranking", places.reshape(-1, n_items)).reshape(places.shape)


def _signs(reports: ArrayLike, n_pairs: int) -> NDArray[np.int8]:
    """Answers of at least two voters to as many questions as there are pairs."""
    signs = as_array("reports", reports)
    if signs.ndim != 2 or len(signs) < 2 or signs.shape[1] != n_pairs:
        raise ValueError(f"reports of another shape; at least 2 voters and {n_pairs} signs of each are needed")
    if signs.dtype.kind not in "if" or not (np.abs(signs) == 1).all():
        raise ValueError(f"reports of {signs.dtype.type.__name__} hold others; -1 and +1 are needed")
    return signs.astype(np.int8)


def _disjoint(pairs: ArrayLike, n_items: int, n_pairs: int) -> NDArray[np.int64]:
    """Questions that a peer may answer: so many pairs of items 0 .. n_items - 1, no item twice."""
    asked = as_array("pairs", pairs)
    if asked.shape != (n_pairs, 2):
        raise ValueError(f"pairs of shape {asked.shape}; a peer answers questions of shape ({n_pairs}, 2) only")
    if asked.dtype.kind not in "iu" or asked.min() < 0 or asked.max() >= n_items:
        raise ValueError(f"pairs are out of range; they must hold items 0 .. {n_items - 1}")
    if len(np.unique(asked)) < asked.size:
        raise ValueError("pairs name an item again; no item may be asked about twice")
    return asked
