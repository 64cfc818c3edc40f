"""Exact: rank centrality against dense eigenvectors, closed forms and the definitions; no test is random."""

from itertools import combinations, product

import choix
import numpy as np
import pandas as pd
import pytest
from checks import each, refused
from scipy import sparse

from dprank.data.comparisons import Comparisons
from dprank.topk import solvers
from dprank.topk.spectral import (
    ergodicity_coefficient,
    pair_shares,
    rank_centrality,
    stationary_distribution,
    transition_matrix,
)

COIN = np.full((2, 2), 0.5)


def rng(seed=0):
    return np.random.default_rng(seed)


def random_pairs(n, probability, seed=0):
    pairs = np.array(list(combinations(range(n), 2)))
    return pairs[rng(seed).random(len(pairs)) < probability]


def shares_of(weights, pairs):
    return weights[pairs[:, 1]] / weights[pairs].sum(1)


def path(up):
    """Chain on a path with share up[i] from i to i + 1, and its law by detailed balance."""
    pairs = np.column_stack([np.arange(len(up)), np.arange(1, len(up) + 1)])
    log = np.r_[0, np.cumsum(np.log(up / (1 - up)))]
    law = np.exp(log - log.max())
    return transition_matrix(len(up) + 1, pairs, up), law / law.sum()


def dense_law(chain):
    values, vectors = np.linalg.eig(chain.T)
    law = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    return law / law.sum()


# --- the chain ---


def test_transition_matrix_by_the_definition():
    pairs, shares = np.array([[0, 1], [3, 1], [2, 0]]), np.array([0.25, 1.0, 0.5])
    for d in (2, 3.5):
        chain = transition_matrix(4, pairs, shares, d).toarray()
        y = np.zeros((4, 4))
        for (i, j), share in zip(pairs, shares, strict=True):
            y[i, j], y[j, i] = share, 1 - share
        np.testing.assert_allclose(chain, y / d + np.diag(1 - y.sum(1) / d), rtol=1e-15)
    assert (transition_matrix(4, pairs, shares) != transition_matrix(4, pairs, shares, 2)).nnz == 0


def test_no_probability_is_negative_by_rounding():
    for seed in range(30):
        pairs = random_pairs(9, 0.9, seed)
        chain = transition_matrix(9, pairs, rng(seed).integers(0, 4, len(pairs)) / 3)
        assert chain.data.min() >= 0
        np.testing.assert_allclose(chain.sum(axis=1), 1, rtol=1e-14)


def test_items_without_pairs():
    np.testing.assert_array_equal(transition_matrix(2, [], []).toarray(), np.eye(2))


def test_pair_shares_by_hand():
    rows = [(0, 1, 1), (1, 0, 0.5), (0, 1, 0), (2, 1, 1)]
    data = Comparisons(*np.array(rows).T[:2].astype(int), [r[2] for r in rows], "abc")
    pairs, shares = pair_shares(data)
    assert pairs.tolist() == [[0, 1], [1, 2]]
    assert shares == pytest.approx([1.5 / 3, 1])
    assert pair_shares(data, prior=1)[1] == pytest.approx([2.5 / 5, 2 / 3])


@each(
    ("pairs", "shares", "d", "words"),
    [
        ([[0, 1], [0, 2]], [0.5, 0.5], 1, ["d = 1", "2"]),
        ([[0, 1], [0, 2]], [0.5, 0.5], 1.999, ["d = 1.999", "2"]),
        ([[0, 1]], [0.5], np.nan, ["d = nan"]),
        ([[0, 1]], [0.5], np.inf, ["d = inf"]),
        ([], [], 0, ["d = 0"]),
        ([[0, 1]], [1.5], None, ["shares[0] does not lie", "[0, 1]"]),
        ([[0, 1], [1, 2]], [0.5, np.nan], None, ["shares[1] does not lie"]),
        ([[0, 1]], [0.5, 0.5], None, ["shares", "(1,)"]),
        ([[1, 1]], [0.5], None, ["pairs[0]", "differ"]),
        ([[0, 1], [1, 2], [1, 0]], [0.5] * 3, None, ["pairs[2]", "once"]),
        ([[0, 3]], [0.5], None, ["pairs[0]", "0 .. 2"]),
        ([[-1, 1]], [0.5], None, ["pairs[0]", "0 .. 2"]),
        ([[0.0, 1.0]], [0.5], None, ["pairs", "float64"]),
        ([0, 1], [0.5], None, ["pairs"]),
    ],
)
def test_bad_chains_are_refused(pairs, shares, d, words):
    with refused(*words):
        transition_matrix(3, pairs, shares, d)


