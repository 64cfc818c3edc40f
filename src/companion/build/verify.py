"""Compare the records of this build with the committed ones: integers and text exactly, floats by tolerance."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from companion.build import BuildError, UsageError
from companion.build.layout import Layout
from companion.build.pipeline import Build
from companion.build.profiles import PROFILES
from companion.claims import Claim, load_ledger
from companion.seed import ROOT

FLOOR = 1e-15


def verify(layout: Layout, profile: str | None = None, update: bool = False) -> tuple[str, int, list[str]]:
    """Differences between `_build/records.json` and `data/expected/<profile>.json`.

    Returns
    -------
    profile : str
        The one that was built.
    claims : int
        How many records were compared.
    differences : list of str
        One line each.
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
    if update:
        layout.write(target, layout.records.read_bytes())
    expected = _load(layout, target, "`companion verify --update` writes it")
    return built["profile"], len(built["records"]), list(differences(load_ledger(layout.root), expected, built))


def _load(layout: Layout, path: Any, hint: str) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BuildError(f"{layout.name(path)}: not there; {hint}") from None
    except ValueError as error:
        raise BuildError(f"{layout.name(path)}: not JSON: {error}") from None
    return content


def differences(ledger: Mapping[str, Claim], expected: Mapping[str, Any], observed: Mapping[str, Any]) -> Iterator[str]:
    """One line for each difference between two contents of `records.json`."""
    old, new = ({entry["claim"]: entry for entry in side["records"]} for side in (expected, observed))
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            sides = ("nothing", "a record") if name not in old else ("a record", "nothing")
            yield f"{name}: expected {sides[0]}, observed {sides[1]}"
            continue
        tolerance = ledger[name].tolerance if name in ledger else 1e-9
        for key in ("chapter", "verdict"):
            if old[name][key] != new[name][key]:
                yield f"{name}: {key}: expected {old[name][key]!r}, observed {new[name][key]!r}"
        checks = old[name]["checks"], new[name]["checks"]
        if len(checks[0]) != len(checks[1]):
            yield f"{name}: checks: expected {len(checks[0])}, observed {len(checks[1])}"
        for before, after in zip(*checks, strict=False):
            for key in before:
                if not _same(before[key], after.get(key), tolerance):
                    yield f"{name}: {before['what']}: {key}: expected {before[key]!r}, observed {after.get(key)!r}"


def _same(expected: Any, observed: Any, tolerance: float) -> bool:
    if isinstance(expected, float) or isinstance(observed, float):
        numeric = isinstance(expected, int | float) and isinstance(observed, int | float)
        return numeric and math.isclose(expected, observed, rel_tol=tolerance, abs_tol=FLOOR)
    return bool(expected == observed)
