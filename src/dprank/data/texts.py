"""Small tables of texts, without pandas, whose import takes longer than all else that a release of them does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_CELLS", "Column", "Texts", "factorized", "plain_rows"]

#: More are read by pandas, which takes less time for each.
MOST_CELLS = 200_000


class Column:
    """A column, with as much of what a Series has as is asked of it.

    Examples
    --------
    >>> Column("who", np.array(["bob", "ann", "bob"], object)).factorize()
    (array([0, 1, 0]), array(['bob', 'ann'], dtype=object))
    """

    def __init__(self, name: str, cells: NDArray[Any]) -> None:
        self.name, self._cells = name, cells

    def factorize(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Which of the distinct texts every cell holds, and these as they come."""
        return factorized(self._cells)

    def to_numpy(self, dtype: Any = object) -> NDArray[Any]:
        """The cells."""
        return self._cells.astype(dtype)


class Texts:
    """A table, with as much of what a DataFrame has as is asked of it.

    Examples
    --------
    >>> table = Texts(["who", "what"], np.array([["bob", "flu"], ["ann", ""]], object))
    >>> len(table), table["who"].name, table.taken(np.array([1, 1]))["who"].to_numpy().tolist()
    (2, 'who', ['ann', 'ann'])
    """

    def __init__(self, names: Sequence[str], cells: NDArray[Any]) -> None:
        self.columns, self._cells = list(names), cells

    def __len__(self) -> int:
        return len(self._cells)

    def __getitem__(self, name: str) -> Column:
        return Column(name, self._cells[:, self.columns.index(name)])

    def taken(self, rows: NDArray[np.int64]) -> Texts:
        """The table of these rows."""
        return Texts(self.columns, self._cells[rows])


def factorized(cells: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Which of the distinct texts each is, and these as they come: what pandas.factorize says of texts."""
    code: dict[str, int] = {}
    codes = np.fromiter((code.setdefault(it, len(code)) for it in cells), np.int64, len(cells))
    return codes, np.fromiter(code, object, len(code))


def plain_rows(text: str, header: Sequence[str], separator: str) -> Texts | None:
    r"""Rows that no reader of CSV can read in two ways; None of all others, and of many.

    Without a quotation mark, a blank line or one that begins with a blank, and each with as many cells as the header,
    whose names are names, and differ.

    Parameters
    ----------
    text : str
        What stands below the header, in lines that end in LF.
    header : sequence of str
    separator : str

    Examples
    --------
    >>> plain_rows("bob,flu\nann,\n", ["who", "what"], ",")["what"].to_numpy().tolist()
    ['flu', '']
    >>> plain_rows("bob\n", ["who", "what"], ",") is None
    True
    """
    lines, width = text.removesuffix("\n").split("\n"), len(header)
    named = width > 1 and all(header) and len(set(header)) == width
    if not named or width * len(lines) > MOST_CELLS or '"' in text or "\r" in text:
        return None
    if any(line[:1] in ("", " ", "\t") or line.count(separator) != width - 1 for line in lines):
        return None
    cells = np.fromiter((cell for line in lines for cell in line.split(separator)), object, width * len(lines))
    return Texts(header, cells.reshape(-1, width))
