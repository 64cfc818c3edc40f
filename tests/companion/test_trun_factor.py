"""By how much TRUN breaks its promise depends on the promise: whoever prints the factor says at which."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from companion.chapters.privacy_audited import at_epsilon
from companion.ledger.card import anchor
from companion.ledger.files import find_root, load_ledger
from companion.ledger.results import script_of

ROOT = find_root(Path(__file__))
#: A factor, a number or a place for one, in a paragraph about what TRUN loses.
FACTOR = re.compile(r"(?:\b\d[\d.]*|-(?:share-Trun|factor(?:-ceiling)?)`) times(?! as)")
CLAIM = "busafekete2021:thm-6:privacy"


def paragraphs() -> Iterator[str]:
    """Of all prose: notebooks with their captions, pages, and pages of single results; a bullet is a paragraph."""
    texts = [path.read_text(encoding="utf-8") for path in (*(ROOT / "book").glob("*.md"), ROOT / "README.md")]
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_bytes())["cells"]:
            shown = cell["metadata"].get("mystnb", {})
            texts.append("".join(cell["source"]) if cell["cell_type"] == "markdown" else "")
            texts.append(shown.get("figure", {}).get("caption", ""))
    for claim in load_ledger(ROOT).values():
        if claim.page:
            texts += [str(getattr(claim.page, field.name) or "") for field in fields(claim.page)]
    for text in texts:
        yield from re.split(r"\n\s*\n|\n(?=- )", text)


def test_who_prints_the_factor_names_its_epsilon() -> None:
    printed = [it for it in paragraphs() if "TRUN" in it and FACTOR.search(it) and re.search("lose|loss|worst", it)]
    printed += [it for it in paragraphs() if re.search("-share-Trun`|private-factor", it)]
    assert len(printed) >= 3
    assert [it for it in printed if not re.search(r"ε|\\varepsilon", it)] == []


@pytest.mark.parametrize("epsilon", [1 / 3, 1.0])
def test_the_coin_stops_the_loss_which_two_rankings_reach(epsilon: float) -> None:
    frame = at_epsilon.frame(epsilon)
    row = frame[(frame.mechanism == "Trun") & (frame.calibration == "as printed")].iloc[0]
    assert row.exact == pytest.approx(math.log(1.95 / 0.05))
    assert row.share == pytest.approx(math.log(39) / epsilon, abs=1e-5)
    said = at_epsilon.numbers(frame)
    assert said["loss-Trun"] == "3.66"
    assert said["share-Trun"] == {1.0: "3.66"}.get(epsilon, "11")
    page = load_ledger(ROOT)[CLAIM].page
    times = {1.0: "3.66 times ε₀ = 1"}.get(epsilon, "11 times ε₀ = 1/3")
    assert page is not None
    assert times in (page.numbers or "")


def test_the_page_s_own_factor_is_that_of_its_lines() -> None:
    known: dict[str, object] = {}
    exec(script_of(ROOT, CLAIM), known)
    accepts, promised = known["accepts"], known["eps0"]
    assert callable(accepts)
    loss = math.log(accepts(35) / accepts(33))
    page = load_ledger(ROOT)[CLAIM].page
    assert page is not None
    assert f"e^({loss:.2f}) times" in (page.numbers or "")
    assert page.title == f"TRUN can lose {loss / float(str(promised)):.1f} times what it promises at ε₀ = 1/3"
    assert anchor(CLAIM) == "busafekete2021-thm-6-privacy"
