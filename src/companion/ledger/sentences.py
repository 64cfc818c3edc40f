"""What was read: the copies of the papers, and each of their sentences that asserts something.

A sentence stands behind one or more claims of the ledger, or in the list of what is not judged, with the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from companion.ledger.card import Html, fill
from companion.ledger.claim import Record
from companion.ledger.files import Claim, find_root, load_ledger
from companion.ledger.papers import COPIES, Copy, copies, names, paper_of

__all__ = ["REASONS", "Reading", "Sentence", "load_papers", "load_sentences", "sentence_file"]

FOLDER = "data/sentences"
#: Why a sentence is not judged.
REASONS = {
    "history": "who did what, and when",
    "motivation": "why one would want it",
    "related work": "what others did, without a number or a bound that could be held against ours",
    "plan": "what the paper does, or leaves to others",
    "notation": "a name is given, and nothing could be wrong with it",
    "procedure": "what its authors did, which no text can settle (ethics, hardware, funding)",
}


@dataclass(frozen=True)
class Sentence:
    """A sentence of a paper: its `place`, what it `says` in our words, and the `claims` that judge it, or the reason
    why it is `not_judged`.
    """

    paper: str
    place: str
    says: str
    claims: tuple[str, ...] = ()
    not_judged: str = ""

    def row(self) -> dict[str, str]:
        """For a table."""
        judged = {"claims": " ".join(self.claims), "not judged": self.not_judged}
        return {"paper": paper_of(self.paper).name, "place": self.place, "says": self.says} | judged


def load_sentences(root: Path, ledger: Mapping[str, Claim]) -> list[Sentence]:
    """Sentences of `data/sentences/PAPER.yml` or `PAPER_PART.yml`, a paper after the other; none without such a folder.

    A ValueError names, in one line, file, place, key, value and what is allowed; and a claim of a paper that no
    sentence names, unless it is marked as ours.
    """
    found: dict[str, list[Sentence]] = {}
    for path in sorted((root / FOLDER).glob("*.yml")):
        name, paper, entries = path.relative_to(root).as_posix(), path.stem.partition("_")[0], _yaml(path)
        if not isinstance(entries, list):
            raise ValueError(f"{name}: a {type(entries).__name__} at the top; allowed: a list of sentences")
        those = [_sentence(name, paper, position, entry, ledger) for position, entry in enumerate(entries, 1)]
        found.setdefault(paper, []).extend(those)
    named = {claim for those in found.values() for sentence in those for claim in sentence.claims}
    for claim in ledger.values():
        if paper_of(claim.id).key in found and claim.id not in named and not claim.ours:
            raise ValueError(f"{FOLDER}: {claim.id}: named by no sentence; allowed: one that does, or ours: true")
    order = sorted(found, key=lambda it: (*names(), it).index(it))
    return [sentence for paper in order for sentence in found[paper]]


def _yaml(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _sentence(file: str, paper: str, position: int, entry: object, ledger: Mapping[str, Claim]) -> Sentence:
    """Entry number `position` of `file`, validated."""

    def refuse(key: str, value: object, allowed: str) -> ValueError:
        label = entry.get("place", f"entry {position}") if isinstance(entry, Mapping) else f"entry {position}"
        return ValueError(f"{file}: {label}: {key}: {value!r}; allowed: {allowed}")

    if not isinstance(entry, Mapping):
        raise refuse("entry", entry, "a mapping with place, says, and claims or not_judged")
    for key in entry:
        if key not in ("place", "says", "claims", "not_judged"):
            raise refuse("key", key, "place, says, claims, not_judged")
    for key in ("place", "says"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise refuse(key, entry.get(key), "text")
    claims, reason = entry.get("claims"), entry.get("not_judged")
    if (claims is None) == (reason is None):
        raise refuse("claims", claims, "a list of ids, or not_judged: one of the two")
    if reason is not None and reason not in REASONS:
        raise refuse("not_judged", reason, ", ".join(REASONS))
    if claims is not None and (not isinstance(claims, list) or not claims):
        raise refuse("claims", claims, "a list of ids")
    for claim in claims or ():
        if claim not in ledger:
            raise refuse("claims", claim, "ids of the ledger")
    return Sentence(paper, entry["place"].strip(), entry["says"].strip(), tuple(claims or ()), reason or "")


def sentence_file(root: Path, ledger: Mapping[str, Claim]) -> dict[str, bytes]:
    """The sentences for other programs, as CSV; nothing where a book has none."""
    rows = [it.row() for it in load_sentences(root, ledger)]
    return {"sentences.csv": pd.DataFrame(rows).to_csv(index=False).encode()} if rows else {}


def load_papers(root: Path, ledger: Mapping[str, Claim]) -> dict[str, Copy]:
    """The copies that were read, by paper, of `data/papers.yml`; a ValueError says what is wrong in it."""
    papers = copies(root)
    for paper, copy in papers.items():
        if unknown := [claim for source in copy.sources for claim in source.claims if claim not in ledger]:
            raise ValueError(f"{COPIES}: {paper}: sources: {unknown[0]!r}; allowed: ids of the ledger")
    return papers


class Reading:
    """What was read of the papers, with the verdicts of a file of records, for the page that says so."""

    def __init__(self, records: str, root: Path | None = None) -> None:
        root = root or find_root()
        self.ledger = load_ledger(root)
        content = json.loads((root / records).read_text(encoding="utf-8"))
        self.verdicts = {name: claim.verdict for name, claim in self.ledger.items()}
        self.verdicts |= {it.claim: it.verdict for it in map(Record.from_json, content["records"])}
        self.sentences = load_sentences(root, self.ledger)
        self.papers = load_papers(root, self.ledger)

    def copies(self) -> Html:
        """Of each paper: identifier, date, digest of the text, what it lacks; and the authors' own files."""
        return Html(fill("copies.html", papers=self.papers, names=names(), ledger=self.ledger))

    def counts(self) -> pd.DataFrame:
        """Sentences by paper: all, those that a claim judges, and the others by reason."""
        rows = Counter((it.paper, it.not_judged or "judged") for it in self.sentences)
        papers = [it for it in names() if any(paper == it for paper, _ in rows)]
        table = pd.DataFrame({kind: [rows[paper, kind] for paper in papers] for kind in ("judged", *REASONS)})
        table.index = pd.Index([names()[it] for it in papers])
        table.loc["all"] = table.sum()
        table.insert(0, "sentences", table.sum(axis=1))
        return table

    def all(self) -> Html:
        """Every sentence, a paper after the other, with links to the cards of its claims."""
        papers: dict[str, list[Sentence]] = {}
        for it in self.sentences:
            papers.setdefault(it.paper, []).append(it)
        said = {"names": names(), "ledger": self.ledger, "verdicts": self.verdicts, "reasons": REASONS}
        return Html(fill("sentences.html", papers=papers, **said))

    def not_as_printed(self) -> Html:
        """The claims of which what is run is not word for word what the sentence names, and what is."""
        return Html(fill("runs.html", claims=[it for it in self.ledger.values() if it.runs]))
