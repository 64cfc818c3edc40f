"""The front page says what the records say."""

from __future__ import annotations

import json

import pytest
from bs4 import BeautifulSoup
from ledgers import ENTRY, WRONG, check, ledger_at

from companion.ledger.claim import Record
from companion.ledger.files import find_root, load_ledger
from companion.ledger.front import announced, citation, counts, promises, shown_cells, substitutions
from companion.ledger.judge import differing
from companion.ledger.papers import how_many

TABLE = b"""\
mechanism,paper,calibration,claimed,share
Kept,A et al.,as printed,1.0,0.5
Ours,A et al.,calibrated,1.0,1.0
Broken,B et al.,as printed,0.3333333333333333,2.0
Endless,B et al.,as printed,0.25,inf
Sharp,C et al.,as printed,1.0,1.0000000000000002
"""
FRONT = """\
numbers: {most: ["mini2020:alg-1", "a number", bound]}
picture: picture.csv
"""


@pytest.fixture
def book(tmp_path):
    other = ENTRY | WRONG | {"id": "mini2020:thm-1", "verdict": "refuted", "impact": "privacy broken"}
    ledger_at(tmp_path, ENTRY, other)
    (tmp_path / "book").mkdir()
    (tmp_path / "book/front.yml").write_text(FRONT)
    (tmp_path / "CITATION.cff").write_text(
        "title: A book\nversion: 9.8\ndate-released: 2031-02-03\nauthors: [{name: We}, {name: You}]\n"
    )
    records = [
        {"chapter": "01-first", **Record("mini2020:alg-1", (check(True),)).to_json()},
        {"chapter": "01-first", **Record("mini2020:thm-1", (check(False),)).to_json()},
    ]
    return tmp_path, load_ledger(tmp_path), records, {"picture.csv": TABLE}


def test_numbers_are_those_of_the_records(book):
    found = substitutions(*book)
    assert found["most"] == "1"
    counted = {key: found[key] for key in ("claims", "hold", "wrong", "broken")}
    assert counted == {"claims": "2", "hold": "1", "wrong": "1", "broken": "1"}


def test_what_differs_from_the_ledger_is_announced_and_counted_nowhere(book):
    root, ledger, records, figures = book
    assert announced(b"# A book\n\nText.\n", {}) == b"# A book\n\nText.\n"
    records[0] = {"chapter": "01-first", **Record("mini2020:alg-1", (check(False),)).to_json()}
    found = differing(ledger, records, "standard")
    numbers = substitutions(root, ledger, records, figures, found)
    counted = {key: numbers[key] for key in ("claims", "hold", "wrong", "broken")}
    assert counted == {"claims": "2", "hold": "0", "wrong": "1", "broken": "1"}
    number = BeautifulSoup(numbers["most"], "html.parser").a
    assert (number.get_text(), number["href"]) == ("1 (differs)", "../notebooks/01-first.html#mini2020-alg-1")
    title, _, shown, rest = announced(b"# A book\nText.\n", found).decode().splitlines()
    assert (title, rest) == ("# A book", "Text.")
    banner = BeautifulSoup(shown, "html.parser")
    assert "This copy differs from the ledger on this machine: 1 claim." in banner.get_text()
    assert [link["href"] for link in banner.find_all("a")] == ["../notebooks/01-first.html#mini2020-alg-1"]


def test_a_cell_of_a_page_stands_on_the_front(book):
    (book[0] / "book/front.yml").write_text(f"{FRONT}cells: {{game: [01-first, play]}}\n")
    shown = [{"output_type": "stream", "text": "x"}, {"data": {"text/html": "<p>\na</p>", "text/plain": "a"}}]
    cells = [{"id": "other", "cell_type": "markdown"}, {"id": "play", "outputs": shown}]
    assert shown_cells(book[0], {"01-first": {"cells": cells}}) == {"game": "<p>a</p>"}
    with pytest.raises(ValueError, match=r"^book/front\.yml: game: play of 01-first; allowed: a cell that shows HTML$"):
        shown_cells(book[0], {"01-first": {"cells": cells[:1]}})


def test_a_number_that_no_check_has_is_named(book):
    (book[0] / "book/front.yml").write_text(FRONT.replace("a number", "other"))
    with pytest.raises(ValueError, match=r"^book/front\.yml: most: mini2020:alg-1, 'other'; allowed: what one check"):
        substitutions(*book)


def test_a_number_that_two_checks_have_is_named(book):
    root, ledger, records, figures = book
    [first, *_] = records
    first["checks"].append({**first["checks"][0], "what": "a number more", "bound": 2})
    assert substitutions(root, ledger, records, figures)["most"] == "1", "the whole of what is checked comes first"
    (root / "book/front.yml").write_text(FRONT.replace("a number", "a numb"))
    with pytest.raises(ValueError, match="most: mini2020:alg-1, 'a numb'; allowed: what one check"):
        substitutions(root, ledger, records, figures)


def test_a_book_without_a_front_has_no_numbers(book):
    (book[0] / "book/front.yml").unlink()
    assert substitutions(*book) == {}


def test_the_picture_counts_what_it_shows():
    page = BeautifulSoup(promises(TABLE), "html.parser")
    assert page.strong.get_text() == "2 of 4 mechanisms lose more privacy than their papers say"
    assert [row.get_text("|", strip=True) for row in page.tbody.find_all("tr")] == [
        "Endless|B et al., at\xa0ε\xa0=\xa01/4|∞",
        "Broken|B et al., at\xa0ε\xa0=\xa01/3|2",
        "Sharp|C et al., at\xa0ε\xa0=\xa01|1",
        "Kept|A et al., at\xa0ε\xa0=\xa01|0.5",
    ]
    assert [bar["style"] for bar in page.find_all(class_="promise-bar")] == [
        "width: 100.0%",
        "width: 66.7%",
        "width: 33.3%",
        "width: 16.7%",
    ]


def test_how_to_cite_is_that_of_the_citation_file(book):
    said = citation(book[0])
    assert said["version"] == "9.8"
    assert "author = {{We} and {You}},\n  title = {A book},\n  version = {9.8},\n  year = {2031}\n}" in said["bibtex"]


def test_readme_and_front_page_say_the_same_numbers():
    """What the README types is what the records of the standard profile have."""
    root = find_root()
    records = json.loads((root / "data/expected/standard.json").read_text())["records"]
    readme = (root / "README.md").read_text()
    ledger = load_ledger(root)
    found = counts(ledger, records)
    sentence = (
        "{claims} statements have been put to the test by machine: {hold} simply hold, {slips} have a slip of the pen, "
        "{wrong} need a change"
    )
    unchecked, broken = (how_many(int(found[it])) for it in ("unchecked", "broken"))
    rest = f"{unchecked} could not be checked, and {broken} of the {found['wrong']} break a promise"
    assert f"{sentence.format(**found)}, {rest}" in " ".join(readme.split()), "python book/papers.py writes them"
