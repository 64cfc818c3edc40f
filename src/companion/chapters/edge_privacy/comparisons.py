"""Experiments 1 to 3: losses of the MLE and of counts as items, comparisons and epsilon grow."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments import strengths as sim
from companion.instruments.allowance import Z
from companion.instruments.loss_curves import (
    FLOOR,
    MARKS,
    RELATIVE,
    band,
    draw_losses,
    epsilon_falls,
    epsilon_of,
    monotone,
    shades,
)
from companion.instruments.style import key, note, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.cai2025 import algorithm_1, algorithm_2
from dprank.models.bradley_terry import erdos_renyi_counts
from dprank.pairwise import NoisyCounts, PerturbedMLE, mle_from_counts
from dprank.pairwise.perturbed_mle import Graph


def curvature(n: int, p: float, factor: float = 2.0) -> float:
    """gamma = factor sqrt(n p log n); the authors' code has factor 2, at infinite epsilon as well."""
    return factor * math.sqrt(n * p * math.log(n))


def noisy_wins(epsilon: float, n: int) -> NoisyCounts | sim.WithoutNoise:
    """Algorithm 2 as printed."""
    return sim.WithoutNoise() if math.isinf(epsilon) else algorithm_2(epsilon, n).mechanism


@cache
def edge_mle(
    epsilon: float, n: int, p: float, factor: float = 2.0, equal: bool = False
) -> PerturbedMLE | sim.WithoutNoise:
    """The perturbed MLE of Experiments 1 to 4, as printed or with the noise that epsilon needs."""
    gamma = curvature(n, p, factor)
    if math.isinf(epsilon):
        return sim.WithoutNoise(gamma)
    if not equal:
        return algorithm_1(epsilon, n, ridge=gamma).mechanism
    return _calibrated(epsilon, n, gamma, "public" if p == 1 else "private")


def _calibrated(epsilon: float, n: int, ridge: float, graph: Graph) -> PerturbedMLE:
    """The perturbed MLE with the least noise that epsilon needs."""
    return PerturbedMLE.calibrated(
        epsilon=epsilon, n_items=n, ridge=ridge, graph=graph, unit="comparison", law="continuous"
    )


def public_mle(epsilon: float, n: int, p: float) -> PerturbedMLE | sim.WithoutNoise:
    """The perturbed MLE where everybody may know which pairs were compared: an estimate from noisy counts."""
    gamma = curvature(n, p)
    return sim.WithoutNoise(gamma) if math.isinf(epsilon) else _calibrated(epsilon, n, gamma, "public")


def noisy_net_wins(epsilon: float, n: int) -> NoisyCounts | sim.WithoutNoise:
    """Wins minus losses with the least noise that epsilon needs."""
    if math.isinf(epsilon):
        return sim.WithoutNoise()
    return NoisyCounts.calibrated(epsilon=epsilon, n_items=n, score="net", unit="comparison")


def edge_methods(n: int, p: float, factor: float = 2.0) -> dict[str, sim.Method]:
    """MLE and counts as printed, and the two methods with the least noise that epsilon needs."""
    likelihood = partial(edge_mle, n=n, p=p, factor=factor)
    return {
        "MLE": sim.Method(likelihood, sim.estimated, estimates=True),
        "counts": sim.Method(partial(noisy_wins, n=n), sim.noisy_counts),
        "MLE, equal privacy": sim.Method(partial(likelihood, equal=True), sim.estimated, estimates=True),
        "MLE, public pairs": sim.Method(partial(public_mle, n=n, p=p), sim.estimated, estimates=True),
        "net wins": sim.Method(partial(noisy_net_wins, n=n), sim.noisy_net),
    }


def edge_data(truth: NDArray[np.float64], p: float, rng: np.random.Generator) -> sim.Data:
    """Erdos-Renyi comparisons of the Bradley-Terry-Luce model; strong items are last, as in the authors' code."""
    truth = sim.centred(truth[:, ::-1])
    played, wins = erdos_renyi_counts(truth, p, rng=rng)
    return sim.Data(truth, played[:1] if p == 1 else played, wins, int(rng.integers(2**62)), rng.random(wins.shape))


