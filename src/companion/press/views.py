"""Which pages of the site a browser opens, and in which views.

Source listings and the reference are hundreds of pages from one template, with the scripts that all pages have. Such a
page is opened if it shows a *kind* of element that none opened before it does: a tag with its classes, in what, with
which attributes. The others are put, one after the other, into an opened page of their template.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

Scheme = Literal["light", "dark"]
View = tuple[Scheme, int]  # the scheme that the reader asks for, and px of width
Kind = tuple[str, ...]  # of an element: its tag and classes, those of what it is in, what else is said of it
DESK, PHONE, HEIGHT = 1280, 390, 900
#: The loads of a page that runs something of its own: one a scheme, one on a desk and one on a phone, each seen in the
#: other width without a new load.
LOADS: list[list[View]] = [[("light", DESK), ("light", PHONE)], [("dark", PHONE), ("dark", DESK)]]
#: All four, with one change of width, which costs more than one of scheme, whichever scheme comes first.
VIEWS: list[View] = [("light", DESK), ("dark", DESK), ("dark", PHONE), ("light", PHONE)]
#: Two views that have nothing in common: they show both schemes and both widths.
PAIRS: list[list[View]] = [[("light", DESK), ("dark", PHONE)], [("light", PHONE), ("dark", DESK)]]
#: Both schemes where a text too wide shows, and a table has to scroll.
NARROW: list[View] = [("light", PHONE), ("dark", PHONE)]
#: Source listings and the reference.
ALIKE = re.compile(r"_modules/|book/reference/")


@dataclass(frozen=True)
class Source:
    """What a page runs, or is styled by: the file at `url`, or `text`."""

    url: str = ""
    text: str = ""


@dataclass
class Content:
    """What tells pages apart for a browser."""

    scripts: list[Source] = field(default_factory=list)
    sheets: list[Source] = field(default_factory=list)
    kinds: set[Kind] = field(default_factory=set)


@dataclass(frozen=True)
class Load:
    """One load of a page, and the views it is seen in: the scripts start in the first."""

    path: Path
    views: Sequence[View]
    axed: Collection[View]  # those that axe looks at
    of: int = 1  # loads of the page
    idle: bool = False  # wait until the network rests, for scripts that ask for something late
    host: Path | None = None  # the page that its body is put into


def plan(html: Path, pages: Mapping[Path, Content], every: bool = False) -> list[Load]:
    """The loads of all pages, in their order; with `every`, each page is opened, and seen by axe in each view.

    An opened page is looked at in all four views, and by axe on a phone, in either scheme by turns. One that runs what
    no page before it does is loaded in each scheme, and seen by axe in two views that have nothing in common, so in
    both schemes and both widths; others are loaded once, in either scheme by turns, and turned from view to view. One
    that is put into another is looked at on a phone, in both schemes, and by axe in either by turns.
    """
    scripts = {path: frozenset(_told_apart(html, path, it.scripts)) for path, it in pages.items()}
    dress = {path: scripts[path] | {*_told_apart(html, path, it.sheets)} for path, it in pages.items()}
    alike = {path for path in pages if ALIKE.match(path.relative_to(html).as_posix()) and not every}
    hosts = _hosts({path: pages[path].kinds for path in alike}, dress)
    known: set[str] = set()
    loads = []
    pairs, starts = cycle(PAIRS), cycle([VIEWS, [*VIEWS[2:], *VIEWS[:2]]])
    phone, narrow = cycle(NARROW), cycle([NARROW, NARROW[::-1]])
    for path in sorted(pages, key=lambda it: it in alike):
        host = hosts.get(path, path)
        if host != path:
            views = next(narrow)
            loads.append(Load(path, views, views[:1], host=host))
        elif scripts[path] - known:
            axed = VIEWS if every else next(pairs)
            loads += [Load(path, views, axed, 2, True) for views in LOADS]
        else:
            axed = VIEWS if every else [next(phone)]
            loads.append(Load(path, next(starts), axed, idle=bool(scripts[path]) and path not in alike))
        known |= scripts[path]
    return loads


def _hosts(kinds: Mapping[Path, AbstractSet[Kind]], dress: Mapping[Path, frozenset[str]]) -> dict[Path, Path]:
    """The page that each is put into: itself if it shows a kind that none before it, with its scripts and styles, does.

    Those with the most kinds come first, and all others are put into the first.
    """
    seen: dict[frozenset[str], set[Kind]] = defaultdict(set)
    hosts: dict[Path, Path] = {}
    first: dict[frozenset[str], Path] = {}
    for path in sorted(kinds, key=lambda it: (-len(kinds[it]), it)):
        host = first.setdefault(dress[path], path)
        hosts[path] = host if kinds[path] <= seen[dress[path]] else path
        seen[dress[path]] |= kinds[path]
    return hosts


def _told_apart(html: Path, path: Path, sources: Iterable[Source]) -> Iterator[str]:
    """What a page runs or wears, told so that pages which differ in their own names alone say the same."""
    name = path.relative_to(html).with_suffix("").as_posix()
    for it in sources:
        local = it.url and not urlsplit(it.url).scheme
        yield os.path.normpath(path.parent / it.url) if local else it.url or it.text.replace(name, "")
