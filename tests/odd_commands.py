"""Commands with what they are given, drawn: most of them good, and odd in a place or two."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
import tomllib
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
from one_command import Refused, ours, run, told, unnamed

import dprank
import dprank.cli
from dprank.data.declaration import _toml
from dprank.plan.tags import TAGS
from dprank.publication import publish

FACTS = ["--name", "n", "--curator", "c", "--author", "a", "--use", "u", "--region", "r"]
#: What may stand in the place of the value of any flag.
ODD = [
    "", " ", "0", "-0.0", "-1", "1", "2", "3.5", "1e-300", "5e-324", "nan", "inf", "-inf", "1e300", "1e18", "1" * 400,
    "x", "None", "1,2", ",", "a=b", "=", "--", "-", "é", "\u202e", "\x1b[2J", "[/]", "/", ".", "..", "~", "/dev/null",
    "who", "left,right", "left,left,left", "full", "one", "none", "all", "replace", "gaussian", "any", "person",
    "x" * 5000, "a vs b", "a\nb", "9007199254740993", "nowhere/x", "http://x.example/y.csv", "\udcff",
]  # fmt: skip
#: The same of epsilon, delta and whole numbers: mostly sound.
EPSILONS = [
    "1",
    "1",
    "1",
    "0.5",
    "2",
    "8",
    "1e-3",
    "0",
    "-1",
    "nan",
    "inf",
    "1e-300",
    "5e-324",
    "1e300",
    "40",
    "one",
    "",
]
DELTAS = ["1e-6", "1e-9", "0", "0.1", "1", "-1", "nan", "1e-300", "x"]
WHOLE = ["1", "1", "2", "2", "3", "7", "0", "-1", "100", "1000000", "9007199254740993", "1.0", "x", ""]


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
        # data of so many are simulated: of a million, each ranking twelve items, some minutes long
        words += ["--voters", rng.choice([*(it for it in whole if it != "1000000"), "10", "100", "30", "1000"])]
    more: dict[str, list[str]] = {
        "--delta": DELTAS[:2] if rng.random() < 0.7 else DELTAS,
        "--mechanism": [name for name, tag in TAGS.items() if tag.question == question and tag.trust == "curator"]
        + ["LocalBorda"],
        "--adjacency": ["replace", "add_remove"],
        "--noise": {"topk": ["laplace", "gumbel", "exponential"]}.get(
            question, ["laplace", "gaussian", "cube", "conditioned"]
        ),
        "--score": ["net", "half", "wins"],
        "--design": ["once", "any", "matching"],
        "--rule": ["auto", "borda", "maximin"],
        "--statistic": ["ranks", "pairs"],
        "--size": ["0.05", "0.5", "0", "1"],
        "--top": whole,
        "--title": ["Trees", "[bold]a", "", "a\nb"],
        "--day": ["2026-11-29", "2026-02-30", "today"],
        "--wave": whole,
        "--replaces": ["none.json", "."],
        "--persons": whole,
        "--clean": ["strip", "strip,casefold", "nfkc", "spaces"],
        "--alias": [f"{odd_tables.CELL} 1=oak", f"zz={it.items[0]}", f"1={it.items[0]}", "=a"],
        "--sampling": ["persons", "answers"],
    }
    for flag in rng.sample(list(more), rng.choice([0, 0, 1, 1, 2, 4])):
        if flag in takes(question):
            words += [flag, rng.choice(more[flag])]
    words += [
        flag
        for flag in ("--public-graph", "--values", "--no-ordered")
        if flag in takes(question) and rng.random() < 0.05
    ]
    if rng.random() < 0.4:
        kept = folder / "kept.sqlite"
        kept.write_bytes(rng.choice(samples()["budgets"]))
        words += [
            "--budget",
            str(kept),
            *(["--dataset", rng.choice(["t.csv", "new", "[bold]x", "T.CSV"])] * (rng.random() < 0.5)),
        ]
        words += ["--new-dataset"] * (rng.random() < 0.8)
        if question not in ("ranking", "topk"):  # ballots that name nobody ask for the word
            words += ["--protect", rng.choice(["ballot", "ballot", "ballot", "person"])] * (rng.random() < 0.5)
    words += ["--out", str(folder / "out.json")] * (rng.random() < 0.6)
    return words + ["--rehearse"] * (rng.random() < 0.2) + ["--json"] * (rng.random() < 0.3)


@cache
def takes(question: str) -> set[str]:
    """Flags of a question."""
    command = dprank.cli._command().commands["release"].commands[question].whole
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
            words += rng.choice(
                [["--unheard"], ["--k", "2"], ["--top", "1"], ["--wide"], ["--item", "item"], ["x.csv"]]
            )
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
        words = [
            "count",
            *words,
            *most,
            "--out",
            str(out),
            *["--shard", rng.choice(["1/2", "2/2", "1/1"])] * (rng.random() < 0.3),
        ]
        words += ["--engine", "numpy"] * (rng.random() < 0.9)
        words = slipped(rng, words) if odd else words
        return lambda: (
            run(words, folder),
            out.exists() and run(["merge", str(out), "--out", str(folder / "all.json")], folder),
        )
    question = it.question if it.question != "consensus" else rng.choice(["consensus", "winner", "agreement"])
    question = "winner" if question == "agreement" and {"tied", "partial"} & set(flags) else question
    words = ["release", question, *words, *options(rng, question, it, folder)]
    words = slipped(rng, words) if odd else words
    out = folder / "out.json"
    budget = ["--budget", str(folder / "kept.sqlite")] if "--budget" in words and "--rehearse" not in words else []
    then = rng.choice(
        [
            ["verify", str(out), *budget],
            ["report", str(out)],
            ["report", str(out), "--html"],
            ["card", str(out), *FACTS],
        ]
    )
    return lambda: (run(words, folder), out.exists() and run(then, folder))


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
    planned = [
        "plan",
        question,
        "--plan",
        file,
        "--persons",
        rng.choice(["50", "400", *WHOLE]),
        "--epsilon",
        rng.choice(EPSILONS),
    ]
    given += ["--protect", "answer"] * (question == "ranking" and "release" not in source)
    release = ["release", question, table, "--plan", file, *given, *["--rehearse"] * (rng.random() < 0.5)]
    words = rng.choices([["check", table, "--plan", file], planned + more, release], [4, 1, 5])[0]
    words = slipped(rng, words) if rng.random() < 0.1 else words
    return lambda: run(words, folder, secret=True)


def of_budget(rng: Random, folder: Path) -> Callable[[], Any]:
    """A budget, as it is, new, or with cells, columns or bytes that are others."""
    kept = folder / "b.sqlite"
    kept.write_bytes(rng.choice([samples()["budget"], *samples()["budgets"]]))
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
    new = ["--epsilon", rng.choice(EPSILONS)] if not kept.exists() or rng.random() < 0.1 else []
    if new and rng.random() < 0.3:
        new += ["--delta", rng.choice(DELTAS), "--composition", rng.choice(["basic", "zcdp"])]
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
        value = rng.choice(
            ["x", "", -1, 0, None, 1e300, "inf", "1/3", "1e9999999", "9" * 5000, b"\xff", "[bold]", "a\nb"]
        )
        told = rng.choice([
            *[f"UPDATE {name} SET {column} = ?"] * 2, f"DELETE FROM {name} WHERE ? IS NOT 1",
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
    asked = (
        ["ranking", "--protect", "person", "--answers", "1"]
        if kind == "answers"
        else ["topk", "--k", "2", "--per-person", "1"]
    )
    words = [
        "release",
        *asked,
        "--counts",
        file,
        "--epsilon",
        rng.choice(EPSILONS[:8]),
        "--out",
        str(folder / "out.json"),
    ]
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
        rows = [
            ["person" if it == "who" else it for it in it.header],
            *([str(cell) for cell in row] for row in it.rows),
        ]
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
