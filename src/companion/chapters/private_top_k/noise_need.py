"""How much noise approximate privacy needs, and when delta is of use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import cast

import mpmath
import numpy as np
import pandas as pd

from companion.chapters.private_top_k.approximate import exponential_need, needed_scale
from companion.instruments.topk import DELTA, EPSILON, certified, ends, printed_scale, split, theorem_2_1
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.topk.bound import shift_for
from dprank.topk.curve import least_scale
from dprank.topk.noise_laws import Noise

#: By delta: the smallest k from which Theorem 2.2 (at m = k + 1), and our bound at epsilon = 0.2, save noise.
FIRST = {DELTA: (126, 5), 1e-6: (314, 26)}


def first_useful(deltas: Iterable[float]) -> pd.DataFrame:
    """Smallest k from which a delta saves noise: ``δ``; Theorem 2.2 below Theorem 2.1 for ``m = k + 1`` (the best),
    ``m = 2k``, ``m = 10⁶``; ``our bound``, which knows no m.
    """
    scales: dict[str, Callable[[int, float], float]] = {
        "m = k + 1": lambda k, delta: printed_scale(k, EPSILON, delta, k + 1),
        "m = 2k": lambda k, delta: printed_scale(k, EPSILON, delta, 2 * k),
        "m = 10⁶": lambda k, delta: printed_scale(k, EPSILON, delta, 10**6),
        "our bound": lambda k, delta: 1 / shift_for(k, EPSILON, delta),
    }

    def first(name: str, delta: float) -> int:
        return least(lambda k: scales[name](k, delta) < theorem_2_1(k, EPSILON))

    return pd.DataFrame({"δ": delta} | {name: first(name, delta) for name in scales} for delta in deltas)


def first_useful_square() -> int:
    """Smallest k with Theorem 2.2 below Theorem 2.1 when delta = 1 / m^2, at m = k + 1."""
    return least(lambda k: k > 48 * math.log(k + 1))


@claim("qiao2021:thm-2.2:useful")
def check_useful(deltas: Iterable[float]) -> Iterator[Check]:
    """Theorem 2.2 against Theorem 2.1, and against our bound, from the k on that the ledger names."""

    def ratio(k: int, m: int, delta: float) -> float:
        return printed_scale(k, 1.0, delta, m) / theorem_2_1(k, 1.0)

    what = "noise of Theorem 2.2 over noise of Theorem 2.1"
    for k, m in ((1, 2), (10, 11), (100, 101), (100, 10**6)):
        yield printed(f"{what}, k = {k}, m = {m:,}, δ = {DELTA}", ratio(k, m, DELTA), "<", 1)
    for row in first_useful(deltas).itertuples():
        delta, k, twice = float(cast(float, row[1])), int(row[2]), int(row[3])
        cases = (k, k + 1), (twice, 2 * twice), (100 * k, 200 * k)
        names = ", ".join(f"({n:,}, {m:,})" for n, m in cases)
        most = max(ratio(n, m, delta) for n, m in cases)
        before, ours = ratio(k - 1, k, delta), "least k at which {} saves noise, δ = {:g}"
        yield supplied(f"{what}, largest over (k, m) = {names}, all k > 16 log(m/δ), δ = {delta:g}", most, "<", 1)
        yield amended(f"{what}, k = {k - 1}, m = {k}, δ = {delta:g}", before, ">=", 1)
        yield amended(ours.format("Theorem 2.2 (m = k + 1)", delta), k, "==", FIRST[delta][0])
        yield amended(ours.format("our bound", delta), int(row[5]), "==", FIRST[delta][1])


def simple_scale(k: int, epsilon: float, delta: float) -> float:
    """Our noise 2 (sqrt(k L) + L) / epsilon, L = log(k / delta): sensitivity 1, epsilon <= 1, delta <= 0.05."""
    length = math.log(k / delta)
    return 2 * (math.sqrt(k * length) + length) / epsilon


def simple_slack(epsilon: float = 1.0, delta: float = DELTA) -> tuple[float, float]:
    """Certified room in the proof of `simple_scale`: log(1 + alpha) - 1 / (2 alpha + 1) - 2 u - a second corner's cost.

    At the largest epsilon and delta, alpha = 2 L / epsilon at the least L = log(1 / delta), u at its largest, where
    Theorem 2.1 takes over.
    """
    iv = mpmath.iv
    least = iv.log(iv.mpf(1) / iv.mpf(str(delta)))
    golden = (iv.sqrt(5) - 1) / 2  # t at which 2 (sqrt(k L) + L) = 2 k
    u, k = golden / (1 + golden), least / golden**2
    alpha, shift = 2 * least / epsilon, epsilon / (2 * k * golden * (1 + golden))
    # (e^a - 1) / a at the largest a, times epsilon / (2 k), bounds the second corner's cross term
    cross = iv.mpf(epsilon) / 2 * (iv.exp(shift) - 1) / shift
    kept = 1 - (iv.exp(u) - 1) ** 2 - cross / k
    return ends(iv.log(1 + alpha) - 1 / (2 * alpha + 1) - 2 * u - cross / kept)


def constants(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """The constant that replaces 8 in 8 sqrt(k log(k / delta)) / epsilon: ``k``, ``Theorem 2.1``, ``our bound``,
    ``closed form``, ``needed`` (at least, at pairs found).
    """
    rows = []
    for k in ks:
        unit = math.sqrt(k * math.log(k / delta)) / epsilon
        noises = theorem_2_1(k, epsilon), 1 / shift_for(k, epsilon, delta), simple_scale(k, epsilon, delta)
        rows.append((k, *(scale / unit for scale in (*noises, needed_scale(k, epsilon, delta)))))
    return pd.DataFrame(rows, columns=["k", "Theorem 2.1", "our bound", "closed form", "needed"])


@claim("qiao2021:sec-5:better-bounds")
def check_better_bounds(ks: Iterable[int]) -> Iterator[Check]:
    """The constant 8 can be lowered to 1 + sqrt 5 with k for m inside the logarithm, and not below what is needed."""
    need = {k: needed_scale(k, EPSILON, 1e-6) / printed_scale(k, EPSILON, 1e-6, 2 * k) for k in ks}
    some = np.unique(np.geomspace(1, 1e6, 300).astype(int)).tolist()
    constants = [
        min(theorem_2_1(k, 1.0), simple_scale(k, 1.0, delta)) / math.sqrt(k * math.log(k / delta))
        for k, delta in product(some, (DELTA, 1e-6))
    ]
    room = "room left in the proof of our noise 2(√(k log(k/δ)) + log(k/δ))s/ε, ε ≤ 1, δ ≤ 0.05, certified"
    ours = "constant in place of 8 (and k for m) at the lesser of our noise and Theorem 2.1's, largest over k ≤ 10⁶"
    share = f"share of Theorem 2.2's noise that the worst pairs need, m = 2k, k = {', '.join(map(str, need))}, largest"
    yield certified(room, simple_slack(), ">", 0)
    yield printed(ours, max(constants), "<", 8)
    yield printed(share, max(need.values()), "<", 1)


@claim("qiao2021:abstract:noise-level")
def check_noise_level(ks: Iterable[int]) -> Iterator[Check]:
    """The abstract's noise level: enough with explicit constants, and no lower power of k would do."""
    enough = [
        EPSILON * min(theorem_2_1(k, EPSILON), 1 / shift_for(k, EPSILON, delta)) / math.sqrt(k * math.log(k / delta))
        for k, delta in product((1, 3, 10, 30, 100, 1000, 10**4, 10**5, 10**6), (DELTA, 1e-6, 1e-12))
    ]
    needed = {k: needed_scale(k, EPSILON, DELTA) * EPSILON / math.sqrt(k) for k in ks}
    proved = "enough: λε/(s√(k log(k/δ))) of the least noise proved, largest over k ≤ 10⁶, δ ≤ 0.05"
    found = f"needed: λε/(s√k) at the worst pairs found, least over k = {', '.join(map(str, needed))}, δ = {DELTA}"
    yield printed(proved, max(enough), "<=", 1 + math.sqrt(5))
    yield printed(found, min(needed.values()), ">=", 0.5)


def exponential_needs(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Share of its pure scale 2k / epsilon that exponential noise needs at a pair of neighbours: ``k``, ``pure scale``,
    ``k of k + 1``, ``k of 2k``, ``Laplace, k of 2k`` (Laplace noise).
    """
    rows = []
    for k in ks:
        noises: tuple[Noise, Noise] = "exponential", "laplace"
        half = [least_scale(split(k, k), k, epsilon, delta, noise) * epsilon / (2 * k) for noise in noises]
        rows.append((k, 2 * k / epsilon, exponential_need(k, epsilon, delta) * epsilon / (2 * k), *half))
    return pd.DataFrame(rows, columns=["k", "pure scale", "k of k + 1", "k of 2k", "Laplace, k of 2k"])
