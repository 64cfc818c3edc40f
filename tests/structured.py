"""Input that is well formed and odd, for all commands: a result, or a refusal in one line that tells of nobody.

make fuzz ARGS="--structured 50000 --seed 1"         so many, of a seed: what was run, by kind, and what broke
make fuzz ARGS="--structured 1 --seed 1 --first 37"  the one of that number again, with what came of it

Tables in every form and format, options good and odd, and published files, plans, budgets and counts of which a value
is another (tests/odd_commands.py). A command breaks if it ends otherwise than with its documented codes; refuses in
more than a line, or in words that are not the house's; says who is in a table; leaves half a file, or spends and has
nothing to show; or takes more than `fuzz.SECONDS` or `fuzz.BYTES`.
"""

from __future__ import annotations

import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from random import Random

import fuzz
from fuzz import Broken
from odd_commands import KINDS
from one_command import Refused

#: Of all inputs, the least that must be taken: what refuses everything is tested by none.
TAKEN = 0.3


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
    slowest = (0.0, first)
    for at in range(first, first + number):
        begun = time.process_time()
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
            again = f"BROKEN --structured 1 --seed {seed} --first {at}"
            if places[place] <= 3:
                print(f"{again}: {kind}: {type(error).__name__}: {str(error)[:600]}")
                print(*traceback.format_tb((error.__cause__ or error).__traceback__)[-2:], sep="", flush=True)
            else:
                print(f"{again}: the same once more", flush=True)
        slowest = max(slowest, (time.process_time() - begun, at))
        if number > 1 and (at - first + 1) % 1000 == 0:
            print(f"{at - first + 1:,} done, {bad.total()} broken", flush=True)
    for kind in KINDS:
        if count := taken[kind] + refused[kind] + bad[kind]:
            print(f"{kind}: {count} inputs, {taken[kind]} taken, {refused[kind]} refused, {bad[kind]} broken")
    share = taken.total() / number
    print(f"slowest: {slowest[0]:.1f} s, number {slowest[1]}")
    print(f"{number} structured inputs of seed {seed}, {share:.0%} taken, {bad.total()} broken")
    return bad.total() or int(number >= 100 and share < TAKEN)
