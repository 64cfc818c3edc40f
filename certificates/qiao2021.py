"""What Qiao, Su and Zhang (2021), "Oneshot Differentially Private Top-k Selection", print; the sensitivity s is 1.

The k smallest of m values are chosen after Laplace noise of scale λ. Chains are those of (3.2): a graph's edges are
[i, j, games, wins of j], and P_ij = (wins of j)/(games d).
"""

import math
from itertools import combinations, pairwise, permutations, product

import exact
from exact import Number, Sides, Statements, all_of, between, exp, growing, log, need, rational, sqrt, whole
from flint import arb, fmpq, fmpq_mat

STATEMENTS = Statements()
says = STATEMENTS.says
ANY = "[read as: any direction (the paper's Section 2)]"


def below(gap: Number) -> arb:
    """P(one value is below another that is `gap` noise scales above it), by a closed form."""
    gap = arb(gap)
    need(bool(gap >= 0) or bool(gap <= 0), "a sign is not certain")
    tail = (1 + abs(gap) / 2) * exp(-abs(gap)) / 2
    return 1 - tail if gap >= 0 else tail


def chance(x: list[fmpq], chosen: list[int], scale: fmpq) -> arb:
    """P(the set chosen is this one): the integral over its largest noisy value t of a product of m factors."""
    if len(x) == 2:
        return below((x[1 - chosen[0]] - x[chosen[0]]) / scale)
    ends, total = sorted({*x, min(x) - 99 * scale, max(x) + 99 * scale}), len(x) * exp(-99) * arb(1, 1)
    centres = list(dict.fromkeys(x))
    at, some = [centres.index(it) for it in x], set(chosen)
    for a, b in pairwise(ends):  # Laplace's law is analytic on either side of its centre
        laws = [(it, it <= a) for it in centres]

        def density(t, laws=laws):
            half = [((it - t if left else t - it) / scale).exp() / 2 for it, left in laws]
            under = [1 - tail if left else tail for tail, (_, left) in zip(half, laws, strict=True)]
            over = [1 - it for it in under]
            last = sum(half[at[i]] / scale / under[at[i]] for i in chosen)
            for i, place in enumerate(at):
                last *= under[place] if i in some else over[place]
            return last

        total += exact.integral(density, a, b)
    return total


def loss(x, other, chosen, values, scale) -> arb:
    """Log-ratio of the densities of the set chosen and of fresh noisy values, if any. Neighbours are, as in Section 2,
    values that move by at most 1, in any direction."""
    need(2 <= len(x) == len(other) <= 6 and 0 < len(set(chosen)) == len(chosen) < len(x), "not some of 2 to 6 values")
    x, other = [rational(it, "x") for it in x], [rational(it, "other") for it in other]
    need(all(abs(a - b) <= 1 for a, b in zip(x, other, strict=True)), "these are not neighbours")
    need(all(whole(i, 0, len(x) - 1, "chosen") >= 0 for i in chosen), "chosen")
    fresh = sum(abs(v - other[i]) - abs(v - x[i]) for i, v in zip(chosen, values, strict=bool(values)))
    return log(chance(x, chosen, scale) / chance(other, chosen, scale)) + fresh / scale


@says("qiao2021:sec-2:rnm-value", "ln of the ratio of densities of index and fresh value <= ε, λ = 2/ε")
def _(epsilon, x, other, chosen, value) -> Sides:
    return loss(x, other, [chosen], [value], 2 / between(epsilon, 0, 100, "epsilon")), "<=", epsilon


@says(
    "qiao2021:sec-2:rnm-value",
    "[corrected, attained] ln of the ratio of densities of index and fresh value >= (1 − 1/1000) 3ε/2, λ = 2/ε",
)
def _(epsilon, x, other, chosen, value) -> Sides:
    most = fmpq(999, 1000) * 3 * between(epsilon, 0, 100, "epsilon") / 2
    return loss(x, other, [chosen], [value], 2 / fmpq(epsilon)), ">=", most


@says("qiao2021:def-1.1", f"{ANY} ln of the ratio of densities of set and values <= ε, λ = 2k/ε (Theorem 2.1)")
@says("qiao2021:alg-1", "ln of the ratio of densities of set and values <= ε, λ = 2k/ε (Theorem 2.1)")
def _(epsilon, x, other, chosen, values) -> Sides:
    return loss(x, other, chosen, values, 2 * len(chosen) / between(epsilon, 0, 100, "epsilon")), "<=", epsilon


