"""Seeds are fixed. ALARM: the chance that a seed was unlucky, and the level at which every mutant must be caught."""

import itertools

import numpy as np
import pytest
from checks import each, law_p_value, refused
from scipy import integrate, stats

from dprank.data.comparisons import Comparisons
from dprank.data.counting import pairwise_wins
from dprank.models.bradley_terry import (
    LOGISTIC,
    PROBIT,
    erdos_renyi_counts,
    sample_erdos_renyi,
    sample_voters,
    voter_counts,
    win_probabilities,
)

ALARM = 1e-6
THETA = np.array([1.0, 0.3, -0.2, -0.9])
PAIRS = [(i, j) for i in range(4) for j in range(4) if i != j]
LINKS = pytest.mark.parametrize("link", [LOGISTIC, PROBIT], ids=lambda link: link.name)


@LINKS
def test_link_is_a_symmetric_distribution(link):
    x = np.linspace(-8, 8, 161)
    np.testing.assert_allclose(link.cdf(x) + link.cdf(-x), 1, rtol=1e-15)
    np.testing.assert_allclose(np.exp(link.log_cdf(x)), link.cdf(x), rtol=1e-13)
    step = 1e-5
    np.testing.assert_allclose(
        (link.cdf(x + step) - link.cdf(x - step)) / (2 * step), link.pdf(x), rtol=1e-5, atol=1e-10
    )
    assert integrate.quad(link.pdf, -50, 50, points=[0])[0] == pytest.approx(1, abs=1e-10)


def test_closed_forms_and_tails():
    assert LOGISTIC.cdf(1.5) == pytest.approx(1 / (1 + np.exp(-1.5)), rel=1e-15)
    assert PROBIT.cdf(1.5) == pytest.approx(stats.norm.cdf(1.5), rel=1e-15)
    assert LOGISTIC.log_cdf(-1000.0) == -1000
    # Mills' ratio, 1 - 1 / x^2 + 3 / x^4
    mills = np.log1p(-1 / 60**2 + 3 / 60**4) - np.log(60 * np.sqrt(2 * np.pi))
    assert PROBIT.log_cdf(-60.0) == pytest.approx(-(60**2) / 2 + mills, rel=1e-11)
    assert LOGISTIC.pdf(-800.0) == LOGISTIC.pdf(800.0) == 0


@LINKS
def test_win_probabilities(link):
    table = win_probabilities(THETA, link)
    assert table.shape == (4, 4)
    np.testing.assert_allclose(table + table.T, 1, rtol=1e-15)
    assert (np.diag(table) == 0.5).all()
    assert table[1, 3] == pytest.approx(link.cdf(1.2), rel=1e-14)
    np.testing.assert_allclose(win_probabilities(THETA + 5, link), table, rtol=1e-13)


def pairs_p_value(data):
    """Are all ordered pairs of items equally likely?"""
    counts = np.bincount(data.first.astype(int) * 4 + data.second, minlength=16)
    return law_p_value(counts[[4 * i + j for i, j in PAIRS]], np.full(12, 1 / 12))


