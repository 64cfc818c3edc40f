"""Data types stay as they were validated: through assignment, writes, pickle, copies and files of joblib."""

import copy
import gc
import importlib
import inspect
import pickle
import pkgutil
from dataclasses import fields, is_dataclass
from functools import cache

import joblib
import numpy as np
import pytest
from checks import refused

import dprank
from dprank._frozen import Frozen
from dprank.aggregation import ExponentialMechanism, NoisyMatrix, PrivateBorda, kemeny
from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons
from dprank.data.counting import win_counts
from dprank.data.rankings import Rankings
from dprank.data.tallies import Tallies
from dprank.models.games import Games
from dprank.models.likelihood import mle
from dprank.pairwise import NoisyCounts
from dprank.pairwise.strengths import Strengths
from dprank.privacy.divergence import pair_of
from dprank.privacy.noise import SECURE
from dprank.release import Decision
from dprank.topk import Oneshot, PrivateRankCentrality

ANSWERS = Comparisons([0, 1, 2, 0], [1, 2, 0, 2], [1, 0.5, 0, 1], "abc", [7, 7, 8, 9])
VOTES = Rankings([[0, 1, 2], [2, 1, 0]], "abc")
DATA = {
    "Comparisons": lambda: ANSWERS,
    "without voters": lambda: Comparisons([0, 1], [1, 2], [1, 0.5], "abc"),
    "no rows": lambda: Comparisons([], [], [], "abc", []),
    "Rankings": lambda: VOTES,
    "Ballots": lambda: Ballots([[0, 1, 1], [-1, 0, -1]], "abc", [2, 1]),
    "Games": lambda: Games.of(ANSWERS),
    "Fit": lambda: mle(ANSWERS, ridge=1.0),
    "Strengths": lambda: Strengths(np.zeros(2), np.ones(2), np.ones(2)),
    "Consensus": lambda: kemeny.kemeny([[0, 0.7], [0.3, 0]]),
    "questions": lambda: Comparisons([0, 1], [1, 2], [1, 0.5], "abc", [7, 8]).with_unanswered([2], [0], [7]),
    "Tallies": lambda: Tallies([7, 7, 8], [0, 1, 0], ["flu", ("gout", 2)]),
    "others": lambda: Tallies([7], [0], ["flu"], [9, 4]),
    "no tallies": lambda: Tallies([], [], ["flu"]),
    "PairLaw": lambda: pair_of([0.5, 0.5], [0.25, 0.75]),
    "PrivateRankCentrality": lambda: PrivateRankCentrality.calibrated(
        epsilon=1.0, n_items=3, k=1, samples=1, pairs=[(0, 1), (1, 2)], teleport=0.1
    ),
    "Ranking": lambda: NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3).release(
        ANSWERS, np.random.default_rng(0)
    ),
    "Ranking with scores": lambda: PrivateBorda.calibrated(n_items=3, epsilon=1.0).release(VOTES, SECURE),
    "Ranking with margins": lambda: NoisyMatrix.calibrated(n_items=3, epsilon=1.0).release(VOTES, SECURE),
    "Ranking without scores": lambda: ExponentialMechanism.calibrated(n_items=3, epsilon=1.0).release(
        VOTES, np.random.default_rng(0)
    ),
    "Selection": lambda: Oneshot.calibrated(epsilon=1.0, n_items=3, k=2, values=True).release([1, 2, 3], SECURE),
    "Selection of names": lambda: Oneshot.calibrated(epsilon=1.0, items=["a", 1, ("b", 2)], k=2).release(
        [1, 2, 3], SECURE
    ),
    "Decision": lambda: Decision(True, 1.0, 0.5, 0.01),
}


@cache
def made(name):
    """What has this name, when a test first asks for it."""
    return DATA[name]()


#: Dataclasses and tuples that hold arrays on their way from one step of a computation to the next.
WITHIN = {
    "Plan",
    "Pairs",
    "PrefLib",
    "OrderFile",
    "Seen",
    "Sent",
    "Judged",
    "Partition",
    "Views",
    "Edges",
    "Attained",
    "NoisyReals",
    "Grid",
    "Types",
    "Densities",
    "Words",
}
#: What they are named by.
ARRAYS = "NDArray", "Array"


