"""Check certificates: recompute what a refutation rests on, and say whether it stands. Nothing of ours is used.

    pip install python-flint
    python check.py FILE-OR-FOLDER ...      # - is what comes in; with --every, each statement below must be shown

A certificate names a claim, what is printed of it (an inequality), an instance in rationals, and both sides there. This
program knows what claims print, computes both sides anew from the instance alone, exactly or in balls that hold the
true value, and says `VIOLATED by at least …` (or `VIOLATED: not strict`), `ATTAINED`, `HOLDS in all … cases`, or `NOT
SHOWN: why`, after claim and file. It ends with 1 if any is not shown, or with `--every` if a statement has none; of a
folder it counts how the inequalities stand: as the paper prints them, a reading of what it prints, or ours.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import alabi2022
import busafekete2021_private
import busafekete2021_tests
import cai2025_edge
import cai2025_individual
import cai2025_text
import qiao2021
from exact import NotShown, Number, Sides, need
from flint import arb, ctx, fmpq

PAPERS = (
    alabi2022,
    busafekete2021_tests,
    busafekete2021_private,
    cai2025_edge,
    cai2025_individual,
    cai2025_text,
    qiao2021,
)
STATEMENTS = {key: sides for paper in PAPERS for key, sides in paper.STATEMENTS.items()}
PRECISIONS = 128, 512  # bits, the second where the first does not decide
SHOWS = "violated", "attained", "all cases"
# what is printed begins so there, alone
ALONE = {"attained": ("[corrected, attained] ", "[as printed, attained] "), "all cases": ("[all cases] ",)}
# how it stands to the paper, by a mark at the beginning of what is printed
STANDS = "as printed", "a reading", "ours"
MARKS = {"[read as: ": "a reading", "[corrected": "ours", "[ours] ": "ours", "[says something: ": "ours"}
LARGEST, LONGEST = 60_000, 900  # bytes of a certificate, letters of one of its lines
WORDS = {"claim", "where", "stands", "reading", "quote", "unquoted", "given", "printed", "argument", "record"}
FIELDS = WORDS | {"schema", "shows", "instance", "found", "by"}
RATIONAL = re.compile(r"(-?\d{1,400})(?:/(\d{1,400}))?")
DECIMAL = re.compile(r"(-?)(\d{1,60})\.?(\d{0,60})(?:[eE]([+-]?\d{1,5}))?")


def check(text: str) -> str:
    """What a certificate shows; `NotShown` if nothing."""
    it = read(text)
    sides = STATEMENTS.get(f"{it['claim']} | {it['printed']}")
    need(sides is not None, "no such statement is printed")
    for precision in PRECISIONS:
        ctx.prec = precision
        found = compute(sides, it["instance"])
        margins = [margin(*here, it["shows"]) for here in found]
        if None not in margins and enclosing(it["found"], found):
            break
    need(bool(margins), "nothing is compared")
    need(None not in margins, f"{' and '.join(map(told, found))}: not certainly {it['shows']}")
    least = min(margins, key=lambda here: arb(here).mid())
    need(len(it["found"]) == len(found), "as many comparisons must be found as there are")
    need(enclosing(it["found"], found), "a side is not where it is said to be")
    by = ends(it["by"])[0]
    need(by >= 0 and all(at_most(by, here) for here in margins), "it is violated by less than is said")
    said = "; ".join(map(told, found))
    if it["shows"] == "all cases":
        need(all(type(cases) is int and cases > 0 for *_, cases in found), "no case was looked at")
        return f"HOLDS in all {sum(cases for *_, cases in found):,} cases"
    level = not isinstance(least, arb) and least == 0  # equal sides, where one must be the smaller
    fails = "VIOLATED: not strict" if level else f"VIOLATED by at least {it['by']}"
    return f"{fails if it['shows'] == 'violated' else 'ATTAINED'}: {said}"


def enclosing(said: list[dict[str, Any]], found: list[Sides]) -> bool:
    """Whether each side certainly lies where the certificate says."""
    pairs = [
        (here[name], side)
        for here, (a, _, b) in zip(said, found, strict=False)
        for name, side in zip(("left", "right"), (a, b), strict=True)
    ]
    return all(at_most(low, side) and at_most(side, high) for here, side in pairs for low, high in [ends(here)])


def at_most(low: Number, high: Number) -> bool:
    """Whether low <= high is certain."""
    exact = isinstance(low, int | fmpq) and isinstance(high, int | fmpq)
    return bool(low <= high) if exact else bool(arb(low) <= arb(high))


def compute(sides: Any, instance: dict[str, Any]) -> list[Sides]:
    try:
        found = sides(**instance)
    except NotShown:
        raise
    except Exception as error:  # an instance of another shape: whatever goes wrong, nothing is shown
        raise NotShown(f"no instance of this statement ({type(error).__name__})") from None
    need(all(isinstance(it, int | fmpq | arb) for a, _, b in found for it in (a, b)), "each side is exact or a ball")
    return found


def margin(left: Number, relation: str, right: Number, shows: str) -> Number | None:
    """By how much the relation fails (or holds, where it is said to be attained), if that is certain."""
    gap = left - right if isinstance(left, int | fmpq) and isinstance(right, int | fmpq) else arb(left) - arb(right)
    exact = not isinstance(gap, arb)
    over, under = bool(gap > 0), bool(gap < 0)
    level = exact and gap == 0
    holds = {"<=": under or level, "<": under, ">=": over or level, ">": over, "==": level}[relation]
    fails = {"<=": over, "<": over or level, ">=": under, ">": under or level, "==": over or under}[relation]
    if not (fails if shows == "violated" else holds):
        return None
    return abs(gap) if exact else arb(gap.abs_lower())


# ---------------------------------------------------------------- reading


def read(text: str) -> dict[str, Any]:
    """A certificate, if it has the fields of one: whole numbers, rationals and words; no float, no field twice."""
    need(len(text.encode()) <= LARGEST, f"a certificate has at most {LARGEST:,} bytes")
    try:
        it = json.loads(text, parse_float=refuse, parse_constant=refuse, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise NotShown(f"no JSON: {error}") from None
    need(isinstance(it, dict) and it.get("schema") == 2, "schema must be 2 (1 did not say how it stands to the paper)")
    need(set(it) <= FIELDS, f"unknown fields: {', '.join(sorted(set(it) - FIELDS))}")
    need({"claim", "printed", "instance", "found", "by", "shows", "stands"} <= set(it), "a field is missing")
    need(it["shows"] in SHOWS, f"shows must be one of: {', '.join(SHOWS)}")
    for name in sorted(WORDS & set(it)):
        line = isinstance(it[name], str) and it[name].isprintable() and it[name] == it[name].strip() != ""
        need(line and len(it[name]) <= LONGEST, f"{name} must be words, in a line of at most {LONGEST}")
    need(it["stands"] in STANDS, f"stands must be one of: {', '.join(STANDS)}")
    need(it["stands"] == standing(it["printed"]), f"what is printed stands there {standing(it['printed'])}")
    need(("reading" in it) == (it["stands"] == "a reading"), "a reading says which, and nothing else does")
    need(("quote" in it) != ("unquoted" in it), "it has a quote, or says in unquoted why it has none")
    need("quote" in it or it["stands"] != "as printed", "what stands as printed has a quote")
    need(" | " not in it["claim"], "no such claim")
    for shows, starts in ALONE.items():
        need((it["shows"] == shows) == it["printed"].startswith(starts), f"{starts[0]}is for {shows}, alone")
    need(isinstance(it["instance"], dict) and isinstance(it["found"], list), "instance or found has another shape")
    need(
        all(isinstance(here, dict) and set(here) == {"left", "right"} for here in it["found"]), "found: left and right"
    )
    return it | {"instance": numbers(it["instance"])}


def standing(printed: str) -> str:
    """How an inequality stands to the paper: by the marks in its brackets."""
    return next((stands for mark, stands in MARKS.items() if mark in printed), STANDS[0])


def refuse(text: str) -> None:
    raise NotShown(f'{text[:40]} is no integer or rational: write it as a string, "1/3"')


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a field stands twice")
    return dict(pairs)


def numbers(it: Any) -> Any:
    """What JSON can say, with rationals for strings that are some."""
    if isinstance(it, dict):
        return {name: numbers(value) for name, value in it.items()}
    if isinstance(it, list):
        return [numbers(value) for value in it]
    if isinstance(it, str) and (match := RATIONAL.fullmatch(it)):
        need(int(match[2] or 1) != 0, "a denominator is 0")
        return fmpq(int(match[1]), int(match[2] or 1))
    need(isinstance(it, str | int) and not isinstance(it, bool), f"{it!r} is no number and no word")
    need(isinstance(it, str) or abs(it) < 10**400, "a number is too long")
    return it


def ends(it: Any) -> tuple[fmpq, fmpq]:
    """The ends of what is said of a side: one exact rational, or a list of two decimals."""
    pair = it if isinstance(it, list) else [it, it]
    need(len(pair) == 2 and all(isinstance(end, str) for end in pair), "an enclosure is a string, or a list of two")
    low, high = map(exactly, pair)
    need(low <= high, "an enclosure is empty")
    return low, high


def exactly(text: str) -> fmpq:
    if match := RATIONAL.fullmatch(text):
        need(int(match[2] or 1) != 0, "a denominator is 0")
        return fmpq(int(match[1]), int(match[2] or 1))
    match = DECIMAL.fullmatch(text)
    need(match is not None, f"{text[:40]!r} is no number")
    sign, digits, behind, power = match.groups()
    need(abs(int(power or 0)) <= 99_999, "an exponent is too large")
    return fmpq(int(sign + digits + behind)) * fmpq(10) ** (int(power or 0) - len(behind))


# ---------------------------------------------------------------- saying


def shown(x: Number) -> str:
    """A number for the eye: a rational as it is if short, else its first digits."""
    text = str(x)
    return text if not isinstance(x, arb) and len(text) < 20 else arb(x).str(8, radius=False)


def told(sides: Sides) -> str:
    return f"{shown(sides[0])} {sides[1]} {shown(sides[2])}"


def main(arguments: list[str], every: bool = False) -> int:
    paths = [path for it in map(Path, arguments) for path in (sorted(it.rglob("*.json")) if it.is_dir() else [it])]
    certain: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    for path in paths:
        try:
            text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
            print(f"{(it := read(text))['claim']} ({path.stem}): {check(text)}")
            certain.append(f"{it['claim']} | {it['printed']}")
            counts[it["shows"], it["stands"]] += 1
        except (NotShown, OSError, UnicodeDecodeError) as error:
            print(f"{path.name}: NOT SHOWN: {error}")
    for name in sorted(STATEMENTS.keys() - certain) if every else []:
        print(f"NOT SHOWN: no certificate of {name}")
    for shows in SHOWS if any(Path(it).is_dir() for it in arguments) else ():
        print(f"{shows}: {', '.join(f'{counts[shows, stands]} {stands}' for stands in STANDS)}")
    print(f"{len(certain)} of {len(paths)} shown{f', of {len(STATEMENTS)} statements' if every else ''}")
    return int(not paths or len(certain) < len(paths) or (every and bool(STATEMENTS.keys() - certain)))


if __name__ == "__main__":
    sys.exit(main([it for it in sys.argv[1:] if it != "--every"], "--every" in sys.argv))
