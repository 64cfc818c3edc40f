"""What Cai, Chakraborty and Wang (2025) print of a voter's privacy: Sections 3 and 4, and Appendix B."""

import itertools

from exact import Sides, Statements, binomial, exp, integral, log, loss, need, rational, sqrt, whole
from flint import acb, arb, fmpq, fmpq_mat

STATEMENTS = Statements()
says = STATEMENTS.says
K1, K2 = fmpq(11, 10), 57  # what (A1) and (A2) allow the logistic F: above 1, and above 1 / F'(4) = 2 + e⁴ + e⁻⁴
# answers per pair: CEMSChoice of R's psychotree, from Dittrich et al. (1998); Weber and Hatzinger (2011)
CEMS, IMMIGRATION = [303] * 2 + [212] + [303] * 12, [88, 88, 84, 82, 80, 81]


def between(value, low, high, name: str) -> fmpq:
    value = rational(value, name)
    need(low < value <= high, f"{name} must be above {low} and at most {high}")
    return value


def rate(n: int, m: int, epsilon: fmpq) -> arb:
    return sqrt(n * log(n) / m) + n * log(n) / (m * epsilon)


def neighbours(voters, others) -> tuple[int, list[list[int]]]:
    """L, and the wins of two items in two data sets: a voter is a list of L answers, each the item 0 or 1 that won."""
    need(0 < len(voters) == len(others) <= 50, "the same 1 to 50 voters")
    need(sum(a != b for a, b in zip(voters, others, strict=True)) <= 1, "more than one voter changed")
    answers = whole(len(voters[0]), 1, 20, "L")
    need(all(len(it) == answers and set(it) <= {0, 1} for it in [*voters, *others]), "L answers, each 0 or 1")
    return answers, [[sum(it.count(item) for it in data) for item in (0, 1)] for data in (voters, others)]


def first_ahead(wins: list[int], scale: fmpq) -> arb:
    """P(item 0 has the larger noisy count), over the noise of the leader (right of 0, left down to the gap, beyond)."""
    gap, end = abs(wins[0] - wins[1]) / arb(scale), 200

    def tail(z: acb) -> acb:
        return (-z).exp() / 2

    behind = integral(lambda z: tail(z) * tail(gap + z), 0, end) + integral(lambda z: tail(z) * tail(gap - z), 0, gap)
    behind += integral(lambda z: tail(z) * (1 - tail(z - gap)), gap, gap + end) + arb(0, exp(-end))
    return 1 - behind if wins[0] >= wins[1] else behind


@says("cai2025:alg-3", "|log P(order | D)/P(order | D')| <= ε, N_i + Laplace(L/ε), two items, one voter changed")
def _(voters, others, epsilon) -> Sides:
    answers, counts = neighbours(voters, others)
    p, q = (first_ahead(wins, answers / between(epsilon, 0, 20, "ε")) for wins in counts)
    return loss([p, 1 - p], [q, 1 - q]), "<=", rational(epsilon, "ε")


@says("cai2025:alg-3", "[corrected, attained] log p(y | D)/p(y | D') == ε, y_i = N_i + Laplace(2L/ε)")
def _(voters, others, released, epsilon) -> Sides:
    answers, (one, two) = neighbours(voters, others)
    apart = [abs(rational(y, "y") - b) - abs(y - a) for y, a, b in zip(released, one, two, strict=True)]
    return sum(apart) * between(epsilon, 0, 20, "ε") / (2 * answers), "==", rational(epsilon, "ε")


@says(
    "cai2025:alg-3", "[all cases] [corrected] ‖N(D) − N(D')‖₁ <= 2L, all L answers of a voter on n items, old and new"
)
def _(n, answers) -> Sides:
    data = itertools.product(itertools.permutations(range(whole(n, 2, 4, "n")), 2), repeat=whole(answers, 1, 3, "L"))
    wins = [[sum(winner == i for winner, _ in it) for i in range(n)] for it in data]
    found = [sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= 2 * answers for x in wins for y in wins]
    return sum(found), "==", len(found)


def chain(sizes, times, epsilon) -> list[int]:
    """Rising sizes; what ≲ may hide is granted 100 or more, and ε < 1. From here on F is logistic."""
    need(3 <= len(sizes) <= 20 and 0 < rational(epsilon, "ε") < 1, "a chain has 3 to 20 sizes, and 0 < ε < 1")
    need(sorted({whole(it, 2, 10**60, "a size") for it in sizes}) == sizes, "sizes must rise")
    whole(times, 100, 10**9, "C")
    return sizes


