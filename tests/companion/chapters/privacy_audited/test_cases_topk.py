"""Exact laws of selections against others, exhaustion, and releases. A right law fails a test with chance ALARM."""

from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from checks import each, law_p_value
from scipy import integrate
from set_laws import order_law_of_three, rounds_law, set_law

from companion.chapters.privacy_audited.cases.topk import cases, comparisons_of, lows_rise
from dprank.pairwise.rank_law import top_set_law
from dprank.privacy.divergence import pair_of
from dprank.privacy.laws import exact, features, released, sample
from dprank.release import Selection
from dprank.topk import Oneshot, Peeling, PrivateRankCentrality
from dprank.topk.curve import Types, pair_law, worst_pair
from dprank.topk.list_law import list_chances

ALARM = 1e-6
#: Rounding of quadratures, relative.
ROUNDING = 1e-9
CASES = cache(lambda: {case.name: case for case in cases()})
NOISES = ["laplace", "gumbel", "exponential"]
DELTAS = [0.0, 0.01, 0.2]


def test_pure_promises_are_attained():
    worst = {}
    for case in CASES().values():
        mechanism, promise = case.mechanism, case.mechanism.guarantee
        if promise.delta == 0 and not isinstance(mechanism, PrivateRankCentrality):
            key = type(mechanism).__name__, getattr(mechanism, "noise", ""), mechanism.adjacency
            worst[key] = max(worst.get(key, 0.0), case.exact_epsilon() / promise.epsilon)
    assert len(worst) == 14
    assert min(worst.values()) > 0.99


def worst_counts(mechanism, top):
    """Largest loss of all counts of three items up to `top` that one record can turn into each other.

    Only their differences count, items have no names, and the loss is that of either direction.
    """
    pairs = set()
    for data in combinations_with_replacement(range(top + 1), 3):
        for move in product((-1, 0, 1), repeat=3):
            other = [value + moved for value, moved in zip(data, move, strict=True)]
            if any(move) and min(other) >= 0 and max(other) <= top:
                low = min(*data, *other)
                there = sorted((x - low, y - low) for x, y in zip(data, other, strict=True))
                pairs.add(min(tuple(there), tuple(sorted((y, x) for x, y in there))))
    return max(exact(mechanism, *map(np.array, zip(*pair, strict=True))).epsilon(0.0) for pair in pairs)


@each("case", lambda: [case for name, case in CASES().items() if "counts up to 6" in name])
@pytest.mark.slow
def test_no_counts_of_three_items_lose_more(case):
    quick = case.mechanism.noise == "gumbel" or not getattr(case.mechanism, "ordered", True)
    worst = worst_counts(case.mechanism, 6 if quick else 3)  # of nested integrals a corner of it
    assert worst <= case.exact_epsilon() * (1 + ROUNDING)
    assert not quick or worst == pytest.approx(case.exact_epsilon(), rel=ROUNDING)


def worst_wins(mechanism, delta):
    """Largest loss of all data on the graph."""
    samples, edges = mechanism.samples, len(mechanism.edges)
    scores = cache(lambda wins: mechanism.scores(np.array(wins) / samples))
    selection, worst = Oneshot(mechanism.k, mechanism.scale), 0.0
    for wins in product(range(samples + 1), repeat=edges):
        for edge in range(edges):
            if wins[edge] < samples:
                more = tuple(won + (at == edge) for at, won in enumerate(wins))
                worst = max(worst, exact(selection, scores(wins), scores(more)).epsilon(delta))
    return worst


@each("case", lambda: [case for name, case in CASES().items() if "Centrality" in name])
@pytest.mark.slow
def test_no_data_on_the_graph_lose_more(case):
    assert case.exact_epsilon() == pytest.approx(worst_wins(case.mechanism, case.delta), rel=ROUNDING)


@each("noise", ["laplace", "gumbel"])
@pytest.mark.slow
def test_a_climbed_pair_is_spelled_out_item_by_item(noise):
    case = CASES()[f"Oneshot, {noise}, delta = 0.05"]
    found = worst_pair(12, 24, case.mechanism.scale, delta=case.delta, noise=noise)
    assert len(case.data) == 24
    assert case.exact_epsilon() == pytest.approx(found.value, rel=1e-6)


def test_approximate_rounds_lose_most_where_it_was_found():
    case = CASES()["Peeling, gumbel, zcdp, delta = 0.05"]
    shapes = (shape for shape in product(range(1, 8), (1, 2, 4, 8), range(-4, 4)) if sum(shape[:2]) > case.mechanism.k)
    pairs = (lows_rise(lows, tops, gap * case.mechanism.scale, "replace") for lows, tops, gap in shapes)
    assert case.exact_epsilon() == max(exact(case.mechanism, *pair).epsilon(case.delta) for pair in pairs)


@each("noise", NOISES)
@each("largest", [True, False])
def test_sets_lists_and_rounds_are_those_of_other_laws(noise, largest):
    data, other, scale = np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.0, 4.0]), 1.7
    sign = 1 if largest else -1
    for mechanism, law in (
        (Oneshot(2, scale, noise, largest=largest), lambda x: set_law(x, 2, scale, noise)),
        (Oneshot(2, scale, noise, largest=largest, ordered=True), lambda x: order_law_of_three(x, scale, noise)),
        (Peeling(2, scale, noise, largest=largest), lambda x: rounds_law(x, 2, scale, noise)),
    ):
        here, there = exact(mechanism, data, other), pair_of(law(sign * data), law(sign * other))
        for delta in DELTAS:
            assert here.epsilon(delta) == pytest.approx(there.epsilon(delta), abs=1e-9)


