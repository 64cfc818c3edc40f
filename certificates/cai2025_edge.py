"""What Cai, Chakraborty and Wang (2025) print of edge privacy: Section 2, Appendix A and Section 4.1.

Items are numbered from 0. A comparison is [winner, loser]; each pair is compared once at most. Unless it says otherwise
the link F is logistic: then F'/(F(1 − F)) = 1, which is below every κ₁ > 1, and sup (−log F)'' = 1/4.
"""

import itertools
import math
from collections.abc import Iterator

from exact import (
    Number,
    Sides,
    Statements,
    exp,
    integral,
    laplace_cdf,
    log,
    need,
    rational,
    sqrt,
    whole,
)
from flint import arb, arb_mat, arb_poly, fmpq, fmpq_poly

STATEMENTS = Statements()
says = STATEMENTS.says
Games = list[tuple[int, int]]


def numbers(value: list, least: int, most: int, name: str) -> list[fmpq]:
    """From 2 to 8 rationals within bounds."""
    need(isinstance(value, list) and 2 <= len(value) <= 8, f"{name} must hold 2 to 8 numbers")
    found = [rational(it, name) for it in value]
    need(all(least <= it <= most for it in found), f"{name} must lie between {least} and {most}")
    return found


def positive(value: Number, name: str, most: int = 10**9) -> fmpq:
    need(0 < rational(value, name) <= most, f"{name} must be positive, at most {most}")
    return fmpq(value)


def compared(value: list, n: int) -> Games:
    need(isinstance(value, list) and all(isinstance(it, list) and len(it) == 2 for it in value), "[winner, loser]")
    games = [(whole(a, 0, n - 1, "winner"), whole(b, 0, n - 1, "loser")) for a, b in value]
    need(all(a != b for a, b in games) and len(set(map(frozenset, games))) == len(games), "a pair is compared twice")
    return games


def adjacent(games: Games, other: Games) -> None:
    need(len(set(games) - set(other)) == len(set(other) - set(games)) == 1, "no edge neighbours")


def logistic(x: Number) -> Number:
    return fmpq(1, 2) if x == 0 else 1 / (1 + exp(-x))


def gradient(games: Games, theta: list, ridge: Number) -> list:
    """∇R: of the negative log-likelihood plus (γ/2)‖θ‖²."""
    slope = [ridge * it for it in theta]
    for a, b in games:
        upset = logistic(theta[b] - theta[a])
        slope[a], slope[b] = slope[a] - upset, slope[b] + upset
    return slope


def determinant(games: Games, theta: list, ridge: Number) -> arb:
    """det ∇²R."""
    n = len(theta)
    rows = [[ridge if i == j else fmpq(0) for j in range(n)] for i in range(n)]
    for a, b in games:
        curvature = logistic(theta[a] - theta[b]) * logistic(theta[b] - theta[a])
        for i, j, sign in (a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1):
            rows[i][j] = rows[i][j] + sign * curvature
    return arb_mat(n, n, [arb(it) for row in rows for it in row]).det()


def both_larger(x: Number, scale: Number) -> arb:
    """P(W₁ − W₂ > x) of two Laplace variables."""
    beyond = exp(-abs(x) / scale) * (1 + abs(x) / (2 * scale)) / 2
    return beyond if x >= 0 else 1 - beyond


def terms(n: int, p: Number, epsilon: Number) -> tuple[arb, arb]:
    """√(log n/(np)) and log n/(npε)."""
    return sqrt(log(n) / (n * p)), log(n) / (n * p * epsilon)


def least_risk(theta: list, other: list) -> Number:
    """What no estimate beats at both strengths: half their distance times 1 − TV of all outcomes at p = 1 (Le Cam)."""
    pairs = list(itertools.combinations(range(len(theta)), 2))
    need(len(theta) == len(other) <= 4, "two vectors of at most 4 strengths")
    apart: Number = fmpq(0)
    for won in itertools.product((1, -1), repeat=len(pairs)):
        law = [math.prod(logistic(s * (t[i] - t[j])) for s, (i, j) in zip(won, pairs, strict=True)) for t in (theta, other)]
        apart += abs(law[0] - law[1]) / 2
    return max(abs(a - b) for a, b in zip(theta, other, strict=True)) / 2 * (1 - apart)


