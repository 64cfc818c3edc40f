"""What Cai, Chakraborty and Wang (2025) print of edge privacy: Section 2, Appendix A and Section 4.1.

Where nothing else is said the link F is logistic: F'/(F(1 − F)) = 1 and (−log F)'' = F(1 − F), at most 1/4.
Where a side is a bound and not the quantity itself, it errs on the paper's side.
"""

import itertools
import math
from collections.abc import Iterator

from exact import Number, Sides, Statements, exp, log, need, orders, rational, sqrt, whole
from flint import acb, arb, fmpq, fmpq_poly

STATEMENTS = Statements()
says = STATEMENTS.says
HALF = fmpq(1, 2)


def between(low: Number, value: Number, high: Number) -> fmpq:
    need(low <= rational(value, "a number") <= high, f"a number must lie between {low} and {high}")
    return fmpq(value)


def positive(value: Number, most: Number = 10**9) -> fmpq:
    return between(fmpq(1, 10**12), value, most)


def chain(values: list, most: int = 10**30) -> list[int]:
    need(isinstance(values, list) and 3 <= len(values) <= 9, "a chain has 3 to 9 sizes")
    sizes = [whole(it, 2, most, "n") for it in values]
    need(all(a < b for a, b in itertools.pairwise(sizes)), "sizes must grow")
    return sizes


def win(x: Number) -> Number:
    """F(x)."""
    return HALF if x == 0 else 1 / (1 + exp(-x))


def overtaken(lead: Number, scale: Number) -> arb:
    """P(W₁ − W₂ > lead) of Laplace(scale) variables, lead >= 0."""
    return exp(-lead / scale) * (1 + lead / (2 * scale)) / 2


def rates(n: int, p: Number, epsilon: Number = 1) -> tuple[arb, arb]:
    """√(log n/(np)) and log n/(npε)."""
    return sqrt(log(n) / (n * p)), log(n) / (n * p * epsilon)


def same_laws(low: Number, high: Number) -> fmpq:
    """What no estimate's error stays below: strengths all `low` or all `high` give the same answers."""
    return abs(between(-1, high, 1) - between(-1, low, 1)) / 2


# ---------------------------------------------------------------- Section 2


@says("cai2025:sec-2.1:top-k", "[read as: tied items are all in] |S_k| − k == 0")
def _(rho: list, k: int) -> Sides:
    n = len(rho)
    need(n <= 9 and all(len(row) == n for row in rho), "rho is no small square")
    need(all(between(0, rho[i][j], 1) + rho[j][i] == 1 for i in range(n) for j in range(n)), "rho + rho' is not 1")
    tau = sorted(sum(row) for row in rho)
    return sum(it >= tau[-whole(k, 1, n, "k")] for it in tau) - k, "==", 0


@says("cai2025:sec-2.1:same-order", "[read as: flat pieces allowed] τ₁ − τ₂ = F(θ₁ − θ₂) − 1/2 > 0 where θ₁ > θ₂")
def _(gap: Number, flat: Number) -> Sides:  # F is 1/2 up to `flat`, then of slope 1 up to 1; F(−x) = 1 − F(x)
    return min(max(positive(gap) - between(0, flat, 10**9), fmpq(0)), HALF), ">", 0


@says(
    "cai2025:thm-2.1",
    "[read as: any c₀, c₁, c₂] log f_y(t)/f_y′(t) <= ε, γ = c₀ √(np log n), λ = 8κ₁/ε, neighbours",
)
def _(n: int, p: Number, epsilon: Number, c: list, gap: Number) -> Sides:
    # y: one comparison, of items with t = 0; y′: one of two others, won by the one with t = gap/2, the other at −gap/2
    n, p, epsilon, gap, (c_0, c_1, c_2) = whole(n, 4, 10**9, "n"), positive(p, 1), positive(epsilon), positive(gap), c
    need(p * n * epsilon >= positive(c_1) * log(n) and positive(c_2) < epsilon * sqrt(log(n)) and epsilon < 1, "p or ε")
    ridge, scale = positive(c_0) * sqrt(n * p * log(n)), 8 * fmpq(1001, 1000) / epsilon
    norm, other = 1 + ridge * gap, 2 * abs(ridge * gap / 2 - win(-gap))  # ‖∇R(t)‖₁
    return (other - norm) / scale + log((ridge + HALF) / (ridge + 2 * win(gap) * win(-gap))), "<=", epsilon


