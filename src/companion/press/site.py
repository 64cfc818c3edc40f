"""The gate on the rendered site: every link leads somewhere, nothing leaves the reader's machine, every page works.

`check_site` returns one line a problem; an empty list is a site fit to publish. Here the files are read; in `browser`
every page is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from companion.press import BuildError
from companion.press.browser import CHROMIUM_FLAGS, Script, check_in_browser, find_chromium

__all__ = ["CHROMIUM_FLAGS", "check_site", "find_chromium"]


def check_site(html: Path, screenshots: Path | None = None) -> list[str]:
    """Problems of the site under `html`, a line each, starting with the page it is on.

    With `screenshots`, keep pictures there of the pages in two views.
    """
    html = html.resolve()
    pages = _read_pages(html)
    if not pages:
        raise BuildError(f"{html}: no .html page there; run `companion book` first")
    sources = {path: page.scripts for path, page in pages.items() if not page.is_redirect}
    return [*_check_files(html, pages), *check_in_browser(html, sources, screenshots)]


# ---------------------------------------------------------------- the files

# <link rel=…> that names a page; every other rel makes a browser load (or connect to) what it names
NAMING_RELS = {"alternate", "author", "canonical", "help", "index", "license", "me", "next", "prev", "search", "up"}
CSS_URL = re.compile(r"""(?:url\(\s*|@import\s+(?!url))(?:"([^"]*)"|'([^']*)'|([^\s"';)]+))""")
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
#: Letters that it takes to describe a figure.
DESCRIBED = 41
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
    scripts: list[Script] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)  # source and what is said of it
    lang: str | None = None
    is_redirect: bool = False
    _inside: str = ""
    _bare: bool = False  # in a figure, before its first drawing: that is the one to describe

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self._inside = tag
        self.ids |= {values["id"]} if "id" in values else set()
        self.ids |= {values["name"]} if tag == "a" and "name" in values else set()
        self.references += _references_of(tag, values)
        self.scripts += [Script(text=text) for name, text in values.items() if name.startswith("on")]
        if tag == "script" and "src" in values:
            self.scripts.append(Script(url=values["src"]))
        if tag == "html":
            self.lang = values.get("lang")
        self._bare |= tag == "figure"
        if tag == "img":
            self._image(values.get("src", ""), " ".join(values.get("alt", "").split()))
        if tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.is_redirect = True

    def _image(self, src: str, alt: str) -> None:
        if not alt:
            self.faults.append(f"<img src={src[:80]!r}> has no alt text")
        elif self._bare and len(alt) < DESCRIBED:
            self.faults.append(f"figure {src[:80]!r} is described in {len(alt)} letters: {alt!r}")
        elif self._bare:
            self.figures.append((src, alt))
        self._bare = False

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.references += _references_of_css(data, "<style>")
        if self._inside == "script":
            self.scripts.append(Script(text=data))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""
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
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(html):
        return f"{what} points outside the site"
    if not target.is_file():
        return f"{what} does not exist"
    anchor = unquote(parts.fragment)
    if anchor and not anchor.startswith(":~:") and target in pages and anchor not in pages[target].ids:
        return f"{what} names an id that {target.relative_to(html)} does not have"
    return None
