"""What a page looks like where somebody shares it: a description and a picture; and what the site has for machines.

A page is described by the paragraph under "In short", by why a result fails, or by its first; its picture,
1200 x 630 px, has its title and its first figure. A page without a figure has the picture of the book, but for that of
a single result, which has its words. Addresses of pictures must be whole for most who read them, and are where
`html_baseurl` is known.
"""

from __future__ import annotations

import io
import posixpath
import re
import shutil
import textwrap
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from docutils import nodes
from PIL import Image, ImageFont
from resvg_py import svg_to_bytes
from sphinx.application import Sphinx
from wayfinding import above, plain

WIDE, HIGH, EDGE = 1200, 630, 60
#: Sizes of a title in px; the first at which it has two lines.
SIZES = (50, 42, 36, 30)
#: Of what a page says, in its picture.
SAID = 30
#: Letters of a description that says something, and of what a search engine shows of it.
SHORTEST, LONGEST = 40, 200
STOP = re.compile(r"(?<! al)[.!?](?= [A-Z0-9“])")
#: Of how many colours a picture is made.
COLOURS = 64
#: What a paragraph begins with that says it all.
IN_SHORT = ("In short.", "Why it fails:", "What came out:")
#: Text in these does not say what a page is about.
ASIDE = (nodes.table, nodes.figure, nodes.Admonition, nodes.sidebar, nodes.footnote, nodes.topic)
#: Of the whole book, if they are there: its picture, and files for machines.
BOOK_PICTURE, FEED, CITATION = "book/share.svg", "errata.xml", "CITATION.cff"
#: At the address of the site, which is what people share.
FIRST = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8" />
    <title>{title}</title>
    {tags}<meta http-equiv="refresh" content="0; url={url}" />
</head><body><p><a href="{url}">{title}</a></p></body></html>
"""
FOLDER = "_static/share"
#: Pages of single results, and what their pictures are marked by.
RESULTS, PICTURED = "book/results/", "result-picture"
FONTS = Path(matplotlib.get_data_path(), "fonts", "ttf")
BOLD, PLAIN = FONTS / "DejaVuSans-Bold.ttf", FONTS / "DejaVuSans.ttf"
#: The first tag of a figure, with its size in points; and px of a point.
START = re.compile(r'<svg\b[^>]*? width="([\d.]+)pt" height="([\d.]+)pt"')
POINT = 4 / 3
#: Height over width above which only the upper part of a figure is shown: all of it would be too small to read.
TALLEST = 0.75
BOTTOM = 560
FADE = f"""
<linearGradient id="fade" x2="0" y2="1">
<stop stop-color="#fff" stop-opacity="0"/><stop offset="1" stop-color="#fff"/>
</linearGradient>
<rect y="{BOTTOM - 90}" width="100%" height="91" fill="url(#fade)"/>"""
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 width="{wide}" height="{high}" font-family="DejaVu Sans">
<rect width="100%" height="100%" fill="#fff"/><rect width="100%" height="12" fill="#0072B2"/>
{lines}
{figure}
<text x="{edge}" y="598" font-size="24" fill="#5a6472">{book}</text>
</svg>
"""


# ---------------------------------------------------------------- the description


def described(doctree: nodes.document) -> str:
    """What a page says of itself, in some 200 letters; its title if it says nothing."""
    paragraphs = (it for it in doctree.findall(nodes.paragraph) if not any(isinstance(up, ASIDE) for up in above(it)))
    said = [text for it in paragraphs if (text := sentence(plain(it)))]
    short = next((text.removeprefix(head).strip() for text in said for head in IN_SHORT if text.startswith(head)), "")
    title = doctree.next_node(nodes.title)
    return shortened(short or next(iter(said), "") or (plain(title) if title else ""))


def sentence(text: str) -> str:
    """A text with the spaces of a sentence, where links and formulas left others."""
    return re.sub(r"(?<=\w)([=<>≤≥]) ", r" \1 ", re.sub(r" ([.,;:!?)\]])", r"\1", text))


def shortened(text: str) -> str:
    """The sentences of `text` that fit, or the words of its first."""
    if len(text) <= LONGEST:
        return text
    stops = [stop.end() for stop in STOP.finditer(text, SHORTEST, LONGEST + 1)]
    return text[: stops[-1]] if stops else textwrap.shorten(text, LONGEST, placeholder=" …")


# ---------------------------------------------------------------- the picture


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """The letters of titles."""
    return ImageFont.truetype(BOLD, size)


def wrapped(title: str, size: int) -> list[str]:
    """Lines of a title that are not wider than a picture."""
    lines = [""]
    for word in title.split():
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if font(size).getlength(longer) <= WIDE - 2 * EDGE else [*lines, word]
    return lines