@says("qiao2021:sec-1:pure-k", f"{ANY} ln of the ratio of the probabilities of a set <= ε, λ = k/ε")
def _(epsilon, x, other, chosen) -> Sides:
    return loss(x, other, chosen, [], len(chosen) / between(epsilon, 0, 100, "epsilon")), "<=", epsilon


@says(
    "qiao2021:sec-1:pure-k",
    "[corrected, attained] ln of the ratio of the probabilities of a set >= (1 − 1/1000) 2 min(k, m − k)/λ, λ = k/ε",
)
def _(epsilon, x, other, chosen) -> Sides:
    most = fmpq(999, 1000) * 2 * min(len(chosen), len(x) - len(chosen)) / len(chosen) * epsilon
    return loss(x, other, chosen, [], len(chosen) / between(epsilon, 0, 100, "epsilon")), ">=", most


@says(
    "qiao2021:thm-2.3:example",
    "[read as: m ≤ 8·10⁶, a superscript is lost in our copy] 1 − (m − 1)(2λ + Δ) e^(−Δ/λ)/(4λ) > 0.99 for Δ >= 20λ",
)
def _(m, gap) -> Sides:
    need(rational(gap, "gap") >= 20, "Δ/λ must be 20 or more")
    return 1 - (whole(m, 2, 8 * 10**6, "m") - 1) * (2 + gap) * exp(-gap) / 4, ">", fmpq(99, 100)


def lists(k, w) -> list[tuple[fmpq, fmpq]]:
    """Chances of all lists of k items: in one pass of Gumbel noise, in k rounds of the exponential mechanism.

    log(w_i) + Gumbel noise falls as an exponential time of rate w_i rises; a list's last time is integrated first, and
    ∫ w e^(−wu) e^(−au) du from t on is w/(w + a) e^(−(w + a)t)."""
    need(len(w) <= 7, "too many weights to list all orders")
    w, found = [between(it, 0, 10**6, "weight") for it in w], []
    for ranked in permutations(range(len(w)), whole(k, 1, min(6, len(w)), "k")):
        rest = sum((it for i, it in enumerate(w) if i not in ranked), fmpq(0))
        one_pass = rounds = fmpq(1)
        for n, i in enumerate(ranked):
            one_pass *= w[i] / (rest + sum(w[j] for j in ranked[n:]))
            rounds *= w[i] / (sum(w) - sum(w[j] for j in ranked[:n]))
        found.append((one_pass, rounds))
    return found


@says(
    "qiao2021:sec-1:gumbel",
    "[all cases] P(list) in one pass of Gumbel noise == P(list) in k rounds, all lists of k items",
)
def _(sizes, weights):
    for m, k in growing(sizes):
        yield all_of(once == rounds for once, rounds in lists(k, weights[: whole(m, 1, len(weights), "m")]))


@says(
    "qiao2021:sec-5:linear-k",
    "[read as: of private top-k] noise of peeling by advanced composition >= C 2k/ε for a C and all k",
)
def _(epsilon, delta, steps) -> list[Sides]:
    """Each of k rounds is ε₁-private with noise 2/ε₁; advanced composition (2010) keeps (ε, δ)."""
    need(len(steps) >= 3 and all(10 * b[0] <= a[0] for a, b in pairwise(steps)), "three C, each a tenth of the last")
    need(all(between(c, 0, fmpq(1, 2), "C") > 0 for c, _, _ in steps), "C")
    for _, k, each in steps:
        root = sqrt(2 * whole(k, 1, 10**12, "k") * log(1 / between(delta, 0, 1, "delta")))
        kept = between(each, 0, 1, "epsilon of a round") * root + k * each * (exp(each) - 1)
        need(bool(kept <= between(epsilon, 0, 100, "epsilon")), "k rounds must keep ε")
    return [(2 / each, ">=", c * 2 * k / epsilon) for c, k, each in steps]


def chain(rows) -> fmpq_mat:
    p = fmpq_mat([[rational(it, "entry") for it in row] for row in rows])
    need(2 <= p.nrows() == p.ncols() <= 8 and all(it >= 0 for it in p.entries()), "no square of probabilities")
    need(all(sum(row) == 1 for row in rows), "rows must have the sum 1")
    return p


def tau(p: fmpq_mat) -> fmpq:
    """The largest of |vᵀP|₁ is at an end of the set of all v, half the difference of two unit vectors."""
    rows = p.table()
    return max(sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a in rows for b in rows) / 2


