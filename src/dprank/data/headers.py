"""What to do where a header lacks a name: of its own names only the one that is written most like it is told."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence

from dprank._require import shown
from dprank.data.cleaning import RULES, cleaner, nearest

__all__ = ["UNNAMED", "is_nameless", "is_numeral", "is_order", "joined_items", "like_header", "no_column", "no_pair"]

#: Names of a header among which the nearest is looked for.
LOOKED_AMONG = 2_000
#: What pandas calls a column without a name.
_NO_NAME = re.compile("Unnamed: [0-9]+")
#: How that is said of one that is asked for.
UNNAMED = (
    "a column without a name in line 1 is called by its place: 'Unnamed: 0' the first, 'Unnamed: 1' the second, and so "
    "on"
)
#: Missing names that are told.
TOLD = 3
#: What stands between items of an order, and a count before it.
_BETWEEN = re.compile(r"[>≻›»→|,;/=\n\t]|->")
_COUNTED = re.compile(r"(?<!\s)\s*+(?<![0-9])[0-9]++\s*+[:;,.)x×]\s*+")
_NUMERAL = re.compile(r"[+-]?[0-9]++(?:[.,'’\s][0-9]++)*+")
#: What to do where line 1 is a row.
_NO_NAMES = "if it is a row, put a line of names above it"


def no_column(
    missing: Sequence[str],
    names: Sequence[str],
    said: str = "",
    items: Sequence[str] = (),
    needed: int = 2,
    wide: bool = False,
) -> str:
    """That columns are missing, how the header was cut, and which of its names may be meant.

    Parameters
    ----------
    missing, names : sequence of str
        What is asked for, and what the header has.
    said : str
        How the file was written, as of `dprank.data.sniffing.Sniffed`.
    items : sequence of str
        Declared ones: to each of these a column of another name can be an alias.
    needed : int
        How many columns are declared, of those that are there and those that are not.
    wide : bool
        Whether items are columns; where they are none, and are in the header, that is a row.

    Examples
    --------
    >>> no_column(["persons"], ["Person", "roads"], "CSV in UTF-8, separated by commas, lines end in LF")
    "no column 'persons' (2 columns, separated by commas); 'Person' is meant, maybe"
    >>> print(no_column(["weir"], ["who", "Rank [weir]"], items=["weir", "quarry"]))
    no column 'weir' (2 columns); 'Rank [weir]' is meant, maybe: --alias "Rank [weir]=weir"
    >>> print(no_column(["weir"], ["who", "Rank\\nweir"], items=["weir", "quarry"]).split("maybe: ")[1])
    --alias "Rank weir=weir" --clean spaces
    >>> no_column(["Oak", "elm"], ["Oak, elm", "Fir"], items=["Oak", "elm", "Fir"]).split("; ")[1]
    "'Oak, elm' is one, with a comma in its name: name all items in a text file, one a line"
    """
    blank = [shown(it) for it in names if is_nameless(it)][:TOLD]
    are = "are columns" if len(blank) > 1 else "is a column"
    nameless = f"; {', '.join(blank)} {are} without a name in line 1" if blank else ""
    return _lacks(missing, names, said, items, needed, wide) + nameless


def _lacks(
    missing: Sequence[str], names: Sequence[str], said: str, items: Sequence[str], needed: int, wide: bool
) -> str:
    """The same, without columns that have no name."""
    cut = next((part for part in said.split(", ") if part.startswith("separated")), "")
    told = ", ".join(map(shown, missing[:TOLD])) + f" and {len(missing) - TOLD} more" * (len(missing) > TOLD)
    columns = f"{len(names)} column{'s' * (len(names) != 1)}"
    lacks = f"no column {told} ({', '.join(filter(None, (columns, cut)))})"
    if whole := joined_items(names, items, missing):
        return f"{lacks}; {shown(whole)} is one, with a comma in its name: name all items in a text file, one a line"
    if whole := joined_items(names, missing):
        typed = shlex.quote(f'"{whole}"')
        return f"{lacks}; {shown(whole)} is one, with a comma in its name: in quotation marks, as {typed}, it stays one"
    blank = sum(map(is_nameless, names))
    if blank > 1 or (blank and len(names) == 2):
        have = "has" if blank == 1 else "have"
        return (
            f"{lacks}; {blank} of them {have} no name in line 1: is it a title, or the first of two header lines? One "
            "line of names is needed, and nothing above it: --skip 1 passes over a title, --header 2 reads two lines"
        )
    known = frozenset(items)
    rows = any(is_order(it, known) for it in names) or bool(known & {*names} or [*filter(is_numeral, names)])
    if len(names) == 1 and (rows or needed == 1) and not said.startswith("JSON"):
        return f"{lacks}; line 1 is taken for the header: {_NO_NAMES}{'' if rows else ', and no title'}"
    if len(names) == 1 and (cut or not said):
        need = "commas, semicolons, tabs or bars are needed between columns"
        return f"{lacks}; {need}, and no title above them, unless --skip passes over it"
    if items and len(items) > 1 and set(items) <= set(missing):  # of a wide table no item is a column
        likes = [like for name in missing[:TOLD] if (like := like_header(name, names))]
        if not likes:
            return (
                f"{lacks}; --wide has a column an item: is it a column a place (--ranks FIRST,SECOND,…), a row an "
                f'item (--long ITEM,PLACE), or do its columns have other names (--alias "header=item")?'
                + f" Line 1 is taken for the header: {_NO_NAMES}"
                * rows
            )
    # a cell of somebody's row is not told again, but where it is the name that was asked for
    row = rows and (not wide or any(is_numeral(it) and it not in known for it in names))
    for name in missing[:TOLD]:
        like = like_header(name, names)
        if like and not (row and cleaner(RULES)(like) != cleaner(RULES)(name)):
            plain = " ".join(like.split())
            alias = f"{plain}={name}" if len(plain) <= 56 and '"' not in plain else f"HEADER={name}"
            # a line break, as any other blank, is typed as one blank, which is the header's after this rule
            rule = " --clean spaces" if plain != like else ""
            hint = f": --alias {_typed(alias)}{rule}" if name in items else ""
            if cleaner(RULES)(like) == cleaner(RULES)(name):
                hint = f": --clean {','.join(RULES)} takes it for that" if name in items else ""
            if name not in items and plain != like and plain == name:
                hint = ": --clean spaces takes it for that"
            return f"{lacks}; {shown(like)} is meant, maybe{hint}"
    alias = ': --alias "header=item" names a column' * (missing[0] in items)
    title = ": if it is a title, --skip 1 passes over it" * (len(names) == 1)
    return f"{lacks}; line 1 is taken for the header{alias or title or f': {_NO_NAMES}' * rows}"


def is_order(name: str, items: Collection[str]) -> bool:
    """Whether a name is an order of items, as a row holds it, or as it stands behind a number of ballots.

    Examples
    --------
    >>> [is_order(it, ["oak", "elm"]) for it in ("oak > elm", "21: elm=oak", "oak vs elm", "oak", "oak > ash")]
    [True, True, False, False, False]
    """
    if name in items:
        return False
    parts = [it.strip() for it in _BETWEEN.split(_COUNTED.sub("", name, count=1)) if it.strip()]
    return len(parts) > 1 and all(it in items for it in parts)


def _typed(word: str) -> str:
    """A word in quotation marks of which a shell takes it as it is."""
    return shlex.quote(word) if set(word) & set('"$`\\!') else f'"{word}"'


def is_nameless(name: str) -> bool:
    """Whether a column is called as one is whose header is empty.

    Examples
    --------
    >>> [is_nameless(it) for it in ("Unnamed: 3", " ", "who")]
    [True, True, False]
    """
    return not name.strip() or bool(_NO_NAME.fullmatch(name))


def is_numeral(name: str) -> bool:
    """Whether a name is a number.

    Examples
    --------
    >>> [is_numeral(it) for it in ("40", " 1.204 ", "2020-21", "1st", "")]
    [True, True, False, False, False]
    """
    return bool(_NUMERAL.fullmatch(name.strip()))


def no_pair(names: Sequence[str], items: Sequence[str]) -> str:
    """That no name of a header is that of a pair, and what may be the reason.

    Examples
    --------
    >>> print(no_pair(["Oak, elm vs Fir"], ["Oak", "elm", "Fir"]).split("; ")[1])
    'Oak, elm' is one, with a comma in its name: name all items in a text file, one a line
    """
    lacks = "no column is named like 'Pay vs Hours', by two declared items"
    sides = [side.strip() for it in names[:LOOKED_AMONG] for side in re.split(r"(?i)\s(?:vs\.?|versus)\s", it)]
    if whole := joined_items(sides, items):
        return f"{lacks}; {shown(whole)} is one, with a comma in its name: name all items in a text file, one a line"
    return f"{lacks}; say --pairs"


def joined_items(names: Sequence[str], items: Sequence[str], missing: Sequence[str] | None = None) -> str | None:
    """A name with commas whose parts were declared as items, and are not there: one item was cut into several.

    Examples
    --------
    >>> joined_items(["Parks, trees", "Roads"], ["Parks", "trees", "Roads"], ["Parks", "trees"])
    'Parks, trees'
    """
    lost = set(items if missing is None else missing) & set(items)
    for name in names[:LOOKED_AMONG]:
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and all(part in lost for part in parts if part) and any(parts):
            return name
    return None


def like_header(name: str, names: Sequence[str]) -> str | None:
    """The one name of a header that holds a word as it is, else the one that is written most like it.

    Examples
    --------
    >>> like_header("weir", ["Rank [weir]", "Rank [quarry]"]), like_header("who", ["id", "Name"])
    ('Rank [weir]', None)
    """
    some = [it for it in dict.fromkeys(names[:LOOKED_AMONG]) if it.strip()]
    word = re.compile(rf"(?<!\w){re.escape(name.strip())}(?!\w)", re.IGNORECASE)
    holding = [it for it in some if word.search(it)]
    return holding[0] if len(holding) == 1 else nearest(name, some)
