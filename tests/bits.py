"""What bits each kernel gave for which bits, into the file $KERNEL_BITS: a plugin of pytest, for `processors.py`.

What nobody has written yet is 0, so that a kernel gets the same bits wherever it runs; no NaN differs from another.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

#: Calls of a kernel that are looked at, the first ones, and bytes of a call's arrays.
CALLS, BYTES = 2000, 1 << 20
#: What the C library has in several versions, and how numba's calls of OpenBLAS begin. Not log10: numba counts digits.
LIBM = {"exp", "exp2", "expm1", "log", "log1p", "log2", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
        "sinh", "cosh", "tanh", "lgamma", "tgamma"}  # fmt: skip
BLAS = ("numba_xx", "numba_ez", "numba_raw")
EMPTY: dict[str, Any] = {"empty": np.empty, "empty_like": np.empty_like}


def _zeros(shape: Any, dtype: Any = float, **named: Any) -> Any:
    return (EMPTY["empty"] if np.dtype(dtype).hasobject else np.zeros)(shape, dtype, **named)


def _zeros_like(prototype: Any, dtype: Any = None, **named: Any) -> Any:
    objects = np.dtype(dtype or np.asarray(prototype).dtype).hasobject
    return (EMPTY["empty_like"] if objects else np.zeros_like)(prototype, dtype, **named)


#: What nobody has written yet is 0, and of objects None, as ever.
ZEROS: dict[str, Any] = {"empty": _zeros, "empty_like": _zeros_like}

_bits: dict[str, dict[str, str]] = {}
_kernels: dict[str, Any] = {}
_calls: Counter[str] = Counter()
_lock = threading.RLock()
_plain: Any = CPUDispatcher.__call__


class _Unknown(Exception):
    """Something whose bits cannot be read."""


def _called(kernel: Any, *given: Any, **named: Any) -> Any:
    name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
    with _lock:
        seen = _bits.setdefault(name, {})
        _kernels[name] = kernel
        _calls[name] += 1
        before = _digest([*given, *named.values()]) if _calls[name] <= CALLS else None
        _have(EMPTY)  # as kernels know them
        try:
            result = _plain(kernel, *given, **named)
        finally:
            _have(ZEROS)
        if before is not None and (after := _digest([result, *given, *named.values()])) is not None:
            seen.setdefault(before, after)
    return result


def _digest(values: Any) -> str | None:
    whole = hashlib.blake2b(digest_size=12)
    try:
        _add(whole, values)
    except _Unknown:
        return None
    return whole.hexdigest()


def _add(whole: Any, value: Any) -> None:
    if isinstance(value, tuple | list):
        for it in value:
            _add(whole, it)
    elif isinstance(value, np.ndarray | np.generic | float | int | bool):
        array = np.ascontiguousarray(value)
        if array.dtype.kind not in "biufc" or array.nbytes > BYTES:
            raise _Unknown
        if array.dtype.kind in "fc" and np.isnan(array).any():
            array = np.where(np.isnan(array), np.nan, array)
        whole.update(f"{array.dtype}{array.shape}".encode())
        whole.update(array.tobytes())
    elif value is None or isinstance(value, str):
        whole.update(repr(value).encode())
    else:
        raise _Unknown


def _needs(kernel: Any) -> list[str]:
    """Which of the two its machine code calls, as numba's cache has it; both if it is not there."""
    code = kernel.py_func.__code__
    name = f"{Path(code.co_filename).stem}.{kernel.py_func.__qualname__}-{code.co_firstlineno}.*.nbc"
    cached = [path.read_bytes() for path in Path(os.environ["NUMBA_CACHE_DIR"]).rglob(name)]
    called = set().union(*map(_called_outside, cached))
    libm, blas = not cached or bool(called & LIBM), not cached or any(it.startswith(BLAS) for it in called)
    return ["libm"] * libm + ["blas"] * blas


def _called_outside(data: bytes) -> set[str]:
    """Names that the object files in `data`, of ELF with 64 bits, leave undefined."""
    names, start = set(), data.find(b"\x7fELF")
    while start >= 0:
        elf = data[start:]
        [table], (size, count) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HH", elf, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
        for _, kind, _, _, first, length, link, *_ in sections:
            for at in range(first, first + length if kind == 2 else first, 24):  # a table of symbols
                name, _, _, section = struct.unpack_from("<IBBH", elf, at)
                text = sections[link][4] + name
                if section == 0:
                    names.add(elf[text : elf.index(b"\0", text)].decode())
        start = data.find(b"\x7fELF", start + 4)
    return names


def _have(functions: dict[str, Any]) -> None:
    for name, function in functions.items():
        setattr(np, name, function)


def _call_by(function: Any) -> None:
    type.__setattr__(CPUDispatcher, "__call__", function)


def pytest_configure() -> None:
    """Look at every call from now on."""
    _call_by(_called)
    _have(ZEROS)


def pytest_unconfigure() -> None:
    """Write what was seen."""
    _call_by(_plain)
    _have(EMPTY)
    content = {name: {"calls": _needs(_kernels[name]), "bits": seen} for name, seen in _bits.items() if seen}
    Path(os.environ["KERNEL_BITS"]).write_text(json.dumps(content), encoding="utf-8")
