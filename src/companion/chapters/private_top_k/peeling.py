"""Qiao, Su and Zhang (2021), Section 1: peeling, its composition, and the one-shot Gumbel mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import comb, softmax

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.topk import NAMES, hockey_stick, list_chances, theorem_2_1, theorem_2_2
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed
from dprank.privacy.composition import Composition
from dprank.topk.noise_laws import Noise
from dprank.topk.peeling import Peeling

#: Peeled Laplace noise by zCDP is at most, by advanced composition at least this times sqrt(k log(1/delta)) / epsilon.
ZCDP_CONSTANT, ADVANCED_CONSTANT = 2 + math.sqrt(2), 2 * math.sqrt(2)
# Probabilities of ordered lists of items.
Law = dict[tuple[int, ...], float]


@cache
def peeled_scale(k: int, epsilon: float, delta: float, composition: Composition) -> float:
    """Scale of peeled Laplace noise in units of the sensitivity, values moving in any direction."""
    return Peeling.calibrated(epsilon=epsilon, delta=delta, k=k, noise="laplace", composition=composition).scale


@claim("qiao2021:sec-1:peeling")
def check_peeling(ks: Sequence[int], epsilons: Sequence[float], deltas: Sequence[float]) -> Iterator[Check]:
    """Scales of peeling and of the two theorems on a grid, up to the end of Theorem 2.2's range."""
    grid = list(product(ks, epsilons, deltas))
    what = f"k = {min(ks)} to {max(ks):,}, ε ≤ {max(epsilons):g}, δ = {min(deltas):g} to {max(deltas):g}"
    pure = [peeled_scale(k, e, 0.0, "basic") / theorem_2_1(k, e) for k, e in product(ks, epsilons)]
    units = {(k, e, d): math.sqrt(k * math.log(1 / d)) / e for k, e, d in grid}
    zcdp = {cell: peeled_scale(*cell, "zcdp") for cell in grid}
    ends = [peeled_scale(ks[0], -math.log(d), d, "zcdp") * math.sqrt(-math.log(d) / ks[0]) for d in deltas]
    # m = k is the least the theorem is used for; m = 1 / delta is where m delta = 1
    log_ms = [0.0, 3.0, 12.0, 100.0, 1000.0]
    excess, small, least = [], [], []
    for k, e, d in grid:
        advanced, log_k, log_d = peeled_scale(k, e, d, "advanced"), math.log(max(k, 2)), math.log(1 / d)
        for log_m in {log_k, log_d} | {log_k + more for more in log_ms}:
            if log_m >= log_k:
                ratio = theorem_2_2(k, log_m, e, d) / advanced
                excess.append(ratio / (ADVANCED_CONSTANT * math.sqrt(1 + log_m / log_d)))
                small += [ratio] if log_m <= log_d else []
                least.append(theorem_2_2(k, log_m, e, d) / zcdp[k, e, d])
    wrong = same_noise(5, [0.0, 0.5, 1.0, 3.0, 10.0, 20.0])
    often, equal = (wrong["one pass"] / wrong.peeling / wrong.k).max(), wrong[wrong.gap == 0]
    by_lot = 1 - 1 / comb(5, equal.k.to_numpy())
    off = np.abs(equal[["one pass", "peeling"]].to_numpy() - by_lot[:, None]).max()
    scale = "scale × ε / (s √(k log(1/δ))) of Laplace noise peeled by zCDP"
    over = "noise of Theorem 2.2 over peeled noise (advanced), over 2√2 √(log(m/δ)/log(1/δ)), largest"
    one = "chance of a wrong set in one pass over that of k rounds at the same Laplace noise, over k, m = 5, largest"
    pure_off = max(abs(ratio - 1) for ratio in pure)
    yield printed(f"pure scale of peeling over 2ks/ε, off 1, {what}", pure_off, "==", 0, error=ROUNDING)
    yield printed(f"{scale}, largest, {what}", max(zcdp[c] / units[c] for c in grid), "<=", ZCDP_CONSTANT)
    yield printed(f"{scale}, k = {ks[0]}, ε = log(1/δ), largest", max(ends), "<=", ZCDP_CONSTANT)
    yield printed(f"{over}, {what}", max(excess), "<=", 1)
    yield printed(one, often, "<=", 1)
    yield agree("chance of a wrong set of equal values, m = 5, off 1 less one over the number of sets, largest", off)
    yield amended(f"noise of Theorem 2.2 over peeled noise (advanced), δ ≤ 1/m, largest, {what}", max(small), "<=", 4)
    yield amended(f"noise of Theorem 2.2 over peeled noise (zCDP), least, {what}", min(least), ">=", 8 / ZCDP_CONSTANT)


