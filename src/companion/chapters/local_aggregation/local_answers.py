"""Local answers to queries: privacy, error, bottom, and the algorithms as printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.sweep import stream
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed import Printed
from companion.printed.alabi2022 import PrintedKwikSort, algorithm_3, plus_chances, report_loss
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.audit import privacy_loss
from dprank.data.rankings import Rankings

#: A standard deviation over q / (epsilon sqrt(n m)), at most: that of Algorithm 2's answers while epsilon_0 <= 1.
PER_QUERY = 2 / math.tanh(0.5)
#: Where the counter of Algorithms 2 and 3 grows: our copy has lost all indentation, and only the order of lines tells.
LINES, TEXT = "one count a user, as our copy's lines stand", "one count a query, as the text says"
#: Rounding of `overload`, at most: 7e-12 is seen with 4606 balls and 100 bins. Of its values ten digits are recorded.
TAIL, DIGITS = 1e-10, 10


def lemma_queries(n_items: int, zeta: float = 1.0) -> int:
    """Least q above 10 m log(m / zeta), which Lemma 10 (with zeta = 1) and Theorem 11 ask for."""
    return math.floor(10 * n_items * math.log(n_items / zeta)) + 1


def whole_queries(n_items: int) -> int:
    """Least q of Lemma 10 of which 2 q / m, the reports that a voter may send, is a whole number."""
    first = lemma_queries(n_items)
    return next(q for q in range(first, first + n_items) if 2 * q % n_items == 0)


def least_query(n_items: int) -> Check:
    """That `lemma_queries` gives the least whole number above 10 m log m."""
    least = math.ceil(10 * n_items * math.log(n_items))
    return argument(f"q, the least above 10 m log m, m = {n_items}", lemma_queries(n_items), "==", least)


def unanimous(n_items: int, voters: int) -> Rankings:
    """Voters who all rank the items by their codes."""
    return Rankings(np.tile(np.arange(n_items), (voters, 1)), [f"i{i}" for i in range(n_items)])


def budgets(n_items: Iterable[int], epsilon: float) -> pd.DataFrame:
    """Reports to Algorithm 2 at the least q of Lemma 10: ``items``, ``q``, ``reports`` a voter, ``exact`` loss as
    printed, ``algorithm_3`` (the loss of Algorithm 3, which asks about no pair twice, and spends another epsilon / 2),
    ``variance`` (of an answer, printed over centred at equal loss, no voter saying yes).
    """
    rows = []
    for m in n_items:
        q = lemma_queries(m)
        total = printed_algorithm_3(m, epsilon, q)
        each = total.mechanism.report_epsilon
        loss = report_loss(each, "printed")
        ratio = answer_variance(0.0, 1, 1, each, "printed") / answer_variance(0.0, 1, 1, loss, "centred")
        row = {"items": m, "q": q, "reports": total.mechanism.reports, "exact": total.mechanism.reports * loss}
        rows.append(row | {"algorithm_3": total.guarantee.epsilon, "variance": ratio})
    return pd.DataFrame(rows)


def transcripts_loss(reports: int, epsilon_0: float) -> float:
    """Exact loss of several printed reports of opposite rankings, by enumeration."""
    chances = plus_chances(epsilon_0, "printed")
    return privacy_loss(*(np.prod(list(product((1 - p, p), repeat=reports)), axis=1) for p in chances))


@claim("alabi2022:lem-10:privacy")
def check_privacy(n_items: Iterable[int], epsilons: Iterable[float]) -> Iterator[Check]:
    """Lemma 10's privacy: exact loss of all reports of a voter, least q of the lemma and the next with m in 2 q."""
    for m, epsilon in product(n_items, epsilons):
        for q in sorted({lemma_queries(m), whole_queries(m)}):
            design = algorithm_3(m, q, epsilon, counter="query").mechanism
            reports, loss = design.reports, report_loss(design.report_epsilon, "printed")
            what = f"loss of a voter's {reports} reports over ε, m = {m}, q = {q}, ε = {epsilon:g}"
            yield printed(what, reports * loss / epsilon, "<=", 1 + ROUNDING)
    what = "loss of 5 reports of opposite rankings, all transcripts, less the closed form, ε₀ = 0.5"
    yield amended(what, transcripts_loss(5, 0.5) - 5 * report_loss(0.5, "printed"), "==", 0, error=ROUNDING)


