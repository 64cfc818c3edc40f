"""Busa-Fekete, Fotakis and Zampetakis (2021), Section 5 without TRUN, and Section 8: central privacy of UNIF.

Laplace noise on UNIF's statistic, one outcome of several batches, and what any private test needs. Exact throughout:
enumeration, convolution, linear programming, and inequalities whose short proofs stand in the chapter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse, special, stats

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, styled
from companion.instruments.uniformity import exponent, least, mean_square_bias
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.audit.exact import privacy_loss
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.bucketed import BatchVote, Bucketed, vote_sf
from dprank.uniformity.laplace import LaplaceUnif, discrete_laplace_cdf
from dprank.uniformity.unif import unif_null_threshold, unif_sf

Array = NDArray[np.float64]
#: Items and rankings of Figure 3.
FIGURE_3 = ((10, 10_000), (100, 1000), (500, 1000), (1000, 1000))


# --- all data, and all their neighbours ------------------------------------------------------------------------------


def sign_data(n_pairs: int, n_rankings: int) -> NDArray[np.int64]:
    """Sums of signs of all data sets: what k rankings say of P disjoint pairs, every combination being possible.

    Returns
    -------
    ndarray of int, shape (data sets without the last ranking, choices of the last ranking, pairs)
        Entries of one row are neighbours, and up to the order of the rankings there are no others.
    """
    signs = np.array(list(product((1, -1), repeat=n_pairs)))
    rest = np.array([signs[list(rows)].sum(0) for rows in product(range(len(signs)), repeat=n_rankings - 1)])
    return rest[:, None] + signs


def statistic(sums: NDArray[np.int64], n_rankings: int) -> Array:
    """UNIF's Y of sums of signs, shape (..., pairs)."""
    return (sums**2).sum(-1) / n_rankings


