"""Input that is well formed and odd, for every command and door: a result, or a refusal in one line that tells of nobody.

make fuzz ARGS="--structured 50000 --seed 1"         so many, of a seed: what was run, by kind, and what broke
make fuzz ARGS="--structured 1 --seed 1 --first 37"  the one of that number again, with what was said

Tables in every form and format, options good and odd, and published files, plans, budgets and counts of which a value is
another. A command breaks if it ends otherwise than with its documented codes; refuses in more than a line, or in words
that are not the house's; says who is in a table; leaves half a file, or spends and has nothing to show; or takes more
than `fuzz.SECONDS` or `fuzz.BYTES`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sqlite3
import sys
import tempfile
import tomllib
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import fuzz
import odd_tables
from fuzz import Broken
from mutations import PLANS, TABLE, broken, mutated, releases

import dprank
import dprank.cli
from dprank.data.declaration import _toml
from dprank.plan.tags import TAGS
from dprank.publication import publish, read_publication

SRC = Path(dprank.__file__).parent
#: Of all inputs, the least that must be taken: what refuses everything is tested by none.
TAKEN = 0.3
#: What is said beside an answer, on standard error.
NOTES = re.compile(r"dprank: (items: those that .* are taken as public|epsilon = \S+ is above 10.*)")
FACTS = ["--name", "n", "--curator", "c", "--author", "a", "--use", "u", "--region", "r"]
#: What may stand in the place of the value of any flag.
ODD = [
    "", " ", "0", "-0.0", "-1", "1", "2", "3.5", "1e-300", "5e-324", "nan", "inf", "-inf", "1e300", "1e18", "1" * 400, "x",
    "None", "1,2", ",", "a=b", "=", "--", "-", "é", "\u202e", "\x1b[2J", "[/]", "/", ".", "..", "~", "/dev/null", "who",
    "left,right", "left,left,left", "full", "one", "none", "all", "replace", "gaussian", "any", "person", "x" * 5000,
    "a vs b", "a\nb", "9007199254740993", "nowhere/x", "http://x.example/y.csv", "\udcff",
]  # fmt: skip
#: The same of epsilon, delta and whole numbers: mostly sound.
EPSILONS = ["1", "1", "1", "0.5", "2", "8", "1e-3", "0", "-1", "nan", "inf", "1e-300", "5e-324", "1e300", "40", "one", ""]
DELTAS = ["1e-6", "1e-9", "0", "0.1", "1", "-1", "nan", "1e-300", "x"]
WHOLE = ["1", "1", "2", "2", "3", "7", "0", "-1", "100", "1000000", "9007199254740993", "1.0", "x", ""]


class Refused(Exception):
    """A command did not do what it was asked, as it should."""


def said_by(words: list[str]) -> tuple[Any, str, str, BaseException | None]:
    """Exit code or what was raised, standard output, standard error, and what was refused."""
    out, err, caught = io.StringIO(), io.StringIO(), list[BaseException | None]()
    usual = dprank.cli._refuse

    def refuse(said: str, code: int) -> Any:
        caught.append(sys.exc_info()[1])
        usual(said, code)

    code: Any = None
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        dprank.cli._refuse = refuse
        try:
            dprank.cli.main(words)
        except SystemExit as end:
            code = end.code or 0
        except Exception as error:
            code = error
        finally:
            dprank.cli._refuse = usual
    return code, out.getvalue(), err.getvalue(), caught[-1] if caught else None


def ours(error: BaseException) -> bool:
    """Whether the house said it: raised by its own hand, or by the system or the parser of flags in words of theirs."""
    if hasattr(error, "format_message") or (isinstance(error, OSError) and error.errno is not None):
        return True
    last = traceback.extract_tb(error.__traceback__, limit=-1)[0]
    return Path(last.filename).is_relative_to(SRC) and (last.line or "raise").startswith("raise")


def entries(kept: Path) -> int:
    """How many entries a budget has; -1 where it is none."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{kept}?mode=ro", uri=True)) as db:
            return int(db.execute("SELECT COUNT(*) FROM entries").fetchone()[0])
    except sqlite3.Error:
        return -1


def told(text: str, marks: tuple[str, ...]) -> bool:
    return any(mark in text.casefold() for mark in marks)


