"""Places with their ranges as a picture: a point and bars an item, in SVG, and in letters for a terminal."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from dprank._require import settle, visible

__all__ = ["Places", "drawn", "typed"]

#: Items in one picture, the best ones; more are no picture.
MOST = 60
#: Of the picture: its width, the height of a row, what the names take, and the letters of a name.
_WIDTH, _ROW, _NAMES, _LETTERS = 420, 26, 150, 18


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
    height = (rows + 1) * _ROW

    def at(place: float) -> float:
        return _NAMES + 14 + (place - 1) / max(last - 1, 1) * (_WIDTH - _NAMES - 28)

    marks = []
    for place in sorted({1, (1 + last) // 2, last}):
        x = at(place)
        marks.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_ROW - 6}" y2="{height - 8}" stroke-opacity=".15"/>'
            f'<text x="{x:.1f}" y="14" text-anchor="middle" font-size="12" stroke="none">{place}</text>'
        )
    for row in range(rows):
        y = (row + 1.5) * _ROW
        bars = [(places.narrow[row], 5)] if places.wide is None else [(places.wide[row], 1.5), (places.narrow[row], 5)]
        marks.append(
            f'<text x="{_NAMES}" y="{y + 5:.1f}" text-anchor="end" font-size="14" stroke="none">'
            f"{html.escape(_short(places.items[row]))}</text>"
        )
        for (low, high), thick in bars:
            marks.append(
                f'<line x1="{at(low):.1f}" x2="{at(high):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke-width="{thick}" '
                'stroke-opacity=".45" stroke-linecap="round"/>'
            )
        marks.append(f'<circle cx="{at(row + 1):.1f}" cy="{y:.1f}" r="5" stroke="none"/>')
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
    names = [_short(item) for item in places.items[:rows]]
    long = max(map(len, names))

    def at(place: int) -> int:
        return round((place - 1) / max(last - 1, 1) * (columns - 1))

    lines = []
    for row, name in enumerate(names):
        cells = [" "] * columns
        for ranges, letter in ((places.wide, "─"), (places.narrow, "━")):
            if ranges is not None:
                low, high = ranges[row]
                cells[at(low) : at(high) + 1] = letter * (at(high) - at(low) + 1)
        cells[at(row + 1)] = "●"
        lines.append(f"{name:<{long}}  {''.join(cells)}".rstrip())
    return "\n".join(lines)


def _short(name: str) -> str:
    line = visible(" ".join(name.split()))
    return line if len(line) <= _LETTERS else line[: _LETTERS - 1] + "…"
