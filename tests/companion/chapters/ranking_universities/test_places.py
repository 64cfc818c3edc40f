"""Places of the universities."""

from __future__ import annotations

import math

import pytest

from companion.chapters.ranking_universities import places
from companion.instruments import surveys as datasets
from companion.instruments import two_items


def test_reversed_pair():
    frame = places.reversed_pair().set_index(["score", "data", "university"]).place.sort_index()
    assert (frame["wins", "corrected"] == frame["wins", "1998"]).all()
    assert frame["net", "1998", "Barcelona"] > frame["net", "corrected", "Barcelona"]
    assert places.majority_cycle(datasets.cems()) == ()
    assert len(places.majority_cycle(datasets.cems_1998())) == 3


def test_dean():
    numbers = places.dean(1.0)
    assert numbers["dean-odds"] == f"{math.e:.2f}"
    assert float(numbers["dean-top"]) > 0.99
    gap = places.wrong_order_gap(36.0)
    assert math.exp(two_items.log_first_wins(-gap, 36.0)) == pytest.approx(0.05)
    assert (numbers["dean-gap"], numbers["dean-wrong"]) == (f"{gap:.0f}", "5")
    wider = places.dean(1.0, 0.01)
    assert float(wider["dean-gap"]) > float(numbers["dean-gap"])
    assert wider["dean-wrong"] == "1"


def test_the_headline_follows_from_the_price():
    messages = {}
    for epsilon in (0.05, 1.0, 4.0):
        frame = places.answers_and_places(epsilon)
        chances = frame[frame.panel == "places"].groupby("university").share.sum()
        assert chances.to_numpy() == pytest.approx(1)
        figure = places.draw_answers_and_places(frame)
        messages[epsilon] = " ".join(figure.get_suptitle().split())
        assert len(figure.axes) == 2
    assert messages == {
        0.05: "Under noise no place is sure any more",
        1.0: "Under noise only London, Paris and Stockholm keep their places",
        4.0: "Under noise only London, Paris, Milano and Stockholm keep their places",
    }
