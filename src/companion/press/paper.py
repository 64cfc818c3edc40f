"""The book as one document for paper: the site's own pages in the order of its contents, with links that stay inside.

`contents` reads the order and the titles from the site, `assemble` puts the pages together; `book/_static/print.css`
gives them their looks, and `companion.press.pdf` prints them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from companion.press import BuildError

FRONT = "book/index.html"
#: Pages of prose that a reader of paper wants: before the chapters, and behind all else.
BEFORE, BEHIND = ("verdicts", "reproduce"), ("glossary", "notation", "references")
#: What pages have for a screen, and what a card has beside the checks that decide.
SCREEN = (
    ".headerlink, .page-foot, .cell:not(:has(figure, table)):has(.figure-links), .figure-links, .toctree-wrapper, "
    ".front-search, .board-filters, .as-pdf, "
    ".erratum-copy, .erratum-link, .erratum-foot, section:has(> .cell .claim-graph), .claim-log details, source"
)
#: What the theme's rules want around an article.
BOXES = ("bd-main", "bd-content", "bd-article-container")
HEADING = re.compile("h[1-5]")


@dataclass(frozen=True)
class Leaf:
    """A page of the site in the book: where it is, what the contents call it, the part it stands in."""

    path: str
    title: str
    part: str

    @property
    def name(self) -> str:
        """The id of the page in the document."""
        return Path(self.path).stem


def contents(html: Path) -> list[Leaf]:
    """The pages of the book in order: roads in the parts of the site's contents, then the statement pages, the ledger,
    and words and letters.
    """
    front = _soup(html, FRONT)
    listed, part = [Leaf(FRONT, "The book in short", "")], ""
    for item in front.select("nav.bd-links p.caption, nav.bd-links a.reference.internal"):
        text = item.get_text(" ", strip=True)
        if item.name == "p":
            part = text
        elif (path := _resolve(FRONT, str(item["href"]))) != FRONT:
            listed.append(Leaf(path, text, part))
    return sorted((it for it in map(_placed, listed) if it), key=_place)


def _placed(leaf: Leaf) -> Leaf | None:
    """The page with the part it has on paper, if it is there."""
    if re.match(r"notebooks/\d\d[a-z]-", leaf.path):
        return Leaf(leaf.path, leaf.title, "Statement by statement")
    prose = leaf.path.startswith("book/") and leaf.path != FRONT
    return None if prose and leaf.name not in BEFORE + BEHIND else leaf


def _place(leaf: Leaf) -> int:
    """Roads before statement pages, these before the ledger; within each, the order of the site."""
    number = re.match(r"notebooks/(\d\d)([a-z]?)-", leaf.path)
    if number is None:
        return 0 if leaf.name not in BEHIND else 4
    return 3 if number[1] >= "90" else 2 if number[2] else 1


def _soup(html: Path, path: str) -> BeautifulSoup:
    try:
        return BeautifulSoup((html / path).read_text(encoding="utf-8"), "html.parser")
    except FileNotFoundError:
        raise BuildError(f"{html / path}: no such page; run `companion book` first") from None


def _resolve(path: str, url: str) -> str:
    """The file of the site that `url` on the page `path` names."""
    there = unquote(urlsplit(url).path)
    return os.path.normpath(os.path.join(os.path.dirname(path), there)) if there else path


def assemble(html: Path, leaves: Iterable[Leaf], prefix: str) -> str:
    """One document of all pages; its images and scripts are found under `prefix`."""
    leaves = list(leaves)
    names = {leaf.path: leaf.name for leaf in leaves}
    front = _soup(html, FRONT)
    body = [_title_page(front), _contents_page(leaves)]
    for part, group in groupby(leaves, lambda it: it.part):
        for place, leaf in enumerate(group):
            heading = f'<h1 class="paper-part">{escape(part)}</h1>' if part and not place else ""
            article = _article(html, leaf, names, prefix)
            body.append(f'<div class="leaf" id="{leaf.name}">{heading}{article.decode_contents()}</div>')
    head = f'<head><meta charset="utf-8">{_head(html, front, leaves, prefix)}</head>'
    open_, close = "".join(f'<div class="{it}">' for it in BOXES), "</div>" * len(BOXES)
    said = f'<article class="bd-article">{"".join(body)}</article>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}<body class="paper">{open_}{said}{close}</body></html>\n'


def _head(html: Path, front: BeautifulSoup, leaves: list[Leaf], prefix: str) -> str:
    """The site's title and its style sheets."""
    title = _text(front, ".logo__title")
    sheets = [_moved(it, FRONT, prefix) for it in front.select("head link[rel=stylesheet]")]
    heads = "".join(
        f"@page p-{it.name} {{ @top-left {{ content: {json.dumps(it.title, ensure_ascii=False)}; }} }} "
        f'[id="{it.name}"] {{ page: p-{it.name}; }}'
        for it in leaves
    )
    return f"<title>{escape(title)}</title>{''.join(map(str, sheets))}<style>{heads}</style>"


