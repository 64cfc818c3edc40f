"""Does any processor change a verdict, an integer, a word, or a float by more than its tolerance? `make processors`.

    make processors                                     # every processor that this one can act as, and a table
    make processors ARGS="haswell znver3"               # these two
    make processors ARGS="--unlike 2 --quick"           # two unlike this one, in minutes
    make processors ARGS="--unlike 2 --quick --bare"    # the book of the first as Jupyter Book alone builds it
    make processors ARGS="--write"                      # and write the table and what moved

A processor is what four libraries make of it: numba compiles for its name and features, NumPy picks its loops, OpenBLAS
its kernels, and the C library its exp and log. Each is told by a variable, and a probe looks whether it listened. Under
it, in a copy of the tree with a cache of its own, the book is run in smoke and held against the committed records, and
all tests with the mark `numbers` are. Kernels that the tests call are compared besides: what got the same bits gives
the same bits, if it calls nothing that the C library or OpenBLAS chooses for the processor. Memory that nobody has
written yet holds another byte under each, so that what depends on it does not agree by chance.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "_build" / "processors"
PAGE = ROOT / "book" / "reproduce.md"
MOVED = ROOT / "data" / "expected" / "processor-dependent.json"
PROFILE = "smoke"
#: What pytest is asked for. In a quick run the library alone: of the book's own code the verdicts tell.
TESTS = {
    "whole": ["-m", "numbers"],
    "quick": ["-m", "numbers and not slow", "tests/dprank"],
    "planted": ["tests/planted.py"],
}
#: Seconds a claim, of a chapter at its standard size, up to which a quick run has it: three fifths of the claims.
CHEAP = 0.9
MARKS = re.compile(r"(?<=<!-- processors -->\n).*(?=<!-- /processors -->)", re.DOTALL)
HEAD = ["processor", "system", "Python", "verdicts that agree", "largest difference", "tests passed"]

V2 = ("sse4_2", "popcnt", "cx16")
V3 = (*V2, "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")
V4 = (*V3, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
ICL = (*V4, "avx512_bitalg", "avx512_vbmi2", "avx512_vnni", "avx512_vpopcntdq", "avx512ifma", "gfni", "vaes")
#: What the C library calls what /proc/cpuinfo calls otherwise; it knows no more of what we turn off.
HWCAPS = {"avx": "AVX", "avx2": "AVX2", "fma": "FMA", "avx512f": "AVX512F", "avx512vl": "AVX512VL"}
#: Arrow's levels, by what they need.
ARROW = {"avx512f": "AVX512", "avx2": "AVX2", "avx": "AVX", "sse4_2": "SSE4_2"}
#: Names that OpenBLAS gives to the kernels of these, where it has none of their own.
KERNELS = {"Prescott": {"Katmai"}, "Zen": {"Haswell"}, "SapphireRapids": {"Cooperlake", "SkylakeX"}}


@dataclass(frozen=True)
class Processor:
    """A processor by LLVM's name: what it needs of the host, which of NumPy's loops and whose of OpenBLAS's kernels."""

    name: str
    flags: Sequence[str]
    loops: Sequence[str]
    kernels: str
    #: What it has that no number needs: without it, it is run all the same.
    more: Sequence[str] = ()

    @property
    def traits(self) -> tuple[Any, ...]:
        """What makes two of them unlike."""
        return self.fma, self.width, tuple(self.loops), self.kernels

    @property
    def memory(self) -> dict[str, str]:
        """Variables by which the C library fills what it lends with a byte of this processor's own."""
        own = 16 + sum(self.name.encode()) % 64
        tunables = f"glibc.malloc.perturb={own}:glibc.malloc.tcache_count=0"
        return {"GLIBC_TUNABLES": ":".join(filter(None, [self.environment([], [])["GLIBC_TUNABLES"], tunables]))}

    @property
    def fma(self) -> bool:
        """Whether it multiplies and adds at once; where it does, the C library does so in exp and log."""
        return "fma" in self.flags

    @property
    def width(self) -> int:
        """Bits of its vectors."""
        return 512 if "avx512f" in self.flags else 256 if "avx" in self.flags else 128

    def environment(self, lacking: Sequence[str], loops: Sequence[str]) -> dict[str, str]:
        """Variables that make the libraries take the host for it, on a host that lacks these of LLVM's features and has
        those of NumPy's loops. numba given a name alone keeps the features of the host.
        """
        without = [name for flag, name in HWCAPS.items() if flag not in self.flags]
        return {
            "NUMBA_CPU_NAME": self.name,
            "NUMBA_CPU_FEATURES": ",".join(f"-{name}" for name in lacking),
            "NPY_DISABLE_CPU_FEATURES": " ".join(name for name in loops if name not in self.loops),
            "OPENBLAS_CORETYPE": self.kernels,
            "ARROW_USER_SIMD_LEVEL": next(level for flag, level in ARROW.items() if flag in self.flags),
            "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={','.join(f'-{name}' for name in without)}" if without else "",
        }


