"""What holds of edge privacy in Cai, Chakraborty and Wang (2025), and attempts to break it: none may succeed."""

import itertools
import random
from collections.abc import Callable

from cai2025_edge import HALF, STATEMENTS, between, overtaken, positive, rates, surprise, win
from exact import Number, Sides, Statements, exp, log, need, rational, sqrt, whole
from flint import arb, arb_mat, fmpq, fmpq_poly

HOLDS = Statements()
says = HOLDS.says
ATTEMPTS: dict[str, Callable[[random.Random], dict]] = {}


def attempt(draw: Callable[[random.Random], dict]) -> Callable[[random.Random], dict]:
    """The draws for the statement that stands last above."""
    ATTEMPTS[list(HOLDS)[-1]] = draw
    return draw


def some(rng: random.Random, low: int, high: int) -> Number:
    """A rational: an edge of the range, just inside or outside of it, or between."""
    low, high, tiny = fmpq(low), fmpq(high), fmpq(1, 10 ** rng.randint(1, 40))
    inside = low + (high - low) * fmpq(rng.randint(0, 10**6), 10**6)
    return rng.choice([low, high, low + tiny, high - tiny, *[inside] * 4, rng.choice([low - tiny, high + tiny])])


def any_size(rng: random.Random) -> Number:
    return fmpq(rng.randint(1, 999), 100) * fmpq(10) ** rng.randint(-6, 6)


def compared(games: list, n: int) -> list:
    """Comparisons [winner, loser], each pair once at most."""
    found = [(whole(a, 0, n - 1, "winner"), whole(b, 0, n - 1, "loser")) for a, b in games]
    need(all(a != b for a, b in found) and len(set(map(frozenset, found))) == len(found), "a pair is compared twice")
    return found


def neighbours(games: list, other: list, n: int) -> tuple[list, list]:
    one, two = compared(games, n), compared(other, n)
    need(len(set(one) - set(two)) == len(set(two) - set(one)) == 1, "no neighbours")
    return one, two


def gradient(games: list, theta: list, ridge: Number) -> list:
    slope = [ridge * it for it in theta]
    for a, b in games:
        slope[a], slope[b] = slope[a] - win(theta[b] - theta[a]), slope[b] + win(theta[b] - theta[a])
    return slope


def log_density(games: list, theta: list, scale: Number, ridge: Number) -> arb:
    """Of Algorithm 1 at θ, but for the constant."""
    n = len(theta)
    hessian = [[arb(ridge) if i == j else arb(0) for j in range(n)] for i in range(n)]
    for a, b in games:
        bend = arb(win(theta[a] - theta[b]) * win(theta[b] - theta[a]))
        for i, j, sign in (a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1):
            hessian[i][j] += sign * bend
    norm = sum((abs(arb(it)) for it in gradient(games, theta, ridge)), arb(0))
    return log(arb_mat(n, n, [it for row in hessian for it in row]).det()) - norm / scale


def two_data_sets(rng: random.Random) -> dict:
    """Data that are often neighbours, and outputs close together and far apart."""
    n = rng.randint(2, 5)
    pairs = [list(rng.sample(it, 2)) for it in itertools.combinations(range(n), 2)]
    games = rng.sample(pairs, rng.randint(1, len(pairs)))
    left = [it for it in pairs if it not in games]
    new = rng.choice(left) if left and rng.random() < 0.7 else games[0][::-1]
    far = rng.choice([1, 10, 60])
    theta = [rng.choice([fmpq(0), fmpq(rng.randint(-100, 100) * far, 100)]) for _ in range(n)]
    return {"games": games, "other": [new, *games[1:]], "theta": theta}


@says("cai2025:prop-2.1", "log f_y(t)/f_y′(t) <= ε, λ >= 8κ₁/ε, γ >= 4κ₂/ε, κ₁ > 1, κ₂ > 1/4")
def _(
    games: list,
    other: list,
    theta: list,
    epsilon: Number,
    kappa_1: Number,
    kappa_2: Number,
    scale: Number,
    ridge: Number,
) -> Sides:
    one, two = neighbours(games, other, len(theta))
    need(rational(kappa_1, "κ₁") > 1 and rational(kappa_2, "κ₂") > fmpq(1, 4) and positive(epsilon) <= 100, "κ or ε")
    need(scale >= 8 * kappa_1 / epsilon and ridge >= 4 * kappa_2 / epsilon, "too little noise or ridge")
    return log_density(one, theta, scale, ridge) - log_density(two, theta, scale, ridge), "<=", epsilon


