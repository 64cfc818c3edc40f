"""Numbers of ballots and weights: what a cell says, by itself and by what is declared of marks between thousands.

`1.000` is one, or one thousand, by where its writer lives, and so are `1,000` and `1 000`. Nothing else in a file says
which, as what others wrote may not: such a cell is no number, unless it is declared what stands between thousands.
"""

from __future__ import annotations

import math
import re

from dprank.data.places import number_of

__all__ = ["MARKS", "amount_of", "as_thousands", "count_of"]

#: What people write between groups of three figures; and that nothing stands there.
MARKS = (".", ",", "'", " ")
#: The same as other signs.
_ALIKE = str.maketrans({"’": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})
#: One figure to three, not 0, and groups of three: with one mark it may be a decimal's, with several it is not.
_GROUPED = {mark: re.compile(rf"\+?[1-9][0-9]{{0,2}}(?:{re.escape(mark)}[0-9]{{3}})+") for mark in MARKS}


def as_thousands(text: str) -> tuple[str, float] | None:
    """The mark between groups of three figures of a text, and the number that it is then; None where it has none.

    Examples
    --------
    >>> as_thousands("1.000"), as_thousands("12’345"), as_thousands("0.500"), as_thousands("1.00")
    (('.', 1000.0), ("'", 12345.0), None, None)
    """
    text = text.translate(_ALIKE).strip()
    mark = next((mark for mark, grouped in _GROUPED.items() if grouped.fullmatch(text)), None)
    number = math.nan if mark is None else number_of(text.replace(mark, ""))
    return None if mark is None or math.isnan(number) else (mark, number)


def amount_of(text: str, thousands: str | None = None) -> float:
    """The number that a cell is; not-a-number where it is none, or one of two.

    Parameters
    ----------
    text : str
    thousands : {".", ",", "'", " ", "none"}, optional
        What stands between thousands, or that nothing does. A point makes the comma that of decimals, and the others
        the point; of a blank and ' nothing is known of a point, or a comma, before three figures.

    Examples
    --------
    >>> [amount_of("1.000", it) for it in (None, ".", ",", "'", "none")]
    [nan, 1000.0, 1.0, nan, 1.0]
    >>> amount_of("1,200", ","), amount_of("1.200,50", "."), amount_of("0.500"), amount_of("7.00"), amount_of("1,5")
    (1200.0, 1200.5, 0.5, 7.0, nan)
    """
    text = text.translate(_ALIKE).strip()
    grouped = as_thousands(text)
    if thousands is None or thousands == "none":
        return math.nan if grouped is not None and thousands is None else number_of(text)
    if grouped is not None and grouped[0] == thousands:
        return grouped[1]
    if grouped is not None and thousands in ("'", " "):
        return math.nan
    decimal = "," if thousands == "." else "."
    whole, point, rest = text.partition(decimal)
    found = as_thousands(whole)
    if thousands in whole or thousands in rest:  # groups of three, or no number
        fits = found is not None and found[0] == thousands and (not rest or (rest.isascii() and rest.isdigit()))
        return float(f"{int(found[1])}.{rest}") if fits and found is not None else math.nan
    return number_of(f"{whole}.{rest}" if point else whole)


def count_of(text: str, thousands: str | None = None, most: float = 2.0**53) -> float:
    """For how many ballots a row stands, or how much one counts: a whole number from 0; -inf where it is none.

    Examples
    --------
    >>> count_of("1,200"), count_of("1,200", ","), count_of("7.0"), count_of("1.5")
    (-inf, 1200.0, 7.0, -inf)
    """
    number = amount_of(text, thousands)
    return number if 0 <= number <= most and number == int(number) else -math.inf
