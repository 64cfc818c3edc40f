"""What a page shows as typed runs as it stands, in order, in an empty notebook with the library alone."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
from checks import each

from companion.press.roads import TYPED

ROOT = Path(__file__).resolve().parents[2]
#: Runs cells as IPython does, without it; nothing of the book is at hand.
RUNNER = """
import ast, json, sys
sys.modules["companion"] = None
space = {"__name__": "__main__"}
for cell in json.load(sys.stdin):
    exec(compile(cell, "<cell>", "exec"), space)
"""


@cache
def typed(page: str) -> list[str]:
    """The cells of a page that a reader sees as typed, in order."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{page}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if TYPED in cell.metadata.get("tags", [])]


def pages() -> list[str]:
    return [path.stem for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if typed(path.stem)]


@each("page", pages)
def test_nothing_typed_is_of_the_book(page: str) -> None:
    for cell in typed(page):
        for node in ast.walk(ast.parse(cell)):
            names = [it.name for it in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.partition(".")[0] == "companion"], cell


@pytest.mark.slow
@each("page", pages)
def test_what_is_typed_runs_as_it_stands(page: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(typed(page)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-600:]
