"""Every public entry point of the library, every argument of each, and hundreds of things that may be handed to it.

    python tests/dprank/hostile_doors.py        # the whole table: what each argument makes of every input

A door may take what it is given, or refuse it in one line; nothing else, and never with a word of what data hold.
"""

import array
import collections
import contextlib
import datetime
import decimal
import functools
import io
import itertools
import math
import pathlib
import sys
import tempfile
import uuid
import warnings
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
from hostile_values import HOSTILE, SECONDS, Hang, time_limit
from scipy import sparse

import dprank
from dprank.audit import betting

#: What no message may hold, and no line of this file has.
WORD, NUMBER = "-".join(["secret", "ann"]), 987_654_321
CANARIES = WORD, str(NUMBER)
#: Of an audit, whose bets begin so much earlier than by default.
FIRST, RELEASES = 64, 256
#: Of what a door writes.
FOLDER = tempfile.TemporaryDirectory()


class Vicious:
    """Raises whatever it is asked."""

    def __array__(self, *_, **__):
        raise RuntimeError(WORD)

    __len__ = __iter__ = __getitem__ = __bool__ = __float__ = __index__ = __eq__ = __str__ = __repr__ = __array__
    __hash__ = None  # type: ignore[assignment]


class Still:
    """Releases what is no news."""

    guarantee = dprank.Guarantee(1.0)

    def release(self, data, rng):
        return 0.0


def arrays():
    """Of every kind of number, shape and extreme."""
    kinds = [*"bhilBHILefdgFD?", "O", "U3", "S3", "M8[s]", "m8[s]"]
    shapes = [(), (0,), (1,), (3,), (2, 3), (3, 3), (3, 0), (1, 1, 3)]
    for kind, shape in itertools.product(kinds, shapes):
        yield f"{np.dtype(kind)} {shape}", np.ones(shape, kind)
    for kind in "bhilBHIL":
        ends = np.iinfo(kind)
        yield f"{np.dtype(kind)} ends", np.array([ends.min, ends.max, ends.max], kind)
    for kind in "efdg":
        yield f"{np.dtype(kind)} ends", np.array([np.finfo(kind).max, -np.finfo(kind).max, 0], kind)
        for value in (np.nan, np.inf, -np.inf, -0.0, 0.5):
            yield f"{np.dtype(kind)} {value}", np.array([1, value, 2], kind)
    swapped = np.dtype("i4").newbyteorder()
    yield "swapped bytes", np.array([0, 2, 1], swapped)
    yield "not contiguous", np.arange(9)[::-3]
    yield "read-only", np.broadcast_to(np.int64(1), 3)
    yield "masked", np.ma.masked_array([0, 1, 2], [0, 1, 0])
    yield "record", np.array([(1, 2.0)], [("a", int), ("b", float)])
    yield "objects", np.array([1, None, WORD], object)
    yield "fractions", np.array([decimal.Decimal(1), 10**400, 0.5], object)


def containers():
    """What else may hold something."""
    rows = [0, 2, 1]
    kinds = [list, tuple, set, frozenset, collections.deque, iter, bytes, bytearray, pd.Series, pd.Index, pd.array]
    for kind in kinds:
        yield kind.__name__, kind(rows)
        yield f"empty {kind.__name__}", kind(pd.Series([], dtype=int) if kind is pd.array else [])
    yield "generator", (row for row in rows)
    yield "range", range(3)
    yield "dict", dict.fromkeys(rows, WORD)
    yield "Counter", collections.Counter(rows)
    yield "array", array.array("d", rows)
    yield "memoryview", memoryview(bytes(rows))
    yield "nested", [rows, [rows]]
    yield "ragged", [[0, 1], [0]]
    yield "words", [WORD, WORD, "x"]
    yield "numbers", [NUMBER, NUMBER + 1, NUMBER]
    yield "mixed", [1, "a", None]
    yield "holes", [1.0, None, np.nan]
    yield "sparse", sparse.csr_array(np.eye(3))
    yield "pandas sparse", pd.arrays.SparseArray([0, 0, 1])
    yield "categorical", pd.Categorical([WORD, "b", "c"])
    yield "nullable", pd.array([1, None, 3], dtype="Int64")
    yield "strings", pd.array([WORD, None, "c"], dtype="string")
    yield "arrow", pa.array([1, None, 3])
    yield "arrow table", pa.table({WORD: [NUMBER]})
    yield "dates", pd.date_range("2026-01-01", periods=3)
    yield "index of words", pd.Series([1, 2, 3], [WORD, "b", "c"])
    yield "index twice", pd.Series([1, 2, 3], list("aab"))
    yield "missing label", pd.Series([1, 2, 3], ["a", None, np.nan])
    yield "series of words", pd.Series([WORD, "b", "c"], list("abc"))
    yield "pairs", pd.MultiIndex.from_tuples([(WORD, 1), ("b", 2), ("c", 3)])


