"""What Alabi, Ghazi, Kumar and Manurangsi (2022), "Private Rank Aggregation in Central and Local Models", print."""

import itertools
import math
from operator import itemgetter

from exact import (
    Sides,
    Statements,
    all_of,
    exp,
    growing,
    is_order,
    kendall,
    log,
    mahonian,
    need,
    normal_cdf,
    orders,
    rational,
    sqrt,
    whole,
)
from flint import arb, fmpq

STATEMENTS = Statements()
says = STATEMENTS.says
HALF = fmpq(1, 2)

# ---------------------------------------------------------------- rankings, costs, KwikSort


def pairs(m):
    return list(itertools.combinations(range(m), 2))


def positive(value) -> fmpq:
    need(type(value) in (int, fmpq) and 0 < value <= 10**4, "a parameter must be a rational from 0 to 10,000, not 0")
    return fmpq(value)


def profile(value) -> list[tuple[int, ...]]:
    """Rankings of the same few items, each as the item at each place."""
    need(isinstance(value, list) and 0 < len(value) <= 50 and 2 <= len(value[0]) <= 12, "no rankings of 2 to 12 items")
    return [is_order(it, len(value[0])) for it in value]


def shares(rankings) -> list[list[fmpq]]:
    """w: the share of the rankings that put i before j; 0 for i = j."""
    items, n = range(len(rankings[0])), len(rankings)
    return [[fmpq(sum(it.index(i) < it.index(j) for it in rankings), n) for j in items] for i in items]


def cost(order, w) -> fmpq:
    return sum((w[b][a] for a, b in itertools.combinations(order, 2)), fmpq(0))


def mean_distance(order, rankings) -> fmpq:
    return fmpq(sum(kendall(order, it) for it in rankings), len(rankings))


def kwiksort(items, seen) -> dict[tuple[int, ...], fmpq]:
    """Chances of the orders that KwikSort returns if it is told `seen`, the pivot being drawn uniformly."""
    law = {} if items else {(): fmpq(1)}
    for i in items:
        before = kwiksort([j for j in items if j != i and seen[j][i] > HALF], seen)
        behind = kwiksort([j for j in items if j != i and seen[j][i] <= HALF], seen)
        for a, b in itertools.product(before, behind):
            law[(*a, i, *b)] = law.get((*a, i, *b), 0) + before[a] * behind[b] / len(items)
    return law


def sorted_cost(seen, w) -> fmpq:
    return sum(p * cost(order, w) for order, p in kwiksort(range(len(w)), seen).items())


def sets(m, n):
    """All sets of n rankings of m items."""
    need(math.comb(math.factorial(whole(m, 2, 5, "m")) + whole(n, 1, 6, "n") - 1, n) <= 500, "too many sets")
    return list(itertools.combinations_with_replacement(orders(m), n))


def exchanges(a, b) -> int:
    """Exchanges of neighbours by which bubble sort turns one order into another."""
    place, made = [b.index(it) for it in a], 0
    for _, i in itertools.product(a, range(len(a) - 1)):
        if place[i] > place[i + 1]:
            place[i], place[i + 1], made = place[i + 1], place[i], made + 1
    return made


@says(
    "alabi2022:sec-background:kendall",
    "[all cases] K(a, b) == exchanges of neighbours to sort a into b <= m(m − 1)/2 == K(a, reversed a), K(a, a) = 0",
)
def _(sizes):
    for m in growing(sizes):
        both = itertools.product(orders(whole(m, 1, 5, "m")), repeat=2)
        yield all_of(
            kendall(a, b) == exchanges(a, b) <= math.comb(m, 2) == kendall(a, a[::-1]) and kendall(a, a) == 0
            for a, b in both
        )


def acyclic(edges) -> bool:
    while edges:
        left = {(i, j) for i, j in edges if any(j == start for start, _ in edges)}
        if left == edges:
            return False
        edges = left
    return True


