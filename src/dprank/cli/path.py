"""The command line as a mechanism: what an auditor sees of it, and small files that betray a careless one."""

from __future__ import annotations

import hashlib
import io
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprank.audit.routes import Replay
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import SECURE
from dprank.publication import identifier, is_said

__all__ = ["PATHS", "CommandLine", "Said", "said"]

#: What stands for the file among the words of a command.
FILE = "{}"
#: That is published unless another is: midnight tells of nobody.
DAY = "2026-11-25"


@dataclass(frozen=True)
class Said:
    """What a command did.

    Parameters
    ----------
    code : int
        Exit code.
    out, error : str
        What it wrote.
    """

    code: int
    out: str
    error: str


def said(*words: str | Path) -> Said:
    """Run a command in this process, as if it were typed.

    Parameters
    ----------
    *words : str or path
        After `dprank`.

    Examples
    --------
    >>> said("release", "nothing").code
    2
    """
    from dprank.cli import main

    out, error, code = io.StringIO(), io.StringIO(), 0
    with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(error):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception as fault:  # a shell would print it
            code = 1
            print(f"{type(fault).__name__}: {fault}", file=error)
    return Said(code, out.getvalue(), error.getvalue())


@dataclass(frozen=True)
class CommandLine:
    """One command with its words, whose data are files and whose release is all that comes back.

    Parameters
    ----------
    words : sequence of str
        After `dprank`, with ``{}`` for the file.
    items : sequence of str
        Public names: where one of them comes out it is a number.
    folder : path
        Of the run, empty.
    suffix : str
        Of the file's name.

    Notes
    -----
    A release is the exit code, a number for all that is written but the numbers of the answer (messages, names, what
    stands in the published file, which must be what was printed), and the numbers of the answer. Data are the bytes of
    a file, which has one name whatever is in it.

    Examples
    --------
    >>> import tempfile
    >>> import dprank
    >>> words = ["release", "consensus", "{}", "--items", "ash,elm", "--epsilon", "1"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     line = CommandLine(words, ["ash", "elm"], Path(folder))
    ...     seen = line.release(b"ash,elm\\n1,2\\n", dprank.SECURE)
    ...     print(line.guarantee, seen.shape, int(seen[0]))
    epsilon = 1 (central; replace one voter) (10,) 0
    """

    words: Sequence[str]
    items: Sequence[str]
    folder: Path
    suffix: str = ".csv"

    @property
    def guarantee(self) -> Guarantee:
        """What the command promises, as it says where it reads no data."""
        return Guarantee(**self.rehearsed["guarantee"])

    @property
    def rehearsed(self) -> Any:
        """What a rehearsal publishes, which reads no data."""
        done = self.run(b"", "--rehearse")
        if done.code:
            raise ValueError(f"the command refuses to rehearse: {done.error.strip()}")
        return json.loads(done.out)

    def run(self, data: bytes, *more: str) -> Said:
        """The command on a file with these bytes."""
        file = self.folder / f"data{self.suffix}"
        if not file.exists() or file.read_bytes() != data:
            file.write_bytes(data)
        named = [str(file) if word == FILE else word for word in self.words]
        return said(*named, *["--day", DAY] * ("--day" not in named), "--json", *more)

    def release(self, data: bytes, rng: Any) -> NDArray[np.float64]:
        """All that comes back of one run, as numbers.

        Parameters
        ----------
        data : bytes
            Of the file.
        rng : object
            Not used, as the command draws from the operating system; but for a `dprank.audit.routes.Replay`, which
            draws in its place. What is made so says that it is not for publication.
        """
        published = self.folder / "published.json"
        published.unlink(missing_ok=True)
        with _drawn_by(rng):
            done = self.run(data, "--out", str(published))
        written = published.read_text(encoding="utf-8") if published.exists() else ""
        rest, numbers = self._parted(done.out)
        rest += [done.error, "same" if written == done.out else written]
        numbers, beyond = numbers[: self.width], numbers[self.width :]
        number = int.from_bytes(hashlib.sha256(json.dumps([rest, beyond]).encode()).digest()[:6], "big")
        missing = [np.nan] * (self.width - len(numbers))
        return np.array([done.code, number, *numbers, *missing], float)

    @cached_property
    def width(self) -> int:
        """Numbers of an answer, as a rehearsal shows; what there are more are told apart by the rest."""
        return len(self._parted(json.dumps(self.rehearsed))[1])

    def _parted(self, out: str) -> tuple[list[str], list[float]]:
        """The words of what was printed, and the numbers of the answer, and of ranges that follow from it."""
        numbers: list[float] = []
        try:
            file = json.loads(out)
            words: list[Any] = ["of all else" if file.pop("id") == identifier(json.loads(out)) else "id"]
            words.append("of the answer" if is_said(out) else file["says"])
            file.pop("says")
            answer, items = file.pop("answer"), file["items"]
            rows = answer if isinstance(answer, list) else [answer]
            if file["kind"] == "Ranking":  # by item, as declared: which one is where, places say
                words.append([row["place"] for row in rows])
                rows = sorted(rows, key=lambda row: items.index(row.pop("item")))
            # the scores first, then what follows from them
            keys = ["score", *sorted({key for row in rows for key in row} - {"score"})]
            words += [[key, [self._taken(row.get(key), numbers) for row in rows]] for key in keys]
            words += [self._taken(file.pop(key), numbers) for key in ("margins", "right")]
        except (ValueError, KeyError, TypeError, AttributeError):
            return [out], []
        return [json.dumps([file, words])], numbers

    def _taken(self, value: Any, numbers: list[float]) -> Any:
        """What is left of a value when its numbers are put aside."""
        if isinstance(value, dict):
            return {key: self._taken(it, numbers) for key, it in value.items()}
        if isinstance(value, list):
            return [self._taken(it, numbers) for it in value]
        if isinstance(value, str) and value in self.items:
            value = list(self.items).index(value)
        if isinstance(value, int | float):
            numbers.append(float(value))
            return "#"
        return value


