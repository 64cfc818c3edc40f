"""A site of one chapter: its pages as they stand in the book, with links that lead to the book's other pages."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import yaml

from companion.press.layout import Layout

REFERENCES = "book/references.md"
LABEL = re.compile(r"^(?:\(\S+\)=|\s*:(?:label|name):|`{3,}\{prf:)", re.MULTILINE)
LINK = re.compile(r'\s(?P<key>href|action)="(?P<url>[^"]*)"')


def alone(
    files: Mapping[str, bytes], layout: Layout, book: Layout, names: Collection[str], note: str
) -> dict[str, bytes]:
    """Of the staged `files` the pages `names` and the references; of all other pages what a page can refer to.

    `note` stands above the page.
    """
    files = dict(files)
    for file, data in files.items():
        if file.startswith("book/") and file.endswith(".md") and file != REFERENCES:
            files[file] = (_title(data.decode()) + "\n").encode()
    for other, path in book.notebooks.items():
        if other not in names:
            files[f"notebooks/{path.name}"] = _stub(path)
    config = yaml.safe_load(files["_config.yml"])
    sphinx = config["sphinx"]["config"]
    sphinx["html_theme_options"] |= {"announcement": note}
    sphinx["nitpick_ignore_regex"] = [["py:.*", ".*"]]
    if (inventory := book.html / "objects.inv").is_file():
        sphinx["intersphinx_mapping"] = {"book": [os.path.relpath(book.html, layout.html), str(inventory)]}
    return files | {"_config.yml": yaml.safe_dump(config, sort_keys=False).encode()}


def _title(text: str) -> str:
    """First heading of a page."""
    return next((line for line in text.splitlines() if line.startswith("# ")), "# Page")


def _stub(path: Path) -> bytes:
    """The heading of a chapter, and its cells that have a label or a number: so ours keep the numbers of the book."""
    notebook = nbformat.read(path, as_version=4)
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    title = nbformat.v4.new_markdown_cell(_title("\n".join(cell.source for cell in prose)), id="title")
    cells = [title, *(cell for cell in prose if LABEL.search(cell.source))]
    return nbformat.writes(
        nbformat.v4.new_notebook(cells=cells, metadata={"mystnb": {"execution_mode": "off"}})
    ).encode()


def finish(html: Path, layout: Layout, book: Layout, names: Sequence[str]) -> None:
    """Keep the pages `names` and the references; links to others go to the book's, or nowhere if it is not built."""
    pages = [f"notebooks/{name}.html" for name in names]
    kept = {*pages, REFERENCES.replace(".md", ".html")}
    for path in html.rglob("*.html"):
        if path.relative_to(html).as_posix() not in kept and "_static" not in path.parts:
            path.unlink()
    for path in (html / it for it in kept if (html / it).exists()):
        text = LINK.sub(lambda it, path=path: _link(it, path, html, layout, book), path.read_text(encoding="utf-8"))  # type: ignore[misc]
        path.write_text(text, encoding="utf-8")
    start = f'<meta http-equiv="refresh" content="0; url={pages[0]}">'
    (html / "index.html").write_text(f'<!DOCTYPE html>\n<html lang="en">{start}</html>\n', encoding="utf-8")


def _link(match: re.Match[str], path: Path, html: Path, layout: Layout, book: Layout) -> str:
    """The attribute as it shall stand on the page `path` of the unfinished site `html`."""
    parts = urlsplit(match["url"])
    target = Path(os.path.normpath(path.parent / unquote(parts.path)))
    if parts.scheme or parts.netloc or not parts.path or not target.is_relative_to(html) or target.exists():
        return match[0]
    there = book.html / target.relative_to(html)
    if not there.is_file():
        return ""
    away = os.path.relpath(there, (layout.html / path.relative_to(html)).parent)
    return f' {match["key"]}="{escape(away)}{f"#{parts.fragment}" if parts.fragment else ""}"'
