"""A claim, checks and a ledger of which to try things on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from companion.ledger.claim import Check, Record

ENTRY = {
    "id": "mini2020:alg-1",
    "where": "Algorithm 1",
    "kind": "algorithm",
    "statement": "One is at most one.",
    "chapter": "01-first",
    "verdict": "holds",
    "method": "exact",
}

#: What is due of a statement that does not simply hold.
WRONG = {"why": "two is more", "corrected": "x", "impact": "proof gap"}


def check(outcome: bool | None, about: str = "printed", reading: str = "") -> Check:
    """A check with the outcome wanted."""
    observed, error = {True: (0.0, 0.0), False: (2.0, 0.0), None: (1.0, 0.5)}[outcome]
    made = Check("a number", observed, "<=", 1.0, about, reading, error)
    assert made.outcome is outcome
    return made


def ledger_at(root: Path, *entries: Any) -> Path:
    folder = root / "data" / "claims"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mini2020.yml").write_text(json.dumps(entries))  # JSON is YAML
    return root


def record(name: str, *checks: Check) -> Record:
    return Record(name, checks)


def outcomes(checks: Any, about: str) -> list[bool | None]:
    return [check.outcome for check in checks if check.about == about]
