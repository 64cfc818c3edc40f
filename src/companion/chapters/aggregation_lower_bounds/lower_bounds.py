"""Alabi, Ghazi, Kumar and Manurangsi (2022), lower bounds: what the chapter computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import roots_jacobi

from companion.instruments.aggregation import exponential_needs, matrix_error, one_pair_error
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, COLOURS, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_rankings, certain, exponent
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.aggregation.lower_bounds import (
    Convention,
    coded_threshold,
    embed,
    embedded_distance,
    local_threshold,
    pure_threshold,
    signs,
    tracing_threshold,
)
from dprank.aggregation.private_borda import PrivateBorda
from dprank.data.kendall import kendall_distances, pairwise_kendall_distances
from dprank.privacy.gaussian import gaussian_scale

#: The printed additive error as a share of m^2.
SHARE = Fraction(1, 100)
#: Pairs (d, t) of which all vectors and all rankings are listed.
SMALL = ((1, 0), (1, 1), (1, 2), (1, 6), (2, 0), (2, 1), (2, 2), (2, 4), (3, 0), (3, 1), (3, 2))


def all_signs(d: int) -> NDArray[np.int64]:
    """Every vector of d signs, shape (2^d, d)."""
    return np.array(list(product((-1, 1), repeat=d)))


# --- the map, its inverse and the two observations -------------------------------------------------------------------


@cache
def observation_15(d: int, middle: int, convention: Convention) -> tuple[int, int, int]:
    """Least surplus of Observation 15 over all rankings and all vectors, for one voter.

    Both sides are averages over the voters, so that one voter is the worst case.

    Returns
    -------
    tuple of int
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

    Returns
    -------
    pandas.DataFrame
        ``d``, ``t``, ``h``, ``cost`` (counted on rankings), ``formula``, ``printed`` (bound of Observation 16),
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


# --- pure privacy ----------------------------------------------------------------------------------------------------


def pure_floor(n_items: int, share: float = float(SHARE)) -> float:
    """A bound below `pure_threshold` for an error of share * items^2, share at most 1/25; it grows faster than items.

    At most C(m + r, m) <= (e (m + r)/m)^m rankings are within r, and m! >= (m/e)^m.
    """
    return n_items * (math.log(n_items / (1 + share * n_items)) - 2) + math.log((1 - 1 / n_items) / (4 * share) - 1)


def code_floor(n_items: int) -> float:
    """A bound below `best_code` for at least 4 items; over items it grows.

    With d a third of the items, rounded down, a share of at most lam of d signs may be wrong. At most exp(d h(lam)) of
    the 2^d vectors differ from one in that many places or fewer, h being the binary entropy in nats.
    """
    lam = 9 * float(SHARE) * n_items / (n_items - 2)
    return (n_items - 2) / 3 * (math.log(2) + lam * math.log(lam) + (1 - lam) * math.log1p(-lam))


def best_code(n_items: int) -> float:
    """The paper's route to Theorem 13, at the best d for all items: `coded_threshold` with error 0.01 m^2."""
    ds = {max(1, round(f * n_items)) for f in np.arange(0.1, 0.51, 0.02)}
    return max(coded_threshold(d, n_items - 2 * d, SHARE * n_items**2) for d in ds if 2 * d <= n_items)


def pure_table(items: Iterable[int]) -> pd.DataFrame:
    """Voters by number of items, for pure privacy with epsilon 1 and an additive error of 0.01 m^2.

    Returns
    -------
    pandas.DataFrame
        ``items``; ``needed`` (unanimous voters with any ranking), ``needed (π^x)`` (the paper's route) and ``enough
        (exponential mechanism)``, whole voters, rounded up; ``ε n / items``: the first of these before it is rounded,
        over items, rounded down.
    """
    rows = []
    for m in items:
        low = pure_threshold(m, SHARE * m * m)
        rows.append(
            {
                "items": m,
                "needed": math.ceil(low),
                "ε n / items": math.floor(1000 * low / m) / 1000,
                "needed (π^x)": math.ceil(best_code(m)),
                "enough (exponential mechanism)": math.ceil(exponential_needs(m, 0.01 * m * m)),
            }
        )
    return pd.DataFrame(rows)


