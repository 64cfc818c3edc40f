"""Reduction II in small cases, exactly, and Theorem 5."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement, pairwise, permutations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.instruments.aggregation import numbered
from companion.instruments.allowance import Z
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.alabi2022 import corollary_3
from dprank.aggregation import laws
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import expected_cost, queries
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.private_kwiksort import PrivateKwikSort

#: Rounding of our quadratures and sums, far above what tests find.
ROUNDING = 1e-7
Order = tuple[int, ...]
Margins = NDArray[np.float64]


def data_sets(n_items: int, voters: int, copies: int = 1) -> Iterator[tuple[Order, ...]]:
    """All multisets of orders of `voters` voters, each order taken `copies` times."""
    for chosen in combinations_with_replacement(permutations(range(n_items)), voters):
        yield chosen * copies


@cache
def half_margins(data: tuple[Order, ...]) -> Margins:
    """Half of: voters that put the row's item before the column's, minus those that do not; by the order of items."""
    places = np.argsort(np.array(data), axis=1)
    return np.sign(places[:, None, :] - places[:, :, None]).sum(axis=0) / 2


def neighbours(data: tuple[Order, ...]) -> Iterator[tuple[Order, ...]]:
    """All data sets in which one voter has another ranking."""
    for voter in sorted(set(data)):
        rest = list(data)
        rest.remove(voter)
        for other in permutations(range(len(voter))):
            if other != voter:
                yield tuple(sorted([*rest, other]))


def kwiksort_law(margins: Margins, limit: int, scale: float) -> dict[Order | None, float]:
    """Law of what Algorithm 1 returns on half margins of up to 5 items, with Laplace noise; None: it falls back."""
    before = _above(-margins / scale) if scale else (margins > 0).astype(float)
    law: dict[Order | None, float] = {}
    for (order, asked), chance in laws.kwiksort_law(before).items():
        outcome = order if asked <= limit else None
        law[outcome] = law.get(outcome, 0.0) + chance
    return law


@cache
def _chance_of_order(first: float, second: float, third: float, scale: float) -> float:
    """Chance that a, b, c is the best order, from the half margins of a over b, b over c and a over c.

    It is iff the noisy ones are y > 0, y' > 0 and y'' > -min(y, y'). Gauss-Legendre between the kinks of the density
    of the minimum, in pieces of four scales at most.
    """
    x, y, z = first / scale, second / scale, third / scale
    kinks = sorted({0.0, max(x, 0.0), max(y, 0.0), max(-z, 0.0)})
    kinks.append(kinks[-1] + 40.0)
    ends = np.concatenate([np.linspace(a, b, 2 + int((b - a) / 4)) for a, b in pairwise(kinks)])
    nodes, weights = np.polynomial.legendre.leggauss(24)
    half = np.diff(ends)[:, None] / 2
    u = ends[:-1, None] + half * (nodes + 1)
    least = _density(u - x) * _above(u - y) + _density(u - y) * _above(u - x)
    return float((half * weights * least * _above(-u - z)).sum())


def _density(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.abs(x)) / 2


def _above(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chance that a Laplace variable of scale 1 is above x."""
    return np.where(x > 0, _density(x), 1 - _density(x))


def kemeny_law(margins: Margins, scale: float) -> dict[Order, float]:
    """Law of the exact Kemeny order of three items after Laplace noise on the counts, by quadrature."""
    return {
        (a, b, c): _chance_of_order(margins[a, b], margins[b, c], margins[a, c], scale)
        for a, b, c in permutations(range(3))
    }


def fractions(data: tuple[Order, ...]) -> NDArray[np.float64]:
    """The paper's w."""
    w = 0.5 + half_margins(data) / len(data)
    np.fill_diagonal(w, 0)
    return w


def _mean_cost(law: dict[Order, float], w: NDArray[np.float64]) -> float:
    return sum(p * kemeny_score(order, w) for order, p in law.items())


