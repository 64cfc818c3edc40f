"""`dprank plan` as somebody types it, and `dprank release --plan` after it."""

import json
import re
import tomllib

import pytest
from checks import each

from dprank.cli import app, main
from dprank.cli.plan import made_of
from dprank.plan.tags import TAGS

BALLOTS = ["ballots.csv", "--items", "roads,schools,parks,debt", "--person", "person"]


def run(capsys, *arguments):
    """Exit code, standard output, standard error."""
    code: object = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code or 0
    said = capsys.readouterr()
    return code, said.out, said.err


ASKED = {
    "ranking": ["--items", "a,b,c,d", "--persons", "400", "--epsilon", "1", "--answers", "1,3"],
    "consensus": ["--items", "4", "--persons", "200", "--epsilon", "1", "--delta", "1e-6"],
    "topk": ["--items", "1000000", "--persons", "50000", "--k", "10", "--per-person", "1,5", "--epsilon", "1"],
    "winner": ["--items", "6", "--persons", "200", "--epsilon", "1", "--camps", "0.6"],
    "agreement": ["--items", "6", "--persons", "200", "--epsilon", "1", "--phi", "0.9"],
}


@pytest.mark.slow
def test_every_question_fits_a_terminal_and_says_what_is_best(capsys):
    for question, words in ASKED.items():
        code, said, error = run(capsys, "plan", question, *words, "--accuracy", "0.9")
        assert (code, error) == (0, "")
        assert max(map(len, said.splitlines())) <= 80
        flat = " ".join(said.split())
        assert "Best: " in flat
        assert re.search(r"chance 0.9: (epsilon [\d.]+|no epsilon)", flat), question
        assert ("apart: two scores" in flat) == (question not in ("agreement", "winner"))
        code, text, _ = run(capsys, "plan", question, *words, "--json")
        told = json.loads(text)
        best = told["choices"][told["best"]]
        assert best["mechanism"] in flat
        least = min(one["error"] for one in told["choices"] if one["publishable"])
        assert best["error"] == pytest.approx(least, abs=0.004)  # or nearly as good, and safer


def test_where_nobody_is_trusted_nothing_else_is_recommended(capsys, tmp_path):
    """And where somebody is, it is said: or a promise that nobody sees an answer would be broken by good advice."""
    local = {"ranking", "consensus", "topk", "agreement"}
    for question, words in ASKED.items():
        plain = [word for word in words if word not in ("--camps", "0.6", "--delta", "1e-6")]
        code, said, _ = run(capsys, "plan", question, *plain)
        assert code == 0
        assert "sees all answers" in said
        assert ("--trust nobody" in " ".join(said.split())) == (question in local)
        if question == "winner":
            continue
        if question == "topk":
            plain[plain.index("1000000")] = "100"
        code, said, error = run(capsys, "plan", question, *plain, "--trust", "nobody")
        assert (code, error) == (0, "")
        flat = " ".join(said.split())
        assert "Nobody sees an answer" in flat
        best = re.search(r"Best: (\w+)", flat)
        assert best is not None
        assert TAGS[best[1]].trust == "nobody"
        assert f"{best[1]}: {TAGS[best[1]].how}." in flat
        # there is no file of answers, so nothing is written that a release could read
        declared, out = tmp_path / f"{question}.toml", tmp_path / f"{question}-plan.toml"
        declared.write_text(f'kind = "{TAGS[best[1]].data}"\n', encoding="utf-8")
        code, _, error = run(capsys, "plan", question, *plain, "--trust", "nobody", "--plan", declared, "--out", out)
        assert code != 0
        assert "no file that a release could read" in error
        assert not out.exists()


def test_every_method_is_said_in_a_few_words():
    told = [tag.how for tag in TAGS.values()]
    assert len(set(told)) == len(told)
    assert all(5 <= len(how.split()) <= 19 and not how.endswith(".") for how in told), told


