"""What each price of privacy buys: an explorer of the places that private net wins give."""

from __future__ import annotations

from collections.abc import Sequence

from IPython.display import HTML

from companion.chapters.ranking_universities.places import place_probabilities
from companion.instruments.explorers import Slider, explorer
from companion.instruments.table import table


def explore(name: str, epsilons: Sequence[float]) -> HTML:
    """What each epsilon buys, on a slider that begins in the middle: the places that private net wins give, exactly."""
    laws = {
        epsilon: part.pivot(index="university", columns="place", values="probability").loc[part.university.unique()]
        for epsilon, part in place_probabilities(epsilons).groupby("epsilon")
    }
    start = epsilons[len(epsilons) // 2]
    law = laws[start]
    shares = {name: "over 99" if row.max() > 0.995 else f"{100 * row.max():.0f}" for name, row in law.iterrows()}
    told = (f"{name} {law.loc[name].idxmax()} ({share}\u00a0%)" for name, share in shares.items())
    return explorer(
        name,
        "places",
        [Slider("epsilon", "Price ε", epsilons, start)],
        {
            "items": list(law.index),
            "epsilons": list(laws),
            "chances": [part.round(9).to_numpy().tolist() for part in laws.values()],
        },
        title="What each price buys",
        said=f"At ε = {start:g} the most probable places are: {', '.join(told)}.",
        table=table(law).data,
    )
