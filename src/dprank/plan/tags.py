"""What every mechanism needs and gives, as its class says it: from this choices, help and reasons are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any, get_args

import dprank
from dprank._require import require_one_of
from dprank.mechanism import Card, Trust
from dprank.questions import QUESTIONS, QuestionName

#: What a flag says where nothing is asked: a mechanism that has no such choice is as good.
NEUTRAL: dict[str, Any] = {
    "adjacency": "replace",
    "delta": 0.0,
    "ordered": True,
    "values": False,
    "ballots": "full",
    "max_weight": 1,
    "public_graph": False,
}

__all__ = [
    "TAGS",
    "Tag",
    "choosable",
    "chooser",
    "mechanism_class",
    "mechanism_of",
    "tag_of",
]


@dataclass(frozen=True, kw_only=True)
class Tag(Card):
    """The card of a mechanism, and whether it is for publication.

    Parameters
    ----------
    question, how, trust, delta, adjacency, partial, gives, needs
        As of `Card`.
    publishable : bool
        Whether `dprank.SECURE` draws its noise, as its class says in its own body.
    """

    publishable: bool


class Tags(Mapping[str, Tag]):
    """Tags by the names of classes, each read off its class, which is imported when it is first asked for.

    Examples
    --------
    >>> TAGS["PrivateBorda"].gives, len(TAGS) == sum(len(it.mechanisms) for it in QUESTIONS.values())
    (('scores',), True)
    """

    def __getitem__(self, name: str) -> Tag:
        kind = mechanism_class(name)
        return Tag(**vars(kind.card), publishable=vars(kind).get("for_publication") is True)

    def __contains__(self, name: object) -> bool:
        return any(name == it for it in self)

    def __iter__(self) -> Iterator[str]:
        return (name for it in QUESTIONS.values() for name in it.mechanisms)

    def __len__(self) -> int:
        return sum(1 for _ in self)


#: Of all mechanisms that answer a question.
TAGS = Tags()


def tag_of(name: str) -> Tag:
    """The tag of a mechanism, by the name of its class.

    Examples
    --------
    >>> tag_of("Oneshot").question
    'topk'
    """
    return TAGS[name]


def choosable(question: QuestionName, trust: Trust) -> tuple[str, ...]:
    """Names of the mechanisms that answer a question, if so much trust is there.

    Examples
    --------
    >>> choosable("consensus", "nobody")
    ('LocalBorda', 'LocalMatrix')
    """
    return tuple(name for name in QUESTIONS[question].mechanisms if TAGS[name].trust == trust)


def mechanism_class(name: str) -> Any:
    """The class of a mechanism, imported when it is first asked for.

    Examples
    --------
    >>> mechanism_class("PrivateBorda").__name__
    'PrivateBorda'
    """
    if name not in TAGS:
        raise KeyError(name)
    return getattr(dprank, name)


def mechanism_of(question: QuestionName, name: str, *, epsilon: float, items: Sequence[Any], **asked: Any) -> Any:
    """The mechanism that a release was asked for, by the keys of a plan.

    Parameters
    ----------
    question : {"ranking", "consensus", "winner", "topk", "agreement"}
    name : str
        Of a class that `TAGS` lists for the question, with a curator and noise fit for release.
    epsilon : float
    items : sequence
        All of them, public.
    **asked
        What the flags of `dprank release` say; None where they say nothing.

    Raises
    ------
    ValueError
        Naming the question, or the mechanism, and those that are allowed; a choice that it does not have; or what
        `calibrated` refuses.

    Examples
    --------
    >>> mechanism_of("ranking", "NoisyCounts", epsilon=1.0, items="abc", protect="person", answers=3, score="net").scale
    12.0
    """
    asks = QUESTIONS[require_one_of("question", question, tuple(QUESTIONS))]
    if name not in asks.mechanisms or not _is_fit(name):
        require_one_of("mechanism", name, _fit(question))
    given = {key: value for key, value in asked.items() if value is not None}
    if asks.data == "comparisons":
        whole = given.pop("protect", "person") != "answer"
        bound = given.pop("answers", None)
        given |= {"unit": "voter" if whole else "comparison", "per_person": bound if whole else None}
        if not whole:
            given.pop("design", None)
    if asks.release == "Decision":
        given["n_voters"] = given.pop("voters")
    if name == "PerturbedMLE":
        if not given.pop("public_graph", False):
            raise ValueError(
                f"mechanism = {name!r} tells who compared what; say --public-graph if {TAGS[name].needs}; "
                "or take NoisyCounts"
            )
        given |= {"graph": "public", "ridge": 1.0}
    given |= {"items": items} if asks.data == "tallies" else {"n_items": len(items)}
    known = signature(mechanism_class(name).calibrated).parameters
    if given.get("ballots", "full") != "full" and "ballots" not in known:
        able = [one for one in _fit(question) if "ballots" in signature(mechanism_class(one).calibrated).parameters]
        raise ValueError(f"mechanism = {name!r} takes full ballots alone; of others {' or '.join(able)}")
    if name in ("Peeling", "JointExponential"):  # they cost the same for however many items of a person
        given.pop("per_person", None)
    for key in [key for key in given if key not in known]:
        if (value := given.pop(key)) not in (None, NEUTRAL.get(key)):
            raise ValueError(f"{key.replace('_', '-')} = {value!r}; a {name} has no such choice")
    return mechanism_class(name).calibrated(epsilon=epsilon, **given)


def _is_fit(name: str) -> bool:
    """Whether a curator may release by it."""
    return TAGS[name].trust == "curator" and TAGS[name].publishable


def _fit(question: QuestionName) -> tuple[str, ...]:
    """All that are; those that nobody named are imported to be told."""
    return tuple(filter(_is_fit, QUESTIONS[question].mechanisms))


#: What may come with an answer.
_GIVES = {"scores": "noisy scores", "margins": "noisy margins", "values": "noisy counts", "p_value": "a p-value"}
_WHO = {"curator": "a curator", "nobody": "nobody"}


def chooser() -> str:
    """All mechanisms as a table in Markdown: from what people give, and who is trusted, to a class and what it gives.

    Examples
    --------
    >>> print(chooser().splitlines()[0])
    | question | people give | who is trusted | class | comes with the answer | δ | ties and gaps |
    """
    head = ["question", "people give", "who is trusted", "class", "comes with the answer", "δ", "ties and gaps"]
    rows = [head, ["---"] * len(head)]
    for question, trust in product(QUESTIONS, get_args(Trust)):
        for name in choosable(question, trust):
            tag = TAGS[name]
            notes = [_GIVES[it] for it in tag.gives] + ([f"*{tag.needs}*"] if tag.needs else [])
            ticks = ["yes" if it else "no" for it in (tag.delta, tag.partial)]
            told = "; ".join(notes) or "nothing"
            rows.append([f"{question}: {tag.output}", tag.data, _WHO[trust], f"`{name}`", told, *ticks])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
