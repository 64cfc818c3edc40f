"""The five questions: what people give, what comes out, and in which words: no other module has a table of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["QUESTIONS", "Kind", "Question", "QuestionName"]

QuestionName = Literal["ranking", "consensus", "winner", "topk", "agreement"]
#: Of declarations: what people give.
Kind = Literal["comparisons", "ballots", "tallies"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked of people's data, and what answers it.

    Parameters
    ----------
    name : {"ranking", "consensus", "winner", "topk", "agreement"}
        At the command line, in a plan and in a published file.
    asked : str
        The question itself, as a published file is headed.
    planned, released : str
        The line of `dprank plan` and of `dprank release` in their help.
    data : {"comparisons", "ballots", "tallies"}
        What people give.
    units : tuple of str
        What can be protected.
    output : str
        What comes out, in words.
    release : {"Ranking", "Selection", "Decision"}
        What comes out, by the name of its class.
    tabled : bool
        Whether the answer is shown as a table, and not in words alone.
    mechanisms : tuple of str
        Names of the classes that answer; the first where nobody names one.
    error : str
        What the error of a choice is the share or chance of.
    right : str
        What is right with the chance that a plan gives.
    shown : {"pair_right", "top_right"} or None
        The field of `dprank.Choice` that is shown as that chance; None where the error says it.
    wanted : str
        What `--accuracy` asks for, with ``{gap}`` for the lead of an item.
    elsewhere : str
        How else people may be, by which choices are told apart that are as good where they are as supposed; empty where
        nothing else is weighed.

    Examples
    --------
    >>> one = QUESTIONS["topk"]
    >>> one.data, one.usual, one.output
    ('tallies', 'Oneshot', 'the k most frequent items')
    """

    name: QuestionName
    asked: str
    planned: str
    released: str
    data: Kind
    units: tuple[str, ...] = ("person",)
    output: str
    release: Literal["Ranking", "Selection", "Decision"]
    tabled: bool
    mechanisms: tuple[str, ...]
    error: str
    right: str
    shown: Literal["pair_right", "top_right"] | None
    wanted: str
    elsewhere: str = ""

    @property
    def usual(self) -> str:
        """The class that answers where nobody names one."""
        return self.mechanisms[0]

    @property
    def orders_ballots(self) -> bool:
        """Whether ballots are put in order, or one item before all others: then it is a matter of a rule."""
        return self.data == "ballots" and self.release != "Decision"


_ORDER = "an order of the items"
_PAIRS = "pairs in the wrong order"
_NEIGHBOURS = "two neighbours on the ladder come out in their order"
_TWO = "the right order of two items that differ by {gap:g}"
_CAMPS = "four in ten have the halves of the order exchanged"
#: By their names, in the order in which they are told.
QUESTIONS: Mapping[QuestionName, Question] = {
    it.name: it
    for it in (
        Question(
            name="ranking",
            asked="In which order do people put these items, by their answers two at a time?",
            planned="A ranking from comparisons of two items at a time.",
            released="A ranking by net wins, with its scores, from comparisons of two items at a time.",
            data="comparisons",
            units=("person", "answer"),
            output=_ORDER,
            release="Ranking",
            tabled=True,
            mechanisms=("NoisyCounts", "PerturbedMLE", "LocalComparisons"),
            error=_PAIRS,
            right=_NEIGHBOURS,
            shown="pair_right",
            wanted=_TWO,
            elsewhere="half of the items are asked about four times as often",
        ),
        Question(
            name="consensus",
            asked="Which order do all ballots together make?",
            planned="One order from many ballots.",
            released="One order from many ballots: by Borda's rule, or with NoisyMatrix by Kemeny's, Copeland's or "
            "Borda's.",
            data="ballots",
            output=_ORDER,
            release="Ranking",
            tabled=True,
            mechanisms=(
                "PrivateBorda",
                "NoisyMatrix",
                "PrivateKwikSort",
                "PrivateFootrule",
                "ExponentialMechanism",
                "LocalBorda",
                "LocalMatrix",
            ),
            error=_PAIRS,
            right=_NEIGHBOURS,
            shown="pair_right",
            wanted=_TWO,
            elsewhere=_CAMPS,
        ),
        Question(
            name="winner",
            asked="Which item do all ballots together put first?",
            planned="The winner of many ballots, and nothing else of their order.",
            released="The winner of many ballots by worst margin (maximin) or Borda net wins, and nothing else of "
            "their order.",
            data="ballots",
            output="the name of one item",
            release="Selection",
            tabled=False,
            mechanisms=("PrivateWinner",),
            error="chance to name another winner",
            right="the winner is right",
            shown="top_right",
            wanted="the right winner",
            elsewhere=_CAMPS,
        ),
        Question(
            name="topk",
            asked="Which items are the most frequent?",
            planned="The k most frequent items.",
            released="The k most frequent items, in their order, by noise that is added once.",
            data="tallies",
            output="the k most frequent items",
            release="Selection",
            tabled=True,
            mechanisms=("Oneshot", "Peeling", "JointExponential", "LocalTopK"),
            error="of the top k wrong",
            right="all of the top k are right",
            shown="top_right",
            wanted="a right top k",
        ),
        Question(
            name="agreement",
            asked="Do the ballots agree on anything?",
            planned="Whether ballots agree on anything.",
            released="Whether ballots agree on anything, or might have been shuffled.",
            data="ballots",
            output="whether they agree",
            release="Decision",
            tabled=False,
            mechanisms=(
                "NoisyNorm",
                "LaplaceUnif",
                "OptimalVote",
                "Trun",
                "LocalPairs",
                "LocalOneBit",
                "LocalTwoStage",
            ),
            error="chance to miss the agreement",
            right="the test finds the agreement",
            shown=None,
            wanted="finding the agreement",
        ),
    )
}
