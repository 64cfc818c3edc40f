"""The card of a claim."""

from __future__ import annotations

import math

from bs4 import BeautifulSoup
from ledgers import ENTRY, WRONG, check, record

from companion.ledger.card import anchor, card
from companion.ledger.claim import Check
from companion.ledger.files import Claim
from companion.ledger.judge import differing
from companion.ledger.verdicts import in_words


def test_card() -> None:
    claim = Claim(**ENTRY | {"statement": "<b> & co", "why": "b > a", "corrected": "b < c", "impact": "proof gap"})
    checks = [check(True), check(None, "content"), check(False, "corrected"), check(True, "argument")]
    page = BeautifulSoup(card(claim, record(claim.id, *checks), "paper"), "html.parser")
    assert page.div["id"] == anchor("mini2020:alg-1") == "mini2020-alg-1"
    assert page.div["class"] == ["claim", "claim-verdict-undecided"]
    assert page.find(class_="claim-statement").get_text() == "<b> & co"
    assert page.find(class_="claim-badge").get_text() == in_words("… {word}`undecided here`")
    assert page.find(class_="claim-impact").get_text() == "proof gap"
    assert page.find(class_="claim-why").get_text() == "Why: b > a"
    assert page.find("p", class_="claim-corrected").get_text() == "Corrected: b < c"
    assert page.find(class_="claim-foot").get_text().endswith("profile paper")
    assert not page.find_all(style=True)
    assert page.find(class_="claim-left-out") is None
    decisive, every = ([row.get_text("|") for row in body.find_all("tr")] for body in page.find_all("tbody"))
    assert [row.rpartition("|")[2] for row in decisive] == ["true", "undecided", "false"]
    assert every == [*decisive, "a number|a step of the argument|0|≤ 1|true"]
    assert [summary.get_text() for summary in page.find_all("summary")] == ["4 checks, 3 decide", "all 4 checks"]


def test_card_says_what_is_left_out() -> None:
    claim = Claim(**ENTRY | WRONG | {"verdict": "needs a condition", "left_out": "that n > 1"})
    page = BeautifulSoup(card(claim, record(claim.id, check(False), check(True, "supplied")), "paper"), "html.parser")
    assert page.find(class_="claim-left-out").get_text() == "Left out: that n > 1"


def test_card_says_what_is_run_whose_it_is_and_how_far_from_necessary() -> None:
    entry = ENTRY | WRONG | {"verdict": "refuted", "runs": "two", "ours": True, "necessity": "attained at x_1"}
    claim = Claim(**entry)
    page = BeautifulSoup(card(claim, record(claim.id, check(False)), "paper"), "html.parser")
    assert page.find(class_="claim-runs").get_text() == "What is run: two"
    assert page.find(class_="claim-ours").get_text() == "No paper asserts this: we do."
    assert page.find(class_="claim-necessity").decode_contents().endswith("attained at x<sub>1</sub>")


def test_card_of_few_checks_shows_them_once() -> None:
    claim = Claim(**ENTRY)
    page = BeautifulSoup(
        card(claim, record(claim.id, Check("x", math.inf, "<=", 1, error=0.5)), "smoke"), "html.parser"
    )
    assert page.summary.get_text() == "1 check"
    [row] = page.tbody.find_all("tr")
    assert [cell.get_text("|") for cell in row.find_all("td")] == ["x|as printed", "∞ ± 0.5", "≤ 1", "false"]


def test_card_of_a_claim_that_differs_says_what_was_expected_and_seen() -> None:
    claim = Claim(**ENTRY | WRONG | {"verdict": "refuted"})
    made = record(claim.id, check(True), Check("y", 1, "<=", 1.0, "corrected", error=0.5))
    found = differing({claim.id: claim}, [{"chapter": "01-first", **made.to_json()}], "standard")
    page = BeautifulSoup(card(claim, made, "standard", (), found[claim.id]), "html.parser")
    assert page.div["class"] == ["claim", "claim-verdict-holds", "differs"]
    assert page.find(class_="claim-impact").get_text() == "differs from the ledger", "no impact beside another verdict"
    assert [line.get_text() for line in page.find(class_="claim-differs").find_all("p")] == [
        "This claim differs from the ledger on this machine.",
        in_words("Expected: {word}`refuted`. Observed here: {word}`holds`: a number. ")
        + "It is 0; the statement says at most 1, which holds.",
        "Expected: the corrected statement is true. Observed here: it is undecided: "
        "y. It is 1 ± 0.5; the statement says at most 1, which is undecided.",
    ]


def test_our_own_promises_are_not_printed_anywhere() -> None:
    claim = Claim(**ENTRY | {"id": "audit:promise"})
    page = BeautifulSoup(card(claim, record(claim.id, check(True)), "smoke"), "html.parser")
    assert page.find("td").get_text("|") == "a number|as promised"
