"""A second evaluation: the modules of `certificates/` once more, this module being their `flint`.

Rationals are `fractions`. A ball is an interval between two `decimal`s of 60 digits, rounded outwards; exponential,
logarithm and root are right to the last digit. Other functions are mpmath's at both ends, with more digits, widened by
GUARD of themselves. Only an integral is not proved: it may be off by a thousand times the error that mpmath estimates.
What is missing here fails.
"""

from __future__ import annotations

import decimal
import importlib
import itertools
import json
import math
import operator
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mpmath

TRAPS = [decimal.InvalidOperation, decimal.DivisionByZero]
DOWN = decimal.Context(60, decimal.ROUND_FLOOR, decimal.MIN_EMIN, decimal.MAX_EMAX, traps=TRAPS)
UP = decimal.Context(60, decimal.ROUND_CEILING, decimal.MIN_EMIN, decimal.MAX_EMAX, traps=TRAPS)
mp, coarse = mpmath.MPContext(), mpmath.MPContext()
mp.dps, coarse.dps = 80, 40
GUARD, NARROW = Decimal("1e-55"), Decimal("1e-50")
SCALE = 10**40  # of the whole numbers that are coefficients of a polynomial of balls
ctx = SimpleNamespace(prec=0)  # whatever precision is asked for, these are the digits

# ---------------------------------------------------------------- rationals


NEW = object.__new__
#: In a tuple made once: arithmetic asks a million times.
RATIONAL = int, Fraction


class fmpq(Fraction):
    __slots__ = ()

    def __new__(cls, p: Any = 0, q: Any = 1) -> fmpq:
        if type(p) is int and q == 1:
            return lowest(p, 1)
        if not isinstance(p, RATIONAL) or not isinstance(q, RATIONAL):
            raise TypeError(f"{p!r}/{q!r} is no rational")
        return lowest(p.numerator * q.denominator, p.denominator * q.numerator)

    p = numerator = Fraction._numerator
    q = denominator = Fraction._denominator
    floor, ceil = Fraction.__floor__, Fraction.__ceil__
    __hash__ = Fraction.__hash__

    def __add__(self, other: Any) -> Any:
        if type(other) is fmpq:
            return lowest(self.p * other.q + other.p * self.q, self.q * other.q)
        return _made(self.p + other * self.q, self.q) if isinstance(other, int) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        if type(other) is fmpq:
            return lowest(self.p * other.q - other.p * self.q, self.q * other.q)
        return _made(self.p - other * self.q, self.q) if isinstance(other, int) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return _made(other * self.q - self.p, self.q) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if type(other) is fmpq:
            return lowest(self.p * other.p, self.q * other.q)
        return lowest(self.p * other, self.q) if isinstance(other, int) else NotImplemented

    def __truediv__(self, other: Any) -> Any:
        if type(other) is fmpq:
            return lowest(self.p * other.q, self.q * other.p)
        return lowest(self.p, self.q * other) if isinstance(other, int) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return lowest(other * self.q, self.p) if isinstance(other, int) else NotImplemented

    def __eq__(self, other: Any) -> Any:
        return (
            self.p == other.numerator and self.q == other.denominator if isinstance(other, EXACTLY) else NotImplemented
        )

    __radd__, __rmul__ = __add__, __mul__
    __neg__ = lambda self: _made(-self.p, self.q)  # noqa: E731
    __abs__ = lambda self: self if self.p >= 0 else _made(-self.p, self.q)  # noqa: E731


def _made(p: int, q: int) -> fmpq:
    """Of two that share no divisor."""
    it = NEW(fmpq)
    it.p, it.q = p, q
    return it


def lowest(p: int, q: int) -> fmpq:
    it = NEW(fmpq)
    if q == 1:
        it.p, it.q = p, 1
        return it
    shared = math.gcd(p, q) if q > 0 else -math.gcd(p, q)
    if shared == 1:
        it.p, it.q = p, q
        return it
    if not shared:
        raise ZeroDivisionError(f"{p}/{q}")
    it.p, it.q = p // shared, q // shared
    return it


EXACTLY = int, fmpq


def _compared(of: Any) -> Any:
    return lambda x, y: of(x.p * y.denominator, y.numerator * x.q) if isinstance(y, EXACTLY) else NotImplemented


for _name in ("lt", "le", "gt", "ge"):
    setattr(fmpq, f"__{_name}__", _compared(getattr(operator, _name)))


