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

from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import Printed
from companion.printed.alabi2022 import PrintedKwikSort, algorithm_3, plus_chances, report_loss
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.audit import privacy_loss
from dprank.data.rankings import Rankings

#: A standard deviation over q / (epsilon sqrt(n m)), at most: that of Algorithm 2's answers while epsilon_0 <= 1.
PER_QUERY = 2 / math.tanh(0.5)


def lemma_queries(n_items: int, zeta: float = 1.0) -> int:
    """Least q above 10 m log(m / zeta), which Lemma 10 (with zeta = 1) and Theorem 11 ask for."""
    return math.floor(10 * n_items * math.log(n_items / zeta)) + 1


def unanimous(n_items: int, voters: int) -> Rankings:
    """Voters who all rank the items by their codes."""
    return Rankings(np.tile(np.arange(n_items), (voters, 1)), [f"i{i}" for i in range(n_items)])


# --- the answers: privacy, error, bottom -----------------------------------------------------------------------------


def budgets(n_items: Iterable[int], epsilon: float) -> pd.DataFrame:
    """What a voter's reports to Algorithm 2 cost, as printed and with centred reports, least q of Lemma 10.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``q``, ``reports`` a voter, ``exact`` loss as printed, ``algorithm_3`` (the loss of Algorithm 3,
        which asks about no pair twice, and spends another epsilon / 2) and ``variance`` (of an answer at equal loss,
        printed over centred, at a fraction of 0).
    """
    rows = []
    for m in n_items:
        design = algorithm_3(m, lemma_queries(m), epsilon).mechanism
        loss = design.reports * report_loss(design.report_epsilon, "printed")
        row = {"items": m, "q": lemma_queries(m), "reports": design.reports, "exact": loss}
        centred = answer_variance(0.0, 1, 1, loss / design.reports, "centred")
        ratio = answer_variance(0.0, 1, 1, design.report_epsilon, "printed") / centred
        total = printed_algorithm_3(m, epsilon, lemma_queries(m)).guarantee.epsilon
        rows.append(row | {"algorithm_3": total, "variance": ratio})
    return pd.DataFrame(rows)


@claim("alabi2022:lem-10:privacy")
def check_privacy(n_items: Iterable[int], epsilons: Iterable[float]) -> Iterator[Check]:
    """Lemma 10's privacy: exact loss of all reports of a voter, least q of the lemma and the next with m in 2 q."""
    for m, epsilon in product(n_items, epsilons):
        first = lemma_queries(m)
        for q in sorted({first, next(k for k in range(first, first + m) if 2 * k % m == 0)}):
            design = algorithm_3(m, q, epsilon, counter="query").mechanism
            reports, loss = design.reports, report_loss(design.report_epsilon, "printed")
            what = f"loss of a voter's {reports} reports over ε, m = {m}, q = {q}, ε = {epsilon:g}"
            yield printed(what, reports * loss / epsilon, "<=", 1 + ROUNDING)
    no, yes = plus_chances(0.5, "printed")
    laws = [np.prod(list(product((1 - p, p), repeat=5)), axis=1) for p in (no, yes)]
    what = "loss of 5 reports of opposite rankings, all 32 transcripts, less the closed form, ε₀ = 0.5"
    gap = abs(privacy_loss(*laws) - 5 * report_loss(0.5, "printed"))
    yield amended(what, gap, "<=", ROUNDING)


def answer_variance(
    fraction: ArrayLike, voters: int, blocks: int, epsilon_0: float, report: Any, dummies: int = 0
) -> NDArray[np.float64]:
    """Exact variance of an answer whose block is a random set of voters.

    Parameters
    ----------
    fraction : array_like of float
        Of the voters that put the first item first.
    voters, blocks : int
        With `dummies` voters that never report the blocks are of equal size, (voters + dummies) / blocks; the answer is
        the sum of the reports times blocks / voters.
    epsilon_0, report
        As of `companion.printed.alabi2022.report_loss`.
    dummies : int
    """
    w, total = np.asarray(fraction, float), voters + dummies
    both = (total / blocks - 1) / max(total - 1, 1) / blocks  # chance that two given voters are both asked
    if report == "centred":
        signal, square, size = 2 * w - 1, np.ones_like(w), 0.25
    else:
        signal, square, size = w, w, 1.0
    alone = 1 / math.tanh(epsilon_0 / 2) ** 2 / blocks - square / blocks**2
    together = (voters * signal) ** 2 - voters * square
    return size * blocks**2 / voters * (alone + together / voters * (both - 1 / blocks**2))


