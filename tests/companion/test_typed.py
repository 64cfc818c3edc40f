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
#: Runs the cells of each page as IPython does, without it; nothing of the book is at hand. Pages are forked from a
#: process that has the library loaded, which takes longer than most of them.
RUNNER = """
import json, os, signal, sys, traceback
sys.modules["companion"] = None
import dprank
for name in dprank.__all__:
    getattr(dprank, name)
for page, cells in json.load(sys.stdin).items():
    os.mkdir(page)
    if not os.fork():
        signal.alarm(120)
        os.chdir(page)
        said = os.open("said", os.O_RDWR | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        space = {"__name__": "__main__"}
        try:
            for cell in cells:
                exec(compile(cell, "<cell>", "exec"), space)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)
    _, code = os.wait()
    if code:
        print(page, open(f"{page}/said").read()[-600:])
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
def test_what_is_typed_runs_as_it_stands(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps({page: typed(page) for page in pages()}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == ""
    assert len(list(tmp_path.glob("*/said"))) == len(pages()) > 15
