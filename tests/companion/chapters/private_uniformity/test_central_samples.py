"""Numbers of rankings, at both sides of what is asked for."""

import pytest

from companion.chapters.private_uniformity import central_samples
from dprank.uniformity.laplace import LaplaceUnif

EPSILON, DELTA = 1 / 3, 0.05


def test_certified_rankings_are_enough_and_hardly_too_many():
    k = central_samples.certified_laplace(10, 0.3, EPSILON, DELTA)
    power = [
        central_samples.laplace_power(LaplaceUnif.calibrated(epsilon=EPSILON, n_items=10, n_voters=n, size=DELTA), 0.3)
        for n in (k, round(0.95 * k))
    ]
    assert power[0] >= 1 - DELTA > power[1]
    assert (
        central_samples.laplace_least(0.09, EPSILON, DELTA) <= k <= central_samples.laplace_enough(0.3, EPSILON, DELTA)
    )


@pytest.mark.slow
def test_a_wrong_increase_is_seen():
    frame = central_samples.needed_by_items([10, 100, 1000], 0.05, EPSILON, DELTA)
    mutant = frame.assign(increase=frame["items"] ** 1.5)
    checks = central_samples.check_laplace_samples(mutant, 0.05, EPSILON, DELTA)
    assert not all(check.outcome for check in checks if check.about == "corrected")
