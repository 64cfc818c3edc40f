"""Experiments 5 to 7: losses under individual privacy, as printed, minus the mean, and with the authors' mistakes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any

import numba
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import expit

from companion.chapters.edge_privacy.link_conditions import KAPPA_2
from companion.chapters.individual_privacy.voter_estimation import rate
from companion.instruments import strengths as sim
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.loss_curves import draw_losses, epsilon_falls, label_of, monotone
from companion.instruments.style import styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.cai2025 import algorithm_3, proposition_3_1
from dprank.models.bradley_terry import voter_counts
from dprank.pairwise import NoisyCounts, PerturbedMLE, mle_from_counts
from dprank.privacy.noise import laplace

#: Comparisons of a voter in Experiments 5 to 7.
ANSWERS = 5
#: Stands for gamma = 0 in Experiments 5 to 7 at infinite epsilon: far below the curvature of the likelihood.
TINY = 1e-3
#: Estimates of Experiments 5 to 7 by method: (3.2) as it stands or minus its mean, and the constant in its ridge.
READINGS = {
    "MLE": "(3.2) minus its mean, κ2 = 1/4: the authors' code",
    "MLE, as printed": "(3.2) as printed, κ2 = 1/4",
    "MLE, as printed, κ2": f"(3.2) as printed, κ2 = {KAPPA_2:g} as (A2) asks",
    "MLE, κ2": f"(3.2) minus its mean, κ2 = {KAPPA_2:g}",
}
#: Data sets for the estimates that are not the authors': the mean of the noise makes errors scatter.
MANY = 5000
#: How the figures call the estimates as printed.
VARIANTS = {"MLE, as printed": "as printed", "MLE, as printed, κ2": "other ridge"}


@cache
def voter_mle(
    epsilon: float, n: int, equal: bool = False, kappa_2: float | None = None
) -> PerturbedMLE | sim.WithoutNoise:
    """The perturbed MLE of Experiments 5 to 7: gamma = 2 L / epsilon, or another kappa_2's, and 0 without privacy."""
    if math.isinf(epsilon):
        return sim.WithoutNoise(TINY)
    if not equal:
        return proposition_3_1(epsilon, n, per_person=ANSWERS, kappa_2=kappa_2).mechanism
    gamma = 2 * ANSWERS / epsilon
    return PerturbedMLE.calibrated(
        epsilon=epsilon, n_items=n, ridge=gamma, graph="private", per_person=ANSWERS, law="continuous"
    )


def voter_wins(epsilon: float, n: int) -> NoisyCounts | sim.WithoutNoise:
    """Algorithm 3 as printed."""
    return sim.WithoutNoise() if math.isinf(epsilon) else algorithm_3(epsilon, n, per_person=ANSWERS).mechanism


def voter_counts_mechanism(epsilon: float, n: int, **score: Any) -> NoisyCounts | sim.WithoutNoise:
    """Wins or net wins with the noise that epsilon needs."""
    if math.isinf(epsilon):
        return sim.WithoutNoise()
    return NoisyCounts.calibrated(epsilon=epsilon, n_items=n, per_person=ANSWERS, **score)


def voter_methods(n: int) -> dict[str, sim.Method]:
    """MLE and counts with the printed noise, the former by `READINGS`, and three with the least that epsilon needs.

    Estimates that differ by their means are found once; so use it for one `Data` only.
    """
    likelihood, calibrated = partial(voter_mle, n=n), partial(voter_counts_mechanism, n=n)
    other = partial(likelihood, kappa_2=KAPPA_2)
    found: dict[Any, NDArray[np.float64]] = {}

    def estimate(mechanism: Any, data: sim.Data) -> NDArray[np.float64]:
        if mechanism not in found:
            found[mechanism] = sim.estimated(mechanism, data)
        return found[mechanism]

    def centred_estimate(mechanism: Any, data: sim.Data) -> NDArray[np.float64]:
        return sim.centred(estimate(mechanism, data))

    return {
        "MLE": sim.Method(likelihood, centred_estimate, estimates=True),
        "MLE, as printed": sim.Method(likelihood, estimate, estimates=True),
        "MLE, as printed, κ2": sim.Method(other, estimate, estimates=True),
        "MLE, κ2": sim.Method(other, centred_estimate, estimates=True),
        "counts": sim.Method(partial(voter_wins, n=n), sim.noisy_counts),
        "MLE, equal privacy": sim.Method(partial(likelihood, equal=True), centred_estimate, estimates=True),
        "counts, equal privacy": sim.Method(partial(calibrated, score="wins", law="continuous"), sim.noisy_counts),
        "net wins": sim.Method(partial(calibrated, score="net"), sim.noisy_net),
    }