def growth(k: int, epsilon: float, delta: float, digits: Sequence[int] = (6, 9, 12, 100)) -> pd.DataFrame:
    """Theorem 2.2's noise over that of peeling by advanced composition at the same delta: ``m`` (text), ``ratio``."""
    peeled = peeled_scale(k, epsilon, delta, "advanced")
    ratio = [theorem_2_2(k, d * math.log(10), epsilon, delta) / peeled for d in digits]
    return pd.DataFrame({"m": [f"10^{d}" for d in digits], "ratio": ratio})


@claim("qiao2021:sec-5:linear-k")
def check_linear_k(ks: Sequence[int], epsilon: float, delta: float) -> Iterator[Check]:
    """Growth of the noise in k: of the printed theorems, and of peeling as it was known."""
    log_m, ends = math.log(max(ks)), [min(ks), max(ks)]
    peeled = exponent(ends, [peeled_scale(k, epsilon, delta, "advanced") for k in ends])
    pure = exponent(ends, [theorem_2_1(k, epsilon) for k in ends])
    as_printed = exponent(ends, [theorem_2_2(k, log_m, epsilon, delta) for k in ends])
    what = f"growth exponent in k, {min(ks):,} to {max(ks):,}, of the noise of"
    mine, theirs = "of the one-shot Laplace mechanism", "of private top-k"
    yield printed(f"{what} Theorem 2.1", pure, "==", 1, reading=mine, error=ROUNDING)
    yield printed(f"{what} Theorem 2.2", as_printed, "==", 0.5, reading=mine, error=ROUNDING)
    yield printed(f"{what} peeling by advanced composition (2010)", peeled, ">=", 1 - ROUNDING, reading=theirs)
    yield amended(f"{what} peeling by advanced composition (2010)", peeled, "<=", 0.5 + ROUNDING)


@claim("qiao2021:sec-2:log-factor")
def check_log_factor(log_ms: Sequence[float], deltas: Sequence[float]) -> Iterator[Check]:
    """The cost of m in Theorem 2.2 wherever m delta is at most 1, at the boundary, and where m delta vanishes."""

    def cost(log_m: float, delta: float) -> float:
        """Of m items over that of one."""
        return theorem_2_2(1, log_m, 1.0, delta) / theorem_2_2(1, 0.0, 1.0, delta)

    within = [cost(t, d) for t, d in product(log_ms, deltas) if t <= -math.log(d)]
    boundary = [cost(-math.log(d), d) for d in deltas]
    large = [t for t in log_ms if 1 < t < 700]  # of which e^-t is a number
    vanishing = [cost(t, math.exp(-t) / t) for t in large]
    what, root = "√(log(m/δ)/log(1/δ)), the noise of Theorem 2.2 over that at m = 1", math.sqrt(2)
    yield printed(f"{what}, largest on a grid with δ ≤ 1/m", max(within), "<=", root * (1 + ROUNDING))
    yield printed(f"{what}, δ = 1/m: √2", max(boundary), "==", root, error=ROUNDING)
    small = f"largest for δ = 1/(m log m), m up to e^{max(large):g}"
    yield printed(f"{what}, {small}", max(vanishing), "<=", root * (1 + ROUNDING))


