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

from companion.chapters.private_top_k.pure import (
    APART,
    EQUAL,
    FAR,
    LAPLACE,
    ONE_UP,
    found_loss,
    loss_check,
    pair_loss,
    supremum,
)
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.topk import (
    TAIL,
    gaussian_delta,
    hockey_stick,
    integral_above,
    list_chances,
    noise_grid,
    printed_scale,
    theorem_2_1,
)
from companion.instruments.two_items import log_first_wins
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from dprank.privacy.composition import epsilon_per_round, rho
from dprank.topk.bound import log_delta, shift_for
from dprank.topk.curve import log_set_probability

#: Privacy and lengths at which Theorem 2.2's noise is tried, and (m, k) at which pure losses are.
PROMISES = (0.2, 0.02), (0.05, 1e-3, 1e-6, 1e-12)
LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**4, 10**5, 10**6)
SHAPES = (2, 1), (4, 2), (4, 3), (5, 4)
#: k, shifts, and shares of the largest alpha at which the inequality for one item is tried.
CORNERS = (1, 2, 10, 1000), (0.01, 0.1, 1.0), (0.05, 0.5, 0.95)


def order_laws(values: Sequence[float], k: int, order: bool) -> NDArray[np.float64]:
    """Probabilities of all sets, or of all lists, of k items."""
    codes, x = range(len(values)), np.asarray(values, float)
    if order:
        return list_chances(x, list(permutations(codes, k)))
    chosen = np.array([np.isin(codes, some) for some in combinations(codes, k)], float)
    return np.exp(log_set_probability(np.ones(len(x)), x, chosen, LAPLACE))