# ---------------------------------------------------------------- Section 2


@says("cai2025:sec-2.1:top-k", "[read as: tied items are all in] |S_k| − k == 0")
def _(rho: list, k: int) -> Sides:
    n = len(rho)
    chance = [numbers(row, 0, 1, "rho") for row in rho]
    need(all(len(row) == n for row in chance), "rho is no square")
    need(all(chance[i][j] + chance[j][i] == 1 for i in range(n) for j in range(n)), "rho + rho' is not 1")
    tau = [sum(row) / n for row in chance]
    return sum(it >= sorted(tau)[-whole(k, 1, n, "k")] for it in tau) - k, "==", 0


@says("cai2025:sec-2.1:same-order", "[read as: flat pieces allowed] τ_1 − τ_2 > 0 where θ_1 > θ_2")
def _(theta: list, flat: Number) -> Sides:
    theta, flat = numbers(theta, -100, 100, "theta"), rational(flat, "flat")
    need(flat >= 0 and theta[0] > theta[1], "flat or the order of theta")

    def link(x: fmpq) -> fmpq:  # 1/2 up to `flat`, then of slope 1 up to 1; F(x) = 1 − F(−x)
        beyond = min(max(abs(x) - flat, fmpq(0)), fmpq(1, 2))
        return fmpq(1, 2) + (beyond if x > 0 else -beyond)

    first, second = (sum(link(it - other) for other in theta) / len(theta) for it in theta[:2])
    return first - second, ">", 0


@says(
    "cai2025:sec-2.2:rank-all",
    "P(θ̃ ranks the first two wrongly) <= C n^(−5), gaps θ_(k) − θ_(k+1) = c(√(log n/(np)) + log n/(npε)) for all k, p = 1",
)
def _(sizes: list, c: Number, constant: Number, kappa_1: Number, epsilon: Number) -> Iterator[Sides]:
    # at p = 1 the estimate ranks by N − w: Σ_j F(θ̃_i − θ̃_j) + γθ̃_i, which rises in θ̃_i, is N_i − w_i and a constant
    c, constant, kappa_1 = positive(c, "c"), positive(constant, "constant"), positive(kappa_1, "kappa_1")
    epsilon = rational(epsilon, "epsilon")
    need(kappa_1 > 1 and 0 < epsilon < 1, "kappa_1 or epsilon")
    for n in sizes:
        gap = c * sum(terms(whole(n, 2, 100, "n"), 1, epsilon))
        law = arb_poly([logistic(-gap), 0, logistic(gap)])  # of N_1 − N_2, from −n + 1 on
        for j in range(2, n):
            first, second = logistic(j * gap), logistic((j - 1) * gap)
            law *= arb_poly([(1 - first) * second, first * second + (1 - first) * (1 - second), first * (1 - second)])
        wrong = (chance * both_larger(i - n + 1, 8 * kappa_1 / epsilon) for i, chance in enumerate(law))
        yield sum(wrong, arb(0)), "<=", constant / n**5


def attack(theta: list, estimate: Number, games: Games, k: int) -> tuple[Number, Number]:
    """Σ_(i<j) A_ij^(k) as printed, and (M_k − θ_k) ∂/∂θ_k log f_θ(Y)."""
    printed, score = fmpq(0), fmpq(0)
    for a, b in games:
        i, j = min(a, b), max(a, b)
        if k in (i, j):
            printed += int(a == i) - logistic(theta[i] - theta[j])
            score += int(a == k) - logistic(theta[k] - theta[i + j - k])
    return (estimate - theta[k]) * printed, (estimate - theta[k]) * score


@says("cai2025:sec-2.2.2:attack-sum", "Σ_k A_ij^(k) == ⟨M − θ, ∂ log f_θ(y_ij)/∂θ⟩")
def _(theta: list, estimate: list, game: list) -> Sides:
    theta, estimate = numbers(theta, -1, 1, "theta"), numbers(estimate, -100, 100, "estimate")
    need(len(theta) == len(estimate), "theta and estimate must be of one length")
    each = [attack(theta, it, compared([game], len(theta)), k) for k, it in enumerate(estimate)]
    return sum(it for it, _ in each), "==", sum(it for _, it in each)


