"""The published file: a record an item, a schema, an identifier; and forty that say what is not so."""

import copy
import json
import subprocess
import sys

import fastjsonschema
import numpy as np
import pytest
from mutations import releases
from published import faults, of_version_02, quick, signed, validator

import dprank
from dprank.cli.path import said
from dprank.publication import identifier, json_schema, opened, publish, read_publication

ITEMS = ["oak", "elm", "fir", "ash"]
VOTES = dprank.Rankings([[0, 1, 2, 3]] * 60 + [[1, 0, 3, 2]] * 30, ITEMS)
ANSWERS = dprank.Comparisons([0, 1, 2] * 30, [1, 2, 3] * 30, [1, 1, 0] * 30, items=ITEMS, voter=range(90))
HAD = dprank.Tallies(np.arange(90), np.arange(90) % 4, ITEMS)


def made(name):
    """A published file of a release that is fit for publication."""
    common = {"epsilon": 1.0, "n_items": 4}
    mechanism, data, question, more = {
        "borda": (dprank.PrivateBorda.calibrated(**common), VOTES, "consensus", {"top": 2}),
        "matrix": (dprank.NoisyMatrix.calibrated(**common), VOTES, "consensus", {}),
        "net": (
            dprank.NoisyCounts.calibrated(**common, per_person=1),
            ANSWERS,
            "ranking",
            {"sampling": "persons", "persons": 90},
        ),
        "wins": (dprank.NoisyCounts.calibrated(**common, per_person=1, score="wins"), ANSWERS, "ranking", {}),
        "halves": (dprank.NoisyCounts.calibrated(**common, per_person=1, score="half"), ANSWERS, "ranking", {}),
        "conditioned": (
            dprank.NoisyCounts.calibrated(**common, per_person=1, noise="conditioned"),
            ANSWERS,
            "ranking",
            {},
        ),
        "cube": (dprank.NoisyCounts.calibrated(**common, per_person=1, noise="cube"), ANSWERS, "ranking", {}),
        "topk": (
            dprank.Oneshot.calibrated(epsilon=1.0, k=2, items=ITEMS, values=True, ordered=True, per_person=1),
            HAD,
            "topk",
            {},
        ),
        "set": (dprank.Peeling.calibrated(epsilon=1.0, k=2, items=ITEMS), [9, 5, 3, 0], "topk", {"per_person": 2}),
        "winner": (dprank.PrivateWinner.calibrated(**common), VOTES, "winner", {}),
        "agreement": (
            dprank.NoisyNorm.calibrated(**common, n_voters=90, statistic="ranks"),
            VOTES,
            "agreement",
            {},
        ),
    }[name]
    receipt = dprank.privacy.budget.Receipt("survey", 1, "0" * 64, dprank.Guarantee(0.5))
    text = publish(
        mechanism.release(data, dprank.SECURE),
        question,
        receipt=receipt,
        title="Trees",
        day="2026-11-29",
        replaces="ab" * 16,
        wave=2,
        **more,
    )
    return json.loads(text)


KINDS = ["borda", "matrix", "net", "wins", "halves", "conditioned", "cube", "topk", "set", "winner", "agreement"]


# --- what is written -------------------------------------------------------------------------------------------------


