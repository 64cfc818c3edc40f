"""Statements on private tests of rankings that are true: no instance may come out as violated."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from math import comb, factorial

import exact
from busafekete2021_private import neighbours, rejected, signs, statistic
from exact import Sides, Statements, between, exp, largest, log, need, rational, sqrt, whole
from flint import arb, fmpq

HOLDS = Statements()
says = HOLDS.says


def both(m, data, other):
    neighbours(data, other)
    return ([signs(it, whole(m, 2, 12, "m")) for it in rankings] for rankings in (data, other))


@says("busafekete2021:alg-4", "|Y(D) − Y(D′)| <= 2m")
def _(m, data, other) -> Sides:
    x, y = both(m, data, other)
    return abs(statistic(x) - statistic(y)), "<=", 2 * m


@says("busafekete2021:sec-5:sensitivity", "|Y(D) − Y(D′)| <= 4⌊m/2⌋(1 − 1/k)")
def _(m, data, other) -> Sides:
    x, y = both(m, data, other)
    return abs(statistic(x) - statistic(y)), "<=", 4 * (m // 2) * (1 - fmpq(1, len(data)))


@says("busafekete2021:sec-5:sensitivity", "|Y(D) − Y(D′)| <= (4/k) Σ_i (|S_i| + 1)")
def _(m, data, other) -> Sides:
    x, y = both(m, data, other)
    return (
        abs(statistic(x) - statistic(y)),
        "<=",
        fmpq(4 * sum(abs(sum(it)) + 1 for it in zip(*x, strict=True)), len(x)),
    )


@says("busafekete2021:alg-4:variance", "V[Y] <= m under H₀, all data of m = 2 or 3 items")
def _(m, k) -> Sides:
    need(factorial(whole(m, 2, 3, "m")) ** whole(k, 1, 12, "k") <= 5000, "too many data")
    rows = [signs(list(order), m) for order in exact.orders(m)]
    y = [statistic(data) for data in product(rows, repeat=k)]
    return sum(it**2 for it in y) / len(y) - (sum(y) / len(y)) ** 2, "<=", m


@says("busafekete2021:alg-5", "largest log-ratio of two reports <= ε₀, γ = 2ε₀/m")
def _(m, epsilon) -> Sides:
    epsilon, m = between(epsilon, 0, 50, "epsilon"), whole(m, 2, 4, "m")
    kept = exp(2 * epsilon / m) / (1 + exp(2 * epsilon / m))
    rows = [signs(list(order), m) for order in exact.orders(m)]
    laws = []
    for row in rows:
        law = []
        for report in product((-1, 1), repeat=m // 2):
            chance = arb(1)
            for a, b in zip(row, report, strict=True):
                chance *= kept if a == b else 1 - kept
            law.append(chance)
        laws.append(law)
    return largest([exact.loss(a, b) for a in laws for b in laws]), "<=", epsilon


@says("busafekete2021:sec-8:bernoulli", "P(first item first) == p, two items, φ = (1 − p)/p")
def _(p) -> Sides:
    p = rational(p, "p")
    need(fmpq(1, 2) <= p <= 1, "p from 1/2 to 1")
    phi = (1 - p) / p
    return 1 / (1 + phi), "==", p


@says("busafekete2021:sec-8:cdp-lower", "ln((1 − e)/e) <= k ε₀, e the larger error of Y + Lap(4/ε₀) on two items")
def _(k, phi, epsilon, threshold) -> Sides:
    k, phi, epsilon = whole(k, 1, 100, "k"), rational(phi, "phi"), between(epsilon, 0, 50, "epsilon")
    need(0 <= phi <= 1, "phi")
    threshold, errors = rational(threshold, "threshold"), []
    for p, uniform in (fmpq(1, 2), True), (1 / (1 + phi), False):
        accept = sum(
            comb(k, j)
            * p**j
            * (1 - p) ** (k - j)
            * exact.laplace_cdf(threshold - fmpq((2 * j - k) ** 2, k), 4 / epsilon)
            for j in range(k + 1)
        )
        errors.append(1 - accept if uniform else accept)
    e = largest(errors)
    need(bool(e > 0) and bool(e < 1), "e")
    return log((1 - e) / e), "<=", k * epsilon


@says("busafekete2021:sec-5:bucketing", "|P(reject D′) − P(reject D)| <= 1/⌈1/ε₀⌉")
def _(epsilon, delta, data, other) -> Sides:
    before, after = rejected(epsilon, delta, data, other)
    return abs(after - before), "<=", fmpq(1, len(data))


@says("busafekete2021:sec-7.3:adversary", "P(right guess) <= e^ε₀/(e^ε₀ + m! − 1)")
def _(m, epsilon) -> Sides:
    epsilon = between(epsilon, 0, 100, "epsilon")
    odds = exp(2 * epsilon / whole(m, 2, 5, "m"))
    rows, right = [signs(list(order), m) for order in exact.orders(m)], arb(0)
    for report in product((-1, 1), repeat=m // 2):
        right += odds ** max(sum(a == b for a, b in zip(row, report, strict=True)) for row in rows)
    return right / (1 + odds) ** (m // 2) / len(rows), "<=", exp(epsilon) / (exp(epsilon) + factorial(m) - 1)


@says("busafekete2021:sec-6:tanh", "ε₀/m − (ε₀/m)³/3 <= (e^γ − 1)/(e^γ + 1) <= ε₀/m")
def _(m, epsilon) -> list[Sides]:
    x = between(epsilon, 0, 100, "epsilon") / whole(m, 2, 10**6, "m")
    middle = (exp(2 * x) - 1) / (exp(2 * x) + 1)
    return [(x - x**3 / 3, "<=", middle), (middle, "<=", x)]


@says("busafekete2021:sec-7.3:third", "⌈1/ε₀⌉ == 3 at ε₀ = 1/3")
def _(epsilon) -> Sides:
    need(rational(epsilon, "epsilon") == fmpq(1, 3), "epsilon must be 1/3")
    return int((1 / epsilon).ceil()), "==", 3


@says("busafekete2021:sec-6:worst-pair", "[corrected] log P(y|π)/P(y|π′) <= ε₀, any signs y, γ = 2ε₀/m")
def _(first, second, seen, epsilon_0) -> Sides:
    m, budget = whole(len(first), 2, 20, "m"), between(epsilon_0, 0, 100, "ε₀")
    pairs = list(zip(signs(first, m), signs(second, m), strict=True))
    need(len(seen) == len(pairs) and set(seen) <= {-1, 1}, "a sign for each pair")
    growth = 2 * budget / fmpq(m)  # log of W(y|y)/W(y|−y)
    return growth * sum((a == y) - (b == y) for (a, b), y in zip(pairs, seen, strict=True)), "<=", budget


@says("busafekete2021:sec-5:noise-variance", "[corrected] |Y(D) − Y(D′)|/b <= ε₀, 2b² = 8(m/ε₀)²")
def _(m, data, other, epsilon_0) -> Sides:
    x, y = both(m, data, other)
    budget = between(epsilon_0, 0, 100, "ε₀")
    return abs(statistic(x) - statistic(y)) * budget / (2 * m), "<=", budget


@says("busafekete2021:sec-2:central-rate", "[corrected] √d/ε² <= √d/ε² + √d/(ε√ε₀) + ∛d/(ε^(4/3) ε₀^(2/3)) + 1/(εε₀)")
def _(d, epsilon, budget) -> Sides:
    bare, epsilon = sqrt(whole(d, 2, 10**30, "d")), between(epsilon, 0, 1, "ε")
    need(rational(budget, "ε₀") > 0, "ε₀ must be positive")
    third = exp((log(d) - 4 * log(epsilon) - 2 * log(budget)) / 3)
    rest = bare / (epsilon * sqrt(budget)) + third + 1 / (epsilon * budget)
    return bare / epsilon**2, "<=", bare / epsilon**2 + rest


def fraction(rng: random.Random, most: int = 1) -> str:
    """From 0 to `most`, next to its ends as often as between them, and now and then outside."""
    q = rng.choice((2, 10, 10**9))
    ends = (-1, 0, 1, most * q - 1, most * q, most * q + 1) if rng.random() < 0.2 else (1, most * q - 1)
    return f"{rng.choice((*ends, rng.randint(1, most * q), rng.randint(1, most * q)))}/{q}"


def ranking(rng: random.Random, m: int) -> list[int]:
    order = list(range(m))
    return order[:: rng.choice((1, -1))] if rng.random() < 0.5 else rng.sample(order, m)


def rankings(rng: random.Random) -> dict:
    m, k = rng.randint(1, 9), rng.randint(1, 8)
    first = ranking(rng, m)
    data = [first if rng.random() < 0.5 else ranking(rng, m) for _ in range(k)]
    other = [list(it) for it in data]
    for _ in range(rng.choice((1, 1, 1, 1, 2))):
        other[rng.randrange(k)] = rng.choice((first[::-1], ranking(rng, m)))
    return {"m": m + (rng.random() < 0.05), "data": data, "other": other}


def batches(rng: random.Random) -> dict:
    b, k = rng.randint(1, 4), rng.randint(1, 9)
    data = [[rng.choice((1, 1, 1, -1))] * k if rng.random() < 0.7 else rng.choices((1, -1), k=k) for _ in range(b)]
    other = [list(it) for it in data]
    for _ in range(rng.choice((1, 1, 1, 2))):
        batch = other[rng.randrange(b)]
        i = rng.randrange(k)
        batch[i] = -batch[i]
    return {"epsilon": f"1/{b}" if b > 1 else "99/100", "delta": fraction(rng), "data": data, "other": other}


def noisy(rng: random.Random) -> dict:
    return {
        "k": rng.choice((1, 2, rng.randint(0, 40))),
        "phi": fraction(rng),
        "epsilon": fraction(rng, 5),
        "threshold": fraction(rng, 40),
    }


def budget(rng: random.Random) -> dict:
    return {"m": rng.choice((1, 2, 2, 3, 4, 5)), "epsilon": fraction(rng, rng.choice((1, 50)))}


def pair_of_rankings(rng: random.Random) -> dict:
    """Often all signs of the one against all of the other, and the signs of either."""
    m = rng.randint(2, 9)
    worst = [it ^ 1 if it ^ 1 < m else it for it in range(m)]
    first, second = rng.choice([(worst, list(range(m))), (ranking(rng, m), ranking(rng, m))])
    seen = rng.choice([[1] * (m // 2), [-1] * (m // 2), [rng.choice((-1, 1)) for _ in range(m // 2)]])
    return {"first": first, "second": second, "seen": seen, "epsilon_0": fraction(rng, 50)}


DRAWS: dict[str, Callable[[random.Random], dict]] = {
    "alg-4": rankings,
    "sec-5:sensitivity": rankings,
    "alg-4:variance": lambda rng: {"m": rng.randint(1, 4), "k": rng.randint(0, 12)},
    "alg-5": budget,
    "sec-8:bernoulli": lambda rng: {"p": fraction(rng)},
    "sec-8:cdp-lower": noisy,
    "sec-5:bucketing": batches,
    "sec-7.3:adversary": budget,
    "sec-6:tanh": budget,
    "sec-6:worst-pair": pair_of_rankings,
    "sec-5:noise-variance": lambda rng: rankings(rng) | {"epsilon_0": fraction(rng, 50)},
    "sec-2:central-rate": lambda rng: {
        "d": rng.randint(2, 10**9),
        "epsilon": fraction(rng),
        "budget": 10 ** rng.randint(0, 9),
    },
    "sec-7.3:third": lambda rng: {"epsilon": rng.choice(("1/3", "33/100", "1/4", fraction(rng)))},
}
ATTEMPTS = {key: DRAWS[key.split(" | ")[0].removeprefix("busafekete2021:")] for key in HOLDS}