#: From the narrowest to the widest.
PROCESSORS = (
    Processor("x86-64-v2", V2, (), "Prescott"),
    Processor("nehalem", V2, (), "Nehalem"),
    Processor("sandybridge", (*V2, "avx"), (), "Sandybridge"),
    Processor("haswell", V3, ("X86_V3",), "Haswell"),
    Processor("znver3", V3, ("X86_V3",), "Zen", ("sse4a", "vaes")),
    Processor("skylake-avx512", V4, ("X86_V3", "X86_V4"), "SkylakeX"),
    Processor("znver4", ICL, ("X86_V3", "X86_V4", "AVX512_ICL"), "SkylakeX", ("sse4a", "avx512_bf16")),
    Processor("sapphirerapids", ICL, ("X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"), "SapphireRapids",
              ("amx_tile", "avx512_bf16", "avx512_fp16", "avx_vnni")),
)  # fmt: skip
#: Kernels that add up in the width of the vectors, since it is worth it (`models/newton.py` says how much), by
#: the name under which Python calls them: of their numbers the tolerance decides.
WIDE = ("dprank.models.newton._conjugate_gradients", "dprank.models.newton._laplacian", "dprank.models.tables._batch")
#: Those of the table that run elsewhere, by a command of their own.
ELSEWHERE = ("arm64",)


# --- which, and whether they are what they are said to be -------------------------------------------------------------