def wrong_top(x: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The last k of ``argpartition(x, k)`` in every row: what the authors' code takes for the k largest.

    The n - k largest stand there in whatever order numpy's quickselect (median of three), written out here, leaves
    them: newer versions of numpy sort so short an array. Below k = 3 numpy selects in another way.
    """
    if not 3 <= k < x.shape[1]:
        raise ValueError(f"k = {k}; it must lie in 3 .. {x.shape[1] - 1}")
    return np.asarray(_select(np.ascontiguousarray(x, float), k)[:, -k:])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _select(x, k):
    rows, n = x.shape
    order = np.empty((rows, n), np.int64)
    for row in range(rows):
        v, at = x[row], order[row]
        for i in range(n):
            at[i] = i
        low, high = 0, n - 1
        while low + 1 < high:
            # the median of three to the front as the pivot, the least of them behind it
            middle = low + (high - low) // 2
            if v[at[high]] < v[at[middle]]:
                at[high], at[middle] = at[middle], at[high]
            if v[at[high]] < v[at[low]]:
                at[high], at[low] = at[low], at[high]
            if v[at[low]] < v[at[middle]]:
                at[low], at[middle] = at[middle], at[low]
            at[middle], at[low + 1] = at[low + 1], at[middle]
            pivot, left, right = v[at[low]], low + 1, high
            while True:
                left += 1
                while v[at[left]] < pivot:
                    left += 1
                right -= 1
                while pivot < v[at[right]]:
                    right -= 1
                if right < left:
                    break
                at[left], at[right] = at[right], at[left]
            at[low], at[right] = at[right], at[low]
            if right >= k:
                high = right - 1
            if right <= k:
                low = left
        if high == low + 1 and v[at[high]] < v[at[low]]:
            at[high], at[low] = at[low], at[high]
    return order


def missed_as_run(chosen: Any, scores: NDArray[np.float64], data: sim.Data) -> NDArray[np.float64]:
    """What a choice of items misses of the top set that `wrong_top` makes of the truth."""
    wrong = np.zeros(data.truth.shape, bool)
    np.put_along_axis(wrong, wrong_top(data.truth, sim.top_size(data.truth.shape[1])), True, axis=1)
    return 1 - np.take_along_axis(wrong, chosen(scores, data), 1).mean(1)


def wrong_choice(scores: NDArray[np.float64], data: sim.Data) -> NDArray[np.int64]:
    """The top set of the scores by `wrong_top`."""
    return wrong_top(scores, sim.top_size(scores.shape[1]))


def right_choice(scores: NDArray[np.float64], data: sim.Data) -> NDArray[np.int64]:
    """The top set of the scores, ties broken at random."""
    n = scores.shape[1]
    low = n - sim.top_size(n)
    return np.argpartition(scores + 1e-6 * data.chance, low, axis=1)[:, low:]


def voter_draws(
    n: int,
    m: int,
    *,
    epsilons: Sequence[float],
    methods: Sequence[str] = ("MLE", "counts"),
    as_run: bool = False,
    falls: Sequence[float] = (),
    pairs: Sequence[tuple[str, str]] = (),
    repetitions: int,
    rng: np.random.Generator,
) -> sim.Draws:
    """Losses by epsilon, method and loss of m voters with `ANSWERS` answers each.

    As run the estimate is centred and the strengths are not, and the top sets of `missed_as_run` are compared.
    """
    theta = sim.strengths(n, repetitions, rng=rng)
    played, wins = voter_counts(theta, m, ANSWERS, rng=rng)
    truth = theta if as_run else sim.centred(theta)
    data = sim.Data(truth, played, wins, int(rng.integers(2**62)), rng.random(wins.shape))
    known = voter_methods(n)
    table = {name: known[name] for name in methods}
    if as_run:
        for name, choice in (("MLE", wrong_choice), ("counts", right_choice)):
            table[name] = replace(table[name], missed=partial(missed_as_run, choice))
    draws = sim.losses_of(data, table, epsilons)
    return draws | sim.fallen(draws, falls) | sim.more_missed(draws, pairs)


def voter(
    sizes: Iterable[int],
    voters: Iterable[int],
    epsilons: Sequence[float],
    repetitions: int,
    *,
    jobs: int = 1,
    **how: Any,
) -> pd.DataFrame:
    """Experiments 5 to 7: ``n``, ``m``, ``epsilon``, ``method``, ``loss``, ``mean``, ``se``, ``repetitions``.

    `how`: methods, as_run, falls and pairs of `voter_draws`.
    """
    return sweep(
        partial(voter_draws, epsilons=epsilons, **how),
        [{"n": int(n), "m": int(m)} for n, m in product(sizes, voters)],
        experiment="cai2025 voter",
        repetitions=repetitions,
        outcomes=("epsilon", "method", "loss"),
        jobs=jobs,
    )


def counted(
    n: int, m: int, answers: int, epsilon: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draws of what noisy wins miss of the top k, with the noise that `answers` a voter need."""
    theta = sim.strengths(n, repetitions, rng=rng)
    _, wins = voter_counts(theta, m, answers, rng=rng)
    mechanism = NoisyCounts.calibrated(epsilon=epsilon, n_items=n, per_person=answers, score="wins", law="continuous")
    return sim.missed(wins + mechanism.perturb(np.zeros(n), rng, repetitions), theta, rng.random(wins.shape))


def counts_missed(n: int, m: int, answers: int, epsilon: float, repetitions: int) -> pd.DataFrame:
    """Mean of `counted`: a row as of `sweep`."""
    cell = {"n": n, "m": m, "answers": answers, "epsilon": epsilon}
    return sweep(counted, [cell], experiment="cai2025 counted", repetitions=repetitions)


def readings(
    sizes: Iterable[int], voters: Iterable[int], epsilons: Sequence[float], falls: Sequence[float] = ()
) -> pd.DataFrame:
    """Losses of `voter` of the estimates that are not the authors' (`READINGS`), from `MANY` data sets."""
    names = [name for name in READINGS if name != "MLE"]
    return voter(sizes, voters, epsilons, MANY, methods=names, falls=falls)


def pictured(corrected: pd.DataFrame, as_run: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """The three frames of losses in one for a figure: ``variant`` says which, `others` are errors of estimates."""
    shown = others[others.method.isin(VARIANTS) & others.loss.isin((sim.L2, sim.LINF))]
    shown = shown.assign(variant=shown.method.map(VARIANTS), method="MLE")
    shown = shown[shown.epsilon.isin(corrected.epsilon) & np.isfinite(shown.epsilon)]
    return pd.concat([corrected.assign(variant="corrected"), as_run.assign(variant="as run"), shown])


def tiny_ridge(n: int, m: int, ridges: Iterable[float], repetitions: int) -> pd.DataFrame:
    """The unperturbed estimate of m voters with several small ridges: ``ridge``, mean ``log ℓ∞`` and ``log ℓ2``."""
    rows = []
    for gamma in ridges:
        rng = stream("cai2025 tiny ridge", {"n": n, "m": m})
        theta = sim.centred(sim.strengths(n, repetitions, rng=rng))
        played, wins = voter_counts(theta, m, ANSWERS, rng=rng)
        estimate, _ = mle_from_counts(played, wins, ridge=gamma)
        errors = sim.log_errors(sim.centred(estimate), theta)
        rows.append({"ridge": gamma} | {loss: values.mean() for loss, values in errors.items()})
    return pd.DataFrame(rows)


def truth_floor(n: int, repetitions: int, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Log relative l2 error of a perfect centred estimate against strengths as drawn."""
    theta = sim.strengths(n, repetitions, rng=rng)
    return np.log(np.abs(theta.mean(1)) * math.sqrt(n) / np.linalg.norm(theta, axis=1))


def perfect(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """The estimate, of sum 0, from a million comparisons of every pair that come out exactly as expected."""
    many, n = 1e6, theta.shape[1]
    chance = expit(theta[:, :, None] - theta[:, None])
    wins = many * (chance.sum(2) - 1 / 2)
    return sim.centred(mle_from_counts(many * (1 - np.eye(n))[None], wins, ridge=TINY)[0])


@claim("cai2025:sec-4.2:setup")
def check_voter_setup(n: int, repetitions: int, *, rng: np.random.Generator) -> Iterator[Check]:
    """Section 4.2: the relative error of an estimate that is right up to a common shift, which centring settles."""
    theta = sim.strengths(n, repetitions, rng=rng)
    estimate = perfect(theta)
    shift = voter_mle(1.0, n).scale / voter_mle(1.0, n).ridge * laplace(1.0, theta.shape, rng=rng).mean(1)
    drawn, right, moved = (
        np.exp(sim.log_errors(it, truth)[sim.L2])
        for it, truth in (
            (estimate, theta),
            (estimate, sim.centred(theta)),
            (estimate - shift[:, None], sim.centred(theta)),
        )
    )
    floor = np.abs(theta.mean(1)) * math.sqrt(n) / np.linalg.norm(theta, axis=1)
    many = voter([n], [10**6], [math.inf], 40, methods=["MLE"]).set_index("loss").loc[sim.L2]
    form = f"relative ℓ2 error of the estimate from a million comparisons of every pair as expected, n = {n}"
    # the ridge moves an estimate by its share of the curvature, which is at least a tenth of the comparisons of an item
    ridge = TINY / (0.1 * 1e6 * n)
    what = f"{form}, least of {repetitions} draws"
    yield printed(what, drawn.min(), "<=", ridge, reading="θ as drawn, estimate minus its mean: the authors' code")
    what = f"{form}, most of {repetitions} draws"
    yield printed(what, right.max(), "<=", ridge, reading="θ and estimate minus their means")
    what = f"{form} and the shift that noise and ridge give all its entries, median of {repetitions} draws"
    yield printed(what, float(np.median(moved)), "<=", ridge, reading="θ minus its mean, estimate as (3.2) has it")
    what = f"{form}, θ as drawn: most that it is off |mean| √n / norm, {repetitions} draws"
    yield amended(what, np.abs(drawn / floor - 1).max(), "<=", ROUNDING)
    what = f"θ centred, n = {n}, a million voters: log relative ℓ2 error"
    yield amended(what, many["mean"], "<=", -4, error=Z * many.se)


def read(checks: Iterable[Check]) -> Iterator[Check]:
    """Checks of curves, each under the reading that its method belongs to; counts are the same under all."""
    for check in checks:
        method = check.what.partition(", log")[0].partition(", missed")[0]
        yield replace(check, reading=READINGS.get(method, READINGS["MLE"]))


def by_rate(frame: pd.DataFrame) -> Iterator[Check]:
    """How much an error falls from the fewest voters to the most, over the fall of Theorem 3.1's rate (logarithms)."""
    few, many = frame.m.min(), frame.m.max()
    for (method, loss), rows in frame[frame.loss.isin((sim.LINF, sim.L2))].groupby(["method", "loss"], sort=False):
        table = rows.pivot_table(index=["n", "epsilon"], columns="m", values=["mean", "se"]).reset_index()
        theory = np.log(rate(table.n, few, table.epsilon) / rate(table.n, many, table.epsilon))
        share = (table["mean", few] - table["mean", many]) / theory
        at = share.idxmin()
        error = Z * math.hypot(table["se", few][at], table["se", many][at]) / theory[at]
        what = f"{method}, {loss}: fall from {few} to {many} voters over that of the rate of Theorem 3.1, least of "
        what += f"{len(table)}, at ε = {label_of(table.epsilon[at])}; as the theory says: half of it at least"
        yield printed(what, share[at], ">=", 0.5, error=error)


def left_over(frame: pd.DataFrame) -> Iterator[Check]:
    """Share of the way from the error at the least epsilon to that without privacy which is left at the largest."""
    finite = frame.epsilon[np.isfinite(frame.epsilon)]
    for (method, loss), rows in frame[frame.loss.isin((sim.LINF, sim.L2))].groupby(["method", "loss"], sort=False):
        most = rows[rows.m == rows.m.max()].set_index("epsilon")
        first, last, without = (most.loc[it] for it in (finite.min(), finite.max(), math.inf))
        whole = first["mean"] - without["mean"]
        share = (last["mean"] - without["mean"]) / whole
        error = Z * (last.se + without.se + abs(share) * (first.se + without.se)) / whole
        what = f"{method}, {loss}: share of the way from ε = {finite.min():g} to no privacy that is left at ε = "
        what += f"{finite.max():g}, {first.m:g} voters; as the theory and edge privacy have it: at most half"
        yield printed(what, share, "<=", 0.5, error=error)


@claim("cai2025:exp-5")
def check_exp_5(frame: pd.DataFrame, others: pd.DataFrame) -> Iterator[Check]:
    """All losses rise as n grows: the authors' estimate and counts; `others` as (3.2) and (A2) print it."""
    yield from read(monotone(frame, "n", "rise"))
    yield from read(monotone(others, "n", "rise"))
    high = others[(others.method == "MLE, as printed") & (others.loss == sim.L2) & (others.epsilon == 2.5)]
    ends = high.set_index("n").loc[[high.n.min(), high.n.max()]]
    rise, error = ends["mean"].diff().iloc[1], Z * math.hypot(*ends.se)
    between = f"of {sim.L2} from n = {high.n.min()} to {high.n.max()}, ε = 2.5"
    yield printed(f"rise {between}", rise, ">", 0, reading=READINGS["MLE, as printed"], error=error)
    yield amended(f"(3.2) as printed, κ2 = 1/4: fall {between}", -rise, ">", 0, error=error)


@claim("cai2025:exp-6")
def check_exp_6(frame: pd.DataFrame, others: pd.DataFrame) -> Iterator[Check]:
    """All losses fall as m grows, those of an estimate at least half as much as the rate of the theory."""
    for those in (frame, others):
        yield from read(monotone(those, "m"))
        yield from read(by_rate(those))
    yield from beyond(others)


@claim("cai2025:exp-7")
def check_exp_7(frame: pd.DataFrame, others: pd.DataFrame) -> Iterator[Check]:
    """All losses fall as epsilon grows, on the same data and along one direction of the noise, to those without."""
    for those in (frame, others):
        yield from read(epsilon_falls(those))
        yield from read(left_over(those))
    yield from beyond(others)


def beyond(others: pd.DataFrame) -> Iterator[Check]:
    """With most voters and the largest epsilon the estimate as printed is worse than calling all items equal."""
    rows = others[(others.method == "MLE, as printed") & (others.loss == sim.L2) & np.isfinite(others.epsilon)]
    row = rows[(rows.m == rows.m.max()) & (rows.epsilon == rows.epsilon.max())].iloc[0]
    what = f"(3.2) as printed, κ2 = 1/4, n = {row.n}, m = {row.m}, ε = {row.epsilon:g}: {sim.L2}, 0 for all items equal"
    yield amended(what, row["mean"], ">", 0, error=Z * row.se)


@styled
def draw_by_voters(frame: pd.DataFrame) -> Figure:
    """Losses against the number of voters, a curve an epsilon (Figure 6)."""
    message = "With more voters the estimate minus its mean gets better and better"
    return draw_losses(frame, "m", "epsilon", message)


@styled
def draw_by_epsilon_voter(frame: pd.DataFrame) -> Figure:
    """Losses against epsilon, a curve a number of voters (Figure 7)."""
    message = "The estimate minus its mean gets better as privacy is relaxed"
    return draw_losses(frame[np.isfinite(frame.epsilon)], "epsilon", "m", message)
