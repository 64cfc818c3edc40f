"""A reader finds the way in a small book: road and statement page, old addresses, search, previews, no script on."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from small_book import FIRST, HISTORY, LEDGER, PROFILES, REPOSITORY, TOC, build, make_book, once, tags, write_notebook

from companion.ledger.files import load_ledger
from companion.press import BuildError
from companion.press.roads import assemble, behind

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROAD = """\
# First

**In short.** A voter pays epsilon, and later epsilons.

{from}`cell-2`

{verdict}`mini2020:alg-1`

## A section

Words about {glue:text}`number`.
"""
ADDRESS = "https://host.example/book"
GLOSSARY = """\
# Glossary

```{glossary}
epsilon
  The price $\\varepsilon$.
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A road, a page behind it, a page under an old name, a glossary; it will stand at `ADDRESS`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_URL", ADDRESS)
        return once(tmp_path_factory, "way", make_way).root / "_build/html"


def make_way(root: Path) -> list[str]:
    """Write and build it."""
    make_book(root)
    for name in ("access.js", "search.js", "wayfinding.js"):
        shutil.copy(REPOSITORY / "book/_static" / name, root / "book/_static" / name)
    shutil.copytree(REPOSITORY / "book/_templates", root / "book/_templates")
    write_notebook(root / "notebooks/01-first.ipynb", ("markdown", ROAD))
    write_notebook(
        root / "notebooks/01a-behind.ipynb",
        ("markdown", "# Behind\n\nText."),
        ("parameters", "repetitions = 10  # 2 .. 100; how often the line is drawn"),
        ("code", FIRST),
        ("code", 'from myst_nb import glue\nglue("number", "forty-two", display=False)'),
        ("typed", "print('typed by a reader')"),
        ("code", 'Record("mini2020:alg-1", (Check("one", 1, "<=", scale, error=1e-9),))'),
    )
    write_notebook(root / "notebooks/12-privacy-audited.ipynb", ("markdown", "# Audited\n\n(deep)=\n## Deep"))
    toc = TOC.replace("01-first}", "01-first, sections: [{file: notebooks/01a-behind}]}")
    files = {
        "_toc.yml": toc.replace("[{", "[{file: notebooks/12-privacy-audited}, {file: book/glossary}, {", 1),
        "book/glossary.md": GLOSSARY,
        "notebooks/profiles.yml": PROFILES.replace("01-first", "01a-behind"),
        "data/claims/mini2020.yml": LEDGER.replace("chapter: 01-first", "chapter: 01a-behind"),
        "data/history.yml": HISTORY,
    }
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return build(root)


@pytest.fixture
def page(quiet: Callable[[], Page]) -> Page:
    """A page in Chromium that may say nothing."""
    return quiet()


@pytest.mark.slow
def test_a_road_shows_what_it_borrows(site: Path) -> None:
    road, lender = ((site / f"notebooks/{name}.html").read_text() for name in ("01-first", "01a-behind"))
    assert "image/svg" in road or "_images" in road
    assert "line.svg" not in lender
    assert "forty-two" in road
    assert "One is at most the scale" in road
    assert 'id="mini2020-alg-1"' in road
    assert "typed by a reader" in lender
    assert "repetitions" not in lender + road
    assert "runpy" not in lender + road, "code that nobody would type"


@pytest.mark.slow
def test_an_address_makes_whole_addresses(site: Path) -> None:
    found = tags(site / "notebooks/01-first.html")
    assert found["og:image"] == f"{ADDRESS}/_static/share/index.png"
    assert found["og:url"] == f"{ADDRESS}/notebooks/01-first.html"
    assert f'xml:base="{ADDRESS}/"' in (site / "errata.xml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_previous_and_next_lead_along_the_road(site: Path, page: Page) -> None:
    page.goto((site / "notebooks/01-first.html").as_uri())
    assert page.locator(".prev-next-area a.right-next").get_attribute("href") == "02-second.html"
    page.goto((site / "notebooks/01a-behind.html").as_uri())
    assert page.locator(".prev-next-area a.left-prev").get_attribute("href") == "01-first.html"


@pytest.mark.slow
def test_old_addresses_lead_on(site: Path, page: Page) -> None:
    """A card that was on the chapter's page; a page that had another number; a section that moved behind."""
    page.goto((site / "notebooks/01-first.html#mini2020-alg-1").as_uri().replace("%23", "#"))
    page.wait_for_url("**/01a-behind.html#mini2020-alg-1")
    page.goto((site / "notebooks/11-privacy-audited.html").as_uri() + "#deep")
    page.wait_for_url("**/12-privacy-audited.html#deep")
    page.goto((site / "notebooks/02-second.html").as_uri() + "#mini2020-alg-1")
    page.wait_for_url("**/01a-behind.html#mini2020-alg-1")


@pytest.mark.slow
def test_a_term_of_the_glossary_is_a_link_that_says_what_it_means(site: Path, page: Page) -> None:
    page.goto((site / "notebooks/01-first.html").as_uri())
    links = page.locator("article a:has(.term)")
    assert links.count() == 1, "the first mention only"
    # on a busy machine, beside others, it was shown and hidden again in four of five whole runs, and never alone: why,
    # nobody knows yet. A reader moves the mouse once more.
    for _ in range(5):
        page.mouse.move(0, 0)
        links.hover()
        page.wait_for_timeout(1000)
        if page.locator("#preview").is_visible():
            break
    assert "The price" in page.inner_text("#preview")
    page.keyboard.press("Escape")
    assert page.locator("#preview").is_hidden()


@pytest.mark.slow
def test_paper_is_white_whatever_the_screen_is(site: Path, page: Page) -> None:
    page.goto((site / "notebooks/01-first.html").as_uri())
    printing = """() => {
        const looks = document.documentElement.dataset;
        looks.theme = "dark";
        return ["beforeprint", "afterprint"].map(it => (dispatchEvent(new Event(it)), looks.theme));
    }"""
    assert page.evaluate(printing) == ["light", "dark"]
    text = (site / "notebooks/01-first.html").read_text(encoding="utf-8")
    assert re.search(r'<link[^>]*media="print"[^>]*href="../_static/print.css', text)


@pytest.mark.slow
def test_search_finds_sections_claims_and_terms(site: Path, page: Page) -> None:
    def found(query: str) -> list[Any]:
        page.goto((site / "search.html").as_uri() + f"?q={query}")
        page.wait_for_selector("#search-results p", state="attached")
        return [link.get_attribute("href") for link in page.locator("#search-results a").all()]

    assert found("words section") == ["notebooks/01-first.html#a-section"]
    assert found("theorem 1 mini2020")[0] == "notebooks/02-second.html#mini2020-thm-1"
    assert found("epsilon")[0] == "book/glossary.html#term-epsilon"
    assert found("runpy") == [], "no code"
    assert found("varepsilon") == [], "no formulas"


@pytest.mark.parametrize(
    ("line", "message"),
    [("{from}`nothing`", "01-r: {from}`nothing`; allowed: a cell of 01a-s, once"),
     ("{from}`cell-0`\n\n{from}`cell-0`", "01-r: {from}`cell-0`; allowed: a cell of 01a-s, once"),
     ("{verdict}`mini2020:alg-9`", "01-r: {verdict}`mini2020:alg-9`; allowed: an id of the ledger")],
)  # fmt: skip
def test_a_road_that_asks_for_nothing_there_is_says_so(tmp_path: Path, line: str, message: str) -> None:
    write_notebook(tmp_path / "01-r.ipynb", ("markdown", f"# R\n\n{line}"))
    write_notebook(tmp_path / "01a-s.ipynb", ("code", "1"))
    pages = {path.stem: nbformat.read(path, as_version=4) for path in tmp_path.glob("*.ipynb")}
    with pytest.raises(BuildError) as error:
        assemble(pages, load_ledger(tmp_path))
    assert str(error.value) == message


def test_behind_a_road_are_its_pages_in_order() -> None:
    names = ["07b-x", "07-r", "07a-y", "08a-z", "90-board"]
    assert behind("07-r", names) == ["07a-y", "07b-x"]
    assert behind("90-board", names) == behind("07a-y", names) == []


def test_the_ledger_is_what_search_and_previews_say(site: Path) -> None:
    text = (site / "_static/previews.js").read_text(encoding="utf-8")
    previews = json.loads(text.partition("=")[2].rstrip(";\n"))
    assert previews["notebooks/01a-behind.html#mini2020-alg-1"].endswith("<p>One is at most the scale &amp; more.</p>")
    assert not [key for key in previews if "03-later" in key], "a claim without a page"


@pytest.mark.parametrize(
    ("sentence", "linked"),
    [
        ("It asks this for all neighbours and all events.", True),
        ("The worst neighbours found need more.", True),
        ("Two data sets are neighbours if one answer differs.", True),
        ("Take two neighbours, and exchange their strengths.", False),
        ("Further down neighbours change places.", False),
        ("Of which neighbours in the common order are preferred. It holds for all neighbours.", True),
    ],
)
def test_items_that_are_neighbours_are_not_data_sets(
    monkeypatch: pytest.MonkeyPatch, sentence: str, linked: bool
) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "book/_ext"))
    _linked = runpy.run_path(str(REPOSITORY / "book/_ext/wayfinding.py"))["_linked"]
    words = re.compile(r"\b(neighbours?)\b")
    parts = list(_linked(sentence, words, {"neighbours": "neighbours", "neighbour": "neighbours"}, set()))
    assert (len(parts) > 1) == linked
