"""The best guess bounds every private channel."""

import math

import numpy as np
import pytest

from companion.chapters.private_uniformity import local_adversary, local_channels


def test_best_guess_bounds_every_private_channel():
    rng = np.random.default_rng(3)
    for epsilon in (0.3, 2.0):
        for _ in range(50):
            law = rng.uniform(1, math.exp(epsilon / 2), (6, 4))
            law /= law.sum(1, keepdims=True)
            assert local_channels.pointwise_loss(law) <= epsilon + 1e-12
            assert law.max(0).sum() / 6 <= local_adversary.best_guess(3, epsilon) + 1e-12
    assert local_adversary.best_guess(2, 0.0) == 0.5
    assert local_adversary.best_guess(4, 1.0) == pytest.approx(math.e / (math.e + 23))
