"""Bradley-Terry strengths from noisy net wins, where nobody may know who was compared with whom."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dprank._frozen import FrozenFields
from dprank._require import MOST, require_positive, require_real
from dprank.models.bradley_terry import LOGISTIC
from dprank.models.likelihood import mle_from_counts
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.privacy.conditioned import conditioned_variance
from dprank.privacy.cube import cube_law
from dprank.release import Ranking

__all__ = ["Strengths", "strengths"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Strengths(FrozenFields):
    """Log-strengths and how far they may be off, each of shape (items,).

    Parameters
    ----------
    theta : ndarray of float
        Their mean is 0: `dprank.models` says what a difference of them is.
    noise_error, error : ndarray of float
        Standard errors: from the noise alone; and from noise, pairs and answers together.

    Examples
    --------
    >>> Strengths(np.zeros(2), np.ones(2), np.full(2, 1.5)).error.tolist()
    [1.5, 1.5]
    """

    theta: Array
    noise_error: Array
    error: Array


def strengths(release: Ranking, answers: float, *, spread: float = 1.0) -> Strengths:
    r"""Strengths that explain released net wins, if each answer was to a pair drawn uniformly at random.

    It sees the release and public numbers, and costs no privacy. The graph of comparisons stays secret: only how it was
    drawn is used.

    Parameters
    ----------
    release : Ranking
        Of `NoisyCounts` with ``score="net"``, of data without ties.
    answers : float
        N, how many answers were counted: a public number, or one that was released with noise of its own; from 1 to
        2^53.
    spread : float
        Standard deviation of strengths that is expected beforehand, above 0. The estimate is pulled towards 0 as far as
        noise and drawing are larger than what strengths so far apart would show; a large number pulls little.

    Returns
    -------
    Strengths

    Raises
    ------
    ValueError
        If the release is another, or a number is out of range.

    Notes
    -----
    Of m items each pair has :math:`n = 2 N / (m (m - 1))` answers on average, and in the Bradley-Terry model

    .. math:: E[net_i] = n \sum_j \tanh\frac{\theta_i - \theta_j}2 = F_i(\theta).

    F(theta) = net is what a likelihood solves on the graph that has n answers on each pair; so the estimate is its
    minimiser, with noisy net wins, their mean taken away, in place of the exact ones, and the ridge
    :math:`(\tau^2 + n m) / (n m \, spread^2)`. Net wins are sums of N independent vectors: their covariance is
    :math:`n m (I - 1 1^T / m) - F F^T / N`, and centred noise adds :math:`\tau^2 (I - 1 1^T / m)`, half the variance of
    the difference of two noises. Without noise the ridge is that of a Gaussian prior of this spread. The errors are
    those of the delta method, with the derivative of F and the ridge at the estimate: how the estimate varies around
    its mean, without the pull itself. Where nobody answers a pair twice they are a little too large. O(m^3).

    In simulations at equal epsilon it errs less than `PerturbedMLE` with ``graph="private"`` and the best of its
    ridges, by up to a third, where epsilon is 0.5 or less, or 1 or less with ten answers a pair; with more answers, and
    from an epsilon of 2 on, by some percent more.

    Examples
    --------
    >>> import dprank
    >>> rng = np.random.default_rng(1)
    >>> first = rng.integers(0, 4, 20_000)
    >>> second = (first + rng.integers(1, 4, 20_000)) % 4
    >>> better = rng.random(20_000) < 1 / (1 + np.exp((second - first) / 2))  # strengths half a unit apart
    >>> answers = dprank.Comparisons(first, second, better, "abcd")
    >>> mechanism = dprank.NoisyCounts.calibrated(epsilon=0.5, n_items=4, unit="comparison", noise="conditioned")
    >>> found = strengths(mechanism.release(answers, rng), 20_000)
    >>> bool((np.abs(found.theta - [-0.75, -0.25, 0.25, 0.75]) < 4 * found.error).all())
    True
    """
    mechanism = getattr(release, "mechanism", None)
    if not isinstance(release, Ranking) or not isinstance(mechanism, NoisyCounts) or mechanism.score != "net":
        raise ValueError("release is none of NoisyCounts with score = 'net': their noisy net wins are needed")
    needed = "a number from 1 to 2^53 is needed"
    answers = require_real("answers", answers, needed, lambda x: 1 <= x <= MOST)
    spread = require_positive("spread", spread)
    assert release.scores is not None
    m = mechanism.n_items
    played = float(np.float32(answers / math.comb(m, 2)))  # as `mle_from_counts` keeps it
    noise, drawing = _half_variance(mechanism), played * m
    ridge = (noise + drawing) / drawing / spread**2
    wins = (release.scores - release.scores.mean() + played * (m - 1)) / 2
    (theta,), _ = mle_from_counts(played * (1 - np.eye(m)), wins[None], ridge=ridge)
    apart = theta[:, None] - theta
    slopes = played * LOGISTIC.curvature(apart) * (1 - np.eye(m))
    back = np.linalg.inv(np.diag(slopes.sum(axis=1) + ridge) - slopes) / 2
    centred, mean = np.eye(m) - 1 / m, back @ (played * np.tanh(apart / 2).sum(axis=1))
    own = np.einsum("ij,jk,ik->i", back, centred, back)
    both = (noise + drawing) * own - mean**2 / answers
    return Strengths(theta - theta.mean(), np.sqrt(noise * own), np.sqrt(np.maximum(both, noise * own)))


def _half_variance(mechanism: NoisyCounts) -> float:
    """Half of the variance of the difference of two noises."""
    scale, m = mechanism.scale, mechanism.n_items
    if mechanism.noise == "gaussian":
        return scale**2
    if mechanism.noise == "conditioned":
        return conditioned_variance(scale, m) * m / (m - 1)
    if mechanism.noise == "cube":
        radius = np.arange(len(law := cube_law(scale, m)))
        return float(law @ (radius * (radius + 1))) / 3
    return 2 * scale**2 if mechanism.law == "continuous" else 1 / (2 * math.sinh(1 / (2 * scale)) ** 2)
