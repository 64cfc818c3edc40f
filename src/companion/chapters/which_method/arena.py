"""One arena: every mechanism that answers a question, on the same people, at the same privacy.

People are made up (`populations`), or drawn from a survey (`respondents`). A heat is one kind of people of one size.
All mechanisms at all epsilons see the same data in it; each draws noise from a stream of its own, so that a newcomer
changes nobody's numbers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.chapters.which_method import populations as people_of
from companion.chapters.which_method import respondents
from companion.chapters.which_method.as_printed import printed
from companion.chapters.which_method.contenders import DELTA, Slips, Votes, chosen_of, contenders, order_of, rejects
from companion.chapters.which_method.estimates import estimate, estimators
from companion.instruments.sweep import sweep
from dprank.data.kendall import kendall_distance
from dprank.plan.ranking import FITTED
from dprank.plan.setting import Setting, room

__all__ = [
    "EPSILONS",
    "FIRST_LOSS",
    "Label",
    "contest",
    "data_of",
    "drawn_of",
    "entered",
    "heats",
    "lost_by",
    "repetitions_of",
    "run",
    "setting_of",
]

Heat = Mapping[str, Any]
Losses = dict[str, float]
#: Epsilon, delta, trust and name of a mechanism.
Label = tuple[float, float, str, str]

EPSILONS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
#: What each question is judged by.
FIRST_LOSS = {
    "ranking": "pairs",
    "strengths": "log-error",
    "consensus": "pairs",
    "winner": "winner",
    "topk": "missed",
    "agreement": "missed",
}
#: How many numbers all repetitions of a heat may draw, and between which numbers of repetitions.
DRAWN, LEAST, MOST = 10_000_000, 20, 250
_LABELS = ("epsilon", "delta", "trust", "method", "loss")

#: Items, people and answers (ranking, strengths); items and people (consensus, winner, agreement); all, and k (top k).
_SIZES: dict[str, list[dict[str, int]]] = {
    "ranking": [
        {"items": m, "people": n, "answers": a}
        for m, n, a in [
            (5, 50, 1), (5, 400, 3), (5, 10_000, 1), (20, 50, 10), (20, 400, 5), (20, 10_000, 5), (20, 1_000_000, 1),
            (100, 400, 20), (100, 10_000, 10), (100, 1_000_000, 5), (1000, 10_000, 20), (1000, 1_000_000, 5),
        ]
    ],
    "strengths": [
        {"items": m, "people": n, "answers": a}
        for m, n, a in [
            (5, 50, 1), (5, 400, 3), (5, 10_000, 1), (20, 50, 10), (20, 400, 5), (20, 10_000, 5), (20, 1_000_000, 1),
            (100, 400, 20), (100, 10_000, 10), (100, 1_000_000, 5),
        ]
    ],
    "consensus": [
        {"items": m, "people": n}
        for m, n in [
            (5, 50), (5, 400), (5, 10_000), (5, 100_000), (20, 50), (20, 400), (20, 10_000), (20, 100_000),
            (100, 400), (100, 10_000), (1000, 1000),
        ]
    ],
    "winner": [
        {"items": m, "people": n}
        for m, n in [(5, 50), (5, 400), (5, 10_000), (20, 50), (20, 400), (20, 10_000), (100, 400), (100, 10_000)]
    ],
    "topk": [
        {"items": m, "people": n, "answers": a, "k": k}
        for m, n, a, k in [
            (5, 50, 1, 1), (5, 400, 1, 1), (20, 400, 3, 3), (20, 10_000, 3, 3), (100, 400, 5, 5), (100, 10_000, 5, 5),
            (100, 10_000, 20, 10), (1000, 10_000, 5, 10), (1000, 1_000_000, 5, 10), (1000, 1_000_000, 50, 50),
        ]
    ],
    "agreement": [
        {"items": m, "people": n}
        for m, n in [(5, 50), (5, 400), (5, 10_000), (20, 50), (20, 400), (20, 10_000), (100, 50), (100, 400)]
    ],
}  # fmt: skip
_DATA = {
    "ranking": ("ladder", "two camps", "ties", "unequal"),
    "strengths": ("ladder", "unequal"),
    "consensus": ("Mallows", "two camps", "cut short"),
    "winner": ("Mallows", "two camps", "cut short"),
    "topk": ("ladder", "Zipf", "ties"),
    "agreement": ("Mallows", "two camps"),
}
#: Heats of people drawn from surveys, of as many as the survey has, and of more.
_REAL: list[dict[str, Any]] = [
    {"question": question, "data": data, **size, "people": people, **more}
    for question, more, size, sizes in (
        ("ranking", {"answers": 15}, {"items": 6}, {"CEMS": (303, 10_000), "parties": (192, 10_000), "names": (192,)}),
        ("strengths", {"answers": 15}, {"items": 6}, {"parties": (192, 10_000), "names": (192, 10_000)}),
        ("consensus", {}, {"items": 6}, {"parties": (160, 10_000), "names": (142,)}),
        ("consensus", {}, {"items": 4}, {"goals": (400, 3584)}),
        ("topk", {"answers": 2, "k": 2}, {"items": 4}, {"goals": (400, 3584)}),
        ("agreement", {}, {"items": 6}, {"parties": (160,), "names": (142,)}),
    )
    for data, numbers in sizes.items()
    for people in numbers
]
#: Kinds of ballots that do not rank all items.
_PARTIAL = ("cut short", "goals")


def heats() -> list[dict[str, Any]]:
    """All of the arena."""
    return [
        {"question": question, "data": data, **size}
        for question, sizes in _SIZES.items()
        for data, size in product(_DATA[question], sizes)
    ] + _REAL


def setting_of(heat: Heat, epsilon: float, trust: str = "curator") -> Setting:
    """What a plan is told of a heat: public numbers alone."""
    question, m, answers = heat["question"], heat["items"], heat.get("answers", 1)
    more: dict[str, Any] = {"gap": people_of.gap_of(m)}
    if question in ("ranking", "strengths"):
        more |= {"public_graph": True, "given": (1, answers) if heat["data"] == "unequal" else (answers,)}
    if heat["data"] == "cut short":
        more["named"] = min(m, people_of.NAMED)
    if question == "topk":
        share, gap = room(heat["k"], (answers,), (), m)
        more = {"share": share, "gap": gap, "k": heat["k"], "ordered": False}
    if question == "agreement":
        more["gap"] = faint(m, heat["people"])
    asked: Any = "ranking" if question == "strengths" else question  # no plan is asked for strengths
    return Setting(asked, m, heat["people"], epsilon, delta=DELTA, answers=(answers,), trust=trust, **more)


def faint(items: int, people: int) -> float:
    """Lead at which so many people are about as many as a test without noise needs."""
    return min(0.5, 2.5 / (people * (items - 1)) ** 0.5)


def _ordered(order: NDArray[np.int64]) -> Losses:
    """Losses of an order of items that are numbered from the best."""
    m, place = len(order), np.argsort(order)
    return {
        "pairs": kendall_distance(place, np.arange(m)) / (m * (m - 1) / 2),
        "places": float(np.abs(place - np.arange(m)).mean()),
        "winner": float(order[0] != 0),
    }


def _chosen(codes: NDArray[np.int64], shares: NDArray[np.float64]) -> Losses:
    """Losses of a top k: whoever has as large a share as the last of the right ones is right."""
    right = shares[codes] >= np.sort(shares)[-len(codes)] - 1e-12
    return {"missed": 1 - right.mean(), "set": float(not right.all())}


def _apart(theta: NDArray[np.float64], right: NDArray[np.float64]) -> Losses:
    """Losses of log-strengths, both of mean 0."""
    error = theta - right
    return {"log-error": float(np.sqrt((error**2).mean())), "largest": float(np.abs(error).max())}


def data_of(heat: Heat, rng: np.random.Generator) -> Any:
    """What the people of a heat say."""
    question, data, m, n = (heat[key] for key in ("question", "data", "items", "people"))
    real = data in respondents.SURVEYS
    if question in ("ranking", "strengths"):
        if real:
            return respondents.comparing(data, n, rng)
        return people_of.comparing(data, m, n, heat["answers"], rng)
    if question == "topk":
        return respondents.tallied(n, rng) if real else people_of.tallied(data, m, n, heat["k"], heat["answers"], rng)
    names = [str(item) for item in range(m)]
    lead = faint(m, n) if question == "agreement" else None
    places = respondents.ballots(data, n, rng) if real else people_of.ranking_people(data, m, n, rng, lead)
    return Slips(places, names) if data in _PARTIAL else Votes(places, names)


def lost_by(heat: Heat, mechanism: Any, data: Any, rng: np.random.Generator) -> Losses:
    """All losses of one answer of a mechanism."""
    question, kind, m = heat["question"], heat["data"], heat["items"]
    real = kind in respondents.SURVEYS
    if question == "topk":
        shares = respondents.shares() if real else people_of.shares(kind, m, heat["k"], heat["answers"])
        return _chosen(chosen_of(mechanism, data, heat["people"], rng), shares)
    if question == "winner":
        return {"winner": float(mechanism.release(data, rng).items[0] != "0")}
    if question == "agreement":
        return {"missed": float(not rejects(mechanism, data, rng))}
    if question == "strengths":
        return _apart(estimate(mechanism, data, rng), respondents.strengths(kind) if real else people_of.strengths(m))
    return _ordered(order_of(mechanism, data, rng))


def entered(heat: Heat, epsilon: float) -> Iterator[tuple[Label, Any]]:
    """Labels and mechanism of all who answer a heat at an epsilon, ours and as printed."""
    setting, strengths = setting_of(heat, epsilon), heat["question"] == "strengths"
    form = "partial" if heat["question"] == "consensus" and heat["data"] in _PARTIAL else "full"
    ours = estimators(setting) if strengths else contenders(setting, form)
    theirs = {} if form == "partial" else printed(setting, strengths)
    for (name, delta, trust), made in (ours | theirs).items():
        if name.startswith("PerturbedMLE") and heat["items"] > FITTED:
            continue
        yield (epsilon, delta, trust, name), made


def contest(
    *, repetitions: int, rng: np.random.Generator, only: Collection[Label] | None = None, **heat: Any
) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    """Losses of all mechanisms, or of some, at all epsilons in so many repetitions of a heat, by `_LABELS`."""
    some = set(EPSILONS) if only is None else {epsilon for epsilon, *_ in only}
    asked = [epsilon for epsilon in EPSILONS if epsilon in some]
    everybody = [it for epsilon in asked for it in entered(heat, epsilon) if only is None or it[0] in only]
    root = int(rng.integers(2**63))
    streams = [np.random.default_rng([root, zlib.crc32(json.dumps(label).encode())]) for label, _ in everybody]
    found: dict[tuple[Any, ...], NDArray[np.float64]] = {}
    for repetition in range(repetitions):
        data = data_of(heat, rng)
        for (label, mechanism), stream in zip(everybody, streams, strict=True):
            for loss, value in lost_by(heat, mechanism, data, stream).items():
                found.setdefault((*label, loss), np.empty(repetitions))[repetition] = value
    return found


def drawn_of(heat: Heat) -> int:
    """How many numbers one repetition of a heat draws."""
    each = heat["answers"] if heat["question"] in ("ranking", "strengths") else heat["items"]
    return int(heat["items"] if heat["question"] == "topk" else heat["people"] * each)


def repetitions_of(heat: Heat) -> int:
    """How often a heat is repeated: fewer where it is large."""
    return int(np.clip(DRAWN // drawn_of(heat), LEAST, MOST))


def run(which: Iterable[Heat], only: Collection[Label] | None = None) -> pd.DataFrame:
    """A row a heat, mechanism, epsilon and loss: ``mean``, ``se``, ``repetitions``."""
    function = partial(contest, only=only)
    shared: dict[str, Any] = {"experiment": "arena", "outcomes": _LABELS}
    return pd.concat(
        [sweep(function, [heat], repetitions=repetitions_of(heat), **shared) for heat in which], ignore_index=True
    )
