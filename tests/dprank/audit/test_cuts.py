"""The jitted loops against NumPy: bit for bit, on samples with ties, constants and signs of zero."""

import numpy as np
import pytest

from dprank.audit._cuts import counted, cut, grow

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
        edges, ranks = cut(np.sort(x), np.sort(y), SHARES, ATOMS, MET)
        assert edges.tolist() == cut_at(x, y).tolist()
        cells = [np.bincount(np.searchsorted(edges, side, "right"), minlength=len(edges) + 1) for side in (x, y, more)]
        likelier = np.argsort(-np.log((cells[0] + 0.5) / (cells[1] + 0.5)), kind="stable")
        upwards = np.arange(len(edges) + 1)
        assert ranks.tolist() == [upwards.tolist(), upwards[::-1].tolist(), np.argsort(likelier).tolist()]
        sums = np.cumsum(cells[2][[upwards, upwards[::-1], likelier]], axis=1)[:, :-1]
        assert counted(more, edges, ranks).tolist() == sums.tolist()
