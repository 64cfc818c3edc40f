"""Cai, Chakraborty and Wang (2025): the lower bounds under edge privacy, Sections 2.2.2 and 2.3.2, and DP Fano."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.stats import binom

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import CALIBRATION, styled
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link

#: (A1) asks for a constant above the supremum 1 of the logistic link.
KAPPA_1 = 1.001
#: Supremum of the logistic density.
STEEPEST = 0.25
#: E abs(pi' / pi) under the prior (15 / 16) (1 - t^2)^2 on (-1, 1): twice its density at 0.
PRIOR_SLOPE = 15 / 8

# --- the attack ------------------------------------------------------------------------------------------------------


def all_outcomes(n_items: int) -> NDArray[np.int64]:
    """Every outcome of one comparison a pair, shape (2^pairs, items, items), [i, j] = 1 if i beats j; diagonal 0."""
    if not 2 <= n_items <= 5:
        raise ValueError(f"n_items = {n_items}; allowed: 2 to 5, all outcomes are listed")
    rows, columns = np.triu_indices(n_items, 1)
    wins = np.array(list(product((0, 1), repeat=len(rows))))
    outcomes = np.zeros((len(wins), n_items, n_items), np.int64)
    outcomes[:, rows, columns] = wins
    outcomes[:, columns, rows] = 1 - wins
    return outcomes


def score_terms(theta: ArrayLike, outcomes: ArrayLike, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Derivative in theta_i of the log likelihood of the comparison of i and j, [..., i, j]; antisymmetric."""
    theta = np.asarray(theta, float)
    gaps = theta[:, None] - theta
    win = link.cdf(gaps)
    terms = (np.asarray(outcomes) - win) * link.pdf(gaps) / (win * link.cdf(-gaps))
    return np.asarray(terms * (1 - np.eye(len(theta))))


def attack(errors: ArrayLike, terms: NDArray[np.float64], k: int, *, printed: bool) -> NDArray[np.float64]:
    """Attack of Section 2.2.2 on item k, of every pair i < j, shape (..., items, items), zero elsewhere.

    Parameters
    ----------
    errors : array_like of float, shape (..., items)
        Estimate minus target.
    terms : numpy.ndarray of float, shape (..., items, items)
        As of `score_terms`.
    k : int
        From 0.
    printed : bool
        Outcome and probability of the pair (i, k) as printed, those of item i; else those of item k.
    """
    result = np.zeros(np.broadcast_shapes((*np.shape(errors)[:-1], 1, 1), terms.shape))
    error = np.asarray(errors, float)[..., k, None]
    result[..., k, k + 1 :] = error * terms[..., k, k + 1 :]
    result[..., :k, k] = error * (terms[..., :k, k] if printed else terms[..., k, :k])
    return result


def attack_gaps(n_items: int, link: Link = LOGISTIC, *, printed: bool) -> pd.DataFrame:
    """Largest distance of the attack from what it should equal, over all outcomes and estimates in corners.

    Returns
    -------
    pandas.DataFrame
        ``k`` (from 1), ``from_score`` (the attack summed over pairs against the error of item k times its score, eq.
        (A.36)), ``from_l2`` (the attack summed over items against the score attack of a pair; the same in every row).
    """
    theta = 0.3 * np.arange(n_items) - 0.2
    terms = score_terms(theta, all_outcomes(n_items), link)
    corners = np.array(list(product((-1.0, 1.0), repeat=n_items)))[:, None] - theta
    each = [attack(corners, terms, k, printed=printed) for k in range(n_items)]
    wanted = np.triu((corners[..., :, None] - corners[..., None, :]) * terms)
    l2 = np.abs(sum(each) - wanted).max()
    return pd.DataFrame(
        {
            "k": k + 1,
            "from_score": np.abs(each[k].sum((-1, -2)) - corners[..., k] * terms[..., k, :].sum(-1)).max(),
            "from_l2": l2,
        }
        for k in range(n_items)
    )


@claim("cai2025:sec-2.2.2:attack-sum")
def check_attack_sum() -> Iterator[Check]:
    """The attack summed over items against the score attack for the l2 risk."""
    terms = score_terms([0.0, 0.0], [[0, 1], [0, 0]])
    tiny = sum(attack([1.0, 1.0], terms, k, printed=True).sum() for k in range(2))
    what = "2 items of strength 0, both overestimated by 1: the summed attack; the score attack is 0"
    yield printed(what, tiny, "==", 0, error=ROUNDING)
    for n in (2, 3):
        for link in (LOGISTIC, ARCTAN):
            for as_printed, says in ((True, printed), (False, amended)):
                gap = attack_gaps(n, link, printed=as_printed).from_l2.max()
                what = f"{n} items, {link.name} link: largest distance from the score attack, all outcomes"
                yield says(what, gap, "==", 0, error=ROUNDING)


# --- Proposition 2.3 -------------------------------------------------------------------------------------------------


def mean_abs_score(comparisons: int) -> float:
    """E abs(wins - d / 2) of an item with d even-handed comparisons: its expected absolute score, logistic link."""
    d = comparisons
    half = (d + 1) // 2
    return half * float(binom.pmf(half, d, 0.5))


def printed_bound(n_items: int, p: float, epsilon: float, delta: float, mean_error: float) -> float:
    """Right-hand side of (2.8), logistic link."""
    return KAPPA_1 * (4 * n_items * p * epsilon * mean_error + 4 * (n_items - 1) * delta + 2 / n_items)


