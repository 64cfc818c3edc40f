"""Which chapter has a reader type which algorithm of the papers, as a table for the README."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat

import companion
from companion.ledger.papers import PAPERS
from companion.press.roads import TYPED, title

#: The algorithms of the papers, in the lines that they print.
LINES = Path(companion.__file__).parent / "printed"
#: Where a paper prints it, at the head of what says what the function does.
PLACE = re.compile(r"(Algorithm|Corollary|Section|Theorem|Footnote) \d+|(Equation )?\([\d.]+\)")


def algorithms() -> dict[str, tuple[str, str, str]]:
    """Source of each function that a paper prints: the paper, the place, the function's name."""
    found = {}
    for file in sorted(LINES.glob("*_lines.py")):
        source = file.read_text(encoding="utf-8")
        for it in ast.parse(source).body:
            if isinstance(it, ast.FunctionDef) and (place := PLACE.match(ast.get_docstring(it) or "")):
                found[ast.get_source_segment(source, it) or ""] = (file.stem.split("_")[0], place[0], it.name)
    return found


def shown(page: nbformat.NotebookNode) -> Iterator[tuple[str, str, str]]:
    """The algorithms in a page's typed cells, in the page's order: paper, place, name."""
    typed = "\n".join(cell.source for cell in page.cells if TYPED in cell.metadata.get("tags", []))
    held = [(typed.find(source), it) for source, it in algorithms().items()]
    yield from (it for at, it in sorted(held) if at >= 0)


def chapters(notebooks: Path, seconds: Mapping[str, float]) -> str:
    """A Markdown table: a row a chapter, with its papers, the algorithms that it has one type, and its time."""
    lines = ["| chapter | paper | its algorithms, in lines to type | seconds |", "| --- | --- | --- | --- |"]
    for path in sorted(notebooks.glob("[0-8][0-9]-*.ipynb")):
        page = nbformat.read(path, as_version=4)
        held = list(shown(page))
        papers = ", ".join(PAPERS[it].name for it in dict.fromkeys(it for it, _, _ in held))
        typed = ", ".join(f"{place}: `{name}`" for _, place, name in held)
        time = math.ceil(seconds[path.stem]) if path.stem in seconds else ""
        lines.append(f"| {path.name[:2]} [{title(page)}](notebooks/{path.name}) | {papers} | {typed} | {time} |")
    return "\n".join(lines)
