"""Tables 1 and 2 of Alabi, Ghazi, Kumar and Manurangsi (2022) as measurements, and which mechanism to use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

from companion.chapters.private_aggregation import borda as scores
from companion.chapters.private_aggregation.local_reduction_two import (
    PER_QUERY,
    design_cost,
    designs,
    form_of,
    fresh_error,
)
from companion.chapters.private_aggregation.local_reports import LARGE, cube_excess
from companion.chapters.private_aggregation.reduction_two import worst_errors
from companion.instruments.aggregation import (
    BAR,
    EXACT_ITEMS,
    best_order,
    exponential_needs,
    gain,
    gaussian_constant,
    matrix_error,
    one_pair_error,
    printed_rate,
    rule_for,
)
from companion.instruments.allowance import Z
from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.alabi2022 import PrintedAnswers, PrintedKwikSort
from dprank._require import settle
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import kwiksort
from dprank.aggregation.local_kwiksort import AdaptiveAnswers, LocalKwikSort
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.randomisers import SampledOrder
from dprank.aggregation.rules import borda
from dprank.data.rankings import Rankings
from dprank.models.draws import binomial, multinomial
from dprank.models.mallows import Mallows

#: Of the approximate rows.
DELTA = 1e-6
#: At which errors are measured, central and local; other epsilons follow from the scaling, see the chapter.
EPSILON, LOCAL_EPSILON = 1.0, 0.1


# --- the errors of the tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A mechanism in one of the two tables, or beside them.

    Parameters
    ----------
    table : int
    printed : callable or None
        From the number of items to the printed error, times epsilon n or epsilon sqrt(n), its constant taken as 1.
    proved : callable or None
        The same of a bound proved in the chapter, with its constant.
    constant : float
        What a proof allows for the printed O(), see `check_table_1` and `check_table_2`.
    """

    table: int
    printed: Callable[[int], float] | None = None
    proved: Callable[[int], float] | None = None
    constant: float = math.inf


_LOG = math.log(1 / DELTA)

#: The rows of both tables, and noisy Borda scores beside them.
ROWS = {
    "I, Laplace": Row(1, lambda m: printed_rate(3, m), lambda m: EPSILON * matrix_error(m, EPSILON), constant=0.75),
    "I, Gaussian": Row(
        1, lambda m: printed_rate(4, m, 1.0, DELTA), lambda m: EPSILON * matrix_error(m, EPSILON, DELTA), constant=1.5
    ),
    "II, Laplace": Row(1, lambda m: printed_rate(6, m), constant=33.0),
    "II, Gaussian": Row(1, lambda m: printed_rate(7, m, 1.0, DELTA), constant=18.0),
    # the printed error of Hay et al. is that of Corollary 6
    "exponential": Row(1, lambda m: printed_rate(6, m), lambda m: exponential_needs(m, 1.0), constant=1.0),
    "scores, Laplace": Row(1, None, lambda m: EPSILON * scores.additive("central", m, EPSILON)),
    "scores, Gaussian": Row(1, None, lambda m: EPSILON * scores.additive("central", m, EPSILON, DELTA)),
    "local I": Row(
        2, lambda m: printed_rate(9, m), lambda m: LOCAL_EPSILON * one_pair_error(m, LOCAL_EPSILON), constant=1.5
    ),
    "local II, ours": Row(
        2,
        None,
        lambda m: (
            LOCAL_EPSILON
            * fresh_error(m, LOCAL_EPSILON, 1)
            * math.sqrt(designs(m, LOCAL_EPSILON)["fresh blocks"].blocks)
        ),
    ),
    "local II": Row(2, lambda m: printed_rate(12, m), constant=22 * PER_QUERY),
    "local scores": Row(2, None, lambda m: LOCAL_EPSILON * scores.additive("local", m, LOCAL_EPSILON)),
}


def exponential_error(n_items: int) -> float:
    """Worst K times epsilon n of the exponential mechanism where all voters agree, exactly.

    It then draws a Mallows law: of parameter x where epsilon n = 2 pairs x.
    """

    def negative(log: float) -> float:
        return -math.exp(log) * Mallows(n_items, math.exp(log)).distance_moments()[0]

    return -2 * math.comb(n_items, 2) * float(minimize_scalar(negative, bounds=(-6, 3), method="bounded").fun)


def scores_error(n_items: int, delta: float) -> float:
    """Worst K times epsilon n of noisy Borda scores where all voters agree, exactly, over a grid of numbers of voters.

    Sums of places k apart in the order differ by k n, and change places with the chance that the difference of two
    noises exceeds that.
    """
    scale = PrivateBorda.calibrated(n_items=n_items, epsilon=EPSILON, delta=delta, law="continuous").scale
    gaps = np.arange(1, n_items)
    step = np.geomspace(0.1, 4, 60)[:, None] / math.sqrt(n_items)
    wrong = norm.sf(gaps * step / math.sqrt(2)) if delta else (1 + gaps * step / 2) * np.exp(-gaps * step) / 2
    return float(((wrong * (n_items - gaps)).sum(axis=1) * step[:, 0]).max()) * scale * EPSILON


