"""How many people it takes, question by question, until a release errs by so little."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from dprank.plan.planner import best_error

__all__ = ["ASKED", "ERROR", "MOST", "WITHIN", "draw_people", "needed", "numbers", "people_frame", "rounded"]

#: What is asked, in words: the question, what it is asked with, and who is trusted.
ASKED: dict[str, dict[str, Any]] = {
    "pairs": {"question": "ranking", "answers": [5]},
    "pairs, nobody trusted": {"question": "ranking", "answers": [5], "trust": "nobody"},
    "ballots": {"question": "consensus"},
    "ballots, nobody trusted": {"question": "consensus", "trust": "nobody"},
    "one winner": {"question": "winner"},
    "top 3": {"question": "topk", "k": 3, "answers": [5], "ordered": False},
    "top 3, nobody trusted": {"question": "topk", "k": 3, "answers": [5], "ordered": False, "trust": "nobody"},
    "agreement": {"question": "agreement"},
    "agreement, nobody trusted": {"question": "agreement", "trust": "nobody"},
}
#: Of how many pairs, places or tests this share may be wrong.
ERROR = 0.01
#: Where a search gives up, and how close it comes: by steps of the eighth root of 2.
MOST, WITHIN = 1e8, 0.1
_START, _STEPS = 100.0, 8


def needed(error: float, *, question: str, beyond: float = 0.0, near: float = _START, **asked: Any) -> float:
    """The least number of people with whom the best choice errs so little; to a tenth, infinity beyond 10^8.

    Parameters
    ----------
    error : float
        Expected share of pairs in the wrong order, of a top k that is wrong, or chance to miss an agreement.
    beyond : float
        So many are known to be too few: no plan is asked for.
    near : float
        Where the search begins: the closer, the fewer plans.
    question, **asked
        As of `dprank.plan`.
    """

    def errs(step: int) -> float:
        persons = _START * 2 ** (step / _STEPS)
        if persons > MOST:
            return 0.0
        if persons <= beyond:
            return 1.0
        return best_error(question, persons=max(2, math.ceil(persons)), **asked)  # type: ignore[arg-type]

    guess = round(_STEPS * math.log2(min(near, 2 * MOST) / _START))
    found = _START * 2 ** (_turn(errs, error, guess) / _STEPS)
    return math.inf if found > MOST else max(2, math.ceil(found))


def _turn(value: Callable[[int], float], most: float, guess: int) -> int:
    """The least whole number of which the value, which falls, is at most so much: by secants, from a guess.

    Examples
    --------
    >>> _turn(lambda x: 2.0**-x, 1e-6, 3)
    20
    """
    low, high, at, slope, wide = -math.inf, math.inf, guess, -2 * math.log(2) / _STEPS, 2 * _STEPS
    last: tuple[int, float] | None = None
    while high - low > 1:
        excess = math.log(max(value(at), 1e-300) / most)
        low, high = (at, high) if excess > 0 else (low, at)
        if last is not None and (rise := (excess - last[1]) / (at - last[0])) < 0:
            slope = rise
        last = at, excess
        aim = at - excess / slope
        if high - low < math.inf:  # as far from the middle as a secant says, but never all the way along
            aim = min(max(aim, low + (high - low) / 8), high - (high - low) / 8)
        else:
            aim, wide = min(max(aim, at - wide), at + wide), 2 * wide
        at = int(min(max(math.ceil(aim) if excess > 0 else math.floor(aim), low + 1), high - 1))
    return int(high)


def people_frame(items: int, epsilons: Sequence[float], error: float = ERROR) -> pd.DataFrame:
    """A row for all that is `ASKED` and an epsilon: ``people``."""
    rows = []
    for name, asked in ASKED.items():
        near = _START
        for epsilon in epsilons:
            people = needed(error, items=items, epsilon=epsilon, near=near, **asked)
            rows.append({"asked": name, "epsilon": epsilon, "people": people})
            near = people
    return pd.DataFrame(rows)


def rounded(people: float) -> str:
    """To two digits, for a sentence; as close as the search comes.

    Examples
    --------
    >>> rounded(51_200), rounded(math.inf)
    ('51,000', 'more than a hundred million')
    """
    return f"{float(f'{people:.2g}'):,.0f}" if people <= MOST else "more than a hundred million"


_NAMES = {
    "pairs": "order from pairs",
    "ballots": "order from ballots",
    "one winner": "one winner",
    "top 3": "top 3",
    "agreement": "test of agreement",
}
#: Beside whose line it is written how many times as many people it takes.
_TIMES = "ballots"


@styled
def draw_people(frame: pd.DataFrame) -> Figure:
    """People against epsilon, a panel a kind of trust, a line for all that is asked."""
    figure, made = panels(2, message=_told(frame), height=3.4, sharey=True)
    made[0].set_yscale("log")
    names = list(dict.fromkeys(it.partition(", ")[0] for it in frame["asked"]))
    ticks = sorted(frame["epsilon"].unique())
    for name, rows in frame[frame["people"] < math.inf].groupby("asked", sort=False):
        question, _, alone = str(name).partition(", ")
        colour, style = COLOURS[names.index(question)], ("o-", "s-", "D--", "^-", "v:")[names.index(question) % 5]
        wide: dict[str, Any] = {"lw": 4, "ms": 9, "alpha": 0.5} if question == "pairs" else {}  # others may lie on it
        made[bool(alone)].plot(rows["epsilon"], rows["people"], style, color=colour, label=_NAMES[question], **wide)
    _write_times(made[1], frame.pivot(index="epsilon", columns="asked", values="people"))
    made[0].set_ylim(top=6 * frame.loc[frame["people"] < math.inf, "people"].max())
    for axes, title in zip(made, ("somebody is trusted", "nobody is trusted"), strict=True):
        axes.set(xscale="log", title=title)
        axes.set_xticks(ticks, [f"{it:g}" for it in ticks])
        axes.minorticks_off()
    unmet = ", ".join(_NAMES[name] for name in names if f"{name}, nobody trusted" not in ASKED)
    made[1].text(0.02, 0.02, f"{unmet}: no method", transform=made[1].transAxes, fontsize=9)
    label_outer(made, "ε", f"people needed for errors in only {100 * ERROR:g} %")
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    note(
        figure,
        f"{100 * ERROR:g}\N{NO-BREAK SPACE}% wrong: of the pairs in an order, of the winners, of the items in a top 3, "
        f"or of the tests that should see agreement. ×: how many times as many people as with trust, for an "
        f"{_NAMES[_TIMES]}.",
    )
    return figure


def _dearer(people: pd.DataFrame) -> pd.DataFrame:
    """How many times as many people it takes without trust: a row an epsilon, a column a question; nan if unknown."""
    wide = people.pivot(index="epsilon", columns="asked", values="people")
    both = [name for name in wide if f"{name}, nobody trusted" in wide]
    times = pd.DataFrame({name: wide[f"{name}, nobody trusted"] / wide[name] for name in both})
    return times.where(times < math.inf)


def _told(frame: pd.DataFrame) -> str:
    """The message: without trust, at the middle epsilon for which a question has both."""
    times = _dearer(frame).dropna(how="all")
    if times.empty:
        return f"Without trust {MOST:,.0f} people are too few at every ε shown"
    row = times.iloc[len(times) // 2].dropna()
    low, high = (f"{float(f'{it:.2g}'):,g}" for it in (row.min(), row.max()))
    span = low if low == high else f"{low} to {high}"
    return f"Without trust, ε = {times.index[len(times) // 2]:g} takes {span} times the people"


def numbers(frame: pd.DataFrame, items: int, epsilon: float) -> dict[str, str]:
    """Of an epsilon, as text: ballots that are needed, and how many times as many pairs and items without trust."""
    at = frame[frame["epsilon"] == epsilon].set_index("asked")["people"]
    found = {"ballots": rounded(at["ballots"]), "local": rounded(at["ballots, nobody trusted"])}
    for name, short in (("pairs", "pairs"), ("top 3", "top")):
        dearer = at[f"{name}, nobody trusted"] / at[name]
        found[f"alone-{short}"] = f"{float(f'{dearer:.2g}'):,g}" if dearer < math.inf else "endlessly many"
    return found | {"items": f"{items}", "epsilon": f"{epsilon:g}"}


def _write_times(axes: Axes, people: pd.DataFrame) -> None:
    """Above the line of `_TIMES`, how many times as many people it takes as with trust."""
    for epsilon, alone, seen in people[[f"{_TIMES}, nobody trusted", _TIMES]].itertuples():
        if alone < math.inf:
            axes.annotate(f"× {alone / seen:,.0f}", (epsilon, alone), (3, 6), textcoords="offset points", fontsize=9)
