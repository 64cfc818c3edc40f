"""Busa-Fekete, Fotakis and Zampetakis (2021), Section 7.3: power of private tests, as printed and at equal terms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numba
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq

from companion.chapters.private_uniformity.local_voters import local_power
from companion.chapters.private_uniformity.truncated import agreeing_loss, theorem_6
from companion.chapters.private_uniformity.truncated_samples import least_step, simulated_size
from companion.chapters.testing_uniformity.power import crossing, spread
from companion.instruments.allowance import Z
from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import certain, wilson
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.friedman import null_rank_sums
from dprank.uniformity.laplace import LaplaceUnif, discrete_laplace_cdf
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.pairs import disjoint_pairs
from dprank.uniformity.truncated import Trun
from dprank.uniformity.unif import Unif, unif_null_sf, unif_null_threshold, unif_sf

DELTA = 0.05
#: Section 7.3 says both 0.33 and 1/3.
EPSILON = 1 / 3
#: Panels of Figure 3: items, rankings in the central model, rankings in the local one.
PANELS = ((10, 10_000, 100_000), (100, 1000, 200_000), (500, 1000, 300_000), (1000, 1000, 300_000))
#: What `trun_size` is off at most, seven standard errors.
SIZE_ERROR = 0.003
BUCKETED, TRUNCATED, EXCHANGED = "BUNIF", "TRUN", "TRUN, answers exchanged"
LEVEL = "BUNIF of TRUN's size"
COIN, VOTE, LAPLACE, RAMP = "BUNIF with a coin", "noisy vote of batches", "UNIF + Laplace", "TRUN, repaired"
LOCAL, LOCAL_EXACT = "local, as printed", "local, all pairs"
LOCAL_FIXED, ONE_BIT = "local, fixed pairing", "local, one bit"
#: How far TRUN, answers exchanged, is behind BUNIF of its size: a difference on the same data.
BEHIND = "TRUN behind"
PAIRS, RANKS, FREE = "noisy norm, pairs", "noisy norm, all ranks", "UNIF, not private"


def printed_mu(n_items: int, n_rankings: int, epsilon_0: float, delta: float = DELTA) -> float:
    """The mu for which Theorem 6 asks for just `n_rankings` rankings, at most 1: Figure 3 does not say its own."""

    def excess(mu: float) -> float:
        return float(theorem_6(n_items, mu, epsilon_0, delta).max()) - n_rankings

    return 1.0 if excess(1.0) >= 0 else float(brentq(excess, 1e-9, 1.0))


@numba.njit(cache=True, error_model="numpy")
def _running_sums(rows: Any, first: Any, second: Any, ends: Any) -> Any:
    """Sums of the pair signs over the first `ends[0]`, `ends[1]`, ... rankings, shape (ends, pairs)."""
    behind, start = np.zeros(len(first), np.int64), 0
    sums = np.empty((len(ends), len(first)), np.int64)
    for e in range(len(ends)):
        for r in range(start, ends[e]):
            row = rows[r]
            for p in range(len(first)):
                behind[p] += row[first[p]] > row[second[p]]
        sums[e] = ends[e] - 2 * behind
        start = ends[e]
    return sums


def batch_sums(rows: NDArray[Any], pairs: NDArray[np.int64], counts: Iterable[int]) -> dict[int, NDArray[np.int64]]:
    """Sums of the pair signs over each of so many batches of floor(rankings / batches) rankings, in one pass.

    Returns
    -------
    dict of int to ndarray of int, shape (batches, pairs)
    """
    ends = {b: np.arange(b + 1) * (len(rows) // b) for b in counts}
    every = np.unique(np.concatenate(list(ends.values())))
    first, second = np.ascontiguousarray(pairs.T, np.uint32)
    sums = _running_sums(rows, first, second, every)
    return {b: np.diff(sums[np.searchsorted(every, at)], axis=0) for b, at in ends.items()}


@cache
def central_tests(n_items: int, n_rankings: int, epsilon_0: float, null_draws: int) -> dict[str, Any]:
    """Private tests of the central model at one size; those that are not the paper's are pure epsilon_0-DP.

    A norm comes with the step it rejects from. The repaired and the better tests are of size `DELTA` at most; for all
    ranks that is certified by `null_draws` simulated uniform data sets.
    """
    m, n = n_items, n_rankings
    mu = printed_mu(m, n, epsilon_0)
    ranks = NoisyNorm.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA, statistic="ranks")
    pairs = NoisyNorm.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA)
    bucketed = paper.bucketed(m, n, epsilon_0, DELTA).mechanism
    exchanged = paper.trun(m, n, epsilon_0, DELTA, mu, accept_large=False).mechanism
    threshold = unif_null_threshold(m // 2, bucketed.batch_voters, trun_size(exchanged))
    return {
        BUCKETED: bucketed,
        LEVEL: replace(bucketed, batch_threshold=threshold),
        TRUNCATED: paper.trun(m, n, epsilon_0, DELTA, mu).mechanism,
        EXCHANGED: exchanged,
        COIN: Bucketed.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        VOTE: BatchVote.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        LAPLACE: LaplaceUnif.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        RAMP: Trun.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        PAIRS: (pairs, pairs.threshold()),
        RANKS: (ranks, rank_threshold(ranks, null_draws)),
        FREE: Unif.calibrated(n_items=m, n_voters=n, size=DELTA),
    }


@cache
def trun_size(test: paper.PrintedTrun, draws: int = 20_000) -> float:
    """Probability that TRUN rejects uniform rankings, over simulated sign sums: off by less than 0.001 or so."""
    rng = stream("busafekete2021 size of TRUN", {"n_items": test.n_items, "n_rankings": test.n_voters})
    return simulated_size(test, draws, rng)[0]


def rank_threshold(test: NoisyNorm, null_draws: int) -> int:
    """The least step that the noisy norm of uniform rankings reaches with probability `DELTA` at most, simulated."""
    rng = stream("busafekete2021 rank norms", {"n_items": test.n_items, "n_rankings": test.n_voters})
    sums = 2 * null_rank_sums(rng, null_draws, test.n_voters, test.n_items) - test.n_voters * (test.n_items - 1)
    return least_step(test, test.on_grid((sums**2).sum(axis=1)))


def central_draws(
    n_items: int,
    n_rankings: int,
    scaled: float,
    epsilon_0: float,
    null_draws: int,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> dict[tuple[str], NDArray[np.float64]]:
    """With what probability each private test rejects each of many data sets, by its noise alone; for `sweep`.

    Rankings are drawn around the identity, with a fresh pairing each time. A random pairing makes that the paper's
    random centre, and the norm of the rank sums does not know the items' names. All tests see the same data: "TRUN
    behind" is the probability of `LEVEL` less that of `EXCHANGED`.
    """
    tests = central_tests(n_items, n_rankings, epsilon_0, null_draws)
    law = Mallows(n_items, spread(n_items, n_rankings, scaled))
    rejected = {name: np.zeros(repetitions) for name in tests}
    for r in range(repetitions):
        rows = law.sample(n_rankings, rng=rng)
        for name, share in rejection(tests, rows, disjoint_pairs(n_items, rng=rng)).items():
            rejected[name][r] = share
    rejected[BEHIND] = rejected[LEVEL] - rejected[EXCHANGED]
    return {(name,): values for name, values in rejected.items()}


def rejection(tests: dict[str, Any], rows: NDArray[Any], pairs: NDArray[np.int64]) -> dict[str, float]:
    """With what probability each of `central_tests` rejects the rankings `rows`, shape (rankings, items). Exact."""
    n, m = rows.shape
    batched = batch_sums(rows, pairs, {1, *(tests[name].n_batches for name in (BUCKETED, COIN, VOTE))})
    sums = batched[1][0]
    squared = int((sums**2).sum())
    y = squared / n

    def batch_rejects(test: Bucketed | BatchVote) -> NDArray[np.bool_]:
        return (batched[test.n_batches] ** 2).sum(axis=1) / test.batch_voters >= test.batch_threshold

    def noise_sf(steps: float, scale: float) -> float:
        return float(discrete_laplace_cdf(-np.asarray(math.ceil(steps)), scale))

    shares = {FREE: float(y >= tests[FREE].threshold)}
    for name in (BUCKETED, LEVEL, COIN):
        coin = tests[name].coin
        shares[name] = coin / 2 + (1 - coin) * float(batch_rejects(tests[name]).mean())
    shares[VOTE] = noise_sf(tests[VOTE].threshold - int(batch_rejects(tests[VOTE]).sum()), tests[VOTE].scale)
    # Y is at least the threshold where so many pairs disagree, or fewer
    most = math.floor((len(pairs) * n - tests[LAPLACE].threshold) * n / 4 + 1e-6)
    shares[LAPLACE] = noise_sf((len(pairs) * n * n - squared) // 4 - most, tests[LAPLACE].scale)
    for name in (TRUNCATED, EXCHANGED, RAMP):
        shares[name] = 1 - float(tests[name].accepts(sums))
    # a column's sum is below the number of entries
    spread_of_ranks = 2 * rows.sum(axis=0, dtype=np.int32).astype(np.int64) - n * (m - 1)
    for name, square in ((PAIRS, squared), (RANKS, int((spread_of_ranks**2).sum()))):
        test, threshold = tests[name]
        shares[name] = noise_sf(threshold - int(test.on_grid(square)), test.scale)
    return shares


def central_power(
    panels: Iterable[tuple[int, int]],
    scaled: Sequence[float],
    repetitions: int,
    *,
    epsilon_0: float = EPSILON,
    null_draws: int = 499,
    jobs: int = 1,
) -> pd.DataFrame:
    """Power of the private tests of the central model: the mean of their probabilities to reject, over data sets.

    Parameters
    ----------
    panels : iterable of (int, int)
        Items and rankings.
    scaled : sequence of float
        See `power.spread`; 0 gives the size.
    repetitions : int
    epsilon_0 : float
    null_draws, jobs : int

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``n_rankings``, ``scaled``, ``gap`` (1 - phi), ``delta``, ``test``, ``mean``, ``se``, ``low`` and
        ``high`` (Wilson, 95 %; not of "TRUN behind", a difference), ``repetitions``.
    """
    cells = [
        {"n_items": m, "n_rankings": n, "scaled": float(s), "epsilon_0": epsilon_0, "null_draws": null_draws}
        for m, n in panels
        for s in scaled
    ]
    frame = sweep(
        central_draws,
        cells,
        experiment="busafekete2021 central power",
        repetitions=repetitions,
        outcomes=("test",),
        jobs=jobs,
    )
    theta = [spread(m, n, s) for m, n, s in zip(frame.n_items, frame.n_rankings, frame.scaled, strict=True)]
    frame["gap"], frame["delta"] = -np.expm1(-np.array(theta)), DELTA
    share = frame["mean"].where(frame.test != BEHIND)
    frame["low"], frame["high"] = wilson(share, frame.repetitions)
    return frame


def printed_choices(panels: Iterable[tuple[int, int]], epsilon_0: float = EPSILON) -> pd.DataFrame:
    """The mu that we take for TRUN, and what follows from it: its size, and its privacy beside the one claimed."""
    rows = []
    for m, n in panels:
        mu = printed_mu(m, n, epsilon_0)
        test = paper.trun(m, n, epsilon_0, DELTA, mu).mechanism
        exchanged = replace(test, accept_large=False)
        rows.append(
            {
                "items": m,
                "rankings": n,
                "μ": mu,
                "size as printed": trun_size(test),
                "size, answers exchanged": trun_size(exchanged),
                "claimed loss": epsilon_0,
                "attained loss": agreeing_loss(test),
                "proved loss": test.guarantee.epsilon,
            }
        )
    return pd.DataFrame(rows)


def local_curves(
    central: pd.DataFrame, gaps: Sequence[float], repetitions: int, epsilon_0: float = EPSILON
) -> pd.DataFrame:
    """Power of the local tests at the paper's numbers of rankings: at the central tests' 1 - phi, and at `gaps`."""
    curves = []
    for m, _, n in PANELS:
        if not (central.n_items == m).any():
            continue
        for name, threshold, public, one_bit in (
            (LOCAL, "printed", True, False),
            (LOCAL_EXACT, "exact", True, False),
            (LOCAL_FIXED, "exact", False, False),
            (ONE_BIT, "exact", True, True),
        ):
            grid = sorted({*central[central.n_items == m].gap, *gaps})
            curve = local_power(
                m, n, epsilon_0, grid, repetitions, public=public, one_bit=one_bit, delta=DELTA, threshold=threshold
            )
            curves.append(curve.assign(test=name))
    frame = pd.concat(curves, ignore_index=True)
    frame["low"], frame["high"] = wilson(frame["mean"], frame.repetitions)
    return frame


def equal_size(central: pd.DataFrame) -> pd.DataFrame:
    """TRUN with its answers exchanged, and BUNIF given the same size: share rejected along 1 - phi."""
    part = central[central.test.isin([EXCHANGED, LEVEL])]
    wide = part.pivot_table(index=["n_items", "gap"], columns="test", values="mean").reset_index()
    return wide.rename(columns={"n_items": "items", "gap": "1 − φ"}).rename_axis(columns=None)


def gains(central: pd.DataFrame, best: str, others: Sequence[str], resamples: int = 200) -> pd.DataFrame:
    """The spread at which power passes one half, over that of the best test; intervals by resampling.

    Where the critical spread of a test falls like the inverse root of the number of rankings (UNIF, votes, the coin,
    Laplace noise on Y) the square of the ratio is how many times more rankings it needs. The noisy norm and TRUN profit
    more from further rankings: for them the square is too much.

    Parameters
    ----------
    central : pandas.DataFrame
        Of `central_power`.
    best : str
    others : sequence of str
    resamples : int

    Returns
    -------
    pandas.DataFrame
        ``items``, ``test``, ``ratio of spreads`` and ``95 % interval`` as text: ``> x`` where the curve does not reach
        one half on the grid.
    """
    rng = stream("busafekete2021 gains", {"best": best})

    def critical(part: pd.DataFrame, share: NDArray[np.float64]) -> float:
        rising = np.maximum.accumulate(share)
        return crossing(part.scaled, rising, 0.5) if rising[-1] >= 0.5 else math.inf

    rows = []
    for m, panel in central.groupby("n_items"):
        parts = {test: panel[panel.test == test].sort_values("scaled") for test in (best, *others)}
        for test in others:
            if test == best:
                continue
            ratios = []
            for k in range(resamples + 1):
                spreads = []
                for part in (parts[test], parts[best]):
                    share = part["mean"].to_numpy()
                    if k:
                        share = binomial(part.repetitions, share, rng=rng) / part.repetitions.to_numpy()
                    spreads.append(critical(part, share))
                ratios.append(spreads[0] / spreads[1] if math.isfinite(spreads[1]) else math.nan)
                if not k:
                    most = parts[test].scaled.max() / spreads[1]
            known = np.sort([ratio for ratio in ratios[1:] if not math.isnan(ratio)])
            low, high = known[[int(0.025 * len(known)), int(0.975 * len(known))]] if len(known) else (math.nan,) * 2
            interval = f"{low:.3g} to {high:.3g}" if math.isfinite(high) else f"{low:.3g} or more"
            ratio = f"> {most:.3g}" if math.isinf(ratios[0]) else f"{ratios[0]:.3g}"
            row = {"items": m, "test": test, "ratio of spreads": ratio}
            rows.append(row | {"95 % interval": interval if math.isfinite(low) else "beyond the grid"})
    return pd.DataFrame(rows)


# --- verdicts --------------------------------------------------------------------------------------------------------


def local_limit(n_items: int, n_rankings: int, epsilon_0: float = EPSILON) -> float:
    """Power of the local test as printed when all rankings are equal: no Mallows law is easier. Exact."""
    test = paper.local_pairs(n_items, epsilon_0, DELTA).mechanism
    threshold = paper.unif_threshold(n_items, DELTA)
    return float(unif_sf(test.n_pairs, n_rankings, threshold, test.shrinkage))


@claim("busafekete2021:fig-3")
def check_figure_3(central: pd.DataFrame, local: pd.DataFrame, epsilon_0: float = EPSILON) -> Iterator[Check]:
    """TRUN against BUNIF near the uniform law and far from it; the local test at the same spread, and at any."""
    for m, n, n_local in PANELS:
        test = paper.trun(m, n, epsilon_0, DELTA, printed_mu(m, n, epsilon_0)).mechanism
        yield printed(f"size of TRUN as printed, m = {m}", trun_size(test), "<=", DELTA, error=SIZE_ERROR)
        exchanged = trun_size(replace(test, accept_large=False))
        what = f"size of TRUN, answers exchanged, m = {m}"
        yield amended(what, exchanged, "<=", DELTA, error=SIZE_ERROR)
        part = central[central.n_items == m]
        if part.empty:
            continue
        for name, bound in ((BUCKETED, 0.8), (EXCHANGED, 0.7)):
            row = part[part.test == name].sort_values("scaled").iloc[-1]
            error = certain(float(row["mean"]), int(row.repetitions))
            what = f"power of {name}, m = {m}, 1 − φ = {row.gap:.2g}"
            yield amended(what, float(row["mean"]), ">=", bound, error=error)
        seen = part[(part.test == BUCKETED) & (part["mean"] >= 0.9)]
        if seen.empty:  # no spread of the grid is far enough from uniform
            continue
        row = seen.loc[seen.gap.idxmin()]
        there = local[(local.n_items == m) & (local.test == LOCAL)]
        other = there.iloc[(there.gap - row.gap).abs().argmin()]
        lead = float(row["mean"] - other["mean"])
        error = sum(certain(float(one["mean"]), int(one.repetitions)) for one in (row, other))
        what = f"power of BUNIF less that of the local test on {n_local:,} rankings, m = {m}, 1 − φ = {row.gap:.2g}"
        yield amended(what, lead, ">", 0, error=error)
        if m > 500:  # TRUN has nearly caught up: more data sets than at the standard profile are needed to see it
            continue
        level, behind = (part[part.test == name].sort_values("scaled") for name in (LEVEL, BEHIND))
        at = int((level["mean"] >= 0.9).to_numpy().argmax())
        row = behind.iloc[at]
        what = f"power of BUNIF given the size of TRUN, answers exchanged, less TRUN's, m = {m}, 1 − φ = {row.gap:.2g}"
        yield amended(what, float(row["mean"]), ">", 0, error=Z * row.se)
    m, _, n_local = PANELS[-1]
    what = f"power of the local test on {n_local:,} equal rankings, φ = 0, m = {m}"
    yield amended(what, local_limit(m, n_local, epsilon_0), "<=", DELTA, error=1e-6)


@claim("busafekete2021:sec-7.3:third")
def check_third(n_items: int = 10, n_rankings: int = 9999) -> Iterator[Check]:
    """How many batches Section 7.3 makes."""
    as_printed = paper.bucketed(n_items, n_rankings, 0.33, DELTA).mechanism
    third = paper.bucketed(n_items, n_rankings, 1 / 3, DELTA).mechanism
    yield printed("batches of BUNIF at ε₀ = 0.33", as_printed.n_batches, "==", 3)
    yield amended("batches of BUNIF at ε₀ = 1/3", third.n_batches, "==", 3)
    yield amended(
        f"size of BUNIF less that of UNIF on {third.batch_voters} of {n_rankings} rankings, m = {n_items}",
        third.exact_size - float(unif_null_sf(n_items // 2, n_rankings // 3, third.batch_threshold)),
        "==",
        0,
        error=1e-9,
    )


@claim("busafekete2021:sec-7.3:near-one")
def check_near_one(central: pd.DataFrame, epsilon_0: float = EPSILON) -> Iterator[Check]:
    """Why TRUN is ahead near the uniform law, if it is."""
    for m in sorted(map(int, central.n_items.unique())):
        gap = float(central[(central.n_items == m) & (central.gap > 0)].gap.min())
        mu = paper.unif_bias(m, -math.log1p(-gap))
        yield printed(f"μ at the spread nearest to 1 of our Figure 3, m = {m}, 1 − φ = {gap:.2g}", mu, ">=", 0.5)
        terms = theorem_6(m, mu, epsilon_0, DELTA)
        share = float(terms[0] / terms.max())
        yield amended(f"first term of Theorem 6 over the largest, m = {m}, the same μ", share, "==", 1)
        n = int(central[central.n_items == m].n_rankings.iloc[0])
        exchanged = paper.trun(m, n, epsilon_0, DELTA, printed_mu(m, n, epsilon_0), accept_large=False).mechanism
        lead = trun_size(exchanged) - paper.bucketed(m, n, epsilon_0, DELTA).mechanism.exact_size
        what = f"TRUN, answers exchanged, less BUNIF: probability of rejecting uniform rankings, m = {m}"
        yield amended(what, lead, ">", 0, error=SIZE_ERROR)


# --- figures ----------------------------------------------------------------------------------------------------------


_MARKS = "osD^vPX*"


def _panels(frame: pd.DataFrame) -> Figure:
    sizes = list(frame.groupby("n_items"))
    tests = list(dict.fromkeys(frame.test))
    figure = Figure(figsize=(7.2, 1.2 + 2.5 * ((len(sizes) + 1) // 2)))
    grid = figure.subplots((len(sizes) + 1) // 2, 2, sharey=True, squeeze=False).ravel()
    for axes, (m, part) in zip(grid, sizes, strict=False):
        least = part.gap[part.gap > 0].min() / 3
        for number, test in enumerate(tests):
            curve = part[part.test == test].sort_values("gap")
            # the uniform law, at the left end, is infinitely far on a logarithmic axis
            x = curve.gap.where(curve.gap > 0, least)
            bars = [(curve["mean"] - curve.low).clip(lower=0), (curve.high - curve["mean"]).clip(lower=0)]
            look = {"color": COLOURS[number % len(COLOURS)], "marker": _MARKS[number % len(_MARKS)]}
            axes.errorbar(x, curve["mean"], bars, capsize=1.5, ms=3.5, lw=1.2, label=test, **look)
        axes.axhline(part.delta.iloc[0], color="black", lw=0.8, ls=":")
        axes.set(xscale="log", title=f"m = {m}", ylim=(-0.03, 1.03))
        most = part.gap.max()
        room = (most / least) ** 0.15  # or the label runs into that of the left end
        ticks = [10.0**e for e in range(-7, 1) if least * room < 10.0**e <= most]
        axes.set_xticks([least, *ticks], ["0", *(f"$10^{{{round(math.log10(t))}}}$" for t in ticks)])
        axes.minorticks_off()
    for axes in grid[len(sizes) :]:
        axes.set_axis_off()
    figure.supxlabel("1 − φ", fontsize=10)
    figure.supylabel("share rejected", fontsize=10)
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


@styled
def draw_figure_3(frame: pd.DataFrame) -> Figure:
    """The paper's Figure 3: its private tests as printed."""
    return _panels(frame)


@styled
def draw_equal_privacy(frame: pd.DataFrame) -> Figure:
    """Tests of one size and one pure epsilon."""
    return _panels(frame)
