"""Audit of the central tests of uniformity.

All of them look at a statistic of disjoint pairs of items, in a pairing that is drawn and not published. Three add
Laplace noise to it and publish the sum, from which decision, threshold and p-value follow without the data; two
publish a decision alone. So the law of the output is a mixture over all pairings of a law that is known in closed
form: few items make it exact. The tests without privacy, `TwoSample`, `Unif`, `MallowsApproximate` and `Friedman`, make
no promise to audit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, singledispatch
from itertools import permutations
from string import ascii_lowercase
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp

from dprank import noise
from dprank._require import as_floats
from dprank.audit.case import Case, NoExactRoute, exact, features, sample
from dprank.divergence import Divergence, PairLaw, pair_of
from dprank.rankings import Rankings
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.decision import Decision
from dprank.uniformity.laplace import LaplaceUnif, disagreements
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.truncated import Trun

# --- what a test looks at, of every pairing --------------------------------------------------------------------------


def pairings(n_items: int) -> NDArray[np.int64]:
    """All that `disjoint_pairs` may draw, each as likely as any other: shape (n_items!, pairs, 2)."""
    orders = np.array(list(permutations(range(n_items))))
    return orders[:, : n_items // 2 * 2].reshape(len(orders), -1, 2)


@singledispatch
def noise_free(mechanism: Any, data: Rankings) -> NDArray[np.int64]:
    """The whole number that a test adds noise to, of every pairing, each as likely as any other."""
    raise NoExactRoute(type(mechanism).__name__)


@noise_free.register
def _(mechanism: LaplaceUnif, data: Rankings) -> NDArray[np.int64]:
    return np.array([disagreements(data.positions, pairs) for pairs in pairings(mechanism.n_items)])


@noise_free.register
def _(mechanism: NoisyNorm, data: Rankings) -> NDArray[np.int64]:
    if mechanism.statistic == "ranks":
        return mechanism.on_grid([mechanism.squared_norm(data.positions)])
    squared = [mechanism.squared_norm(data.positions, pairs) for pairs in pairings(mechanism.n_items)]
    return mechanism.on_grid(squared)


@noise_free.register
def _(mechanism: BatchVote, data: Rankings) -> NDArray[np.int64]:
    batches = range(mechanism.n_batches)
    return np.array(
        [sum(mechanism.batch_rejects(data, pairs, batch) for batch in batches) for pairs in pairings(mechanism.n_items)]
    )


@singledispatch
def rejection(mechanism: Any, data: Rankings) -> NDArray[np.float64]:
    """Probability that a test which publishes its decision alone rejects, of every pairing."""
    raise NoExactRoute(type(mechanism).__name__)


@rejection.register
def _(mechanism: Bucketed, data: Rankings) -> NDArray[np.float64]:
    share = [
        np.mean([mechanism.batch_rejects(data, pairs, batch) for batch in range(mechanism.n_batches)])
        for pairs in pairings(mechanism.n_items)
    ]
    return mechanism.coin / 2 + (1 - mechanism.coin) * np.array(share)


@rejection.register
def _(mechanism: Trun, data: Rankings) -> NDArray[np.float64]:
    sums = np.array([pair_signs(data.positions, pairs).sum(0) for pairs in pairings(mechanism.n_items)], np.int64)
    return 1 - mechanism.acceptance(sums.sum(1), (sums**2).sum(1) / mechanism.n_rankings)


def decision_law(rejection: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities to reject and to accept, from those to reject of every pairing."""
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
        return float(brentq(lambda e: float(self.delta(e)) - delta, 0.0, largest))

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
    return np.asarray(logsumexp(logs, axis=1) - math.log(logs.shape[1]))


@exact.register
def _(mechanism: LaplaceUnif, data: Rankings, other: Rankings) -> Divergence:
    kind = noisy_integers if mechanism.law == "discrete" else NoisyReals
    return kind(noise_free(mechanism, data), noise_free(mechanism, other), mechanism.scale)


