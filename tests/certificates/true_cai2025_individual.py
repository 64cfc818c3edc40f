"""What Cai, Chakraborty and Wang (2025) print of a voter's privacy and is true, or was put right: not to be refuted."""

import itertools
import math
from collections.abc import Callable
from random import Random
from typing import Any

from cai2025_individual import between, change_of_hessian, eigenvalue, preferences, rate
from exact import Sides, Statements, binomial, exp, integral, log, loss, need, rational, sqrt, whole
from flint import acb, arb, arb_mat, fmpq

HOLDS = Statements()
says = HOLDS.says
ATTEMPTS: dict[str, Callable[[Random], dict[str, Any]]] = {}


def tries(draw: Callable[[Random], dict[str, Any]]) -> None:
    """Draws instances for the statement that came last."""
    ATTEMPTS[list(HOLDS)[-1]] = draw


def logistic(x) -> arb:
    return 1 / (1 + exp(-x))


def sheets(voters, n: int, answers: int) -> list[tuple[int, int]]:
    """All answers, winner and loser, of voters of so many answers each."""
    need(0 < len(voters) <= 30 and all(len(it) == answers for it in voters), "voters of L answers")
    flat = [(whole(a, 0, n - 1, "an item"), whole(b, 0, n - 1, "an item")) for it in voters for a, b in it]
    need(all(a != b for a, b in flat), "an answer is on two items")
    return flat


def neighbours(voters, others, n: int, answers: int) -> list[list[tuple[int, int]]]:
    need(len(voters) == len(others), "as many voters")
    need(sum(a != b for a, b in zip(voters, others, strict=True)) <= 1, "more than one voter changed")
    return [sheets(it, n, answers) for it in (voters, others)]


def draw_neighbours(random: Random, n: int, answers: int, most: int) -> dict[str, Any]:
    """Often all answers alike, against all the other way round; now and then no neighbours at all."""
    pair = random.sample(range(n), 2)

    def sheet(alike: bool) -> list[list[int]]:
        return [list(pair) if alike else random.sample(range(n), 2) for _ in range(answers)]

    alike = random.random() < 0.5
    voters = [sheet(alike) for _ in range(random.randint(1, most))]
    others = [[pair[::-1] for pair in voters[0]] if alike else sheet(False), *voters[1:]]
    if random.random() < 0.05:
        others = [sheet(False) for _ in voters]
    return {"n": n, "answers": answers, "voters": voters, "others": others}


def small(random: Random, below: int = 40) -> fmpq:
    return fmpq(random.randint(1, below), random.choice([1, 2, 10, 100]))


@says("cai2025:sec-3.2:likelihood", "the printed sum == −log P(D), but for what does not depend on θ, logistic F")
def _(voters, n, theta, other) -> Sides:
    data = sheets(voters, whole(n, 2, 6, "n"), len(voters[0]))
    points = [[rational(it, "θ") for it in v] for v in (theta, other)]
    need(all(len(it) == n for it in points), "n strengths")
    direct = [-sum(log(logistic(t[a] - t[b])) for a, b in data) for t in points]
    printed = []
    for t in points:
        total = arb(0)
        for i, j in itertools.combinations(range(n), 2):
            met = sum({a, b} == {i, j} for a, b in data)
            share = fmpq(data.count((i, j)), met) if met else fmpq(1, 3)  # 0/0: any number
            total -= met * (share * log(logistic(t[i] - t[j])) + (1 - share) * log(logistic(t[j] - t[i])))
        printed.append(total)
    return printed[0] - printed[1], "==", direct[0] - direct[1]


@tries
def _(random: Random) -> dict[str, Any]:
    n, answers = random.randint(2, 4), random.randint(1, 4)
    strengths = [[fmpq(random.randint(-50, 50), random.randint(1, 9)) for _ in range(n)] for _ in "ab"]
    voters = draw_neighbours(random, n, answers, 5)["voters"]
    return {"voters": voters, "n": n, "theta": strengths[0], "other": strengths[1]}


def pieces(data, t, ridge) -> tuple[arb, arb]:
    """‖∇R(t)‖₁ and det ∇²R(t)."""
    n = len(t)
    force, bend = [ridge * it for it in t], [[arb(ridge if i == j else 0) for j in range(n)] for i in range(n)]
    for a, b in data:
        p = logistic(t[a] - t[b])
        force[a], force[b] = force[a] - (1 - p), force[b] + (1 - p)
        for i, j, sign in (a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1):
            bend[i][j] += sign * p * (1 - p)
    return sum(abs(arb(it)) for it in force), arb_mat(bend).det()


