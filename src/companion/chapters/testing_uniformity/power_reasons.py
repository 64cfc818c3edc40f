"""Section 7: why one test beats another, by how much, and what epsilon does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.chapters.testing_uniformity import power
from companion.chapters.testing_uniformity.fixed_epsilon import log_affinity
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.instruments.uniformity import certain, mean_square_bias, spread, wilson
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows


def rounds(n_items: int) -> NDArray[np.int64]:
    """All pairs of an even number of items as m - 1 pairings, the rounds of a tournament; shape (m - 1, m / 2, 2)."""
    turn, seat = np.arange(n_items - 1)[:, None], np.arange(1, n_items // 2)
    first = np.c_[turn, (turn + seat) % (n_items - 1)]
    second = np.c_[np.full_like(turn, n_items - 1), (turn - seat) % (n_items - 1)]
    return np.stack([first, second], axis=-1)


def signal_gain(pairings: ArrayLike) -> NDArray[np.float64]:
    """Signal over noise of the agreement of two rankings on several pairings, relative to one pairing.

    The product of a pair's two signs has variance 1 under uniform rankings, and covariance 1 / 9 with that of a pair
    that shares an item: 1 / 3 in either ranking. With J pairings a pair meets 2 (J - 1) such pairs.
    """
    j = np.asarray(pairings, float)
    return np.sqrt(j / (1 + 2 * (j - 1) / 9))


def agreement(law: Mallows, pairings: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs that two rankings order alike less those they do not, among the first J pairings; shape (J, size).

    With one pairing this is UNIF's ``Y - m / 2``, with all m - 1 it is the number of pairs less twice 2SAMP's distance.
    """
    m = law.n_items
    first, second = rounds(m).reshape(-1, 2).T
    signs = [rows[:, first] < rows[:, second] for rows in power.two_rankings(law, size, rng)]
    total = np.where(signs[0] == signs[1], 1, -1).reshape(size, m - 1, m // 2).sum(axis=2).cumsum(axis=1)
    return total[:, np.asarray(pairings) - 1].T


def pairing_power(
    n_items: int, scaled: float, pairings: Sequence[int], repetitions: int, draws: int = 1999
) -> pd.DataFrame:
    """Power at equal size on two rankings when J pairings are looked at.

    ``pairings``, ``mean``, ``low``, ``high``, ``repetitions``, ``gain`` (`signal_gain`) and ``normal`` (the power of a
    normal statistic with that signal over noise).
    """
    law = Mallows(n_items, spread(n_items, 2, scaled))
    cell = {"n_items": n_items, "scaled": scaled}
    null = agreement(Mallows(n_items, 0.0), pairings, draws, stream("busafekete2021 pairings, null", cell))
    rows = agreement(law, pairings, repetitions, stream("busafekete2021 pairings", cell))
    mean = [power.against_draws(row, base, power.DELTA).mean() for row, base in zip(rows, null, strict=True)]
    gain = signal_gain(pairings)
    signal = gain * mean_square_bias(law) * math.sqrt(n_items / 2)
    frame = pd.DataFrame({"pairings": pairings, "mean": mean, "repetitions": repetitions, "gain": gain})
    frame["low"], frame["high"] = wilson(frame["mean"], repetitions)
    return frame.assign(normal=stats.norm.cdf(stats.norm.ppf(power.DELTA) + signal))


@claim("busafekete2021:sec-7.1:why")
def check_why(n_items: int, scaled: float, repetitions: int) -> Iterator[Check]:
    """At equal size and on the same rankings: all pairs against one pairing."""
    frame = pairing_power(n_items, scaled, [1, n_items - 1], repetitions)
    one, every = frame["mean"]
    error = certain(one, repetitions) + certain(every, repetitions)
    what = f"power at size {power.DELTA} from all pairs less that from one pairing, m = {n_items}, two rankings"
    yield printed(what, every - one, ">", 0, error=error)
    gain = float(signal_gain(n_items - 1))
    yield printed(f"signal over noise, all pairs to one pairing, m = {n_items}", gain, ">", 1)
    yield printed("the same at its least, m = 4", float(signal_gain(3)), ">", 1)


def known_centre_bounds(n_items: int, theta: float, count: int = 2, delta: float = power.DELTA) -> tuple[float, float]:
    """Power of the most powerful test when the centre is known, from below and above: its size is at and over `delta`.

    The likelihood ratio falls with the sum of the distances from the centre (Neyman and Pearson). No test that has to
    do without the centre does better on average over random centres.
    """
    uniform, law = Mallows(n_items, 0.0), Mallows(n_items, theta)
    low, high = -1, count * uniform.n_pairs
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if uniform.distance_cdf(middle, count) <= delta else (low, middle)
    # at most one distance more than the size allows: bounds that spare the randomisation
    return float(law.distance_cdf(low, count)), float(law.distance_cdf(high, count))


def two_sample_ceiling(n_items: int, theta: float, delta: float = power.DELTA) -> float:
    """Proved bound on the power of 2SAMP as printed: by the bounded differences inequality, for any number of items.

    A pair g places apart has bias g theta at most, so the mean distance lies theta^2 m^2 (m^2 - 1) / 24 below that of
    uniform rankings at most. To insert item i elsewhere moves the distance by 2m - i - 1 at most; both rankings
    together make that 14 m^3 / 3 in squares.
    """
    m, threshold = n_items, paper.two_sample(n_items, delta).threshold
    gap = m * (m - 1) / 4 - threshold - theta**2 * m**2 * (m**2 - 1) / 24
    return math.exp(-3 * gap**2 / (7 * m**3)) if gap > 0 else 1.0


def affinity_ceiling(n_items: int, theta: float, count: int = 2, delta: float = power.DELTA) -> float:
    """Proved bound on the power of any test of size `delta`, the centre known: delta + sqrt(1 - affinity^2)."""
    return delta + math.sqrt(-math.expm1(2 * count * log_affinity(n_items, theta)))


@claim("busafekete2021:checklist:error-bars")
def check_error_bars(repetitions: int = 1000, powers: Sequence[float] = (0.05, 0.5, 0.99)) -> Iterator[Check]:
    """The standard error of an average of answers 0 and 1: of the number of them, and of the power."""
    hits = np.arange(repetitions + 1)
    laws = [stats.binom.pmf(hits, repetitions, p) for p in powers]
    means = hits / repetitions
    exact = [math.sqrt(law @ (means - law @ means) ** 2) for law in laws]
    of = f"standard error of a power from {repetitions} repetitions"
    yield printed(
        f"{of}: at power {powers[1]:g} over that at {powers[-1]:g}", exact[1] / exact[-1], "==", 1, error=0.01
    )
    formula = [math.sqrt(p * (1 - p) / repetitions) for p in powers]
    off = max(abs(a / b - 1) for a, b in zip(exact, formula, strict=True))
    yield supplied(
        f"{of}, from its law, off √(p(1−p)/{repetitions}), relative, {len(powers)} powers", off, "==", 0, error=ROUNDING
    )
    yield amended(f"{of}, at most: that at 1/2", max(exact), "<=", 0.016)
    # no more than one in 20 of such averages is 1 if the power is this
    least = float(stats.beta.ppf(0.05, repetitions, 1))
    yield amended(f"power of which {repetitions} rejections of {repetitions} are 95 % evidence", least, ">=", 0.997)
    yield amended("that power, and no more", least, "<", 0.9975)


def margins(frame: pd.DataFrame, n_items: int) -> pd.DataFrame:
    """Power on two rankings against 1 - phi, and what is possible with a known centre."""
    part = frame[(frame.n_items == n_items) & (frame.n_rankings == 2) & frame.test.isin([power.TWO, power.UNIF])]
    wide = part.assign(label=part.test + ", " + part.calibration)
    wide = wide.pivot_table(index="gap", columns="label", values="mean").reset_index()
    best = [known_centre_bounds(n_items, -math.log1p(-gap))[1] if 0 < gap < 1e-4 else math.nan for gap in wide.gap]
    return wide.assign(**{"known centre": best})


@claim("busafekete2021:sec-7.1:margin")
def check_margin(frame: pd.DataFrame, n_items: int = 10_000) -> Iterator[Check]:
    """What two rankings detect at the largest m."""
    cells = {gap: f"m = {n_items}, two rankings, 1 − φ = {gap:g}" for gap in (1e-5, 2e-5)}
    near, far = (-math.log1p(-gap) for gap in cells)
    at, further = cells.values()
    ceiling = two_sample_ceiling(n_items, far)
    any_test = f"power of any test of size {power.DELTA}, its centre known"
    what = f"proved bound on the power of 2SAMP as printed, {further}"
    yield printed(what, ceiling, ">=", power.DETECTED, error=ROUNDING)
    what = f"proved bound on the {any_test}, {at}"
    yield printed(what, affinity_ceiling(n_items, near), ">=", power.DETECTED, error=ROUNDING)
    rows = [
        (printed, "2SAMP as printed", power.TWO, power.PRINTED, 2, power.DETECTED),
        (printed, "UNIF as printed", power.UNIF, power.PRINTED, 2, power.DETECTED),
        (printed, f"2SAMP at size {power.DELTA}", power.TWO, power.EXACT, 2, power.DETECTED),
        (amended, "2SAMP as printed", power.TWO, power.PRINTED, 20, 0.9),
        (amended, "UNIF as printed", power.UNIF, power.PRINTED, 30, 0.9),
    ]
    for says, name, test, calibration, scaled, bound in rows:
        row = power.row_at(frame, n_items, scaled, test, calibration)
        what = f"power of {name}, m = {n_items}, two rankings, 1 − φ = {row.gap:.2g}"
        yield says(what, row["mean"], ">=", bound, error=power.off(row))
    (_, most), (least, _) = (known_centre_bounds(n_items, theta) for theta in (near, far))
    yield amended(f"{any_test}, {at}: the best has no more than", most, "<", 0.77)
    yield amended(f"{any_test}, {further}: the best has no less than", least, ">=", power.DETECTED)
