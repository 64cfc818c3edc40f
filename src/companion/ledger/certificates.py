"""Certificates of the claims: what somebody who trusts nothing of ours can check, and where a reader finds it."""

from __future__ import annotations

import io
import json
import math
import re
import subprocess
import sys
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from companion.ledger.claim import Check
from companion.ledger.files import find_root
from companion.ledger.papers import PAPERS

__all__ = ["STANDS", "Certificate", "Checker", "certificate_files", "load_certificates", "uncovered", "unlike"]

FOLDER, CHECKER = "data/certificates", "certificates"
#: What writes certificates: nobody needs it to check one.
WRITER = "fill"
#: All of them and the checker, on the site.
ARCHIVE = "certificates.zip"
#: How an inequality stands to the paper.
STANDS = "as printed", "a reading", "ours"
#: How it is said what one shows, by what stands in brackets before the printed inequality.
SENTENCES = {
    "": "{it} {fails}.",
    "read as": "{it} {fails}.",
    "says something": "It would say something ({words}) if {it}, which {fails}.",
    "corrected": "Our correction is sharp: {it} is reached.",
    "as printed": "What is printed is sharp: {it} is reached.",
    "all cases": "{it} holds in all {cases} cases.",
}
PREFIX = re.compile(rf"\[({'|'.join(filter(None, SENTENCES))})[:,]? ?([^\]]*)\] (.*)")
#: What is taken as given begins so where we derived it.
BY_HAND = "By hand: "
#: Behind the first brackets, how it stands once more.
AGAIN = re.compile(r"^\[(corrected|ours|read as: [^\]]*)\] ")
SIGNS = {"<=": "≤", ">=": "≥", "==": "="}


@dataclass(frozen=True)
class Certificate:
    """One file of `data/certificates`."""

    file: str
    claim: str
    shows: str
    printed: str
    by: str
    stands: str = STANDS[0]
    reading: str = ""
    quote: str = ""
    given: str = ""
    cases: str = ""
    record: str = ""
    #: What each side lies between.
    ends: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def href(self) -> str:
        """Where it is on the site, seen from a notebook's page."""
        return f"../_static/{self.file.removeprefix('data/')}"

    @property
    def name(self) -> str:
        """Of the file, without its folder."""
        return self.file.rpartition("/")[2]

    @property
    def command(self) -> str:
        return f"python {CHECKER}/check.py {self.file}"

    @property
    def derived(self) -> bool:
        """Whether what is taken as given was derived by hand."""
        return self.given.startswith(BY_HAND)

    @property
    def taken(self) -> str:
        """What is taken as given."""
        return self.given.removeprefix(BY_HAND)

    @property
    def said(self) -> str:
        """What it shows, in a sentence."""
        text = self.printed
        for sign, shown in SIGNS.items():
            text = text.replace(sign, shown)
        match = PREFIX.fullmatch(text)
        kind, words, text = match.groups() if match else ("", "", text)
        text = AGAIN.sub("", text)
        fails = "fails: the two sides are equal" if self.by == "0" else f"fails by at least {least(self.by)}"
        return SENTENCES[kind].format(it=f"“{text}”", words=words, fails=fails, cases=self.cases)

    @property
    def standing(self) -> str:
        """How it stands to the paper, and as what it is read."""
        return f"read as: {self.reading}" if self.reading else self.stands


def least(text: str) -> str:
    """A number for readers that is not above the exact one of `text`."""
    if len(text) <= 8:
        return text
    value = Fraction(text) if "/" in text else Fraction(Decimal(text))
    rounded = Context(prec=4, rounding=ROUND_DOWN).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{rounded.normalize():g}"


