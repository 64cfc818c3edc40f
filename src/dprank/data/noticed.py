"""What a person would see who looked at a table: for its curator alone, and for no release.

Each finding is a sentence that says what was seen, in how many cells, and what to do about it. They are of the data: a
release prints none, and asks for what they lead to by flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dprank.data.accounts import Intake, sniffed_as
from dprank.data.aliased import aliased_sides, leads_round
from dprank.data.answers import says_nothing
from dprank.data.intake import pair_of
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_read import cells_of
from dprank.data.noticed_rules import RULES, Seen

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["noticed", "raw_of"]


def raw_of(declared: Declaration, path: Any) -> Raw | None:
    """The cells of a table as they are written, without rows of more fields than the header.

    None of a file that names its candidates, and of others of which the account says all.

    Examples
    --------
    >>> import dprank
    >>> declared = dprank.Declaration(kind="tallies", items=["flu", "gout"], person="patient", columns=("diagnosis",))
    >>> len(raw_of(declared, dprank.example("diagnoses.csv")).frame)
    438
    """
    counted = declared.kind == "comparisons" and declared.times not in (None, "none")
    if counted or declared.held or declared.form in ("each", "basket", "marked", "points"):
        return None
    sniffed = sniffed_as(declared, path)
    return _without_silent(Raw(declared, sniffed.frame.loc[~sniffed.beyond]))


def _without_silent(raw: Raw) -> Raw:
    """The same with empty cells for answers that are declared to say nothing."""
    declared = raw.declared
    if declared.kind != "comparisons" or not declared.unranked_as:
        return raw
    silent, frame, asked = says_nothing(declared.unranked_as, raw.clean), raw.frame.copy(), _of_answers(raw)
    for at, name in enumerate(frame.columns):
        if raw.clean(str(name)) in asked:
            column = frame.iloc[:, at]
            frame.isetitem(at, column.mask(column.isin([it for it in column.unique() if silent(str(it))]), ""))
    return Raw(declared, frame)


def _of_answers(raw: Raw) -> set[str]:
    """Columns of answers that are none of items, by their names after cleaning."""
    declared = raw.declared
    if declared.form == "long":
        return {raw.clean(declared.columns[2])} - {*map(raw.clean, declared.columns[:2])}
    said = declared.pairs or {str(name): str(name) for name in raw.frame.columns}
    return {raw.clean(name) for name, pair in said.items() if pair_of(pair, raw.codes, raw.clean)}


def noticed(raw: Raw | None, intake: Intake, declared: Declaration) -> tuple[str, ...]:
    """Sentences on what is odd about a file, the gravest first.

    Parameters
    ----------
    raw : Raw or None
        Of the file, by `raw_of`.
    intake : Intake
        What the declaration made of it.
    declared : Declaration

    Notes
    -----
    O(rows).

    Examples
    --------
    >>> import dprank
    >>> declared = dprank.Declaration(kind="tallies", items=["flu", "gut"], person="patient", columns=("diagnosis",))
    >>> path = dprank.example("diagnoses.csv")
    >>> noticed(raw_of(declared, path), declared.read(path), declared)[0][:34]
    'most rows are left out: 241 of 438'
    """
    seen = Seen(declared, intake, raw)
    found = [line for rule in RULES if seen.has_table or not rule.table for line in rule.of(seen)]
    if declared.aliases and (told := aliased_sides(declared, intake, cells_of(raw))):
        found = [it for it in found if not leads_round(it)]
        found.insert(sum(it.startswith("nothing counts") for it in found), told)
    return tuple(found)