def run(words: list[str], folder: Path, *, secret: bool = False, code_1: bool = False) -> str:
    """What a command says; `Refused` where it refuses as it should, `Broken` where it does not."""
    out = Path(words[words.index("--out") + 1]) if "--out" in words[:-1] else None
    kept = Path(words[words.index("--budget") + 1]) if "--budget" in words[:-1] else None
    there = out is not None and os.path.lexists(out)
    before = {path.name for path in folder.iterdir()}
    spent = entries(kept) if kept and kept.is_relative_to(folder) else -1
    code, said, error, cause = said_by(words)
    if isinstance(code, Exception):
        raise code
    if code not in ((0, 1, 2, 3) if code_1 else (0, 2, 3)):
        raise Broken(f"ended with {code}: {error[:300]}")
    lines = [line for line in error.splitlines() if not NOTES.fullmatch(line)]
    marks = odd_tables.PERSONS
    if told(error, (*marks, odd_tables.CELL)) or (not secret and told(said, (*marks, odd_tables.CELL))):
        raise Broken(f"tells of a person: {error[:300]}")
    if secret and told(said, marks) and words[0] != "check":
        raise Broken(f"tells who a person is: {words}")
    left = {path.name for path in folder.iterdir()} - before
    if half := [name for name in left if name.startswith(".") or name.endswith(("-journal", "-wal", "-shm"))]:
        raise Broken(f"left behind: {half}")
    if list((folder / "tmp").iterdir()):
        raise Broken("left behind in the folder for what is temporary")
    paid = spent >= 0 and kept is not None and entries(kept) - spent
    if code in (2, 3):
        if len(lines) != 1 or not lines[0].startswith("dprank: ") or not lines[0].removeprefix("dprank: ").strip():
            raise Broken(f"refused in {len(lines)} lines: {error[:300]!r}")
        if cause is not None and not ours(cause):
            raise Broken(f"refused in words of others: {error[:300]!r}") from cause
        if paid:
            raise Broken(f"spent, and refused: {error[:300]!r}")
        if said or (out is not None and not there and out.exists()):
            raise Broken(f"refused, and wrote all the same: {error[:300]!r}, {said[:200]!r}")
        raise Refused(lines[0])
    if lines:
        raise Broken(f"done, and complained: {error[:300]!r}")
    if words[0] == "release" and kept is not None and spent >= 0 and "--rehearse" not in words and paid != 1:
        raise Broken(f"released, and spent {paid} entries")
    if words[0] == "release" and out is not None and out.is_file():
        read_publication(out.read_text(encoding="utf-8"))
    if "--json" in words and words[0] != "report":
        json.loads(said)
    return said


@cache
def samples() -> dict[str, Any]:
    """Files to alter: published ones, one with the budget that paid for it, plans, and a budget of two data sets."""
    with tempfile.TemporaryDirectory() as name:
        kept = Path(name) / "kept.sqlite"
        budget = dprank.Budget(kept, epsilon=3.0)
        budget.spend(dprank.Guarantee(0.5), dataset="[bold]x", what="y")
        votes = dprank.Rankings([[0, 1, 2, 3]] * 40, ["a", "b", "c", "d"])
        borda = dprank.PrivateBorda.calibrated(epsilon=1.0, n_items=4)
        drawn, receipt = budget.release_with_receipt(borda, votes, dataset="t.csv", new_dataset=True)
        paid = json.loads(publish(drawn, "consensus", receipt=receipt))
        second = Path(name) / "second.sqlite"
        dprank.Budget(second, epsilon=3.0, delta=1e-6, composition="zcdp")
        third = Path(name) / "third.sqlite"
        dprank.Budget(third, epsilon=3.0, unit="comparison")
        return {
            "published": [json.loads(text) for text in releases()],
            "paid": paid,
            "budget": kept.read_bytes(),
            "budgets": [kept.read_bytes(), second.read_bytes(), third.read_bytes()],
            "plans": PLANS,
        }