def enumerated(voters: int, yes: int, blocks: int, epsilon_0: float) -> dict[str, float]:
    """Algorithm 2's answer, as printed, by enumeration of blocks and reports: the terms of the paper's equation (3).

    Returns
    -------
    dict
        ``mean`` and ``variance`` of the answer, ``variances`` and ``covariances`` (summed over k < k') of the terms.
    """
    d = 1 / math.tanh(epsilon_0 / 2)
    chances = np.where(np.arange(voters) < yes, plus_chances(epsilon_0, "printed")[1], 0.5)
    size, values, weights = voters // blocks, [], []
    for block in combinations(range(voters), size):
        for signs in product((-1, 1), repeat=size):
            term = np.zeros(voters)
            term[list(block)] = d * np.array(signs)
            values.append(term)
            weights.append(np.prod(np.where(np.array(signs) > 0, chances[list(block)], 1 - chances[list(block)])))
    terms, law = np.array(values), np.array(weights) / math.comb(voters, size)
    mean = law @ terms
    cov = (terms - mean).T @ (law[:, None] * (terms - mean))
    scale = blocks / voters
    return {
        "mean": scale * float(mean.sum()),
        "variance": scale**2 * float(cov.sum()),
        "variances": scale**2 * float(np.trace(cov)),
        "covariances": scale**2 * float(np.triu(cov, 1).sum()),
    }


def _ratio(epsilon_0: float) -> float:
    """Expected error of a block of one voter who says no, over q / (epsilon sqrt(n m)); n = m, any q."""
    return 2 * epsilon_0 / math.tanh(epsilon_0 / 2)


@claim("alabi2022:lem-10:error")
def check_error(n_items: Iterable[int]) -> Iterator[Check]:
    """Lemma 10's error per query."""
    large = np.array([10.0, 100.0, 1000.0])
    slope = exponent(large, [_ratio(e) for e in large])
    what = "exponent of ε in error/(q/(ε√(nm))), n = m, a voter who says no, 2q/m·(10, 100, 1000) = ε"
    yield printed(what, slope, "<=", 0.0, error=1e-6)
    for m in n_items:
        q = lemma_queries(m)
        worst = 0.0
        for n, epsilon_0 in product((m, 10 * m, 1000 * m), (1e-3, 0.1, 0.5, 1.0)):
            epsilon = 2 * q * epsilon_0 / m
            sd = np.sqrt(answer_variance(np.linspace(0, 1, 21), n, m, epsilon_0, "printed").max())
            worst = max(worst, float(sd) / (q / (epsilon * math.sqrt(n * m))))
        what = f"standard deviation over q/(ε√(nm)), worst of a grid with ε ≤ 2q/m, m = {m}"
        yield supplied(what, worst, "<=", PER_QUERY * (1 + ROUNDING))
    gap = max(
        abs(enumerated(n, yes, m, e)["variance"] - answer_variance(yes / n, n, m, e, "printed"))
        for n, m, e in ((4, 2, 0.5), (6, 3, 2.0), (6, 2, 1.0))
        for yes in range(n + 1)
    )
    what = "exact variance less its enumeration over blocks and reports, n = 4 and 6, any votes"
    yield amended(what, float(gap), "<=", ROUNDING)


@claim("alabi2022:lem-10:proof")
def check_proof() -> Iterator[Check]:
    """Equation (3) and the lines after it."""
    terms = enumerated(2, 2, 2, 1.0)
    as_printed = terms["variances"] + terms["covariances"]
    what = "Var(w̃) by equation (3) less Var(w̃), n = m = 2, both voters say yes, ε₀ = 1"
    yield printed(what, as_printed - terms["variance"], "==", 0.0, error=ROUNDING)
    grid = [(m, q) for m in (2, 3, 10, 91, 1000, 10**6) for q in (lemma_queries(m), 10 * lemma_queries(m))]
    worst = max(math.log(m) - q / (3 * m) + 0.1 * q / m for m, q in grid)
    yield printed("log(m exp(−q/(3m))) + 0.1 q/m, m up to 10⁶, q from 10 m log m", worst, "<=", 0.0)
    gap = max(
        abs(t["variances"] + 2 * t["covariances"] - t["variance"]) for t in (enumerated(6, k, 3, 1.0) for k in range(7))
    )
    yield amended("the same with 2 Σ Cov, n = 6, m = 3, any votes", gap, "<=", ROUNDING)
    high = max(enumerated(6, k, 3, 1.0)["covariances"] for k in range(7))
    yield amended("largest Σ Cov of these", high, "<=", ROUNDING)


