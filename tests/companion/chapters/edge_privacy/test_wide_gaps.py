"""The first two items exchanged: by listing all outcomes, and as the page of the result draws it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.edge_privacy import wide_gaps
from companion.chapters.edge_privacy.attack import all_outcomes, outcome_law
from companion.chapters.edge_privacy.ordering import swap_probability
from companion.instruments.two_items import overtaken
from dprank.models.bradley_terry import LOGISTIC


@pytest.mark.parametrize("theta", [(0.9, 0.2, 0.0, -1.0), (3.0, 2.0, 1.0, 0.0), (50.0, 0.0, -50.0, -100.0)])
@pytest.mark.parametrize("scale", [0.5, 8.9])
def test_an_exchange_by_listing_all_outcomes(theta: tuple[float, ...], scale: float) -> None:
    strengths, outcomes = np.array(theta), all_outcomes(4)
    wins = outcomes.sum(-1)
    law = outcome_law(LOGISTIC.cdf(strengths[:, None] - strengths), outcomes)
    listed = float(law @ overtaken((wins[:, 0] - wins[:, 1]) / scale))
    assert wide_gaps.exchanged(strengths, scale) == pytest.approx(listed)


def test_one_wide_gap_is_the_exchange_that_the_chapter_has() -> None:
    theta = np.array([0.4, *[0.0] * 29])
    assert wide_gaps.exchanged(theta, 8.0) == pytest.approx(swap_probability(30, 0.4, 8.0))


def test_the_picture_ends_at_one_win_and_falls_only_if_one_gap_is_wide() -> None:
    frame = wide_gaps.wide_gaps([10, 30], 300, 0.9)
    a = 0.9 / (8 * wide_gaps.KAPPA_1)
    ends = frame[frame.multiple == 100].set_index(["kind", "items"]).exchanged
    assert ends[wide_gaps.ALL].tolist() == pytest.approx([math.exp(-a) * (1 + a / 2) / 2] * 2, rel=1e-4)
    assert ends[wide_gaps.FIRST].max() < 1e-6
    axes = wide_gaps.draw_wide_gaps(frame).axes[0]
    named = {
        line.get_label(): np.asarray(line.get_ydata()) for line in axes.lines if not line.get_label().startswith("_")
    }
    assert [named[name].min() > 0.47 for name in named] == ["all gaps" in name for name in named]
    assert len(named) == 2