def order_law(values: ArrayLike, k: int, scale: float, noise: Noise) -> Law:
    """Law of the k largest of noisy values: probabilities by list of items, best first."""
    x = np.asarray(values, float) / scale
    lists = list(permutations(range(len(x)), k))
    return dict(zip(lists, list_chances(x, lists, noise).tolist(), strict=True))


def peeled_law(values: ArrayLike, k: int, scale: float, noise: Noise) -> Law:
    """Law of k rounds, each the largest noisy value of those left; a round with Gumbel noise by its closed form."""
    x = np.asarray(values, float)
    items = range(len(x))

    @cache
    def winner(left: frozenset[int]) -> dict[int, float]:
        some = sorted(left)
        round_ = softmax(x[some] / scale) if noise == "gumbel" else order_law(x[some], 1, scale, noise).values()
        return dict(zip(some, map(float, round_), strict=True))

    def chance(some: tuple[int, ...]) -> float:
        return math.prod(winner(frozenset(items) - set(some[:i]))[item] for i, item in enumerate(some))

    return {some: chance(some) for some in permutations(items, k)}


def total_variation(p: Law, q: Law) -> float:
    """Half the sum of the absolute differences."""
    return sum(abs(p[some] - q[some]) for some in p) / 2


def _set_law(law: Law) -> Law:
    sets: Law = {}
    for some, chance in law.items():
        chosen = tuple(sorted(some))
        sets[chosen] = sets.get(chosen, 0.0) + chance
    return sets


