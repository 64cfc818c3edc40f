"""The one root from which all random numbers of the book grow; `companion book --seed` plants another."""

from __future__ import annotations

import os

ROOT = 20261121
VARIABLE = "COMPANION_SEED"


def root_seed() -> int:
    """The root of this process: `COMPANION_SEED`, an integer of at least 0, or the book's own."""
    given = os.environ.get(VARIABLE, str(ROOT))
    if not (given.isascii() and given.isdigit()):
        raise ValueError(f"{VARIABLE}: {given!r}; allowed: an integer >= 0")
    return int(given)
