"""What every mechanism needs and gives: the one table from which choices, help and reasons are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import product
from typing import Any, Literal, get_args

from dprank._require import require_one_of
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

Trust = Literal["curator", "nobody"]


@dataclass(frozen=True)
class Tag:
    """What a mechanism needs, and what its release has.

    Parameters
    ----------
    question : {"ranking", "consensus", "winner", "topk", "agreement"}
        That it answers.
    home : str
        Module of its class, below `dprank`.
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
    publishable : bool
        Whether `dprank.SECURE` draws its noise.
    needs : str
        What else must be true, in words; empty where nothing is.

    Examples
    --------
    >>> TAGS["PrivateBorda"].gives, TAGS["PrivateBorda"].data, TAGS["LocalBorda"].trust
    (('scores',), 'ballots', 'nobody')
    """

    question: QuestionName
    home: str
    how: str
    trust: Trust = "curator"
    delta: bool = False
    adjacency: bool = False
    partial: bool = False
    gives: tuple[str, ...] = ()
    publishable: bool = True
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


#: By the name of the class. A test holds it to what the classes say of themselves.
TAGS: dict[str, Tag] = {
    "NoisyCounts": Tag(
        "ranking",
        "pairwise.noisy_counts",
        "noise on what every item has won, then sort",
        delta=True,
        adjacency=True,
        gives=("scores",),
    ),
    "PerturbedMLE": Tag(
        "ranking",
        "pairwise.perturbed_mle",
        "noise on the wins, then a Bradley-Terry fit",
        gives=("scores",),
        needs="everybody may know who compared what, and nobody leaves out what they were asked",
    ),
    "LocalComparisons": Tag(
        "ranking",
        "pairwise.local_comparisons",
        "everybody reports a few answers, true or drawn at random",
        trust="nobody",
        gives=("scores",),
        needs="everybody may know who was asked what",
    ),
    "PrivateBorda": Tag(
        "consensus",
        "aggregation.private_borda",
        "noise on every item's sum of places, then sort",
        delta=True,
        adjacency=True,
        partial=True,
        gives=("scores",),
    ),
    "NoisyMatrix": Tag(
        "consensus",
        "aggregation.noisy_matrix",
        "noise on the votes for every pair of items, then an order that fits them",
        delta=True,
        adjacency=True,
        partial=True,
        gives=("margins",),
    ),
    "PrivateKwikSort": Tag(
        "consensus",
        "aggregation.private_kwiksort",
        "quicksort, each comparison by noisy votes",
        delta=True,
        adjacency=True,
    ),
    "PrivateFootrule": Tag(
        "consensus",
        "aggregation.private_footrule",
        "noise on how many put which item where, then the order that moves them least",
        delta=True,
        adjacency=True,
    ),
    "ExponentialMechanism": Tag(
        "consensus",
        "aggregation.exponential",
        "one random order, the likelier the fewer votes it contradicts",
        adjacency=True,
        publishable=False,
        needs="research: floats draw it",
    ),
    "LocalBorda": Tag(
        "consensus",
        "aggregation.local_borda",
        "everybody reports once, true or drawn at random; sums of places are estimated",
        trust="nobody",
        partial=True,
        gives=("scores",),
    ),
    "LocalMatrix": Tag(
        "consensus",
        "aggregation.local_reports",
        "everybody reports once, true or drawn at random; votes for pairs are estimated",
        trust="nobody",
        partial=True,
    ),
    "PrivateWinner": Tag(
        "winner",
        "aggregation.winner",
        "noise on every item's score; the largest is named",
        adjacency=True,
        partial=True,
    ),
    "Oneshot": Tag(
        "topk",
        "topk.oneshot",
        "noise on every count, once; the k largest are named",
        delta=True,
        adjacency=True,
        gives=("values",),
    ),
    "Peeling": Tag(
        "topk",
        "topk.peeling",
        "k rounds of noise on every count that is left; the largest is named",
        delta=True,
        adjacency=True,
    ),
    "JointExponential": Tag(
        "topk",
        "topk.joint",
        "k items drawn together, the likelier the larger their counts",
        adjacency=True,
    ),
    "LocalTopK": Tag(
        "topk",
        "topk.local",
        "everybody sends a random set that favours their own items",
        trust="nobody",
        gives=("values",),
    ),
    "NoisyNorm": Tag(
        "agreement",
        "uniformity.noisy_norm",
        "noise on how strongly all ballots together lean",
        gives=("p_value",),
    ),
    "LaplaceUnif": Tag(
        "agreement",
        "uniformity.laplace",
        "noise on how many disagree about random pairs",
        gives=("p_value",),
    ),
    "OptimalVote": Tag(
        "agreement",
        "uniformity.optimal_vote",
        "noise on how many batches of voters agree within",
        delta=True,
        gives=("p_value",),
    ),
    "Trun": Tag(
        "agreement",
        "uniformity.truncated",
        "a coin that is the likelier to reject the more voters agree",
        publishable=False,
        needs="research: floats draw its coins",
    ),
    "LocalPairs": Tag(
        "agreement",
        "uniformity.local",
        "everybody sends the order of some pairs; a coin may reverse each",
        trust="nobody",
        gives=("p_value",),
    ),
    "LocalOneBit": Tag(
        "agreement",
        "uniformity.local",
        "everybody sends the order of one pair; a coin may reverse it",
        trust="nobody",
        gives=("p_value",),
    ),
    "LocalTwoStage": Tag(
        "agreement",
        "uniformity.local_two_stage",
        "some send the order of a pair, others whether they agree with them; a coin may reverse each answer",
        trust="nobody",
        gives=("p_value",),
        needs="half of the people are asked after the others have answered",
    ),
}


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
    return tuple(name for name, tag in TAGS.items() if (tag.question, tag.trust) == (question, trust))


def mechanism_class(name: str) -> Any:
    """The class of a mechanism, imported when it is first asked for.

    Examples
    --------
    >>> mechanism_class("PrivateBorda").__name__
    'PrivateBorda'
    """
    from importlib import import_module

    return getattr(import_module(f"dprank.{TAGS[name].home}"), name)


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
        Naming the mechanism and those that are allowed, a choice that it does not have, or what `calibrated` refuses.

    Examples
    --------
    >>> mechanism_of("ranking", "NoisyCounts", epsilon=1.0, items="abc", protect="person", answers=3, score="net").scale
    12.0
    """
    fit = tuple(one for one in choosable(question, "curator") if TAGS[one].publishable)
    require_one_of("mechanism", name, fit)
    given = {key: value for key, value in asked.items() if value is not None}
    asks = QUESTIONS[question]
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
        able = [one for one in fit if "ballots" in signature(mechanism_class(one).calibrated).parameters]
        raise ValueError(f"mechanism = {name!r} takes full ballots alone; of others {' or '.join(able)}")
    if name in ("Peeling", "JointExponential"):  # they cost the same for however many items of a person
        given.pop("per_person", None)
    for key in [key for key in given if key not in known]:
        if (value := given.pop(key)) not in (None, NEUTRAL.get(key)):
            raise ValueError(f"{key.replace('_', '-')} = {value!r}; a {name} has no such choice")
    return mechanism_class(name).calibrated(epsilon=epsilon, **given)


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
