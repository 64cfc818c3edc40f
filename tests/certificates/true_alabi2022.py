"""Statements of Alabi et al. (2022) that hold, as certificates would have them, and attempts to refute them."""

import itertools
import math
from collections.abc import Callable
from random import Random
from typing import Any

from alabi2022 import (
    cost,
    cube,
    drawn,
    embedded,
    half_gap,
    halved_noise,
    inverse,
    mean_distance,
    most_asked,
    positive,
    profile,
    shares,
    sorted_cost,
)
from exact import Sides, Statements, exp, is_order, kendall, log, loss, need, orders, rational, whole
from flint import fmpq

HOLDS = Statements()
says = HOLDS.says
Attempt = Callable[[Random], dict[str, Any]]
ATTEMPTS: dict[str, Attempt] = {}


def attempt(claim: str, printed: str) -> Callable[[Attempt], Attempt]:
    def keep(instance: Attempt) -> Attempt:
        ATTEMPTS[f"{claim} | {printed}"] = instance
        return instance

    return keep


def some_order(random: Random, m: int) -> list[int]:
    """Often the natural order or its reverse, which are as far apart as orders are."""
    return random.choice([list(range(m)), list(range(m))[::-1], random.sample(range(m), m)])


def votes(random: Random, m: int, n: int) -> list[list[int]]:
    kinds = [some_order(random, m) for _ in range(random.randint(1, n))]
    return [random.choice(kinds) for _ in range(n)]


def extreme(random: Random) -> Any:
    """A positive rational of any size, and now and then something that is none."""
    tiny, huge = fmpq(1, 10 ** random.randint(1, 30)), fmpq(10 ** random.randint(1, 4))
    return random.choice([tiny, huge, fmpq(random.randint(1, 99), random.randint(1, 99)), 0, -1, "ε", 1, 1])


# ---------------------------------------------------------------- rankings, costs, KwikSort

SAID = "alabi2022:sec-background:kendall", "K(π₁, π₂) <= m (m − 1)/2"


@says(*SAID)
def _(one, other) -> Sides:
    need(isinstance(one, list) and len(one) <= 30, "no ranking")
    one, other = is_order(one, len(one)), is_order(other, len(one))
    return kendall(one, other), "<=", math.comb(len(one), 2)


@attempt(*SAID)
def _(random):
    m = random.randint(0, 9)
    return {"one": some_order(random, m), "other": some_order(random, m + (random.random() < 0.1))}


SAID = "alabi2022:sec-notation:cost", "[read as: w_ii = 0] Σ_(i, j) 1[σ(i) <= σ(j)] w_ji == K(σ, Π), the mean distance"


@says(*SAID)
def _(rankings, order) -> Sides:
    rankings = profile(rankings)
    order = is_order(order, len(rankings[0]))
    return cost(order, shares(rankings)), "==", mean_distance(order, rankings)


@attempt(*SAID)
def _(random):
    m = random.randint(2, 5)
    return {"rankings": votes(random, m, random.randint(1, 6)), "order": some_order(random, m)}


SAID = "alabi2022:fact-2", "abs(K(σ, w) − K(σ, w̃)) <= Σ_(i, j) abs(w_ji − w̃_ji)"


@says(*SAID)
def _(order, one, other) -> Sides:
    m = len(order)
    order, flat = is_order(order, m), [rational(it, "an entry") for row in [*one, *other] for it in row]
    need(len(flat) == 2 * m**2, "no matrices")
    return (
        abs(cost(order, one) - cost(order, other)),
        "<=",
        sum(abs(a - b) for a, b in zip(flat, flat[m**2 :], strict=False)),
    )


@attempt(*SAID)
def _(random):
    m = random.randint(2, 6)
    order, size = some_order(random, m), 10 ** random.randint(0, 9)
    one = [[fmpq(random.randint(-size, size), size) for _ in range(m)] for _ in range(m)]
    other = [row[:] for row in one]
    for i, j in itertools.combinations(order, 2):  # only what counts, and all to one side
        other[j][i] += fmpq(random.randint(0, size), random.randint(1, size))
    return {"order": order, "one": one, "other": other}


SAID = "alabi2022:sec-related:condorcet", "best orders that do not put a Condorcet winner first == 0"


