"""The steps of TRUN, and the one that is turned round."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from companion.instruments.style import COLOURS, DESK, PHONE, on_phone, panels, styled, wrapped

#: Question and answers of the steps of Algorithm 3, and what is wrong with an answer.
_STEPS = (
    ("Does a rare coin say so?", "yes: toss a fair coin for the answer", ""),
    ("Is the noisy sum of all signs large?", "yes: Reject", ""),
    ("Draw with chance p, which grows with the agreement", "drawn: Accept", "should be Reject"),
    ("", "not drawn: Reject", "should be Accept"),
)


def trun_steps() -> pd.DataFrame:
    """Algorithm 3 in words, a row an answer: ``question`` (empty: that above), ``answer``, ``wrong``."""
    return pd.DataFrame(_STEPS, columns=["question", "answer", "wrong"])


@styled
def draw_trun_steps(frame: pd.DataFrame) -> Figure:
    """Questions below one another, their answers beside them; red where an answer is the wrong one."""
    message = "TRUN's last step is the wrong way round: the more the rankings agree, the surer it accepts"
    figure, (axes,) = panels(message=message, height=3.5 if on_phone() else 2.9)
    axes.set(xlim=(0, 1), ylim=(-len(frame) + 0.55, 0.45))
    axes.set_axis_off()
    asked = 0
    for at, step in enumerate(frame.itertuples()):
        if step.question:
            if at:
                _arrow(axes, (0.25, -asked - 0.3), (0.25, -at + 0.3), "no")
            _box(axes, 0.25, -at, step.question, "black")
            asked = at
        colour = COLOURS[1] if step.wrong else "black"
        _arrow(axes, (0.48, -asked), (0.6, -at), "", colour)
        _box(axes, 0.8, -at, "\n".join(filter(None, (step.answer, step.wrong))), colour)
    return figure


def _box(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Words in a frame about a point."""
    inches = 0.4 * (PHONE if on_phone() else DESK)
    said = "\n".join(wrapped(line, inches, 10) for line in text.split("\n"))
    axes.text(x, y, said, ha="center", va="center", color=colour, fontsize=9,
              bbox={"boxstyle": "round,pad=0.4", "fc": "none", "ec": colour})  # fmt: skip


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], word: str, colour: str = "black") -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.2})
    axes.text(start[0] + 0.02, (start[1] + end[1]) / 2, word, va="center", fontsize=9)
