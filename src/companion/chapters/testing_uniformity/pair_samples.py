"""How many rankings the test of pairs needs, and what fewer pairs cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.testing_uniformity.independence import far_law, far_mean, m_1, sign_law
from companion.chapters.testing_uniformity.pair_statistics import CALM, MISS, null_size, square_moments
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_pairings, divergence, exponent, mean_square_bias
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.pairs import disjoint_pairs, pair_signs
from dprank.uniformity.unif import pair_statistic, unif_sf


def small_samples(n_items: int, theta: float, delta: float) -> int:
    """The paper's number of samples for small m, by the bias of neighbours."""
    need = math.log(1 / delta) / n_items
    return 1 + math.ceil((48 * need + 16 * math.sqrt(need)) / math.tanh(theta / 2) ** 2)


def family_samples(n_items: int, theta: float, delta: float, exponent: float, far: float) -> int:
    """Line 5 of Algorithm 2 with another exponent of phi in mu, and another number of far pairs for m_1."""
    spread = n_items * math.log(2 / delta)
    mu = math.tanh(theta * exponent / 2)
    return 1 + math.ceil((12 * spread / far**2 + 10 * math.sqrt(spread) / far) / mu**2)


def line_5(sizes: Iterable[int], mu: float, delta: float) -> pd.DataFrame:
    """The printed number of samples at a given mu: ``m``, ``m1``, ``k``."""
    frame = pd.DataFrame({"m": list(sizes)})
    k = [paper.unif_samples(m, 16 / m * math.atanh(mu), delta) for m in frame.m]
    return frame.assign(m1=m_1(frame.m, delta), k=k)