def frames():
    """Tables: of strange columns, rows, kinds and cells."""
    answers = {"first": list("aab"), "second": list("bcc"), "outcome": [1, 0.5, 0], "person": [WORD, NUMBER, "x"]}
    ballots = {"a": [1, 2, 3], "b": [2, 1, 2], "c": [3, 3, 1]}
    good = pd.DataFrame(answers | ballots)
    yield "frame", good
    yield "no rows", good.iloc[:0]
    yield "no columns", good[[]]
    yield "empty", pd.DataFrame()
    yield "transposed", good.T
    yield "strange index", good.set_index("person", drop=False)
    yield "columns of numbers", good.set_axis(range(7), axis=1)
    yield "categories", good.astype("category")
    yield "objects", good.astype(object)
    yield "strings", good.astype(str)
    yield "column of columns", pd.concat({WORD: good}, axis=1)
    for column in good:
        yield f"without {column}", good.drop(columns=column)
        yield f"{column} twice", pd.concat([good, good[[column]]], axis=1)
        for label, value in {"word": WORD, "number": NUMBER, "None": None, "nan": np.nan, "list": [NUMBER],
                             "huge": 10**400, "inf": math.inf, "tuple": (WORD,), "complex": 1j,
                             "date": pd.Timestamp(NUMBER), "bytes": WORD.encode(), "true": True}.items():  # fmt: skip
            bad = good.astype(object)
            bad.iat[1, bad.columns.get_loc(column)] = value
            yield f"{column} holds {label}", bad


def files(folder):
    """Whatever may lie on a disk, and what is no path."""
    texts = {
        "answers": "first,second,outcome,person\na,b,1,ann\na,c,0.5,bob\n",
        "ballots": "person,a,b,c\nann,1,2,3\nbob,2,1,3\n",
        "empty": "",
        "blank": "\n\n\n",
        "header": "first,second,outcome,person,a,b,c\n",
        "one word": WORD,
        "semicolons": "first;second;outcome;person\na;b;1;ann\n",
        "BOM": "\ufefffirst,second,outcome,person\na,b,1,ann\n",
        "quotes": f'first,second,outcome,person\na,b,"{WORD}\n',
        "ragged": f"first,second,outcome,person\na,b,1,ann,{WORD},{NUMBER}\n",
        "short": f"person,a,b,c\n{WORD},1,2\n",
        "zero byte": f"person,a,b,c\nann,1,\0,{WORD}\n",
        "columns twice": f"person,person,a,b,c\n{WORD},x,1,2,3\n",
        "json": f'{{"kind": "{WORD}"}}',
        "html": f"<html>{WORD}</html>",
        "carriage returns": "person,a,b,c\rann,1,2,3\r",
        "unknown item": f"first,second,outcome,person\n{WORD},b,1,ann\n",
        "no place": f"person,a,b,c\nann,1,2,{NUMBER}\n",
        "long line": "person,a,b,c\n" + "x" * 200_000 + ",1,2,3\n",
    }
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        yield f"file {name}", path
        yield f"open {name}", io.StringIO(text)
        (folder / f"{name}.parquet").write_bytes(b"PAR1" + text.encode() + b"PAR1")
        yield f"false Parquet {name}", folder / f"{name}.parquet"
    (folder / "latin").write_bytes("person,a,b,c\nm\xfcller,1,2,3\n".encode("latin-1"))
    (folder / "bytes").write_bytes(bytes(range(256)) * 9)
    for _, frame in itertools.islice(frames(), 2):
        with contextlib.suppress(Exception):
            frame.astype(str).to_parquet(folder / "strings.parquet")
    yield "file latin", folder / "latin"
    yield "file of bytes", folder / "bytes"
    yield "Parquet", folder / "strings.parquet"
    yield "folder", folder
    yield "nowhere", folder / "nowhere.csv"
    yield "long name", "x" * 5000
    yield "name with zero", "a\0b"
    yield "text of a table", f"person,a\n{WORD},1\n"


def things():
    """Whatever else there is."""
    yield from HOSTILE.items()
    yield "word", WORD
    yield "long word", WORD * 1000
    yield "lines", f"a\n{WORD}"
    yield "surrogate", "\ud800"
    yield "huge", 10**5000
    yield "date", datetime.date(2026, 1, 1)
    yield "uuid", uuid.UUID(int=NUMBER)
    yield "path", pathlib.Path(WORD)
    yield "generator of randomness", np.random.default_rng(1)
    yield "old generator", np.random.RandomState(1)
    yield "bit generator", np.random.PCG64(1)
    yield "module", math
    yield "vicious", Vicious()
    yield "class", dprank.NoisyCounts
    yield "SECURE", dprank.SECURE
    yield "guarantee", dprank.Guarantee(1.0)
    yield "ellipsis", ...


