"""The explorer of the guide: what a plan takes, what that lost in the arena, and how many people one per cent takes."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from IPython.display import HTML

from companion.chapters.which_method import plans
from companion.chapters.which_method.arena import EPSILONS, FIRST_LOSS, setting_of
from companion.chapters.which_method.contenders import publishable
from companion.chapters.which_method.guide import answers, set_apart
from companion.chapters.which_method.people_needed import rounded
from companion.chapters.which_method.populations import GAP
from companion.chapters.which_method.table import heat_of
from companion.instruments.explorers import Choice, Slider, explorer
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
_START = {"items": 20, "people": 400, "epsilon": 1.0}
_CONTROLS = (
    Choice(
        "have",
        "What you have",
        {
            "ballots": "ballots that rank all items",
            "pairs": "answers about two items; it is public who was asked what",
            "secret": "answers about two items; who was asked what is secret",
            "counts": "how many people have each item",
        },
    ),
    Choice(
        "want",
        "What you want",
        {
            "ranking": "all items in order",
            "strengths": "how strong each item is",
            "winner": "one winner",
            "topk": "the most frequent, a short list",
            "longer": "the most frequent, a longer list",
            "agreement": "whether people agree at all",
        },
    ),
    Choice("protect", "Whom you protect", {"person": "one person, all that they said", "answer": "one answer"}),
    Choice("trust", "Who may see the answers", {"curator": "somebody is trusted", "nobody": "nobody"}),
    Choice("delta", "May a δ be spent?", {"no": "no", "yes": "yes, one in a million"}),
    Choice("camps", "Are camps to be feared?", {"no": "nobody said so", "yes": "yes, 60 % against 40 %"}),
    Slider("items", "items", (5, 20, 100, 1000), _START["items"]),
    Slider(
        "people",
        "people",
        (50, 400, 1000, 10_000, 100_000, 1_000_000),
        _START["people"],
        ("50", "400", "1,000", "10,000", "100,000", "1,000,000"),
    ),
    Slider("epsilon", "ε", EPSILONS, _START["epsilon"]),
)


def packed(arena: pd.DataFrame, planned: pd.DataFrame) -> dict[str, Any]:
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
            f"{row.question} {row.trust} {'yes' if row.delta else 'no'}": row.use for row in answers(arena).itertuples()
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
    """Of a question, see `packed`; the planner supposes ladders, or one Mallows law."""
    here = judged[judged["question"] == question]
    here = here.assign(other=here["data"] != SUPPOSED[question]).sort_values("mean")
    worst = here.groupby([*_SIZE, "trust", "epsilon", "method", "delta", "other"], as_index=False).last()
    found: list[Any] = [[[[] for _ in EPSILONS] for _ in _TRUSTS] for _ in sizes]
    for (*size, trust, epsilon), cell in worst.groupby([*_SIZE, "trust", "epsilon"]):
        line = found[sizes.index(tuple(size))][_TRUSTS.index(trust)][EPSILONS.index(epsilon)]
        for (method, delta), rows in cell.groupby(["method", "delta"]):
            pair = [*rows.itertuples(), *rows.itertuples()][:2]  # of strengths there is one kind of people
            line += [methods.index(method), int(delta > 0)]
            line += [round(_UNIT * number) for row in pair for number in (row.mean, row.se)]
    return found


def _plans(planned: pd.DataFrame, sizes: dict[str, list[tuple[int, ...]]], methods: list[str]) -> dict[str, Any]:
    """See `packed`; by question and what is told, trust and delta in a line of words."""
    found: dict[str, Any] = {}
    for (question, told, trust, delta), rows in planned.groupby(["question", "told", "trust", "delta"]):
        lines: list[Any] = [[0 for _ in EPSILONS] for _ in sizes[question]]
        for row in rows.itertuples():
            second = [methods.index(row.second), int(row.second_spends), _exact(row.second_error)] if row.second else []
            people = row.needed if math.isfinite(row.needed) else 0
            told_here = [methods.index(row.use), int(row.spends), _exact(row.error), int(people), *second]
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


def finder(arena: pd.DataFrame, planned: pd.DataFrame) -> HTML:
    """The explorer; without JavaScript what it says at its start."""
    everything = planned
    start = ("consensus", _START["items"], _START["people"], "curator", _START["epsilon"])
    where = dict(zip(("question", "items", "people", "trust", "epsilon"), start, strict=True))
    lost = arena[(arena["loss"] == "pairs") & (arena["delta"] == 0) & arena["method"].map(publishable).astype(bool)]
    for name, value in where.items():
        lost, planned = lost[lost[name] == value], planned[planned[name] == value]
    plan = planned[(planned["told"] == "") & (planned["delta"] == 0)].iloc[0]
    crowd = lost[lost["data"] == SUPPOSED["consensus"]].sort_values("mean").set_index("method")
    said = lambda name: f"{name}, {_percent(crowd.loc[name])} {MEANS['consensus']}"  # noqa: E731
    return explorer(
        "finder",
        "guide",
        _CONTROLS,
        packed(arena, everything),
        title="Which method, which ε, what does it cost?",
        said=f"{where['items']} items, {where['people']} people, ε = {where['epsilon']:g}: {said(plan['use'])}. Second: "
        f"{said(plan['second'])}. For 1 %: {rounded(plan['needed'])} people.",
        table=(100 * crowd[["mean", "se"]]).round(1).rename_axis("method").reset_index().to_html(index=False, border=0),
    )


def _percent(row: pd.Series) -> str:
    return f"{100 * row['mean']:.1f} ± {100 * row['se']:.1f}"
