"""Exact unless said otherwise. ROUNDING: relative error allowed to quadrature and brute force; Monte Carlo has fixed
seeds, ALARM being the chance that a seed was unlucky and the level at which the wrong law must be caught."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from checks import each, law_p_value, refused
from scipy import stats

from dprank.pairwise import mean_rank_difference, rank_law, top_set_law
from dprank.pairwise.rank_law import places

ROUNDING = 1e-11
ALARM = 1e-6
LAWS = pytest.mark.parametrize("law", ["continuous", "discrete"])
SCORES = [7.0, 3.0, 3.0, 0.0, 5.0]


def behind(gap, scale):
    """P(the better of two items comes second): the tail of the difference of two Laplace variables."""
    t = gap / scale
    return np.exp(-t) * (1 + t / 2) / 2


def behind_discrete(gap, scale):
    """The same for two-sided geometric noise and ties at random, from the law of the difference of two."""
    r = np.exp(-1 / scale)

    def difference(d):
        d = abs(d)
        return ((1 - r) / (1 + r)) ** 2 * r**d * (d + (1 + r**2) / (1 - r**2))

    return difference(gap) / 2 + sum(difference(d) for d in range(gap + 1, gap + 60 + int(60 * scale)))


@each("gap", [0, 1, 3, 20, 100])
@each("scale", [0.3, 1.0, 8.0])
@each(("law", "closed"), [("continuous", behind), ("discrete", behind_discrete)])
def test_two_items_in_closed_form(law, closed, gap, scale):
    wrong = closed(gap, scale)
    assert wrong > 0
    table = rank_law([gap + 2, 2], scale, law)
    np.testing.assert_allclose(table, [[1 - wrong, wrong], [wrong, 1 - wrong]], rtol=ROUNDING)
    sets = top_set_law([gap + 2, 2], scale, 1, law)
    np.testing.assert_allclose([sets[0,], sets[1,]], [1 - wrong, wrong], rtol=ROUNDING)
    assert mean_rank_difference(table, [gap + 2, 2]) == pytest.approx(wrong, rel=ROUNDING)


@cache
def enumerated(scores, scale, reach):
    """Every weak order of the noisy scores, as the signs of all differences, with its probability."""
    n, r = len(scores), np.exp(-1 / scale)
    noise = np.array(list(product(range(-reach, reach + 1), repeat=n)))
    noisy = noise + np.array(scores)
    signs = np.sign(noisy[:, :, None] - noisy[:, None, :]).reshape(-1, n * n)
    _, one, which = np.unique(signs @ 3 ** np.arange(n * n), return_index=True, return_inverse=True)
    mass = np.bincount(which, ((1 - r) / (1 + r) * r ** np.abs(noise)).prod(axis=1))
    return [(signs[i].reshape(n, n), float(m)) for i, m in zip(one, mass, strict=True)]


@each(
    ("scores", "scale", "reach"),
    [((1, 0, 0), 0.7, 20), ((2, 1, -1), 0.5, 15), ((1, 1, 0, 0), 0.3, 8), ((3, 1, 1, 0), 0.3, 8)],
)
@each("k", [1, 2, 3])
def test_all_noise_up_to_a_reach_enumerated(scores, scale, reach, k):
    n = len(scores)
    k = min(k, n - 1)
    table, top = np.zeros((n, n)), dict.fromkeys(combinations(range(n), k), 0.0)
    for signs, mass in enumerated(scores, scale, reach):
        ahead, tied = (signs < 0).sum(axis=1), (signs == 0).sum(axis=1)
        for i in range(n):
            table[i, ahead[i] : ahead[i] + tied[i]] += mass / tied[i]
        sure = {i for i in range(n) if ahead[i] + tied[i] <= k}
        draws = list(combinations([i for i in range(n) if ahead[i] < k and i not in sure], k - len(sure)))
        for rest in draws:
            top[tuple(sorted({*sure, *rest}))] += mass / len(draws)
    assert abs(table.sum() - n) < ROUNDING, "the reach is far enough"
    np.testing.assert_allclose(rank_law(scores, scale, "discrete"), table, atol=ROUNDING)
    assert top_set_law(scores, scale, k, "discrete") == pytest.approx(top, abs=ROUNDING)


def simulated(scores, scale, law, seed, draws=50_000):
    rng = np.random.default_rng(seed)
    if law == "continuous":
        return rng.laplace(scores, scale, (draws, len(scores)))
    success = -np.expm1(-1 / scale)
    noise = rng.geometric(success, (draws, len(scores))) - rng.geometric(success, (draws, len(scores)))
    return noise + scores + rng.random((draws, len(scores))) / 2


def p_value(noisy, table):
    place = places(noisy)
    return min(law_p_value(np.bincount(place[:, i], minlength=len(table)), row) for i, row in enumerate(table)) * len(
        table
    )


@LAWS
def test_simulation_agrees_and_knows_the_scale(law):
    noisy, other = simulated(SCORES, 0.8, law, seed=21), {"continuous": "discrete", "discrete": "continuous"}[law]
    assert p_value(noisy, rank_law(SCORES, 0.8, law)) > ALARM
    assert p_value(noisy, rank_law(SCORES, 0.9, law)) < ALARM
    assert p_value(noisy, rank_law(SCORES, 0.8, other)) < ALARM
    top = top_set_law(SCORES, 0.8, 2, law)
    order = np.sort(np.argsort(-noisy, axis=1)[:, :2], axis=1)
    counts = [int((order == chosen).all(axis=1).sum()) for chosen in top]
    assert law_p_value(counts, list(top.values())) > ALARM


@LAWS
@each("scores", [SCORES, np.zeros(6), np.arange(8.0) ** 2])
@each("scale", [0.5, 5.0])
def test_doubly_stochastic_and_top_sets_consistent(scores, scale, law):
    n = len(scores)
    table = rank_law(scores, scale, law)
    assert (table >= 0).all()
    np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
    for k in (1, 2, n - 1):
        top = top_set_law(scores, scale, k, law)
        assert list(top) == list(combinations(range(n), k))
        assert sum(top.values()) == pytest.approx(1, abs=1e-12)
        member = [sum(p for chosen, p in top.items() if i in chosen) for i in range(n)]
        np.testing.assert_allclose(member, table[:, :k].sum(axis=1), rtol=ROUNDING)
    np.testing.assert_allclose(
        [top[tuple(j for j in range(n) if j != i)] for i in range(n)], table[:, -1], rtol=ROUNDING
    )


@LAWS
def test_invariances(law):
    scores = np.array(SCORES)
    table = rank_law(scores, 1.5, law)
    order = [3, 0, 4, 2, 1]
    np.testing.assert_allclose(rank_law(scores[order], 1.5, law), table[order], rtol=ROUNDING)
    np.testing.assert_allclose(rank_law(scores / 4, 1.5 / 4, law, grain=1 / 4), table, rtol=ROUNDING)
    np.testing.assert_allclose(rank_law(-scores, 1.5, law), table[:, ::-1], rtol=ROUNDING)
    np.testing.assert_allclose(table[1], table[2], rtol=ROUNDING)


@LAWS
@each("shift", [-16, 2**17, 2**27, 2**40])
def test_only_differences_matter(shift, law):
    """Shifts are exact in floating point; a hundred million comparisons give scores about this great."""
    scores = np.array([60.0, 58.0, 0.0])
    for k in (1, 2):
        here, there = (list(top_set_law(s, 1.5, k, law).values()) for s in (scores, scores + shift))
        np.testing.assert_allclose(there, here, rtol=ROUNDING)


@LAWS
def test_ends(law):
    np.testing.assert_allclose(rank_law(np.arange(3), 1e-2, law), np.eye(3)[::-1], atol=1e-12)
    np.testing.assert_allclose(rank_law([2, 2, 2, 2], 3.0, law), 0.25, rtol=ROUNDING)
    small, great = (rank_law([0, 1, 2], scale, law)[2, 0] for scale in (0.5, 50.0))
    assert small > 0.8 > 0.4 > great > 1 / 3


def test_a_finer_grain_tends_to_the_continuous_law():
    scores, target = [2.0, 1.0, 0.0], rank_law([2.0, 1.0, 0.0], 0.8)
    gaps = [np.abs(rank_law(scores, 0.8, "discrete", grain) - target).max() for grain in (1, 1 / 2, 1 / 4, 1 / 8)]
    assert (np.diff(gaps) < 0).all()
    assert gaps[-1] < gaps[0] / 30


def test_mean_rank_difference_over_all_orders():
    rng = np.random.default_rng(0)
    scores, noisy = np.array([4.0, 9.0, 1.0, 6.0]), rng.normal(size=(50, 4))
    table = np.array([np.bincount(column, minlength=4) / 50 for column in places(noisy).T])
    one_by_one = np.mean([np.abs(stats.rankdata(-row) - stats.rankdata(-scores)).mean() for row in noisy])
    assert mean_rank_difference(table, scores) == pytest.approx(one_by_one, rel=1e-12)


@pytest.mark.parametrize("dtype", ["f8", "i8", "u1", "u8"])
def test_places_of_any_number_type(dtype):
    assert places(np.array([[1, 0, 7, 1], [0, 0, 1, 2]], dtype)).tolist() == [[1, 3, 0, 2], [2, 3, 1, 0]]


def test_places_of_the_least_integer():
    assert places(np.array([-128, 5], np.int8)).tolist() == [1, 0]


@each(
    ("change", "words"),
    [
        ({"scores": [1.0]}, ["scores", "at least two"]),
        ({"scores": [1.0, np.nan]}, ["scores", "at least two finite"]),
        ({"scores": [[1.0, 2.0]]}, ["scores", "at least two finite"]),
        ({"scale": 0.0}, ["scale = 0.0", "above 0"]),
        ({"scale": np.inf}, ["scale = inf"]),
        ({"grain": -1.0}, ["grain = -1.0"]),
        ({"law": "normal"}, ["law = 'normal'", "'continuous', 'discrete'"]),
        ({"scores": [1.0, 0.25], "law": "discrete", "grain": 0.5}, ["scores", "grain = 0.5"]),
        ({"k": 0}, ["k = 0", "1 .. 2"]),
        ({"k": 3}, ["k = 3", "1 .. 2"]),
    ],
)
def test_refuses(change, words):
    given = {"scores": [2.0, 1.0, 0.0], "scale": 1.0} | change
    with refused(*words):
        top_set_law(**({"k": 1} | given))
    if "k" not in change:
        with refused(*words):
            rank_law(**given)
