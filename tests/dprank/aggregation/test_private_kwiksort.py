"""Private KwikSort. Statistical tests have fixed seeds and a false-alarm rate of 1e-6 each."""

import math
from dataclasses import replace

import numpy as np
import pytest
from checks import HARDLY, certified_epsilon, each, law_p_value, refused

from dprank.aggregation.kwiksort import comparisons_law
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.data.rankings import Rankings
from dprank.privacy.gaussian import gaussian_epsilon
from dprank.privacy.noise import SECURE

FALSE_ALARM = 1e-6


def names(m):
    return [str(i) for i in range(m)]


def agreed(m, voters=1):
    return Rankings(np.tile(np.arange(m), (voters, 1)), names(m))


def quiet(m, queries):
    """Without noise."""
    fallback = None if queries == math.comb(m, 2) else NoisyMatrix(m, HARDLY)
    return PrivateKwikSort(m, queries, HARDLY, fallback)


@pytest.mark.parametrize("m", [2, 3, 9])
def test_without_noise_it_sorts(m):
    rng = np.random.default_rng(1)
    for _ in range(20):
        hidden = rng.permutation(m)
        data = Rankings.from_orders([hidden], names(m))
        assert quiet(m, math.comb(m, 2)).release(data, rng).order.tolist() == hidden.tolist()


@pytest.mark.slow
def test_it_falls_back_as_often_as_quicksort_wants_more(monkeypatch):
    m, queries, runs = 7, 14, 4000
    fell = []

    def fall_back(self, data, rng):
        fell.append(1)
        return agreed_order(data)

    monkeypatch.setattr(NoisyMatrix, "release", fall_back)
    mechanism, rng, data = quiet(m, queries), np.random.default_rng(2), agreed(m)
    for _ in range(runs):
        mechanism.release(data, rng)
    chance = comparisons_law(m)[queries + 1 :].sum()
    assert 0.05 < chance < 0.95
    assert law_p_value([len(fell), runs - len(fell)], [chance, 1 - chance]) > FALSE_ALARM


@pytest.mark.parametrize("m", [3, 6])
@pytest.mark.slow
def test_ties_are_a_tournament_and_fair(m):
    """Two opposite voters, too little noise for one: any order, found with QuickSort's comparisons."""
    data = Rankings([np.arange(m), np.arange(m)[::-1]], names(m))
    runs, limit = 6000, {3: 2, 6: 11}[m]
    mechanism, rng = PrivateKwikSort(m, limit, 1e-3, NoisyMatrix(m, 1.0)), np.random.default_rng(5)
    orders = [mechanism._sort(np.zeros((m, m)), rng) for _ in range(runs)]
    fell = sum(order is None for order in orders)
    chance = comparisons_law(m)[limit + 1 :].sum()
    assert law_p_value([fell, runs - fell], [chance, 1 - chance]) > FALSE_ALARM
    first = np.bincount([order[0] for order in orders if order is not None], minlength=m)
    assert law_p_value(first, np.full(m, 1 / m)) > FALSE_ALARM
    big = PrivateKwikSort.calibrated(n_items=64, epsilon=3000.0)
    data = Rankings([np.arange(64), np.arange(64)[::-1]], names(64))
    assert big.fallback is None or big._sort(np.zeros((64, 64)), np.random.default_rng(6)) is not None
    assert sorted(big.release(data, np.random.default_rng(7)).order) == list(range(64))


def test_nothing_is_spent_where_delta_pays_for_all():
    """Three answers of a voter who turns round, with whole noise: the likelihood ratio depends on the sum of it."""
    mechanism = PrivateKwikSort(3, 3, 0.5, None, "gaussian", delta=0.999)
    assert mechanism.guarantee.epsilon == 0
    x = np.arange(-40, 41)
    law = np.exp(-(x**2) / (2 * 0.5**2))
    three = np.convolve(np.convolve(law, law), law) / law.sum() ** 3
    total = np.arange(-120, 121)
    shifted = three * np.exp((2 * total - 3) / (2 * 0.5**2))
    assert shifted.sum() == pytest.approx(1)
    assert 0.8 < np.abs(three - shifted).sum() / 2 < 0.999


def agreed_order(data):
    released = quiet(2, 1).release(agreed(2), np.random.default_rng(0))
    return replace(released, items=data.items, order=np.arange(data.n_items))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.slow
def test_three_items_have_the_law_of_their_answers(noise):
    """The pivot in the middle decides alone; with three queries nothing else happens."""
    delta = 0.0 if noise == "laplace" else 0.1
    mechanism = PrivateKwikSort(2, 1, 2.0, None, noise, delta=delta, law="continuous")
    rng, runs = np.random.default_rng(3), 1500
    first = sum(mechanism.release(agreed(2, 3), rng).order[0] == 0 for _ in range(runs))
    right = 1 - math.exp(-1.5 / 2) / 2 if noise == "laplace" else 0.5 * math.erfc(-1.5 / 2 / math.sqrt(2))
    assert law_p_value([first, runs - first], [right, 1 - right]) > FALSE_ALARM


