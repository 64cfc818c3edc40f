"""Structured mutations of published files, plans, declarations and budgets, and what the command line makes of them.

python tests/dprank/mutations.py 4000 1        # so many of each command, of a seed: prints what is no refusal
"""

import contextlib
import copy
import io
import json
import random
import sqlite3
import sys
import tempfile
import time
import tomllib
from pathlib import Path

import numpy as np

import dprank
from dprank.cli import main
from dprank.data.declaration import _toml
from dprank.publication import identifier, publish

#: Longest that a command may take, in seconds: a sign that it hangs.
LONG = 30.0
#: What may stand in the place of any value.
OTHERS = [
    None, True, False, 0, 1, -1, 2, 7, 10**6, 2**53 + 1, 10**30, -0.0, 0.5, 1e-300, 5e-324, 1e300, "", "x", "nan",
    "inf", "-inf", "a\x1b[31m[bold]\u202e", "[/]", "voter", "persons", "answers", "topk", "seeded", "operating system",
    [], {}, [[]], [0], ["a"], [1, 1], {"a": 1}, {"link": "logistic"}, {"class": "dprank.privacy.budget.Budget"},
    "a" * 5000,
    "dprank.pairwise.noisy_counts.NoisyCounts", "1/2", [None], [1e308, -1e308], list("abcd"), {"sampling": "persons"},
]  # fmt: skip
ITEMS = ["a", "b", "c", "d"]


def releases():
    """Published files, one of each kind and of several mechanisms."""
    rng = np.random.default_rng(1)
    votes = dprank.Rankings([[0, 1, 2, 3]] * 40, ITEMS)
    answers = dprank.Comparisons(
        rng.integers(0, 2, 60), rng.integers(2, 4, 60), rng.integers(0, 2, 60), items=ITEMS, voter=np.arange(60)
    )
    had = dprank.Tallies(np.arange(40), np.arange(40) % 4, ITEMS)
    yield publish(dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4).release(votes, rng), "consensus", top=2)
    yield publish(dprank.NoisyMatrix.calibrated(epsilon=1.0, n_items=4).release(votes, rng), "consensus")
    yield publish(dprank.LocalBorda.calibrated(epsilon=1.0, n_items=4).release(votes, rng), "consensus")
    counts = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=4, per_person=1, design="once")
    yield publish(counts.release(answers, rng), "ranking", sampling="persons", persons=60)
    conditioned = dprank.NoisyCounts.calibrated(epsilon=1.0, n_items=4, per_person=1, noise="conditioned")
    yield publish(conditioned.release(answers, rng), "ranking")
    best = dprank.Oneshot.calibrated(epsilon=1.0, items=ITEMS, k=2, values=True, per_person=1, adjacency="add_remove")
    yield publish(best.release(had, rng), "topk")
    agree = dprank.NoisyNorm.calibrated(epsilon=1.0, n_items=4, n_voters=40)
    yield publish(agree.release(votes, rng), "agreement")


def places(value, path=()):
    """Where something stands."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def mutated(value, rng):
    """The same with one to three values that are others, gone, twice there or under another name."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        path = rng.choice([it for it in places(value) if it] or [()])
        if not path:
            return rng.choice(OTHERS)
        home = value
        for key in path[:-1]:
            home = home[key]
        what, key = rng.random(), path[-1]
        if what < 0.6:
            home[key] = copy.deepcopy(rng.choice(OTHERS))
        elif what < 0.75:
            del home[key]
        elif what < 0.9:  # of another place
            other = value
            for step in rng.choice(list(places(value))):
                other = other[step]
            home[key] = copy.deepcopy(other)
        elif isinstance(home, dict):
            home[rng.choice(["new", "class", "epsilon", "items", "[bold]", f"{key} "])] = home.pop(key)
        else:
            home.append(copy.deepcopy(home[key]))
    return value


def broken(text, rng):
    """A text with a few letters that are others."""
    letters = list(text)
    for _ in range(rng.choice([1, 2, 5])):
        at = rng.randrange(len(letters) + 1)
        letters[at : at + rng.choice([0, 1, 3])] = rng.choice(["", "\0", "[", "}", '"', "\x1b", "é", "1e999"])
    return "".join(letters)


