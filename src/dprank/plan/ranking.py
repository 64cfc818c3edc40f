"""Choices for a ranking from comparisons: a ladder of Bradley-Terry strengths, whose neighbours lead by a gap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from dprank.data.counting import GRAIN
from dprank.plan.dependent import Dependent, dependent_right
from dprank.plan.laws import pair_right, pairs_of, simulated, told_apart
from dprank.plan.setting import NONE, Candidate, Drawn, Measured, Setting
from dprank.plan.unequal import counted_right, counted_wrong, fitted_right, fitted_wrong
from dprank.privacy.cube import cube_law

__all__ = ["Asking", "Counting", "Likelihood", "candidates", "left_out"]

Array = NDArray[np.float64]
#: Answers of so many that luck is nothing.
_EVERYBODY = 1e15
#: Items up to which likelihoods are fitted: each step solves a system of so many equations.
FITTED = 200


class _Ladder(NamedTuple):
    """Mean lead of every item over the others, mean square of it, and the lead by distance on the ladder."""

    mean: Array
    square: Array
    by_lag: Array


@lru_cache(maxsize=8)
def ladder(n_items: int, gap: float) -> _Ladder:
    """Leads on the ladder: of neighbours `gap`, of items l places apart tanh(l artanh(gap)).

    Examples
    --------
    >>> ladder(3, 0.5).by_lag.round(9).tolist(), ladder(3, 0.5).mean.round(9).tolist()
    ([0.0, 0.5, 0.8], [0.65, 0.0, -0.65])
    """
    lags = np.arange(n_items)
    lead = np.tanh(lags * math.atanh(gap))
    sums, squares = np.cumsum(lead), np.cumsum(lead**2)
    behind, ahead = n_items - 1 - lags, lags
    others = n_items - 1
    return _Ladder((sums[behind] - sums[ahead]) / others, (squares[behind] + squares[ahead]) / others, lead)


def moments(n_items: int, gap: float, score: str, answers: int, matching: bool = False) -> tuple[Array, Array]:
    """Mean and variance of the difference of two scores that one person adds, of the pairs of `pairs_of`, better first.

    A person answers so many different pairs, drawn evenly, each by a coin of its own; with `matching`, which is of net
    wins, no item is in two of them.

    Notes
    -----
    Drawn without replacement, the means of the pairs count with the finite-population correction. A likelihood
    ("fitted", in net wins) takes account of who was compared with whom, so that only the coins are left: exactly so
    where all pairs are compared as often, since its order is then that of the wins.

    Examples
    --------
    Of two items a person who prefers the first with probability 3/4 moves the difference of net wins by 2 or -2.

    >>> mean, variance = moments(2, 0.5, "net", 1)
    >>> mean.round(9).tolist(), variance.round(9).tolist()
    ([1.0], [3.0])
    """
    i, j, _ = pairs_of(n_items)
    pairs, others = math.comb(n_items, 2), n_items - 1
    found = ladder(n_items, gap)
    lead, a, q = found.by_lag[j - i], found.mean, others * found.square
    mean = others * (a[i] - a[j]) / pairs
    if matching:
        table = np.sign(np.arange(n_items) - np.arange(n_items)[:, None]) * found.by_lag[_lags(n_items)]
        apart = (others * a[i] - lead) * (others * a[j] + lead) - np.einsum("pu,pu->p", table[i], table[j])
        # of two pairs without a common item, both are asked so often
        both = math.comb(answers, 2) / (3 * math.comb(n_items, 4)) if answers > 1 else 0.0
        square = 4 * answers / n_items + 2 * answers / pairs - 2 * both * apart
        return answers * mean, square - (answers * mean) ** 2
    if score in ("net", "fitted"):
        square = np.full(len(i), 2.0 * n_items / pairs)
        between = (q[i] + q[j] + 2 * lead**2) / pairs
    else:  # a half of a win has nothing to count where there are no ties
        mean = mean / 2
        square = others * (1 + (a[i] + a[j]) / 2) / pairs
        each = (2 * others + 2 * others * (a[i] + a[j]) + q[i] + q[j]) / 4
        between = (each - (1 + lead**2) / 2 + lead**2) / pairs
    within = square - between
    if score == "fitted":
        return answers * mean, answers * within
    left = 1 - (answers - 1) / (pairs - 1) if pairs > 1 else 1.0
    return answers * mean, answers * (within + left * (between - mean**2))


def _lags(n_items: int) -> NDArray[np.int64]:
    item = np.arange(n_items)
    return np.abs(item - item[:, None])


def item_variance(n_items: int, gap: float, score: str, answers: int) -> Array:
    """Of every item, what one person adds to the variance of its score, as if the scores were independent.

    Two neighbours then differ as widely as they do, but for the square of their mean difference, which is little where
    there are many items.

    Examples
    --------
    >>> variance = moments(30, 0.1, "net", 1)[1][middle(30)]
    >>> round(float(2 * item_variance(30, 0.1, "net", 1)[14] / variance), 3)
    1.0
    """
    pairs, others = math.comb(n_items, 2), n_items - 1
    found = ladder(n_items, gap)
    a, q = found.mean, others * found.square
    if score in ("net", "fitted"):
        square, between = np.full(n_items, n_items / pairs), q / pairs
    else:
        square = others * (1 + a) / 2 / pairs
        between = (others + 2 * others * a + q - 1) / 4 / pairs
    left = 1 - (answers - 1) / (pairs - 1) if pairs > 1 and score != "fitted" else float(score != "fitted")
    return np.asarray(answers * (square - (1 - left) * between))


def middle(n_items: int) -> int:
    """Where two neighbours in the middle of the ladder stand in `pairs_of`.

    Examples
    --------
    >>> pairs_of(5).better[middle(5)], pairs_of(5).worse[middle(5)]
    (np.int64(1), np.int64(2))
    """
    i, j, _ = pairs_of(n_items)
    next_to = np.flatnonzero(j - i == 1)
    return int(next_to[np.argmin(np.abs(i[next_to] - (n_items / 2 - 1)))])


@dataclass(frozen=True)
class Counting(Candidate):
    """Noisy counts of wins.

    Examples
    --------
    >>> one = candidates(Setting("ranking", 5, 400, 1.0))[0]
    >>> round(one.measured(one.drawn(1.0)).pair_right, 2)
    0.82
    """

    @property
    def score(self) -> str:
        """What is counted."""
        return str(self.parameters["score"])

    @property
    def matching(self) -> bool:
        """Whether nobody is asked about an item twice."""
        return self.setting.design == "matching" and self.score == "net"

    @property
    def appearances(self) -> float:
        """How often an item is compared."""
        return 2 * self.setting.persons * float(np.mean(self.counted)) / self.setting.n_items

    def drawn(self, epsilon: float) -> Drawn:
        made = self.made(epsilon)
        return Drawn(made.noise, made.scale)

    def _made(self, epsilon: float) -> Any:
        made = super()._made(epsilon)
        if getattr(made, "noise", None) == "cube":  # refuses a cube that is too wide to be drawn
            cube_law(made.scale / GRAIN[self.score], made.n_items)
        return made

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """How many answers of a person count, of each of the groups of people."""
        return tuple(min(given, self.asked.get("answers", given)) for given in self.setting.given)

    def spread(self, answers: tuple[int, ...]) -> tuple[Array, Array]:
        """Mean and variance that a person adds to the differences of pairs, if as many people give each number."""
        each = [moments(self.setting.n_items, self.setting.gap, self.score, it, self.matching) for it in answers]
        mean, variance = (np.mean(part, axis=0) for part in zip(*each, strict=True))
        return mean, variance

    def error(self, drawn: Drawn) -> float:
        return self.wrong(drawn, self.setting.persons, self.counted)

    def wrong(self, drawn: Drawn, persons: int, answers: tuple[int, ...]) -> float:
        return float((1 - self.right(drawn, persons, answers)) @ pairs_of(self.setting.n_items).weight)

    def right(self, drawn: Drawn, persons: int, answers: tuple[int, ...]) -> Array:
        """Chances of the pairs of `pairs_of`."""
        if self.setting.balanced is False:
            return self._unequal(self._total(drawn, persons), persons * float(np.mean(answers)))
        mean, variance = self.spread(answers)
        return self._chance(self._total(drawn, persons), persons * mean, persons * variance)

    def _unequal(self, drawn: Drawn, answers: float) -> Array:
        """The same where some items are asked about more often than others."""
        m, gap = self.setting.n_items, self.setting.gap
        return counted_right(m, gap, self.score, answers, partial(self._chance, drawn))

    def _total(self, drawn: Drawn, persons: int) -> Drawn:
        """Noise on the scores of so many people."""
        return drawn

    def _chance(self, drawn: Drawn, apart: Array, wide: Array) -> Array:
        """Chances of pairs, by mean and variance of their differences."""
        if drawn.noise == "conditioned" or drawn.noise == "cube":
            return dependent_right(drawn.noise, self.setting.n_items, drawn.scale, apart, wide)
        return pair_right(apart, wide, drawn.noise, drawn.scale)

    def accuracy(self, drawn: Drawn, persons: int) -> float:
        at = middle(self.setting.n_items)
        if self.setting.balanced is False:
            return float(self.right(drawn, persons, self.counted)[at])
        mean, variance = (one[at] for one in self.spread(self.counted))
        return float(self._chance(self._total(drawn, persons), persons * mean, persons * variance))

    def elsewhere(self, drawn: Drawn) -> float | None:
        if self.setting.balanced is False:
            return self.lasting()
        if self.setting.design == "matching" or self.setting.balanced:
            return None
        m, gap, persons = self.setting.n_items, self.setting.gap, self.setting.persons
        return counted_wrong(m, gap, self.score, persons * float(np.mean(self.counted)), partial(self._chance, drawn))

    def lasting(self) -> float:
        """What stays wrong of unbalanced pairs without noise, however many people there are."""
        right = counted_right(self.setting.n_items, self.setting.gap, self.score, _EVERYBODY, pair_right)
        return float((1 - right) @ pairs_of(self.setting.n_items).weight)

    def measured(self, drawn: Drawn) -> Measured:
        setting = self.setting
        means, deviation = self._scores()
        total = self._total(drawn, setting.persons)
        apart, share = self._apart(total)
        order_right = top_right = band = None
        if setting.balanced is False:
            share = None  # an item has no number of answers that all have
        else:
            order_right, top_right, band = simulated(means, deviation, total.noise, total.scale, setting.k)
        return Measured(
            self.wrong(drawn, setting.persons, self.counted),
            self.wrong(NONE, setting.persons, setting.given),
            self.wrong(NONE, setting.persons, self.counted),
            apart,
            share,
            self.accuracy(drawn, setting.persons),
            order_right,
            top_right,
            band,
            None if share is None else float(np.ptp(means)),
        )

    def _scores(self) -> tuple[Array, Array | float]:
        setting, score = self.setting, self.score
        mean = (
            ladder(setting.n_items, setting.gap).mean
            * self.appearances
            * (0.5 if score in GRAIN and score != "net" else 1)
        )
        each = [item_variance(setting.n_items, setting.gap, score, number) for number in self.counted]
        return mean, np.asarray(np.sqrt(setting.persons * np.mean(each, axis=0)), float)

    def _apart(self, drawn: Drawn) -> tuple[float | None, float | None]:
        setting, score = self.setting, self.score
        apart = told_apart(drawn.noise, drawn.scale, setting.n_items, GRAIN[score])
        return apart, 0.5 + apart / self.appearances / (4 if score == "net" else 2)


@dataclass(frozen=True)
class Likelihood(Counting):
    """Strengths from noisy wins on a public graph: the order of the wins, but for who was compared with whom.

    Notes
    -----
    Of n comparisons a pair a share min(1, 1 / n) of what luck adds is supposed to stay: all of it where pairs are met
    less than once, none where all are met often, and in between a rule of thumb, which simulations find too high by up
    to a tenth.

    Examples
    --------
    >>> one = candidates(Setting("ranking", 5, 400, 1.0, public_graph=True))[-1]
    >>> one.mechanism, one.drawn(1.0).scale
    ('PerturbedMLE', 4.0)
    """

    @property
    def score(self) -> str:
        """Net wins, as a likelihood sees them."""
        return "fitted"

    @cached_property
    def left(self) -> float:
        """What stays of the luck of who was compared with whom."""
        pairs = math.comb(self.setting.n_items, 2)
        return min(1.0, pairs / (self.setting.persons * float(np.mean(self.counted))))

    def spread(self, answers: tuple[int, ...]) -> tuple[Array, Array]:
        mean, fitted = super().spread(answers)
        m, gap = self.setting.n_items, self.setting.gap
        counted = np.mean([moments(m, gap, "net", number)[1] for number in answers], axis=0)
        return mean, (1 - self.left) * fitted + self.left * counted

    def drawn(self, epsilon: float) -> Drawn:
        # a win more is two net wins more
        return Drawn("laplace", 2 * self.made(epsilon).scale)

    def _unequal(self, drawn: Drawn, answers: float) -> Array:
        return fitted_right(self.setting.n_items, self.setting.gap, answers, drawn.scale / math.sqrt(2))

    def lasting(self) -> float:
        """Nothing: a likelihood takes account of who was compared with whom."""
        return 0.0

    def elsewhere(self, drawn: Drawn) -> float | None:
        setting = self.setting
        if setting.balanced is False:
            return self.lasting()
        if setting.design == "matching" or setting.balanced:
            return None
        answers = setting.persons * float(np.mean(self.counted))
        return fitted_wrong(setting.n_items, setting.gap, answers, drawn.scale / math.sqrt(2))

    def _apart(self, drawn: Drawn) -> tuple[float | None, float | None]:
        return None, None  # strengths have no independent noise


@dataclass(frozen=True)
class Asking(Counting):
    """Net wins estimated from a report of everybody.

    Examples
    --------
    >>> one = candidates(Setting("ranking", 5, 400, 1.0, trust="nobody"))[0]
    >>> one.mechanism, round(one.measured(one.drawn(1.0)).pair_right, 2)
    ('LocalComparisons', 0.67)
    """

    @property
    def score(self) -> str:
        """Net wins."""
        return "net"

    def drawn(self, epsilon: float) -> Drawn:
        """What the report of one person adds to one score, of two that differ; over pairs and people the mean.

        Notes
        -----
        Of a pairs s are told, and all s answers with probability c. A sign counts a / (s c), so that the square of one
        answer's estimate is a / (s c^2) on average, and the product of two is their own times
        a (s - 1) / (s c (a - 1)): both are told that often.
        """
        made, each = self.made(epsilon), []
        for asked in self.counted:
            mean, variance = self.spread((asked,))
            told = min(made.length, asked)
            weight = float(made.weight(asked))
            square = 4.0 * asked / (self.setting.n_items - 1)
            both = weight * (told - 1) / (asked - 1) if asked > 1 else 0.0
            each.append((weight / made.shrinkage - both) * square + (both - 1) * (variance + mean**2))
        return Drawn("gaussian", math.sqrt(float(np.mean(each, axis=0) @ pairs_of(self.setting.n_items).weight) / 2))

    def _total(self, drawn: Drawn, persons: int) -> Drawn:
        return drawn._replace(scale=drawn.scale * math.sqrt(persons))

    def elsewhere(self, drawn: Drawn) -> float | None:
        return None  # nothing else is weighed

    def _apart(self, drawn: Drawn) -> tuple[float | None, float | None]:
        apart = told_apart(drawn.noise, drawn.scale, self.setting.n_items)
        return apart, 0.5 + apart / self.appearances / 4


def candidates(setting: Setting) -> list[Candidate]:
    """All that may be chosen.

    Examples
    --------
    >>> len(candidates(Setting("ranking", 5, 100, 1.0, answers=(1, 3))))
    16
    """
    whole = setting.protect == "person"
    found: list[Candidate] = []
    if setting.trust == "nobody":
        if not whole or setting.adjacency != "replace":
            return []
        name, sized = "LocalComparisons", {"n_items": setting.n_items}
        return [
            Asking(setting, name, sized | {"per_person": bound}, {"mechanism": name, "answers": bound})
            for bound in setting.answers
        ]
    for bound in setting.answers if whole else (None,):
        shared: dict[str, Any] = {
            "n_items": setting.n_items,
            "per_person": bound,
            "unit": "voter" if whole else "comparison",
        }
        most = {"answers": bound} if bound else {}
        for score, design, (noise, delta) in _counts(setting):
            chosen = {"score": score, "design": design, "adjacency": setting.adjacency}
            told = {"noise": noise} if noise in get_args(Dependent) else {}
            asked: dict[str, Any] = {"protect": setting.protect} | chosen | told | most
            asked |= {"delta": delta} if delta else {}
            made = shared | chosen | {"delta": delta, "noise": noise}
            found.append(Counting(setting, "NoisyCounts", made, asked))
        if setting.public_graph and setting.adjacency == "replace" and setting.n_items <= FITTED:
            graph: dict[str, Any] = {"ridge": 1.0, "graph": "public"}
            asked = {"protect": setting.protect, "mechanism": "PerturbedMLE", "public_graph": True} | most
            found.append(Likelihood(setting, "PerturbedMLE", shared | graph, asked))
    return found


def left_out(setting: Setting) -> dict[str, str]:
    """Why something is not weighed.

    Examples
    --------
    >>> left_out(Setting("ranking", 500, 100, 1.0, public_graph=True))
    {'PerturbedMLE': 'fitting 500 items takes long: up to 200'}
    """
    if setting.trust == "nobody":
        return {}
    if setting.public_graph and setting.n_items > FITTED:
        return {"PerturbedMLE": f"fitting {setting.n_items} items takes long: up to {FITTED}"}
    if setting.balanced is False and not setting.public_graph:
        return {
            "PerturbedMLE": "it is for such pairs; --public-graph, if everybody may know who compared what",
            "PrivateRankCentrality": "it is for such pairs; its noise is for research",
        }
    return {}


def _counts(setting: Setting) -> Iterator[tuple[str, str, tuple[str, float]]]:
    """Scores, designs and noises with their delta; of noises that depend on each other those that may pay."""
    whole = setting.protect == "person"
    designs = (("matching",) if setting.design == "matching" else ()) + (("once", "any") if whole else ("any",))
    apart = [("laplace", 0.0)] + ([("gaussian", setting.delta)] if setting.delta else [])
    together = [(noise, 0.0) for noise in get_args(Dependent)]
    for score, design in product(("net", "half", "wins"), designs):
        narrow = score == "net" and (design != "any" or not whole)
        yield from ((score, design, noise) for noise in apart + together * narrow)