def perturbed(voters, others, n, answers, t, epsilon, kappa_1, kappa_2):
    whole(n, 2, 5, "n"), whole(answers, 1, 5, "L")
    epsilon, kappa_1, kappa_2 = between(epsilon, 0, 100, "ε"), between(kappa_1, 1, 9, "κ1"), rational(kappa_2, "κ2")
    need(kappa_2 > fmpq(1, 4) and len(t) == n, "κ2 > 1/4, n strengths")
    scale, ridge = 8 * answers * kappa_1 / epsilon, 8 * answers * kappa_2 / epsilon
    both = neighbours(voters, others, n, answers)
    return epsilon, scale, [pieces(data, [rational(it, "t") for it in t], ridge) for data in both]


@says("cai2025:prop-3.1", "log f(t | D) − log f(t | D') <= ε, λ = 8Lκ1/ε, γ = 8Lκ2/ε, logistic F")
def _(**given) -> Sides:
    epsilon, scale, ((force, volume), (other_force, other_volume)) = perturbed(**given)
    return (other_force - force) / scale + log(volume / other_volume), "<=", epsilon


def draw_perturbed(random: Random) -> dict[str, Any]:
    n, answers = random.randint(2, 4), random.randint(1, 4)
    bare = random.choice([fmpq(1), fmpq(1, 10**9)])
    given = draw_neighbours(random, n, answers, 4)
    far = random.choice([1, 10, 100])
    t = [fmpq(random.randint(-100, 100), 100) * far for _ in range(n)]
    privacy = random.choice([small(random), fmpq(1, 1000), fmpq(100)])
    return given | {"t": t, "epsilon": privacy, "kappa_1": 1 + bare, "kappa_2": fmpq(1, 4) + bare}


tries(draw_perturbed)


@says("cai2025:prop-3.1:proof", "[corrected] det ∇²R(t; y)/det ∇²R(t; y') <= e^(ε/4), γ = 8Lκ2/ε")
def _(**given) -> Sides:
    epsilon, _, ((_, volume), (_, other_volume)) = perturbed(**given)
    return volume / other_volume, "<=", exp(epsilon / 4)


tries(draw_perturbed)


@says("cai2025:prop-3.1:proof", "[corrected] rank(∇²R(t; y') − ∇²R(t; y)) <= 2L")
def _(before, after, n) -> Sides:
    return change_of_hessian(before, after, n).rank(), "<=", 2 * len(before)


@tries
def _(random: Random) -> dict[str, Any]:
    n, answers = random.choice([2, 4, 20]), random.randint(1, 5)
    return {name: [random.sample(range(n), 2) for _ in range(answers)] for name in ("before", "after")} | {"n": n}


def chance_of_top(top: list[int], counts: list[int], scale: fmpq) -> arb:
    """P(these items have the largest noisy counts), over which of them is the last and where; tails are bounded."""
    points = sorted({*counts, min(counts) - 200 * scale, max(counts) + 200 * scale})
    chance = arb(0, len(counts) * exp(-200))
    for a, b in itertools.pairwise(points):

        def density(z: acb, high: fmpq = b) -> acb:
            near = [(((z - c) if c >= high else (c - z)) / arb(scale)).exp() / 2 for c in counts]
            below = [p if c >= high else 1 - p for p, c in zip(near, counts, strict=True)]
            factors = [1 - p if i in top else p for i, p in enumerate(below)]
            others = (math.prod(factors[:i] + factors[i + 1 :], start=near[i] / arb(scale)) for i in top)
            return sum(others, acb(0))

        chance += integral(density, a, b)
    return chance


@says("cai2025:alg-3", "[corrected] |log P(S | D)/P(S | D')| <= ε, S the k largest of N_i + Laplace(2L/ε)")
def _(voters, others, n, answers, top, epsilon) -> Sides:
    epsilon, items = between(epsilon, 0, 5, "ε"), {whole(it, 0, whole(n, 2, 4, "n") - 1, "an item") for it in top}
    need(0 < len(items) == len(top) < n, "no top set")
    data = neighbours(voters, others, n, whole(answers, 1, 3, "L"))
    counts = [[sum(a == item for a, _ in it) for item in range(n)] for it in data]
    return loss(*([chance_of_top(top, it, 2 * answers / epsilon)] for it in counts)), "<=", epsilon


