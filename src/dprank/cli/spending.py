"""What a release is asked before it is paid for: for which decimal it is made, whom it protects, what delta means."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import dprank
from dprank._require import require_one_of, shown
from dprank._typed import Typed
from dprank.data.declaration import Declaration
from dprank.plan.tags import mechanism_of
from dprank.questions import QUESTIONS, QuestionName

__all__ = ["mechanism_paid_by", "require_protected"]


def mechanism_paid_by(budget: Path | None, question: QuestionName, name: str | None, **asked: Any) -> Any:
    """The mechanism that was asked for, else the question's usual one.

    Where a budget is charged it is made for the decimals that were typed, of no float above them.

    Examples
    --------
    >>> of = {"epsilon": Typed("0.2"), "items": "abc"}
    >>> for budget in (None, Path("budget.sqlite")):
    ...     mechanism_paid_by(budget, "winner", None, **of).guarantee.epsilon
    0.2
    0.19999999999999998
    """
    below: dict[str, Any] = {key: it.below if budget and isinstance(it, Typed) else it for key, it in asked.items()}
    name = name or QUESTIONS[question].usual
    with suppress(ValueError):
        return mechanism_of(question, name, **below)
    return mechanism_of(question, name, **asked)  # which refuses what was typed, in its own digits


def require_protected(declared: Declaration, kept: dprank.Budget | None, protect: str | None) -> bool:
    """Whether a ballot is said to stand for its person: a budget of persons takes ballots that name nobody only so."""
    nameless = declared.unit == "ballot"
    if declared.kind == "ballots" and protect is not None:
        require_one_of("protect", protect, ("ballot", "person"))
        if nameless != (protect == "ballot"):
            raise ValueError(
                "person is missing; say with --person which column says who, or protect a ballot: --protect ballot"
                if nameless
                else f"protect = 'ballot'; persons are named ({shown(declared.person)}) and protected: leave it out"
            )
    if nameless and protect is None and kept is not None and kept.limit.unit == "voter":
        if declared.kind == "tallies":
            raise ValueError(
                f"these rows name nobody, and {kept.path.name} is a budget of persons; say with --person which column "
                "says who"
            )
        raise ValueError(
            f"these ballots name nobody, and {kept.path.name} is a budget of persons; say with --person which column "
            "says who, or --protect ballot if nobody cast two of them"
        )
    return nameless and protect == "ballot"
