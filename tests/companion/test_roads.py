"""Main roads are short, statement pages hold the claims, and what a road borrows is there."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
import yaml

from companion.ledger.files import load_ledger
from companion.press import BuildError
from companion.press.roads import BORROWED, EXERCISE, FOLDED, MAP, SOLUTION, STRIP, TYPED, assemble, behind, hide_code

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.stem: nbformat.read(path, as_version=4) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}
ROADS = [name for name in PAGES if re.match(r"[0-8]\d-", name)]
STATEMENTS = [name for name in PAGES if re.match(r"\d\d[a-z]-", name)]


def tagged(name: str, tag: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in PAGES[name].cells if tag in cell.metadata.get("tags", [])]


def prose(name: str) -> str:
    """All that is written on a page, but for its exercises."""
    cells = [cell for cell in PAGES[name].cells if cell.cell_type == "markdown"]
    return "\n".join(cell.source for cell in cells if EXERCISE not in cell.metadata.get("tags", []))


def count(text: str) -> int:
    """Words, without the lines that stand for cells."""
    return len(STRIP.sub("", BORROWED.sub("", text)).split())


@pytest.mark.parametrize("road", ROADS)
def test_a_road_is_short(road: str) -> None:
    """At most 2,900 words, 6 verdicts, 12 borrowed cells, and what one would type in a quarter of an hour."""
    text, typed = prose(road), tagged(road, TYPED)
    borrowed, strips = BORROWED.findall(text), STRIP.findall(text)
    words = count(text)
    assert (words <= 2900, len(borrowed) <= 12, len(strips) <= 6, len(typed) <= 16) == (True,) * 4, (road, words)
    assert "**In short" in text[:2500], f"{road}: the answer comes first"


def test_all_roads_together_are_a_book_of_an_afternoon() -> None:
    assert sum(count(prose(road)) for road in ROADS) <= 29_000


@pytest.mark.parametrize("road", ROADS)
def test_a_road_borrows_what_is_there(road: str) -> None:
    lent = {cell.id for page in behind(road, PAGES) for cell in PAGES[page].cells if cell.cell_type == "code"}
    asked = BORROWED.findall(prose(road))
    assert set(asked) <= lent
    assert len(set(asked)) == len(asked)


def test_a_solution_is_folded_with_what_it_prints() -> None:
    cells = [nbformat.v4.new_code_cell("print(2)", metadata={"tags": [tag]}) for tag in (SOLUTION, TYPED, "other")]
    page = nbformat.v4.new_notebook(cells=cells)
    hide_code(page)
    assert [cell.metadata["tags"] for cell in page.cells] == [
        ["hide-cell", SOLUTION],
        [TYPED],
        ["other", "remove-cell"],
    ]
    assert page.cells[0].metadata["mystnb"] == FOLDED


def test_every_claim_is_on_a_statement_page_behind_a_road() -> None:
    ledger = load_ledger(ROOT)
    assert {claim.chapter for claim in ledger.values()} <= set(STATEMENTS)
    assert [page for page in STATEMENTS if not any(page in behind(road, PAGES) for road in ROADS)] == []
    said = "\n".join(map(prose, PAGES))
    assert not {*STRIP.findall(said), *MAP.findall(said)} - ledger.keys()


def test_a_map_is_drawn_where_its_line_stands() -> None:
    cell = nbformat.v4.new_markdown_cell("Before.\n\n{map}`cai2025:thm-2.1`\n\nAfter.")
    page = nbformat.v4.new_notebook(cells=[cell])
    assemble({"02b-proofs": page}, load_ledger(ROOT))
    before, drawn = page.cells[0].source.split('<div class="proof-map">')
    assert before.strip() == "Before."
    assert drawn.rstrip().endswith("After.")
    assert "02b-edge-privacy-proofs.html#cai2025-lem-a.3" in drawn
    assert "\n\n" not in drawn.rpartition("</div>")[0], "HTML of Markdown ends at an empty line"
    names = re.findall(r'<li class="claim.*?<a[^>]*>(.*?)</a>', drawn)
    assert len(names) == len(set(names)) == 21, "a box of a phone is found by its name"
    cell.source = "{map}`cai2025:thm-99`"
    with pytest.raises(BuildError, match=r"02b-proofs: \{map\}`cai2025:thm-99`; allowed: an id of the ledger"):
        assemble({"02b-proofs": nbformat.v4.new_notebook(cells=[cell])}, load_ledger(ROOT))


def test_statement_pages_are_nested_under_their_roads() -> None:
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    chapters = [chapter for part in parts for chapter in part["chapters"]]
    nested = {Path(it["file"]).name: [Path(s["file"]).name for s in it.get("sections", [])] for it in chapters}
    assert {road: nested.get(road) for road in ROADS} == {road: behind(road, PAGES) for road in ROADS}
