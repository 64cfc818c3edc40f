"""The explorer of the guide: what a plan takes, what that lost in the arena, and how many people one per cent takes."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from IPython.display import HTML

from companion.chapters.which_method import plans
from companion.chapters.which_method.arena import EPSILONS, FIRST_LOSS, setting_of
from companion.chapters.which_method.contenders import publishable
from companion.chapters.which_method.guide import set_apart
from companion.chapters.which_method.people_needed import rounded
from companion.chapters.which_method.populations import GAP
from companion.chapters.which_method.table import heat_of
from companion.instruments.explorers import Choice, Slider, Whole, explorer
from dprank.plan.tags import TAGS

__all__ = ["MEANS", "SUPPOSED", "finder", "packed"]

_SIZE = ["items", "people", "answers", "k"]
_TRUSTS = ("curator", "nobody")
#: Kind of people that a plan supposes.
SUPPOSED = plans.SUPPOSED | {"strengths": "ladder"}
#: Losses are carried as whole millionths.
_UNIT = 1e6
#: What each loss is, after a number.
MEANS = {
    "ranking": "% of pairs in the wrong order",
    "strengths": "off in log-strengths",
    "consensus": "% of pairs in the wrong order",
    "winner": "% chance to name another winner",
    "topk": "% of the list missed",
    "agreement": "% chance to miss that people agree",
}
_START: dict[str, Any] = {"items": 20, "people": 400, "epsilon": 1.0}
_CONTROLS = (
    Choice(
        "have",
        "You have",
        {
            "ballots": "ballots that rank all items",
            "pairs": "answers about two items; it is public who was asked what",
            "secret": "answers about two items; it is secret who was asked what",
            "counts": "how many people have each item",
        },
    ),
    Choice(
        "want",
        "You want",
        {
            "ranking": "an order",
            "strengths": "strengths",
            "winner": "one winner",
            "topk": "a short list",
            "longer": "a longer list",
            "agreement": "agreement?",
        },
    ),
    Choice("protect", "You protect", {"person": "one person", "answer": "one answer"}),
    Choice("trust", "Is trusted", {"curator": "somebody", "nobody": "nobody"}),
    Choice("delta", "May spend a δ", {"no": "no", "yes": "of 10⁻⁶"}),
    Choice("camps", "Told of camps", {"no": "no", "yes": "60 % : 40 %"}),
    Whole("items", "items", 2, 1_000, _START["items"]),
    Whole("people", "people", 2, 10_000_000, _START["people"]),
    Slider("epsilon", "ε", EPSILONS, _START["epsilon"]),
)


def packed(arena: pd.DataFrame, planned: pd.DataFrame, answers: pd.DataFrame) -> dict[str, Any]:
    """What the explorer carries: sizes, plans of them, and what all that can be published lost in the arena.

    ``measured[question][size][trust][epsilon]`` has six whole numbers a method: its place in ``methods``, whether it
    spends a delta, mean and standard error on the people that a plan supposes, and the same on those of the other kinds
    that are worst for it, in millionths. ``plans[question][told][trust][delta][size][epsilon]`` has the place of the
    method, whether it spends the delta, what it is expected to lose, the same of the second, and the people needed;
    ``ridges[size][epsilon]`` are those of the perturbed likelihood that is best at strengths.
    """
    judged = arena[(arena["loss"] == arena["question"].map(FIRST_LOSS)) & ~set_apart(arena)]
    judged = judged[judged["method"].map(publishable).astype(bool)]
    methods = sorted(set(judged["method"]) | set(planned["use"]) | set(planned["second"]) - {""})
    sizes = {
        question: sorted(map(tuple, here[_SIZE].drop_duplicates().to_numpy().tolist()))
        for question, here in judged.groupby("question")
    }
    return {
        "methods": methods,
        "how": {name: [TAGS[name].how, TAGS[name].needs] for name in sorted({it.partition("(")[0] for it in methods})},
        "means": MEANS,
        "epsilons": EPSILONS,
        "sizes": {question: [[*size, _gap(question, size)] for size in each] for question, each in sizes.items()},
        "table": {
            f"{row.question} {row.trust} {'yes' if row.delta else 'no'}": row.use for row in answers.itertuples()
        },
        "measured": {question: _measured(judged, question, each, methods) for question, each in sizes.items()},
        "plans": _plans(planned, sizes, methods),
        "ridges": _ridges(judged, sizes["strengths"]),
    }


def _gap(question: str, size: tuple[int, ...]) -> str:
    """What a plan must be told of the people's lead, "" where it supposes the same unasked."""
    if question in ("topk", "strengths"):
        return ""
    heat = dict(zip(_SIZE, size, strict=True)) | {"question": question, "data": SUPPOSED[question]}
    gap = setting_of(heat_of(heat), 1.0).gap
    return "" if gap == GAP else f"{gap:.3g}"


