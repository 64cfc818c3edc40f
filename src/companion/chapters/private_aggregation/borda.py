"""What noisy Borda scores promise and deliver, beside the algorithms of Alabi, Ghazi, Kumar and Manurangsi (2022)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from companion.instruments import surveys as datasets
from companion.instruments.aggregation import matrix_error, printed_rate
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import all_rankings, exponent
from companion.ledger.claim import Check, amended, claim, content, printed
from dprank.aggregation.directions import PositionVector
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import kwiksort
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.randomisers import OrderReport
from dprank.aggregation.rules import borda
from dprank.data.kendall import kendall_distance
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.privacy.guarantee import Guarantee, compose
from dprank.release import Ranking

#: What the theorem of the chapter says: K is at most OPTIMUM times OPT plus NOISE times the sum of absolute noise.
OPTIMUM, NOISE = 5, 2

# --- the guarantee ---------------------------------------------------------------------------------------------------


def worst_case(n_items: int, *, noise: bool, votes: bool = True) -> float:
    """Worst that Borda's count can do to the Kemeny score, exactly, over all data of so many items.

    Parameters
    ----------
    n_items : int
        At most 5, or linear programmes get large.
    noise : bool
        False: largest K / OPT without noise. True: largest (K - 5 OPT) / (sum of absolute noise), noise of any kind.
    votes : bool
        Whether the pairwise fractions are those of rankings, any number of voters with any weights; if not, they only
        meet the probability constraints, and `noise` must be false.

    Returns
    -------
    float
        The largest value of a linear programme, over all orders that Borda's count could return; the order that it is
        compared with is 0, 1, 2, ... without loss of generality.
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

    Returns
    -------
    pandas.DataFrame
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

    Parameters
    ----------
    n_items : int
        A multiple of `block`.
    block : int
        Most voters have the items in the order 0, 1, 2, ...; the others have each block of so many items the other way
        round, its items `stretch` places apart around the same middle.
    stretch : float
    share : float
        Of the voters who do.

    Returns
    -------
    float
        Cost of Borda's order over that of 0, 1, 2, ..., which is no less than the optimum. O(items log items).
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

    Parameters
    ----------
    shapes : iterable of tuple
        Items, block, stretch.

    Returns
    -------
    pandas.DataFrame
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

    Parameters
    ----------
    model : {"central", "local"}
    n_items : int
    epsilon, delta : float
        Laplace noise for delta = 0, else Gaussian; locally there is no delta.

    Returns
    -------
    float
        Twice (a bound on) the expected sum of absolute noise.
    """
    if model == "local":
        return LocalBorda.calibrated(n_items=n_items, epsilon=epsilon).additive_error(1)
    return PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous").additive_error(1)


def guarantees(sizes: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Proved errors of DP-Borda over the paper's rates of the same model, the paper's constants taken to be 1.

    Returns
    -------
    pandas.DataFrame
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

    Returns
    -------
    pandas.DataFrame
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


# --- at equal privacy ------------------------------------------------------------------------------------------------

# the kinds of voters that `worst_case` finds for five items, in shares that leave Borda's scores apart
_WORST: dict[tuple[int, ...], int] = {(0, 1, 2, 3, 4): 525, (1, 2, 3, 4, 0): 210, (3, 0, 4, 1, 2): 265}


def _planted(shares: Mapping[tuple[int, ...], int]) -> Rankings:
    rows = np.repeat(np.array(list(shares)), list(shares.values()), axis=0)
    return Rankings(rows, [f"item {i}" for i in range(rows.shape[1])])


@cache
def instance(name: str) -> Rankings:
    """One of `INSTANCES`: a thousand voters drawn or planted, or the voters of a survey who gave a ranking."""
    ten = tuple(range(10))
    match name:
        case "Mallows, φ = 0.9":
            rows = Mallows.of_phi(10, 0.9).sample(1000, rng=stream("alabi2022 borda", {"instance": name}))
            return Rankings(rows, [f"item {i}" for i in ten])
        case "narrow majority":
            return _planted({ten: 550, ten[::-1]: 450})
        case "two camps":
            return _planted({ten: 550, ten[5:] + ten[:5]: 450})
        case "hard for Borda":
            return _planted(_WORST)
        case "parties":
            return datasets.strict_rankings(datasets.german_parties())
        case "universities":
            return datasets.strict_rankings(datasets.cems())
    raise ValueError(f"name = {name!r}; allowed are {INSTANCES}")


#: Names of methods of `equal_privacy` that `ahead` compares; the fourth is ``DPKwikSort``.
SCORES, MATRIX, REPAIR = "noisy Borda scores", "noisy matrix, exact order", "half and half"
#: Names of all data sets of `equal_privacy`.
INSTANCES = ("Mallows, φ = 0.9", "narrow majority", "two camps", "hard for Borda", "parties", "universities")


def instances() -> pd.DataFrame:
    """The data: sizes, optimum and what Borda's count costs without noise, as shares of all pairs.

    Returns
    -------
    pandas.DataFrame
        ``data``, ``items``, ``voters``, ``optimum``, ``Borda``, ``KwikSort`` (mean over 200 runs).
    """
    rows = []
    for name in INSTANCES:
        data, w, pairs = _matrix(name)
        rng = stream("alabi2022 borda", {"kwiksort": name})
        quick = np.mean([kemeny_score(kwiksort(w, rng=rng), w) for _ in range(200)])
        sizes = {"data": name, "items": data.n_items, "voters": len(data)}
        costs = {"optimum": kemeny(w).cost, "Borda": kemeny_score(borda(w), w), "KwikSort": float(quick)}
        rows.append(sizes | {key: cost / pairs for key, cost in costs.items()})
    return pd.DataFrame(rows)


@cache
def _matrix(name: str) -> tuple[Rankings, NDArray[np.float64], int]:
    data = instance(name)
    return data, pairwise_fractions(data), math.comb(data.n_items, 2)


@cache
def _mechanisms(model: str, n_items: int, epsilon: float, delta: float) -> dict[str, Any]:
    if model == "local":
        return {
            SCORES: LocalBorda.calibrated(n_items=n_items, epsilon=epsilon),
            MATRIX: LocalMatrix.calibrated(n_items=n_items, epsilon=epsilon),
        }
    half: dict[str, Any] = {"epsilon": epsilon / 2, "delta": delta / 2, "n_items": n_items}
    return {
        SCORES: PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=delta),
        MATRIX: NoisyMatrix.calibrated(n_items=n_items, epsilon=epsilon, delta=delta),
        "DPKwikSort": PrivateKwikSort.calibrated(n_items=n_items, epsilon=epsilon, delta=delta),
        REPAIR: Repaired(
            PrivateBorda.calibrated(**half),
            NoisyMatrix.calibrated(**half, rule="copeland"),
        ),
    }


@dataclass(frozen=True)
class Repaired:
    """Half of the budget on Borda's order, half on a matrix by which neighbours in it then change places.

    Parameters
    ----------
    scores : PrivateBorda
    matrix : NoisyMatrix
    """

    scores: PrivateBorda
    matrix: NoisyMatrix

    @property
    def guarantee(self) -> Guarantee:
        """The sum of the two budgets."""
        return compose(self.scores.guarantee, self.matrix.guarantee)

    def release(self, rankings: Rankings, rng: np.random.Generator) -> Ranking:
        """One order."""
        scores, matrix = self.scores.release(rankings, rng), self.matrix.release(rankings, rng)
        assert matrix.margins is not None
        order = swap_neighbours(scores.order, matrix.margins)
        return Ranking(rankings.items, order, mechanism=self)


def swap_neighbours(order: ArrayLike, margins: NDArray[np.float64]) -> NDArray[np.int64]:
    """Insert the items one after the other, each in front of those neighbours that it beats (Dwork et al. 2001).

    Parameters
    ----------
    order : array_like of int, shape (items,)
    margins : ndarray of float, shape (items, items)
        Positive where the row's item beats the column's.

    Returns
    -------
    ndarray of int, shape (items,)
        No two neighbours in it are the wrong way round.
    """
    placed: list[int] = []
    for item in np.asarray(order):
        at = len(placed)
        while at and margins[item, placed[at - 1]] > 0:
            at -= 1
        placed.insert(at, int(item))
    return np.array(placed)


def _excess(
    data: str, model: str, epsilon: float, delta: float, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], list[float]]:
    rankings, w, pairs = _matrix(data)
    optimum = kemeny(w).cost
    return {
        (name,): [
            (kemeny_score(mechanism.release(rankings, rng).order, w) - optimum) / pairs for _ in range(repetitions)
        ]
        for name, mechanism in _mechanisms(model, rankings.n_items, epsilon, delta).items()
    }


def equal_privacy(
    model: str, epsilons: Iterable[float], repetitions: int, delta: float = 0.0, names: Iterable[str] = INSTANCES
) -> pd.DataFrame:
    """Excess Kemeny score, (K - OPT) over the number of pairs, of several mechanisms with one privacy.

    Parameters
    ----------
    model : {"central", "local"}
    epsilons : iterable of float
    repetitions : int
    delta : float
        0 for pure privacy; central only.
    names : iterable of str
        Of `INSTANCES`.

    Returns
    -------
    pandas.DataFrame
        ``data``, ``model``, ``epsilon``, ``delta``, ``method``, ``mean``, ``se``, ``repetitions``; ``floor``, the
        excess of Borda's count without noise.
    """
    cells = [
        {"data": name, "model": model, "epsilon": epsilon, "delta": delta} for name, epsilon in product(names, epsilons)
    ]
    frame = sweep(_excess, cells, experiment="alabi2022 borda", repetitions=repetitions, outcomes=["method"])
    exact = instances().set_index("data")
    return frame.assign(floor=frame["data"].map(exact["Borda"] - exact["optimum"]))


def side_by_side(frame: pd.DataFrame) -> pd.DataFrame:
    """Means of `equal_privacy` with two standard errors, in hundredths of the pairs; a row a data set and epsilon."""
    text = [f"{100 * mean:.2f} ± {200 * se:.2f}" for mean, se in zip(frame["mean"], frame["se"], strict=True)]
    wide = frame.assign(text=text).pivot(index=["data", "epsilon"], columns="method", values="text")
    return wide.loc[list(dict.fromkeys(frame["data"])), list(dict.fromkeys(frame["method"]))].reset_index()


def ahead(frame: pd.DataFrame, one: str = SCORES, other: str = MATRIX) -> pd.DataFrame:
    """Which of two methods has the lower mean in `equal_privacy`, by more than two standard errors of the difference.

    Returns
    -------
    pandas.DataFrame
        A row a data set, in the order of the frame, a column an epsilon; the names of the methods, or ``level``.
    """
    seen = frame.set_index(["data", "epsilon", "method"])[["mean", "se"]].unstack("method")
    gap = seen["mean", one] - seen["mean", other]
    error = 2 * np.hypot(seen["se", one], seen["se", other])
    found = pd.Series(np.select([gap < -error, gap > error], [one, other], "level"), gap.index).unstack("epsilon")
    return found.loc[list(dict.fromkeys(frame["data"]))]


# --- sentences of the paper ------------------------------------------------------------------------------------------


@claim("alabi2022:sec-related:condorcet")
def check_condorcet(rule: Any = None) -> Iterator[Check]:
    """Every profile of five voters on three items and of three voters on four; Kemeny orders by the full list.

    Parameters
    ----------
    rule : callable, optional
        From a matrix of fractions to an array of orders, all of which must be led by the Condorcet winner; the optimal
        Kemeny orders by default.
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
    costs = (w.T * (rows[:, :, None] < rows[:, None])).sum(axis=(1, 2))
    return np.argsort(rows[costs <= costs.min() + ROUNDING], axis=1)


