"""Every figure of the papers is drawn again, by one cell that says so."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from companion.ledger.papers import PRINTED
from companion.press.drawn import REPRODUCES

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def test_every_figure_of_the_papers_is_drawn_once() -> None:
    cells = [cell for path in NOTEBOOKS for cell in nbformat.read(path, as_version=4).cells]
    said = [cell for cell in cells if REPRODUCES in cell.metadata]
    assert all(re.search(r"\bshow\(", cell.source) for cell in said)
    expected = [f"{paper.key} Figure {n}" for paper in PRINTED for n in range(1, paper.figures + 1)]
    assert sorted(cell.metadata[REPRODUCES] for cell in said) == sorted(expected)