def flags() -> set[str]:
    """What this processor can do, as Linux calls it; nothing where it is no x86-64 with Linux."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return set()
    [line, *_] = (it for it in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if it.startswith("flags"))
    return set(line.partition(":")[2].split())


def unlike(runnable: Sequence[Processor], n: int) -> list[Processor]:
    """`n` of them, each as unlike as can be the last one, which is most like the host, and those chosen before."""
    *rest, host = runnable
    chosen: list[Processor] = []
    for _ in range(min(n, len(rest))):
        left = [it for it in rest if it not in chosen]
        chosen.append(max(left, key=lambda it: min(_unlike(it, other) for other in (host, *chosen))))
    return chosen


def _unlike(one: Processor, other: Processor) -> int:
    return sum(a != b for a, b in zip(one.traits, other.traits, strict=True))


def probe() -> dict[str, Any]:
    """What the libraries of this process take the processor for; run in a process of its own."""
    import llvmlite.binding as llvm
    import numba
    import numpy as np
    import pyarrow
    import scipy.linalg  # noqa: F401  its OpenBLAS
    from numpy._core import _multiarray_umath as loops

    @numba.njit(error_model="numpy", fastmath={"reassoc", "contract"})
    def product(x, y):
        total = 0.0
        for i in range(x.size):
            total += x[i] * y[i]
        return total

    product(np.ones(9), np.ones(9))
    [assembly] = product.inspect_asm().values()
    libm = ctypes.CDLL("libm.so.6")
    places = {name: ctypes.cast(getattr(libm, name), ctypes.c_void_p).value or 0 for name in ("sin", "lgamma")}
    return {
        "lacking": sorted(name for name, there in llvm.get_host_cpu_features().items() if not there),
        "host": llvm.get_host_cpu_name(),
        "fma": "vfmadd" in assembly,
        "width": 512 if "%zmm" in assembly else 256 if "%ymm" in assembly else 128,
        "loops": [name for name in loops.__cpu_dispatch__ if loops.__cpu_features__[name]],
        "kernels": sorted(_kernels()),
        "arrow": pyarrow.runtime_info().simd_level,
        "libm": places["sin"] - places["lgamma"],
        "python": platform.python_version(),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
    }


def _kernels() -> set[str]:
    """Whose kernels each OpenBLAS that this process holds has taken."""
    held = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "openblas" in line}
    found = set()
    for path in held:
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
            if asked := getattr(library, name, None):
                asked.restype = ctypes.c_char_p
                found.add(asked().decode())
                break
    return found


def not_listened(processor: Processor, seen: Mapping[str, Any], host: Mapping[str, Any]) -> list[str]:
    """Which libraries go on as on the host, from probes under the processor and of the host."""
    wrong = []
    if (seen["fma"] and not processor.fma) or seen["width"] > processor.width:
        wrong.append(f"numba compiles for vectors of {seen['width']} bits, fma {seen['fma']}")
    if more := set(seen["loops"]) - set(processor.loops):
        wrong.append(f"NumPy has {', '.join(sorted(more))}")
    if others := set(seen["kernels"]) - {processor.kernels, *KERNELS.get(processor.kernels, ())}:
        wrong.append(f"OpenBLAS has taken kernels for {', '.join(sorted(others))}")
    if not processor.fma and host["fma"] and seen["libm"] == host["libm"]:
        wrong.append("the C library computes sin as on the host")
    if seen["arrow"] != next(level for flag, level in ARROW.items() if flag in processor.flags).lower():
        wrong.append(f"Arrow has {seen['arrow']}")
    return wrong


def _probed(more: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--probe"], env=_clean() | more, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"processors: no probe: {done.stderr.splitlines()[-1] if done.stderr else done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _clean() -> dict[str, str]:
    """This environment without what would choose for a library."""
    choosing = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES",
                "OPENBLAS_CORETYPE", "ARROW_USER_SIMD_LEVEL", "GLIBC_TUNABLES", "NUMBA_CACHE_DIR")  # fmt: skip
    return {name: value for name, value in os.environ.items() if name not in choosing}


# --- one run ----------------------------------------------------------------------------------------------------------


class NotEmulatedError(Exception):
    """A library goes on as on the host."""


@dataclass
class Run:
    """A processor, what is said of its run in the table, what differs, and the bits of kernels."""

    processor: Processor
    row: dict[str, Any]
    differs: list[str]
    bits: dict[str, Any]
    seconds: float

    def __str__(self) -> str:
        state = f"{len(self.differs)} differ" if self.differs else "all is well"
        if moved := self.row.get("moved"):
            state = f"{len(moved)} entries of pages moved; {state}"
        _, _, _, verdicts, largest, tests = _told(self.row)
        told = f"{verdicts} verdicts agree, numbers are off by {largest} of what they may, {tests} tests passed"
        return f"{self.processor.name}: {told}, {len(self.bits)} kernels looked at; {state}; {self.seconds:.0f} s"


def run(processor: Processor, host: Mapping[str, Any], size: str, folder: Path, bare: bool = False) -> Run:
    """The book, by the press or `bare`, and tests of this size, under a processor and in a copy of the tree."""
    start = time.monotonic()
    variables = processor.environment(host["lacking"], host["loops"])
    seen = _probed(variables)
    if wrong := not_listened(processor, seen, host):
        raise NotEmulatedError(f"{processor.name} is not emulated: {'; '.join(wrong)}")
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "tree"
    _copy(tree)
    environment = _clean() | variables | {
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(tree / "tests")]),
        "KERNEL_BITS": str(folder / "bits.json"),
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    row = {"name": processor.name, "system": f"{host['system']} on {host['host']}", "python": host["python"]}
    numbers, differs = {"claims": 0, "agree": 0, "largest": 0.0}, list[str]()
    if size != "planted":
        numbers, differs = _book(tree, environment, size == "quick", bare)
    passed, failures = _tests(tree, environment | processor.memory, TESTS[size])
    bits = folder / "bits.json"
    kernels = json.loads(bits.read_bytes()) if bits.exists() else {}
    seconds = time.monotonic() - start
    return Run(processor, row | numbers | passed, differs + failures, kernels, seconds)


def _copy(target: Path) -> None:
    """The tree as it is, with what is not committed; without what is ignored."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def _book(tree: Path, environment: Mapping[str, str], quick: bool, bare: bool) -> tuple[dict[str, Any], list[str]]:
    """The book in smoke: what of it the table says, and what differs from the committed records."""
    import nbformat

    from companion.press import BuildError, pages
    from companion.press.collect import collect
    from companion.press.pipeline import Build
    from companion.press.verify import differences, distances, processor_dependent

    build = Build(tree, PROFILE)
    whole = json.loads(build.layout.expected(PROFILE).read_bytes())["records"]
    claims = Counter(record["chapter"] for record in whole)
    due = [it for it in build.early if bare or not quick or it.seconds <= CHEAP * claims[it.name]]
    if bare:
        made = tree.parent / "bare"
        command = [Path(sys.executable).with_name("jupyter-book"), "build", tree, "--path-output", made]
    else:
        command = [sys.executable, __file__, "--execute", *(it.name for it in due)]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    (tree.parent / "book.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if bare:
        notebooks = {path.stem: path for path in (made / "_build/jupyter_execute/notebooks").glob("*.ipynb")}
        ran = {it.name: nbformat.read(notebooks[it.name], as_version=4) for it in due if it.name in notebooks}
    else:
        ran = {job.chapter.name: job.executed() for job in map(build.job, due) if not job.reason()}
    collected = collect(PROFILE, ran)
    verdicts = {record["claim"]: record["verdict"] for record in collected.records}
    # what a chapter that failed would have said is one line, not one for each of its claims
    sides = {"records": [it for it in whole if it["chapter"] in ran]}, {"records": collected.records}
    lines = [*done.stderr.splitlines(), f"the book ended with code {done.returncode}"] if done.returncode else []
    lines += [f"{it.name}: did not run" for it in due if it.name not in ran]
    judged: Callable[..., Any] = build.judge
    try:
        lines += map(str, (judged(collected, ran.keys()) or {}).values())
    except BuildError as error:
        lines += str(error).splitlines()
    lines += map(str, differences(build.ledger, *sides))
    shown = pages.read(json.loads(build.layout.expected_pages(PROFILE).read_bytes()))
    # Jupyter Book alone keeps no numbers of sentences: what it ran is held by its claims
    shown = [it for it in shown if it.chapter in ran and not bare]
    moved = [] if bare else list(pages.differences(shown, collected.pages, abroad=True))
    known = processor_dependent(build.layout)
    fresh = [it for it in moved if it.key not in known]
    lines += [] if pages.few(fresh, len(shown)) else map(str, fresh)  # as `make verify` has it elsewhere
    still = known | {it.key for it in moved}
    far = pages.distances((it for it in shown if it.key not in still), collected.pages)
    asked = [record for record in whole if record["chapter"] in {it.name for it in due}]
    numbers = {
        "claims": len(asked),
        "agree": sum(verdicts.get(record["claim"]) == record["verdict"] for record in asked),
        "largest": max(*distances(build.ledger, *sides), *far, 0.0, 0.0),
        "moved": sorted({it.key for it in moved}),
    }
    return numbers, lines


def execute(names: Sequence[str]) -> None:
    """Run these chapters of the tree that this process is in."""
    from companion.press import BuildError
    from companion.press.pipeline import Build

    build = Build(Path.cwd(), PROFILE, workers=1)
    try:
        build.execute([build.job(it) for it in build.early if it.name in names])
    except BuildError as error:
        sys.exit(str(error))


def _tests(tree: Path, environment: Mapping[str, str], words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The tests that pytest's `words` ask for: how many passed and failed, and a line for each that failed."""
    report = tree.parent / "tests.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "bits", "-p", "no:cacheprovider", f"--junitxml={report}"]
    command += ["--hypothesis-seed=0", *words]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    (tree.parent / "tests.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not report.exists():
        return {"tests": 0, "failed": 1}, [f"the tests did not run: {(done.stderr or done.stdout).splitlines()[-1]}"]
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = {case: wrong for case in cases for wrong in case if wrong.tag in ("failure", "error")}
    skipped = sum(case.find("skipped") is not None for case in cases)
    lines = [
        f"{case.get('classname')}::{case.get('name')}: {(wrong.get('message') or wrong.tag).splitlines()[0]}"
        for case, wrong in failed.items()
    ]
    if done.returncode not in (0, 1):
        lines.append(f"the tests ended with code {done.returncode}")
    return {"tests": len(cases) - len(failed) - skipped, "failed": len(failed)}, lines


def kernels_that_differ(runs: Sequence[Run]) -> Iterator[str]:
    """Kernels that gave other bits for the same bits under two processors, where nothing that they call does."""
    for i, one in enumerate(runs):
        for other in runs[i + 1 :]:
            for name in sorted((one.bits.keys() & other.bits.keys()).difference(WIDE)):
                calls = set(one.bits[name]["calls"])
                if "libm" in calls and one.processor.fma != other.processor.fma:
                    continue
                if "blas" in calls and one.processor.kernels != other.processor.kernels:
                    continue
                pairs = one.bits[name]["bits"], other.bits[name]["bits"]
                common = pairs[0].keys() & pairs[1].keys()
                if wrong := sum(pairs[0][key] != pairs[1][key] for key in common):
                    both = f"{one.processor.name} and {other.processor.name}"
                    yield f"{name}: other bits for the same bits on {both}, in {wrong} of {len(common)} calls"


# --- the table --------------------------------------------------------------------------------------------------------


def _told(row: Mapping[str, Any]) -> list[str]:
    """A row in words."""
    tests = f"{row['tests']} of {row['tests'] + row['failed']}"
    return [
        row["name"], row["system"], row["python"], f"{row['agree']} of {row['claims']}", f"{row['largest']:.2g}", tests,
    ]  # fmt: skip


def table(text: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """The page with the table between its marks: these rows, and those of the rest as they were, if they ever ran."""
    found = MARKS.search(text)
    if found is None:
        raise ValueError("no marks of the table of processors")
    old = {line.split("|")[1].strip(): line for line in found[0].splitlines() if line.startswith("| ")}
    lines = [f"| {' | '.join(HEAD)} |", "| --- | --- | --- | ---: | ---: | ---: |"]
    for name in (*(it.name for it in PROCESSORS), *ELSEWHERE):
        if name in rows:
            lines.append(f"| {' | '.join(_told(rows[name]))} |")
        else:
            lines.append(old.get(name, f"| {name} | not run |  |  |  |  |"))
    return MARKS.sub("\n" + "\n".join(lines).replace("\\", r"\\") + "\n\n", text)


def write_moved(path: Path, rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Write which entries of pages moved on any processor; what moved before stays, unless all ran."""
    moved = {tuple(key) for row in rows.values() for key in row.get("moved", [])}
    if not rows.keys() >= {it.name for it in PROCESSORS}:
        moved |= {tuple(key) for key in json.loads(path.read_bytes())["moved"]}
    listed = ",\n  ".join(json.dumps(key, ensure_ascii=False) for key in sorted(moved))
    path.write_text(f'{{"moved": [\n  {listed}]}}\n', encoding="utf-8")


def _saved(folder: Path) -> dict[str, dict[str, Any]]:
    """Rows that were made here, by name."""
    return {row["name"]: row for path in folder.glob("*.json") for row in [json.loads(path.read_bytes())]}


def main() -> int:
    """Run those that were asked for; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="make processors", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="of processors; all by default", metavar="NAME")
    parser.add_argument("--unlike", type=int, metavar="N", help="instead: so many that are unlike this one")
    parser.add_argument("--quick", action="store_true", help="the cheapest three fifths of the claims, and few tests")
    parser.add_argument("--bare", action="store_true", help="the first one's book, whole, by `jupyter-book build .`")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="processors at once")
    parser.add_argument(
        "--write", action="store_true", help="put the table into book/reproduce.md, what moved into data/expected"
    )
    parser.add_argument("--planted", action="store_true", help="run tests/planted.py alone: are its faults found?")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for copies of the tree")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--execute", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.execute is not None:
        execute(given.execute)
        return 0
    if given.probe:
        print(json.dumps(probe()))
        return 0
    known = {it.name: it for it in PROCESSORS}
    if wrong := set(given.names) - known.keys():
        parser.error(f"{min(wrong)}: there are {', '.join(known)}")
    here = flags()
    if not here >= set(V2):
        sys.exit("processors: only an x86-64 with Linux can act as another; arm64: make arm64")
    runnable = [it for it in PROCESSORS if here >= set(it.flags)]
    chosen = unlike(runnable, given.unlike) if given.unlike else [known[name] for name in given.names] or PROCESSORS
    for it in chosen:
        if missing := [flag for flag in it.flags if flag not in here]:
            print(f"{it.name}: cannot be run here: this processor has no {', '.join(missing)}")
            if it.name in given.names:
                return 1
        elif missing := [flag for flag in it.more if flag not in here]:
            print(f"{it.name}: without {', '.join(missing)}, which this processor has not")
    host = _probed({})
    size = "planted" if given.planted else "quick" if given.quick else "whole"
    given.folder.mkdir(parents=True, exist_ok=True)
    runs = []
    with ThreadPoolExecutor(max(given.jobs, 1)) as pool:
        due = [it for it in chosen if it in runnable]
        try:
            bare = [given.bare] + [False] * len(due)
            for done in pool.map(lambda it, bare: run(it, host, size, given.folder / it.name, bare), due, bare):
                print(done, flush=True)
                runs.append(done)
                if size == "whole":  # no row of the table is of less
                    (given.folder / f"{done.processor.name}.json").write_text(json.dumps(done.row), encoding="utf-8")
        except NotEmulatedError as error:
            sys.exit(f"processors: {error}")
    print()
    for row in (HEAD, *(_told(it.row) for it in runs)):
        print("  ".join(f"{cell:{width}}" for cell, width in zip(row, (15, 40, 8, 20, 19, 13), strict=True)).rstrip())
    wrong_lines = [f"{it.processor.name}: {line}" for it in runs for line in it.differs]
    wrong_lines += kernels_that_differ(runs)
    for line in wrong_lines:
        print(line)
    if given.write:
        PAGE.write_text(table(PAGE.read_text(encoding="utf-8"), _saved(given.folder)), encoding="utf-8")
        write_moved(MOVED, _saved(given.folder))
    return 1 if wrong_lines else 0


if __name__ == "__main__":
    sys.exit(main())