@says(
    "cai2025:thm-3.1",
    "[read as: one C for all n and m] P(‖θ̃ − θ*‖∞ <= C(√(n log n/m) + n log n/(mε))) >= 1 − C/n⁵,"
    " γ = 8Lκ2/ε, λ = 8Lκ1/ε, m = n⁶",
)
def _(sizes, epsilon, times):
    """The mean of θ̃ is the noise's over −γ; the density of a sum of n Laplace(1) is at most that at 0."""
    for n in chain(sizes, times, epsilon):
        need(n <= 20_000, "n is too large")
        sum_within = times * rate(n, n**6, epsilon) * n * K2 / K1
        yield 2 * sum_within * fmpq(binomial(2 * n - 2, n - 1), 2 ** (2 * n - 1)), ">=", 1 - fmpq(times, n**5)


@says("cai2025:thm-3.2:optimal", "[read as: over centred θ] E‖θ̃ − θ*‖∞ <= C sup E‖θ̂ − θ*‖∞, ε-private θ̂, ‖θ*‖∞ <= 1")
def _(n, voters, epsilon, times):
    """L = 1. θ̂: net wins of each pair + Laplace(2/ε) give a share; F⁻¹ of it, cut to ±2; mean over opponents."""
    pairs, slope = binomial(whole(n, 2, 1000, "n"), 2), 1 / (2 + exp(2) + exp(-2))
    mean_of_noise = fmpq(binomial(2 * n, n), 2 ** (2 * n - 1))  # E |W_1 + ... + W_n|/n for Laplace(1)
    for m in chain(voters, times, epsilon):
        off = pairs / arb(2 * m) * (sqrt(m / arb(pairs)) + 2 / rational(epsilon, "ε"))  # of a share, at most
        yield K1 / K2 * mean_of_noise, "<=", times * (n - 1) * off / slope


@says(
    "cai2025:sec-b.2:induction",
    "[read as: one C for all n] ‖θ^(1) − θ*‖₂ <= C(√(log n/S) + Lλ log n/(√n S)) (H1), γ = 100 √(S log n), L = 1",
)
def _(sizes, degrees, epsilon, times):
    """θ* = 0, c0 = 100. Each entry of ∇L + w is beyond λ log 2 with chance 1/2; n/4 are, with chance 1 − e^(−n/8)."""
    scale = 8 * K1 / epsilon
    for n, mean in zip(chain(sizes, times, epsilon), degrees, strict=True):
        need(bool(120 * log(n) <= whole(mean, 1, 10**9, "S")) and n * mean % 2 == 0, "mL = nS/2 >= 60 n log n")
        step = 1 / (100 * sqrt(mean * log(n)) + 3 * K2 * mean)
        bound = times * (sqrt(log(n) / mean) + scale * log(n) / (sqrt(n) * mean))
        yield step * scale * log(2) * sqrt(n) / 2, "<=", bound


@says("cai2025:thm-3.2:proof", "‖θ − θ'‖∞/a_n <= 10, θ' exchanges θ_(K) and θ_(K+1), which are 100 a_n apart")
def _(theta, k, risk) -> Sides:
    need(all(rational(a, "θ") > b for a, b in itertools.pairwise(theta)) and 1 >= theta[0] > theta[-1] >= -1, "no θ")
    need(theta[whole(k, 1, len(theta) - 1, "K") - 1] - theta[k] == 100 * between(risk, 0, 1, "a_n"), "100 a_n apart")
    other = [*theta[: k - 1], theta[k], theta[k - 1], *theta[k + 1 :]]
    return max(abs(a - b) for a, b in zip(theta, other, strict=True)) / fmpq(risk), "<=", 10


def change_of_hessian(before, after, n) -> fmpq_mat:
    """At equal strengths, where an answer on {i, j} adds (e_i − e_j)(e_i − e_j)ᵀ/4; a voter has L pairs."""
    change = fmpq_mat(whole(n, 2, 60, "n"), n)
    need(0 < len(before) == len(after) <= 15, "L pairs, before and after")
    for sign, (i, j) in [*((-1, it) for it in before), *((1, it) for it in after)]:
        need(whole(i, 0, n - 1, "an item") != whole(j, 0, n - 1, "an item"), "no pair")
        along = fmpq_mat(n, 1, [(it == i) - (it == j) for it in range(n)])
        change += along * along.transpose() * fmpq(sign, 4)
    return change


@says("cai2025:prop-3.1:proof", "rank(∇²R(t; y') − ∇²R(t; y)) <= L, t = 0, one voter's L pairs changed")
def _(before, after, n) -> Sides:
    return change_of_hessian(before, after, n).rank(), "<=", len(before)


@says("cai2025:prop-3.1:proof", "[corrected, attained] rank(∇²R(t; y') − ∇²R(t; y)) == 2L")
def _(before, after, n) -> Sides:
    return change_of_hessian(before, after, n).rank(), "==", 2 * len(before)


