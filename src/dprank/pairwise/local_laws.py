"""The law of one person's report on comparisons. Registered by `dprank.pairwise.laws`."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.privacy.divergence import PairLaw, pair_of
from dprank.privacy.laws import exact, sample

__all__ = ["draw_reports_on_comparisons", "report_on_comparisons_law", "reports_on_comparisons"]


def reports_on_comparisons(mechanism: LocalComparisons, answers: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All reports on so many pairs, and their probabilities, by enumeration of all coins.

    Parameters
    ----------
    mechanism : LocalComparisons
    answers : array_like of int, shape (pairs,)
        As of `LocalComparisons.report`.

    Returns
    -------
    reports : ndarray of int, shape (reports, min(length, pairs))
        In an order that does not depend on the answers.
    chances : ndarray of float, shape (reports,)

    Examples
    --------
    >>> reports, chances = reports_on_comparisons(LocalComparisons(3, 2, 1, 1 << 52), [1, 0])  # c = 1/2
    >>> reports.ravel().tolist(), chances.tolist()
    ([1, -1, 2, -2], [0.375, 0.125, 0.25, 0.25])
    """
    answers = np.asarray(answers)
    told = min(mechanism.length, len(answers))
    picked = np.array(list(combinations(range(len(answers)), told)))
    signs = np.array(list(product((1, -1), repeat=told)))
    true = answers[picked][:, None]
    # a tie is as likely to be told as either
    own = np.where(true == 0, 0.5, signs == true).prod(axis=-1)
    c = mechanism.shrinkage
    chances = (c * own + (1 - c) / len(signs)) / len(picked)
    return ((picked[:, None] + 1) * signs).reshape(-1, told), chances.ravel()


@exact.register
def report_on_comparisons_law(mechanism: LocalComparisons, data: Any, other: Any) -> PairLaw:
    """Of one person's report, by their answers to the same pairs.

    Examples
    --------
    >>> poll = LocalComparisons.calibrated(epsilon=1.0, n_items=3, per_person=2)
    >>> round(report_on_comparisons_law(poll, [1, 1], [-1, 0]).epsilon(0), 6)
    1.0
    """
    return pair_of(*(reports_on_comparisons(mechanism, answers)[1] for answers in (data, other)))


@sample.register
def draw_reports_on_comparisons(
    mechanism: LocalComparisons, data: Any, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Of one person.

    Examples
    --------
    >>> poll = LocalComparisons(n_items=3, per_person=2, length=2, kept=(1 << 53) - 1)
    >>> draw_reports_on_comparisons(poll, [1, -1], 2, np.random.default_rng(1)).tolist()
    [[1.0, -2.0], [1.0, -2.0]]
    """
    answers = np.asarray(data, np.int8)
    asked = len(answers)
    rows, signs = mechanism.sent(np.tile(answers, size), np.repeat(np.arange(size), asked), rng)
    return ((rows % asked + 1) * signs).reshape(size, -1).astype(float)