def inputs(folder):
    """All of them, by name."""
    kinds = {"array": arrays(), "container": containers(), "frame": frames(), "file": files(folder), "thing": things()}
    found = {f"{kind}: {name}": value for kind, group in kinds.items() for name, value in group}
    rows = np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([1, 0.5, 0]), "abc", np.array([1, 1, 2])
    found |= {
        "data: comparisons": dprank.Comparisons(*rows),
        "data: without voters": dprank.Comparisons(*rows[:4]),
        "data: of other items": dprank.Comparisons([0], [1], [1], "ab", [1]),
        "data: no comparisons": dprank.Comparisons([], [], [], "abc", []),
        "data: rankings": dprank.Rankings([[0, 1, 2], [2, 1, 0]], "abc"),
        "data: of four": dprank.Rankings([[0, 1, 2, 3]], "abcd"),
        "data: no rankings": dprank.Rankings(np.zeros((0, 3), int), "abc"),
        "data: many rankings": dprank.Rankings([[0, 1, 2]] * 40, "abc"),
        "data: ballots": dprank.Ballots([[0, 1, 1], [-1, 0, 1]], "abc", [1, 7]),
        "data: no ballots": dprank.Ballots(np.zeros((0, 3), int), "abc"),
        "data: ballots of four": dprank.Ballots([[0, 1, 1, -1]], "abcd"),
        "data: tallies": dprank.Tallies([1, 1, 2], [0, 1, 2], [*"abc"]),
        "data: no tallies": dprank.Tallies([], [], [*"abc"]),
        "data: a release": dprank.Ranking(("a", "b"), np.array([1, 0])),
    }
    return found


def mechanisms():
    """One of every class, for three items and forty voters."""
    three = {"epsilon": 1.0, "n_items": 3}
    sized = {"epsilon": 1.0, "size": 0.3, "n_items": 3, "n_voters": 40}
    return {
        "NoisyCounts": dprank.NoisyCounts.calibrated(**three, per_person=3),
        "NoisyCounts, gaussian": dprank.NoisyCounts.calibrated(**three, delta=0.01, per_person=1, design="matching"),
        "NoisyCounts, cube": dprank.NoisyCounts.calibrated(**three, noise="cube", per_person=1, design="matching"),
        "NoisyCounts, conditioned": dprank.NoisyCounts.calibrated(**three, noise="conditioned", per_person=3),
        "PerturbedMLE": dprank.PerturbedMLE.calibrated(**three, ridge=1.0, graph="public", per_person=3),
        "Oneshot": dprank.Oneshot.calibrated(epsilon=1.0, k=2, items=[*"abc"]),
        "Oneshot of codes": dprank.Oneshot.calibrated(epsilon=1.0, k=2, n_items=3, values=True, per_person=2),
        "Peeling": dprank.Peeling.calibrated(epsilon=1.0, k=2, items=[*"abc"]),
        "JointExponential": dprank.JointExponential.calibrated(epsilon=1.0, k=2, items=[*"abc"]),
        "JointExponential of lists": dprank.JointExponential.calibrated(epsilon=1.0, k=2, n_items=3, ordered=True),
        "LocalComparisons": dprank.LocalComparisons.calibrated(**three, per_person=3),
        "LocalTopK": dprank.LocalTopK.calibrated(epsilon=1.0, k=2, items=[*"abc"], per_person=2),
        "LocalTopK of codes": dprank.LocalTopK.calibrated(epsilon=1.0, k=2, n_items=3, per_person=2),
        "PrivateRankCentrality": dprank.PrivateRankCentrality.calibrated(**three, k=1, samples=1),
        "NoisyCounts of ballots": dprank.NoisyCounts.calibrated(**three, per_person=3, design="once", max_weight=2),
        "PrivateBorda": dprank.PrivateBorda.calibrated(**three),
        "PrivateBorda of ballots": dprank.PrivateBorda.calibrated(**three, ballots="partial", max_weight=2),
        "NoisyMatrix": dprank.NoisyMatrix.calibrated(**three),
        "NoisyMatrix of ballots": dprank.NoisyMatrix.calibrated(**three, ballots="partial", max_weight=2),
        "PrivateWinner": dprank.PrivateWinner.calibrated(**three),
        "PrivateWinner of ballots": dprank.PrivateWinner.calibrated(
            **three, rule="borda", ballots="partial", max_weight=2
        ),
        "ExponentialMechanism": dprank.ExponentialMechanism.calibrated(**three),
        "PrivateFootrule": dprank.PrivateFootrule.calibrated(**three),
        "PrivateKwikSort": dprank.PrivateKwikSort.calibrated(**three),
        "LocalMatrix": dprank.LocalMatrix.calibrated(**three),
        "LocalBorda": dprank.LocalBorda.calibrated(**three),
        "LocalKwikSort": dprank.LocalKwikSort.calibrated(**three),
        "NoisyNorm": dprank.NoisyNorm.calibrated(**sized),
        "NoisyNorm of ranks": dprank.NoisyNorm.calibrated(**sized, statistic="ranks", null_draws=9),
        "LaplaceUnif": dprank.LaplaceUnif.calibrated(**sized),
        "BatchVote": dprank.BatchVote.calibrated(**sized),
        "OptimalVote": dprank.OptimalVote.calibrated(**sized, delta=0.01),
        "Bucketed": dprank.Bucketed.calibrated(**sized),
        "Trun": dprank.Trun.calibrated(**sized),
        "LocalPairs": dprank.LocalPairs.calibrated(epsilon=1.0, size=0.3, n_items=3),
        "LocalOneBit": dprank.LocalOneBit.calibrated(epsilon=1.0, size=0.3, n_items=3),
        "LocalTwoStage": dprank.LocalTwoStage.calibrated(epsilon=1.0, size=0.3, n_items=3),
        "Unif": dprank.Unif.calibrated(size=0.3, n_items=3, n_voters=40),
        "TwoSample": dprank.TwoSample.calibrated(size=0.3, n_items=3),
        "Friedman": dprank.Friedman.calibrated(size=0.3, n_items=3, n_voters=40),
        "MallowsApproximate": dprank.MallowsApproximate.calibrated(size=0.3, n_items=3, n_voters=40),
    }


