"""Scoreboard and errata say what ledger and records say, and nothing else."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from companion.ledger.claim import Check, Record
from companion.ledger.files import find_root, load_ledger
from companion.ledger.latex import latex
from companion.ledger.papers import PAPERS
from companion.ledger.scoreboard import Scoreboard, entries, ledger_files
from companion.ledger.verdicts import HOLDS, PENDING, READING, REFUTED, UNCHECKED, in_words

LEDGER = """\
- {id: 'cai2025:a', where: A, kind: theorem, statement: 'first <one>', chapter: 01-x, verdict: refuted, method: exact,
   why: one is not two, corrected: the right one, impact: proof gap}
- {id: 'cai2025:e', where: E, kind: lemma, statement: 'it is ε̃ 50% of a_b', chapter: 01-x, method: exact,
   verdict: depends on the reading, why: it says both, corrected: another, impact: privacy broken, uses: ['cai2025:a']}
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
        "cai2025:e": [Check("y", 2, "<=", 1, reading="one"), Check("y", 1, "<=", 1, reading="two")],
    }
    records = [{"chapter": "01-x", **Record(key, tuple(value)).to_json()} for key, value in checks.items()]
    (tmp_path / "records.json").write_text(json.dumps({"profile": "smoke", "records": records}))
    monkeypatch.setenv("COMPANION_ROOT", str(tmp_path))
    return Scoreboard("records.json")


def rows(html):
    return BeautifulSoup(html, "html.parser").tbody.find_all("tr")


def test_counts(board):
    counted = {it.words: 1 for it in (PENDING, HOLDS, REFUTED, READING, UNCHECKED)}
    assert board.counts().loc["all"].to_dict() == counted | {"claims": 5}
    assert board.impacts().loc["all"].to_dict() == {"privacy broken": 1, "proof gap": 1, "all": 2}


def test_verdicts_come_from_the_records_not_from_the_ledger(board, tmp_path):
    records = [{"chapter": "01-x", **Record("cai2025:a", (Check("loss", 1, "<=", 1),)).to_json()}]
    (tmp_path / "records.json").write_text(json.dumps({"profile": "smoke", "records": records}))
    other = Scoreboard("records.json")
    assert other.frame().set_index("id").verdict["cai2025:a"] == "holds"
    assert "erratum-cai2025-a" not in other.errata("cai2025")


def test_what_differs_from_the_ledger_is_said_and_counted_apart(board, tmp_path):
    """An observed verdict that is another, and a correction that fails though the verdict is the ledger's."""
    assert board.differing == {}
    assert "differs" not in board.claims() + board.errata("cai2025")
    checks = {
        "cai2025:a": [Check("loss", 2, "<=", 1), Check("loss, corrected", 3, "<=", 1, "corrected")],
        "cai2025:b": [Check("x", 2, "==", 1)],
    }
    records = [{"chapter": "01-x", **Record(key, tuple(value)).to_json()} for key, value in checks.items()]
    (tmp_path / "records.json").write_text(json.dumps({"profile": "smoke", "records": records}))
    other = Scoreboard("records.json")
    assert list(other.differing) == ["cai2025:a", "cai2025:b"]
    counted = {it.words: 1 for it in (PENDING, READING, UNCHECKED)} | {"differs": 2, "claims": 5}
    assert other.counts().loc["all"].to_dict() == counted
    assert other.impacts().loc["all"].to_dict() == {"privacy broken": 1, "all": 1}
    page = BeautifulSoup(other.claims(), "html.parser")
    assert "differs from the ledger on this machine: 2 claims" in page.find(class_="differs-note").get_text()
    assert [link["href"] for link in page.select(".differs-note a")] == ["01-x.html#cai2025-a", "01-x.html#cai2025-b"]
    assert (
        in_words("expected: {word}`holds`; observed here: {word}`refuted`")
        in page.select(".differs-note li")[1].get_text()
    )
    assert [dot.get_text() for dot in page.select(".board-dot.differs")] == ["≠", "≠"]
    assert [dot["title"] for dot in page.select(".board-dot.differs")] == [
        in_words("A: {word}`refuted`, differs from the ledger"),
        in_words("B: {word}`refuted`, differs from the ledger"),
    ]
    assert [row.find_all("td")[2].get_text("|", strip=True) for row in page.select("tr.differs")] == [
        in_words("✗ {word}`refuted`|differs from the ledger")
    ] * 2
    assert "<section" not in other.errata("cai2025")
    assert "No erratum is stated of these." in other.errata("cai2025")
    assert "differs" not in other.errata("qiao2021")
    files = ledger_files(load_ledger(tmp_path), records, {}, other.differing)
    listed = {row["id"]: row.get("differs", "") for row in json.loads(files["ledger.json"])}
    assert [bool(listed[name]) for name in ("cai2025:a", "cai2025:b", "cai2025:c")] == [True, True, False]