@says("cai2025:prop-2.4:proof", "Σ_(i<j) A_ij^(k) == (M_k − θ_k) ∂ log f_θ(Y)/∂θ_k")
def _(theta: list, estimate: Number, games: list, k: int) -> Sides:
    theta = numbers(theta, -1, 1, "theta")
    k, games = whole(k, 0, len(theta) - 1, "k"), compared(games, len(theta))
    printed, score = attack(theta, rational(estimate, "estimate"), games, k)
    return printed, "==", score


@says("cai2025:prop-2.3:proof", "|A_ij^(k)| <= 2 where ‖M − θ‖∞ <= 2, F(x) = 1/(1 + e^(−sx))")
def _(theta: list, estimate: Number, steepness: Number, won: int) -> Sides:
    theta, steepness, estimate = numbers(theta, -1, 1, "theta"), positive(steepness, "s"), rational(estimate, "estimate")
    need(len(theta) == 2 and abs(estimate - theta[0]) <= 2, "two items, of which the first is at most 2 off")
    surprise = whole(won, 0, 1, "won") - logistic(steepness * (theta[0] - theta[1]))
    return abs((estimate - theta[0]) * surprise * steepness), "<=", 2


@says("cai2025:sec-2.2.2:nonprivate-rate", "inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞ <= C √(log n/(np))")
def _(sizes: list, p: Number, constant: Number, low: Number, high: Number) -> Iterator[Sides]:
    low, high = numbers([low, high], -1, 1, "strengths")  # of all items: then each beats each with chance 1/2
    p, constant = positive(p, "p", 1), positive(constant, "constant")
    for n in sizes:
        yield abs(high - low) / 2, "<=", constant * terms(whole(n, 2, 10**30, "n"), p, 1)[0]


@says(
    "cai2025:sec-2.2.2:nonprivate-rate",
    "[corrected, attained] inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞ >= 1, which the estimate 0 attains",
)
def _(theta: list, other: list) -> Sides:
    return least_risk(numbers(theta, -1, 1, "theta"), numbers(other, -1, 1, "other")), ">=", 1


@says("cai2025:prop-2.4", "[says something: there is such an M] inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞ < c = 1/4")
def _(theta: list, other: list) -> Sides:
    return least_risk(numbers(theta, -1, 1, "theta"), numbers(other, -1, 1, "other")), "<", fmpq(1, 4)


@says(
    "cai2025:thm-2.2",
    "[says something: privacy costs] sup_(‖θ‖∞ <= 1) ‖0 − θ‖∞ − inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞ > 0, M without privacy",
)
def _(theta: list, other: list) -> Sides:
    return 1 - least_risk(numbers(theta, -1, 1, "theta"), numbers(other, -1, 1, "other")), ">", 0


@says("cai2025:sec-2.3.1:rank-all", "[says something: some ρ has all the gaps] n C √(log n/(np)) <= 1, C large")
def _(sizes: list, p: Number, constant: Number) -> Iterator[Sides]:
    need(rational(constant, "C") >= 1, "C must be large")
    for n in sizes:  # τ_(1) − τ_(n) <= (n − 1)/n, so that some gap is at most 1/n
        yield n * constant * terms(whole(n, 2, 10**30, "n"), positive(p, "p", 1), 1)[0], "<=", 1


@says(
    "cai2025:sec-2.3.2:inclusion",
    "[as an inference] Θ = {gap >= c(a + b)} lies in {gap >= c₁a} ∪ {gap >= c₂b}, so sup_Θ P(error) >= min of their sups",
)
def _(c: Number, c_1: Number, c_2: Number, epsilon: Number) -> Sides:
    c, c_1, c_2, epsilon = (positive(it, "c or epsilon") for it in (c, c_1, c_2, epsilon))
    a, b = terms(2, 1, epsilon)
    gaps = c * (a + b), c_1 * a, c_2 * b
    need(all(it <= fmpq(1, 2) for it in gaps), "a class is empty")
    need(gaps[0] >= gaps[1] or gaps[0] >= gaps[2], "Θ is not in the union")

    def error(gap: arb) -> arb:  # of Algorithm 2 on 2 items, falling in the gap: ρ = 1/2 + gap, N_1 − N_2 = ±1
        right = both_larger(1, 2 / epsilon)
        return (fmpq(1, 2) + gap) * right + (fmpq(1, 2) - gap) * (1 - right)

    whole_class, *parts = map(error, gaps)
    return whole_class, ">=", parts[0].min(parts[1])


