"""Qiao, Su and Zhang (2021), Section 3: Definition 3.4, Algorithm 3, Theorem 3.5, and what the method is good for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.optimize import brentq

from companion.chapters.edge_privacy.simulations import strengths
from companion.chapters.private_rank_centrality.rank_centrality import (
    all_pairs,
    connected,
    connected_graph,
    cycle,
    graphs,
    norm,
    path,
    star,
)
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, COLOURS, styled
from companion.instruments.sweep import sweep
from companion.instruments.topk import DELTA, EPSILON, printed_scale
from companion.instruments.uniformity import wilson
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.qiao2021 import theorem_3_5
from dprank.audit.exact import privacy_loss
from dprank.models.bradley_terry import win_probabilities
from dprank.models.draws import binomial
from dprank.models.likelihood import mle_from_counts
from dprank.pairwise import NoisyCounts
from dprank.pairwise.rank_law import top_set_law
from dprank.privacy.divergence import PairLaw
from dprank.topk.bound import log_delta
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


# --- all data on a graph ---------------------------------------------------------------------------------------------


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
    """All data on one of `GRAPHS`.

    Parameters
    ----------
    graph : str
    samples : int
        Comparisons of every edge; there are (samples + 1)^edges data sets.
    d : float, optional
        The largest degree by default.
    """
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

    Parameters
    ----------
    cases : iterable of (str, int)
        Of `GRAPHS`, with the number of samples of an edge.

    Returns
    -------
    pandas.DataFrame
        ``graph``, ``samples``, ``data sets``, ``largest tau``; ``printed`` is s of Theorem 3.5 at that tau;
        ``pi``, ``damped`` and ``relative`` are half ranges of the change of pi, of (1 - tau) pi and of
        (1 - tau) pi / max pi;
        ``one valid rho`` that of (1 - tau) pi, tau the smaller coefficient of the two data sets; ``not unique`` counts
        data sets with tau below 1 and several stationary distributions, or with a neighbour that has several.
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
                "relative": half_range(data.scores(True)[a] - data.scores(True)[b]).max() / data.unit,
                "not unique": int((~both & (smaller < 1)).sum() + (~unique & (data.tau < 1)).sum()),
            }
        )
    return pd.DataFrame(rows)


def perturbation_ratios(cases: Iterable[tuple[str, int]]) -> pd.DataFrame:
    """Largest ratio of the two sides of Lemma 3.3 over all pairs of data sets, neighbours or not, on a small graph.

    Parameters
    ----------
    cases : iterable of (str, int)
        Of `GRAPHS`, with the number of samples of an edge.

    Returns
    -------
    pandas.DataFrame
        ``graph``, ``samples``, ``pairs``; ``largest`` and ``sum``: (1 - tau) times the change of pi in its largest
        entry and in the sum of absolute entries, over the largest absolute row sum of the change of P.
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
            {
                "graph": graph,
                "samples": samples,
                "pairs": len(a),
                "largest": moved.max(),
                "sum": moved.sum(1).max(),
            }
        )
    return pd.DataFrame(rows)


def incomplete_graphs(most: int) -> pd.DataFrame:
    """Every connected graph of at most so many items that lacks a pair: the largest tau over its data, one sample each.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``edges``, ``largest tau``.
    """
    rows = []
    for n_items in range(3, most + 1):
        every = all_pairs(n_items).tolist()
        for pairs in graphs(n_items):
            if len(pairs) < len(every) and connected(n_items, pairs):
                # two items that were not compared may have beaten all their rivals
                winners = next(pair for pair in every if pair not in pairs.tolist())
                chain = transition_matrix(n_items, pairs, 1.0 - np.isin(pairs[:, 0], winners))
                rows.append({"items": n_items, "edges": len(pairs), "largest tau": ergodicity_coefficient(chain)})
    return pd.DataFrame(rows)


# --- random comparison graphs ----------------------------------------------------------------------------------------


def threshold(n_items: int, samples: int = 0) -> float:
    """Edge probability from which on a random graph of equal items is expected to have a coefficient below 1.

    Two items need a rival that beat both at least once: sqrt(2 log m / m) for all their chances (samples = 0, the
    chain of the model), and 1 - 2^-samples below that for samples of an edge.
    """
    return math.sqrt(2 * math.log(n_items) / n_items) / (1 - 0.5**samples if samples else 1.0)


