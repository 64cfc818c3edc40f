"""Audit of the central tests of uniformity.

All of them look at a statistic of disjoint pairs of items, in a pairing that is drawn and not published. Four add
Laplace noise to it and publish the sum, from which decision, threshold and p-value follow without the data; two
publish a decision alone. So the law of the output is a mixture over all pairings of a law that is known in closed
form: few items make it exact. The tests without privacy, `TwoSample`, `Unif`, `MallowsApproximate` and `Friedman`, make
no promise to audit; reports of voters are in `dprank.uniformity.local_laws`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from itertools import permutations
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

import dprank.uniformity.local_laws  # noqa: F401  registers the laws of reports
from dprank._require import as_floats
from dprank.data.rankings import Rankings
from dprank.privacy import noise
from dprank.privacy.divergence import Divergence, PairLaw, pair_of
from dprank.privacy.laws import NoExactRoute, exact, sample
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.laplace import LaplaceUnif, disagreements
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.optimal_vote import OptimalVote
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.truncated import Trun
from dprank.uniformity.tulap import tulap, tulap_law

__all__ = [
    "NoisyReals",
    "answer_law",
    "coin_or_batch",
    "coin_or_ramp",
    "decision_law",
    "disagreeing_voters",
    "draw_batch_answers",
    "draw_noisy_counts",
    "draw_noisy_norms",
    "draw_noisy_votes",
    "draw_ramp_answers",
    "noise_free",
    "noisy_count_law",
    "noisy_integers",
    "noisy_number_law",
    "norm_in_steps",
    "pairings",
    "rejection",
    "tulap_number_law",
    "tulap_votes_law",
    "votes_by",
    "votes_of_batches",
]

#: Items of which all pairings are listed.
_LISTED = 8

# --- what a test looks at, of every pairing --------------------------------------------------------------------------


def pairings(n_items: int) -> NDArray[np.int64]:
    """All that `disjoint_pairs` may draw, each as likely as any other: shape (n_items!, pairs, 2).

    Raises
    ------
    NoExactRoute
        Of more than eight items.

    Examples
    --------
    >>> pairings(2).tolist()
    [[[0, 1]], [[1, 0]]]
    """
    if n_items > _LISTED:
        raise NoExactRoute(f"n_items = {n_items}; the pairings of up to {_LISTED} are listed")
    orders = np.array(list(permutations(range(n_items))))
    return orders[:, : n_items // 2 * 2].reshape(len(orders), -1, 2)


@singledispatch
def noise_free(mechanism: Any, data: Rankings) -> NDArray[np.int64]:
    """The whole number that a test adds noise to, of every pairing, each as likely as any other.

    Examples
    --------
    >>> noise_free(LaplaceUnif(2, 3, 1.0, 0.0), Rankings([[0, 1], [1, 0], [0, 1]], "ab")).tolist()
    [2, 2]
    """
    raise NoExactRoute(type(mechanism).__name__)


@noise_free.register
def disagreeing_voters(mechanism: LaplaceUnif, data: Rankings) -> NDArray[np.int64]:
    """How many voters put a pair in the other order than the first of it, over all pairs, of every pairing."""
    return np.array([disagreements(data.positions, pairs) for pairs in pairings(mechanism.n_items)])


@noise_free.register
def norm_in_steps(mechanism: NoisyNorm, data: Rankings) -> NDArray[np.int64]:
    """The norm in whole steps, of every pairing; of ranks there is one.

    Examples
    --------
    >>> norm_in_steps(NoisyNorm(2, 4, 1.0, steps=1), Rankings([[0, 1]] * 4, "ab")).tolist()
    [2, 2]
    """
    if mechanism.statistic == "ranks":
        return mechanism.on_grid([mechanism.squared_norm(data.positions)])
    squared = [mechanism.squared_norm(data.positions, pairs) for pairs in pairings(mechanism.n_items)]
    return mechanism.on_grid(squared)


@noise_free.register(BatchVote)
@noise_free.register(OptimalVote)
def votes_of_batches(mechanism: BatchVote | OptimalVote, data: Rankings) -> NDArray[np.int64]:
    """How many batches reject, of every pairing, with voters dealt as they stand: to know that tells no less.

    Examples
    --------
    >>> votes_of_batches(BatchVote(2, 4, 2, 2.0, 1.0, 1), Rankings([[0, 1], [0, 1], [0, 1], [1, 0]], "ab")).tolist()
    [1, 1]
    """
    return np.array([votes_by(mechanism, data, pairs) for pairs in pairings(mechanism.n_items)])


def votes_by(mechanism: BatchVote | OptimalVote, data: Rankings, pairs: NDArray[np.int64]) -> int:
    """How many batches reject by one pairing, with voters dealt as they stand."""
    return sum(mechanism.batch_rejects(data.positions, pairs, batch) for batch in range(mechanism.n_batches))


@singledispatch
def rejection(mechanism: Any, data: Rankings) -> NDArray[np.float64]:
    """Probability that a test which publishes its decision alone rejects, of every pairing.

    Examples
    --------
    >>> rejection(Bucketed(2, 4, 2, 2.0, coin=0.5), Rankings([[0, 1]] * 4, "ab")).tolist()
    [0.75, 0.75]
    """
    raise NoExactRoute(type(mechanism).__name__)


@rejection.register
def coin_or_batch(mechanism: Bucketed, data: Rankings) -> NDArray[np.float64]:
    """The coin, or one batch at random, with voters dealt as they stand."""
    share = [
        np.mean([mechanism.batch_rejects(data.positions, pairs, batch) for batch in range(mechanism.n_batches)])
        for pairs in pairings(mechanism.n_items)
    ]
    return mechanism.coin / 2 + (1 - mechanism.coin) * np.array(share)


@rejection.register
def coin_or_ramp(mechanism: Trun, data: Rankings) -> NDArray[np.float64]:
    """The coin, or the ramp at the sums of signs.

    Examples
    --------
    >>> coin_or_ramp(Trun(2, 2, coin=0.5, start=0.0, width=4.0), Rankings([[0, 1]] * 2, "ab")).tolist()
    [0.5, 0.5]
    """
    sums = np.array([pair_signs(data.positions, pairs).sum(0) for pairs in pairings(mechanism.n_items)], np.int64)
    return 1 - mechanism.accepts(sums)


def decision_law(rejection: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities to reject and to accept, from those to reject of every pairing.

    Examples
    --------
    >>> decision_law(np.array([0.5, 1.0])).tolist()
    [0.75, 0.25]
    """
    return np.array([rejection.mean(), 1 - rejection.mean()])