# ---------------------------------------------------------------- Appendix A


@says("cai2025:prop-2.1:proof", "∫ (2λ)^(−n) exp(−‖∇R(t)‖₁/λ) / det ∇²R(t) dt == 1, 2 items, one comparison")
def _(scale: Number, ridge: Number) -> Sides:
    # x = t₁ − t₂: the integral over t₁ + t₂ leaves (|D| + λ) e^(−|D|/λ) / (γ² (γ + 2F(1 − F))), D = γx − 2(1 − F(x))
    scale, ridge = positive(scale, "scale", 100), positive(ridge, "ridge", 100)
    low, high, far = fmpq(0), 2 / ridge, (2 + 80 * scale) / ridge
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if ridge * middle - 2 * logistic(-middle) < 0 else (low, middle)
    need(ridge * low - 2 * logistic(-low) < 0 < ridge * high - 2 * logistic(-high), "D has its zero elsewhere")

    def height(x, sign):
        win = 1 / (1 + (-x).exp())
        size = sign * (ridge * x - 2 * (1 - win))
        return (size + scale) * (-size / scale).exp() / (ridge + 2 * win * (1 - win))

    within = integral(lambda x: height(x, -1), -far, low) + integral(lambda x: height(x, 1), high, far)
    u = ridge * far - 2  # beyond `far`: (u + λ) e^(−u/λ) falls in u, and |D| >= γ|x| − 2
    left_out = (high - low) * scale / ridge + 2 * scale * (u + 2 * scale) * exp(-u / scale) / ridge**2
    return (within + arb(0).union(left_out)) / (2 * scale * ridge) ** 2, "==", 1


@says(
    "cai2025:prop-2.1:proof",
    "[corrected, attained] det ∇²R(t; y)/det ∇²R(t; y′) >= (1 − η)(1 + 2κ₂/γ) at neighbours, κ₂ = sup (−log F)'' = 1/4",
)
def _(theta: list, games: list, other: list, ridge: Number, eta: Number) -> Sides:
    theta, ridge = numbers(theta, -1000, 1000, "theta"), positive(ridge, "ridge")
    first, second = compared(games, len(theta)), compared(other, len(theta))
    adjacent(first, second)
    need(0 <= rational(eta, "eta") <= fmpq(1, 10**6), "eta must be small")
    ratio = determinant(first, theta, ridge) / determinant(second, theta, ridge)
    return ratio, ">=", (1 - eta) * (1 + 1 / (2 * ridge))


@says(
    "cai2025:thm-2.1",
    "[without the condition γ >= 4κ₂/ε] log f_θ̃(y)(t)/f_θ̃(y′)(t) <= ε, λ = 8κ₁/ε, γ = c₀ √(np log n), neighbours y, y′",
)
def _(n: int, theta: list, games: list, other: list, p: Number, epsilon: Number, constants: list) -> Sides:
    # items beyond `theta` are compared with none: t = 0 there, and each leaves a factor γ in both determinants
    theta, p, (c_0, c_1, c_2) = numbers(theta, -1000, 1000, "theta"), positive(p, "p", 1), map(positive, constants, "cde")
    kappa_1, epsilon = fmpq(1001, 1000), rational(epsilon, "epsilon")
    first, second = compared(games, len(theta)), compared(other, len(theta))
    adjacent(first, second)
    need(whole(n, len(theta), 10**9, "n") * p * epsilon >= c_1 * log(n), "p must be at least c₁ log n/(nε)")
    need(epsilon < 1 and epsilon * sqrt(log(n)) > c_2, "ε must lie between c₂/√log n and 1")
    ridge, scale = c_0 * sqrt(n * p * log(n)), 8 * kappa_1 / epsilon
    size, larger = (sum(map(abs, gradient(it, theta, ridge))) for it in (first, second))
    return (larger - size) / scale + log(determinant(first, theta, ridge) / determinant(second, theta, ridge)), "<=", epsilon


