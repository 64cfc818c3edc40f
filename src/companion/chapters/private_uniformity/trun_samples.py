"""How many rankings TRUN needs at equal privacy and exact size, beside other tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.private_uniformity.batches import private_least
from companion.chapters.private_uniformity.central_samples import coin_power, laplace_power, unif_power, vote_power
from companion.chapters.private_uniformity.trun import DELTA, EPSILON_0, HARDLY, mu_at, printed_rankings, theorem_6
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.sweep import stream
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.truncated import Trun
from dprank.uniformity.unif import square_law


def least_size(test: paper.PrintedTrun) -> float:
    """Lower bound on the probability that the printed test rejects uniform rankings.

    All it accepts is by the coin or by an event of probability at most (Y - m/2) / width, and the positive part of a
    centred variable has a mean of at most half its standard deviation.
    """
    spread = math.sqrt(2 * (test.n_items // 2) * (1 - 1 / test.n_voters))
    return 1 - test.coin / 2 - (1 - test.coin) * spread / (2 * test.width)


def simulated_size(test: paper.PrintedTrun, repetitions: int, rng: np.random.Generator) -> tuple[float, float]:
    """Probability of rejecting uniform rankings, and its standard error; exact given the pair sums."""
    k, pairs = test.n_voters, test.n_items // 2
    sums = 2 * binomial(k, 0.5, (repetitions, pairs), rng=rng) - k
    reject = 1 - test.accepts(sums)
    return float(reject.mean()), float(reject.std(ddof=1) / math.sqrt(repetitions))


def gate_size(m: int, k: int, epsilon_0: float, delta: float, mu: float) -> float:
    """Exact probability that uniform rankings are rejected by coin or gate alone, whatever the last step does.

    The sum of all signs is binomial; eight of its standard deviations either way are summed.
    """
    test = paper.trun(m, k, epsilon_0, delta, mu, accept_large=False).mechanism
    n = m // 2 * k
    half = min(n // 2, math.ceil(4 * math.sqrt(n)))
    heads = np.arange(n // 2 - half, n // 2 + half + 1)
    passing = test.acceptance(np.zeros(len(heads)), 2 * heads - n)
    return 1 - float(stats.binom.pmf(heads, n, 0.5) @ passing)


def two_items_power(test: NoisyNorm, bias: float) -> float:
    """Exact power on two items, of which one comes first with probability (1 + bias) / 2."""
    k = test.n_voters
    first = np.arange(k + 1)
    norm = test.on_grid((2 * first - k) ** 2)
    return float(stats.binom.pmf(first, k, (1 + bias) / 2) @ test.noise_sf(test.threshold() - norm))


def two_items_needed(bias: float, epsilon_0: float, delta: float) -> int:
    """Rankings of two items at which the noisy norm has power 1 - delta, to half a percent; infinity for no noise."""

    def enough(k: int) -> bool:
        free = NoisyNorm(2, k, HARDLY, size=delta)
        test = (
            free
            if math.isinf(epsilon_0)
            else NoisyNorm.calibrated(epsilon=epsilon_0, n_items=2, n_voters=k, size=delta)
        )
        return two_items_power(test, bias) >= 1 - delta

    return least(enough, share=1 / 200)


def two_items_costs(biases: Iterable[float], epsilon_0: float, delta: float) -> pd.DataFrame:
    """What privacy costs the noisy norm on two items.

    Columns: ``bias``, ``rankings`` (without privacy), ``private rankings``, ``ratio``.
    """
    frame = pd.DataFrame(
        {
            "bias": b,
            "rankings": two_items_needed(b, math.inf, delta),
            "private rankings": two_items_needed(b, epsilon_0, delta),
        }
        for b in biases
    )
    return frame.assign(ratio=frame["private rankings"] / frame.rankings)


def exact_power(method: str, m: int, k: int, bias: float, epsilon_0: float, delta: float) -> float:
    """Exact power of one of `METHODS` on independent pairs of one bias, as pairs of neighbours in the centre have."""
    if method == "UNIF, no privacy":
        return unif_power(m, k, bias, delta)
    if method == "batches and a coin":
        return coin_power(Bucketed.calibrated(epsilon=epsilon_0, n_items=m, n_voters=k, size=delta), bias)
    if method == "noisy vote of batches":
        return vote_power(BatchVote.calibrated(epsilon=epsilon_0, n_items=m, n_voters=k, size=delta), bias)
    if method == "Laplace on Y":
        return laplace_power(LaplaceUnif.calibrated(epsilon=epsilon_0, n_items=m, n_voters=k, size=delta), bias)
    squared, law = square_law(m // 2, k, bias)
    squared, law = squared[law > 1e-14], law[law > 1e-14]
    if method == "noisy norm":
        norm = NoisyNorm.calibrated(epsilon=epsilon_0, n_items=m, n_voters=k, size=delta)
        return float(law @ norm.noise_sf(norm.threshold() - norm.on_grid(squared)))
    if method == "TRUN, repaired":
        ramp = Trun.calibrated(epsilon=epsilon_0, n_items=m, n_voters=k, size=delta)
        return float(law @ (1 - ramp.acceptance(squared / k)))
    raise ValueError(f"method = {method!r}; allowed are {', '.join(map(repr, METHODS))}")


#: Method -> number of rankings at which a search begins: it runs on no fewer, or needs more in all our cases.
METHODS = {
    "UNIF, no privacy": 2,
    "noisy norm": 2,
    "Laplace on Y": 32,
    "batches and a coin": 400,
    "noisy vote of batches": 60,
    "TRUN, repaired": 256,
}


def rankings_needed(
    method: str, m: int, bias: float, *, epsilon_0: float = EPSILON_0, delta: float = DELTA, power: float = 0.8
) -> int:
    """Rankings with which a method has some power, found by halving: to one part in 30."""

    def enough(k: int) -> bool:
        return exact_power(method, m, k, bias, epsilon_0, delta) >= power

    return least(enough, METHODS[method], share=1 / 30)


def least_step(test: NoisyNorm, null: NDArray[np.int64], delta: float = DELTA) -> int:
    """The least step that one of the simulated `null` norms, with noise, reaches with probability `delta` at most."""
    low, high = 0, 2 * test.steps * test.n_voters
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if test.noise_sf(middle - null).mean() <= delta else (middle + 1, high)
    return low


def ranks_power(
    m: int, k: int, bias: float, draws: int = 300, epsilon_0: float = EPSILON_0, delta: float = DELTA
) -> float:
    """Power of the noisy norm of all ranks if items next to each other in the centre have that bias; simulated."""
    test = NoisyNorm.calibrated(epsilon=epsilon_0, n_items=m, n_voters=k, size=delta, statistic="ranks")
    rng = stream("06: norms of ranks", {"m": m, "k": k})
    law = Mallows(m, 2 * math.atanh(bias))
    norms = test.on_grid(np.array([int(test.squared_norm(law.sample(k, rng=rng))) for _ in range(draws)]))
    return float(test.noise_sf(least_step(test, test.null_norms(rng, draws), delta) - norms).mean())


def needed_table(items: Sequence[int], bias: float) -> pd.DataFrame:
    """Rankings needed for power 0.8 at size 0.05 and epsilon_0 = 1/3; one row a test, one column a number of items."""
    rows = [{"test": name} | {f"{m} items": rankings_needed(name, m, bias) for m in items} for name in METHODS]
    ranks = {f"{m} items": least(lambda k, m=m: ranks_power(m, k, bias) >= 0.8) for m in items}  # type: ignore[misc]
    return pd.DataFrame([*rows, {"test": "noisy norm of all ranks"} | ranks])


@claim("busafekete2021:thm-6:samples")
def check_thm_6_samples(repetitions: int) -> Iterator[Check]:
    """Size of Algorithm 3 with the sample size of Theorem 6, as printed and with its answers exchanged."""
    for constant, delta in ((1, 0.05), (1, 1e-3), (0.1, 1e-3), (10, 0.05)):
        m, mu = 100, mu_at(100, 0.5)
        k = printed_rankings(m, mu, EPSILON_0, delta, constant)
        size = least_size(paper.trun(m, k, EPSILON_0, delta, mu).mechanism)
        what = f"P(reject uniform rankings) is at least, m = 100, ε = 1/2, δ = {delta:g}, constant {constant:g}"
        yield printed(what, size, "<=", delta)
    size = least_size(paper.trun(100, 45_000, EPSILON_0, DELTA, 1 / 20).mechanism)
    what = "P(reject uniform rankings) is at least, m = 100, μ = 1/20, δ = 0.05, k = 45,000"
    yield printed(what, size, "<=", DELTA, error=ROUNDING)
    m, mu = 100, mu_at(100, 0.5)
    test = paper.trun(m, printed_rankings(m, mu, EPSILON_0, DELTA), EPSILON_0, DELTA, mu).mechanism
    size, se = simulated_size(test, repetitions, stream("06: size of TRUN", {"m": m}))
    yield printed("P(reject uniform rankings), simulated, same case, constant 1", size, "<=", DELTA, error=Z * se)
    for constant in (10, 1, 0.1):
        k = printed_rankings(2, 0.02, 1.0, DELTA, constant)
        what = f"P(reject uniform) by coin and gate alone, m = 2, μ = 0.02, ε₀ = 1, δ = 0.05, constant {constant:g}"
        size = gate_size(2, k, 1.0, DELTA, 0.02)
        yield printed(what, size, "<=", DELTA, reading="Accept and Reject exchanged")
    for m, k in ((2, 100_000), (10, 10_000), (100, 3000)):
        repaired = Trun.calibrated(epsilon=EPSILON_0, n_items=m, n_voters=k, size=DELTA)
        what = f"repaired: P(reject uniform), exact, m = {m}, k = {k:,}"
        yield amended(what, calibrated_size(repaired), "<=", DELTA * (1 + ROUNDING))
        what = f"repaired: provable privacy, m = {m}, k = {k:,}"
        yield amended(what, repaired.guarantee.epsilon, "<=", EPSILON_0 * (1 + ROUNDING))
    for bias in (0.3, 0.1, 0.01):
        k = repaired_rankings(bias)
        what = f"repaired: power on two items, bias {bias:g}, k = {k:,}"
        yield amended(what, repaired_power(k, bias), ">=", 1 - DELTA)
    for bias in (0.3, 0.1):
        k = repaired_rankings(bias)
        half = repaired_power(k // 2, bias)
        yield amended(f"repaired: its power with half of these, bias {bias:g}", half, "<", 0.9)
        share = k / float(private_least(EPSILON_0, DELTA, bias / 2))
        what = f"k over what any private test needs at least, two items, bias {bias:g}, δ = {DELTA:g}, ε₀ = 1/3"
        yield amended(what, share, "<=", 60)


def calibrated_size(test: Trun) -> float:
    """Exact probability that the repaired test rejects uniform rankings."""
    squares, law = square_law(test.n_items // 2, test.n_voters)
    return float(law @ (1 - test.acceptance(squares / test.n_voters)))


def repaired_rankings(bias: float) -> int:
    """Rankings of two items that suffice for the repaired test at delta = 0.05, epsilon_0 = 1/3.

    Half as many again as put the mean of the norm at the end of the ramp, 4 / step for a small start, where
    step = delta (exp(epsilon_0) - 1) / (2 (1 - delta)); and 20 / bias^2, which the norm's own fluctuation asks for.
    """
    step = DELTA * math.expm1(EPSILON_0) / (2 * (1 - DELTA))
    return math.ceil(6 / (step * bias) + 20 / bias**2)


def repaired_power(k: int, bias: float) -> float:
    """Exact power of the repaired test on two items."""
    test = Trun.calibrated(epsilon=EPSILON_0, n_items=2, n_voters=k, size=DELTA)
    first = np.arange(k + 1)
    accept = test.acceptance((2 * first - k) ** 2 / k)
    return float(stats.binom.pmf(first, k, (1 + bias) / 2) @ (1 - accept))


def unif_rankings(m: float, mu: float, delta: float) -> float:
    """Sample size of Theorem 5 with constant 1."""
    return math.sqrt(math.log(1 / delta) / m) / mu**2


def first_over_unif(m: int, delta: float, mu: float = 1e-4) -> float:
    """The first term of Theorem 6 over the number of rankings in line 5 of UNIF."""
    return float(theorem_6(m, mu, EPSILON_0, delta)[0] / paper.unif_samples(m, 16 * math.atanh(mu) / m, delta))


@claim("busafekete2021:thm-6:free")
def check_thm_6_free(costs: pd.DataFrame) -> Iterator[Check]:
    """Whether the first term dominates near uniformity, and whether it is free."""
    # of the three powers of 1/μ the first is the largest: smaller μ, and fewer items, do it more good than the others
    terms, near = (theorem_6(100, mu, EPSILON_0, DELTA) for mu in (0.5, 5e-4))
    share = float(terms[1:].max() / terms[0])
    yield printed("second and third term over the first at m = 100, μ = 1/2: m ≤ 100, μ ≤ 1/2", share, "<", 1)
    for name, power, order in zip(("first", "second", "third"), np.log10(near / terms) / 3, (2, 4 / 3, 1), strict=True):
        yield argument(f"power of 1/μ in the {name} term of Theorem 6, m = 100", power, "==", order, error=ROUNDING)
    for m, mu in ((10, 1e-2), (10, 1e-4), (100, 1e-4)):
        terms = theorem_6(m, mu, EPSILON_0, DELTA)
        at = f"m = {m}, μ = {mu:g}"
        test = paper.trun(m, math.ceil(terms[0]), EPSILON_0, DELTA, mu).mechanism
        yield printed(f"bound on the loss with k the first term, {at}", test.guarantee.epsilon, "<=", EPSILON_0)
    for m in (2, 100, 1000, 10**6):
        what = f"first term over UNIF's k of line 5, δ = 0.05, m = {m:,}"
        yield printed(what, first_over_unif(m, DELTA), "<=", 8, reading="at a fixed δ, up to a constant")
    for constant, delta in ((1, 1e-2), (10, 1e-3), (100, 1e-4)):
        ratio = first_over_unif(1000, delta)
        what = f"first term over UNIF's k of line 5, m = 1,000, μ = 10⁻⁴, δ = {delta:g}; any C, here {constant}"
        yield printed(what, ratio, "<=", constant, reading="at every δ, up to a constant", error=ratio * ROUNDING)
        limit = delta**-1.5 / (80 * math.sqrt(math.log(2 / delta)))
        what = f"that ratio over δ^(−3/2)/(80 √log(2/δ)), its limit for many items: m = 10²⁰, δ = {delta:g}"
        yield argument(what, first_over_unif(10**20, delta, mu=1e-12) / limit, "==", 1, error=1e-3)
    for row, relation, bound in zip(costs.iloc[[0, -1]].itertuples(), (">", "<="), (1.5, 1.02), strict=True):
        what = f"rankings of the noisy norm over those without privacy, two items, bias {row.bias:g}"
        yield amended(what, row.ratio, relation, bound)


def bucket_rankings(m: float, mu: float, epsilon_0: float, delta: float) -> float:
    """The paper's sample size for bucketing, with constant 1."""
    return max(unif_rankings(m, mu, delta) / epsilon_0, 2 / epsilon_0)


