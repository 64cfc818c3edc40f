"""Against others: what other packages lose, and how long they take, at the arena's questions, beside ours.

Same people, same privacy, same run. The table is committed, since a build need not have the others: `make peers` makes
it. OpenDP draws from the operating system, so a row made again is another draw of the same law.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import NDArray

from companion.chapters.which_method import arena, table
from companion.chapters.which_method.advice import called, plan_for, standing
from companion.chapters.which_method.contenders import DELTA, order_of
from companion.chapters.which_method.peer_calls import peers
from companion.instruments.style import COLOURS, key, note, on_phone, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.files import find_root
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.privacy.noise import SECURE

__all__ = [
    "BARS",
    "BUDGETS",
    "HEATS",
    "beaten",
    "call",
    "contest",
    "counted",
    "draw_ratios",
    "in_words",
    "load",
    "measured",
    "ratio",
    "rivals",
    "verdict",
    "write",
]

Heat = Mapping[str, Any]

#: Epsilon and delta.
BUDGETS = ((0.2, 0.0), (1.0, 0.0), (5.0, 0.0), (1.0, DELTA))
_SIZES: dict[str, list[dict[str, int]]] = {
    "topk": [
        {"items": 5, "people": 50, "answers": 1, "k": 1},
        {"items": 100, "people": 400, "answers": 5, "k": 5},
        {"items": 1000, "people": 10_000, "answers": 5, "k": 10},
    ],
    "ranking": [
        {"items": 5, "people": 400, "answers": 3},
        {"items": 20, "people": 400, "answers": 5},
        {"items": 100, "people": 10_000, "answers": 10},
    ],
    "consensus": [
        {"items": 5, "people": 400},
        {"items": 20, "people": 400},
        {"items": 100, "people": 10_000},
    ],
}
_DATA = {"topk": ("ladder", "Zipf"), "ranking": ("ladder", "two camps"), "consensus": ("Mallows", "two camps")}
#: Small, middle and large heats of the arena.
HEATS = [
    {"question": question, "data": data, **size}
    for question, sizes in _SIZES.items()
    for data in _DATA[question]
    for size in sizes
]
#: Standard errors of an interval: of some hundreds of ratios about one is wrongly said to differ from 1.
BARS = 3.0
#: How often the heats of so many items are repeated.
REPETITIONS = {5: 300, 20: 200, 100: 40, 1000: 60}
#: Whose second a call is, and so has fewer repetitions, from so many items on.
SLOW, MANY = "corankco", 20
_LABELS = ("epsilon", "delta", "name", "than")
_CELL = [*table.HEAT, "epsilon", "delta"]

_COLUMNS = [
    *_CELL, "peer", "versions", "repetitions", "theirs", "theirs_se",
    *(f"{column}{name}" for name in ("plan", "best") for column in ("", "ratio_", "low_", "high_")),
    "plan_se", "best_se", "plan_is", "best_is", "slower", "slower_low", "slower_high", "first_slower",
]  # fmt: skip


class Interval(NamedTuple):
    """Of a ratio; nan where nobody errs, and unbounded above where the denominator may be 0."""

    ratio: float
    low: float
    high: float


def ratio(theirs: float, ours: float, variances: tuple[float, float, float], bars: float = BARS) -> Interval:
    """Fieller's interval of a ratio of two means; `variances` of theirs, of ours and of the difference.

    All ratios r for which theirs - r * ours is within so many of its own standard errors of 0.
    """
    if theirs == ours == 0:
        return Interval(math.nan, 0.0, math.inf)
    of_theirs, of_ours, of_difference = variances
    both = (of_theirs + of_ours - of_difference) / 2
    a, half, c = ours**2 - bars**2 * of_ours, theirs * ours - bars**2 * both, theirs**2 - bars**2 * of_theirs
    root = math.sqrt(max(half**2 - a * c, 0.0))
    middle = theirs / ours if ours else math.inf
    if a > 0:
        return Interval(middle, max((half - root) / a, 0.0), (half + root) / a)
    if c <= 0:
        return Interval(middle, 0.0, math.inf)
    # the positive root, also for a = 0; without one no ratio is large enough
    return Interval(middle, c / (half + root) if half + root > 0 else math.inf, math.inf)


# --- the run ---------------------------------------------------------------------------------------------------------


def rivals(heat: Heat, epsilon: float, delta: float) -> dict[str, tuple[str, Any]]:
    """Name and mechanism of ours: "plan", whom a plan recommends, and "best", who loses least in the arena's table."""
    entered = {label: made for label, made in arena.entered(heat, epsilon) if label[2] == "curator"}
    choice = plan_for(heat, epsilon, delta, "curator").best
    plan = (epsilon, float(choice.parameters.get("delta") or 0.0), "curator", called(choice))
    if plan not in entered:  # it spends no delta, though it might
        plan = (epsilon, 0.0, "curator", called(choice))
    frame = _arena()
    seen = frame[(frame["epsilon"] == epsilon) & (frame["trust"] == "curator")]
    for column, value in heat.items():
        seen = seen[seen[column] == value]
    seen = standing(seen, delta).sort_values("mean")
    labels = [label for label in map(table.label_of, seen.to_dict("records")) if label in entered]
    return {name: (label[3], entered[label]) for name, label in (("plan", plan), ("best", [*labels, plan][0]))}


