"""The jitted loop against NumPy: bit for bit, on samples with ties, constants and signs of zero."""

import numpy as np
import pytest

from dprank.audit._cuts import grow

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
