"""Ranges of places after noise: how often they are right, how wide they are, and what a picture of them says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

import dprank
from companion.instruments import surveys
from companion.instruments.style import COLOURS, key, note, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, argument, claim, content, printed
from dprank.privacy.pair_ranges import Sampling, score_places
from dprank.privacy.ranges import ScoreNoise, place_intervals, range_cdf, range_quantile

Array = NDArray[np.float64]

#: Standard errors that a coverage may lie below its level: a false alarm in 31,574, in 40 settings one in 789.
ERRORS = 4.0
#: Noise alone: mechanism, true scores, items, level.
ALONE = [
    (name, spread, (3, 6, 12)[n % 3], (0.95, 0.8, 0.9, 0.95)[n % 4])
    for n, (name, spread) in enumerate(
        product(
            ("net wins", "half wins, real line", "Borda", "Gaussian Borda", "matrix", "Gaussian matrix", "majorities"),
            ("tied", "steps", "clusters", "one ahead"),
        )
    )
]
#: With drawing: mechanism, population, items, level, what is drawn.
DRAWN: list[tuple[str, str, int, float, Sampling]] = [
    ("net wins", "camps", 2, 0.95, "persons"),
    ("net wins", "camps", 5, 0.9, "persons"),
    ("net wins", "steps", 5, 0.9, "persons"),
    ("net wins", "tied", 4, 0.8, "answers"),
    ("net wins", "steps", 6, 0.95, "answers"),
    ("Borda", "camps", 2, 0.9, "persons"),
    ("Borda", "camps", 5, 0.95, "persons"),
    ("Borda", "steps", 6, 0.9, "persons"),
    ("matrix", "camps", 4, 0.9, "persons"),
    ("matrix", "steps", 4, 0.8, "persons"),
    ("local Borda", "camps", 4, 0.9, "persons"),
    ("local Borda", "steps", 5, 0.8, "persons"),
]
PERSONS = 60


def _mechanism(name: str, items: int) -> Any:
    """At an epsilon with which the ranges are neither all places nor one."""
    counts: dict[str, Any] = {"epsilon": 2.0, "n_items": items, "per_person": 2}
    build: dict[str, Callable[[], Any]] = {
        "net wins": lambda: dprank.NoisyCounts.calibrated(**counts),
        "half wins, real line": lambda: dprank.NoisyCounts.calibrated(**counts, score="half", law="continuous"),
        "Borda": lambda: dprank.PrivateBorda.calibrated(epsilon=2.0, n_items=items),
        "Gaussian Borda": lambda: dprank.PrivateBorda.calibrated(epsilon=2.0, delta=1e-6, n_items=items),
        "matrix": lambda: dprank.NoisyMatrix.calibrated(epsilon=2.0, n_items=items, rule="borda"),
        "Gaussian matrix": lambda: dprank.NoisyMatrix.calibrated(
            epsilon=2.0, delta=1e-6, n_items=items, rule="borda", law="continuous"
        ),
        "majorities": lambda: dprank.NoisyMatrix.calibrated(epsilon=2.0, n_items=items, rule="copeland"),
        "local Borda": lambda: dprank.LocalBorda.calibrated(epsilon=4.0, n_items=items),
    }
    return build[name]()


def _exact(spread: str, items: int, unit: float) -> Array:
    """True scores, in so many units."""
    steps = np.arange(items)[::-1]
    shapes = {
        "tied": 0 * steps,
        "steps": 2 * steps,
        "clusters": 9 * (steps * 3 // items),
        "one ahead": 6 * (steps == items - 1),
    }
    return np.rint(unit * shapes[spread])


def _places(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last place that ties leave open."""
    return 1 + (scores > scores[:, None]).sum(1), len(scores) - (scores < scores[:, None]).sum(1)


def _outcome(found: Any, true: Any, items: int) -> tuple[float, float]:
    """Whether all ranges hold, and their mean share of the places."""
    (lowest, highest), (first, last) = found, true
    return float(((lowest <= first) & (last <= highest)).all()), float((highest - lowest + 1).mean() / items)