@cache
def _arena() -> pd.DataFrame:
    """The table of the arena."""
    return table.load()


def contest(
    *, repetitions: int, rng: np.random.Generator, only: str | None = None, **heat: Any
) -> dict[tuple[Any, ...], NDArray[np.float64]]:
    """Losses by `_LABELS`, of ours and of all peers or those of one package; and how much more peers lose `than` ours.

    In every repetition all see the same people.
    """
    found: dict[tuple[Any, ...], NDArray[np.float64]] = {}
    field = [
        (budget, rivals(heat, *budget), [peer for peer in peers(heat, *budget) if _asked(heat, peer.packages, only)])
        for budget in BUDGETS
    ]
    root = int(rng.integers(2**63))
    streams: dict[tuple[Any, ...], np.random.Generator] = {}

    def loss(budget: tuple[float, float], name: str, mechanism: Any, data: Any) -> float:
        label = (*budget, name)
        stream = streams.setdefault(label, np.random.default_rng([root, zlib.crc32(json.dumps(label).encode())]))
        return arena.lost_by(heat, mechanism, data, stream)[arena.FIRST_LOSS[heat["question"]]]

    for repetition in range(repetitions):
        data = arena.data_of(heat, rng)
        for budget, ours, others in field:
            mine = {name: loss(budget, name, mechanism, data) for name, (_, mechanism) in ours.items()}
            theirs = {peer.name: loss(budget, peer.name, peer, data) for peer in others}
            seen = {(name, ""): value for name, value in (mine | theirs).items()}
            seen |= {(peer, name): theirs[peer] - mine[name] for peer in theirs for name in mine}
            for label, value in seen.items():
                found.setdefault((*budget, *label), np.empty(repetitions))[repetition] = value
    return found


def _asked(heat: Heat, packages: tuple[str, ...], only: str | None) -> bool:
    """Whether a peer takes part in a run of all but the slow, or of one package only."""
    return only in packages if only else not (SLOW in packages and heat["items"] >= MANY)


