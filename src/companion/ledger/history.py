"""Every verdict that the ledger has had, and why one changed: nobody changes a verdict silently.

`data/history.yml` has a row for each claim's first verdict, and one for each change, with its reason; also for a claim
that was renamed or taken out. Rows are added at its end.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from companion.ledger.card import fill
from companion.ledger.files import Claim
from companion.ledger.papers import names, paper_of
from companion.ledger.verdicts import PENDING, VERDICTS, Verdict, verdict

HISTORY = "data/history.yml"
KEYS = ("date", "version", "claim", "formerly", "was", "now", "why")


@dataclass(frozen=True, kw_only=True)
class Change:
    """From `date` on, in `version`, the verdict on `claim`, once named `formerly`, is no more what it `was` but `now`.

    A first verdict was nothing before; of a claim that was taken out nothing is left now.
    """

    date: str
    version: str
    claim: str
    formerly: str | None = None
    was: Verdict | None = None
    now: Verdict | None = None
    why: str | None = None

    def __post_init__(self) -> None:
        for when in ("was", "now"):
            if key := getattr(self, when):
                object.__setattr__(self, when, verdict(key))

    @property
    def paper(self) -> str:
        """The file of the ledger that has the claim."""
        return paper_of(self.claim).key

    @property
    def errs(self) -> bool:
        """Whether from then on it does not stand as printed."""
        return bool(self.now and self.now.wrong)

    def __str__(self) -> str:
        values = {key: getattr(self, key) for key in KEYS}
        quoted = ("claim", "formerly", "why")
        shown = {k: json.dumps(v, ensure_ascii=False) if k in quoted else v for k, v in values.items() if v}
        return "- {" + ", ".join(f"{key}: {value}" for key, value in shown.items()) + "}"


def load_history(root: Path) -> list[Change]:
    """All changes under `root`, the oldest first; none where there is no record of them.

    A ValueError names a row that does not follow from those before it.
    """
    path = root / HISTORY
    try:
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or []
    except FileNotFoundError:
        return []
    except yaml.YAMLError as error:
        raise ValueError(f"{HISTORY}: not YAML: {' '.join(str(error).split())}") from None
    changes: list[Change] = []
    verdicts: dict[str, Verdict] = {}
    for place, row in enumerate(rows, 1):
        if problem := _problem(row, changes[-1].date if changes else "", verdicts):
            raise ValueError(f"{HISTORY}: row {place}, {row.get('claim')}: {problem}")
        changes.append(Change(**row | {"date": str(row["date"])}))
        _follow(verdicts, changes[-1])
    return changes


def _follow(verdicts: dict[str, Verdict], change: Change) -> None:
    """Let the last verdicts be those after `change`."""
    verdicts.pop(change.formerly or change.claim, None)
    verdicts |= {change.claim: change.now} if change.now else {}


def _problem(row: Mapping[str, object], before: str, verdicts: Mapping[str, str]) -> str:
    """What is wrong with a row, given the last date and the verdicts so far."""
    if unknown := set(row) - set(KEYS):
        return f"unknown key {min(unknown)!r}; allowed: {', '.join(KEYS)}"
    if missing := {"date", "version", "claim"} - set(row):
        return f"{min(missing)}: not there"
    if not isinstance(row["date"], datetime.date) or str(row["date"]) < before:
        return f"date: {row['date']}; allowed: a day, {before or 'any'} or later"
    was, now, formerly = row.get("was"), row.get("now"), row.get("formerly")
    allowed = [it.key for it in VERDICTS if it != PENDING]
    if now not in (*allowed, None) or (was, now) == (None, None):
        return f"now: {now!r}; allowed: {', '.join(allowed)}, or nothing for a claim that was taken out"
    if was != (had := verdicts.get(str(formerly or row["claim"]))):
        return f"was: {was!r}; allowed: {had!r}, as the rows before it say"
    if formerly and row["claim"] in verdicts:
        return f"formerly: {formerly!r}; allowed: a new name that no other claim has"
    if (was and was == now and not formerly) or (was and was != now and not row.get("why")):
        return "why: due where a verdict changes, and only there"
    return ""


def standing(changes: Iterable[Change]) -> dict[str, Verdict]:
    """The last verdict on each claim that is there."""
    verdicts: dict[str, Verdict] = {}
    for change in changes:
        _follow(verdicts, change)
    return verdicts


def due(ledger: Mapping[str, Claim], changes: Iterable[Change], date: str = "", version: str = "") -> Iterator[Change]:
    """The rows, without reasons, that the ledger lacks in its history."""
    last = standing(changes)
    judged = {name: claim.verdict for name, claim in ledger.items() if claim.verdict != PENDING}
    for name in [*judged, *(last.keys() - judged.keys())]:
        was, now = last.get(name), judged.get(name)
        if was != now:
            yield Change(date=date, version=version, claim=name, was=was, now=now)


def unrecorded(root: Path, ledger: Mapping[str, Claim]) -> list[str]:
    """One line for each verdict of the ledger that is not the last one of its history, where a history is kept."""
    if not (root / HISTORY).exists():
        return []
    try:
        rows = list(due(ledger, load_history(root)))
    except ValueError as error:
        return [str(error)]
    return [
        f"{it.claim}: {it.now or 'not there'} in the ledger, {it.was or 'not there'} in {HISTORY}; "
        "`companion history --update` adds a row"
        for it in rows
    ]


def record(root: Path, ledger: Mapping[str, Claim], version: str, why: str = "", formerly: str = "") -> list[Change]:
    """Add today's rows to the history, and say which; `why` is due where a verdict changed.

    With `formerly`, the one claim that is new is the one that had this name.
    """
    changes = load_history(root)
    new = list(due(ledger, changes, datetime.date.today().isoformat(), version))
    if formerly:
        new = _renamed(new, formerly)
    if not why and (changed := [it.claim for it in new if it.was and it.was != it.now]):
        raise ValueError(f"{changed[0]}: its verdict changed; --why says for what reason")
    new = [replace(it, why=why) if it.was and it.was != it.now else it for it in new]
    if new:
        path = root / HISTORY
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(text + "".join(f"{it}\n" for it in new), encoding="utf-8")
    return new


def _renamed(new: Iterable[Change], formerly: str) -> list[Change]:
    """One row for the claim that went and the one that came."""
    gone = [it for it in new if it.claim == formerly and not it.now]
    came = [it for it in new if not it.was]
    if len(gone) != 1 or len(came) != 1:
        raise ValueError(f"--formerly {formerly}: allowed: the id of a claim that went where one claim came")
    row = replace(came[0], formerly=formerly, was=gone[0].was)
    return [row if it is came[0] else it for it in new if it is not gone[0]]


def told(changes: Iterable[Change], ledger: Mapping[str, Claim]) -> str:
    """The page of all changes, the newest version first, as HTML."""
    versions: dict[str, dict[str, list[Change]]] = {}
    for change in changes:
        kind = "changed" if change.was else "first"
        versions.setdefault(change.version, {"changed": [], "first": []})[kind].append(change)
    for kinds in versions.values():
        kinds["changed"].reverse()
    stems = {it.paper for kinds in versions.values() for rows in kinds.values() for it in rows}
    papers = {stem: name for stem, name in names().items() if stem in stems}
    return fill("changes.html", versions=dict(reversed(versions.items())), ledger=ledger, papers=papers).replace(
        "\n", ""
    )


def erroneous(changes: Iterable[Change]) -> dict[str, list[Change]]:
    """The changes of each claim that once did not stand as printed, by its name today."""
    by_claim: dict[str, list[Change]] = {}
    for change in changes:
        rows = by_claim.pop(change.formerly or change.claim, [])
        by_claim[change.claim] = [*rows, change]
    return {name: rows for name, rows in by_claim.items() if any(it.errs for it in rows)}
