"""Chapters show the papers' algorithms word for word as they stand in `companion.printed`."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import nbformat
from checks import each

import companion.printed
from companion.press.roads import TYPED

ROOT = Path(companion.printed.__file__).resolve().parents[3]


def algorithms() -> list[tuple[str, str]]:
    """Functions of the modules of lines, with their source."""
    homes = sorted(Path(companion.printed.__file__).parent.glob("*_lines.py"))
    modules = [import_module(f"companion.printed.{home.stem}") for home in homes]
    return [
        (f"{module.__name__}.{name}", inspect.getsource(it))
        for module in modules
        for name, it in inspect.getmembers(module, inspect.isfunction)
        if it.__module__ == module.__name__
    ]


@each(("name", "source"), algorithms)
def test_a_chapter_shows_it_word_for_word(name: str, source: str) -> None:
    cells = [
        cell.source
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        if TYPED in cell.metadata.get("tags", [])
    ]
    assert any(source.rstrip() in cell for cell in cells), name