def norm(p: fmpq_mat) -> fmpq:
    return max(sum(map(abs, row)) for row in p.table())


def steps(m, d, edges) -> list[list[fmpq]]:
    """P of (3.2), whatever d is."""
    p = [[fmpq(int(i == j)) for j in range(whole(m, 2, 8, "m"))] for i in range(m)]
    need(len({frozenset(it[:2]) for it in edges}) == len(edges), "an edge stands twice")
    for i, j, games, wins in edges:
        need(whole(i, 0, m - 1, "i") != whole(j, 0, m - 1, "j"), "no edge")
        share = fmpq(whole(wins, 0, whole(games, 1, 10**6, "games"), "wins"), games)
        for a, b, won in (i, j, share), (j, i, 1 - share):
            p[a][b] += won / whole(d, 1, 10**6, "d")
            p[a][a] -= won / d
    return p


def walk(m, d, edges) -> fmpq_mat:
    p = steps(m, d, edges)
    need(all(sum(it in edge[:2] for edge in edges) <= d for it in range(m)), "d is below the largest degree")
    return chain(p)


def one_graph(edges, other) -> None:
    need([it[:3] for it in edges] == [it[:3] for it in other], "one graph, and as many games on every edge")


def chains(m, n) -> list[fmpq_mat]:
    """All chains of m states whose probabilities are n-ths."""
    need(math.comb(whole(n, 1, 20, "n") + whole(m, 2, 4, "m") - 1, n) ** m <= 4000, "too many chains")
    rows = [[fmpq(it, n) for it in row] for row in product(range(n + 1), repeat=m) if sum(row) == n]
    return [chain(p) for p in product(rows, repeat=m)]


def data_sets(m, games, edges) -> list[list[list[int]]]:
    """All numbers of wins on a graph."""
    need((whole(games, 1, 9, "games") + 1) ** len(edges) <= 200 and whole(m, 2, 5, "m"), "too many data sets")
    every = product(range(games + 1), repeat=len(edges))
    return [[[*edge, games, won] for edge, won in zip(edges, wins, strict=True)] for wins in every]


def graphs(m) -> list[list[tuple[int, int]]]:
    pairs = list(combinations(range(whole(m, 2, 6, "m")), 2))
    return [[e for e, here in zip(pairs, kept, strict=True) if here] for kept in product((0, 1), repeat=len(pairs))]


def stationary(p: fmpq_mat) -> list[fmpq] | None:
    """The stationary distribution, if there is but one."""
    m, gaps = p.nrows(), [[p[j, i] - int(i == j) for j in range(p.nrows())] for i in range(p.nrows())]
    if fmpq_mat(gaps).rank() < m - 1:
        return None
    return fmpq_mat([*gaps[1:], [1] * m]).solve(fmpq_mat([[0]] * (m - 1) + [[1]])).entries()


def moved(some: list[fmpq_mat]) -> Sides:
    known = [(p, 1 - tau(p), pi) for p in some if (pi := stationary(p))]
    cases = []
    for (p, gap, pi), (q, _, rho) in product([it for it in known if it[1] > 0], known):
        apart = [abs(a - b) for a, b in zip(pi, rho, strict=True)]
        cases.append(2 * max(apart) <= sum(apart) and sum(apart) * gap <= norm(q - p))
    return all_of(cases)


MOVED = "[all cases] [ours] 2 max|π_i − π̃_i| <= Σ|π_i − π̃_i| <= ‖P̃ − P‖∞/(1 − τ₁(P)), two"


@says("qiao2021:lem-3.3", f"{MOVED} chains of m states with probabilities in n-ths")
def _(sizes):
    for m, n in growing(sizes):
        need(len(some := chains(m, n)) <= 300, "too many chains")
        yield moved(some)


@says("qiao2021:sec-3:map-sensitivity", f"{MOVED} data sets, m items, L games of each pair")
def _(sizes):
    for m, games in growing(sizes):
        every = data_sets(m, games, list(combinations(range(whole(m, 2, 5, "m")), 2)))
        yield moved([walk(m, m - 1, it) for it in every])


@says("qiao2021:eq-3.1", "[all cases] P(outcomes) == P(others with as many wins of each item), hence if averages agree")
def _(sizes, strengths):
    w = [between(it, 0, 10**6, "a strength") for it in strengths]
    for m, games in growing(sizes):
        played = list(combinations(range(whole(m, 2, len(w), "m")), 2)) * whole(games, 1, 9, "games")
        need(len(played) <= 10, "too many outcomes")
        chances, cases = {}, []
        for winners in product(*played):
            p = math.prod((w[it] / (w[i] + w[j]) for it, (i, j) in zip(winners, played, strict=True)), start=fmpq(1))
            cases.append(chances.setdefault(tuple(sorted(winners)), p) == p)
        yield all_of(cases)


