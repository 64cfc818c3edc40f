"""The perturbed MLE under a voter's privacy: Theorem 3.1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike, NDArray

from companion.chapters.edge_privacy.link_conditions import KAPPA_1, KAPPA_2
from companion.instruments.allowance import CLOSED, Z
from companion.instruments.loss_curves import AXES
from companion.instruments.style import BAR, CALIBRATION, COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.cai2025 import proposition_3_1
from dprank.models.bradley_terry import LOGISTIC
from dprank.models.draws import binomial, multinomial
from dprank.privacy.noise import laplace

Array = NDArray[np.float64]

#: Rates that a corrected estimate may be off, rounded up: to first order noise of scale 8L / epsilon, log n times, over
#: a curvature of S F'(2), S = 2mL / n, is 4 / F'(2) = 38.1 times n log n / (m epsilon).
WITHIN = 40.0
#: An error of a strength that nobody sees in a figure of strengths from -1 to 1.
SMALL = 0.1


def rate(n_items: ArrayLike, voters: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    r"""The rate of Section 3, :math:`\sqrt{n \log n / m} + n \log n / (m \varepsilon)`, elementwise."""
    n = np.asarray(n_items, float)
    share = n * np.log(n) / np.asarray(voters, float)
    return np.sqrt(share) + share / epsilon


def mean_noise(n_items: int) -> float:
    """Expected absolute mean of n standard Laplace variables, 2 Gamma(n + 1/2) / (sqrt(pi) n!)."""
    n = int(n_items)
    return math.comb(2 * n, n) / 2 ** (2 * n - 1)


def sum_peak(n_items: int) -> float:
    """Largest density of a sum of n standard Laplace variables, at 0: the integral of a squared Gamma(n) density."""
    return math.comb(2 * n_items - 2, n_items - 1) / 2 ** (2 * n_items - 1)


def chance_within(times: float, n_items: int, voters: float, epsilon: float) -> float:
    """Upper bound on the chance that the printed estimate is within `times` the rate of the truth.

    Its mean is minus that of the noise over gamma, lambda / gamma is kappa_1 / kappa_2, and the truth has mean 0.
    """
    reach = times * float(rate(n_items, voters, epsilon)) * n_items * KAPPA_2 / KAPPA_1
    return min(1.0, 2 * reach * sum_peak(n_items))


def drift(n_items: Iterable[int], power: float, epsilon: float, times: float) -> pd.DataFrame:
    """How the printed estimate misses its rate: ``items``, ``voters`` (n^power), ``rate``, ``mean of the error``.

    And an upper bound on the ``chance`` of an error within `times` the rate; constants that (A1) and (A2) allow.
    """
    return pd.DataFrame(
        {
            "items": float(n),
            "voters": float(n) ** power,
            "rate": float(rate(n, float(n) ** power, epsilon)),
            "mean of the error": mean_noise(n) * KAPPA_1 / KAPPA_2,
            "chance": chance_within(times, n, float(n) ** power, epsilon),
        }
        for n in n_items
    )


def uncompared(n_items: Iterable[float], share: float, epsilon: float, answers: int = 1) -> pd.DataFrame:
    """Error of items that nobody compared, n log n / (m epsilon) = share: ``items``, ``expected`` number, ``rate``.

    ``median`` (lower bound on the median error, by the second moment of those with noise beyond it), ``over rate``.
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


def widest(wins: Array, played: Array, theta: Array, noise: Array, ridge: float) -> Array:
    """The most that the errors of the perturbed MLE can range over, a number a run, from all orders of the likelihood.

    The slope of F falls by a factor of at most e^u over u. So if errors range over D, from item a down to item b, their
    equations say that m_ab (1 - e^(-D)) + ridge D is at most the difference of their forces at the truth, where m_ab
    adds up, over third items, the smaller of the two curvatures there, and twice their own.
    """
    gaps = theta[:, None] - theta
    force = wins - (played * LOGISTIC.cdf(gaps)).sum(-1) - noise - ridge * theta
    bent = played * LOGISTIC.pdf(gaps)
    joint = 2 * bent + sum(np.minimum(bent[:, j, :, None], bent[:, j, None, :]) for j in range(len(theta)))
    apart = force[:, :, None] - force[:, None, :]
    low, high = np.zeros(len(wins)), np.ptp(force, axis=1) / ridge
    for _ in range(50):
        middle = (low + high) / 2
        holds = (apart - joint * -np.expm1(-middle)[:, None, None]).max((1, 2)) >= ridge * middle
        low, high = np.where(holds, middle, low), np.where(holds, high, middle)
    return high


