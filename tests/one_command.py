"""One command of `dprank` in this process, and whether it ended as a command may."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sqlite3
import sys
import tomllib
import traceback
import warnings
from pathlib import Path
from typing import Any

import odd_tables
from fuzz import Broken

import dprank
import dprank.cli
from dprank.publication import read_publication

SRC = Path(dprank.__file__).parent
#: What is said beside an answer, on standard error.
NOTES = re.compile(r"dprank: (items: those that .* are taken as public|(?:epsilon|delta) = \S+ is above .*|mind: .*)")


class Refused(Exception):
    """A command did not do what it was asked, as it should."""


def said_by(words: list[str]) -> tuple[Any, str, str, BaseException | None]:
    """Exit code or what was raised, standard output, standard error, and what was refused."""
    out, err, caught = io.StringIO(), io.StringIO(), list[BaseException | None]()
    usual = dprank.cli._refuse

    def refuse(said: str, code: int) -> Any:
        caught.append(sys.exc_info()[1])
        usual(said, code)

    code: Any = None
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        dprank.cli._refuse = refuse
        try:
            dprank.cli.main(words)
        except SystemExit as end:
            code = end.code or 0
        except Exception as error:
            code = error
        finally:
            dprank.cli._refuse = usual
    return code, out.getvalue(), err.getvalue(), caught[-1] if caught else None


def ours(error: BaseException) -> bool:
    """Whether the house said it: raised by its own hand, or by the system or the parser of flags in words of theirs.

    What it says again of another error is that one's; of a plan it says again where the reader of TOML stopped, and of
    a query what its database says of it before any row is read.
    """
    inner = error.__context__
    if isinstance(inner, sqlite3.Error) and str(error).startswith("sql: "):
        return True
    if inner is not None and len(str(inner)) > 8 and " ".join(str(inner).split()) in " ".join(str(error).split()):
        return ours(inner)
    if (
        isinstance(error, tomllib.TOMLDecodeError)
        or hasattr(error, "format_message")
        or (isinstance(error, OSError) and error.errno is not None)
    ):
        return True
    last = traceback.extract_tb(error.__traceback__, limit=-1)[0]
    return Path(last.filename).is_relative_to(SRC) and (last.line or "raise").startswith("raise")


def entries(kept: Path) -> int:
    """How many entries a budget has; -1 where it is none."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{kept}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT COUNT(*) FROM entries").fetchone()[0])
    except (sqlite3.Error, UnicodeError):  # of bytes that are no text, sqlite says so in them
        return -1


def told(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark in text.casefold() for mark in marks)


def run(words: list[str], folder: Path, *, secret: bool = False, code_1: bool = False) -> str:
    """What a command says; `Refused` where it refuses as it should, `Broken` where it does not."""
    out = Path(words[words.index("--out") + 1]) if "--out" in words[:-1] else None
    kept = Path(words[words.index("--budget") + 1]) if "--budget" in words[:-1] else None
    there = out is not None and os.path.lexists(out)
    before = {path.name for path in folder.iterdir()}
    spent = entries(kept) if kept and kept.is_relative_to(folder) else -1
    code, said, error, cause = said_by(words)
    if isinstance(code, Exception):
        raise code
    if code not in ((0, 1, 2, 3) if code_1 else (0, 2, 3)):
        raise Broken(f"ended with {code}: {error[:300]}")
    lines = [line for line in error.splitlines() if not NOTES.fullmatch(line)]
    marks = (*odd_tables.PERSONS, odd_tables.CELL)
    heard = error
    for word in words:  # whoever typed it may read it again
        heard = heard.replace(word, "") if told(word, marks) else heard
    if told(heard, marks) or (not secret and told(said, marks)):
        raise Broken(f"tells of a person: {error[:300]}")
    if secret and told(said, odd_tables.PERSONS) and words[0] != "check":
        raise Broken(f"tells who a person is: {words}")
    left = {path.name for path in folder.iterdir()} - before
    if half := [name for name in left if name.startswith(".") or name.endswith(("-journal", "-wal", "-shm"))]:
        raise Broken(f"left behind: {half}")
    if list((folder / "tmp").iterdir()):
        raise Broken("left behind in the folder for what is temporary")
    paid = spent >= 0 and kept is not None and entries(kept) - spent
    if code in (2, 3):
        if len(lines) != 1 or not lines[0].startswith("dprank: ") or not lines[0].removeprefix("dprank: ").strip():
            raise Broken(f"refused in {len(lines)} lines: {error[:300]!r}")
        if cause is not None and not ours(cause):
            raise Broken(f"refused in words of others: {error[:300]!r}") from cause
        if paid:
            raise Broken(f"spent, and refused: {error[:300]!r}")
        looked = words[0] == "check" and "not for publication" in said  # what answers are, to its keeper
        if (said and not looked) or (out is not None and not there and out.exists()):
            raise Broken(f"refused, and wrote all the same: {error[:300]!r}, {said[:200]!r}")
        raise Refused(lines[0])
    if lines:
        raise Broken(f"done, and complained: {error[:300]!r}")
    if words[0] == "release" and kept is not None and spent >= 0 and "--rehearse" not in words and paid != 1:
        raise Broken(f"released, and spent {paid} entries")
    if words[0] == "release" and out is not None and out.is_file():
        read_publication(out.read_text(encoding="utf-8"))
    if "--json" in words and words[0] != "report":
        json.loads(said)
    return said


def unnamed(said: str) -> None:
    """Not even its keeper is told who is in a table whose cells stand where they should."""
    if told(said, odd_tables.PERSONS):
        raise Broken(f"check says who is there: {said[:500]!r}")
