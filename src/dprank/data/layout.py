"""How a table stands in its file, where the file does not say it: sheet, encoding, lines above, header, query."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Self

from dprank._require import require_one_of, require_whole, settle, shown

__all__ = ["ENCODINGS", "Layout"]

#: Those in which every line can be read by itself, by the names that Python has for them.
ENCODINGS = (
    *("utf-8", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "iso8859-15", "mac-roman", "cp850", "cp437"),
    *("cp1250", "iso8859-2", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256"),
    *("cp932", "euc-jp", "gb18030", "big5", "cp949"),
)
#: Title rows are few; more are rows of people.
MOST_SKIPPED = 1000


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What is said of a file beside what it says itself; a public choice, which looks at no row.

    Parameters
    ----------
    sheet : str, optional
        Which sheet of a workbook; needed where several have cells.
    encoding : str, optional
        Of text, one of `ENCODINGS`, by any name that Python knows; UTF-8, or UTF-16 with its mark, by default.
    skip : int
        How many lines, or rows of a sheet, stand above the header and are none of it.
    header : {1, 2, 3}
        How many rows the header has. Of two each column is called as `named` says, of three by the first.
    sql : str, optional
        A query over a database, whose rows are the table.
    contest : str, optional
        Of a cast vote record which contest.
    overvotes : {"skip", "exhaust"}, optional
        Of a cast vote record what a place says that has several candidates: nothing, or that the ballot ends there.

    Raises
    ------
    ValueError
        Naming the key and what is allowed.

    Examples
    --------
    >>> Layout(encoding="windows-1252", skip=2).said
    {'encoding': 'cp1252', 'skip': 2}
    """

    sheet: str | None = None
    encoding: str | None = None
    skip: int = 0
    header: int = 1
    sql: str | None = None
    contest: str | None = None
    overvotes: str | None = None

    def __post_init__(self) -> None:
        for name in ("sheet", "encoding", "sql", "contest", "overvotes"):
            value = getattr(self, name)
            if value is not None and (type(value) is not str or not value.strip()):
                raise ValueError(f"{name} = {shown(value)}; text is needed")
        if self.overvotes is not None:
            require_one_of("overvotes", self.overvotes, ("skip", "exhaust"))
        settle(self, skip=require_whole("skip", self.skip, 0, MOST_SKIPPED))
        settle(self, header=require_whole("header", self.header, 1, 3))
        if self.encoding is not None:
            settle(self, encoding=_encoding(self.encoding))

    @classmethod
    def of(cls, given: Mapping[str, Any] | None) -> Self:
        """The same of keys as a declaration has them.

        Examples
        --------
        >>> Layout.of({"page": 1})
        Traceback (most recent call last):
            ...
        ValueError: layout = 'page'; allowed are 'sheet', 'encoding', 'skip', 'header', 'sql', 'contest', 'overvotes'
        """
        if given is not None and type(given) is not dict:
            raise ValueError(f"layout = {shown(given)}; a table of keys is needed, as {{sheet = 'Answers'}}")
        known = tuple(it.name for it in fields(cls))
        for name in given or {}:
            require_one_of("layout", name, known)
        return cls(**(given or {}))

    @property
    def said(self) -> dict[str, Any]:
        """What is not as usual, by its key."""
        return {it.name: getattr(self, it.name) for it in fields(self) if getattr(self, it.name) != it.default}

    def named(self, rows: list[list[str]]) -> list[str]:
        """Names of columns by the rows of a header, of one length.

        Of two rows, as SurveyMonkey writes them, the first has a question above the first of its columns, and the
        second an item above each: where a question has several columns each is called by its item, and else by the
        question; where that names two columns, by both. Of three rows, as of Qualtrics, the first is the names.

        Examples
        --------
        >>> Layout(header=2).named([["id", "Rank", "", "Why?"], ["", "weir", "quarry", "Open"]])
        ['id', 'weir', 'quarry', 'Why?']
        """
        if self.header != 2 or len(rows) < 2:
            return rows[0]
        questions, items = rows
        asked = [next((it for it in questions[at::-1] if it), "") for at in range(len(questions))]
        first = [
            item if item and (not question or (at + 1 < len(questions) and not questions[at + 1])) else question or item
            for at, (question, item) in enumerate(zip(questions, items, strict=True))
        ]
        return [
            f"{question} {item}" if item and first.count(name) > 1 else name
            for name, question, item in zip(first, asked, items, strict=True)
        ]


def _encoding(name: str) -> str:
    found: str | None = None
    with suppress(LookupError, ValueError):
        codec = codecs.lookup(name).name
        found = next((it for it in ENCODINGS if codecs.lookup(it).name == codec), None)
    if found is None:
        raise ValueError(f"encoding = {shown(name)}; one of {', '.join(ENCODINGS)} is needed")
    return found
