"""A column of every type that Parquet holds and we read, and cells that somebody could put into it."""

from decimal import Decimal

import numpy as np
import pyarrow as pa

WHOLE = pa.array([0, 3, None, 5], pa.int64())
DAYS = pa.array([0, 86_400_000, None, 864_000_000], pa.int64())
#: Whole numbers of every width, at both ends.
WIDTHS = {
    str(kind): (pa.array([0, 1, None, most], kind), [most - 1, least])
    for sign, low in (("", -1), ("u", 0))
    for bits in (8, 16, 32, 64)
    for kind in [getattr(pa, f"{sign}int{bits}")()]
    for most, least in [(2 ** (bits - (not sign)) - 1, low << (bits - 1))]
}
#: A column a type, and cells that somebody could put there.
TYPES = {
    "timestamp": (WHOLE.view(pa.timestamp("us")), [1, 2**62, -(2**63), 86_400_000_000]),
    "seconds": (WHOLE.view(pa.timestamp("s")), [1, 2**50, -(2**50)]),
    "zone": (WHOLE.view(pa.timestamp("ns", "Europe/Oslo")), [1, 2**62]),
    "date32": (WHOLE.cast(pa.int32()).view(pa.date32()), [10**8, -(2**31)]),
    "date64": (DAYS.view(pa.date64()), [86_400_000 * 10**6]),
    **WIDTHS,
    "int": (WHOLE, [2**63 - 1, -(2**63)]),
    "float": (pa.array([0.0, 3.0, None, 5.0]), [0.5, 1e300, np.nan, np.inf]),
    "single": (pa.array(np.array([0.1, np.nan, 3], "f4")), [0.5]),
    "half": (pa.array(np.array([0, 3, 5], "f2")), [0.5]),
    "decimal": (pa.array([Decimal("0.50"), None, Decimal("3.00")], pa.decimal128(30, 2)), [Decimal(10**20)]),
    "wide decimal": (pa.array([1, None, 3], pa.decimal256(40, 0)), [Decimal(10**30)]),
    "bool": (pa.array([True, None, False]), [None]),
    "text": (pa.array(["flu", "", None, "1.0"]), ["nan", "\0", "x" * 10_000]),
    "bytes": (pa.array([b"flu", b"", None]), [b"\xff\xfe", b"\0"]),
    "large text": (pa.array(["flu", None, "gout"], pa.large_string()), ["x"]),
    "fixed bytes": (pa.array([b"ab", None, b"cd"], pa.binary(2)), [b"\xff\0"]),
    "dictionary": (pa.array(["flu", None, "gout"]).dictionary_encode(), ["secret", None]),
    "view": (pa.array(["flu", None, "gout"], pa.string_view()), ["x"]),
    "null": (pa.nulls(3), [None]),
}
UUID = pa.uuid() if hasattr(pa, "uuid") else None  # pyarrow 17 has no such type
if UUID is not None:
    TYPES["uuid"] = (pa.array([bytes(16), None, bytes(range(16))], UUID), [None])


def changed(column, at, cell):
    """The column with another cell."""
    storage = column.storage if column.type == UUID else column
    if isinstance(cell, int) and not pa.types.is_integer(column.type):  # of dates, the number that stands for it
        whole = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
        cells = column.view(whole).to_pylist()
        cells[at] = cell
        return pa.array(cells, whole).view(column.type)
    cells = storage.cast(storage.type.value_type if pa.types.is_dictionary(storage.type) else storage.type).to_pylist()
    cells[at] = np.float16(cell) if pa.types.is_float16(storage.type) else cell
    made = pa.array(cells, pa.string() if pa.types.is_dictionary(storage.type) else storage.type)
    return made.dictionary_encode() if pa.types.is_dictionary(column.type) else made.cast(column.type)
