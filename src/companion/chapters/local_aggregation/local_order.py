"""Bassily's sets in turn, and sets that are drawn for each pair: what depends on the order of questions."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import count, permutations, product

import numpy as np
from scipy import special, stats

from companion.chapters.local_aggregation.local_answers import answer_variance
from companion.chapters.local_aggregation.local_reports import GRID, SIZES, entry_deviation
from companion.instruments.allowance import ROUNDING
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.printed.alabi2022 import plus_chances, report_loss

Votes = Sequence[tuple[int, ...]]
#: Which of the pairs 0, 1, 2 is asked next, by those that were answered, in their order.
Next = Callable[[dict[int, int]], int]
Law = dict[tuple[int, ...], Fraction]


def cautious(known: dict[int, int]) -> int:
    """Pair 0 first; then 1 if the answer was yes, else 2; then the one that is left."""
    if not known:
        return 0
    second = 1 if known[0] else 2
    return second if second not in known else 3 - second


def in_turn(votes: Votes, ask: Next) -> Law:
    """Law of the answers to three pairs if the t-th set, one voter drawn at random, answers the t-th question."""
    law: Law = defaultdict(Fraction)
    cuts = list(permutations(range(len(votes)), 3))
    for cut in cuts:
        known: dict[int, int] = {}
        for voter in cut:
            pair = ask(known)
            known[pair] = votes[voter][pair]
        law[known[0], known[1], known[2]] += Fraction(1, len(cuts))
    return law


def beforehand(votes: Votes) -> Law:
    """Law of the answers to three pairs if every pair has a set of its own, one voter, before anything is asked."""
    law: Law = defaultdict(Fraction)
    cuts = list(permutations(range(len(votes)), 3))
    for cut in cuts:
        law[tuple(votes[voter][pair] for pair, voter in enumerate(cut))] += Fraction(1, len(cuts))
    return law


def apart(one: Law, other: Law) -> int:
    """Outcomes that two laws give different chances."""
    return sum(one.get(x, 0) != other.get(x, 0) for x in {*one, *other})


def moved(votes: Sequence[int], sets: int) -> tuple[int, int]:
    """Cuts of voters into sets in which the share of yes to a pair is another if it is asked second, and all cuts."""
    size, cuts = len(votes) // sets, list(permutations(votes))
    return sum(sum(cut[:size]) != sum(cut[size : 2 * size]) for cut in cuts), len(cuts)


def exhausted(blocks: int, most: int, orders: Sequence[Sequence[int]]) -> int:
    """Ways to draw a set for each pair in which some pair is answered in one order and refused in another."""
    found = 0
    for drawn in product(range(blocks), repeat=len(orders[0])):
        outcomes = set()
        for order in orders:
            load = [0] * blocks
            refused = set()
            for pair in order:
                load[drawn[pair]] += 1
                if load[drawn[pair]] > most:
                    refused.add(pair)
            outcomes.add(frozenset(refused))
        found += len(outcomes) > 1
    return found


@claim("alabi2022:sec-local:order")
def check_order(votes: Votes = ((1, 1, 0), (1, 0, 1), (0, 0, 0), (0, 1, 1))) -> Iterator[Check]:
    """Whether an answer depends on when its question is asked: of one cut it does, in law it does not."""
    which, cuts = moved([votes[k][0] for k in range(len(votes))], 2)
    what = f"cuts of {len(votes)} voters into 2 sets, of {cuts}, whose answer to a pair is another if asked second"
    yield printed(what, which, ">", 0)
    agreed, _ = moved([1] * len(votes), 2)
    yield printed("the same where all voters agree on the pair", agreed, "==", 0)
    gap = apart(in_turn(votes, cautious), beforehand(votes))
    what = f"{len(votes)} voters, 3 pairs, the next by the last answer: sets in turn against fixed ones"
    yield amended(f"{what}, outcomes of another chance over all cuts", gap, "==", 0)
    orders = list(permutations(range(3)))
    what = "2 sets, one drawn for each of 3 pairs, one answer each: drawings, of 8, where order tells who is refused"
    yield amended(what, exhausted(2, 1, orders), "==", 8)


@claim("alabi2022:sec-local:warner")
def check_warner() -> Iterator[Check]:
    """Whether Algorithm 2's report is Warner's: there both answers are told with the same chance."""
    for epsilon_0 in (0.1, 1.0):
        no, yes = plus_chances(epsilon_0, "printed")
        what = f"P(+d) where the answer is no, plus P(+d) where it is yes, ε₀ = {epsilon_0:g}; Warner's: 1"
        yield printed(what, no + yes, "==", 1, error=ROUNDING)
        no, yes = plus_chances(epsilon_0, "centred")
        yield amended(f"{what}, centred", no + yes, "==", 1, error=ROUNDING)
        loss = math.log((1 - no) / (1 - yes))
        yield amended(
            f"loss of a centred report less ε₀, ε₀ = {epsilon_0:g}", loss - epsilon_0, "==", 0, error=ROUNDING
        )
        ratio = answer_variance(0.0, 1, 1, epsilon_0, "centred") / answer_variance(0.0, 1, 1, epsilon_0, "printed")
        yield amended(f"its variance over the printed one's, all say no, ε₀ = {epsilon_0:g}", float(ratio), "<=", 0.25)
        what = f"loss of the printed report over ε₀, ε₀ = {epsilon_0:g}"
        yield amended(what, report_loss(epsilon_0, "printed") / epsilon_0, "<=", 0.7)


def beside_sphere(n_items: int, epsilon: float) -> float:
    """Deviation of an answer of fresh sets, one a pair, many voters who all say no, over that of Duchi et al.'s report.

    Reports are those of Algorithm 2.
    """
    sets, voters = math.comb(n_items, 2), 10**9
    fresh = math.sqrt(float(answer_variance(0.0, voters, sets, epsilon, "printed")) * voters)
    return fresh / entry_deviation("sphere", n_items, epsilon)


@claim("alabi2022:sec-local:bassily")
def check_bassily() -> Iterator[Check]:
    """Bassily's sets in turn against Duchi, Jordan and Wainwright's vector, both asked about all pairs; adaptivity."""
    ratios = [beside_sphere(m, e) for m, e in product(SIZES, GRID)]
    what = f"deviation of an answer of sets in turn over that of the vector, all pairs, ε ≤ 1, m ≤ {SIZES[-1]}"
    # two items: 2 cosh(ε/2), as a fair coin answers for those who say no
    yield printed(f"{what}, largest: 2 cosh(1/2)", max(ratios), "<=", 2 * math.cosh(0.5) + ROUNDING)
    yield printed(f"{what}, least", min(ratios), ">=", 1)
    votes = ((1, 1, 0), (1, 0, 1), (0, 0, 0), (0, 1, 1))
    mean = sum(p * answers[1] for answers, p in in_turn(votes, cautious).items())
    share = Fraction(sum(it[1] for it in votes), len(votes))
    yield printed("bias of an answer that is asked for or not yet by the one before", float(mean - share), "==", 0)


def right_chance(voters: int, epsilon: float) -> float:
    """Chance that the majority of an odd number of voters, who all report one bit by randomised response, has it."""
    return float(stats.binom.sf(voters // 2, voters, special.expit(epsilon)))


def with_rounds(bits: int, epsilon: float, error: float) -> int:
    """Fewest voters of a protocol of two rounds that finds the bit of a string which an index points to.

    Half of the voters hold the index, a group for each of its digits; then one group holds the string, and reports the
    bit there. Groups are of one odd size.
    """
    groups = math.ceil(math.log2(bits)) + 1
    size = next(n for n in count(1, 2) if groups * (1 - right_chance(n, epsilon)) <= error)
    return groups * size


def without_rounds(bits: int, epsilon: float, error: float) -> float:
    """Voters who hold the string that any protocol of one round needs, the index being drawn at random.

    A report holds epsilon tanh(epsilon / 2) nats at most on the string, and those on its bits add up to no more; an
    error costs log 2 less its entropy on average (Fano).
    """
    needed = math.log(2) - float(special.entr([error, 1 - error]).sum())
    return bits * needed / report_nats(epsilon)


def report_nats(epsilon: float) -> float:
    """Largest divergence of two laws of one report: that of randomised response."""
    return epsilon * math.tanh(epsilon / 2)


@claim("alabi2022:sec-conclusions:separations")
def check_separations(
    sizes: Sequence[int] = (10**3, 10**6, 10**9), epsilon: float = 1.0, error: float = 0.1, letters: int = 4
) -> Iterator[Check]:
    """Do rounds of questions save voters? A string of bits and an index that points into it."""
    few = [with_rounds(d, epsilon, error) for d in sizes]
    many = [without_rounds(d, epsilon, error) for d in sizes]
    for d, most, least in zip(sizes, few, many, strict=True):
        what = f"voters needed in one round over voters enough in two, {d:.0e} bits, ε = {epsilon:g}, error {error:g}"
        yield printed(what, least / most, ">=", 1)
    slope = exponent(sizes, np.array(many) / few)
    yield printed("exponent of the number of bits in that ratio", slope, ">=", 0.8)
    yield amended(f"voters enough in two rounds, {sizes[1]:.0e} bits", few[1], "<=", 700)
    yield amended("voters needed in one round over the number of bits", many[1] / sizes[1], ">=", 0.79)
    # a law and another within e^ε of it: at the ends of that range for every letter
    corners = np.exp(epsilon * np.array(list(product((0, 1), repeat=letters))))[1:-1]
    laws = [row / row.sum() for row in corners]
    close = [(p, q) for p, q in product(laws, repeat=2) if abs(np.log(p / q)).max() <= epsilon + ROUNDING]
    share = max(float(special.rel_entr(p, q).sum()) for p, q in close) / report_nats(epsilon)
    what = (
        f"divergence of two laws within ε over ε tanh(ε/2), {len(close)} couples of laws of {letters} letters, largest"
    )
    yield argument(what, share, "<=", 1 + ROUNDING)
