"""The book as one PDF: the site's pages in their order, links that stay inside, and no fault that goes unnoticed."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_book import REPOSITORY

from companion.press import BuildError
from companion.press import pdf as press
from companion.press.browser import find_chromium
from companion.press.collect import write_checksums
from companion.press.layout import Layout, dumps
from companion.press.paper import FRONT, assemble, contents
from companion.press.pdf_file import faults, packed, starts, undated
from companion.press.render import current, tree

if TYPE_CHECKING:
    from explorer_pages import Reader
    from playwright.sync_api import Page

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason="Chromium not found")

NAV = """<nav class="bd-links"><p class="caption">Begin</p>
<a class="reference internal" href="verdicts.html">Verdicts</a>
<a class="reference internal" href="contribute.html">Contribute</a>
<p class="caption">Guide</p>
<a class="reference internal" href="../notebooks/15-which.html">Which?</a>
<a class="reference internal" href="../notebooks/15a-tried.html">1.2. What was tried</a>
<p class="caption">Chapters</p><a class="reference internal" href="../notebooks/01-first.html">1. First &amp; last</a>
<p class="caption">The ledger</p><a class="reference internal" href="../notebooks/90-scoreboard.html">Scoreboard</a>
<p class="caption">Reference</p><a class="reference internal" href="glossary.html">Glossary</a></nav>"""
STRIP = """<details class="strip"><summary>✗ Lemma 1</summary><div><p>Why.</p>
<p><a href="15a-tried.html#lemma">The argument</a></p></div></details>"""
ARTICLES = {
    FRONT: '<h1>Book</h1><p><a href="../notebooks/01-first.html">One</a> <a href="contribute.html">help</a></p>'
    '<p>Take it.<span class="as-pdf"></span></p>',
    "book/verdicts.html": '<h1>Verdicts</h1><p id="a">See <a href="#a">here</a>.</p>',
    "book/contribute.html": "<h1>Contribute</h1>",
    "book/glossary.html": '<h1>Glossary</h1><dl><dt id="term-x">x</dt><dd>a word</dd></dl>',
    "notebooks/15-which.html": f"<h1>Which?</h1>{STRIP}<h2>More</h2>",
    "notebooks/15a-tried.html": '<h1>Tried</h1><p id="lemma">Lemma. <a href="https://example.org/">away</a></p>',
    "notebooks/01-first.html": '<h1>First</h1><img alt="a line" src="../line.svg" loading="lazy">'
    '<section class="explorer" id="e"></section><script>mount("e", {"e": 1})</script>'
    '<p>A <a href="../book/glossary.html#term-x">word</a><a class="headerlink" href="#x">#</a></p>',
    "notebooks/90-scoreboard.html": "<h1>Scoreboard</h1><table><tr><td>1</td></tr></table>",
}
LINE = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="4"><path d="M0 2h40" stroke="red"/></svg>'
ORDER = ["index", "verdicts", "15-which", "01-first", "15a-tried", "90-scoreboard", "glossary"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of a front page, two roads, a page behind one, a scoreboard, a glossary; and a page that paper lacks."""
    html = tmp_path / "html"
    for path, article in ARTICLES.items():
        (html / path).parent.mkdir(parents=True, exist_ok=True)
        head = '<head><link rel="stylesheet" href="../print.css" media="print"></head>'
        body = f'<p class="logo__title">Small</p>{NAV}<article class="bd-article">{article}</article>'
        (html / path).write_text(f'<html lang="en">{head}<body>{body}</body></html>')
    (html / "print.css").write_text((REPOSITORY / "book/_static/print.css").read_text())
    (html / "line.svg").write_text(LINE)
    return html


def test_roads_stand_before_the_pages_behind_them(site: Path) -> None:
    leaves = contents(site)
    assert [it.name for it in leaves] == ORDER
    assert [it.part for it in leaves] == [
        "", "Begin", "Guide", "Chapters", "Statement by statement", "The ledger", "Reference",
    ]  # fmt: skip
    assert leaves[3].title == "1. First & last"


def test_links_stay_inside_and_headings_are_a_step_lower(site: Path) -> None:
    text = assemble(site, contents(site), "html/")
    wanted = (
        'href="#01-first"', "<a>help</a>", 'id="verdicts--a"', 'href="#verdicts--a"', 'id="glossary--term-x"',
        'href="#glossary--term-x"', '<div class="strip"><a href="#15a-tried--lemma">✗ Lemma 1</a></div>',
        'mount("01-first--e", {"e": 1})', 'id="01-first--e"', 'src="html/line.svg"', "<h2>First</h2>", "<h3>More</h3>",
        'href="https://example.org/"',
    )  # fmt: skip
    assert [it for it in wanted if it not in text] == []
    assert [it for it in ("headerlink", "loading", ".html", "<details") if it in text] == []


