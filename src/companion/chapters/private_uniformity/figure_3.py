"""Section 7.3 and its Figure 3: the private tests as printed, and at equal terms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from companion.chapters.private_uniformity.central_samples import unif_power
from companion.chapters.private_uniformity.local_voters import ANSWER, WORDS, local_power
from companion.chapters.private_uniformity.same_data import (
    BEHIND,
    BUCKETED,
    COIN,
    DELTA,
    EPSILON,
    EXCHANGED,
    FREE,
    LAPLACE,
    LEVEL,
    PAIRS,
    RAMP,
    RANKS,
    TRUNCATED,
    VOTE,
    printed_mu,
    trun_size,
)
from companion.chapters.private_uniformity.trun import agreeing_loss, theorem_6
from companion.chapters.private_uniformity.trun_samples import rankings_needed
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.power_curves import LEAN, curve, level
from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import stream
from companion.instruments.uniformity import certain, crossing, wilson
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.draws import binomial
from dprank.uniformity.unif import unif_null_sf, unif_sf

#: Panels of Figure 3: items, rankings in the central model, rankings in the local one.
PANELS = ((10, 10_000, 100_000), (100, 1000, 200_000), (500, 1000, 300_000), (1000, 1000, 300_000))
#: What `trun_size` is off at most, seven standard errors.
SIZE_ERROR = 0.003
LOCAL, LOCAL_EXACT = "local, as printed", "local, all pairs"
LOCAL_FIXED, ONE_BIT = "local, fixed pairing", "local, one bit"
#: What makes each local test, for `local_power`.
LOCAL_TESTS: dict[str, dict[str, Any]] = {
    LOCAL: {"threshold": "printed"},
    LOCAL_EXACT: {},
    LOCAL_FIXED: {"public": False},
    ONE_BIT: {"one_bit": True},
}


def printed_choices(panels: Iterable[tuple[int, int]], epsilon_0: float = EPSILON) -> pd.DataFrame:
    """The mu that we take for TRUN, and what follows from it: its size, and its privacy beside the one claimed."""
    rows = []
    for m, n in panels:
        mu = printed_mu(m, n, epsilon_0)
        test = paper.trun(m, n, epsilon_0, DELTA, mu).mechanism
        exchanged = trun_size(replace(test, accept_large=False))
        sizes = {"size as printed": trun_size(test), "size, answers exchanged": exchanged, "claimed loss": epsilon_0}
        losses = {"attained loss": agreeing_loss(test), "proved loss": test.guarantee.epsilon}
        rows.append({"items": m, "rankings": n, "μ": mu} | sizes | losses)
    return pd.DataFrame(rows)


def local_curves(
    central: pd.DataFrame, gaps: Sequence[float], repetitions: int, epsilon_0: float = EPSILON
) -> pd.DataFrame:
    """Power of the local tests at the paper's numbers of rankings: at the central tests' 1 - phi, and at `gaps`."""
    curves = []
    for m, _, n in PANELS:
        if not (central.n_items == m).any():
            continue
        grid = sorted({*central[central.n_items == m].gap, *gaps})
        for name, options in LOCAL_TESTS.items():
            curve = local_power(m, n, epsilon_0, grid, repetitions, delta=DELTA, **options)
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

    Columns: ``items``, ``test``, ``ratio of spreads`` and ``95 % interval`` as text: ``> x`` where the curve does not
    reach one half on the grid.
    """
    rng = stream("busafekete2021 gains", {"best": best})

    def critical(scaled: NDArray[np.float64], share: NDArray[np.float64]) -> float:
        rising = np.maximum.accumulate(share)
        return crossing(scaled, rising, 0.5) if rising[-1] >= 0.5 else math.inf

    rows = []
    for m, panel in central.groupby("n_items"):
        parts = {test: panel[panel.test == test].sort_values("scaled") for test in (best, *others)}
        for test in others:
            if test == best:
                continue
            both = pd.concat([parts[test], parts[best]])
            mean, often, end = both["mean"].to_numpy(), both.repetitions.to_numpy(), len(parts[test])
            shares = np.tile(mean, (resamples + 1, 1))
            shares[1:] = binomial(np.tile(often, (resamples, 1)), shares[1:], rng=rng) / often
            scaled, ratios = both.scaled.to_numpy(), []
            for share in shares:
                here, there = critical(scaled[:end], share[:end]), critical(scaled[end:], share[end:])
                ratios.append(here / there if math.isfinite(there) else math.nan)
            most = scaled[:end].max() / critical(scaled[end:], shares[0, end:])
            known = np.sort([ratio for ratio in ratios[1:] if not math.isnan(ratio)])
            low, high = known[[int(0.025 * len(known)), int(0.975 * len(known))]] if len(known) else (math.nan,) * 2
            interval = f"{low:.3g} to {high:.3g}" if math.isfinite(high) else f"{low:.3g} or more"
            ratio = f"> {most:.3g}" if math.isinf(ratios[0]) else f"{ratios[0]:.3g}"
            row = {"items": m, "test": test, "ratio of spreads": ratio}
            rows.append(row | {"95 % interval": interval if math.isfinite(low) else "beyond the grid"})
    return pd.DataFrame(rows)


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
        # where Y is below m/2 line 15's p is negative, whatever μ is, and only the coin accepts
        below, rejects = 1 - float(unif_null_sf(m // 2, n, m / 2)), 1 - float(test.acceptance(0.0))
        least = below * rejects + (1 - below) * test.coin / 2
        what = f"size of TRUN as printed, no less than, whatever ε, m = {m}, k = {n:,}"
        yield printed(what, least, "<=", DELTA, error=ROUNDING)
        yield printed(f"size of TRUN as printed, m = {m}", trun_size(test), "<=", DELTA, error=SIZE_ERROR)
        exchanged = trun_size(replace(test, accept_large=False))
        what = f"size of TRUN, answers exchanged, m = {m}"
        yield amended(what, exchanged, "<=", DELTA, error=SIZE_ERROR)
        part = central[central.n_items == m]
        if part.empty:
            continue
        for name, bound in ((BUCKETED, 0.8), (EXCHANGED, 0.7)):
            row = part[part.test == name].sort_values("scaled").iloc[-1]
            # TRUN's chance is exact given the data, and its coin accepts half of the time
            most = 1 - test.coin / 2 if name == EXCHANGED else 1.0
            error = most * certain(min(float(row["mean"]) / most, 1.0), int(row.repetitions))
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
    what = f"power of the local test on {n_local:,} equal rankings, φ = 0, m = {m}: no more than a blind test of size δ"
    yield amended(what, local_limit(m, n_local, epsilon_0), "<=", DELTA, error=1e-6)


@claim("busafekete2021:sec-7.3:third")
def check_third(n_items: int = 10, n_rankings: int = 9999) -> Iterator[Check]:
    """How many batches Section 7.3 makes."""
    as_printed = paper.bucketed(n_items, n_rankings, 0.33, DELTA).mechanism
    third = paper.bucketed(n_items, n_rankings, 1 / 3, DELTA).mechanism
    yield printed("batches of BUNIF at ε₀ = 0.33", as_printed.n_batches, "==", 3)
    yield amended("batches of BUNIF at ε₀ = 1/3", third.n_batches, "==", 3)
    alone = float(unif_null_sf(n_items // 2, n_rankings // 3, third.batch_threshold))
    what = f"size of BUNIF less that of UNIF on {third.batch_voters} of {n_rankings} rankings, m = {n_items}"
    yield amended(what, third.exact_size - alone, "==", 0, error=ROUNDING)


@claim("busafekete2021:sec-7.3:more")
def check_more(
    items: Sequence[int] = (10,), bias: float = 0.1, epsilon_0: float = EPSILON, local: int = 100, near: float = 0.01
) -> Iterator[Check]:
    """Rankings for power 0.8 at size 0.05, all pairs neighbours in the centre: central tests, and the local one."""
    free = rankings_needed("UNIF, no privacy", 2, near)
    at = f"m = 2, bias {near:g}, ε₀ = {epsilon_0:.3g}"
    ramp, coin = (
        rankings_needed(name, 2, near, epsilon_0=epsilon_0) / free for name in ("TRUN, repaired", "batches and a coin")
    )
    yield printed(f"rankings that TRUN, repaired needs over those of UNIF, {at}", ramp, ">", 3)
    yield amended(f"the same, {at}", ramp, "<=", 1.5)
    yield amended(f"rankings that batches and a coin need over those of UNIF, {at}", coin, ">", 100)
    for m in items:
        free = rankings_needed("UNIF, no privacy", m, bias)
        at = f"m = {m}, bias {bias:g}, ε₀ = {epsilon_0:.3g}"
        for name in ("Laplace on Y", "batches and a coin", "TRUN, repaired"):
            more = rankings_needed(name, m, bias, epsilon_0=epsilon_0) / free
            yield supplied(f"rankings that {name} needs over those of UNIF, {at}", more, ">", 3)
    m = items[0]
    free = rankings_needed("UNIF, no privacy", m, bias)
    kept = paper.local_pairs(m, epsilon_0).mechanism.shrinkage
    power = unif_power(m, local * free, kept * bias, DELTA)
    what = f"power of the local test, exact threshold, with {local} times the rankings that UNIF needs for 0.8, m = {m}"
    yield supplied(what, power, "<", 0.8)
    laplace = rankings_needed("Laplace on Y", m, bias, epsilon_0=epsilon_0) / free
    yield supplied("times more that Laplace noise on Y needs there", laplace, "<", local)


@claim("busafekete2021:sec-7.3:near-one")
def check_near_one(central: pd.DataFrame, epsilon_0: float = EPSILON) -> Iterator[Check]:
    """Why TRUN is ahead near the uniform law, if it is."""
    yield printed("μ at φ = 0.999, m = 100", paper.unif_bias(100, -math.log(0.999)), ">=", 0.5, error=ROUNDING)
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


#: A test keeps its look in all pictures; what stands for comparison only is grey.
_LOOKS: dict[str, dict[str, Any]] = {
    BUCKETED: {"color": COLOURS[6], "marker": "v"},
    TRUNCATED: {"color": COLOURS[1], "marker": "s"},
    EXCHANGED: {"color": COLOURS[0], "marker": "o"},
    LOCAL: {"color": COLOURS[3], "marker": "^"},
    FREE: {"color": "0.6", "marker": "."},
    RANKS: {"color": COLOURS[2], "marker": "D"},
    PAIRS: {"color": COLOURS[0], "marker": "o"},
    VOTE: {"color": COLOURS[3], "marker": "^"},
    LAPLACE: {"color": COLOURS[5], "marker": "P"},
    RAMP: {"color": COLOURS[4], "marker": "s"},
    COIN: {"color": COLOURS[6], "marker": "v"},
    ONE_BIT: {"color": COLOURS[2], "marker": "D"},
    LOCAL_EXACT: {"color": COLOURS[0], "marker": "o"},
    LOCAL_FIXED: {"color": COLOURS[3], "marker": "v"},
}
_REJECTED = "share of tests\nthat reject chance"
_NAMES = {
    BUCKETED: "one of several batches (BUNIF)",
    COIN: "bucketing with a coin",
    TRUNCATED: "TRUN, as printed",
    LOCAL: "nobody trusted, as printed",
    LOCAL_EXACT: WORDS["all bits"],
    LOCAL_FIXED: WORDS["fixed pairing"],
    ONE_BIT: WORDS["one bit"],
}


def draw_power(frame: pd.DataFrame, message: str, said: str, *, local: bool = False) -> Figure:
    """A panel a number of items, a curve a test; the uniform law stands at the left end of a logarithmic axis, which is
    one for all panels of `local` tests.
    """
    sizes = list(frame.groupby("n_items"))
    figure, made = panels(len(sizes), message=message, height=2.3, columns=min(2, len(sizes)), sharey=True)
    for axes, (m, part) in zip(made, sizes, strict=True):
        gaps = frame.gap if local else part.gap
        least, most = gaps[gaps > 0].min() / 3, gaps.max()
        for test in dict.fromkeys(frame.test):
            rows = part[part.test == test].sort_values("gap")
            name = "_" if test == FREE else _NAMES.get(test, test)
            curve(axes, rows.gap.where(rows.gap > 0, least), rows, label=name, **_LOOKS[test])
        level(axes, part.delta.iloc[0])
        voters = f", {part.n_rankings.iloc[0]:,} voters" if local else ""
        axes.set(xscale="log", title=f"{m:,} items{voters}", ylim=(-0.03, 1.03))
        room = (most / least) ** 0.15  # or the label runs into that of the left end
        ticks = [10.0**e for e in range(-7, 1) if least * room < 10.0**e <= most]
        axes.set_xticks([least, *ticks], ["0", *(f"$10^{{{round(math.log10(t))}}}$" for t in ticks)])
        axes.minorticks_off()
    label_outer(made, LEAN, _REJECTED)
    handles, labels = made[0].get_legend_handles_labels()
    if (frame.test == FREE).any():
        handles, labels = [*handles, Line2D([], [], **_LOOKS[FREE])], [*labels, FREE]
    key(figure, handles, labels)
    note(figure, f"{said} φ: at 1 all is chance; near 0 nearly all are alike. Bars: 95 %.")
    return figure


@styled
def draw_figure_3(frame: pd.DataFrame) -> Figure:
    """The paper's Figure 3: its private tests as printed."""
    return draw_power(
        frame,
        "As printed, TRUN rejects shuffled rankings and accepts many that agree",
        "A good test rejects few data sets at the left end, where all is chance (dotted: the share allowed), and all "
        "at the right end.",
    )


@styled
def draw_equal_privacy(frame: pd.DataFrame) -> Figure:
    """Tests of one size and one pure epsilon."""
    return draw_power(
        frame,
        "Noise on the norm of all ranks is the best private test",
        f"All at ε = {Fraction(frame.epsilon_0.iloc[0]).limit_denominator(100)}, but for grey. Further left: "
        "smaller agreement is seen; dotted: allowed when all is chance. UNIF, TRUN, bucketing: tests of "
        "Busa-Fekete et al., of some pairs; norm of all ranks: how far mean places lie apart. With few items grey "
        "lies under blue.",
    )


@styled
def draw_one_bit(frame: pd.DataFrame) -> Figure:
    """Local tests of one size and one epsilon."""
    epsilon = Fraction(frame.epsilon.iloc[0]).limit_denominator(100)
    return draw_power(
        frame,
        "One answer per voter sees agreement that many answers miss",
        f"{ANSWER} Here ε = {epsilon}; dotted: allowed when all is chance.",
        local=True,
    )
