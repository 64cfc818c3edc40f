"""What a plan is asked: public numbers alone; and what every choice must be able to say of itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, get_args

from dprank._require import (
    require_below_1,
    require_bool,
    require_one_of,
    require_probability,
    require_real,
    require_whole,
    settle,
    shown,
)
from dprank.data.ballots import HEAVIEST
from dprank.plan.laws import Noise
from dprank.privacy.guarantee import Adjacency
from dprank.questions import QUESTIONS, Question, QuestionName

__all__ = ["CAMP", "Candidate", "Drawn", "Measured", "Setting", "fewest", "louder", "room"]

#: Most items of what is planned: of a top k, and of orders.
MOST_TALLIED, MOST_ORDERED = 10**8, 1000
#: Share of the larger of two camps, where nobody said that there are any: it decides between choices that are as good
#: for those who are supposed.
CAMP = 0.6
#: Most persons.
MOST_PERSONS = 10**12


@dataclass(frozen=True)
class Setting:
    """Numbers that everybody may know, and the ladder of items that a plan supposes.

    Parameters
    ----------
    question : {"ranking", "consensus", "winner", "topk", "agreement"}
    n_items, persons : int
    epsilon, delta, adjacency
        As of every mechanism.
    answers : tuple of int
        Bounds on what counts of one person: answers (ranking), or items (topk).
    given : tuple of int
        How many of them people are supposed to give, as many people each; by default all the largest of `answers`.
    k : int
        Of the top k.
    gap : float
        Lead of an item over the next: the share that puts it first less the share that does not.
    accuracy : float, optional
        Wanted chance to be right.
    protect : {"person", "answer"}
    trust : {"curator", "nobody"}
    public_graph : bool
        Whether everybody may know who compared what.
    design : {"once", "matching"}
        Whether people compare different pairs, or are never asked about an item twice.
    camps : float, optional
        Of consensus and winner: share of the people who have the right order in mind, where the others have it with its
        halves exchanged; above 1/2. Unless said, one order is supposed, and of choices that are as good the one is
        taken that camps harm least.
    balanced : bool, optional
        Of a ranking: whether all pairs are asked equally often; or half of the items about four times as often as the
        others. Unless said, equally often is supposed, and of choices that are as good the one is taken that the other
        harms least.
    named : int, optional
        Of consensus and winner: how many places a ballot names, at most; such ballots have gaps and may have ties.
        Unless said, all ballots rank all items.
    unranked : {"apart", "last"}, optional
        Of ballots that do not name all items: whether an item without a place is compared with no other, which is
        supposed unless said, or tied with all of its kind behind those that have one.
    max_weight : int
        Most that a ballot counts, where ballots have weights; each is supposed to count 1.
    ordered, values : bool
        Whether a top k comes in its order, and with its counts.
    share : float
        Of the people who have the item that is the last of the top k; all k together no more than what people give.
    size : float
        Of a test.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> Setting("consensus", 5, 100, 1.0).phi
    0.8181818181818181
    """

    question: QuestionName
    n_items: int
    persons: int
    epsilon: float
    _: KW_ONLY
    delta: float = 0.0
    adjacency: Adjacency = "replace"
    answers: tuple[int, ...] = (1,)
    given: tuple[int, ...] = ()
    k: int = 1
    gap: float = 0.1
    accuracy: float | None = None
    protect: str = "person"
    trust: str = "curator"
    public_graph: bool = False
    design: str = "once"
    camps: float | None = None
    balanced: bool | None = None
    named: int | None = None
    unranked: Literal["apart", "last"] | None = None
    max_weight: int = 1
    ordered: bool = True
    values: bool = False
    share: float = 0.5
    size: float = 0.05

    def __post_init__(self) -> None:
        require_one_of("question", self.question, tuple(QUESTIONS))
        asks = self.asks
        tallied = asks.data == "tallies"
        n_items = require_whole("items", self.n_items, 2, MOST_TALLIED if tallied else MOST_ORDERED)
        most = n_items if tallied else math.comb(n_items, 2)
        pairs = (
            "" if tallied else f": each of {most} pairs counts once a person; design='any' of NoisyCounts takes more"
        )
        answers = _whole("answers", self.answers, most, more=pairs)
        settle(
            self,
            n_items=n_items,
            persons=require_whole("persons", self.persons, 2, MOST_PERSONS),
            epsilon=require_real("epsilon", self.epsilon, "1e-100 to 1e100 is planned", lambda x: 1e-100 <= x <= 1e100),
            delta=require_below_1("delta", self.delta),
            adjacency=require_one_of("adjacency", self.adjacency, get_args(Adjacency)),
            answers=answers,
            given=_whole(
                "given",
                answers[-1:] if type(self.given) is tuple and not self.given else self.given,
                most,
                ordered=False,
                more=pairs,
            ),
            k=require_whole("k", self.k, 1, n_items - 1),
            gap=_lead(self.gap),
            accuracy=None
            if self.accuracy is None
            else require_real(
                "accuracy", self.accuracy, "a chance above 1/2 and below 1 is needed", lambda x: 0.5 < x < 1
            ),
            protect=require_one_of("protect", self.protect, ("person", "answer")),
            trust=require_one_of("trust", self.trust, ("curator", "nobody")),
            public_graph=require_bool("public_graph", self.public_graph),
            design=require_one_of("design", self.design, ("once", "matching")),
            camps=None
            if self.camps is None
            else require_real("camps", self.camps, "a share above 1/2 and at most 1 is needed", lambda x: 0.5 < x <= 1),
            balanced=None if self.balanced is None else require_bool("balanced", self.balanced),
            named=None if self.named is None else require_whole("named", self.named, 2, n_items),
            unranked=None if self.unranked is None else require_one_of("unranked", self.unranked, ("apart", "last")),
            max_weight=require_whole("max_weight", self.max_weight, 1, HEAVIEST),
            ordered=require_bool("ordered", self.ordered),
            values=require_bool("values", self.values),
            share=_share(self.share),
            size=require_probability("size", self.size, 1e-6, 0.5),
        )
        if self.protect not in asks.units:
            raise ValueError(f"protect = 'answer', question = {self.question!r}; an answer alone is one of a ranking")
        of_ballots = (self.camps, self.named, self.unranked, self.max_weight)
        if not asks.orders_ballots and of_ballots != (None, None, None, 1):
            raise ValueError(
                f"camps, named, unranked and max_weight are of ballots that are put in order; question = "
                f"{self.question!r}"
            )
        if self.unranked is not None and self.named is None:
            raise ValueError(
                f"unranked = {self.unranked!r}, named = None; say how many places a ballot names: what is lost hangs "
                "on it"
            )
        if self.balanced is not None and asks.data != "comparisons":
            raise ValueError(f"balanced is of pairs of a ranking; question = {self.question!r}")
        if self.design == "matching" and (asks.data != "comparisons" or max(self.given) > n_items // 2):
            raise ValueError(
                f"design = 'matching', question = {self.question!r}, given = {max(self.given)}; of a ranking of "
                f"{n_items} items at most {n_items // 2} answers have no item twice"
            )
        if tallied and not self.gap < self.share:
            raise ValueError(f"gap = {self.gap}, share = {self.share}; the next item has share less gap: above 0")
        if tallied and self.share + (self.k - 1) * self.gap >= 1:
            most_gap = (1 - self.share) / max(self.k - 1, 1)
            raise ValueError(
                f"gap = {self.gap}, k = {self.k}; the first item would be with all: less than {most_gap:g}"
            )
        had, each = self.k * self.share + math.comb(self.k, 2) * self.gap, sum(self.given) / len(self.given)
        if tallied and had > each:
            raise ValueError(
                f"share = {self.share:g}, gap = {self.gap:g}, k = {self.k}; people would have {had:.3g} of these items "
                f"on average, and give {each:.3g}: a smaller share or gap is needed"
            )

    @property
    def asks(self) -> Question:
        """What is asked, with all that is known of it."""
        return QUESTIONS[self.question]

    @property
    def partial(self) -> bool:
        """Whether ballots are declared that need not be full, or have weights."""
        return self.named is not None or self.max_weight > 1

    @property
    def phi(self) -> float:
        """Spread of the Mallows law whose neighbours lead by `gap`."""
        return (1 - self.gap) / (1 + self.gap)


def _share(given: Any) -> float:
    # all of a ladder must be had by somebody, and nobody may have more than all
    return require_real("share", given, "a share in (0, 1) is needed", lambda x: 0 < x < 1)


def _lead(given: Any) -> float:
    return require_real("gap", given, "a lead from 1e-12 to below 1 is needed", lambda x: 1e-12 <= x < 1)


def _whole(name: str, given: Any, most: int, *, ordered: bool = True, more: str = "") -> tuple[int, ...]:
    if type(given) not in (tuple, list) or not 1 <= len(given) <= 20:
        raise ValueError(f"{name} = {shown(given)}; a list of 1 .. 20 whole numbers is needed")
    if beyond := [it for it in given if type(it) is int and it > most]:
        raise ValueError(f"{name} = {shown(beyond[0])}; an integer from 1 to {most} is needed{more}")
    numbers = [require_whole(name, number, 1, most) for number in given]
    return tuple(sorted(set(numbers))) if ordered else tuple(numbers)


def room(k: int, answers: Any, given: Any, most: int) -> tuple[float, float]:
    """Share and gap of a top k that people can have who give so many items: a quarter of these are others.

    Examples
    --------
    >>> room(1, (1,), (), 9), room(10, (3,), (), 1000)
    ((0.5, 0.1), (0.15, 0.015))
    """
    unsaid = type(given) is tuple and not given
    numbers = _whole("answers", answers, most)[-1:] if unsaid else _whole("given", given, most, ordered=False)
    share = min(0.5, sum(numbers) / len(numbers) / (2 * k))
    return share, min(0.1, 0.4 / k, share / k)


def fewest(k: int, share: Any, gap: Any) -> int:
    """How many items everybody has, at least, if the top k have such shares.

    Examples
    --------
    >>> fewest(3, 1 / 6, 1 / 18), fewest(3, 0.4, 0.05)
    (1, 2)
    """
    share, gap = _share(share), _lead(gap)
    return min(k, math.ceil(k * share + math.comb(k, 2) * gap - 1e-9))


class Drawn(NamedTuple):
    """What noise a choice draws: its law and scale, and the scale of released values."""

    noise: Noise
    scale: float
    value_scale: float | None = None


def louder(drawn: Drawn, ratio: float) -> Drawn:
    """So many times the noise.

    Examples
    --------
    >>> louder(Drawn("laplace", 2.0), 3.0).scale
    6.0
    """
    shown = drawn.value_scale
    return Drawn(drawn.noise, drawn.scale * ratio, None if shown is None else shown * ratio)


#: Of sampling alone.
NONE = Drawn("none", 0.0)


class Measured(NamedTuple):
    """What a choice does to the question."""

    error: float
    sampling: float
    bounded: float
    apart: float | None = None
    apart_share: float | None = None
    pair_right: float | None = None
    order_right: float | None = None
    top_right: float | None = None
    band: tuple[float, float] | None = None
    span: float | None = None


@lru_cache(maxsize=256)
def _calibrated(mechanism: str, epsilon: float, parameters: tuple[tuple[str, Any], ...]) -> Any:
    """A mechanism, which other people are asked about again."""
    from dprank.plan.tags import mechanism_class

    return mechanism_class(mechanism).calibrated(epsilon=epsilon, **dict(parameters))


@dataclass(frozen=True)
class Candidate(ABC):
    """A mechanism with its parameters, before an epsilon is chosen.

    Parameters
    ----------
    setting : Setting
    mechanism : str
        Name of the class.
    parameters : dict
        Of `calibrated`, but for epsilon.
    asked : dict
        The same as keys of `dprank release`.

    Examples
    --------
    >>> from dprank.plan.ranking import candidates
    >>> one = candidates(Setting("ranking", 5, 100, 1.0))[0]
    >>> one.mechanism, one.drawn(1.0)
    ('NoisyCounts', Drawn(noise='laplace', scale=4.0, value_scale=None))
    """

    #: Whether releases of it are simulated, which takes longer.
    simulated: ClassVar[bool] = False

    setting: Setting
    mechanism: str
    parameters: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)

    def made(self, epsilon: float) -> Any:
        """The mechanism itself."""
        return self.base if epsilon == self.setting.epsilon else self._made(epsilon)

    def _made(self, epsilon: float) -> Any:
        return _calibrated(self.mechanism, epsilon, tuple(self.parameters.items()))

    @cached_property
    def base(self) -> Any:
        """The mechanism at the epsilon that may be spent."""
        return self._made(self.setting.epsilon)

    @abstractmethod
    def drawn(self, epsilon: float) -> Drawn:
        """The noise that pays for an epsilon."""

    def epsilon_of(self, ratio: float) -> float:
        """What so many times the noise costs.

        Raises
        ------
        ValueError
            Where it is too little for any promise.
        """
        return float(replace(self.base, scale=self.base.scale * ratio).guarantee.epsilon)

    @abstractmethod
    def accuracy(self, drawn: Drawn, persons: int) -> float:
        """The chance that `--accuracy` asks for, with so much noise and so many persons."""

    @abstractmethod
    def measured(self, drawn: Drawn) -> Measured:
        """All that a plan says."""

    def error(self, drawn: Drawn) -> float:
        """The error that `measured` says, where the rest is not wanted."""
        return self.measured(drawn).error

    def elsewhere(self, drawn: Drawn) -> float | None:
        """The error where people are not as supposed, but as `Question.elsewhere` says; None if nobody does"""
        return None