def test_a_site_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="companion book"):
        contents(tmp_path)


@pytest.mark.slow
@needs_chromium
def test_the_same_site_gives_the_same_bytes_with_all_pages_in_the_contents(
    site: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """By two browsers."""
    plain: list[bytes] = []

    def keep(data: bytes) -> bytes:
        plain.append(data)
        return packed(data)

    monkeypatch.setattr(press, "packed", keep)
    first, pages, problems = press.make_pdf(site, site.parent / "paper.html")
    request.getfixturevalue("no_other")
    second, *_ = press.make_pdf(site, site.parent / "again.html")
    assert problems == []
    assert first == second
    assert pages == 2 + len(ORDER)
    there = starts(plain[0])
    assert [it for it in there if "--" not in it] == ORDER
    assert [there[it] for it in ORDER] == list(range(3, 3 + len(ORDER)))  # behind the title and the contents
    assert [it for it in (b"(D:19700101000000", b"/Outlines", b"/StructTreeRoot") if it not in plain[0]] == []
    assert unpacked(first) == dict(objects(plain[0]))


def objects(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The objects of a plain file."""
    for number, body in re.findall(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj(?=\n)", data, re.DOTALL):
        yield int(number), body


def unpacked(data: bytes) -> dict[int, bytes]:
    """The objects of a packed file as a reader finds them: by its last table, which lists all of them and no others."""
    where = int(data.rpartition(b"startxref\n")[2].split()[0])
    rows = content(data[where:])
    found: dict[int, bytes] = {}
    inside: dict[int, tuple[int, int]] = {}
    for number, (kind, offset, place) in enumerate(struct.iter_unpack(">BIH", rows)):
        if kind == 1:
            assert data[offset:].startswith(b"%d 0 obj\n" % number)
            found[number] = data[offset:].partition(b" obj\n")[2].partition(b"\nendobj\n")[0]
        elif kind == 2:
            inside[number] = offset, place
    for number, (stream, place) in inside.items():
        head, text = found[stream], content(found[stream])
        first = int(re.search(rb"/First (\d+)", head)[1])
        pairs = list(map(int, text[:first].split()))
        assert pairs[2 * place] == number
        ends = [*pairs[1::2], len(text) - first]
        found[number] = text[first + ends[place] : first + ends[place + 1] - 1]
    ours = (b"<</Type /ObjStm", b"<</Type /XRef")
    return {number: body for number, body in found.items() if not body.startswith(ours)}


def content(stream: bytes) -> bytes:
    """What a compressed stream says."""
    return zlib.decompressobj().decompress(stream.partition(b"stream\n")[2])


@pytest.mark.slow
@needs_chromium
@pytest.mark.usefixtures("no_other")
def test_the_front_page_leads_to_it_and_the_build_knows_it(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, tuple[bytes, int, list[str]]] = {}
    make = press.make_pdf

    def make_once(html: Path, scratch: Path) -> tuple[bytes, int, list[str]]:
        """The same bytes of the same text, which is what the test above looks at."""
        text = assemble(html, contents(html), "html/")
        made[text] = made.get(text) or make(html, scratch)
        return made[text]

    monkeypatch.setattr(press, "make_pdf", make_once)
    layout = Layout(site.parent.parent, made=site.parent.name)
    (layout.build / "figures").mkdir()
    layout.records.write_text("{}")
    layout.write(layout.build / "site.json", dumps({"key": "k", "tree": tree(layout.html)}))
    write_checksums(layout, site=True)
    said: list[str] = []
    assert press.put(layout, said.append) == []
    front = (layout.html / FRONT).read_text()
    assert f'Take it.<span class="as-pdf"> The book is there <a href="../{press.NAME}">as a PDF</a>' in front
    assert (layout.html / press.NAME).read_bytes() == (layout.build / press.NAME).read_bytes()
    assert current(layout, "k")
    assert f"  html/{press.NAME}\n" in (layout.build / "SHA256SUMS").read_text()
    before = tree_of(layout)
    assert press.put(layout, said.append) == []  # again, from a site that has it
    assert tree_of(layout) == before
    path = layout.html / "notebooks/01-first.html"
    path.write_text(path.read_text().replace("</article>", "<p>$x$</p></article>"))
    before = tree_of(layout)
    assert press.put(layout, said.append) == ["01-first: raw TeX: $x$"]
    assert tree_of(layout) == before
    assert (len(said), len(made)) == (2, 2)


def tree_of(layout: Layout) -> dict[Path, bytes]:
    """All files of the site."""
    return {path: path.read_bytes() for path in layout.html.rglob("*") if path.is_file()}


@pytest.fixture
def sheet(reader: Reader) -> Page:
    """A page as wide as paper."""
    page = reader.page()
    page.set_viewport_size({"width": press.COLUMN, "height": 900})
    return page


FAULTS = {
    "a box that scrolls": ('<div style="overflow-x: auto"><p style="width: 900px">wide</p></div>', "cut by its box"),
    "a block that cannot shrink": ('<div style="width: 900px">wide</div>', "wider than the page"),
    "what begins left of the page": ('<div style="margin-left: -40px">left</div>', "wider than the page"),
    "a table for a wall": ("<table><tr>" + "<td>unbreakable</td>" * 40 + "</tr></table>", "of its size: unbreakable"),
    "TeX that nobody set": ('<span class="math">\\(x\\)</span>', "not set"),
    "TeX that nobody marked": ("<p>the \\varepsilon{} of it</p>", "raw TeX"),
    "dollars left over": ("<p>as $m^2$ grows</p>", "raw TeX"),
}


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(("planted", "said"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_told(
    site: Path, sheet: Page, planted: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(press, "SLOWEST", 100)
    path = site / "notebooks/01-first.html"
    path.write_text(path.read_text().replace("</article>", f"{planted}</article>"))
    document = site.parent / "paper.html"
    document.write_text(assemble(site, contents(site), "html/"))
    problems = press.typeset(sheet, document)
    assert any(said in it for it in problems)
    assert all("01-first" in it or "mathematics" in it for it in problems)


@pytest.mark.slow
@needs_chromium
def test_a_wide_table_is_set_smaller(site: Path, sheet: Page) -> None:
    path = site / "notebooks/01-first.html"
    cells = "<td>twelve letters</td>".replace(" ", "&nbsp;") * 9
    path.write_text(path.read_text().replace("</article>", f"<table><tr>{cells}</tr></table></article>"))
    document = site.parent / "paper.html"
    document.write_text(assemble(site, contents(site), "html/"))
    assert press.typeset(sheet, document) == []
    zoom, width = sheet.eval_on_selector(
        ".leaf#\\30 1-first table", "it => [+it.style.zoom, it.getBoundingClientRect().width]"
    )
    assert press.SMALLEST < zoom < 1
    assert width <= press.COLUMN


def test_times_and_numbers_that_change_each_time_are_gone() -> None:
    first = b"/ID (node00000409)>> /ID (node00000410) /Headers [(node00000409)] /ModDate (D:20261126040321+00'00')"
    second = first.replace(b"0040", b"0047").replace(b"0041", b"0048").replace(b"20261126", b"20270101")
    assert undated(first) == undated(second)
    assert undated(first).startswith(b"/ID (node00000001)>> /ID (node00000002) /Headers [(node00000001)]")


PAGES = (
    b"3 0 obj\n<</Type /Page\n>>\n7 0 obj\n<</Type /Page\n>>\n"
    b"9 0 obj\n<</one [3 0 R /XYZ 1 2 0]\n/t#77o [7 0 R /XYZ 1 2 0]>>\n/Dest [3 0 R /XYZ 1 2 0]\n"
)


@pytest.mark.parametrize(
    ("more", "numbers", "size", "said"),
    [
        (b"/Dest /one>>\n/Dest /two\n", {"one": 1, "two": 2}, 1, []),
        (b"/Dest /three>>\n", {"one": 1}, 1, ["a link to three, which is nowhere"]),
        (b"", {"one": 2}, 1, ["one is on page 1; the contents say 2"]),
        (b"", {"four": 2}, 1, ["four is on page None; the contents say 2"]),
        (b"", {}, 20_000_001, ["20,000,001 bytes; allowed: 20,000,000"]),
    ],
)
def test_a_fault_of_the_file_is_told(more: bytes, numbers: dict[str, int], size: int, said: list[str]) -> None:
    assert faults(PAGES + more, numbers, size) == said
