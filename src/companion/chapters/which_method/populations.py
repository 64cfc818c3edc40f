"""Whom the arena asks: comparisons, ballots and tallies of made-up people, whose right answer is known.

Items are numbered from the best. Every draw is of people who answer independently.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dprank.models.draws import binomial
from dprank.models.mallows import Mallows
from dprank.plan.setting import room

__all__ = ["CAMP", "Answers", "Rows", "comparing", "gap_of", "ranking_people", "shares", "strengths", "tallied"]

Comparing = Literal["ladder", "two camps", "ties", "unequal"]
Ranking = Literal["Mallows", "two camps", "cut short"]
Tallied = Literal["ladder", "Zipf", "ties"]

#: Share of the larger of two camps; the other has the halves of its order exchanged.
CAMP = 0.6
#: Share of answers that are ties, where ties are heavy.
TIED = 0.5
#: How much more often half of the items, drawn anew, are asked for, where numbers of answers are unequal.
POPULAR = 4.0
#: Lead of an item over the next, where there are few; with many the whole ladder is so many leads long at most.
GAP, STEPS = 0.1, 40
#: Places that a ballot names, where ballots are cut short.
NAMED = 5


class Rows(NamedTuple):
    """What people say one by one, person by person: two items, and 1, -1 or 0; and how many answers each gives."""

    first: NDArray[np.int16]
    second: NDArray[np.int16]
    sign: NDArray[np.int8]
    given: NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """How often an item beat another, shape (items, items), and how often the two were said to be equal."""

    wins: NDArray[np.int64]
    ties: NDArray[np.int64]
    rows: Rows | None = None

    @property
    def played(self) -> NDArray[np.float64]:
        """How often two items were compared."""
        return np.asarray(self.wins + self.wins.T + self.ties, float)

    def scores(self, score: str) -> NDArray[np.float64]:
        """What `dprank.win_counts` makes of them."""
        won, lost, tied = self.wins.sum(1), self.wins.sum(0), self.ties.sum(1)
        return np.asarray({"net": won - lost, "wins": won, "half": won + tied / 2}[score], float)


def gap_of(items: int) -> float:
    """Lead of an item over the next: the share that prefers it less the share that does not."""
    return min(GAP, math.tanh(STEPS * math.atanh(GAP) / items))


def strengths(items: int) -> NDArray[np.float64]:
    """Bradley-Terry strengths at even steps, best first, with mean 0."""
    step = 2 * math.atanh(gap_of(items))
    return np.asarray(step * ((items - 1) / 2 - np.arange(items)))


def _camps(items: int) -> list[NDArray[np.int64]]:
    """Place of every item in the orders of the two camps."""
    place = np.arange(items)
    return [place, (place + items // 2) % items]


@cache
def _chances(data: Comparing, items: int) -> tuple[NDArray[np.float64], float]:
    """Chance that an item beats another, if they are not said to be equal, and the chance of that."""
    theta = strengths(items)
    chance = expit(theta[:, None] - theta)
    if data == "two camps":
        other = theta[_camps(items)[1]]
        chance = CAMP * chance + (1 - CAMP) * expit(other[:, None] - other)
    return chance, TIED if data == "ties" else 0.0


def comparing(data: Comparing, items: int, people: int, answers: int, rng: np.random.Generator) -> Answers:
    """What people say who each compare so many different pairs, drawn evenly.

    Of "unequal" numbers half of the people give one answer only, and half of the items are asked for more often.
    """
    chance, tied = _chances(data, items)
    weight = np.ones(items)
    if data == "unequal":
        weight[rng.permutation(items)[::2]] = POPULAR
    given = np.full(people, answers)
    if data == "unequal":
        given[: people // 2] = 1
    wins, ties = np.zeros((items, items), np.int64), np.zeros((items, items), np.int64)
    total = int(given.sum())
    rows = Rows(np.empty(total, np.int16), np.empty(total, np.int16), np.empty(total, np.int8), given)
    _answer(chance, tied, np.cumsum(weight) / weight.sum(), rng, wins, ties, *rows)
    return Answers(wins, ties + ties.T, rows)


@numba.njit(cache=True, error_model="numpy")
def _answer(chance, tied, reach, rng, wins, ties, one, other, sign, given):
    """O(answers of a person squared, in all), since a pair is drawn again where that person had it."""
    seen = np.empty(given.max() if len(given) else 0, np.int64)
    items, row = len(chance), 0
    for person in range(len(given)):
        for number in range(given[person]):
            again = True
            first = second = 0
            while again:
                first = min(np.searchsorted(reach, rng.random(), side="right"), items - 1)
                second = min(np.searchsorted(reach, rng.random(), side="right"), items - 1)
                pair = min(first, second) * items + max(first, second)
                again = first == second
                for before in range(number):
                    again = again or seen[before] == pair
                seen[number] = pair
            one[row], other[row], sign[row] = first, second, 0
            if rng.random() < tied:
                ties[first, second] += 1
            elif rng.random() < chance[first, second]:
                wins[first, second] += 1
                sign[row] = 1
            else:
                wins[second, first] += 1
                sign[row] = -1
            row += 1


def ranking_people(
    data: Ranking, items: int, people: int, rng: np.random.Generator, lead: float | None = None
) -> NDArray[Any]:
    """Place of every item on the ballot of everybody, shape (people, items); -1 for what a ballot does not name."""
    lead = gap_of(items) if lead is None else lead
    law = Mallows(items, -math.log((1 - lead) / (1 + lead)))
    if data != "two camps":
        places = law.sample(people, rng=rng)
        return np.where(places < NAMED, places, -1) if data == "cut short" else places
    camp = (rng.random(people) >= CAMP).astype(np.int64)
    return law.sample(people, rng=rng, centre=np.array(_camps(items))[camp])


@cache
def shares(data: Tallied, items: int, k: int, answers: int) -> NDArray[np.float64]:
    """Share of the people who have each item, most first; people have three quarters of so many items on average."""
    share, gap = room(k, (answers,), (), items)
    if data == "ladder":  # what a plan supposes
        return np.maximum(share + gap * (k - 1 - np.arange(items)), share - gap)
    place = np.arange(items) // 2 * 2 if data == "ties" else np.arange(items)
    law = 1 / (1.0 + place)
    return np.asarray(np.minimum(0.9, 0.75 * answers * law / law.sum()))


def tallied(
    data: Tallied, items: int, people: int, k: int, answers: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """How many people have each item."""
    return np.asarray(binomial(people, shares(data, items, k, answers), rng=rng), float)
