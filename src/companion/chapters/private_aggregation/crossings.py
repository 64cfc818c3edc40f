"""Where the lines of the tables cross."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.aggregation import BAR, gain

#: The first reduction of each setting, and what it is compared with.
CROSSED = {
    "pure": ("I, Laplace", ("II, Laplace", "exponential", "scores, Laplace")),
    "approximate": ("I, Gaussian", ("II, Gaussian", "scores, Gaussian")),
    "local": ("local I", ("local II", "local II, ours", "local scores")),
}


def crossing(sizes: Sequence[float], ratios: Sequence[float], errors: Sequence[float]) -> tuple[float, float, float]:
    """Size at which a ratio last passes 1, interpolated on logarithms, and its 95 % interval.

    The size, low and high end; 0 for below the first size (or nowhere), infinity for above the last one. Sizes
    increase; `errors` are the ratios' standard errors.
    """
    x, y = np.log(np.asarray(sizes, float)), np.log(np.asarray(ratios, float))
    bar = BAR * np.asarray(errors, float) / np.asarray(ratios, float)

    def passed(z: NDArray[np.float64]) -> float:
        other = np.flatnonzero((z > 0) != (y[-1] > 0))
        if not len(other):
            return 0.0
        k = int(other[-1])
        if k == len(z) - 1:
            return math.inf
        return float(np.exp(x[k] + (x[k + 1] - x[k]) * z[k] / (z[k] - z[k + 1])))

    low, high = sorted((passed(y - bar), passed(y + bar)))
    return passed(y), low, high


def crossings(errors: pd.DataFrame) -> pd.DataFrame:
    """Numbers of items at which the measured error of the first reduction passes that of another row.

    ``setting``, ``I against`` the row; ``at <m> items``: error of I over that of the row, with its 95 % error, at the
    least and at the largest size; ``cross at``: `crossing` in words.
    """
    rows = []
    for setting, (first, others) in CROSSED.items():
        one = errors[errors.row == first].set_index("items").sort_index()
        for other in others:
            two = errors[errors.row == other].set_index("items").sort_index()
            found = gain(one, two, "error")
            ratio, se = found["gain"], found["se"]
            sizes = [int(m) for m in ratio.index]
            few, many = sizes[0], sizes[-1]
            ends = crossing(sizes, ratio.tolist(), se.tolist())
            at, low, high = (
                f"below {few}" if m == 0 else f"above {many}" if m == math.inf else f"{m:.0f}" for m in ends
            )
            text = f"{at} ({low} to {high})"
            if ends[2] == 0:
                text = "none: I has the " + ("larger" if ratio[many] > 1 else "smaller") + " error"
            elif ends[1] == 0 or ends[2] == math.inf:
                text = f"undecided ({low} to {high})"
            shown = {f"at {m} items": f"{ratio[m]:.3g} ± {BAR * se[m]:.2g}" for m in (few, many)}
            rows.append({"setting": setting, "I against": other} | shown | {"cross at": text})
    return pd.DataFrame(rows)