def _worst_design(n_items: int, design: LocalKwikSort) -> float:
    """Worst K times epsilon sqrt(n) of a design for KwikSort, exactly, where all voters agree."""
    unit = 1 / math.tanh(design.report_epsilon / 2) ** 2
    sizes = np.unique(np.geomspace(0.1 * unit, 20 * unit, 24).astype(int) + 1)
    voters = sizes * design.blocks
    return max(LOCAL_EPSILON * design_cost(design, int(n)) * math.sqrt(n) for n in voters)


def one_pair_margins(
    margins: NDArray[np.float64], voters: int, epsilon: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Estimated margins from one random pair a voter, for voters drawn from a law with such margins; exact law.

    Every voter sends one of the m (m - 1) signed pairs, so that the counts are multinomial. (Where all voters agree
    this is the law for the voters given, too.)
    """
    report = SampledOrder.calibrated(n_items=len(margins), epsilon=epsilon, length=2)
    off = ~np.eye(len(margins), dtype=bool)
    sent = np.zeros(margins.shape)
    sent[off] = multinomial(voters, (1 + report.shrinkage * margins[off]) / 2 / report.n_pairs, rng=rng)
    return (sent - sent.T) / (voters * report.chance * report.shrinkage)


def _pair_order(row: str, margins: NDArray[np.float64]) -> NDArray[np.int64]:
    """How the rows that estimate margins from one pair a voter order them."""
    return best_order(margins) if row == "local I" else borda(margins)


def local_error(
    row: str, n_items: int, signal: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K times epsilon sqrt(n) from one pair a voter, all voters agreeing, one number a release.

    Parameters
    ----------
    row : {"local I", "local scores"}
    n_items : int
    signal : float
        True margin over the deviation of its estimate; fixes the number of voters.
    repetitions : int
    rng : numpy.random.Generator
    """
    voters = math.ceil(SampledOrder.calibrated(n_items=n_items, epsilon=LOCAL_EPSILON, length=2).variance * signal**2)
    true = np.sign(np.arange(n_items) - np.arange(n_items)[:, None]).astype(float)
    wrong = np.empty(repetitions)
    for r in range(repetitions):
        names = rng.permutation(n_items)  # ties must not know the order
        seen = one_pair_margins(true[np.ix_(names, names)], voters, LOCAL_EPSILON, rng)
        wrong[r] = kemeny_score(names[_pair_order(row, seen)], (1 + true) / 2)
    return LOCAL_EPSILON * math.sqrt(voters) * wrong


def measured(sizes: Sequence[int], repetitions: int) -> pd.DataFrame:
    """The errors of all rows of both tables, worst found, where all voters agree.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of items, to 256.
    repetitions : int
        Simulated releases a point, of the rows that need it.

    Returns
    -------
    pandas.DataFrame
        ``row``, ``items``, ``error`` and ``se``, times epsilon n or epsilon sqrt(n); ``printed``, ``proved``: bounds in
        the same unit, missing where there is none; ``table``.
    """
    noises = {0.0: "Laplace", DELTA: "Gaussian"}
    parts: list[dict[str, Any]] = [
        {"row": f"{r['reduction']}, {noises[r['delta']]}", "items": r["n_items"], "error": r["mean"], "se": r["se"]}
        for r in worst_errors(sizes, list(noises), repetitions).to_dict("records")
    ]
    for m in sizes:
        design = designs(m, LOCAL_EPSILON)
        exact = {
            "exponential": exponential_error(m),
            "scores, Laplace": scores_error(m, 0.0),
            "scores, Gaussian": scores_error(m, DELTA),
            "local II, ours": _worst_design(m, design["fresh blocks"]),
            "local II": _worst_design(m, design["as printed"]),
        }
        parts += [{"row": row, "items": m, "error": error, "se": 0.0} for row, error in exact.items()]
    signals = {"local I": (1.0, 1.5, 2.0, 3.0, 4.0), "local scores": (0.3, 0.6, 1.2)}
    cells = [
        {"row": row, "n_items": m, "signal": s / (math.sqrt(m) if row == "local I" else 1.0)}
        for row, m in product(signals, sizes)
        for s in signals[row]
    ]
    seen = sweep(local_error, cells, experiment="alabi2022: table 2", repetitions=repetitions)
    worst = seen.loc[seen.groupby(["row", "n_items"])["mean"].idxmax()]
    worst = worst.rename(columns={"n_items": "items", "mean": "error"})[["row", "items", "error", "se"]]
    frame = pd.concat([pd.DataFrame(parts), worst], ignore_index=True)
    for name in ("printed", "proved"):
        bound = [getattr(ROWS[row], name) for row in frame.row]
        frame[name] = [f(m) if f else math.nan for f, m in zip(bound, frame["items"], strict=True)]
    return frame.assign(table=[ROWS[row].table for row in frame.row])


#: Columns of `measured`.
BOUNDS = ("printed", "proved")


def slope(sizes: Sequence[int], errors: Sequence[float], ses: Sequence[float]) -> tuple[float, float]:
    """Exponent of m, least squares on logarithms with equal weights, and its standard error."""
    x = np.log(np.asarray(sizes, float))
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    relative = np.asarray(ses, float) / np.asarray(errors, float)
    return float(weights @ np.log(np.asarray(errors, float))), float(np.sqrt((weights**2) @ relative**2))


def exponents(errors: pd.DataFrame) -> pd.DataFrame:
    """Exponents of m of what was measured and of the bounds, fitted alike on the same sizes.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``row``, ``measured``, ``se``, ``printed`` and ``proved`` (missing where there is no such bound).
    """
    rows = []
    for row in ROWS:
        part = errors[errors.row == row].sort_values("items")
        sizes = part["items"].tolist()
        fit, se = slope(sizes, part.error.tolist(), part.se.tolist())
        bounds = {name: exponent(sizes, part[name]) if part[name].notna().all() else math.nan for name in BOUNDS}
        rows.append({"table": ROWS[row].table, "row": row, "measured": fit, "se": se} | bounds)
    return pd.DataFrame(rows)


def over_bounds(errors: pd.DataFrame) -> pd.DataFrame:
    """Measured errors at the largest size, and as shares of the bounds there."""
    last = errors[errors["items"] == errors["items"].max()].set_index("row").loc[list(ROWS)].reset_index()
    shares = {f"of {name}": last.error / last[name] for name in BOUNDS}
    return last[["table", "row", "items", "error"]].assign(**shares)


def _within(errors: pd.DataFrame, table: int) -> list[Check]:
    """Errors of the printed rows over the printed rate; then of all rows with a bound of ours over that."""
    checks = []
    for row, entry in ROWS.items():
        part = errors[(errors.row == row) & (entry.table == table)]
        for name, limit, says in (("printed", entry.constant, supplied), ("proved", 1.0, amended)):
            if part.empty or part[name].isna().any():
                continue
            worst = part.loc[(part.error / part[name]).idxmax()]
            what = f"{row}: largest error over the {name} one, {part['items'].min():g} to {part['items'].max():g} items"
            error = Z * worst.se / worst[name]
            checks.append(says(what, worst.error / worst[name], "<=", limit, error=error))
    return checks


def _flatter(errors: pd.DataFrame, rows: Iterable[str]) -> list[Check]:
    fits = exponents(errors).set_index("row").loc[list(rows)]
    return [
        amended(
            f"{row}: measured exponent of m, less the printed one on the same sizes",
            fit.measured - fit.printed,
            "<",
            0,
            error=Z * fit.se,
        )
        for row, fit in fits.iterrows()
    ]


@claim("alabi2022:table-1")
def check_table_1(errors: pd.DataFrame, fits: pd.DataFrame) -> Iterator[Check]:
    """Table 1: no constant for the approximate rows at large epsilon; explicit ones at epsilon 1; what is measured.

    The constants are those of the proofs: for the rows at ratio 1 + xi, 3/2 times all pairs times the mean noise at
    ratio 2; for the others those of Corollaries 6 and 7, and 1.
    """
    grown = gaussian_constant(1e5, DELTA) / gaussian_constant(10.0, DELTA)
    what = "Gaussian rows: least constant of their noise, δ = 10⁻⁶, growth from ε = 10 to ε = 10⁵"
    least = max(gaussian_constant(share * _LOG, DELTA) for share in np.geomspace(1e-3, 1, 13))
    yield printed(what, grown, "<=", 1.0)
    yield supplied("the same constant, largest where ε ≤ log(1/δ)", least, "<=", 1 + math.sqrt(0.5))
    yield from _within(errors, 1)
    yield from _flatter(errors, ("I, Laplace", "I, Gaussian"))
    yield from _rates(fits, 1)


@claim("alabi2022:table-2")
def check_table_2(errors: pd.DataFrame, fits: pd.DataFrame) -> Iterator[Check]:
    """Table 2: the cited randomiser at large epsilon; explicit constants at epsilon 1/10; what is measured."""
    lone = [epsilon * cube_excess(epsilon) for epsilon in LARGE]
    what = "first row, one voter, 3 items: K − OPT over m³/(ε√n), exponent in ε from 10 to 1000"
    yield printed(what, exponent(LARGE, lone), "<=", 0.0)
    yield from _within(errors, 2)
    yield from _flatter(errors, ("local I",))
    yield from _rates(fits, 2)


#: First and second reduction in each of the three settings, with the printed power of m between their errors.
PAIRED = {
    "pure": ("I, Laplace", "II, Laplace", 1.0),
    "approximate": ("I, Gaussian", "II, Gaussian", 0.5),
    "local": ("local I", "local II, ours", 0.5),
}


def gains(errors: pd.DataFrame) -> pd.DataFrame:
    """Error of the first reduction over that of the second.

    Returns
    -------
    pandas.DataFrame
        ``setting``, ``items``, ``gain``, ``se``, ``printed`` (ratio of the printed errors, constants taken as 1).
    """
    parts = []
    for setting, (first, second, power) in PAIRED.items():
        one, two = (errors[errors.row == row].set_index("items").sort_index() for row in (first, second))
        found = gain(one, two, "error")
        items = found.index.to_numpy(float)
        rate = items**power / (np.sqrt(np.log(items)) if setting == "approximate" else np.log(items))
        parts.append(found.assign(setting=setting, printed=rate).reset_index())
    return pd.concat(parts, ignore_index=True)[["setting", "items", "gain", "se", "printed"]]


@claim("alabi2022:sec-results:second-reduction")
def check_second_reduction(errors: pd.DataFrame) -> Iterator[Check]:
    """Does the second reduction improve on the first, in its bounds and in its errors?"""
    for setting, part in gains(errors).groupby("setting", sort=False):
        last = part.loc[part["items"].idxmax()]
        few, many = 1e2, 1e6
        grown = (many / few) ** PAIRED[str(setting)][2] * math.log(few) / math.log(many)
        what = f"{setting}: bound of I over bound of II, growth from {few:,.0f} to {many:,.0f} items, at least"
        yield printed(what, grown, ">", 1.0, reading="of the bounds")
        what = f"{setting}: error of I over error of II, {last['items']:g} items, all voters agree"
        if setting == "pure":
            most = math.sqrt(last["items"])
            yield amended(f"{what}; against √m", last.gain, "<=", most, error=Z * last.se)
        else:
            yield printed(what, last.gain, ">", 1.0, reading="of the errors", error=Z * last.se)
            yield amended(what, last.gain, "<=", 1.0, error=Z * last.se)


def scaling(n_items: int, products: Iterable[float], points: int = 60) -> pd.DataFrame:
    """Worst error of the exponential mechanism over planted orders of all margins, exactly; only epsilon n matters.

    A share (1 + margin) / 2 of the voters has one order, the others its reverse. The order drawn has a Mallows law of
    parameter epsilon n margin / (2 pairs), and each of its inversions costs the margin.

    Returns
    -------
    pandas.DataFrame
        ``epsilon n``, ``margin`` (the worst), ``error``, ``error × epsilon n``, and ``share`` of all pairs.
    """
    pairs, rows = math.comb(n_items, 2), []
    for amount in products:
        errors = {
            margin: margin * Mallows(n_items, amount * margin / (2 * pairs)).distance_moments()[0]
            for margin in np.geomspace(1e-4, 1, points)
        }
        margin = max(errors, key=lambda g: errors[g])
        row = {"epsilon n": amount, "margin": margin, "error": errors[margin]}
        rows.append(row | {"error × epsilon n": errors[margin] * amount, "share": errors[margin] / pairs})
    return pd.DataFrame(rows)


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


# --- exponents of n and epsilon --------------------------------------------------------------------------------------

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

    Parameters
    ----------
    design : LocalKwikSort
    ahead, behind : int
        Voters of each kind.
    rng : numpy.random.Generator
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

    Parameters
    ----------
    row : str
        Of `ROWS`. Central mechanisms draw discrete noise.
    n_items, voters : int
    epsilon : float
    signal : float
        Margin in units of `noise_unit` over n or sqrt(n), up to the rounding to whole voters.
    repetitions : int
    rng : numpy.random.Generator
    """
    mechanism = _mechanism(row, n_items, epsilon)
    wanted = signal * noise_unit(row, n_items, epsilon) * (math.sqrt(voters) if ROWS[row].table == 2 else 1)
    ahead = min(voters - 1, max(voters // 2 + 1, round((voters + wanted) / 2)))
    behind = voters - ahead
    true = np.sign(np.arange(n_items) - np.arange(n_items)[:, None])
    cost = (1 + true) / 2 * (ahead - behind) / voters
    errors = np.empty(repetitions)
    for r in range(repetitions):
        names = rng.permutation(n_items)  # ties must not know the order
        votes = np.where(true > 0, ahead, np.where(true < 0, behind, 0))[np.ix_(names, names)]
        if isinstance(mechanism, LocalKwikSort):
            names, order = np.arange(n_items), mechanism.sort(split_answers(mechanism, ahead, behind, rng))
        elif isinstance(mechanism, SampledOrder):
            signs = true[np.ix_(names, names)].astype(float)
            seen = ahead * one_pair_margins(signs, ahead, epsilon, rng)
            seen += behind * one_pair_margins(-signs, behind, epsilon, rng)
            order = _pair_order(row, seen)
        elif isinstance(mechanism, PrivateBorda):
            order = np.argsort(mechanism.perturb(votes.sum(axis=0), rng))
        else:
            order = mechanism.release(Votes(votes), rng).order
        errors[r] = kemeny_score(names[order], cost)
    return errors


def fewest_voters(row: str, n_items: int, epsilon: float) -> int:
    """Voters for which the largest margin tried is a half."""
    needed = 2 * max(TRIED) * noise_unit(row, n_items, epsilon)
    return math.ceil(needed ** (2 if ROWS[row].table == 2 else 1))


def fitted(repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """Worst errors found, over the margins, of all rows at several n, and at several epsilon.

    Parameters
    ----------
    repetitions : int
        Releases a row, n, epsilon and margin.
    jobs : int
        As of `sweep`.

    Returns
    -------
    pandas.DataFrame
        ``row``, ``varied`` ("n", "ε", or "above" for epsilon above 1), ``voters``, ``epsilon``, ``signal`` (the
        worst), ``error`` (K - OPT in fractions of the voters), ``se``.
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


def rates(fits: pd.DataFrame) -> pd.DataFrame:
    """Exponents of n and epsilon of what `fitted` found, with their standard errors, the printed and the noise's own.

    Returns
    -------
    pandas.DataFrame
        ``row``, ``voters`` (fewest and most); of n ``n``, ``se n``, ``printed n``; of epsilon ``ε``,
        ``se ε``, ``printed ε``, ``noise ε`` (`noise_unit`); of epsilon above 1 ``above 1``, ``se above``, missing for
        central rows.
    """
    rows = []
    for row, entry in ROWS.items():
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


def _rates(fits: pd.DataFrame, table: int) -> list[Check]:
    """Exponents of n against the printed ones, of epsilon against those of the noise, within `Z` standard errors."""
    checks = []
    for fit in rates(fits).to_dict("records"):
        if ROWS[fit["row"]].table != table:
            continue
        what = f"{fit['row']}: measured exponent of"
        own = "" if abs(fit["noise ε"] - fit["printed ε"]) < 1e-3 else ", against that of its noise"
        checks += [
            amended(f"{what} n", fit["n"], "==", fit["printed n"], error=Z * fit["se n"]),
            amended(f"{what} ε up to 1{own}", fit["ε"], "==", fit["noise ε"], error=Z * fit["se ε"]),
        ]
    return checks


# --- where the lines cross -------------------------------------------------------------------------------------------

#: The first reduction of each setting, and what it is compared with.
CROSSED = {
    "pure": ("I, Laplace", ("II, Laplace", "exponential", "scores, Laplace")),
    "approximate": ("I, Gaussian", ("II, Gaussian", "scores, Gaussian")),
    "local": ("local I", ("local II", "local II, ours", "local scores")),
}


def crossing(sizes: Sequence[float], ratios: Sequence[float], errors: Sequence[float]) -> tuple[float, float, float]:
    """Size at which a ratio last passes 1, interpolated on logarithms, and its 95 % interval.

    Parameters
    ----------
    sizes : sequence of float
        Increasing.
    ratios, errors : sequence of float
        The ratio at each size, and its standard error.

    Returns
    -------
    tuple of float
        The size, low and high end; 0 for below the first size (or nowhere), infinity for above the last one.
    """
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(ratios, float))
    bar = BAR * np.asarray(errors, float) / np.asarray(ratios, float)

    def passed(z: NDArray[np.float64]) -> float:
        other = np.flatnonzero((z > 0) != (y[-1] > 0))
        if not len(other):
            return 0.0
        k = int(other[-1])
        if k == len(z) - 1:
            return math.inf
        return float(np.exp(x[k] + (x[k + 1] - x[k]) * z[k] / (z[k] - z[k + 1])))

    low, high = sorted((passed(y - bar), passed(y + bar)))
    return passed(y), low, high


