"""Alabi, Ghazi, Kumar and Manurangsi (2022): Reduction II in the local model, Algorithms 2 and 3."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from companion.instruments.aggregation import numbered, printed_rate
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import exponent, least
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import Printed
from companion.printed.alabi2022 import PrintedKwikSort, Report, algorithm_3, plus_chances, report_loss
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import expected_cost, queries
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.rules import borda
from dprank.audit import privacy_loss
from dprank.data.rankings import Rankings
from dprank.models.draws import binomial

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


@claim("alabi2022:alg-2")
def check_alg_2(n_items: int = 40) -> Iterator[Check]:
    """Algorithm 2 run literally, and with its counter outside of the loop over voters."""
    q = lemma_queries(n_items)
    for m, some in ((2, 14), (n_items, q)):
        n = (2 * some // m + 1) * m
        seen = int(literal_answers(m, some, [n]).voter.iloc[0])
        yield printed(f"answers before ⊥, m = {m}, q = {some}, n = {n}", seen, ">=", 1)
    n = 4 * n_items
    frame = literal_answers(n_items, q, [n])
    what = f"answers before ⊥ to q = {q} distinct queries, m = {n_items}, n = {n}"
    yield printed(what, int(frame.voter.iloc[0]), ">=", q)
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


# --- exact error on unanimous voters ---------------------------------------------------------------------------------


def wrong_chances(size: int, epsilon_0: float, report: Any) -> tuple[float, float]:
    """Chances that a block of unanimous voters misplaces an item that belongs before the pivot, and one behind it.

    Parameters
    ----------
    size : int
        Voters of the block, at least 1.
    epsilon_0, report
        As of `companion.printed.alabi2022.report_loss`.
    """
    no, yes = plus_chances(epsilon_0, report)
    if report == "centred":
        low = stats.binom.cdf(math.ceil(size / 2) - 1, size, yes)
        wrong = float(low + (stats.binom.pmf(size // 2, size, yes) / 2 if size % 2 == 0 else 0))
        return wrong, wrong
    threshold = size / 2 * (1 + math.tanh(epsilon_0 / 2) / 2)
    return float(stats.binom.cdf(threshold, size, yes)), float(stats.binom.sf(threshold, size, no))


def placement_cost(n_items: int, before: float, behind: float) -> float:
    """Exact expected Kendall error of KwikSort on a ranking, every comparison being wrong independently.

    Parameters
    ----------
    n_items : int
    before, behind : float
        Chances that an item before the pivot goes behind it, and the reverse.

    Notes
    -----
    A call on u items is again one on a ranking, so the size of the left part is all that matters; its generating
    function is the mean over the pivot's place r of a^r b^(u-1-r), a and b being those of one item. O(items^2).
    """
    cost = np.zeros(n_items + 1)
    parts, power = np.ones(1), np.ones(1)
    for u in range(2, n_items + 1):
        power = np.convolve(power, [1 - behind, behind])
        parts = np.convolve(parts, [before, 1 - before]) + power
        crossing = before * (1 - before) + behind * (1 - behind) + before * behind
        here = (u - 1) / 2 * (before + behind) + (u - 1) * (u - 2) / 6 * crossing
        cost[u] = here + float((parts / u) @ (cost[:u] + cost[u - 1 :: -1]))
    return float(cost[n_items])


def form_of(design: LocalKwikSort) -> Report:
    """Of the reports of a design."""
    return design.report if isinstance(design, PrintedKwikSort) else "centred"


def design_cost(design: LocalKwikSort, voters: int) -> float:
    """Exact expected Kendall error of a design on unanimous voters; the rare runs out of answers are left out."""
    wrong = wrong_chances(voters // design.blocks, design.report_epsilon, form_of(design))
    return placement_cost(design.n_items, *wrong)


@cache
def designs(n_items: int, epsilon: float, tail: float = 1e-6) -> dict[str, LocalKwikSort]:
    """Algorithm 3 with its counter mended, the same with centred reports and exact constants, and ours.

    All spend epsilon on the reports and nothing on a fallback. The last one asks every voter about one pair in advance.
    """
    as_printed = algorithm_3(n_items, lemma_queries(n_items), epsilon, counter="query").mechanism
    asked = queries(n_items, tail)
    reports = least(lambda k: overload(asked, n_items, k) <= tail, start=1)
    return {
        "as printed": as_printed,
        "corrected": PrintedKwikSort(n_items, epsilon / reports, reports, n_items, report="centred", counter="query"),
        "fresh blocks": LocalKwikSort.calibrated(n_items=n_items, epsilon=epsilon, tail=tail),
        "one pair each": one_pair_each(n_items, epsilon),
    }


def cost_curves(n_items: Iterable[int], epsilon: float, points: int = 25) -> pd.DataFrame:
    """Exact expected error of the designs on unanimous voters.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``design``, ``voters``, ``error`` (share of all pairs that are in the wrong order).
    """
    rows = []
    for m in n_items:
        for name, design in designs(m, epsilon).items():
            for n in np.geomspace(max(design.blocks, 100), 1e8, points).astype(int):
                error = design_cost(design, int(n)) / math.comb(m, 2)
                rows.append({"items": m, "design": name, "voters": int(n), "error": error})
    return pd.DataFrame(rows)


def matrix_costs(n_items: int, voters: int, epsilon: float, repetitions: int, rng: np.random.Generator) -> Any:
    """Errors of Borda's order of the noisy matrix: unanimous voters, asked about one pair each, told in advance."""
    pairs, first = math.comb(n_items, 2), np.triu_indices(n_items, 1)
    errors, truth = np.empty(repetitions), np.triu(np.ones((n_items, n_items)), 1)
    for r in range(repetitions):
        plus = binomial(voters // pairs, plus_chances(epsilon, "centred")[1], pairs, rng=rng) / (voters // pairs)
        w = np.zeros((n_items, n_items))
        w[first], w.T[first] = plus, 1 - plus
        errors[r] = kemeny_score(borda(w + 1e-9 * rng.random(w.shape)), truth) / pairs
    return errors


def matrix_curve(n_items: Iterable[int], epsilon: float, repetitions: int, points: int = 7) -> pd.DataFrame:
    """`matrix_costs` over a grid of voters, with standard errors: columns of `cost_curves`, ``mean`` and ``se``."""
    cells = [
        {"n_items": m, "voters": int(n), "epsilon": epsilon}
        for m in n_items
        for n in np.geomspace(max(math.comb(m, 2), 100), 3e4 * m, points)
    ]
    frame = sweep(matrix_costs, cells, experiment="blocks: matrix", repetitions=repetitions)
    return frame.rename(columns={"n_items": "items"}).assign(design="matrix")


def overtaking(simulated: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """From how many voters on KwikSort errs less than Borda's order of one pair each; unanimous voters.

    Parameters
    ----------
    simulated : pandas.DataFrame
        Of `matrix_curve`; KwikSort's error is exact at the same numbers of voters, and both logarithms are interpolated
        linearly in that of the number.
    epsilon : float

    Returns
    -------
    pandas.DataFrame
        ``items``; ``fresh blocks`` and ``one pair each``: numbers of voters; ``share`` of pairs in the wrong order
        where fresh blocks draw level.
    """
    rows = []
    for m, seen in simulated[simulated["mean"] > 0].groupby("items"):
        row: dict[str, float] = {"items": m}
        size, other = np.log(seen["voters"].to_numpy(float)), np.log(seen["mean"].to_numpy())
        for name in ("fresh blocks", "one pair each"):
            design = designs(m, epsilon)[name]
            own = np.log([max(design_cost(design, n) / math.comb(m, 2), 1e-300) for n in seen["voters"]])
            gap = other - own
            after = int(np.argmax(gap > 0))
            part = gap[after] / (gap[after] - gap[after - 1]) if after else 0.0
            row[name] = round(math.exp(size[after] - part * (size[after] - size[max(after - 1, 0)])))
            if name == "fresh blocks":
                row["share"] = math.exp(other[after] - part * (other[after] - other[max(after - 1, 0)]))
        rows.append(row)
    return pd.DataFrame(rows)


def voters_needed(n_items: Iterable[int], epsilon: float, share: float = 0.25) -> pd.DataFrame:
    """Voters, unanimous, from which a design misplaces less than a share of all pairs; a coin misplaces half.

    Returns
    -------
    pandas.DataFrame
        A row a number of items: ``items``, a column a design (within 1 %), and the mean number of ``rounds`` that
        KwikSort takes when all calls of one depth are made at once.
    """
    rows = []
    for m in n_items:
        row: dict[str, float] = {"items": m}
        for name, design in designs(m, epsilon).items():
            good = share * math.comb(m, 2)
            row[name] = least(lambda n, d=design, g=good: design_cost(d, n) <= g, design.blocks, 0.01)  # type: ignore[misc]
        rows.append(row | {"rounds": mean_rounds(m)})
    return pd.DataFrame(rows)


def mean_rounds(n_items: int) -> float:
    """Mean depth of KwikSort's recursion on a tournament without cycles, calls on fewer than two items not counted."""
    most = n_items
    within = np.zeros((n_items + 1, most + 1))  # chance that a call on u items takes at most k rounds
    within[:2] = 1
    for u in range(2, n_items + 1):
        within[u, 1:] = (within[:u, :-1] * within[u - 1 :: -1, :-1][:u]).mean(axis=0)
    return float((1 - within[n_items]).sum())


# --- Theorem 11 and Corollary 12 -------------------------------------------------------------------------------------


def thresholds(zeta: float = 1.0) -> dict[str, int]:
    """From how many items on the conditions and bounds of Theorem 11 say something.

    Returns
    -------
    dict
        ``ordered``, ``unordered``: q >= 10 m log(m / zeta) is at most the number of pairs. ``bound``: m^1.5 q is below
        m^3, Corollary 9's. ``mended``, ``fresh``: an answer has a smaller variance than with one pair each, in the
        limit of small epsilon: m blocks with centred reports and as few of them as last, and fresh blocks; 201 stands
        for more than 200.
    """
    found = {
        "ordered": least(lambda m: lemma_queries(m, zeta) <= m * (m - 1)),
        "unordered": least(lambda m: 2 * lemma_queries(m, zeta) <= m * (m - 1)),
        "bound": least(lambda m: lemma_queries(m, zeta) <= m**1.5),
    }
    for name in ("mended", "fresh"):
        found[name] = least(lambda m, name=name: m > 200 or _variance_share(m, name) < 1, start=4)  # type: ignore[misc]
    return found


def _variance_share(n_items: int, name: str, tail: float = 1e-6) -> float:
    """Variance of an answer over that with one pair each, in the limit of small epsilon."""
    q, pairs = queries(n_items, tail), math.comb(n_items, 2)
    if name == "fresh":
        return q / pairs
    return n_items * least(lambda k: overload(q, n_items, k) <= tail, start=1) ** 2 / pairs


def _large_epsilon() -> Check:
    """Two items, two voters, one a block: printed reports err however large epsilon is."""
    q, grid = lemma_queries(2), np.array([1e3, 1e4, 1e5])
    costs = [design_cost(algorithm_3(2, q, e, counter="query").mechanism, 2) for e in grid]
    slope = exponent(grid, np.array(costs) * grid)
    what = f"exponent of ε in E K/(m^1.5 q/(ε√n)), m = n = 2, both agree, q = {q}, ε = 10³ to 10⁵"
    return printed(what, slope, "<=", 0.0, error=1e-6)


def spoiled(n_items: int, voters: int, epsilon: float) -> float:
    """Chance that two answers about a pair sum to 1 as fractions do; two blocks, unanimous voters.

    A rank aggregation algorithm may ask both, and return its worst order if they do not.
    """
    design = algorithm_3(n_items, lemma_queries(n_items), epsilon, counter="query").mechanism
    size, scale = voters // design.blocks, math.tanh(design.report_epsilon / 2)
    total = round(size * (1 + scale / 2))  # of both blocks, the only number of pluses that can do
    if abs((2 * total / size - 2) / scale - 1) > ROUNDING:
        return 0.0
    no, yes = plus_chances(design.report_epsilon, "printed")
    plus = np.arange(total + 1)
    return float(stats.binom.pmf(plus, size, yes) @ stats.binom.pmf(total - plus, size, no))


def _printed_costs(zeta: float = 1.0) -> Iterator[tuple[int, int, int, float, float]]:
    """Items, voters, q, epsilon up to 2 q / m, and exact expected cost of the printed design; all voters agree."""
    for m, share, times in product((3, 8, 30, 100), (0.01, 0.3, 1.0), (1, 10, 1000, 10**5)):
        q = lemma_queries(m, zeta)
        e = 2 * q / m * share
        yield m, m * times, q, e, design_cost(algorithm_3(m, q, e, counter="query").mechanism, m * times)


@claim("alabi2022:thm-11")
def check_thm_11(epsilon: float = 1.0) -> Iterator[Check]:
    """Theorem 11 by the printed algorithm, at large epsilon, with an unhelpful A, and with conditions supplied."""
    m, sizes = 8, np.array([10**3, 10**4, 10**5])
    costs = np.array([math.comb(m, 2) * (1 - spoiled(m, n * m, epsilon)) for n in sizes])
    what = "exponent of n in E K/(m^1.5 q/(ε√n)), m = 8, all agree, A returns its worst order when w̃ᵢⱼ + w̃ⱼᵢ ≠ 1"
    yield printed(what, exponent(sizes, costs * np.sqrt(sizes)), "<=", 0.0, error=1e-6)
    yield _large_epsilon()
    worst = max(cost / (m**1.5 * q / (e * math.sqrt(n))) for m, n, q, e, cost in _printed_costs())
    what = "E K/(m^1.5 q/(ε√n)), worst of a grid with ε ≤ 2q/m, KwikSort, all agree; against 4/tanh(½)"
    yield supplied(what, worst, "<=", 2 * PER_QUERY)
    for zeta in (1.0, 0.1):
        asked = {k: lemma_queries(k, zeta) for k in (2, 8, 30)}
        lost = max(overload(q, k, 2 * q // k) + zeta / k**4 for k, q in asked.items())
        what = f"P(fallback), worst of m = 2, 8, 30, ζ = {zeta:g}"
        yield supplied(what, lost, "<=", zeta / 2, error=1e-12)
    worst = 0.0
    for m, e, times in product((3, 8, 30, 100), (0.1, 1.0), (1, 10, 1000, 10**5)):
        design = LocalKwikSort.calibrated(n_items=m, epsilon=e)
        worst = max(worst, design_cost(design, design.blocks * times) / fresh_error(m, e, times))
    what = "E K/(4 C(m, 2) s), s an answer's deviation, fresh blocks, all agree, m = 3 to 100, ε = 0.1 and 1"
    yield amended(what, worst, "<=", 1.0)


def _fresh_sd(epsilon: float, size: int) -> float:
    """Standard deviation, at most, of the answer of a block of `size` voters drawn at random, with centred reports."""
    return 1 / (2 * math.tanh(epsilon / 2) * math.sqrt(size))


def fresh_error(n_items: int, epsilon: float, size: int) -> float:
    """Proved additive error at ratio 2 of KwikSort with fresh blocks of `size` voters."""
    return 4 * math.comb(n_items, 2) * _fresh_sd(epsilon, size)


def run_out(repetitions: int, rng: np.random.Generator) -> dict[str, Any]:
    """Runs in which the blocks often run out: 8 items, 400 unanimous voters, 4 reports each, one pair each at last.

    Returns
    -------
    dict
        ``cost`` and ``bottom`` (whether the fallback ranked), a number a run; ``own`` and ``other``, exact costs of
        KwikSort on answers that never end and of the fallback.
    """
    inner, data, truth = one_pair_each(8, 2.0), unanimous(8, 400), np.triu(np.ones((8, 8)), 1)
    design = PrintedKwikSort(8, 0.2, 4, 8, inner, report="centred", counter="query")
    cost, bottom = np.empty(repetitions), np.zeros(repetitions)
    for r in range(repetitions):
        order = design.sort(design.poll(data, rng))
        if order is None:
            order, bottom[r] = inner.release(data, rng).order, 1
        cost[r] = kemeny_score(order, truth)
    return {"cost": cost, "bottom": bottom, "own": design_cost(design, 400), "other": design_cost(inner, 400)}


@claim("alabi2022:thm-11:proof")
def check_thm_11_proof(repetitions: int, n_items: int = 8, voters: int = 1000, epsilon: float = 1.0) -> Iterator[Check]:
    """Theorem 5's first display carried over, and what it should say."""
    q, pairs = lemma_queries(n_items), math.comb(n_items, 2)
    lost = overload(q, n_items, 2 * q // n_items)
    own = design_cost(algorithm_3(n_items, q, epsilon / 2, counter="query").mechanism, voters)
    other = design_cost(designs(n_items, epsilon / 2)["one pair each"], voters)
    what = f"E K less P(⊥) E[K(A); ⊥] + P(not ⊥) E K(fallback), m = {n_items}, n = {voters}, ε = {epsilon:g}, all agree"
    yield printed(what, own - other, "<=", 0.0, error=2 * lost * pairs)
    seen = run_out(repetitions, stream("blocks: run out", {"repetitions": repetitions}))
    excess = seen["cost"] - seen["own"] - seen["bottom"] * seen["other"]
    share, error = seen["bottom"].mean(), 5 * float(excess.std(ddof=1)) / math.sqrt(repetitions)
    what = f"E K less E K(A) + P(⊥) E K(fallback) where P(⊥) is {share:.2f}, {repetitions} runs, 5 standard errors"
    yield amended(what, float(excess.mean()), "<=", 0.0, error=error)


def two_approximation(votes: ArrayLike, design: LocalKwikSort, voters: int) -> dict[str, float]:
    """Exact expected cost of KwikSort on few items when voters are drawn at random from given rankings.

    Parameters
    ----------
    votes : array_like of int, shape (rankings, items)
        Places; a voter has each ranking with equal chance, so that the answers of fresh blocks are independent.
    design : LocalKwikSort
        With centred reports.
    voters : int

    Returns
    -------
    dict
        ``cost``, ``optimum``, ``wrong`` (expected sum of the errors of answers that contradict the majority).
    """
    positions = np.asarray(votes)
    m = positions.shape[1]
    w = pairwise_fractions(numbered(positions))
    size, (no, yes) = voters // design.blocks, plus_chances(design.report_epsilon, "centred")
    plus = np.arange(size + 1)
    estimate = (1 + (2 * plus / size - 1) / math.tanh(design.report_epsilon / 2)) / 2
    pairs, up, wrong = list(combinations(range(m), 2)), [], 0.0
    for i, j in pairs:
        law = stats.binom.pmf(plus, size, w[i, j] * yes + w[j, i] * no)
        says = np.where(estimate == 0.5, 0.5, estimate > 0.5)
        up.append(float(law @ says))
        against = 1 - says if w[i, j] > 0.5 else says
        wrong += float((law * against) @ abs(estimate - w[i, j])) if w[i, j] != 0.5 else 0.0
    cost = 0.0
    for answers in product((0, 1), repeat=len(pairs)):
        t = np.zeros((m, m))
        for (i, j), first in zip(pairs, answers, strict=True):
            t[i, j], t[j, i] = first, 1 - first
        chance = np.prod([p if first else 1 - p for p, first in zip(up, answers, strict=True)])
        cost += float(chance) * expected_cost(t, w)
    return {"cost": cost, "optimum": kemeny(w).cost, "wrong": wrong}


@claim("alabi2022:cor-12")
def check_cor_12(zeta: float = 1.0) -> Iterator[Check]:
    """Corollary 12 with explicit constants, and ours: ratio 2, one report a voter."""
    yield _large_epsilon()
    sizes = (3, 8, 30, 100, 200)
    share = max(max(queries(m, zeta / m**4), lemma_queries(m, zeta)) / (m * math.log(m)) for m in sizes)
    what = "q/(m log m) for queries beyond q with chance 1/m⁴ at most, and Theorem 11's least, m = 3 to 200"
    yield supplied(what, share, "<=", 11.0)
    constant = 11 * 2 * PER_QUERY
    worst = max(cost * math.sqrt(n) / printed_rate(12, m, e) for m, n, _, e, cost in _printed_costs(zeta))
    what = "E K/(m^2.5 log m/(ε√n)), worst of a grid with ε ≤ 2q/m, all agree"
    yield supplied(what, worst, "<=", constant)
    rng = stream("blocks: votes", {"m": 4})
    for n in (60, 600, 6000):
        votes = np.array([rng.permutation(4) for _ in range(5)])
        design = LocalKwikSort.calibrated(n_items=4, epsilon=1.0)
        seen = two_approximation(votes, design, n)
        what = f"4 items, {n} voters drawn from 5 rankings, ε = 1: E K for the population, against 2 OPT + 4 E Σ ν_p"
        yield amended(what, seen["cost"], "<=", 2 * seen["optimum"] + 4 * seen["wrong"])
    for m in (30, 100):
        what = f"standard deviation of an answer, fresh blocks over Algorithm 2's, both claim ε = 1, m = {m}"
        yield amended(what, 1 / answer_gain(m, 1.0), "<=", 1.0)


def answer_gain(n_items: int, epsilon: float) -> float:
    """Standard deviation of Algorithm 2's answers, q as in Lemma 10, over that of fresh blocks with a tail of m^-4."""
    as_printed = math.sqrt(n_items) / math.tanh(n_items * epsilon / (4 * lemma_queries(n_items)))
    blocks = LocalKwikSort.calibrated(n_items=n_items, epsilon=epsilon, tail=n_items**-4.0).blocks
    return as_printed / (math.sqrt(blocks) * _fresh_sd(epsilon, 1))


# --- figures ----------------------------------------------------------------------------------------------------------


_LOOK = {
    "as printed": ("as printed, counter mended", CALIBRATION["as printed"]["color"], "-"),
    "corrected": ("corrected: centred reports, exact q", CALIBRATION["corrected"]["color"], "-"),
    "fresh blocks": ("fresh blocks, one report each", COLOURS[2], "-"),
    "one pair each": ("KwikSort, one pair each", COLOURS[3], "--"),
}


@styled
def draw_cost_curves(frame: pd.DataFrame) -> Figure:
    """Exact error of the designs against the number of voters, a panel a number of items; Borda's with 95 % bars."""
    figure = Figure(figsize=(7.2, 3.6))
    panels = figure.subplots(1, frame["items"].nunique(), sharey=True, squeeze=False)[0]
    for axes, (items, part) in zip(panels, frame.groupby("items"), strict=True):
        for design, (label, colour, line) in _LOOK.items():
            curve = part[part.design == design]
            axes.plot(curve.voters, curve.error, line, color=colour, label=label)
        seen = part[part.design == "matrix"]
        bars = {"ls": "", "marker": "v", "color": COLOURS[4], "capsize": 2}
        axes.errorbar(seen.voters, seen["mean"], BAR * seen.se, label="Borda, one pair each", **bars)
        axes.axhline(0.5, color="black", lw=1, ls=":")
        axes.set(title=f"{items} items", xlabel="voters", xscale="log", ylim=(0, 0.55))
    figure.axes[0].set_ylabel("share of pairs in the wrong order")
    figure.axes[0].annotate("a coin", (1, 0.5), (-3, 3), ("axes fraction", "data"), "offset points", ha="right")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
