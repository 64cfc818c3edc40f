"""The perturbed MLE under a voter's privacy: Theorem 3.1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import special

from companion.instruments.allowance import Z
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.printed.cai2025 import proposition_3_1
from dprank.models.bradley_terry import LOGISTIC
from dprank.models.draws import binomial, multinomial

#: The one constant that both halves of (A2) need for the logistic link: 1 / F'(4).
KAPPA_2 = float(1 / LOGISTIC.curvature(4.0))
#: What the first-order bound on the corrected estimate may be, in rates, rounded up: noise of scale 8L / epsilon, log n
#: times, over a curvature of S F'(2), S = 2mL / n, is 4 / F'(2) = 38.1 times n log n / (m epsilon).
WITHIN = 40.0


def rate(n_items: ArrayLike, voters: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    r"""The rate of Section 3, :math:`\sqrt{n \log n / m} + n \log n / (m \varepsilon)`, elementwise."""
    n = np.asarray(n_items, float)
    share = n * np.log(n) / np.asarray(voters, float)
    return np.sqrt(share) + share / epsilon


def mean_noise(n_items: ArrayLike) -> NDArray[np.float64]:
    r"""Expected absolute mean of n standard Laplace variables, :math:`2 \Gamma(n + 1/2) / (\sqrt\pi \, n!)`."""
    n = np.asarray(n_items, float)
    return 2 / math.sqrt(math.pi) * np.exp(special.gammaln(n + 0.5) - special.gammaln(n + 1))


def sum_peak(n_items: ArrayLike) -> NDArray[np.float64]:
    r"""Largest density of a sum of n standard Laplace variables, at 0: the difference of two Gamma(n) variables.

    Its density at 0 is the integral of a squared Gamma(n) density, :math:`\Gamma(2n-1) / (\Gamma(n)^2 2^{2n-1})`.
    """
    n = np.asarray(n_items, float)
    return np.exp(special.gammaln(2 * n - 1) - 2 * special.gammaln(n) - (2 * n - 1) * math.log(2))


def chance_within(
    times: float, n_items: ArrayLike, voters: ArrayLike, epsilon: float, kappa_2: float, kappa_1: float = 1.0
) -> NDArray[np.float64]:
    r"""Upper bound on the chance that the printed estimate is within `times` the rate of the truth.

    The mean of the estimate is minus that of the noise over gamma, and the truth has mean 0. With the printed
    constants :math:`\lambda / \gamma = \kappa_1 / \kappa_2`, for any number of answers.
    """
    n = np.asarray(n_items, float)
    reach = times * rate(n, voters, epsilon) * n * kappa_2 / kappa_1
    return np.minimum(1, 2 * reach * sum_peak(n))


def drift(n_items: Iterable[float], power: float, epsilon: float, times: float) -> pd.DataFrame:
    """How the printed estimate misses its rate when there are n^power voters.

    Columns: ``items``, ``voters``, ``rate``, ``mean of the error`` (expected absolute value, exact, least kappa_2),
    ``chance`` (upper bound on the chance of an error within `times` the rate, same kappa_2), ``chance, A2`` (the same
    for the kappa_2 that both halves of (A2) need).
    """
    n = np.array(list(n_items), float)
    return pd.DataFrame(
        {
            "items": n,
            "voters": n**power,
            "rate": rate(n, n**power, epsilon),
            "mean of the error": mean_noise(n) * LOGISTIC.kappa_1 / LOGISTIC.kappa_2,
            "chance": chance_within(times, n, n**power, epsilon, LOGISTIC.kappa_2),
            "chance, A2": chance_within(times, n, n**power, epsilon, KAPPA_2),
        }
    )


def uncompared(n_items: Iterable[float], share: float, epsilon: float, answers: int = 1) -> pd.DataFrame:
    r"""Error of items that nobody compared, where the voters are as few as :math:`n \log n / (m \varepsilon)` = share.

    Such an item is estimated by minus its noise over gamma. The number of them beyond a threshold has first and second
    moments in closed form, so by the second moment inequality the median error is at least the threshold.

    Columns: ``items``, ``expected`` (number of items that are never compared), ``rate``, ``median`` (lower bound on the
    median error, printed constants, logistic), ``over rate``.
    """
    n = np.array(list(n_items), float)
    draws = answers * n * np.log(n) / (share * epsilon)
    alone = draws * np.log1p(-2 / n)
    both = np.exp(draws * np.log1p(-2 / ((n - 1) * (n - 2))))  # P(two alone) / P(one alone)^2
    beyond = np.log(n) + alone + np.log(np.maximum(2 - both, 1e-300))
    median = np.maximum(beyond * LOGISTIC.kappa_1 / LOGISTIC.kappa_2 - 1, 0)
    reached = math.sqrt(share * epsilon) + share
    expected = np.exp(np.log(n) + alone)
    return pd.DataFrame(
        {"items": n, "expected": expected, "rate": reached, "median": median, "over rate": median / reached}
    )


STRENGTHS: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "spread": lambda n: np.linspace(-1, 1, n),
    "equal": np.zeros,
}


def estimation_errors(
    calibration: str,
    n_items: int,
    voters: int,
    epsilon: float,
    answers: int,
    strengths: str = "spread",
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Largest error of the perturbed MLE over the items, from the law of the sufficient statistics.

    Calibrations: "as printed" is Theorem 3.1 with the least kappa_2; "centred" the same estimate minus its mean;
    "larger ridge" has the ridge sqrt(S log n) of Appendix B.2.
    """
    theta = STRENGTHS[strengths](n_items)
    first, second = np.triu_indices(n_items, 1)
    games = multinomial(voters * answers, np.full(first.size, 1 / first.size), repetitions, rng=rng)
    won = binomial(games, LOGISTIC.cdf(theta[first] - theta[second]), rng=rng)
    played = np.zeros((repetitions, n_items, n_items))
    played[:, first, second] = played[:, second, first] = games
    points = np.zeros_like(played)
    points[:, first, second], points[:, second, first] = won, games - won
    ridge = math.sqrt(2 * voters * answers / n_items * math.log(n_items)) if calibration == "larger ridge" else None
    mechanism = proposition_3_1(epsilon, n_items, per_person=answers, ridge=ridge).mechanism
    estimate = mechanism.estimate(played, points.sum(-1), rng)
    if calibration == "centred":
        estimate = estimate - estimate.mean(-1, keepdims=True)
    return np.abs(estimate - theta).max(-1)


