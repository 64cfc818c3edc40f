"""What a command makes of ballots before a mechanism takes them."""

from __future__ import annotations

from typing import Any

import dprank
from dprank.data.declaration import Declaration
from dprank.privacy.noise import SECURE

__all__ = ["completed_by_lot", "exactly", "ranked", "shuffled"]


def ranked(data: Any) -> Any:
    """Ballots that rank, of those declared as full: for mechanisms that see by how many voters counts differ alone.

    Sums of places but for a shift, worst margins, counts of places: one ballot that comes or goes moves them less than
    one that is turned round. For others it would not do: see `dprank.NoisyMatrix`.
    """
    return dprank.Rankings(data.places[(data.places >= 0).all(axis=1)], data.items)


def completed_by_lot(data: Any) -> Any:
    """As many rankings as there are ballots, whose lots are drawn in no order that rows had."""
    import numpy as np

    order = np.lexsort((data.weight, *data.places.T))
    return dprank.Ballots(data.places[order], data.items, data.weight[order]).completed(SECURE)


def exactly(data: Any, voters: int) -> Any:
    """So many ballots: missing ones are made up by shuffling, too many are left out by lot.

    To refuse another number would tell of whoever cast a ballot that does not count. Which are left out, or made up,
    can be coupled so that one person's ballot still changes one ballot at most: the guarantee stays as it is. So does
    the size of the test, as shuffled ballots agree on nothing. Lots are drawn in no order that rows had.
    """
    import numpy as np

    places = data.positions[np.lexsort(data.positions.T)]
    if len(places) > voters:
        places = places[SECURE.permutation(len(places))[:voters]]
    return dprank.Rankings(np.r_[places, _by_lot(voters - len(places), data.n_items, SECURE)], data.items)


def shuffled(declared: Declaration, rng: Any, voters: int = 100) -> Any:
    """Rankings of all items that are made up, for a rehearsal."""
    return dprank.Rankings(_by_lot(voters, len(declared.items), rng), declared.items)


def _by_lot(voters: int, n_items: int, rng: Any) -> Any:
    """Rankings of which all are alike; nobody's ballots, completed."""
    import numpy as np

    from dprank.aggregation.sent_reports import completed

    return completed(np.full((voters, n_items), -1), rng)