def test_every_command_has_an_example_and_its_choices_from_the_tags(capsys):
    for question in ASKED:
        code, said, _ = run(capsys, "plan", question, "--help")
        flat = " ".join(said.split())
        assert code == 0
        assert f"Example: dprank plan {question} " in flat
        for name, tag in TAGS.items():
            assert (name in flat) == (tag.question == question), (question, name)
        assert " ".join(made_of(question).split()) in flat
    assert {group.name for group in app.registered_groups} >= {"plan", "release"}


def test_examples_of_the_help_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.txt").write_text("\n".join(f"item {i}" for i in range(9)), encoding="utf-8")
    for question in ASKED:
        _, said, _ = run(capsys, "plan", question, "--help")
        example = re.search(r"Example: dprank (.*?) Exit codes:", " ".join(said.split()))
        assert example is not None
        code, said, error = run(capsys, *example[1].replace("\\ ", "").split())
        assert (code, error) == (0, ""), question
        assert "Best: " in said


@pytest.mark.slow
def test_what_is_recommended_is_what_is_released(capsys, tmp_path):
    import dprank

    survey = tmp_path / "survey.csv"
    rows = [f"{a},{b},1,person {v}" for v in range(60) for a, b in (("a", "b"), ("b", "c"), ("c", "d"))]
    survey.write_text("left,right,answer,who\n" + "\n".join(rows), encoding="utf-8")
    declared, planned, out = (tmp_path / name for name in ("declared.toml", "plan.toml", "release.json"))
    compared = ["--comparisons", "left,right,answer", "--map", "outcome", "--person", "who", "--items", "a,b,c,d"]
    assert run(capsys, "check", survey, *compared, "--out", declared)[0] == 0
    words = ["--plan", declared, "--persons", "60", "--epsilon", "0.7", "--answers", "1,3", "--out", planned]
    code, _, error = run(capsys, "plan", "ranking", *words)
    assert (code, error) == (0, "")
    told = tomllib.loads(planned.read_text())
    assert told["columns"] == ["left", "right", "answer"]
    assert told["release"]["epsilon"] == 0.7
    assert dprank.Declaration.from_toml(planned) == dprank.Declaration.from_toml(declared)
    code, _, error = run(capsys, "release", "ranking", survey, "--plan", planned, "--out", out)
    assert (code, error) == (0, "")
    mechanism = json.loads(out.read_text())["mechanism"]
    inside = json.dumps(mechanism)
    assert told["release"]["score"] in inside
    assert f'"per_person": {told["release"]["answers"]}' in inside
    # a flag goes before the plan
    assert "epsilon = 0.2 " in run(capsys, "release", "ranking", survey, "--plan", planned, "--epsilon", "0.2")[1]
    # a plan of a plan replaces what was chosen
    words[1], words[5] = planned, "0.1"
    assert run(capsys, "plan", "ranking", *words)[0] == 0
    assert tomllib.loads(planned.read_text())["release"]["epsilon"] == 0.1
    assert planned.read_text().count("[release]") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "words", "file", "more"),
    [
        ("ranking", ["--answers", "3", "--persons", "9"], "answers.csv",
         ["--comparisons", "first,second,outcome", "--map", "outcome", "--person", "person"]),
        ("consensus", ["--persons", "250"], "ballots.csv", ["--person", "person"]),
        ("winner", ["--persons", "250"], "ballots.csv", ["--person", "person"]),
        ("agreement", ["--persons", "250"], "ballots.csv", ["--person", "person"]),
        ("topk", ["--persons", "100", "--k", "2"], "diagnoses.csv",
         ["--person", "patient", "--item", "diagnosis"]),
    ],
)  # fmt: skip
def test_a_plan_without_a_declaration_leaves_columns_to_flags(capsys, tmp_path, question, words, file, more):
    import dprank

    items = {"answers.csv": "London,Paris,Rome", "ballots.csv": "roads,schools,parks,debt",
             "diagnoses.csv": "asthma,flu,gout,kuru,measles,migraine"}[file]  # fmt: skip
    planned = tmp_path / "plan.toml"
    code, _, error = run(capsys, "plan", question, "--items", items, *words, "--epsilon", "1", "--out", planned)
    assert (code, error) == (0, "")
    code, said, error = run(capsys, "release", question, dprank.example(file), "--plan", planned, *more)
    assert (code, error) == (0, "")
    assert "epsilon = 1 (central" in said


