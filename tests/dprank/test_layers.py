"""A room imports only from rooms below it; the auditor knows no family; the library knows nothing of the book."""

import ast
import re
import textwrap
from collections import defaultdict
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import pytest

import dprank

HOME = Path(dprank.__file__).parent
#: From the ground up. What stands on one floor knows nothing of its neighbours.
FLOORS = (
    {"_binomial", "_door", "_jit", "_require", "_quadrature", "_search", "_typed", "questions"},
    {"_frozen", "_picture", "mechanism"},
    {"_notebook"},
    {"data"},
    {"privacy"},
    {"models"},
    {"_json"},
    {"release"},
    {"pairwise", "topk", "aggregation", "uniformity"},
    {"audit", "plan"},
    {"scored", "foreseen"},
    {"_answer", "possible", "sentences"},
    {"publication"},
    {"differences"},
    {"registry", "report"},
    {"cli"},
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


@cache
def read(path):
    """Modules that a file imports, wherever in it; and what its functions and classes are called and say."""
    imported, said = [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            imported += [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            said.append((node.name, ast.get_docstring(node) or ""))
    return imported, said


def imports(path):
    return read(path)[0]


def room_of(module):
    return (module + ".").split(".")[1]


def faults(room, modules):
    """What a room may not import: a neighbour, or what is above."""
    return {
        other
        for module in modules
        if module.split(".")[0] == "dprank" and (other := room_of(module)) not in ("", room)
        if FLOOR[other] >= FLOOR[room]
    }


def test_every_room_has_a_floor():
    rooms = {path.name for path in HOME.iterdir() if path.is_dir()} - {"__pycache__", "examples"}
    found = rooms | {path.stem for path in HOME.glob("*.py")} - {"__init__"}
    assert found == set(FLOOR)


def test_a_room_imports_only_from_rooms_below_it():
    for path in HOME.rglob("*.py"):
        if path.parent == HOME and path.stem == "__init__":
            continue
        room = path.stem if path.parent == HOME else path.relative_to(HOME).parts[0]
        modules = set(imports(path))
        assert not faults(room, modules), path
        assert not {module for module in modules if module.split(".")[0] == "companion"}, path


def test_the_auditor_imports_no_family():
    families = next(rooms for rooms in FLOORS if "pairwise" in rooms)
    for path in (HOME / "audit").rglob("*.py"):
        assert not families & {room_of(module) for module in imports(path) if module.split(".")[0] == "dprank"}, path


def test_this_test_sees_a_wrong_arrow():
    assert faults("data", {"dprank.privacy.noise"}) == {"privacy"}
    assert faults("topk", {"dprank.pairwise"}) == {"pairwise"}
    assert not faults("topk", {"dprank.data.tallies", "dprank.topk.oneshot", "numpy", "dprank._require"})


def test_every_name_at_the_front_door_is_what_its_room_has():
    for name in dprank.__all__:
        assert getattr(dprank, name) is not None
    assert dir(dprank) == sorted(dprank.__all__)
    # what type checkers are told is what is imported
    told = {name for name in imports(HOME / "__init__.py") if name.startswith("dprank.")}
    assert told == {f"dprank.{home}.{name}" for name, home in dprank._HOMES.items()}
    assert callable(dprank.audit)


@pytest.mark.parametrize("room", ["aggregation", "audit", "pairwise", "plan", "topk", "uniformity"])
def test_every_name_at_the_door_of_a_room_is_what_its_module_has(room):
    here = import_module(f"dprank.{room}")
    homes = {f"{home}.{name}" for home, names in here._HOMES.items() for name in names.split()}
    told = {name for name in imports(HOME / room / "__init__.py") if name.startswith("dprank.") and "_door" not in name}
    assert homes <= told
    assert {name.rpartition(".")[2] for name in told} == set(here.__all__)
    for name in told:
        home, _, last = name.rpartition(".")
        assert getattr(here, last) is getattr(import_module(home), last)


def blocks(doc):
    """Pairs of neighbouring parameters that a docstring explains, as they are explained, if that takes some words."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n-{3,}\n|\Z)", doc, flags=re.DOTALL | re.MULTILINE)
    entries = re.split(r"\n(?=\S)", textwrap.dedent(found[1])) if found else []
    entries = [" ".join(entry.split()) for entry in entries]
    return [pair for pair in pairwise(entries) if sum(map(len, pair)) > 110]


def test_no_parameter_block_stands_twice():
    where = defaultdict(list)
    for path in HOME.rglob("*.py"):
        for name, said in read(path)[1]:
            for pair in blocks(said):
                where[pair].append(f"{path.relative_to(HOME)}: {name}")
    assert len(where) > 50
    assert not {pair: places for pair, places in where.items() if len(places) > 1}
