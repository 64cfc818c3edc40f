"""A voter's privacy: the rates of Cai, Chakraborty and Wang (2025), Section 3, their proofs and their limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, CALIBRATION, COLOURS, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, content, printed, supplied
from companion.printed.cai2025 import proposition_3_1
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link
from dprank.models.draws import binomial, multinomial

#: The one constant that both halves of (A2) need for the logistic link: 1 / F'(4).
KAPPA_2 = float(1 / LOGISTIC.curvature(4.0))
#: Our constant in Theorem 3.3, for any number of answers.
ENOUGH = 8.0
#: What the corrected estimate's error may be, in rates, rounded up: noise of scale 8L / epsilon, log n times, over a
#: curvature of S F'(2), S = 2mL / n, is 4 / F'(2) = 38.1 times n log n / (m epsilon).
WITHIN = 40.0
#: Theorem 3.4 is evaluated at nu_1 = nu_2 = NU.
NU = 0.5


def rate(n_items: ArrayLike, voters: ArrayLike, epsilon: ArrayLike) -> NDArray[np.float64]:
    r"""The rate of Section 3, :math:`\sqrt{n \log n / m} + n \log n / (m \varepsilon)`, elementwise."""
    n = np.asarray(n_items, float)
    share = n * np.log(n) / np.asarray(voters, float)
    return np.sqrt(share) + share / epsilon


# --- Section 3.2: the likelihood -------------------------------------------------------------------------------------


def win_shares(wins: NDArray[np.float64], played: NDArray[np.float64], unseen: float) -> NDArray[np.float64]:
    """The printed share of comparisons won; `unseen` where a pair was never compared and the print divides 0 by 0."""
    return np.where(played > 0, wins / np.maximum(played, 1), unseen)


def likelihood_gaps(n_items: int, answers: int, unseen: float, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Minus log probability of every possible data set, less the printed sum, at eleven strength vectors.

    Parameters
    ----------
    n_items, answers : int
        All (n (n - 1))^answers data sets are listed: which pair, which outcome, answer by answer.
    unseen : float
        Share of wins that is put where a pair was never compared.
    link : Link

    Returns
    -------
    ndarray of float, shape (strength vectors, data sets)
        Constant if the printed sum is right: it may not depend on the strengths.
    """
    first, second = np.triu_indices(n_items, 1)
    pairs = len(first)
    some = stream("cai2025 any strengths", {"n": n_items}).uniform(-3, 3, (10, n_items))
    theta = np.vstack([np.zeros(n_items), some])
    x = theta[:, first] - theta[:, second]
    outcome = np.concatenate([link.log_cdf(x), link.log_cdf(-x)], axis=1) - math.log(pairs)
    data = np.array(list(product(range(2 * pairs), repeat=answers)))
    direct = -outcome[:, data].sum(-1)
    wins = np.stack([(data == pair).sum(-1) for pair in range(pairs)], axis=-1)
    played = wins + np.stack([(data == pairs + pair).sum(-1) for pair in range(pairs)], axis=-1)
    share = win_shares(wins, played, unseen)
    as_printed = -(link.log_cdf(x) @ (played * share).T + link.log_cdf(-x) @ (played * (1 - share)).T)
    return direct - as_printed


@claim("cai2025:sec-3.2:likelihood")
def check_likelihood(n_items: int = 3, answers: int = 4) -> Iterator[Check]:
    """The printed likelihood on all small data sets, pairs that were never compared included."""
    pairs = math.comb(n_items, 2)
    for link, unseen in product((LOGISTIC, ARCTAN), (0.0, 0.5, 1.0)):
        gaps = likelihood_gaps(n_items, answers, unseen, link)
        of = f"{n_items} items, all {gaps.shape[1]:,} data of {answers} answers, {link.name}, 0/0 read as {unseen:g}"
        yield printed(f"most that the difference moves with θ, {of}", np.ptp(gaps, axis=0).max(), "<=", ROUNDING)
        constant = abs(gaps / answers - math.log(pairs)).max()
        yield printed(f"difference per answer less log {pairs}, {of}", constant, "<=", ROUNDING)


# --- Theorem 3.1: the estimate ---------------------------------------------------------------------------------------


def mean_noise(n_items: ArrayLike) -> NDArray[np.float64]:
    r"""Expected absolute mean of n standard Laplace variables, :math:`2 \Gamma(n + 1/2) / (\sqrt\pi \, n!)`."""
    n = np.asarray(n_items, float)
    return 2 / math.sqrt(math.pi) * np.exp(special.gammaln(n + 0.5) - special.gammaln(n + 1))


def sum_peak(n_items: ArrayLike) -> NDArray[np.float64]:
    r"""Largest density of a sum of n standard Laplace variables, at 0: the difference of two Gamma(n) variables.

    Its density at 0 is the integral of a squared Gamma(n) density, :math:`\Gamma(2n-1) / (\Gamma(n)^2 2^{2n-1})`.
    """
    n = np.asarray(n_items, float)
    return np.exp(special.gammaln(2 * n - 1) - 2 * special.gammaln(n) - (2 * n - 1) * math.log(2))


def chance_within(
    times: float, n_items: ArrayLike, voters: ArrayLike, epsilon: float, kappa_2: float, kappa_1: float = 1.0
) -> NDArray[np.float64]:
    r"""Upper bound on the chance that the printed estimate is within `times` the rate of the truth.

    The mean of the estimate is minus that of the noise over gamma, and the truth has mean 0. With the printed
    constants :math:`\lambda / \gamma = \kappa_1 / \kappa_2`, for any number of answers.
    """
    n = np.asarray(n_items, float)
    reach = times * rate(n, voters, epsilon) * n * kappa_2 / kappa_1
    return np.minimum(1, 2 * reach * sum_peak(n))


def drift(n_items: Iterable[float], power: float, epsilon: float, times: float) -> pd.DataFrame:
    """How the printed estimate misses its rate when there are n^power voters.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``voters``, ``rate``, ``mean of the error`` (expected absolute value, exact, least kappa_2),
        ``chance`` (upper bound on the chance of an error within `times` the rate, same kappa_2), ``chance, A2`` (the
        same for the kappa_2 that both halves of (A2) need).
    """
    n = np.array(list(n_items), float)
    return pd.DataFrame(
        {
            "items": n,
            "voters": n**power,
            "rate": rate(n, n**power, epsilon),
            "mean of the error": mean_noise(n) * LOGISTIC.kappa_1 / LOGISTIC.kappa_2,
            "chance": chance_within(times, n, n**power, epsilon, LOGISTIC.kappa_2),
            "chance, A2": chance_within(times, n, n**power, epsilon, KAPPA_2),
        }
    )