@attempt
def _(rng: random.Random) -> dict:
    epsilon, kappa_1, kappa_2 = any_size(rng), 1 + fmpq(1, 10**9), fmpq(1, 4) + fmpq(1, 10**9)
    least = 8 * kappa_1 / epsilon, 4 * kappa_2 / epsilon
    scale, ridge = (it * rng.choice([fmpq(1, 2), fmpq(1), fmpq(1), fmpq(1), 1 + any_size(rng)]) for it in least)
    given = {"epsilon": epsilon, "kappa_1": kappa_1, "kappa_2": kappa_2, "scale": scale, "ridge": ridge}
    return two_data_sets(rng) | given


@says("cai2025:prop-2.1:proof", "|‖∇R(t; y)‖₁ − ‖∇R(t; y′)‖₁| <= 4κ₁, κ₁ = 1")
def _(games: list, other: list, theta: list, ridge: Number) -> Sides:
    sizes = [
        sum((abs(arb(it)) for it in gradient(data, theta, positive(ridge))), arb(0))
        for data in neighbours(games, other, len(theta))
    ]
    return abs(sizes[0] - sizes[1]), "<=", 4


@attempt
def _(rng: random.Random) -> dict:
    return two_data_sets(rng) | {"ridge": any_size(rng)}


@says("cai2025:alg-2", "‖N − N′‖₁ <= 2")
def _(games: list, other: list, n: int) -> Sides:
    one, two = neighbours(games, other, whole(n, 2, 9, "n"))
    return sum(abs(sum(a == i for a, _ in one) - sum(a == i for a, _ in two)) for i in range(n)), "<=", 2


@attempt
def _(rng: random.Random) -> dict:
    given = two_data_sets(rng)
    extra = [rng.sample(range(5), 2)] if rng.random() < 0.3 else []
    return {"games": given["games"] + extra, "other": given["other"], "n": max(5, len(given["theta"]))}


@says("cai2025:prop-2.2:distance", "γ‖θ* − θ̃‖₂² <= ∇R̃(θ*)·(θ* − θ̃), noise −∇R(θ̃)")
def _(games: list, truth: list, found: list, ridge: Number) -> Sides:
    data, ridge = compared(games, len(truth)), positive(ridge)
    slopes = [gradient(data, it, ridge) for it in (truth, found)]
    moved = [a - b for a, b in zip(truth, found, strict=True)]
    along = sum((a - b) * c for a, b, c in zip(*slopes, moved, strict=True))
    return ridge * sum(it**2 for it in moved), "<=", along


@attempt
def _(rng: random.Random) -> dict:
    given = two_data_sets(rng)
    found = [it if rng.random() < 0.3 else -it for it in given["theta"]]
    return {"games": given["games"], "truth": given["theta"], "found": found, "ridge": any_size(rng)}


@says("cai2025:sec-2.2.2:attack-sum", "Σ_k A_12^(k) == ⟨M − θ, ∂ log f_θ(y_12)/∂θ⟩, y_ki − F_ki in the third case")
def _(theta: list, estimate: list, won: int) -> Sides:
    first, second = (rational(a, "estimate") - between(-1, b, 1) for a, b in zip(estimate, theta, strict=True))
    gap = theta[0] - theta[1]
    return first * surprise(won, gap) + second * surprise(1 - won, -gap), "==", (first - second) * surprise(won, gap)


@attempt
def _(rng: random.Random) -> dict:
    theta, estimate = ([some(rng, -1, 1), some(rng, -1, 1)] for _ in range(2))
    return {"theta": theta, "estimate": estimate, "won": rng.randint(0, 1)}


@says("cai2025:prop-2.3:proof", "|A_12^(1)| <= 2κ₁ where ‖M − θ‖∞ <= 2, F(x) = 1/(1 + e^(−κ₁x))")
def _(theta: list, estimate: Number, kappa_1: Number, won: int) -> Sides:
    gap, s = between(-1, theta[0], 1) - between(-1, theta[1], 1), positive(kappa_1)
    off = between(theta[0] - 2, estimate, theta[0] + 2) - theta[0]
    return abs(off * surprise(won, s * gap) * s), "<=", 2 * s


@attempt
def _(rng: random.Random) -> dict:
    theta = [some(rng, -1, 1), some(rng, -1, 1)]
    return {"theta": theta, "estimate": theta[0] + some(rng, -2, 2), "kappa_1": any_size(rng), "won": rng.randint(0, 1)}


@says("cai2025:sec-2.3.2:inclusion", "sup over {gap >= c(a + b)} of P(err) >= the lesser of those over 2ca and 2cb")
def _(c: Number, epsilon: Number) -> Sides:
    key = next(it for it in STATEMENTS if it.startswith("cai2025:sec-2.3.2:inclusion |"))
    return STATEMENTS[key](c=c, c_1=2 * c, c_2=2 * c, epsilon=epsilon)[0]


@attempt
def _(rng: random.Random) -> dict:
    return {"c": some(rng, 0, 1) / 5, "epsilon": any_size(rng)}


