"""One or two rankings: the test 2SAMP, Theorem 4, and what a single ranking tells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq, linprog

from companion.chapters.testing_uniformity.power import row_distances
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, CALIBRATION, COLOURS, key, note, panels, styled
from companion.instruments.sweep import stream
from companion.instruments.uniformity import all_distances, distance_law, exponent
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.two_sample import TwoSample
from dprank.uniformity.unif import unif_null_sf


def pair_law(n_items: int, phi: float) -> NDArray[np.float64]:
    """Probabilities of the Kendall distances of two rankings of one Mallows law, over all (m!)^2 pairs of them."""
    distances = all_distances(n_items)
    weights = phi ** distances[0].astype(float)
    law = np.bincount(distances.ravel(), weights=np.outer(weights, weights).ravel())
    return law / law.sum()


def least_power(n_items: int, gap: float, threshold: float) -> float:
    """P(D + D' <= threshold), D and D' the distances of two Mallows rankings from their centre.

    By the triangle inequality no more than the power of a test that rejects at distances up to `threshold`.
    """
    law = Mallows.of_gap(n_items, gap)
    d = np.arange(-1, law.n_pairs + 1)
    below = np.clip(law.distance_cdf(d), 0, 1)
    other = np.floor(threshold) - d[1:]
    return float(np.diff(below) @ np.where(other < 0, 0.0, below[np.clip(other + 1, 0, len(d) - 1).astype(int)]))


def most_missed(n_items: int, gap: float, threshold: float) -> float:
    """1 less `least_power`, to the 13 digits that sums of probabilities have on any processor."""
    return round(1 - least_power(n_items, gap, threshold), 13)


def null_excess(n_items: int) -> float:
    """Largest size of 2SAMP as printed, over delta, of all delta in (0, 1).

    The size jumps where the threshold meets an attainable distance d, and delta = exp(-12 (mean - d)^2 / m^3) there.
    """
    law = distance_law(n_items)
    mean = n_items * (n_items - 1) / 4
    d = np.arange(math.ceil(mean))
    return float((np.cumsum(law)[d] / np.exp(-12 * (mean - d) ** 2 / n_items**3)).max())


def alternative_excess(n_items: int, phi: float) -> float:
    """Largest P(d > b) over delta, of all delta in (0, 1), with b = 2 phi m / (1 - phi) + sqrt(m^3 ln(1/delta) / 3)."""
    law = pair_law(n_items, phi)
    start = 2 * phi * n_items / (1 - phi)
    d = np.arange(math.floor(start) + 1, len(law))
    above = np.cumsum(law[::-1])[::-1]
    return float((above[d] / np.exp(-3 * (d - start) ** 2 / n_items**3)).max(initial=0.0))


def thresholds(items: Iterable[int], delta: float) -> pd.DataFrame:
    """2SAMP as printed and with its exact threshold.

    ``items``, ``runs from`` (the least 1 - phi_epsilon that line 3 asks for), ``printed`` and ``exact`` threshold, the
    largest distance that is rejected, ``size, printed``, ``size, exact``, ``equal rankings`` (what the printed test
    does with them).
    """
    rows = []
    for m in items:
        as_printed, exact = paper.two_sample(m, delta), TwoSample.calibrated(n_items=m, size=delta)
        least = as_printed.least_gap
        runs = "always" if least < 0 else "never" if least > 1 else f"{least:.3g}"
        row = {"items": m, "runs from": runs, "printed": math.floor(as_printed.threshold)}
        row |= {"exact": int(exact.threshold), "size, printed": as_printed.exact_size, "size, exact": exact.exact_size}
        rows.append(row | {"equal rankings": "rejected" if as_printed.threshold >= 0 else "accepted"})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-4.1:null")
def check_null(most_items: int) -> Iterator[Check]:
    """The null bound with the constant 1/sqrt(12): over all delta for few items, and its proof for many."""
    worst = max(null_excess(m) for m in range(2, most_items + 1))
    sizes = (*range(2, 200), 10**3, 10**4, 10**5)
    twice = max(24 * Mallows(m, 0.0).distance_moments()[1] / m**3 for m in sizes)
    yield printed(f"P(d ≤ m(m−1)/4 − √(m³ ln(1/δ)/12)) / δ, largest over all δ and m = 2..{most_items}", worst, "<=", 1)
    yield printed("2 Var[d] / (m³/12), largest over m = 2..199, 10³, 10⁴, 10⁵", twice, "<=", 1)


@claim("busafekete2021:sec-4.1:alt")
def check_alt(phis: Iterable[float]) -> Iterator[Check]:
    """The alternative's bound with the constant 1/sqrt(3), over all delta, by enumeration of up to 6 items."""
    phis = list(phis)
    worst = max(alternative_excess(m, phi) for m in range(2, 7) for phi in phis)
    what = "P(d > 2φm/(1−φ) + √(m³ ln(1/δ)/3)) / δ, largest over all δ"
    yield printed(f"{what}, m = 2..6, {len(phis)} spreads from {min(phis):g} to {max(phis):g}", worst, "<=", 1)
    for m, gap in ((30, 0.5), (100, 0.2), (100, 0.02)):
        start = 2 * m * (1 - gap) / gap
        reach = {delta: start + math.sqrt(m**3 * math.log(1 / delta) / 3) for delta in (0.5, 0.05, 1e-3, 1e-6)}
        ratios = [most_missed(m, gap, far) / delta for delta, far in reach.items()]
        what = f"the same, from above by d ≤ D + D′, largest over {len(reach)} δ, m = {m}, 1 − φ = {gap:g}"
        yield printed(what, max(ratios), "<=", 1)


@claim("busafekete2021:alg-1")
def check_alg_1(deltas: Sequence[float]) -> Iterator[Check]:
    """Size of 2SAMP as printed at the paper's sizes; for fewer items over all delta in `check_null`."""
    for m in (100, 1000, 10_000):
        ratio = max(paper.two_sample(m, delta).exact_size / delta for delta in deltas)
        yield printed(f"size / δ, largest over {len(deltas)} values of δ, m = {m:,}", ratio, "<=", 1)


def theorem_4(items: Iterable[int], deltas: Iterable[float]) -> pd.DataFrame:
    """Size and a lower bound of the power of 2SAMP where the denominator is positive and a spread satisfies line 3.

    ``items``, ``delta``, ``gap`` (1 - phi_epsilon, the least that is allowed), ``size``, ``miss`` (no less than 1 -
    power, at every phi up to phi_epsilon).
    """
    tests = [paper.two_sample(m, delta) for m in items for delta in deltas]
    rows = [
        (t.n_items, t.size, t.least_gap, t.exact_size, most_missed(t.n_items, t.least_gap, t.threshold))
        for t in tests
        if 0 < t.least_gap <= 1
    ]
    return pd.DataFrame(rows, columns=["items", "delta", "gap", "size", "miss"])


@claim("busafekete2021:thm-4")
def check_thm_4(frame: pd.DataFrame, delta: float) -> Iterator[Check]:
    """Theorem 4 on two items, and where its denominator is positive."""
    few, epsilon = paper.two_sample(2, delta), 0.25
    if not few.applies(epsilon):
        raise ValueError(f"delta = {delta}; line 3 must let two items pass for this counterexample")
    about = f"{len(frame)} pairs (m, δ), m = {frame['items'].min()}..{frame['items'].max()}"
    size, miss = (frame["size"] / frame.delta).max(), (frame.miss / frame.delta).max()
    yield printed(f"power at m = 2, δ = {delta:g}, ε = {epsilon:g}, φ = 0", float(few.threshold >= 0), ">=", 1 - delta)
    yield supplied(f"size / δ, denominator positive, {about}", size, "<=", 1)
    what = f"(1 − power) / δ, no more than, at φ_ε = 1 − 8/(…), {about}, next to 0: the proof leaves much"
    yield supplied(what, miss, "<=", 1)
    yield amended("(1 − power) / (δ/2), no more than, there", 2 * miss, "<=", 1)


def printed_failure(n_items: int, gap: float, eights: float = 9.0) -> float:
    """2 exp(-(m + 7 - 9 / (1 - phi_epsilon))^2 / (12 m)), the failure probability of the alternative reading."""
    return 2 * math.exp(-((n_items + 7 - eights / gap) ** 2) / (12 * n_items))


def free_delta(phi: float) -> dict[str, float]:
    """A number of items, and a delta at which 2SAMP runs and never rejects, though power is promised at phi.

    ``items`` (the fewest), ``promised`` (power), ``delta``, ``threshold`` (below 0), ``power`` (no more than).
    """
    m = next(m for m in range(2, 10_000) if m + 7 > 9 / (1 - phi) and printed_failure(m, 1 - phi) < 1)
    test = paper.two_sample(m, math.exp(-0.75 * (m - 1) ** 2 / m) / 2)
    found = {"items": m, "promised": 1 - printed_failure(m, 1 - phi), "delta": test.size, "threshold": test.threshold}
    return found | {"power": float(test.least_gap <= 1 - phi and test.threshold >= 0)}  # no distance is negative


@claim("busafekete2021:sec-4.1:alternative-reading")
def check_alternative(phi: float, items: Iterable[int], gaps: Iterable[float]) -> Iterator[Check]:
    """The sentence after Theorem 4 with delta free, with the delta that its formula gives, and with an 8."""
    free, size, miss, better = free_delta(phi), [], [], []
    for m, gap in product(items, gaps):
        if m + 7 > 9 / gap and (delta := printed_failure(m, gap)) < 1:
            test = paper.two_sample(m, delta)
            if test.least_gap > gap:
                raise ValueError(f"items = {m}, gap = {gap}; line 3 does not let the test run")
            size.append(test.exact_size / delta)
            miss.append(most_missed(m, gap, test.threshold) / delta)
        if m + 7 > 8 / gap:
            bound = printed_failure(m, gap, 8.0) / 2
            test = paper.two_sample(m, bound)
            better.append(most_missed(m, gap, test.threshold) / bound)
    what = f"power at m = {free['items']:.0f}, φ = φ_ε = {phi:g}, δ = {free['delta']:.2g}"
    about, fixed = f"{len(size)} pairs (m, φ_ε)", "δ = 2 exp(…)"
    yield printed(what, free["power"], ">=", free["promised"], reading="any δ")
    yield printed(f"size / δ, {about}", max(size), "<=", 1, reading=fixed)
    yield printed(f"(1 − power) / δ, no more than, {about}", max(miss), "<=", 1, reading=fixed)
    what = "(1 − power) / exp(−(m+7−8/(1−φ_ε))²/(12m)), no more than, least δ"
    yield amended(f"{what}, {len(better)} pairs", max(better), "<=", 1)


def one_ranking_power(n_items: int, phi: float, delta: float) -> float:
    """Best least power, over all centres, of a randomised test of one ranking with size delta: a linear program."""
    law = phi ** all_distances(n_items).astype(float)
    law /= law[0].sum()
    n = len(law)  # unknowns: the probabilities of rejecting each ranking, and the least power, to be largest
    result = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.vstack([np.c_[-law, np.ones(n)], np.r_[np.full(n, 1 / n), 0.0]]),
        b_ub=np.r_[np.zeros(n), delta],
        bounds=[(0, 1)] * (n + 1),
    )
    return float(-result.fun)


