"""Exact enumeration on small graphs."""

import numpy as np
import pytest

from companion.chapters.private_rank_centrality import private_spectral as e
from companion.chapters.private_rank_centrality import small_graphs
from dprank.topk.spectral import transition_matrix

CASES = [("two items", 3), ("triangle", 2), ("path of 3", 6), ("all pairs but one of 4", 1), ("all pairs of 4", 1)]


@pytest.fixture(scope="module")
def moves():
    return small_graphs.sensitivities(CASES)


def test_all_data_by_hand():
    data = small_graphs.all_data("path of 3", 1)
    assert data.shares.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    # the first item beat the second; the third beat the second; both ends stay where they are
    assert data.tau.tolist() == [1, 1, 0.5, 1]
    assert np.isnan(data.law[1]).all()
    np.testing.assert_allclose(data.law[[0, 2, 3]], np.eye(3))
    assert sorted(zip(data.first, data.second, strict=True)) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert e.refusals("path of 3", 1) == 2


def test_neighbours_differ_in_one_sample():
    data = small_graphs.all_data("triangle", 3)
    change = (data.shares[data.second] - data.shares[data.first]) * 3
    assert (np.abs(change).sum(1).round(9) == 1).all()
    assert len(change) == 3 * 3 * 4**2


def test_sensitivities(moves):
    row = moves.set_index("graph").loc["triangle"]
    assert row["pi"] == pytest.approx(2)  # 1 / L
    assert row.printed == pytest.approx(4)
    # the undamped shares of a graph that lacks a pair move by more than any of these
    assert moves["pi"].max() > 4


def test_perturbation_ratios_against_dense_norms():
    found = small_graphs.perturbation_ratios([("triangle", 1)]).iloc[0]
    data = small_graphs.all_data("triangle", 1)
    chains = [transition_matrix(3, data.mechanism.edges, row).toarray() for row in data.shares]
    ratios = [
        (1 - data.tau[a]) * np.abs(data.law[a] - data.law[b]) / np.abs(chains[a] - chains[b]).sum(1).max()
        for a in range(8)
        for b in range(8)
        if a != b and data.tau[a] < 1
    ]
    assert found["pairs"] == len(ratios)
    assert found["largest"] == pytest.approx(np.max(ratios))
    assert found["sum"] == pytest.approx(np.sum(ratios, axis=1).max())