def placed(figure: str, top: float) -> str:
    """A figure below `top`, as large as fits; of a tall one the upper part, which fades."""
    if not (start := START.search(figure)):
        return ""
    wide, tall = (POINT * float(it) for it in start.groups())
    shown = min(tall, TALLEST * wide)
    box = f'x="{EDGE}" y="{top:.0f}" width="{WIDE - 2 * EDGE}" height="{BOTTOM - top:.0f}"'
    fade = FADE if shown < tall else ""
    return f'<svg {box} viewBox="0 0 {wide:.2f} {shown:.2f}">{figure[start.start() :]}</svg>{fade}'


def drawn(title: str, figure: str, book: str, said: str = "") -> bytes:
    """A PNG with the title of a page, a figure (SVG, or nothing) or what it says, and the name of the book."""
    size = next((it for it in SIZES if len(wrapped(title, it)) <= 2), SIZES[-1])
    lines = wrapped(title, size)[:2]
    top = 64 + 1.25 * size * len(lines)
    text = "".join(
        f'<text x="{EDGE}" y="{40 + 1.25 * size * at:.0f}" font-size="{size}" font-weight="bold">{escape(line)}</text>'
        for at, line in enumerate(lines, 1)
    )
    text += "".join(
        f'<text x="{EDGE}" y="{top + 1.4 * SAID * at:.0f}" font-size="{SAID}">{escape(line)}</text>'
        for at, line in enumerate(wrapped(said, SAID), 1)
        if said
    )
    svg = PICTURE.format(wide=WIDE, high=HIGH, edge=EDGE, lines=text, figure=placed(figure, top), book=escape(book))
    png = svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=[str(BOLD), str(PLAIN)])
    small = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()


def pictured(app: Sphinx, page: str, title: str) -> str:
    """Draw the picture of a page, and say where it is in the site."""
    figure, root = app.shared[page].figure, app.config.root_doc
    said = app.shared[page].said if figure is None and page.startswith(RESULTS) else ""
    if figure is None and page != root and not said:
        page = root
    name = f"{FOLDER}/{posixpath.basename(page)}.png"
    if page == root:
        figure, title = Path(app.srcdir, BOOK_PICTURE), app.config.html_title
    path = Path(app.outdir, name)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        svg = figure.read_text(encoding="utf-8") if figure and (page != root or figure.is_file()) else ""
        path.write_bytes(drawn(title, svg, app.config.html_title, said))
    return name


# ---------------------------------------------------------------- the page


class Shared(NamedTuple):
    """What a page says of itself, where its first figure is, and what that shows."""

    said: str
    figure: Path | None = None
    alternative: str = ""


def gather(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Note these, before writing the page changes where its pictures are."""
    images = [figure.next_node(nodes.image) for figure in doctree.findall(nodes.figure)]
    images += [it for it in doctree.findall(nodes.image) if PICTURED in it["classes"]]
    first = next((it for it in images if it and it["uri"].endswith(".svg")), None)
    picture = (Path(app.srcdir, first["uri"]), first.get("alt", "")) if first else ()
    app.shared[page] = Shared(described(doctree), *picture)


def tags(app: Sphinx, page: str, up: str) -> str:
    """For whoever previews a link to a page, of which the root of the site is `up`; and the address of the feed."""
    title, site, said = plain(app.env.titles[page]), app.config.html_title, app.shared[page].said
    base = app.config.html_baseurl
    listed = {
        "og:title": title,
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": site,
        "og:description": said,
        "og:image": (base or up) + pictured(app, page, title),
        "og:image:width": WIDE,
        "og:image:height": HIGH,
        "og:image:alt": app.shared[page].alternative or site,
        **({"og:url": base + app.builder.get_target_uri(page)} if base else {}),
    }
    lines = [f'<meta name="description" content="{escape(said)}" />']
    lines += [f'<meta property="{name}" content="{escape(str(value))}" />' for name, value in listed.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image" />')
    if Path(app.srcdir, FEED).is_file():
        lines.append(f'<link rel="alternate" type="application/atom+xml" title="Errata" href="{up}{FEED}" />')
    return "".join(f"{line}\n    " for line in lines)


def share(app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Put the tags of a page into its head."""
    if doctree is not None and app.builder.name == "html":
        context["metatags"] = context.get("metatags", "") + tags(app, page, "../" * page.count("/"))


def start(app: Sphinx) -> None:
    """Nothing is known of any page."""
    app.shared = {}


def put(app: Sphinx, error: Exception | None) -> None:
    """Files of the whole book go to the root of its site, and what is at its address leads to the first page."""
    if error or app.builder.name != "html":
        return
    for name in (FEED, CITATION):
        if (path := Path(app.srcdir, name)).is_file():
            shutil.copy(path, Path(app.outdir, name))
    root = app.config.root_doc
    if root != "index":
        first = {"title": escape(app.config.html_title), "tags": tags(app, root, ""), "url": f"{root}.html"}
        Path(app.outdir, "index.html").write_text(FIRST.format(**first), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("builder-inited", start)
    app.connect("doctree-resolved", gather)
    app.connect("html-page-context", share)
    app.connect("build-finished", put, priority=400)  # before the table of contents makes a bare redirect
    return {"parallel_read_safe": True, "parallel_write_safe": True}
