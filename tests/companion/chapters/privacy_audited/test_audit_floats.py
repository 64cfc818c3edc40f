"""Seeds are fixed, but for the release path: its one check is false with probability 1e-9."""

import pytest

from companion.chapters.privacy_audited import floats, own
from companion.chapters.privacy_audited.cases import aggregation, pairwise


@pytest.fixture(scope="module")
def frame():
    return floats.betrayals([0, 20], [1.0, 10.0], 1000)


def test_shares(frame):
    betrayed = frame[(frame.ruled_out == "either neighbour") & (frame.noise == "floats")]
    either = betrayed.set_index(["scale", "count"])["mean"]
    assert either[1.0, 0] > 0.9 > 0.2 > either[1.0, 20] > 0.02
    # more noise betrays more
    assert either[10.0, 20] > either[1.0, 20] + 0.2


def test_of_an_unsound_release_path_no_other_check_fails(frame):
    checks = own.check_floats(frame, floats.caught(), p_value=1e-12)
    wrong = [check.what for check in checks if not check.outcome]
    assert wrong == ["release noise that fails a chi-square test of its exact law"]


@pytest.mark.slow
def test_the_chi_square_test_sees_a_wrong_scale(monkeypatch):
    right = floats.noise.discrete_laplace
    monkeypatch.setattr(floats.noise, "discrete_laplace", lambda scale, size, rng: right(1.2 * scale, size, rng=rng))
    assert floats.secure_p_value(draws=20_000) < floats.ALARM


@pytest.mark.slow
def test_what_publishes_whole_numbers_is_not_listed_as_research_only():
    cases = [*pairwise.cases(), *aggregation.cases()]
    chosen = []
    for name, law in (("NoisyCounts", "continuous"), ("NoisyCounts", "discrete"), ("KwikSort", "continuous")):
        chosen += [case for case in cases if name in case.name and law == getattr(case.mechanism, "law", "")][:2]
    frame = floats.research_only(chosen, 4096)
    assert frame[["mechanism", "cases", "refuted"]].to_numpy().tolist() == [["NoisyCounts", 2, 2]]
    assert frame.releases[0] <= 4096