def answered(theta: Array, comparisons: int, repetitions: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """How often each pair was compared, and how often each item won, in independent data sets."""
    first, second = np.triu_indices(len(theta), 1)
    games = multinomial(comparisons, np.full(first.size, 1 / first.size), repetitions, rng=rng)
    won = binomial(games, LOGISTIC.cdf(theta[first] - theta[second]), rng=rng)
    played = np.zeros((repetitions, len(theta), len(theta)))
    played[:, first, second] = played[:, second, first] = games
    points = np.zeros_like(played)
    points[:, first, second], points[:, second, first] = won, games - won
    return played, points.sum(-1)


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
) -> dict[tuple[str], Array]:
    """Largest ``error`` of the perturbed MLE over the items, from the law of the counts; what a run has ``allowed``.

    "as printed" is Theorem 3.1, least kappa_2; "centred" the same minus its mean; "larger ridge": sqrt(S log n) (B.2).
    """
    theta = STRENGTHS[strengths](n_items)
    played, wins = answered(theta, voters * answers, repetitions, rng)
    ridge = math.sqrt(2 * voters * answers / n_items * math.log(n_items)) if calibration == "larger ridge" else None
    mechanism = proposition_3_1(epsilon, n_items, per_person=answers, ridge=ridge).mechanism
    noise = laplace(mechanism.scale, wins.shape, rng=deepcopy(rng))  # what the estimate draws
    estimate = mechanism.estimate(played, wins, rng)
    allowed = widest(wins, played, theta, noise, mechanism.ridge) * (1 - 1 / n_items)
    if calibration == "centred":
        estimate = estimate - estimate.mean(-1, keepdims=True)
    else:
        allowed = allowed + np.abs(noise.mean(-1)) / mechanism.ridge
    return {("error",): np.abs(estimate - theta).max(-1), ("allowed",): allowed}


def estimation_curve(
    n_items: Iterable[int],
    voters: Iterable[int],
    epsilon: float,
    answers: int,
    repetitions: int,
    strengths: Iterable[str] = tuple(STRENGTHS),
) -> pd.DataFrame:
    """Mean error of the perturbed MLE: ``calibration``, ``n_items``, ``voters``, ``strengths``, ``mean``, ``se``.

    ``allowed``, ``rate``, ``floor`` (what the mean of the noise adds to the printed estimate), ``loss`` (epsilon).
    """
    cells = [
        {
            "calibration": calibration,
            "n_items": n,
            "voters": m,
            "epsilon": epsilon,
            "answers": answers,
            "strengths": truth,
        }
        for n, m, calibration, truth in product(n_items, voters, ("as printed", "centred", "larger ridge"), strengths)
    ]
    both = sweep(estimation_errors, cells, experiment="cai2025:thm-3.1", repetitions=repetitions, outcomes=("of",))
    frame, allowed = (both[both.of == of].drop(columns="of").reset_index(drop=True) for of in ("error", "allowed"))
    as_printed = proposition_3_1(epsilon, 2, per_person=answers).mechanism
    return frame.assign(
        allowed=allowed["mean"],
        rate=rate(frame.n_items, frame.voters, epsilon),
        floor=frame.n_items.map(mean_noise) * as_printed.scale / as_printed.ridge,
        loss=as_printed.guarantee.epsilon,
    )


def needed_ridge(n_items: int, voters: int, epsilon: float, answers: int) -> tuple[float, float]:
    """The appendix's ridge sqrt(S log n), and the least at which the mean of the noise adds one rate on average."""
    larger = math.sqrt(2 * voters * answers / n_items * math.log(n_items))
    scale = 8 * answers * LOGISTIC.kappa_1 / epsilon
    return larger, scale * mean_noise(n_items) / float(rate(n_items, voters, epsilon))


@claim("cai2025:thm-3.1")
def check_thm_3_1(frame: pd.DataFrame, times: float = 100.0) -> Iterator[Check]:
    """Theorem 3.1: the printed ridge, granted `times` the rate, and the centred estimate."""
    epsilon = frame.epsilon.iloc[0]
    yield amended(f"privacy loss of the printed calibration, ε = {epsilon:g}", frame.loss.max(), "<=", epsilon)
    cases = [(10, 16, 10.0**9, "10^9"), *((times, n, n**6.0, "n^6") for n in (10**3, 10**4))]
    for within, n, voters, told in cases:
        at = f"n = {n}, m = {told}, ε = {epsilon:g}, κ1 = {KAPPA_1:g}, κ2 = {KAPPA_2:g}"
        what = f"chance (at most) of an error within {within:g} × the rate, {at}"
        yield printed(what, chance_within(within, n, voters, epsilon), ">=", 1 - within * n**-5.0, error=CLOSED)
    corrected = frame[frame.calibration != "as printed"]
    row = corrected.loc[(corrected["mean"] / corrected.rate).idxmax()]
    at = f"{row.calibration}, n = {row.n_items}, m = {row.voters:,}, {row.strengths} strengths"
    what = f"mean error over the rate, largest of {len(corrected)}: {at}; to first order it may be 4/F'(2)"
    yield amended(what, row["mean"] / row.rate, "<=", WITHIN, error=Z * row.se / row.rate)
    enough, needed = needed_ridge(10**4, 10**12, epsilon, 5)
    what = "larger ridge over the least at which the mean of the noise adds one rate, n = 10^4, m = 10^12, L = 5"
    yield amended(what, enough / needed, ">=", 10)
    share = (corrected["mean"] / corrected.allowed).max()
    what = f"mean error over the mean of what chance, noise and curvature of a run allow, largest of {len(corrected)}"
    yield amended(what, share, "<=", 1)


