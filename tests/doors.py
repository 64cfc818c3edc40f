"""One ballot is one ballot through every door: drawn sets of ballots, read in every form, against counts by hand.

python tests/doors.py 10000         so many sets, of seed 1
python tests/doors.py 1 --seed 37   one set of a seed, and what its files say, where they disagree

A set (`ballots_apart`, which imports nothing of ours) has ties, gaps, skipped places, weights, counts, withdrawn and
unknown names, places from 0, in halves, in words, the highest the best, blanks of many kinds, items that are there
twice, persons with several ballots, and cells that are no place. Every form that can say it is read by its declaration,
which goes through its file; of one set in ten by the flags of `dprank check`. Then the constructors, where they apply.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import ballots_apart as apart
import numpy as np
import pandas as pd

import dprank
from dprank.cli import main
from dprank.cli.taken import ranked

#: Flags of a form.
FORMS = {
    "wide": ["--wide"],
    "long": ["--long", "name,place", "--ballot", "sheet"],
    "orders": ["--orders", "vote"],
    "ranks": [],
    "preflib": [],
}


def flags_of(it: apart.Drawn, door: str, path: Path, folder: Path) -> list[str]:
    """What is declared of a file, as flags of a command."""
    (folder / "items.txt").write_text("\n".join(it.items), encoding="utf-8")
    flags = [*FORMS[door], "--items", str(folder / "items.txt"), "--ballots", it.complete]
    if door == "ranks":
        header = path.read_text(encoding="utf-8").split("\n")[0].replace('"', "").split(",")
        flags += ["--ranks", ",".join(name for name in header if name[0] == "r")]
    flags += ["--unranked", it.unranked] if it.unranked else []
    flags += ["--between", it.between] if door == "orders" and it.between != ">" else []
    flags += ["--withdrawn", ",".join(it.withdrawn)] if it.withdrawn else []
    flags += ["--unranked-as", ",".join(it.none)] if it.none else []
    flags += ["--clean", "strip,casefold"] if it.clean else []
    if door != "preflib":
        flags += ["--person", "who", "--repeated", "none"] if it.people else []
        flags += ["--weight", "w", "--max-weight", "5"] if it.weighted else []
    flags += ["--times", "count"] if it.counted and door in ("wide", "orders", "ranks") else []
    return flags + [part for pair in it.flags().items() for part in pair] * (door in ("wide", "long"))


def declared_of(flags: list[str], path: Path, door: str) -> dprank.Declaration:
    """The same as keys of a declaration, read back from its file."""
    given = dict(zip(flags[::2], flags[1::2], strict=True) if flags[0] != "--wide" else
                 zip(flags[1::2], flags[2::2], strict=True))  # fmt: skip
    listed = {key: value.split(",") for key, value in given.items()}
    keys: dict[str, Any] = {"kind": "ballots", "form": door, "ballots": given["--ballots"]}
    keys["items"] = Path(given["--items"]).read_text(encoding="utf-8").split("\n")
    keys["columns"] = listed.get("--long" if door == "long" else f"--{door}", ())
    names = ("unranked", "person", "repeated", "weight", "best", "times", "ballot", "between")
    keys |= {name: given[f"--{name}"] for name in names if f"--{name}" in given}
    keys |= {name: listed.get(f"--{name.replace('_', '-')}", ()) for name in ("withdrawn", "unranked_as", "clean")}
    keys |= {"max_weight": 5} if "--weight" in given else {}
    keys |= {"lowest": 0} if "--lowest" in given else {}
    if "--map" in given:
        keys["places"] = {key: float(value) for key, _, value in (pair.partition("=") for pair in listed["--map"])}
    declared = dprank.Declaration(**keys)
    plan = path.with_suffix(".toml")
    plan.write_text(declared.to_toml(), encoding="utf-8")
    assert dprank.Declaration.from_toml(plan) == declared
    return dprank.Declaration.from_toml(plan)


def checked(flags: list[str], path: Path) -> dprank.Declaration:
    """What `dprank check` makes of the flags."""
    plan, shown = path.with_suffix(".check.toml"), io.StringIO()
    plan.unlink(missing_ok=True)
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        main(["check", str(path), *flags, "--out", str(plan), "--json"])
    assert plan.exists(), f"check refuses {flags}"
    told = json.loads(shown.getvalue())
    assert sum(told["left out"].values()) + told["rows that count"] == told["rows"]
    return dprank.Declaration.from_toml(plan)


def same(data: Any, expected: tuple[int, list[list[int]]], where: str) -> None:
    """Refuse other counts than those by hand."""
    number, table = expected
    margins = np.array(table).reshape(data.n_items, data.n_items)
    assert len(data) == number, f"{where}: {len(data)} ballots, {number} by hand"
    assert (data.margins() == margins).all(), f"{where}: {data.margins().tolist()}, {table} by hand"
    assert (data.net_wins() == margins.sum(axis=1)).all(), where


def one_set(seed: int, number: int, folder: Path, seen: Counter[str] | None = None) -> None:
    """Draw a set, and hold every door against it."""
    rng = Random(f"doors/{seed}/{number}")
    it, seen = apart.drawn(rng), Counter() if seen is None else seen
    for door, write in apart.DOORS.items():
        text = write(it, rng)
        if text is None:
            continue
        path = folder / f"votes.{'toi' if door == 'preflib' else 'csv'}"
        path.write_text(text, encoding="utf-8")
        flags = flags_of(it, door, path, folder)
        declared = declared_of(flags, path, door)
        if number % 10 == 0:
            assert checked(flags, path) == declared, door
        expected = apart.counted(it, door != "wide")
        intake = declared.read(path)
        same(intake.data, expected, f"seed {seed}, set {number}: {door}\n{text}")
        if it.complete == "full" and not it.weighted:
            full = dprank.Ballots.from_rankings(ranked(intake.data))
            assert (full.margins() == intake.data.margins()).all(), door
        seen[door] += 1
    constructed(it, seen, f"seed {seed}, set {number}", folder / "votes.parquet")


def constructed(it: apart.Drawn, seen: Counter[str], where: str, path: Path) -> None:
    """Ballots as an array, a table of numbers and a file of it, where nothing is wrong and nothing there twice."""
    ballots = apart.told(it)
    twice = any(len({name.lower() for name, _ in ballot.said}) < len(ballot.said) for ballot in ballots)
    if it.people or it.weighted or twice or any(it.wrong for it in ballots):
        return
    levels = [[dict(ballot.said).get(name, -1) for name in it.items] for ballot in ballots]
    places = np.array(levels, np.int64).reshape(len(ballots), len(it.items))
    # of what need not be complete: nothing is left out
    whole = apart.Drawn(**vars(it) | {"complete": "partial", "unranked": it.unranked or "apart"})
    made = {"places": dprank.Ballots(places, it.items)}
    if it.numbers in ("plain", "float", "half", "far"):
        cells = [[float(it.cell(at)) if at >= 0 else None for at in row] for row in levels]
        frame = pd.DataFrame(cells, columns=it.items, dtype=float)
        made["frame"] = dprank.Ballots.from_frame(frame, items=it.items, voter=None)
        frame.to_parquet(path)
        keys: dict[str, Any] = {"kind": "ballots", "items": it.items, "ballots": it.complete, "unranked": it.unranked}
        same(dprank.Declaration(**keys).read(path).data, apart.counted(it, False), f"{where}: parquet")
        seen["parquet"] += 1
    if it.numbers == "plain" and all(sorted(row) == list(range(len(it.items))) for row in levels) and levels:
        made["rankings"] = dprank.Ballots.from_rankings(
            dprank.Rankings.from_frame(pd.DataFrame(places + 1, columns=it.items), items=it.items, voter=None)
        )
    for door, data in made.items():
        same(data.unranked_last() if it.unranked == "last" else data, apart.counted(whole, False), f"{where}: {door}")
        seen[door] += 1


def sets(number: int, seed: int) -> Counter[str]:
    """So many sets: how many each door read."""
    seen = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        for at in range(number):
            one_set(seed, at, Path(name), seen)
            if (at + 1) % 1000 == 0:
                print(f"{at + 1} sets", file=sys.stderr, flush=True)
    return seen


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Drawn ballots through all doors, against counts by hand.")
    parser.add_argument("number", type=int, help="how many sets")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.number} sets agree by", *(f"{door}: {n}" for door, n in sets(given.number, given.seed).items()))
