"""The lines that the chapter shows: the noise has its law, the bound is the classical one, the bet the library's."""

import math

import numpy as np
import pytest
from scipy import stats
from typed_lines import unlike

from companion.chapters.privacy_audited import at_epsilon, lines, power, promises
from dprank.audit.betting import STAKES, log_returns
from dprank.audit.clopper_pearson import loss_bounds

#: False alarms of a statistical test here.
ALARM = 1e-6


def test_the_chapter_shows_them_word_for_word():
    assert unlike("12-privacy-audited", lines) == []


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_noise_has_the_law_of_whole_laplace_noise(scale):
    drawn, ratio = lines.noisy(4, scale, 20_000, np.random.default_rng(1)) - 4, math.exp(-1 / scale)
    inner = np.arange(-3, 4)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(inner)
    seen, tail = [(drawn == it).sum() for it in inner], [(drawn < -3).sum(), (drawn > 3).sum()]
    rest = (1 - law.sum()) / 2
    assert stats.chisquare([*seen, *tail], 20_000 * np.r_[law, rest, rest]).pvalue > ALARM


def test_the_bound_is_that_of_the_library():
    x, y = np.arange(1000) < 700, np.arange(1000) < 120
    found = lines.at_least(x, y, 0.002)
    assert found == pytest.approx(float(loss_bounds(np.array([700]), np.array([120]), 1000, 0.0, 0.001)[0]), rel=1e-9)


def test_the_bound_is_wrong_no_more_often_than_it_says():
    rng = np.random.default_rng(2)
    x, y = rng.random((2, 1000, 400)) < [[[math.e / 5]], [[1 / 5]]]
    wrong = sum(lines.at_least(a, b, 0.1) > 1 for a, b in zip(x, y, strict=True))
    assert stats.binomtest(wrong, 1000, 0.1, alternative="greater").pvalue > ALARM


@pytest.mark.parametrize("at", [0, 3, -1])
def test_a_round_gains_what_a_round_of_the_audit_does(at):
    x, y = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    stake = float(STAKES[at])
    each = [lines.wealth(x[[case]], y[[case]], 1.0, stake)[0] for case in range(4)]
    assert np.log(each) == pytest.approx(log_returns(1.0, 0.0)[at], abs=1e-12)
    assert lines.wealth(x, y, 1.0, stake)[-1] == pytest.approx(np.prod(each))


def test_at_one_epsilon_the_picture_is_that_of_the_page_behind():
    """Where both have a case at the same epsilon they find the same loss; only the picture's five lose too much."""
    found = at_epsilon.frame(1.0)
    printed = found[found.calibration == "as printed"].set_index("mechanism")
    assert len(printed) == 12
    known = promises.known()
    for name, case in (
        ("NoisyCounts", "NoisyCounts, Algorithm 3, 2 answers, continuous"),
        ("PerturbedMLE", "PerturbedMLE, Algorithm 1, logistic"),
        ("Oneshot", "Oneshot, Theorem 2.1 with values, replace"),
        ("NoisyMatrix", "NoisyMatrix, continuous gaussian, replace, Corollary 4 as printed"),
        ("LocalKwikSort", "LocalKwikSort, as printed"),
        ("PrivateRankCentrality", "PrivateRankCentrality, Theorem 3.5, rho of the data"),
    ):
        assert printed.exact[name] == pytest.approx(known[case].exact_epsilon(), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 0.35, 1.0, 3.0])
def test_at_every_epsilon_ours_keep_their_promise(epsilon):
    found = at_epsilon.frame(epsilon)
    ours = found[found.calibration == "calibrated"]
    assert len(ours) == 12
    assert (ours.exact <= ours.guarantee * (1 + 1e-9)).all()
    broken = set(found.mechanism[(found.calibration == "as printed") & (found.share > 1 + 1e-9)])
    assert broken == {"NoisyCounts", "Bucketed", "Trun", "Oneshot"}
    message = at_epsilon.draw_claimed_and_true(found).get_suptitle().replace("\n", " ")
    assert message.startswith("4 of 12 mechanisms")


def test_a_budget_that_is_too_small_is_said():
    frame = power.paths(power.up_to(1.05), 1, 1024, promise=0.1)
    assert "too few" in power.draw_wealth(frame).get_suptitle().replace("\n", " ")
