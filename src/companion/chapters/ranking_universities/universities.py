"""Cai, Chakraborty and Wang (2025): what the chapters on private ranking from pairwise comparisons compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq

from companion.instruments import surveys as datasets
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.cai2025 import algorithm_2, algorithm_3
from dprank.audit import privacy_loss
from dprank.audit.neighbours import edge_data, voter_scores, worst_pair
from dprank.data.comparisons import Comparisons
from dprank.data.counting import GRAIN, Score, pairwise_wins, win_counts
from dprank.pairwise import NoisyCounts, l1_sensitivity, mean_rank_difference, rank_law, top_set_law
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
    if survey not in SURVEYS:
        raise ValueError(f"survey = {survey!r}; allowed are {', '.join(map(repr, SURVEYS))}")
    return SURVEYS[survey]()


def survey_mechanism(calibration: str, epsilon: float, survey: str) -> NoisyCounts:
    """Noisy counts for a survey in which every voter answers every pair at most once.

    Parameters
    ----------
    calibration : {"as printed", "corrected", "net wins"}
        Algorithm 3 with Laplace(L / epsilon); the same counts with the noise that their sensitivity needs; net wins.
    epsilon : float
    survey : {"CEMS", "immigration"}
    """
    n = survey_data(survey).n_items
    sheet: dict[str, Any] = {"per_person": math.comb(n, 2), "design": "once"}
    if calibration == "as printed":
        mechanism: NoisyCounts = algorithm_3(epsilon, n, **sheet).mechanism
        return mechanism
    if calibration == "corrected":
        return NoisyCounts.calibrated(epsilon=epsilon, n_items=n, score="wins", law="continuous", **sheet)
    if calibration == "net wins":
        return NoisyCounts.calibrated(epsilon=epsilon, n_items=n, **sheet)
    raise ValueError(f"calibration = {calibration!r}; allowed are 'as printed', 'corrected', 'net wins'")


@cache
def survey_scores(survey: str, score: Score) -> NDArray[np.float64]:
    """Scores of the items of a survey."""
    return win_counts(survey_data(survey), score)


# --- Algorithm 2: edge privacy ---------------------------------------------------------------------------------------


def edge_privacy(n_items: int, epsilon: float) -> pd.DataFrame:
    """Exact loss of Algorithm 2 over all edge-adjacent data of a few items.

    Returns
    -------
    pandas.DataFrame
        One row for the noisy vector (k = 0) and one for the released set of each size k: ``k``, ``loss``. The vector's
        loss is the l1 distance of the counts over the scale, attained in a corner; a set's is computed from
        `top_set_law`. 3^(n (n - 1) / 2) data sets.
    """
    mechanism = algorithm_2(epsilon, n_items).mechanism
    wins, neighbours = edge_data(n_items)
    counts = {tuple(sorted((tuple(wins[a].tolist()), tuple(wins[b].tolist())))) for a, b in neighbours}
    moved = max(sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in counts)
    rows = [{"k": 0, "loss": moved / mechanism.scale}]
    for k in range(1, n_items):
        law = {c: list(top_set_law(c, mechanism.scale, k).values()) for c in {c for pair in counts for c in pair}}
        rows.append({"k": k, "loss": max(privacy_loss(law[a], law[b]) for a, b in counts)})
    return pd.DataFrame(rows)


@claim("cai2025:alg-2")
def check_alg_2(n_items: int, epsilons: Iterable[float]) -> Iterator[Check]:
    """Algorithm 2 on all data of up to `n_items` items."""
    for n in range(n_items, 1, -1):
        wins, neighbours = edge_data(n)
        moved = max(int(np.abs(wins[a] - wins[b]).sum()) for a, b in neighbours)
        what = f"ℓ1 change of the counts, {n} items, adjacent pairs: all {len(neighbours):,}"
        yield printed(what, moved, "<=", 2)
    for epsilon in epsilons:
        frame = edge_privacy(n_items, epsilon)
        what = f"{n_items} items, worst neighbours, ε = {epsilon:g}"
        yield _loss(f"noisy vector, {what}", frame.loss[frame.k == 0].max(), epsilon)
        yield _loss(f"released set, any k, {what}", frame.loss[frame.k > 0].max(), epsilon)


def _loss(what: str, loss: float, epsilon: float, about: str = "printed", reading: str = "") -> Check:
    return Check(f"privacy loss of the {what}", loss, "<=", epsilon * (1 + ROUNDING), about, reading)


# --- Algorithm 3: a voter's privacy, on two items --------------------------------------------------------------------


def log_first_wins(gap: float, scale: float) -> float:
    """Log probability that the first of two items comes first when Laplace noise is added to both counts.

    With t = abs(gap) / scale the item that is behind comes first with probability exp(-t) (1 + t / 2) / 2, the tail of
    the difference of two Laplace variables.
    """
    t = abs(gap) / scale
    behind = math.log1p(t / 2) - t - math.log(2)
    return math.log1p(-math.exp(behind)) if gap >= 0 else behind


def two_items_loss(voters: int, answers: int, scale: float) -> float:
    """Exact privacy loss of the released order of two items, over all data and all neighbours.

    Parameters
    ----------
    voters, answers : int
        Every voter compares the two items `answers` times.
    scale : float
        Of the Laplace noise on both win counts.
    """
    total = voters * answers
    gaps = [2 * wins - total for wins in range(total + 1)]
    law = [(log_first_wins(gap, scale), log_first_wins(-gap, scale)) for gap in gaps]
    neighbours = ((a, b) for a in range(total + 1) for b in range(a, min(a + answers, total) + 1))
    return max(privacy_loss(law[a], law[b], log=True) for a, b in neighbours)


def two_items_curve(epsilon: float, answers: int, voters: Iterable[int]) -> pd.DataFrame:
    """Loss of the released order against the number of voters, as printed and corrected.

    Returns
    -------
    pandas.DataFrame
        ``calibration``, ``voters``, ``loss``, ``claimed`` (epsilon), ``vector`` (loss of the noisy counts: the largest
        distance that answer sheets can move them, by listing the sheets, over the scale).
    """
    moved, _, _ = worst_pair(voter_scores(2, answers, repeats=True, ties=False, score="wins"))
    as_printed = algorithm_3(epsilon, 2, per_person=answers).mechanism
    corrected = NoisyCounts.calibrated(epsilon=epsilon, n_items=2, per_person=answers, score="wins", law="continuous")
    return pd.DataFrame(
        {
            "calibration": name,
            "voters": m,
            "loss": two_items_loss(m, answers, mechanism.scale),
            "claimed": epsilon,
            "vector": moved / mechanism.scale,
        }
        for name, mechanism in (("as printed", as_printed), ("corrected", corrected))
        for m in voters
    )


def one_answer_loss(n_items: int, scale: float) -> float:
    """Exact privacy loss of the released set, of any size, when there is one voter with one answer."""
    sheets = [tuple(row) for row in np.eye(n_items)]
    return max(
        privacy_loss(*([*top_set_law(sheet, scale, k).values()] for sheet in pair))
        for k in range(1, n_items)
        for pair in combinations(sheets, 2)
    )


@cache
def _furthest_sheets(n_items: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Distance and wins of the two answer sheets that are furthest apart, each pair answered at most once."""
    return worst_pair(voter_scores(n_items, math.comb(n_items, 2), repeats=False, ties=True, score="wins"))


