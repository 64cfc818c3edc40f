"""Where commands write: never over what is there, and looked at before anything is spent."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from dprank.data.declaration import declared_part, release_part
from dprank.data.files import whole_file

__all__ = ["is_plan", "require_new", "require_replaceable", "require_writable", "write_new", "write_over"]


def require_new(out: Path) -> None:
    """Refuse a place where something is: a release that was paid for, data, a budget, hours of counting.

    Examples
    --------
    >>> require_new(Path(tempfile.gettempdir()) / "no such file")
    """
    if out.is_file() and out.stat().st_size:
        raise FileExistsError(errno.EEXIST, "is there already; say another name, or take it away first", str(out))


def is_plan(out: Path) -> bool:
    """Whether a file is a declaration or a plan."""
    try:
        return bool(declared_part(out) or release_part(out))
    except (OSError, ValueError):
        return False


def require_replaceable(out: Path | None, ours: Callable[[Path], bool] = is_plan, *, device: bool = True) -> None:
    """The rule of all that writes what may be made again: over its own kind alone, into no folder, through no link.

    Parameters
    ----------
    out : Path or None
        None is where nothing is written.
    ours : callable
        Whether a file that is there is of the kind that is written.
    device : bool
        Whether a device or a pipe may take it: what is written there is gone.

    Examples
    --------
    >>> require_replaceable(None)
    >>> require_replaceable(Path(tempfile.mkdtemp()))
    Traceback (most recent call last):
        ...
    IsADirectoryError: [Errno 21] is a folder: ...
    """
    if out is None:
        return
    if out.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(out))
    if not out.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(out.parent))
    if out.is_symlink() and (out.is_file() or not out.exists()):
        raise FileExistsError(errno.EEXIST, "is a link; the name of a file is needed", str(out))
    if out.exists() and not out.is_file() and not device:
        raise OSError(errno.EINVAL, "is no file; the name of a file is needed", str(out))
    if not (out.is_file() and ours(out)):
        require_new(out)


def write_over(out: Path, text: str) -> None:
    """All of a file or nothing, where `require_replaceable` lets it be.

    Examples
    --------
    >>> out = Path(tempfile.mkdtemp()) / "plan.toml"
    >>> write_over(out, "")
    >>> out.read_text()
    ''
    """
    if out.exists() and not out.is_file():
        out.write_text(text, encoding="utf-8")
        return
    with whole_file(out) as file:
        file.write(text.encode())


def require_writable(out: Path) -> None:
    """Refuse a place where no file can be written, or where something is.

    Examples
    --------
    >>> require_writable(Path(tempfile.gettempdir()) / "no such file")
    """
    if out.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(out))
    if not out.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(out.parent))
    require_new(out)
    target = Path(os.path.realpath(out))
    if target.is_symlink() or not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "is a link to where no file can be; a file is needed", str(out))
    if _written_through(out):
        return
    try:
        with tempfile.TemporaryFile(dir=out.parent) as place:
            place.write(bytes(1 << 16))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(out)) from None


def write_new(out: Path, text: str) -> None:
    """All of a file or nothing; whoever cannot write what is spent has to show it.

    Examples
    --------
    >>> out = Path(tempfile.mkdtemp()) / "release.json"
    >>> write_new(out, "{}")
    >>> out.read_text()
    '{}'
    """
    require_new(out)
    if _written_through(out):
        out.write_text(text, encoding="utf-8")
        return
    with whole_file(out) as file:
        file.write(text.encode())


def _written_through(out: Path) -> bool:
    """A pipe, a device or a link: what stands in its place would be another thing."""
    return out.is_symlink() or (out.exists() and not out.is_file())
