"""The lower bound's map from the cube to rankings, its inverse and the two observations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.aggregation.lower_bounds import Convention, embed, embedded_distance, signs
from dprank.data.kendall import kendall_distances, pairwise_kendall_distances

#: Pairs (d, t) of which all vectors and all rankings are listed.
SMALL = ((1, 0), (1, 1), (1, 2), (1, 6), (2, 0), (2, 1), (2, 2), (2, 4), (3, 0), (3, 1), (3, 2))


def all_signs(d: int) -> NDArray[np.int64]:
    """Every vector of d signs, shape (2^d, d)."""
    return np.array(list(product((-1, 1), repeat=d)))


@cache
def observation_15(d: int, middle: int, convention: Convention) -> tuple[int, int, int]:
    """Least surplus of Observation 15 over all rankings and all vectors, for one voter.

    Both sides are averages over the voters, so that one voter is the worst case.

    The least of K - t h, that of K - (t + 1) h, and the K where the first is attained; h counts the coordinates in
    which rho of the ranking and x differ.
    """
    x, rankings = all_signs(d), all_rankings(2 * d + middle)
    cost = pairwise_kendall_distances(rankings, embed(x, middle, convention=convention))
    wrong = (d - signs(rankings, d) @ x.T) // 2
    as_printed = cost - middle * wrong
    return int(as_printed.min()), int((cost - (middle + 1) * wrong).min()), int(cost.flat[as_printed.argmin()])


def observation_16(d: int, middle: int) -> pd.DataFrame:
    """Cost of pi^y for one voter with pi^x, by the number h of coordinates in which x and y differ.

    Columns: ``d``, ``t``, ``h``, ``cost`` (counted on rankings), ``formula``, ``printed`` (bound of Observation 16),
    ``corrected``.
    """
    h = np.arange(d + 1)
    x = np.where(np.arange(d) < h[:, None], -1, 1)
    cost = kendall_distances(embed(x, middle), embed(np.ones(d, int), middle))
    return pd.DataFrame(
        {
            "d": d,
            "t": middle,
            "h": h,
            "cost": cost,
            "formula": embedded_distance(h, d, middle),
            "printed": middle * h + 2 * d * d,
            "corrected": 2 * middle * h + d * d,
        }
    )


@claim("alabi2022:sec-lower:map")
def check_map() -> Iterator[Check]:
    """Whether the words that follow the formula of the map say the same; Observation 15 needs what they say."""
    for d in (1, 4):
        x = all_signs(d)
        formula, opposite = embed(x, 2, convention="formula"), embed(-x, 2, convention="formula")
        words = embed(x, 2, convention="words")
        what = f"of the {2**d} vectors x, those with one π^x by formula and words, d = {d}, t = 2"
        yield printed(what, int((formula == words).all(1).sum()), "==", 2**d)
        what = f"of them, those whose π^x by words is π^(−x) by the formula, d = {d}"
        yield amended(what, int((opposite == words).all(1).sum()), "==", 2**d)
    for d, t in ((1, 1), (3, 2)):
        what = f"d = {d}, t = {t}: least of K(σ, π^x) minus Observation 15's bound, π^x by words, all σ and x"
        yield amended(what, observation_15(d, t, "words")[0], ">=", 0)


@claim("alabi2022:sec-lower:inverse")
def check_inverse(dimensions: Iterable[int] = (1, 2, 5, 8)) -> Iterator[Check]:
    """How many vectors come back through the map and rho: by the formula none."""
    for d in dimensions:
        x = all_signs(d)
        conventions: list[tuple[Convention, Callable[..., Check]]] = [("formula", printed), ("words", amended)]
        for convention, says in conventions:
            back = int((signs(embed(x, 3, convention=convention), d) == x).all(1).sum())
            what = f"vectors x with ρ(π^x) = x, π^x by {convention}, d = {d}, t = 3"
            yield says(what, back, "==", 2**d)


@claim("alabi2022:obs-15")
def check_obs_15() -> Iterator[Check]:
    """Observation 15 over all rankings of up to eight items."""
    for d, t in SMALL:
        what = f"least of K(σ, π^x) − t (d − ⟨ρ(σ), x⟩)/2, π^x by formula, d = {d}, t = {t}"
        yield printed(what, observation_15(d, t, "formula")[0], ">=", 0)
        what = f"least of K(σ, π^x) − (t + 1)(d − ⟨ρ(σ), x⟩)/2, π^x by words, d = {d}, t = {t}"
        yield amended(what, observation_15(d, t, "words")[1], "==", 0)


@claim("alabi2022:obs-16")
def check_obs_16(
    cases: Iterable[tuple[int, int]] = ((1, 1), (1, 2), (2, 3), (5, 5), (5, 6), (10, 40)),
) -> Iterator[Check]:
    """Observation 16 where t is below, at and above d."""
    for d, t in cases:
        frame = observation_16(d, t)
        worst = frame.loc[(frame.cost - frame.printed).idxmax()]
        what = f"K(π^y, π^x), d = {d}, t = {t}, x and y differ in {worst.h}"
        yield printed(what, int(worst.cost), "<=", int(worst.printed))
        over = int((frame.cost - frame.corrected).max())
        yield amended(f"most of K − t (d − ⟨y, x⟩) − d², d = {d}, t = {t}", over, "==", 0)
        wrong = int((frame.cost != frame.formula).sum())
        yield amended(f"values off h (2t + 2d − h), d = {d}, t = {t}", wrong, "==", 0)


def outer_inversions(d: int, extra: bool) -> int:
    """Most pairs, among the items that may move, that two embedded rankings order differently.

    `extra` counts item d + 1 among them, as the paper's set does: an item that never moves.
    """
    x = all_signs(d)
    places = np.r_[:d, [d] if extra else [], d + 1 : 2 * d + 1].astype(int)
    table = np.argsort(np.argsort(embed(x, 1)[:, places], axis=1), axis=1)
    return int(pairwise_kendall_distances(table).max())


@claim("alabi2022:sec-lower:outer")
def check_outer(dimensions: Iterable[int] = (1, 2, 4, 6)) -> Iterator[Check]:
    """The sentence between the observations: what the outer items contribute."""
    for d in dimensions:
        bound = 2 * d * d
        yield printed(
            f"inversions within {{1..d+1, d+t+1..2d+t}}, d = {d}, all x, y", outer_inversions(d, True), "<=", bound
        )
        own = outer_inversions(d, False)
        yield supplied(f"inversions within {{1..d, d+t+1..2d+t}}, d = {d}", own, "<=", bound)
        yield amended(f"the same, d = {d}: exactly d²", own, "==", d * d)


@claim("alabi2022:sec-lower:large-t")
def check_large_middle(d: int = 20, middles: Sequence[int] = (20, 200, 2000, 20000)) -> Iterator[Check]:
    """Whether a large t makes the additive term small when compared to the optimum."""
    for t in middles:
        h = np.arange(1, d + 1)
        share = float((h * (2 * d - h) / ((t + 1) * h)).max())
        yield printed(f"inversions of outer items / Observation 15's bound, d = {d}, t = {t}", share, "<=", 2 * d / t)
