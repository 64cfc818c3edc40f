"""What a mechanism says of itself, its card; and what it can do beyond `guarantee` and `release`, as protocols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from dprank.questions import QUESTIONS, QuestionName

__all__ = [
    "AsksPersons",
    "Card",
    "Countable",
    "HasDrawing",
    "HasFloor",
    "HasGap",
    "HasNoiseLaw",
    "HasRanges",
    "HasValues",
    "Local",
    "Paired",
    "Publishes",
    "Shows",
    "Trust",
    "asks_persons",
    "value_scale_of",
]


Trust = Literal["curator", "nobody"]


@dataclass(frozen=True, kw_only=True)
class Card:
    """What a mechanism needs, and what its release has: on its class, as `card`.

    Parameters
    ----------
    question : {"ranking", "consensus", "winner", "topk", "agreement"}
        That it answers.
    how : str
        What it does, in a few words.
    trust : {"curator", "nobody"}
        Who may see what people answered.
    delta : bool
        Whether a delta above 0 buys anything.
    adjacency : bool
        Whether it can be told that people come and go; else one person's data are replaced.
    partial : bool
        Whether it takes ballots with ties and gaps.
    gives : tuple of str
        What a release has besides its order, set or decision.
    needs : str
        What else must be true, in words; empty where nothing is.

    Examples
    --------
    >>> import dprank
    >>> dprank.PrivateBorda.card.gives, dprank.PrivateBorda.card.data, dprank.LocalBorda.card.trust
    (('scores',), 'ballots', 'nobody')
    """

    question: QuestionName
    how: str
    trust: Trust = "curator"
    delta: bool = False
    adjacency: bool = False
    partial: bool = False
    gives: tuple[str, ...] = ()
    needs: str = ""

    @property
    def data(self) -> str:
        """What people give: comparisons, ballots or tallies."""
        return QUESTIONS[self.question].data

    @property
    def units(self) -> tuple[str, ...]:
        """What can be protected: a person; of comparisons also one answer."""
        return QUESTIONS[self.question].units

    @property
    def output(self) -> str:
        """What comes out, in words; `gives` is what comes with it."""
        return QUESTIONS[self.question].output


@runtime_checkable
class Local(Protocol):
    """Voters send reports of their own, and nobody is trusted with what they answered.

    Examples
    --------
    >>> import dprank
    >>> [isinstance(it.calibrated(epsilon=1.0, n_items=3), Local) for it in (dprank.LocalBorda, dprank.PrivateBorda)]
    [True, False]
    """

    @property
    def report(self) -> Any:
        """Makes what one voter sends; of which data, each class says."""
        ...


@runtime_checkable
class Countable(Protocol):
    """A release is of exact counts, which may be made elsewhere and be given in the place of data.

    Examples
    --------
    >>> import dprank
    >>> isinstance(dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=1), Countable)
    True
    """

    def counts(self, data: Any) -> Any:
        """The counts of data; counts as they are, if they fit."""
        ...


@runtime_checkable
class HasRanges(Protocol):
    """Places that the noise leaves open are known of a release alone, with no look at the data.

    Examples
    --------
    >>> import dprank
    >>> isinstance(dprank.PrivateKwikSort.calibrated(epsilon=1.0, n_items=3), HasRanges)
    False
    """

    def open_places(self, release: Any, level: float, sampling: Any, persons: int | None) -> Any:
        """Lowest and highest place of every item, as `dprank.Ranking.intervals` has them."""
        ...


@runtime_checkable
class AsksPersons(Protocol):
    """Ranges hang on how many people there are, a public number that the release does not hold."""

    asks_persons: ClassVar[bool]


@runtime_checkable
class HasDrawing(Protocol):
    """Ranges may have the drawing of those who took part in them."""

    def drawn_deviation(self, sampling: Any, persons: int | None) -> float:
        """Of a difference of two scores, at most; refuses what no such range is known of."""
        ...


@runtime_checkable
class Paired(Protocol):
    """Ranges suppose that all pairs are compared equally often, which not every number of people allows."""

    def answers_a_pair(self, persons: int) -> int:
        """How many there are of each; refuses numbers that allow none."""
        ...


@runtime_checkable
class HasGap(Protocol):
    """The gap is known from which on what is chosen is right.

    Examples
    --------
    >>> import dprank
    >>> isinstance(dprank.Oneshot.calibrated(epsilon=1.0, n_items=9, k=1), HasGap)
    True
    """

    def gap_needed(self, chance: float) -> float:
        """In the unit of the values, with this chance."""
        ...


@runtime_checkable
class HasNoiseLaw(Protocol):
    """The noise in every score has one law, which is known without the data."""

    @property
    def noise_law(self) -> Any:
        """That law."""
        ...


@runtime_checkable
class HasValues(Protocol):
    """The chosen may come with their values, under noise of their own."""

    @property
    def value_scale(self) -> float | None:
        """Of that noise; None where no values come."""
        ...


@runtime_checkable
class HasFloor(Protocol):
    """A test may have simulated null data, so that no p-value of it is below a floor."""

    @property
    def null_draws(self) -> int:
        """Of null data sets."""
        ...

    @property
    def least_p_value(self) -> float | None:
        """That floor; None where the null law is exact."""
        ...


@runtime_checkable
class Publishes(Protocol):
    """The class lists what of a release is published, and what it is a function of."""

    publishes: ClassVar[tuple[Any, ...]]


@runtime_checkable
class Shows(Protocol):
    """It is said what a release has besides its order, set or decision: of no other is all that may be left away."""

    @property
    def shows(self) -> tuple[str, ...]:
        """Names of fields of the release."""
        ...


def asks_persons(mechanism: Any) -> bool:
    """Whether its ranges hang on how many people there are.

    Examples
    --------
    >>> import dprank
    >>> asks_persons(dprank.LocalBorda.calibrated(epsilon=1.0, n_items=3)), asks_persons(None)
    (True, False)
    """
    return isinstance(mechanism, AsksPersons) and mechanism.asks_persons


def value_scale_of(mechanism: Any) -> float | None:
    """The scale of the noise on released values; None where there are none.

    Examples
    --------
    >>> import dprank
    >>> shared = {"epsilon": 1.0, "n_items": 9, "k": 1}
    >>> [value_scale_of(dprank.Oneshot.calibrated(values=it, **shared)) for it in (False, True)]
    [None, 2.0]
    """
    return mechanism.value_scale if isinstance(mechanism, HasValues) else None