@says(
    "alabi2022:sec-background:fast",
    "[all cases] OPT == least weight of edges without which no cycle is left, n rankings",
)
def _(sizes):
    for m, n in growing(sizes):
        edges = set(itertools.permutations(range(whole(m, 2, 4, "m")), 2))
        some = itertools.chain.from_iterable(itertools.combinations(edges, k) for k in range(len(edges) + 1))
        removed = [it for it in map(set, some) if acyclic(edges - it)]
        removed = [it for it in removed if not any(less < it for less in removed)]  # no weight is below 0
        found = [(w := shares(it), min(sum(w[i][j] for i, j in out) for out in removed)) for it in sets(m, n)]
        yield all_of(best == min(cost(order, w) for order in orders(m)) for w, best in found)


@says(
    "alabi2022:sec-related:condorcet",
    "[all cases] a Condorcet winner is first in every best order, n rankings that have one",
)
def _(sizes):
    for m, n in growing(sizes):
        cases = []
        for w in map(shares, sets(m, n)):
            best = min(cost(order, w) for order in orders(m))
            firsts = {order[0] for order in orders(m) if cost(order, w) == best}
            cases += [firsts == {i} for i in range(m) if all(w[i][j] > HALF for j in range(m) if j != i)]
        yield all_of(cases)


@says(
    "alabi2022:sec-notation:cost",
    "[read as: any w_ii, as none is given] Σ_(i, j) 1[σ(i) <= σ(j)] w_ji − K(σ, Π) == 0, K the mean distance",
)
def _(rankings, order, own) -> Sides:
    rankings = profile(rankings)
    order, itself = is_order(order, len(rankings[0])), rational(own, "w_ii") * len(order)
    return cost(order, shares(rankings)) + itself - mean_distance(order, rankings), "==", 0


@says("alabi2022:sec-notation:only-w", "TV(A(Π), A(Π′)) <= 0 if w^Π = w^Π′, A being Pick-a-Perm: a random vote")
def _(one, other) -> Sides:
    one, other = profile(one), profile(other)
    need(shares(one) == shares(other), "the profiles must have the same w")
    chances = [(fmpq(one.count(it), len(one)), fmpq(other.count(it), len(other))) for it in {*one, *other}]
    return sum(abs(p - q) for p, q in chances) / 2, "<=", 0


@says("alabi2022:sec-central:kwiksort", "[corrected, attained] E K − 2 OPT >= (4 − s) Σ abs(noise), s <= 1/1000")
def _(m, s) -> Sides:
    """All agree; first and last just seem the other way round, and OPT = 0.

    If one of the two is the first pivot, the other passes m − 1 items; any other pivot tells them apart for good, and
    nothing is wrong: E K = (2/m)(m − 1).
    """
    m, s = whole(m, 3, 10**9, "m"), positive(s)
    need(s <= fmpq(1, 1000), "s")
    return fmpq(2 * (m - 1), m), ">=", (4 - s) * HALF * (1 + s / 8)  # one noise, just above ½


@says("alabi2022:sec-central:kwiksort", "[all cases] [ours] E K <= 2 OPT, hence 5 OPT, n rankings")
def _(sizes):
    for m, n in growing(sizes):
        yield all_of(sorted_cost(w, w) <= 2 * min(cost(it, w) for it in orders(m)) for w in map(shares, sets(m, n)))


# ---------------------------------------------------------------- reductions, central


def never_too_many(rankings, e, spare) -> Sides:
    """E K(σ_A, w̃) <= E K(σ*, w̃), where KwikSort is never stopped: at least the left, at most the right.

    Answers err by e in the mean, so by Markov all fall on the right side of ½ with the chance `sure`; the cheapest
    order of a matrix with mean errors `spare` costs 2 Σ `spare` too much at most; and K at w̃ is K at w up to Σ e.
    """
    w = shares(rankings)
    gaps = [abs(w[i][j] - HALF) for i, j in itertools.permutations(range(len(w)), 2)]
    need(min(gaps) > 0, "no pair may be tied")
    sure, best = 1 - sum(e / gap for gap in gaps), min(cost(order, w) for order in orders(len(w)))
    return sure * sorted_cost(w, w) - len(gaps) * e, "<=", best + len(gaps) * (2 * spare + e)


