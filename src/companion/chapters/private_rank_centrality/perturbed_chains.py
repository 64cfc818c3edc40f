"""Ergodicity coefficient, condition number, and how far a change of the chain moves its law (Lemma 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.private_rank_centrality.comparison_graphs import all_pairs, even_shares, norm, rivals, strengths
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, CALIBRATION, COLOURS, name_lines, panels, styled
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.draws import binomial
from dprank.topk.spectral import ergodicity_coefficient, stationary_distribution, transition_matrix

#: Chains nearer than this in norm: differences of their laws are rounding.
NEAREST = 1e-6


# --- small chains, exactly -------------------------------------------------------------------------------------------


def laws(chains: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Stationary distributions of a stack of small chains, and which are unique.

    By the Markov chain tree theorem: the weights are principal minors of I - P, and all vanish iff the law is not
    unique. O(chains * states^4).
    """
    *_, n = chains.shape
    kept = [np.delete(np.arange(n), state) for state in range(n)]
    generator = np.eye(n) - chains
    weights = np.stack([np.linalg.det(generator[..., keep[:, None], keep]) for keep in kept], -1)
    total = weights.sum(-1)
    unique = total > 1e-12
    return weights / np.where(unique, total, 1)[..., None], unique


def coefficients(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ergodicity coefficients of a stack of small chains."""
    return np.asarray(np.abs(chains[:, :, None] - chains[:, None]).sum(-1).max((-1, -2)) / 2)


def grid_chains(n: int, parts: int) -> NDArray[np.float64]:
    """All chains of n states whose probabilities are multiples of 1 / parts."""
    rows = np.array([row for row in product(range(parts + 1), repeat=n) if sum(row) == parts]) / parts
    return rows[np.array(list(product(range(len(rows)), repeat=n)))]


def random_chains(n: int, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Chains from nearly deterministic to nearly of rank one."""
    spread = 10 ** rng.uniform(-1.5, 1.5, (count, 1, 1))
    mixed = rng.gamma(spread, size=(count, n, n)) + 1e-12
    return np.asarray(mixed / mixed.sum(-1, keepdims=True))


# --- Definition 3.1: the ergodicity coefficient ----------------------------------------------------------------------


def differences(n: int) -> NDArray[np.float64]:
    """All (e_i - e_j) / 2, the corners of the vectors of sum 0 and l1 norm 1."""
    return np.array([np.eye(n)[i] - np.eye(n)[j] for i, j in permutations(range(n), 2)]) / 2


@claim("qiao2021:def-3.1")
def check_coefficient(sizes: Sequence[int] = (2, 3, 4, 5, 6), repetitions: int = 500) -> Iterator[Check]:
    """The supremum of the definition against half the largest distance of two rows."""
    rng = stream("qiao2021 ergodicity coefficient", {})
    inside, corners, single = [], [], []
    for n in sizes:
        (chain,) = random_chains(n, 1, rng)
        tau = ergodicity_coefficient(chain)
        v = rng.normal(size=(repetitions, n)) ** 3
        v -= v.mean(1, keepdims=True)
        ratios = np.abs(v @ chain).sum(1) / np.abs(v).sum(1)
        inside.append(ratios.max() - tau)
        corners.append(np.abs(differences(n) @ chain).sum(1).max() - tau)
        if n == 2:  # there is one direction only
            single = np.abs(ratios - tau)
    form = f"less half the largest distance of two rows, {min(sizes)} to {max(sizes)} states"
    yield printed(f"largest ‖vᵀA‖₁ / ‖v‖₁ of random v, {form}", max(inside), "<=", ROUNDING)
    yield printed(f"largest ‖vᵀA‖₁ over v = (e_i − e_j)/2, {form}, off 0", np.abs(corners).max(), "<=", ROUNDING)
    yield amended(f"‖vᵀA‖₁ / ‖v‖₁, any of {len(single)} v of two states, off τ₁", max(single), "==", 0, error=ROUNDING)


# --- Definition 3.2: the condition number ----------------------------------------------------------------------------


def least_condition(chain: NDArray[np.float64]) -> float:
    """Least kappa for changes of one chain in the largest entry, if its stationary distribution is unique.

    Half the largest spread in a column of the group inverse of I - P, here up to a number a column.
    """
    inverse = np.linalg.inv(np.eye(len(chain)) - chain + stationary_distribution(chain))
    return float(np.ptp(inverse, axis=0).max() / 2)


def moved(chain: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest change of an entry of the law over the change of the chain, for a stack of other chains."""
    law = stationary_distribution(chain)
    return np.asarray(np.abs(laws(others)[0] - law).max(-1) / norm(others - chain))


@claim("qiao2021:def-3.2")
def check_condition(n: int = 4, repetitions: int = 500) -> Iterator[Check]:
    """Whether the printed bound determines a number."""
    rng = stream("qiao2021 condition number", {"n": n})
    chain = random_chains(n, 50, rng)
    chain = chain[chain.min((1, 2)).argmax()]
    kappa = least_condition(chain)
    # a small multiple of one difference added to all rows moves the law in proportion
    towards = chain + chain.min() * differences(n)[:, None]
    others = np.concatenate([random_chains(n, repetitions, rng), towards])
    ratio = float(moved(chain, others).max())
    tried = [factor * kappa for factor in (0.5, 1, 2) if ratio <= factor * kappa * (1 + ROUNDING)]
    form = f"largest ‖π − π̃‖∞ / ‖P − P̃‖∞ over {len(others)} changes of a chain of {n} states"
    what = f"largest over smallest of the κ tried that satisfy the bound, a chain of {n} states"
    yield printed(what, max(tried) / min(tried), "==", 1, reading="any κ that satisfies the bound")
    yield printed(f"{form}, over the least κ", ratio / kappa, "==", 1, reading="the least κ", error=ROUNDING)
    yield amended("smallest of the κ tried that satisfy the bound, over the least κ", min(tried) / kappa, "==", 1)


# --- after Definition 3.2: coefficient and rank ----------------------------------------------------------------------


@claim("qiao2021:sec-3:tau-rank-one")
def check_rank_one() -> Iterator[Check]:
    """Whether the coefficient is 1 for chains of rank one, and for these only."""
    even, still, parts = np.full((2, 2), 0.5), np.eye(2), 4
    chains = grid_chains(3, parts)
    tau, rank = coefficients(chains), np.linalg.matrix_rank(chains, rtol=1e-9)
    form = f"{len(chains)} chains of 3 states, probabilities in quarters"
    of_one = f"rank of the identity of two states, where τ₁ = {ergodicity_coefficient(still):g}"
    yield argument(f"chains of 3 states, probabilities in quarters: {len(chains)}, or 15³", len(chains), "==", 15**3)
    yield printed(f"largest τ₁, {form}", tau.max(), "<=", 1 + ROUNDING)
    yield printed(f"least τ₁, {form}", tau.min(), ">=", -ROUNDING)
    yield printed("τ₁ of two states with all probabilities 1/2, rank 1", ergodicity_coefficient(even), "==", 1)
    yield printed(of_one, np.linalg.matrix_rank(still, rtol=1e-9), "==", 1)
    yield amended(f"chains of rank 1, {form}", (rank == 1).sum(), "==", 15)
    yield amended(f"largest τ₁ at rank 1, {form}", tau[rank == 1].max(), "<=", ROUNDING)
    # two different rows in quarters are at a distance of one half, at least
    yield amended(f"least τ₁ at rank 2 or 3, {form}", tau[rank > 1].min(), "==", 1 / parts, error=ROUNDING)
    yield amended(f"largest τ₁ at rank 2 or 3, {form}", tau[rank > 1].max(), "==", 1, error=ROUNDING)


# --- Lemma 3.3: how far the law moves --------------------------------------------------------------------------------


def movements(repetitions: int) -> pd.DataFrame:
    """Change of the law over the bound of Lemma 3.3, for pairs of chains: all of a grid, and random ones.

    ``chains``, ``pairs`` (random ones not nearer than `NEAREST`), ``largest entry`` and ``sum``: the largest ratio in
    either norm; ``hard``: how many of the second chains have coefficient 1.
    """
    rng = stream("qiao2021 perturbed chains", {})
    rows = []
    for n, parts in ((2, 8), (3, 2)):
        chains = grid_chains(n, parts)
        law, unique = laws(chains)
        tau = coefficients(chains)
        first = [at for at in range(len(chains)) if unique[at] and tau[at] < 1 - ROUNDING]
        best, hard = np.zeros(2), 0
        for at in first:
            distance = norm(chains[unique] - chains[at])
            other = distance > ROUNDING
            change = np.abs(law[unique][other] - law[at]) * ((1 - tau[at]) / distance[other])[:, None]
            best = np.maximum(best, [change.max(), change.sum(1).max()])
            hard += int((tau[unique] > 1 - ROUNDING).sum())
        many = len(first) * int(unique.sum())
        rows.append((f"{n} states, probabilities in steps of 1/{parts}, all pairs", many, *best, hard))
    for n in (2, 3, 5, 8):
        one, two = (random_chains(n, repetitions, rng) for _ in range(2))
        two = one + 10 ** rng.uniform(-6, 0, (repetitions, 1, 1)) * (two - one)
        (before, _), (after, _) = laws(one), laws(two)
        apart = norm(two - one) >= NEAREST
        slack = (1 - coefficients(one[apart])) / norm(two[apart] - one[apart])
        change = np.abs(after - before)[apart]
        hard = int((coefficients(two[apart]) > 1 - ROUNDING).sum())
        most = (change.max(1) * slack).max(), (change.sum(1) * slack).max()
        rows.append((f"{n} states, random", int(apart.sum()), *most, hard))
    return pd.DataFrame(rows, columns=["chains", "pairs", "largest entry", "sum", "hard"])


@claim("qiao2021:lem-3.3")
def check_perturbation(frame: pd.DataFrame) -> Iterator[Check]:
    """Lemma 3.3 in the two norms that its words allow, and how sharp it is."""
    pairs, exact = int(frame.pairs.sum()), frame[frame.chains.str.startswith("2 states, prob")].iloc[0]
    form = f"over the bound, {pairs} pairs of chains"
    flip = flip_changes(2, 1.0, 10, stream("qiao2021 flipped comparisons", {"n": 2}))
    # laws of nearly equal chains are differenced: changes of about NEAREST, with ten digits of precision
    allowance = 1 + 1e-6
    largest, both = frame["largest entry"].max(), frame["sum"].max()
    yield printed(f"largest entry of π − π̃ {form}", largest, "<=", allowance, reading="largest entry")
    yield printed(f"sum of abs(π − π̃) {form}", both, "<=", allowance, reading="row sum, as for matrices")
    yield amended(f"largest entry of π − π̃ {form}", largest, "<=", allowance / 2)
    yield amended("largest entry over the bound, 2 states, attained", exact["largest entry"], "==", 0.5, error=ROUNDING)
    yield amended("pairs of chains of 3 states whose second has τ₁ = 1", frame.hard.iloc[1], ">", 0)
    what = "largest change by a flip over half the bound, 2 items, L = 10"
    yield amended(what, flip["change"] / flip["halved"], "==", 1, error=ROUNDING)


def flip_changes(n: int, probability: float, samples: int, rng: np.random.Generator) -> dict[str, float]:
    """What one flipped comparison does to the law of random comparisons, beside the two bounds.

    ``change`` (the largest of an entry, over all single flips), ``printed`` and ``halved`` (the bound of Lemma 3.3 for
    a flip, and half of it); infinite bounds where the coefficient is 1.
    """
    pairs = all_pairs(n)
    pairs = pairs[rng.random(len(pairs)) < probability]
    won = binomial(samples, even_shares(strengths(n), pairs), rng=rng)
    chain = transition_matrix(n, pairs, won / samples)
    law, tau, d = stationary_distribution(chain), ergodicity_coefficient(chain), rivals(n, pairs)
    generator = np.eye(n) - chain.toarray()
    inverse = np.linalg.inv(generator + law) - law
    worst = 0.0
    for (i, j), wins in zip(pairs, won, strict=True):
        # j wins one more, or one less: both rows gain `step` in column j and lose it in column i
        for sign in (1, -1) if 0 < wins < samples else ((1,) if wins == 0 else (-1,)):
            step = sign / (d * samples)
            row = inverse[j] - inverse[i]
            # new law: pi + step (pi~_i + pi~_j) row
            mass = (law[i] + law[j]) / (1 - step * (row[i] + row[j]))
            worst = max(worst, float(np.abs(step * mass * row).max()))
    as_printed = 2 / (d * samples) / (1 - tau) if tau < 1 - ROUNDING else np.inf
    return {"change": worst, "printed": as_printed, "halved": as_printed / 2}


def flip_draws(n: int, probability: float, samples: int, repetitions: int) -> pd.DataFrame:
    """`flip_changes` of many data sets on one graph density, in units of 1 / n, those of coefficient 1 left out."""
    rng = stream("qiao2021 flipped comparisons", {"n": n, "p": probability, "L": samples})
    drawn = pd.DataFrame([flip_changes(n, probability, samples, rng) for _ in range(repetitions)]) * n
    drawn = drawn[np.isfinite(drawn.printed)]
    summary = {"mean": drawn.mean(), "se": drawn.sem(), "repetitions": len(drawn)}
    return pd.DataFrame(summary).rename_axis("quantity").reset_index().assign(probability=probability)


def flips(
    probabilities: Iterable[float], repetitions: int, n: int = 30, samples: int = 10, jobs: int = 1
) -> pd.DataFrame:
    """`flip_changes` over random data, in units of 1 / n.

    ``probability``, ``quantity``, ``mean``, ``se``, ``repetitions`` (data whose coefficient is below 1).
    """
    drawn = joblib.Parallel(n_jobs=jobs)(joblib.delayed(flip_draws)(n, p, samples, repetitions) for p in probabilities)
    return pd.concat(drawn, ignore_index=True)


QUANTITIES: dict[str, tuple[str, dict[str, Any]]] = {
    "printed": ("bound as printed", CALIBRATION["as printed"]),
    "halved": ("bound as corrected: half", CALIBRATION["corrected"]),
    "change": ("worst game, average", {"color": COLOURS[6], "marker": "^"}),
}


@styled
def draw_flipped_comparison(frame: pd.DataFrame) -> Figure:
    """Effect of one flipped comparison on random data, and the two bounds on it, against the density of the graph."""
    mean = frame.pivot(index="probability", columns="quantity", values="mean")
    ratio = mean.printed / mean.change
    times, at = int(ratio.min()), ratio.idxmin()
    message = f"The printed bound is at least {times} times what one game changes"
    figure, (axes,) = panels(message=message, height=3.0)
    for quantity, (label, look) in QUANTITIES.items():
        part = frame[frame.quantity == quantity]
        axes.errorbar(part.probability, part["mean"], BAR * part.se, capsize=2, label=label, **look)
    axes.set(yscale="log", xlabel="chance that a pair of players meets")
    axes.set_ylabel("change of a score by one game\nthat is reversed / mean score")
    ends = mean.loc[at, "change"], mean.loc[at, "printed"]
    to_marks = {"arrowstyle": "<->", "color": "0.3", "lw": 1, "shrinkA": 2, "shrinkB": 2}
    axes.annotate("", (at, ends[0]), (at, ends[1]), arrowprops=to_marks)
    said: dict[str, Any] = {"textcoords": "offset points", "ha": "right", "va": "center", "color": "0.3", "fontsize": 9}
    axes.annotate(f"{times} ×", (at, float(np.prod(ends)) ** 0.5), (-5, 0), **said)
    name_lines(axes, width=12)
    return figure
