"""Kernels are numba's from their first call on, wherever they are named, and numba is imported no sooner."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from importlib import import_module
from pkgutil import walk_packages
import numpy as np
import dprank
from dprank import _jit
from dprank.data import kendall
from dprank.models import draws

modules = [import_module(it.name) for it in walk_packages(dprank.__path__, "dprank.") if "__main__" not in it.name]
def waiting():
    return {value for it in modules for value in vars(it).values() if isinstance(value, _jit._Kernel)}
kernels = waiting()
assert len(kernels) > 70 and "numba" not in sys.modules
assert {type(it.py_func).__name__ for it in kernels} == {"function"}
kept, modules[0].__dict__["another_name"] = kendall._inversions, kendall._inversions
start, found = threading.Barrier(4), []
def distance():
    start.wait()
    found.append(kendall.kendall_distance([0, 1, 2], [2, 0, 1]))
threads = [threading.Thread(target=distance) for _ in range(4)]
for it in threads: it.start()
for it in threads: it.join()
assert found == [2] * 4 and "numba" in sys.modules
assert kendall._inversions is modules[0].another_name is kept._made
"""
COMPILED = """
from numba.core.registry import CPUDispatcher
import numba
assert isinstance(kendall._ones, CPUDispatcher), "which the other calls"
assert kendall._differences in kernels and kept.signatures == kendall._inversions.signatures
assert kept.py_func is kendall._inversions.py_func
later = _jit.njit(error_model="numpy")(lambda x: x / 2)
assert numba.njit(lambda x: later(x) + 1)(3.0) == 2.5, "kernels of others call ours"
for it in kernels:
    it.targetoptions
assert not waiting() and {type(it._made) for it in kernels} == {CPUDispatcher}
assert all(it._made.targetoptions.get("nopython") for it in kernels)
"""
AS_PYTHON = """
assert kendall._inversions is kept.py_func
"""


@pytest.mark.slow
@pytest.mark.parametrize(("off", "then"), [("0", COMPILED), ("1", AS_PYTHON)], ids=["compiled", "in Python"])
def test_a_kernel_is_made_at_its_first_call(off, then):
    program, environment = PROGRAM + then, os.environ | {"NUMBA_DISABLE_JIT": off}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
