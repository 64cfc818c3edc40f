"""The page of open questions lists what the ledger leaves open, and nothing that it settles."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from companion.ledger.card import anchor
from companion.ledger.files import Claim, find_root, load_ledger
from companion.ledger.open import OPEN, SIMULATED, open_lists
from companion.ledger.papers import paper_of
from companion.ledger.scoreboard import Entry

ROOT = find_root(Path(__file__))
LEDGER = load_ledger(ROOT)
LISTS = open_lists(ROOT, (Entry(claim, claim.verdict) for claim in LEDGER.values()))


def listed(name: str) -> list[str]:
    """Where the links of a list lead: anchors, or pages of what has none."""
    return [str(link["href"]).partition("#")[2] for link in BeautifulSoup(LISTS[name], "html.parser").find_all("a")]


def of_papers() -> list[Claim]:
    return [claim for claim in LEDGER.values() if not paper_of(claim.id).ours]


def test_all_that_is_unchecked_is_listed_with_its_reason() -> None:
    unchecked = [claim for claim in of_papers() if claim.verdict == "unchecked"]
    said = BeautifulSoup(LISTS["open_unchecked"], "html.parser").find_all("li")
    assert len(said) == len(unchecked) == int(LISTS["open_unchecked_count"]) == 6
    for claim in unchecked:
        words = " ".join(str(claim.reason).split()[:4])
        assert sum(words in it.get_text() for it in said) == 1


def test_lists_hold_what_is_open_and_no_more() -> None:
    assert listed("open_needs") == [anchor(it.id) for it in of_papers() if it.necessity and OPEN.search(it.necessity)]
    seen = [anchor(it.id) for it in of_papers() if it.corrected and SIMULATED.search(it.corrected)]
    assert listed("open_simulated") == seen
    assert {"cai2025-thm-3.1", "busafekete2021-thm-5"} <= set(seen)
    assert "busafekete2021-sec-7.2-ma" not in seen
    parts = listed("open_parts")
    assert len(parts) == int(LISTS["open_parts_count"])
    by_anchor = {anchor(it.id): it for it in of_papers()}
    assert {by_anchor[it].verdict for it in parts} == {"holds"}
    assert "argument" not in {by_anchor[it].method for it in parts}
    assert not re.search(r"\n\s*\n", "".join(LISTS.values())), "an empty line ends HTML in Markdown"


def test_only_what_was_put_to_the_authors_is_said() -> None:
    assert "none has been put to the authors yet" in LISTS["open_asked"]
    claim = next(it for it in of_papers() if it.page)
    assert claim.page is not None
    for answered, said in ((None, "have answered 0"), ("Agreed.", "have answered 1")):
        page = replace(claim.page, asked="1 May 2027", answered=answered)
        found = open_lists(ROOT, [Entry(replace(claim, page=page), "refuted")])
        assert f"asked about 1, and {said}" in found["open_asked"]


def test_the_page_has_all_lists_and_is_reached() -> None:
    page = (ROOT / "book" / "open.md").read_text(encoding="utf-8")
    assert set(re.findall(r"{{ (\w+) }}", page)) == set(LISTS)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_bytes())
    assert "book/open" in [it["file"] for part in toc["parts"] for it in part["chapters"]]
    for name in ("index", "results"):
        assert "](open.md)" in (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
