"""Other packages at the arena's questions and the arena's privacy: one person replaced, epsilon and delta the same.

None of them ranks privately. What they have is a selection that is private (OpenDP, diffprivlib), noise (OpenDP), and
estimators or rules of consensus for exact counts (choix, corankco, pref_voting). So three ways lead to an answer:

Top k: a count moves by 1 at most where a person is replaced, in any direction, so the metric is the largest move, not
monotonic. OpenDP has k rounds in one call; diffprivlib has one round, and an accountant that says what each of k may
cost.

Pairs: of i < j the votes for i, all the data there is of comparisons whose graph is public, and of ballots. A person
moves so many of them, each by so much (`Pairs`); OpenDP adds noise, and a package that knows nothing of privacy does
the rest.

Orders: all of them listed, for few items, and one drawn by how many votes disagree. A person moves that by all that he
moves in pairs, and by no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from companion.chapters.which_method.populations import Answers
from dprank.privacy.noise import Source, best_first

__all__ = ["LISTED", "Pairs", "Peer", "installed", "pairs_of", "peers"]

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]
Heat = Mapping[str, Any]
Draw = Callable[[Any, Source], NDArray[np.int64]]

#: Items up to which all orders are listed; up to which corankco is asked, whose time grows with pairs and ballots.
LISTED, MERGED = 5, 20
#: What choix adds to every count, which it needs where a count is 0: 0.01 to 10 lose the same on the arena's people.
ALPHA = 0.1
#: Ballots of two items that corankco is given for the widest margin.
WIDEST = 10


class _Answer(NamedTuple):
    """Where the arena looks: for an order of items, or for those that are chosen."""

    order: NDArray[np.int64]
    items: NDArray[np.int64]


@dataclass(frozen=True)
class Peer:
    """A call of other packages, with the `release` that the arena's mechanisms have.

    `draw` returns items, best first. Whoever is not `seeded` draws from the operating system, whatever the generator.
    """

    name: str
    packages: tuple[str, ...]
    draw: Draw
    seeded: bool = False

    def release(self, data: Any, rng: Source) -> _Answer:
        items = self.draw(data, rng)
        return _Answer(items, items)


class Pairs(NamedTuple):
    """Of pairs i < j, row by row: votes for i, and votes in all, which are public; and what a person may move.

    He moves `most` of the pairs, each by `step`.
    """

    votes: Counts
    total: Counts
    step: int
    most: int

    @property
    def moved(self) -> int:
        """Sum of all moves."""
        return self.step * self.most


def pairs_of(heat: Heat, data: Any) -> Pairs:
    """The pairs of comparisons, in halves of a win, since ties are; or of ballots."""
    upper = np.triu_indices(heat["items"], 1)
    if isinstance(data, Answers):
        return Pairs((2 * data.wins + data.ties)[upper], (2 * data.played).astype(np.int64)[upper], 2, heat["answers"])
    votes = np.asarray(data.pairwise(), np.int64)[upper]
    return Pairs(votes, np.full_like(votes, heat["people"]), 1, len(votes))


def installed(*packages: str) -> str:
    """Their versions, or "" where one is missing."""
    try:
        return ", ".join(f"{name} {version(name)}" for name in packages)
    except PackageNotFoundError:
        return ""


def peers(heat: Heat, epsilon: float, delta: float) -> list[Peer]:
    """All that are installed and can answer a heat; none tests agreement."""
    ways = {"topk": _selections, "ranking": _orders, "consensus": _orders}
    found = ways.get(heat["question"], lambda *_: iter(()))(heat, epsilon, delta)
    return [peer for peer in found if installed(*peer.packages)]


# --- OpenDP ----------------------------------------------------------------------------------------------------------


@cache
def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


def _whole(metric: str) -> tuple[Any, Any]:
    """Vectors of 64-bit integers under a metric."""
    dp = _opendp()
    exact = {"l1": dp.l1_distance(T="i64"), "l2": dp.l2_distance(T=float), "linf": dp.linf_distance(T="i64")}
    return dp.vector_domain(dp.atom_domain(T="i64")), exact[metric]


def _least(make: Callable[[float], Any], moved: float, epsilon: float, delta: float) -> tuple[float, Any]:
    """The least scale at which OpenDP's own map says (epsilon, delta), and the measurement."""
    dp = _opendp()

    def stated(scale: float) -> Any:
        made = make(scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(made), delta) if delta else made

    scale = dp.binary_search_param(stated, moved, (epsilon, delta) if delta else epsilon, T=float)
    return scale, make(scale)