def _staying_rational(plain: Any) -> Any:
    def of(*given: Any) -> Any:
        found = plain(*given)
        if isinstance(found, float | complex):
            raise TypeError(f"{given} gives a float")
        return lowest(found.numerator, found.denominator) if isinstance(found, Fraction) else found

    return of


for _name in ("pow", "rpow", "pos"):
    setattr(fmpq, f"__{_name}__", _staying_rational(getattr(Fraction, f"__{_name}__")))

# ---------------------------------------------------------------- balls


class arb:
    """All numbers from `low` to `high`; a comparison is True only if it is for all of them."""

    __slots__ = "high", "low"
    low: Decimal
    high: Decimal
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, mid: Any = 0, rad: Any = 0) -> None:
        if isinstance(mid, arb):
            self.low, self.high = mid.low, mid.high
        elif isinstance(mid, int):
            self.low, self.high = DOWN.create_decimal(mid), UP.create_decimal(mid)
        elif isinstance(mid, fmpq):
            p, q = Decimal(mid.numerator), Decimal(mid.denominator)
            self.low, self.high = DOWN.divide(p, q), UP.divide(p, q)
        else:
            raise TypeError(f"{mid!r} is no number")
        if rad != 0:
            off = abs(arb(rad)).high
            self.low, self.high = DOWN.subtract(self.low, off), UP.add(self.high, off)

    pi = staticmethod(lambda: outside(mp.pi, mp.pi))

    def __neg__(self) -> arb:
        return spanning(self.high.copy_negate(), self.low.copy_negate())

    def __abs__(self) -> arb:
        if self.low >= 0 or self.high <= 0:
            return spanning(*sorted(it.copy_abs() for it in (self.low, self.high)))
        return spanning(Decimal(0), max(it.copy_abs() for it in (self.low, self.high)))

    def __add__(self, other: Any) -> arb:
        return spanning(DOWN.add(self.low, other.low), UP.add(self.high, other.high))

    def __sub__(self, other: Any) -> arb:
        return spanning(DOWN.subtract(self.low, other.high), UP.subtract(self.high, other.low))

    def __mul__(self, other: Any) -> arb:
        if self.low >= 0 and other.low >= 0:
            return spanning(DOWN.multiply(self.low, other.low), UP.multiply(self.high, other.high))
        pairs = list(itertools.product((self.low, self.high), (other.low, other.high)))
        return spanning(min(DOWN.multiply(*it) for it in pairs), max(UP.multiply(*it) for it in pairs))

    def __truediv__(self, other: Any) -> arb:
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError("the divisor may be 0")
        if self.low >= 0 and other.low > 0:
            return spanning(DOWN.divide(self.low, other.high), UP.divide(self.high, other.low))
        return self * spanning(DOWN.divide(Decimal(1), other.high), UP.divide(Decimal(1), other.low))

    def __pow__(self, power: Any) -> arb:
        if power.low != power.high or power.low != int(power.low):
            return (self.log() * power).exp()
        n, found, square = abs(int(power.low)), arb(1), self
        while n:
            found, square, n = found * square if n % 2 else found, square * square if n > 1 else square, n // 2
        return found if power.low >= 0 else arb(1) / found

    __lt__ = lambda self, other: self.high < other.low  # noqa: E731
    __le__ = lambda self, other: self.high <= other.low  # noqa: E731
    __gt__ = lambda self, other: self.low > other.high  # noqa: E731
    __ge__ = lambda self, other: self.low >= other.high  # noqa: E731
    __eq__ = lambda self, other: self.low == self.high == other.low == other.high  # noqa: E731
    __ne__ = lambda self, other: self < other or self > other  # noqa: E731
    max = lambda self, other: spanning(max(self.low, other.low), max(self.high, other.high))  # noqa: E731
    min = lambda self, other: spanning(min(self.low, other.low), min(self.high, other.high))  # noqa: E731
    union = lambda self, other: spanning(min(self.low, other.low), max(self.high, other.high))  # noqa: E731

    def __repr__(self) -> str:
        return f"[{self.low:.12e}, {self.high:.12e}]"

    def __bool__(self) -> bool:
        raise TypeError("a ball is neither true nor false")

    def exp(self) -> arb:
        low = self.low.exp(DOWN)
        # exp(low + t) <= exp(low) (1 + 2t) for t up to 1: of a narrow interval one exponential is enough
        wide = UP.subtract(self.high, self.low)
        if wide < NARROW:
            high = UP.multiply(UP.next_plus(low), UP.add(1, UP.add(wide, wide)))
        else:
            high = UP.next_plus(self.high.exp(UP))
        return spanning(max(Decimal(0), DOWN.next_minus(low)), high)

    def log(self) -> arb:
        return spanning(DOWN.next_minus(self.low.ln(DOWN)), UP.next_plus(self.high.ln(UP)))

    def sqrt(self) -> arb:
        return spanning(max(Decimal(0), DOWN.next_minus(self.low.sqrt(DOWN))), UP.next_plus(self.high.sqrt(UP)))

    def lgamma(self) -> arb:
        if self.low < 2:
            raise ValueError("log Γ does not rise there")
        return outside(*(mp.loggamma(mp.mpf(str(end))) for end in (self.low, self.high)))

    def sin(self) -> arb:
        middle, off = self.mid(), arb(0, self - self.mid())  # no slope is above 1
        return outside(*[mp.sin(mp.mpf(str(middle.low)))] * 2) + off

    def real_abs(self, analytic: bool = False) -> arb:
        return abs(self)

    def lower(self) -> arb:
        return spanning(self.low, self.low)

    def upper(self) -> arb:
        return spanning(self.high, self.high)

    def mid(self) -> arb:
        middle = UP.divide(UP.add(self.low, self.high), Decimal(2))
        return spanning(middle, middle)

    def floor(self) -> arb:
        return spanning(*(it.to_integral_value(decimal.ROUND_FLOOR) for it in (self.low, self.high)))

    def ceil(self) -> arb:
        return spanning(*(it.to_integral_value(decimal.ROUND_CEILING) for it in (self.low, self.high)))

    def unique_fmpz(self) -> int | None:
        low, high = self.ceil().low, self.floor().high
        return int(low) if low == high else None