def answer_variance(
    fraction: ArrayLike, voters: int, blocks: int, epsilon_0: float, report: Any
) -> NDArray[np.float64]:
    """Exact variance of an answer: blocks / voters times the reports of a random block, by the fraction who say yes."""
    w = np.asarray(fraction, float)
    both = (voters / blocks - 1) / max(voters - 1, 1) / blocks  # chance that two given voters are both asked
    signal, square, size = (2 * w - 1, np.ones_like(w), 0.25) if report == "centred" else (w, w, 1.0)
    alone = 1 / math.tanh(epsilon_0 / 2) ** 2 / blocks - square / blocks**2
    together = (voters * signal) ** 2 - voters * square
    return size * blocks**2 / voters * (alone + together / voters * (both - 1 / blocks**2))


def enumerated(voters: int, yes: int, blocks: int, epsilon_0: float, report: Any = "printed") -> dict[str, float]:
    """Equation (3) by enumeration: ``variance`` of the answer; ``variances``, ``covariances`` (k < k') of its terms."""
    d = 1 / math.tanh(epsilon_0 / 2)
    chances = np.where(np.arange(voters) < yes, *plus_chances(epsilon_0, report)[::-1])
    size, values, weights = voters // blocks, [], []
    for block in combinations(range(voters), size):
        for signs in product((-1, 1), repeat=size):
            term = np.zeros(voters)
            term[list(block)] = np.multiply(signs, d)
            values.append(term)
            weights.append(np.prod(np.where(np.array(signs) == 1, chances[list(block)], 1 - chances[list(block)])))
    terms, law = np.array(values), np.array(weights) / math.comb(voters, size)
    off = blocks / voters * (terms - law @ terms) / (2 if report == "centred" else 1)
    cov = off.T @ (law[:, None] * off)
    return {"variance": cov.sum(), "variances": np.trace(cov), "covariances": np.triu(cov, 1).sum()}


def variance_gap(voters: int, blocks: int, epsilon_0: float, report: Any) -> float:
    """Largest gap of an answer's exact variance and its enumeration, for all numbers of yes."""
    design = voters, blocks, epsilon_0, report
    exact = answer_variance(np.arange(voters + 1) / voters, *design)
    return max(abs(enumerated(voters, yes, *design[1:])["variance"] - exact[yes]) for yes in range(voters + 1))


def per_query(fractions: ArrayLike, voters: int, n_items: int, epsilon_0: float) -> float:
    """Largest standard deviation of an answer over q / (epsilon sqrt(n m)), epsilon being 2 q epsilon_0 / m."""
    variance = answer_variance(fractions, voters, n_items, epsilon_0, "printed").max()
    return 2 * epsilon_0 * math.sqrt(voters / n_items * variance)


@claim("alabi2022:lem-10:error")
def check_error(n_items: Iterable[int]) -> Iterator[Check]:
    """Lemma 10's error per query."""
    large = (10.0, 100.0, 1000.0)
    slope = exponent(large, [per_query(0.0, 3, 3, e) for e in large])
    what = "exponent of ε in error/(q/(ε√(nm))), n = m, a voter who says no, 2q/m·(10, 100, 1000) = ε"
    yield printed(what, slope, "<=", 0.0, error=1e-6)
    for m in n_items:
        grid = product((m, 10 * m, 1000 * m), (1e-3, 0.1, 0.5, 1.0))
        worst = max(per_query(np.linspace(0, 1, 21), n, m, epsilon_0) for n, epsilon_0 in grid)
        what = f"standard deviation over q/(ε√(nm)), worst of a grid with ε ≤ 2q/m, m = {m}; 2/tanh(½)"
        yield supplied(what, worst, "==", PER_QUERY, error=ROUNDING)
    for n, m, e in ((4, 2, 0.5), (6, 3, 2.0)):
        what = f"exact variance less its enumeration over blocks and reports, n = {n}, m = {m}, any votes, ε₀ = {e:g}"
        yield amended(what, variance_gap(n, m, e, "printed"), "==", 0, error=ROUNDING)