def alone(
    mechanism: str, spread: str, items: int, level: float, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str, ...], Array]:
    """Noise alone, on exact scores: ``right`` and ``width``."""
    noisy, rows = _mechanism(mechanism, items), []
    names = tuple(f"item {i}" for i in range(items))
    units = {"matrix": math.sqrt(items), "Gaussian matrix": math.sqrt(items), "majorities": 1.5 * items}
    exact = _exact(spread, items, noisy.scale * units.get(mechanism, 1.0))
    if isinstance(noisy, dprank.NoisyMatrix):
        # margins of one parity whose row sums and majorities are these scores' or nearly
        margins = np.rint((exact[:, None] - exact) / items) * 2
        rule = np.sign(margins).sum(axis=1) if mechanism == "majorities" else margins.sum(axis=1)
        true, drawn = _places(rule), noisy.perturb(np.tile(margins, (repetitions, 1, 1)), rng)
    else:
        true = _places(exact)
        drawn = np.stack([noisy.perturb(exact, rng) for _ in range(repetitions)])
    for one in drawn:
        matrix = one if one.ndim == 2 else None
        order = np.argsort(-(one.sum(axis=1) if one.ndim == 2 else one), kind="stable")
        scores = None if one.ndim == 2 else one
        release = dprank.Ranking(names, order, scores, matrix, mechanism=noisy, source="seeded")
        rows.append(_outcome(noisy.open_places(release, level), true, items))
    right, width = np.array(rows).T
    return {("right",): right, ("width",): width}


def _comparisons(spread: str, items: int, rng: np.random.Generator) -> tuple[dprank.Comparisons, Array]:
    """Two answers of each person, and what the population's mean scores are ordered like."""
    voter, names = np.repeat(np.arange(PERSONS), 2), [f"item {i}" for i in range(items)]
    if spread == "camps":  # of one pair, and half say one thing, twice
        won = np.repeat(rng.random(PERSONS) < 0.5, 2).astype(float)
        asked, means = np.tile([[0], [1]], 2 * PERSONS), 0.0 * np.arange(items)
    else:
        means = (0.7 if spread == "steps" else 0.0) * np.arange(items)[::-1]
        pairs = np.array(np.triu_indices(items, 1))
        asked = pairs[:, np.resize(rng.permutation(pairs.shape[1]), 2 * PERSONS)]
        chance = 1 / (1 + np.exp(means[asked[1]] - means[asked[0]]))
        won = (rng.random(2 * PERSONS) < chance).astype(float)
    return dprank.Comparisons(asked[0], asked[1], won, names, voter), means.astype(np.float64)


def _ballots(spread: str, items: int, rng: np.random.Generator) -> tuple[dprank.Rankings, Array]:
    """A ranking of each person, and what the population's mean scores are ordered like."""
    up = np.arange(items)
    if spread == "camps":
        table, means = np.where(rng.random((PERSONS, 1)) < 0.5, up, up[::-1]), np.zeros(items)
    else:
        table = np.argsort(np.argsort(rng.gumbel(size=(PERSONS, items)) + 0.7 * up, axis=1), axis=1)
        means = -up.astype(float)
    return dprank.Rankings(table, [f"item {i}" for i in range(items)]), means


