"""Would the tests see a slip of the pen? Random single mutants of a module, each run against the tests that reach it.

    make mutants MODULE=dprank.privacy.noise              # 32 mutants of one module
    make mutants MODULE=privacy ARGS="-n 31 --seed 7"     # of every module whose slips cost privacy

A mutant is one changed expression: a constant, an operator, a comparison, min for max, floor for ceil, a guard that is
always or never taken. It is killed if a test fails, or does not end. No file is touched: the import of the module is
intercepted in a process of its own. First come those of the module's own tests that reach the changed function, the
quickest first; a survivor is then tried on all other tests of the library that do, or on as many as end within
`--patience`: what those would kill that it leaves out counts as a hole. Which tests reach what is found out once, and
kept in `_build/mutants` until package or tests change. What is left is listed in `equivalent_mutants.yml`, with the
reason why no test can see it, and then is not tried; or it is a hole.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import copy
import hashlib
import importlib.abc
import importlib.machinery
import itertools
import json
import math
import multiprocessing
import os
import random
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.yml")
#: Modules whose slips cost privacy, and their own tests beside the file of the same name.
PRIVACY: dict[str, tuple[str, ...]] = {
    "dprank.privacy.noise": ("privacy/test_gaussian_noise.py",),
    "dprank.privacy.guarantee": (),
    "dprank.privacy.gaussian": (),
    "dprank.privacy.discrete_gaussian": (),
    "dprank.privacy.randomized_response": (),
    "dprank.privacy.conditioned": ("pairwise/test_count_noises.py",),
    "dprank.privacy.cube": ("pairwise/test_cube_noise.py",),
    "dprank._search": ("test_bisection.py",),
    "dprank.topk.bound": (),
    "dprank.topk.descent": ("topk/test_falling_threshold.py",),
    "dprank.privacy.composition": (),
    "dprank.uniformity.noisy_norm": (),
    "dprank.privacy.divergence": (),
    "dprank.pairwise.noisy_counts": ("test_range_laws.py",),
    "dprank.aggregation.noisy_matrix": ("aggregation/test_mechanisms.py", "test_range_laws.py"),
    "dprank.aggregation.private_borda": ("aggregation/test_mechanisms.py", "test_range_laws.py"),
    "dprank.aggregation.randomisers": ("aggregation/test_local_reports.py",),
    "dprank.data.bounding": ("data/test_person_labels.py",),
    "dprank.data.casting": ("data/test_intake.py",),
    "dprank.data.preflib": (),
    "dprank.pairwise.perturbed_mle": (),
    "dprank.topk.oneshot": ("topk/test_chance.py",),
    "dprank.topk.accounting": ("topk/test_oneshot.py", "topk/test_peeling.py", "topk/test_bound.py"),
}
BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
          ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
          ast.RShift: ast.LShift}  # fmt: skip
COMPARE = {ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
           ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
           ast.NotIn: (ast.In,)}  # fmt: skip
CALLS = {"min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "all": "any", "any": "all", "log": "log1p",
         "minimum": "maximum", "maximum": "minimum", "argmax": "argmin", "argmin": "argmax"}  # fmt: skip
#: What looks at defaults of all modules, and calls none of them.
DEFAULTS = "tests/dprank/test_defaults.py"
#: Where a survey of the whole library is kept.
KEPT = ROOT / "_build" / "mutants"
#: Bytes that tests may ask for, and how many times longer than a processor needs they may take.
MEMORY, WAITED = 12 << 30, 20
# what a child needs before it can import the module: loaded once, then forked
PRELOAD = ["numpy", "numba", "scipy.stats", "pandas", "opendp.prelude", "mpmath", "pytest"]
PRELOAD += ["dp_accounting.pld.accountant", "dp_accounting.rdp.rdp_privacy_accountant"]


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
    def declares(self) -> bool:
        """Whether it is a default: of a parameter, or of a field of a class."""
        return re.match(r"def |\w+: ", self.before) is not None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names it, whatever its line."""
        return self.module, self.function, self.before, self.after

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.before}  ->  {self.after}"