@tries
def _(random: Random) -> dict[str, Any]:
    n = random.randint(2, 4)
    given = draw_neighbours(random, n, random.randint(1, 3), 6)
    return given | {
        "top": random.sample(range(n), random.randint(1, n - 1)),
        "epsilon": fmpq(random.randint(1, 50), 10),
    }


@says("cai2025:thm-3.3", "P(S ≠ S_1) <= 2^−5 if τ_(1) − τ_(2) >= 8(√(n log n/m) + n log n/(mε)), two items")
def _(m, answers, epsilon, rho) -> Sides:
    draws, epsilon, rho = whole(m, 1, 3000, "m") * whole(answers, 1, 3, "L"), between(epsilon, 0, 50, "ε"), fmpq(rho)
    need(rho <= 1 and bool(8 * rate(2, m, epsilon) <= rho - fmpq(1, 2)), "the gap is too small")
    scale, wrong = answers / epsilon, arb(0)
    for wins in range(draws + 1):
        lead = abs(2 * wins - draws) / arb(scale)
        behind = exp(-lead) * (fmpq(1, 2) + lead / 4)
        weight = binomial(draws, wins) * arb(rho) ** wins * arb(1 - rho) ** (draws - wins)
        wrong += weight * (behind if 2 * wins >= draws else 1 - behind)
    return wrong, "<=", fmpq(1, 32)


@tries
def _(random: Random) -> dict[str, Any]:
    m, epsilon = random.randint(300, 900), random.choice([fmpq(1, 10), fmpq(1), fmpq(10), fmpq(50)])
    least = 8 * (math.sqrt(2 * math.log(2) / m) + 2 * math.log(2) / (m * float(epsilon)))
    rho = fmpq(1, 2) + fmpq(math.ceil(least * 10**6) + random.choice([-1, 0, 1]), 10**6)
    return {"m": m, "answers": random.randint(1, 2), "epsilon": epsilon, "rho": min(rho, fmpq(random.choice([1, 2])))}


@says("cai2025:thm-3.3:proof", "[corrected] E (N_a − N_b)² in one draw == (n(τ_a + τ_b) − 1)/C(n, 2)")
def _(rho, a, b) -> Sides:
    n = preferences(rho)
    need(whole(a, 0, n - 1, "a") != whole(b, 0, n - 1, "b"), "two items")
    square = sum((rho[x][y] * ((x in (a, b)) and x != y) for x in range(n) for y in range(n)), fmpq(0))
    return square / binomial(n, 2), "==", (sum(rho[a]) + sum(rho[b]) - 1) / fmpq(binomial(n, 2))


