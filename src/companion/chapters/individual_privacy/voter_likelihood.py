"""The likelihood of voters' answers, Section 3.2, and the privacy of its perturbed maximum: Appendix B.1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from companion.chapters.edge_privacy.perturbed_likelihood import (
    attained_loss,
    density_check,
    determinants,
    steps_of_the_proof,
)
from companion.instruments.allowance import ROUNDING
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.printed.cai2025 import proposition_3_1
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link


def win_shares(wins: NDArray[np.float64], played: NDArray[np.float64], unseen: float) -> NDArray[np.float64]:
    """The printed share of comparisons won; `unseen` where a pair was never compared and the print divides 0 by 0."""
    return np.where(played > 0, wins / np.maximum(played, 1), unseen)


def likelihood_gaps(n_items: int, answers: int, unseen: float, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Minus log probability of every possible data set, less the printed sum, at eleven strength vectors."""
    first, second = np.triu_indices(n_items, 1)
    pairs = len(first)
    some = stream("cai2025 any strengths", {"n": n_items}).normal(0, 2, (10, n_items))
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
        moved = np.ptp(gaps, axis=0).max()
        yield printed(f"most that the difference moves with θ, {of}", moved, "==", 0, error=ROUNDING)
        constant = abs(gaps / answers - math.log(pairs)).max()
        yield printed(f"difference per answer less log {pairs}, {of}", constant, "==", 0, error=ROUNDING)
        every = (n_items * (n_items - 1)) ** answers
        yield argument(f"data sets that are listed, {link.name}, 0/0 read as {unseen:g}", gaps.shape[1], "==", every)