PLANS = [
    'kind = "comparisons"\nitems = ["a", "b", "c", "d"]\nperson = "who"\ncolumns = ["l", "r", "x"]\n'
    'clean = ["strip"]\nanswers = {left = 1.0, right = 0.0}\naliases = {aa = "a"}\n[release]\nepsilon = 1.0\n'
    'protect = "person"\nanswers = 1\n',
    'kind = "ballots"\nitems = ["a", "b", "c", "d"]\nform = "wide"\nballots = "partial"\nunranked = "last"\n'
    'repeated = "none"\nperson = "who"\nweight = "w"\nmax_weight = 3\n[release]\nepsilon = 1.0\n',
    'kind = "comparisons"\nform = "wide"\nitems = ["a", "b", "c", "d"]\npairs = {q = "a vs b", z = "c vs d"}\n'
    'answers = "names"\n',
    'kind = "tallies"\nitems = ["a", "b", "c", "d"]\nperson = "who"\ncolumns = ["l"]\n[release]\nepsilon = 1.0\nk = 2\n'
    "per_person = 1\n",
]  # fmt: skip
TABLE = "who,l,r,x,w,a,b,c,d,q\n1,a,b,left,1,1,2,3,4,a\n2,c,d,right,2,2,1,4,3,b\n"
KINDS = {"comparisons": "ranking", "ballots": "consensus", "tallies": "topk"}


def told(words):
    """Exit code, and what is said, or the exception that nobody caught; and how long it took."""
    out, error, begin = io.StringIO(), io.StringIO(), time.perf_counter()
    code: object = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code or 0
        except BaseException as fault:
            code = fault
    return code, out.getvalue(), error.getvalue(), time.perf_counter() - begin


def commands(folder, rng, number):
    """So many commands on mutated files, each with its words and what it is given."""
    published = [json.loads(text) for text in releases()]
    table, file, plan, kept = (folder / name for name in ("t.csv", "r.json", "p.toml", "b.sqlite"))
    table.write_text(TABLE)
    other = folder / "o.json"
    other.write_text(json.dumps(rng.choice(published)))
    for at in range(number):
        for command in (["verify"], ["report"], ["verify", "--json"], ["card"], ["compare", other]):
            given = mutated(rng.choice(published), rng)
            if isinstance(given, dict) and rng.random() < 0.5:  # as a forger leaves it
                with contextlib.suppress(ValueError):
                    given["id"] = identifier(given)
            text = json.dumps(given, ensure_ascii=rng.random() < 0.5)
            text = broken(text, rng) if rng.random() < 0.1 else text
            file.write_bytes(text.encode(errors="surrogatepass"))
            facts = ["--name", "n", "--curator", "c", "--author", "a", "--use", "u", "--region", "r"]
            yield [*command, file, *(facts if command == ["card"] else [])], text
        source = rng.choice(PLANS)
        given = mutated(tomllib.loads(source), rng)
        try:
            text = "".join(f"{json.dumps(str(key))} = {_toml(it)}\n" for key, it in given.items())
        except AttributeError:
            text = str(given)
        text = broken(text, rng) if rng.random() < 0.2 else text
        plan.write_bytes(text.encode(errors="surrogatepass"))
        question = KINDS[tomllib.loads(source)["kind"]]
        yield ["check", table, "--plan", plan], text
        more = ["--k", "2"] if question == "topk" else []
        yield ["plan", question, "--plan", plan, "--persons", "50", "--epsilon", "1", *more], text
        yield ["release", question, table, "--plan", plan, "--rehearse"], text
        if at % 8 == 0:
            yield ["budget", _budget(kept, rng)], "budget"


def _budget(path, rng):
    """A budget with a cell or a few bytes that are others."""
    path.unlink(missing_ok=True)
    dprank.Budget(path, epsilon=3.0).spend(dprank.Guarantee(0.5), dataset="[bold]x", what="y")
    if rng.random() < 0.5:
        with contextlib.closing(sqlite3.connect(path)) as db, db, contextlib.suppress(sqlite3.Error):
            name = rng.choice([row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")])
            column = rng.choice([row[1] for row in db.execute(f"PRAGMA table_info({name})")])
            db.execute(f"UPDATE {name} SET {column} = ?", [rng.choice(["x", "", -1, None, 1e300, "inf", b"\xff"])])
    else:
        raw = bytearray(path.read_bytes())
        for _ in range(3):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        path.write_bytes(bytes(raw))
    return path


def faults(number, seed):
    """What is neither an answer nor a refusal in one line: how many commands there were, and what each fault was."""
    rng, found, made = random.Random(seed), [], 0
    with tempfile.TemporaryDirectory() as folder:
        for words, given in commands(Path(folder), rng, number):
            code, out, error, seconds = told(words)
            made += 1
            refusal = code in (1, 2, 3) and len([line for line in error.splitlines() if line.strip()]) >= 1
            steering = [it for it in out + error if not it.isprintable() and it != "\n"]
            if not (code == 0 or refusal) or steering or seconds > LONG:
                found.append((words, given, repr(code), steering[:3], seconds))
    return made, found


if __name__ == "__main__":
    made, found = faults(int(sys.argv[1]), int(sys.argv[2]))
    print(made, "commands,", len(found), "faults")
    for words, given, code, steering, seconds in found:
        print(words[0], code, steering, round(seconds, 1), given[:2000].replace("\n", "¶") if len(found) < 5 else "")