def bucket_ratio(m: float, mu: float, epsilon_0: float, delta: float) -> float:
    """Theorem 6's sample size over bucketing's, both with constant 1."""
    return float(theorem_6(m, mu, epsilon_0, delta).max()) / bucket_rankings(m, mu, epsilon_0, delta)


@claim("busafekete2021:sec-5:trunc-worse")
def check_trunc_worse(mu: float = 0.5, m: int = 1000) -> Iterator[Check]:
    """The printed sample sizes of Theorem 6 and of bucketing, away from uniformity: no constant levels them."""
    at = f"ε₀ = 1/3, μ = {mu:g}, m = {m:,}"
    yield printed(f"Theorem 6 over bucketing, δ = 0.05, {at}", bucket_ratio(m, mu, EPSILON_0, DELTA), ">", 1)
    deltas = (1e-2, 1e-4, 1e-6)
    ratios = [bucket_ratio(m, mu, EPSILON_0, delta) for delta in deltas]
    for delta, ratio, constant in zip(deltas, ratios, (10, 1000, 100_000), strict=True):
        yield printed(f"the same, δ = {delta:g}; any constant, here {constant:,}", ratio, ">", constant)


@claim("busafekete2021:sec-5:trunc-vs-bucket")
def check_trunc_vs_bucket(
    items: Sequence[int] = (10, 100, 1000),
    mu: float = 1e-5,
    grid: Sequence[tuple[float, ...]] = ((2, 10, 1e3, 1e9), (1e-12, 1e-4, 0.5), (1e-3, 0.05, 0.3)),
) -> Iterator[Check]:
    """The printed sample sizes of Theorem 6 and of bucketing, near uniformity."""
    ratios = [bucket_ratio(m, mu, EPSILON_0, DELTA) for m in items]
    for m, ratio in zip(items, ratios, strict=True):
        yield printed(f"Theorem 6 over bucketing, δ = 0.05, ε₀ = 1/3, μ = {mu:g}, m = {m}", ratio, "<", 1)
    for m in items:
        # below this epsilon_0 the first term is less than bucketing's
        most = DELTA**1.5 * math.sqrt(math.log(1 / DELTA)) / (1 + DELTA**-1.5 / math.sqrt(m))
        ratio = bucket_ratio(m, mu, most / 2, DELTA)
        what = f"Theorem 6 over bucketing, δ = 0.05, ε₀ = {most / 2:.2g}, μ = {mu:g}, m = {m}"
        yield supplied(what, ratio, "<", 1)
        yield argument(f"{what}: 1/2, as at half of the largest such ε₀", ratio, "==", 0.5, error=ROUNDING)
    over = [
        bucket_ratio(m, mu, 1.001 * delta**1.5 * math.sqrt(math.log(1 / delta)), delta)
        for m, mu, delta in product(*grid)
        if unif_rankings(m, mu, delta) >= 2
    ]
    what = f"least of Theorem 6 over bucketing with ε₀ above δ^(3/2) √(log(1/δ)), {len(over)} cases of m, μ, δ"
    yield amended(what, min(over), ">=", 1)
    worse = ratios[0] / ratios[-1]
    yield amended(f"the ratio at m = {items[0]} over that at m = {items[-1]}: worse at few items", worse, ">", 1)
    few, many = (1 + DELTA**-1.5 / math.sqrt(m) for m in (items[0], items[-1]))
    yield argument("the same: that of 1 + δ^(−3/2) m^(−1/2)", worse, "==", few / many, error=ROUNDING)
    # roots that come out even: m = 8, μ = ε₀ = 1/8, log(1/δ) = 8
    first, second, third = theorem_6(8, 1 / 8, 1 / 8, math.exp(-8)) * np.exp([-12, -16 / 3, -8])
    for name, term, value in (
        ("first", first, 64 / math.sqrt(8) + 8 * math.exp(12)),
        ("second", second, 64),
        ("third", third, 64 * math.sqrt(8)),
    ):
        what = f"{name} term of Theorem 6 over its power of δ, m = 8, μ = ε₀ = 1/8, δ = e⁻⁸, over the value by hand"
        yield argument(what, term / value, "==", 1, error=ROUNDING)


