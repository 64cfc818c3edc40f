"""What `check` says of answers about two items: what they may mean, what is lost by what they say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from dprank._require import shown
from dprank.cli.manual import quoted
from dprank.data.accounts import BLANK, Intake
from dprank.data.aliased import sides_of, way_out
from dprank.data.amounts import amount_of
from dprank.data.answers import NotDeclared, number_in
from dprank.data.cleaning import RULES, cleaner, nearest
from dprank.data.declaration import Declaration
from dprank.data.noticed_ties import ties_among

__all__ = ["declared_or_told", "slips_of_rows"]

#: Answers of each kind that are listed.
_SHOWN = 10
#: What to do about answers of many kinds; a row that rightly says nothing is as good as none.
_EACH = (
    "let it say what every answer means, with nothing behind = where one says nothing; a row that holds none, as of a "
    "match that was put off, is left out rightly"
)


#: The same of items of other pairs.
_OTHERS = "by --alias they are items, and others than the two of their rows"
#: Of an answer, where nothing is behind it.
_NONE = "is for one that says nothing"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: More answers are told in words; and what usually says that the first of two is preferred.
_FEW = 7
_FIRST = _words("1 h a l w left first home win won yes true links heim sieg ja oui sí gauche 1-0 white upper")
#: Numbers that a word knows, where one of them tells it from the others.
_FITS = (
    ({Decimal(0), Decimal("0.5"), Decimal(1)}, {Decimal(0), Decimal("0.5")}, "outcome"),
    ({Decimal(1), Decimal(2)}, {Decimal(2)}, "position"),
    ({Decimal(1), Decimal(0), Decimal(-1)}, {Decimal(-1)}, "1=1,0=0.5,-1=0"),
)


def declared_or_told(
    make: Callable[[str | None], Declaration], answers: str | None, file: Path, tell: Callable[[str], None]
) -> Declaration:
    """What is declared; where nothing says what answers mean, the curator is told what they are, and which fits."""
    try:
        return make(answers)
    except NotDeclared:
        by_names = make("names")
        tell(_seen(by_names.read(file), by_names))
        raise


def _seen(intake: Intake, declared: Declaration) -> str:
    """What the answers are, and which meaning fits them."""
    others = _said(intake.misread)
    most = sorted(others.items(), key=lambda it: -it[1])
    listed = ", ".join(f"{shown(text)} ({number})" for text, number in most[:_SHOWN])
    more = f" and {len(most) - _SHOWN} others" if len(most) > _SHOWN else ""
    names = [f"names of one of the two items ({intake.kept})"] if intake.kept else []
    told = f"answers are {' and '.join([*names, *([listed + more] if most else [])])}"
    if told.endswith(" "):
        return "there is no answer"
    if sides := sides_of(declared, intake, "position"):
        return f"{told}, and --alias makes items of {', '.join(sides)}: where they say a side, {way_out(declared)}"
    numbers = {number_in(text) for text in others}
    few = len(most) <= 3 and numbers <= {None}  # words for a tie, and the like
    if intake.kept and (few or intake.kept >= sum(others.values())):
        ties = [f"names,{text}=0.5" for text, _ in most[:1] if "," not in text]
        tie = "".join(f", or --map {quoted(it)} where that is a tie" for it in ties)
        codes = any(number_in(item) in (0, 1, 2) for item in intake.data.items)
        return f"{told}: --map names fits{tie}" + "; or outcome or position, if the numbers are no items" * codes
    for known, telling, word in _FITS:
        if numbers <= known and numbers & telling:
            other = {"outcome": "1=0,0=1,0.5=0.5", "position": "1=0,2=1"}.get(word, "1=0,0=0.5,-1=1")
            return f"{told}: --map {word} fits, where 1 is the first, and --map {other}, where 1 is the second"
    if like := next((it for text, _ in most[:3] if (it := nearest(text, intake.data.items))), None):
        return f"{told}: where that is how {shown(like)} is written, --map names fits, with --clean or --alias"
    if any("," in text for text, _ in most[:_SHOWN]):
        return f"{told}: a file for --plan says it, in a line like answers = {{{most[0][0]!r} = 1.0, …}}"
    meant = f"--map {quoted(','.join(f'{text}=' for text, _ in most[:_SHOWN]))}"
    if len(most) > _SHOWN:
        more = f"and {len(most) - _SHOWN} more in the same way"
        return f"{told}: {meant} with 1, 0.5 or 0 behind each, {more}, says it; nothing behind = {_NONE}"
    return f"{told}: {meant} with 1, 0.5 or 0 behind each says it; nothing behind = {_NONE}"


def _said(misread: Mapping[str, int]) -> dict[str, int]:
    return {text: number for text, number in misread.items() if text.strip().lower() not in BLANK}


def slips_of_rows(intake: Intake, declared: Declaration) -> list[str]:
    """What a row says that nobody declared: answers, and weights that are no whole numbers.

    Examples
    --------
    >>> declared = Declaration(kind="ballots", items=["Pay", "Hours"], weight="w", max_weight=9)
    >>> slips_of_rows(Intake(None, "", 7, {"no such weight": 1}, {}, {}, {}, {"1.2": 1}), declared)[0][:49]
    'weights are whole numbers, and some have decimals'
    """
    told = [] if declared.kind != "comparisons" or declared.form == "points" else _answers(intake, declared)
    if declared.weight is not None and (told_of := _fractions(intake, declared)):
        told.append(told_of)
    return told


def _answers(intake: Intake, declared: Declaration) -> list[str]:
    told, lost = [], _said(intake.misread)
    aliased = {*sides_of(declared, intake, "position")}
    if lost and not sides_of(declared, intake):
        many, way = sum(lost.values()), _cleaned(declared, lost) or _ways(intake, declared, lost)
        told.append(
            f"{many} answer{'s' * (many != 1)} that --map does not know, or of other items than the two, left out by "
            f"what they say: {way or (_OTHERS if aliased >= {*lost} else _EACH)}"
        )
    points: Any = intake.data.points
    sides = {int(it) for it in points}
    if declared.answers != "names" and len(points) > 1 and len(sides) == 1 and sides != {1}:
        side = "first" if sides == {2} else "second"
        told.append(
            f"every answer that counts prefers the {side} item of its row: where the other may be preferred, too, "
            "--map does not know how that is said"
        )
    return told


def _cleaned(declared: Declaration, lost: Mapping[str, int]) -> str:
    """The rules by which most lost answers are some that --map knows; else nothing."""
    if isinstance(declared.answers, str) or not declared.answers:
        return ""
    clean = cleaner(RULES)
    known = {clean(it) for it in declared.answers}
    found = sum(number for text, number in lost.items() if clean(text) in known)
    return f"--clean {','.join(RULES)} takes {found} of them for known ones" * (2 * found > sum(lost.values()))


def _ways(intake: Intake, declared: Declaration, lost: Mapping[str, int]) -> str:
    """The flags by which answers get a meaning, for either direction; nothing where that takes more than a line."""
    texts = sorted({it.strip() for it in lost}, key=lambda it: (number_in(it) is None, it.casefold()))
    if not 0 < len(texts) <= _FEW or any({*text} & {*",="} for text in texts):
        return ""
    if declared.answers == "names" and intake.kept and len(texts) == 1:
        tie, none = (quoted(f"names,{texts[0]}={worth}") for worth in ("0.5", ""))
        return f"--map {tie}, if {shown(texts[0])} is a tie; --map {none}, if it says nothing"
    if intake.kept or _like_an_item(texts, declared):
        return ""
    ties = ties_among({*texts}, told=True)
    sides = sorted((it for it in texts if it not in ties), key=_side)
    one = f" ({shown(declared.columns[0])})" if declared.columns else ""
    if len(sides) != 2:
        flag = quoted(",".join(f"{text}=" for text in texts))
        return (
            f"--map {flag} says it, with 1 behind = for the first item{one}, 0 for the second, 0.5 for a tie, or with "
            "nothing behind = where it says nothing"
        )
    tie = "".join(f",{it}=0.5" for it in sorted(ties))
    first, second = sides
    flags = [quoted(f"{first}={at},{second}={1 - at}{tie}") for at in (1, 0)]
    return (
        f"--map {flags[0]}, if {shown(first)} says that the first item{one} is preferred; --map {flags[1]}, if it says "
        "that the second is"
    )


def _like_an_item(texts: Sequence[str], declared: Declaration) -> bool:
    """Whether one of some answers is written like an item, of which somebody else speaks."""
    return any(nearest(it, declared.items) is not None for it in texts if len(it) > 1)


def _side(text: str) -> tuple[int, str]:
    """By what two answers are sorted: what usually is the first item's comes first."""
    small = text.casefold()
    return _FIRST.index(small) if small in _FIRST else len(_FIRST), small


def _fractions(intake: Intake, declared: Declaration) -> str:
    """What to do about weights with decimals; of numbers that may be thousands nothing."""
    sure = [text for text in intake.misread if not math.isnan(amount_of(text, declared.thousands))]
    numbers = [it for text in sure if (it := number_in(text)) is not None and it > 0 and it != int(it)]
    if not numbers or "no such weight" not in intake.left_out:
        return ""
    digits = min(2, max(-int(it.normalize().as_tuple().exponent) for it in numbers))
    factor = 10**digits
    return (
        f"weights are whole numbers, and some have decimals: multiply all of them and --max-weight by {factor}, which "
        "changes no order and no noise beside the scores, and round what is left"
    )
