"""Pages of single results: each says what fails, why, what now, and its lines run by themselves."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from checks import each

from companion.ledger.card import anchor
from companion.ledger.files import load_ledger
from companion.ledger.results import ran, result_pages, results_list, script_of, with_results, words_of
from companion.ledger.scoreboard import Entry

ROOT = Path(__file__).resolve().parents[3]
LEDGER = load_ledger(ROOT)
#: What comes of a claim that has a page, whatever else has one.
GRAVE = ("privacy broken", "theorem false")
BOOK = {"author": "Founders", "version": "1"}
#: Words of a page that fits on one screen, and of a title; lines of code, and their columns.
LONGEST, TITLE, LINES, COLUMNS = 330, 12, 10, 76
#: Words that say what a page's words mean; capitals that need no word of their own: a theorem's condition.
MEANT, OTHERS = 170, {"A2"}


def paged() -> list[str]:
    return [name for name, claim in LEDGER.items() if claim.page]


def scripted() -> list[str]:
    return [name for name in paged() if script_of(ROOT, name)]


def made(name: str, **options: Any) -> str:
    entry = Entry(LEDGER[name], LEDGER[name].verdict)
    picture = LEDGER[name].page.picture
    figures = {f"{picture}.svg": b"<svg/>"} if picture else {}
    pages = result_pages(ROOT, [entry], figures, {str(picture): "12.html#fig-x"}, {}, BOOK, **options)
    return pages[f"book/results/{anchor(name)}.md"].decode()


def test_what_breaks_a_promise_or_a_theorem_has_a_page_and_lines_of_its_own() -> None:
    grave = {name for name, claim in LEDGER.items() if claim.impact in GRAVE}
    assert len(grave) > 10
    assert sorted(grave - set(scripted())) == []


@each("name", paged)
def test_a_page_is_short_and_says_what_it_must(name: str) -> None:
    claim, text = LEDGER[name], made(name)
    page = claim.page
    assert page is not None
    assert len(page.title.split()) <= TITLE
    parts = (page.printed, page.why, page.numbers, page.argument, page.instead)
    assert sum(len(part.split()) for part in parts if part) <= LONGEST
    assert len(re.findall(r"[.!?](?= [A-Z]|$)", page.why)) in (2, 3)
    assert text.startswith(f"# {page.title}\n")
    assert "make run CHAPTER=" in text
    assert "put to them" in text
    assert not re.search(r"<pre>[^<]*\n\n", text), "an empty line ends HTML in Markdown"


@each("name", paged)
def test_a_page_says_what_to_do_and_what_its_words_mean(name: str) -> None:
    """Of names in capitals, and of words that a first course in probability does not have."""
    page, text = LEDGER[name].page, made(name)
    assert page.instead
    assert re.search(r"\*\*What (follows|holds instead, and what to do):\*\* \S", text)
    words = words_of(ROOT, page)
    said = " ".join(filter(None, (page.printed, page.why, page.argument, page.instead)))
    meant = " ".join(f"{word} {says}" for word, says in words)
    assert sum(len(says.split()) for _, says in words) <= MEANT
    strange = r"\b(?:[2A-Z]?[A-Z]{2,}|Mallows|Friedman|Laplace|total variation|ridge|ℓ∞|ℓ2|net wins|rank centrality)"
    assert sorted(set(re.findall(strange, said)) - set(re.findall(strange, meant)) - OTHERS) == []
    assert all(f"<i>{word}</i>" in html.unescape(text) for word, _ in words)


def test_every_word_is_on_a_page() -> None:
    known = yaml.safe_load((ROOT / "data" / "results" / "words.yml").read_text(encoding="utf-8"))
    used = {word for name in paged() for word, _ in words_of(ROOT, LEDGER[name].page)}
    assert {it["word"] for it in known} == used


def test_every_page_has_a_picture_that_a_chapter_draws() -> None:
    shown: dict[str, str] = {}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_bytes())["cells"]:
            if found := re.search(r'show\(\s*"([a-z0-9-]+)"', "".join(cell["source"])):
                shown[found[1]] = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
    pictures = {name: LEDGER[name].page.picture for name in paged()}
    assert [name for name, picture in pictures.items() if len(shown.get(str(picture), "")) <= 40] == []


def test_a_picture_is_told_to_who_cannot_see_it() -> None:
    name = next(name for name in paged() if LEDGER[name].page.picture)
    assert ":alt: Two lines part.\n" in made(name, spoken={str(LEDGER[name].page.picture): "Two lines part."})


@each("name", scripted)
def test_the_lines_are_few_and_stand_alone(name: str) -> None:
    script = script_of(ROOT, name)
    lines = script.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert "assert " in script
    assert ran(script)


@pytest.mark.slow
@each("name", scripted)
def test_the_lines_run_where_nothing_of_ours_is(name: str, tmp_path: Path) -> None:
    file = ROOT / "data" / "results" / f"{anchor(name)}.py"
    done = subprocess.run([sys.executable, "-I", file], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip("\n") == ran(script_of(ROOT, name))


def test_every_file_of_lines_belongs_to_a_page() -> None:
    files = {path.stem for path in (ROOT / "data" / "results").glob("*.py")}
    assert files == {anchor(name) for name in scripted()}


@pytest.mark.parametrize(
    "line", ["import dprank", "from companion.ledger import files", "from . import x", "import pandas as pd"]
)
def test_lines_that_need_more_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="allowed: the standard library and NumPy"):
        ran(line)


def test_a_page_shows_the_lines_and_what_they_print() -> None:
    name = scripted()[0]
    text = made(name)
    assert f"```python\n{script_of(ROOT, name)}\n```" in text
    assert f"```text\n{ran(script_of(ROOT, name))}\n```" in text


def test_a_picture_that_no_chapter_draws_is_refused() -> None:
    name = next(name for name in paged() if LEDGER[name].page.picture)
    entry = Entry(LEDGER[name], "refuted")
    with pytest.raises(ValueError, match="allowed: a figure that a chapter draws"):
        result_pages(ROOT, [entry], {}, {}, {}, BOOK)


def test_what_the_authors_were_asked_is_said() -> None:
    name = paged()[0]
    claim = LEDGER[name]
    assert claim.page is not None
    asked = replace(claim, page=replace(claim.page, asked="1 May 2027", picture=None))
    said = result_pages(ROOT, [Entry(asked, "refuted")], {}, {}, {}, BOOK)[f"book/results/{anchor(name)}.md"].decode()
    assert "put to them on 1 May 2027. Not yet answered." in said
    assert "not been put to them yet" in made(name)


def test_a_whole_address_is_cited_where_the_site_has_one() -> None:
    name = paged()[0]
    assert "url = {https://here.org/book/results/" in made(name, base="https://here.org/").replace("&#34;", '"')
    assert "url =" not in made(name)


def test_the_list_leads_to_all_pages_and_the_contents_have_them() -> None:
    listed = results_list(Entry(it, it.verdict) for it in LEDGER.values())
    assert sorted(re.findall(r'href="results/([^"]+)\.html"', listed)) == sorted(map(anchor, paged()))
    toc = with_results((ROOT / "_toc.yml").read_bytes(), ["book/results/b.md", "book/results/a.md"])
    (entry,) = (it for part in yaml.safe_load(toc)["parts"] for it in part["chapters"] if it["file"] == "book/results")
    assert entry["sections"] == [{"file": "book/results/a"}, {"file": "book/results/b"}]
