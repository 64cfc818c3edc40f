"""What Busa-Fekete et al. (2021) print of the model and of tests without privacy: Sections 3, 4, 7.1 and 7.2."""

import math
from collections import Counter
from itertools import accumulate, combinations, compress, pairwise, product

from exact import Statements, binomial, exp, kendall, log, mahonian, need, normal_cdf, orders, rational, sqrt, whole
from flint import arb, fmpq, fmpq_poly

STATEMENTS = Statements()
says = STATEMENTS.says


def inside(value, name) -> fmpq:
    value = rational(value, name)
    need(0 < value < 1 and value.q <= 10**30, f"{name} must lie between 0 and 1, with at most 30 digits")
    return value


def rising(values, least, most) -> list[int]:
    """The sizes of a chain: three to six, each at least twice the one before."""
    need(isinstance(values, list) and 3 <= len(values) <= 6, "a chain has three to six sizes")
    values = [whole(it, least, most, "a size") for it in values]
    need(all(2 * a <= b for a, b in pairwise(values)), "the sizes of a chain at least double")
    return values


def rankings(m, phi) -> dict[tuple[int, ...], fmpq]:
    """The probability of each order under the Mallows law around 0, 1, …; and of m neighbours in a longer centre."""
    weights = {it: phi ** kendall(it, range(m)) for it in orders(m)}
    total = sum(weights.values())
    return {it: weight / total for it, weight in weights.items()}


def distances(m, phi) -> list[fmpq]:
    """How likely a Mallows ranking is to be 0, 1, … away from its centre; φ = 1: a uniform one."""
    weights = [n * phi**d for d, n in enumerate(mahonian(m))]
    total = sum(weights)
    return [weight / total for weight in weights]


def variation(p, q) -> fmpq:
    return sum(max(a - b, fmpq(0)) for a, b in zip(p, q, strict=True))


def from_uniform(m: int, phi: fmpq) -> arb:
    return sum(abs(p - u) for p, u in zip(distances(m, arb(phi)), distances(m, fmpq(1)), strict=True)) / 2


def affinity(m, phi) -> arb:
    """a = (Σ √p √u)² = Z(√φ)² / (m! Z(φ)), factor by factor. 1 − √a <= d <= √(1 − a) for the total variation d."""
    root, power, above, below = sqrt(phi), arb(1), arb(1), arb(1)
    for _ in range(m):
        power *= root
        above, below = above * (1 - power), below * (1 + power)
    return above / below * ((1 + root) / (1 - root)) ** m / exp(arb(m + 1).lgamma())


def best_of_two(m, phi, delta) -> arb:
    """The likelihood ratio falls with the sum of both distances: the best test of size δ rejects the least sums."""
    ways = (fmpq_poly(mahonian(m)) ** 2).coeffs()
    room, before = delta * sum(ways), accumulate(ways, initial=fmpq(0))
    rejected = [min(n, max(room - less, fmpq(0))) for n, less in zip(ways, before, strict=False)]
    power, all_of = (sum(n * arb(phi) ** s for s, n in enumerate(it)) for it in (rejected, ways))
    return power / all_of


def mu(m, phi) -> arb:
    power = exp(log(phi) * m / 8)
    return (1 - power) / (1 + power)


@says(
    "busafekete2021:abstract:rate",
    "[read as: ε fixed, m large] 1 − δ <= largest power of a test of two rankings, centre known, at a φ with d > ε",
)
def _(epsilon, delta, sizes, spreads):
    for m, phi in zip(rising(sizes, 2, 64), spreads, strict=True):
        need(bool(from_uniform(m, inside(phi, "phi")) > inside(epsilon, "epsilon")), "d must be above ε")
        yield 1 - inside(delta, "delta"), "<=", best_of_two(m, phi, delta)


