"""Numbers that carry their own proof, and the laws that the statements are made of.

A number is an `int`, an `fmpq` (a rational, exact) or an `arb` (a ball: a midpoint and a radius that holds the true
value). `a < b` between balls is True only where it is proved. Nothing here is a float.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from flint import acb, arb, fmpq

Number = int | fmpq | arb
Sides = tuple[Number, str, Number]  # left, relation, right: what is printed says that it holds


class NotShown(Exception):
    """The certificate does not show what it says, for the reason given."""


def need(condition: bool, why: str) -> None:
    """A hypothesis of the statement: an instance that breaks it shows nothing."""
    if not condition:
        raise NotShown(why)


class Statements(dict[str, Callable[..., list[Sides]]]):
    """What one paper prints, by claim and wording; each entry turns an instance into the sides of its inequality."""

    def says(self, claim: str, printed: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(sides: Callable[..., Any]) -> Callable[..., Any]:
            self[f"{claim} | {printed}"] = lambda **given: (
                [found] if isinstance(found := sides(**given), tuple) else list(found)
            )
            return sides

        return keep


# ---------------------------------------------------------------- numbers


def whole(value: Any, least: int, most: int, name: str) -> int:
    need(type(value) is int and least <= value <= most, f"{name} must be an integer from {least} to {most}")
    return value


def rational(value: Any, name: str) -> fmpq:
    need(type(value) in (int, fmpq), f"{name} must be a rational")
    return fmpq(value)


def between(value: Any, low: Number, high: Number, name: str) -> fmpq:
    x = rational(value, name)
    need(low < x < high, f"{name} must lie between {low} and {high}")
    return x


def exp(x: Number) -> arb:
    return arb(x).exp()


def log(x: Number) -> arb:
    return arb(x).log()


def sqrt(x: Number) -> arb:
    return arb(x).sqrt()


def largest(values: Sequence[Number] | Iterator[Number]) -> Number:
    """The largest, exact if all are rationals, else a ball that holds it."""
    values = list(values)
    if all(isinstance(it, int | fmpq) for it in values):
        return max(values)
    best = arb(values[0])
    for it in values[1:]:
        best = best.max(arb(it))
    return best


# ---------------------------------------------------------------- orders


def orders(m: int) -> Iterator[tuple[int, ...]]:
    """All orders of m items: the item at each place."""
    need(m <= 7, "too many items to list all orders")
    return itertools.permutations(range(m))


def is_order(value: Any, m: int, name: str = "ranking") -> tuple[int, ...]:
    need(isinstance(value, list) and all(type(it) is int for it in value), f"{name} must be a list of integers")
    need(sorted(value) == list(range(m)), f"{name} is no order")
    return tuple(value)


def kendall(a: Sequence[int], b: Sequence[int]) -> int:
    """Pairs of items that two orders put the other way round."""
    place = {item: i for i, item in enumerate(b)}
    return sum(place[x] > place[y] for x, y in itertools.combinations(a, 2))


def mahonian(m: int) -> list[int]:
    """How many orders of m items are 0, 1, 2, … exchanges of neighbours away from one order."""
    counts = [1]
    for n in range(2, m + 1):
        most, sums = len(counts), list(itertools.accumulate(counts, initial=0))
        counts = [sums[min(d + 1, most)] - sums[max(0, d - n + 1)] for d in range(most + n - 1)]
    return counts


# ---------------------------------------------------------------- laws


def binomial(n: int, k: int) -> int:
    return math.comb(n, k)


def laplace_cdf(x: Number, scale: Number) -> arb:
    """P(W <= x) of Laplace noise; x is exact or its sign is certain."""
    x, scale = arb(x), arb(scale)
    if x <= 0:
        return (x / scale).exp() / 2
    need(bool(x >= 0), "a sign is not certain")
    return 1 - (-x / scale).exp() / 2


def normal_cdf(x: Number) -> arb:
    return (-arb(x) / arb(2).sqrt()).erfc() / 2


def integral(f: Callable[[acb], acb], *points: Number) -> arb:
    """The integral of f from the first to the last of the points; f is analytic between any two of them."""
    return sum((acb.integral(lambda z, _: f(z), arb(a), arb(b)).real for a, b in itertools.pairwise(points)), arb(0))


def loss(law: Sequence[Number], other: Sequence[Number]) -> arb:
    """Privacy loss of an outcome: the largest log-ratio of two laws over the same outcomes, in both directions."""
    need(len(law) == len(other) and all(arb(it) > 0 for it in [*law, *other]), "laws must be positive, of one length")
    ratios = [arb(p) / arb(q) for p, q in zip(law, other, strict=True)]
    return log(largest([*ratios, *(1 / it for it in ratios)]))


# ---------------------------------------------------------------- all cases


def growing(sizes: Any) -> list[Any]:
    """Sizes of which all cases are looked at: none stands twice."""
    need(isinstance(sizes, list) and 0 < len(sizes) <= 9, "there must be 1 to 9 sizes")
    need(all(a < b for a, b in itertools.pairwise(sizes)), "sizes must grow")
    return sizes


def all_of(cases: Iterable[Any]) -> Sides:
    """How many of the cases hold, and how many there are."""
    held = [bool(it) for it in cases]
    return sum(held), "==", len(held)
