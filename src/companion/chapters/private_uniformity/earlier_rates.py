"""Section 2: what is quoted of private tests of any discrete law."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from companion.chapters.private_uniformity.central_bounds import best_private_power
from companion.chapters.private_uniformity.local_adversary import coin_samples
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import exponent, least
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied

#: So much larger than the least the largest of some ratios may be if they are to be of one order.
ONE_ORDER = 4
#: Privacy so weak that it is none.
WEAK = (1e10, 1e14)


def central_rate(cells: float, epsilon: float, epsilon_0: float, first: float) -> float:
    """The quoted sum, its first term sqrt(d) / epsilon^2 divided by `first`."""
    root = math.sqrt(cells)
    rest = root / (epsilon * math.sqrt(epsilon_0)) + 1 / (epsilon * epsilon_0)
    return root / epsilon**2 / first + rest + cells ** (1 / 3) / (epsilon ** (4 / 3) * epsilon_0 ** (2 / 3))


def two_cells_need(epsilon: float, epsilon_0: float, delta: float) -> int:
    """Samples that the best private test of two cells needs at a distance, to one part in 20."""
    return least(lambda n: best_private_power(n, 0.5 + epsilon, epsilon_0, delta) >= 1 - delta, share=1 / 20)


@claim("busafekete2021:sec-2:central-rate")
def check_central_rate(
    epsilons: Sequence[float] = (0.4, 0.1), budgets: Sequence[float] = (3.0, 0.3, 0.05), delta: float = 0.1
) -> Iterator[Check]:
    """The sum with its first term as our copy has it, and without epsilon_0 in it."""
    cells = [(e, e_0, two_cells_need(e, e_0, delta)) for e in epsilons for e_0 in budgets]
    for reading, shown in (("√d/(ε²ε₀), as in our copy", 1.0), ("√d/ε², our copy garbling", 0.0)):
        rates = [central_rate(120, 0.5, e_0, e_0**shown) for e_0 in WEAK]
        weak = f"ε₀ = {WEAK[0]:g} to {WEAK[1]:g}"
        what = f"exponent of ε₀ in the sum, d = 120, ε = 1/2, {weak}: no test needs less than √d/ε²"
        yield printed(what, exponent(WEAK, rates), ">=", -0.01, reading=reading)
        over = [n / central_rate(2, e, e_0, e_0**shown) for e, e_0, n in cells]
        of = f"{len(cells)} pairs (ε, ε₀)"
        what = f"what the best private test of two cells needs over the sum, largest over least, {of}"
        yield printed(what, max(over) / min(over), "<=", ONE_ORDER, reading=reading)
    over = [n / central_rate(2, e, e_0, 1.0) for e, e_0, n in cells]
    yield amended(
        "with √d/ε²: what the best private test of two cells needs over the sum, least", min(over), ">=", 1 / 2
    )
    yield amended("the same, largest", max(over), "<=", 2)
    # 8 cells, ε = 1/8, ε₀ = 1/64: powers of 2
    terms = math.sqrt(8) * 64 * (1 + 1) + 2 * 16 * 16 + 8 * 64
    off = central_rate(8, 1 / 8, 1 / 64, 1.0) / terms - 1
    yield argument("the sum at d = 8, ε = 1/8, ε₀ = 1/64, off its value by hand", off, "==", 0, error=ROUNDING)


@claim("busafekete2021:sec-2:local-rate")
def check_local_rate(
    epsilons: Sequence[float] = (0.005, 0.05, 0.25, 0.45), delta: float = 0.05, points: int = 13
) -> Iterator[Check]:
    """k / (epsilon epsilon_0)^2 for weak privacy, and for two cells."""
    rates = [120 / (0.5 * e_0) ** 2 for e_0 in WEAK]
    what = f"exponent of ε₀ in k/(εε₀)², ε₀ = {WEAK[0]:g} to {WEAK[1]:g}: no test needs less than √k/ε²"
    yield printed(what, exponent(WEAK, rates), ">=", -0.01)
    both = [
        (coin_samples(e_0, 2 * epsilon, delta), 2 / (epsilon * e_0) ** 2)
        for epsilon in epsilons
        for e_0 in np.geomspace(1e-3, 1, points)
    ]
    of = f"two cells, ε₀ ≤ 1, {len(both)} pairs (ε, ε₀)"
    needed = min(need / rate for (need, _), rate in both)
    enough = max(enough / rate for (_, enough), rate in both)
    yield supplied(f"{of}: what suffices over what any test needs, largest", max(b / a for (a, b), _ in both), "<=", 20)
    yield supplied(f"{of}: what any test needs over 2/(εε₀)², least", needed, ">", 0.1)
    yield amended(f"{of}: what any test needs over 2/(εε₀)², least", needed, ">=", 1)
    yield amended(f"{of}: what suffices over it, largest", enough, "<=", 17)
