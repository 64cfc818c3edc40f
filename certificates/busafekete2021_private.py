"""What Busa-Fekete et al. (2021) print of private tests: Sections 5, 6, 7.3 and 8.

X is 1 where a ranking has the items of a pair in order, else −1; the pairs are (0, 1), (2, 3), …; Y is UNIF's
statistic, Σ over pairs of (Σ over rankings of X)² / k; every μ between 0 and 1 is that of some tolerance ε.
"""

from collections.abc import Iterator
from itertools import pairwise, product
from math import comb, factorial, isqrt, prod

import exact
from busafekete2021_tests import from_uniform
from exact import Number, Sides, Statements, between, exp, log, need, rational, sqrt, whole
from flint import arb, arb_poly, fmpq

STATEMENTS = Statements()
says = STATEMENTS.says


def signs(ranking, m: int) -> list[int]:
    order = exact.is_order(ranking, m)
    return [1 if order.index(i) < order.index(i + 1) else -1 for i in range(0, m - 1, 2)]


def statistic(data) -> fmpq:
    return fmpq(sum(sum(pair) ** 2 for pair in zip(*data, strict=True)), len(data))


def neighbours(data: list, other: list) -> None:
    need(0 < len(data) == len(other) <= 100, "the numbers of rankings differ")
    need(sum(a != b for a, b in zip(data, other, strict=True)) == 1, "these are not neighbours")


def each(one):
    """The same at every step of a chain whose constants grow from 1 or more at least tenfold: whatever C is meant."""

    def chain(steps):
        constants = [rational(step["constant"], "constant") for step in steps]
        need(3 <= len(steps) <= 9 and constants[0] >= 1, "a chain has 3 to 9 steps, and begins with 1 or more")
        need(all(b >= 10 * a for a, b in pairwise(constants)), "constants must grow tenfold")
        return [one(**step) for step in steps]

    return chain


@says("busafekete2021:sec-5:sensitivity", "|Y(D) − Y(D′)| <= C |(4/k) ΣΣX|, any C, where ΣΣX = 0 for D and for D′")
def _(m, data, other) -> Sides:
    neighbours(data, other)
    x, y = ([signs(it, whole(m, 2, 12, "m")) for it in rankings] for rankings in (data, other))
    need(sum(map(sum, x)) == sum(map(sum, y)) == 0, "the sum of all signs must be 0")
    return abs(statistic(x) - statistic(y)), "<=", 0


def moves(m, k) -> Iterator[tuple[fmpq, fmpq]]:
    """|Y(D) − Y(D′)| and (4/k) Σ (|S| + 1), S the pairs' sums in D: all D of k orders, one of them made another."""
    need(factorial(whole(m, 2, 6, "m")) ** (whole(k, 2, 6, "k") + 1) * k <= 30_000, "too many data sets")
    known = {order: signs(list(order), m) for order in exact.orders(m)}
    for data, x in ((it, [known[order] for order in it]) for it in product(known, repeat=k)):
        y, local = statistic(x), fmpq(4 * sum(abs(sum(it)) + 1 for it in zip(*x, strict=True)), k)
        for i, new in product(range(k), known):
            if new != data[i]:
                yield abs(y - statistic([*x[:i], known[new], *x[i + 1 :]])), local


