"""The k most frequent items, nobody being trusted: all send one random set that favours theirs (long: its law).

Not in Qiao, Su and Zhang (2021). Of one item a person it is subset selection (Ye and Barg 2018, "Optimal schemes for
discrete distribution estimation under locally differential privacy"), of several PrivSet (Wang and others 2018,
"PrivSet: set-valued data analyses with locally differential privacy"), with a choice of how many of them must be met.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import WrongType, as_array, no_data, require_positive, require_real, require_whole, settle
from dprank.data.bounding import kept as kept_rows
from dprank.data.tallies import Tallies, require_items, require_k
from dprank.mechanism import Card
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.kept import kept_for, kept_loss
from dprank.privacy.noise import SECURE, SecureSource, Source, best_first, require_source
from dprank.privacy.published import Published
from dprank.privacy.randomized_response import GRAIN, randomise
from dprank.privacy.reports import require_lists
from dprank.release import Report, Selection, source_of, source_of_reports
from dprank.topk.random_sets import Overlap, least_variance, overlap_of, random_sets

__all__ = ["MOST_CELLS", "LocalTopK", "SetChances"]

#: Most of (items + per_person) (per_person + 1): a second, and a hundred megabytes.
MOST_CELLS = 10**6
#: Codes that are held in memory at a time.
BLOCK = 1 << 22


class SetChances(NamedTuple):
    """Probability that a report holds an item that the person has; and one that the person has not."""

    own: float
    other: float


@dataclass(frozen=True)
class LocalTopK:
    r"""Everybody sends a random set of codes that favours their own items; the codes sent most often are named.

    Parameters
    ----------
    k : int
        From 1 to `n_items`.
    per_person : int
        Most items of one person that count; (items + per_person) (per_person + 1) is at most 10^6.
    length : int
        How many codes a person sends, of `n_items` + `per_person`.
    hits : int
        How many of a person's own are in a set that fits them, at least; 1 to `per_person`, at most `length`.
    kept : int
        Probability that the set is drawn from those that fit, in units of 2^-53; 1 to 2^53 - 1. Else from all.
    n_items : int, optional
        Public number of items m. It, or `items`, is needed.
    items : iterable of hashable, optional
        Public names of the items, decided before looking at the data.

    Raises
    ------
    ValueError
        Naming what is out of range.

    See Also
    --------
    LocalTopK.calibrated : the report of least variance for the budget.
    dprank.Oneshot : where there is a curator.

    Notes
    -----
    Publishes items: the values, equal ones by chance; values: sums of reports, and their number (whole numbers, less
    chances, over a chance).

    Who has fewer than `per_person` = a items has blanks besides: of d = m + a codes everybody has a, and how many of
    them are items does not show. A person throws one coin: with probability c the set sent is one of those that hold
    at least `hits` of their codes, else one of all sets of so many codes, all equally likely.

    *Privacy.* As many sets fit whatever the codes are, G of N. The probability of any set is between (1 - c) / N and
    that and c / G: the loss is log(1 + c N / ((1 - c) G)), attained by two persons of whom a set fits only one.

    *Error.* A report holds an item of the person's with probability p, another one with q. With n reports, of which r
    hold an item, (r - n q) / (p - q) is an unbiased estimate of how many have it, of variance

    .. math:: (x \, p (1 - p) + (n - x) \, q (1 - q)) / (p - q)^2

    if x have it. `calibrated` takes length and hits for which the mean of this over items is least, for a person with a
    of them. For small epsilon about d / (2 a) codes are sent, and the variance is some :math:`2 e a / \varepsilon^2`,
    where one that draws one of the a items and spends epsilon on it, or spends epsilon / a on every item, has
    :math:`4 a^2 / \varepsilon^2`. Of 1000 items at epsilon 1 the variance of a rare item's count, for each report, is

    ==========  =========  ==========================  =====================
    per_person  this one   subset selection of one     all, unary encoding
    ==========  =========  ==========================  =====================
    1           3.7        3.7                         3.7
    5           20         92                          100
    10          41         370                         400
    ==========  =========  ==========================  =====================

    More than one hit pays from an epsilon of 8 or so on. Order and counts cost nothing besides: they are made of
    reports. A report takes `length` codes, O(m) time, and with `SECURE` products of numbers of about `length` log m
    digits: milliseconds at 1000 items.

    Examples
    --------
    Phones report on themselves; a server that nobody trusts sees the reports.

    >>> from dprank import SECURE, LocalTopK
    >>> words = LocalTopK.calibrated(epsilon=4.0, items=["yes", "no", "lol", "brb"], k=1, per_person=2)
    >>> reports = [words.report(own, SECURE) for own in (["yes", "lol"], ["yes"], [])]
    >>> words.aggregate(reports, SECURE).guarantee.model
    'local'
    """

    card: ClassVar[Card] = Card(
        question="topk",
        how="everybody sends a random set that favours their own items",
        trust="nobody",
        gives=("values",),
    )

    #: `dprank.SECURE` may draw for this class, and for no heir that does not say so too.
    for_publication: ClassVar[bool] = True
    #: What a release shows, and what it is a function of.
    publishes: ClassVar[tuple[Published, ...]] = (
        Published("items", "the values, equal ones by chance"),
        Published("values", "sums of reports, and their number", "whole numbers, less chances, over a chance"),
    )

    #: Which estimates a release has, besides the items.
    shows: ClassVar[tuple[str, ...]] = ("values",)
    #: The order is released: best first.
    ordered: ClassVar[bool] = True

    k: int
    per_person: int
    length: int
    hits: int
    kept: int
    _: KW_ONLY
    n_items: int | None = None
    items: Iterable[Any] | None = None

    def __post_init__(self) -> None:
        n_items, items, own = _shape(self.n_items, self.items, self.per_person)
        length = require_whole("length", self.length, 1, n_items + own)
        settle(
            self,
            n_items=n_items,
            items=items,
            k=require_k(self.k, n_items),
            per_person=own,
            length=length,
            hits=require_whole("hits", self.hits, 1, min(own, length)),
            kept=require_whole("kept", self.kept, 1, GRAIN - 1),
        )
        if length - n_items >= self.hits:
            raise ValueError(
                f"length = {length}; every set of so many of {n_items + own} codes has {self.hits} of everybody's"
            )

    @classmethod
    def calibrated(
        cls,
        *,
        epsilon: float,
        k: int,
        per_person: int,
        n_items: int | None = None,
        items: Iterable[Any] | None = None,
    ) -> Self:
        """All of the budget on the choice between sets that fit and any.

        Parameters
        ----------
        epsilon : float
            Of one person's report; above 0, finite.
        k, per_person, n_items, items
            As in `LocalTopK`.

        Raises
        ------
        ValueError
            Naming what is out of range, or `epsilon` where it is too little for any such report.

        Notes
        -----
        O((m + a) a) time and memory, at most 10^6 cells, and one division of numbers of length log m digits.

        Examples
        --------
        >>> made = LocalTopK.calibrated(epsilon=1.0, n_items=1000, k=10, per_person=5)
        >>> made.length, made.hits, round(made.guarantee.epsilon, 9)
        (52, 1, 1.0)
        """
        m, items, own = _shape(n_items, items, per_person)
        epsilon = require_positive("epsilon", epsilon)
        length, hits = least_variance(m, own, epsilon)
        overlap = overlap_of(m, own, length, hits)
        kept = kept_for(epsilon, overlap.all, overlap.fitting)
        if not kept:
            raise ValueError(f"epsilon = {epsilon}; too little for a report on {own} items")
        return cls(k, own, length, hits, kept, n_items=m, items=items)

    @property
    def n_codes(self) -> int:
        """Of items and blanks, d."""
        return self._m + self.per_person

    @property
    def guarantee(self) -> Guarantee:
        """Of one report a person: covers all reports, hence items, order and counts. Attained."""
        return Guarantee(kept_loss(self.overlap.all, self.overlap.fitting, self.kept), model="local")

    @property
    def overlap(self) -> Overlap:
        """How many sets hold how many of a person's codes."""
        return overlap_of(self._m, self.per_person, self.length, self.hits)

    @property
    def chances(self) -> SetChances:
        """Of an item that a person has, p, and one that the person has not, q."""
        mean = float(np.arange(self.per_person + 1) @ self.overlap_law)
        return SetChances(mean / self.per_person, (self.length - mean) / self._m)

    @property
    def correlation(self) -> float:
        """Of whether a report holds two items that the person has not: below 0, as its length is fixed; 0 of one item.

        Examples
        --------
        >>> round(LocalTopK.calibrated(epsilon=1.0, n_items=5, k=1, per_person=1).correlation, 2)
        -0.19
        """
        if self._m == 1:
            return 0.0
        blind, q = self.length - np.arange(self.per_person + 1), self.chances.other
        both = float(blind * (blind - 1) @ self.overlap_law) / (self._m * (self._m - 1))
        return (both - q * q) / (q * (1 - q))

    @property
    def overlap_law(self) -> NDArray[np.float64]:
        """Probability that a report holds 0, 1, .., `per_person` of the person's codes."""
        overlap, share = self.overlap, self.kept / GRAIN
        blind = np.array([ways / overlap.all for ways in overlap.ways])
        own = np.array([0.0] * self.hits + [ways / overlap.fitting for ways in overlap.ways[self.hits :]])
        return share * own + (1 - share) * blind

    def deviation(self, count: float, persons: int) -> float:
        """Standard deviation of an estimated count, over the coins of the reports alone.

        Parameters
        ----------
        count : float
            How many have the item, 0 to `persons`.
        persons : int
            How many report.

        Examples
        --------
        >>> made = LocalTopK.calibrated(epsilon=1.0, n_items=1000, k=10, per_person=5)
        >>> round(made.deviation(0, 10_000)), round(made.deviation(5_000, 10_000))
        (452, 540)
        """
        persons = require_whole("persons", persons, 1)
        p, q = self.chances
        count = require_real("count", count, f"0 to persons = {persons} is needed", lambda x: 0 <= x <= persons)
        return math.sqrt(count * p * (1 - p) + (persons - count) * q * (1 - q)) / (p - q)

    def report(self, own: Iterable[Any], rng: Source) -> Report:
        """What one person sends, once: to be run where the items are, which go nowhere else.

        Parameters
        ----------
        own : iterable
            The items of this person, by name where items are declared by name, else by code; none twice, in any order.
            What is not declared, and what goes beyond `per_person`, is left out; what is left out is drawn.
        rng : numpy.random.Generator or dprank.SECURE
            `SECURE` for a person; a seeded generator for research.

        Returns
        -------
        Report
            `length` codes, ascending, fit for JSON; those from `n_items` on are blanks. A person who sends a second
            report spends `guarantee` again.

        Raises
        ------
        ValueError
            For what is no list of items.
        """
        rng, codes = require_source(rng), self._codes(own)
        beyond = codes[np.asarray(rng.permutation(len(codes)), np.int64)][: self.per_person]
        return Report(self.sent(self.filled(beyond)[None], rng)[0].tolist(), source_of(rng, self))

    def filled(self, own: ArrayLike) -> NDArray[np.int64]:
        """A person's codes, at most `per_person`, and as many blanks as are missing; shape (per_person,).

        Examples
        --------
        >>> LocalTopK(1, 3, 1, 1, 1, n_items=5).filled([4, 0]).tolist()
        [4, 0, 7]
        """
        codes = np.asarray(own, np.int64)
        return np.r_[codes, self._m + np.arange(len(codes), self.per_person)]

    def sent(self, own: NDArray[np.int64], rng: Source) -> NDArray[np.int64]:
        """What many people send in a simulation, shape (people, length), ascending; O(people * length).

        Parameters
        ----------
        own : ndarray of int, shape (people, per_person)
            Different codes, items and blanks.
        rng : numpy.random.Generator or dprank.SECURE

        Examples
        --------
        >>> sure = LocalTopK(1, 1, 1, 1, GRAIN - 1, n_items=3)  # one code, as good as true
        >>> sure.sent(np.array([[2], [0]]), np.random.default_rng(1)).tolist()
        [[2], [0]]
        """
        if isinstance(rng, SecureSource):
            return np.array([_exact_set(set(row), self) for row in own.tolist()], np.int64)
        cumulated = np.cumsum(self.overlap_law)
        overlap = np.searchsorted(cumulated[:-1], rng.random(len(own)), side="right")
        return np.sort(random_sets(own, overlap, self.n_codes, self.length, rng), axis=1)

    def aggregate(self, reports: Any, rng: Source) -> Selection:
        """The k items that the reports of all people give: needs no trust, and spends nothing more.

        Parameters
        ----------
        reports : sequence of list of int
            What everybody's `report` returns; at least one.
        rng : numpy.random.Generator or dprank.SECURE
            Breaks ties.

        Returns
        -------
        Selection
            Best first, with unbiased estimates of how many have each. Its source is "voters" where reports were sent
            here, without the mark that `report` gives them.

        Raises
        ------
        ValueError
            Naming the first report that nobody's `report` returns. One that it could return is counted, whoever made it
            up.
        """
        reports = list(reports) if isinstance(reports, Iterator) else reports
        table = require_lists(reports, self.length, self.n_codes)
        held = np.bincount(table.ravel(), minlength=self._m)[: self._m]
        return self._selection(held, len(table), source_of_reports(reports, source_of(rng, self)), rng)

    def estimates(self, held: NDArray[np.int64], persons: int) -> NDArray[np.float64]:
        """Unbiased estimates of how many have each item, from how many reports hold it, shape (items,)."""
        p, q = self.chances
        return np.asarray((held - persons * q) / (p - q))

    def release(self, data: Tallies, rng: Source) -> Selection:
        """The k items, as `report` and `aggregate` make them, of everybody who is in the data.

        Parameters
        ----------
        data : Tallies
            Of the declared items, or of items 0 .. n_items - 1. Of a person with more than `per_person` of them as many
            count, chosen as by `Tallies.counts`. Who has none (`Tallies.without`) reports on blanks, and is counted.
        rng : numpy.random.Generator or dprank.SECURE
            A seeded generator for research; `SECURE` to publish.

        Raises
        ------
        ValueError
            For what are no tallies of anybody, or of other items.

        Examples
        --------
        >>> tallies = Tallies(np.arange(900), np.arange(900) % 3 // 2, items=["flu", "gout"])
        >>> poll = LocalTopK.calibrated(epsilon=2.0, items=["flu", "gout"], k=1, per_person=1)
        >>> poll.release(tallies, np.random.default_rng(1)).items.tolist()
        ['flu']
        """
        own, rng = self.own(data), require_source(rng)
        held, rows = np.zeros(self.n_codes, np.int64), max(1, BLOCK // self.length)
        for start in range(0, len(own), rows):
            held += np.bincount(self.sent(own[start : start + rows], rng).ravel(), minlength=len(held))
        return self._selection(held[: self._m], len(own), source_of(rng, self), rng)

    def own(self, data: Tallies) -> NDArray[np.int64]:
        """Codes of everybody in the data, blanks among them, shape (people, per_person)."""
        if not isinstance(data, Tallies):
            raise no_data("data", data, "Tallies are needed", "Tallies") or WrongType(
                f"data are of type {type(data).__name__}; dprank.Tallies, who has which items, are needed"
            )
        names = tuple(range(self._m)) if self.items is None else tuple(self.items)
        if set(names) != set(data.items):
            raise ValueError("items are not those of the tallies; the same names are needed, in any order")
        place = {name: code for code, name in enumerate(names)}
        stays = kept_rows([data.person], [data.item], self.per_person)
        codes = np.array([place[name] for name in data.items], np.int64)[data.item[stays]]
        # rows are in the order of persons
        people, start, number = np.unique(data.person[stays], return_index=True, return_counts=True)
        everybody = np.union1d(people, data.without)
        if not len(everybody):
            raise ValueError("data hold nobody; at least one person is needed")
        table = np.tile(self._m + np.arange(self.per_person), (len(everybody), 1))
        row = np.repeat(np.searchsorted(everybody, people), number)
        table[row, np.arange(len(codes)) - np.repeat(start, number)] = codes
        return table

    def _selection(self, held: NDArray[np.int64], persons: int, source: Any, rng: Source) -> Selection:
        estimates = self.estimates(held, persons)
        codes = best_first(estimates, rng)[: self.k]
        names = codes
        if self.items is not None:
            names = np.empty(len(codes), object)
            names[:] = [tuple(self.items)[code] for code in codes]
        return Selection(names, estimates[codes], mechanism=self, source=source)

    @property
    def _m(self) -> int:
        assert self.n_items is not None
        return self.n_items

    def _codes(self, own: Iterable[Any]) -> NDArray[np.int64]:
        """Codes of the declared among a person's items, none twice, ascending."""
        if self.items is None:
            codes = as_array("own", own)
            codes = codes if codes.size else np.zeros(codes.shape, np.int64)
            if codes.ndim != 1 or codes.dtype.kind not in "iu":
                raise ValueError(f"own are of type {type(own).__name__}; a list of codes is needed")
            return np.unique(codes[(codes >= 0) & (codes < self._m)].astype(np.int64))
        needed = f"own are of type {type(own).__name__}; a list of items is needed"
        if isinstance(own, str | bytes) or not isinstance(own, Iterable):
            raise ValueError(needed)
        place = {name: code for code, name in enumerate(self.items)}
        try:
            return np.array(sorted({place[name] for name in own if name in place}), np.int64)
        except Exception:  # what is foreign may raise anything
            raise ValueError(needed) from None


def _shape(n_items: Any, items: Any, per_person: Any) -> tuple[int, tuple[Any, ...] | None, int]:
    """Numbers of items and of a person's; refuses what takes too long, and nothing to choose from."""
    m, names = require_items(n_items, items)
    if m is None:
        raise ValueError("n_items = None; the number of items, or their names, must be declared")
    own = require_whole("per_person", per_person, 1)
    if (m + own) * (own + 1) > MOST_CELLS:
        raise ValueError(f"per_person = {own} of n_items = {m}; (items + per_person) (per_person + 1) may be 10^6")
    return m, names, own


def _exact_set(own: set[int], design: LocalTopK) -> list[int]:
    """One person's set, from whole numbers alone."""
    overlap = design.overlap
    fits = randomise(np.ones(1, np.int8), GRAIN - design.kept, SECURE)[0] > 0
    left = secrets.randbelow(overlap.fitting if fits else overlap.all)
    hits = design.hits if fits else 0
    while left >= overlap.ways[hits]:
        left, hits = left - overlap.ways[hits], hits + 1
    draw = secrets.SystemRandom().sample
    others = [code for code in range(design.n_codes) if code not in own]
    return sorted(draw(sorted(own), hits) + draw(others, design.length - hits))
