"""The ledger in its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ledgers import ENTRY, WRONG, ledger_at

from companion.ledger.files import Claim, find_root, load_ledger


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
        ({"verdict": "true"}, "verdict: 'true'; allowed: pending, holds, needs a condition"),
        ({"method": "proof"}, "method: 'proof'; allowed: exact, numeric, bound, simulation, argument"),
        ({"method": None}, "method: None; allowed: exact, .* when the verdict is 'holds'"),
        ({"where": 4.1}, "where: 4.1; allowed: one line of text"),
        ({"where": " "}, "where: ' '; allowed: one line of text"),
        ({"statement": "a\nb"}, r"statement: 'a\\nb'; allowed: one line of text"),
        ({"statement": None}, "statement: None; allowed: text"),
        ({"tolerance": "small"}, r"tolerance: 'small'; allowed: a number in \[0, 1\)"),
        ({"tolerance": True}, r"tolerance: True; allowed: a number in \[0, 1\)"),
        ({"note": "x"}, "unknown key 'note': 'x'; allowed: id, where, kind"),
        ({"verdict": "refuted"}, "why: None; allowed: text .* when the verdict is 'refuted'"),
        ({"verdict": "refuted", "why": "y"}, "corrected: None; allowed: text .* when the verdict is 'refuted'"),
        (
            {"verdict": "refuted", "why": "y", "corrected": "x"},
            "impact: None; allowed: privacy broken, .* is 'refuted'",
        ),
        ({"verdict": "unchecked"}, "reason: None; allowed: text"),
        ({"left_out": "the constant"}, "left_out: 'the constant'; allowed: none when the verdict is 'holds'"),
        (WRONG | {"verdict": "needs a condition"}, r"left_out: None; allowed: text \(due when the verdict is"),
        (
            WRONG | {"verdict": "refuted", "instance": "It is {sene}."},
            "instance: 'It is {sene}.'; allowed: braces around seen, said, ",
        ),
        ({"impact": "bad"}, "impact: 'bad'; allowed: privacy broken, theorem false"),
        ({"why": "y"}, "why: 'y'; allowed: none when the verdict is 'holds'"),
        ({"impact": "proof gap"}, "impact: 'proof gap'; allowed: none when the verdict is 'holds'"),
        ({"ours": "yes"}, "ours: 'yes'; allowed: true, or no such key"),
        ({"ours": False}, "ours: False; allowed: true, or no such key"),
        ({"runs": ""}, "runs: ''; allowed: one line of text"),
        ({"necessity": "attained"}, "necessity: 'attained'; allowed: none where nothing is corrected"),
        ({"uses": "mini2020:lem-1"}, "uses: 'mini2020:lem-1'; allowed: a list of ids"),
        ({"uses": ["mini2020:a", "mini2020:a"]}, r"uses: \['mini2020:a', 'mini2020:a'\]; allowed: every id once"),
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


def test_proofs_use_what_the_ledger_has_and_end(tmp_path: Path) -> None:
    lemma = ENTRY | {"id": "mini2020:lem-1"}
    ledger = load_ledger(ledger_at(tmp_path, ENTRY | {"uses": ["mini2020:lem-1"]}, lemma))
    assert ledger["mini2020:alg-1"].uses == ("mini2020:lem-1",)
    ledger_at(tmp_path, ENTRY | {"uses": ["mini2020:lem-9"]})
    with pytest.raises(ValueError, match=r"^mini2020:alg-1: uses: 'mini2020:lem-9'; allowed: ids of the ledger$"):
        load_ledger(tmp_path)
    ledger_at(tmp_path, ENTRY | {"uses": ["mini2020:lem-1"]}, lemma | {"uses": ["mini2020:alg-1"]})
    with pytest.raises(ValueError, match=r"^uses: a circle, mini2020.* -> mini2020.*; allowed: proofs that end$"):
        load_ledger(tmp_path)


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