def known_centre(items: Iterable[int], delta: float) -> pd.DataFrame:
    """One ranking, known centre: reject near it.

    ``items``, ``radius``, ``size``, ``1 - phi`` at which the power reaches 1 - delta, ``epsilon``: how far that law is
    from uniform.
    """
    rows = []
    for m in items:
        test = TwoSample.calibrated(n_items=m, size=delta)  # the null law is the same

        def lack(theta: float, m: int = m, radius: float = test.threshold) -> float:
            return 1 - delta - float(Mallows(m, theta).distance_cdf(radius))

        law = Mallows(m, brentq(lack, 1e-3 * m**-1.5, 30.0, xtol=1e-15))
        row = {"items": m, "radius": int(test.threshold), "size": test.exact_size}
        rows.append(row | {"1 - phi": -math.expm1(-law.theta), "epsilon": law.total_variation()})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-4.1:one-sample")
def check_one_sample(delta: float, n_items: int = 4, phi: float = 0.0) -> Iterator[Check]:
    """One ranking with the centre unknown and with the centre given; the least m at which delta can be reached."""
    epsilon = 1 - delta
    test = TwoSample.calibrated(n_items=n_items, size=delta)
    power = float(Mallows(n_items, theta_at(n_items, epsilon)).distance_cdf(test.threshold))
    unknown = one_ranking_power(n_items, phi, delta)
    best = f"best least power of one ranking, size {delta:g}, m = {n_items}, φ = {phi:g}, all centres"
    known = f"power with the centre given, m = {n_items}, ε = {epsilon:g}"
    yield printed(best, unknown, "<", 1 - delta, reading="centre unknown", error=ROUNDING)
    yield printed(known, power, "<", 1 - delta, reading="centre given")
    alone = float(Mallows(4, math.log(350)).distance_cdf(0))
    what = "the centre alone is rejected, m = 4, φ = 1/350, nearer than ε = 0.95: power; size 1/24, δ = 0.05"
    yield printed(what, alone, "<", 0.95, reading="centre given")
    yield amended(best, unknown, "==", delta, error=ROUNDING)
    yield amended(f"size with the centre given, m = {n_items}", test.exact_size, "<=", delta)
    yield amended(known, power, ">=", 1 - delta)


