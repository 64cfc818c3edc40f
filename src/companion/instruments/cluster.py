"""A Dask cluster that sweeps are handed to: only to workers with the same code and packages."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

#: Address of the scheduler, such as tcp://10.0.0.5:8786; `companion book --scheduler` sets it.
VARIABLE = "COMPANION_SCHEDULER"
#: What makes the numbers; the lock holds each once, for all Pythons.
NUMERICS = ("numba", "numpy", "pandas", "scipy")
#: Seconds until somebody answers.
PATIENCE = 20


def fingerprint() -> str:
    """A digest of all that a worker must share: the book's code, the library's, and the packages behind them."""
    import companion
    import dprank

    seen = hashlib.sha256(repr([(name, version(name)) for name in NUMERICS]).encode())
    for package in (companion, dprank):
        home = Path(package.__path__[0])
        for path in sorted(home.rglob("*.py")):
            seen.update(f"{path.relative_to(home)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return seen.hexdigest()


@contextmanager
def workers(address: str) -> Iterator[Any]:
    """A client of the scheduler at `address`; refused where nobody answers or works, or works with other code."""
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ValueError("distributed is not installed; in the clone: pip install -e '.[scale]'") from None
    # what becomes of a worker is the scheduler's to say, and a cell that writes to stderr is at fault
    logging.getLogger("distributed").setLevel(logging.CRITICAL + 1)
    client = None
    with suppress(OSError, TypeError, ValueError):
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    if client is None:
        # what is left of it stops its loop when it is collected; if another client starts then, they lock each other
        gc.collect()
        raise ValueError(f"scheduler: {address!r}: nobody answers there; an address like tcp://HOST:8786")
    try:
        found = client.run(fingerprint, on_error="return")
        if not found:
            raise ValueError(f"scheduler: {address!r} has no workers")
        if any(it != fingerprint() for it in found.values()):
            raise ValueError(f"scheduler: {address!r}: a worker has other code or packages, which give other numbers")
        yield client
    finally:
        client.close()


def given() -> str | None:
    """The scheduler that this process was told of, if any."""
    return os.environ.get(VARIABLE) or None
