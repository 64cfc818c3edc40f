"""The contest of the road: its lines do what the arena does, and its figure says what its frame holds."""

import math

import numpy as np
import pandas as pd
import pytest
from typed_lines import unlike

import dprank
from companion.chapters.which_method import cell, lines
from companion.chapters.which_method import people_needed as needed
from companion.chapters.which_method.advice import standing
from companion.chapters.which_method.arena import contest


def test_the_chapter_shows_the_lines_word_for_word():
    assert unlike("15-which-method", lines) == []


def test_the_lines_lose_what_the_arena_loses():
    """Means of the same law, of independent draws, within five standard errors."""
    items, people, times = 5, 60, 150
    theta = 2 * math.atanh(0.1)

    def town(rng):
        return dprank.Rankings(dprank.Mallows(items, theta).sample(people, rng=rng), "ABCDE")

    methods = [kind.calibrated(epsilon=1.0, n_items=items) for kind in (dprank.PrivateBorda, dprank.LocalBorda)]
    ours = lines.contest(methods, town, times, np.random.default_rng(1))
    heat = {"question": "consensus", "data": "Mallows", "items": items, "people": people}
    labels = [(1.0, 0.0, "curator", "PrivateBorda"), (1.0, 0.0, "nobody", "LocalBorda")]
    theirs = contest(repetitions=times, rng=np.random.default_rng(2), only=labels, **heat)
    for column, label in zip(ours.T, labels, strict=True):
        other = theirs[(*label, "pairs")]
        assert abs(column.mean() - other.mean()) < 5 * math.hypot(column.std(), other.std()) / times**0.5


def test_who_is_alike_is_who_stands_so_in_the_arena():
    rng = np.random.default_rng(3)
    for shift in (0.0, 0.02, 0.2):
        lost = rng.random((40, 3)) + np.array([0.0, shift, 0.5])
        table = pd.DataFrame({"mean": lost.mean(axis=0), "se": lost.std(axis=0, ddof=1) / 40**0.5, "delta": 0.0})
        table = table.assign(question="consensus", data="Mallows", items=5, people=9, answers=0, k=0, epsilon=1.0)
        table = table.assign(
            trust="curator", loss="pairs", method=["PrivateBorda", "PrivateFootrule", "PrivateKwikSort"]
        )
        assert lines.alike(lost).tolist() == standing(table, 0.0)["alike"].tolist()


def test_the_figure_follows_its_parameters():
    found = cell.frame(6, 80, 0.3, 5)
    said = cell.numbers(found)
    assert [said[name] for name in ("items", "persons", "epsilon", "many")] == ["6", "80", "0.3", "320"]
    message = cell.draw_contest(found).get_suptitle().replace("\n", " ")
    assert message == f"With 80 ballots the best loses {said['lost']}, the worst {said['most']}"
    assert found.groupby(["people", "trust"])["alike"].any().all()


@pytest.mark.parametrize("alone", [math.inf, 600.0])
def test_what_trusting_nobody_takes_is_read_off_the_frame(alone):
    rows = [
        {"asked": name, "epsilon": epsilon, "people": alone if "nobody" in name else 200.0}
        for name in needed.ASKED
        for epsilon in (0.5, 2.0)
    ]
    said = "ε = 2 takes 3 times the people" if alone < math.inf else "100,000,000 people are too few"
    message = needed.draw_people(pd.DataFrame(rows)).get_suptitle().replace("\n", " ")
    assert said in message
    told = needed.numbers(pd.DataFrame(rows), 6, 2.0)["alone-top"]
    assert told == ("3" if alone < math.inf else "endlessly many")
