"""The exact loss is attained by neighbours; the printed density does not integrate to one; orders agree at p = 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from checks import each

from companion.chapters.edge_privacy import perturbed_likelihood as experiment
from dprank.data.comparisons import Comparisons
from dprank.models.bradley_terry import ARCTAN, LOGISTIC
from dprank.pairwise import objective_loss

REACHED = 1 - 1e-6


@each("link", [LOGISTIC, ARCTAN])
@each("answers", [1, 2])
@each(("scale", "ridge"), [(8, 1), (1.6, 0.2), (2, 0.05), (40, 10), (0.5, 3)])
@pytest.mark.slow
def test_the_loss_is_attained_and_not_passed(link, answers, scale, ridge):
    loss = objective_loss(scale, ridge, link=link, per_person=answers)
    attained = experiment.attained_loss(scale, ridge, answers=answers, link=link)
    assert REACHED * loss <= attained <= loss


def test_neighbours_differ_in_one_comparison():
    pair = experiment.worst_neighbours(8, 1, 60)
    rows = [set(zip(d.first.tolist(), d.second.tolist(), strict=True)) for d in (pair.data, pair.other)]
    assert len(rows[0] - rows[1]) == len(rows[1] - rows[0]) == 1
    assert len(rows[0]) == len(pair.data), "at most one comparison a pair"


def test_log_density_against_a_derivative():
    """P(w <= -grad R(t)) changes with t as the density says: along the line of one item and no comparison."""
    none = Comparisons([], [], [], ["a", "b"])
    t = np.array([0.3, -0.2])
    closed = 2 * math.log(3 / (2 * 2)) - 3 * np.abs(t).sum() / 2
    assert experiment.log_density(t, none, 2, 3) == pytest.approx(closed)


@pytest.mark.parametrize("weaker", [0.3, 0.5])
def test_weaker_noise_than_printed_is_found_out(weaker):
    """Mutant: a mechanism that claims epsilon with less noise than it needs has neighbours that show it."""
    printed = experiment.algorithm_1(1.0, 2).mechanism
    assert experiment.attained_loss(weaker * printed.scale, printed.ridge) > 1
    assert experiment.attained_loss(printed.scale, printed.ridge / 4) > 1


def test_order_is_that_of_noisy_counts_if_all_pairs_are_compared():
    frame = experiment.order_differences(12, [0.5, 1.0], [0.5, 1e5], 10).set_index(["probability", "score", "ridge"])
    assert (frame["mean"].xs(1.0) == 0).all()
    assert frame["mean"].loc[0.5, "wins", 0.5] > 1
    assert frame["mean"].loc[0.5, "net wins", 1e5] < 0.5
