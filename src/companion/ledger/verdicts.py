"""The verdicts: each stands here once, with all that follows from it.

What is stored is the key: in `data/claims` and `data/history.yml`, in records, in the tables for other programs. It
never changes. What readers see are the words, the sign and the colour. Prose names a verdict by its key, as
``{word}`true but empty```, and shows its words, so that other words are a change of this file alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

__all__ = ["ALL", "VERDICTS", "WORD", "Verdict", "in_words", "said", "verdict"]
__all__ += ["CONDITION", "EMPTY", "HOLDS", "PENDING", "READING", "REFUTED", "UNCHECKED", "UNDECIDED"]

#: What a claim must say that does not simply hold.
_WRONG = ("why", "corrected", "impact")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Verdict(str):
    """A verdict; as a text it is its `key`, which is what files store.

    `words` say it of one claim and `many` of several, `mark` where there is no room for words, and `colour` is its name
    in `book/_static/book.css` (grey where that has no such name). `means` goes on from "the printed statement". A claim
    must say in the ledger what is `due`; `settled` verdicts follow from checks; and where one is `shown` by an instance
    that fails, that instance should have a certificate.

    Examples
    --------
    >>> REFUTED == "refuted", REFUTED.css, REFUTED.wrong
    (True, 'claim-verdict-refuted', True)
    """

    key: str
    words: str
    many: str
    colour: str
    means: str
    mark: str = "…"
    due: tuple[str, ...] = ()
    settled: bool = True
    shown: bool = False

    def __new__(cls, key: str, **_: object) -> Self:
        return super().__new__(cls, key)

    @property
    def css(self) -> str:
        """Class of what has its colour."""
        return f"claim-verdict-{self.colour}"

    @property
    def one(self) -> str:
        """The words with their verb."""
        return f"is {self.words}" if self.many == f"are {self.words}" else self.words

    @property
    def wrong(self) -> bool:
        """Whether what holds instead is due."""
        return "corrected" in self.due

    @property
    def signed(self) -> str:
        """Sign and words, of which Markdown makes nothing else."""
        mark = f"\\{self.mark}" if self.mark in "+-*#" else self.mark
        return self.words if mark == "…" else f"{mark} {self.words}"


PENDING = Verdict(
    key="pending",
    words="pending",
    many="are pending",
    colour="pending",
    means="waits for its chapter",
    settled=False,
)
HOLDS = Verdict(
    key="holds",
    words="holds",
    many="hold",
    mark="✓",
    colour="holds",
    means="is true as printed, in all cases that were checked; the method says how far these reach",
)
CONDITION = Verdict(
    key="needs a condition",
    words="needs a condition",
    many="need a condition",
    mark="+",
    colour="needs",
    means="is true once a condition or a constant that the print leaves out is supplied; ours is shown",
    due=(*_WRONG, "left_out"),
)
REFUTED = Verdict(
    key="refuted",
    words="refuted",
    many="are refuted",
    mark="✗",
    colour="refuted",
    means="is false as printed; a counterexample is shown with its numbers",
    due=_WRONG,
    shown=True,
)
EMPTY = Verdict(
    key="true but empty",
    words="true but empty",
    many="are true but empty",
    mark="○",
    colour="true",
    means="is true, but its conditions or its bound leave it without content where it is used",
    due=_WRONG,
    shown=True,
)
READING = Verdict(
    key="depends on the reading",
    words="depends on the reading",
    many="depend on the reading",
    mark="?",
    colour="depends",
    means="leaves a choice open, and is true under one reading and false under another; ours is stated",
    due=_WRONG,
    shown=True,
)
UNCHECKED = Verdict(
    key="unchecked",
    words="unchecked",
    many="are unchecked",
    colour="unchecked",
    means="has not been checked, with the reason",
    due=("reason",),
    settled=False,
)
#: What checks can leave; the ledger states no such verdict.
UNDECIDED = Verdict(
    key="undecided here",
    words="undecided here",
    many="are undecided here",
    colour="undecided",
    means="could be neither way, as far as the checks of a small profile tell",
)
#: Those that the ledger may state, in the order of tables; and all.
VERDICTS = (PENDING, HOLDS, CONDITION, REFUTED, EMPTY, READING, UNCHECKED)
ALL = (*VERDICTS, UNDECIDED)
_BY_KEY = {it.key: it for it in ALL}


def verdict(key: str) -> Verdict:
    """The verdict with this key; a ValueError says which there are."""
    if key not in _BY_KEY:
        raise ValueError(f"verdict: {key!r}; allowed: {', '.join(_BY_KEY)}")
    return _BY_KEY[key]


#: What prose says by a verdict's key: its words, its sign with them, or what it means.
WORD = re.compile(r"\{(word|signed|means)\}`([^`\n]+)`")


def in_words(text: str) -> str:
    """Prose with the words of the verdicts that it names; a ValueError names one that there is not.

    Examples
    --------
    >>> in_words("A claim *{word}`depends on the reading`* if two are possible.")
    'A claim *depends on the reading* if two are possible.'
    """
    return WORD.sub(lambda it: said(it[1], it[2]), text)


def said(role: str, key: str) -> str:
    """What a role of `WORD` shows of a verdict."""
    it = verdict(key)
    return {"word": it.words, "signed": it.signed, "means": it.means}[role]
