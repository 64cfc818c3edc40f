"""The ledger of claims: what the papers state, what a chapter observed, and the verdict that follows.

A chapter calls `record` with the `Check`\\ s it made; the record travels in the output's metadata. The build derives
the verdict from the checks (`derive`) and compares it with the ledger (`judge`). Nobody types a verdict but in the
ledger, and there the build holds it against the observation.
"""

from __future__ import annotations

import difflib
import html
import math
import numbers
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

__all__ = [
    "Check",
    "Claim",
    "Record",
    "anchor",
    "card",
    "decisive",
    "derive",
    "find_root",
    "judge",
    "load_ledger",
    "record",
    "summary",
]

UNDECIDED = "undecided here"
VERDICTS = ("pending", "holds", "constants", "refuted", "vacuous", "underspecified", "unchecked")
NEEDS_CORRECTION = ("constants", "refuted", "vacuous", "underspecified")
ALLOWED = {
    "kind": ("definition", "condition", "algorithm", "theorem", "lemma", "proof", "figure", "table", "sentence"),
    "verdict": VERDICTS,
    "method": ("exact", "bound", "simulation", "argument"),
}
RELATIONS = {"<=": "≤", ">=": "≥", "==": "=", "<": "<", ">": ">"}
ABOUT = ("printed", "supplied", "content", "corrected")


def find_root(start: Path | None = None) -> Path:
    """Root of the book: `COMPANION_ROOT`, or the nearest folder at or above `start` that holds `data/claims`.

    Parameters
    ----------
    start : Path, optional
        Where to begin; the working directory by default.

    Raises
    ------
    ValueError
        If no such folder is found.
    """
    if start is None and "COMPANION_ROOT" in os.environ:
        return Path(os.environ["COMPANION_ROOT"])
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "data" / "claims").is_dir():
            return folder
    raise ValueError(f"no book at or above {start}: a folder that holds data/claims is needed")


# --- the ledger ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One entry of the ledger; see `data/claims/` for the meaning of the keys."""

    id: str
    where: str
    kind: str
    statement: str
    chapter: str
    verdict: str
    method: str | None = None
    corrected: str | None = None
    tolerance: float = 1e-9
    reason: str | None = None


def load_ledger(root: Path) -> dict[str, Claim]:
    """Read and validate `data/claims/*.yml` under `root`.

    Returns
    -------
    dict of str to Claim
        By id, sorted by file and then as written.

    Raises
    ------
    ValueError
        One line naming file, id, key, value and what is allowed.
    """
    ledger: dict[str, Claim] = {}
    for path in sorted((root / "data" / "claims").glob("*.yml")):
        name = path.relative_to(root).as_posix()
        try:
            entries = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise ValueError(f"{name}: not YAML: {' '.join(str(error).split())}") from None
        if entries is not None and not isinstance(entries, list):
            raise ValueError(f"{name}: a {type(entries).__name__} at the top; allowed: a list of claims")
        for position, entry in enumerate(entries or [], 1):
            claim = _claim(name, path.stem, position, entry)
            if claim.id in ledger:
                raise ValueError(f"{name}: {claim.id}: id: used twice; allowed: once in the ledger")
            ledger[claim.id] = claim
    return ledger


