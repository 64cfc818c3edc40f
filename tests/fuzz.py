"""Bytes that nobody meant, for every reader: a result, or a refusal in one line; soon, and in little memory.

python tests/fuzz.py --replay                        every file of tests/corpus through its reader, in seconds
python tests/fuzz.py --replay FOLDER/csv/FILE        one file, with what came of it
python tests/fuzz.py --seconds 60 --jobs 2           new ones, led by coverage, with atheris (`make fuzz`)
python tests/fuzz.py --structured 1000 --seed 1      well-formed and odd input, for every command (tests/structured.py)

What breaks a reader is kept in _build/fuzzed/broken, a file for each place in the code. What our code does wrong is
mended, and the file goes to tests/corpus. What crashes or hangs software of others is told to them, never committed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests/corpus"
FUZZED = ROOT / "_build/fuzzed"
#: Of one input, through all that reads it: seconds of processor, and bytes beyond what was held before.
SECONDS, BYTES = 2.0, 1 << 30
#: Seconds in which all is compiled that a reader calls.
PATIENCE = 100.0
#: Of one input: as long as the longest of the corpus, or a little longer.
LONGEST = 1 << 15


class Broken(Exception):
    """What a reader may not do."""


class TooLong(BaseException):
    """No reader catches it."""


def refusal(error: BaseException) -> bool:
    """Whether it is a refusal as everybody gets them: one line, and not empty."""
    if not isinstance(error, ValueError | OSError):
        return False
    if isinstance(error, UnicodeError | json.JSONDecodeError):  # which quote what they read
        return False
    said = str(error)
    return bool(said.strip()) and len(said.splitlines()) == 1


def each(*calls: Callable[[], Any]) -> None:
    """All of them, whatever the one before made of the input."""
    for call in calls:
        try:
            call()
        except Exception as error:
            if not refusal(error):
                raise


def peak(anew: bool = False) -> int:
    """Most bytes that this process held, on Linux since it was last asked `anew`; of the parent none are counted."""
    if sys.platform != "linux":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def limited(reader: Callable[[Path], Any], path: Path, seconds: float = SECONDS, most: int = BYTES) -> None:
    """One file through its reader; raises what a reader may not raise, and `Broken` beyond the limits."""

    def stop(*_: Any) -> None:
        raise TooLong

    before = peak(anew=True)
    earlier = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        each(lambda: reader(path))
    except TooLong:
        raise Broken(f"more than {seconds:g} s of processor time") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)
    if peak() - before > most:
        raise Broken(f"more than {most:,} bytes") from None


def readers() -> dict[str, Callable[[Path], Any]]:
    """By the name of their folder in tests/corpus: what reads such files, in every way that there is."""
    import numpy as np

    import dprank
    from dprank.cli.check import looked
    from dprank.cli.options import named
    from dprank.data.count_files import read_counts
    from dprank.data.declaration import declared_part, release_part
    from dprank.data.engines import count
    from dprank.data.forms import BALLOT_FILES, candidates_of, forms_like
    from dprank.data.noticed import raw_of
    from dprank.data.preflib import KINDS, read_alternatives
    from dprank.data.sniffing import sniff
    from dprank.publication import read_publication
    from dprank.registry import Facts, card
    from dprank.report import report

    items = ["oak", "elm", "fir"]
    partial = {"kind": "ballots", "items": items, "ballots": "partial", "unranked": "last"}
    counted = [
        dprank.Declaration(
            kind="comparisons", items=items, person="who", columns=["left", "right", "answer"], answers="outcome"
        ),
        dprank.Declaration(kind="tallies", items=items, person="who", columns=["item"], clean=["strip", "casefold"]),
    ]
    declared = [
        *counted,
        dprank.Declaration(kind="comparisons", items=items, form="wide", person="who", answers={"yes": 1, "no": 0}),
        dprank.Declaration(**partial, person="who", weight="weight", max_weight=9),
        dprank.Declaration(**partial, form="long", person="who", columns=["item", "place"], clean=["strip"]),
        dprank.Declaration(**partial, form="orders", columns=["vote"], repeated="none", person="who"),
        dprank.Declaration(kind="ballots", items=items, form="wide", ballots="full"),
    ]
    votes = [dprank.Declaration(**{**partial, "ballots": it, "unranked": to}, form="preflib")
             for it, to in (("full", None), ("tied", None), ("partial", "apart"), ("partial", "last"))]  # fmt: skip
    facts = Facts(name="a", curators=("b",), authors=("c",), use="d", region="e", day="2026-11-29")

    held = [dprank.Declaration(**partial, form=it.name) for it in BALLOT_FILES]

    def ballots(path: Path) -> None:
        """By every format: whatever it is, some take it for another."""
        each(
            lambda: forms_like(path),
            *(lambda it=it: candidates_of(path, it) for it in BALLOT_FILES),
            *(lambda it=it: it.read(path) for it in held),
        )

    def looks(it: dprank.Declaration, path: Path) -> None:
        looked(it.read(path), it, raw_of(it, path))

    def table(path: Path) -> None:
        """By all declarations whose columns may be there: others refuse its header."""
        raw = path.read_bytes().replace(b"\0", b"")
        there = [it for it in declared if all(name.encode() in raw for name in it.columns or it.items[:1])]
        each(
            lambda: sniff(path),
            *(lambda it=it: looks(it, path) for it in there),
            *(lambda it=it: count(path, it, per_person=1) for it in counted if it in there),
            lambda: dprank.read_comparisons(
                path, items=items, first="left", second="right", outcome="answer", voter="who"
            ),
            lambda: dprank.read_rankings(path, items=items, voter="who"),
            lambda: dprank.read_tallies(path, items=items, person="who", item="item"),
        )

    def preflib(path: Path) -> None:
        """Under the name that the file gives itself, for another is refused at once."""
        raw = path.read_bytes()
        kind = next((it for it in KINDS if f"DATA TYPE: {it}".encode() in raw), "toc")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / f"votes.{kind}"
            copy.write_bytes(raw)
            each(lambda: read_alternatives(copy), *(lambda it=it: looks(it, copy) for it in votes))

    def text(path: Path) -> str:
        return path.read_bytes().decode("utf-8", "replace")

    def release(path: Path) -> None:
        said = text(path)
        inner = said
        with suppress(ValueError, RecursionError):
            found = json.loads(said)
            inner = json.dumps(found["release"]) if isinstance(found, dict) and "release" in found else said
        each(
            lambda: dprank.Release.from_json(inner),
            lambda: read_publication(said),
            lambda: report(said, "markdown"),
            lambda: report(said, "html"),
            lambda: card(said, facts),
        )

    def plan(path: Path) -> None:
        each(
            lambda: declared_part(path),
            lambda: release_part(path),
            lambda: dprank.Declaration.from_toml(path).to_toml(),
        )

    def budget(path: Path) -> None:
        def books() -> None:
            kept = dprank.Budget(path)
            each(
                lambda: kept.limit,
                kept.entries,
                lambda: [(kept.spent(name), kept.remaining(name), kept.remaining_rho(name)) for name in ("a", "b")],
                lambda: kept.spend(dprank.Guarantee(0.1), dataset="a"),
            )

        each(books)

    rng = np.random.default_rng
    polls = [
        dprank.LocalMatrix.calibrated(epsilon=1.0, n_items=3),
        dprank.LocalBorda.calibrated(epsilon=1.0, n_items=3),
        dprank.LocalKwikSort.calibrated(epsilon=1.0, n_items=3),
    ]
    asked = dprank.LocalComparisons.calibrated(epsilon=1.0, n_items=3, per_person=3)
    most = dprank.LocalTopK.calibrated(epsilon=1.0, k=2, items=items, per_person=2)
    tests = [it.calibrated(epsilon=1.0, size=0.3, n_items=3) for it in (dprank.LocalPairs, dprank.LocalOneBit)]

    def sent(path: Path) -> None:
        """What devices sent: JSON, or else bytes as a table of small numbers."""
        raw = path.read_bytes()
        try:
            found = json.loads(raw)
        except (ValueError, RecursionError):
            found = np.frombuffer(raw[: len(raw) // 3 * 3], np.int8).reshape(-1, 3)
        each(
            *(lambda it=it: it.aggregate(found, rng(0), items=items) for it in polls if hasattr(it, "aggregate")),
            lambda: asked.aggregate(found, [[0, 1], [1, 2], [0, 2]], rng(0), items=items),
            lambda: most.aggregate(found, rng(0)),
            *(lambda it=it: it.decide(found) for it in tests),
        )

    return {
        "ballots": ballots,
        "budget": budget,
        "counts": lambda path: each(lambda: read_counts(path)),
        "csv": table,
        "items": lambda path: each(lambda: named(str(path))),
        "json": table,
        "parquet": lambda path: each(lambda: table(path), lambda: read_counts(path)),
        "plan": plan,
        "preflib": preflib,
        "release": release,
        "reports": sent,
    }


def quiet() -> None:
    """As at the command line, which shows no warning of others; and never more memory than this machine can spare."""
    warnings.simplefilter("ignore")
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def judged(reader: Callable[[Path], Any], path: Path, data: bytes) -> Exception | None:
    """What these bytes break in their reader; what is slow once, since something is compiled, breaks nothing."""

    def tried(seconds: float) -> Exception | None:
        for other in path.parent.iterdir():  # a journal would be another input
            other.unlink()
        path.write_bytes(data)
        try:
            limited(reader, path, seconds)
        except Exception as error:
            return error
        return None

    error = tried(SECONDS)
    return tried(SECONDS) if isinstance(error, Broken) and tried(PATIENCE) is None else error


def replay(paths: Iterable[Path], say: bool = False) -> int:
    """How many files break their reader; each is copied first, for a budget is written to."""
    quiet()
    found, broken, read = readers(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(paths):
            error = judged(found[path.parent.name], Path(folder) / path.name, path.read_bytes())
            if error is not None:
                broken += 1
                print(f"{path}: {type(error).__name__}", *traceback.format_tb(error.__traceback__)[-2:])
            elif say:
                print(f"{path}: nothing broken")
            read += 1
    print(f"{read} files, {broken} broken")
    return broken


def seeds() -> list[Path]:
    """Every file of the corpus."""
    return [path for folder in sorted(CORPUS.iterdir()) if folder.is_dir() for path in sorted(folder.iterdir())]


def fuzzed(name: str, reader: Callable[[Path], Any], arguments: list[str]) -> None:
    """One reader, by atheris, which ends the process."""
    import atheris

    quiet()
    path = Path(tempfile.mkdtemp()) / "input"
    # whatever it imports comes without a limit: a process may end if that is stopped midway
    for known in sorted((CORPUS / name).iterdir()):
        path.write_bytes(known.read_bytes())
        each(lambda: reader(path))
    places = set[str]()

    def one(data: bytes) -> None:
        error = judged(reader, path, data)
        if error is not None:
            frames = [it for it in traceback.extract_tb(error.__traceback__) if "/dprank/" in it.filename]
            place = f"{type(error).__name__} {frames[-1].name if frames else ''} {frames[-1].lineno if frames else 0}"
            if place not in places:
                places.add(place)
                kept = FUZZED / "broken" / name / hashlib.sha256(place.encode()).hexdigest()[:12]
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(data)
                print(f"BROKEN {place}: {kept}", *traceback.format_exception(error)[-4:], sep="\n", flush=True)

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def fuzz(names: list[str], seconds: int, jobs: int, seed: int = 0) -> int:
    """All readers, so many at once, each for its share of the time; how many broke, or ended otherwise.

    Each in a process forked from one that has imported and traced the library, which takes as long as many inputs.
    """
    import atheris

    # numba cannot compile what is traced
    kernels = [path for path in (ROOT / "src").rglob("*.py") if "njit(" in path.read_text(encoding="utf-8")]
    untraced = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in kernels]
    with atheris.instrument_imports(include=["dprank", "tomllib"], exclude=untraced):
        found = readers()
    rounds = -(-len(names) // jobs)
    share, waiting, running, bad = max(1, seconds // rounds), list(names), dict[int, str](), 0
    for name in names:
        for kind in ("grown", "ended"):
            (FUZZED / kind / name).mkdir(parents=True, exist_ok=True)
    while waiting or running:
        while waiting and len(running) < jobs:
            name = waiting.pop(0)
            if not (pid := os.fork()):
                log = os.open(FUZZED / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(log, 1)
                os.dup2(log, 2)
                limits = [f"-max_total_time={share}", f"-max_len={LONGEST}", "-timeout=60", "-rss_limit_mb=4096"]
                places = [
                    f"-artifact_prefix={FUZZED / 'ended' / name}/",
                    str(FUZZED / "grown" / name),
                    str(CORPUS / name),
                ]
                fuzzed(name, found[name], [*limits, f"-seed={seed}", "-print_final_stats=1", *places])
                os._exit(1)
            running[pid] = name
        pid, status = os.wait()
        name, code = running.pop(pid), os.waitstatus_to_exitcode(status)
        lines = (FUZZED / f"{name}.log").read_text(encoding="utf-8", errors="replace").splitlines()
        runs = next((it.split()[-1] for it in lines if "number_of_executed_units" in it), "?")
        broke = [it for it in lines if it.startswith("BROKEN ")]
        bad += len(broke) + (code != 0)
        print(f"{name}: {runs} inputs, {len(broke)} broken, ended with {code}", *broke, sep="\n  ", flush=True)
        if code:  # without the bytes: they may break software of others
            print(*(it for it in lines if it.startswith(("==", "SUMMARY", "    #", "  File"))), sep="\n", flush=True)
    return bad


def main() -> None:
    """What the first lines of this file say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replay", nargs="*", metavar="FILE", help="all of tests/corpus where none is named")
    parser.add_argument("--seconds", type=int, help="of all readers together; 60, or none where --structured is said")
    parser.add_argument("--jobs", type=int, default=1, help="readers at once")
    parser.add_argument("--seed", type=int, default=0, help="of what is tried; 0 for another each time")
    parser.add_argument("--reader", action="append", help="one of them alone; repeat it")
    parser.add_argument(
        "--structured", type=int, metavar="N", help="so many well-formed and odd inputs of all commands"
    )
    parser.add_argument("--first", type=int, default=0, help="of them, the number that begins")
    given = parser.parse_args()
    if given.replay is not None:
        paths = [Path(it) for it in given.replay]
        sys.exit(1 if replay(paths or seeds(), bool(paths)) else 0)
    bad = 0
    if given.structured and given.seconds:  # in a process of its own: atheris traces what it imports itself
        alone = ["--structured", str(given.structured), "--seed", str(given.seed), "--first", str(given.first)]
        bad = subprocess.run([sys.executable, __file__, *alone], check=False).returncode
    elif given.structured:
        sys.path.append(str(ROOT / "tests/dprank"))
        from structured import structured

        sys.exit(1 if structured(given.structured, given.seed or int.from_bytes(os.urandom(4)), given.first) else 0)
    seconds = 60 if given.seconds is None else given.seconds
    names = given.reader or sorted({it.parent.name for it in seeds()})
    sys.exit(1 if fuzz(names, seconds, given.jobs, given.seed) + bad else 0)


if __name__ == "__main__":
    main()
