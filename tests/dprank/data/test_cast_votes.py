"""Cast vote records of Dominion: the ballots of a contest as they were marked; a slip is one ballot, or a line."""

import copy
import json
from collections import Counter

import numpy as np
import pytest
from checks import each, refused
from kinds_of_files import CANDIDATES, PROFILE, Cast, dominion

from dprank import Declaration
from dprank.cli.path import said
from dprank.data.forms import candidates_of, form_named, forms_like
from dprank.data.layout import Layout

FORM = form_named("dominion")


def export(folder, files):
    for name, found in files.items():
        (folder / name).write_text(found if isinstance(found, str) else json.dumps(found), encoding="utf-8")
    return folder / "CvrExport.json"


def declared(**layout):
    keys = {"kind": "ballots", "items": CANDIDATES, "form": "dominion", "ballots": "partial", "unranked": "apart"}
    return Declaration(**keys, layout=layout or None)


def counted(intake):
    rows, times = np.unique(intake.data.places, axis=0, return_counts=True)
    return Counter({tuple(map(int, row)): int(it) for row, it in zip(rows, times, strict=True)})


def ballots_of(profile, exhaust=False):
    """How often each ballot is there: places with several candidates are skipped, or the first of them is the end."""
    found = Counter()
    for times, order in profile:
        kept = []
        for tied in order:
            if len(tied) == 1:
                kept += tied
            elif exhaust:
                break
        found[tuple(kept.index(it) if it in kept else -1 for it in range(4))] += times
    return found


def borda(ballots):
    """Of every candidate how many are behind it less how many are ahead, over all ballots; unranked ones are last."""
    score = [0] * 4
    for ballot, times in ballots.items():
        place = [9 if it < 0 else it for it in ballot]
        for one in range(4):
            score[one] += times * sum((place[one] < it) - (place[one] > it) for it in place)
    return score


#: Overvotes first, in between and last.
MARKED = (*PROFILE, Cast(2, ((0, 1), (2,))), Cast(3, ((3,), (0, 1, 2), (1,))), Cast(1, ((2,), (3,), (0, 1))))


@each("rule", [None, "skip", "exhaust"])
def test_ballots_are_those_that_were_marked(tmp_path, rule):
    path = export(tmp_path, dominion(MARKED))
    for contest in (None, "Mayor", "5"):
        layout = {key: it for key, it in (("contest", contest), ("overvotes", rule)) if it}
        intake = declared(**layout).read(path)
        assert counted(intake) == ballots_of(MARKED, rule == "exhaust")
        assert intake.rows == intake.kept == sum(it.times for it in MARKED)
    assert candidates_of(path, FORM, Layout(contest="Mayor")) == CANDIDATES
    assert forms_like(path) == (FORM,)


def test_laid_out_otherwise_it_is_the_same(tmp_path):
    files = dominion(MARKED)
    path = export(tmp_path, {name: json.dumps(it, indent=2) for name, it in files.items()})
    assert forms_like(path) == (FORM,)
    assert counted(declared().read(path)) == ballots_of(MARKED)
    older = copy.deepcopy(files)
    for session in older["CvrExport.json"]["Sessions"]:
        session["Original"] = {"IsCurrent": True, "Contests": session["Original"]["Cards"][0]["Contests"]}
    assert counted(declared().read(export(tmp_path, older))) == ballots_of(MARKED), "without cards, as of old"


def changed(session):
    """The sample with the first session as another."""
    files = dominion(PROFILE)
    files["CvrExport.json"]["Sessions"][0] = session(files["CvrExport.json"]["Sessions"][0])
    return files


def marks(change):
    def of(session):
        contest = session["Original"]["Cards"][0]["Contests"][1]
        contest["Marks"] = change(contest["Marks"])
        return session

    return of


def each_mark(**other):
    return marks(lambda found: [{**it, **other} if at == 0 else it for at, it in enumerate(found)])


#: What was marked first is (3), (0), (2), (1).
SAID = {
    "adjudicated": (
        lambda it: it | {"Modified": {**copy.deepcopy(it["Original"]), "Cards": [{"Contests": []}]}},
        (-1,) * 4,
    ),
    "adjudicated before": (lambda it: it | {"Modified": {"IsCurrent": False, "Cards": []}}, (1, 3, 2, 0)),
    "no vote": (each_mark(IsVote=False), (0, 2, 1, -1)),
    "ambiguous": (each_mark(IsAmbiguous=True), (0, 2, 1, -1)),
    "a place free": (each_mark(Rank=9), (0, 2, 1, 3)),
    "a candidate again": (marks(lambda it: [*it, {**it[1], "Rank": 8}]), (1, 3, 2, 0)),
    "a mark again": (marks(lambda it: [*it, it[0]]), (1, 3, 2, 0)),
    "in another order": (marks(lambda it: it[::-1]), (1, 3, 2, 0)),
    "no marks": (marks(lambda it: []), (-1,) * 4),
    "not on the ballot": (lambda it: it | {"Original": {"Cards": [{"Contests": [{"Id": 3, "Marks": []}]}]}}, (-1,) * 4),
    "on a second card": (
        lambda it: it | {"Original": {"Cards": [{"Contests": []}, *it["Original"]["Cards"]]}},
        (1, 3, 2, 0),
    ),
}


@each("case", list(SAID))
def test_what_a_session_says(tmp_path, case):
    change, ballot = SAID[case]
    intake = declared().read(export(tmp_path, changed(change)))
    rest = (Cast(11, PROFILE[0].order), *PROFILE[1:])
    assert counted(intake) == ballots_of(rest) + Counter({ballot: 1})
    assert not intake.left_out