@says("busafekete2021:eq-z", "Σ p(π) == Π_i Σ_(j ≤ i) φ^j, where p(π) = φ^d(π) / Π_i Σ_(j ≤ i) φ^j")
def _(m, phi):
    m, phi = whole(m, 2, 30, "m"), inside(phi, "phi")
    z = math.prod((sum(phi**j for j in range(i + 1)) for i in range(m)), start=fmpq(1))
    return sum(n * phi**d for d, n in enumerate(mahonian(m))) / z, "==", z


@says(
    "busafekete2021:alg-1",
    "[all cases] P(2SAMP rejects uniform rankings) <= δ, each δ < 1 with a whole threshold, m = 2, 3, …",
)
def _(most):
    found = []
    for m in range(2, whole(most, 2, 60, "most") + 1):
        size = accumulate(fmpq(n, math.factorial(m)) for n in mahonian(m)[: -(m * (1 - m) // 4)])
        found += [bool(exp(-12 * (fmpq(m * (m - 1), 4) - x) ** 2 / m**3) >= p) for x, p in enumerate(size)]
    return sum(found), "==", len(found)


@says(
    "busafekete2021:sec-4.1:one-sample",
    "[all cases] [read as: centre unknown] least P(reject) over all centres <= size, all sets of rankings",
)
def _(m, phi):
    law, found = rankings(whole(m, 2, 3, "m"), inside(phi, "phi")), []
    for chosen in product((False, True), repeat=len(law)):
        test = dict(zip(law, chosen, strict=True))
        powers = [sum(p for it, p in law.items() if test[tuple(centre[x] for x in it)]) for centre in law]
        found.append(min(powers) * len(law) <= sum(chosen))
    return sum(found), "==", len(found)


@says("busafekete2021:sec-4.1:tv-formula", "max_A |P(A) − U(A)| == Σ_i |1/m! − φ^i/Z| Mah(i, m)")
def _(m, phi):
    law = rankings(whole(m, 2, 6, "m"), inside(phi, "phi")).values()
    by_distance = zip(distances(m, phi), distances(m, fmpq(1)), strict=True)
    return variation(law, [fmpq(1, len(law))] * len(law)), "==", sum(abs(p - u) for p, u in by_distance)


@says(
    "busafekete2021:sec-4.1:mahonian",
    "[read as: time counts the digits written, or the recursion's numbers] digits/m² and numbers/m² at most double"
    " as m grows fourfold",
)
def _(sizes):
    digits = [fmpq(sum(n.bit_length() for n in mahonian(m)), m**2) for m in rising(sizes, 2, 80)]
    table = [fmpq(sum(n * (n - 1) // 2 + 1 for n in range(1, m + 1)), m**2) for m in sizes]
    return [(after, "<=", 2 * before) for it in (digits, table) for before, after in pairwise(it)]


@says("busafekete2021:alg-2:k", "(k − 1) m₁² >= (12 m ln(2/δ) + 10 √(m ln(2/δ)) |m₁|)/μ², m₁ = 0, for some number k")
def _(m, phi, log_2_over_delta):
    need(rational(log_2_over_delta, "log_2_over_delta") >= 1, "δ must be below 1")
    need(whole(m, 2, 10**6, "m") == 4 * log_2_over_delta, "m₁ = m/8 − √(m ln(2/δ)/16) must be 0")
    return 0, ">=", 12 * m * log_2_over_delta / mu(m, inside(phi, "phi")) ** 2


@says(
    "busafekete2021:sec-4.2:bias",
    "[read as: the lost sign is a minus] P(i first) − P(j first) or P(i first) − 1/2 >= μ, P(j first) <= 1 − μ,"
    " i and j m/8 apart",
)
def _(m, phi):
    g, phi = whole(m, 8, 48, "m") // 8, inside(phi, "phi")
    need(m == 8 * g, "m must be divisible by 8")
    second = sum(p for it, p in rankings(g + 1, phi).items() if it.index(g) < it.index(0))
    bound = (1 - phi**g) / (1 + phi**g)
    return [(1 - 2 * second, ">=", bound), (fmpq(1, 2) - second, ">=", bound), (second, "<=", 1 - bound)]


@says("busafekete2021:sec-4.2:m1", "[read as: ≈ is within a factor 2] E m₁ <= 2m/8 and P(m₁ <= 2m/8) >= 1/2, m large")
def _(sizes):
    for m in rising(sizes, 16, 10**9):
        g = -(-m // 8)
        need(m % 2 == 0, "m must be even")
        others = fmpq(m, 2) - fmpq((m - g) * (m - g + 1), 2 * (m - 1))  # the mean of m/2 − m₁
        yield (m - 2 * others) / 2 / fmpq(m, 8), "<=", 2
        yield others / fmpq(m, 4), ">=", fmpq(1, 2)  # Markov's inequality


@says("busafekete2021:sec-4.2:independence", "E Y_a Y_b − E Y_a E Y_b == 0, k = 2 rankings, a and b disjoint pairs")
def _(m, phi, a, b):
    law, joint = rankings(whole(m, 4, 6, "m"), inside(phi, "phi")), Counter()
    need(len(a) == len(b) == 2 and len({*a, *b}) == 4 and {*a, *b} <= {*range(m)}, "a and b must be disjoint pairs")
    for it, p in law.items():
        joint[it.index(a[0]) < it.index(a[1]), it.index(b[0]) < it.index(b[1])] += p
    alike = [sum(sum(p for signs, p in joint.items() if signs[i] == it) ** 2 for it in (True, False)) for i in (0, 1)]
    return 4 * (sum(p**2 for p in joint.values()) - alike[0] * alike[1]), "==", 0  # Y is 2 if both agree, else 0


@says(
    "busafekete2021:sec-4.2:independence",
    "[all cases] [corrected] P(both) == P(one) P(other), but > where the pairs cross",
)
def _(most, phi):
    """P that two pairs are in the order of the centre: all of 4, 5, …, most items, apart, nested and crossing."""
    found = []
    for m in range(4, whole(most, 4, 6, "most") + 1):
        law = rankings(m, inside(phi, "phi"))
        for i, j, k, n in combinations(range(m), 4):
            for a, b in ((i, j), (k, n)), ((i, n), (j, k)), ((i, k), (j, n)):
                as_in = [[it.index(x) < it.index(y) for it in law] for x, y in (a, b)]
                one, other, both = (sum(compress(law.values(), it)) for it in (*as_in, map(min, *as_in)))
                found.append(both > one * other if b == (j, n) else both == one * other)
    return sum(found), "==", len(found)


@says(
    "busafekete2021:sec-4.2:moments",
    "[read as: one constant for all m] V[Y]/(kμ²) at most doubles at a step, k of line 5, i and j m/8 apart",
)
def _(delta, sizes, spreads):
    ratios, room = [], log(2 / inside(delta, "delta"))
    for m, phi in zip(rising(sizes, 8, 10**30), spreads, strict=True):
        m1, bound = fmpq(m, 8) - sqrt(room * m / 16), mu(m, inside(phi, "phi"))
        need(m % 8 == 0 and bool(m1 > 0), "m must be divisible by 8, and m₁ positive")
        need(bool((12 * m * room / m1**2 + 10 * sqrt(m * room) / m1) / bound**2 <= 1), "line 5 must ask for k = 2")
        bias = 2 * bound / (1 + bound**2)  # or less: the exchange of i and j changes a distance by less than 2m/8
        ratios.append(((1 - bias**4) / (2 * bound**2), 1 / (2 * bound**2)))  # V[Y] is 1 − (bias of i, j)⁴
    return [(after[0], "<=", 2 * before[1]) for before, after in pairwise(ratios)]


@says(
    "busafekete2021:thm-5",
    "[read as: one C for all δ] ln(1/2) <= ln power <= k ln(m!/Z) − ln(1/δ), k = ⌈C μ⁻² √(ln(1/δ)/m)⌉, m = 2, any C",
)
def _(phi, constants, digits):
    for constant, n in zip(rising(constants, 1, 10**6), digits, strict=True):
        room = log(10) * whole(n, 1, 10**12, "digits")
        k = constant * sqrt(room / 2) / mu(2, inside(phi, "phi")) ** 2 + 1
        yield -log(2), "<=", k * log(2 / (1 + phi)) - room


@says("busafekete2021:thm-5:epsilon", "μ is constant in m: μ(m′) >= μ(m)/2, m′ > m, ε >= 1/√m")
def _(epsilon, sizes, below, above):
    bounds, epsilon = [], inside(epsilon, "epsilon")
    for m, low, high in zip(rising(sizes, 2, 10**5), below, above, strict=True):
        far, near = affinity(m, inside(low, "below")), affinity(m, inside(high, "above"))
        need(bool(1 - sqrt(far) > epsilon) and bool(sqrt(1 - near) < epsilon), "φ_ε must lie between below and above")
        need(epsilon**2 * m >= 1, "epsilon must be at least 1/√m")
        bounds.append((mu(m, high), mu(m, low)))
    return [(after[1], ">=", before[0] / 2) for before, after in pairwise(bounds)]


@says("busafekete2021:sec-4.2:small-m", "P(Y >= m/2 + 2 √(m ln(1/δ))) <= δ under H₀, with the k of the display, m = 2")
def _(phi, delta):
    phi, room = inside(phi, "phi"), log(1 / inside(delta, "delta"))
    k = 1 + int(((1 + phi) ** 2 / (1 - phi) ** 2 * (24 * room + 16 * sqrt(room / 2))).ceil().unique_fmpz())
    need(k <= 2000, "k is too large")
    rejected = [j for j in range(k + 1) if arb((2 * j - k) ** 2) >= k * (1 + 2 * sqrt(2 * room))]
    return fmpq(sum(binomial(k, j) for j in rejected), 2**k), "<=", delta


@says(
    "busafekete2021:sec-7.1:margin",
    "power >= 99/100 at m = 10⁴, of 2SAMP at 1 − φ = 2/10⁵ or of a test of two rankings at 1/10⁵",
)
def _(m, delta):
    need(m == 10**4 and delta == fmpq(1, 20), "the experiment has m = 10⁴ and δ = 1/20")
    shift = log(1 - fmpq(2, 10**5)) ** 2 * m**2 * (m**2 - 1) / 24  # of the mean, as i, j have bias (j − i)θ at most
    gap = sqrt(log(1 / delta) * m**3 / 12) - shift
    # bounded differences: to insert item i elsewhere changes its order with i − 1 items, and m − i later ones' with two
    yield exp(-3 * gap**2 / (7 * m**3)), ">=", fmpq(99, 100)
    yield delta + sqrt(1 - affinity(m, 1 - fmpq(1, 10**5)) ** 2), ">=", fmpq(99, 100)


@says(
    "busafekete2021:sec-7.2:normal",
    "[read as: symmetry is enough, no bound known] Berry-Esseen's bound >= 1; a symmetric law is as near: 1/2 −"
    " Φ(−1) <= that bound",
)
def _(m):
    third = sum(fmpq(abs(2 * v - i) ** 3, 8 * (i + 1)) for i in range(whole(m, 2, 300, "m")) for v in range(i + 1))
    guarantee = fmpq(56, 100) * third / sqrt(fmpq(m * (m - 1) * (2 * m + 5), 72)) ** 3
    return [(guarantee, ">=", 1), (fmpq(1, 2) - normal_cdf(-1), "<=", guarantee)]  # half at 0, half at m(m − 1)/2


@says("busafekete2021:fig-2", "[read as: fixed centre] lim_(φ → 0) P(|D − E D| >= zσ/√2) >= 99 %, n = 2, Φ(−z) >= 1/40")
def _(z):
    need(rational(z, "z") > 0 and bool(normal_cdf(-z) >= fmpq(1, 40)), "z must be at most the quantile")
    return 2 / z**2, ">=", fmpq(99, 100)  # Chebyshev's inequality: D is in the limit that of one uniform ranking


@says("busafekete2021:sec-8:kl", "KL/(ln²φ ∇² ln Z(ξ)) >= 1 at the ξ of [ln φ, 0] with the least ∇² ln Z, m = 2")
def _(phi):
    p = inside(phi, "phi") / (1 + phi)
    return (p * log(2 * p) + (1 - p) * log(2 * (1 - p))) / (log(phi) ** 2 * p * (1 - p)), ">=", 1


@says(
    "busafekete2021:def-h1",
    "[read as: the tester knows the centre, where 4.1 says] power of all tests of one ranking < 1 − δ",
)
@says("busafekete2021:sec-4.1:one-sample", "[read as: centre given] power of every test of one ranking < 1 − δ")
def _(m, radius, epsilon, delta, phi):
    law, flat = distances(whole(m, 2, 12, "m"), inside(phi, "phi")), distances(m, fmpq(1))
    near = slice(whole(radius, 0, m * m, "radius") + 1)
    need(variation(law, flat) <= rational(epsilon, "epsilon") < 1 - flat[0], "φ must be above φ_ε, and a law farther")
    need(sum(flat[near]) <= inside(delta, "delta"), "the size must be at most delta")
    return sum(law[near]), "<", 1 - delta


@says("busafekete2021:thm-4:epsilon", "[says something: ε fixed, m large] 1 − φ_ε >= 8/(m + 7 − √(12 ln(2/δ) m))")
def _(epsilon, delta, sizes, spreads):
    for m, phi in zip(rising(sizes, 2, 10**5), spreads, strict=True):
        need(bool(1 - sqrt(affinity(m, inside(phi, "phi"))) > inside(epsilon, "epsilon")), "φ must be below φ_ε")
        room = m + 7 - sqrt(12 * m * log(2 / inside(delta, "delta")))
        need(bool(room > 0), "the condition must ask for something")
        yield 1 - phi, ">=", 8 / room


@says("busafekete2021:sec-4.1:alternative-reading", "[read as: any δ] power >= 1 − 2 exp(−(m + 7 − 9/(1 − φ))²/(12m))")
def _(m, phi, delta):
    m, beyond = whole(m, 2, 10**9, "m"), m + 7 - 9 / (1 - inside(phi, "phi"))
    need(beyond > 0, "m must be above 9/(1 − φ) − 7")
    need(bool(sqrt(log(1 / inside(delta, "delta")) * m**3 / 12) > fmpq(m * (m - 1), 4)), "2SAMP must never reject")
    return 0, ">=", 1 - 2 * exp(-(beyond**2) / (12 * m))


@says(
    "busafekete2021:sec-4.2:small-m-family", "[read as: m₁ is a number of pairs] number of pairs of m items >= m₁ = m"
)
def _(m):
    return whole(m, 2, 10**9, "m") // 2, ">=", m


@says(
    "busafekete2021:sec-7.2:ma",
    "[read as: the nearest ranking is the centre] P(Φ((D − 2 E d)/√2 σ) <= δ/2) <= δ, n = 2",
)
def _(m, z, delta):
    """D, the least total distance of two rankings, is their own, d; Φ(−z) <= δ/2, and Chebyshev's inequality."""
    need(bool(normal_cdf(-rational(z, "z")) <= inside(delta, "delta") / 2), "z must be at least the quantile")
    mean, variance = fmpq(whole(m, 2, 10**6, "m") * (m - 1), 4), fmpq(m * (m - 1) * (2 * m + 5), 72)
    room = mean - z * sqrt(2 * variance)
    need(bool(room > 0), "the threshold must lie above the mean")
    return 1 - variance / room**2, "<=", delta