@says(
    "qiao2021:eq-3.2",
    "[read as: of one order is within a factor 2] least entry of P >= 0, d from half the largest degree to twice it",
)
def _(m, d, edges) -> Sides:
    degree = max(sum(i in it[:2] for it in edges) for i in range(whole(m, 2, 8, "m")))
    need(degree <= 2 * whole(d, 1, 9, "d") <= 4 * degree, "d must be of the order of the largest degree")
    return min(min(row) for row in steps(m, d, edges)), ">=", 0


@says(
    "qiao2021:eq-3.2",
    "[all cases] [corrected] least entry of P over all answers of one game == min(0, 1 − (largest degree)/d), each"
    " graph",
)
def _(sizes):
    for m, d in growing(sizes):
        need(whole(m, 2, 4, "m") and whole(d, 1, 9, "d"), "sizes")
        cases = []
        for edges in graphs(m)[1:]:
            degree = max(sum(i in it for it in edges) for i in range(m))
            least = min(min(map(min, steps(m, d, it))) for it in data_sets(m, 1, edges))
            cases.append(least == min(0, 1 - fmpq(degree, d)))
        yield all_of(cases)


@says(
    "qiao2021:sec-3:d-grows",
    "[all cases] [ours] m <= d² + 1, d the most rivals of an item, each graph where any two items were compared or"
    " share a rival",
)
def _(sizes):
    for m in growing(sizes):
        cases = []
        for edges in graphs(m):
            near = [{j for it in edges if i in it for j in it if j != i} for i in range(m)]
            if all(j in near[i] or near[i] & near[j] for i, j in combinations(range(m), 2)):
                cases.append(m <= max(map(len, near)) ** 2 + 1)
        yield all_of(cases)


@says(
    "qiao2021:sec-3:tau-rank-one",
    "[all cases] [corrected] τ₁ == 0 exactly if the rank is 1, and τ₁ == 1 exactly if two rows share no column",
)
def _(sizes):
    for m, n in growing(sizes):
        cases = []
        for p in chains(m, n):
            apart = any(all(x * y == 0 for x, y in zip(a, b, strict=True)) for a, b in combinations(p.table(), 2))
            cases.append((tau(p) == 0) == (p.rank() == 1) and (tau(p) == 1) == apart)
        yield all_of(cases)


@says("qiao2021:sec-3:tau-rank-one", "τ₁(P) == 1 where P has rank 1, and the rank == 1 where τ₁(P) = 1")
def _(of_rank_1, of_tau_1) -> list[Sides]:
    p, q = chain(of_rank_1), chain(of_tau_1)
    need(p.rank() == 1 and tau(q) == 1, "a chain of rank 1 and one with coefficient 1")
    return [(tau(p), "==", 1), (q.rank(), "==", 1)]


@says("qiao2021:def-3.2", "[read as: any κ that satisfies the bound] κ == κ′ for two of them, both >= 1/(1 − τ₁(P))")
def _(rows, kappa, other) -> Sides:
    both, gap = [rational(it, "kappa") for it in (kappa, other)], 1 - tau(chain(rows))
    need(all(gap * it >= 1 for it in both), "by Lemma 3.3 a κ is sure to satisfy the bound from 1/(1 − τ₁) on")
    return both[0], "==", both[1]


@says("qiao2021:lem-3.3", "[corrected, attained] largest |π_i − π̃_i| / (‖P̃ − P‖∞/(1 − τ₁(P))) == 1/2, two states")
def _(rows, other) -> Sides:
    p, q = chain(rows), chain(other)
    need(p.nrows() == q.nrows() == 2 and p != q and tau(p) < 1 and tau(q) < 1, "two chains of two states")
    first = [it[1, 0] / (it[0, 1] + it[1, 0]) for it in (p, q)]
    return abs(first[0] - first[1]) * (1 - tau(p)) / norm(p - q), "==", fmpq(1, 2)


