"""The picture of the walk on a path: its chances are the walk's, and one game makes the difference."""

from __future__ import annotations

import pytest

from companion.chapters.private_rank_centrality import pictures


def test_one_game_takes_the_common_step_away():
    frame = pictures.feedback()
    assert frame.groupby("results").tau.first().to_dict() == {"B beat both": 0.5, "A beat B": 1.0}
    sums = frame.groupby(["results", "start"]).chance.sum()
    assert len(sums) == 6
    assert sums.tolist() == pytest.approx([1] * 6)
    marked = [
        [text.get_text() for text in axes.texts if (box := text.get_bbox_patch()) and box.get_linewidth() > 2]
        for axes in pictures.draw_feedback(frame).axes
    ]
    assert marked == [["B"], []]
