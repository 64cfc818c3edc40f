"""Seeds are fixed, but for the release path: its one check is false with probability 1e-9."""

import pytest

from companion.chapters.privacy_audited import floats, own
from companion.chapters.privacy_audited.cases import aggregation, pairwise


@pytest.fixture(scope="module")
def frame():
    return floats.betrayals([0, 20], [1.0, 10.0], 1000)


@pytest.fixture(scope="module")
def audits():
    return floats.caught()


def test_shares(frame):
    either = frame[(frame.ruled_out == "either neighbour") & (frame.noise == "floats")].set_index(["scale", "count"])[
        "mean"
    ]
    assert either[1.0, 0] > 0.9 > 0.2 > either[1.0, 20] > 0.02
    # more noise betrays more
    assert either[10.0, 20] > either[1.0, 20] + 0.2


def test_every_check_of_floats_holds(frame, audits):
    checks = own.check_floats(frame, audits, floats.secure_p_value(draws=2000))
    assert [check.outcome for check in checks] == [True] * len(checks)


def test_an_unsound_release_path_is_found(frame, audits):
    checks = own.check_floats(frame, audits, p_value=1e-12)
    assert [check.what for check in checks if not check.outcome] == [
        "release noise that fails a chi-square test of its exact law"
    ]


@pytest.mark.slow
def test_the_chi_square_test_sees_a_wrong_scale(monkeypatch):
    right = floats.noise.discrete_laplace
    monkeypatch.setattr(floats.noise, "discrete_laplace", lambda scale, size, rng: right(1.2 * scale, size, rng=rng))
    assert floats.secure_p_value(draws=20_000) < floats.ALARM


@pytest.mark.slow
def test_what_publishes_whole_numbers_is_not_listed_as_research_only():
    cases = [*pairwise.cases(), *aggregation.cases()]
    continuous, discrete, orders = (
        [case for case in cases if name in case.name and law == getattr(case.mechanism, "law", "")][:2]
        for name, law in (("NoisyCounts", "continuous"), ("NoisyCounts", "discrete"), ("KwikSort", "continuous"))
    )
    frame = floats.research_only([*continuous, *discrete, *orders], 4096)
    assert frame[["mechanism", "cases", "refuted"]].to_numpy().tolist() == [["NoisyCounts", 2, 2]]
    assert frame.releases[0] <= 4096