@says(
    "cai2025:sec-2.2:rank-all",
    "[read as: any θ*, as in Theorem 2.1] P(first two misranked) <= C/n⁵, gaps c(√(log n/(np)) + log n/(npε)), p = 1",
)
def _(sizes: list, c: Number, constant: Number, kappa_1: Number, epsilon: Number) -> Iterator[Sides]:
    # at p = 1, θ̃ ranks by N − w: Σ_j F(θ̃_i − θ̃_j) + γθ̃_i, which rises in θ̃_i, is N_i − w_i + 1/2
    need(rational(kappa_1, "κ₁") > 1 and positive(epsilon) < 1 and rational(constant, "C") >= 1, "κ₁, ε or C")
    for n in chain(sizes, 500):
        wins = [win(j * between(1, c, 10**9) * sum(rates(n, 1, epsilon))) for j in range(1, n)]
        favourites = math.prod(wins) * math.prod(wins[:-1])  # the chance that they win all, so that N₁ − N₂ = 1
        yield favourites * overtaken(1, 8 * kappa_1 / epsilon), "<=", constant / fmpq(n) ** 5


def surprise(won: int, gap: Number) -> Number:
    """y − F of a comparison: the score of its first item, less that of its second."""
    return whole(won, 0, 1, "won") - win(gap)


@says("cai2025:sec-2.2.2:attack-sum", "Σ_k A_12^(k) == ⟨M − θ, ∂ log f_θ(y_12)/∂θ⟩")
def _(theta: list, estimate: list, won: int) -> Sides:
    first, second = (rational(a, "estimate") - between(-1, b, 1) for a, b in zip(estimate, theta, strict=True))
    score = surprise(won, theta[0] - theta[1])
    return first * score + second * score, "==", first * score - second * score


@says("cai2025:prop-2.4:proof", "Σ_(i < j) A_ij^(k) == (M_k − θ_k) ∂ log f_θ(Y)/∂θ_k, 2 items")
def _(theta: list, estimate: Number, won: int, k: int) -> Sides:
    first, second = (between(-1, it, 1) for it in theta)
    attack = (rational(estimate, "estimate") - theta[whole(k, 1, 2, "k") - 1]) * surprise(won, first - second)
    return attack, "==", attack if k == 1 else -attack


@says("cai2025:prop-2.3:proof", "|A_12^(1)| <= 2 where ‖M − θ‖∞ <= 2, F(x) = 1/(1 + e^(−sx))")
def _(theta: list, estimate: Number, steepness: Number, won: int) -> Sides:
    (first, second), s = (between(-1, it, 1) for it in theta), positive(steepness)
    return abs((between(first - 2, estimate, first + 2) - first) * surprise(won, s * (first - second)) * s), "<=", 2


@says("cai2025:sec-2.2.2:nonprivate-rate", "[read as: over ‖θ‖∞ <= 1, as printed] inf sup E‖M − θ‖∞ <= C √(log n/(np))")
def _(low: Number, high: Number, sizes: list, p: Number, constant: Number) -> Iterator[Sides]:
    for n in chain(sizes):
        yield same_laws(low, high), "<=", between(1, constant, 10**9) * rates(n, positive(p, 1))[0]


@says("cai2025:sec-2.2.2:nonprivate-rate", "[corrected, attained] inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞ == 1, that of M = 0")
def _(low: Number, high: Number) -> Sides:
    return same_laws(low, high), "==", 1


@says("cai2025:prop-2.4", "[says something: there is such an M] inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞ < c = 1/4")
def _(low: Number, high: Number) -> Sides:
    return same_laws(low, high), "<", fmpq(1, 4)


@says("cai2025:thm-3.2", "[says something: privacy costs] sup_(‖θ‖∞ <= 1) ‖0 − θ‖∞ > inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞")
@says("cai2025:thm-2.2", "[says something: privacy costs] sup_(‖θ‖∞ <= 1) ‖0 − θ‖∞ > inf_M sup_(‖θ‖∞ <= 1) E‖M − θ‖∞")
def _(low: Number, high: Number) -> Sides:
    return 1, ">", same_laws(low, high)


