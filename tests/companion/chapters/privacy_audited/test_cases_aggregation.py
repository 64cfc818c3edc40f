"""Exact laws against others and releases; the worst neighbours, again. ALARM: the chance that a seed was unlucky."""

from functools import cache, partial
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from checks import each, law_p_value

from companion.chapters.privacy_audited.cases.aggregation import cases, neighbours, unanimous, voters_of
from companion.printed.alabi2022 import corollary_4, corollary_6
from dprank.aggregation import ExponentialMechanism, NoisyMatrix, PrivateBorda, PrivateKwikSort
from dprank.aggregation.kwiksort import before_probabilities, majority
from dprank.aggregation.laws import kwiksort_law, order_law
from dprank.audit.neighbours import RankingNeighbours
from dprank.audit.search import worst
from dprank.data.rankings import Rankings
from dprank.privacy.divergence import pair_of
from dprank.privacy.laws import NoExactRoute, exact, features, released, sample
from dprank.uniformity.optimal_vote import OptimalVote

ALARM = 1e-6
CASES = cache(lambda: {case.name: case for case in cases()})


def loss(mechanism, *pair):
    return exact(mechanism, *pair).epsilon(0)


def test_the_exponential_mechanism_hides_a_voter_worst_in_a_crowd_and_of_two_voters_if_they_agree():
    for adjacency in ("replace", "add_remove"):
        right = ExponentialMechanism.calibrated(n_items=3, epsilon=1.0, adjacency=adjacency)
        losses = [loss(right, *neighbours(adjacency, voters)) for voters in (1, 5, 20, 60)]
        assert (np.diff(losses) > 0).all()
        assert losses[-1] == pytest.approx(right.guarantee.epsilon, rel=1e-4)
        # one of two turns round, or a third joins two who agree
        found = worst(partial(loss, right), profiles(2), RankingNeighbours(adjacency))
        data = neighbours("replace", 2) if adjacency == "replace" else (unanimous(2), unanimous(3))
        assert found.loss == pytest.approx(loss(right, *data))


def bounded():
    """Those of which rho is known."""
    return [name for name in CASES() if "crowd" in name or ("discrete laplace" in name and "Kwik" not in name)]


@each("name", bounded)
def test_no_neighbours_lose_more_than_rho(name):
    case = CASES()[name]
    assert 0 < exact(case.mechanism, case.data, case.other).rho() <= case.mechanism.rho


@pytest.mark.slow
def test_what_is_printed():
    """The order alone never tells as much as the paper's claim, though the answers of a run that falls back may."""
    sorts = [case for case in CASES().values() if case.printed and isinstance(case.mechanism, PrivateKwikSort)]
    assert [case.mechanism.guarantee.epsilon > case.printed for case in sorts] == [False, False, True, True]


@each("adjacency", ["replace", "add_remove"])
@each("delta", [0.0, 0.05])
def test_differences_of_sums_lose_what_the_route_says(delta, adjacency):
    """Their joint law, with the common shift summed out."""
    right = PrivateBorda.calibrated(n_items=3, epsilon=2.0, delta=delta, adjacency=adjacency)
    data, other = neighbours(adjacency, 2)
    reach = round((22 if delta == 0 else 9) * right.scale)
    ahead, grid = np.arange(-reach, reach + 1), np.arange(-2 * reach, 2 * reach + 1)

    def weight(x):
        return np.exp(-abs(x) / right.scale if delta == 0 else -((x / right.scale) ** 2) / 2)

    def table(rows):
        """Of the second sum and of the third, less the first."""
        sums = rows.positions.sum(axis=0).astype(int)
        second, third = (weight(np.add.outer(grid, ahead) + sums[0] - sums[k]) for k in (1, 2))
        return np.einsum("c,cx,cy->xy", weight(grid), second, third).ravel() / weight(grid).sum() ** 3

    tables = [table(rows) for rows in (data, other)]
    law = exact(right, data, other)
    if delta == 0:
        assert np.abs(np.log(tables[0] / tables[1])).max() == pytest.approx(law.epsilon(0), rel=1e-4)
        return
    for epsilon in (0.5, 1.0, 1.5):
        seen = max(np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in (tables, tables[::-1]))
        assert seen == pytest.approx(float(law.delta(epsilon)), rel=1e-6)


def test_kwiksort_of_certain_answers():
    w = np.random.default_rng(3).random((5, 5))
    law = kwiksort_law(majority(w).astype(float))
    assert sum(law.values()) == pytest.approx(1)
    chance = np.zeros((5, 5))
    for (order, _), p in law.items():
        for place, item in enumerate(order):
            chance[item, list(order[place + 1 :])] += p
    np.testing.assert_allclose(chance, before_probabilities(w), atol=1e-12)


