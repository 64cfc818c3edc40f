"""Ten black boxes to bet against: what each sends for Anna, and the game on the page."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from IPython.display import HTML
from numpy.typing import NDArray

from companion.chapters.privacy_audited.mutants import local
from companion.instruments.explorers import Buttons, Choice, Kept, Slider, Ticks, explorer
from companion.instruments.table import table
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.local_laws import report_law
from dprank.aggregation.randomisers import SampledOrder, SplitResponse, ranking_signs
from dprank.audit.betting import STAKES, log_returns
from dprank.audit.exact import privacy_loss
from dprank.privacy.laws import signs_law
from dprank.privacy.randomized_response import GRAIN

Array = NDArray[Any]

#: What every box promises, and the wealth at which the promise is called broken.
EPSILON, GOAL = 1.0, 1000.0
#: Anna's ranking, as places of the items A, B and C; the first is told from one of the others.
RANKINGS = {"A B C": (0, 1, 2), "C B A": (2, 1, 0), "A C B": (0, 2, 1)}
#: What may be sent: answers to "A or B?", "A or C?" and "B or C?", 1 for the item named first.
SHEETS = np.array(list(product((1, -1), repeat=3)))
ANSWERS = ["".join(answers) for answers in product("AB", "AC", "BC")]
#: Deals of the boxes, rounds that are played at once, and rounds of a game at most.
DEALS, STEPS, MOST = 100, (1, 10, 100, 1_000, 10_000), 50_000


BUTTONS = {
    "release": "Release",
    "broken": "I say: broken",
    "kept": "I say: it keeps its promise",
    "shown": "Reveal",
    "again": "New boxes",
}


@dataclass(frozen=True)
class Box:
    """What is inside, and the law of what it sends: ``laws`` of `SHEETS` for each of `RANKINGS`."""

    inside: str
    laws: Array

    @property
    def losses(self) -> list[float]:
        """Exact loss of the first ranking against each other one."""
        return [privacy_loss(self.laws[0], law) for law in self.laws[1:]]

    @property
    def broken(self) -> bool:
        """Whether more is lost than is promised, on some of the rankings."""
        return max(self.losses) > EPSILON * (1 + 1e-9)


class Bet(NamedTuple):
    """Sheets, the ranking that is told from the first, whether that one is to make them likelier, and the stake.

    ``growth`` is what the logarithm of wealth gains in a round, on average.
    """

    sheets: Array
    other: int
    swapped: bool
    stake: float
    growth: float


def boxes() -> list[Box]:
    """Three that keep the promise and seven with a planted bug, all of them with the promise of the right ones."""
    make: dict[str, Any] = {"n_items": 3, "epsilon": EPSILON}
    coins, cube = SplitResponse.calibrated(**make), VectorReport.calibrated(**make, geometry="cube")
    order, pair = (SampledOrder.calibrated(**make, length=length) for length in (3, 2))
    rankings = np.array(list(RANKINGS.values()))
    signs, bugs = ranking_signs(rankings), {mutant.bug: mutant.law for mutant in local.mutants()}
    turned = coins.flips / GRAIN

    def planted(bug: str, told: Array = rankings) -> Any:
        law = bugs[bug]
        assert law is not None, bug
        return [law(it) for it in told]

    last_bare = [np.kron(signs_law(it[:2], turned), signs_law(it[2:], 0.0)) for it in signs]
    laws = {
        "Nothing is wrong: each answer has a coin of its own, and a third of ε": report_law(coins, rankings),
        "Nothing is wrong: her own order with some probability, else any order": report_law(order, rankings),
        "Nothing is wrong: sheets that have most of her answers are likelier": report_law(cube, rankings),
        "The probability of a true answer is rounded to tenths": signs_law(signs, 1 - round(1 - turned, 1)),
        "An order of three is sent with the odds of a pair": report_law(replace(order, kept=pair.kept), rankings),
        "All of ε is spent on each of three answers": planted("budget spent on each of three answers", signs),
        "One coin for all three answers": planted("one coin for all answers"),
        "No coin for the last answer": last_bare,
        "An order that hides hers is always A B C": planted("hidden orders sent in the order of codes"),
        "A sheet with none of her answers is sent the other way round": planted(
            "no coin for vectors that agree in all signs"
        ),
    }
    return [Box(inside, np.array([_on_sheets(law) for law in found])) for inside, found in laws.items()]


def _on_sheets(law: Array) -> Array:
    """Of `SHEETS`, where it is of sign vectors as in `signs_law`, or of orders as in `report_law`."""
    if len(law) == len(SHEETS):
        return law[::-1]
    sent = ranking_signs(np.argsort(list(permutations(range(3))), axis=1))
    return np.array([law[(sent == sheet).all(axis=1)].sum() for sheet in SHEETS])


def best_bet(box: Box) -> Bet:
    """What a player who knows the laws would bet: the same in every round."""
    bets = []
    for other, swapped in product(range(1, len(RANKINGS)), (False, True)):
        likely, rare = (box.laws[it] for it in ((other, 0) if swapped else (0, other)))
        # by Neyman and Pearson no event is better than those of the largest ratios
        with np.errstate(divide="ignore", invalid="ignore"):
            falling = np.argsort(-np.nan_to_num(likely / rare, posinf=np.inf), kind="stable")
        for size in range(1, len(SHEETS)):
            p, q = likely[falling[:size]].sum(), rare[falling[:size]].sum()
            growth = log_returns(EPSILON, 0.0) @ [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]
            at = int(growth.argmax())
            bets.append(Bet(np.sort(falling[:size]), other, swapped, float(STAKES[at]), float(growth[at])))
    return max(bets, key=lambda bet: bet.growth)


def inside() -> pd.DataFrame:
    """A row a box: what is ``inside``, its exact ``loss`` on the worst of the rankings, and about how many ``rounds``
    the best bet takes to reach `GOAL`; infinite where no bet gains.
    """
    rows = []
    for box in boxes():
        growth = best_bet(box).growth
        rows.append((box.inside, max(box.losses), math.log(GOAL) / growth if growth > 0 else math.inf))
    return pd.DataFrame(rows, columns=["inside", "loss", "rounds"])


def bounds(box: Box) -> list[list[int]]:
    """For each ranking, of 2^32 equally likely numbers how many lead to a sheet or one before it."""
    return np.rint(box.laws.cumsum(axis=1) * 2.0**32).astype(np.int64).tolist()


def game(name: str = "bets") -> HTML:
    """The game on the page, which `book/_static/explorers/bets.js` plays."""
    known, [first, *others] = boxes(), RANKINGS
    stakes = [round(100 * stake) for stake in STAKES.tolist()]
    controls = [
        Slider("box", "Black box", range(1, len(known) + 1), 1),
        Slider("deal", "Deal", range(1, DEALS + 1), 1),
        Choice("other", f"Tell {first} from", {str(at): ranking for at, ranking in enumerate(others, start=1)}),
        Choice("likelier", "Likelier for", {"0": first, "1": "the other ranking"}),
        Slider("stake", "Stake, of the largest", stakes, 30, [f"{stake} %" for stake in stakes]),
        Slider("step", "Rounds at once", STEPS, 100, [f"{step:,}" for step in STEPS]),
        Ticks("Bet that these sheets are likelier", {answers: " ".join(answers) for answers in ANSWERS}),
        Kept("game"),
        Buttons(BUTTONS),
    ]
    promise = {"epsilon": EPSILON, "delta": 0.0, "goal": GOAL}
    data = promise | {"most": MOST, "deals": DEALS, "rankings": list(RANKINGS), "sheets": ANSWERS}
    data["boxes"] = [
        {"inside": box.inside, "broken": box.broken, "losses": _in_words(box.losses), "laws": bounds(box)}
        for box in known
    ]
    said = (
        f"{len(known)} black boxes promise ε = {EPSILON:g}; {sum(not box.broken for box in known)} of them keep it. "
        "With JavaScript you may bet against each. The table says what is inside."
    )
    opened = inside().set_axis(["what is inside", "true ε", "rounds of the best bet"], axis=1)
    title = "Bet against a black box"
    return explorer(name, "bets", controls, data, title=title, said=said, table=table(opened).data)


def _in_words(losses: list[float]) -> list[str]:
    return [f"{loss:.3g}".replace("inf", "infinite") for loss in losses]
