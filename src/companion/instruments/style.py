"""The look of the book's figures, and how a notebook shows one."""

from __future__ import annotations

import base64
import inspect
import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import matplotlib as mpl
import pandas as pd
from cycler import cycler
from IPython.display import HTML
from matplotlib.figure import Figure

#: Okabe and Ito's colours: apart for every kind of colour vision, in print and when inverted for the dark.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: What is printed, what is right and what is better keep their colour and mark in every chapter.
CALIBRATION: dict[str, dict[str, Any]] = {
    "as printed": {"color": COLOURS[1], "marker": "s"},
    "corrected": {"color": COLOURS[0], "marker": "o"},
    "net wins": {"color": COLOURS[2], "marker": "D"},
}
#: Standard errors of an error bar: 95 % of the time the bar covers the mean.
BAR = 1.96
P = ParamSpec("P")
_STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "figure.figsize": (7.2, 3.4),
    "font.size": 10,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "svg.hashsalt": "dprank",
}


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A drawing function that draws in the book's style."""

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return wrapper


@dataclass(frozen=True)
class Shown:
    """A figure with its data (all that is drawn) and its code (``module:function``), as a notebook displays it."""

    name: str
    svg: str
    frame: pd.DataFrame
    code: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        data = {"image/svg+xml": self.svg, "text/plain": f"figure {self.name}"}
        return data, {"figure": {"name": self.name, "data": self._csv}}

    @property
    def _csv(self) -> str:
        return self.frame.to_csv(index=False, lineterminator="\n")

    @property
    def links(self) -> HTML:
        """Data and code, to be shown by a cell of its own: what the figure's cell shows is the figure."""
        module, function = self.code.split(":")
        source = f"../_modules/{module.replace('.', '/')}.html#{function}"
        data = base64.b64encode(self._csv.encode()).decode()
        return HTML(
            f'<p class="figure-links"><a download="{self.name}.csv" href="data:text/csv;base64,{data}">data (CSV)</a>'
            f' · <a href="{source}">code of this figure</a></p>'
        )


def show(name: str, frame: pd.DataFrame, draw: Callable[[pd.DataFrame], Figure]) -> Shown:
    """Draw a tidy frame by a section's `draw_…`; `name`, in letters, digits and dashes, is unique in the book."""
    figure = draw(frame)
    buffer = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    plain = inspect.unwrap(draw)
    return Shown(name, buffer.getvalue(), frame, f"{plain.__module__}:{plain.__name__}")