def edge_draws(
    n: int,
    p: float,
    *,
    epsilons: Sequence[float],
    methods: Sequence[str] = ("MLE", "counts"),
    factor: float = 2.0,
    falls: Sequence[float] = (),
    pairs: Sequence[tuple[str, str]] = (),
    repetitions: int,
    rng: np.random.Generator,
) -> sim.Draws:
    """Losses under edge privacy by epsilon, method and loss, strengths new in every data set; see `curvature`."""
    table = edge_methods(n, p, factor)
    chosen = {name: table[name] for name in methods}

    def draw(rows: int) -> sim.Draws:
        return sim.losses_of(edge_data(sim.strengths(n, rows, rng=rng), p, rng), chosen, epsilons)

    draws = sim.in_chunks(n, repetitions, draw)
    return draws | sim.fallen(draws, falls) | sim.more_missed(draws, pairs)


def edge(
    sizes: Iterable[int],
    probabilities: Iterable[float],
    epsilons: Sequence[float],
    repetitions: int,
    *,
    jobs: int = 1,
    **how: Any,
) -> pd.DataFrame:
    """Experiments 1 to 3: ``n``, ``p``, ``epsilon``, ``method``, ``loss``, ``mean``, ``se``, ``repetitions``.

    `how`: methods, factor, falls and pairs of `edge_draws`.
    """
    return sweep(
        partial(edge_draws, epsilons=epsilons, **how),
        [{"n": int(n), "p": float(p)} for n, p in product(sizes, probabilities)],
        experiment="cai2025 edge",
        repetitions=repetitions,
        outcomes=("epsilon", "method", "loss"),
        jobs=jobs,
    )


def ridge_influence(
    n: int, p: float, factors: Iterable[float], epsilons: Sequence[float], repetitions: int
) -> pd.DataFrame:
    """The MLE's losses against c0 in gamma = c0 sqrt(n p log n), as printed otherwise: ``factor`` and as `edge`."""
    frames = [edge([n], [p], epsilons, repetitions, methods=["MLE"], factor=c).assign(factor=c) for c in factors]
    return pd.concat(frames, ignore_index=True)


def equal_data(sizes: Iterable[int], total: int, epsilons: Sequence[float], repetitions: int) -> pd.DataFrame:
    """Edge privacy with as many comparisons on average whatever the number of items: p = total / pairs; as `edge`."""
    frames = [edge([n], [total / math.comb(n, 2)], epsilons, repetitions) for n in sizes]
    return pd.concat(frames, ignore_index=True)


def exact_recovery(n: int, repetitions: int) -> pd.DataFrame:
    """How often counts without noise find the top k at p = 1, with k - 1 strong items (as printed) and with k."""
    return sweep(
        recovery_draws,
        [{"n": n, "short": short} for short in (1, 0)],
        experiment="cai2025 recovery",
        repetitions=repetitions,
    )


