"""How the figures on the two surveys are drawn."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from companion.chapters.ranking_universities.survey_counts import survey_data
from companion.instruments.style import BAR, CALIBRATION, COLOURS

LOOK: dict[str, dict[str, Any]] = {
    "wins": CALIBRATION["corrected"] | {"ms": 8, "mfc": "none"},
    "net wins": CALIBRATION["net wins"],
    "win fraction": {"color": COLOURS[5], "marker": "P"},
    "MLE as printed": CALIBRATION["as printed"],
    "MLE, private graph": {"color": COLOURS[3], "marker": "^"},
    "MLE, public graph": {"color": COLOURS[4], "marker": "v", "ms": 8, "mfc": "none", "ls": "--"},
}


#: What the curves measure.
PLACES_OFF = "places off, mean over the items"
_NAMES = {
    "MLE as printed": "estimator as printed",
    "MLE, private graph": "estimator, pairs secret",
    "MLE, public graph": "estimator, pairs public",
}
#: What the names of the estimators mean.
ESTIMATORS = (
    "Net wins: wins minus losses. Estimator: most likely strengths, with noise. Pairs secret, pairs public: whether it "
    "is secret who met whom. As printed: with more noise than ε needs."
)
_ITEMS = {"CEMS": "universities", "immigration": "statements"}


def item_kind(survey: str) -> str:
    """What a survey compares."""
    return _ITEMS[survey]


def title_of(survey: str) -> str:
    """A survey and what it compares, counted."""
    return f"{survey} survey: {survey_data(survey).n_items} {item_kind(survey)}"


def item_name(item: str) -> str:
    """What the figures call an item of the data."""
    return {"StGallen": "St. Gallen", "crimRate": "crime rate", "socBurd": "social burden"}.get(item, item)


def bars(axes: Axes, x: pd.Series, part: pd.DataFrame, label: str, look: dict[str, Any]) -> None:
    axes.errorbar(x, part["mean"], BAR * part.se, lw=1, capsize=2, label=label, **look)


def name_of(method: str) -> str:
    """What the figures call a method of a frame."""
    return _NAMES.get(method, method)


def curves(axes: Axes, rows: pd.DataFrame, along: str) -> None:
    """A curve with bars for every method of a frame."""
    for method in (name for name in LOOK if name in set(rows.method)):
        part = rows[rows.method == method].sort_values(along)
        bars(axes, part[along], part, name_of(method), LOOK[method])


def epsilon_axis(axes: Axes, survey: str, epsilon: pd.Series) -> None:
    axes.set(title=title_of(survey), xscale="log", ylim=(0, None))
    ticks = [e for e in (0.5, 1, 2, 4, 10) if epsilon.min() <= e <= epsilon.max()]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
