"""The judge: what the chapters observed, held against the ledger.

A check that comes out otherwise is a *difference*: another machine may see it, and the site shows it. All else is a
*problem*, the same on every machine and of those who write: a record without a claim, or a claim without a verdict, a
record, a check of its correction, has nothing that a card could show; one recorded twice, or elsewhere, has a card that
no link finds.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from companion.ledger.claim import HELD, Check, Record
from companion.ledger.files import Claim
from companion.ledger.verdicts import ALL, UNDECIDED, VERDICTS

__all__ = ["Difference", "differing", "judge", "summary"]

#: Checks of a difference that are shown.
SHOWN = 4


class Point(NamedTuple):
    """What was expected of a claim and what was observed, with the checks that tell, those that fail first.

    A verdict is said by its key, as in the ledger, to whoever builds; pages show its words.
    """

    expected: str
    observed: str
    checks: tuple[Check, ...]

    @property
    def shown(self) -> list[Check]:
        """Those on a card, which has the others, too: what fails, or what holds if all does."""
        return [check for check in self.checks[:SHOWN] if not check.outcome] or list(self.checks[:SHOWN])

    def __str__(self) -> str:
        said = [f"{it} is {'undecided' if it.outcome is None else it.outcome}" for it in self.checks[:SHOWN]]
        said += [f"and {len(self.checks) - SHOWN} more"] if len(self.checks) > SHOWN else []
        return f"expected {self.expected!r}, observed {self.observed!r} [{'; '.join(said)}]"


@dataclass(frozen=True)
class Difference:
    """A claim whose checks came out otherwise than the ledger says."""

    claim: Claim
    points: tuple[Point, ...]

    def __str__(self) -> str:
        return f"{self.claim.id}: {'; '.join(map(str, self.points))}"


def judge(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    chapters: Iterable[str] | None = None,
) -> list[str]:
    """Whether records (as collected) and ledger fit: problems, one line each; only claims of the given `chapters`."""
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
            problems += _judge(claim, entry, Record.from_json(entry))
    for claim in ledger.values():
        due = claim.verdict.settled and (scope is None or claim.chapter in scope)
        if due and claim.id not in seen:
            problems.append(
                f"{claim.id}: the ledger says {claim.verdict!r} but {claim.chapter} has no record of it; "
                "allowed: an @claim function in a section that its notebook imports, with a cell that calls it or a "
                "default for every parameter; or 'pending'"
            )
    return problems


def _judge(claim: Claim, entry: Mapping[str, Any], record: Record) -> list[str]:
    """Problems of one record, as collected and with the verdict that follows from its checks, with its claim."""
    chapter, problems = entry["chapter"], []
    if chapter != claim.chapter:
        problems.append(f"{claim.id}: recorded in {chapter}; the ledger gives it to {claim.chapter}")
    if entry["verdict"] != record.verdict:
        stored = f"recorded as {entry['verdict']!r}, but its checks say {record.verdict!r}"
        problems.append(f"{claim.id}: {stored}; allowed: what follows from them; run {chapter} again")
    if not claim.verdict.settled:
        said = f"recorded in {chapter} as {record.verdict!r} but {claim.verdict}: settle it in the ledger"
        return [*problems, f"{claim.id}: {said}"]
    if claim.verdict.wrong and not any(check.about == "corrected" for check in record.checks):
        problems.append(f"{claim.id}: the corrected statement has no check; allowed: a Check with about='corrected'")
    return problems


def differing(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    profile: str,
    chapters: Iterable[str] | None = None,
) -> dict[str, Difference]:
    """The claims, of the given `chapters`, whose checks came out otherwise than the ledger says.

    A check may be undecided in `profile` ``smoke`` alone.
    """
    scope = None if chapters is None else set(chapters)
    found: dict[str, Difference] = {}
    for entry in records:
        claim = ledger.get(entry["claim"])
        if claim and claim.verdict.settled and (scope is None or entry["chapter"] in scope):
            points = tuple(_points(claim, Record.from_json(entry), profile == "smoke"))
            found |= {claim.id: Difference(claim, points)} if points else {}
    return found


def _points(claim: Claim, record: Record, may_be_undecided: bool) -> Iterator[Point]:
    """What differs: the verdict, the corrected statement, a step of the argument."""
    if record.verdict != claim.verdict and not (record.verdict == UNDECIDED and may_be_undecided):
        telling = [check for check in record.checks if check.about not in HELD]
        telling.sort(key=lambda check: check.outcome is True)
        yield Point(claim.verdict, record.verdict, tuple(telling))
    for about, what in HELD.items():
        checks = [check for check in record.checks if check.about == about]
        for outcome, state in ((False, "false"), (None, "undecided")):
            failing = tuple(check for check in checks if check.outcome is outcome)
            if failing and not (outcome is None and may_be_undecided):
                yield Point(f"{what} is true", f"it is {state}", failing)


def summary(
    ledger: Mapping[str, Claim], records: Iterable[Mapping[str, Any]], differing: Mapping[str, Difference] | None = None
) -> str:
    """How many claims stand how, such as ``3 claims settled: 1 holds, 2 refuted; 166 pending``."""
    derived = [Record.from_json(entry).verdict for entry in records]
    counts = {verdict: derived.count(verdict) for verdict in ALL if verdict in derived}
    settled = sum(n for verdict, n in counts.items() if verdict != UNDECIDED)
    line = f"{settled} claim{'' if settled == 1 else 's'} settled"
    if shown := ", ".join(f"{n} {verdict}" for verdict, n in counts.items()):
        line += f": {shown}"
    for verdict in reversed(VERDICTS):
        if n := sum(claim.verdict == verdict and not verdict.settled for claim in ledger.values()):
            line += f"; {n} {verdict}"
    if differing:
        line += f"; {len(differing)} differ{'s' if len(differing) == 1 else ''} from the ledger"
    return line
