"""Kernels that keep to themselves what their process says: what cells write comes by message, not from there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager

SAID = "said"


class Manager(AsyncKernelManager):
    """Starts a kernel whose own stdout and stderr go to a file beside its connection file, not to the terminal."""

    async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
        """Start the kernel; `options` are those of Jupyter's managers."""
        with (Path(self.connection_file).parent / SAID).open("wb") as file:
            try:
                await super().start_kernel(**options, stdout=file, stderr=subprocess.STDOUT)
            except Exception:
                await self.shutdown_kernel(now=True)  # a socket left open has this process wait for it for ever
                raise


def last_words(folder: Path) -> str:
    """The line in which a kernel whose connection file is in `folder` said what it died of; empty if it did not."""
    try:
        said = (folder / SAID).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    line = re.search(r"^[A-Za-z][\w. ]*: .+", said, re.MULTILINE)
    return line[0] if line else ""