def measured(heat: Heat, share: float = 1.0) -> Iterator[dict[str, Any]]:
    """A row a budget and peer: `theirs`, and `plan` and `best`, losses of ours, with ``_se``; ratios with intervals.

    ``plan_is`` and ``best_is``: names of the mechanisms. Of `REPETITIONS` a `share`.
    """
    times, shared = max(2, round(share * REPETITIONS[heat["items"]])), {"experiment": "peers", "outcomes": _LABELS}
    yield from _rows(sweep(contest, [heat], repetitions=times, **shared))  # type: ignore[arg-type]
    if heat["items"] == MANY:
        slow = [dict(heat) | {"only": SLOW}]
        yield from _rows(sweep(contest, slow, repetitions=max(2, times // 10), **shared))  # type: ignore[arg-type]


def _rows(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    frame = frame.reindex(columns=list(dict.fromkeys([*_CELL, "only", *frame.columns]))).drop(columns="only")
    for cell, group in frame.groupby(_CELL, dropna=False):
        row = {key: value for key, value in zip(_CELL, cell, strict=True) if value == value}
        heat = {key: value if isinstance(value, str) else int(value) for key, value in row.items() if key in _CELL[:6]}
        names = {f"{name}_is": label for name, (label, _) in rivals(heat, row["epsilon"], row["delta"]).items()}
        for _, runs in group.groupby("repetitions"):
            seen = runs.set_index(["name", "than"])[["mean", "se"]]
            repeated = int(runs["repetitions"].iloc[0])
            for peer in sorted({name for name, than in seen.index if than}):
                yield row | names | {"peer": peer, "repetitions": repeated} | _compared(seen, peer)


def _compared(seen: pd.DataFrame, peer: str) -> dict[str, float]:
    theirs, row = seen.loc[peer, ""], {}
    row = {"theirs": theirs["mean"], "theirs_se": theirs["se"]}
    for name in ("plan", "best"):
        mine, difference = seen.loc[name, ""], seen.loc[peer, name]
        squares = (theirs["se"] ** 2, mine["se"] ** 2, difference["se"] ** 2)
        found = ratio(theirs["mean"], mine["mean"], squares)
        row |= {name: mine["mean"], f"{name}_se": mine["se"]}
        row |= {f"{key}_{name}": value for key, value in found._asdict().items()}
    return row


def call(heat: Heat, budget: tuple[float, float], name: str) -> Callable[[], Any]:
    """One release of a peer, or of ours by a plan (""), from exact counts on, as one would publish: by secure noise."""
    data = arena.data_of(heat, stream("peers: time", dict(heat)))
    data = data.astype(np.int64) if heat["question"] == "topk" else data
    named = {peer.name: peer for peer in peers(heat, *budget)}
    mechanism = named[name] if name else rivals(heat, *budget)["plan"][1]
    if heat["question"] == "topk":
        return lambda: mechanism.release(data, SECURE)
    return lambda: order_of(mechanism, data, SECURE)  # type: ignore[arg-type]


# --- the page --------------------------------------------------------------------------------------------------------


def path(root: Path | None = None) -> Path:
    """Of the file."""
    return (root or find_root()) / "data" / "peers.csv"


def load(root: Path | None = None) -> pd.DataFrame:
    """A row a cell and peer, see `measured`; ``versions``; ``slower``: seconds over those of ours, with a range."""
    return pd.read_csv(path(root))


def write(frame: pd.DataFrame) -> None:
    """The table."""
    rounded = frame.reindex(columns=_COLUMNS).sort_values([*_CELL, "peer"], ignore_index=True)
    rounded = rounded.astype({"answers": "Int64", "k": "Int64"})
    rounded.to_csv(path(), index=False, float_format="%.6g")


def verdict(frame: pd.DataFrame, whose: str = "plan") -> pd.Series:
    """Who of a row loses less, "ours" or "theirs", by more than `BARS` standard errors; "alike" where neither does."""
    low, high = frame[f"low_{whose}"], frame[f"high_{whose}"]
    return pd.Series(np.select([low > 1, high < 1], ["ours", "theirs"], "alike"), frame.index)


def counted(frame: pd.DataFrame, whose: str = "plan") -> pd.DataFrame:
    """A row a question and peer: ``cells``, and in how many ``ours``, ``theirs`` or neither (``alike``) loses less.

    ``ratio``: the median; ``slower``: the median of heats, from ``least`` to ``most``; ``first``, in a new process.
    """
    judged = frame.assign(verdict=verdict(frame, whose))
    groups = judged.groupby(["question", "peer"], sort=False)
    seen = groups["verdict"].value_counts().unstack(fill_value=0).reindex(columns=["ours", "alike", "theirs"])
    seen = seen.fillna(0).astype(int).assign(cells=groups.size(), ratio=groups[f"ratio_{whose}"].median())
    times = groups["slower"].agg(slower="median", least="min", most="max")
    order = ["cells", "ours", "alike", "theirs", "ratio", "slower", "least", "most", "first"]
    counts = seen.join(times).assign(first=groups["first_slower"].median())[order]
    return counts.reset_index().dropna(axis=1, how="all")


def beaten(frame: pd.DataFrame, whose: str = "plan") -> pd.DataFrame:
    """The rows in which a peer loses less, the clearest first."""
    return frame[verdict(frame, whose) == "theirs"].sort_values(f"high_{whose}", ignore_index=True)


def in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, with a column ``whom`` for all that says which people they are about."""

    def whom(row: Any) -> str:
        more = (f", top {int(row.k)}" if row.get("k", 0) > 0 else "") + (
            f", {int(row.answers)} answers each" if row.get("answers", 0) > 0 else ""
        )
        return f"{row.data}: {row['items']:,} items, {row.people:,} people{more}"

    words = [whom(row) for _, row in rows.iterrows()]
    return rows.assign(whom=words).drop(columns=_CELL[1:6], errors="ignore")


def retried(rows: pd.DataFrame, repetitions: int) -> pd.DataFrame:
    """What `NoisyMatrix` with Copeland's rule loses, ``mean`` and ``se``, in the cells of some rows about ballots.

    Beside it ``theirs`` and ``peer``, the best of the others, and ``best``, the best of ours in the arena.
    """
    cell = ["data", "items", "people", "epsilon", "delta"]
    firsts = rows[rows["question"] == "consensus"].sort_values("theirs").drop_duplicates(cell)
    if firsts.empty:
        return pd.DataFrame(columns=[*cell, "peer", "theirs", "best", "mean", "se"])
    found = sweep(_copeland, firsts[cell].to_dict("records"), experiment="peers: copeland", repetitions=repetitions)
    return firsts[[*cell, "peer", "theirs", "best"]].merge(found.drop(columns="repetitions"), on=cell)


def _copeland(
    *, repetitions: int, rng: np.random.Generator, epsilon: float, delta: float, **heat: Any
) -> NDArray[np.float64]:
    heat |= {"question": "consensus"}
    mechanism = NoisyMatrix.calibrated(epsilon=epsilon, delta=delta, n_items=heat["items"], rule="copeland")
    losses = [arena.lost_by(heat, mechanism, arena.data_of(heat, rng), rng) for _ in range(repetitions)]
    return np.array([loss[arena.FIRST_LOSS["consensus"]] for loss in losses])


_TITLES = {"topk": "the most frequent items", "ranking": "comparisons", "consensus": "ballots"}


@styled
def draw_ratios(frame: pd.DataFrame) -> Figure:
    """Loss of a peer over that of ours by a plan: the middle of all cells of an epsilon, and from least to most."""
    epsilons, reach = sorted(frame["epsilon"].unique()), (1 / 4, 16.0)
    groups = sorted(frame.groupby("question"), key=lambda group: list(_TITLES).index(str(group[0])))
    rows = [part["peer"].nunique() for _, part in groups]
    better, worse = int((frame["low_plan"] > 1).sum()), int((frame["high_plan"] < 1).sum())
    message = "At equal privacy other packages mostly lose more than our guide's choice"
    each = 0.6 + 0.42 * sum(rows) / len(rows)
    shape: dict[str, Any] = {"columns": 1, "sharex": True, "height_ratios": rows}
    figure, made = panels(len(groups), message=message, height=each, **shape)
    for axes, (question, part) in zip(made, groups, strict=True):
        names = sorted(part["peer"].unique(), reverse=True)
        for (peer, epsilon), cells in part.groupby(["peer", "epsilon"]):
            number = epsilons.index(epsilon)
            height = names.index(str(peer)) + 0.22 * (1 - number)
            seen = cells["ratio_plan"].dropna().clip(*reach)
            axes.plot([seen.min(), seen.max()], [height, height], color=COLOURS[number], lw=2.2, alpha=0.45)
            axes.plot(seen.median(), height, "o", color=COLOURS[number], ms=4.5)
            if seen.max() == reach[1]:
                axes.plot(reach[1], height, ">", color=COLOURS[number], ms=5, clip_on=False)
        axes.axvline(1, color="#444444", lw=1)
        axes.set(xscale="log", xlim=reach, ylim=(-0.6, len(names) - 0.4), title=_TITLES[str(question)])
        axes.set_yticks(range(len(names)), [name.replace(", ", ",\n").replace(" of all", "\nof all") for name in names])
        axes.tick_params(axis="y", length=0, labelsize=8.5)
        axes.grid(visible=False, axis="y")
    ticks = [1 / 4, 1, 4, 16] if on_phone() else [1 / 4, 1 / 2, 1, 2, 4, 8, 16]
    made[-1].xaxis.set_major_locator(FixedLocator(ticks))
    made[-1].xaxis.set_minor_locator(NullLocator())
    made[-1].set_xticklabels([f"1/{1 / it:.0f}" if it < 1 else f"{it:g}" for it in ticks])
    made[-1].set_xlabel("loss of the other over loss\nof the recommended method")
    handles = [made[0].plot([], [], "o-", color=COLOURS[i])[0] for i in range(len(epsilons))]
    dot, bar = (made[0].plot([], [], look, color="0.4")[0] for look in ("o", "-"))
    key(figure, [*handles, dot, bar], [*(f"ε = {e:g}" for e in epsilons), "middle case", "from least to most"])
    note(
        figure,
        "Case: another package on people of one kind and number, at one ε and δ. "
        f"Of {len(frame)} cases others lose more in {better} and less in {worse}, by more than {BARS:g} standard "
        f"errors; in the rest no difference is sure. Arrow: beyond {reach[1]:g}. Loss: the share of the most frequent "
        "items that is missed, or of pairs in the wrong order.",
    )
    return figure