def crossings(errors: pd.DataFrame) -> pd.DataFrame:
    """Numbers of items at which the measured error of the first reduction passes that of another row.

    Returns
    -------
    pandas.DataFrame
        ``setting``, ``I against`` the row; ``at <m> items``: error of I over that of the row, with its 95 % error, at
        the least and at the largest size; ``cross at``: `crossing` in words.
    """
    rows = []
    for setting, (first, others) in CROSSED.items():
        one = errors[errors.row == first].set_index("items").sort_index()
        for other in others:
            two = errors[errors.row == other].set_index("items").sort_index()
            found = gain(one, two, "error")
            ratio, se = found["gain"], found["se"]
            sizes = [int(m) for m in ratio.index]
            few, many = sizes[0], sizes[-1]
            ends = crossing(sizes, ratio.tolist(), se.tolist())
            at, low, high = (
                f"below {few}" if m == 0 else f"above {many}" if m == math.inf else f"{m:.0f}" for m in ends
            )
            text = f"{at} ({low} to {high})"
            if ends[2] == 0:
                text = "none: I errs " + ("more" if ratio[many] > 1 else "less")
            elif ends[1] == 0 or ends[2] == math.inf:
                text = f"undecided ({low} to {high})"
            shown = {f"at {m} items": f"{ratio[m]:.3g} ± {BAR * se[m]:.2g}" for m in (few, many)}
            rows.append({"setting": setting, "I against": other} | shown | {"cross at": text})
    return pd.DataFrame(rows)


