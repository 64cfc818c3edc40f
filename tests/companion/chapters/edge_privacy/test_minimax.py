"""The three lower bounds on a finer grid."""

from __future__ import annotations

from companion.chapters.edge_privacy import minimax


def test_corrected_bounds_hold_on_a_finer_grid():
    grid = minimax.corrected_grid((17, 18, 25, 60, 300, 3000, 10**5, 10**7))
    for bound in ("fano", "private", "score"):
        assert (grid[bound] >= grid[f"stated_{bound}"]).all()


def test_the_bounds_do_not_exceed_the_risk_of_zero():
    assert (minimax.corrected_grid()[["fano", "private", "score"]] < 1).all(axis=None)
