"""Compare this build with the committed one: integers and text exactly, floats by tolerance, on one machine bytes.

Compared are the records of claims, and what pages show besides. A verdict that changed without a row in the history of
the ledger differs, too; so does a number from its certificate.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from companion.instruments.seed import ROOT
from companion.ledger.certificates import unlike
from companion.ledger.claim import Check, bearing
from companion.ledger.files import Claim, load_ledger
from companion.ledger.history import unrecorded
from companion.ledger.judge import differing
from companion.press import BuildError, UsageError, pages, sums
from companion.press.collect import written
from companion.press.layout import Layout
from companion.press.machine import machine, origin
from companion.press.pipeline import Build
from companion.press.profiles import PROFILES

FLOOR = 1e-15
#: What is to be at most that is to be 0, but for rounding, or for a difference that stands for a derivative.
RESIDUE = 1e-5
#: Of a table or figure so many rows that differ are listed.
ROWS = 3


class Difference(NamedTuple):
    """Between two records of a claim."""

    claim: str
    what: str
    numeric: bool = False
    #: Whether the build would end otherwise if the check came out the other way round.
    bears: bool = True

    def __str__(self) -> str:
        return f"{self.claim}: {self.what}"


class Verified(NamedTuple):
    """The profile that is built, its number of records, what differs, and what was compared and what was not."""

    profile: str
    records: int
    lines: list[str]
    told: list[str]


def verify(layout: Layout, profile: str | None = None, update: bool = False, every: bool = False) -> Verified:
    """Compare the build with `data/expected`: its records, what its pages show besides, and on one machine its bytes.

    The first line that differs says what made the expected records; where it was other versions, it stands for all
    numbers, unless `every`. After an update the lines are those numbers that it blesses and that a verdict turns on,
    and how many others; records that differ from the ledger are refused.
    """
    if profile is not None and profile not in PROFILES:
        raise UsageError(f"profile: {profile!r}; allowed: {', '.join(PROFILES)}")
    built = _load(layout, layout.records, "run `companion book` first")
    if profile not in (None, built["profile"]):
        raise BuildError(
            f"{layout.name(layout.records)}: of profile {built['profile']!r}; allowed: {profile!r}: "
            f"run `companion book --profile {profile}` first"
        )
    if (seed := built.get("seed", ROOT)) != ROOT:
        raise BuildError(
            f"{layout.name(layout.records)}: of root seed {seed}; allowed: {ROOT}, the one of the committed records: "
            "run `companion book` without --seed"
        )
    if stale := Build(layout.root, built["profile"]).stale():
        raise BuildError(
            f"{layout.name(layout.records)}: not of this tree: {'; '.join(stale)}; run `companion book` first"
        )
    target = layout.expected(built["profile"])
    ledger = load_ledger(layout.root)
    judged = differing(ledger, built["records"], built["profile"])
    if update:
        if judged:
            raise BuildError("\n".join(f"{it}; settle it in the ledger first" for it in judged.values()))
        before = _load(layout, target, "") if target.exists() else {"records": []}
        content = {key: value for key, value in built.items() if key != "records"}
        layout.write(target, written(content | {"machine": machine()}, built["records"]))
        lines = _blessed(list(differences(ledger, before, built))) + _update_pages(layout, built["profile"])
        return Verified(built["profile"], len(built["records"]), lines, [])
    expected = _load(layout, target, "`companion verify --update` writes it")
    found = list(differences(ledger, expected, built))
    other = any(built["versions"].get(name) != made for name, made in expected.get("versions", {}).items())
    shown = [it for it in found if every or not (other and it.numeric)]
    told = {it.claim for it in shown}
    lines = [*map(str, shown), *(str(it) for name, it in judged.items() if name not in told)]
    apart, compared = _pages(layout, built["profile"])
    lines += _told([it for it in apart if every or not (other and it.numeric)], every)
    altered, bytewise = _sums(layout, expected, built)
    lines += altered
    if found or apart or lines:
        counted = f": {_count(found, apart)}" if other and (found or apart) else ""
        lines.insert(0, f"expected records {origin(expected)}{counted}")
    lines += unrecorded(layout.root, ledger)
    lines += unlike(layout.root, built["records"])
    return Verified(built["profile"], len(built["records"]), lines, [*compared, *bytewise])


def processor_dependent(layout: Layout) -> set[pages.Key]:
    """What `make processors` saw move by more than its tolerance on another processor: a draw went another way."""
    path = layout.root / "data" / "expected" / "processor-dependent.json"
    listed = _load(layout, path, "")["moved"] if path.exists() else []
    return {(chapter, kind, name) for chapter, kind, name in listed}


def _pages(layout: Layout, profile: str) -> tuple[list[pages.Difference], list[str]]:
    """What pages show otherwise than they are expected to; what was compared.

    On another kind of machine a last bit may decide what is drawn next: a few entries that move are told, not refused.
    """
    built = pages.read(_load(layout, layout.pages, "run `companion book` first"))
    path = layout.expected_pages(profile)
    if not path.exists():
        return [], [f"pages: not compared: {layout.name(path)} is not there; `companion verify --update` writes it"]
    content = _load(layout, path, "")
    expected, told = pages.read(content), [f"pages: compared: {pages.counted(built)}"]
    if content.get("machine") == machine():
        return list(pages.differences(expected, built)), told
    if moved := processor_dependent(layout):
        expected, built = ([it for it in side if it.key not in moved] for side in (expected, built))
        told.append(f"pages: {len(moved)} entries are not compared: another kind of processor draws them otherwise")
    apart = list(pages.differences(expected, built, abroad=True))
    if apart and pages.few(apart, len(expected)):
        told += [f"pages: moved on this kind of machine, and no verdict hangs on it: {it}" for it in _told(apart)]
        apart = []
    return apart, told


def _told(found: Sequence[pages.Difference], every: bool = False) -> list[str]:
    """A line a row that differs, of the first rows of each entry alone, unless `every`."""
    lines, rows = [], Counter(it.key for it in found)
    seen: Counter[pages.Key] = Counter()
    for it in found:
        seen[it.key] += 1
        if every or seen[it.key] <= ROWS or rows[it.key] == ROWS + 1:
            lines.append(str(it))
        elif seen[it.key] == ROWS + 1:
            lines.append(f"{pages.said(it.key)}: {rows[it.key] - ROWS} rows more (--every lists them)")
    return lines


def _sums(layout: Layout, expected: Mapping[str, Any], built: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Files whose bytes are not as they were made, here or on the same machine before; what was compared."""
    path, target = layout.build / "SHA256SUMS", layout.expected_sums(built["profile"])
    if not path.exists():
        return [f"{layout.name(path)}: not there; run `companion book` first"], []
    made = path.read_text(encoding="utf-8")
    lines = sums.altered(layout, made)
    if not target.exists():
        return lines, [
            f"bytes: not compared: {layout.name(target)} is not there; `companion verify --update` writes it"
        ]
    if expected.get("machine") != machine() or expected.get("versions") != built["versions"]:
        return lines, ["bytes: not compared: another kind of machine, or other versions, made the committed checksums"]
    lines += sums.apart(target.read_text(encoding="utf-8"), made)
    return lines, [f"bytes: compared: {len(sums.committed(made))} files with {layout.name(target)}"]


