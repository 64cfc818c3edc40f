"""Where commands write: never over what is there, and looked at before anything is spent."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

from dprank.data.declaration import declared_part, release_part
from dprank.data.files import whole_file

__all__ = ["require_new", "require_replaceable", "require_writable", "write_new"]


def require_new(out: Path) -> None:
    """Refuse a place where something is: a release that was paid for, data, a budget, hours of counting.

    Examples
    --------
    >>> require_new(Path(tempfile.gettempdir()) / "no such file")
    """
    if out.is_file() and out.stat().st_size:
        raise FileExistsError(errno.EEXIST, "is there already; say another name, or take it away first", str(out))


def require_replaceable(out: Path | None) -> None:
    """The same, but for a declaration or a plan, over which another may be written.

    Examples
    --------
    >>> require_replaceable(None)
    """
    if out is None:
        return
    try:
        if out.is_file() and (declared_part(out) or release_part(out)):
            return
    except ValueError:
        pass
    require_new(out)


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
    if _written_through(out):
        return
    try:
        with tempfile.TemporaryFile(dir=out.parent) as place:
            place.write(bytes(1 << 16))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(out)) from None


def write_new(out: Path, text: str) -> None:
    """All of a file or nothing; what cannot be written any more is shown, as it is spent.

    Examples
    --------
    >>> out = Path(tempfile.mkdtemp()) / "release.json"
    >>> write_new(out, "{}")
    >>> out.read_text()
    '{}'
    """
    try:
        require_new(out)
        if _written_through(out):
            out.write_text(text, encoding="utf-8")
            return
        with whole_file(out) as file:
            file.write(text.encode())
    except OSError:
        print(text, end="", flush=True)
        raise


def _written_through(out: Path) -> bool:
    """A pipe, a device or a link: what stands in its place would be another thing."""
    return out.is_symlink() or (out.exists() and not out.is_file())
