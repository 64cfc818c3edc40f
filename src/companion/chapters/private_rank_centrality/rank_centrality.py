"""Qiao, Su and Zhang (2021), Section 3 up to Lemma 3.3: rank centrality, its walk, and how far one answer moves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import joblib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csgraph

from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import wilson
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.draws import binomial
from dprank.models.likelihood import mle_from_counts
from dprank.topk.spectral import ergodicity_coefficient, stationary_distribution, transition_matrix

#: Chains nearer than this in norm: differences of their laws are rounding.
NEAREST = 1e-6
#: Of the likelihood that is fitted beside rank centrality: small, so that it always has a maximum.
RIDGE = 0.01


def all_pairs(n: int) -> NDArray[np.int64]:
    """Edges of the complete graph, shape (pairs, 2)."""
    return np.array(list(combinations(range(n), 2)))


def even_shares(weights: ArrayLike, pairs: ArrayLike) -> NDArray[np.float64]:
    """Chance that the second item of each pair wins, equation (3.1)."""
    w = np.asarray(weights, float)[np.asarray(pairs)]
    return np.asarray(w[:, 1] / w.sum(1))


def printed_matrix(n: int, pairs: ArrayLike, shares: ArrayLike, d: float) -> NDArray[np.float64]:
    """Equation (3.2) to the letter, for any d: entries may be negative."""
    i, j = np.asarray(pairs).T
    matrix = np.zeros((n, n))
    matrix[i, j], matrix[j, i] = np.asarray(shares) / d, (1 - np.asarray(shares)) / d
    np.fill_diagonal(matrix, 1 - matrix.sum(1))
    return matrix


def connected(n: int, pairs: NDArray[np.int64]) -> bool:
    """Whether the comparison graph is connected."""
    return bool(csgraph.connected_components(printed_matrix(n, pairs, np.full(len(pairs), 0.5), n))[0] == 1)


@cache
def graph(n: int, probability: float) -> NDArray[np.int64]:
    """A connected Erdos-Renyi graph, always the same one."""
    return connected_graph(n, probability, stream("qiao2021 comparison graph", {"n": n, "p": probability}))


def connected_graph(n: int, probability: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """A random graph, drawn until it is connected."""
    every = all_pairs(n)
    while True:
        pairs = every[rng.random(len(every)) < probability]
        if connected(n, pairs):
            return pairs


def strengths(n: int) -> NDArray[np.float64]:
    """n strengths from 1 to 5, evenly spread, of sum 1."""
    omega = np.linspace(1, 5, n)
    return np.asarray(omega / omega.sum())


# --- equation (3.1): the model and its statistics --------------------------------------------------------------------


def conditional_gap(statistic: str, samples: int, weights: Sequence[ArrayLike]) -> float:
    """How much the law of all samples given a statistic depends on the strengths.

    Parameters
    ----------
    statistic : {"averages", "wins", "wins of all but one"}
        Per edge; per item; per item without the first two.
    samples : int
        L, a comparison of each of the three pairs of three items.
    weights : sequence of array_like
        Vectors of three strengths.

    Returns
    -------
    float
        Largest difference of a conditional probability; 0 says that the statistic is sufficient.
    """
    pairs = all_pairs(3)
    won = np.array(list(product((0, 1), repeat=3 * samples))).reshape(-1, 3, samples).sum(2)
    wins = np.zeros((len(won), 3), int)
    for column, (i, j) in enumerate(pairs):
        wins[:, j] += won[:, column]
        wins[:, i] += samples - won[:, column]
    values = {"averages": won, "wins": wins, "wins of all but one": wins[:, 2:]}[statistic]
    group = np.unique(values, axis=0, return_inverse=True)[1].ravel()
    laws = []
    for w in weights:
        p = even_shares(w, pairs)
        chance = (p**won * (1 - p) ** (samples - won)).prod(1)
        laws.append(chance / np.bincount(group, chance)[group])
    return float(np.ptp(laws, axis=0).max())


@claim("qiao2021:eq-3.1")
def check_model(samples: int = 2) -> Iterator[Check]:
    """Whether the averages y are sufficient, and whether less is."""
    weights = [[1, 1, 1], [1, 2, 5], [9, 1, 1]]
    form = f"3 items, L = {samples}, three ω: largest change of P(samples | "
    yield printed(f"{form}averages y)", conditional_gap("averages", samples, weights), "<=", ROUNDING)
    yield amended(f"{form}wins of each item)", conditional_gap("wins", samples, weights), "<=", ROUNDING)


# --- what a neighbour is ---------------------------------------------------------------------------------------------


def norm(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest absolute row sum, of one matrix or of a stack of them."""
    return np.asarray(np.abs(matrix).sum(-1).max(-1))


