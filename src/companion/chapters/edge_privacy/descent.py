"""Gradient descent on the perturbed likelihood, its leave-one-out copies and its limit: Appendix A.2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import pandas as pd

from companion.chapters.edge_privacy.tails import C_SPECTRUM, Array, condition_number, gradient, numeric_gradient
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link
from dprank.models.likelihood import mle_from_counts

#: Penalties and chances of a comparison under which Lemma A.4 is watched, its steps, and a step that is small enough.
PENALTIES, CHANCES, STEPS, ETA = (0.5, 5.0, 500.0), (0.0, 0.5, 1.0), 2000, 1e-3
#: Strengths, noise and penalty under which (A.21) is watched, every item beating the next ones.
WATCHED = (np.linspace(-1, 1, 6), 8 * np.cos(np.arange(6.0)), PENALTIES[1])
#: Constants c0, and numbers of items, from the first on and from the second on, at which inequalities are evaluated.
CONSTANTS, ITEMS = (0.1, 1.0, 10.0), (2, 3, 10, 10**3, 10**6, 10**12)
#: Runs whose limit is computed, for each number of items.
RUNS = 3


def leave_one_out(wins: Array, theta: Array, pair: float, link: Link = LOGISTIC) -> Array:
    """Copies of `wins` (A.5), (items, items, items): in copy m those of item m are expected, `pair` times each pair."""
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
    (theta,), _ = mle_from_counts(wins + wins.T, (wins.sum(1) - noise)[None], ridge=gamma, tolerance=1e-12)
    return theta


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


def problem(
    items: int, p: float, scale: float, c0: float, rng: np.random.Generator
) -> tuple[Array, Array, Array, float]:
    """Wins, truth, noise and gamma = c0 sqrt(np log n), logistic link."""
    theta = np.linspace(-1, 1, items)
    wins, noise = draw_wins(theta, p, rng), rng.laplace(0, scale, items)
    return wins, theta, noise, c0 * math.sqrt(items * p * math.log(items))


def step_size(gamma: float, mean: float) -> float:
    """The step of (A.4), logistic link."""
    return 1 / (gamma + 3 * condition_number() * mean)


def reachable(wins: Array, theta: Array, noise: Array, gamma: float, far: float) -> float:
    """How far (A.4) can get from the truth in the l2 norm, if no entry gets farther than `far`.

    Along the ones the Hessian is gamma, else at least gamma and the least curvature within 2 + 2 far times the second
    eigenvalue of the Laplacian; no step adds more than the first one.
    """
    slope = gradient(wins, theta) + gamma * theta + noise
    played = wins + wins.T
    second = np.linalg.eigvalsh(np.diag(played.sum(1)) - played)[1]
    steep = gamma + float(LOGISTIC.curvature(2 + 2 * far)) * second
    return math.hypot(np.linalg.norm(slope - slope.mean()) / steep, slope.sum() / math.sqrt(len(theta)) / gamma)


def watch(items: int, p: float, scale: float, steps: int, c0: float = 1.0, repetition: int = 0) -> dict[str, float]:
    """One run of (A.4) and of all its leave-one-out copies, from the truth, logistic link, kappa_2 = 57.

    ``C1`` to ``C4``: the largest error over its rate; ``l2``: the largest l2 error over `reachable`; ``A.33``: its left
    side over sqrt(np log n) (1 + the largest error of the copy); ``drift``: of the copies' coordinate sums from the
    descent's; ``progress``: what the last 1 % of the steps changed.
    """
    rng = stream("cai2025:prop-a.1", {"items": items, "p": p, "scale": scale, "c0": c0}, repetition)
    wins, theta, noise, gamma = problem(items, p, scale, c0, rng)
    mean = items * p
    eta = step_size(gamma, mean)
    copies = np.concatenate([wins[None], leave_one_out(wins, theta, p)])
    start = np.broadcast_to(theta, (items + 1, items))
    rate, unit = rates(items, mean, scale), math.sqrt(mean * math.log(items))
    most = dict.fromkeys(("C1", "C2", "C3", "C4", "l2", "A.33", "drift", "progress"), 0.0)
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
    far = reachable(wins, theta, noise, gamma, most["C4"] * rate["C4"])
    return most | {"l2": most["C1"] * rate["C1"] / far}


def runs(items: Iterable[int], shares: Iterable[float], scale: float, steps: int) -> pd.DataFrame:
    """`watch` on a grid: ``items``, ``p``, then its numbers."""
    return pd.DataFrame({"items": n, "p": p} | watch(n, p, scale, steps) for n, p in product(items, shares))


@claim("cai2025:lem-a.4")
def check_lemma_a4(items: int = 8) -> Iterator[Check]:
    """Lemma A.4 at its boundary: noise whose sum is as large as the event allows."""
    n, scale = items, 8.0
    theta = np.linspace(-1, 1, n)
    noise = np.full(n, 8 * scale * math.sqrt(math.log(n) / n))
    most, apart = [], []
    for link, p, gamma in product((LOGISTIC, ARCTAN), CHANCES, PENALTIES):
        wins = np.full((n, n), p)  # whoever won: the pulls of two items cancel
        path = descend(wins, theta, noise, gamma, ETA, link)
        sums = np.array([at.sum() for at, _ in zip(path, range(STEPS), strict=False)])
        exact = -(noise.sum() / gamma) * -np.expm1(np.arange(STEPS) * math.log1p(-ETA * gamma))
        most.append(np.abs(sums).max() / (8 * scale * math.sqrt(n * math.log(n)) / gamma))
        apart.append(np.abs(sums - exact).max() / np.abs(exact).max())
    what = f"largest |Σ θ_i| over its bound, {len(most)} cases of link, graph and γ, {len(sums)} steps"
    yield printed(what, max(most), "<=", 1 + ROUNDING)
    yield argument("the same where γ is largest: the bound is attained", most[-1], ">=", 1 - ROUNDING)
    yield printed("largest relative distance of Σ θ_i from its closed form", max(apart), "==", 0, error=ROUNDING)


def delayed(wins: Array, start: Array, noise: Array, gamma: float, eta: float) -> Iterator[Array]:
    """The recursion (A.7) as printed, with the gradient one iterate late; before the start stands the start."""
    before = at = start
    while True:
        yield at
        before, at = at, at - eta * (gradient(wins, before) + gamma * before + noise)


@claim("cai2025:eq-a.7")
def check_eq_a7(items: int = 6, steps: int = 50) -> Iterator[Check]:
    """Whether the leave-one-out recursion is the one that the proofs use: (A.21) at every step."""
    wins, theta, noise, gamma = np.triu(np.ones((items, items)), 1), *WATCHED
    copies = leave_one_out(wins, theta, 1.0)
    start, first = np.broadcast_to(theta, copies.shape[:2]), list[Array]()
    for make, says, index in ((delayed, printed, "t − 1"), (descend, amended, "t")):
        path = [at for at, _ in zip(make(copies, start, noise, gamma, ETA), range(steps), strict=False)]
        moved = [(old, new - old) for old, new in pairwise(path)]
        worst = max(
            np.abs(step + ETA * (gradient(copies, old) + gamma * old + noise)).max() / np.abs(step).max()
            for old, step in moved
        )
        what = f"largest relative residual of (A.21), gradient at {index}, {items} items, {len(moved)} steps"
        yield says(what, worst, "==", 0, error=ROUNDING)
        first.append(path[1])
    yield agree("both recursions, apart after their first step", first[0] - first[1])
    off = gradient(wins, theta) - numeric_gradient(wins, theta, LOGISTIC)
    yield agree("the gradient off central differences", off, 1e-8)
    yield agree("entry m of the gradient of copy m at the truth: no surprise is left", np.diag(gradient(copies, start)))
    kept = max(np.abs(np.delete(np.delete(copy - wins, m, 0), m, 1)).max() for m, copy in enumerate(copies))
    yield argument("what the other items' comparisons change in copy m", kept, "==", 0)


def small_problem(items: int, repetition: int) -> tuple[Array, Array, Array, float]:
    """`problem` on a complete graph with lambda = 8 and c0 = 1."""
    return problem(items, 1.0, 8.0, 1.0, stream("cai2025:prop-2.2:proof", {"items": items}, repetition))


def objective(wins: Array, theta: Array, noise: Array, gamma: float) -> float:
    """The perturbed and penalised negative log-likelihood (A.3), logistic link."""
    fit = -(wins * LOGISTIC.log_cdf(theta[:, None] - theta)).sum()
    return float(fit + gamma / 2 * theta @ theta + noise @ theta)


def contraction(items: int, mean: float, c0: float) -> float:
    """gamma / (gamma + 3 kappa_2 np) over what (A.14) puts for it, c0 / ((c0 + 3 kappa_2) n)."""
    gamma, slope = c0 * math.sqrt(mean * math.log(items)), 3 * condition_number()
    return gamma / (gamma + slope * mean) / (c0 / ((c0 + slope) * items))


def initial_distance(items: int, scale: float, c0: float) -> float:
    """The bound on the first distance over sqrt(n) log(n) (12 / c0 + 1), at the least np that need be covered."""
    mean, log = C_SPECTRUM * scale * math.log(items), math.log(items)
    far = 3 / c0 + 1 + 9 * scale * math.sqrt(log) / (c0 * math.sqrt(mean))
    return far / log / (12 / c0 + 1)


def small_descents(items: int) -> Iterator[tuple[float, float]]:
    """Of small runs: the distance left after n^3 (c0 + 3 kappa_2) / c0 steps over e^(-n^2) and the first distance.

    And that first distance over its bound, the gradient's norm over gamma.
    """
    for repetition in range(RUNS):
        wins, theta, noise, gamma = small_problem(items, repetition)
        limit = minimise(wins, noise, gamma)
        path = descend(wins, theta, noise, gamma, step_size(gamma, items))
        steps = math.ceil((1 + 3 * condition_number()) * items**3)
        last = next(at for t, at in enumerate(path) if t > steps)
        first = float(np.linalg.norm(theta - limit))
        slope = np.linalg.norm(gradient(wins, theta) + gamma * theta + noise)
        left = float(np.linalg.norm(last - limit)) / (math.exp(-(items**2)) * first)
        yield left, gamma * first / float(slope)


def total_failure(items: float) -> float:
    """n^5 times the sum of all failure probabilities, c0 = 1."""
    n = items
    steps = 4 * (1 + 3 * condition_number()) * n**3
    return float(n**5 * (4 * n**-10 + 2 * n**-8 + math.exp((math.log(2) - 1) * n) + steps * n**-8))


@claim("cai2025:prop-2.2:proof")
def check_prop_2_2_proof(items: Sequence[int] = (2, 3, 4)) -> Iterator[Check]:
    """The steps from the induction to Proposition 2.2, each inequality at its boundaries, and small descents."""
    slope, few = 3 * condition_number(), min(ITEMS)
    ratios = [
        contraction(n, mean, c0) for c0, n in product(CONSTANTS, ITEMS) for mean in np.geomspace(1 / math.log(n), n, 9)
    ]
    what = f"(A.14): γ/(γ + 3κ₂np) over c₀/((c₀ + 3κ₂)n), least of {len(ratios)} cases"
    yield printed(what, min(ratios), ">=", 1)
    c0 = min(CONSTANTS)
    closed = few * (c0 + slope) / (c0 + slope * math.sqrt(few / math.log(few)))
    yield agree(f"the same, off its value at n = np = {few}, c₀ = {c0:g}", min(ratios) - closed)
    last, start = np.max([run for n in items for run in small_descents(n)], axis=0)
    sizes = f"n = {min(items)} to {max(items)}, p = 1"
    yield printed(f"distance left after n³(c₀ + 3κ₂)/c₀ steps, over e^(−n²) times the first, {sizes}", last, "<=", 1)
    yield printed(f"γ‖θ* − θ̃‖₂ over the gradient's norm at θ*, {sizes}", start, "<=", 1)
    initial = [
        initial_distance(n, scale, c0)
        for c0, n in product(CONSTANTS, [n for n in ITEMS if n >= 10])
        for scale in (8.0, 8 * math.sqrt(math.log(n)))
    ]
    what = f"bound on ‖θ* − θ̃‖₂ over (12/c₀ + 1) √n log n, n ≥ 10, largest of {len(initial)} cases"
    yield printed(what, max(initial), "<=", 1)
    small = [n**1.5 * math.exp(-(n**2)) for n in range(1, 100)]
    yield printed(f"e^(−n²) √n log n over log n / n, largest of n = 1 to {len(small)}", max(small), "<=", 1)
    yield agree("the same, off 1/e at n = 1", max(small) - 1 / math.e)
    total = max(map(total_failure, np.geomspace(100, 1e9, 15)))
    bound = 4 * (1 + slope) + 1
    yield printed("n⁵ times the sum of all failure probabilities, c₀ = 1, n ≥ 100", total, "<=", bound)
    closed = bound - 1 + 4 / 100**5 + 2 / 100**3 + 100**5 * (2 / math.e) ** 100
    yield agree("the same, off its value at n = 100", total - closed, 1e-6)


@claim("cai2025:prop-2.2:distance")
def check_prop_2_2_distance(items: int = 2) -> Iterator[Check]:
    """The two displays that bound the distance from the truth to the minimiser."""
    wins, theta, noise, gamma = small_problem(items, 0)
    limit = minimise(wins, noise, gamma)
    yield agree("comparisons, off one of every pair", wins + wins.T - 1 + np.eye(items))
    slope = gradient(wins, theta) + gamma * theta + noise
    square = float(np.sum((theta - limit) ** 2))
    fall = objective(wins, limit, noise, gamma) - objective(wins, theta, noise, gamma)
    what = f"{items} items compared once"
    yield printed(f"γ‖θ* − θ̃‖², {what}", gamma * square, "<=", fall - float(slope @ (theta - limit)))
    yield amended(f"(γ/2)‖θ* − θ̃‖², {what}", gamma * square / 2, "<=", fall - float(slope @ (limit - theta)))
    yield amended(f"γ‖θ* − θ̃‖², {what}", gamma * square, "<=", float(slope @ (theta - limit)))
    yield agree("largest entry of the gradient at θ̃", gradient(wins, limit) + gamma * limit + noise)
    step = 1e-6 * np.eye(items)
    numeric = [objective(wins, theta + h, noise, gamma) - objective(wins, theta - h, noise, gamma) for h in step]
    off = np.array(numeric) / 2e-6 - slope
    yield agree("gradient at θ*, off central differences", off, 1e-7)