@claim("alabi2022:thm-13")
def check_thm_13(exact_to: int = 100, far: Sequence[int] = (100, 10**3, 10**6, 10**12)) -> Iterator[Check]:
    """Theorem 13 with the constant 3/2."""
    exact = {m: pure_threshold(m, SHARE * m * m) / m for m in range(2, exact_to + 1)}
    worst = min(exact, key=lambda m: exact[m])
    gap = min(exact[m] - pure_floor(m) / m for m in range(2, exact_to + 1))
    yield printed(f"least ε n / m, exact for 2 to {exact_to} items (at m = {worst})", exact[worst], ">=", 1.5)
    for m in far:
        yield printed(f"bound below ε n / m, m = {m:.0e}", pure_floor(m) / m, ">=", 1.5)
    yield printed(f"least of the exact value minus that bound, over m, 2 to {exact_to} items", gap, ">=", 0)


@claim("alabi2022:sec-lower:codes")
def check_codes(exact_to: int = 100, far: Sequence[int] = (100, 10**3, 10**6)) -> Iterator[Check]:
    """The sketch for pure privacy: the rankings of vectors, Observation 15 and packing."""
    exact = {m: best_code(m) for m in range(2, exact_to + 1)}
    worst = min(exact, key=lambda m: exact[m] / m)
    gap = min(exact[m] - code_floor(m) for m in exact if m > 3)
    share = max(exact[m] / pure_threshold(m, SHARE * m * m) for m in exact)
    what = f"least ε n / m by the π^x alone, exact for 2 to {exact_to} items (at m = {worst})"
    yield printed(what, exact[worst] / worst, ">=", 0.1)
    for m in far:
        yield printed(f"bound below ε n / m by the π^x alone, m = {m:,}", code_floor(m) / m, ">=", 0.1)
    yield printed(f"least of the exact ε n minus that bound, 4 to {exact_to} items", gap, ">=", 0)
    yield printed(f"most of ε n by the π^x over ε n by all rankings, 2 to {exact_to} items", share, "<=", 1 + ROUNDING)


# --- what is enough --------------------------------------------------------------------------------------------------


def one_bit_needs(n_items: int, epsilon: float, error: float) -> float:
    """Voters with which one randomized answer each, on a random pair, gives that additive error at ratio 1.

    No interaction; the noisy matrix is solved exactly.
    """
    return (one_pair_error(n_items, epsilon) / error) ** 2


def local_needs(n_items: int, epsilon: float, error: float) -> float:
    """Voters below which no protocol of the local model has that additive error, at any ratio."""
    return local_threshold(n_items, error) / (epsilon * math.tanh(epsilon / 2))


