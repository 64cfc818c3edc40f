"""What a run of the descent reaches."""

from __future__ import annotations

from companion.chapters.edge_privacy import descent, induction


def test_watch_stays_within_the_constants_and_starts_at_zero():
    constants, _ = induction.logistic_constants()
    short = descent.watch(6, 1.0, 8.0, 0)
    assert [short[name] for name in ("C1", "C2", "C3", "C4")] == [0, 0, 0, 0]
    run = descent.watch(8, 0.5, 8.0, 400)
    assert all(0 < run[name] < constants[name] for name in ("C1", "C2", "C3", "C4", "A.33"))
    assert run["drift"] < 1e-10
    assert run == descent.watch(8, 0.5, 8.0, 400)
