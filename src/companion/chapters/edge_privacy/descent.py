"""Gradient descent on the perturbed likelihood, its leave-one-out copies and its limit: Appendix A.2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd

from companion.chapters.edge_privacy.tails import C_SPECTRUM, Array, condition_number, gradient
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, claim, printed
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link
from dprank.models.likelihood import mle_from_counts


def leave_one_out(wins: Array, theta: Array, pair: float, link: Link = LOGISTIC) -> Array:
    """Copies of `wins` (A.5): in copy m all comparisons of item m are replaced by their expectation.

    `pair` is how often a pair is compared, on average; the copies come first in the shape (items, items, items).
    """
    n = len(wins)
    expected = pair * link.cdf(theta[:, None] - theta)
    item = np.arange(n)
    own = (item[:, None, None] == item[None, :, None]) | (item[:, None, None] == item[None, None, :])
    copies = np.where(own, expected, wins)
    copies[:, item, item] = 0
    return copies


def descend(
    wins: Array, start: Array, noise: Array, gamma: float, eta: float, link: Link = LOGISTIC
) -> Iterator[Array]:
    """Iterates of gradient descent (A.4), from `start` on; broadcasts over copies."""
    theta = start
    while True:
        yield theta
        theta = theta - eta * (gradient(wins, theta, link) + gamma * theta + noise)


def minimise(wins: Array, noise: Array, gamma: float) -> Array:
    """The perturbed MLE, logistic link, gradient below 1e-12."""
    theta, _ = mle_from_counts(wins + wins.T, (wins.sum(1) - noise)[None], ridge=gamma, tolerance=1e-12)
    return theta[0]


def draw_wins(theta: Array, p: float, rng: np.random.Generator) -> Array:
    """Outcomes on an Erdos-Renyi graph, logistic link: 1 where the row beat the column."""
    first, second = np.triu_indices(len(theta), 1)
    met = rng.random(first.size) < p
    won = rng.random(first.size) < LOGISTIC.cdf(theta[first] - theta[second])
    wins = np.zeros((len(theta), len(theta)))
    wins[first, second], wins[second, first] = met & won, met & ~won
    return wins


def rates(items: int, mean: float, scale: float) -> dict[str, float]:
    """Error rates of the hypotheses (A.10) to (A.13), without their constants, in powers of D = np."""
    entry = math.sqrt(math.log(items) / mean) + scale * math.log(items) / mean
    norm = math.sqrt(items * math.log(items) / mean) + scale * math.log(items) / math.sqrt(mean)
    return {"C1": norm, "C2": entry, "C3": entry, "C4": entry}


def watch(items: int, p: float, scale: float, steps: int, c0: float = 1.0, repetition: int = 0) -> dict[str, float]:
    """One run of (A.4) and of all its leave-one-out copies, from the truth, logistic link, kappa_2 = 57.

    Noise is Laplace(`scale`), gamma = c0 sqrt(np log n); `repetition` names the random stream.

    ``C1`` to ``C4``: the largest error over its rate, over all steps; ``A.33``: its left side over sqrt(np log n) (1 +
    the largest error of the copy); ``drift``: difference of the coordinate sums of the copies and of the descent;
    ``progress``: what the last 1 % of the steps changed.
    """
    cell = {"items": items, "p": p, "scale": scale, "c0": c0}
    rng = stream("cai2025:prop-a.1", cell, repetition)
    mean, theta = items * p, np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, p, rng), rng.laplace(0, scale, items)
    gamma = c0 * math.sqrt(mean * math.log(items))
    eta = 1 / (gamma + 3 * condition_number() * mean)
    copies = np.concatenate([wins[None], leave_one_out(wins, theta, p)])
    start = np.broadcast_to(theta, (items + 1, items))
    rate, unit = rates(items, mean, scale), math.sqrt(mean * math.log(items))
    most = dict.fromkeys(("C1", "C2", "C3", "C4", "A.33", "drift", "progress"), 0.0)
    late = start
    for t, all_at in enumerate(descend(copies, start, noise, gamma, eta)):
        if t > steps:
            break
        at, others = all_at[0], all_at[1:]
        error = {
            "C1": float(np.linalg.norm(at - theta)),
            "C2": float(np.abs(np.diag(others) - theta).max()),
            "C3": float(np.linalg.norm(others - at, axis=1).max()),
            "C4": float(np.abs(at - theta).max()),
        }
        for name, value in error.items():
            most[name] = max(most[name], value / rate[name])
        most["drift"] = max(most["drift"], float(np.abs(others.sum(1) - at.sum()).max()))
        if t % 20 == 0:
            gap = np.linalg.norm(gradient(wins, others) - gradient(copies[1:], others), axis=1)
            most["A.33"] = max(most["A.33"], float((gap / (unit * (1 + np.abs(others - theta).max(1)))).max()))
        if t == int(0.99 * steps):
            late = all_at
        most["progress"] = float(np.abs(all_at - late).max())
    return most


def runs(items: Iterable[int], shares: Iterable[float], scale: float, steps: int) -> pd.DataFrame:
    """`watch` on a grid: ``items``, ``p``, then its numbers."""
    return pd.DataFrame({"items": n, "p": p} | watch(n, p, scale, steps) for n, p in product(items, shares))


@claim("cai2025:lem-a.4")
def check_lemma_a4(items: int = 8) -> Iterator[Check]:
    """Lemma A.4 at its boundary: noise whose sum is as large as the event allows."""
    n, scale = items, 8.0
    theta = np.linspace(-1, 1, n)
    noise = np.full(n, 8 * scale * math.sqrt(math.log(n) / n))
    worst, apart = 0.0, 0.0
    for link, p in product((LOGISTIC, ARCTAN), (0.0, 0.5, 1.0)):
        rng = stream("cai2025:lem-a.4", {"items": n, "p": p})
        wins = draw_wins(theta, p, rng)
        for gamma in (0.5, 5.0, 500.0):
            eta = 1 / (gamma + 3 * condition_number(link) * n * max(p, 0.1))
            path = descend(wins, theta, noise, gamma, eta, link)
            sums = np.array([at.sum() for at, _ in zip(path, range(2000), strict=False)])
            exact = -(noise.sum() / gamma) * -np.expm1(np.arange(2000) * math.log1p(-eta * gamma))
            worst = max(worst, np.abs(sums).max() / (8 * scale * math.sqrt(n * math.log(n)) / gamma))
            apart = max(apart, np.abs(sums - exact).max() / np.abs(exact).max())
    yield printed(
        "largest |Σ θ_i| over its bound, 2 links, 3 graphs, 3 values of γ, 2000 steps", worst, "<=", 1 + ROUNDING
    )
    yield printed("largest relative distance of Σ θ_i from its closed form", apart, "<=", ROUNDING)


def delayed(wins: Array, start: Array, noise: Array, gamma: float, eta: float) -> Iterator[Array]:
    """The recursion (A.7) as printed, with the gradient one iterate late; before the start stands the start."""
    before = at = start
    while True:
        yield at
        before, at = at, at - eta * (gradient(wins, before) + gamma * before + noise)


@claim("cai2025:eq-a.7")
def check_eq_a7(items: int = 6, steps: int = 50) -> Iterator[Check]:
    """Whether the leave-one-out recursion is the one that the proofs use: (A.21) at every step."""
    rng = stream("cai2025:eq-a.7", {"items": items})
    theta = np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, 1.0, rng), rng.laplace(0, 8, items)
    copies = leave_one_out(wins, theta, 1.0)
    gamma = math.sqrt(items * math.log(items))
    eta = 1 / (gamma + 3 * condition_number() * items)
    start = np.broadcast_to(theta, copies.shape[:2])
    for make, about in ((delayed, "printed"), (descend, "corrected")):
        path = [at for at, _ in zip(make(copies, start, noise, gamma, eta), range(steps), strict=False)]
        worst = max(
            np.abs(new - (old - eta * (gradient(copies, old) + gamma * old + noise))).max() / np.abs(new - old).max()
            for old, new in pairwise(path)
            if np.abs(new - old).max() > 0
        )
        index = "t − 1" if about == "printed" else "t"
        what = f"largest relative residual of (A.21), gradient at {index}, {items} items, {steps} steps"
        yield Check(what, worst, "<=", ROUNDING, about)


# --- from the descent to its limit -----------------------------------------------------------------------------------


def small_problem(items: int, repetition: int, scale: float = 8.0) -> tuple[Array, Array, Array, float, float]:
    """A complete graph: wins, truth, noise, gamma (c0 = 1) and step."""
    rng = stream("cai2025:prop-2.2:proof", {"items": items}, repetition)
    theta = np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, 1.0, rng), rng.laplace(0, scale, items)
    gamma = math.sqrt(items * math.log(items))
    return wins, theta, noise, gamma, 1 / (gamma + 3 * condition_number() * items)


def objective(wins: Array, theta: Array, noise: Array, gamma: float) -> float:
    """The perturbed and penalised negative log-likelihood (A.3), logistic link."""
    fit = -(wins * LOGISTIC.log_cdf(theta[:, None] - theta)).sum()
    return float(fit + gamma / 2 * theta @ theta + noise @ theta)


@claim("cai2025:prop-2.2:proof")
def check_prop_2_2_proof(items: Sequence[int] = (2, 3, 4)) -> Iterator[Check]:
    """The steps from the induction to Proposition 2.2, each inequality at its boundaries, and small descents."""
    kappa = condition_number()
    contraction, initial = math.inf, 0.0
    for c0 in (0.1, 1.0, 10.0):
        for n in (2, 3, 10, 10**3, 10**6, 10**12):
            for mean in np.geomspace(1 / math.log(n), n, 9):
                gamma = c0 * math.sqrt(mean * math.log(n))
                contraction = min(contraction, gamma / (gamma + 3 * kappa * mean) / (c0 / ((c0 + 3 * kappa) * n)))
        for n in (10, 10**3, 10**6, 10**12):
            for scale in (8.0, 8 * math.sqrt(math.log(n))):
                mean = C_SPECTRUM * scale * math.log(n)  # smaller means need not be covered
                far = 3 / c0 + 1 + 9 * scale * math.sqrt(math.log(n)) / (c0 * math.sqrt(mean))
                initial = max(initial, far / math.log(n) / (12 / c0 + 1))
    last, start = 0.0, 0.0
    for n in items:
        for repetition in range(3):
            wins, theta, noise, gamma, eta = small_problem(n, repetition)
            limit = minimise(wins, noise, gamma)
            steps = math.ceil((1 + 3 * kappa) * n**3)
            path = descend(wins, theta, noise, gamma, eta)
            for _ in range(steps + 1):
                next(path)
            left = np.linalg.norm(next(path) - limit)
            last = max(last, float(left) / (math.exp(-(n**2)) * float(np.linalg.norm(theta - limit))))
            slope = np.linalg.norm(gradient(wins, theta) + gamma * theta + noise)
            start = max(start, gamma * float(np.linalg.norm(theta - limit)) / float(slope))
    small = max(n**1.5 * math.exp(-(n**2)) for n in range(1, 100))
    total = max(
        n**5 * (4 * n**-10 + 2 * n**-8 + math.exp((math.log(2) - 1) * n) + 4 * (1 + 3 * kappa) * n**3 * n**-8)
        for n in np.geomspace(100, 1e9, 15)
    )
    sizes = f"n = {min(items)} to {max(items)}, p = 1"
    yield printed("(A.14): γ/(γ + 3κ₂np) over c₀/((c₀ + 3κ₂)n), least of 162 cases", contraction, ">=", 1 - ROUNDING)
    yield printed(f"distance left after n³(c₀ + 3κ₂)/c₀ steps, over e^(−n²) times the first, {sizes}", last, "<=", 1)
    yield printed(f"γ‖θ* − θ̃‖₂ over the gradient's norm at θ*, {sizes}", start, "<=", 1)
    yield printed("bound on ‖θ* − θ̃‖₂ over (12/c₀ + 1) √n log n, n ≥ 10, largest of 24 cases", initial, "<=", 1)
    yield printed("e^(−n²) √n log n over log n / n, largest of n = 1 to 99", small, "<=", 1)
    yield printed(
        "n⁵ times the sum of all failure probabilities, c₀ = 1, n ≥ 100", total, "<=", 4 * (1 + 3 * kappa) + 1
    )


@claim("cai2025:prop-2.2:distance")
def check_prop_2_2_distance(items: int = 2) -> Iterator[Check]:
    """The two displays that bound the distance from the truth to the minimiser."""
    wins, theta, noise, gamma, _ = small_problem(items, 0)
    limit = minimise(wins, noise, gamma)
    slope = gradient(wins, theta) + gamma * theta + noise
    square = float(np.sum((theta - limit) ** 2))
    fall = objective(wins, limit, noise, gamma) - objective(wins, theta, noise, gamma)
    what = f"{items} items compared once"
    yield printed(f"γ‖θ* − θ̃‖², {what}", gamma * square, "<=", fall - float(slope @ (theta - limit)))
    yield amended(f"(γ/2)‖θ* − θ̃‖², {what}", gamma * square / 2, "<=", fall - float(slope @ (limit - theta)))
    yield amended(f"γ‖θ* − θ̃‖², {what}", gamma * square, "<=", float(slope @ (theta - limit)))
