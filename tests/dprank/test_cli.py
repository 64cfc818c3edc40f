"""The command line, as somebody at work uses it: from a file to a ranking, and every file one could be handed."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from published import of_version_02

import dprank
from dprank.cli import main
from dprank.cli.options import named
from dprank.data.files import MOST_COLUMNS
from dprank.publication import gain, opened, publish, read_publication
from dprank.report import report

ITEMS = "Pay,Hours,Canteen"
SURVEY = [
    ["left", "right", "answer", "who"],
    *(
        [a, b, c, f"person {v}"]
        for v in range(40)
        for a, b, c in [("Pay", "Hours", "left"), ("Hours", "Canteen", "equal")]
    ),
]
COMPARED = [
    "--comparisons",
    "left,right,answer",
    "--map",
    "left=1,right=0,equal=0.5",
    "--items",
    ITEMS,
    "--person",
    "who",
]
RANK = ["--protect", "person", "--answers", "2", "--epsilon", "1"]


def run(capsys, *arguments):
    """Exit code, standard output, standard error."""
    code: object = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code or 0
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(map(",".join, SURVEY)), encoding="utf-8")
    return path


def test_from_a_file_to_a_ranking_in_two_commands(survey, tmp_path, capsys):
    plan, out = tmp_path / "plan.toml", tmp_path / "release.json"
    code, said, _ = run(capsys, "check", survey, *COMPARED, "--out", plan)
    assert code == 0
    assert "not for publication" in said
    assert "rows that count: 80" in said
    assert "people: 40" in said
    code, said, _ = run(capsys, "release", "ranking", survey, "--plan", plan, *RANK, "--out", out)
    assert code == 0
    assert "epsilon = 1 (central; replace one voter)" in said
    assert "nobody keeps count" in said
    assert "95% range" in said
    release = read_publication(out.read_text())
    assert sorted(release.ranking) == ["Canteen", "Hours", "Pay"]
    assert release.publishable
    code, said, _ = run(capsys, "verify", out)
    assert (code, "epsilon = 1" in said) == (0, True)
    code, said, _ = run(capsys, "report", out, "--html")
    assert code == 0
    page = out.with_suffix(".html").read_text()
    assert "73.1%" in page
    assert "http" not in page
    assert page.count("<circle") == 3
    code, said, _ = run(capsys, "report", out)
    assert "●" in said


def test_a_published_file_holds_nothing_of_the_data(survey, tmp_path, capsys):
    out = tmp_path / "release.json"
    assert run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--out", out)[0] == 0
    text = out.read_text()
    assert "person 7" not in text
    assert str(tmp_path) not in text
    assert not {"40", "80"} & {str(value) for value in json.loads(text)["rules"].values()}


def test_a_list_of_items_may_be_longer_than_a_name_of_a_file():
    items = [f"candidate number {i}" for i in range(60)]
    assert named(",".join(items)) == tuple(items)
    with pytest.raises(ValueError, match="no such file"):
        named("a" * 5000)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ranking", *COMPARED, "--protect", "person", "--epsilon", "1"], "--answers"),
        (["ranking", *COMPARED, "--protect", "nobody", "--answers", "2", "--epsilon", "1"], "answer or person"),
        (["ranking", *COMPARED[:6], *RANK], "--person"),
        (["ranking", *COMPARED[:4], *RANK], "--items"),
        (["ranking", *COMPARED, "--protect", "person", "--answers", "2", "--epsilon", "0"], "epsilon"),
        (["ranking", *COMPARED, "--protect", "person", "--answers", "2", "--epsilon", "nan"], "epsilon"),
        (["ranking", *COMPARED, "--protect", "person", "--answers", "2", "--epsilon", "inf"], "epsilon"),
        (["ranking", *COMPARED, "--protect", "person", "--answers", "2", "--epsilon", "1e-320"], "epsilon"),
        (["ranking", *COMPARED, *RANK, "--clean", "rare"], "clean"),
        (["ranking", *COMPARED, *RANK, "--alias", "scool"], "alias"),
        (["ranking", "--comparisons", "left,answer", *COMPARED[2:], *RANK], "columns"),
        (["ranking", "--comparisons", "left,right,verdict", *COMPARED[2:], *RANK], "verdict"),
        (["ranking", *COMPARED[:2], "--map", "left=2", *COMPARED[4:], *RANK], "1, 0.5 or 0"),
        (["consensus", "--items", ITEMS, "--epsilon", "1"], "no column"),
        (["consensus", "--items", "nowhere.txt", "--epsilon", "1"], "no such file"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(survey, capsys, words, said):
    code, out, error = run(capsys, "release", words[0], survey, *words[1:])
    assert code == 2
    assert out == ""
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert "person 7" not in error


def test_a_rehearsal_reads_nothing_and_says_so(tmp_path, capsys):
    code, said, _ = run(capsys, "release", "ranking", tmp_path / "none.csv", *COMPARED, *RANK, "--rehearse")
    assert code == 0
    assert "not for publication" in said


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("consensus", ["ballots.csv", "--items", "roads,schools,parks,debt", "--person", "person"]),
        ("agreement", ["ballots.csv", "--items", "roads,schools,parks,debt", "--person", "person", "--voters", "250"]),
        (
            "topk",
            [
                "diagnoses.csv",
                "--items",
                "asthma,flu,gout,kuru,measles,migraine",
                "--person",
                "patient",
                "--item",
                "diagnosis",
                "--k",
                "2",
                "--per-person",
                "2",
            ],
        ),
    ],
)
def test_the_other_questions(question, words, capsys):
    code, said, _ = run(capsys, "release", question, dprank.example(words[0]), *words[1:], "--epsilon", "1", "--json")
    assert code == 0
    assert read_publication(said).guarantee.epsilon == 1
    assert report(said).startswith("# ")


def rows(*lines):
    return "\n".join(lines).encode()


HEAD = "left,right,answer,who"
GOOD = "Pay,Hours,left,SECRET"
#: Files that are no table, and what the line says of them.
BROKEN = {
    "empty": (b"", "empty"),
    "blank lines": (b"\n\n\n", "empty"),
    "a mark alone": (b"\xef\xbb\xbf", "empty"),
    "UTF-16 without a mark": ("\n".join([HEAD, GOOD]).encode("utf-16-le"), "line 1"),
    "UTF-32": ("\n".join([HEAD, GOOD]).encode("utf-32"), ""),
    "latin-1": ("Zoë,".encode("latin-1") + rows(HEAD, GOOD), "line 1"),
    "half a letter": (b"\n\n" + HEAD.encode() + b"\xc3\n" + rows(GOOD), "line 3"),
    "null": (b"\x00" + rows(HEAD, GOOD), "line 1"),
    "binary": (bytes(range(256)), ""),
    "gzip": (b"\x1f\x8b\x08\x00" + b"\x00" * 40, ""),
    "a picture": (b"\x89PNG\r\n\x1a\n" + b"\x00" * 40, ""),
    "quote open": (rows(HEAD + ',"SECRET', GOOD), "quotation mark"),
    "no header": (rows(GOOD, GOOD), "no column"),
    "another header": (rows("a,b,c,d", GOOD), "no column"),
    "a column missing": (rows("left,right,answer", "Pay,Hours,left"), "no column"),
    "a column twice": (rows("left,right,answer,who,left", GOOD + ",SECRET"), "2 columns are called 'left'"),
    "semicolons and commas": (rows("left;right;answer;who,x", "Pay;Hours;left;SECRET,1"), "no column"),
    "spaces for separators": (rows("left right answer who", "Pay Hours left SECRET"), "no column"),
    "a column too many": (rows(",".join(f"c{i}" for i in range(MOST_COLUMNS + 1))), "columns"),
    "JSON": (b'[{"left": "SECRET"', "is damaged: no whole JSON"),
    "HTML": (b"<html><body>SECRET</body></html>", "is a page of the web"),
    "truncated Parquet": (b"PAR1" + b"SECRET" * 9, "Parquet"),
    "Parquet without an end": (b"PAR1", "Parquet"),
    "Parquet with a wrong footer": (b"PAR1" + b"\xff" * 64 + b"PAR1", "Parquet"),
}
#: Files that are a table: rows that do not fit are left out, and refusing them would tell.
TAKEN = {
    "header only": rows(HEAD),
    "one row": rows(HEAD, GOOD),
    "a mark": b"\xef\xbb\xbf" + rows(HEAD, GOOD),
    "UTF-16": "\n".join([HEAD, GOOD]).encode("utf-16"),
    "UTF-16, the other way round": b"\xfe\xff" + "\n".join([HEAD, GOOD]).encode("utf-16-be"),
    "CR LF": rows(HEAD, GOOD).replace(b"\n", b"\r\n"),
    "CR": rows(HEAD, GOOD).replace(b"\n", b"\r"),
    "line ends mixed": rows(HEAD, GOOD) + b"\r\n" + GOOD.encode() + b"\r" + GOOD.encode(),
    "semicolons": rows(HEAD, GOOD).replace(b",", b";"),
    "tabs": rows(HEAD, GOOD).replace(b",", b"\t"),
    "bars": rows(HEAD, GOOD).replace(b",", b"|"),
    "quoted": rows('"left","right","answer","who"', '"Pay","Hours","left","SECRET"'),
    "a comma in quotes": rows(HEAD, 'Pay,Hours,left,"SECRET, his brother"'),
    "a line end in quotes": rows(HEAD, 'Pay,Hours,left,"SECRET\nhis brother"'),
    "a quote doubled": rows(HEAD, 'Pay,Hours,left,"SECRET ""the"" one"'),
    "blank last lines": rows(HEAD, GOOD, "", ""),
    "unknown items": rows(HEAD, "Pay,SECRET,left,x", GOOD),
    "look-alike letters": rows(HEAD, "Рay,Hours,left,x", GOOD),  # the first is Cyrillic
    "compared with itself": rows(HEAD, "Pay,Pay,left,x", GOOD),
    "an unknown answer": rows(HEAD, "Pay,Hours,SECRET,x", GOOD),
    "no answer": rows(HEAD, "Pay,Hours,,x", GOOD),
    "NaN": rows(HEAD, "Pay,Hours,nan,x", "nan,Hours,left,x", "Pay,Hours,left,nan"),
    "NULL": rows(HEAD, "NULL,NULL,NULL,NULL"),
    "nobody": rows(HEAD, "Pay,Hours,left,", GOOD),
    "blanks for a name": rows(HEAD, "Pay,Hours,left,   ", GOOD),
    "2^63": rows(HEAD, f"Pay,Hours,left,{2**63}", f"Pay,Hours,left,{2**63 - 1}", f"Pay,Hours,left,-{2**63}"),
    "2^200": rows(HEAD, f"Pay,Hours,left,{2**200}"),
    "a person twice": rows(HEAD, GOOD, GOOD, GOOD.lower().replace("pay", "Pay").replace("hours", "Hours")),
    "a person with many answers": rows(HEAD, *[GOOD] * 1000),
    "fewer fields": rows(HEAD, "Pay,Hours", GOOD),
    "an empty field": rows(HEAD, ",,,", GOOD),
    "another column": rows(HEAD + ",SECRET", GOOD + ",1"),
    "another column twice": rows(HEAD + ",SECRET,SECRET,,", GOOD + ",1,2,3,4"),
    "a line end in the header": rows(HEAD + ',"SECRET,\nof course"', GOOD + ",1"),
    "semicolons in the header": rows(HEAD + ',"SECRET; a; b; c; d; e"', GOOD + ",1"),
    "columns in another order": rows("who,answer,right,left", "SECRET,left,Hours,Pay"),
    "a name right to left": rows(HEAD, "Pay,Hours,left,‮SECRET"),  # noqa: PLE2502
    "no visible name": rows(HEAD, "Pay,Hours,left,\u200b", GOOD),
    "a formula": rows(HEAD, 'Pay,Hours,left,"=HYPERLINK(SECRET)"'),
    "latin-1": rows(HEAD, GOOD) + "\nPay,Hours,left,Zoë".encode("latin-1"),
    "half a letter": rows(HEAD, GOOD) + b"\n\xc3",
    "null": rows(HEAD, GOOD) + b"\nPay\x00,Hours,left,x",
    "quote open": rows(HEAD, 'Pay,Hours,left,"SECRET'),
    "quote open early": rows(HEAD, '"Pay,Hours,left,SECRET', GOOD),
    "more fields": rows(HEAD, GOOD + ",SECRET"),
    "more fields later": rows(HEAD, GOOD, GOOD, GOOD + ",SECRET"),
    "a very long cell": rows(HEAD, f"Pay,Hours,left,{'SECRET' * 20_000}"),
}


def test_there_are_sixty_files():
    assert len(BROKEN) + len(TAKEN) + 4 >= 60


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_table_is_refused_in_one_line(name, tmp_path, capsys):
    content, said = BROKEN[name]
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    for command in (["check"], ["release", "ranking"]):
        code, out, error = run(capsys, *command, path, *COMPARED, *(RANK if command[0] == "release" else []))
        assert (code, out) == (2, "")
        assert len(error.strip().splitlines()) == 1
        assert "data.csv" in error
        assert said in error
        assert "SECRET" not in error
        assert len(error) < 400


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_a_table_is_taken(name, tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_bytes(TAKEN[name])
    code, out, error = run(capsys, "release", "ranking", path, *COMPARED, *RANK, "--json")
    assert (code, error) == (0, "")
    assert "SECRET" not in out
    code, out, error = run(capsys, "check", path, *COMPARED, "--json")
    assert (code, error) == (0, "")
    found = json.loads(out)
    assert found["rows"] == found["rows that count"] + sum(found["left out"].values())


@pytest.mark.parametrize("kind", ["directory", "missing", "a folder that is none"])
def test_what_is_no_file(kind, tmp_path, survey, capsys):
    path = {"directory": tmp_path, "missing": tmp_path / "no.csv", "a folder that is none": survey / "x.csv"}[kind]
    code, out, error = run(capsys, "release", "ranking", path, *COMPARED, *RANK)
    assert (code, out) == (2, "")
    assert len(error.strip().splitlines()) == 1


def test_no_permission(survey):
    program = "import os, sys; os.setuid(65534); from dprank.cli import main; main(sys.argv[1:])"
    survey.chmod(0)
    command = [sys.executable, "-c", program, "check", survey, *COMPARED]
    if not hasattr(sys, "getuid") and __import__("os").getuid() != 0:
        pytest.skip("only root can become nobody")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "SECRET" not in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file | {"schema": "dprank.publication/0"}, "schema"),
        (lambda file: file | {"more": 1}, "more"),
        (lambda file: {key: file[key] for key in file if key != "rules"}, "rules"),
        (lambda file: file | {"question": "topk"}, "answers no question"),
        (lambda file: file | {"protects": "everything"}, "protects"),
        (lambda file: file | {"ranges": [file["ranges"][0] | {"lowest": [2, 2]}]}, "ranges"),
        (lambda file: file | {"ranges": [file["ranges"][0] | {"sampling": "persons", "persons": 9}]}, "ranges"),
        (lambda file: file | {"ranges": [file["ranges"][0] | {"sampling": "persons"}]}, "persons"),
        (lambda file: file | {"ranges": [file["ranges"][0] | {"sampling": "SECRET"}]}, "sampling"),
        (lambda file: file | {"ranges": [{}]}, "ranges"),
        (lambda file: file | {"ranges": []}, "ranges"),
        (lambda file: file | {"ranges": None}, "ranges"),
        (lambda file: file | {"right": {"chance": 0.95, "gap": 1.0}}, "right"),
        (lambda file: file | {"top": 3}, "top"),
        (lambda file: file | {"schema": "dprank.publication/1"}, "dprank.publication/3"),
        (lambda file: file | {"guarantee": None}, "guarantee"),
    ],
)
def test_a_file_that_says_what_is_not_so(change, said, tmp_path, capsys):
    ballots = dprank.Rankings([[0, 1]] * 9, "ab")
    text = publish(dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=2).release(ballots, dprank.SECURE), "consensus")
    path = tmp_path / "release.json"
    path.write_text(json.dumps(change(json.loads(text))))
    code, out, error = run(capsys, "verify", path)
    assert (code, out) == (2, "")
    assert said in error


def test_ranges_with_sampling_and_the_best(survey, tmp_path, capsys):
    out = tmp_path / "release.json"
    words = ["release", "ranking", survey, *COMPARED, *RANK, "--out", out, "--persons", "40", "--top", "2"]
    code, said, _ = run(capsys, *words)
    assert code == 0
    assert "95% range with sampling" in said
    assert "at most 40 persons" in said
    drowned = "This says nothing of their order: " in said  # in a rare draw the noise is all there is
    assert drowned != ("Among the best 2: " in said)
    assert drowned or ("Among the best 2, with sampling: " in said) != (
        "This says nothing of their order among all people" in said
    )
    noise, both = opened(out.read_text())["ranges"]
    release = read_publication(out.read_text())
    expected = release.intervals(0.95, sampling="persons", persons=40)
    assert both["lowest"] == expected["lowest"].tolist()
    assert both["highest"] == expected["highest"].tolist()
    assert (noise["sampling"], noise["persons"], both["sampling"], both["persons"]) == (None, None, "persons", 40)
    assert all(a <= b for a, b in zip(both["lowest"], noise["lowest"], strict=True))
    text = report(out.read_text())
    assert "## How sure this is" in text
    assert "at most 40 persons" in text
    assert "if others had been asked" not in text
    out.unlink()
    code, said, _ = run(capsys, *words, "--sampling", "answers")
    assert (code, "Bradley-Terry" in said) == (0, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--persons", "0"], "persons"),
        (["--persons", "40", "--sampling", "people"], "sampling"),
        (["--sampling", "answers"], "--persons"),
        (["--top", "0"], "top"),
        (["--top", "4"], "top"),
    ],
)
def test_ranges_that_cannot_be_told_are_refused_before_anything_is_spent(words, said, survey, tmp_path, capsys):
    kept = tmp_path / "b.sqlite"
    assert run(capsys, "budget", kept, "--epsilon", "3")[0] == 0
    code, out, error = run(capsys, "release", "ranking", survey, *COMPARED, *RANK, *words, "--budget", kept)
    assert (code, out) == (2, "")
    assert said in error
    assert len(error.splitlines()) == 1
    assert not dprank.Budget(kept).entries()


LIKELIHOOD = ["--mechanism", "PerturbedMLE", "--public-graph"]


def test_who_compared_what_is_public_only_where_somebody_says_so(survey, tmp_path, capsys):
    words = ["release", "ranking", survey, *COMPARED, *RANK]
    code, out, error = run(capsys, *words, "--mechanism", "PerturbedMLE")
    assert (code, out) == (2, "")
    assert "--public-graph" in error
    assert "NoisyCounts" in error
    published = tmp_path / "release.json"
    assert run(capsys, *words, *LIKELIHOOD, "--out", published)[0] == 0
    found = json.loads(published.read_text())
    assert any("who compared what" in line for line in found["not protected"])
    found["not protected"] = [line for line in found["not protected"] if "who compared what" not in line]
    published.write_text(json.dumps(found))
    code, _, error = run(capsys, "verify", published)
    assert (code, "who compared what" in error) == (2, True)


def test_strengths_without_ranges_are_no_refusal(survey, tmp_path, capsys):
    """80 answers to 2 of 3 pairs are on no graph on which all pairs are met equally often, as 120 would be."""
    kept, words = tmp_path / "b.sqlite", ["release", "ranking", survey, *COMPARED, *RANK, *LIKELIHOOD]
    assert run(capsys, "budget", kept, "--epsilon", "3")[0] == 0
    code, out, error = run(capsys, *words, "--persons", "40", "--budget", kept)
    assert (code, out, "equally many" in error, dprank.Budget(kept).entries()) == (2, "", True, [])
    published = tmp_path / "release.json"
    code, out, error = run(capsys, *words, "--persons", "60", "--budget", kept, "--out", published)
    assert (code, error) == (0, "")
    assert ("no ranges" in out) == (json.loads(published.read_text())["ranges"] == [])
    assert len(dprank.Budget(kept).entries()) == 1
    assert run(capsys, "verify", published)[0] == 0
    for slip in (
        ["--sampling", "people", "--persons", "60"],
        ["--sampling", "answers"],
    ):  # what anybody can see is said
        code, out, error = run(capsys, *words, *slip, "--budget", kept)
        assert (code, out, "sampling" in error, len(dprank.Budget(kept).entries())) == (2, "", True, 1)


def test_a_full_disk_is_met_before_anything_is_spent(survey, tmp_path, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    kept, out = tmp_path / "b.sqlite", tmp_path / "release.json"
    assert run(capsys, "budget", kept, "--epsilon", "3")[0] == 0
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    code, said, error = run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--budget", kept, "--out", out)
    assert (code, said, error) == (2, "", f"dprank: {out}: No space left on device\n")
    assert not dprank.Budget(kept).entries()


@pytest.mark.parametrize(
    "place",
    ["folder", "no folder/release.json", "file/release.json"],
)
def test_a_place_where_nothing_can_be_written_is_refused_before_anything_is_spent(place, survey, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    kept = tmp_path / "b.sqlite"
    assert run(capsys, "budget", kept, "--epsilon", "3")[0] == 0
    words = ["release", "ranking", survey, *COMPARED, *RANK, "--budget", kept, "--out", tmp_path / place]
    code, out, error = run(capsys, *words)
    assert (code, out, len(error.splitlines())) == (2, "", 1)
    assert not dprank.Budget(kept).entries()


def test_nothing_is_written_over(survey, tmp_path, capsys):
    """Neither a release that was paid for, nor the data, nor the budget: by a rehearsal as little as by a release."""
    kept, plan, out = tmp_path / "b.sqlite", tmp_path / "plan.toml", tmp_path / "release.json"
    assert run(capsys, "budget", kept, "--epsilon", "3")[0] == 0
    words = ["release", "ranking", survey, *COMPARED, *RANK]
    assert run(capsys, *words, "--budget", kept, "--out", out)[0] == 0
    before = {path: path.read_bytes() for path in (survey, kept, out)}
    for target in before:
        for more in ([], ["--rehearse"], ["--budget", kept]):
            code, said, error = run(capsys, *words, *more, "--out", target)
            assert (code, said, "is there already" in error) == (2, "", True)
        for command in (["check", survey, *COMPARED], ["count", survey, *COMPARED, "--answers", "2"]):
            code, said, error = run(capsys, *command, "--out", target)
            assert (code, said, "is there already" in error) == (2, "", True)
    assert {path: path.read_bytes() for path in before} == before
    for _ in range(2):  # a plan may be written over a plan
        assert run(capsys, "check", survey, *COMPARED, "--out", plan)[0] == 0
    page = tmp_path / "release.html"
    page.write_bytes(out.read_bytes())
    assert run(capsys, "report", page, "--html")[0] == 2
    assert page.read_bytes() == out.read_bytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"not protected": []}, "not protected does not say"),
        ({"rules": {"tuned on the data": "everything"}}, "tuned on the data"),
        ({"rules": {"bounding": "what a person gives beyond 9 of them is left out"}}, "bounding"),
        ({"rules": {"tuned on the data": []}}, "tuned on the data"),
        ({"rules": {"tuned on the data": ["strip"]}}, "tuned on the data"),
        ({"rules": {"aliases": {"Pey": "Pay"}}}, "aliases"),
        ({"rules": {"aliases": -1}}, "aliases"),
        ({"rules": {"aliases": 1, "tuned on the data": ["aliases"]}}, "chosen after a look"),
        ({"rules": {"cleaning": ["spelling"]}}, "clean"),
        ({"rules": {"more": 1}}, "rules are not those"),
    ],
)
def test_what_a_file_says_of_its_making_is_held_to(change, said, survey, tmp_path, capsys):
    out = tmp_path / "release.json"
    assert run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--out", out)[0] == 0
    found = json.loads(out.read_text())
    assert "beyond 2 of them" in found["rules"]["bounding"]
    rules = found["rules"] | change.pop("rules", {})
    out.write_text(json.dumps(found | {"rules": rules} | change))
    code, _, error = run(capsys, "verify", out)
    assert (code, said in error, str(out) in error) == (2, True, True)


def test_what_came_meanwhile_is_not_written_over_either(survey, tmp_path, capsys, monkeypatch):
    """Two releases at once into one place: the second is shown, as it is spent."""
    out = tmp_path / "release.json"

    def meanwhile(*given, **drawing):
        out.write_text("another release")
        return publish(*given, **drawing)

    monkeypatch.setattr("dprank.cli.drawing.publish", meanwhile)
    code, said, error = run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--out", out)
    assert (code, "is there already" in error, out.read_text()) == (2, True, "another release")
    assert read_publication(said).publishable


def test_a_budget_says_which_data_it_knows(survey, tmp_path, capsys):
    kept, words = tmp_path / "b.sqlite", ["release", "ranking", survey, *COMPARED, *RANK]
    assert run(capsys, "budget", kept, "--epsilon", "1")[0] == 0
    assert run(capsys, *words, "--budget", kept)[2] == ""
    for name in ("Survey.csv", "survey .csv", "another"):
        code, out, error = run(capsys, *words, "--budget", kept, "--dataset", name)
        assert (code, out, len(error.splitlines())) == (2, "", 1)
        assert ("differs in case or blanks alone" in error) == (name != "another")
        assert "survey.csv" in error
        assert "--new-dataset" in error
    assert len(dprank.Budget(kept).entries()) == 1
    assert run(capsys, *words, "--budget", kept, "--dataset", "another", "--new-dataset")[0] == 0
    code, _, error = run(capsys, *words, "--budget", kept, "--dataset", "another", "--new-dataset")
    assert (code, "is there already" in error) == (2, True)
    code, _, error = run(capsys, *words, "--adjacency", "add_remove", "--budget", kept)
    assert (code, "'add_remove'" in error, "'replace'" in error) == (3, True, True)
    for missing in (tmp_path / "none.sqlite", tmp_path):
        code, _, error = run(capsys, *words, "--budget", missing)
        assert (code, len(error.splitlines()), missing.name in error) == (2, 1, True)


def test_what_to_do_next(survey, tmp_path, capsys):
    """A slip has a remedy in its line, for whoever keeps the data."""
    plan = tmp_path / "plan.toml"
    bare = [word for word in COMPARED if word not in ("--map", "left=1,right=0,equal=0.5")]
    code, out, error = run(capsys, "check", survey, *bare, "--out", plan)
    assert (code, len(error.splitlines()), plan.exists()) == (2, 1, False)
    assert "--map names" in error
    assert "'left'" not in error
    assert out.startswith("[not for publication")
    assert "'left' (40)" in out
    assert "--map left=,equal= with 1, 0.5 or 0" in out
    other = [word if word != "left=1,right=0,equal=0.5" else "outcome" for word in COMPARED]
    said = run(capsys, "check", survey, *other, "--out", plan)[1]
    assert "nothing counts" in said
    assert "left out by what they say" in said
    text = survey.read_text().replace("Pay,Hours", "PAY ,Hours")
    survey.write_text(text)
    said = run(capsys, "check", survey, *COMPARED)[1]
    assert "--clean nfkc,strip,spaces,casefold keeps all items apart, by their list alone" in said
    words = ["check", survey, *COMPARED, "--clean", "nfkc,strip,spaces,casefold"]
    assert "keeps all items apart" not in run(capsys, *words)[1]
    survey.write_text(text.replace("PAY ", "Pey"))
    assert "rows that count: 80" in run(capsys, *words, "--alias", "Pey=Pay")[1]
    code, _, error = run(capsys, "release", "consensus", survey, "--plan", plan, "--epsilon", "1")
    assert (code, "'comparisons'" in error, "takes ballots" in error) == (2, True, True)
    code, _, error = run(capsys, "plan", "consensus", "--plan", plan, "--persons", "9", "--epsilon", "1")
    assert (code, "takes ballots" in error) == (2, True)
    plan.write_text(plan.read_text() + "\n[release]\nepsillon = 1\n")
    code, _, error = run(capsys, "release", "ranking", survey, "--plan", plan)
    assert (code, "epsilon is meant" in error) == (2, True)
    code, _, error = run(capsys, "plan", "topk", "--items", "99", "--persons", "50", "--epsilon", "1", "--k", "9",
                         "--per-person", "3", "--share", "0.5")  # fmt: skip
    assert (code, "people would have" in error) == (2, True)


def test_what_is_no_file_is_written_through(survey, tmp_path, capsys):
    (tmp_path / "kept.json").write_text("")
    (tmp_path / "link.json").symlink_to(tmp_path / "kept.json")
    for out in (tmp_path / "link.json", "/dev/null"):
        assert run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--out", out)[0] == 0
    assert (tmp_path / "link.json").is_symlink()
    assert read_publication((tmp_path / "kept.json").read_text()).publishable


def test_a_link_to_where_no_file_can_be_spends_nothing(survey, tmp_path, capsys):
    (tmp_path / "far.json").symlink_to(tmp_path / "no folder" / "release.json")
    (tmp_path / "ring.json").symlink_to(tmp_path / "ring.json")
    budget = tmp_path / "links.sqlite"
    dprank.Budget(budget, epsilon=9.0)
    for name in ("far.json", "ring.json"):
        code, out, error = run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--budget", budget,
                               "--out", tmp_path / name)  # fmt: skip
        assert (code, out, "is a link to where no file can be" in error) == (2, "", True)
    assert not dprank.Budget(budget).entries()


def test_a_word_of_a_plan_is_no_longer_than_a_line(survey, tmp_path, capsys):
    plan = tmp_path / "plan.toml"
    plan.write_text(f'kind = "{"x" * 100_000}"\n')
    for asked in (("release", "ranking", survey), ("plan", "ranking")):
        code, _, error = run(capsys, *asked, "--plan", plan)
        assert (code, len(error) < 1000) == (2, True)


@pytest.mark.parametrize(
    "value", ["1.5", "true", "nan", "1e400", "-3", "[]", "[1, 2]", "[[]]", "{}", "2026-01-01", '""']
)
def test_whatever_a_plan_says_of_itself_is_taken_or_refused(value, survey, tmp_path, capsys):
    # catches a number where names are expected, which has no length
    plan = tmp_path / "plan.toml"
    said = {"kind": '"comparisons"', "items": '["oak", "elm"]', "person": '"who"', "answers": '"names"'}
    said["columns"] = '["l", "r", "a"]'
    planned = ("plan", "ranking", "--persons", "100", "--answers", "2", "--epsilon", "1")
    for key in (*said, "clean", "aliases", "best", "lowest", "times", "layout", "before_looking", "epsilon"):
        plan.write_text("\n".join(f"{name} = {it}" for name, it in (said | {key: value}).items()))
        for asked in (("release", "ranking", survey, "--epsilon", "1"), planned, ("check", survey)):
            code, _, error = run(capsys, *asked, "--plan", plan)
            assert (code == 0 and not error) or (code == 2 and len(error.splitlines()) == 1), (key, asked)


def test_what_is_spent_is_shown_where_it_can_be_written_no_more(survey, tmp_path, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "release.json")

    monkeypatch.setattr("os.replace", full)
    out = tmp_path / "release.json"
    code, said, error = run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--out", out)
    assert (code, "No space left" in error, out.exists()) == (2, True, False)
    assert sorted(read_publication(said).ranking) == sorted(ITEMS.split(","))
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


BALLOTS = ["--items", "roads,schools,parks,debt", "--person", "person", "--epsilon", "1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ranking", "survey", *COMPARED, *RANK, *LIKELIHOOD, "--score", "net"], "score = 'net'"),
        (["ranking", "survey", *COMPARED, *RANK, *LIKELIHOOD, "--adjacency", "add_remove"], "adjacency = 'add_remove'"),
        (["ranking", "survey", *COMPARED, *RANK, *LIKELIHOOD, "--design", "once"], "design = 'once'"),
        (["ranking", "survey", *COMPARED, *RANK, "--public-graph"], "public-graph = True"),
        (["ranking", "survey", *COMPARED, "--protect", "answer", "--epsilon", "1", "--answers", "2"], "answers"),
        (["consensus", "ballots", *BALLOTS, "--rule", "borda"], "rule = 'borda'"),
        (["agreement", "ballots", *BALLOTS, "--voters", "250", "--mechanism", "LaplaceUnif", "--statistic", "ranks"],
         "statistic = 'ranks'"),
        (["topk", "survey", "--item", "left", "--person", "who", "--items", ITEMS, "--k", "1", "--per-person", "1",
          "--epsilon", "1", "--mechanism", "Peeling", "--values"], "values = True"),
    ],
)  # fmt: skip
def test_a_flag_is_used_or_refused(words, said, survey, capsys):
    files = {"survey": survey, "ballots": dprank.example("ballots.csv")}
    code, out, error = run(capsys, "release", words[0], files[words[1]], *words[2:])
    assert (code, out) == (2, "")
    assert said in error
    assert "no such choice" in error or "answers" in said


def test_rounds_keep_the_bound_on_a_person_too(tmp_path, capsys, monkeypatch):
    """Of whoever has all items just so many count, in rounds as in one pass."""
    path = tmp_path / "have.csv"
    path.write_text("who,what\n" + "\n".join(f"{v},{it}" for v in range(50) for it in "abcdef"))
    seen = []
    draw = dprank.Peeling.release

    def kept(self, values, rng):
        seen.append(list(values))
        return draw(self, values, rng)

    monkeypatch.setattr(dprank.Peeling, "release", kept)
    words = ["--item", "what", "--person", "who", "--items", "a,b,c,d,e,f"]
    release = ["--k", "2", "--epsilon", "1", "--mechanism", "Peeling", "--per-person", "2"]
    assert run(capsys, "release", "topk", path, *words, *release)[0] == 0
    counts = tmp_path / "counts.json"
    count = ["count", path, *words, "--per-person", "2", "--out", counts]
    assert run(capsys, *count)[0] == 0
    assert run(capsys, "release", "topk", "--counts", counts, *release)[0] == 0
    assert sum(seen[0]) == 100
    assert seen[0] == seen[1]
    code, _, error = run(capsys, "release", "topk", "--counts", counts, *release[:-1], "3")
    assert (code, "per_person" in error) == (2, True)


@pytest.mark.parametrize("left_out", [0, 1])
def test_margins_do_not_tell_whether_the_number_of_ballots_is_odd(left_out, tmp_path, capsys):
    """With one ballot that does not count, or one that does, margins of full ballots would be even, or odd."""
    path, out, parities = tmp_path / "b.csv", tmp_path / "release.json", set()
    rows = [f"p{v},1,2" for v in range(20)] + ["q,1,1" if left_out else "q,2,1"]
    path.write_text("person,a,b\n" + "\n".join(rows))
    for _ in range(30):
        out.unlink(missing_ok=True)
        words = ["--items", "a,b", "--person", "person", "--epsilon", "0.5", "--mechanism", "NoisyMatrix", "--out", out]
        assert run(capsys, "release", "consensus", path, *words)[0] == 0
        margins = json.loads(out.read_text())["margins"]
        parities.add(margins[0]["margin"] % 2)
        if len(parities) > 1:
            return
    raise AssertionError("all of one parity")


def test_an_answer_alone_bounds_no_person(survey, capsys):
    words = ["release", "ranking", survey, *COMPARED, "--protect", "answer", "--epsilon", "1", "--persons", "40"]
    code, out, error = run(capsys, *words)
    assert (code, out, "unit = 'comparison'" in error) == (2, "", True)
    assert run(capsys, *words, "--sampling", "answers")[0] == 0


def test_how_likely_the_chosen_are_right(tmp_path, capsys):
    out = tmp_path / "release.json"
    words = ["--items", "asthma,flu,gout,kuru,measles,migraine", "--person", "patient", "--item", "diagnosis"]
    words += ["--k", "2", "--per-person", "2", "--epsilon", "1", "--out", out]
    code, said, _ = run(capsys, "release", "topk", dprank.example("diagnoses.csv"), *words)
    release = read_publication(out.read_text())
    gap = release.mechanism.gap_needed(0.95)
    assert code == 0
    counted = "these are the right 2 of what was counted (at most 2 items of each person)"
    assert f"95% probability {counted}, if the last of the right ones leads the next by {gap:g} people or more" in said
    assert json.loads(out.read_text())["right"] == {"chance": 0.95, "gap": gap}
    assert f"by {gap:g} people or more" in report(out.read_text())


def test_publications_of_other_kinds():
    ballots, rng = dprank.Rankings([[0, 1, 2]] * 60, "abc"), __import__("numpy").random.default_rng(1)
    matrix = dprank.NoisyMatrix.calibrated(epsilon=1.0, n_items=3).release(ballots, rng)
    local = dprank.LocalBorda.calibrated(epsilon=1.0, n_items=3).release(ballots, rng)
    values = dprank.Oneshot.calibrated(epsilon=1.0, n_items=4, k=3, values=True).release([9, 5, 3, 0], rng)
    walk = dprank.ExponentialMechanism.calibrated(epsilon=1.0, n_items=3).release(ballots, rng)
    for release, drawing, found in (
        (matrix, {}, 1), (matrix, {"sampling": "persons", "persons": 60}, 2), (local, {}, 0),
        (local, {"persons": 60}, 1), (local, {"sampling": "persons", "persons": 60}, 2), (walk, {}, 0),
    ):  # fmt: skip
        text = publish(release, "consensus", **drawing)
        assert len(json.loads(text)["ranges"]) == found
        assert read_publication(text) == release
        assert report(text)
    text = publish(values, "topk")
    assert len(json.loads(text)["ranges"]) == 1
    assert "places among the items here" in report(text)
    with pytest.raises(ValueError, match="persons"):
        publish(values, "topk", persons=3, sampling="persons")
    with pytest.raises(ValueError, match="top"):
        publish(values, "topk", top=1)


def test_what_an_attacker_gains():
    assert gain(0.0) == 0.5
    assert gain(float("inf")) == 1.0
    assert gain(1.0, before=0.01) == pytest.approx(0.0267, abs=1e-4)


def test_a_budget_is_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(dprank.example("ballots.csv"), "ballots.csv")
    main_words = ["release", "consensus", "ballots.csv", "--items", "roads,schools,parks,debt", "--person", "person"]

    assert run(capsys, "budget", "b.sqlite")[0] == 2
    assert run(capsys, "budget", "b.sqlite", "--epsilon", "1.5")[0] == 0
    code, said, _ = run(capsys, *main_words, "--epsilon", "1", "--budget", "b.sqlite")
    assert code == 0
    assert "nobody keeps count" not in said
    code, said, error = run(capsys, *main_words, "--epsilon", "1", "--budget", "b.sqlite", "--out", "no.json")
    assert (code, said) == (3, "")
    assert "0.5" in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "no.json").exists()
    code, said, _ = run(capsys, "budget", "b.sqlite")
    assert "left for ballots.csv: epsilon = 0.5" in said
    assert '"left": {"ballots.csv": {"epsilon": 0.5' in run(capsys, "budget", "b.sqlite", "--json")[1]
    code, said, _ = run(capsys, *main_words, "--epsilon", "1", "--budget", "b.sqlite", "--rehearse")
    assert code == 0
    assert len(dprank.Budget("b.sqlite").entries()) == 1


def test_a_published_file_has_a_receipt_that_its_budget_alone_fits(survey, tmp_path, capsys):
    kept, copy, out = tmp_path / "b.sqlite", tmp_path / "copy.sqlite", tmp_path / "release.json"
    words = ["release", "ranking", survey, *COMPARED, *RANK, "--budget"]
    code, said, _ = run(capsys, "budget", kept, "--epsilon", "4")
    assert (code, said.splitlines()[0]) == (0, f"made: {kept}, a new budget of which nothing is spent")
    code, said, _ = run(capsys, "budget", kept)
    assert said.splitlines()[0] == f"opened: {kept}, a budget that was there, with no entry"
    assert run(capsys, *words, kept)[0] == 0
    shutil.copy(kept, copy)
    code, said, _ = run(capsys, *words, kept, "--out", out)
    assert (code, "receipt, published with it: entry 2 of 'survey.csv'; epsilon = 2 is left" in said) == (0, True)
    receipt = json.loads(out.read_text())["receipt"]
    left = {"epsilon": 2.0, "delta": 0.0, "unit": "voter", "adjacency": "replace"}
    assert receipt == {"dataset": "survey.csv", "number": 2, "digest": receipt["digest"], "left": left}
    code, said, error = run(capsys, "verify", out, "--budget", kept)
    assert (code, error, "paid by entry 2 of 'survey.csv'" in said) == (0, "", True)
    assert json.loads(run(capsys, "verify", out, "--budget", kept, "--json")[1])["budget"] is True
    assert "with a receipt of entry 2 of 'survey.csv'" in run(capsys, "verify", out)[1]
    # the copy is put back, before and after somebody spends as much in it
    code, said, error = run(capsys, "verify", out, "--budget", copy)
    assert (code, said, "has 1 entries" in error) == (2, "", True)
    assert run(capsys, *words, copy, "--out", tmp_path / "other.json")[0] == 0
    for file, other in ((out, copy), (tmp_path / "other.json", kept)):
        code, said, error = run(capsys, "verify", file, "--budget", other)
        assert (code, said, "another digest" in error, len(error.splitlines())) == (2, "", True, 1)
    assert run(capsys, "verify", tmp_path / "other.json", "--budget", copy)[0] == 0
    page = report(out.read_text())
    assert "Paid from the budget of 'survey.csv' as its entry 2, after which epsilon = 2 is left" in page
    assert json.loads(run(capsys, "budget", kept, "--json")[1])["made"] is False


def test_a_receipt_that_is_none(survey, tmp_path, capsys):
    out, kept = tmp_path / "release.json", tmp_path / "b.sqlite"
    assert run(capsys, "budget", kept, "--epsilon", "4")[0] == 0
    assert run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--out", out)[0] == 0
    file = json.loads(out.read_text())
    assert file["receipt"] is None
    code, _, error = run(capsys, "verify", out, "--budget", kept)
    assert (code, "no receipt" in error) == (2, True)
    out.write_text(json.dumps(file | {"receipt": {"dataset": "survey.csv"}}))
    code, _, error = run(capsys, "verify", out)
    assert (code, "receipt = " in error) == (2, True)
    assert run(capsys, "verify", tmp_path / "release.json", "--budget", tmp_path / "none.sqlite")[0] == 2


#: Rules that were chosen before looking: what is said of it, and what is published.
SAID = {
    "nobody says": ([], "not said"),
    "all": (["--before-looking", "all"], "nothing"),
    "each by name": (["--before-looking", "strip,casefold,aliases"], "nothing"),
    "rules, and no aliases": (["--before-looking", "strip,casefold"], ["aliases"]),
    "one rule": (["--before-looking", "casefold"], ["strip", "aliases"]),
    "none": (["--before-looking", "none"], ["strip", "casefold", "aliases"]),
}
CLEANED = ["--clean", "strip,casefold", "--alias", "Pey=Pay", "--alias", "Hors=Hours"]


@pytest.mark.parametrize("name", SAID)
def test_a_release_says_which_rules_were_chosen_after_a_look(name, survey, tmp_path, capsys):
    # catches "nothing" that nobody declared
    flags, published = SAID[name]
    plan, out = tmp_path / "plan.toml", tmp_path / "release.json"
    code, said, _ = run(capsys, "check", survey, *COMPARED, *CLEANED, *flags, "--out", plan)
    assert (code, "is not said" in said) == (0, published == "not said")
    assert run(capsys, "release", "ranking", survey, "--plan", plan, *RANK, "--out", out)[0] == 0
    file = json.loads(out.read_text())
    assert file["rules"]["tuned on the data"] == published
    assert any("after a look at the data" in line for line in file["not protected"]) == isinstance(published, list)
    assert run(capsys, "verify", out)[0] == 0
    text = report(out.read_text())
    assert ("Chosen after a look at the data" in text) == isinstance(published, list)
    assert ("nothing of this was chosen after a look" in text) == (published == "nothing")
    # a rule that comes later was not chosen before looking, and an alias changes them all
    again = ["check", survey, "--plan", plan, "--clean", "strip,casefold,spaces", "--alias", "Canten=Canteen"]
    assert run(capsys, *again, "--out", plan)[0] == 0
    out.unlink()
    assert run(capsys, "release", "ranking", survey, "--plan", plan, *RANK, "--out", out)[0] == 0
    later = json.loads(out.read_text())["rules"]["tuned on the data"]
    tuned = [] if published == "nothing" else published
    expected = [it for it in ("strip", "casefold", "spaces", "aliases") if it in (*tuned, "spaces", "aliases")]
    assert later == ("not said" if published == "not said" else expected)


@pytest.mark.parametrize("slip", ["spaces", "strip,spel", "all,none", "Strip"])
def test_a_rule_that_is_not_declared_was_not_chosen_before_looking(slip, survey, tmp_path, capsys):
    code, out, error = run(capsys, "check", survey, *COMPARED, *CLEANED, "--before-looking", slip)
    assert (code, out, "before_looking = " in error, "strip, casefold, aliases" in error) == (2, "", True, True)


def test_the_words_of_aliases_are_not_published(survey, tmp_path, capsys):
    """Somebody wrote them: neither they nor a hash that they could be guessed by."""
    files = []
    for aliases in (["Peygap=Pay", "Hors=Hours"], ["SECRET=Pay", "xyz=Canteen"]):
        out = tmp_path / f"{len(files)}.json"
        words = [word for alias in aliases for word in ("--alias", alias)]
        assert run(capsys, "release", "ranking", survey, *COMPARED, *words, *RANK, "--out", out)[0] == 0
        assert run(capsys, "report", out, "--html")[0] == 0
        texts = [out.read_text(), out.with_suffix(".html").read_text(), report(out.read_text())]
        for alias in aliases:
            assert not any(alias.partition("=")[0] in text for text in texts)
        assert all("2 aliases" in text for text in texts[1:])
        files.append(json.loads(texts[0]))
    one, other = files
    assert one["rules"]["aliases"] == 2
    assert one["declaration"] == other["declaration"]
    assert {key: one[key] for key in one if key not in ("answer", "says", "id")} == {
        key: other[key] for key in other if key not in ("answer", "says", "id")
    }


def test_advice_on_rules_hangs_on_no_cell(survey, tmp_path, capsys):
    """The attack: one person's cell decided which rules were advised, hence chosen, hence published."""
    other = tmp_path / "neighbour.csv"
    other.write_text(survey.read_text().replace("Pay,Hours,left,person 7\n", "PAY,Hours,left,person 7\n"))
    advice, shown = [], []
    for path in (survey, other):
        said = run(capsys, "check", path, *COMPARED)[1].splitlines()
        advice.append([line for line in said if "--clean" in line])
        shown.append([line for line in said if line.startswith("cleaning: ")])
    assert advice[0] == advice[1] != []
    assert shown[0] != shown[1], "numbers are shown to the keeper, as such"
    found = json.loads(run(capsys, "check", survey, *COMPARED, "--json")[1])
    assert found["cleaning by the items alone"] == "nfkc,strip,spaces,casefold"