def worst_event(p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
    """The `hockey_stick` by trying all events, 2^outcomes of them."""
    excess = np.asarray(p) - math.exp(epsilon) * np.asarray(q)
    return max(float(excess[list(event)].sum()) for event in product([False, True], repeat=len(excess)))


def order_deltas(values: Sequence[float], k: int, shift: float, epsilons: Iterable[float]) -> pd.DataFrame:
    """Worst exact delta of k values over all corner neighbours, both ways round: ``values / λ``, ``k``, ``ε``,
    ``δ of the set``, ``δ of the ordered list``.
    """
    frame = pd.DataFrame({"values / λ": ", ".join(f"{value:g}" for value in values), "k": k, "ε": list(epsilons)})
    for name, order in (("δ of the set", False), ("δ of the ordered list", True)):
        before = order_laws(values, k, order)
        corners = product([-shift, shift], repeat=len(values))
        laws = [order_laws(np.add(values, corner).tolist(), k, order) for corner in corners]
        pairs = [pair for after in laws for pair in ((before, after), (after, before))]
        frame[name] = [max(hockey_stick(*pair, epsilon) for pair in pairs) for epsilon in frame["ε"]]
    return frame


def own_value_delta(m: int, shift: float, epsilon: float) -> float:
    """Delta of releasing the largest of m equal noisy values itself, with its index, for 1, m/2, m - 1 or m that rise.

    The others fall; both ways round. A lower bound of the worst.
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


def item_room(k: int, shift: float, alpha: float) -> tuple[float, float]:
    """Least room in the inequality for one item by which `dprank.topk.bound` covers the noisy values of the chosen.

    With B, eta and mu as there, q and q' the chances to be chosen, p and p' the densities of the noisy value: 1 - eta q
    less e^-mu times the integral of p (p / p')^alpha over chosen values, less (1 - q) ((1 - q) / (1 - q'))^alpha. And
    how far that integral over all values is off its closed form.
    """
    b = 1 + math.exp(shift) - math.exp((1 + alpha) * shift)
    if b <= 0:
        raise ValueError(f"alpha = {alpha}; 1 + e^shift - e^((1 + alpha) shift) must be positive")
    eta = b / k
    decay = math.exp(alpha * shift) * (b - eta)
    room, off = [], []
    for move in np.linspace(-shift, shift, 11):
        grid = noise_grid([0.0, move], "laplace")
        chosen = integral_above(np.exp((1 + alpha) * grid.density[0] - alpha * grid.density[1]), grid.half)
        left = np.exp((1 + alpha) * grid.below[0] - alpha * grid.below[1])
        room.append((1 - eta * np.exp(grid.above[0]) - decay * chosen - left).min())
        ahead, behind = math.exp(alpha * abs(move)), math.exp(-(1 + alpha) * abs(move))
        off.append(abs(chosen[0, 0] - ((1 + alpha) * ahead + alpha * behind) / (1 + 2 * alpha)))
    return float(np.min(room)), float(np.max(off))


def order_spare() -> float:
    """Least of Theorem 2.2's noise over what our bound asks for, for the list or own noisy values, m = k + 1.

    Where it is below that of Theorem 2.1, which covers the list without a delta.
    """
    ratios = []
    for epsilon, delta, k in product(*PROMISES, LENGTHS):
        scale = printed_scale(k, epsilon, delta, k + 1)
        if scale < theorem_2_1(k, epsilon):
            ratios.append(shift_for(k, epsilon, delta) * scale)
    return min(ratios)


def values_spare() -> float:
    """Least log of a delta proved for set and fresh values over log of that promised, Theorem 2.2's noise, m = k + 1.

    Fresh values are k Laplace releases of epsilon shift each: rho = k shift^2 / 2 in zero-concentrated privacy, hence
    rho + 2 sqrt(rho log(2 / delta)) at delta / 2; the set gets what is left. Where 3 k shift <= epsilon all is pure.
    """
    ratios = []
    for epsilon, delta, k in product(*PROMISES, LENGTHS):
        shift = 1 / printed_scale(k, epsilon, delta, k + 1)
        rho = k * shift**2 / 2
        left = epsilon - rho - 2 * math.sqrt(rho * math.log(2 / delta))
        if 3 * k * shift > epsilon:
            ratios.append(log_delta(k, shift, left) / math.log(delta / 2))
    return min(ratios)


def _gumbel_with_values(k: int, epsilon: float, delta: float) -> float:
    """Scale of Gumbel noise and of fresh Laplace values, each of which costs rho = k / (2 scale^2)."""
    return math.sqrt(k / rho(1, epsilon_per_round("zcdp", 1, epsilon, delta)))


def value_costs(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """One scale of noise for selection and values, any direction, k at most m / 2: ``k``, and a column a release."""
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


def mean_largest(k: int) -> float:
    """Expected largest absolute value of k standard Gaussians."""
    return float(quad(lambda t: -math.expm1(k * math.log1p(-2 * ndtr(-t))) if t > 0 else 1.0, 0, 40, limit=400)[0])


def gaussian_scores(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Noise of k scores of sensitivity 1 by the Gaussian mechanism: ``k``, ``sigma`` (least standard deviation, by
    dp-accounting), ``mean`` of the largest noise, ``unit`` (sigma sqrt(log k): the claimed rate with constant 1).
    """
    frame = pd.DataFrame({"k": ks})
    frame["sigma"] = get_sigma_gaussian(epsilon, delta) * np.sqrt(frame.k)
    return frame.assign(mean=frame.sigma * frame.k.map(mean_largest), unit=frame.sigma * np.sqrt(np.log(frame.k)))