@says(*SAID)
def _(rankings, winner) -> Sides:
    w = shares(profile(rankings))
    m, winner = len(w), whole(winner, 0, len(w) - 1, "winner")
    need(all(2 * w[winner][j] > 1 for j in range(m) if j != winner), "no Condorcet winner")
    costs = {it: cost(it, w) for it in orders(m)}
    return sum(it[0] != winner for it in costs if costs[it] == min(costs.values())), "==", 0


@attempt(*SAID)
def _(random):
    m = random.randint(2, 4)
    return {"rankings": votes(random, m, random.choice([1, 3, 4, 5])), "winner": random.randint(0, m)}


SAID = "alabi2022:sec-central:kwiksort", "E K <= 5 OPT, w_ij + w_ji = 1"


@says(*SAID)
def _(w) -> Sides:
    m = whole(len(w), 2, 6, "m")
    for i, j in itertools.product(range(m), repeat=2):
        need(
            rational(w[i][j], "an entry") >= 0 and (w[i][j] + w[j][i] == 1 if i != j else w[i][j] == 0), "no fractions"
        )
    return sorted_cost(w, w), "<=", 5 * min(cost(it, w) for it in orders(m))


@attempt(*SAID)
def _(random):
    m, w = random.randint(2, 5), None
    w = [[fmpq(0)] * m for _ in range(m)]
    for i, j in itertools.combinations(range(m), 2):
        w[i][j] = random.choice([fmpq(1), fmpq(1), fmpq(1, 2), fmpq(499, 1000), fmpq(random.randint(0, 9), 9)])
        w[j][i] = 1 - w[i][j] + (random.random() < 0.01)
    return {"w": w}


SAID = "alabi2022:sec-central:kwiksort", "[corrected] E K <= 2 OPT for rankings"


@says(*SAID)
def _(rankings) -> Sides:
    w = shares(profile(rankings))
    return sorted_cost(w, w), "<=", 2 * min(cost(it, w) for it in orders(len(w)))


@attempt(*SAID)
def _(random):
    m = random.randint(2, 5)
    turned = [[(i + k) % m for i in range(m)] for k in range(m)]  # Condorcet's cycle
    return {"rankings": random.choice([turned, turned[: m - 1], votes(random, m, random.randint(1, 7))])}


# ---------------------------------------------------------------- privacy

SAID = (
    "alabi2022:cor-6:budget",
    "[corrected] q answers with Lap(2q/(εn)), then Corollary 3's matrix with ε/2: loss <= ε",
)


@says(*SAID)
def _(one, other, q, epsilon, answer) -> Sides:
    every = math.comb(len(one[0]), 2)  # the matrix with the least noise that ε/2 allows
    return drawn(one, other, epsilon, answer, (whole(q, 1, every, "q"), 2 * q), (every, 2 * every))


@attempt(*SAID)
def _(random):
    m, n = random.randint(2, 6), random.randint(1, 5)
    one = votes(random, m, n)
    other = [it[:] for it in one]
    other[random.randrange(n)].reverse()
    answer = random.choice([fmpq(1, 2), fmpq(1, 10**9), fmpq(1, n), 1 - fmpq(1, n), extreme(random)])
    q = random.randint(0, math.comb(m, 2))
    return {"one": one, "other": other, "q": q, "epsilon": extreme(random), "answer": answer}


SAID = "alabi2022:table-1:hay", "privacy loss of the order with weights exp(−ε n K/(2 C(m, 2))) <= ε"


@says(*SAID)
def _(one, other, epsilon) -> Sides:
    one, other, epsilon = profile(one), profile(other), positive(epsilon)
    need(len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1, "no neighbours")
    unit = epsilon * len(one) / (2 * math.comb(len(one[0]), 2))
    laws = []
    for rankings in one, other:
        weights = [exp(-unit * mean_distance(it, rankings)) for it in orders(len(one[0]))]
        laws.append([it / sum(weights) for it in weights])
    return loss(*laws), "<=", epsilon