@says("qiao2021:sec-3:adjacency", "[read as: a sample is added (Definition 1.1)] ‖P̃ − P‖∞ <= 2/(dL), L games per edge")
def _(m, d, edges, added) -> Sides:
    """`added` is one game more, [i, j, wins of j]."""
    after, (i, j, wins) = {tuple(it[:2]): it for it in edges}, added
    need(all(it[2] == edges[0][2] and it[0] < it[1] for it in edges) and i < j, "L games an edge, i < j")
    before = after.get((i, j), [i, j, 0, 0])
    after[i, j] = [i, j, before[2] + 1, before[3] + whole(wins, 0, 1, "wins")]
    return norm(walk(m, d, list(after.values())) - walk(m, d, edges)), "<=", fmpq(2, d * edges[0][2])


@says(
    "qiao2021:def-3.4", "[read as: ρ belongs to the graph, whatever the answers] τ₁(P) < 1, as it is with other answers"
)
def _(m, d, edges, other) -> Sides:
    one_graph(edges, other)
    need(tau(walk(m, d, other)) < 1, "with the other answers τ₁ must be below 1")
    return tau(walk(m, d, edges)), "<", 1


@says(
    "qiao2021:def-3.4",
    "[all cases] [ours] largest τ₁ over all answers == 1, or 1 − 1/d if all pairs are compared, each graph",
)
def _(sizes):
    for m, d in growing(sizes):
        need(whole(d, whole(m, 2, 4, "m") - 1, 9, "d") > 0, "d")
        cases = []
        for edges in graphs(m):
            largest = max(tau(walk(m, d, it)) for it in data_sets(m, 1, edges))
            cases.append(largest == (1 - fmpq(1, d) if len(edges) == math.comb(m, 2) else 1))
        yield all_of(cases)


@says("qiao2021:alg-3", "[read as: data with τ₁ = 1 are refused] P(refused) <= e^ε P(a neighbour is refused) + δ")
def _(m, d, edges, other, epsilon, delta) -> Sides:
    one_graph(edges, other)
    need(sum(abs(a[3] - b[3]) for a, b in zip(edges, other, strict=True)) == 1, "these are not neighbours")
    need(0 < rational(epsilon, "epsilon") <= fmpq(1, 5) and 0 < rational(delta, "delta") <= fmpq(1, 20), "ε or δ")
    refused = [int(tau(walk(m, d, it)) == 1) for it in (edges, other)]
    return refused[0], "<=", exp(epsilon) * refused[1] + delta


@says("qiao2021:thm-3.5", "[read as: ρ bounds τ₁ of the model's chain] P(item 0) − e^ε P′(item 0) <= δ, k = 1")
def _(m, games, wins, other, epsilon, delta) -> Sides:
    """All pairs are compared, d = m − 1. In the model all items are equal: τ₁ = (m − 2)/(2(m − 1)). In the data items 0
    and 1 won all games with the others, so that π is 0 but for them, and item 0 won `wins` of its games with 1 (in the
    neighbour: `other`), so that π_0 = wins/games. The others together have no more than their union bound."""
    need(abs(whole(wins, 1, whole(games, 1, 10**6, "games"), "wins") - whole(other, 1, games, "other")) == 1, "no pair")
    need(0 < rational(epsilon, "epsilon") <= fmpq(1, 5) and 0 < rational(delta, "delta") <= fmpq(1, 20), "ε or δ")
    s = 2 / ((whole(m, 3, 10**4, "m") - 1) * games * (1 - fmpq(m - 2, 2 * (m - 1))))
    scale = 8 * s * sqrt(log(m / fmpq(delta))) / epsilon
    p, q = (below(fmpq(2 * it - games, games) / scale) for it in (wins, other))
    return p - (m - 2) * below(-fmpq(wins, games) / scale) - exp(epsilon) * q, "<=", delta


def noise_of_2_2(m, k, delta, root, where):
    """Theorem 2.2's scale times ε, where k > root² log(m/δ)."""
    need(0 < rational(delta, "delta") <= fmpq(1, 20), "δ")
    slack = log(whole(m, 2, 10**9, "m") / fmpq(delta))
    need(bool(whole(k, 2, m - 1, "k") > root**2 * slack), f"k: {where}")
    return 8 * sqrt(k * slack)


@says(
    "qiao2021:sec-4:set-only",
    "[read as: privacy at Theorem 2.2's noise needs it, for all m and k] (loss of all noisy values)/ε > 1",
)
def _(m, k, delta) -> Sides:
    """The list, too, is read off all noisy values; each of them loses 1/λ at most, whatever the data: m/λ in all."""
    return m / noise_of_2_2(m, k, delta, fmpq(4), "where Theorem 2.2 asks for more noise than Theorem 2.1"), ">", 1


