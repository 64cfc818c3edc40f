"""A page that somebody shares says what it is and shows its figure; the site has its feed, its gallery, how to cite."""

from __future__ import annotations

import io
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from PIL import Image
from small_book import FIGURE, REPOSITORY, WORDS, Built, tags
from test_site import needs_chromium

from companion.ledger.card import fill
from companion.press import UsageError
from companion.press.layout import Layout
from companion.press.pipeline import Build
from companion.press.render import settings
from companion.press.shared import HEAVIEST, LONGEST, check_shared

if TYPE_CHECKING:
    from explorer_pages import Reader


@pytest.fixture
def share(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.syspath_prepend(str(REPOSITORY / "book/_ext"))
    return runpy.run_path(str(REPOSITORY / "book/_ext/share.py"))


def page(*texts: str) -> nodes.document:
    document = new_document("page")
    section = nodes.section("", nodes.title("", "A page"), nodes.note("", nodes.paragraph("", "Beware.")))
    section += [nodes.paragraph("", text) for text in texts]
    document += section
    return document


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["First.", "Second."], "First."),
        (["A person asks.", "In short. The answer .", "More."], "The answer."),
        (["Algorithm 3.", "What is claimed: much.", "Why it fails: It counts one .", "More."], "It counts one."),
        ([], "A page"),
        ([f"{WORDS} {'Then more and more. ' * 10}"], f"{WORDS} {'Then more and more. ' * 6}".strip()),
        ([f"Of Cai et al. {'word ' * 60}"], None),
        (["So ε= 0.2 (as [2021 ]) holds ."], "So ε = 0.2 (as [2021]) holds."),
    ],
)
def test_a_page_is_described_by_its_short_answer_or_its_first_paragraph(
    share: dict[str, Any], texts: list[str], said: str | None
) -> None:
    found = share["described"](page(*texts))
    assert len(found) <= share["LONGEST"]
    assert found == said if said else found.endswith("word …")


def seen(png: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(png))
    assert image.size == (1200, 630)
    return image.convert("RGB")


def test_without_a_figure_the_picture_of_a_result_has_its_words(share: dict[str, Any]) -> None:
    empty, told = (seen(share["drawn"]("A page", "", "A book", said)) for said in ("", f"{WORDS} " * 3))
    lines = told.crop((0, 100, 1200, 560))
    assert lines.tobytes() != empty.crop((0, 100, 1200, 560)).tobytes()
    assert lines.crop((1140, 0, 1200, 460)).getcolors() == [(60 * 460, (255, 255, 255))], "nothing runs over the edge"


def test_the_picture_has_the_title_and_the_figure(share: dict[str, Any]) -> None:
    def drawn(title: str = "A title", figure: str = "") -> bytes:
        return share["drawn"](title, figure, "The book")

    bare, square = drawn(), drawn(figure=FIGURE.format(100, 100))
    assert square == drawn(figure=FIGURE.format(100, 100)), "the same bytes each time"
    assert len({bare, square, drawn("Another")}) == 3
    assert len(square) < HEAVIEST
    orange = (213, 94, 0)
    assert seen(square).getpixel((600, 300)) == orange != seen(bare).getpixel((600, 300))
    assert seen(drawn(figure=FIGURE.format(100, 60))).getpixel((600, 555)) == orange, "all of a wide one"
    assert seen(square).getpixel((600, 555)) != orange, "a tall one fades"
    assert seen(drawn("word " * 60)).getpixel((1199, 100)) == (255, 255, 255), "a long title stays inside"


# ---------------------------------------------------------------- the gate

