"""Rank aggregation under local privacy, all in one round: every voter sends one report, and nobody is trusted.

Alabi, Ghazi, Kumar and Manurangsi (2022), Reduction I in the local model; what a voter sends is in
`dprank.aggregation.randomisers`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_one_of, require_whole
from dprank.aggregation.matrix import upper
from dprank.aggregation.randomisers import Randomiser, SampledOrder, require_randomiser
from dprank.aggregation.rules import Rule, order_by, require_exact, require_rule
from dprank.aggregation.sent_reports import completed, require_votes
from dprank.data.ballots import BallotForm, Ballots, require_ballots
from dprank.data.rankings import Rankings, require_items
from dprank.mechanism import Card
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import Source, require_source
from dprank.privacy.published import Published
from dprank.release import Ranking, Report, source_of, source_of_reports

__all__ = ["LocalMatrix", "OneRound"]

#: Signs that are held in memory at a time.
BLOCK = 1 << 22


@dataclass(frozen=True)
class OneRound(ABC):
    """What `LocalMatrix` and `LocalBorda` have in common: one report a voter, and an order from the reports.

    Parameters
    ----------
    randomiser : Randomiser
        Fixes items and privacy.

    Notes
    -----
    A voter who ties items, or leaves some out, first orders them by fair coins (see
    `dprank.aggregation.sent_reports.completed`). Every report is then as likely as the mean of what it is under some
    full rankings: under two ballots its probabilities differ by no larger factor than under two full rankings. What a
    pair or a place is estimated to be is unbiased for what the ballot says: of a pair that it does not order, 0.

    Examples
    --------
    >>> from dprank import LocalBorda
    >>> poll = LocalBorda.calibrated(epsilon=1.0, n_items=3)
    >>> isinstance(poll, OneRound), poll.n_items, poll.guarantee.model
    (True, 3, 'local')
    """

    randomiser: Randomiser

    @property
    def n_items(self) -> int:
        """m."""
        return int(self.randomiser.n_items)

    @property
    def guarantee(self) -> Guarantee:
        """Of one report a voter: covers all reports, hence the order."""
        return Guarantee(self.randomiser.loss, model="local")

    def report(self, positions: ArrayLike, rng: Source) -> Report:
        """What one voter sends, once: to be run where the voter's ranking is, which goes nowhere else.

        Parameters
        ----------
        positions : array_like of int, shape (items,)
            The place that the voter gives every item, the smaller the better; equal for items that are tied, and -1 for
            one that the voter does not rank.
        rng : numpy.random.Generator or dprank.SECURE
            `SECURE` for a voter; a seeded generator for research.

        Returns
        -------
        Report
            A list of int, or of float where the randomiser is for research, fit for JSON. A voter who sends a second
            report spends `guarantee` again.
        """
        one = require_votes([positions], self.n_items)  # type: ignore[arg-type]
        return Report(self.sent(one, require_source(rng))[0].tolist(), source_of(rng, self))

    def sent(self, places: NDArray[Any], rng: Source) -> NDArray[Any]:
        """What the voters of a simulation send, a row each; `places` as of `dprank.data.ballots.as_orders`."""
        return self.randomiser.report(completed(places, rng), rng)

    def aggregate(self, reports: Any, rng: Source, *, items: Sequence[str]) -> Ranking:
        """The order that the reports of all voters give: needs no trust, and spends nothing more.

        Parameters
        ----------
        reports : sequence of what `report` returns
            At least one.
        rng : numpy.random.Generator or dprank.SECURE
            Breaks ties.
        items : sequence of str
            Names, in the order in which all voters number the items.

        Returns
        -------
        Ranking
            Its source is "voters" where reports were sent here, without the mark that `report` gives them.

        Raises
        ------
        ValueError
            Naming the first report that no voter's `report` returns. One that it could return is counted, whoever made
            it up.
        """
        names = require_items(items, self.n_items)
        reports = list(reports) if isinstance(reports, Iterator) else reports
        table = self.randomiser.checked(reports)
        order = self._order(names, self.randomiser.estimate(table), len(table), rng)
        return replace(order, source=source_of_reports(reports, source_of(rng, self)))

    @abstractmethod
    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        """The order that the estimates of the randomiser give."""


@dataclass(frozen=True)
class LocalMatrix(OneRound):
    """Reduction I: every voter reports once, and a rule orders the estimated fractions.

    Parameters
    ----------
    randomiser : Randomiser
        Of signs, such as `SampledOrder`, `SplitResponse` and `VectorReport`. Fixes items and privacy.
    rule : {"auto", "kemeny", "local_search", "borda", "copeland"}
        What orders the estimates, unclipped, see `order_by`. "auto" never takes long.

    Raises
    ------
    ValueError
        Naming what is no randomiser of signs, or no rule.

    Notes
    -----
    Publishes order: mean reports, by a public rule.

    Examples
    --------
    Voters report on their own devices; a server that nobody trusts sees the reports.

    >>> from dprank import SECURE, LocalMatrix
    >>> poll = LocalMatrix.calibrated(epsilon=2.0, n_items=3)
    >>> reports = [poll.report(places, SECURE) for places in ([0, 1, 2], [0, 2, 1], [0, 1, 2])]
    >>> poll.aggregate(reports, SECURE, items=["roads", "schools", "parks"]).guarantee.model
    'local'
    """

    card: ClassVar[Card] = Card(
        question="consensus",
        how="everybody reports once, true or drawn at random; votes for pairs are estimated",
        trust="nobody",
        partial=True,
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (Published("order", "mean reports, by a public rule"),)

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 1.0

    rule: Rule = "auto"

    def __post_init__(self) -> None:
        require_rule(self.rule)
        require_randomiser(self.randomiser, "signs")

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, rule: Rule = "auto") -> Self:
        """With the `SampledOrder` of least variance for the budget.

        Parameters
        ----------
        epsilon : float
            Of one voter's report, above 0, finite.
        n_items : int
            At least 2.
        rule
            As in `LocalMatrix`.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        return cls(SampledOrder.calibrated(epsilon=epsilon, n_items=n_items), rule)

    def additive_error(self, n_voters: int, ballots: BallotForm = "full") -> float:
        r"""Bound on the expected Kemeny score of the released order, less the least there is, if the rule is exact.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing.

        Parameters
        ----------
        n_voters : int
            At least 1.
        ballots : {"full", "partial"}
            Whether voters may tie items and leave some out, whose coins add 1 to the variance of a pair at most.

        Returns
        -------
        float
            In pairs on which the average voter disagrees, one half for a pair that a voter does not order. The rule
            "auto" is exact up to 20 items.

        Raises
        ------
        ValueError
            With a rule for which nothing is proved.

        Notes
        -----
        At most the sum of the mean absolute errors of all margins. With `SampledOrder`, one report moves the estimated
        cost of any order within a range of width :math:`\binom m2 / c`, where c is the chance of the voter's own order;
        so the error is at most half of that times :math:`\sqrt{2 \log m! / n}`.
        """
        require_exact(self.rule)
        pairs = math.comb(self.n_items, 2)
        coins = float(require_one_of("ballots", ballots, get_args(BallotForm)) == "partial")
        error = pairs * math.sqrt(self.randomiser.variance + coins)
        if isinstance(self.randomiser, SampledOrder):
            width = pairs / self.randomiser.shrinkage
            error = min(error, width / 2 * math.sqrt(2 * math.lgamma(self.n_items + 1)))
        return error / math.sqrt(require_whole("n_voters", n_voters, 1))

    def fractions(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the pairwise fractions from one report a voter.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter; each as in `report`.
        rng : numpy.random.Generator or dprank.SECURE

        Returns
        -------
        ndarray of float, shape (items, items)
            The two entries of a pair sum to 1; entries may lie outside [0, 1]. Diagonal 0. A voter who does not order a
            pair counts as one half for both.
        """
        m = self.n_items
        table = require_votes(positions, m)
        require_source(rng)
        rows = max(1, BLOCK // math.comb(m, 2))
        total = np.zeros(math.comb(m, 2))
        for start in range(0, len(table), rows):
            block = table[start : start + rows]
            total += len(block) * self.randomiser.estimate(self.sent(block, rng))
        return self._fractions(total / len(table))

    def release(self, data: Rankings | Ballots, rng: Source) -> Ranking:
        """One order from at least one ballot, as `report` and `aggregate` make it.

        Parameters
        ----------
        data : Rankings or Ballots
            Of `n_items` items. Weights are not read: every voter sends one report.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`, which `VectorReport` refuses.
        """
        w = self.fractions(votes_of(data, self.n_items), rng)
        order = order_by(self.rule, w, rng=rng)
        return Ranking(data.items, order, mechanism=self, source=source_of(rng, self))

    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        return Ranking(items, order_by(self.rule, self._fractions(estimates), rng=rng), mechanism=self)

    def _fractions(self, signs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The matrix of mean signs."""
        matrix = np.zeros((self.n_items, self.n_items))
        matrix[upper(self.n_items)] = (1 + signs) / 2
        return matrix + np.tril(1 - matrix.T, -1)


def votes_of(data: Rankings | Ballots, n_items: int) -> NDArray[Any]:
    """Places of at least one ranking or ballot, a row a voter.

    Examples
    --------
    >>> votes_of(Ballots([[0, 1, -1]], "abc"), 3).tolist()
    [[0, 1, -1]]
    """
    return require_ballots(data, n_items, 1).places
