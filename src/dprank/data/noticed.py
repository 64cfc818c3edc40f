"""What a person would see who looked at a table: for its curator alone, and for no release.

Each finding is a sentence that says what was seen, in how many cells, and what to do about it. They are of the data: a
release prints none, and asks for what they lead to by flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dprank.data.accounts import Intake, people_column
from dprank.data.noticed_cells import Raw
from dprank.data.noticed_rules import RULES, Seen
from dprank.data.sniffing import sniff

if TYPE_CHECKING:
    from dprank.data.declaration import Declaration

__all__ = ["noticed", "raw_of"]


def raw_of(declared: Declaration, path: Any) -> Raw | None:
    """The cells of a table as they are written, without rows of more fields than the header; None of PrefLib.

    Examples
    --------
    >>> import dprank
    >>> declared = dprank.Declaration(kind="tallies", items=["flu", "gout"], person="patient", columns=("diagnosis",))
    >>> len(raw_of(declared, dprank.example("diagnoses.csv")).frame)
    438
    """
    if declared.form == "preflib":
        return None
    sniffed = sniff(path, people_column(declared))
    return Raw(declared, sniffed.frame.loc[~sniffed.beyond])


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
    return tuple(line for rule in RULES if seen.has_table or not rule.table for line in rule.of(seen))
