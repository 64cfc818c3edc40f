"""Statements of Busa-Fekete et al. (2021) on tests without privacy that hold, as printed or as we put them right.

Beside each, how to draw attempts at a certificate against it: instances as a certificate writes them, at the edges of
what is allowed and beyond.
"""

import math
import random
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

from busafekete2021_tests import affinity, best_of_two, distances, from_uniform, inside, rankings, variation
from exact import Statements, binomial, exp, kendall, log, mahonian, need, normal_cdf, orders, rational, sqrt, whole
from flint import arb, fmpq

HOLDS = Statements()
ATTEMPTS: dict[str, Callable[[random.Random], dict[str, Any]]] = {}


def holds(claim: str, printed: str, **fields: Callable[[random.Random], Any]) -> Callable[[Callable], Callable]:
    """A statement, and how each field of an instance is drawn."""
    ATTEMPTS[f"{claim} | {printed}"] = lambda rng: {name: draw(rng) for name, draw in fields.items()}
    return HOLDS.says(claim, printed)


def one_of(*values: Any) -> Callable[[random.Random], Any]:
    return lambda rng: rng.choice(values)


def part(rng: random.Random) -> str | int:
    """A number that should lie between 0 and 1: somewhere, next to an end, or sometimes at it or outside."""
    small = 10 ** rng.randrange(1, 30)
    if rng.random() < 0.15:
        return rng.choice([0, 1, "-1/2", f"{small + 1}/{small}"])
    return rng.choice(
        [f"{rng.randrange(1, 100)}/100", f"{rng.randrange(1, 1000)}/1000", f"1/{small}", f"{small - 1}/{small}"]
    )


def pair(rng: random.Random) -> list[int]:
    return rng.sample(range(rng.choice([4, 5, 6])), 2)


def some(rng: random.Random) -> list[int]:
    return rng.sample(range(24), rng.randrange(25))


def crossing(a, b) -> bool:
    (a, b), (c, d) = sorted(a), sorted(b)
    return a < c < b < d or c < a < d < b


def bias(law, first, second) -> fmpq:
    """P(first before second) − P(second before first)."""
    return sum(p if it.index(first) < it.index(second) else -p for it, p in law.items())


def pair_law(k, p) -> dict[fmpq, fmpq]:
    """The law of a pair's statistic from k rankings: (Σ X)²/k, X = ±1."""
    law = Counter()
    for j in range(k + 1):
        law[fmpq((2 * j - k) ** 2, k)] += binomial(k, j) * p**j * (1 - p) ** (k - j)
    return law


@holds("busafekete2021:eq-z", "Σ φ^d(π) == Π_i Σ_(j < i) φ^j", m=one_of(1, 2, 3, 4, 5, 6, 7), phi=part)
def _(m, phi):
    phi = inside(phi, "phi")
    total = sum(phi ** kendall(it, range(m)) for it in orders(whole(m, 2, 6, "m")))
    return total, "==", math.prod((sum(phi**j for j in range(i)) for i in range(1, m + 1)), start=fmpq(1))


@holds(
    "busafekete2021:sec-4.1:tv-formula",
    "max_A |P(A) − U(A)| == Σ_i |1/m! − φ^i/Z| Mah(i, m) / 2",
    m=one_of(1, 2, 3, 4, 5),
    phi=part,
)
def _(m, phi):
    law = rankings(whole(m, 2, 6, "m"), inside(phi, "phi")).values()
    by_distance = zip(distances(m, phi), distances(m, fmpq(1)), strict=True)
    return variation(law, [fmpq(1, len(law))] * len(law)), "==", sum(abs(p - u) for p, u in by_distance) / 2


@holds(
    "busafekete2021:sec-7.2:moments",
    "E D, V D and N_k == m(m−1)/4, m(m−1)(2m+5)/72 and N_(M−k)",
    m=one_of(1, 2, 3, 4, 5, 6, 7),
)
def _(m):
    count = Counter(kendall(it, range(m)) for it in orders(whole(m, 2, 6, "m")))
    top, all_orders = m * (m - 1) // 2, count.total()
    mean = fmpq(sum(d * n for d, n in count.items()), all_orders)
    yield mean, "==", fmpq(m * (m - 1), 4)
    yield sum(n * (d - mean) ** 2 for d, n in count.items()) / all_orders, "==", fmpq(m * (m - 1) * (2 * m + 5), 72)
    yield from ((count[d], "==", count[top - d]) for d in range(top + 1))