@says("cai2025:sec-2.3.1:rank-all", "[says something: some ρ has all the gaps] n C √(log n/(np)) <= 1")
def _(sizes: list, p: Number, constant: Number) -> Iterator[Sides]:
    for n in chain(sizes):  # τ_(1) − τ_(n) <= (n − 1)/n, so that some gap is at most 1/n
        yield n * between(fmpq(17, 20), constant, 10**9) * rates(n, positive(p, 1))[0], "<=", 1


@says(
    "cai2025:sec-2.3.2:inclusion",
    "[read as: any union that holds Θ will do] sup P(err) over {gap >= c(a + b)} >= min of the sups over {gap >="
    " c₁a} and {gap >= c₂b}",
)
def _(c: Number, c_1: Number, c_2: Number, epsilon: Number) -> Sides:
    a, b = rates(2, 1, positive(epsilon))
    gaps = positive(c) * (a + b), positive(c_1) * a, positive(c_2) * b
    need(all(it <= HALF for it in gaps), "a class is empty")
    need(gaps[0] >= gaps[1] or gaps[0] >= gaps[2], "it is not in the union")
    back = overtaken(1, fmpq(2) / epsilon)  # 2 items, Algorithm 2: N₁ − N₂ is 1 with chance ρ = 1/2 + gap, else −1
    all_of, *parts = ((HALF + it) * back + (HALF - it) * (1 - back) for it in gaps)
    return all_of, ">=", parts[0].min(parts[1])


# ---------------------------------------------------------------- Appendix A, counts and the experiments


@says("cai2025:prop-2.1:proof", "∫ (2λ)^(−2) exp(−‖∇R(t)‖₁/λ) / det ∇²R(t) dt == 1, 2 items compared once, λ = 1")
def _(ridge: Number) -> Sides:
    # over t₀ + t₁ by hand; v = γd − 2F(−d), d = t₀ − t₁, is the difference of the entries of ∇R, and det = γ dv/dd
    def height(d: acb, analytic: bool) -> acb:
        lost = 1 / (1 + d.exp())
        size = (ridge * d - 2 * lost).real_abs(analytic)
        return (1 + size) * (-size).exp() / (4 * ridge**2 * (ridge + 2 * lost * (1 - lost)))

    end, rest = arb(70 / between(1, ridge, 1000)), arb(0, 31 * exp(-60))  # beyond the end |v| >= 60
    return acb.integral(height, -end, end).real + rest, "==", 1


@says(
    "cai2025:prop-2.1:proof",
    "[corrected, attained] (det ratio, change of ‖∇R‖₁) >= (1 − η) (1 + 2 sup(−log F)″/γ, 4 sup F′/(F(1 − F))),"
    " logistic",
)
def _(ridge: Number, gap: Number, eta: Number) -> Iterator[Sides]:
    # suprema 1/4 and 1; neighbours are comparisons of items 0, 1 or of items 2, 3. First: at t = 0, 0, and gap apart
    ridge, part = positive(ridge), 1 - between(0, eta, fmpq(1, 10**6))
    yield (ridge + HALF) / (ridge + 2 * win(gap) * win(-gap)), ">=", part * (1 + HALF / ridge)
    # then: at t = −gap/2, gap/2, and the worse won; 2 has lost to two items gap below it, and 3 beaten two gap above
    pull, upset = ridge * positive(gap) / 2, win(gap)
    yield abs(2 * (pull + upset) + 2 * abs(2 * upset - pull) - 2 * pull - 2 * abs(upset - pull)), ">=", 4 * part


@says("cai2025:prop-2.2:distance", "γ‖θ* − θ̃‖₂² <= R̃(θ̃) − R̃(θ*) − ∇R̃(θ*)·(θ* − θ̃), 2 items compared once")
def _(truth: Number, found: Number, ridge: Number) -> Sides:
    # along θ = (x, −x): R is log(1 + e^(−2x)) + γx², and noise (v, −v), v = −R'(θ̃)/2, makes θ̃ the minimiser
    x, y, ridge = between(-100, truth, 100), between(-100, found, 100), positive(ridge)
    level = [log(1 + exp(-2 * it)) + ridge * it**2 for it in (x, y)]
    slope, noise = (2 * ridge * it - 2 * win(-2 * it) for it in (x, y))
    return 2 * ridge * (x - y) ** 2, "<=", level[1] - level[0] - noise * (y - x) - (slope - noise) * (x - y)


