"""Another kind of processor: tests that compare numbers, and the book in smoke, on an emulated arm64.

    make arm64                        # root on Debian with debootstrap and qemu-user-static; an hour of one processor
    make arm64 ARGS="--minutes 20"

Debian for arm64, with the lock's wheels for it, is laid once in `_build/arm64` and used again; only Python runs
emulated. Tests run first, for a third of the time at most, then small cells of the arena, for a tenth, then chapters,
those that settle most claims a second first, until the time is up; chapters that ran are kept. The row of
`book/reproduce.md` goes to `_build/processors/arm64.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "_build" / "arm64"
#: Where packages and the project lie in the root of arm64.
PROJECT, PACKAGES = "/project", "usr/local/lib/{}/dist-packages"
#: What QEMU emulates, and what numba, which cannot see it, compiles for.
CPU = "neoverse-n1"
BINFMT = Path("/proc/sys/fs/binfmt_misc")
# how an ELF file of 64 bits, little endian, of machine 183 begins; the mask lets the system's ABI and the type vary
MAGIC = rb"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
MASK = rb"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
MOUNTS = """
mount -t proc proc "$0/proc"; mount --rbind /sys "$0/sys"
mount --rbind /dev "$0/dev"; mount -t tmpfs tmpfs "$0/dev/shm"
exec chroot "$0" /usr/bin/env -i -C "$@"
"""
VARIABLES = {
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "NUMBA_CPU_NAME": CPU,
    "OPENBLAS_NUM_THREADS": "1",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "QEMU_CPU": CPU,
}
#: Seconds of a chapter that nobody has measured.
UNKNOWN = 30
#: People times items of a small cell of the arena.
SMALL = 10_000
#: Tests that compare numbers, those of the kernels first.
TESTS = (
    "models", "audit/test_floats.py", "audit/test_cuts.py", "uniformity", "aggregation", "pairwise", "topk", "privacy",
    "data", "audit", "plan",
)  # fmt: skip


def missing(root: bool, machine: str, found: Mapping[str, str | None]) -> str:
    """What this machine lacks, in one line; empty if it lacks nothing."""
    if machine == "aarch64":
        return "this is arm64: `make book`, `make verify` and `make test` run on it as they are"
    lacks = [name for name, path in found.items() if not path]
    if not root or lacks:
        return (
            "emulated by root on Debian: "
            f"{'' if root else 'run it as root'}{'' if root or not lacks else '; '}"
            f"{'apt-get install ' + ' '.join(lacks) if lacks else ''}"
        )
    return ""


def mirror(lists: Mapping[str, str], release: str) -> str:
    """Where this machine's apt takes its release of Debian from, by its lists of sources."""
    for name, text in sorted(lists.items()):
        if name.endswith(".sources"):
            for stanza in re.split(r"\n\s*\n", text):
                fields = dict(re.findall(r"^(\w+):[ \t]*(\S.*)$", stanza, re.MULTILINE))
                usable = "deb" in fields.get("Types", "").split() and fields.get("Enabled", "yes") != "no"
                if usable and release in fields.get("Suites", "").split():
                    return fields["URIs"].split()[0]
        elif found := re.search(rf"^deb\s+(?:\[[^]]*\]\s+)?(\S+)\s+{re.escape(release)}\s", text, re.MULTILINE):
            return found[1]
    raise ValueError(f"apt has no source of Debian's {release}")


