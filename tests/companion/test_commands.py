"""The page of the command line says what every command says of itself."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from dprank import example
from dprank.cli import app
from dprank.cli.manual import EXITS, entries, typed
from dprank.data.forms import BALLOT_FILES

ROOT = Path(__file__).resolve().parents[2]
PAGE = runpy.run_path(str(ROOT / "book/_ext/commands.py"))


def test_the_page_has_every_command_option_and_example() -> None:
    source = [(ROOT / "book/commands.md").read_text(encoding="utf-8")]
    PAGE["fill"](None, "book/commands", source)
    [page] = source
    assert PAGE["MARK"] not in page
    assert PAGE["FILES"] not in page
    assert PAGE["FORMS"] not in page
    for form in BALLOT_FILES:
        row = next(line for line in page.split("\n") if f"`{form.ballot}`" in line)
        assert all(f"`{suffix}`" in row for suffix in form.suffixes)
        assert form.suffixes or f"`--form {form.name}`" in row
        assert all(f"`{flag}" in row for flag in re.findall(r"--[a-z]+", form.losses)), "two hyphens are no dash"
    for name in ("staff.csv", "ballots.csv", "diagnoses.csv"):
        first = example(name).read_text(encoding="utf-8-sig").split("\n")[0]
        assert f"`{name}`:\n\n```text\n{first}\n" in page
    for entry in entries(app):
        part = page.partition(f"\n## {entry.name}\n")[2].partition("\n## ")[0]
        assert "\n".join(typed(entry.example)) in part
        assert [it.names for it in entry.options if it.names[0] not in part and it.takes not in part] == []
    assert all(f"| {code} | {meaning} |" in page for code, meaning in EXITS.items())


def test_another_page_stays_as_it_is() -> None:
    source = [PAGE["MARK"]]
    PAGE["fill"](None, "book/api", source)
    assert source == [PAGE["MARK"]]


def test_signs_that_markdown_would_take_are_kept() -> None:
    assert PAGE["prose"]("`check --out` writes a_b*; --plan reads.") == r"`check --out` writes a\_b\*; `--plan` reads."
