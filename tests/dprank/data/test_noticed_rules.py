"""One list of rules: nothing that looks at a file is left out of it, and nothing of it is known to a release."""

import ast
from pathlib import Path

import pytest

import dprank
from dprank.data import noticed_rules
from dprank.data.noticed import noticed, raw_of
from dprank.data.noticed_rules import RULES, Seen

HERE = Path(dprank.__file__).parent


def test_every_rule_has_a_name_of_its_own():
    assert len({rule.about for rule in RULES}) == len(RULES)


def test_every_function_that_looks_at_a_file_is_a_rule():
    found = set()
    for path in (HERE / "data").glob("noticed_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {it.name for it in tree.body if isinstance(it, ast.FunctionDef) and it.name.startswith("in_")}
    # of places the one that speaks of codes is part of the one that speaks of all
    assert found - set(vars(noticed_rules)) == {"in_codes"}
    source = (HERE / "data" / "noticed_rules.py").read_text(encoding="utf-8")
    assert not [name for name in found - {"in_codes"} if f"{name}(" not in source]


def test_no_release_knows_what_check_notices():
    for path in [*(HERE / "cli").glob("*.py"), *(HERE / "data").glob("*.py")]:
        if path.name.startswith("noticed") or path.name == "check.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {it.module for it in ast.walk(tree) if isinstance(it, ast.ImportFrom) and it.module}
        assert not names & {"dprank.data.noticed", "dprank.data.noticed_rules"}, path.name


@pytest.mark.parametrize("rule", RULES, ids=[rule.about for rule in RULES])
def test_no_rule_speaks_of_the_examples(rule):
    declared = dprank.Declaration(
        kind="comparisons",
        items=["London", "Paris", "Rome"],
        person="person",
        columns=("first", "second", "outcome"),
        answers="outcome",
    )
    path = dprank.example("answers.csv")
    assert [*rule.of(Seen(declared, declared.read(path), raw_of(declared, path)))] == []


def test_rules_are_told_in_their_order(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"u{at % 5},oak,{('elm', 'Elm')[at % 4 == 0]},{at % 2}" for at in range(40)]
    path.write_text("\n".join(["user,left,right,answer", *rows]) + "\n", encoding="utf-8")
    declared = dprank.Declaration(
        kind="comparisons", items=["oak", "elm"], columns=("left", "right", "answer"), answers="outcome"
    )
    seen = Seen(declared, declared.read(path), raw_of(declared, path))
    told = [line for rule in RULES for line in rule.of(seen)]
    assert tuple(told) == noticed(raw_of(declared, path), declared.read(path), declared)
    assert [it.split(" ")[0] for it in told] == ["10", "column", "10"]


@pytest.mark.parametrize("far", ["1e11", "1e15", "1e30", "1e300"])
def test_a_scale_is_as_long_as_its_kinds_are_many(far, tmp_path):
    # catches a list of all whole numbers up to the highest, which no memory holds
    path = tmp_path / "t.csv"
    path.write_text("oak,elm\n" + "1,2\n2,1\n3,1\n" * 9 + f"{far},4\n" + f"4,{far}\n", encoding="utf-8")
    declared = dprank.Declaration(kind="ballots", items=["oak", "elm"], best="high", ballots="tied", form="wide")
    assert noticed(raw_of(declared, path), declared.read(path), declared) == ()
