"""What chapters print of Alabi et al. (2022) has the law of the mechanism; a false alarm in a million each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from companion.chapters.private_aggregation.query_budget import by_value_law
from companion.chapters.private_aggregation.reduction_two import kemeny_law, kwiksort_law
from companion.printed import alabi2022_lines as lines
from companion.printed.alabi2022 import plus_chances
from dprank.aggregation import kemeny_score, laws
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.randomisers import ranking_signs

ALARM = 1e-6
RUNS = 6_000
SHARES = np.array([[0.0, 0.56, 0.47], [0.44, 0.0, 0.55], [0.53, 0.45, 0.0]])


def fits(seen: Mapping[Any, int], law: Mapping[Any, float]) -> bool:
    """Whether draws are such as the law makes, by chi-square; rare outcomes together."""
    assert set(seen) <= set(law)
    runs = sum(seen.values())
    rare = [key for key, chance in law.items() if runs * chance < 10]
    cells = [[key] for key in law if key not in rare] + [rare] * bool(rare)
    found = [sum(seen.get(key, 0) for key in cell) for cell in cells]
    expected = np.array([sum(law[key] for key in cell) for cell in cells])
    assert np.isclose(expected.sum(), 1)
    return bool(stats.chisquare(found, runs * expected / expected.sum()).pvalue > ALARM)


def plain(order: Any) -> tuple[int, ...]:
    return tuple(map(int, order))


def test_the_best_order_is_kemenys() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        upper = np.triu(rng.random((5, 5)), 1)
        w = upper + np.tril(1 - upper.T, -1)
        least = min(permutations(range(5)), key=lambda it: lines.cost(it, w))
        assert np.isclose(lines.cost(least, w), kemeny(w).cost)
        assert np.isclose(lines.cost(least, w), kemeny_score(least, w))


def test_noise_is_of_pairs_and_clipped() -> None:
    rng, scale = np.random.default_rng(2), 0.3
    drawn = np.array([lines.noised(SHARES, scale, rng) for _ in range(RUNS)])
    pairs = np.triu_indices(3, 1)
    assert np.allclose(drawn[:, *pairs] + drawn[:, *pairs[::-1]], 1)
    for i, j in zip(*pairs, strict=True):
        law = stats.laplace(SHARES[i, j], scale)
        seen = np.histogram(drawn[:, i, j], [-np.inf, 1e-12, 0.25, 0.5, 0.75, 1 - 1e-12, np.inf])[0]
        chances = np.diff([0, *law.cdf([0, 0.25, 0.5, 0.75, 1]), 1])
        assert stats.chisquare(seen, RUNS * chances).pvalue > ALARM


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_reduction_one_has_the_law_of_kemenys_order(epsilon: float) -> None:
    """So many voters that clipping is not seen: it changes a draw with chance below 1e-9."""
    voters, rng = 1000, np.random.default_rng(3)
    scale = 9 / epsilon
    seen = Counter(plain(lines.reduction_one(SHARES, voters, epsilon, rng)) for _ in range(RUNS))
    assert fits(seen, kemeny_law(voters * (SHARES - 0.5), scale))
    assert not fits(seen, kemeny_law(voters * (SHARES - 0.5), 2 * scale)), "twice the noise is noticed"


def test_algorithm_1_has_the_law_of_kwiksort_on_noisy_answers() -> None:
    """And Reduction II, where it stops, that of Corollary 3 with half of epsilon."""
    voters, q, epsilon, rng = 1000, 2, 1.0, np.random.default_rng(4)
    margins = voters * (SHARES - 0.5)
    law = kwiksort_law(margins, q, q / epsilon)
    stops, seen = law.pop(None), Counter[Any]()
    for _ in range(RUNS):
        try:
            seen[plain(lines.dp_kwiksort(SHARES, np.arange(3), q, q / (epsilon * voters), rng))] += 1
        except LookupError:
            seen[None] += 1
    assert fits(seen, {**law, None: stops})
    last = kemeny_law(margins, 9 / (epsilon / 2))
    both = {order: law.get(order, 0.0) + stops * chance for order, chance in last.items()}
    assert fits(Counter(plain(lines.reduction_two(SHARES, voters, q, epsilon, rng)) for _ in range(RUNS)), both)


class Told:
    """A generator without noise that counts how much was wanted."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.asked = rng, 0

    def choice(self, items: Any) -> Any:
        return self.rng.choice(items)

    def laplace(self, scale: float, size: int) -> Any:
        self.asked += size
        return np.zeros(size)


