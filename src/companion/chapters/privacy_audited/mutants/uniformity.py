"""Bugs planted in the central tests of uniformity."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.chapters.privacy_audited.cases.uniformity import agreeing
from companion.chapters.privacy_audited.planted import Loss, Mutant, by_law, miscalibrated, rewritten
from dprank.audit.betting import Sampler
from dprank.data.rankings import Rankings
from dprank.privacy import noise
from dprank.privacy.divergence import PairLaw, pair_of, whole_noise
from dprank.privacy.laws import sample
from dprank.uniformity import BatchVote, Bucketed, LaplaceUnif, NoisyNorm, OptimalVote, Trun
from dprank.uniformity.laws import decision_law, noise_free, noisy_integers, pairings, rejection
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.tulap import tulap_sf

Array = NDArray[Any]
# Of one data set: a number or a probability, of every pairing.
Numbers = Callable[[Any], Array]
Pairs = Sequence[tuple[Any, Any]]

#: The tests without bugs.
COUNT = LaplaceUnif.calibrated(epsilon=1.0, n_items=4, n_voters=3, size=0.1)
NORM = NoisyNorm.calibrated(epsilon=1.0, n_items=2, n_voters=8)
COARSE = NoisyNorm.calibrated(epsilon=1.0, n_items=2, n_voters=3, steps=1)
VOTE = BatchVote.calibrated(epsilon=1.0, n_items=2, n_voters=12, size=0.3, n_batches=4, batch_level=0.3)
TULAP = OptimalVote.calibrated(epsilon=1.0, delta=0.02, n_items=2, n_voters=12, size=0.3, n_batches=4, batch_level=0.3)
COIN = Bucketed.calibrated(epsilon=1.0, n_items=4, n_voters=12, size=0.4, n_batches=4)
RAMP = Trun.calibrated(epsilon=1.0, n_items=2, n_voters=40, size=0.3)
#: Noise of `VOTE` that one bug leaves, and its probabilities.
KEPT, MASS = whole_noise("laplace", VOTE.scale, math.ceil(4 * VOTE.scale))
#: Names of what is published.
DECISION, BOTH, NOISY = ("the decision",), ("the decision", "the statistic"), ("the noisy number",)
GROUPS = ("the norm of the first group", "that of the second")


def mutants() -> list[Mutant]:
    """Those of `LaplaceUnif`, `NoisyNorm`, `BatchVote`, `OptimalVote`, `Trun` and `Bucketed`."""
    counted, norms, votes = _dissent(COUNT, 0, 1), _dissent(NORM, 0, 1, 2, 3), _dissent(VOTE, 0, 1)
    groups = [((data, data), (other, data)) for data, other in norms]
    # both ends of the ramp, its middle, and far beyond
    ramp, coin = _dissent(RAMP, 0, 14, 16, 17), _dissent(COIN, 0, 1)
    one_pair, half = replace(COUNT, scale=COUNT.scale / COUNT.n_pairs), replace(VOTE, scale=VOTE.scale / 2)
    steep, half_coin = replace(RAMP, width=RAMP.width / 4), replace(COIN, coin=COIN.coin / 2)
    half_tulap, near_tulap = replace(TULAP, scale=TULAP.scale / 2), replace(TULAP, bound=TULAP.bound / 2)
    count_told = _told(partial(noise_free, COUNT))
    return [
        miscalibrated("sensitivity of one pair for a test of all", COUNT, one_pair, counted, names=BOTH),
        _planted("statistic beside the decision", COUNT, counted, _with_statistic, count_told, BOTH),
        _planted("noise only near the threshold", NORM, norms, _near, by_law(_near_law), DECISION),
        _planted("noise drawn until the norm is not negative", NORM, norms, _redrawn, _redrawn_loss),
        _planted("seed derived from the data", NORM, norms, _seeded, _told(_seeded)),
        _planted(
            "one seed for the tests of two groups", NORM, groups, _same_seed, _told(_gap), GROUPS, twin=_two_groups
        ),
        _noisy("norm rounded half to even", COARSE, _half_to_even, _dissent(COARSE, 0, 1)),
        miscalibrated("half the noise on the votes", VOTE, half, votes, names=BOTH),
        _planted("noise cut off at four scales", VOTE, votes, _cut_off, by_law(_cut_off_law)),
        _noisy("batches compared with their own mean", VOTE, _above_mean, [(_split(4), _split(3))]),
        _noisy("number of batches follows from the data", VOTE, _batched_by_data, votes),
        miscalibrated("half the noise of an optimal vote", TULAP, half_tulap, votes, names=BOTH),
        miscalibrated("noise drawn again beyond half the bound", TULAP, near_tulap, votes, names=BOTH),
        _decides("coin at the threshold, no noise", TULAP, _coin_at_votes, [(_split(2), _split(3))]),
        _decides("noise truncated, its tail without a coin", RAMP, partial(_no_coin, RAMP), ramp),
        miscalibrated("ramp fitted to a typical step of the statistic", RAMP, steep, ramp, names=BOTH),
        _decides("coin only where the batch accepts", COIN, _coin_after, coin),
        miscalibrated("coin tossed half as often", COIN, half_coin, coin, names=BOTH),
    ]


def _planted(
    bug: str, right: Any, pairs: Pairs, sample: Sampler, loss: Loss, names: Sequence[str] = NOISY, **known: Any
) -> Mutant:
    """With one number a release, or several."""

    def rows(data: Any, size: int, rng: np.random.Generator) -> Array:
        return np.asarray(sample(data, size, rng), float).reshape(size, -1)

    return rewritten(bug, right, pairs, rows, loss, names=names, **known)


def _noisy(bug: str, right: NoisyNorm | BatchVote, numbers: Numbers, pairs: Pairs) -> Mutant:
    """The right noise on another number."""

    def draw(data: Any, size: int, rng: np.random.Generator) -> Array:
        return rng.choice(numbers(data), size) + noise.discrete_laplace(right.scale, size, rng=rng)

    return _planted(bug, right, pairs, draw, lambda p, q: noisy_integers(numbers(p), numbers(q), right.scale))


def _decides(bug: str, right: Any, rejects: Numbers, pairs: Pairs) -> Mutant:
    """Rejects with another probability."""

    def draw(data: Any, size: int, rng: np.random.Generator) -> Array:
        return rng.random(size) < rng.choice(rejects(data), size)

    return _planted(bug, right, pairs, draw, by_law(lambda data: decision_law(rejects(data))), DECISION)


def _told(numbers: Numbers) -> Loss:
    """Loss where a number gets out and everything else follows from it without the data."""

    def law(data: Any) -> dict[Any, float]:
        values = numbers(data)
        return {value: count / len(values) for value, count in Counter(values.tolist()).items()}

    return by_law(law)


def _dissent(test: Any, *dissenters: int) -> list[tuple[Rankings, Rankings]]:
    """One more of agreeing rankings is reversed."""
    data = partial(agreeing, test.n_items, test.n_voters)
    return [(data(number), data(number + 1)) for number in dissenters]


def _split(batches: int) -> Rankings:
    """Data of `VOTE` in which the first batches have a dissenter each."""
    rows = [agreeing(2, VOTE.batch_voters, batch < batches).positions for batch in range(VOTE.n_batches)]
    return Rankings(np.concatenate(rows), "ab")


def _with_statistic(data: Rankings, size: int, rng: np.random.Generator) -> Array:
    count: Any = rng.choice(noise_free(COUNT, data), size)
    noisy = COUNT.statistic(count + noise.discrete_laplace(COUNT.scale, size, rng=rng))
    return np.column_stack([noisy >= COUNT.threshold, COUNT.statistic(count)])


def _near(data: Rankings, size: int, rng: np.random.Generator) -> Array:
    noisy = rng.choice(noise_free(NORM, data), size)
    close = np.abs(noisy - NORM.threshold()) <= NORM.steps
    noisy = noisy + close * noise.discrete_laplace(NORM.scale, size, rng=rng)
    return noisy >= NORM.threshold()


def _near_law(data: Rankings) -> Array:
    short = NORM.threshold() - noise_free(NORM, data)
    return decision_law(np.where(np.abs(short) <= NORM.steps, NORM.noise_sf(short), short <= 0))


def _redrawn(data: Rankings, size: int, rng: np.random.Generator) -> Array:
    norm = rng.choice(noise_free(NORM, data), size)
    noisy = norm + noise.discrete_laplace(NORM.scale, size, rng=rng)
    while (negative := np.flatnonzero(noisy < 0)).size:
        noisy[negative] = norm[negative] + noise.discrete_laplace(NORM.scale, negative.size, rng=rng)
    return noisy


def _redrawn_loss(data: Rankings, other: Rankings) -> PairLaw:
    norms = [noise_free(NORM, one) for one in (data, other)]
    outcomes = np.arange(np.max(norms) + 1)[:, None]

    def law(norm: Array) -> Array:
        above = NORM.noise_sf(np.vstack([outcomes, np.full((1, 1), math.inf)]) - norm)
        return (-np.diff(above, axis=0) / above[0]).mean(axis=1)

    return pair_of(*map(law, norms))


def _seeded(data: Rankings, size: int = 1, _: np.random.Generator | None = None) -> Array:
    rng = np.random.default_rng(zlib.crc32(data.positions.tobytes()))
    return np.full(size, sample(NORM, data, 1, rng)[0, 1])


def _same_seed(data: tuple[Rankings, Rankings], size: int, rng: np.random.Generator) -> Array:
    drawn = noise.discrete_laplace(NORM.scale, size, rng=rng)
    return np.column_stack([rng.choice(noise_free(NORM, one), size) + drawn for one in data])


def _two_groups(data: tuple[Rankings, Rankings], size: int, rng: np.random.Generator) -> Array:
    return np.column_stack([sample(NORM, one, size, rng)[:, 1] for one in data])


def _gap(data: tuple[Rankings, Rankings]) -> Array:
    # of two items there is one pairing, so that nothing else is left to chance
    first, second = (noise_free(NORM, one) for one in data)
    return first - second


def _half_to_even(data: Rankings) -> Array:
    norm = np.sqrt([COARSE.squared_norm(data.positions, pairs) for pairs in pairings(COARSE.n_items)])
    return np.round(norm * COARSE.steps / math.sqrt(COARSE.squared_sensitivity)).astype(int)


def _cut_off(data: Rankings, size: int, rng: np.random.Generator) -> Array:
    return rng.choice(noise_free(VOTE, data), size) + rng.choice(KEPT, size, p=MASS)


def _cut_off_law(data: Rankings) -> Counter[int]:
    votes = noise_free(VOTE, data)
    found: Counter[int] = Counter()
    for count in votes.tolist():
        found.update(dict(zip((count + KEPT).tolist(), MASS / len(votes), strict=True)))
    return found


def _above_mean(data: Rankings) -> Array:
    signs = pair_signs(data.positions, pairings(VOTE.n_items)[0])
    squares = signs.reshape(VOTE.n_batches, VOTE.batch_voters).sum(axis=1, dtype=int) ** 2
    return np.array([(squares >= squares.mean()).sum()])


def _batched_by_data(data: Rankings) -> Array:
    """Unanimous batches, each with more rankings than there are different ones."""
    size = len(np.unique(data.positions, axis=0)) + 1
    signs = pair_signs(data.positions, pairings(VOTE.n_items)[0])
    sums = signs[: len(signs) // size * size].reshape(-1, size).sum(axis=1, dtype=int)
    return np.array([(np.abs(sums) == size).sum()])


def _coin_at_votes(data: Rankings) -> Array:
    """What the noise does between two whole numbers, and nothing else."""
    return tulap_sf(TULAP.threshold - noise_free(TULAP, data), 0.01)


def _no_coin(test: Trun | Bucketed, data: Rankings) -> Array:
    return (rejection(test, data) - test.coin / 2) / (1 - test.coin)


def _coin_after(data: Rankings) -> Array:
    batch = _no_coin(COIN, data)
    return batch + (1 - batch) * COIN.coin / 2