@cache
def select(k: int, moved: int, epsilon: float, delta: float) -> Any:
    """Noisy top k of scores that each move by so much, by that of OpenDP's two measures that needs less noise.

    Exponential noise is permute-and-flip, Gumbel noise the exponential mechanism.
    """
    dp = _opendp()

    def make(measure: Any, scale: float) -> Any:
        return dp.m.make_noisy_top_k(*_whole("linf"), measure, k=k, scale=scale)

    ways = [_least(partial(make, dp.max_divergence()), moved, epsilon, 0.0)]
    if delta:
        ways.append(_least(partial(make, dp.zero_concentrated_divergence()), moved, epsilon, delta))
    return min(ways, key=lambda way: way[0])[1]


@cache
def noise(step: int, most: int, epsilon: float, delta: float) -> Any:
    """Whole noise on counts of which a person moves so many by so much: Laplace, or Gaussian if that deviates less."""
    dp = _opendp()
    scale, laplace = _least(lambda s: dp.m.make_laplace(*_whole("l1"), scale=s), step * most, epsilon, 0.0)
    if not delta:
        return laplace
    moved = math.nextafter(step * math.sqrt(most), math.inf)
    deviation, gaussian = _least(lambda s: dp.m.make_gaussian(*_whole("l2"), scale=s), moved, epsilon, delta)
    return gaussian if deviation < math.sqrt(2) * scale else laplace


# --- diffprivlib -----------------------------------------------------------------------------------------------------


def rounds(
    name: str, values: list[float], k: int, moved: float, epsilon: float, delta: float, rng: Source
) -> list[int]:
    """The winners of k rounds of one of its mechanisms; its accountant says what each may cost.

    Of anything but a generator it draws from the operating system.
    """
    from diffprivlib import mechanisms
    from diffprivlib.accountant import BudgetAccountant

    each = BudgetAccountant(epsilon, delta, slack=delta).remaining(k)[0]
    left, values, chosen = list(range(len(values))), list(values), []
    for _ in range(k):
        seed = int(rng.integers(2**31)) if isinstance(rng, np.random.Generator) else None
        made = getattr(mechanisms, name)(epsilon=each, sensitivity=moved, utility=values, random_state=seed)
        place = made.randomise()
        chosen.append(left.pop(place))
        values.pop(place)
    return chosen


# --- top k -----------------------------------------------------------------------------------------------------------


def _selections(heat: Heat, epsilon: float, delta: float) -> Iterator[Peer]:
    k = heat["k"]

    def opendp(counts: Numbers, _: Any) -> NDArray[np.int64]:
        return np.array(select(k, 1, epsilon, delta)(counts.astype(np.int64).tolist()))

    def diffprivlib(name: str, counts: Numbers, rng: Any) -> NDArray[np.int64]:
        return np.array(rounds(name, counts.tolist(), k, 1.0, epsilon, delta, rng))

    yield Peer("OpenDP noisy top k", ("opendp",), opendp)
    for name in ("Exponential", "PermuteAndFlip"):
        yield Peer(f"diffprivlib {name}", ("diffprivlib",), partial(diffprivlib, name), seeded=True)


# --- orders ----------------------------------------------------------------------------------------------------------


def _orders(heat: Heat, epsilon: float, delta: float) -> Iterator[Peer]:
    """Noise on pairs and a rule for exact ones; for few items also the choice of one of all orders."""
    items = heat["items"]

    def ruled(rule: Callable[..., NDArray[np.int64]], data: Any, rng: Any) -> NDArray[np.int64]:
        pairs = pairs_of(heat, data)
        noisy = noise(pairs.step, pairs.most, epsilon, delta)(pairs.votes.tolist())
        return rule(_square(np.array(noisy), pairs.total, items), rng)

    rules: dict[str, Callable[..., NDArray[np.int64]]] = {"choix": choix_order, "pref_voting": ranked_pairs}
    if items <= MERGED:
        rules["corankco"] = bioconsert
    named = {"choix": "choix ilsr", "pref_voting": "pref_voting ranked pairs", "corankco": "corankco BioConsert"}
    for package, rule in rules.items():
        yield Peer(f"OpenDP noise, {named[package]}", ("opendp", package), partial(ruled, rule))
    if items > LISTED:
        return

    def listed(choose: Callable[..., int], data: Any, rng: Any) -> NDArray[np.int64]:
        pairs = pairs_of(heat, data)
        return _listed(items)[0][choose(agreements(items, pairs), pairs.moved, rng)]

    def opendp(scores: Counts, moved: int, _: Any) -> int:
        return int(select(1, moved, epsilon, delta)(scores.tolist())[0])

    def diffprivlib(name: str, scores: Counts, moved: int, rng: Any) -> int:
        return rounds(name, scores.astype(float).tolist(), 1, float(moved), epsilon, delta, rng)[0]

    yield Peer("OpenDP noisy top 1 of all orders", ("opendp",), partial(listed, opendp))
    for name in ("Exponential", "PermuteAndFlip"):
        choose = partial(diffprivlib, name)
        yield Peer(f"diffprivlib {name} of all orders", ("diffprivlib",), partial(listed, choose), seeded=True)


