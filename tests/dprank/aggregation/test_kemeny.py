"""Exact: against all orders, and one solver against the other."""

import pickle

import numpy as np
import pytest
from checks import each, kemeny_costs, refused

from dprank.aggregation import kemeny as module
from dprank.aggregation.kemeny import KemenyTimeout, kemeny
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions, shrink
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows

METHODS = ("auto", "subsets", "integer")


def cheapest(w):
    return kemeny_costs(w).min()


def complete(upper):
    """A matrix of fractions with this upper triangle."""
    upper = np.triu(upper, 1)
    return upper + np.tril(1 - upper.T, -1)


def cycle(m):
    """Item i beats the next (m - 1) // 2 items round the circle."""
    ahead = (np.arange(m) - np.arange(m)[:, None]) % m
    return complete((ahead <= (m - 1) // 2).astype(float))


def instance(kind, m, seed=0):
    rng = np.random.default_rng([seed, m])
    if kind == "random":
        return complete(rng.random((m, m)))
    if kind == "tied":
        return complete(rng.integers(0, 3, (m, m)) / 2)
    if kind == "all tied":
        return complete(np.full((m, m), 0.5))
    if kind == "cyclic":
        return cycle(m)[np.ix_(*[rng.permutation(m)] * 2)]
    votes = Mallows.of_phi(m, 0.8).sample(9, rng=rng, centre=rng.permutation(m))
    w = pairwise_fractions(Rankings(votes, range(m)))
    return shrink(w + rng.normal(0, 0.4, (m, m))) if kind == "noisy" else w


@each("kind", ["random", "tied", "all tied", "cyclic", "votes", "noisy"])
@pytest.mark.slow
def test_no_order_is_cheaper(kind):
    for m in (2, 3, 4, 5, 6):
        for seed in range(1 if kind == "all tied" else 4):
            w = instance(kind, m, seed)
            least = cheapest(w)
            for method in METHODS:
                result = kemeny(w, method=method)
                assert result.cost == result.bound == kemeny_score(result.order, w)
                assert result.cost == pytest.approx(least, abs=1e-9)
    w = instance(kind, 7)
    assert [kemeny(w, method=method).cost for method in METHODS] == pytest.approx([cheapest(w)] * 3, abs=1e-9)


@pytest.mark.parametrize("kind", ["random", "tied", "cyclic", "noisy"])
def test_the_two_solvers_agree(kind):
    for m in (9, 12, 15):
        w = instance(kind, m)
        one, other = (kemeny(w, method=method).cost for method in ("subsets", "integer"))
        assert one == pytest.approx(other, abs=1e-6)


def test_a_cycle_costs_what_a_formula_says():
    """Seven items round a circle, each unanimous over the next three: the best order keeps 21 - 6 of the pairs."""
    for method in METHODS:
        assert kemeny(cycle(7), method=method).cost == 6


def test_names_of_items_do_not_matter():
    w = instance("random", 11)
    shuffle = np.random.default_rng(1).permutation(11)
    for method in METHODS:
        assert kemeny(w, method=method).cost == pytest.approx(
            kemeny(w[np.ix_(shuffle, shuffle)], method=method).cost, abs=1e-9
        )
    # the optimum of random numbers is one order alone
    np.testing.assert_array_equal(shuffle[kemeny(w[np.ix_(shuffle, shuffle)]).order], kemeny(w).order)


def test_blocks_are_ordered_by_majorities():
    w = np.full((9, 9), 0.6)
    for first in (0, 3, 6):
        w[first : first + 3, first : first + 3] = cycle(3)
    w = complete(w)
    assert [sorted(block.tolist()) for block in module._blocks(w)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert [len(block) for block in module._blocks(complete(np.full((4, 4), 0.5)))] == [1] * 4
    np.testing.assert_array_equal(kemeny(1 - w.T - np.eye(9)).order // 3, kemeny(w).order // 3)
    np.testing.assert_array_equal(kemeny(w.T).order // 3, kemeny(w).order[::-1] // 3)


def test_many_items_in_small_blocks_need_no_table():
    """A clear majority in every pair: sixty blocks of one."""
    w = complete(np.full((60, 60), 0.75))
    assert kemeny(w, method="subsets").order.tolist() == list(range(60))


def test_a_signal_among_forty_items_is_found():
    w = shrink(instance("votes", 40) + np.random.default_rng(2).normal(0, 0.2, (40, 40)))
    assert max(map(len, module._blocks(w))) > 20
    result = kemeny(w, time_limit=60)
    relaxed = module._Relaxation(w)
    low = np.zeros(len(relaxed.costs), bool)
    bound, _, _ = relaxed.solve(low, ~low, np.inf, np.inf)
    assert bound <= result.cost + 1e-9 <= 1.01 * bound


@pytest.mark.parametrize("limit", [1e-9, 0.3])
@pytest.mark.slow
def test_time_is_up(limit):
    w = instance("random", 60)
    with pytest.raises(KemenyTimeout, match=r"no proof of optimality within .* s; `order`") as caught:
        kemeny(w, time_limit=limit)
    late = caught.value
    assert "\n" not in str(late)
    assert late.cost == kemeny_score(late.order, w)
    assert np.minimum(w, w.T).sum() / 2 - 1e-9 <= late.bound < late.cost


def test_time_left_over_is_not_used():
    assert kemeny(instance("random", 8), method="integer", time_limit=100).cost > 0


@pytest.mark.parametrize("broken", ["no triangle", "no last item", "weak blocks"])
def test_a_broken_programme_is_found_out(broken, monkeypatch):
    w = cycle(7)
    method = "subsets"
    if broken == "no triangle":
        monkeypatch.setattr(module, "_violated", lambda x, most: np.empty((0, 3), np.int32))
        with pytest.raises(RuntimeError, match="solves its relaxation but costs more"):
            kemeny(w, method="integer")
        return
    if broken == "no last item":
        true = module._least_costs
        monkeypatch.setattr(module, "_least_costs", lambda w: true(np.where(np.arange(len(w)) == 0, 0, w)))
    else:
        monkeypatch.setattr(module, "_blocks", lambda w: [np.array([i]) for i in np.argsort(w[0])])
    assert kemeny(w, method=method).cost > 6


def half(m, value, i=0, j=1):
    w = np.full((m, m), 0.5)
    w[i, j] = value
    return w


@pytest.mark.parametrize(
    ("w", "words"),
    [
        pytest.param(half(3, 1.25), ["w[0, 1]", "[0, 1]"], id="above-one"),
        pytest.param(half(3, -0.1, 2, 0), ["w[2, 0]", "[0, 1]"], id="negative"),
        pytest.param(half(3, 0.75), ["w[0, 1] + w[1, 0]", "sum to 1"], id="sum"),
        pytest.param(half(3, np.nan), ["w[0, 1]", "finite"], id="nan"),
        pytest.param([[0.0]], ["shape (1, 1)", "two items"], id="one-item"),
        pytest.param(np.zeros((2, 3)), ["shape (2, 3)", "square"], id="oblong"),
        pytest.param([[0, 1], [0]], ["no matrix"], id="ragged"),
    ],
)
def test_refuses_what_is_no_matrix_of_fractions(w, words):
    with refused(*words):
        kemeny(w)


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"method": "brute"}, ["method = 'brute'", "'auto', 'subsets', 'integer'"]),
        ({"time_limit": 0}, ["time_limit = 0", "above 0"]),
        ({"time_limit": True}, ["time_limit = True"]),
        ({"time_limit": np.nan}, ["time_limit = nan"]),
    ],
)
def test_refuses_bad_keywords(keywords, words):
    with refused(*words):
        kemeny(half(3, 0.5), **keywords)


def test_subsets_have_a_limit():
    with refused("method = 'subsets' for a block of 27 items", "at most 26"):
        kemeny(cycle(27), method="subsets")


def test_a_timeout_comes_back_from_another_process():
    late = KemenyTimeout(1.5, np.array([1, 0]), 2.0, 1.0)
    back = pickle.loads(pickle.dumps(late))
    assert (str(back), back.order.tolist(), back.cost, back.bound) == (str(late), [1, 0], 2.0, 1.0)
