"""Functions that a chapter shows as typed are those of its module of lines, word for word."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import nbformat

from companion.press.roads import TYPED

ROOT = Path(__file__).resolve().parents[2]


def unlike(page: str, module: ModuleType) -> list[str]:
    """Names of a module's functions that no typed cell of a page consists of."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{page}.ipynb", as_version=4)
    cells = {cell.source for cell in notebook.cells if TYPED in cell.metadata.get("tags", [])}
    return [name for name in module.__all__ if inspect.getsource(getattr(module, name)).strip() not in cells]