# --- exact -----------------------------------------------------------------------------------------------------------


def noisy_integers(p: ArrayLike, q: ArrayLike, scale: float) -> PairLaw:
    """Whole Laplace noise on a number drawn evenly from a list, against the same on another list.

    Parameters
    ----------
    p, q : array_like of int, shape (values,)
    scale : float
        Above 0.

    Returns
    -------
    PairLaw
        All outcomes up to the least value of both are one class, since their likelihood ratio is one; so are those from
        the largest on.

    Examples
    --------
    >>> round(float(noisy_integers([0], [3], scale=2.0).epsilon(0.0)), 6)
    1.5
    """
    both = np.concatenate([p, q])
    outcomes = np.arange(both.min(), both.max() + 1)
    mass = np.full(len(outcomes), math.log(math.tanh(1 / (2 * scale))))
    tail = -math.log1p(math.exp(-1 / scale))
    mass[0] = mass[-1] = tail
    if len(outcomes) == 1:
        return pair_of([1.0], [1.0])
    laws = [_mixture(-np.abs(outcomes[:, None] - np.asarray(values)) / scale) + mass for values in (p, q)]
    return pair_of(*laws, log=True)


@dataclass(frozen=True, eq=False)
class NoisyReals:
    """Laplace noise on a number drawn evenly from a list, against the same on another list.

    Parameters
    ----------
    p, q : array_like of float, shape (values,)
    scale : float
        Above 0.

    Notes
    -----
    Between neighbouring values either density is a sum of a rising and a falling exponential of one rate. So their
    ratio is monotone there, and any difference of the two has one root at most and an elementary integral.

    Examples
    --------
    >>> round(NoisyReals([0.0], [3.0], scale=2.0).epsilon(0.0), 6)
    1.5
    """

    p: ArrayLike
    q: ArrayLike
    scale: float

    def delta(self, epsilons: ArrayLike) -> NDArray[np.float64]:
        """Least delta at every epsilon, shape of `epsilons`."""
        both = as_floats("epsilons", epsilons)
        p, q = self.p, self.q
        flat = [max(self._hockey_stick(p, q, e), self._hockey_stick(q, p, e)) for e in both.ravel()]
        return np.array(flat).reshape(both.shape)

    def epsilon(self, delta: float) -> float:
        """Least epsilon at one delta."""
        ends = np.unique(np.concatenate([self.p, self.q]))[:, None]
        p, q = (_mixture(-np.abs(ends - np.asarray(values)) / self.scale) for values in (self.p, self.q))
        largest = float(np.abs(p - q).max())
        if delta == 0:
            return largest
        if self.delta(0.0) <= delta:
            return 0.0
        return float(scipy.optimize.brentq(lambda e: float(self.delta(e)) - delta, 0.0, largest))

    def _hockey_stick(self, p: ArrayLike, q: ArrayLike, epsilon: float) -> float:
        """Integral of what the first density has above e^epsilon times the second."""
        centres = np.concatenate([p, q]).astype(float) / self.scale
        sizes = np.r_[np.full(np.size(p), 1 / np.size(p)), np.full(np.size(q), -math.exp(epsilon) / np.size(q))]
        ends = np.unique(centres)

        def weight(far: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.exp(-np.where(far >= 0, far, np.inf)) @ sizes

        falling, rising = weight(ends[:, None] - centres), weight(centres - ends[:, None])
        tails = max(rising[0], 0) + max(falling[-1], 0)
        left, right, a, b = ends[:-1], ends[1:], falling[:-1], rising[1:]
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (left + right + np.log(-a / b)) / 2
        root = np.clip(np.where(a * b < 0, root, right), left, right)
        pieces = [
            a * (np.exp(left - start) - np.exp(left - stop)) + b * (np.exp(stop - right) - np.exp(start - right))
            for start, stop in ((left, root), (root, right))
        ]
        return float(tails + np.maximum(pieces, 0).sum()) / 2


def _mixture(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(scipy.special.logsumexp(logs, axis=1) - math.log(logs.shape[1]))


@exact.register
def noisy_count_law(mechanism: LaplaceUnif, data: Rankings, other: Rankings) -> Divergence:
    """Of the noisy count, from which all else follows.

    Examples
    --------
    >>> agreeing, split = Rankings([[0, 1]] * 2, "ab"), Rankings([[0, 1], [1, 0]], "ab")
    >>> round(noisy_count_law(LaplaceUnif(2, 2, 2.0, 0.0), agreeing, split).epsilon(0.0), 6)
    0.5
    """
    kind = noisy_integers if mechanism.law == "discrete" else NoisyReals
    return kind(noise_free(mechanism, data), noise_free(mechanism, other), mechanism.scale)


@exact.register(NoisyNorm)
@exact.register(BatchVote)
def noisy_number_law(mechanism: NoisyNorm | BatchVote, data: Rankings, other: Rankings) -> PairLaw:
    """Of the noisy whole number, from which all else follows."""
    return noisy_integers(noise_free(mechanism, data), noise_free(mechanism, other), mechanism.scale)


@exact.register
def tulap_number_law(mechanism: OptimalVote, data: Rankings, other: Rankings) -> PairLaw:
    """Of the noisy number of votes, of every pairing."""
    return tulap_votes_law(mechanism, noise_free(mechanism, data), noise_free(mechanism, other))


def tulap_votes_law(mechanism: OptimalVote, votes: ArrayLike, others: ArrayLike) -> PairLaw:
    """Of a noisy number of votes, any of `votes` or of `others`; points of its grid with the same ratio are one class.

    Examples
    --------
    >>> test = OptimalVote(2, 4, 2, 2.0, scale=2.0, threshold=1.0)
    >>> round(tulap_votes_law(test, [2], [1]).epsilon(0.0), 6)
    0.5
    """
    both = np.asarray(votes), np.asarray(others)
    if mechanism.bound == math.inf:
        # what is added between two whole numbers does not depend on the data
        return noisy_integers(*both, mechanism.scale)
    whole, law = tulap_law(mechanism.scale, mechanism.bound)
    found = np.zeros((2, len(whole) + mechanism.n_batches, law.shape[1]))
    for one, numbers in zip(found, both, strict=True):
        for number in numbers:
            one[number : number + len(whole)] += law / len(numbers)
    return pair_of(found[0].ravel(), found[1].ravel())


@exact.register(Bucketed)
@exact.register(Trun)
def answer_law(mechanism: Bucketed | Trun, data: Rankings, other: Rankings) -> PairLaw:
    """Of the answer, which is all that is published.

    Examples
    --------
    >>> agreeing, split = Rankings([[0, 1]] * 2, "ab"), Rankings([[0, 1], [1, 0]], "ab")
    >>> test = Trun(2, 2, coin=0.5, start=0.0, width=2.0)
    >>> round(math.exp(answer_law(test, agreeing, split).epsilon(0.0)), 6)  # 3/4 and 1/4
    3.0
    """
    return pair_of(*(decision_law(rejection(mechanism, one)) for one in (data, other)))


# --- many releases at once -------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _known(function: Callable[[Any, Rankings], NDArray[Any]], mechanism: Any, data: Rankings) -> NDArray[Any]:
    """What a test looks at, of every pairing, once for all rounds of an audit."""
    return function(mechanism, data)


@sample.register
def draw_noisy_counts(
    mechanism: LaplaceUnif, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Decisions and statistics of `LaplaceUnif`, shape (size, 2).

    Examples
    --------
    >>> test, data = LaplaceUnif(2, 2, scale=0.02, threshold=1.0), Rankings([[0, 1]] * 2, "ab")
    >>> draw_noisy_counts(test, data, 2, np.random.default_rng(1)).tolist()
    [[1.0, 2.0], [1.0, 2.0]]
    """
    values = rng.choice(_known(noise_free, mechanism, data), size)
    y = mechanism.statistic(values + noise.draw("laplace", mechanism.law, mechanism.scale, size, rng=rng))
    return np.column_stack([y >= mechanism.threshold, y])


@sample.register
def draw_noisy_norms(mechanism: NoisyNorm, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Decisions and noisy norms of `NoisyNorm`, shape (size, 2).

    Examples
    --------
    >>> draw_noisy_norms(NoisyNorm(2, 9, 0.02), Rankings([[0, 1]] * 9, "ab"), 2, np.random.default_rng(1)).tolist()
    [[1, 288], [1, 288]]
    """
    without = rng.choice(_known(noise_free, mechanism, data), size)
    noisy = without + noise.discrete_laplace(mechanism.scale, size, rng=rng)
    threshold: Any = mechanism.threshold() if mechanism.statistic == "pairs" else _simulated(mechanism, size, rng)
    return np.column_stack([noisy >= threshold, noisy])


@sample.register(BatchVote)
@sample.register(OptimalVote)
def draw_noisy_votes(
    mechanism: BatchVote | OptimalVote, data: Rankings, size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Decisions and noisy votes of `BatchVote` or `OptimalVote`, shape (size, 2)."""
    without = rng.choice(_known(noise_free, mechanism, data), size)
    if isinstance(mechanism, OptimalVote):
        noisy: NDArray[Any] = tulap(without, mechanism.scale, mechanism.bound, rng=rng)
    else:
        noisy = without + noise.discrete_laplace(mechanism.scale, size, rng=rng)
    return np.column_stack([noisy >= mechanism.threshold, noisy])


@sample.register
def draw_batch_answers(mechanism: Bucketed, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Decisions of `Bucketed`, twice, as its release has them: shape (size, 2).

    Examples
    --------
    >>> test, data = Bucketed(2, 4, 2, 2.0, coin=1e-300), Rankings([[0, 1]] * 4, "ab")
    >>> draw_batch_answers(test, data, 2, np.random.default_rng(1)).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    rejects = rng.random(size) < rng.choice(_known(rejection, mechanism, data), size)
    return np.column_stack([rejects, rejects]).astype(float)


@sample.register
def draw_ramp_answers(mechanism: Trun, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Decisions of `Trun`, shape (size, 1).

    Examples
    --------
    >>> test, data = Trun(2, 2, coin=1e-12, start=0.0, width=2.0), Rankings([[0, 1]] * 2, "ab")
    >>> draw_ramp_answers(test, data, 2, np.random.default_rng(1)).tolist()
    [[1.0], [1.0]]
    """
    return (rng.random(size) < rng.choice(_known(rejection, mechanism, data), size)).astype(float)[:, None]


def _simulated(mechanism: NoisyNorm, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Thresholds of as many releases, each from uniform rankings of its own."""
    shape = (size, mechanism.null_draws, mechanism.n_voters, mechanism.n_items)
    uniform = rng.permuted(np.broadcast_to(np.arange(mechanism.n_items), shape), axis=-1)
    null = mechanism.on_grid(mechanism.squared_norm(uniform))
    null += noise.discrete_laplace(mechanism.scale, null.shape, rng=rng)
    allowed = math.floor(mechanism.size * (1 + mechanism.null_draws)) - 1
    return np.asarray(np.sort(null, axis=1)[:, -1 - allowed] + 1)
