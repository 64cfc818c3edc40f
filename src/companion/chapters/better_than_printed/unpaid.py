"""What is proved to be no worse and is hardly better, or is worse where it was hoped for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scipy.optimize import brentq

from companion.chapters.better_than_printed.agreement import local_rejections
from companion.chapters.better_than_printed.comparisons import conditioned
from companion.chapters.better_than_printed.consensus import DELTA, lost
from companion.chapters.better_than_printed.gain import Factor, measured, over
from companion.chapters.which_method import table as arena
from companion.instruments.sweep import sweep
from dprank import NoisyMatrix, Oneshot
from dprank.privacy.gaussian import zcdp

__all__ = ["exact_over_zcdp", "few_chosen", "kwiksort", "rows", "two_stages_of_three"]


def few_chosen(k: int = 10, items: int = 100) -> Factor:
    """Laplace noise of one pass without a delta over that with one."""
    made: dict[str, Any] = {"epsilon": 0.2, "n_items": items, "k": k, "noise": "laplace", "adjacency": "replace"}
    return over(Oneshot.calibrated(**made).scale, Oneshot.calibrated(**made, delta=DELTA).scale)


def exact_over_zcdp(items: int = 20, epsilon: float = 1.0) -> Factor:
    """Gaussian noise by zero-concentrated privacy over the least by the exact law."""
    ours = NoisyMatrix.calibrated(epsilon=epsilon, delta=DELTA, n_items=items)
    rho = brentq(lambda rho: zcdp(rho, DELTA) - epsilon, 1e-9, epsilon)
    return over(ours.l2_sensitivity / (2 * rho) ** 0.5, ours.scale)


def kwiksort(items: int = 20, people: int = 400, epsilon: float = 1.0) -> Factor:
    """Pairs lost by the full noisy matrix over those lost by KwikSort on fewer pairs, with Gaussian noise."""
    frame = arena.load()
    at: dict[str, Any] = {"items": items, "people": people, "epsilon": epsilon, "delta": DELTA}
    return measured(lost(frame, "NoisyMatrix", **at), lost(frame, "PrivateKwikSort", **at))


def two_stages_of_three(repetitions: int = 200) -> Factor:
    """Chance to see agreement on three items: questions in two stages over one random bit."""
    cells = [{"test": name, "items": 3, "people": 4000, "phi": 0.9} for name in ("LocalTwoStage", "LocalOneBit")]
    found = sweep(local_rejections, cells, experiment="17: two stages", repetitions=repetitions)
    return measured(*(tuple(row) for row in found[["mean", "se"]].to_numpy()))


def rows(repetitions: int = 200) -> Iterator[tuple[str, str, Factor]]:
    """What, at which size, and how many times better it is."""
    yield "A δ for Laplace noise in one pass, few chosen", "10 of 100, ε = 0.2, δ = 1e-6", few_chosen()
    yield "Noise that sums to zero, many items", "100 items, all pairs", conditioned(100)
    yield "The exact law of Gaussian noise, over the route by zCDP", "20 items, ε = 1, δ = 1e-6", exact_over_zcdp()
    yield "KwikSort on fewer pairs, with Gaussian noise", "20 items, 400 voters, ε = 1, δ = 1e-6", kwiksort()
    yield "Questions in two stages, three items", "4,000 voters, φ = 0.9, ε = 1", two_stages_of_three(repetitions)
