"""Algorithm 3 and Theorem 3.5: what the released set loses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from companion.chapters.private_rank_centrality.small_graphs import GRAPHS, all_data
from companion.instruments.allowance import ROUNDING
from companion.instruments.topk import DELTA, EPSILON, printed_scale
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.qiao2021 import theorem_3_5
from dprank.audit.exact import privacy_loss
from dprank.pairwise.rank_law import top_set_law
from dprank.privacy.divergence import PairLaw
from dprank.topk.bound import log_delta
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.topk.spectral import stationary_distribution, transition_matrix


def set_delta(before: ArrayLike, after: ArrayLike, scale: float, k: int, epsilon: float) -> float:
    """Exact delta at epsilon between two vectors of scores, the index set of k being released; both directions."""
    p, q = (np.log([*top_set_law(scores, scale, k).values()]) for scores in (before, after))
    return float(PairLaw(p, q).delta(epsilon))


def worst_loss(graph: str, samples: int, k: int, scale: float) -> float:
    """Largest exact privacy loss over all neighbours of the set drawn from (1 - tau) pi by noise of this scale."""
    data = all_data(graph, samples)
    laws = np.array([list(top_set_law(row, scale, k).values()) for row in data.scores()])
    return max(privacy_loss(laws[a], laws[b]) for a, b in zip(data.first, data.second, strict=True))


def largest_delta(moved: float, sizes: Iterable[int]) -> float:
    """Largest proved delta(epsilon) over delta of the printed noise, epsilon up to 0.2 and delta up to 0.05.

    The shares move by `moved`, half their range, in units of the printed s; k runs over a grid from 1 to m - 1.
    """
    worst = 0.0
    for m, epsilon, delta in product(sizes, (EPSILON, EPSILON / 20), (DELTA, 1e-6, 1e-12)):
        for k in np.unique(np.geomspace(1, m - 1, 12).astype(int)):
            shift = moved / printed_scale(k, epsilon, delta, m)
            if 2 * min(k, m - k) * shift > epsilon:
                worst = max(worst, math.exp(log_delta(int(k), shift, epsilon, m) - math.log(delta)))
    return worst


def largest_move(sizes: Sequence[int]) -> float:
    """How far the shares may move, in units of the printed s, with `largest_delta` at most 1; to one in a thousand."""
    low, high = 0.0, 16.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if largest_delta(middle, sizes) <= 1 else (low, middle)
    return low


def public_gap(n_items: int) -> float:
    """1 - tau of the model's chain for equal items, all pairs compared and d = m - 1."""
    return n_items / (2 * (n_items - 1))


def model_rho_scores(n_items: int, samples: int, wins: int) -> tuple[NDArray[np.float64], float]:
    """Shares where two items beat all others and one of them won `wins` of their games; and the noise.

    Its scale is that which Theorem 3.5 prints for k = 1 at the coefficient of the model's chain of equal items.
    """
    bound = 1 - public_gap(n_items)
    as_printed = theorem_3_5(epsilon=EPSILON, delta=DELTA, n_items=n_items, k=1, samples=samples, rho=bound).mechanism
    shares = np.where(as_printed.edges[:, 0] < 2, 0.0, 0.5)
    shares[0] = 1 - wins / samples
    law = stationary_distribution(transition_matrix(n_items, as_printed.edges, shares, as_printed.normalisation))
    return law, as_printed.scale


def model_rho_limit(n_items: int) -> float:
    """Delta at `EPSILON` of the same at the worst start of any number of samples, all other items neglected.

    One sample moves the difference of the two items by D = m epsilon / (16 sqrt(log(m / delta))) noise scales, so it is
    a multiple of D / 2: an even one for an even number of samples.
    """
    moved = n_items * EPSILON / (16 * math.sqrt(math.log(n_items / DELTA)))
    lead = moved * np.arange(1, 9) / 2
    behind = (2 + np.abs([lead, lead - moved])) * np.exp(-np.abs([lead, lead - moved])) / 4
    after, before = np.where([lead > 0, lead > moved], 1 - behind, behind)
    return float(
        max((after - math.exp(EPSILON) * before).max(), ((1 - before) - math.exp(EPSILON) * (1 - after)).max())
    )


