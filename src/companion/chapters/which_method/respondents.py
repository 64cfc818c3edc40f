"""Whom the arena asks that are real: people drawn, with replacement, from those who answered a survey.

What is right is what the whole survey says without noise: the order of net wins, strengths of most likelihood, shares.
The survey stands for a population: a heat of more people than it has asks more of the same kind. Items are numbered
from the best. `companion.instruments.surveys` says what the surveys are.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from companion.chapters.which_method.populations import Answers, Rows
from companion.instruments import surveys
from dprank.data.ballots import Ballots
from dprank.models.likelihood import mle_from_counts

__all__ = ["SURVEYS", "ballots", "comparing", "shares", "strengths", "tallied"]

Compared = Literal["CEMS", "parties", "names"]
#: What the arena calls them; those of "goals" name two of four, the others compare all pairs of six.
SURVEYS = ("CEMS", "parties", "names", "goals")

_READ = {"CEMS": surveys.cems, "parties": surveys.german_parties, "names": surveys.first_names}
#: Of the prior that keeps strengths finite, so weak that it moves none by more than a millionth.
_RIDGE = 1e-4


@cache
def _answers(data: Compared) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wins of items over items, and ties, of every person; shape (people, items, items)."""
    said = _READ[data]()
    m, person = said.n_items, np.searchsorted(said.voters, np.asarray(said.voter))
    wins, ties = np.zeros((2, len(said.voters), m, m))
    for first, second, won in ((said.first, said.second, 1.0), (said.second, said.first, 0.0)):
        np.add.at(wins, (person, first, second), said.outcome == won)
        np.add.at(ties, (person, first, second), said.outcome == 0.5)
    net = wins.sum((0, 2)) - wins.sum((0, 1))
    best = np.argsort(-net, kind="stable")
    return wins[:, best][:, :, best], ties[:, best][:, :, best]


def comparing(data: Compared, people: int, rng: np.random.Generator) -> Answers:
    """What so many of them say of all pairs."""
    wins, ties = _answers(data)
    often = rng.multinomial(people, np.full(len(wins), 1 / len(wins)))
    won, tied = (np.rint(np.tensordot(often, one, 1)).astype(np.int64) for one in (wins, ties))
    return Answers(won, tied, _rows(wins, ties, often))


def _rows(wins: NDArray[np.float64], ties: NDArray[np.float64], often: NDArray[np.int64]) -> Rows:
    """Answers of every person, as often as they are drawn; a pair that one of them answered twice is there twice."""
    cells, signs = [np.argwhere(table) for table in (wins, np.triu(ties))], (1, 0)
    each = [np.rint(table[tuple(at.T)]).astype(np.int64) for table, at in zip((wins, ties), cells, strict=True)]
    person, first, second = np.repeat(np.concatenate(cells), np.concatenate(each), axis=0).T
    sign = np.repeat(signs, [number.sum() for number in each])
    given, order = np.bincount(person, minlength=len(often)), np.argsort(person, kind="stable")
    start = np.cumsum(given) - given
    drawn = np.repeat(np.arange(len(often)), often)
    at = np.repeat(start[drawn] - np.cumsum(given[drawn]) + given[drawn], given[drawn]) + np.arange(given[drawn].sum())
    rows = order[at]
    return Rows(first[rows].astype(np.int16), second[rows].astype(np.int16), sign[rows].astype(np.int8), given[drawn])


@cache
def strengths(data: Compared) -> NDArray[np.float64]:
    """Log-strengths that explain all answers best, of mean 0."""
    wins, ties = (one.sum(0) for one in _answers(data))
    half = wins.sum(1) + ties.sum(1) / 2
    theta = mle_from_counts(wins + wins.T + ties, half[None], ridge=_RIDGE)[0][0]
    return np.asarray(theta - theta.mean())


@cache
def _places(data: str) -> NDArray[np.int64]:
    """Place of every item on every ballot, shape (people, items), without those who contradict themselves."""
    cast: Any = surveys.european_values() if data == "goals" else surveys.strict_rankings(_READ[data]())
    places = np.asarray(cast.places if data == "goals" else cast.positions, np.int64)
    return np.asarray(places[:, np.argsort(-Ballots(places, cast.items).net_wins(), kind="stable")])


def ballots(data: str, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Places on the ballots of so many of them, shape (people, items)."""
    places = _places(data)
    return np.asarray(places[rng.integers(len(places), size=people)])


@cache
def _named() -> NDArray[np.bool_]:
    """Who of the respondents names which goal, the most frequent first."""
    named = _places("goals") < 2
    return np.asarray(named[:, np.argsort(-named.sum(0), kind="stable")])


def shares() -> NDArray[np.float64]:
    """Share of the respondents who name each goal, most first."""
    return np.asarray(_named().mean(0))


def tallied(people: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How many of so many respondents name each goal."""
    return np.asarray(rng.multinomial(people, np.full(len(_named()), 1 / len(_named()))) @ _named(), float)