@holds(
    "busafekete2021:sec-4.1:tv-monotone",
    "d(φ, uniform) >= d(φ′, uniform), φ <= φ′ = φ + (1 − φ) part",
    m=one_of(1, 2, 3, 6, 10, 16),
    phi=part,
    part=part,
)
def _(m, phi, part):
    low = inside(phi, "phi")
    high, flat = low + (1 - low) * inside(part, "part"), distances(whole(m, 2, 20, "m"), fmpq(1))
    return variation(distances(m, low), flat), ">=", variation(distances(m, high), flat)


@holds(
    "busafekete2021:thm-5:epsilon",
    "2 d/σ <= −ln φ, and 1 − √a <= d <= √(1 − a), a the affinity",
    m=one_of(1, 2, 3, 6, 10, 16),
    phi=part,
)
def _(m, phi):
    phi = inside(phi, "phi")
    d = variation(distances(whole(m, 2, 20, "m"), phi), distances(m, fmpq(1)))
    yield 2 * d / sqrt(fmpq(m * (m - 1) * (2 * m + 5), 72)), "<=", -log(phi)
    yield 1 - sqrt(affinity(m, phi)), "<=", d
    yield d, "<=", sqrt(1 - affinity(m, phi))


@holds(
    "busafekete2021:sec-4.1:mahonian",
    "numbers in the rows up to the m-th == (m³ − m)/6 + m",
    m=one_of(0, *range(1, 32)),
)
def _(m):
    return sum(len(mahonian(n)) for n in range(1, whole(m, 1, 30, "m") + 1)), "==", (m**3 - m) // 6 + m


@holds("busafekete2021:sec-8:kl", "½ <= KL/(ln²φ ∇² ln Z(ln φ)) and KL/(ln²φ ∇² ln Z(0)) <= ½, m = 2", phi=part)
def _(phi):
    p = inside(phi, "phi") / (1 + phi)
    divergence = (p * log(2 * p) + (1 - p) * log(2 * (1 - p))) / log(phi) ** 2
    return [(fmpq(1, 2), "<=", divergence / (p * (1 - p))), (divergence * 4, "<=", fmpq(1, 2))]


@holds("busafekete2021:sec-8:bernoulli", "P(i first) == 1/(1 + φ), m = 2", phi=part)
def _(phi):
    return rankings(2, inside(phi, "phi"))[0, 1], "==", 1 / (1 + phi)


@holds(
    "busafekete2021:sec-7.2:normal",
    "|P(D <= x) − Φ((x − E D)/σ)| <= 95/100/√m and 7/10/m, on either side of each jump",
    m=one_of(*range(1, 27)),
)
def _(m):
    law = distances(whole(m, 2, 25, "m"), fmpq(1))
    sd, below = sqrt(fmpq(m * (m - 1) * (2 * m + 5), 72)), fmpq(0)
    for x, p in enumerate(law):
        normal = normal_cdf((x - fmpq(m * (m - 1), 4)) / sd)
        for step in (below, below + p):
            yield abs(step - normal), "<=", fmpq(95, 100) / sqrt(m)
            yield abs(step - normal), "<=", fmpq(7, 10 * m)
        below += p


@holds(
    "busafekete2021:abstract:rate",
    "power of the best test of two rankings, centre known, <= δ + 1 − (1 − d)²",
    m=one_of(2, 3, 5, 9, 14),
    phi=part,
    delta=part,
)
def _(m, phi, delta):
    distance = from_uniform(whole(m, 2, 20, "m"), inside(phi, "phi"))
    return best_of_two(m, phi, inside(delta, "delta")), "<=", delta + 1 - (1 - distance) ** 2


