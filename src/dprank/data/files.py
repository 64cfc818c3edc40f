"""Tables out of files. What pandas and Arrow say of a file quotes it, and is never passed on."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dprank._require import WrongType, require_columns, require_extra, require_label, shown
from dprank.data.kinds import require_unpacked
from dprank.data.uuids import is_uuid, uuid_columns, uuids_of

__all__ = [
    "MOST_COLUMNS",
    "AtOnce",
    "as_pandas",
    "is_parquet",
    "parquet_file",
    "parquet_frame",
    "read_table",
    "reading",
    "require_path",
    "require_plain",
    "require_regular",
    "whole_file",
]

#: More make a table that nobody meant.
MOST_COLUMNS = 100_000
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]*:/")
# the only words of a reader that are repeated: they say where
_RAGGED = re.compile(r"Error tokenizing data\. C error: Expected \d+ fields in line (\d+), saw \d+\s*")


def read_table(path: Any, labels: Sequence[str], numbers: Sequence[str] = ()) -> Any:
    """A CSV or Parquet file as a frame that has each of the columns once.

    Parameters
    ----------
    path : path
        Parquet if its name or its first bytes say so, else CSV. Of a plain file of this machine: no address is fetched,
        and nothing is unpacked.
    labels : sequence of str
        Columns that stay as they are written: an item may be called 01, or None.
    numbers : sequence of str
        Columns of numbers, where NA, NaN and null are none.

    Examples
    --------
    >>> import dprank
    >>> read_table(dprank.example("answers.csv"), ["first", "second", "person"], ["outcome"]).iloc[0].to_dict()
    {'first': 'London', 'second': 'Paris', 'outcome': 0.0, 'person': '1'}
    """
    import pandas as pd

    for name in (*labels, *numbers):
        require_label("column", name)
    if isinstance(path, str | os.PathLike):
        named, path = str(path), require_plain(path)
    elif callable(getattr(path, "read", None)):
        named = shown(path)
    else:
        raise WrongType(f"path is of type {type(path).__name__}; the name of a file is needed")
    if is_parquet(path):
        return parquet_frame(path)
    gone: dict[Any, list[str]] = {label: [""] for label in labels}
    gone |= {number: ["", "NA", "NaN", "nan", "NULL", "null"] for number in numbers}
    options: Any = {"dtype": dict.fromkeys(labels, str), "na_values": gone, "keep_default_na": False}
    options["compression"] = None
    with reading(named, "CSV"):
        header_only: Any = {"compression": None, "header": None, "nrows": 1, "dtype": str, "na_filter": False}
        again = pd.read_csv(path, **header_only) if isinstance(path, str | os.PathLike) else None
    if again is not None and len(again):
        _require_commas(named, again.iloc[0].tolist(), [*labels, *numbers])
    with reading(named, "CSV"):
        whole = Path(path).read_bytes() if isinstance(path, str | os.PathLike) else path.read()
        frame = pd.read_csv(AtOnce(whole), low_memory=False, **options)
    if not isinstance(frame.index, pd.RangeIndex):  # pandas takes what is too much for names of rows
        raise ValueError(f"{named} is no CSV table: its rows have more fields than its header")
    if again is not None and len(again):  # pandas renames a column that comes again
        header = again.iloc[0].tolist()
        require_columns(header, [name for name in (*labels, *numbers) if header.count(name) > 1])
    return frame


def _require_commas(named: str, header: list[str], asked: list[Any]) -> None:
    """Refuse a header that has what is asked for by another sign between its names."""
    names = {name.strip('"') for name in header}
    if not asked or names.issuperset(asked):
        return
    for sign, said in (("\t", "tabs"), (";", "semicolons"), ("|", "bars")):
        if {it.strip('"') for it in ",".join(header).split(sign)}.issuperset(asked):
            named = Path(named).name
            raise ValueError(
                f"{named} is separated by {said}, and this reads commas alone: dprank.Declaration(…).read takes either"
            )


class AtOnce:
    """A text that pandas takes at once, whatever it asks for.

    It asks for some 262,144 bytes. Where they end in the blanks at the head of a row, it forgets those that it has seen
    (pandas 2.2 to 3.1, unless blank lines are rows): a cell would hang on how long the rows above are, which is theirs.
    """

    def __init__(self, text: Any) -> None:
        self._text = text

    def read(self, size: int = -1) -> Any:
        """All of it, and then nothing."""
        text, self._text = self._text, self._text[:0]
        return text

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read().splitlines(keepends=True))


def as_pandas(frame: Any) -> Any:
    """A table of pandas, polars or pyarrow as one of pandas, whole numbers still whole where some are missing.

    Raises
    ------
    ValueError
        Where it is no table, or where pyarrow is needed and absent.

    Notes
    -----
    O(cells). Neither polars nor pyarrow is imported unless it made the table, or polars asks for pyarrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> bool(as_pandas(pa.table({"person": [2**60, None]})).iloc[0, 0] == 2**60)
    True
    """
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    made_by = type(frame).__module__.partition(".")[0]
    if made_by == "polars" and hasattr(frame, "to_arrow"):
        require_extra("pyarrow", "parquet", "a table of polars")
        frame, made_by = frame.to_arrow(), "pyarrow"
    if isinstance(frame, type) or not callable(getattr(frame, "to_pandas", None)):
        raise WrongType(
            f"frame is of type {type(frame).__name__}; a pandas.DataFrame is needed, or a table of polars or pyarrow"
        )
    try:
        table = frame.to_pandas(types_mapper=_nullable) if made_by == "pyarrow" else frame.to_pandas()
        if made_by == "pyarrow" and hasattr(frame, "schema"):
            _name_uuids(table, {it.name: frame[it.name] for it in frame.schema if is_uuid(it)})
    except Exception:  # what is foreign may raise anything, and quote a cell
        table = None
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"frame of type {type(frame).__name__} makes no pandas.DataFrame")
    return table


def _name_uuids(frame: Any, columns: Mapping[str, Any]) -> None:
    """Write UUIDs, of which Arrow makes bytes, into a frame."""
    for name, column in columns.items():
        if name in frame.columns:
            frame[name] = np.array([it or None for it in uuids_of(column)], object)


def _nullable(kind: Any) -> Any:
    """Pandas' type for one of Arrow's; None leaves it to pandas."""
    import pandas as pd

    names = {"bool": pd.BooleanDtype(), "float": pd.Float32Dtype(), "double": pd.Float64Dtype()}
    for bits in (8, 16, 32, 64):
        names |= {f"int{bits}": pd.array([], f"Int{bits}").dtype, f"uint{bits}": pd.array([], f"UInt{bits}").dtype}
    return names.get(str(kind))


def _require_text(frame: Any) -> None:
    """Refuse bytes that are no UTF-8: what takes them for text fails later, and quotes them."""
    import pandas as pd
    import pyarrow as pa

    for at in range(frame.shape[1]):
        column = frame.iloc[:, at]
        values = column.cat.categories.to_series() if isinstance(column.dtype, pd.CategoricalDtype) else column
        if isinstance(values.dtype, pd.StringDtype):
            try:
                pa.array(values.array).validate(full=True)
            except pa.ArrowInvalid:
                raise UnicodeError from None


def parquet_frame(path: Any) -> Any:
    """A Parquet file as a frame; one empty cell makes no floats of the whole numbers of its column.

    Raises
    ------
    ValueError
        Where it is no Parquet file, or pyarrow is absent.
    """
    import pandas as pd

    with parquet_file(path) as file, reading(path, "Parquet"):
        frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
        _require_text(frame)
        uuids = sorted(uuid_columns(file))
        _name_uuids(frame, {name: file.read(columns=[name])[name] for name in uuids})
    return frame


def parquet_file(path: Any, **options: Any) -> Any:
    """A Parquet file, open, whose footer agrees with itself; `options` are those of `pyarrow.parquet.ParquetFile`.

    Where a damaged footer tells more rows of a group than its columns hold, Arrow makes room for all of them (pyarrow
    26: gigabytes for a file of 700 bytes). Such a file is refused before anything is read.

    Raises
    ------
    ValueError
        Where it is no Parquet file, or pyarrow is absent.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"n": [1, 2, 3]}), f"{folder}/a.parquet")
    ...     with parquet_file(f"{folder}/a.parquet") as file:
    ...         file.metadata.num_rows
    3
    """
    parquet = require_extra("pyarrow.parquet", "parquet", f"{_named(path)}: Parquet")
    with reading(path, "Parquet"):
        file = parquet.ParquetFile(path, **options)
        if not _agrees(file.metadata):
            file.close()
            raise ValueError("it tells of other rows than it holds")
    return file


def _agrees(footer: Any) -> bool:
    """Whether the groups of a Parquet file add up, and none has more rows than values of any column."""
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    fewest = [min((it.column(at).num_values for at in range(it.num_columns)), default=it.num_rows) for it in groups]
    held = all(group.num_rows <= values for group, values in zip(groups, fewest, strict=True))
    return held and footer.num_rows == sum(it.num_rows for it in groups)


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[Any]:
    """A file to write, which takes its name when all is on the disk: all of it is there, or nothing.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.json"
    >>> with whole_file(path) as file:
    ...     _ = file.write(b"{}")
    ...     print(path.exists())
    False
    >>> path.read_bytes()
    b'{}'
    """
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def is_parquet(path: Any) -> bool:
    """Whether a path is that of a Parquet file, by its name or by its first bytes.

    Examples
    --------
    >>> is_parquet("answers.PQ"), is_parquet("answers.csv")
    (True, False)
    """
    if not isinstance(path, str | os.PathLike):
        return False
    if str(path).lower().endswith((".parquet", ".pq")):
        return True
    try:
        if not os.path.isfile(path):  # a pipe might never answer
            return False
        with open(path, "rb") as file:
            return file.read(4) == b"PAR1"
    except (OSError, ValueError):  # the reader says what is wrong
        return False


def require_path(path: Any) -> Path:
    """Refuse what is no name of a file, and what may be its content.

    Examples
    --------
    >>> require_path("a,b\\n1,2")
    Traceback (most recent call last):
        ...
    ValueError: path has several lines; the name of a file is needed, not what is in it
    """
    try:
        named = Path(path)
    except TypeError:
        raise WrongType(f"path is of type {type(path).__name__}; the name of a file is needed") from None
    _require_one_line(str(named))
    return named


def require_plain(path: str | os.PathLike[str], *, contained: bool = False) -> Path:
    """The whole name of a regular file of this machine, so that a reader takes it for nothing else.

    Parameters
    ----------
    path : path
    contained : bool
        Whether it may be in a container, of which `dprank.data.containers.container_of` says which.

    Raises
    ------
    ValueError
        Where it is an address, a folder, a device, a pipe or a socket; or compressed, a workbook, a database and so on.
    OSError
        Where there is no such file.

    Examples
    --------
    >>> require_plain("https://dprank.example/answers.csv")
    Traceback (most recent call last):
        ...
    ValueError: https://dprank.example/answers.csv is an address; the name of a file on this machine is needed
    """
    named = require_path(path)
    said = os.fspath(path)
    said = said if isinstance(said, str) else str(named)
    plain = Path(os.path.abspath(os.path.expanduser(said)))
    try:
        mode = os.stat(plain).st_mode
    except FileNotFoundError:
        if _ADDRESS.match(said) and not plain.drive:
            raise ValueError(f"{said} is an address; the name of a file on this machine is needed") from None
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), said) from None
    except ValueError:  # a null character
        raise ValueError(f"{shown(said)} is no name of a file") from None
    require_regular(said, mode)
    if not contained:
        require_unpacked(said, plain)
    return plain


def require_regular(name: str, mode: int) -> None:
    """Refuse what is no regular file, by its mode: a folder has no rows, and a device or a pipe may have no end.

    Examples
    --------
    >>> require_regular("queue", stat.S_IFIFO)
    Traceback (most recent call last):
        ...
    ValueError: queue is a pipe; a regular file is needed
    """
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(mode):
        raise ValueError(f"{name} is {kinds.get(stat.S_IFMT(mode), 'something else')}; a regular file is needed")


def _require_one_line(name: str) -> None:
    if len(name.splitlines()) > 1:
        raise ValueError("path has several lines; the name of a file is needed, not what is in it")


@contextmanager
def reading(path: Any, kind: str) -> Iterator[None]:
    """Refuse what is no table of this kind, in words of our own.

    Examples
    --------
    >>> with reading("answers.csv", "CSV"):
    ...     raise KeyError("what the file holds")
    Traceback (most recent call last):
        ...
    ValueError: answers.csv is no CSV table
    """
    name = _named(path)
    _require_one_line(name)
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        ragged = _RAGGED.fullmatch(str(error))
        where = f": line {ragged[1]} has more fields than those above it" if ragged else ""
        where += "; text in UTF-8 is needed" if isinstance(error, UnicodeError) else ""
        raise ValueError(f"{name} is no {kind} table{where}") from None


def _named(path: Any) -> str:
    return str(path) if isinstance(path, str | os.PathLike) else shown(path)
