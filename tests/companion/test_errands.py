"""Queries whose first hit leads elsewhere are told, if they are more than what is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from test_site import needs_chromium

from companion.press.errands import _search

if TYPE_CHECKING:
    from explorer_pages import Reader

FOUND = """<!DOCTYPE html><div id="search-results"></div><script>
const q = new URLSearchParams(location.search).get("q");
if (q !== "nothing at all") document.querySelector("#search-results").innerHTML = `<a href="book/${q}.html">it</a>`;
</script>"""
ELSEWHERE = "search for 'delta' leads to book/delta.html; allowed: glossary or there"
NOWHERE = "search for 'nothing at all' leads to nothing; allowed: there"


@needs_chromium
@pytest.mark.parametrize(("allowed", "told"), [(0, [ELSEWHERE, NOWHERE]), (1, [ELSEWHERE, NOWHERE]), (2, [])])
def test_queries_that_lead_elsewhere(reader: Reader, tmp_path: Path, allowed: int, told: list[str]) -> None:
    (tmp_path / "search.html").write_text(FOUND, encoding="utf-8")
    queries = {"mallows": ["mallows.html"], "delta": ["glossary", "there"], "nothing at all": ["there"]}
    assert list(_search(reader.page(), tmp_path, queries, allowed)) == told
