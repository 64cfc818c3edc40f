"""What made the numbers: a processor, a system, packages; here, and of the committed records."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from companion.press.execute import versions
from companion.press.layout import Layout

#: Variables by which libraries are made to take the machine for another.
TOLD = ("NUMBA_CPU_FEATURES", "OPENBLAS_CORETYPE", "ARROW_USER_SIMD_LEVEL", "GLIBC_TUNABLES")


def machine() -> dict[str, str]:
    """The kind of this machine, never its name: what floats, and Python, are made with here."""
    kind = {
        "processor": _processor(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "C library": " ".join(platform.libc_ver()).strip(),
        "NumPy's loops": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
        "told": " ".join(f"{name}={os.environ[name]}" for name in TOLD if os.environ.get(name)),
        "Python": platform.python_version(),
    }
    return {name: value for name, value in kind.items() if value}


def _processor() -> str:
    """As it is sold, where the system says so, and in brackets as compilers know it, which numba may be told."""
    from llvmlite.binding import get_host_cpu_name

    try:
        sold = re.search(r"^model name\s*:\s*(.*\S)", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        sold = None
    name = sold[1] if sold else platform.processor() or platform.machine()
    return f"{name} ({os.environ.get('NUMBA_CPU_NAME') or get_host_cpu_name()})"


def origin(content: Mapping[str, Any]) -> str:
    """In a line what made records, the `content` of a file in `data/expected`, and what of it is other here."""
    there = {"processor": "a processor that is not recorded"} | content.get("machine", {}) | content.get("versions", {})
    other = {name: value for name, value in (machine() | versions()).items() if there.get(name) != value}
    return f"made on {_listed(there)}; here {_listed(other) or 'the same'}"


def committed(layout: Layout, profile: str) -> str:
    """The `origin` of the committed records of a profile."""
    try:
        content = json.loads(layout.expected(profile).read_bytes())
    except (OSError, ValueError):
        return f"no committed record of profile {profile}; here {_listed(machine() | versions())}"
    return f"committed record {origin(content)}"


def _listed(parts: Mapping[str, str]) -> str:
    bare = ("processor", "architecture", "system", "C library", "told")
    return ", ".join(value if name in bare else f"{name} {value}" for name, value in parts.items())
