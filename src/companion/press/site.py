"""The gate on the rendered site: every link leads somewhere, nothing leaves the reader's machine, every page works.

`check_site` returns one line a problem; an empty list is a site fit to publish. Here the files are read; in `browser`
the pages are seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from companion.press import BuildError
from companion.press.browser import CHROMIUM_FLAGS, check_in_browser, find_chromium
from companion.press.views import Content, Source

__all__ = ["CHROMIUM_FLAGS", "check_site", "find_chromium"]


def check_site(html: Path, screenshots: Path | None = None, every: bool = False) -> list[str]:
    """Problems of the site under `html`, a line each, starting with the page it is on.

    With `screenshots`, keep pictures there of the pages in two views; with `every`, open also those that show nothing
    new.
    """
    html = html.resolve()
    pages = _read_pages(html)
    if not pages:
        raise BuildError(f"{html}: no .html page there; run `companion book` first")
    contents = {path: page.content for path, page in pages.items() if not page.is_redirect}
    return [*_check_files(html, pages), *check_in_browser(html, contents, screenshots, every)]


# ---------------------------------------------------------------- the files

# <link rel=…> that names a page; every other rel makes a browser load (or connect to) what it names
NAMING_RELS = {"alternate", "author", "canonical", "help", "index", "license", "me", "next", "prev", "search", "up"}
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+(?!url))(?:"([^"]*)"|'([^']*)'|([^\s"';)]+))""")
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: Letters that it takes to describe a figure.
DESCRIBED = 41
#: Elements without an end, attributes that say where and which, and those whose value says how.
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
UNTOLD = {"alt", "class", "content", "href", "id", "name", "src", "srcset", "title"}
TELLING = {"lang", "role", "style", "tabindex", "type"}
SELF_CONTAINED = {"data", "blob", "about", "javascript"}


@dataclass
class _Reference:
    """Something a page points to: `loads` if a browser fetches it by itself, otherwise followed by a click."""

    url: str
    loads: bool
    source: str


@dataclass
class _Page(HTMLParser):
    """What the check needs to know of one page."""

    ids: set[str] = field(default_factory=set)
    references: list[_Reference] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    content: Content = field(default_factory=Content)
    figures: list[tuple[str, str]] = field(default_factory=list)  # source and what is said of it
    lang: str | None = None
    is_redirect: bool = False
    _within: list[tuple[str, str]] = field(default_factory=lambda: [("", "")])  # tags and looks of what is open
    _bare: bool = False  # in a figure, before its first drawing: that is the one to describe

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self._note_kind(tag, values)
        if values.get("id") in self.ids:
            self.faults.append(f"id {values['id']!r} is there twice")
        self.ids |= {values["id"]} if "id" in values else set()
        self.ids |= {values["name"]} if tag == "a" and "name" in values else set()
        self.references += _references_of(tag, values)
        self.content.scripts += [Source(text=text) for name, text in values.items() if name.startswith("on")]
        if tag == "script" and "src" in values:
            self.content.scripts.append(Source(url=values["src"]))
        if tag == "link" and "stylesheet" in values.get("rel", ""):
            self.content.sheets.append(Source(url=values["href"]))
        if tag == "html":
            self.lang = values.get("lang")
        self._bare |= tag == "figure"
        if tag == "img":
            self._image(values.get("src", ""), " ".join(values.get("alt", "").split()))
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.is_redirect = True

    def _note_kind(self, tag: str, values: dict[str, str]) -> None:
        """What of an element a sheet of style, or axe, could go by."""
        look = ".".join([tag, *sorted(values.get("class", "").split())])
        others = (f"{name}={values[name] if name in TELLING else ''}" for name in sorted(values.keys() - UNTOLD))
        self.content.kinds.add((look, self._within[-1][1], *others))
        if tag not in VOID:
            self._within.append((tag, look))

    def _image(self, src: str, alt: str) -> None:
        if not alt:
            self.faults.append(f"<img src={src[:80]!r}> has no alt text")
        elif self._bare and len(alt) < DESCRIBED:
            self.faults.append(f"figure {src[:80]!r} is described in {len(alt)} letters: {alt!r}")
        elif self._bare:
            self.figures.append((src, alt))
        self._bare = False

    def handle_data(self, data: str) -> None:
        inside = self._within[-1][0]
        if inside == "style":
            self.references += _references_of_css(data, "<style>")
            self.content.sheets.append(Source(text=data))
        if inside == "script":
            self.content.scripts.append(Source(text=data))

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._within) - 1, 0, -1):
            if self._within[place][0] == tag:
                del self._within[place:]
                break
        self._bare &= tag != "figure"