@functools.cache
def doors():
    """Name of an argument -> what takes it; those whose names end with * take data, of which no word may come back."""
    rng = np.random.default_rng
    one, two, won, who = [0, 1, 0], [1, 2, 2], [1, 0.5, 0], [1, 1, 2]
    answers = dprank.Comparisons(one, two, won, "abc", who)
    votes = dprank.Rankings([[0, 1, 2], [2, 1, 0]] * 20, "abc")
    ballots = dprank.Ballots([[0, 1, 1], [-1, 0, -1]] * 20, "abc", [1, 3] * 20)
    tallies = dprank.Tallies([1, 1, 2], [0, 1, 2], [*"abc"])
    table = pd.DataFrame({"first": list("aab"), "second": list("bcc"), "outcome": won, "person": who})
    places = pd.DataFrame({"a": [1, 2], "b": [2, 1], "person": [1, 2]})
    half = np.full((3, 3), 0.5)
    poll = dprank.LocalMatrix.calibrated(epsilon=1.0, n_items=3)
    pairs, bit = (kind.calibrated(epsilon=1.0, n_items=4) for kind in (dprank.LocalPairs, dprank.LocalOneBit))
    asked, own = (mechanisms()[name] for name in ("LocalComparisons", "LocalTopK"))
    coded = mechanisms()["LocalTopK of codes"]
    stages = dprank.LocalTwoStage.calibrated(epsilon=1.0, n_items=4)
    noisy = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3)
    scored = noisy.release(answers, rng(0))
    quiet = {"rng": rng(0), "budget": RELEASES}
    borda = dprank.PrivateBorda.calibrated(epsilon=1e-6, n_items=3)
    budget = dprank.Budget(pathlib.Path(FOLDER.name) / "budget.sqlite", epsilon=1.0)
    if not budget.entries():
        budget.spend(dprank.Guarantee(1e-6), dataset="a")
    declared = {"kind": "ballots", "items": [*"abc"], "ballots": "partial", "unranked": "apart"}
    wide = dprank.Declaration(person="person", **declared)
    orders = dprank.Declaration(form="orders", columns=["a"], **declared)
    questions = dprank.Declaration(
        kind="comparisons", items=[*"abc"], columns=["first", "second", "outcome"], answers="outcome"
    )
    found = {
        "Declaration.kind": lambda x: dprank.Declaration(kind=x, items=["a", "b"]),
        "Declaration.items": lambda x: dprank.Declaration(kind="ballots", items=x),
        "Declaration.person": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], person=x),
        "Declaration.columns": lambda x: dprank.Declaration(kind="tallies", items=["a", "b"], person="p", columns=x),
        "Declaration.answers": lambda x: dprank.Declaration(
            kind="comparisons", items=["a", "b"], columns=["f", "s", "o"], answers=x
        ),
        "Declaration.clean": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], clean=x),
        "Declaration.aliases": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], aliases=x),
        "Declaration.before_looking": lambda x: dprank.Declaration(
            kind="ballots", items=["a", "b"], clean=["strip"], before_looking=x
        ),
        "Declaration.form": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], form=x),
        "Declaration.pairs": lambda x: dprank.Declaration(
            kind="comparisons", items=["a", "b"], form="wide", answers="names", pairs=x
        ),
        "Declaration.ballots": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], ballots=x),
        "Declaration.unranked": lambda x: dprank.Declaration(
            kind="ballots", items=["a", "b"], ballots="partial", unranked=x
        ),
        "Declaration.repeated": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], repeated=x),
        "Declaration.ballot": lambda x: dprank.Declaration(
            kind="ballots", items=["a", "b"], form="long", columns=["i", "p"], ballots="tied", ballot=x
        ),
        "Declaration.weight": lambda x: dprank.Declaration(kind="ballots", items=["a", "b"], weight=x, max_weight=3),
        "Declaration.max_weight": lambda x: dprank.Declaration(
            kind="ballots", items=["a", "b"], weight="w", max_weight=x
        ),
        "Declaration.from_toml": dprank.Declaration.from_toml,
        "Declaration.read*": wide.read,
        "Declaration.read of orders*": orders.read,
        "Declaration.read of answers*": questions.read,
        "Comparisons.first*": lambda x: dprank.Comparisons(x, two, won, "abc"),
        "Comparisons.second*": lambda x: dprank.Comparisons(one, x, won, "abc"),
        "Comparisons.outcome*": lambda x: dprank.Comparisons(one, two, x, "abc"),
        "Comparisons.items": lambda x: dprank.Comparisons(one, two, won, x),
        "Comparisons.voter*": lambda x: dprank.Comparisons(one, two, won, "abc", x),
        "Comparisons.bounded.per_person": answers.bounded,
        "Comparisons.bounded.design": lambda x: answers.bounded(2, design=x),
        "Comparisons.bounded.ties": lambda x: answers.bounded(2, ties=x),
        "Comparisons.rows*": lambda x: answers[x],
        "Comparisons.from_frame.frame*": lambda x: dprank.Comparisons.from_frame(x, items="abc", voter="person"),
        "Comparisons.from_frame.items": lambda x: dprank.Comparisons.from_frame(table, items=x, voter="person"),
        "Comparisons.from_frame.voter": lambda x: dprank.Comparisons.from_frame(table, items="abc", voter=x),
        "Comparisons.from_frame.first": lambda x: dprank.Comparisons.from_frame(
            table, items="abc", voter=None, first=x
        ),
        "Comparisons.from_frame.missing": lambda x: dprank.Comparisons.from_frame(
            table, items="abc", voter=None, missing=x
        ),
        "Comparisons.from_frame.answers": lambda x: dprank.Comparisons.from_frame(
            table, items="abc", voter=None, answers=x
        ),
        "Comparisons.from_frame.outcome column*": lambda x: dprank.Comparisons.from_frame(
            table.assign(outcome=[x] * len(table)), items="abc", voter=None, answers={"yes": 1.0}
        ),
        "read_comparisons.path*": lambda x: dprank.read_comparisons(x, items="abc", voter="person"),
        "read_comparisons.items": lambda x: dprank.read_comparisons(dprank.example("answers.csv"), items=x, voter=None),
        "read_comparisons.voter": lambda x: dprank.read_comparisons(
            dprank.example("answers.csv"), items=["London", "Paris", "Rome"], voter=x
        ),
        "read_comparisons.answers": lambda x: dprank.read_comparisons(
            dprank.example("answers.csv"), items=["London", "Paris", "Rome"], voter=None, answers=x
        ),
        "Rankings.positions*": lambda x: dprank.Rankings(x, "abc"),
        "Rankings.items": lambda x: dprank.Rankings([[0, 1, 2]], x),
        "Rankings.from_orders.orders*": lambda x: dprank.Rankings.from_orders(x, "abc"),
        "Rankings.from_frame.frame*": lambda x: dprank.Rankings.from_frame(x, items="abc", voter="person"),
        "Rankings.from_frame.items": lambda x: dprank.Rankings.from_frame(places, items=x, voter="person"),
        "Rankings.from_frame.voter": lambda x: dprank.Rankings.from_frame(places, items="ab", voter=x),
        "Ballots.places*": lambda x: dprank.Ballots(x, "abc"),
        "Ballots.items": lambda x: dprank.Ballots([[0, -1, 0]], x),
        "Ballots.from_frame.frame*": lambda x: dprank.Ballots.from_frame(x, items="abc", voter="person"),
        "Ballots.from_frame.items": lambda x: dprank.Ballots.from_frame(places, items=x, voter="person"),
        "Ballots.from_frame.voter": lambda x: dprank.Ballots.from_frame(places, items="ab", voter=x),
        "Ballots.from_frame.weight": lambda x: dprank.Ballots.from_frame(places, items="ab", voter=None, weight=x),
        "Ballots.weight*": lambda x: dprank.Ballots([[0, -1, 0], [0, 1, 2], [0, 1, 1]], "abc", x),
        "Ballots.from_rankings*": dprank.Ballots.from_rankings,
        "Ballots.bounded_weight.most": ballots.bounded_weight,
        "read_rankings.path*": lambda x: dprank.read_rankings(x, items="abc", voter="person"),
        "read_rankings.items": lambda x: dprank.read_rankings(dprank.example("ballots.csv"), items=x, voter="person"),
        "Tallies.person*": lambda x: dprank.Tallies(x, one, [*"abc"]),
        "Tallies.item*": lambda x: dprank.Tallies(who, x, [*"abc"]),
        "Tallies.items": lambda x: dprank.Tallies(who, one, x),
        "Tallies.counts.per_person": tallies.counts,
        "Tallies.from_frame.frame*": lambda x: dprank.Tallies.from_frame(x, items="abc", person="person", item="first"),
        "Tallies.from_frame.items": lambda x: dprank.Tallies.from_frame(table, items=x, person="person", item="first"),
        "Tallies.from_frame.person": lambda x: dprank.Tallies.from_frame(table, items="abc", person=x, item="first"),
        "read_tallies.path*": lambda x: dprank.read_tallies(x, items=[*"abc"], person="person", item="first"),
        "undeclared.values*": lambda x: dprank.undeclared(x, [*"abc"]),
        "example.name": dprank.example,
        "win_counts.comparisons*": dprank.win_counts,
        "win_counts.score": lambda x: dprank.win_counts(answers, x),
        "win_counts.threads": lambda x: dprank.win_counts(answers, threads=x),
        "pairwise_wins*": dprank.pairwise_wins,
        "pairwise_fractions*": dprank.pairwise_fractions,
        "kendall_distance*": lambda x: dprank.kendall_distance(x, [0, 1, 2]),
        "kemeny_score.order*": lambda x: dprank.kemeny_score(x, half),
        "kemeny_score.w*": lambda x: dprank.kemeny_score([0, 1, 2], x),
        "kemeny.w*": dprank.kemeny,
        "mle.comparisons*": lambda x: dprank.mle(x, ridge=1.0),
        "rank_centrality*": dprank.rank_centrality,
        "sample_voters.theta": lambda x: dprank.sample_voters(x, 2, 1, rng=rng(0)),
        "sample_voters.rng": lambda x: dprank.sample_voters([0.0, 1.0], 2, 1, rng=x),
        "Mallows.sample.rng": lambda x: dprank.Mallows(3, 0.5).sample(2, rng=x),
        "Guarantee.unit": lambda x: dprank.Guarantee(1.0, unit=x),
        "Guarantee.adjacency": lambda x: dprank.Guarantee(1.0, adjacency=x),
        "Guarantee.model": lambda x: dprank.Guarantee(1.0, model=x),
        "Guarantee.converted": lambda x: dprank.Guarantee(1.0).converted(x, x),
        "compose": dprank.compose,
        "Budget.path": dprank.Budget,
        "Budget.epsilon": lambda x: dprank.Budget(budget.path, epsilon=x),
        "Budget.unit": lambda x: dprank.Budget(budget.path, unit=x),
        "Budget.spend.guarantee": lambda x: budget.spend(x, dataset="a"),
        "Budget.spend.dataset": lambda x: budget.spend(dprank.Guarantee(1e-6), dataset=x, new_dataset=True),
        "Budget.spend.new_dataset": lambda x: dprank.Budget(budget.path).spend(
            dprank.Guarantee(1e-6), dataset="a", new_dataset=x
        ),
        "Budget.spend.what": lambda x: budget.spend(dprank.Guarantee(1e-6), dataset="a", what=x),
        "Budget.release.mechanism": lambda x: budget.release(x, votes, dataset="a"),
        "Budget.release.data*": lambda x: budget.release(borda, x, dataset="a"),
        "Budget.remaining": budget.remaining,
        "Budget.entries": budget.entries,
        "Release.from_json": dprank.Release.from_json,
        "Ranking.items": lambda x: dprank.Ranking(x, np.array([1, 0])),
        "Ranking.order": lambda x: dprank.Ranking(("a", "b", "c"), x),
        "Ranking.scores": lambda x: dprank.Ranking(("a", "b", "c"), np.arange(3), x),
        "Ranking.top": lambda x: dprank.Ranking(("a", "b", "c"), np.arange(3)).top(x),
        "Ranking.intervals.level": scored.intervals,
        "Ranking.intervals.sampling": lambda x: scored.intervals(sampling=x, persons=9),
        "Ranking.intervals.persons": lambda x: scored.intervals(sampling="persons", persons=x),
        "Ranking.top_candidates.k": scored.top_candidates,
        "Ranking.top_candidates.level": lambda x: scored.top_candidates(1, x),
        "Selection.items": dprank.Selection,
        "Selection.values": lambda x: dprank.Selection(np.arange(3), x),
        "Decision.source": lambda x: dprank.Decision(True, 1.0, 1.0, 1.0, source=x),
        "PrivateBorda.ballots": lambda x: dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=3, ballots=x),
        "PrivateBorda.max_weight": lambda x: dprank.PrivateBorda(3, 99.0, ballots="partial", max_weight=x),
        "NoisyMatrix.max_weight": lambda x: dprank.NoisyMatrix(3, 99.0, ballots="partial", max_weight=x),
        "NoisyCounts.max_weight": lambda x: dprank.NoisyCounts(3, 99.0, per_person=3, design="once", max_weight=x),
        "LocalMatrix.additive_error.ballots": lambda x: poll.additive_error(9, x),
        "LocalMatrix.report*": lambda x: poll.report(x, rng(0)),
        "LocalMatrix.aggregate.reports*": lambda x: poll.aggregate(x, rng(0), items="abc"),
        "LocalMatrix.aggregate.items": lambda x: poll.aggregate([[0, 1]] * 3, rng(0), items=x),
        "LocalComparisons.report*": lambda x: asked.report(x, rng(0)),
        "LocalComparisons.aggregate.reports*": lambda x: asked.aggregate(x, [[0, 1], [1, 2]], rng(0), items="abc"),
        "LocalComparisons.aggregate.pairs": lambda x: asked.aggregate([[1]] * 3, x, rng(0), items="abc"),
        "LocalComparisons.aggregate.items": lambda x: asked.aggregate([[1]] * 3, [[0, 1]], rng(0), items=x),
        "LocalTopK.report*": lambda x: own.report(x, rng(0)),
        "LocalTopK.report* of codes": lambda x: coded.report(x, rng(0)),
        "LocalTopK.aggregate.reports*": lambda x: own.aggregate(x, rng(0)),
        "LocalTopK.deviation.count": lambda x: own.deviation(x, 9),
        "LocalTopK.deviation.persons": lambda x: own.deviation(0, x),
        "LocalPairs.report*": lambda x: pairs.report(x, [(0, 1), (2, 3)], rng(0)),
        "LocalPairs.report.pairs": lambda x: pairs.report([0, 1, 2, 3], x, rng(0)),
        "LocalPairs.decide*": pairs.decide,
        "LocalOneBit.report*": lambda x: bit.report(x, [0, 1], rng(0)),
        "LocalOneBit.decide*": bit.decide,
        "LocalTwoStage.questions.n_learners": lambda x: stages.questions(few(x), rng(0)),
        "LocalTwoStage.report*": lambda x: stages.report(x, [1, 0, 0, -1], rng(0)),
        "LocalTwoStage.report.question": lambda x: stages.report([0, 1, 2, 3], x, rng(0)),
        "LocalTwoStage.learnt.questions": lambda x: stages.learnt(x, [1, -1, 1]),
        "LocalTwoStage.learnt.reports*": lambda x: stages.learnt([[1, 0, 0, -1]] * 3, x),
        "LocalTwoStage.decide*": stages.decide,
        "plan.question": lambda x: dprank.plan(x, items=3, persons=50, epsilon=1.0),
        "plan.items": lambda x: dprank.plan("agreement", items=x, persons=50, epsilon=1.0),
        "plan.persons": lambda x: dprank.plan("agreement", items=3, persons=x, epsilon=1.0),
        "plan.epsilon": lambda x: dprank.plan("agreement", items=3, persons=50, epsilon=x),
        "plan.answers": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, answers=x),
        "plan.given": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, given=x),
        "plan.given of a top k": lambda x: dprank.plan("topk", items=9, persons=50, epsilon=1.0, k=2, given=x),
        "plan.answers of a top k": lambda x: dprank.plan("topk", items=9, persons=50, epsilon=1.0, k=2, answers=x),
        "plan.gap of a top k": lambda x: dprank.plan("topk", items=9, persons=50, epsilon=1.0, k=2, gap=x),
        "plan.phi": lambda x: dprank.plan("agreement", items=3, persons=50, epsilon=1.0, phi=x),
        "plan.gap": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, gap=x),
        "plan.k": lambda x: dprank.plan("topk", items=9, persons=50, epsilon=1.0, k=x),
        "plan.accuracy": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, accuracy=x),
        "plan.adjacency": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, adjacency=x),
        "plan.protect": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, protect=x),
        "plan.trust": lambda x: dprank.plan("agreement", items=3, persons=50, epsilon=1.0, trust=x),
        "plan.size": lambda x: dprank.plan("agreement", items=3, persons=50, epsilon=1.0, size=x),
        "plan.camps": lambda x: dprank.plan("consensus", items=3, persons=50, epsilon=1.0, camps=x),
        "plan.named": lambda x: dprank.plan("winner", items=3, persons=50, epsilon=1.0, named=x),
        "plan.design": lambda x: dprank.plan("ranking", items=3, persons=50, epsilon=1.0, design=x),
        "plan.share": lambda x: dprank.plan("topk", items=9, persons=50, epsilon=1.0, k=2, share=x),
        "plan.values": lambda x: dprank.plan("topk", items=9, persons=50, epsilon=1.0, k=2, values=x),
        "audit.mechanism": lambda x: dprank.audit(x, [(answers, answers)], **quiet),
        "audit.pairs*": lambda x: dprank.audit(noisy, x, **quiet),
        "audit.pair*": lambda x: dprank.audit(noisy, [(answers, x)], **quiet),
        "audit.rng": lambda x: dprank.audit(noisy, [(answers, answers)], rng=x, budget=RELEASES),
        "audit.budget": lambda x: dprank.audit(Still(), [(answers, answers)], rng=rng(0), budget=few(x)),
        "audit.confidence": lambda x: dprank.audit(Still(), [(answers, answers)], confidence=x, **quiet),
    }
    for name, mechanism in mechanisms().items():
        data = next((d for d in (answers, votes, tallies, [1, 2, 3]) if takes(mechanism, d)), votes)
        found[f"{name}.release*"] = lambda x, mechanism=mechanism: released(mechanism, x)
        if hasattr(mechanism, "guarantee"):
            found[f"{name}.release.rng"] = lambda x, mechanism=mechanism, data=data: mechanism.release(data, x)
    return found