def sample(module: str, n: int, seed: int) -> list[Mutant]:
    """`n` of its mutants, drawn by the seed and the name of the module, in the order of its source."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    every = [
        (where, statement, change)
        for node, where, statement in _walk(tree, module.rpartition(".")[2], tree)
        for change in _changes(node)
    ]
    key = int.from_bytes(hashlib.blake2b(f"{seed} {module}".encode(), digest_size=8).digest())
    found = []
    for i in sorted(random.Random(key).sample(range(len(every)), min(n, len(every)))):
        where, statement, change = every[i]
        before = ast.unparse(statement)
        with change():
            after, changed = ast.unparse(statement), _compiled_anew(copy.deepcopy(tree))
        found.append(Mutant(module, statement.lineno, where, *_shorten(before, after), changed))
    return found


def _compiled_anew(tree: ast.Module) -> ast.Module:
    """Without `cache=True`: numba knows what it compiled by bytecode, in which a changed constant is not seen."""
    for node in ast.walk(tree):
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(decorator, ast.Call):
                decorator.keywords = [given for given in decorator.keywords if given.arg != "cache"]
    return tree


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


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a changed tree in place of the file."""

    def __init__(self, module: str, tree: ast.Module) -> None:
        super().__init__(module, str(_path(module)))
        self.tree = tree

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds changed modules where they are imported."""

    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self.trees = trees

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in self.trees:
            return None
        loader = _Loader(fullname, self.trees[fullname])
        return importlib.machinery.ModuleSpec(fullname, loader, origin=str(_path(fullname)))


@dataclass
class Survey:
    """Which tests reach a function, and the seconds of a processor that a test takes: from one run without a mutant.

    What the import of a test file reaches, all tests of the file do.
    """

    seconds: dict[str, float]
    reached: dict[str, set[str]]
    failed: list[str] = field(default_factory=list)

    def tests(self, function: str) -> list[str]:
        """Those that reach a function, a method of a class or anything in a module; the quickest first."""
        places = set().union(*(at for name, at in self.reached.items() if f"{name}.".startswith(f"{function}.")))
        found = [test for test in self.seconds if test in places or test.partition("::")[0] in places]
        return sorted(found, key=self.seconds.__getitem__)


class _Surveyor:
    """A plugin of pytest that makes a survey."""

    def __init__(self) -> None:
        self.survey, self.at = Survey({}, {}), ""
        vars(builtins)["reached"] = self.reach

    def reach(self, function: str) -> None:
        self.survey.reached.setdefault(function, set()).add(self.at)

    def pytest_collectstart(self, collector: Any) -> None:
        self.at = collector.nodeid.partition("::")[0]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        _forget()
        self.at, self.start = nodeid, time.process_time()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.survey.failed += [report.nodeid] * report.failed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.survey.seconds[nodeid] = time.process_time() - self.start


def _forget() -> None:
    """What functions remember of earlier tests, or a test that asks the same again would not reach them."""
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", None)).startswith(f"{ROOT}{os.sep}src"):
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


class _Chooser:
    """A plugin of pytest that runs some tests only, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.place = {test: i for i, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.place), key=lambda item: self.place[item.nodeid])


def _watched(module: str) -> ast.Module:
    """The tree of a module in which every function says that it is reached."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    names = {id(node): where for node, where, _ in _walk(tree, module.rpartition(".")[2], tree)}
    for node in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        if not any("jit" in ast.unparse(decorator) for decorator in node.decorator_list):
            said = ast.parse(f"reached({_full(module, names[id(node)])!r})").body
            behind = int(ast.get_docstring(node) is not None)  # which stays the docstring
            node.body[behind:behind] = said
    return ast.fix_missing_locations(tree)


def _full(module: str, function: str) -> str:
    """The name of a function that no other module has."""
    return f"{module.rpartition('.')[0]}.{function}"


def _child(trees: dict[str, ast.Module], files: list[str], plugin: Any, seconds: int, reply: Any) -> None:
    """Run tests on changed modules in this process, which ends with pytest's exit code, or by a signal if endless."""
    import pytest

    # of processor time, which is the same on a busy machine
    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    sys.meta_path.insert(0, _Finder(trees))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(ROOT)
    options = [
        "-q",
        *["-x"] * isinstance(plugin, _Chooser),
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-p",
        "no:randomly",
    ]
    plugin = plugin or _Surveyor()
    code = int(pytest.main([*options, *files], plugins=[plugin]))
    if isinstance(plugin, _Surveyor):
        reply.send(plugin.survey)
    os._exit(code)


def survey(modules: list[str], files: list[str]) -> Survey:
    """The tests in these files; one that fails without a mutant is named and left out: it would kill all."""
    answer, reply = multiprocessing.Pipe(duplex=False)
    trees = {module: _watched(module) for module in modules}
    process = multiprocessing.get_context("forkserver").Process(target=_child, args=(trees, files, None, 7200, reply))
    process.start()
    reply.close()
    try:
        found: Survey = answer.recv()
    except EOFError:
        sys.exit(f"{modules[0]}: no test could be run")
    process.join()
    for test in found.failed:
        print(f"  FAILS AS IT IS {test}", flush=True)
        found.seconds.pop(test, None)
    if not found.seconds:
        sys.exit(f"{modules[0]}: none of its tests passes as it is; nothing can be learnt")
    return found


def survey_of_all(modules: list[str], jobs: ThreadPoolExecutor, shares: int) -> Survey:
    """Of all tests of the library: as it was kept, where neither package nor tests have changed, or made in shares."""
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests/dprank").rglob("test_*.py"))
    digest = hashlib.blake2b(" ".join(modules).encode(), digest_size=8)
    for path in sorted([*(ROOT / "src/dprank").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]):
        digest.update(path.read_bytes())
    kept = KEPT / f"{digest.hexdigest()}.json"
    if not kept.exists():
        made = list(jobs.map(lambda share: survey(modules, share), [files[at::shares] for at in range(shares)]))
        seconds = {test: taken for one in made for test, taken in one.seconds.items()}
        reached: dict[str, list[str]] = {}
        for one in made:
            for function, tests in one.reached.items():
                reached.setdefault(function, []).extend(sorted(tests))
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"seconds": seconds, "reached": reached}), encoding="utf-8")
    found = json.loads(kept.read_text(encoding="utf-8"))
    return Survey(found["seconds"], {function: set(tests) for function, tests in found["reached"].items()})