def replaced_sample(samples: int) -> float:
    """Most that one replaced sample moves P in the norm of the paper: three items, all data, d = 2."""
    pairs = all_pairs(3)
    worst = 0.0
    for won in product(range(samples + 1), repeat=3):
        here = printed_matrix(3, pairs, np.array(won) / samples, 2)
        for edge in range(3):
            if won[edge] < samples:
                other = np.array(won) + (np.arange(3) == edge)
                worst = max(worst, float(norm(printed_matrix(3, pairs, other / samples, 2) - here)))
    return worst


def added_sample(samples: int) -> float:
    """How far the first sample of a new edge moves P: three items, two edges with L samples each, d = 2."""
    pairs, shares = all_pairs(3), np.array([1.0, 0.0, 0.0])
    return float(norm(printed_matrix(3, pairs, shares, 2) - printed_matrix(3, pairs[:2], shares[:2], 2)))


@claim("qiao2021:sec-3:adjacency")
def check_adjacency(samples: int = 2) -> Iterator[Check]:
    """Whether one sample moves P by no more than 2 / (d L), the sensitivity that Theorem 3.5 builds on."""
    bound = 2 / (2 * samples)
    replaced, added = replaced_sample(samples), added_sample(samples)
    form = f"‖P̃ − P‖∞, 3 items, d = 2, L = {samples}"
    yield printed(f"{form}, worst case", replaced, "<=", bound + ROUNDING, reading="a sample is replaced")
    yield printed(f"{form}, a new edge", added, "<=", bound + ROUNDING, reading="a sample is added (Definition 1.1)")
    yield amended(f"{form}, one sample replaced, worst case", replaced, "==", bound, error=ROUNDING)


# --- equation (3.2): the transition matrix ---------------------------------------------------------------------------


def graphs(n: int) -> list[NDArray[np.int64]]:
    """All comparison graphs of n items with at least one edge."""
    pairs = all_pairs(n)
    masks = product((False, True), repeat=len(pairs))
    return [pairs[np.array(mask)] for mask in masks if any(mask)]


def rivals(n: int, pairs: NDArray[np.int64]) -> int:
    """Largest number of rivals of an item."""
    return int(np.bincount(pairs.ravel(), minlength=n).max())


def least_entry(n: int, pairs: NDArray[np.int64], factor: float) -> float:
    """Least entry of equation (3.2) with d = factor times the maximum degree, over all outcomes of single samples.

    Entries are linear in y, so that no other y does worse.
    """
    d = factor * rivals(n, pairs)
    return min(float(printed_matrix(n, pairs, y, d).min()) for y in product((0.0, 1.0), repeat=len(pairs)))


def transition_entries(factors: Iterable[float], n: int = 4) -> pd.DataFrame:
    """What d does to equation (3.2), over all graphs of n items and all outcomes.

    Returns
    -------
    pandas.DataFrame
        ``d over maximum degree``, ``least entry`` and ``graphs with a negative entry``, a share.
    """
    rows = []
    for factor in factors:
        least = np.array([least_entry(n, pairs, factor) for pairs in graphs(n)])
        shares = (least < -ROUNDING).mean()
        rows.append(
            {
                "d over maximum degree": factor,
                "least entry": least.min(),
                "graphs with a negative entry": shares,
            }
        )
    return pd.DataFrame(rows)


