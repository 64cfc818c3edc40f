"""One arena: every mechanism that answers a question, on the same made-up people, at the same privacy.

A heat is one kind of data of one size. All mechanisms at all epsilons see the same people in it; each draws noise from
a stream of its own, so that a newcomer changes nobody's numbers.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.chapters.which_method import populations as people_of
from companion.chapters.which_method.contenders import DELTA, Slips, Votes, contenders, order_of, rejects
from companion.instruments.sweep import sweep
from dprank.data.kendall import kendall_distance
from dprank.plan.setting import Setting, room

__all__ = ["EPSILONS", "FIRST_LOSS", "Label", "contest", "entered", "heats", "run", "setting_of"]

Heat = Mapping[str, Any]
Losses = dict[str, float]
#: Epsilon, delta, trust and name of a mechanism.
Label = tuple[float, float, str, str]

EPSILONS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
#: What each question is judged by.
FIRST_LOSS = {"ranking": "pairs", "consensus": "pairs", "topk": "missed", "agreement": "missed"}
#: Items up to which likelihoods are fitted.
FITTED = 200
#: How many numbers all repetitions of a heat may draw, and between which numbers of repetitions.
DRAWN, LEAST, MOST = 10_000_000, 20, 250
_LABELS = ("epsilon", "delta", "trust", "method", "loss")

#: Items, people and answers (ranking); items and people (consensus, agreement); items, people, answers and k (top k).
_SIZES: dict[str, list[dict[str, int]]] = {
    "ranking": [
        {"items": m, "people": n, "answers": a}
        for m, n, a in [
            (5, 50, 1), (5, 400, 3), (5, 10_000, 1), (20, 50, 10), (20, 400, 5), (20, 10_000, 5), (20, 1_000_000, 1),
            (100, 400, 20), (100, 10_000, 10), (100, 1_000_000, 5), (1000, 10_000, 20), (1000, 1_000_000, 5),
        ]
    ],
    "consensus": [
        {"items": m, "people": n}
        for m, n in [
            (5, 50), (5, 400), (5, 10_000), (5, 100_000), (20, 50), (20, 400), (20, 10_000), (20, 100_000),
            (100, 400), (100, 10_000), (1000, 1000),
        ]
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
    "consensus": ("Mallows", "two camps", "cut short"),
    "topk": ("ladder", "Zipf", "ties"),
    "agreement": ("Mallows", "two camps"),
}


def heats() -> list[dict[str, Any]]:
    """All of the arena."""
    return [
        {"question": question, "data": data, **size}
        for question, sizes in _SIZES.items()
        for data, size in product(_DATA[question], sizes)
    ]


def setting_of(heat: Heat, epsilon: float, trust: str = "curator") -> Setting:
    """What a plan is told of a heat: public numbers alone."""
    question, m, answers = heat["question"], heat["items"], heat.get("answers", 1)
    more: dict[str, Any] = {"gap": people_of.gap_of(m)}
    if question == "ranking":
        more |= {"public_graph": True, "given": (1, answers) if heat["data"] == "unequal" else (answers,)}
    if question == "topk":
        share, gap = room(heat["k"], (answers,), (), m)
        more = {"share": share, "gap": gap, "k": heat["k"], "ordered": False}
    if question == "agreement":
        more["gap"] = faint(m, heat["people"])
    return Setting(question, m, heat["people"], epsilon, delta=DELTA, answers=(answers,), trust=trust, **more)


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


def _data(heat: Heat, rng: np.random.Generator) -> Any:
    """Made-up data of a heat."""
    question, data, m, n = (heat[key] for key in ("question", "data", "items", "people"))
    if question == "ranking":
        return people_of.comparing(data, m, n, heat["answers"], rng)
    if question == "topk":
        return people_of.tallied(data, m, n, heat["k"], heat["answers"], rng)
    names = [str(item) for item in range(m)]
    lead = faint(m, n) if question == "agreement" else None
    places = people_of.ranking_people(data, m, n, rng, lead)
    return Slips(places, names) if data == "cut short" else Votes(places, names)


def _losses(heat: Heat, mechanism: Any, data: Any, rng: np.random.Generator) -> Losses:
    if heat["question"] == "topk":
        shares = people_of.shares(heat["data"], heat["items"], heat["k"], heat["answers"])
        return _chosen(np.asarray(mechanism.release(data, rng).items, np.int64), shares)
    if heat["question"] == "agreement":
        return {"missed": float(not rejects(mechanism, data, rng))}
    return _ordered(order_of(mechanism, data, rng))


def entered(heat: Heat, epsilon: float) -> Iterator[tuple[Label, Any]]:
    """Labels and mechanism of all who answer a heat at an epsilon."""
    form = "partial" if heat["data"] == "cut short" else "full"
    for (name, delta, trust), made in contenders(setting_of(heat, epsilon), form).items():
        if name.startswith("PerturbedMLE") and heat["items"] > FITTED:
            continue
        yield (epsilon, delta, trust, name), made


def contest(
    *, repetitions: int, rng: np.random.Generator, only: Container[Label] | None = None, **heat: Any
) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    """Losses of all mechanisms, or of some, at all epsilons in so many repetitions of a heat, by `_LABELS`."""
    everybody = [it for epsilon in EPSILONS for it in entered(heat, epsilon) if only is None or it[0] in only]
    root = int(rng.integers(2**63))
    streams = [np.random.default_rng([root, zlib.crc32(json.dumps(label).encode())]) for label, _ in everybody]
    found: dict[tuple[Any, ...], NDArray[np.float64]] = {}
    for repetition in range(repetitions):
        data = _data(heat, rng)
        for (label, mechanism), stream in zip(everybody, streams, strict=True):
            for loss, value in _losses(heat, mechanism, data, stream).items():
                found.setdefault((*label, loss), np.empty(repetitions))[repetition] = value
    return found


def repetitions_of(heat: Heat) -> int:
    """How often a heat is repeated: fewer where it is large."""
    drawn = heat["people"] * (heat["answers"] if heat["question"] == "ranking" else heat["items"])
    drawn = heat["items"] if heat["question"] == "topk" else drawn
    return int(np.clip(DRAWN // drawn, LEAST, MOST))


def run(which: Iterable[Heat], only: Container[Label] | None = None) -> pd.DataFrame:
    """A row a heat, mechanism, epsilon and loss: ``mean``, ``se``, ``repetitions``."""
    function = partial(contest, only=only)
    shared: dict[str, Any] = {"experiment": "arena", "outcomes": _LABELS}
    return pd.concat(
        [sweep(function, [heat], repetitions=repetitions_of(heat), **shared) for heat in which], ignore_index=True
    )
