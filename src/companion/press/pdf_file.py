"""A PDF as Chromium writes it: where its pages and places are, what is wrong with it, and the same in fewer bytes.

Chromium writes every object plainly (PDF 1.4), most of them for screen readers; `packed` puts those that are
no streams into compressed ones (PDF 1.5; ISO 32000-1, 7.5.7 and 7.5.8).
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Mapping
from itertools import pairwise

HEAVIEST = 20_000_000  # bytes
#: Objects in a compressed stream.
_TOGETHER = 200
# Chromium writes its pages in their order, and one thing a line.
PAGE = re.compile(rb"(\d+) 0 obj\n<</Type /Page\n")
_PLACE = re.compile(rb"/(?!Dest )(\S+) \[(\d+) 0 R /XYZ ")
_LINK = re.compile(rb"/Dest /(\S+?)>?>?\n")
_DATE = re.compile(rb"(/(?:CreationDate|ModDate) \(D:)\d{14}")
_NODE = re.compile(rb"\(node\d{8}\)")
_ROW = re.compile(rb"(\d{10}) \d{5} ([nf]) ")


def starts(data: bytes) -> dict[str, int]:
    """The page on which each place begins that a link leads to."""
    pages = {number: place for place, number in enumerate(PAGE.findall(data), 1)}
    return {_name(name): pages[number] for name, number in _PLACE.findall(data)}


def _name(written: bytes) -> str:
    """A name as it stood in the document; the file writes some letters in hexadecimal."""
    return re.sub(rb"#([0-9A-Fa-f]{2})", lambda it: bytes.fromhex(it[1].decode()), written).decode()


def faults(data: bytes, numbers: Mapping[str, int], size: int) -> list[str]:
    """What is wrong with a file whose contents give the page `numbers`, and of which so many bytes are kept."""
    there = starts(data)
    return [
        *([f"{size:,} bytes; allowed: {HEAVIEST:,}"] if size > HEAVIEST else []),
        *(f"a link to {it}, which is nowhere" for it in sorted({_name(it) for it in _LINK.findall(data)} - set(there))),
        *(f"{it} is on page {there.get(it)}; the contents say {n}" for it, n in numbers.items() if there.get(it) != n),
    ]


def undated(data: bytes) -> bytes:
    """The file without the time it was made at; head cells are numbered anew, Chromium does it otherwise each time."""
    order: dict[bytes, int] = {}
    data = _DATE.sub(rb"\g<1>19700101000000", data)
    return _NODE.sub(lambda it: b"(node%08d)" % order.setdefault(it[0], len(order) + 1), data)


def packed(data: bytes) -> bytes:
    """The same objects under the same numbers, in less than half the bytes."""
    bodies = _objects(data)
    free = max(bodies) + 1
    out = bytearray(data[: data.index(b"\n1 0 obj") + 1].replace(b"%PDF-1.4", b"%PDF-1.5"))
    rows: dict[int, tuple[int, int, int]] = {}

    def write(number: int, body: bytes) -> None:
        rows[number] = (1, len(out), 0)
        out.extend(b"%d 0 obj\n%b\nendobj\n" % (number, body))

    for number, body in bodies.items():
        if body.endswith(b"endstream"):
            write(number, body)
    plain = [number for number in bodies if number not in rows]
    for start in range(0, len(plain), _TOGETHER):
        chosen = plain[start : start + _TOGETHER]
        content, places = bytearray(), []
        for place, number in enumerate(chosen):
            rows[number] = (2, free, place)
            places.append(b"%d %d" % (number, len(content)))
            content += bodies[number] + b"\n"
        head = b" ".join(places) + b"\n"
        write(free, _stream(b"/Type /ObjStm /N %d /First %d" % (len(chosen), len(head)), head + content))
        free += 1
    end = len(out)
    rows[free] = (1, end, 0)
    table = b"".join(struct.pack(">BIH", *rows.get(number, (0, 0, 0))) for number in range(free + 1))
    named = b" ".join(re.findall(rb"/(?:Root|Info) \d+ 0 R", data[data.rindex(b"trailer") :]))
    write(free, _stream(b"/Type /XRef /Size %d /W [1 4 2] %b" % (free + 1, named), table))
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % end


def _objects(data: bytes) -> dict[int, bytes]:
    """What stands between `obj` and `endobj`, by number."""
    table = data.rindex(b"\nxref\n") + 1
    rows = enumerate(_ROW.findall(data, table))
    begins = sorted((int(offset), number) for number, (offset, kind) in rows if kind == b"n")
    return {
        number: data[begin:end].partition(b" obj\n")[2].removesuffix(b"\nendobj\n")
        for (begin, number), (end, _) in pairwise([*begins, (table, 0)])
    }


def _stream(entries: bytes, content: bytes) -> bytes:
    data = zlib.compress(content, 9)
    return b"<<%b /Filter /FlateDecode /Length %d>> stream\n%b\nendstream" % (entries, len(data), data)