def estimation_curve(
    n_items: Iterable[int], voters: Iterable[int], epsilon: float, answers: int, repetitions: int
) -> pd.DataFrame:
    """Mean error of the perturbed MLE, printed and corrected, beside the rate.

    Columns: ``calibration``, ``n_items``, ``voters``, ``strengths``, ``mean``, ``se``, ``repetitions``, ``rate``,
    ``floor`` (what the mean of the noise alone contributes to the printed estimate, exact), ``loss`` (provable
    epsilon).
    """
    cells = [
        {
            "calibration": calibration,
            "n_items": n,
            "voters": m,
            "epsilon": epsilon,
            "answers": answers,
            "strengths": strengths,
        }
        for n, m, calibration, strengths in product(
            n_items, voters, ("as printed", "centred", "larger ridge"), STRENGTHS
        )
    ]
    frame = sweep(estimation_errors, cells, experiment="cai2025:thm-3.1", repetitions=repetitions)
    as_printed = proposition_3_1(epsilon, 2, per_person=answers).mechanism
    return frame.assign(
        rate=rate(frame.n_items, frame.voters, epsilon),
        floor=mean_noise(frame.n_items) * as_printed.scale / as_printed.ridge,
        loss=as_printed.guarantee.epsilon,
    )


def first_order(calibration: str, n_items: int, voters: int, epsilon: float, answers: int, strengths: str) -> float:
    """Bound on the mean largest error of a corrected estimate whose likelihood is as curved as at the truth.

    Scores and noise over the least curvature S c: the largest of n Laplace variables is their harmonic number on
    average, that of n sub-Gaussian scores of variance S c at most sqrt(2 S c log(2n)). The larger ridge adds its pull,
    and leaves the mean of the noise. Below 1, curvature and chance
    are allowed a factor of two.
    """
    theta = STRENGTHS[strengths](n_items)
    curvature = (LOGISTIC.pdf(theta[:, None] - theta).sum(1) - LOGISTIC.pdf(0.0)) / (n_items - 1)
    degree = 2 * voters * answers / n_items
    scale = proposition_3_1(epsilon, n_items, per_person=answers).mechanism.scale
    force = scale * (1 / np.arange(1, n_items + 1)).sum()
    force += math.sqrt(2 * degree * curvature.max() * math.log(2 * n_items))
    if calibration == "centred":
        return float(force / (degree * curvature.min()))
    ridge = math.sqrt(degree * math.log(n_items))
    pull = ridge * np.abs(theta).max()
    return float((force + pull) / (degree * curvature.min()) + mean_noise(n_items) * scale / ridge)