def thresholds(items: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Voters for an additive error of 0.01 m^2: necessary and sufficient numbers.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``model`` ("pure", "approximate", "local"), ``kind`` ("needed", "enough"), ``voters``. What is needed
        is for any ratio in the pure and the local model, and for ratio 1 in the approximate one.
    """
    rows = []
    for m in items:
        error = 0.01 * m * m
        pure = pure_threshold(m, SHARE * m * m) / epsilon
        found = {
            ("pure", "needed"): pure,
            ("pure", "enough"): exponential_needs(m, error) / epsilon,
            ("approximate", "needed"): best_tracing(m, epsilon, delta, error=error),
            ("approximate", "enough"): matrix_error(m, epsilon, delta) / error,
            ("local", "needed"): max(pure, local_needs(m, epsilon, error)),
            ("local", "enough"): one_bit_needs(m, epsilon, error),
        }
        rows += [{"items": m, "model": a, "kind": b, "voters": n} for (a, b), n in found.items()]
    return pd.DataFrame(rows)


def drift(frame: pd.DataFrame, since: int = 30) -> pd.DataFrame:
    """How far apart the lines of `thresholds` run.

    Returns
    -------
    pandas.DataFrame
        ``model``; ``slope needed`` and ``slope enough`` on doubly logarithmic axes, from `since` items on; ``orders
        differ by``, and the ``least`` and ``most`` of enough / needed over that, for all sizes.
    """
    rows = []
    for model, power, name in (("pure", 1.0, "log m"), ("approximate", 0.5, "√log m"), ("local", 1.0, "log m")):
        wide = frame[frame.model == model].pivot(index="items", columns="kind", values="voters")
        late = wide[wide.index >= since]
        slopes = {f"slope {kind}": exponent(late.index.to_numpy(float), late[kind]) for kind in ("needed", "enough")}
        apart = wide["enough"] / wide["needed"] / np.log(wide.index.to_numpy(float)) ** power
        rows.append({"model": model, **slopes, "orders differ by": name, "least": apart.min(), "most": apart.max()})
    return pd.DataFrame(rows)


@claim("alabi2022:sec-lower:trivial")
def check_trivial(items: Sequence[int] = (10, 100, 10**4, 10**6)) -> Iterator[Check]:
    """From which number of voters on the errors beat the trivial one."""
    for m in items:
        costs = kendall_distances(np.arange(m)[None, ::-1], np.arange(m)) if m <= 10**4 else [math.comb(m, 2)]
        yield printed(f"most cost of any ranking / m², m = {m:,}", int(costs[0]) / m**2, "<=", 0.5)
    m, power = 10**12, 0.9
    # printed for any epsilon: with epsilon = m^0.9 a single voter has (m / epsilon^2) polylog(m) beaten
    enough, needed = math.log(m) ** 4 * m ** (1 - 2 * power), pure_floor(m) / m**power
    what = f"voters needed for 0.01 m² at ε = m^{power}, m = 10^12, over max(1, m log⁴ m / ε²)"
    yield printed(f"local model: {what}", needed / max(1.0, enough), "<=", 1)
    for says in (supplied, amended):
        rates: dict[str, list[float]] = {"pure": [], "approximate": [], "local": []}
        for m in items:
            error, log_m = 0.01 * m * m, math.log(m)
            for epsilon in (0.01, 0.1, 1.0):
                rates["pure"].append(exponential_needs(m, error) / (m * log_m))
                for delta in (1e-6, 1e-12):
                    gauss = matrix_error(m, epsilon, delta) / error
                    rates["approximate"].append(gauss * epsilon / math.sqrt(m * log_m * -math.log(delta)))
                rates["local"].append(one_bit_needs(m, epsilon, error) * epsilon**2 / (m * log_m))
        names = {"pure": "m log m / ε", "approximate": "√(m log m log(1/δ)) / ε", "local": "m log m / ε²"}
        bounds = {"pure": 100.0, "approximate": 100.0, "local": 6000.0}
        for model in rates:
            yield says(
                f"{model}: most of n / ({names[model]}) for 0.01 m², ε ≤ 1", max(rates[model]), "<=", bounds[model]
            )


@claim("alabi2022:sec-lower:local")
def check_local(
    items: Sequence[int] = (10**2, 10**4, 10**8, 10**16), own: Sequence[int] = (3, 30, 300)
) -> Iterator[Check]:
    """How far Corollary 12's number of voters is from Theorem 13's, and ours from each other."""
    for epsilon in (1.0, 0.1):
        # both printed bounds with constant 1, error m^2
        first, last = (math.log(m) ** 2 * m / epsilon**2 / (m / epsilon) * epsilon for m in (items[0], items[-1]))
        what = f"ε (m log² m / ε²) / (m / ε), ε = {epsilon:g}: growth from m = {items[0]:.0e} to {items[-1]:.0e}"
        yield printed(what, last / first, "<=", 1 + ROUNDING)
    for m in own:
        for epsilon in (0.01, 1.0):
            error = 0.01 * m * m
            ratio = one_bit_needs(m, epsilon, error) / local_needs(m, epsilon, error) / math.log(m)
            what = f"local voters enough / needed / log m, one bit each, m = {m}, ε = {epsilon:g}"
            yield amended(what, ratio, "<=", 2000)
    floor = {m: local_threshold(m, 0.01 * m * m) / m for m in range(2, 101)}
    least = min(floor, key=lambda m: floor[m])
    what = f"local voters needed / (m / (ε tanh(ε/2))), 2 to 100 items (at m = {least})"
    yield amended(what, floor[least], ">=", 0.25)


def unanimous_excess(n_items: int, voters: int, epsilon: float) -> float:
    """Log of a bound on the additive error of the exponential mechanism at ratio 3.

    Where an order costs more than 3 OPT its weight, relative to the optimum's, is at most exp(-phi D) with D its
    distance from the optimum and phi = epsilon n / (4 C); so the error is at most the sum over all orders of
    D exp(-phi D), computed from the generating function of D.
    """
    phi = epsilon * voters / (4 * math.comb(n_items, 2))
    j = np.arange(1, n_items + 1)
    log_z = np.log(-np.expm1(-j * phi)).sum() - n_items * math.log(-math.expm1(-phi))
    mean = math.fsum(1 / math.expm1(phi) - j / np.expm1(np.minimum(j * phi, 700)))
    return float(log_z + math.log(mean))


def padded_error(n_items: int, voters: int, epsilon: float) -> float:
    """An additive error that no pure algorithm of ratio 1 goes below, for any number of voters: by pairs of opposites.

    The most voters below the threshold of Theorem 13, of the right parity, disagree with nobody; the rest come in pairs
    of a ranking and its reverse, which cost all orders the same.
    """
    most = math.ceil(pure_threshold(n_items, SHARE * n_items**2) / epsilon) - 1
    core = min(voters, most - (voters - most) % 2)
    return max(core, 0) / voters * float(SHARE) * n_items**2


@claim("alabi2022:sec-results:lower-match")
def check_lower_match(items: Sequence[int] = (30, 100, 300)) -> Iterator[Check]:
    """Whether lower and upper bounds on the additive error match: at the threshold (constants ours), and beyond."""
    threshold, beyond = "the n from which errors are below m²", "the additive error at every larger n"
    for m in items:
        frame = thresholds([m], 1.0, 1e-6).set_index(["model", "kind"]).voters
        for model, log_power, most in (("pure", 1.0, 100.0), ("approximate", 0.5, 5000.0)):
            ratio = frame[model, "enough"] / frame[model, "needed"] / math.log(m) ** log_power
            what = f"{model} DP: (voters enough) / (voters needed) / log^{log_power:g} m for 0.01 m², m = {m}, ε = 1"
            yield printed(what, ratio, "<=", most, reading=threshold)
        n = m**3
        small = math.exp(unanimous_excess(m, n, 1.0)) / (m**3 / n)
        what = f"log⁶ m × error of the exponential mechanism at ratio 3 / (m³/(εn)), m = {m}, n = m³, ε = 1"
        yield printed(what, small * math.log(m) ** 6, ">=", 1.0, reading=beyond)
        yield amended(f"the same without log⁶ m, m = {m}", small, "<", 1e-3)
        for n in (2 * m, m**2, m**3):
            low = padded_error(m, n, 1.0) / (m**3 / n)
            yield amended(f"ratio 1: least additive error / (m³/(εn)), m = {m}, n = {n:,}", low, ">=", 0.01)


# --- approximate privacy ---------------------------------------------------------------------------------------------


def best_tracing(n_items: int, epsilon: float, delta: float, *, ratio: float = 1.0, error: float) -> float:
    """`tracing_threshold` for all items at the best of a grid of d and spread."""
    ds = {max(1, round(f * n_items)) for f in np.arange(0.1, 0.5, 0.05)}
    spreads = np.geomspace(1e-3 / ratio, 1.0, 40)
    sheet = {"epsilon": epsilon, "delta": delta, "ratio": ratio, "error": error}
    return max(tracing_threshold(d, n_items - 2 * d, float(a), **sheet) for d in ds for a in spreads)


def theorem_14(n_items: int, epsilon: float, ratio: float) -> tuple[float, float]:
    """Our Theorem 14 at its own n and delta: that n, and the threshold there that the tracing argument gives."""
    n = math.sqrt(n_items / ratio) / (40 * math.sinh(epsilon))
    d = n_items // 3
    found = tracing_threshold(
        d,
        n_items - 2 * d,
        1 / (32 * ratio),
        epsilon=epsilon,
        delta=1 / (272 * ratio * n),
        ratio=ratio,
        error=n_items**2 / 72,
    )
    return n, found


def idle_epsilon(n_items: float, power: float = 0.4) -> tuple[float, float]:
    """What (1, 1/n^2)-DP can do at epsilon = m^-power and n = m^(0.45 + power), fewer than sqrt(m) / epsilon voters.

    Returns
    -------
    tuple of float
        n epsilon / sqrt(m), and a bound on the Gaussian matrix's additive error over m^2, at ratio 1.
    """
    n = n_items ** (0.45 + power)
    # log m! < m log m, so that no m is too large for floats
    deviation = gaussian_scale(1.0, 1.0, n**-2)
    return n_items**-0.05, deviation / 2 * math.sqrt(2 * n_items * math.log(n_items)) / n


def random_voter(n_items: int, voters: int) -> tuple[float, float]:
    """Publishing the ranking of a random voter: exact worst cost over the optimum, exact delta at epsilon 0.

    All data sets of a few voters and items, and for delta all neighbours that differ in the last voter.
    """
    rankings = all_rankings(n_items)
    table = pairwise_kendall_distances(rankings)
    data = np.array(list(product(range(len(rankings)), repeat=voters)))
    scores = table[data].mean(1)
    cost = np.take_along_axis(scores, data, 1).mean(1)
    best = scores.min(1)
    law = (data[:, :, None] == np.arange(len(rankings))).mean(1).reshape(-1, len(rankings), len(rankings))
    moved = np.abs(law[:, :, None] - law[:, None]).sum(-1).max() / 2
    return float((cost[best > 0] / best[best > 0]).max(initial=0.0)), float(moved)


def majority_identity(voters: int, spread: float, grid: int = 20) -> tuple[float, float]:
    """Both sides of the tracing identity for the majority of a few voters, by Gauss-Gegenbauer quadrature.

    Returns
    -------
    tuple of float
        E[y sum_i (x_i - p)], by enumerating the votes, and 2 a E[p y]; y is the majority, or 1 in a tie.
    """
    p, weight = roots_jacobi(grid, spread - 1, spread - 1)
    weight = weight / weight.sum()
    k = np.arange(voters + 1)
    log_count = np.array([math.log(math.comb(voters, int(i))) for i in k])
    law = np.exp(log_count + k * np.log((1 + p[:, None]) / 2) + (voters - k) * np.log((1 - p[:, None]) / 2))
    y = np.where(2 * k >= voters, 1, -1)
    traced = (law * y * (2 * k - voters - voters * p[:, None])).sum(1)
    return float(weight @ traced), float(2 * spread * (weight @ (p * (law @ y))))


@claim("alabi2022:thm-14")
def check_thm_14(
    items: Sequence[int] = (5, 10**2, 10**4, 10**6, 10**9), ratios: Sequence[float] = (1, 2, 5, 50)
) -> Iterator[Check]:
    """Theorem 14: epsilon idle and fixed, epsilon idle and falling with m, and epsilon where it belongs."""
    fixed, falling = "ε fixed", "ε may depend on m"
    at = {(m, e, a): theorem_14(m, e, a) for m in items for e in (1e-4, 0.01, 0.1, 1.0) for a in ratios}
    one = [found / n for (_, e, _), (n, found) in at.items() if e == 1.0 and n >= 1]
    every = [found / n for n, found in at.values() if n >= 1]
    yield printed(
        "least of (voters needed) / (√m / (40 √α sinh 1)), c = 1/72, all m, α", min(one), ">=", 1, reading=fixed
    )
    for m in (1e12, 1e24, 1e48):
        below, error = idle_epsilon(m)
        what = f"error / m² of a (1, 1/n²)-DP algorithm, ratio 1, m = {m:.0e}, ε = m^-0.4, n = {below:.2g} √m / ε"
        yield printed(what, error, ">=", 1 / 72, reading=falling)
    ms = np.array([1e12, 1e24, 1e48])
    slope = exponent(ms, [idle_epsilon(m)[1] for m in ms])
    yield printed("exponent of that error / m² in m: any c is passed", slope, ">=", 0, reading=falling)
    for spread, voters in ((1.0, 3), (0.25, 5), (0.05, 4)):
        left, right = majority_identity(voters, spread)
        what = f"E Σ_i y (x_i − p) over 2a E[p y], majority of {voters}, a = {spread:g}"
        yield amended(what, left / right, "==", 1, error=ROUNDING)
    yield amended("least of (voters needed) / (√m / (40 √α sinh ε)), δ = 1/(272 α n), ε ≤ 1", min(every), ">=", 1)
    for m, n in ((3, 2), (3, 3), (3, 4)):
        ratio, delta = random_voter(m, n)
        yield amended(f"a random voter's ranking: δ at ε = 0, m = {m}, n = {n}", delta, "<=", 1 / n + ROUNDING)
        yield amended(f"a random voter's ranking: most cost / OPT, m = {m}, n = {n}", ratio, "<=", 2)


# --- tracing at work -------------------------------------------------------------------------------------------------

#: Outsiders whose scores set the threshold: one more outsider passes it with chance 2 / 200.
OUTSIDERS, PASS = 199, 2
DELTA = 1e-6


def voters_at(n_items: int, share: float) -> int:
    """Voters, at least one, that are nearest to a share of the root of the items."""
    return max(1, round(share * math.sqrt(n_items)))


def trace(
    n_items: int, share: float, epsilon: float | None, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """Attack the Borda order, published exactly or with Gaussian noise on its scores.

    Voters have the rankings pi^x, with independent signs of means p_j uniform on [-1, 1]. Items j and j + d + t are a
    distance d + t apart, so the released signs are those of (d + t) sum_i x^i_j plus two items' noise.

    Parameters
    ----------
    n_items : int
        At least 3; a third of them, rounded down, is d.
    share : float
        Voters over sqrt(items).
    epsilon : float or None
        With delta = 1e-6; None for no noise.
    repetitions : int
    rng : numpy.random.Generator

    Returns
    -------
    dict
        ``("traced",)``: share of voters whose score exceeds a threshold that an outsider passes in 1 % of cases;
        ``("wrong",)``: signs of voters got wrong, as a share, beyond the majority's.
    """
    d, n = n_items // 3, voters_at(n_items, share)
    noise = 0.0
    if epsilon is not None:
        noise = (
            PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=DELTA, law="continuous").scale
            * math.sqrt(2)
            / (n_items - d)
        )
    traced, wrong = np.empty((2, repetitions))
    for r in range(repetitions):
        p = rng.uniform(-1, 1, d)
        x, outside = (np.where(rng.random((size, d), np.float32) < (1 + p) / 2, 1.0, -1.0) for size in (n, OUTSIDERS))
        total = x.sum(0)
        y = np.where(total + noise * rng.standard_normal(d) >= 0, 1.0, -1.0)
        threshold = np.partition(outside @ y, -PASS)[-PASS]
        traced[r] = (x @ y > threshold).mean()
        wrong[r] = (np.abs(total) - y * total).mean() / (2 * n)
    return {("traced",): traced, ("wrong",): wrong}


def tracing(
    items: Sequence[int], shares: Sequence[float], epsilons: Sequence[float | None], repetitions: int
) -> pd.DataFrame:
    """`trace` on a grid.

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``share``, ``epsilon`` (NaN for no noise), ``outcome``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [{"n_items": m, "share": s, "epsilon": e} for m in items for e in epsilons for s in shares]
    return sweep(trace, cells, experiment="alabi2022-tracing", repetitions=repetitions, outcomes=["outcome"])


@claim("alabi2022:sec-lower:signs")
def check_signs(frame: pd.DataFrame) -> Iterator[Check]:
    """Whether the signs of the marginals alone give voters away: few voters, many items, in the one cell with fewest.

    A stranger passes with chance PASS / (OUTSIDERS + 1), a voter of a (1, delta)-DP release at most e times that, plus
    delta.
    """
    exact = frame[(frame.outcome == "traced") & frame.epsilon.isna()]
    most = exact[exact.n_items == exact.n_items.max()]
    first = most.loc[most.share.idxmin()]
    allowed = math.e * PASS / (OUTSIDERS + 1) + 0.1
    n = voters_at(first.n_items, first.share)
    what = f"share of voters traced at 1 % false alarms, exact signs, m = {first.n_items:,}, n = {n}"
    error = certain(float(first["mean"]), int(first.repetitions))
    yield printed(f"{what}; (1, 0.1)-DP allows e/100 + 0.1", float(first["mean"]), ">", allowed, error=error)


def table_16(cases: Iterable[tuple[int, int, int]]) -> pd.DataFrame:
    """Rows of `observation_16` at chosen (d, t, h), with headings for readers."""
    rows = pd.DataFrame([observation_16(d, t).loc[h] for d, t, h in cases]).reset_index(drop=True)
    return rows.drop(columns="formula").rename(columns={"cost": "counted", "corrected": "2th + d²"})


# --- figures ----------------------------------------------------------------------------------------------------------


_MODELS = {"pure": "pure", "approximate": "approximate", "local": "local, pure"}


@styled
def draw_thresholds(frame: pd.DataFrame) -> Figure:
    """Voters against items: needed (dashed) and enough (solid), a colour a model of privacy."""
    figure = Figure(figsize=(7.2, 4.4))
    axes = figure.subplots()
    for (model, name), colour in zip(_MODELS.items(), COLOURS, strict=False):
        for kind, line in (("enough", "-"), ("needed", "--")):
            part = frame[(frame.model == model) & (frame.kind == kind)]
            axes.plot(part["items"], part.voters, color=colour, ls=line, marker="o", label=f"{name}: {kind}")
    axes.set(xlabel="items m", ylabel="voters n", xscale="log", yscale="log")
    bottom = axes.get_ylim()[0]
    axes.axhspan(bottom, 1, color=COLOURS[6], alpha=0.12, lw=0)
    axes.set_ylim(bottom=bottom)
    axes.text(0.98, 0.02, "less than one voter: says nothing", ha="right", va="bottom", transform=axes.transAxes)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


@styled
def draw_tracing(frame: pd.DataFrame) -> Figure:
    """Voters traced (linear below 1 %, logarithmic above), and wrong signs, against voters over the root of items."""
    figure = Figure(figsize=(7.2, 3.9))
    left, right = figure.subplots(1, 2)
    marks = dict(zip(sorted(frame.n_items.unique()), ("o", "s"), strict=True))
    kinds = frame.epsilon.fillna(math.inf)
    for epsilon, colour in zip(sorted(kinds.unique(), reverse=True), COLOURS, strict=False):
        for items, mark in marks.items():
            label = f"{'exact' if math.isinf(epsilon) else f'ε = {epsilon:g}'}, m = {items:,}"
            rows = frame[(kinds == epsilon) & (frame.n_items == items)]
            part = rows[rows.outcome == "traced"]
            left.errorbar(
                part.share, part["mean"], BAR * part.se, color=colour, marker=mark, lw=1.2, capsize=2, label=label
            )
            part = rows[rows.outcome == "wrong"]
            if not math.isinf(epsilon):
                right.errorbar(part.share, part["mean"], BAR * part.se, color=colour, marker=mark, lw=1.2, capsize=2)
    left.axhline(0.01, color=COLOURS[6], lw=0.8, ls=":")
    left.set(title="voters traced, 1 % false alarms", xlabel="n / √m", ylabel="share of the n voters", xscale="log")
    left.set_yscale("symlog", linthresh=0.01)
    left.set(ylim=(0, 1), yticks=[0, 0.01, 0.1, 1], yticklabels=["0", "1 %", "10 %", "100 %"])
    right.set(title="wrong signs beyond the majority's", xlabel="n / √m", ylabel="share of all d n signs", xscale="log")
    right.set_ylim(bottom=0)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