@attempt(*SAID)
def _(random):
    m, n = random.randint(2, 4), random.choice([1, 1, 2, 3, 20])
    one = [list(range(m))] * n if random.random() < 0.5 else votes(random, m, n)
    other = [it[:] for it in one]
    other[0].reverse()
    if n > 1 and random.random() < 0.1:
        other[1].reverse()  # no neighbours then
    return {"one": one, "other": other, "epsilon": extreme(random)}


SAID = "alabi2022:lem-10:privacy", "privacy loss of a user's 2q/m reports <= ε, q > 10 m log m"


@says(*SAID)
def _(one, other, asked, q, epsilon) -> Sides:
    m, q, epsilon = whole(len(one), 2, 20, "m"), whole(q, 1, 10**5, "q"), positive(epsilon)
    need(bool(10 * m * log(m) < q) and len(asked) <= 2 * q // m, "q, or too many queries")
    odds = exp(epsilon * m / (2 * q))
    rate, chances = (odds - 1) / (odds + 1), []
    for ranking in is_order(one, m), is_order(other, m):
        said = [sign * rate * int(ranking.index(j) < ranking.index(i)) for j, i, sign in asked]
        chances.append(math.prod((1 + it) / 2 for it in said))
    need(all(sign in (-1, 1) and i != j for j, i, sign in asked), "a query of two items, and a report of ±d")
    return abs(log(chances[0] / chances[1])), "<=", epsilon


@attempt(*SAID)
def _(random):
    m = random.randint(2, 6)
    q = random.choice([math.ceil(10 * m * math.log(m)), 2 * math.ceil(10 * m * math.log(m)), m])
    one, asked = some_order(random, m), []
    for _ in range(2 * q // m + (random.random() < 0.1)):
        j, i = random.sample(range(m), 2)
        asked.append([j, i, random.choice([-1, -1, -1, 1])])
    if random.random() < 0.7:  # the worst: always −d about a pair that the first voter says yes to
        asked = [[one[0], one[1], -1]] * len(asked)
    return {"one": one, "other": one[::-1], "asked": asked, "q": q, "epsilon": extreme(random)}


SAID = "alabi2022:lem-10:dummy", "[read as: n is the number of real users] E w̃ == w, t < m users being dummies"


@says(*SAID)
def _(votes, m) -> Sides:
    real, m = len(votes), whole(m, 2, 6, "m")
    need(all(it in (0, 1) for it in votes) and m <= real <= 8, "votes")
    n = -(-real // m) * m
    blocks = list(itertools.combinations([*votes, *[0] * (n - real)], n // m))
    return fmpq(m * sum(map(sum, blocks)), real * len(blocks)), "==", fmpq(sum(votes), real)


@attempt(*SAID)
def _(random):
    return {"votes": [random.randint(0, 1) for _ in range(random.randint(0, 8))], "m": random.randint(1, 6)}


# ---------------------------------------------------------------- lower bounds


def corners(random: Random, order: bool) -> dict[str, Any]:
    d, t = random.randint(1, 5), random.randint(0, 8)
    one = [random.choice([-1, 1]) for _ in range(d)]
    vectors = [random.choice([one, [-it for it in one], [random.choice([-1, 1]) for _ in range(d)]]) for _ in range(3)]
    if not order:
        return {"y": one, "vectors": vectors[: random.randint(1, 3)], "t": t}
    near = embedded(one, max(t, 1))
    for _ in range(random.randint(0, 3)):  # a few exchanges of neighbours from such a ranking
        k = random.randrange(len(near) - 1)
        near[k], near[k + 1] = near[k + 1], near[k]
    return {"order": random.choice([near, some_order(random, 2 * d + t)]), "vectors": vectors, "t": t}


def wrong_way_round(random: Random) -> dict[str, Any]:
    """All signs wrong, where the bound is reached: partners side by side, those between before or behind them."""
    d, t = random.randint(1, 4), random.randint(1, 6)
    middle = range(d, d + t)
    left = [it for it in middle if random.random() < 0.5]
    outer = [it for j in range(d) for it in (j, j + d + t)]
    return {"order": [*left, *outer, *(it for it in middle if it not in left)], "vectors": [[1] * d], "t": t}


SAID = "alabi2022:obs-15", "[corrected] K(σ, {π^x}) >= (t + (d + 1)/2) (d − ⟨ρ(σ), x̄⟩)/2, π^x by the words"


@says(*SAID)
def _(order, vectors, t) -> Sides:
    rankings, d = cube(vectors, t), len(vectors[0])
    order = is_order(order, 2 * d + t)
    return mean_distance(order, rankings), ">=", (t + fmpq(d + 1, 2)) * half_gap(inverse(order, d), vectors)


@attempt(*SAID)
def _(random):
    return wrong_way_round(random) if random.random() < 0.3 else corners(random, order=True)


SAID = "alabi2022:obs-16", "[corrected] K(π^y, {π^x}) <= t (d − ⟨y, x̄⟩) + d²"


@says(*SAID)
def _(y, vectors, t) -> Sides:
    found = mean_distance(embedded(y, t), cube(vectors, t))
    return found, "<=", 2 * t * half_gap(y, vectors) + len(y) ** 2


@attempt(*SAID)
def _(random):
    return corners(random, order=False)


SAID = "alabi2022:footnote-4", "[corrected] variance of a sign at mean p <= that at mean q, |p| > |q|"


@says(*SAID)
def _(near, far) -> Sides:
    need(abs(rational(far, "q")) < abs(rational(near, "p")) <= 1, "p must be the nearer to −1 or 1")
    spread = [sum((1 + x * mean) * (x - mean) ** 2 for x in (1, -1)) / fmpq(2) for mean in (near, far)]
    return spread[0], "<=", spread[1]


@attempt(*SAID)
def _(random):
    means = [random.choice([fmpq(0), fmpq(random.randint(-100, 100), 100), fmpq(1, 10**20)]) for _ in range(2)]
    return dict(zip(("far", "near"), sorted(means, key=abs), strict=True))


SAID = "alabi2022:thm-1:proof", "[corrected] E K(σ,w) <= m²e + α E OPT(w̃)"


@says(*SAID)
def _(noises, alpha) -> Sides:
    error, law, alpha = halved_noise(noises, alpha)
    return fmpq(1, 2), "<=", 4 * error + alpha * sum((p * (fmpq(1, 2) - abs(z)) for p, z in law), fmpq(0))


@attempt(*SAID)
def _(random):
    often = fmpq(random.randint(1, 99), 100)
    noises = [fmpq(random.randint(-50, 50), 100) for _ in range(2)]
    return {"noises": [[often, noises[0]], [1 - often, noises[1]]], "alpha": 1 + fmpq(1, 10 ** random.randint(0, 9))}


SAID = (
    "alabi2022:sec-central:quicksort",
    "[corrected] most comparisons of a run of KwikSort, any majorities, <= m(m − 1)/2",
)


@says(*SAID)
def _(m) -> Sides:
    return most_asked(m, 0)[0], "<=", m * (m - 1) // 2


@attempt(*SAID)
def _(random):
    return {"m": random.randint(1, 5)}


SAID = "alabi2022:sec-central:quicksort", "[corrected] comparisons of a run of KwikSort <= m(m − 1)/2"


@says(*SAID)
def _(beats, pivots) -> Sides:
    """Pivots by a list: the first of it that is in a part."""
    m = whole(len(beats), 1, 12, "m")
    need(sorted(pivots) == list(range(m)), "each item is a pivot once")
    need(all(beats[i][j] + beats[j][i] == (i != j) for i in range(m) for j in range(m)), "no majorities")
    asked, parts = 0, [list(range(m))]
    while parts:
        part = parts.pop()
        pivot = next(it for it in pivots if it in part)
        asked += len(part) - 1
        sides = [[j for j in part if j != pivot and beats[j][pivot] == ahead] for ahead in (0, 1)]
        parts += [it for it in sides if it]
    return asked, "<=", m * (m - 1) // 2


@attempt(*SAID)
def _(random):
    m = random.randint(1, 9)
    ahead = random.choice([lambda: 1, lambda: random.randint(0, 1)])
    beats = [[0] * m for _ in range(m)]
    for i, j in itertools.combinations(range(m), 2):
        beats[i][j] = ahead()
        beats[j][i] = 1 - beats[i][j]
    return {"beats": beats, "pivots": random.choice([list(range(m)), random.sample(range(m), m)])}
