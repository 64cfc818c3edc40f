"""A book of two small chapters and a late one, for tests of the press; the packages are the real ones."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import filecmp
import hashlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import nbformat
import pytest
from bs4 import BeautifulSoup

from companion.__main__ import main
from companion.press import render
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


FIGURE = """\
<?xml version="1.0"?><!DOCTYPE svg>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="d" width="{0}pt" height="{1}pt" viewBox="0 0 {0} {1}">
<dc:title>line</dc:title><path fill="#D55E00" d="M0 0h900v900H0z"/></svg>"""
HISTORY = """\
- {date: 2021-01-01, version: 0.1.0, claim: "mini2020:alg-1", now: holds}
- {date: 2021-01-01, version: 0.1.0, claim: "mini2020:thm-1", now: refuted}
"""
WORDS = "What one answer gives away, and what it costs to hide it from whoever asks."
WIDE = "$$\n" + " + ".join(f"x_{{{i}}}" for i in range(12)) + "\n$$"
PRINTED = 'print(*(r["verdict"] for r in json.loads((find_root() / records).read_text())["records"]))'
SHOWN = "from companion.ledger.scoreboard import Scoreboard\n\nScoreboard(records).claims()"


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
        ("code", PRINTED),
    )
    return root


def make_whole_book(root: Path, source: Path = REPOSITORY) -> Path:
    """The same with all that a page can have: a figure, also for a phone, a wide formula, a scoreboard, a gallery, a
    feed, how to cite.
    """
    make_book(root, source)
    more = ("cite.js", "scoreboard.js", "search.js", "wayfinding.js")
    for name in ("CITATION.cff", "book/figures.md", *(f"book/_static/{it}" for it in more)):
        shutil.copy(source / name, root / name)
    replace(root / "_toc.yml", "[{file:", "[{file: book/figures}, {file:")
    replace(root / "book/index.md", "In the", f"{WORDS} In the")
    (root / "data/history.yml").write_text(HISTORY, encoding="utf-8")
    path = root / "notebooks/01-first.ipynb"
    notebook = nbformat.read(path, 4)
    notebook.cells[0].source = f"# First\n\nA line.\n\n**In short.** {WORDS}\n\nPlain prose."
    figure = {"caption": "A line, drawn.", "name": "fig-line"}
    notebook.cells[2].metadata["mystnb"] = {"figure": figure, "image": {"alt": "A line that rises."}}
    wide, narrow = FIGURE.format(400, 200), FIGURE.format(200, 300)
    notebook.cells[2].source = "\n".join([FIRST[: FIRST.index("svg = ")], f"wide, narrow = {wide!r}, {narrow!r}",
        'show = {"name": "line", "message": "A line", "data": "x\\n1", "narrow": narrow}',
        'display({"image/svg+xml": wide, "text/plain": "line"}, raw=True, metadata={"figure": show})'])  # fmt: skip
    nbformat.write(notebook, path)
    words = f"# Second\n\n{WIDE}\n\n[there](90-board)\n\n## More"
    write_notebook(root / "notebooks/02-second.ipynb", ("markdown", words), ("code", SECOND))
    path = root / "notebooks/90-board.ipynb"
    notebook = nbformat.read(path, 4)
    notebook.cells.append(nbformat.v4.new_code_cell(SHOWN, id="cell-4"))
    nbformat.write(notebook, path)
    return root


#: For every line that it reads, it forks a process that renders.
PRESS = """\
import json, os, sys, time
import matplotlib, sphinx.builders.html, sphinx_book_theme, sphinx_design, myst_nb.sphinx_ext, jupyter_book.sphinx
from jupyter_book.cli.main import main
for line in sys.stdin:
    arguments, variables, folder, said = json.loads(line)
    if not (child := os.fork()):
        for number in (1, 2):
            os.dup2(os.open(said, os.O_WRONLY | os.O_APPEND), number)
        os.environ.clear()
        os.environ.update(variables)
        time.tzset()
        os.chdir(folder)
        sys.path[1:1] = variables["PYTHONPATH"].split(os.pathsep)
        sys.argv[1:] = arguments
        main()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Built(NamedTuple):
    """A book that is there for all tests, and what its making said; whoever changes it copies it first."""

    root: Path
    said: list[Any]


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], list[Any]]) -> Built:
    """What `make` puts into a folder of this name, by the worker that first asks for it."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    said = folder / "said.json"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            shutil.rmtree(folder / "book", ignore_errors=True)
            said.write_text(json.dumps(make(folder / "book")))
    return Built(folder / "book", json.loads(said.read_text()))


def build(root: Path, profile: str = "standard", chapter: str | None = None) -> list[str]:
    """What is said when a book is built; its site is rendered as ever, but in a process that need not load Sphinx."""
    lines: list[str] = []
    with mock.patch.object(render, "subprocess", mock.Mock(wraps=subprocess, run=pressed)):
        Build(root, profile, chapter, 2, lines.append).run()
    return lines


@cache
def press(hashed: str) -> subprocess.Popen[str]:
    """Forks presses, in which texts are hashed with this seed."""
    variables = os.environ | {
        "PYTHONHASHSEED": hashed,
        "LC_ALL": "C",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    started = subprocess.Popen(
        [sys.executable, "-c", PRESS], env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(started.communicate)
    return started


def pressed(command: list[str], *, env: dict[str, str], cwd: Path, **_: Any) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of a command that renders."""
    [interpreter, option, program, *arguments] = command
    assert (interpreter, option, program.rpartition("; ")[0].rpartition("; ")[2]) == (
        sys.executable, "-c", "from jupyter_book.cli.main import main"
    )  # fmt: skip
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as said:
        server = press(env["PYTHONHASHSEED"])
        assert server.stdin
        assert server.stdout
        print(json.dumps([arguments, env, str(cwd), said.name]), file=server.stdin, flush=True)
        return subprocess.CompletedProcess(command, int(server.stdout.readline()), said.read())


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


def tags(path: Path) -> dict[str, str]:
    """What a page says of itself."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    return {it.get("property") or it.get("name"): it["content"] for it in page("meta") if it.get("content")}


def refused(root: Path, *arguments: str) -> tuple[int, str]:
    """Exit code and one-line message of the command line, which leaves all of `_build` as it was."""
    before = snapshot(root)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    out, said = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    try:
        with (
            contextlib.chdir(root),
            mock.patch.object(sys, "argv", ["companion", *arguments]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(said),
            pytest.raises(SystemExit) as end,
        ):
            main()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert snapshot(root) == before
    code = end.value.code
    [line] = [*said.getvalue().splitlines(), *(code.splitlines() if isinstance(code, str) else [])]
    return (1 if isinstance(code, str) else int(code or 0)), line