@claim("qiao2021:eq-3.2")
def check_transition() -> Iterator[Check]:
    """Whether equation (3.2) gives probabilities, and from which d on."""
    ceiling = 4
    frame = transition_entries([0.99, 1.0], ceiling)
    low, right = frame.iloc[0], frame.iloc[1]
    form = f"least entry of P, all graphs of {ceiling} items, all outcomes, d = maximum degree"
    yield printed(
        "least entry of P, 2 items, d = 1/2, one lost all comparisons", least_entry(2, all_pairs(2), 0.5), ">=", 0
    )
    yield printed("least entry of P, 3 items on a path, d = 1, worst outcome", least_entry(3, path(3), 0.5), ">=", 0)
    yield supplied(form, right["least entry"], ">=", -ROUNDING)
    yield amended(
        f"share of graphs of {ceiling} items where d = 0.99 maximum degree fails for some outcome",
        low["graphs with a negative entry"],
        "==",
        1,
    )


def degrees_within(n: int, steps: int = 2) -> NDArray[np.int64]:
    """Maximum degrees of all graphs of n items in which any two items are within so many steps.

    Farther than two apart, two rows of P share no column. O(2^(n (n - 1) / 2)).
    """
    i, j = all_pairs(n).T
    masks = np.arange(2 ** len(i))[:, None] >> np.arange(len(i)) & 1
    near = np.zeros((len(masks), n, n))
    near[:, i, j] = near[:, j, i] = masks
    degrees = near.sum(2).max(1).astype(int)
    reached = np.linalg.matrix_power(near + np.eye(n), steps)
    return degrees[(reached > 0).all((1, 2))]


def path(n: int) -> NDArray[np.int64]:
    """Edges of a path."""
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


def star(n: int) -> NDArray[np.int64]:
    """Edges of a star, the first item in the middle."""
    return np.column_stack([np.zeros(n - 1, int), np.arange(1, n)])


def cycle(n: int) -> NDArray[np.int64]:
    """Edges of a cycle."""
    return np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])


def petersen() -> NDArray[np.int64]:
    """Edges of the Petersen graph: ten items with three rivals each, any two of them within two steps."""
    ring = np.arange(5)
    inner = np.column_stack([5 + ring, 5 + (ring + 2) % 5])
    return np.vstack([cycle(5), np.column_stack([ring, ring + 5]), inner])


@claim("qiao2021:sec-3:d-grows")
def check_growth(sizes: Sequence[int] = (5, 50, 500), most: int = 6) -> Iterator[Check]:
    """Whether the maximum degree must grow with the number of items."""
    cycles = [rivals(n, cycle(n)) for n in sizes]
    slack = min(int((degrees_within(n) ** 2 + 1 - n).min()) for n in range(2, most + 1))
    tight = petersen()
    even = transition_matrix(10, tight, np.full(len(tight), 0.5))
    cycle_growth = f"maximum degree of a cycle of {sizes[-1]} items over that of {sizes[0]}"
    form = f"least of d² + 1 − m, d the maximum degree, all graphs of 2 to {most} items that may have τ₁ < 1"
    attained = "τ₁ of the Petersen graph, m = d² + 1 = 10, all shares 1/2"
    yield printed(cycle_growth, cycles[-1] / cycles[0], ">", 1)
    yield supplied(form, slack, ">=", 0)
    yield amended(attained, ergodicity_coefficient(even), "<", 1)


# --- Algorithm 2: the spectral method --------------------------------------------------------------------------------