def test_bad_arguments_are_refused():
    with refused("n_items = 0"):
        transition_matrix(0, [], [])
    with refused("n_items = 2.5"):
        transition_matrix(2.5, [(0, 1)], [0.5])
    with refused("pairs", "different lengths"):
        transition_matrix(3, [[0, 1], [2]], [0.5, 0.5])
    with refused("pairs", "bool"):
        transition_matrix(3, [[False, True]], [0.5])
    with refused("shares of type list"):
        transition_matrix(2, [(0, 1)], ["x"])
    for d in (np.nan, "2", 0):
        with refused("d = ", "at least"):
            transition_matrix(2, [(0, 1)], [0.5], d)
    data = Comparisons([0], [1], [1], "ab")
    for prior in (-1, np.nan, np.inf, "1", None):
        with refused("prior", str(prior)):
            pair_shares(data, prior=prior)
    for wrong in (pd.DataFrame({"first": ["a"], "second": ["b"]}), [(0, 1)], None):
        with refused(type(wrong).__name__, "Comparisons"):
            rank_centrality(wrong)


# --- its law ---


def test_strengths_are_the_law_of_the_population():
    for n, probability, seed in ((2, 1, 0), (7, 0.6, 1), (60, 0.2, 2), (400, 0.05, 3)):
        weights, pairs = np.exp(rng(seed).normal(size=n)), random_pairs(n, probability, seed)
        for d in (None, 3 * n):
            law = stationary_distribution(transition_matrix(n, pairs, shares_of(weights, pairs), d))
            np.testing.assert_allclose(law, weights / weights.sum(), rtol=1e-9)


@pytest.mark.slow
def test_dense_eigenvectors_agree():
    for seed in range(20):
        chain = rng(seed).random((8, 8)) ** 4
        chain /= chain.sum(1, keepdims=True)
        np.testing.assert_allclose(stationary_distribution(chain), dense_law(chain), atol=1e-13)
    big = rng().random((350, 350)) * (rng(1).random((350, 350)) < 0.05)
    big += np.roll(np.eye(350), 1, axis=0)
    big /= big.sum(1, keepdims=True)
    np.testing.assert_allclose(stationary_distribution(sparse.csr_array(big)), dense_law(big), atol=1e-12)


def test_both_solvers_agree():
    pairs = random_pairs(500, 0.03)
    rates = transition_matrix(500, pairs, rng(1).random(len(pairs)))
    rates.setdiag(0)
    rates.eliminate_zeros()
    found = solvers._refined(rates)
    eliminated = solvers._gth(rates.indptr, rates.indices, rates.data, rng(2).permutation(500), 499)
    assert np.abs(found - eliminated).sum() < 1e-12


@pytest.mark.parametrize("n", [300, 301, 10_000])
@pytest.mark.slow
def test_paths_on_which_power_iteration_crawls(n):
    for up in (rng(n).uniform(0.2, 0.8, n - 1), np.full(n - 1, 0.9), np.full(n - 1, 0.1), np.full(n - 1, 0.5)):
        chain, law = path(up)
        assert np.abs(stationary_distribution(chain) - law).sum() < 1e-10


