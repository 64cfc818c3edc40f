"""Recall of noisy top-k selection.

Statistical checks run on fixed seeds; each fails with probability below 1e-6 if the code is right (5 standard errors).
"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from checks import each

from companion.chapters.private_top_k import recall
from companion.instruments.topk import list_chances
from dprank.pairwise.rank_law import top_set_law
from dprank.topk.oneshot import Oneshot

Z = 5.0


def test_zipf_counts_fall_and_start_with_the_total():
    counts = recall.zipf(50, 1000)
    assert counts[0] == 1000
    assert (np.diff(counts) <= 0).all()


def test_recall_is_the_mean_over_the_exact_law():
    counts, k, epsilon = recall.zipf(5, 12), 2, 1.0
    law = top_set_law(counts, 2 * k / epsilon, k)
    exact = sum(p * sum(i < k for i in chosen) / k for chosen, p in law.items())
    rng = np.random.default_rng(1)
    draws = recall.recall_draws(5, 12, k, epsilon, 1e-6, "Laplace, Theorem 2.1", repetitions=4000, rng=rng)
    assert abs(draws.mean() - exact) < Z * draws.std() / len(draws) ** 0.5
    # half of that noise is another law
    half = top_set_law(counts, k / epsilon, k)
    other = sum(p * sum(i < k for i in chosen) / k for chosen, p in half.items())
    assert abs(draws.mean() - other) > Z * draws.std() / len(draws) ** 0.5


@each("noise", ["laplace", "gumbel", "exponential"])
@each("values", [[3.0, 1.0, 1.0, 0.5], [0.0, 0.0, 0.0], [5.0, 5.0, 4.0, 1.0, 1.0, 1.0]])
@pytest.mark.slow
def test_exact_recall_is_that_of_the_enumerated_law(values, noise):
    for k in range(1, len(values) + 1):
        lists = list(permutations(range(len(values)), k))
        law = list_chances(np.array(values) / 1.7, lists, noise)
        expected = sum(p * sum(i < k for i in some) / k for some, p in zip(lists, law, strict=True))
        assert recall.exact_recall(values, k, 1.7, noise) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_exponential_noise_finds_more_of_the_shortest_lists_only():
    frame = recall.short_lists([3, 6], [300], n_items=500)
    better = frame.exponential > frame.Gumbel
    assert better.tolist() == [True, False]


@each("name", recall.MECHANISMS)
def test_every_mechanism_promises_what_it_is_compared_at(name):
    k, epsilon, delta, m = 30, 0.2, 1e-6, 400
    guarantee = recall.MECHANISMS[name](k, epsilon, delta, m).guarantee
    assert guarantee.delta <= delta
    if name not in ("Laplace, Theorem 2.1", "Laplace, Theorem 2.2"):
        assert guarantee.epsilon <= epsilon
    # what the theorems print is privacy, too, at their noise
    at = Oneshot(k, recall.MECHANISMS[name](k, epsilon, delta, m).scale, delta=delta).guarantee.epsilon
    if name.startswith("Laplace"):
        assert at <= epsilon * (1 + 1e-9)


def test_frame_and_figure():
    frame = recall.recall([2, 4], [0.5], n_items=20, total=200, delta=1e-6, repetitions=3)
    assert len(frame) == 2 * len(recall.MECHANISMS)
    assert frame["mean"].between(0, 1).all()
    both = [frame.assign(panel=panel) for panel in ("k", "epsilon")]
    drawn = recall.draw_recall(pd.concat(both))
    assert len(drawn.axes) == 2
