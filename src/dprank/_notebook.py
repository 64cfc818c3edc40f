"""A release in a notebook: what it says, a picture where ranges are known, its table, and its promise."""

from __future__ import annotations

import html
from typing import Any

from dprank._picture import MOST, Places, drawn
from dprank._require import visible

__all__ = ["shown_html"]


def shown_html(said: str, frame: Any, places: Places | None, closing: str, among: str = "") -> str:
    """HTML in the colours of the page around it, light or dark, that asks nothing of any network.

    Parameters
    ----------
    said : str
        The answer in words.
    frame : pandas.DataFrame
        The answer as a table, of which the first rows are shown.
    places : Places or None
        What is drawn, where ranges of places are known.
    closing : str
        Guarantee, mechanism, and whether it is for publication.
    among : str
        Of which items the places are, if not of all.

    Examples
    --------
    >>> import pandas as pd
    >>> page = shown_html("a > b", pd.DataFrame({"item": ["a", "<b>"]}), None, "not for publication")
    >>> "<strong>a &gt; b</strong>" in page, "<b>" in page
    (True, False)
    """
    parts = [f"<p><strong>{_safe(said)}</strong></p>"]
    if places is not None:
        last = len(places.items)
        open_all = last > 1 and all(tuple(it) == (1, last) for it in places.narrow)
        meant = (
            f"This says nothing of their order: the noise leaves every place{among} open to every item (95 %)."
            if open_all
            else f"Bars: the places{among} that the noise leaves open, right for all at once with 95 % probability."
        )
        parts += [drawn(places, said), f"<p>{meant}</p>"]
    parts.append(_table(frame))
    if (more := len(frame) - MOST) > 0:
        parts.append(f"<p>{more:,} more rows: to_frame()</p>")
    return f'<div class="dprank-release">{"".join(parts)}<p>{_safe(closing)}</p></div>'


def _table(frame: Any) -> str:
    head = "".join(f'<th scope="col">{_safe(column)}</th>' for column in frame.columns)
    rows = ["".join(f"<td>{_safe(cell)}</td>" for cell in row) for row in frame.head(MOST).itertuples(index=False)]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table class="dataframe"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _safe(value: Any) -> str:
    return html.escape(visible(f"{value:g}" if isinstance(value, float) else str(value)))
