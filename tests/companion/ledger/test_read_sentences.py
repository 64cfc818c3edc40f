"""Every sentence of a paper that asserts something has a claim or a reason, and every claim a sentence."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ledgers import ENTRY, ledger_at

from companion.ledger.files import find_root, load_ledger
from companion.ledger.sentences import REASONS, Reading, load_papers, load_sentences, sentence_file

SENTENCE = {"place": "Abstract", "says": "One is at most one.", "claims": ["mini2020:alg-1"]}
OTHER = {"place": "Section 1", "says": "We thank nobody.", "not_judged": "history"}


def sentences_at(root: Path, *entries: Any, name: str = "mini2020") -> Path:
    folder = root / "data" / "sentences"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yml").write_text(yaml.safe_dump(list(entries)))
    return root


def test_sentences_of_a_paper_in_parts(tmp_path: Path) -> None:
    root = sentences_at(ledger_at(tmp_path, ENTRY), OTHER, name="mini2020_a")
    sentences_at(root, SENTENCE, name="mini2020_b")
    ledger = load_ledger(root)
    assert [it.place for it in load_sentences(root, ledger)] == ["Section 1", "Abstract"]
    rows = list(csv.DictReader(io.StringIO(sentence_file(root, ledger)["sentences.csv"].decode())))
    assert [row["not judged"] for row in rows] == ["history", ""]
    assert rows[1]["claims"] == "mini2020:alg-1"


def test_a_book_without_sentences(tmp_path: Path) -> None:
    root = ledger_at(tmp_path, ENTRY)
    assert not sentence_file(root, load_ledger(root))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claims": ["mini2020:alg-2"]}, "data/sentences/mini2020.yml: Abstract: claims: 'mini2020:alg-2'; allowed: "),
        ({"claims": []}, "Abstract: claims: []; allowed: a list of ids"),
        ({"claims": "mini2020:alg-1"}, "Abstract: claims: 'mini2020:alg-1'; allowed: a list of ids"),
        ({"not_judged": "history"}, "Abstract: claims: ['mini2020:alg-1']; allowed: a list of ids, or not_judged"),
        ({"claims": None}, "Abstract: claims: None; allowed: a list of ids, or not_judged: one of the two"),
        ({"claims": None, "not_judged": "dull"}, f"not_judged: 'dull'; allowed: {', '.join(REASONS)}"),
        ({"place": " "}, "place: ' '; allowed: text"),
        ({"says": 3}, "Abstract: says: 3; allowed: text"),
        ({"quote": "x"}, "Abstract: key: 'quote'; allowed: place, says, claims, not_judged"),
    ],
)
def test_a_sentence_is_refused_in_a_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    root = sentences_at(ledger_at(tmp_path, ENTRY), SENTENCE | change)
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        load_sentences(root, load_ledger(root))
    assert "\n" not in str(refused.value)


def test_a_claim_of_a_read_paper_has_a_sentence_unless_it_is_ours(tmp_path: Path) -> None:
    other = ENTRY | {"id": "mini2020:alg-2"}
    root = sentences_at(ledger_at(tmp_path, ENTRY, other), SENTENCE)
    with pytest.raises(ValueError, match=r"data/sentences: mini2020:alg-2: named by no sentence"):
        load_sentences(root, load_ledger(root))
    ledger_at(root, ENTRY, other | {"ours": True})
    assert len(load_sentences(root, load_ledger(root))) == 1


def test_papers_are_refused_in_a_line(tmp_path: Path) -> None:
    root = ledger_at(tmp_path, ENTRY)
    ledger = load_ledger(root)
    source = {"what": "code", "where": "there", "rests": "all", "claims": ["mini2020:alg-2"]}
    paper = {"identifier": "x", "dated": "y", "digest": "z", "lacks": "nothing", "sources": [source]}
    for content, message in (
        ({"mini2020": paper}, "data/papers.yml: mini2020: sources: 'mini2020:alg-2'; allowed: ids of the ledger"),
        ({"mini2020": {"identifier": "x"}}, "data/papers.yml: mini2020: identifier; allowed: identifier, dated"),
    ):
        (root / "data/papers.yml").write_text(yaml.safe_dump(content, sort_keys=False))
        with pytest.raises(ValueError, match=message):
            load_papers(root, ledger)


def test_the_page(tmp_path: Path) -> None:
    """With this book's own files."""
    reading = Reading("data/expected/standard.json", find_root(Path(__file__)))
    copies = reading.copies()
    assert all(f"<code>{it.digest}</code>" in copies for it in reading.papers.values())
    assert reading.counts().loc["all", "sentences"] == len(reading.sentences)
    table = reading.all()
    assert table.count("<tr>") == len(reading.sentences) + table.count("<thead>")
    listed = reading.not_as_printed()
    assert all(f'href="{claim.chapter}.html' in listed for claim in reading.ledger.values() if claim.runs)
