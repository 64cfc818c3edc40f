"""All figures of the book side by side, in the place that a page leaves for them: wide, and as a phone has them."""

from __future__ import annotations

import os
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from light import NAME, size
from sphinx.application import Sphinx
from wayfinding import plain

PAGE = "book/figures"
#: What the page has in their place.
PLACE = '<div class="gallery"></div>'


class Picture(NamedTuple):
    """A figure of a page: its anchor, its number in the book, what is said of it, and where its drawing is."""

    page: str
    anchor: str
    number: str
    caption: str
    alternative: str
    uri: str


def gather(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Note the figures of a page."""
    numbers = app.env.toc_fignumbers.get(page, {}).get("figure", {})
    for figure in doctree.findall(nodes.figure):
        image, caption = figure.next_node(nodes.image), figure.next_node(nodes.caption)
        if image and caption and image["uri"].endswith(".svg"):
            anchor = figure["ids"][0]
            number = ".".join(map(str, numbers.get(anchor, ())))
            picture = Picture(page, anchor, number, plain(caption), image.get("alt", ""), image["uri"])
            app.gallery.append(picture)


def hang(app: Sphinx, error: Exception | None) -> None:
    """Put all figures, in the order of the contents, into the page that waits for them."""
    path = Path(app.outdir, f"{PAGE}.html")
    if error or app.builder.name != "html" or not path.is_file():
        return
    order = {page: place for place, page in enumerate(app.env.toctree_order)}
    found = sorted((it for it in app.gallery if it.page in order), key=lambda it: order[it.page])
    rooms = "".join(room(app, page, list(pictures)) for page, pictures in groupby(found, key=lambda it: it.page))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(PLACE, f'<div class="gallery">{rooms}</div>'), encoding="utf-8")


def room(app: Sphinx, page: str, pictures: list[Picture]) -> str:
    """The figures of one page, below its name."""
    url = app.builder.get_relative_uri(PAGE, page)
    head = f'<h2 id="{escape(page.rpartition("/")[2])}"><a href="{url}">{escape(plain(app.env.titles[page]))}</a></h2>'
    return f"<section>{head}{''.join(framed(app, url, it) for it in pictures)}</section>"


def framed(app: Sphinx, url: str, it: Picture) -> str:
    """A figure with its number, and its drawing for a phone beside it, if there is one."""
    wide = Path(app.outdir, "_images", app.builder.images[it.uri])
    named = NAME.search(wide.read_text(encoding="utf-8"))
    narrow = Path(app.outdir, "_static", "narrow", f"{named[1]}.svg") if named else None
    shown = drawing(app, wide, it.alternative)
    if narrow and narrow.is_file():
        shown += drawing(app, narrow, f"Figure {it.number} as a phone has it")
    link = f'<a href="{url}#{it.anchor}">{f"Figure {it.number}" if it.number else "This figure"}</a>'
    return f"<figure>{shown}<figcaption>{link}. {escape(it.caption)}</figcaption></figure>"


def drawing(app: Sphinx, path: Path, alternative: str) -> str:
    """A drawing that is loaded when it comes near."""
    source = os.path.relpath(path, Path(app.outdir, PAGE).parent).replace(os.sep, "/")
    return f'<img loading="lazy"{size(path.read_text(encoding="utf-8"))} src="{source}" alt="{escape(alternative)}"/>'


def start(app: Sphinx) -> None:
    """No figures yet."""
    app.gallery: list[Any] = []


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("builder-inited", start)
    app.connect("doctree-resolved", gather)
    app.connect("build-finished", hang, priority=450)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
