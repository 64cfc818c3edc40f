"""The repository keeps its own rules: notebooks without outputs, one list of dependencies, a lock without addresses."""

from __future__ import annotations

import ast
import json
import os
import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml
from checks import each

import dprank
from dprank.plan.tags import TAGS
from dprank.privacy import noise

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LONGEST_CELL = 15
CODE = ("src", "tests", "benchmarks", "book", "data")
#: Where tools are called that nothing imports.
TOOLS = ("Makefile", "_config.yml", ".ci/run", ".pre-commit-config.yaml", "README.md", "book/_ext/mathml.py")
#: Distributions whose module has another name.
IMPORTED_AS = {
    "beautifulsoup4": "bs4",
    "fonttools": "fontTools",
    "mini-racer": "py_mini_racer",
    "pillow": "PIL",
    "pyyaml": "yaml",
}
#: What is at work where nobody calls it by name.
BEHIND = {
    "editables": "an editable install",
    "hatchling": "the wheel",
    "python-calamine": "dprank.data.workbooks, by `require_extra`",
    "pytest-timeout": "its `timeout`",
    "pytest-xdist": "pytest -n auto",
    "scikit-learn": "diffprivlib, which does not know a newer one",
}
#: Extras that are not in the lock.
UNLOCKED = {"fuzz": "it has wheels for Linux alone", "peers": "they hold others back", "spark": "it has no wheel"}


#: Jobs that may do more than read.
MORE = {
    "chapters": {"contents": "write"},
    "pages": {"pages": "write", "id-token": "write"},
    "publish": {"id-token": "write"},
}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@each("path", NOTEBOOKS)
def test_notebook_source(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["metadata"]["kernelspec"]["language"] == "python"
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert not [cell["id"] for cell in code if cell["outputs"] or cell["execution_count"]]
    assert sum("parameters" in cell["metadata"].get("tags", []) for cell in code) <= 1
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in ids), "ids are given, not generated"
    assert not [cell["id"] for cell in code if len("".join(cell["source"]).splitlines()) > LONGEST_CELL]


@each("path", NOTEBOOKS)
def test_figures_have_names_captions_alternatives_and_links(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell, following in zip(cells, [*cells[1:], {}], strict=True):
        if cell["cell_type"] == "code" and re.search(r"\bshow\(", "".join(cell["source"])):
            look = cell["metadata"]["mystnb"]
            assert look["figure"]["caption"], cell["id"]
            assert look["figure"]["name"].startswith("fig-"), cell["id"]
            assert len(look["image"]["alt"]) > 40, cell["id"]
            assert "".join(following["source"]).endswith(".links"), cell["id"]


def test_no_two_figures_are_described_alike():
    cells = [cell for path in NOTEBOOKS for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    said = [
        cell["metadata"]["mystnb"]["image"]["alt"] for cell in cells if "image" in cell["metadata"].get("mystnb", {})
    ]
    assert sorted({it for it in said if said.count(it) > 1}) == []


def test_figures_are_drawn_without_the_state_that_shows_them_twice():
    for path in (ROOT / "src/companion/chapters").rglob("*.py"):
        assert "pyplot" not in path.read_text(encoding="utf-8"), path.name


def test_the_reference_has_a_page_for_every_module_of_the_library():
    written = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "book/reference").glob("*.md")}
    build = runpy.run_path(str(ROOT / "book/reference/build.py"))
    assert written == build["pages"](), "python book/reference/build.py writes them"
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert toc == build["contents"](toc)
    assert len(written) > 40
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme == build["readme"](readme), "python book/reference/build.py writes its table of methods"
    package = (ROOT / "book/api.md").read_text(encoding="utf-8")
    assert package == build["package"](package), "python book/reference/build.py writes its table of what is published"
    old = readme.replace("| `PrivateWinner` |", "| `Nobody` |")
    assert old != build["readme"](old) == readme
    assert all(f"| `{name}` |" in readme for name in TAGS)


