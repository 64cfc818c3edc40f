"""Places with their ranges as a picture: a point and bars an item, in SVG, and in letters for a terminal."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dprank._require import settle, visible

__all__ = ["Places", "drawn", "typed"]

#: Items in one picture, the best ones; more are no picture.
MOST = 60
#: Of the picture: its width, the height of a row and of a line of a name, and what names take beside the bars.
_WIDTH, _ROW, _LINE, _NAMES = 420, 26, 18, 150
#: Letters beside the bars, and in a line above them, in a terminal.
_BESIDE, _ABOVE = 24, 72
#: At most as wide as letters are in pixels, in a font of 14: narrow ones, usual ones, wide ones, and those of a square.
_NARROW, _USUAL, _BROAD, _SQUARE = 6.0, 9.5, 14.0, 16.0


@dataclass(frozen=True)
class Places:
    """What is drawn: items from best to worst, and the places that each may have.

    Parameters
    ----------
    items : sequence of str
    narrow : sequence of (int, int)
        Lowest and highest place of every item, from 1.
    wide : sequence of (int, int), optional
        The same of wider ranges, which hold the narrow ones.

    Raises
    ------
    ValueError
        Where there are not as many ranges as items, or a range does not hold the item's own place.

    Examples
    --------
    >>> Places(["Hours", "Pay"], [(1, 1), (2, 2)]).items
    ('Hours', 'Pay')
    """

    items: Sequence[str]
    narrow: Sequence[tuple[int, int]]
    wide: Sequence[tuple[int, int]] | None = None

    def __post_init__(self) -> None:
        settle(self, items=tuple(self.items), narrow=tuple(self.narrow))
        for name in ("narrow", "wide"):
            ranges = getattr(self, name)
            if ranges is None:
                continue
            if len(ranges) != len(self.items):
                raise ValueError(f"{name} has {len(ranges)} ranges; one for each of {len(self.items)} items is needed")
            if any(not 1 <= low <= at <= high <= len(ranges) for at, (low, high) in enumerate(ranges, 1)):
                raise ValueError(f"{name} holds a range without the item's own place")
            settle(self, **{name: tuple(ranges)})

    @property
    def shown(self) -> int:
        """Items in the picture."""
        return min(len(self.items), MOST)


def drawn(places: Places, title: str) -> str:
    """As SVG, in the colours of the page around it.

    Parameters
    ----------
    places : Places
    title : str
        What the picture says, for those who do not see it.

    Examples
    --------
    >>> drawn(Places(["Hours", "Pay"], [(1, 1), (2, 2)]), "Two places").startswith("<svg ")
    True
    """
    last, rows = len(places.items), places.shown
    names = [_lines(item, _NAMES - 4, _pixels) for item in places.items[:rows]]
    beside = max(map(len, names)) == 1
    if not beside:
        names = [_lines(item, _WIDTH - 8, _pixels) for item in places.items[:rows]]
    left = _NAMES if beside else 0
    tall = [_ROW if beside else _ROW + _LINE * len(lines) for lines in names]
    height = _ROW + sum(tall)

    def at(place: float) -> float:
        return left + 14 + (place - 1) / max(last - 1, 1) * (_WIDTH - left - 28)

    marks = []
    for place in sorted({1, (1 + last) // 2, last}):
        x = at(place)
        marks.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_ROW - 6}" y2="{height - 8}" stroke-opacity=".15"/>'
            f'<text x="{x:.1f}" y="14" text-anchor="middle" font-size="12" stroke="none">{place}</text>'
        )
    top = float(_ROW)
    for row in range(rows):
        y = top + tall[row] - _ROW / 2
        bars = [(places.narrow[row], 5)] if places.wide is None else [(places.wide[row], 1.5), (places.narrow[row], 5)]
        x, anchor = (_NAMES, "end") if beside else (4, "start")
        for number, line in enumerate(names[row]):
            base = y + 5 if beside else top + _LINE * (number + 0.8)
            marks.append(
                f'<text x="{x}" y="{base:.1f}" text-anchor="{anchor}" font-size="14" stroke="none">'
                f"{html.escape(line)}</text>"
            )
        for (low, high), thick in bars:
            marks.append(
                f'<line x1="{at(low):.1f}" x2="{at(high):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke-width="{thick}" '
                'stroke-opacity=".45" stroke-linecap="round"/>'
            )
        marks.append(f'<circle cx="{at(row + 1):.1f}" cy="{y:.1f}" r="5" stroke="none"/>')
        top += tall[row]
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" fill="currentColor" stroke="currentColor">'
        f"<title>{html.escape(title)}</title>{''.join(marks)}</svg>"
    )


def typed(places: Places) -> str:
    """In letters: ● the place, ━ a range, ─ a wider one; a line an item.

    Parameters
    ----------
    places : Places

    Examples
    --------
    >>> print(typed(Places(["Hours", "Pay", "Rest"], [(1, 1), (2, 3), (2, 3)], [(1, 2), (1, 3), (1, 3)])))
    Hours  ●───
    Pay    ───●━━━
    Rest   ───━━━●
    """
    last, rows = len(places.items), places.shown
    columns = min(3 * last - 2, 49)
    names = [_lines(item, _BESIDE, _cells) for item in places.items[:rows]]
    beside = max(map(len, names)) == 1
    if not beside:
        names = [_lines(item, _ABOVE, _cells) for item in places.items[:rows]]
    long = max(_cells(lines[0]) for lines in names)

    def at(place: int) -> int:
        return round((place - 1) / max(last - 1, 1) * (columns - 1))

    lines = []
    for row, name in enumerate(names):
        if not beside:
            lines += name
        cells = [" "] * columns
        for ranges, letter in ((places.wide, "─"), (places.narrow, "━")):
            if ranges is not None:
                low, high = ranges[row]
                cells[at(low) : at(high) + 1] = letter * (at(high) - at(low) + 1)
        cells[at(row + 1)] = "●"
        before = name[0] + " " * (2 + long - _cells(name[0])) if beside else "  "
        lines.append(f"{before}{''.join(cells)}".rstrip())
    return "\n".join(lines)


def _lines(name: str, most: float, width: Callable[[str], float]) -> list[str]:
    """A name in lines that are no wider, whole: cut at blanks, and within a word that is longer than a line."""
    lines = [""]
    for word in visible(" ".join(name.split())).split(" "):
        joined = f"{lines[-1]} {word}".strip()
        if width(joined) <= most:
            lines[-1] = joined
            continue
        lines += [""] * bool(lines[-1])
        for at, letter in enumerate(word):
            tied = unicodedata.combining(letter) or letter in "\u200d\ufe0f" or word[max(0, at - 1)] == "\u200d"
            if lines[-1] and not tied and width(lines[-1] + letter) > most:
                lines.append("")
            lines[-1] += letter
    return lines


def _cells(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(0 if unicodedata.combining(it) else 2 if unicodedata.east_asian_width(it) in "WF" else 1 for it in text)


def _pixels(text: str) -> float:
    """Pixels that a text takes at most, in a picture."""
    return sum(_pixel(letter) for letter in text)


def _pixel(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if not letter.isascii():
        return _SQUARE if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF else _BROAD
    if letter in "iljtfr.,:;'|! ()[]I-":
        return _NARROW
    return _BROAD if letter in "mwMW@%" or letter.isupper() else _USUAL