def derivatives(link: Link, rng: np.random.Generator, n: int = 5, draws: int = 12) -> tuple[float, float, float, float]:
    """How far the printed gradients and Hessian of random answers are from differences; least curvature; product.

    The first of gradients is (B.2), the second (B.3), which are (A.1) and (A.2) for one comparison a pair; the last is
    how far Cauchy's formula, applied twice, is from the ratio of determinants when one answer moves.
    """
    pair = np.array([rng.choice(n, 2, replace=False) for _ in range(draws + 1)])
    along = np.eye(n)[pair[:, 0]] - np.eye(n)[pair[:, 1]]
    y, t = rng.integers(0, 2, draws + 1), rng.normal(0, 1, n)

    def loss(at: NDArray[np.float64], used: slice) -> float:
        x = along[used] @ at
        return float(-(y[used] * link.log_cdf(x) + (1 - y[used]) * link.log_cdf(-x)).sum())

    def slope(at: NDArray[np.float64], used: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        x = along[used] @ at
        f, g = link.pdf(x), link.cdf(x)
        first = (-y[used] * f / g + (1 - y[used]) * f / (1 - g)) @ along[used]
        return first, ((g - y[used]) * f / (g * (1 - g))) @ along[used]

    old, new = slice(0, draws), slice(1, draws + 1)
    steps = 1e-5 * np.eye(n)
    numeric = [(loss(t + e, old) - loss(t - e, old)) / 2e-5 for e in steps]
    bent = np.where(y == 1, link.curvature(along @ t), link.curvature(-along @ t))
    hessian = [np.einsum("k,ki,kj->ij", bent[used], along[used], along[used]) + np.eye(n) for used in (old, new)]
    differences = [(slope(t + e, old)[1] - slope(t - e, old)[1]) / 2e-5 + e / 1e-5 for e in steps]
    kept = hessian[0] - bent[0] * np.outer(along[0], along[0])
    factors = 1 - bent[0] * along[0] @ np.linalg.solve(hessian[0], along[0])
    factors *= 1 + bent[draws] * along[draws] @ np.linalg.solve(kept, along[draws])
    ratio = float(np.linalg.det(hessian[1]) / np.linalg.det(hessian[0]))
    off = max(float(np.abs(it - np.array(numeric)).max()) for it in slope(t, old))
    return (
        off,
        float(np.abs(hessian[0] - differences).max()),
        float(np.linalg.eigvalsh(hessian[0])[0]),
        ratio / factors - 1,
    )


@claim("cai2025:eq-b.3")
def check_derivatives(trials: int = 30) -> Iterator[Check]:
    """The printed gradients and Hessians, the strong convexity, and Cauchy's formula applied twice."""
    rng = stream("cai2025:eq-b.3", {})
    for link in (LOGISTIC, ARCTAN):
        slopes, bends, least, product_ = np.array([derivatives(link, rng) for _ in range(trials)]).T
        of = f"{trials} random data sets of 12 answers about 5 items, {link.name} link"
        yield printed(
            f"(B.2) and (B.3), (A.1) and (A.2), off differences of the likelihood, {of}", slopes.max(), "<=", 1e-8
        )
        yield printed(f"the Hessian off differences of the gradient, {of}", bends.max(), "<=", 1e-8)
        if link is LOGISTIC:
            yield printed(f"least eigenvalue of Hessian and ridge 1, {of}", least.min(), ">=", 1 - ROUNDING)
        ratio = float(np.abs(product_).max())
        yield printed(f"two factors of Cauchy over the ratio of determinants, less 1, {of}", ratio, "<=", ROUNDING)


def loser_gradients(rng: np.random.Generator, n: int = 4, users: int = 3) -> tuple[float, float]:
    """How far (B.2) is from differences of (B.1): with y_lk, of user l and draw k, as printed, and with 1 - y_kl.

    As many draws as users, so that y_lk exists at all; the second term of the Hessian has the same outcome.
    """
    pair = np.array([[rng.choice(n, 2, replace=False) for _ in range(users)] for _ in range(users)])
    along = np.eye(n)[pair[..., 0]] - np.eye(n)[pair[..., 1]]
    y, t = rng.integers(0, 2, (users, users)), rng.normal(0, 1, n)

    def loss(at: NDArray[np.float64]) -> float:
        x = along @ at
        return float(-(y * LOGISTIC.log_cdf(x) + (1 - y) * LOGISTIC.log_cdf(-x)).sum())

    numeric = np.array([(loss(t + e) - loss(t - e)) / 2e-5 for e in 1e-5 * np.eye(n)])
    f, g = LOGISTIC.pdf(along @ t), LOGISTIC.cdf(along @ t)
    slopes = [np.einsum("kl,kli->i", -y * f / g + lost * f / (1 - g), along) for lost in (y.T, 1 - y)]
    off = [float(np.abs(slope - numeric).max()) for slope in slopes]
    return off[0], off[1]


@claim("cai2025:eq-b.2:loser")
def check_loser(trials: int = 20) -> Iterator[Check]:
    """The outcome of the loser in (B.2) and in the Hessian of B.1."""
    rng = stream("cai2025:eq-b.2:loser", {})
    as_printed, right = np.array([loser_gradients(rng) for _ in range(trials)]).T
    of = f"off differences of (B.1), largest of {trials} random data sets, 3 users, 3 draws"
    yield printed(f"(B.2) with y_lk, the answer of user l to draw k, {of}", as_printed.max(), "<=", 1e-8)
    yield amended(f"(B.2) with 1 − y_kl, {of}", right.max(), "<=", 1e-8)


@claim("cai2025:prop-3.1")
def check_prop_3_1(epsilons: Iterable[float], answers: int) -> Iterator[Check]:
    """The same for a voter with several answers."""
    for epsilon in epsilons:
        for link in (LOGISTIC, ARCTAN):
            as_printed = proposition_3_1(epsilon, 2, per_person=answers, link=link).mechanism
            what = f"{link.name} link, L = {answers}, ε = {epsilon:g}"
            yield printed(f"exact privacy loss, {what}", as_printed.guarantee.epsilon, "<=", epsilon)
            reached = attained_loss(as_printed.scale, as_printed.ridge, answers=answers, link=link)
            yield printed(f"log density ratio of explicit neighbours, {what}", reached, "<=", epsilon)


@claim("cai2025:prop-3.1:proof")
def check_prop_3_1_proof(answers: int, trials: int) -> Iterator[Check]:
    """The displayed steps of Appendix B.1: density, rank and determinant."""
    steps = steps_of_the_proof(answers, trials)
    yield density_check(-1)
    for moved in sorted({1, answers}):
        _, rank = determinants(moved, 1.0)
        yield printed(f"rank of the change of the Hessian, L = {moved} disjoint pairs", rank, "<=", moved)
    yield amended(f"largest change of ‖∇R‖₁ over 4Lκ₁, {trials} random cases", steps.gradient.max(), "<=", 1 + ROUNDING)
    for epsilon in (1.0, 10.0):
        ridge = 8 * answers * LOGISTIC.kappa_2 / epsilon
        ratio, _ = determinants(answers, ridge)
        what = f"ratio of determinants, L = {answers} disjoint pairs, ε = {epsilon:g}"
        yield printed(what, ratio, "<=", 1 + 4 * answers * LOGISTIC.kappa_2 / ridge)
        yield amended(f"{what}, against e^(ε/4)", ratio, "<=", math.exp(epsilon / 4))
    yield density_check(1)
    yield amended(f"rank of the change of the Hessian, L = {answers}", rank, "<=", 2 * answers)