def contrary(w: NDArray[np.float64]) -> NDArray[np.int64]:
    """The best order where the answers meet the probability constraints, the worst where they do not.

    As good as any algorithm by the paper's definition, which only speaks of matrices that meet them.
    """
    off = ~np.eye(len(w), dtype=bool)
    meets = (w[off] >= 0).all() and (abs(w + w.T - 1)[off] < 1e-9).all()
    best = kemeny(0.5 + (w - w.T) / (2 * abs(w - w.T).max())).order
    return best if meets else best[::-1]


def contrary_error(n_items: int, voters: Sequence[int], epsilon: float) -> pd.DataFrame:
    """What `contrary` loses, all agreeing: ``voters``, ``cost``, ``allowed`` (m^2 e + 1 / (epsilon n)), ``ratio``."""
    w = np.triu(np.ones((n_items, n_items)), 1)
    asked = n_items * (n_items - 1)
    rows = []
    for n in voters:
        scale = 2 * asked / (epsilon * n)
        rng = stream("alabi2022: contrary", {"items": n_items, "voters": n})
        cost = kemeny_score(contrary(w + rng.laplace(0, scale, w.shape)), w)
        allowed = n_items**2 * scale + 1 / (epsilon * n)
        rows.append({"voters": n, "cost": cost, "allowed": allowed, "ratio": cost / allowed})
    return pd.DataFrame(rows)


def three_items(voters: int, epsilon: float) -> pd.DataFrame:
    """Reduction II on all data of three items, exactly; two queries, half of the budget for the exact fallback.

    ``voters``, ``optimum``, ``falls_back`` (chance), ``cost`` of the order returned, ``free`` (of KwikSort without a
    limit), ``spare`` (of the fallback), ``bound`` 2 OPT + 6 e + P (OPT + 6 e') with e and e' the expected errors of
    answers and fallback.
    """
    rows = []
    for n in range(1, voters + 1):
        for data in data_sets(3, n):
            mechanism = PrivateKwikSort.calibrated(n_items=3, epsilon=epsilon, queries=2, share=0.5, law="continuous")
            assert mechanism.fallback is not None
            w, margins = fractions(data), half_margins(data)
            law = kwiksort_law(margins, 2, mechanism.scale)
            falls = law.pop(None, 0.0)
            direct: dict[Order, float] = {order: p for order, p in law.items() if order is not None}
            free = {o: p for o, p in kwiksort_law(margins, 3, mechanism.scale).items() if o is not None}
            spare = _mean_cost(kemeny_law(margins, mechanism.fallback.scale), w)
            optimum = kemeny(w).cost
            e, e_spare = mechanism.scale / n, mechanism.fallback.scale / n
            rows.append(
                {
                    "voters": n,
                    "optimum": optimum,
                    "falls_back": falls,
                    "cost": _mean_cost(direct, w) + falls * spare,
                    "free": _mean_cost(free, w),
                    "spare": spare,
                    "bound": 2 * optimum + 6 * e + falls * (optimum + 6 * e_spare),
                }
            )
    return pd.DataFrame(rows)