HEAD = """\
<html lang="en"><head><meta name="description" content="{said}"/><meta property="og:title" content="A"/>
<meta property="og:image" content="../_static/share/{name}.png"/></head><body id="here"></body></html>"""
FEED = """\
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:a</id><title>Errata</title><updated>2021-01-01T00:00:00Z</updated>
<entry><id>urn:b</id><title>One</title><updated>2021-01-01T00:00:00Z</updated>
<link href="notebooks/a.html#here"/></entry></feed>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for folder in ("notebooks", "_static/share"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / f"notebooks/{name}.html").write_text(HEAD.format(said=f"{WORDS} {name}", name=name))
        Image.new("P", (1200, 630)).save(tmp_path / f"_static/share/{name}.png")
    (tmp_path / "errata.xml").write_text(FEED)
    return tmp_path


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(site: Path) -> None:
        text = (site / name).read_text()
        assert old in text
        (site / name).write_text(text.replace(old, new))

    return change


def heavy(site: Path) -> None:
    Image.effect_noise((1200, 630), 100).save(site / "_static/share/a.png")


def small(site: Path) -> None:
    Image.new("P", (600, 315)).save(site / "_static/share/a.png")


ENTRY = FEED[FEED.index("<entry>") : FEED.index("</feed>")]
FAULTS = [
    (edit("notebooks/a.html", f"{WORDS} a", ""), "notebooks/a.html: its description has 0 letters"),
    (edit("notebooks/a.html", WORDS, WORDS * 4), f"letters; allowed: 20 to {LONGEST}"),
    (edit("notebooks/a.html", f"{WORDS} a", f"{WORDS} b"), "2 pages say"),
    (edit("notebooks/a.html", "og:title", "title"), "notebooks/a.html: no og:title"),
    (edit("notebooks/a.html", "a.png", "c.png"), "og:image '../_static/share/c.png' does not exist"),
    (heavy, "bytes; allowed: 60,000"),
    (small, "600 x 315 px; allowed: 1200 x 630"),
    (lambda site: (site / "errata.xml").unlink(), "errata.xml: not there"),
    (edit("errata.xml", "</feed>", ""), "errata.xml: not XML"),
    (edit("errata.xml", ENTRY, ENTRY * 2), "errata.xml: 2 entries have the id urn:b"),
    (edit("errata.xml", "<title>One</title>", ""), "errata.xml: entry 1 has no title"),
    (edit("errata.xml", "#here", "#there"), "errata.xml: notebooks/a.html#there does not exist"),
]


def test_a_site_fit_to_be_shared(site: Path) -> None:
    assert check_shared(site) == []


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_a_planted_fault_is_named(site: Path, fault: Callable[[Path], None], said: str) -> None:
    fault(site)
    problems = check_shared(site)
    assert any(said in it for it in problems), problems


# ---------------------------------------------------------------- a book


@pytest.fixture(scope="module")
def book(built: Built) -> Path:
    """A small book with a figure, a history, its citation and a page for all figures."""
    return built.root


@pytest.mark.slow
def test_pages_say_what_they_are(book: Path) -> None:
    html = book / "_build/html"
    first, root = tags(html / "notebooks/01-first.html"), tags(html / "index.html")
    assert first["description"] == first["og:description"] == WORDS
    assert first["og:image"] == "../_static/share/01-first.png"
    assert first["og:image:alt"] == "A line that rises."
    assert seen((html / "_static/share/01-first.png").read_bytes()).getpixel((600, 300)) == (213, 94, 0)
    assert tags(html / "notebooks/02-second.html")["og:image"] == "../_static/share/index.png"
    assert root["og:image"] == "_static/share/index.png"
    assert root["description"].startswith(WORDS)
    assert not any("://" in value for value in (first | root).values())
    lengths = "its description has 5 letters", "its description has 6 letters"  # a page that says nothing has its title
    assert [it for it in check_shared(html) if not any(length in it for length in lengths)] == []


@pytest.mark.slow
def test_the_site_has_its_citation_and_feed(book: Path) -> None:
    html = book / "_build/html"
    assert (html / "CITATION.cff").read_bytes() == (REPOSITORY / "CITATION.cff").read_bytes()
    page = BeautifulSoup((html / "notebooks/01-first.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select_one("link[type='application/atom+xml']")["href"] == "../errata.xml"
    assert page.select_one(".cite a")["href"] == "../CITATION.cff"
    assert "notebooks/02-second.html#mini2020-thm-1" in (html / "errata.xml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_all_figures_stand_on_one_page(book: Path) -> None:
    page = BeautifulSoup((book / "_build/html/book/figures.html").read_text(encoding="utf-8"), "html.parser")
    [figure] = page.select(".gallery figure")
    assert figure.figcaption.get_text() == "Figure 2.1. A line, drawn."
    assert figure.a["href"] == "../notebooks/01-first.html#fig-line"
    wide, narrow = figure("img")
    assert (wide["width"], wide["loading"], narrow["src"]) == ("533", "lazy", "../_static/narrow/line.svg")
    assert page.select_one(".gallery h2 a").get_text() == "First"


@pytest.mark.slow
def test_another_address_is_another_site(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOK_URL", "https://host.example/book")
    lines: list[str] = []
    Build(book, say=lines.append).status()
    assert lines[3] == "site: renders because a page, a setting or the package changed"


@pytest.mark.parametrize("address", ["host.example", "ftp://host.example/", "https://a b/", "https://a/?q"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    shutil.copy(REPOSITORY / "_config.yml", tmp_path)
    assert settings(Layout(tmp_path))["sphinx"]["config"]["html_baseurl"] == ""
    monkeypatch.setenv("BOOK_URL", address)
    with pytest.raises(UsageError, match="BOOK_URL"):
        settings(Layout(tmp_path))


# ---------------------------------------------------------------- the button

REFUSED = "navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false;"


@needs_chromium
@pytest.mark.slow
@pytest.mark.parametrize("refused", [False, True])
def test_a_button_copies_how_to_cite(reader: Reader, tmp_path: Path, refused: bool) -> None:
    """By keyboard, from disk; where copying is refused, the entry is selected."""
    playwright = pytest.importorskip("playwright.sync_api")
    (tmp_path / "_static").mkdir()
    (tmp_path / "notebooks").mkdir()
    shutil.copy(REPOSITORY / "book/_static/cite.js", tmp_path / "_static")
    entry = "@software{us,\n  title = {A <b> & more}\n}"
    box = fill("cite.html", bibtex=entry)
    (tmp_path / "notebooks/a.html").write_text(f'<meta charset="utf-8">{box}', encoding="utf-8")
    page = reader.page()
    page.goto((tmp_path / "notebooks/a.html").as_uri())
    if refused:
        page.evaluate(REFUSED)
    page.get_by_role("button", name="Copy BibTeX").focus()
    page.keyboard.press("Enter")
    said = page.get_by_role("status")
    playwright.expect(said).to_have_text("Selected: copy it with Ctrl+C or ⌘C." if refused else "Copied.")
    assert page.evaluate("getSelection().toString()") == entry
    if not refused:
        page.evaluate("document.body.innerHTML = '<textarea></textarea>'")
        page.locator("textarea").focus()
        page.keyboard.press("Control+V")
        assert page.locator("textarea").input_value() == entry