def recovery_draws(n: int, short: int, *, repetitions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draws of `exact_recovery`: 1 where all of the top k are found."""

    def found(rows: int) -> sim.Draws:
        truth = sim.strengths(n, rows, rng=rng, strong=sim.top_size(n) - short)
        wins = erdos_renyi_counts(truth, 1.0, rng=rng)[1]
        return {(): sim.missed(wins, truth, rng.random(wins.shape)) == 0}

    return sim.in_chunks(n, repetitions, found)[()].astype(float)


def same_order(n: int, epsilon: float, repetitions: int, *, rng: np.random.Generator) -> dict[str, float]:
    """Perturbed MLE and noisy counts at p = 1, with one noise of the counts' scale: their provable losses.

    ``differ``: data sets in which any two items are in another order; ``missed``: what the MLE misses more, at most.
    """
    truth = sim.centred(sim.strengths(n, repetitions, rng=rng)[:, ::-1])
    played, wins = erdos_renyi_counts(truth, 1.0, rng=rng)
    counts, fit = noisy_wins(epsilon, n), edge_mle(epsilon, n, 1.0, equal=True)
    noisy = wins + counts.perturb(np.zeros(n), rng, repetitions)
    theta, _ = mle_from_counts(played[:1], noisy, ridge=fit.ridge)
    order = np.argsort(noisy, axis=1)
    steps = np.diff(np.take_along_axis(theta, order, 1), axis=1)
    apart = np.diff(np.take_along_axis(noisy, order, 1), axis=1) > 1e-6
    favour = rng.random(wins.shape)
    more = sim.missed(theta, truth, favour) - sim.missed(noisy, truth, favour)
    return {
        "differ": float(((steps <= 0) & apart).any(1).sum()),
        "missed": float(np.abs(more).max()),
        "MLE": fit.guarantee.epsilon,
        "counts": counts.guarantee.epsilon,
    }


def missing_strong(n: int, number: int) -> int:
    """How many items of a draw lack the strength of the top k, if those with i < k have it, items from `number` on."""
    k, items = sim.top_size(n), np.arange(number, number + n)
    theta = sim.strengths(n, rng=stream("cai2025 gap", {"n": n}), strong=int((items < k).sum()))[0]
    return k - int((theta == theta.max()).sum())


@claim("cai2025:sec-4.1:setup")
def check_setup(sizes: Iterable[int], n: int, repetitions: int) -> Iterator[Check]:
    """Section 4.1.1 as printed: the size of the top set and the strong items, on the sizes of the paper."""
    sizes = list(sizes)
    odd = sum(size % 4 != 0 for size in sizes)
    whole = [size for size in sizes if size % 4 == 0] or [n]
    short = [max(missing_strong(size, number) for size in whole) for number in (0, 1)]
    rate = exact_recovery(n, repetitions)
    gain, error = rate["mean"][1] - rate["mean"][0], math.hypot(*rate.se)
    gap = -math.log(0.7)
    ordered = [np.sort(sim.strengths(size, rng=stream("cai2025 gap", {"n": size}))[0])[::-1] for size in sizes]
    apart = min(theta[sim.top_size(len(theta)) - 1] - theta[sim.top_size(len(theta))] for theta in ordered)
    what = f"of {len(sizes)} numbers of items in Experiments 1 to 4, those with n / 4 not whole"
    yield printed(what, odd, "==", 0, reading="k is n/4, not rounded")
    for number, missing in enumerate(short):
        what = f"items missing from the k strong ones, n / 4 whole, items numbered from {number}"
        yield printed(what, missing, "==", 0, reading=f"k is n/4 rounded, items numbered from {number}")
    yield amended(f"gap of strengths at the top set, i ≤ k and k rounded, {len(sizes)} sizes", apart, ">=", gap)
    what = f"n = {n}, p = 1, ε = ∞: chance to find all of the top k, k strong items minus k − 1"
    yield amended(what, gain, ">", 0, error=Z * error)


@claim("cai2025:exp-1")
def check_exp_1(frame: pd.DataFrame) -> Iterator[Check]:
    """All losses fall as n grows, with new noise and strengths in every replicate."""
    yield from monotone(frame, "n")


@claim("cai2025:exp-1:copeland")
def check_copeland(frame: pd.DataFrame, n: int, repetitions: int, *, rng: np.random.Generator) -> Iterator[Check]:
    """Counts against MLE at p = 1: as printed; with no noise; with equal noise."""
    free = same_order(n, math.inf, repetitions, rng=rng)
    what = f"ε = ∞, n = {n}: most that the MLE missed more than counts, {repetitions} data sets"
    yield printed(what, free["missed"], ">", 0)
    rows = frame[(frame.loss == sim.MISSED) & (frame.method == "MLE") & np.isfinite(frame.epsilon)]
    kept = rows[rows["mean"] >= FLOOR].set_index(["n", "epsilon"]).index
    more = sim.missed_more(frame, "MLE", "counts", ["n"]).loc[kept]
    size, epsilon = where = (more["mean"] - Z * more.se).idxmin()
    what = f"ε = {epsilon:g}, n = {size}: how much more the MLE (noise 8/ε) misses than counts (2/ε)"
    yield printed(what, more["mean"][where], ">", 0, error=Z * more.se[where])
    yield amended("ε = ∞: data sets in which the two orders differ", free["differ"], "==", 0)
    for epsilon in (0.5, 2.5):
        equal = same_order(n, epsilon, repetitions, rng=rng)
        what = f"noise 2/ε for both, ε = {epsilon:g}"
        yield amended(f"{what}: data sets in which the two orders differ", equal["differ"], "==", 0)
        yield amended(f"{what}: loss of the MLE, complete public graph", equal["MLE"], "<=", epsilon)
        yield amended(f"{what}: loss of counts", equal["counts"], "<=", epsilon)


@claim("cai2025:exp-2")
def check_exp_2(frame: pd.DataFrame) -> Iterator[Check]:
    """All losses fall as p grows."""
    yield from monotone(frame, "p")


@claim("cai2025:exp-3")
def check_exp_3(frame: pd.DataFrame) -> Iterator[Check]:
    """All losses fall as epsilon grows, on the same data and along one direction of the noise."""
    yield from epsilon_falls(frame)


@styled
def draw_by_probability(frame: pd.DataFrame) -> Figure:
    """Losses against the chance that a pair is compared, a curve an epsilon (Figure 2)."""
    message = "The more pairs are compared, the smaller is every error"
    figure = draw_losses(frame, "p", "epsilon", message)
    counting, own = figure.axes[3], (frame.variant == "corrected") & (frame.method == "MLE")
    other = frame[own & (frame.loss == sim.MISSED) & np.isinf(frame.epsilon)].sort_values("p")
    counting.plot(other.p, other["mean"], color="0.45", lw=1.2, ls="--", label="estimator, no noise")
    counting.legend(counting.lines[-1:], ["estimator, no noise"], loc="upper right")
    return figure


@styled
def draw_by_epsilon_edge(frame: pd.DataFrame) -> Figure:
    """Losses against epsilon, a curve a probability (Figure 3)."""
    message = "Every error falls as privacy is relaxed"
    return draw_losses(frame, "epsilon", "p", message)


@styled
def draw_equal_data(frame: pd.DataFrame) -> Figure:
    """Losses of `equal_data` against the number of items, a curve an epsilon."""
    few, many = (
        frame[frame.n == n].set_index(["epsilon", "method", "loss"])["mean"] for n in (frame.n.min(), frame.n.max())
    )
    share = (many > few).mean()
    which = "errors" if share == 1 else "most errors" if share > 1 / 2 else "few errors"
    message = f"With the same total of comparisons, {which} grow with the items"
    said = "What ε protects is one comparison; the expected total is the same for any number of items."
    return draw_losses(frame.assign(variant="corrected"), "n", "epsilon", message, said)


@styled
def draw_ridge(frame: pd.DataFrame) -> Figure:
    """Relative l2 error (log) and missed share of the MLE against the factor of gamma, a curve an epsilon."""
    losses = {
        sim.L2: ("log relative error", "error of all strengths"),
        sim.MISSED: ("share of the best missed", "the best that it misses"),
    }
    message = "The pull to zero decides the error, hardly which items are found"
    figure, made = panels(2, message=message, height=2.8)
    for axes, (loss, (label, title)) in zip(made, losses.items(), strict=True):
        groups = list(frame[frame.loss == loss].groupby("epsilon"))
        for colour, mark, (epsilon, part) in zip(shades(len(groups)), MARKS, groups, strict=False):
            band(axes, part.factor, part, color=colour, marker=mark, ms=3.5, label=epsilon_of(epsilon, "ε = "))
        axes.axvline(2, color="black", lw=1, ls="--")
        axes.set(title=title, xlabel="strength of the pull, $c_0$", ylabel=label, xscale="log")
    made[1].set_ylim(bottom=0)
    made[0].plot([], [], "k--", lw=1, label="the authors' choice")
    key(figure, *made[0].get_legend_handles_labels(), columns=5)
    note(figure, f"{RELATIVE} Bands: 95 %.")
    return figure
