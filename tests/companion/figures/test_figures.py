"""Figures draw what the frame holds, the same bytes each time; tables carry every number."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from companion.chapters.ranking_universities import counting_privacy, places, survey_counts
from companion.instruments.style import BAR, show
from companion.instruments.table import table

DRAWN = {
    "two-items": (counting_privacy.draw_two_items, lambda: counting_privacy.two_items_curve(1.0, 1, range(1, 8))),
    "rank-difference": (survey_counts.draw_rank_difference, lambda: survey_counts.figure_8([0.5, 1.0], 20)),
    "reversed-pair": (places.draw_reversed_pair, places.reversed_pair),
    "places": (places.draw_place_probabilities, lambda: places.place_probabilities([0.5, 1.0])),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.slow
def test_a_figure_is_reproducible_and_carries_its_data(name):
    draw, make = DRAWN[name]
    frame = make()
    shown = show(name, frame, draw)
    assert shown.svg == show(name, frame.copy(), draw).svg
    data, metadata = shown._repr_mimebundle_()
    assert data["image/svg+xml"].startswith("<?xml")
    assert metadata["figure"]["name"] == name
    pd.testing.assert_frame_equal(
        pd.read_csv(io.StringIO(metadata["figure"]["data"])), frame.reset_index(drop=True), check_dtype=False
    )
    links = shown.links.data
    assert f"_modules/{draw.__module__.replace('.', '/')}.html#{draw.__name__}" in links
    encoded = re.search(r"base64,([^\"]+)", links)[1]
    assert base64.b64decode(encoded).decode() == metadata["figure"]["data"]


def test_error_bars_are_those_of_the_frame():
    frame = survey_counts.figure_8([0.5, 1.0], 20)
    axes = survey_counts.draw_rank_difference(frame).axes
    assert [a.get_title(loc="left") for a in axes] == ["CEMS", "immigration"]
    bars = [container for a in axes for container in a.containers]
    assert len(bars) == 6
    segments = bars[0].lines[2][0].get_segments()
    part = frame[(frame.survey == "CEMS") & (frame.calibration == "as printed")]
    half = [(top[1] - bottom[1]) / 2 for bottom, top in segments]
    assert np.allclose(half, BAR * part.se)


def test_a_table_shows_numbers_as_people_write_them():
    values = [2173.4, 1e-6, 1.234e-12, 1.5e9, 0.25, -45678.0]
    cells = BeautifulSoup(table(pd.DataFrame({"a": values})).data, "html.parser").find_all("td")
    assert [cell.get_text() for cell in cells] == ["2,170", "1e−6", "1.23e−12", "1.5e9", "0.25", "-45,700"]


def test_a_table_shows_names_and_infinity():
    frame = pd.DataFrame({"a": [1.23456, np.inf]}, index=pd.Index(["x", "y"], name="row"))
    rows = BeautifulSoup(table(frame).data, "html.parser").tbody.find_all("tr")
    assert [[cell.get_text() for cell in row.find_all("td")] for row in rows] == [["x", "1.23"], ["y", "∞"]]