@holds(
    "busafekete2021:abstract:rate",
    "d(two rankings of a random centre, uniform) <= 2 d², d that of one, its centre known",
    m=one_of(2, 2, 3, 3, 4, 5),
    phi=part,
)
def _(m, phi):
    law = rankings(whole(m, 2, 4, "m"), inside(phi, "phi"))
    quotient, flat = Counter(), [fmpq(1, len(law))] * len(law)
    for a, p in law.items():
        for b, q in law.items():
            quotient[tuple(b[x] for x in a)] += p * q
    return variation(quotient.values(), flat), "<=", 2 * variation(law.values(), flat) ** 2


@holds(
    "busafekete2021:sec-7.1:margin",
    "P(D <= m(m−1)/4 − t) <= exp(−3 (t − θ² m²(m²−1)/24)²/(7 m³)), of two rankings",
    m=one_of(2, 3, 4),
    phi=part,
    t=one_of("1/2", 1, "3/2", 2, "5/2", 3, -1),
)
def _(m, phi, t):
    law, t = rankings(whole(m, 2, 4, "m"), inside(phi, "phi")), rational(t, "t")
    near = sum(p * q for a, p in law.items() for b, q in law.items() if kendall(a, b) <= fmpq(m * (m - 1), 4) - t)
    gap = t - log(phi) ** 2 * m**2 * (m**2 - 1) / 24
    need(bool(gap > 0), "t must be above the shift of the mean")
    return near, "<=", exp(-3 * gap**2 / (7 * m**3))


@holds(
    "busafekete2021:alg-1",
    "P(D <= m(m−1)/4 − √(m³ ln(1/δ)/12)) <= δ, of uniform rankings",
    m=one_of(1, *range(2, 20)),
    delta=part,
)
def _(m, delta):
    law = distances(whole(m, 2, 40, "m"), fmpq(1))
    below = fmpq(m * (m - 1), 4) - sqrt(log(1 / inside(delta, "delta")) * m**3 / 12)
    return sum((p for d, p in enumerate(law) if not d > below), fmpq(0)), "<=", delta


@holds(
    "busafekete2021:sec-4.2:bias",
    "P(i first) − P(j first) >= 2/3 (1 − φ^g)/(1 + φ^g) and <= gθ, j g places below i of m",
    m=one_of(2, 3, 4, 5, 6),
    phi=part,
    i=one_of(0, 0, 0, 1, 2),
    j=one_of(1, 2, 3, 4, 5),
)
def _(m, phi, i, j):
    g = whole(j, 1, whole(m, 2, 6, "m") - 1, "j") - whole(i, 0, m, "i")
    need(g > 0, "j must be below i")
    b = bias(rankings(m, inside(phi, "phi")), i, j)
    yield b, ">=", fmpq(2, 3) * (1 - phi**g) / (1 + phi**g)
    yield b, "<=", -g * log(phi)
    yield b, "==", bias(rankings(g + 1, phi), 0, g)


@holds(
    "busafekete2021:sec-4.2:independence",
    "P(s, t) == P(s) P(t) for the orders s, t of disjoint pairs that do not cross",
    m=one_of(4, 5, 6),
    phi=part,
    a=pair,
    b=pair,
)
def _(m, phi, a, b):
    law = rankings(whole(m, 4, 6, "m"), inside(phi, "phi"))
    need(len(a) == len(b) == 2 and len({*a, *b}) == 4 and {*a, *b} <= {*range(m)}, "a and b must be disjoint pairs")
    need(not crossing(a, b), "the pairs must not cross")
    both = sum(p for it, p in law.items() if it.index(a[0]) < it.index(a[1]) and it.index(b[0]) < it.index(b[1]))
    return both, "==", (1 + bias(law, *a)) * (1 + bias(law, *b)) / 4


@holds(
    "busafekete2021:sec-4.2:moments",
    "E[Y] == 1 + (k − 1) b² and V[Y] <= 2 + 4k b², b the bias; V[Y] <= 2 under H₀",
    k=one_of(0, 1, 2, 3, 10, 59, 60),
    b=part,
)
def _(k, b):
    need(0 <= rational(b, "b") <= 1, "b must be a bias")
    law = pair_law(whole(k, 1, 60, "k"), (1 + b) / fmpq(2))
    mean = sum(y * p for y, p in law.items())
    yield mean, "==", 1 + (k - 1) * b**2
    yield sum((y - mean) ** 2 * p for y, p in law.items()), "<=", 2 + 4 * k * b**2