@says("cai2025:eq-a.7", "θ^(1),2 of (A.7) == θ^(1),2 of (A.27), 2 items")
def _(truth: Number, noise: Number, ridge: Number, kappa_2: Number, p: Number) -> Sides:
    # along θ = (x, −x), with noise (v, −v); the copy expects the one answer; both first steps are from θ^(1),0 = θ*
    x, p, ridge = between(-1, truth, 1), positive(p, 1), positive(ridge)
    eta = 1 / (ridge + 6 * p * between(57, kappa_2, 10**9))
    start = ridge * x + rational(noise, "noise")
    first = x - eta * start
    return first - eta * start, "==", first - eta * (start + ridge * (first - x) + p * (win(2 * first) - win(2 * x)))


@says("cai2025:lem-a.1:proof", "‖∇L(θ)‖₂ <= κ₁ √n max_i |Σ_j F_ij − y_ij|, F(x) = (2/π) arctan(e^x), κ₁ > 4/π")
def _(half: Number, kappa_1: Number) -> Sides:
    # strengths h, h, −h, −h; 0 beats 1 and 2, 1 beats 2 and 3, 2 beats 3, 3 beats 0
    need(rational(kappa_1, "kappa_1") * arb.pi() > 4, "κ₁ is not above sup F'/(F(1 − F)), which is 4/π, at 0")
    angle = 2 * exp(2 * between(-1, half, 1)).atan()
    chance, weight = angle / arb.pi(), arb.pi() * angle.sin() / (angle * (arb.pi() - angle))
    first, second = (2 * chance - 1) * weight - 2 / arb.pi(), 2 * (chance - 1) * weight + 2 / arb.pi()
    return sqrt(2 * first**2 + 2 * second**2), "<=", 2 * kappa_1 * abs(2 * chance - 3 * HALF)


@says("cai2025:lem-a.2:proof", "P(Σ w_i > t) <= exp(−t²/(8nλ)) for 0 < t < nλ², w_i Laplace(λ), n = 2")
def _(t: Number, scale: Number) -> Sides:
    need(positive(t) < 2 * positive(scale) ** 2, "t is not below nλ²")
    return overtaken(t, fmpq(scale)), "<=", exp(-(t**2) / fmpq(16 * scale))


@says(
    "cai2025:thm-2.3:proof", "P(N_a − N_b <= E(N_a − N_b) − C √(np log n)) <= n^(−C²), ρ in the class with constant C"
)
def _(sizes: list, c: Number, p: Number, epsilon: Number) -> Iterator[Sides]:
    # a beats all, the others tie, so that τ_a − τ_b = 1/2
    p = positive(p, 1)
    need(p.q <= 100, "p must be short")
    for n in chain(sizes, 3000):
        need(positive(c) * sum(rates(n, p, positive(epsilon))) <= HALF, "the gap is too small for C")
        a, b = p, p / 2  # the chances that each meets and beats a third
        law = fmpq_poly([(1 - a) * b, a * b + (1 - a) * (1 - b), a * (1 - b)]) ** (n - 2) * fmpq_poly([1 - p, p])
        least = n * p / 2 - c * sqrt(n * p * log(n))
        yield sum(it for d, it in enumerate(law.coeffs(), 2 - n) if d <= least), "<=", exp(-(c**2) * log(n))


@says("cai2025:thm-2.4:proof", "10εD − log(M − 1) > 0 for small c, εD = 16(1 + ν₂) m c log n, M = n^(0.9 ν₁ν₂m)")
def _(n: int, k: int, m: int, nu_1: Number, nu_2: Number, constants: list) -> Iterator[Sides]:
    width = 2 * whole(m, 1, whole(n, 2, 10**30, "n"), "m") * (1 + positive(nu_2, 1))
    need(width <= min(whole(k, 1, n - 1, "k"), n - k), "m is too large")
    need(log(width) <= (1 - positive(nu_1, 1)) * log(n), "m is too large")
    for c in constants:
        moved, laws = 8 * width * positive(c, 1) * log(n), exp(fmpq(9, 10) * nu_1 * nu_2 * m * log(n))
        yield 10 * moved - log(laws - 1), ">", 0


