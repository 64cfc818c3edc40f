"""What pages show beside the claims: all of it is in the record, a change in any of it is found, rounding is none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion.press import pages, sums
from companion.press.collect import collect, write_checksums
from companion.press.layout import Layout, digest
from companion.press.pages import Entry, apart, differences, entries
from companion.press.verify import _told

ROOT = Path(__file__).parents[2]
TABLE = (
    "<div><style scoped>td {width: 7px}</style><table><thead><tr><th></th><th>voters</th><th>error</th></tr></thead>"
    "<tbody><tr><th>Paris</th><td>41</td><td>0.123456</td></tr><tr><th>Milano</th><td>holds</td><td>2.5e−3</td></tr>"
    "</tbody></table><p>2 of 3 shown</p><script>draw(99)</script></div>"
)


def notebook(
    number: str = "0.9987", table: str = TABLE, data: str = "x,y\n1,0.3333333333333333\n2,tie\n", said: str = "Paris\n"
) -> nbformat.NotebookNode:
    """A page with one of each kind, a claim, and the links of a figure."""
    mime = "application/papermill.record/"
    figure = {"name": "line", "message": "Two are 3 apart", "data": data}
    claim = {"claim": {"claim": "mini:thm-1", "verdict": "holds", "checks": []}}
    glued = {"scrapbook": {"name": "top", "mime_prefix": mime}}
    outputs = {
        "glue": ("display_data", {f"{mime}text/plain": repr(number)}, glued),
        "frame": ("execute_result", {"text/html": table, "text/plain": "<HTML>"}, {}),
        "draw": ("execute_result", {"image/svg+xml": "<svg/>", "text/plain": "figure"}, {"figure": figure}),
        "links": ("execute_result", {"text/html": '<p class="figure-links"><a href="8">data</a></p>'}, {}),
        "card": ("execute_result", {"text/plain": "mini:thm-1: holds 77"}, claim),
    }  # fmt: skip
    cells = [
        new_code_cell("", id=name, outputs=[new_output(kind, data=shown, metadata=metadata)])
        for name, (kind, shown, metadata) in outputs.items()
    ]
    stream = new_code_cell("", id="say", outputs=[new_output("stream", text=said)])
    return new_notebook(cells=[new_markdown_cell("66"), *cells, stream])


def shown(**given: str) -> list[Entry]:
    return list(entries("01-first", notebook(**given)))


def test_all_that_a_page_shows_is_kept_once() -> None:
    # a claim's text, links with the same data, a style, a script and prose without a cell are none of it
    assert shown() == [
        ("01-first", "number", "top", ("0.9987",)),
        ("01-first", "table", "frame", ("| voters | error", "Paris | 41 | 0.123456", "Milano | holds | 2.5e−3")),
        ("01-first", "text", "frame", ("2 of 3 shown",)),
        ("01-first", "figure", "line", ("Two are 3 apart", "x,y", "1,0.3333333333", "2,tie")),
        ("01-first", "text", "say", ("Paris",)),
    ]


def test_two_outputs_of_a_cell_are_two() -> None:
    page = notebook()
    page.cells[2].outputs *= 2
    assert [it.name for it in entries("01-first", page) if it.kind == "table"] == ["frame", "frame (2)"]


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"number": "0.9988"}, "number top: expected '0.9987', observed '0.9988'"),
        ({"number": "1"}, "number top: expected '0.9987', observed '1'"),
        (
            {"table": TABLE.replace("41", "42")},
            "table frame, row 2: expected 'Paris | 41 | 0.123456', observed 'Paris | 42 | 0.123456'",
        ),
        (
            {"table": TABLE.replace("0.123456", "0.123457")},
            "table frame, row 2: expected 'Paris | 41 | 0.123456', observed 'Paris | 41 | 0.123457'",
        ),
        (
            {"table": TABLE.replace("holds", "fails")},
            "table frame, row 3: expected 'Milano | holds | 2.5e−3', observed 'Milano | fails | 2.5e−3'",
        ),
        (
            {"table": TABLE.replace("e−3", "e−4")},
            "table frame, row 3: expected 'Milano | holds | 2.5e−3', observed 'Milano | holds | 2.5e−4'",
        ),
        ({"table": TABLE.replace("2 of", "3 of")}, "text frame: expected '2 of 3 shown', observed '3 of 3 shown'"),
        (
            {"data": "x,y\n1,0.3333333433333333\n2,tie\n"},
            "figure line, row 3: expected '1,0.3333333333', observed '1,0.3333333433'",
        ),
        ({"data": "x,y\n1,0.3333333333333333\n"}, "figure line, row 4: expected 4 rows, observed 3"),
        ({"said": "Milano\n"}, "text say: expected 'Paris', observed 'Milano'"),
    ],
)
def test_what_is_altered_is_found(changed: dict[str, str], line: str) -> None:
    assert list(map(str, differences(shown(), shown(**changed)))) == [f"01-first: {line}"]


def test_a_float_within_the_tolerance_is_the_same() -> None:
    # a slip in TOLERANCE or DIGITS: the last kept digit may move, the ninth not (see above)
    assert not list(differences(shown(), shown(data="x,y\n1,0.33333333343\n2,tie\n")))
    near = [Entry("01-first", "figure", "line", (f"{value!r}",)) for value in (0.25, 0.2500000001)]
    assert not list(differences(near[:1], near[1:]))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("0", "8.88e−16", True),
        ("1.35e-13,5", "0.0,5", True),
        ("1e-9", "2e-9", False),
        ("2.69e−9", "2.68e−9", True),
        ("58", "59", False),
        ("4,454", "4,455", False),
        ("1", "1.0", True),
        ("0.5", "-0.5", False),
        ("0.5", "nan", False),
        ("1e999", "2e999", False),
        ("0.5 | ", " | 0.5", False),
        ("P1", "P2", False),
        ("12345678901234567890", "12345678901234567891", False),
    ],
)
def test_whole_numbers_and_words_are_exact_and_what_should_be_0_is_0(one: str, other: str, alike: bool) -> None:
    assert (apart(one, other) <= 1) == (apart(other, one) <= 1) == alike


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("0.14 of all", "0.15 of all", True),  # 0.145, and a last bit less
        ("1.0e-07", "9.9e-08", True),
        ("−0.3", "−0.4", True),
        ("0.14 of all", "0.16 of all", False),
        ("14 of all", "15 of all", False),
        ("0.14 of all", "0.15 of some", False),
    ],
)
def test_abroad_what_was_rounded_may_be_one_off_in_its_last_digit(one: str, other: str, alike: bool) -> None:
    # otherwise another processor ends red where a mean lies between two printed numbers; figures' data are not rounded
    sides = [[Entry("01-first", "table", "frame", (it,))] for it in (one, other)]
    assert (not list(differences(*sides, abroad=True))) == alike
    assert list(differences(*sides))
    assert list(differences(*([it._replace(kind="figure") for it in side] for side in sides), abroad=True))


def test_abroad_few_may_move_and_none_may_be_lost() -> None:
    # else a machine that nobody has measured ends red over a draw; or a lost table, or a wrong page, ends green there
    whole = [Entry("01-first", "table", f"frame {i}", ("a | 1", "b | 2")) for i in range(100)]
    other = [it._replace(rows=("a | 1", "b | 3")) for it in whole]
    for count, may in ((1, True), (2, True), (3, False)):
        assert pages.few(differences(whole, other[:count] + whole[count:], abroad=True), 100) == may
    assert not pages.few(differences(whole, whole[1:], abroad=True), 100)
    assert not pages.few(differences(whole, [whole[0]._replace(rows=("a | 1",)), *whole[1:]], abroad=True), 100)


def test_what_is_missing_and_what_is_new_are_found() -> None:
    gone = [it for it in shown() if it.kind != "table"]
    more = [*shown(), Entry("01-first", "figure", "dots", ("a",))]
    assert list(map(str, differences(shown(), gone))) == ["01-first: table frame: expected a table, observed nothing"]
    assert list(map(str, differences(shown(), more))) == ["01-first: figure dots: expected nothing, observed a figure"]


def test_only_floats_are_said_to_be_numeric() -> None:
    # under other versions those are counted, not listed: a word or a whole number must not be among them
    wrong = [{"number": "0.9988"}, {"number": "best"}, {"table": TABLE.replace("41", "42")}, {"said": "Milano\n"}]
    assert [it.numeric for one in wrong for it in differences(shown(), shown(**one))] == [True, False, False, False]


def test_a_long_row_is_shown_where_it_parts() -> None:
    rows = [("7 " * 200,), ("7 " * 150 + "8 " + "7 " * 49,)]
    [line] = map(str, differences(*([Entry("01-first", "text", "say", it)] for it in rows)))
    assert len(line) < 200
    assert "8 7" in line


def test_of_a_table_the_first_rows_that_differ_are_listed() -> None:
    rows = tuple(map(str, range(9)))
    found = list(differences([Entry("p", "table", "a", rows)], [Entry("p", "table", "a", ("x",) * 9)]))
    assert _told(found, every=True) == list(map(str, found))
    assert _told(found, every=False) == [*map(str, found[:3]), "p: table a: 6 rows more (--every lists them)"]
    assert _told(found[:4], every=False) == list(map(str, found[:4]))


def test_long_numbers_keep_ten_digits_and_stay_what_they_are() -> None:
    row = "0.12345678901234 | 1.000000000000001 | 12345678901234 | −1.2345678901234e−7"
    [it] = [it for it in shown(said=row) if it.name == "say"]
    assert it.rows == ("0.123456789 | 1.0 | 12345678901234 | -1.23456789e-07",)


def test_a_record_gives_what_was_put_into_it() -> None:
    content = json.loads(pages.written({"profile": "smoke"}, shown()))
    assert content["profile"] == "smoke"
    assert pages.read(content) == sorted(shown())


def test_numbers_are_counted_by_kind() -> None:
    told = "1 numbers in 1 sentences, 3 numbers in 1 tables, 4 numbers in 1 figures, 2 numbers in 2 printed texts"
    assert pages.counted(shown()) == told


@pytest.fixture
def built(tmp_path: Path) -> Layout:
    layout = Layout(tmp_path)
    collect("standard", {"01-first": notebook()}).write(layout)
    write_checksums(layout, site=False)
    return layout


def test_a_build_writes_what_its_pages_show(built: Layout) -> None:
    content = json.loads(built.pages.read_bytes())
    assert pages.read(content) == sorted(shown())
    assert content.keys() == {"profile", "seed", "versions", "pages"}, "no clock, no path, no commit"


def test_bytes_that_are_altered_or_other_are_found(built: Layout) -> None:
    made = (built.build / "SHA256SUMS").read_text()
    names = ["figures/line.csv", "figures/line.svg", "pages.json", "records.json"]
    assert sorted(sums.committed(made)) == names
    assert sums.altered(built, made) == sums.apart(made, made) == []
    site = f"{digest(b'site')}  html/index.html\n"
    assert sums.apart(made, made + site) == [], "prose changes the site, and no number"
    for name in names:
        other = made.replace(sums.committed(made)[name], digest(b"other"))
        assert [line.partition(":")[0] for line in sums.apart(made, other)] == [name]
        fewer = "".join(line for line in made.splitlines(keepends=True) if not line.endswith(f"  {name}\n"))
        assert [line.partition(":")[0] for line in sums.apart(made, fewer)] == [name]
        assert [line.partition(":")[0] for line in sums.apart(fewer, made)] == [name]
    (built.build / "figures/line.csv").write_text("x,y\n")
    (built.build / "pages.json").unlink()
    found = ["_build/figures/line.csv: altered since it was built", "_build/pages.json: gone since it was built"]
    assert sums.altered(built, made) == found


def _kinds(profile: str) -> Counter[str]:
    content: dict[str, Any] = json.loads(Layout(ROOT).expected_pages(profile).read_bytes())
    return Counter(it.kind for it in pages.read(content))


@pytest.mark.parametrize("profile", ["smoke", "standard"])
def test_the_committed_record_has_all_kinds_and_every_figure(profile: str) -> None:
    # a record that lost a profile or a kind would be compared with nothing
    kinds, layout = _kinds(profile), Layout(ROOT)
    listed = sums.committed(layout.expected_sums(profile).read_text())
    assert kinds.keys() == pages.KINDS.keys()
    assert kinds["figure"] == sum(name.endswith(".csv") for name in listed) > 100
    assert kinds["number"] > 400
    assert kinds["table"] > 200


def test_what_moves_is_little_and_is_in_the_record() -> None:
    moved = json.loads((ROOT / "data/expected/processor-dependent.json").read_bytes())["moved"]
    content = json.loads(Layout(ROOT).expected_pages("standard").read_bytes())
    assert {tuple(key) for key in moved} <= {it.key for it in pages.read(content)}
    assert len(moved) < 20