def constrained_draws(
    n_items: int, p: float, samples: int, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """1 where the ergodicity coefficient of a random graph of equal items is below 1.

    Parameters
    ----------
    n_items : int
    p : float
        Chance of an edge.
    samples : int
        Of every edge; 0 for the chain of the model.
    repetitions : int
    rng : numpy.random.Generator

    Notes
    -----
    Rows of the chain overlap if the two items were compared or some rival beat both: one matrix product a replicate.
    """
    out = np.empty(repetitions)
    i, j = np.triu_indices(n_items, 1)
    for r in range(repetitions):
        edge = rng.random(len(i)) < p
        won = binomial(samples, 0.5, len(i), rng=rng) if samples else np.ones(len(i))
        lost, near = np.zeros((n_items, n_items), np.float32), np.eye(n_items, dtype=np.float32)
        lost[i, j], lost[j, i] = edge & (won > 0), edge & (won < samples if samples else True)
        near[i, j] = near[j, i] = edge
        out[r] = ((lost @ lost.T + near) > 0).all()
    return out


def constrained(sizes: Sequence[int], factors: Sequence[float], repetitions: int, jobs: int = 1) -> pd.DataFrame:
    """How often a random graph has a coefficient below 1, around the threshold of the model's chain.

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``samples`` (0 for the model's chain, 1), ``p``, ``mean`` and Wilson's ``low`` and ``high`` (95 %);
        ``threshold`` of the coefficient, and ``connected``, log m / m.
    """
    cells = [
        {"n_items": int(m), "p": round(min(1.0, factor * threshold(m, samples)), 4), "samples": samples}
        for m in sizes
        for samples in (0, 1)
        for factor in factors
    ]
    frame = sweep(constrained_draws, cells, experiment="qiao2021 constrained", repetitions=repetitions, jobs=jobs)
    low, high = wilson(frame["mean"], repetitions)
    return frame.assign(
        low=low,
        high=high,
        threshold=[threshold(m, L) for m, L in zip(frame.n_items, frame.samples, strict=True)],
        connected=np.log(frame.n_items) / frame.n_items,
    )


def constrained_at_most(n_items: int, p: float) -> float:
    """Bound on the chance that all items are within two edges of each other: expected number within two of one item."""
    return min(1.0, (1 + n_items * p + (n_items * p) ** 2) / n_items)


def unconstrained_at_most(n_items: int, p: float, samples: int = 0) -> float:
    """Bound on the chance that the coefficient is 1: expected number of pairs that share nothing.

    The model's own chain for any strengths (samples = 0), or that of so many samples an edge of equal items.
    """
    shared = (p * (1 - 0.5**samples if samples else 1.0)) ** 2
    return min(1.0, math.comb(n_items, 2) * (1 - p) * (1 - shared) ** (n_items - 2))


# --- privacy of Algorithm 3 ------------------------------------------------------------------------------------------


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

    Parameters
    ----------
    moved : float
        Half range of the change of the shares, in units of the printed s.
    sizes : iterable of int
        Numbers of items m; k runs over a grid from 1 to m - 1.
    """
    worst = 0.0
    for m, epsilon, delta in product(sizes, (EPSILON, EPSILON / 20), (DELTA, 1e-6, 1e-12)):
        for k in np.unique(np.geomspace(1, m - 1, 12).astype(int)):
            shift = moved / printed_scale(k, epsilon, delta, m)
            if 2 * min(k, m - k) * shift > epsilon:
                worst = max(worst, math.exp(log_delta(int(k), shift, epsilon, m) - math.log(delta)))
    return worst


def public_gap(n_items: int) -> float:
    """1 - tau of the model's chain for equal items, all pairs compared and d = m - 1."""
    return n_items / (2 * (n_items - 1))


def model_rho_scores(n_items: int, samples: int, wins: int) -> tuple[NDArray[np.float64], float]:
    """Shares where two items beat all others and one of them won `wins` of their games; noise from the model's tau.

    Returns
    -------
    scores : ndarray of float, shape (items,)
    scale : float
        That Theorem 3.5 prints for k = 1 at the coefficient of equal items.
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


# --- what it is good for ---------------------------------------------------------------------------------------------

#: Methods of `recall`, in the order of the legend.
METHODS = (
    "no noise",
    "win counts, then the model",
    "win counts over degrees",
    "noise on every edge",
    "chain, relative",
    "chain, relative, teleport",
    "chain, as printed",
)
#: Of the likelihood fitted to noisy counts: a public number; from 1 to 30 it hardly matters.
COUNT_RIDGE = 10.0


def recall_draws(
    n_items: int,
    k: int,
    p: float,
    samples: int,
    epsilon: float,
    delta: float,
    teleport: float,
    repetitions: int,
    rng: np.random.Generator,
) -> dict[tuple[str], NDArray[np.float64]]:
    """Part of the true top k that is found, at equal privacy of one sample and on the same data.

    Parameters
    ----------
    n_items, k : int
    p : float
        Chance of an edge of the public graph, which is drawn until it is connected.
    samples : int
        Of every edge.
    epsilon, delta : float
        Only the printed noise, and at large k our chains, spend the delta.
    teleport : float
        Of the method with teleport.
    repetitions : int
    rng : numpy.random.Generator
    """
    found: dict[tuple[str], list[float]] = {(method,): [] for method in METHODS}
    for _ in range(repetitions):
        theta = strengths(n_items, rng=rng, strong=k)[0]
        pairs = connected_graph(n_items, p, rng)
        degree = np.bincount(pairs.ravel(), minlength=n_items)
        second = binomial(samples, win_probabilities(theta)[pairs[:, 1], pairs[:, 0]], rng=rng)
        shares = second / samples
        wins = np.bincount(pairs[:, 1], second, n_items) + np.bincount(pairs[:, 0], samples - second, n_items)
        counts = NoisyCounts.calibrated(epsilon=epsilon, n_items=n_items, unit="comparison", score="wins", ties=False)
        played = np.zeros((1, n_items, n_items))
        played[0, pairs[:, 0], pairs[:, 1]] = played[0, pairs[:, 1], pairs[:, 0]] = samples
        noisy_wins = counts.perturb(wins, rng)
        fitted, _ = mle_from_counts(played, noisy_wins[None], ridge=COUNT_RIDGE)
        noisy = shares + rng.laplace(0, 1 / (samples * epsilon), len(pairs))
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        asked |= {"n_items": n_items, "k": k, "samples": samples, "pairs": pairs}
        chains = {
            "chain, relative": PrivateRankCentrality.calibrated(**asked),
            "chain, relative, teleport": PrivateRankCentrality.calibrated(teleport=teleport, damped=False, **asked),
            "chain, as printed": theorem_3_5(**asked).mechanism,
        }
        chosen = {
            "no noise": _top(_inside(pairs, shares, samples, n_items), k),
            "noise on every edge": _top(_inside(pairs, noisy, samples, n_items), k),
            "win counts, then the model": _top(fitted[0], k),
            "win counts over degrees": _top(noisy_wins / degree, k),
        } | {name: chain.select(shares, rng).items for name, chain in chains.items()}
        for name, items in chosen.items():
            found[name,].append(float((items < k).mean()))
    return {key: np.array(values) for key, values in found.items()}


def _top(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    return np.argpartition(-scores, k)[:k]


def _inside(pairs: NDArray[np.int64], shares: NDArray[np.float64], samples: int, n_items: int) -> NDArray[np.float64]:
    """Rank centrality of shares kept away from 0 and 1 by what one more win for either side would do."""
    edge = 1 / (samples + 2)
    return stationary_distribution(transition_matrix(n_items, pairs, np.clip(shares, edge, 1 - edge)))


def recall(
    densities: Sequence[float],
    samples: Sequence[int],
    repetitions: int,
    *,
    n_items: int = 50,
    k: int = 5,
    epsilon: float = EPSILON,
    delta: float = 1e-6,
    teleport: float = 0.5,
    jobs: int = 1,
) -> pd.DataFrame:
    """`recall_draws` over graphs and numbers of samples.

    Returns
    -------
    pandas.DataFrame
        ``p``, ``samples``, ``method``, ``mean``, ``se``; ``blind``, what a set drawn uniformly finds.
    """
    fixed: dict[str, Any] = {"n_items": n_items, "k": k, "epsilon": epsilon, "delta": delta, "teleport": teleport}
    frame = sweep(
        partial(recall_draws, **fixed),
        [{"p": float(p), "samples": int(count)} for p in densities for count in samples],
        experiment="qiao2021 recall",
        repetitions=repetitions,
        outcomes=("method",),
        jobs=jobs,
    )
    return frame.assign(blind=k / n_items)


def noise_quantile(n_items: int, k: int) -> float:
    """Gap, in noise scales, at which Laplace noise leaves k of n_items values on top with chance one half.

    The k lie above by the gap, and all others are equal: the least of k noisy values exceeds the largest of the rest.
    """
    nodes = (np.arange(10_000) + 0.5) / 10_000
    largest = stats.laplace.ppf(nodes ** (1 / (n_items - k)))
    return float(brentq(lambda t: (stats.laplace.sf(largest - t) ** k).mean() - 0.5, 0, 100))


def least_samples(
    cases: Iterable[tuple[int, int]], *, weak: float = 0.45, epsilon: float = EPSILON, delta: float = 1e-6
) -> pd.DataFrame:
    """Comparisons of every edge from which on the noise alone leaves the top k in place with chance one half.

    Parameters
    ----------
    cases : iterable of (int, int)
        Numbers of items m, and of those wanted, k; all pairs are compared. The k have strength 1, all others `weak`.
    weak : float
    epsilon, delta : float

    Returns
    -------
    pandas.DataFrame
        ``m``, ``k``, a column for each method; "least noise" has the scores of Algorithm 3, and our noise.

    Notes
    -----
    With the exact scores of the model, so that L = (noise scale times L) t / gap, t from `noise_quantile`.
    """
    rows = []
    for m, k in cases:
        t, chance = noise_quantile(m, k), _chances(m, k, weak)
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "n_items": m, "k": k, "samples": 1}
        as_printed = theorem_3_5(**asked).mechanism
        least = PrivateRankCentrality.calibrated(relative=False, **asked)
        relative = PrivateRankCentrality.calibrated(**asked)
        shares = chance.T[as_printed.edges[:, 0], as_printed.edges[:, 1]]
        survey = NoisyCounts.calibrated(epsilon=epsilon, n_items=m, unit="comparison", score="wins", ties=False)
        counts = survey.scale
        row: dict[str, float] = {"m": m, "k": k}
        for name, scale, scores in (
            ("win counts", counts, chance.sum(1)),
            ("chain, relative", relative.scale, relative.scores(shares)),
            ("chain, least noise", least.scale, least.scores(shares)),
            ("chain, as printed", as_printed.scale, as_printed.scores(shares)),
        ):
            row[name] = t * scale / (scores[k - 1] - scores[k])
        rows.append(row)
    return pd.DataFrame(rows).astype({"m": int, "k": int})


def _chances(n_items: int, k: int, weak: float) -> NDArray[np.float64]:
    """Chance that one item beats another, the first k of strength 1 and all others weak; 0 against itself."""
    chance = win_probabilities(np.log(np.r_[np.ones(k), np.full(n_items - k, weak)]))
    np.fill_diagonal(chance, 0)
    return chance


def teleport_noise(teleports: Iterable[float], n_items: int = 50, k: int = 5, weak: float = 0.45) -> pd.DataFrame:
    """Noise over gap of pi over its largest entry, damped or with public teleport, in units of that of win counts.

    Returns
    -------
    pandas.DataFrame
        ``scores``, ``noise / gap, win counts = 1``; all pairs compared, both selections may move in any direction.
    """
    chance = _chances(n_items, k, weak)
    wins = chance.sum(1)
    ways: list[tuple[str, dict[str, Any]]] = [("damped by 1 − τ₁ of the data, no teleport", {})]
    ways += [(f"undamped, teleport {g:g}", {"teleport": float(g), "damped": False}) for g in teleports]
    rows = []
    for name, way in ways:
        chain = PrivateRankCentrality(n_items, k, 1, 1.0, **way)
        scores = chain.scores(chance.T[chain.edges[:, 0], chain.edges[:, 1]])
        ratio = chain.sensitivity / (scores[k - 1] - scores[k]) * (wins[k - 1] - wins[k])
        rows.append({"scores": name, "noise / gap, win counts = 1": ratio})
    return pd.DataFrame(rows)


# --- checks ----------------------------------------------------------------------------------------------------------


@claim("qiao2021:def-3.4")
def check_constrained_graph(graphs: pd.DataFrame, found: pd.DataFrame) -> Iterator[Check]:
    """Definition 3.4 as a property of the graph alone, or of its answers too."""
    complete_ones = found[
        found.graph.isin([name for name, (m, pairs) in GRAPHS.items() if len(pairs) == math.comb(m, 2)])
    ]
    degree = complete_ones.graph.map({name: m - 1 for name, (m, _) in GRAPHS.items()})
    yield printed(
        f"largest τ₁ over the answers, least of the {len(graphs)} connected graphs of 3 to "
        f"{graphs['items'].max()} items that lack a pair",
        graphs["largest tau"].min(),
        "<",
        1,
        reading="ρ belongs to the graph, whatever the answers",
    )
    yield printed(
        f"data sets with τ₁ < 1 that have, or whose neighbour has, several stationary distributions, "
        f"all {found['data sets'].sum():,} data sets on {found.graph.nunique()} graphs",
        found["not unique"].sum(),
        "==",
        0,
        reading="ρ belongs to the graph and its answers",
    )
    yield amended(
        "distance of the largest τ₁ over the answers from 1 − 1/d, graphs with all pairs",
        float((complete_ones["largest tau"] - (1 - 1 / degree)).abs().max()),
        "==",
        0,
        error=ROUNDING,
    )


@claim("qiao2021:def-3.4:random-graph")
def check_random_graph(n_items: int = 10_000, margin: float = 1.2) -> Iterator[Check]:
    """Erdos-Renyi comparison graphs and Definition 3.4: first-moment bounds on the chance of a coefficient below 1."""

    def between(low: float, high: float, p: float, note: str, bound: float, about: str = "printed") -> Check:
        what = f"chance that τ₁ < 1, m = {n_items:,}, p = {p:.4f} ({note})"
        return Check(what, (low + high) / 2, ">=", bound, about=about, error=(high - low) / 2)

    thin, dense, once = 2 * math.log(n_items) / n_items, margin * threshold(n_items), margin * threshold(n_items, 1)
    model = 1 - unconstrained_at_most(n_items, dense)
    one = 1 - unconstrained_at_most(n_items, once, 1)
    above, twice = f"model's chain, {margin:g} √(2 log m/m)", f"L = 1, {2 * margin:g} √(2 log m/m), equal items"
    yield between(0, constrained_at_most(n_items, thin), thin, "twice the threshold of being connected", 0.5)
    yield between(model, 1, dense, above, 0.5, "supplied")
    yield between(model, 1, dense, above, 0.99, "corrected")
    yield between(one, 1, once, twice, 0.99, "corrected")


@claim("qiao2021:sec-3:map-sensitivity")
def check_map_sensitivity(ratios: pd.DataFrame) -> Iterator[Check]:
    """The sentence after Definition 3.4, from `perturbation_ratios`."""
    where = f"largest of all {ratios.pairs.sum():,} pairs of data sets on {ratios.graph.nunique()} graphs"
    yield printed(f"(1 − τ₁)‖π − π̃‖∞ / ‖P − P̃‖∞, {where}", ratios["largest"].max(), "<=", 1)
    yield printed(f"(1 − τ₁)‖π − π̃‖₁ / ‖P − P̃‖∞, {where}", ratios["sum"].max() - ROUNDING, "<=", 1)
    yield amended(f"(1 − τ₁)‖π − π̃‖∞ / ‖P − P̃‖∞, {where}", ratios["largest"].max() - ROUNDING, "<=", 0.5)


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
    yield printed(
        f"largest change in the chance of a refusal between neighbours, path of 3 items, L = 1 ({refused} pairs)",
        float(refused > 0),
        "<=",
        DELTA,
        reading="data with τ₁ = 1 are refused",
    )
    yield printed(
        f"{where}, printed noise", as_printed, "<=", EPSILON, reading="data with τ₁ = 1 get a set drawn uniformly"
    )
    yield amended(f"{where}, our least noise for (ε, 0)", least, "<=", EPSILON)


@claim("qiao2021:thm-3.5")
def check_theorem(found: pd.DataFrame, sizes: Sequence[int], samples: int = 1000) -> Iterator[Check]:
    """Theorem 3.5 under its three readings of rho, from `sensitivities`."""
    grid = f"m = {sizes[0]} … {sizes[-1]:,}, k = 1 … m − 1, ε ≤ {EPSILON:g}, δ ≤ {DELTA:g}"
    enumerated = f"all {found['data sets'].sum():,} data sets on {found.graph.nunique()} graphs"
    one, own, model = (
        "ρ bounds τ₁ of one of the two data sets",
        "ρ is τ₁ of the data, only the set is released",
        "ρ bounds τ₁ of the model's chain",
    )
    items = smallest_model_refutation()
    exact = model_rho_delta(items, samples)
    yield printed(
        f"half the range of the change of π, over printed s, {enumerated}",
        found["one valid rho"].max() / 2,
        "<=",
        1,
        reading=one,
    )
    yield printed(
        f"δ(ε) proved over δ, printed noise, π moving by s/2, {grid}", largest_delta(0.5, sizes), "<=", 1, reading=one
    )
    yield printed(
        f"half the range of the change of (1 − τ₁)π, over (1 − τ₁) times printed s, {enumerated}",
        found.damped.max() / 2,
        "<=",
        1,
        reading=own,
    )
    yield printed(
        f"δ(ε) proved over δ, printed noise, (1 − τ₁)π moving by 3(1 − τ₁)s/4, {grid}",
        largest_delta(0.75, sizes),
        "<=",
        1,
        reading=own,
    )
    yield printed(
        f"exact δ at ε = {EPSILON:g}: {items} items, k = 1, L = {samples} and {samples + 1}, two beat all others",
        exact,
        "<=",
        DELTA,
        reading=model,
    )
    yield amended(
        f"half the range of the change of (1 − τ₁)π in units of 1/(dL), {enumerated}",
        found.damped.max() - ROUNDING,
        "<=",
        1.5,
    )
    yield amended(
        f"half the range of the change of (1 − τ₁)π/max π in units of 1/(dL), {enumerated}",
        found.relative.max() - ROUNDING,
        "<=",
        3.5,
    )


# --- figures ----------------------------------------------------------------------------------------------------------


_COUNTS, _CHAIN = COLOURS[2], COLOURS[0]


_LOOKS: dict[str, dict[str, Any]] = {
    "no noise": {"color": COLOURS[6], "ls": ":"},
    "win counts, then the model": {"color": _COUNTS, "marker": "D"},
    "win counts over degrees": {"color": _COUNTS, "marker": "D", "ls": "--", "mfc": "none"},
    "noise on every edge": {"color": COLOURS[3], "marker": "^"},
    "chain, relative": {"color": _CHAIN, "marker": "o"},
    "chain, relative, teleport": {"color": _CHAIN, "marker": "o", "ls": "--", "mfc": "none"},
    "chain, as printed": {"color": COLOURS[1], "marker": "s"},
}


@styled
def draw_constrained(frame: pd.DataFrame) -> Figure:
    """Fraction of random graphs with a coefficient below 1 against the edge probability."""
    figure = Figure(figsize=(4.8, 5.4))
    titles = {0: "expected shares, L = ∞", 1: "one comparison of every edge, L = 1"}
    for axes, (samples, title) in zip(figure.subplots(2, 1, sharex=True), titles.items(), strict=True):
        for number, (size, part) in enumerate(frame[frame.samples == samples].sort_values("p").groupby("n_items")):
            off = [part["mean"] - part.low, part.high - part["mean"]]
            colour = COLOURS[number]
            axes.errorbar(
                part.p, part["mean"], [x.clip(lower=0) for x in off], color=colour, marker="o", label=f"m = {size}"
            )
            axes.axvline(part.threshold.iloc[0], color=colour, lw=1, ls="--")
            axes.axvline(part.connected.iloc[0], color=colour, lw=1, ls=":")
        axes.set(title=title, ylabel="fraction with τ₁ < 1", xlim=(0, 1.02), ylim=(-0.03, 1.03))
    figure.axes[-1].set_xlabel("chance p of an edge")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


@styled
def draw_recall(frame: pd.DataFrame) -> Figure:
    """Fraction of the true top k found against L, the comparisons of an edge, one panel a graph density."""
    densities = sorted(frame.p.unique(), reverse=True)
    figure = Figure(figsize=(4.8, 1.2 + 2.3 * len(densities)))
    panels = figure.subplots(len(densities), 1, sharex=True, squeeze=False)[:, 0]
    for axes, p in zip(panels, densities, strict=True):
        for number, (method, look) in enumerate(_LOOKS.items()):
            part = frame[(frame.p == p) & (frame.method == method)].sort_values("samples")
            beside = part.samples * 1.05 ** (number - len(_LOOKS) // 2)
            axes.errorbar(beside, part["mean"], BAR * part.se, label=method, lw=1.2, **look)
        axes.axhline(frame.blind.iloc[0], color="grey", lw=0.8, ls="-.", label="a set drawn uniformly")
        axes.set(xscale="log", title=f"p = {p:g}", ylabel="fraction found", ylim=(-0.03, 1.05))
    panels[-1].set_xlabel("comparisons of every edge L")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8.5)
    return figure
