"""How much one ranking moves Y, and Laplace noise that hides it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, key, note, panels, styled
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.uniformity.laplace import LaplaceUnif

Array = NDArray[np.float64]
#: Items and rankings of Figure 3.
FIGURE_3 = ((10, 10_000), (100, 1000), (500, 1000), (1000, 1000))


def sign_data(n_pairs: int, n_rankings: int) -> NDArray[np.int64]:
    """Sums of signs of all data sets: what k rankings say of P disjoint pairs, every combination being possible.

    Shape (data sets without the last ranking, choices of the last ranking, pairs). Entries of one row are neighbours,
    and up to the order of the rankings there are no others.
    """
    signs = np.array(list(product((1, -1), repeat=n_pairs)))
    rest = np.array([signs[list(rows)].sum(0) for rows in product(range(len(signs)), repeat=n_rankings - 1)])
    return rest[:, None] + signs


def statistic(sums: NDArray[np.int64], n_rankings: int) -> Array:
    """UNIF's Y of sums of signs, shape (..., pairs)."""
    return (sums**2).sum(-1) / n_rankings


def sensitivities(sizes: Iterable[tuple[int, int]]) -> pd.DataFrame:
    """How far one ranking moves Y, over all data.

    Columns: ``items``, ``rankings``, ``largest change``; ``4P(1 − 1/k)``, P = floor(m/2) pairs; ``same, signs cancel``,
    the largest change of data whose signs add up to 0; ``largest (4/k)|ΣΣX|``, of all signs; ``beyond local``, the most
    by which a change exceeds (4/k) times the sum of abs(S_i) + 1 over the pairs.
    """
    rows = []
    for m, k in sizes:
        sums = sign_data(m // 2, k)
        y = statistic(sums, k)
        change = np.abs(y[:, :, None] - y[:, None]).max(2)
        total = np.abs(4 / k * sums.sum(-1))
        local = 4 / k * (np.abs(sums) + 1).sum(-1)
        row = {"items": m, "rankings": k, "largest change": change.max(), "4P(1 − 1/k)": 4 * (m // 2) * (1 - 1 / k)}
        sums_of_signs = {"same, signs cancel": change[total == 0].max(initial=0), "largest (4/k)|ΣΣX|": total.max()}
        rows.append(row | sums_of_signs | {"beyond local": (change - local).max()})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-5:sensitivity")
def check_sensitivity(sizes: Iterable[tuple[int, int]]) -> Iterator[Check]:
    """Claim 10, reconstructed, and the sum of signs that is said to govern it."""
    for row in sensitivities(sizes).to_dict("records"):
        m, of = row["items"], f"all data, m = {row['items']}, k = {row['rankings']}"
        yield printed(f"largest change of Y by one ranking, {of}", row["largest change"], "<=", 2 * m)
        if row["rankings"] % 2 == 0:
            yield printed(f"largest change of Y where ΣΣX = 0, {of}", row["same, signs cancel"], "==", 0)
            yield printed(f"largest (4/k)|ΣΣX|, {of}", row["largest (4/k)|ΣΣX|"], "==", 4 * (m // 2), error=ROUNDING)
        what = f"largest change of Y, against 4⌊m/2⌋(1 − 1/k), {of}"
        yield amended(what, row["largest change"], "==", row["4P(1 − 1/k)"], error=ROUNDING)
        what = f"change less (4/k) Σ(|S| + 1), largest over the data, {of}: 0, attained"
        yield amended(what, row["beyond local"], "==", 0, error=ROUNDING)


def split_leads(n_pairs: int, n_rankings: int) -> pd.DataFrame:
    """``rankings`` that all agree, their signs +1 at so many ``pairs`` and -1 at the others: how far one can move Y.

    ``moves``, exactly (one that agrees is replaced by its reverse: no change is larger), and the ``printed`` sum.
    """
    plus = np.arange(n_pairs + 1)
    signs = np.where(np.arange(n_pairs) < plus[:, None], 1, -1)
    sums = n_rankings * signs
    moves = np.abs(statistic(sums - 2 * signs, n_rankings) - statistic(sums, n_rankings))
    return pd.DataFrame(
        {"rankings": n_rankings, "pairs": plus, "moves": moves, "printed": np.abs(4 / n_rankings * sums.sum(1))}
    )


@styled
def draw_split_leads(frame: pd.DataFrame) -> Figure:
    """What Y moves by, which is level, and the printed sum, which cancels."""
    message = "Signs cancel in the printed sum, and not in Y"
    figure, (axes,) = panels(message=message, height=2.8)
    axes.plot(frame.pairs, frame.moves, color=COLOURS[0], label="how far one ranking can move Y")
    axes.plot(frame.pairs, frame.printed, color=COLOURS[1], ls="--", label="the printed sum")
    least = frame.loc[frame.printed.idxmin()]
    axes.plot(least.pairs, least.printed, "s", color=COLOURS[1])
    axes.plot(least.pairs, least.moves, "o", color=COLOURS[0])
    for said, at, above in ((f"{least.moves:,.0f}", least.moves, -14), (f"{least.printed:,.0f}", least.printed, -1)):
        axes.annotate(said, (least.pairs, at), (10, above), textcoords="offset points", fontsize=9)
    axes.set(xlim=(0, frame.pairs.max()), ylim=(-60, 1.1 * frame.moves.max()))
    axes.set_xlabel("pairs with sign +1; all others have −1")
    axes.set_ylabel("change of Y")
    key(figure, *axes.get_legend_handles_labels(), columns=2)
    pairs, rankings = frame.pairs.max(), frame.rankings.iloc[0]
    note(
        figure,
        f"{rankings:,} rankings that all agree, {pairs:,} pairs of items. A sign says which item of a pair a ranking "
        "puts first. Printed: Y moves in proportion to the orange line.",
    )
    return figure


def laplace_loss(test: LaplaceUnif) -> float:
    """Exact privacy loss of a continuous `LaplaceUnif`'s decision over all data: at tiny sizes only."""
    y = statistic(sign_data(test.n_pairs, test.n_voters), test.n_voters)
    scale = 4 * test.scale / test.n_voters
    losses = [f((test.threshold - y) / scale) for f in (stats.laplace.logsf, stats.laplace.logcdf)]
    return float(max((loss.max(1) - loss.min(1)).max() for loss in losses))


def agreeing_loss(test: LaplaceUnif) -> float:
    """Log ratio of accepting k equal rankings to accepting them after one was reversed, continuous noise.

    A lower bound of the privacy loss of the decision, and all of `guarantee` where the threshold lies below both Y.
    """
    scale = 4 * test.scale / test.n_voters
    x = (test.threshold - np.array([test.statistic(0), test.statistic(test.sensitivity)])) / scale
    accepts = np.where(x < 0, x - math.log(2), np.log1p(-np.exp(-np.maximum(x, 0)) / 2))
    return float(accepts[1] - accepts[0])


def laplace_losses(sizes: Iterable[tuple[int, int]], epsilon: float, delta: float = 0.05) -> pd.DataFrame:
    """Privacy of the printed noise: ``items``, ``rankings``, ``claimed ε₀``, loss of ``Y + Z``, of the ``decision``."""
    tests = [paper.laplace_unif(m, n, epsilon, delta).mechanism for m, n in sizes]
    return pd.DataFrame(
        {
            "items": test.n_items,
            "rankings": test.n_voters,
            "claimed ε₀": epsilon,
            "loss of Y + Z": test.guarantee.epsilon,
            "loss of the decision": agreeing_loss(test),
        }
        for test in tests
    )


@claim("busafekete2021:alg-4")
def check_laplace(epsilon: float, delta: float, tiny: Iterable[tuple[int, int]]) -> Iterator[Check]:
    """Algorithm 4: its decision on all tiny data, its noisy statistic at the sizes of Figure 3."""
    for m, k in tiny:
        test = paper.laplace_unif(m, k, epsilon, delta).mechanism
        what = f"privacy loss of the decision, all data, m = {m}, k = {k}"
        yield printed(what, laplace_loss(test), "<=", epsilon)
    for row in laplace_losses(FIGURE_3, epsilon, delta).to_dict("records"):
        of = f"m = {row['items']}, k = {row['rankings']}"
        yield printed(f"privacy loss of Y + Z, {of}", row["loss of Y + Z"], "<=", epsilon)


@claim("busafekete2021:sec-5:noise-variance")
def check_noise_variance(epsilon: float = 1 / 3, few: int = 2, many: int = 200, k: int = 10) -> Iterator[Check]:
    """Laplace noise for two sensitivities: with variances proportional to them, and with the printed scales."""
    small, large = (paper.laplace_unif(m, k, epsilon, 0.05).mechanism for m in (few, many))
    moved = large.sensitivity / small.sensitivity
    # a variance in proportion to the sensitivity makes the scale go with its root
    loose = replace(large, scale=small.scale * math.sqrt(moved))
    of = f"m = {many} over m = {few}, k = {k}: Y moves {moved:g} times as far"
    ratio = loose.guarantee.epsilon / small.guarantee.epsilon
    yield printed(f"privacy loss if the noise's variance is proportional to the sensitivity, {of}", ratio, "<=", 1)
    ratio = large.guarantee.epsilon / small.guarantee.epsilon
    yield amended(f"privacy loss with the printed noise, {of}", ratio, "==", 1, error=ROUNDING)
    ratio = (large.scale / small.scale) ** 2 / moved**2
    yield amended(f"its variance over the square of the sensitivity, {of}", ratio, "==", 1, error=ROUNDING)


@claim("busafekete2021:alg-4:variance")
def check_variance(epsilon: float) -> Iterator[Check]:
    """Variance of Y against m, and of the noise against it."""
    for m, k in ((2, 2), (4, 3), *FIGURE_3):
        of = f"m = {m}, k = {k}"
        variance = y_variance(m // 2, k, 0.0)
        yield printed(f"V[Y], uniform rankings, {of}", variance, "<=", m, reading="under H₀")
        # much larger: as V[Y] is at most m, by 8 m / epsilon^2, which is 144 at least
        noise = 2 * (4 * paper.laplace_unif(m, k, epsilon, 0.05).mechanism.scale / k) ** 2
        what = f"V[noise] / V[Y], uniform rankings, {of}; 8m/ε₀²"
        yield printed(what, noise / variance, ">=", 8 * m / epsilon**2, reading="under H₀")
        yield amended(f"V[Y], {of}", variance, "==", 2 * (m // 2) * (1 - 1 / k), error=ROUNDING * m)
    m, k, bias = 2, 4, 0.6
    what = f"V[Y], m = {m}, k = {k}, orders of probability {(1 + bias) / 2:g} and {(1 - bias) / 2:g}"
    yield printed(what, y_variance(1, k, bias), "<=", m, reading="under H₁ too")
    m, k = FIGURE_3[0]
    what = f"largest V[Y] / V[noise] over biases of independent pairs, m = {m}, k = {k}"
    most = max(y_variance(m // 2, k, bias) for bias in np.linspace(0, 1, 21))
    yield printed(what, most / (8 * (m / epsilon) ** 2), "<", 1, reading="under H₁ too")


def y_variance(n_pairs: int, n_rankings: int, bias: float) -> float:
    """Variance of Y for independent pairs of one bias, from the binomial law of one pair."""
    b = np.arange(n_rankings + 1)
    law = stats.binom.pmf(b, n_rankings, (1 + bias) / 2)
    y = (2 * b - n_rankings) ** 2 / n_rankings
    return float(n_pairs * (law @ (y - law @ y) ** 2))
