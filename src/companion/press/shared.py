"""The gate on what is shared of the site: what each page says of itself, its picture, the feed, how to cite."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

from companion.ledger.feed import FILE

#: Letters of a description.
SHORTEST, LONGEST = 20, 220
#: px and bytes of a picture.
SIZE, HEAVIEST = (1200, 630), 60_000
#: Pages that nobody shares: listings of the code, the index, the search.
UNSHARED = ("_modules/", "_static/", "genindex.html", "py-modindex.html", "search.html")
ATOM = "{http://www.w3.org/2005/Atom}"
#: Where a page says of itself what.
DESCRIPTION, TITLE, PICTURE = "description", "og:title", "og:image"


class _Head(HTMLParser):
    """Names and contents of the tags in a page's head, and where it leads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}
        self.moved = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "meta":
            self.tags[values.get("name") or values.get("property", "")] = values.get("content", "")
            self.moved |= values.get("http-equiv", "").lower() == "refresh"


def check_shared(html: Path) -> list[str]:
    """Problems, a line each; an empty list is a site fit to be shared."""
    heads = {path.relative_to(html).as_posix(): _read(path) for path in sorted(html.rglob("*.html"))}
    shared = {
        name: head
        for name, head in heads.items()
        if not name.startswith(UNSHARED) and (not head.moved or name == "index.html")
    }
    problems = [f"{name}: {problem}" for name, head in shared.items() for problem in _of_page(html, name, head)]
    said = Counter(head.tags.get(DESCRIPTION) for name, head in shared.items() if name != "index.html")
    problems += [f"{number} pages say {text!r} of themselves" for text, number in said.items() if text and number > 1]
    return [*problems, *_of_feed(html, heads)]


def _read(path: Path) -> _Head:
    head = _Head()
    head.feed(path.read_text(encoding="utf-8").partition("</head>")[0])
    return head


def _of_page(html: Path, name: str, head: _Head) -> Iterator[str]:
    if not SHORTEST <= (length := len(head.tags.get(DESCRIPTION, ""))) <= LONGEST:
        yield f"its description has {length} letters; allowed: {SHORTEST} to {LONGEST}"
    if not head.tags.get(TITLE):
        yield f"no {TITLE}"
    address = head.tags.get(PICTURE, "")
    where = address if urlsplit(address).scheme else urljoin(name, address)
    pictures = [path for path in (html / "_static/share").glob("*.png") if where.endswith(f"_static/share/{path.name}")]
    if not pictures:
        yield f"{PICTURE} {address!r} does not exist"
    for picture in pictures:
        data = picture.read_bytes()
        if (size := struct.unpack(">II", data[16:24])) != SIZE:
            yield f"{PICTURE} {picture.name}: {size[0]} x {size[1]} px; allowed: {SIZE[0]} x {SIZE[1]}"
        if len(data) > HEAVIEST:
            yield f"{PICTURE} {picture.name}: {len(data):,} bytes; allowed: {HEAVIEST:,}"


def _of_feed(html: Path, heads: dict[str, _Head]) -> Iterator[str]:
    """What RFC 4287 asks for, and that links lead somewhere."""
    path = html / FILE
    if not path.is_file():
        yield f"{FILE}: not there"
        return
    try:
        feed = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        yield f"{FILE}: not XML: {error}"
        return
    entries = feed.findall(f"{ATOM}entry")
    for place, it in enumerate([feed, *entries]):
        due = [name for name in ("id", "title", "updated") if not it.findtext(f"{ATOM}{name}")]
        yield from (f"{FILE}: {f'entry {place}' if place else 'the feed'} has no {name}" for name in due)
    ids = Counter(it.findtext(f"{ATOM}id") for it in entries)
    yield from (f"{FILE}: {number} entries have the id {name}" for name, number in ids.items() if number > 1)
    for link in feed.iterfind(f"{ATOM}entry/{ATOM}link"):
        page, _, anchor = link.get("href", "").partition("#")
        if page not in heads or (anchor and f'id="{anchor}"' not in (html / page).read_text(encoding="utf-8")):
            yield f"{FILE}: {link.get('href')} does not exist"
