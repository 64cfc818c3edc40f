"""Every mechanism of the library, on the worst neighbours known."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from dprank.audit import routes
from dprank.audit.case import Case


def cases() -> list[Case]:
    """All cases of all families, calibrated and as printed."""
    modules = [import_module(f"{routes.__name__}.{module.name}") for module in iter_modules(routes.__path__)]
    return [case for module in modules for case in module.cases()]
