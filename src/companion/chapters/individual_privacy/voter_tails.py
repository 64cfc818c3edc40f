"""The same tails where voters draw their pairs with replacement: the lemmas of Appendix B.2."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from companion.chapters.edge_privacy.tails import (
    LOWER,
    SIZES,
    SUMS,
    Array,
    condition_number,
    flattest,
    gradient_failure,
    laplace_checks,
    laplace_failure,
    last_linear,
    spectrum_failure,
    two_items_eigenvalue,
)
from companion.instruments.allowance import ROUNDING
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.models.bradley_terry import LOGISTIC

C_GRADIENT_VOTERS, C_SPECTRUM_VOTERS = 2.0, 72.0


def voter_degree_failure(items: int, draws: int) -> tuple[float, float]:
    """The same for pairs drawn with replacement: a degree is Binomial(mL, 2/n); a single one, and the union bound."""
    if items < 2 or draws < 1:
        raise ValueError(f"items = {items}, draws = {draws}; at least 2 items and 1 draw are allowed")
    law = stats.binom(draws, 2 / items)
    one = float(law.cdf(-(-draws // items) - 1) + law.sf(3 * draws // items))
    return one, min(1.0, items * one)


@claim("cai2025:lem-b.1")
def check_lemma_b1(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma B.1 at its boundary mL = 60 n log n, and the Chernoff bound that it uses."""
    exact, chernoff = [], []
    for n in items:
        draws = math.ceil(60 * n * math.log(n))
        one, union = voter_degree_failure(n, draws)
        exact.append(union * float(n) ** 8)
        chernoff.append(one / (2 * math.exp(-draws / (6 * n))))
    grid = f"mL = 60 n log n, n = {min(items)} to {max(items):.0e}"
    few = [(n, draws) for n in (2, 3, 5, 20, 100) for draws in (1, 2, 3, 7, 20, 50, 200)]
    small = max(voter_degree_failure(n, draws)[0] / (2 * math.exp(-draws / (6 * n))) for n, draws in few)
    yield printed(f"largest n⁸ P(some degree outside), {grid}", max(exact), "<=", 1)
    yield printed(f"P(one degree outside) over its Chernoff bound, {grid}", max(chernoff), "<=", 1)
    yield printed("the same, n ≤ 100 and mL ≤ 200", small, "<=", 1)