# --- what a person should use ----------------------------------------------------------------------------------------

#: Share of all pairs in which a voter of the Mallows data contradicts the centre, on average.
SPREAD = 1 / 3
#: Share of the larger of two camps; the other one has the halves of its order exchanged.
CAMP = 0.55
#: The best mechanism counts as a coin toss where its excess is above this share of a random order's.
COIN = 0.9
#: Differences of excess up to this share of all pairs do not matter.
TIE = 5e-4
#: Data of any size; each can be had with any number of voters, up to rounding.
FAMILIES = ("Mallows", "two camps")
#: The rankings of real voters of the section on Borda's count.
SURVEYS = ("parties", "universities")
#: Models of privacy, and the delta of each.
MODELS = {"pure": 0.0, "approximate": DELTA, "local": 0.0}


@cache
def population(data: str, n_items: int) -> NDArray[np.float64]:
    """Margins w[i, j] - w[j, i] of one of `FAMILIES`, whose optimal order is 0, 1, ...; or of one of `SURVEYS`."""
    if data not in (*FAMILIES, *SURVEYS):
        raise ValueError(f"data = {data!r}; allowed are {', '.join((*FAMILIES, *SURVEYS))}")
    if data in SURVEYS:
        w = pairwise_fractions(scores.instance(data))
        return w - w.T
    item = np.arange(n_items)
    if data == "two camps":
        half = -(-n_items // 2)
        other = (item + n_items - half) % n_items
        signs = [np.sign(row - row[:, None]) for row in (item, other)]
        return CAMP * signs[0] + (1 - CAMP) * signs[1]
    pairs = math.comb(n_items, 2)
    theta = brentq(lambda x: Mallows(n_items, x).distance_moments()[0] - SPREAD * pairs, 1e-9, 50.0)
    return np.asarray(Mallows(n_items, theta).bias(item - item[:, None]))


@cache
def _central(n_items: int, epsilon: float, delta: float) -> tuple[NoisyMatrix, PrivateKwikSort, PrivateBorda]:
    rule = rule_for(n_items)
    return (
        NoisyMatrix.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous", rule=rule),
        PrivateKwikSort.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous", rule=rule),
        PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous"),
    )


def _central_orders(
    margins: NDArray[np.float64], voters: int, epsilon: float, delta: float, repetitions: int, rng: np.random.Generator
) -> dict[str, list[NDArray[np.int64]]]:
    matrix, sorter, places = _central(len(margins), epsilon, delta)
    counts = voters * (1 + margins) / 2
    np.fill_diagonal(counts, 0)
    votes = Votes(counts)
    orders = {
        "matrix": [best_order(matrix.perturb(voters * margins, rng)) for _ in range(repetitions)],
        "KwikSort": [sorter.release(votes, rng).order for _ in range(repetitions)],
        "scores": list(np.argsort(places.perturb(np.tile(counts.sum(axis=0), (repetitions, 1)), rng), axis=1)),
    }
    if not delta and len(margins) <= EXACT_ITEMS:
        orders["exponential"] = list(
            ExponentialMechanism.calibrated(n_items=len(margins), epsilon=epsilon).draw(counts, repetitions, rng)
        )
    return orders


def _local_orders(
    margins: NDArray[np.float64], voters: int, epsilon: float, repetitions: int, rng: np.random.Generator
) -> dict[str, list[NDArray[np.int64]]]:
    design = LocalKwikSort.calibrated(n_items=len(margins), epsilon=epsilon)
    orders: dict[str, list[NDArray[np.int64]]] = {"matrix": [], "scores": []}
    if voters >= design.blocks:
        orders["KwikSort"] = []
    for _ in range(repetitions):
        names = rng.permutation(len(margins))  # ties must not know the order
        true = margins[np.ix_(names, names)]
        seen = one_pair_margins(true, voters, epsilon, rng)
        orders["matrix"].append(names[best_order(seen)])
        orders["scores"].append(names[borda(seen)])
        if "KwikSort" in orders:
            plus = binomial(voters // design.blocks, (1 + math.tanh(epsilon / 2) * np.triu(true, 1)) / 2, rng=rng)
            upper = np.triu(plus / (voters // design.blocks), 1)
            orders["KwikSort"].append(names[kwiksort(upper + np.tril(1 - upper.T, -1), rng=rng)])
    return orders


def excess(
    data: str, n_items: int, voters: int, epsilon: float, model: str, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """K - OPT as a share of all pairs, of releases of all mechanisms of one model.

    Central mechanisms are given the margins; local ones draw reports of voters drawn from the population, one pair a
    voter, with the exact law. KwikSort's answers are independent over pairs, as its fresh blocks make them.

    Parameters
    ----------
    data : str
        Of `FAMILIES` or `SURVEYS`.
    n_items, voters : int
    epsilon : float
        At most 1 in the local model, where longer reports would be better above.
    model : {"pure", "approximate", "local"}
    repetitions : int
    rng : numpy.random.Generator
    """
    if model not in MODELS:
        raise ValueError(f"model = {model!r}; allowed are {', '.join(MODELS)}")
    margins = population(data, n_items)
    if model == "local":
        orders = _local_orders(margins, voters, epsilon, repetitions, rng)
    else:
        orders = _central_orders(margins, voters, epsilon, MODELS[model], repetitions, rng)
    w, pairs = (1 + margins) / 2, math.comb(n_items, 2)
    least = kemeny_score(np.arange(n_items), w) if data in FAMILIES else kemeny(w).cost
    return {
        (name,): np.array([kemeny_score(order, w) - least for order in found]) / pairs for name, found in orders.items()
    }


def random_excess(data: str, n_items: int) -> float:
    """Exact mean of `excess` of a random order."""
    margins, pairs = population(data, n_items), math.comb(n_items, 2)
    order = np.arange(n_items) if data in FAMILIES else kemeny((1 + margins) / 2).order
    return 0.5 - kemeny_score(order, (1 + margins) / 2) / pairs


def compare(
    sizes: Iterable[int], voters: Iterable[int], epsilons: Sequence[float], repetitions: int, jobs: int = 1
) -> pd.DataFrame:
    """`excess` on both families for all sizes, and on the surveys.

    Returns
    -------
    pandas.DataFrame
        ``data``, ``n_items``, ``voters``, ``epsilon``, ``model``, ``mechanism``, ``mean``, ``se``, ``repetitions``,
        ``random`` (`random_excess`).
    """
    shapes = [(data, m, n) for data, m, n in product(FAMILIES, sizes, voters)]
    shapes += [(name, scores.instance(name).n_items, len(scores.instance(name))) for name in SURVEYS]
    cells = [
        {"data": data, "n_items": m, "voters": n, "epsilon": epsilon, "model": model}
        for (data, m, n), epsilon, model in product(shapes, epsilons, MODELS)
    ]
    frame = sweep(
        excess, cells, experiment="alabi2022: who", repetitions=repetitions, outcomes=["mechanism"], jobs=jobs
    )
    chance = [random_excess(data, m) for data, m in zip(frame["data"], frame.n_items, strict=True)]
    return frame.assign(random=chance)


_CELL = ["n_items", "voters", "epsilon", "model"]


def _best(part: pd.DataFrame) -> dict[str, Any]:
    """The least mean, and those within two standard errors of the difference or `TIE`; a coin where none beats one."""
    best = part.loc[part["mean"].idxmin()]
    tied = part[part["mean"] - best["mean"] <= np.maximum(2 * np.hypot(part.se, best.se), TIE)].sort_values(
        "mean", kind="stable"
    )
    coin = best["mean"] > COIN * best.random
    use = "coin toss" if coin else " or ".join(tied.mechanism)
    return {"first": "coin toss" if coin else best.mechanism, "use": use, "mean": best["mean"], "se": best.se}


def winners(frame: pd.DataFrame) -> pd.DataFrame:
    """The mechanism of least measured excess in every cell of `compare`.

    Returns
    -------
    pandas.DataFrame
        ``data`` and the cell; ``first``; ``use``, ties included; ``mean``, ``se`` of the first.
    """
    rows = [
        dict(zip(["data", *_CELL], key, strict=True)) | _best(part)
        for key, part in frame.groupby(["data", *_CELL], sort=False)
    ]
    return pd.DataFrame(rows)


def answers(frame: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """What to use where one does not know the data: least excess on the worse of the two families.

    Returns
    -------
    pandas.DataFrame
        A row a number of items and voters; a column a model, each with the mechanism, ties included, and its excess in
        per cent of all pairs on the family that is worse for it.
    """
    known = frame[frame["data"].isin(FAMILIES) & (frame.epsilon == epsilon)].reset_index(drop=True)
    worst = known.loc[known.groupby([*_CELL, "mechanism"])["mean"].idxmax()]
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for (m, n, _, model), part in worst.sort_index().groupby(_CELL, sort=False):
        best = _best(part)
        text = f"{best['use']}, {100 * best['mean']:.1f} ± {196 * best['se']:.1f} %"
        rows.setdefault((m, n), {"items": m, "voters": n})[str(model)] = text
    return pd.DataFrame([rows[key] for key in sorted(rows)])[["items", "voters", *MODELS]]


def tally(best: pd.DataFrame) -> pd.DataFrame:
    """In how many cells of `winners` a mechanism is the only best one, or one of several.

    Returns
    -------
    pandas.DataFrame
        ``mechanism``, ``alone``, ``tied``; a row for the coin toss.
    """
    sets = [use.split(" or ") for use in best.use]
    names = ["matrix", "scores", "KwikSort", "exponential", "coin toss"]
    return pd.DataFrame(
        {
            "mechanism": name,
            "alone": sum(found == [name] for found in sets),
            "tied": sum(name in found and len(found) > 1 for found in sets),
        }
        for name in names
    )


# --- figures ----------------------------------------------------------------------------------------------------------


_ROWS = {
    "I, Laplace": (COLOURS[0], "o"),
    "I, Gaussian": (COLOURS[5], "o"),
    "II, Laplace": (COLOURS[1], "s"),
    "II, Gaussian": (COLOURS[4], "s"),
    "exponential": (COLOURS[3], "^"),
    "scores, Laplace": (COLOURS[2], "D"),
    "scores, Gaussian": (COLOURS[6], "D"),
    "local I": (COLOURS[0], "o"),
    "local II": (COLOURS[1], "s"),
    "local II, ours": (COLOURS[4], "s"),
    "local scores": (COLOURS[2], "D"),
}


_MECHANISMS = {
    "matrix": ("M", COLOURS[0]),
    "KwikSort": ("K", COLOURS[1]),
    "scores": ("S", COLOURS[2]),
    "exponential": ("E", COLOURS[3]),
    "coin toss": ("coin", "#bbbbbb"),
}


@styled
def draw_errors(frame: pd.DataFrame) -> Figure:
    """Measured errors over m^2.5 against the number of items, a panel a table; thin lines rise as the printed ones."""
    figure = Figure(figsize=(7.2, 4.4))
    for axes, (table, rows) in zip(figure.subplots(1, 2), frame.groupby("table"), strict=True):
        for row, part in rows.groupby("row", sort=False):
            colour, marker = _ROWS[str(row)]
            unit = part["items"] ** 2.5
            look = {"color": colour, "marker": marker, "ls": "none", "capsize": 2, "label": row}
            axes.errorbar(part["items"], part["error"] / unit, BAR * part["se"] / unit, **look)
            guide = part["printed"] * part["error"].iloc[0] / part["printed"].iloc[0]
            axes.plot(part["items"], guide / unit, color=colour, lw=0.8)
        unit_text = "K × εn / m$^{2.5}$" if table == 1 else "K × ε√n / m$^{2.5}$"
        axes.set(title=f"Table {table}", xlabel="items m", ylabel=unit_text, xscale="log", yscale="log")
        ticks = sorted(frame["items"].unique())
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.set_xticks([], minor=True)
    handles = [drawn for axes in figure.axes for drawn in axes.get_legend_handles_labels()[0]]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=8.5)
    return figure


@styled
def draw_winners(frame: pd.DataFrame) -> Figure:
    """The mechanism of least excess in every cell, with the excess in per cent; a row of panels a kind of data."""
    data, models = list(frame["data"].unique()), list(frame["model"].unique())
    figure = Figure(figsize=(7.2, 3.1 * len(data)))
    panels = figure.subplots(len(data), len(models), squeeze=False, sharex=True, sharey=True)
    voters = sorted(frame["voters"].unique())
    lines = sorted({(row.n_items, -row.epsilon) for row in frame.itertuples()}, reverse=True)
    for (i, kind), (j, model) in ((a, b) for a in enumerate(data) for b in enumerate(models)):
        axes = panels[i, j]
        for cell in frame[(frame["data"] == kind) & (frame["model"] == model)].to_dict("records"):
            x, y = voters.index(cell["voters"]), lines.index((cell["n_items"], -cell["epsilon"]))
            tied = (
                "coin"
                if cell["first"] == "coin toss"
                else "".join(_MECHANISMS[t][0] for t in cell["use"].split(" or "))
            )
            axes.add_patch(Rectangle((x, y), 1, 1, color=_MECHANISMS[cell["first"]][1], alpha=0.4, lw=0))
            axes.annotate(f"{tied}\n{100 * cell['mean']:.1f}", (x + 0.5, y + 0.5), ha="center", va="center", fontsize=7)
        axes.set(xlim=(0, len(voters)), ylim=(0, len(lines)), title=f"{kind}, {model}")
        axes.set_xticks(
            [x + 0.5 for x in range(len(voters))], [f"{n / 1e6:g} M" if n >= 1e6 else f"{n:,}" for n in voters]
        )
        axes.set_yticks([y + 0.5 for y in range(len(lines))], [f"{m}, {-e:g}" for m, e in lines])
        axes.grid(visible=False)
    figure.supxlabel("voters", fontsize=10)
    figure.supylabel("items, ε", fontsize=10)
    handles = [
        Patch(color=c, alpha=0.4, label=n if n == "coin toss" else f"{s} {n}") for n, (s, c) in _MECHANISMS.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=8.5)
    return figure
