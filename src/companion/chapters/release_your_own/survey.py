"""The staff survey on its way: what the strict reader refuses, what a bound on answers costs, the minister's page."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.release_your_own.terminal import Session, folder, repeatable
from companion.instruments.style import BAR, COLOURS, key, note, panels, styled
from companion.instruments.sweep import stream
from dprank.data.comparisons import Comparisons, read_comparisons
from dprank.data.counting import win_counts
from dprank.data.declaration import Declaration, Intake
from dprank.data.examples import example
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.publication import gain, read_publication
from dprank.release import Ranking
from dprank.report import report

ITEMS = ("Pay", "Hours", "Training", "Leave", "Equipment", "Canteen")
#: Who might have taken part: a public number.
PEOPLE = 400
MEANT = {"left": 1.0, "right": 0.0, "equal": 0.5}
MISSPELT = {"Traning": "Training", "Cantine": "Canteen", "Equipement": "Equipment"}
COLUMNS: dict[str, Any] = {"voter": "person", "first": "left", "second": "right", "outcome": "answer"}


def refusals() -> pd.DataFrame:
    """What the strict reader of Python says of the file, one repair after the other: ``it says``, ``what one does``."""
    sides = ["left", "right"]

    def renamed(meant: Callable[[str], str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
        return lambda table: table.assign(**{side: table[side].map(meant) for side in sides})

    public = {item.casefold(): item for item in ITEMS}
    repairs: list[tuple[str, Callable[[Any], pd.DataFrame]]] = [
        ("name the separator", lambda _: pd.read_csv(example("staff.csv"), sep=";")),
        ("leave out the gaps", lambda table: table.dropna()),
        ("strip blanks, ignore capitals", renamed(lambda it: public.get(it.strip().casefold(), it))),
        ("correct three words", renamed(lambda it: MISSPELT.get(it, it))),
        ("leave out somebody's own topic", lambda table: table[table[sides].isin(ITEMS).all(axis=1)]),
        ("turn words into numbers", lambda table: table.assign(answer=table.answer.map(MEANT))),
    ]
    table: Any = None
    rows = []
    for does, repair in repairs:
        rows.append((_said(lambda: _strict(table)), does))  # noqa: B023
        table = repair(table)
    _strict(table)  # which it takes
    rows.append(
        (_said(lambda: NoisyCounts.calibrated(epsilon=1.0, n_items=len(ITEMS))), "decide how many answers count")
    )
    return pd.DataFrame(rows, columns=["it says", "what one does"])


def _strict(table: pd.DataFrame | None) -> Comparisons:
    if table is None:
        return read_comparisons(example("staff.csv"), items=ITEMS, **COLUMNS)
    return Comparisons.from_frame(table, items=ITEMS, **COLUMNS)


def _said(door: Callable[[], Any]) -> str:
    try:
        door()
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was refused")


@cache
def intake(mended: bool = True) -> Intake:
    """The survey as it is declared: with the rules and aliases of the chapter, or without."""
    rules: dict[str, Any] = {
        "clean": ("nfkc", "strip", "spaces", "casefold"),
        "aliases": {wrong.casefold(): right.casefold() for wrong, right in MISSPELT.items()},
    }
    columns = ("left", "right", "answer")
    declared = Declaration(
        kind="comparisons", items=ITEMS, person="person", columns=columns, answers=MEANT, **(rules if mended else {})
    )
    return declared.read(example("staff.csv"))


def out_of_order(lead: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """Probability that noise puts behind the item of a pair that leads by so much (negative where it is behind).

    The difference of two discrete Laplace variables of that scale is d with probability ((1-q)/(1+q))^2 q^|d|
    (|d| + (1+q^2)/(1-q^2)), where q = exp(-1/scale); a tie goes either way.
    """
    q = math.exp(-1 / scale)
    far = np.arange(int(np.abs(lead).max(initial=0)) + int(80 * scale) + 2)
    law = ((1 - q) / (1 + q)) ** 2 * q**far * (far + (1 + q * q) / (1 - q * q))
    beyond = np.r_[np.cumsum(law[::-1])[::-1], 0.0]
    size = np.abs(lead)
    behind: NDArray[np.float64] = beyond[size + 1] + law[size] / 2
    return np.where(lead >= 0, behind, 1 - behind)


def wrong_pairs(bounds: Iterable[int] = range(1, 16), epsilon: float = 1.0, surveys: int = 1000) -> pd.DataFrame:
    """How many of the 15 pairs come out against the order of all answers, if so many of a person's count.

    ``epsilon``, ``answers``, ``scale`` (of the noise), ``bounding`` (wrong pairs without noise), ``noise`` (expected,
    with noise; exact), ``others`` (expected, if as many people were drawn anew from these, with replacement) and its
    ``se``.
    """
    data = intake().data
    voters, i, j = np.unique(data.voter), *np.triu_indices(len(ITEMS), 1)
    best_first = np.argsort(-win_counts(data, "net"), kind="stable")
    shares = np.full(len(voters), 1 / len(voters))
    drawn = stream("release your own: people anew", {}).multinomial(len(voters), shares, surveys)
    rows = []
    for bound in bounds:
        mechanism = NoisyCounts.calibrated(epsilon=epsilon, n_items=len(ITEMS), per_person=bound, design="once")
        counted = data.bounded(bound, design="once")
        each = np.zeros((len(voters), len(ITEMS)), np.int64)
        person, won = np.searchsorted(voters, counted.voter), counted.points.astype(np.int64) - 1
        np.add.at(each, (person, counted.first), won)
        np.add.at(each, (person, counted.second), -won)
        each = each[:, best_first]
        here, there = each.sum(axis=0), drawn @ each
        others = out_of_order(there[:, i] - there[:, j], mechanism.scale).sum(axis=1)
        rows.append(
            {
                "epsilon": epsilon,
                "answers": bound,
                "scale": mechanism.scale,
                "bounding": float((here[i] < here[j]).sum()),
                "noise": float(out_of_order(here[i] - here[j], mechanism.scale).sum()),
                "others": float(others.mean()),
                "se": float(others.std(ddof=1) / math.sqrt(surveys)),
            }
        )
    return pd.DataFrame(rows)


def release() -> Ranking:
    """The release that was made in the chapter's terminal."""
    made = read_publication((folder() / "release.json").read_text(encoding="utf-8"))
    if not isinstance(made, Ranking):
        raise TypeError(f"release = {type(made).__name__}; a Ranking is needed")
    return made


