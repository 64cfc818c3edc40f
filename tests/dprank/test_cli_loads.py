"""What each command loads, in a process of its own: no more than it uses, and OpenDP by its parts."""

import os
import shlex
import subprocess
import sys

import pytest

import dprank

#: What takes long to import, and what OpenDP's prelude would bring: here stand empty modules of these names.
HEAVY = ["duckdb", "matplotlib", "numba", "numpy", "opendp", "pandas", "pyarrow", "scipy", "scipy.optimize",
         "scipy.signal", "scipy.sparse", "scipy.special", "scipy.stats", "sqlite3"]  # fmt: skip
BROUGHT = ["polars", "sklearn"]
FORBIDDEN = ["matplotlib", "numba", "opendp", "pandas", "scipy.signal", "scipy.stats", *BROUGHT]
PROGRAM = f"""
import atexit, sys
loaded = lambda: [name for name in {[*HEAVY, *BROUGHT]} if name in sys.modules]
atexit.register(lambda: print("loaded:", *loaded(), file=sys.stderr))
"""
ILLS = "--person patient --item diagnosis --items asthma,flu,gout,kuru,measles,migraine"
WORDS = "left,right,answer --map left=1,right=0,equal=0.5 --items Pay,Hours,Training,Leave,Equipment,Canteen"
BALLOTS = "ballots.csv --items roads,schools,parks,debt --person person --ballots full --epsilon 1"
RELEASE = "numpy scipy sqlite3 opendp"
#: One after the other in one folder: what each may load, and may not leave out.
LOADS = {
    "--help": "",
    "plan --help": "",
    "release --help": "",
    "example diagnoses.csv": "numpy",
    "budget b.sqlite --epsilon 9": "numpy scipy sqlite3",
    "budget b.sqlite": "numpy scipy sqlite3",
    f"check diagnoses.csv {ILLS}": "numpy pandas pyarrow",
    f"release topk diagnoses.csv {ILLS} --k 2 --epsilon 1": RELEASE,
    f"release topk diagnoses.csv {ILLS} --k 2 --epsilon 1 --budget b.sqlite --out r.json": RELEASE,
    f"release ranking staff.csv --comparisons {WORDS} --protect answer --epsilon 1": RELEASE,
    f"release consensus {BALLOTS}": f"{RELEASE} numba",
    f"release winner {BALLOTS}": "numpy scipy sqlite3 numba",
    "report r.json": "numpy scipy sqlite3",
    "report r.json --html": "numpy scipy sqlite3",
    "verify r.json": "numpy scipy sqlite3",
    "verify r.json --budget b.sqlite": "numpy scipy sqlite3",
    "compare r.json r.json": "numpy scipy sqlite3",
    "plan topk --items 1000 --persons 5000 --k 10 --epsilon 1": "numpy scipy scipy.optimize scipy.sparse scipy.special",
}


#: A process for each name, forked from one that has numpy and scipy, which every name may load.
NAMES = f"""
import os, sys
import numpy, scipy
loaded = lambda: {{*sys.modules}} & {{*{FORBIDDEN}}}
assert not loaded(), loaded()
for name in sys.argv[1:]:
    if not (child := os.fork()):
        exec(f"from dprank import {{name}}")
        print(name, *loaded(), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""


def process(program, words, folder, environment):
    """A process of its own, after its end."""
    before = os.pathsep.join([str(folder / "brought"), os.environ.get("PYTHONPATH", "")])
    for name in BROUGHT:
        (folder / "brought" / name).mkdir(parents=True, exist_ok=True)
        (folder / "brought" / name / "__init__.py").touch()
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        env=os.environ | {"PYTHONPATH": before} | environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def loaded(program, *words, folder, **environment):
    """What a process of its own says that it loaded."""
    done = process(PROGRAM + program, words, folder, environment)
    *said, last = done.stderr.splitlines()
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout, said, set(last.removeprefix("loaded:").split())


@pytest.mark.slow
def test_a_command_loads_what_it_uses(tmp_path):
    for table in ("staff.csv", "ballots.csv"):
        (tmp_path / table).write_bytes(dprank.example(table).read_bytes())
    wrong = {}
    for words, may in LOADS.items():
        program = "from dprank.cli import main\nmain()"
        out, said, found = loaded(program, *shlex.split(words), folder=tmp_path)
        assert out or words.startswith("compare"), said
        if found != set(may.split()) and not (words.startswith("check") and found <= set(may.split())):
            wrong[words] = sorted(found)
    assert not wrong


@pytest.mark.parametrize(("typed", "offered"), [("dprank rel", "release"), ("dprank release to", "topk")])
def test_a_shell_that_asks_for_names_loads_no_command(typed, offered, tmp_path):
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_DPRANK_COMPLETE": "complete_bash"}
    program = "import sys\nfrom dprank.cli import main\nsys.argv = ['dprank']\nmain()"
    assert loaded(program, folder=tmp_path, **asked) == (f"{offered}\n", [], set())


def test_dprank_itself_loads_nothing(tmp_path):
    assert loaded("import dprank", folder=tmp_path) == ("", [], set())


@pytest.mark.slow
def test_no_name_at_the_front_door_loads_numba_or_pandas(tmp_path):
    names = sorted(dprank.__all__)
    done = process(NAMES, names, tmp_path, {})
    assert (done.returncode, done.stdout.split("\n")) == (0, [*names, ""]), done.stderr