def run(mutant: Mutant, tests: list[str], seconds: float) -> str:
    """What tests that take so many seconds say of a mutant: "killed", "killed by time", "survived"."""
    files, limit = list(dict.fromkeys(test.partition("::")[0] for test in tests)), round(8 + 4 * seconds)
    if not files:
        return "survived"
    trees, chooser = {mutant.module: mutant.tree}, _Chooser(tests)
    process = multiprocessing.get_context("forkserver").Process(
        target=_child, args=(trees, files, chooser, limit, None)
    )
    process.start()
    process.join(WAITED * limit)
    if process.is_alive():  # asleep
        process.kill()
        process.join()
    verdicts = {0: "survived", -signal.SIGXCPU: "killed by time", -signal.SIGKILL: "killed by time"}
    return verdicts.get(process.exitcode or 0, "killed")


def own_tests(module: str) -> list[str]:
    """Test files of a module: the one of its name, and those listed for it."""
    parts = module.split(".")[1:]
    own = ["/".join(["tests", "dprank", *parts[:-1], f"test_{parts[-1]}.py"])]
    own += [f"tests/dprank/{name}" for name in PRIVACY.get(module, ())]
    return [path for path in own if (ROOT / path).exists()]


def _path(module: str) -> Path:
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def known_equivalents() -> dict[tuple[str, str, str, str], str]:
    """Mutants that no test can see, with the reason."""
    entries = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) if EQUIVALENT.exists() else None
    return {(e["module"], e["function"], e["before"], e["after"]): e["reason"] for e in entries or []}


@dataclass
class Tally:
    """What became of the mutants of one module."""

    name: str
    drawn: int
    equivalent: int
    alive: int

    def __str__(self) -> str:
        tried = self.drawn - self.equivalent
        killed = tried - self.alive
        share = f"{100 * killed / max(tried, 1):.1f} %"
        return f"{self.name}: {self.drawn} mutants, {self.equivalent} equivalent; {killed} of {tried} killed ({share})"


def survivors(
    tried: list[Mutant], of: Survey, own: bool, pool: ThreadPoolExecutor, patience: float = math.inf
) -> list[Mutant]:
    """Mutants that live through the tests which reach them: those of the module itself, or the others."""

    def verdict(mutant: Mutant) -> str:
        files = own_tests(mutant.module)
        tests = of.tests(_full(mutant.module, mutant.function)) or of.tests(mutant.module)
        if mutant.declares:
            tests += [test for test in of.seconds if test.partition("::")[0] == DEFAULTS and test not in tests]
        tests = [test for test in tests if (test.partition("::")[0] in files) == own]
        ends = itertools.accumulate(of.seconds[test] for test in tests)
        tests = [test for test, end in zip(tests, ends, strict=True) if end <= patience]
        return run(mutant, tests, sum(of.seconds[test] for test in tests))

    return [mutant for mutant, said in zip(tried, pool.map(verdict, tried), strict=True) if said == "survived"]


def main() -> int:
    """Draw, run, report; 1 if there is a hole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", help="dotted names, or 'privacy' for all whose slips cost privacy")
    parser.add_argument("-n", type=int, default=32, help="mutants a module")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--patience", type=float, default=math.inf, help="seconds of other tests, at most, a survivor")
    options = parser.parse_args()
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOAD)
    modules = [name for given in options.modules for name in (PRIVACY if given == "privacy" else [given])]
    equivalent, left, tallies = known_equivalents(), [], []
    with ThreadPoolExecutor(options.jobs) as pool:
        for module in modules:
            drawn = sample(module, options.n, options.seed)
            tried = [mutant for mutant in drawn if mutant.key not in equivalent]
            lived = survivors(tried, survey([module], own_tests(module)), True, pool)
            tallies.append(Tally(module, len(drawn), len(drawn) - len(tried), len(lived)))
            print(f"{tallies[-1]} by its own tests", *(f"\n  LIVES {it}" for it in lived), sep="", flush=True)
            left += lived
        if left:
            print(f"{len(left)} are left for the tests of all that uses the modules", flush=True)
            of_all = survey_of_all(modules, pool, options.jobs)
            left = survivors(left, of_all, False, pool, options.patience)
    for tally in tallies:
        tally.alive = sum(mutant.module == tally.name for mutant in left)
        print(tally)
    print(Tally("all", *(sum(getattr(t, name) for t in tallies) for name in ("drawn", "equivalent", "alive"))))
    for mutant in left:
        print(f"  SURVIVED {mutant}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
