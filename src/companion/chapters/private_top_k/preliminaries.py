"""Qiao, Su and Zhang (2021), abstract and Sections 1 to 2: what they say of privacy, of noise and of delta."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from companion.chapters.private_top_k.order_and_values import order_laws
from companion.chapters.private_top_k.pure import APART, EQUAL, found_loss, log_set_chance, loss_check
from companion.chapters.private_top_k.utility_bound import exact_failure, swapped
from companion.instruments.allowance import ROUNDING
from companion.instruments.topk import DELTA, hockey_stick, theorem_2_1, theorem_2_2
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied

#: Records of which one is published, and how many times less a delta that protects them is.
RECORDS, FAR_BELOW = 20, 1000
#: Values and records in the example on how small delta has to be.
VALUES, PEOPLE = 100, 10**6


def error_law(law: Mapping[int, float], truth: int) -> dict[int, float]:
    """Law of what is reported less the true answer."""
    return {output - truth: chance for output, chance in law.items()}


def apart(p: Mapping[int, float], q: Mapping[int, float]) -> float:
    """Total variation of two laws of whole numbers."""
    return sum(abs(p.get(x, 0.0) - q.get(x, 0.0)) for x in {*p, *q}) / 2


def response_law(bit: int, epsilon: float) -> dict[int, float]:
    """Randomized response: the bit, with odds e^epsilon to 1."""
    kept = 1 / (1 + math.exp(-epsilon))
    return {bit: kept, 1 - bit: 1 - kept}


def index_law(gap: float) -> dict[int, float]:
    """Index that Algorithm 1 reports of two values, the first of which is smaller by a gap, in noise scales."""
    right = math.exp(log_set_chance([0.0, -gap], 1))
    return {1: right, 2: 1 - right}


def loss_of(p: Mapping[int, float], q: Mapping[int, float]) -> float:
    """Largest log ratio of two laws, infinite where one has an output that the other has not."""
    return max(abs(math.log(p[x] / q[x])) for x in p) if p.keys() == q.keys() else math.inf


@claim("qiao2021:abstract:generalizes")
def check_generalizes() -> Iterator[Check]:
    """One item is Report Noisy Min; the k smallest of all are the k largest of the negated values."""
    gaps, sizes = (0.1, 1.0, 5.0), (2, 3, 4, 7)
    cases = [(m, k, gap) for m in sizes for k in range(1, m) for gap in gaps]
    smallest = [1 - exact_failure(*case) for case in cases]
    largest = [math.exp(log_set_chance(-gap * np.arange(m), k)) for m, k, gap in cases]
    single = [math.exp(log_set_chance([0.0, -gap], 1)) - 1 + float(swapped(gap)) for gap in gaps]
    off = float(np.abs(np.subtract(smallest, largest)).max())
    yield printed("noise of Theorem 2.1 at k = 1, over Report Noisy Min's 2s/ε", theorem_2_1(1, 0.3) * 0.15, "==", 1)
    what = "chance of the true item, k = 1 of 2, less that of Report Noisy Min by its closed form, largest"
    yield printed(what, max(map(abs, single)), "==", 0, error=ROUNDING)
    what = (
        f"chance of the true k smallest less that of the k largest of the negated values, {len(cases)} cases: largest"
    )
    yield printed(what, off, "==", 0, error=ROUNDING)


@claim("qiao2021:sec-1:not-revealed")
def check_not_revealed(epsilon: float = 0.2) -> Iterator[Check]:
    """A mechanism that the definition admits, and that publishes somebody's record for certain."""
    one = np.r_[np.full(RECORDS, 1 / RECORDS), 0.0]  # of which another record replaces one
    rare = 1 / (FAR_BELOW * RECORDS)  # each record is published with this chance
    p, q = (order_laws([epsilon / 4 * it for it in x], 2, order=False) for x in (EQUAL * 2, APART * 2))
    what = (
        f"least δ of publishing one of {RECORDS} records drawn at random, ε = {epsilon:g}: Theorem 2.2 allows {DELTA}"
    )
    yield argument(what, hockey_stick(one, one[::-1], epsilon), "<=", DELTA + ROUNDING)
    revealed = f"chance that one of {RECORDS} records is published"
    yield printed(f"{revealed}, one drawn at random", one[:RECORDS].sum(), "<", 1 - ROUNDING)
    each = RECORDS * hockey_stick([rare, 1 - rare], [0, 1], epsilon)
    yield supplied(f"{revealed}, at most, if δ is 1/({FAR_BELOW:,} · {RECORDS})", each, "<=", 1 / FAR_BELOW + ROUNDING)
    what = f"largest factor on the odds of two neighbours, set of 2 of 4 items, noise 4s/ε, δ = 0, ε = {epsilon:g}"
    yield amended(what, float(np.exp(np.abs(np.log(p / q)).max())), "<=", math.exp(epsilon))


