"""The look of the book's figures, and how a notebook shows one.

A figure is drawn twice, for a desk and for a phone: `panels` lays out what stands side by side on the one and below one
another on the other. Its title is its message, and lines carry their names (`name_lines`).
"""

from __future__ import annotations

import base64
import inspect
import io
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import matplotlib as mpl
import numpy as np
import pandas as pd
from cycler import cycler
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.textpath import text_to_path
from scipy.optimize import isotonic_regression

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
#: Width of a figure on a desk and on a phone, in inches.
DESK, PHONE = 7.2, 3.9
#: Points of a letter are this much of its height.
LETTER = 0.55
#: A panel has no more lines with a name.
MOST_LINES = 6
#: A title has no more words.
MOST_WORDS = 12
#: Inches between what stands above one another.
_GAP = 0.07
#: What a path is drawn by and where a mark stands, and numbers in it that are more exact than anybody sees (points).
INDENT, PATH, DIGITS = re.compile(r"\n +"), re.compile(r' (?:d|x|y)="[^"]*"'), re.compile(r"-?\d+\.\d{3,}")
P = ParamSpec("P")
_phone: ContextVar[bool] = ContextVar("phone", default=False)
#: What is asked of an axis again and again while a figure is drawn.
_ASKED = ("_update_ticks", "_get_ticklabel_bboxes")
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


class _Drawing(Figure):
    """Lays itself out, and no more, where nothing is to be rendered: before it is saved, and when lines are named.

    The layout's solver adds up in the order of addresses in memory, so that its last bits are those of a run. Places of
    panels are rounded: the same figure has the same bytes.
    """

    def draw(self, renderer: Any) -> None:
        disabled = not inspect.ismethod(renderer.draw_path)  # matplotlib puts functions that do nothing in its place
        engine = self.get_layout_engine()
        if disabled and engine is not None:
            with _looked_up(self):
                engine.execute(self)
            for axes in self.axes:
                place = axes.get_position(original=True).bounds
                axes._set_position(tuple(round(it, 6) for it in place), which="original")  # type: ignore[attr-defined]
        else:
            with _looked_up(self):
                super().draw(_sharing(renderer))

    def _get_renderer(self) -> Any:
        return _sharing(super()._get_renderer())  # type: ignore[misc]


def _sharing(renderer: Any) -> Any:
    """A renderer that sets formulas, as powers of ten are, by the one table of them, and not by one of its own."""
    inner = getattr(renderer, "_renderer", renderer)
    if hasattr(inner, "_text2path"):
        inner._text2path = text_to_path
    return renderer


@contextmanager
def _looked_up(figure: Figure) -> Iterator[None]:
    """Ticks, and the room that their labels take, are found once for each place of the panels, and then looked up.

    matplotlib asks for them five times as often, which is a third of the time that a figure takes.
    """
    asked = [(axis, name) for axes in figure.axes for axis in axes._axis_map.values() for name in _ASKED]
    asked = [(axis, name) for axis, name in asked if hasattr(axis, name)]
    for axis, name in asked:
        setattr(axis, name, _kept(getattr(axis, name), axis))
    try:
        yield
    finally:
        for axis, name in asked:
            delattr(axis, name)


def _kept(find: Callable[..., Any], axis: Any) -> Callable[..., Any]:
    """What `find` found last, as long as the panel of an axis, its limits and what is asked of it are the same."""
    known: list[Any] = [None, None]

    def look_up(*asked: Any) -> Any:
        ticks = [id(tick) for tick in asked[0]] if asked else []
        key = axis.axes.bbox.bounds, *axis.get_view_interval(), ticks
        if known[0] != key:
            known[:] = key, find(*asked)
        return known[1]

    return look_up


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A drawing function that draws in the book's style."""

    @wraps(draw)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return wrapper


def on_phone() -> bool:
    """Whether what is drawn now is for a phone."""
    return _phone.get()


def wrapped(text: str, inches: float, size: float) -> str:
    """A text in as few lines as fit a width, at a size in points, and these about equally long."""
    most = max(8, int(72 * inches / (LETTER * size)))
    fewest = len(textwrap.wrap(text, most))
    tried = (textwrap.wrap(text, width) for width in range(8, most + 1))
    return "\n".join(next((lines for lines in tried if len(lines) <= fewest), [text]))