def places(made: Ranking, people: int = PEOPLE) -> pd.DataFrame:
    """Of each item, best first: ``item``, its place ``rank`` in the release, and the places that are left open.

    ``lowest`` and ``highest`` by the noise alone; ``lowest drawn`` and ``highest drawn`` if the people were drawn, too.
    """
    table = made.intervals().rename(columns={"place": "rank"})[["item", "rank", "lowest", "highest"]]
    drawn = made.intervals(sampling="persons", persons=people)
    return table.assign(**{f"{side} drawn": drawn[side] for side in ("lowest", "highest")})


def numbers(made: Ranking, refused: pd.DataFrame, curve: pd.DataFrame, people: int = PEOPLE) -> dict[str, str]:
    """Numbers of the chapter's sentences, as text."""
    raw, mended = intake(mended=False), intake()
    took = [len(np.unique(it.data.voter)) for it in (raw, mended)]
    table = places(made, people)
    fixed = table[table.lowest == table.highest]
    guarantee = made.guarantee
    if guarantee is None:
        raise ValueError("guarantee = None; a private release is needed")
    curve = curve.set_index("answers").others
    return {
        "own-rows": f"{raw.rows:,}",
        "own-lost": f"{raw.left_out['an item not declared']:,}",
        "own-kept": f"{mended.kept:,}",
        "own-drawn": f"{int(table['lowest drawn'].iloc[-1])}",
        "own-first-drawn": f"{int(table['highest drawn'].iloc[0])}",
        "own-vanished": str(took[1] - took[0]),
        "own-people": str(took[1]),
        "own-refusals": ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")[len(refused)],
        "own-first": made.ranking[0],
        "own-second": made.ranking[1],
        "own-last": made.ranking[-1],
        "own-fixed": _listed(list(fixed.item)) or "none",
        "own-epsilon": f"{guarantee.epsilon:g}",
        "own-again": f"{1.5 * guarantee.epsilon:g}",
        "own-sure": f"{100 * gain(guarantee.epsilon):.0f} %",
        "own-odds": f"{np.exp(guarantee.epsilon):.2f}",
        "own-best": str(curve.idxmin()),
        "own-worst": str(curve.idxmax()),
        **{f"own-wrong-{bound}": f"{curve[bound]:.2f}" for bound in (1, 3, 5, 8, 15)},
        "own-wrong-worst": f"{curve.max():.2f}",
    }


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def first_lines(lines: int = 5) -> Session:
    """How the file begins, as `head` shows it."""
    text = example("staff.csv").read_bytes().decode("utf-8-sig").splitlines()
    return Session(f"head -{lines} staff.csv", "\n".join(text[:lines]), 0)


