"""The likelihood is the library's."""

from __future__ import annotations

import math

import numpy as np

from companion.chapters.individual_privacy import voter_likelihood
from dprank.data.comparisons import Comparisons
from dprank.models.likelihood import log_likelihood


def test_likelihood_is_that_of_the_package():
    theta = np.array([0.7, -1.1, 0.4])
    data = Comparisons([0, 0, 2, 1], [1, 1, 1, 2], [1, 0, 1, 1], ["a", "b", "c"])
    assert math.isclose(
        log_likelihood(theta, data),
        sum(math.log(1 / (1 + math.exp(-(theta[a] - theta[b])))) for a, b in ((0, 1), (1, 0), (2, 1), (1, 2))),
    )
    gaps = voter_likelihood.likelihood_gaps(3, 2, 0.5)
    assert gaps.shape == (11, 36)
    assert np.allclose(gaps, 2 * math.log(3), atol=1e-12)


def test_derivatives_notice_a_wrong_slope_or_curvature(monkeypatch):
    link = voter_likelihood.LOGISTIC
    rng = np.random.default_rng(5)
    assert max(map(abs, np.delete(voter_likelihood.derivatives(link, rng), 2))) < 1e-8

    class Wrong:
        def __getattr__(self, name):
            plain = getattr(link, name)
            return (lambda x: 1.01 * plain(x)) if name == self.word else plain

    for word, at in (("pdf", 0), ("curvature", 1)):
        wrong = Wrong()
        wrong.word = word
        assert voter_likelihood.derivatives(wrong, np.random.default_rng(5))[at] > 1e-3
