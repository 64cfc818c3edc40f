"""Section 3.1: what the printed definition of a neighbour lets through, in each of its readings."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from companion.chapters.ranking_universities.counting_privacy import loss_check, two_items_loss
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, claim
from dprank.audit import privacy_loss
from dprank.pairwise import NoisyCounts


def answer_loss(truthful: float) -> float:
    """Worst-case loss of publishing one answer that is reported truthfully with some probability, else reversed."""
    return privacy_loss([truthful, 1 - truthful], [1 - truthful, truthful])


def passes_printed(truthful: float, epsilon: float, first: float, averaged: bool) -> bool:
    """Whether that release satisfies the printed inequality, delta = 0, for the one voter's two possible answers.

    `first`, the paper's rho, is the chance that a redrawn answer prefers the first item. Averaged, the redraw is part
    of the probability on the right; else the inequality is to hold for every answer that the redraw can give.
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

    ``reading``, ``truth`` (the largest probability of a truthful report that passes), ``loss`` (its worst-case privacy
    loss).
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
        yield loss_check(f"least private release that passes, ε = {epsilon:g}", row.loss, epsilon, reading=row.reading)
    yield amended("privacy loss of publishing the answer: it must not pass", published, ">", epsilon)
    yield loss_check(
        f"calibrated order, 30 voters, ε = {epsilon:g}", two_items_loss(30, 1, calibrated.scale), epsilon, "corrected"
    )