@claim("busafekete2021:sec-1:trun-better")
def check_trun_better(
    items: Sequence[int] = (2, 10, 100, 1000), deltas: Sequence[float] = (1e-2, 1e-3, 1e-4), near: float = 1e-6
) -> Iterator[Check]:
    """The printed sample sizes of Theorem 6 and of bucketing at few items, at the spread where the first does best."""
    biases = np.geomspace(near, 1, 400)
    best = {m: min(bucket_ratio(m, mu, EPSILON_0, DELTA) for mu in biases) for m in items}
    for m, ratio in best.items():
        yield printed(f"Theorem 6 over bucketing, δ = 0.05, ε₀ = 1/3, m = {m}, least over μ", ratio, "<", 1)
    for delta, constant in zip(deltas, (100, 10**5, 10**8), strict=True):
        ratio = min(bucket_ratio(m, mu, EPSILON_0, delta) for m in items for mu in biases)
        what = f"the same, least over m and μ, δ = {delta:g}; any constant, here {constant:,}"
        yield printed(what, ratio, "<", constant)
    # half of what makes the first term bucketing's own at two items
    budget = DELTA**1.5 * math.sqrt(math.log(1 / DELTA)) / (1 + DELTA**-1.5 / math.sqrt(2)) / 2
    ratios = [bucket_ratio(m, near, budget, DELTA) for m in range(2, items[-1] + 1)]
    what = f"Theorem 6 over bucketing, δ = 0.05, ε₀ = {budget:.2g}, μ = {near:g}, m = 2 to {items[-1]:,}, largest"
    yield supplied(what, max(ratios), "<", 1)
    yield argument("the same at two items: 1/2", ratios[0], "==", 0.5, error=ROUNDING)
    falls = min(a - b for a, b in pairwise(ratios))
    yield amended(f"μ = {near:g}: least fall of that ratio from one m to the next", falls, ">", 0)