def preferences(rho) -> int:
    n = len(rho)
    need(2 <= n <= 30 and all(len(row) == n for row in rho), "no matrix")
    need(all(between(it, -1, 1, "ρ") >= 0 for row in rho for it in row), "no probabilities")
    need(all(rho[i][j] + rho[j][i] == 1 for i in range(n) for j in range(n)), "ρ_ij + ρ_ji = 1")
    return n


@says("cai2025:thm-3.3:proof", "P(d_0 ≠ 0, d_j ≠ 0) − P(d_0 ≠ 0) P(d_j ≠ 0) == 0 in one draw: the d's are independent")
def _(rho, a, b, j) -> Sides:
    n = preferences(rho)
    need(len({whole(it, 0, n - 1, "an item") for it in (a, b, j)}) == 3, "three items")
    beats = {(x, y): fmpq(rho[x][y]) / binomial(n, 2) for x, y in itertools.permutations(range(n), 2)}
    zero, other = {(a, b), (b, a)}, {(a, j), (b, j)}
    both, p, q = (sum(beats[it] for it in event) for event in (zero & other, zero, other))
    return both - p * q, "==", 0


@says("cai2025:thm-3.4", "P(d_H(S, S_k) > 2u) >= 1/10, u <= min(k − 1, n − k − 1), S drawn blindly (and so private)")
def _(cases):
    need(all(a[0] < b[0] for a, b in itertools.pairwise(cases)) and len(cases) > 2, "a chain of rising n")
    for n, k, u in cases:
        whole(u, 0, min(whole(k, 1, 15, "k"), whole(n, 3, 16, "n") - k) - 1, "u")
        fails = [2 * (k - sum(i < k for i in s)) > 2 * u for s in itertools.combinations(range(n), k)]
        yield fmpq(sum(fails), len(fails)), ">=", fmpq(1, 10)


@says("cai2025:thm-3.4:u0", "[read as: at each such ρ] P(S ≠ S_k) >= 1/10 if gap < c(√(n log n/m) + n log n/(mε))")
def _(rho, guess, m, epsilon, c) -> Sides:
    n, k, tau = preferences(rho), len(set(guess)), [sum(row) / len(row) for row in rho]
    order = sorted(range(n), key=lambda i: -tau[i])
    wide = rate(n, whole(m, 1, 10**30, "m"), between(epsilon, 0, 20, "ε"))
    need(0 < k < n and set(guess) <= set(order) and bool(wide < 1), "0 < k < n, a rate below 1")
    gap = tau[order[k - 1]] - tau[order[k]]
    need(gap > 0 and bool(gap < between(c, 0, 1, "c") * wide), "a unique top set by less than c times the rate")
    return int(set(guess) != set(order[:k])), ">=", fmpq(1, 10)


@says(
    "cai2025:lem-b.2:proof",
    "[read as: over all draws, as in steps 0 and 1, not on the degree event] log P(|g| > t) <= log 2 − t²/(2κ1²S), "
    "t > 0, mL >= 60 n log n i.i.d. draws, θ* = 0",
)
def _(n, draws, t) -> Sides:
    """g adds up ±1/2, each with chance 1/n a draw; beyond (mL − 1)/2 all are of one sign, and none is 0."""
    need(bool(60 * whole(n, 2, 10**9, "n") * log(n) <= whole(draws, 1, 10**30, "mL")), "mL >= 60 n log n")
    need(draws - 1 <= 2 * rational(t, "t") < draws, "t must be from (mL − 1)/2 to mL/2")
    return log(2) - draws * log(n), "<=", log(2) - t**2 / (2 * K1**2 * fmpq(2 * draws, n))


