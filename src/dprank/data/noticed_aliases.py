"""Aliases that do nothing: to a column that is there by its own name, of a header that is not, or to no item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dprank._require import as_typed, shown
from dprank.data.accounts import Intake
from dprank.data.answers import number_in
from dprank.data.cleaning import cleaner
from dprank.data.intake import pair_of
from dprank.data.noticed_cells import Raw

__all__ = ["in_aliases", "in_numerals"]

#: So many aliases are typed out.
ALIASES = 9
#: A longer text is no code.
LONGEST = 1_000
#: So many names are told.
NAMED = 3


def in_aliases(raw: Raw) -> Iterator[str]:
    """Sentences on columns that are not read as another has the name of their item, and on aliases without effect."""
    declared = raw.declared
    wide = (declared.kind, declared.form) == ("ballots", "wide")
    if wide:
        yield from _twice(raw)
    given, ruled = dict(declared.aliases or {}), cleaner(declared.clean)
    meant = {ruled(it) for it in _meant(raw)}
    lost = [it for it, means in given.items() if ruled(means) not in meant and not _other(raw, means)]
    if lost:
        what = f"{shown(given[lost[0]])} is no declared item{_more(lost)}: is it written as --items has it?"
        yield f"--alias {_of(given, lost[0])} does nothing, as {what}"
    header = {ruled(str(it)) for it in raw.frame.columns}
    gone = [it for it in given if it not in lost and ruled(it) not in header]
    if wide and gone:
        what = f"no column is called {shown(gone[0])}{_more(gone)}: is it written as the header has it?"
        yield f"--alias {_of(given, gone[0])} does nothing, as {what}"


def in_numerals(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on numbers where items stand, of which none is one: codes of items, and 0 for none."""
    declared = raw.declared
    if declared.kind == "comparisons" or declared.form == "wide" or any(map(raw.known, intake.written)):
        return
    codes = {number for it in intake.unknown if _is_numeral(it) and (number := int(it)) > 0}
    others = [it for it in intake.unknown if not _is_numeral(it) and not raw.is_none(it)]
    items = declared.items
    if others or not len(codes) >= 2 or max(codes, default=0) > len(items):
        return
    flags = " ".join(f"--alias {as_typed(f'{at}={name}')}" for at, name in enumerate(items[:ALIASES], 1))
    more = f", and so on to {len(items)}" * (len(items) > ALIASES)
    zero = "0" in map(str.strip, intake.unknown)
    none = "; --unranked-as 0, if 0 is none" * (zero and declared.kind == "ballots")
    yield (
        f"numbers stand where items should, from {min(codes)} to {max(codes)}: are they codes? {flags}{more}, if items "
        f"are numbered in the order of --items{none}"
    )


def _is_numeral(text: str) -> bool:
    return len(text) <= LONGEST and text.strip().isdecimal()


def _of(given: Mapping[str, str], name: str) -> str:
    return shown(f"{name}={given[name]}")


def _meant(raw: Raw) -> Iterator[str]:
    """All that an alias can stand for: items, columns that are asked for, answers and names that are taken off."""
    declared = raw.declared
    yield from declared.items
    asked = (declared.person, declared.ballot, declared.weight, declared.times, *declared.columns)
    yield from (it for it in asked if it is not None)
    yield from (*(declared.pairs or {}), *declared.withdrawn, *declared.unranked_as)
    yield from map(str, declared.answers if isinstance(declared.answers, Mapping) else ())


def _other(raw: Raw, name: str) -> bool:
    """Whether a name asks about two items, or says that there is none, or is the number of an answer."""
    pair = raw.declared.form == "wide" and pair_of(name, raw.codes, raw.clean) is not None
    number = raw.declared.kind == "comparisons" and number_in(name) is not None
    return pair or number or raw.is_none(name)


def _twice(raw: Raw) -> Iterator[str]:
    """Columns that are one after cleaning, of which the one that is called so is read alone."""
    rules, ways = cleaner(raw.declared.clean), list[tuple[str, str]]()
    for name in raw.declared.items:
        at = {str(raw.frame.columns[it]): it for it in raw.header.get(raw.clean(name), [])}
        others = [it for it in at if name in at and it != name]
        ways += [(name, it) for it in others if (raw.frame.iloc[:, at[it]].str.strip() != "").any()]
    if ways:
        name, other = ways[0]
        how = "--clean" if rules(name) == rules(other) else f"--alias {as_typed(f'{other}={name}')}"
        yield (
            f"column {shown(other)} is not read, although {how} makes it {shown(name)}: a column {shown(name)} is "
            f"there, too{_more([it for _, it in ways])}. Write what both say into one column"
        )


def _more(names: list[str]) -> str:
    """That others are so, too."""
    return f" (so {', '.join(map(shown, names[1:NAMED]))}{' and others' * (len(names) > NAMED)})" * (len(names) > 1)
