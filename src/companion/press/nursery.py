"""Forks kernels from a process that has the libraries loaded: started as a script, it loads nothing of ours.

A line on stdin is a kernel to be started, as JSON: what follows ``python -m``, the variables, the folder, and the file
for what the process says; a line on stdout is its number. It ends with stdin.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

#: What most chapters load; of ours nothing, since what a chapter reads is seen in what its kernel has loaded.
LIBRARIES = (
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "joblib",
    "matplotlib.backends.backend_svg",
    "matplotlib.font_manager",
    "myst_nb",
    "numba",
    "pandas",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "scipy.stats",
    "seaborn",
)


def load() -> None:
    """Load the libraries, and say nothing of what they warn of when they are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in LIBRARIES:
            import_module(name)
        import numba

        numba.njit("f8(f8)")(lambda x: x)  # half a second that the first kernel of a process takes


def main() -> None:
    """Fork a kernel for every line; in the kernel's process, become it."""
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends when this process does
    load()
    gc.collect()
    gc.freeze()
    print(flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if not pid:
            become(**asked)
            return
        print(pid, flush=True)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def become(argv: list[str], env: dict[str, str], cwd: str, said: str) -> None:
    """Run a module as ``python -m`` would."""
    os.setsid()
    for number, path in enumerate((os.devnull, said, said)):
        there = os.open(path, os.O_RDWR | os.O_APPEND)
        os.dup2(there, number)
        os.close(there)
    with suppress(OSError):  # where /proc is not to be written, it keeps the name of its parent
        Path("/proc/self/comm").write_text("ipykernel", encoding="ascii")
    os.environ.clear()
    os.environ.update(env | {"JPY_PARENT_PID": str(os.getppid())})
    os.chdir(cwd)
    sys.path.insert(0, cwd)
    sys.argv = argv
    runpy.run_module(argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    del sys.path[0]
    main()
