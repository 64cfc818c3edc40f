"""Busa-Fekete, Fotakis and Zampetakis (2021), Algorithm 3 and Theorem 6: truncated noise, and what repairs it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.private_uniformity.central import (
    FIGURE_3,
    coin_power,
    laplace_power,
    sign_data,
    unif_power,
    vote_power,
)
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import COLOURS, styled
from companion.instruments.sweep import stream
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from companion.printed import busafekete2021 as paper
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.truncated import Trun
from dprank.uniformity.unif import square_law

#: Up to so many pairs all values of the sum of their orientations are summed.
MOST_PAIRS = 10_000_000
#: Scale of whole noise that no double tells from none: it is not 0 with chance exp(-10^4).
HARDLY = 1e-4
#: Significance and privacy of Figure 3.
DELTA, EPSILON_0 = 0.05, 1 / 3


# --- sample sizes as printed -----------------------------------------------------------------------------------------


def theorem_6(m: float, mu: float, epsilon_0: float, delta: float) -> NDArray[np.float64]:
    """The three terms of the sample size of Theorem 6, shape (3,)."""
    log = math.log(1 / delta)
    first = (delta**-1.5 / math.sqrt(m) + delta**-3 / m) / mu**2
    second = log ** (1 / 3) / (mu ** (4 / 3) * m ** (1 / 3) * (epsilon_0 * delta) ** (2 / 3))
    return np.array([first, second, math.sqrt(log) / (mu * epsilon_0 * delta)])


def printed_rankings(m: float, mu: float, epsilon_0: float, delta: float, constant: float = 1.0) -> int:
    """Sample size of Theorem 6 with a constant in front, at least 2."""
    return max(2, math.ceil(constant * theorem_6(m, mu, epsilon_0, delta).max()))


def private_rankings(mu: float, epsilon_0: float, delta: float) -> int:
    """A sample size at which Algorithm 3 is private whatever m: the corrected theorem, with its constants."""
    return max(2, math.ceil(max(64 / (mu**2 * epsilon_0 * delta) ** (2 / 3), 182 / (mu * epsilon_0 * delta))))


def mu_at(m: int, epsilon: float) -> float:
    """The paper's mu for a tolerance: (1 - phi^(m/8)) / (1 + phi^(m/8)) at phi = phi_epsilon."""
    return math.tanh(theta_at(m, epsilon) * m / 16)


# --- privacy loss ----------------------------------------------------------------------------------------------------


def ramp_sums(test: paper.PrintedTrun) -> NDArray[np.float64]:
    """Sizes of pair sums that k rankings can have, above 0, from a little below the ramp to a little above it."""
    k, pairs = test.n_voters, test.n_items // 2
    end = math.sqrt((test.start + test.width) * k / pairs)
    low = max(2 - k % 2, int(math.sqrt(test.start * k / pairs)) - 8)
    return np.arange(low + (low - k) % 2, min(k, int(end) + 8) + 1, 2, dtype=float)