def headline(figure: Figure, message: str) -> None:
    """What the figure shows, in a sentence above it; what follows keeps below."""
    text = wrapped(message, figure.get_figwidth(), 11)
    said = figure.suptitle(text, x=0.01, y=1, ha="left", va="top", fontsize=11)
    said.set_linespacing(1.15)
    said.set_in_layout(False)
    _grow(figure, (text.count("\n") + 1) * 11 * 1.2 / 72 + _GAP)


def _grow(figure: Figure, inches: float) -> float:
    """Make room above the panels, below the message; how far below the top it begins, in inches."""
    engine: Any = figure.get_layout_engine()
    height = figure.get_figheight()
    taken = (1 - engine.get()["rect"][3]) * height
    engine.set(rect=(0, 0, 1, 1 - (taken + inches) / (height + inches)))
    tops = [legend.get_bbox_to_anchor().y1 / figure.bbox.height for legend in figure.legends]
    figure.set_figheight(height + inches)
    for legend, top in zip(figure.legends, tops, strict=True):
        legend.set_bbox_to_anchor((0, 1 - (1 - top) * height / (height + inches)))
    for said in figure.texts:
        said.set_y(1 - _GAP / (height + inches))
    return float(taken)


def panels(
    count: int = 1,
    *,
    message: str,
    height: float = 3.0,
    columns: int | None = None,
    on_phone: int = 1,
    **shared: Any,
) -> tuple[Figure, list[Axes]]:
    """A figure with its `message` above it and panels of a `height` in inches: in `columns` on a desk (by default all
    side by side), and in as many as `on_phone` says on a phone. ``sharex``, ``sharey`` are those of `subplots`.
    """
    across = on_phone if _phone.get() else columns or count
    down = -(-count // across)
    figure = _Drawing(figsize=(PHONE if _phone.get() else DESK, down * height))
    made = list(figure.subplots(down, across, squeeze=False, **shared).flat)
    for axes in made[count:]:
        axes.remove()
    headline(figure, message)
    return figure, made[:count]


def label_outer(made: Iterable[Axes], xlabel: str, ylabel: str) -> None:
    """Name the axes once: below the lowest panels, and left of the leftmost."""
    for axes in made:
        place: Any = axes.get_subplotspec()
        axes.set_xlabel(xlabel if place.is_last_row() else "")
        axes.set_ylabel(ylabel if place.is_first_col() else "")


def key(figure: Figure, handles: Iterable[Any], labels: Iterable[str], *, columns: int = 4) -> None:
    """A legend for all panels, between the message and them, in as many columns as fit: where names have no room on
    the lines.
    """
    handles, labels = list(handles), list(labels)
    each = max(map(len, labels)) * 9 * LETTER + 36
    columns = max(1, min(columns, len(labels), int(72 * figure.get_figwidth() / each)))
    taken = _grow(figure, -(-len(labels) // columns) * 9 * 1.6 / 72 + _GAP)
    top = 1 - taken / figure.get_figheight()
    figure.legend(handles, labels, loc="upper left", bbox_to_anchor=(0, top), ncols=columns, fontsize=9,
                  borderaxespad=0.2, columnspacing=1.4, handletextpad=0.5, labelspacing=0.4)  # fmt: skip


def note(figure: Figure, text: str) -> None:
    """How the panels are read, in small letters above them. Call it last."""
    text = wrapped(text, figure.get_figwidth(), 9)
    taken = _grow(figure, (text.count("\n") + 1) * 9 * 1.25 / 72 + _GAP)
    figure.text(0.01, 1 - taken / figure.get_figheight(), text, va="top", fontsize=9, color="0.3")


def name_lines(axes: Axes, *, size: float = 9, width: int = 18, names: Mapping[str, str] | None = None) -> None:
    """Put the name of each line that has one to its right end, in its colour; names keep off one another.

    `names` has other words for some labels, `width` is the longest line of letters. Call it last, with limits set.
    """
    figure: Any = axes.figure
    figure.draw_without_rendering()
    ends = [
        (axes.transData.transform(last)[1], label, colour)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        for last, colour in _end(axes, handle)
    ]
    if not ends:
        return
    ends.sort(key=lambda it: it[0])
    said = [textwrap.fill((names or {}).get(label, label), width) for _, label, _ in ends]
    points = np.array([(text.count("\n") + 1) * size * 1.2 + 1 for text in said]) * figure.dpi / 72
    centres = np.concatenate([[0.0], np.cumsum((points[1:] + points[:-1]) / 2)])
    box = axes.get_window_extent()
    wanted = np.clip([end for end, _, _ in ends], box.y0, box.y1)
    placed = isotonic_regression(wanted - centres).x + centres
    for at, line, text, (_, _, colour) in zip(placed, wanted, said, ends, strict=True):
        height = (at - box.y0) / box.height
        axes.annotate(text, (1.02, height), xycoords="axes fraction", color=colour, fontsize=size, va="center",
                      linespacing=1.05, annotation_clip=False)  # fmt: skip
        if abs(at - line) > points.min() / 2:
            here = (line - box.y0) / box.height
            axes.plot([1.0, 1.012], [here, height], color=colour, lw=0.6, transform=axes.transAxes, clip_on=False,
                      label="_")  # fmt: skip


def _end(axes: Axes, handle: Any) -> list[tuple[tuple[float, float], Any]]:
    """The last point of a line that is within the limits of `axes`, and its colour; nothing if it has no point."""
    line = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
    points = np.column_stack([np.asarray(it, float) for it in line.get_data()])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return []
    if line.get_transform() == axes.get_yaxis_transform():  # a line across, at one height
        return [((max(axes.get_xlim()), float(points[-1, 1])), line.get_color())]
    inside = points[(points[:, 0] >= min(axes.get_xlim())) & (points[:, 0] <= max(axes.get_xlim()))]
    x, y = max(inside if len(inside) else points, key=lambda it: it[0])
    return [((float(x), float(y)), line.get_color())]


@dataclass(frozen=True)
class Shown:
    """A figure with its message, its data (all that is drawn) and its code (``module:function``), as a notebook
    displays it; ``narrow`` is its drawing for a phone, empty if that is the same.
    """

    name: str
    svg: str
    frame: pd.DataFrame
    code: str
    message: str = ""
    narrow: str = ""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        data = {"image/svg+xml": self.svg, "text/plain": f"figure {self.name}"}
        said = {"name": self.name, "message": self.message, "data": self._csv, "narrow": self.narrow}
        return data, {"figure": said}

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
    """Draw a tidy frame by a section's `draw_…`; `name`, in letters, digits and dashes, is unique in the book.

    A ValueError names a figure with more than `MOST_LINES` named lines in a panel, or `MOST_WORDS` words in its title.
    """
    figure, svg = _drawn(name, frame, draw, phone=False)
    most = max((len(axes.get_legend_handles_labels()[1]) for axes in figure.axes), default=0)
    if most > MOST_LINES:
        raise ValueError(f"{name}: a panel has {most} named lines; allowed: {MOST_LINES} or fewer")
    message = " ".join(figure.get_suptitle().split())
    if len(message.split()) > MOST_WORDS:
        raise ValueError(f"{name}: a title of {len(message.split())} words; allowed: {MOST_WORDS} or fewer")
    _, narrow = _drawn(name, frame, draw, phone=True)
    plain = inspect.unwrap(draw)
    return Shown(name, svg, frame, f"{plain.__module__}:{plain.__name__}", message, "" if narrow == svg else narrow)


def _drawn(
    name: str, frame: pd.DataFrame, draw: Callable[[pd.DataFrame], Figure], *, phone: bool
) -> tuple[Figure, str]:
    """The figure for a desk or a phone, and as SVG."""
    before = _phone.set(phone)
    try:
        figure, buffer = draw(frame), io.StringIO()
        with mpl.rc_context(_STYLE):
            figure.savefig(
                buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Title": name}
            )
    finally:
        _phone.reset(before)
    return figure, _light(buffer.getvalue())


def _light(svg: str) -> str:
    """A drawing without its indentation, and no more exact than anybody sees: it loses a tenth of its bytes."""
    return PATH.sub(lambda path: DIGITS.sub(lambda it: f"{float(it[0]):.2f}", path[0]), INDENT.sub("\n", svg))
