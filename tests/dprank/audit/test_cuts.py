"""The jitted loops against NumPy: bit for bit, on samples with ties, constants and signs of zero."""

import numpy as np
import pytest

from dprank.audit._cuts import (
    added,
    chances,
    counted,
    counted_each,
    cut,
    cut_each,
    extent,
    grow,
    leaves,
    looked,
    matched,
    ordered,
    placed,
    reached,
    standardised,
    tame,
    weighted,
)

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


def test_many_lines_are_cut_and_counted_as_each_is():
    rng = np.random.default_rng(45)
    x, y, more = (np.stack([law(rng, n) for law in SAMPLES.values()]) for n in (60, 40, 50))
    x.sort(axis=1)
    y.sort(axis=1)
    starts, edges, ranks, tallies = cut_each(x, y, SHARES, ATOMS, MET)
    found = counted_each(more, starts, edges, ranks)
    for k, own in enumerate(more):
        by_itself = cut(x[k], y[k], SHARES, ATOMS, MET)
        first, last = starts[k] + k, starts[k + 1] + k + 1
        assert edges[starts[k] : starts[k + 1]].tolist() == by_itself[0].tolist()
        assert ranks[3 * first : 3 * last].tolist() == by_itself[1].ravel().tolist()
        assert tallies[2 * first : 2 * last].tolist() == by_itself[2].ravel().tolist()
        assert found[3 * starts[k] : 3 * starts[k + 1]].tolist() == counted(own, *by_itself[:2]).ravel().tolist()
    assert len(found) == 3 * starts[-1] > 0
    # and nothing beyond
    cells = starts[-1] + len(x)
    assert [len(edges), len(ranks), len(tallies)] == [starts[-1], 3 * cells, 2 * cells]


def test_counts_of_first_cells_are_added_in_the_order_of_their_ranks():
    assert ordered(np.array([3, 1, 4]), np.array([[0, 1, 2], [2, 0, 1]])).tolist() == [[3, 4], [1, 5]]


def test_views_of_rows():
    rows, direction = np.random.default_rng(46).normal(size=(50, 4)), np.array([1.0, -2.0, 0.5, 3.0])
    views = np.array([(0, 2, 0), (1, 3, 1), (2, 0, 0), (3, 0, 0), (4, 0, 0), (5, 0, 0), (6, 0, 0)])
    by_hand = [rows[:, 2], rows[:, 3] - rows[:, 1], rows.min(axis=1), rows.max(axis=1), weighted(rows, direction)]
    by_hand += [rows.sum(axis=1), np.zeros(50)]
    assert looked(rows, views, direction).tolist() == np.array(by_hand).tolist()


def test_numbers_are_matched_with_values_and_others_are_told_apart():
    values = np.array([-1.0, 0.0, 2.5])
    assert matched(np.array([2.5, -0.0, -2.0, 1.0, 9.0, -1.0]), values).tolist() == [2, 1, 3, 3, 3, 0]


def test_what_is_no_number_or_too_large_is_tamed():
    rows = np.array([[np.nan, np.inf, 1.5], [-np.inf, -0.0, -1e300]])
    tame(rows, -5.0, 100.0)
    assert rows.tolist() == [[-5.0, 100.0, 1.5], [-100.0, 0.0, -100.0]]
    assert np.signbit(rows[1, 1])


@pytest.mark.parametrize("rows", [2, 97, 3000])
@pytest.mark.parametrize("features", [2, 3, 17])
def test_columns_are_standardised_as_numpy_does_it(rows, features):
    p, q = np.random.default_rng(47).laplace(1, 3, (2, rows, features))
    p[:, 0] = q[:, 0] = 0.1 + 0.2
    deviations = np.concatenate([p, q]).std(axis=0)
    unit, difference, own, other = standardised(p, q)
    assert unit.tolist() == np.where(deviations == 0, 1.0, deviations).tolist()
    means = [(side / unit).mean(axis=0) for side in (p, q)]
    assert difference.tolist() == (means[0] - means[1]).tolist()
    assert [own.tolist(), other.tolist()] == [
        (side / unit - mean).tolist() for side, mean in zip((p, q), means, strict=True)
    ]


def test_chances_are_cautious_shares():
    high, low = np.array([0.0, 0.5, 1.0, 0.25]), np.array([1.0, 0.5, 0.0, 0.75])
    p = np.maximum(high - 0.5 * np.sqrt(high * (1 - high) / 64), 0)
    q = np.minimum(low + 0.5 * np.sqrt(low * (1 - low) / 64) + 0.5 / 64, 1)
    by_hand = [(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q]
    assert chances(high, low, 64).tolist() == np.array(by_hand).tolist()
