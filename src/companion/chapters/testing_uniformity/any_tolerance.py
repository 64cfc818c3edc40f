"""Chapter 5 at its reader's parameters: the numbers of its sentences."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from companion.chapters.testing_uniformity.fixed_epsilon import least_epsilon
from companion.chapters.testing_uniformity.power import UNIF, first_sizes
from companion.chapters.testing_uniformity.two_samples import distance_laws
from companion.printed import busafekete2021 as paper

#: Beyond it Theorem 4's condition asks for more nines again, at every delta that the chapter allows.
MOST_ITEMS = 300
#: Of the first figure, its rulers, and the sentence about the square root.
ITEMS = (30, 50, 100, 300, 1000, 10**4, 10**5, 10**6)
RULED = (10, 30, 100, 300, 1000, 10**4)
MANY = 10_000


def laws(n_items: int, phi: float, delta: float, repetitions: int) -> pd.DataFrame:
    """`distance_laws` at the lean of a spread, at twice that, and where Theorem 4 begins to speak, if it does."""
    gap = round(1 - phi, 6)
    gaps = [gap, 2 * gap, round(paper.two_sample(n_items, delta).least_gap, 3)]
    return distance_laws(n_items, sorted({it for it in gaps if 0 < it < 1}), delta, repetitions)


def numbers(rates: pd.DataFrame, *, epsilon: float, delta: float) -> dict[str, str]:
    """Those of the chapter's sentences, by name; `rates` has the rankings needed at that tolerance."""
    tests = [paper.two_sample(m, delta) for m in range(2, MOST_ITEMS)]
    some = max(test.n_items for test in tests if test.least_gap > 1) + 1
    nines = least_epsilon(np.unique(np.geomspace(some, MOST_ITEMS, 60).astype(int)), delta).zeros.min()
    many = rates.set_index("items").loc[MANY]
    return {
        "tolerance": f"{epsilon:g}",
        "many": f"{MANY:,}",
        "many-any": f"{math.ceil(many.bound):,}",
        "many-unif": f"{int(many.unif):,}",
        "many-known": f"{int(many.known):,}",
        "some": f"{some}",
        "nines": f"{math.floor(nines)}",
        "first": f"{first_sizes(1000, delta)[UNIF]}",
        "never": f"{math.sqrt(0.5 - delta):.2f}",
        "two": f"{100 * min(1.0, delta + 2 * epsilon**2):.0f} %",
    }