def options(rng: Random, question: str, it: Any, folder: Path) -> list[str]:
    """Flags of a release, most of them good."""
    items = len(it.items)
    words = ["--epsilon", rng.choice(EPSILONS if rng.random() < 0.2 else EPSILONS[:6])]
    whole = WHOLE if rng.random() < 0.3 else ["1", "2"]
    if question == "ranking":
        protect = rng.choice(["person", "person", "answer"])
        words += ["--protect", protect, *(["--answers", rng.choice(whole)] if protect == "person" else [])]
    if question == "topk":
        words += ["--k", rng.choice([*whole, str(items)]), "--per-person", rng.choice(whole)]
    if question == "agreement":
        words += ["--voters", rng.choice([*whole, "10", "100", "30"])]
    more: dict[str, list[str]] = {
        "--delta": DELTAS[:2] if rng.random() < 0.7 else DELTAS,
        "--mechanism": [name for name, tag in TAGS.items() if tag.question == question and tag.trust == "curator"] + ["LocalBorda"],
        "--adjacency": ["replace", "add_remove"],
        "--noise": {"topk": ["laplace", "gumbel", "exponential"]}.get(question, ["laplace", "gaussian", "cube", "conditioned"]),
        "--score": ["net", "half", "wins"],
        "--design": ["once", "any", "matching"],
        "--rule": ["auto", "borda", "maximin"],
        "--statistic": ["ranks", "pairs"],
        "--size": ["0.05", "0.5", "0", "1"],
        "--top": whole,
        "--persons": whole,
        "--clean": ["strip", "strip,casefold", "nfkc", "spaces"],
        "--alias": [f"{odd_tables.CELL} 1=oak", f"zz={it.items[0]}", f"1={it.items[0]}", "=a"],
        "--sampling": ["persons", "answers"],
    }
    for flag in rng.sample(list(more), rng.choice([0, 0, 1, 1, 2, 4])):
        if flag in takes(question):
            words += [flag, rng.choice(more[flag])]
    words += [flag for flag in ("--public-graph", "--values", "--no-ordered") if flag in takes(question) and rng.random() < 0.05]
    if rng.random() < 0.4:
        kept = folder / "kept.sqlite"
        kept.write_bytes(rng.choice(samples()["budgets"]))
        words += ["--budget", str(kept), *(["--dataset", rng.choice(["t.csv", "new", "[bold]x", "T.CSV"])] * (rng.random() < 0.5))]
        words += ["--new-dataset"] * (rng.random() < 0.8)
    words += ["--out", str(folder / "out.json")] * (rng.random() < 0.6)
    return words + ["--rehearse"] * (rng.random() < 0.2) + ["--json"] * (rng.random() < 0.3)


@cache
def takes(question: str) -> set[str]:
    """Flags of a question."""
    command = dprank.cli._command().commands["release"].commands[question]
    return {name for it in command.params for name in (*it.opts, *it.secondary_opts)}


def slipped(rng: Random, words: list[str]) -> list[str]:
    """Words of which a few are others, gone, or there twice."""
    words = list(words)
    for _ in range(rng.choice([1, 1, 2])):
        flags = [at for at, word in enumerate(words) if word.startswith("--") and word not in ("--out", "--budget")]
        at = rng.choice(flags or [len(words)])
        what = rng.random()
        if what < 0.6 and at + 1 < len(words):
            if words[at + 1].startswith("--"):
                words.insert(at + 1, rng.choice(ODD))
            elif words[at] not in ("--budget", "--out"):
                words[at + 1] = rng.choice(ODD)
        elif what < 0.75:
            del words[at : at + rng.choice([1, 2])]
        elif what < 0.9:
            words += words[at : at + 2]
        else:
            words += rng.choice([["--unheard"], ["--k", "2"], ["--top", "1"], ["--wide"], ["--item", "item"], ["x.csv"]])
    return words


def of_table(rng: Random, folder: Path) -> Callable[[], Any]:
    """A table in a file, through `check`, `count`, a release, and what follows it."""
    it = odd_tables.table(rng)
    path = odd_tables.written(rng, it, folder)
    (folder / "items.txt").write_bytes("\n".join(it.items).encode())
    flat = not any(set(name) & set(",\t") for name in it.items)
    words = [str(path), "--items", ",".join(it.items) if flat and rng.random() < 0.5 else str(folder / "items.txt")]
    flags = list(it.flags)
    if it.form in ("wide", "long", "orders") and rng.random() < 0.1:
        flags += ["--repeated", rng.choice(["one", "none"])]
    words += flags
    odd = rng.random() < 0.15
    asked = rng.random()
    if asked < 0.3:
        more = ["--json"] * (rng.random() < 0.5) + ["--out", str(folder / "out.toml")] * (rng.random() < 0.3)
        more += ["--clean", rng.choice(["strip", "strip,casefold", "spaces,nfkc"])] * (rng.random() < 0.3)
        words = ["check", *words, *more]
        words = slipped(rng, words) if odd else words
        if not it.shifted and not odd:
            return lambda: unnamed(run(words, folder, secret=True))
        return lambda: run(words, folder, secret=True)
    if asked < 0.4 and it.form in ("answers", "tallies"):
        most = ["--per-person" if it.form == "tallies" else "--answers", rng.choice(WHOLE[:5])]
        out = folder / f"counts.{rng.choice(['json', 'parquet'])}"
        words = ["count", *words, *most, "--out", str(out), *["--shard", rng.choice(["1/2", "2/2", "1/1"])] * (rng.random() < 0.3)]
        words += ["--engine", "numpy"] * (rng.random() < 0.9)
        words = slipped(rng, words) if odd else words
        return lambda: (run(words, folder), out.exists() and run(["merge", str(out), "--out", str(folder / "all.json")], folder))
    question = it.question if it.question != "consensus" else rng.choice(["consensus", "winner", "agreement"])
    question = "winner" if question == "agreement" and {"tied", "partial"} & set(flags) else question
    words = ["release", question, *words, *options(rng, question, it, folder)]
    words = slipped(rng, words) if odd else words
    out = folder / "out.json"
    budget = ["--budget", str(folder / "kept.sqlite")] if "--budget" in words and "--rehearse" not in words else []
    then = rng.choice([["verify", str(out), *budget], ["report", str(out)], ["report", str(out), "--html"], ["card", str(out), *FACTS]])
    return lambda: (run(words, folder), out.exists() and run(then, folder))


