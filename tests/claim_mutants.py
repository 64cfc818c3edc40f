"""Would a verdict see a slip of the pen? Single mutants of the code behind each claim, each judged as the book does.

    .venv/bin/python tests/claim_mutants.py                          # every claim whose function needs no argument
    .venv/bin/python tests/claim_mutants.py -n 12 --seed 7 qiao2021 cai2025:lem-b.2   # of these papers or claims

A mutant is one changed expression (as in `mutants.py`) of a function of a chapter's section that the claim reaches. It
is noticed by an *exception* (or because it does not end), by the *verdict* (the ledger's verdict, or a check of the
corrected statement, is no longer met), by the *numbers* alone (`make verify` would see it), or not at all: of the claim
itself and, with `--others`, of the others that need no argument and reach the function too. With `--chapters` the
chapters of those that nothing noticed are run as `make book PROFILE=smoke` runs them: *chapter* if it ends otherwise.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import contextlib
import copy
import hashlib
import importlib
import inspect
import math
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import nbformat
from IPython.core.interactiveshell import InteractiveShell
from mutants import MEMORY, PRELOAD, ROOT, Mutant, _changes, _Finder, _path, _shorten, _walk

import companion.ledger.claim
from companion.ledger.claim import SETTLED, Record
from companion.ledger.files import Claim, load_ledger
from companion.ledger.judge import differing, judge
from companion.press.verify import differences

CHAPTERS = ROOT / "src" / "companion" / "chapters"
OUTCOMES = ("verdict", "exception", "numbers", "chapter", "nothing")


def sections() -> list[str]:
    """Names of all modules of the chapters."""
    return [
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in sorted(CHAPTERS.rglob("[a-z]*.py"))
    ]


def watched(module: str) -> ast.Module:
    """The tree of a module in which every function says that it is reached, under its module's full name."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    for name, node in functions(tree):
        node.body.insert(0, ast.parse(f"__reached__({module!r}, {name!r})").body[0])
    return ast.fix_missing_locations(tree)


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods of a module by their names; what is compiled cannot say that it is reached."""
    for top in tree.body:
        inner = top.body if isinstance(top, ast.ClassDef) else [top]
        for node in inner:
            if isinstance(node, ast.FunctionDef) and "jit" not in "".join(map(ast.unparse, node.decorator_list)):
                yield f"{top.name}.{node.name}" if isinstance(top, ast.ClassDef) else node.name, node


def mutants_of(module: str, name: str) -> list[tuple[ast.Module, ast.AST, Any, str]]:
    """Every change within one function: its tree, the statement, the change."""
    tree = ast.parse(_path(module).read_text(encoding="utf-8"))
    node = dict(functions(tree))[name]
    guards = {id(it.value) for it in ast.walk(node) if isinstance(it, ast.keyword) and it.arg == "strict"}
    return [
        (tree, statement, change, name)
        for inner, _, statement in _walk(node, name, node)
        for change in _changes(inner)
        # not the defaults of arguments, which the profiles set, nor what only guards `zip`
        if id(statement) != id(node) and id(inner) not in guards
    ]


def draw(claim: str, reached: list[tuple[str, str]], n: int, seed: int) -> list[Mutant]:
    """`n` mutants of the functions that a claim reaches, drawn by the seed and its name."""
    every = [(module, change) for module, name in reached for change in mutants_of(module, name)]
    key = int.from_bytes(hashlib.blake2b(f"{seed} {claim}".encode(), digest_size=8).digest())
    found = []
    for i in sorted(random.Random(key).sample(range(len(every)), min(n, len(every)))):
        module, (tree, statement, change, name) = every[i]
        before = ast.unparse(statement)
        with change():
            after, changed = ast.unparse(statement), copy.deepcopy(tree)
        found.append(Mutant(module, getattr(statement, "lineno", 0), name, *_shorten(before, after), changed))
    return found


def _apart(reply: Any, seconds: float, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    for kind, most in (
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    reply.send(work(*arguments))
    reply.close()
    os._exit(0)


def apart(work: Callable[..., Any], *arguments: Any, seconds: float) -> Any:
    """What it gives in a process of its own; None if it raises or does not end."""
    answer, reply = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("forkserver").Process(target=_apart, args=(reply, seconds, work, arguments))
    process.start()
    reply.close()
    found = None
    with contextlib.suppress(EOFError):
        if answer.poll(20 * seconds):
            found = answer.recv()
    if found is None and process.is_alive():
        with contextlib.suppress(ProcessLookupError):  # it may end meanwhile
            os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    return found


def settle(trees: dict[str, ast.Module], module: str, claim: str) -> tuple[Any, list[tuple[str, str]], float]:
    """With changed modules: record of a claim, functions reached (where they say so) and seconds."""
    seen: dict[tuple[str, str], None] = {}
    vars(builtins)["__reached__"] = lambda *place: seen.setdefault(place)
    sys.meta_path.insert(0, _Finder(trees))
    importlib.import_module(module)
    seen.clear()
    start = time.process_time()
    record = SETTLED[claim]().to_json()
    return record, list(seen), time.process_time() - start


def chapter(trees: dict[str, ast.Module], package: str) -> tuple[list[Any], float]:
    """With changed modules: all records of the pages that import a chapter, with their own parameters, and seconds."""
    sys.meta_path.insert(0, _Finder(trees))
    start = time.process_time()
    made: list[Record] = []

    def noted(*fields: Any) -> Record:
        made.append(Record(*fields))
        return made[-1]

    vars(companion.ledger.claim)["Record"] = noted
    shell = InteractiveShell.instance()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        if f"companion.chapters.{package}" in path.read_text(encoding="utf-8"):
            shell.reset()
            for cell in nbformat.read(path, as_version=4).cells:
                if cell.cell_type == "code":
                    shell.run_cell(cell.source).raise_error()
    records = {record.claim: record.to_json() | {"chapter": package} for record in made}
    return [records[name] for name in sorted(records)], time.process_time() - start


def outcome(ledger: Mapping[str, Claim], clean: dict[str, Any], found: Any) -> str:
    """How a mutant was noticed."""
    if found is None:
        return "exception"
    claim = ledger[clean["claim"]]
    before, after = ({"records": [record | {"chapter": claim.chapter}]} for record in (clean, found[0]))
    alone = {claim.id: claim}
    faults = [
        bool(judge(alone, side["records"]) or differing(alone, side["records"], "standard")) for side in (before, after)
    ]
    if clean["verdict"] != found[0]["verdict"] or faults[0] != faults[1]:
        return "verdict"
    return "numbers" if any(differences(ledger, before, after)) else "nothing"


def main() -> int:
    """Draw, run, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("of", nargs="*", help="beginnings of ids, or parts of a module's name; all by default")
    parser.add_argument("-n", type=int, default=8, help="mutants a claim")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--others", action="store_true", help="ask the other claims that reach the function, too")
    parser.add_argument("--chapters", action="store_true", help="run the chapters of those that nothing noticed")
    parser.add_argument("-v", "--verbose", action="store_true", help="list those noticed by numbers alone, too")
    options = parser.parse_args()
    os.chdir(ROOT)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*PRELOAD, "matplotlib.figure", "seaborn", "companion.press.verify"])
    for module in sections():
        importlib.import_module(module)
    ledger = load_ledger(ROOT)
    free = {
        name: inspect.getmodule(function).__name__
        for name, function in sorted(SETTLED.items())
        if all(p.default is not p.empty for p in inspect.signature(function).parameters.values())
    }
    if options.of:
        free = {
            name: module for name, module in free.items() if any(name.startswith(o) or o in module for o in options.of)
        }

    trees = {module: watched(module) for module in sections()}
    total: Counter[str] = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        surveys = dict(
            zip(free, pool.map(lambda name: apart(settle, trees, free[name], name, seconds=600), free), strict=True)
        )
        work = [
            (name, mutant)
            for name in free
            if surveys[name]
            for mutant in draw(name, surveys[name][1], options.n, options.seed)
        ]
        print(f"{len(free)} claims, {len(work)} mutants", flush=True)
        for name in free:
            if not surveys[name]:
                print(f"  {name}: does not run as it stands")

        def verdict(task: tuple[str, Mutant]) -> str:
            first, mutant = task
            place = mutant.module, mutant.function
            others = [name for name in free if options.others and surveys[name] and place in surveys[name][1]]
            said = "nothing"
            for name in dict.fromkeys([first, *others]):
                limit = 30 + 10 * surveys[name][2]
                found = apart(settle, {mutant.module: mutant.tree}, free[name], name, seconds=limit)
                said = min(said, outcome(ledger, surveys[name][0], found), key=OUTCOMES.index)
                if said in ("verdict", "exception"):
                    break
            return "chapter" if options.chapters and said == "nothing" and ends_otherwise(mutant) else said

        @cache
        def clean(package: str) -> Any:
            return apart(chapter, {}, package, seconds=1200)

        def ends_otherwise(mutant: Mutant) -> bool:
            package = mutant.module.split(".")[2]
            records, seconds = clean(package)
            found = apart(chapter, {mutant.module: mutant.tree}, package, seconds=30 + 5 * seconds)
            return found is None or any(differences(ledger, {"records": records}, {"records": found[0]}))

        for (name, mutant), said in zip(work, pool.map(verdict, work), strict=True):
            total[said] += 1
            if said == "nothing" or (said == "numbers" and options.verbose):
                print(f"  {said:8} {name}  {mutant}", flush=True)
    shares = {said: total[said] / max(len(work), 1) for said in OUTCOMES}
    print(", ".join(f"{said} {total[said]} ({100 * share:.1f} %)" for said, share in shares.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
