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
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import joblib
import nbformat
import pytest
from bs4 import BeautifulSoup

from companion.__main__ import main
from companion.press import execute, kernel, nursery, render
from companion.press.layout import Layout
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
    extensions = (path.relative_to(source).as_posix() for path in (source / "book/_ext").glob("*.*"))
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


#: For every line that it reads, it forks a process: one that renders, whose end it waits for, or a kernel.
PRESS = """\
import contextlib, gc, json, os, runpy, sys, time
import matplotlib.backends.backend_svg, sphinx.builders.html, sphinx_book_theme, sphinx_design, myst_nb.sphinx_ext
import ipykernel.debugger, ipykernel.ipkernel, ipykernel.kernelapp, jupyter_book.sphinx, numpy, pandas, scipy.special
from jupyter_book.cli.main import main
become = runpy.run_path(sys.argv[1])["become"]
gc.collect()
gc.freeze()
print(flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if not (child := os.fork()):
        sys.path[1:1] = asked["env"]["PYTHONPATH"].split(os.pathsep)
        if "cwd" in asked:
            become(**asked)
            break
        for number in (1, 2):
            os.dup2(os.open(asked["said"], os.O_WRONLY | os.O_APPEND), number)
        os.environ.clear()
        os.environ.update(asked["env"])
        time.tzset()
        os.chdir(asked["folder"])
        sys.argv[1:] = asked["argv"]
        main()
    print(child if "cwd" in asked else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
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
    """What is said when a book is built."""
    lines: list[str] = []
    with at_hand():
        Build(root, profile, chapter, 2, lines.append).run()
    return lines


@contextlib.contextmanager
def at_hand() -> Iterator[None]:
    """Builds meanwhile run their chapters in this process, one by one; kernels, and what renders, are what they ever
    are, but forked from one process that has the libraries loaded.
    """

    def here(*_: Any, **__: Any) -> Callable[[Any], Iterator[Any]]:
        return lambda tasks: (do(*given, **named) for do, given, named in tasks)

    def list_fonts(layout: Layout) -> None:
        shutil.copytree(press()[1], layout.build / "home", dirs_exist_ok=True)

    with (
        mock.patch.object(render, "subprocess", mock.Mock(wraps=subprocess, run=pressed)),
        mock.patch.object(joblib, "Parallel", here),
        mock.patch.object(execute, "MANY", 0),
        mock.patch.object(execute, "_list_fonts", list_fonts),
        mock.patch.object(kernel, "_fork", asked),
    ):
        yield


@cache
def press() -> tuple[subprocess.Popen[str], Path]:
    """What forks, and the folder where matplotlib has listed the fonts for it."""
    folder = tempfile.TemporaryDirectory()
    fixed = execute.environment(layout := Layout(Path(folder.name)))
    fixed |= {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "PYTHONDONTWRITEBYTECODE": "1"}
    fixed["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # says nothing
    (home := layout.build / "home").mkdir(parents=True)
    command, pipes = (
        [sys.executable, "-c", PRESS, nursery.__file__],
        {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE},
    )
    started = subprocess.Popen(command, env=os.environ | fixed, **pipes, text=True)
    assert started.stdout
    started.stdout.readline()
    atexit.register(folder.cleanup)
    atexit.register(started.communicate)
    return started, home


def asked(line: str) -> int:
    """What the press answers."""
    process, _ = press()
    assert process.stdin
    assert process.stdout
    print(line, file=process.stdin, flush=True)
    return int(process.stdout.readline())


def pressed(command: list[str], *, env: dict[str, str], cwd: Path, **_: Any) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` of a command that renders."""
    [interpreter, option, program, *arguments] = command
    assert (interpreter, option, program.rpartition("; ")[0].rpartition("; ")[2]) == (
        sys.executable, "-c", "from jupyter_book.cli.main import main"
    )  # fmt: skip
    assert env["PYTHONHASHSEED"] == "0"
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as said:
        line = json.dumps({"argv": arguments, "env": env, "folder": str(cwd), "said": said.name})
        return subprocess.CompletedProcess(command, asked(line), said.read())


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
    code, _, said = told(root, *arguments)
    assert snapshot(root) == before
    [line] = said.splitlines()
    return code, line


def told(root: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command line."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    out, said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
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
    code = end.value.code
    if isinstance(code, str):  # Python prints it
        print(code, file=said)
        code = 1
    out.flush()
    return int(code or 0), out.buffer.getvalue().decode(), said.getvalue()
