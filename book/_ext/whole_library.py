"""Import the library before its reference is read: a dispatched function lists the types registered so far."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from sphinx.application import Sphinx

REFERENCE = "book/reference/"


def load(_app: Sphinx, _env: Any, pages: Sequence[str]) -> None:
    """Import all of it, if a page of the reference is among those that will be read."""
    if any(page.startswith(REFERENCE) for page in pages):
        library = import_module("dprank")
        for module in walk_packages(library.__path__, "dprank."):
            import_module(module.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Entry point of the extension."""
    app.connect("env-before-read-docs", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
