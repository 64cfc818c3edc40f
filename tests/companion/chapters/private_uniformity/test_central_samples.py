"""Numbers of rankings, at both sides of what is asked for."""

import pytest

from companion.chapters.private_uniformity import batches, central_samples
from companion.ledger.claim import derive
from dprank.uniformity.laplace import LaplaceUnif

EPSILON, DELTA = 1 / 3, 0.05


def outcomes(checks, about):
    return [check.outcome for check in checks if check.about == about]


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
def test_samples_grow_as_they_should():
    frame = central_samples.needed_by_items([10, 100, 1000, 10_000], 0.05, EPSILON, DELTA)
    checks = central_samples.check_laplace_samples(frame, 0.05, EPSILON, DELTA)
    assert derive(checks) == "refuted"
    assert all(outcomes(checks, "corrected"))
    mutant = frame.assign(increase=frame["items"] ** 1.5)
    assert not all(outcomes(central_samples.check_laplace_samples(mutant, 0.05, EPSILON, DELTA), "corrected"))


@pytest.mark.slow
def test_rates_at_a_fixed_distance():
    frame = central_samples.rate_at_distance([10, 100, 1000], 0.5, EPSILON, DELTA)
    assert derive(central_samples.check_rate(frame, EPSILON, DELTA, 0.25)) == "constants"
    assert derive(batches.check_bucketing_samples(frame, EPSILON, DELTA)) == "refuted"
    for checks in (
        central_samples.check_rate(frame, EPSILON, DELTA, 0.25),
        batches.check_bucketing_samples(frame, EPSILON, DELTA),
    ):
        assert all(outcomes(checks, "corrected"))
