"""What the book says of its certificates: each where it belongs, in words that are right, all in one archive."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
import zipfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from companion.ledger.card import card
from companion.ledger.certificates import (
    ARCHIVE,
    STANDS,
    Certificate,
    Checker,
    certificate_files,
    least,
    load_certificates,
    uncovered,
    unlike,
)
from companion.ledger.claim import Record, printed
from companion.ledger.files import find_root, load_ledger
from companion.ledger.papers import PRINTED
from companion.ledger.scoreboard import Scoreboard

ROOT = find_root()
RECORDS = "data/expected/standard.json"
FIELDS = {"file": "data/certificates/mini/a.json", "claim": "mini:a", "by": "1/3"}


@pytest.fixture(scope="module")
def board() -> Scoreboard:
    return Scoreboard(RECORDS, ROOT)


def test_every_erratum_that_has_a_certificate_leads_to_it(board: Scoreboard) -> None:
    files = certificate_files(ROOT)
    for paper in ("cai2025", "busafekete2021", "qiao2021", "alabi2022"):
        page = BeautifulSoup(board.errata(paper), "html.parser")
        errata = {entry["id"]: entry for entry in page.find_all(id=re.compile("^erratum-"))}
        assert errata
        for it in board.entries:
            entry = errata.get(f"erratum-{it.claim.id.replace(':', '-')}")
            if entry is None:
                continue
            links = [link["href"] for link in entry.select(".claim-certificate a[href$=json]")]
            assert len(links) == len(it.certificates)
            assert all(f"book/_static/{link.removeprefix('../_static/')}" in files for link in links)
            commands = [code.get_text() for code in entry.select(".claim-certificate code")]
            assert commands == [f"python certificates/check.py {one.file}" for one in it.certificates]
            assert all((ROOT / one.file).is_file() for one in it.certificates)


def test_a_card_has_its_certificates_and_only_those() -> None:
    claim = load_ledger(ROOT)["qiao2021:alg-1"]
    record = Record(claim.id, (printed("loss", 2, "<=", 1),))
    those = load_certificates(ROOT)[claim.id]
    page = BeautifulSoup(card(claim, record, "paper", those), "html.parser")
    assert len(page.select(".claim-certificate")) == len(those) > 0
    assert "certificate" not in card(claim, record, "paper")


@pytest.mark.parametrize(
    ("shows", "text", "said"),
    [
        ("violated", "x <= y", "“x ≤ y” fails by at least 1/3."),
        ("violated", "[read as: so, or so] x == y", "“x = y” fails by at least 1/3."),
        (
            "violated",
            "[says something: it costs] x < y",
            "It would say something (it costs) if “x < y”, which fails by at least 1/3.",
        ),
        ("attained", "[corrected, attained] x == y", "Our correction is sharp: “x = y” is reached."),
        ("attained", "[as printed, attained] x == y", "What is printed is sharp: “x = y” is reached."),
        ("all cases", "[all cases] x == y", "“x = y” holds in all 720 cases."),
        ("all cases", "[all cases] [ours] x == y", "“x = y” holds in all 720 cases."),
        ("all cases", "[all cases] [corrected] [if n >= 2] x == y", "“[if n ≥ 2] x = y” holds in all 720 cases."),
        ("all cases", "[all cases] [read as: so] x == y", "“x = y” holds in all 720 cases."),
        ("violated", "[if n >= 2] x <= y", "“[if n ≥ 2] x ≤ y” fails by at least 1/3."),
    ],
)
def test_what_one_shows_in_a_sentence(shows: str, text: str, said: str) -> None:
    assert Certificate(**FIELDS, shows=shows, printed=text, cases="720").said == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("qiao2021:alg-1", ["as printed"]),
        ("qiao2021:lem-3.3", ["ours", "ours"]),
        ("qiao2021:def-3.4", ["read as: ρ belongs to the comparison graph, whatever the answers on it", "ours"]),
    ],
)
def test_a_card_says_how_its_certificates_stand(name: str, said: list[str]) -> None:
    claim, those = load_ledger(ROOT)[name], load_certificates(ROOT)[name]
    page = BeautifulSoup(card(claim, Record(name, (printed("loss", 2, "<=", 1),)), "paper", those), "html.parser")
    assert [it.get_text() for it in page.select(".claim-certificate .claim-stands")] == said
    for it, shown in zip(those, page.select(".claim-certificate"), strict=True):
        assert ("In print:" in shown.get_text()) == (it.quote not in ("", claim.quote))
        assert ("Taken as given" in shown.get_text()) == bool(it.given)


def test_what_is_taken_as_given_is_shown(board: Scoreboard) -> None:
    errata = BeautifulSoup(board.errata("busafekete2021"), "html.parser")
    entry = errata.find(id="erratum-busafekete2021-sec-7.2-normal").select_one(".claim-certificate").get_text()
    assert "Taken as given: Berry-Esseen's theorem with the constant 0.56 (Shevtsova 2010)" in entry
    entry = errata.find(id="erratum-busafekete2021-sec-8-kl").select_one(".claim-certificate").get_text()
    assert "Taken as given (derived by hand): with two items" in entry


def test_equal_sides_fail_a_strict_relation() -> None:
    it = Certificate(**FIELDS | {"by": "0"}, shows="violated", printed="x < y")
    assert it.said == "“x < y” fails: the two sides are equal."


@pytest.mark.parametrize("text", ["0.0945348918918", "9.9999999999", "123456789/2", "1e-300", "2/3000000001", "7"])
def test_at_least_is_never_more(text: str) -> None:
    exact = Fraction(text)
    assert exact * Fraction(998, 1000) <= Fraction(least(text)) <= exact


def test_the_archive_is_all_that_a_stranger_needs(tmp_path: Path) -> None:
    files = certificate_files(ROOT)
    assert files == certificate_files(ROOT)
    with zipfile.ZipFile(io.BytesIO(files[f"book/_static/{ARCHIVE}"])) as packed:
        packed.extractall(tmp_path)
    command = [sys.executable, "-S", "certificates/check.py", "data/certificates/qiao2021"]
    bare = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert "flint" in bare.stderr  # nothing else is missing
    done = subprocess.run([sys.executable, *command[2:]], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.count("VIOLATED") > 10
    assert "qiao2021:def-3.4 (def-3.4): VIOLATED: not strict: 1 < 1\n" in done.stdout


@pytest.mark.parametrize("shift", [1e-6, math.inf])
def test_a_number_that_is_not_that_of_its_certificate_is_found(shift: float) -> None:
    those = [it for certificates in load_certificates(ROOT).values() for it in certificates if it.record]
    records = json.loads((ROOT / RECORDS).read_bytes())["records"]
    named = Counter((it.claim, it.record) for it in those)
    assert unlike(ROOT, records) == []
    moved = 0
    for entry in records:
        for check in entry["checks"]:
            if (entry["claim"], check["what"]) in named:
                check["observed"] += shift + 2 * check["error"]
                moved += named[entry["claim"], check["what"]]
    assert len(unlike(ROOT, records)) == moved >= len(those) > 40


def test_the_checker_says_no_to_what_is_not_so() -> None:
    checker = Checker(ROOT)
    assert checker.says("certificates/qiao2021/alg-1.json").endswith("1 of 1 shown")
    assert "NOT SHOWN" in checker.says({"schema": 1})


def test_the_page_counts_what_there_is(board: Scoreboard) -> None:
    those = load_certificates(ROOT)
    table = board.coverage()
    certified, claims = table.loc["all", "all"].split(" of ")
    assert int(claims) - int(certified) == len(uncovered(ROOT)) == board.without_certificate().count("<li>")
    assert board.all_certificates().count("<li>") == sum(map(len, those.values()))
    assert board.all_certificates().count("claim-stands") == sum(map(len, those.values()))
    assert board.methods().loc["all", "all"] == sum(it.claim.method is not None for it in board.entries)


def test_the_three_counts_are_those_of_the_checker(board: Scoreboard) -> None:
    table = board.standing()
    assert list(table.columns) == [*STANDS, "all"]
    done = Checker(ROOT).says("certificates").splitlines()
    said = ", ".join(f"{table.loc['all', stands]} {stands}" for stands in STANDS)
    assert done[-4] == f"violated: {said}"
    assert table.loc["all", "all"] == table.drop("all")["all"].sum() == table.loc["all", list(STANDS)].sum()
    for paper in (it for it in PRINTED if it.name in table.index):
        line = BeautifulSoup(board.errata(paper.key), "html.parser").select_one(".errata-stands").get_text()
        assert ", ".join(f"{table.loc[paper.name, stands]} {stands}" for stands in STANDS) in line


def test_the_ledger_for_others_says_how_they_stand(board: Scoreboard) -> None:
    rows = {it.claim.id: it.row() for it in board.entries}
    assert rows["qiao2021:def-3.4"]["stands"] == "a reading; ours"
    assert all(bool(row["stands"]) == bool(row["certificates"]) for row in rows.values())


def test_the_engine_and_one_paper_are_read_in_a_day() -> None:
    lines = Checker(ROOT).lines()["lines"]
    assert lines["engine"] + lines.drop("engine").max() <= 1000