@each("law", ["discrete", "continuous"])
@each("delta", [0.0, 1e-6])
@each("m", [2, 3, 9, 40])
@each("adjacency", ["replace", "add_remove"])
def test_calibrated_spends_all_of_its_epsilon_and_no_more(m, delta, law, adjacency):
    mechanism = PrivateKwikSort.calibrated(n_items=m, epsilon=0.7, delta=delta, law=law, adjacency=adjacency)
    assert 0.7 * (1 - 1e-6) < mechanism.guarantee.epsilon <= 0.7
    assert mechanism.guarantee.delta == delta
    assert mechanism.guarantee.adjacency == adjacency


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_planned_split_is_the_best(delta):
    """Against a grid of limits and shares, for the expected scale of what decides."""
    m = 12
    within = np.cumsum(comparisons_law(m))

    def scale(mechanism):
        chance = within[mechanism.queries]
        return (
            mechanism.scale
            if mechanism.fallback is None
            else (chance * mechanism.scale + (1 - chance) * mechanism.fallback.scale)
        )

    best = scale(PrivateKwikSort.calibrated(n_items=m, epsilon=1.0, delta=delta, law="continuous"))
    grid = [
        scale(PrivateKwikSort.calibrated(n_items=m, epsilon=1.0, delta=delta, law="continuous", queries=q, share=share))
        for q in range(30, 66, 3)
        for share in (0.02, 0.05, 0.1, 0.3, 0.5)
    ]
    assert best <= min(grid)
    assert min(grid) < 1.1 * best
    assert best < NoisyMatrix.calibrated(n_items=m, epsilon=1.0, delta=delta, law="continuous").scale


def test_guarantees_compose():
    spare = NoisyMatrix.calibrated(n_items=5, epsilon=0.5)
    assert PrivateKwikSort(5, 7, 14.0, spare).guarantee.epsilon == pytest.approx(1.0, rel=1e-12)
    gauss = NoisyMatrix(5, 20.0, "gaussian", delta=1e-3, law="continuous")
    both = PrivateKwikSort(5, 8, 30.0, gauss, "gaussian", delta=1e-3, law="continuous").guarantee
    assert both.epsilon == pytest.approx(gaussian_epsilon(math.sqrt(8 / 900 + 10 / 400), 1.0, 1e-3), rel=1e-6)
    assert both.delta == 1e-3
    spare = NoisyMatrix.calibrated(n_items=5, epsilon=0.5, law="continuous")
    mixed = PrivateKwikSort(5, 8, 30.0, spare, "gaussian", delta=1e-3, law="continuous").guarantee
    assert mixed.epsilon == pytest.approx(0.5 + gaussian_epsilon(math.sqrt(8) / 30, 1.0, 1e-3), rel=1e-6)
    with refused("scale = 0.0", "above 0"):
        PrivateKwikSort(5, 10, 0.0)


@pytest.mark.slow
def test_an_audit_finds_no_more_than_the_guarantee():
    """And a mutant with half of the noise is caught."""
    right = PrivateKwikSort.calibrated(n_items=3, epsilon=2.0, law="continuous", queries=2, share=0.3)
    runs = 1000

    def audit(mechanism):
        counts = []
        for row in ([0, 1, 2], [2, 1, 0]):
            rng, data = np.random.default_rng(4), Rankings([row], names(3))
            orders = [mechanism.release(data, rng).order for _ in range(runs)]
            counts.append(np.bincount([int(order @ [9, 3, 1]) for order in orders], minlength=25))
        seen = (counts[0] + counts[1]) > 0
        return certified_epsilon(counts[0][seen], counts[1][seen], FALSE_ALARM)

    assert audit(right) <= 2.0
    assert right.fallback is not None
    leaky = replace(right, scale=right.scale / 8, fallback=replace(right.fallback, scale=right.fallback.scale / 8))
    assert audit(leaky) > 2.0


def test_secure_noise():
    pytest.importorskip("opendp")
    order = PrivateKwikSort.calibrated(n_items=4, epsilon=5.0).release(agreed(4, 400), SECURE).order
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    with refused("rng", "SecureSource"):
        PrivateKwikSort.calibrated(n_items=4, epsilon=5.0, law="continuous").release(agreed(4), SECURE)


def test_what_is_refused():
    spare = NoisyMatrix(4, 1.0)
    with refused("queries", "7", "1 to 6"):
        PrivateKwikSort(4, 7, 1.0)
    with refused("fallback", "queries = 5"):
        PrivateKwikSort(4, 5, 1.0)
    with refused("fallback", "queries = 6"):
        PrivateKwikSort(4, 6, 1.0, spare)
    with refused("fallback", "4 items", "n_items = 5"):
        PrivateKwikSort(5, 6, 1.0, spare)
    with refused("delta", "0.1"):
        PrivateKwikSort(4, 6, 1.0, delta=0.1)
    with refused("delta", "0.1", "0.2"):
        gauss = NoisyMatrix(4, 1.0, "gaussian", delta=0.2)
        PrivateKwikSort(4, 5, 1.0, gauss, "gaussian", delta=0.1)
    with refused("noise", "cauchy"):
        PrivateKwikSort(4, 6, 1.0, None, "cauchy")
    with refused("share", "1.5"):
        PrivateKwikSort.calibrated(n_items=4, epsilon=1.0, queries=5, share=1.5)
    with refused("epsilon", "-1"):
        PrivateKwikSort.calibrated(n_items=4, epsilon=-1.0)
    with refused("items", "3", "n_items = 4"):
        quiet(4, 6).release(agreed(3), np.random.default_rng(0))
