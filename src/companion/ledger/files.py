"""The ledger of claims in its files: what the papers state, where, and the verdict that a build is held to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import yaml

from companion.ledger.verdicts import VERDICTS, Verdict, verdict

__all__ = ["PLACE", "Claim", "Page", "find_root", "load_ledger"]

ALLOWED = {
    "kind": ("definition", "condition", "algorithm", "theorem", "lemma", "proof", "figure", "table", "sentence"),
    "verdict": tuple(it.key for it in VERDICTS),
    "method": ("exact", "numeric", "bound", "simulation", "argument"),
    "impact": ("privacy broken", "theorem false", "not as described", "proof gap", "slip of the pen"),
}
#: Where an instance has a number of the build: what the first failing check saw and what is said of it, the second …
PLACE = re.compile(r"{((?:seen|said)(?:[2-9]|[1-9]\d+)?)}")


def find_root(start: Path | None = None) -> Path:
    """Root of the book: `COMPANION_ROOT`, or the nearest folder at or above `start` that holds `data/claims`."""
    if start is None and "COMPANION_ROOT" in os.environ:
        return Path(os.environ["COMPANION_ROOT"])
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "data" / "claims").is_dir():
            return folder
    raise ValueError(f"no book at or above {start}: a folder that holds data/claims is needed")


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a claim's page of its own says, for somebody who was sent it and knows nothing of the book.

    `title` says what fails, or what a figure shows; `printed` is the statement in plain words, `why` two sentences,
    `argument` why no constant saves what is stated with an order, `numbers` the smallest instance, to be checked by
    hand, `instead` what holds, and `picture` the figure that shows it. `asked` is the day on which it was put to the
    authors, and `answered` what they said: only what is true.
    """

    title: str
    printed: str
    why: str
    numbers: str | None = None
    argument: str | None = None
    instead: str | None = None
    picture: str | None = None
    asked: str | None = None
    answered: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One entry of the ledger; `id` is ``paper:place``, as in ``cai2025:thm-2.1``.

    `where` the paper prints it, of which `kind` it is, what its `statement` says in our words and, where our copy
    is clean and a few words carry the point, in a `quote` of its own; the `chapter` that settles it, and the
    `verdict` that a build is held to. Of a statement that does not simply hold `why` says so in one sentence,
    `instance` says in a sentence how the failing checks show it, their numbers in the places of ``{seen}`` and
    ``{said}`` (``{seen2}`` and ``{said2}`` for the second), `corrected` is what holds instead, and `impact` what
    comes of it. `left_out`, due for ``needs a condition`` alone, is what the print leaves out, and with which it is
    true: a statement in which something printed must be replaced is refuted. `necessity` says how far what is
    corrected is from necessary: attained, a factor, not known. `runs` says what is run where that is not the object
    which the sentence names, word for word. `ours` marks what no paper asserts. `uses` are the claims that its proof
    rests on; `tolerance` is that of its numbers, relative, when two builds are compared; `reason` says why it is not
    checked; `page` is its page of its own, if people send it around.
    """

    id: str
    where: str
    kind: str
    statement: str
    chapter: str
    verdict: Verdict
    quote: str | None = None
    method: str | None = None
    why: str | None = None
    instance: str | None = None
    corrected: str | None = None
    left_out: str | None = None
    impact: str | None = None
    necessity: str | None = None
    runs: str | None = None
    ours: bool = False
    uses: tuple[str, ...] = ()
    tolerance: float = 1e-9
    reason: str | None = None
    page: Page | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", verdict(self.verdict))


def load_ledger(root: Path) -> dict[str, Claim]:
    """Claims by id, of `data/claims/*.yml` under `root`.

    A ValueError names, in one line, file, id, key, value and what is allowed.
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
    for claim in ledger.values():
        if unknown := [other for other in claim.uses if other not in ledger]:
            raise ValueError(f"{claim.id}: uses: {unknown[0]!r}; allowed: ids of the ledger")
    try:
        TopologicalSorter({claim.id: claim.uses for claim in ledger.values()}).prepare()
    except CycleError as error:
        raise ValueError(f"uses: a circle, {' -> '.join(error.args[1])}; allowed: proofs that end") from None
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
        elif key == "ours":
            if value is not True:
                raise refuse(key, value, "true, or no such key")
        elif key == "page":
            _require_page(value, refuse)
        elif key == "uses":
            if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
                raise refuse(key, value, "a list of ids")
            if len(set(value)) < len(value):
                raise refuse(key, value, "every id once")
        elif not isinstance(value, str) or not value.strip() or "\n" in value.strip():
            raise refuse(key, value, "one line of text")
        elif key in ALLOWED and value not in ALLOWED[key]:
            raise refuse(key, value, ", ".join(ALLOWED[key]))
    if not re.fullmatch(rf"{re.escape(paper)}(:[A-Za-z0-9._-]+)+", entry["id"]):
        raise refuse("id", entry["id"], f"{paper}:<name>, of letters, digits, '.', '-' and ':'")
    stands = verdict(entry["verdict"])
    for key in (*["method"] * stands.settled, *stands.due):
        if key not in entry:
            allowed = ", ".join(ALLOWED.get(key, ["text"]))
            raise refuse(key, None, f"{allowed} (due when the verdict is {stands!r})")
    if "left_out" in entry and "left_out" not in stands.due:
        raise refuse("left_out", entry["left_out"], f"none when the verdict is {stands!r}")
    for key in ("why", "impact", "instance"):
        if key in entry and not stands.wrong:
            raise refuse(key, entry[key], f"none when the verdict is {stands!r}")
    if re.search("[{}]", PLACE.sub("", re.sub("{{|}}", "", entry.get("instance", "")))):
        raise refuse("instance", entry["instance"], "braces around seen, said, seen2, said2 and so on, or twice")
    if "necessity" in entry and "corrected" not in entry:
        raise refuse("necessity", entry["necessity"], "none where nothing is corrected")
    values: dict[str, Any] = {k: v.strip() if isinstance(v, str) else v for k, v in entry.items()}
    values["uses"] = tuple(values.get("uses", ()))
    if "page" in values:
        values["page"] = Page(**{key: text.strip() for key, text in values["page"].items()})
    return Claim(**values)


def _require_page(value: object, refuse: Callable[[str, object, str], ValueError]) -> None:
    """Refuse what is no page: a key missing or unknown, or anything but a line of text."""
    known = {field.name: field.default is MISSING for field in fields(Page)}
    given = value if isinstance(value, Mapping) else {}
    if unknown := [key for key in given if key not in known]:
        raise refuse(f"page: unknown key {unknown[0]!r}", given[unknown[0]], ", ".join(known))
    for key, due in known.items():
        if (due or key in given) and not (isinstance(text := given.get(key), str) and text.strip()):
            raise refuse(f"page: {key}", text, "text")
