"""The supremum against dense grids, for links with one maximum, with two, and with curvatures the other way round."""

from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from checks import each
from scipy import special

from dprank.models.bradley_terry import ARCTAN, LOGISTIC
from dprank.pairwise import objective_loss
from dprank.pairwise._flips import WITHIN, flip_loss

FAR = np.unique(np.r_[np.linspace(-40, 40, 80_001), np.linspace(-400, 400, 16_001)])


def shifted(by):
    """Log-concave and no symmetric law's: the curvature is largest at -by."""
    return replace(
        LOGISTIC,
        name="shifted",
        score=lambda x: special.expit(-(np.asarray(x) + by)),
        curvature=lambda x: special.expit(x + by) * special.expit(-(x + by)),
    )


def mirrored(link):
    """The curvature of the other answer: no link's, but each of its sides is what the search asks for."""
    return replace(link, name="mirrored", curvature=lambda x: link.curvature(np.negative(x)))


def heights(scale, ridge, link, x=None):
    scores, here, there = far(link) if x is None else terms(link, x)
    return 2 * scores / scale + np.log((ridge + 2 * here) / (ridge + 2 * there))


def terms(link, x):
    return link.score(x) + link.score(-x), link.curvature(x), link.curvature(-x)


@lru_cache(1)
def far(link):
    return terms(link, FAR)


@pytest.mark.slow
@each(("link", "within"), [(ARCTAN, 1.01 * WITHIN), (shifted(1.0), 2e-3), (shifted(-1.0), 2e-3), (shifted(0.01), 0.1)])
def test_no_point_of_a_dense_grid_is_higher(link, within):
    """Shifted logistic scores are flat where the ridge is small: there the search ends early, above."""
    for scale, ridge in product([1e-3, 0.05, 0.5, 2.0, 8.0, 1e9], [1e-9, 1e-3, 1.0, 1e4]):
        highest = heights(scale, ridge, link).max()
        found = flip_loss(scale, ridge, link)
        assert highest <= found <= highest * (1 + within) + 1e-12, (scale, ridge)


def test_both_of_two_maxima_are_seen():
    """Little noise makes the scores near 0 cost most, a small ridge the curvatures far out: one beats the other."""
    near, far = [], []
    for scale in (0.03, 0.04, 0.045, 0.05, 0.06):
        height = heights(scale, 1e-12, ARCTAN)
        near.append(height[np.abs(FAR) < 3].max())
        far.append(height[np.abs(FAR) >= 3].max())
        assert flip_loss(scale, 1e-12, ARCTAN) == pytest.approx(max(near[-1], far[-1]) * (1 + WITHIN), rel=1e-7)
    assert near[0] > far[0]
    assert near[-1] < far[-1]


def test_ridges_as_small_as_floats_allow():
    """The worst distance is about half the logarithm of the ridge, 345: the curvatures there are 1e-150."""
    x = np.linspace(300, 400, 400_001)
    for ridge in (1e-300, 1e-100):
        highest = heights(1e9, ridge, ARCTAN, np.r_[x, x / 3]).max()
        assert highest <= flip_loss(1e9, ridge, ARCTAN) <= highest * (1 + 2 * WITHIN)


def test_the_logistic_link_has_the_scores_alone():
    for scale, ridge in product([0.01, 0.5, 2.0], [1.0, 50.0]):
        assert 2 / scale <= flip_loss(scale, ridge, LOGISTIC) <= 2 / scale * (1 + 10 * WITHIN)


def test_nearly_equal_curvatures_are_bounded_where_they_are_not_searched_to_the_end():
    """A flat maximum has more cells than are looked at."""
    assert 2 / 1e4 <= flip_loss(1e4, 1.0, LOGISTIC) <= 2 / 1e4 + 1e-4


def test_the_way_round_does_not_matter():
    for scale, ridge in product([0.5, 8.0], [0.1, 4.0]):
        assert flip_loss(scale, ridge, mirrored(ARCTAN)) >= flip_loss(scale, ridge, ARCTAN) * (1 - 1e-12)


def test_a_link_of_heavy_tails_is_bounded_beyond_the_last_cell():
    root = lambda x: np.sqrt(1 + np.square(x))  # noqa: E731
    slow = replace(LOGISTIC, score=lambda x: (1 - x / root(x)) / 2, curvature=lambda x: root(x) ** -3 / 2, kappa_2=0.5)
    assert 2.0 <= flip_loss(1.0, 1e12, slow) <= 2.0 * (1 + 2 * WITHIN)


@each("scale", [0.05, 2.0, 100.0])
def test_public_never_costs_more_than_private(scale):
    for ridge in (1e-6, 0.1, 4.0, 1e4):
        losses = [objective_loss(scale, ridge, link=ARCTAN, graph=graph) for graph in ("public", "private")]
        assert losses[0] < losses[1]