def test_the_counter_of_algorithm_1_is_handed_down() -> None:
    """So six answers are given where five are paid for; chances are exact."""
    agreed, rng, seen = np.triu(np.ones((5, 5)), 1), np.random.default_rng(5), Counter[Any]()
    for _ in range(RUNS):
        told = Told(rng)
        try:
            lines.dp_kwiksort(agreed, np.arange(5), 5, 1.0, told)
            seen[told.asked] += 1
        except LookupError:
            seen[None] += 1
    law = {asked: float(chance) for asked, chance in enumerate(by_value_law(5, 5)) if chance}
    assert max(law) == 6
    assert fits(seen, {**law, None: 1 - sum(law.values())})


def test_theorem_8_reports_lie_on_the_voters_side_as_often_as_epsilon_allows() -> None:
    epsilon, rng = 1.2, np.random.default_rng(6)
    signs = np.tile([1.0, -1, 1, 1, -1, 1], (RUNS, 1))
    reports = lines.directions(signs, epsilon, rng)
    along = (reports * signs).sum(axis=1) / np.sqrt(6)
    assert np.allclose(np.linalg.norm(reports, axis=1), 1)
    honest = int((along > 0).sum())
    assert stats.binomtest(honest, RUNS, 1 / (1 + np.exp(-epsilon))).pvalue > ALARM
    assert stats.kstest(along**2, stats.beta(0.5, 2.5).cdf).pvalue > ALARM
    across = reports - along[:, None] * signs / np.sqrt(6)
    assert np.abs(across.mean(axis=0)).max() < 6 / np.sqrt(RUNS)


def test_theorem_8_shares_have_the_mean_and_variance_of_the_sphere() -> None:
    epsilon, voters, rng = 1.0, 400, np.random.default_rng(7)
    signs = ranking_signs(np.tile(np.arange(4), (voters, 1)))
    found = np.array([lines.all_shares(lines.directions(signs, epsilon, rng), epsilon) for _ in range(2000)])
    deviation = np.sqrt(VectorReport.calibrated(epsilon=epsilon, n_items=4).variance / voters) / 2
    z = (found - 1) / deviation
    assert np.abs(z.mean(axis=0)).max() < 5.5 / np.sqrt(len(z))
    assert np.abs(z.var(axis=0) - 1).max() < 5.5 * np.sqrt(2 / len(z))


@pytest.mark.parametrize("yes", [0, 4, 10])
def test_algorithm_2_has_the_law_of_its_reports(yes: int) -> None:
    """Ten voters a block, of whom so many say yes."""
    places = np.tile([[1, 0, 2]], (30, 1))
    places[:yes] = [0, 1, 2]
    q, epsilon, rng = 6, 2.0, np.random.default_rng(8)
    blocks, ell = np.arange(30).reshape(3, 10), np.zeros((3, 3), int)
    drawn = [
        lines.answer(places, 0, 1, q, epsilon, blocks, ell, np.zeros(3), rng, counted="questions") for _ in range(RUNS)
    ]
    no_plus, yes_plus = plus_chances(0.5, "printed")
    law = np.convolve(
        stats.binom.pmf(range(yes + 1), yes, yes_plus), stats.binom.pmf(range(11 - yes), 10 - yes, no_plus)
    )
    plus = (np.array(drawn, float) * 10 * np.tanh(0.25) + 10) / 2
    assert np.allclose(plus, plus.round())
    assert fits(Counter(plus.round().astype(int).tolist()), dict(enumerate(law)))


def test_algorithm_2_answers_as_often_as_its_counter_says() -> None:
    """Four questions a block by the text, and none by the lines, once a block has more voters than that."""
    places, rng = np.tile(np.arange(3), (30, 1)), np.random.default_rng(9)
    blocks, ell = np.arange(30).reshape(3, 10), np.zeros((3, 3), int)
    for counted, times in (("questions", 4), ("voters", 0)):
        c = np.zeros(3)
        told = [lines.answer(places, 0, 1, 6, 1.0, blocks, ell, c, rng, counted) for _ in range(6)]
        assert [it is not None for it in told] == [True] * times + [False] * (6 - times)


def test_algorithm_3_has_the_law_of_kwiksort() -> None:
    before = np.array([[0, 0.7, 0.6, 0.9], [0.3, 0, 0.8, 0.35], [0.4, 0.2, 0, 0.55], [0.1, 0.65, 0.45, 0]])
    rng, law = np.random.default_rng(10), dict[Any, float]()
    for (order, _), chance in laws.kwiksort_law(before).items():
        law[order] = law.get(order, 0.0) + chance
    drawn = (lines.ldp_kwiksort(np.arange(4), lambda j, i: rng.random() < before[j, i], rng) for _ in range(RUNS))
    assert fits(Counter(map(plain, drawn)), law)
    with pytest.raises(LookupError):
        lines.ldp_kwiksort(np.arange(4), lambda j, i: None, rng)
