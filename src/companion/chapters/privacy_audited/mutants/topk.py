"""Bugs planted in selections of the k largest."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from companion.chapters.privacy_audited.cases.topk import comparisons_of, lows_rise
from companion.chapters.privacy_audited.planted import Mutant, listed, miscalibrated, rewritten
from dprank.data.comparisons import Comparisons
from dprank.pairwise import top_set_law
from dprank.privacy import noise as noises
from dprank.privacy.divergence import PairLaw, pair_of, whole_noise
from dprank.privacy.guarantee import Guarantee
from dprank.privacy.laws import sample
from dprank.topk import JointExponential, Oneshot, Peeling, PrivateRankCentrality
from dprank.topk.laws import joint_choices
from dprank.topk.noise_laws import LAWS

Array = NDArray[np.float64]
Rows = NDArray[Any]
Pairs = list[tuple[Any, Any]]

#: The right ones.
ONE, TWO = (Oneshot.calibrated(epsilon=1.0, k=k) for k in (1, 2))
WHOLE = Oneshot.calibrated(epsilon=2.0, k=1, adjacency="add_remove")
STABLE = Oneshot(1, 1.0, adjacency="add_remove")
ROUNDS, FIRST = (Peeling.calibrated(epsilon=1.0, k=k, noise="gumbel", composition="basic") for k in (2, 1))
JOINT = JointExponential.calibrated(epsilon=1.0, n_items=4, k=2)
PATH = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=3, k=1, samples=20, pairs=((0, 1), (1, 2)), relative=False)
#: Lead from which noise "cannot matter", and bound of "absurd" noise, both in units of the values.
CLEAR, BOUND = 8, 4
#: Most winners of the loop that stops by itself, and the lead below which it does, in scales.
MOST, LEAD = 4, 0.5
#: Counts above it are published; a record adds one to one count.
THRESHOLD = 4
#: Scales beyond which whole noise has no place in an exact law.
_REACH = 40


def mutants() -> list[Mutant]:
    """Those of `Oneshot`, `Peeling`, `JointExponential` and `PrivateRankCentrality`."""
    return [*_one_shot(), *_peeled(), *_joint(), *_spectral(), _threshold()]


def harmless() -> Mutant:
    """What looks like a bug and costs nothing: rounds that share their noise are one pass, and k rounds whose losses
    are added up promise no less than one pass.
    """
    right = Peeling.calibrated(epsilon=1.0, k=2, noise="exponential", composition="basic")
    return miscalibrated("noise reused in every round, losses added up", right, _one_pass(right), _rises(2, 2, 0, 4))


def _rises(lows: int, tops: int, *gaps: float) -> Pairs:
    """Low values rise and those a gap above fall."""
    return [lows_rise(lows, tops, gap, "replace") for gap in gaps]


def _one_shot() -> list[Mutant]:
    pair = partial(Oneshot.calibrated, epsilon=1.0, k=2, noise="exponential")
    loaded, monotone, valued = pair(), pair(adjacency="add_remove"), pair(values=True)
    few = partial(Oneshot.calibrated, epsilon=1.0, n_items=5, k=4)
    as_list, as_set, gumbel = few(ordered=True), few(), few(noise="gumbel")
    free = replace(valued, scale=loaded.scale, value_scale=loaded.scale)
    counts: Pairs = [((0, 0, 0), (1, 1, 0)), ((0, 0, 0), (1, 0, 0)), ((4, 0, 0), (5, 0, 0))]
    cheap, quiet = replace(loaded, scale=monotone.scale), replace(gumbel, scale=as_set.scale)
    bare = replace(as_set, ordered=True)
    return [
        miscalibrated("half the noise in one pass", TWO, replace(TWO, scale=TWO.scale / 2), _rises(2, 2, 0, 8)),
        miscalibrated("monotone discount under replacement", loaded, cheap, _rises(2, 2, 0, 8)),
        miscalibrated("values released at the price of the index set", valued, free, _rises(2, 2, 0, 4)),
        miscalibrated("order released at the price of the set", as_list, bare, _rises(2, 3, 0, 4)),
        miscalibrated("the few left out said to be cheap for Gumbel noise", gumbel, quiet, _rises(4, 1, 0, 4)),
        listed("one draw shared by all items", TWO, _rises(2, 2, 0, 1, 4), _shared, _shared_law),
        listed("noise skipped when the gap is large", ONE, _rises(2, 1, 0, 2, CLEAR), _skipping, _skipping_law),
        listed("noise clipped where it is absurd", ONE, _rises(1, 1, 0, 2, 2 * BOUND + 1), _clipped, _clipped_law),
        listed("ties broken by true count", WHOLE, counts, _true_ties, _true_ties_law),
    ]


def _shared(data: Any, size: int, rng: np.random.Generator) -> Rows:
    noisy = np.asarray(data, float) + LAWS["laplace"].draw(TWO.scale, (size, 1), rng)
    return np.sort(np.argsort(-noisy, axis=1, kind="stable")[:, : TWO.k], axis=1)


def _shared_law(data: Any) -> Mapping[Any, float]:
    return {tuple(np.sort(np.argsort(-np.asarray(data, float), kind="stable")[: TWO.k])): 1.0}


def _skipping(data: Any, size: int, rng: np.random.Generator) -> Rows:
    return np.full((size, 1), np.argmax(data)) if _is_clear(data) else sample(ONE, data, size, rng)


def _skipping_law(data: Any) -> Mapping[Any, float]:
    return {(int(np.argmax(data)),): 1.0} if _is_clear(data) else top_set_law(data, ONE.scale, 1)


def _is_clear(data: Any) -> bool:
    second, first = np.sort(data)[-2:]
    return bool(first - second >= CLEAR)


def _clipped(data: Any, size: int, rng: np.random.Generator) -> Rows:
    noise = noises.discrete_laplace(ONE.scale, (size, len(data)), rng=rng).clip(-BOUND, BOUND)
    return (np.asarray(data) + noise + rng.random(noise.shape)).argmax(axis=1)[:, None]


def _clipped_law(data: Any) -> Mapping[Any, float]:
    step, chance = whole_noise("laplace", ONE.scale, math.ceil(_REACH * ONE.scale))
    clipped = np.bincount(step.clip(-BOUND, BOUND) + BOUND, chance).astype(float)
    return _winner_law(data, np.arange(-BOUND, BOUND + 1), clipped, np.zeros(len(data)))


def _true_ties(data: Any, size: int, rng: np.random.Generator) -> Rows:
    noise = noises.discrete_laplace(WHOLE.scale, (size, len(data)), rng=rng)
    # less than a unit in all: true counts decide between equal noisy ones, and chance between equal true ones
    noisy = np.asarray(data) * 0.1 + rng.random(noise.shape) * 0.01 + np.asarray(data) + noise
    return noisy.argmax(axis=1)[:, None]


def _true_ties_law(data: Any) -> Mapping[Any, float]:
    step, chance = whole_noise("laplace", WHOLE.scale, math.ceil(24 * WHOLE.scale))
    return _winner_law(data, step, chance, np.asarray(data) * 0.1)


def _winner_law(data: Any, step: Rows, chance: Array, extra: Array) -> Mapping[Any, float]:
    """Law of the largest noisy value, equal ones in random order, by listing all noise."""
    noise, chances = (np.stack(np.meshgrid(*[of] * len(data)), -1).reshape(-1, len(data)) for of in (step, chance))
    noisy = np.asarray(data, float) + extra + noise
    first = np.isclose(noisy, noisy.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
    return dict(enumerate(chances.prod(axis=1) @ (first / first.sum(axis=1, keepdims=True))))


def _peeled() -> list[Mutant]:
    four = Peeling.calibrated(epsilon=1.0, k=4, noise="laplace", composition="basic")
    many = Peeling.calibrated(epsilon=1.0, delta=0.05, k=5, noise="exponential")
    spent, half = replace(four, scale=four.scale / four.k), replace(ROUNDS, scale=ROUNDS.scale / 2)
    return [
        miscalibrated("epsilon spent in every round", four, spent, _rises(4, 1, 0, 4)),
        miscalibrated("factor 2 forgotten in the loss of a round", ROUNDS, half, _rises(2, 2, 0, 8)),
        listed(
            "stops when the lead is small, priced as one round", FIRST, _rises(3, 2, 0, 4), _stopping, _stopping_law
        ),
        miscalibrated("noise reused in every round, optimal composition", many, _one_pass(many), _rises(1, 5, 0, 4)),
    ]


def _one_pass(rounds: Peeling) -> Oneshot:
    """The same with one draw of noise for all rounds."""
    return Oneshot(rounds.k, rounds.scale, rounds.noise, adjacency=rounds.adjacency, ordered=True)


def _stopping(data: Any, size: int, rng: np.random.Generator) -> Rows:
    """Winners until one leads by little; -1 where no more are published."""
    left = np.tile(np.asarray(data, float), (size, 1))
    out, rows, goes_on = np.full((size, MOST), -1), np.arange(size), np.ones(size, bool)
    for column in range(MOST):
        noisy = left + LAWS["gumbel"].draw(FIRST.scale, left.shape, rng)
        winner = noisy.argmax(axis=1)
        out[goes_on, column] = winner[goes_on]
        second, first = np.partition(noisy, -2, axis=1)[:, -2:].T
        goes_on &= first - second >= LEAD * FIRST.scale
        left[rows, winner] = -np.inf
    return out


def _stopping_law(data: Any) -> Mapping[Any, float]:
    """To win by a lead is to win with that much less."""
    worth = np.asarray(data, float) / FIRST.scale
    law: defaultdict[tuple[int, ...], float] = defaultdict(float)

    def descend(won: tuple[int, ...], chance: float) -> None:
        left = [item for item in range(len(worth)) if item not in won]
        if len(won) == MOST or len(left) == 1:
            law[won if len(won) == MOST else (*won, *left)] += chance
            return
        wins = softmax(worth[left])
        for at, item in enumerate(left):
            leads = float(softmax(worth[left] - LEAD * (np.arange(len(left)) == at))[at])
            law[(*won, item)] += chance * (float(wins[at]) - leads)
            descend((*won, item), chance * leads)

    descend((), 1.0)
    return law


def _joint() -> list[Mutant]:
    half, cheap = (
        replace(JOINT, scale=JOINT.scale / 2),
        JointExponential.calibrated(epsilon=1.0, n_items=4, k=2, adjacency="add_remove"),
    )
    data = _rises(2, 2, 0, 8, 40)
    return [
        miscalibrated("a joint loss said to move as one value does", JOINT, half, data),
        miscalibrated(
            "monotone discount for a joint loss under replacement", JOINT, replace(JOINT, scale=cheap.scale), data
        ),
        listed("sets that lose much never drawn", JOINT, data, _pruned, _pruned_law),
    ]


def _pruned(data: Any, size: int, rng: np.random.Generator) -> Rows:
    law = _pruned_law(data)
    return np.array(list(law))[rng.choice(len(law), size, p=list(law.values()))]


def _pruned_law(data: Any) -> Mapping[Any, float]:
    """Of those that lose less than `CLEAR`, the items left out compared with those taken."""
    x = np.asarray(data, float)
    kept = {
        chosen: chance
        for chosen, chance in joint_choices(JOINT, x).items()
        if np.delete(x, chosen).max() - x[list(chosen)].min() < CLEAR
    }
    return {chosen: chance / sum(kept.values()) for chosen, chance in kept.items()}


def _spectral() -> list[Mutant]:
    def pairs(mechanism: PrivateRankCentrality, *wins: tuple[int, ...]) -> Pairs:
        return [(comparisons_of(mechanism, w), comparisons_of(mechanism, (w[0] + 1, *w[1:]))) for w in wins]

    share = PrivateRankCentrality.calibrated(epsilon=1.0, n_items=2, k=1, samples=20, damped=False, relative=False)
    half = replace(share, scale=share.scale / 2)
    data = pairs(PATH, (1, 18), (9, 10), (18, 0))
    return [
        miscalibrated("half range of scores taken for their range", share, half, pairs(share, (0,), (4,), (9,))),
        miscalibrated("shares not damped", PATH, replace(PATH, damped=False), data),
        rewritten("noisy shares published, their scale read off the data", PATH, data, _own_scale, _own_scale_loss),
    ]


def _own_scale(data: Comparisons, size: int, rng: np.random.Generator) -> Rows:
    shares, scale = _shares_and_scale(data)
    return shares + noises.laplace(scale, (size, len(shares)), rng=rng)


def _own_scale_loss(data: Comparisons, other: Comparisons) -> PairLaw:
    """Of the first share, in cells up to 40 scales away: a lower bound. In truth there is no bound."""
    both = [_shares_and_scale(data), _shares_and_scale(other)]
    edges = both[0][0][0] + 40 * max(width for _, width in both) * np.linspace(-1, 1, 81)
    laws = []
    for shares, width in both:
        z = (edges - shares[0]) / width
        below, above = np.exp(LAWS["laplace"].log_below(z)), np.exp(LAWS["laplace"].log_above(z))
        # differences of tails, of the nearer one
        inner = np.where(z[1:] < 0, np.diff(below), -np.diff(above))
        laws.append(np.r_[below[0], inner, above[-1]])
    return pair_of(*laws)


def _shares_and_scale(data: Comparisons) -> tuple[Array, float]:
    """The long-run shares, and their noise for the ergodicity coefficient of the data."""
    shares = PATH.shares(data)
    law = replace(PATH, damped=False).scores(shares)
    return law, PATH.scale * float(law.sum() / PATH.scores(shares).sum())


def _threshold() -> Mutant:
    """Noise on positive counts only: the chance that a count of 1 passes is the delta of the promise."""
    promise = Guarantee(1 / STABLE.scale, 1 - _values_law((1,), strict=True)[-1], adjacency="add_remove")
    return listed(
        "inclusive threshold where a strict one was charged",
        STABLE,
        [((0,), (1,)), ((1,), (2,)), ((3,), (4,))],
        partial(_passing, strict=False),
        partial(_values_law, strict=False),
        guarantee=promise,
        twin=partial(_passing, strict=True),
    )


def _passing(data: Any, size: int, rng: np.random.Generator, *, strict: bool) -> Rows:
    """Noisy counts above the threshold; -1 where none is published."""
    x = np.asarray(data)
    noisy = x + noises.discrete_laplace(STABLE.scale, (size, len(x)), rng=rng)
    return np.where((x > 0) & (noisy >= THRESHOLD + strict), noisy, -1)


def _values_law(data: Any, *, strict: bool) -> Mapping[Any, float]:
    """Of a single count."""
    (count,) = data
    step, chance = whole_noise("laplace", STABLE.scale, math.ceil(_REACH * STABLE.scale))
    passes = step + count >= THRESHOLD + strict
    law = dict(zip((step + count)[passes].tolist(), chance[passes].tolist(), strict=True)) if count > 0 else {}
    return law | {-1: 1 - sum(law.values())}