@contextmanager
def _drawn_by(rng: Any) -> Iterator[None]:
    """Commands draw from a replay: as by any generator, what they make is marked as not for publication."""
    if not isinstance(rng, Replay):
        yield
        return
    drawing: list[Any] = [import_module(f"dprank.cli.{name}") for name in ("drawing", "taken")]
    for module in drawing:
        module.SECURE = rng
    try:
        yield
    finally:
        for module in drawing:
            module.SECURE = SECURE


@dataclass(frozen=True)
class Neighbours:
    """A command and pairs of files that differ in one person.

    Parameters
    ----------
    name : str
        Of the question, and of what is protected where there is a choice.
    words : sequence of str
        After `dprank`, with ``{}`` for the file, all but the epsilon.
    items : sequence of str
    pairs : dict of str to (bytes, bytes)
        What the one person does, and the two files.
    """

    name: str
    words: Sequence[str]
    items: Sequence[str]
    pairs: Mapping[str, tuple[bytes, bytes]]

    def line(self, epsilon: float, folder: Path) -> CommandLine:
        """The command at this epsilon, in an empty folder."""
        return CommandLine([*self.words, "--epsilon", str(epsilon)], self.items, folder)


def _files(head: str, rest: str, persons: Mapping[str, tuple[str, str]]) -> dict[str, tuple[bytes, bytes]]:
    """A header, everybody else's rows, and those of one person in either file; rows are parted by semicolons."""

    def written(*rows: str) -> bytes:
        return "".join(f"{row}\n" for row in ";".join([head, *rows]).split(";") if row).encode()

    made = {name: (written(rest, one), written(rest, other)) for name, (one, other) in persons.items()}
    alone = next(iter(persons.values()))[0].split(";")[0]
    return made | {"alone, or nobody at all": (written(alone), written())}


def _ways(rows: str) -> str:
    """Of one person, whose name is written in eight ways."""
    names = ("ann", "Ann", "ANN", " ann", "ann ", "aNN", "a\u200bnn", "\uff41nn")
    return ";".join(rows.replace("ann", name) for name in names)


def _named(command: str) -> list[str]:
    return f"release {command} --items ash,elm,fir --clean strip,casefold".split()


_ITEMS = ("ash", "elm", "fir")
_LOVED = "ann,ash,elm,1;ann,ash,fir,1"
_HATED = "ann,ash,elm,0;ann,ash,fir,0"
_UNSURE = "ann,ash,elm,perhaps;ann,ash,fir,"
#: Twenty people write something else; another one decides whether most of the others chose ash or elm.
_MISSPELT = ";".join(f"{who},ahs" for who in range(20))