def test_what_version_02_published_is_read(survey, tmp_path, capsys):
    out, old = tmp_path / "release.json", tmp_path / "old.json"
    assert run(capsys, "release", "ranking", survey, *COMPARED, *RANK, "--clean", "strip", "--out", out)[0] == 0
    file = of_version_02(out.read_text())
    rules = file["rules"] | {"aliases": {"Pey": "Pay"}}
    file |= {"rules": rules}
    old.write_text(json.dumps(file))
    assert read_publication(old.read_text()) == read_publication(out.read_text())
    for command in (["verify", old], ["report", old, "--html"]):
        assert run(capsys, *command)[0] == 0
    assert "1 alias." in report(old.read_text())
    assert "is not said" in report(old.read_text())
    for slip in (
        {"receipt": None},
        {"rules": rules | {"aliases": 1}},
        {"rules": rules | {"tuned on the data": "not said"}},
        {"schema": "dprank.publication/3"},
    ):
        old.write_text(json.dumps(file | slip))
        assert run(capsys, "verify", old)[0] == 2


@pytest.mark.parametrize("ordered", [False, True])
def test_a_report_of_chosen_values_shows_them_in_their_order(ordered):
    mechanism = dprank.Oneshot.calibrated(epsilon=50.0, k=3, items=list("zyxab"), values=True, ordered=ordered)
    text = publish(mechanism.release(np.array([400, 300, 200, 1, 2]), dprank.SECURE), "topk")
    drawn = [line.split()[0] for line in report(text).split("```")[1].splitlines()[1:]]
    assert drawn == ["z", "y", "x"]