def to_minimiser(theta: list, found: list, games: list, ridge: Number) -> tuple[Number, Number, Number]:
    """γ‖θ* − θ̃‖², R̃(θ̃) − R̃(θ*) and ∇R̃(θ*)·(θ* − θ̃) for the noise w = −∇R(θ̃), whose minimiser is θ̃ = `found`."""
    theta, found, ridge = numbers(theta, -100, 100, "theta"), numbers(found, -100, 100, "found"), positive(ridge, "ridge")
    need(len(theta) == len(found), "theta and found must be of one length")
    games = compared(games, len(theta))
    noise = [-it for it in gradient(games, found, ridge)]

    def height(t: list) -> Number:
        fit = sum(-log(logistic(t[a] - t[b])) for a, b in games)
        return fit + ridge / 2 * sum(it**2 for it in t) + sum(w * it for w, it in zip(noise, t, strict=True))

    move = [a - b for a, b in zip(theta, found, strict=True)]
    slope = [a + b for a, b in zip(gradient(games, theta, ridge), noise, strict=True)]
    along = sum(a * b for a, b in zip(slope, move, strict=True))
    return ridge * sum(it**2 for it in move), height(found) - height(theta), along


@says("cai2025:prop-2.2:distance", "γ‖θ* − θ̃‖₂² <= R̃(θ̃) − R̃(θ*) − ∇R̃(θ*)·(θ* − θ̃)")
def _(theta: list, found: list, games: list, ridge: Number) -> Sides:
    far, fall, along = to_minimiser(theta, found, games, ridge)
    return far, "<=", fall - along


@says("cai2025:prop-2.2:distance", "[corrected, attained] (γ/2)‖θ* − θ̃‖₂² == R̃(θ̃) − R̃(θ*) + ∇R̃(θ*)·(θ* − θ̃)")
def _(theta: list, found: list, games: list, ridge: Number) -> Sides:
    far, fall, along = to_minimiser(theta, found, games, ridge)
    return far / 2, "==", fall + along


@says("cai2025:eq-a.7", "θ^(m),2 by (A.7), gradient at θ^(m),0 == θ^(m),2 as (A.27) uses it, gradient at θ^(m),1")
def _(theta: list, noise: list, ridge: Number, kappa_2: Number, p: Number) -> Sides:
    # 2 items: the copy leaves out the one comparison; the first entry is compared
    theta, noise, p = numbers(theta, -1, 1, "theta"), numbers(noise, -100, 100, "noise"), positive(p, "p", 1)
    need(len(theta) == len(noise) == 2 and sum(theta) == 0 and rational(kappa_2, "kappa_2") >= 57, "theta, noise, kappa_2")
    eta = 1 / (positive(ridge, "ridge") + 3 * kappa_2 * 2 * p)

    def slope(v: list) -> list:
        pull = p * (logistic(v[0] - v[1]) - logistic(theta[0] - theta[1]))
        return [ridge * v[0] + pull + noise[0], ridge * v[1] - pull + noise[1]]

    second = [a - eta * b for a, b in zip(theta, slope(theta), strict=True)]
    return second[0] - eta * slope(theta)[0], "==", second[0] - eta * slope(second)[0]


@says("cai2025:lem-a.1:proof", "‖∇L(θ)‖₂ <= κ₁ √n max_i |Σ_j F_ij − y_ij|, F(x) = (2/π) arctan(e^x), κ₁ > 4/π")
def _(theta: list, games: list, kappa_1: Number) -> Sides:
    theta, kappa_1 = numbers(theta, -1, 1, "theta"), rational(kappa_1, "kappa_1")
    need(kappa_1 > 4 / arb.pi(), "kappa_1 must exceed sup F'/(F(1 − F)) = 4/π, at 0")
    surplus, slope = ([arb(0)] * len(theta) for _ in range(2))
    for a, b in compared(games, len(theta)):
        angle = 2 * exp(theta[a] - theta[b]).atan()
        upset = 1 - angle / arb.pi()
        pull = upset * arb.pi() * angle.sin() / (angle * (arb.pi() - angle))
        surplus[a], surplus[b] = surplus[a] - upset, surplus[b] + upset
        slope[a], slope[b] = slope[a] - pull, slope[b] + pull
    most = arb(0)
    for it in surplus:
        most = most.max(abs(it))
    return sqrt(sum(it**2 for it in slope)), "<=", kappa_1 * sqrt(len(theta)) * most


