"""Explorers: controls and a picture that follows them, in plain JavaScript over data of the build, without a request.

An explorer of the kind "promise" is drawn by ``book/_static/explorers/promise.js``; `explorer` puts its controls, its
data and what it says without JavaScript on a page. Values are computed there as the library computes them here: tests
hold the two against each other in a browser.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from IPython.display import HTML

#: Where the scripts are, seen from any page.
_SCRIPTS = "../_static/explorers"
#: A page loads this much data for an explorer at most.
HEAVIEST = 300_000  # bytes


class Control(Protocol):
    """What a reader moves."""

    @property
    def html(self) -> str:
        """As it stands in the form."""


@dataclass(frozen=True)
class Slider(Control):
    """Values along a line, the one it starts with; ``words`` where the values are not what a reader should see."""

    name: str
    label: str
    values: Sequence[float]
    start: float
    words: Sequence[str] = ()

    @property
    def html(self) -> str:
        """A label with its input and its value."""
        words = f' data-words="{escape("|".join(self.words))}"' if self.words else ""
        values = " ".join(f"{it:g}" if it == float(f"{it:g}") else repr(it) for it in self.values)
        at = list(self.values).index(self.start)
        shown = self.words[at] if self.words else f"{self.start:g}"
        return (
            f'<label><span>{self.label} = <b>{escape(shown)}</b></span><input type="range" '
            f'name="{self.name}" min="0" max="{len(self.values) - 1}" value="{at}" data-values="{values}"{words}>'
            "</label>"
        )


@dataclass(frozen=True)
class Whole(Control):
    """A whole number that one types, from `low` to `high`."""

    name: str
    label: str
    low: int
    high: int
    start: int

    @property
    def html(self) -> str:
        """A label with its input."""
        return (
            f'<label><span>{self.label}</span><input type="number" inputmode="numeric" name="{self.name}" '
            f'min="{self.low}" max="{self.high}" step="1" value="{self.start}"></label>'
        )


@dataclass(frozen=True)
class Choice(Control):
    """One of some words: ``options`` are value and label, the first is where it starts."""

    name: str
    label: str
    options: Mapping[str, str]

    @property
    def html(self) -> str:
        """A label with its list."""
        listed = "".join(f'<option value="{escape(key)}">{escape(it)}</option>' for key, it in self.options.items())
        return f'<label><span>{self.label}</span><select name="{self.name}">{listed}</select></label>'


@dataclass(frozen=True)
class Ticks(Control):
    """Any of some words: ``options`` are name and label of each."""

    label: str
    options: Mapping[str, str]

    @property
    def html(self) -> str:
        """Boxes to tick, together under a label."""
        listed = "".join(
            f'<label><input type="checkbox" name="{escape(key)}"> {escape(it)}</label>'
            for key, it in self.options.items()
        )
        return f'<fieldset class="explorer-ticks"><legend>{self.label}</legend>{listed}</fieldset>'


@dataclass(frozen=True)
class Kept(Control):
    """What the state has besides the controls, such as what was done so far."""

    name: str

    @property
    def html(self) -> str:
        """What nobody sees."""
        return f'<input type="hidden" name="{self.name}">'


@dataclass(frozen=True)
class Buttons(Control):
    """Things to do: ``options`` are value and label."""

    options: Mapping[str, str]

    @property
    def html(self) -> str:
        """The buttons in a row."""
        listed = "".join(
            f'<button type="button" value="{escape(key)}">{escape(it)}</button>' for key, it in self.options.items()
        )
        return f'<div class="explorer-buttons">{listed}</div>'


def explorer(
    name: str,
    kind: str,
    controls: Sequence[Control],
    data: Any,
    *,
    title: str,
    said: str,
    table: str = "",
) -> HTML:
    """An explorer of some ``kind`` called `name`, unique on its page.

    ``said`` is its state at the start in a sentence, ``table`` the same as an HTML table: what is there without
    JavaScript, and for a screen reader.
    """
    table = table.replace(' class="dataframe"', "")  # under which the theme lays a light sheet
    carried = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("</", "<\\/")
    if (size := len(carried.encode())) > HEAVIEST:
        raise ValueError(f"{name}: data must be at most {HEAVIEST:,} bytes, got {size:,}")
    return HTML(
        f'<section class="explorer" id="{name}" data-explorer="{kind}" aria-labelledby="{name}-title">'
        f'<p class="explorer-title" id="{name}-title">{title}</p>'
        f'<form autocomplete="off" hidden>{"".join(it.html for it in controls)}</form>'
        f'<div class="explorer-view"></div><p class="explorer-said" aria-live="polite">{said}</p>'
        "<details open><summary>The same as a table</summary>"
        f'<div class="explorer-table" tabindex="0">{table}</div></details>'
        f"</section>"
        f'<script src="{_SCRIPTS}/common.js"></script><script src="{_SCRIPTS}/{kind}.js"></script>'
        f"<script>explorers.mount({json.dumps(name)}, {carried})</script>"
    )
