"""What Algorithms 2 and 3 lose, exactly: over all data of a few items, and on a questionnaire."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.ranking_universities.survey_counts import furthest_sheets, survey_data, survey_mechanism
from companion.instruments.allowance import CLOSED, ROUNDING
from companion.instruments.style import CALIBRATION, name_lines, note, panels, styled
from companion.instruments.two_items import log_first_wins
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.cai2025 import algorithm_2, algorithm_3
from dprank.audit import privacy_loss
from dprank.audit.neighbours import edge_data, voter_scores, worst_pair
from dprank.pairwise import NoisyCounts, top_set_law


def edge_privacy(n_items: int, epsilon: float) -> pd.DataFrame:
    """Exact loss of Algorithm 2 over all edge-adjacent data of a few items.

    One row for the noisy vector (k = 0) and one for the released set of each size k: ``k``, ``loss``. The vector's loss
    is the l1 distance of the counts over the scale, attained in a corner; a set's is computed from `top_set_law`. 3^(n
    (n - 1) / 2) data sets.
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
        yield loss_check(f"noisy vector, {what}", frame.loss[frame.k == 0].max(), epsilon)
        yield loss_check(f"released set, any k, {what}", frame.loss[frame.k > 0].max(), epsilon)


def loss_check(what: str, loss: float, epsilon: float, about: str = "printed", reading: str = "") -> Check:
    return Check(f"privacy loss of the {what}", loss, "<=", epsilon * (1 + ROUNDING), about, reading, CLOSED)


def two_items_loss(voters: int, answers: int, scale: float) -> float:
    """Exact privacy loss of the released order of two items, over all data and all neighbours."""
    total = voters * answers
    gaps = [2 * wins - total for wins in range(total + 1)]
    law = [(log_first_wins(gap, scale), log_first_wins(-gap, scale)) for gap in gaps]
    neighbours = ((a, b) for a in range(total + 1) for b in range(a, min(a + answers, total) + 1))
    return max(privacy_loss(law[a], law[b], log=True) for a, b in neighbours)


def two_items_curve(epsilon: float, answers: int, voters: Iterable[int]) -> pd.DataFrame:
    """Loss of the released order against the number of voters, as printed and corrected.

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


def questionnaire_losses(n_items: int, voters: int, scale: float) -> pd.DataFrame:
    """Exact privacy loss of the released better half when everybody answers every pair at most once.

    One voter changes between the two answer sheets that are furthest apart, which favour opposite halves of the items.
    Some of the others prefer the second half wherever it meets the first; the answers of the rest cancel out. Such
    neighbours are found, not proved to be the worst.

    ``agree`` (how many others prefer the second half: none, 3, 10, all), ``loss``, ``before`` and ``after`` (the
    probabilities of the set that gives the loss).
    """
    _, old, new = furthest_sheets(n_items)
    favoured = new > old
    rows = []
    for agree in sorted({0, min(3, voters - 1), min(10, voters - 1), voters - 1}):
        rest = agree * np.where(favoured, (~favoured).sum(), 0)
        p, q = (np.array([*top_set_law(rest + own, scale, n_items // 2).values()]) for own in (old, new))
        worst = int(np.abs(np.log(p / q)).argmax())
        rows.append({"agree": agree, "loss": privacy_loss(p, q), "before": p[worst], "after": q[worst]})
    return pd.DataFrame(rows)


def told_by_two(epsilon: float) -> dict[str, str]:
    """Numbers of the smallest example, as text: two items, two voters who prefer the first, the printed noise."""
    scale = algorithm_3(epsilon, 2).mechanism.scale
    behind = math.exp(log_first_wins(-2, scale))
    return {
        "two-behind": f"{behind:.3f}",
        "two-ratio": f"{1 / (2 * behind):.2f}",
        "two-loss": f"{-math.log(2 * behind):.2f}",
        "three-loss": f"{one_answer_loss(3, scale):.2f}",
    }


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
            yield loss_check(f"released order, {at}", row.loss, epsilon)
        yield loss_check(f"noisy counts, {at}", row.vector, epsilon)
        single = f"released set, 3 items, 1 voter, L = 1, ε = {epsilon:g}"
        as_printed = algorithm_3(epsilon, 3).mechanism
        yield loss_check(single, one_answer_loss(3, as_printed.scale), epsilon)
        form = f"released top 3, 6 items, {students} voters, each pair at most once, ε = {epsilon:g}"
        as_printed = survey_mechanism("as printed", epsilon, "CEMS")
        losses = questionnaire_losses(6, students, as_printed.scale).loss
        yield loss_check(f"{form}, others cancel out", losses.iloc[0], epsilon)
        yield loss_check(f"{form}, others agree", losses.iloc[-1], epsilon)
        row = curve.iloc[-1]
        yield loss_check(f"released order, 2L/ε, {at}", row.loss, epsilon, "corrected")
        attained = f"privacy loss of the noisy counts, 2L/ε, {at}"
        yield amended(attained, row.vector, "==", epsilon, error=ROUNDING)
        crowd = math.ceil(400 / epsilon)
        share = two_items_loss(crowd, answers, 2 * answers / epsilon) / epsilon
        what = f"loss of the released order at 2L/ε, over ε, 2 items, {crowd} voters: hardly less noise would do"
        yield amended(what, share, ">=", 0.99)
        corrected = NoisyCounts.calibrated(epsilon=epsilon, per_person=1, n_items=3, score="wins", law="continuous")
        yield loss_check(f"{single}, 2L/ε", one_answer_loss(3, corrected.scale), epsilon, "corrected")
        corrected = survey_mechanism("corrected", epsilon, "CEMS")
        losses = questionnaire_losses(6, students, corrected.scale).loss
        yield loss_check(f"{form}, 24/ε", losses.max(), epsilon, "corrected")


@styled
def draw_two_items(frame: pd.DataFrame) -> Figure:
    """Exact privacy loss of the released order of two items against the number of voters."""
    claimed = frame.claimed.iloc[0]
    broken = frame[(frame.calibration == "as printed") & (frame.loss > claimed)].voters.min()
    message = f"{broken} voters suffice to break the promise of the printed noise"
    figure, (axes,) = panels(message=message, height=3.1)
    for calibration, part in frame.groupby("calibration", sort=False):
        look = CALIBRATION[str(calibration)]
        noise = {"as printed": "noise as printed", "corrected": "twice the noise"}[str(calibration)]
        axes.plot(part.voters, part.loss / claimed, label=f"order, {noise}", **look)
        counts = part.vector.iloc[0] / claimed
        if counts > 1:
            axes.axhline(counts, color=look["color"], ls=":", lw=1.2, label=f"counts, {noise}")
    axes.axhline(1, color="black", lw=1, label="as claimed")
    axes.set(xlabel="voters, one answer each", ylabel="privacy lost / claimed ε")
    axes.set(ylim=(0, 1.12 * frame.vector.max() / claimed))
    step = 5 * math.ceil(frame.voters.max() / 50)
    axes.set_xticks([1, *range(step, frame.voters.max() + 1, step)])
    note(figure, "Order: only who is first is published. Counts: the noisy counts are published, too.")
    name_lines(axes, width=14)
    return figure


_UNDER: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "top"}