_BALLOTS = _files(
    "person,ash,elm,fir",
    "bob,1,2,3;cy,2,1,3;dan,3,2,1",
    {
        "loves, or hates": ("ann,1,2,3", "ann,3,2,1"),
        "a ballot again and again": (";".join(["ann,1,2,3"] * 20), "ann,3,2,1"),
        "written in eight ways, or one": (_ways("ann,1,2,3"), "ann,3,2,1"),
        "no ballot, or one": ("ann,1,1,9", "ann,3,2,1"),
        "no person, or one": (" ,1,2,3", "ann,3,2,1"),
        "words for places": ("ann,first,second,third", "ann,3,2,1"),
    },
)

_PATHS = (
    Neighbours(
        "ranking",
        _named(
            f"ranking {FILE} --comparisons first,second,answer --map outcome --person person --protect person "
            "--answers 2"
        ),
        _ITEMS,
        _files(
            "person,first,second,answer",
            "bob,ash,elm,1;cy,elm,fir,0",
            {
                "loves, or hates": (_LOVED, _HATED),
                "many rows, or none": (";".join([_LOVED, "ann,elm,fir,1"] * 20), ""),
                "written in eight ways, or one": (_ways(_LOVED), _HATED),
                "items misspelt, or not": (_LOVED.replace("ash", "ahs"), _HATED),
                "an item of their own": (f"{_LOVED};ann,yew,ash,1", _HATED),
                "no such answer": (_UNSURE, _HATED),
                "against itself, and twice the same": ("ann,ash,ash,1;ann,ash,elm,1;ann,elm,ash,0", _HATED),
            },
        ),
    ),
    Neighbours(
        "ranking, one answer",
        _named(f"ranking {FILE} --comparisons first,second,answer --map outcome --protect answer"),
        _ITEMS,
        _files(
            "first,second,answer",
            "ash,elm,1;elm,fir,0",
            {
                "for, or against": ("ash,elm,1", "ash,elm,0"),
                "another pair": ("ash,elm,1", "fir,elm,1"),
                "an item of its own": ("ash,yew,1", "ash,elm,0"),
                "against itself": ("ash,ash,1", "ash,elm,0"),
                "no such answer": ("ash,elm,perhaps", "ash,elm,0"),
            },
        ),
    ),
    Neighbours("consensus", _named(f"consensus {FILE} --person person"), _ITEMS, _BALLOTS),
    Neighbours("winner", _named(f"winner {FILE} --person person"), _ITEMS, _BALLOTS),
    Neighbours(
        "topk",
        _named(f"topk {FILE} --item what --person person --k 2 --per-person 1"),
        _ITEMS,
        _files(
            "person,what",
            f"bob,ash;cy,ash;cy,elm;dan,fir;eve,elm;{_MISSPELT}",
            {
                "there, or not": ("ann,ash", ""),
                "many rows, or none": (";".join(["ann,ash", "ann,elm"] * 10), ""),
                "written in eight ways, or none": (_ways("ann,ash"), ""),
                "items misspelt, or none": ("ann,ahs", ""),
                "an item of their own": ("ann,yew", ""),
                "no item": ("ann,", ""),
            },
        ),
    ),
    Neighbours(
        "agreement",
        _named(f"agreement {FILE} --person person --voters 4"),
        _ITEMS,
        _files(
            "person,ash,elm,fir",
            "bob,1,2,3;cy,1,2,3;dan,1,2,3",
            {
                "agrees, or not": ("ann,1,2,3", "ann,3,2,1"),
                "a ballot again and again": (";".join(["ann,1,2,3"] * 20), "ann,3,2,1"),
                "written in eight ways, or one": (_ways("ann,1,2,3"), "ann,3,2,1"),
                "no ballot, or one": ("ann,1,1,9", "ann,1,2,3"),
                "no person, or one": (" ,1,2,3", "ann,3,2,1"),
            },
        ),
    ),
)
#: By name: commands and neighbouring files; what is nasty is in the names of these.
PATHS = {it.name: it for it in _PATHS}