def test_claims_link_to_their_cards(board):
    """Whoever has a card is linked to it; text is escaped, and a claim without a check says why."""
    shown = [[cell.get_text("|", strip=True) for cell in row.find_all("td")] for row in rows(board.claims())]
    assert [row.a and row.a["href"] for row in rows(board.claims())][:3] == [
        "01-x.html#cai2025-a",
        "01-x.html#cai2025-e",
        "01-x.html#cai2025-b",
    ]
    assert [row.a for row in rows(board.claims())][3:] == [None, None]
    assert shown[0] == ["A|Cai et al. (2025)", "first <one>|one is not two", in_words("✗ {word}`refuted`|proof gap")]
    assert [statement for _, statement, _ in shown[2:]] == ["second", "third", "no picture"]


def test_a_sign_for_every_claim_says_which_and_what(board):
    dots = BeautifulSoup(board.claims(), "html.parser").find_all(class_="board-dot")
    assert [(dot.get_text(), dot["title"]) for dot in dots] == [
        ("✗", in_words("A: {word}`refuted`, proof gap")),
        ("?", in_words("E: {word}`depends on the reading`, privacy broken")),
        ("✓", in_words("B: {word}`holds`")),
        ("…", "C: pending"),
        ("…", in_words("D: {word}`unchecked`")),
    ]


def test_every_choice_of_a_filter_finds_something(board):
    page = BeautifulSoup(board.claims(), "html.parser")
    for choice in page.find_all("select")[:-1]:
        said = {row[f"data-{choice['name']}"] for row in rows(board.claims())} - {""}
        assert {option.get_text() for option in choice.find_all("option")} - {"all"} == said


def test_errata_are_sorted_by_what_comes_of_them_and_say_why(board):
    page = BeautifulSoup(board.errata("cai2025"), "html.parser")
    assert [title.get_text() for title in page.find_all("h2")] == ["Privacy broken", "Proof gap"]
    first, second = page.find_all("section")
    assert (first["id"], second["id"]) == ("erratum-cai2025-e", "erratum-cai2025-a")
    assert [line.get_text(" ", strip=True) for line in second.find_all("p")] == [
        in_words("A ✗ {word}`refuted` #"),
        "Printed: first <one>",
        "Why: one is not two",
        "For instance: loss. It is 2; the statement says at most 1.",
        "Instead: the right one",
        in_words("Used by, each with its own verdict: E ({word}`depends on the reading`)."),
        "the argument and all checks · cai2025:a",
    ]
    assert "Under some readings: y (read as: one). It is 2; the statement says at most 1." in first.get_text(
        " ", strip=True
    )
    assert board.errata("qiao2021").count("<section") == 0


def test_an_author_reads_first_what_is_gravest_and_what_holds(board):
    head, *_ = BeautifulSoup(board.errata("cai2025"), "html.parser").select(".errata-summary")
    assert [" ".join(it.get_text(" ", strip=True).split()) for it in head.find_all(["p", "li"])] == [
        f"In a minute. Of 5 statements, 1 {HOLDS.one} as printed, 2 stand below, "
        f"1 {PENDING.one} and 1 {UNCHECKED.one}. No main statement is false.",
        "E (privacy broken): it says both",
        "None of this has been put to the authors yet. How to read a verdict says how to disagree.",
        "Theorems, lemmas and corollaries that hold as printed: B .",
    ]
    assert [it["href"] for it in head.find_all("a")] == ["#erratum-cai2025-e", "01-x.html#cai2025-b"]
    assert "errata-summary" not in board.errata("qiao2021")