@claim("cai2025:thm-3.1")
def check_thm_3_1(frame: pd.DataFrame, times: float = 100.0) -> Iterator[Check]:
    """Theorem 3.1: the printed ridge, granted `times` the rate, and the centred estimate."""
    epsilon = frame.epsilon.iloc[0]
    yield printed(f"privacy loss of the printed calibration, ε = {epsilon:g}", frame.loss.max(), "<=", epsilon)
    say = f"chance (at most) of an error within {times:g} × the rate"
    for row in drift([10**3, 10**4], 6, epsilon, times).to_dict("records"):
        at = f"n = {row['items']:.0f}, m = n^6, ε = {epsilon:g}"
        yield printed(f"{say}, {at}, κ2 = {LOGISTIC.kappa_2:g}", row["chance"], ">=", 0.5)
        yield printed(f"{say}, {at}, κ2 = {KAPPA_2:.1f}", row["chance, A2"], ">=", 0.5)
    small = float(chance_within(10, 16, 10**6, epsilon, LOGISTIC.kappa_2))
    what = f"chance (at most) of an error within 10 × the rate, n = 16, m = 10^6, ε = {epsilon:g}, κ2 = 0.25"
    yield printed(what, small, ">=", 1 - 16**-5.0)
    most = 0.0
    for row in frame[frame.calibration != "as printed"].itertuples():
        at = f"{row.calibration}, n = {row.n_items}, m = {row.voters:,}, {row.strengths} strengths"
        near = first_order(row.calibration, row.n_items, row.voters, row.epsilon, row.answers, row.strengths)
        if near < 1:
            what = f"mean error over its first-order bound, {at}"
            yield amended(what, row.mean / near, "<=", 2, error=Z * row.se / near)
        else:  # the curvature is not that at the truth
            what = f"mean error over the rate, {at}"
            yield amended(what, row.mean / row.rate, "<=", WITHIN, error=Z * row.se / row.rate)

        most = max(most, near / row.rate)
    yield argument("largest of those first-order bounds over the rate", most, "<=", WITHIN)


def estimation_numbers(frame: pd.DataFrame) -> dict[str, str]:
    """Numbers of the text on Theorem 3.1; `frame` is that of `estimation_curve`."""
    n = int(frame.n_items.min())
    last = frame[(frame.voters == frame.voters.max()) & (frame.n_items == n) & (frame.strengths == "spread")]
    mean = last.set_index("calibration")["mean"]
    return {
        "voter-kappa": f"{KAPPA_2:.1f}",
        "voter-items": f"{n}",
        "voter-most": f"{frame.voters.max():,}",
        "voter-floor": f"{last.floor.iloc[0]:.2f}",
        "voter-printed": f"{mean['as printed']:.2f}",
        "voter-centred": f"{mean['centred']:.4f}",
        "voter-spread": f"{float((frame['mean'] / frame.rate)[frame.calibration != 'as printed'].max()):.1f}",
    }


_LOOKS = {
    "as printed": CALIBRATION["as printed"],
    "centred": CALIBRATION["corrected"],
    "larger ridge": {"color": COLOURS[2], "marker": "D"},
}


@styled
def draw_estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean largest error of the perturbed MLE against the number of voters, a panel for each number of items."""
    groups = list(frame.groupby("n_items", sort=True))
    figure = Figure(figsize=(3.6 * max(2, len(groups)), 3.9))
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (items, rows) in zip(panels, groups, strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            axes.errorbar(
                part.voters, part["mean"], BAR * part.se, capsize=2, label=calibration, **_LOOKS[str(calibration)]
            )
        one = rows.drop_duplicates("voters")
        axes.plot(one.voters, one.rate, color="black", ls="--", lw=1, label="the rate")
        axes.plot(one.voters, one.floor, color="black", ls=":", lw=1.2, label="mean of the noise (exact)")
        axes.set(title=f"{items} items", xlabel="voters", xscale="log", yscale="log")
    panels[0].set_ylabel("largest error of a strength, mean")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return figure