def emulated() -> None:
    """Have the kernel start programs of arm64 through QEMU, in a chroot too."""
    if not (BINFMT / "register").exists():
        _sh("mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT))
    if not (BINFMT / "qemu-aarch64").exists():
        interpreter = os.fsencode(shutil.which("qemu-aarch64-static") or "")
        (BINFMT / "register").write_bytes(b":qemu-aarch64:M::" + MAGIC + b":" + MASK + b":" + interpreter + b":F")


def _sh(*command: str, **options: Any) -> None:
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {' '.join(done.stdout.splitlines()[-3:])}")


def laid() -> Path:
    """The root of arm64, with the packages of the lock."""
    root, made, lock = HOME / "root", HOME / "root.ready", ROOT / "requirements.lock"
    if not made.exists():
        release = platform.freedesktop_os_release()["VERSION_CODENAME"]
        files = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
        source = mirror({it.name: it.read_text(encoding="utf-8") for it in files if it.is_file()}, release)
        print(f"laying Debian's {release} for arm64 (once)", flush=True)
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        bootstrap = ["debootstrap", "--arch=arm64", "--variant=minbase", "--include=python3", release]
        _sh("unshare", "--mount", *bootstrap, str(root), source)  # what it mounts is gone when it ends
        made.touch()
    python = (root / "usr/bin/python3").readlink().name
    packages, stamp = root / PACKAGES.format(python), HOME / "lock.ready"
    seen = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text(encoding="ascii") != seen:
        print("bringing the lock's wheels for arm64", flush=True)
        shutil.rmtree(packages, ignore_errors=True)
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--target", str(packages)]
        wheels = ["--python-version", python.removeprefix("python"), "--python-platform", "aarch64-unknown-linux-gnu"]
        _sh(*uv, *wheels, "--require-hashes", "--only-binary", ":all:", "-r", str(lock))
        _sh(*uv, "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
        for path in packages.glob("_editable_impl_dprank.pth"):
            path.write_text(f"{PROJECT}/src\n", encoding="ascii")
        stamp.write_text(seen, encoding="ascii")
    return root


def copied(names: Sequence[str], source: Path, target: Path) -> None:
    """Have `target` hold these files of `source` as they are, and no others but what its runs made."""
    for name in names:
        old, new = source / name, target / name
        if old.is_file() and not (new.exists() and _same(old, new)):
            new.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(old, new)
    for folder, inner, files in os.walk(target):
        inner[:] = [name for name in inner if name not in ("_build", "__pycache__")]
        here = Path(folder).relative_to(target)
        for gone in {(here / name).as_posix() for name in files}.difference(names):
            (target / gone).unlink()


def _same(old: Path, new: Path) -> bool:
    a, b = old.stat(), new.stat()
    return (a.st_size, a.st_mtime_ns) == (b.st_size, b.st_mtime_ns)


def inside(root: Path, seconds: float, what: str) -> dict[str, Any]:
    """What this script finds in the root, in its own processes and mounts, which end with it or with a chapter that is
    at work when the time is up.
    """
    made = root / PROJECT.strip("/") / "_build" / f"{what}.json"
    made.unlink(missing_ok=True)
    variables = [f"{name}={value}" for name, value in VARIABLES.items()]
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", MOUNTS, str(root), PROJECT]
    command = [*alone, *variables, "python3", "tests/arm64.py", "--inside", what, str(seconds)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(command, check=False, timeout=max(seconds, 0) if what == "book" else None)
        if done.returncode:
            raise SystemExit(f"arm64: {what} ended with code {done.returncode}")
    if not made.exists():
        raise SystemExit(f"arm64: nothing came of {what} in {seconds:.0f} s")
    found: dict[str, Any] = json.loads(made.read_bytes())
    return found


def main() -> int:
    """Lay the root, run what the time allows, write the row; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="make arm64", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60, help="for tests and chapters")
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        what, seconds = given.inside
        {"tests": run_tests, "arena": run_arena, "book": run_book}[what](float(seconds))
        return 0
    tools = {"debootstrap": "debootstrap", "qemu-user-static": "qemu-aarch64-static", "util-linux": "unshare"}
    found = {package: shutil.which(tool) for package, tool in tools.items()}
    if line := missing(os.geteuid() == 0, platform.machine(), found):
        sys.exit(f"arm64: {line}")
    emulated()
    root = laid()
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    copied([name for name in names if name], ROOT, root / PROJECT.strip("/"))
    start, seconds = time.monotonic(), 60 * given.minutes
    tests = inside(root, seconds / 3, "tests")
    arena = inside(root, seconds / 10, "arena")
    book = inside(root, seconds - (time.monotonic() - start), "book")
    differs = [line for part in (tests, arena, book) for line in part.pop("differs")]
    chapters = book.pop("chapters")
    row = {"name": "arm64", **book, **tests}
    target = ROOT / "_build" / "processors" / "arm64.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(row), encoding="utf-8")
    print(
        f"arm64: {row['agree']} of {row['claims']} verdicts agree, of {chapters} chapters that ran; largest difference "
        f"{row['largest']:.2g} of what is allowed; {row['tests']} tests passed, {row['failed']} failed; "
        f"{arena['cells']} cells of the arena were run again"
    )
    for line in differs:
        print(line)
    return 1 if differs else 0


def run_tests(seconds: float) -> None:
    """Run `TESTS`, slow ones last, until the time is up; how many passed and failed, and which failed."""
    import pytest

    start = time.monotonic()
    seen: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}

    class Until:
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            items.sort(key=lambda item: item.get_closest_marker("slow") is not None)

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                seen["failed"].append(report.nodeid)

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.when == "call" or report.outcome != "passed":
                seen[report.outcome].append(report.nodeid)

        def pytest_runtest_teardown(self, item: pytest.Item) -> None:
            if time.monotonic() - start > seconds:
                item.session.shouldstop = "the time is up"

    options = ["-q", "-m", "numbers", "--timeout=0", "-p", "no:cacheprovider", "--durations=20", "--hypothesis-seed=0"]
    pytest.main([*options, *(f"tests/dprank/{name}" for name in TESTS)], plugins=[Until()])
    if not seen["passed"]:
        seen["failed"].append("no test passed")
    _write("tests", {"tests": len(seen["passed"]), "failed": len(seen["failed"]), "differs": seen["failed"]})


def run_arena(seconds: float) -> None:
    """Run small cells of the arena again until the time is up; how many, and which are not what they were."""
    import numpy as np

    from companion.chapters.which_method import table

    start, whole = time.monotonic(), table.load(ROOT)
    few = whole[whole["people"] * whole["items"] <= SMALL]
    cells, lines = 0, []
    for which in np.random.default_rng(7).permutation(len(table.cells(few))):
        lines += list(table.again(few, [which]))
        cells += 1
        if time.monotonic() - start > seconds:
            break
    _write("arena", {"cells": cells, "differs": lines})


def run_book(seconds: float) -> None:
    """Run chapters until the time is up; how many verdicts agree, how far numbers are off, and what differs."""
    from companion.press import BuildError
    from companion.press.execute import execute
    from companion.press.pipeline import Build
    from companion.press.verify import differences, distances

    start, build = time.monotonic(), Build(ROOT, "smoke", workers=1)
    expected = json.loads(build.layout.expected("smoke").read_bytes())
    claims = Counter(entry["chapter"] for entry in expected["records"])
    jobs = [build.job(chapter) for chapter in build.early if claims[chapter.name]]
    jobs.sort(key=lambda job: min(job.seconds, UNKNOWN) / claims[job.chapter.name])
    tried, ran, lines = [], [], []
    for job in jobs:
        if job.reason():
            if time.monotonic() - start > seconds:
                continue
            try:
                execute([job], 1, lambda line: print(line, flush=True))
            except BuildError as error:
                lines.append(str(error))
        tried.append(job.chapter.name)
        ran += [] if job.reason() else [job]
        old = {"records": [it for it in expected["records"] if it["chapter"] in tried]}
        new = {"records": build.collect(ran).records}
        verdicts = {it["claim"]: it["verdict"] for it in new["records"]}
        content = {
            "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']} on {CPU}, emulated",
            "python": platform.python_version(),
            "claims": len(old["records"]),
            "agree": sum(verdicts.get(it["claim"]) == it["verdict"] for it in old["records"]),
            "largest": max(distances(build.ledger, old, new), default=0.0),
            "differs": lines + list(map(str, differences(build.ledger, old, new))),
            "chapters": len(tried),
        }
        _write("book", content)


def _write(name: str, content: Any) -> None:
    folder = ROOT / "_build"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
