"""What a chapter types of a paper's algorithms is, word for word, what the tests hold against the law."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import nbformat
from checks import each

import companion.printed
from companion.ledger.files import load_ledger
from companion.press.roads import TYPED
from companion.press.shown import shown

ROOT = Path(__file__).resolve().parents[3]
CELLS = [
    cell.source
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    for cell in nbformat.read(path, as_version=4).cells
    if TYPED in cell.metadata.get("tags", [])
]
LONGEST = 15


def algorithms() -> list[tuple[str, str]]:
    """Functions of the modules of lines, with their source."""
    homes = sorted(Path(companion.printed.__file__).parent.glob("*_lines.py"))
    modules = [import_module(f"companion.printed.{home.stem}") for home in homes]
    return [
        (f"{module.__name__}.{name}", inspect.getsource(it).rstrip())
        for module in modules
        for name, it in inspect.getmembers(module, inspect.isfunction)
        if it.__module__ == module.__name__
    ]


@each(("name", "source"), algorithms)
def test_a_chapter_types_the_algorithm_as_it_is_tested(name: str, source: str) -> None:
    assert any(source in cell for cell in CELLS), name
    assert len(source.splitlines()) <= LONGEST, name


def test_every_algorithm_that_has_a_number_is_typed_in_a_chapter() -> None:
    printed = {
        (found[1], f"Algorithm {found[2]}")
        for name in load_ledger(ROOT)
        if (found := re.match(r"(\w+):alg-(\d+)", name))
    }
    pages = (nbformat.read(path, as_version=4) for path in (ROOT / "notebooks").glob("*.ipynb"))
    typed = {(paper, place) for page in pages for paper, place, _ in shown(page)}
    assert len(printed) >= 14
    assert printed <= typed, sorted(printed - typed)