def population_error(n: int, pairs: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Largest relative error of the stationary distribution when every share is its expectation."""
    law = stationary_distribution(transition_matrix(n, pairs, even_shares(weights, pairs)))
    return float(np.abs(law / weights - 1).max())


def laws_of(n: int, pairs: NDArray[np.int64], shares: ArrayLike) -> int:
    """Dimension of the space of stationary vectors."""
    chain = printed_matrix(n, pairs, shares, n)
    return int(n - np.linalg.matrix_rank(np.eye(n) - chain))


def estimation_draws(
    n: int, probability: float, samples: int, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """l1 errors of rank centrality and of maximum likelihood on the same data.

    Parameters
    ----------
    n : int
    probability : float
        Of an edge; the graph is fixed.
    samples : int
        L, comparisons of an edge.
    repetitions : int
    rng : numpy.random.Generator

    Returns
    -------
    dict
        (method,) -> draws; 2, the largest distance of two distributions, where the stationary one is not unique.
    """
    pairs, truth = graph(n, probability), strengths(n)
    i, j = pairs.T
    won = binomial(samples, even_shares(truth, pairs), (repetitions, len(pairs)), rng=rng)
    played = np.zeros((1, n, n))
    played[0, i, j] = played[0, j, i] = samples
    wins = won @ np.eye(n)[j] + (samples - won) @ np.eye(n)[i]
    theta, _ = mle_from_counts(played, wins, ridge=RIDGE)
    fitted = np.exp(theta - theta.max(1, keepdims=True))
    likely = np.abs(fitted / fitted.sum(1, keepdims=True) - truth).sum(1)
    central = np.full(repetitions, 2.0)
    for row, wins_of_second in enumerate(won):
        try:
            law = stationary_distribution(transition_matrix(n, pairs, wins_of_second / samples))
        except ValueError:
            continue
        central[row] = np.abs(law - truth).sum()
    return {("rank centrality",): central, ("maximum likelihood",): likely}


def estimation(
    samples: Iterable[int], repetitions: int, probabilities: Iterable[float] = (0.3, 1.0), n: int = 20, jobs: int = 1
) -> pd.DataFrame:
    """Error of both estimators against the number of comparisons of an edge.

    Returns
    -------
    pandas.DataFrame
        ``n``, ``probability``, ``samples``, ``method``, ``mean``, ``se``, ``repetitions``.
    """
    probabilities = list(probabilities)
    return sweep(
        estimation_draws,
        [{"n": n, "probability": float(p), "samples": int(L)} for p in probabilities for L in samples],
        experiment="qiao2021 rank centrality",
        repetitions=repetitions,
        outcomes=("method",),
        jobs=jobs,
    )


def log_covariances(
    n: int, pairs: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits of L times the covariance of centred log strengths: rank centrality, maximum likelihood.

    Parameters
    ----------
    n : int
    pairs : ndarray of int, shape (pairs, 2)
        Of a connected graph.
    weights : ndarray of float, shape (items,)
        Strengths of sum 1.

    Returns
    -------
    tuple of ndarray of float, shape (items, items)
        By the delta method; the second is the inverse of the Fisher information. O(items^3 + pairs * items^2).
    """
    i, j = pairs.T
    share = even_shares(weights, pairs)
    centre = np.eye(n) - 1 / n
    rates = np.eye(n) - printed_matrix(n, pairs, share, 1)
    # a share of pair (i, j) that is too high by one moves the law by (pi_i + pi_j) (row j - row i) of this inverse
    inverse = np.linalg.inv(rates + weights) - weights
    moves = (weights[i] + weights[j])[:, None] * (inverse[j] - inverse[i]) / weights @ centre
    step = centre[j] - centre[i]
    variance = (share * (1 - share))[:, None]
    return moves.T @ (variance * moves), np.linalg.pinv(step.T @ (variance * step), hermitian=True)


def efficiency(spreads: Iterable[float], n: int = 20) -> pd.DataFrame:
    """How much larger the mean squared error of log strengths is than that of maximum likelihood, as L grows.

    Parameters
    ----------
    spreads : iterable of float
        Strength of the best over that of the worst item; logarithms are evenly spread.
    n : int

    Returns
    -------
    pandas.DataFrame
        ``best over worst strength`` and a column for each graph.
    """
    shapes = {"a path": path(n), "p = 0.3": graph(n, 0.3), "every pair": all_pairs(n)}
    rows = []
    for spread in spreads:
        weights = np.geomspace(1, spread, n)
        # shuffled: a path that climbs would be a special case
        weights = stream("qiao2021 shuffled strengths", {"n": n}).permutation(weights / weights.sum())
        row: dict[str, float] = {"best over worst strength": spread}
        for name, pairs in shapes.items():
            central, likely = log_covariances(n, pairs, weights)
            row[name] = float(np.trace(central) / np.trace(likely))
        rows.append(row)
    return pd.DataFrame(rows)


def shape_draws(
    n: int, probability: float, samples: int, *, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """Which data leave rank centrality without an answer, or with zeros: 1 or 0, the cell as in `estimation_draws`."""
    pairs = graph(n, probability)
    won = binomial(samples, even_shares(strengths(n), pairs), (repetitions, len(pairs)), rng=rng)
    several, zeros = np.zeros(repetitions), np.zeros(repetitions)
    for row, wins in enumerate(won):
        try:
            law = stationary_distribution(transition_matrix(n, pairs, wins / samples))
        except ValueError:
            several[row] = 1
            continue
        zeros[row] = (law == 0).any()
    return {("no unique answer",): several, ("some entries 0",): zeros, ("all positive",): 1 - several - zeros}


def shapes(
    samples: Iterable[int], repetitions: int, probability: float = 0.3, n: int = 20, jobs: int = 1
) -> pd.DataFrame:
    """How often few comparisons suffice for rank centrality.

    Returns
    -------
    pandas.DataFrame
        ``L`` and a column for each kind of data: how often it came, with Wilson's interval of 95 %.
    """
    cells = [{"n": n, "probability": probability, "samples": int(L)} for L in samples]
    name = "qiao2021 shape of data"
    frame = sweep(shape_draws, cells, experiment=name, repetitions=repetitions, outcomes=("kind",), jobs=jobs)
    kinds, ranges = frame.kind.unique(), zip(frame["mean"], *wilson(frame["mean"], repetitions), strict=True)
    text = [f"{100 * mean:.0f} % ({100 * abs(low):.0f} to {100 * high:.0f})" for mean, low, high in ranges]
    wide = frame.assign(text=text).pivot(index="samples", columns="kind", values="text")[kinds]
    return wide.reset_index().rename(columns={"samples": "L"})


def undefeated(items: int, comparisons: int) -> float:
    """Expected number of equally strong items that lose none of the comparisons of random pairs.

    Each comparison is lost by one item, uniformly at random.
    """
    return items * (1 - 1 / items) ** comparisons


@claim("qiao2021:alg-2")
def check_spectral(frame: pd.DataFrame) -> Iterator[Check]:
    """Whether Algorithm 2 finds the strengths: with expected shares, and from samples."""
    apart = np.array([[0, 1], [2, 3]])
    weights = np.array([1, 2, 3, 4]) / 10
    forms = {
        "path": path(20),
        "star": star(20),
        "random": graph(20, 0.3),
        "complete": all_pairs(20),
    }
    errors = [population_error(20, pairs, strengths(20)) for pairs in forms.values()]
    unique = [(connected(4, pairs), laws_of(4, pairs, even_shares(weights, pairs)) == 1) for pairs in graphs(4)]
    yield printed(
        "independent stationary vectors, 4 items, two separate pairs, L → ∞",
        laws_of(4, apart, even_shares(weights, apart)),
        "==",
        1,
    )
    yield supplied(
        "relative error of π, L → ∞, path, star, random and complete graph of 20 items", max(errors), "<=", ROUNDING
    )
    central = frame[frame.method == "rank centrality"]
    for probability, part in central.groupby("probability", sort=False):
        few, many = part[part.samples == 16].iloc[0], part[part.samples == 256].iloc[0]
        gain, error = many["mean"] - few["mean"] / 2, Z * np.hypot(many.se, few.se / 2)
        what = f"l1 error at L = 256 less half of that at L = 16, 20 items, p = {probability:g}"
        yield supplied(what, gain, "<", 0, error=error)
    yield amended(
        "graphs of 4 items where a unique π and connectedness differ, L → ∞", sum(a != b for a, b in unique), "==", 0
    )
    three = stationary_distribution(transition_matrix(3, all_pairs(3), [0, 0, 0.5]))
    yield amended("π of an item that won all its comparisons, 3 items", three[0], "==", 1)


# --- small chains, exactly -------------------------------------------------------------------------------------------


def laws(chains: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Stationary distributions of a stack of small chains, and which are unique.

    By the Markov chain tree theorem: the weights are principal minors of I - P, and all vanish iff the law is not
    unique. O(chains * states^4).
    """
    n = chains.shape[-1]
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


@claim("qiao2021:def-3.1")
def check_coefficient(repetitions: int = 500) -> Iterator[Check]:
    """The supremum of the definition against half the largest distance of two rows."""
    rng = stream("qiao2021 ergodicity coefficient", {})
    excess, missed = 0.0, 0.0
    for n in range(2, 7):
        chain = random_chains(n, 1, rng)[0]
        tau = ergodicity_coefficient(chain)
        v = rng.normal(size=(repetitions, n)) ** 3
        v -= v.mean(1, keepdims=True)
        v /= np.abs(v).sum(1, keepdims=True)
        excess = max(excess, float(np.abs(v @ chain).sum(1).max()) - tau)
        i, j = all_pairs(n).T
        ends = np.abs(((np.eye(n)[i] - np.eye(n)[j]) / 2) @ chain).sum(1)
        missed = max(missed, abs(float(ends.max()) - tau))
    yield printed(
        "‖vᵀA‖₁ beyond half the largest distance of two rows, random v, 2 to 6 states", excess, "<=", ROUNDING
    )
    yield printed(
        "half the largest distance of two rows less the largest ‖vᵀA‖₁ over v = (e_i − e_j)/2", missed, "<=", ROUNDING
    )


# --- Definition 3.2: the condition number ----------------------------------------------------------------------------


def least_condition(chain: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Least kappa for changes of one chain in the largest entry, and a direction that attains it.

    Parameters
    ----------
    chain : ndarray of float, shape (states, states)
        With a unique stationary distribution.

    Returns
    -------
    kappa : float
        Half the largest spread in a column of the group inverse of I - P.
    direction : ndarray of float, shape (states,)
        To be added, times a small number, to every row.
    """
    n = len(chain)
    law = stationary_distribution(chain)
    inverse = np.linalg.inv(np.eye(n) - chain + law) - law
    column = int(np.ptp(inverse, axis=0).argmax())
    high, low = inverse[:, column].argmax(), inverse[:, column].argmin()
    return float(np.ptp(inverse[:, column]) / 2), np.eye(n)[high] - np.eye(n)[low]


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
    kappa, direction = least_condition(chain)
    attained = chain + chain.min() / 2 * direction
    others = np.concatenate([random_chains(n, repetitions, rng), attained[None]])
    ratio = float(moved(chain, others).max())
    allowed = [factor * kappa for factor in (0.5, 0.9, 1, 2, 10) if ratio <= factor * kappa * (1 + ROUNDING)]
    form = f"a chain of {n} states"
    yield printed(
        f"largest over smallest of the κ tried that satisfy the bound, {form}",
        max(allowed) / min(allowed),
        "==",
        1,
        reading="any κ that satisfies the bound",
    )
    yield printed(
        f"‖π − π̃‖∞ / ‖P − P̃‖∞ found, over the least κ, {form}",
        ratio / kappa,
        "==",
        1,
        reading="the least κ",
        error=ROUNDING,
    )
    yield amended(
        f"‖π − π̃‖∞ / ‖P − P̃‖∞ over the least κ, largest over {len(others)} chains", ratio / kappa, "<=", 1 + ROUNDING
    )


# --- after Definition 3.2: coefficient and rank ----------------------------------------------------------------------


@claim("qiao2021:sec-3:tau-rank-one")
def check_rank_one() -> Iterator[Check]:
    """Whether the coefficient is 1 for chains of rank one, and for these only."""
    even, still = np.full((2, 2), 0.5), np.eye(2)
    chains = grid_chains(3, 4)
    tau, rank = coefficients(chains), np.linalg.matrix_rank(chains, tol=1e-6)
    form = f"{len(chains)} chains of 3 states, probabilities in quarters"
    yield printed(f"largest τ₁, {form}", tau.max(), "<=", 1 + ROUNDING)
    yield printed(f"least τ₁, {form}", tau.min(), ">=", -ROUNDING)
    yield printed("τ₁ of two states with all probabilities 1/2, rank 1", ergodicity_coefficient(even), "==", 1)
    yield printed(
        f"rank of the identity of two states, where τ₁ = {ergodicity_coefficient(still):g}",
        np.linalg.matrix_rank(still),
        "==",
        1,
    )
    yield amended(f"largest τ₁ at rank 1, {form}", tau[rank == 1].max(), "<=", ROUNDING)
    yield amended(f"least τ₁ at rank 2 or 3, {form}", tau[rank > 1].min(), ">", ROUNDING)


# --- Lemma 3.3: how far the law moves --------------------------------------------------------------------------------


def movements(repetitions: int) -> pd.DataFrame:
    """Change of the law over the bound of Lemma 3.3, for pairs of chains: all of a grid, and random ones.

    Parameters
    ----------
    repetitions : int
        Random pairs for each number of states, of which those nearer than `NEAREST` are left out.

    Returns
    -------
    pandas.DataFrame
        ``chains``, ``pairs``, ``largest entry`` and ``sum``: the largest ratio in either norm; ``hard``: how many
        of the second chains have coefficient 1.
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
            best = np.maximum(best, _ratios(chains[at], law[at], tau[at], chains[unique], law[unique]))
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


def _ratios(
    chain: NDArray[np.float64],
    law: NDArray[np.float64],
    tau: float,
    others: NDArray[np.float64],
    other_laws: NDArray[np.float64],
) -> NDArray[np.float64]:
    distance = norm(others - chain)
    different = distance > ROUNDING
    slack = (1 - tau) / distance[different]
    change = np.abs(other_laws[different] - law)
    return np.array([(change.max(1) * slack).max(), (change.sum(1) * slack).max()])


@claim("qiao2021:lem-3.3")
def check_perturbation(frame: pd.DataFrame) -> Iterator[Check]:
    """Lemma 3.3 in the two norms that its words allow, and how sharp it is."""
    pairs, exact = int(frame.pairs.sum()), frame[frame.chains.str.startswith("2 states, prob")].iloc[0]
    form = f"over the bound, {pairs} pairs of chains"
    flip = flip_changes(2, 1.0, 10, stream("qiao2021 flipped comparisons", {"n": 2}))
    # laws of nearly equal chains are differenced: changes of about NEAREST, with ten digits of precision
    allowance = 1 + 1e-6
    yield printed(
        f"largest entry of π − π̃ {form}", frame["largest entry"].max(), "<=", allowance, reading="largest entry"
    )
    yield printed(f"sum of abs(π − π̃) {form}", frame["sum"].max(), "<=", allowance, reading="row sum, as for matrices")
    yield amended(f"largest entry of π − π̃ {form}", frame["largest entry"].max(), "<=", allowance / 2)
    yield amended("largest entry over the bound, 2 states, attained", exact["largest entry"], "==", 0.5, error=ROUNDING)
    yield amended("pairs of chains of 3 states whose second has τ₁ = 1", frame.hard.iloc[1], ">", 0)
    yield amended(
        "largest change by a flip over half the bound, 2 items, L = 10",
        flip["change"] / flip["halved"],
        "==",
        1,
        error=ROUNDING,
    )


def flip_changes(n: int, probability: float, samples: int, rng: np.random.Generator) -> dict[str, float]:
    """What one flipped comparison does to the law of random comparisons, beside the two bounds.

    Parameters
    ----------
    n : int
    probability : float
        Of an edge.
    samples : int
        L, comparisons of an edge.
    rng : numpy.random.Generator

    Returns
    -------
    dict
        ``change`` (the largest of an entry, over all single flips), ``printed`` and ``halved`` (the bound of Lemma 3.3
        for a flip, and half of it); infinite bounds where the coefficient is 1.
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

    Returns
    -------
    pandas.DataFrame
        ``probability``, ``quantity``, ``mean``, ``se``, ``repetitions`` (data whose coefficient is below 1).
    """
    drawn = joblib.Parallel(n_jobs=jobs)(joblib.delayed(flip_draws)(n, p, samples, repetitions) for p in probabilities)
    return pd.concat(drawn, ignore_index=True)


# --- figures ----------------------------------------------------------------------------------------------------------


METHODS: dict[str, dict[str, Any]] = {
    "rank centrality": {"color": COLOURS[0], "marker": "o"},
    "maximum likelihood": {"color": COLOURS[2], "marker": "D", "ls": "--"},
}


QUANTITIES: dict[str, tuple[str, dict[str, Any]]] = {
    "printed": ("Lemma 3.3 as printed", CALIBRATION["as printed"]),
    "halved": ("1/(dL(1 − τ₁))", CALIBRATION["corrected"]),
    "change": ("largest change", {"color": COLOURS[6], "marker": "^"}),
}


@styled
def draw_estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean l1 error of two estimators against the comparisons of each edge, a panel for each graph."""
    figure = Figure(figsize=(4.8, 5.8))
    graphs = list(frame.groupby("probability", sort=True))
    panels = figure.subplots(len(graphs), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (probability, part) in zip(panels, graphs, strict=True):
        for method, curve in part.groupby("method", sort=False):
            axes.errorbar(
                curve.samples, curve["mean"], BAR * curve.se, capsize=2, label=str(method), **METHODS[str(method)]
            )
        last = part[part.method == "rank centrality"].iloc[-1]
        axes.plot(
            part.samples,
            last["mean"] * (last.samples / part.samples) ** 0.5,
            color="black",
            lw=0.8,
            ls=":",
            label="1/√L",
        )
        axes.set(xscale="log", yscale="log", ylabel="ℓ1 error of π")
        axes.set_title("every pair" if probability == 1 else f"each pair with chance {probability:g}")
        ticks = sorted(part.samples.unique())
        axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
        axes.minorticks_off()
    panels[-1].set_xlabel("comparisons of every edge L")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def draw_flipped_comparison(frame: pd.DataFrame) -> Figure:
    """Effect of one flipped comparison on random data, and the two bounds on it, against the density of the graph."""
    figure = Figure(figsize=(4.8, 3.8))
    axes = figure.subplots()
    for quantity, (label, look) in QUANTITIES.items():
        part = frame[frame.quantity == quantity]
        axes.errorbar(part.probability, part["mean"], BAR * part.se, capsize=2, label=label, **look)
    axes.set(yscale="log", xlabel="probability of an edge", ylabel="m × change of an entry of π")
    figure.legend(loc="outside lower center", ncols=2)
    return figure