@says("qiao2021:lem-4.1:conditioning", "[read as: g is the noise] ln(l(g)/l′(g)) == (|g − x′| − |g − x|)/λ")
def _(x, other, noise, scale) -> Sides:
    need(abs(rational(x, "x") - rational(other, "other")) <= 1, "these are not neighbours")
    need(rational(scale, "scale") >= 575, "λ must be as in the proof: 8 · 3.9 log(2/δ)/ε or more")
    # the noise g has one density, whatever x: ln 1 = 0
    return 0, "==", (abs(rational(noise, "noise") - other) - abs(noise - x)) / scale


@says(
    "qiao2021:lem-4.4:range", "|ln((1 + Δ/q)/(1 − Δ/(1 − q)))| − |ln((1 + τ(1 − q))/(1 − τq))| <= 0, |Δ| <= τq(1 − q)"
)
def _(q, closeness, move) -> Sides:
    q, t = between(q, 0, 1, "q"), between(closeness, 0, fmpq(1, 300), "closeness")
    need(abs(rational(move, "move")) <= t * q * (1 - q), "q must be τ-close")
    return abs(log((1 + move / q) / (1 - move / (1 - q)))) - abs(log((1 + t * (1 - q)) / (1 - t * q))), "<=", 0


def independent(q) -> list[tuple[tuple[int, ...], fmpq]]:
    """All vectors of zeros and ones of independent choices with chances q, and their probabilities."""
    q = [between(it, 0, 1, "q") for it in q]
    need(1 <= len(q) <= 10, "1 to 10 items")
    vectors = product((0, 1), repeat=len(q))
    return [(z, math.prod((a if b else 1 - a for a, b in zip(q, z, strict=True)), start=fmpq(1))) for z in vectors]


@says("qiao2021:sec-1:multinomial", "variance of the number of items below a fixed value == 0, as of a multinomial sum")
def _(q) -> Sides:
    """Items fall below it independently, with any chances: those of Laplace noise take every value."""
    law = independent(q)
    mean = sum((p * sum(z) for z, p in law), fmpq(0))
    return sum((p * (sum(z) - mean) ** 2 for z, p in law), fmpq(0)), "==", 0


@says("qiao2021:lem-4.1:given", "P(i is chosen, given J_k = j and g_j = g) == q_i, the chance of item i, for each i")
def _(q, k) -> list[Sides]:
    """J_k = j says that just k − 1 of the others fall below its noisy value."""
    whole(k, 1, len(q), "k")
    law = [(z, p) for z, p in independent(q) if sum(z) == k - 1]
    total = sum((p for _, p in law), fmpq(0))
    return [(sum((p for z, p in law if z[i]), fmpq(0)) / total, "==", rational(q[i], "q")) for i in range(len(q))]


@says("qiao2021:sec-1.1:any-mechanism", "P(M(D) − f(D) = z) == P(M(D′) − f(D′) = z), f a bit, randomized response")
def _(truth, z) -> Sides:
    """It tells the truth with this chance, and is private for ε = log(truth/(1 − truth))."""
    p = between(truth, fmpq(1, 2), 1, "truth")
    laws = [{0: p, 1: 1 - p}, {0: p, -1: 1 - p}]
    return laws[0].get(whole(z, -1, 1, "z"), fmpq(0)), "==", laws[1].get(z, fmpq(0))


@says("qiao2021:sec-2:delta", "[read as: m is the number of values] records published on average < 1, δ = 1/(m log m)")
def _(values, records) -> Sides:
    """Each is published with chance δ, which is (0, δ)-private."""
    return whole(records, 1, 10**12, "records") / (whole(values, 2, 10**12, "values") * log(arb(values))), "<", 1


@says("qiao2021:sec-2:almost-surely", "[read as: with probability one] P(wrong one of two) == 0, a gap Δ >= 20λ apart")
def _(gap) -> Sides:
    need(rational(gap, "gap") >= 20, "Δ/λ must be 20 or more")
    return below(-fmpq(gap)), "==", 0


@says(
    "qiao2021:sec-4:completes",
    "[read as: it returns values too, as Algorithm 1 does] (share of ε in the proof) + k/(λε) for the values <= 1",
)
def _(m, k, delta) -> Sides:
    scale = noise_of_2_2(m, k, delta, fmpq(39, 10), "where the proof uses Lemma 4.4")
    return fmpq(9785, 10000) + fmpq(1, 115) + k / scale, "<=", 1
