"""Which room of the book's code may import which; the press knows no chapter, and no chapter the press."""

import ast
from functools import cache
from pathlib import Path

import pytest

import companion

HOME = Path(companion.__file__).parent
#: What each room imports besides itself; all of them may import the library.
MAY = {
    "instruments": {"ledger"},
    "ledger": set(),
    "printed": set(),
    "chapters": {"instruments", "ledger", "printed"},
    "press": {"instruments", "ledger"},
    "__main__": {"chapters", "instruments", "ledger", "press"},
}
#: Sections that read what another chapter has computed.
ACROSS = {
    ("edge_privacy", "privacy_audited"),
    ("individual_privacy", "edge_privacy"),
    ("local_aggregation", "private_aggregation"),
    ("private_aggregation", "local_aggregation"),
    ("private_uniformity", "testing_uniformity"),
    ("real_surveys", "edge_privacy"),
    ("real_surveys", "individual_privacy"),
    ("real_surveys", "ranking_universities"),
    ("better_than_printed", "private_aggregation"),
    ("better_than_printed", "private_uniformity"),
    ("better_than_printed", "which_method"),
    ("what_epsilon_buys", "which_method"),
}


@cache
def imported(path: Path) -> set[tuple[str, ...]]:
    """Modules of the book that a file imports, as the parts of their names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return {tuple(name.split(".")[1:]) for name in found if name.startswith("companion.")}


def rooms(path: Path, modules: set[tuple[str, ...]]) -> set[str]:
    own = path.relative_to(HOME).parts[0].removesuffix(".py")
    return {module[0] for module in modules} - MAY[own] - {own}


@pytest.mark.parametrize("path", sorted(HOME.rglob("*.py")), ids=lambda path: path.relative_to(HOME).as_posix())
def test_a_room_imports_what_it_may(path: Path) -> None:
    if path.parent == HOME and path.stem == "__init__":
        return
    assert not rooms(path, imported(path))


def test_a_chapter_reads_another_where_it_says_so() -> None:
    pairs = set()
    for path in (HOME / "chapters").rglob("*.py"):
        own = path.relative_to(HOME / "chapters").parts[0]
        pairs |= {(own, m[1]) for m in imported(path) if m[0] == "chapters" and m[1:2] not in ((), (own,))}
    assert pairs == ACROSS


def test_a_wrong_arrow_is_seen() -> None:
    assert rooms(HOME / "press" / "run.py", {("chapters", "edge_privacy"), ("ledger", "claim")}) == {"chapters"}
    assert rooms(HOME / "chapters" / "x.py", {("press", "site"), ("printed", "cai2025")}) == {"press"}