@says("cai2025:lem-a.1:proof", "‖∇L(θ)‖₂ <= κ₁ √n max_i |Σ_j F_ij − y_ij|, F logistic, κ₁ > 1")
def _(games: list, theta: list, kappa_1: Number) -> Sides:
    need(rational(kappa_1, "κ₁") > 1, "κ₁")
    slope = gradient(compared(games, len(theta)), theta, 0)
    most = arb(0)
    for it in slope:
        most = most.max(abs(arb(it)))
    return sqrt(sum((arb(it) ** 2 for it in slope), arb(0))), "<=", kappa_1 * sqrt(len(theta)) * most


@attempt
def _(rng: random.Random) -> dict:
    given = two_data_sets(rng)
    return {"games": given["games"], "theta": given["theta"], "kappa_1": some(rng, 1, 2)}


@says("cai2025:lem-a.2:proof", "P(Σ w_i > t) <= exp(−t²/(8nλ²)) for 0 < t <= 3.5 nλ, w_i Laplace(λ), n = 2")
def _(t: Number, scale: Number) -> Sides:
    need(positive(t) <= 7 * positive(scale), "t is above 3.5 nλ")
    return overtaken(t, scale), "<=", exp(-(t**2) / (16 * fmpq(scale) ** 2))


@attempt
def _(rng: random.Random) -> dict:
    scale = any_size(rng)
    return {"t": some(rng, 0, 7) * scale, "scale": scale}


@says("cai2025:thm-2.3:proof", "P(N_a − N_b <= E(N_a − N_b) − C √(np log n)) <= n^(−C²/4) in the class of C")
def _(n: int, c: Number, p: Number, epsilon: Number) -> Sides:
    p, c, epsilon = positive(p, 1), positive(c), positive(epsilon)
    need(c * sum(rates(whole(n, 2, 300, "n"), p, epsilon)) <= HALF and p.q <= 100, "C is too large, or p too long")
    step = fmpq_poly([(1 - p) * p / 2, p * p / 2 + (1 - p) * (1 - p / 2), p * (1 - p / 2)])
    law = step ** (n - 2) * fmpq_poly([1 - p, p])
    least = n * p / 2 - c * sqrt(n * p * log(n))
    wrong = sum((it for d, it in enumerate(law.coeffs(), 2 - n) if d <= least), fmpq(0))
    return wrong, "<=", exp(-(c**2) / 4 * log(n))


@attempt
def _(rng: random.Random) -> dict:
    n, p, epsilon = rng.choice([2, 3, 10, 29, 100, 300]), fmpq(rng.randint(1, 20), 20), fmpq(10) ** rng.randint(-1, 6)
    most = HALF / sum(rates(n, p, epsilon))
    largest = (most * 10**9).floor().unique_fmpz()
    share = rng.choice([fmpq(1), fmpq(1, 2), fmpq(1, 10), fmpq(1001, 1000)])
    return {"n": n, "c": fmpq(int(largest), 10**9) * share, "p": p, "epsilon": epsilon}


@says("cai2025:thm-a.1:proof", "0.9M(M − 1)q/(1 + (M − 1)q) >= 0.45 min(M, M(M − 1)q), q = e^(−10εD)")
def _(laws: int, epsilon: Number, moved: Number) -> Sides:
    share = (whole(laws, 2, 10**9, "M") - 1) * exp(-10 * positive(epsilon) * between(0, moved, 10**9))
    return fmpq(9, 10) * laws * share / (1 + share), ">=", fmpq(45, 100) * laws * share.min(arb(1))


@attempt
def _(rng: random.Random) -> dict:
    laws = rng.choice([2, 2, 3, 10**9])
    return {"laws": laws, "epsilon": any_size(rng), "moved": rng.choice([fmpq(0), any_size(rng)])}


@says("cai2025:sec-2.1:top-k", "size of a top set, ties broken, less k == 0")
def _(tau: list, k: int) -> Sides:
    ordered = sorted(range(len(tau)), key=lambda i: -between(0, tau[i], 1))
    return len(ordered[: whole(k, 1, len(tau), "k")]) - k, "==", 0


@attempt
def _(rng: random.Random) -> dict:
    n = rng.randint(1, 6)
    return {"tau": [fmpq(rng.randint(0, 2), 2) for _ in range(n)], "k": rng.randint(0, n + 1)}


@says("cai2025:sec-2.1:same-order", "τ₁ − τ₂ > 0 where θ₁ > θ₂, F strictly increasing")
def _(theta: list) -> Sides:
    need(len(theta) <= 6 and between(-100, theta[0], 100) > between(-100, theta[1], 100), "the order")
    tau = [sum(win(it - between(-100, other, 100)) for other in theta) for it in theta[:2]]
    return tau[0] - tau[1], ">", 0


@attempt
def _(rng: random.Random) -> dict:
    return {"theta": [some(rng, -30, 30) for _ in range(rng.randint(2, 6))]}