@claim("alabi2022:lem-10:proof")
def check_proof() -> Iterator[Check]:
    """Equation (3) and the lines after it."""
    e = 1.0
    terms = enumerated(2, 2, 2, e)
    as_printed = terms["variances"] + terms["covariances"]
    what = f"Var(w̃) by equation (3) less Var(w̃), n = m = 2, both voters say yes, ε₀ = {e:g}"
    yield printed(what, as_printed - terms["variance"], "==", 0.0, error=ROUNDING)
    votes = [enumerated(6, yes, 3, e) for yes in range(7)]
    gap = sum(abs(t["variances"] + 2 * t["covariances"] - t["variance"]) for t in votes)
    yield amended(f"the same with 2 Σ Cov, n = 6, m = 3, all {len(votes)} votes", gap, "==", 0, error=ROUNDING)
    yield amended("largest Σ Cov of these", max(t["covariances"] for t in votes), "==", 0, error=ROUNDING)
    share = max(t["variance"] for t in votes) * math.tanh(0.5) ** 2 / (3 / 6)
    yield amended("largest Var(w̃) of these over (m/n) d²", share, "==", 1, error=ROUNDING)
    step = float(np.roots([0.1 - 1 / 3, 1]).real[0])
    what = "q/(m log m) from which on m exp(−q/(3m)) ≤ exp(−0.1 q/m), any m: below 10"
    yield argument(what, step, "==", 30 / 7, error=ROUNDING)


@cache
def overload(balls: int, bins: int, most: int) -> float:
    """Chance that some bin gets more than `most` of the balls thrown independently; exact but for `TAIL`.

    Poisson counts cut off at `most`, convolved over the bins and conditioned on their sum.
    """
    if most * bins < balls:
        return 1.0
    cut = stats.poisson.pmf(np.arange(most + 1), balls / bins)
    law, power, left = np.ones(1), cut, bins
    while left:
        if left & 1:
            law = np.convolve(law, power)[: balls + 1]
        power, left = np.convolve(power, power)[: balls + 1], left >> 1
    return float(max(0.0, 1 - law[balls] / stats.poisson.pmf(balls, balls)))


