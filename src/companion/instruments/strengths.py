"""Simulated comparisons of items of two kinds, and what a method of ranking them loses (Cai et al. 2025, Section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from dprank.pairwise import mle_from_counts
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.noise import laplace

#: Relative errors on the log scale, and the share of the true top k that was missed.
LINF, L2, MISSED = "log ℓ∞", "log ℓ2", "missed"
#: How much more of the top k a method misses than another, on the same data.
MORE = "missed more than"
#: Entries of tables of comparisons held at once.
CHUNK = 2**23
Draws = dict[tuple[Any, ...], NDArray[np.float64]]


def top_size(n: int) -> int:
    """k, as the authors' code rounds n / 4."""
    return round(n / 4)


def strengths(n: int, rows: int = 1, *, rng: np.random.Generator, strong: int | None = None) -> NDArray[np.float64]:
    """Strengths of Section 4.1.1, uncentred: exp(theta) is 1 for the first k, or uniform on (0.2, 0.7).

    A draw a row; `strong`, if given, takes the place of k.
    """
    strong = top_size(n) if strong is None else strong
    return np.hstack([np.zeros((rows, strong)), np.log(rng.uniform(0.2, 0.7, (rows, n - strong)))])


def centred(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows minus their means."""
    return theta - theta.mean(axis=-1, keepdims=True)


def log_errors(estimate: NDArray[np.float64], theta: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Logarithms of the relative errors of Section 4.1.1, a number a row."""
    off = estimate - theta
    return {
        LINF: np.log(np.abs(off).max(1) / np.abs(theta).max(1)),
        L2: np.log(np.linalg.norm(off, axis=1) / np.linalg.norm(theta, axis=1)),
    }


def missed(scores: ArrayLike, theta: ArrayLike, favour: ArrayLike) -> NDArray[np.float64]:
    """Share of the k strongest items that are not among the k highest scores, a number a row.

    The strongest tie in theta; of scores equal up to 1e-6 the one with the higher favour, in [-1, 1], comes first.
    """
    theta, broken = np.asarray(theta), np.asarray(scores) + 1e-6 * np.asarray(favour)
    k = top_size(theta.shape[1])
    chosen = np.argpartition(-broken, k - 1, axis=1)[:, :k]
    lowest = -np.partition(-theta, k - 1, axis=1)[:, k - 1]
    return 1 - (np.take_along_axis(theta, chosen, 1) >= lowest[:, None]).mean(1)


def in_chunks(n: int, repetitions: int, draw: Callable[[int], Draws]) -> Draws:
    """Draws of so many data sets, a chunk of them at a time: whole tables of comparisons take much room."""
    step = max(1, CHUNK // n**2)
    parts = [draw(min(step, repetitions - start)) for start in range(0, repetitions, step)]
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


@dataclass(frozen=True)
class Data:
    """Data sets, one a row, with what decides their noise and the order of equal scores."""

    truth: NDArray[np.float64]  # (data sets, items)
    played: NDArray[Any]  # (data sets or 1, items, items)
    wins: NDArray[np.float64]  # (data sets, items)
    seed: int
    chance: NDArray[np.float64]  # (data sets, items)

    def noise(self) -> np.random.Generator:
        """The same for every method and every epsilon: one direction of the noise."""
        return np.random.default_rng(self.seed)


def missed_at_random(scores: NDArray[np.float64], data: Data) -> NDArray[np.float64]:
    """`missed` where chance decides between equal scores."""
    return missed(scores, data.truth, data.chance)


@dataclass(frozen=True)
class Method:
    """How to rank: the mechanism for an epsilon, the scores that it gives for data, and what these miss."""

    mechanism: Callable[[float], Any]
    scores: Callable[[Any, Data], NDArray[np.float64]]
    estimates: bool = False  # the scores are strengths: their errors are losses, too
    missed: Callable[[NDArray[np.float64], Data], NDArray[np.float64]] = missed_at_random


def estimated(mechanism: Any, data: Data) -> NDArray[np.float64]:
    """Strengths of a perturbed likelihood."""
    return np.asarray(mechanism.estimate(data.played, data.wins, data.noise()))


def noisy_counts(mechanism: Any, data: Data) -> NDArray[np.float64]:
    """Wins and noise."""
    rows, n = data.wins.shape
    return np.asarray(data.wins + mechanism.perturb(np.zeros(n), data.noise(), rows))


def noisy_net(mechanism: Any, data: Data) -> NDArray[np.float64]:
    """Wins minus losses, and noise."""
    return noisy_counts(mechanism, replace(data, wins=2 * data.wins - data.played.sum(2)))


def losses_of(data: Data, methods: Mapping[str, Method], epsilons: Iterable[float]) -> Draws:
    """Losses by epsilon, method and loss; one data set serves all epsilons and methods."""
    draws: Draws = {}
    for epsilon in epsilons:
        for name, method in methods.items():
            scores = method.scores(method.mechanism(epsilon), data)
            if method.estimates:
                draws |= {(epsilon, name, loss): values for loss, values in log_errors(scores, data.truth).items()}
            draws[epsilon, name, MISSED] = method.missed(scores, data)
    return draws


@dataclass(frozen=True)
class WithoutNoise:
    """What the simulations run at infinite epsilon, the MLE and the counts as they are: nothing is promised of it."""

    ridge: float = 0.0
    scale: ClassVar[float] = 0.0
    guarantee: ClassVar[Guarantee] = Guarantee(math.inf)

    def estimate(self, played: ArrayLike, wins: ArrayLike, rng: np.random.Generator) -> NDArray[np.float64]:
        """As `PerturbedMLE.estimate`."""
        return mle_from_counts(played, wins, ridge=self.ridge)[0]

    def perturb(
        self, scores: NDArray[np.float64], rng: np.random.Generator, repetitions: int = 1
    ) -> NDArray[np.float64]:
        """As `NoisyCounts.perturb`; as many numbers are drawn."""
        return np.asarray(scores + laplace(0.0, (repetitions, len(scores)), rng=rng))


def fallen(draws: Draws, epsilons: Sequence[float]) -> Draws:
    """What every loss loses from one epsilon (the label's) to the next of these, on the same data."""
    steps = dict(pairwise(epsilons))
    return {
        (*key[:-1], f"fall of {key[-1]}"): values - draws[(steps[key[0]], *key[1:])]
        for key, values in draws.items()
        if key[0] in steps
    }


def more_missed(draws: Draws, pairs: Sequence[tuple[str, str]]) -> Draws:
    """How much more of the top k the first method of a pair misses than the second, on the same data."""
    return {
        (epsilon, first, f"{MORE} {second}"): draws[epsilon, first, MISSED] - draws[epsilon, second, MISSED]
        for epsilon in dict.fromkeys(key[0] for key in draws)
        for first, second in pairs
    }


def missed_more(frame: pd.DataFrame, method: str, other: str, setting: Sequence[str]) -> pd.DataFrame:
    """Mean and standard error of what a method misses more than another, from a sweep that had them in `pairs`."""
    rows = frame[(frame.method == method) & (frame.loss == f"{MORE} {other}")]
    if rows.empty:
        raise ValueError(f"frame has no {MORE} {other} for {method}")
    return rows.set_index([*setting, "epsilon"])[["mean", "se"]].sort_index()
