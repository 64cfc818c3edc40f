"""What Cai, Chakraborty and Wang (2025) print in words, of optimality, and in single lines of their proofs.

F is logistic. Where a side is a bound and not the quantity itself, it errs on the paper's side.
"""

import itertools
from collections.abc import Iterator

from cai2025_edge import positive, rates, same_laws, win
from cai2025_individual import K1, K2, chain, first_ahead, neighbours, preferences, rate
from exact import Number, Sides, Statements, between, binomial, exp, log, loss, need, rational, sqrt, whole
from flint import arb, fmpq

STATEMENTS = Statements()
says = STATEMENTS.says
NEAR = fmpq(1, 4)  # what the authors' code takes for κ2; (A2) wants more, and then the ridge is larger


def rising(sizes: list, most: int = 10**60) -> list[int]:
    need(isinstance(sizes, list) and 3 <= len(sizes) <= 9, "a chain has 3 to 9 sizes")
    need(all(a < b for a, b in itertools.pairwise([whole(it, 2, most, "a size") for it in sizes])), "sizes must grow")
    return sizes


# ---------------------------------------------------------------- Section 1


@says("cai2025:sec-1:prevail", "[read as: ranked by τ, any chances] ρ_12 > 1/2, τ_1 > τ_2 > … > τ_n")
def _(rho: list) -> Sides:
    tau = [sum(row) for row in rho[: preferences(rho)]]
    need(all(a > b for a, b in itertools.pairwise(tau)), "items must stand in the order of τ")
    return rational(rho[0][1], "ρ"), ">", fmpq(1, 2)


def seen(data: list, n: int) -> int:
    """How many comparisons, each a winner and a loser, and each pair once at most."""
    found = [frozenset(whole(it, 0, whole(n, 2, 50, "n") - 1, "an item") for it in pair) for pair in data]
    need(all(len(it) == 2 for it in found) and len(set(found)) == len(found), "a pair is compared twice")
    return len(found)


def guessed(p: list, q: list) -> Number:
    """The best chance to tell two laws, both as likely."""
    for law in (p, q):
        need(all(rational(it, "a chance") >= 0 for it in law) and sum(law) == 1, "no law")
    return (1 + sum((abs(fmpq(a) - b) for a, b in zip(p, q, strict=True)), fmpq(0)) / 2) / 2


@says(
    "cai2025:sec-1.1:presence",
    "[read as: whether one comparison more is there] P(right guess from an ε-private output) <= e^ε/(1 + e^ε)",
)
def _(n: int, data: list, more: list, release: list, epsilon: Number) -> Sides:
    """The output's law depends on the number of comparisons alone, which neighbours of Section 2.1 share."""
    fewer, larger = seen(data, n), seen(more, n)
    need(larger == fewer + 1 and all(it in more for it in data), "no comparison more")
    growth = exp(positive(epsilon, 20))
    return guessed(release[fewer], release[larger]), "<=", growth / (1 + growth)


@says("cai2025:sec-1.1:likelihood", "likelihood of θ == L(θ; y) of (2.1), two items, one comparison")
def _(theta: list, won: int) -> Sides:
    first, second = (rational(it, "θ") for it in theta)
    chance = win(first - second if whole(won, 0, 1, "won") else second - first)
    return chance, "==", -log(chance)


@says(
    "cai2025:sec-1.1:likelihood",
    "[says something: the minimiser's order is right] L + (γ/2)‖θ‖² at (x, −x) < that at (−x, x), L the"
    " likelihood, item 0 won",
)
def _(x: Number, ridge: Number) -> Sides:
    level = positive(ridge) * positive(x, 100) ** 2
    return win(2 * x) + level, "<", win(-2 * x) + level


@says(
    "cai2025:sec-1.1:optimal",
    "[read as: one C for all n] rate of (2.6) <= C rate of (2.10), np = c₁ (log n)^(3/2), ε = c₂/√(log n), n = 2^a",
)
def _(exponents: list, c_1: Number, c_2: Number, constant: Number) -> Iterator[Sides]:
    for a in rising(exponents):
        size = whole(a, 40, 10**60, "a") * log(2)
        mean, epsilon = positive(c_1) * size * sqrt(size), positive(c_2) / sqrt(size)
        need(bool(epsilon < 1) and bool(log(mean) < size), "ε < 1, p < 1")
        first = sqrt(size / mean)
        yield first + size / (mean * epsilon), "<=", positive(constant) * (first + 1 / (mean * epsilon))


