"""The scoreboard and the errata: tables made of the ledger and of what the chapters recorded."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pandas as pd

from companion.ledger.card import anchor, show_number
from companion.ledger.claim import RELATIONS, Check, Record
from companion.ledger.files import VERDICTS, Claim, find_root, load_ledger

#: Whose claims the ledger holds, by the file stem: four papers', and our own.
PAPERS = {
    "cai2025": "Cai et al. (2025)",
    "busafekete2021": "Busa-Fekete et al. (2021)",
    "qiao2021": "Qiao et al. (2021)",
    "alabi2022": "Alabi et al. (2022)",
    "audit": "This book's own promises",
}
#: Failing checks that the errata quote of one claim.
SHOWN = 3


class Scoreboard:
    """Every claim of the ledger with its verdict, as the records say.

    Parameters
    ----------
    records : str
        A file of records, relative to the root of the book: of this build, or the committed ones.
    """

    def __init__(self, records: str) -> None:
        root = find_root()
        content = json.loads((root / records).read_text(encoding="utf-8"))
        self.profile: str = content["profile"]
        self.ledger: dict[str, Claim] = load_ledger(root)
        self.records = {entry["claim"]: Record.from_json(entry) for entry in content["records"]}

    def verdict(self, claim: Claim) -> str:
        """What the checks of this claim say; without checks, what the ledger says of why there are none."""
        return self.records[claim.id].verdict if claim.id in self.records else claim.verdict

    def frame(self) -> pd.DataFrame:
        """One row a claim: ``paper``, ``id``, ``kind``, ``chapter``, ``verdict``."""
        return pd.DataFrame(
            {
                "paper": PAPERS.get(claim.id.split(":")[0], claim.id.split(":")[0]),
                "id": claim.id,
                "kind": claim.kind,
                "chapter": claim.chapter,
                "verdict": self.verdict(claim),
            }
            for claim in self.ledger.values()
        )

    def counts(self) -> pd.DataFrame:
        """Claims by paper (row) and verdict (column), with totals."""
        frame = self.frame()
        order = [v for v in (*VERDICTS, "undecided here") if v in set(frame.verdict)]
        papers = [paper for paper in PAPERS.values() if paper in set(frame.paper)]
        table = pd.crosstab(frame.paper, frame.verdict)[order].loc[papers]
        table.loc["all"] = table.sum()
        return table.assign(claims=table.sum(axis=1)).rename_axis(index=None, columns=None)

    def settled(self) -> _Html:
        """The claims that have a verdict, each linked to its card."""
        rows = [self._row(c) for c in self.ledger.values() if c.id in self.records or c.verdict == "unchecked"]
        return _Html(_table(rows))

    def pending(self) -> _Html:
        """The claims that wait for their chapter, folded up by paper."""
        blocks = []
        for stem, paper in PAPERS.items():
            claims = [c for c in self.ledger.values() if c.id.startswith(f"{stem}:") and self.verdict(c) == "pending"]
            if claims:
                summary = f"<summary>{escape(paper)}: {len(claims)} pending</summary>"
                blocks.append(f'<details class="pending">{summary}{_table([self._row(c) for c in claims])}</details>')
        return _Html("\n".join(blocks))

    def errata(self) -> _Html:
        """For every printed statement that does not stand as it is: the decisive check, and what holds instead."""
        blocks = []
        for claim in self.ledger.values():
            if claim.id not in self.records or (verdict := self.verdict(claim)) == "holds":
                continue
            checks = self.records[claim.id].checks
            against = [c for c in checks if c.about in ("printed", "content") and c.outcome is False]
            reasons = "".join(f"<li>{escape(_sentence(c))}</li>" for c in against[:SHOWN])
            if len(against) > SHOWN:
                more = len(against) - SHOWN
                reasons += f"<li>and {more} more check{'s' * (more > 1)}, on the card</li>"
            readings = {c.reading for c in against if c.reading}
            lead = "Under some readings it fails:" if readings and verdict == "underspecified" else "What fails:"
            blocks.append(
                f'<section class="erratum claim claim-verdict-{verdict.split()[0]}">'
                f'<p class="claim-head">{_link(claim)} <span class="claim-where">{escape(claim.where)}</span>'
                f'<span class="claim-badge">{escape(verdict)}</span></p>'
                f"<p><strong>Printed:</strong> {escape(claim.statement)}</p>"
                f"<p><strong>{lead}</strong></p><ul>{reasons}</ul>"
                f'<p class="claim-corrected"><strong>Instead:</strong> {escape(claim.corrected or "")}</p></section>'
            )
        return _Html("\n".join(blocks))

    def _row(self, claim: Claim) -> str:
        verdict = self.verdict(claim)
        name = _link(claim) if claim.id in self.records else f"<code>{escape(claim.id)}</code>"
        note = claim.reason or claim.statement
        badge = f'<span class="claim-badge">{escape(verdict)}</span>'
        return (
            f'<tr><td>{name}<span class="claim-about">{escape(claim.where)}</span></td><td>{escape(note)}</td>'
            f'<td class="claim-verdict-{verdict.split()[0]}">{badge}</td></tr>'
        )


class _Html(str):
    """HTML that a notebook shows as such."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": str(self), "text/plain": f"{len(self)} characters of HTML"}


def _table(rows: list[str]) -> str:
    head = "<thead><tr><th>claim</th><th>statement</th><th>verdict</th></tr></thead>"
    return f'<div class="scoreboard"><table>{head}<tbody>{"".join(rows)}</tbody></table></div>'


def _link(claim: Claim) -> str:
    return f'<a href="{escape(claim.chapter)}.html#{anchor(claim.id)}"><code>{escape(claim.id)}</code></a>'


def _sentence(check: Check) -> str:
    reading = f" ({check.reading})" if check.reading else ""
    error = f" ± {show_number(check.error)}" if check.error else ""
    bound = f"{RELATIONS[check.relation]} {show_number(check.bound)}"
    return f"{check.what}{reading} is {show_number(check.observed)}{error}, and should be {bound}"