def wins_p_value(data, link):
    """Does the first item of every pair win as often as it should? Bonferroni over the pairs."""
    table = win_probabilities(THETA, link)
    asked = [(data.first == i) & (data.second == j) for i, j in PAIRS]
    tests = [
        stats.binomtest(int(data.points[rows].sum()) // 2, int(rows.sum()), table[pair]).pvalue
        for rows, pair in zip(asked, PAIRS, strict=True)
        if rows.any()
    ]
    return min(1, min(tests) * len(tests))


@LINKS
def test_voters_answer_uniform_pairs_by_the_model(link):
    data = sample_voters(THETA, 5000, 8, rng=np.random.default_rng(11), link=link)
    assert data.voter.tolist() == np.repeat(np.arange(5000), 8).tolist()
    assert set(data.points.tolist()) == {0, 2}
    assert data.items == ("0", "1", "2", "3")
    assert pairs_p_value(data) > ALARM
    assert wins_p_value(data, link) > ALARM


def biased(rng, rows, draw):
    first = rng.integers(0, 4, rows)
    second = draw(first, rng)
    keep = first != second
    won = rng.random(rows) < LOGISTIC.cdf(THETA[first] - THETA[second])
    return Comparisons(first[keep], second[keep], won[keep], range(4))


PAIR_MUTANTS = {
    "neighbours pushed": lambda first, rng: (d := rng.integers(0, 3, len(first))) + (d == first),
    "only upwards": lambda first, rng: np.maximum(first, rng.integers(0, 4, len(first))),
    "never the next": lambda first, rng: (first + rng.integers(2, 4, len(first))) % 4,
}
WIN_MUTANTS = {
    "P swapped": (-THETA, LOGISTIC),
    "strengths halved": (THETA / 2, LOGISTIC),
    "the other link": (THETA, PROBIT),
    "a coin": (0 * THETA, LOGISTIC),
}


@pytest.mark.parametrize("mutant", PAIR_MUTANTS)
def test_biased_pairs_are_caught(mutant):
    assert pairs_p_value(biased(np.random.default_rng(11), 40_000, PAIR_MUTANTS[mutant])) < ALARM


@pytest.mark.parametrize("mutant", WIN_MUTANTS)
def test_wrong_winners_are_caught(mutant):
    theta, link = WIN_MUTANTS[mutant]
    assert wins_p_value(sample_voters(theta, 5000, 8, rng=np.random.default_rng(11), link=link), LOGISTIC) < ALARM


def graphs_p_value(edges):
    """Is every pair (column) an edge with chance 0.3, whatever the others of its graph (row) are?"""
    size = law_p_value(np.bincount(edges.sum(axis=1), minlength=7), stats.binom(6, 0.3).pmf(range(7)))
    return min(size, *(6 * stats.binomtest(int(k), len(edges), 0.3).pvalue for k in edges.sum(axis=0)))


@LINKS
@pytest.mark.slow
def test_an_erdos_renyi_graph_by_the_model(link):
    rng = np.random.default_rng(12)
    graphs = [sample_erdos_renyi(THETA, 0.3, rng=rng, link=link) for _ in range(2000)]
    edges = np.array([np.bincount(g.first * 4 + g.second, minlength=16) for g in graphs])
    assert edges.max() == 1
    assert edges[:, [4 * i + j for i, j in PAIRS if i < j]].sum() == edges.sum()
    assert graphs_p_value(edges[:, [4 * i + j for i, j in PAIRS if i < j]]) > ALARM
    rows = (np.concatenate([getattr(g, name) for g in graphs]) for name in ("first", "second", "outcome"))
    assert wins_p_value(Comparisons(*rows, range(4)), link) > ALARM


GRAPH_MUTANTS = {
    "a little more": lambda rng: rng.random((2000, 6)) < 0.34,
    "one coin a graph": lambda rng: np.tile(rng.random((2000, 1)) < 0.3, 6),
    "a pair left out": lambda rng: (rng.random((2000, 6)) < 0.3) & (np.arange(6) < 5),
}


@pytest.mark.parametrize("mutant", GRAPH_MUTANTS)
def test_other_graphs_are_caught(mutant):
    assert graphs_p_value(GRAPH_MUTANTS[mutant](np.random.default_rng(12))) < ALARM


def test_none_or_all_pairs():
    rng = np.random.default_rng(0)
    assert len(sample_erdos_renyi(THETA, 0, rng=rng)) == 0
    whole = sample_erdos_renyi(THETA, 1, rng=rng, items="wxyz")
    assert (len(whole), whole.items, whole.voter) == (6, ("w", "x", "y", "z"), None)
    assert len(sample_voters(THETA, 0, 3, rng=rng)) == len(sample_voters(THETA, 3, 0, rng=rng)) == 0


@pytest.mark.parametrize(("sample", "size"), [(sample_voters, (30, 2)), (sample_erdos_renyi, (0.5,))])
def test_a_seed_is_a_sample(sample, size):
    one, again = (sample(THETA, *size, rng=np.random.default_rng(4)) for _ in range(2))
    for name in ("first", "second", "points"):
        np.testing.assert_array_equal(getattr(one, name), getattr(again, name))


@each(
    ("change", "words"),
    [
        ({"theta": [1.0]}, ["theta", "(1,)"]),
        ({"theta": [[1.0, 2.0]]}, ["theta", "(1, 2)"]),
        ({"theta": [1.0, np.inf]}, ["theta[1]", "finite"]),
        ({"voters": -1}, ["voters = -1", "at least 0"]),
        ({"answers": -2}, ["answers = -2"]),
        ({"items": "ab"}, ["items", "2", "4"]),
        ({"items": "abcde"}, ["items", "5", "4"]),
    ],
)
def test_sample_voters_refuses(change, words):
    with refused(*words):
        sample_voters(**({"theta": THETA, "voters": 20, "answers": 3, "rng": np.random.default_rng(0)} | change))


@pytest.mark.parametrize("probability", [-0.1, 1.1, np.nan])
def test_sample_erdos_renyi_refuses(probability):
    with refused(f"probability = {probability}", "[0, 1]"):
        sample_erdos_renyi(THETA, probability, rng=np.random.default_rng(0))


def test_names_may_be_an_array():
    names = np.array(["w", "x", "y", "z"])
    assert sample_voters(THETA, 2, 2, rng=np.random.default_rng(0), items=names).items == tuple(names)


def all_sheets(theta, answers):
    """Law of (played, wins) of `answers` independent uniform pairs, by listing all ordered answer sheets."""
    table, n = win_probabilities(theta), len(theta)
    ordered = [(i, j) for i in range(n) for j in range(n) if i != j]
    law = {}
    for sheet in itertools.product(ordered, repeat=answers):
        key = statistics(n, sheet)
        law[key] = law.get(key, 0) + np.prod([2 * table[i, j] / len(ordered) for i, j in sheet])
    return law


def all_graphs(theta, probability):
    """Law of (played, wins) of an Erdos-Renyi graph, by listing all graphs and outcomes."""
    table, n = win_probabilities(theta), len(theta)
    law = {}
    for state in itertools.product((0, 1, 2), repeat=n * (n - 1) // 2):
        pairs = list(zip(itertools.combinations(range(n), 2), state, strict=True))
        sheet = [(i, j) if s == 1 else (j, i) for (i, j), s in pairs if s]
        key = statistics(n, sheet)
        chance = (1 - probability) ** state.count(0) * np.prod([probability * table[i, j] for i, j in sheet])
        law[key] = law.get(key, 0) + chance
    return law


def statistics(n, sheet):
    played = np.zeros((n, n), int)
    for i, j in sheet:
        played[i, j] += 1
        played[j, i] += 1
    return (*played.ravel(), *np.bincount([i for i, _ in sheet], minlength=n))


def counts_p_value(drawn, law):
    played, wins = drawn
    seen = {}
    for row in np.hstack([played.reshape(len(wins), -1), wins]).astype(int).tolist():
        seen[tuple(row)] = seen.get(tuple(row), 0) + 1
    assert set(seen) <= set(law)
    return law_p_value([seen.get(key, 0) for key in law], [law[key] for key in law])


@pytest.mark.parametrize("theta", [[0.8, 0.0], [1.0, 0.0, -1.5]], ids=["two items", "three items"])
@pytest.mark.slow
def test_replicates_of_sufficient_statistics_have_the_exact_law(theta):
    rng = np.random.default_rng(5)
    graphs, sheets = all_graphs(theta, 0.6), all_sheets(theta, 3)
    assert counts_p_value(erdos_renyi_counts(theta, 0.6, 20_000, rng=rng), graphs) > ALARM
    assert counts_p_value(voter_counts(theta, 3, 1, 20_000, rng=rng), sheets) > ALARM
    mutants = [
        (erdos_renyi_counts(theta, 0.65, 20_000, rng=rng), graphs),
        (erdos_renyi_counts(np.multiply(theta, 0.8), 0.6, 20_000, rng=rng), graphs),
        (voter_counts(np.multiply(theta, 0.8), 1, 3, 20_000, rng=rng), sheets),
    ]
    for drawn, law in mutants:
        assert counts_p_value(drawn, law) < ALARM


@pytest.mark.slow
def test_replicates_agree_with_comparisons_one_by_one():
    rng = np.random.default_rng(6)
    for draw, (played, wins) in [
        (lambda: sample_erdos_renyi(THETA, 0.5, rng=rng), erdos_renyi_counts(THETA, 0.5, 20_000, rng=rng)),
        (lambda: sample_voters(THETA, 4, 2, rng=rng), voter_counts(THETA, 4, 2, 20_000, rng=rng)),
    ]:
        totals = np.array([pairwise_wins(draw()) for _ in range(2000)])
        for one, many in ((totals.sum(2), wins), ((totals + totals.swapaxes(1, 2))[:, 0], played[:, 0])):
            error = np.hypot(one.std(0) / len(one) ** 0.5, many.std(0) / len(many) ** 0.5)
            assert (np.abs(one.mean(0) - many.mean(0)) <= 6 * error).all()


@pytest.mark.parametrize("scale", [1.0, 40.0, 500.0])
def test_replicates_are_the_pairs_that_their_uniforms_say(scale):
    theta, chance, pairs = scale * np.random.default_rng(8).uniform(-1, 1, (6, 40)), 0.6, np.triu_indices(40, 1)
    played, wins = erdos_renyi_counts(theta, chance, rng=np.random.default_rng(9))
    uniform = np.random.default_rng(9).random((6, len(pairs[0])))
    with np.errstate(over="ignore"):
        won = uniform * (1 + np.exp(theta[:, pairs[1]] - theta[:, pairs[0]])) < chance
    np.testing.assert_array_equal(played[:, pairs[0], pairs[1]], uniform < chance)
    lost = (uniform < chance) & ~won
    for row in range(6):
        counts = np.bincount(pairs[0], won[row], 40) + np.bincount(pairs[1], lost[row], 40)
        np.testing.assert_array_equal(wins[row], counts)


def test_replicates_with_strengths_of_their_own():
    rng = np.random.default_rng(7)
    rows = np.array([[9.0, -9.0, 0.0], [-9.0, 9.0, 0.0], [0.0, 0.0, 0.0]]).repeat(300, 0)
    for played, wins in (erdos_renyi_counts(rows, 1.0, rng=rng), voter_counts(rows, 10, 3, rng=rng)):
        assert played.dtype == np.float32
        assert played.shape == (900, 3, 3)
        assert (played == played.swapaxes(1, 2)).all()
        assert (np.diagonal(played, axis1=1, axis2=2) == 0).all()
        np.testing.assert_array_equal(played.sum((1, 2)) / 2, wins.sum(1))
        assert wins[:300, 0].mean() > 1.9 > 0.1 > wins[:300, 1].mean()
        assert wins[300:600, 1].mean() > 1.9
    extreme = erdos_renyi_counts([2000.0, -2000.0], 1.0, 50, rng=rng)[1]
    assert (extreme == [1, 0]).all()
    assert not erdos_renyi_counts(THETA, 0.0, 5, rng=rng)[0].any()
    assert not voter_counts(THETA, 0, 5, 5, rng=rng)[0].any()


def test_replicates_refuse_bad_input():
    rng = np.random.default_rng(8)
    with refused("probability = 1.5"):
        erdos_renyi_counts(THETA, 1.5, 3, rng=rng)
    with refused("replicates = 0"):
        erdos_renyi_counts(THETA, 0.5, 0, rng=rng)
    with refused("shape (4,)", "replicates = None"):
        voter_counts(THETA, 2, 2, rng=rng)
    with refused("shape (3, 4)", "replicates = 2"):
        erdos_renyi_counts(np.tile(THETA, (3, 1)), 0.5, 2, rng=rng)
    with refused("answers = -1"):
        voter_counts(THETA, 2, -1, 3, rng=rng)
    with refused("theta[1]", "not finite"):
        voter_counts([0.0, np.nan], 2, 1, 3, rng=rng)
