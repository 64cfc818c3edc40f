"""What a chapter types of a paper's algorithms is, word for word, what the tests hold against the law."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
from checks import each

from companion import printed
from companion.press.roads import TYPED

ROOT = Path(__file__).resolve().parents[3]
CELLS = {
    cell.source
    for path in (ROOT / "notebooks").glob("*.ipynb")
    for cell in nbformat.read(path, as_version=4).cells
    if TYPED in cell.metadata.get("tags", [])
}


def algorithms() -> list[Callable[..., Any]]:
    modules = [
        import_module(f"companion.printed.{path.stem}") for path in sorted(Path(printed.__path__[0]).glob("*_lines.py"))
    ]
    return [getattr(module, name) for module in modules for name in module.__all__]


@each("algorithm", algorithms)
def test_a_chapter_types_the_algorithm_as_it_is_tested(algorithm: Callable[..., Any]) -> None:
    source = inspect.getsource(algorithm).strip()
    assert source in CELLS
    assert len(source.splitlines()) <= 15