@cache
def overload(balls: int, bins: int, most: int) -> float:
    """Chance that some bin gets more than `most` of the balls thrown independently; exact to about 1e-13.

    Poisson counts cut off at `most`, convolved over the bins and conditioned on their sum.
    """
    if most * bins < balls:
        return 1.0
    if most >= balls:
        return 0.0
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
        exact, bound = overload(q, m, 2 * q // m), math.exp(-0.1 * q / m)
        what = f"P(⊥), q = {q} distinct queries, one count a query, m = {m}"
        yield supplied(what, exact, "<=", bound, error=1e-12)
        better = math.exp(-7 / 30 * q / m)
        what = f"the same, against exp(−7q/(30m)), m = {m}"
        yield amended(what, exact, "<=", better, error=1e-12)


def dummy_bias(n_items: int, voters: int) -> pd.DataFrame:
    """Mean answer on unanimous voters, some of n + t = a multiple of m being dummies.

    Returns
    -------
    pandas.DataFrame
        ``scale`` of the sum, ``answer`` (the fraction is 1); by enumeration of who is asked.
    """
    total = -(-voters // n_items) * n_items
    asked = np.arange(min(voters, total // n_items) + 1)
    mean = float(asked @ stats.hypergeom.pmf(asked, total, voters, total // n_items))
    return pd.DataFrame({"scale": ["m/n", "m/(n + t)"], "answer": [n_items / voters * mean, n_items / total * mean]})


@claim("alabi2022:lem-10:dummy")
def check_dummy() -> Iterator[Check]:
    """Dummy users: the answers stay unbiased if the sum is divided by the number of real users, not otherwise."""
    for m, n in ((3, 4), (8, 100)):
        frame = dummy_bias(m, n)
        for scale, answer in zip(frame.scale, frame.answer, strict=True):
            what = f"bias of an answer that should be 1, m = {m}, n = {n}"
            reading = "n is the number of " + ("real users" if scale == "m/n" else "all users")
            yield printed(what, answer - 1, "==", 0.0, reading=reading, error=ROUNDING)
    votes = np.array(list(permutations((1, 1, 1, 0))))
    answers = np.concatenate([np.stack([b.mean(axis=1) for b in np.array_split(votes, 3, axis=1)]).ravel()])
    what = "mean answer over all cuts of 4 voters into blocks of 2, 1 and 1, each sum over its block's size, w = 3/4"
    yield amended(what, answers.mean(), "==", 0.75, error=ROUNDING)


# --- the algorithms as printed ---------------------------------------------------------------------------------------


def literal_answers(n_items: int, q: int, voters: Iterable[int]) -> pd.DataFrame:
    """How many distinct queries Algorithm 2 answers before it says bottom, with the counter of each reading.

    Returns
    -------
    pandas.DataFrame
        ``voters``, and what is answered of q queries when the counter grows per ``voter`` and per ``query``.
    """
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


def shrinkage(epsilon: float, n_items: int, *, base: float) -> float:
    """1/d of Algorithm 2, at the q of Lemma 10: by how much a report's mean shrinks, tanh(epsilon_0 / 2) at base e."""
    each = base ** (epsilon * n_items / (2 * lemma_queries(n_items)))
    return (each - 1) / (each + 1)


@claim("alabi2022:alg-2")
def check_alg_2(n_items: int = 40) -> Iterator[Check]:
    """Algorithm 2 run literally, and with its counter outside of the loop over voters; d with either base."""
    e, other = "base e", "base ε, as our copy has it"
    for epsilon in (1.0, 0.5):
        what = f"1/d, ε = {epsilon:g}, m = {n_items}, q = {lemma_queries(n_items)}"
        yield printed(what, shrinkage(epsilon, n_items, base=math.e), ">", 0, reading=e)
        yield printed(what, shrinkage(epsilon, n_items, base=epsilon), ">", 0, reading=other)
    q = lemma_queries(n_items)
    for m, some in ((2, 14), (n_items, q)):
        n = (2 * some // m + 1) * m
        seen = int(literal_answers(m, some, [n]).voter.iloc[0])
        yield printed(f"answers before ⊥, m = {m}, q = {some}, n = {n}", seen, ">=", 1, reading=e)
    n = 4 * n_items
    frame = literal_answers(n_items, q, [n])
    what = f"answers before ⊥ to q = {q} distinct queries, m = {n_items}, n = {n}"
    yield printed(what, int(frame.voter.iloc[0]), ">=", q, reading=e)
    yield amended(f"{what}, one count a query", int(frame["query"].iloc[0]), ">=", q)


def one_pair_each(n_items: int, epsilon: float) -> LocalKwikSort:
    """Every voter is told in advance which pair to report on, with the whole budget; also a fallback."""
    return LocalKwikSort(n_items, epsilon, 1, math.comb(n_items, 2))


def fallback_share(design: LocalKwikSort, voters: int, runs: int = 20) -> float:
    """Share of runs on unanimous voters in which a block is used up."""
    rng, data = stream("blocks: fallback", {"voters": voters}), unanimous(design.n_items, voters)
    return float(np.mean([design.sort(design.poll(data, rng)) is None for _ in range(runs)]))


def most_sent(counter: Literal["copied", "voter"], runs: int = 200) -> int:
    """Most reports that one voter is seen to send: five items and voters, threshold 2, counters by value or shared."""
    design = PrintedKwikSort(5, 0.5, 2, 5, one_pair_each(5, 0.5), counter=counter)
    rng, most = stream("blocks: copied", {}), 0
    for _ in range(runs):
        answers = design.poll(unanimous(5, 5), rng)
        design.sort(answers)
        most = max(most, int(answers.sent.max()))
    return most


def printed_algorithm_3(n_items: int, epsilon: float, q: int, counter: Literal["query", "voter"] = "query") -> Printed:
    """Algorithm 3 with Algorithm 2's epsilon_0, tau = 2 q / m, and a fallback with the budget epsilon / 2."""
    fallback = one_pair_each(n_items, epsilon / 2)
    return algorithm_3(n_items, q, epsilon, counter=counter, fallback=fallback)


@claim("alabi2022:alg-3")
def check_alg_3() -> Iterator[Check]:
    """Algorithm 3 run literally: it falls back at once, spends more than epsilon, and forgets what it asked."""
    epsilon = 1.0
    spent = {
        (m, q): printed_algorithm_3(m, epsilon, q).mechanism
        for m, q in [(3, 3), *((m, lemma_queries(m)) for m in (11, 12, 30))]
    }
    for (m, q), d in spent.items():
        yield printed(
            f"loss of {d.reports} reports and the fallback, m = {m}, q = {q}, ε = 1", d.guarantee.epsilon, "<=", epsilon
        )
    m, q = 8, lemma_queries(8)
    n = (2 * q // m + 1) * m
    literal = printed_algorithm_3(m, epsilon, q, "voter").mechanism
    what = f"share of 20 runs that end in the fallback, m = {m}, τ = {literal.reports}, n = {n}"
    yield printed(what, fallback_share(literal, n), "<", 1.0)
    what = "reports that one voter sent, counters passed by value, τ = 2, m = n = 5"
    yield printed(what, most_sent("copied"), "<=", 2)
    for m, q in [*spent, (8, lemma_queries(8))]:
        mended = algorithm_3(m, q, epsilon / 2, counter="query", fallback=one_pair_each(m, epsilon / 2)).mechanism
        what = f"loss with ε/2 for the reports and ε/2 for the fallback, m = {m}, q = {q}"
        yield amended(what, mended.guarantee.epsilon, "<=", epsilon)
    what = "share of 20 runs that end in the fallback, one count a query"
    yield amended(what, fallback_share(mended, n), "<", 1.0)
    yield amended("reports that one voter sent, shared counters", most_sent("voter"), "<=", 2)