def with_drawing(
    mechanism: str,
    spread: str,
    items: int,
    level: float,
    sampling: Sampling,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> dict[tuple[str, ...], Array]:
    """People drawn anew each time, and noise: ``right`` and ``width``, of the population's places."""
    noisy, rows = _mechanism(mechanism, items), []
    polled: Callable[..., tuple[Any, Array]] = _comparisons if mechanism == "net wins" else _ballots
    for _ in range(repetitions):
        data, means = polled(spread, items, rng)
        found = noisy.open_places(noisy.release(data, rng), level, sampling, PERSONS)
        rows.append(_outcome(found, _places(means), items))
    right, width = np.array(rows).T
    return {("right",): right, ("width",): width}


def coverage(repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """In how many of the releases all ranges hold, a row a setting.

    ``mechanism``, ``spread``, ``items``, ``level``; ``sampling``: what was drawn, nothing for noise alone; ``right``
    and its standard error ``se``; ``width``: the mean share of places that a range holds; ``repetitions``.
    """
    names = ("mechanism", "spread", "items", "level", "sampling")
    frames = [
        sweep(
            function,
            [dict(zip(names, cell, strict=False)) for cell in cells],
            experiment=f"14: ranges, {function.__name__}",
            repetitions=repetitions,
            outcomes=("what",),
            jobs=jobs,
        )
        for function, cells in ((alone, ALONE), (with_drawing, DRAWN))
    ]
    found = pd.concat(frames, ignore_index=True)
    found["sampling"] = found["sampling"].fillna("")
    right = found[found.what == "right"].drop(columns="what").rename(columns={"mean": "right"})
    return right.reset_index(drop=True).assign(width=found.loc[found.what == "width", "mean"].to_numpy())


def short(frame: pd.DataFrame) -> int:
    """Settings with coverage below the level by more than `ERRORS` standard errors of a coverage that is right."""
    error = np.sqrt(frame.level * (1 - frame.level) / frame.repetitions)
    return int((frame.right < frame.level - ERRORS * error).sum())


#: What is scored, in words; Laplace noise, rounded, on all scores unless it says more.
_SCORES = {
    "half wins, real line": "net wins, not rounded",
    "Borda": "sums of places",
    "Gaussian Borda": "sums of places, Gaussian",
    "matrix": "counts of pairs",
    "Gaussian matrix": "counts of pairs, Gaussian",
    "majorities": "majorities of pairs",
    "local Borda": "places, nobody trusted",
}


@styled
def draw_coverage(frame: pd.DataFrame) -> Figure:
    """How often all ranges hold, less how often they should, a point a setting."""
    error = np.sqrt(frame.level * (1 - frame.level) / frame.repetitions)
    missed = int((frame.right + 2 * error < frame.level).sum())
    message = "Ranges of places are never clearly less often right than they say"
    if missed:
        message = f"In {missed} of {len(frame)} settings ranges are less often right than said"
    figure, (axes,) = panels(message=message, height=4.8)
    kinds = [("", COLOURS[0], "o"), ("persons", COLOURS[1], "s"), ("answers", COLOURS[2], "^")]
    said = {"": "noise", "persons": "noise and persons drawn", "answers": "noise and answers drawn"}
    named: dict[str, Any] = {}
    labels: list[str] = []
    for mechanism, part in frame.groupby("mechanism", sort=False):
        for sampling, colour, marker in kinds:
            mine = part[part.sampling == sampling]
            if mine.empty:
                continue
            shift = np.linspace(-0.25, 0.25, len(mine)) if len(mine) > 1 else np.zeros(1)
            at = len(labels) + shift
            bars = axes.errorbar(
                mine.right - mine.level, at, xerr=2 * error[mine.index], fmt=marker, color=colour, elinewidth=1
            )
            named[said[sampling]] = bars
            name = _SCORES.get(str(mechanism), str(mechanism))
            labels.append(f"{name},\n{sampling} drawn" if sampling else name)
    axes.axvline(0, color="0.3", linewidth=1)
    axes.set_yticks(range(len(labels)), labels, fontsize=8.5)
    axes.invert_yaxis()
    axes.set_xlabel("share of right releases\nless the promised share")
    key(figure, named.values(), named.keys(), columns=3)
    note(
        figure,
        "Right: all ranges hold. A point: one kind of data, number of items and promised share, with two standard "
        "errors. Left of 0: right less often than promised.",
    )
    return figure


# --- an example ------------------------------------------------------------------------------------------------------


def example(epsilon: float = 1.0) -> pd.DataFrame:
    """One release of students' ranking of universities: ``item``, ``place``, and lowest and highest of each kind."""
    data = surveys.cems()
    assert data.voter is not None
    persons = len(np.unique(data.voter))
    mechanism = dprank.NoisyCounts.calibrated(epsilon=epsilon, n_items=data.n_items, per_person=15, design="once")
    release = mechanism.release(data, stream("14: ranges", {"run": 1}))
    noise = release.intervals(0.95)
    both = release.intervals(0.95, sampling="persons", persons=persons)
    wider = both[["lowest", "highest"]].add_suffix(" with sampling")
    return noise.drop(columns="score").join(wider)


@styled
def draw_example(frame: pd.DataFrame) -> Figure:
    """A point for the place, a thick bar for the noise, a thin one with sampling."""
    first = frame.iloc[0]
    sure = "is surely first here" if first.highest == 1 else "leads here, though not surely"
    rivals = list(frame[1:].loc[frame["lowest with sampling"] == 1, "item"])
    message = f"{first['item']} {sure}; among all students {rivals[0] if len(rivals) == 1 else 'others'} might be"
    if not rivals:
        message = f"{first['item']} {sure}, and among all students"
    figure, (axes,) = panels(message=message, height=3.0)
    rows, low, high = np.arange(len(frame)), frame["lowest with sampling"], frame["highest with sampling"]
    drawn = axes.hlines(rows, low - 0.12, high + 0.12, color=COLOURS[1], linewidth=2)
    noise = axes.hlines(rows, frame.lowest - 0.12, frame.highest + 0.12, color=COLOURS[0], linewidth=8)
    (place,) = axes.plot(frame.place, rows, "o", color="white", markeredgecolor="black", markersize=6)
    axes.set_yticks(rows, frame.item)
    axes.set_xticks(range(1, len(frame) + 1))
    axes.invert_yaxis()
    axes.set_xlabel("place, 1 is best")
    key(
        figure, [place, noise, drawn], ["released place", "left open by noise", "by noise and who took part"], columns=3
    )
    note(figure, "Blue: about the students who answered. Orange: about all such students, of whom these were drawn.")
    return figure


# --- widths beside others --------------------------------------------------------------------------------------------


def _pair_distance(law: ScoreNoise, chance: float) -> float:
    """What the difference of two noises exceeds with that probability: the normal one, or exp(-t) (1 + t / 2) / 2."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    if law.noise == "gaussian":
        return math.sqrt(2) * float(norm.isf(chance))
    return float(brentq(lambda t: math.exp(-t) * (1 + t / 2) / 2 - chance, 0, 200))


def _single_distance(law: ScoreNoise, items: int, level: float) -> float:
    """Twice what no noise of all exceeds: intervals of scores that do not meet (Klein, Wright, Wieczorek 2020)."""
    from scipy.stats import norm

    beyond = -math.expm1(math.log(level) / items)
    return 2 * (float(norm.isf(beyond / 2)) if law.noise == "gaussian" else -math.log(beyond))


def _stepped(scores: Array, noise: Array, level: float) -> float:
    """Mean range by a step-down over all pairs, each step with its quantile from simulated noise."""
    m = len(scores)
    differences = scores[:, None] - scores
    left, apart = ~np.eye(m, dtype=bool), math.inf
    for _ in range(20):
        first, second = np.nonzero(left)
        largest = np.concatenate(
            [(block[:, first] - block[:, second]).max(axis=1) for block in np.array_split(noise, 20)]
        )
        apart = float(np.quantile(largest, level, method="higher"))
        rest = left & (differences <= apart)
        if (rest == left).all():
            break
        left = rest
    told = differences > apart
    return m - 2 * told.sum() / m


def widths(releases: int, items: int = 10, level: float = 0.95, noises: int = 4000) -> pd.DataFrame:
    """Mean number of places in a range, ours and others' on the same noise of scale 1, by law and spread.

    ``noise``, ``spread``; ``here``; ``stepwise``: every pair by itself (Mogstad, Romano, Shaikh and Wilhelm 2024, with
    the known law); ``Tukey``: its first step alone (Al Mohamad, Goeman and van Zwet 2022); ``Bonferroni``; ``scores``:
    intervals that do not meet (Klein, Wright and Wieczorek 2020); ``ratio``: here over the narrowest of the others.
    """
    rows = []
    for name, spread in product(("laplace", "gaussian"), ("tied", "steps", "clusters", "one ahead")):
        law = ScoreNoise(name, 1.0)  # type: ignore[arg-type]
        rng = stream("14: widths", {"noise": name, "spread": spread, "items": items})
        draw = rng.laplace if name == "laplace" else rng.normal
        exact, known = _exact(spread, items, 1.0), draw(size=(noises, items))
        distances = {
            "Tukey": range_quantile(law, items, level),
            "Bonferroni": _pair_distance(law, (1 - level) / (items * (items - 1))),
            "scores": _single_distance(law, items, level),
        }
        found: dict[str, list[float]] = {key: [] for key in ("here", "stepwise", *distances)}
        for scores in exact + draw(size=(releases, items)):
            lowest, highest = place_intervals(scores, law, level)
            found["here"].append(float((highest - lowest + 1).mean()))
            found["stepwise"].append(_stepped(scores, known, level))
            for rule, apart in distances.items():
                told = scores[:, None] - scores > apart
                found[rule].append(items - 2 * told.sum() / items)
        means = {key: float(np.mean(values)) for key, values in found.items()}
        rows.append(
            {"noise": name, "spread": spread}
            | means
            | {"ratio": means["here"] / min(v for k, v in means.items() if k != "here")}
        )
    return pd.DataFrame(rows)


# --- claims ----------------------------------------------------------------------------------------------------------


def worst_exact(items: int = 3, level: float = 0.9) -> float:
    """Least probability, over true scores on a grid, that all ranges hold: a sum over all outcomes of whole noise."""
    law = ScoreNoise("laplace", 1.3, 1.0)
    k = np.arange(-11, 12)  # beyond, ranges count as wrong
    chance = np.exp(-np.abs(k) / law.scale) * math.tanh(0.5 / law.scale)
    outcomes = np.stack(np.meshgrid(*[k] * items, indexing="ij"), -1).reshape(-1, items)
    chances = np.prod(chance[outcomes - k[0]], axis=1)
    q = int(range_quantile(law, items, level))
    worst = 1.0
    for gaps in product((0, 1, q), repeat=items - 1):
        exact = np.r_[0, np.cumsum(gaps)].astype(float)
        first, last = _places(exact)
        # a release tells the same whatever is added to all of it
        rows, index = np.unique(outcomes - outcomes[:, :1], axis=0, return_inverse=True)
        found = [place_intervals(exact + row, law, level) for row in rows]
        right = np.array([((low <= first) & (last <= high)).all() for low, high in found])
        worst = min(worst, float(chances @ right[index.ravel()]))
    return worst


@claim("release:range-coverage")
def check_coverage(frame: pd.DataFrame) -> Iterator[Check]:
    """Exactly at three items, by quadrature where all are tied, by simulation elsewhere."""
    noise = frame[frame.sampling == ""]
    yield printed("worst exact probability, three items, level 0.9", worst_exact(), ">=", 0.9)
    tied = [
        range_cdf(law, items, range_quantile(law, items, level)) - level
        for name, step, items, level in product(("laplace", "gaussian"), (0.0, 0.5), (2, 10, 1000), (0.8, 0.95))
        for law in (ScoreNoise(name, 4.0, step),)  # type: ignore[arg-type]
    ]
    yield printed("probability less level where all are tied, the least of 24", min(tied), ">=", 0.0)
    yield content("the same on the real line, the largest", max(tied[:6] + tied[12:18]), "<=", 1e-6)
    yield printed(f"settings of {len(noise)} with less coverage than nominal", short(noise), "==", 0)
    yield argument("settings", len(frame), ">=", 30)


@claim("release:range-sampling")
def check_sampling(frame: pd.DataFrame) -> Iterator[Check]:
    """Opposite camps, where what is drawn moves scores most, and milder populations."""
    drawn = frame[frame.sampling != ""]
    yield printed(f"settings of {len(drawn)} with less coverage than nominal", short(drawn), "==", 0)
    yield printed("places taken away by sampling, of 200 random releases", _taken_away(), "==", 0)
    yield content("mean share of places in a range, the least", float(drawn.width.min()), "<", 1.0)


def _taken_away() -> int:
    """How many ends of ranges lie further in with sampling than without."""
    rng, taken = stream("14: nested", {"run": 1}), 0
    law = ScoreNoise("laplace", 5.0, 1.0)
    for deviation in (0.1, 3.0, 30.0, 300.0):
        for _ in range(50):
            scores = np.rint(rng.choice([5.0, 50.0, 500.0]) * rng.normal(size=8))
            narrow, wide = score_places(scores, law, 0.95), score_places(scores, law, 0.95, deviation)
            taken += int((wide[0] > narrow[0]).sum() + (wide[1] < narrow[1]).sum())
    return taken


@claim("release:range-width")
def check_width(frame: pd.DataFrame) -> Iterator[Check]:
    """Beside the narrowest of four others on the same noise."""
    worst = frame.loc[frame.ratio.idxmax()]
    yield printed(f"mean width over the narrowest other's, {worst.noise}, {worst.spread}", worst.ratio, "<=", 1.3)
