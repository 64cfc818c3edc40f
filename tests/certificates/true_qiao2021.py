"""Statements on private top-k selection that are true: no instance may come out as violated."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise, permutations

from exact import Sides, Statements, between, exp, laplace_cdf, log, need, rational, whole
from flint import fmpq, fmpq_mat
from qiao2021 import chain, chance, loss, norm, one_graph, tau, walk

HOLDS = Statements()
says = HOLDS.says


def positive(epsilon) -> fmpq:
    return between(epsilon, 0, 100, "epsilon")


def one_way(x, other) -> None:
    moves = [rational(b, "other") - rational(a, "x") for a, b in zip(x, other, strict=True)]
    need(all(it >= 0 for it in moves) or all(it <= 0 for it in moves), "values must move one way")


@says("qiao2021:thm-2.1", "ln of the ratio of the probabilities of a set <= ε, λ = 2k/ε")
def _(epsilon, x, other, chosen) -> Sides:
    return loss(x, other, chosen, [], 2 * len(chosen) / positive(epsilon)), "<=", epsilon


@says("qiao2021:sec-1:pure-k", "[read as: all one way] ln of the ratio of the probabilities of a set <= ε, λ = k/ε")
def _(epsilon, x, other, chosen) -> Sides:
    one_way(x, other)
    return loss(x, other, chosen, [], len(chosen) / positive(epsilon)), "<=", epsilon


@says("qiao2021:alg-1", "ln of the ratio of densities of set and values <= 3ε/2, λ = 2k/ε")
def _(epsilon, x, other, chosen) -> Sides:
    values = [min(*x, *other)] * len(chosen)
    return loss(x, other, chosen, values, 2 * len(chosen) / positive(epsilon)), "<=", 3 * fmpq(epsilon) / 2


@says("qiao2021:sec-2:rnm-value", "[all one way] ln of the ratio of densities of index and fresh value <= ε, λ = 2/ε")
def _(epsilon, x, other, chosen) -> Sides:
    one_way(x, other)
    need(len(chosen) == 1, "one")
    return loss(x, other, chosen, [min(*x, *other)], 2 / positive(epsilon)), "<=", epsilon


@says("qiao2021:thm-2.3", "P(wrong set) <= (m − 1)(2λ + Δ) e^(−Δ/λ)/(4λ)")
def _(x, k) -> Sides:
    x = sorted(rational(it, "x") for it in x)
    need(2 <= len(x) <= 4 and 0 < whole(k, 1, 3, "k") < len(x), "k of 2 to 4 values")
    gap = min(b - a for a, b in pairwise(x))
    return 1 - chance(x, list(range(k)), fmpq(1)), "<=", (len(x) - 1) * (2 + gap) * exp(-gap) / 4


@says("qiao2021:lem-4.3", "|G(z′) − G(z)| <= 2 e^d d G(z)(1 − G(z)), d = |z′ − z|")
def _(z, other) -> Sides:
    z, other = rational(z, "z"), rational(other, "other")
    need(max(abs(z), abs(other)) <= 30, "z")
    g, d = laplace_cdf(z, 1), abs(z - other)
    return abs(laplace_cdf(other, 1) - g), "<=", 2 * exp(d) * d * g * (1 - g)


@says("qiao2021:lem-3.3", "largest |π_i − π̃_i| <= ‖P̃ − P‖∞/(2(1 − τ₁(P)))")
def _(rows, other) -> Sides:
    p, q = chain(rows), chain(other)
    m = p.nrows()
    need(q.nrows() == m and tau(p) < 1, "two chains, the first with τ₁ < 1")
    stay = []
    for it in p, q:
        equations = [[it[i, j] - int(i == j) for i in range(m)] for j in range(m - 1)] + [[1] * m]
        need(fmpq_mat(equations).det() != 0, "several stationary laws")
        stay.append(fmpq_mat(equations).solve(fmpq_mat([[int(i == m - 1)] for i in range(m)])))
    return max(abs(it) for it in (stay[0] - stay[1]).entries()), "<=", norm(q - p) / (2 * (1 - tau(p)))


@says("qiao2021:sec-3:tau-rank-one", "0 <= τ₁(P) <= 1, and τ₁(P) = 0 == (P has rank 1)")
def _(rows) -> list[Sides]:
    p = chain(rows)
    return [(0, "<=", tau(p)), (tau(p), "<=", 1), (int(tau(p) == 0), "==", int(p.rank() == 1))]


@says("qiao2021:sec-3:adjacency", "[read as: a sample is replaced] ‖P̃ − P‖∞ <= 2/(dL)")
def _(m, d, edges, other) -> Sides:
    one_graph(edges, other)
    need(sum(abs(a[3] - b[3]) for a, b in zip(edges, other, strict=True)) == 1, "these are not neighbours")
    need(all(it[2] == edges[0][2] for it in edges), "L games an edge")
    return norm(walk(m, d, edges) - walk(m, d, other)), "<=", fmpq(2, d * edges[0][2])


@says("qiao2021:lem-4.4:range", "|ln((1 + Δ/q)/(1 − Δ/(1 − q)))| <= −ln(1 − τ), |Δ| <= τq(1 − q)")
def _(q, closeness, move) -> Sides:
    q, t, move = between(q, 0, 1, "q"), between(closeness, 0, 1, "closeness"), rational(move, "move")
    need(abs(move) <= t * q * (1 - q), "q must be τ-close")
    return abs(log((1 + move / q) / (1 - move / (1 - q)))), "<=", -log(1 - t)


@says("qiao2021:lem-4.5", "P(Σ Z_i <= k) <= exp(−(1 + t) k h(t/(1 + t))), Σ q_i = (1 + t) k")
def _(q, k) -> Sides:
    k, law = whole(k, 1, 30, "k"), [fmpq(1)]
    for it in q:
        chance_of = rational(it, "q")
        need(0 <= chance_of <= 1, "q")
        law = [a * (1 - chance_of) + b * chance_of for a, b in zip([*law, fmpq(0)], [fmpq(0), *law], strict=True)]
    t = sum((fmpq(it) for it in q), fmpq(0)) / k - 1
    need(t > 0, "t")
    u = t / (1 + t)
    return sum(law[: k + 1], fmpq(0)), "<=", exp(-(1 + t) * k * ((1 + u) * log(1 + u) - u))


@says("qiao2021:sec-1:gumbel", "P(list) by one pass of Gumbel noise == by rounds of the exponential mechanism")
def _(weights, k) -> list[Sides]:
    w = [between(it, 0, 10**6, "weight") for it in weights]
    found = []
    for ranked in permutations(range(len(w)), whole(k, 1, min(5, len(w)), "k")):
        one_pass, left, rounds = fmpq(1), sum(w), fmpq(1)
        for n, i in enumerate(ranked):
            one_pass *= w[i] / sum(w[j] for j in range(len(w)) if j not in ranked[:n])
            rounds *= w[i] / left
            left -= w[i]
        found.append((one_pass, "==", rounds))
    return found


def fraction(rng: random.Random, most: int = 1) -> str:
    """From 0 to `most`, next to its ends as often as between them, and now and then outside."""
    q = rng.choice((2, 10, 10**9))
    ends = (-1, 0, 1, most * q - 1, most * q, most * q + 1) if rng.random() < 0.2 else (1, most * q - 1)
    return f"{rng.choice((*ends, rng.randint(1, most * q), rng.randint(1, most * q)))}/{q}"


def values(rng: random.Random) -> dict:
    m = rng.choice((2,) * 8 + (3, 4))
    k, far = rng.randint(1, max(1, m - rng.choice((0, 1, 1)))), rng.choice((0, 1, 5, 40))
    x = [far * (i < k) + rng.choice((0, 0, 1)) for i in range(m)]
    moves = rng.choice(((1,), (0, 1), (0, -1), (-1, 1), (-1, 0, 1), (2, 0)))
    apart = rng.random() < 0.4
    other = [a + (1 if i < k else -1) if apart else a + rng.choice(moves) for i, a in enumerate(x)]
    return {"epsilon": fraction(rng, 5), "x": x, "other": other, "chosen": list(range(k))}


def row(rng: random.Random, m: int) -> list[str]:
    cuts = [rng.choice((0, 1, 1, 5, 1000)) for _ in range(m)]
    return [f"{it}/{sum(cuts) or 1}" for it in cuts]


def chains(rng: random.Random) -> dict:
    m = rng.choice((1, 2, 2, 3, 4))
    rows = [row(rng, m) for _ in range(m)]
    return {"rows": rows, "other": [it if rng.random() < 0.6 else row(rng, m) for it in rows]}


def games(rng: random.Random) -> dict:
    m, n = rng.randint(2, 5), rng.randint(1, 4)
    pairs = [(i, j) for i in range(m) for j in range(i) if rng.random() < 0.7] or [(1, 0)]
    edges = [[i, j, n, rng.choice((0, n, rng.randint(0, n)))] for i, j in pairs]
    other = [list(it) for it in edges]
    other[rng.randrange(len(other))][3] += rng.choice((1, -1, 1, -1, 2))
    return {"m": m, "d": rng.randint(max(1, m - 2), m), "edges": edges, "other": other}


def close(rng: random.Random) -> dict:
    q, t = rng.choice((1, 10, 500, 999)), rng.choice((1, 7, 500, 999))
    sign = rng.choice((1, -1))
    return {
        "q": f"{q}/1000",
        "closeness": f"{t}/1000",
        "move": f"{sign * t * q * (1000 - q) + (rng.random() < 0.2)}/1000000000",
    }


DRAWS: dict[str, Callable[[random.Random], dict]] = {
    "thm-2.1": values,
    "sec-1:pure-k": values,
    "alg-1": values,
    "sec-2:rnm-value": values,
    "thm-2.3": lambda rng: {
        "x": [fraction(rng, 30) for _ in range(rng.choice((1, 2, 2, 2, 3)))],
        "k": rng.choice((0, 1, 1, 2)),
    },
    "lem-4.3": lambda rng: {"z": fraction(rng, rng.choice((1, 30))), "other": fraction(rng, rng.choice((1, 30)))},
    "lem-3.3": chains,
    "sec-3:tau-rank-one": lambda rng: {"rows": chains(rng)["rows"]},
    "sec-3:adjacency": games,
    "lem-4.4:range": close,
    "lem-4.5": lambda rng: {"q": [fraction(rng) for _ in range(rng.randint(1, 20))], "k": rng.randint(0, 6)},
    "sec-1:gumbel": lambda rng: {
        "weights": [fraction(rng, 9) for _ in range(rng.randint(1, 5))],
        "k": rng.randint(0, 5),
    },
}
ATTEMPTS = {key: DRAWS[key.split(" | ")[0].removeprefix("qiao2021:")] for key in HOLDS}