def excess(
    n_items: int, spread: float, voters: int, epsilon: float, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """What orders from private KwikSort cost above twice a lower bound of the optimum, one number a release.

    A voter sorts the items by their number plus Gaussian noise of standard deviation `spread`. The optimum is bounded
    by the cheaper side of every pair. The limit of queries is exceeded with chance 1 / items^4.
    """
    scores = np.arange(n_items) + spread * rng.standard_normal((voters, n_items))
    data = numbered(np.argsort(np.argsort(scores, axis=1), axis=1))
    w = pairwise_fractions(data)
    asked = queries(n_items, n_items**-4.0)
    mechanism = PrivateKwikSort.calibrated(
        n_items=n_items, epsilon=epsilon, queries=asked, share=0.5, law="continuous", rule="local_search"
    )
    costs = [kemeny_score(mechanism.release(data, rng).order, w) for _ in range(repetitions)]
    return np.array(costs) - np.minimum(w, w.T).sum()


def in_places(places: float) -> str:
    return f", noise of {places:g} places each" if places else " who agree"


@claim("alabi2022:thm-1:privacy")
def check_thm_1_privacy(voters: int = 2) -> Iterator[Check]:
    """An order made of private answers alone: its exact loss on all data of three items, against the answers'."""
    data = [x for n in range(1, voters + 1) for x in data_sets(3, n)]
    for epsilon in (0.5, 4.0):
        # three answers are asked, each of which a voter moves by one
        scale = 3 / epsilon
        worst = dict.fromkeys(("best order", "KwikSort"), 0.0)
        for one in data:
            for other in neighbours(one):
                near, far = half_margins(one), half_margins(other)
                for name, law in (("best order", kemeny_law), ("KwikSort", _unlimited)):
                    p, q = law(near, scale), law(far, scale)
                    worst[name] = max(worst[name], *(abs(math.log(p[order] / q[order])) for order in p))
        for name, loss in worst.items():
            what = f"largest loss of the {name} of noisy answers, 3 items, {len(data)} data sets, ε = {epsilon:g}"
            yield printed(what, loss, "<=", epsilon * (1 + ROUNDING))


def _unlimited(margins: Margins, scale: float) -> dict[Order, float]:
    """Law of KwikSort on all three answers."""
    return {order: p for order, p in kwiksort_law(margins, 3, scale).items() if order is not None}


@claim("alabi2022:thm-5")
def check_thm_5(voters: int, repetitions: int) -> Iterator[Check]:
    """Theorem 5 with an algorithm that the printed condition does not tame; explicit constants for fractions."""
    frame = contrary_error(4, (10**3, 10**5, 10**7), 1.0)
    what = "error over m²e + 1/(εn), 4 items, voters agree, answers of any kind: 10⁷ voters against 10³"
    yield printed(what, frame.ratio.iloc[-1], "<=", frame.ratio.iloc[0])
    for epsilon in (4.0, 40.0):
        exact = three_items(voters, epsilon)
        what = f"cost minus bound, one noise a pair: all {len(exact)} data sets of 3 items, ε = {epsilon:g}"
        yield supplied(what, float((exact.cost - exact.bound).max()), "<=", ROUNDING)
    cells = [{"n_items": 16, "spread": spread, "voters": 60, "epsilon": 20.0} for spread in (0.0, 4.0)]
    seen = sweep(excess, cells, experiment="alabi2022: Theorem 5", repetitions=repetitions)
    # half of an error's mean size is on the side that can turn a pair, so that 2m(m − 1)e is twice what is needed
    q = queries(16, 16**-4.0)
    allowed = 2 * math.comb(16, 2) * 2 * q / (20.0 * 60) + 6 / (20.0 * 60)
    for row in seen.itertuples():
        what = f"cost − 2 OPT, 16 items, 60 voters{in_places(row.spread)}, q = {q}; m(m − 1)e + 6ζ/(εn)"
        yield amended(what, row.mean, "<=", allowed, error=Z * row.se + 1e-12)


@claim("alabi2022:thm-5:proof")
def check_thm_5_proof(voters: int) -> Iterator[Check]:
    """The first display of the proof, with the event and its complement as printed and exchanged."""
    w = fractions(FIVE)
    algorithm, n = expected_cost(w), 10**5
    spare = _mean_cost(kemeny_law(n / len(FIVE) * half_margins(FIVE), corollary_3(3, 0.5).mechanism.scale), w)
    shares = "10⁵ voters, two fifths abc, two fifths bca, one fifth cab"
    what = f"E K(σ) of KwikSort, q = 3 (P(E) = 0), {shares}, ε = 1; the printed right side"
    yield printed(what, algorithm, "<=", spare + ROUNDING)
    for epsilon in (4.0, 40.0):
        exact = three_items(voters, epsilon)
        right = exact.free + exact.falls_back * exact.spare
        what = f"E K(σ) − E K(σ_A) − P(E) E K(σ_F), all {len(exact)} data sets of 3 items, q = 2, ε = {epsilon:g}"
        yield amended(what, float((exact.cost - right).max()), "<=", ROUNDING)


#: A cycle of unequal majorities: KwikSort returns each of its three orders equally often, and their costs differ.
FIVE: tuple[Order, ...] = ((0, 1, 2), (0, 1, 2), (1, 2, 0), (1, 2, 0), (2, 0, 1))