def unnamed(said: str) -> None:
    """Not even its keeper is told who is in a table whose cells stand where they should."""
    if told(said, odd_tables.PERSONS):
        raise Broken(f"check says who is there: {said[:500]!r}")


def of_frame(rng: Random, folder: Path) -> Callable[[], Any]:
    """A table in memory, or read by `read_*`."""
    it = odd_tables.table(rng, rng.choice(["answers", "answers", "wide", "tallies"]))
    door: Any
    if it.form == "answers":
        keys = it.columns | {"items": it.items, "voter": it.person}
        door, keys = (dprank.Comparisons.from_frame, keys | {"missing": rng.choice(["refuse", "drop", "drop"])})
        file: Any = dprank.read_comparisons
    elif it.form == "tallies":
        keys = {"items": it.items, "person": it.person, "item": "item"}
        door, file = dprank.Tallies.from_frame, dprank.read_tallies
    else:
        keys = {"items": it.items, "voter": it.person}
        door, file = rng.choice([dprank.Rankings, dprank.Ballots]).from_frame, dprank.read_rankings
    given = odd_tables.written(rng, it, folder) if (read := rng.random() < 0.3) else odd_tables.frame(rng, it)

    def call() -> None:
        try:
            (file if read else door)(given, **keys)
        except Exception as error:
            if told(str(error), (*odd_tables.PERSONS, odd_tables.CELL)):
                raise Broken(f"tells of a person: {error}") from error
            if not fuzz.refusal(error):
                raise
            if not ours(error):
                raise Broken(f"refused in words of others: {error}") from error
            raise Refused(str(error)) from None

    return call