def test_who_is_first_is_read_off_one_record(tmp_path):
    """Once two lists in two orders: who put them side by side read the last for the first, every time."""
    path = tmp_path / "align.csv"
    path.write_text("oak,elm,fir\n" + "3,1,2\n" * 80)
    done = said("release", "consensus", path, "--wide", "--items", "oak,elm,fir", "--ballots", "full", "--epsilon",
                "5", "--json")  # fmt: skip
    file = json.loads(done.out)
    assert {row["item"]: (row["place"], row["lowest"], row["highest"]) for row in file["answer"]} == {
        "elm": (1, 1, 1),
        "fir": (2, 2, 2),
        "oak": (3, 3, 3),
    }
    assert [row["score"] for row in file["answer"]] == sorted((row["score"] for row in file["answer"]), reverse=True)
    assert {row["unit"] for row in file["answer"]} == {"Borda points"}
    # no list beside it that could be put beside another one
    lists = [key for key, value in file.items() if isinstance(value, list) and "oak" in value]
    assert lists == ["items"]
    assert file["items"] == ["oak", "elm", "fir"]
    assert [*file["answer"][0]] == ["item", "place", "score", "unit", "lowest", "highest"]


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_of_the_schema_and_reads_back(name):
    file = made(name)
    text = json.dumps(file)
    assert not faults(text)
    release = read_publication(text)
    assert read_publication(json.dumps(file, indent=7)) == release, "the layout says nothing"
    assert (file["title"], file["day"], file["wave"], file["replaces"]) == ("Trees", "2026-11-29", 2, "ab" * 16)
    assert file["mechanism"]["class"] == type(release.mechanism).__name__
    if isinstance(release, dprank.Ranking):
        assert tuple(row["item"] for row in file["answer"]) == release.ranking
        if release.scores is not None:
            assert [row["score"] for row in file["answer"]] == release.scores[release.order].tolist()
        found = opened(text)["ranges"]
        assert [(it["lowest"], it["highest"]) for it in found][:1] == [
            (list(it["lowest"]), list(it["highest"])) for it in [release.intervals()]
        ]
    old = json.dumps(of_version_02(text))
    assert read_publication(old) == release
    assert opened(old)["ranges"] == opened(text)["ranges"]
    assert opened(old)["rule"] == file["rule"]
    assert faults(old)


RULES = {
    "borda": ("Borda", "Borda points", None),
    "matrix": ("Kemeny", None, None),
    "net": ("net wins", "net wins", {"most": 1, "of": "answers"}),
    "wins": ("wins", "wins", {"most": 1, "of": "answers"}),
    "halves": ("wins, a tie as half", "wins", {"most": 1, "of": "answers"}),
    "topk": ("most frequent", "people", {"most": 1, "of": "items"}),
    "set": ("most frequent", None, {"most": 2, "of": "items"}),
    "winner": ("worst margin", None, None),
}


@pytest.mark.parametrize("name", RULES)
def test_rule_unit_and_bound_are_said(name):
    file = made(name)
    assert (file["rule"], file["answer"][0]["unit"], file["bound"]) == RULES[name]


def test_the_floor_of_a_p_value_is_said():
    assert made("agreement")["answer"]["floor"] == 1 / 1000


def test_the_identifier_is_of_what_is_said_and_of_nothing_else():
    file = made("borda")
    assert file["id"] == identifier(file)
    again = json.loads(json.dumps(file).replace(".0,", ","))
    assert identifier(again) == file["id"], "whole numbers may lose their point on the way"
    for key, value in (("title", "Tree"), ("day", "2026-11-28"), ("wave", 3), ("source", "seeded")):
        assert identifier(file | {key: value}) != file["id"]


def test_margins_are_of_named_pairs():
    file = made("matrix")
    margins = read_publication(json.dumps(file)).margins
    assert len(file["margins"]) == 6
    for row in file["margins"]:
        assert row["margin"] == margins[ITEMS.index(row["item"]), ITEMS.index(row["over"])]


def test_the_schema_tells_files_from_others():
    assert json_schema()["$id"].endswith(":3")
    file = made("net")
    for change in (
        {"ranges": [[1, 2]]}, {"answer": []}, {"answer": [{"item": "oak"}]}, {"mechanism": {"class": "a.b.C"}},
        {"id": "x"}, {"kind": "Decision"}, {"day": "today"}, {"bound": 3}, {"more": 1},
    ):  # fmt: skip
        assert not validator().is_valid(file | change), change


def changed(value, file):
    """The file with each of its values, at any depth, replaced by others or left out, one at a time."""
    keys = range(len(value)) if isinstance(value, list) else list(value) if isinstance(value, dict) else ()
    for key in keys:
        kept = value[key]
        for other in (None, "x", -1, []):
            value[key] = other
            yield file
        value[key] = kept
        yield from changed(kept, file)
        if isinstance(value, dict):
            del value[key]
            yield file
            value[key] = kept


