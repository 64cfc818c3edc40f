"""Pictures of the road: what is found, what the mechanism does, what one record moves, what each release costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from companion.chapters.private_top_k.approximate import gumbel_scale
from companion.chapters.private_top_k.pure import WORST_MOVE, supremum
from companion.chapters.private_top_k.recall import zipf
from companion.instruments.style import BAR, CALIBRATION, COLOURS, key, name_lines, note, on_phone, panels, styled
from companion.instruments.topk import printed_scale, theorem_2_1
from dprank.topk.oneshot import Oneshot

Floats = NDArray[np.float64]

#: The hospital of the road's first page: diagnoses, how often the commonest, how many are published, delta.
DIAGNOSES, COMMONEST, PUBLISHED, DELTA = 1400, 20_000, 20, 1e-6
_FOUND = {
    "Gumbel noise": CALIBRATION["net wins"],
    "Laplace, Theorem 2.1": {"color": COLOURS[0], "marker": "^", "linestyle": "--"},
    "Laplace, Theorem 2.2": CALIBRATION["as printed"],
}
#: Drawn against k.
_BY_K = {
    "Gumbel noise": _FOUND["Gumbel noise"],
    "Laplace, our proof": CALIBRATION["corrected"],
    "Laplace, Theorem 2.1": _FOUND["Laplace, Theorem 2.1"],
    "Laplace, Theorem 2.2": _FOUND["Laplace, Theorem 2.2"],
}
#: Where names stand on the lines of `draw_found`.
_PLACES = {"Gumbel noise": (0.05, 18.9), "Laplace, Theorem 2.1": (0.175, 13.9), "Laplace, Theorem 2.2": (0.6, 10.9)}
_RELEASES = {
    "set": "the items",
    "list": "the items, in order",
    "set, fresh values": "the items, and their counts",
}
#: How a record may move five counts, in either meaning.
_BEFORE = (12, 10, 9, 7, 5)
_MOVES = {"added or removed: all one way": (1, 0, 1, 1, 0), "replaced: any direction": (1, -1, 1, 0, -1)}


def found(
    epsilons: Iterable[float],
    repetitions: int = 1000,
    seed: int = 7,
    *,
    items: int = DIAGNOSES,
    k: int = PUBLISHED,
    delta: float = DELTA,
) -> pd.DataFrame:
    """How many of the true k are found, any direction: ``epsilon``, ``k``, ``mechanism``, ``mean``, ``se``.

    All epsilons share the noise of one seed, so that curves are smooth; each mean is that of `repetitions` releases.
    """
    noise = _noise(repetitions, items, seed)
    rows = [
        (epsilon, k, name, *_mean(_hits(noise, _scale(name, k, epsilon, delta, items), name, k)))
        for epsilon in epsilons
        for name in _FOUND
    ]
    return pd.DataFrame(rows, columns=["epsilon", "k", "mechanism", "mean", "se"])


def found_by_k(
    ks: Iterable[int],
    epsilon: float,
    repetitions: int = 200,
    seed: int = 7,
    *,
    items: int = DIAGNOSES,
    delta: float = DELTA,
) -> pd.DataFrame:
    """Share of the true k that is found, of the same hospital: ``k``, ``epsilon``, ``mechanism``, ``mean``, ``se``."""
    noise = _noise(repetitions, items, seed)
    rows = [
        (k, epsilon, name, *_mean(_hits(noise, _scale(name, k, epsilon, delta, items), name, k) / k))
        for k in ks
        for name in _BY_K
    ]
    return pd.DataFrame(rows, columns=["k", "epsilon", "mechanism", "mean", "se"])


def numbers(
    one: pd.DataFrame, lists: pd.DataFrame, *, epsilon: float, items: int, k: int, delta: float
) -> dict[str, str]:
    """What the road says of `found` and `found_by_k`, as it is printed."""
    at = one[one.epsilon == epsilon].set_index("mechanism")["mean"]
    longest = lists[lists.k == lists.k.max()].set_index("mechanism")["mean"]
    said = {"gumbel": "Gumbel noise", "pure": "Laplace, Theorem 2.1", "main": "Laplace, Theorem 2.2"}
    shares = {"gumbel": "Gumbel noise", "ours": "Laplace, our proof", "main": "Laplace, Theorem 2.2"}
    return (
        {"topk-epsilon": f"{epsilon:g}", "topk-items": f"{items:,}", "topk-k": f"{k}"}
        | {"topk-useful-from": f"{int(16 * np.log(items / delta)):,}"}
        | {f"found-{key}": f"{at[name]:.1f}" for key, name in said.items()}
        | {"recall-k": f"{lists.k.max()}"}
        | {f"recall-{key}": f"{100 * longest[name]:.0f} %" for key, name in shares.items()}
    )


def _noise(repetitions: int, items: int, seed: int) -> dict[str, Floats]:
    """Standard noise of many releases, by the first word of a mechanism."""
    rng = np.random.default_rng(seed)
    return {"Gumbel": rng.gumbel(size=(repetitions, items)), "Laplace": rng.laplace(size=(repetitions, items))}


def _scale(name: str, k: int, epsilon: float, delta: float, items: int) -> float:
    match name:
        case "Gumbel noise":
            return gumbel_scale(k, epsilon, delta)
        case "Laplace, Theorem 2.1":
            return theorem_2_1(k, epsilon)
        case "Laplace, Theorem 2.2":
            return printed_scale(k, epsilon, delta, items)
    return Oneshot.calibrated(epsilon=epsilon, delta=delta, k=k).scale


def _hits(noise: dict[str, Floats], scale: float, name: str, k: int) -> NDArray[np.int64]:
    """How many of the k largest counts each release publishes."""
    drawn = noise[name.split(",")[0].split()[0]]
    noisy = zipf(drawn.shape[1], COMMONEST) + scale * drawn
    return (np.argpartition(-noisy, k, axis=1)[:, :k] < k).sum(1)


def _mean(hits: NDArray[Any]) -> tuple[float, float]:
    return float(hits.mean()), float(hits.std(ddof=1) / len(hits) ** 0.5)


def epsilon_for(frame: pd.DataFrame, mechanism: str, share: float = 0.9) -> float:
    """Epsilon at which a mechanism finds a share of the list, between the points of `found`; nan outside of them."""
    part = frame[frame.mechanism == mechanism]
    wanted, means = share * part.k.iloc[0], part["mean"].cummax()
    if not means.iloc[0] <= wanted <= means.iloc[-1]:
        return float("nan")
    return float(np.exp(np.interp(wanted, means, np.log(part.epsilon))))


def _headline(frame: pd.DataFrame, most: int, few: float, many: float) -> str:
    """What `draw_found` shows: where both reach `most`, or which finds how many where one does not."""
    if few < many:
        return f"Gumbel noise finds {most} of {frame.k.iloc[0]} at smaller ε than Theorem 2.2"
    middle = frame[frame.epsilon == min(frame.epsilon, key=lambda it: abs(it - 0.2))].set_index("mechanism")["mean"]
    gumbel, main = (f"{middle[name]:.1f}" for name in ("Gumbel noise", "Laplace, Theorem 2.2"))
    return f"Gumbel noise finds {gumbel} of {frame.k.iloc[0]} where Theorem 2.2 finds {main}"


@styled
def draw_found(frame: pd.DataFrame) -> Figure:
    """Items found against epsilon, the names on the lines."""
    k = int(frame.k.iloc[0])
    most = round(0.9 * k)
    few, many = (epsilon_for(frame, name, most / k) for name in ("Gumbel noise", "Laplace, Theorem 2.2"))
    figure, (axes,) = panels(message=_headline(frame, most, few, many), height=3.2)
    # names have their places on the lines of the book's own twenty
    placed = k == PUBLISHED and not on_phone()
    for name, part in frame.groupby("mechanism", sort=False):
        look = _FOUND[str(name)]
        said = str(name) if placed else str(name).replace("Theorem 2.2", "Theorem 2.2 (main)")
        axes.errorbar(part.epsilon, part["mean"], BAR * part.se, capsize=2, label=said, **look)
        if placed:
            words = said.replace(", ", ",\n").replace("2.2", "2.2\n(main)")
            axes.text(*_PLACES[str(name)], words, color=look["color"], va="center", fontsize=9)
    axes.axhline(most, color="black", lw=1, ls=":")
    axes.text(5.2, 0.98 * most, f"{most} of {k}", ha="right", va="top", fontsize=9)
    for epsilon, name, text in ((few, "Gumbel noise", f"{few:.2f}"), (many, "Laplace, Theorem 2.2", f"{many:.1f}")):
        if np.isfinite(epsilon):
            axes.plot([epsilon, epsilon], [0, most], color=_FOUND[name]["color"], lw=1, ls=":")
            axes.text(1.05 * epsilon, 0.015 * k, f"ε = {text}", color=_FOUND[name]["color"], fontsize=9)
    if not placed:
        key(figure, *axes.get_legend_handles_labels())
    axes.set(xscale="log", xlabel="ε, the privacy lost (less is better)", ylim=(0, 1.03 * k))
    axes.set_ylabel(f"found, of the true {k}")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    ticks = [0.05, 0.1, 0.2, 0.5, 1, 2, 5]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    note(figure, "Bars: 95 %.")
    return figure


def one_release(k: int = 5, scale: float = 20.0, seed: int = 5) -> pd.DataFrame:
    """One pass of Algorithm 1 over twelve counts: ``place``, ``count``, ``noisy``, ``chosen``."""
    counts = zipf(12, 300)
    noisy = counts + np.random.default_rng(seed).laplace(scale=scale, size=len(counts))
    return pd.DataFrame(
        {"place": np.arange(1, 13), "count": counts, "noisy": noisy, "chosen": noisy >= np.sort(noisy)[-k]}
    )


@styled
def draw_one_release(frame: pd.DataFrame) -> Figure:
    """True counts, the noise that each is given, and the line above which they are published."""
    message = f"Every count gets its own noise, once; the {frame.chosen.sum()} highest are published"
    figure, (axes,) = panels(message=message, height=2.6)
    axes.vlines(frame.place, frame["count"], frame.noisy, color="grey", lw=1)
    axes.plot(frame.place, frame["count"], "_", color="black", ms=13, mew=1.6, label="true count")
    for chosen, part in frame.groupby("chosen"):
        look: dict[str, Any] = {"color": COLOURS[2]} if chosen else {"color": COLOURS[1], "mfc": "none"}
        label = "with noise: published" if chosen else "with noise: not published"
        axes.plot(part.place, part.noisy, "o", ms=6, label=label, **look)
    line = (frame.noisy[frame.chosen].min() + frame.noisy[~frame.chosen].max()) / 2
    axes.axhline(line, color="black", lw=0.8, ls=":", label="published above")
    axes.set(xlabel="place of the diagnosis in the true order", ylabel="patients")
    axes.set_xticks(frame.place)
    axes.legend(loc="upper right", fontsize=9)
    return figure


def one_record() -> pd.DataFrame:
    """Five counts before and after one record, in both meanings: ``meaning``, ``item``, ``before``, ``after``."""
    rows = [
        (meaning, item, before, before + move)
        for meaning, moves in _MOVES.items()
        for item, before, move in zip("ABCDE", _BEFORE, moves, strict=True)
    ]
    return pd.DataFrame(rows, columns=["meaning", "item", "before", "after"])


@styled
def draw_one_record(frame: pd.DataFrame) -> Figure:
    """Counts on a line before (open) and after (filled) one record, a panel a meaning."""
    apart = (frame.after - frame.before).groupby(frame.meaning).agg(np.ptp)
    message = f"One record that replaces another can move two counts apart by {apart.max()}"
    figure, made = panels(2, message=message, height=2.3)
    titles = ("Added (if removed: arrows reversed)", "Replaced: any direction")
    for axes, title, (_, part) in zip(made, titles, frame.groupby("meaning", sort=False), strict=True):
        for row, (item, before, after) in enumerate(part[["item", "before", "after"]].itertuples(index=False)):
            colour = {1: COLOURS[2], 0: "grey", -1: COLOURS[1]}[after - before]
            axes.plot(before, -row, "o", color=colour, mfc="none", ms=7)
            if after != before:
                arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", (after, -row), (before, -row), arrowprops=arrow)
            axes.text(3.6, -row, item, va="center", ha="center")
        first, second = part.iloc[0], part.iloc[1]
        ends = (second.after, first.after)
        axes.plot(np.repeat(ends, 2)[[0, 1, 3, 2]], [-0.75, -0.5, -0.5, -0.25], color="black", lw=1)
        gaps = f"gap {first.before - second.before} → {first.after - second.after}"
        axes.text(ends[1] + 0.2, -0.6, gaps, va="center", fontsize=9)
        axes.set(xlim=(3.2, 16), ylim=(-4.7, 0.7), yticks=[], ylabel="diagnosis", xlabel="patients", title=title)
        axes.set_xticks(range(4, 16))
    return figure


def price_list(m: int = DIAGNOSES, k: int = PUBLISHED) -> pd.DataFrame:
    """Most a release loses, noise of Theorem 2.1, over the promise: ``release``, ``adjacency``, ``times``."""
    rows = [(r, how, supremum(r, m, k, how) / (2 * k)) for r in _RELEASES for how in WORST_MOVE]
    return pd.DataFrame(rows, columns=["release", "adjacency", "times"])


@styled
def draw_price_list(frame: pd.DataFrame) -> Figure:
    """Bars of the largest loss over the promise, two for a release, their meaning of a record on them."""
    most = frame.times.max()
    message = f"Publishing the order costs nothing more; counts can cost {most:g} times ε"
    figure, (axes,) = panels(message=message, height=2.8)
    for row in frame.itertuples():
        place = list(_RELEASES).index(row.release) + (0.2 if row.adjacency == "any direction" else -0.2)
        colour = COLOURS[1 if row.times > 1 else 2]
        axes.barh(place, row.times, height=0.36, color=colour, alpha=0.35)
        axes.text(max(row.times, 1) + 0.03, place, f"{row.times:g} ε, {row.adjacency}", va="center", fontsize=9)
    axes.axvline(1, color="black", lw=1.2)
    axes.set_yticks(range(len(_RELEASES)), [label.replace(", ", ",\n") for label in _RELEASES.values()])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(
        xlim=(0, most + (1.5 if on_phone() else 0.5)),
        xlabel="largest loss over the promised ε",
        ylabel="what is published",
    )
    return figure


_PROOFS = "Laplace noise: as much as two theorems of Qiao et al., or our proof, show to be enough."
_MOVED = "standard deviation of the noise,\nover the most that a value moves"
_NAMED = {
    "Laplace, Theorem 2.1": ("Laplace, Theorem 2.1", COLOURS[0], "--"),
    "Laplace, Theorem 2.2": ("Laplace, Theorem 2.2", COLOURS[1], "-"),
    "Laplace, our bound": ("Laplace, our proof", COLOURS[0], "-"),
    "Gumbel, zCDP or pure": ("Gumbel", COLOURS[2], "-"),
    "exponential, pure": ("exponential", COLOURS[3], "-."),
}


@styled
def draw_needs(frame: pd.DataFrame) -> Figure:
    """Noise that five promises ask for, drawn once, against k: a panel of `approximate.scales`, names on the lines."""
    message = "From a handful of items on, the least noise is Gumbel noise"
    figure, (axes,) = panels(message=message, height=3.4)
    part = frame[(frame.panel == "oneshot") & frame.mechanism.isin(_NAMED)]
    for mechanism, rows in part.groupby("mechanism", sort=False):
        name, colour, style = _NAMED[str(mechanism)]
        axes.plot(rows.k, rows.sd, color=colour, ls=style, marker="o", ms=3, label=name)
    axes.set(xscale="log", yscale="log", xlabel="items selected, $k$", ylabel=_MOVED)
    axes.set_xticks(sorted(part.k.unique()), [f"{k:g}" for k in sorted(part.k.unique())])
    axes.minorticks_off()
    if on_phone():
        key(figure, *axes.get_legend_handles_labels(), columns=2)
    else:
        name_lines(axes, width=30)
    epsilon, delta = part[["epsilon", "delta"]].iloc[0]
    note(figure, f"{_PROOFS} ε = {epsilon:g}, δ = 1/{1 / delta:,.0f}.")
    return figure


@styled
def draw_recall_by_k(frame: pd.DataFrame) -> Figure:
    """Share of the list found against its length: four mechanisms of `found_by_k`, names beside the last points."""
    longest = frame[frame.k == frame.k.max()].set_index("mechanism")
    ahead = longest["mean"]["Gumbel noise"] - longest["mean"]["Laplace, our proof"]
    clear = ahead > BAR * np.hypot(longest.se["Gumbel noise"], longest.se["Laplace, our proof"])
    said = "Gumbel noise keeps more of a long list than" if clear else "Gumbel noise keeps about as much of the list as"
    message = f"{said} Laplace noise"
    figure, (axes,) = panels(message=message, height=3.2)
    part = frame.sort_values("k", kind="stable")
    for name, rows in part.groupby("mechanism", sort=False):
        axes.errorbar(
            rows.k, rows["mean"], BAR * rows.se, capsize=2, clip_on=False, label=str(name), **_BY_K[str(name)]
        )
    axes.set(
        xscale="log",
        xlim=(0.95 * part.k.min(), part.k.max()),
        ylim=(0, 1.03),
        xlabel="items selected, $k$",
        ylabel="share of the true top $k$ found",
    )
    axes.set_xticks(sorted(part.k.unique()), [f"{k:g}" for k in sorted(part.k.unique())])
    axes.minorticks_off()
    if on_phone():
        key(figure, *axes.get_legend_handles_labels(), columns=2)
    else:
        name_lines(axes, width=22)
    note(figure, f"{_PROOFS} Bars: 95 %.")
    return figure
