"""Figure 8: the published curve of the perturbed MLE, and what "close" says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.ranking_universities.survey_counts import READING, SURVEYS, exact_difference, survey_data
from companion.chapters.real_surveys.panels import LOOK, PLACES_OFF, bars, epsilon_axis
from companion.chapters.real_surveys.survey_likelihood import (
    mle_curve,
    questionnaire_loss,
    random_difference,
    survey_mle,
)
from companion.instruments.allowance import Z
from companion.instruments.style import key, label_outer, panels, styled
from companion.ledger.claim import Check, amended, claim, printed

#: Figure 8, curves of the perturbed MLE, as published by the authors: survey -> epsilon -> mean rank difference.
PUBLISHED_MLE = {
    "CEMS": {0.5: 1.21, 1.0: 0.80, 2.0: 0.46, 4.0: 0.235},
    "immigration": {0.5: 1.0, 1.0: 0.80, 2.0: 0.55, 4.0: 0.35},
}
#: Repetitions behind a published value.
PUBLISHED_REPETITIONS = 1000
#: Standard errors that a published value may be off ours: false alarm 0.003 a value.
PUBLISHED_Z = 3.0
#: Our own repetitions behind a check, at every profile.
REPETITIONS = 8000
#: The last epsilon of Figure 8.
LARGEST = 10.0
#: "Close": nearer to the noiseless ranking than half of what a random order is.
CLOSE = 0.5


def figure_8(epsilons: Iterable[float], repetitions: int) -> pd.DataFrame:
    """Both halves of Figure 8 as printed: the MLE simulated, the counts exact.

    ``survey``, ``curve``, ``epsilon``, ``mean``, ``se`` (0 where exact), ``published`` (MLE; NaN where unknown),
    ``random`` (of a random order).
    """
    epsilons = [float(epsilon) for epsilon in epsilons]
    mle = mle_curve(epsilons, repetitions).assign(curve="perturbed MLE").drop(columns=["calibration", "repetitions"])
    counts = pd.DataFrame(
        {"survey": s, "curve": "noisy counts", "epsilon": e, "mean": exact_difference(s, "as printed", e), "se": 0.0}
        for s in SURVEYS
        for e in epsilons
    )
    frame = pd.concat([mle, counts], ignore_index=True)
    published = [
        PUBLISHED_MLE[row.survey].get(row.epsilon, math.nan) if row.curve == "perturbed MLE" else math.nan
        for row in frame.itertuples()
    ]
    chance = [random_difference(survey_data(survey).n_items) for survey in frame.survey]
    return frame.assign(published=published, random=chance)


def published_beside_ours(frame: pd.DataFrame) -> pd.DataFrame:
    """Published values of the MLE half beside the simulated ones of `figure_8`, and the share of a random order's."""
    known = frame.dropna(subset="published")
    columns = {"mean": "ours", "se": "standard error"}
    table = known[["survey", "epsilon", "published", "mean", "se"]].rename(columns=columns)
    return table.assign(**{"share of random": known["mean"] / known.random})


@claim("cai2025:fig-8:mle")
def check_figure_8_mle() -> Iterator[Check]:
    """The published curve of the perturbed MLE, its privacy, and that it falls; simulated with `REPETITIONS`."""
    (epsilons,) = {tuple(values) for values in PUBLISHED_MLE.values()}
    for survey, part in mle_curve(epsilons, REPETITIONS).groupby("survey"):
        for row in part.sort_values("epsilon").itertuples():
            loss = survey_mle("as printed", row.epsilon, survey).guarantee.epsilon
            yield printed(f"privacy loss, {survey}, ε = {row.epsilon:g}", loss, "<=", row.epsilon)
            theirs = row.se * math.sqrt(row.repetitions / PUBLISHED_REPETITIONS)
            error = READING + PUBLISHED_Z * math.hypot(row.se, theirs)
            what = f"mean rank difference, λ = 8L/ε, γ = 2L/ε, {survey}, ε = {row.epsilon:g}"
            yield printed(what, row.mean, "==", PUBLISHED_MLE[survey][row.epsilon], error=error)
        yield from _falls(survey, part)


def _falls(survey: str, part: pd.DataFrame) -> Iterator[Check]:
    for a, b in pairwise(part.sort_values("epsilon").itertuples()):
        what = f"change of the MLE's mean rank difference from ε = {a.epsilon:g} to {b.epsilon:g}, {survey}"
        yield printed(what, b.mean - a.mean, "<", 0, error=Z * math.hypot(a.se, b.se))


