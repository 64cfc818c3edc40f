"""How likely a chosen set of k is the right one, whatever the data are: the worst data, and the gap that is needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

import dprank
from companion.instruments.style import name_lines, note, panels, styled
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, claim, content, printed
from dprank.topk.chance import rounds_chance, set_chance
from dprank.topk.list_law import list_chances
from dprank.topk.noise_laws import Noise

Array = NDArray[np.float64]
NOISES: tuple[Noise, ...] = ("laplace", "gumbel", "exponential")


def by_lists(values: Array, k: int, noise: Noise) -> float:
    """Chance that the first k are the k largest of one pass of noise: a sum over their orders, by nested integrals."""
    return float(list_chances(values, list(permutations(range(k))), noise).sum())


def by_rounds(values: Array, k: int, noise: Noise) -> float:
    """The same of rounds with fresh noise: the sum over orders of a product of winners."""
    total = 0.0
    for order in permutations(range(k)):
        left, chance = list(range(len(values))), 1.0
        for winner in order:
            chance *= float(list_chances(values[left], [[left.index(winner)]], noise)[0])
            left.remove(winner)
        total += chance
    return total


def worst(trials: int, k: int = 2, items: int = 5) -> pd.DataFrame:
    """Chances at tied data by the formula and by the law, and the least at random data with the same gap.

    ``noise``, ``kind`` (one pass, rounds), ``gap`` in scales; ``formula``, ``law``, ``random``.
    """
    rows = []
    for noise, gap in product(NOISES, (0.5, 2.0, 4.0)):
        for kind, law, formula in (("one pass", by_lists, set_chance), ("rounds", by_rounds, rounds_chance)):
            rng = stream("14: worst data", {"noise": noise, "gap": gap, "kind": kind})
            seen = []
            for _ in range(trials):
                above = gap + np.r_[0.0, rng.exponential(size=k - 1)]
                below = -np.r_[0.0, rng.exponential(size=items - k - 1)]
                seen.append(law(np.r_[above, below], k, noise))
            tied = np.r_[np.full(k, gap), np.zeros(items - k)]
            rows.append(
                {"noise": noise, "kind": kind, "gap": gap}
                | {"formula": formula(k, items, gap, noise, 1.0), "law": law(tied, k, noise), "random": min(seen)}
            )
    return pd.DataFrame(rows)


#: How likely `gaps` makes it that a list is right.
RIGHT = 0.95


def gaps(ks: Iterable[int], items: int = 1000, epsilon: float = 1.0) -> pd.DataFrame:
    """The gap from which on the k of so many items are right with probability `RIGHT`, by mechanism and k.

    Counts of persons who come or go, each with at most 5 items. ``mechanism``, ``k``, ``gap``.
    """
    rows = []
    for k in ks:
        shared: dict[str, Any] = {"epsilon": epsilon, "n_items": items, "k": k, "adjacency": "add_remove"}
        made: dict[str, dprank.Oneshot | dprank.Peeling] = {
            "one pass, Laplace": dprank.Oneshot.calibrated(**shared, per_person=5),
            "one pass, Gumbel": dprank.Oneshot.calibrated(**shared, noise="gumbel", per_person=5),
            "rounds, exponential": dprank.Peeling.calibrated(**shared),
        }
        rows += [{"mechanism": name, "k": k, "gap": mechanism.gap_needed(RIGHT)} for name, mechanism in made.items()]
    return pd.DataFrame(rows)


@styled
def draw_gaps(frame: pd.DataFrame) -> Figure:
    """Gap against k, a line a mechanism."""
    message = "One pass of Laplace noise needs hardly wider gaps for longer lists"
    figure, (axes,) = panels(message=message, height=3.2)
    for (name, part), marker in zip(frame.groupby("mechanism", sort=False), "os^", strict=True):
        axes.plot(part.k, part.gap, marker=marker, label=str(name))
    axes.set(xscale="log", yscale="log", xlabel="items selected, of 1,000", ylabel="gap needed, in persons")
    note(
        figure,
        "Gap: by how many persons the last item of the list must be ahead of the next one, for the list to be right in "
        f"{100 * RIGHT:g}\N{NO-BREAK SPACE}% of releases. Pass: all are chosen at once; rounds: one after another.",
    )
    name_lines(axes, width=12)
    return figure


@claim("release:right-set")
def check_right_set(frame: pd.DataFrame) -> Iterator[Check]:
    """The formula is the law at tied data; other data with that gap are no worse."""
    off = float((frame.formula - frame.law).abs().max())
    yield printed("formula less the law at tied data, the largest", off, "<=", 1e-8)
    yield printed(
        "chance at other data less that at tied data, the least", float((frame.random - frame.law).min()), ">=", -1e-9
    )
    mechanism = dprank.Oneshot.calibrated(epsilon=1.0, n_items=50, k=3, adjacency="add_remove")
    needed = mechanism.gap_needed(0.95)
    yield printed("chance at the gap that is said to be needed", mechanism.chance_right(needed), ">=", 0.95)
    yield content("chance at one person less", mechanism.chance_right(needed - 1), "<", 0.95)
    yield content("the gap in scales, of 3 of 50", needed / mechanism.scale, "<=", 2 * math.log(50 / 0.05))
