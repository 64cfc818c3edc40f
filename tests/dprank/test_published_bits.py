"""What is published is a function of the noisy quantity and public facts alone, to the last bit, and lies on a grid.

Rows in any order, pairs turned round, columns of another type, persons by other numbers, either of two repeated rows
first, another route of the solver: with the same seeded generator a central mechanism releases the same bits, and of
reports in another order a local one says the same. No check here can fail by chance.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dprank
from dprank.aggregation import local_borda, private_borda, randomisers
from dprank.data import ballots, bounding, comparisons, counting, rankings, tallies
from dprank.data.count_files import Counts
from dprank.models import games
from dprank.models.bradley_terry import ARCTAN
from dprank.pairwise import local_comparisons, noisy_counts, perturbed_mle
from dprank.privacy.noise import SECURE, best_first, drawn_exactly
from dprank.privacy.published import Published, off_grid, sentence
from dprank.topk import oneshot
from dprank.topk.local import LocalTopK
from dprank.uniformity import bucketed, noisy_norm, unif

#: Ways of giving the same data, of each mechanism.
WAYS = 1000
WHOLE = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)
REAL = (np.float32, np.float64)
ITEMS = tuple("abcdefghijklmnop")


class Dealt(np.random.Generator):
    """A generator that deals the rows of a table as it dealt them before these were put in another order."""

    def __init__(self, seed: int, order: Any) -> None:
        super().__init__(np.random.PCG64(seed))
        self.at = np.argsort(order)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        drawn = super().permutation(x, axis)
        return self.at[drawn] if isinstance(x, int) and x == len(self.at) else drawn


def bits(release):
    """Every field of a release but what made it, to the last bit."""
    found = {}
    for name, value in vars(release).items():
        if name not in ("mechanism", "source"):
            array = np.asarray(value)
            found[name] = repr(array.tolist()) if array.dtype == object else (array.dtype.str, array.tobytes())
    return found


# --- data, and the same data in other words --------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """Rows of comparisons, of which a person may have several of one pair that say different things."""

    n_items: int = 16
    rows: int = 120
    ties: bool = True
    share: float = 1.0
    renumbered: bool = False

    @property
    def raw(self):
        return _answers(self)

    def given(self, rng=None):
        """As they are; or in another order, some turned round, in columns of other types."""
        first, second, points, voter = self.raw
        order = np.arange(len(first))
        if rng is not None:
            order = rng.permutation(order)
            first, second, points, voter = (column[order] for column in self.raw)
            turned = rng.random(len(first)) < 0.5
            first, second = np.where(turned, second, first), np.where(turned, first, second)
            points = np.where(turned, 2 - points, points)
            first, second = (column.astype(rng.choice(WHOLE)) for column in (first, second))
            voter = voter.astype(rng.choice(WHOLE))
            if self.renumbered:
                voter = rng.permutation(100)[voter.astype(int)] - 50
        outcome = points / 2
        if rng is not None:
            outcome = outcome.astype(rng.choice(REAL) if self.ties else rng.choice((*WHOLE, *REAL, np.bool_)))
        return dprank.Comparisons(first, second, outcome, ITEMS[: self.n_items], voter), order


@cache
def _answers(of):
    rng = np.random.default_rng(5)
    both = np.transpose(np.triu_indices(of.n_items, 1))
    both = both[rng.permutation(len(both))[: math.ceil(of.share * len(both))]]
    pair = both[rng.integers(0, len(both), of.rows)]
    points = rng.integers(0, 3, of.rows) if of.ties else 2 * rng.integers(0, 2, of.rows)
    voter = rng.integers(0, max(of.rows // 4, 1), of.rows)
    # what a person says of a pair comes again
    pair[1::2], voter[1::2] = pair[::2][: len(pair[1::2])], voter[::2][: len(voter[1::2])]
    return pair[:, 0], pair[:, 1], points, voter


@dataclass(frozen=True)
class Votes:
    """Full rankings."""

    n_items: int = 4
    voters: int = 24

    def given(self, rng=None):
        table = np.random.default_rng(6).permuted(np.tile(np.arange(self.n_items), (self.voters, 1)), axis=1)
        order = np.arange(self.voters)
        if rng is not None:
            order = rng.permutation(order)
            table = table[order].astype(rng.choice(WHOLE), order=str(rng.choice(["C", "F"])))
        return dprank.Rankings(table, ITEMS[: self.n_items]), order


@dataclass(frozen=True)
class Sheets:
    """Ballots with ties, gaps and weights."""

    n_items: int = 5
    voters: int = 20

    def given(self, rng=None):
        made = np.random.default_rng(7)
        table, weight = made.integers(-1, 4, (self.voters, self.n_items)), made.integers(0, 4, self.voters)
        order = np.arange(self.voters)
        if rng is not None:
            order = rng.permutation(order)
            table, weight = table[order], weight[order].astype(rng.choice(WHOLE))
            table = table.astype(rng.choice([kind for kind in WHOLE if np.iinfo(kind).min < 0]))
        return dprank.Ballots(table, ITEMS[: self.n_items], weight), order


@dataclass(frozen=True)
class Had:
    """Persons and their items, of whom some have one twice."""

    persons: int = 30
    renumbered: bool = False

    def given(self, rng=None):
        made = np.random.default_rng(8)
        who, what = made.integers(0, self.persons, 90), made.integers(0, 6, 90)
        order = np.arange(len(who))
        if rng is not None:
            order = rng.permutation(order)
            who, what = who[order].astype(rng.choice(WHOLE)), what[order].astype(rng.choice(WHOLE))
            if self.renumbered:
                who = rng.permutation(200)[who.astype(int)] - 100
        return dprank.Tallies(who, what, ITEMS[:6]), order


@dataclass(frozen=True)
class Counted:
    """Counts by name, as a Series in any order and of any type."""

    def given(self, rng=None):
        series = pd.Series([90, 80, 80, 11, 7, 0], list(ITEMS[:6]))
        order = np.arange(6)
        if rng is not None:
            order = rng.permutation(order)
            series = series.iloc[order].astype(rng.choice((*WHOLE, *REAL)))
            series.index = series.index.astype(str(rng.choice(["object", "string"])))
        return series, order


@dataclass(frozen=True)
class Summed:
    """Counts of all shards, whose parts, files and reasons come in any order."""

    def given(self, rng=None):
        mix = (lambda them: them) if rng is None else (lambda them: [them[at] for at in rng.permutation(len(them))])
        sums = {"wins": (9, 4, 0, 2), "ties": (1, 1, 0, 2), "losses": (3, 3, 3, 6)}
        made = Counts(
            kind="comparisons",
            items=ITEMS[:4],
            per_person=3,
            design="any",
            ties=True,
            sums={name: sums[name] for name in mix(list(sums))},
            shards=2,
            parts=mix([1, 2]),
            rows=17,
            left_out={},
            others=0,
            sizes=mix([400, 300]),
            rules="",
            engines=("numpy",),
        )
        return made, np.arange(4)


# --- mechanisms, and what they release -------------------------------------------------------------------------------


def released(mechanism, data, order, seed):
    return bits(mechanism.release(data, Dealt(seed, order)))


def unrounded(mechanism, data, order, seed):
    """Strengths before they are put on the grid: what the solver knows."""
    return mechanism._minimiser(data, np.random.default_rng(seed)).tobytes()


@dataclass(frozen=True)
class Case:
    mechanism: Any
    data: Any
    run: Callable[..., Any] = released


def comparing(n_items=16, **named):
    return dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=n_items, **named)


def strengths(**named):
    given = {"epsilon": 1.0, "n_items": 16, "ridge": 0.3, "graph": "public", "per_person": 2} | named
    return dprank.PerturbedMLE.calibrated(**given)


def of(name, *, n_items=4, **named):
    return getattr(dprank, name).calibrated(epsilon=1.0, n_items=n_items, **named)


SPARSE, DENSE = Answers(share=0.4), Answers(rows=300)
BALLOTS = {"n_items": 5, "ballots": "partial", "max_weight": 3}
VOTES, SOME = Votes(), {"n_voters": 24}
CASES: dict[str, Callable[[], Case]] = {
    "NoisyCounts": lambda: Case(comparing(per_person=2), SPARSE),
    "NoisyCounts, once": lambda: Case(comparing(per_person=3, design="once", noise="conditioned"), SPARSE),
    "NoisyCounts, matching": lambda: Case(comparing(per_person=2, design="matching", noise="cube"), DENSE),
    "NoisyCounts, half": lambda: Case(comparing(per_person=3, score="half", law="continuous"), DENSE),
    "NoisyCounts, wins": lambda: Case(comparing(per_person=3, score="wins", delta=1e-6), Answers(ties=False)),
    "NoisyCounts, renumbered": lambda: Case(comparing(per_person=120), Answers(renumbered=True)),
    "NoisyCounts, comparison": lambda: Case(comparing(unit="comparison"), Answers(ties=False)),
    "NoisyCounts, rankings": lambda: Case(comparing(4, per_person=6, design="once"), VOTES),
    "NoisyCounts, ballots": lambda: Case(comparing(5, per_person=10, design="once", max_weight=2), Sheets()),
    "NoisyCounts, counts": lambda: Case(comparing(4, per_person=3), Summed()),
    "PerturbedMLE, sparse": lambda: Case(strengths(), SPARSE),
    "PerturbedMLE, dense": lambda: Case(strengths(), DENSE),
    "PerturbedMLE, renumbered": lambda: Case(strengths(per_person=120), Answers(share=0.4, renumbered=True)),
    "PerturbedMLE, sparse solver": lambda: Case(strengths(), SPARSE, unrounded),
    "PerturbedMLE, dense solver": lambda: Case(strengths(), DENSE, unrounded),
    "PerturbedMLE, real noise": lambda: Case(strengths(law="continuous"), SPARSE, unrounded),
    "PerturbedMLE, private": lambda: Case(strengths(graph="private", law="continuous", ridge=9.0), SPARSE, unrounded),
    "PerturbedMLE, link": lambda: Case(
        strengths(law="continuous", link=ARCTAN), Answers(share=0.4, ties=False), unrounded
    ),
    "PrivateRankCentrality": lambda: Case(of("PrivateRankCentrality", n_items=16, k=2, samples=3), DENSE),
    "ExponentialMechanism": lambda: Case(of("ExponentialMechanism"), VOTES),
    "LocalKwikSort": lambda: Case(of("LocalKwikSort"), VOTES),
    "NoisyMatrix": lambda: Case(of("NoisyMatrix"), VOTES),
    "NoisyMatrix, ballots": lambda: Case(of("NoisyMatrix", **BALLOTS), Sheets()),
    "PrivateBorda": lambda: Case(of("PrivateBorda"), VOTES),
    "PrivateBorda, ballots": lambda: Case(of("PrivateBorda", **BALLOTS), Sheets()),
    "PrivateFootrule": lambda: Case(of("PrivateFootrule"), VOTES),
    "PrivateKwikSort": lambda: Case(of("PrivateKwikSort"), VOTES),
    "PrivateWinner": lambda: Case(of("PrivateWinner"), VOTES),
    "PrivateWinner, ballots": lambda: Case(of("PrivateWinner", **BALLOTS, rule="borda"), Sheets()),
    "Oneshot": lambda: Case(of("Oneshot", n_items=6, items=ITEMS[:6], k=2, values=True, per_person=2), Had()),
    "Oneshot, series": lambda: Case(of("Oneshot", n_items=6, items=ITEMS[:6], k=2, values=True), Counted()),
    "Peeling": lambda: Case(of("Peeling", n_items=6, items=ITEMS[:6], k=2), Had(renumbered=True)),
    "Peeling, series": lambda: Case(of("Peeling", n_items=6, items=ITEMS[:6], k=2), Counted()),
    "JointExponential": lambda: Case(of("JointExponential", n_items=6, items=ITEMS[:6], k=2), Had(renumbered=True)),
    "JointExponential, series": lambda: Case(of("JointExponential", n_items=6, items=ITEMS[:6], k=2), Counted()),
    "LocalTopK": lambda: Case(of("LocalTopK", n_items=6, items=ITEMS[:6], k=2, per_person=2), Had()),
    "BatchVote": lambda: Case(of("BatchVote", **SOME, n_batches=6), VOTES),
    "Bucketed": lambda: Case(of("Bucketed", **SOME, n_batches=6, size=0.2), VOTES),
    "LaplaceUnif": lambda: Case(of("LaplaceUnif", **SOME), VOTES),
    "NoisyNorm": lambda: Case(of("NoisyNorm", **SOME), VOTES),
    "NoisyNorm, ranks": lambda: Case(of("NoisyNorm", **SOME, statistic="ranks", null_draws=19), VOTES),
    "OptimalVote": lambda: Case(of("OptimalVote", **SOME, n_batches=6), VOTES),
    "Trun": lambda: Case(of("Trun", **SOME), VOTES),
}


@cache
def case_of(name):
    return CASES[name]()


def differing(name, ways, seed=11):
    """Of so many ways of giving the same data how many change what is released."""
    case = CASES[name]()  # nothing that was kept from data in another order
    rng, seen = np.random.default_rng(seed), case.run(case.mechanism, *case.data.given(), seed)
    return sum(case.run(case.mechanism, *case.data.given(rng), seed) != seen for _ in range(ways))


@pytest.mark.parametrize("name", CASES)
def test_the_same_data_in_other_words_give_the_same_bits(name):
    assert differing(name, 40) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_thousand_ways_give_the_same_bits(name):
    assert differing(name, WAYS, seed=12) == 0


@pytest.mark.parametrize("few", [0, 10**9])
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith(("NoisyCounts", "PerturbedMLE"))])
def test_the_route_by_the_number_of_rows_changes_no_bit(name, few, monkeypatch):
    case = case_of(name)
    seen = case.run(case.mechanism, *case.data.given(), 3)
    other_routes(monkeypatch, few)
    assert case.run(case.mechanism, *case.data.given(np.random.default_rng(4)), 3) == seen
    assert differing(name, 5) == 0


def other_routes(patch, few):
    """Few rows are many, or many few; and blocks are short."""
    for module in (comparisons, counting, games):
        patch.setattr(module, "FEW_ROWS", few)
    patch.setattr(counting, "_CHUNK", 7)
    patch.setattr(ballots, "_BLOCK", 7)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.45, 0.5, 0.55, 1.0])
def test_below_and_above_the_share_from_which_tables_are_taken(share):
    """Of 40 items: a few pairs, just fewer than half of all, just more, all."""
    rng = np.random.default_rng(9)
    both = np.transpose(np.triu_indices(40, 1))
    both = both[rng.permutation(len(both))[: int(share * len(both))]]
    pair = both[rng.integers(0, len(both), 4 * len(both))]
    points = rng.integers(0, 3, len(pair))
    names = [f"item {at}" for at in range(40)]
    mechanism = strengths(n_items=40, unit="comparison", per_person=None)
    seen = set()
    for way in range(30):
        order = rng.permutation(len(pair)) if way else np.arange(len(pair))
        turned = rng.random(len(pair)) < 0.5 * bool(way)
        first, second = np.where(turned, pair[order][:, ::-1].T, pair[order].T)
        outcome = np.where(turned, 2 - points[order], points[order]) / 2
        data = dprank.Comparisons(first, second, outcome, names)
        seen.add(unrounded(mechanism, data, order, 2))
    assert len(seen) == 1


# --- reports in another order ----------------------------------------------------------------------------------------


def reports_on_pairs():
    poll = dprank.LocalComparisons.calibrated(epsilon=2.0, n_items=5, per_person=4)
    made = np.random.default_rng(1)
    asked = [np.array([made.permutation(5)[:2] for _ in range(made.integers(1, 5))]) for _ in range(40)]
    sent = [list(poll.report(made.integers(-1, 2, len(pairs)), made)) for pairs in asked]

    def said(rng=None):
        order = np.arange(40) if rng is None else rng.permutation(40)
        table = np.full((40, 4, 2), -1)
        for row, person in enumerate(order):
            table[row, : len(asked[person])] = asked[person]
        if rng is not None:
            table = table.astype(rng.choice([np.int8, np.int32, np.int64]))
        reports = [sent[person] for person in order]
        return bits(poll.aggregate(reports, table, np.random.default_rng(2), items="abcde"))

    return said


def reports_of(poll, votes, read=None, kinds=WHOLE):
    """What `read`, or `aggregate`, says of the reports of voters, in another order and as an array of another type."""
    made = np.random.default_rng(1)
    sent = np.array([list(poll.report(vote, made)) for vote in votes])

    def said(rng=None):
        table = sent
        if rng is not None:
            table = rng.permutation(sent).astype(rng.choice(kinds))
            table = table if rng.random() < 0.5 else table.tolist()
        drawn = np.random.default_rng(2)
        return bits(read(table) if read else poll.aggregate(table, drawn, items=ITEMS[: poll.n_items]))

    return said


def _votes(m=5, voters=30):
    return np.random.default_rng(6).permuted(np.tile(np.arange(m), (voters, 1)), axis=1)


def reports_of_items():
    poll = LocalTopK.calibrated(epsilon=2.0, n_items=6, k=2, per_person=2)
    read = lambda table: poll.aggregate(table, np.random.default_rng(2))  # noqa: E731
    return reports_of(poll, np.random.default_rng(3).integers(0, 6, (40, 2)), read)


def decided(poll, signs):
    """What a local test says of its signs, in another order and as an array of another type."""
    return lambda rng=None: bits(
        poll.decide(signs if rng is None else rng.permutation(signs).astype(rng.choice(SIGNED)))
    )


def answers_to_pairs():
    poll = dprank.LocalPairs.calibrated(epsilon=2.0, n_items=4)
    made = np.random.default_rng(1)
    return decided(poll, poll.report(_votes(4), poll.pairs(made), made))


def answers_of_groups():
    poll = dprank.LocalOneBit.calibrated(epsilon=2.0, n_items=4)
    return decided(poll, 2 * np.random.default_rng(1).integers(0, 2, (20, 2)) - 1)


def answers_in_stages():
    poll = dprank.LocalTwoStage.calibrated(epsilon=2.0, n_items=4)
    return decided(poll, 2 * np.random.default_rng(1).integers(0, 2, 40) - 1)


SIGNED = (np.int8, np.int16, np.int32, np.int64)
#: Mechanism to what says what it makes of its reports. Those for research, on the sphere, add up floats: they are not
#: published.
REPORTS: dict[str, Callable[[], Any]] = {
    "LocalComparisons": reports_on_pairs,
    "LocalBorda": lambda: reports_of(of("LocalBorda", n_items=5), _votes()),
    "LocalMatrix": lambda: reports_of(of("LocalMatrix", n_items=5), _votes()),
    "LocalMatrix, split": lambda: reports_of(
        dprank.LocalMatrix(randomisers.SplitResponse.calibrated(epsilon=9.0, n_items=5)), _votes(), kinds=SIGNED
    ),
    "LocalTopK": reports_of_items,
    "LocalPairs": answers_to_pairs,
    "LocalOneBit": answers_of_groups,
    "LocalTwoStage": answers_in_stages,
}


def differing_reports(name, ways, seed=13):
    said, rng = REPORTS[name](), np.random.default_rng(seed)
    seen = said()
    return sum(said(rng) != seen for _ in range(ways))


@pytest.mark.parametrize("name", REPORTS)
def test_reports_in_another_order_say_the_same(name):
    assert differing_reports(name, 40) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_reports_in_a_thousand_orders_say_the_same(name):
    assert differing_reports(name, WAYS) == 0


@pytest.mark.parametrize("times", [2, 3, 7])
def test_scores_of_local_borda_do_not_tell_how_many_reported(times):
    """As often the reverse of what is sent: the sums are as before, whatever the number of reports."""
    poll = of("LocalBorda", n_items=5)
    sent = np.array([list(poll.report(vote, np.random.default_rng(at))) for at, vote in enumerate(_votes())])
    more = np.concatenate([sent, *[np.concatenate([sent, sent[:, ::-1]])] * times])
    one, other = (poll.aggregate(table, SECURE, items=ITEMS[:5]).scores for table in (sent, more))
    assert one.tobytes() == other.tobytes()


# --- doors -----------------------------------------------------------------------------------------------------------


def _frames(frame, rng):
    """A table as pandas, polars and pyarrow have it, its rows in another order."""
    mixed = frame.iloc[rng.permutation(len(frame))]
    yield mixed
    yield mixed.astype({name: "category" for name in mixed if mixed[name].dtype.kind not in "if"})
    if find_spec("polars"):
        yield import_module("polars").from_pandas(mixed.reset_index(drop=True))
    if find_spec("pyarrow"):
        yield import_module("pyarrow").Table.from_pandas(mixed, preserve_index=False)


def _of_frames(read, mechanism, frame):
    rng = np.random.default_rng(1)
    seen = {repr(bits(mechanism.release(read(frame), np.random.default_rng(3))))}
    for _ in range(5):
        seen |= {repr(bits(mechanism.release(read(one), np.random.default_rng(3)))) for one in _frames(frame, rng)}
    return len(seen)


def test_tables_of_any_kind_give_the_same_bits():
    first, second, points, voter = SPARSE.raw
    names = np.array(ITEMS)
    frame = pd.DataFrame({"first": names[first], "second": names[second], "outcome": points / 2, "who": voter})
    read = partial(dprank.Comparisons.from_frame, items=ITEMS, voter="who")
    for mechanism in (comparing(per_person=2), strengths()):
        assert _of_frames(read, mechanism, frame) == 1
    had = pd.DataFrame({"who": np.arange(90) % 31, "what": names[np.random.default_rng(2).integers(0, 6, 90)]})
    persons = partial(dprank.Tallies.from_frame, items=ITEMS[:6], person="who", item="what")
    assert _of_frames(persons, case_of("Oneshot").mechanism, had) == 1


def twice_over():
    """A table in which everybody has two rankings, of which one stays."""
    table = pd.DataFrame(_votes(4, 24) + 1, columns=list(ITEMS[:4]))
    return table.assign(who=np.arange(24) % 12)


@pytest.mark.parametrize("kind", [dprank.Rankings, dprank.Ballots])
def test_which_of_two_rows_of_a_person_comes_first_decides_nothing(kind):
    read = partial(kind.from_frame, items=ITEMS[:4], voter="who")
    mechanism = of("NoisyMatrix", ballots="full" if kind is dprank.Rankings else "partial")
    assert _of_frames(read, mechanism, twice_over()) == 1


# --- what is published lies on a grid that is public ------------------------------------------------------------------


MECHANISMS = sorted(
    name
    for name in dprank.__all__
    if isinstance(kind := getattr(dprank, name), type) and hasattr(kind, "guarantee") and hasattr(kind, "release")
    if name not in ("Release", "Ranking", "Selection", "Decision")
)


def test_every_mechanism_has_a_case():
    assert len(MECHANISMS) == 26
    assert {name.split(",")[0] for name in [*CASES, *REPORTS]} == set(MECHANISMS)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_says_what_it_publishes(name):
    kind = getattr(dprank, name)
    assert "publishes" in vars(kind), "no heir says what its parent said"
    assert all(isinstance(one, Published) for one in kind.publishes)
    assert sentence(kind) in " ".join(kind.__doc__.split())


def exact_releases(name):
    """A release for publication, where there is one; else by a generator."""
    case = case_of(name)
    data = case.data.given()[0]
    for seed in range(3):
        yield case.mechanism.release(data, SECURE if drawn_exactly(case.mechanism) else np.random.default_rng(seed))


#: Noise on the real line, for research: only what is not published so is on a grid.
_REAL = {"NoisyCounts, half"}


@pytest.mark.parametrize("name", [name for name in CASES if name not in _REAL])
def test_what_is_published_lies_on_its_grid(name):
    for release in exact_releases(name):
        assert off_grid(release) == []


def test_reports_give_what_lies_on_a_grid():
    votes = dprank.Rankings(_votes(), ITEMS[:5])
    answers, _ = SPARSE.given()
    poll = dprank.LocalComparisons.calibrated(epsilon=1.0, n_items=16, per_person=4)
    for release in (
        *(of(name, n_items=5).release(votes, SECURE) for name in ("LocalBorda", "LocalMatrix")),
        *(of(name, n_items=5).release(votes, SECURE) for name in ("LocalPairs", "LocalOneBit", "LocalTwoStage")),
        poll.release(answers, SECURE),
    ):
        assert off_grid(release) == []


@pytest.mark.parametrize(("name", "reports", "pairs"), [("LocalPairs", 30, 2), ("LocalOneBit", 15, 2)])
def test_statistics_of_reports_are_whole_numbers_over_their_number(name, reports, pairs):
    # `off_grid` sees a release alone, and so not how many reported
    made = of(name, n_items=5).release(dprank.Rankings(_votes(), ITEMS[:5]), SECURE)
    for value in (made.statistic, made.threshold):
        assert value == round(value * reports) / reports
    assert made.p_value == max(unif.LEAST, float(unif.unif_null_sf(pairs, reports, made.statistic)))


def test_estimates_of_reports_are_those_of_whole_numbers():
    case = case_of("LocalTopK")
    data = case.data.given()[0]
    persons = len(np.unique(data.person)) + len(data.without)
    values = case.mechanism.release(data, SECURE).values
    p, q = case.mechanism.chances
    held = np.rint(values * (p - q) + persons * q).astype(np.int64)
    assert case.mechanism.estimates(held, persons).tobytes() == values.tobytes()


def test_strengths_of_any_size_lie_on_the_grid():
    mechanism = dprank.PerturbedMLE.calibrated(epsilon=1e-3, n_items=4, ridge=1e-9, graph="public", per_person=2)
    data = dprank.Comparisons([0], [1], [1], "abcd", [7])  # two items that nobody compares: far apart
    scores = mechanism.release(data, SECURE).scores
    assert np.abs(scores).max() > 1e9
    assert (scores * 2.0**40 % 1 == 0).all()
    given = np.array([0.0, -0.0, -(2.0**-42), 4096.0, -4096.25, 1e300, -1e308, 0.1])
    found = perturbed_mle._on_grid(given)
    assert found.tolist()[:7] == [0.0, 0.0, 0.0, 4096.0, -4096.25, 1e300, -1e308]
    assert not np.signbit(found[:3]).any()
    assert 0 < abs(found[7] - 0.1) <= perturbed_mle.STEP / 2
    assert found[7] * 2.0**40 % 1 == 0


# --- planted bugs ----------------------------------------------------------------------------------------------------


def in_order_of_rows(patch):
    """Pairs are listed as they came: the bug of version 0.2, before its strengths were put on a grid."""
    sound = games._merge_few

    def merged(first, second, points, n):
        start, other, played, won = sound(first, second, points, n)
        low, high = np.minimum(first, second).astype(int), np.maximum(first, second).astype(int)
        pair, seen = np.unique(low * n + high, return_index=True)
        order = np.lexsort((seen, pair // n))
        return start, other[order], played[order], won[order]

    patch.setattr(games, "_merge_few", merged)


def the_first_rows_stay(patch):
    """A bound keeps what comes first in the table."""

    def first(group, what, most):
        order = np.argsort(group[0], kind="stable")
        stays = np.ones(len(order), bool)
        for person in np.unique(group[0]):
            stays[order[group[0][order] == person][most:]] = False
        return stays

    for module in (bounding, comparisons, rankings, ballots, tallies):
        patch.setattr(module, "kept", first)


def signs_are_weighed_before_they_are_added(patch):
    """Floats in the order of the reports: the bug of version 0.2."""

    def ranking(self, items, pairs, signs, asked, source, rng):
        value = signs * (asked / (np.minimum(asked, self.length) * self.shrinkage))
        first, second = (np.bincount(side, value, self.n_items) for side in pairs)
        return dprank.Ranking(items, best_first(first - second, rng), first - second, mechanism=self, source=source)

    patch.setattr(local_comparisons.LocalComparisons, "_ranking", ranking)


def places_are_averaged_in_order(patch):
    """A running mean, rounded at each row."""

    def counts(self, data):
        mean = np.zeros(self.n_items)
        for at, row in enumerate(data.positions):
            mean += (row - mean) / (at + 1)
        return mean * len(data)

    patch.setattr(private_borda.PrivateBorda, "counts", counts)


def the_first_row_breaks_ties(patch):
    """Equal scores in the order in which items are named in the data."""
    sound = noisy_counts.NoisyCounts.release

    def release(self, data, rng):
        made = sound(self, data, rng)
        order = [data.first[0], *[item for item in made.order if item != data.first[0]]]
        scores = np.sort(made.scores)[::-1][np.argsort(order)]
        return dprank.Ranking(data.items, np.array(order), scores, mechanism=self, source=made.source)

    patch.setattr(noisy_counts.NoisyCounts, "release", release)


def rows_are_not_dealt(patch):
    """Batches are those of the table."""
    patch.setattr(bucketed._Batches, "dealt", lambda self, data, rng: (rng.permutation(len(data)), data.positions)[1])


def floats_are_drawn_for_otherwise(patch):
    """The type of a column decides what is drawn."""
    sound = oneshot.finite

    def finite(values):
        given = sound(values)
        return given if given.dtype.kind == "i" else given * (1 + 2**-52)

    patch.setattr(oneshot, "finite", finite)


def the_first_answer_takes_a_route(patch):
    """The solver starts from who won the first row."""
    sound = perturbed_mle.mle

    def mle(data, **named):
        fit = sound(data, **named, tolerance=1e-8 if data.points[0] else 1e-6)
        return fit

    patch.setattr(perturbed_mle, "mle", mle)


def ties_count_for_the_first(patch):
    """An undecided answer is a win of the item that stands on the left."""
    sound = noisy_counts.whole_counts

    def counts(data, score):
        return sound(data, score) + np.bincount(data.first[data.points == 1], minlength=data.n_items)

    patch.setattr(noisy_counts, "whole_counts", counts)


def numbers_of_persons_are_read(patch):
    """The largest number of a person is added: whoever it is."""
    sound = noisy_counts.NoisyCounts.counts

    def counts(self, data):
        return sound(self, data) + np.eye(1, self.n_items, dtype=np.int64)[0] * int(data.voters[-1])

    patch.setattr(noisy_counts.NoisyCounts, "counts", counts)


def items_as_the_table_has_them(patch):
    """Counts by the order in which a Series has its labels."""
    sound = oneshot.counted

    def counted(values, n_items, items, **named):
        return sound(values, n_items, list(values.index), **named)

    patch.setattr(oneshot, "counted", counted)


def norms_in_single_precision(patch):
    """Sums of places as floats, a row after the other."""

    def squared(self, positions, pairs=None):
        total = np.float16(0)
        for row in positions.reshape(-1, positions.shape[-1]):
            total = np.float16(total + np.float16(row[0] / 3))
        return np.int64(float(total) * 1000)

    patch.setattr(noisy_norm.NoisyNorm, "squared_norm", squared)


def reports_are_averaged_in_order(patch):
    """A running mean of what is sent."""
    sound = randomisers.OrderReport.estimate

    def estimate(self, reports):
        mean = np.zeros(self.n_items)
        for at, row in enumerate(reports):
            mean += (sound(self, row[None]) - mean) / (at + 1)
        return mean

    def ordered(self, items, estimates, voters, rng):
        scores = private_borda.centred_scores(voters * estimates)
        return dprank.Ranking(items, best_first(scores, rng), scores, mechanism=self)

    patch.setattr(randomisers.OrderReport, "estimate", estimate)
    patch.setattr(local_borda.LocalBorda, "_order", ordered)


def the_first_report_decides_ties(patch):
    """Equal numbers of reports in the order of the first report."""
    sound = LocalTopK._selection

    def selection(self, held, persons, source, rng):
        return sound(self, held + 1e-9 * np.arange(len(held)) * self.first, persons, source, rng)

    read = LocalTopK.aggregate

    def aggregate(self, reports, rng):
        object.__setattr__(self, "first", int(reports[0][0]))
        return read(self, reports, rng)

    patch.setattr(LocalTopK, "_selection", selection)
    patch.setattr(LocalTopK, "aggregate", aggregate)


def weights_by_the_side(patch):
    """A pair that is turned round is another pair."""
    sound = games._merge_few

    def merged(first, second, points, n):
        start, other, played, won = sound(first, second, points, n)
        return start, other, played + (np.arange(len(played)) == int(first[0] > second[0])), won

    patch.setattr(games, "_merge_few", merged)


PLANTED = [
    (in_order_of_rows, "PerturbedMLE, sparse solver"),
    (in_order_of_rows, "PerturbedMLE, real noise"),
    (in_order_of_rows, "PerturbedMLE, private"),
    (in_order_of_rows, "PerturbedMLE, link"),
    (the_first_rows_stay, "NoisyCounts"),
    (the_first_rows_stay, "PerturbedMLE, dense"),
    (places_are_averaged_in_order, "PrivateBorda"),
    (the_first_row_breaks_ties, "NoisyCounts"),
    (rows_are_not_dealt, "BatchVote"),
    (rows_are_not_dealt, "OptimalVote"),
    (floats_are_drawn_for_otherwise, "Oneshot, series"),
    (the_first_answer_takes_a_route, "PerturbedMLE, sparse solver"),
    (ties_count_for_the_first, "NoisyCounts"),
    (numbers_of_persons_are_read, "NoisyCounts, renumbered"),
    (items_as_the_table_has_them, "Oneshot, series"),
    (norms_in_single_precision, "NoisyNorm"),
    (weights_by_the_side, "PerturbedMLE, sparse"),
]


@pytest.mark.parametrize(("plant", "name"), PLANTED, ids=[f"{plant.__name__}, {name}" for plant, name in PLANTED])
def test_planted_bugs_are_seen(plant, name, monkeypatch):
    plant(monkeypatch)
    if name in ("PrivateBorda",):
        monkeypatch.setattr(private_borda.PrivateBorda, "_drawn", lambda self, size, rng: np.zeros(size))
    assert differing(name, 40) > 0


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (signs_are_weighed_before_they_are_added, "LocalComparisons"),
        (reports_are_averaged_in_order, "LocalBorda"),
        (the_first_report_decides_ties, "LocalTopK"),
    ],
)
def test_planted_bugs_are_seen_in_reports(plant, name, monkeypatch):
    plant(monkeypatch)
    assert differing_reports(name, 40) > 0


@pytest.mark.parametrize("kind", [dprank.Rankings, dprank.Ballots])
def test_planted_rules_of_the_first_row_are_seen(kind, monkeypatch):
    the_first_rows_stay(monkeypatch)
    read = partial(kind.from_frame, items=ITEMS[:4], voter="who")
    mechanism = of("NoisyMatrix", ballots="full" if kind is dprank.Rankings else "partial")
    assert _of_frames(read, mechanism, twice_over()) > 1


def test_numbers_off_the_grid_are_seen(monkeypatch):
    def faults(name):
        return off_grid(next(exact_releases(name)))

    monkeypatch.setattr(perturbed_mle, "_on_grid", lambda strengths: strengths)
    assert faults("PerturbedMLE, sparse") == ["scores"]
    borda, votes = case_of("PrivateBorda").mechanism, VOTES.given()[0]
    means = private_borda.centred_scores(votes.positions.mean(axis=0))
    assert off_grid(dprank.Ranking(votes.items, np.argsort(-means), means, mechanism=borda)) == ["scores"]
    monkeypatch.setattr(dprank.NoisyCounts, "publishes", dprank.NoisyCounts.publishes[1:])
    assert faults("NoisyCounts") == ["scores"], "what is not listed is a fault"
    monkeypatch.setattr(bucketed.BatchVote, "_p_value", lambda self, noisy: 0.1 + 1e-17 * noisy)
    made = case_of("BatchVote")
    release = made.mechanism.release(made.data.given()[0], SECURE)
    monkeypatch.undo()
    assert off_grid(release) == ["p_value"]


def test_what_is_derived_of_a_release_is_no_field_of_it():
    # catches what a release keeps for itself, such as its guarantee once that is asked for
    release = of("PrivateBorda").release(VOTES.given()[0], SECURE)
    before = off_grid(release)
    assert (release.guarantee is not None, off_grid(release)) == (True, before)
    assert before == []
