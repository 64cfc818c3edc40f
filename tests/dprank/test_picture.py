"""The picture of a release: every item at its place, every range as long as it is, no name that breaks the page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from dprank._picture import MOST, Places, drawn, typed


def made(n, seed=0):
    """Places with ranges that hold them, wide ones around narrow ones."""
    rng = np.random.default_rng(seed)
    at = np.arange(1, n + 1)
    narrow = np.clip([at - rng.integers(0, 3, n), at + rng.integers(0, 3, n)], 1, n)
    wide = np.clip([narrow[0] - rng.integers(0, 3, n), narrow[1] + rng.integers(0, 3, n)], 1, n)
    pairs = [list(zip(*ranges.tolist(), strict=True)) for ranges in (narrow, wide)]
    return Places([f"item {k}" for k in at], *pairs)


@pytest.mark.parametrize("n", [1, 2, 7, MOST, MOST + 1, 1000])
def test_points_and_bars_lie_where_places_are(n):
    places = made(n)
    root = ET.fromstring(drawn(places, "title"))
    points = [float(it.get("cx")) for it in root.iter("circle")]
    bars = [it for it in root.iter("line") if it.get("stroke-width")]
    assert len(points) == places.shown == min(n, MOST)
    assert len(bars) == 2 * places.shown
    if n > 1:
        step = (points[-1] - points[0]) / max(places.shown - 1, 1)
        ranges = [pair for row in range(places.shown) for pair in (places.wide[row], places.narrow[row])]
        for bar, (low, high) in zip(bars, ranges, strict=True):
            ends = [points[0] + (place - 1) * step for place in (low, high)]
            assert [float(bar.get("x1")), float(bar.get("x2"))] == pytest.approx(ends, abs=0.2 + n / 500)
    width, height = map(float, root.get("viewBox").split()[2:])
    assert all(0 <= float(it.get(key)) <= width for it in root.iter("line") for key in ("x1", "x2"))
    assert all(0 <= float(it.get("cy")) <= height for it in root.iter("circle"))


def test_in_letters_bars_are_as_long():
    text = typed(Places("abcd", [(1, 1), (2, 3), (2, 4), (4, 4)]))
    assert [line[3:] for line in text.splitlines()] == ["●", "   ●━━━", "   ━━━●━━━", "         ●"]
    for line in typed(made(200)).splitlines():
        assert len(line) < 80


def test_names_break_nothing():
    names = ["<script>&\"'", "two\nlines\tand tabs", "x" * 500, "Zoë 🗳️"]
    places = Places(names, [(1, 4)] * 4)
    texts = [it.text for it in ET.fromstring(drawn(places, "<b>")).iter("text")][3:]
    assert texts[0] == names[0]
    assert texts[1] == "two lines and tabs"
    # whole: 500 letters take seven lines of 72, and a bar is on a line of its own
    assert len(typed(places).splitlines()) == 3 * 2 + 7 + 1
    assert "".join(texts[2:-1]) == "x" * 500
    assert "".join(typed(places).splitlines()[4:11]) == "x" * 500
    assert not re.search(r"<script|<b>", drawn(places, "<b>"))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ([(1, 1)], None),
        ([(2, 2), (1, 1)], None),
        ([(0, 1), (2, 2)], None),
        ([(1, 1), (2, 3)], None),
        ([(1, 2)] * 2, [(1, 1)] * 2),
    ],
)
def test_a_range_without_its_place_is_none(narrow, wide):
    with pytest.raises(ValueError, match=r"narrow|wide"):
        Places("ab", narrow, wide)
