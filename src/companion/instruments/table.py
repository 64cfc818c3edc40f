"""A tidy frame as a table for readers."""

from __future__ import annotations

import re

import pandas as pd
from IPython.display import HTML


def table(frame: pd.DataFrame, digits: int = 3) -> HTML:
    """A frame as HTML: no row numbers, floats to so many significant digits (in full below 10^7), infinity a sign.

    Row labels are shown where the index has been named.
    """

    def number(value: float) -> str:
        text = f"{value:.{digits}g}"
        if "e+" in text and abs(value) < 1e7:
            text = f"{float(text):,.0f}"
        # a minus sign does not break over two lines as a hyphen does
        return re.sub(r"e([+-])0*", lambda sign: "e−" if sign[1] == "-" else "e", text).replace("inf", "∞")

    named = any(name is not None for name in frame.index.names)
    body = (frame.reset_index() if named else frame).rename_axis(columns=None)
    return HTML(body.to_html(index=False, border=0, float_format=number, na_rep="", justify="left"))
