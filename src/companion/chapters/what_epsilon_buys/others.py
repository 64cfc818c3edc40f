"""Which epsilon others have chosen, as their own papers or the registry of deployments say."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from companion.chapters.what_epsilon_buys.belief import per_cent
from dprank.privacy.gaussian import zcdp
from dprank.publication import gain

__all__ = ["CHOSEN", "Choice", "chosen"]


@dataclass(frozen=True)
class Choice:
    """A deployment; `rho` where it is stated by zero-concentrated privacy, and then `delta` turns it into epsilon."""

    what: str
    protects: str
    trust: str
    epsilon: float | None = None
    rho: float | None = None
    delta: float = 0.0


CHOSEN = (
    Choice("Wikipedia's page views by country, 2023", "a device for a day", "curator", rho=0.015, delta=1e-7),
    Choice("Google's mobility reports, 2020", "a user for a day", "curator", epsilon=2.64),
    Choice("Apple's emoji counts, 2017", "one emoji typed", "nobody", epsilon=4.0),
    Choice("Israel's live births of 2014", "a birth", "curator", epsilon=9.98),
    Choice("US census of 2020, persons by block", "a person", "curator", rho=2.56, delta=1e-10),
)


def chosen() -> pd.DataFrame:
    """What others chose, least epsilon first, and how sure it lets somebody become who guesses at even odds."""
    rows = [
        {
            "what": one.what,
            "protects": one.protects,
            "trusted": one.trust,
            "ε": zcdp(one.rho, one.delta) if one.rho is not None else one.epsilon,
            "δ": f"{one.delta:.0e}".replace("e-0", "e-").replace("e-", "e−") if one.delta else "",
        }
        for one in CHOSEN
    ]
    frame = pd.DataFrame(rows).sort_values("ε", ignore_index=True)
    sure = [gain(epsilon) for epsilon in frame["ε"]]
    texts = [per_cent(one, 1) if one < 0.9995 else "above 99.9 %" for one in sure]
    frame = frame.assign(**{"belief at most": texts})
    return frame[["what", "ε", "belief at most", "protects", "trusted", "δ"]]
