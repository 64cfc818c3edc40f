"""Borda's guarantee: the worst votes, and how many reports it needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from companion.instruments.aggregation import printed_rate
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, claim, content, printed
from dprank.aggregation.directions import PositionVector
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.randomisers import OrderReport
from dprank.data.kendall import kendall_distance

#: What the theorem of the chapter says: K is at most OPTIMUM times OPT plus NOISE times the sum of absolute noise.
OPTIMUM, NOISE = 5, 2


def worst_case(n_items: int, *, noise: bool, votes: bool = True) -> float:
    """Worst that Borda's count can do to the Kemeny score, exactly, over all data of so many items.

    The largest K / OPT, or with `noise`, of any kind, the largest (K - 5 OPT) / (sum of absolute noise): linear
    programmes over all orders that Borda's count could return, against 0, 1, 2, ... without loss of generality; at most
    5 items. With `votes` the fractions are those of rankings, any number of voters with any weights; if not, and
    without noise only, they just meet the probability constraints.
    """
    if noise and not votes:
        raise ValueError("votes = False; it must be true with noise = True")
    rows = all_rankings(n_items)
    first, second = np.triu_indices(n_items, 1)
    before = rows[:, first] < rows[:, second]
    if votes:
        # a variable a ranking: its weight
        places, reversed_ = rows.T.astype(float), ~before
    else:
        # a variable a pair: its weight for the reverse order; and one more, the total weight
        pairs = np.arange(len(first))
        places = np.zeros((n_items, len(pairs) + 1))
        places[first, pairs], places[second, pairs] = 1, -1
        places[:, -1] = np.arange(n_items)
        fixed = np.c_[np.eye(len(pairs)), -np.ones(len(pairs))]
    scores = np.hstack([places, np.eye(n_items), -np.eye(n_items)]) if noise else places
    worst = 0.0
    for output, kept in zip(rows, before, strict=True):
        order = np.argsort(output)
        limits = scores[order[:-1]] - scores[order[1:]]
        if votes:
            cost, optimum = (before != kept).sum(axis=1), reversed_.sum(axis=1)
        else:
            cost, optimum = np.r_[np.where(kept, 1, -1), (~kept).sum()], np.r_[np.ones(len(pairs)), 0]
        if noise:
            gain, unit = np.r_[cost - OPTIMUM * optimum, np.zeros(2 * n_items)], np.r_[0 * cost, np.ones(2 * n_items)]
        else:
            gain, unit = cost, optimum
        limits = limits if votes else np.vstack([limits, fixed])
        found = linprog(-gain, limits, np.zeros(len(limits)), unit[None], [1.0])
        if found.status != 0:
            raise RuntimeError(f"linear programme: {found.message}")
        worst = max(worst, -found.fun)
    return worst


def constants(most: int = 4) -> pd.DataFrame:
    """`worst_case` for 2 .. `most` items: the least constants with which the theorem would be true of them.

    ``items``; ``K/OPT, any matrix`` and ``K/OPT, true rankings``; ``noise``: (K - 5 OPT) over the sum of absolute
    noise; ``noise, formula``: m(m-1)/2 pairs inverted by floor(m^2/4) of noise.
    """
    return pd.DataFrame(
        {
            "items": m,
            "K/OPT, any matrix": worst_case(m, noise=False, votes=False),
            "K/OPT, true rankings": worst_case(m, noise=False),
            "noise": worst_case(m, noise=True),
            "noise, formula": math.comb(m, 2) / (m * m // 4),
        }
        for m in range(2, most + 1)
    )


def stretched_blocks(n_items: int, block: int, stretch: float, share: float) -> float:
    """K / OPT at most attained by Borda's count where a few voters turn short blocks round and stretch them.

    Most voters have the items in the order 0, 1, 2, ...; a share of them has each block of so many items (that divide
    their number) the other way round, its items `stretch` places apart around the same middle. Cost of Borda's order
    over that of 0, 1, 2, ..., which is no less than the optimum. O(items log items).
    """
    item = np.arange(n_items)
    middle = (block - 1) / 2
    key = item // block * block + middle + (middle - item % block) * stretch
    few = np.argsort(np.argsort(key, kind="stable"))
    output = np.argsort(np.argsort((1 - share) * item + share * few, kind="stable"))
    cost = (1 - share) * kendall_distance(item, output) + share * kendall_distance(few, output)
    return cost / (share * kendall_distance(item, few))


def bad_for_borda(shapes: Iterable[tuple[int, int, int]]) -> pd.DataFrame:
    """`stretched_blocks` at the best of a few shares of voters.

    ``items``, ``block``, ``stretch``, ``share``, ``ratio``.
    """
    rows = []
    for items, block, stretch in shapes:
        tried = [
            (stretched_blocks(items, block, stretch, share), share)
            for share in np.linspace(0.6, 2.5, 12) / (stretch + 1)
        ]
        ratio, share = max(tried)
        rows.append({"items": items, "block": block, "stretch": stretch, "share": share, "ratio": ratio})
    return pd.DataFrame(rows)


def additive(model: str, n_items: int, epsilon: float, delta: float = 0.0) -> float:
    """Proved additive error of DP-Borda, times n in the central model and sqrt(n) in the local one.

    Twice (a bound on) the expected sum of absolute noise: Laplace for delta = 0, else Gaussian; locally there is no
    delta.
    """
    if model == "local":
        return LocalBorda.calibrated(n_items=n_items, epsilon=epsilon).additive_error(1)
    return PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous").additive_error(1)


def guarantees(sizes: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Proved errors of DP-Borda over the paper's rates of the same model, the paper's constants taken to be 1.

    ``items``; ``pure, Cor. 6``, ``approximate, Cor. 7``, ``local, Cor. 12``: over the rate of that corollary.
    """
    return pd.DataFrame(
        {
            "items": m,
            "pure, Cor. 6": additive("central", m, epsilon) / printed_rate(6, m, epsilon),
            "approximate, Cor. 7": additive("central", m, epsilon, delta) / printed_rate(7, m, epsilon, delta),
            "local, Cor. 12": additive("local", m, epsilon) / printed_rate(12, m, epsilon),
        }
        for m in sizes
    )