@says("cai2025:lem-a.2:proof", "P(Σ w_i > t) <= exp(−t²/(8nλ)) for 0 < t < nλ², w_i Laplace(λ), n = 2")
def _(t: Number, scale: Number) -> Sides:
    t, scale = positive(t, "t"), positive(scale, "scale")
    need(t < 2 * scale**2, "t must be below nλ²")
    return both_larger(t, scale), "<=", exp(-(t**2) / (16 * scale))


@says("cai2025:thm-2.3:proof", "P(N_a − N_b <= E(N_a − N_b) − C √(np log n)) <= n^(−C²) in the class of C")
def _(sizes: list, constants: list, p: Number, epsilon: Number) -> Iterator[Sides]:
    # item a beats all and the others tie: τ_a − τ_b = 1/2, k = 1; a and b meet another with chance p each
    p, epsilon = positive(p, "p", 1), positive(epsilon, "epsilon")
    for n, c in zip(sizes, constants, strict=True):
        c = positive(c, "C")
        need(c * sum(terms(whole(n, 2, 3000, "n"), p, epsilon)) <= fmpq(1, 2), "the gap is too small for C")
        step = fmpq_poly([(1 - p) * p / 2, p * p / 2 + (1 - p) * (1 - p / 2), p * (1 - p / 2)])
        law = step ** (n - 2) * fmpq_poly([1 - p, p])  # from 2 − n on
        short = n * p / 2 - c * sqrt(n * p * log(n))
        yield sum(it for d, it in enumerate(law.coeffs(), 2 - n) if d <= short), "<=", exp(-(c**2) * log(n))


@says("cai2025:thm-2.4:proof", "10εD − log(M − 1) > 0 for small c, D = 16(1 + ν₂)mnpΔ, Δ = c log n/(npε), M = n^(0.9 ν₁ν₂m)")
def _(n: int, k: int, m: int, nu_1: Number, nu_2: Number, constants: list) -> Iterator[Sides]:
    n, nu_1, nu_2 = whole(n, 2, 10**30, "n"), positive(nu_1, "nu_1", 1), positive(nu_2, "nu_2", 1)
    need(2 * whole(m, 1, n, "m") * (1 + nu_2) <= min(whole(k, 1, n - 1, "k"), n - k), "m is too large")
    need(log(2 * m * (1 + nu_2)) <= (1 - nu_1) * log(n), "m is too large")
    for c in constants:
        moved = 16 * (1 + nu_2) * m * positive(c, "c", 1) * log(n)  # εD
        yield 10 * moved - log(exp(fmpq(9, 10) * nu_1 * nu_2 * m * log(n)) - 1), ">", 0


@says(
    "cai2025:thm-a.1:proof",
    "(0.9M(M − 1)e^(−10εD) − 10M(M − 1)δDe^(−10ε))/(1 + (M − 1)e^(−10εD)) >= min(0.9M, 0.9M(M − 1)e^(−10εD)) − 10M(M − 1)Dδ",
)
def _(laws: int, epsilon: Number, delta: Number, moved: Number) -> Sides:
    epsilon, delta, moved = positive(epsilon, "epsilon"), rational(delta, "delta"), rational(moved, "D")
    need(0 <= delta <= 1 and moved >= 0, "delta or D")
    share, cost = (whole(laws, 2, 10**9, "M") - 1) * exp(-10 * epsilon * moved), 10 * laws * (laws - 1) * delta * moved
    left = (fmpq(9, 10) * laws * share - cost * exp(-10 * epsilon)) / (1 + share)
    return left, ">=", fmpq(9, 10) * laws * share.min(arb(1)) - cost


# ---------------------------------------------------------------- counts, and the experiments