def minister() -> HTML:
    """The report as a page of its own looks, in the midst of this one."""
    page = repeatable(report((folder() / "release.json").read_text(encoding="utf-8"), "html"))
    body = page.partition("</style>")[2].removesuffix("</html>\n")
    lower = re.sub(r"<(/?)h2>", r"<\1h4>", re.sub(r"<(/?)h1>", r"<\1h3>", body))
    return HTML(f'<div class="minister">{lower}</div>')


@styled
def draw_wrong_pairs(frame: pd.DataFrame) -> Figure:
    """Expected wrong pairs against the number of answers of a person that count: noise alone, and other people."""
    worst, most = frame.answers[frame.others.idxmax()], frame.answers.max()
    message = f"Counting {worst} of each person's {most} answers gives the worst order"
    figure, (axes,) = panels(message=message, height=3.1)
    look: dict[str, Any] = {"fmt": "o-", "color": COLOURS[0], "label": "with noise and people drawn anew"}
    axes.errorbar(frame.answers, frame.others, BAR * frame.se, **look)
    axes.plot(
        frame.answers,
        frame.noise,
        "s--",
        color=COLOURS[1],
        ms=3.5,
        lw=1.2,
        label="with noise drawn anew, the same people",
    )
    axes.set(ylim=(0, 1.15 * frame.others.max()), xlabel="answers of a person that count")
    axes.set_ylabel("pairs in the wrong order, of 15")
    axes.set_xticks([1, 3, 5, 8, 11, 15])
    key(figure, *axes.get_legend_handles_labels(), columns=2)
    said = f"The noise is that for ε = {frame.epsilon.iloc[0]:g}, however many answers count."
    said = f"Wrong: other than in the order by all answers, without noise. The survey asks about 15 pairs. {said}"
    note(figure, f"{said} Bars: 95 % (the dashed line is exact).")
    return figure


@styled
def draw_places(frame: pd.DataFrame) -> Figure:
    """Places that the noise leaves open, a row an item: a bar for them, the release as a point."""
    fixed = list(frame.item[frame.lowest == frame.highest])
    keep = "keeps" if len(fixed) == 1 else "keep"
    message = f"Only {_listed(fixed)} {keep} one place under noise" if fixed else "No place is certain under noise"
    if len(fixed) == len(frame):
        message = "Every topic keeps one place under noise"
    figure, (axes,) = panels(message=message, height=2.8)
    rows = np.arange(len(frame))
    low, high = frame["lowest drawn"] - 0.12, frame["highest drawn"] + 0.12
    drawn = axes.hlines(rows, low, high, color=COLOURS[5], lw=2.5)
    noise = axes.hlines(rows, frame.lowest - 0.12, frame.highest + 0.12, color=COLOURS[0], lw=9, alpha=0.6)
    (place,) = axes.plot(frame["rank"], rows, "o", color=COLOURS[6], ms=5)
    axes.set_yticks(rows, frame.item)
    axes.set_xticks(range(1, len(frame) + 1))
    axes.set(xlim=(0.6, len(frame) + 0.4), ylim=(len(frame) - 0.5, -0.5), xlabel="place, 1 is to be improved first")
    axes.tick_params(axis="y", length=0)
    key(figure, [place, noise, drawn], ["released", "noise", "noise, and who took part"], columns=3)
    note(
        figure,
        "Bars: the places left open if all ranges of a kind are right together 95 times in 100. Who took part: as if "
        "the people were a sample of many who might have answered.",
    )
    return figure
