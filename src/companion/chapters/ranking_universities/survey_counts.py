"""A survey's counts: how far one voter moves them, and the counting half of Figure 8."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments import surveys as datasets
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, CALIBRATION, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.cai2025 import algorithm_3
from dprank.audit.neighbours import voter_scores, worst_pair
from dprank.data.comparisons import Comparisons
from dprank.data.counting import GRAIN, Score, win_counts
from dprank.pairwise import NoisyCounts, l1_sensitivity, mean_rank_difference, rank_law
from dprank.pairwise.rank_law import places

#: What a published value may be off: the simulation behind it (1000 repetitions) and reading it from a figure.
READING = 0.01

SURVEYS: dict[str, Callable[[], Comparisons]] = {
    "CEMS": datasets.cems,
    "immigration": lambda: datasets.expand_pairs(datasets.immigration_pairs()),
}
#: Figure 8, counting curves, as published by the authors: survey -> epsilon -> mean rank difference.
PUBLISHED = {
    "CEMS": {0.5: 0.18, 1.0: 0.085, 2.0: 0.035, 4.0: 0.008},
    "immigration": {0.5: 0.35, 1.0: 0.23, 2.0: 0.125, 4.0: 0.04},
}


@cache
def survey_data(survey: str) -> Comparisons:
    """Answers of a survey, read and verified once."""
    return SURVEYS[survey]()


#: Algorithm 3 with Laplace(L / epsilon); the same counts with the noise that their sensitivity needs; net wins.
CALIBRATIONS: dict[str, Callable[..., NoisyCounts]] = {
    "as printed": lambda **sheet: algorithm_3(**sheet).mechanism,
    "corrected": partial(NoisyCounts.calibrated, score="wins", law="continuous"),
    "net wins": NoisyCounts.calibrated,
}


def survey_mechanism(calibration: str, epsilon: float, survey: str) -> NoisyCounts:
    """Noisy counts, calibrated in one of `CALIBRATIONS`, for a survey whose voters answer every pair at most once."""
    n = survey_data(survey).n_items
    return CALIBRATIONS[calibration](epsilon=epsilon, n_items=n, per_person=math.comb(n, 2), design="once")


@cache
def survey_scores(survey: str, score: Score) -> NDArray[np.float64]:
    """Scores of the items of a survey."""
    return win_counts(survey_data(survey), score)


@cache
def furthest_sheets(n_items: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Distance and wins of the two answer sheets that are furthest apart, each pair answered at most once."""
    return worst_pair(voter_scores(n_items, math.comb(n_items, 2), repeats=False, ties=True, score="wins"))


def survey_sensitivities(n_items: int) -> pd.DataFrame:
    """How far one voter can move the scores, under every promise about answer sheets.

    ``sheet``, ``score``, ``sensitivity`` (in the score's unit), ``noise`` (the Laplace scale that epsilon = 1 needs, in
    wins: a net win is half a win).
    """
    answers = math.comb(n_items, 2)
    sheets: dict[str, dict[str, Any]] = {
        "any pairs, also repeated": {"design": "any"},
        "each pair once, ties and gaps allowed": {"design": "once"},
        "each pair once, ties allowed": {"design": "complete"},
        "each pair once, always decided": {"design": "complete", "ties": False},
    }
    scores: tuple[Score, ...] = ("wins", "half", "net")
    frame = pd.DataFrame(
        {"sheet": sheet, "score": score, "sensitivity": l1_sensitivity(n_items, answers, score=score, **promise)}
        for sheet, promise in sheets.items()
        for score in scores
    )
    return frame.assign(noise=frame.sensitivity.where(frame.score != "net", frame.sensitivity / 2))


