"""The figures of a build in a table: who draws each, of what parameters, in what time, and its digest."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from companion.press.execute import Job
from companion.press.layout import digest

FILE = "figures.csv"
#: Where the cell of a figure says which figure of a paper it draws again.
REPRODUCES = "reproduces"
COLUMNS = ("figure", "reproduces", "notebook", "cell", "parameters", "seconds", "sha256")


def drawn(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """A row a figure, in the order of the book; `seconds` are those of its whole page, when it last ran."""
    rows = []
    for job in jobs:
        source = {cell.id: cell.metadata for cell in job.chapter.notebook.cells}
        told = {"notebook": job.chapter.name, "parameters": json.dumps(job.chapter.parameters)}
        told["seconds"] = json.loads(job.stamp.read_bytes())["seconds"]
        for cell in job.executed().cells:
            for output in cell.get("outputs", []):
                if figure := output.get("metadata", {}).get("figure"):
                    picture = digest(output.data["image/svg+xml"].encode())
                    of = source[cell.id].get(REPRODUCES, "")
                    rows.append({"figure": figure["name"], REPRODUCES: of, "cell": cell.id, "sha256": picture} | told)
    return rows


def table(rows: Iterable[dict[str, Any]]) -> bytes:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
