"""The proofs of Lemmas 4.4 and 4.1: their numbers, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from mpmath import iv
from numpy.typing import ArrayLike

from companion.chapters.private_top_k.lemmas import DELTA, EPSILON, TAU, certified_share, chain, enclosed
from companion.instruments.allowance import ROUNDING
from companion.instruments.topk import Array
from companion.ledger.claim import RELATIONS, Check, amended, claim, printed
from dprank.topk.noise_laws import LAPLACE


def constants() -> pd.DataFrame:
    """The numeric inequalities of the proofs of Lemmas 4.5, 4.4 and 4.1: ``step``, ``printed`` (the bound), ``3.9²``
    and ``3.92`` (values as text, with lost superscripts restored and without; "false" where the inequality is).
    """
    rows = []
    for restored, literal in zip(chain("restored"), chain("literal"), strict=True):
        step, _, relation, bound = restored
        row: dict[str, Any] = {"step": step, "printed": f"{RELATIONS[relation]} {bound:g}"}
        for name, (what, value, *_) in (("3.9²", restored), ("3.92", literal)):
            outcome = enclosed(what, value, relation, bound).outcome
            row[name] = f"{float(value.mid):.5f}{'' if outcome else ', false'}"
        rows.append(row)
    return pd.DataFrame(rows)


@claim("qiao2021:lem-4.4:constants")
def check_constants() -> Iterator[Check]:
    """The chain with C0 = 3.9 squared; 3.92 contradicts the 3.9 that the proof writes for its root."""
    for row in chain("restored")[1:]:
        yield enclosed(*row)


# --- the proof of Lemma 4.4 ------------------------------------------------------------------------------------------


def mean_loss(q: ArrayLike, move: ArrayLike) -> Array:
    """Mean of zeta, the log ratio of an item with q' = q + move * q (1 - q)."""
    q, move = np.asarray(q, float), np.asarray(move, float)
    return q * np.log1p(move * (1 - q)) + (1 - q) * np.log1p(-move * q)


def loss_range(q: ArrayLike, move: ArrayLike) -> Array:
    """Absolute difference of the two values of zeta."""
    q, move = np.asarray(q, float), np.asarray(move, float)
    return np.abs(np.log1p(move * (1 - q)) - np.log1p(-move * q))


@claim("qiao2021:lem-4.4:proof")
def check_proof() -> Iterator[Check]:
    """The steps of the proof of Lemma 4.4 that are not numbers, each at its worst."""
    q = np.r_[0.0, np.geomspace(1e-9, 0.5, 400), 1 - np.geomspace(1e-9, 0.5, 400), 1.0]
    move = np.outer(np.r_[-1, 1], np.geomspace(1e-4, TAU, 30)).reshape(-1, 1)
    inside = q[(q > 0) & (q < 1)]
    mean = float((np.abs(mean_loss(inside, move)) / move**2 / inside).max())
    width = float((loss_range(q, move) / np.abs(move)).max())
    u = np.geomspace(1e-3, 1e3, 2000)
    h = (1 + u) * np.log1p(u) - u
    exact, star = _subset_sums()
    yield printed(
        "excess of the best family of sets less the probability of S* (6 items, 3 chosen)", exact - star, "<=", 0
    )
    yield printed("largest abs(mean of a log-ratio)/(τ²q)", mean, "<=", 1)
    yield printed("largest range of a log-ratio over τ, τ ≤ 0.0072", width, "<=", 1 / (1 - TAU))
    yield printed(
        "largest step of h(u)/u² on a grid: decreasing, h(u) = (1 + u) log(1 + u) − u",
        float(np.diff(h / u**2).max()),
        "<",
        0,
    )
    yield printed(
        "least step of h(u)/u on a grid: increasing, so v h(a/v) falls as v grows", float(np.diff(h / u).min()), ">", 0
    )
    yield amended("largest abs(mean of a log-ratio)/(τ²q): half will do", mean, "<=", 0.503)


