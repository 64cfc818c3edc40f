"""Scoreboard and errata say what ledger and records say, and nothing else."""

from __future__ import annotations

import json

import pytest
from bs4 import BeautifulSoup

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


def test_claims_link_to_their_cards(board):
    """Whoever has a card is linked to it; text is escaped, and a claim without a check says why."""
    rows = BeautifulSoup(board.claims(), "html.parser").tbody.find_all("tr")
    shown = [[cell.get_text(" ") for cell in row.find_all("td")] for row in rows]
    assert [row.a and row.a["href"] for row in rows] == ["01-x.html#cai2025-a", "01-x.html#cai2025-b", None, None]
    assert shown[0] == ["cai2025:a A", "first <one>", "refuted"]
    assert [statement for _, statement, _ in shown[1:]] == ["second", "third", "no picture"]


def test_errata_show_the_failing_check_and_the_correction(board):
    [erratum] = BeautifulSoup(board.errata(), "html.parser").find_all("section")
    assert [item.get_text() for item in erratum.find_all("li")] == ["loss is 2; as printed it would be ≤ 1"]
    assert erratum.find(class_="claim-corrected").get_text() == "Instead: the right one"


def test_errata_quote_some_checks_and_count_the_others(board):
    checks = tuple(Check(f"loss {i}", 2, "<=", 1) for i in range(5))
    board.records["cai2025:a"] = Record("cai2025:a", checks)
    items = BeautifulSoup(board.errata(), "html.parser").find_all("li")
    assert len(items) == 4
    assert items[-1].get_text() == "and 2 more checks, on the card"


def test_every_file_of_the_ledger_has_a_heading():
    files = {path.stem for path in (find_root() / "data" / "claims").glob("*.yml")}
    assert files == set(PAPERS), "PAPERS of companion.ledger.scoreboard names them"
