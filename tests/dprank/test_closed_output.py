"""A release that nobody could read is not paid for: standard output may be closed, as in a job of the system's."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

import dprank
from dprank.cli import main
from dprank.cli.options import show_json


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    table = tmp_path / "ballots.csv"
    table.write_text("ash,elm\n1,2\n2,1\n")
    dprank.Budget(tmp_path / "budget.sqlite", epsilon=1.0)
    return ["release", "winner", str(table), "--items", "ash,elm", "--epsilon", "0.5"]


def _run(words: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", said)
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code, said.getvalue()  # type: ignore[return-value]


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_closed_and_no_file_is_refused_before_anything_is_spent(
    flags: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with --json it was spent, lost, and a traceback
    code, said = _run([*words, *flags, "--budget", str(tmp_path / "budget.sqlite")], monkeypatch)
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("dprank: standard output is closed")
    assert dprank.Budget(tmp_path / "budget.sqlite").entries() == []


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_file_is_written_all_the_same(
    flags: list[str], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "release.json"
    code, _ = _run([*words, *flags, "--out", str(out)], monkeypatch)
    assert code == 0
    assert json.loads(out.read_text())["question"] == "winner"


def test_json_goes_beside_it_or_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    # of a release that was paid for and could not be written
    said = io.StringIO()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", said)
    show_json("{}")
    monkeypatch.setattr(sys, "stderr", None)
    show_json("{}")
    assert said.getvalue() == "{}\n"
