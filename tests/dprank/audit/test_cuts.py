"""The jitted loops against NumPy: bit for bit, on samples with ties, constants and signs of zero."""

import numpy as np
import pytest

from dprank.audit._cuts import added, counted, cut, extent, grow, leaves, placed, reached, weighted

CUTS, DEPTH = 6, 3
LAWS = {
    "even": lambda rng, n: rng.integers(0, CUTS + 1, (n, 3)),
    "few": lambda rng, n: rng.integers(0, 2, (n, 5)) * CUTS,
    "constant": lambda rng, n: np.full((n, 2), CUTS),
    "one apart": lambda rng, n: np.repeat([[0], [1]], [n - 1, 1], axis=0),
}


def grown(reached, ours):
    """`grow` by tables of sums."""
    columns, cut_at, node, first = [], [], np.zeros(len(reached), int), np.arange(len(reached)) < ours
    for level in range(DEPTH):
        for here in range(2**level):
            gains = []
            for column in range(reached.shape[1]):
                above = reached[:, column, None] > np.arange(CUTS)
                sides = [(node == 2**level - 1 + here) & (first == one) for one in (True, False)]
                a, b = (above[side].sum(axis=0) for side in sides)
                c, d = ((~above[side]).sum(axis=0) for side in sides)
                gains.append((a - b) ** 2 / np.maximum(a + b, 1) + (c - d) ** 2 / np.maximum(c + d, 1))
            column, cut = divmod(int(np.argmax(gains)), CUTS)
            columns.append(column)
            cut_at.append(cut)
        node = 2 * node + 1 + (reached[np.arange(len(reached)), np.array(columns)[node]] > np.array(cut_at)[node])
    return [columns, cut_at, node.tolist()]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("rows", [(60, 97), (1, 1), (30, 0)])
def test_the_tree_is_the_greedy_one(law, rows):
    rng = np.random.default_rng(41)
    reached = np.concatenate([LAWS[law](rng, n) for n in rows if n])
    columns, cut_at = np.full((2, 2**DEPTH - 1), -1)
    node = grow(reached, rows[0], CUTS, columns, cut_at)
    assert [columns.tolist(), cut_at.tolist(), node.tolist()] == grown(reached, rows[0])


SHARES, ATOMS, MET = np.array([0.1, 0.25, 0.5, 0.9]), 3, 2
SAMPLES = {
    "few": lambda rng, n: rng.integers(0, 6, n).astype(float),
    "whole": lambda rng, n: rng.integers(0, 40, n).astype(float),
    "real": lambda rng, n: rng.normal(size=n),
    "both": lambda rng, n: np.where(rng.random(n) < 0.5, rng.integers(0, 9, n), rng.normal(size=n)),
    "zeros": lambda rng, n: rng.choice([-0.0, 0.0, 1.0], n),
    "far": lambda rng, n: rng.choice([-(2.0**1000), 2.0**1001, 0.5], n),
    "constant": lambda rng, n: np.full(n, 2.0),
}


def cut_at(x, y):
    """Edges of `cut`."""
    both = np.sort(np.r_[x, y])
    values, often = np.unique(both, return_counts=True)
    if len(values) <= 2 * (len(SHARES) + 2):
        return values[1:]
    met = np.flatnonzero(often >= MET)
    ours = np.array([(x == values[at]).sum() for at in met], int)
    telling = np.abs(2 * ours - often[met]) / np.sqrt(often[met])
    atoms = values[met[np.argsort(-telling, kind="stable")[:ATOMS]]]
    shares = both[np.ceil(SHARES * len(both)).astype(int) - 1]
    ends = [x.min(), y.min(), np.nextafter(x.max(), np.inf), np.nextafter(y.max(), np.inf)]
    return np.unique(np.r_[shares, atoms, np.nextafter(atoms, np.inf), ends])


@pytest.mark.parametrize("law", SAMPLES)
@pytest.mark.parametrize("rows", [(60, 60), (97, 30), (1, 1)])
def test_the_line_is_cut_where_numpy_cuts_it(law, rows):
    rng = np.random.default_rng(42)
    for shift in (0.0, 1.0):
        x, y, more = (SAMPLES[law](rng, n) + add for n, add in zip((*rows, 50), (0.0, shift, 0.0), strict=True))
        edges, ranks, tallies = cut(np.sort(x), np.sort(y), SHARES, ATOMS, MET)
        assert edges.tolist() == cut_at(x, y).tolist()
        cells = [np.bincount(np.searchsorted(edges, side, "right"), minlength=len(edges) + 1) for side in (x, y, more)]
        assert tallies.tolist() == [cell.tolist() for cell in cells[:2]]
        likelier = np.argsort(-np.log((cells[0] + 0.5) / (cells[1] + 0.5)), kind="stable")
        upwards = np.arange(len(edges) + 1)
        assert ranks.tolist() == [upwards.tolist(), upwards[::-1].tolist(), np.argsort(likelier).tolist()]
        sums = np.cumsum(cells[2][[upwards, upwards[::-1], likelier]], axis=1)[:, :-1]
        assert counted(more, edges, ranks).tolist() == sums.tolist()


@pytest.mark.parametrize("law", SAMPLES)
def test_rows_are_in_the_cells_that_numpy_puts_them_in(law):
    rng = np.random.default_rng(43)
    rows = np.stack([SAMPLES[law](rng, 50) for _ in range(4)], axis=1)
    edges = np.unique(np.r_[rows[:9, 0], rng.normal(size=3)])
    for some in (edges, edges[:1], edges[:0]):
        assert placed(rows[:, 0].copy(), some).tolist() == np.searchsorted(some, rows[:, 0], "right").tolist()
    thresholds = np.sort(rows[:7], axis=0)
    cells = [np.searchsorted(thresholds[:, c], rows[:, c], "right").tolist() for c in range(4)]
    assert reached(rows, thresholds).T.tolist() == cells
    columns, least = rng.integers(0, 4, 7), rng.choice(rows[:, 1], 7)
    node = np.zeros(50, int)
    for _ in range(DEPTH):
        node = 2 * node + 1 + (rows[np.arange(50), columns[node]] >= least[node])
    assert leaves(rows, columns, least).tolist() == (node - 7).tolist()
    assert extent(rows, False).tolist() == rows.min(axis=1).tolist()
    assert extent(rows, True).tolist() == rows.max(axis=1).tolist()


def test_sums_over_columns_are_added_from_left_to_right():
    rng = np.random.default_rng(44)
    rows, weights, edges = rng.normal(size=(50, 4)), rng.normal(size=4), [np.sort(rng.normal(size=n)) for n in (3, 1)]
    ratios = [rng.normal(size=n) for n in (4, 2)]
    by_hand = sum((rows[:, c] * weights[c] for c in range(4)), np.zeros(50))
    assert weighted(rows, weights).tolist() == by_hand.tolist()
    chosen, starts = np.array([2, 0]), np.array([0, 3, 4])
    by_hand = [ratios[k][np.searchsorted(edges[k], rows[:, c], "right")] for k, c in enumerate(chosen)]
    found = added(rows, chosen, starts, np.concatenate(edges), np.concatenate(ratios))
    assert found.tolist() == (by_hand[0] + by_hand[1]).tolist()
