"""The steps of TRUN, and the one that is turned round."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from companion.instruments.style import COLOURS, DESK, PHONE, note, on_phone, panels, styled, wrapped

#: Question and answers of the steps of Algorithm 3, and what is wrong with an answer.
_STEPS = (
    ("Does a rare coin say: guess?", "yes: toss a fair coin for the answer", ""),
    ("Is the noisy sum of all signs large?", "yes: Reject", ""),
    ("Draw with chance p, which grows with the agreement", "drawn: Accept (says: shuffled)", "should be Reject"),
    ("", "not drawn: Reject", "should be Accept"),
)


def trun_steps() -> pd.DataFrame:
    """Algorithm 3 in words, a row an answer: ``question`` (empty: that above), ``answer``, ``wrong``."""
    return pd.DataFrame(_STEPS, columns=["question", "answer", "wrong"])


@styled
def draw_trun_steps(frame: pd.DataFrame) -> Figure:
    """Questions below one another, their answers beside them; red where an answer is the wrong one."""
    message = "TRUN's last step is the wrong way round"
    figure, (axes,) = panels(message=message, height=3.5 if on_phone() else 2.9)
    axes.set(xlim=(0, 1), ylim=(-len(frame) + 0.55, 0.45))
    axes.set_axis_off()
    asked: list[Text] = []
    for at, step in enumerate(frame.itertuples()):
        if step.question:
            asked.append(_box(axes, 0.25, -at, step.question, "black"))
            if at:
                _arrow(axes, asked[-2], asked[-1], "no")
        bent = "arc3" if step.question else "angle,angleA=-90,angleB=180,rad=0"
        colour = COLOURS[1] if step.wrong else "black"
        answer = _box(axes, 0.8, -at, "\n".join(filter(None, (step.answer, step.wrong))), colour)
        _arrow(axes, asked[-1], answer, "", colour, bent)
    note(
        figure,
        "TRUN: the paper's private test of whether rankings are shuffled. Sign: which of two items a ranking puts "
        "first, +1 or −1. p: grows as more rankings have the same sign at a pair of items. Accept: TRUN says "
        "that rankings are shuffled. Reject: it says that they agree.",
    )
    return figure


def _box(axes: Axes, x: float, y: float, text: str, colour: str) -> Text:
    """Words in a frame about a point."""
    inches = 0.4 * (PHONE if on_phone() else DESK)
    said = "\n".join(wrapped(line, inches, 10) for line in text.split("\n"))
    return axes.text(x, y, said, ha="center", va="center", color=colour, fontsize=9,
                     bbox={"boxstyle": "round,pad=0.4", "fc": "none", "ec": colour})  # fmt: skip


def _arrow(axes: Axes, start: Text, end: Text, word: str, colour: str = "black", bent: str = "arc3") -> None:
    """From the frame of words to that of others, with a word beside it."""
    (x, y), (there, below) = start.get_position(), end.get_position()
    frames = {"patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch(), "shrinkA": 0, "shrinkB": 0}
    look = {"arrowstyle": "-|>", "connectionstyle": bent, "color": colour, "lw": 1.2}
    axes.annotate("", (there, below), (x, y), arrowprops=look | frames)
    axes.text((x + there) / 2 + 0.02, (y + below) / 2, word, va="center", fontsize=9)
