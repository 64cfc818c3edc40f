"""Ballots with ties, gaps and weights: what they move, what their releases lose, and how one voter reports them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import permutations, product
from typing import Any, get_args

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, key, note, on_phone, panels, styled
from companion.ledger.claim import Check, argument, claim, content, printed
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_laws import completions, report_law
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.randomisers import OrderReport, SampledOrder, SplitResponse, ranking_signs
from dprank.aggregation.sent_reports import is_full
from dprank.audit.ballots import BallotNeighbours, OneBallot, all_orders
from dprank.data.ballots import Ballots
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.privacy.guarantee import Adjacency
from dprank.privacy.laws import exact

Array = NDArray[np.float64]

#: Most items whose ballots are all listed, and weights that are tried: none, one, and the bound.
MOST, BOUND = 4, 3
#: What is left of the guarantee of discrete Gaussian noise, which is a bound, on these ballots.
DELTA = 1e-3


def pair_signs(places: NDArray[Any]) -> NDArray[np.int64]:
    """What a ballot says of the pairs i < j: +1 for i before j, -1 for the reverse, 0 for nothing."""
    first, second = np.triu_indices(len(places), 1)
    said = (places[first] >= 0) & (places[second] >= 0)
    return np.where(said, np.sign(places[second] - places[first]), 0)


# --- the picture -----------------------------------------------------------------------------------------------------

_KINDS = ("full ranking", "ties", "missing items", "no preference")


def in_words(places: NDArray[Any]) -> str:
    """A ballot of the items a, b, c, ... as readers write it.

    Examples
    --------
    >>> in_words(np.array([0, 1, 1])), in_words(np.array([1, 0, -1])), in_words(np.array([-1, -1, -1]))
    ('a > b = c', 'b > a', 'nothing')
    """
    tiers = [np.flatnonzero(places == place) for place in range(int(places.max(initial=-1)) + 1)]
    return " > ".join(" = ".join(chr(97 + item) for item in tier) for tier in tiers) or "nothing"


def plane() -> pd.DataFrame:
    """Every ballot of three items by its net wins, in the plane where they sum to 0: ``x``, ``y``, ``kind``, ``ballot``
    (one of those that lie there) and ``ballots`` (how many do).
    """
    rows = []
    for places in all_orders(3):
        wins = Ballots([places], [*"abc"]).net_wins()
        x, y = (wins[1] - wins[0]) / math.sqrt(2), (wins[0] + wins[1] - 2 * wins[2]) / math.sqrt(6)
        kind = 0 if is_full(places[None])[0] else 3 if not wins.any() else 2 if places.min() < 0 else 1
        rows.append({"x": float(x), "y": float(y), "kind": kind, "ballot": in_words(places)})
    table = pd.DataFrame(rows).sort_values(["kind", "ballot"], kind="stable")
    table[["x", "y"]] = table[["x", "y"]].round(9)
    shared = table.groupby(["x", "y"], sort=False, as_index=False)
    return shared.agg(kind=("kind", "first"), ballot=("ballot", "first"), ballots=("ballot", "size"))


@styled
def draw_plane(table: pd.DataFrame) -> Figure:
    """The hexagon of full rankings, with all other ballots in it."""
    message = "Ties and missing items stay within the hexagon of full rankings"
    figure, (axes,) = panels(message=message, height=3.3 if on_phone() else 4.6)
    full = table[table.kind == 0]
    round_ = full.iloc[np.argsort(np.arctan2(full.y, full.x))]
    axes.fill(round_.x, round_.y, color=COLOURS[0], alpha=0.08)
    axes.plot([*round_.x, round_.x.iloc[0]], [*round_.y, round_.y.iloc[0]], color=COLOURS[0], lw=1)
    for kind, name in enumerate(_KINDS):
        rows = table[table.kind == kind]
        axes.scatter(rows.x, rows.y, s=40, color=COLOURS[kind], marker="osD^"[kind], label=name, zorder=3)
        for row in rows.itertuples():
            out = np.array([row.x, row.y]) / (math.hypot(row.x, row.y) or 1)
            by = 9 * out if kind < 2 else np.array([0.0, 7.0])
            axes.annotate(
                row.ballot if kind < 3 else f"{row.ballots} ballots,\nall here",
                (row.x, row.y),
                tuple(by),
                textcoords="offset points",
                ha="center" if kind > 1 or abs(out[0]) < 0.1 else "left" if out[0] > 0 else "right",
                va="bottom" if kind > 1 or out[1] > 0.1 else "center" if abs(out[1]) < 0.1 else "top",
                fontsize=9,
            )
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.3 if on_phone() else 0.2, 0.12)
    key(figure, *axes.get_legend_handles_labels())
    wins = "A ballot lies at its net wins: of a, b and c, how many items each beats less how many beat it"
    note(figure, f"{wins}. The farther apart two ballots, the more a voter can move")
    return figure


# --- what a ballot moves ---------------------------------------------------------------------------------------------


def mechanisms(n_items: int, adjacency: Adjacency, max_weight: int = 1, epsilon: float = 1.0, **more: Any) -> list[Any]:
    """The central mechanisms that take ballots, calibrated."""
    shared: dict[str, Any] = {"epsilon": epsilon, "n_items": n_items, "adjacency": adjacency, "max_weight": max_weight}
    made: list[Any] = [kind.calibrated(**shared, ballots="partial", **more) for kind in (PrivateBorda, NoisyMatrix)]
    if not more:
        made.append(NoisyCounts.calibrated(**shared, per_person=math.comb(n_items, 2), design="once"))
    return made


def _counted(mechanism: Any, ballots: Ballots) -> Array:
    """What the mechanism adds noise to, in the unit of its scale."""
    if isinstance(mechanism, NoisyMatrix):
        return mechanism.margins(ballots)[np.triu_indices(mechanism.n_items, 1)] / 2
    return mechanism.counts(ballots) * float(getattr(mechanism, "grain", 1.0))


@cache
def moves(most: int = MOST) -> pd.DataFrame:
    """The furthest that one ballot moves what is counted, over all ballots of 2 .. `most` items and weights 0, 1 and
    the bound, beside what the mechanism takes for it: ``items``, ``bound``, ``mechanism``, ``adjacency``, ``norm``,
    ``furthest``, ``of full rankings`` (the same over these alone), ``sensitivity``.
    """
    rows = []
    for m, bound, adjacency in product(range(2, most + 1), (1, BOUND), get_args(Adjacency)):
        orders = all_orders(m)
        for mechanism in mechanisms(m, adjacency, bound):
            weighted = list(product(orders, sorted({0, 1, bound})))
            given = np.array([_counted(mechanism, Ballots([o], range(m), [w])) for o, w in weighted])  # type: ignore[arg-type]
            full = np.array([bool(is_full(o[None])[0]) and w == bound for o, w in weighted])
            sensitivity = {"l1": getattr(mechanism, "l1_sensitivity", getattr(mechanism, "sensitivity", 0))}
            if hasattr(mechanism, "l2_sensitivity"):
                sensitivity["l2"] = mechanism.l2_sensitivity
            for norm, taken in sensitivity.items():
                far = [_furthest(given[which], adjacency, norm) for which in (slice(None), full)]
                named = {"items": m, "bound": bound, "mechanism": type(mechanism).__name__, "adjacency": adjacency}
                rows.append(
                    named | {"norm": norm, "furthest": far[0], "of full rankings": far[1], "sensitivity": taken}
                )
    return pd.DataFrame(rows)


def _furthest(given: Array, adjacency: Adjacency, norm: str) -> float:
    apart = given if adjacency == "add_remove" else (given[:, None] - given).reshape(-1, given.shape[1])
    return float(np.linalg.norm(apart, 1 if norm == "l1" else 2, axis=1).max())


def price(sizes: tuple[int, ...] = (3, 4, 5, 6, 10, 20), epsilon: float = 1.0) -> pd.DataFrame:
    """Noise for ballots over noise for full rankings, at equal privacy, of `PrivateBorda` and `NoisyMatrix`: ``items``,
    ``mechanism``, ``adjacency``, ``noise``, ``ratio``.
    """
    rows = []
    for m, adjacency, delta in product(sizes, get_args(Adjacency), (0.0, 1e-6)):
        for kind in (PrivateBorda, NoisyMatrix):
            of: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "n_items": m, "adjacency": adjacency}
            full, partial = kind.calibrated(**of), kind.calibrated(**of, ballots="partial")
            named = {"items": m, "mechanism": kind.__name__, "adjacency": adjacency, "noise": full.noise}
            rows.append(named | {"ratio": partial.scale / full.scale})
    return pd.DataFrame(rows)


#: How much more discrete Gaussian noise may need than on another grid, as far as is proved.
ON_A_GRID = 2e-3


@claim("release:ballots-mean")
def check_mean(most: int = MOST) -> Iterator[Check]:
    """Every ballot of up to so many items, every full ranking that its coins may make of it."""
    for m in range(2, most + 1):
        off = turned = 0.0
        orders = all_orders(m)
        for places in orders:
            said, signs = pair_signs(places), ranking_signs(completions(places)).astype(int)
            off = max(off, float(abs(signs.mean(axis=0) - said).max()))
            turned = max(turned, float((signs[:, said != 0] != said[said != 0]).mean() if said.any() else 0))
        of = f"the {len(orders)} ballots of {m} items"
        yield printed(f"largest distance of the mean signs from what is said, {of}", off, "==", 0, error=ROUNDING)
        yield printed(f"largest share of completions that turn an ordered pair, {of}", turned, "==", 0)


@claim("release:ballots-sensitivity")
def check_sensitivity(most: int = MOST) -> Iterator[Check]:
    """By listing all ballots, for both adjacencies and norms; and closed forms."""
    table = moves(most)
    beyond = table.furthest / table["of full rankings"]
    yield printed(f"largest move over that of full rankings, up to {most} items", beyond.max(), "==", 1, error=ROUNDING)
    off = (table.sensitivity / table.furthest - 1).abs()
    yield printed(
        "largest relative distance of the sensitivity from the largest move", off.max(), "==", 0, error=ROUNDING
    )
    ratios, what = price(), "largest ratio of noise for ballots and for full rankings"
    pure = ratios.noise == "laplace"
    yield printed(f"{what}, Laplace noise", ratios.ratio[pure].max(), "==", 1)
    yield printed(f"{what}, discrete Gaussian noise", ratios.ratio[~pure].max(), "<=", 1 + ON_A_GRID)
    alike = table[table.norm == "l1"].pivot_table(
        index=["items", "bound", "adjacency"], columns="mechanism", values="sensitivity"
    )
    twice = (alike.NoisyCounts - 2 * alike.PrivateBorda).abs().max()
    yield argument("net wins are twice the places about the middle: largest difference", twice, "==", 0)


# --- what releases lose ----------------------------------------------------------------------------------------------


@cache
def losses() -> pd.DataFrame:
    """Exact losses over all neighbours of three ballots of three items, of weights up to two: ``mechanism``,
    ``adjacency``, ``delta``, ``neighbours``, ``promised``, ``lost`` (the largest).
    """
    data = Ballots([[0, 1, 1], [-1, 0, 1], [2, 1, 0]], [*"abc"], [1, 2, 2])
    rows = []
    for adjacency, delta in product(get_args(Adjacency), (0.0, DELTA)):
        others = list(BallotNeighbours(adjacency, 2).all(data))
        for mechanism in mechanisms(3, adjacency, 2, **({"delta": delta} if delta else {})):
            # what is released hangs on what is counted alone
            counted = {_counted(mechanism, other).tobytes(): other for other in others}
            lost = max(exact(mechanism, data, other).epsilon(delta) for other in counted.values())
            named = {"mechanism": type(mechanism).__name__, "adjacency": adjacency, "delta": delta}
            rows.append(
                named | {"neighbours": len(others), "promised": mechanism.guarantee.epsilon, "lost": float(lost)}
            )
    return pd.DataFrame(rows)


@claim("release:ballots-losses")
def check_losses() -> Iterator[Check]:
    """By the exact law of what is released."""
    table = losses()
    share = table.lost / table.promised
    yield printed("largest loss over what is promised", share.max(), "<=", 1 + ROUNDING)
    pure = share[table.delta == 0]
    yield printed("smallest largest loss over what is promised, Laplace noise", pure.min(), "==", 1, error=ROUNDING)
    yield content("neighbours that were tried", int(table.neighbours.sum()), ">", 500)


# --- one voter who trusts nobody -------------------------------------------------------------------------------------


def polls(n_items: int = 3, epsilon: float = 1.0) -> list[LocalMatrix | LocalBorda]:
    """Local mechanisms whose reports can be listed."""
    shared: dict[str, Any] = {"n_items": n_items, "epsilon": epsilon}
    return [
        LocalMatrix(SampledOrder.calibrated(**shared, length=2)),
        LocalMatrix(SampledOrder.calibrated(**shared, length=3)),
        LocalMatrix(SplitResponse.calibrated(**shared)),
        LocalMatrix(VectorReport.calibrated(**shared, geometry="cube")),
        LocalBorda(OrderReport.calibrated(**shared)),
    ]


def _listed(poll: Any) -> NDArray[np.int64]:
    """Every report of a poll, in the order of `report_law`."""
    order = getattr(poll.randomiser, "order", poll.randomiser)
    if isinstance(order, SampledOrder):
        return np.array(list(permutations(range(order.n_items), order.length)))
    return np.array(list(product((-1, 1), repeat=order.n_pairs)))


@cache
def reports() -> pd.DataFrame:
    """Reports of every ballot of three items: ``mechanism``, ``randomiser``, ``promised``, ``lost`` (the largest exact
    loss between two ballots), ``off`` (how far the mean estimate is from what the ballot says), and ``variance`` of an
    estimate, the mean over pairs (places), of full rankings and of the ballot that says nothing: ``silent``.
    """
    rows, orders = [], all_orders(3)
    for poll in polls():
        estimates = np.array([poll.randomiser.estimate(sent[None]) for sent in _listed(poll)])
        lost = max(exact(poll, one, other).epsilon(0) for one in orders for other in OneBallot().all(one))
        off, spread = [], {}
        for places in orders:
            chances = report_law(poll.randomiser, completions(places)).mean(axis=0)
            wins = Ballots([places], [*"abc"]).net_wins()
            said = pair_signs(places) if isinstance(poll, LocalMatrix) else -wins / 2
            off.append(float(abs(chances @ estimates - said).max()))
            spread[in_words(places)] = float((chances @ estimates**2 - said**2).mean())
        name = type(poll.randomiser).__name__
        length = getattr(getattr(poll.randomiser, "order", poll.randomiser), "length", None)
        row: dict[str, Any] = {
            "mechanism": type(poll).__name__,
            "randomiser": name + (f", {length} items" if length else ""),
        }
        row |= {"promised": poll.guarantee.epsilon, "lost": float(lost), "off": max(off)}
        rows.append(row | {"variance": spread["a > b > c"], "silent": spread["nothing"]})
    return pd.DataFrame(rows)


@claim("release:ballots-reports")
def check_reports() -> Iterator[Check]:
    """By the law of every report, of any two ballots of three items."""
    table = reports()
    share = table.lost / table.promised
    yield printed("largest loss of a report over what is promised", share.max(), "<=", 1 + ROUNDING)
    yield content("smallest of the largest losses over what is promised", share.min(), ">=", 1 - ROUNDING)
    yield printed("largest distance of the mean estimate from what a ballot says", table.off.max(), "<=", ROUNDING)
    signs = table[table.mechanism == "LocalMatrix"]
    more = (signs.silent - signs.variance - 1).abs().max()
    yield printed("the coins of a silent ballot add 1 to the variance of a pair: off by", more, "<=", ROUNDING)
