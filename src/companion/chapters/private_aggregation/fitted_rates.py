"""Exponents of the number of voters and of epsilon, fitted on planted errors."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.chapters.local_aggregation.local_costs import designs, form_of
from companion.chapters.private_aggregation.table_rows import DELTA, ROWS, one_pair_margins, pair_order, slope
from companion.instruments.allowance import Z
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended
from companion.printed.alabi2022 import PrintedAnswers, PrintedKwikSort
from dprank._require import settle
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.local_kwiksort import AdaptiveAnswers, LocalKwikSort
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.randomisers import SampledOrder
from dprank.data.rankings import Rankings


class Votes(Rankings):
    """Votes on all pairs in place of rankings that are too many to be listed; mechanisms on pairs read nothing else."""

    counts: NDArray[Any]

    def __init__(self, counts: NDArray[Any]) -> None:
        super().__init__([range(len(counts))], [str(i) for i in range(len(counts))])
        settle(self, counts=counts)

    def __reduce__(self) -> Any:
        return Votes, self._state()

    def _state(self) -> tuple[Any, ...]:
        return (self.counts,)

    def pairwise(self) -> NDArray[Any]:
        """Voters that put the row's item before the column's."""
        return self.counts


#: At which the exponents of n and epsilon are fitted, by actual releases.
FIT_ITEMS = 8
#: Voters, over the fewest for which the largest margin tried is a half.
GROWTH = (1, 4, 16, 64)
#: Epsilons of the fit, and those above 1 that local rows are tried at as well.
FIT_EPSILONS, ABOVE_ONE = (0.1, 0.2, 0.5, 1.0), (4.0, 8.0, 16.0)
#: Margins tried, in units of `noise_unit`; the worst of all rows is among them, or between two.
TRIED = (0.45, 0.65, 0.9, 1.3)
#: Exponents of n and epsilon in the printed errors.
PRINTED = {1: (-1.0, -1.0), 2: (-0.5, -1.0)}


class SplitAnswers(AdaptiveAnswers):
    """Answers of voters of whom some rank the items 0, 1, ... and the others the reverse, without listing them.

    The same law as that of `AdaptiveAnswers`, where no block is used up: how many of each kind a block has is
    multivariate hypergeometric.
    """

    def __init__(self, design: LocalKwikSort, ahead: int, behind: int, rng: np.random.Generator) -> None:
        self.rng, self.design, self.asked = rng, design, 0
        self.load = np.zeros(design.blocks, np.int64)
        self.drawn: dict[tuple[int, int], int] = {}
        size, rest = divmod(ahead + behind, design.blocks)
        self.sizes = np.full(design.blocks, size) + (np.arange(design.blocks) < rest)
        self.ahead = rng.multivariate_hypergeometric(self.sizes, ahead)

    def query(self, j: int, i: int) -> float | None:
        """Estimated fraction of voters that put j before i."""
        block = self.block_of(j, i)
        self.asked += 1
        size = int(self.sizes[block])
        yes = int(self.ahead[block]) if j < i else size - int(self.ahead[block])
        return self.answer(yes, size)


class PrintedSplitAnswers(SplitAnswers, PrintedAnswers):
    """The same by Algorithm 2."""


def split_answers(design: LocalKwikSort, ahead: int, behind: int, rng: np.random.Generator) -> SplitAnswers:
    """Voters of two kinds who answer by the design."""
    kind = PrintedSplitAnswers if isinstance(design, PrintedKwikSort) else SplitAnswers
    return kind(design, ahead, behind, rng)


@cache
def _mechanism(row: str, n_items: int, epsilon: float) -> Any:
    """What a row releases orders with; of the local rows with reports on one pair, the report."""
    delta = DELTA if row.endswith("Gaussian") else 0.0
    match row.split(",")[0]:
        case "I":
            return NoisyMatrix.calibrated(n_items=n_items, epsilon=epsilon, delta=delta)
        case "II":
            return PrivateKwikSort.calibrated(n_items=n_items, epsilon=epsilon, delta=delta)
        case "scores":
            return PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=delta)
        case "exponential":
            return ExponentialMechanism.calibrated(n_items=n_items, epsilon=epsilon)
        case "local II":
            return designs(n_items, epsilon)["fresh blocks" if row.endswith("ours") else "as printed"]
    return SampledOrder.calibrated(n_items=n_items, epsilon=epsilon, length=2)


def noise_unit(row: str, n_items: int, epsilon: float) -> float:
    """Noise of a row, as a margin times n (central) or times sqrt(n) (local): what its error is in proportion to."""
    mechanism = _mechanism(row, n_items, epsilon)
    if isinstance(mechanism, ExponentialMechanism):
        return 1 / mechanism.rate
    if isinstance(mechanism, SampledOrder):
        return math.sqrt(mechanism.variance)
    if isinstance(mechanism, LocalKwikSort):
        doubled = 2 if form_of(mechanism) == "printed" else 1
        return doubled * math.sqrt(mechanism.blocks) / math.tanh(mechanism.report_epsilon / 2)
    return float(mechanism.scale) * (1 if isinstance(mechanism, PrivateBorda) else 2)


def planted_error(
    row: str, n_items: int, voters: int, epsilon: float, signal: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K - OPT of releases on voters of whom a share (1 + margin) / 2 have one order, the others its reverse.

    A row of `ROWS`; central mechanisms draw discrete noise. `signal` is the margin in units of `noise_unit` over n or
    sqrt(n), up to the rounding to whole voters.
    """
    mechanism = _mechanism(row, n_items, epsilon)
    wanted = signal * noise_unit(row, n_items, epsilon) * (math.sqrt(voters) if ROWS[row].table == 2 else 1)
    ahead = min(voters - 1, max(voters // 2 + 1, round((voters + wanted) / 2)))
    behind = voters - ahead
    true = np.sign(np.arange(n_items) - np.arange(n_items)[:, None])
    cost = (1 + true) / 2 * (ahead - behind) / voters
    all_votes = np.where(true > 0, ahead, np.where(true < 0, behind, 0))
    orders = np.empty((repetitions, n_items), np.int64)
    for r in range(repetitions):
        names = rng.permutation(n_items)  # ties must not know the order
        votes = all_votes[names[:, None], names]
        if isinstance(mechanism, LocalKwikSort):
            names, order = np.arange(n_items), mechanism.sort(split_answers(mechanism, ahead, behind, rng))
        elif isinstance(mechanism, SampledOrder):
            signs = true[names[:, None], names].astype(float)
            seen = ahead * one_pair_margins(signs, ahead, epsilon, rng)
            seen += behind * one_pair_margins(-signs, behind, epsilon, rng)
            order = pair_order(row, seen)
        elif isinstance(mechanism, PrivateBorda):
            order = np.argsort(mechanism.perturb(votes.sum(axis=0), rng), kind="stable")  # whole noise ties
        else:
            order = mechanism.release(Votes(votes), rng).order
        orders[r] = names[order]
    return np.tril(cost[orders[:, :, None], orders[:, None]], -1).reshape(repetitions, -1).sum(axis=1)


def fewest_voters(row: str, n_items: int, epsilon: float) -> int:
    """Voters for which the largest margin tried is a half."""
    needed = 2 * max(TRIED) * noise_unit(row, n_items, epsilon)
    return math.ceil(needed ** (2 if ROWS[row].table == 2 else 1))


def fitted(repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Worst errors found, over the margins, of all rows at several n, and at several epsilon.

    ``row``, ``varied`` ("n", "ε", or "above" for epsilon above 1), ``voters``, ``epsilon``, ``signal`` (the worst),
    ``error`` (K - OPT in fractions of the voters), ``se``.
    """
    cells = []
    for row, entry in ROWS.items():
        few, many = (fewest_voters(row, FIT_ITEMS, epsilon) for epsilon in (1.0, FIT_EPSILONS[0]))
        points = [("n", few * times, 1.0) for times in GROWTH] + [("ε", many, epsilon) for epsilon in FIT_EPSILONS]
        points += [("above", many, epsilon) for epsilon in ABOVE_ONE if entry.table == 2]
        cells += [
            {"row": row, "varied": varied, "voters": n, "epsilon": epsilon, "signal": signal}
            for (varied, n, epsilon), signal in product(points, TRIED)
        ]
    seen = sweep(_fitted, cells, experiment="alabi2022: rates", repetitions=repetitions, jobs=jobs)
    worst = seen.loc[seen.groupby(["row", "varied", "voters", "epsilon"], sort=False)["mean"].idxmax()]
    return worst.rename(columns={"mean": "error"}).drop(columns="repetitions").reset_index(drop=True)


def _fitted(varied: str, **cell: Any) -> NDArray[np.float64]:
    return planted_error(n_items=FIT_ITEMS, **cell)


def rates(fits: pd.DataFrame, tables: Collection[int] = (1, 2)) -> pd.DataFrame:
    """Exponents of n and epsilon of what `fitted` found, with their standard errors, the printed and the noise's own.

    ``row``, ``voters`` (fewest and most); of n ``n``, ``se n``, ``printed n``; of epsilon ``ε``, ``se ε``, ``printed
    ε``, ``noise ε`` (`noise_unit`); of epsilon above 1 ``above 1``, ``se above``, missing for central rows.
    """
    rows = []
    for row, entry in ROWS.items():
        if entry.table not in tables:
            continue
        part = fits[fits.row == row]
        fit = {
            str(varied): slope(points["voters" if varied == "n" else "epsilon"], points.error, points.se)
            for varied, points in part.groupby("varied", sort=False)
        }
        noise = exponent(FIT_EPSILONS, [noise_unit(row, FIT_ITEMS, epsilon) for epsilon in FIT_EPSILONS])
        as_printed = PRINTED[entry.table]
        above = fit.get("above", (math.nan, math.nan))
        found: dict[str, Any] = {"row": row, "voters": f"{part.voters.min():,} to {part.voters.max():,}"}
        found |= {"n": fit["n"][0], "se n": fit["n"][1], "printed n": as_printed[0]}
        found |= {"ε": fit["ε"][0], "se ε": fit["ε"][1], "printed ε": as_printed[1], "noise ε": noise}
        rows.append(found | {"above 1": above[0], "se above": above[1]})
    return pd.DataFrame(rows)


def rates_checks(fits: pd.DataFrame, table: int) -> list[Check]:
    """Exponents of n against the printed ones, of epsilon against those of the noise, within `Z` standard errors."""
    checks = []
    for fit in rates(fits, [table]).to_dict("records"):
        what = f"{fit['row']}: measured exponent of"
        own = "" if abs(fit["noise ε"] - fit["printed ε"]) < 1e-3 else ", against that of its noise"
        checks += [
            amended(f"{what} n", fit["n"], "==", fit["printed n"], error=Z * fit["se n"]),
            amended(f"{what} ε up to 1{own}", fit["ε"], "==", fit["noise ε"], error=Z * fit["se ε"]),
        ]
    return checks