def check_theorem(table: pd.DataFrame, noise: float = NOISE, optimum: float = OPTIMUM) -> list[Check]:
    """Our theorem on every item count of `constants`: exact over all fractions, all rankings and all noise."""
    rows = table.tail(1).to_dict("records")
    ratio, beside = table["K/OPT, any matrix"].max(), table["noise"].max()
    return [
        amended(f"largest K/OPT of Borda's count, m ≤ {rows[0]['items']}", ratio, "<=", optimum, error=ROUNDING),
        amended("largest (K − 5 OPT)/Σ abs(noise), the same m", beside, "<=", noise, error=ROUNDING),
    ]


@claim("alabi2022:sec-conclusions:either-or")
def check_either_or(sizes: Iterable[int], epsilon: float, delta: float) -> Iterator[Check]:
    """Does Reduction I pay for its ratio with additive error, as Table 1 has it, under approximate privacy?

    Read as one about the bounds that the paper proves for polynomial time, it does; read as one about what its noise
    allows, with an exact solver, it does not.
    """
    sizes = list(sizes)
    proved = np.array([matrix_error(m, epsilon, delta) for m in sizes])
    better = np.array([printed_rate(7, m, epsilon, delta) for m in sizes])
    worse = np.array([printed_rate(4, m, epsilon, delta) for m in sizes])
    what = f"{{}} over Corollary 7's rate, m = {sizes[-1]}"
    exact = what.format("error proved here at ratio 1, exact solver,")
    yield printed(what.format("Corollary 4's rate"), (worse / better)[-1], ">", 1, reading="bounds proved")
    yield printed(exact, (proved / better)[-1], ">", 1, reading="what the noise allows")
    yield amended(f"largest of these ratios, {sizes[0]} ≤ m ≤ {sizes[-1]}", (proved / better).max(), "<=", 1)


