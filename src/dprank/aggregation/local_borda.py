"""Borda's count under local privacy, in one round; not in Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_one_of, require_whole
from dprank.aggregation.local_reports import OneRound, votes_of
from dprank.aggregation.private_borda import centred_scores
from dprank.aggregation.randomisers import OrderReport, mean_square, require_randomiser
from dprank.aggregation.sent_reports import require_votes
from dprank.data.ballots import BallotForm, Ballots
from dprank.data.rankings import Rankings
from dprank.mechanism import Card
from dprank.privacy.noise import Source, best_first, require_source
from dprank.privacy.pair_errors import PairError
from dprank.privacy.pair_ranges import Places, Sampling, drawn, pair_places
from dprank.privacy.published import Published
from dprank.release import Ranking, source_of

__all__ = ["LocalBorda"]


def _whole_again(release: Ranking) -> NDArray[np.float64]:
    """Scores from differences that are whole, where reports are."""
    scores, mechanism = np.asarray(release.scores), release.mechanism
    if not isinstance(mechanism.randomiser, OrderReport):
        return scores
    return np.asarray(mechanism._scores(np.rint((scores[0] - scores) * mechanism.randomiser.doubled_chance)))


@dataclass(frozen=True)
class LocalBorda(OneRound):
    """Borda's count under local privacy, in one round: one report a voter, and nobody is trusted.

    Parameters
    ----------
    randomiser : Randomiser
        What a voter sends, of places: `OrderReport` or `PositionVector`. Fixes items and privacy.

    Raises
    ------
    ValueError
        Naming what is no randomiser of places.

    Notes
    -----
    Publishes scores: sums of reports (whole numbers less their mean, over a public chance); order: mean places in the
    reports, equal ones by chance.

    Examples
    --------
    Voters report on their own devices; a server that nobody trusts sees the reports.

    >>> from dprank import SECURE, LocalBorda
    >>> poll = LocalBorda.calibrated(epsilon=2.0, n_items=3)
    >>> reports = [poll.report(places, SECURE) for places in ([0, 1, 2], [0, 2, 1], [0, 1, 2])]
    >>> poll.aggregate(reports, SECURE, items=["roads", "schools", "parks"]).guarantee.model
    'local'
    """

    card: ClassVar[Card] = Card(
        question="consensus",
        how="everybody reports once, true or drawn at random; sums of places are estimated",
        trust="nobody",
        partial=True,
        gives=("scores",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("scores", "sums of reports", "whole numbers less their mean, over a public chance", _whole_again),
        Published("order", "mean places in the reports, equal ones by chance"),
    )

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 5.0
    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)
    #: Ranges of places depend on the number of persons, which a release does not say.
    asks_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_randomiser(self.randomiser, "places")

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int) -> Self:
        """With `OrderReport`: at equal epsilon `PositionVector` has the larger variance, from three items on.

        Parameters
        ----------
        epsilon : float
            Of one voter's report, above 0, finite. What is more than about 37 above the log of the number of orders
            that can be sent is not spent: `guarantee` then says less.
        n_items : int
            At least 2.

        Raises
        ------
        ValueError
            Naming what is out of range.
        """
        return cls(OrderReport.calibrated(epsilon=epsilon, n_items=n_items))

    def additive_error(self, n_voters: int, ballots: BallotForm = "full") -> float:
        """Bound on the expected Kemeny score of the released order, less five times the least there is.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing.

        Parameters
        ----------
        n_voters : int
            At least 1.
        ballots : {"full", "partial"}
            Whether voters may tie items and leave some out, whose coins add at most what full rankings vary by.

        Returns
        -------
        float
            Twice (a bound on) the expected sum of absolute errors of the mean places: in pairs on which the average
            voter disagrees.
        """
        partial = require_one_of("ballots", ballots, get_args(BallotForm)) == "partial"
        variance = self.randomiser.variance + (mean_square(self.n_items) if partial else 0.0)
        return 2 * self.n_items * math.sqrt(variance / require_whole("n_voters", n_voters, 1))

    def open_places(
        self, release: Ranking, level: float, sampling: Sampling | None = None, persons: int | None = None
    ) -> Places:
        """What `Ranking.intervals` says: places by the sums of the voters' rankings, or of the population's mean.

        Parameters
        ----------
        release : Ranking
            Of this mechanism.
        level : float
            In (0, 1).
        sampling : {"persons"} or None
            Voters drawn independently, with whatever rankings; None for the coins of the reports alone.
        persons : int
            How many reports there were at most: whoever has collected them knows. Needed.

        Raises
        ------
        ValueError
            Naming what is missing, and where the randomiser is no `OrderReport`.

        Notes
        -----
        Reports are independent, and one adds to the difference of two scores at most a bound, with at most the
        variance that `apart` says: Bennett's inequality, for every number of reports.
        Of a population the mean is that of its places, and only its square is known not to be negative.
        """
        if sampling == "answers":
            raise ValueError("sampling = 'answers'; a ballot is all of one person: 'persons'")
        if not isinstance(self.randomiser, OrderReport):
            raise ValueError(f"randomiser = {type(self.randomiser).__name__}; intervals are known of an OrderReport")
        if persons is None:
            raise ValueError("persons = None; say how many reports there were at most: their coins are the noise")
        drawn(sampling, None if sampling is None else persons)
        n, sent = drawn("persons", persons), self.randomiser
        most, square, variance = apart(sent)
        error = PairError(variance=n * (square if sampling else variance), bound=most + self.n_items - 1)
        return pair_places(release.scores, error, level)  # type: ignore[arg-type]

    def places(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the voters' mean places, less (m - 1) / 2, from one report a voter.

        Of a ballot with ties or gaps the place of an item less the middle is half the number of items that it puts
        before it, less half of those that it puts behind it.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter; each as in `report`.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`, which `PositionVector` refuses.
        """
        table = require_votes(positions, self.n_items)
        return self.randomiser.estimate(self.sent(table, require_source(rng)))

    def release(self, data: Rankings | Ballots, rng: Source) -> Ranking:
        """One order from at least one ballot, as `report` and `aggregate` make it; `places` says which `rng`.

        Weights are not read: every voter sends one report. O(voters * items * log(items)) time.
        """
        places = self.places(votes_of(data, self.n_items), rng)
        return replace(self._order(data.items, places, len(data), rng), source=source_of(rng, self))

    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        sums = voters * estimates
        if isinstance(self.randomiser, OrderReport):
            # whole numbers: the last digits of a mean would tell how many reports there were
            sums = np.rint(sums * self.randomiser.doubled_chance)
        return Ranking(items, best_first(-estimates, rng), self._scores(sums), mechanism=self)

    def _scores(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of sums of places; of an `OrderReport` times its `doubled_chance`."""
        scores = centred_scores(sums)
        return scores / self.randomiser.doubled_chance if isinstance(self.randomiser, OrderReport) else scores


def apart(sent: OrderReport) -> tuple[float, float, float]:
    """By how many places one report puts two items apart: the most, the largest mean square, the largest variance.

    Over rankings and pairs of items; O(items^2).

    Notes
    -----
    Of k items that are sent in the voter's order, one has as many others before it as a hypergeometric number counts;
    in a random order its place is uniform. The mean is that of the ranking's places: estimates are unbiased.

    Examples
    --------
    >>> most, square, variance = apart(OrderReport.calibrated(epsilon=1.0, n_items=2))
    >>> abs(most - square**0.5) < 1e-9, abs(square - 1 - variance) < 1e-9
    (True, True)
    """
    m, k, kept = sent.n_items, sent.order.length, sent.order.shrinkage
    first, second = np.triu_indices(m, 1)
    both, alone = k * (k - 1) / (m * (m - 1)), k * (m - k) / (m * (m - 1))

    def moments(good: NDArray[np.int64], taken: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean and mean square of how many of the `good` among all other items are taken."""
        mean = taken * good / max(m - 2, 1)
        return mean, mean + mean * (good - 1) * (taken - 1) / max(m - 3, 1)

    mean, square = moments(second - first - 1, k - 2)
    own = both * (square + 2 * mean + 1)
    for better in (first, second - 1):
        # one of the two is sent alone; items better than it are counted without the other
        mean, square = moments(better, k - 1)
        own = own + alone * ((k - 1) ** 2 / 4 - (k - 1) * mean + square)
    blind = both * k * (k + 1) / 6 + 2 * alone * mean_square(k)
    scaled = sent.order.chance * kept
    squares = (kept * own + (1 - kept) * blind) / scaled**2
    return (k - 1) / scaled, float(squares.max()), float((squares - (second - first) ** 2).max())
