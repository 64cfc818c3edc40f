"""A page that speaks of a figure has one, or says which: then it stands there, small."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from companion.press.roads import BORROWED

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
PAGES = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
#: Of a figure that a reader should see; a paper's own has a number.
SPOKEN = re.compile(
    r"\b(?:(?:the|this|both|first|last|next|these) (?:figures?|pictures?)(?! \d)|dashed|solid lines?|panels?)\b", re.I
)
SHOWN = re.compile(r"\{numref\}`|```\{figure\}|!\[|<svg|<img")


def lent(page: str) -> set[str]:
    """Cells of statement pages that a road shows."""
    road = next(NOTEBOOKS.glob(f"{page[:2]}-*.ipynb"), None)
    cells = nbformat.read(road, as_version=4).cells if road else []
    return {name for cell in cells if cell.cell_type == "markdown" for name in BORROWED.findall(cell.source)}


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_speaks_of_is_there(page: str) -> None:
    cells = nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    away = lent(page) if re.match(r"\d\d[a-z]-", page) else set()
    own = any("figure" in cell.metadata.get("mystnb", {}) and cell.id not in away for cell in cells)
    borrowed = bool(BORROWED.search(prose))
    if not (own or borrowed or SHOWN.search(prose)):
        assert [it[0] for it in SPOKEN.finditer(prose)] == []
