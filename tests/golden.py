"""What must not change when code moves: texts, plans, published files and messages, to lay beside another tree's.

    make golden                                  # into _build/golden
    make golden ARGS="--against OTHER/FOLDER"    # and what differs from that of another tree, file by file

Everything is made from fixed seeds: `--help` of every command, plans at 400 settings, every mechanism's text, its file
in each of its ways with report and card and what `verify` says, and what hostile input is told at each door. Records,
figures and tables of the book are not here: `make verify` has them.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests" / "dprank"), str(ROOT / "tests")]
#: Where it is written.
FOLDER = ROOT / "_build" / "golden"
SETTINGS = 400
#: What another tree or another run calls otherwise: where objects lie, folders for a while, the tree itself.
ELSEWHERE = re.compile(rf"0x[0-9a-f]+|{re.escape(tempfile.gettempdir())}/tmp\w+|{re.escape(str(ROOT))}(?=/)")
#: Of what differs, lines that are shown.
SHOWN = 12


def helps() -> Iterator[tuple[str, str]]:
    """Every command's own text."""
    from dprank.cli import _command
    from dprank.cli.path import said

    def walk(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        yield " ".join(["dprank", *words]), said(*words, "--help").out
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, (*words, name))

    yield from walk(_command(), ())


def plans() -> Iterator[tuple[str, str]]:
    """What is recommended, or why nothing is."""
    from dprank.cli.path import said

    rng, asked = random.Random(44), dict[tuple[str, ...], None]()
    while len(asked) < SETTINGS:
        words = ["plan", question := rng.choice([*MORE])]
        words += ["--items", str(rng.choice([2, 3, 5, 8, 20])), "--persons", str(rng.choice([2, 40, 1000, 10**6]))]
        words += ["--epsilon", str(rng.choice([0.01, 0.3, 1, 3, 20]))]
        asked[*words, *" ".join(rng.sample(MORE[question], rng.randrange(3))).split()] = None
    for key in asked:
        done = said(*key)
        yield " ".join(key), f"{done.code}\n{done.out}{done.error}"


#: Of every question some of what may be added to it.
MORE = {
    "ranking": ["--delta 1e-6", "--answers 1,3", "--gap 0.3", "--trust nobody", "--design matching", "--unbalanced"],
    "consensus": ["--delta 1e-6", "--phi 0.8", "--gap 0.3", "--trust nobody", "--named 2", "--camps 0.6"],
    "winner": ["--phi 0.8", "--adjacency add_remove", "--named 2", "--accuracy 0.9", "--max-weight 2"],
    "topk": ["--k 2", "--values", "--no-ordered", "--per-person 1,2", "--delta 1e-6", "--share 0.3"],
    "agreement": ["--phi 0.8", "--delta 1e-6", "--trust nobody", "--size 0.1", "--accuracy 0.9"],
}


def mechanisms() -> Iterator[tuple[str, str]]:
    """Their texts, which are keys and seeds."""
    from hostile_doors import mechanisms as every

    for name, mechanism in every().items():
        yield name, f"{mechanism!r}\n{getattr(mechanism, 'guarantee', None)}"


def releases(folder: Path) -> Iterator[tuple[str, str]]:
    """Published files by a seeded draw, with all that is said of them."""
    from test_cli_every_mechanism import CASES, WORDS

    from dprank.audit.routes import Replay
    from dprank.cli.path import DAY, _drawn_by, said
    from dprank.plan.tags import TAGS

    file = folder / "release.json"
    for name, way in CASES:
        question = TAGS[name].question
        words = ["release", question, *WORDS[question], "--mechanism", name, *way, "--epsilon", "1", "--day", DAY]
        words += ["--voters", "250"] * (question == "agreement")
        file.unlink(missing_ok=True)
        with _drawn_by(Replay(44)):
            done = said(*words, "--out", str(file))
        told = [done.out, done.error, file.read_text(encoding="utf-8") if file.exists() else ""]
        for command in (
            ["report"],
            ["verify"],
            ["card", "--name", "n", "--curator", "c", "--author", "a", "--use", "u"],
        ):
            after = said(command[0], str(file), *command[1:])
            told.append(f"{command[0]}: {after.code}\n{after.out}{after.error}")
        yield f"{name} {' '.join(way)}".strip(), "\n".join(told)


def messages(folder: Path) -> Iterator[tuple[str, str]]:
    """What every door makes of every input."""
    from hostile_doors import doors, inputs

    given = inputs(folder)
    for name, door in doors().items():
        yield name, "\n".join(f"{label}: {_told(door, value)}" for label, value in given.items())


def _told(door: Any, value: Any) -> str:
    try:
        door(value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "taken"


def written(folder: Path, inputs: Path) -> None:
    """All of it, a file a kind."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {
        "helps": helps(),
        "mechanisms": mechanisms(),
        "releases": releases(inputs),
        "messages": messages(inputs),
        "plans": plans(),
    }
    for kind, found in kinds.items():
        texts = {name: ELSEWHERE.sub("…", text) for name, text in found}
        print(f"{kind}: {len(texts)}", flush=True)
        (folder / f"{kind}.json").write_text(json.dumps(texts, indent=1, ensure_ascii=False), encoding="utf-8")


def differences(one: Path, other: Path) -> Iterator[str]:
    """What differs, by kind and name."""
    for path in sorted({file.name for folder in (one, other) for file in folder.glob("*.json")}):
        before, after = (_read(folder / path) for folder in (other, one))
        for name in dict.fromkeys([*before, *after]):
            if before.get(name) != after.get(name):
                lines = difflib.unified_diff(
                    *(it.get(name, "").splitlines() for it in (before, after)), n=0, lineterm=""
                )
                yield "\n    ".join([f"{path}: {name}", *list(lines)[2 : 2 + SHOWN]])


def _read(path: Path) -> dict[str, str]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def main() -> int:
    """Write it; 1 if it differs from another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where it goes")
    parser.add_argument("--against", type=Path, help="the folder of another tree")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as inputs:
        written(options.folder, Path(inputs))
    found = list(differences(options.folder, options.against)) if options.against else []
    print(*found, sep="\n")
    if options.against:
        print(f"{len(found)} differ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