def spanning(low: Decimal, high: Decimal) -> arb:
    found: arb = NEW(arb)
    found.low, found.high = low, high
    return found


SHORT = 10**50
SMALL = {n: arb(n) for n in range(-20, 20)}


def ball(x: int | fmpq) -> arb:
    if type(x) is int and -SHORT < x < SHORT:
        return SMALL[x] if x in SMALL else spanning(*[Decimal(x)] * 2)
    return arb(x)


def number(x: Any) -> fmpq:
    """What mpmath's number is, to 50 digits."""
    return fmpq(Fraction(coarse.nstr(x, 50)))


def outside(low: Any, high: Any) -> arb:
    """The interval that surely holds what mpmath found to lie between two ends."""
    a, b = (Decimal(mp.nstr(it, 70, strip_zeros=False)) for it in sorted((low, high)))
    return spanning(DOWN.subtract(a, UP.multiply(a.copy_abs(), GUARD)), UP.add(b, UP.multiply(b.copy_abs(), GUARD)))


def _with_numbers(name: str) -> None:
    """Let an operation take whole numbers and rationals too, on both sides."""
    between_balls = getattr(arb, f"__{name}__", None) or getattr(arb, name)

    def forth(self: arb, other: Any) -> Any:
        if isinstance(other, arb):
            return between_balls(self, other)
        return between_balls(self, ball(other)) if isinstance(other, EXACTLY) else NotImplemented

    def back(self: arb, other: Any) -> Any:
        return between_balls(ball(other), self) if isinstance(other, EXACTLY) else NotImplemented

    setattr(arb, f"__{name}__" if hasattr(arb, f"__{name}__") else name, forth)
    if name in ("add", "sub", "mul", "truediv", "pow"):
        setattr(arb, f"__r{name}__", back)


def _monotone(name: str) -> Any:
    return lambda self: outside(*(getattr(mp, name)(mp.mpf(str(end))) for end in (self.low, self.high)))


for _name in ("add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne", "max", "min", "union"):
    _with_numbers(_name)
for _name in ("erf", "erfc", "tanh", "sinh", "atan", "asinh", "expm1", "log1p"):
    setattr(arb, _name, _monotone(_name))


