"""Figures draw what the frame holds, the same bytes each time; tables carry every number."""

from __future__ import annotations

import base64
import io
import re
from itertools import combinations

import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from companion.chapters.ranking_universities import counting_privacy, places, survey_counts
from companion.instruments.style import (
    BAR,
    DESK,
    PHONE,
    Shown,
    _drawn,
    key,
    label_outer,
    name_lines,
    note,
    panels,
    show,
    styled,
    wrapped,
)
from companion.instruments.table import table
from companion.press import BuildError
from companion.press.collect import collect

DRAWN = {
    "two-items": (counting_privacy.draw_two_items, lambda: counting_privacy.two_items_curve(1.0, 1, range(1, 8))),
    "rank-difference": (survey_counts.draw_rank_difference, lambda: survey_counts.figure_8([0.5, 1.0], 20)),
    "places": (places.draw_place_probabilities, lambda: places.place_probabilities([0.5, 1.0])),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.slow
def test_a_figure_is_reproducible_and_carries_its_data(name):
    draw, make = DRAWN[name]
    frame = make()
    shown = show(name, frame, draw)
    assert shown.svg == _drawn(name, frame.copy(), draw, phone=False)[1]
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


@styled
def draw_lines(frame: pd.DataFrame) -> Figure:
    """Two panels of lines that end close to one another."""
    figure, made = panels(2, message="Lines that end together keep their names apart, whatever is drawn", sharey=True)
    for axes in made:
        for name, rows in frame.groupby("line"):
            axes.plot(rows.x, rows.y, label=f"line {name}")
        axes.set_ylim(0, 1)
    label_outer(made, "x", "y")
    key(figure, *made[0].get_legend_handles_labels())
    for axes in made:
        name_lines(axes)
    return figure


def ends(heights: list[float]) -> pd.DataFrame:
    """Lines from 0.5 to some heights."""
    rows = [(name, x, y) for name, end in enumerate(heights) for x, y in ((0, 0.5), (1, end))]
    return pd.DataFrame(rows, columns=["line", "x", "y"])


def overlapping(figure: Figure) -> int:
    """Pairs of texts of a panel that lie on one another."""
    figure.draw_without_rendering()
    boxes = [[text.get_window_extent() for text in axes.texts] for axes in figure.axes]
    return sum(a.overlaps(b) for panel in boxes for a, b in combinations(panel, 2))


@styled
def draw_free(heights: list[float], *, named: bool) -> Figure:
    """Lines that end together at the top of a logarithmic axis whose limits nobody set."""
    figure, (axes,) = panels(message="Names leave the axis as it is")
    for number, height in enumerate(heights):
        axes.plot([0, 1], [0.5, height], label=f"line {number}")
    axes.set(yscale="log")
    if named:
        name_lines(axes)
    return figure


def test_a_leader_ends_at_its_name_and_moves_no_limit():
    heights = [100.0, 99.0, 98.0, 97.0]
    plain, named = (draw_free(heights, named=it) for it in (False, True))
    axes = named.axes[0]
    leaders = [line for line in axes.get_lines() if line.get_label() == "_"]
    assert leaders
    assert axes.get_ylim() == plain.axes[0].get_ylim()
    for line in leaders:
        (_, here), (_, there) = line.get_transform().transform(line.get_xydata())
        matching = next(text for text in axes.texts if text.get_color() == line.get_color())
        assert there == pytest.approx(axes.transAxes.transform(matching.xy)[1])
        number = int(matching.get_text().removeprefix("line "))
        assert here == pytest.approx(axes.transData.transform((1, heights[number]))[1], abs=1)


@pytest.mark.parametrize("heights", [[0.5] * 5, [0.0, 0.01, 0.5, 0.51, 1.0], [1.0] * 6, [0.2]])
def test_names_keep_off_one_another(heights):
    frame = ends(heights)
    figure = draw_lines(frame)
    assert overlapping(figure) == 0
    colours = [line.get_color() for line in figure.axes[0].get_lines() if not line.get_label().startswith("_")]
    named = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    assert named == {f"line {name}": colours[name] for name in range(len(heights))}
    for text in figure.axes[0].texts:  # all would, were they where the lines end
        text.set_y(0.5)
    assert overlapping(figure) == len(heights) * (len(heights) - 1) // 2


@pytest.fixture(scope="module")
def two_lines():
    return show("lines", ends([1 / 3, 2 / 3]), draw_lines)


def test_a_phone_has_panels_below_one_another(two_lines):
    shown = two_lines
    sizes = [re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg).groups() for svg in (shown.svg, shown.narrow)]
    (wide, low), (narrow, tall) = [tuple(map(float, size)) for size in sizes]
    assert (wide, narrow) == (72 * DESK, pytest.approx(72 * PHONE))
    assert tall > 1.5 * low
    assert shown.message == "Lines that end together keep their names apart, whatever is drawn"
    data = shown._repr_mimebundle_()[1]["figure"]
    assert (data["message"], data["narrow"]) == (shown.message, shown.narrow)
    # whoever draws the same for both is drawn once
    same = show("same", ends([0.1]), styled(lambda frame: Figure(figsize=(3, 2))))
    assert same.narrow == ""


