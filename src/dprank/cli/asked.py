"""Refusals of flags that end the journey: all that is missing in one line, and which question takes what was said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dprank.data.answers import SAID
from dprank.data.forms import BALLOT_FILES
from dprank.questions import QUESTIONS

__all__ = ["SAY", "TAKEN", "elsewhere", "missing_options", "orders_as_text", "require_said"]

#: How each thing that a declaration lacks is said.
SAY = {
    "items": "--items (all of them, by names or a text file: what the data hold is no public list)",
    "listed": "--items (all of them; to name the file there, as one of PrefLib, makes its list public)",
    "person": "--person (the column that says who)",
    "answers": f"--map (what an answer means: {SAID})",
    "whose": "--person or --ballot (the column that says which rows are one ballot)",
    "ballots": "--ballots (full: all items, none alike; tied: all; or partial, with --unranked apart or last)",
    "unranked": "--unranked (apart: what a ballot leaves out is compared with none; last: it is behind all others)",
    "max_weight": "--max-weight (the most that a ballot counts)",
}
#: Flags that say what a row is, by what it is; and the questions that take it.
FLAGS = {
    "ballots": "wide long orders ranks form ballots unranked repeated ballot weight max-weight times thousands best "
    "lowest withdrawn",
    "comparisons": "comparisons pairs points",
    "tallies": "item each basket marked per-person",
}


def _commands(kind: str) -> str:
    *others, last = (f"`release {it.name}`" for it in QUESTIONS.values() if it.data == kind)
    return f"{', '.join(others)} or {last}" if others else last


TAKEN = {
    "ballots": f"ballots, whole orders, go to {_commands('ballots')}",
    "comparisons": f"comparisons of two items at a time go to {_commands('comparisons')}",
    "tallies": f"items that people have go to {_commands('tallies')}",
}
#: So much of a file is looked at, and a line that is an order, with or without a count before it.
_LOOKED_AT = 20_000
_ORDER = re.compile(r"\s*(?:([0-9]+)\s*([:;,x×)]?)\s*)?[^0-9\s>][^>]*>[^>]+.*")


def orders_as_text(file: Path) -> str:
    """What makes a table of lines such as ``21: A > B``, in one step; nothing where lines are no orders."""
    try:
        with file.open("rb") as opened:
            lines = [it for it in opened.read(_LOOKED_AT).decode("utf-8", "replace").splitlines()[:-1] if it.strip()]
    except OSError:
        return ""
    found = [it for line in lines if (it := _ORDER.fullmatch(line))]
    if len(found) < 2 or 10 * len(found) < 9 * len(lines):
        return ""
    if 2 * sum(it[1] is not None for it in found) <= len(found):
        return "each line is an order: write order as line 1, and add --orders order"
    sign = next((it[2] for it in found if it[1] is not None), "") or "the blank"
    typed = f"21{sign} A > B" if len(sign) == 1 else "21 A > B"
    return (
        "each line is an order behind a count of ballots: write count;order as line 1, and 21;A > B for "
        f"{typed} in each line, and add --orders order --times count"
    )


def lacking(keys: Mapping[str, Any]) -> list[str]:
    """What a declaration of these keys lacks.

    Examples
    --------
    >>> lacking({"kind": "ballots", "form": "orders", "items": ()})
    ['items', 'ballots']
    """
    kind, form = keys.get("kind"), keys.get("form")
    lacks = [] if keys.get("items") else ["listed" if any(form == it.name for it in BALLOT_FILES) else "items"]
    if kind == "comparisons" and keys.get("answers") is None and form != "points":
        lacks.append("answers")
    if kind == "tallies" and keys.get("person") is None and form in ("long", None):
        lacks.append("person")
    if kind == "ballots":
        if form == "long" and keys.get("person") is None and keys.get("ballot") is None:
            lacks.append("whose")
        if keys.get("ballots") is None and form not in ("wide", None):
            lacks.append("ballots")
        if keys.get("ballots") == "partial" and keys.get("unranked") is None:
            lacks.append("unranked")
        if keys.get("weight") is not None and keys.get("max_weight") is None:
            lacks.append("max_weight")
    return lacks


def require_said(keys: Mapping[str, Any], also: Sequence[str] = ()) -> None:
    """Refuse where several things are missing, and say all; where one is, it has a line of its own.

    Parameters
    ----------
    keys : mapping
        Of a declaration.
    also : sequence of str
        What else is missing, as it is to be said.

    Examples
    --------
    >>> require_said({"kind": "ballots", "form": "wide", "items": ()}, ["--answers (how many of a person's count)"])
    Traceback (most recent call last):
        ...
    ValueError: missing: --items (all of them, ...), and --answers (how many of a person's count)
    """
    lacks = [*(SAY[it] for it in lacking(keys)), *also]
    if len(lacks) > 1:
        raise ValueError(f"missing: {', '.join(lacks[:-1])}, and {lacks[-1]}")


def missing_options(context: Any, words: Sequence[str]) -> list[str]:
    """All options that a command must have, and these words lack.

    Parameters
    ----------
    context : typer.Context
        Of the command; what a plan says is in its `default_map`.
    words : sequence of str
    """
    said = {word.partition("=")[0] for word in words}
    planned = context.default_map or {}
    found = [
        it.opts[0]
        for it in context.command.params
        if it.param_type_name == "option" and it.required and it.name not in planned and not said & set(it.opts)
    ]
    has_items = any(it.name == "items" for it in context.command.params)
    return found + ["--items"] * (has_items and not said & {"--items", "--plan", "--counts", "--help"})


def elsewhere(command: str, flag: str) -> str | None:
    """Which question takes what a flag says that this command has not.

    Examples
    --------
    >>> elsewhere("dprank release ranking", "--wide")
    'ballots, whole orders, go to `release consensus`, `release winner` or `release agreement`'
    >>> elsewhere("dprank release winner", "--epsylon") is None
    True
    """
    kind = next((kind for kind, flags in FLAGS.items() if flag.removeprefix("--") in flags.split()), None)
    if kind == "ballots" and command in ("dprank count", "dprank split"):
        return f"comparisons and items of people are counted in parts; {TAKEN[kind]}"
    return TAKEN.get(str(kind)) if command.startswith("dprank release ") else None