def _update_pages(layout: Layout, profile: str) -> list[str]:
    """Make the pages and checksums of this build the expected ones; how much of which kind differs."""
    content = _load(layout, layout.pages, "run `companion book` first")
    path, built = layout.expected_pages(profile), pages.read(content)
    before = pages.read(_load(layout, path, "")) if path.exists() else []
    changed = Counter(it.key[1] for it in pages.differences(before, built))
    head = {name: value for name, value in content.items() if name != "pages"}
    layout.write(path, pages.written(head | {"machine": machine()}, built))
    listed = sums.committed((layout.build / "SHA256SUMS").read_text(encoding="utf-8"))
    layout.write(layout.expected_sums(profile), "".join(f"{it}  {name}\n" for name, it in listed.items()).encode())
    return [
        f"now expected: {changed[kind]} differences in {words}" for kind, words in pages.KINDS.items() if changed[kind]
    ]


def _blessed(found: Sequence[Difference]) -> list[str]:
    """What an update changes: line by line where a verdict turns on it."""
    telling = [f"now expected: {it}" for it in found if it.bears]
    rest = len(found) - len(telling)
    return telling + ([f"now expected: {rest} more, on which no verdict turns"] if rest else [])


def _load(layout: Layout, path: Any, hint: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BuildError(f"{layout.name(path)}: not there; {hint}") from None
    except ValueError as error:
        raise BuildError(f"{layout.name(path)}: not JSON: {error}") from None
    return content


def _count(found: Sequence[Difference], apart: Sequence[pages.Difference] = ()) -> str:
    numbers = [it.claim for it in found if it.numeric]
    rows = sum(it.numeric for it in apart)
    besides = f", and {rows} rows of pages," if rows else ""
    return f"{len(numbers)} numbers in {len(set(numbers))} claims{besides} differ (--every lists them)"


def differences(
    ledger: Mapping[str, Claim], expected: Mapping[str, Any], observed: Mapping[str, Any]
) -> Iterator[Difference]:
    """Between two contents of `records.json`."""
    old, new = ({entry["claim"]: entry for entry in side["records"]} for side in (expected, observed))
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            sides = ("nothing", "a record") if name not in old else ("a record", "nothing")
            yield Difference(name, f"expected {sides[0]}, observed {sides[1]}")
            continue
        tolerance = ledger[name].tolerance if name in ledger else 1e-9
        for key in ("chapter", "verdict"):
            if old[name][key] != new[name][key]:
                yield Difference(name, f"{key}: expected {old[name][key]!r}, observed {new[name][key]!r}")
        checks = old[name]["checks"], new[name]["checks"]
        if len(checks[0]) != len(checks[1]):
            yield Difference(name, f"checks: expected {len(checks[0])}, observed {len(checks[1])}")
        telling = bearing(map(Check.from_json, checks[1]))
        for before, after, bears in zip(*checks, telling, strict=False):
            for key, floor in _floors(before).items():
                if not same(before[key], after.get(key), tolerance, floor):
                    values = f"expected {before[key]!r}, observed {after.get(key)!r}"
                    yield Difference(
                        name, f"{before['what']}: {key}: {values}", isinstance(before[key], int | float), bears
                    )


def distances(ledger: Mapping[str, Claim], expected: Mapping[str, Any], observed: Mapping[str, Any]) -> Iterator[float]:
    """How far each float of two `records.json` is off, in units of what it may be: up to 1 it is the same."""
    old, new = ({entry["claim"]: entry for entry in side["records"]} for side in (expected, observed))
    for name in sorted(old.keys() & new.keys()):
        tolerance = ledger[name].tolerance if name in ledger else 1e-9
        for before, after in zip(old[name]["checks"], new[name]["checks"], strict=False):
            for key, floor in _floors(before).items():
                if isinstance(before[key], float) and isinstance(after.get(key), int | float):
                    allowed = max(tolerance * max(abs(before[key]), abs(after[key])), floor)
                    yield abs(before[key] - after[key]) / allowed if before[key] != after[key] else 0.0


def _floors(check: Mapping[str, Any]) -> dict[str, float]:
    """What each value of a check may be off, however small it is."""
    return {key: max(FLOOR, _rounding(check)) if key == "observed" else FLOOR for key in check}


def _rounding(check: Mapping[str, Any]) -> float:
    """A number that is to be 0 has no digits of its own: what is left of it differs from processor to processor.

    Where it is to be at most an allowance, a power of ten that somebody typed, it is such a rest while it is below.
    """
    if check["relation"] == "==" and check["bound"] == 0:
        return float(check["error"])
    bound, left = check["bound"], check["observed"]
    if check["relation"] != "<=" or not isinstance(bound, float) or not 0 < bound <= RESIDUE or left > bound:
        return 0.0
    return bound / 100 if bound == float(f"1e{round(math.log10(bound))}") else 0.0


def same(expected: Any, observed: Any, tolerance: float, floor: float = FLOOR) -> bool:
    """Floats within the relative tolerance or the absolute `floor`, all else exactly."""
    if isinstance(expected, float) or isinstance(observed, float):
        numeric = isinstance(expected, int | float) and isinstance(observed, int | float)
        return numeric and math.isclose(expected, observed, rel_tol=tolerance, abs_tol=floor)
    return bool(expected == observed)
