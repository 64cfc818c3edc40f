"""The judge."""

from __future__ import annotations

from typing import Any

from ledgers import ENTRY, check, record

from companion.ledger.claim import Check
from companion.ledger.files import Claim
from companion.ledger.judge import differing, judge, summary


def entry(*checks: Check, claim: str = "mini2020:alg-1", chapter: str = "01-first") -> dict[str, Any]:
    return {"chapter": chapter, **record(claim, *checks).to_json()}


def problems(change: dict[str, Any], *entries: dict[str, Any], profile: str = "standard", **scope: Any) -> list[str]:
    """What does not fit, and what differs, of one claim."""
    claim = Claim(**ENTRY | change)
    found = differing({claim.id: claim}, entries, profile, **scope)
    assert list(found) in ([], [claim.id])
    return [*judge({claim.id: claim}, entries, **scope), *map(str, found.values())]


REFUTED = {"verdict": "refuted", "why": "y", "corrected": "x", "impact": "proof gap"}


def test_judge_is_content() -> None:
    assert problems({}, entry(check(True))) == []
    assert problems(REFUTED, entry(check(False), check(True, "corrected"))) == []
    assert problems({"verdict": "pending"}) == []
    assert problems({"verdict": "unchecked", "reason": "x"}) == []


def test_judge_names_what_differs() -> None:
    made = Check("privacy loss", 1.5, "<=", 1.0, error=0.25)
    assert problems({}, entry(made)) == [
        "mini2020:alg-1: expected 'holds', observed 'refuted' [privacy loss (printed): 1.5 +- 0.25 <= 1 is False]"
    ]
    true, false = "a number (printed): 0 <= 1 is True", "a number (printed): 2 <= 1 is False"
    [line] = problems({}, entry(*[check(True)] * 5, check(False), check(False, "corrected")), profile="smoke")
    assert f"observed 'refuted' [{'; '.join([false, true, true, true])}; and 2 more]; expected 'the corr" in line


def test_judge_of_the_undecided() -> None:
    assert problems({}, entry(check(None)), profile="smoke") == []
    assert "observed 'undecided here'" in problems({}, entry(check(None)))[0]
    corrected = entry(check(False), check(None, "corrected"))
    assert problems(REFUTED, corrected, profile="smoke") == []
    [line] = problems(REFUTED, corrected, profile="paper")
    assert "expected 'the corrected statement is true', observed 'it is undecided' [" in line


def test_judge_of_corrections() -> None:
    assert problems(REFUTED, entry(check(False)))[0].startswith("mini2020:alg-1: the corrected statement has no check")
    [line] = problems(REFUTED, entry(check(False), check(False, "corrected")), profile="smoke")
    corrected = "expected 'the corrected statement is true', observed 'it is false'"
    assert line == f"mini2020:alg-1: {corrected} [a number (corrected): 2 <= 1 is False]"
    [line] = problems({}, entry(check(True), check(False, "argument")), profile="smoke")
    step = "expected 'a step of the argument is true', observed 'it is false'"
    assert line == f"mini2020:alg-1: {step} [a number (argument): 2 <= 1 is False]"


def test_a_claim_is_one_line_whatever_differs_of_it() -> None:
    checks = [check(True), check(False, "corrected"), check(None, "corrected"), check(False, "argument")]
    [line] = problems(REFUTED, entry(*checks))
    assert line.count("expected '") == 4
    assert len(problems(REFUTED, entry(*checks, chapter="02-second"))) == 2, "and where it is recorded, another"


def test_judge_meets_records_and_claims() -> None:
    assert problems({})[0].startswith("mini2020:alg-1: the ledger says 'holds' but 01-first has no record")
    for change in ({"verdict": "pending"}, {"verdict": "unchecked", "reason": "x"}):
        assert problems(change, entry(check(True))) == [
            f"mini2020:alg-1: recorded in 01-first as 'holds' but {change['verdict']}: settle it in the ledger"
        ]
    assert problems({}, entry(check(True), chapter="02-second")) == [
        "mini2020:alg-1: recorded in 02-second; the ledger gives it to 01-first"
    ]
    assert problems({}, entry(check(True)), entry(check(True), claim="mini2020:alg-2")) == [
        "mini2020:alg-2: recorded in 01-first but not in the ledger; allowed: mini2020:alg-1"
    ]
    assert "recorded twice" in problems({}, entry(check(True)), entry(check(True)))[0]


def test_judge_of_one_chapter() -> None:
    elsewhere = entry(check(True), claim="mini2020:alg-2", chapter="02-second")
    assert problems({}, elsewhere, chapters=["03-third"]) == []
    assert len(problems({}, elsewhere, chapters=["01-first"])) == 1
    assert len(problems({}, elsewhere)) == 2


def test_summary() -> None:
    pending = Claim(**ENTRY | {"id": "mini2020:b", "verdict": "pending"})
    ledger = {"mini2020:alg-1": Claim(**ENTRY), "mini2020:b": pending}
    assert summary(ledger, []) == "0 claims settled; 1 pending"
    assert summary(ledger, [entry(check(True))]) == "1 claim settled: 1 holds; 1 pending"
    red = differing(ledger, [entry(check(False))], "smoke")
    assert summary(ledger, [entry(check(False))], red).endswith("1 refuted; 1 pending; 1 differs from the ledger")
    two = [entry(check(False)), entry(check(None))]
    assert summary(ledger, two) == "1 claim settled: 1 refuted, 1 undecided here; 1 pending"