def few(budget):
    """As many releases as a test has time for."""
    large = isinstance(budget, int | np.integer) and not isinstance(budget, bool | np.timedelta64)
    return RELEASES if large and RELEASES < budget < 2**53 else budget


def released(mechanism, data):
    """A release of a private mechanism, or what a test without privacy says."""
    if hasattr(mechanism, "release"):
        return mechanism.release(data, np.random.default_rng(0))
    return mechanism.test(data, np.random.default_rng(0))


def takes(mechanism, data):
    with contextlib.suppress(ValueError):
        released(mechanism, data)
        return True
    return False


def outcome(door, value, *, data, seconds=SECONDS):
    """ "taken", "refused", or what is wrong; a warning must be an error."""
    try:
        with time_limit(seconds):
            door(value)
    except (ValueError, OSError) as error:
        text = str(error)
        if isinstance(error, OSError):  # the system's own words, with the name that was given
            return "refused"
        if "\n" in text or len(text) > 500:
            return f"a message of {len(text)} letters and {text.count(chr(10)) + 1} lines"
        if data and any(canary in text for canary in CANARIES):
            return "a message with a word of the data"
        return "refused"
    except Hang:
        return f"more than {seconds} s"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:90]}"
    return "taken"


def table():
    """(door, input, fault) of all that is wrong; and how many were tried, taken and refused."""
    faults, total = [], collections.Counter()
    early = mock.patch.object(betting, "FIRST", FIRST)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), early:
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(epsilon|delta) = .* is above")
        given = inputs(pathlib.Path(folder))
        for name, door in doors().items():
            for label, value in given.items():
                said = outcome(door, value, data=name.endswith("*"))
                total[said if said in ("taken", "refused") else "fault"] += 1
                if said not in ("taken", "refused"):
                    faults.append((name, label, said))
    return faults, total, len(given)


if __name__ == "__main__":
    wrong, counted, many = table()
    for fault in wrong:
        print(*fault, sep=" | ")
    print(f"{many} inputs, {len(doors())} doors: {dict(counted)}")
    sys.exit(bool(wrong))
