"""How far a search for the worst neighbours gets: climbing against exhaustion, and searches that look away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases import aggregation, local, pairwise, topk, uniformity
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, claim, printed
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.randomisers import SplitResponse
from dprank.audit.neighbours import ComparisonNeighbours, Neighbours, OneRanking, RankingNeighbours, ValueNeighbours
from dprank.audit.search import WorstNeighbours, climb, worst
from dprank.data.comparisons import Comparisons
from dprank.data.rankings import Rankings
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.privacy.divergence import PairLaw
from dprank.privacy.guarantee import Adjacency, Mechanism
from dprank.privacy.laws import exact
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.uniformity.local import LocalPairs
from dprank.uniformity.truncated import Trun

# modules in which the families register their exact routes
ROUTES = (aggregation, local, pairwise, topk, uniformity)
#: Of a search: at most one climb in four misses the worst neighbours of a small family, so all do once in 10^9 seeds.
EFFORT = {"steps": 80, "restarts": 16}


@dataclass(frozen=True, eq=False)
class Small:
    """A mechanism small enough that all neighbours can be listed: `starts` are all data sets, up to symmetry.

    `moves` are far jumps for the climb, as of `dprank.audit.search.climb`.
    """

    name: str
    mechanism: Mechanism
    starts: Sequence[Any]
    neighbours: Neighbours
    moves: Sequence[Callable[[Any, np.random.Generator], Any]] = ()

    def loss(self, data: Any, other: Any) -> float:
        """Exact epsilon at the promised delta."""
        return exact(self.mechanism, data, other).epsilon(self.mechanism.guarantee.delta)

    def exhausted(self) -> WorstNeighbours:
        """The worst of all."""
        return worst(self.loss, self.starts, self.neighbours)

    def climbed(self, enough: float) -> WorstNeighbours:
        """The worst that climbs from the last data set find, until one has found as much as `enough`."""
        start, rng = self.starts[-1], stream("audit-search", {"family": self.name} | EFFORT)
        enough *= 1 - ROUNDING
        return climb(self.loss, lambda _: start, self.neighbours, rng=rng, moves=self.moves, enough=enough, **EFFORT)


def families() -> list[Small]:
    """One of every kind of data and adjacency."""
    adjacencies: tuple[Adjacency, ...] = ("replace", "add_remove")
    graphs = ComparisonNeighbours(design="once")
    sheets = ComparisonNeighbours(unit="voter", answers=2, design="once")
    one_voter = [_answers(sheet) for sheet in sheets.sheets(3)]
    found = [
        Small(
            "noisy wins, one comparison of a graph",
            NoisyCounts.calibrated(epsilon=1.0, n_items=3, unit="comparison", score="wins"),
            _graphs(3),
            graphs,
        ),
        Small(
            "noisy net wins, one voter of two answers",
            NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=2, design="once"),
            one_voter,
            sheets,
        ),
    ]
    for adjacency in adjacencies:
        how = adjacency.replace("_", "/")
        values = [np.array(v, float) for v in combinations_with_replacement((0, 1, 40), 3)]
        moves = (_widened,)
        near = ValueNeighbours(adjacency=adjacency)
        for name, selection in (
            ("one shot, Laplace noise", Oneshot(1, 2.0, n_items=3, adjacency=adjacency)),
            ("one shot, exponential noise", Oneshot(1, 2.0, "exponential", n_items=3, adjacency=adjacency)),
            ("peeling, Gumbel noise", Peeling(2, 2.0, "gumbel", n_items=3, adjacency=adjacency)),
        ):
            found.append(Small(f"{name}, {how}", selection, values, near, moves))
        ranked = RankingNeighbours(adjacency, least=1)
        for name, central in (
            ("exponential mechanism", ExponentialMechanism.calibrated(n_items=3, epsilon=1.0, adjacency=adjacency)),
            ("noisy matrix", NoisyMatrix.calibrated(n_items=3, epsilon=1.0, adjacency=adjacency)),
        ):
            found.append(Small(f"{name}, {how}", central, _profiles(3, 2), ranked, (_doubled,)))
    found.append(
        Small(
            "truncated test",
            Trun.calibrated(epsilon=1.0, n_items=2, n_voters=12, size=0.1),
            _unanimous_but(12),
            RankingNeighbours(),
            (_shuffled,),
        )
    )
    one = [np.array(ranking) for ranking in permutations(range(3))]
    four = [np.array(ranking) for ranking in permutations(range(4))]
    found.append(
        Small("local matrix", LocalMatrix(SplitResponse.calibrated(n_items=3, epsilon=1.0)), one, OneRanking())
    )
    found.append(Small("local test", LocalPairs.calibrated(epsilon=1.0, n_items=4), four, OneRanking()))
    return found


def compared() -> pd.DataFrame:
    """Climbing against exhaustion: ``family``, ``pairs`` (all there are), ``worst`` (exact loss over them), ``climbed``
    (perhaps more than that where voters may be added), ``tried`` (pairs until then), ``guarantee``, ``found`` (the
    worst).
    """
    rows = []
    for family in families():
        all_of_them = family.exhausted()
        some = family.climbed(all_of_them.loss)
        rows.append(
            {
                "family": family.name,
                "pairs": all_of_them.tried,
                "worst": all_of_them.loss,
                "climbed": some.loss,
                "tried": some.tried,
                "guarantee": family.mechanism.guarantee.epsilon,
            }
        )
    frame = pd.DataFrame(rows)
    frame["found"] = frame.climbed >= frame.worst * (1 - ROUNDING)
    return frame


def large() -> pd.DataFrame:
    """Climbing where nobody lists the neighbours, and the worst loss is known: ``family``, ``climbed``, ``tried``,
    ``guarantee``.
    """
    five = Comparisons([0, 1, 2] * 5, [1, 2, 3] * 5, [1, 0, 1] * 5, "abcdef", np.repeat(np.arange(5), 3))
    votes = Rankings([range(6)] * 5, "abcdef")
    rows = [
        Small(
            "noisy net wins, 6 items, 5 voters of 3 answers",
            NoisyCounts.calibrated(epsilon=1.0, n_items=6, per_person=3),
            [five],
            ComparisonNeighbours(unit="voter", answers=3),
        ),
        Small(
            "noisy matrix, 6 items, 5 voters",
            NoisyMatrix.calibrated(n_items=6, epsilon=1.0),
            [votes],
            RankingNeighbours(),
        ),
        Small(
            "peeling, Gumbel noise, 3 of 5",
            Peeling(3, 2.0, "gumbel", n_items=5),
            [np.arange(5.0)],
            ValueNeighbours(),
            (_widened,),
        ),
        Small(
            "local matrix, 5 items",
            LocalMatrix(SplitResponse.calibrated(n_items=5, epsilon=1.0)),
            [np.arange(5)],
            OneRanking(),
        ),
    ]
    found = [(family, family.climbed(family.mechanism.guarantee.epsilon)) for family in rows]
    return pd.DataFrame(
        {
            "family": family.name,
            "climbed": pair.loss,
            "tried": pair.tried,
            "guarantee": family.mechanism.guarantee.epsilon,
        }
        for family, pair in found
    )


@claim("audit:search")
def check_search(frame: pd.DataFrame | None = None) -> Iterator[Check]:
    """Climbing finds the worst neighbours wherever all can be listed, and none breaks its promise, from `compared`."""
    frame = compared() if frame is None else frame
    found, largest = int(frame.found.sum()), float((frame[["worst", "climbed"]].max(axis=1) / frame.guarantee).max())
    what = f"of {len(frame)} small families, those where climbing finds what listing finds"
    yield printed(what, found, "==", len(frame))
    what = f"largest exact loss over its guarantee, over all their {frame.pairs.sum():,} pairs of neighbours"
    yield printed(what, largest, "<=", 1 + ROUNDING)


# --- searches that look away -----------------------------------------------------------------------------------------


def blind() -> pd.DataFrame:
    """What three habits of auditors overlook: ``habit``, ``on``, ``seen`` (largest loss it meets), ``worst`` (over all
    neighbours).
    """
    every = {family.name: family for family in families()}
    graphs = ComparisonNeighbours(design="once")
    estimate = Small(
        "perturbed likelihood, one comparison of a graph",
        PerturbedMLE.calibrated(
            epsilon=1.0, n_items=3, ridge=0.5, graph="private", unit="comparison", law="continuous"
        ),
        _graphs(3)[1:],
        graphs,
    )
    flips = replace(estimate, neighbours=_Some(graphs, _same_pairs))
    peeling, votes = every["peeling, Gumbel noise, replace"], every["exponential mechanism, add/remove"]
    level = replace(peeling, starts=[np.zeros(3)])
    added = _Some(votes.neighbours, lambda data, other: len(other) > len(data))

    def one_way(data: Any, other: Any) -> float:
        law = exact(votes.mechanism, data, other)
        assert isinstance(law, PairLaw)
        return float((law.log_q - law.log_p).max())

    rows = [
        ("outcomes turned round, the graph left alone", estimate, flips.exhausted().loss),
        ("all values equal", peeling, level.exhausted().loss),
        ("voters added, never removed; one direction", votes, worst(one_way, votes.starts, added).loss),
    ]
    return pd.DataFrame(
        [{"habit": habit, "on": on.name, "seen": seen, "worst": on.exhausted().loss} for habit, on, seen in rows]
    )


@dataclass(frozen=True)
class _Some:
    """Those neighbours that one thinks of."""

    of: Neighbours
    keeps: Callable[[Any, Any], bool]

    def all(self, data: Any) -> Iterator[Any]:
        return (other for other in self.of.all(data) if self.keeps(data, other))

    def draw(self, data: Any, rng: np.random.Generator) -> Any:
        while not self.keeps(data, other := self.of.draw(data, rng)):
            pass
        return other


def _same_pairs(data: Comparisons, other: Comparisons) -> bool:
    one, two = (sorted(zip(d.first.tolist(), d.second.tolist(), strict=True)) for d in (data, other))
    return one == two


# --- data ------------------------------------------------------------------------------------------------------------


def _graphs(n_items: int) -> list[Comparisons]:
    """Every outcome of every comparison graph."""
    sheets = ComparisonNeighbours(unit="voter", answers=n_items * (n_items - 1) // 2, design="once").sheets(n_items)
    return [_answers(sheet) for sheet in sheets]


def _answers(sheet: Any) -> Comparisons:
    first, second, outcome = np.array(sheet, float).reshape(-1, 3).T
    return Comparisons(first.astype(int), second.astype(int), outcome, "abc", np.zeros(len(sheet), int))


def _profiles(n_items: int, voters: int) -> list[Rankings]:
    """Rankings of 1 to so many voters, in any order of the voters."""
    one = list(permutations(range(n_items)))
    return [
        Rankings(profile, "abc"[:n_items])
        for count in range(1, voters + 1)
        for profile in combinations_with_replacement(one, count)
    ]


def _unanimous_but(voters: int) -> list[Rankings]:
    """Two items, and how many voters prefer the second."""
    return [Rankings([[1, 0]] * k + [[0, 1]] * (voters - k), "ab") for k in range(voters + 1)]


def _widened(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """One value moves far, up or down."""
    return values + 40 * rng.choice([-1, 1]) * (np.arange(len(values)) == rng.integers(len(values)))


def _doubled(data: Rankings, rng: np.random.Generator) -> Rankings:
    """Every second time all votes are cast as the first is, else they are shuffled; three voters at most."""
    positions = data.positions
    if rng.random() < 0.5:
        positions = np.tile(positions[:1], (int(rng.integers(1, 4)), 1))
    else:
        positions = rng.permuted(np.tile(positions[:1], (int(rng.integers(1, 4)), 1)), axis=1)
    return Rankings(positions, data.items)


def _shuffled(data: Rankings, rng: np.random.Generator) -> Rankings:
    """As many voters, a random share of whom prefer the first item."""
    order = np.where(rng.random((len(data), 1)) < rng.random(), [0, 1], [1, 0])
    return Rankings(order, data.items)
