"""Checks, the verdict that follows from them, records, and functions that carry the id of a claim."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
from checks import each
from ledgers import check, record

from companion import chapters
from companion.ledger import claim as claims
from companion.ledger.claim import SETTLED, UNDECIDED, Check, Record, bearing, claim, decisive, derive, others
from companion.ledger.files import find_root, load_ledger
from companion.ledger.verdicts import ALL, PENDING, UNCHECKED


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


@each(
    ("printed", "supplied", "content", "verdict"),
    [
        ("T", "", "", "holds"),
        ("TT", "", "", "holds"),
        ("T", "F", "", "holds"),
        ("T", "U", "T", "holds"),
        ("T", "", "F", "true but empty"),
        ("T", "", "FU", "true but empty"),
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
        ("F", "T", "", "needs a condition"),
        ("F", "TT", "F", "needs a condition"),
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
            expected = "depends on the reading"
        elif None in (first, second):
            expected = UNDECIDED
        else:
            expected = "holds" if first else "refuted"
        assert derive(both) == expected
    disagree = [check(True, reading="a"), check(False, reading="b")]
    assert derive([*disagree, check(None, reading="c")]) == "depends on the reading"
    assert derive([*disagree, check(True, "supplied"), check(False, "content")]) == "depends on the reading"
    assert derive([*disagree, check(False, reading="a")]) == "refuted"  # no reading is true


def test_derive_gives_known_verdicts_only() -> None:
    """Every set of up to four kinds of checks has a verdict that a ledger can hold, or none yet."""
    kinds = [("printed", "a"), ("printed", "b"), ("supplied", ""), ("content", "")]
    for outcomes in itertools.product((True, False, None, "absent"), repeat=4):
        checks = [check(o, *kind) for o, kind in zip(outcomes, kinds, strict=True) if o != "absent"]
        if any(c.about == "printed" for c in checks):
            assert derive(checks) in {*ALL} - {PENDING, UNCHECKED}


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


def test_decisive_checks_show_the_worst_of_each_group():
    good, bad, open_ = check(True), check(False), check(None)
    corrected = check(True, "corrected")
    assert decisive([good, corrected, bad, open_]) == [bad, corrected]
    assert decisive([good, open_]) == [open_]
    readings = [check(True, reading="a"), check(False, reading="b")]
    assert decisive(readings) == readings


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


def test_claims_without_a_cell_are_shown_together(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Of the chapter alone, once each, and those only that need no argument."""
    monkeypatch.setattr(claims, "SETTLED", {})

    def settled(name: str, chapter: str, function: Any) -> Any:
        function.__module__ = f"book.{chapter}.section"
        return claim(f"mini2020:{name}")(function)

    shown = settled("a", "first", lambda truth=True: [check(truth)])
    settled("b", "first", lambda truth=True: [check(truth)])
    settled("c", "second", lambda truth=True: [check(truth)])
    settled("d", "first", lambda truth: [check(truth)])
    shown()
    others("first")
    assert capsys.readouterr().out.splitlines() == ["mini2020:b: holds", "  a number (printed): 0 <= 1: true"]
    others("first")
    assert capsys.readouterr().out == ""


def import_chapters() -> None:
    for module in walk_packages(chapters.__path__, f"{chapters.__name__}."):
        import_module(module.name)


def test_a_claim_lives_in_the_room_of_its_chapter() -> None:
    import_chapters()
    ledger = load_ledger(find_root())
    rooms = {name: function.__module__.split(".")[2] for name, function in SETTLED.items()}
    roads = [path.stem for path in sorted((find_root() / "notebooks").glob("[01][0-9]-*.ipynb"))]
    room = {road[:2]: road[3:].replace("-", "_") for road in roads} | {"13": "private_aggregation"}  # the guide's
    # of the local model, answered by Borda's
    asked = dict.fromkeys(
        (f"alabi2022:sec-conclusions:{it}" for it in ("interactive", "separation")), "private_aggregation"
    )
    assert rooms == {name: room[ledger[name].chapter[:2]] for name in rooms} | asked


def test_every_settled_claim_has_one_function_and_every_function_a_claim() -> None:
    import_chapters()
    ledger = load_ledger(find_root())
    settled = {name for name, entry in ledger.items() if entry.verdict not in ("pending", "unchecked")}
    assert set(SETTLED) == settled
