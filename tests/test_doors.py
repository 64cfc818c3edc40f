"""One ballot is one ballot through every door, in some of the sets that `python tests/doors.py 10000` draws."""

from __future__ import annotations

from collections import Counter
from random import Random

import ballots_apart as apart
import doors
import pytest


@pytest.mark.parametrize("seed", range(3))
def test_every_form_of_the_same_ballots_counts_the_same(tmp_path, seed):
    seen = Counter[str]()
    for number in range(100):
        doors.one_set(seed, number, tmp_path, seen)
    assert seen.keys() >= {*apart.DOORS, "places", "frame"}
    assert min(seen[door] for door in apart.DOORS) >= 20


def test_the_counts_by_hand_are_of_the_ballots_as_they_are_meant():
    """A misspelt first choice is no last one; a withdrawn item leaves the others in their order."""
    ballots = [apart.Ballot([("oak?", 0), ("elm", 1), ("fir", 2)]), apart.Ballot([("larch", 0), ("fir", 1)])]
    keys = {"weighted": False, "counted": False, "clean": False, "people": False, "numbers": "plain", "none": []}
    it = apart.Drawn(["oak", "elm", "fir"], ballots, "partial", "last", ["larch"], **keys)
    assert apart.counted(it, True) == (2, [[0, 0, -1], [0, 0, 0], [1, 0, 0]])
    assert apart.counted(it, False)[1] == [[0, -1, -2], [1, 0, 0], [2, 0, 0]]
    whole = apart.Drawn(["elm", "fir"], ballots, "full", None, [], **keys)
    assert apart.counted(whole, True) == (2, [[0, 1], [-1, 0]])


def test_counts_that_differ_are_seen(tmp_path, monkeypatch):
    """The least that a door could get wrong: one ballot turned round."""
    monkeypatch.setattr(apart, "meant", lambda it, ballot, by_name: dict.fromkeys(it.items, 0))

    def sets():
        for number in range(20):
            doors.one_set(1, number, tmp_path)

    with pytest.raises(AssertionError, match="by hand"):
        sets()


def test_sets_have_what_doors_may_disagree_about():
    sets = [apart.drawn(Random(at)) for at in range(1000)]
    ballots = [(it, ballot) for it in sets for ballot in it.ballots]
    assert {it.numbers for it in sets} == {"plain", "zero", "float", "half", "far", "high", "words"}
    assert {(it.complete, it.unranked) for it in sets} == {("full", None), ("tied", None), ("partial", "apart"),
                                                          ("partial", "last")}  # fmt: skip
    for what in (
        lambda it, ballot: ballot.wrong,
        lambda it, ballot: not ballot.said,
        lambda it, ballot: any(name in it.withdrawn for name, _ in ballot.said),
        lambda it, ballot: any(name in apart.STRANGE for name, _ in ballot.said),
        lambda it, ballot: len({level for _, level in ballot.said}) < len(ballot.said),
        lambda it, ballot: max((level for _, level in ballot.said), default=0) >= len(ballot.said),
        lambda it, ballot: len({name.lower() for name, _ in ballot.said}) < len(ballot.said),
        lambda it, ballot: it.counted and ballot.times != 1,
        lambda it, ballot: it.weighted and ballot.weight in ("x", "9"),
    ):
        assert sum(map(what, *zip(*ballots, strict=True))) >= 10
