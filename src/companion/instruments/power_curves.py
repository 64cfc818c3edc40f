"""How the sections on Busa-Fekete, Fotakis and Zampetakis (2021) draw power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

#: What the power curves of all tests are drawn against, and what is drawn.
LEAN, REJECTED = "lean 1 − φ (0: shuffled)", "share rejected"


def level(axes: Axes, share: float) -> None:
    """A dotted line, with its name, at the share of shuffled rankings that a test may reject."""
    axes.axhline(share, color="black", lw=0.8, ls=":", label="_")
    axes.annotate(f"{100 * share:g} %", (1.01, share), xycoords=("axes fraction", "data"), fontsize=8.5, va="center",
                  annotation_clip=False)  # fmt: skip


def curve(axes: Axes, x: Any, part: pd.DataFrame, **look: Any) -> None:
    """Shares ``mean`` with their intervals, ``low`` to ``high``."""
    bars = np.stack([part["mean"] - part.low, part.high - part["mean"]]).clip(0)
    axes.errorbar(x, part["mean"], bars, **{"capsize": 2, "lw": 1.2, "ms": 3.5} | look)
