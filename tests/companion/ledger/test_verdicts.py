"""A verdict stands once: its words, sign and colour are nowhere else, and what is stored is its key."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
from dataclasses import FrozenInstanceError
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from ledgers import ENTRY, WRONG, check, record

from companion.ledger import claim as claims
from companion.ledger.card import card
from companion.ledger.claim import Record
from companion.ledger.files import Claim, find_root, load_ledger
from companion.ledger.graph import graph, proof_map
from companion.ledger.history import load_history, told
from companion.ledger.judge import differing, judge, summary
from companion.ledger.results import cited, result_pages, results_list
from companion.ledger.results import told as told_page
from companion.ledger.scoreboard import Scoreboard, ledger_files
from companion.ledger.sentences import Reading
from companion.ledger.verdicts import (
    ALL,
    CONDITION,
    HOLDS,
    PENDING,
    READING,
    REFUTED,
    VERDICTS,
    WORD,
    Verdict,
    in_words,
    verdict,
)
from companion.press import BuildError, roads
from companion.press.along import STRIP, _text

ROOT = find_root(Path(__file__))
CODE = sorted(chain((ROOT / "src/companion/ledger").glob("*.py"), (ROOT / "src/companion/press").glob("*.py")))
#: Names of numbers on the front page, which are no verdicts.
NAMES = {("front.py", "unchecked")}
#: Words that mean a verdict wherever they stand.
SAID = {words for it in ALL for words in (it.key, it.words, it.many) if " " in words}


def test_a_verdict_is_its_key_wherever_it_is_stored() -> None:
    assert json.dumps({"verdict": REFUTED}) == '{"verdict": "refuted"}'
    assert f"{CONDITION}" == CONDITION.key == "needs a condition" == str(CONDITION)
    assert repr(HOLDS) == "'holds'"
    assert {HOLDS: 1}["holds"] == 1
    for it in ALL:
        assert verdict(it.key) is verdict(it) is it
        for same in (pickle.loads(pickle.dumps(it)), copy.deepcopy(it)):
            assert (same, type(same), vars(same)) == (it, Verdict, vars(it))
    with pytest.raises(FrozenInstanceError):
        HOLDS.words = "stands"
    with pytest.raises(ValueError, match=r"^verdict: 'vacuous'; allowed: pending, holds, .*, undecided here$"):
        verdict("vacuous")


def test_no_two_verdicts_are_shown_alike() -> None:
    for field in ("key", "words", "many", "one", "colour", "means"):
        assert len({getattr(it, field) for it in ALL}) == len(ALL)
    signs = [it.mark for it in ALL if it.mark != "…"]
    assert len(set(signs)) == len(signs) == 5
    assert {it.key for it in VERDICTS if not it.settled} == {"pending", "unchecked"}


def test_the_style_sheet_has_each_colour() -> None:
    """The others are grey."""
    sheet = (ROOT / "book/_static/book.css").read_text(encoding="utf-8")
    rules = re.findall(r"^\.claim-verdict-(\w+) \{ --verdict: #\w{6}; \}$", sheet, re.MULTILINE)
    assert sorted(rules) == sorted(it.colour for it in ALL if it.mark != "…")
    assert set(re.findall(r"claim-verdict-(\w+)", sheet)) == set(rules)


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.name)
def test_no_other_module_says_a_verdict(path: Path) -> None:
    if path.name == "verdicts.py":
        return
    known = {it.key for it in ALL} | SAID
    texts = {it.value for it in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(it, ast.Constant)}
    assert {(path.name, it) for it in texts & known} <= NAMES


def test_no_template_says_a_verdict_or_colours_by_words() -> None:
    for path in (ROOT / "src/companion/ledger/templates").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "claim-verdict-" not in text
        assert not re.search(r"verdict[\w.]*\.split|\.verdict \}\}|\.(now|was) \}\}", text), path.name
        assert not [it for it in SAID if re.search(rf"\b{it}\b", text)], path.name


def test_prose_names_a_verdict_by_its_key() -> None:
    """Where its words stand out, or are a label of a link or a sign; as code they are the key."""
    words = "|".join({it.key for it in ALL if it != PENDING} | SAID)
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")}
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        pages[path.name] = "\n".join("".join(it["source"]) for it in cells if it["cell_type"] == "markdown")
    for name, text in pages.items():
        assert not re.search(rf"\*(?:{words})\*|\[(?:{words})\]|[✓✗○] (?:{words})", text), name
        assert in_words(text), "a ValueError where there is no such verdict"
    used = {it[2] for text in pages.values() for it in WORD.finditer(text)}
    assert used == {it.key for it in ALL}
    shown = in_words(pages["verdicts.md"])
    assert all(f"* - {it.signed}\n  - {it.means}\n" in shown for it in VERDICTS)


def test_a_page_with_a_verdict_that_there_is_not_stops_the_build() -> None:
    page = roads.nbformat.v4.new_notebook(cells=[roads.nbformat.v4.new_markdown_cell("It is {word}`vacuous`.")])
    with pytest.raises(BuildError, match=r"^01-first: verdict: 'vacuous'; allowed: pending, "):
        roads.assemble({"01-first": page}, {})


# ---------------------------------------------------------------- the judge


def test_nobody_takes_a_stored_word_for_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Claim(**ENTRY)
    stored = {"chapter": "01-first", **record(claim.id, check(False)).to_json(), "verdict": "holds"}
    ledger = {claim.id: claim}
    assert Record.from_json(stored).verdict == REFUTED
    assert judge(ledger, [stored]) == [
        "mini2020:alg-1: recorded as 'holds', but its checks say 'refuted'; allowed: what follows from them; "
        "run 01-first again"
    ]
    assert "observed 'refuted'" in str(differing(ledger, [stored], "standard")[claim.id])
    assert summary(ledger, [stored]) == "1 claim settled: 1 refuted"
    right = {**stored, "verdict": "refuted"}
    assert judge({claim.id: Claim(**ENTRY | WRONG | {"verdict": "refuted"})}, [right])[0].endswith("about='corrected'")
    (tmp_path / "data/claims").mkdir(parents=True)
    (tmp_path / "data/claims/mini2020.yml").write_text(json.dumps([ENTRY]), encoding="utf-8")
    (tmp_path / "records.json").write_text(json.dumps({"profile": "smoke", "records": [stored]}), encoding="utf-8")
    monkeypatch.setenv("COMPANION_ROOT", str(tmp_path))
    board = Scoreboard("records.json")
    assert [it.verdict for it in board.entries] == ["refuted"]
    assert list(board.differing) == [claim.id]
    assert Reading("records.json").verdicts == {claim.id: "refuted"}


def test_the_books_own_records_store_what_follows() -> None:
    for profile in ("smoke", "standard", "paper"):
        for it in json.loads((ROOT / f"data/expected/{profile}.json").read_bytes())["records"]:
            assert it["verdict"] == Record.from_json(it).verdict


# ---------------------------------------------------------------- other words


def _written(root: Path) -> dict[str, str]:
    """What readers see of verdicts, of the real ledger and its records."""
    ledger, records = load_ledger(root), json.loads((root / "data/expected/smoke.json").read_bytes())["records"]
    board, reading = Scoreboard("data/expected/smoke.json", root), Reading("data/expected/smoke.json", root)
    one = next(it for it in ledger.values() if it.verdict == READING)
    tables = {name: getattr(board, name)().to_csv() for name in ("counts", "coverage", "impacts")}
    cards = (card(ledger[it["claim"]], Record.from_json(it), "smoke") for it in records[:80])
    page = roads.nbformat.v4.new_markdown_cell("\n".join(f"{{verdict}}`{name}`" for name in ledger))
    made = {"00-x": roads.nbformat.v4.new_notebook(cells=[page])}
    roads.assemble(made, ledger)
    book = {"author": "we", "version": "1"}
    own = [it for it in board.entries if it.claim.page]
    results = result_pages(root, own[:9], {f"{it.claim.page.picture}.svg": b"" for it in own}, {}, {}, book)
    return tables | {
        "errata": board.errata(one.id.partition(":")[0]),
        "graph": graph(board.entries, one.id.partition(":")[0]),
        "cards": "".join(cards),
        "claims": board.claims(),
        "none": board.without_certificate(),
        "strips": "".join(it.source for it in made["00-x"].cells),
        "along": STRIP.sub(lambda it: _text({}, ledger, {}, root, "")(it[0]), f"{{verdict}}`{one.id}`"),
        "map": proof_map(board.entries, "cai2025:thm-2.1"),
        "list": results_list(board.entries),
        "results": "".join(it.decode() for it in results.values()),
        "sent": "".join(cited(it, book, "") + told_page(it, "") for it in own),
        "sentences": reading.all(),
        "changes": told(load_history(root), ledger),
        "prose": in_words((root / "book/verdicts.md").read_text(encoding="utf-8")),
    }  # fmt: skip


def _stored(root: Path) -> dict[str, bytes]:
    """What programs read, and whoever builds."""
    records = json.loads((root / "data/expected/smoke.json").read_bytes())["records"]
    return ledger_files(load_ledger(root), records, {}) | {
        "records": json.dumps([Record.from_json(it).to_json() for it in records]).encode(),
        "history": "\n".join(map(str, load_history(root))).encode(),
        "said to whoever builds": summary(load_ledger(root), records).encode(),
    }


def test_other_words_change_every_page_and_no_file_that_is_stored() -> None:
    """A verdict in other words, its sign and its colour, each in this one object."""
    kept, before = _stored(ROOT), _written(ROOT)
    was = {field: getattr(READING, field) for field in ("words", "many", "mark", "colour")}
    other: dict[str, Any] = {"colour": "x", "words": "hinges on it", "many": "hinge on it", "mark": "¿"}
    try:
        for field, value in other.items():
            object.__setattr__(READING, field, value)
        after = _written(ROOT)
        assert _stored(ROOT) == kept
    finally:
        for field, value in was.items():
            object.__setattr__(READING, field, value)
    for name, text in ((name, " ".join(text.split())) for name, text in after.items()):  # lines are wrapped
        back = text.replace(other["words"], was["words"]).replace(other["many"], was["many"])
        back = back.replace("¿", "?").replace("claim-verdict-x", "claim-verdict-depends")
        assert back == " ".join(before[name].split()), name
        left = {word: text.count(word) for word in (was["words"], was["many"], "claim-verdict-depends") if word in text}
        assert not left, (name, left)
    unlike = {name for name in after if after[name] == before[name]}
    assert unlike <= {"impacts", "map"}, "where none has that verdict"


def test_a_verdict_is_derived_from_the_checks_of_all_kinds() -> None:
    seen = {claims.derive(it) for it in ([check(True)], [check(False)], [check(None)])}
    assert {type(it) for it in seen} == {Verdict}