def _references_of(tag: str, values: dict[str, str]) -> Iterator[_Reference]:
    if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
        yield _Reference(values.get("content", "").partition("url=")[2], True, "<meta refresh>")
    for name in ("href", "xlink:href", "src", "poster", "data", "action"):
        if name not in values or (name == "data" and tag != "object"):
            continue
        clicked = tag in {"a", "area", "form"} or (tag == "link" and set(values.get("rel", "").split()) <= NAMING_RELS)
        yield _Reference(values[name].strip(), not clicked, f"<{tag} {name}>")
    if not values.get("srcset", "").startswith("data:"):
        for candidate in filter(None, map(str.strip, values.get("srcset", "").split(","))):
            yield _Reference(candidate.split()[0], True, f"<{tag} srcset>")
    yield from _references_of_css(values.get("style", ""), f"<{tag} style>")


def _references_of_css(text: str, source: str) -> Iterator[_Reference]:
    for match in CSS_URL.finditer(CSS_COMMENT.sub("", text)):
        yield _Reference(next(filter(None, match.groups()), ""), True, source)


def _read_pages(html: Path) -> dict[Path, _Page]:
    pages = {}
    for path in sorted(html.rglob("*.html")):
        if path.name.endswith("webpack-macros.html"):  # Jinja templates that themes leave among their static files
            continue
        pages[path] = page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        page.close()
    return pages


def _check_files(html: Path, pages: dict[Path, _Page]) -> list[str]:
    problems = []
    _target.cache_clear()
    for path, page in pages.items():
        faults = list(page.faults)
        if not page.lang and not page.is_redirect:
            faults.append("<html> has no lang")
        faults += [fault for it in page.references if (fault := _fault_of(it, path, html, pages))]
        problems += [f"{path.relative_to(html)}: {fault}" for fault in dict.fromkeys(faults)]
    problems += _check_words(html, pages)
    for path in sorted(html.rglob("*.css")):
        references = _references_of_css(path.read_text(encoding="utf-8"), "css")
        faults = [fault for it in references if (fault := _fault_of(it, path, html, pages))]
        problems += [f"{path.relative_to(html)}: {fault}" for fault in dict.fromkeys(faults)]
    return problems


def _check_words(html: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    """Figures of which the same is said as of another."""
    said: dict[str, Path] = {}
    for path, page in pages.items():
        for src, alt in page.figures:
            image = (path.parent / unquote(src)).resolve()
            if said.setdefault(alt, image) != image:
                yield f"{path.relative_to(html)}: figure {src[:80]!r} has the alt text of {said[alt].name!r}"


@cache
def _target(folder: Path, name: str) -> tuple[Path, bool]:
    """Where a link leads, and whether a file is there: the contents have the same on every page."""
    target = (folder / name).resolve()
    return target, target.is_file()


def _fault_of(it: _Reference, path: Path, html: Path, pages: dict[Path, _Page]) -> str | None:
    """What is wrong with reference `it` of the file `path`, if anything."""
    what = f"{it.source} {it.url[:120]!r}"
    parts = urlsplit(it.url)
    if parts.scheme in SELF_CONTAINED:
        return None
    if parts.scheme == "file" or (not parts.scheme and parts.path.startswith("/") and not parts.netloc):
        return f"{what} is absolute: it breaks wherever else the site is put"
    if parts.scheme or parts.netloc:
        if it.loads:
            return f"{what} loads from outside the site"
        return None if parts.scheme else f"{what} has no scheme: it breaks when the page is read from disk"
    target, there = _target(path.parent, unquote(parts.path)) if parts.path else (path, True)
    if not target.is_relative_to(html):
        return f"{what} points outside the site"
    if not there:
        return f"{what} does not exist"
    anchor = unquote(parts.fragment)
    if anchor and not anchor.startswith(":~:") and target in pages and anchor not in pages[target].ids:
        return f"{what} names an id that {target.relative_to(html)} does not have"
    return None
