"""Kernels that keep to themselves what their process says: what cells write comes by message, not from there.

Where many are started, on Linux, they are forked from a process that has the libraries loaded (`nursery`): two seconds
less a chapter.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from companion.press import nursery

SAID = "said"


class Manager(AsyncKernelManager):
    """Starts a kernel whose own stdout and stderr go to a file beside its connection file, not to the terminal; nowhere
    if nobody has said where that is.
    """

    async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
        """Start the kernel; `options` are those of Jupyter's managers."""
        said = Path(self.connection_file).parent / SAID if self.connection_file else Path(os.devnull)
        with said.open("wb") as file:
            try:
                await super().start_kernel(**options, stdout=file, stderr=subprocess.STDOUT)
            except Exception:
                await self.shutdown_kernel(now=True)  # a socket left open has this process wait for it for ever
                raise


#: A Python that was built against old headers, as conda's may be, knows no file descriptor of a process.
FORKS = sys.platform == "linux" and hasattr(os, "pidfd_open") and hasattr(signal, "pidfd_send_signal")


class Forking(Manager):
    """Starts kernels that are forked from one process that has the libraries loaded: where many are started."""

    async def start_kernel(self, **options: Any) -> None:  # type: ignore[override]
        """Start the kernel, with the `options` of `Manager`."""
        if FORKS and self.provisioner is None:
            self.provisioner = Forked(kernel_spec=self.kernel_spec, parent=self)
        await super().start_kernel(**options)


class Forked(LocalProvisioner):
    """Has the kernel forked, or started afresh where nothing can be forked."""

    process: Any = None

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Start the kernel."""
        folder, said = options.get("cwd") or Path.cwd(), Path(options["stdout"].name)
        asked = {"argv": cmd[cmd.index("-m") + 1 :], "env": options["env"]}
        asked |= {"cwd": os.fspath(folder), "said": os.fspath(said.absolute())}
        try:
            self.process = Child(_fork(json.dumps(asked)))
        except (OSError, ValueError):
            return await super().launch_kernel(cmd, **options)
        self.pid = self.pgid = self.process.pid
        self.cwd = folder
        return self.connection_info


class Child:
    """What Jupyter asks of a process, of one that another has started."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._ended = os.pidfd_open(pid)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            raise

    def poll(self) -> int | None:
        """None as long as it runs; of what it returns nothing is known."""
        return 0 if select.select([self._ended], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait for its end, which is asked for once."""
        select.select([self._ended], [], [])
        os.close(self._ended)
        return 0

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        signal.pidfd_send_signal(self._ended, number)


_nursery: tuple[dict[str, str], subprocess.Popen[str]] | None = None


def _fork(asked: str) -> int:
    """Number of a kernel's process, forked from one that has the same variables as this."""
    global _nursery
    variables = dict(os.environ)
    if _nursery is None or _nursery[0] != variables or _nursery[1].poll() is not None:
        close()
        command = [sys.executable, nursery.__file__]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        started = subprocess.Popen(command, **pipes, text=True, encoding="utf-8", start_new_session=True)
        _nursery = variables, started
        assert started.stdout is not None
        started.stdout.readline()
    _, process = _nursery
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{asked}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


@atexit.register
def close() -> None:
    """Have no more kernels forked from the process that has the libraries loaded, if there is one."""
    if _nursery is not None:
        _nursery[1].communicate()


def last_words(folder: Path) -> str:
    """The line in which a kernel whose connection file is in `folder` said what it died of; empty if it did not."""
    try:
        said = (folder / SAID).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    line = re.search(r"^[A-Za-z][\w. ]*: .+", said, re.MULTILINE)
    return line[0] if line else ""
