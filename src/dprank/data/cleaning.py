"""Rules that mend what people write. Each looks at one cell alone, so that it keeps every guarantee."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dprank._require import require_one_of, shown

__all__ = ["RULES", "cleaner", "nearest"]

#: Name, what it does to a cell: in the order in which they are applied.
RULES: dict[str, Callable[[str], str]] = {
    "nfkc": lambda text: unicodedata.normalize("NFKC", text),
    "strip": str.strip,
    "spaces": lambda text: " ".join(text.split()),
    "casefold": str.casefold,
}


def cleaner(rules: Iterable[str], aliases: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """What a cell becomes: a function of that cell alone.

    Parameters
    ----------
    rules : iterable of {"nfkc", "strip", "spaces", "casefold"}
        Look-alike letters written alike; blanks around taken off; single blanks inside; one case.
    aliases : mapping of str to str, optional
        What is written and what is meant, each cleaned by the rules: declared before looking, or chosen by a rule that
        sees the public list of items alone. To choose them after looking at who wrote what is a use of the data.

    Raises
    ------
    ValueError
        For another rule, or an alias of two meanings.

    Examples
    --------
    >>> cleaner(["strip", "casefold"], {"Scool": "School"})(" scool ")
    'school'
    """
    chosen = {require_one_of("clean", rule, tuple(RULES)) for rule in rules}
    steps = [step for name, step in RULES.items() if name in chosen]
    meant: dict[str, str] = {}

    def ruled(text: str) -> str:
        for step in steps:
            text = step(text)
        return text

    def clean(text: str) -> str:
        text = ruled(text)
        return meant.get(text, text)

    for written, means in (aliases or {}).items():
        if meant.setdefault(ruled(written), ruled(means)) != ruled(means):
            raise ValueError(f"aliases: {shown(written)} has two meanings after cleaning; one is needed")
    return clean


def nearest(label: str, items: Sequence[str]) -> str | None:
    """The item that is written most like a label, if any is.

    Examples
    --------
    >>> nearest("PARISS", ["London", "Paris"]), nearest("?", ["London", "Paris"])
    ('Paris', None)
    """
    plain = {_plain(item): item for item in reversed(items)}
    found: list[Any] = difflib.get_close_matches(_plain(label), list(plain), n=1)
    return plain[found[0]] if found else None


def _plain(text: str) -> str:
    """By all rules at once: slips of the hand are looked for below those."""
    for step in RULES.values():
        text = step(text)
    return text
