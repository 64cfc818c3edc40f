"""Exact counts of a part of the people: whole numbers that are added up before noise is drawn, once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dprank._require import MOST, require_bool, require_extra, require_one_of, require_whole, settle, shown
from dprank.data.comparisons import Design, item_names
from dprank.data.counting import Score
from dprank.data.files import is_parquet, parquet_file, reading, require_regular, whole_file

__all__ = ["BEYOND", "SCHEMA", "SECRET", "Counts", "merged", "read_counts"]

#: Of the file; another number when its fields change.
SCHEMA = "dprank.counts/2"
#: What stands in every file.
SECRET = "secret: exact counts without noise; not for publication"
#: Why a row that says something is not counted.
BEYOND = "beyond what counts of a person"
Kind = Literal["comparisons", "tallies"]
_SUMS = {"comparisons": ("wins", "ties", "losses"), "tallies": ("persons",)}
_MOST_SHARDS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Exact counts of all people, or of those that a hash puts into some shards: secret until a mechanism adds noise.

    Each person is in one shard, whatever the files: so what a person gives is bounded once, and added once. How people
    are bounded is the same whether one is replaced or comes and goes; a count is of no adjacency.

    Parameters
    ----------
    kind : {"comparisons", "tallies"}
    items : sequence of str
        All of them, declared.
    per_person : int or None
        Answers, or items, of a person that count; None where one comparison is what is protected.
    design, ties
        As in `Comparisons.bounded`; "any" and True of tallies.
    sums : mapping of str to sequence of int
        One number an item: ``wins``, ``ties`` and ``losses``, or how many ``persons`` have it.
    shards : int
        Into how many the people are split.
    parts : sequence of int
        Which of them are counted here, from 1.
    rows : int
        That were read of these people.
    left_out : mapping of str to int
        Rows that do not count, by reason.
    others : int
        Rows in the same files of people of other shards.
    sizes : sequence of int
        Bytes of each of the files, by which they are known again.
    rules : str
        The declaration, as TOML.
    engines : sequence of str
        What counted, with versions.

    Raises
    ------
    ValueError
        Naming the field; also where the rows that are counted and left out are not all.

    See Also
    --------
    dprank.data.engines.count : makes them.
    merged : adds them up.

    Examples
    --------
    >>> some = Counts(
    ...     kind="tallies", items=["flu", "gout"], per_person=1, sums={"persons": [3, 1]}, shards=2, parts=[1], rows=4
    ... )
    >>> some.unit, some.missing
    ('voter', (2,))
    """

    kind: Kind
    items: tuple[str, ...]
    per_person: int | None
    design: Design = "any"
    ties: bool = True
    sums: Mapping[str, tuple[int, ...]]
    shards: int = 1
    parts: tuple[int, ...] = (1,)
    rows: int
    left_out: Mapping[str, int] | None = None
    others: int = 0
    sizes: tuple[int, ...] = ()
    rules: str = ""
    engines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kind = require_one_of("kind", self.kind, get_args(Kind))
        items = item_names(self.items)
        most = self.per_person
        if most is None and kind == "tallies":
            raise ValueError("per_person = None; say how many items of a person count: what is beyond is left out")
        shards = require_whole("shards", self.shards, 1, _MOST_SHARDS)
        parts = tuple(sorted(require_whole("parts", part, 1, shards) for part in _listed("parts", self.parts)))
        if not parts or len(set(parts)) < len(parts):
            raise ValueError("parts are none, or one of them is there twice")
        settle(
            self,
            items=items,
            per_person=None if most is None else require_whole("per_person", most, 1),
            design=require_one_of("design", self.design, get_args(Design)),
            ties=require_bool("ties", self.ties),
            sums=self._whole_sums(kind, len(items)),
            shards=shards,
            parts=parts,
            rows=require_whole("rows", self.rows, 0),
            left_out={
                _text("left_out", reason): require_whole("left_out", number, 0)
                for reason, number in sorted(_mapping("left_out", self.left_out or {}).items())
                if number
            },
            others=require_whole("others", self.others, 0),
            sizes=tuple(sorted(require_whole("sizes", it, 0) for it in _listed("sizes", self.sizes))),
            rules=_text("rules", self.rules),
            engines=tuple(sorted({_text("engines", it) for it in _listed("engines", self.engines)})),
        )
        if kind == "tallies" and (self.design, self.ties) != ("any", True):
            raise ValueError(f"design = {self.design!r}, ties = {self.ties}; of tallies they are 'any', True")
        if self.kept + sum((self.left_out or {}).values()) != self.rows:
            raise ValueError("rows are not those that are counted and those left out: something is lost or twice there")

    def _whole_sums(self, kind: str, n_items: int) -> dict[str, tuple[int, ...]]:
        given = _mapping("sums", self.sums)
        if set(given) != set(_SUMS[kind]):
            raise ValueError(f"sums are not {', '.join(_SUMS[kind])}: those of {kind} are")
        sums = {}
        for name in _SUMS[kind]:
            numbers = _listed(name, given[name])
            if len(numbers) != n_items:
                raise ValueError(f"{name} has another length than items: one number an item is needed")
            for at, number in enumerate(numbers):
                if type(number) is not int or not 0 <= number <= MOST:
                    raise ValueError(f"{name}[{at}] is no whole number from 0 to 2^53")
            sums[name] = tuple(numbers)
        if kind == "comparisons":
            won, tied, lost = (sum(sums[name]) for name in _SUMS[kind])
            if won != lost or tied % 2 or (tied and not self.ties):
                raise ValueError("wins, ties and losses do not belong together: every answer has two sides")
        return sums

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def unit(self) -> Literal["voter", "comparison"]:
        """What was bounded: all that a person gave, or nothing."""
        return "comparison" if self.per_person is None else "voter"

    @property
    def kept(self) -> int:
        """How many rows are counted."""
        if self.kind == "tallies":
            return sum(self.sums["persons"])
        return sum(self.sums["wins"]) + sum(self.sums["ties"]) // 2

    @property
    def missing(self) -> tuple[int, ...]:
        """Shards that are not counted here."""
        return tuple(sorted(set(range(1, self.shards + 1)) - set(self.parts)))

    def __repr__(self) -> str:
        return f"Counts of {self.n_items} items, secret: {len(self.parts)} of {self.shards} shards"

    def scores(self, score: Score) -> NDArray[np.int64]:
        """What `dprank.data.counting.whole_counts` gives of the comparisons that count, shape (items,).

        Parameters
        ----------
        score : {"wins", "half", "net"}

        Examples
        --------
        >>> sums = {"wins": [1, 0], "ties": [1, 1], "losses": [0, 1]}
        >>> Counts(kind="comparisons", items=["a", "b"], per_person=1, sums=sums, rows=2).scores("half").tolist()
        [3, 1]
        """
        require_one_of("score", score, get_args(Score))
        won, tied, lost = (np.array(self.sums[name], np.int64) for name in _SUMS["comparisons"])
        return {"wins": won, "half": 2 * won + tied, "net": won - lost}[score]

    def require(self, kind: Kind, **promised: Any) -> Counts:
        """Itself, if it is whole and what a mechanism promised to count; all that is looked at is public.

        Parameters
        ----------
        kind : {"comparisons", "tallies"}
        **promised
            Attributes, by name.

        Raises
        ------
        ValueError
            Naming what differs, or the shards that are missing.

        Examples
        --------
        >>> some = Counts(kind="tallies", items=["flu", "gout"], per_person=1, sums={"persons": [3, 1]}, rows=4)
        >>> some.require("tallies", per_person=2)
        Traceback (most recent call last):
            ...
        ValueError: counts have per_person = 1; this release needs per_person = 2
        """
        if self.missing:
            more = f" and {len(self.missing) - 1} more" if len(self.missing) > 1 else ""
            raise ValueError(f"counts lack shard {self.missing[0]}/{self.shards}{more}; merge all shards first")
        for name, value in {"kind": kind, **promised}.items():
            if getattr(self, name) != value:
                raise ValueError(
                    f"counts have {name} = {shown(getattr(self, name))}; this release needs {name} = {shown(value)}"
                )
        return self

    def write(self, path: str | Path) -> None:
        """Write the counts, for the eyes of this user alone, where the system has such files.

        Parameters
        ----------
        path : path
            Parquet if its name says so, else JSON.

        Examples
        --------
        >>> import tempfile
        >>> some = Counts(kind="tallies", items=["flu", "gout"], per_person=1, sums={"persons": [3, 1]}, rows=4)
        >>> path = Path(tempfile.mkdtemp()) / "counts.json"
        >>> some.write(path)
        >>> read_counts(path) == some
        True
        """
        path = Path(path)
        head = {"schema": SCHEMA, "mark": SECRET}
        head |= {it.name: getattr(self, it.name) for it in fields(self) if it.name not in ("items", "sums")}
        columns = {"item": list(self.items), **{name: list(numbers) for name, numbers in self.sums.items()}}
        as_parquet = path.suffix.lower() in (".parquet", ".pq")
        if as_parquet:
            what = f"{path}: Parquet"
            arrow, parquet = (require_extra(it, "parquet", what) for it in ("pyarrow", "pyarrow.parquet"))
        with whole_file(path, 0o600) as file:
            if as_parquet:
                said = json.dumps(head, ensure_ascii=False).encode()
                parquet.write_table(arrow.table(columns).replace_schema_metadata({"dprank": said}), file)
            else:
                text = json.dumps(head | {"counts": columns}, ensure_ascii=False, indent=1)
                file.write(text.encode() + b"\n")