@pytest.mark.parametrize("name", ["agreement", "matrix", "net"])
def test_what_reads_the_schema_quickly_reads_the_same(name):
    file, refused = made(name), 0
    for other in changed(file, file):
        try:
            quick()(other)
        except fastjsonschema.JsonSchemaException:
            refused += 1
            assert not validator().is_valid(other), other
        else:
            assert validator().is_valid(other), other
    assert refused > 200


# --- forty that say what is not so -----------------------------------------------------------------------------------


def put(*path):
    """Put the last of these in the place that the others lead to."""

    def change(file):
        *way, last, value = path
        home = file
        for step in way:
            home = home[step]
        home[last] = value
        return file

    return change


def without(*keys):
    def change(file):
        for key in keys:
            del file[key]
        return file

    return change


def shifted(by):
    """All scores moved alike, so that no order and no range changes."""

    def change(file):
        for row in file["answer"]:
            row["score"] += by
        return file

    return change


def swapped(file):
    """The first two items change their scores, and nothing else."""
    one, other = file["answer"][:2]
    one["score"], other["score"] = other["score"], one["score"]
    return file


def reordered(file):
    file["answer"] = file["answer"][::-1]
    return file


def dropped(file):
    file["answer"] = file["answer"][:-1]
    return file


def twice(file):
    file["answer"][1]["item"] = file["answer"][0]["item"]
    return file


def odd(file):
    file["margins"][0]["margin"] += 1
    return file


def silent(file):
    file["not protected"] = [it for it in file["not protected"] if "replaces" not in it]
    return file


def halved(file):
    file["answer"][0]["score"] += 0.5
    return file


