"""One vote a batch: bucketing as printed, with a coin, and the noisy vote."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from companion.chapters.private_uniformity.central import FIGURE_3, Array, sign_data, statistic
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, key, panels, styled
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.audit.exact import privacy_loss
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif


def outcome_laws(test: Bucketed) -> Array:
    """P(reject) of a bucketed test by the number 0 .. B of batches that reject."""
    return test.coin / 2 + (1 - test.coin) * np.arange(test.n_batches + 1) / test.n_batches


def has_both_outcomes(test: Bucketed) -> bool:
    """Whether some batch is rejected and some is not: then neighbouring ones differ, as single changes connect all."""
    k, pairs = test.batch_voters, test.n_items // 2
    return pairs * (k % 2) / k < test.batch_threshold <= pairs * k


def bucketed_loss(test: Bucketed) -> float:
    """Exact privacy loss over all data and both outcomes."""
    if not has_both_outcomes(test):
        return 0.0
    p = outcome_laws(test)
    return max(privacy_loss([a, 1 - a], [b, 1 - b]) for a, b in pairwise(p))


def bucketed_delta(test: Bucketed, epsilon: float) -> float:
    """The least delta with which a bucketed test is (epsilon, delta)-private, exactly."""
    if not has_both_outcomes(test):
        return 0.0
    p = outcome_laws(test)
    low, high = p[:-1], p[1:]
    grow = np.exp(epsilon)
    return float(max((high - grow * low).max(), (1 - low - grow * (1 - high)).max(), 0.0))


def enumerated_loss(test: Bucketed) -> float:
    """`bucketed_loss` by listing all data of all batches: at tiny sizes only."""
    y = statistic(sign_data(test.n_items // 2, test.batch_voters), test.batch_voters)
    rejects = y >= test.batch_threshold
    flips = (rejects.any(1) & ~rejects.all(1)).any()
    states = np.unique(rejects)
    worst = 0.0
    for others in product(states, repeat=test.n_batches - 1):
        p = np.array([test.coin / 2 + (1 - test.coin) * (sum(others) + mine) / test.n_batches for mine in (0, 1)])
        worst = max(worst, privacy_loss([p[0], 1 - p[0]], [p[1], 1 - p[1]]) if flips else 0.0)
    return worst


@claim("busafekete2021:sec-5:bucketing")
def check_bucketing(epsilon: float, delta: float) -> Iterator[Check]:
    """BUNIF as printed on the smallest data on which it can reject, and at the sizes of Figure 3; then with a coin."""
    for m, n in ((2, 6 * math.ceil(1 / epsilon)), *FIGURE_3):
        test = paper.bucketed(m, n, epsilon, delta).mechanism
        loss = enumerated_loss(test) if m == 2 else bucketed_loss(test)
        of = f"m = {m}, {test.n_batches} batches of {test.batch_voters}"
        yield printed(f"privacy loss as printed, {of}", loss, "<=", epsilon)
        least = bucketed_delta(test, 50.0)
        yield amended(f"δ₀ that it needs at any ε₀, {of}", least, "==", 1 / test.n_batches, error=ROUNDING)
    for m, n in FIGURE_3:
        coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
        of = f"m = {m}, {coin.n_batches} batches of {coin.batch_voters}"
        yield amended(f"privacy loss with a coin, {of}", bucketed_loss(coin), "==", epsilon, error=ROUNDING)
        yield amended(f"its size, {of}", coin.exact_size, "<=", delta)
        least = 2 / (2 + coin.n_batches * math.expm1(epsilon))
        yield amended(
            f"its chance of a coin, over 2/(2 + B(e^ε₀ − 1)), {of}", coin.coin / least, "==", 1, error=ROUNDING
        )
        fewer = replace(coin, coin=0.99 * least)
        yield amended(f"privacy loss if the coin is tossed 1 % less often, {of}", bucketed_loss(fewer), ">", epsilon)


def batch_tests(m: int, n: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Tests on batches: ``test``, ``batches``, ``rankings in each``, ``proved ε₀`` and ``δ₀``, ``size``."""
    sheet: dict[str, Any] = {"epsilon": epsilon, "n_items": m, "n_voters": n, "size": delta}
    tests: dict[str, Bucketed | BatchVote] = {
        "as printed": paper.bucketed(m, n, epsilon, delta).mechanism,
        "with a coin": Bucketed.calibrated(**sheet),
        "noisy vote": BatchVote.calibrated(**sheet),
    }
    rows = []
    for name, test in tests.items():
        row = {"test": name, "batches": test.n_batches, "rankings in each": test.batch_voters}
        proved = {"proved ε₀": test.guarantee.epsilon, "proved δ₀": test.guarantee.delta}
        rows.append(row | proved | {"size": test.exact_size})
    return pd.DataFrame(rows)


def privacy_profiles(epsilon: float, delta: float, grid: ArrayLike) -> pd.DataFrame:
    """The delta that each test needs at every epsilon, exactly, for 1000 rankings of 100 items; if there is the test.

    Columns: ``test``, ``epsilon``, ``delta``. For Laplace noise and votes, of all that they release.
    """
    m, n = FIGURE_3[1]
    x = np.asarray(grid, float)
    as_printed = paper.bucketed(m, n, epsilon, delta).mechanism
    laplace = LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    curves = {
        "BUNIF as printed": np.array([bucketed_delta(as_printed, e) for e in x]),
        "BUNIF with a coin": _coin_deltas(epsilon, delta, x),
        "noisy vote": vote_delta(BatchVote.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta), x),
        "Laplace on Y": -np.expm1(np.minimum((x - laplace.guarantee.epsilon) / 2, 0)),
    }
    return pd.concat(
        [pd.DataFrame({"test": name, "epsilon": x, "delta": curve}) for name, curve in curves.items() if len(curve)],
        ignore_index=True,
    )


