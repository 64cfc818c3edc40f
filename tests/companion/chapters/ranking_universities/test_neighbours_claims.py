"""The readings of the printed neighbour."""

from __future__ import annotations

import math

import pytest

from companion.chapters.ranking_universities import neighbours


def test_readings_of_the_neighbour():
    frame = neighbours.adjacency_readings(1.0).set_index("reading")
    assert frame.loss.iloc[0] == math.inf
    assert frame.truth.iloc[1] == pytest.approx(math.e / (1 + math.e))
    assert frame.loss.iloc[1] == pytest.approx(1.0)
    assert frame.loss.iloc[2] == math.inf
    # below log 2 even the averaged reading refuses the bare truth
    assert neighbours.adjacency_readings(0.5).loss.iloc[0] < math.inf