def sensitivities(sizes: Iterable[tuple[int, int]]) -> pd.DataFrame:
    """How far one ranking moves Y, over all data.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``rankings``, ``largest change``; ``4P(1 − 1/k)``, P = floor(m/2) pairs; ``same, signs cancel``,
        the largest change of data whose signs add up to 0; ``largest (4/k)|ΣΣX|``, of all signs; ``beyond local``, the
        most by which a change exceeds (4/k) times the sum of abs(S_i) + 1 over the pairs.
    """
    rows = []
    for m, k in sizes:
        sums = sign_data(m // 2, k)
        y = statistic(sums, k)
        change = np.abs(y[:, :, None] - y[:, None]).max(2)
        total = np.abs(4 / k * sums.sum(-1))
        local = 4 / k * (np.abs(sums) + 1).sum(-1)
        rows.append(
            {
                "items": m,
                "rankings": k,
                "largest change": change.max(),
                "4P(1 − 1/k)": 4 * (m // 2) * (1 - 1 / k),
                "same, signs cancel": change[total == 0].max(initial=0),
                "largest (4/k)|ΣΣX|": total.max(),
                "beyond local": (change - local).max(),
            }
        )
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-5:sensitivity")
def check_sensitivity(sizes: Iterable[tuple[int, int]]) -> Iterator[Check]:
    """Claim 10, reconstructed, and the sum of signs that is said to govern it."""
    for row in sensitivities(sizes).to_dict("records"):
        m, of = row["items"], f"all data, m = {row['items']}, k = {row['rankings']}"
        yield printed(f"largest change of Y by one ranking, {of}", row["largest change"], "<=", 2 * m)
        if row["rankings"] % 2 == 0:
            yield printed(f"largest change of Y where ΣΣX = 0, {of}", row["same, signs cancel"], "==", 0)
            yield printed(f"largest (4/k)|ΣΣX|, {of}", row["largest (4/k)|ΣΣX|"], "==", 4 * (m // 2), error=ROUNDING)
        what = f"largest change of Y, against 4⌊m/2⌋(1 − 1/k), {of}"
        yield amended(what, row["largest change"], "==", row["4P(1 − 1/k)"], error=ROUNDING)
        yield amended(f"largest change less (4/k) Σ(|S| + 1), {of}", row["beyond local"], "<=", ROUNDING)


# --- Laplace noise on Y ----------------------------------------------------------------------------------------------


def laplace_loss(test: LaplaceUnif) -> float:
    """Exact privacy loss of a continuous `LaplaceUnif`'s decision over all data: at tiny sizes only."""
    y = statistic(sign_data(test.n_pairs, test.n_voters), test.n_voters)
    scale = 4 * test.scale / test.n_voters
    losses = [f((test.threshold - y) / scale) for f in (stats.laplace.logsf, stats.laplace.logcdf)]
    return float(max((loss.max(1) - loss.min(1)).max() for loss in losses))


def agreeing_loss(test: LaplaceUnif) -> float:
    """Log ratio of accepting k equal rankings to accepting them after one was reversed, continuous noise.

    A lower bound of the privacy loss of the decision, and all of `guarantee` where the threshold lies below both Y.
    """
    scale = 4 * test.scale / test.n_voters
    x = (test.threshold - np.array([test.statistic(0), test.statistic(test.sensitivity)])) / scale
    accepts = np.where(x < 0, x - math.log(2), np.log1p(-np.exp(-np.maximum(x, 0)) / 2))
    return float(accepts[1] - accepts[0])


def laplace_losses(sizes: Iterable[tuple[int, int]], epsilon: float, delta: float = 0.05) -> pd.DataFrame:
    """Privacy of the printed noise: ``items``, ``rankings``, ``claimed ε₀``, loss of ``Y + Z``, of the ``decision``."""
    tests = [paper.laplace_unif(m, n, epsilon, delta).mechanism for m, n in sizes]
    return pd.DataFrame(
        {
            "items": test.n_items,
            "rankings": test.n_voters,
            "claimed ε₀": epsilon,
            "loss of Y + Z": test.guarantee.epsilon,
            "loss of the decision": agreeing_loss(test),
        }
        for test in tests
    )


@claim("busafekete2021:alg-4")
def check_laplace(epsilon: float, delta: float, tiny: Iterable[tuple[int, int]]) -> Iterator[Check]:
    """Algorithm 4: its decision on all tiny data, its noisy statistic at the sizes of Figure 3."""
    for m, k in tiny:
        test = paper.laplace_unif(m, k, epsilon, delta).mechanism
        what = f"privacy loss of the decision, all data, m = {m}, k = {k}"
        yield printed(what, laplace_loss(test), "<=", epsilon)
    for row in laplace_losses(FIGURE_3, epsilon, delta).to_dict("records"):
        of = f"m = {row['items']}, k = {row['rankings']}"
        yield printed(f"privacy loss of Y + Z, {of}", row["loss of Y + Z"], "<=", epsilon)


@claim("busafekete2021:alg-4:variance")
def check_variance(epsilon: float) -> Iterator[Check]:
    """Variance of Y against m, and of the noise against it."""
    for m, k in ((2, 2), (4, 3), *FIGURE_3):
        of = f"m = {m}, k = {k}"
        variance = y_variance(m // 2, k, 0.0)
        yield printed(f"V[Y], uniform rankings, {of}", variance, "<=", m, reading="under H₀")
        yield printed(
            f"V[noise] / V[Y], uniform rankings, {of}", 8 * (m / epsilon) ** 2 / variance, ">", 100, reading="under H₀"
        )
        yield amended(f"V[Y], {of}", variance, "==", 2 * (m // 2) * (1 - 1 / k), error=ROUNDING * m)
    m, k, bias = 2, 4, 0.6
    what = f"V[Y], m = {m}, k = {k}, orders of probability {(1 + bias) / 2:g} and {(1 - bias) / 2:g}"
    yield printed(what, y_variance(1, k, bias), "<=", m, reading="under H₁ too")
    m, k = FIGURE_3[0]
    what = f"largest V[Y] / V[noise] over biases of independent pairs, m = {m}, k = {k}"
    most = max(y_variance(m // 2, k, bias) for bias in np.linspace(0, 1, 21))
    yield printed(what, most / (8 * (m / epsilon) ** 2), "<", 1, reading="under H₁ too")


def y_variance(n_pairs: int, n_rankings: int, bias: float) -> float:
    """Variance of Y for independent pairs of one bias, from the binomial law of one pair."""
    b = np.arange(n_rankings + 1)
    law = stats.binom.pmf(b, n_rankings, (1 + bias) / 2)
    y = (2 * b - n_rankings) ** 2 / n_rankings
    return float(n_pairs * (law @ (y - law @ y) ** 2))


# --- how many rankings each test needs -------------------------------------------------------------------------------


def laplace_power(test: LaplaceUnif, bias: float) -> float:
    """Exact power of a calibrated `LaplaceUnif` if all pairs are independent and of that bias."""
    counts, law = test.law_of_counts(bias)
    u = math.floor((test.statistic(0) - test.threshold) * test.n_voters / 4 + 1e-6)
    return float(law @ discrete_laplace_cdf(u - counts, test.scale))


def unif_power(m: int, k: int, bias: float, delta: float) -> float:
    """Exact power of UNIF without privacy, at its exact threshold."""
    return float(unif_sf(m // 2, k, unif_null_threshold(m // 2, k, delta), bias))


def coin_power(test: Bucketed, bias: float) -> float:
    """Exact power of one outcome of several batches."""
    return test.coin / 2 + (1 - test.coin) * test.batch_power(bias)


def vote_power(test: BatchVote, bias: float) -> float:
    """Exact power of a noisy vote of batches."""
    return vote_sf(test.n_batches, test.batch_power(bias), test.scale, test.threshold)


def certified_laplace(m: int, bias: float, epsilon: float, delta: float) -> int:
    """Rankings for which `LaplaceUnif` certainly has both errors at most delta, on independent pairs of one bias.

    A Laplace tail is at most half an exponential function, so that P log(M_0 M_1) <= log(4 delta^2) is enough, with
    M_0 the mean of exp(S^2 / (k b)) for uniform rankings, M_1 that of exp(-S^2 / (k b)) for biased ones, b the noise.
    """

    def enough(k: int) -> bool:
        count = np.arange(k + 1)
        noise = 4 * (m // 2) * (1 - 1 / k) / epsilon
        y = (2 * count - k) ** 2 / (k * noise)
        null, biased = (stats.binom.logpmf(count, k, (1 + x) / 2) for x in (0, bias))
        return (m // 2) * (special.logsumexp(null + y) + special.logsumexp(biased - y)) <= math.log(4 * delta**2)

    return least(enough, max(2, math.floor(laplace_least(bias**2, epsilon, delta))))


def needed(m: int, bias: float, epsilon: float, delta: float) -> dict[str, int]:
    """Rankings at which each test has size at most delta and power at least 1 - delta.

    All pairs are neighbours in the centre, hence independent and equally biased. Power rises with the number of
    rankings but for the steps of whole numbers; the number given is found by bisection, with exact laws, and for
    Laplace noise with `certified_laplace`.
    """
    batches = {
        "coin": Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=10**4, size=delta).n_batches,
        "vote": BatchVote.calibrated(epsilon=epsilon, n_items=m, n_voters=10**4, size=delta).n_batches,
    }

    def of_coin(k: int) -> bool:
        b = batches["coin"]
        return (
            coin_power(Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=k * b, size=delta, n_batches=b), bias)
            >= 1 - delta
        )

    def of_vote(k: int) -> bool:
        b = batches["vote"]
        return (
            vote_power(BatchVote.calibrated(epsilon=epsilon, n_items=m, n_voters=k * b, size=delta, n_batches=b), bias)
            >= 1 - delta
        )

    return {
        "UNIF": least(lambda k: unif_power(m, k, bias, delta) >= 1 - delta),
        "Laplace": certified_laplace(m, bias, epsilon, delta),
        "coin": batches["coin"] * least(of_coin),
        "vote": batches["vote"] * least(of_vote),
    }


def needed_by_items(sizes: Iterable[int], bias: float, epsilon: float, delta: float) -> pd.DataFrame:
    """`needed` for several m, and ``increase``, of Laplace noise over UNIF."""
    frame = pd.DataFrame({"items": m, **needed(m, bias, epsilon, delta)} for m in sizes)
    return frame.assign(increase=frame.Laplace / frame.UNIF)


def laplace_least(mean_square_bias: float, epsilon: float, delta: float) -> float:
    """Fewer rankings than that leave `LaplaceUnif` no threshold of size and error delta, whatever m is.

    The bound (2 L / epsilon - 2) / b for the mean b of squared biases over the random pairing, with
    L = log(1/(2 delta)) + log(1/(4 delta)), delta < 1/4; independence is not needed.
    """
    log = math.log(1 / (2 * delta)) + math.log(1 / (4 * delta))
    return max(2.0, (2 * log / epsilon - 2) / mean_square_bias)


def laplace_enough(bias: float, epsilon: float, delta: float) -> int:
    """Rankings that suffice for `LaplaceUnif` if no pair has a smaller bias, for all m >= 4, epsilon <= 1."""
    error = (3 + 8 / epsilon * math.log(1 / (2 * delta**2))) / bias**2
    return math.ceil(max(1 + error, 32 * math.log(2 / delta) / bias**4))


@claim("busafekete2021:alg-4:samples")
def check_laplace_samples(frame: pd.DataFrame, bias: float, epsilon: float, delta: float) -> Iterator[Check]:
    """The factor m^(3/2) / epsilon_0 and the root of log(1/delta).

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `needed_by_items`.
    bias, epsilon, delta : float
        As there.
    """
    sizes = f"m = {frame['items'].min()} to {frame['items'].max()}"
    last = frame.iloc[-2:]
    slope = f"exponent of m in the increase over UNIF, m = {last['items'].iloc[0]} to {last['items'].iloc[1]}"
    factor = exponent(last["items"], last.increase)
    deltas = np.array([1e-2, 1e-8, 1e-32, 1e-128])
    outgrow = 8 * np.log(1 / (2 * deltas)) / (2 * np.sqrt(np.log(1 / deltas)))
    rising = "k that any threshold needs, over m √log(1/δ)/(μ²ε₀), m = 2, φ = 0: δ = 1e-128 over δ = 1e-2"
    low, high = (frame.Laplace * epsilon * bias**2).agg(["min", "max"])
    certain = laplace_least(bias**2, epsilon, delta)
    yield printed(slope, factor, "==", 1.5, error=0.1)
    yield printed(rising, outgrow[-1] / outgrow[0], "<=", 1)
    yield amended(slope, factor, "==", 0.5, error=0.1)
    yield amended(f"k ε₀β² of Laplace, largest over smallest, {sizes}", high / low, "<=", 1.1)
    yield amended(f"k of Laplace less our lower bound, {sizes}", frame.Laplace.min() - certain, ">=", 0)


# --- batches ---------------------------------------------------------------------------------------------------------


def outcome_laws(test: Bucketed) -> Array:
    """P(reject) of a bucketed test by the number 0 .. B of batches that reject."""
    return test.coin / 2 + (1 - test.coin) * np.arange(test.n_batches + 1) / test.n_batches


def has_both_outcomes(test: Bucketed) -> bool:
    """Whether some batch is rejected and some is not: then neighbouring ones differ, as single changes connect all."""
    k, pairs = test.batch_voters, test.n_items // 2
    return pairs * (k % 2) / k < test.batch_threshold <= pairs * k


def bucketed_loss(test: Bucketed) -> float:
    """Exact privacy loss over all data and both outcomes."""
    if not has_both_outcomes(test):
        return 0.0
    p = outcome_laws(test)
    return max(privacy_loss([a, 1 - a], [b, 1 - b]) for a, b in pairwise(p))


def bucketed_delta(test: Bucketed, epsilon: float) -> float:
    """The least delta with which a bucketed test is (epsilon, delta)-private, exactly."""
    if not has_both_outcomes(test):
        return 0.0
    p = outcome_laws(test)
    low, high = p[:-1], p[1:]
    grow = np.exp(epsilon)
    return float(max((high - grow * low).max(), (1 - low - grow * (1 - high)).max(), 0.0))


def enumerated_loss(test: Bucketed) -> float:
    """`bucketed_loss` by listing all data of all batches: at tiny sizes only."""
    y = statistic(sign_data(test.n_items // 2, test.batch_voters), test.batch_voters)
    rejects = y >= test.batch_threshold
    flips = (rejects.any(1) & ~rejects.all(1)).any()
    states = np.unique(rejects)
    worst = 0.0
    for others in product(states, repeat=test.n_batches - 1):
        p = np.array([test.coin / 2 + (1 - test.coin) * (sum(others) + mine) / test.n_batches for mine in (0, 1)])
        worst = max(worst, privacy_loss([p[0], 1 - p[0]], [p[1], 1 - p[1]]) if flips else 0.0)
    return worst


@claim("busafekete2021:sec-5:bucketing")
def check_bucketing(epsilon: float, delta: float) -> Iterator[Check]:
    """BUNIF as printed on the smallest data on which it can reject, and at the sizes of Figure 3; then with a coin."""
    batches = math.ceil(1 / epsilon)
    for m, n in ((2, 6 * batches), *FIGURE_3):
        test = paper.bucketed(m, n, epsilon, delta).mechanism
        loss = enumerated_loss(test) if m == 2 else bucketed_loss(test)
        of = f"m = {m}, {test.n_batches} batches of {test.batch_voters}"
        yield printed(f"privacy loss as printed, {of}", loss, "<=", epsilon)
        yield amended(
            f"δ₀ that it needs at any ε₀, {of}", bucketed_delta(test, 50.0), "==", 1 / test.n_batches, error=ROUNDING
        )
    for m, n in FIGURE_3:
        coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
        of = f"m = {m}, {coin.n_batches} batches of {coin.batch_voters}"
        yield amended(f"privacy loss with a coin, {of}", bucketed_loss(coin), "==", epsilon, error=ROUNDING)
        yield amended(f"its size, {of}", coin.exact_size, "<=", delta)


def batch_tests(m: int, n: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Tests on batches: ``test``, ``batches``, ``rankings in each``, ``proved ε₀`` and ``δ₀``, ``size``."""
    as_printed = paper.bucketed(m, n, epsilon, delta).mechanism
    coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    vote = BatchVote.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    tests: dict[str, Bucketed | BatchVote] = {"as printed": as_printed, "with a coin": coin, "noisy vote": vote}
    return pd.DataFrame(
        {
            "test": name,
            "batches": test.n_batches,
            "rankings in each": test.batch_voters,
            "proved ε₀": test.guarantee.epsilon,
            "proved δ₀": test.guarantee.delta,
            "size": test.exact_size,
        }
        for name, test in tests.items()
    )


def privacy_profiles(epsilon: float, delta: float, grid: ArrayLike) -> pd.DataFrame:
    """The delta that each test needs at every epsilon, exactly, for 1000 rankings of 100 items.

    Returns
    -------
    pandas.DataFrame
        ``test``, ``epsilon``, ``delta``. For Laplace noise and votes, of all that they release.
    """
    m, n = FIGURE_3[1]
    x = np.asarray(grid, float)
    as_printed = paper.bucketed(m, n, epsilon, delta).mechanism
    coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    laplace = LaplaceUnif.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    curves = {
        "BUNIF as printed": np.array([bucketed_delta(as_printed, e) for e in x]),
        "BUNIF with a coin": np.array([bucketed_delta(coin, e) for e in x]),
        "noisy vote": vote_delta(BatchVote.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta), x),
        "Laplace on Y": -np.expm1(np.minimum((x - laplace.guarantee.epsilon) / 2, 0)),
    }
    return pd.concat(
        [pd.DataFrame({"test": name, "epsilon": x, "delta": curve}) for name, curve in curves.items()],
        ignore_index=True,
    )


def vote_delta(test: BatchVote, epsilon: Array) -> Array:
    """The least delta of the noisy number of votes: the positive part of p - e^epsilon q, over all whole numbers.

    Below the smaller count the ratio p / q is e^(1/scale) throughout, elsewhere it is its inverse.
    """
    q = math.exp(-1 / test.scale)
    return np.maximum(0.0, 1 / (1 + q) - np.exp(epsilon) * q / (1 + q))


def private_least(epsilon: ArrayLike, delta: ArrayLike, distance: float = 1.0) -> Array:
    """Fewer rankings than that suffice for no epsilon-private test with both errors at most delta.

    log((1 - delta) / delta) / log(1 + distance (e^epsilon - 1)), for an alternative at that total variation distance.
    """
    e, d = np.asarray(epsilon, float), np.asarray(delta, float)
    return np.log((1 - d) / d) / np.log1p(distance * np.expm1(e))


@claim("busafekete2021:sec-5:bucketing:samples")
def check_bucketing_samples(frame: pd.DataFrame, epsilon: float, delta: float) -> Iterator[Check]:
    """The rate of bucketing, which leaves out what privacy costs in delta and what a fixed distance costs in m.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `rate_at_distance`.
    epsilon, delta : float
    """
    deltas = np.array([1e-2, 1e-8, 1e-32, 1e-128])
    items = 2 * np.ceil(np.log(1 / deltas) / 2)
    as_printed = np.maximum(np.sqrt(np.log(1 / deltas) / items), 2) / epsilon
    ratio = private_least(epsilon, deltas) / as_printed
    last = frame.iloc[-2:]
    batches, votes = (
        Bucketed.calibrated(epsilon=epsilon, n_items=2, n_voters=10**4, size=delta),
        BatchVote.calibrated(epsilon=epsilon, n_items=2, n_voters=10**4, size=delta),
    )
    least_batches = (1 / delta - 2) / math.expm1(epsilon)
    yield printed(
        "rankings any ε₀-private test needs, over the printed rate, φ = 0, m ≥ log(1/δ): δ = 1e-128 over δ = 1e-2",
        ratio[-1] / ratio[0],
        "<=",
        1,
    )
    yield printed(
        f"printed rate at fixed distance, m = {last['items'].iloc[1]} over m = {last['items'].iloc[0]}",
        last.bucketing.iloc[1] / last.bucketing.iloc[0],
        "<=",
        1,
    )
    yield amended(
        "exponent of m in that rate, last two sizes", exponent(last["items"], last.bucketing), "==", 0.5, error=0.02
    )
    yield amended("batches with a coin less (1/δ − 2)/(e^ε₀ − 1)", batches.n_batches - least_batches, ">=", 0)
    grid = [(e, d) for e in (1.0, 1 / 3, 0.1) for d in (0.1, 0.05, 0.01, 1e-4)]
    worst = max(
        BatchVote.calibrated(epsilon=e, n_items=2, n_voters=10**4, size=d).n_batches
        / (math.log(2 / d) * max(1 / 0.08, 1 / (0.2 * e)))
        for e, d in grid
    )
    what = "batches of a noisy vote over log(2/δ) max{1/0.08, 1/(0.2 ε₀)}, largest on a grid"
    yield amended(what, worst, "<=", 1)
    yield amended("batches of a noisy vote", votes.n_batches, "<", batches.n_batches)


# --- the abstract's rate ---------------------------------------------------------------------------------------------


def rate_at_distance(sizes: Iterable[int], distance: float, epsilon: float, delta: float) -> pd.DataFrame:
    """What tests need at a fixed total variation distance from uniform.

    Returns
    -------
    pandas.DataFrame
        ``items``; ``1 − φ``; ``mean squared bias`` of a random pair; ``Laplace``, rankings that Algorithm 4 needs,
        from below; ``claimed``, the abstract's maximum; ``μ`` as printed; ``bucketing``, its printed rate.
    """
    rows = []
    for m in sizes:
        theta = theta_at(m, distance)
        square, mu = mean_square_bias(Mallows(m, theta)), paper.unif_bias(m, theta)
        rows.append(
            {
                "items": m,
                "1 − φ": -math.expm1(-theta),
                "mean squared bias": square,
                "Laplace": laplace_least(square, epsilon, delta),
                "claimed": max(1 / epsilon, m**-0.5),
                "μ": mu,
                "bucketing": max(math.sqrt(math.log(1 / delta) / m) / (mu**2 * epsilon), 2 / epsilon),
            }
        )
    return pd.DataFrame(rows)


@claim("busafekete2021:abstract:cdp-rate")
def check_rate(frame: pd.DataFrame, epsilon: float, delta: float, phi: float) -> Iterator[Check]:
    """The abstract's rate at a fixed distance, and at a fixed spread.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `rate_at_distance`.
    epsilon, delta : float
    phi : float
        Spread at which the rate is right.
    """
    ratio = frame.Laplace / frame.claimed
    first, last = int(frame["items"].iloc[0]), int(frame["items"].iloc[-1])
    bias = (1 - phi) / (1 + phi)
    yield printed(
        f"rankings Algorithm 4 needs over max{{1/ε₀, 1/√m}} at fixed distance, m = {last} over m = {first}",
        ratio.iloc[-1] / ratio.iloc[0],
        "<=",
        1,
    )
    yield printed(
        "BUNIF's privacy loss, m = 1000",
        bucketed_loss(paper.bucketed(*FIGURE_3[-1], epsilon, delta).mechanism),
        "<=",
        epsilon,
    )
    yield amended(
        "exponent of m in that need, last two sizes",
        exponent(frame["items"][-2:], frame.Laplace[-2:]),
        "==",
        1,
        error=0.02,
    )
    epsilons = np.array([1.0, epsilon, 0.1, 0.01])
    enough = np.array([laplace_enough(bias, e, delta) for e in epsilons])
    ceiling = 1 + 3 / bias**2 + 8 * math.log(1 / (2 * delta**2)) / bias**2 + 1 + 32 * math.log(2 / delta) / bias**4
    what = f"rankings that suffice × ε₀, for all m ≥ 4, φ = {phi:g}, largest over ε₀ = 1 to 0.01"
    yield supplied(what, float((enough * epsilons).max()), "<=", ceiling)
    for m in (4, 10, 100):
        test = LaplaceUnif.calibrated(
            epsilon=epsilon, n_items=m, n_voters=laplace_enough(bias, epsilon, delta), size=delta
        )
        what = f"exact power at that number, ε₀ = {epsilon:.3g}, m = {m}"
        yield supplied(what, laplace_power(test, bias), ">=", 1 - delta)


# --- Section 8 and Definition 1 --------------------------------------------------------------------------------------


def best_private_power(n: int, p: float, epsilon: float, delta: float) -> float:
    """Largest power at Bernoulli(p) of all epsilon-private tests of n bits with size delta at p = 1/2, exactly.

    A private test averaged over the orders of the bits is private and depends on their sum alone; its rejection
    probabilities for the sums 0 .. n make a linear program.
    """
    x = np.arange(n + 1)
    grow = math.exp(epsilon)
    here, there = sparse.eye(n, n + 1), sparse.eye(n, n + 1, 1)
    rows = [here - grow * there, there - grow * here, grow * there - here, grow * here - there]
    bounds = np.repeat([0, 0, grow - 1, grow - 1], n)
    null = stats.binom.pmf(x, n, 0.5)
    result = optimize.linprog(
        -stats.binom.pmf(x, n, p),
        sparse.vstack([*rows, null[None]]),
        np.r_[bounds, delta],
        bounds=(0, 1),
        method="highs",
    )
    return -float(result.fun)


def bernoulli_needs(epsilons: Sequence[float], p: float, delta: float) -> pd.DataFrame:
    """Bits that the best private test of Bernoulli(1/2) against Bernoulli(p) needs for both errors at most delta.

    Returns
    -------
    pandas.DataFrame
        ``ε₀``, ``bits needed`` (exact), ``lower bound`` (`private_least`), ``bits × ε₀``.
    """
    rows = []
    for epsilon in epsilons:
        bound = float(private_least(epsilon, delta, abs(p - 0.5)))
        start = max(2, math.floor(bound / 2))
        count = least(lambda n, e=epsilon: best_private_power(n, p, e, delta) >= 1 - delta, start)  # type: ignore[misc]
        rows.append({"ε₀": epsilon, "bits needed": count, "lower bound": bound, "bits × ε₀": count * epsilon})
    return pd.DataFrame(rows)


@claim("busafekete2021:sec-8:cdp-lower")
def check_lower(frame: pd.DataFrame, p: float, delta: float) -> Iterator[Check]:
    """No private test with o(1/epsilon_0) bits.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `bernoulli_needs`.
    p, delta : float
        As there.
    """
    for row in frame.to_dict("records"):
        yield printed(
            f"bits the best private test needs, less our bound, ε₀ = {row['ε₀']:g}, p = {p:g}",
            row["bits needed"] - row["lower bound"],
            ">=",
            0,
        )
    constant = math.log((1 - delta) / delta) / (abs(p - 0.5) * math.expm1(1))
    smallest = float(frame["bits × ε₀"].min())
    yield printed("ε₀ × bits, smallest over ε₀ ≤ 1", smallest, ">=", constant)


@claim("busafekete2021:sec-8:cdp-optimal")
def check_optimal(epsilon: float, delta: float, phi: float) -> Iterator[Check]:
    """Whether 'our central DP algorithm' is optimal in epsilon_0 among private ones."""
    bias = (1 - phi) / (1 + phi)
    epsilons = 10.0 ** -np.arange(7)
    scaled = np.array([laplace_enough(bias, e, delta) * e for e in epsilons])
    ratio = scaled / (private_least(epsilons, delta) * epsilons)
    limit = 8 * math.log(1 / (2 * delta**2)) / (bias**2 * math.log((1 - delta) / delta))
    test = paper.laplace_unif(*FIGURE_3[1], epsilon, delta).mechanism
    bucketed = paper.bucketed(*FIGURE_3[1], epsilon, delta).mechanism
    yield printed("privacy loss, m = 100, k = 1000", test.guarantee.epsilon, "<=", epsilon, reading="Algorithm 4")
    yield printed(
        f"rankings that suffice over rankings any private test needs, φ = {phi:g}, at ε₀ = {epsilons[-1]:g}",
        float(ratio[-1]),
        "<=",
        1.01 * limit,
        reading="Algorithm 4",
    )
    yield printed("privacy loss, m = 100, k = 1000", bucketed_loss(bucketed), "<=", epsilon, reading="bucketing")
    yield amended(
        "batches of a noisy vote × ε₀ / log(1/δ), ε₀ = 0.01",
        BatchVote.calibrated(epsilon=0.01, n_items=2, n_voters=10**4, size=delta).n_batches
        * 0.01
        / math.log(1 / delta),
        "<=",
        5,
    )


@claim("busafekete2021:sec-8:bernoulli")
def check_bernoulli(points: int) -> Iterator[Check]:
    """Mallows laws of two items against all Bernoulli laws, and their distances from uniform."""
    p = np.linspace(0, 1, points)
    more, less = np.maximum(p, 1 - p), np.minimum(p, 1 - p)
    phi = less / more
    first = np.array([float(Mallows.of_phi(2, x).before(1)) for x in phi])
    reached = np.where(p >= 0.5, first, 1 - first)
    distance = np.array([Mallows.of_phi(2, x).total_variation() for x in phi])
    yield printed(
        f"P(first item first) less p, largest of {points} p in [0, 1]",
        np.abs(reached - p).max(),
        "==",
        0,
        error=ROUNDING,
    )
    yield printed(
        "total variation distance from uniform less |p − 1/2|, largest",
        np.abs(distance - np.abs(p - 0.5)).max(),
        "==",
        0,
        error=ROUNDING,
    )


@claim("busafekete2021:def-1")
def check_definition(epsilon: float, delta: float) -> Iterator[Check]:
    """'Pure if delta = 0' where delta is the significance of a test, on a test that is pure."""
    m, n = FIGURE_3[1]
    coin = Bucketed.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta)
    as_printed = paper.bucketed(m, n, epsilon, delta).mechanism
    yield printed("δ, the significance, of a test whose privacy loss is at most ε₀", delta, "==", 0)
    yield supplied("δ₀ that this test needs at ε₀", bucketed_delta(coin, epsilon), "==", 0, error=ROUNDING)
    yield supplied("its exact privacy loss", bucketed_loss(coin), "<=", epsilon + ROUNDING)
    yield amended(
        "δ₀ that BUNIF needs at ε₀, not pure at any significance", bucketed_delta(as_printed, epsilon), ">", 0
    )


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_privacy_profiles(frame: pd.DataFrame) -> Figure:
    """The delta_0 that each test needs against epsilon, in units of the claimed one."""
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    looks = zip(frame.groupby("test", sort=False), (1, 0, 2, 3), ("-", "-", "--", ":"), strict=True)
    for (test, part), colour, line in looks:
        axes.plot(part.times, part.delta, line, color=COLOURS[colour], label=test)
    axes.axvline(1, color="black", lw=1)
    axes.set(xlabel="ε′ / claimed ε₀", ylabel="δ₀ needed at ε′ (exact)", xlim=(0, frame.times.max()))
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure
