"""What is of another kind than is needed: a TypeError that says what is; and data and releases told from each other."""

import numpy as np
import pandas as pd
import pytest
from checks import each

import dprank

ITEMS = ["roads", "parks", "debt"]
ANSWERS = pd.DataFrame({"first": ["roads"], "second": ["parks"], "outcome": [1], "person": ["ann"]})
BALLOTS = pd.DataFrame({"roads": [1, 2], "parks": [2, 1], "debt": [3, 3], "person": ["ann", "bob"]})
HAVE = pd.DataFrame({"person": ["ann", "bob"], "item": ["roads", "parks"]})
RANKINGS = dprank.Rankings([[0, 1, 2]] * 3, ITEMS)
RANKING = dprank.Ranking(tuple(ITEMS), np.array([1, 0, 2]))
BORDA = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3)
COUNTS = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=1)
FITTED = dprank.PerturbedMLE.calibrated(epsilon=1.0, n_items=3, ridge=1.0, graph="public", per_person=1)
ONESHOT = dprank.Oneshot.calibrated(epsilon=1.0, k=1, items=ITEMS)
LOCAL = dprank.LocalTopK.calibrated(epsilon=1.0, k=1, items=ITEMS, per_person=1)

#: What is done, and the words that must be said.
WRONG = {
    "a table for comparisons": (lambda: dprank.Comparisons(ANSWERS), "Comparisons.from_frame(frame, items=[...]"),
    "a table by name": (lambda: dprank.Comparisons(first=ANSWERS), "Comparisons.from_frame"),
    "a table for rankings": (lambda: dprank.Rankings(BALLOTS[ITEMS] - 1, ITEMS), "Rankings.from_frame"),
    "a table for ballots": (lambda: dprank.Ballots(BALLOTS[ITEMS] - 1, ITEMS), "Ballots.from_frame"),
    "a table for tallies": (lambda: dprank.Tallies(HAVE), "Tallies.from_frame"),
    "a table to a mechanism of ballots": (lambda: BORDA.release(BALLOTS, dprank.SECURE), "from_frame"),
    "a table to a mechanism of answers": (lambda: COUNTS.release(ANSWERS, dprank.SECURE), "Comparisons.from_frame"),
    "a table to a top k": (lambda: ONESHOT.release(HAVE, dprank.SECURE), "Tallies.from_frame"),
    "a table to a local top k": (lambda: LOCAL.release(HAVE, dprank.SECURE), "Tallies.from_frame"),
    "a release as data": (lambda: BORDA.release(RANKING, dprank.SECURE), "a Ranking, which is a release and no data"),
    "a release to a top k": (lambda: ONESHOT.release(RANKING, dprank.SECURE), "a release and no data"),
    "a release in the place of an array": (lambda: dprank.Rankings(RANKING, ITEMS), "a release and no data"),
    "data as a release": (lambda: dprank.Ranking(RANKINGS, [0, 1, 2]), "Rankings, which are data and no release"),
    "other data": (lambda: FITTED.release(RANKINGS, dprank.SECURE), "data are Rankings; Comparisons are needed"),
    "rankings to a top k": (lambda: ONESHOT.release(RANKINGS, dprank.SECURE), "Tallies"),
    "a word for a number": (lambda: dprank.PrivateBorda.calibrated(epsilon="1", n_items=3), "epsilon = '1'"),
    "a word for a whole number": (lambda: dprank.PrivateBorda.calibrated(epsilon=1.0, n_items="3"), "an integer"),
    "a truth value for a number": (lambda: dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=True), "an integer"),
    "a number for a truth value": (lambda: dprank.Oneshot(1, 1.0, n_items=3, ordered=1), "True or False"),
    "a seed for a generator": (lambda: BORDA.release(RANKINGS, 5), "a numpy.random.Generator or dprank.SECURE"),
    "a list for a table": (
        lambda: dprank.Comparisons.from_frame([[1, 2]], items=ITEMS, person=None),
        "a pandas.DataFrame is needed",
    ),
    "a number for a path": (lambda: dprank.read_rankings(5, items=ITEMS, person=None), "the name of a file"),
    "fractions for codes": (lambda: dprank.Comparisons([0.5], [1], [1], ITEMS), "integers are needed"),
}


@each("done", WRONG)
def test_a_wrong_type_is_a_type_error_and_says_what_is_needed(done):
    call, words = WRONG[done]
    for kind in (TypeError, ValueError):  # the second for whoever caught it before
        with pytest.raises(kind) as caught:
            call()
        message = str(caught.value)
        assert words in message
        assert "\n" not in message
        assert "ann" not in message


def test_a_wrong_value_is_none():
    for call in (
        lambda: dprank.PrivateBorda.calibrated(epsilon=-1.0, n_items=3),
        lambda: dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=1),
        lambda: dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2.5),
    ):
        with pytest.raises(ValueError, match=r"needed|must") as caught:
            call()
        assert not isinstance(caught.value, TypeError)


@each(
    "columns, asked, meant",
    [
        ({"outcome": "Outcome"}, "outcome", "Outcome"),
        ({"first": "frist"}, "first", "frist"),
        ({"person": " person "}, "person", " person "),
        ({"second": "secret-ann"}, "second", None),
    ],
)
def test_a_column_that_is_not_there_is_asked_for_by_its_likeness(columns, asked, meant):
    """The others may be data: where a file has no header they are its first row."""
    with pytest.raises(ValueError, match=f"column {asked!r} is not in the table, which has 4 columns") as caught:
        dprank.Comparisons.from_frame(ANSWERS.rename(columns=columns), items=ITEMS, person="person")
    assert str(caught.value).endswith(
        f"; {meant!r} is meant, maybe" if meant else "4 columns; second= says which is meant"
    )


def test_data_and_releases_say_which_they_are():
    tallies = dprank.Tallies([1], [0], ITEMS)
    answers = dprank.Comparisons([0], [1], [1], ITEMS)
    for data in (RANKINGS, dprank.Ballots.from_rankings(RANKINGS), tallies, answers):
        assert repr(data).startswith(f"{type(data).__name__} of 3 items")
        assert repr(data).endswith(": data, secret")
    for release in (RANKING, dprank.Selection(np.array(["roads"])), dprank.Decision(True, 1.0, 0.0, 0.5)):
        assert repr(release).startswith(f"<{type(release).__name__}, a release: ")


def test_whoever_answered_is_a_person_and_a_voter_by_the_name_of_old(tmp_path):
    ANSWERS.to_csv(tmp_path / "answers.csv", index=False)
    BALLOTS.to_csv(tmp_path / "ballots.csv", index=False)
    for read, given in (
        (dprank.Comparisons.from_frame, ANSWERS),
        (dprank.Rankings.from_frame, BALLOTS),
        (dprank.Ballots.from_frame, BALLOTS),
        (dprank.read_comparisons, tmp_path / "answers.csv"),
        (dprank.read_rankings, tmp_path / "ballots.csv"),
    ):
        assert read(given, items=ITEMS, person="person") == read(given, items=ITEMS, voter="person")
        assert read(given, items=ITEMS, person=None) == read(given, items=ITEMS, voter=None)
        with pytest.raises(TypeError, match="person"):
            read(given, items=ITEMS)
        with pytest.raises(TypeError, match="person and voter"):
            read(given, items=ITEMS, person="person", voter="person")