class acb(arb):
    """A number that an integral runs through: here they all are real."""

    real = property(lambda self: self)

    @staticmethod
    def integral(f: Any, a: Any, b: Any) -> acb:
        ends, largest = [arb(a), arb(b)], Decimal(0)

        def at(t: Any) -> Any:
            nonlocal largest
            here = Decimal(coarse.nstr(t, 50))
            value = arb(f(acb(spanning(here, here)), False))
            largest = max(largest, abs(value).high)
            return coarse.mpf(str(value.mid().low))

        found, off = coarse.mpf(0), coarse.mpf(0)
        left = [tuple(coarse.mpf(str(end.mid().low)) for end in ends)]
        while left:  # halves, until there is neither an error nor a kink of any size
            low, high = left.pop()
            here, error = coarse.quadgl(at, [low, high], error=True, maxdegree=5)
            if error > coarse.mpf("1e-30") and abs(high - low) > coarse.mpf("1e-20"):
                left += [(low, (low + high) / 2), ((low + high) / 2, high)]
            else:
                found, off = found + here, off + 1000 * error
        apart = sum((end.upper() - end.lower() for end in ends), arb(0))
        return acb(number(found), number(off) + (apart + fmpq(1, 10**35)) * (spanning(largest, largest) + 1))


# ---------------------------------------------------------------- matrices and polynomials