@each(
    "words, word",
    [
        (["ranking", "--persons", "9", "--epsilon", "1"], "items"),
        (["ranking", "--items", "a,a", "--persons", "9", "--epsilon", "1"], "items"),
        (["ranking", "--items", "99999", "--persons", "9", "--epsilon", "1"], "items"),
        (["ranking", "--items", "4", "--persons", "1", "--epsilon", "1"], "persons"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "0"], "epsilon"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "nan"], "epsilon"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--answers", "3,x"], "answers"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--answers", "-3"], "answers"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--answers", "7"], "answers"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--answers", "9" * 40], "answers"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--answers", "٣"], "answers"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--given", ","], "given"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--gap", "2"], "gap"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--accuracy", "0.4"], "accuracy"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--protect", "ballot"], "protect"),
        (["ranking", "--plan", "nowhere.toml", "--persons", "9", "--epsilon", "1"], "nowhere.toml"),
        (["consensus", "--items", "4", "--persons", "9", "--epsilon", "1", "--trust", "me"], "trust"),
        (["consensus", "--items", "4", "--persons", "9", "--epsilon", "1", "--delta", "2"], "delta"),
        (["consensus", "--items", "4", "--persons", "9", "--epsilon", "1", "--camps", "0.4"], "camps"),
        (["consensus", "--items", "4", "--persons", "9", "--epsilon", "1", "--camps", "nan"], "camps"),
        (["winner", "--items", "4", "--persons", "9", "--epsilon", "1", "--named", "5"], "named"),
        (["winner", "--items", "4", "--persons", "9", "--epsilon", "1", "--named", "1"], "named"),
        (["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--design", "odd"], "design"),
        (
            ["ranking", "--items", "4", "--persons", "9", "--epsilon", "1", "--answers", "3", "--design", "matching"],
            "matching",
        ),
        (["agreement", "--items", "4", "--persons", "9", "--epsilon", "1", "--phi", "1"], "phi"),
        (["topk", "--items", "9", "--k", "9", "--persons", "9", "--epsilon", "1"], "k = 9"),
        (["topk", "--items", "9", "--k", "2", "--persons", "9", "--epsilon", "1", "--gap", "0.9"], "gap"),
    ],
)
def test_a_refusal_is_one_line(capsys, words, word):
    code, out, error = run(capsys, "plan", *words)
    assert code == 2
    assert out == ""
    assert word in error
    assert len(error.strip().splitlines()) == 1


@each(
    "text, word",
    [
        ('kind = "ballots"\nitems = ["a", "b"]\n[release]\nepsilon = 1.0\ncolour = "red"\n', "colour"),
        ('kind = "ballots"\nitems = ["a", "b"]\n[release]\nepsilon = [1.0]\n', "release"),
        ('kind = "ballots"\nitems = ["a", "b"]\nrelease = 3\n', "release"),
        ('kind = "ballots"\nitems = ["a", "b"]\n[release]\nepsilon = 1.0\nmechanism = "Oneshot"\n', "mechanism"),
        ('kind = "ballots"\nitems = ["a", "b"]\n[release]\nepsilon = -1.0\n', "epsilon"),
        (
            'kind = "ballots"\nitems = ["a", "b"]\n[release]\nmechanism = "ExponentialMechanism"\nepsilon = 1.0\n',
            "PrivateB",
        ),
        ('kind = "ballots"\nitems = ["a", "b"]\n[release\n', "TOML"),
    ],
)
def test_a_plan_that_is_none_is_refused_in_one_line(capsys, tmp_path_factory, text, word):
    folder = tmp_path_factory.mktemp("plans")
    planned, file = folder / "plan.toml", folder / "ballots.csv"
    planned.write_text(text, encoding="utf-8")
    file.write_text("a,b\n1,2\n", encoding="utf-8")
    code, out, error = run(capsys, "release", "consensus", file, "--plan", planned)
    assert (code, out) == (2, "")
    assert word in error
    assert len(error.strip().splitlines()) == 1