def model_rho_delta(n_items: int, samples: int) -> float:
    """Exact delta at `EPSILON` between neighbours of `model_rho_scores`, with so many samples or one more."""
    worst = 0.0
    for count in (samples, samples + 1):
        laws = [model_rho_scores(n_items, count, count // 2 + lead) for lead in range(3)]
        worst = max(worst, *(set_delta(a, b, scale, 1, EPSILON) for (a, scale), (b, _) in pairwise(laws)))
    return worst


def smallest_model_refutation() -> int:
    """Fewest items at which the noise of the model's tau is too small for these two."""
    return next(m for m in range(3, 10_000) if model_rho_limit(m) > DELTA)


def refusals(graph: str, samples: int) -> int:
    """Pairs of neighbours of which exactly one has a coefficient of 1."""
    data = all_data(graph, samples)
    return int(((data.tau[data.first] < 1) != (data.tau[data.second] < 1)).sum())


@claim("qiao2021:alg-3")
def check_algorithm(cases: Sequence[tuple[str, int]], k: int = 1) -> Iterator[Check]:
    """Algorithm 3 on data that are not constrained: refused, or answered blindly."""
    refused = refusals("path of 3", 1)
    where = f"exact loss of the set over all neighbours on {len(cases)} small graphs, k = {k}, ε = {EPSILON:g}"
    as_printed, least = 0.0, 0.0
    for graph, samples in cases:
        n_items, pairs = GRAPHS[graph]
        public: dict[str, Any] = {"n_items": n_items, "k": k, "samples": samples, "pairs": pairs}
        theirs = theorem_3_5(epsilon=EPSILON, delta=DELTA, **public).mechanism
        ours = PrivateRankCentrality.calibrated(epsilon=EPSILON, relative=False, **public)
        as_printed = max(as_printed, worst_loss(graph, samples, k, theirs.scale))
        least = max(least, worst_loss(graph, samples, k, ours.scale))
    what = f"largest change in the chance of a refusal between neighbours, path of 3 items, L = 1 ({refused} pairs)"
    yield printed(what, float(refused > 0), "<=", DELTA, reading="data with τ₁ = 1 are refused")
    blind = "data with τ₁ = 1 get a set drawn uniformly"
    yield printed(f"{where}, printed noise", as_printed, "<=", EPSILON, reading=blind)
    yield amended(f"{where}, our least noise for (ε, 0)", least, "<=", EPSILON)


@claim("qiao2021:thm-3.5")
def check_theorem(found: pd.DataFrame, sizes: Sequence[int], samples: int = 1000) -> Iterator[Check]:
    """Theorem 3.5 under its three readings of rho, from `sensitivities`."""
    grid = f"m = {sizes[0]} … {sizes[-1]:,}, k = 1 … m − 1, ε ≤ {EPSILON:g}, δ ≤ {DELTA:g}"
    enumerated = f"all {found['data sets'].sum():,} data sets on {found.graph.nunique()} graphs"
    one, own = "ρ bounds τ₁ of one of the two data sets", "ρ is τ₁ of the data, only the set is released"
    half, units = "half the range of the change of", "in units of 1/(dL)"
    items, move = smallest_model_refutation(), largest_move(sizes)
    allowed = f"half the range, in units of the printed s, up to which δ(ε) proved is at most δ, printed noise, {grid}"
    two = f"exact δ at ε = {EPSILON:g}: {items} items, k = 1, L = {samples} and {samples + 1}, two beat all others"
    exact = model_rho_delta(items, samples)
    alone = found["one valid rho"].max() / 2
    yield printed(f"{half} π, over printed s, {enumerated}", alone, "<=", 1, reading=one)
    yield printed(f"{allowed}: π moves by 1/2", move, ">=", 0.5, reading=one)
    damped = f"{half} (1 − τ₁)π, over (1 − τ₁) times printed s, {enumerated}"
    yield printed(damped, found.damped.max() / 2, "<=", 1, reading=own)
    yield printed(f"{allowed}: (1 − τ₁)π moves by 3(1 − τ₁)/4", move, ">=", 0.75, reading=own)
    yield printed(two, exact, "<=", DELTA, reading="ρ bounds τ₁ of the model's chain", error=1e-12)
    yield amended(f"{half} (1 − τ₁)π {units}, {enumerated}", found.damped.max() - ROUNDING, "<=", 1.5)
    yield amended(f"{half} (1 − τ₁)π/max π {units}, {enumerated}", found.relative.max() - ROUNDING, "<=", 2.5)
    yield amended(f"‖change of (1 − τ₁)π‖₁ {units}, {enumerated}", found.total.max() - ROUNDING, "<=", 3)
