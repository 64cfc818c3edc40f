"""Import the library before its reference is read: a dispatched function lists the types registered so far."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from sphinx.application import Sphinx

import dprank


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    for module in walk_packages(dprank.__path__, "dprank."):
        import_module(module.name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
