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
from typing import Any

import pandas as pd
from IPython.display import HTML

#: Where the scripts are, seen from any page.
_SCRIPTS = "../_static/explorers"
#: A page loads this much data for an explorer at most.
HEAVIEST = 300_000  # bytes


@dataclass(frozen=True)
class Slider:
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
            f'<label><span>{self.label} = <output aria-live="off">{escape(shown)}</output></span><input type="range" '
            f'name="{self.name}" min="0" max="{len(self.values) - 1}" value="{at}" data-values="{values}"{words}>'
            "</label>"
        )


@dataclass(frozen=True)
class Choice:
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
class Buttons:
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
    controls: Sequence[Slider | Choice | Buttons],
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
    carried = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("</", "<\\/")
    if (size := len(carried.encode())) > HEAVIEST:
        raise ValueError(f"{name}: data must be at most {HEAVIEST:,} bytes, got {size:,}")
    return HTML(
        f'<section class="explorer" id="{name}" data-explorer="{kind}" aria-labelledby="{name}-title">'
        f'<p class="explorer-title" id="{name}-title">{title}</p>'
        f'<form autocomplete="off" hidden>{"".join(it.html for it in controls)}</form>'
        f'<div class="explorer-view"></div><p class="explorer-said" aria-live="polite">{said}</p>'
        "<details><summary>The same as a table</summary>"
        f'<div class="explorer-table" tabindex="0">{table}</div></details>'
        f"</section>"
        f'<script src="{_SCRIPTS}/common.js"></script><script src="{_SCRIPTS}/{kind}.js"></script>'
        f"<script>explorers.mount({json.dumps(name)}, {carried})</script>"
    )


_TABLE_SCRIPT = """
(() => {
  const box = document.getElementById(NAME), data = DATA;
  const input = box.querySelector("input"), output = box.querySelector("output");
  const cells = box.querySelectorAll("td");
  const draw = () => {
    const page = data[input.value];
    output.textContent = page.label;
    page.values.forEach((p, i) => {
      cells[i].textContent = p >= 0.005 ? Math.round(100 * p) : "";
      cells[i].style.setProperty("--share", (100 * p).toFixed(1) + "%");
    });
  };
  input.addEventListener("input", draw);
  input.hidden = false;
  draw();
})();
"""


def probability_slider(name: str, frame: pd.DataFrame, *, along: str, rows: str, columns: str, value: str) -> HTML:
    """Probabilities in percent as a shaded table, a page for each value of the column `along`.

    Every page has every value of the columns `rows` and `columns`; without JavaScript the middle page is shown. No
    other element of the notebook has this `name`.
    """
    order, heads = list(frame[rows].unique()), list(frame[columns].unique())
    pages = [
        {"label": f"{key:g}", "values": page.pivot(index=rows, columns=columns, values=value).loc[order, heads]}
        for key, page in frame.groupby(along, sort=True)
    ]
    start = len(pages) // 2
    head = "".join(f'<th scope="col">{escape(str(h))}</th>' for h in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(str(label))}</th>'
        + "".join(f"<td>{100 * p:.0f}</td>" if p >= 0.005 else "<td></td>" for p in values)
        + "</tr>"
        for label, values in zip(order, pages[start]["values"].to_numpy(), strict=True)
    )
    data = [{"label": p["label"], "values": [float(f"{v:.4f}") for v in p["values"].to_numpy().ravel()]} for p in pages]
    script = _TABLE_SCRIPT.replace("NAME", json.dumps(name)).replace("DATA", json.dumps(data, separators=(",", ":")))
    return HTML(
        f'<div class="slider" id="{name}"><label>{escape(along)} = <output>{pages[start]["label"]}</output>'
        f'<input type="range" min="0" max="{len(pages) - 1}" value="{start}" hidden></label>'
        f'<table><thead><tr><th scope="col">{escape(columns)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f"<script>{script}</script>"
    )