def estimation_numbers(frame: pd.DataFrame) -> dict[str, str]:
    """Numbers of the text on Theorem 3.1; `frame` is that of `estimation_curve`."""
    n = int(frame.n_items.min())
    last = frame[(frame.voters == frame.voters.max()) & (frame.n_items == n) & (frame.strengths == "spread")]
    mean = last.set_index("calibration")["mean"]
    return {
        "voter-steep": f"{KAPPA_1:g}",
        "voter-kappa": f"{KAPPA_2:g}",
        "voter-larger": f"{KAPPA_2 / KAPPA_1 * LOGISTIC.kappa_1 / LOGISTIC.kappa_2:.0f}",
        "voter-items": f"{n}",
        "voter-most": f"{frame.voters.max():,}",
        "voter-floor": f"{last.floor.iloc[0]:.2f}",
        "voter-printed": f"{mean['as printed']:.2f}",
        "voter-centred": f"{mean['centred']:.4f}",
        "voter-spread": f"{float((frame['mean'] / frame.rate)[frame.calibration != 'as printed'].max()):.1f}",
    }


_LOOKS = {
    "as printed": CALIBRATION["as printed"] | {"label": "as printed"},
    "centred": CALIBRATION["corrected"] | {"label": "minus its mean"},
    "larger ridge": {"color": COLOURS[2], "marker": "D", "label": "pulled harder to zero"},
}


@styled
def draw_estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean largest error of the perturbed MLE against the number of voters, a panel for each number of items."""
    groups = list(frame.groupby("n_items", sort=True))
    message = "However many voters answer, the printed estimate stays off by a shift"
    figure, made = panels(len(groups), message=message, height=3.0, sharey=True)
    for axes, (items, rows) in zip(made, groups, strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            axes.errorbar(part.voters, part["mean"], BAR * part.se, capsize=2, **_LOOKS[str(calibration)])
        one = rows.drop_duplicates("voters")
        axes.plot(one.voters, one.rate, color="black", ls="--", lw=1, label="rate of the theorem")
        axes.plot(one.voters, one.floor, color="black", ls=":", lw=1.2, label="the shift alone")
        axes.set(title=f"{items} items", xscale="log", yscale="log")
    label_outer(made, AXES["m"], "largest error of a strength")
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    note(
        figure,
        "Strengths: logarithms of odds, evenly spread from −1 to 1. Rate of the theorem: how its bound falls, up to "
        "a constant. Pulled harder to zero: with the larger ridge of the paper's appendix. Bars: 95 %.",
    )
    return figure


def releases(n_items: int, voters: int, epsilon: float, answers: int, number: int) -> pd.DataFrame:
    """Estimates from one data set, noise drawn anew: ``release``, ``truth``, ``as printed``, ``minus its mean``."""
    rng = stream("cai2025:thm-3.1:releases", {"items": n_items, "voters": voters, "epsilon": epsilon})
    theta = STRENGTHS["spread"](n_items)
    played, wins = (np.repeat(it, number, axis=0) for it in answered(theta, voters * answers, 1, rng))
    estimate = proposition_3_1(epsilon, n_items, per_person=answers).mechanism.estimate(played, wins, rng)
    columns = {"as printed": estimate, "minus its mean": estimate - estimate.mean(-1, keepdims=True)}
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    return frame.assign(voters=voters, release=np.repeat(np.arange(number), n_items), truth=np.tile(theta, number))


@styled
def draw_releases(frame: pd.DataFrame) -> Figure:
    """Estimated strengths against the true ones, a line a release; as printed, and minus the mean of each."""
    number = frame.release.nunique()
    left, whole = ((frame[name] - frame.truth).abs().max() for name in ("minus its mean", "as printed"))
    said = "are right but for" if left < SMALL else "differ mostly by" if left < whole / 2 else "differ by more than"
    message = f"{number} estimates from the same voters {said} a shift"
    figure, made = panels(2, message=message, height=2.9, sharey=True)
    for axes, column in zip(made, ("as printed", "minus its mean"), strict=True):
        for _, part in frame.groupby("release"):
            look = _LOOKS["as printed" if column == "as printed" else "centred"]
            axes.plot(part.truth, part[column], color=look["color"], lw=1.2)
        axes.plot([-1, 1], [-1, 1], "k--", lw=1, label="truth")
        off = (part[column] - part.truth for _, part in frame.groupby("release"))
        most = math.ceil(100 * max(it.abs().max() for it in off)) / 100
        axes.set_title(column if column == "as printed" else f"{column}: off by at most {most:g}")
    label_outer(made, "true strength of an item", "estimated strength")
    handles, labels = made[0].get_legend_handles_labels()
    key(figure, [*handles, Line2D([], [], color=_LOOKS["as printed"]["color"], lw=1.2)], [*labels, "one estimate each"])
    return figure