@says("alabi2022:thm-5:proof", "E K(σ, w̃) <= P(E) E[K(σ_A, w̃) | E] + P(not E) E K(σ*, w̃), E: more than q queries")
def _(rankings, copies, q, epsilon) -> Sides:
    rankings, epsilon = profile(rankings), positive(epsilon)
    m, n = len(rankings[0]), whole(copies, 1, 10**30, "copies") * len(rankings)
    need(whole(q, 1, 10**6, "q") >= math.comb(m, 2), "E must be impossible")
    return never_too_many(rankings, 2 * q / (epsilon * n), 2 * m**2 / (epsilon * n))


@says(
    "alabi2022:thm-11:proof",
    "[read as: Theorem 5's display with ⊥ for E] E K(σ, w̃) <= P(⊥) E[K(σ_A, w̃) | ⊥] + P(not ⊥) E K(σ*, w̃)",
)
def _(rankings, copies, q, epsilon, c) -> Sides:  # c is the constant of Lemma 10 and of Corollary 9
    rankings, epsilon, c = profile(rankings), positive(epsilon), whole(c, 1, 10**6, "c")
    m, n = len(rankings[0]), whole(copies, 1, 10**60, "copies") * len(rankings)
    need(n % m == 0 and bool(10 * m * log(m) < whole(q, 1, 10**6, "q")), "n or q")
    need(epsilon <= 1 and c >= 3, "no such constant: at a small ε a report needs more than 2")
    need(math.comb(m, 2) <= 2 * q // m, "⊥ must be impossible: no set can be asked more often than there are pairs")
    return never_too_many(rankings, 2 * c * q / (epsilon * sqrt(n * m)), 2 * c * m / (epsilon * sqrt(n)))


def drawn(one, other, epsilon, answer, *parts) -> Sides:
    """Log-ratio of the densities, at two profiles, of values in parts (k, b): the first k pairs with Lap(b/(εn)).

    All values are the same, so that in KwikSort every pivot comes out at an end and all pairs are wanted.
    """
    one, other, epsilon, answer = profile(one), profile(other), positive(epsilon), positive(answer)
    need(len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1, "no neighbours")
    need(answer < 1, "answers lie between 0 and 1")
    v, w = shares(one), shares(other)
    far = [epsilon * len(one) * (abs(answer - w[j][i]) - abs(answer - v[j][i])) for i, j in pairs(len(v))]
    return sum(sum(far[:k]) / b for k, b in parts), "<=", epsilon


@says(
    "alabi2022:cor-6:budget",
    "[read as: the accounting, answers and matrix published] privacy loss of q answers with Lap(q/(εn))"
    " and of Corollary 3's matrix (budget ε/2) together <= ε",
)
def _(one, other, q, epsilon, answer) -> Sides:
    m, every = len(one[0]), math.comb(len(one[0]), 2)
    return drawn(one, other, epsilon, answer, (whole(q, 1, every - 1, "q"), q), (every, 2 * m**2))


@says(
    "alabi2022:cor-6:budget",
    "[corrected, attained] loss of q answers with Lap(q/(εn)) and of the matrix with Lap(2 C(m, 2)/(εn)) together"
    " == 3ε/2",
)
def _(one, other, q, epsilon, answer) -> Sides:
    every = math.comb(len(one[0]), 2)
    parts = (whole(q, 1, every - 1, "q"), q), (every, 2 * every)
    return drawn(one, other, epsilon, answer, *parts)[0], "==", 3 * positive(epsilon) / 2


@says("alabi2022:cor-3", "[corrected, attained] privacy loss of all pairs with Lap(m²/(εn)) == ε (m − 1)/(2m)")
def _(one, other, epsilon, answer) -> Sides:
    m = len(one[0])
    loss = drawn(one, other, epsilon, answer, (math.comb(m, 2), m**2))[0]
    return loss, "==", positive(epsilon) * fmpq(m - 1, 2 * m)


@says(
    "alabi2022:table-1:hay",
    "[all cases] privacy at one ε: P(σ) <= e^ε P′(σ), weights e^(−ε n K/(m(m − 1))), n rankings of which one changes",
)
def _(sizes, root):
    """`root` is e^(−ε/(m(m − 1))), so that all chances are rational."""
    root = positive(root)
    need(root < 1, "ε must be positive")
    for m, n in growing(sizes):
        near = {a: {b: root ** kendall(a, b) for b in orders(m)} for a in orders(m)}
        rest = itertools.combinations_with_replacement(orders(m), n - 1) if len(sets(m, n)) else []
        cases = []
        for others in rest:
            weights = [{b: math.prod(near[it][b] for it in (a, *others)) for b in near} for a in near]
            laws = [{b: p / sum(it.values()) for b, p in it.items()} for it in weights]
            cases += [p[b] * root ** (m * (m - 1)) <= q[b] for p in laws for q in laws for b in near]
        yield all_of(cases)


@says("alabi2022:alg-1", "[read as: c handed down, as in the code] queries answered in a run without fallback <= q")
def _(m, q) -> Sides:
    return most_answered(whole(m, 2, 12, "m"), whole(q, 1, 100, "q")), "<=", q


def most_answered(m, left):
    """Over all pivots, the answers without cycles to m items whose calls count on from what they are handed."""
    here = left - (m - 1)
    if m < 2 or here < 0:
        return 0 if m < 2 else -(10**6)
    return m - 1 + max(most_answered(i, here) + most_answered(m - 1 - i, here) for i in range(m))


# ---------------------------------------------------------------- Gaussian noise and an exact solver


def exact_order(m, deviation) -> arb:
    """At most the additive error, at ratio 1, of the best order of a matrix with Gaussian noise on each pair.

    An order's cost is off by a sum of C(m, 2) noises; the largest of m! such sums is √(2 log m!) deviations at most.
    """
    return deviation * sqrt(math.comb(m, 2)) * sqrt(2 * arb(m + 1).lgamma())


def spent(deviation, epsilon) -> arb:
    """The δ of Gaussian noise of that deviation at sensitivity 1."""
    near, far = 1 / (2 * deviation), epsilon * deviation
    return normal_cdf(near - far) - exp(epsilon) * normal_cdf(-near - far)


def climbing(chain, largest, least, most):
    """Constants, each larger than the one before, with the size that each is refuted at."""
    need(isinstance(chain, list) and 3 <= len(chain) <= 9, "a chain has 3 to 9 steps")
    steps = [(whole(c, 1, largest, "a constant"), whole(m, least, most, "a size")) for c, m in chain]
    need(all(a < b and m < n for (a, m), (b, n) in itertools.pairwise(steps)), "constants and sizes must grow")
    return steps


@says(
    "alabi2022:sec-results:second-reduction",
    "[read as: of the errors] error of I (exact solver, unclipped noise, δ > 0) / (m³ √(log(1/δ))/(εn))"
    " >= 1 / logᵏ m for some k and all m",
)
def _(chain, epsilon, delta):
    epsilon, delta = positive(epsilon), positive(delta)
    # the noise is 2m √(log(1/δ))/(εn), at a sensitivity of √C(m, 2)/n, which is below m/(√2 n)
    need(delta < 1 and bool(spent(sqrt(8) * sqrt(-log(delta)) / epsilon, epsilon) <= delta), "the noise is not private")
    for k, m in climbing(chain, 99, 10, 10**99):  # in units of √(log(1/δ))/(εn)
        yield exact_order(m, 2 * m) / m**3, ">=", 1 / log(m) ** k


@says(
    "alabi2022:sec-central:factor",
    "[read as: of the errors] error of I (exact solver, unclipped noise, δ > 0) / error of II"
    " >= √m / logᵏ m for some k and all m",
)
def _(chain, noise):
    noise = positive(noise)  # deviation of an answer of II: √q in units of which I has m, and q is m − 1 at least
    need(fmpq(1, 10) <= noise <= 10, "noise")
    wrong = normal_cdf(-1 / (2 * noise))  # all voters agree
    for k, m in climbing(chain, 99, 10, 10**99):
        # the first pivot's pairs, then pairs on one side of it of which one item is sent astray, then those across it;
        # less 1 for the fallback, which is rarer than m^-4
        once = (m - 1) * wrong + (m - 1) * (m - 2) * (wrong * (1 - wrong) / 3 + wrong**2 / 6) - 1
        yield exact_order(m, m * noise / sqrt(m - 1)) / once, ">=", sqrt(m) / log(m) ** k


@says(
    "alabi2022:sec-conclusions:either-or",
    "[read as: near the least error at every n] log(error of the exponential mechanism/(Corollary 6's m³ log m/(εn))"
    " · logᵏ m) >= 0 for some k and all m, ratio 3, n = m³/ε",
)
def _(chain):
    for k, m in climbing(chain, 99, 3, 60):
        yield log(far_from_optimal(m) / log(m) * log(m) ** k), ">=", 0


@says("alabi2022:thm-14", "[read as: ε may depend on m] error > m²/c for some c and all m, (1, o(1/n))-DP, n = o(√m/ε)")
def _(chain):
    for c, k in climbing(chain, 10**60, 1, 9):  # ε = 10^(−8k), so that n is 10^(−k) √m/ε; δ = 1/n²
        m, n = 10 ** (20 * k), 10 ** (17 * k)
        deviation = 2 * sqrt(log(n))
        need(bool(spent(deviation, 1) <= fmpq(1, n**2)), "the noise is not private")
        yield exact_order(m, deviation * sqrt(math.comb(m, 2)) / n), ">", fmpq(m**2, c)


# ---------------------------------------------------------------- the local model


@says("alabi2022:lem-10:proof", "(m/n)² (Σ_k Var(B_k w̃^k) + Σ_(k < l) Cov(B_k w̃^k, B_l w̃^l)) − Var(w̃) == 0")
def _(votes, m, odds) -> Sides:
    n, odds = len(votes), positive(odds)  # e^ε₀
    need(all(it in (0, 1) for it in votes) and n <= 6 and n % whole(m, 2, 6, "m") == 0 and odds > 1, "votes or odds")
    d, law = (odds + 1) / (odds - 1), []
    for block in itertools.combinations(range(n), n // m):
        for signs in itertools.product((-1, 1), repeat=n // m):
            sent = dict(zip(block, signs, strict=True))
            chance = math.prod((1 + sign * votes[k] / d) / 2 for k, sign in sent.items()) / math.comb(n, n // m)
            law.append((chance, [sent.get(k, 0) * d * m / n for k in range(n)]))

    def covariance(f, g):
        return sum(p * f(x) * g(x) for p, x in law) - sum(p * f(x) for p, x in law) * sum(p * g(x) for p, x in law)

    printed = sum(covariance(itemgetter(k), itemgetter(other)) for k in range(n) for other in range(k, n))
    return printed - covariance(sum, sum), "==", 0


@says("alabi2022:lem-10:dummy", "[read as: n is the number of all users] E w̃ − w == 0, t < m users being dummies")
def _(votes, m) -> Sides:
    real, m = len(votes), whole(m, 2, 6, "m")
    need(all(it in (0, 1) for it in votes) and m <= real <= 8, "votes")
    n = -(-real // m) * m
    blocks = list(itertools.combinations([*votes, *[0] * (n - real)], n // m))  # a report's mean is the vote
    return fmpq(m * sum(map(sum, blocks)), n * len(blocks)) - fmpq(sum(votes), real), "==", 0


@says(
    "alabi2022:alg-2",
    "[read as: one count a user] answers before ⊥ >= 1 (⊥ only if the set has already been used at least 2q/m times)",
)
def _(m, q, n) -> Sides:
    m, q, n = whole(m, 2, 100, "m"), whole(q, 1, 10**5, "q"), whole(n, 1, 10**5, "n")
    need(n % m == 0 and bool(10 * m * log(m) < q), "n must be a multiple of m, and q above 10 m log m")
    return int(all(m * count <= 2 * q for count in range(1, n // m + 1))), ">=", 1  # each user of the set adds 1


@says(
    "alabi2022:sec-local:warner",
    "P(+d | answer no) + P(+d | answer yes) == 1 (Warner: each is told truthfully with the same chance)",
)
def _(odds) -> Sides:
    odds = positive(odds)  # e^ε₀
    need(odds > 1, "odds")
    d = (odds + 1) / (odds - 1)
    return sum((1 + w / d) / 2 for w in (0, 1)), "==", 1


@says(
    "alabi2022:alg-3",
    "[read as: d_ε and τ = 2q/m of Algorithm 2] loss of 2q/m reports and of the fallback (budget ε/2) together <= ε,"
    " each ε",
)
def _(one, other, q, epsilons):
    m, q = whole(len(one), 2, 60, "m"), whole(q, 1, 10**5, "q")
    need(bool(10 * m * log(m) < q) and 2 * q // m < math.comb(m, 2), "q: below Lemma 10's, or no set is used up")

    def chance(ranking, epsilon):
        """Of a transcript: a voter alone in a set that all is asked of says −d, then 0 before 1 to a coin of ε/2.

        At −d the item goes behind its pivot, 0 and then 1 and so on, so that all pairs are wanted.
        """
        odds = exp(epsilon * m / (2 * q))
        d = (odds + 1) / (odds - 1)
        said = [(1 - int(ranking.index(j) < ranking.index(i)) / d) / 2 for i, j in pairs(m)[: 2 * q // m]]
        return math.prod(said) * exp(epsilon / 2 if ranking.index(0) < ranking.index(1) else 0)

    for epsilon in map(positive, growing(epsilons)):
        yield log(chance(is_order(one, m), epsilon) / chance(is_order(other, m), epsilon)), "<=", epsilon


# ---------------------------------------------------------------- lower bounds


@says("alabi2022:sec-lower:local", "[read as: up to a constant] ε (m log² m/ε²)/(m/ε) <= c for some c and all m")
def _(chain, epsilon):
    for c, m in climbing(chain, 10**60, 2, 10**99):
        # Corollary 12's voters over Theorem 13's
        yield positive(epsilon) * (m * log(m) ** 2 / epsilon**2) / (m / fmpq(epsilon)), "<=", c


@says(
    "alabi2022:sec-results:lower-match",
    "[read as: the additive error at every larger n] log(error of the exponential mechanism/(m³/(εn)) · logᵏ m) >= 0"
    " for some k and all m, ratio 3, n = m³/ε",
)
def _(chain):
    for k, m in climbing(chain, 99, 3, 60):
        yield log(far_from_optimal(m) * log(m) ** k), ">=", 0


def far_from_optimal(m):
    """Error of the exponential mechanism at ratio 3 over m³/(εn), at most, for n = m³/ε.

    An order D from the optimum that costs over 3 OPT costs at least D/2 more than it, so that its weight is
    exp(−εn D/(4 C(m, 2))) at most, and its excess D at most.
    """
    phi = fmpq(m**3, 4 * math.comb(m, 2))
    return sum(n * d * exp(-phi * d) for d, n in enumerate(mahonian(m)))


def embedded(x, t, sign=1) -> list[int]:
    """π^x: items j and j + d + t change places where x_j is 1 (the words; where it is −1 by the formula)."""
    need(isinstance(x, list) and 0 < len(x) <= 30 and all(it in (-1, 1) for it in x), "x must hold signs")
    far = len(x) + whole(t, 1, 100, "t")
    order = list(range(far + len(x)))
    for j, it in enumerate(x):
        if it == sign:
            order[j], order[j + far] = order[j + far], order[j]
    return order


def cube(vectors, t, sign=1) -> list[list[int]]:
    need(isinstance(vectors, list) and 0 < len(vectors) <= 30, "vectors must be a list of at most 30")
    return [embedded(x, t, sign) for x in vectors]


def inverse(order, d) -> list[int]:
    """ρ(π): −1 where item j stands before item j + d + t."""
    return [-1 if order.index(j) < order.index(j + len(order) - d) else 1 for j in range(d)]


def half_gap(x, vectors) -> fmpq:
    """d/2 − ⟨x, x̄⟩/2"""
    return (len(x) - fmpq(sum(a * b for it in vectors for a, b in zip(x, it, strict=True)), len(vectors))) / 2


def signs(d):
    return [list(x) for x in itertools.product((-1, 1), repeat=whole(d, 1, 8, "d"))]


@says("alabi2022:sec-lower:map", "|{x: π^x by the formula = π^x by the words}| == 2^d, x any vector of d signs")
def _(d, t) -> Sides:
    return sum(embedded(x, t, -1) == embedded(x, t) for x in signs(d)), "==", 2**d


@says("alabi2022:sec-lower:inverse", "[read as: π^x by the formula] |{x: ρ(π^x) = x}| == 2^d, x any vector of d signs")
def _(d, t) -> Sides:
    return sum(inverse(embedded(x, t, -1), d) == x for x in signs(d)), "==", 2**d


@says("alabi2022:obs-15", "[read as: π^x by the formula] K(σ, {π^x}) >= t (d/2 − ⟨ρ(σ), x̄⟩/2)")
def _(order, vectors, t) -> Sides:
    rankings = cube(vectors, t, -1)
    order = is_order(order, len(rankings[0]))
    return mean_distance(order, rankings), ">=", t * half_gap(inverse(order, len(vectors[0])), vectors)


@says("alabi2022:obs-15", "[corrected, attained] K(σ, {π^x})/((d − ⟨ρ(σ), x̄⟩)/2) == t + (d + 1)/2, π^x by the words")
def _(order, vectors, t) -> Sides:
    rankings, d = cube(vectors, t), len(vectors[0])
    order = is_order(order, 2 * d + t)
    wrong = half_gap(inverse(order, d), vectors)
    need(wrong > 0, "no sign is wrong")
    return mean_distance(order, rankings) / wrong, "==", t + fmpq(d + 1, 2)


@says("alabi2022:obs-15", "[all cases] [corrected] K(σ, π^x) >= (t + (d + 1)/2) (d − ⟨ρ(σ), x⟩)/2, all σ and x")
def _(sizes):  # both sides are means over the voters: one voter is enough
    for d, t in growing(sizes):
        need(2 * whole(d, 1, 3, "d") + whole(t, 1, 5, "t") <= 7, "too many items")
        read = {order: inverse(order, d) for order in orders(2 * d + t)}
        pairs = itertools.product(signs(d), repeat=2)
        least = {(*rho, *x): (t + fmpq(d + 1, 2)) * half_gap(rho, [x]) for rho, x in pairs}
        to = [(x, embedded(x, t)) for x in signs(d)]
        yield all_of(kendall(order, at) >= least[*rho, *x] for order, rho in read.items() for x, at in to)


def outer(d, t):
    """Inversions of each two π^x, π^y among the items that the paper names."""
    named = {*range(d + 1), *range(d + whole(t, 1, 9, "t"), 2 * d + t)}
    seen = [[it for it in embedded(x, t) if it in named] for x in signs(d)]
    return [kendall(a, b) for a, b in itertools.product(seen, repeat=2)]


@says("alabi2022:sec-lower:outer", "inversions among {1..d + 1, d + t + 1..2d + t} <= 2d², all x and y")
def _(d, t) -> Sides:
    return max(outer(whole(d, 1, 5, "d"), t)), "<=", 2 * d**2


@says(
    "alabi2022:sec-lower:outer",
    "[all cases] [corrected] inversions among {1..d + 1, d + t + 1..2d + t} <= d² + 2d <= 2d², d >= 2, all x and y",
)
def _(sizes):
    for d, t in growing(sizes):
        yield all_of(it <= d**2 + 2 * d <= 2 * d**2 for it in outer(whole(d, 2, 5, "d"), t))


@says(
    "alabi2022:obs-16",
    "[all cases] [corrected] K(π^y, π^x) == h(2t + 2d − h) <= 2ht + d², h the number of signs that differ, all x and y",
)
def _(sizes):
    for d, t in growing(sizes):
        both = itertools.product(signs(whole(d, 1, 5, "d")), repeat=2)
        apart = [(kendall(embedded(x, t), embedded(y, t)), half_gap(y, [x])) for x, y in both]
        yield all_of(k == h * (2 * t + 2 * d - h) <= 2 * h * t + d**2 for k, h in apart)


@says("alabi2022:obs-16", "K(π^y, {π^x}) <= t (d/2 − ⟨y, x̄⟩/2) + 2d²")
def _(y, vectors, t) -> Sides:
    found = mean_distance(embedded(y, t), cube(vectors, t))
    return found, "<=", t * half_gap(y, vectors) + 2 * len(y) ** 2


@says("alabi2022:obs-16", "[corrected, attained] K(π^y, {π^x}) − t (d − ⟨y, x̄⟩) − d² == 0")
def _(y, vectors, t) -> Sides:
    found = mean_distance(embedded(y, t), cube(vectors, t))
    return found - 2 * t * half_gap(y, vectors) - len(y) ** 2, "==", 0


@says("alabi2022:footnote-4", "[read as: of a voter's sign] variance at mean p >= that at mean q, |p| > |q|")
def _(near, far):
    near, far = rational(near, "p"), rational(far, "q")
    need(abs(far) < abs(near) <= 1, "p must be the nearer to −1 or 1")
    laws = [[((1 + mean) / 2, 1), ((1 - mean) / 2, -1)] for mean in (near, far)]
    spread = [sum(p * (x - mean) ** 2 for p, x in law) for law, mean in zip(laws, (near, far), strict=True)]
    return spread[0], ">=", spread[1]


def halved_noise(noises, alpha) -> tuple[fmpq, list[tuple[fmpq, fmpq]], fmpq]:
    """Two items, voters in two equal halves, one noise for the pair: expected error, law of the noise, and alpha."""
    law = [(rational(p, "a chance"), rational(z, "a noise")) for p, z in noises]
    need(all(p > 0 for p, _ in law) and sum(p for p, _ in law) == 1, "the chances must add up to 1")
    need(all(abs(z) <= HALF for _, z in law), "answers must be fractions")
    need(rational(alpha, "α") > 1, "α must be above 1")
    return sum((p * abs(z) for p, z in law), fmpq(0)), law, fmpq(alpha)


@says("alabi2022:thm-1:proof", "E K(σ,w) <= m²e + α OPT(w̃)")
def _(noises, alpha, drawn) -> Sides:
    error, law, alpha = halved_noise(noises, alpha)
    need(any(drawn == z for _, z in law), "the noise must be one of the law")
    # every order costs one half
    return HALF, "<=", 4 * error + alpha * (HALF - abs(fmpq(drawn)))


def asked(items, beats) -> int:
    """The most comparisons of a run of KwikSort: each item of a part is compared with the part's pivot."""
    runs = []
    for pivot in items:
        parts = [[j for j in items if j != pivot and beats[j][pivot] == ahead] for ahead in (True, False)]
        runs.append(len(items) - 1 + sum(asked(part, beats) for part in parts if len(part) > 1))
    return max(runs)


@says(
    "alabi2022:sec-central:quicksort", "[read as: for no q] most comparisons of a run of KwikSort > q, any majorities"
)
def most_asked(m, q):
    whole(m, 2, 5, "m"), whole(q, 0, 10**9, "q")
    found = []
    for signs in itertools.product((True, False), repeat=m * (m - 1) // 2):
        ahead = dict(zip(pairs(m), signs, strict=True))
        beats = [[i != j and (ahead[i, j] if i < j else not ahead[j, i]) for j in range(m)] for i in range(m)]
        found.append(asked(list(range(m)), beats))
    return max(found), ">", q
