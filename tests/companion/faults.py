"""Break the environment under a real build, row by row; `make faults` (some minutes), or with rows' names as ARGS.

Each row completes with the bytes of an undisturbed build, or ends with one line and exit code 1. In both cases
nothing goes on running, and the next good build gives those bytes too. Rows that need a disk of their own are left out,
and said to be, where the system lends none to a user (`unshare -rm`).
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import nbformat
from small_book import make_book, same_tree

BUILD = [sys.executable, "-m", "companion", "book", "-j", "2"]
DRAW = """\
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from companion.instruments.style import show
from dprank.data.kendall import kendall_distance
def draw(frame):
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(frame["x"], frame["y"], label="§ ä")
    return figure
show("drawn", pd.DataFrame({"x": [0, 1], "y": [1, kendall_distance([2, 0, 1], [0, 1, 2])]}), draw)
"""
TWICE = '"$@" & while ! [ -s _build/lock ]; do sleep 0.1; done; "$@"; code=$?; wait; exit $code'


@dataclass(frozen=True)
class Row:
    """A fault: what is done before and while a build runs, and the line it ends with.

    Without a line it completes; with an empty one it is given no time for any.
    """

    name: str
    line: str | None = None
    variables: dict[str, str | None] = field(default_factory=dict)
    before: Callable[[Path], object] = lambda root: None
    during: Callable[[Path, subprocess.Popen[str]], object] = lambda root, process: None
    shell: str = 'exec "$@"'
    root: str = "book"


def main(*names: str) -> int:
    """Run the rows called `names`, or all; the number of those that do not hold."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)  # else children of a background job ignore it
    with tempfile.TemporaryDirectory(prefix="faults", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        reference = _book(home / "reference" / "book")
        _good(reference)
        lend = ["unshare", "-rm", "mount", "-t", "tmpfs", "x", "/mnt"]
        disk = subprocess.run(lend, capture_output=True, check=False).returncode == 0
        wrong = 0
        for row in rows(home):
            if names and not any(name in row.name for name in names):
                continue
            if "mount" in row.shell and not disk:
                print(f"left out  {row.name}: no disk can be lent here")
                continue
            result, problem = _try(row, _book(home / "row" / row.root), reference)
            print(f"{'WRONG' if problem else 'held':9} {row.name}: {problem or result}", flush=True)
            wrong += bool(problem)
            shutil.rmtree(home / "row", ignore_errors=True)
        return wrong


def rows(home: Path) -> list[Row]:
    """The table."""
    settings = _settings(home / "settings")
    deep = home / ("d" * (120 - len(str(home)) - 1))
    deep.mkdir()
    killed = "a process that ran a chapter was killed"
    same = [
        Row("no HOME", variables={"HOME": None}),
        Row("HOME that is not there", variables={"HOME": str(home / "nowhere/at/all")}),
        Row("HOME that cannot be written", variables={"HOME": "/proc"}),
        Row(
            "HOME full of settings",
            variables=dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(settings)),
        ),
        Row(
            "somebody's start-up file",
            variables={"PYTHONSTARTUP": str(settings / "start.py"), "PYTHONWARNINGS": "always"},
        ),
        Row("LC_ALL=C", variables={"LC_ALL": "C"}),
        Row("LC_ALL=POSIX, no UTF-8", variables={"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
        Row("German", variables={"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"}),
        Row("time zone", variables={"TZ": "Pacific/Kiritimati"}),
        Row("umask 077", shell='umask 077; exec "$@"'),
        Row("no byte code", variables={"PYTHONDONTWRITEBYTECODE": "1"}),
        Row("other seeds of hashes, more threads", variables={"PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "3"}),
        Row("TMPDIR of 120 characters", variables={"TMPDIR": str(deep)}),
        Row("TMPDIR that is not there", variables={"TMPDIR": str(home / "nowhere")}),
        Row("spaces and letters in the path", root="a bök of 3 ∞s/clone", variables={"LC_ALL": "C"}),
        Row("checkpoints of Jupyter", before=_checkpoints),
        Row("no git", variables={"PATH": "/nonexistent"}),
        Row("another user's clone", before=_git, variables={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}),
        Row("in a subfolder", shell='cd notebooks; exec "$@"'),
        Row("a terminal that is gone", shell='exec "$@" < /dev/null', variables={"TERM": "dumb"}),
        Row("stamps cut short", before=_cut),
        Row("sources that cannot be written", shell=_bits("-R", "src notebooks data book")),
    ]
    stopped = [
        Row(f"{number.name} {when.__name__.lstrip('_').replace('_', ' ')}", line, during=partial(_kill, number, when))
        for number, line in [
            (signal.SIGKILL, ""), (signal.SIGHUP, ""),
            (signal.SIGTERM, "stopped by SIGTERM"), (signal.SIGINT, "stopped by SIGINT"),
        ]
        for when in (_at_once, _in_a_chapter, _in_the_last_chapter, _in_the_site)
    ]  # fmt: skip
    stopped.append(
        Row(
            "SIGTERM, one chapter at a time", "stopped by SIGTERM", shell='exec "$@" -j 1',
            during=partial(_kill, signal.SIGTERM, _in_a_chapter),
        )
    )  # fmt: skip
    refused = [
        Row(
            "_build is a file",
            "File exists: .*_build|Not a directory: .*_build",
            before=lambda root: (root / "_build").touch(),
        ),
        Row("a folder that cannot be written", "Permission denied: .*_build", shell=_bits("", ".")),
        Row("two builds at once", r"_build: process \d+ is building here", shell=TWICE),
        Row("_build deleted meanwhile", "deleted meanwhile|No such file or directory: .*_build", during=_delete),
        Row("a worker killed", killed, during=partial(_child, "loky", _in_a_chapter)),
        Row(
            "a kernel killed",
            "02-second: DeadKernelError: Kernel died",
            variables={"MINI_SLEEP": "60"},
            during=partial(_child, "ipykernel", _in_the_second_chapter),
        ),
        Row("files of 64 kB at most", "File too large", shell='ulimit -f 64; exec "$@"'),
        Row("16 open files", "Too many open files", shell='ulimit -n 16; exec "$@"'),
        Row("_build cannot be written", "Read-only file system", shell=_disk("size=1g,ro", "remount,rw")),
        *(
            Row(f"a disk of {size}", "No space left on device", shell=_disk(f"size={size}", "remount,size=1g"))
            for size in ("4k", "64k", "400k", "1m", "4m", "7m")
        ),
    ]
    return [*same, *stopped, *refused]


def _book(root: Path) -> Path:
    """The small book, with a figure that is drawn and a kernel that is compiled."""
    make_book(root)
    path = root / "notebooks/01-first.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(DRAW, id="drawn"))
    nbformat.write(notebook, path)
    return root


def _good(root: Path) -> None:
    """A build that nothing disturbs."""
    if (root / "_build").is_file():
        (root / "_build").unlink()
    subprocess.run(BUILD, cwd=root, check=True, stdout=subprocess.DEVNULL)


def _try(row: Row, root: Path, reference: Path) -> tuple[str, str]:
    """How the build ended, and what is wrong with that: nothing, if it is as the row says."""
    row.before(root)
    variables = os.environ | {"FAULTS": str(root)} | {k: v for k, v in row.variables.items() if v is not None}
    for name in (name for name, value in row.variables.items() if value is None):
        del variables[name]
    sandbox = ["unshare", "-rm"] if "mount" in row.shell else []
    process = subprocess.Popen(
        [*sandbox, "/bin/sh", "-c", row.shell, "sh", *BUILD], cwd=root, env=variables, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    row.during(root, process)
    said = process.communicate()[1].splitlines()
    result = said[-1] if said else f"exit {process.returncode}"
    if row.line is None:
        if process.returncode or said:
            return result, f"exit {process.returncode}: {said}"
        if differ := _differs(root, reference):
            return result, differ
        return "same bytes", ""
    if row.line and not (process.returncode == 1 and len(said) == 1 and re.search(row.line, said[0])):
        return result, f"exit {process.returncode}, not one line with {row.line!r}: {said}"
    if alive := _alive(root):
        return result, f"still runs: {alive}"
    _good(root)
    return result, _differs(root, reference)


def _differs(root: Path, reference: Path) -> str:
    """What of the products is not as in the undisturbed build."""
    for name in ("html", "figures", "executed"):
        folders = root / "_build" / name, reference / "_build" / name
        for folder in folders:
            for stamp in folder.glob("*/*.json") if name == "executed" else ():
                stamp.write_text(re.sub(r'"seconds": .*', "", stamp.read_text()))
        if not same_tree(*folders):
            return f"{name}: other bytes"
    for name in ("records.json", "SHA256SUMS"):
        if (root / "_build" / name).read_bytes() != (reference / "_build" / name).read_bytes():
            return f"{name}: other bytes"
    return ""


def _alive(root: Path) -> str:
    """A process that still works on the book five seconds later."""
    for _ in range(50):
        found = [line for line in _processes() if str(root) in line[1]]
        if not found:
            return ""
        time.sleep(0.1)
    return str(found)


def _processes() -> list[tuple[int, str]]:
    """Processes of this user, each with its command and what it was told about the book."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            told = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ") + (folder / "comm").read_bytes().strip()
        except OSError:
            continue
        root = next((entry for entry in told if entry.startswith(b"FAULTS=")), b"")
        found.append((int(folder.name), os.fsdecode(command + b" " + root)))
    return found


def _settings(home: Path) -> Path:
    """A home whose settings would change every chapter."""
    kernel = '{"argv": ["/bin/false"], "display_name": "x", "language": "python"}'
    files = {
        "start.py": "import sys; print('hello from home', file=sys.stderr)",
        "matplotlib/matplotlibrc": "lines.linewidth: 9",
        ".config/matplotlib/matplotlibrc": "lines.linewidth: 9",
        ".ipython/profile_default/startup/start.py": "import sys; print('hello from home', file=sys.stderr)",
        ".ipython/profile_default/ipython_config.py": "c.InteractiveShell.ast_node_interactivity = 'all'",
        ".local/share/jupyter/kernels/python3/kernel.json": kernel,
        "jupyter/kernels/python3/kernel.json": kernel,
    }
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    return home


def _checkpoints(root: Path) -> None:
    for name in ("notebooks", "src/dprank", "book", "data/surveys"):
        (root / name / ".ipynb_checkpoints").mkdir()
        (root / name / ".ipynb_checkpoints" / "01-first-checkpoint.ipynb").write_text("{")


def _git(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)


def _cut(root: Path) -> None:
    folder = root / "_build/executed/standard"
    folder.mkdir(parents=True)
    for name in ("01-first", "02-second"):
        (folder / f"{name}.json").write_text("")
        (folder / f"{name}.ipynb").write_text('{"cells": [')


def _wait(ready: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    while not ready() and (process is None or process.poll() is None):
        time.sleep(0.02)


def _at_once(root: Path) -> bool:
    return (root / "_build/lock").exists()


def _in_a_chapter(root: Path) -> bool:
    return any("ipykernel" in line and str(root) in line for _, line in _processes())


def _in_the_second_chapter(root: Path) -> bool:
    if done := (root / "_build/executed/standard/01-first.json").exists():
        time.sleep(3)  # its kernel ends, and the other's cell has begun
    return done


def _in_the_last_chapter(root: Path) -> bool:
    return (root / "_build/records.json").exists() and _in_a_chapter(root)


def _in_the_site(root: Path) -> bool:
    return any((root / "_build/tmp").glob("*/_build/html/_static/*"))


def _kill(number: signal.Signals, when: Callable[[Path], bool], root: Path, process: subprocess.Popen[str]) -> None:
    """As a terminal does for SIGINT and SIGHUP, to all of the group; the others to the build alone."""
    _wait(lambda: when(root), process)
    if number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)


def _child(kind: str, when: Callable[[Path], bool], root: Path, process: subprocess.Popen[str]) -> None:
    _wait(lambda: when(root), process)
    for pid, line in _processes():
        if kind in line and "tracker" not in line and str(root) in line:
            os.kill(pid, signal.SIGKILL)


def _delete(root: Path, process: subprocess.Popen[str]) -> None:
    _wait(lambda: _in_the_site(root), process)
    shutil.rmtree(root / "_build", ignore_errors=True)


def _bits(how: str, names: str) -> str:
    """With files that nobody may write; root too is held to that."""
    drop = "setpriv --bounding-set=-all" if os.getuid() == 0 else ""
    return f'chmod {how} a-w {names}; {drop} "$@"; code=$?; chmod {how} u+w {names}; exit $code'


def _disk(options: str, better: str) -> str:
    """On a disk of its own: the build, the disk made well, a good build, whose products are brought out."""
    return (
        f'mkdir -p _build _out; mount -t tmpfs -o {options} x _build; "$@"; code=$?; mount -o {better} _build;'
        '"$@" 2> /dev/null; cp -a _build/. _out; umount _build; rmdir _build; mv _out _build; exit $code'
    )


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