def questionnaire_losses(n_items: int, voters: int, scale: float) -> pd.DataFrame:
    """Exact privacy loss of the released better half when everybody answers every pair at most once.

    One voter changes between the two answer sheets that are furthest apart, which favour opposite halves of the items.
    Some of the others prefer the second half wherever it meets the first; the answers of the rest cancel out. Such
    neighbours are found, not proved to be the worst.

    Returns
    -------
    pandas.DataFrame
        ``agree`` (how many others prefer the second half: none, 3, 10, all), ``loss``, ``before`` and ``after`` (the
        probabilities of the set that gives the loss).
    """
    _, old, new = _furthest_sheets(n_items)
    favoured = new > old
    rows = []
    for agree in sorted({0, min(3, voters - 1), min(10, voters - 1), voters - 1}):
        rest = agree * np.where(favoured, (~favoured).sum(), 0)
        p, q = (np.array([*top_set_law(rest + own, scale, n_items // 2).values()]) for own in (old, new))
        worst = int(np.abs(np.log(p / q)).argmax())
        rows.append({"agree": agree, "loss": privacy_loss(p, q), "before": p[worst], "after": q[worst]})
    return pd.DataFrame(rows)


@claim("cai2025:alg-3")
def check_alg_3(epsilons: Iterable[float], answers: int, voters: int) -> Iterator[Check]:
    """Algorithm 3 as printed, and with the noise that the counts need."""
    sheets = voter_scores(3, answers, repeats=True, ties=False, score="wins")
    distance, _, _ = worst_pair(sheets)
    each = int(np.abs(sheets[:, None] - sheets).max())
    of = f"all answer sheets, 3 items, L = {answers}"
    students = len(survey_data("CEMS").voters)
    yield printed(f"change of one count, {of}", each, "<=", answers)
    yield amended(f"ℓ1 change of the counts, {of}", distance, "==", 2 * answers)
    for epsilon in epsilons:
        curve = two_items_curve(epsilon, answers, [1, 2, voters])
        for row in curve[curve.calibration == "as printed"].itertuples():
            at = f"2 items, {row.voters} voter{'s' * (row.voters > 1)}, L = {answers}, ε = {epsilon:g}"
            yield _loss(f"released order, {at}", row.loss, epsilon)
        yield _loss(f"noisy counts, {at}", row.vector, epsilon)
        single = f"released set, 3 items, 1 voter, L = 1, ε = {epsilon:g}"
        as_printed = algorithm_3(epsilon, 3).mechanism
        yield _loss(single, one_answer_loss(3, as_printed.scale), epsilon)
        form = f"released top 3, 6 items, {students} voters, each pair at most once, ε = {epsilon:g}"
        as_printed = survey_mechanism("as printed", epsilon, "CEMS")
        losses = questionnaire_losses(6, students, as_printed.scale).loss
        yield _loss(f"{form}, others cancel out", losses.iloc[0], epsilon)
        yield _loss(f"{form}, others agree", losses.iloc[-1], epsilon)
        row = curve.iloc[-1]
        yield _loss(f"released order, 2L/ε, {at}", row.loss, epsilon, "corrected")
        attained = f"privacy loss of the noisy counts, 2L/ε, {at}"
        yield amended(attained, row.vector, "==", epsilon, error=ROUNDING)
        corrected = NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=3, score="wins", law="continuous")
        yield _loss(f"{single}, 2L/ε", one_answer_loss(3, corrected.scale), epsilon, "corrected")
        corrected = survey_mechanism("corrected", epsilon, "CEMS")
        losses = questionnaire_losses(6, students, corrected.scale).loss
        yield _loss(f"{form}, 24/ε", losses.max(), epsilon, "corrected")


# --- Section 3.1: what a neighbour is --------------------------------------------------------------------------------


def answer_loss(truthful: float) -> float:
    """Worst-case loss of publishing one answer that is reported truthfully with some probability, else reversed."""
    return privacy_loss([truthful, 1 - truthful], [1 - truthful, truthful])


def passes_printed(truthful: float, epsilon: float, first: float, averaged: bool) -> bool:
    """Whether that release satisfies the printed inequality, delta = 0, for the one voter's two possible answers.

    Parameters
    ----------
    truthful : float
    epsilon : float
    first : float
        The paper's rho: probability that a redrawn answer prefers the first item.
    averaged : bool
        Whether the redraw is part of the probability on the right, or the inequality is to hold for every answer that
        the redraw can give.
    """
    law = np.array([[truthful, 1 - truthful], [1 - truthful, truthful]])
    chance = np.array([first, 1 - first])
    possible = law[chance > 0]
    right = [chance @ law] if averaged else possible
    # a data set of probability zero need not be protected by a definition about random data
    return all((left <= math.exp(epsilon) * r * (1 + ROUNDING)).all() for left in possible for r in right)


READINGS = {
    "averaged over the redraw, ρ = 1/2": (0.5, True),
    "for every redraw, 0 < ρ < 1": (0.5, False),
    "for every redraw, ρ = 1": (1.0, False),
}


def adjacency_readings(epsilon: float, grid: int = 1001) -> pd.DataFrame:
    """What each reading of the printed definition lets through, among releases of a single answer.

    Parameters
    ----------
    epsilon : float
    grid : int
        Number of truth probabilities, from 1/2 to 1.

    Returns
    -------
    pandas.DataFrame
        ``reading``, ``truth`` (the largest probability of a truthful report that passes), ``loss`` (its worst-case
        privacy loss).
    """
    family = np.r_[np.linspace(0.5, 1, grid), 1 / (1 + math.exp(-epsilon))]
    rows = []
    for reading, (first, averaged) in READINGS.items():
        most = max(t for t in family if passes_printed(t, epsilon, first, averaged))
        rows.append({"reading": reading, "truth": most, "loss": answer_loss(most)})
    return pd.DataFrame(rows)


@claim("cai2025:sec-3.1:adjacency")
def check_adjacency(epsilon: float) -> Iterator[Check]:
    """Whether the printed definition limits what one user's change can do, in each of its readings."""
    calibrated = NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=2, score="wins", law="continuous")
    published = answer_loss(1.0)
    for row in adjacency_readings(epsilon).itertuples():
        yield _loss(f"least private release that passes, ε = {epsilon:g}", row.loss, epsilon, reading=row.reading)
    yield amended("privacy loss of publishing the answer: it must not pass", published, ">", epsilon)
    yield _loss(
        f"calibrated order, 30 voters, ε = {epsilon:g}",
        two_items_loss(30, 1, calibrated.scale),
        epsilon,
        "corrected",
    )


# --- sensitivity of a survey's counts --------------------------------------------------------------------------------


def survey_sensitivities(n_items: int) -> pd.DataFrame:
    """How far one voter can move the scores, under every promise about answer sheets.

    Returns
    -------
    pandas.DataFrame
        ``sheet``, ``score``, ``sensitivity`` (in the score's unit), ``noise`` (the Laplace scale that epsilon = 1
        needs, in wins: a net win is half a win).
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


# --- Figure 8, counting half -----------------------------------------------------------------------------------------


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

    Returns
    -------
    pandas.DataFrame
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
        ratio = _furthest_sheets(items)[0] / math.comb(items, 2)
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

    Returns
    -------
    pandas.DataFrame
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


def gaps_to_the_next(epsilon: float) -> pd.DataFrame:
    """How clearly the universities are told apart by wins and by net wins at equal privacy.

    Returns
    -------
    pandas.DataFrame
        By place: ``by wins`` and ``by net wins`` (names), ``lead by wins`` and ``lead by net wins`` over the
        next one, in Laplace scales of the mechanism.
    """
    columns: dict[str, Any] = {}
    choices: tuple[tuple[Score, str, str], ...] = (("wins", "wins", "corrected"), ("net", "net wins", "net wins"))
    for score, name, calibration in choices:
        value = survey_scores("CEMS", score)
        order = np.argsort(-value)
        scale = survey_mechanism(calibration, epsilon, "CEMS").scale
        columns[f"by {name}"] = [datasets.UNIVERSITIES[i] for i in order]
        columns[f"lead by {name}"] = np.append(-np.diff(value[order]) / scale, np.nan)
    return pd.DataFrame(columns)


# --- the pair that was reversed in 1998 ------------------------------------------------------------------------------


def reversed_pair() -> pd.DataFrame:
    """Scores and places of the universities in the corrected data and in the data of 1998.

    Returns
    -------
    pandas.DataFrame
        ``university``, ``data`` ("corrected" or "1998"), ``score``, ``value``, ``place`` (1 for the best).
    """
    scores: tuple[Score, ...] = ("wins", "half", "net")
    frames = []
    for name, data in (("corrected", datasets.cems()), ("1998", datasets.cems_1998())):
        for score in scores:
            value = win_counts(data, score)
            frames.append(
                pd.DataFrame(
                    {"university": data.items, "data": name, "score": score, "value": value, "place": places(value) + 1}
                )
            )
    return pd.concat(frames, ignore_index=True)


def majority_cycle(data: Comparisons) -> tuple[str, ...]:
    """Three items of which each beats the next by majority and the last the first, or none."""
    wins = pairwise_wins(data)
    beats = wins > wins.T
    for i, j, k in np.argwhere(beats[:, :, None] & beats[None] & beats.T[:, None]):
        return tuple(data.items[x] for x in (i, j, k))
    return ()


def place_probabilities(epsilons: Iterable[float], survey: str = "CEMS") -> pd.DataFrame:
    """Exact law of the places that private net wins give.

    Returns
    -------
    pandas.DataFrame
        ``epsilon``, ``university``, ``place`` (1 for the best), ``probability``; universities from best to worst.
    """
    names = survey_data(survey).items
    order = np.argsort(places(survey_scores(survey, "net")))
    return pd.DataFrame(
        {"epsilon": epsilon, "university": names[i], "place": place + 1, "probability": law[i, place]}
        for epsilon in epsilons
        for law in [place_law(survey, "net wins", epsilon)]
        for i in order
        for place in range(len(names))
    )


def wrong_order_gap(scale: float, probability: float = 0.05) -> float:
    """The gap between two scores at which noise puts them in the wrong order with the given probability."""
    return float(brentq(lambda gap: log_first_wins(-gap, scale) - math.log(probability), 0, 100 * scale))


def dean(epsilon: float) -> dict[str, str]:
    """Numbers for a reader who has to decide, as text: what one private ranking by net wins can and cannot tell."""
    mechanism = survey_mechanism("net wins", epsilon, "CEMS")
    items, net = list(datasets.UNIVERSITIES), survey_scores("CEMS", "net")
    law = dict(zip(items, place_law("CEMS", "net wins", epsilon), strict=True))
    top = top_set_law(net, mechanism.scale, 2, mechanism.law)[items.index("London"), items.index("Paris")]
    rivals = [items.index("Barcelona"), items.index("StGallen")]
    tie = rank_law(net[rivals], mechanism.scale, mechanism.law)[0, 0]
    return {
        "dean-epsilon": f"{epsilon:g}",
        "dean-odds": f"{math.exp(epsilon):.2f}",
        "dean-top": f"{top:.4f}",
        "dean-last": f"{law['Stockholm'][-1]:.4f}",
        "dean-tie": f"{tie:.2f}",
        "dean-gap": f"{wrong_order_gap(mechanism.scale):.0f}",
        "dean-most": f"{2 * len(survey_data('CEMS').voters) * (len(items) - 1):,}",
    }


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_two_items(frame: pd.DataFrame) -> Figure:
    """Exact privacy loss of the released order of two items against the number of voters."""
    figure = Figure(figsize=(6.4, 3.4))
    axes = figure.subplots()
    for calibration, part in frame.groupby("calibration", sort=False):
        axes.plot(part.voters, part.loss, label=f"{calibration}: the order", **CALIBRATION[str(calibration)])
        axes.axhline(part.vector.iloc[0], color=CALIBRATION[str(calibration)]["color"], ls=":", lw=1.2)
    claimed = frame.claimed.iloc[0]
    axes.axhline(claimed, color="black", lw=1)
    last = frame.voters.max()
    axes.annotate("claimed ε", (last, claimed), (0, 3), textcoords="offset points", ha="right")
    axes.annotate(
        "noisy counts, as printed", (last, frame.vector.max()), (0, 3), textcoords="offset points", ha="right"
    )
    axes.set(xlabel="voters, one answer each", ylabel="privacy loss (exact)", ylim=(0, 1.12 * frame.vector.max()))
    axes.set_xticks([1, *range(5, last + 1, 5)])
    axes.legend(loc="lower right")
    return figure


@styled
def draw_rank_difference(frame: pd.DataFrame) -> Figure:
    """Mean absolute rank difference against epsilon, a panel a survey; bars are 95 % intervals of the simulation."""
    figure = Figure(figsize=(7.2, 3.6))
    panels = figure.subplots(1, frame.survey.nunique(), sharey=True)
    for axes, (survey, rows) in zip(np.atleast_1d(panels), frame.groupby("survey", sort=False), strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            look = CALIBRATION[str(calibration)]
            axes.plot(part.epsilon, part.exact, color=look["color"], lw=1)
            seen = part[part.se > 0]  # where no release differed there is no error to draw
            axes.errorbar(seen.epsilon, seen["mean"], BAR * seen.se, ls="", capsize=2, label=calibration, **look)
        known = rows.dropna(subset="published")
        axes.plot(known.epsilon, known.published, "x", color="black", ms=7, mew=1.5, label="published")
        axes.set(title=survey, xlabel="ε on the axis of the paper", xscale="log")
        ticks = [e for e in (0.5, 1, 2, 4, 10) if rows.epsilon.min() <= e <= rows.epsilon.max()]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    np.atleast_1d(panels)[0].set_ylabel("mean absolute rank difference")
    np.atleast_1d(panels)[-1].legend(loc="upper right")
    return figure


@styled
def draw_reversed_pair(frame: pd.DataFrame) -> Figure:
    """Places of the universities in the data of 1998 and in the corrected data, a panel a score."""
    names = {"wins": "wins", "half": "wins + ½ ties", "net": "wins − losses"}
    figure = Figure(figsize=(7.2, 3.4))
    colour = dict(zip(frame.university.unique(), COLOURS, strict=False))
    for axes, (score, rows) in zip(figure.subplots(1, 3, sharey=True), frame.groupby("score", sort=False), strict=True):
        for university, part in rows.groupby("university", sort=False):
            place = part.set_index("data").place[["1998", "corrected"]]
            axes.plot([0, 1], place, "o-", color=colour[university], lw=1 + 2 * (place.iloc[0] != place.iloc[1]))
            axes.annotate(university, (1, place.iloc[1]), (7, 0), textcoords="offset points", va="center", fontsize=9)
        axes.set(title=names[str(score)], xlim=(-0.1, 2.1), ylim=(len(colour) + 0.5, 0.5))
        axes.set_xticks([0, 1], ["1998", "corrected"])
        axes.set_yticks(range(1, len(colour) + 1))
        axes.grid(False)
    figure.axes[0].set_ylabel("place")
    return figure


@styled
def draw_place_probabilities(frame: pd.DataFrame) -> Figure:
    """Exact probability of every place for every university, a panel an epsilon."""
    groups = list(frame.groupby("epsilon", sort=True))
    figure = Figure(figsize=(7.2, 2.9))
    panels = figure.subplots(1, len(groups), sharey=True)
    order = frame.university.unique()
    for axes, (epsilon, part) in zip(np.atleast_1d(panels), groups, strict=True):
        table = part.pivot(index="university", columns="place", values="probability").loc[order]
        axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for (row, column), p in np.ndenumerate(table.to_numpy()):
            if p >= 0.005:
                shade = "white" if p > 0.6 else "black"
                axes.text(column, row, f"{100 * p:.0f}", ha="center", va="center", color=shade, fontsize=8)
        axes.set(title=f"ε = {epsilon:g}", xlabel="place")
        axes.set_xticks(range(len(order)), range(1, len(order) + 1))
        axes.set_yticks(range(len(order)), order)
        axes.grid(False)
        axes.tick_params(length=0)
    return figure
