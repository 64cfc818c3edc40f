"""Our bound against exact risks."""

from __future__ import annotations

import pytest

from companion.chapters.edge_privacy import fano

ROUNDING = 1e-9


@pytest.mark.slow
def test_our_bound_is_below_every_exact_risk():
    for delta in (0.0, 0.003, 0.05):
        cases = fano.fano_cases((0.05, 0.5, 2.0), delta)
        assert (cases.ours <= cases.risk + ROUNDING).all()
        assert (cases.printed <= cases.risk + ROUNDING).all()
    # twice the bound is too much: the comparison can fail
    assert (2 * cases.ours > cases.risk).any()