@says("busafekete2021:sec-5:sensitivity", "[corrected, attained] the largest |Y(D) − Y(D′)| == 4⌊m/2⌋(1 − 1/k)")
def _(m, k) -> Sides:
    return max(moved for moved, _ in moves(m, k)), "==", 4 * (m // 2) * (1 - fmpq(1, k))


@says(
    "busafekete2021:sec-5:sensitivity",
    "[all cases] [ours] |Y(D) − Y(D′)| <= 2m (printed) and <= (4/k) Σ (|S| + 1), all D, D′ ≠ D with one ranking"
    " replaced",
)
@says(
    "busafekete2021:alg-4",
    "[all cases] loss of Y + Lap(2m/ε₀) = ε₀ |Y(D) − Y(D′)|/(2m) <= ε₀, all D, D′ ≠ D with one ranking replaced",
)
def _(sizes) -> Sides:
    return exact.all_of(moved <= min(2 * m, local) for m, k in exact.growing(sizes) for moved, local in moves(m, k))


@says("busafekete2021:alg-4:variance", "[read as: under H₁ too] V[Y] <= m, for k rankings of two items")
def _(k, phi) -> Sides:
    k, p = whole(k, 1, 200, "k"), 1 / (1 + between(phi, 0, 1, "phi"))
    law = [(comb(k, j) * p**j * (1 - p) ** (k - j), fmpq((2 * j - k) ** 2, k)) for j in range(k + 1)]
    return sum(w * y**2 for w, y in law) - sum(w * y for w, y in law) ** 2, "<=", 2


@says(
    "busafekete2021:alg-4:samples",
    "[read as: one C for all δ] ln(larger error at any threshold) <= ln δ with k = C m √ln(1/δ)/(μ²ε₀), any C",
)
@each
def _(constant, m, mu, epsilon, log_inverse_delta) -> Sides:
    need(m % 2 == 0, "m must be even")
    length, mu = whole(log_inverse_delta, 1, 10**12, "log_inverse_delta"), between(mu, 0, 1, "mu")
    k_epsilon = constant * whole(m, 2, 10**6, "m") * sqrt(length) / mu**2 + between(epsilon, 0, 100, "epsilon")
    # k is rounded up; as 0 <= Y <= mk/2, a threshold t leaves P(Z >= t), P(Z < t − mk/2), Z ~ Lap(2m/ε₀): try mk/4
    return -log(2) - k_epsilon / 8, "<=", -length


def line_15(m: int, k: int, mu: Number, y: Number) -> arb | fmpq:
    """p of line 15 of TRUN, the probability of accepting there; it can be negative."""
    p = 16 * (y - fmpq(m, 2)) / (m * mu**2 * (k - 1))
    return p.min(arb(1)) if isinstance(p, arb) else min(p, fmpq(1))


def terms(m: int, mu: Number, epsilon: Number, delta: Number) -> list[arb]:
    """The three terms of the number of rankings in Theorem 6."""
    mu, budget, delta, length = arb(mu), arb(epsilon * delta), arb(delta), log(1 / delta)
    second = length ** fmpq(1, 3) / (mu ** fmpq(4, 3) * arb(m) ** fmpq(1, 3) * budget ** fmpq(2, 3))
    return [(delta ** fmpq(-3, 2) / sqrt(m) + delta**-3 / m) / mu**2, second, sqrt(length) / (mu * budget)]


def theorem_6(constant, m, mu, epsilon, delta, k) -> None:
    """Parameters of the theorem, with a k from C times the printed maximum to twice that."""
    need(whole(m, 2, 10**18, "m") % 2 == 0 and between(epsilon, 0, 100, "epsilon") > 0, "m must be even")
    most = constant * exact.largest(terms(m, between(mu, 0, 1, "mu"), epsilon, between(delta, 0, 1, "delta")))
    need(bool(most <= whole(k, 2, 10**12, "k") <= 2 * most), "k must be from C to 2C times the printed maximum")


@says("busafekete2021:alg-3", "p of line 15 >= 0 where every pair splits evenly, and >= p where all rankings agree")
def _(m, k, mu) -> list[Sides]:
    need(whole(m, 2, 10**4, "m") % 2 == whole(k, 2, 10**6, "k") % 2 == 0, "m and k must be even")
    even, agree = (line_15(m, k, between(mu, 0, 1, "mu"), y) for y in (fmpq(0), fmpq(m * k, 2)))
    return [(even, ">=", 0), (even, ">=", agree)]


@says(
    "busafekete2021:sec-8:cdp-optimal",
    "[read as: Algorithm 3] privacy loss of TRUN <= ε₀ with k = C times Theorem 6's maximum, any C",
)
@says(
    "busafekete2021:thm-6:privacy",
    "[read as: one C for all parameters] privacy loss of TRUN <= ε₀ with k = C times the maximum of Theorem 6, any C",
)
@each
def _(constant, m, mu, epsilon, delta, k, s) -> Sides:
    """All rankings are one or its reverse, s more of the one; a neighbour has s − 2. By the secret numbering each
    pair's sum is s or −s by a fair coin: Y = s² m/2k, and |ΣΣX| <= 8 s √(m/2) but for 2 exp(−32) (Hoeffding)."""
    theorem_6(constant, m, mu, epsilon, delta, k)
    need((k - whole(s, 2, k, "s")) % 2 == 0, "k and s must be both even or both odd")
    p, other = (line_15(m, k, mu, fmpq(m, 2) * it**2 / k) for it in (s, s - 2))
    need(other >= 0, "p must not be negative")
    far = 4 / (k * delta * epsilon) * log(1 / delta)  # the coin decides beyond; then line 10: too large a sum rejects
    gate = far + sqrt(2 * log(2 / delta) / (m * k)) - 16 * s * sqrt(fmpq(m, 2)) / (m * k)
    passed = exact.laplace_cdf(far.min(gate), far / log(1 / delta)) - delta / 2
    accepted = delta / 2 + (1 - 2 * exp(-32)) * passed * p
    return log(accepted / (delta / 2 + (1 - delta) * other)), "<=", epsilon


@says(
    "busafekete2021:thm-6:samples",
    "[read as: one C for all parameters] P(TRUN as printed rejects uniform data) <= δ, k = C times the maximum, any C",
)
@each
def _(constant, m, mu, epsilon, delta, k) -> Sides:
    theorem_6(constant, m, mu, epsilon, delta, k)
    excess = sqrt(m * (1 - fmpq(1, k))) / 2  # E (Y − m/2)⁺ is at most half a standard deviation
    return 1 - delta / 2 - (1 - delta) * 16 * excess / (m * mu**2 * (k - 1)), "<=", delta


@says("busafekete2021:fig-3", "[read as: line 16 as it is] P(TRUN rejects uniform data) <= 1/20 at m = 10, k = 10⁴")
def _(m, k) -> Sides:
    """No μ is needed: where Y < m/2, p < 0 and only the coin accepts. Each S is 2j, a surplus of k fair coins: the
    coefficient of x^i is the chance of Σ j² = i < mk/8."""
    need((m, k) == (10, 10_000), "not the first size of the figure")
    chances = [arb(0)] * (m * k // 8)
    for j in range(isqrt(len(chances) - 1) + 1):
        chances[j**2] = arb(fmpq(comb(k, k // 2 + j) * (2 if j else 1), 2**k))
    below = one = arb_poly(chances)
    for _ in range(m // 2 - 1):
        below = (below * one).truncate(len(chances))
    return fmpq(1, 40) + fmpq(19, 20) * sum(below), "<=", fmpq(1, 20)


@says(
    "busafekete2021:thm-6:free",
    "[read as: at every δ] (first term of k)/(UNIF's k of line 5) <= C, any C, the first term being the largest",
)
@each
def _(constant, m, mu, epsilon, delta) -> Sides:
    theorem = whole(m, 2, 10**6, "m"), between(mu, 0, 1, "mu"), between(epsilon, 0, 100, "epsilon")
    first, *others = terms(*theorem, between(delta, 0, 1, "delta"))
    need(all(bool(first >= it) for it in others), "the first term must be the largest")
    spread = m * log(2 / delta)
    m1 = fmpq(m, 8) - sqrt(spread) / 4
    need(bool(m1 > 0), "m₁ must be positive")
    k = 1 + int(((12 * spread / m1**2 + 10 * sqrt(spread) / m1) / mu**2).ceil().unique_fmpz())
    return first / k, "<=", constant


def rejected(epsilon, delta, data, other) -> list[fmpq]:
    """P(reject) for two neighbours: one of ⌈1/ε₀⌉ batches of signs, of rankings of two items, is given to UNIF."""
    limit = 1 + 2 * sqrt(2 * log(1 / between(delta, 0, 1, "delta")))
    neighbours([it for batch in data for it in batch], [it for batch in other for it in batch])
    for batches in data, other:
        need(len(batches) == (1 / between(epsilon, 0, 1, "epsilon")).ceil(), "there must be ⌈1/ε₀⌉ batches")
        need(all(len(it) == len(data[0]) and set(it) <= {-1, 1} for it in batches), "signs, as many in every batch")
    y = [[fmpq(sum(batch) ** 2, len(batch)) for batch in batches] for batches in (data, other)]
    need(all(bool(it < limit) or bool(it >= limit) for row in y for it in row), "not certain")
    return [fmpq(sum(bool(it >= limit) for it in row), len(row)) for row in y]


@says("busafekete2021:sec-5:bucketing", "P(reject D′) <= e^ε₀ P(reject D), one of ⌈1/ε₀⌉ batches by UNIF, m = 2")
def _(epsilon, delta, data, other) -> Sides:
    before, after = rejected(epsilon, delta, data, other)
    return after, "<=", exp(epsilon) * before


@says("busafekete2021:sec-5:bucketing", "[corrected, attained] P(reject D′) == 1/⌈1/ε₀⌉ where P(reject D) = 0")
def _(epsilon, delta, data, other) -> Sides:
    before, after = rejected(epsilon, delta, data, other)
    need(before == 0, "P(reject D) must be 0")
    return after, "==", fmpq(1, len(data))


@says(
    "busafekete2021:sec-5:bucketing:samples",
    "[read as: one C for all δ and m] ln((1−δ)/δ) <= k ε₀ = C max{√(ln(1/δ)/m)/μ², 2}, as privacy needs, any C",
)
@each
def _(constant, m, mu, epsilon, log_inverse_delta) -> Sides:
    """What any ε₀-private test needs: k changes lead from data rejected with probability <= δ to data with >= 1 − δ."""
    length = whole(log_inverse_delta, 1, 10**6, "log_inverse_delta")
    rate = exact.largest([sqrt(fmpq(length, whole(m, 2, 10**6, "m"))) / between(mu, 0, 1, "mu") ** 2, 2])
    k_epsilon = constant * rate + between(epsilon, 0, 100, "epsilon")  # k is rounded up
    return length + log(1 - exp(-length)), "<=", k_epsilon


@says("busafekete2021:alg-5", "[all cases] P(z | π)² <= e^mγ P(z | π′)², mγ = 2ε₀, every report z and two rankings")
def _(m, odds) -> Sides:
    rows, found = [signs(list(order), m) for order in exact.orders(whole(m, 2, 5, "m"))], []
    odds = between(odds, 1, 10**6, "e^γ")
    for z in product((-1, 1), repeat=m // 2):
        law = [prod((odds if a == b else 1) / (odds + 1) for a, b in zip(z, row, strict=True)) for row in rows]
        found += [p**2 <= odds**m * q**2 for p, q in product(law, repeat=2)]
    return sum(found), "==", len(found)


@says(
    "busafekete2021:sec-6:tanh", "[read as: ≈ is equal in the limit] (e^γ − 1)/(e^γ + 1)/(2ε₀/m) >= 999/1000, γ = 2ε₀/m"
)
def _(m, epsilon) -> Sides:
    g = 2 * between(epsilon, 0, fmpq(m, 200), "epsilon") / whole(m, 2, 10**6, "m")  # small, where ≈ is meant
    return (exp(g) - 1) / (exp(g) + 1) / g, ">=", fmpq(999, 1000)


@says("busafekete2021:thm-7", "[read as: ε fixed] k(2m) <= (3/2) 2^(3/2) k(m), k = √(ln(1/δ)/m)/μ₀², ε = 1/2")
def _(epsilon_0, steps) -> list[Sides]:
    """At every [m, low, high] φ_ε lies between `low` and `high`, and k between two bounds; ln(1/δ) cancels."""
    need(len(steps) >= 4 and all(2 * a[0] == b[0] for a, b in pairwise(steps)), "m must double three times or more")
    factors, k = [(arb(between(epsilon_0, 0, 100, "epsilon_0")) / whole(it[0], 4, 64, "m")).tanh() for it in steps], []
    for (m, *phis), factor in zip(steps, factors, strict=True):
        far, near = (from_uniform(m, between(phi, 0, 1, "phi")) for phi in phis)
        need(bool(near < fmpq(1, 2) < far), "the distances must lie on both sides of 1/2")
        powers = [arb(phi) ** fmpq(m, 8) for phi in phis]
        k.append([1 / (((1 - x) / (1 + x) * factor) ** 2 * sqrt(m)) for x in powers])
    return [(after[0] / before[1], "<=", 3 * sqrt(2)) for before, after in pairwise(k)]


@says("busafekete2021:thm-7:randomness", "m! <= 2^m, as m public bits are to give a random ranking")
def _(m) -> Sides:
    return factorial(whole(m, 2, 200, "m")), "<=", 2**m


@says("busafekete2021:sec-7:epsilon-role", "p of line 15 at tolerance ε == p at another one, same k and data, m = 2")
def _(k, s, epsilon, other) -> Sides:
    need(whole(k, 2, 10**6, "k") < whole(s, 2, k, "s") ** 2 and (k - s) % 2 == 0, "signs of sum s that leave p > 0")
    both = [between(it, 0, fmpq(1, 2), "tolerance") for it in (epsilon, other)]
    roots = [arb((1 - 2 * it) / (1 + 2 * it)) ** fmpq(1, 4) for it in both]  # φ^(m/8); at m = 2 ε = (1 − φ)/(2 + 2φ)
    left, right = (line_15(2, k, (1 - x) / (1 + x), fmpq(s**2, k)) for x in roots)
    return left, "==", right


@says("busafekete2021:sec-7.3:third", "⌈1/ε₀⌉ == 3 at ε₀ = 0.33")
def _(epsilon) -> Sides:
    need(rational(epsilon, "epsilon") == fmpq(33, 100), "epsilon must be 33/100")
    return int((1 / epsilon).ceil()), "==", 3


@says("busafekete2021:sec-7.3:near-one", "μ >= 1/2 as φ tends to 1, m of Figure 3")
def _(m, phis) -> list[Sides]:
    need(m in (10, 100, 500, 1000) and len(phis) >= 3, "no m of the figure, or less than 3 φ")
    gaps = [1 - between(phi, fmpq(9, 10), 1, "phi") for phi in phis]
    need(all(10 * b <= a for a, b in pairwise(gaps)), "φ must come ten times nearer to 1")
    return [((1 - x) / (1 + x), ">=", fmpq(1, 2)) for x in (arb(phi) ** fmpq(m, 8) for phi in phis)]


def guessed(m: int, odds: Number) -> Number:
    """P(right guess) at a uniform ranking from its signs, each kept with these odds: the best guess agrees most."""
    rows, right = [signs(list(order), m) for order in exact.orders(m)], 0
    for report in product((-1, 1), repeat=m // 2):
        right += odds ** max(sum(a == b for a, b in zip(row, report, strict=True)) for row in rows)
    return right / (1 + odds) ** (m // 2) / len(rows)


@says("busafekete2021:sec-7.3:adversary", "[read as: know = be right 19 times in 20] P(right guess) <= 19/20")
def _(m, epsilon) -> Sides:
    return guessed(m, exp(2 * between(epsilon, 0, 100, "epsilon") / whole(m, 2, 5, "m"))), "<=", fmpq(19, 20)


@says("busafekete2021:sec-7.3:adversary", "[corrected, attained] P(right guess) == e^ε₀/(e^ε₀ + m! − 1) at m = 2")
def _(odds) -> Sides:
    return guessed(2, between(odds, 1, 10**6, "e^ε₀")), "==", odds / (odds + 1)


# ---------------------------------------------------------------- what is said of earlier tests, and of noise


@says(
    "busafekete2021:sec-2:central-rate",
    "[read as: ε₀ under the first term] √d/ε² <= C(√d/(ε²ε₀) + √d/(ε√ε₀) + ∛d/(ε^(4/3) ε₀^(2/3)) + 1/(εε₀)), any C",
)
@each
def _(d, epsilon, budget, constant) -> Sides:
    cells, epsilon = whole(d, 2, 10**30, "d"), between(epsilon, 0, 1, "epsilon")
    need(rational(budget, "ε₀") > 0, "ε₀ must be positive")
    need_without = sqrt(cells) / epsilon**2
    third = exp((log(cells) - 4 * log(epsilon) - 2 * log(budget)) / 3)
    rest = sqrt(cells) / (epsilon * sqrt(budget)) + third + 1 / (epsilon * budget)
    return need_without, "<=", constant * (need_without / budget + rest)


@says(
    "busafekete2021:sec-5:noise-variance",
    "[read as: one factor c for all m] loss Δ/b of Y + Laplace(b) <= ε₀, 2b² = cΔ, Y moves by Δ = 2m, any c",
)
@each
def _(m, epsilon_0, constant) -> Sides:
    moved = 2 * whole(m, 2, 10**30, "m")
    return moved / sqrt(rational(constant, "c") * moved / 2), "<=", between(epsilon_0, 0, 10**4, "ε₀")


@says(
    "busafekete2021:sec-6:worst-pair",
    "log P((1, …, 1)|π)/P((1, …, 1)|π′) == ε₀, all signs of π are −1, all of π′ are 1, m even, γ = 2ε₀/m",
)
def _(first, second, epsilon_0) -> Sides:
    m, budget = whole(len(first), 2, 60, "m"), between(epsilon_0, 0, 10**4, "ε₀")
    x, y = signs(first, m), signs(second, m)
    need(m % 2 == 0 and set(x) == {-1} and set(y) == {1}, "m must be even, and all signs −1 and 1")
    growth = exp(2 * budget / fmpq(m))
    law = {1: growth / (growth + 1), -1: 1 / (growth + 1)}  # W(1|sign)
    return sum((log(law[a]) - log(law[b]) for a, b in zip(x, y, strict=True)), arb(0)), "==", budget