def _claim(file: str, paper: str, position: int, entry: object) -> Claim:
    """Entry number `position` of `file`, validated."""
    known = {field.name: field for field in fields(Claim)}

    def refuse(key: str, value: object, allowed: str) -> ValueError:
        label = entry.get("id", f"entry {position}") if isinstance(entry, Mapping) else f"entry {position}"
        return ValueError(f"{file}: {label}: {key}: {value!r}; allowed: {allowed}")

    if not isinstance(entry, Mapping):
        raise refuse("entry", entry, f"a mapping with the keys {', '.join(known)}")
    if unknown := [key for key in entry if key not in known]:
        raise refuse(f"unknown key {unknown[0]!r}", entry[unknown[0]], ", ".join(known))
    for key, field in known.items():
        if key not in entry:
            if field.default is MISSING:
                raise refuse(key, None, "text (the key is missing)")
            continue
        value = entry[key]
        if key == "tolerance":
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
                raise refuse(key, value, "a number in [0, 1)")
        elif not isinstance(value, str) or not value.strip() or "\n" in value.strip():
            raise refuse(key, value, "one line of text")
        elif key in ALLOWED and value not in ALLOWED[key]:
            raise refuse(key, value, ", ".join(ALLOWED[key]))
    if not re.fullmatch(rf"{re.escape(paper)}(:[A-Za-z0-9._-]+)+", entry["id"]):
        raise refuse("id", entry["id"], f"{paper}:<name>, of letters, digits, '.', '-' and ':'")
    verdict = entry["verdict"]
    if verdict not in ("pending", "unchecked") and "method" not in entry:
        raise refuse("method", None, f"{', '.join(ALLOWED['method'])} (due when the verdict is {verdict!r})")
    if verdict in NEEDS_CORRECTION and "corrected" not in entry:
        raise refuse("corrected", None, f"text (due when the verdict is {verdict!r})")
    if verdict == "unchecked" and "reason" not in entry:
        raise refuse("reason", None, "text (due when the verdict is 'unchecked')")
    values: dict[str, Any] = {k: v.strip() if isinstance(v, str) else v for k, v in entry.items()}
    return Claim(**values)


# --- what a chapter observed -----------------------------------------------------------------------------------------


def _number(field: str, value: Any) -> float:
    """`value` as a plain int or float (numpy scalars included); NaN is refused."""
    try:
        plain = int(value) if isinstance(value, numbers.Integral) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{field}: {value!r}; allowed: a number") from None
    if math.isnan(plain):
        raise ValueError(f"{field}: {value!r}; allowed: any number but NaN")
    return plain


def _encode(value: float) -> float | str:
    """JSON has no infinity."""
    return str(value) if math.isinf(value) else value


