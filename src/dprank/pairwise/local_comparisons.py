"""A ranking from comparisons under local privacy: everybody reports once on some of their answers, nobody is trusted.

Not in Cai, Chakraborty and Wang (2025). To ask for some of many bits, and to spend the whole budget on those, is how
means of vectors are had under local privacy (Nguyên and others 2016, "Collecting and analyzing data from smart device
users with local differential privacy"); what is sent of those bits is all of them, or none (ours).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    as_array,
    require_positive,
    require_whole,
    settle,
)
from dprank.data.comparisons import Comparisons, require_comparisons, voter_column
from dprank.data.rankings import require_items
from dprank.mechanism import Card
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.kept import kept_for, kept_loss
from dprank.privacy.noise import SecureSource, Source, best_first, require_source
from dprank.privacy.published import Published
from dprank.privacy.randomized_response import GRAIN, randomise
from dprank.privacy.reports import require_reports
from dprank.release import Ranking, Report, source_of, source_of_reports

__all__ = ["MOST_ASKED", "LocalComparisons", "Sent"]

#: Most pairs that one person is asked about.
MOST_ASKED = 10_000


class Sent(NamedTuple):
    """What is sent: numbers of the rows that were asked about, ascending; for each 1 (the first item), or -1."""

    rows: NDArray[np.int64]
    signs: NDArray[np.int8]


def _whole_again(release: Ranking) -> NDArray[np.float64]:
    """Scores from whole sums."""
    unit = release.mechanism.length * release.mechanism.shrinkage
    return np.asarray((np.rint(np.asarray(release.scores) * unit) + 0.0) / unit)


@dataclass(frozen=True)
class LocalComparisons:
    r"""Everybody reports on a few of the pairs that they were asked about; items are ordered by estimated net wins.

    Who is asked about which pairs is public: whoever asks knows it. What is not is which item somebody prefers, whether
    they cannot say, and whether they answered at all.

    Parameters
    ----------
    n_items : int
        At least 2.
    per_person : int
        Most pairs that one person is asked about, 1 to 10^4.
    length : int
        Of how many of them a person's report tells, 1 to `per_person`; of all, where a person is asked about fewer.
    kept : int
        Probability that it tells the answers, in units of 2^-53; 1 to 2^53 - 1. Else it tells coins.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    LocalComparisons.calibrated : the report of least variance for the budget.
    dprank.NoisyCounts : where there is a curator.

    Notes
    -----
    Publishes scores: sums of reports (whole numbers over length times shrinkage); order: the scores, equal ones by
    chance.

    A person picks `length` s of the a pairs that they were asked about, blindly; throws one coin, which says with
    probability c whether all s answers are sent as they are, or s fair coins are sent in their place. A tie, and an
    answer left out, is a fair coin as well: a report is then as likely as the mean of what it is under some answers to
    all pairs, so that neither shows.

    *Privacy.* Whatever the answers are, each of the :math:`2^s` reports on the picked pairs has a probability between
    :math:`(1 - c) / 2^s` and :math:`c + (1 - c) / 2^s`: the loss is :math:`\log(1 + 2^s c / (1 - c))`, attained by two
    persons who disagree about a pair that is picked. Everything else is made of reports and of what is public.

    *Error.* Each sign sent, times a / (s c), is an unbiased estimate of the answer's (1, -1, or 0), of variance
    :math:`a / (s c^2)` less the square of its mean. For small epsilon s = 1 is best, which is randomised response on
    one pair, with :math:`a / \tanh^2(\varepsilon / 2)`; s grows with epsilon, to all answers. To randomise each of s
    answers on its own with epsilon / s is no better for any epsilon, and has 1.3 times the variance at 2, twice at 4.
    Sign vectors that differ in a few places, beside the answers themselves, would gain nothing up to epsilon 4, and of
    40 pairs at most 5 % up to 6, 11 % up to 10.

    A score is the sum of these over all reports, an estimate of the item's net wins in all that was asked: the order is
    meaningful where items are asked about about equally often, which whoever asks can see to.

    Examples
    --------
    Voters report on their own devices; a server that nobody trusts sees the reports.

    >>> from dprank import SECURE, LocalComparisons
    >>> poll = LocalComparisons.calibrated(epsilon=2.0, n_items=3, per_person=3)
    >>> pairs = [[0, 1], [1, 2], [0, 2]]  # asked of everybody
    >>> answers = [1, 1, -1], [1, 0, 1], [1, 1, 1]  # the second voter cannot say which of items 1 and 2
    >>> reports = [poll.report(given, SECURE) for given in answers]
    >>> poll.aggregate(reports, pairs, SECURE, items=["roads", "schools", "parks"]).guarantee.model
    'local'
    """

    card: ClassVar[Card] = Card(
        question="ranking",
        how="everybody reports a few answers, true or drawn at random",
        trust="nobody",
        gives=("scores",),
        needs="everybody may know who was asked what",
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("scores", "sums of reports", "whole numbers over length times shrinkage", _whole_again),
        Published("order", "the scores, equal ones by chance"),
    )

    #: Which estimates a release has, besides the order.
    shows: ClassVar[tuple[str, ...]] = ("scores",)

    n_items: int
    per_person: int
    length: int
    kept: int

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            per_person=(most := require_whole("per_person", self.per_person, 1, MOST_ASKED)),
            length=require_whole("length", self.length, 1, most),
            kept=require_whole("kept", self.kept, 1, GRAIN - 1),
        )

    @classmethod
    def calibrated(cls, *, epsilon: float, n_items: int, per_person: int, length: int | None = None) -> Self:
        """All of the budget on the choice between answers and coins.

        Parameters
        ----------
        epsilon : float
            Of one person's report; above 0, finite.
        n_items, per_person : int
            As in `LocalComparisons`.
        length : int, optional
            As in `LocalComparisons`; without it, the one of least variance.

        Raises
        ------
        ValueError
            Naming what is out of range, or `epsilon` where it is too little for any such report.

        Examples
        --------
        >>> [LocalComparisons.calibrated(epsilon=e, n_items=9, per_person=8).length for e in (0.5, 2, 4, 12)]
        [1, 2, 4, 8]
        """
        epsilon, most = require_positive("epsilon", epsilon), require_whole("per_person", per_person, 1, MOST_ASKED)
        lengths = range(1, most + 1) if length is None else [require_whole("length", length, 1, most)]
        shares = ((s, kept_for(epsilon, 1 << s)) for s in lengths)
        best: Self | None = None
        for s, kept in takewhile(itemgetter(1), shares):
            made = cls(n_items, most, s, kept)
            if best is not None and made.variance > best.variance:  # it falls, then rises
                break
            best = made
        if best is None:
            require_whole("n_items", n_items, 2)
            raise ValueError(f"epsilon = {epsilon}; too little for a report on {lengths[0]} answers")
        return best

    @property
    def shrinkage(self) -> float:
        """Probability of a person's own answers, c."""
        return self.kept / GRAIN

    @property
    def variance(self) -> float:
        """Of the estimate of one answer that is no tie, of a person who is asked about `per_person` pairs."""
        return self.per_person / (self.length * self.shrinkage**2) - 1

    @property
    def guarantee(self) -> Guarantee:
        """Of one report a person: covers all reports, hence the order. Attained by opposite answers."""
        return Guarantee(kept_loss(1 << self.length, 1, self.kept), model="local")

    def report(self, answers: ArrayLike, rng: Source) -> Report:
        """What one person sends, once: to be run where the answers are, which go nowhere else.

        Parameters
        ----------
        answers : array_like of int, shape (pairs,)
            To the pairs that this person was asked about, at most `per_person`: 1 where the first item is preferred,
            -1 where the second is, 0 where neither is or no answer was given.
        rng : numpy.random.Generator or dprank.SECURE
            `SECURE` for a person; a seeded generator for research.

        Returns
        -------
        Report
            A list of int, fit for JSON: numbers of pairs, from 1, ascending; negative where the second item is said to
            be preferred. A person who sends a second report spends `guarantee` again.

        Raises
        ------
        ValueError
            For what are no answers, or more than `per_person`.
        """
        signs = as_array("answers", answers)
        if signs.ndim != 1 or not 1 <= len(signs) <= self.per_person or signs.dtype.kind not in "iu":
            raise ValueError(f"answers are no list; 1 to {self.per_person} whole numbers, one a pair, are needed")
        if ((signs != 0) & (signs != 1) & (signs != -1)).any():
            raise ValueError("answers hold others; 1, -1 and 0 are needed")
        rows, told = self.sent(signs.astype(np.int8), np.zeros(len(signs), np.int64), require_source(rng))
        return Report(((rows + 1) * told).tolist(), source_of(rng, self))

    def sent(self, answers: NDArray[np.int8], voter: NDArray[Any], rng: Source) -> Sent:
        """What many people send in a simulation; O(answers log answers).

        Parameters
        ----------
        answers : ndarray of int8, shape (rows,)
            Of 1, -1 and 0.
        voter : ndarray of int, shape (rows,)
            Who gave each; at most `per_person` rows of any.
        rng : numpy.random.Generator or dprank.SECURE

        Examples
        --------
        >>> poll = LocalComparisons(n_items=3, per_person=2, length=1, kept=GRAIN - 1)  # one answer, as good as true
        >>> poll.sent(np.array([1, 1, -1], np.int8), np.array([7, 7, 8]), np.random.default_rng(1)).signs.tolist()
        [1, -1]
        """
        _, who, asked = np.unique(voter, return_inverse=True, return_counts=True)
        if isinstance(rng, SecureSource):
            # two words are equal once in 2^64: a pair is picked less than fairly by that, and no less blindly
            words = np.frombuffer(secrets.token_bytes(8 * len(who)), np.uint64)
        else:
            words = rng.integers(0, 1 << 64, len(who), np.uint64)
        if len(who) and (asked == asked[0]).all() and (who[1:] >= who[:-1]).all():  # a row a person: sorted faster
            order = np.argsort(words.reshape(len(asked), -1), axis=1, kind="stable")[:, : self.length]
            rows = np.sort((order + np.arange(0, len(who), asked[0])[:, None]).ravel())
        else:
            order = np.lexsort((words, who))
            place = np.arange(len(who)) - np.repeat(np.cumsum(asked) - asked, asked)
            rows = np.sort(order[place < self.length])
        own = randomise(np.ones(len(asked), np.int8), GRAIN - self.kept, rng)[who[rows]] > 0
        coins = randomise(np.ones(len(rows), np.int8), GRAIN // 2, rng)
        return Sent(rows, np.where(own & (answers[rows] != 0), answers[rows], coins))

    def weight(self, asked: ArrayLike) -> NDArray[np.float64]:
        """What a sign counts of a person who was asked about so many pairs: pairs / (pairs told of * c)."""
        asked = np.asarray(asked)
        return np.asarray(asked / (np.minimum(asked, self.length) * self.shrinkage))

    def aggregate(self, reports: Any, pairs: ArrayLike, rng: Source, *, items: Sequence[str]) -> Ranking:
        """The order that the reports of all people give: needs no trust, and spends nothing more.

        Parameters
        ----------
        reports : sequence of what `report` returns
            At least one.
        pairs : array_like of int, shape (pairs, 2) or (people, pairs, 2)
            What was asked, by item codes: of everybody the same, or of each their own, in the order of the reports. Of
            who is asked about fewer the row ends with pairs of -1.
        rng : numpy.random.Generator or dprank.SECURE
            Breaks ties.
        items : sequence of str
            Names, in the order of their codes.

        Returns
        -------
        Ranking
            With estimated net wins as scores. Its source is "voters" where reports were sent here, without the mark
            that `report` gives them.

        Raises
        ------
        ValueError
            For pairs that are none, and naming the first report that nobody's `report` returns who was asked about
            these. One that it could return is counted, whoever made it up.
        """
        names = require_items(items, self.n_items)
        reports = list(reports) if isinstance(reports, Iterator) else reports
        asked = self._pairs(pairs)
        told, of = self._told(reports, asked)
        who, number = np.nonzero(told)
        both = asked[0 if len(asked) == 1 else who, abs(told[who, number]) - 1]
        source = source_of_reports(reports, source_of(rng, self))
        return self._ranking(names, both.T, np.sign(told[who, number]), of[who], source, rng)

    def release(self, data: Comparisons, rng: Source) -> Ranking:
        """One order from comparisons, as `report` and `aggregate` make it.

        Parameters
        ----------
        data : Comparisons
            With voters. Its rows, and `Comparisons.unanswered`, are what was asked, which is public: an answer left out
            is a tie. What goes beyond `per_person` is left out, as by `Comparisons.bounded`: it is as if it had not
            been asked.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research; `SECURE` to publish.

        Raises
        ------
        ValueError
            If the data are of another number of items, or have no voters.

        Examples
        --------
        >>> answers = Comparisons([0, 0, 1] * 400, [1, 2, 2] * 400, [1] * 1200, "abc", np.arange(1200) // 3)
        >>> poll = LocalComparisons.calibrated(epsilon=2.0, n_items=3, per_person=3)
        >>> poll.release(answers, np.random.default_rng(1)).ranking
        ('a', 'b', 'c')
        """
        voter_column(require_comparisons(data, self.n_items))
        data = data.asked().bounded(self.per_person)
        _, who, asked = np.unique(voter_column(data), return_inverse=True, return_counts=True)
        rows, signs = self.sent(data.points.astype(np.int8) - 1, who, require_source(rng))
        both = np.stack([data.first[rows], data.second[rows]]).astype(np.int64)
        return self._ranking(data.items, both, signs, asked[who[rows]], source_of(rng, self), rng)

    def _ranking(
        self, items: tuple[str, ...], pairs: Any, signs: NDArray[Any], asked: NDArray[Any], source: Any, rng: Source
    ) -> Ranking:
        """Of signs about pairs, by people who were asked about so many: whole numbers are added, in whatever order."""
        whole = signs * np.maximum(asked, self.length)
        first, second = (np.bincount(side, whole, self.n_items) for side in pairs)
        scores = (first - second) / (self.length * self.shrinkage)
        return Ranking(items, best_first(scores, rng), scores, mechanism=self, source=source)

    def _pairs(self, pairs: ArrayLike) -> NDArray[np.int64]:
        """Of everybody, or of one for all: shape (people or 1, pairs, 2)."""
        table = as_array("pairs", pairs)
        shaped = table.ndim in (2, 3) and table.shape[-1] == 2 and 1 <= table.shape[-2] <= self.per_person
        if not shaped or table.dtype.kind not in "iu" or not len(table):
            raise ValueError(
                f"pairs are no table; 1 to {self.per_person} pairs of item codes, of all or each, are needed"
            )
        table = table[None] if table.ndim == 2 else table
        gone = (table == -1).all(axis=-1)
        fits = (table >= 0).all(axis=-1) & (table < self.n_items).all(axis=-1) & (table[..., 0] != table[..., 1])
        if not (fits | gone).all() or gone[:, 0].any() or (gone[:, :-1] > gone[:, 1:]).any():
            raise ValueError(
                f"pairs hold others than two different codes of 0 .. {self.n_items - 1}, or those of -1 not at the end"
            )
        return table.astype(np.int64)

    def _told(self, reports: Any, asked: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Signed numbers of pairs, 0 where nothing is told, shape (people, length); and how many each was asked."""
        number = (asked[..., 0] >= 0).sum(axis=1)
        if len(asked) > 1 and (not hasattr(reports, "__len__") or len(reports) != len(asked)):
            raise ValueError(f"reports of another number than pairs of {len(asked)} people; one of each is needed")
        if len(set(number.tolist())) == 1:
            width = min(self.length, int(number[0]))
            table = require_reports(reports, width, "iu", _told_of(int(number[0])), f"{width} numbers of pairs are")
            return table.astype(np.int64), np.repeat(number[0], len(table))
        table = np.zeros((len(asked), self.length), np.int64)
        for person, (report, n) in enumerate(zip(reports, number.tolist(), strict=True)):
            width = min(self.length, n)
            try:
                table[person, :width] = require_reports([report], width, "iu", _told_of(n), "")[0]
            except ValueError:
                raise ValueError(
                    f"reports[{person}] = <{type(report).__name__}>; {width} numbers of pairs are needed"
                ) from None
        return table, number


def _told_of(asked: int) -> Any:
    """Whether rows are different numbers of so many pairs, ascending, with signs."""

    def fits(table: NDArray[Any]) -> Any:
        number = abs(table.astype(np.int64))
        return ((number >= 1) & (number <= asked)).all() and (np.diff(number, axis=1) > 0).all()

    return fits
