"""Would the tests see a slip of the pen? Random single mutants of a module, each run against the module's own tests.

    make mutants MODULE=dprank.noise              # 32 mutants of one module
    make mutants MODULE=privacy ARGS="-n 31 --seed 7"     # of every module whose slips cost privacy

A mutant is one changed expression: a constant, an operator, a comparison, min for max, floor for ceil, a guard that is
always or never taken. It is killed if a test fails, or does not end. No file is touched: the import of the module is
intercepted in a process of its own. A survivor of the module's own tests is tried on the tests of all that imports the
module. What then survives is either listed in `equivalent_mutants.yml`, with the reason why no test can see it, or is a
hole.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import hashlib
import importlib.abc
import importlib.machinery
import multiprocessing
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.yml")
#: Modules whose slips cost privacy, and their own tests beside the file of the same name.
PRIVACY: dict[str, tuple[str, ...]] = {
    "dprank.noise": ("test_gaussian_noise.py",),
    "dprank.mechanism": (),
    "dprank.gaussian": (),
    "dprank.randomized_response": ("uniformity/test_local.py",),
    "dprank.topk.bound": (),
    "dprank.topk.composition": (),
    "dprank.uniformity.noisy_norm": (),
    "dprank.divergence": (),
    "dprank.pairwise.noisy_counts": (),
    "dprank.aggregation.noisy_matrix": ("aggregation/test_mechanisms.py",),
    "dprank.aggregation.private_borda": ("aggregation/test_mechanisms.py",),
    "dprank.pairwise.perturbed_mle": (),
    "dprank.topk.oneshot": (),
}
BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
          ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
          ast.RShift: ast.LShift}  # fmt: skip
COMPARE = {ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
           ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
           ast.NotIn: (ast.In,)}  # fmt: skip
CALLS = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "all": "any", "any": "all", "log": "log1p",
         "minimum": "maximum", "maximum": "minimum", "argmax": "argmin", "argmin": "argmax"}  # fmt: skip
# what a child needs before it can import the module: loaded once, then forked
PRELOAD = ["numpy", "numba", "scipy.stats", "scipy.optimize", "pandas", "opendp.prelude", "pytest"]


@dataclass(frozen=True)
class Mutant:
    """One changed expression of one module."""

    module: str
    line: int
    function: str
    before: str
    after: str
    tree: ast.Module

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names it, whatever its line."""
        return self.module, self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.before}  ->  {self.after}"


def mutants(module: str) -> list[Mutant]:
    """All single mutants of a module, in the order of its source."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    found = []
    for node, where, statement in _walk(tree, module.rpartition(".")[2], tree):
        for change in _changes(node):
            before = ast.unparse(statement)
            with change():
                after, changed = ast.unparse(statement), copy.deepcopy(tree)
            found.append(Mutant(module, statement.lineno, where, *_shorten(before, after), changed))
    return found


def _walk(node: ast.AST, where: str, statement: Any) -> Iterator[tuple[Any, str, Any]]:
    """Nodes that compute, with the function and the statement that they stand in; no prose and no types."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Import | ast.ImportFrom):
                continue
            inner = where
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{where}.{child.name}"
            own = child if isinstance(child, ast.stmt) else statement
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
                continue
            if isinstance(child, ast.Raise):
                continue
            yield child, inner, own
            yield from _walk(child, inner, own)