@claim("alabi2022:sec-conclusions:interactive")
def check_interactive(
    table: pd.DataFrame, sizes: Iterable[int], epsilons: Iterable[float], measured: pd.DataFrame
) -> Iterator[Check]:
    """A protocol of one round with the error of Corollary 12, and without its logarithm.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `constants`.
    sizes : iterable of int
        At which the proved error is evaluated.
    epsilons : iterable of float
        Up to 1.
    measured : pandas.DataFrame
        Of `local_noise`.
    """
    sizes, epsilons = list(sizes), list(epsilons)
    factors = {e: [additive("local", m, e) / printed_rate(12, m, e) for m in sizes] for e in epsilons}
    slope = max(exponent(sizes, values) for values in factors.values())
    plain = max(additive("local", m, e) * e / m**2.5 for m, e in product(sizes, epsilons))
    what = f"largest power of m by which one round's proved error exceeds Corollary 12's, {sizes[0]} ≤ m ≤ {sizes[-1]}"
    yield printed(what, slope, ">", 0)
    yield amended("largest ratio of that error to m^2.5/(ε√n), ε ≤ 1", plain, "<=", 1.6)
    yield from check_theorem(table)
    yield from check_local_noise(measured)


def local_noise(names: Iterable[str], epsilon: float, repetitions: int) -> pd.DataFrame:
    """Sum of absolute noise of local DP-Borda on the mean places, over the bound that the proof has for its mean.

    Returns
    -------
    pandas.DataFrame
        ``data``, ``epsilon``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [{"data": name, "epsilon": epsilon} for name in names]
    return sweep(_noise, cells, experiment="alabi2022 borda noise", repetitions=repetitions)


def _noise(data: str, epsilon: float, repetitions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    positions = instance(data).positions
    mechanism = LocalBorda.calibrated(n_items=positions.shape[1], epsilon=epsilon)
    truth = positions.mean(axis=0) - (positions.shape[1] - 1) / 2
    bound = additive("local", positions.shape[1], epsilon) / NOISE / math.sqrt(len(positions))
    draws = [abs(mechanism.places(positions, rng) - truth).sum() for _ in range(repetitions)]
    return np.array(draws) / bound


def check_local_noise(frame: pd.DataFrame) -> list[Check]:
    """The noise that local DP-Borda draws, against the bound on its mean."""
    return [
        amended(
            f"mean Σ abs(noise) of one round over its bound, {row['data']}, ε = {row['epsilon']:g}",
            row["mean"],
            "<=",
            1,
            error=Z * row["se"],
        )
        for row in frame.to_dict("records")
    ]


# --- figures ----------------------------------------------------------------------------------------------------------


_LOOK = {
    "noisy Borda scores": (COLOURS[2], "D"),
    "noisy matrix, exact order": (COLOURS[0], "o"),
    "DPKwikSort": (COLOURS[1], "s"),
    "half and half": (COLOURS[3], "^"),
}


@styled
def draw_equal_privacy(frame: pd.DataFrame) -> Figure:
    """Excess Kemeny score per pair against epsilon, a panel a data set, a line a mechanism."""
    panels = list(frame.groupby("data", sort=False))
    figure = Figure(figsize=(7.2, 1.0 + 2.3 * ((len(panels) + 2) // 3)))
    grid = figure.subplots((len(panels) + 2) // 3, 3, sharex=True, squeeze=False).ravel()
    for axes, (name, part) in zip(grid, panels, strict=False):
        for method, line in part.groupby("method", sort=False):
            colour, marker = _LOOK[str(method)]
            bars = BAR * line["se"]
            axes.errorbar(
                line.epsilon, line["mean"], bars, label=method, color=colour, marker=marker, capsize=2, lw=1.2
            )
        axes.axhline(part["floor"].iloc[0], color="black", lw=0.8, ls=":", label="Borda without noise")
        axes.set(xscale="log", title=name)
        axes.set_ylim(bottom=0)
    values = sorted(set(frame.epsilon))
    grid[0].set_xticks(values, [f"{value:g}" for value in values])
    grid[0].minorticks_off()
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    figure.supxlabel("ε", fontsize=10)
    figure.supylabel("excess cost per pair", fontsize=10)
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside upper left", ncols=2, fontsize=8.5)
    return figure