@dataclass(frozen=True)
class Check:
    """One comparison of an observed quantity with what a statement says.

    Parameters
    ----------
    what : str
        The quantity, in words, with what it was computed on.
    observed, bound : float
        What we found, and what the statement compares it with; infinities are allowed, NaN is not.
    relation : {'<=', '>=', '==', '<', '>'}
        What the statement says: ``observed relation bound``.
    about : {'printed', 'supplied', 'content', 'corrected'}
        The statement as printed; the statement with constants or conditions supplied by us; whether the statement
        says anything where it is used; our corrected statement.
    reading : str
        For ``about='printed'``: which reading of an ambiguous statement.
    error : float
        Half-width of the interval ``observed +- error`` that is certain (or a confidence interval).

    Raises
    ------
    ValueError
        Naming the field, its value and what is allowed.
    """

    what: str
    observed: float
    relation: str
    bound: float
    about: str = "printed"
    reading: str = ""
    error: float = 0.0

    def __post_init__(self) -> None:
        for field in ("observed", "bound", "error"):
            object.__setattr__(self, field, _number(field, getattr(self, field)))
        for field, allowed in (("relation", RELATIONS), ("about", ABOUT)):
            if getattr(self, field) not in allowed:
                raise ValueError(f"{field}: {getattr(self, field)!r}; allowed: {', '.join(allowed)}")
        if not 0 <= self.error < math.inf:
            raise ValueError(f"error: {self.error!r}; allowed: a finite number >= 0")
        if self.reading and self.about != "printed":
            raise ValueError(f"reading: {self.reading!r}; allowed: only with about='printed', got {self.about!r}")

    @property
    def outcome(self) -> bool | None:
        """True if all of ``observed +- error`` satisfies the relation, False if none of it does, else None.

        Equality is true when the bound lies within the error, and false otherwise.
        """
        low, high, bound = self.observed - self.error, self.observed + self.error, self.bound
        match self.relation:
            case "==":
                return low <= bound <= high
            case "<=":
                always, never = high <= bound, low > bound
            case "<":
                always, never = high < bound, low >= bound
            case ">=":
                always, never = low >= bound, high < bound
            case _:
                always, never = low > bound, high <= bound
        return True if always else False if never else None

    def to_json(self) -> dict[str, Any]:
        """Plain Python for JSON; infinities become ``'inf'`` and ``'-inf'``."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {name: _encode(values[name]) for name in ("observed", "bound", "error")}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Check:
        """Inverse of `to_json`."""
        plain: dict[str, Any] = {key: float(v) if v in ("inf", "-inf") else v for key, v in values.items()}
        return cls(**plain)

    def __str__(self) -> str:
        error = f" +- {self.error:.6g}" if self.error else ""
        reading = f", {self.reading}" if self.reading else ""
        return f"{self.what} ({self.about}{reading}): {self.observed:.6g}{error} {self.relation} {self.bound:.6g}"


def derive(checks: Iterable[Check]) -> str:
    """Verdict on the printed statement that follows from `checks`.

    Readings of the printed statement are true (all their checks are), false (one check is), or undecided.

    ================================  ==================================================================
    readings                          verdict
    ================================  ==================================================================
    one true, one false               ``underspecified``
    otherwise one undecided           ``undecided here``
    all true                          ``holds``; ``vacuous`` if a check of its content is false
    all false                         ``refuted``; ``constants`` if checks with supplied constants are true
    ================================  ==================================================================

    Parameters
    ----------
    checks : iterable of Check
        At least one of them about the printed statement; those about a corrected statement play no part.

    Raises
    ------
    ValueError
        If no check is about the printed statement.
    """
    outcomes: dict[str, dict[str, list[bool | None]]] = {}
    for check in checks:
        outcomes.setdefault(check.about, {}).setdefault(check.reading, []).append(check.outcome)
    if "printed" not in outcomes:
        raise ValueError(f"checks: about {sorted(outcomes)} only; allowed: at least one about 'printed'")
    readings = {_all(reading) for reading in outcomes["printed"].values()}
    supplied = _all(outcomes.get("supplied", {}).get("", [False]))
    content = _all(outcomes.get("content", {}).get("", [True]))
    if readings >= {True, False}:
        return "underspecified"
    if None in readings:
        return UNDECIDED
    if True in readings:
        return {True: "holds", False: "vacuous", None: UNDECIDED}[content]
    return {True: "constants", False: "refuted", None: UNDECIDED}[supplied]


def _all(outcomes: Iterable[bool | None]) -> bool | None:
    """Three-valued `all`."""
    seen = set(outcomes)
    return False if False in seen else None if None in seen else True


@dataclass(frozen=True)
class Record:
    """What a chapter observed about one claim; shown in a notebook as the claim's verdict card."""

    claim: Claim
    checks: tuple[Check, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain Python for JSON."""
        return {"claim": self.claim.id, "checks": [check.to_json() for check in self.checks]}

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, str], dict[str, Any]]:
        profile = os.environ.get("COMPANION_PROFILE", "smoke")
        return card(self.claim, self.checks, profile), {"claim": self.to_json()}


def record(claim_id: str, *checks: Check) -> Record:
    """Record what was observed about a claim; the last expression of its cell.

    Parameters
    ----------
    claim_id : str
        An id of the ledger, such as ``cai2025:alg-3``.
    *checks : Check
        At least one of them about the printed statement.

    Raises
    ------
    ValueError
        If the ledger has no such id, or no check is about the printed statement.

    Examples
    --------
    >>> record("cai2025:alg-3", Check("privacy loss, two voters", 1.5, "<=", 1.0))  # doctest: +SKIP
    """
    folder = find_root() / "data" / "claims"
    files = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(folder.glob("*.yml")))
    ledger = _ledger(folder.parents[1], files)
    if claim_id not in ledger:
        close = difflib.get_close_matches(claim_id, ledger, n=3) or ["an id of data/claims/*.yml"]
        raise ValueError(f"claim_id: {claim_id!r} is not in the ledger; allowed: {', '.join(close)}")
    derive(checks)
    return Record(ledger[claim_id], checks)


@lru_cache(maxsize=1)
def _ledger(root: Path, files: tuple[tuple[Path, int, int], ...]) -> dict[str, Claim]:
    """The ledger, read again when a file of it has changed."""
    return load_ledger(root)


def anchor(claim_id: str) -> str:
    """Id of a claim's card in the page that settles it."""
    return claim_id.replace(":", "-")


def card(claim: Claim, checks: Iterable[Check], profile: str) -> dict[str, str]:
    """Verdict card of a claim, as ``text/plain`` and ``text/html``; styled by `book/_static/book.css`."""
    checks = tuple(checks)
    verdict = derive(checks)
    words = {True: "true", False: "false", None: "undecided"}
    text = [f"{claim.id} ({claim.where}): {verdict}", claim.statement, *(f"  {c}: {words[c.outcome]}" for c in checks)]
    e = html.escape

    def table(some: Iterable[Check]) -> str:
        rows = "\n".join(
            f'<tr class="claim-{c.about}"><td>{e(c.what)}<span class="claim-about">{e(_about(c))}</span></td>'
            f"<td>{show_number(c.observed)}{f' ± {show_number(c.error)}' if c.error else ''}</td>"
            f"<td>{e(RELATIONS[c.relation])} {show_number(c.bound)}</td>"
            f'<td class="claim-outcome claim-{words[c.outcome]}">{words[c.outcome]}</td></tr>'
            for c in some
        )
        head = "<thead><tr><th>quantity</th><th>observed</th><th>statement</th><th>outcome</th></tr></thead>"
        return f'<div class="claim-checks"><table>\n{head}\n<tbody>\n{rows}\n</tbody></table></div>'

    main = decisive(checks)
    foot = f"{claim.method} · profile {profile}" if claim.method else f"profile {profile}"
    full = f"<details><summary>all {len(checks)} checks</summary>\n{table(checks)}\n</details>\n"
    corrected = f'<p class="claim-corrected"><strong>Corrected:</strong> {e(claim.corrected or "")}</p>\n'
    page = f"""<div class="claim claim-verdict-{verdict.split()[0]}" id="{e(anchor(claim.id))}">
<p class="claim-head"><code>{e(claim.id)}</code> <span class="claim-where">{e(claim.where)}</span>
<span class="claim-badge">{e(verdict)}</span></p>
<p class="claim-statement">{e(claim.statement)}</p>
{table(main)}
{full if len(main) < len(checks) else ""}{corrected if claim.corrected else ""}<p class="claim-foot">{e(foot)}</p>
</div>"""
    return {"text/plain": "\n".join(text), "text/html": page}


def decisive(checks: Iterable[Check]) -> list[Check]:
    """The checks a verdict turns on: of what each is about, and of each reading, the first that does not hold, or one.

    Parameters
    ----------
    checks : iterable of Check

    Returns
    -------
    list of Check
        In their order; one for each reading of the printed statement, and for every other thing checked.
    """
    rank = {False: 0, None: 1, True: 2}
    groups: dict[tuple[str, str], Check] = {}
    for check in checks:
        group = check.about, check.reading
        if group not in groups or rank[check.outcome] < rank[groups[group].outcome]:
            groups[group] = check
    return list(groups.values())


def _about(check: Check) -> str:
    label = {
        "printed": "as printed",
        "supplied": "with supplied constants",
        "content": "does it say anything",
        "corrected": "corrected statement",
    }[check.about]
    return f"{label}, {check.reading}" if check.reading else label


def show_number(value: float) -> str:
    """A number of a check for readers: six digits, infinity as a sign."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("inf", "∞")


# --- the judge -------------------------------------------------------------------------------------------------------


def judge(
    ledger: Mapping[str, Claim],
    records: Iterable[Mapping[str, Any]],
    profile: str,
    chapters: Iterable[str] | None = None,
) -> list[str]:
    """Hold what the chapters observed against the ledger.

    Parameters
    ----------
    ledger : mapping of str to Claim
    records : iterable of mappings
        As collected: ``claim``, ``chapter`` and ``checks`` as in `Record.to_json`.
    profile : str
        Undecided checks are accepted in ``smoke`` only.
    chapters : iterable of str, optional
        Judge the claims of these chapters only; all by default.

    Returns
    -------
    list of str
        Problems, one line each; empty if all is well.
    """
    scope = None if chapters is None else set(chapters)
    problems: list[str] = []
    seen: dict[str, str] = {}
    for entry in records:
        name, chapter = entry["claim"], entry["chapter"]
        claim = ledger.get(name)
        if scope is not None and chapter not in scope:
            continue
        if name in seen:
            problems.append(f"{name}: recorded twice, in {seen[name]} and in {chapter}; allowed: one record a claim")
            continue
        seen[name] = chapter
        if claim is None:
            close = difflib.get_close_matches(name, ledger, n=3) or ["an id of data/claims/*.yml"]
            problems.append(f"{name}: recorded in {chapter} but not in the ledger; allowed: {', '.join(close)}")
        else:
            problems += _judge(claim, chapter, [Check.from_json(check) for check in entry["checks"]], profile)
    for claim in ledger.values():
        due = claim.verdict not in ("pending", "unchecked") and (scope is None or claim.chapter in scope)
        if due and claim.id not in seen:
            problems.append(
                f"{claim.id}: the ledger says {claim.verdict!r} but {claim.chapter} has no record of it; "
                f"allowed: record it there, or 'pending'"
            )
    return problems


def _judge(claim: Claim, chapter: str, checks: list[Check], profile: str) -> list[str]:
    """Problems of one record with its claim."""
    problems = []
    derived = derive(checks)
    if chapter != claim.chapter:
        problems.append(f"{claim.id}: recorded in {chapter}; the ledger gives it to {claim.chapter}")
    if claim.verdict == "pending":
        return [*problems, f"{claim.id}: recorded in {chapter} as {derived!r} but pending: settle it in the ledger"]
    may_be_undecided = profile == "smoke"
    if derived != claim.verdict and not (derived == UNDECIDED and may_be_undecided):
        telling = sorted((c for c in checks if c.about != "corrected"), key=lambda check: check.outcome is True)
        shown = [f"{check} is {'undecided' if check.outcome is None else check.outcome}" for check in telling[:4]]
        shown += [f"and {len(telling) - 4} more"] if len(telling) > 4 else []
        problems.append(f"{claim.id}: expected {claim.verdict!r}, observed {derived!r} [{'; '.join(shown)}]")
    corrected = [check for check in checks if check.about == "corrected"]
    if claim.verdict in NEEDS_CORRECTION and not corrected:
        problems.append(f"{claim.id}: the corrected statement has no check; allowed: a Check with about='corrected'")
    for check in corrected:
        if check.outcome is False or (check.outcome is None and not may_be_undecided):
            state = "false" if check.outcome is False else "undecided"
            problems.append(f"{claim.id}: the corrected statement is {state} [{check}]")
    return problems


def summary(ledger: Mapping[str, Claim], records: Iterable[Mapping[str, Any]]) -> str:
    """How many claims stand how, such as ``3 claims settled: 1 holds, 2 refuted; 166 pending``."""
    derived = [derive(map(Check.from_json, entry["checks"])) for entry in records]
    counts = {verdict: derived.count(verdict) for verdict in (*VERDICTS, UNDECIDED) if verdict in derived}
    settled = sum(n for verdict, n in counts.items() if verdict != UNDECIDED)
    line = f"{settled} claim{'' if settled == 1 else 's'} settled"
    if shown := ", ".join(f"{n} {verdict}" for verdict, n in counts.items()):
        line += f": {shown}"
    for verdict in ("unchecked", "pending"):
        if n := sum(claim.verdict == verdict for claim in ledger.values()):
            line += f"; {n} {verdict}"
    return line
