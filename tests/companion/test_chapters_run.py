"""Every chapter runs by its own parameters: its figures and numbers follow, and what is not allowed is one line."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest

from companion.instruments.parameters import TAG, Parameter, declarations
from companion.press.pages import entries

ROOT = Path(__file__).resolve().parents[2]
ROADS = [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if re.match(r"[0-8]\d-", path.name)]
CHECKING = "from companion.instruments.parameters import check_parameters\n\ncheck_parameters()"
#: Few enough to remember, and to try.
FEWEST, MOST = 3, 6
#: Chapters that have no parameters of their own yet; their figures and numbers are those of the pages behind.
WAITING = {"02", "03", "09", "10", "11", "13", "14"}
RUNNING = [path for path in ROADS if path.name[:2] not in WAITING]


def code(road: Path) -> list[nbformat.NotebookNode]:
    """Its cells of code, in order."""
    return [cell for cell in nbformat.read(road, as_version=4).cells if cell.cell_type == "code"]


def parameters(road: Path) -> dict[str, Parameter]:
    return declarations(code(road)[0].source)


def other(parameter: Parameter) -> Any:
    """A value that is allowed and not the default."""
    if parameter.pool:
        (value, *_) = (it for it in parameter.pool if it != parameter.default)
        return value
    twice = parameter.default * 2
    return parameter.kind(twice if twice <= parameter.high else (parameter.default + parameter.low) / 2)


def refused(parameter: Parameter) -> list[Any]:
    return [parameter.high * 2 + 1 if not parameter.pool else max(parameter.pool) + 1, "many"]


@cache
def committed() -> dict[tuple[str, str, str], Any]:
    """What pages show at the defaults, by page, kind and name."""
    pages = json.loads((ROOT / "data/expected/smoke.pages.json").read_text(encoding="utf-8"))["pages"]
    return {(it["chapter"], it["kind"], it["name"]): it["rows"] for it in pages}


def test_who_waits_has_no_parameters() -> None:
    begins = {path.name[:2]: [TAG in cell.metadata.get("tags", []) for cell in code(path)[:1]] for path in ROADS}
    assert {name for name, tagged in begins.items() if tagged != [True]} == WAITING


@pytest.mark.parametrize("road", RUNNING, ids=lambda road: road.stem)
def test_a_chapter_begins_with_its_parameters_and_checks_them(road: Path) -> None:
    first, second = code(road)[:2]
    assert TAG in first.metadata["tags"]
    assert second.source == CHECKING
    assert FEWEST <= len(parameters(road)) <= MOST


@pytest.mark.slow
@pytest.mark.parametrize("road", RUNNING, ids=lambda road: road.stem)
def test_figures_and_numbers_follow_from_the_parameters(road: Path, tmp_path: Path) -> None:
    known = parameters(road)
    changed = known.get("epsilon") or next(iter(known.values()))
    ran = papermill.execute_notebook(
        road, tmp_path / road.name, {changed.name: other(changed)}, cwd=road.parent, progress_bar=False
    )
    moved = {
        it.kind for it in entries(road.stem, ran) if committed().get((road.stem, it.kind, it.name)) != list(it.rows)
    }
    assert {"figure", "number"} <= moved


@pytest.mark.slow
@pytest.mark.parametrize("road", RUNNING, ids=lambda road: road.stem)
def test_what_is_not_allowed_is_one_line(road: Path, tmp_path: Path) -> None:
    parameter = list(parameters(road).values())[-1]
    for value in refused(parameter):
        with pytest.raises(papermill.PapermillExecutionError) as error:
            papermill.execute_notebook(road, tmp_path / "out.ipynb", {parameter.name: value}, progress_bar=False)
        (line,) = error.value.traceback
        assert line == f"{parameter.name} = {value!r}; allowed: {parameter.allowed}"