def _coin_deltas(epsilon: float, delta: float, x: Array) -> Array:
    """Those of bucketing with a coin; none where 1000 rankings are too few for so many batches."""
    m, n = FIGURE_3[1]
    try:
        coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    except ValueError:
        return np.empty(0)
    return np.array([bucketed_delta(coin, e) for e in x])


def vote_delta(test: BatchVote, epsilon: Array) -> Array:
    """The least delta of the noisy number of votes: the positive part of p - e^epsilon q, over all whole numbers.

    Below the smaller count the ratio p / q is e^(1/scale) throughout, elsewhere it is its inverse.
    """
    q = math.exp(-1 / test.scale)
    return np.maximum(0.0, 1 / (1 + q) - np.exp(epsilon) * q / (1 + q))


def private_least(epsilon: ArrayLike, delta: ArrayLike, distance: float = 1.0) -> Array:
    """Fewer rankings than that suffice for no epsilon-private test with both errors at most delta.

    log((1 - delta) / delta) / log(1 + distance (e^epsilon - 1)), for an alternative at that total variation distance.
    """
    e, d = np.asarray(epsilon, float), np.asarray(delta, float)
    return np.log((1 - d) / d) / np.log1p(distance * np.expm1(e))


def vote_batches(epsilon: float, delta: float) -> int:
    """Batches of a noisy vote on two items."""
    return BatchVote.calibrated(epsilon=epsilon, n_items=2, n_voters=10**4, size=delta).n_batches


@claim("busafekete2021:sec-5:bucketing:samples")
def check_bucketing_samples(frame: pd.DataFrame, epsilon: float, delta: float) -> Iterator[Check]:
    """The rate of bucketing, which leaves out what privacy costs in delta and what a fixed distance costs in m."""
    deltas = np.array([1e-2, 1e-8, 1e-32, 1e-128])
    items = 2 * np.ceil(np.log(1 / deltas) / 2)
    as_printed = np.maximum(np.sqrt(np.log(1 / deltas) / items), 2) / epsilon
    ratio = private_least(epsilon, deltas) / as_printed
    what = "rankings any ε₀-private test needs, over the printed rate, φ = 0, m ≥ log(1/δ): δ = 1e-128 over δ = 1e-2"
    yield printed(what, ratio[-1] / ratio[0], "<=", 1)
    length, times, mu = 400, 100, 0.9
    needed = float(private_least(epsilon, math.exp(-length))) * epsilon
    stated = times * max(1 / mu**2, 2) + epsilon  # as k is rounded up
    what = f"k ε₀ of any ε₀-private test, m = {length} items, δ = e^−{length}, μ = {mu}; {times} times the printed rate"
    yield printed(what, needed, "<=", stated, error=ROUNDING)
    (few, many), (low, high) = frame["items"].iloc[-2:], frame.bucketing.iloc[-2:]
    yield printed(f"printed rate at fixed distance, m = {many} over m = {few}", high / low, "<=", 1)
    rate = exponent([few, many], [low, high])
    yield amended("exponent of m in that rate, last two sizes", rate, "==", 0.5, error=0.02)
    batches = Bucketed.calibrated(epsilon=epsilon, n_items=2, n_voters=10**4, size=delta).n_batches
    least = (1 / delta - 2) / math.expm1(epsilon)
    yield amended("batches with a coin less (1/δ − 2)/(e^ε₀ − 1)", batches - least, ">=", 0)
    grid = product((1.0, 1 / 3, 0.1), (0.1, 0.05, 0.01, 1e-4))
    worst = max(vote_batches(e, d) / (math.log(2 / d) * max(1 / 0.08, 1 / (0.2 * e))) for e, d in grid)
    what = "batches of a noisy vote over log(2/δ) max{1/0.08, 1/(0.2 ε₀)}, largest on a grid"
    yield amended(what, worst, "<=", 1)
    yield amended("batches of a noisy vote", vote_batches(epsilon, delta), "<", batches)


_LOOKS: dict[str, dict[str, Any]] = {
    "BUNIF as printed": {"color": COLOURS[1]},
    "BUNIF with a coin": {"color": COLOURS[6]},
    "noisy vote": {"color": COLOURS[3], "ls": "--"},
    "Laplace on Y": {"color": COLOURS[5], "ls": ":"},
}

_NAMES = {
    "BUNIF as printed": "bucketing as printed",
    "BUNIF with a coin": "bucketing, repaired by coin tosses",
    "noisy vote": "noisy vote of all batches",
    "Laplace on Y": "Laplace noise on the test statistic",
}


@styled
def draw_privacy_profiles(frame: pd.DataFrame) -> Figure:
    """The delta_0 that each test needs against epsilon, in units of the claimed one."""
    often = round(1 / frame.delta[(frame.test == "BUNIF as printed") & (frame.times >= 1)].max())
    chance = f"with chance 1/{often}" if often > 1 else "for certain"
    message = f"Bucketing as printed can give a ranking away {chance}"
    figure, (axes,) = panels(message=message, height=3.0)
    for test, part in frame.groupby("test", sort=False):
        axes.plot(part.times, part.delta, label=_NAMES[str(test)], **_LOOKS[str(test)])
    axes.axvline(1, color="black", lw=1)
    axes.annotate("the claim", (1.02, 0.6), xycoords=("data", "axes fraction"), fontsize=9)
    axes.set(xlim=(0, frame.times.max()), xlabel="privacy loss allowed, in units of the claimed ε")
    axes.set(ylim=(0, None), ylabel="chance that a ranking\nis given away")
    key(figure, *axes.get_legend_handles_labels())
    return figure