def rejections(
    n_items: int, theta: float, n_rankings: int, threshold: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """UNIF on Mallows rankings, a fresh pairing every time; the centre does not matter then."""
    law = Mallows(n_items, theta)
    rejected = np.zeros(repetitions, bool)
    for r in range(repetitions):
        signs = pair_signs(law.sample(n_rankings, rng=rng), disjoint_pairs(n_items, rng=rng))
        rejected[r] = pair_statistic(signs) >= threshold
    return rejected


def powers(sizes: Iterable[int], biases: Iterable[float], delta: float, repetitions: int) -> pd.DataFrame:
    """Power of UNIF as printed with the printed number of samples, and with a middle member of the paper's family.

    As of `sweep`, ``mean`` the power; ``samples`` ("line 5" or "family"), ``mu``.
    """
    cells, about = [], []
    for m in sizes:
        for mu in biases:
            theta = 16 / m * math.atanh(mu)
            for name, k in (
                ("line 5", int(paper.unif_samples(m, theta, delta))),
                ("family", family_samples(m, theta, delta, m / 16, 9 * m / 16)),
            ):
                threshold = paper.unif(m, delta).threshold
                cells.append({"n_items": m, "theta": theta, "n_rankings": k, "threshold": threshold})
                about.append({"samples": name, "mu": mu})
    frame = sweep(rejections, cells, experiment="busafekete2021:thm-5", repetitions=repetitions)
    return pd.concat([pd.DataFrame(about), frame], axis=1)


def interval(row: pd.Series) -> tuple[float, float]:
    """Middle and half-width of the Clopper-Pearson interval that misses a simulated power with probability `MISS`."""
    hits = round(row["mean"] * row.repetitions)
    low = stats.beta.ppf(MISS / 2, hits, row.repetitions - hits + 1) if hits else 0.0
    high = stats.beta.ppf(1 - MISS / 2, hits + 1, row.repetitions - hits) if hits < row.repetitions else 1.0
    return (low + high) / 2, (high - low) / 2


def simulated(says: Callable[..., Check], frame: pd.DataFrame, samples: str, delta: float) -> Iterator[Check]:
    """Every power of `powers` with these samples is to be at least 1 - delta."""
    for _, row in frame[frame.samples == samples].iterrows():
        cell = f"{samples}, m = {row.n_items}, μ = {row.mu:g}, k = {row.n_rankings}, δ = {delta:g}"
        middle, half = interval(row)
        yield says(f"power (mid-interval), {cell}", middle, ">=", 1 - delta, error=half)


def one_pair_power(n_items: int, theta: float, delta: float) -> float:
    """A lower bound on the power of UNIF as printed with the printed samples: a single far pair must do it alone."""
    k, threshold = int(paper.unif_samples(n_items, theta, delta)), paper.unif(n_items, delta).threshold
    apart_by = math.ceil(n_items / 8)
    alone = float(unif_sf(1, k, threshold, float(Mallows(n_items, theta).bias(apart_by))))
    return (1 - float(far_law(n_items, apart_by)[0])) * alone


@claim("busafekete2021:alg-2:k")
def check_alg_2_k(
    delta: float = 0.05, items: Sequence[int] = (16, 24, 32, 40, 56), biases: Sequence[float] = (0.01, 0.5, 0.99)
) -> Iterator[Check]:
    """The number of samples in line 5: where it is defined, and whether it is enough there."""
    k = paper.unif_samples(12, math.log(2), 2 * math.exp(-3))
    yield printed("k, m = 12, δ = 2e⁻³, φ_ε = 1/2", k, "<", math.inf)
    yield argument("m₁ there", m_1(12, 2 * math.exp(-3)).item(), "==", 0, error=ROUNDING)
    above = 12 * 12 * 3 / paper.unif_bias(12, math.log(2)) ** 2
    yield argument("what the number divides by m₁² there", above, ">", 0, error=ROUNDING)
    m = items[-1]
    mean = float(far_law(m, m // 8) @ np.arange(m // 2 + 1))
    what = f"mean number of far pairs, m = {m}, by the law that gives the chance of none"
    yield argument(what, mean, "==", far_mean(m, m // 8), error=ROUNDING)
    cells = {(m, mu): one_pair_power(m, 16 / m * math.atanh(mu), delta) for m in items for mu in biases}
    what = f"least power, one far pair alone, {len(cells)} pairs (m, μ), m = {min(items)} .. {max(items)}"
    yield amended(f"{what}, δ = {delta:g}", min(cells.values()), ">=", 1 - delta)


def too_few(constant: float, delta: float, phi: float = 0.5) -> tuple[int, int]:
    """The least m (a power of ten) at which Theorem 5's samples, times a constant and rounded up, are a single one."""
    m = 10
    while True:
        mu = paper.unif_bias(m, -math.log(phi))
        k = math.ceil(constant / mu**2 * math.sqrt(math.log(1 / delta) / m))
        if k <= 1:
            return m, k
        m *= 10


def needed_over_stated(deltas: Iterable[float], n_items: int = 10, phi: float = 0.5) -> pd.DataFrame:
    """Samples that any test needs, over Theorem 5's without its constant, as the significance shrinks.

    ``delta``, ``log`` (of 1 / delta), ``needed`` (log(1 / (4 delta)) over the divergence), ``stated``, ``ratio``.
    """
    law = Mallows.of_phi(n_items, phi)
    mu = paper.unif_bias(n_items, law.theta)
    frame = pd.DataFrame({"delta": list(deltas)})
    frame["log"] = -np.log(frame.delta)
    frame["needed"] = (frame.log - math.log(4)) / divergence(law)
    frame["stated"] = np.sqrt(frame.log / n_items) / mu**2
    return frame.assign(ratio=frame.needed / frame.stated)


@claim("busafekete2021:thm-5")
def check_thm_5(frame: pd.DataFrame, delta: float = 0.05) -> Iterator[Check]:
    """Theorem 5's order of the samples: many items, small significance, and line 5 in its place."""
    for constant in (1, 10, 100):
        m, k = too_few(constant, delta)
        power = null_size(m, k, paper.unif(m, delta).threshold)  # of one ranking Y is always m / 2
        what = f"power, k = ⌈{constant} μ⁻² √(log(1/δ)/m)⌉ = {k}, m = {m:,}, φ_ε = 1/2, δ = {delta:g}"
        yield printed(what, power, ">=", 1 - delta)
    ratios = needed_over_stated([1e-20, 1e-40, 1e-80, 1e-160])
    slope = exponent(ratios.log, ratios.ratio)
    what = "exponent of log(1/δ) in (samples any test needs) / (μ⁻² √(log(1/δ)/m)), m = 10, φ_ε = 1/2"
    yield printed(f"{what}, δ = 10⁻²⁰ .. 10⁻¹⁶⁰", slope, "<=", 0)
    room, times, m, law = 20_000 * math.log(10), 100, 2, Mallows.of_phi(2, 0.01)
    stated = times / paper.unif_bias(m, law.theta) ** 2 * math.sqrt(room / m)
    most = (stated + 1) * math.log(
        2 / (1 + 0.01)
    ) - room  # no ranking is likelier than 2/(1 + φ) times its chance when uniform
    what = f"log of the power of any test, at most, k = {times} μ⁻² √(log(1/δ)/m), m = {m}, φ_ε = 0.01, δ = 10⁻²⁰⁰⁰⁰"
    yield printed(what, most, ">=", -math.log(2), error=ROUNDING)
    size = max(null_size(m, 12, paper.unif(m, delta).threshold) for m in (32, 100, 1000))
    what = f"size of the printed threshold, largest, m = 32, 100, 1000, k = 12, δ = {delta:g} (loose: it is for all δ)"
    yield amended(what, size, "<=", delta)
    yield from simulated(amended, frame, "line 5", delta)


@claim("busafekete2021:checklist:assumptions")
def check_assumptions(delta: float = 0.05, most: int = 400) -> Iterator[Check]:
    """What Theorems 4 and 5 leave out, each by one case that they allow; and with these conditions."""
    pair = paper.two_sample(2, delta)
    what = f"Theorem 4, m = 2, δ = {delta:g}, φ_ε = 1/3, its condition met: power at φ = 0"
    met = pair.least_gap <= 2 / 3
    yield printed(what, float(met and pair.threshold >= 0), ">=", 1 - delta)
    yield argument("its condition there, 1 − φ_ε less what it asks for", 2 / 3 - pair.least_gap, ">=", 0)
    k = paper.unif_samples(12, math.log(2), 2 * math.exp(-3))
    yield printed("Theorem 5, m = 12, δ = 2e⁻³, φ_ε = 1/2: k of Algorithm 2", k, "<", math.inf)
    items = [m for m in range(2, most, 2) if m >= CALM * math.log(1 / delta) and m > 4 * math.log(2 / delta)]
    infinite = sum(math.isinf(paper.unif_samples(m, math.log(2), delta)) for m in items)
    of = f"m from {items[0]} to {items[-1]}, δ = {delta:g}"
    yield amended(f"{of}: how many give no k", infinite, "==", 0)
    size = max(null_size(m, 12, paper.unif(m, delta).threshold) for m in items)
    yield amended(f"{of}: largest size of Algorithm 2, k = 12", size, "<=", delta)
    runs = [t for t in (paper.two_sample(m, delta) for m in range(2, most)) if 0 < t.least_gap <= 1]
    least = min(t.threshold for t in runs)
    yield amended(
        f"m + 7 > √(12 ln(2/δ) m), m < {most}, δ = {delta:g}: least threshold of 2SAMP, so that it can reject",
        least,
        ">=",
        0,
    )


def mean_statistic(law: Mallows, n_rankings: int) -> float:
    """Exact mean of UNIF's Y for Mallows rankings of an even number of items, over rankings and pairings."""
    return law.n_items / 2 * (1 + (n_rankings - 1) * mean_square_bias(law))


def pairing_gain(sizes: Iterable[int], mu: float) -> pd.DataFrame:
    """What a random pairing gains over a fixed one whose pairs an adversary made neighbours in the centre.

    ``m``, ``1 - phi``, ``random`` and ``neighbours`` (mean squared bias of a pair), ``gain`` (their ratio: that of the
    rankings that move Y equally far), ``2m²/27`` (its limit near the uniform law).
    """
    rows = []
    for m in sizes:
        law = Mallows(m, 16 / m * math.atanh(mu))
        random, near = mean_square_bias(law), float(law.bias(1)) ** 2
        row = {"m": m, "1 - phi": -math.expm1(-law.theta), "random": random, "neighbours": near}
        rows.append(row | {"gain": random / near, "2m²/27": 2 * m * m / 27})
    return pd.DataFrame(rows)


def adjacent_power(n_items: int, mu: float, delta: float, n_rankings: int) -> float:
    """Exact power of UNIF as printed where all pairs are neighbours in the centre, whose signs have mean `mu`."""
    return float(unif_sf(n_items // 2, n_rankings, paper.unif(n_items, delta).threshold, mu))


@claim("busafekete2021:sec-4.2:small-m")
def check_small_m(phi: float = 0.5, k: int = 10, delta: float = 1e-3) -> Iterator[Check]:
    """The mean of Y by the bias of neighbours, and the number of samples that goes with it."""
    law, mu = Mallows.of_phi(4, phi), (1 - phi) / (1 + phi)
    stated = law.n_items * (1 + (k - 1) * mu**2) / 2
    drawn, chosen = "the pairing is random", "all pairs are neighbours in the centre"
    by_pairing = []
    for pairs in all_pairings(law.n_items):
        signs = sign_law(law.n_items, phi, pairs)
        biases = [np.diff(signs.sum(axis)).item() for axis in (0, 1)]
        by_pairing.append(sum(square_moments(k, bias)[0] for bias in biases))
    what = f"E[Y], m = {law.n_items}, φ = {phi:g}, k = {k}"
    mean = mean_statistic(law, k)
    yield printed(what, mean, "==", stated, reading=drawn, error=ROUNDING)
    yield amended(f"{what}, {chosen}", min(by_pairing), "==", stated, error=ROUNDING)
    listed = sum(by_pairing) / len(by_pairing)
    yield amended(f"{what}, {drawn}, against all rankings and pairings", mean, "==", listed, error=ROUNDING)
    m = 2
    few = small_samples(m, math.log(3), delta)
    size = null_size(m, few, paper.unif(m, delta).threshold)
    for reading in (drawn, chosen):
        what = f"size, m = {m}, φ_ε = 1/3, k = {few}, δ = {delta:g}"
        yield printed(what, size, "<=", delta, reading=reading, error=ROUNDING)
    least = [Mallows.of_phi(m, phi) for m in (2, 4, 10, 50) for phi in (0.1, 0.5, 0.9, 0.999)]
    ratio = min(mean_square_bias(law) / float(law.bias(1)) ** 2 for law in least)
    what = f"least (E[Y] - m/2) / ((k-1) m μ′²/2), random pairing, {len(least)} laws, m = 2 .. 50: that of m = 2"
    yield amended(what, ratio, "==", 1, error=ROUNDING)
    worst, size = adjacent_margins(small_samples)
    yield amended("least (power - (1-δ)) / δ, all pairs neighbours, m = 2 .. 1000", worst, ">=", 0)
    yield amended(f"largest size / δ of them where m ≥ {CALM} log(1/δ)", size, "<=", 1)


def adjacent_margins(
    samples: Callable[[int, float, float], int],
    items: Sequence[int] = (2, 4, 6, 10, 30, 100, 1000),
    biases: Sequence[float] = (0.1, 0.3, 0.6, 0.9, 0.99),
    deltas: Sequence[float] = (0.5, 0.2, 0.05, 0.01),
) -> tuple[float, float]:
    """Least margin of the exact power, and largest size / delta, of a number of samples where all pairs are neighbours.

    The biases are those of neighbours; the size only where m >= CALM log(1 / delta).
    """
    cells = [(m, mu, delta, samples(m, 2 * math.atanh(mu), delta)) for m in items for mu in biases for delta in deltas]
    margins = [(adjacent_power(m, mu, delta, k) - (1 - delta)) / delta for m, mu, delta, k in cells]
    calm = [(m, delta, k) for m, _, delta, k in cells if m >= CALM * math.log(1 / delta)]
    return min(margins), max(adjacent_power(m, 0, delta, k) / delta for m, delta, k in calm)


@claim("busafekete2021:sec-4.2:tradeoff")
def check_tradeoff(
    delta: float = 0.05, near: float = 1e-3, few: int = 16, many: Sequence[int] = (1000, 10**5)
) -> Iterator[Check]:
    """Line 5 of Algorithm 2 against the number for small m: what the exponent m/8 gains, and what m_1 costs."""

    def share(m: int, theta: float) -> float:
        return float(paper.unif_samples(m, theta, delta)) / small_samples(m, theta, delta)

    at = f"δ = {delta:g}, −ln φ_ε = {near:g}/m"
    m1 = float(m_1(few, delta))
    yield printed(f"m = {few}, δ = {delta:g}: m₁ over m", m1 / few, "<", 1 / 100)
    yield printed(
        f"k of line 5 over that with μ′, m = {few}, where m₁ = {m1:.2g}, {at}", share(few, near / few), ">", 1
    )
    for m in many:
        yield printed(f"k of line 5 over that with μ′, m = {m:,}, {at}", share(m, near / m), "<", 1)
    m, log = many[-1], math.log(2 / delta)
    limit = 64 / m**2 * 80 * math.sqrt(log) / (16 * math.sqrt(math.log(1 / delta)))
    what = f"that share at m = {m:,} over (64/m²) · 5 √(log(2/δ)/log(1/δ)), its limit for many items"
    yield argument(what, share(m, near / m) / limit, "==", 1, error=10 * math.sqrt(log / m))


@claim("busafekete2021:sec-4.2:small-m-family")
def check_family(frame: pd.DataFrame, delta: float = 0.05) -> Iterator[Check]:
    """The last member of the family, exponent 1 and m_1 = m: as a number of pairs, and as a number in a formula."""
    counts, formula = "m₁ is a number of pairs", "m₁ is a number in the formula"
    pairs = int(np.flatnonzero(far_law(10, 1)).max())
    yield printed("pairs at least 1 place apart, m = 10, the most in any pairing", pairs, ">=", 10, reading=counts)
    what = "least (power - (1-δ)) / δ, exponent 1, all pairs neighbours, m = 2 .. 1000"
    worst, _ = adjacent_margins(lambda m, theta, delta: family_samples(m, theta, delta, 1, m))
    yield printed(f"{what}, m₁ = m", worst, ">=", 0, reading=formula)
    yield from simulated(partial(printed, reading=formula), frame, "family", delta)
    worst, _ = adjacent_margins(lambda m, theta, delta: family_samples(m, theta, delta, 1, m / 2))
    yield amended(f"{what}, m₁ = m/2", worst, ">=", 0)
