"""No public call hands a kernel what it would follow out of an array: the doors of `hostile`, in their own process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


# as Python the kernels check their indices; compiled, what gets past the doors ends the process
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "in Python"])
@pytest.mark.slow
def test_hostile_arrays_stop_at_the_door(compiled):
    environment = os.environ | {"NUMBA_DISABLE_JIT": "0" if compiled else "1"}
    command = [sys.executable, "-X", "faulthandler", "hostile.py"]
    done = subprocess.run(command, check=False, cwd=HERE, env=environment, capture_output=True, text=True, timeout=500)
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[-1]) == (0, "all is well"), "\n".join([*lines[-40:], done.stderr])
    assert sum(line.endswith("refused") for line in lines) > 2_000
    assert sum(line.endswith("taken") for line in lines) > 500
