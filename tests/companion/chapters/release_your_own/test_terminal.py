"""The commands of the chapter say the same in every build, and the survey's numbers are those of the library."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import dprank
from companion.chapters.release_your_own import survey, terminal
from dprank.pairwise.rank_law import rank_law
from dprank.privacy import noise

SAID = "from companion.chapters.release_your_own import terminal; print([it.said for it in terminal.walk().values()])"


@pytest.fixture(scope="module")
def told():
    return terminal.walk()


@pytest.mark.slow
def test_another_process_is_told_the_same(told):
    again = subprocess.run([sys.executable, "-c", SAID], capture_output=True, text=True, check=True).stdout
    assert again.strip() == str([it.said for it in told.values()])


@pytest.mark.slow
def test_what_is_refused_and_what_is_not(told):
    codes = {name: it.code for name, it in told.items()}
    assert {name for name, code in codes.items() if code} == {"careless", "no epsilon", "again"}
    assert (codes["careless"], codes["no epsilon"], codes["again"]) == (2, 2, 3)
    assert "not for publication: drawn by a seeded generator" in told["release"].said
    assert "drawn by the operating system" not in str(told)
    assert str(terminal.folder()) not in str(told)
    assert "20··-··-··" in told["spent"].said


def test_the_library_draws_from_the_system_again_afterwards():
    with terminal.seeded("a test"):
        assert isinstance(dprank.privacy.budget.SECURE, np.random.Generator)
    assert dprank.privacy.budget.SECURE is noise.SECURE
    assert np.random.default_rng().integers(2**62) != np.random.default_rng().integers(2**62)


def test_a_part_of_what_was_said_has_its_end():
    session = terminal.Session("dprank x", "a\nb\nc\nend 1\nend 2\nz", 2)
    assert session.part(1, "end", 2).said == "a\n…\nend 1\nend 2"
    shown = session._repr_html_()
    assert "<b>$ dprank x" in shown
    assert "[exit code 2]" in shown


@pytest.mark.parametrize("lead", [-40, -1, 0, 1, 7, 120])
@pytest.mark.parametrize("scale", [0.5, 4.0, 36.0])
def test_pairs_out_of_order_are_those_of_the_library(lead, scale):
    expected = rank_law(np.array([float(lead), 0.0]), scale, "discrete")[1, 0]
    assert survey.out_of_order(np.array([lead]), scale)[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_the_bound_that_loses_most_and_the_bound_that_loses_least():
    curve = survey.wrong_pairs(surveys=200)
    assert (curve.noise <= 15).all()
    assert curve.bounding.iloc[-1] == 0
    drawn = survey.intake().data.bounded(8, design="once")
    mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=6, per_person=8, design="once")
    best = np.argsort(-dprank.win_counts(survey.intake().data, "net"))
    rng, wrong = np.random.default_rng(1), []
    for _ in range(2000):
        place = np.argsort(mechanism.release(drawn, rng).order)[best]
        wrong.append(sum(place[i] > place[j] for i in range(6) for j in range(i + 1, 6)))
    assert np.mean(wrong) == pytest.approx(curve.noise[7], abs=4.5 * np.std(wrong) / 2000**0.5)


def test_the_strict_reader_refuses_seven_times():
    table = survey.refusals()
    assert len(table) == 7
    assert table["it says"].is_unique
    assert isinstance(survey.draw_wrong_pairs(survey.wrong_pairs([1, 8, 15], surveys=10)), Figure)


@pytest.mark.slow
def test_the_picture_and_the_page(told):
    made = survey.release()
    assert isinstance(survey.draw_places(survey.places(made)), Figure)
    page = survey.minister().data
    assert made.ranking[0] in page
    assert "<h1" not in page
    assert "<h2" not in page
    numbers = survey.numbers(made, survey.refusals(), survey.wrong_pairs(surveys=10))
    assert all(numbers.values())


def test_the_ministers_page_has_no_day_and_no_identifier(told):
    """They are others tomorrow: a build on another day is the same."""
    assert re.search(r"[0-9a-f]{32}|20\d\d-\d\d", survey.minister().data) is None


@pytest.mark.slow
def test_a_walk_with_other_numbers(monkeypatch):
    """Another epsilon, other people and another draw: its budget still refuses a third release of one and a half."""
    monkeypatch.setattr(terminal, "_folder", None)
    told = terminal.walk(0.4, 900, draw=7)
    assert {name for name, it in told.items() if it.code} == {"careless", "no epsilon", "again"}
    assert "--persons 900 --epsilon 0.4" in told["plan"].command
    made = survey.release()
    assert made.guarantee.epsilon == pytest.approx(0.4)
    numbers = survey.numbers(made, survey.refusals(), survey.wrong_pairs([1, 3, 5, 8, 15], 0.4, 10), 900)
    assert numbers["own-again"] == "0.6"
    assert all(numbers.values())


def test_draws_are_of_one_name_and_apart():
    drawn = []
    for draw in (1, 1, 2, 3):
        with terminal.seeded("a test", draw):
            drawn.append(int(np.random.default_rng().integers(2**62)))
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 3
