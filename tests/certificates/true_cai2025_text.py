"""What holds near what Cai, Chakraborty and Wang (2025) print in words and in single lines: none may be refuted."""

import itertools
import random
from collections.abc import Callable

from cai2025_edge import positive, rates, win
from cai2025_individual import K1, K2, preferences
from cai2025_text import far_apart, guessed, lower, seen
from exact import Number, Sides, Statements, exp, log, need, rational, sqrt, whole
from flint import arb, fmpq

HOLDS = Statements()
says = HOLDS.says
ATTEMPTS: dict[str, Callable[[random.Random], dict]] = {}


def attempt(draw: Callable[[random.Random], dict]) -> Callable[[random.Random], dict]:
    """The draws for the statement that stands last above."""
    ATTEMPTS[list(HOLDS)[-1]] = draw
    return draw


def any_size(rng: random.Random, low: int = -6, high: int = 6) -> Number:
    return fmpq(rng.randint(1, 999), 100) * fmpq(10) ** rng.randint(low, high)


def near_one(rng: random.Random) -> Number:
    """Between 0 and 1, often next to an end."""
    tiny = fmpq(1, 10 ** rng.randint(1, 30))
    return rng.choice([tiny, 1 - tiny, fmpq(rng.randint(1, 99), 100)])


def some_matrix(rng: random.Random) -> list[list[Number]]:
    """Chances that are often 0, 1 or 1/2, and at times no chances at all."""
    n = rng.randint(2, 6)
    rho = [[fmpq(1, 2)] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        rho[i][j] = rng.choice([fmpq(0), fmpq(1), fmpq(1, 2), fmpq(rng.randint(0, 100), 100), near_one(rng)])
        rho[j][i] = 1 - rho[i][j] + (rng.random() < 1 / 50)
    return rho


def averages(rho: list) -> list[Number]:
    return [sum(row) / fmpq(len(row)) for row in rho[: preferences(rho)]]


# ---------------------------------------------------------------- rankings by averages


@says("cai2025:sec-1:prevail", "[corrected] the first by τ beats some item with chance 1/2 or more")
def _(rho: list) -> Sides:
    tau = averages(rho)
    first = tau.index(max(tau))
    return max(it for j, it in enumerate(rho[first]) if j != first), ">=", fmpq(1, 2)


attempt(lambda rng: {"rho": some_matrix(rng)})


@says("cai2025:sec-2.3.2:full-ranking", "[corrected] the least gap of τ <= 1/n")
def _(rho: list) -> Sides:
    return min(b - a for a, b in itertools.pairwise(sorted(averages(rho)))), "<=", fmpq(1, len(rho))


@attempt
def _(rng: random.Random) -> dict:
    """The better always wins, but for one pair now and then: 1/n is attained."""
    n = rng.randint(2, 9)
    rho = [[fmpq((i < j) * 2 + (i == j), 2) for j in range(n)] for i in range(n)]
    if rng.random() < 0.5:
        i, j = sorted(rng.sample(range(n), 2))
        rho[i][j] = near_one(rng)
        rho[j][i] = 1 - rho[i][j]
    return rng.choice([{"rho": rho}, {"rho": some_matrix(rng)}])


@says("cai2025:sec-3.3:no-algorithm", "[corrected] largest P(S ≠ S_k) >= 1/10 of two ρ, the second with a, b exchanged")
@says(
    "cai2025:sec-2.3.1:no-algorithm", "[corrected] largest P(S ≠ S_k) >= 1/10 of two ρ, the second with a, b exchanged"
)
def _(rho: list, guess: list, a: int, b: int) -> Sides:
    tau, k = averages(rho), len(set(guess))
    need(0 < k < len(tau) and set(guess) <= set(range(len(tau))), "0 < k < n items")
    order = sorted(range(len(tau)), key=lambda i: -tau[i])
    need(tau[order[k - 1]] > tau[order[k]] and a in order[:k] and b in order[k:], "a unique top set, a in it and b not")
    tops = [set(order[:k]), set(order[:k]) ^ {a, b}]
    return max(int(set(guess) != it) for it in tops), ">=", fmpq(1, 10)


def named_set(rng: random.Random) -> dict:
    """Often the top set itself."""
    rho = some_matrix(rng)
    n = len(rho)
    k, order = rng.randint(1, n), sorted(range(n), key=lambda i: -sum(rho[i]))
    guess = rng.choice([order[:k], rng.sample(range(n), k)])
    return {"rho": rho, "guess": guess, "a": rng.choice(order[:k]), "b": order[-1]}


attempt(named_set)
ATTEMPTS[list(HOLDS)[-2]] = named_set


# ---------------------------------------------------------------- what privacy prevents, and what it costs


@says("cai2025:sec-1.1:presence", "[corrected] P(right guess which of two) <= e^ε/(1 + e^ε), any ε-private output")
def _(p: list, q: list, epsilon: Number) -> Sides:
    growth = exp(positive(epsilon, 20))
    told = guessed(p, q)
    need(all(bool(a <= growth * b) and bool(b <= growth * a) for a, b in zip(p, q, strict=True)), "it is not private")
    return told, "<=", growth / (1 + growth)


@attempt
def _(rng: random.Random) -> dict:
    """Close to the bound: two outcomes, one e^ε times as likely for the one as the other for it."""
    epsilon = fmpq(rng.randint(1, 40), 10)
    share = fmpq(int((exp(epsilon) / (1 + exp(epsilon)) * 10**12).mid().floor().unique_fmpz()), 10**12)
    laws = [[share, 1 - share], [1 - share, share]]
    if rng.random() < 0.5:
        laws[rng.randrange(2)] = [fmpq(1, 2), fmpq(1, 2)]
    return {"p": laws[0], "q": laws[1], "epsilon": epsilon}


@says(
    "cai2025:sec-1.1:presence",
    "[corrected] exchanges of a comparison leave P(right guess) == 1/2 by their number alone",
)
def _(n: int, data: list, other: list, release: list) -> Sides:
    need(seen(data, n) == seen(other, n), "no exchange")
    return guessed(release[seen(data, n)], release[seen(other, n)]), "==", fmpq(1, 2)


@attempt
def _(rng: random.Random) -> dict:
    pairs = [list(it) for it in itertools.combinations(range(4), 2)]
    size = rng.randint(1, 6)
    laws = [[near_one(rng)] for _ in range(7)]
    data, other = rng.sample(pairs, size), rng.sample(pairs, max(1, size - (rng.random() < 0.1)))
    return {"n": 4, "data": data, "other": other, "release": [[it, 1 - it] for (it,) in laws]}


@says("cai2025:sec-1.1:likelihood", "[corrected] L + (γ/2)‖θ‖² at (x, −x) < at (−x, x), L of (2.1), 0 won, x > 0")
def _(x: Number, ridge: Number) -> Sides:
    level = positive(ridge) * positive(x, 100) ** 2
    return level - log(win(2 * x)), "<", level - log(win(-2 * x))


attempt(lambda rng: {"x": any_size(rng, -9, 1), "ridge": any_size(rng)})


@says(
    "cai2025:sec-1.1:optimal",
    "[corrected] (2.6) <= (1 + (log n)^(1/4)/√(c₁c₂)) (2.10), npε >= c₁ log n, ε√(log n) >= c₂",
)
def _(n: int, p: Number, epsilon: Number, c_1: Number, c_2: Number) -> Sides:
    size, mean = log(whole(n, 2, 10**60, "n")), n * positive(p, 1)
    need(bool(mean * positive(epsilon, 1) >= positive(c_1) * size), "npε >= c₁ log n")
    need(bool(epsilon * sqrt(size) >= positive(c_2)), "ε >= c₂/√(log n)")
    first, second = rates(n, p, epsilon)
    return first + second, "<=", (1 + sqrt(sqrt(size)) / sqrt(c_1 * c_2)) * (first + second / size)


@attempt
def _(rng: random.Random) -> dict:
    n, epsilon, c_1 = 10 ** rng.randint(1, 60), near_one(rng), any_size(rng, -2, 2)
    p = rng.choice([near_one(rng), fmpq(int(c_1 * 140 / epsilon) + 1, n)])
    return {"n": n, "p": p, "epsilon": epsilon, "c_1": c_1, "c_2": epsilon * rng.choice([1, 3, 11])}


@says(
    "cai2025:sec-5:divergence",
    "[corrected] rate of edge privacy at n′ > that at n, the same number of comparisons, n′ > n",
)
def _(few: int, many: int, comparisons: int, epsilon: Number) -> Sides:
    need(2 <= whole(few, 2, 10**9, "n") < whole(many, 3, 10**9, "n′"), "n′ > n")
    shares = [fmpq(2 * whole(comparisons, 1, few * (few - 1) // 2, "comparisons"), n * (n - 1)) for n in (few, many)]
    one, other = (sum(rates(n, p, positive(epsilon, 1))) for n, p in zip((few, many), shares, strict=True))
    return other, ">", one


@attempt
def _(rng: random.Random) -> dict:
    few = rng.randint(2, 10 ** rng.randint(1, 6))
    many = few + rng.choice([0, 1, 1, 2, 10**6])
    return {"few": few, "many": many, "comparisons": rng.randint(1, few * (few - 1) // 2), "epsilon": near_one(rng)}


# ---------------------------------------------------------------- lines of proofs


@says("cai2025:eq-a.18", "[corrected] η λ √(18 n log n) <= √(log n/p), η = 1/(c₀ √(np log n) + 3κ2np), np >= λ²")
def _(n: int, p: Number, scale: Number, kappa_2: Number, c_0: Number) -> Sides:
    mean = whole(n, 2, 10**60, "n") * positive(p, 1)
    need(rational(kappa_2, "κ2") >= K2 and mean >= positive(scale) ** 2, "κ2 or np is too small")
    step = 1 / (positive(c_0) * sqrt(mean * log(n)) + 3 * kappa_2 * mean)
    return step * scale * sqrt(18 * n * log(n)), "<=", sqrt(log(n) / p)


@attempt
def _(rng: random.Random) -> dict:
    n, scale = 10 ** rng.randint(1, 60), fmpq(rng.randint(1, 10**6))
    p = min(fmpq(1), rng.choice([scale**2 / n, near_one(rng)]))
    return {"n": n, "p": p, "scale": scale, "kappa_2": fmpq(K2), "c_0": any_size(rng)}


@says("cai2025:eq-a.23", "[corrected] 1 − η(γ + κ1²np/4) == (3κ2 − κ1²/4)np/(γ + 3κ2np) > 0, γ = c₀ √(np log n)")
def _(n: int, p: Number, kappa: list, c_0: Number) -> list[Sides]:
    left, above, ridge, mean = lower(n, p, kappa, c_0)
    need(3 * kappa[1] > kappa[0] ** 2 / 4, "κ2 > κ1²/12")
    return [(left, "==", above / (ridge + 3 * kappa[1] * mean)), (left, ">", 0)]


@attempt
def _(rng: random.Random) -> dict:
    kappa = [1 + any_size(rng, -9, 1), K2 * (1 + near_one(rng))]
    return {"n": 10 ** rng.randint(1, 9), "p": near_one(rng), "kappa": kappa, "c_0": any_size(rng)}


@says("cai2025:eq-a.23", "[corrected] 1 − η(γ + κ1²np/4) > 0, κ2 > κ1²/12")
def _(n: int, p: Number, kappa: list, c_0: Number) -> Sides:
    need(3 * kappa[1] > kappa[0] ** 2 / 4, "κ2 > κ1²/12")
    return lower(n, p, kappa, c_0)[0], ">", 0


attempt(ATTEMPTS[list(HOLDS)[-2]])


@says(
    "cai2025:eq-a.33",
    "[corrected] log of 2 exp(−t²/(2ΣE B_j² + (2/3)(…)t)) <= log 2 − 8 log n, C >= 4, np >= (3/2) log n",
)
def _(n: int, p: Number, kappa_1: Number, off: Number, c: Number) -> Sides:
    need(rational(c, "C") >= 4 and bool(2 * n * p >= 3 * log(n)), "C or np is too small")
    return far_apart(n, p, kappa_1, off, c, -1), "<=", log(2) - 8 * log(n)


@attempt
def _(rng: random.Random) -> dict:
    n = 10 ** rng.randint(1, 50)
    p = min(
        fmpq(1), rng.choice([near_one(rng), fmpq(int((fmpq(3, 2) * log(n) * 10**6).ceil().unique_fmpz()), n * 10**6)])
    )
    off = rng.choice([fmpq(1), any_size(rng, -6, -1), fmpq(4)])
    return {"n": n, "p": p, "kappa_1": 1 + any_size(rng, -9, 0), "off": off, "c": 4 + rng.choice([0, near_one(rng)])}


@says("cai2025:sec-b.2:optimization", "[corrected] −T log(1 − ηγ) >= n², T = ⌈(c₀ + 3κ2)n³/c₀⌉, log n <= S <= n² log n")
def _(n: int, mean: int, c_0: int) -> Sides:
    log_n = log(whole(n, 2, 10**9, "n"))
    need(bool(whole(mean, 1, 10**30, "S") <= n**2 * log_n) and bool(mean >= log_n), "S <= n² log n")
    ridge = whole(c_0, 1, 100, "c₀") * sqrt(mean * log_n)
    steps = -((-(c_0 + 3 * K2) * n**3) // c_0)
    return -steps * log(1 - ridge / (ridge + 3 * K2 * mean)), ">=", n**2


@attempt
def _(rng: random.Random) -> dict:
    n = rng.randint(2, 10 ** rng.randint(1, 6))
    most = int((n**2 * arb(n).log()).mid().floor().unique_fmpz())
    return {"n": n, "mean": rng.choice([most, most + 1, rng.randint(1, most)]), "c_0": rng.randint(1, 100)}


@says("cai2025:sec-b.2:final", "[corrected] log n/n <= √(log n/S) + Lλ log n/S, S <= n²/log n")
def _(n: int, mean: int, epsilon: Number) -> Sides:
    log_n = log(whole(n, 2, 10**30, "n"))
    need(bool(whole(mean, 1, 10**60, "S") * log_n <= n**2), "S <= n²/log n")
    return log_n / n, "<=", sqrt(log_n / mean) + 8 * K1 / positive(epsilon, 1) * log_n / mean


@attempt
def _(rng: random.Random) -> dict:
    n = rng.randint(2, 10 ** rng.randint(1, 30))
    most = int((n**2 / arb(n).log()).mid().floor().unique_fmpz())
    return {"n": n, "mean": rng.choice([most, most + 1, rng.randint(1, most)]), "epsilon": near_one(rng)}
