"""What the theme, docutils and pandas write, as readers need it who listen to a page or move by keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from pathlib import Path

from sphinx.application import Sphinx

TAG = re.compile(r"<[^>]+>")


def unfolding(found: re.Match[str]) -> str:
    """The triangle beside a chapter of the contents says what it unfolds."""
    title = " ".join(unescape(TAG.sub("", found[2])).split())
    return f'{found[1]}{found[2]}{found[3]}<summary aria-label="{escape(f"Pages of {title}")}">'


MENDED: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r'(<a class="[^"]*reference internal" href="[^"]*">)(.*?)(</a><details[^>]*>)<summary>', unfolding),
    # logo and search stand in no landmark
    (r'<div id="pst-primary-sidebar"', r'\g<0> role="complementary" aria-label="Sidebar"'),
    # "Search Ctrl+K" is seen: who says so aloud is to be understood
    (r'(<button class="btn search-button-field[^>]*) title="Search" aria-label="Search"', r"\1"),
    # what is seen says it
    (' aria-label="Toggle hidden content"', ""),
    # a list of books has items; the role for books is deprecated
    ('role="doc-biblioentry"', 'role="listitem"'),
    # the corner of a table heads nothing
    ("<th></th>", "<td></td>"),
    # every proof of a page has it
    (' id="proof-content"', ""),
]


def mended(text: str) -> str:
    """A page of HTML, mended."""
    for pattern, instead in MENDED:
        text = re.sub(pattern, instead, text)
    return text


def mend(app: Sphinx, error: Exception | None) -> None:
    """Mend all pages."""
    if error or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        if (better := mended(text)) != text:
            path.write_text(better, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("build-finished", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
