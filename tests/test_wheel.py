"""The wheel holds the library alone, says its types, and is enough for what the README tells a user to type."""

from __future__ import annotations

import contextlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dprank
from dprank.data.examples import NAMES

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
PROGRAM = """\
import numpy as np
import dprank

answers = dprank.read_comparisons(dprank.example("answers.csv"), items=["London", "Paris", "Rome"], voter="person")
mechanism = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=3, per_person=3)
release = mechanism.release(answers, np.random.default_rng(1))
best: str = release.ranking[0]
epsilon: float = mechanism.guarantee.epsilon
again: dprank.Ranking = dprank.Ranking.from_json(release.to_json())
refuted: bool = dprank.audit(mechanism, [(answers, answers)], rng=np.random.default_rng(2)).broken
"""


#: Run each block in a process and a folder of its own, forked from one that has imported what the library asks for.
EACH = """\
import json, os, sys, traceback
import numba, opendp.prelude, pandas, scipy.optimize, scipy.stats
import dprank
assert dprank.__file__.startswith(sys.argv[1])
for number, block in enumerate(json.load(sys.stdin)):
    os.mkdir(str(number))
    child = os.fork()
    if not child:
        code = 1
        for name, stream in (("out", 1), ("err", 2)):
            os.dup2(os.open(f"{number}.{name}", os.O_CREAT | os.O_WRONLY), stream)
        os.chdir(str(number))
        try:
            exec(compile(block, f"block {number}", "exec"), {"__name__": "__main__"})
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    [path] = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "site")
    for module in (folder / "site").rglob("*.py"):
        keep_compiled(ROOT / "src" / module.relative_to(folder / "site"), module)
    return folder / "site"


def keep_compiled(ours, unpacked):
    """Let a module and its kernels be found compiled, as they are beside ours: that takes longer than all the rest."""
    assert unpacked.read_bytes() == ours.read_bytes()
    shutil.copystat(ours, unpacked)
    for kernel in (
        it for end in ("nb[ci]", "pyc") for it in (ours.parent / "__pycache__").glob(f"{ours.stem}.*.{end}")
    ):
        (unpacked.parent / "__pycache__").mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # another process has just written it anew
            shutil.copy2(kernel, unpacked.parent / "__pycache__")


def python(wheel, folder, *arguments, said=None):
    environment = os.environ | {"PYTHONPATH": str(wheel), "MYPYPATH": str(wheel)}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, input=said, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_wheel_holds_the_library_alone(wheel):
    [information] = wheel.glob("*.dist-info")
    assert information.name == f"dprank-{dprank.__version__}.dist-info"
    assert {path.name for path in wheel.iterdir()} == {"dprank", information.name}
    files = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}
    assert {
        "dprank/py.typed",
        *(f"dprank/examples/{name}" for name in NAMES),
    } <= files
    source = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/dprank").rglob("*.py")}
    assert {name for name in files if name.endswith(".py")} == source
    assert (information / "entry_points.txt").read_text().split() == [
        "[console_scripts]",
        "dprank",
        "=",
        "dprank.cli:main",
    ]


@pytest.fixture(scope="module")
def blocks(wheel, tmp_path_factory):
    """Where each block of the README was run: its folder, what it said beside it, and its exit code."""
    folder = tmp_path_factory.mktemp("blocks")
    done = python(wheel, folder, "-c", EACH, str(wheel), said=json.dumps(BLOCKS))
    assert (done.returncode, done.stderr) == (0, "")
    return folder, [int(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_of_the_readme_runs_in_an_empty_folder(number, blocks):
    folder, codes = blocks
    assert (codes[number], (folder / f"{number}.err").read_text()) == (0, "")
    assert "epsilon = " in (folder / f"{number}.out").read_text()
    assert not list((folder / str(number)).iterdir())


@pytest.mark.slow
def test_a_user_s_types_are_known(wheel, tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(PROGRAM.replace("best: str", "best: int"))
    known = ROOT / ".mypy_cache/wheel"  # what is as it was, by its content, at the same place
    known.mkdir(parents=True, exist_ok=True)
    there = known / "site"
    there.unlink(missing_ok=True)
    there.symlink_to(wheel)
    asked = ["--strict", "--follow-imports", "silent", f"--cache-dir={known}", "right.py", "wrong.py"]
    done = python(there, tmp_path, "-m", "mypy", *asked)
    line = 1 + PROGRAM[: PROGRAM.index("best: str")].count("\n")
    [error, _] = done.stdout.splitlines()
    assert error.startswith(f"wrong.py:{line}: error: Incompatible types"), done.stdout


def test_the_example_tables_are_those_that_are_drawn(tmp_path):
    runpy.run_path(str(ROOT / "data/examples/build.py"))["main"](tmp_path)
    for path in tmp_path.iterdir():
        assert path.read_bytes() == dprank.example(path.name).read_bytes()
    assert len(list(tmp_path.iterdir())) == len(NAMES)