def second_phase(shares: Iterable[float], m: int, k: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Expected largest noise on k values: ``ε₂ / ε``, ``total ε``, and a column a release.

    Gaussian scores cost the extra epsilon and delta; own noisy values, by our bound, the same in total; fresh values of
    Algorithm 1 with Theorem 2.2's noise have epsilon alone.
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
    moved = [epsilon, -epsilon, 0.5 + epsilon, 1.0 - epsilon]
    p, q = (order_laws(x, 2, order=False) for x in ([0.0, 0.0, 0.5, 1.0], moved))
    cases = [(a, b, eps) for a, b in ((p, q), (q, p)) for eps in (0.0, epsilon / 2, epsilon)]
    gap = max(abs(worst_event(*case) - hockey_stick(*case)) for case in cases)
    pure = hockey_stick(p, q, float(np.log(p / q).max()))
    what = f"worst of all {2 ** len(p)} events less the sum over single sets, 2 of 4 items, {len(cases)} cases: largest"
    one, at = f"least δ of publishing one record of {records} drawn at random", f"ε = {epsilon:g}"
    any_record = np.r_[np.full(records, 1 / records), 0.0]  # of which another replaces one
    replaced = hockey_stick(any_record, any_record[::-1], epsilon)
    yield printed(what, gap, "==", 0, error=1e-12)
    yield printed("least δ at the largest log ratio of a single set (pure privacy)", pure, "==", 0, error=1e-12)
    falls = np.diff([hockey_stick(p, q, step) for step in np.linspace(0, float(np.log(p / q).max()), 20)])
    yield printed("largest step of the least δ as ε grows: both measure privacy", falls.max(), "<", 0)
    yield content(f"least δ of publishing a record, {at}", hockey_stick([1, 0], [0, 1], epsilon), "==", 1)
    yield content(f"{one}, {at}", replaced, "==", 1 / records, error=1e-12)


@claim("qiao2021:sec-2:fresh-noise")
def check_fresh_noise(epsilon: float) -> Iterator[Check]:
    """The noisy minimum itself, with its index, against the epsilon that fresh noise is to keep."""
    own = {m: found_loss("set, own noisy values", m, 1, epsilon / 2, "all one way") for m in (2, 3, 10)}
    small, sum_up = epsilon / 10, "index and noisy minimum"
    more, at = epsilon * (1 + ROUNDING), f"all one way, noise λ = 2s/ε, ε = {epsilon:g}"
    for m, says in ((2, printed), (3, supplied), (10, supplied)):
        yield says(f"privacy loss of {sum_up}, {m} items, {at}", own[m], ">", more)
    for m, loss in own.items():
        yield amended(f"privacy loss of {sum_up}, {m} items, {at}: mε/2", loss, "==", m * epsilon / 2, error=ROUNDING)
    loss = found_loss("set, own noisy values", 10, 1, small, "all one way")
    yield loss_check(f"{sum_up}, 10 items, all one way, noise λ = 10s/ε", loss, epsilon, amended)
    bound = log_delta(1, small, epsilon)
    for m in (30, 1000):
        what = f"log δ of {sum_up}, {m} equal items, noise λ = 10s/ε, over that of our bound for any m"
        yield amended(what, math.log(own_value_delta(m, small, epsilon)) / bound, ">=", 1)


@claim("qiao2021:alg-1")
def check_algorithm_1(epsilon: float) -> Iterator[Check]:
    """All that Algorithm 1 returns, with the noise of Theorem 2.1: any direction is what Section 2 prints."""
    two, at = f"set and values, 1 of 2 items, noise λ = 2s/ε, ε = {epsilon:g}", f"noise λ = 6s/ε, ε = {epsilon:g}"
    yield loss_check(f"{two}, x = (0, 0), x′ = (1, −1)", pair_loss(EQUAL, APART, 1, epsilon / 2), epsilon)
    for m, k, what in ((2, 1, two), (6, 3, f"set and values, 3 of 6 items, {at}")):
        for adjacency, says in (("any direction", printed), ("all one way", amended)):
            loss = found_loss("set, fresh values", m, k, epsilon / (2 * k), adjacency)
            yield loss_check(f"{what}, {adjacency}, chosen far behind", loss, epsilon, says)
    yield loss_check(f"{two}, x = (0, 0), x′ = (1, 0)", pair_loss(EQUAL, ONE_UP, 1, epsilon / 2), epsilon, amended)
    for release in ("set, fresh values", "list, fresh values"):
        each = [(m, k, supremum(release, m, k, "any direction")) for m, k in SHAPES]
        losses = [found_loss(release, m, k, epsilon / times, "any direction") / epsilon for m, k, times in each]
        noise = ", ".join(f"{times:g}s/ε for {k} of {m}" for m, k, times in each)
        what = f"privacy loss of {release} over ε, any direction"
        # far pairs fall short of the supremum by less than 1 / FAR
        near = f"{what}, far pairs, noise λ = {noise}: largest off 1"
        yield amended(near, max(abs(loss - 1) for loss in losses), "==", 0, error=2 / FAR)
        yield amended(f"{what}, the same: largest", max(losses), "<=", 1 + ROUNDING)
    each = [(m, k, supremum("set, fresh values", m, k, "all one way")) for m, k in SHAPES]
    losses = [found_loss("set, fresh values", m, k, epsilon / times, "all one way") / epsilon for m, k, times in each]
    noise = ", ".join(f"{times:g}s/ε for {k} of {m}" for m, k, times in each)
    near = f"privacy loss of set, fresh values over ε, all one way, far pairs, noise λ = {noise}: largest off 1"
    yield amended(near, max(abs(loss - 1) for loss in losses), "==", 0, error=2 / FAR)
    what = "log δ proved for set and fresh values over log δ promised, noise of Theorem 2.2, k up to 10⁶: least"
    yield amended(what, values_spare(), ">=", 1)


def cross_ratio(values: ArrayLike, threshold: float, order: bool) -> float:
    """Log of P(0, 1) P(2, 3) / (P(0, 3) P(2, 1)), two of four Laplace values above a threshold, the others below.

    It is 0 if each item's place, in a list or a set, is a choice of its own.
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
    own = order_spare()
    what = "noise of Theorem 2.2 over noise proved for the ordered list, k > 16 log(m/δ), least: 1 suffices"
    rooms = [item_room(k, a, t * math.log1p(math.exp(-a)) / a) for k, a, t in product(*CORNERS)]
    room, off = np.min(rooms, axis=0)[0], np.max(rooms, axis=0)[1]
    hidden = math.exp(log_first_wins(-20.0, 1.0))
    ahead = order_deltas([3.0, 3.0, 0.0, 0.0], 2, 0.2, [0.2]).iloc[0]
    exact = "exact δ of the ordered list over that of the set, 2 of 4 items, both 3λ ahead, noise λ = 5s, ε = 0.2"
    pure = [found_loss("list", m, k, 0.5, "any direction") / supremum("list", m, k, "any direction") for m, k in SHAPES]
    loss = f"pure loss of the ordered list over 2 min(k, ⌊m/2⌋)s/λ, any direction, far pairs of {len(pure)} shapes"
    shown = "chance that Algorithm 1's values hide the order of two chosen items 20λ apart"
    yield printed(f"{where}, set: largest (0: independent choices)", max(sets), "==", 0, reading=proof, error=ROUNDING)
    yield printed(f"{where}, list: least", min(lists), ">", 0.1, reading=proof)
    yield printed(what, own, "<", 1, reading=privacy)
    m, k, epsilon, delta = 200, 140, 0.2, 0.05  # every noisy value loses s/λ
    everything = m / printed_scale(k, epsilon, delta, m) / epsilon
    told = f"pure loss of all noisy values over ε, noise of Theorem 2.2, {k} of {m} items, δ = {delta:g}"
    yield printed(told, everything, ">", 1, reading=privacy)
    yield amended(shown, hidden, "<", 1.2e-8)
    yield amended(what, own, ">=", 1)
    yield amended("room in the inequality for one item and its noisy value, least", room, "==", 0, error=1e-12)
    yield agree("integral of p (p/p′)^α over all values in it, off its closed form, largest", off)
    yield amended(exact, ahead["δ of the ordered list"] / ahead["δ of the set"], ">", 1)
    yield amended(f"{loss}: largest", max(pure) / 0.5, "<=", 1 + ROUNDING)
    yield amended(f"{loss}: least", min(pure) / 0.5, "==", 1, error=2 / FAR)


@claim("qiao2021:sec-4:gaussian")
def check_gaussian(epsilon: float, delta: float) -> Iterator[Check]:
    """Largest noise of Gaussian scores of k items against the claimed rate."""
    many = gaussian_scores([1, 2, 3, 5, 10, 100, 1000, 10**4, 10**6], epsilon, delta)
    one, rest = many.iloc[0], many.iloc[1:]
    at = f"(ε, δ) = ({epsilon:g}, {delta:g}) for the scores"
    spent = float(gaussian_delta(1 / one.sigma, epsilon))
    most = many["mean"] / (many.sigma * np.sqrt(2 * np.log(2 * many.k)))
    rate, ks = float((rest["mean"] / rest.unit).max()), f"k from 2 to {many.k.max():,}, {at}"
    alone = f"expected noise of one score, k = 1, {at}, against C √(k log k), whatever C"
    budget = f"δ that the Gaussian noise spends at ε = {epsilon:g}, exact, over δ"
    yield printed(alone, one["mean"], "<=", one.unit)
    yield supplied(f"expected largest noise over σ₁ √(k log k), {ks}: largest", rate, "<=", 2)
    yield supplied(budget, spent / delta, "==", 1, error=1e-6)
    yield amended(f"expected largest noise over σ₁ √(2k log 2k), k = 1 and {ks}: largest", float(most.max()), "<=", 1)
