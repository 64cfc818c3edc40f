"""No message tells of a person: not the error, not its traceback, not a warning.

Data whose every cell, label, name of a row and unasked column is one of a few canaries are put, with every fault,
through every door that takes data. What comes back may name the field, the position and what is allowed.
"""

import io
import traceback
import warnings
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dprank.aggregation import (
    ExponentialMechanism,
    LocalBorda,
    LocalKwikSort,
    LocalMatrix,
    NoisyMatrix,
    PrivateBorda,
    PrivateFootrule,
    PrivateKwikSort,
    PrivateWinner,
    kemeny_score,
    shrink,
)
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.randomisers import SampledOrder, SplitResponse
from dprank.audit import audit
from dprank.data import kendall
from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons, read_comparisons
from dprank.data.counting import pairwise_wins, win_counts, win_counts_parquet
from dprank.data.rankings import Rankings, read_rankings
from dprank.data.tallies import Tallies, read_tallies
from dprank.models.bradley_terry import sample_voters
from dprank.models.likelihood import gradient, mle, mle_from_counts
from dprank.models.mallows import Mallows
from dprank.pairwise import LocalComparisons, NoisyCounts, PerturbedMLE, rank_law
from dprank.topk import JointExponential, LocalTopK, Oneshot, Peeling, PrivateRankCentrality, rank_centrality
from dprank.topk.spectral import stationary_distribution, transition_matrix
from dprank.uniformity import (
    BatchVote,
    Bucketed,
    Friedman,
    LaplaceUnif,
    LocalOneBit,
    LocalPairs,
    LocalTwoStage,
    MallowsApproximate,
    NoisyNorm,
    OptimalVote,
    Trun,
    TwoSample,
    Unif,
)

# written so that no line of this file, as a traceback shows it, has one
WORD, NUMBER = "-".join(["secret", "ann"]), 987_654_321
CANARIES = WORD, str(NUMBER)
RNG = np.random.default_rng(0)


