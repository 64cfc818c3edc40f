"""Situations in words, what a plan says of each, and whether the arena agrees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from companion.chapters.which_method.advice import advised
from companion.chapters.which_method.arena import setting_of
from companion.chapters.which_method.contenders import DELTA
from dprank.plan.tags import TAGS

__all__ = ["SITUATIONS", "Situation", "checked", "rows_of", "told"]

#: Lead of an item over the next that a plan supposes where it is told of none.
_GAP = 0.1
#: A loss with which nothing should be published.
_TOO_MUCH = 0.25


@dataclass(frozen=True)
class Situation:
    """Somebody with a question, and the heat of the arena that is closest to it.

    Parameters
    ----------
    who, words : str
    heat : mapping
        As `arena.heats` has it; its kind of people is what they turn out to be, which a plan is not told.
    epsilon : float
    delta : float
        0 or `contenders.DELTA`.
    trust : {"curator", "nobody"}
    """

    who: str
    words: str
    heat: Mapping[str, Any]
    epsilon: float
    delta: float = 0.0
    trust: str = "curator"

    @property
    def call(self) -> str:
        """What they would type."""
        asked = setting_of(self.heat, self.epsilon, self.trust)
        told = [asked.question, f"--items {asked.n_items}", f"--persons {asked.persons}", f"--epsilon {self.epsilon:g}"]
        if asked.question in ("ranking", "topk"):
            told.append(f"--{'answers' if asked.question == 'ranking' else 'per-person'} {asked.answers[0]}")
        if asked.question == "topk":
            told += [f"--k {asked.k}", "--no-ordered"]
        elif asked.gap != _GAP:
            told.append(f"--gap {asked.gap:.3g}")
        told += ["--public-graph"] * (asked.public_graph and self.trust == "curator")
        told += [f"--delta {self.delta:g}"] * (self.delta > 0)
        told += [f"--trust {self.trust}"] * (self.trust != "curator")
        return " ".join(["dprank plan", *told])


def _heat(question: str, data: str, items: int, people: int, **more: int) -> dict[str, Any]:
    return {"question": question, "data": data, "items": items, "people": people, **more}


SITUATIONS = (
    Situation(
        "A ministry",
        "asks 400 teachers about twenty reforms; each says five times which of two is better. Who is asked about which"
        " two is drawn in public. The ministry wants all twenty in order.",
        _heat("ranking", "ladder", 20, 400, answers=5),
        1.0,
    ),
    Situation(
        "A hospital",
        "has the diagnoses of 10,000 patients, at most five each, and wants the five most frequent of a hundred"
        " diagnoses.",
        _heat("topk", "Zipf", 100, 10_000, answers=5, k=5),
        0.5,
        DELTA,
    ),
    Situation(
        "A conference",
        "has a committee of 50 who rank the same five finalists, and promises them that no ballot can be guessed.",
        _heat("consensus", "Mallows", 5, 50),
        2.0,
    ),
    Situation(
        "A phone keyboard",
        "asks 100,000 phones to rank five layouts. Nothing that tells a person's order may leave the phone.",
        _heat("consensus", "Mallows", 5, 100_000),
        2.0,
        trust="nobody",
    ),
    Situation(
        "A divided party",
        "has ballots of 10,000 members on twenty candidates. How far its two wings disagree, nobody knows; a delta is"
        " allowed.",
        _heat("consensus", "two camps", 20, 10_000),
        1.0,
        DELTA,
    ),
    Situation(
        "A maker of games",
        "has twenty levels, and asks 10,000 players five times each which of two is more fun. It has promised that no"
        " server sees a true answer; who was asked about which two is no secret.",
        _heat("ranking", "ladder", 20, 10_000, answers=5),
        2.0,
        trust="nobody",
    ),
    Situation(
        "A book prize",
        "has 400 jurors who ranked five finalists. It names the winner, and nothing else.",
        _heat("winner", "Mallows", 5, 400),
        0.5,
    ),
    Situation(
        "A tasting panel",
        "of 50 has ranked a hundred wines. Before anything is published, do they agree on anything at all?",
        _heat("agreement", "Mallows", 100, 50),
        1.0,
    ),
    Situation(
        "A staff council",
        "wants to know whether 10,000 employees agree on twenty values, and nobody trusts anybody with an answer.",
        _heat("agreement", "Mallows", 20, 10_000),
        2.0,
        trust="nobody",
    ),
    Situation(
        "A library",
        "has a million readers who borrowed up to five of a thousand books, and wants the ten most borrowed.",
        _heat("topk", "ties", 1000, 1_000_000, answers=5, k=10),
        0.2,
    ),
)


def rows_of(frame: pd.DataFrame, situation: Situation) -> pd.DataFrame:
    """What the arena has on a situation."""
    where = dict(situation.heat) | {"epsilon": situation.epsilon, "trust": situation.trust}
    seen = frame
    for name, value in where.items():
        seen = seen[seen[name] == value]
    return seen


def checked(frame: pd.DataFrame, situations: Iterable[Situation] = SITUATIONS) -> pd.DataFrame:
    """A row a situation: what a plan recommends, what that loses in the arena, the best there, and is it right?"""
    rows = []
    for situation in situations:
        judged = advised(rows_of(frame, situation))
        mine = judged[judged["budget"] == situation.delta].iloc[0]
        rows.append(
            {
                "who": situation.who,
                "plan": mine["advice"],
                "loses": mine["loss"],
                "second": mine["second"],
                "means": mine["means"],
                "best": mine["best"],
                "right": mine["right"] == 1,
            }
        )
    return pd.DataFrame(rows)


def told(judged: pd.DataFrame, situations: Iterable[Situation] = SITUATIONS) -> str:
    """What was `checked`, as HTML for readers: the words, what is typed, and what is recommended."""
    items = []
    for situation, row in zip(situations, judged.itertuples(), strict=True):
        name, _, options = row.plan.partition("(")
        best = "no method is better" if row.right else f"{escape(row.best)} is better"
        second = f"; the second is {escape(row.second)}" if row.second else ""
        chosen = f"<strong>{escape(name)}</strong>{escape(options and f' ({options}')}: {escape(TAGS[name].how)}."
        warning = " With such a loss nothing should be published: ask more people." if row.loses > _TOO_MUCH else ""
        items.append(
            f"<dt>{escape(situation.who)}</dt><dd>{escape(situation.words)}<br/>"
            f"<code>{escape(situation.call)}</code><br/>"
            f"{chosen} Its error in the arena is {row.loses:.1%} ({row.means}); {best}{second}.{warning}</dd>"
        )
    return "<dl>" + "".join(items) + "</dl>"
