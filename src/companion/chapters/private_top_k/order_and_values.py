"""What order, and the noisy values themselves, cost beside the set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
from dp_accounting import get_sigma_gaussian
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import quad
from scipy.special import ndtr

from companion.chapters.private_top_k.pure import LAPLACE, found_loss, loss_check, supremum
from companion.instruments.allowance import ROUNDING
from companion.instruments.topk import (
    TAIL,
    gaussian_delta,
    hockey_stick,
    integral_above,
    list_chances,
    noise_grid,
    printed_scale,
)
from companion.instruments.two_items import log_first_wins
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from dprank.privacy.composition import epsilon_per_round, rho
from dprank.topk.bound import log_delta, shift_for
from dprank.topk.curve import log_set_probability

# --- approximate privacy: order, and the noisy values themselves -----------------------------------------------------


def order_laws(values: Sequence[float], k: int, order: bool) -> NDArray[np.float64]:
    """Probabilities of all sets, or of all lists, of k items."""
    codes, x = range(len(values)), np.asarray(values, float)
    if order:
        return list_chances(x, list(permutations(codes, k)))
    chosen = np.array([np.isin(codes, some) for some in combinations(codes, k)], float)
    return np.exp(log_set_probability(np.ones(len(x)), x, chosen, LAPLACE))


def worst_event(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """The same by trying all events, 2^outcomes of them."""
    excess = np.asarray(p) - math.exp(epsilon) * np.asarray(q)
    return max(float(excess[list(event)].sum()) for event in product([False, True], repeat=len(excess)))


def random_record_delta(records: int, epsilon: float) -> float:
    """Least delta of publishing one of the records, drawn at random, when another replaces one of them."""
    before = np.r_[np.full(records, 1 / records), 0.0]
    return hockey_stick(before, before[::-1], epsilon)


def order_deltas(values: Sequence[float], k: int, shift: float, epsilons: Iterable[float]) -> pd.DataFrame:
    """Exact delta of the set and of the ordered list of k values, any direction: ``values / λ``, ``k``, ``ε``,
    ``δ of the set``, ``δ of the ordered list``; the worst over all corners of the neighbours, both ways round.
    """
    m = len(values)
    pairs: dict[bool, list[tuple[NDArray[np.float64], NDArray[np.float64]]]] = {}
    for order in (False, True):
        before = order_laws(values, k, order)
        corners = np.array(list(product([-shift, shift], repeat=m)))
        laws = (order_laws(list(np.add(values, corner)), k, order) for corner in corners)
        pairs[order] = [pair for after in laws for pair in ((before, after), (after, before))]
    return pd.DataFrame(
        {
            "values / λ": ", ".join(f"{value:g}" for value in values),
            "k": k,
            "ε": epsilon,
            "δ of the set": max(hockey_stick(p, q, epsilon) for p, q in pairs[False]),
            "δ of the ordered list": max(hockey_stick(p, q, epsilon) for p, q in pairs[True]),
        }
        for epsilon in epsilons
    )


def own_value_delta(m: int, shift: float, epsilon: float) -> float:
    """Delta of releasing the largest of m noisy values itself, with its index: m equal values, three kinds of move.

    All move one way, one moves against the others, half against half; both ways round. A lower bound of the worst.
    """
    edges = np.unique(np.r_[np.linspace(-TAIL, TAIL, 20_001), -shift, 0.0, shift])
    at, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    low, mid, high = ((LAPLACE.log_density(at - c), LAPLACE.log_below(at - c)) for c in (-shift, 0.0, shift))
    before = mid[0] + (m - 1) * mid[1]

    def excess(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
        return float(width @ np.maximum(np.exp(p) - np.exp(epsilon + q), 0))

    worst = 0.0
    for up in {1, m // 2, m - 1, m}:
        below = up * high[1] + (m - up) * low[1]
        after = [(up, high[0] + below - high[1]), (m - up, low[0] + below - low[1])]
        there = sum(count * excess(before, law) for count, law in after)
        back = sum(count * excess(law, before) for count, law in after)
        worst = max(worst, there, back)
    return worst


def item_room(k: int, shift: float, alpha: float) -> float:
    """Least room in the inequality for one item by which `dprank.topk.bound` covers the noisy values of the chosen.

    With B, eta and mu as there, q and q' the chances to be chosen, p and p' the densities of the noisy value: 1 - eta q
    less e^-mu times the integral of p (p / p')^alpha over chosen values, less (1 - q) ((1 - q) / (1 - q'))^alpha. The
    least over thresholds on a grid and eleven moves; it must not be negative.
    """
    b = 1 + math.exp(shift) - math.exp((1 + alpha) * shift)
    if b <= 0:
        raise ValueError(f"alpha = {alpha}; 1 + e^shift - e^((1 + alpha) shift) must be positive")
    eta = b / k
    decay = math.exp(alpha * shift) * (b - eta)
    room = math.inf
    for move in np.linspace(-shift, shift, 11):
        grid = noise_grid([0.0, move], "laplace")
        chosen = integral_above(np.exp((1 + alpha) * grid.density[0] - alpha * grid.density[1]), grid.half)
        left = np.exp((1 + alpha) * grid.below[0] - alpha * grid.below[1])
        room = min(room, float((1 - eta * np.exp(grid.above[0]) - decay * chosen - left).min()))
    return room


def theorem_2_2_spare(epsilons: Iterable[float], deltas: Iterable[float]) -> pd.DataFrame:
    """What Theorem 2.2's noise buys beyond the set, m = k + 1: ``epsilon``, ``delta``, ``m``, ``k``, ``own`` and
    ``fresh`` (values).

    The last two are log of a proven delta over log of the promised one: 1 or more is covered, infinity purely private.
    Fresh values are k Laplace releases of epsilon shift each: rho = k shift^2 / 2 in zero-concentrated privacy, hence
    rho + 2 sqrt(rho log(2 / delta)) at delta / 2; the set gets what is left.
    """
    deltas = list(deltas)
    rows = []
    for epsilon in epsilons:
        for delta in deltas:
            for k in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**4, 10**5, 10**6):
                shift = 1 / printed_scale(k, epsilon, delta, k + 1)
                rho = k * shift**2 / 2
                left = epsilon - rho - 2 * math.sqrt(rho * math.log(2 / delta))
                own = math.inf if 2 * k * shift <= epsilon else log_delta(k, shift, epsilon) / math.log(delta)
                fresh = math.inf if 3 * k * shift <= epsilon else log_delta(k, shift, left) / math.log(delta / 2)
                rows.append({"epsilon": epsilon, "delta": delta, "m": k + 1, "k": k, "own": own, "fresh": fresh})
    return pd.DataFrame(rows)


def _gumbel_with_values(k: int, epsilon: float, delta: float) -> float:
    """Scale of Gumbel noise and of fresh Laplace values, each of which costs rho = k / (2 scale^2)."""
    return math.sqrt(k / rho(1, epsilon_per_round("zcdp", 1, epsilon, delta)))


def value_costs(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Scale of noise, one and the same for selection and values, any direction, k at most m / 2: ``k``; fresh Laplace
    values purely (after a selection by any noise), own noisy values by our bound, fresh Laplace values after Gumbel
    noise.
    """
    return pd.DataFrame(
        {
            "k": k,
            "any noise, fresh values, δ = 0": 3 * k / epsilon,
            f"Laplace, own noisy values, δ = {delta:g}": 1 / shift_for(k, epsilon, delta),
            f"Gumbel, fresh values, δ = {delta:g}": _gumbel_with_values(k, epsilon, delta),
        }
        for k in ks
    )


