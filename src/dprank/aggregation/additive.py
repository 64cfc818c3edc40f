"""Noise on counts that one voter moves by a bounded amount: its parameters, its calibration and its guarantee."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dprank._require import (
    WIDEST_COUNT,
    as_array,
    require_below_1,
    require_one_of,
    require_probability,
    require_whole,
    settle,
)
from dprank._search import least_under
from dprank.data.ballots import HEAVIEST, BallotForm, Ballots, require_ballots
from dprank.data.rankings import UNRANKED, Rankings, require_rankings
from dprank.privacy import noise as laws
from dprank.privacy.discrete_gaussian import Answers, exact_epsilon, smoothed_epsilon
from dprank.privacy.gaussian import LEAST, STEEPEST, gaussian_epsilon, gaussian_scale, zcdp
from dprank.privacy.guarantee import Adjacency, Guarantee, ratio_up, require_scale
from dprank.privacy.noise import Law, Noise, Source, require_drawable

__all__ = ["FINITE", "AdditiveNoise", "noise_of"]

#: Scale of what is about to be calibrated.
FINITE = 1e100


@dataclass(frozen=True)
class AdditiveNoise(ABC):
    """What `NoisyMatrix` and `PrivateBorda` have in common; their sensitivities differ.

    Parameters
    ----------
    n_items : int
        m, at least 2.
    scale : float
        Laplace scale, or standard deviation, in the unit of the counts; above 0.
    noise, delta
        As in `PrivateBorda`.
    adjacency : {"replace", "add_remove"}
    law : {"discrete", "continuous"}
        Noise on the grid of possible counts, fit for release; or on the real line, for research.
    ballots, max_weight
        As in `NoisyMatrix`.

    Raises
    ------
    ValueError
        Naming what is out of range.

    Examples
    --------
    >>> from dprank import PrivateBorda
    >>> mechanism = PrivateBorda(n_items=2, scale=4.0)
    >>> isinstance(mechanism, AdditiveNoise), mechanism.l1_sensitivity, mechanism.guarantee.epsilon
    (True, 2.0, 0.5)
    """

    n_items: int
    scale: float
    noise: Noise = "laplace"
    _: KW_ONLY
    delta: float = 0.0
    adjacency: Adjacency = "replace"
    law: Law = "discrete"
    ballots: BallotForm = "full"
    max_weight: int = 1

    def __post_init__(self) -> None:
        settle(
            self,
            n_items=require_whole("n_items", self.n_items, 2),
            delta=require_noise(self.noise, self.delta, self.law, self.adjacency),
            ballots=require_one_of("ballots", self.ballots, get_args(BallotForm)),
            max_weight=require_whole("max_weight", self.max_weight, 1, HEAVIEST),
        )
        if self.ballots == "full" and self.max_weight > 1:
            raise ValueError(f"max_weight = {self.max_weight}; 1 with ballots = 'full': full rankings have no weights")
        settle(self, scale=require_noise_scale(self.scale, self.noise, self.l1_sensitivity, self.l2_sensitivity))

    def _least(self, epsilon: float) -> Self:
        """The same with the least noise that spends no more than `epsilon` at its delta, whatever its scale was."""
        if self.noise == "laplace":
            scale = ratio_up(self.l1_sensitivity, epsilon)
        elif self.law == "continuous":
            scale = gaussian_scale(self.l2_sensitivity, epsilon, self.delta)
        else:
            scale = least_under(lambda s: replace(self, scale=s).guarantee.epsilon, epsilon, self.l2_sensitivity)
        # the grid may be half as wide
        return replace(self, scale=require_drawable(epsilon, scale, self.law, grain=0.5))

    @property
    def grain(self) -> float:
        """Step of the grid of possible counts."""
        return 1.0 if self.ballots == "full" else 0.5

    @property
    @abstractmethod
    def l1_sensitivity(self) -> float:
        """Largest sum of absolute differences of the counts of neighbouring data."""

    @property
    @abstractmethod
    def l2_sensitivity(self) -> float:
        """Largest Euclidean distance between the counts of neighbouring data, rounded up."""

    @property
    @abstractmethod
    def _answers(self) -> Answers:
        """What discrete Gaussian noise hides, in steps of the grid."""

    @property
    @abstractmethod
    def _moves(self) -> Sequence[Mapping[int, int]]:
        """How many numbers move by how many steps; no voter moves them more than in one of these. Empty: not known."""

    def _discrete_epsilon(self) -> float:
        """Of discrete Gaussian noise, by the best of three routes."""
        routes = [zcdp(self.rho, self.delta), smoothed_epsilon([self._answers], self.delta)]
        if self._moves:
            unit = self.scale / self.grain
            routes.append(max(exact_epsilon([(moves, unit)], self.delta) for moves in self._moves))
        return min(routes)

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of Gaussian noise, discrete or not; of Laplace noise by its epsilon."""
        if self.noise == "laplace":
            return self.guarantee.epsilon**2 / 2
        ratio = ratio_up(self.l2_sensitivity, self.scale)
        return ratio * ratio / 2 * (1 + 1e-12)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy of the noisy counts (of `PrivateBorda`: of their differences), hence of all computed from them.

        Attained for Laplace and for continuous Gaussian noise. That of discrete Gaussian noise is the least by `rho`,
        by the smoothing of `dprank.privacy.discrete_gaussian`, and by the exact law where that is short.
        """
        if self.noise == "laplace":
            return Guarantee(ratio_up(self.l1_sensitivity, self.scale), adjacency=self.adjacency)
        if self.law == "continuous":
            epsilon = gaussian_epsilon(self.l2_sensitivity, self.scale, self.delta)
        else:
            epsilon = self._discrete_epsilon()
        return Guarantee(epsilon, self.delta, adjacency=self.adjacency)

    @property
    def _wander(self) -> float:
        """Bound on the mean absolute noise on one count; attained on the real line."""
        return self.scale * (1.0 if self.noise == "laplace" else math.sqrt(2 / math.pi))

    def _rankings(self, data: Any) -> Rankings:
        """Of `n_items` items; where the mechanism is for full ones."""
        if isinstance(data, Ballots):
            raise ValueError(f"data are dprank.Ballots, {UNRANKED}; ballots = 'partial' takes them")
        return require_rankings(data, self.n_items)

    def _ballots(self, data: Any) -> Ballots:
        """Of `n_items` items, no heavier than is promised; full rankings are ballots."""
        return require_ballots(data, self.n_items).bounded_weight(self.max_weight)

    def _require_counts(self, name: str, counts: ArrayLike, axes: int, step: float = 1.0) -> NDArray[Any]:
        """Refuse what are no numbers for the items, in so many last axes, and what noise on the grid would not hide.

        They come back in steps, for noise on the grid as integers.
        """
        counts = as_array(name, counts)
        if counts.dtype.kind not in "iuf" or counts.shape[-axes:] != (self.n_items,) * axes:
            raise ValueError(f"{name} is no array of numbers; {axes} last axes of n_items = {self.n_items} are needed")
        counts = counts if step == 1 else counts / step
        if self.law == "discrete" and (counts != np.rint(counts)).any():
            needed = "whole numbers" if step == 1 else f"multiples of {step:g}"
            raise ValueError(f"{name} holds fractions; {needed} are needed: whole noise hides no fractions")
        if self.law == "discrete" and ((counts > WIDEST_COUNT) | (counts < -WIDEST_COUNT)).any():
            raise ValueError(f"{name} goes beyond 2^51; whole noise is added exactly up to there")
        return counts.astype(np.int64) if self.law == "discrete" else counts

    def _drawn(self, size: Any, rng: Source) -> NDArray[Any]:
        """Noise in steps of the grid."""
        return laws.draw(self.noise, self.law, self.scale / self.grain, size, rng=rng)


def noise_of(delta: Any) -> Noise:
    """What is drawn for a delta: Laplace noise for 0, else Gaussian.

    Examples
    --------
    >>> noise_of(0), noise_of(1e-6)
    ('laplace', 'gaussian')
    """
    return "gaussian" if require_below_1("delta", delta) else "laplace"


def require_noise(noise: Noise, delta: float, law: Law, adjacency: Adjacency) -> float:
    """Refuse what is no noise, and a delta that does not go with it.

    Examples
    --------
    >>> require_noise("gaussian", 1e-6, "discrete", "replace")
    1e-06
    >>> require_noise("laplace", 1e-6, "discrete", "replace")
    Traceback (most recent call last):
        ...
    ValueError: delta = 1e-06; 0 for Laplace noise, in (0, 1) for Gaussian noise
    """
    for name, value, allowed in (("noise", noise, Noise), ("law", law, Law), ("adjacency", adjacency, Adjacency)):
        require_one_of(name, value, get_args(allowed))
    delta = require_below_1("delta", delta) and require_probability("delta", delta, LEAST)
    if (noise == "laplace") != (delta == 0):
        raise ValueError(f"delta = {delta}; 0 for Laplace noise, in (0, 1) for Gaussian noise")
    return delta


def require_noise_scale(scale: Any, noise: Noise, l1: float, l2: float) -> float:
    """Refuse noise too little for any finite epsilon, which of Gaussian noise goes with the square.

    `l1` and `l2` are the sensitivities, in the unit of the scale.

    Examples
    --------
    >>> require_noise_scale(4, "laplace", l1=2.0, l2=1.5)
    4.0
    """
    scale = require_scale(scale, l1 if noise == "laplace" else l2)
    if noise == "gaussian" and l2 / scale > STEEPEST:
        raise ValueError(f"scale = {scale}; too little noise for any finite epsilon")
    return scale