def read_counts(path: str | Path) -> Counts:
    """Counts as `Counts.write` wrote them.

    Parameters
    ----------
    path : path
        Parquet if its name or first bytes say so, else JSON.

    Raises
    ------
    ValueError
        Naming the file: where it holds no counts, or such as do not belong together.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "counts.json"
    >>> _ = path.write_text("{}")
    >>> read_counts(path)
    Traceback (most recent call last):
        ...
    ValueError: ...counts.json holds no counts: schema is not 'dprank.counts/2'
    """
    path = Path(path)
    require_regular(str(path), path.stat().st_mode)
    if is_parquet(path):
        with parquet_file(path) as file, reading(path, "Parquet"):
            table = file.read()
            text = (table.schema.metadata or {}).get(b"dprank", b"{}")
        columns = {name: table.column(name).to_pylist() for name in dict.fromkeys(table.column_names)}
    else:
        text, columns = path.read_bytes(), None
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"{path} holds no counts: it is neither Parquet nor JSON") from None
    if not isinstance(head, dict) or head.pop("schema", None) != SCHEMA:
        raise ValueError(f"{path} holds no counts: schema is not {SCHEMA!r}")
    try:
        columns = _mapping("counts", head.pop("counts", None) if columns is None else columns)
        if head.pop("mark", None) != SECRET:
            raise ValueError(f"mark is not {SECRET!r}")
        known = {it.name for it in fields(Counts)} - {"items", "sums"}
        if other := sorted(set(head) ^ known):
            raise ValueError(f"key {shown(other[0])} is {'unknown' if other[0] in head else 'missing'}")
        return Counts(items=columns.pop("item", ()), sums=columns, **head)
    except ValueError as error:
        raise ValueError(f"{path} holds no counts: {error}") from None


