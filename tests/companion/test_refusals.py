"""What the press refuses before anything is executed: a line that names the field, and what is allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_book import build, refused, replace

from companion.press import BuildError, UsageError
from companion.press.layout import Layout
from companion.press.pipeline import Build


@pytest.mark.slow
def test_unknown_profile(sources: Path) -> None:
    code, line = refused(sources, "book", "--profile", "nope")
    assert (code, line) == (2, "companion: profile: 'nope'; allowed: smoke, standard, paper")


def test_unknown_chapter(sources: Path) -> None:
    with pytest.raises(UsageError, match=r"chapter: '07'; allowed: 01-first, 02-second$"):
        Build(sources, chapter="07")


def test_no_workers(sources: Path) -> None:
    with pytest.raises(UsageError, match="jobs: 0; allowed: 1 or more"):
        Build(sources, workers=0)


def test_no_seed(sources: Path) -> None:
    code, line = refused(sources, "book", "--seed", "-1")
    assert (code, line) == (2, "companion: seed: -1; allowed: 0 or more")


@pytest.mark.slow
def test_parameter_that_no_notebook_has(sources: Path) -> None:
    replace(sources / "notebooks/profiles.yml", "repetitions", "repetition")
    code, line = refused(sources, "book")
    assert code == 2
    assert line.endswith("01-first: standard: parameter: 'repetition'; allowed: repetitions")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("01-first", "01-frist", "chapters: '01-frist'; allowed: 01-first, 02-second, 90-board"),
        ("standard", "smoke", "01-first: 'smoke'; allowed: standard, paper"),
        ("90-board", "91-board", "late: '91-board'; allowed: a list of 01-first, 02-second, 90-board"),
        ("{repetitions: 20}", "[20]", r"01-first: standard: parameter: \[20\]; allowed: a mapping of repetitions"),
        ("{repetitions: 20}", "{repetitions: 2020-01-01}", "allowed: numbers, text, lists"),
        ("{repetitions: 20}", "{repetitions: 1}", "standard: repetitions = 1; allowed: an integer, 2 .. 100$"),
        ("[90-board]", "[02-second]", "02-second: late: parameter: 'records'; allowed: nothing"),
        ("late:", "last:", "top level: 'last'; allowed: chapters, seconds, late"),
        ("late:", "seconds: {01-first: 0}\nlate:", "seconds: 01-first: 0; allowed: a number > 0"),
    ],
)
def test_profiles_are_validated(sources: Path, old: str, new: str, message: str) -> None:
    replace(sources / "notebooks/profiles.yml", old, new)
    with pytest.raises(UsageError, match=message):
        Build(sources)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("profiles.yml", "late:", "{late:", r"^notebooks/profiles\.yml: not YAML: "),
        (
            "01-first.ipynb",
            "repetitions = 10",
            "repetitions =",
            r"^notebooks/01-first\.ipynb: parameters: invalid syntax",
        ),
        ("01-first.ipynb", "2 .. 100; how", "how", r"parameters: repetitions: 'how often the line is drawn'; allo"),
        ("01-first.ipynb", '"id": "cell-1"', '"id": ""', r"^notebooks/01-first\.ipynb: id: none at cell 1; allowed: "),
        ("01-first.ipynb", '"cells"', '"sells"', r"^notebooks/01-first\.ipynb: not a notebook of format 4: 'cells'"),
    ],
)
def test_sources_are_validated(sources: Path, name: str, old: str, new: str, message: str) -> None:
    replace(sources / "notebooks" / name, old, new)
    with pytest.raises(UsageError, match=message) as error:
        Build(sources)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_data_with_a_changed_byte(sources: Path) -> None:
    replace(sources / "data/surveys/votes.csv", "1,2", "1,3")
    code, line = refused(sources, "book")
    assert code == 1
    assert line.startswith("companion: data/surveys/votes.csv: sha256: expected ")


@pytest.mark.slow
def test_ledger_that_is_not_valid(sources: Path) -> None:
    replace(sources / "data/claims/mini2020.yml", "verdict: holds", "verdict: true")
    code, line = refused(sources, "book")
    assert (code, line[:46]) == (1, "companion: data/claims/mini2020.yml: mini2020:")


def test_one_build_at_a_time(sources: Path) -> None:
    with Layout(sources).lock(), pytest.raises(BuildError, match=f"process {os.getpid()} is building here"):
        build(sources)
    with Layout(sources).lock():  # free again, whatever the file says
        pass