@claim("cai2025:lem-b.3")
def check_lemma_b3(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """Lemma B.3 from the exact laws: the sum alone within 2 n^-8, as its proof concludes."""
    yield from laplace_checks(items)


@claim("cai2025:lem-b.3:proof")
def check_lemma_b3_proof(items: Sequence[int] = SUMS) -> Iterator[Check]:
    """Which term of the proof's minimum is the smaller one, and what is true where it is the other."""
    n = last_linear()
    quadratic, linear = 8 * math.log(n), 2 * math.sqrt(n * math.log(n))
    what = f"t²/(8nλ²) at t = 8λ √(n log n), n = {n}, against t/(4λ)"
    worst = max(laplace_failure(k)[1] * float(k) ** 8 for k in items)
    grid = f"n = {min(items)} to {max(items):,}"
    yield printed(what, quadratic, "<=", linear)
    yield amended(f"largest n⁸ P(the sum exceeds its bound), {grid}", worst, "<=", 2)


@claim("cai2025:lem-b.2")
def check_lemma_b2(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma B.2 with c = 2, by Bernstein."""
    worst = max(
        gradient_failure(n, 2 * C_GRADIENT_VOTERS * math.log(n) * more, math.sqrt(33)) + 10 * math.log(n)
        for n in items
        for more in (1, 1.5, 3, 10, 1e2, 1e4, 1e8)
    )
    what = f"largest n¹⁰ P(the gradient exceeds its bound), mL ≥ {C_GRADIENT_VOTERS:g} n log n"
    yield printed(f"{what}, n = {min(items)} to {max(items):.0e}", math.exp(worst), "<=", 2)


def coordinate_law(items: int, draws: int) -> tuple[Array, Array]:
    """Exact law of a coordinate of the gradient at theta = 0: values and probabilities.

    Logistic link. Each of `draws` comparisons holds the item with probability 2/n and then adds 1/2 or -1/2.
    """
    step = np.array([1 / items, 1 - 2 / items, 1 / items])
    law = np.ones(1)
    for _ in range(draws):
        law = np.convolve(law, step)
    return np.arange(-draws, draws + 1) / 2, law


@claim("cai2025:lem-b.2:proof")
def check_lemma_b2_proof() -> Iterator[Check]:
    """Whether a coordinate of the gradient is sub-Gaussian with its variance as parameter; Bernstein instead."""
    n, s = 1000, 10.0
    growth = math.log1p(2 / n * (math.cosh(s / 2) - 1))
    yield printed(f"log E exp(s g) per draw, θ* = 0, n = {n}, s = {s:g}", growth, "<=", s**2 / n)
    # one comparison: a coordinate is 1/2 in size with probability 2/n, and S = 2/n
    yield printed("P(|g| > 0.499), θ* = 0, n = 100, one comparison", 2 / 100, "<=", 2 * math.exp(-(0.499**2) * 100 / 4))
    worst = 0.0
    for items, draws in ((100, 1), (100, 40), (10, 100), (30, 300)):
        values, law = coordinate_law(items, draws)
        for t in (np.arange(2 * draws) + 1) / 2 - 1e-9:
            bound = 2 * math.exp(-(t**2) / (2 * (draws / items / 2 + t / 3)))
            worst = max(worst, float(law[np.abs(values) > t].sum()) / bound)
    what = "largest P(|g| > t) / (2 exp(−t²/(S/2 + 2t/3))), all t, four designs"
    yield amended(what, worst, "<=", 1)


@claim("cai2025:lem-b.4")
def check_lemma_b4(items: Sequence[int] = SIZES) -> Iterator[Check]:
    """Lemma B.4 without and with a bound on the true strengths."""
    kappa = condition_number()
    worst = 0.0
    for n in items:
        for more in (1, 2, 10, 100):
            draws = math.ceil(C_SPECTRUM_VOTERS * n * math.log(n)) * more
            low = math.exp(spectrum_failure(n, 2 * draws / (n - 1)))
            worst = max(worst, (low + voter_degree_failure(n, draws)[1]) * float(n) ** 10)
    what = f"largest n¹⁰ P(λ₂ < S/2 or a degree > 3S/2), mL ≥ {C_SPECTRUM_VOTERS:g} n log n, n ≤ {max(items):.0e}"
    yield printed("λ₂ / mL, two items, θ* = (4, −4), at θ = θ*", two_items_eigenvalue(4.0), ">=", 1 / (2 * kappa))
    for says in (supplied, amended):
        yield says(what, worst, "<=", 1)
        curve = "least (−log F)'' at |θ_i − θ_j| ≤ 4, logistic, times κ₂"
        yield says(curve, flattest(LOGISTIC) * kappa, ">=", 1)


def mean_laplacian(items: int) -> Array:
    """Mean of (e_i - e_j)(e_i - e_j)' over all pairs of items."""
    vectors = [np.eye(items)[i] - np.eye(items)[j] for i in range(items) for j in range(i)]
    return np.mean([np.outer(v, v) for v in vectors], 0)


@claim("cai2025:lem-b.4:proof")
def check_lemma_b4_proof() -> Iterator[Check]:
    """Two numbers in the proof of Lemma B.4."""
    for n in (2, 3, 10):
        value = float(np.linalg.eigvalsh(mean_laplacian(n))[1])
        what = f"non-zero eigenvalue of the mean Laplacian, n = {n}"
        yield printed(what, value, "==", 2 / n, error=ROUNDING)
        yield amended(what, value, "==", 2 / (n - 1), error=ROUNDING)
    base, as_printed = math.exp(-LOWER), math.exp(-1 / 8)
    what = "e^(−δ) / (1 − δ)^(1 − δ) at δ = 1/2"
    yield printed(what, base, "==", as_printed, error=ROUNDING)
    yield amended(f"{what}, against e^(−1/8)", base, "<=", as_printed)