def test_no_merge_was_left_half_done():
    patterns = "*.md", "*.toml", ".github/**/*.yml", "book/**/*.md", "data/**/*.yml", "src/**/*.py", "tests/**/*.py"
    paths = [*NOTEBOOKS, *(path for pattern in patterns for path in ROOT.glob(pattern))]
    assert ROOT / "README.md" in paths
    assert [p.name for p in paths if re.search(r"^(<{7}|>{7}) ", p.read_text(encoding="utf-8"), re.MULTILINE)] == []


def test_a_long_module_says_why():
    """Above 450 lines the first line gives the reason."""
    modules = {path: path.read_text(encoding="utf-8").splitlines() for path in (ROOT / "src").rglob("*.py")}
    assert [path.name for path, lines in modules.items() if len(lines) > 450 and "(long: " not in lines[0]] == []


def test_there_are_chapters():
    assert len(NOTEBOOKS) >= 3


def test_conda_brings_python_and_the_lock_the_rest(project):
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    assert environment == [f"python{project['requires-python']}", "pip", {"pip": ["-r requirements.lock"]}]
    assert os.access(ROOT / "postBuild", os.X_OK)


def test_a_package_has_one_floor(project):
    extras = project["optional-dependencies"]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    every = {*project["dependencies"], *build, *(entry for extra in extras.values() for entry in extra)}
    names = [re.split(r"[<>=]", entry)[0] for entry in every]
    assert [name for name in names if names.count(name) > 1] == []
    assert {"opendp>=0.14.2"} == {entry for entry in every if entry.startswith("opendp")}
    assert noise.OPENDP == (0, 14, 2)


def as_list(given: object) -> list:
    return given if isinstance(given, list) else [given]


