"""Borda at equal privacy beside the rules it is compared with, and the paper's sentences on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from companion.chapters.local_aggregation.local_costs import mean_rounds
from companion.chapters.private_aggregation.borda_guarantee import NOISE, additive, bad_for_borda, check_theorem
from companion.chapters.private_aggregation.kwiksort import outsider_ratio
from companion.chapters.private_aggregation.reduction_one import CONSTANT
from companion.instruments import surveys as datasets
from companion.instruments.aggregation import matrix_error, printed_rate, unanimous_excess
from companion.instruments.allowance import Z
from companion.instruments.style import BAR, COLOURS, key, label_outer, note, on_phone, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.alabi2022 import corollary_4
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import kwiksort
from dprank.aggregation.local_borda import LocalBorda
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.lower_bounds import pure_threshold
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.rules import borda
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows
from dprank.privacy.guarantee import Guarantee, compose
from dprank.release import Ranking

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
        REPAIR: Repaired(PrivateBorda.calibrated(**half), NoisyMatrix.calibrated(**half, rule="copeland")),
    }


@dataclass(frozen=True)
class Repaired:
    """Half of the budget on Borda's order, half on a matrix by which neighbours in it then change places."""

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

    No two neighbours in it are the wrong way round; a positive margin says that the row's item beats the column's.
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

    ``data``, ``model``, ``epsilon``, ``delta``, ``method``, ``mean``, ``se``, ``repetitions``; ``floor``, the excess of
    Borda's count without noise. A positive `delta` is for `model` "central" only; the other is "local".
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

    A row a data set, in the order of the frame, a column an epsilon; the names of the methods, or ``level``.
    """
    seen = frame.set_index(["data", "epsilon", "method"])[["mean", "se"]].unstack("method")
    gap = seen["mean", one] - seen["mean", other]
    error = 2 * np.hypot(seen["se", one], seen["se", other])
    found = pd.Series(np.select([gap < -error, gap > error], [one, other], "level"), gap.index).unstack("epsilon")
    return found.loc[list(dict.fromkeys(frame["data"]))]


def allowed_error(n_items: int, xi: float, epsilon: float, delta: float) -> float:
    """Expected error, times n, that a (1 + xi)-approximation on Corollary 4's matrix may have; all voters agree.

    It may turn floor(xi OPT(noisy)) pairs more than the best order does. Of a pair the noisy fractions are clipped,
    so that the best order pays the smaller of them at least: the expected size of one side of the noise, of which what
    is beyond one half is left out. The deviation on a fraction is 1 / 10, which sets n.
    """
    noise = 0.1
    voters = corollary_4(n_items, epsilon, delta, constant=CONSTANT).mechanism.scale / noise
    half = noise * (1 - math.exp(-0.5 * (0.5 / noise) ** 2)) / math.sqrt(2 * math.pi)
    return (xi * math.comb(n_items, 2) * half - 1) * voters


@claim("alabi2022:sec-conclusions:either-or")
def check_either_or(sizes: Iterable[int], epsilon: float, delta: float, xi: float = 0.5) -> Iterator[Check]:
    """Does each reduction have one of the two, nearly, and not the other?

    As to the voters that an error below m^2 takes, yes: Reduction I's error is larger in order than Corollary 7's, and
    KwikSort's ratio is far above 1. As to the error at every number of voters, Reduction II's is far from the least.
    """
    sizes = list(sizes)
    least, every = "near the least number of voters for an error below m²", "near the least error at every n"
    better = np.array([printed_rate(7, m, epsilon, delta) for m in sizes])
    # below, not one pair may be turned
    far = [m for m in sizes if m >= 64]
    worse = [
        allowed_error(m, xi, epsilon, delta) / printed_rate(7, m, epsilon, delta) * math.sqrt(math.log(m)) for m in far
    ]
    what = f"error of a {1 + xi:g}-approximation on Corollary 4's matrix over Corollary 7's, times √log m"
    yield printed(f"{what}: exponent of m from {far[0]} to {far[-1]}", exponent(far, worse), ">=", 0.49, reading=least)
    what = f"ratio of KwikSort where a last item divides the voters, m = {sizes[-1]}; not near 1"
    yield printed(what, outsider_ratio(min(sizes[-1], 128)), ">", 1.5, reading=least)
    for m in (m for m in sizes if m <= 128):
        bound = printed_rate(6, m, epsilon) / m**2 * epsilon / pure_threshold(m, Fraction(m * m, 100)) / math.log(m)
        what = f"voters at which Corollary 6's error is m², over those of Theorem 13, over log m, m = {m}"
        yield printed(what, bound, "<=", 1, reading=least)
    m = sizes[-1]
    what = f"log of log⁶ m × error of the exponential mechanism at ratio 3 over Corollary 6's, m = {m}, n = m³, ε = 1"
    log_error = unanimous_excess(m, m**3, 1.0) + 5 * math.log(math.log(m))
    yield printed(what, log_error, ">=", 0, reading=every, error=1e-12 * abs(log_error))
    proved = np.array([matrix_error(m, epsilon, delta) for m in sizes])
    what = f"error of an exact order, unclipped matrix, ratio 1, over Corollary 7's, {sizes[0]} ≤ m ≤ {sizes[-1]}"
    yield amended(f"{what}, largest", (proved / better).max(), "<=", 1)


#: Items at which the rounds of sorting are counted.
DEEP = 64


@claim("alabi2022:sec-conclusions:interactive")
def check_interactive(
    table: pd.DataFrame, sizes: Iterable[int], epsilons: Iterable[float], measured: pd.DataFrame
) -> Iterator[Check]:
    """Corollary 12 sorts in rounds; a protocol of one round has its error, without its logarithm.

    `table` is of `constants`, `measured` of `local_noise`; the proved error is evaluated at epsilons up to 1.
    """
    sizes, epsilons = list(sizes), list(epsilons)
    factors = {e: [additive("local", m, e) / printed_rate(12, m, e) for m in sizes] for e in epsilons}
    slope = max(exponent(sizes, values) for values in factors.values())
    plain = max(additive("local", m, e) * e / m**2.5 for m, e in product(sizes, epsilons))
    what = f"largest power of m by which one round's proved error exceeds Corollary 12's, {sizes[0]} ≤ m ≤ {sizes[-1]}"
    yield printed(f"mean rounds of questions, each chosen by answers before, m = {DEEP}", mean_rounds(DEEP), ">", 2)
    yield amended(what, slope, "<=", 0)
    yield amended("largest ratio of that error to m^2.5/(ε√n), ε ≤ 1", plain, "<=", 1.6)
    yield from check_theorem(table)
    yield from check_local_noise(measured)


@claim("alabi2022:sec-conclusions:separation")
def check_separation(
    sizes: Sequence[int] = (4, 16, 64, 256, 1024), epsilons: Sequence[float] = (0.01, 0.1, 1.0)
) -> Iterator[Check]:
    """One round has what Corollary 12 promises; in polynomial time its ratio is not known to be near 1."""
    same, smaller = "of what Corollary 12 promises", "of a ratio near 1, in polynomial time"
    grid = list(product(sizes, epsilons))
    over = [additive("local", m, e) / printed_rate(12, m, e) for m, e in grid]
    what = f"one round's proved error at ratio 5 over Corollary 12's, {len(grid)} pairs (m, ε), m = {sizes[0]} to"
    most = exponent(sizes, [max(over[i : i + len(epsilons)]) for i in range(0, len(over), len(epsilons))])
    yield printed(f"{what} {sizes[-1]}: exponent of m, above 0 where rounds have less", most, ">", 0, reading=same)
    ratio = float(bad_for_borda([(999, 3, 100)]).ratio.iloc[0])
    yield printed(
        "ratio of Borda's order without noise where short blocks are stretched", ratio, ">", 1.5, reading=smaller
    )
    plain = max(additive("local", m, e) * e / m**2.5 for m, e in grid)
    yield amended("that error over m^2.5/(ε√n), largest", plain, "<=", 1.6)


def local_noise(names: Iterable[str], epsilon: float, repetitions: int) -> pd.DataFrame:
    """Sum of absolute noise of local DP-Borda on the mean places, over the bound that the proof has for its mean.

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


