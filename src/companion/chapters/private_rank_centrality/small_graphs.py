"""All data on small graphs: how far one sample moves the scores of the walk."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.chapters.private_rank_centrality.comparison_graphs import all_pairs, cycle, norm, path, star
from companion.instruments.allowance import ROUNDING
from companion.instruments.topk import DELTA, EPSILON
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.qiao2021 import theorem_3_5
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.topk.spectral import ergodicity_coefficient, stationary_distribution, transition_matrix

#: Graphs small enough for all their data: name -> items, pairs.
GRAPHS: dict[str, tuple[int, NDArray[np.int64]]] = {
    "two items": (2, all_pairs(2)),
    "triangle": (3, all_pairs(3)),
    "path of 3": (3, path(3)),
    "star of 4": (4, star(4)),
    "square": (4, cycle(4)),
    "all pairs but one of 4": (4, all_pairs(4)[1:]),
    "all pairs of 4": (4, all_pairs(4)),
}


class AllData(NamedTuple):
    """Every data set that a graph allows, up to the order of the samples of an edge."""

    mechanism: PrivateRankCentrality  # Algorithm 3, the noise proportional to 1 / (1 - tau) of the data
    shares: NDArray[np.float64]  # (data sets, edges)
    tau: NDArray[np.float64]  # (data sets,)
    law: NDArray[np.float64]  # (data sets, items); not-a-number where it is not unique
    first: NDArray[np.int64]  # (pairs of neighbours,)
    second: NDArray[np.int64]

    @property
    def unit(self) -> float:
        """What one sample moves an entry of the chain by."""
        return 1 / (self.mechanism.normalisation * self.mechanism.samples)

    def scores(self, relative: bool = False) -> NDArray[np.float64]:
        """The stationary distribution (or that over its largest entry), times 1 - tau."""
        law = self.law / self.law.max(1, keepdims=True) if relative else self.law
        return np.where(self.tau[:, None] < 1, (1 - self.tau[:, None]) * law, 0.0)


def all_data(graph: str, samples: int, d: float | None = None) -> AllData:
    """All (samples + 1)^edges data on one of `GRAPHS`; d is the largest degree by default."""
    n_items, pairs = GRAPHS[graph]
    as_printed = theorem_3_5(epsilon=EPSILON, delta=DELTA, n_items=n_items, k=1, samples=samples, pairs=pairs, d=d)
    mechanism = as_printed.mechanism
    shares = np.array(list(product(range(samples + 1), repeat=len(pairs)))) / samples
    chains = [transition_matrix(n_items, mechanism.edges, row, mechanism.normalisation) for row in shares]
    index: NDArray[np.int64] = np.arange(len(shares)).reshape((samples + 1,) * len(pairs))
    ends = [
        [np.take(index, range(start, samples + start), edge).ravel() for edge in range(len(pairs))] for start in (0, 1)
    ]
    return AllData(
        mechanism,
        shares,
        np.array([ergodicity_coefficient(chain) for chain in chains]),
        np.array([_law(chain) for chain in chains]),
        *map(np.concatenate, ends),
    )


def _law(chain: Any) -> NDArray[np.float64]:
    try:
        return stationary_distribution(chain)
    except ValueError:
        return np.full(chain.shape[0], np.nan)


def half_range(change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the largest difference of the entries of each row: how far a selection sees scores move."""
    return np.ptp(change, axis=1) / 2


def sensitivities(cases: Iterable[tuple[str, int]]) -> pd.DataFrame:
    """Largest change between neighbours over all data on small graphs, in units of 1 / (d L).

    ``graph``, ``samples``, ``data sets``, ``largest tau``; ``printed`` is s of Theorem 3.5 at that tau; ``pi``,
    ``damped`` and ``relative`` are half ranges of the change of pi, of (1 - tau) pi and of (1 - tau) pi / max pi, and
    ``total`` is the l1 norm of the second; ``one valid rho`` is the half range of (1 - tau) pi, tau the smaller
    coefficient of the two data sets; ``not unique`` counts data sets with tau below 1 and several stationary
    distributions, or with a neighbour that has several.
    """
    rows = []
    for graph, samples in cases:
        data = all_data(graph, samples)
        a, b = data.first, data.second
        unique = np.isfinite(data.law.sum(1))
        smaller = np.minimum(data.tau[a], data.tau[b])
        both = unique[a] & unique[b]
        moved = half_range(data.law[a] - data.law[b]) / data.unit
        tau = data.tau.max()
        rows.append(
            {
                "graph": graph,
                "samples": samples,
                "data sets": len(data.tau),
                "largest tau": tau,
                "printed": 2 / (1 - tau) if tau < 1 else math.inf,
                "pi": moved[both].max(),
                "one valid rho": ((1 - smaller) * moved)[both].max(),
                "damped": half_range(data.scores()[a] - data.scores()[b]).max() / data.unit,
                "total": np.abs(data.scores()[a] - data.scores()[b]).sum(1).max() / data.unit,
                "relative": half_range(data.scores(True)[a] - data.scores(True)[b]).max() / data.unit,
                "not unique": int((~both & (smaller < 1)).sum() + (~unique & (data.tau < 1)).sum()),
            }
        )
    return pd.DataFrame(rows)


def perturbation_ratios(cases: Iterable[tuple[str, int]]) -> pd.DataFrame:
    """Largest ratio of the two sides of Lemma 3.3 over all pairs of data sets, neighbours or not, on a small graph.

    ``graph``, ``samples``, ``pairs``; ``largest`` and ``sum``: (1 - tau) times the change of pi in its largest entry
    and in the sum of absolute entries, over the largest absolute row sum of the change of P.
    """
    rows = []
    for graph, samples in cases:
        data = all_data(graph, samples)
        usable = np.flatnonzero(np.isfinite(data.law.sum(1)))
        a, b = (at.ravel() for at in np.meshgrid(usable[data.tau[usable] < 1], usable))
        a, b = a[a != b], b[a != b]
        # of the row of item i every edge changes the entry of the rival and, the other way, the diagonal
        n_items, edges = data.mechanism.n_items, data.mechanism.edges
        change = np.zeros((len(a), n_items, n_items))
        step = (data.shares[a] - data.shares[b]) / data.mechanism.normalisation
        change[:, edges[:, 0], edges[:, 1]], change[:, edges[:, 1], edges[:, 0]] = step, -step
        change[:, range(n_items), range(n_items)] = -change.sum(2)
        moved = (1 - data.tau[a])[:, None] * np.abs(data.law[a] - data.law[b]) / norm(change)[:, None]
        rows.append(
            {"graph": graph, "samples": samples, "pairs": len(a), "largest": moved.max(), "sum": moved.sum(1).max()}
        )
    return pd.DataFrame(rows)


@claim("qiao2021:sec-3:map-sensitivity")
def check_map_sensitivity(ratios: pd.DataFrame) -> Iterator[Check]:
    """The sentence after Definition 3.4, from `perturbation_ratios`."""
    where = f"largest of all {ratios.pairs.sum():,} pairs of data sets on {ratios.graph.nunique()} graphs"
    yield printed(f"(1 − τ₁)‖π − π̃‖∞ / ‖P − P̃‖∞, {where}", ratios["largest"].max(), "<=", 1)
    yield printed(f"(1 − τ₁)‖π − π̃‖₁ / ‖P − P̃‖∞, {where}", ratios["sum"].max() - ROUNDING, "<=", 1)
    yield amended(f"(1 − τ₁)‖π − π̃‖∞ / ‖P − P̃‖∞, {where}", ratios["largest"].max() - ROUNDING, "<=", 0.5)
