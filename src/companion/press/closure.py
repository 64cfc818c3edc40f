"""What a page reads of the code and data: the closure of its imports, read off the source and seen in the run.

An import that is written down is found in the source, also where it stands in a function and has not run yet. One that
is made of a name at run time (`import_module`) is seen in the modules that the run held at its end: as long as nothing
of all this changes, the next run would load the same. Who lists the modules of a package (`walk_packages`) reads them,
or all where it cannot be read off which package is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from companion.press.layout import Layout

SOURCE = "src/"
PACKAGES = ("companion", "dprank")
#: Modules that read files, and which.
READS = {
    "companion.chapters.better_than_printed.overview": "data/claims/*.yml",
    "companion.chapters.which_method.losses": "data/fairness.parquet",
    "companion.chapters.which_method.peers": "data/peers.csv",
    "companion.chapters.which_method.plans": "data/plans.parquet",
    "companion.chapters.which_method.table": "data/arena.parquet",
    "companion.instruments.surveys": "data/surveys/**/*",
    "companion.ledger.card": "src/companion/ledger/templates/*",
    "dprank.data.examples": "src/dprank/examples/*",
}
#: What no chapter loads.
PRESS = ("companion.press", "companion.__main__")
#: Calls after which anything may be read.
ANYTHING = ("iter_modules", "walk_packages")
#: Evaluates to the modules of ours that a run has loaded.
LOADED = f"sorted(m for m in __import__('sys').modules if m.partition('.')[0] in {PACKAGES})"


class Sources:
    """The modules of the book and the library as they are now."""

    def __init__(self, layout: Layout) -> None:
        self.digests = layout.hashes(*(f"{SOURCE}{package}/**/*.py" for package in PACKAGES), *READS.values())
        self.modules = {_module(name): name for name in self.digests if name.endswith(".py")}
        self.walked = {module for module in self.modules if not module.startswith(PRESS)}
        self.text = {module: (layout.root / name).read_text("utf-8") for module, name in self.modules.items()}
        self.read = {module: layout.hashes(pattern) for module, pattern in READS.items()}

    def closure(self, code: Iterable[str], loaded: Iterable[str] = ()) -> dict[str, str]:
        """Digests, by name of the file, of all that `code` imports, of the modules `loaded`, and what these import.

        A cell that is no Python, a magic say, imports nothing; modules that a run held and that are gone are left out.
        """
        due = {module for source in code for module in self._known(_imports(source, "", False)[0])}
        due |= self._known(loaded)
        found: set[str] = set()
        while due:
            module = due.pop()
            found.add(module)
            imported, asked = _imports(self.text[module], module, self.modules[module].endswith("/__init__.py"))
            walked = {
                m for m in self.walked if any(not package or f"{m}.".startswith(f"{package}.") for package in asked)
            }
            due |= (self._known(imported) | walked) - found
        files = {self.modules[module] for module in found}
        return {name: self.digests[name] for name in sorted(files)} | {
            name: digest for module in sorted(found & READS.keys()) for name, digest in self.read[module].items()
        }

    def _known(self, names: Iterable[str]) -> set[str]:
        """The modules among `names`, and the packages they lie in."""
        return {m for name in names for m in _with_packages(name) if m in self.modules}


def _module(file: str) -> str:
    return file.removeprefix(SOURCE).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _with_packages(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


@lru_cache(maxsize=1024)
def _imports(source: str, module: str, package: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Names that may be modules `source` imports, and packages whose modules it lists; one that is empty means all."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return frozenset(), frozenset()
    names: set[str] = set()
    called: dict[str, str] = {}  # what a name stands for
    asked: list[str | None] = []  # the name whose modules are listed; None if it cannot be read off
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                todo += node.orelse
                continue
            case ast.Import():
                names |= {alias.name for alias in node.names}
                called |= {alias.asname or alias.name: alias.name for alias in node.names}
            case ast.ImportFrom():
                level = node.level - package if node.level else 0
                above = module.split(".")[: len(module.split(".")) - level] if node.level else []
                base = ".".join([*above, *filter(None, [node.module])])
                names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
                called |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
            case ast.Call(func=ast.Name(name), args=[ast.Attribute(ast.Name(of), "__path__"), *_]) if name in ANYTHING:
                asked.append(of)
                todo += node.args
                continue
            case ast.Name(name) | ast.Attribute(attr=name) | ast.alias(name=name, asname=str()) if name in ANYTHING:
                asked.append(None)
        todo += ast.iter_child_nodes(node)
    return frozenset(names), frozenset("" if of is None else called.get(of, "") for of in asked)
