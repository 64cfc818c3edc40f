"""Mallows rankings as permutation matrices: where every item is likely to stand, and one ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd
from IPython.display import HTML
from numpy.typing import NDArray

from companion.instruments.explorers import Buttons, Slider, explorer
from dprank.models.mallows import Mallows

__all__ = ["ITEMS", "PHIS", "SAMPLES", "START", "decks", "place_law"]

PHIS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1.0)
ITEMS = (5, 10, 20, 52)
SAMPLES = range(1, 101)
START = {"phi": 0.9, "items": 52, "sample": 1}


def place_law(items: int, phi: float) -> NDArray[np.float64]:
    """Probability of every place, of every item of the centre: shape (items, items). O(items^3)."""
    chance = np.zeros((items, items))
    for item in range(items):
        enters = phi ** np.arange(item, -1.0, -1.0)
        enters /= enters.sum()
        # whoever stands where it enters, or behind, falls back by one
        back = chance[:item, :item] * np.cumsum(enters)[:item]
        chance[:item, :item] -= back
        chance[:item, 1 : item + 1] += back
        chance[item, : item + 1] = enters
    return chance


def decks(name: str) -> HTML:
    """The explorer called `name`; without JavaScript what is expected at its start."""
    items, phi = START["items"], START["phi"]
    law, chance = Mallows.of_phi(int(items), phi), place_law(int(items), phi)
    turned = law.distance_moments()[0]
    table = pd.DataFrame(
        {
            "item": np.arange(1, len(chance) + 1),
            "likeliest place": chance.argmax(1) + 1,
            "chance to be there": [f"{100 * p:.1f} %" for p in chance.max(1)],
            "expected place": (chance @ np.arange(1, len(chance) + 1)).round(2),
        }
    )
    return explorer(
        name,
        "mallows",
        [
            Slider("phi", "spread φ", PHIS, phi),
            Slider("items", "items", ITEMS, items),
            Slider("sample", "ranking no.", SAMPLES, START["sample"]),
            Buttons({"another": "Another ranking"}),
        ],
        {},
        title="A shuffled deck, and one that is almost shuffled",
        said=f"φ = {phi}, {items} items: a ranking is expected to turn {turned:.1f} of {law.n_pairs} pairs round, "
        f"{100 * turned / law.n_pairs:.1f} %; a shuffled deck turns 50 %.",
        table=table.to_html(index=False, border=0),
    )
