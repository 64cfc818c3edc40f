"""Bradley-Terry-Luce comparisons and their kin: item i beats item j with probability F(theta_i - theta_j)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from dprank.comparisons import Comparisons


@dataclass(frozen=True)
class Link:
    """A symmetric distribution function F with F(x) = 1 - F(-x), and what likelihoods need of it.

    Attributes
    ----------
    cdf, log_cdf, pdf : callable
        F, log F (accurate in the tail) and F', elementwise.
    """

    name: str
    cdf: Callable[[Any], NDArray[np.float64]]
    log_cdf: Callable[[Any], NDArray[np.float64]]
    pdf: Callable[[Any], NDArray[np.float64]]


def _logistic_pdf(x: ArrayLike) -> NDArray[np.float64]:
    return special.expit(x) * special.expit(np.negative(x))


def _normal_pdf(x: ArrayLike) -> NDArray[np.float64]:
    return np.exp(-np.square(x) / 2) / np.sqrt(2 * np.pi)


#: Bradley-Terry-Luce
LOGISTIC = Link("logistic", special.expit, special.log_expit, _logistic_pdf)
#: Thurstone, case V
PROBIT = Link("probit", special.ndtr, special.log_ndtr, _normal_pdf)


def win_probabilities(theta: ArrayLike, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Matrix of P(row beats column), shape (items, items); 1/2 on the diagonal."""
    theta = _strengths(theta)
    return link.cdf(theta[:, None] - theta)


def sample_erdos_renyi(
    theta: ArrayLike,
    probability: float,
    *,
    rng: np.random.Generator,
    link: Link = LOGISTIC,
    items: Sequence[str] | None = None,
) -> Comparisons:
    """One comparison of every pair that an Erdos-Renyi graph holds (Cai, Chakraborty and Wang 2025, Section 2.1).

    Parameters
    ----------
    theta : array_like of float, shape (items,)
        Strengths.
    probability : float
        In [0, 1]: the chance that a pair is compared.
    rng : numpy.random.Generator
    link : Link
    items : sequence of str, optional
        Names; by default 0, 1, ...

    Notes
    -----
    O(items^2) time and memory.
    """
    theta = _strengths(theta)
    if not 0 <= probability <= 1:
        raise ValueError(f"probability = {probability}; it must lie in [0, 1]")
    first, second = np.triu_indices(len(theta), 1)
    edge = rng.random(first.size) < probability
    return _compare(theta, first[edge], second[edge], rng, link, items)


def sample_voters(
    theta: ArrayLike,
    voters: int,
    answers: int,
    *,
    rng: np.random.Generator,
    link: Link = LOGISTIC,
    items: Sequence[str] | None = None,
) -> Comparisons:
    """Every voter compares `answers` pairs drawn uniformly with replacement (Cai et al. 2025, Section 3.1).

    Returns
    -------
    Comparisons
        voters * answers rows, with the voter of each. O(voters * answers + items) time.
    """
    theta = _strengths(theta)
    for name, value in (("voters", voters), ("answers", answers)):
        if value < 0:
            raise ValueError(f"{name} = {value}; it must be at least 0")
    first = rng.integers(0, len(theta), voters * answers)
    second = rng.integers(0, len(theta) - 1, voters * answers)
    second += second >= first
    return _compare(theta, first, second, rng, link, items, np.repeat(np.arange(voters), answers))


def _compare(
    theta: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    rng: np.random.Generator,
    link: Link,
    items: Sequence[str] | None,
    voter: NDArray[np.int64] | None = None,
) -> Comparisons:
    names = [str(i) for i in range(len(theta))] if items is None else list(items)
    if len(names) != len(theta):
        raise ValueError(f"items has {len(names)} names for {len(theta)} strengths: they must agree")
    won = rng.random(first.size) < link.cdf(theta[first] - theta[second])
    return Comparisons(first, second, won, names, voter)


def _strengths(theta: ArrayLike) -> NDArray[np.float64]:
    theta = np.asarray(theta, float)
    if theta.ndim != 1 or len(theta) < 2:
        raise ValueError(f"theta has shape {theta.shape}; one strength an item is needed, at least two items")
    if not np.isfinite(theta).all():
        raise ValueError(f"theta[{int(np.argmin(np.isfinite(theta)))}] is not finite")
    return theta
