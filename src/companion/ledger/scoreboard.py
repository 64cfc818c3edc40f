"""The scoreboard and the errata: tables made of the ledger and of what the chapters recorded."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from companion.ledger.card import fill
from companion.ledger.claim import Record
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
    """Every claim of the ledger with its verdict, as a file of records (of this build, or the committed ones) says."""

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

    def claims(self) -> _Html:
        """Every claim with its verdict, linked to its card where it has one."""
        rows = [(claim, self.verdict(claim), claim.id in self.records) for claim in self.ledger.values()]
        return _Html(fill("scoreboard.html", rows=rows))

    def errata(self) -> _Html:
        """For every printed statement that does not stand as it is: the decisive checks, and what holds instead."""
        entries = []
        for claim in self.ledger.values():
            if claim.id not in self.records or (verdict := self.verdict(claim)) == "holds":
                continue
            against = [c for c in self.records[claim.id] if c.about in ("printed", "content") and c.outcome is False]
            some = verdict == "underspecified" and any(check.reading for check in against)
            entries.append((claim, verdict, "Under some readings it fails:" if some else "What fails:", against))
        return _Html(fill("errata.html", entries=entries, shown=SHOWN))


class _Html(str):
    """HTML that a notebook shows as such."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": str(self), "text/plain": f"{len(self)} characters of HTML"}
