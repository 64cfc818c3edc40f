"""How much of the true top k every mechanism finds, at equal privacy (companion to Section 2 of the paper)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.experiments.sweep import sweep
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling

#: What is compared: the name a reader sees, and the mechanism at (k, epsilon, delta).
MECHANISMS: dict[str, Callable[[int, float, float, int], Oneshot | Peeling]] = {
    "Laplace, Theorem 2.1": lambda k, epsilon, delta, m: Oneshot(k, 2 * k / epsilon),
    "Laplace, Theorem 2.2": lambda k, epsilon, delta, m: Oneshot(k, printed_scale(k, epsilon, delta, m)),
    "Laplace, our bound": lambda k, epsilon, delta, m: Oneshot.calibrated(k, epsilon, delta),
    "Gumbel": lambda k, epsilon, delta, m: Oneshot.calibrated(k, epsilon, delta, noise="gumbel"),
    "exponential, pure": lambda k, epsilon, delta, m: Oneshot.calibrated(k, epsilon, noise="exponential"),
    "peeling, Laplace": lambda k, epsilon, delta, m: Peeling.calibrated(
        k, epsilon, delta, noise="laplace", composition="optimal"
    ),
}


def printed_scale(k: int, epsilon: float, delta: float, n_items: int) -> float:
    """Theorem 2.2's scale at sensitivity 1, at any epsilon: 8 sqrt(k log(m / delta)) / epsilon."""
    return 8 * math.sqrt(k * math.log(n_items / delta)) / epsilon


def zipf(n_items: int, total: int) -> NDArray[np.int64]:
    """Counts that follow Zipf's law: item i has total / i, i = 1 .. n_items, rounded."""
    return np.rint(total / np.arange(1, n_items + 1)).astype(np.int64)


def recall_draws(
    n_items: int,
    total: int,
    k: int,
    epsilon: float,
    delta: float,
    mechanism: str,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Share of the true top k that a release finds; the first k of `zipf` are the true ones."""
    counts = zipf(n_items, total)
    one = MECHANISMS[mechanism](k, epsilon, delta, n_items)
    return np.array([(one.release(counts, rng).items < k).mean() for _ in range(repetitions)])


def recall(
    ks: Iterable[int],
    epsilons: Iterable[float],
    *,
    repetitions: int,
    n_items: int = 5000,
    total: int = 200_000,
    delta: float = 1e-6,
    jobs: int = 1,
) -> pd.DataFrame:
    """Mean recall: ``k``, ``epsilon``, ``mechanism``, ``mean``, ``se``, ``scale`` of the noise.

    Parameters
    ----------
    ks, epsilons : iterable
        The grid.
    repetitions : int
        Releases a cell, at least 2.
    n_items, total : int
        Of `zipf`.
    delta : float
        In (0, 1).
    jobs : int
        Worker processes.
    """
    common: dict[str, Any] = {"n_items": n_items, "total": total, "delta": delta}
    cells = [
        common | {"k": k, "epsilon": epsilon, "mechanism": mechanism}
        for k in ks
        for epsilon in epsilons
        for mechanism in MECHANISMS
    ]
    frame = sweep(recall_draws, cells, experiment="qiao2021 recall", repetitions=repetitions, jobs=jobs)
    return frame.assign(
        scale=[MECHANISMS[r.mechanism](r.k, r.epsilon, delta, n_items).scale for r in frame.itertuples()]
    )