def reports(sizes: Iterable[int], epsilons: Iterable[float]) -> pd.DataFrame:
    """Standard deviation of an item's place from one local report, root mean square over the items.

    ``items``, ``epsilon``; ``order`` with its ``size``, ``vector``, ``one item`` (its place by one bit).
    """
    rows = []
    for m, epsilon in product(sizes, epsilons):
        order = OrderReport.calibrated(n_items=m, epsilon=epsilon)
        item = m * (m - 1) ** 2 / (4 * math.tanh(epsilon / 2) ** 2) - (m * m - 1) / 12
        row = {"items": m, "epsilon": epsilon, "order": math.sqrt(order.variance), "size": order.order.length}
        vector = PositionVector.calibrated(n_items=m, epsilon=epsilon).variance
        rows.append(row | {"vector": math.sqrt(max(vector, 0.0)), "one item": math.sqrt(item)})
    return pd.DataFrame(rows)


@claim("alabi2022:sec-related:condorcet")
def check_condorcet(rule: Any = None) -> Iterator[Check]:
    """Every profile of five voters on three items and of three voters on four; Kemeny orders by the full list.

    `rule` makes of a matrix of fractions orders, all of which must be led by the Condorcet winner: the optimal Kemeny
    orders unless given.
    """
    rule = rule or _optimal_orders
    for n_items, voters in ((3, 5), (4, 3)):
        rows = all_rankings(n_items)
        before = rows[:, :, None] < rows[:, None]
        profiles = np.array(list(product(range(len(rows)), repeat=voters - 1)))
        winners = failures = 0
        for others in profiles:
            w = (before[0] + before[others].sum(axis=0)) / voters
            wins = ((w > 0.5) | np.eye(n_items, dtype=bool)).all(axis=1)
            if wins.any():
                winners += 1
                failures += int((rule(w)[:, 0] != wins.argmax()).any())
        what = f"profiles of {voters} voters on {n_items} items whose Condorcet winner a best order does not put first"
        yield printed(what, failures, "==", 0)
        yield content(f"such profiles that have a Condorcet winner, of {len(profiles)}", winners, ">", 0)


def _optimal_orders(w: NDArray[np.float64]) -> NDArray[np.int64]:
    rows = all_rankings(len(w))
    costs = np.tensordot(rows[:, :, None] < rows[:, None], w.T)
    return np.argsort(rows[costs <= costs.min() + ROUNDING], axis=1)


def check_theorem(table: pd.DataFrame, noise: float = NOISE, optimum: float = OPTIMUM) -> list[Check]:
    """Our theorem on every item count of `constants`: exact over all fractions, all rankings and all noise."""
    rows = table.tail(1).to_dict("records")
    ratio, beside = table["K/OPT, any matrix"].max(), table["noise"].max()
    return [
        amended(f"largest K/OPT of Borda's count, m ≤ {rows[0]['items']}", ratio, "<=", optimum, error=ROUNDING),
        amended("largest (K − 5 OPT)/Σ abs(noise), the same m", beside, "<=", noise, error=ROUNDING),
    ]
