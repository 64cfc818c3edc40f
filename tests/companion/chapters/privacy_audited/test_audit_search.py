"""The searches that the chapter shows. Streams are those of the chapter: nothing here fails by chance."""

from __future__ import annotations

import pytest

from companion.chapters.privacy_audited import search


def test_no_neighbours_break_a_promise_and_the_tight_ones_are_met():
    frame = search.compared()
    assert frame.family.is_unique
    assert (frame[["worst", "climbed"]].max(axis=1) <= frame.guarantee * (1 + 1e-9)).all()
    tight = frame[frame.worst >= frame.guarantee * (1 - 1e-6)].family.tolist()
    assert len(tight) == len(frame) - 3
    assert not any("exponential mechanism" in name or "truncated" in name for name in tight)


@pytest.mark.slow
def test_habits_miss_much():
    blind = search.blind()
    assert (blind.seen < 0.9 * blind.worst).all()
    assert blind.habit.is_unique


@pytest.mark.slow
def test_climbing_reaches_known_losses_where_nobody_lists():
    large = search.large()
    assert (large.climbed <= large.guarantee * (1 + 1e-9)).all()
    assert (large.climbed >= large.guarantee * (1 - 1e-6)).all()