def _changes(node: Any) -> Iterator[Callable[[], contextlib.AbstractContextManager[None]]]:
    """Ways to change a node in place, each undone at the end of its context."""
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda: _set(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        whole, x = isinstance(node.value, int), node.value
        for value in (x + 1, x - 1) if whole else (2 * x, x / 2) if x else (1.0,):
            yield lambda value=value: _set(node, "value", value)
    elif isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        yield lambda: _set(node, "op", BINARY[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for i, operator in enumerate(node.ops):
            for other in COMPARE[type(operator)]:
                ops = [other() if j == i else old for j, old in enumerate(node.ops)]
                yield lambda ops=ops: _set(node, "ops", ops)
    elif isinstance(node, ast.BoolOp):
        yield lambda: _set(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield lambda: _set(node, "op", ast.UAdd())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield lambda: _set(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in CALLS:
        yield lambda: _set(node, "id", CALLS[node.id])
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in CALLS:
        yield lambda: _set(node, "attr", CALLS[node.attr])
    elif isinstance(node, ast.If | ast.IfExp):
        for value in (True, False):
            yield lambda value=value: _set(node, "test", ast.Constant(value))


@contextlib.contextmanager
def _set(node: ast.AST, field: str, value: Any) -> Iterator[None]:
    before = getattr(node, field)
    setattr(node, field, ast.copy_location(value, node) if isinstance(value, ast.AST) else value)
    ast.fix_missing_locations(node)
    try:
        yield
    finally:
        setattr(node, field, before)


def _shorten(before: str, after: str) -> tuple[str, str]:
    """The line of a statement that differs, before and after."""
    old, new = before.splitlines(), after.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    return old[at].strip(), new[at].strip()


def sample(module: str, n: int, seed: int) -> list[Mutant]:
    """`n` of its mutants, drawn by the seed and the name of the module."""
    every = mutants(module)
    key = int.from_bytes(hashlib.blake2b(f"{seed} {module}".encode(), digest_size=8).digest())
    chosen = random.Random(key).sample(range(len(every)), min(n, len(every)))
    return [every[i] for i in sorted(chosen)]


class _Mutated(importlib.machinery.SourceFileLoader):
    """Compiles a changed tree in place of the file."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(_path(mutant.module)))
        self.tree = mutant.tree

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds a mutant where its module is imported."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.mutant.module:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Mutated(self.mutant), origin=str(_path(fullname)))


def _child(mutant: Mutant | None, files: list[str]) -> None:
    """Run the tests on a mutant in this process, which ends with pytest's exit code."""
    import pytest

    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(ROOT)
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
    os._exit(int(pytest.main([*options, *files])))


def run(mutant: Mutant | None, files: list[str], limit: float) -> str:
    """What the tests say of a mutant: "killed", "killed by time", "survived"."""
    process = multiprocessing.get_context("forkserver").Process(target=_child, args=(mutant, files))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return "killed by time"
    return "survived" if process.exitcode == 0 else "killed"


def own_tests(module: str) -> list[str]:
    """Test files of a module: the one of its name, and those listed for it."""
    parts = module.split(".")[1:]
    own = [ROOT.joinpath("tests", "dprank", *parts[:-1], f"test_{parts[-1]}.py")]
    own += [ROOT / "tests" / "dprank" / name for name in PRIVACY.get(module, ())]
    return [str(path) for path in own if path.exists()]


def tests_beyond(module: str) -> list[str]:
    """Other test files that import the module, and then those that import one that does."""
    own = set(own_tests(module))
    users = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in _naming("src/dprank", [module])]
    direct, indirect = _naming("tests/dprank", [module]), _naming("tests/dprank", users)
    return list(dict.fromkeys(str(p) for p in [*direct, *indirect] if p.name.startswith("test_") and str(p) not in own))


def _naming(folder: str, modules: list[str]) -> list[Path]:
    """Python files in which one of the modules is imported."""
    words = [f"from {name} import" for name in modules] + [f"import {name}\n" for name in modules]
    words += ["from {} import {}".format(*name.rpartition(".")[::2]) for name in modules]
    files = sorted((ROOT / folder).rglob("*.py"))
    return [path for path in files if any(word in path.read_text(encoding="utf-8") for word in words)]


def _path(module: str) -> Path:
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def known_equivalents() -> dict[tuple[str, str, str, str], str]:
    """Mutants that no test can see, with the reason."""
    entries = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else None
    return {(e["module"], e["function"], e["before"], e["after"]): e["reason"] for e in entries or []}


@dataclass
class Tally:
    """What became of the mutants of one module."""

    drawn: int
    equivalent: int
    holes: list[Mutant]

    @property
    def tried(self) -> int:
        return self.drawn - self.equivalent

    def __str__(self) -> str:
        killed = self.tried - len(self.holes)
        share = f"{100 * killed / max(self.tried, 1):.1f} %"
        return f"{self.drawn} mutants, {self.equivalent} equivalent; {killed} of {self.tried} killed ({share})"


def examine(module: str, n: int, seed: int, pool: ThreadPoolExecutor) -> Tally:
    """Run `n` mutants of a module on its own tests, and what survives those on the tests beyond."""
    own, start = own_tests(module), time.monotonic()
    require_passing(module, own)
    limit = 30 + 8 * (time.monotonic() - start)
    drawn, equivalent = sample(module, n, seed), known_equivalents()
    tried = [mutant for mutant in drawn if mutant.key not in equivalent]
    left = _survivors(tried, own, limit, pool)
    holes = _survivors(left, beyond, 3600, pool) if left and (beyond := tests_beyond(module)) else left
    require_passing(module, own)
    tally = Tally(len(drawn), len(drawn) - len(tried), holes)
    print(f"{module}: {tally}; {len(left) - len(holes)} by other tests than its own", flush=True)
    for mutant in holes:
        print(f"  SURVIVED {mutant}", flush=True)
    return tally


def _survivors(tried: list[Mutant], files: list[str], limit: float, pool: ThreadPoolExecutor) -> list[Mutant]:
    said = pool.map(lambda mutant: run(mutant, files, limit), tried)
    return [mutant for mutant, verdict in zip(tried, said, strict=True) if verdict == "survived"]


def require_passing(module: str, files: list[str]) -> None:
    """Without a mutant the tests must pass, before and after: else a mutant is killed by something else."""
    if not files or run(None, files, 3600) != "survived":
        sys.exit(f"{module}: its own tests ({len(files)} files) do not pass as they are; nothing can be learnt")


def main() -> int:
    """Draw, run, report; 1 if there is a hole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", help="dotted names, or 'privacy' for all whose slips cost privacy")
    parser.add_argument("-n", type=int, default=32, help="mutants a module")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOAD)
    modules = [name for given in options.modules for name in (PRIVACY if given == "privacy" else [given])]
    with ThreadPoolExecutor(options.jobs) as pool:
        tallies = [examine(module, options.n, options.seed, pool) for module in modules]
    total = Tally(*(sum(getattr(t, name) for t in tallies) for name in ("drawn", "equivalent")), [])
    total.holes = [mutant for tally in tallies for mutant in tally.holes]
    print(f"all: {total}")
    return 1 if total.holes else 0


if __name__ == "__main__":
    sys.exit(main())