@claim("cai2025:fig-8")
def check_figure_8(epsilons: Iterable[float]) -> Iterator[Check]:
    """Whether the private rankings can be close to the noiseless ones, and are noisier at a smaller epsilon."""
    smallest = min(PUBLISHED_MLE["CEMS"])
    frame = mle_curve([*PUBLISHED_MLE["CEMS"], LARGEST], REPETITIONS)
    for survey in SURVEYS:
        chance = random_difference(survey_data(survey).n_items)
        part = frame[frame.survey == survey].sort_values("epsilon")
        counts = [exact_difference(survey, "as printed", e) for e in sorted({smallest, LARGEST, *epsilons})]
        row = part.iloc[-1]
        at = f"share of a random order's rank difference, {survey}, ε = {row.epsilon:g}"
        yield printed(f"counts: {at}", counts[-1] / chance, "<", CLOSE)
        yield printed(f"MLE: {at}", row["mean"] / chance, "<", CLOSE, error=Z * row.se / chance)
        yield printed(f"largest rise of the counts' curve, {survey}", float(np.diff(counts).max()), "<", 0)
        yield from _falls(survey, part)
        yield from _corrected(survey, part.set_index("epsilon"), chance)


def _corrected(survey: str, curve: pd.DataFrame, chance: float) -> Iterator[Check]:
    """Where the printed MLE is close, what it spends, and that the gap to counting closes at equal privacy."""
    close = {"CEMS": 1.0, "immigration": 2.0}[survey]
    for epsilon, relation in ((close / 2, ">"), (close, "<")):
        row = curve.loc[epsilon]
        what = f"printed MLE: share of a random order's rank difference, {survey}, ε = {epsilon:g}"
        yield amended(what, row["mean"] / chance, relation, CLOSE, error=Z * row.se / chance)
    smallest = min(curve.index)
    mechanism, theirs = survey_mle("as printed", smallest, survey), curve.loc[smallest]
    loss = questionnaire_loss(mechanism.n_items, mechanism.scale, mechanism.ridge) / smallest
    yield amended(f"privacy loss of the printed MLE, per ε, each pair at most once, {survey}", loss, "<", 0.35)
    ours = mle_curve([smallest], REPETITIONS, ["private graph"]).set_index("survey").loc[survey]
    net = exact_difference(survey, "net wins", smallest)
    what = f"calibrated MLE against net wins, relative change of the rank difference at ε = {smallest:g}, {survey}"
    yield amended(what, abs(ours["mean"] / net - 1), "<=", 0.15, error=Z * ours.se / net)
    what = f"printed MLE over calibrated MLE, rank differences at ε = {smallest:g}, {survey}"
    ratio = theirs["mean"] / ours["mean"]
    error = ratio * Z * math.hypot(ours.se / ours["mean"], theirs.se / theirs["mean"])
    yield amended(what, ratio, ">", 2, error=error)


@styled
def draw_figure_8(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference against epsilon as printed, a panel a survey; bars are 95 % intervals."""
    apart = frame.pivot_table(index=["survey", "epsilon"], columns="curve", values="mean")
    worse = max((apart["perturbed MLE"] - apart["noisy counts"]).max(), 0)
    message = f"The estimator is up to {worse:.1f} places farther off than counting"
    figure, made = panels(frame.survey.nunique(), message=message, height=2.9, sharey=True)
    for axes, (survey, rows) in zip(made, frame.groupby("survey", sort=False), strict=True):
        mle, counts = (rows[rows.curve == name].sort_values("epsilon") for name in ("perturbed MLE", "noisy counts"))
        bars(axes, mle.epsilon, mle, "estimator, simulated", LOOK["MLE as printed"])
        look = {"color": LOOK["wins"]["color"], "ls": "--", "lw": 1.2}
        axes.plot(counts.epsilon, counts["mean"], label="counting, computed exactly", **look)
        known = rows.dropna(subset="published")
        axes.plot(known.epsilon, known.published, "kx", ms=7, mew=1.5, label="estimator, in the paper", zorder=3)
        axes.axhline(rows.random.iloc[0], color="black", ls=":", lw=1.2, label="random order")
        epsilon_axis(axes, str(survey), rows.epsilon)
    label_outer(made, "ε that the paper names", PLACES_OFF)
    key(figure, *made[0].get_legend_handles_labels())
    return figure
