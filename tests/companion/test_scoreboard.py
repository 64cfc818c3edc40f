"""Scoreboard and errata say what ledger and records say, and nothing else."""

from __future__ import annotations

import json

import pytest

from companion.ledger.claim import Check, Record
from companion.ledger.files import find_root
from companion.ledger.scoreboard import PAPERS, Scoreboard

LEDGER = """\
- {id: 'cai2025:a', where: A, kind: theorem, statement: 'first <one>', chapter: 01-x, verdict: refuted, method: exact,
   corrected: the right one}
- {id: 'cai2025:b', where: B, kind: lemma, statement: second, chapter: 01-x, verdict: holds, method: exact}
- {id: 'cai2025:c', where: C, kind: lemma, statement: third, chapter: 02-y, verdict: pending}
- {id: 'cai2025:d', where: D, kind: lemma, statement: fourth, chapter: 02-y, verdict: unchecked, reason: no picture}
"""


@pytest.fixture
def board(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "claims"
    folder.mkdir(parents=True)
    (folder / "cai2025.yml").write_text(LEDGER)
    checks = {
        "cai2025:a": [Check("loss", 2, "<=", 1), Check("loss", 1, "<=", 1, "corrected")],
        "cai2025:b": [Check("x", 1, "==", 1)],
    }
    records = [{"chapter": "01-x", **Record(key, tuple(value)).to_json()} for key, value in checks.items()]
    (tmp_path / "records.json").write_text(json.dumps({"profile": "smoke", "records": records}))
    monkeypatch.setenv("COMPANION_ROOT", str(tmp_path))
    return Scoreboard("records.json")


def test_counts(board):
    assert board.counts().loc["all"].to_dict() == {"pending": 1, "holds": 1, "refuted": 1, "unchecked": 1, "claims": 4}


def test_verdicts_come_from_the_records_not_from_the_ledger(board):
    board.records["cai2025:a"] = Record("cai2025:a", (Check("loss", 1, "<=", 1),))
    assert board.frame().set_index("id").verdict["cai2025:a"] == "holds"
    assert "cai2025:a" not in board.errata()


def test_settled_links_to_the_cards(board):
    html = board.settled()
    assert 'href="01-x.html#cai2025-a"' in html
    assert "first &lt;one&gt;" in html
    assert "no picture" in html
    assert "third" not in html


def test_pending(board):
    assert "1 pending" in board.pending()
    assert "third" in board.pending()
    assert "second" not in board.pending()


def test_errata_show_the_failing_check_and_the_correction(board):
    html = board.errata()
    assert "loss is 2, and should be ≤ 1" in html
    assert "the right one" in html
    assert "second" not in html


def test_every_file_of_the_ledger_has_a_heading():
    assert {path.stem for path in (find_root() / "data" / "claims").glob("*.yml")} == set(PAPERS)