def values_pay(epsilon: float, delta: float) -> tuple[int, int]:
    """Smallest k from which a delta lowers the noise 3 k / epsilon: on own noisy values, and with Gumbel noise."""
    return (
        least(lambda k: shift_for(k, epsilon, delta) > epsilon / (3 * k)),
        least(lambda k: _gumbel_with_values(k, epsilon, delta) < 3 * k / epsilon),
    )


# --- scores by the Gaussian mechanism --------------------------------------------------------------------------------


def mean_largest(k: int) -> float:
    """Expected largest absolute value of k standard Gaussians."""
    return float(quad(lambda t: -math.expm1(k * math.log1p(-2 * ndtr(-t))) if t > 0 else 1.0, 0, 40, limit=400)[0])


def gaussian_scores(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Noise of k scores of sensitivity 1 by the Gaussian mechanism: ``k``, ``sigma`` (least standard deviation, by
    dp-accounting), ``mean`` of the largest noise, ``unit`` (sigma sqrt(log k): the claimed rate with constant 1).
    """
    one = get_sigma_gaussian(epsilon, delta)
    rows = []
    for k in ks:
        sigma = one * math.sqrt(k)
        mean = sigma * mean_largest(k)
        unit = sigma * math.sqrt(math.log(k))
        rows.append({"k": k, "sigma": sigma, "mean": mean, "unit": unit})
    return pd.DataFrame(rows)


def second_phase(shares: Iterable[float], m: int, k: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Expected largest noise on k values: ``ε₂ / ε``, ``total ε``, Gaussian scores at the extra epsilon and delta, own
    noisy values that by our bound cost the same in total, fresh values of Algorithm 1 with Theorem 2.2's noise (at
    epsilon alone).
    """
    largest = float((1 / np.arange(1, k + 1)).sum())  # of k exponential variables
    return pd.DataFrame(
        {
            "ε₂ / ε": share,
            "total ε": (1 + share) * epsilon,
            "Theorem 2.2, Gaussian scores": gaussian_scores([k], share * epsilon, delta)["mean"].iloc[0],
            "own noisy values": largest / shift_for(k, (1 + share) * epsilon, 2 * delta),
            "Theorem 2.2, fresh values": largest * printed_scale(k, epsilon, delta, m),
        }
        for share in shares
    )


@claim("qiao2021:def-1.2")
def check_definition(epsilon: float, records: int) -> Iterator[Check]:
    """Whether the inequality for all events is the hockey-stick divergence, and whether it excludes anything."""
    p, q = (
        order_laws(x, 2, order=False) for x in ([0.0, 0.0, 0.5, 1.0], [epsilon, -epsilon, 0.5 + epsilon, 1.0 - epsilon])
    )
    gap = max(
        abs(worst_event(a, b, eps) - hockey_stick(a, b, eps))
        for a, b in ((p, q), (q, p))
        for eps in (0.0, epsilon / 2, epsilon)
    )
    largest = float(np.log(p / q).max())
    events = (
        f"worst of all {2 ** len(p)} events less the sum over single sets, 2 of 4 items, both ways, three ε: largest"
    )
    yield printed(events, gap, "<=", 1e-12)
    yield printed(
        "least δ at the largest log ratio of a single set (pure privacy)", hockey_stick(p, q, largest), "<=", 1e-12
    )
    yield content(f"least δ of publishing a record, ε = {epsilon:g}", hockey_stick([1, 0], [0, 1], epsilon), "==", 1)
    yield content(
        f"least δ of publishing one record of {records} drawn at random, ε = {epsilon:g}",
        random_record_delta(records, epsilon),
        ">",
        1 / (2 * records),
    )


@claim("qiao2021:sec-2:fresh-noise")
def check_fresh_noise(epsilon: float) -> Iterator[Check]:
    """The noisy minimum itself, with its index, against the epsilon that fresh noise is to keep."""
    shift = epsilon / 2
    own = {m: found_loss("set, own noisy values", m, 1, shift, "all one way") for m in (2, 3, 10)}
    small = epsilon / 10
    yield printed(
        f"privacy loss of index and noisy minimum, 2 items, all one way, noise λ = 2s/ε, ε = {epsilon:g}",
        own[2],
        ">",
        epsilon * (1 + ROUNDING),
    )
    for m in (3, 10):
        yield supplied(
            f"privacy loss of index and noisy minimum, {m} items, all one way, noise λ = 2s/ε",
            own[m],
            ">",
            epsilon * (1 + ROUNDING),
        )
    for m in own:
        yield amended(
            f"privacy loss of index and noisy minimum, {m} items, all one way, noise λ = 2s/ε: mε/2",
            own[m],
            "==",
            m * epsilon / 2,
            error=ROUNDING,
        )
    yield loss_check(
        "index and noisy minimum, 10 items, all one way, noise λ = 10s/ε",
        found_loss("set, own noisy values", 10, 1, epsilon / 10, "all one way"),
        epsilon,
        "corrected",
    )
    for m in (30, 1000):
        yield amended(
            f"δ of index and noisy minimum, {m} equal items, noise λ = 10s/ε, over our bound for any m",
            own_value_delta(m, small, epsilon) / math.exp(log_delta(1, small, epsilon)),
            "<=",
            1,
        )


@claim("qiao2021:alg-1")
def check_algorithm_1(epsilon: float) -> Iterator[Check]:
    """All that Algorithm 1 returns, with the noise of Theorem 2.1."""
    for m, k in ((2, 1), (6, 3)):
        at = f"set and values, {k} of {m} items, noise λ = {2 * k}s/ε, ε = {epsilon:g}"
        for adjacency, about in (("any direction", "printed"), ("all one way", "corrected")):
            loss = found_loss("set, fresh values", m, k, epsilon / (2 * k), adjacency)
            yield loss_check(f"{at}, {adjacency}", loss, epsilon, about)
    shapes = ((2, 1), (4, 2), (4, 3), (5, 4))
    for release in ("set, fresh values", "list, fresh values"):
        each = [(m, k, supremum(release, m, k, "any direction")) for m, k in shapes]
        loss = max(found_loss(release, m, k, epsilon / times, "any direction") for m, k, times in each)
        noise = ", ".join(f"{times:g}s/ε for {k} of {m}" for m, k, times in each)
        yield loss_check(f"{release}, any direction, largest over noise λ = {noise}", loss, epsilon, "corrected")
    spare = theorem_2_2_spare((0.2, 0.02), (0.05, 1e-3, 1e-6, 1e-12))
    what = "log δ proved for set and fresh values over log δ promised, noise of Theorem 2.2, k up to 10⁶: least"
    yield amended(what, float(spare.fresh.min()), ">=", 1)


def cross_ratio(values: ArrayLike, threshold: float, order: bool) -> float:
    """How far two of four Laplace values above a threshold, the others below, are from independent choices; a list or a
    set.

    Log of P(0, 1) P(2, 3) / (P(0, 3) P(2, 1)), which is 0 if each item's place is a choice of its own.
    """
    x = np.asarray(values, float)
    above, at = np.exp(LAPLACE.log_above(threshold - x)), noise_grid([*x, threshold], "laplace")

    def chance(first: int, second: int) -> float:
        ahead = integral_above(np.exp(at.density[first]), at.half)
        inside = np.where(at.at > threshold, np.exp(at.density[second]) * ahead, 0)
        return float(integral_above(inside, at.half)[0, 0] * np.prod(np.delete(1 - above, [first, second])))

    def log_pair(first: int, second: int) -> float:
        return math.log(chance(first, second) + (0 if order else chance(second, first)))

    return log_pair(0, 1) + log_pair(2, 3) - log_pair(0, 3) - log_pair(2, 1)


@claim("qiao2021:sec-4:set-only")
def check_set_only() -> Iterator[Check]:
    """Whether the proof, or the privacy, of the one-shot mechanism needs that the order is kept back."""
    proof, privacy = "the proof as printed needs it", "the privacy needs it"
    values, thresholds = [0.0, 1.0, 2.0, 3.0], (-1.0, 0.0, 0.5)
    sets, lists = ([abs(cross_ratio(values, v, order)) for v in thresholds] for order in (False, True))
    where = "log cross ratio of two of four items above a fixed value"
    spare = theorem_2_2_spare((0.2, 0.02), (0.05, 1e-3, 1e-6, 1e-12))
    own = float(spare.own.min())
    what = (
        "log δ proved for the ordered list over log δ promised, noise of Theorem 2.2: least (below 1 if order mattered)"
    )
    corners = product((1, 2, 10, 1000), (0.01, 0.1, 1.0), (0.05, 0.5, 0.95))
    room = min(item_room(k, a, t * math.log1p(math.exp(-a)) / a) for k, a, t in corners)
    agree = math.exp(log_first_wins(20.0, 1.0))
    ahead = order_deltas([3.0, 3.0, 0.0, 0.0], 2, 0.2, [0.2]).iloc[0]
    exact = "exact δ of the ordered list over that of the set, 2 of 4 items, both 3λ ahead, noise λ = 5s, ε = 0.2"
    shapes = ((4, 2), (3, 2), (4, 3), (5, 4))
    pure = [found_loss("list", m, k, 0.5, "any direction") / supremum("list", m, k, "any direction") for m, k in shapes]
    loss = "pure loss of the ordered list over 2 min(k, ⌊m/2⌋)s/λ, any direction, far pairs of 4 shapes, largest"
    shown = "chance that Algorithm 1's values show the order of two chosen items 20λ apart"
    yield printed(f"{where}, set: largest (0: independent choices)", max(sets), "<=", ROUNDING, reading=proof)
    yield printed(f"{where}, list: least", min(lists), ">", 0.1, reading=proof)
    yield printed(what, own, "<", 1, reading=privacy)
    yield amended(shown, agree, ">", 0.99)
    yield amended(what, own, ">=", 1)
    yield amended("room in the inequality for one item and its noisy value, least on a grid", room, ">=", -1e-12)
    yield amended(exact, ahead["δ of the ordered list"] / ahead["δ of the set"], ">", 1)
    yield amended(loss, max(pure) / 0.5, "<=", 1 + ROUNDING)


@claim("qiao2021:sec-4:gaussian")
def check_gaussian(epsilon: float, delta: float) -> Iterator[Check]:
    """Largest noise of Gaussian scores of k items against the claimed rate."""
    ks = [2, 3, 5, 10, 100, 1000, 10**4, 10**6]
    one = gaussian_scores([1], epsilon, delta).iloc[0]
    many = gaussian_scores(ks, epsilon, delta)
    at = f"(ε, δ) = ({epsilon:g}, {delta:g}) for the scores"
    spent = float(gaussian_delta(1 / one.sigma, epsilon))
    honest = gaussian_scores([1, *ks], epsilon, delta)
    most = (honest["mean"] / (honest.sigma * np.sqrt(2 * np.log(2 * honest.k)))).max()
    yield printed(
        f"expected noise of one score, k = 1, {at}, against C √(k log k), whatever C", one["mean"], "<=", one.unit
    )
    yield supplied(
        f"expected largest noise over σ₁ √(k log k), k from 2 to {ks[-1]:,}, {at}: largest",
        float((many["mean"] / many.unit).max()),
        "<=",
        2,
    )
    yield supplied(f"δ that the Gaussian noise spends at ε = {epsilon:g}, exact, over δ", spent / delta, "<=", 1 + 1e-6)
    yield amended(f"expected largest noise over σ₁ √(2k log 2k), k from 1 to {ks[-1]:,}: largest", float(most), "<=", 1)