def last_power(n_items: int, last: int, threshold: float) -> float:
    """Power of 2SAMP where so many items are always last, in any order, and all else is uniform; exact.

    Who is last and who is not are in one order in every ranking: the two groups' distances add up.
    """
    among = distance_law(last)
    rest = np.floor(threshold) - np.arange(len(among))
    return float(among @ np.where(rest < 0, 0.0, Mallows(n_items - last, 0.0).distance_cdf(np.maximum(rest, 0))))


def last_unif_power(n_items: int, last: int, rankings: int) -> float:
    """Largest power of UNIF as printed there: each item that is always last makes a pair all of one order, at most."""
    return float(unif_null_sf(n_items // 2 - last, rankings, paper.unif_threshold(n_items, 0.05) - last * rankings))


@claim("busafekete2021:sec-1:no-bias")
def check_no_bias(n_items: int = 1000, last: int = 10, delta: float = 0.05) -> Iterator[Check]:
    """How much likelier a test accepts without a bias than with one: of Mallows laws, and of others."""
    test = paper.two_sample(n_items, delta)
    accepts, often = 1 - test.exact_size, (1 - delta) / delta
    missed = most_missed(n_items, test.least_gap, test.threshold)
    what = f"2SAMP, m = {n_items}, δ = {delta:g}: how many times likelier it accepts uniform rankings than"
    law = f"those of any Mallows law with 1 − φ ≥ {test.least_gap:.3g}, at least"
    yield printed(
        f"{what} {law}", accepts / max(missed, 1e-9), ">=", often, reading="a bias is a Mallows law far enough"
    )
    power = last_power(n_items, last, test.threshold)
    law = f"those where {last} items are always last"
    yield printed(f"{what} {law}", accepts / (1 - power), ">=", often, reading="any bias")
    yield amended(f"power of 2SAMP where {last} of {n_items} items are always last", power, "<=", 0.02)
    rankings = round(paper.unif_samples(n_items, math.inf, delta))
    unif = last_unif_power(n_items, 1, rankings)
    yield amended(f"power of UNIF, its least k, {rankings}, one of {n_items} items always last", unif, "<=", 0.001)
    ten, one = (-math.log10(1 / math.comb(n_items, g)) for g in (last, 1))
    yield amended(f"−log₁₀ of 1 less the distance from uniform, {last} items always last", ten, ">=", 23)
    yield argument("the same, one item always last", one, "==", math.log10(n_items), error=ROUNDING)


def least_shift(n_items: int, theta: float, points: int = 2000) -> float:
    """Lower bound on how far the mean distance of two Mallows rankings lies below that of uniform ones.

    A pair of bias b is in one order in both with chance (1 + b^2) / 2, and the bias grows with the gap: the sum over
    gaps is bounded block by block.
    """
    every = n_items <= points
    ends = np.arange(1.0, n_items + 1) if every else np.unique(np.round(np.geomspace(1, n_items, points)))
    low, high = ends[:-1], ends[1:]
    pairs = (high - low) * (2 * n_items - low - high + 1) / 2
    return float(pairs @ Mallows(n_items, theta).bias(low) ** 2 / 2)


def bounded_moves(n_items: float) -> float:
    """Bound on the squared moves of the distance, summed over the places at which both rankings insert their items.

    Item i inserted elsewhere turns i - 1 pairs at most among the first i, and of each later item two at most.
    """
    return 14 / 3 * n_items**3


def least_power_near(n_items: int, theta: float, delta: float) -> float:
    """Lower bound on the power of 2SAMP's line 6, by the bounded differences inequality."""
    margin = math.sqrt(n_items**3 * math.log(1 / delta) / 12)
    room = max(least_shift(n_items, theta) - margin, 0.0)
    return -math.expm1(-2 * room**2 / bounded_moves(n_items))


@claim("busafekete2021:sec-4.2:only-when")
def check_only_when(
    items: Sequence[int] = (10**4, 10**6, 10**8, 10**10, 10**12), delta: float = 0.05
) -> Iterator[Check]:
    """Does 2SAMP work only where 1 - phi is at least of order 1/m? Line 3 lets it run only there."""
    line_3 = [m * gap for m in items if (gap := paper.two_sample_gap(m, delta)) > 0]
    few, many = (f"10^{math.log10(m):.3g}" for m in (items[0], items[-1]))
    of = f"m = {few} to {many}, δ = {delta:g}"
    what = f"m times the least 1 − φ_ε that line 3 lets pass, {of}: smallest"
    yield printed(what, min(line_3), ">=", 8, reading="the algorithm, which line 3 stops elsewhere", error=ROUNDING)

    def lack(scaled: float, m: int) -> float:
        return least_power_near(m, scaled * m**-1.25, delta) - (1 - delta)

    enough = [m * -math.expm1(-brentq(lack, 1e-2, 1e6, args=(m,)) * m**-1.25) for m in items]
    what = f"exponent of m in m(1 − φ) from which on the power is proved to be ≥ {1 - delta:g}, {of}; 0 if it is Ω(1)"
    yield printed(what, exponent(items, enough), ">=", -0.01, reading="the comparison of line 6")
    yield amended(
        f"m(1 − φ) there over m^(−1/4), {of}: largest", max(np.array(enough) * np.array(items) ** 0.25), "<=", 30
    )
    share = [a / b for a, b in zip(enough, line_3, strict=True)]
    yield amended(f"the same over what line 3 asks for, at m = {many}", share[-1], "<=", 0.004)


def pair_distances(n_items: int, gap: float, *, repetitions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Kendall distances of `repetitions` pairs of Mallows rankings of one centre."""
    draws = Mallows.of_gap(n_items, gap).sample(2 * repetitions, rng=rng)
    return row_distances(draws[repetitions:], draws[:repetitions])


def distance_laws(
    n_items: int, gaps: Iterable[float], delta: float, repetitions: int, points: int = 60
) -> pd.DataFrame:
    """P(d <= x) of two rankings: exact for uniform ones, simulated for the others; and the two thresholds.

    ``law`` ("uniform" or "1 - phi = ..."), ``distance``, ``probability``, ``se`` (0 if exact), ``printed``, ``exact``
    (thresholds), ``items``, ``delta``.
    """
    limits = {"printed": paper.two_sample(n_items, delta), "exact": TwoSample.calibrated(n_items=n_items, size=delta)}
    at = {name: test.threshold for name, test in limits.items()} | {"items": n_items, "delta": delta}
    uniform = Mallows(n_items, 0.0)
    mean, variance = uniform.distance_moments()
    x = np.unique(np.floor(np.linspace(0, mean + 4 * math.sqrt(variance), points)))
    laws = {"uniform": (uniform.distance_cdf(x), np.zeros(len(x)))}
    for gap in gaps:
        rng = stream("busafekete2021:2samp:law", {"items": n_items, "gap": gap})
        drawn = np.sort(pair_distances(n_items, gap, repetitions=repetitions, rng=rng))
        share = np.searchsorted(drawn, x, side="right") / repetitions
        laws[f"1 - phi = {gap:.3g}"] = share, np.sqrt(share * (1 - share) / repetitions)
    frames = [
        pd.DataFrame({"law": law, "distance": x, "probability": p, "se": se} | at) for law, (p, se) in laws.items()
    ]
    return pd.concat(frames, ignore_index=True)


@styled
def draw_distance_laws(frame: pd.DataFrame) -> Figure:
    """Distribution functions of the distance of two rankings, with the printed and the exact threshold."""
    message = "Two rankings with a common lean lie closer than shuffled ones"
    figure, (axes,) = panels(message=message, height=3.0)
    for (law, part), colour in zip(
        frame.groupby("law", sort=False), ("black", COLOURS[3], COLOURS[2], COLOURS[5]), strict=False
    ):
        name = str(law).replace("uniform", "shuffled").replace("1 - phi =", "lean")
        bars = BAR * part.se.where(part.se > 0)
        axes.errorbar(part.distance, part.probability, bars, capsize=2, color=colour, label=name)
    exact = f"threshold, {100 * frame.delta.iloc[0]:g} % false alarms"
    for column, calibration, name in (("printed", "as printed", "threshold, printed"), ("exact", "corrected", exact)):
        colour = CALIBRATION[calibration]["color"]
        axes.axvline(frame[column].iloc[0], color=colour, ls="--", lw=1.2, label=name)
    axes.set(xlabel=f"pairs of {frame['items'].iloc[0]} items on which two rankings differ", ylim=(-0.02, 1.02))
    axes.set(ylabel="chance of at most that many", title="agreement is found left of a threshold")
    key(figure, *axes.get_legend_handles_labels(), columns=3)
    note(
        figure, "Lean: 1 − φ, 0 if shuffled, 1 if all rankings are alike. Bars: 95 %, from simulated pairs of rankings."
    )
    return figure
