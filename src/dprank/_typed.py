"""Numbers as people type and read them: decimals, which floats are not."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

__all__ = ["Typed", "exact_of", "said"]

#: Longest text that is taken as a decimal, and the powers of ten that it may have: beyond them it is a float.
_LONGEST, _FARTHEST = 60, 400


class Typed(float):
    """A number that somebody typed: a float, the nearest, which knows the decimal that was meant.

    Examples
    --------
    >>> fifth = Typed("0.2")
    >>> fifth == 0.2, fifth.exact, Fraction(fifth.below) <= Fraction(1, 5) < Fraction(0.2)
    (True, Fraction(1, 5), True)
    """

    exact: Fraction

    def __new__(cls, text: Any) -> Typed:
        """Of a text, or a number, which stands for its shortest digits; ValueError where it is none."""
        text = str(text)
        made = super().__new__(cls, text)
        made.exact = Fraction(float(made)) if math.isfinite(made) else Fraction(0)
        if math.isfinite(made) and len(text) <= _LONGEST:
            decimal = Decimal(text)
            if abs(decimal.adjusted()) <= _FARTHEST:
                made.exact = Fraction(decimal)
        return made

    @property
    def below(self) -> float:
        """The largest float that is not above the decimal."""
        number = float(self)
        return number if not math.isfinite(number) or number <= self.exact else math.nextafter(number, -math.inf)


def exact_of(number: float) -> Fraction:
    """The decimal that was typed, or what a float is.

    Examples
    --------
    >>> exact_of(Typed("0.1")), exact_of(0.25)
    (Fraction(1, 10), Fraction(1, 4))
    """
    return number.exact if isinstance(number, Typed) else Fraction(number)


def said(exact: Fraction, *, up: bool) -> float:
    """The float by which a number is said: itself, or whose shortest digits it is; else one that is above, or below.

    Of a decimal, read as it is written, it is never on the wrong side.

    Examples
    --------
    >>> said(Fraction(4, 5), up=False), said(1 - Fraction(0.2), up=False), said(1 - Fraction(0.3), up=False)
    (0.8, 0.7999999999999999, 0.7)
    """
    try:
        number = float(exact)
    except OverflowError:
        return math.inf if up else math.nextafter(math.inf, 0)
    if exact in (Fraction(number), Fraction(Decimal(repr(number)))):
        return number
    while any((it < exact) == up for it in (Fraction(number), Fraction(Decimal(repr(number))))):
        number = math.nextafter(number, math.inf if up else -math.inf)
    return number
