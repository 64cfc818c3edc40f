"""Every file of the corpus, and each that once failed: a result or a refusal in one line, soon, in little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fuzz
import pytest

#: Folders, each with what its reader takes, what it refuses, and what it once failed at.
READERS = {"ballots", "budget", "counts", "csv", "items", "json", "parquet", "plan", "preflib", "release", "reports"}


@pytest.mark.slow
def test_no_file_of_the_corpus_breaks_its_reader():
    """In a process of its own, whose memory is that of the readers."""
    done = subprocess.run(
        [sys.executable, fuzz.__file__, "--replay"], capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [str(len(fuzz.seeds())), "files,", "0", "broken"]


def test_every_reader_has_files_of_its_own():
    assert {path.parent.name for path in fuzz.seeds()} == READERS == set(fuzz.readers())
    assert len(fuzz.seeds()) >= 90
    assert max(path.stat().st_size for path in fuzz.seeds()) <= fuzz.LONGEST, "the fuzzer would cut it"


def test_the_corpus_is_read_as_data_and_not_refused_at_the_door(tmp_path):
    """A reader that refused all of them would break at nothing."""
    import dprank
    from dprank.data.count_files import read_counts
    from dprank.publication import read_publication

    corpus = fuzz.CORPUS
    of_today = ("three_borda", "three_matrix", "three_net", "three_topk", "three_winner", "three_agreement")
    for name in ("consensus", "matrix", "winner", "topk", "agreement", "ranking", "strengths", *of_today):
        read_publication((corpus / f"release/{name}.json").read_text(encoding="utf-8"))
    for name in ("comparisons", "ballots", "pairs", "tallies"):
        dprank.Declaration.from_toml(corpus / f"plan/{name}.toml")
    assert read_counts(corpus / "counts/tallies.json").kept == 4
    declared = dprank.Declaration(kind="tallies", items=["oak", "elm"], person="who", columns=["item"])
    assert [declared.read(corpus / f"{it}").kept for it in ("csv/quotes.csv", "parquet/bytes.parquet")] == [2, 2]


def raises(error):
    def reader(path):
        raise error

    return reader


def spins(path):
    while True:
        pass


@pytest.mark.parametrize(
    ("reader", "told"),
    [
        (raises(KeyError("cell")), KeyError),
        (raises(ValueError("two\nlines")), ValueError),
        (raises(ValueError("")), ValueError),
        (raises(UnicodeDecodeError("utf-8", b"cell", 0, 1, "bad")), UnicodeDecodeError),
        (raises(MemoryError()), MemoryError),
        (raises(RecursionError("deep")), RecursionError),
        (spins, fuzz.Broken),
    ],
)
def test_a_reader_that_breaks_is_found(reader, told, tmp_path):
    with pytest.raises(told):
        fuzz.limited(reader, Path(tmp_path), seconds=0.05)


def test_a_reader_that_takes_much_memory_is_found(tmp_path):
    with pytest.raises(fuzz.Broken, match="50,331,648 bytes"):
        fuzz.limited(lambda path: b"x" * (96 << 20), Path(tmp_path), most=48 << 20)


def test_what_is_slow_once_and_what_another_input_left_are_not_held_against_an_input(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    calls = []

    def reader(path):
        assert path.read_bytes() == b"data"
        assert [it.name for it in path.parent.iterdir()] == ["input"]
        path.with_name("journal").write_text("left")
        calls.append(path)
        while len(calls) == 1:
            pass

    assert fuzz.judged(reader, tmp_path / "input", b"data") is None
    assert len(calls) == 3
    assert isinstance(fuzz.judged(raises(KeyError("cell")), tmp_path / "input", b""), KeyError)


@pytest.mark.parametrize("reader", [str, raises(ValueError("one line")), raises(FileNotFoundError(2, "no file"))])
def test_a_result_and_a_refusal_are_none(reader, tmp_path):
    fuzz.limited(reader, Path(tmp_path))


def test_software_of_another_shape_is_refused():
    """Once a traceback: the report looks up versions."""
    from dprank.publication import read_publication

    text = (fuzz.CORPUS / "release/software.json").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="software"):
        read_publication(text)
