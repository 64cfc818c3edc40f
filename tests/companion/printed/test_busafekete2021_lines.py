"""The lines that chapters 5 and 6 show, against the mechanisms' exact laws.

What is drawn is compared by binomial or chi-square tests that a right algorithm fails with chance 1e-6 each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, laplace

from companion.printed import busafekete2021 as paper
from companion.printed import busafekete2021_lines as lines
from dprank.data.rankings import Rankings
from dprank.models.mallows import Mallows, theta_at

ALARM = 1e-6
RUNS = 8_000
#: Six rankings of five items, places in rows, that agree a little.
PLACES = np.array(
    [[0, 1, 2, 3, 4], [1, 0, 2, 3, 4], [0, 1, 3, 2, 4], [4, 3, 2, 1, 0], [0, 2, 1, 3, 4], [0, 1, 2, 4, 3]]
)


def sums(places: np.ndarray) -> np.ndarray:
    """Pair sums for each of the equally likely orders of the items, shape (orders, pairs)."""
    k, m = places.shape
    pairs = np.array([it[: m - m % 2] for it in permutations(range(m))]).reshape(-1, 2, m // 2)
    before = (places[:, pairs[:, 0]] < places[:, pairs[:, 1]]).sum(axis=0)
    return np.asarray(2 * before - k)


def assert_accepts(draw: Callable[[np.random.Generator], str], chance: float, seed: int) -> None:
    """The answer is "accept" with that chance, strictly between 0 and 1, and else "reject"."""
    rng = np.random.default_rng(seed)
    seen = Counter(str(draw(rng)) for _ in range(RUNS))
    assert 0.02 < chance < 0.98
    assert seen["accept"] + seen["reject"] == RUNS
    assert binomtest(seen["accept"], RUNS, chance).pvalue > ALARM


@pytest.mark.parametrize("m", [2, 5, 40])
def test_lines_2_and_3_are_the_distance_and_its_inverse(m: int) -> None:
    assert np.isclose(lines.distance(0.9, m), Mallows.of_phi(m, 0.9).total_variation())
    assert np.isclose(lines.phi_at(0.3, m), np.exp(-theta_at(m, 0.3)))


def test_algorithm_1_decides_as_the_mechanism_does() -> None:
    delta, first = 0.15, np.arange(6)
    test = paper.two_sample(6, delta)
    assert test.applies(0.4)
    seen = Counter[str]()
    for other in permutations(range(6)):
        rows = Rankings(np.array([first, other]), list("abcdef"))
        answer = lines.two_samples(first, np.array(other), 0.4, delta)
        assert (answer == "reject") == test.test(rows).reject
        seen[answer] += 1
    assert len(seen) == 2
    for m, epsilon in ((40, 0.5), (100, 0.5), (8, 0.9)):
        stopped = lines.two_samples(np.arange(m), np.arange(m), epsilon, 0.05) == "too close to 1"
        assert stopped != paper.two_sample(m, 0.05).applies(epsilon)


@pytest.mark.parametrize(("m", "epsilon", "delta"), [(10, 0.5, 0.05), (30, 0.2, 0.1), (100, 0.9, 0.01)])
def test_algorithm_2_takes_as_many_rankings(m: int, epsilon: float, delta: float) -> None:
    assert lines.unif_samples(m, epsilon, delta) == paper.unif_samples(m, theta_at(m, epsilon), delta)


def test_signs_are_of_a_random_pairing() -> None:
    rng = np.random.default_rng(41)
    seen = Counter(tuple(map(int, lines.pair_signs(PLACES[3:4, :4], rng)[0])) for _ in range(RUNS))
    law = Counter(tuple(map(int, it)) for it in sums(PLACES[3:4, :4]))
    expected = np.array([law[it] for it in sorted(law)]) * RUNS / law.total()
    assert chisquare([seen[it] for it in sorted(law)], expected).pvalue > ALARM


def unif_accepts(places: np.ndarray, delta: float) -> float:
    k, m = places.shape
    return float(((sums(places) ** 2).sum(axis=1) / k < paper.unif(m, delta).threshold).mean())


def test_algorithm_2_accepts_as_often() -> None:
    chance = unif_accepts(PLACES, 0.75)
    assert_accepts(lambda rng: lines.unif(PLACES, 0.75, rng), chance, 42)


def test_algorithm_3_accepts_as_often() -> None:
    """Where coin, gate and ramp all have their say."""
    delta, epsilon, mu = 0.2, 1.0, 1.0
    test = paper.trun(5, 6, epsilon, delta, mu).mechanism
    places = PLACES.copy()
    places[5] = places[3]
    for data in (PLACES, places):
        assert_accepts(
            lambda rng, data=data: lines.trun(data, delta, epsilon, mu, rng),
            float(test.accepts(sums(data)).mean()),
            43,
        )


def test_algorithm_4_accepts_as_often() -> None:
    printed = paper.laplace_unif(5, 6, 4.0, 0.9).mechanism
    y = (sums(PLACES) ** 2).sum(axis=1) / 6
    chance = float(laplace.cdf((printed.threshold - y) * 4 / 10).mean())
    assert_accepts(lambda rng: lines.laplace_unif(PLACES, 0.9, 4.0, rng), chance, 44)


def test_bucketing_publishes_one_of_the_answers() -> None:
    batches = np.array_split(PLACES, 2)
    chance = float(np.mean([unif_accepts(batch, 0.9) for batch in batches]))
    assert_accepts(lambda rng: lines.bunif(PLACES, 0.9, 0.5, rng), chance, 45)


def test_algorithm_6_is_randomised_response() -> None:
    mechanism = paper.local_pairs(4, 1.5).mechanism
    kept = (1 + mechanism.shrinkage) / 2
    assert np.isclose(kept, 1 / (1 + np.exp(-2 * 1.5 / 4)))
    rng = np.random.default_rng(46)
    said = (lines.peer(np.array([2, 0, 1, 3]), [0, 1], [1, 3], 1.5, rng) for _ in range(RUNS))
    seen = Counter(tuple(map(int, it)) for it in said)
    outputs = list(product((-1, 1), repeat=2))
    law = np.array([(1 - kept if a > 0 else kept) * (kept if b > 0 else 1 - kept) for a, b in outputs])
    assert chisquare([seen[it] for it in outputs], RUNS * law).pvalue > ALARM


def test_algorithm_5_accepts_as_often() -> None:
    voters, delta = PLACES[:3, :4], 0.9
    kept = 1 / (1 + np.exp(-2 * 2.0 / 4))
    threshold = paper.local_pairs(4, 2.0, delta).mechanism.threshold(3)
    chance, pairings = 0.0, list(permutations(range(4)))
    for order in pairings:
        first, second = np.reshape(order, (2, 2))
        signs = np.where(voters[:, first] < voters[:, second], 1, -1)
        for flips in product((1, -1), repeat=6):
            turned = np.reshape(flips, (3, 2))
            y = ((signs * turned).sum(axis=0) ** 2).sum() / 3
            chance += np.prod(np.where(turned > 0, kept, 1 - kept)) * (y < threshold)
    assert_accepts(lambda rng: lines.curator(voters, delta, 2.0, rng), chance / len(pairings), 47)
