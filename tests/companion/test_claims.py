"""The ledger, the checks, and the verdict that follows from them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup
from checks import each

from companion import chapters
from companion.ledger.card import anchor, card
from companion.ledger.claim import SETTLED, UNDECIDED, Check, Record, bearing, claim, decisive, derive
from companion.ledger.files import VERDICTS, Claim, find_root, load_ledger
from companion.ledger.judge import judge, summary

ENTRY = {
    "id": "mini2020:alg-1",
    "where": "Algorithm 1",
    "kind": "algorithm",
    "statement": "One is at most one.",
    "chapter": "01-first",
    "verdict": "holds",
    "method": "exact",
}


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


def test_decisive_checks_show_the_worst_of_each_group():
    good, bad, open_ = check(True), check(False), check(None)
    corrected = check(True, "corrected")
    assert decisive([good, corrected, bad, open_]) == [bad, corrected]
    assert decisive([good, open_]) == [open_]
    readings = [check(True, reading="a"), check(False, reading="b")]
    assert decisive(readings) == readings


# --- checks ----------------------------------------------------------------------------------------------------------


@each(
    ("observed", "error", "relation", "outcome"),
    [
        (1.0, 0.0, "<=", True),
        (1.0, 0.0, "<", False),
        (1.0, 0.0, ">=", True),
        (1.0, 0.0, ">", False),
        (1.0, 0.0, "==", True),
        (0.5, 0.25, "<", True),
        (0.5, 0.5, "<", None),
        (0.5, 0.5, "<=", True),
        (1.5, 0.5, "<=", None),
        (1.5, 0.5, "<", False),
        (1.5, 0.25, "<=", False),
        (1.5, 0.5, ">=", True),
        (1.5, 0.5, ">", None),
        (0.5, 0.5, ">", False),
        (0.5, 0.5, ">=", None),
        (0.5, 0.25, ">=", False),
        (1.5, 0.25, ">", True),
        (1.5, 0.5, "==", True),
        (1.5, 0.25, "==", False),
        (math.inf, 0.0, "<=", False),
        (math.inf, 1.0, ">", True),
        (-math.inf, 0.0, "<", True),
    ],
)
def test_outcome(observed: float, error: float, relation: str, outcome: bool | None) -> None:
    assert Check("x", observed, relation, 1.0, error=error).outcome is outcome


def test_outcome_at_infinity() -> None:
    assert Check("x", math.inf, "==", math.inf).outcome is True
    assert Check("x", math.inf, "<=", math.inf).outcome is True
    assert Check("x", 3, "<=", math.inf).outcome is True


@each(
    ("arguments", "message"),
    [
        ({"relation": "="}, "relation: '='; allowed: <=, >=, ==, <, >$"),
        ({"about": "print"}, "about: 'print'; allowed: printed, supplied, content, corrected, argument$"),
        ({"observed": math.nan}, "observed: nan; allowed: any number but NaN$"),
        ({"bound": "one"}, "bound: 'one'; allowed: a number$"),
        ({"error": -1.0}, "error: -1.0; allowed: a finite number >= 0$"),
        ({"error": math.inf}, "error: inf; allowed: a finite number >= 0$"),
        ({"about": "corrected", "reading": "a"}, "reading: 'a'; allowed: only with about='printed'"),
    ],
)
def test_check_refuses(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        Check(**{"what": "x", "observed": 1.0, "relation": "<=", "bound": 1.0, **arguments})


def test_check_survives_json() -> None:
    made = Check("x", np.int64(3), ">", -math.inf, "printed", "the first", np.float32(0.5))
    plain = made.to_json()
    assert plain["bound"] == "-inf"
    assert (type(plain["observed"]), type(plain["error"])) == (int, float)
    assert Check.from_json(json.loads(json.dumps(plain, allow_nan=False))) == made


# --- verdicts --------------------------------------------------------------------------------------------------------


@each(
    ("printed", "supplied", "content", "verdict"),
    [
        ("T", "", "", "holds"),
        ("TT", "", "", "holds"),
        ("T", "F", "", "holds"),
        ("T", "U", "T", "holds"),
        ("T", "", "F", "vacuous"),
        ("T", "", "FU", "vacuous"),
        ("T", "", "U", UNDECIDED),
        ("T", "", "TU", UNDECIDED),
        ("F", "", "", "refuted"),
        ("TF", "", "", "refuted"),
        ("UF", "", "", "refuted"),
        ("F", "", "F", "refuted"),
        ("F", "", "U", "refuted"),
        ("F", "F", "", "refuted"),
        ("F", "TF", "", "refuted"),
        ("F", "FU", "", "refuted"),
        ("F", "T", "", "constants"),
        ("F", "TT", "F", "constants"),
        ("F", "U", "", UNDECIDED),
        ("F", "TU", "", UNDECIDED),
        ("U", "", "", UNDECIDED),
        ("TU", "", "", UNDECIDED),
        ("U", "T", "F", UNDECIDED),
    ],
)
def test_derive(printed: str, supplied: str, content: str, verdict: str) -> None:
    """One reading; T, F and U are true, false and undecided checks."""
    values = {"T": True, "F": False, "U": None}
    groups = {"printed": printed, "supplied": supplied, "content": content}
    checks = [check(values[letter], about) for about, letters in groups.items() for letter in letters]
    for order in itertools.permutations(checks):
        assert derive(order) == verdict
        assert derive([*order, check(False, "corrected"), check(False, "argument")]) == verdict


def test_derive_readings() -> None:
    """All pairs of readings: they disagree, one is undecided, or they are as one."""
    for first, second in itertools.product((True, False, None), repeat=2):
        both = [check(first, reading="a"), check(second, reading="b")]
        if {first, second} == {True, False}:
            expected = "underspecified"
        elif None in (first, second):
            expected = UNDECIDED
        else:
            expected = "holds" if first else "refuted"
        assert derive(both) == expected
    disagree = [check(True, reading="a"), check(False, reading="b")]
    assert derive([*disagree, check(None, reading="c")]) == "underspecified"
    assert derive([*disagree, check(True, "supplied"), check(False, "content")]) == "underspecified"
    assert derive([*disagree, check(False, reading="a")]) == "refuted"  # no reading is true


def test_derive_gives_known_verdicts_only() -> None:
    """Every set of up to four kinds of checks has a verdict that a ledger can hold, or none yet."""
    kinds = [("printed", "a"), ("printed", "b"), ("supplied", ""), ("content", "")]
    for outcomes in itertools.product((True, False, None, "absent"), repeat=4):
        checks = [check(o, *kind) for o, kind in zip(outcomes, kinds, strict=True) if o != "absent"]
        if any(c.about == "printed" for c in checks):
            assert derive(checks) in {*VERDICTS[1:-1], UNDECIDED}


@each(
    ("checks", "expected"),
    [
        ([check(True), check(True)], [True, True]),
        ([check(False), check(False)], [False, False]),
        ([check(False), check(True)], [True, False]),
        ([check(False), check(False), check(True, "supplied")], [False, False, True]),
        ([check(True, reading="a"), check(False, reading="b")], [True, True]),
        ([check(True), check(False, "content")], [True, True]),
        ([check(False), check(False), check(True, "corrected"), check(True, "argument")], [False, False, True, True]),
    ],
)
def test_a_check_bears_where_a_verdict_turns_on_it(checks: list[Check], expected: list[bool]) -> None:
    assert bearing(checks) == expected


def test_derive_needs_the_printed_statement() -> None:
    with pytest.raises(ValueError, match=r"about \['corrected'\] only; allowed: at least one about 'printed'"):
        derive([check(True, "corrected")])


# --- the ledger ------------------------------------------------------------------------------------------------------


def test_load(tmp_path: Path) -> None:
    ledger = load_ledger(ledger_at(tmp_path, ENTRY))
    assert ledger == {"mini2020:alg-1": Claim(**ENTRY)}
    assert ledger["mini2020:alg-1"].tolerance == 1e-9
    (tmp_path / "data/claims/mini2021.yml").write_text("# none yet\n")
    assert len(load_ledger(tmp_path)) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "axiom"}, "kind: 'axiom'; allowed: definition, condition, algorithm"),
        ({"verdict": "true"}, "verdict: 'true'; allowed: pending, holds, constants"),
        ({"method": "proof"}, "method: 'proof'; allowed: exact, bound, simulation, argument"),
        ({"method": None}, "method: None; allowed: exact, .* when the verdict is 'holds'"),
        ({"where": 4.1}, "where: 4.1; allowed: one line of text"),
        ({"where": " "}, "where: ' '; allowed: one line of text"),
        ({"statement": "a\nb"}, r"statement: 'a\\nb'; allowed: one line of text"),
        ({"statement": None}, "statement: None; allowed: text"),
        ({"tolerance": "small"}, r"tolerance: 'small'; allowed: a number in \[0, 1\)"),
        ({"tolerance": True}, r"tolerance: True; allowed: a number in \[0, 1\)"),
        ({"note": "x"}, "unknown key 'note': 'x'; allowed: id, where, kind"),
        ({"verdict": "refuted"}, "corrected: None; allowed: text .* when the verdict is 'refuted'"),
        ({"verdict": "unchecked"}, "reason: None; allowed: text"),
    ],
)
def test_ledger_refuses(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    entry = {key: value for key, value in (ENTRY | change).items() if value is not None}
    with pytest.raises(ValueError, match=f"^data/claims/mini2020.yml: mini2020:alg-1: {message}") as error:
        load_ledger(ledger_at(tmp_path, entry))
    assert "\n" not in str(error.value)


def test_ledger_refuses_ids(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="other:alg-1: id: 'other:alg-1'; allowed: mini2020:<name>"):
        load_ledger(ledger_at(tmp_path, ENTRY | {"id": "other:alg-1"}))
    with pytest.raises(ValueError, match="mini2020:alg-1: id: used twice"):
        load_ledger(ledger_at(tmp_path, ENTRY, ENTRY))
    with pytest.raises(ValueError, match="entry 1: entry: 'text'; allowed: a mapping"):
        load_ledger(ledger_at(tmp_path, "text"))
    with pytest.raises(ValueError, match="entry 1: id: None; allowed: text"):
        load_ledger(ledger_at(tmp_path, {}))


def test_ledger_refuses_what_is_no_list(tmp_path: Path) -> None:
    ledger_at(tmp_path)
    path = tmp_path / "data/claims/mini2020.yml"
    path.write_text("id: a\n")
    with pytest.raises(ValueError, match="a dict at the top; allowed: a list of claims"):
        load_ledger(tmp_path)
    path.write_text("- id: a: b\n")
    with pytest.raises(ValueError, match=r"^data/claims/mini2020\.yml: not YAML: [^\n]*line 1"):
        load_ledger(tmp_path)


def test_find_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPANION_ROOT", raising=False)
    with pytest.raises(ValueError, match="a folder that holds data/claims is needed"):
        find_root(tmp_path)
    ledger_at(tmp_path)
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert find_root() == tmp_path.resolve()
    monkeypatch.setenv("COMPANION_ROOT", str(tmp_path / "elsewhere"))
    assert find_root() == tmp_path / "elsewhere"


# --- records ---------------------------------------------------------------------------------------------------------


def record(name: str, *checks: Check) -> Record:
    return Record(name, checks)


def test_record() -> None:
    made = record("mini2020:alg-1", check(True))
    data, metadata = made._repr_mimebundle_()
    assert metadata == {"claim": {"claim": "mini2020:alg-1", "verdict": "holds", "checks": [check(True).to_json()]}}
    assert Record.from_json(metadata["claim"]) == made
    assert data == {"text/plain": str(made)}
    assert str(made).splitlines() == ["mini2020:alg-1: holds", "  a number (printed): 0 <= 1: true"]
    with pytest.raises(ValueError, match="at least one about 'printed'"):
        record("mini2020:alg-1")
    assert list(made) == [check(True)]


def test_a_claim_is_a_function_that_carries_its_id() -> None:
    @claim("mini2020:lem-1")
    def lemma_1(truth: bool = True) -> Iterator[Check]:
        """Of one number."""
        yield check(truth)

    try:
        assert lemma_1() == record("mini2020:lem-1", check(True))
        assert lemma_1(truth=False).verdict == "refuted"
        assert (lemma_1.__name__, lemma_1.__doc__) == ("lemma_1", "Of one number.")
        with pytest.raises(ValueError, match=r"mini2020:lem-1: settled by .*lemma_1 already; allowed: one function"):
            claim("mini2020:lem-1")(lambda: [check(True)])
    finally:
        del SETTLED["mini2020:lem-1"]


def test_every_settled_claim_has_one_function_and_every_function_a_claim() -> None:
    for module in walk_packages(chapters.__path__, f"{chapters.__name__}."):
        import_module(module.name)
    ledger = load_ledger(Path(__file__).parents[2])
    settled = {name for name, entry in ledger.items() if entry.verdict not in ("pending", "unchecked")}
    assert set(SETTLED) == settled


def test_card() -> None:
    claim = Claim(**ENTRY | {"statement": "<b> & co", "corrected": "b < c"})
    checks = [check(True), check(None, "content"), check(False, "corrected"), check(True, "argument")]
    page = BeautifulSoup(card(claim, record(claim.id, *checks), "paper"), "html.parser")
    assert page.div["id"] == anchor("mini2020:alg-1") == "mini2020-alg-1"
    assert page.div["class"] == ["claim", "claim-verdict-undecided"]
    assert page.find(class_="claim-statement").get_text() == "<b> & co"
    assert page.find("p", class_="claim-corrected").get_text() == "Corrected: b < c"
    assert page.find(class_="claim-foot").get_text().endswith("profile paper")
    assert not page.find_all(style=True)
    decisive, every = ([row.get_text("|") for row in body.find_all("tr")] for body in page.find_all("tbody"))
    assert [row.rpartition("|")[2] for row in decisive] == ["true", "undecided", "false"]
    assert every == [*decisive, "a number|a step of the argument|0|≤ 1|true"]
    assert page.summary.get_text() == "all 4 checks"


def test_card_of_few_checks_shows_them_once() -> None:
    claim = Claim(**ENTRY)
    page = BeautifulSoup(
        card(claim, record(claim.id, Check("x", math.inf, "<=", 1, error=0.5)), "smoke"), "html.parser"
    )
    assert page.details is None
    [row] = page.tbody.find_all("tr")
    assert [cell.get_text("|") for cell in row.find_all("td")] == ["x|as printed", "∞ ± 0.5", "≤ 1", "false"]


# --- the judge -------------------------------------------------------------------------------------------------------


def entry(*checks: Check, claim: str = "mini2020:alg-1", chapter: str = "01-first") -> dict[str, Any]:
    return {"chapter": chapter, **record(claim, *checks).to_json()}


def problems(change: dict[str, Any], *entries: dict[str, Any], profile: str = "standard", **scope: Any) -> list[str]:
    claim = Claim(**ENTRY | change)
    return judge({claim.id: claim}, entries, profile, **scope)


REFUTED = {"verdict": "refuted", "corrected": "x"}


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
    [line] = problems({}, entry(*[check(True)] * 5, check(False), check(False, "corrected")), profile="smoke")[:1]
    assert line.endswith(f"observed 'refuted' [{'; '.join([false, true, true, true])}; and 2 more]")
    [line] = problems({"verdict": "unchecked", "reason": "x"}, entry(check(True)))
    assert line.startswith("mini2020:alg-1: expected 'unchecked', observed 'holds'")


def test_judge_of_the_undecided() -> None:
    assert problems({}, entry(check(None)), profile="smoke") == []
    assert "observed 'undecided here'" in problems({}, entry(check(None)))[0]
    corrected = entry(check(False), check(None, "corrected"))
    assert problems(REFUTED, corrected, profile="smoke") == []
    assert "the corrected statement is undecided" in problems(REFUTED, corrected, profile="paper")[0]


def test_judge_of_corrections() -> None:
    assert problems(REFUTED, entry(check(False)))[0].startswith("mini2020:alg-1: the corrected statement has no check")
    [line] = problems(REFUTED, entry(check(False), check(False, "corrected")), profile="smoke")
    assert line.startswith("mini2020:alg-1: the corrected statement is false [a number (corrected): 2 <= 1]")
    [line] = problems({}, entry(check(True), check(False, "argument")), profile="smoke")
    assert line.startswith("mini2020:alg-1: a step of the argument is false [a number (argument): 2 <= 1]")


def test_judge_meets_records_and_claims() -> None:
    assert problems({})[0].startswith("mini2020:alg-1: the ledger says 'holds' but 01-first has no record")
    assert problems({"verdict": "pending"}, entry(check(True))) == [
        "mini2020:alg-1: recorded in 01-first as 'holds' but pending: settle it in the ledger"
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
    two = [entry(check(False)), entry(check(None))]
    assert summary(ledger, two) == "1 claim settled: 1 refuted, 1 undecided here; 1 pending"