def uncompared(n_items: Iterable[float], share: float, epsilon: float, answers: int = 1) -> pd.DataFrame:
    r"""Error of items that nobody compared, where the voters are as few as :math:`n \log n / (m \varepsilon)` = share.

    Such an item is estimated by minus its noise over gamma. The number of them beyond a threshold has first and second
    moments in closed form, so by the second moment inequality the median error is at least the threshold.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``expected`` (number of items that are never compared), ``rate``, ``median`` (lower bound on the
        median error, printed constants, logistic), ``over rate``.
    """
    n = np.array(list(n_items), float)
    draws = answers * n * np.log(n) / (share * epsilon)
    alone = draws * np.log1p(-2 / n)
    both = np.exp(draws * np.log1p(-2 / ((n - 1) * (n - 2))))  # P(two alone) / P(one alone)^2
    beyond = np.log(n) + alone + np.log(np.maximum(2 - both, 1e-300))
    median = np.maximum(beyond * LOGISTIC.kappa_1 / LOGISTIC.kappa_2 - 1, 0)
    reached = math.sqrt(share * epsilon) + share
    expected = np.exp(np.log(n) + alone)
    return pd.DataFrame(
        {"items": n, "expected": expected, "rate": reached, "median": median, "over rate": median / reached}
    )


STRENGTHS: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "spread": lambda n: np.linspace(-1, 1, n),
    "equal": np.zeros,
}