def _square(votes: NDArray[Any], total: Counts, items: int) -> Numbers:
    """Votes for the item of the row against that of the column."""
    square, upper = np.zeros((items, items)), np.triu_indices(items, 1)
    square[upper] = votes
    square.T[upper] = total - votes
    return square


@cache
def _listed(items: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """All orders, shape (orders, items), and whether i is before j in them, of pairs i < j."""
    orders = np.array(list(permutations(range(items))))
    place, (first, second) = np.argsort(orders, axis=1), np.triu_indices(items, 1)
    return orders, place[:, first] < place[:, second]


def agreements(items: int, pairs: Pairs) -> Counts:
    """Of every order, the votes that agree with it on two items."""
    return np.asarray(np.where(_listed(items)[1], pairs.votes, pairs.total - pairs.votes).sum(1))


def choix_order(votes: Numbers, rng: Source) -> NDArray[np.int64]:
    """By strengths of the Bradley-Terry model, which of pairs is that of Plackett and Luce; noise may not be negative.

    Where it does not converge, its first iterate is consistent too.
    """
    import choix

    kept = np.clip(votes, 0, votes + votes.T)
    try:
        strengths = choix.ilsr_pairwise_dense(kept, alpha=ALPHA)
    except RuntimeError:  # 100 iterations were not enough
        strengths = choix.lsr_pairwise_dense(kept, alpha=ALPHA)
    return best_first(np.round(strengths, 9), rng)  # equal ones differ in their last bits


def ranked_pairs(votes: Numbers, rng: Source) -> NDArray[np.int64]:
    """By the defeats of ranked pairs, equal margins in random order."""
    import networkx
    from pref_voting.margin_based_methods import ranked_pairs_defeat_tb
    from pref_voting.weighted_majority_graphs import MarginGraph

    items = range(len(votes))
    margins = [(i, j, int(votes[i, j] - votes[j, i])) for i in items for j in items if votes[i, j] > votes[j, i]]
    defeats = ranked_pairs_defeat_tb(
        MarginGraph(list(items), margins), tie_breaker=rng.permutation(len(items)).tolist()
    )
    return np.array(list(networkx.topological_sort(defeats)))


def bioconsert(votes: Numbers, rng: Source) -> NDArray[np.int64]:
    """By local search from an order of Copeland's: it takes ballots, so a margin is so many ballots of two items."""
    from corankco.algorithms.bioconsert.bioconsert import BioConsert
    from corankco.algorithms.copeland.copeland import CopelandMethod
    from corankco.dataset import Dataset
    from corankco.scoringscheme import ScoringScheme

    margins = votes - votes.T
    copies = np.ceil(margins * (WIDEST / max(np.abs(margins).max(), 1))).astype(int)
    ballots = [[{int(i)}, {int(j)}] for i, j in np.argwhere(copies > 0) for _ in range(copies[i, j])]
    if len({item for ballot in ballots for it in ballot for item in it}) < len(votes):
        return np.asarray(rng.permutation(len(votes)))  # an item without a margin is unknown to it
    search = BioConsert(starting_algorithms=[CopelandMethod()])
    scheme = ScoringScheme.get_induced_measure_scoring_scheme()
    found = search.compute_consensus_rankings(Dataset.from_raw_list(ballots), scheme, True).consensus_rankings[0]
    tied = [[item.value for item in bucket] for bucket in found.buckets]
    return np.array([bucket[i] for bucket in tied for i in rng.permutation(len(bucket))])