def said(call, errors=ValueError):
    """All that a user, or a log, gets to see of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
            texts = []
        except Exception as error:
            assert isinstance(error, errors), traceback.format_exc()  # noqa: PT017
            texts = [str(error), repr(error), "".join(traceback.format_exception(error))]
    return [*texts, *(str(warning.message) for warning in caught)]


def silent(call, errors=ValueError):
    """Whether it was refused; never with a canary."""
    texts = said(call, errors)
    assert [text for text in texts for canary in CANARIES if canary in text] == []
    return bool(texts)


def refused_in_silence(call):
    assert silent(call)


# --- tables and files ------------------------------------------------------------------------------------------------

ANSWERS = {
    "first": list("aabb"),
    "second": list("bccc"),
    "outcome": [1, 0, 1, 0],
    "voter": [WORD, NUMBER, WORD, str(NUMBER)],
    WORD: [WORD] * 4,
    NUMBER: [NUMBER] * 4,
}
BALLOTS = {"a": [1, 2, 3], "b": [2, 1, 2], "c": [3, 3, 1], "voter": [f"{WORD}-{i}" for i in range(3)], WORD: [WORD] * 3}
STRANGE = [WORD, NUMBER, NUMBER + 0.5, str(NUMBER), None, np.nan, True, (WORD,), [NUMBER], {WORD: NUMBER}]
STRANGE += [10**400 + NUMBER, -NUMBER, NUMBER * 1j, pd.Timestamp(NUMBER), WORD.encode()]


def faults(columns, strange):
    """The table with one cell of one column replaced; without a column; with a column twice; of strange shape."""
    good = pd.DataFrame(columns, index=[WORD] * (len(columns["voter"]) - 1) + [NUMBER])
    for column in [name for name in columns if name not in CANARIES and name != NUMBER]:
        yield good.drop(columns=column)
        yield pd.concat([good, good[[column]]], axis=1)
        for value in strange:
            bad = good.astype(object)
            bad.iat[1, bad.columns.get_loc(column)] = value
            yield bad
    yield good.iloc[:0]
    yield good.T
    yield good.to_dict()


def of_answers(frame):
    return Comparisons.from_frame(frame, items="abc", voter="voter")


def of_ballots(frame):
    return Rankings.from_frame(frame, items="abc", voter="voter")


def of_tallies(frame):
    return Tallies.from_frame(frame, items="abc", person="voter", item="first")


@pytest.mark.parametrize(("door", "columns"), [(of_answers, ANSWERS), (of_ballots, BALLOTS), (of_tallies, ANSWERS)])
def test_tables(door, columns):
    refusals = 0
    for frame in faults(columns, STRANGE):
        refusals += silent(lambda frame=frame: door(frame))
    assert refusals > (5 if door is of_tallies else 20)


TEXTS = [
    f"{WORD},{NUMBER}\n1,2\n",
    f"first,second,outcome\n{WORD},b,1\n",
    f"first,second,outcome\na,b,{WORD}\n",
    f"first,second,outcome\na,b,{NUMBER}\n",
    f"first,second,outcome,{WORD}\na,a,1,{WORD}\n",
    f"first,second,outcome,voter\na,b,1,{WORD}\na,c,1,\n",
    f"first,second,outcome\na,b,1\n{WORD},b,1,{NUMBER},{WORD}\n",
    f'first,second,outcome\na,b,"{WORD}\n',
    f"first,second,outcome,outcome,{WORD}\na,b,1,1,{WORD}\n",
    f"a,b,c,voter\n1,2,3,{WORD}\n1,2,3,{WORD}\n",
    f"a,b,c\n1,2,{WORD}\n",
    f"a,b,c\n1,2,{NUMBER}\n",
    f"a,b,c,{WORD}\n1,2,,{NUMBER}\n",
    f"a,a,b,c,{WORD}\n1,1,2,3,{NUMBER}\n",
    f"a,b,c\n{WORD},\0,{NUMBER}\n",
    f"{WORD}\xff",
    "",
]
READERS = [
    lambda path: read_comparisons(path, items="abc", voter=None),
    lambda path: read_comparisons(path, items="abc", voter="voter"),
    lambda path: read_rankings(path, items="abc", voter=None),
    lambda path: read_rankings(path, items="abc", voter="voter"),
    lambda path: read_tallies(path, items="abc", person="voter", item="first"),
    lambda path: win_counts_parquet(path, "abc"),
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.slow
def test_files(text, tmp_path):
    (tmp_path / "t").write_bytes(text.encode("latin-1"))
    refusals = 0
    for read in READERS:
        refusals += silent(lambda read=read: read(tmp_path / "t"))
        silent(lambda read=read: read(io.StringIO(text)))
        if "\n" in text:  # what is in the file, where its name belongs
            refused_in_silence(lambda read=read: read(text))
        refused_in_silence(lambda read=read: read(pd.DataFrame({WORD: [text]})))
    assert refusals >= len(READERS) - 2


def test_parquet(tmp_path):
    for columns in (ANSWERS, BALLOTS):
        for frame in faults(columns, [WORD, NUMBER, None, [WORD], (NUMBER,)]):
            try:
                frame.to_parquet(tmp_path / "t")
            except Exception:
                continue  # no such file can be
            for read in READERS:
                silent(lambda read=read: read(tmp_path / "t"))
    pd.DataFrame(BALLOTS).to_parquet(tmp_path / "t")
    whole = (tmp_path / "t").read_bytes()
    for cut in (4, len(whole) // 2, len(whole) - 9):
        (tmp_path / "t").write_bytes(whole[:cut] + WORD.encode() + whole[cut + len(WORD) :])
        for read in READERS:
            assert silent(lambda read=read: read(tmp_path / "t")) or cut == len(whole) // 2  # it may be a comment


# --- arrays ----------------------------------------------------------------------------------------------------------

PAIR = Comparisons([0, 0, 0, 1], [1, 1, 2, 2], [1, 0.5, 1, 0], "abc", [NUMBER, NUMBER, NUMBER, 5])
VOTES = Rankings([[0, 1, 2, 3], [3, 2, 1, 0]] * 20, "abcd")
WORDS, NUMBERS = [WORD, WORD, "x"], [NUMBER, NUMBER + 1, NUMBER]
TABLES: list[Any] = [
    WORD,
    WORDS,
    NUMBERS,
    [WORDS] * 3,
    [NUMBERS] * 3,
    [NUMBERS, WORDS[:2]],
    {WORD: NUMBER},
    [[NUMBER * 1j]],
    None,
]
TABLES += [np.array(WORDS, object), np.array(NUMBERS) * 1.0, pd.Series(WORDS, WORDS), pd.DataFrame({WORD: NUMBERS})]
TABLES += [pd.Series([NUMBER, np.nan, 1], WORDS), pd.Series([np.inf, NUMBER], [WORD, NUMBER]), [NUMBER, np.nan, 0.3]]
POLL = LocalMatrix(SplitResponse.calibrated(n_items=3, epsilon=1.0))
ORDERS = LocalMatrix(SampledOrder.calibrated(n_items=3, epsilon=1.0, length=2))
SPHERE = LocalMatrix(VectorReport.calibrated(n_items=3, epsilon=1.0))

#: Whatever of the tables a door takes, it takes; what it refuses, it refuses without a word of it.
DOORS = {
    "first": lambda x: Comparisons(x, [1, 2, 1], [1, 1, 1], "abc"),
    "second": lambda x: Comparisons([1, 2, 1], x, [1, 1, 1], "abc"),
    "outcome": lambda x: Comparisons([1, 2, 1], [0, 0, 0], x, "abc"),
    "voter": lambda x: Comparisons([1, 2, 1], [0, 0, 0], [1, 1, 1], "abc", x),
    "items": lambda x: Comparisons([0], [1], [1], x if x is None else [*x, *x]),
    "positions": lambda x: Rankings(x, "abc"),
    "places": lambda x: Ballots(x, "abc"),
    "weights": lambda x: Ballots([[0, 1, 2]] * 3, "abc", x),
    "orders": lambda x: Rankings.from_orders(x, "abc"),
    "ballot items": lambda x: Rankings([[0, 1, 2]], x if x is None else [*x, *x]),
    "win_counts": win_counts,
    "pairwise_wins": pairwise_wins,
    "distance": lambda x: kendall.kendall_distance(x, [0, 1, 2]),
    "distances": lambda x: kendall.kendall_distances(x, [0, 1, 2]),
    "all distances": kendall.pairwise_kendall_distances,
    "mle": lambda x: mle(x, ridge=1.0),
    "linear": lambda x: mle(PAIR, ridge=1.0, linear=x),
    "wins": lambda x: mle(PAIR, ridge=1.0, wins=x),
    "batch": lambda x: mle_from_counts(np.ones((3, 3)) - np.eye(3), x, ridge=1.0),
    "played": lambda x: mle_from_counts(x, np.ones((1, 3)), ridge=1.0),
    "gradient": lambda x: gradient(x, PAIR),
    "theta": lambda x: sample_voters(x, 2, 1, rng=RNG),
    "centre": lambda x: Mallows(3, 1.0).sample(2, rng=RNG, centre=x),
    "scores": lambda x: NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3).perturb(x, RNG),
    "rank law": lambda x: rank_law(x, 1.0, law="discrete"),
    "shares": lambda x: transition_matrix(3, [(0, 1), (1, 2)], x),
    "chain": stationary_distribution,
    "centrality": rank_centrality,
    "shrink": shrink,
    "order": lambda x: kemeny_score(x, np.ones((3, 3)) / 2),
    "w": lambda x: kemeny_score([0, 1, 2], x),
    "margin": lambda x: NoisyMatrix.calibrated(n_items=3, epsilon=1.0).perturb(x, RNG),
    "sum": lambda x: PrivateBorda.calibrated(n_items=3, epsilon=1.0).perturb(x, RNG),
    "votes": lambda x: ExponentialMechanism.calibrated(n_items=3, epsilon=1.0).draw(x, 1, RNG),
    "reports": lambda x: POLL.aggregate(x, RNG, items="abc"),
    "sampled orders": lambda x: ORDERS.aggregate(x, RNG, items="abc"),
    "directions": lambda x: SPHERE.aggregate(x, RNG, items="abc"),
    "report": lambda x: POLL.report(x, RNG),
    "peers": lambda x: LocalPairs.calibrated(epsilon=1.0, n_items=3).decide(x),
    "peer": lambda x: LocalPairs.calibrated(epsilon=1.0, n_items=3).report(x, [(0, 1)], RNG),
    "pairs": lambda x: audit(Oneshot.calibrated(epsilon=1.0, k=1), x, rng=RNG),
}

MECHANISMS = [
    NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3),
    PerturbedMLE.calibrated(epsilon=1.0, n_items=3, ridge=1.0, graph="public", per_person=3),
    Oneshot.calibrated(epsilon=1.0, n_items=3, k=2),
    Peeling.calibrated(epsilon=1.0, k=2, noise="laplace"),
    JointExponential.calibrated(epsilon=1.0, n_items=3, k=2),
    PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=1),
    LocalComparisons.calibrated(epsilon=1.0, n_items=3, per_person=2),
    LocalTopK.calibrated(epsilon=1.0, n_items=3, k=2, per_person=2),
    *(
        mechanism.calibrated(epsilon=1.0, n_items=4)
        for mechanism in (
            ExponentialMechanism,
            LocalBorda,
            LocalKwikSort,
            LocalMatrix,
            LocalOneBit,
            LocalPairs,
            LocalTwoStage,
        )
    ),
    *(
        mechanism.calibrated(epsilon=1.0, n_items=4)
        for mechanism in (NoisyMatrix, PrivateBorda, PrivateFootrule, PrivateKwikSort, PrivateWinner)
    ),
    BatchVote(4, 40, 10, 6.0, 1.0, 3),
    Bucketed(4, 40, 2, 6.0, 0.5),
    OptimalVote(4, 40, 10, 6.0, 1.0, 3.0, bound=8.0),
    LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=40, size=0.05),
    NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40),
    Trun.calibrated(epsilon=1.0, n_items=4, n_voters=40, size=0.05),
]
TESTS = [
    Unif.calibrated(n_items=4, n_voters=40),
    Friedman(4, 40),
    MallowsApproximate.calibrated(n_items=4, n_voters=40, size=0.05, centre="borda"),
    TwoSample.calibrated(n_items=4, size=0.05),
]


@pytest.mark.parametrize("name", DOORS)
def test_arrays(name):
    refusals = 0
    for table in TABLES:
        refusals += silent(lambda table=table: DOORS[name](table))
    assert refusals > 5


@pytest.mark.parametrize("mechanism", [*MECHANISMS, *TESTS], ids=lambda m: type(m).__name__)
def test_releases(mechanism):
    release = getattr(mechanism, "release", None) or mechanism.test
    for table in TABLES:
        silent(lambda table=table: release(table, RNG))
        # the data where the randomness belongs
        for data in (PAIR, VOTES, [1, 2, 3]):
            refused_in_silence(lambda data=data, table=table: release(data, table if table is not None else WORDS))


@pytest.mark.parametrize("mechanism", [*MECHANISMS, *TESTS], ids=lambda m: type(m).__name__)
def test_data_where_a_parameter_belongs(mechanism):
    for table in [pd.Series(NUMBERS, WORDS), pd.DataFrame({WORD: NUMBERS}), np.array(NUMBERS), WORDS, {WORD: NUMBER}]:
        for field in fields(mechanism):
            silent(lambda given={field.name: table}: replace(mechanism, **given), Exception)


@pytest.mark.parametrize(
    "broken",
    [
        lambda: NoisyCounts.calibrated(epsilon=1.0, n_items=4, per_person=3).release(PAIR, RNG),
        lambda: PerturbedMLE.calibrated(epsilon=1.0, n_items=4, ridge=1.0, graph="public", per_person=3).release(
            PAIR, RNG
        ),
        lambda: mle(Comparisons([0, 2], [1, 3], [1, 1], [WORD, "b", CANARIES[1], "d"])),
        lambda: mle(Comparisons([0, 1], [1, 2], [1, 1], [WORD, "b", CANARIES[1]])),
        lambda: rank_centrality(Comparisons([0, 2], [1, 3], [1, 1], [WORD, "b", CANARIES[1], "d"])),
        lambda: rank_centrality(Comparisons([0, 1], [2, 2], [1, 1], [WORD, CANARIES[1], "c"])),
        lambda: Oneshot.calibrated(epsilon=1.0, items=[WORD, "b"], k=2).release(
            pd.Series([1, 2, 3], [WORD, "b", WORD]), RNG
        ),
        lambda: Oneshot.calibrated(epsilon=1.0, items=[WORD, NUMBER, WORD], k=2),
    ],
)
def test_data_that_break_a_promise(broken):
    refused_in_silence(broken)