def merged(counts: Iterable[Counts]) -> Counts:
    """Counts of the shards of all, in any order: whole numbers added up.

    Parameters
    ----------
    counts : iterable of Counts
        Of the same items, bound and rules; no shard twice, for what is there twice would be counted twice.

    Raises
    ------
    ValueError
        Naming what differs, or the shard that is there twice; or where shards of other files were counted, and these
        files hold people of shards that nobody counted.

    Notes
    -----
    O(items) for each.

    Examples
    --------
    >>> shape = {"kind": "tallies", "items": ["flu", "gout"], "per_person": 1, "shards": 2}
    >>> one = Counts(**shape, parts=[1], sums={"persons": [3, 1]}, rows=4)
    >>> two = Counts(**shape, parts=[2], sums={"persons": [2, 2]}, rows=5, left_out={"no person": 1})
    >>> merged([two, one]).sums["persons"]
    (5, 3)
    >>> merged([one, one])
    Traceback (most recent call last):
        ...
    ValueError: shard 1/2 is there twice; whoever is in it would be counted twice
    """
    given = list(counts)
    if not given or not all(isinstance(it, Counts) for it in given):
        raise ValueError("counts are missing; files of `dprank count` are needed, at least one")
    first = given[0]
    for other in given[1:]:
        for name in ("kind", "items", "per_person", "design", "ties", "shards", "rules"):
            if getattr(other, name) != getattr(first, name):
                raise ValueError(f"{name} differs between counts; only counts of one kind can be added up")
    parts = Counter(part for it in given for part in it.parts)
    if twice := [part for part, times in parts.items() if times > 1]:
        raise ValueError(f"shard {min(twice)}/{first.shards} is there twice; whoever is in it would be counted twice")
    partial = [it for it in given if it.others]
    if any(it.sizes != partial[0].sizes for it in partial):
        raise ValueError(
            "shards were counted of different files, each with people of other shards, whom nobody counted: count all "
            "files for every shard, or `dprank split` each first"
        )
    missing = len(parts) < first.shards
    left_out: Counter[str] = Counter()
    for it in given:
        left_out.update(it.left_out or {})
    return replace(
        first,
        sums={name: tuple(map(sum, zip(*(it.sums[name] for it in given), strict=True))) for name in first.sums},
        parts=tuple(parts),
        rows=sum(it.rows for it in given),
        left_out=dict(left_out),
        others=max(it.others for it in given) if missing else 0,
        sizes=partial[0].sizes if partial and missing else (),
        engines=tuple(name for it in given for name in it.engines),
    )


def _text(name: str, given: Any) -> str:
    if type(given) is not str:
        raise ValueError(f"{name} = {shown(given)}; text is needed")
    return given


def _listed(name: str, given: Any) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f"{name} = {shown(given)}; a list is needed")
    return list(given)


def _mapping(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} = {shown(given)}; a table by name is needed")
    return dict(given)
