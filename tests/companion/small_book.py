"""A book of two small chapters and a late one, for tests of the press; the packages are the real ones."""

from __future__ import annotations

import filecmp
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat

from companion.press.pipeline import Build

REPOSITORY = Path(__file__).parents[2]

LEDGER = """\
- id: mini2020:alg-1
  where: Algorithm 1
  kind: algorithm
  statement: One is at most the scale & more.
  chapter: 01-first
  verdict: holds
  method: exact
- id: mini2020:thm-1
  where: Theorem 1
  kind: theorem
  statement: Two is at most one.
  chapter: 02-second
  verdict: refuted
  method: exact
  why: Two is more than one.
  corrected: Two is at most two.
  impact: slip of the pen
- {id: 'mini2020:thm-2', where: Theorem 2, kind: theorem, statement: Later., chapter: 03-later, verdict: pending}
"""
PROFILES = """\
chapters:
  01-first:
    standard: {repetitions: 20}
late: [90-board]
"""
TOC = """\
format: jb-book
root: book/index
parts:
  - caption: Chapters
    numbered: true
    chapters: [{file: notebooks/01-first}, {file: notebooks/02-second}, {file: notebooks/90-board}]
"""
FIRST = """\
import runpy
from IPython.display import display
from companion.ledger.claim import Check, Record
from companion.ledger.files import find_root
from companion.instruments.seed import root_seed
from dprank.privacy import noise
print("root", root_seed())
scale = runpy.run_path(find_root() / "src/dprank/privacy/noise.py")["SCALE"]
svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9"/></svg>'
figure = {"name": "line", "message": "A line rises", "data": "x\\n1"}
display({"image/svg+xml": svg, "text/plain": "line"}, raw=True, metadata={"figure": figure})
"""
SECOND = """\
import os, time
from companion.ledger.claim import Check, Record
print("piece by", flush=True)
time.sleep(float(os.environ.get("MINI_SLEEP", 0)))
print("piece", flush=True)
Record("mini2020:thm-1", (Check("two", 2, "<=", 1), Check("two", 2.0, "<=", 2, about="corrected")))
"""


def write_notebook(path: Path, *cells: tuple[str, str]) -> None:
    """`cells` are (kind, source), where a kind is markdown, code, or the tag of a code cell."""
    notebook = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"},
            "language_info": {"name": "python"},
        }
    )
    for position, (kind, source) in enumerate(cells):
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        tags = {} if kind in ("markdown", "code") else {"tags": [kind]}
        notebook.cells.append(make(source, id=f"cell-{position}", metadata=tags))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def make_book(root: Path, source: Path = REPOSITORY) -> Path:
    """A book with the settings and styles of `source`."""
    extensions = (path.relative_to(source).as_posix() for path in (source / "book/_ext").glob("*.py"))
    sheets = ("book/_static/access.js", "book/_static/book.css", "book/_static/print.css")
    for name in ("_config.yml", *extensions, *sheets):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, root / name)
    survey = "voter,item\n1,2\n"
    files = {
        "_toc.yml": TOC,
        "book/index.md": "# A book\n\nIn the {{ profile }} profile: $x \\le 1$.\n",
        "book/references.bib": "",
        "data/claims/mini2020.yml": LEDGER,
        "data/surveys/votes.csv": survey,
        "data/surveys/SHA256SUMS": f"{hashlib.sha256(survey.encode()).hexdigest()}  votes.csv\n",
        "notebooks/profiles.yml": PROFILES,
        "requirements.lock": "numpy==0\n",
        "src/dprank/privacy/noise.py": "SCALE = 2.0\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    record = 'Record("mini2020:alg-1", (Check("one", 1, "<=", scale, error=1e-9),))'
    write_notebook(
        root / "notebooks/01-first.ipynb",
        ("markdown", "# First\n\nPlain prose."),
        ("parameters", "repetitions = 10  # 2 .. 100; how often the line is drawn"),
        ("code", FIRST),
        ("code", record),
    )
    write_notebook(root / "notebooks/02-second.ipynb", ("markdown", "# Second"), ("code", SECOND))
    write_notebook(
        root / "notebooks/90-board.ipynb",
        ("markdown", "# Board"),
        ("parameters", 'records = "_build/records.json"  # a build passes its own'),
        ("code", "import json\nfrom pathlib import Path\nfrom companion.ledger.files import find_root"),
        ("code", 'print(*(r["verdict"] for r in json.loads((find_root() / records).read_text())["records"]))'),
    )
    return root


def build(root: Path, profile: str = "standard", chapter: str | None = None) -> list[str]:
    lines: list[str] = []
    Build(root, profile, chapter, 2, lines.append).run()
    return lines


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def same_tree(left: Path, right: Path) -> bool:
    names = [sorted(p.relative_to(side).as_posix() for p in side.rglob("*")) for side in (left, right)]
    files = [name for name in names[0] if (left / name).is_file()]
    return names[0] == names[1] and filecmp.cmpfiles(left, right, files, shallow=False)[1:] == ([], [])


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def refused(root: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and one-line message of the command line, which leaves all of `_build` as it was."""
    before = snapshot(root)
    result = subprocess.run(
        [sys.executable, "-m", "companion", *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    assert snapshot(root) == before
    [line] = result.stderr.splitlines()
    return result.returncode, line