@each("noise", NOISES)
def test_types_spare_work_and_change_nothing(noise):
    """Items that are all told apart give the same as their types."""
    data, other = lows_rise(3, 2, 2.0, "replace")
    apart = 1e-12 * np.arange(5)
    for mechanism in (Oneshot(2, 1.5, noise), Peeling(2, 1.5, noise)):
        types, items = exact(mechanism, data, other), exact(mechanism, data + apart, other + apart)
        assert len(types.log_p) < len(items.log_p)
        for delta in DELTAS:
            assert types.epsilon(delta) == pytest.approx(items.epsilon(delta), abs=1e-9)


def test_one_value_beside_its_item_by_integration():
    """Delta of item and value of the larger of two: an integral over the value for either item."""
    mechanism, data, other = Oneshot(1, 2.0, value_scale=3.0), np.array([0.0, 1.0]), np.array([1.0, 0.0])
    chances = [[*top_set_law(x, 2.0, 1).values()] for x in (data, other)]
    law = exact(mechanism, data, other)
    for epsilon in (0.0, 0.3, 0.6):

        def excess(y, item, epsilon=epsilon):
            tails = [np.exp(-abs(y - x[item]) / 3) / 6 for x in (data, other)]
            return max(chances[0][item] * tails[0] - np.exp(epsilon) * chances[1][item] * tails[1], 0.0)

        parts = product((0, 1), ((-90, 0), (0, 1), (1, 90)))
        delta = sum(integrate.quad(excess, *ends, args=(item,), limit=200)[0] for item, ends in parts)
        assert float(law.delta(epsilon)) == pytest.approx(delta, abs=1e-7)
        assert float(law.delta(epsilon)) <= delta + 1e-9
    pure = np.abs(np.log(np.divide(*chances))).max() + 1 / 3
    assert law.epsilon(0.0) == pytest.approx(pure, rel=1e-12)


def test_all_items_alike_are_one_class():
    law = pair_law(Types((4,), (1.0,), (2.0,)), 2, 1.0)
    assert len(law.log_p) == 1
    assert law.epsilon(0.0) < 1e-12
    assert exact(Peeling(2, 1.0, "laplace"), np.zeros(4), np.ones(4)).epsilon(0.0) < 1e-12


DRAWN = [
    *(Oneshot(2, 1.5, noise, n_items=4, ordered=ordered) for noise in NOISES for ordered in (False, True)),
    Oneshot(2, 1.5, "exponential", n_items=4, largest=False),
    *(Peeling(2, 1.5, noise, n_items=4) for noise in NOISES),
    Peeling(2, 1.5, "exponential", n_items=4, largest=False),
]


@each("mechanism", DRAWN)
@pytest.mark.slow
def test_samples_and_releases_have_the_exact_law(mechanism):
    data, m = np.array([0.0, 1.0, 1.5, 3.0]), 4
    law = pair_chances(mechanism, data)
    for draw, size in ((sample, 20_000), (released, 2_000)):
        seen = draw(mechanism, data, size, np.random.default_rng(3)).astype(int)
        counts = np.bincount(seen @ [m, 1], minlength=m * m)
        assert law_p_value(counts[list(law)], [*law.values()]) > ALARM
        assert counts[list(law)].sum() == size


def pair_chances(mechanism, data):
    """Probability of every published pair of codes, best (or first) code times 4 plus the other."""
    x = data if mechanism.largest else -data
    if isinstance(mechanism, Peeling):
        law = rounds_law(x, 2, mechanism.scale, mechanism.noise)
    elif mechanism.ordered:
        codes = np.array([(a, b) for a, b in product(range(4), repeat=2) if a != b])
        law = dict(zip(map(tuple, codes), list_chances(x / mechanism.scale, codes, mechanism.noise), strict=True))
    else:
        law = set_law(x, 2, mechanism.scale, mechanism.noise)
    return {4 * a + b: p for (a, b), p in law.items()}


@pytest.mark.slow
def test_sampled_values_are_as_the_released_ones():
    mechanism, data = Oneshot(2, 1.5, value_scale=2.0, n_items=3, largest=False), np.array([0.0, 4.0, 1.0])
    for draw, size in ((sample, 100_000), (released, 5_000)):
        rows = draw(mechanism, data, size, np.random.default_rng(4))
        off = rows[:, 2:] - data[rows[:, :2].astype(int)]
        # five deviations of the mean of the absolute noise
        assert abs(np.abs(off).mean() - 2.0) < 5 * 2.0 / np.sqrt(off.size)
        assert abs(off.mean()) < 5 * 2.0 * np.sqrt(2 / off.size)
        assert (rows[:, 0] < rows[:, 1]).all()


@pytest.mark.slow
def test_sampled_rank_centrality_is_as_released():
    mechanism = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=2)
    data = comparisons_of(mechanism, (0, 1, 2))
    assert mechanism.shares(data).tolist() == [0.0, 0.5, 1.0]
    law = [*top_set_law(mechanism.scores(mechanism.shares(data)), mechanism.scale, 1).values()]
    for draw, size in ((sample, 100_000), (released, 1_000)):
        seen = draw(mechanism, data, size, np.random.default_rng(5))
        assert law_p_value(np.bincount(seen[:, 0].astype(int), minlength=3), law) > ALARM


def test_features_are_all_that_is_published():
    assert features(Selection(np.array([3, 1]), None)).tolist() == [3, 1]
    assert features(Selection(np.array([3, 1]), np.array([0.5, 7.0]))).tolist() == [3, 1, 0.5, 7.0]
    named, other = (features(Selection(np.array([name, "b"], object), None)) for name in ("a", "c"))
    assert named[1] == other[1]
    assert named[0] != other[0]
