"""Whoever follows the errata hears of each change, once, under an id that stays."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from companion.ledger.feed import feed
from companion.ledger.files import load_ledger
from companion.ledger.history import Change, load_history
from companion.ledger.scoreboard import Entry, entries
from companion.ledger.verdicts import HOLDS, in_words

ROOT = Path(__file__).resolve().parents[3]
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def stated() -> list[Entry]:
    content = json.loads((ROOT / "data/expected/standard.json").read_bytes())
    return entries(load_ledger(ROOT), content["records"])


def read(data: bytes) -> tuple[ElementTree.Element, dict[str, ElementTree.Element]]:
    """The feed, and its entries by id."""
    root = ElementTree.fromstring(data)
    listed = root.findall(f"{ATOM}entry")
    by_id = {it.findtext(f"{ATOM}id", ""): it for it in listed}
    assert len(by_id) == len(listed)
    return root, by_id


def test_every_erratum_of_the_papers_is_in_it_and_no_promise_of_ours(stated: list[Entry]) -> None:
    _, found = read(feed(stated, load_history(ROOT), "We & you"))
    wrong = [it for it in stated if it.verdict.wrong and not it.ours]
    titles = [it.findtext(f"{ATOM}title", "") for it in found.values()]
    assert len([it for it in titles if not it.endswith(f": {HOLDS.words}")]) == len(wrong) > 100
    assert len(titles) > len(wrong), "some were taken back"


def test_a_change_moves_an_erratum_to_the_front_and_keeps_its_id(stated: list[Entry]) -> None:
    changes = load_history(ROOT)
    _, before = read(feed(stated, changes, "We"))
    change = Change(date="2031-02-03", version="1", claim="cai2025:alg-3", was="refuted", now="holds", why="x < y.")
    root, after = read(feed(stated, [*changes, change], "We"))
    assert before.keys() == after.keys()
    assert root.findtext(f"{ATOM}updated") == "2031-02-03T00:00:00Z"
    first = next(iter(after.values()))
    assert first.findtext(f"{ATOM}updated") == "2031-02-03T00:00:00Z"
    assert first.findtext(f"{ATOM}published") == "2026-11-21T00:00:00Z"
    said = first.findtext(f"{ATOM}content", "")
    assert in_words("<strong>Until 2031-02-03:</strong> {word}`refuted`. x &lt; y.") in said
    assert "Taken back" in said


def test_another_name_keeps_the_id(stated: list[Entry]) -> None:
    name = "cai2025:alg-3"
    renamed = Change(date="2031-02-03", version="1", claim=name, formerly="cai2025:old", was="refuted", now="refuted")
    past = [it for it in load_history(ROOT) if it.claim != name]
    old = Change(date=past[-1].date, version="1", claim="cai2025:old", now="refuted")
    _, before = read(feed(stated, [*past, old, renamed], "We"))
    _, after = read(feed(stated, [*past, old, renamed][:-1], "We"))
    assert before.keys() > after.keys(), "the ledger has no claim of the old name"
    _, other = read(feed(stated, load_history(ROOT), "We"))
    assert len(before.keys() - other.keys()) == 1, "its id comes from its first name"


def test_with_an_address_links_are_whole(stated: list[Entry]) -> None:
    bare, _ = read(feed(stated, load_history(ROOT), "We"))
    whole, _ = read(feed(stated, load_history(ROOT), "We", "https://host.example/book/"))
    base = "{http://www.w3.org/XML/1998/namespace}base"
    assert base not in bare.attrib
    assert whole.attrib[base] == "https://host.example/book/"
    links = {it.get("rel"): it.get("href") for it in whole.findall(f"{ATOM}link")}
    assert links == {"self": "https://host.example/book/errata.xml", "alternate": "book/changed.html"}
