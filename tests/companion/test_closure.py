"""What a page reads of our code, on a tree of a few files."""

from pathlib import Path

import pytest

from companion.press.closure import LOADED, Sources
from companion.press.layout import Layout

FILES = {
    "companion/__init__.py": "",
    "companion/__main__.py": "import companion.press.run",
    "companion/press/run.py": "",
    "companion/instruments/surveys.py": "",
    "companion/late.py": "def f():\n    from dprank.topk import peeling",
    "companion/all.py": "import pkgutil\npkgutil.walk_packages(anything)",
    "companion/renamed.py": "from pkgutil import walk_packages as walk",
    "companion/some.py": "from pkgutil import iter_modules\nfrom dprank import topk\niter_modules(topk.__path__)",
    "dprank/__init__.py": "if TYPE_CHECKING:\n    import dprank.topk\nelse:\n    import dprank._base",
    "dprank/_base.py": "",
    "dprank/topk/__init__.py": "",
    "dprank/topk/oneshot.py": "from .. import _base\nfrom . import peeling as p",
    "dprank/topk/peeling.py": "from dprank.topk.laws import chance, law",
    "dprank/topk/laws.py": "import numpy",
}
BASE = {"companion/__init__.py", "dprank/__init__.py", "dprank/_base.py"}
TOPK = {"dprank/__init__.py", "dprank/_base.py", "dprank/topk/__init__.py"}
PEELING = TOPK | {"dprank/topk/peeling.py", "dprank/topk/laws.py"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    (tmp_path / "data/surveys").mkdir(parents=True)
    (tmp_path / "data/surveys/votes.csv").write_text("1")
    return tmp_path


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("1 + 1", set()),
        ("%matplotlib inline", set()),
        ("import numpy, dprank.nothing", {"dprank/__init__.py", "dprank/_base.py"}),
        ("from dprank import Oneshot", {"dprank/__init__.py", "dprank/_base.py"}),
        ("from dprank.topk import laws", {*TOPK, "dprank/topk/laws.py"}),
        ("import dprank.topk.oneshot as o", {*PEELING, "dprank/topk/oneshot.py"}),
        ("from companion import late", {*PEELING, "companion/__init__.py", "companion/late.py"}),
        ("import companion.all", FILES.keys() - {"companion/__main__.py", "companion/press/run.py"}),
        ("import companion.renamed", FILES.keys() - {"companion/__main__.py", "companion/press/run.py"}),
        ("import companion.some", {*PEELING, "dprank/topk/oneshot.py", "companion/__init__.py", "companion/some.py"}),
    ],
)
def test_closure(tree: Path, code: str, files: set[str]) -> None:
    read = Sources(Layout(tree)).closure([code])
    assert {name.removeprefix("src/") for name in read if name.startswith("src/")} == set(files)
    assert ("data/surveys/votes.csv" in read) == ("companion/instruments/surveys.py" in files)


def test_data_that_a_module_reads(tree: Path) -> None:
    assert set(Sources(Layout(tree)).closure(["from companion.instruments import surveys"])) == {
        "data/surveys/votes.csv",
        "src/companion/__init__.py",
        "src/companion/instruments/surveys.py",
    }


def test_what_a_run_loaded(tree: Path) -> None:
    read = Sources(Layout(tree)).closure((), ["dprank.topk.peeling", "dprank.gone"])
    assert {name.removeprefix("src/") for name in read} == PEELING
    assert {"companion", "companion.press.closure"} <= set(eval(LOADED))


def test_a_change_is_seen(tree: Path) -> None:
    before = Sources(Layout(tree)).closure(["import dprank.topk.oneshot"])
    (tree / "src/dprank/topk/laws.py").write_text("import scipy")
    after = Sources(Layout(tree)).closure(["import dprank.topk.oneshot"])
    assert {name for name in after if before.get(name) != after[name]} == {"src/dprank/topk/laws.py"}