def rare_leak(n_items: int, epsilon: float, delta: float, size: float) -> dict[str, float]:
    """Both sides of (2.8), k = 1, for an estimator that betrays the data once in a while.

    All items have strength 0 and p = 1. With probability delta the estimate of item 1 is the sign of its score times
    `size`, otherwise it is 0: (0, delta)-private.
    """
    d = n_items - 1
    attack_sum = delta * size * mean_abs_score(d)
    tie = float(binom.pmf(d // 2, d, 0.5)) if d % 2 == 0 else 0.0
    return {"attack": attack_sum, "bound": printed_bound(n_items, 1.0, epsilon, delta, delta * size * (1 - tie))}


def pure_ratio(n_items: int, p: float, epsilon: float) -> float:
    """Attack over the bound (2.8), in the limit of large outputs, of an epsilon-private estimator (delta = 0).

    Strengths 0. If all pairs were compared the estimate of item 1 is B with probability exp(epsilon (wins - d)) / 2, d
    = n - 1; else it is 0. Neighbours have equally many comparisons, so the test costs no privacy. Given a complete
    graph the attack is d tanh(epsilon / 2) / 2 times the mean estimate; both sides carry the chance of such a graph.
    """
    return (n_items - 1) * math.tanh(epsilon / 2) / 2 / (4 * KAPPA_1 * n_items * p * epsilon)


def private_rows(
    neighbours: Iterable[tuple[int, int]], data: int, outputs: int, epsilon: float, delta: float, extra: int = 0
) -> tuple[sparse.csr_array, NDArray[np.float64], int]:
    """Rows A x <= b that say (epsilon, delta)-private; x are the laws, `extra` variables, and slacks."""
    ordered = [pair for a, b in neighbours for pair in ((a, b), (b, a))]
    base = data * outputs + extra
    slacks = outputs * len(ordered) if delta else 0
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    right: list[float] = []
    for e, (a, b) in enumerate(ordered):
        for o in range(outputs):
            row = len(right)
            rows += [row, row]
            columns += [a * outputs + o, b * outputs + o]
            values += [1.0, -math.exp(epsilon)]
            right.append(0.0)
            if delta:
                rows.append(row)
                columns.append(base + e * outputs + o)
                values.append(-1.0)
        if delta:
            rows += [len(right)] * outputs
            columns += [base + e * outputs + o for o in range(outputs)]
            values += [1.0] * outputs
            right.append(delta)
    shape = (len(right), base + slacks)
    return sparse.csr_array((values, (rows, columns)), shape=shape), np.array(right), slacks


def sum_rows(data: int, outputs: int, total: int) -> sparse.csr_array:
    """Rows that say that laws sum to one."""
    index = np.arange(data * outputs)
    return sparse.csr_array((np.ones(len(index)), (index // outputs, index)), shape=(data, total))


def worst_attack(
    comparisons: int, epsilon: float, delta: float, price: float, own: float = 0.0, others: float = 0.0
) -> float:
    """Exact maximum of expected attack minus `price` times the mean absolute error, over private estimates in [-1, 1].

    One item of strength `own` met `comparisons` others of strength `others`, logistic link. By symmetry the estimate
    may depend on the number of wins only, and by linearity of the objective on both sides of the truth it may take the
    values -1, truth, 1 only: a linear program over all (epsilon, delta)-private estimators.
    """
    d = comparisons
    wins = np.arange(d + 1)
    chance, density = float(LOGISTIC.cdf(own - others)), float(LOGISTIC.pdf(own - others))
    law = binom.pmf(wins, d, chance)
    score = (wins - d * chance) * density / (chance * (1 - chance))
    errors = np.array([-1.0, own, 1.0]) - own
    gain = law[:, None] * (score[:, None] * errors - price * np.abs(errors))
    a, b, slacks = private_rows(pairwise(wins.tolist()), d + 1, 3, epsilon, delta)
    solved = linprog(-np.r_[gain.ravel(), np.zeros(slacks)], a, b, sum_rows(d + 1, 3, gain.size + slacks), np.ones(d + 1))
    return 0.0 - float(solved.fun)


#: Sizes that (2.8) admits with p = 1: p > 6 log n / n needs n >= 17.
SMALLEST = 17
#: Strengths of the attacked item and of the others.
PLACES = ((0.0, 0.0), (0.5, 0.0), (1.0, -1.0), (-1.0, 0.0))


@claim("cai2025:prop-2.3")
def check_prop_2_3(epsilons: Sequence[float] = (0.01, 0.3, 0.999)) -> Iterator[Check]:
    """(2.8) for estimators without limits, and for estimates in [-1, 1]."""
    for n in (SMALLEST, 1_000, 1_000_000):
        both = rare_leak(n, 1 / (4 * n), 1 / n**2, float(n) ** 4)
        what = f"attack over its bound, n = {n:,}, p = 1, ε = 1/(4n), δ = 1/n², estimate ±n⁴ with probability δ"
        yield printed(what, both["attack"] / both["bound"], "<=", 1)
    for n, p in ((10_000, 0.006), (1_000_000, 0.0001)):
        what = f"attack over its bound, n = {n:,}, p = {p:g}, ε = 0.5, δ = 0, huge estimates if all pairs met"
        yield printed(what, pure_ratio(n, p, 0.5), "<=", 1)
    n = SMALLEST
    for epsilon in epsilons:
        for delta in (0.0, 0.01):
            most = max(worst_attack(n - 1, epsilon, delta, 4 * KAPPA_1 * n * epsilon, *at) for at in PLACES)
            what = f"worst attack minus 4κ₁npε·error, any estimate in [-1, 1], n = {n}, p = 1, ε = {epsilon:g}"
            bound = printed_bound(n, 1.0, epsilon, delta, 0.0)
            yield supplied(f"{what}, δ = {delta:g}", most, "<=", bound, error=ROUNDING)
        gain = math.expm1(epsilon)
        for own, others in PLACES:
            density = float(LOGISTIC.pdf(own - others))
            most = worst_attack(n - 1, epsilon, 0.01, (n - 1) * density * gain, own, others)
            what = (
                f"worst attack minus (n-1)F'(e^ε-1)·error, strengths {own:g} and {others:g}, ε = {epsilon:g}, δ = 0.01"
            )
            yield amended(what, most, "<=", 2 * (n - 1) * density * 0.01 + ROUNDING)
        # the three terms of our bound against those of (2.8)
        ours = STEEPEST * np.array([2 * gain / epsilon, 2.0, 2 * gain])
        what = f"terms of our bound over those of (2.8), largest, ε = {epsilon:g}"
        yield supplied(what, (ours / (KAPPA_1 * np.array([4, 4, 2]))).max(), "<=", 1)


@claim("cai2025:prop-2.3:proof")
def check_prop_2_3_proof() -> Iterator[Check]:
    """The steps of Appendix A.3."""
    steep = 2.0  # F(x) = expit(2x) has kappa_1 = 2
    term = 2 * steep * float(LOGISTIC.cdf(2 * steep))
    epsilons = np.linspace(1e-6, 1, 1001)
    sizes = np.unique(np.geomspace(SMALLEST, 1e6, 60).astype(int))
    edge = 6 * np.log(sizes) / sizes
    tail = max(
        float((binom.logsf(2 * sizes * p, sizes - 1, p) + sizes * p / 3)[p < 0.5].max()) for p in (edge, np.sqrt(edge))
    )
    union = float((2 * np.log(sizes) - sizes * edge / 3).max())
    epsilon, n = 0.9, 100
    yield printed("largest attack term, link 1/(1 + e^(-2x)), κ₁ = 2, estimate 2 off", term, "<=", 2)
    yield printed("left-over term 2ε·κ₁·2/n at κ₁ = 1, ε = 0.9, n = 100", 2 * epsilon * 2 / n, "<=", 2 * epsilon / n)
    yield printed("e^ε / (1 + 2ε), largest for ε < 1", (np.exp(epsilons) / (1 + 2 * epsilons)).max(), "<=", 1)
    yield printed("log P(degree > 2np) + np/3, largest, n = 17 to 10⁶", tail, "<=", 0)
    yield printed("2 log n - np/3 at p = 6 log n/n, largest, n = 17 to 10⁶", union, "<=", ROUNDING)
    yield amended("the same attack term, against 2κ₁", term, "<=", 2 * steep)
    yield amended(
        "our left-over term 2·sup F'·(e^ε - 1)/n at κ₁ = 1, ε = 0.9, n = 100",
        2 * STEEPEST * math.expm1(epsilon) / n,
        "<=",
        2 / n,
    )


# --- Proposition 2.4 -------------------------------------------------------------------------------------------------


def prior_rule(radius: float, nodes: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the prior (15 / 16) (1 - t^2)^2 stretched to (-radius, radius); weights sum to one."""
    if radius <= 0:
        raise ValueError(f"radius = {radius}; allowed: above 0")
    x, w = np.polynomial.legendre.leggauss(nodes)
    return radius * x, w * 15 / 16 * (1 - x * x) ** 2


def mean_density(radius: float, link: Link = LOGISTIC) -> float:
    """E F'(a - b) for two independent strengths from the prior."""
    x, w = prior_rule(radius)
    return float(w @ link.pdf(x[:, None] - x) @ w)


def least_risk(n_items: int, link: Link = LOGISTIC) -> float:
    """Lower bound on the sup-norm risk over the cube of any estimator (Le Cam), from all strengths 1 and all -1.

    One minus the total variation distance of the two laws of the outcomes, which is 0: only differences count. The
    estimate 0 attains 1.
    """
    outcomes = all_outcomes(n_items)
    rows, columns = np.triu_indices(n_items, 1)
    laws = []
    for theta in (np.ones(n_items), -np.ones(n_items)):
        win = link.cdf(theta[:, None] - theta)
        laws.append(np.where(outcomes, win, 1 - win)[:, rows, columns].prod(-1))
    return 1 - float(np.abs(laws[0] - laws[1]).sum() / 2)


def expected_attacks(n_items: int, slope: float, radius: float, link: Link = LOGISTIC) -> pd.DataFrame:
    """Expected attack on every item, all pairs compared, for the estimate slope times (wins minus half the matches).

    Such an estimate has E M_k = slope (sum of F(theta_k - theta_j) - 1 / 2), so every pair adds slope E F' to the
    attack, with the sign that the definition gives it.

    Returns
    -------
    pandas.DataFrame
        ``k`` (from 1), ``calibration`` ("as printed", "corrected"), ``attack``.
    """
    k = np.arange(1, n_items + 1)
    each = slope * mean_density(radius, link)
    signs = {"as printed": (n_items - k) - (k - 1), "corrected": np.full(n_items, n_items - 1)}
    return pd.concat(
        [pd.DataFrame({"k": k, "calibration": name, "attack": each * sign}) for name, sign in signs.items()],
        ignore_index=True,
    )


def enumerated_attack(
    n_items: int,
    estimate: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    k: int,
    *,
    printed: bool,
    nodes: int = 12,
) -> dict[str, float]:
    """Expected attack by listing all outcomes and integrating over the prior, target the centred strengths.

    Returns
    -------
    dict of str to float
        ``attack`` and ``by_parts``: 1 - 1 / n + E (target - mean estimate) pi' / pi.
    """
    x, w = prior_rule(1.0, nodes)
    outcomes = all_outcomes(n_items)
    rows, columns = np.triu_indices(n_items, 1)
    values = estimate(outcomes)
    total = parts = 0.0
    for index in product(range(nodes), repeat=n_items):
        theta, weight = x[list(index)], w[list(index)].prod()
        win = LOGISTIC.cdf(theta[:, None] - theta)
        law = np.where(outcomes, win, 1 - win)[:, rows, columns].prod(-1)
        errors = values - (theta - theta.mean())
        summed = attack(errors, score_terms(theta, outcomes), k, printed=printed).sum((-1, -2))
        total += weight * float(law @ summed)
        parts += weight * float(law @ errors[:, k]) * 4 * theta[k] / (1 - theta[k] ** 2)
    return {"attack": total, "by_parts": 1 - 1 / n_items + parts}


def linear_risk(n_items: int, radius: float) -> float:
    """Upper bound on the sup-norm risk, over all strengths up to `radius`, of the estimate (4 / n) (wins - half).

    All pairs compared, target the centred strengths, logistic link: the bias, the largest 4 F(x) - 2 - x up to twice
    the radius, and the expected largest of 2 n sub-Gaussian errors.
    """
    bias = abs(4 * float(LOGISTIC.cdf(2 * radius)) - 2 - 2 * radius)
    return bias + 4 * math.sqrt(math.log(2 * n_items) / (2 * n_items))


@claim("cai2025:prop-2.4")
def check_prop_2_4(n_items: int = 10_000) -> Iterator[Check]:
    """Whether an estimator meets the hypothesis, and the corrected bound for centred strengths."""
    for link in (LOGISTIC, ARCTAN):
        for n in (2, 4):
            risk = least_risk(n, link)
            what = f"least sup-norm risk over the cube, {n} items, {link.name} link"
            yield printed(f"{what}: c = 1/4 excludes all estimators", risk, ">=", 0.25)
            yield content(f"{what}: an estimator with c = 1/4", risk, "<", 0.25)
    radius = 0.5
    risk = linear_risk(n_items, radius)
    attacks = expected_attacks(n_items, 4 / n_items, radius).set_index(["calibration", "k"]).attack
    bound = 1 - 1 / n_items - PRIOR_SLOPE / radius * risk
    what = f"n = {n_items:,}, p = 1, centred strengths of a cube of half width 1/2, linear estimate"
    yield amended(f"sup-norm risk, {what}", risk, "<", 0.25)
    yield amended(f"our bound 1 - 1/n - 15c/4, {what}", bound, ">", 0)
    yield amended(f"expected attack, every k, {what}", attacks["corrected"].min(), ">=", bound)
    yield amended(f"with the printed sign, k = n, {what}", attacks["as printed"].iloc[-1], "<", 0)


@claim("cai2025:prop-2.4:proof")
def check_prop_2_4_proof() -> Iterator[Check]:
    """(A.36) on all outcomes; the constant; integration by parts."""
    for n in (2, 3):
        for row in attack_gaps(n, printed=True).itertuples():
            what = f"{n} items, k = {row.k}: distance of the attack from (M - θ) times the score, all outcomes"
            yield printed(what, row.from_score, "==", 0, error=ROUNDING)
        worst = attack_gaps(n, printed=False).from_score.max()
        what = f"{n} items, every k, sign corrected: distance from (M - θ) times the score"
        yield amended(what, worst, "==", 0, error=ROUNDING)

    def estimate(outcomes: NDArray[np.int64]) -> NDArray[np.float64]:
        wins = outcomes.sum(-1)
        return np.sign(wins - wins.mean(-1, keepdims=True)) * wins**1.5 / 3

    for n in (2, 3):
        for k in range(n):
            both = enumerated_attack(n, estimate, k, printed=False)
            gap = abs(both["attack"] - both["by_parts"])
            what = f"{n} items, k = {k + 1}: expected attack against 1 - 1/n + E(θ - g)π'/π, centred"
            yield amended(what, gap, "<=", ROUNDING)
    x, w = prior_rule(1.0)
    slope = float(w @ np.abs(-4 * x / (1 - x * x)))
    yield printed("1 - c E|π'/π| at c = 1/4", 1 - slope / 4, ">=", 0.5)


# --- Theorem 2.2 -----------------------------------------------------------------------------------------------------


def rates(n_items: float, p: float, epsilon: float) -> tuple[float, float]:
    """The two terms of (2.10)."""
    return math.sqrt(math.log(n_items) / (n_items * p)), 1 / (n_items * p * epsilon)


def corrected_bounds(n_items: int, p: float, epsilon: float, delta: float) -> dict[str, float]:
    """Lower bounds on the sup-norm risk over centred strengths of at most 1, logistic link.

    ``fano``: without privacy; ``private``: DP Fano on n strengths h (e_a - 1 / n); ``score``: the score attack, which
    bounds the mean absolute error of every single item.
    """
    if not 6 * math.log(n_items) / n_items < p <= 1:
        raise ValueError(f"p = {p}; allowed: above 6 log n / n = {6 * math.log(n_items) / n_items:.6g} and at most 1")
    n, gain = n_items, math.expm1(epsilon)
    h = math.sqrt(math.log(n) / (n * p))
    fano = h / 2 * (1 - (n * p * h * h / 4 + math.log(2)) / math.log(n))
    step = min(1.0, math.log(n - 1) / (5 * epsilon * p * (n - 1)))
    moved = p * (n - 1) * (2 * float(LOGISTIC.cdf(step)) - 1)
    private = step * fano_bound(n, epsilon, delta, moved)
    top = 1 - 1 / n - 2 * STEEPEST * gain / n - 2 * STEEPEST * (n - 1) * p * delta
    score = max(0.0, top) / (2 * PRIOR_SLOPE + 2 * STEEPEST * gain * n * p)
    return {"fano": fano, "private": private, "score": score}


def corrected_grid(sizes: Sequence[int] = (SMALLEST, 100, 10_000, 1_000_000)) -> pd.DataFrame:
    """`corrected_bounds` against what we state, at delta = epsilon / (n log n), over sparse and full graphs."""
    rows = []
    for n in sizes:
        for p in (6 * math.log(n) / n * (1 + 1e-9), 1.0):
            for epsilon in (0.999, 1 / math.log(n), 1 / math.sqrt(n), 1 / n):
                delta = epsilon / (n * math.log(n))
                first, second = rates(n, p, epsilon)
                rows.append(
                    {"n": n, "p": p, "epsilon": epsilon, "delta": delta}
                    | corrected_bounds(n, p, epsilon, delta)
                    | {
                        "stated_fano": first / 4,
                        "stated_private": min(0.4, 0.08 * math.log(n) * second),
                        "stated_score": 0.2 / (1 + 1 / (4 * second)),
                    }
                )
    return pd.DataFrame(rows)


@claim("cai2025:thm-2.2")
def check_thm_2_2(sizes: Sequence[int] = (SMALLEST, 100, 10_000, 1_000_000)) -> Iterator[Check]:
    """(2.10) over the cube, what privacy has to do with it, and lower bounds over centred strengths."""
    zero = 1.0  # sup-norm risk of the estimate 0, which is (0, 0)-private
    what = "minimax risk over the cube with privacy (the estimate 0) minus the least without any"
    yield content(what, zero - least_risk(4), ">", 0)
    for least in (0.1, 1.0):
        constant = 1 / (1 / math.sqrt(6) + 1 / (6 * least))
        worst, ratios = 0.0, []
        for n in sizes:
            p, epsilon = 6 * math.log(n) / n, least / math.log(n)
            first, second = rates(n, p, epsilon)
            worst = max(worst, constant * (first + second))
            ratios.append(second / first)
        what = f"C times the right side of (2.10), C = {constant:.3g}, largest under ε ≥ {least:g}/log n"
        yield printed(f"{what}; the minimax risk over the cube is 1", worst, "<=", least_risk(4) + ROUNDING)
        what = f"privacy term over the other, largest under ε ≥ {least:g}/log n: n = {sizes[-1]:,} against {sizes[0]}"
        yield content(what, ratios[-1] / ratios[0], ">", 1 + ROUNDING)
    grid = corrected_grid(sizes)
    yield amended(
        "centred strengths: Fano bound over ¼√(log n/(np)), smallest",
        float((grid.fano / grid.stated_fano).min()),
        ">=",
        1,
    )
    yield amended(
        "centred strengths: DP Fano bound over min(0.4, 0.08 log n/(npε)), smallest",
        float((grid.private / grid.stated_private).min()),
        ">=",
        1,
    )
    yield amended(
        "centred strengths: score-attack bound, every item, over 0.2/(1 + npε/4), smallest",
        float((grid.score / grid.stated_score).min()),
        ">=",
        1,
    )
    yield amended(
        "largest (privacy bound) / (non-private rate), now that ε may be small: n = 10⁶ against n = 100",
        float((grid.stated_private / grid.stated_fano)[grid.n == sizes[-1]].max())
        / float((grid.stated_private / grid.stated_fano)[grid.n == sizes[1]].max()),
        ">",
        2,
    )


def nearest_risk(n_items: int) -> float:
    """Upper bound on the sup-norm risk over centred strengths of at most 1, all pairs compared, logistic link.

    Of the centred strengths whose average win probabilities are nearest to the observed shares of wins.
    """
    return 2 * math.sqrt(math.log(2 * n_items) / (2 * n_items)) / float(LOGISTIC.pdf(2.0))


@claim("cai2025:sec-2.2.2:nonprivate-rate")
def check_nonprivate_rate(sizes: Sequence[int] = (100, 10_000, 1_000_000)) -> Iterator[Check]:
    """Whether the minimax risk without privacy has the rate of the first term of (2.10)."""
    ratios = [least_risk(4) / rates(n, 1.0, 1.0)[0] for n in sizes]
    what = f"minimax risk over the cube / √(log n/(np)), p = 1: growth from n = {sizes[0]} to {sizes[-1]:,}"
    upper = max(nearest_risk(n) / rates(n, 1.0, 1.0)[0] for n in sizes)
    lower = min(corrected_bounds(n, 1.0, 0.5, 0.0)["fano"] / rates(n, 1.0, 1.0)[0] for n in sizes)
    yield printed(what, ratios[-1] / ratios[0], "<=", 1 + ROUNDING)
    yield amended("centred, p = 1: lower bound / √(log n/n), smallest", lower, ">=", 0.25)
    yield amended("centred, p = 1: risk of an estimator / √(log n/n), largest", upper, "<=", 15)


# --- Theorem A.1: DP Fano --------------------------------------------------------------------------------------------


def fano_bound(laws: int, epsilon: float, delta: float, moved: float) -> float:
    """Our lower bound on the minimax risk over alpha, for a loss with the triangle inequality.

    The least over z in [0, 1] of (1 - z + (M - 1) z exp(-epsilon D / z)) / 2, less (M - 1) D delta / 2. At least what
    Theorem A.1 says.
    """
    if laws < 2:
        raise ValueError(f"laws = {laws}; allowed: at least 2")
    if moved < 0:
        raise ValueError(f"moved = {moved}; allowed: at least 0")
    y = epsilon * moved

    def risk(z: ArrayLike) -> NDArray[np.float64]:
        z = np.asarray(z, float)
        return np.asarray(1 - z + np.exp(math.log(laws - 1) + np.log(z) - y / z)) / 2

    grid = np.linspace(1e-6, 1, 2001)
    best = int(np.argmin(risk(grid)))
    inside = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(lambda z: float(risk(z)), bounds=inside, method="bounded").fun  # convex: no other minimum
    return min(float(found), float(risk(grid).min())) - (laws - 1) * moved * delta / 2


def printed_fano(laws: int, epsilon: float, delta: float, moved: float, divergence: float = math.inf) -> float:
    """The lower bound of Theorem A.1 over alpha."""
    first = (1 - (divergence + math.log(2)) / math.log(laws)) / 2
    second = 0.45 * (min(1.0, math.exp(math.log(laws - 1) - 10 * epsilon * moved)) - 10 * (laws - 1) * moved * delta)
    return max(first, second)


def guaranteed_error(log_others: float, y: float, log_slack: float = -math.inf) -> float:
    """Least average error of a private guess among M laws: the root of b = (M - 1) ((1 - b) exp(-y / (1 - b)) - s).

    Parameters
    ----------
    log_others : float
        log(M - 1).
    y : float
        epsilon D.
    log_slack : float
        log s, where s = D delta.
    """

    def excess(b: float) -> float:
        private = math.exp(min(log_others + math.log1p(-b) - y / (1 - b), 50.0))
        return b - private + math.exp(log_others + log_slack)

    return float(brentq(excess, 0.0, 1 - 1e-9)) if excess(0.0) < 0 else 0.0


def private_risk(
    laws: ArrayLike, epsilon: float, delta: float, losses: ArrayLike, neighbours: Iterable[tuple[int, int]]
) -> float:
    """Exact minimax risk over all (epsilon, delta)-private estimators, by a linear program.

    Parameters
    ----------
    laws : array_like of float, shape (laws, data)
    epsilon, delta : float
    losses : array_like of float, shape (outputs, laws)
    neighbours : iterable of tuple of int
        Pairs of neighbouring data.
    """
    laws, losses = np.asarray(laws, float), np.asarray(losses, float)
    (count, data), outputs = laws.shape, len(losses)
    a, b, slacks = private_rows(neighbours, data, outputs, epsilon, delta, extra=1)
    total = data * outputs + 1 + slacks
    risk = np.zeros((count, total))
    risk[:, : data * outputs] = np.einsum("ix,oi->ixo", laws, losses).reshape(count, -1)
    risk[:, data * outputs] = -1
    cost = np.zeros(total)
    cost[data * outputs] = 1
    solved = linprog(
        cost,
        sparse.vstack([a, sparse.csr_array(risk)]),
        np.r_[b, np.zeros(count)],
        sum_rows(data, outputs, total),
        np.ones(data),
    )
    return float(solved.fun)


def least_coupling(p: ArrayLike, q: ArrayLike, distance: ArrayLike) -> float:
    """Least mean distance of two laws over all couplings, by a linear program."""
    p, q, distance = np.asarray(p, float), np.asarray(q, float), np.asarray(distance, float)
    size = len(p)
    rows = np.kron(np.eye(size), np.ones(size))
    columns = np.kron(np.ones(size), np.eye(size))
    return float(linprog(distance.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.r_[p, q]).fun)


def star(laws: int) -> NDArray[np.float64]:
    """Losses of the worst metric: guesses 1 apart, and one output, the last, at 1/2 from all."""
    return np.vstack([1 - np.eye(laws), np.full(laws, 0.5)])


def fano_cases(epsilons: Sequence[float], delta: float = 0.0, bits: int = 3) -> pd.DataFrame:
    """Exact private minimax risk in the worst metric against Theorem A.1 and our bound, for a few families of laws.

    Data are `bits` bits, neighbours differ in one; laws are as many product or mixed laws as the family has.

    Returns
    -------
    pandas.DataFrame
        ``family``, ``laws``, ``epsilon``, ``delta``, ``moved`` (D, the largest least coupling), ``risk`` (exact),
        ``ours``, ``printed``.
    """
    data = np.array(list(product((0, 1), repeat=bits)))
    distance = np.abs(data[:, None] - data).sum(-1)
    neighbours = [(a, b) for a, b in combinations(range(len(data)), 2) if distance[a, b] == 1]

    def bernoulli(chances: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(np.where(data, chances, 1 - np.asarray(chances)).prod(-1))

    corners = np.eye(len(data))
    families = {
        "two product laws": [bernoulli([0.4] * bits), bernoulli([0.6] * bits)],
        "two constants": [corners[0], corners[-1]],
        "two neighbours": [corners[0], corners[1]],
        "one bit raised": [bernoulli(0.1 + 0.8 * np.eye(bits)[i]) for i in range(bits)],
        "rarely a giveaway": [0.85 * corners[0] + 0.15 * corners[i] for i in range(1, len(data))],
        "all constants": list(corners),
    }
    rows = []
    for family, members in families.items():
        laws = np.array(members)
        moved = max(least_coupling(p, q, distance) for p, q in combinations(laws, 2))
        for epsilon in epsilons:
            risk = private_risk(laws, epsilon, delta, star(len(laws)), neighbours)
            bounds = [f(len(laws), epsilon, delta, moved) for f in (fano_bound, printed_fano)]
            values = (family, len(laws), epsilon, delta, moved, risk, *bounds)
            names = ("family", "laws", "epsilon", "delta", "moved", "risk", "ours", "printed")
            rows.append(dict(zip(names, values, strict=True)))
    return pd.DataFrame(rows)


def squared_loss(epsilon: float, lean: float) -> dict[str, float]:
    """Two coins, squared loss: risk over alpha of always answering 1/2, and what Theorem A.1 promises."""
    return {"risk": lean**2 / (2 * lean) ** 2, "promised": printed_fano(2, epsilon, 0.0, 2 * lean)}


def fano_margin(delta: float) -> float:
    """Least of our bound minus that of Theorem A.1 over alpha, on a grid of M, epsilon and D."""
    return min(
        fano_bound(m, epsilon, delta, moved) - printed_fano(m, epsilon, delta, moved)
        for m in (2, 3, 10, 1_000, 10**6, 10**12)
        for epsilon in (0.05, 1.0)
        for moved in (0.0, *np.geomspace(1e-3, 30, 30), math.log(m) / (10 * epsilon))
    )


@claim("cai2025:thm-a.1")
def check_thm_a_1(epsilons: Sequence[float] = (0.01, 0.2, 1.0, 3.0)) -> Iterator[Check]:
    """DP Fano for squared loss, and for losses with the triangle inequality."""
    case = squared_loss(1.0, 0.01)
    yield printed(
        "risk/α of answering ½: coins of chance 0.49 and 0.51, squared loss, ε = 1, D = 0.02",
        case["risk"],
        ">=",
        case["promised"],
    )
    for delta in (0.0, 1e-9, 0.01, 1.0):
        yield supplied(
            f"our bound minus that of Theorem A.1, least over M, ε, D, δ = {delta:g}", fano_margin(delta), ">=", 0
        )
    for delta in (0.0, 0.01):
        cases = fano_cases(epsilons, delta)
        for about, column in (("supplied", "printed"), ("corrected", "ours")):
            worst = float((cases.risk - cases[column]).min())
            bound = "Theorem A.1" if about == "supplied" else "our bound"
            what = f"exact minimax risk minus {bound}, worst metric, {len(cases)} cases, δ = {delta:g}: least"
            yield Check(what, worst, ">=", -ROUNDING, about)


@claim("cai2025:thm-a.1:proof")
def check_thm_a_1_proof() -> Iterator[Check]:
    """Steps of the proof in A.7.2."""
    delta, epsilon, a = 0.01, 1.0, 1.0
    z = np.linspace(1e-3, 1, 400)
    ys, count = np.geomspace(1e-3, 10, 40), np.array([2, 10, 10**4])
    y, others = ys[:, None, None], count[:, None] - 1
    ours = (1 - z + others * z * np.exp(-y / z)) / 2
    wanted = 0.45 * np.minimum(1, others * np.exp(-10 * y))
    k = np.arange(1, 200)[:, None]
    e = np.array([0.01, 0.1, 1.0, 3.0])
    group = -np.expm1(-e * k) / np.expm1(e) / (k * np.exp(-e))
    yield printed("last step at (M-1)e^(-10εD) = 1: 0.9a/(1+a)", 0.9 * a / (1 + a), ">=", 0.9 * min(1, a))
    yield printed(
        "group privacy as printed, 10D = 1, ε = 1: a bit that is published with probability δ = 0.01",
        delta,
        "<=",
        delta * math.exp(epsilon * (1 - 10)),
    )
    yield printed("squared loss of 0 and 1 against the way over ½", 1.0**2, "<=", 0.5**2 + 0.5**2)
    yield amended("e^(-kε)·(sum of δe^(iε), i < k) over kδe^(-ε), largest", float(group.max()), "<=", 1 + ROUNDING)
    yield amended(
        "½(1 - z + (M-1)ze^(-y/z)) minus 0.45 min(1, (M-1)e^(-10y)), least on a grid",
        float((ours - wanted).min()),
        ">=",
        0,
    )


# --- Theorem 2.4 -----------------------------------------------------------------------------------------------------


def set_size(m: int, nu_2: float) -> int:
    """Exchanged items: 2 (1 + nu_2) m, rounded up (rounded down there may be no two sets more than 4 m apart)."""
    return math.ceil(2 * (1 + nu_2) * m - 1e-12)


def log_packing(log_items: float, size: int, m: int) -> float:
    """Lower bound r log(N r / (e s)^2), r = s - 2 m, on the log number of sets of size s, pairwise over 4 m apart."""
    r = size - 2 * m
    if r < 1:
        raise ValueError(f"size = {size}; allowed: above 2m = {2 * m}, no two smaller sets are more than 4m apart")
    return r * (log_items + math.log(r) - 2 - 2 * math.log(size))


def exchange(n_items: int, k: int, exchanged: int) -> dict[str, float]:
    """Two matrices of A.7.1 whose top sets differ in `exchanged` items each, by listing all pairs.

    Returns
    -------
    dict of str to float
        ``moved``: mean number of changed answers, in units of p Delta; ``gap``: tau(k) - tau(k + 1) in units of Delta.
    """
    if not 0 < exchanged <= min(k, n_items - k):
        raise ValueError(f"exchanged = {exchanged}; allowed: 1 to min(k, n - k) = {min(k, n_items - k)}")
    tops = np.zeros((2, n_items))
    tops[0, :k] = 1
    tops[1, : k - exchanged] = tops[1, k : k + exchanged] = 1
    first, second = tops[:, :, None] - tops[:, None, :]  # (rho - 1/2) / Delta
    tau = np.sort(first.mean(1))[::-1]
    return {"moved": float(np.abs(np.triu(first - second)).sum()), "gap": float(tau[k - 1] - tau[k])}


def constant_2_4(nu_1: float, nu_2: float) -> float:
    """Our c(nu_1, nu_2) for Theorem 2.4."""
    return min(nu_1 * nu_2, 1.0) / (8 * (1 + nu_2))


def large_enough(nu_1: float, nu_2: float) -> float:
    """Log of our n from which on Theorem 2.4 holds."""
    return max(math.log(3 * math.e**2 * (1 + nu_2) / nu_2) * 2 / nu_1, math.log(10) / (0.9 * nu_1 * nu_2))


def recovery_grid(nus: Sequence[float] = (0.1, 0.5, 0.9), c_0: float = 0.5) -> pd.DataFrame:
    """Theorem 2.4 at our constants, k up to n / 2, from our smallest n on and m from 1 to the largest allowed.

    Returns
    -------
    pandas.DataFrame
        ``nu_1``, ``nu_2``, ``log_n``, ``m``; logarithms of how many sets there are at least (``log_packing``), of the
        paper's number (``log_printed``) and of those that the argument needs (``log_needed``); ``error`` (guaranteed).
    """
    rows = []
    for nu_1, nu_2, factor in product(nus, nus, (1.0, 1.5, 2.5)):
        log_n = factor * large_enough(nu_1, nu_2)
        most = math.exp((1 - nu_1) * log_n) / (2 * (1 + nu_2))  # of m
        c = constant_2_4(nu_1, nu_2)
        for m in sorted({1, 2, 10, int(most**0.5), int(most)}):
            if not 1 <= m <= most:
                continue
            size = set_size(m, nu_2)
            moved = 2 * size * c * log_n  # epsilon D
            # delta D, doubled: the number of laws is rounded up
            log_slack = math.log(2 * moved * c_0 / (m * log_n)) - 10 * m * log_n
            rows.append(
                {
                    "nu_1": nu_1,
                    "nu_2": nu_2,
                    "log_n": log_n,
                    "m": m,
                    "log_packing": log_packing(log_n - math.log(2), size, m),
                    "log_printed": 0.9 * nu_1 * nu_2 * m * log_n,
                    "log_needed": float(np.logaddexp(moved / 0.85, math.log(2))),
                    "error": guaranteed_error(moved / 0.85, moved, log_slack),
                }
            )
    return pd.DataFrame(rows)


@claim("cai2025:thm-2.4")
def check_thm_2_4() -> Iterator[Check]:
    """Theorem 2.4 for m >= 1, with constants of ours where it asks for small ones."""
    grid = recovery_grid()
    shapes = [exchange(n, k, u) | {"n": n, "u": u} for n in (6, 11, 40) for k in (3, n // 2) for u in (1, 2, 3)]
    at = f"{len(grid)} cases of ν₁, ν₂, n, m"
    yield printed(
        "τ(k-m) - τ(k+m+1) in units of Δ, largest distance from 1, all pairs of a few matrices",
        max(abs(s["gap"] - 1) for s in shapes),
        "==",
        0,
        error=ROUNDING,
    )
    yield printed(
        "mean number of changed answers over 2s·npΔ, largest",
        max(s["moved"] / (2 * s["u"] * s["n"]) for s in shapes),
        "<=",
        1,
    )
    yield printed(
        f"log of the number of sets minus log of those needed, least of {at}",
        float((grid.log_packing - grid.log_needed).min()),
        ">=",
        0,
    )
    yield printed(f"least guaranteed P(Hamming error > 2m), {at}", float(grid.error.min()), ">=", 0.1)


@claim("cai2025:thm-2.4:proof")
def check_thm_2_4_proof() -> Iterator[Check]:
    """Steps of A.7.1."""
    nu, m, n = 0.5, 1, 10**6
    grid = recovery_grid()
    log_n = math.log(n)
    shapes = [exchange(n, k, u) | {"n": n, "u": u} for n in (6, 11, 40) for k in (3, n // 2) for u in (1, 2, 3)]
    for shrink in (10, 1000):
        c = constant_2_4(nu, nu) / shrink
        exponent = 160 * (1 + nu) * m * c * log_n
        others = math.log(math.exp(0.9 * nu * nu * m * log_n) - 1)
        what = f"10εD - log(M - 1) at D = 16(1+ν₂)mnpΔ, ν₁ = ν₂ = 1/2, m = 1, n = 10⁶, c = {c:.2g}"
        yield printed(what, exponent - others, ">", 0)
    size = set_size(m, nu)
    sets = list(combinations(range(2 * size), size))
    apart = largest_packing(sets, 4 * m)
    yield printed(
        "sets S_a for k = n - 3, m = 1, ν₁ = ν₂ = 1/2, n = 10⁶: the most there are",
        apart,
        ">=",
        math.exp(0.9 * nu * nu * m * log_n),
    )
    yield printed(
        "mean number of changed answers over 16(1+ν₂)mnpΔ, s = 2(1+ν₂)m, largest",
        max(s["moved"] / (8 * s["u"] * s["n"]) for s in shapes),
        "<=",
        1,
    )
    yield amended(
        "log of the number of sets minus 0.9ν₁ν₂m log n, k ≤ n/2, sizes rounded up, least",
        float((grid.log_packing - grid.log_printed).min()),
        ">=",
        0,
    )
    yield amended("least guaranteed P(Hamming error > 2m) at our constant", float(grid.error.min()), ">=", 0.1)


def largest_packing(sets: Sequence[tuple[int, ...]], apart: int) -> int:
    """Largest number of sets with pairwise Hamming distance above `apart`, by exhaustion."""
    fits = {s: {t for t in sets if len(set(s) ^ set(t)) > apart} for s in sets}

    def grow(chosen: int, left: set[tuple[int, ...]]) -> int:
        return max((grow(chosen + 1, {t for t in left & fits[s] if t > s}) for s in left), default=chosen)

    return grow(0, set(sets))


# --- Theorem 2.4 with m = 0 ------------------------------------------------------------------------------------------


def counting_error(n_items: int, gap: float) -> float:
    """Bound on the probability that counting wins misses a top set, p = 1 (Hoeffding, union over pairs)."""
    return min(1.0, n_items**2 / 4 * math.exp(-n_items * gap**2))


def exact_recovery(n_items: int, k: int, c: float) -> float:
    """Guaranteed error of private exact recovery at gap c log n / (n p epsilon), delta = epsilon / (n log n).

    The sets are the top k - 1 items and one other item; if k is above n / 2 the complements take their place.
    """
    if not 1 <= k < n_items:
        raise ValueError(f"k = {k}; allowed: 1 to n - 1 = {n_items - 1}")
    others = n_items - min(k, n_items - k)
    moved = 2 * c * math.log(n_items) * (n_items - 1) / n_items  # epsilon D
    return guaranteed_error(math.log(others), moved, math.log(moved / (n_items * math.log(n_items))))


def small_recovery(n_items: int, epsilon: float, delta: float, gap: float) -> dict[str, float]:
    """Exact minimax error of privately finding the best of a few items, and our bound.

    All pairs compared once; the best beats every other item with probability 1/2 + gap, all else is even.
    """
    outcomes = all_outcomes(n_items)
    rows, columns = np.triu_indices(n_items, 1)
    data = outcomes[:, rows, columns]
    neighbours = [(a, b) for a, b in combinations(range(len(data)), 2) if (data[a] != data[b]).sum() == 1]
    best = np.eye(n_items)
    win = 0.5 + gap * (best[:, rows] - best[:, columns])
    laws = np.where(data, win[:, None], 1 - win[:, None]).prod(-1)
    moved = exchange(n_items, 1, 1)["moved"] * gap
    log_slack = math.log(moved * delta) if delta else -math.inf
    return {
        "exact": private_risk(laws, epsilon, delta, 1 - best, neighbours),
        "bound": guaranteed_error(math.log(n_items - 1), epsilon * moved, log_slack),
    }


@claim("cai2025:thm-2.4:m0")
def check_thm_2_4_m0() -> Iterator[Check]:
    """Exact recovery: Theorem 2.4 at m = 0 asks nothing of delta."""
    for n, c in ((10**6, 0.1), (10**10, 0.01), (10**14, 0.001)):
        gap = math.sqrt((2 * math.log(n) + 3) / n)
        epsilon = c * math.log(n) / (n * gap)
        if not math.log(n) / (n * epsilon) < c:
            raise ValueError(f"n = {n}; allowed: large enough that log n / (n p epsilon) < {c}")
        what = f"P(counting wins misses the top set), δ = 1, p = 1, n = {n:.0e}, ε = {epsilon:.2g}, c = c₀ = {c:g}"
        yield printed(what, counting_error(n, gap), ">=", 0.1)
    sizes = [(n, k) for n in (20, 100, 10**4, 10**8) for k in (1, n // 4, n // 2, n - 1)]
    least = min(exact_recovery(n, k, 0.4) for n, k in sizes)
    what = "guaranteed P(wrong set), c = 0.4, δ = ε/(n log n), n = 20 to 10⁸, k = 1 to n - 1: least"
    small = [small_recovery(n, e, d, g) for n in (3, 4) for e in (0.2, 1.0) for d in (0.0, 0.02) for g in (0.1, 0.4)]
    gap = min(case["exact"] - case["bound"] for case in small)
    yield supplied(what, least, ">=", 0.1)
    yield amended(what, least, ">=", 0.1)
    yield amended("exact minimax error minus our bound, best of 3 or 4 items, least", gap, ">=", -ROUNDING)


# --- Theorem 2.4 in the parametric model -----------------------------------------------------------------------------


def jump_cdf(x: ArrayLike, jump: float = 0.25) -> NDArray[np.float64]:
    """A link that meets (A0) and jumps at 0: 1/2 at 0, below 1/2 - jump to the left, above 1/2 + jump to the right."""
    x = np.asarray(x, float)
    return np.asarray(0.5 + jump * np.sign(x) + (0.5 - jump) * x / (1 + np.abs(x)))


def jump_gap(n_items: int, jump: float = 0.25) -> float:
    """Least n (tau(k-m) - tau(k+m+1)) over (2 m + 2) jump, over all orders with ties, all k and m."""
    least = math.inf
    for levels in product(range(2), repeat=n_items - 1):
        theta = -0.01 * np.r_[0, np.cumsum(levels)]
        tau = jump_cdf(theta[:, None] - theta, jump).mean(1)
        for k in range(1, n_items):
            for m in range(min(k, n_items - k)):
                if theta[k - m - 1] > theta[k + m]:
                    least = min(least, n_items * (tau[k - m - 1] - tau[k + m]) / ((2 * m + 2) * jump))
    return least


def jump_recovery(n_items: float, epsilon: float, jump: float = 0.25) -> dict[str, float]:
    """Algorithm 2 under a link with a jump, all pairs compared, k = n / 2.

    Returns
    -------
    dict of str to float
        ``m``: a tolerance; ``error``: bound on P(Hamming error > 2m) for every strengths with tau(k-m) > tau(k+m+1);
        ``power``: log_n of 2.2 m, which must be at most 1 - nu_1 (nu_2 = 0.1).
    """
    n = n_items
    m = math.ceil(math.sqrt(n * (2 * math.log(n) + 3)) / jump)
    lead = (2 * m + 2) * jump
    t = lead * epsilon / 4
    tail = math.exp(-(lead**2) / (4 * n)) + math.exp(-t) * (1 + t / 2) / 2
    return {"m": m, "error": min(1.0, n * n / 4 * tail), "power": math.log(2.2 * m) / math.log(n)}


@claim("cai2025:thm-2.4:parametric")
def check_thm_2_4_parametric() -> Iterator[Check]:
    """(2.12) for a link with a jump, and for continuous ones."""
    for n in (10**6, 10**9, 10**12):
        case = jump_recovery(n, 0.5)
        if not case["power"] <= 0.85:
            raise ValueError(f"n = {n}; allowed: large enough for 2.2 m <= n^0.85")
        what = f"P(Hamming error > 2m) of Algorithm 2, jump ¼, p = 1, ε = ½, n = {n:.0e}, k = n/2, m = {case['m']:,}"
        yield printed(what, case["error"], ">=", 0.1)
    deltas = np.geomspace(1e-9, 0.3, 30)
    for link in (LOGISTIC, ARCTAN):
        roots = [brentq(lambda x, d=d, link=link: float(link.cdf(x)) - 0.5 - d, 0, 5, xtol=1e-14) for d in deltas]
        off = np.abs(link.cdf(np.array(roots)) - 0.5 - deltas).max()
        what = f"distance of F(α - β) from ½ + Δ, {link.name} link, Δ from 10⁻⁹ to 0.3, largest"
        yield supplied(what, off, "<=", ROUNDING)
    error = float(recovery_grid().error.min())
    yield supplied("least guaranteed P(Hamming error > 2m) of Theorem 2.4", error, ">=", 0.1)
    yield amended("least guaranteed P(Hamming error > 2m), continuous F", error, ">=", 0.1)
    what = "n(τ(k-m) - τ(k+m+1)) over (2m+2)·jump, all orders of 8 items with ties, all k and m: least"
    yield amended(what, jump_gap(8), ">=", 1 - ROUNDING)


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_attack_by_item(frame: pd.DataFrame) -> Figure:
    """Expected attack on every item against its number, printed and corrected."""
    figure = Figure(figsize=(6.4, 3.0))
    axes = figure.subplots()
    for calibration, part in frame.groupby("calibration", sort=False):
        look = CALIBRATION[str(calibration)]
        axes.plot(part.k, part.attack, label=calibration, lw=1, **look)
    axes.axhline(0, color="black", lw=1)
    axes.set(xlabel="attacked item k", ylabel="expected attack (exact)", xlim=(0, frame.k.max() + 1))
    axes.legend(loc="lower left")
    return figure