def _subset_sums(epsilon: float = 0.2) -> tuple[float, float]:
    """By enumeration: the best family of 3-subsets of 6 items, and the mass of all vectors whose ratio exceeds."""
    q = np.array([0.2, 0.4, 0.5, 0.6, 0.7, 0.9])
    moved = q + 0.3 * np.array([1, -1, 1, 1, -1, -1]) * q * (1 - q)
    z = (np.arange(64)[:, None] >> np.arange(6)) & 1
    before, after = (np.where(z, p, 1 - p).prod(1) for p in (q, moved))
    best = np.maximum(before - math.exp(epsilon) * after, 0)[z.sum(1) == 3].sum()
    return float(best), float(before[before >= math.exp(epsilon) * after].sum())


def range_counterexample(q: str = "0.1", tau: str = "0.007") -> tuple[Any, Any]:
    """Enclosures of both sides of the displayed bound on the range of zeta for an item that moves down."""
    x, t = iv.mpf(q), iv.mpf(tau)
    left = iv.log((1 + t * x) / (1 - t * (1 - x)))
    right = iv.log((1 + t * (1 - x)) / (1 - t * x))
    return left, right


@claim("qiao2021:lem-4.4:range")
def check_range() -> Iterator[Check]:
    """The display before (4.3), which forgets items that move down, and what holds for both directions."""
    left, right = range_counterexample()
    q = np.linspace(0, 1, 1001)
    move = np.outer(np.r_[-1, 1], np.geomspace(1e-4, 0.9, 30)).reshape(-1, 1)
    most = float((loss_range(q, move) / -np.log1p(-np.abs(move))).max())
    what = "range of ζ of an item that moves down, less the printed bound, q = 0.1, τ = 0.007, certified"
    yield enclosed(what, left - right, "<=", 0)
    yield amended("largest range of ζ over −log(1 − τ), τ ≤ 0.9, items up and down", most, "<=", 1 + ROUNDING)
    least = -iv.log(1 - iv.mpf("0.0072")) / iv.mpf("0.0072")
    yield enclosed("−log(1 − 0.0072)/0.0072", least, "<=", 1.0073, "corrected")


# --- the proof of Lemma 4.1 ------------------------------------------------------------------------------------------


@claim("qiao2021:lem-4.1:conditioning")
def check_conditioning() -> Iterator[Check]:
    """What the proof of Lemma 4.1 conditions on, and the constant that conditioning on the noisy value gives.

    An item at 0 moves to 1, the scale is 1. Given its noise the other items see it move as well: shifts of up to 2, and
    densities that agree. Given its noisy value they see shifts of up to 1, and densities a factor e apart.
    """
    g, x, moved = 0.0, 0.0, 1.0
    displayed = abs(g - moved) - abs(g - x)
    noise = abs(g) - abs(g)
    value = float(LAPLACE.log_density(g - x) - LAPLACE.log_density(g - moved))
    constant, c0, c1 = 4, "4", "1.8"
    shift = 1 / (constant * iv.sqrt(iv.mpf(c0)) * iv.log(2 / iv.mpf(DELTA)))  # 1 / (scale * epsilon)
    total = 2 * iv.exp(shift * iv.mpf(EPSILON)) * iv.mpf(c1) / constant + shift
    pure = constant / math.sqrt(float(c0))
    lemma = f"given the noisy value: exponent of Lemma 4.4 over log(m/δ), C0 = {c0}, C1 = {c1}, certified"
    what = "displayed log ratio of the densities at g = 0 for x = 0 and x' = λ, less the true one"
    yield printed(what, displayed - noise, "==", 0, reading="g is the noise")
    yield printed(what, displayed - value, "==", 0, reading="g is the noisy value")
    yield enclosed(lemma, certified_share(c0, c1), ">=", 1, "corrected")
    yield enclosed(
        "given the noisy value: share of ε that λ = 4√(k log(m/δ))/ε uses, k ≥ 4 log(m/δ), certified",
        total,
        "<",
        1,
        "corrected",
    )
    yield amended("λ = 4√(k log(m/δ))/ε over k/ε, k ≤ 4 log(m/δ), least: Theorem 2.1 asks for 2", pure, ">=", 2)