@cache
def identity(n_items: int, noise: Noise) -> pd.DataFrame:
    """Total variation of one pass and k rounds, at the same noise: ``values``, ``m``, ``k``, ``lists``, ``sets``."""
    rows = []
    for m in range(2, n_items + 1):
        kinds = {"equal": np.zeros(m), "steps": np.arange(m) // 2, "spread": np.linspace(0, 3, m) ** 2}
        for (name, x), k in product(kinds.items(), range(1, m + 1)):
            once, rounds = order_law(x, k, 1.0, noise), peeled_law(x, k, 1.0, noise)
            lists, sets = total_variation(once, rounds), total_variation(_set_law(once), _set_law(rounds))
            rows.append((name, m, k, lists, sets))
    return pd.DataFrame(rows, columns=["values", "m", "k", "lists", "sets"])


def distances(n_items: int) -> pd.DataFrame:
    """Largest distance of one pass and peeling: ``noise``, and the maxima of ``lists`` and ``sets`` of `identity`."""
    most = {name: identity(n_items, noise)[["lists", "sets"]].max() for noise, name in NAMES.items()}
    return pd.DataFrame(most).T.rename_axis("noise").reset_index()


@claim("qiao2021:sec-1:gumbel")
def check_gumbel(n_items: int, noise: Noise = "gumbel") -> Iterator[Check]:
    """One-shot noise against peeling, all m up to `n_items` and all k: the claim is about Gumbel noise."""
    frame = identity(n_items, noise)
    what = f"largest total variation between one pass and peeling, m ≤ {n_items}, all k, 3 kinds of values"
    yield printed(f"{what}: ordered lists", frame.lists.max(), "==", 0, error=ROUNDING)
    yield printed(f"{what}: sets", frame.sets.max(), "==", 0, error=ROUNDING)


@claim("qiao2021:sec-1:gumbel-order")
def check_gumbel_order(shifts: Sequence[float], deltas: Sequence[float], n_items: int = 4) -> Iterator[Check]:
    """Exact privacy of the ordered Gumbel list at all corner neighbours, against the composition of its rounds."""
    corners = np.array(list(product((-1.0, 1.0), repeat=n_items)))
    pure, approximate = [], []
    for a, k in product(shifts, range(1, n_items)):
        for x in (np.zeros(n_items), 3.0 * a * np.arange(n_items)):
            p = np.array(list(peeled_law(x, k, 1.0, "gumbel").values()))
            for corner in corners:
                q = np.array(list(peeled_law(x + a * corner, k, 1.0, "gumbel").values()))
                pure.append(np.abs(np.log(p / q)).max() / Peeling(k, 1 / a, "gumbel").guarantee.epsilon)
                for d in deltas:
                    proved = Peeling(k, 1 / a, "gumbel", delta=d, composition="zcdp").guarantee.epsilon
                    approximate.append(hockey_stick(p, q, proved) / d)
    what = f"largest, m = {n_items}, k < m, values moved by ±s, s/λ = {', '.join(f'{a:g}' for a in shifts)}"
    yield printed(f"pure loss of the ordered list over 2ks/λ, {what}", max(pure), "<=", 1)
    yield printed(f"exact δ of the ordered list over the δ that zCDP proves, {what}", max(approximate), "<=", 1)


def same_noise(n_items: int, gaps: Iterable[float], noise: Noise = "laplace") -> pd.DataFrame:
    """Chance of a wrong set where k items, 1 < k < m, lead: ``k``, ``gap`` (in scales), ``one pass``, ``peeling``."""
    rows = []
    for k, gap in product(range(2, n_items), gaps):
        x, best = np.where(np.arange(n_items) < k, gap, 0.0), tuple(range(k))
        laws = order_law(x, k, 1.0, noise), peeled_law(x, k, 1.0, noise)
        # all others, added up: 1 less the chance of the best would be rounded
        once, peeled = (sum(p for set_, p in _set_law(law).items() if set_ != best) for law in laws)
        rows.append({"k": k, "gap": gap, "one pass": once, "peeling": peeled})
    return pd.DataFrame(rows)


class _Counting(np.random.Generator):
    """A generator that counts the noise it draws."""

    drawn = 0

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As of numpy, counted."""
        self.drawn += int(np.prod(size))
        return super().laplace(loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """As of numpy, counted."""
        self.drawn += int(np.prod(size))
        return super().gumbel(loc, scale, size)


def draws(n_items: Iterable[int], ks: Iterable[int]) -> pd.DataFrame:
    """Draws of noise, counted: ``m``, ``k`` up to m, ``peeling`` and ``one pass`` (Laplace), ``one pass, Gumbel``."""

    def drawn(m: int, k: int, noise: Noise) -> int:
        rng = _Counting(np.random.PCG64(0))
        Peeling(k, 1.0, noise, n_items=m).release(np.arange(m), rng)
        return rng.drawn

    cells = [(m, k) for m, k in product(n_items, ks) if k <= m]
    rows = [(m, k, drawn(m, k, "laplace"), drawn(m, 1, "laplace"), drawn(m, 1, "gumbel")) for m, k in cells]
    return pd.DataFrame(rows, columns=["m", "k", "peeling", "one pass", "one pass, Gumbel"])


@claim("qiao2021:sec-1:efficiency")
def check_efficiency(frame: pd.DataFrame, distance: float) -> Iterator[Check]:
    """Draws of k passes of Laplace noise against one, from `draws`; and what one pass of Gumbel noise stands for."""
    times, once = frame.peeling / frame["one pass"], frame["one pass, Gumbel"] / frame.m
    distance_of = "total variation of one pass of Gumbel noise and the rounds of the exponential mechanism, largest"
    ratio, least = "draws of peeling over draws of one pass", (2 * times / (frame.k + 1)).min()
    surplus = np.abs(frame.peeling - frame.k * frame.m + frame.k * (frame.k - 1) / 2).max()
    yield printed(f"{ratio}, over (k + 1)/2, least", least, ">=", 1)
    yield amended(f"{ratio}, over k, largest", (times / frame.k).max(), "<=", 1)
    yield amended("draws of peeling − (km − k(k − 1)/2), largest", surplus, "==", 0)
    yield amended(f"{distance_of}: the same ordered list", distance, "==", 0, error=ROUNDING)
    yield amended("draws of one pass of Gumbel noise over m, largest", once.max(), "==", 1)
