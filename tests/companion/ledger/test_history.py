"""No verdict changes silently: each is the last one of the record, and each change has its day and its reason."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from ledgers import ENTRY, WRONG, ledger_at

from companion.ledger import history
from companion.ledger.files import load_ledger
from companion.ledger.history import HISTORY, Change, due, load_history, record, standing, told, unrecorded
from companion.ledger.verdicts import in_words

ROOT = Path(__file__).resolve().parents[3]
ROWS = """\
- {date: 2021-01-01, version: 0.1.0, claim: "mini2020:alg-1", now: refuted}
- {date: 2021-01-02, version: 0.1.0, claim: "mini2020:thm-1", now: refuted}
- {date: 2021-02-01, version: 0.2.0, claim: "mini2020:alg-1", was: refuted, now: holds, why: "x_1 was left out."}
"""
FALSE = ENTRY | WRONG | {"id": "mini2020:thm-1", "verdict": "refuted"}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    ledger_at(tmp_path, ENTRY, FALSE)
    (tmp_path / HISTORY).write_text(ROWS)
    return tmp_path


def now(root: Path, *entries: dict) -> list[str]:
    """What is not recorded where the ledger has these entries."""
    ledger_at(root, *entries)
    return unrecorded(root, load_ledger(root))


def test_the_book_has_recorded_every_verdict() -> None:
    ledger = load_ledger(ROOT)
    changes = load_history(ROOT)
    assert unrecorded(ROOT, ledger) == []
    assert standing(changes) == {name: claim.verdict for name, claim in ledger.items()}
    assert sum(bool(it.was) for it in changes) >= 13
    changed = dict(ledger)
    changed["cai2025:alg-3"] = history.replace(changed["cai2025:alg-3"], verdict="holds")
    [line] = unrecorded(ROOT, changed)
    assert line.startswith("cai2025:alg-3: holds in the ledger, refuted in data/history.yml; ")


def test_a_verdict_that_changed_silently_is_named(book: Path) -> None:
    assert now(book, ENTRY, FALSE) == []
    held = {key: value for key, value in FALSE.items() if key not in ("why", "impact")} | {"verdict": "holds"}
    assert now(book, ENTRY, held) == [
        "mini2020:thm-1: holds in the ledger, refuted in data/history.yml; `companion history --update` adds a row"
    ]
    assert now(book, ENTRY) == [
        "mini2020:thm-1: not there in the ledger, refuted in data/history.yml; `companion history --update` adds a row"
    ]
    pending = {"id": "mini2020:thm-2", "verdict": "pending"}
    assert now(book, ENTRY, FALSE, ENTRY | pending) == []
    [line] = now(book, ENTRY, FALSE, ENTRY | pending | {"verdict": "holds"})
    assert line.startswith("mini2020:thm-2: holds in the ledger, not there in data/history.yml")


def test_where_no_history_is_kept_none_is_missing(book: Path) -> None:
    (book / HISTORY).unlink()
    assert now(book, ENTRY) == load_history(book) == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (
            '{date: 2021-03-01, version: 1, claim: "mini2020:alg-1", was: refuted, now: unchecked, why: x}',
            "was: 'refuted'",
        ),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:alg-1", now: unchecked}', "was: None; allowed: 'holds'"),
        (
            '{date: 2021-01-03, version: 1, claim: "mini2020:new", now: holds}',
            "date: 2021-01-03; allowed: a day, 2021-02",
        ),
        ('{date: soon, version: 1, claim: "mini2020:new", now: holds}', "date: soon"),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:new", now: constants}', "now: 'constants'; allowed: holds,"),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:new"}', "now: None"),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:alg-1", was: holds, now: refuted}', "why: due"),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:alg-1", was: holds, now: holds}', "why: due"),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:alg-1", was: holds}', "why: due"),
        ('{date: 2021-03-01, version: 1, claim: "mini2020:new", now: holds, because: x}', "unknown key 'because'"),
        ('{date: 2021-03-01, claim: "mini2020:new", now: holds}', "version: not there"),
        (
            '{date: 2021-03-01, version: 1, claim: "mini2020:alg-1", formerly: "mini2020:thm-1", was: refuted, why: x}',
            "formerly: 'mini2020:thm-1'; allowed: a new name",
        ),
        ("{date: 2021-03-01, version: [", "not YAML"),
    ],
)
def test_a_row_that_does_not_follow_is_refused(book: Path, row: str, problem: str) -> None:
    (book / HISTORY).write_text(f"{ROWS}- {row}\n")
    with pytest.raises(ValueError, match=re.escape(problem)):
        load_history(book)
    [line] = unrecorded(book, load_ledger(book))
    assert line.startswith(f"{HISTORY}: ")


def test_record_adds_rows_at_the_end(book: Path) -> None:
    today = datetime.date.today().isoformat()
    ledger_at(book, ENTRY, {**FALSE, "verdict": "depends on the reading"}, ENTRY | {"id": "mini2020:thm-2"})
    with pytest.raises(ValueError, match="mini2020:thm-1: its verdict changed; --why"):
        record(book, load_ledger(book), "0.3.0")
    assert (book / HISTORY).read_text() == ROWS
    rows = record(book, load_ledger(book), "0.3.0", 'Read as "meant": x.')
    lines = "".join(f"{row}\n" for row in rows)
    assert (book / HISTORY).read_text() == ROWS + lines
    assert load_history(book)[3:] == rows
    assert rows == [
        Change(date=today, version="0.3.0", claim="mini2020:thm-1", was="refuted", now="depends on the reading",
               why='Read as "meant": x.'),
        Change(date=today, version="0.3.0", claim="mini2020:thm-2", now="holds"),
    ]  # fmt: skip
    assert record(book, load_ledger(book), "0.3.0") == []


def test_a_claim_keeps_its_past_under_another_id(book: Path) -> None:
    ledger_at(book, ENTRY, {**FALSE, "id": "mini2020:thm-9"})
    ledger = load_ledger(book)
    with pytest.raises(ValueError, match="--formerly mini2020:alg-1: allowed"):
        record(book, ledger, "0.3.0", formerly="mini2020:alg-1")
    [row] = record(book, ledger, "0.3.0", formerly="mini2020:thm-1")
    assert (row.claim, row.formerly, row.was, row.now) == ("mini2020:thm-9", "mini2020:thm-1", "refuted", "refuted")
    assert list(due(ledger, load_history(book))) == []
    past = history.erroneous(load_history(book))
    assert [it.claim for it in past["mini2020:thm-9"]] == ["mini2020:thm-1", "mini2020:thm-9"]


def test_the_page_tells_all_changes_the_newest_version_first(book: Path) -> None:
    page = BeautifulSoup(told(load_history(book), load_ledger(book)), "html.parser")
    assert [head.get_text() for head in page("h2")] == ["Version 0.2.0", "Version 0.1.0"]
    newest, oldest = page.select(".changes-in")
    [change] = newest.select(".change")
    assert change.a["href"] == "../notebooks/01-first.html#mini2020-alg-1"
    assert [badge.get_text() for badge in change.select(".claim-badge")] == [
        in_words("✗ {word}`refuted`"),
        in_words("✓ {word}`holds`"),
    ]
    assert str(change.find_all("p")[-1]) == "<p>x<sub>1</sub> was left out.</p>"
    assert not oldest.select(".change")


def test_the_filter_of_the_page_knows_every_paper() -> None:
    page = BeautifulSoup(told(load_history(ROOT), load_ledger(ROOT)), "html.parser")
    papers = {it["data-paper"] for it in page.select("[data-paper]")}
    assert {it["value"] for it in page.select("input[type=radio]")} == papers | {""}
    assert all(f':not([data-paper="{paper}"])' in page.style.get_text() for paper in papers)
    first = sum(len(it("li")) for it in page.select("details"))
    assert first == len(load_ledger(ROOT)), "every claim was judged for the first time, once"