@claim("alabi2022:lem-10:bottom")
def check_bottom(n_items: Iterable[int]) -> Iterator[Check]:
    """Lemma 10's second item: one pair again and again, and distinct pairs, of which 38 items or more have enough."""
    m, q = 3, lemma_queries(3)
    rng = stream("blocks: repeated", {"m": m, "q": q})
    answers = algorithm_3(m, q, 1.0, counter="query").mechanism.poll(unanimous(m, m), rng)
    bottom = any(answers.query(0, 1) is None for _ in range(q))
    what = f"P(⊥), one pair queried q = {q} times, m = {m}, n = {m}"
    yield printed(what, float(bottom), "<=", math.exp(-0.1 * q / m))
    for m in n_items:
        q = lemma_queries(m)
        exact, one = round(overload(q, m, 2 * q // m), DIGITS), stats.binom.sf(2 * q // m, q, 1 / m)
        what = f"P(⊥), q = {q} distinct queries, one count a query, m = {m}"
        yield supplied(what, exact, "<=", math.exp(-0.1 * q / m), error=TAIL)
        what = f"the same, against Chernoff's bound for m blocks, exp(−7q/(30m)), m = {m}"
        yield amended(what, exact, "<=", math.exp(-7 / 30 * q / m), error=TAIL)
        # two blocks are negatively dependent: both are used up with chance one² at most
        what = f"the same over the sum of the blocks' chances, m = {m}"
        yield argument(what, exact / (m * one), "==", 1, error=m * one / 2 + TAIL / (m * one))


@claim("alabi2022:lem-10:dummy")
def check_dummy() -> Iterator[Check]:
    """Dummy users: the answers stay unbiased if the sum is divided by the number of real users, not otherwise."""
    m, n = 3, 4
    size = math.ceil(n / m)
    mean = stats.hypergeom.mean(size * m, n, size)
    for users, who in ((n, "real"), (size * m, "all")):
        what, reading = f"bias of an answer that should be 1, m = {m}, n = {n}", f"n is the number of {who} users"
        yield printed(what, m / users * mean - 1, "==", 0.0, reading=reading, error=ROUNDING)
    answers = []
    for votes in permutations((1, 1, 1, 0)):
        blocks = np.array_split(votes, 3)
        answers += [np.mean(block) for block in blocks]
    sizes = ", ".join(f"{len(block)}" for block in blocks)
    what = f"mean answer over all cuts of 4 voters into blocks of {sizes}, each sum over its block's size, w = 3/4"
    yield amended(what, np.mean(answers), "==", 0.75, error=ROUNDING)


def literal_answers(n_items: int, q: int, voters: Iterable[int]) -> pd.DataFrame:
    """How many of q queries are answered: ``voters``; with a counter that grows per ``voter``, per ``query``."""
    pairs = [(j, i) for j in range(n_items) for i in range(n_items) if i != j]
    rows = []
    for n in voters:
        row = {"voters": n}
        for counter in ("voter", "query"):
            design = algorithm_3(n_items, q, 1.0, counter=counter).mechanism
            answers = design.poll(unanimous(n_items, n), stream("blocks: literal", {"n": n}))
            row[counter] = next((t for t in range(q) if answers.query(*pairs[t % len(pairs)]) is None), q)
        rows.append(row)
    return pd.DataFrame(rows)


@claim("alabi2022:alg-2")
def check_alg_2(n_items: int = 40) -> Iterator[Check]:
    """Algorithm 2 run with its counter in the loop over voters, where our copy's lines put it, and before that loop, as
    the text says; d with either base.
    """
    lines, text, other = f"base e, {LINES}", f"base e, {TEXT}", "base ε, as our copy has it"
    yield least_query(n_items)
    q = lemma_queries(n_items)
    for epsilon in (1.0, 0.5):
        each = algorithm_3(n_items, q, epsilon).mechanism.report_epsilon
        what = f"1/d, ε = {epsilon:g}, m = {n_items}, q = {q}"
        bases = {lines: math.e, text: math.e, other: epsilon}
        # (b^ε₀ − 1)/(b^ε₀ + 1)
        shrunk = {reading: math.tanh(each * math.log(base) / 2) for reading, base in bases.items()}
        for reading, kept in shrunk.items():
            yield printed(what, kept, ">", 0, reading=reading)
        gap = (1 + shrunk[text]) / 2 - plus_chances(each, "printed")[1]
        yield agree(f"chance of d where the answer is yes, base e, less that of the code, ε = {epsilon:g}", gap)
    for m, some in ((2, 14), (n_items, q)):
        most = 2 * some // m * m
        few, many = literal_answers(m, some, [most, most + m]).voter
        what = f"answers before ⊥, m = {m}, q = {some}, n = {most + m}"
        yield printed(what, many, ">=", 1, reading=lines)
        what = f"whether {few} answers with n = {most} are any, less those with n = {most + m}"
        yield argument(what, min(few, 1) - many, "==", 1)
    n = 4 * n_items
    seen = literal_answers(n_items, q, [n]).loc[0]
    what = f"answers before ⊥ to q = {q} distinct queries, m = {n_items}, n = {n}"
    yield printed(what, seen.voter, ">=", q, reading=lines)
    yield printed(f"{what}, one count a query", seen["query"], ">=", q, reading=text)
    yield amended(f"{what}, one count a query", seen["query"], "==", q)


def one_pair_each(n_items: int, epsilon: float) -> LocalKwikSort:
    """Every voter is told in advance which pair to report on, with the whole budget; also a fallback."""
    return LocalKwikSort(n_items, epsilon, 1, math.comb(n_items, 2))


def fallback_share(design: LocalKwikSort, voters: int, runs: int = 20) -> float:
    """Share of runs on unanimous voters in which a block is used up."""
    rng, data = stream("blocks: fallback", {"voters": voters}), unanimous(design.n_items, voters)
    return float(np.mean([design.sort(design.poll(data, rng)) is None for _ in range(runs)]))


def most_sent(counter: Literal["copied", "voter"], runs: int = 200) -> int:
    """Most reports that one voter is seen to send: five items and voters, threshold 2, counters by value or shared."""
    m, rng, sent = 5, stream("blocks: copied", {}), []
    design = PrintedKwikSort(m, 1.0, 2, m, one_pair_each(m, 1.0), counter=counter)
    for _ in range(runs):
        answers = design.poll(unanimous(m, m), rng)
        design.sort(answers)
        sent.append(int(answers.sent.max()))
    return max(sent)


def printed_algorithm_3(n_items: int, epsilon: float, q: int, counter: Literal["query", "voter"] = "query") -> Printed:
    """Algorithm 3 with Algorithm 2's epsilon_0, tau = 2 q / m, and a fallback with the budget epsilon / 2."""
    fallback = one_pair_each(n_items, epsilon / 2)
    return algorithm_3(n_items, q, epsilon, counter=counter, fallback=fallback)


def always_over(n_items: int, largest: int = 1000) -> Iterator[Check]:
    """That Algorithm 3 with 2 q / m reports, a whole number, spends more than epsilon at every epsilon; from m on."""
    m, q, epsilons = n_items, whole_queries(n_items), (1e-3, 0.01, 0.1, 1.0, 10.0)
    over = np.array([printed_algorithm_3(m, e, q).guarantee.epsilon - e for e in epsilons])
    what = f"least of loss − ε, ε from 0.001 to 10, m = {m}, q = {q}"
    yield printed(what, over.min(), "<=", 0, reading=BORROWED)
    each = np.array(epsilons) * m / (4 * q)
    off = np.abs(over * m / (2 * q * np.log1p(2 * np.sinh(each / 2) ** 2)) - 1).max()
    yield argument(f"that over (2q/m) log cosh(εm/(4q)), off 1, m = {m}, q = {q}", off, "==", 0, error=1e-7)
    few = [k for k in range(2, largest + 1) if 2 * whole_queries(k) // k >= math.comb(k, 2)]
    what = f"least m from which to {largest:,} the pairs outnumber 2q/m, least q of Lemma 10 with a whole 2q/m"
    yield amended(what, max(few) + 1, "==", m)


#: What Algorithm 3 leaves open: how strongly answers are randomised, where its counter grows, and whose it is.
BORROWED, COPIED = "d and τ of Algorithm 2", "counters passed by value, as the calls are written"
MENDED = f"{TEXT}, one counter for the run, ε/2 for the reports"


@claim("alabi2022:alg-3")
def check_alg_3() -> Iterator[Check]:
    """Algorithm 3 run in four readings, as it names no budget of its reports: one of them keeps what is claimed."""
    yield least_query(30)
    epsilon = 1.0
    spent = printed_algorithm_3(3, epsilon, 3).guarantee.epsilon
    what = "loss, m = q = 3, less that of all transcripts of two reports, ε₀ = ½, and of the fallback"
    yield agree(what, spent - transcripts_loss(2, 0.5) - epsilon / 2)
    for m, q in ((3, 3), *((m, lemma_queries(m)) for m in (11, 12, 30, 8))):
        d = printed_algorithm_3(m, epsilon, q).mechanism
        what = f"loss of {d.reports} reports and the fallback, m = {m}, q = {q}, ε = {epsilon:g}"
        yield printed(what, d.guarantee.epsilon, "<=", epsilon, reading=BORROWED)
        mended = algorithm_3(m, q, epsilon / 2, counter="query", fallback=one_pair_each(m, epsilon / 2)).mechanism
        what = f"loss with ε/2 for the reports and ε/2 for the fallback, m = {m}, q = {q}"
        yield printed(what, mended.guarantee.epsilon, "<=", epsilon, reading=MENDED)
        yield amended(what, mended.guarantee.epsilon, "<=", epsilon)
    yield from always_over(11)
    n = (d.reports + 1) * m
    literal = printed_algorithm_3(m, epsilon, q, "voter").mechanism
    what = f"share of 20 runs that end in the fallback, m = {m}, τ = {literal.reports}, n = {n}"
    yield printed(what, fallback_share(literal, n), "<", 1.0, reading=LINES)
    what = "reports that one voter sent, counters passed by value, τ = 2, m = n = 5"
    yield printed(what, most_sent("copied"), "<=", 2, reading=COPIED)
    ends, sent = fallback_share(mended, n), most_sent("voter")
    what = "share of 20 runs that end in the fallback, one count a query"
    yield printed(what, ends, "<", 1.0, reading=MENDED)
    yield amended(what, ends, "==", 0)
    what = "reports that one voter sent, shared counters"
    yield printed(what, sent, "<=", 2, reading=MENDED)
    yield amended(what, sent, "==", 2)
