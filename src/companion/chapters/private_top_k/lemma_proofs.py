"""The proofs of Lemmas 4.4 and 4.1: their numbers, step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from mpmath import iv
from numpy.typing import ArrayLike

from companion.chapters.private_top_k.lemmas import (
    DELTA,
    EPSILON,
    TAU,
    bennett,
    certified_share,
    chain,
    closeness_limit,
    enclosed,
    our_exponent,
)
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.topk import Array
from companion.ledger.claim import RELATIONS, Check, amended, argument, claim, printed
from dprank.topk.noise_laws import LAPLACE

#: Probabilities and moves, down and up, of the steps of the proof, and moves beyond it; six coins and how each moves.
CHANCES = np.r_[0.0, np.geomspace(1e-9, 0.5, 400), 1 - np.geomspace(1e-9, 0.5, 400), 1.0]
MOVES = np.outer([-1, 1], np.geomspace(1e-4, TAU, 30)).reshape(-1, 1)
WIDE = np.geomspace(1e-4, 0.9, 30)[:, None]
PLACES, CURVE = np.linspace(-2, 3, 51), np.geomspace(1e-3, 1e3, 2000)
COINS = np.array([0.2, 0.4, 0.5, 0.6, 0.7, 0.9]), np.array([1, -1, 1, 1, -1, -1])


def constants() -> pd.DataFrame:
    """The numeric inequalities of the proofs of Lemmas 4.5, 4.4 and 4.1: ``step``, ``printed`` (the bound), ``3.9²``
    and ``3.92`` (values as text, with lost superscripts restored and without; "false" where the inequality is).
    """

    def told(what: str, value: Any, relation: str, bound: str) -> str:
        return f"{float(value.mid):.5f}{'' if enclosed(what, value, relation, bound).outcome else ', false'}"

    restored, literal = chain("restored"), chain("literal")
    frame = pd.DataFrame({"step": what, "printed": f"{RELATIONS[sign]} {bound}"} for what, _, sign, bound in restored)
    return frame.assign(**{"3.9²": [told(*step) for step in restored], "3.92": [told(*step) for step in literal]})


@claim("qiao2021:lem-4.4:constants")
def check_constants() -> Iterator[Check]:
    """The chain with C0 = 3.9 squared; 3.92 contradicts the 3.9 that the proof writes for its root."""
    steps = chain("restored")[1:]
    for step in steps:
        yield enclosed(*step)
    units = [
        (float(value.mid), relation, bound, 10 ** len(bound.partition(".")[2])) for _, value, relation, bound in steps
    ]
    safe = [
        (math.ceil if relation in ("<", "<=") else math.floor)(value * unit) == round(float(bound) * unit)
        for value, relation, bound, unit in units
    ]
    what = f"printed numbers, of {len(steps)}, that are the certified ones rounded to the safe side"
    yield argument(what, sum(safe), "==", len(steps))


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
    inside = CHANCES[1:-1]
    mean = float((np.abs(mean_loss(inside, MOVES)) / MOVES**2 / inside).max())
    width = float((loss_range(CHANCES, MOVES) / np.abs(MOVES)).max())
    u, h = CURVE, bennett(CURVE, np.log)
    best, star, whole = _subset_sums()
    # at q = 0 and for an item that moves down by tau
    least, most = (-math.log1p(-TAU) - TAU) / TAU**2, -math.log1p(-TAU) / TAU
    curve, moment = "h(u) = (1 + u) log(1 + u) − u", "largest abs(mean of a log-ratio)/(τ²q)"
    family = "excess of the best family of sets less the probability of S* (6 items, 3 chosen)"
    rises = "least step of h(u)/u on a grid: increasing, so v h(a/v) falls as v grows"
    yield printed(family, best - star, "<=", 0)
    yield printed(moment, mean, "<=", 1)
    yield printed("largest range of a log-ratio over τ, τ ≤ 0.0072", width, "<=", 1 / (1 - TAU))
    yield printed(f"largest step of h(u)/u² on a grid: decreasing, {curve}", float(np.diff(h / u**2).max()), "<", 0)
    yield printed(rises, float(np.diff(h / u).min()), ">", 0)
    # short of its limit at q = 0 by some q/2
    yield amended(f"{moment}: (−log(1 − τ) − τ)/τ², half will do", mean, "==", least, error=float(inside[0]))
    yield agree("largest range of a log-ratio over τ, off −log(1 − τ)/τ", width - most)
    yield agree("excess of all 64 vectors, off 1 − e^ε", whole)
    # its series begins with u²/2 - u³/6
    yield argument(f"{curve} over u², u = 0.001", float(h[0] / u[0] ** 2), "==", 0.5 - u[0] / 6, error=u[0] ** 2)


def _subset_sums(epsilon: float = 0.2) -> tuple[float, float, float]:
    """By enumeration: best family of 3-subsets, mass of all vectors whose ratio exceeds, excess of all off 1 - e^ε."""
    q, signs = COINS
    moved = q + 0.3 * signs * q * (1 - q)
    z = np.array(list(product((0, 1), repeat=len(q))))
    before, after = (np.where(z, p, 1 - p).prod(1) for p in (q, moved))
    excess, exceeds = before - math.exp(epsilon) * after, before >= math.exp(epsilon) * after
    best = np.maximum(excess, 0)[z.sum(1) == 3].sum()
    return float(best), float(before[exceeds].sum()), float(excess.sum() - 1 + math.exp(epsilon))


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
    widest = float((loss_range(CHANCES, -WIDE) / -np.log1p(-WIDE)).max())  # upwards the same happens to 1 - q
    end = iv.mpf(str(TAU))
    what = "range of ζ of an item that moves down, less the printed bound"
    yield enclosed(f"{what}, q = 0.1, τ = 0.007, certified", left - right, "<=", "0")

    yield amended("largest range of ζ over −log(1 − τ), τ ≤ 0.9, items down or up", widest, "==", 1, error=ROUNDING)
    largest = -iv.log(1 - end) / end
    yield enclosed("−log(1 − 0.0072)/0.0072", largest, "<=", "1.0073", amended)
    ends = np.array([float(left.mid), float(right.mid), float(largest.mid) * TAU])
    plain = loss_range([0.1, 0.1, 0.0], [-0.007, 0.007, -TAU]) - ends
    yield agree("both ranges, and that of q = 0, τ = 0.0072, off their enclosures, largest", np.abs(plain).max())


@claim("qiao2021:lem-4.1:conditioning")
def check_conditioning() -> Iterator[Check]:
    """What the proof of Lemma 4.1 conditions on, and the constant that conditioning on the noisy value gives.

    An item at 0 moves to 1, the scale is 1. Given its noise the other items see it move as well; densities agree. Given
    its noisy value they see shifts of up to 1, and densities a factor e apart.
    """
    displayed, moved = np.abs(PLACES - 1) - np.abs(PLACES), 1.0
    for held, centres in {"g is the noise": (0.0, 0.0), "g is the noisy value": (0.0, moved)}.items():
        before, after = (LAPLACE.log_density(PLACES - centre) for centre in centres)
        off, ratio = (float(np.abs(part).max()) for part in (displayed - (before - after), before - after))
        what = "log ratio of the densities at g for x = 0 and x' = λ"
        yield printed(f"displayed {what}, less the true one, largest", off, "==", 0, reading=held, error=ROUNDING)
        yield amended(f"{what}, {held}, largest", ratio, "==", centres[1], error=ROUNDING)
    constant, c0, c1 = 4, "4", "1.8"
    certain, epsilon, log = certified_share(c0, c1), float(EPSILON), math.log(2 / float(DELTA))
    fewest = float(c0) * log
    tau, t = closeness_limit(fewest, log, epsilon, float(c1)), float(c1) / math.sqrt(float(c0))
    exponent = our_exponent(fewest, tau, epsilon) / log
    shift = 1 / (constant * iv.sqrt(iv.mpf(c0)) * iv.log(2 / iv.mpf(DELTA)))  # 1 / (scale * epsilon)
    total = 2 * iv.exp(shift * iv.mpf(EPSILON)) * iv.mpf(c1) / constant + shift
    lemma = f"given the noisy value: exponent of Lemma 4.4 over log(m/δ), C0 = {c0}, C1 = {c1}, certified"
    share = "given the noisy value: share of ε that λ = 4√(k log(m/δ))/ε uses, k ≥ 4 log(m/δ), certified"
    yield enclosed(lemma, certain, ">=", "1", amended)
    # the certificate gives away epsilon t / (2 (1 + t)) for what the exponent has, and log(1 + tau) for tau - tau²/2
    over, lost = exponent - float(certain.mid), epsilon * t / (2 * (1 + t) * log)
    what = "that exponent at m/δ = 40 less the certified"
    yield argument(what, over, "==", lost, error=epsilon * tau / (3 * log))
    yield enclosed(share, total, "<", "1", amended)
    what = "λ = 4√(k log(m/δ))/ε over k/ε, k ≤ 4 log(m/δ), least: Theorem 2.1 asks for 2"
    yield amended(what, constant / math.sqrt(float(c0)), "==", 2, error=ROUNDING)