@claim("qiao2021:sec-1.1:any-mechanism")
def check_any_mechanism(epsilon: float = 1.0) -> Iterator[Check]:
    """Private mechanisms that do not report f + Z: the law of what is reported less f is not one law."""
    what = f"total variation between neighbours of M(D) − f(D), ε = {epsilon:g} (0 if it is noise Z)"
    bits = [response_law(bit, epsilon) for bit in (0, 1)]
    yield printed(f"{what}, f a bit, randomized response", apart(*map(error_law, bits, (0, 1))), "==", 0)
    near, far = (index_law(gap) for gap in (epsilon, 2 * epsilon))  # values 2s apart and, at a neighbour, 4s
    index = apart(error_law(near, 1), error_law(far, 1))
    yield printed(f"{what}, f the index of the smaller of two values, Algorithm 1", index, "==", 0)
    yield amended(f"privacy loss of the first, ε = {epsilon:g}", loss_of(*bits), "==", epsilon, error=ROUNDING)
    yield amended(f"privacy loss of the second, λ = 2s/ε, ε = {epsilon:g}", loss_of(near, far), "<=", epsilon)


@claim("qiao2021:sec-1.1:laplace")
def check_laplace_mechanism(epsilon: float = 1.0) -> Iterator[Check]:
    """Laplace noise on all m values of f, of a scale that the sensitivity of Definition 1.3 alone decides."""

    def lost(m: int, shift: float) -> float:
        return found_loss("set, own noisy values", m, m, shift, "all one way")

    for m, says in ((2, printed), (10, printed), (1, supplied)):
        yield loss_check(f"f(D) + noise, m = {m}, λ = s/ε, ε = {epsilon:g}", lost(m, epsilon), epsilon, says)
    most = max(abs(lost(m, epsilon / m) / epsilon - 1) for m in (1, 2, 10))
    what = f"privacy loss of f(D) + noise over ε, m = 1, 2, 10, λ = ms/ε, ε = {epsilon:g}: largest off 1"
    yield amended(what, most, "==", 0, error=ROUNDING)


@claim("qiao2021:sec-2:delta")
def check_delta() -> Iterator[Check]:
    """A delta of o(1/m) against a mechanism that publishes each record with chance delta."""

    def published(m: int) -> float:
        """Records published on average, delta = 1 / (m log m)."""
        chance = 1 / (m * math.log(m))
        return PEOPLE * hockey_stick([chance, 1 - chance], [0, 1], 0.2)

    what = f"records published whole, on average, of {PEOPLE:,}, δ = 1/(m log m), m = {{:,}}: below 1"
    yield printed(what.format(VALUES), published(VALUES), "<", 1, reading="m is the number of values, as in the paper")
    yield printed(what.format(PEOPLE), published(PEOPLE), "<", 1, reading="m is the number of records")
    for power in (1, 3):
        log_n = math.log(PEOPLE)
        cost = theorem_2_2(1, power * log_n, 1.0, 1 / PEOPLE) / theorem_2_2(1, 0.0, 1.0, 1 / PEOPLE)
        what = f"√(log(m/δ)/log(1/δ)), δ = 1/n, m = n^{power}"
        yield amended(what, cost, "==", math.sqrt(1 + power), error=ROUNDING)
