"""Every row of the scoreboard is found by its place, by its place and author, and by what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_site import needs_chromium

from companion.ledger.scoreboard import Scoreboard

if TYPE_CHECKING:
    from explorer_pages import Reader

ROOT = Path(__file__).resolve().parents[2]
#: First names of papers, as a reader types them.
AUTHOR = re.compile(r"^[\w-]+(?= et al)")
#: What was typed for a row that is then not shown.
FIND = """asked => {
    const form = document.querySelector(".board-filters"), rows = [...document.querySelectorAll("#claims tbody tr")];
    rows.forEach((row, at) => { row.dataset.at = at; });
    return asked.flatMap(([at, text]) => {
        form.elements.text.value = text;
        form.dispatchEvent(new Event("input"));
        const row = document.querySelector(`[data-at="${at}"]`);
        return row.hidden ? [[at, text]] : [];
    });
}"""


def asked(board: Scoreboard) -> list[tuple[int, str]]:
    """What a reader would type for each row, in the order of the rows."""
    lines = []
    for at, it in enumerate(board.entries):
        author = AUTHOR.match(it.paper)
        said = re.findall(r"[^\W\d_]{5,}", it.claim.reason or it.claim.statement)[:3]
        lines += [(at, it.claim.where), (at, " ".join(said))]
        lines += [(at, f"{it.claim.where} of {author[0]}")] if author else []
    return lines


@needs_chromium
@pytest.mark.slow
def test_every_row_is_found_by_place_author_and_words(reader: Reader, tmp_path: Path) -> None:
    board = Scoreboard("data/expected/standard.json", ROOT)
    script = (ROOT / "book/_static/scoreboard.js").read_text(encoding="utf-8")
    table = re.sub(r"<script.*?</script>", "", str(board.claims()), flags=re.DOTALL)
    page = tmp_path / "board.html"
    page.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{table}<script>{script}</script>", encoding="utf-8")
    opened = reader.page()
    opened.goto(page.as_uri())
    lines = asked(board)
    missed: list[Any] = opened.evaluate(FIND, json.loads(json.dumps(lines)))
    assert len(lines) > 1000
    assert missed == []
