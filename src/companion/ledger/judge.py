"""The judge: what the chapters observed, held against the ledger."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from companion.ledger.claim import HELD, UNDECIDED, Record
from companion.ledger.files import NEEDS_CORRECTION, VERDICTS, Claim

__all__ = ["judge", "summary"]


def judge(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    profile: str,
    chapters: Iterable[str] | None = None,
) -> list[str]:
    """Hold what the chapters observed (records as collected) against the ledger: problems, one line each.

    Only claims of the given `chapters`; undecided checks are accepted in `profile` ``smoke`` alone.
    """
    scope = None if chapters is None else set(chapters)
    problems: list[str] = []
    seen: dict[str, str] = {}
    for entry in records:
        name, chapter = entry["claim"], entry["chapter"]
        claim = ledger.get(name)
        if scope is not None and chapter not in scope:
            continue
        if name in seen:
            problems.append(f"{name}: recorded twice, in {seen[name]} and in {chapter}; allowed: one record a claim")
            continue
        seen[name] = chapter
        if claim is None:
            close = difflib.get_close_matches(name, ledger, n=3) or ["an id of data/claims/*.yml"]
            problems.append(f"{name}: recorded in {chapter} but not in the ledger; allowed: {', '.join(close)}")
        else:
            problems += _judge(claim, chapter, Record.from_json(entry), profile)
    for claim in ledger.values():
        due = claim.verdict not in ("pending", "unchecked") and (scope is None or claim.chapter in scope)
        if due and claim.id not in seen:
            problems.append(
                f"{claim.id}: the ledger says {claim.verdict!r} but {claim.chapter} has no record of it; "
                "allowed: an @claim function in a section that its notebook imports, with a cell that calls it or a "
                "default for every parameter; or 'pending'"
            )
    return problems


def _judge(claim: Claim, chapter: str, record: Record, profile: str) -> list[str]:
    """Problems of one record with its claim."""
    problems = []
    derived, checks = record.verdict, record.checks
    if chapter != claim.chapter:
        problems.append(f"{claim.id}: recorded in {chapter}; the ledger gives it to {claim.chapter}")
    if claim.verdict == "pending":
        return [*problems, f"{claim.id}: recorded in {chapter} as {derived!r} but pending: settle it in the ledger"]
    may_be_undecided = profile == "smoke"
    if derived != claim.verdict and not (derived == UNDECIDED and may_be_undecided):
        telling = [check for check in checks if check.about not in HELD]
        telling.sort(key=lambda check: check.outcome is True)
        shown = [f"{check} is {'undecided' if check.outcome is None else check.outcome}" for check in telling[:4]]
        shown += [f"and {len(telling) - 4} more"] if len(telling) > 4 else []
        problems.append(f"{claim.id}: expected {claim.verdict!r}, observed {derived!r} [{'; '.join(shown)}]")
    if claim.verdict in NEEDS_CORRECTION and not any(check.about == "corrected" for check in checks):
        problems.append(f"{claim.id}: the corrected statement has no check; allowed: a Check with about='corrected'")
    for check in checks:
        if check.about in HELD and (check.outcome is False or (check.outcome is None and not may_be_undecided)):
            state = "false" if check.outcome is False else "undecided"
            problems.append(f"{claim.id}: {HELD[check.about]} is {state} [{check}]")
    return problems


def summary(ledger: Mapping[str, Claim], records: Iterable[Mapping[str, Any]]) -> str:
    """How many claims stand how, such as ``3 claims settled: 1 holds, 2 refuted; 166 pending``."""
    derived = [entry["verdict"] for entry in records]
    counts = {verdict: derived.count(verdict) for verdict in (*VERDICTS, UNDECIDED) if verdict in derived}
    settled = sum(n for verdict, n in counts.items() if verdict != UNDECIDED)
    line = f"{settled} claim{'' if settled == 1 else 's'} settled"
    if shown := ", ".join(f"{n} {verdict}" for verdict, n in counts.items()):
        line += f": {shown}"
    for verdict in ("unchecked", "pending"):
        if n := sum(claim.verdict == verdict for claim in ledger.values()):
            line += f"; {n} {verdict}"
    return line