def agreeing_acceptance(
    test: paper.PrintedTrun, s: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds on the probability of acceptance when all rankings are one ranking or its reverse, s more of the first.

    Each pair sum is s or -s, by a fair coin: the algorithm draws the pairs, in random order, and publishes neither.

    Returns
    -------
    tuple of ndarray of float
        Lower and upper bound. Both are the exact value for up to `MOST_PAIRS` pairs. For more of them Hoeffding's
        inequality says that the sum of the coins is at most 8 sqrt(pairs) but with probability 2 exp(-32).
    """
    pairs = test.n_items // 2
    y = pairs * s**2 / test.n_voters
    if pairs > MOST_PAIRS:
        far = test.acceptance(y, 8 * math.sqrt(pairs) * s)
        return (1 - 2 * math.exp(-32)) * far, test.acceptance(y)
    # nine standard deviations either way
    half = math.ceil(4.5 * math.sqrt(pairs))
    heads = np.arange(max(0, pairs // 2 - half), min(pairs, pairs // 2 + half + 1) + 1)
    exact = test.acceptance(y[:, None], np.outer(s, 2 * heads - pairs)) @ stats.binom.pmf(heads, pairs, 0.5)
    return exact, exact


def agreeing_loss(test: paper.PrintedTrun) -> float:
    """Privacy loss of what is published, over data of rankings that agree or are opposed; one of them is reversed.

    The pairing is drawn and secret. A lower bound on the privacy loss over all data; exact over these data, near the
    ramp, for up to `MOST_PAIRS` pairs, and a lower bound for more.
    """
    s = ramp_sums(test)
    (low, high), (low_less, high_less) = agreeing_acceptance(test, s), agreeing_acceptance(test, s - 2)
    ratios = low / high_less, low_less / high, (1 - high) / (1 - low_less), (1 - high_less) / (1 - low)
    return float(np.log(ratios).max())


def worst_neighbours(test: paper.PrintedTrun) -> pd.Series:
    """The worst of some neighbours for an adversary who knows the pairing, which the algorithm keeps secret.

    All pair sums are plus or minus s or s + 2, and 2 closer to 0 instead.

    Returns
    -------
    pandas.Series
        ``y`` and ``y_less`` (UNIF's statistic of either), ``accept`` and ``accept_less``, ``loss``. A lower bound on
        the privacy loss given the pairing: these data exist for s of the parity of k, since one ranking may have every
        sign. Half of the sums have either sign, so that the gate sees a mean sign of 0, or of one pair if their number
        is odd.
    """
    k, pairs = test.n_voters, test.n_items // 2
    s = ramp_sums(test)[:, None]
    larger = 2 * np.unique(np.floor(np.linspace(0, 1, 33) * (pairs // 2)))
    larger = np.where(s + 2 <= k, larger, 0.0)

    def accept(s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        y = ((pairs - larger) * s**2 + larger * (s + 2) ** 2) / k
        return y, test.acceptance(y, pairs % 2 * np.broadcast_to(s, y.shape))

    (y, more), (y_less, less) = accept(s), accept(s - 2)
    loss = np.maximum(np.abs(np.log(more / less)), np.abs(np.log((1 - more) / (1 - less))))
    i = np.unravel_index(loss.argmax(), loss.shape)
    columns = {"y": y, "y_less": y_less, "accept": more, "accept_less": less, "loss": loss}
    return pd.Series({name: float(values[i]) for name, values in columns.items()})


def exhaustive_loss(test: paper.PrintedTrun) -> float:
    """Exact privacy loss for a known pairing, over all sign data and all neighbours: 2^(pairs k) data sets.

    With the pairing drawn and secret the loss is at most this.
    """
    sums = sign_data(test.n_items // 2, test.n_voters)
    accept = test.accepts(sums)
    return float(max(np.ptp(np.log(p), axis=1).max() for p in (accept, 1 - accept)))


def small_losses(sizes: Iterable[tuple[int, int]], epsilon_0: float, delta: float, mu: float) -> pd.DataFrame:
    """Privacy loss at tiny sizes, between two bounds, and the bound of the guarantee.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``rankings``, ``attained`` (`agreeing_loss`), ``known pairing`` (`exhaustive_loss`: over all data),
        ``proved``.
    """
    tests = [paper.trun(m, k, epsilon_0, delta, mu).mechanism for m, k in sizes]
    return pd.DataFrame(
        {
            "items": t.n_items,
            "rankings": t.n_voters,
            "attained": agreeing_loss(t),
            "known pairing": exhaustive_loss(t),
            "proved": t.guarantee.epsilon,
        }
        for t in tests
    )


def figure_3_losses(epsilons: Iterable[float]) -> pd.DataFrame:
    """Privacy loss of Algorithm 3 at the sizes of Figure 3, for several tolerances: the paper names none.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``rankings``, ``ε``, the tolerance, ``μ``, ``attained`` (`agreeing_loss`), ``known pairing`` (loss of
        `worst_neighbours`), ``proved``.
    """
    rows = []
    for (m, k), epsilon in product(FIGURE_3, epsilons):
        mu = mu_at(m, epsilon)
        test = paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism
        rows.append(
            {
                "items": m,
                "rankings": k,
                "ε": epsilon,
                "μ": mu,
                "attained": agreeing_loss(test),
                "known pairing": worst_neighbours(test).loss,
                "proved": test.guarantee.epsilon,
            }
        )
    return pd.DataFrame(rows)


def losses_by_items(items: Iterable[int], epsilon: float, constant: float = 1.0) -> pd.DataFrame:
    """Privacy loss with the sample size of Theorem 6 at a fixed tolerance.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``μ``, ``rankings``, ``attained`` (`agreeing_loss`), ``known pairing`` (loss of `worst_neighbours`),
        ``private rankings`` (by `private_rankings`).
    """
    rows = []
    for m in items:
        mu = mu_at(m, epsilon)
        k = printed_rankings(m, mu, EPSILON_0, DELTA, constant)
        test = paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism
        rows.append(
            {
                "items": m,
                "μ": mu,
                "rankings": k,
                "attained": agreeing_loss(test),
                "known pairing": worst_neighbours(test).loss,
                "private rankings": private_rankings(mu, EPSILON_0, DELTA),
            }
        )
    return pd.DataFrame(rows)


def losses_by_constant(constants: Iterable[float], epsilon_0: float, delta: float) -> pd.DataFrame:
    """For every constant in front of Theorem 6's sample size, parameters at which privacy fails.

    With mu = x / C^3 and m = 2 ceil(mu^(-4) / 2) items the second of the corrected terms outgrows all printed ones by a
    factor of mu^(-1/3).

    Returns
    -------
    pandas.DataFrame
        ``constant``, ``mu``, ``items``, ``rankings``, ``attained`` (`agreeing_loss`).
    """
    rows = []
    for constant in constants:
        mu = min(0.1, 20 / constant**3)
        m = 2 * math.ceil(mu**-4 / 2)
        k = printed_rankings(m, mu, epsilon_0, delta, constant)
        attained = agreeing_loss(paper.trun(m, k, epsilon_0, delta, mu).mechanism)
        rows.append({"constant": constant, "mu": mu, "items": m, "rankings": k, "attained": attained})
    return pd.DataFrame(rows)


def acceptance_curve(m: int, k: int, epsilon: float) -> pd.DataFrame:
    """What Algorithm 3 answers and what it reveals; the mean sign is 0.

    Returns
    -------
    pandas.DataFrame
        ``panel`` ("acceptance" or "loss"), ``x`` (Y over its null mean; number of rankings), ``value`` (probability of
        acceptance at k rankings; loss of `worst_neighbours`, pairing known), ``low`` and ``high`` (the probability at a
        norm 2 sqrt(pairs) smaller and larger; `agreeing_loss`, pairing secret, and the guarantee's bound).
    """
    mu = mu_at(m, epsilon)
    test = paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism
    norm = np.sqrt(np.linspace(0.7, 1.6, 200) * k * (m // 2))
    low, centre, high = (test.acceptance((norm + x) ** 2 / k) for x in (-test.reach, 0, test.reach))
    acceptance = pd.DataFrame({"x": norm**2 / k / (m // 2), "value": centre, "low": low, "high": high})
    tests = [paper.trun(m, n, EPSILON_0, DELTA, mu).mechanism for n in np.unique(np.geomspace(10, 1e6, 60).astype(int))]
    loss = pd.DataFrame(
        {
            "x": float(t.n_voters),
            "value": worst_neighbours(t).loss,
            "low": agreeing_loss(t),
            "high": t.guarantee.epsilon,
        }
        for t in tests
    )
    return pd.concat([acceptance.assign(panel="acceptance"), loss.assign(panel="loss")], ignore_index=True)


# --- size ------------------------------------------------------------------------------------------------------------


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


# --- exact power on two items ----------------------------------------------------------------------------------------


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

    Returns
    -------
    pandas.DataFrame
        ``bias``, ``rankings`` (without privacy), ``private rankings``, ``ratio``.
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


# --- equal privacy, exact size: how many rankings -------------------------------------------------------------------


def exact_power(method: str, m: int, k: int, bias: float, epsilon_0: float, delta: float) -> float:
    """Exact power on independent pairs that all have the same bias, as pairs of neighbours in the centre have.

    Parameters
    ----------
    method : str
        One of ``METHODS``: all of size delta at most, and all but the first pure epsilon_0-DP.
    m, k : int
    bias, epsilon_0, delta : float
    """
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


def ranks_power(m: int, k: int, bias: float, draws: int = 300) -> float:
    """Power of the noisy norm of all ranks if items next to each other in the centre have that bias; simulated."""
    test = NoisyNorm.calibrated(epsilon=EPSILON_0, n_items=m, n_voters=k, size=DELTA, statistic="ranks")
    rng = stream("06: norms of ranks", {"m": m, "k": k})
    law = Mallows(m, 2 * math.atanh(bias))
    norms = test.on_grid(np.array([int(test.squared_norm(law.sample(k, rng=rng))) for _ in range(draws)]))
    return float(test.noise_sf(least_step(test, test.null_norms(rng, draws)) - norms).mean())


def needed_table(items: Sequence[int], bias: float) -> pd.DataFrame:
    """Rankings needed for power 0.8 at size 0.05 and epsilon_0 = 1/3; one row a test, one column a number of items."""
    rows = [{"test": name} | {f"{m} items": rankings_needed(name, m, bias) for m in items} for name in METHODS]
    ranks = {f"{m} items": least(lambda k, m=m: ranks_power(m, k, bias) >= 0.8) for m in items}  # type: ignore[misc]
    return pd.DataFrame([*rows, {"test": "noisy norm of all ranks"} | ranks])


# --- claims ----------------------------------------------------------------------------------------------------------


@claim("busafekete2021:alg-3")
def check_alg_3() -> Iterator[Check]:
    """Algorithm 3 as a definition, on its smallest data and one larger case."""
    for m, k, mu in ((2, 2, 0.5), (100, 1000, 0.05)):
        as_printed = paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism
        right = paper.trun(m, k, EPSILON_0, DELTA, mu, accept_large=False).mechanism
        at = f"m = {m}, k = {k}, μ = {mu:g}"
        # at even k all pair sums can be 0; S = (k, -k, ...) has mean sign 0 where the number of pairs is even
        none, full = (0.0, 0.0), (m / 2 * k, k * (m // 2 % 2))
        yield printed(f"least p that line 15 asks for, {at}", -as_printed.start / as_printed.width, ">=", 0)
        for test, says in ((as_printed, printed), (right, amended)):
            what = f"P(accept) when each pair splits evenly less when all agree, {at}"
            yield says(what, float(test.acceptance(*none) - test.acceptance(*full)), ">", 0)
        clipped = np.clip((np.array([none[0], full[0]]) - right.start) / right.width, 0, 1)
        yield amended(f"least p after clipping, {at}", clipped.min(), ">=", 0)


@claim("busafekete2021:thm-6:privacy")
def check_thm_6_privacy(figure_3: pd.DataFrame, by_items: pd.DataFrame) -> Iterator[Check]:
    """Privacy of Algorithm 3 with the sample size of Theorem 6, for every constant in front of it.

    Parameters
    ----------
    figure_3, by_items : pandas.DataFrame
        As of `figure_3_losses` and `losses_by_items`, the latter at tolerance 1/2.
    """
    for row in losses_by_constant((0.1, 1, 10, 100), EPSILON_0, 0.5).itertuples():
        what = (
            f"attained loss, δ = 1/2, k = {row.constant:g} × the printed maximum, μ = {row.mu:.2g}, m = {row.items:.2g}"
        )
        yield printed(what, row.attained, "<=", EPSILON_0)
    for row in by_items[by_items["items"] >= 1000].itertuples():
        what = f"attained loss, δ = 0.05, ε = 1/2, constant 1, m = {row.items:,}, k = {row.rankings:,}"
        yield printed(what, row.attained, "<=", EPSILON_0)
    worst = figure_3[figure_3["items"] > 10]
    row = worst.loc[worst.attained.idxmin()]
    what = f"attained loss at Figure 3's sizes with 1000 rankings, least bad: m = {row['items']:.0f}, ε = {row['ε']:g}"
    yield printed(what, row.attained, "<=", EPSILON_0)
    what = "largest bound on loss / ε₀ with 64/(μ²ε₀δ)^(2/3) and 182/(με₀δ), grid of m, μ, ε₀, δ"
    yield amended(what, corrected_margin(), "<=", 1)


def corrected_margin() -> float:
    """Largest guarantee over epsilon_0 of Algorithm 3 with `private_rankings`, on a grid."""
    grid = product((2, 3, 10, 101, 10_000), (1e-6, 1e-3, 0.1, 1.0), (1e-3, 1 / 3, 1.0, 5.0), (1e-4, 0.05, 0.5))
    return max(
        paper.trun(m, private_rankings(mu, e, d), e, d, mu).mechanism.guarantee.epsilon / e for m, mu, e, d in grid
    )


@claim("busafekete2021:thm-6:samples")
def check_thm_6_samples(repetitions: int) -> Iterator[Check]:
    """Size of Algorithm 3 with the sample size of Theorem 6, as printed and with its answers exchanged."""
    for constant, delta in ((1, 0.05), (1, 1e-3), (0.1, 1e-3), (10, 0.05)):
        m, mu = 100, mu_at(100, 0.5)
        k = printed_rankings(m, mu, EPSILON_0, delta, constant)
        size = least_size(paper.trun(m, k, EPSILON_0, delta, mu).mechanism)
        what = f"P(reject uniform rankings) is at least, m = 100, ε = 1/2, δ = {delta:g}, constant {constant:g}"
        yield printed(what, size, "<=", delta)
    m, mu = 100, mu_at(100, 0.5)
    test = paper.trun(m, printed_rankings(m, mu, EPSILON_0, DELTA), EPSILON_0, DELTA, mu).mechanism
    size, se = simulated_size(test, repetitions, stream("06: size of TRUN", {"m": m}))
    yield printed("P(reject uniform rankings), simulated, same case, constant 1", size, "<=", DELTA, error=Z * se)
    for constant in (0.1, 1, 10):
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
    for bias in (0.1, 0.3):
        k = repaired_rankings(bias)
        what = f"repaired: power on two items, bias {bias:g}, k = {k:,}"
        yield amended(what, repaired_power(k, bias), ">=", 1 - DELTA)


def calibrated_size(test: Trun) -> float:
    """Exact probability that the repaired test rejects uniform rankings."""
    squares, law = square_law(test.n_items // 2, test.n_voters)
    return float(law @ (1 - test.acceptance(squares / test.n_voters)))


def repaired_rankings(bias: float) -> int:
    """Rankings of two items that suffice for the repaired test at delta = 0.05, epsilon_0 = 1/3.

    Half as many again as put the mean of the norm at the end of the ramp, 4 / step for a small start, where
    step = delta (exp(epsilon_0) - 1) / (2 (1 - delta)).
    """
    step = DELTA * math.expm1(EPSILON_0) / (2 * (1 - DELTA))
    return math.ceil(6 / (step * bias))


def repaired_power(k: int, bias: float) -> float:
    """Exact power of the repaired test on two items."""
    test = Trun.calibrated(epsilon=EPSILON_0, n_items=2, n_voters=k, size=DELTA)
    first = np.arange(k + 1)
    accept = test.acceptance((2 * first - k) ** 2 / k)
    return float(stats.binom.pmf(first, k, (1 + bias) / 2) @ (1 - accept))


def unif_rankings(m: float, mu: float, delta: float) -> float:
    """Sample size of Theorem 5 with constant 1."""
    return math.sqrt(math.log(1 / delta) / m) / mu**2


@claim("busafekete2021:thm-6:free")
def check_thm_6_free(costs: pd.DataFrame) -> Iterator[Check]:
    """Whether the first term dominates near uniformity, and whether it is free.

    Parameters
    ----------
    costs : pandas.DataFrame
        As of `two_items_costs`, with a bias of 0.5 or more first and one of 0.03 or less last.
    """
    for m, mu in ((10, 1e-2), (10, 1e-4), (100, 1e-4)):
        terms = theorem_6(m, mu, EPSILON_0, DELTA)
        at = f"m = {m}, μ = {mu:g}"
        yield printed(f"second and third term over the first, {at}", terms[1:].max() / terms[0], "<", 1)
        test = paper.trun(m, math.ceil(terms[0]), EPSILON_0, DELTA, mu).mechanism
        yield printed(f"bound on the loss with k the first term, {at}", test.guarantee.epsilon, "<=", EPSILON_0)
    for m in (10, 100):
        ratio = theorem_6(m, 1e-4, EPSILON_0, DELTA)[0] / unif_rankings(m, 1e-4, DELTA)
        yield content(f"first term over UNIF's own sample size, δ = 0.05, m = {m}", ratio, "<=", 2)
    for row, relation, bound in zip(costs.iloc[[0, -1]].itertuples(), (">", "<="), (1.5, 1.02), strict=True):
        what = f"rankings of the noisy norm over those without privacy, two items, bias {row.bias:g}"
        yield amended(what, row.ratio, relation, bound)


def bucket_rankings(m: float, mu: float, epsilon_0: float, delta: float) -> float:
    """The paper's sample size for bucketing, with constant 1."""
    return max(unif_rankings(m, mu, delta) / epsilon_0, 2 / epsilon_0)


def bucket_ratio(m: float, mu: float, epsilon_0: float, delta: float) -> float:
    """Theorem 6's sample size over bucketing's, both with constant 1."""
    return float(theorem_6(m, mu, epsilon_0, delta).max()) / bucket_rankings(m, mu, epsilon_0, delta)


@claim("busafekete2021:sec-5:trunc-vs-bucket")
def check_trunc_vs_bucket() -> Iterator[Check]:
    """The printed sample sizes of Theorem 6 and of bucketing, near uniformity."""
    for m in (10, 100, 1000):
        what = f"Theorem 6 over bucketing, δ = 0.05, ε₀ = 1/3, μ = 10⁻⁵, m = {m}"
        yield printed(what, bucket_ratio(m, 1e-5, EPSILON_0, DELTA), "<", 1)
    # below this epsilon_0 the first term is less than bucketing's
    for m in (10, 100, 1000):
        most = DELTA**1.5 * math.sqrt(math.log(1 / DELTA)) / (1 + DELTA**-1.5 / math.sqrt(m))
        what = f"Theorem 6 over bucketing, δ = 0.05, ε₀ = {most / 2:.2g}, μ = 10⁻⁵, m = {m}"
        yield supplied(what, bucket_ratio(m, 1e-5, most / 2, DELTA), "<", 1)
    grid = [
        bucket_ratio(m, mu, 1.001 * delta**1.5 * math.sqrt(math.log(1 / delta)), delta)
        for m, mu, delta in product((2, 10, 1e3, 1e9), (1e-12, 1e-4, 0.5), (1e-3, 0.05, 0.3))
        if unif_rankings(m, mu, delta) >= 2
    ]
    what = "least of Theorem 6 over bucketing with ε₀ above δ^(3/2) √(log(1/δ)), grid of m, μ, δ"
    yield amended(what, min(grid), ">=", 1)
    ratio = bucket_ratio(10, 1e-5, EPSILON_0, DELTA) / bucket_ratio(1000, 1e-5, EPSILON_0, DELTA)
    yield amended("the ratio at m = 10 over that at m = 1000: worse at few items", ratio, ">", 1)


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_acceptance(frame: pd.DataFrame) -> Figure:
    """Probability of acceptance against UNIF's statistic, and privacy loss against the number of rankings."""
    figure = Figure(figsize=(7.6, 3.9))
    left, right = figure.subplots(1, 2)
    part = frame[frame.panel == "acceptance"]
    left.plot(part.x, part["value"], color=COLOURS[1], label="Y as it is")
    left.fill_between(
        part.x, part.low, part.high, color=COLOURS[1], alpha=0.25, lw=0, label="what one ranking can make of it"
    )
    left.axvline(1, color="black", lw=0.8, ls=":", label="mean of uniform rankings")
    left.set(xlabel="Y over its mean m/2", ylabel="probability of acceptance", ylim=(0, 1))
    left.legend(loc="lower left", bbox_to_anchor=(0, 1.01), fontsize=8)
    part = frame[frame.panel == "loss"]
    right.plot(part.x, part.low, color=COLOURS[1], label="attained")
    right.plot(part.x, part["value"], color=COLOURS[2], lw=1, ls="-.", label="attained if the pairing is known")
    right.plot(part.x, part.high, color=COLOURS[1], ls="--", lw=1, label="proved upper bound")
    right.axhline(1 / 3, color="black", lw=0.8, ls=":", label="claimed")
    right.set(xlabel="rankings k", ylabel="privacy loss", xscale="log", yscale="log")
    right.legend(loc="lower left", bbox_to_anchor=(0, 1.01), fontsize=8)
    return figure
