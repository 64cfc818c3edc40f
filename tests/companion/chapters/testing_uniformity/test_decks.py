"""The picture of single rankings: each is one, and only a strong lean shows."""

from __future__ import annotations

import numpy as np

from companion.chapters.testing_uniformity import pictures


def test_a_deck_holds_every_place_once_and_a_strong_lean_shows():
    frame = pictures.decks(100, [0.0, 0.02, 0.2])
    by = frame.groupby("gap")
    assert all(sorted(part.place) == list(range(1, 101)) == list(part.item) for _, part in by)
    alike = [np.corrcoef(part.item, part.place)[0, 1] for _, part in by]
    assert abs(alike[0]) < 0.4
    assert alike[2] > 0.9
    titles = [axes.get_title(loc="left") for axes in pictures.draw_decks(frame).axes]
    assert titles == ["shuffled", "φ = 0.98", "φ = 0.8"]
