"""Borda's count under local privacy, in one round; not in Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import require_whole
from dprank.aggregation.local_reports import OneRound
from dprank.aggregation.private_borda import centred_scores
from dprank.aggregation.randomisers import OrderReport, require_randomiser
from dprank.aggregation.sent_reports import require_votes
from dprank.data.rankings import Rankings, require_rankings
from dprank.privacy.noise import Source, best_first, require_source
from dprank.privacy.pair_ranges import PairError, Places, Sampling, drawn, pair_places
from dprank.release import Ranking, source_of

__all__ = ["LocalBorda"]


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

    Examples
    --------
    Voters report on their own devices; a server that nobody trusts sees the reports.

    >>> from dprank import SECURE, LocalBorda
    >>> poll = LocalBorda.calibrated(epsilon=2.0, n_items=3)
    >>> reports = [poll.report(places, SECURE) for places in ([0, 1, 2], [0, 2, 1], [0, 1, 2])]
    >>> poll.aggregate(reports, SECURE, items=["roads", "schools", "parks"]).guarantee.model
    'local'
    """

    #: What `additive_error` goes with: the order costs at most this times the least cost, plus the error.
    ratio: ClassVar[float] = 5.0
    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)

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

    def additive_error(self, n_voters: int) -> float:
        """Bound on the expected Kemeny score of the released order, less five times the least there is.

        A fair coin for every pair scores m (m - 1) / 4 in expectation: an error near that promises nothing.

        Parameters
        ----------
        n_voters : int
            At least 1.

        Returns
        -------
        float
            Twice (a bound on) the expected sum of absolute errors of the mean places: in pairs on which the average
            voter disagrees.
        """
        return 2 * self.n_items * math.sqrt(self.randomiser.variance / require_whole("n_voters", n_voters, 1))

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
        Reports are independent, and one adds to the difference of two scores at most a bound, with a variance of at
        most `OrderReport.worst_square` less the square of its mean: Bennett's inequality, for every number of reports.
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
        variance = sent.worst_square if sampling else sent.worst_variance
        error = PairError(variance=n * variance, bound=sent.most_apart + self.n_items - 1)
        return pair_places(release.scores, error, level)  # type: ignore[arg-type]

    def places(self, positions: ArrayLike, rng: Source) -> NDArray[np.float64]:
        """Unbiased estimates of the voters' mean places, less (m - 1) / 2, from one report a voter.

        Parameters
        ----------
        positions : array_like of int, shape (voters, items)
            At least one voter.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research. To publish, `SECURE`, which `PositionVector` refuses.
        """
        table = require_votes(positions, self.n_items)
        return self.randomiser.estimate(self.randomiser.report(table, require_source(rng)))

    def release(self, data: Rankings, rng: Source) -> Ranking:
        """One order from at least one ranking, as `report` and `aggregate` make it; `places` says which `rng`.

        O(voters * items) time.
        """
        places = self.places(require_rankings(data, self.n_items, 1).positions, rng)
        return replace(self._order(data.items, places, len(data), rng), source=source_of(rng, self))

    def _order(self, items: tuple[str, ...], estimates: NDArray[np.float64], voters: int, rng: Source) -> Ranking:
        return Ranking(items, best_first(-estimates, rng), centred_scores(voters * estimates), mechanism=self)