@holds(
    "busafekete2021:sec-4.2:m1",
    "P(fewer than m/8 − √(m ln(2/δ)/16) pairs at least m/8 apart) <= δ/2, of all pairings",
    m=one_of(6, 8, 9, 10, 10),
    delta=part,
)
def _(m, delta):
    need(whole(m, 8, 10, "m") % 2 == 0, "m must be even")
    few, g = fmpq(m, 8) - sqrt(log(2 / inside(delta, "delta")) * m / 16), -(-m // 8)
    counts = Counter()

    def pair(places, far):
        if not places:
            counts[far] += 1
        for other in places[1:]:
            pair([it for it in places[1:] if it != other], far + (other - places[0] >= g))

    pair(list(range(m)), 0)
    return fmpq(sum(n for far, n in counts.items() if far < few), counts.total()), "<=", delta / 2


@holds(
    "busafekete2021:alg-2",
    "P(Y >= m/2 + 2 √(m ln(1/δ))) <= δ under H₀, m >= 6.1 ln(1/δ)",
    m=one_of(2, 2, 3, 4, 6, 8, 12),
    k=one_of(*range(14)),
    delta=lambda rng: f"{rng.randrange(1000)}/1000",
)
def _(m, k, delta):
    room = log(1 / inside(delta, "delta"))
    need(whole(m, 2, 12, "m") % 2 == 0 and bool(m >= fmpq(61, 10) * room), "m must be even, and at least 6.1 ln(1/δ)")
    one, law = pair_law(whole(k, 1, 12, "k"), fmpq(1, 2)), {fmpq(0): fmpq(1)}
    for _ in range(m // 2):
        more = Counter()
        for y, p in law.items():
            for z, q in one.items():
                more[y + z] += p * q
        law = more
    least = fmpq(m, 2) + 2 * sqrt(m * room)
    return sum((p for y, p in law.items() if not arb(y) < least), fmpq(0)), "<=", delta


@holds(
    "busafekete2021:sec-4.1:one-sample",
    "least over the centres P(the ranking is among these) <= their share of all",
    m=one_of(2, 3, 4),
    phi=part,
    rejected=some,
)
def _(m, phi, rejected):
    law = rankings(whole(m, 2, 4, "m"), inside(phi, "phi"))
    taken = {it for i, it in enumerate(orders(m)) if i in rejected}
    powers = [sum((p for it, p in law.items() if tuple(c[x] for x in it) in taken), fmpq(0)) for c in orders(m)]
    return min(powers), "<=", fmpq(len(taken), len(law))


@holds(
    "busafekete2021:def-h1",
    "P(one ranking is near the centre) >= 1 − δ where d >= ε >= 1 − δ, and <= δ if uniform",
    m=one_of(2, 3, 5, 9, 12),
    phi=part,
    delta=part,
)
def _(m, phi, delta):
    law, flat = distances(whole(m, 2, 15, "m"), inside(phi, "phi")), distances(m, fmpq(1))
    delta = inside(delta, "delta")
    need(variation(law, flat) >= 1 - delta, "the law must be as far as 1 − δ")
    near = max(range(len(law)), key=lambda r: sum(law[: r + 1]) - sum(flat[: r + 1])) + 1
    return [(sum(law[:near]), ">=", 1 - delta), (sum(flat[:near]), "<=", delta)]


@holds(
    "busafekete2021:sec-4.2:small-m",
    "E[Y] >= m (1 + (k − 1) μ′²)/2, over all pairings and rankings; == at m = 2",
    m=one_of(2, 2, 3, 4, 4),
    phi=part,
    k=one_of(0, 1, 2, 100, 10**6),
)
def _(m, phi, k):
    need(whole(m, 2, 6, "m") % 2 == 0, "m must be even")
    law, k = rankings(m, inside(phi, "phi")), whole(k, 1, 10**6, "k")
    squares = [bias(law, i, j) ** 2 for i, j in permutations(range(m), 2)]
    mean, neighbours = sum(squares) / len(squares), ((1 - phi) / (1 + phi)) ** 2
    return m * (1 + (k - 1) * mean) / 2, "==" if m == 2 else ">=", m * (1 + (k - 1) * neighbours) / 2
