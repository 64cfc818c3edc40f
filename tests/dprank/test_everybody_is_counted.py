"""Nobody is missing where a number of people is public: what a row says, or does not, is as hidden as the rest.

Local mechanisms that are run on a table tell how many report; full rankings give margins of one parity. So whoever
gives nothing that fits is there, with nothing.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from hostile_doors import mechanisms

import dprank
from dprank.data.accounts import NOBODY
from dprank.data.rankings import UNRANKED

ITEMS = ("flu", "gout")
#: What one more person may say: something, something else, and nothing that is declared.
ROWS = {"an item": "ann,flu", "another": "ann,plague", "none": "ann,", "nobody's": ",flu", "too much": "ann,flu,gout"}


def file(folder, *rows):
    path = folder / "data.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def tallies(folder, *more):
    rows = ["who,what", *(f"p{at},{ITEMS[at % 2]}" for at in range(40)), *more]
    declared = dprank.Declaration(kind="tallies", items=ITEMS, person="who", columns=("what",))
    return declared.read(file(folder, *rows)).data


POLL = dprank.LocalTopK.calibrated(epsilon=1.0, items=ITEMS, k=2, per_person=1)


def people(values):
    """How many people may have reported, by values that are published: the counts of reports must be whole."""
    p, q = POLL.chances
    held = np.asarray(values) * (p - q)
    return [n for n in range(20, 70) if np.allclose(held + n * q, np.rint(held + n * q), atol=1e-7)]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_an_attacker_who_decodes_the_number_of_reports_learns_nothing(row, tmp_path):
    data = tallies(tmp_path, row)
    for seed in range(8):
        assert people(POLL.release(data, np.random.default_rng(seed)).values) == [41]
    assert people(POLL.release(tallies(tmp_path), np.random.default_rng(1)).values) == [40], "the attack does not work"


def test_whoever_has_no_declared_item_reports_on_blanks():
    data = dprank.Tallies([3, 1], [1, 0], ITEMS, without=[2, 1, 2])
    assert POLL.own(data).tolist() == [[0], [2], [1]]
    assert data.without.tolist() == [2]
    alone = dprank.Tallies([], [], ITEMS, without=[7])
    assert POLL.own(alone).tolist() == [[2]]
    two = dprank.LocalTopK.calibrated(epsilon=1.0, items=ITEMS, k=1, per_person=2)
    assert two.own(data).tolist() == [[0, 3], [2, 3], [1, 3]]


def test_a_table_says_the_same_as_a_file(tmp_path):
    frame = pd.DataFrame({"who": ["a", "b", "b", "c", "C "], "what": ["flu", "plague", "gout", None, "kuru"]})
    data = dprank.Tallies.from_frame(frame, items=ITEMS, person="who", item="what")
    assert (len(data), len(data.without)) == (2, 1)
    frame.to_csv(tmp_path / "all.csv", index=False)
    declared = dprank.Declaration(kind="tallies", items=ITEMS, person="who", columns=("what",))
    assert declared.read(tmp_path / "all.csv").data == data
    assert dprank.read_tallies(tmp_path / "all.csv", items=ITEMS, person="who", item="what") == data


def test_no_count_knows_who_has_none():
    data, same = dprank.Tallies([3, 1], [1, 0], ITEMS, without=[2]), dprank.Tallies([3, 1], [1, 0], ITEMS)
    assert data != same
    assert data == dprank.Tallies([1, 3], [0, 1], ITEMS, [2, 2])
    assert hash(data) == hash(dprank.Tallies([1, 3], [0, 1], ITEMS, [2, 2]))
    assert pickle.loads(pickle.dumps(data)) == data
    assert (len(data), data.counts().tolist(), data.counts(1).tolist()) == (2, [1, 1], [1, 1])
    top = dprank.Oneshot.calibrated(epsilon=1.0, k=1, items=ITEMS, per_person=1, values=True)
    one, other = (top.release(it, np.random.default_rng(3)) for it in (data, same))
    assert one == other


def test_all_rows_of_nobody_are_somebody(tmp_path):
    data = tallies(tmp_path, ",flu", " ,gout", "x,y,z")
    assert data.without.tolist() == [NOBODY]
    assert NOBODY not in tallies(tmp_path, "ann,plague").without


# --- comparisons ------------------------------------------------------------------------------------------------------

THINGS = ("a", "b", "c")
ANSWERS = ["who,first,second,answer", *(f"p{at},{pair}" for at in range(9) for pair in ("a,b,1", "b,c,1", "a,c,0"))]
ASKED = dprank.LocalComparisons.calibrated(epsilon=1.0, n_items=3, per_person=3, length=1)
ANN = {"all": "1", "undecided": "0.5", "nothing": "", "words": "perhaps", "another number": "7"}


def answers(folder, last):
    columns = ("first", "second", "answer")
    declared = dprank.Declaration(kind="comparisons", items=THINGS, person="who", columns=columns, answers="outcome")
    return declared.read(file(folder, *ANSWERS, "ann,a,b,1", "ann,b,c,1", f"ann,a,c,{last}")).data


def shares(data, asked=ASKED):
    """What all scores are whole multiples of: how many everybody was asked, where that is the same of all."""
    scores = asked.release(data, np.random.default_rng(1)).scores * asked.length * asked.shrinkage
    return np.allclose(scores / 3, np.rint(scores / 3), atol=1e-7)


@pytest.mark.parametrize("last", ANN.values(), ids=ANN)
def test_what_is_answered_by_nothing_was_asked_all_the_same(last, tmp_path):
    data = answers(tmp_path, last)
    assert all(shares(data) for _ in range(4))
    asked = data.asked()
    assert len(asked) == 30
    assert np.unique(asked.voter, return_counts=True)[1].tolist() == [3] * 10


def test_the_attack_works_where_a_question_is_forgotten(tmp_path):
    data = answers(tmp_path, "perhaps")
    forgotten = dprank.Comparisons(data.first, data.second, data.outcome, data.items, data.voter)
    told = [shares(forgotten, dprank.LocalComparisons(3, 3, 1, kept)) for kept in range(2**52, 2**52 + 9)]
    assert not all(told)


def test_questions_count_for_nothing_else(tmp_path):
    data, whole = answers(tmp_path, "perhaps"), answers(tmp_path, "1")
    same = dprank.Comparisons(data.first, data.second, data.outcome, data.items, data.voter)
    assert (len(data), len(data.unanswered)) == (29, 1)
    assert data != same
    assert pickle.loads(pickle.dumps(data)) == data
    assert (whole.unanswered, whole.asked()) == (None, whole)
    counts = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3)
    assert counts.counts(data).tolist() == counts.counts(same).tolist()
    assert data[:].unanswered is None


def test_a_questionnaire_asks_everybody_all_its_pairs(tmp_path):
    path = file(tmp_path, "who,a vs b,b vs c", "x,1,0", "y,,1", "z,perhaps,", ",1,1", "w,1,0,1")
    declared = dprank.Declaration(kind="comparisons", form="wide", items=THINGS, person="who", answers="outcome")
    data = declared.read(path).data
    assert (len(data), len(data.unanswered), len(data.asked())) == (3, 3, 6)
    assert np.unique(data.asked().voter, return_counts=True)[1].tolist() == [2] * 3


def test_a_table_whose_missing_answers_are_dropped_keeps_the_questions():
    table = pd.DataFrame(
        {"first": [*"abzab"], "second": [*"bcaaa"], "outcome": [1, *[None] * 4], "who": ["x", "x", "x", "x", None]}
    )
    data = dprank.Comparisons.from_frame(table, items=THINGS, voter="who", missing="drop")
    assert (len(data), len(data.unanswered)) == (1, 1)
    assert data.unanswered.points.tolist() == [1]
    assert data.unanswered.voter.tolist() == data.voter.tolist()


# --- ballots ----------------------------------------------------------------------------------------------------------

FORMS = {
    "wide": ("who,a,b,c", {}, ["{},1,2,3"], "{},3,2,1"),
    "orders": ("who,vote", {"form": "orders", "columns": ("vote",)}, ["{},a>b>c"], "{},c>b>a"),
    "long": ("who,it,place", {"form": "long", "columns": ("it", "place")}, ["{},a,1", "{},b,2", "{},c,3"], "{},c,1"),
}
KINDS = {
    "full": {"ballots": "full"},
    "tied": {"ballots": "tied"},
    "partial": {"ballots": "partial", "unranked": "apart"},
    "last": {"ballots": "partial", "unranked": "last"},
    "none of several": {"ballots": "full", "repeated": "none"},
}
#: What one person's rows may be, by the last cell of one that is sound.
OF_ONE = {
    "sound": lambda row: [row],
    "another place": lambda row: [row[:-1] + "9"],
    "a word": lambda row: [row[:-1] + "x"],
    "nothing": lambda row: [row[:-1]],
    "too much": lambda row: [row + ",1"],
    "a mark": lambda row: [row[:-1] + '"'],
    "again": lambda row: [row, row],
    "again, and otherwise": lambda row: [row, row[:-1] + "9"],
    "nobody": lambda row: [row.replace("ann", " ")],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_how_many_ballots_there_are_is_how_many_people(form, kind, tmp_path):
    head, keys, rows, own = FORMS[form]
    others = [row.format(f"p{at}") for at in range(9) for row in rows]
    declared = dprank.Declaration(kind="ballots", items=THINGS, person="who", **keys, **KINDS[kind])
    for name, change in OF_ONE.items():
        data = declared.read(file(tmp_path, head, *others, *change(own.format("ann")))).data
        assert isinstance(data, dprank.Ballots), name
        assert len(data) == 10, name
        votes = declared.read(file(tmp_path, head, *change(own.format("ann")), *others)).data
        assert sorted(votes.places.tolist()) == sorted(data.places.tolist())


def test_without_persons_every_row_is_a_ballot(tmp_path):
    declared = dprank.Declaration(kind="ballots", items=THINGS)
    data = declared.read(file(tmp_path, "a,b,c", "1,2,3", "1,1,1", "1,2,3,4", "x", "3,1,2")).data
    assert data.places.tolist() == [[0, 1, 2], [-1] * 3, [-1] * 3, [-1] * 3, [2, 0, 1]]


def for_rankings():
    """By name, mechanisms that say of full rankings that they take them, and of ballots not."""
    named = {name: it for name, it in mechanisms().items() if hasattr(it, "release")}
    takes = {name: str(it.release.__annotations__) for name, it in named.items()}
    able = {name for name, it in named.items() if getattr(it, "ballots", "full") == "partial"}
    able |= {"LocalMatrix", "LocalBorda", "NoisyCounts of ballots"}
    return {name: it for name, it in named.items() if "Rankings" in takes[name] and name not in able}


MADE = for_rankings()
BALLOTS = {
    "full": dprank.Ballots([[0, 1, 2]] * 40, THINGS),
    "some": dprank.Ballots([[0, 1, 2]] * 39 + [[-1] * 3], THINGS),
    "tied": dprank.Ballots([[0, 0, 0]] * 40, THINGS),
    "nobody": dprank.Ballots(np.empty((0, 3), np.int64), THINGS),
}


@pytest.mark.parametrize("name", MADE)
def test_mechanisms_for_full_rankings_refuse_ballots_whatever_they_say(name):
    told = set()
    for ballots in BALLOTS.values():
        with pytest.raises(ValueError, match=r"dprank\.Ballots") as refusal:
            MADE[name].release(ballots, np.random.default_rng(1))
        told.add(str(refusal.value))
    if not name.startswith("NoisyCounts"):  # which take them in other words, or not
        way = "ballots = 'partial' takes them"
        if name not in ("NoisyMatrix", "PrivateBorda", "PrivateWinner"):
            way = "data.completed(dprank.SECURE) are rankings of as many"
        assert told == {f"data are dprank.Ballots, {UNRANKED}; {way}"}
    assert len(told) == 1


def test_all_of_them_are_asked():
    assert set(MADE) >= {
        *("NoisyMatrix", "PrivateBorda", "PrivateWinner", "PrivateFootrule", "PrivateKwikSort", "ExponentialMechanism"),
        *("LocalKwikSort", "LocalPairs", "LocalOneBit", "LocalTwoStage", "NoisyNorm", "LaplaceUnif", "OptimalVote"),
    }


def test_a_matrix_of_full_rankings_cannot_be_had_of_a_file_that_lost_one(tmp_path):
    """All margins are odd, or all are even: with a ballot less they change sides, whatever the noise."""
    rows = [f"p{at},1,2,3" for at in range(40)]
    declared = dprank.Declaration(kind="ballots", items=THINGS, person="who")
    one, other = (declared.read(file(tmp_path, "who,a,b,c", *rows, last)).data for last in ("ann,3,2,1", "ann,1,1,9"))
    sides = set()
    for data in (one, other):
        mechanism = dprank.NoisyMatrix.calibrated(epsilon=1.0, n_items=3)
        with pytest.raises(ValueError, match="partial"):
            mechanism.release(data, np.random.default_rng(1))
        full = data.completed(np.random.default_rng(1))
        sides |= {int(it) % 2 for it in mechanism.margins(full)[np.triu_indices(3, 1)]}
    assert sides == {1}
    partial = dprank.NoisyMatrix.calibrated(epsilon=1.0, n_items=3, ballots="partial")
    parity = [{it % 2 for it in partial.release(one, np.random.default_rng(at)).margins[0, 1:]} for at in range(20)]
    assert set().union(*parity) == {0.0, 1.0}


def test_reports_of_voters_tell_nothing_of_a_ballot_that_does_not_fit(tmp_path):
    """The scores' grid tells how many report."""
    rows = ["who,a,b,c", *(f"p{at},1,2,3" for at in range(30))]
    declared = dprank.Declaration(kind="ballots", items=THINGS, person="who")
    poll, grids = dprank.LocalBorda.calibrated(epsilon=1.0, n_items=3), []
    for last in ("ann,3,2,1", "ann,1,1,9", "ann,1,2,3,4", ",1,2,3"):
        data = declared.read(file(tmp_path, *rows, last)).data
        grids.append(poll.sent(data.places, np.random.default_rng(1)).shape)
    assert len(set(grids)) == 1
    test = dprank.LocalPairs.calibrated(epsilon=1.0, n_items=3)
    thresholds = {
        test.release(declared.read(file(tmp_path, *rows, last)).data.completed(dprank.SECURE), dprank.SECURE).threshold
        for last in ("ann,3,2,1", "ann,1,1,9")
    }
    assert len(thresholds) == 1


def test_lots_decide_what_a_ballot_leaves_open():
    ballots = dprank.Ballots([[2, 0, 1], [0, 0, 1], [-1, -1, -1], [0, -1, -1]] * 600, THINGS, weight=[1, 2, 0, 3] * 600)
    for rng in (np.random.default_rng(1), dprank.SECURE):
        full = ballots.completed(rng)
        assert isinstance(full, dprank.Rankings)
        positions = full.positions.reshape(600, 4, 3)
        assert (positions[:, 0] == [2, 0, 1]).all()
        assert (positions[:, 1, 2] == 2).all()
        before = positions[..., [0, 0, 1]] < positions[..., [1, 2, 2]]
        shares = before[:, 1:].mean(axis=0)  # once in a million not so near a half
        assert (abs(shares[[0, 1, 2, 1, 1], [0, 0, 0, 1, 2]] - 0.5) < 0.1).all()
    assert len(dprank.Ballots(np.empty((0, 3), np.int64), THINGS).completed(dprank.SECURE)) == 0
    with pytest.raises(ValueError, match="rng is of type int"):
        ballots.completed(7)
