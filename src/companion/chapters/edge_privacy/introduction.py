"""What Sections 1 and 2.2 say on the way: who prevails, what privacy hides, what is minimised and how it is tuned."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy import optimize

from companion.chapters.edge_privacy.attack import THETA, all_outcomes, outcome_law, score_terms
from companion.chapters.edge_privacy.estimand import STRENGTHS, adjacency
from companion.chapters.edge_privacy.estimation import rate, ridge
from companion.chapters.edge_privacy.minimax import rates
from companion.chapters.edge_privacy.optimality import lower_bound
from companion.chapters.edge_privacy.private_programs import private_risk
from companion.instruments.allowance import ROUNDING, Z, agree
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.audit.neighbours import edge_data
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, PROBIT, erdos_renyi_counts
from dprank.models.likelihood import mle_from_counts

#: The item with the best average loses to the second more often than not.
UPSET = np.array([[0.5, 0.4, 1.0], [0.6, 0.5, 0.5], [0.0, 0.5, 0.5]])
#: log n at which rates are compared.
LOGS = tuple(math.log(10) * k for k in (2, 6, 12, 100, 300))


@claim("cai2025:sec-1:prevail")
def check_prevail() -> Iterator[Check]:
    """Whether a higher ranked item is the more likely winner: by averages, and in the parametric model."""
    order = np.argsort(-UPSET.mean(1))
    what = "3 items: chance that the first by τ beats the second"
    yield printed(what, UPSET[order[0], order[1]], ">", 0.5, reading="ranked by τ, any chances")
    yield argument("3 items: least lead in τ of an item over the next", -np.diff(UPSET.mean(1)[order]).max(), ">", 0)
    yield agree("3 items: chances of both to win, off 1 in sum", UPSET + UPSET.T - 1)
    theta = np.array(STRENGTHS)
    higher = theta[:, None] > theta
    for link in (LOGISTIC, ARCTAN, PROBIT):
        chance = link.cdf(theta[:, None] - theta)[higher]
        what = f"chance of the stronger item, {higher.sum()} pairs, {link.name} link"
        yield printed(f"least {what}", chance.min(), ">", 0.5, reading="the parametric model")
        weaker = link.cdf(theta - theta[:, None])[higher].min()
        what_else = f"least chance of the weaker item, {link.name} link: the stronger is not certain to win"
        yield printed(what_else, weaker, ">", 0, reading="the parametric model")
        yield amended(f"least {what}", chance.min(), ">", 0.5)


@claim("cai2025:sec-1.1:presence")
def check_presence(n_items: int = 3, epsilons: Iterable[float] = (0.1, 1.0, 3.0)) -> Iterator[Check]:
    """What edge privacy hides: which of two comparisons is in the data, not whether one more is."""
    found = adjacency(n_items)
    # neighbours stay within a part, and parts are as many as numbers of comparisons: the number may be published
    yield argument(f"parts less possible numbers of comparisons, {n_items} items", found.parts, "==", found.totals)
    wins, neighbours = edge_data(2)
    size = np.array([np.sum(it) for it in wins])
    laws = np.array([size == 0, size == 1]) / np.array([[(size == 0).sum()], [(size == 1).sum()]])
    told = 1 - private_risk(laws, 0.0, 0.0, 1 - np.eye(2), neighbours)
    what = "best chance to tell whether a comparison is there, others known, any 0-private output"
    yield printed(what, told, "<=", 0.99, reading="presence against absence", error=ROUNDING)
    for epsilon in epsilons:
        guess = 1 - private_risk(np.eye(2), epsilon, 0.0, 1 - np.eye(2), [(0, 1)])
        at = f"best chance to tell which of two comparisons is there, any ε-private output, ε = {epsilon:g}"
        yield printed(at, guess, "<=", 0.99, reading="which of two units", error=ROUNDING)
        yield amended(f"{at}, less e^ε/(1 + e^ε)", guess - 1 / (1 + math.exp(-epsilon)), "==", 0, error=ROUNDING)


def fitted_lead(of_likelihood: bool, penalty: float) -> float:
    """Strength of the winner less that of the loser, one comparison of two items, minimised with the penalty.

    What is minimised is the likelihood itself, or its negative logarithm, plus penalty / 4 times the squared lead.
    """

    def loss(lead: float) -> float:
        fit = float(LOGISTIC.cdf(lead)) if of_likelihood else -float(LOGISTIC.log_cdf(lead))
        return fit + penalty / 4 * lead**2

    return float(optimize.minimize_scalar(loss, bounds=(-50, 50), method="bounded").x)


@claim("cai2025:sec-1.1:likelihood")
def check_likelihood(penalties: Iterable[float] = (0.01, 1.0)) -> Iterator[Check]:
    """Two items, one comparison: whom the minimiser puts first."""
    for penalty in penalties:
        for says, of, name in ((printed, True, "likelihood"), (amended, False, "negative log-likelihood")):
            what = f"lead of the winner, 2 items, minimised: {name} + (γ/2)‖θ‖², γ = {penalty:g}"
            yield says(what, fitted_lead(of, penalty), ">", 0)
    chance = LOGISTIC.cdf(np.array(STRENGTHS))
    value = -np.log(chance)  # of (2.1), one answer that the first item won
    at = f"2 items, one answer, {len(STRENGTHS)} leads"
    yield printed(f"(2.1) less the likelihood, largest, {at}", np.abs(value - chance).max(), "==", 0, error=ROUNDING)
    yield printed(f"(2.1) less the log-likelihood, largest, {at}", 2 * value.max(), "==", 0, error=ROUNDING)
    off = np.abs(value + LOGISTIC.log_cdf(np.array(STRENGTHS))).max()
    yield amended(f"(2.1) less the negative log-likelihood, largest, {at}", off, "==", 0, error=ROUNDING)


def sparse_rates(logs: Iterable[float], c_1: float = 1.0) -> pd.DataFrame:
    """Rates at the sparsest graph and least epsilon of Theorem 2.1, c_2 = 1: np = c_1 (log n)^1.5, by ``log n``.

    ``over`` is (2.6) over (2.10), ``forced`` (2.6) over the lower bound of Remark 1, where n is a float.
    """
    rows = []
    for log in logs:
        n, epsilon, degree = math.exp(log), log**-0.5, c_1 * log**1.5
        upper = rate(n, degree / n, 1 / epsilon)  # type: ignore[arg-type]
        forced = max(lower_bound(n, epsilon, degree / n)) / 2  # type: ignore[arg-type]
        row = {"log n": log, "over": upper / sum(rates(n, degree / n, epsilon)), "forced": upper / forced}
        rows.append(row)
    return pd.DataFrame(rows)


@claim("cai2025:sec-1.1:optimal")
def check_optimal() -> Iterator[Check]:
    """Whether Theorem 2.2 shows the rate of Theorem 2.1 to be optimal: their ratio along the border of the latter."""
    frame = sparse_rates(LOGS)
    what = "rate of Theorem 2.1 over that of Theorem 2.2, np = (log n)^1.5, ε = 1/√log n: n = 10³⁰⁰ over n = 100"
    yield printed(what, frame.over.iloc[-1] / frame.over.iloc[0], "<=", 1)
    log = frame["log n"]
    closed = (1 + log**-0.25) / (log**-0.25 + 1 / log)
    yield agree("that ratio, off (1 + ℓ^(−1/4))/(ℓ^(−1/4) + 1/ℓ), ℓ = log n", frame.over / closed - 1)
    what = "the same over the lower bound that Remark 1 needs: largest over that at n = 100"
    yield amended(what, frame.forced.max() / frame.forced.iloc[0], "<=", 1)


def shift_of_estimate(items: int = 6, penalty: float = 2.0) -> float:
    """How far the mean of an estimate is from what the noise alone says, random data, theta = (1, ..., 1)."""
    rng = stream("shift of estimate", {})
    played, wins = erdos_renyi_counts(np.ones(items), 1.0, 5, rng=rng)
    noise = rng.laplace(0, 1, wins.shape)
    estimate, _ = mle_from_counts(played[:1], wins - noise, ridge=penalty, tolerance=1e-7)
    return float(np.abs(estimate.mean(1) + noise.mean(1) / penalty).max())


@claim("cai2025:sec-2.2.2:room")
def check_room() -> Iterator[Check]:
    """How far the rates of Theorems 2.1 and 2.2 are apart, at most, over what Theorem 2.1 allows."""
    most, least = 0.0, 0.0
    for log, c_1, c_2, dense, deep in product(LOGS, (0.1, 1.0, 10.0), (0.5, 1.0), range(6), range(4)):
        n = math.exp(log)
        epsilon = (c_2 * log**-0.5) ** (1 - deep / 4)
        lowest = c_1 * log / epsilon
        if lowest > n:
            continue
        degree = lowest * (n / lowest) ** (dense / 5)
        ratio = rate(n, degree / n, 1 / epsilon) / sum(rates(n, degree / n, epsilon))  # type: ignore[arg-type]
        most, least = max(most, ratio / log), max(least, ratio / (1 + log**0.25 / math.sqrt(c_1 * c_2)))
    at, centred, whole = "largest over n, p and ε of Theorem 2.1", "over centred strengths", "over Θ as printed"
    what, smaller = f"(2.6) over (2.10), in units of log n, {at}", "a smaller room"
    yield printed(what, most, "<=", 1, reading=centred)
    yield amended(what, most, "<=", 1)
    yield amended(f"the same over 1 + (log n)^(1/4)/√(c₁c₂), {at}: {smaller}", least, "<=", 1)
    # at (1, ..., 1) data are as at 0, and the mean of θ̃ is −Σw/(γn), 0 on average: an error of 1, by Jensen
    few, many = (1 / sum(rates(n, 1.0, 1.0)) / math.log(n) for n in (1e6, 1e12))
    what = "worst risk of θ̃ over (2.10), in units of log n, at least, θ = (1, …, 1), p = 1, ε = 1"
    yield printed(f"{what}: n = 10¹² over n = 10⁶", many / few, "<=", 1, reading=whole)
    yield agree("mean of θ̃ off −Σw/(γn), a complete graph", shift_of_estimate(), 1e-6)


def tuned(items: int, factors: Iterable[float], scale: float, repetitions: int) -> pd.DataFrame:
    """The perturbed MLE on common data and noise, p = 1, strengths from -1 to 1: ``factor`` of sqrt(n log n).

    ``error`` (mean largest error, less that of the first factor: ``more``, ``se``), ``differ`` (data sets in which the
    order is not that of the first).
    """
    rng, theta = stream("tuned", {"items": items, "scale": scale}), np.linspace(-1, 1, items)
    played, wins = erdos_renyi_counts(theta, 1.0, repetitions, rng=rng)
    noisy = wins - rng.laplace(0, scale, wins.shape)
    first, order, rows = np.zeros(repetitions), np.zeros(wins.shape, np.intp), []
    for i, factor in enumerate(factors):
        estimate, _ = mle_from_counts(played[:1], noisy, ridge=factor * ridge(items, 1.0), tolerance=1e-7)
        error = np.abs(estimate - theta).max(1)
        if not i:
            first, order = error, np.argsort(estimate, 1)
        more = error - first
        row = {"factor": factor, "error": error.mean(), "more": more.mean(), "se": more.std() / math.sqrt(repetitions)}
        rows.append(row | {"differ": int((np.argsort(estimate, 1) != order).any(1).sum())})
    return pd.DataFrame(rows).set_index("factor")


#: Items, few and many, of which the ridge is tuned; factors of the ridge; data sets.
FEW, MANY, FACTORS, TUNED = 30, 300, (1.0, 4.0, 100.0), 40


@claim("cai2025:sec-2.2:tuning")
def check_tuning(repetitions: int = TUNED) -> Iterator[Check]:
    """Whether a large ridge or scale costs accuracy, and whether the best ridge depends on the loss."""
    few, many = tuned(FEW, FACTORS, 8.0, repetitions), tuned(MANY, FACTORS, 8.0, repetitions)
    noisier = tuned(MANY, FACTORS[:1], 80.0, repetitions)
    beyond, closer = "large without bound", "the larger, the less accurate"
    for frame, n, factor, reading in ((many, MANY, FACTORS[2], beyond), (few, FEW, FACTORS[1], closer)):
        row = frame.loc[factor]
        what = f"ℓ∞ error at γ = {factor:g} √(n log n) less that at √(n log n), λ = 8, n = {n}, p = 1"
        yield printed(what, row.more, ">", 0, reading=reading, error=Z * row.se)
    for reading in (beyond, closer):
        what = f"mean ℓ∞ error at λ = 80 over that at λ = 8, n = {MANY}, p = 1"
        yield printed(what, noisier.error.iloc[0] / many.error.iloc[0], ">", 2, reading=reading)
        what = f"data sets of {repetitions} whose order changes with γ, n = {MANY}, p = 1: top sets need no small γ"
        yield printed(what, many.differ.max(), "==", 0, reading=reading)
    row = few.loc[FACTORS[1]]
    yield amended(f"ℓ∞ error spared by four times the ridge, n = {FEW}", -row.more, ">", 0, error=Z * row.se)
    far = FACTORS[2]
    what = f"mean ℓ∞ error at γ = {far:g} √(n log n), n = {MANY}; guessing 0 has 1"
    yield amended(what, many.error[far], "==", 1, error=0.05)


def replaced_attack(n_items: int, k: int, seed: int, own: bool) -> tuple[float, float]:
    """Largest mean attack on a pair, estimate from data with that outcome replaced; from the data if `own`.

    Exact over all outcomes, of an estimator drawn at random; and the most comparisons in which such data differ.
    """
    outcomes, theta = all_outcomes(n_items), THETA[:n_items]
    win = LOGISTIC.cdf(theta[:, None] - theta)
    law, terms = outcome_law(win, outcomes), score_terms(theta, outcomes)
    error = np.random.default_rng(seed).uniform(-1, 1, len(outcomes)) - theta[k]
    index = {outcome.tobytes(): at for at, outcome in enumerate(outcomes)}
    worst, differ = 0.0, 0
    for j in set(range(n_items)) - {k}:
        mean = 0.0
        for at, outcome in enumerate(outcomes):
            for won, chance in ((1, win[k, j]), (0, 1 - win[k, j])):
                new = outcome.copy()
                new[k, j], new[j, k] = won, 1 - won
                differ = max(differ, int((new != outcome).sum()) // 2)
                used = at if own else index[new.tobytes()]
                mean += law[at] * chance * error[used] * terms[at, k, j]
        worst = max(worst, abs(mean))
    return worst, differ


@claim("cai2025:sec-2.2.2:zero")
def check_zero(n_items: int = 3) -> Iterator[Check]:
    """The attack on an estimate from data in which the attacked outcome is an independent copy."""
    cases = [replaced_attack(n_items, k, seed, False) for k in range(n_items) for seed in range(3)]
    worst, differ = np.max(cases, axis=0)
    what = f"{len(cases)} random estimators of {n_items} items, p = 1, all outcomes"
    yield printed(f"comparisons in which Y and its copy differ, most, {what}", differ, "<=", 1)
    yield printed(f"mean attack on the estimate from the copy, largest, {what}", worst, "==", 0, error=ROUNDING)
    own = min(replaced_attack(n_items, k, 0, True)[0] for k in range(n_items))
    yield argument("the same attack on the estimate from the data themselves, least of all items", own, ">", 0.01)
