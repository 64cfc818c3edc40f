"""Linear programs against closed forms."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from checks import each

from companion.chapters.edge_privacy import fano, private_programs


def _cube(bits):
    data = np.array(list(product((0, 1), repeat=bits)))
    distance = np.abs(data[:, None] - data).sum(-1)
    return data, distance, [(a, b) for a, b in combinations(range(len(data)), 2) if distance[a, b] == 1]


@each("epsilon", [0.1, 1.0, 3.0])
@each("bits", [1, 2, 3])
def test_two_constants_are_told_apart_as_well_as_a_path_between_them_allows(epsilon, bits):
    data, _, neighbours = _cube(bits)
    laws = np.eye(len(data))[[0, -1]]
    risk = private_programs.private_risk(laws, epsilon, 0.0, fano.star(2), neighbours)
    # each answer's probability may fall by e^epsilon a step from the middle of the path to its end
    middle = 1 / (1 + math.exp(epsilon)) if bits % 2 else 0.5
    assert risk == pytest.approx(middle * math.exp(-(bits // 2) * epsilon))


def test_least_coupling_of_coins_is_total_variation():
    assert private_programs.least_coupling([0.3, 0.7], [0.6, 0.4], [[0, 1], [1, 0]]) == pytest.approx(0.3)
