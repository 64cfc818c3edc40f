"""The scoreboard and the errata: made of the ledger and of what the chapters recorded."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from companion.ledger.card import Html, counterexample, fill, show_number
from companion.ledger.certificates import STANDS, Certificate, load_certificates, uncovered
from companion.ledger.claim import Check, Record, decisive
from companion.ledger.files import ALLOWED, PLACE, Claim, find_root, load_ledger
from companion.ledger.judge import Difference, differing
from companion.ledger.latex import latex
from companion.ledger.papers import PAPERS, names, paper_of
from companion.ledger.verdicts import ALL, HOLDS, READING, Verdict, verdict

#: What an author is told first, and what is said where there is none.
GRAVEST = {"privacy broken": "No promise of privacy is broken.", "theorem false": "No main statement is false."}
#: Where claims are counted, those that do not come out as the ledger says.
DIFFERS = "differs"


@dataclass(frozen=True)
class Entry:
    """A claim, the verdict on it, and the checks behind it; without checks the ledger says why there are none."""

    claim: Claim
    verdict: Verdict
    checks: tuple[Check, ...] = ()
    #: Claims whose proof rests on it, and the verdicts on them.
    rests: tuple[tuple[Claim, Verdict], ...] = ()
    certificates: tuple[Certificate, ...] = ()
    differs: Difference | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", verdict(self.verdict))

    @property
    def paper(self) -> str:
        """What it is called."""
        return paper_of(self.claim.id).name

    @property
    def ours(self) -> bool:
        """Whether no paper prints it: it is promised by this book."""
        return paper_of(self.claim.id).ours

    @property
    def against(self) -> list[Check]:
        """The checks on which the print fails."""
        return [c for c in decisive(self.checks) if c.about in ("printed", "content") and c.outcome is False]

    @property
    def lead(self) -> str:
        return "Under some readings:" if self.verdict == READING else "For instance:"

    @property
    def counterexample(self) -> str:
        """The failing checks in sentences: the ledger's own, with the numbers of this build; or, where fewer fail here
        than it speaks of, one of each.
        """
        instance, places = self.claim.instance or "", dict[str, str]()
        for number, check in enumerate(self.against, 1):
            end = "" if number == 1 else str(number)
            places |= {f"seen{end}": show_number(check.observed), f"said{end}": show_number(check.bound)}
        if instance and self.against and set(PLACE.findall(instance)) <= set(places):
            return instance.format(**places)
        return ". ".join(map(counterexample, self.against)) + "."

    @property
    def printed(self) -> str:
        """What the print says, in its own words where they are quoted."""
        return f"“{self.claim.quote}”" if self.claim.quote else self.claim.statement

    @property
    def text(self) -> str:
        """What one would send to an author."""
        said = [
            f"{self.paper}, {self.claim.where} ({self.verdict.words}; {self.claim.impact})",
            f"Printed: {self.printed}",
            f"Why: {self.claim.why}",
            f"{self.lead} {self.counterexample}",
            f"Instead: {self.claim.corrected}",
            f"(Private ranking, executable, version {version('dprank')}: {self.claim.id})",
        ]
        return "\n".join(textwrap.fill(line, 88, break_on_hyphens=False) for line in said)

    @property
    def tex(self) -> str:
        """The same for a LaTeX file, without packages."""
        head, body = self.text.replace("\n", " ").split(" Printed: ", 1)
        said = rf"\paragraph{{{latex(head)}}} Printed: {latex(body)}"
        return textwrap.fill(said, 88, break_on_hyphens=False, break_long_words=False)

    @property
    def certified(self) -> bool:
        """Whether a certificate shows where it fails."""
        return any(it.shows == "violated" for it in self.certificates)

    def row(self) -> dict[str, Any]:
        """For a table: what the ledger says, and the verdict of this build."""
        claim = self.claim
        keys = ("where", "kind", "statement", "quote", "runs", "why", "left_out", "corrected", "necessity", "impact")
        return (
            {"id": claim.id, "paper": self.paper, "verdict": self.verdict.key, "ours": claim.ours}
            | {key: getattr(claim, key) or "" for key in (*keys, "method", "chapter")}
            | {"certificates": " ".join(it.file for it in self.certificates)}
            | {"stands": "; ".join(it.stands for it in self.certificates)}
            | ({"differs": str(self.differs)} if self.differs else {})
        )


def entries(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    certificates: Mapping[str, Iterable[Certificate]] | None = None,
    differing: Mapping[str, Difference] | None = None,
) -> list[Entry]:
    """Every claim of the ledger with what a build recorded and its `certificates`, a paper after the other.

    `differing` are the claims that did not come out as the ledger says.
    """
    observed = {entry["claim"]: Record.from_json(entry) for entry in records}
    verdicts = {name: observed[name].verdict if name in observed else claim.verdict for name, claim in ledger.items()}
    rests: dict[str, list[tuple[Claim, Verdict]]] = {name: [] for name in ledger}
    for name, claim in ledger.items():
        for used in claim.uses:
            rests[used].append((claim, verdicts[name]))
    order = [*PAPERS, *sorted({paper_of(name).key for name in ledger} - PAPERS.keys())]
    return [
        Entry(
            claim,
            verdicts[name],
            observed[name].checks if name in observed else (),
            tuple(rests[name]),
            tuple((certificates or {}).get(name, ())),
            (differing or {}).get(name),
        )
        for name, claim in sorted(ledger.items(), key=lambda item: order.index(paper_of(item[0]).key))
    ]


def divided(held: list[Entry], wrong: list[Entry], rest: list[Entry]) -> str:
    """How many statements of a paper hold, how many stand in its errata, and what is said of the rest."""
    others = Counter(it.verdict for it in rest)
    verb = "stands" if len(wrong) == 1 else "stand"
    parts = [f"{counted(HOLDS, len(held))} as printed", f"{len(wrong)} {verb} below"]
    parts += [counted(it, others[it]) for it in ALL if others[it]]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(it: Verdict, number: int) -> str:
    """A number of claims and what is said of them."""
    return f"{number} {it.one if number == 1 else it.many}"


def ledger_files(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    certificates: Mapping[str, Iterable[Certificate]],
    differing: Mapping[str, Difference] | None = None,
) -> dict[str, bytes]:
    """The ledger for other programs, as JSON and CSV; where a claim differs, it has a column more."""
    rows = [entry.row() for entry in entries(ledger, records, certificates, differing)]
    return {
        "ledger.json": json.dumps(rows, indent=1, ensure_ascii=False).encode(),
        "ledger.csv": pd.DataFrame(rows).to_csv(index=False).encode(),
    }


class Scoreboard:
    """Every claim of the ledger with its verdict, as a file of records (of this build, or the committed ones) says."""

    def __init__(self, records: str, root: Path | None = None) -> None:
        root = root or find_root()
        content = json.loads((root / records).read_text(encoding="utf-8"))
        self.profile: str = content["profile"]
        ledger = load_ledger(root)
        self.differing = differing(ledger, content["records"], self.profile)
        self.entries = entries(ledger, content["records"], load_certificates(root), self.differing)
        self.uncovered = uncovered(root)

    def frame(self) -> pd.DataFrame:
        """One row a claim: ``id``, ``paper``, ``verdict``, ``where``, ``kind``, ``impact``, ``chapter`` and text."""
        return pd.DataFrame(entry.row() for entry in self.entries)

    def counts(self) -> pd.DataFrame:
        """Claims by paper (row) and verdict (column), with totals."""
        table = self._crossed("verdict", [*(it.key for it in ALL), DIFFERS])
        return table.rename(columns={it.key: it.words for it in ALL} | {"all": "claims"})

    def impacts(self) -> pd.DataFrame:
        """Claims that do not simply hold, by paper (row) and impact (column), with totals."""
        return self._crossed("impact", list(ALLOWED["impact"]))

    def methods(self) -> pd.DataFrame:
        """Claims by paper (row) and the method by which they are judged (column), with totals."""
        return self._crossed("method", list(ALLOWED["method"]))

    def coverage(self) -> pd.DataFrame:
        """How many claims of each verdict that an instance can show (column) have a certificate, by paper (row)."""
        rows = [
            {"paper": it.paper, "verdict": it.verdict.words, "certified": it.certified, "claims": 1}
            for it in self.entries
            if it.verdict.shown and not it.ours
        ]
        sums = pd.DataFrame(rows).pivot_table(
            index="paper", columns="verdict", aggfunc="sum", margins=True, margins_name="all", fill_value=0
        )
        table = sums["certified"].astype(str) + " of " + sums["claims"].astype(str)
        order = [it for it in (*names().values(), "all") if it in table.index]
        kinds = [it.words for it in ALL if it.shown and it.words in table]
        return table.loc[order, [*kinds, "all"]].rename_axis(index=None, columns=None)

    def standing(self) -> pd.DataFrame:
        """How the inequalities that certificates refute stand to the paper (column), by paper (row), with totals."""
        those = [(it.paper, one.stands) for it in self.entries for one in it.certificates if one.shows == "violated"]
        papers, stands = zip(*those, strict=True)
        table = pd.crosstab(pd.Series(papers), pd.Series(stands), margins=True, margins_name="all")
        order = [it for it in (*names().values(), "all") if it in table.index]
        table = table.reindex(index=order, columns=[*STANDS, "all"], fill_value=0)
        return table.rename_axis(index=None, columns=None)

    def without_certificate(self) -> Html:
        """The claims that have none though their verdict is of such a kind, with the reason."""
        those = [it for it in self.entries if it.claim.id in self.uncovered]
        return Html(fill("uncovered.html", entries=those, reasons=self.uncovered))

    def all_certificates(self) -> Html:
        """Every certificate, in the order of the papers, with what it shows."""
        papers: dict[str, list[Entry]] = {}
        for it in self.entries:
            if it.certificates:
                papers.setdefault(it.paper, []).append(it)
        return Html(fill("certificates.html", papers=papers))

    def _crossed(self, column: str, order: list[str]) -> pd.DataFrame:
        frame = self.frame()
        if column != "method":
            frame.loc[frame.id.isin(self.differing), column] = DIFFERS
        frame = frame[frame[column].isin(order)]
        table = pd.crosstab(frame.paper, frame[column])
        table = table[[it for it in order if it in table]].loc[[it for it in names().values() if it in table.index]]
        table.loc["all"] = table.sum()
        return table.assign(all=table.sum(axis=1)).rename_axis(index=None, columns=None)

    def claims(self) -> Html:
        """Every claim with its verdict, linked to its card."""
        papers: dict[str, list[Entry]] = {}
        for entry in self.entries:
            papers.setdefault(entry.paper, []).append(entry)
        frame = self.frame()
        choices = {
            "paper": list(papers),
            "kind": [it for it in ALLOWED["kind"] if it in set(frame.kind)],
            "verdict": [it.words for it in ALL if it in set(frame.verdict)],
            "impact": [it for it in ALLOWED["impact"] if it in set(frame.impact)],
        }
        return Html(fill("scoreboard.html", papers=papers, choices=choices, differing=self.differing))

    def errata(self, paper: str) -> Html:
        """What does not stand as printed in one paper: sorted by what comes of it, then as the paper has it."""
        order = ALLOWED["impact"]
        those = [it for it in self.entries if paper_of(it.claim.id).key == paper and not it.differs]
        wrong = [entry for entry in those if entry.verdict.wrong and entry.against]
        wrong.sort(key=lambda entry: order.index(entry.claim.impact or order[-1]))
        impacts = Counter(entry.claim.impact for entry in wrong)
        unsure = {name: it for name, it in self.differing.items() if paper_of(name).key == paper}
        shown = Counter(it.stands for entry in wrong for it in entry.certificates if it.shows == "violated")
        stands = {it: shown[it] for it in STANDS} if shown else {}
        gravest = {no: [it for it in wrong if it.claim.impact == impact] for impact, no in GRAVEST.items()}
        held = [it for it in those if it.verdict == HOLDS]
        rest = [it for it in those if it not in held and it not in wrong]
        return Html(
            fill(
                "errata.html",
                entries=wrong,
                impacts=impacts,
                stands=stands,
                differing=unsure,
                gravest=gravest,
                number=len(those),
                divided=divided(held, wrong, rest),
                held=held,
                asked=any(it.claim.page and it.claim.page.asked for it in those),
                results=[it for it in held if it.claim.kind in ("theorem", "lemma")],
                others=[it for it in held if it.claim.kind in ("definition", "algorithm", "figure", "table")],
            )
        )