def text_of(rng: Random, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    return broken(text, rng) if rng.random() < 0.1 else text


def save(path: Path, text: str) -> str:
    path.write_bytes(text.encode(errors="surrogatepass"))
    return str(path)


def of_published(rng: Random, folder: Path) -> Callable[[], Any]:
    """A published file, as it is or with values that are others; seldom audited."""
    paid = rng.random() < 0.3
    it = samples()["paid"] if paid else rng.choice(samples()["published"])
    file = save(folder / "r.json", text_of(rng, mutated(it, rng) if rng.random() < 0.6 else it))
    (folder / "kept.sqlite").write_bytes(samples()["budget"])
    verify = ["verify", file, *(["--budget", str(folder / "kept.sqlite")] if paid else [])]
    words = rng.choice([verify, [*verify, "--json"], ["report", file], ["report", file, "--html"]])
    words = ["card", file, *FACTS] if paid and rng.random() < 0.3 else words
    if rng.random() < 0.003:
        return lambda: run(["audit", file, "--releases", "1000"], folder, code_1=True)
    words = slipped(rng, words) if rng.random() < 0.15 else words
    return lambda: run(words, folder)


def of_plan(rng: Random, folder: Path) -> Callable[[], Any]:
    """A declaration, with a release or without, as it is or with values that are others."""
    source = tomllib.loads(rng.choice(samples()["plans"]))
    question = {"comparisons": "ranking", "ballots": "consensus", "tallies": "topk"}[source["kind"]]
    it = mutated(source, rng) if rng.random() < 0.5 else source
    try:
        text = "".join(f"{json.dumps(str(key))} = {_toml(value)}\n" for key, value in it.items())
    except AttributeError:
        text = str(it)
    file = save(folder / "p.toml", broken(text, rng) if rng.random() < 0.15 else text)
    table = save(folder / "t.csv", TABLE)
    more = ["--k", rng.choice(WHOLE[:5])] if question == "topk" else []
    given = ["--epsilon", rng.choice(EPSILONS[:8])] if "release" not in source or rng.random() < 0.3 else []
    planned = ["plan", question, "--plan", file, "--persons", rng.choice(["50", "400", *WHOLE]), "--epsilon", rng.choice(EPSILONS)]
    given += ["--protect", "answer"] * (question == "ranking" and "release" not in source)
    release = ["release", question, table, "--plan", file, *given, *["--rehearse"] * (rng.random() < 0.5)]
    words = rng.choices([["check", table, "--plan", file], planned + more, release], [4, 1, 5])[0]
    words = slipped(rng, words) if rng.random() < 0.1 else words
    return lambda: run(words, folder, secret=True)


def of_budget(rng: Random, folder: Path) -> Callable[[], Any]:
    """A budget, as it is, new, or with cells, columns or bytes that are others."""
    kept = folder / "b.sqlite"
    kept.write_bytes(rng.choice(samples()["budgets"]))
    what = rng.random()
    if what < 0.35:
        altered(rng, kept)
    elif what < 0.5:
        raw = bytearray(kept.read_bytes())
        for _ in range(rng.choice([1, 3, 30])):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        kept.write_bytes(bytes(raw[: rng.choice([len(raw), len(raw), rng.randrange(len(raw))])]))
    elif what < 0.7:
        kept.unlink()
    new = ["--epsilon", rng.choice(EPSILONS)] if what >= 0.5 and rng.random() < 0.8 else []
    new += ["--delta", rng.choice(DELTAS), "--composition", rng.choice(["basic", "zcdp"])] * (len(new) > 0 and rng.random() < 0.3)
    file = save(folder / "r.json", json.dumps(samples()["paid"]))
    votes = save(folder / "t.csv", "who,a,b,c,d\n1,1,2,3,4\n")
    spend = ["release", "consensus", votes, "--items", "a,b,c,d", "--person", "who", "--epsilon", rng.choice(EPSILONS)]
    words = rng.choices(
        [["budget", str(kept), *new], ["budget", str(kept), "--json", *new], ["verify", file, "--budget", str(kept)],
         [*spend, "--budget", str(kept), *["--new-dataset"] * (rng.random() < 0.7), "--out", str(folder / "out.json")]],
        [4, 2, 1, 2],
    )[0]  # fmt: skip
    words = slipped(rng, words) if rng.random() < 0.1 else words
    return lambda: run(words, folder)


def altered(rng: Random, kept: Path) -> None:
    """A cell, a row, a column, a table or a trigger of a budget that is another, or gone."""
    with contextlib.closing(sqlite3.connect(kept)) as db, db, suppress(sqlite3.Error):
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            if rng.random() < 0.9:
                db.execute(f"DROP TRIGGER {name}")
        name = rng.choice([row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")])
        column = rng.choice([row[1] for row in db.execute(f"PRAGMA table_info({name})")])
        value = rng.choice(["x", "", -1, 0, None, 1e300, "inf", "1/3", "1e9999999", "9" * 5000, b"\xff", "[bold]", "a\nb"])
        told = rng.choice([
            f"UPDATE {name} SET {column} = ?", f"UPDATE {name} SET {column} = ?", f"DELETE FROM {name} WHERE ? IS NOT 1",
            f"ALTER TABLE {name} RENAME COLUMN {column} TO other", f"ALTER TABLE {name} ADD COLUMN more",
            f"DROP TABLE {name}", "PRAGMA user_version = 77", f"CREATE VIEW v AS SELECT * FROM {name}",
        ])  # fmt: skip
        db.execute(told, [value] * told.count("?"))


def of_counts(rng: Random, folder: Path) -> Callable[[], Any]:
    """Exact counts, as they are or with values that are others, for a release or to be added up."""
    kind = rng.choice(["answers", "tallies"])
    kept = json.loads(counted(kind))
    it = mutated(kept, rng) if rng.random() < 0.6 else kept
    file = save(folder / "c.json", text_of(rng, it))
    if rng.random() < 0.3:
        return lambda: run(["merge", file, "--out", str(folder / "all.json")], folder)
    asked = ["ranking", "--protect", "person", "--answers", "1"] if kind == "answers" else ["topk", "--k", "2", "--per-person", "1"]
    words = ["release", *asked, "--counts", file, "--epsilon", rng.choice(EPSILONS[:8]), "--out", str(folder / "out.json")]
    words = slipped(rng, words) if rng.random() < 0.1 else words
    return lambda: run(words, folder)


@cache
def counted(kind: str) -> str:
    """Counts of a table without a slip."""
    rng = Random(7)
    it = odd_tables.table(rng, kind, ["a", "b", "c"])
    while len(it.rows) < 20 or it.person != "who" or told(str(it.rows), (odd_tables.CELL,)):
        it = odd_tables.table(rng, kind, ["a", "b", "c"])
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "tmp").mkdir()
        table = Path(name) / "t.csv"
        rows = [["person" if it == "who" else it for it in it.header], *([str(cell) for cell in row] for row in it.rows)]
        table.write_text("\n".join(",".join(json.dumps(cell) for cell in row) for row in rows), encoding="utf-8")
        most = ["--answers" if kind == "answers" else "--per-person", "1", "--out", f"{name}/c.json"]
        flags = ["person" if word == "who" else word for word in it.flags]
        run(["count", str(table), "--items", "a,b,c", *flags, *most], Path(name))
        return Path(name, "c.json").read_text(encoding="utf-8")


#: What is drawn, and how often.
KINDS: dict[str, tuple[Callable[[Random, Path], Callable[[], Any]], int]] = {
    "table": (of_table, 50),
    "frame": (of_frame, 15),
    "published": (of_published, 12),
    "plan": (of_plan, 12),
    "budget": (of_budget, 6),
    "counts": (of_counts, 5),
}


def tried(seed: int, number: int, folder: Path, seconds: float) -> tuple[str, str]:
    """The kind of one input, and what came of it: taken, or refused and how; raises what breaks."""
    rng = Random(f"{seed}/{number}")
    kind = rng.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
    (folder / "tmp").mkdir()
    ended = ["taken"]
    call = KINDS[kind][0](rng, folder)

    def reader(_: Path) -> None:
        try:
            call()
        except Refused as error:
            ended[0] = str(error)

    try:
        fuzz.limited(reader, folder, seconds)
    except Exception as error:
        error.add_note(kind)
        raise
    return kind, ended[0]


def once(seed: int, number: int, seconds: float | None = None) -> tuple[str, str]:
    """The same in a folder of its own; what is slow once, since something is compiled, breaks nothing."""
    usual = tempfile.tempdir
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = f"{name}/tmp"
        try:
            return tried(seed, number, Path(name), seconds or fuzz.SECONDS)
        except Broken as error:
            if seconds is not None or "processor" not in str(error):
                raise
        finally:
            tempfile.tempdir = usual
    once(seed, number, fuzz.PATIENCE)
    return once(seed, number, fuzz.SECONDS + 1e-9)


def structured(number: int, seed: int, first: int = 0) -> int:
    """So many inputs of a seed; how many broke, or 1 where too few were taken."""
    fuzz.quiet()
    taken, refused, bad, places = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for at in range(first, first + number):
        try:
            kind, ended = once(seed, at)
            (taken if ended == "taken" else refused)[kind] += 1
            if number == 1:
                print(f"{kind}: {ended}")
        except Exception as error:
            kind = getattr(error, "__notes__", ["?"])[-1]
            bad[kind] += 1
            frames = [it for it in traceback.extract_tb(error.__traceback__) if "/dprank/" in it.filename]
            place = f"{type(error).__name__} {str(error)[:40]} {frames[-1].name if frames else ''}"
            places[place] += 1
            if places[place] <= 3:
                print(f"BROKEN --structured 1 --seed {seed} --first {at}: {kind}: {type(error).__name__}: {str(error)[:600]}")
                print(*traceback.format_tb((error.__cause__ or error).__traceback__)[-2:], sep="", flush=True)
        if number > 1 and (at - first + 1) % 5000 == 0:
            print(f"{at - first + 1:,} done, {bad.total()} broken", flush=True)
    for kind in KINDS:
        if count := taken[kind] + refused[kind] + bad[kind]:
            print(f"{kind}: {count} inputs, {taken[kind]} taken, {refused[kind]} refused, {bad[kind]} broken")
    share = taken.total() / number
    print(f"{number} structured inputs of seed {seed}, {share:.0%} taken, {bad.total()} broken")
    return bad.total() or int(number >= 100 and share < TAKEN)