@says("cai2025:alg-2", "[corrected, attained] loss of N + Laplace(2/ε), largest over all neighbours of n items == ε")
def _(n: int, epsilon: Number) -> Sides:
    pairs, epsilon = list(itertools.combinations(range(whole(n, 2, 4, "n")), 2)), positive(epsilon, "epsilon")
    held = [{(), pair, pair[::-1]} for pair in pairs]
    data = [frozenset(filter(None, it)) for it in itertools.product(*held)]
    wins = {it: [sum(a == i for a, _ in it) for i in range(n)] for it in data}
    moved = 0
    for one, other in itertools.combinations(data, 2):
        if len(one - other) == len(other - one) == 1:
            moved = max(moved, sum(abs(a - b) for a, b in zip(wins[one], wins[other], strict=True)))
    return moved * epsilon / 2, "==", epsilon


def penalised(wins: tuple[int, ...], ridge: fmpq) -> list[arb]:
    """The penalised MLE at p = 1, which depends on the counts alone; it is within ‖∇R‖₂/γ of any point."""
    n, theta = len(wins), [arb(0)] * len(wins)
    for step in range(201):
        slope = [ridge * t - w - fmpq(1, 2) + sum(logistic(t - s) for s in theta) for t, w in zip(theta, wins, strict=True)]
        if step < 200:
            theta = [(t - g / (ridge + n)).mid() for t, g in zip(theta, slope, strict=True)]
    error = sqrt(sum(it**2 for it in slope)) / ridge
    return [t + error * arb(0, 1) for t in theta]


@says("cai2025:exp-1:copeland", "mean miss of the top item by the penalised MLE > that by counts, p = 1, ε = ∞, 4 items")
def _(weights: list, ridge: Number) -> Sides:
    # weights are e^θ; items of equal counts are alike to both methods, which pick any of them
    weights, ridge = numbers(weights, fmpq(1, 5), 1, "weights"), positive(ridge, "ridge", 100)
    need(len(weights) == 4 and weights[0] == 1 and max(weights[1:]) <= fmpq(7, 10), "one strong item, three weak")
    missed = [fmpq(0), fmpq(0)]
    for won in itertools.product((0, 1), repeat=6):
        games = [(a, b) if it else (b, a) for it, (a, b) in zip(won, itertools.combinations(range(4), 2), strict=True)]
        chance = math.prod(weights[a] / (weights[a] + weights[b]) for a, b in games)
        wins = tuple(sum(a == i for a, _ in games) for i in range(4))
        strength = penalised(wins, ridge)
        best = [i for i in range(4) if not any(strength[j] > strength[i] for j in range(4))]
        need(len({wins[i] for i in best}) == 1, "an order is not certain")
        counted = [i for i in range(4) if wins[i] == max(wins)]
        missed = [it + chance * (1 - fmpq(int(0 in top), len(top))) for it, top in zip(missed, (best, counted), strict=True)]
    return missed[0], ">", missed[1]


@says("cai2025:sec-4.1:setup", "[read as: k is n/4, items numbered from 1] of k strong items, k − #{i : i < k} == 0 are missing")
def _(n: int) -> Sides:
    need(whole(n, 4, 10**6, "n") % 4 == 0, "n/4 must be whole")
    return n // 4 - sum(i < n // 4 for i in range(1, n + 1)), "==", 0


@says(
    "cai2025:exp-4",
    "[says something: oneshot's noise leaves its scores] 8s √(k log(n/δ))/ε < standard deviation of the scores, "
    "s = 2/(n(1 − ρ)), answers as expected",
)
def _(weak: list, n: int, delta: Number, epsilons: list) -> Iterator[Sides]:
    # scores are e^θ/Σ e^θ, stationary for P_ij = F_ji/n; the least noise is that of ρ = 0
    k = (whole(n, 4, 1000, "n") + 2) // 4
    weights = [fmpq(1)] * k + [rational(it, "weak") for it in weak for _ in range((n - k) // len(weak))]
    need(len(weights) == n and all(fmpq(1, 5) <= it <= fmpq(7, 10) for it in weights[k:]), "weak items lie in (0.2, 0.7)")
    need(0 < rational(delta, "delta") <= fmpq(1, 20), "delta must be at most 0.05")
    scores = [it / sum(weights) for it in weights]
    spread = sqrt(sum((it - fmpq(1, n)) ** 2 for it in scores) / n)
    for epsilon in epsilons:
        yield 16 * sqrt(k * log(n / delta)) / (n * positive(epsilon, "epsilon")), "<", spread