@tries
def _(random: Random) -> dict[str, Any]:
    n = random.randint(2, 6)
    rho = [[fmpq(1, 2)] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        rho[i][j] = random.choice([fmpq(0), fmpq(1), fmpq(random.randint(0, 9), 9)])
        rho[j][i] = 1 - rho[i][j]
    a, b = random.sample(range(n), 2)
    return {"rho": rho, "a": a, "b": b}


@says("cai2025:lem-b.1", "P(|d_i − S| > S/2) <= 2 exp(−S/12), S = 2mL/n")
def _(n, draws) -> Sides:
    p, mean = fmpq(2, whole(n, 2, 500, "n")), fmpq(2 * whole(draws, 1, 300, "mL"), n)
    law = (binomial(draws, d) * p**d * (1 - p) ** (draws - d) for d in range(draws + 1) if abs(d - mean) > mean / 2)
    return sum(law, fmpq(0)), "<=", 2 * exp(-mean / 12)


tries(lambda random: {"n": random.choice([2, 3, 5, 30, 500]), "draws": random.randint(1, 300)})


def gradient_tail(n, draws, t) -> fmpq:
    """P(|g| > t) at θ* = 0: each draw adds ±1/2, each with chance 1/n."""
    chance = fmpq(0)
    for won, lost in itertools.product(range(draws + 1), repeat=2):
        if won + lost <= draws and abs(won - lost) > 2 * t:
            ways = binomial(draws, won) * binomial(draws - won, lost)
            chance += ways * fmpq(1, n) ** (won + lost) * (1 - fmpq(2, n)) ** (draws - won - lost)
    return chance


@says("cai2025:lem-b.2:proof", "[corrected] P(|g| > t) <= 2 exp(−t²/(κ1²S/2 + 2κ1 t/3)), θ* = 0, κ1 = 1")
def _(n, draws, t) -> Sides:
    need(rational(t, "t") > 0, "t > 0")
    chance, mean = gradient_tail(whole(n, 2, 10**6, "n"), whole(draws, 1, 40, "mL"), t), fmpq(2 * draws, n)
    return chance, "<=", 2 * exp(-(t**2) / (mean / 2 + fmpq(2, 3) * t))


@tries
def _(random: Random) -> dict[str, Any]:
    draws = random.randint(1, 30)
    t = fmpq(random.randint(1, draws), 2) - random.choice([fmpq(0), fmpq(1, 10**9), fmpq(1, 3)])
    return {"n": random.choice([2, 3, 10, 1000, 10**6]), "draws": draws, "t": t}


@says(
    "cai2025:lem-b.2:proof",
    "[corrected] P(|g| > t given the pairs) <= 2 exp(−t²/(2κ1²S)) if d_i <= 3S/2, θ* = 0, κ1 = 1",
)
def _(n, draws, degree, t) -> Sides:
    mean = fmpq(2 * whole(draws, 1, 10**6, "mL"), whole(n, 2, 10**6, "n"))
    need(rational(t, "t") > 0 and whole(degree, 0, 300, "d") <= 3 * mean / 2, "t > 0, d_i <= 3S/2")
    beyond = sum(binomial(degree, won) for won in range(degree + 1) if abs(2 * won - degree) > 2 * t)
    return fmpq(beyond, 2**degree), "<=", 2 * exp(-(t**2) / (2 * mean))


@tries
def _(random: Random) -> dict[str, Any]:
    degree = random.randint(1, 200)
    t = fmpq(random.randint(1, degree), 2) - random.choice([fmpq(0), fmpq(1, 10**9)])
    return {"n": 3, "draws": degree + random.choice([-1, 0, 1, 5]), "degree": degree, "t": t}


@says("cai2025:lem-b.3", "P(|1ᵀw| > 8λ √(n log n)) <= 2 n^−8")
def _(n) -> Sides:
    """The density of a sum of n Laplace(1), integrated term by term."""
    x = 8 * sqrt(whole(n, 2, 60, "n") * log(n))
    total = arb(0)
    for k in range(n):
        j = n - 1 - k
        weight = fmpq(math.factorial(n - 1 + k), math.factorial(k) * math.factorial(j) * 2**k)
        total += weight * math.factorial(j) * sum(x**i / math.factorial(i) for i in range(j + 1))
    return 2 * exp(-x) * total / (math.factorial(n - 1) * 2**n), "<=", fmpq(2, n**8)


tries(lambda random: {"n": random.randint(1, 60)})


@says("cai2025:lem-b.4:proof", "[corrected] the non-zero eigenvalues == 2/(n − 1); √2 e^(−1/2) <= e^(−1/8)")
def _(n) -> list[Sides]:
    return [(eigenvalue(n), "==", fmpq(2, n - 1)), (sqrt(2) * exp(fmpq(-1, 2)), "<=", exp(fmpq(-1, 8)))]


tries(lambda random: {"n": random.randint(1, 61)})


@says("cai2025:prop-3.1:proof", "[corrected] the density, with the determinant to the power 1, integrates to 1, n = 2")
def _(scale, ridge) -> Sides:
    """One comparison, won by item 0. For given d = t_0 − t_1 the integral over t_0 + t_1 is elementary."""
    scale, ridge = between(scale, 0, 10, "λ"), between(ridge, fmpq(1, 10), 10, "γ")
    low, high = fmpq(0), fmpq(20)  # between them a = γd/2 − (1 − F(d)) changes its sign
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if ridge * middle / 2 < 1 - logistic(middle) else (low, middle)

    def height(d: acb, sign: int) -> acb:
        p = 1 / (1 + (-d).exp())
        a = sign * (ridge * d / 2 - (1 - p))
        return (-2 * a / scale).exp() * (2 * a + scale) * (ridge + 2 * p * (1 - p)) / (4 * scale**2)

    kink, end = arb((low + high) / 2, high - low), 20 + 100 * scale / ridge
    total = integral(lambda d: height(d, -1), -end, kink) + integral(lambda d: height(d, 1), kink, end)
    return total + arb(0, (end + 1) / scale * (ridge + 1) * exp(-80)), "==", 1


tries(lambda random: {"scale": small(random, 10), "ridge": small(random, 10)})
