"""How far a search for the worst neighbours gets: climbing against exhaustion, and searches that look away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement, permutations
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.pairwise import comparisons
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

#: Of a search: at most one climb in four misses the worst neighbours of a small family, so all do once in 10^9 seeds.
EFFORT = {"steps": 80, "restarts": 16}


@dataclass(frozen=True, eq=False)
class Small:
    """A mechanism small enough that all neighbours can be listed: `starts` are all data sets, up to symmetry; `moves`
    are far jumps for the climb, as of `dprank.audit.search.climb`.
    """

    name: str
    mechanism: Mechanism
    starts: Sequence[Any]
    neighbours: Neighbours
    moves: Sequence[Callable[[Any, np.random.Generator], Any]] = ()

    @property
    def promise(self) -> float:
        """Epsilon of the guarantee."""
        return self.mechanism.guarantee.epsilon

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


def families() -> Iterator[Small]:
    """One of every kind of data and adjacency."""
    sheets = ComparisonNeighbours(unit="voter", answers=2, design="once")
    wins = NoisyCounts.calibrated(epsilon=1.0, n_items=3, unit="comparison", score="wins")
    net = NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=2, design="once")
    yield Small("noisy wins, one comparison of a graph", wins, _graphs(3), ComparisonNeighbours(design="once"))
    answers = [comparisons(sheet, 3) for sheet in sheets.sheets(3)]
    yield Small("noisy net wins, one voter of two answers", net, answers, sheets)
    values = [np.array(v, float) for v in combinations_with_replacement((0, 1, 40), 3)]
    for adjacency in get_args(Adjacency):
        how, votes = adjacency.replace("_", "/"), {"epsilon": 1.0, "n_items": 3, "adjacency": adjacency}
        for name, selection in (
            ("one shot, Laplace noise", Oneshot(1, 2.0, n_items=3, adjacency=adjacency)),
            ("one shot, exponential noise", Oneshot(1, 2.0, "exponential", n_items=3, adjacency=adjacency)),
            ("peeling, Gumbel noise", Peeling(2, 2.0, "gumbel", n_items=3, adjacency=adjacency)),
        ):
            yield Small(f"{name}, {how}", selection, values, ValueNeighbours(adjacency=adjacency), (_widened,))
        for name, kind in (("exponential mechanism", ExponentialMechanism), ("noisy matrix", NoisyMatrix)):
            ranked = RankingNeighbours(adjacency, least=1)
            yield Small(f"{name}, {how}", kind.calibrated(**votes), _profiles(3, 2), ranked, (_doubled,))
    test = Trun.calibrated(epsilon=1.0, n_items=2, n_voters=12, size=0.1)
    yield Small("truncated test", test, _unanimous_but(12), RankingNeighbours(), (_shuffled,))
    three, four = ([np.array(ranking) for ranking in permutations(range(m))] for m in (3, 4))
    matrix = LocalMatrix(SplitResponse.calibrated(n_items=3, epsilon=1.0))
    yield Small("local matrix", matrix, three, OneRanking())
    yield Small("local test", LocalPairs.calibrated(epsilon=1.0, n_items=4), four, OneRanking())


def compared() -> pd.DataFrame:
    """Climbing against exhaustion: ``family``, ``pairs`` (all there are), ``worst`` (exact loss over them), ``climbed``
    (perhaps more than that where voters may be added), ``tried`` (pairs until then), ``guarantee``, ``found`` (the
    worst).
    """
    rows = []
    for family in families():
        listed = family.exhausted()
        climbed = family.climbed(listed.loss)
        rows.append((family.name, listed.tried, listed.loss, climbed.loss, climbed.tried, family.promise))
    frame = pd.DataFrame(rows, columns=["family", "pairs", "worst", "climbed", "tried", "guarantee"])
    frame["found"] = frame.climbed >= frame.worst * (1 - ROUNDING)
    return frame


def large() -> pd.DataFrame:
    """Climbing where nobody lists, and the worst loss is known: ``family``, ``climbed``, ``tried``, ``guarantee``."""
    five = Comparisons([0, 1, 2] * 5, [1, 2, 3] * 5, [1, 0, 1] * 5, "abcdef", np.repeat(np.arange(5), 3))
    votes = Rankings([range(6)] * 5, "abcdef")
    net = NoisyCounts.calibrated(epsilon=1.0, n_items=6, per_person=3)
    sheets = ComparisonNeighbours(unit="voter", answers=3)
    matrix, peeling = NoisyMatrix.calibrated(n_items=6, epsilon=1.0), Peeling(3, 2.0, "gumbel", n_items=5)
    local = LocalMatrix(SplitResponse.calibrated(n_items=5, epsilon=1.0))
    rows = []
    for family in (
        Small("noisy net wins, 6 items, 5 voters of 3 answers", net, [five], sheets),
        Small("noisy matrix, 6 items, 5 voters", matrix, [votes], RankingNeighbours()),
        Small("peeling, Gumbel noise, 3 of 5", peeling, [np.arange(5.0)], ValueNeighbours(), (_widened,)),
        Small("local matrix, 5 items", local, [np.arange(5)], OneRanking()),
    ):
        pair = family.climbed(family.promise)
        rows.append((family.name, pair.loss, pair.tried, family.promise))
    return pd.DataFrame(rows, columns=["family", "climbed", "tried", "guarantee"])


@claim("audit:search")
def check_search(frame: pd.DataFrame | None = None) -> Iterator[Check]:
    """Climbing finds the worst neighbours wherever all can be listed, and none breaks its promise, from `compared`."""
    frame = compared() if frame is None else frame
    found, largest = int(frame.found.sum()), float((frame[["worst", "climbed"]].max(axis=1) / frame.guarantee).max())
    what = f"of {len(frame)} small families, those where climbing finds what listing finds"
    yield printed(what, found, "==", len(frame))
    what = f"largest exact loss over its guarantee, over all their {frame.pairs.sum():,} pairs of neighbours"
    yield printed(what, largest, "<=", 1 + ROUNDING)


def blind() -> pd.DataFrame:
    """What three habits of auditors overlook: ``habit``, ``on``, ``seen`` (largest loss met), ``worst`` (of all)."""
    every = {family.name: family for family in families()}
    graphs = ComparisonNeighbours(design="once")
    secret: dict[str, Any] = {"graph": "private", "unit": "comparison", "law": "continuous"}
    private = PerturbedMLE.calibrated(epsilon=1.0, n_items=3, ridge=0.5, **secret)
    estimate = Small("perturbed likelihood, one comparison of a graph", private, _graphs(3)[1:], graphs)
    peeling, votes = every["peeling, Gumbel noise, replace"], every["exponential mechanism, add/remove"]

    def seen(on: Small, loss: Callable[..., float], thinks_of: Callable[..., bool]) -> float:
        pairs = ((data, other) for data in on.starts for other in on.neighbours.all(data))
        return max(loss(*pair) for pair in pairs if thinks_of(*pair))

    def one_way(data: Any, other: Any) -> float:
        law = exact(votes.mechanism, data, other)
        assert isinstance(law, PairLaw)
        return float((law.log_q - law.log_p).max())

    rows = [
        ("only outcomes reversed, no pair exchanged", estimate, seen(estimate, estimate.loss, _same_pairs)),
        ("all values equal", peeling, replace(peeling, starts=[np.zeros(3)]).exhausted().loss),
        ("voters added, never removed; only one direction", votes, seen(votes, one_way, _more_voters)),
    ]
    found = [(habit, on.name, met, on.exhausted().loss) for habit, on, met in rows]
    return pd.DataFrame(found, columns=["habit", "on", "seen", "worst"])


def _same_pairs(data: Comparisons, other: Comparisons) -> bool:
    one, two = (sorted(zip(d.first.tolist(), d.second.tolist(), strict=True)) for d in (data, other))
    return one == two


def _more_voters(data: Rankings, other: Rankings) -> bool:
    return len(other) > len(data)


def _graphs(n_items: int) -> list[Comparisons]:
    """Every outcome of every comparison graph."""
    sheets = ComparisonNeighbours(unit="voter", answers=n_items * (n_items - 1) // 2, design="once").sheets(n_items)
    return [comparisons(sheet, n_items) for sheet in sheets]


def _profiles(n_items: int, voters: int) -> list[Rankings]:
    """Rankings of 1 to so many voters, in any order of the voters."""
    one = list(permutations(range(n_items)))
    profiles = chain(*(combinations_with_replacement(one, count) for count in range(1, voters + 1)))
    return [Rankings(profile, "abc"[:n_items]) for profile in profiles]


def _unanimous_but(voters: int) -> list[Rankings]:
    """Two items, and how many voters prefer the second."""
    return [Rankings([[1, 0]] * k + [[0, 1]] * (voters - k), "ab") for k in range(voters + 1)]


def _widened(values: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """One value moves far, up or down."""
    return values + 40 * rng.choice([-1, 1]) * (np.arange(len(values)) == rng.integers(len(values)))


def _doubled(data: Rankings, rng: np.random.Generator) -> Rankings:
    """Every second time all votes are cast as the first is, else they are shuffled; three voters at most."""
    shuffles = rng.random() >= 0.5
    positions = np.tile(data.positions[:1], (int(rng.integers(1, 4)), 1))
    return Rankings(rng.permuted(positions, axis=1) if shuffles else positions, data.items)


def _shuffled(data: Rankings, rng: np.random.Generator) -> Rankings:
    """As many voters, a random share of whom prefer the first item."""
    order = np.where(rng.random((len(data), 1)) < rng.random(), [0, 1], [1, 0])
    return Rankings(order, data.items)