def rank_differences(
    survey: str, calibration: str, epsilon: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Mean absolute rank difference of independent releases from the noiseless ranking, shape (repetitions,)."""
    mechanism = survey_mechanism(calibration, epsilon, survey)
    scores = survey_scores(survey, mechanism.score)
    noisy = mechanism.perturb(scores, rng, repetitions)
    if mechanism.law == "discrete":  # a random share of a grain breaks ties
        noisy = noisy + GRAIN[mechanism.score] * rng.random(noisy.shape)
    return np.abs(places(noisy) - places(scores)).mean(-1)


def place_law(survey: str, calibration: str, epsilon: float) -> NDArray[np.float64]:
    """Probability of every place (column) for every item (row) of a survey."""
    mechanism = survey_mechanism(calibration, epsilon, survey)
    return rank_law(survey_scores(survey, mechanism.score), mechanism.scale, mechanism.law, GRAIN[mechanism.score])


def exact_difference(survey: str, calibration: str, epsilon: float) -> float:
    """Exact mean absolute rank difference of one release."""
    mechanism = survey_mechanism(calibration, epsilon, survey)
    return mean_rank_difference(place_law(survey, calibration, epsilon), survey_scores(survey, mechanism.score))


def figure_8(
    epsilons: Iterable[float], repetitions: int, calibrations: Iterable[str] = ("as printed", "corrected", "net wins")
) -> pd.DataFrame:
    """Mean rank difference against epsilon: simulated as in the paper's Figure 8, and exact.

    ``survey``, ``calibration``, ``epsilon``, ``mean``, ``se``, ``repetitions``, ``exact``, ``spent`` (the provable
    epsilon of that noise), ``published`` (the authors' value or NaN).
    """
    cells = list(product(SURVEYS, calibrations, map(float, epsilons)))
    frame = sweep(
        rank_differences,
        [dict(zip(("survey", "calibration", "epsilon"), cell, strict=True)) for cell in cells],
        experiment="cai2025:fig-8:counts",
        repetitions=repetitions,
    )
    mechanisms = [survey_mechanism(calibration, epsilon, survey) for survey, calibration, epsilon in cells]
    return frame.assign(
        exact=[exact_difference(*cell) for cell in cells],
        spent=[mechanism.guarantee.epsilon for mechanism in mechanisms],
        published=[
            PUBLISHED[survey].get(epsilon, math.nan) if calibration == "as printed" else math.nan
            for survey, calibration, epsilon in cells
        ],
    )


@claim("cai2025:fig-8:counts")
def check_figure_8(frame: pd.DataFrame) -> Iterator[Check]:
    """The published counting curves against noise that has the epsilon of their axis, and against the printed noise.

    Published values are compared with exact ones, whatever was simulated; the simulation with its own exact values.
    """
    for survey, published in PUBLISHED.items():
        items = survey_data(survey).n_items
        ratio = furthest_sheets(items)[0] / math.comb(items, 2)
        as_printed = {epsilon: exact_difference(survey, "as printed", epsilon) for epsilon in published}
        for epsilon, value in published.items():
            honest = exact_difference(survey, "corrected", epsilon)
            what = "mean rank difference at privacy loss"
            yield printed(f"{what} ε = {epsilon:g}, {survey}", honest, "==", value, error=READING)
            what += f" {ratio:.3g} ε, ε = {epsilon:g}, {survey}"
            yield supplied(what, as_printed[epsilon], "==", value, error=READING)
        rise = float(np.diff([*as_printed.values()]).max())
        yield supplied(f"largest rise from one ε to the next, {survey}", rise, "<", 0)
        spent = survey_mechanism("as printed", 1.0, survey).guarantee.epsilon
        what = f"privacy loss of the printed noise, per ε of the axis, {survey}"
        yield amended(what, spent, "==", ratio, error=ROUNDING)
        simulated = frame[(frame.survey == survey) & (frame.se > 0)].sort_values("epsilon")
        for calibration, part in simulated.groupby("calibration", sort=False):
            row = part.iloc[0]
            what = f"simulated mean rank difference, {calibration}, {survey}, ε = {row.epsilon:g}"
            yield amended(what, row["mean"], "==", row.exact, error=Z * row.se)


def figure_8_by_data() -> pd.DataFrame:
    """Published counting curve of the CEMS data beside the exact one, for the corrected data and those of 1998.

    ``epsilon``, ``published``, ``corrected``, ``1998``: mean rank difference of wins with Laplace(15 / epsilon).
    """
    published = PUBLISHED["CEMS"]

    def exact(data: Comparisons, epsilon: float) -> float:
        wins = win_counts(data, "wins")
        return mean_rank_difference(rank_law(wins, survey_mechanism("as printed", epsilon, "CEMS").scale), wins)

    return pd.DataFrame(
        {
            "epsilon": epsilon,
            "published": value,
            "corrected": exact(datasets.cems(), epsilon),
            "1998": exact(datasets.cems_1998(), epsilon),
        }
        for epsilon, value in published.items()
    )


#: What a calibration is called in the figure.
_NAMES = {"as printed": "wins, as printed", "corrected": "wins, corrected noise", "net wins": "net wins"}


def _spent(frame: pd.DataFrame) -> dict[str, str]:
    """Privacy that each calibration spends, in words, as a multiple of the axis's epsilon."""
    ratio = (frame.spent / frame.epsilon).round(1).groupby(frame.calibration, sort=False)
    ends = ratio.agg(["min", "max"]).itertuples()
    return {row.Index: " to ".join(f"{end:g}" for end in sorted({row.min, row.max})) + " ε" for row in ends}


@styled
def draw_rank_difference(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference against epsilon, a panel a survey; bars are 95 % intervals of the simulation."""
    message = "The published points lie on the curve of the printed noise"
    figure, made = panels(frame.survey.nunique(), message=message, height=2.9, sharey=True)
    names = {name: f"{_NAMES[name]} (spends {spent})" for name, spent in _spent(frame).items()}
    for axes, (survey, rows) in zip(made, frame.groupby("survey", sort=False), strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            look = CALIBRATION[str(calibration)]
            axes.plot(part.epsilon, part.exact, color=look["color"], lw=1)
            seen = part[part.se > 0]  # where no release differed there is no error to draw
            axes.errorbar(seen.epsilon, seen["mean"], BAR * seen.se, ls="", capsize=2, label=names[calibration], **look)
        known = rows.dropna(subset="published")
        axes.plot(known.epsilon, known.published, "x", color="black", ms=7, mew=1.5, zorder=5, label="published")
        axes.set(title=survey, xscale="log")
        ticks = [e for e in (0.5, 1, 2, 4, 10) if rows.epsilon.min() <= e <= rows.epsilon.max()]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    label_outer(made, "ε on the axis of the paper", "places off, mean over the items")
    key(figure, *made[-1].get_legend_handles_labels(), columns=4)
    note(
        figure,
        "CEMS, immigration: two surveys. Lines: exact; marks: simulated, bars 95 %; crosses: the paper's figure.",
    )
    return figure
