"""Every chapter runs by its own parameters: its figures and numbers follow, and what is not allowed is one line.

It is run as readers take it along, where the book's own code is not installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest

from companion.instruments.parameters import TAG, Parameter, declarations, fitted
from companion.ledger.files import load_ledger
from companion.press.along import along
from companion.press.closure import Sources
from companion.press.kernel import Forking
from companion.press.layout import Layout
from companion.press.pages import entries

ROOT = Path(__file__).resolve().parents[2]
ROADS = [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if re.match(r"[0-8]\d-", path.name)]
CHECKING = "from companion.instruments.parameters import check_parameters\n\ncheck_parameters()"
#: Few enough to remember, and to try.
FEWEST, MOST = 3, 6


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


@pytest.mark.parametrize("road", ROADS, ids=lambda road: road.stem)
def test_a_chapter_begins_with_its_parameters_and_checks_them(road: Path) -> None:
    first, second = code(road)[:2]
    assert TAG in first.metadata["tags"]
    assert second.source == CHECKING
    assert FEWEST <= len(parameters(road)) <= MOST


@cache
def sources() -> Sources:
    return Sources(Layout(ROOT))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PYTHONPATH: the library, and no way to the repository."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "dprank").symlink_to(ROOT / "src" / "dprank")
    forget = f"import sys\nsys.path[:] = [it for it in sys.path if it != {str(ROOT / 'src')!r}]\n"
    (folder / "sitecustomize.py").write_text(forget, encoding="utf-8")
    return folder


@pytest.fixture
def alone(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the book can be imported but what a notebook brings."""
    monkeypatch.setenv("PYTHONPATH", str(library))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., nbformat.NotebookNode]:
    """By bare papermill, but for where its kernel comes from, and that it writes no file before and after each cell."""

    def executed(road: Path, own: dict[str, Any], **options: Any) -> nbformat.NotebookNode:
        monkeypatch.delenv("PYTEST_CURRENT_TEST")  # kernels have one parent as long as the variables are the same
        options |= {"kernel_manager_class": Forking, "progress_bar": False}
        return papermill.execute_notebook(road, None, own, **options)

    return executed


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("road", ROADS, ids=lambda road: road.stem)
def test_figures_and_numbers_follow_from_the_parameters(
    road: Path, tmp_path: Path, run: Callable[..., nbformat.NotebookNode]
) -> None:
    known = parameters(road)
    changed = known.get("epsilon") or next(iter(known.values()))
    pages = {path.stem: nbformat.read(path, as_version=4) for path in road.parent.glob(f"{road.name[:2]}*.ipynb")}
    brought = [it for it in sources().closure(it.source for it in code(road)) if not it.startswith("src/dprank/")]
    notebook = along(road.stem, pages, load_ledger(ROOT), ROOT, brought, "0")
    nbformat.write(notebook, tmp_path / road.name)
    ran = run(tmp_path / road.name, {changed.name: other(changed)}, cwd=tmp_path)
    moved = {
        it.kind for it in entries(road.stem, ran) if committed().get((road.stem, it.kind, it.name)) != list(it.rows)
    }
    assert {"figure", "number"} <= moved


@pytest.mark.slow
@pytest.mark.parametrize("road", ROADS, ids=lambda road: road.stem)
def test_what_is_not_allowed_is_one_line(road: Path, run: Callable[..., nbformat.NotebookNode]) -> None:
    """Each of its parameters, too large and of another type; one of them by papermill, which shows the line alone."""
    known = parameters(road)
    lines = {
        (name, value): f"{name} = {value!r}; allowed: {it.allowed}"
        for name, it in known.items()
        for value in refused(it)
    }
    for (name, value), line in lines.items():
        with pytest.raises(ValueError, match=rf"^{re.escape(line)}(?:, such as .*)?$"):
            fitted(known, {name: value})
    (name, value), line = list(lines.items())[-1 - ROADS.index(road) % 2]
    with pytest.raises(papermill.PapermillExecutionError) as error:
        run(road, {name: value})
    assert error.value.traceback == [line]


@pytest.mark.slow
def test_a_name_that_a_chapter_does_not_have_is_refused_by_papermill_alone(tmp_path: Path) -> None:
    road = ROADS[0]
    with pytest.raises(papermill.PapermillExecutionError) as error:
        papermill.execute_notebook(road, tmp_path / "out.ipynb", {"epsilom": 2}, progress_bar=False)
    assert error.value.traceback == [f"epsilom is no parameter; allowed: {', '.join(parameters(road))}"]
