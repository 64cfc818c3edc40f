"""The command line in a notebook: what one types, and what `dprank` says to it, in a folder that has the staff survey.

A release draws the operating system's randomness, which no build could repeat. Here a named stream stands in its place:
the same command, the same path; and every release says of itself that it is not for publication.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import dprank.privacy.budget  # noqa: F401  (which draws, too)
from companion.instruments.sweep import stream
from dprank.cli import main
from dprank.cli.manual import typed
from dprank.data.examples import example
from dprank.privacy import noise

#: Columns of the terminal.
WIDTH = 80
#: What a build would not repeat, and what stands in its place.
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
IDENTIFIER = re.compile(r"\b(id (?:is )?)[0-9a-f]{32}\b")

READ = "--comparisons left,right,answer --map left=1,right=0,equal=0.5 --person person"
TOPICS = '--items "Pay,Hours,Training,Leave,Equipment,Canteen"'
ALIASES = "--alias traning=training --alias cantine=canteen --alias equipement=equipment"
RANK = "dprank release ranking staff.csv --plan plan.toml"
#: What the list of topics alone allows.
RULES = "--clean nfkc,strip,spaces,casefold --before-looking nfkc,strip,spaces,casefold"


def steps(epsilon: float = 1.0, people: int = 400) -> dict[str, str]:
    """What the chapter types, in this order: a budget of two releases, and a third of the size of one and a half."""
    many = f"--persons {people}"
    return {
        "careless": f"dprank check staff.csv {READ}",
        "look": f"dprank check staff.csv {READ} {TOPICS}",
        "declare": f"dprank check staff.csv {READ} {TOPICS} {RULES} {ALIASES} --out plan.toml",
        "no epsilon": f"{RANK} --protect person --answers 15",
        "plan": f"dprank plan ranking --plan plan.toml {many} --epsilon {epsilon:g} --answers 1,3,5,8,15 "
        "--out plan.toml",
        "budget": f"dprank budget budget.sqlite --epsilon {2 * epsilon:g}",
        "rehearse": f"{RANK} {many} --rehearse",
        "release": f"{RANK} {many} --budget budget.sqlite --out release.json",
        "verify": "dprank verify release.json --budget budget.sqlite",
        "audit": "dprank audit release.json",
        "page": "dprank report release.json",
        "report": "dprank report release.json --html",
        "again": f"{RANK} {many} --epsilon {1.5 * epsilon:g} --budget budget.sqlite",
        "spent": "dprank budget budget.sqlite",
    }


def folder() -> Path:
    """Where the commands of this process are typed: the survey lies there from the start."""
    global _folder
    if _folder is None:
        opened = tempfile.TemporaryDirectory(prefix="dprank-")
        atexit.register(opened.cleanup)
        _folder = Path(opened.name)
        (_folder / "staff.csv").write_bytes(example("staff.csv").read_bytes())
    return _folder


_folder: Path | None = None


@dataclass(frozen=True)
class Session:
    """A command with all that it said, and its exit code; shown as on a terminal."""

    command: str
    said: str
    code: int

    def part(self, first: int, then: str | None = None, last: int = 0) -> Session:
        """The first lines, a line of dots, and so many lines from the one that begins with `then`."""
        lines = self.said.rstrip().splitlines()
        at = next((at for at, line in enumerate(lines) if then and line.startswith(then)), len(lines))
        rest = lines[at : at + last]
        return Session(self.command, "\n".join([*lines[:first], "…", *rest]), self.code)

    def _repr_html_(self) -> str:
        lines = self.said.rstrip().splitlines()
        entered = "$ " + "\n  ".join(typed(self.command, 70))
        ends = [f"[exit code {self.code}]"] if self.code else []
        body = "".join(f'<span class="{_kind(line)}">{escape(line)}\n</span>' for line in [*lines, *ends])
        return (
            '<div class="terminal highlight" tabindex="0" role="group" aria-label="command and what it says">'
            f"<pre><b>{escape(entered)}\n</b>{body}</pre></div>"
        )


def _kind(line: str) -> str:
    """Whether a line is part of a table, which is not broken."""
    return "drawn" if re.search(r"[─━│┃]|\S {2,}\S", line) else "said"


@contextlib.contextmanager
def seeded(name: str, draw: int = 1) -> Iterator[None]:
    """A named stream in the place of the operating system's randomness, wherever the library has taken it in.

    There is one for each `draw`, whole numbers from 1.
    """
    cell: dict[str, Any] = {"command": name} | ({"draw": draw} if draw > 1 else {})
    rng, fresh = stream("release your own", cell), np.random.default_rng

    def generator(seed: Any = None) -> np.random.Generator:
        return rng if seed is None else fresh(seed)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch("numpy.random.default_rng", generator))
        for module in [it for key, it in sys.modules.items() if key.partition(".")[0] == "dprank"]:
            if vars(module).get("SECURE") is noise.SECURE and module is not noise:
                stack.enter_context(mock.patch.object(module, "SECURE", rng))
        yield


def run(command: str, draw: int = 1) -> Session:
    """Type a command."""
    words = shlex.split(command)
    if words[0] != "dprank":
        raise ValueError(f"command = {words[0]!r}; dprank is needed")
    said, code = io.StringIO(), 0
    plain = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    with (
        warnings.catch_warnings(),
        contextlib.chdir(folder()),
        mock.patch.dict(os.environ, plain),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        seeded(command, draw),
    ):
        try:
            main(words[1:])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    text = repeatable(said.getvalue()).replace(f"{folder()}{os.sep}", "")
    if "drawn by the operating system" in text:
        raise RuntimeError(f"{command}: drawn by the operating system, which no build repeats")
    return Session(command, "\n".join(line.rstrip() for line in text.splitlines()), code)


def repeatable(text: str) -> str:
    """What was said without the day, and without what a receipt makes of it."""
    return IDENTIFIER.sub(rf"\1{'·' * 32}", DAY.sub("20··-··-··", text))


def walk(epsilon: float = 1.0, people: int = 400, draw: int = 1) -> dict[str, Session]:
    """All commands of the chapter, one after the other, by name; and what ``declare wrote`` and ``plan wrote``."""
    told = {}
    for name, command in steps(epsilon, people).items():
        told[name] = run(command, draw)
        if name in ("declare", "plan"):
            told[f"{name} wrote"] = Session("cat plan.toml", (folder() / "plan.toml").read_text(encoding="utf-8"), 0)
    return told