FALLBACK = {"queries": 2, "share": 0.5, "rule": "copeland", "adjacency": "add_remove"}
SORTED = {
    "ties": (PrivateKwikSort.calibrated(n_items=3, epsilon=3.0, queries=3), "abc abc cab bca"),
    "fallback": (PrivateKwikSort.calibrated(n_items=3, epsilon=6.0, **FALLBACK), "abc bac cab"),
    "clipped fallback": (corollary_6(3, 2, 6.0, rule="copeland").mechanism, "abc bac"),
}


@each("kind", SORTED)
@pytest.mark.slow
def test_released_orders_have_the_law(kind):
    mechanism, orders = SORTED[kind]
    law, runs = order_law(mechanism, voters_of(orders)), 2000
    for draw in (released, sample):
        drawn = draw(mechanism, voters_of(orders), runs, np.random.default_rng(5))
        counts = [int((drawn == order).all(axis=1).sum()) for order in law]
        assert sum(counts) == runs
        assert law_p_value(counts, list(law.values())) > ALARM


def test_all_of_a_result_is_looked_at():
    rng, data = np.random.default_rng(0), unanimous(3)
    noisy = NoisyMatrix.calibrated(n_items=3, epsilon=1.0).release(data, rng)
    np.testing.assert_array_equal(features(noisy), [*noisy.order, *noisy.margins[[0, 0, 1], [1, 2, 2]]])
    scored = PrivateBorda.calibrated(n_items=3, epsilon=1.0).release(data, rng)
    np.testing.assert_array_equal(features(scored), [*scored.order, *scored.scores])


def profiles(voters):
    """All sets of voters' rankings of three items."""
    return map(rankings, combinations_with_replacement(permutations(range(3)), voters))


def rankings(rows):
    return Rankings(np.array(rows, int).reshape(-1, 3), list("abc"))


def small():
    """Those whose neighbours were all looked at."""
    return [
        name
        for name, case in CASES().items()
        if case.found == "exhausted" and "printed" not in name and not ("Kwik" in name and "discrete" in name)
    ]


@each("name", small)
@pytest.mark.slow
def test_stored_neighbours_are_the_worst(name):
    case, mechanism = CASES()[name], CASES()[name].mechanism
    adjacency = mechanism.guarantee.adjacency

    @cache
    def law(rows):
        return order_law(mechanism, rankings(rows))

    def loss(*pair):
        if isinstance(mechanism, PrivateKwikSort):
            laws = (law(tuple(sorted(map(tuple, data.positions.tolist())))) for data in pair)
            return pair_of(*laws).epsilon(case.delta)
        return exact(mechanism, *pair).epsilon(case.delta)

    # of up to four voters in the search whose finds are stored; where those are three, the whole of it
    most = 3 if isinstance(mechanism, PrivateKwikSort) else 1
    sizes = range(1 if adjacency == "replace" else 0, most + (adjacency == "replace"))
    found = worst(loss, (data for voters in sizes for data in profiles(voters)), RankingNeighbours(adjacency))
    assert found.loss <= case.exact_epsilon() + 1e-12
    if isinstance(mechanism, PrivateKwikSort) and len(case.data) > max(sizes):
        assert found.loss > 0.9 * case.exact_epsilon()
    else:
        assert found.loss == pytest.approx(case.exact_epsilon(), rel=1e-9)


def test_no_law_is_made_up():
    auto = PrivateKwikSort.calibrated(n_items=3, epsilon=1.0, queries=2, share=0.3)
    even = PrivateBorda.calibrated(n_items=4, epsilon=1.0, delta=0.01, adjacency="add_remove")
    for mechanism, why, pair in (
        (corollary_4(3, 1.0, 0.01).mechanism, "clipped", neighbours("replace", 3)),
        (auto, "rule = 'auto'", neighbours("replace", 3)),
        (even, "multiple", neighbours("add_remove", 3, n_items=4)),
    ):
        with pytest.raises(NoExactRoute, match=why):
            exact(mechanism, *pair)


def test_orders_of_many_items_are_not_listed():
    # seven factorial times, each with as many orders, and memory is gone before an answer
    ballots = Rankings([range(9)] * 4, list("abcdefghi"))
    for n_items in (7, 9):
        mechanism = PrivateKwikSort.calibrated(epsilon=1.0, n_items=n_items)
        with pytest.raises(NoExactRoute, match=f"n_items = {n_items}; all ways to sort up to 6"):
            order_law(mechanism, ballots)
    vote = OptimalVote.calibrated(epsilon=1.0, n_items=9, n_voters=400)
    with pytest.raises(NoExactRoute, match="n_items = 9; the pairings of up to 8"):
        exact(vote, ballots, ballots)
