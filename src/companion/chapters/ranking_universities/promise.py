"""Break the promise: the order of noisy wins with and without one changed answer, for data that the reader makes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, permutations, product
from typing import Any

import pandas as pd
from IPython.display import HTML

from companion.instruments.allowance import ROUNDING
from companion.instruments.explorers import Buttons, Choice, Slider, explorer
from companion.instruments.table import table
from companion.printed.cai2025 import algorithm_3
from dprank.data.comparisons import Comparisons
from dprank.pairwise import NoisyCounts
from dprank.topk.list_law import list_chances

#: Which answers the others give, how Anna's one answer changes, and the noise: what one chooses, and its words.
ASKED = {"same": "A and B", "turn": "all pairs in turn", "last": "the last two items"}
ANNA = {
    "ab": "A over B, to B over A",
    "ba": "B over A, to A over B",
    "al": "A over the last, to the reverse",
    "la": "the last over A, to the reverse",
}
SHARES = ("nobody", "a quarter", "half", "three quarters", "everybody")
NOISE = {"printed": "as printed", "right": "right"}
#: What may be promised.
EPSILONS = (0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4)
#: Where a reader begins.
START: dict[str, Any] = {
    "items": 2,
    "voters": 1,
    "noise": "printed",
    "epsilon": 1,
    "asked": "same",
    "reverse": 0,
    "anna": "ab",
}


def answers(items: int, voters: int, asked: str, reverse: float, anna: str) -> tuple[Comparisons, Comparisons]:
    """One answer a voter, before and after Anna, the last, changes hers; a share of the others says the reverse."""
    pairs = {"same": [(0, 1)], "turn": [*combinations(range(items), 2)], "last": [(items - 2, items - 1)]}[asked]
    against = math.floor(reverse * (voters - 1))
    first, second = zip(*(pairs[v % len(pairs)] for v in range(voters - 1)), strict=True) if voters > 1 else ((), ())
    said = [float(v >= against) for v in range(voters - 1)]
    hers = {"a": 0, "b": 1, "l": items - 1}
    one, two = hers[anna[0]], hers[anna[1]]
    names = "ABCDEF"[:items]
    data = [
        Comparisons([*first, one], [*second, two], [*said, outcome], items=list(names), voter=range(voters))
        for outcome in (1.0, 0.0)
    ]
    return data[0], data[1]


def mechanism(noise: str, epsilon: float, items: int) -> NoisyCounts:
    """Algorithm 3 for voters of one answer, as printed or with the noise that its promise needs."""
    if noise == "printed":
        return algorithm_3(epsilon, items).mechanism
    return NoisyCounts.calibrated(epsilon=epsilon, n_items=items, per_person=1, score="wins", law="continuous")


def order_law(
    items: int, voters: int, noise: str, epsilon: float, asked: str, reverse: float, anna: str
) -> pd.DataFrame:
    """Exact law of the published order: ``order``, ``before``, ``after``, ``ratio`` (the log of after over before)."""
    made = mechanism(noise, epsilon, items)
    orders = list(permutations(range(items)))
    before, after = (
        list_chances(made.counts(data) / made.scale, orders) for data in answers(items, voters, asked, reverse, anna)
    )
    names = [" > ".join("ABCDEF"[i] for i in order) for order in orders]
    frame = pd.DataFrame({"order": names, "before": before, "after": after})
    return frame.assign(ratio=[math.log(q / p) for p, q in zip(before, after, strict=True)])


def breaks(state: Mapping[str, Any]) -> bool:
    """Whether some order tells more of Anna than is promised."""
    return bool(order_law(**state).ratio.abs().max() > state["epsilon"] * (1 + ROUNDING))


def smallest(epsilon: float = 1) -> dict[str, Any]:
    """Data of the fewest voters, then of the fewest items, that break the promise as printed."""
    tried = (
        START | {"epsilon": epsilon, "voters": voters, "items": items, "asked": asked, "anna": anna}
        for voters, items, asked, anna in product(range(1, 4), range(2, 5), ASKED, ANNA)
    )
    return next(state for state in tried if breaks(state))


def break_it(name: str) -> HTML:
    """The explorer, as it begins."""
    made = {noise: mechanism(noise, 1, 2).scale for noise in NOISE}
    law = order_law(**START)
    loss = law.ratio.abs().max()
    controls: list[Slider | Choice | Buttons] = [
        Slider("items", "Items", range(2, 7), START["items"]),
        Slider("voters", "Voters", range(1, 31), START["voters"]),
        Choice("noise", "Noise", NOISE),
        Slider("epsilon", "Promise ε", EPSILONS, START["epsilon"]),
        Choice("asked", "Others compare", ASKED),
        Slider("reverse", "Dissenting", (0, 0.25, 0.5, 0.75, 1), START["reverse"], SHARES),
        Choice("anna", "Anna changes her answer from", ANNA),
        Buttons({"again": "Start again", "smallest": "Show the smallest"}),
    ]
    found = {key: value for key, value in smallest().items() if key != "epsilon"}
    return explorer(
        name,
        "promise",
        controls,
        {"scales": made, "states": {"again": START, "smallest": found}},
        title="Break the promise with as few voters as you can",
        said=f"With {START['items']} items and {START['voters']} voter no order becomes more than "
        f"{math.exp(loss):.2f} times as likely when Anna changes her answer; {math.exp(START['epsilon']):.2f} times is "
        f"promised. With {found['items']} items and {found['voters']} voter the printed noise breaks the promise.",
        table=table(law.rename(columns={"ratio": "log ratio"})).data,
    )
