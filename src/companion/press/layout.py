"""Where things lie in a book, and how they are written: to a scratch name first, then renamed."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from companion.press import BuildError


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def dumps(value: Any) -> bytes:
    """`value` as JSON with one spelling."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


@dataclass(frozen=True)
class Layout:
    """Paths of the book at `root`; what is made of it goes to its folder `made`."""

    root: Path
    made: str = "_build"

    @cached_property
    def notebooks(self) -> dict[str, Path]:
        """Chapters by file stem, in order."""
        return {path.stem: path for path in sorted((self.root / "notebooks").glob("*.ipynb"))}

    @property
    def build(self) -> Path:
        """All that the press makes."""
        return self.root / self.made

    @property
    def scratch(self) -> Path:
        """Unfinished things; emptied when a build starts."""
        return self.build / "tmp"

    @property
    def html(self) -> Path:
        """The site."""
        return self.build / "html"

    @property
    def records(self) -> Path:
        """What the chapters observed."""
        return self.build / "records.json"

    @property
    def pages(self) -> Path:
        """What the chapters show besides."""
        return self.build / "pages.json"

    def expected_pages(self, profile: str) -> Path:
        """What they are expected to show."""
        return self.root / "data" / "expected" / f"{profile}.pages.json"

    def expected_sums(self, profile: str) -> Path:
        """Checksums of what is expected, where the same machine makes it."""
        return self.root / "data" / "expected" / f"{profile}.sha256"

    def expected(self, profile: str) -> Path:
        """What they are expected to observe."""
        return self.root / "data" / "expected" / f"{profile}.json"

    def name(self, path: Path) -> str:
        """`path` relative to the root, with slashes."""
        return path.relative_to(self.root).as_posix()

    def hashes(self, *patterns: str) -> dict[str, str]:
        """Digest of every file that matches one of `patterns`, by name; caches and hidden files left out."""
        files = {file for pattern in patterns for file in self.root.glob(pattern) if file.is_file()}
        names = {self.name(file): file for file in files}
        visible = {n: f for n, f in names.items() if not any(p[0] == "." or p == "__pycache__" for p in n.split("/"))}
        return {name: digest(visible[name].read_bytes()) for name in sorted(visible)}

    def fresh(self) -> Path:
        """A name in the scratch folder that nothing has yet."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        return self.scratch / uuid.uuid4().hex

    def write(self, path: Path, data: bytes) -> None:
        """Write a file whole or not at all."""
        temporary = self.fresh()
        temporary.write_bytes(data)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(temporary, path)

    def replace_folder(self, new: Path, target: Path) -> None:
        """Put the finished folder `new` in the place of `target`."""
        target.parent.mkdir(parents=True, exist_ok=True)
        old = self.fresh()
        if target.exists():
            os.rename(target, old)
        os.rename(new, target)
        shutil.rmtree(old, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One build at a time; the system lets go of the lock of a process that died."""
        self.build.mkdir(parents=True, exist_ok=True)
        with open(self.build / "lock", "a+", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                owner = file.read().strip() or "unknown"
                raise BuildError(f"{self.name(self.build)}: process {owner} is building here; wait for it") from None
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            shutil.rmtree(self.scratch, ignore_errors=True)
            try:
                yield
            finally:
                shutil.rmtree(self.scratch, ignore_errors=True)
                file.truncate(0)