@says(
    "cai2025:lem-b.2:proof",
    "[all cases] [read as: given the pairs] P(|g| > t) <= 2 exp(−t²/(2S)), S the mean degree, each d <= 3S/2,"
    " t just below each g > 0, θ* = 0",
)
def _(mean) -> Sides:
    found = [  # g is won − d/2, won of d coins, and t just below one of its values; κ1 > 1 makes the right side larger
        bool(fmpq(sum(binomial(d, it) for it in range(won, d + 1)), 2**d) <= exp(-fmpq((2 * won - d) ** 2, 8 * mean)))
        for d in range(1, 3 * whole(mean, 1, 100, "S") // 2 + 1)
        for won in range(d // 2 + 1, d + 1)
    ]
    return sum(found), "==", len(found)


@says("cai2025:lem-b.3:proof", "t²/(8nλ²) <= t/(4λ) at t = 8λ √(n log n)")
def smaller(n) -> Sides:
    t_over_scale = 8 * sqrt(whole(n, 2, 10**9, "n") * log(n))
    return t_over_scale**2 / (8 * n), "<=", t_over_scale / 4


@says("cai2025:lem-b.3:proof", "[corrected, attained] t²/(8nλ²) <= t/(4λ) at n, but not at n − 1, t = 8λ √(n log n)")
def _(n) -> list[Sides]:
    left, _, right = smaller(whole(n, 3, 10**9, "n") - 1)
    return [smaller(n), (left, ">", right)]


def eigenvalue(n: int) -> fmpq:
    """Of the complete graph with weights 2/(n(n − 1)), at e_0 − e_1: by symmetry that of all vectors of sum 0."""
    weight = fmpq(2, whole(n, 2, 60, "n") * (n - 1))
    laplacian = fmpq_mat(n, n, [weight * (n - 1 if i == j else -1) for i in range(n) for j in range(n)])
    vector = fmpq_mat(n, 1, [1, -1, *[0] * (n - 2)])
    value = (laplacian * vector)[0, 0]
    need(laplacian * vector == vector * value, "no eigenvector")
    return value


@says("cai2025:lem-b.4:proof", "the non-zero eigenvalues == 2/n; e^(−δ)/(1 − δ)^(1 − δ) == e^(−1/8) at δ = 1/2")
def _(n) -> list[Sides]:
    half = fmpq(1, 2)
    return [(eigenvalue(n), "==", fmpq(2, n)), (exp(-half) / sqrt(half), "==", exp(fmpq(-1, 8)))]


@says("cai2025:lem-b.4:proof", "[corrected, attained] the non-zero eigenvalues == 2/(n − 1)")
def _(n) -> Sides:
    return eigenvalue(n), "==", fmpq(2, n - 1)


@says(
    "cai2025:sec-3.1:adjacency",
    "[read as: whoever passes it, averaged over the redraw, is private] P(M(D) = a) <= e^ε P(M(D') = a) for each D'",
)
def _(release, rho, epsilon, outcome) -> Sides:
    """`release`: the laws of M for either answer. It passes: P(M(D) = a) <= e^ε E P(M(D') = a) for both."""
    rho, growth = between(rho, 0, 1, "ρ"), exp(between(epsilon, 0, 20, "ε"))
    need(len(release) == 2 and all(sum(law) == 1 and min(law) >= 0 for law in release), "no two laws")
    for p, q in zip(*release, strict=True):
        need(bool(max(p, q) <= growth * (rho * p + (1 - rho) * q)), "it does not pass")
    p, q = (rational(law[whole(outcome, 0, len(law) - 1, "a")], "a probability") for law in release)
    return max(p, q), "<=", growth * min(p, q)


@says("cai2025:sec-4.2:setup", "[read as: θ as drawn, a perfect estimate has error 0] ‖θ̂ − θ‖₂/‖θ‖₂ == 0, θ̂ of sum 0")
def _(weights) -> Sides:
    n, k = len(weights), len(weights) // 4
    need(4 <= n == 4 * k <= 400 and weights[:k] == [1] * k, "e^θ = 1 for the first n/4")
    need(all(fmpq(1, 5) <= rational(it, "e^θ") <= fmpq(7, 10) for it in weights[k:]), "e^θ from 0.2 to 0.7")
    theta = [log(it) for it in weights]
    return abs(sum(theta)) / sqrt(n) / sqrt(sum(it**2 for it in theta)), "==", 0


@says("cai2025:exp-4", "[says something: noise below the spread of scores] least λ/std(π) < 1, any data")
@says("cai2025:finding-1:oneshot", "[says something: noise below the spread of scores] least λ/std(π) < 1, any data")
def _(n, k, epsilon, delta) -> Sides:
    """λ = 8s √(k log(n/δ))/ε, s = 2/(d(1 − ρ)), d(1 − ρ) <= n − 1 at p = 1; std(π) <= √(n − 1)/n."""
    need(abs(4 * whole(k, 1, 10**6, "k") - whole(n, 4, 10**6, "n")) <= 2, "k is n/4, rounded")
    spread, delta = sqrt(n - 1) / n, between(delta, 0, fmpq(1, 20), "δ")
    noise = fmpq(16, n - 1) * sqrt(k * log(n / delta)) / between(epsilon, 0, fmpq(5, 2), "ε")
    return noise / spread, "<", 1


@says("cai2025:sec-4.3:cems", "[read as: L counts a student's comparisons] answers == m L, m = 303, n = 6, L = 15")
def _(answered) -> Sides:
    need(answered == CEMS, "not the published totals")
    return sum(answered), "==", 303 * 15


@says("cai2025:sec-4.3:immigration", "[read as: L counts a student's comparisons] answers == m L, m = 98, n = 4, L = 6")
def _(answered) -> Sides:
    need(answered == IMMIGRATION, "not the published totals")
    return sum(answered), "==", 98 * 6