def _text(soup: Tag, selector: str) -> str:
    """The text of the one element wanted, or none."""
    found = soup.select_one(selector)
    return found.get_text(" ", strip=True) if found else ""


def _title_page(front: BeautifulSoup) -> str:
    lines = "".join(f"<p>{escape(_text(front, it))}</p>" for it in (".component-author", ".extra_footer"))
    return f'<div class="paper-title"><h1>{escape(_text(front, ".logo__title"))}</h1>{lines}</div>'


def _contents_page(leaves: Iterable[Leaf]) -> str:
    parts = []
    for part, group in groupby(leaves, lambda it: it.part):
        rows = "".join(f'<li><a href="#{it.name}"><span>{escape(it.title)}</span><i></i></a></li>' for it in group)
        parts.append(f"<h2>{escape(part)}</h2><ul>{rows}</ul>" if part else f"<ul>{rows}</ul>")
    return f'<div class="leaf paper-contents"><h1>Contents</h1>{"".join(parts)}</div>'


def _article(html: Path, leaf: Leaf, names: Mapping[str, str], prefix: str) -> Tag:
    """What a page says, with ids of its own, links that stay inside, headings a step lower."""
    article = _soup(html, leaf.path).select_one("article")
    if article is None:
        raise BuildError(f"{leaf.path}: no article on this page")
    for it in article.select(SCREEN):
        it.decompose()
    for it in article.select(".highlight pre span"):
        it.unwrap()
    for it in article.select(".strip"):
        _unfold(it)
    moving = [str(it["id"]) for it in article.select(":is(.explorer, .slider)[id]")]
    for it in article.find_all("script"):
        for name in moving:
            it.string = (it.string or "").replace(f'"{name}"', f'"{leaf.name}--{name}"', 1)
    for it in article.find_all(True):
        for key in ("id", "for", "aria-labelledby", "aria-describedby"):
            if key in it.attrs:
                it[key] = f"{leaf.name}--{it[key]}"
        if it.name == "a" and "href" in it.attrs:
            _keep_inside(it, leaf, names)
        elif HEADING.fullmatch(it.name):
            it.name = f"h{int(it.name[1]) + 1}"
        _moved(it, leaf.path, prefix)
    return article


def _unfold(strip: Tag) -> None:
    """Make of a folded strip its one line, which leads to the argument."""
    summary, link = strip.select_one("summary"), strip.select_one("div a[href]")
    if summary is None or link is None:
        raise BuildError(f"a strip without a line or a link: {strip.get_text(' ', strip=True)[:80]}")
    strip.clear()
    strip.name, summary.name = "div", "a"
    summary["href"] = link["href"]
    strip.append(summary)


def _keep_inside(link: Tag, leaf: Leaf, names: Mapping[str, str]) -> None:
    """Let a link lead to the page or the place in the document; to what is not in it, nowhere."""
    parts = urlsplit(str(link["href"]))
    if parts.scheme in ("http", "https", "mailto"):
        return
    target = None if parts.scheme else names.get(_resolve(leaf.path, str(link["href"])))
    if target is None:
        del link["href"]
    else:
        link["href"] = f"#{target}--{unquote(parts.fragment)}" if parts.fragment else f"#{target}"


def _moved(tag: Any, path: str, prefix: str) -> Tag:
    """The element with what it loads found from the document."""
    for key in ("src", "href"):
        if tag.name != "a" and key in tag.attrs and not urlsplit(str(tag[key])).scheme:
            tag[key] = f"{prefix}{_resolve(path, str(tag[key]))}"
    tag.attrs.pop("loading", None)
    return tag