#: Sessions that are none by the format.
BROKEN = [
    lambda it: None,
    lambda it: "SECRET",
    lambda it: 7,
    lambda it: [],
    lambda it: {},
    lambda it: {"Original": None},
    lambda it: {"Original": []},
    lambda it: {"Original": {}},
    lambda it: {"Original": {"Cards": None}},
    lambda it: {"Original": {"Cards": [None]}},
    lambda it: {"Original": {"Cards": [{"Contests": None}]}},
    lambda it: {"Original": {"Cards": [{"Contests": ["SECRET"]}]}},
    lambda it: {"Original": {"Cards": [{"Contests": [{}]}]}},
    lambda it: {"Original": {"Cards": [{"Contests": [{"Id": 5}]}]}},
    marks(lambda it: None),
    marks(lambda it: 3),
    marks(lambda it: ["SECRET"]),
    marks(lambda it: [{}]),
    each_mark(Rank=0),
    each_mark(Rank=-1),
    each_mark(Rank="1"),
    each_mark(Rank=1.5),
    each_mark(Rank=None),
    each_mark(Rank=True),
    each_mark(CandidateId=77),
    each_mark(CandidateId="12"),
    each_mark(CandidateId=None),
    each_mark(CandidateId=[]),
    each_mark(CandidateId=99),
    each_mark(Rank={}),
    marks(lambda it: [{key: x for key, x in it[0].items() if key != "Rank"}]),
    marks(lambda it: [{key: x for key, x in it[0].items() if key != "IsVote"}]),
]


@each("change", BROKEN)
def test_a_session_that_is_none_is_left_out_and_counted(tmp_path, change):
    intake = declared().read(export(tmp_path, changed(change)))
    assert dict(intake.left_out) == {"no such order": 1}
    assert dict(intake.misread) == {"session 1": 1}, "no word of it"
    rest = (Cast(11, PROFILE[0].order), *PROFILE[1:])
    assert counted(intake) == ballots_of(rest) + Counter({(-1,) * 4: 1})


def with_file(name, change):
    def of(files):
        files[name] = change(files[name])
        return files

    return of


CONTESTS, CANDIDATE = "ContestManifest.json", "CandidateManifest.json"
#: What is wrong with an export, and what the line says.
HEADERS = [
    (with_file("CvrExport.json", lambda it: "{"), "CvrExport.json is damaged"),
    (with_file("CvrExport.json", lambda it: ""), "CvrExport.json is damaged"),
    (with_file("CvrExport.json", lambda it: "[" * 100_000), "CvrExport.json is damaged"),
    (with_file("CvrExport.json", lambda it: json.dumps(it)[:-9]), "CvrExport.json is damaged"),
    (with_file("CvrExport.json", lambda it: []), "CvrExport.json: no list 'Sessions'"),
    (with_file("CvrExport.json", lambda it: {"Sessions": {}}), "CvrExport.json: no list 'Sessions'"),
    (with_file("CvrExport.json", lambda it: {"CVR": []}), "CvrExport.json: no list 'Sessions'"),
    (with_file(CONTESTS, lambda it: "x"), "ContestManifest.json is damaged"),
    (with_file(CONTESTS, lambda it: {}), "ContestManifest.json: no list 'List'"),
    (with_file(CONTESTS, lambda it: {"List": []}), "ContestManifest.json: contest is missing"),
    (
        with_file(CONTESTS, lambda it: {"List": [*it["List"], {"Id": 8, "Description": "Judge", "NumOfRanks": 3}]}),
        "'Mayor', 'Judge'",
    ),
    (with_file(CONTESTS, lambda it: {"List": ["x", {"Id": "5", "Description": "Mayor"}]}), "contest is missing"),
    (with_file(CANDIDATE, lambda it: "x"), "CandidateManifest.json is damaged"),
    (with_file(CANDIDATE, lambda it: []), "CandidateManifest.json: no list 'List'"),
    (with_file(CANDIDATE, lambda it: {"List": it["List"][:2]}), "CandidateManifest.json: two candidates"),
    (with_file(CANDIDATE, lambda it: {"List": [*it["List"], it["List"][1]]}), "CandidateManifest.json: two candidates"),
    (
        with_file(CANDIDATE, lambda it: {"List": [*it["List"], {"Id": 5, "ContestId": 5, "Description": " "}]}),
        "two candidates",
    ),
]


@each("change, words", HEADERS)
def test_an_export_that_is_none_is_one_line(tmp_path, change, words):
    path = export(tmp_path, change(dominion()))
    with refused(words):
        declared().read(path)


@each("name", [CONTESTS, CANDIDATE])
def test_a_manifest_that_is_missing_is_named(tmp_path, name):
    path = export(tmp_path, dominion())
    (tmp_path / name).unlink()
    with refused(f"{name} is missing"):
        declared().read(path)


@each(
    "layout, words",
    [
        ({"contest": "Judge"}, "contest = 'Judge'"),
        ({"overvotes": "tie"}, "overvotes = 'tie'"),
        ({"encoding": "cp1252"}, "layout = 'encoding'"),
    ],
)
def test_what_is_said_of_it_is_one_of_its_own(tmp_path, layout, words):
    path = export(tmp_path, dominion())
    with refused(words):
        declared(**layout).read(path)


@pytest.mark.slow
def test_two_commands_from_an_export_to_a_release(tmp_path):
    path = export(tmp_path, dominion())
    flags = ["--form", "dominion", "--items", path, "--contest", "Mayor", "--ballots", "partial", "--unranked", "last"]
    told = said("check", path)
    assert "--form dominion" in told.out
    assert said("check", path, *flags).code == 0
    done = said("release", "consensus", path, *flags, "--epsilon", "60")
    first = CANDIDATES[int(np.argmax(borda(ballots_of(PROFILE))))]
    assert (done.code, f"By Borda's rule {first} is first" in done.out) == (0, True), done
