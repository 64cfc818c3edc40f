"""Structured input of every kind, a little of it; and that each kind of fault is found when it is planted."""

from __future__ import annotations

import sys
from random import Random

import fuzz
import odd_commands
import odd_tables
import one_command
import pytest
import structured

import dprank.cli
import dprank.cli.records
from dprank.data.comparisons import Comparisons

#: Of this seed every kind of input is among the first, and nobody audits, which takes longest.
SEED, INPUTS = 2, 100


def test_no_structured_input_breaks_a_command(capsys):
    """Exit code 0 says, too, that enough were taken: what refuses everything is tested by none."""
    assert structured.structured(INPUTS, SEED) == 0, capsys.readouterr().out
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[:-1]] == [*odd_commands.KINDS, "slowest"]
    assert all(" 0 taken" not in line and line.endswith(" 0 broken") for line in lines[:-2])
    assert lines[-1].startswith(f"{INPUTS} structured inputs of seed {SEED}, ")


def test_a_seed_and_a_number_are_one_input(tmp_path):
    """What breaks can be had again."""
    files = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        rng = Random("3/8")
        files.append(odd_tables.written(rng, odd_tables.table(rng), tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_few_taken_are_a_fault(monkeypatch):
    monkeypatch.setattr(structured, "once", lambda *_: ("table", "dprank: no"))
    assert structured.structured(100, 1) == 1
    assert structured.structured(99, 1) == 0, "of so few it is chance"


def call(tmp_path, *words, **options):
    """A command in a folder of its own."""
    (tmp_path / "tmp").mkdir(exist_ok=True)
    return one_command.run([str(word) for word in words], tmp_path, **options)


def refuses(said, code=2, out=""):
    """A command that prints something and refuses."""

    def main(words):
        print(out, end="")
        print(said, end="", file=sys.stderr)
        sys.exit(code)

    return main


def raises(error):
    def main(words):
        raise error

    return main


LABEL = f"{odd_tables.PERSONS[0]}7"


@pytest.mark.parametrize(
    ("main", "told"),
    [
        (raises(KeyError("cell")), KeyError),
        (refuses("dprank: one\ndprank: two\n"), "refused in 2 lines"),
        (refuses(""), "refused in 0 lines"),
        (refuses("dprank: \n"), "refused in 1 lines"),
        (refuses("no house says so\n"), "refused in 1 lines"),
        (refuses("dprank: epsilon = 40 is above 10: much\n"), "refused in 0 lines"),
        (refuses("dprank: no\n", 1), "ended with 1"),
        (refuses("", "text"), "ended with text"),
        (refuses(f"dprank: {LABEL} is no number\n"), "tells of a person"),
        (refuses(f"dprank: {LABEL.upper()}\n"), "tells of a person"),
        (refuses(f"dprank: cell {odd_tables.CELL} 4\n"), "tells of a person"),
        (refuses("", 0, LABEL), "tells of a person"),
        (refuses("dprank: no\n", 2, "half an answer"), "wrote all the same"),
        (refuses("dprank: well\n", 0), "done, and complained"),
    ],
)
def test_a_command_that_breaks_is_found(main, told, tmp_path, monkeypatch):
    monkeypatch.setattr(dprank.cli, "main", main)
    with pytest.raises(told if isinstance(told, type) else fuzz.Broken, match=None if isinstance(told, type) else told):
        call(tmp_path, "verify", "x.json")


def test_a_refusal_is_none_and_a_keeper_may_see_a_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(dprank.cli, "main", refuses("dprank: epsilon = 40.0 is above 10: much\ndprank: no\n"))
    with pytest.raises(one_command.Refused, match=r"^dprank: no$"):
        call(tmp_path, "verify", "x.json")
    monkeypatch.setattr(dprank.cli, "main", refuses("", 0, odd_tables.CELL))
    assert call(tmp_path, "check", "x.csv", secret=True) == odd_tables.CELL
    with pytest.raises(fuzz.Broken, match="who is there"):
        one_command.unnamed(f"people: {LABEL}")


def test_half_a_file_and_a_folder_that_stays_are_found(tmp_path, monkeypatch):
    def main(words):
        (tmp_path / name).write_text("")
        sys.exit(0)

    monkeypatch.setattr(dprank.cli, "main", main)
    for name in (".out.json.7", "b.sqlite-journal", "tmp/dprank-1"):
        with pytest.raises(fuzz.Broken, match="left behind"):
            call(tmp_path, "verify", "x.json")
        (tmp_path / name).unlink()


def test_a_refusal_that_spends_or_writes_is_found(tmp_path, monkeypatch):
    """And a release that spends nothing."""
    kept, out = tmp_path / "b.sqlite", tmp_path / "out.json"
    kept.write_bytes(odd_commands.samples()["budget"])
    words = ["release", "winner", "t.csv", "--budget", kept, "--out", out]

    def spends(words):
        dprank.Budget(kept).spend(dprank.Guarantee(0.1), dataset="t.csv")
        refuses("dprank: no\n")(words)

    monkeypatch.setattr(dprank.cli, "main", spends)
    with pytest.raises(fuzz.Broken, match="spent, and refused"):
        call(tmp_path, *words)

    def writes(words):
        out.write_text("{")
        refuses("dprank: no\n")(words)

    monkeypatch.setattr(dprank.cli, "main", writes)
    with pytest.raises(fuzz.Broken, match="wrote all the same"):
        call(tmp_path, *words)
    out.unlink()
    monkeypatch.setattr(dprank.cli, "main", refuses("", 0))
    with pytest.raises(fuzz.Broken, match="released, and spent 0"):
        call(tmp_path, *words)


def test_words_of_others_are_found(tmp_path, monkeypatch):
    """A door that hands on what Python or numpy says of a cell: one line, and not the house's."""

    def verify(file):
        float("x")

    def house(file):
        raise ValueError("x")

    monkeypatch.setattr(dprank.cli.records, "published_text", verify)
    with pytest.raises(fuzz.Broken, match="words of others"):
        call(tmp_path, "verify", tmp_path / "x.json")
    monkeypatch.setattr(dprank.cli.records, "published_text", house)
    monkeypatch.setattr(one_command, "SRC", fuzz.ROOT)
    with pytest.raises(one_command.Refused):
        call(tmp_path, "verify", tmp_path / "x.json")


def test_a_door_that_breaks_is_counted_with_the_seed_that_shows_it_again(capsys, monkeypatch):
    def broken(cls, frame, **keys):
        raise ValueError(f"who is {LABEL}")

    monkeypatch.setattr(Comparisons, "from_frame", classmethod(broken))
    monkeypatch.setattr(structured, "KINDS", {"frame": odd_commands.KINDS["frame"]})
    assert structured.structured(20, 1) > 0
    said = capsys.readouterr().out
    number = said.partition("--first ")[2].partition(":")[0]
    assert f"BROKEN --structured 1 --seed 1 --first {number}: frame: Broken: tells of a person" in said
    assert structured.structured(1, 1, int(number)) == 1


def test_half_a_letter_in_a_frame_is_none_of_the_items():
    """Once pandas' words, with the letter."""
    import pandas as pd

    columns = {name: pd.Series([cell, "b"], dtype=object) for name, cell in (("first", "\udcff"), ("second", "b"))}
    frame = pd.DataFrame(columns | {"outcome": [1, 1]})
    with pytest.raises(ValueError, match=r"first\[0\] is none of the 2 items"):
        Comparisons.from_frame(frame, items=["a", "b"], voter=None)
    frame["first"] = pd.Series(["nan", "\udcff"], dtype=object)
    found = Comparisons.from_frame(frame.iloc[:1], items=["nan", "b"], voter=None)
    assert found.first.tolist() == [0]
    gone = pd.DataFrame({"first": pd.Series([None, "\udcff"], dtype=object), "second": "b", "outcome": [1, 1]})
    with pytest.raises(
        ValueError, match=r"first\[0\] is none of the 3 items"
    ):  # what is missing is no item of that name
        Comparisons.from_frame(gone, items=["None", "nan", "b"], voter=None)


@pytest.mark.parametrize(
    ("question", "more"),
    [
        ("ranking", "--protect person --answers 1"),
        ("ranking", "--protect person --answers 1 --score wins"),
        ("ranking", "--protect person --answers 1 --noise conditioned"),
        ("ranking", "--protect person --answers 1 --noise cube"),
        ("ranking", "--protect person --answers 1 --mechanism PerturbedMLE --public-graph"),
        ("topk", "--k 1 --per-person 1"),
        ("topk", "--k 1 --per-person 1 --values"),
        ("topk", "--k 1 --per-person 1 --noise exponential --adjacency replace"),
    ],
)
@pytest.mark.parametrize("epsilon", ["1e-300", "1e-16", "1.2e-15"])
def test_noise_that_cannot_be_drawn_is_refused_before_it_is_paid_for(question, more, epsilon, tmp_path):
    """Once the budget had an entry, and nobody a release."""
    kept, table = tmp_path / "b.sqlite", tmp_path / "t.csv"
    dprank.Budget(kept, epsilon=1.0)
    table.write_text("who,l,r,x\np,a,b,1\n")
    columns = "--comparisons l,r,x --map outcome" if question == "ranking" else "--item l"
    words = [question, table, *columns.split(), "--items", "a,b,c", "--person", "who", *more.split()]
    with pytest.raises(one_command.Refused, match=r"noise of scale .* would be needed|radii would be"):
        call(tmp_path, "release", *words, "--epsilon", epsilon, "--budget", kept)
    assert one_command.entries(kept) == 0