@says("cai2025:thm-a.1:proof", "0.9M(M − 1)q/(1 + (M − 1)q) >= min(0.9M, 0.9M(M − 1)q), q = e^(−10εD), δ = 0")
def _(laws: int, epsilon: Number, moved: Number) -> Sides:
    share = (whole(laws, 2, 10**9, "M") - 1) * exp(-10 * positive(epsilon) * between(0, moved, 10**9))
    return fmpq(9, 10) * laws * share / (1 + share), ">=", fmpq(9, 10) * laws * share.min(arb(1))


def moves(n: int) -> list[int]:  # by how much, in ℓ1, the counts of neighbours differ, of all neighbours
    pairs = itertools.combinations(range(whole(n, 2, 4, "n")), 2)
    data = [frozenset(filter(None, it)) for it in itertools.product(*(((), it, it[::-1]) for it in pairs))]
    wins = {it: [sum(a == i for a, _ in it) for i in range(n)] for it in data}  # a comparison is (winner, loser)
    near = (it for it in itertools.combinations(data, 2) if len(it[0] - it[1]) == len(it[1] - it[0]) == 1)
    return [sum(abs(a - b) for a, b in zip(wins[one], wins[other], strict=True)) for one, other in near]


@says("cai2025:alg-2", "[as printed, attained] loss of the vector N + Laplace(2/ε) == ε, worst neighbours of n items")
def _(n: int, epsilon: Number) -> Sides:
    return max(moves(n)) * positive(epsilon) / 2, "==", epsilon


@says("cai2025:alg-2", "[all cases] ‖N(y) − N(y′)‖₁ <= 2, y and y′ neighbours of n items")
def _(n: int) -> Sides:
    return sum(it <= 2 for it in moves(n)), "==", len(moves(n))


@says("cai2025:thm-2.3", "[all cases] d_H(S, S_k) <= 2m if the k − m best lead the n − k − m worst; all orders, k, m")
def _(n: int) -> Sides:
    found = []
    for order, k, m in itertools.product(orders(whole(n, 2, 7, "n")), range(1, n), range(n)):  # item 0 is the best
        places = [order.index(item) for item in range(n)]
        if m < min(k, n - k) and max(places[: k - m]) < min(places[k + m :]):
            found.append(2 * sum(it >= k for it in places[:k]) <= 2 * m)
    return sum(found), "==", len(found)


@says(
    "cai2025:finding-1",
    "[read as: always, any number of items] mean miss of the best item by the MLE > that by counts, 3 items, ε = ∞",
)
def missed(weights: list, p: Number) -> Sides:
    """Ties at random, weights e^θ. By symmetry the MLE, (x, 0, −x), (x, x, −2x) or (2x, −x, −x), ranks by net wins."""
    weights, p, found = [between(fmpq(1, 5), it, 1) for it in weights], between(fmpq(1, 100), p, 1), [fmpq(0), fmpq(0)]
    need(len(weights) == 3 and weights[0] == 1 and max(weights[1:]) <= fmpq(7, 10), "one strong item and two weak ones")
    for games in itertools.product(*([(), it, it[::-1]] for it in itertools.combinations(range(3), 2))):
        chances = [p * weights[it[0]] / (weights[it[0]] + weights[it[1]]) if it else 1 - p for it in games]
        wins = [sum(it[:1] == (i,) for it in games) for i in range(3)]
        for method, score in enumerate(([2 * wins[i] - sum(i in it for it in games) for i in range(3)], wins)):
            found[method] += (1 - fmpq(int(score[0] == max(score)), score.count(max(score)))) * math.prod(chances)
    return found[0], ">", found[1]


@says(
    "cai2025:exp-1:copeland", "mean miss of the top item by the penalised MLE > that by counts, 3 items, p = 1, ε = ∞"
)
def _(weights: list) -> Sides:
    return missed(weights, fmpq(1))


@says(
    "cai2025:sec-4.1:setup", "[read as: k is n/4, items numbered from 1] k − #{i : i < k} == 0 (strong items missing)"
)
def _(n: int) -> Sides:
    need(whole(n, 4, 10**6, "n") % 4 == 0, "n/4 must be whole")
    return n // 4 - sum(i < n // 4 for i in range(1, n + 1)), "==", 0