def test_no_panel_has_seven_named_lines():
    with pytest.raises(ValueError, match="lines: a panel has 7 named lines; allowed: 6 or fewer"):
        show("lines", ends([0.1] * 7), draw_lines)


@pytest.mark.parametrize("words", [1, 12, 13])
def test_no_title_has_thirteen_words(words):
    @styled
    def draw(frame: pd.DataFrame) -> Figure:
        return panels(message=" ".join(["word"] * words), height=1.0)[0]

    if words > 12:
        with pytest.raises(ValueError, match="long: a title of 13 words; allowed: 12 or fewer"):
            show("long", ends([0.1]), draw)
    else:
        assert len(show("long", ends([0.1]), draw).message.split()) == words


def test_titles_break_into_lines_of_about_one_length():
    lines = wrapped("Counting finds more of the best than estimating, because it gets a quarter of the noise", 7.2, 11)
    first, second = map(len, lines.split("\n"))
    assert abs(first - second) < 15
    assert wrapped("short", 7.2, 11) == "short"


def test_a_table_shows_numbers_as_people_write_them():
    values = [2173.4, 1e-6, 1.234e-12, 1.5e9, 0.25, -45678.0]
    cells = BeautifulSoup(table(pd.DataFrame({"a": values})).data, "html.parser").find_all("td")
    assert [cell.get_text() for cell in cells] == ["2,170", "1e−6", "1.23e−12", "1.5e9", "0.25", "-45,700"]


def test_a_table_shows_names_and_infinity():
    frame = pd.DataFrame({"a": [1.23456, np.inf]}, index=pd.Index(["x", "y"], name="row"))
    rows = BeautifulSoup(table(frame).data, "html.parser").tbody.find_all("tr")
    assert [[cell.get_text() for cell in row.find_all("td")] for row in rows] == [["x", "1.23"], ["y", "∞"]]


def page_with(*shown: Shown) -> nbformat.NotebookNode:
    """An executed page that shows figures."""
    outputs = []
    for it in shown:
        data, metadata = it._repr_mimebundle_()
        outputs.append(nbformat.v4.new_output("display_data", data, metadata=metadata))
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=outputs)])


def test_both_drawings_and_the_data_are_kept(two_lines):
    kept = collect("smoke", {"01-page": page_with(two_lines)})
    assert sorted(kept.figures) == ["lines-narrow.svg", "lines.csv", "lines.svg"]
    assert kept.narrow == {"book/_static/narrow/lines.svg": two_lines.narrow.encode()}


@pytest.mark.parametrize(
    ("names", "drawn", "said"),
    [
        (["lines"], "", "01-page: figure 'lines' has no title; allowed: one whose title says its message"),
        (["lines", "lines"], "says", "01-page: figure name 'lines' is taken; allowed: one figure a name"),
        (["lines-narrow"], "says", "01-page: figure name 'lines-narrow' is taken; allowed: one figure a name"),
        (["../lines"], "says", "01-page: figure name '../lines'; allowed: letters, digits"),
    ],
)
def test_a_figure_that_says_nothing_stops_the_build(names, drawn, said):
    shown = [Shown(name, "<svg/>", ends([0.1]), "m:f", drawn) for name in names]
    with pytest.raises(BuildError, match=re.escape(said)):
        collect("smoke", {"01-page": page_with(*shown)})


@styled
def beside(frame):
    figure, made = panels(2, message="Two panels", height=1.5)
    for axes, name in zip(made, frame, strict=True):
        axes.plot(frame[name], label=name)
    name_lines(made[0])
    return figure


def test_last_bits_of_the_layout_are_in_no_byte(monkeypatch):
    # the layout's solver adds up in the order of addresses: its last bits were those of a run, and so were the bytes
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.5]})
    laid, rng = ConstrainedLayoutEngine.execute, np.random.default_rng(39)

    def nudged(engine, figure):
        laid(engine, figure)
        for axes in figure.axes:
            x, y, width, height = axes.get_position(original=True).bounds
            axes._set_position((x + rng.normal(0, 1e-13), y + rng.normal(0, 1e-13), width, height), which="original")

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", nudged)
    assert len({_drawn("beside", frame, beside, phone=False)[1] for _ in "123"}) == 1


def test_paths_are_no_more_exact_than_anybody_sees(two_lines):
    svg = two_lines.svg
    paths = re.findall(r' d="([^"]*)"', svg)
    assert paths
    assert not any(re.search(r"\.\d{3}", path) for path in paths)
    assert "scale(0.015625)" in svg  # of letters: elsewhere digits matter
    assert "\n " not in svg


def test_a_key_stays_where_it_is_when_a_note_is_put_below_it():
    def below_the_top(figure):
        return figure.get_figheight() - figure.legends[0].get_bbox_to_anchor().y1 / figure.dpi

    tops = []

    @styled
    def drawn(words):
        made, (axes,) = panels(message="A message", height=2.0)
        key(made, axes.plot([0, 1]), ["a line"])
        tops.append(below_the_top(made))
        note(made, words)
        made.draw_without_rendering()
        return made

    made = drawn("Words of which there are many. " * 20)
    assert tops == [pytest.approx(below_the_top(made))]
    assert made.legends[0].get_window_extent().y0 > made.texts[-1].get_window_extent().y1, "they do not touch"