# ---------------------------------------------------------------- Sections 2 and 3


@says(
    "cai2025:sec-2.2:tuning", "[read as: always, a larger γ, one λ] E‖θ̃ − θ*‖₂ at γ′ >= that at γ, γ′ > γ, n = 2, p = 1"
)
def _(truth: Number, scale: Number, ridges: list) -> Sides:
    """At γ: |γ(θ̃_1 − θ̃_2) + w_1 − w_2| <= 2, E|w_1 − w_2| = 3λ/2. At γ′: γ′‖θ̃‖ <= ‖∇L(0)‖ + ‖w‖, E‖w‖² = 4λ²."""
    (ridge, larger), norm = map(positive, ridges), arb(2).sqrt() * positive(truth, 1)
    need(larger > ridge and positive(scale) > fmpq(4, 3), "γ′ > γ, λ > 4/3")
    return norm + (1 / arb(2).sqrt() + 2 * scale) / larger, ">=", (fmpq(3, 2) * scale - 2) / (ridge * sqrt(2)) - norm


def named(rho: list, guess: list, wide: Number, c: Number) -> Sides:
    """How often a set that is named without a look at the data is wrong, below c times the threshold."""
    k, tau = len(guess), [sum(row) / len(row) for row in rho[: preferences(rho)]]
    order = sorted(range(len(rho)), key=lambda i: -tau[i])
    need(0 < k < len(rho) and len(set(guess)) == k and set(guess) <= set(order), "0 < k < n items")
    gap = tau[order[k - 1]] - tau[order[k]]
    need(bool(wide < 1) and gap > 0 and bool(gap < between(c, 0, 1, "c") * wide), "a unique set below the threshold")
    return int(set(guess) != set(order[:k])), ">=", fmpq(1, 10)


@says(
    "cai2025:sec-2.3.1:no-algorithm",
    "[read as: at each such ρ] P(S ≠ S_k) >= 1/10 if gap < c(√(log n/(np)) + log n/(npε)), S private",
)
def _(rho: list, guess: list, p: Number, epsilon: Number, c: Number) -> Sides:
    return named(rho, guess, sum(rates(len(rho), positive(p, 1), positive(epsilon))), c)


@says(
    "cai2025:sec-3.3:no-algorithm",
    "[read as: at each such ρ] P(S ≠ S_k) >= 1/10 if gap < c(√(n log n/m) + n log n/(mε)), S private",
)
def _(rho: list, guess: list, m: int, epsilon: Number, c: Number) -> Sides:
    return named(rho, guess, rate(len(rho), whole(m, 1, 10**30, "m"), positive(epsilon)), c)


@says(
    "cai2025:sec-2.3.2:full-ranking",
    "[read as: some ρ is beyond it, one C > 0 for all n] n C(√(log n/(np)) + log n/(npε)) <= 1",
)
def _(sizes: list, p: Number, epsilon: Number, constant: Number) -> Iterator[Sides]:
    for n in rising(sizes):  # τ_(1) − τ_(n) <= (n − 1)/n, so that some of the n − 1 gaps is at most 1/n
        yield n * positive(constant) * sum(rates(n, positive(p, 1), positive(epsilon))), "<=", 1


@says("cai2025:sec-3.1:factor-l", "[read as: of the counts, L times at least] (L/ε)/(2/ε) >= L, Algorithms 3 and 2")
def _(answers: int, epsilon: Number) -> Sides:
    person, comparison = whole(answers, 1, 100, "L") / positive(epsilon), 2 / positive(epsilon)
    return person / comparison, ">=", answers


@says(
    "cai2025:sec-3.2:nonprivate-rate",
    "[read as: over ‖θ‖∞ <= 1, as in Theorem 3.2] inf sup E‖M − θ‖∞ <= C √(n log n/m), no privacy",
)
def _(low: Number, high: Number, n: int, voters: list, constant: Number) -> Iterator[Sides]:
    for m in rising(voters):
        yield same_laws(low, high), "<=", positive(constant) * sqrt(whole(n, 2, 10**9, "n") * log(n) / m)