def our_sources() -> list[str]:
    """All our code, notebooks included."""
    sources = [path.read_text(encoding="utf-8") for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    cells = [cell for path in NOTEBOOKS for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    return sources + ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def imports(source: str, name: str) -> bool:
    """Whether code imports a package or one of its modules; a string that says so does not."""
    if name not in source:  # nor need it be parsed
        return False
    nodes = list(ast.walk(ast.parse(source)))
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return name in {it.partition(".")[0] for it in found}


def test_every_dependency_is_used(project):
    """Imported somewhere, or called by name where tools are called."""
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    listed = {re.match(r"[A-Za-z0-9-]+", entry)[0] for group in groups for entry in group}
    called = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in TOOLS)
    sources = our_sources()

    def used(name):
        stem = name.removeprefix("types-") if name.startswith("types-") else name
        names = {stem, stem.replace("-", "_"), IMPORTED_AS.get(stem.lower(), stem)}
        if any(re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", called) for n in names):
            return True
        return any(imports(source, n) for n in names for source in sources)

    idle = sorted(name for name in listed if name not in BEHIND and not used(name))
    assert not idle, " ".join(idle)


def test_every_bootstrap_takes_hashed_wheels_only():
    for name in ("Makefile", "README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        installs = [line for line in text.splitlines() if "pip install" in line and ".lock" in line]
        assert installs
        assert [line for line in installs if "--require-hashes --only-binary :all:" not in line] == []


def test_workflow_trusts_hashes_and_keeps_no_credentials():
    text = (ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8")
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    assert [it for it in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+(\.\d+)+", it)] == []
    assert len({it.split("@")[0] for it in uses}) == len(set(uses)), "one hash an action"
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert job["permissions"] == MORE.get(name, {"contents": "read"}), name
        checkouts = [step for step in job["steps"] if "checkout@" in step.get("uses", "")]
        assert all(step["with"] == {"persist-credentials": False} for step in checkouts)
    assert all(of in workflow["jobs"] for job in workflow["jobs"].values() for of in as_list(job.get("needs", [])))
    steps = workflow["jobs"]["canary"]["steps"]
    rest = steps[1 + next(i for i, step in enumerate(steps) if step.get("id") == "lock") :]
    assert len(rest) == 5
    assert all(step["if"] == "!cancelled()" for step in rest), "one red step hides no other"


def test_certificates_are_checked_before_a_change_lands():
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    assert "make certificates" in [step.get("run") for step in jobs["tests"]["steps"]]
    assert "make certificates" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert "check.py --every data/certificates" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_release_is_built_after_all_checks_and_sent_by_nothing_of_ours():
    jobs = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf-8"))["jobs"]
    package, publish = jobs["package"], jobs["publish"]
    assert package["if"] == publish["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert {"tests", "lowest", "book", "second-machine"} <= set(package["needs"])
    assert publish["needs"] == "package"
    assert publish["environment"] == {"name": "pypi"}, "a person grants it"
    assert [step.get("run") for step in publish["steps"]] == [None, None]
    assert publish["steps"][-1]["with"] == {"packages-dir": "dist", "attestations": True}, "no token, no address"
    assert [name for name, job in jobs.items() if "pypi-publish@" in str(job)] == ["publish"]
    assert [name for name, job in jobs.items() if "secrets." in str(job)] == []


def test_tools_of_the_supply_are_locked_with_hashes():
    lock = (ROOT / ".github/supply.lock").read_text(encoding="utf-8")
    wanted = re.findall(r"^([a-z-]+)[>=]", (ROOT / ".github/supply.in").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(wanted) == 3
    assert all(re.search(rf"^{name}==", lock, flags=re.MULTILINE) for name in wanted)
    assert lock.count("==") <= lock.count("--hash=sha256:")
    assert "://" not in lock
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes --only-binary :all: -r .github/supply.lock" in make


def test_lock_holds_every_dependency_with_hashes_and_no_address(project):
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9._-]+)==", lock, flags=re.MULTILINE))
    extras = [entries for name, entries in project["optional-dependencies"].items() if name not in UNLOCKED]
    wanted = {
        re.split(r"[<>=;\[ ]", entry)[0].lower() for entries in [project["dependencies"], *extras] for entry in entries
    }
    assert wanted <= locked
    assert lock.count("==") <= lock.count("--hash=sha256:")
    assert "://" not in lock


def test_every_package_is_locked_once_for_all_pythons():
    """Another numpy on another Python draws other binomials, and the records would not verify."""
    locked = re.findall(
        r"^([a-z0-9._-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert {"numba", "numpy", "pandas", "scipy"} <= set(locked)
    assert [name for name in sorted(set(locked)) if locked.count(name) > 1] == []


def test_citation_and_licences(project):
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == dprank.__version__
    assert len(citation["references"]) == 4
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")


def test_every_module_where_a_slip_costs_privacy_has_tests_that_are_found():
    hunt = runpy.run_path(str(ROOT / "tests/mutants.py"))
    for module in hunt["PRIVACY"]:
        assert (ROOT / "src" / (module.replace(".", "/") + ".py")).exists(), module
        assert hunt["own_tests"](module), module
    for named in {(entry[0]) for entry in hunt["known_equivalents"]()}:
        assert (ROOT / "src" / (named.replace(".", "/") + ".py")).exists(), named


def test_security_speaks_of_what_there_is_and_names_no_address():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "://" not in text
    assert "@" not in text
    called = {it for it in re.findall(r"`([A-Z][A-Za-z]+)`", text) if it != "SECURE"}
    assert {"Peeling", "Oneshot", "JointExponential", "PrivateKwikSort", "PerturbedMLE"} <= called
    assert [name for name in sorted(called) if not hasattr(dprank, name)] == []
    paths = re.findall(
        r"`((?:book|benchmarks|data|src|tests)/[^` ]*|[A-Z]+\.(?:cff|md)|[a-z]+\.lock)`|\]\(([^)]*)\)", text
    )
    assert len(paths) >= 5
    assert [path for found in paths for path in found if path and not (ROOT / path).exists()] == []
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(re.search(rf"^{target}:", make, flags=re.MULTILINE) for target in re.findall(r"`make ([a-z]+)`", text))