def _measured(judged: pd.DataFrame, question: str, sizes: list[tuple[int, ...]], methods: list[str]) -> list[Any]:
    """Of a question, see `packed`."""
    here = judged[judged["question"] == question]
    here = here.assign(other=here["data"] != SUPPOSED[question]).sort_values("mean")
    cell = [*_SIZE, "trust", "epsilon", "method", "delta"]
    worst = here.groupby([*cell, "other"], as_index=False).last()  # sorted, what is supposed before the others
    losses: dict[tuple[Any, ...], list[int]] = {}
    for *key, mean, se in worst[[*cell, "mean", "se"]].itertuples(index=False, name=None):
        losses.setdefault(tuple(key), []).extend((round(_UNIT * mean), round(_UNIT * se)))
    found: list[Any] = [[[[] for _ in EPSILONS] for _ in _TRUSTS] for _ in sizes]
    for (*size, trust, epsilon, method, delta), numbers in losses.items():
        line = found[sizes.index(tuple(size))][_TRUSTS.index(trust)][EPSILONS.index(epsilon)]
        line += [methods.index(method), int(delta > 0), *(2 * numbers)[:4]]  # of strengths there is one kind of people
    return found


def _plans(planned: pd.DataFrame, sizes: dict[str, list[tuple[int, ...]]], methods: list[str]) -> dict[str, Any]:
    """See `packed`; by question and what is told, trust and delta in a line of words."""
    found: dict[str, Any] = {}
    for (question, told, trust, delta), rows in planned.groupby(["question", "told", "trust", "delta"]):
        lines: list[Any] = [[0 for _ in EPSILONS] for _ in sizes[question]]
        for row in rows.itertuples():
            second = [methods.index(row.second), int(row.second_spends), _exact(row.second_error)] if row.second else []
            people = int(row.needed) if math.isfinite(row.needed) else 0
            told_here = [methods.index(row.use), int(row.spends), _exact(row.error), people, *second]
            size = (row.items, row.people, row.answers, row.k)
            lines[sizes[question].index(size)][EPSILONS.index(row.epsilon)] = told_here
        found[" ".join(filter(None, (question, told, trust, "yes" if delta else "no")))] = lines
    return found


def _exact(error: float) -> int:
    return round(_UNIT * error)


def _ridges(judged: pd.DataFrame, sizes: list[tuple[int, ...]]) -> list[list[float]]:
    """See `packed`."""
    fitted = judged[judged["method"] == "PerturbedMLE(public_graph=True, ridge=best)"]
    ridge = fitted.assign(ridge=fitted["made"].str.extract(r"ridge=([\d.]+)")[0].astype(float))
    by = ridge.set_index([*_SIZE, "epsilon"])["ridge"]
    return [[by[(*size, epsilon)] for epsilon in EPSILONS] for size in sizes]


def finder(arena: pd.DataFrame, planned: pd.DataFrame, answers: pd.DataFrame) -> HTML:
    """The explorer, of the tables of the arena, of plans and of the guide; without JavaScript what it says at first."""
    start = {"question": "consensus", "trust": "curator", "delta": 0.0} | _START
    crowd = _where(arena[arena["method"].map(publishable).astype(bool)], {"data": "Mallows", "loss": "pairs"} | start)
    lost = crowd.sort_values("mean").set_index("method")[["mean", "se"]] * 100
    [plan] = _where(planned, {"told": ""} | start).to_dict("records")
    said = [
        f"{it}, {lost['mean'][it]:.1f} ± {lost['se'][it]:.1f} {MEANS['consensus']}"
        for it in (plan["use"], plan["second"])
    ]
    return explorer(
        "finder",
        "guide",
        _CONTROLS,
        packed(arena, planned, answers),
        title="Which method, which ε, what does it cost?",
        said=f"{start['items']} items, {start['people']} people, ε = {start['epsilon']:g}: {said[0]}. "
        f"Second: {said[1]}. Without a δ, one error in a hundred takes {rounded(plan['needed'])} people.",
        table=lost.round(1).reset_index().to_html(index=False, border=0),
    )


def _where(frame: pd.DataFrame, values: dict[str, Any]) -> pd.DataFrame:
    """The rows that have these values."""
    return frame[(frame[list(values)] == pd.Series(values)).all(axis=1)]
