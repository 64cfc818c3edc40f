"""A tidy frame as a table for readers."""

from __future__ import annotations

import pandas as pd
from IPython.display import HTML


def table(frame: pd.DataFrame, digits: int = 3) -> HTML:
    """A frame as HTML: no row numbers, floats to so many significant digits, infinity as a sign.

    Row labels are shown where the index has been named.
    """

    def number(value: float) -> str:
        return f"{value:.{digits}g}".replace("inf", "∞")

    named = any(name is not None for name in frame.index.names)
    body = (frame.reset_index() if named else frame).rename_axis(columns=None)
    return HTML(body.to_html(index=False, border=0, float_format=number, na_rep="", justify="left"))