@pytest.mark.slow
def test_large_dense_chains_are_walked_first_and_as_exact():
    """Random ones, halves that hardly meet, and two sides that take turns: there the walk never settles."""
    n = 600
    loose, sides = rng(3).random((2, n, n))
    for a, b in ((0, 1), (1, 0)):
        loose[a * n // 2 : (a + 1) * n // 2, b * n // 2 : (b + 1) * n // 2] *= 1e-7
    half = np.arange(n) % 2
    sides[half[:, None] == half] = 0
    for rates in (rng(4).random((n, n)) ** 4, loose, sides):
        np.fill_diagonal(rates, 0)
        chain = rates / rates.sum(axis=1, keepdims=True)
        sparse_rates = sparse.csr_array(chain)
        exact = solvers._gth(sparse_rates.indptr, sparse_rates.indices, sparse_rates.data, np.arange(n), n - 1)
        assert np.abs(stationary_distribution(chain) - exact).sum() < 1e-10


def test_a_walk_is_near_the_law_where_it_mixes():
    rates = sparse.csr_array(rng(5).random((600, 600)))
    jumps = rates / rates.sum(axis=1)[:, None]
    law = solvers._walked(sparse.csr_array(jumps.T))
    assert np.abs(jumps.T @ law - law).sum() < 1e-12


def test_nearly_reducible_chains():
    # two halves that exchange next to nothing: the law within is known, the masses follow from the balance
    half = np.full((3, 3), 1 / 3)
    for tiny in (1e-6, 1e-12, 1e-100):
        chain = np.block([[half, np.zeros((3, 3))], [np.zeros((3, 3)), half]])
        chain[0, 3], chain[3, 0] = tiny, 2 * tiny
        chain[[0, 3], [0, 3]] -= tiny, 2 * tiny
        np.testing.assert_allclose(stationary_distribution(chain), np.repeat([2 / 9, 1 / 9], 3), rtol=1e-9)


def test_slow_chains_too_wide_to_eliminate(monkeypatch):
    chain, _ = path(rng().uniform(0.2, 0.8, 2000))
    monkeypatch.setattr(solvers, "_BAND_ENTRIES", 100)
    with pytest.raises(ArithmeticError, match="2001 states"):
        stationary_distribution(chain)


def test_rates_that_underflow_are_not_passed_off_as_an_answer(monkeypatch):
    monkeypatch.setattr(solvers.csgraph, "reverse_cuthill_mckee", lambda rates: np.arange(3))
    with pytest.raises(ArithmeticError, match="underflow"):
        stationary_distribution([[0, 1, 0], [0, 1 - 1e-200, 1e-200], [1e-200, 1, 0]])


def test_periodic_chains():
    for n in (2, 5, 400):
        np.testing.assert_allclose(stationary_distribution(np.roll(np.eye(n), 1, axis=1)), 1 / n, rtol=1e-12)


def test_transient_states_get_nothing():
    law = stationary_distribution([[0.5, 0.5, 0], [0, 0.25, 0.75], [0, 0.25, 0.75]])
    np.testing.assert_allclose(law, [0, 0.25, 0.75], rtol=1e-15)
    assert law[0] == 0
    n = 500
    chain, within = path(np.full(n - 1, 0.5))
    leaving = sparse.block_array([[sparse.eye_array(1) * 0.5, None], [None, chain]]).tolil()
    leaving[0, 7] = 0.5
    np.testing.assert_allclose(stationary_distribution(leaving), np.r_[0, within], atol=1e-13)


def test_a_single_state():
    assert stationary_distribution([[1.0]]).tolist() == [1.0]
    assert ergodicity_coefficient([[1.0]]) == 0


def test_several_closed_classes_are_refused():
    with refused("states[0] and states[1]", "connected"):
        stationary_distribution(np.eye(2))
    with refused("states[1] and states[2]", "never left"):
        stationary_distribution([[0.2, 0.4, 0.4], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        (np.ones((2, 3)) / 3, ["(2, 3)", "square"]),
        ([[1.5, -0.5], [0.5, 0.5]], ["chain", "below 0"]),
        ([[0.5, 0.4], [0.5, 0.5]], ["row 0"]),
        ([[np.nan, 1], [0.5, 0.5]], ["finite"]),
        (np.zeros((0, 0)), ["square"]),
    ],
)
def test_bad_matrices_are_refused(chain, words):
    for function in (stationary_distribution, ergodicity_coefficient):
        with refused(*words):
            function(chain)


def test_input_is_left_alone():
    chain = sparse.csr_array(COIN)
    before = chain.copy()
    stationary_distribution(chain), ergodicity_coefficient(chain)
    assert (chain != before).nnz == 0


# --- the ergodicity coefficient ---


def brute_coefficient(chain):
    """The definition at the extreme points (e_i - e_j) / 2 of the vectors it allows."""
    n = len(chain)
    vectors = [(np.eye(n)[i] - np.eye(n)[j]) / 2 for i, j in product(range(n), repeat=2) if i != j]
    return max(np.abs(v @ chain).sum() for v in vectors)


def test_ergodicity_coefficient_by_its_definition():
    for seed in range(40):
        n = 2 + seed % 6
        chain = rng(seed).random((n, n)) * (rng(seed + 99).random((n, n)) < 0.7) + 1e-3 * np.eye(n)
        chain /= chain.sum(1, keepdims=True)
        expected = brute_coefficient(chain)
        for form in (chain, sparse.csr_array(chain), sparse.coo_array(chain)):
            assert ergodicity_coefficient(form) == pytest.approx(expected, abs=1e-14)


def test_ergodicity_coefficient_closed_forms():
    assert ergodicity_coefficient(np.eye(3)) == 1
    assert ergodicity_coefficient(np.tile([0.2, 0.3, 0.5], (3, 1))) == pytest.approx(0, abs=1e-15)
    # a complete graph of even matches: rows share all but the two diagonals
    n = 9
    pairs = random_pairs(n, 1)
    even = transition_matrix(n, pairs, np.full(len(pairs), 0.5))
    assert ergodicity_coefficient(even) == pytest.approx(0.5 - 0.5 / (n - 1))
    # no two items that are far apart on a path share a column
    assert ergodicity_coefficient(path(np.full(4, 0.5))[0]) == 1


# --- the estimator ---


def test_rank_centrality_against_choix():
    for seed in range(5):
        first, second = rng(seed).integers(0, 12, (2, 400))
        keep = first != second
        data = Comparisons(first[keep], second[keep], rng(seed + 9).integers(0, 2, keep.sum()), map(str, range(12)))
        won = [
            (int(a), int(b)) if x else (int(b), int(a))
            for a, b, x in zip(data.first, data.second, data.outcome, strict=True)
        ]
        theirs = np.exp(choix.rank_centrality(12, won))
        np.testing.assert_allclose(rank_centrality(data), theirs / theirs.sum(), rtol=1e-9)


def test_an_item_that_won_everything_takes_all():
    data = Comparisons([0, 0, 1], [1, 2, 2], [1, 1, 0.5], "abc")
    assert rank_centrality(data).tolist() == [1, 0, 0]
    law = rank_centrality(data, prior=0.5)
    assert law[0] > law[1] > 0
    assert law[1] == pytest.approx(law[2])


def test_data_without_a_unique_ranking_name_two_items():
    with refused("items[0] and items[2]", "connected"):
        rank_centrality(Comparisons([0, 2], [1, 3], [1, 1], "abcd"))
    with refused("items[0] and items[1]", "never left"):
        rank_centrality(Comparisons([0, 1], [2, 2], [1, 1], "abc"))
    law = rank_centrality(Comparisons([0, 1], [2, 2], [1, 1], "abc"), prior=1)
    np.testing.assert_allclose(law, [0.4, 0.4, 0.2])