@exact.register(NoisyNorm)
@exact.register(BatchVote)
def _(mechanism: NoisyNorm | BatchVote, data: Rankings, other: Rankings) -> PairLaw:
    return noisy_integers(noise_free(mechanism, data), noise_free(mechanism, other), mechanism.scale)


@exact.register(Bucketed)
@exact.register(Trun)
def _(mechanism: Bucketed | Trun, data: Rankings, other: Rankings) -> PairLaw:
    return pair_of(*(decision_law(rejection(mechanism, one)) for one in (data, other)))


# --- many releases at once -------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _known(function: Callable[[Any, Rankings], NDArray[Any]], mechanism: Any, data: Rankings) -> NDArray[Any]:
    """What a test looks at, of every pairing, once for all rounds of an audit."""
    return function(mechanism, data)


@features.register
def _(result: Decision) -> NDArray[np.float64]:
    published = np.array([result.reject, result.statistic], float)
    return published[~np.isnan(published)]


@sample.register
def _(mechanism: LaplaceUnif, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    values = rng.choice(_known(noise_free, mechanism, data), size)
    y = mechanism.statistic(values + noise.draw("laplace", mechanism.law, mechanism.scale, size, rng=rng))
    return np.column_stack([y >= mechanism.threshold, y])


@sample.register
def _(mechanism: NoisyNorm, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    without = rng.choice(_known(noise_free, mechanism, data), size)
    noisy = without + noise.discrete_laplace(mechanism.scale, size, rng=rng)
    threshold: Any = mechanism.threshold() if mechanism.statistic == "pairs" else _simulated(mechanism, size, rng)
    return np.column_stack([noisy >= threshold, noisy])


@sample.register
def _(mechanism: BatchVote, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    without = rng.choice(_known(noise_free, mechanism, data), size)
    noisy = without + noise.discrete_laplace(mechanism.scale, size, rng=rng)
    return np.column_stack([noisy >= mechanism.threshold, noisy])


@sample.register
def _(mechanism: Bucketed, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    rejects = rng.random(size) < rng.choice(_known(rejection, mechanism, data), size)
    return np.column_stack([rejects, rejects]).astype(float)


@sample.register
def _(mechanism: Trun, data: Rankings, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return (rng.random(size) < rng.choice(_known(rejection, mechanism, data), size)).astype(float)[:, None]


def _simulated(mechanism: NoisyNorm, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Thresholds of as many releases, each from uniform rankings of its own."""
    shape = (size, mechanism.null_draws, mechanism.n_rankings, mechanism.n_items)
    uniform = rng.permuted(np.broadcast_to(np.arange(mechanism.n_items), shape), axis=-1)
    null = mechanism.on_grid(mechanism.squared_norm(uniform))
    null += noise.discrete_laplace(mechanism.scale, null.shape, rng=rng)
    allowed = math.floor(mechanism.delta * (1 + mechanism.null_draws)) - 1
    return np.asarray(np.sort(null, axis=1)[:, -1 - allowed] + 1)


# --- the worst neighbours known --------------------------------------------------------------------------------------


def agreeing(n_items: int, n_rankings: int, dissenters: int = 0) -> Rankings:
    """Rankings of which the first few are the reverse of all others."""
    order = np.arange(n_items)
    rows = [order[::-1]] * dissenters + [order] * (n_rankings - dissenters)
    return Rankings(np.array(rows), list(ascii_lowercase[:n_items]))


def cases() -> list[Case]:
    """Every private test, as calibrated and as printed."""
    return [*_noisy_statistics(), *_batches(), *_truncated()]


def _noisy_statistics() -> list[Case]:
    """One of agreeing rankings is reversed; over all data of 3 rankings of 3 items no neighbours are worse."""
    right = LaplaceUnif.calibrated(4, 3, 1.0, 0.1)
    tests = {
        "calibrated": right,
        "calibrated, continuous noise": replace(right, law="continuous"),
        "printed": LaplaceUnif.as_printed(4, 3, 1.0, 0.05),
        "printed, odd number of items": LaplaceUnif.as_printed(5, 3, 1.0, 0.05),
    }
    norms = {
        "signs of pairs": NoisyNorm.calibrated(4, 3, 1.0),
        # few simulated null data sets suffice for a large size
        "ranks": NoisyNorm.calibrated(3, 3, 1.0, 0.25, statistic="ranks", null_draws=3),
    }
    return [
        *(_case(name, test, closed_form=test.sensitivity / test.scale) for name, test in tests.items()),
        # the norm falls from 3 / 2 to 1 / 2 sensitivities, both whole numbers of steps
        *(_case(name, norm, closed_form=norm.steps / norm.scale) for name, norm in norms.items()),
    ]


def _batches() -> list[Case]:
    """A reversed ranking among agreeing ones changes the outcome of its batch, whatever the pairing.

    Over all data of 6 rankings of 2 items in 3 batches no neighbours are worse. What is printed keeps a promise of
    (0, 1 / B) if there are B > 1 batches, but not that of the paper: its loss at delta 0 is infinite.
    """
    vote = BatchVote.calibrated(4, 9, 1.0, 0.3, n_batches=3, batch_level=0.2)
    coin = Bucketed.calibrated(4, 12, 1.0, 0.4, n_batches=4)
    spared = replace(coin, privacy_delta=0.1)
    return [
        _case("calibrated", vote, closed_form=1 / vote.scale),
        _case("with a coin", coin, closed_form=_coin_loss(coin)),
        _case("with a coin and a delta", spared, closed_form=_coin_loss(spared)),
        _case("printed", Bucketed.as_printed(4, 20, 0.25, 0.05), closed_form=math.inf, printed_delta=0.0),
    ]


def _coin_loss(test: Bucketed) -> float:
    """Loss where the rarer answer comes from the coin alone, or from one batch as well."""
    alone = test.coin / 2
    return math.log((alone + (1 - test.coin) / test.n_batches - test.privacy_delta) / alone)


def _truncated() -> list[Case]:
    """Of two items all data are listed: how many rankings put the first item first is all that matters."""
    smallest = Trun.as_printed(2, 2, 1 / 3, 0.05, 0.5)
    # the ramp ends at the norm of data, so that the step that the guarantee is about is taken
    ends = Trun(2, 10, delta=0.5, scale=1.0, start=2.0, width=8.0)
    return [
        _worst_split("calibrated", Trun.calibrated(2, 40, 1.0, 0.2)),
        _worst_split("ramp ends at data", ends, closed_form=ends.guarantee.epsilon),
        _worst_split("printed, two rankings", smallest, closed_form=math.log(2 / smallest.delta - 1)),
        _worst_split("printed, answers exchanged", replace(smallest, accept_large=False)),
        # as many as a corrected sample size asks for
        _worst_split("printed, many rankings", Trun.as_printed(2, 364, 1.0, 0.5, 1.0)),
    ]


def _worst_split(name: str, test: Trun, closed_form: float | None = None) -> Case:
    """The worst of all data of two items."""

    def loss(dissenters: int) -> float:
        return exact(test, *(agreeing(2, test.n_rankings, d) for d in (dissenters, dissenters + 1))).epsilon(0.0)

    return _case(name, test, max(range(test.n_rankings), key=loss), closed_form=closed_form)


def _case(name: str, mechanism: Any, dissenters: int = 0, **known: Any) -> Case:
    data, other = (agreeing(mechanism.n_items, mechanism.n_rankings, d) for d in (dissenters, dissenters + 1))
    printed = getattr(mechanism, "claimed_epsilon", None)
    source = "" if printed is None else "busafekete2021"
    title = f"{type(mechanism).__name__}, {name}"
    return Case(title, mechanism, data, other, printed, found="exhausted", source=source, **known)
