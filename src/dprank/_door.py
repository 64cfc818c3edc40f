"""The door of a room: a name is imported when it is first used, so that who asks for one does not load them all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["door"]


def door(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a room.

    Parameters
    ----------
    room : str
        Its module.
    homes : mapping
        From the modules to the names that are had of them, with blanks between.

    Examples
    --------
    >>> door("dprank.topk", {"dprank.topk.oneshot": "Oneshot"})("Oneshot").__module__
    'dprank.topk.oneshot'
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def fetched(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = getattr(import_module(home[name]), name)
        setattr(sys.modules[room], name, value)
        return value

    return fetched