def parts(instance):
    names = [f.name for f in fields(instance)] if is_dataclass(instance) else type(instance).__slots__
    return {name: getattr(instance, name) for name in names}


def arrays(instance):
    return [value for value in parts(instance).values() if isinstance(value, np.ndarray)]


def through_joblib(instance, folder, **how):
    joblib.dump(instance, folder / "dumped")
    return joblib.load(folder / "dumped", **how)


WAYS = {
    "as it is": lambda x, _: x,
    **{
        f"pickle {p}": lambda x, _, p=p: pickle.loads(pickle.dumps(x, p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
    "out of band": lambda x, _: pickle.loads(
        pickle.dumps(x, 5, buffer_callback=(kept := []).append), buffers=[bytearray(b.raw()) for b in kept]
    ),
    "copy": lambda x, _: copy.copy(x),
    "deepcopy": lambda x, _: copy.deepcopy([x])[0],
    "joblib": through_joblib,
    "memory map": lambda x, folder: through_joblib(x, folder, mmap_mode="r+"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", DATA)
def test_nothing_can_be_changed(name, way, tmp_path):
    before = made(name)
    data = WAYS[way](before, tmp_path)
    assert data == before
    assert hash(data) == hash(before)
    assert {**parts(data)}.keys() == {**parts(before)}.keys()
    for attribute, value in parts(data).items():
        with pytest.raises(AttributeError, match=attribute):
            setattr(data, attribute, value)
        with pytest.raises(AttributeError, match=attribute):
            delattr(data, attribute)
    with pytest.raises(AttributeError):
        data.anything = 1
    for array in arrays(data):
        assert array.dtype.isnative
        base = array
        if array.dtype.hasobject:  # references have no bytes of their own
            assert not array.flags.writeable
            continue
        while isinstance(base, np.ndarray):
            assert not base.flags.writeable
            with pytest.raises(ValueError, match="WRITEABLE"):
                base.flags.writeable = True
            with pytest.raises(ValueError, match="WRITEABLE"):
                base.setflags(write=True)
            base = base.base
        assert isinstance(base, bytes)
        assert not [x for x in gc.get_referents(array) if isinstance(x, np.ndarray | bytearray)]


def test_the_callers_arrays_are_copied():
    first, second, outcome, voter = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 0]), np.array([3, 4])
    codes, table = np.array([0, 1], np.uint8), np.array([[0, 1, 2]], np.uint8)
    data, narrow = Comparisons(first, second, outcome, "abc", voter), Comparisons(codes, codes + 1, [1, 0], "abc")
    votes, games = Rankings(table, "abc"), Games.of(data)
    start, other, played, points = (np.array(x) for x in (games.start, games.other, games.played, games.points))
    own = Games(start, other, played, points)
    for array in (first, second, outcome, voter, codes, table, start, other, played, points):
        array[...] = 77
    assert data == Comparisons([0, 1], [1, 2], [1, 0], "abc", [3, 4])
    assert narrow == Comparisons([0, 1], [1, 2], [1, 0], "abc")
    assert votes == Rankings([[0, 1, 2]], "abc")
    assert own == games


def test_what_differs_is_not_equal():
    one = Comparisons([0], [1], [1], "abc", [5])
    others = [
        Comparisons([1], [0], [1], "abc", [5]),
        Comparisons([0], [2], [1], "abc", [5]),
        Comparisons([0], [1], [0], "abc", [5]),
        Comparisons([0], [1], [1], "abd", [5]),
        Comparisons([0], [1], [1], "abc", [6]),
        Comparisons([0], [1], [1], "abc"),
        Comparisons([0, 0], [1, 1], [1, 1], "abc", [5, 5]),
        Rankings([[0, 1, 2]], "abc"),
        None,
    ]
    assert [other for other in others if one == other] == []
    assert len({one, Comparisons([0], [1], [1.0], "abc", [5]), *others[:7]}) == 8


def test_a_class_that_holds_arrays_is_frozen():
    held = {}
    for module in pkgutil.walk_packages(dprank.__path__, "dprank."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and kind.__module__.startswith("dprank."):
                notes = [note for base in kind.__mro__ for note in inspect.get_annotations(base).values()]
                if any(word in str(note) for note in notes for word in ARRAYS if "Callable" not in str(note)):
                    held[kind.__name__] = kind
    assert {type(data).__name__ for data in map(made, DATA) if arrays(data)} <= held.keys()
    loose = {name for name, kind in held.items() if not issubclass(kind, Frozen) and not name.startswith("_")}
    assert loose <= WITHIN


def test_a_longer_list_of_items_does_not_lead_a_kernel_astray():
    data = Comparisons([0, 9], [9, 1], [1, 1], list("abcdefghij"))
    with pytest.raises(AttributeError):
        data.items = ("a", "b")
    assert win_counts(data).tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]


def test_what_a_file_holds_is_validated_again():
    for kind, state in (
        (Comparisons._again, ([0], [9], [1], "abc", None)),
        (Comparisons._again, ([0], [1], [3], "abc", None)),
        (Comparisons._again, ([0], [1], [1], "abc", [1, 2])),
        (Comparisons._again, ([0], [1], [1], "abc", [1], "abc")),
        (Comparisons._again, ([0], [1], [1], "abc", [1], Comparisons([0], [1], [0.5], "abd", [1]))),
        (Comparisons._again, ([0], [1], [1], "abc", [1], Comparisons([0], [1], [0.5], "abc"))),
        (Rankings, ([[0, 0]], "ab")),
        (Ballots, ([[0, -2]], "ab", [1])),
        (Ballots, ([[0, 1]], "ab", [-1])),
    ):
        with refused():
            kind(*state)


GAMES = {"start": [0, 1, 2, 2], "other": [1, 2], "played": [3, 1], "points": [6, 1]}


@pytest.mark.parametrize(
    "broken",
    [
        {"start": [0, 2, 1, 2]},
        {"start": [1, 1, 2, 2]},
        {"start": [0, 1, 2, 3]},
        {"start": [0.0, 1, 2, 2]},
        {"start": [0]},
        {"start": [0, 2**63, 2, 2]},
        {"other": [1, 3]},
        {"other": [1, 1]},
        {"other": [0, 2]},
        {"other": [-1, 2]},
        {"other": [1, 2**40]},
        {"other": [1.0, 2.0]},
        {"other": [[1, 2]]},
        {"played": [3]},
        {"played": [3, 0]},
        {"played": [3, -1]},
        {"played": [3, 2**40]},
        {"played": [3, np.nan]},
        {"played": [3, np.inf]},
        {"played": ["3", "1"]},
        {"points": [7, 1]},
        {"points": [-1, 1]},
        {"points": [6, 1, 1]},
        {"points": [6.0, 1.0]},
        {"points": None},
    ],
    ids=str,
)
def test_games_are_validated(broken):
    assert Games(**GAMES).wins.tolist() == [3, 0.5, 0.5]
    with refused(*broken):
        Games(**GAMES | broken)


@pytest.mark.parametrize("other", [[2, 1], [1, 1]])
def test_games_are_listed_in_one_order(other):
    with refused("other"):
        Games([0, 2, 2, 2], other, [1, 1], [0, 1])


def test_who_reshapes_what_an_attribute_gives_reshapes_nothing():
    ballots = Rankings([[0, 1, 2], [2, 1, 0]], list("abc"))
    answers = Comparisons([0, 1], [1, 2], [1, 0], list("abc"))
    released = NoisyCounts(3, 1.0).release(Comparisons([0], [1], [1], "abc", [1]), SECURE)
    for data, name in ((ballots, "positions"), (answers, "first"), (released, "scores")):
        before = getattr(data, name).copy()
        getattr(data, name).shape = (-1, 1)
        getattr(data, name).dtype = np.uint8
        base = getattr(data, name).base
        assert not isinstance(base, np.ndarray)
        getattr(data, name).__setstate__((1, (1,), np.dtype("i8"), False, bytes(8)))
        np.testing.assert_array_equal(getattr(data, name), before)
