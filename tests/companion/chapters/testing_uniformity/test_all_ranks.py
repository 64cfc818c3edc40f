"""Tests of all ranks, and how many rankings each needs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from companion.chapters.testing_uniformity import all_ranks
from dprank.models.mallows import Mallows


def test_running_statistics_are_those_of_each_prefix():
    law, marks = Mallows(6, 0.2), np.array([2, 5, 9])
    got = all_ranks.running_statistics(law, marks, 1, np.random.default_rng(7))[..., 0]
    rng = np.random.default_rng(7)
    rows, order = law.sample(9, rng=rng), rng.permutation(6)
    for column, n in enumerate(marks):
        signs = np.where(rows[:n, order[::2]] < rows[:n, order[1::2]], 1, -1).sum(axis=0)
        assert got[0, column] == (signs**2).sum()
        assert got[1, column] == pytest.approx(((rows[:n].sum(axis=0) - n * 2.5) ** 2).sum())


def test_mean_ranks_move_as_the_chapter_says():
    """theta (m + 1) / 6 times the centred place, to first order; by the exact biases."""
    m, theta = 40, 1e-6
    bias = Mallows(m, theta).bias(np.arange(1, m))
    for c in (0, 7, 39):
        shift = (bias[:c].sum() - bias[: m - 1 - c].sum()) / 2
        assert shift == pytest.approx(theta * (m + 1) / 6 * (c - (m - 1) / 2), rel=1e-4)


@pytest.mark.slow
def test_friedman_needs_fewer_rankings():
    table = all_ranks.needed_table(all_ranks.growth_cells(0.02, [20, 40], 0.5, [10]), 150)
    low = table["ratio"] - 4 * table["ratio se"]
    assert (low.to_numpy() < 3 / math.sqrt(2)).all()
    assert (table["Friedman"] < table["UNIF"]).all()
    assert (table["known centre"] < table["Friedman"]).all()
    exponents = all_ranks.growth_exponents(table[table.held == "1 − φ = 0.02"])
    assert (exponents.exponent + 2.5).abs().max() < 0.8


def test_rivals():
    powers = all_ranks.rivals(30, 10, 9.0, 400)
    assert powers["Friedman"] > powers["UNIF"] + 0.1
    assert abs(powers["Friedman"] - powers["mean distance"]) < 0.1
    assert abs(powers["Friedman"] - powers["MA, estimated centre"]) < 0.1


@pytest.mark.slow
def test_the_figure_and_too_few_data_sets_to_find_a_size():
    table = all_ranks.needed_table(all_ranks.growth_cells(0.02, [20], 0.5, [10]), 40)
    assert len(all_ranks.draw_rankings_needed(table).axes) == 2
    assert all_ranks.needed_table(all_ranks.growth_cells(0.01, [5], 0.5, [5]), 5)["ratio se"].isna().any()
