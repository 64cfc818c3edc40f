"""Randomized response: what one answer gives away.

Warner (1965): every person tells the truth with probability e^epsilon / (1 + e^epsilon), and else the opposite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import pandas as pd
from matplotlib.figure import Figure

from companion.instruments.style import panels, styled
from companion.ledger.claim import Check, claim, printed
from dprank.audit import privacy_loss


def losses(epsilons: Iterable[float]) -> pd.DataFrame:
    """Exact privacy loss of one answer: ``epsilon``, ``loss``."""
    rows = []
    for epsilon in epsilons:
        truth = 1 / (1 + math.exp(-epsilon))
        rows.append({"epsilon": epsilon, "loss": privacy_loss([truth, 1 - truth], [1 - truth, truth])})
    return pd.DataFrame(rows)


@styled
def draw_losses(frame: pd.DataFrame) -> Figure:
    """Loss against what was promised."""
    figure, (axes,) = panels(message="One answer spends what it promises, and no more")
    axes.plot(frame.epsilon, frame.loss, marker="o")
    axes.set(xlabel="ε promised", ylabel="ε spent")
    return figure


@claim("warner1965:thm-1")
def check_theorem_1(epsilons: Iterable[float] = (0.1, 1.0, 4.0)) -> Iterator[Check]:
    """The promise is kept, and used up."""
    for row in losses(epsilons).itertuples():
        yield printed(f"privacy loss of one answer, ε = {row.epsilon:g}", row.loss, "==", row.epsilon, error=1e-12)
