"""Which chapter has a reader type which algorithm of the papers, as a table for the README."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

import nbformat

import companion.printed
from companion.ledger.card import PAPERS
from companion.press.roads import TYPED, title

#: Where a paper prints it, at the head of what says what the function does.
PLACE = re.compile(r"(Algorithm|Corollary|Section|Theorem|Footnote) \d+|(Equation )?\([\d.]+\)")


def algorithms() -> dict[str, tuple[str, str, str]]:
    """Source of each function that a paper prints: the paper, the place, the function's name."""
    found = {}
    for file in sorted(Path(companion.printed.__file__).parent.glob("*_lines.py")):
        module = import_module(f"companion.printed.{file.stem}")
        for name, it in inspect.getmembers(module, inspect.isfunction):
            place = PLACE.match(it.__doc__ or "")
            if it.__module__ == module.__name__ and place:
                found[inspect.getsource(it).rstrip()] = (file.stem.split("_")[0], place[0], name)
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
        papers = ", ".join(PAPERS[it] for it in dict.fromkeys(it for it, _, _ in held))
        typed = ", ".join(f"{place}: `{name}`" for _, place, name in held)
        time = math.ceil(seconds[path.stem]) if path.stem in seconds else ""
        lines.append(f"| {path.name[:2]} [{title(page)}](notebooks/{path.name}) | {papers} | {typed} | {time} |")
    return "\n".join(lines)