def test_what_holds_and_what_stands_below_add_up(board, tmp_path):
    lines = [line for line in LEDGER.splitlines() if "cai2025:c" not in line and "cai2025:d" not in line]
    (tmp_path / "data" / "claims" / "cai2025.yml").write_text("\n".join(lines))
    said = Scoreboard("records.json").errata("cai2025")
    assert f"Of 3 statements, 1 {HOLDS.one} as printed and 2 stand below." in said


@pytest.mark.parametrize(("kind", "said"), [("algorithm", "B ."), ("sentence", "1 sentence.")])
def test_where_no_theorem_holds_an_author_reads_what_does(board, tmp_path, kind, said):
    (tmp_path / "data" / "claims" / "cai2025.yml").write_text(
        LEDGER.replace("where: B, kind: lemma", f"where: B, kind: {kind}")
    )
    head, *_ = BeautifulSoup(Scoreboard("records.json").errata("cai2025"), "html.parser").select(".errata-summary")
    *_, last = head.find_all("p")
    line = " ".join(last.get_text(" ", strip=True).split())
    assert line == f"Theorems, lemmas and corollaries that hold as printed: none. What does hold: {said}"


def test_what_an_author_is_sent(board):
    entry = next(it for it in board.entries if it.claim.id == "cai2025:e")
    assert entry.text.splitlines()[1] == "Printed: it is ε̃ 50% of a_b"
    assert rf"\paragraph{{Cai et al. (2025), E ({READING.words}; privacy broken)}}" in entry.tex
    assert r"it is \ensuremath{\tilde{\varepsilon}} 50\% of \ensuremath{a_{b}}" in " ".join(entry.tex.split())


def test_the_ledger_for_other_programs(board, tmp_path):
    content = json.loads((tmp_path / "records.json").read_text())
    files = ledger_files(load_ledger(tmp_path), content["records"], {})
    listed = json.loads(files["ledger.json"])
    assert [row["verdict"] for row in listed] == list(board.frame().verdict)
    table = pd.read_csv(io.BytesIO(files["ledger.csv"]), keep_default_na=False)
    assert table.to_dict("records") == listed


def test_all_of_the_ledger_can_be_said_in_latex():
    for claim in load_ledger(find_root()).values():
        said = " ".join(
            str(getattr(claim, key) or "") for key in ("where", "statement", "why", "corrected", "left_out")
        )
        assert latex(said).isascii()


def test_every_file_of_the_ledger_has_a_heading():
    files = {path.stem for path in (find_root() / "data" / "claims").glob("*.yml")}
    assert files == set(PAPERS), "PAPERS of companion.ledger.papers names them"


def test_an_instance_in_words_has_the_numbers_of_the_build(board, tmp_path):
    path = tmp_path / "data" / "claims" / "cai2025.yml"
    told = "impact: proof gap, instance: 'It is {seen}, not {said}.'"
    path.write_text(LEDGER.replace("impact: proof gap", told))
    said = {entry.claim.id: entry.counterexample for entry in Scoreboard("records.json").entries}
    assert said["cai2025:a"] == "It is 2, not 1."
    assert said["cai2025:e"] == "y (read as: one). It is 2; the statement says at most 1."
    path.write_text(LEDGER.replace("impact: proof gap", told.replace("{said}", "{said7}")))
    plain = {entry.claim.id: entry.counterexample for entry in Scoreboard("records.json").entries}
    assert plain["cai2025:a"].endswith("It is 2; the statement says at most 1.")  # fewer checks fail than it speaks of


def test_every_instance_of_the_ledger_finds_its_numbers():
    """Places are those of failing checks, in every profile; without them a plain line stands there."""
    root = find_root()
    for profile in ("smoke", "standard", "paper"):
        records = json.loads((root / "data" / "expected" / f"{profile}.json").read_text())["records"]
        told = [it for it in entries(load_ledger(root), records) if it.claim.instance and it.against]
        assert len(told) > 100
        for entry in told:
            assert entry.counterexample.startswith((entry.claim.instance or "").partition("{")[0])
            assert len(entry.against) >= (2 if "2}" in (entry.claim.instance or "") else 1)
