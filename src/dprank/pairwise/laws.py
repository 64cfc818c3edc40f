"""Exact laws of noisy win counts and of the perturbed likelihood (Cai, Chakraborty and Wang 2025), and fast draws.

They register with `dprank.privacy.laws`: divergences of two data sets, for the auditor. The law of the ranking that
noisy scores give, place by place, is in `dprank.pairwise.rank_law`. All of data as `release` bounds them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

import dprank.pairwise.local_laws  # noqa: F401  registers the law of reports
from dprank._quadrature import gauss
from dprank.data.ballots import Ballots
from dprank.data.comparisons import Comparisons
from dprank.data.counting import GRAIN, pairwise_wins, win_counts
from dprank.models.bradley_terry import LOGISTIC, Link
from dprank.pairwise import NoisyCounts, PerturbedMLE
from dprank.pairwise.shift_laws import conditioned_shift, cube_shift
from dprank.privacy import noise
from dprank.privacy.divergence import Divergence, PairLaw, noise_shift
from dprank.privacy.laws import NoExactRoute, best_first, exact, sample

__all__ = [
    "FAR",
    "Array",
    "Densities",
    "draw_noisy_counts",
    "draw_perturbed_mle",
    "estimates",
    "log_density",
    "noisy_counts_law",
    "perturbed_mle_law",
]

Array = NDArray[np.float64]

#: What stands for infinitely far: links and scores are at their limits to the last bit.
FAR = 60.0
#: Quadrature nodes on each side of the noise of one item, by items.
_NODES = {2: 100, 3: 16}
#: Of the search for the worst output: where it looks first, how many points it follows, its first and its last step.
_LOOK = np.array([0, 0.5, 1.5, 3.0, 8.0, FAR])
_STARTS, _STRIDE, _SHORTEST = 6, 4.0, 1e-7


# --- noise on counts -------------------------------------------------------------------------------------------------


@exact.register
def noisy_counts_law(mechanism: NoisyCounts, data: Comparisons | Ballots, other: Comparisons | Ballots) -> Divergence:
    """Of the noisy scores.

    Examples
    --------
    >>> data, other = Comparisons([0], [1], [1], items=["a", "b"]), Comparisons([0], [1], [0], items=["a", "b"])
    >>> round(noisy_counts_law(NoisyCounts(2, 4.0, unit="comparison"), data, other).epsilon(0.0), 4)
    1.0
    """
    move = mechanism.counts(data) - mechanism.counts(other)
    if mechanism.noise == "conditioned":
        return conditioned_shift(move, mechanism.scale)
    if mechanism.noise == "cube":
        return cube_shift(move, mechanism.scale / GRAIN[mechanism.score])
    return noise_shift(mechanism.noise, mechanism.law, move.astype(float), mechanism.scale / GRAIN[mechanism.score])


@sample.register
def draw_noisy_counts(
    mechanism: NoisyCounts, data: Comparisons | Ballots, size: int, rng: np.random.Generator
) -> Array:
    """Noisy scores and their order, a row each.

    Examples
    --------
    >>> data = Comparisons([0], [1], [1], items=["a", "b"])
    >>> draw_noisy_counts(NoisyCounts(2, 4.0, unit="comparison"), data, 5, np.random.default_rng(1)).shape
    (5, 4)
    """
    return _with_order(mechanism.perturb(mechanism.counts(data) * GRAIN[mechanism.score], rng, size), rng)


def _with_order(scores: Array, rng: np.random.Generator) -> Array:
    """Features of many rankings: orders with equal scores at random, and the scores."""
    return np.hstack([best_first(scores, rng), scores])


# --- the perturbed likelihood ----------------------------------------------------------------------------------------


def _derivatives(t: Array, data: Comparisons, link: Link) -> tuple[Array, Array]:
    """Gradient (points, items) and Hessian (points, items, items) of the negative log likelihood at the rows of t."""
    wins = pairwise_wins(data)
    i, j = np.nonzero(np.triu(wins + wins.T))
    x, won, lost = t[..., i] - t[..., j], wins[i, j], wins[j, i]
    slope = lost * link.score(-x) - won * link.score(x)
    curvature = won * link.curvature(x) + lost * link.curvature(-x)
    sides = np.eye(data.n_items)[i] - np.eye(data.n_items)[j]
    return slope @ sides, (sides.T * curvature[..., None, :]) @ sides


def log_density(t: Array, data: Comparisons, scale: float, ridge: float, link: Link = LOGISTIC) -> Array:
    """Log density of the perturbed maximum likelihood estimate, by change of variables from its noise.

    Parameters
    ----------
    t : ndarray of float, shape (..., items)
        Where.
    data : Comparisons
    scale, ridge : float
        lambda and gamma of `dprank.pairwise.PerturbedMLE`, above 0.
    link : Link

    Returns
    -------
    ndarray of float, shape (...)

    Notes
    -----
    The estimate t solves w = -grad R(t) for Laplace noise w, hence the density is that of the noise times the
    determinant of the Hessian of R. O(items^3) for each point.

    Examples
    --------
    >>> data = Comparisons([0], [1], [1], items=["a", "b"])
    >>> round(float(log_density(np.zeros(2), data, 1.0, 1.0)), 4)
    -1.9808
    """
    n = data.n_items
    slope, hessian = _derivatives(t, data, link)
    _, volume = np.linalg.slogdet(hessian + ridge * np.eye(n))
    return np.asarray(volume - np.abs(slope + ridge * t).sum(axis=-1) / scale - n * math.log(2 * scale))


def estimates(drawn: Array, data: Comparisons, ridge: float, link: Link) -> Array:
    """Minimisers of the perturbed likelihood for any link, for few items and many replicates.

    Parameters
    ----------
    drawn : ndarray of float, shape (replicates, items)
        Noise of the objective.
    data : Comparisons
    ridge : float
        Above 0.
    link : Link

    Returns
    -------
    ndarray of float, shape (replicates, items)

    Raises
    ------
    ArithmeticError
        If some estimates do not converge.

    Notes
    -----
    Newton's method, halving a row's step until its gradient shrinks: O(items^3) a replicate and step.

    Examples
    --------
    >>> data = Comparisons([0], [1], [1], items=["a", "b"])
    >>> estimates(np.zeros((1, 2)), data, 1.0, LOGISTIC).round(4).tolist()
    [[0.3374, -0.3374]]
    """
    t = -drawn / ridge
    identity = np.eye(data.n_items)

    def at(t: Array, w: Array) -> tuple[Array, Array, Array]:
        slope, hessian = _derivatives(t, data, link)
        slope = slope + ridge * t + w
        return slope, hessian + ridge * identity, np.linalg.norm(slope, axis=1)

    live = np.arange(len(t))
    for _ in range(200):
        slope, hessian, size = at(t[live], drawn[live])
        # rounding of a sum as large as the noise allows no less
        unfinished = size > 1e-11 * (1 + np.abs(drawn[live]).max(axis=1))
        live, slope, hessian, size = live[unfinished], slope[unfinished], hessian[unfinished], size[unfinished]
        if not len(live):
            return t
        step = np.linalg.solve(hessian, slope[..., None])[..., 0]
        length = np.ones(len(live))
        for _ in range(50):
            worse = at(t[live] - length[:, None] * step, drawn[live])[2] > (1 - length / 4) * size
            if not worse.any():
                break
            length[worse] /= 2
        t[live] -= length[:, None] * step
    raise ArithmeticError("some estimates do not converge")


@dataclass(frozen=True)
class Densities:
    """Divergence of the perturbed estimates of two data sets whose graphs, or whose curvatures, differ.

    Parameters
    ----------
    mechanism : PerturbedMLE
        With continuous noise.
    data, other : Comparisons

    Examples
    --------
    >>> data, other = Comparisons([0], [1], [1], items=["a", "b"]), Comparisons([0], [1], [0], items=["a", "b"])
    >>> mechanism = PerturbedMLE(2, 4.0, 1.0, graph="private", unit="comparison", law="continuous")
    >>> apart = Densities(mechanism, data, other)
    >>> apart.log_ratio(np.array([[0.0, 0.0], [1.0, -1.0]])).round(4).tolist(), round(apart.epsilon(0.0), 4)
    ([0.0, 0.5], 0.5)
    """

    mechanism: PerturbedMLE
    data: Comparisons
    other: Comparisons

    def log_ratio(self, t: Array) -> Array:
        """Log of the ratio of the two densities at the rows of t."""
        m = self.mechanism
        first, second = (log_density(t, data, m.scale, m.ridge, m.link) for data in (self.data, self.other))
        return first - second

    def delta(self, epsilons: ArrayLike) -> Array:
        """Least delta at every epsilon, by quadrature over the noise: for 2 or 3 items, to about 1e-4."""
        return self.law().delta(epsilons)

    def epsilon(self, delta: float) -> float:
        """Least epsilon. At delta 0 the largest log ratio that a search over outputs finds, for any number of items.

        The search is deterministic; where it meets `dprank.pairwise.objective_loss`, nothing larger exists.
        """
        return self.law().epsilon(delta) if delta > 0 else max(self._largest(sign) for sign in (1, -1))

    def law(self) -> PairLaw:
        """Both laws at the nodes of a quadrature over the noise behind the first: 4e4 for 2 items, 3.3e4 for 3.

        Raises
        ------
        NoExactRoute
            For more items.
        """
        m = self.mechanism
        if m.n_items not in _NODES:
            raise NoExactRoute(f"n_items = {m.n_items}; delta is integrated for 2 or 3 items only")
        share, weight = gauss(np.zeros(1), np.ones(1), _NODES[m.n_items])
        axis = m.scale * np.r_[np.log(share), -np.log(share)]
        weight = np.r_[weight, weight] / 2
        drawn = np.array(list(product(axis, repeat=m.n_items)))
        log_p = np.log(np.array(list(product(weight, repeat=m.n_items)))).sum(axis=1)
        return PairLaw(log_p, log_p - self.log_ratio(estimates(drawn, self.data, m.ridge, m.link)))

    def _largest(self, sign: int) -> float:
        """Pattern search from the best points of a grid, or of a low-discrepancy sequence, over all outputs."""
        n = self.mechanism.n_items
        axis = np.r_[-_LOOK[:0:-1], _LOOK]
        if n <= 4:
            looked = np.array(list(product(axis, repeat=n)))
        else:
            sobol = scipy.stats.qmc.Sobol(n, scramble=False).random(2**12)
            looked = axis[np.minimum((sobol * len(axis)).astype(int), len(axis) - 1)]
        value = sign * self.log_ratio(looked)
        best = np.argsort(-value)[:_STARTS]
        t, value = looked[best], value[best]
        pairs = [np.eye(n)[i] + side * np.eye(n)[j] for i, j in combinations(range(n), 2) for side in (1, -1)]
        moves = np.vstack([np.eye(n), *pairs])
        moves = np.vstack([moves, -moves])
        stride = np.full(len(t), _STRIDE)
        while (stride > _SHORTEST).any():
            tried = np.clip(t[:, None] + stride[:, None, None] * moves, -FAR, FAR)
            found = sign * self.log_ratio(tried)
            move = found.argmax(axis=1)
            better = found[np.arange(len(t)), move] > value
            t = np.where(better[:, None], tried[np.arange(len(t)), move], t)
            value = np.where(better, found[np.arange(len(t)), move], value)
            stride = np.where(better, np.minimum(1.5 * stride, _STRIDE), stride / 3)
        return float(value.max())


@exact.register
def perturbed_mle_law(mechanism: PerturbedMLE, data: Comparisons, other: Comparisons) -> Divergence:
    """Of the minimisers: a release takes their mean away, and tells no more.

    Examples
    --------
    >>> data, other = Comparisons([0], [1], [1], items=["a", "b"]), Comparisons([0], [1], [0], items=["a", "b"])
    >>> mechanism = PerturbedMLE(2, 4.0, 1.0, graph="public", unit="comparison")
    >>> round(perturbed_mle_law(mechanism, data, other).epsilon(0.0), 4)
    0.5
    """
    grain, data, other = GRAIN["half"], mechanism.bounded(data), mechanism.bounded(other)
    (one, graph), (two, other_graph) = ((win_counts(d, "half") / grain, _graph(d)) for d in (data, other))
    same = bool((graph == other_graph).all())
    if same and mechanism.link is LOGISTIC:
        # the estimate and the noisy counts determine each other
        return noise_shift("laplace", mechanism.law, one - two, mechanism.scale / grain)
    if mechanism.graph == "public" and not same:
        raise ValueError("other compares other pairs than data; graph = 'public' allows other outcomes only")
    return Densities(mechanism, data, other)


@sample.register
def draw_perturbed_mle(mechanism: PerturbedMLE, data: Comparisons, size: int, rng: np.random.Generator) -> Array:
    """Minimisers as they are, like the exact law.

    Examples
    --------
    >>> data = Comparisons([0], [1], [1], items=["a", "b"])
    >>> mechanism = PerturbedMLE(2, 4.0, 1.0, graph="public", unit="comparison")
    >>> draw_perturbed_mle(mechanism, data, 5, np.random.default_rng(1)).shape  # two places, two strengths
    (5, 4)
    """
    data = mechanism.bounded(data)
    if mechanism.link is LOGISTIC:
        strengths = mechanism.estimate(_graph(data), np.tile(win_counts(data, "half"), (size, 1)), rng)
    else:
        drawn = noise.laplace(mechanism.scale, (size, data.n_items), rng=rng)
        strengths = estimates(drawn, data, mechanism.ridge, mechanism.link)
    return _with_order(strengths, rng)


def _graph(data: Comparisons) -> Array:
    """How often each pair was compared."""
    wins = pairwise_wins(data)
    return wins + wins.T