class fmpq_mat:
    """Whole numbers over one denominator."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Any, width: int = 0, entries: Any = ()) -> None:
        if isinstance(rows, int):
            flat = list(entries) or [0] * (rows * width)
            rows = [flat[i : i + width] for i in range(0, len(flat), width)]
        assert len({len(row) for row in rows}) == 1
        self.q = math.lcm(*(fmpq(it).q for row in rows for it in row))
        self.c = [[int(it * self.q) for it in row] for row in rows]

    def nrows(self) -> int:
        return len(self.c)

    def ncols(self) -> int:
        return len(self.c[0])

    def table(self) -> list[list[fmpq]]:
        return [[lowest(it, self.q) for it in row] for row in self.c]

    def entries(self) -> list[fmpq]:
        return [it for row in self.table() for it in row]

    def transpose(self) -> fmpq_mat:
        return _over(self.q, zip(*self.c, strict=True))

    def __getitem__(self, at: tuple[int, int]) -> fmpq:
        return fmpq(self.c[at[0]][at[1]], self.q)

    def __eq__(self, other: Any) -> bool:
        return not any(map(any, (self - other).c))

    def __add__(self, other: fmpq_mat) -> fmpq_mat:
        q = math.lcm(self.q, other.q)
        a, b = q // self.q, q // other.q
        pairs = zip(self.c, other.c, strict=True)
        return _over(q, ([a * x + b * y for x, y in zip(*rows, strict=True)] for rows in pairs))

    def __sub__(self, other: fmpq_mat) -> fmpq_mat:
        return self + _over(other.q, ([-it for it in row] for row in other.c))

    def __mul__(self, other: Any) -> fmpq_mat:
        if not isinstance(other, fmpq_mat):
            by = fmpq(other)
            return _over(self.q * by.q, ([it * by.p for it in row] for row in self.c))
        columns = list(zip(*other.c, strict=True))
        assert self.ncols() == other.nrows()
        return _over(self.q * other.q, ([sum(map(operator.mul, row, it)) for it in columns] for row in self.c))

    def eliminated(self, columns: int) -> dict[int, list[int]]:
        """A row for each column with a pivot, which is its only entry in these columns with one."""
        left, found = self.c, {}
        for at in range(columns):
            if pivot := next((row for row in left if row[at]), None):

                def cleared(row: list[int], pivot: list[int] = pivot, at: int = at) -> list[int]:
                    row = [pivot[at] * x - row[at] * y for x, y in zip(row, pivot, strict=True)]
                    shared = math.gcd(*row) or 1
                    return [it // shared for it in row]

                left = [cleared(row) for row in left if row is not pivot]
                found = {column: cleared(row) for column, row in found.items()} | {at: pivot}
        return found

    def rank(self) -> int:
        return len(self.eliminated(self.ncols()))

    def solve(self, right: fmpq_mat) -> fmpq_mat:
        n = self.nrows()
        both = [[*(right.q * x for x in a), *(self.q * y for y in b)] for a, b in zip(self.c, right.c, strict=True)]
        rows = _over(1, both).eliminated(n)
        if not len(rows) == n == self.ncols():
            raise ZeroDivisionError("no solution, or more than one")
        return fmpq_mat([[fmpq(it, rows[i][i]) for it in rows[i][n:]] for i in range(n)])


def _over(q: int, rows: Any) -> fmpq_mat:
    found = fmpq_mat.__new__(fmpq_mat)
    found.q, found.c = q, [list(row) for row in rows]
    return found


class fmpq_poly:
    def __init__(self, coefficients: Any) -> None:
        self.c = [fmpq(it) for it in coefficients]

    def coeffs(self) -> list[fmpq]:
        return self.c

    def __mul__(self, other: fmpq_poly) -> fmpq_poly:
        found = [fmpq()] * (len(self.c) + len(other.c) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(self.c), enumerate(other.c)):
            found[i + j] += a * b
        return fmpq_poly(found)

    def __pow__(self, n: int) -> fmpq_poly:
        """One coefficient after the other: q = aⁿ solves q′a = n q a′ (Euler)."""
        a, found = self.c, [self.c[0] ** n]
        for k in range(1, n * (len(a) - 1) + 1):
            terms = (((n + 1) * j - k) * a[j] * found[k - j] for j in range(1, min(k, len(a) - 1) + 1))
            found.append(sum(terms, fmpq()) / (k * a[0]))
        return fmpq_poly(found)


class arb_poly:
    """Coefficients in whole SCALEths, each off by `off` of them at most."""

    def __init__(self, coefficients: list[Any]) -> None:
        ends = [[(arb(it) * SCALE).floor().low, (arb(it) * SCALE).ceil().high] for it in coefficients]
        self.c, self.off = [int(low) for low, _ in ends], max(int(high - low) for low, high in ends)

    def __mul__(self, other: arb_poly) -> arb_poly:
        found, total = arb_poly([0]), [0] * (len(self.c) + len(other.c) - 1)
        for j, b in enumerate(other.c):
            if b:
                there = slice(j, j + len(self.c))
                total[there] = [sum_ + a * b for sum_, a in zip(total[there], self.c, strict=True)]
        found.c = [it // SCALE for it in total]
        sums = [sum(map(abs, it.c)) + it.off * len(it.c) for it in (self, other)]
        found.off = (self.off * sums[1] + other.off * sums[0]) // SCALE + 2
        return found

    def truncate(self, n: int) -> arb_poly:
        found = arb_poly([0])
        found.c, found.off = self.c[:n], self.off
        return found

    def __getitem__(self, i: int) -> arb:
        if i >= len(self.c):
            raise IndexError
        return arb(fmpq(self.c[i], SCALE), fmpq(self.off, SCALE))


# ---------------------------------------------------------------- the modules once more


def evaluated() -> Any:
    """`check` and all that it imports, on what is above."""
    names = {"flint", *(path.stem for path in (Path(__file__).parents[2] / "certificates").glob("*.py"))}
    first = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.modules["flint"] = sys.modules[__name__]
    try:
        return importlib.import_module("check")
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(first)


HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq}
FAILS = {"<=": operator.gt, "<": operator.ge, ">=": operator.lt, ">": operator.le, "==": operator.ne}
CHECK = evaluated()


def numbers(it: Any) -> Any:
    if isinstance(it, dict):
        return {name: numbers(value) for name, value in it.items()}
    if isinstance(it, list):
        return [numbers(value) for value in it]
    return fmpq(Fraction(it)) if isinstance(it, str) and it.lstrip("-")[:1].isdigit() else it


def wrong(text: str) -> str:
    """What of a certificate does not stand, by this arithmetic; more digits where 60 do not decide."""
    for digits in 60, 200:
        DOWN.prec = UP.prec = digits
        if not (found := compared(text)):
            break
    return found


def sides(it: dict[str, Any]) -> Any:
    return CHECK.STATEMENTS[f"{it['claim']} | {it['printed']}"](**numbers(it["instance"]))


def compared(text: str) -> str:
    """The inequality is read here, not by `check`."""
    it = json.loads(text)
    found = sides(it)
    by, so = fmpq(Fraction(it["by"] if isinstance(it["by"], str) else it["by"][0])), it["shows"] == "violated"
    for said, (left, relation, right) in zip(it["found"], found, strict=True):
        told = f"{it['claim']}: {left} {relation} {right}"
        if not (FAILS if so else HOLDS)[relation](left, right) or not abs(left - right) >= by:
            return f"{told}: not {it['shows']} by {by}"
        for name, side in ("left", left), ("right", right):
            low, high = said[name] if isinstance(said[name], list) else [said[name]] * 2
            if not fmpq(Fraction(low)) <= side or not side <= fmpq(Fraction(high)):
                return f"{told}: {name} is not in {said[name]}"
    return "" if it["found"] else "nothing is compared"