def estimation_errors(
    calibration: str,
    n_items: int,
    voters: int,
    epsilon: float,
    answers: int,
    strengths: str = "spread",
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Largest error of the perturbed MLE over the items, from the law of the sufficient statistics.

    Parameters
    ----------
    calibration : {"as printed", "centred", "larger ridge"}
        Theorem 3.1 with the least kappa_2; the same estimate minus its mean; the ridge sqrt(S log n) of Appendix B.2.
    n_items, voters, answers : int
    epsilon : float
    strengths : {"spread", "equal"}
    """
    if calibration not in ("as printed", "centred", "larger ridge"):
        raise ValueError(f"calibration = {calibration!r}; allowed are 'as printed', 'centred', 'larger ridge'")
    if strengths not in STRENGTHS:
        raise ValueError(f"strengths = {strengths!r}; allowed are {', '.join(map(repr, STRENGTHS))}")
    theta = STRENGTHS[strengths](n_items)
    first, second = np.triu_indices(n_items, 1)
    games = multinomial(voters * answers, np.full(first.size, 1 / first.size), repetitions, rng=rng)
    won = binomial(games, LOGISTIC.cdf(theta[first] - theta[second]), rng=rng)
    played = np.zeros((repetitions, n_items, n_items))
    played[:, first, second] = played[:, second, first] = games
    points = np.zeros_like(played)
    points[:, first, second], points[:, second, first] = won, games - won
    ridge = math.sqrt(2 * voters * answers / n_items * math.log(n_items)) if calibration == "larger ridge" else None
    mechanism = proposition_3_1(epsilon, n_items, per_person=answers, ridge=ridge).mechanism
    estimate = mechanism.estimate(played, points.sum(-1), rng)
    if calibration == "centred":
        estimate = estimate - estimate.mean(-1, keepdims=True)
    return np.abs(estimate - theta).max(-1)


def estimation_curve(
    n_items: Iterable[int], voters: Iterable[int], epsilon: float, answers: int, repetitions: int
) -> pd.DataFrame:
    """Mean error of the perturbed MLE, printed and corrected, beside the rate.

    Returns
    -------
    pandas.DataFrame
        ``calibration``, ``n_items``, ``voters``, ``strengths``, ``mean``, ``se``, ``repetitions``, ``rate``, ``floor``
        (what the mean of the noise alone contributes to the printed estimate, exact), ``loss`` (provable epsilon).
    """
    cells = [
        {
            "calibration": calibration,
            "n_items": n,
            "voters": m,
            "epsilon": epsilon,
            "answers": answers,
            "strengths": strengths,
        }
        for n, m, calibration, strengths in product(
            n_items, voters, ("as printed", "centred", "larger ridge"), STRENGTHS
        )
    ]
    frame = sweep(estimation_errors, cells, experiment="cai2025:thm-3.1", repetitions=repetitions)
    as_printed = proposition_3_1(epsilon, 2, per_person=answers).mechanism
    return frame.assign(
        rate=rate(frame.n_items, frame.voters, epsilon),
        floor=mean_noise(frame.n_items) * as_printed.scale / as_printed.ridge,
        loss=as_printed.guarantee.epsilon,
    )


@claim("cai2025:thm-3.1")
def check_thm_3_1(frame: pd.DataFrame, times: float = 100.0) -> Iterator[Check]:
    """Theorem 3.1: the printed ridge, and the centred estimate.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `estimation_curve`.
    times : float
        Constant that is granted to the printed bound.
    """
    epsilon = frame.epsilon.iloc[0]
    yield printed(f"privacy loss of the printed calibration, ε = {epsilon:g}", frame.loss.max(), "<=", epsilon)
    say = f"chance (at most) of an error within {times:g} × the rate"
    for row in drift([10**3, 10**4], 6, epsilon, times).to_dict("records"):
        at = f"n = {row['items']:.0f}, m = n^6, ε = {epsilon:g}"
        yield printed(f"{say}, {at}, κ2 = {LOGISTIC.kappa_2:g}", row["chance"], ">=", 0.5)
        yield printed(f"{say}, {at}, κ2 = {KAPPA_2:.1f}", row["chance, A2"], ">=", 0.5)
    small = float(chance_within(10, 16, 10**6, epsilon, LOGISTIC.kappa_2))
    what = f"chance (at most) of an error within 10 × the rate, n = 16, m = 10^6, ε = {epsilon:g}, κ2 = 0.25"
    yield printed(what, small, ">=", 1 - 16**-5.0)
    for row in frame[frame.calibration != "as printed"].itertuples():
        at = f"{row.calibration}, n = {row.n_items}, m = {row.voters:,}, {row.strengths} strengths"
        ratio, error = row.mean / row.rate, Z * row.se / row.rate
        yield amended(f"mean error over the rate, {at}", ratio, "<=", WITHIN, error=error)


# --- lower bounds: packings and Fano's inequality --------------------------------------------------------------------


def _divergence(p: float | NDArray[np.float64], q: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Kullback-Leibler divergence of two coins."""
    return np.asarray(special.rel_entr(p, q) + special.rel_entr(1 - np.asarray(p), 1 - np.asarray(q)))


def draw_distances(
    n_items: ArrayLike, swapped: ArrayLike, lead: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Total variation and divergence of one answer under two matrices of the packing of Appendix B.5.

    Under each of them the members of a top set of k items beat every other item with probability 1/2 + lead, and all
    else is even. Two top sets of equal size that differ in `swapped` items each way give
    :math:`2 h (n - h)` times the lead in total variation, summed over the pairs.

    Parameters
    ----------
    n_items, swapped, lead : array_like
        n, h and Delta.
    """
    n, h, d = (np.asarray(x, float) for x in (n_items, swapped, lead))
    pairs = n * (n - 1) / 2
    one_sided = _divergence(0.5 + d, np.full_like(d, 0.5)) + _divergence(np.full_like(d, 0.5), 0.5 + d)
    total = h**2 * _divergence(0.5 + d, 0.5 - d) + h * (n - 2 * h) * one_sided
    return 2 * h * (n - h) * d / pairs, total / pairs


def fano(
    log_size: ArrayLike, changed: ArrayLike, divergence: ArrayLike, epsilon: ArrayLike, log_delta: ArrayLike
) -> NDArray[np.float64]:
    r"""Least mean error of guessing which of M hypotheses is true, for every private procedure.

    With M = exp(log_size), D the expected number of voters that a coupling changes and
    :math:`x = (M - 1) e^{-10 \varepsilon D}` it is at least :math:`(0.9 x - 10 (M-1) D \delta) / (1 + x)`, by
    Markov's inequality and the privacy of groups (Theorem A.1), and at least Fano's bound without privacy.

    Parameters
    ----------
    log_size, changed, divergence, epsilon, log_delta : array_like of float
        log M; D; divergence of the data under two hypotheses; epsilon; log delta.
    """
    log_size, changed = np.asarray(log_size, float), np.asarray(changed, float)
    # log(M - 1); minus infinity for M = 1
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        others = np.where(log_size > 0, log_size + np.log1p(-np.exp(-log_size)), -np.inf)
        exponent = others - 10 * np.asarray(epsilon, float) * changed
        leak = np.exp(np.minimum(others + np.log(10 * changed) + log_delta, 700))
        x = np.exp(np.minimum(exponent, 700))
        private = (0.9 * x - leak) / (1 + x)
        plain = 1 - (np.asarray(divergence, float) + math.log(2)) / log_size
    return np.maximum(0, np.maximum(private, np.where(log_size > 0, plain, 0)))


def exact_recovery(
    n_items: Iterable[float], epsilons: Iterable[float], reached: Iterable[float], answers: int = 1
) -> pd.DataFrame:
    r"""Theorem 3.4 with u = 0 on a grid: lower bound on the worst chance of a wrong top set of any size.

    The hypotheses are the top sets that share all but one item: max(k, n - k) + 1 of them, so at least n / 2 + 1, with
    gap c times the rate, c = 1 / (160 L), and delta = epsilon / (10 n log n).

    Parameters
    ----------
    n_items, epsilons : iterable of float
    reached : iterable of float
        Values of the rate; the number of voters follows (a real number).
    answers : int
        L.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``epsilon``, ``rate``, ``voters``, ``c``, ``gap``, ``wrong`` (the bound for the least favourable k),
        ``strength`` (distance of two logistic strengths with that gap), ``risk over rate`` (bound on the largest error
        of any private estimate of centred logistic strengths, k = 1, over the rate).
    """
    grid = pd.DataFrame(product(n_items, epsilons, reached), columns=["items", "epsilon", "rate"]).astype(float)
    n, epsilon, r = (grid[name].to_numpy() for name in ("items", "epsilon", "rate"))
    root = epsilon / 2 * (np.sqrt(1 + 4 * r / epsilon) - 1)
    voters = n * np.log(n) / root**2
    gap = r / (160 * answers)
    tv, kl = draw_distances(n, 1, gap)
    log_delta = np.log(epsilon / (10 * n * np.log(n)))

    def wrong(size: NDArray[np.float64]) -> NDArray[np.float64]:
        return fano(np.log(size), voters * answers * tv, voters * answers * kl, epsilon, log_delta)

    strength = special.logit(0.5 + gap)
    return grid.assign(
        voters=voters,
        c=1 / (160 * answers),
        gap=gap,
        wrong=wrong(np.ceil(n / 2) + 1),
        strength=strength,
        **{"risk over rate": strength / 2 * wrong(n) / r},
    )


#: Grid on which the lower bounds are evaluated: items, epsilon, rate.
ITEMS = tuple(sorted({*range(4, 65), *(int(x) for x in np.geomspace(64, 10**9, 40))}))
EPSILONS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 4.0)
RATES = (1e-6, 1e-3, 0.1, 0.5, 1.0)


def pair_estimate_risk(n_items: int, comparisons: float, scale: float = 0.0, link: Link = LOGISTIC) -> float:
    r"""Upper bound on the worst expected largest error of a plain estimate of centred strengths in [-1, 1].

    It takes the share of wins of every pair, inverts the link and averages over opponents. If each pair is compared mu
    times on average (a sum of independent draws), then except with chance
    :math:`\binom n2 (e^{-\mu/8} + 2 e^{-t^2 \mu})` every pair is compared mu / 2 times and every share is within t; the
    inverse link has slope at most 1 / F'(2). Laplace noise on each of the n (n - 1) counts is at most B except with
    chance :math:`n (n - 1) e^{-B / \text{scale}}`. Where one of these fails the error is at most 2.

    Parameters
    ----------
    n_items : int
    comparisons : float
        mu.
    scale : float
        Of the Laplace noise on the counts of wins of each ordered pair.
    link : Link
    """
    pairs = math.comb(n_items, 2)
    spread = math.sqrt(math.log(8 * pairs * comparisons) / comparisons)
    bound = scale * math.log(2 * pairs * comparisons)
    if 2 * bound >= comparisons / 4:
        return 2.0
    noisy = 2 * bound / (comparisons / 2 - 2 * bound)
    fails = pairs * (math.exp(-comparisons / 8) + 2 * math.exp(-(spread**2) * comparisons))
    fails += 2 * pairs * math.exp(-bound / scale) if scale else 0.0
    return min(2.0, (spread + noisy) / float(link.pdf(2.0)) + 2 * fails)


def published_subset(n_items: int, epsilons: Iterable[float], reached: float = 0.1) -> pd.DataFrame:
    """An estimate that publishes every voter's answer with probability delta = n^-2: (0, delta)-private, L = 1.

    Parameters
    ----------
    n_items : int
    epsilons : iterable of float
        Ever smaller ones; the number of voters is chosen so that n log n / (m epsilon) = reached.
    reached : float

    Returns
    -------
    pandas.DataFrame
        ``items``, ``epsilon``, ``delta``, ``voters``, ``rate``, ``risk`` (upper bound on the worst risk),
        ``over rate``.
    """
    epsilon = np.array(list(epsilons), float)
    delta = float(n_items) ** -2
    voters = np.ceil(n_items * math.log(n_items) / (reached * epsilon))
    r = rate(n_items, voters, epsilon)
    risk = np.array([pair_estimate_risk(n_items, delta * m / math.comb(n_items, 2)) for m in voters])
    return pd.DataFrame(
        {
            "items": n_items,
            "epsilon": epsilon,
            "delta": delta,
            "voters": voters,
            "rate": r,
            "risk": risk,
            "over rate": risk / r,
        }
    )


def same_data(n_items: int, shift: float = 1.0, link: Link = LOGISTIC) -> tuple[float, float]:
    """Two strength vectors of equal items, all at plus and all at minus `shift`.

    Returns
    -------
    tuple of float
        Largest difference of any winning probability, and half the distance of the two vectors: if the first is 0, the
        worst error of every estimate is at least the second.
    """
    up, down = np.full(n_items, shift), np.full(n_items, -shift)
    moved = link.cdf(up[:, None] - up) - link.cdf(down[:, None] - down)
    return float(np.abs(moved).max()), float(np.abs(up - down).max() / 2)


@claim("cai2025:thm-3.2")
def check_thm_3_2() -> Iterator[Check]:
    """Theorem 3.2 over the printed strengths, and over centred ones with delta tied to epsilon."""
    moved, half = same_data(6)
    zero = 1.0  # worst error of the estimate 0, which uses no data
    yield printed("change of the winning probabilities from θ = (1, ..., 1) to −θ", moved, "<=", 0)
    yield printed("worst error of every estimate, private or not, at least; any rate up to 1", half, ">=", 1)
    yield content("least worst error with perfect privacy (the estimate 0) less that without any", zero - half, ">", 0)
    for answers in (1, 5):
        frame = exact_recovery(ITEMS, EPSILONS, RATES, answers)
        what = f"centred: least bound on worst risk over rate, δ = ε/(10 n log n), L = {answers}, {len(frame):,} cases"
        yield amended(what, frame["risk over rate"].min(), ">=", 1 / (800 * answers))
    for n in (2, 10, 100):
        row = published_subset(n, [1e-12 * n**-5.0]).iloc[0]
        at = f"n = {n}, L = 1, ε = {row.epsilon:.3g}, m = {row.voters:.3g}"
        what = f"centred, δ = n^−2 far above ε: answers published with chance δ, worst risk (at most) over rate, {at}"
        yield amended(what, row["over rate"], "<", 1 / 800)


def suboptimality(n_items: int, epsilon: float, voters: Iterable[float], kappa_2: float) -> pd.DataFrame:
    """Risk of the printed estimate against that of another private estimate, L = 1, logistic.

    Returns
    -------
    pandas.DataFrame
        ``voters``, ``printed`` (lower bound, for any strengths of mean 0), ``other`` (upper bound on the worst risk of
        the epsilon-private `pair_estimate_risk` with Laplace(2 / epsilon) noise), ``ratio``.
    """
    m = np.array(list(voters), float)
    other = [pair_estimate_risk(n_items, x / math.comb(n_items, 2), 2 / epsilon) for x in m]
    as_printed = float(mean_noise(n_items)) * LOGISTIC.kappa_1 / kappa_2
    return pd.DataFrame({"voters": m, "printed": as_printed, "other": other, "ratio": as_printed / np.array(other)})


@claim("cai2025:thm-3.2:optimal")
def check_optimal(frame: pd.DataFrame, times: float = 100.0) -> Iterator[Check]:
    """Whether the estimate of Theorem 3.1 is optimal up to a constant; `frame` is that of `estimation_curve`."""
    epsilon, answers = frame.epsilon.iloc[0], int(frame.answers.iloc[0])
    for (kappa_2, power), n in product(((LOGISTIC.kappa_2, 12), (KAPPA_2, 16)), (2, 16)):
        row = suboptimality(n, epsilon, [10.0**power], kappa_2).iloc[0]
        at = f"n = {n}, m = 10^{power}, L = 1, ε = {epsilon:g}, κ2 = {kappa_2:.3g}"
        what = f"risk of the printed estimate over that of a private average of pairs, at least, {at}"
        yield printed(what, row.ratio, "<=", times)
    centred = frame[frame.calibration == "centred"]
    for row in centred.itertuples():
        at = f"n = {row.n_items}, m = {row.voters:,}, {row.strengths} strengths"
        ratio, error = row.mean / row.rate, Z * row.se / row.rate
        what = f"mean error of the centred estimate over the rate, {at}"
        yield amended(what, ratio, "<=", WITHIN, error=error)
    least = exact_recovery(ITEMS, [epsilon], RATES, answers)["risk over rate"].min()
    what = f"worst risk of every private estimate over the rate, L = {answers}, at least"
    yield amended(what, least, ">=", 1 / (800 * answers))


def swapped_pair(n_items: int, place: int, risk: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two centred strength vectors that differ in places K and K + 1 only, which are 100 risks apart and exchanged."""
    if not 1 <= place < n_items:
        raise ValueError(f"place = {place}; it must lie between 1 and {n_items - 1}")
    theta: NDArray[np.float64] = 100 * risk * (np.arange(n_items, 0.0, -1) - (n_items + 1) / 2)
    other = theta.copy()
    other[[place - 1, place]] = theta[[place, place - 1]]
    return theta, other


@claim("cai2025:thm-3.2:proof")
def check_thm_3_2_proof(risk: float = 1e-3) -> Iterator[Check]:
    """The reduction of Appendix B.3: its two vectors, and the delta that its lower bound can use."""
    for n, place in ((2, 1), (5, 2), (5, 4)):
        theta, other = swapped_pair(n, place, risk)
        apart = np.abs(theta - other).max() / risk
        at = f"n = {n}, K = {place}"
        yield printed(f"ℓ∞ distance of the two vectors, in units of the risk, {at}", apart, "<=", 10)
        worst = (theta[place - 1] - theta[place] - 20 * risk) / risk
        what = f"least estimated lead of K over K + 1 within 10 risks of the truth, in risks, {at}"
        yield amended(what, worst, ">", 0)
    many, epsilon = 1000.0, 1.0
    allowed = math.log(epsilon) - math.log(math.log(many)) - 10 * math.log(many)
    what = "log of δ = n^−2 (ω = 1) less log of the δ that Theorem 3.4 allows with u = 1, c0 = 1, n = 1000, ε = 1"
    yield printed(what, -2 * math.log(many) - allowed, "<=", 0)
    ours = math.log(epsilon / (10 * many * math.log(many)))
    what = "log of δ = n^−2 less log of ε/(10 n log n), which suffices here, n = 1000, ε = 1"
    yield amended(what, -2 * math.log(many) - ours, "<=", 0)


# --- Theorem 3.3: noisy counts ---------------------------------------------------------------------------------------


def reversal_bound(n_items: ArrayLike, constant: float, answers: int = 1, noise: float = 1.0) -> NDArray[np.float64]:
    r"""Bound on the chance that two items a gap of C times the rate apart come out in the wrong order.

    It is :math:`n^{-L C^2 / 8.8} + \frac12 n^{-C/s} (1 + \frac{C}{2s} \log n)` for Laplace(s L / epsilon) noise, for
    every number of voters, every epsilon and every matrix of probabilities; the chapter has the proof.

    Parameters
    ----------
    n_items : array_like of float
    constant : float
        C.
    answers : int
        L.
    noise : float
        s: 1 as printed, 2 as privacy needs.
    """
    log_n = np.log(np.asarray(n_items, float))
    far = constant / noise * log_n
    return np.exp(-answers * constant**2 / 8.8 * log_n) + 0.5 * np.exp(-far) * (1 + far / 2)


def failure_bound(n_items: ArrayLike, constant: float, answers: int = 1, noise: float = 1.0) -> NDArray[np.float64]:
    """Bound on the failure of Algorithm 3 over the class of Theorem 3.3: n^2 / 4 pairs of items have to be in order."""
    return np.asarray(n_items, float) ** 2 / 4 * reversal_bound(n_items, constant, answers, noise)


def two_items_failure(voters: int, epsilon: float, gap: float, answers: int = 1) -> float:
    """Exact chance that Algorithm 3 puts two items in the wrong order.

    Parameters
    ----------
    voters, answers : int
    epsilon : float
        Noise as printed, Laplace(answers / epsilon).
    gap : float
        tau_1 - tau_2, at most 1/2: the first item wins with probability 1/2 + gap.
    """
    if not 0 <= gap <= 0.5:
        raise ValueError(f"gap = {gap}; two items have gaps from 0 to 0.5")
    games = voters * answers
    wins = np.arange(games + 1)
    lead = (2 * wins - games) * epsilon / answers
    behind = 0.5 * np.exp(-np.abs(lead)) * (1 + np.abs(lead) / 2)
    return float(stats.binom.pmf(wins, games, 0.5 + gap) @ np.where(lead >= 0, behind, 1 - behind))


def widest_gap(n_items: ArrayLike, tolerance: ArrayLike = 0) -> NDArray[np.float64]:
    """Largest tau_(k-u) - tau_(k+u+1) that any matrix of probabilities has, for every k: 1/2 + u / n."""
    return 0.5 + np.asarray(tolerance, float) / np.asarray(n_items, float)


def least_voters(n_items: int, epsilon: float, gap: float, constant: float = ENOUGH) -> int:
    """The smallest number of voters for which `constant` times the rate is at most `gap`."""
    root = epsilon / 2 * (math.sqrt(1 + 4 * gap / (constant * epsilon)) - 1)
    m = max(1, math.floor(n_items * math.log(n_items) / root**2))
    return m if constant * rate(n_items, m, epsilon) <= gap else m + 1


def voters_needed(n_items: Iterable[int], epsilons: Iterable[float]) -> pd.DataFrame:
    """Voters from which on Theorem 3.3 and its corollary speak of any matrix at all, with our constant.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``epsilon``, ``top set`` (exact recovery of some top set), ``ranking`` (of all items).
    """
    return pd.DataFrame(
        {
            "items": n,
            "epsilon": epsilon,
            "top set": least_voters(n, epsilon, float(widest_gap(n))),
            "ranking": least_voters(n, epsilon, 1 / n),
        }
        for n, epsilon in product(n_items, epsilons)
    )


@claim("cai2025:thm-3.3")
def check_thm_3_3() -> Iterator[Check]:
    """Theorem 3.3 with C = 8: our bound for all cases, and two items exactly where the class begins."""
    n = np.unique(np.r_[2:1000, np.geomspace(1000, 1e12, 50)])
    s = np.linspace(1e-3, 1 / 2.2, 1000)
    steps = float(((np.cosh(s) - 1) / s**2).max())
    yield printed("step of our proof: largest (cosh s − 1)/s² for s up to 1/2.2", steps, "<=", 0.55)
    for answers in (1, 5):
        worst = float((failure_bound(n, ENOUGH, answers) * n**5).max())
        what = f"n^5 × bound on the failure, C = {ENOUGH:g}, L = {answers}, worst of {n.size} n up to 10^12"
        yield printed(what, worst, "<=", 1)
    for epsilon, answers in product((0.1, 1.0, 10.0), (1, 5)):
        m = least_voters(2, epsilon, 0.5)
        exact = two_items_failure(m, epsilon, 0.5, answers)
        what = f"exact failure, 2 items, m = {m:,} (the least), ε = {epsilon:g}, L = {answers}"
        yield printed(what, exact, "<=", 2**-5.0)
        exact = two_items_failure(10 * m, epsilon, float(ENOUGH * rate(2, 10 * m, epsilon)), answers)
        what = f"exact failure, 2 items, m = {10 * m:,}, gap C × rate, ε = {epsilon:g}, L = {answers}"
        yield printed(what, exact, "<=", 2**-5.0)
    m = 10**6
    what = f"widest gap over the gap asked for, u = 0, n = 16, m = {m:,}, ε = 1"
    room = float(widest_gap(16) / (ENOUGH * rate(16, m, 1.0)))
    yield content(what, room, ">=", 1)


def draw_moments(rho: NDArray[np.float64], a: int, b: int) -> dict[str, float]:
    """What one answer adds to N_a - N_b, by listing the pairs and outcomes that it can be.

    Parameters
    ----------
    rho : ndarray of float, shape (items, items)
        Probability that the row's item is preferred; 1/2 on the diagonal.
    a, b : int

    Returns
    -------
    dict of str to float
        ``mean`` and ``second`` moment; ``printed mean`` n (tau_a - tau_b) / pairs; ``closed second``
        (n (tau_a + tau_b) - 1) / pairs; ``direct`` and ``others``: the chances that the pair of a and b, or a win of
        one of them against the first other item, is drawn, and ``joint``, that both are; ``square``, the second moment
        of that second term, and ``printed square``, what Appendix B.4 has for it.
    """
    rho = np.asarray(rho, float)
    n = len(rho)
    if rho.shape != (n, n) or not np.allclose(rho + rho.T, 1):
        raise ValueError(f"rho has shape {rho.shape}; a square matrix with rho + rho.T = 1 is needed")
    pairs = math.comb(n, 2)
    third = next((j for j in range(n) if j not in (a, b)), None)
    tau = rho.mean(1)
    out = dict.fromkeys(("mean", "second", "direct", "others", "joint"), 0.0)
    for winner, loser in product(range(n), repeat=2):
        if winner == loser:
            continue
        chance = rho[winner, loser] / pairs
        term = (winner == a) - (winner == b)
        first, second = {winner, loser} == {a, b}, winner in (a, b) and loser == third
        out["mean"] += chance * term
        out["second"] += chance * term**2
        out["direct"] += chance * first
        out["others"] += chance * second
        out["joint"] += chance * (first and second)
    x, y = (0.0, 0.0) if third is None else (rho[a, third] / pairs, rho[b, third] / pairs)
    return out | {
        "printed mean": n / pairs * (tau[a] - tau[b]),
        "closed second": (n * (tau[a] + tau[b]) - 1) / pairs,
        "square": out["others"],
        "printed square": x * (1 - y) + y * (1 - x),
    }


def random_matrix(n_items: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Winning probabilities, uniform above the diagonal."""
    rho = np.full((n_items, n_items), 0.5)
    first, second = np.triu_indices(n_items, 1)
    rho[first, second] = rng.random(first.size)
    rho[second, first] = 1 - rho[first, second]
    return rho


@claim("cai2025:thm-3.3:proof")
def check_thm_3_3_proof(rng: np.random.Generator) -> Iterator[Check]:
    """Appendix B.4: the mean of the count difference, the independence of its terms, the final bound."""
    sizes = [2, 3, 4, 7, 12]
    moments = [draw_moments(random_matrix(n, rng), 0, 1) for n in sizes for _ in range(5)]
    off = max(abs(x["mean"] - x["printed mean"]) for x in moments)
    cases = f"{len(moments)} random matrices, n = 2 to 12"
    even = draw_moments(np.full((3, 3), 0.5), 0, 1)
    depend = even["joint"] - even["direct"] * even["others"]
    n, constants = np.array([2.0, 3, 4, 6, 16, 100, 1e4, 1e8]), np.arange(0.5, 40.5, 0.5)
    as_printed = np.array([[min(1, x**2 * (x ** -(c**2) + x ** (-c / 4))) for x in n] for c in constants])
    ratio = max(
        float((np.minimum(1, failure_bound(n, c, answers)) / row).max())
        for answers in (1, 2, 5)
        for c, row in zip(constants, as_printed, strict=True)
    )
    second = max(abs(x["second"] - x["closed second"]) for x in moments)
    yield printed(f"error of the printed mean of N_a − N_b per answer, {cases}", off, "<=", ROUNDING)
    yield printed(
        "P(d_0 ≠ 0 and d_j ≠ 0) − product of their chances, one answer, 3 items, ρ = ½", depend, "==", 0, error=ROUNDING
    )
    yield printed(
        "second moment of d_j, 3 items, ρ = ½, against the printed one",
        even["square"],
        "==",
        even["printed square"],
        error=ROUNDING,
    )
    yield printed("proved failure over the printed bound (both cut at 1), C = 0.5 to 40", ratio, "<=", 1)
    yield amended(f"error of (n(τ_a + τ_b) − 1)/pairs as second moment of an answer, {cases}", second, "<=", ROUNDING)
    yield amended(
        "proved failure × n^5, C = 8, L = 1, worst n", float((failure_bound(n, ENOUGH) * n**5).max()), "<=", 1
    )


@claim("cai2025:sec-3.3:rank-all")
def check_rank_all() -> Iterator[Check]:
    """The ranking of all items: the union bound, and whether any matrix has such gaps."""
    n = np.unique(np.r_[2:1000, np.geomspace(1000, 1e12, 50)])
    for answers in (1, 5):
        worst = float((n * (n - 1) / 2 * reversal_bound(n, ENOUGH, answers) * n**4).max())
        what = (
            f"n^4 × bound on a wrong ranking, all pairs, C = {ENOUGH:g}, L = {answers}, worst of {n.size} n up to 10^12"
        )
        yield printed(what, worst, "<=", 1)
    gaps = np.diff(clear_ranking(16).mean(1)[::-1])
    m = 10**6
    what = f"least gap of the clearest ranking over the gap asked for, n = 16, m = {m:,}, ε = 1"
    yield content(what, float(gaps.min() / (ENOUGH * rate(16, m, 1.0))), ">=", 1)


def clear_ranking(n_items: int) -> NDArray[np.float64]:
    """Winning probabilities of items of which the better always wins: all gaps of tau are 1 / n, the most possible."""
    return np.triu(np.ones((n_items, n_items)), 1) + 0.5 * np.eye(n_items)


# --- Theorem 3.4: what no private procedure can do -------------------------------------------------------------------


def random_set_failure(n_items: int, k: int, tolerance: int) -> float:
    """Chance that a set of k items drawn blindly is at Hamming distance above 2u from a given one: no data are used."""
    if not 1 <= k < n_items:
        raise ValueError(f"k = {k}; it must lie between 1 and {n_items - 1}")
    if not 0 <= tolerance <= min(k - 1, n_items - k - 1):
        raise ValueError(f"tolerance = {tolerance}; the paper has 0 to {min(k - 1, n_items - k - 1)}")
    return float(stats.hypergeom.cdf(k - tolerance - 1, n_items, k, k))


def blind_sets(sizes: Iterable[int]) -> pd.DataFrame:
    """Failure of a blindly drawn half of n items at the largest printed tolerance, and at three quarters of k.

    Returns
    -------
    pandas.DataFrame
        ``items``, ``k``, ``largest u``, ``failure``, ``u``, ``failure at u``.
    """
    rows = []
    for n in sizes:
        k = n // 2
        u = min(k - 1, math.ceil(3 * k / 4))
        most = k - 1
        rows.append(
            {
                "items": n,
                "k": k,
                "largest u": most,
                "failure": random_set_failure(n, k, most),
                "u": u,
                "failure at u": random_set_failure(n, k, u),
            }
        )
    return pd.DataFrame(rows)


def tolerant_recovery(
    n_items: Iterable[float],
    tolerances: Iterable[float],
    epsilons: Iterable[float],
    reached: Iterable[float],
    answers: int = 1,
) -> pd.DataFrame:
    r"""Theorem 3.4 with u >= 1 in the range of its proof, at nu_1 = nu_2 = 1/2: lower bound on the worst failure.

    Top sets of k items, 3u <= k <= n - 3u, that exchange up to w = 3u items; M = n^(0.225 u) of them at distances above
    4u; gap c times the rate with c = 1 / (1500 L); delta = epsilon / (u n^(10 u) log n).

    Returns
    -------
    pandas.DataFrame
        ``items``, ``u``, ``epsilon``, ``rate``, ``log size`` (log M), ``log code`` (log of a number of sets that
        certainly exist, by Gilbert's greedy argument), ``changed over printed`` (D over its printed bound), ``fails``.
    """
    grid = pd.DataFrame(
        [
            row
            for row in product(n_items, tolerances, epsilons, reached)
            if row[1] >= 1 and 2 * (1 + NU) * row[1] <= row[0] ** (1 - NU)
        ],
        columns=["items", "u", "epsilon", "rate"],
    ).astype(float)
    n, u, epsilon, r = (grid[name].to_numpy() for name in grid)
    root = epsilon / 2 * (np.sqrt(1 + 4 * r / epsilon) - 1)
    draws = n * np.log(n) / root**2 * answers
    gap, w = r / (1500 * answers), 2 * (1 + NU) * u
    tv, kl = draw_distances(n, w, gap)
    log_size = np.log(np.floor(np.exp(np.minimum(0.9 * NU * NU * u * np.log(n), 30))))
    log_size = np.where(0.9 * NU * NU * u * np.log(n) > 30, 0.9 * NU * NU * u * np.log(n), log_size)
    log_delta = np.log(epsilon) - np.log(u * np.log(n)) - 10 * u * np.log(n)
    half = np.floor(n / 2)
    return grid.assign(
        **{
            "log size": log_size,
            "log code": -stats.hypergeom.logsf(2 * NU * u - 1, half, w, w),
            "changed over printed": tv / (16 * (1 + NU) * u * gap / n),
            "fails": fano(log_size, draws * tv, draws * kl, epsilon, log_delta),
        }
    )


#: Cases of Theorem 3.4 with a tolerance.
LARGE, TOLERANCES = (10**5, 10**6, 10**7, 10**9), (1, 2, 3, 10, 50, 100)


@claim("cai2025:thm-3.4")
def check_thm_3_4() -> Iterator[Check]:
    """Theorem 3.4 for the printed tolerances, and for those of its proof."""
    yield printed("failure of a blindly drawn set, n = 4, k = 2, u = 1", random_set_failure(4, 2, 1), ">=", 0.1)
    for row in blind_sets([6, 10, 100, 1000]).itertuples():
        at = f"n = {row.items}, k = {row.k}"
        yield printed(f"failure of a blindly drawn set, {at}, u = k − 1", row.failure, ">=", 0.1)
        if row.items >= 100:
            yield printed(f"failure of a blindly drawn set, {at}, u = {row.u}", row[-1], ">=", 0.1)
    frame = tolerant_recovery(LARGE, TOLERANCES, EPSILONS, RATES)
    cases = f"{len(frame)} cases, n ≥ 10^5, ν1 = ν2 = ½, c = 1/1500, L = 1"
    yield amended(f"least bound on the worst failure, u ≥ 1, {cases}", frame.fails.min(), ">=", 0.1)
    spare = float((frame["log code"] - frame["log size"]).min())
    yield amended(f"log of sets that exist less log M, {cases}", spare, ">=", 0)
    frame = exact_recovery(ITEMS, EPSILONS, RATES)
    what = f"least bound on the worst failure, u = 0, δ = ε/(10 n log n), c = 1/160, L = 1, {len(frame):,} cases, n ≥ 4"
    yield amended(what, frame.wrong.min(), ">=", 0.1)


def constant_failure(rho: NDArray[np.float64], guess: Iterable[int]) -> float:
    """Failure, 0 or 1, of the procedure that always names the same top set: it is perfectly private."""
    guess = set(guess)
    tau = np.asarray(rho, float).mean(1)
    return float(guess != set(np.argsort(-tau, kind="stable")[: len(guess)].tolist()))


def noiseless_failure(constant: float, epsilon: float, reached: float = 0.1) -> float:
    """Exact chance that noiseless counts miss the better of two items with a gap of `constant` times the rate, L = 1.

    The number of voters is such that n log n / (m epsilon) = reached.
    """
    voters = math.ceil(2 * math.log(2) / (reached * epsilon))
    gap = constant * float(rate(2, voters, epsilon))
    return float(stats.binom.cdf(voters // 2, voters, 0.5 + gap))


@claim("cai2025:thm-3.4:u0")
def check_thm_3_4_u0() -> Iterator[Check]:
    """Exact recovery below the threshold: for one matrix, for every delta, and as a statement about the worst case."""
    for n, k in ((2, 1), (6, 3)):
        rho = np.full((n, n), 0.5)
        rho[:k, k:], rho[k:, :k] = 0.5 + 1e-6, 0.5 - 1e-6
        what = f"failure of always naming the first {k} of {n} items, at a matrix with gap 10^−6"
        yield printed(what, constant_failure(rho, range(k)), ">=", 0.1)
    for epsilon in (1e-8, 1e-10):
        what = f"exact failure of noiseless counts, δ = 1, 2 items, ε = {epsilon:g}, gap 1/160 × the rate"
        yield printed(what, noiseless_failure(1 / 160, epsilon), ">=", 0.1)
    for answers in (1, 5):
        frame = exact_recovery(ITEMS, EPSILONS, RATES, answers)
        what = f"least bound on the worst failure, δ = ε/(10 n log n), gap rate/(160 L), L = {answers}, n ≥ 4, any k"
        yield amended(what, frame.wrong.min(), ">=", 0.1)


@claim("cai2025:thm-3.4:proof")
def check_thm_3_4_proof() -> Iterator[Check]:
    """Appendix B.5: the bound on D, and the two Fano bounds at tolerance 0 and from 1 on."""
    sizes = [(n, u) for n in (10**3, 10**5, 10**9) for u in (1, 5, 10)]
    worst = max(
        float((draw_distances(n, np.arange(1, 3 * u + 1), 0.01)[0] / (16 * (1 + NU) * u * 0.01 / n)).max())
        for n, u in sizes
    )
    none = float(fano(0.0, 0.0, 0.0, 1.0, -np.inf))
    w, n = 3, 10**6  # u = 1: the sets differ in all of their last three items, of which k = n - 3 leaves six
    frame = tolerant_recovery(LARGE, TOLERANCES, EPSILONS, RATES)
    spare = float((frame["log code"] - frame["log size"]).min())
    cases = f"u ≥ 1, {len(frame)} cases, n ≥ 10^5, ν1 = ν2 = ½, C = 1/(1500 L), L = 1"
    yield printed("D over 16(1 + ν2)mLuΔ/n, ν2 = ½, all numbers of exchanged items", worst, "<=", 1)
    yield printed("larger of the two Fano bounds, u = 0, M = n^0 = 1 matrix", none, ">", 0.1)
    yield printed("most sets there are, k = n − 3, u = 1, ν1 = ν2 = ½, n = 10^6, against M", 2 * w // w, ">=", n**0.225)
    yield supplied(f"larger of the two Fano bounds, least, {cases}", frame.fails.min(), ">", 0.1)
    yield supplied(f"D over its printed bound, {cases}", frame["changed over printed"].max(), "<=", 1)
    yield supplied(f"log of sets that exist for k ≤ n/2 less log M, {cases}", spare, ">=", 0)
    yield amended(
        "larger of the two Fano bounds, u = 0, n/2 + 1 sets with one item exchanged, C = 1/160, L = 1, least",
        exact_recovery(ITEMS, EPSILONS, RATES).wrong.min(),
        ">",
        0.1,
    )


def estimation_numbers(frame: pd.DataFrame) -> dict[str, str]:
    """Numbers of the text on Theorem 3.1; `frame` is that of `estimation_curve`."""
    n = int(frame.n_items.min())
    last = frame[(frame.voters == frame.voters.max()) & (frame.n_items == n) & (frame.strengths == "spread")]
    mean = last.set_index("calibration")["mean"]
    return {
        "voter-kappa": f"{KAPPA_2:.1f}",
        "voter-items": f"{n}",
        "voter-most": f"{frame.voters.max():,}",
        "voter-floor": f"{last.floor.iloc[0]:.2f}",
        "voter-printed": f"{mean['as printed']:.2f}",
        "voter-centred": f"{mean['centred']:.4f}",
        "voter-spread": f"{float((frame['mean'] / frame.rate)[frame.calibration != 'as printed'].max()):.1f}",
    }


def count_numbers() -> dict[str, str]:
    """Numbers of the text on Theorem 3.3."""
    n = np.arange(2.0, 1000)
    worst = float((failure_bound(n, ENOUGH) * n**5).max())
    return {
        "voter-cosh": f"{(math.cosh(1 / 2.2) - 1) * 2.2**2:.3f}",
        "voter-eighth": f"{math.ceil(100 * worst) / 100:.2f}",
    }


# --- figures ----------------------------------------------------------------------------------------------------------


_LOOKS = {
    "as printed": CALIBRATION["as printed"],
    "centred": CALIBRATION["corrected"],
    "larger ridge": {"color": COLOURS[2], "marker": "D"},
}


@styled
def draw_estimation_error(frame: pd.DataFrame) -> Figure:
    """Mean largest error of the perturbed MLE against the number of voters, a panel for each number of items."""
    groups = list(frame.groupby("n_items", sort=True))
    figure = Figure(figsize=(3.6 * max(2, len(groups)), 3.9))
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (items, rows) in zip(panels, groups, strict=True):
        for calibration, part in rows.groupby("calibration", sort=False):
            axes.errorbar(
                part.voters, part["mean"], BAR * part.se, capsize=2, label=calibration, **_LOOKS[str(calibration)]
            )
        one = rows.drop_duplicates("voters")
        axes.plot(one.voters, one.rate, color="black", ls="--", lw=1, label="the rate")
        axes.plot(one.voters, one.floor, color="black", ls=":", lw=1.2, label="mean of the noise (exact)")
        axes.set(title=f"{items} items", xlabel="voters", xscale="log", yscale="log")
    panels[0].set_ylabel("largest error of a strength, mean")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return figure