_MESSAGES = {
    "central": "Noise on mean places costs least, except where places mislead",
    "local": "Without trust, all pairs beat mean places only where places mislead",
}
#: Label, colour and mark of each method.
LOOK = {
    SCORES: ("noise on mean places (Borda scores)", COLOURS[2], "D"),
    MATRIX: ("noisy matrix of all pairs, best order", COLOURS[0], "o"),
    "DPKwikSort": ("DPKwikSort (private sorting)", COLOURS[1], "s"),
    REPAIR: ("half of ε on places, half on pairs", COLOURS[3], "^"),
}


@styled
def draw_equal_privacy(frame: pd.DataFrame) -> Figure:
    """Excess Kemeny score per pair against epsilon, a panel a data set, a line a mechanism."""
    data = list(frame.groupby("data", sort=False))
    message = _MESSAGES[frame.model.iloc[0]]
    figure, made = panels(len(data), message=message, height=2.1, columns=3, on_phone=2, sharex=True)
    for axes, (name, part) in zip(made, data, strict=True):
        for method, line in part.groupby("method", sort=False):
            label, colour, marker = LOOK[str(method)]
            look: dict[str, Any] = {"label": label, "color": colour, "marker": marker, "capsize": 2, "lw": 1.2}
            axes.errorbar(line.epsilon, line["mean"], BAR * line["se"], **look)
        axes.axhline(part["floor"].iloc[0], color="black", lw=0.8, ls=":", label="Borda without noise")
        axes.set(xscale="log", title=name)
        axes.set_ylim(bottom=-0.04 * axes.get_ylim()[1])
        axes.tick_params(labelbottom=True)
    values = sorted(set(frame.epsilon))
    values = values[:: 2 if on_phone() and len(values) > 3 else 1]
    made[0].set_xticks(values, [f"{value:g}" for value in values])
    made[0].minorticks_off()
    label_outer(made, "ε", "cost above the best\norder, per pair")
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    made_up = "Mallows, φ = 0.9: voters who lean to one order (1 is chance, near 0 nearly all alike)"
    cost = "Cost: share of the pairs on which an order contradicts a voter, less that of the best order, on average"
    hard = "Hard for Borda: mean places give a bad order. Parties, universities: two surveys. Bars: 95 %"
    who = "Nobody trusted: each voter adds the noise. " * (frame.model.iloc[0] == "local")
    note(figure, f"{who}{cost}. {made_up}. {hard}.")
    return figure
