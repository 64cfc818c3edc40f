"""The numbers and the picture of the front page, from the records of a build."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from companion.ledger.card import anchor, fill, show_number
from companion.ledger.claim import Check
from companion.ledger.files import Claim
from companion.ledger.history import load_history, told
from companion.ledger.judge import Difference
from companion.ledger.scoreboard import entries
from companion.ledger.verdicts import HOLDS, UNCHECKED

#: Longest bar of the picture, as a multiple of what is promised.
LONGEST = 3.0


def substitutions(
    root: Path,
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    figures: Mapping[str, bytes],
    differing: Mapping[str, Difference] | None = None,
) -> dict[str, str]:
    """What stands in braces on the pages of `book/`: counts, numbers of checks and the picture.

    `book/front.yml` names the checks: the id of a claim, the beginning of what is checked, and ``observed`` or
    ``bound``. A ValueError names one that the records do not have, or have with several values. The number of a claim
    that differs from the ledger is red, and leads to its card.
    """
    if not (named := _named(root)):
        return {}
    records = list(records)
    checks = {entry["claim"]: [Check.from_json(check) for check in entry["checks"]] for entry in records}
    found = counts(ledger, records, differing)
    for name, (claim, what, field) in named["numbers"].items():
        fitting = [check for check in checks.get(claim, ()) if check.what.startswith(what)]
        exact = [check for check in fitting if check.what == what]
        if len({getattr(check, field) for check in exact or fitting}) != 1:
            raise ValueError(f"book/front.yml: {name}: {claim}, {what!r}; allowed: what one check of the records says")
        found[name] = show_number(getattr((exact or fitting)[0], field))
        if differing and claim in differing:
            href = f"../notebooks/{ledger[claim].chapter}.html#{anchor(claim)}"
            found[name] = f'<a class="differs-number" href="{href}">{found[name]} (differs)</a>'
    cited = citation(root)
    cited["bibtex"] = fill("cite.html", bibtex=cited["bibtex"])
    changes = told(load_history(root), ledger)
    return found | cited | {"changes": changes, "promises": promises(figures[named["picture"]])}


def _named(root: Path) -> dict[str, Any]:
    """What `book/front.yml` names, if it is there."""
    path = root / "book" / "front.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}


def shared_picture(root: Path, figures: Mapping[str, bytes]) -> dict[str, bytes]:
    """The figure that stands for the whole book where somebody shares it: that of the front page."""
    named = _named(root)
    return {"book/share.svg": figures[named["picture"].replace(".csv", ".svg")]} if named else {}


#: What a reader of the paper puts right by reading on.
SLIP = "slip of the pen"


def counts(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    differing: Mapping[str, Difference] | None = None,
) -> dict[str, str]:
    """How many claims of the papers there are, and how they stand, but for those that differ from the ledger."""
    stated = [it for it in entries(ledger, records, None, differing) if not it.ours]
    ours = [it for it in stated if not it.differs]
    numbers = {
        "claims": len(stated),
        "hold": sum(it.verdict == HOLDS for it in ours),
        "slips": sum(it.claim.impact == SLIP for it in ours),
        "wrong": sum(it.claim.impact not in (None, SLIP) for it in ours),
        "unchecked": sum(it.verdict == UNCHECKED for it in ours),
        "broken": sum(it.claim.impact == "privacy broken" for it in ours),
    }
    return {name: str(number) for name, number in numbers.items()}


def announced(page: bytes, differing: Mapping[str, Difference]) -> bytes:
    """The Markdown of the front page with a banner under its heading, where claims differ from the ledger."""
    if not differing:
        return page
    several = len(differing) > 1
    said = "Where this page counts what holds and what needs a change, "
    said += "they are not counted." if several else "it is not counted."
    banner = fill("differs.html", differing=differing, up="../notebooks/", said=said).replace("\n", "")
    title, _, rest = page.decode().partition("\n")
    return f"{title}\n\n{banner}\n{rest}".encode()


def shown_cells(root: Path, pages: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The HTML, on one line, of cells of executed `pages` that `book/front.yml` names, of which none is empty."""
    path = root / "book" / "front.yml"
    named = yaml.safe_load(path.read_text(encoding="utf-8")).get("cells", {}) if path.exists() else {}
    found = {}
    for name, (page, cell_id) in named.items():
        outputs = [it for cell in pages[page]["cells"] if cell["id"] == cell_id for it in cell["outputs"]]
        found[name] = "".join(it["data"].get("text/html", "") for it in outputs if "data" in it).replace("\n", "")
        if not found[name]:
            raise ValueError(f"book/front.yml: {name}: {cell_id} of {page}; allowed: a cell that shows HTML")
    return found


def promises(table: bytes) -> str:
    """Bars of what the mechanisms lose as printed, over what their papers promise, and that; `table` is of
    ``audit-picture``.
    """
    frame = pd.read_csv(io.BytesIO(table))
    frame = frame[frame.calibration == "as printed"].sort_values("share", ascending=False)
    rows = [
        {
            "name": row.mechanism,
            "paper": row.paper,
            "promised": str(Fraction(row.claimed).limit_denominator(100)),
            "share": f"{row.share:.2g}".replace("inf", "∞"),
            "width": 100 * min(row.share, LONGEST) / LONGEST,
            "more": row.share > 1 + 1e-9,
        }
        for row in frame.itertuples()
    ]
    return fill("promises.html", rows=rows, more=sum(row["more"] for row in rows), one=100 / LONGEST).replace("\n", "")


def citation(root: Path) -> dict[str, str]:
    """The version, its authors, and how to cite it: of `CITATION.cff`, for BibTeX."""
    path = root / "CITATION.cff"
    if not path.exists():
        return {"version": "", "bibtex": "", "author": ""}
    cff = yaml.safe_load(path.read_text(encoding="utf-8"))
    authors = [author["name"] for author in cff["authors"]]
    fields = {
        "author": " and ".join(f"{{{author}}}" for author in authors),
        "title": cff["title"],
        "version": str(cff["version"]),
        "year": str(cff["date-released"])[:4],
    }
    lines = ",\n".join(f"  {key} = {{{value}}}" for key, value in fields.items())
    bibtex = f"@software{{private_ranking,\n{lines}\n}}"
    return {"version": fields["version"], "bibtex": bibtex, "author": ", ".join(authors)}