def load_certificates(root: Path) -> dict[str, list[Certificate]]:
    """Certificates by claim; empty where a book has none."""
    found: dict[str, list[Certificate]] = defaultdict(list)
    for path in sorted((root / FOLDER).rglob("*.json")):
        it = json.loads(path.read_text(encoding="utf-8"))
        cases = f"{sum(int(here['right']) for here in it['found']):,}" if it["shows"] == "all cases" else ""
        keys = "claim", "shows", "printed", "by", "stands", "reading", "quote", "given", "record"
        values = {key: it.get(key, "") for key in keys}
        sides = [here[side] for here in it["found"] for side in ("left", "right")]
        pairs = [(side, side) if isinstance(side, str) else side for side in sides]
        ends = tuple((Fraction(low), Fraction(high)) for low, high in pairs)
        found[it["claim"]].append(Certificate(path.relative_to(root).as_posix(), **values, cases=cases, ends=ends))
    return {claim: sorted(those, key=lambda it: it.shows != "violated") for claim, those in found.items()}


def unlike(root: Path, records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Numbers that chapters recorded and that are, by more than their own error, neither side of their certificate."""
    checks = {entry["claim"]: [Check.from_json(check) for check in entry["checks"]] for entry in records}
    problems = []
    for it in (it for those in load_certificates(root).values() for it in those if it.record):
        for check in (check for check in checks.get(it.claim, ()) if check.what == it.record):
            slack = check.error + math.ulp(check.observed)
            if math.isinf(slack) or not any(
                low - Fraction(slack) <= Fraction(check.observed) <= high + Fraction(slack) for low, high in it.ends
            ):
                problems.append(f"{it.claim}: {check.what}: observed {check.observed!r}, which is not in {it.file}")
    return problems


def uncovered(root: Path) -> dict[str, str]:
    """Why a claim that could have a certificate has none."""
    reasons: dict[str, str] = {}
    for path in sorted((root / FOLDER).glob("uncovered-*.yml")):
        reasons |= yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    return reasons


def certificate_files(root: Path) -> dict[str, bytes]:
    """What the site has of them: each file, and an archive of all and the checker, whose bytes tell no time."""
    data = sorted(path for path in (root / FOLDER).rglob("*") if path.suffix in {".json", ".md"})
    if not data:
        return {}
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in (*sorted((root / CHECKER).glob("*.py")), *data):
            packed.writestr(zipfile.ZipInfo(path.relative_to(root).as_posix()), path.read_bytes(), zipfile.ZIP_DEFLATED)
    files = {f"book/_static/{path.relative_to(root / 'data').as_posix()}": path.read_bytes() for path in data}
    return files | {f"book/_static/{ARCHIVE}": archive.getvalue()}


# ---------------------------------------------------------------- the page


class Checker:
    """The checker, run as a stranger would run it."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or find_root()

    def text(self, name: str) -> str:
        """A certificate as it lies in the file."""
        return (self.root / FOLDER / f"{name}.json").read_text(encoding="utf-8")

    def says(self, what: str | Mapping[str, Any]) -> str:
        """Of a file or folder of `data`, or of what could stand in a file."""
        text = "" if isinstance(what, str) else json.dumps(what)
        done = subprocess.run(
            [sys.executable, f"{CHECKER}/check.py", f"data/{what}" if isinstance(what, str) else "-"],
            cwd=self.root,
            input=text,
            check=False,
            text=True,
            encoding="utf-8",
            capture_output=True,
        )
        return (done.stdout or done.stderr).strip()

    def statement(self, module: str, claim: str) -> str:
        """The lines of code that say what a claim prints."""
        source = (self.root / CHECKER / f"{module}.py").read_text(encoding="utf-8")
        block = next(it for it in re.split(r"\n{3,}", source) if f'"{claim}"' in it)
        return "\n".join(it for it in block.splitlines() if not it.startswith("@") or f'"{claim}"' in it)

    def lines(self) -> pd.DataFrame:
        """Lines that are not blank: of the engine, and of what each paper prints."""
        rows: Counter[str] = Counter()
        for path in (it for it in (self.root / CHECKER).glob("*.py") if it.stem != WRITER):
            paper = PAPERS.get(path.stem.partition("_")[0])
            text = path.read_text(encoding="utf-8")
            rows[paper.name if paper else "engine"] += sum(bool(line.strip()) for line in text.splitlines())
        order = ["engine", *(it.name for it in PAPERS.values() if it.name in rows)]
        return pd.DataFrame({"lines": pd.Series(rows)}).loc[order]
