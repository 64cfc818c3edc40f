"""The papers: each stands here once, with all that pages derive from it; and what was read of it, of `data/papers.yml`.

What the book promises itself stands beside them: the ledger judges it in the same way, and no paper prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

__all__ = [
    "COPIES",
    "NUMBERS",
    "PAPERS",
    "PRINTED",
    "Copy",
    "Paper",
    "Source",
    "copies",
    "families",
    "how_many",
    "names",
    "paper_of",
]

COPIES = "data/papers.yml"


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper whose claims the ledger holds, or, if it is `ours`, promises of this book.

    Its `key` is the stem of its files and the prefix of its claims, and its entry in `book/references.bib`. It is
    called `short`, by its `year` or without; `authors` names them all. `family` is the room of the library whose
    mechanisms are its own, `errata` its page of what does not stand as printed, and `figures` how many it numbers.

    Examples
    --------
    >>> paper_of("cai2025:thm-2.1").name, paper_of("cai2025:thm-2.1").citation
    ('Cai et al. (2025)', 'Cai, Chakraborty and Wang (2025)')
    """

    key: str
    short: str
    year: int | None = None
    authors: str = ""
    family: str = ""
    errata: str = ""
    figures: int = 0
    ours: bool = False

    @property
    def name(self) -> str:
        """What it is called where it stands among others."""
        return f"{self.short} ({self.year})" if self.year else self.short

    @property
    def citation(self) -> str:
        """All authors, and the year."""
        return f"{self.authors} ({self.year})"


_EVERY = (
    Paper(
        key="cai2025",
        short="Cai et al.",
        year=2025,
        authors="Cai, Chakraborty and Wang",
        family="pairwise",
        errata="92-errata-cai2025",
        figures=8,
    ),
    Paper(
        key="busafekete2021",
        short="Busa-Fekete et al.",
        year=2021,
        authors="Busa-Fekete, Fotakis and Zampetakis",
        family="uniformity",
        errata="93-errata-busafekete2021",
        figures=3,
    ),
    Paper(
        key="qiao2021",
        short="Qiao et al.",
        year=2021,
        authors="Qiao, Su and Zhang",
        family="topk",
        errata="94-errata-qiao2021",
    ),
    Paper(
        key="alabi2022",
        short="Alabi et al.",
        year=2022,
        authors="Alabi, Ghazi, Kumar and Manurangsi",
        family="aggregation",
        errata="95-errata-alabi2022",
    ),
    Paper(key="audit", short="This book's own promises", ours=True),
    Paper(key="release", short="What the tool promises", ours=True),
    Paper(key="guide", short="What the guide promises", ours=True),
)
#: All by key, in the order of tables; and those that are printed.
PAPERS = {it.key: it for it in _EVERY}
PRINTED = tuple(it for it in _EVERY if not it.ours)
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def paper_of(claim: str) -> Paper:
    """Whose claim it is, by its id; of a paper that is not here, no more than its key."""
    key = claim.partition(":")[0]
    return PAPERS.get(key) or Paper(key=key, short=key)


def names() -> dict[str, str]:
    """What everybody is called whose claims there are, by key, in the order of tables."""
    return {it.key: it.name for it in PAPERS.values()}


def families() -> dict[str, str]:
    """What a paper is called without its year, by the room of the library that holds its mechanisms."""
    return {it.family: it.short for it in PRINTED if it.family}


def how_many(number: int = len(PRINTED)) -> str:
    """A number in words up to twelve: of the papers, as in "the four papers", or another."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


# ---------------------------------------------------------------- what was read


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file of the authors: `what` it is and `where`, and what of the book `rests` on it, of the `claims`."""

    what: str
    where: str
    rests: str
    claims: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Copy:
    """The version of a paper that was read: its `identifier` and date, the digest of its text, what it `lacks`, and the
    authors' own files.
    """

    identifier: str
    dated: str
    digest: str
    lacks: str
    sources: tuple[Source, ...]


def copies(root: Path) -> dict[str, Copy]:
    """The copies that were read, by paper; none where a book has no such file. A ValueError says what is wrong."""
    path = root / COPIES
    read = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {key: _copy(key, it) for key, it in (read or {}).items()}


def _copy(key: str, values: dict[str, Any]) -> Copy:
    _require(key, values, Copy)
    for it in values["sources"]:
        _require(f"{key}: sources", it, Source)
    sources = tuple(Source(**it | {"claims": tuple(it["claims"])}) for it in values["sources"])
    return Copy(**values | {"sources": sources})


def _require(where: str, values: Mapping[str, Any], kind: type[Any]) -> None:
    """Refuse other fields, or another order of them."""
    allowed = [it.name for it in fields(kind)]
    if list(values) != allowed:
        raise ValueError(f"{COPIES}: {where}: {', '.join(values)}; allowed: {', '.join(allowed)}")