@says("cai2025:abstract:optimal", "[read as: of Section 3's counts] |log P(order | D)/P(order | D')| <= ε, two items")
def _(voters: list, others: list, epsilon: Number) -> Sides:
    answers, counts = neighbours(voters, others)
    p, q = (first_ahead(wins, answers / positive(epsilon, 20)) for wins in counts)
    return loss([p, 1 - p], [q, 1 - q]), "<=", rational(epsilon, "ε")


# ---------------------------------------------------------------- Sections 4 and 5


def shifted(weights: list, kappa_2: Number) -> arb:
    """Of ‖θ*‖₂, at least E‖θ̃ − θ*‖₂: as 1ᵀ∇L = 0, 1ᵀθ̃ is −1ᵀw/γ, and 1ᵀθ* is 0; λ/γ = κ1/κ2 and κ1 > 1."""
    n, theta = len(weights), [log(it) for it in weights]
    need(4 <= n == 4 * (n // 4) <= 100 and weights[: n // 4] == [1] * (n // 4), "e^θ = 1 for the first n/4")
    need(all(fmpq(1, 5) <= rational(it, "e^θ") <= fmpq(7, 10) for it in weights[n // 4 :]), "e^θ from 0.2 to 0.7")
    need(NEAR <= rational(kappa_2, "κ2") <= 1, "κ2 is too small for logistic F, or too large")
    norm = sqrt(sum((it - sum(theta) / n) ** 2 for it in theta))
    return n * fmpq(binomial(2 * n, n), 2 ** (2 * n - 1)) / (kappa_2 * sqrt(n)) / norm  # E|Σw|/λ, of n Laplace(1)


@says(
    "cai2025:exp-6", "[read as: (3.2) as printed, better than all equal in the end] E‖θ̃ − θ*‖₂/‖θ*‖₂ < 1, any m, n = 16"
)
@says(
    "cai2025:exp-7", "[read as: (3.2) as printed, better than all equal in the end] E‖θ̃ − θ*‖₂/‖θ*‖₂ < 1, any ε, n = 16"
)
def _(weights: list, kappa_2: Number) -> Sides:
    need(len(weights) == 16, "the experiment has 16 items")
    return shifted(weights, kappa_2), "<", 1


@says("cai2025:finding-2", "[read as: (3.2) as printed, off by half at most] E‖θ̃ − θ*‖₂/‖θ*‖₂ <= 1/2, few items, any m")
def _(weights: list, kappa_2: Number) -> Sides:
    need(len(weights) <= 12, "few items")
    return shifted(weights, kappa_2), "<=", fmpq(1, 2)


@says(
    "cai2025:sec-5:divergence", "[read as: at equal numbers of answers] edge privacy's rate at n′ < that at n, n′ > n"
)
def _(sizes: list, comparisons: int, epsilon: Number) -> Iterator[Sides]:
    found = []
    for n in rising(sizes, 10**9):
        p = fmpq(whole(comparisons, 1, n * (n - 1) // 2, "comparisons"), binomial(n, 2))
        need(bool(n * p * positive(epsilon, 1) >= log(n)), "np is too small")
        found.append(sum(rates(n, p, epsilon)))
    return [(after, "<", before) for before, after in itertools.pairwise(found)]


# ---------------------------------------------------------------- Appendices A and B


@says("cai2025:eq-a.18", "[read as: term by term] η 9λ√n log n <= 9λ log n/√(np), η = 1/(c₀ √(np log n) + 3κ2np)")
def _(n: int, p: Number, epsilon: Number, kappa_2: Number, c: list) -> Sides:
    n, p, (c_0, c_1) = whole(n, 2, 10**60, "n"), positive(p, 1), map(positive, c)
    need(rational(kappa_2, "κ2") >= K2 and c_1 >= 1, "κ2 is too small for logistic F, or c₁")
    scale = 8 * K1 / between(epsilon, 0, 1, "ε")
    need(bool(p * n >= c_1 * scale * log(n)), "p >= c₁ λ log n/n")
    step = 1 / (c_0 * sqrt(n * p * log(n)) + 3 * kappa_2 * n * p)
    return step * 9 * scale * sqrt(n) * log(n), "<=", 9 * scale * log(n) / sqrt(n * p)


def lower(n: int, p: Number, kappa: list, c_0: Number) -> tuple[Number, Number, Number, Number]:
    """1 − η(γ + κ1²np/4), (3κ2 − κ1²/4)np, γ and np."""
    kappa_1, kappa_2 = (rational(it, "κ") for it in kappa)
    mean = whole(n, 2, 10**9, "n") * positive(p, 1)
    need(kappa_1 > 1 and kappa_2 >= K2, "(A1) or (A2) fails for logistic F")
    ridge = positive(c_0) * sqrt(mean * log(n))
    step = 1 / (ridge + 3 * kappa_2 * mean)
    return 1 - step * (ridge + kappa_1**2 * mean / 4), (3 * kappa_2 - kappa_1**2 / 4) * mean, ridge, mean


@says("cai2025:eq-a.23", "1 − η(γ + κ1²np/4) == (3κ2 − κ1²/4)np/(γ + np), γ = c₀ √(np log n), η = 1/(γ + 3κ2np)")
def _(n: int, p: Number, kappa: list, c_0: Number) -> Sides:
    left, above, ridge, mean = lower(n, p, kappa, c_0)
    return left, "==", above / (ridge + mean)


def far_apart(n: int, p: Number, kappa_1: Number, off: Number, c: Number, sign: int) -> arb:
    """log of 2 exp(±t²/(2 ΣE B² + κ1²‖v − θ*‖t/3)), with the paper's bound on E B² and its t."""
    mean, off = whole(n, 2, 10**60, "n") * positive(p, 1), positive(off, 4)
    need(rational(kappa_1, "κ1") > 1 and bool(mean >= log(n)), "κ1 > 1 for logistic F, p >= log n/n")
    t = positive(c) * kappa_1**2 * max(1, off) * sqrt(mean * log(n))
    return log(2) + sign * t**2 / (mean * kappa_1**4 * off**2 / 2 + kappa_1**2 * off * t / 3)


@says(
    "cai2025:eq-a.33",
    "[read as: one C' for all n] log of 2 exp(−(−t²)/(2ΣE B_j² + (2/3)(κ1²‖v − θ*‖∞/2)t)) <= log C' − 8 log n",
)
def _(sizes: list, p: Number, kappa_1: Number, off: Number, c: Number, constant: Number) -> Iterator[Sides]:
    for n in rising(sizes):
        yield far_apart(n, p, kappa_1, off, c, 1), "<=", log(positive(constant)) - 8 * log(n)


@says(
    "cai2025:sec-b.2:optimization",
    "[read as: one C for all n and m] P(‖θ^(T) − θ̃‖₂ <= e^(−n²) √n log n) >= 1 − C/n⁵, T = ⌈(c₀ + 3κ2)n³/c₀⌉, m = n⁶",
)
def _(sizes: list, epsilon: Number, c_0: int, times: int) -> Iterator[Sides]:
    """The sum of θ^(t) is 0 at first and tends to −1ᵀw/γ by 1 − ηγ a step; the density of 1ᵀw/λ is largest at 0."""
    for n in chain(sizes, times, epsilon):
        need(n <= 300, "n is too large")
        mean, scale = 2 * n**5, 8 * K1 / rational(epsilon, "ε")  # S, L = 1
        ridge = whole(c_0, 1, 100, "c₀") * sqrt(mean * log(n))
        need(bool(ridge <= c_0 * mean), "γ <= c₀S")
        steps = -((-(c_0 + 3 * K2) * n**3) // c_0)
        left = exp(steps * log(1 - ridge / (ridge + 3 * K2 * mean)))
        within = exp(-(n**2)) * sqrt(n) * log(n) * ridge * sqrt(n) / (scale * left)
        yield 2 * within * fmpq(binomial(2 * n - 2, n - 1), 2 ** (2 * n - 1)), ">=", 1 - fmpq(times, n**5)


@says(
    "cai2025:sec-b.2:final",
    "[read as: one C for all n and m] log n/n <= C(√(log n/S) + Lλ log n/S), S = 2mL/n, λ = 8Lκ1/ε, L = 1, m = n⁶",
)
def _(sizes: list, epsilon: Number, times: int) -> Iterator[Sides]:
    for n in chain(sizes, times, epsilon):
        mean, scale = 2 * n**5, 8 * K1 / rational(epsilon, "ε")
        yield log(n) / n, "<=", times * (sqrt(log(n) / mean) + scale * log(n) / mean)
