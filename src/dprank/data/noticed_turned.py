"""What turns a row, or a whole file, round: sides that were shown the other way, and orders that begin at the worst."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dprank._require import shown
from dprank.data.accounts import BLANK, Intake
from dprank.data.noticed_names import MEANT, SIDES, words_of
from dprank.data.noticed_scales import best_in
from dprank.data.noticed_worst import called_the_worst, from_the_worst

if TYPE_CHECKING:
    from dprank.data.noticed_cells import Raw

__all__ = ["in_orders", "in_turned"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: What says that two were changed, in a name or a cell; and what says beside it that they were not.
_TURNED = _set(
    """swapped swap swaps flipped flip flips reversed reverse inverted inverse invert mirrored switched switch turned
    rotated counterbalanced vertauscht getauscht gedreht gespiegelt umgekehrt inversé inversée inversés échangé
    invertido invertida intercambiado invertito scambiato omgewisseld omgekeerd verwisseld trocado bytt byttet omvänd
    ombytt vaihdettu zamienione odwrócone"""
)
_AS_IT_IS = _set(
    """normal original standard regular same canonical straight unswapped unflipped forward forwards direct default
    unverändert richtig normale diretto directo originale normaal vanlig"""
)
#: Words for one side of a pair, in names of columns.
_SHOWN = _set(
    """left first top upper above a one shown displayed position1 links oben erste erstes gauche haut premier izquierda
    arriba primero sinistra alto primo boven vänster esquerda"""
)
#: What may stand beside a word for turned in a name.
_BESIDE = _set(
    """is was were are the order side sides item items pair pairs position positions display displayed q trial left
    right ab lr screen presentation shown stimulus stimuli option options seite seiten ist war reihenfolge"""
) | {""}
#: Ways of counting of which one is the other turned round.
_ENDS = (frozenset(("asc", "desc")), frozenset(("ascending", "descending")))
#: More values are no two ways.
WAYS = 3
#: This share of rows, at least, must be of the other item of a pair.
SEVERAL = 0.1


def in_orders(raw: Raw, intake: Intake) -> Iterator[str]:
    """A sentence on a column of orders, or of places, that says by its name that it begins at the worst."""
    declared = raw.declared
    if declared.kind != "ballots" or declared.form not in ("orders", "wide", "long"):
        return
    if declared.form == "orders":
        name = declared.columns[0]
        if from_the_worst(name) or called_the_worst(name):
            sign = declared.between or ">"
            yield (
                f"column {shown(name)} says by its name that orders begin at the worst, and the first item of A {sign} "
                "B is taken for the best: if the name is right, turn the orders round"
            )
        return
    names = [declared.columns[1]] if declared.form == "long" else list(map(str, raw.frame.columns))
    names = [it for it in names if declared.form == "long" or raw.clean(it) in raw.codes]
    turned = [it for it in names if from_the_worst(it) and best_in(it) is None]
    if turned and 2 * len(turned) > len(names) and declared.best != "high":
        yield (
            f"column {shown(turned[0])} says by its name that places begin at the worst, and the lowest is taken for "
            "the best: if the name is right, --best high"
        )


def in_turned(raw: Raw, intake: Intake) -> Iterator[tuple[str, str]]:
    """Columns by which some rows are to be read the other way round, each with a sentence."""
    declared = raw.declared
    sides = declared.kind == "comparisons" and declared.answers != "names"
    if not (sides or (declared.kind == "ballots" and declared.form in ("wide", "long"))):
        return
    for name in intake.unused:
        column = raw.column(name)
        if column is None:
            continue
        cells = {str(it).strip(): int(number) for it, number in column.value_counts().items()}
        texts = [it for it in cells if it.casefold() not in BLANK]
        other = _turned(name, texts, "" in cells, sides) if len(texts) <= WAYS else None
        if other is not None:
            number = sum(cells[it] for it in cells if it.casefold() == other.casefold())
            seen = f"column {shown(name)} is not used, and {number} of {len(column)} rows have {shown(other)} there"
            if sides:
                ask = "were the two sides shown the other way round, and does the answer speak of sides?"
                yield name, f"{seen}: {ask} All rows are read one way now; if so, turn these round in the file"
            else:
                ask = "are their places the other way round?"
                yield name, f"{seen}: {ask} All are read one way now; if so, turn these round in the file"
        elif sides and declared.form == "long" and (line := _shown(raw, name, column)):
            yield name, line


def _turned(name: str, texts: list[str], blanks: bool, sides: bool) -> str | None:
    """What of a column stands for the other way round; None where nothing does."""
    small = {it.casefold(): it for it in texts}
    if len(small) == 2:
        one, two = small
        for end in _ENDS:
            if set(small) == end:
                return small[max(end, key=lambda it: it.startswith(("d",)))]
        if sides and _parts(one) == _parts(two)[::-1] and _parts(one) != _parts(two):
            return max(small.values())
        ends = [best_in(it) for it in small]
        if set(ends) == {"high", "low"}:
            return small[two if ends[1] == "high" else one]
    found = [it for it in small if not _TURNED.isdisjoint(words_of(it))]
    if found and all(it in found or not _AS_IT_IS.isdisjoint(words_of(it)) for it in small):
        return small[found[0]] if len(small) > len(found) or blanks else None
    words = {re.sub("[0-9]", "", it) for it in words_of(name)}
    if words.isdisjoint(_TURNED) or not words <= _TURNED | _BESIDE:
        return None
    pairs = [pair for pair in SIDES if pair == set(small)]
    if pairs or (blanks and len(small) == 1 and set(small) <= MEANT):
        yes = [it for it in small if it in MEANT or it in ("yes", "true", "ja", "oui")]
        return small[yes[0]] if yes else None
    return None


def _parts(text: str) -> list[str]:
    """The two halves of a code such as AB, 1-2 or left-right; the text itself where there are none."""
    parts = [it for it in re.split(r"[\W_]+", text) if it]
    if len(parts) == 1 and len(parts[0]) == 2 and not parts[0].isdigit():
        return list(parts[0])
    return list(parts[0]) if parts in (["12"], ["21"]) else parts if len(parts) == 2 else [text]


def _shown(raw: Raw, name: str, column: Any) -> str | None:
    """What is said of a column that names the item on one side, where it is not always the first one."""
    if _SHOWN.isdisjoint(words_of(name)):
        return None
    own = [raw.column(it) for it in raw.declared.columns[:2]]
    if any(it is None for it in own):
        return None
    codes = [one.map({it: raw.item(str(it)) for it in one.unique()}).to_numpy(float) for one in (column, *own)]
    first, second = (codes[0] == it for it in codes[1:])
    if (first | second).sum() < 0.9 * len(column) or min(first.sum(), second.sum()) < SEVERAL * len(column):
        return None
    return (
        f"column {shown(name)} is not used, and names the first item in {int(first.sum())} rows and the second in "
        f"{int(second.sum())}: does the answer speak of the sides that were shown? It is read of the first item of "
        f"--comparisons now; if it does, write the item that was shown first into its first column"
    )