TAMPERED = {
    "another schema": ("borda", put("schema", "dprank.publication/4"), "schema is not"),
    "a key more": ("borda", put("note", "sound"), "key 'note' is unknown"),
    "a key less": ("borda", without("rule"), "key 'rule' is missing"),
    "another question": ("borda", put("question", "winner"), "answers no question of winner"),
    "no question": ("borda", put("question", "best"), "question = 'best'"),
    "another rule": ("borda", put("rule", "Kemeny"), "rule is not that of its mechanism: Borda"),
    "another bound": ("net", put("bound", {"most": 9, "of": "answers"}), "bound is not that"),
    "no bound": ("topk", put("bound", None), "bound is not that"),
    "a bound of nothing": ("borda", put("bound", {"most": 1, "of": "items"}), "bound is not that"),
    "a bound of letters": ("set", put("bound", {"most": "2", "of": "items"}), "bound is not that"),
    "a title of two lines": ("borda", put("title", "Trees\nof ours"), "title = "),
    "no such day": ("borda", put("day", "2026-02-30"), "day = "),
    "replaces no id": ("borda", put("replaces", "release.json"), "replaces = "),
    "wave zero": ("borda", put("wave", 0), "wave = 0"),
    "two scores changed": ("borda", swapped, "order is not that of the scores"),
    "best last": ("borda", reordered, "place is not that of the record"),
    "an item less": ("borda", dropped, "item of the answer is not each of items once"),
    "an item twice": ("borda", twice, "item of the answer is not each of items once"),
    "an item of nobody's": ("topk", put("answer", 0, "item", "yew"), "not among those that are declared"),
    "a wider range": ("borda", put("answer", 0, "highest", 9), "highest in record 1"),
    "a range with sampling": ("net", put("answer", 3, "lowest with sampling", 9), "lowest with sampling in record 4"),
    "a range of a decision": ("agreement", put("ranges", [{"sampling": None, "persons": None}]), "ranges"),
    "ranges of more people": ("net", put("ranges", 1, "persons", 9000), "with sampling in record"),
    "another level": ("borda", put("ranges", 0, "level", 0.99), "ranges are not those"),
    "another unit": ("borda", put("answer", 2, "unit", "votes"), "unit in record 3"),
    "a score less": ("borda", put("answer", 1, "score", None), "score is missing in some records"),
    "half a place off": ("borda", halved, "scores off the grid"),
    "half a count": ("topk", put("answer", 0, "score", 20.5), "values of source"),
    "a count below zero": ("topk", put("answer", 1, "score", -4000), "counts are at least 0"),
    "wins below zero": ("wins", put("answer", 3, "score", -4000.0), "wins are at least 0"),
    "net wins that do not sum to zero": ("net", shifted(5000.0), "net wins to 0"),
    "conditioned net wins that do not sum to zero": ("conditioned", shifted(1.0), "net wins with this noise to 0"),
    "net wins in a cube that do not sum to zero": ("cube", shifted(5000.0), "net wins to 0"),
    "a margin of another parity": ("matrix", odd, "all of one parity"),
    "margins of other pairs": ("matrix", put("margins", 0, "over", "fir"), "margins are not of each pair"),
    "a gap that is smaller": ("topk", put("right", {"chance": 0.95, "gap": 1.0}), "right is not what its noise allows"),
    "a smaller epsilon": ("borda", put("guarantee", "epsilon", 0.1), "guarantee is not the one"),
    "a class by its module": (
        "borda", put("mechanism", "class", "dprank.aggregation.private_borda.PrivateBorda"), "class of the mechanism",
    ),
    "more protected": ("borda", put("protects", "Everybody."), "protects is not what"),
    "what a correction tells": ("borda", silent, "not protected does not say"),
    "other items": ("topk", put("items", ["oak", "elm", "fir", "yew"]), "items are not those of its mechanism"),
    "a p-value below its floor": ("agreement", put("answer", "p_value", 0.0), "p_value"),
    "a floor that is lower": ("agreement", put("answer", "floor", 1e-9), "floor of the answer"),
    "true for one": ("borda", put("answer", 0, "place", True), "place in record 1"),
    "a receipt without its digest": ("borda", put("receipt", "digest", "none"), "receipt = "),
    "other bounding": ("net", put("rules", "bounding", "nothing is left out"), "bounding is not that"),
    "a rule of cleaning that is none": ("borda", put("rules", "cleaning", ["spelling"]), "clean"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_a_tampered_file_is_named(name, tmp_path):
    """Its forger makes the identifier anew: what is wrong has to be seen in what it says."""
    kind, change, told = TAMPERED[name]
    file = made(kind)
    path = tmp_path / "release.json"
    path.write_text(json.dumps(file))
    assert said("verify", path).code == 0
    path.write_text(signed(change(copy.deepcopy(file))))
    done = said("verify", path)
    assert (done.code, done.out, told in done.error) == (2, "", True), done.error
    assert len(done.error.splitlines()) == 1


def test_there_are_forty():
    assert len(TAMPERED) >= 40


@pytest.mark.parametrize("key", ["title", "day", "replaces", "wave"])
def test_what_only_the_identifier_knows(key, tmp_path):
    file, path = made("borda"), tmp_path / "release.json"
    path.write_text(json.dumps(file | {key: None if file[key] is not None else "0" * 64}))
    done = said("verify", path)
    assert (done.code, "not as it was written" in done.error) == (2, True)


def nested(depth):
    """What a file may hold in the place of anything."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [3, 200, 400, 900])
@pytest.mark.parametrize("key", ["right", "mechanism", "rules", "answer", "items", "title", "ranges", "bound"])
def test_what_is_nested_is_refused_in_one_line(key, depth):
    for name in ("borda", "topk"):
        file = made(name) | {key: nested(depth)}
        text = json.dumps(file)
        for reader in (read_publication, opened):
            try:
                reader(text)
            except ValueError as error:
                assert len(str(error).splitlines()) == 1  # noqa: PT017
            else:
                assert reader is opened


@pytest.mark.parametrize("text", ['{"schema": 1, "schema": 2}', "{", "[" * 9999, '{"schema": NaN}', "7"])
def test_what_is_no_file_at_all(text):
    with pytest.raises(ValueError, match="no publication"):
        read_publication(text)


def test_sound_releases_are_not_impossible():
    """Each mechanism a hundred times: what is refused of sound ones would be one in 10^12."""
    for name in ("borda", "matrix", "net", "wins", "conditioned", "cube", "topk", "agreement"):
        for _ in range(30 if name != "agreement" else 5):
            read_publication(json.dumps(made(name)))
    # next to nobody took part: noise alone
    nobody = dprank.Comparisons([], [], [], items=ITEMS, voter=[])
    for score in ("net", "half", "wins"):
        mechanism = dprank.NoisyCounts.calibrated(epsilon=0.1, n_items=4, per_person=1, score=score)
        for _ in range(100):
            read_publication(publish(mechanism.release(nobody, dprank.SECURE), "ranking"))
    few = dprank.Oneshot.calibrated(epsilon=0.05, k=4, items=ITEMS, values=True)
    for _ in range(100):
        read_publication(publish(few.release([0, 0, 0, 0], dprank.SECURE), "topk"))


def test_the_schema_is_in_the_package():
    program = "from dprank.publication import json_schema; print(json_schema()['title'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "format 3" in done.stdout


def test_all_that_the_mutations_begin_with_is_of_the_schema():
    for text in releases():
        assert not faults(text)


# --- title, day, correction, wave ------------------------------------------------------------------------------------


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "trees.csv"
    path.write_text("who,oak,elm,fir\n" + "".join(f"p{v},1,2,3\n" for v in range(40)))
    return ["consensus", path, "--wide", "--items", "oak,elm,fir", "--ballots", "full", "--person", "who"]


def test_title_and_day_are_published(trees, tmp_path):
    out = tmp_path / "release.json"
    assert said("release", *trees, "--epsilon", "1", "--title", "Trees", "--day", "2026-11-02", "--out", out).code == 0
    file = opened(out.read_text())
    assert (file["title"], file["day"], file["wave"], file["replaces"]) == ("Trees", "2026-11-02", None, None)
    shown = json.loads(said("verify", out, "--json").out)
    assert (shown["title"], shown["id"]) == ("Trees", file["id"])
    facts = ["--name", "n", "--curator", "c", "--author", "a", "--use", "u", "--region", "r"]
    assert 'publication_date: "2026-11-02"' in said("card", out, *facts).out
    assert 'publication_date: "2026-11-05"' in said("card", out, *facts, "--day", "2026-11-05").out
    for slip, told in (("2 November", "day = "), ("2026-11-32", "day = ")):
        done = said("release", *trees, "--epsilon", "1", "--day", slip)
        assert (done.code, told in done.error, done.out) == (2, True, "")
    done = said("release", *trees, "--epsilon", "1", "--title", " ")
    assert (done.code, "title = " in done.error) == (2, True)


@pytest.mark.parametrize(
    "slip", [["--title", "a\nb"], ["--day", "x"], ["--wave", "0"], ["--wave", "2"], ["--replaces"]]
)
def test_a_slip_of_a_name_spends_nothing(slip, trees, tmp_path):
    kept, none = tmp_path / "b.sqlite", tmp_path / "none.json"
    none.write_text("{}")
    dprank.Budget(kept, epsilon=3.0)
    more = [*slip, *([none] if slip == ["--replaces"] else [])]
    done = said("release", *trees, "--epsilon", "1", "--budget", kept, *more)
    assert (done.code, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert not dprank.Budget(kept).entries()


def test_a_correction_is_of_the_same_people_and_paid_for_again(trees, tmp_path):
    kept, first, second = tmp_path / "b.sqlite", tmp_path / "release.json", tmp_path / "corrected.json"
    dprank.Budget(kept, epsilon=3.0)
    words = ["release", *trees, "--epsilon", "1", "--budget", kept]
    assert said(*words, "--dataset", "trees 2026", "--out", first).code == 0
    done = said(*words, "--replaces", first, "--dataset", "other", "--new-dataset")
    assert (done.code, "the same people" in done.error) == (2, True)
    done = said(*words, "--replaces", first, "--new-dataset")
    assert (done.code, "--new-dataset" in done.error) == (2, True)
    assert len(dprank.Budget(kept).entries()) == 1
    done = said(*words, "--replaces", first, "--out", second)
    assert (done.code, done.error) == (0, "")
    assert [it.dataset for it in dprank.Budget(kept).entries()] == ["trees 2026"] * 2
    one, other = (opened(it.read_text()) for it in (first, second))
    assert other["replaces"] == one["id"]
    assert other["receipt"]["number"] == 2
    assert any("epsilons add up" in line for line in other["not protected"])
    assert not any("epsilons add up" in line for line in one["not protected"])
    text = said("report", second).out
    assert f"replaces, the file with the id {one['id']}" in text
    assert f"Its id is {other['id']}" in text
    found = said("compare", first, second)
    assert (found.code, "The second replaces the first." in found.out) == (0, True)


def test_a_correction_of_a_file_of_version_02_has_an_identifier_too(trees, tmp_path):
    old, out = tmp_path / "old.json", tmp_path / "release.json"
    assert said("release", *trees, "--epsilon", "1", "--out", out).code == 0
    old.write_text(json.dumps(of_version_02(out.read_text())))
    done = said("release", *trees, "--epsilon", "1", "--replaces", old, "--json")
    assert json.loads(done.out)["replaces"] == opened(old.read_text())["id"]


def test_a_second_wave_shares_the_budget(trees, tmp_path):
    """By the name of its file it would begin anew, though half of the people are in both."""
    kept, later = tmp_path / "b.sqlite", tmp_path / "later.csv"
    later.write_bytes(trees[1].read_bytes())
    dprank.Budget(kept, epsilon=3.0)
    rest = ["--epsilon", "1", "--budget", kept]
    again = ["release", trees[0], later, *trees[2:], *rest, "--wave", "2"]
    done = said(*again, "--dataset", "trees")
    assert (done.code, "has no entry of it" in done.error) == (2, True)
    assert said("release", *trees, *rest, "--wave", "1", "--dataset", "trees", "--title", "Trees").code == 0
    done = said(*again)
    assert (done.code, "--dataset" in done.error) == (2, True)
    done = said(*again, "--dataset", "later", "--new-dataset")
    assert (done.code, "--new-dataset" in done.error) == (2, True)
    done = said(*again, "--dataset", "trees", "--json")
    file = json.loads(done.out)
    assert (done.code, file["wave"], file["receipt"]["number"]) == (0, 2, 2)
    assert any("several: their epsilons add up" in line for line in file["not protected"])
    assert len(dprank.Budget(kept).entries("trees")) == 2


def test_what_cells_mean_may_have_been_chosen_after_a_look(tmp_path):
    """A code that `check` showed first is a use of the data, as an alias is: the file names it."""
    (tmp_path / "b.csv").write_text("who,a,b\n" + "".join(f"p{at},1,{(2, 99)[at % 2]}\n" for at in range(40)))
    words = ["--wide", "--items", "a,b", "--person", "who", "--ballots", "partial", "--unranked", "apart"]
    words += ["--unranked-as", "99", "--lowest", "0", "--withdrawn", "Bob", "--clean", "strip"]
    for before, tuned in (
        ("all", "nothing"),
        ("strip,lowest", ["unranked_as", "withdrawn"]),
        ("none", ["strip", "lowest", "unranked_as", "withdrawn"]),
    ):
        plan = tmp_path / f"{before}.toml"
        assert said("check", tmp_path / "b.csv", *words, "--before-looking", before, "--out", plan).code == 0
        done = said("release", "consensus", tmp_path / "b.csv", "--plan", plan, "--epsilon", "1", "--json")
        assert json.loads(done.out)["rules"]["tuned on the data"] == tuned
        read_publication(done.out)
        lied = json.loads(done.out)
        lied["rules"]["tuned on the data"] = ["places"]
        with pytest.raises(ValueError, match="tuned on the data is no list of its rules"):
            read_publication(json.dumps(lied | {"id": identifier(lied)}))
