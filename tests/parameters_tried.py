"""Every parameter of every chapter at the ends of what it allows: it runs, and something follows from it.

python tests/parameters_tried.py            all chapters
python tests/parameters_tried.py 07 15      some
python tests/parameters_tried.py --low      the low ends alone, or the first values of a list: what is quick
python tests/parameters_tried.py --times    how long each takes as it stands, for data/times.json; on an idle machine

By bare papermill. Ends with 1 where a chapter fails, or where nothing moved at both ends of a parameter.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
import papermill

from companion.instruments.parameters import Parameter, declarations
from companion.press.pages import entries

ROOT = Path(__file__).parents[1]
ROADS = [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if re.match(r"[0-8]\d-", path.name)]


def ends(parameter: Parameter) -> list[Any]:
    """The least and the most that is allowed, but for the default; of a pool, all of it."""
    if parameter.pool:
        given = [parameter.kind(it) for it in parameter.pool]
    elif parameter.kind is str:
        given = []
    else:
        given = [parameter.kind(parameter.low), parameter.kind(parameter.high)]
    whole = [given[: parameter.least], given] if parameter.many else given
    return [it for it in whole if it != parameter.default]


def run(road: Path, parameters: dict[str, Any], out: Path) -> set[tuple[str, str, str]]:
    """What a chapter shows with these values."""
    ran = papermill.execute_notebook(road, out / road.name, parameters, cwd=road.parent, progress_bar=False)
    return {(it.kind, it.name, repr(it.rows)) for it in entries(road.stem, ran)}


def tried(road: Path, low: bool) -> list[str]:
    """What is wrong with a chapter; prints a line for each run."""
    wrong = []
    declared = declarations(next(it for it in nbformat.read(road, 4).cells if it.cell_type == "code").source)
    with tempfile.TemporaryDirectory() as folder:
        committed = run(road, {}, Path(folder))
        for name, parameter in declared.items():
            moved = set[str]()
            values = ends(parameter)[: 1 if low else None]
            for value in values:
                began = time.perf_counter()
                try:
                    now = {kind for kind, *_ in run(road, {name: value}, Path(folder)) - committed}
                    told = ", ".join(sorted(now)) or "nothing moved"
                    moved |= now
                except papermill.PapermillExecutionError as error:
                    told = f"{error.ename}: {error.evalue}"
                    wrong.append(f"{road.stem}: {name} = {value!r}: {told}")
                print(f"{road.stem[:2]} {name} = {value!r}: {told} ({time.perf_counter() - began:.0f} s)", flush=True)
            if values and not moved:
                wrong.append(f"{road.stem}: nothing follows from {name}")
    return wrong


def timed(roads: list[Path]) -> None:
    """Write down how long each chapter takes from top to bottom in a fresh kernel."""
    file = ROOT / "data" / "times.json"
    seconds = json.loads(file.read_bytes())["seconds"] if file.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        for road in roads:
            began = time.perf_counter()
            run(road, {}, Path(folder))
            seconds[road.stem] = round(time.perf_counter() - began, 1)
            print(f"{road.stem}: {seconds[road.stem]:g} s", flush=True)
    known = {road.stem for road in ROADS}
    kept = {"cores": os.cpu_count(), "seconds": {name: seconds[name] for name in sorted(seconds) if name in known}}
    file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("chapters", nargs="*")
    asked.add_argument("--low", action="store_true")
    asked.add_argument("--times", action="store_true")
    given = asked.parse_args()
    roads = [it for it in ROADS if not given.chapters or it.name[:2] in given.chapters]
    if given.times:
        timed(roads)
        return 0
    wrong = [line for road in roads for line in tried(road, given.low)]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
