"""What a voter moves is what the noise is made for, and KwikSort asks as many pairs as it is known to."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from companion.chapters.private_aggregation import one_ballot
from dprank.aggregation import NoisyMatrix, PrivateBorda


@pytest.mark.parametrize("n_items", [2, 3, 4, 5])
def test_nobody_moves_more(n_items):
    totals = one_ballot.moved(n_items).groupby("method")["by"].sum()
    places = np.array(list(permutations(range(n_items))))
    apart = np.abs(places - places[0])
    assert totals[one_ballot.SCORES] == apart.sum(axis=1).max()
    assert totals[one_ballot.PAIRS] == n_items * (n_items - 1) / 2
    kept = {"epsilon": 1.0, "n_items": n_items}
    assert PrivateBorda.calibrated(**kept).scale == pytest.approx(totals[one_ballot.SCORES])
    assert NoisyMatrix.calibrated(**kept).scale == pytest.approx(totals[one_ballot.PAIRS])


def test_a_run_asks_what_kwiksort_asks():
    rng, n_items, runs = np.random.default_rng(9), 10, 4000
    asked = [list(one_ballot.questions(list(range(n_items)), rng)) for _ in range(runs)]
    assert all(len(set(run)) == len(run) for run in asked)
    assert all({(i, i + 1) for i in range(n_items - 1)} <= set(run) for run in asked)  # neighbours are always compared
    harmonic = sum(1 / k for k in range(1, n_items + 1))
    numbers = np.array([len(run) for run in asked])
    mean = 2 * (n_items + 1) * harmonic - 4 * n_items
    assert abs(numbers.mean() - mean) < 5 * numbers.std() / runs**0.5  # false alarm: one in a million
