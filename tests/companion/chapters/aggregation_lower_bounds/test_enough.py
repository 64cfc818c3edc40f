"""What is enough, against simulation: the bounds have room to spare, four standard errors or more."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import all_rankings

from companion.chapters.aggregation_lower_bounds import enough
from companion.instruments.aggregation import exponential_needs, matrix_error
from dprank.data.kendall import pairwise_kendall_distances
from dprank.privacy.gaussian import gaussian_scale


def test_drift_of_lines_with_known_slopes():
    items = np.array([3, 30, 300])
    lines = {"needed": items**1.0, "enough": 7 * items * np.log(items)}
    part = [pd.DataFrame({"items": items, "kind": kind, "voters": voters}) for kind, voters in lines.items()]
    frame = pd.concat([p.assign(model=model) for p in part for model in ("pure", "approximate", "local")])
    drift = enough.drift(frame).set_index("model")
    assert drift["slope needed"].tolist() == pytest.approx([1, 1, 1])
    assert (drift["slope enough"] > 1.1).all()
    assert drift.loc["pure", ["least", "most"]].tolist() == pytest.approx([7, 7])
    assert drift.loc["approximate", ["least", "most"]].tolist() == pytest.approx(
        [7 * math.log(3) ** 0.5, 7 * math.log(300) ** 0.5]
    )


@pytest.mark.parametrize("budget", [5.0, 60.0, 400.0])
def test_exponential_mechanism_meets_its_bounds(budget):
    # all data sets of three voters on four items, from a sample; n epsilon = budget
    rankings = all_rankings(4)
    table = pairwise_kendall_distances(rankings)
    rng = np.random.default_rng(2)
    for voters in rng.integers(24, size=(40, 3)):
        costs = table[:, voters].mean(1)
        law = np.exp(-budget * (costs - costs.min()) / 12)
        mean, best = law @ costs / law.sum(), costs.min()
        error = exponential_needs(4, 1.0) / budget
        assert mean - best <= error
        assert mean - 3 * best <= math.exp(enough.unanimous_excess(4, 3, budget / 3))


def test_padding_costs_all_orders_the_same():
    rankings = all_rankings(4)
    table = pairwise_kendall_distances(rankings)
    reverse = {row.tobytes(): k for k, row in enumerate(rankings)}
    for k, row in enumerate(rankings):
        assert (table[:, k] + table[:, reverse[(3 - row).tobytes()]] == 6).all()
    assert enough.padded_error(30, 10**6, 1.0) * 10**6 == pytest.approx(62 * 9)
    assert enough.padded_error(30, 10**6 + 1, 1.0) * (10**6 + 1) == pytest.approx(61 * 9)


def test_matrix_and_one_bit_errors_by_simulation():
    # mean over 400 draws, below the bound with room to spare
    rng = np.random.default_rng(3)
    m, n, epsilon = 4, 500, 1.0
    rankings = all_rankings(m)
    table = pairwise_kendall_distances(rankings)
    first, second = np.triu_indices(m, 1)
    prefers = rankings[:, first] < rankings[:, second]
    data = rng.integers(24, size=n)
    costs = table[:, data].mean(1)
    true = prefers[data].mean(0)
    keep = 1 / (1 + math.exp(-epsilon))
    deviation = gaussian_scale(math.sqrt(6), epsilon, 1e-6) / n
    gauss, bits = [], []
    for _ in range(400):
        noisy = true + rng.normal(0, deviation, 6)
        pair = rng.integers(6, size=n)
        answer = prefers[data, pair] ^ (rng.random(n) > keep)
        local = np.bincount(pair, np.where(answer, 1, -1), 6) * 6 / math.tanh(epsilon / 2) / n / 2 + 0.5
        for found, w in ((gauss, noisy), (bits, local)):
            order = (prefers @ (1 - w) + ~prefers @ w).argmin()
            found.append(costs[order] - costs.min())
    assert 0 < np.mean(gauss) < matrix_error(m, epsilon, 1e-6) / n
    error = np.mean(bits)
    assert error > 0
    assert enough.one_bit_needs(m, epsilon, error) > n


def test_the_ladder_says_how_many_voters_are_needed_and_enough():
    drawn = enough.draw_ladder(enough.thresholds([30], 1.0, 1e-6))
    said = [text.get_text() for text in drawn.axes[0].texts]
    assert said[:8] == ["no bound above 1", "2,496", "63", "7,217", "× 115", "117", "408,355", "× 3,490"]


def test_the_ladder_of_other_parameters_and_who_is_there():
    share = Fraction(1, 50)
    frame = enough.thresholds([12], 0.2, 1e-9, share)
    assert set(frame.error) == {0.02 * 144}
    drawn = enough.draw_ladder(frame.assign(present=40))
    assert drawn.axes[0].lines[0].get_xdata()[0] == 40
    assert any("Dotted: 40 voters" in text.get_text() for text in drawn.texts)
    said = enough.numbers(12, 40, 0.2, 1e-9, share)
    assert said["answer"] == "They cannot"
    assert float(said["least"]) > 0.02 * 144
    assert enough.numbers(12, 10_000, 0.2, 1e-9, share)["answer"] == "They can"
    middle = int(said["needed"].replace(",", "")) + 1
    assert enough.numbers(12, middle, 0.2, 1e-9, share)["answer"] == "Nobody knows"
