"""Kernels that numba compiles: its import takes half a second, which few commands need, so the first call does it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import update_wrapper
from threading import RLock
from types import CodeType, FunctionType
from typing import Any

__all__ = ["jitable", "njit"]

_lock = RLock()
#: Functions that kernels may call, and whether numba knows of them.
_jitable: dict[FunctionType, bool] = {}


class _Kernel:
    """Stands for a kernel in the modules that know it, until it is called or another one that calls it."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._made: Any = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        return (self._made or _made(self))(*given, **named)

    def __getattr__(self, name: str) -> Any:
        """What else numba's dispatcher has; by `_numba_type_` kernels of others may call this one, too."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_made(self), name)


def njit(**options: Any) -> Callable[[Any], Any]:
    """As `numba.njit`, which is called when the function is.

    Examples
    --------
    >>> @njit(error_model="numpy")
    ... def half(x):
    ...     return x / 2
    >>> half(3), half.signatures
    (1.5, [(int64,)])
    """
    return lambda function: _Kernel(function, options)


def jitable(function: Any) -> Any:
    """As `numba.extending.register_jitable`, when a kernel is called."""
    _jitable.setdefault(function, False)
    return function


def _made(kernel: _Kernel) -> Any:
    with _lock:
        if kernel._made is None:
            import numba
            from numba.extending import register_jitable

            for function in [it for it, known in _jitable.items() if not known]:
                _jitable[function] = bool(register_jitable(function))
            reached = dict.fromkeys(_reached(kernel.py_func, {kernel}))
            for it in (kernel, *reached):
                it._made = it._made or numba.njit(**it._options)(it.py_func)
            _put_in_place({id(it): it for it in (kernel, *reached)})
        return kernel._made


def _reached(function: FunctionType, seen: set[Any]) -> Iterator[_Kernel]:
    """Kernels that a function calls, and those that they call: numba looks for them in the globals of each."""
    for name in _names(function.__code__):
        found = function.__globals__.get(name)
        if isinstance(found, _Kernel | FunctionType) and found not in seen:
            seen.add(found)
            if isinstance(found, _Kernel):
                yield found
                yield from _reached(found.py_func, seen)
            elif found in _jitable:
                yield from _reached(found, seen)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _put_in_place(kernels: dict[int, _Kernel]) -> None:
    """From now on whoever calls them by their names calls numba's: no later call costs more than it would there."""
    rooms = {id(room): room for room in (it.py_func.__globals__ for it in kernels.values())}
    package = __name__.partition(".")[0]
    rooms |= {id(vars(it)): vars(it) for name, it in list(sys.modules.items()) if name.partition(".")[0] == package}
    for room in rooms.values():
        for name, value in list(room.items()):
            if id(value) in kernels:
                room[name] = kernels[id(value)]._made
