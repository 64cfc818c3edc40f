"""The lower bound's map from the cube to rankings, its inverse and the two observations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, cycle, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, key, note, panels, styled
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.aggregation.lower_bounds import Convention, embed, embedded_distance, signs
from dprank.data.kendall import kendall_distances, pairwise_kendall_distances

#: Pairs (d, t) of which all vectors and all rankings are listed.
SMALL = ((1, 0), (1, 1), (1, 2), (1, 6), (2, 0), (2, 1), (2, 2), (2, 4), (3, 0), (3, 1), (3, 2))
#: The two maps that the paper prints.
CONVENTIONS: tuple[Convention, ...] = ("formula", "words")


def all_signs(d: int) -> NDArray[np.int64]:
    """Every vector of d signs, shape (2^d, d)."""
    return np.array(list(product((-1, 1), repeat=d)))


@cache
def least_cost(d: int, middle: int, convention: Convention) -> float:
    """Least cost of a wrong sign for one voter, the worst case: K / h over all rankings and vectors with h > 0.

    h counts the coordinates in which rho of the ranking and x differ. Both K and h are averages over the voters.
    """
    x, rankings = all_signs(d), all_rankings(2 * d + middle)
    cost = pairwise_kendall_distances(rankings, embed(x, middle, convention=convention))
    wrong = (signs(rankings, d)[:, None] != x).sum(-1)
    return float((cost[wrong > 0] / wrong[wrong > 0]).min())


def costs(d: int, middle: int) -> NDArray[np.int64]:
    """Kendall distance of pi^x and pi^y, counted on rankings, by the number 0 .. d of coordinates that differ."""
    x = np.where(np.arange(d) < np.arange(d + 1)[:, None], -1, 1)
    return kendall_distances(embed(x, middle), embed(np.ones(d, int), middle))


def observation_16(d: int, middle: int) -> pd.DataFrame:
    """Cost of pi^y for one voter with pi^x, by the number h of coordinates in which x and y differ.

    Columns: ``d``, ``t``, ``h``, ``cost`` (counted on rankings), ``formula``, ``printed`` (bound of Observation 16),
    ``corrected``.
    """
    h = np.arange(d + 1)
    bounds = {"printed": middle * h + 2 * d * d, "corrected": 2 * middle * h + d * d}
    formula = embedded_distance(h, d, middle)
    return pd.DataFrame({"d": d, "t": middle, "h": h, "cost": costs(d, middle), "formula": formula} | bounds)


def table_16(cases: Iterable[tuple[int, int, int]]) -> pd.DataFrame:
    """Rows of `observation_16` at chosen (d, t, h), with headings for readers."""
    rows = pd.DataFrame([observation_16(d, t).loc[h] for d, t, h in cases]).reset_index(drop=True)
    return rows.drop(columns="formula").rename(columns={"cost": "counted", "corrected": "2th + d²"})


@claim("alabi2022:sec-lower:map")
def check_map(
    dimensions: Iterable[int] = (1, 4), small: Iterable[tuple[int, int]] = ((1, 1), (3, 2)), t: int = 2
) -> Iterator[Check]:
    """Whether the words that follow the formula of the map say the same; Observation 15 needs what they say."""
    for d in dimensions:
        x = all_signs(d)
        words = embed(x, t)
        for y, name, says in ((x, "x", printed), (-x, "−x", amended)):
            same = (embed(y, t, convention="formula") == words).all(1)
            what = f"of the {2**d} vectors x, those whose π^x by words is π^({name}) by formula, d = {d}, t = {t}"
            yield says(what, int(same.sum()), "==", 2**d)
    for d, t in small:
        what = f"d = {d}, t = {t}: least of K(σ, π^x) over Observation 15's bound, π^x by words, all σ and x"
        least = least_cost(d, t, "words")
        yield amended(what, least / t, ">=", 1)
        yield argument(f"the same, d = {d}, t = {t}: (t + (d + 1)/2)/t", least, "==", t + (d + 1) / 2)


@claim("alabi2022:sec-lower:inverse")
def check_inverse(dimensions: Iterable[int] = (1, 2, 5, 8), t: int = 3) -> Iterator[Check]:
    """How many vectors come back through the map and rho: by the formula none."""
    for d in dimensions:
        x = all_signs(d)
        for convention in CONVENTIONS:
            back = signs(embed(x, t, convention=convention), d)
            same = int((back == x).all(1).sum())
            what = f"vectors x with ρ(π^x) = x, π^x by {convention}, d = {d}, t = {t}"
            yield printed(what, same, "==", 2**d, reading=f"π^x by the {convention}")
            sign, turned = ("", x) if convention == "words" else ("−", -x)
            what = f"vectors x with ρ(π^x) = {sign}x, π^x by the {convention}, d = {d}, t = {t}"
            yield amended(what, int((back == turned).all(1).sum()), "==", 2**d)


@claim("alabi2022:obs-15")
def check_obs_15() -> Iterator[Check]:
    """Observation 15 over all rankings of up to eight items."""
    for d, t in SMALL:
        at = f"over (d − ⟨ρ(σ), x⟩)/2 where that is not 0, d = {d}, t = {t}"
        for convention in CONVENTIONS:
            least = least_cost(d, t, convention)
            what = f"least of K(σ, π^x), π^x by {convention}, {at}"
            yield printed(what, least, ">=", t, reading=f"π^x by the {convention}")
        what = f"least of K(σ, π^x), π^x by words, {at}: t + (d + 1)/2 is attained"
        yield amended(what, least_cost(d, t, "words"), "==", t + (d + 1) / 2)


@claim("alabi2022:obs-16")
def check_obs_16(
    cases: Iterable[tuple[int, int]] = ((1, 1), (1, 2), (2, 3), (5, 5), (5, 6), (10, 40)),
) -> Iterator[Check]:
    """Observation 16 where t is below, at and above d."""
    for d, t in cases:
        frame, at = observation_16(d, t), f"d = {d}, t = {t}"
        over = frame.cost - frame.printed
        yield printed(f"most of K(π^y, π^x) − t (d − ⟨y, x⟩)/2 − 2d², {at}", int(over.max()), "<=", 0)
        far = int(frame.cost[d])
        yield argument(f"K(π^y, π^x) for opposite x and y, {at}: d (2t + d)", far, "==", d * (2 * t + d))
        yield argument(f"that difference for opposite x and y, {at}: d (t − d)", int(over[d]), "==", d * (t - d))
        yield amended(f"most of K − t (d − ⟨y, x⟩) − d², {at}", int((frame.cost - frame.corrected).max()), "==", 0)
        equal = int(frame.corrected[0] - frame.cost[0])
        yield argument(f"that bound less K for equal x and y, {at}: d²", equal, "==", d**2)
        right = int((frame.cost == frame.formula).sum())
        yield amended(f"of the {d + 1} values h, those with K = h (2t + 2d − h), {at}", right, "==", d + 1)


def outer_inversions(d: int, extra: bool) -> int:
    """Most pairs, among the items that may move, that two embedded rankings order differently.

    `extra` counts item d + 1 among them, as the paper's set does: an item that never moves.
    """
    places = [*range(d + extra), *range(d + 1, 2 * d + 1)]
    table = np.argsort(np.argsort(embed(all_signs(d), 1)[:, places], axis=1), axis=1)
    return int(pairwise_kendall_distances(table).max())


@claim("alabi2022:sec-lower:outer")
def check_outer(dimensions: Iterable[int] = (1, 2, 4, 6)) -> Iterator[Check]:
    """The sentence between the observations: what the outer items contribute."""
    for d in dimensions:
        more, own, bound = outer_inversions(d, True), outer_inversions(d, False), 2 * d * d
        yield printed(f"inversions within {{1..d+1, d+t+1..2d+t}}, d = {d}, all x, y", more, "<=", bound)
        yield argument(f"the same, d = {d}: exactly d² + 2d", more, "==", d * d + 2 * d)
        yield supplied(f"inversions within {{1..d, d+t+1..2d+t}}, d = {d}", own, "<=", bound)
        yield amended(f"the same, d = {d}: exactly d²", own, "==", d * d)


def best_orders(d: int, middle: int, voters: int) -> pd.DataFrame:
    """The best orders of all votes of so many vectors of signs, an odd number: ``marginal``, its ``signs``, ``read``
    (what rho makes of the best orders, each once) and ``orders`` (which they are).
    """
    x, rankings = all_signs(d), all_rankings(2 * d + middle)
    cost, inverse = pairwise_kendall_distances(rankings, embed(x, middle)), signs(rankings, d)
    rows = []
    for votes in combinations_with_replacement(range(len(x)), voters):
        total, score = x[list(votes)].sum(0), cost[:, list(votes)].sum(1)
        best = np.flatnonzero(score == score.min())
        read = frozenset(map(tuple, inverse[best].tolist()))
        rows.append((tuple(total.tolist()), tuple(np.sign(total).tolist()), read, tuple(best.tolist())))
    return pd.DataFrame(rows, columns=["marginal", "signs", "read", "orders"])


@claim("alabi2022:sec-lower:only-signs")
def check_only_signs(cases: Iterable[tuple[int, int, int]] = ((1, 1, 5), (2, 1, 3), (2, 2, 5))) -> Iterator[Check]:
    """What rho reads off the best orders of embedded votes: the signs of the marginals, whatever their values."""
    for d, t, voters in cases:
        frame, at = best_orders(d, t, voters), f"d = {d}, t = {t}, all votes of {voters}"
        other = sum(read != {sign} for read, sign in zip(frame.read, frame.signs, strict=True))
        yield printed(f"votes of which ρ reads more or less than the signs off the best orders, {at}", other, "==", 0)
        values = frame.groupby("signs").marginal.nunique().max()
        yield printed(f"most marginals of one pattern of signs, {at}", int(values), ">", 1)
    told = frame.groupby("signs").orders.nunique().max()
    yield amended(f"most sets of best orders of one pattern of signs, {at}", int(told), ">", 1)


@claim("alabi2022:sec-lower:large-t")
def check_large_middle(d: int = 20, middles: Sequence[int] = (20, 200, 2000, 20000)) -> Iterator[Check]:
    """Whether a large t makes the additive term small when compared to the optimum."""
    for t in middles:
        # with no middle items the cost is that of the outer ones
        shares = costs(d, 0)[1:] / ((t + 1) * np.arange(1, d + 1))
        what = f"inversions of outer items / (t + 1) for each wrong sign, d = {d}, t = {t}"
        yield printed(f"{what}, 1 to {len(shares)} signs wrong", float(shares.max()), "<=", 2 * d / t)
        for wrong, share in ((1, (2 * d - 1) / (t + 1)), (d, d / (t + 1))):
            yield argument(f"{what}, {wrong} wrong", float(shares[wrong - 1]), "==", share, error=ROUNDING)


def places(x: Sequence[int], middle: int) -> pd.DataFrame:
    """The ranking of a vector of signs, a row an ``item``: its ``before`` in the identity and its ``place`` in pi^x,
    and its ``kind`` ("exchanged", "left alone" or "between").
    """
    d, found = len(x), embed(np.array([x]), middle)[0]
    item = np.arange(len(found))
    coordinate = np.where(item < d, item, item - d - middle)
    inside = (item >= d) & (item < d + middle)
    exchanged = ~inside & (np.array(x)[np.where(inside, 0, coordinate)] > 0)
    kind = np.select([inside, exchanged], ["between", "exchanged"], "left alone")
    return pd.DataFrame({"item": item + 1, "before": item + 1, "place": np.asarray(found) + 1, "kind": kind})


#: Of pairs that change places, and of those that stay.
_TONES = {"exchanged": (COLOURS[1], COLOURS[4], COLOURS[3]), "left alone": (COLOURS[0], COLOURS[5])}


def _draw_items(axes: Axes, rows: Iterable[Any], colour: str, label: str) -> None:
    for row in rows:
        axes.plot([row.before, row.place], [1, 0], color=colour, lw=1.8, marker="o", label=label)
        label = "_"
        for at, height, side in ((row.before, 1.1, "bottom"), (row.place, -0.12, "top")):
            axes.text(at, height, str(row.item), ha="center", va=side, color=colour)


@styled
def draw_places(frame: pd.DataFrame) -> Figure:
    """Every item's line from its place in the identity, above, to its place in pi^x, below."""
    message = "Two items that change places cross every item that stays between them"
    figure, (axes,) = panels(message=message, height=2.8)
    between = list(frame[frame.kind == "between"].itertuples())
    _draw_items(axes, between, "0.55", f"{between[0].item} to {between[-1].item} stay")
    for kind, does in (("left alone", "stay"), ("exchanged", "change places")):
        rows = list(frame[frame.kind == kind].itertuples())
        half = len(rows) // 2
        for left, right, colour in zip(rows[:half], rows[half:], cycle(_TONES[kind]), strict=False):
            _draw_items(axes, (left, right), colour, f"{left.item} and {right.item} {does}")
            ends, high = (left.before, left.before, right.before, right.before), 1.4 + 0.12 * left.before
            axes.plot(ends, [high - 0.07, high, high, high - 0.07], color=colour, lw=1)
    axes.set(ylim=(-0.45, 1.9), yticks=[0, 1], xticks=[])
    axes.set_yticklabels(["after", "before"])
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    key(figure, *axes.get_legend_handles_labels(), columns=2)
    note(
        figure, "A line: an item, from its place before to its place after. Brackets: the pairs that may change places."
    )
    return figure
