"""Is it fair? What every contender really loses at the arena's sizes (long: a law each).

A loss is that of the exact law of what is released, from the noise that is drawn, on the worst neighbours known: data
of as many people, who give as many answers, as the heat has. No promise enters it. Where no law is known, bets on
releases give a lower bound. Either way more may be lost on neighbours that nobody has thought of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial, singledispatch
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, log_softmax, logsumexp

from companion.instruments.sweep import stream
from companion.printed.alabi2022 import PrintedPair
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.local_reports import OneRound
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_footrule import PrivateFootrule
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.randomisers import SampledOrder
from dprank.aggregation.winner import PrivateWinner
from dprank.audit.betting import lower_bound
from dprank.cli.neighbours import alike, split, worst_pairs
from dprank.data.counting import GRAIN
from dprank.data.rankings import Rankings
from dprank.pairwise.local_comparisons import LocalComparisons
from dprank.pairwise.noisy_counts import NoisyCounts
from dprank.pairwise.perturbed_mle import PerturbedMLE
from dprank.privacy.divergence import GaussianShift, PairLaw, pair_of
from dprank.privacy.laws import NoExactRoute, exact, sample
from dprank.privacy.noise import Law
from dprank.privacy.randomized_response import GRAIN as COINS
from dprank.topk.curve import Types, pair_law
from dprank.topk.joint import JointExponential
from dprank.topk.laws import _log_winner
from dprank.topk.local import LocalTopK
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.uniformity.laplace import LaplaceUnif
from dprank.uniformity.laws import tulap_votes_law, votes_by
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.local_two_stage import LocalTwoStage
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.optimal_vote import OptimalVote
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.truncated import Trun

__all__ = ["CONFIDENCE", "NONE_KNOWN", "Loss", "Size", "gaussian_loss", "list_loss", "loss", "taken_law"]

Array = NDArray[np.float64]

#: Of a lower bound by bets, and how many releases they are on.
CONFIDENCE, RELEASES = 0.999, 4000
#: Longest table of the law of a discrete Gaussian loss; noise that needs a longer one is as good as continuous.
LONGEST = 1 << 17
#: Standard deviations beyond which nothing is seen at a delta of 1e-6, and exponents that are as good as infinite.
_REACH, _FAR = 12.0, 40.0
#: Gap, in scales, at which a double still holds the chance of an item that is so far behind.
_SEEN = 300.0
#: Lead of items from which people turn away over those that they turn to, in scales of the noise, at a delta.
_OFFSETS = (-2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0, 12.0)
#: So many of the pairs that tell most of a set are tried where rounds have noise of their own.
_TRIED = 2
#: Outcomes that are no part of an epsilon at a delta.
_NEVER = 1e-20
#: How a loss is known where it is not.
NONE_KNOWN = "no neighbours known"


class Size(NamedTuple):
    """How many people a heat has, and how many answers, or items, each of them."""

    people: int
    answers: int = 1


class Loss(NamedTuple):
    """Epsilon that neighbours lose at the mechanism's delta, how that is known, and which they are."""

    epsilon: float
    how: str  # "exact law"; "part of it": of less than is released; "of more": an upper bound, then; "bets"
    on: str


def loss(mechanism: Any, size: Size) -> Loss:
    """The largest of all neighbours known."""
    return max(losses(mechanism, size))


@singledispatch
def losses(mechanism: Any, size: Size) -> Iterator[Loss]:
    """Of all pairs of neighbours known, one by one."""
    try:
        pairs = worst_pairs(mechanism)
    except ValueError:
        yield Loss(0.0, NONE_KNOWN, "")
        return
    delta = mechanism.guarantee.delta
    try:
        found = [Loss(exact(mechanism, *pair).epsilon(delta), "exact law", name) for name, pair in pairs.items()]
    except (NoExactRoute, ValueError):  # a law may take too large a table
        found = [_bets(mechanism, pairs)]
    yield from found


def _bets(mechanism: Any, pairs: dict[str, tuple[Any, Any]]) -> Loss:
    """On releases drawn together, which a test compares with those of the code that users run."""
    rng, promise = stream("arena: bets", {"mechanism": repr(mechanism)}), mechanism.guarantee
    seen = lower_bound(
        partial(sample, mechanism),
        list(pairs.values()),
        promise.epsilon,
        promise.delta,
        rng=rng,
        confidence=CONFIDENCE,
        budget=RELEASES,
        levels=promise.epsilon * np.arange(0.1, 2.0, 0.1),
    )
    return Loss(seen.epsilon, "bets", list(pairs)[seen.pair])


# --- noise on numbers, all of which come out --------------------------------------------------------------------------


@losses.register
def _(mechanism: NoisyCounts, size: Size) -> Iterator[Loss]:
    grain = GRAIN[mechanism.score]
    for name, pair in worst_pairs(mechanism).items():
        one, other = map(mechanism.counts, pair)
        lost = _shifted(mechanism.noise, one - other, mechanism.scale / grain, mechanism.delta, mechanism.law)
        yield Loss(lost, "exact law", name)


@losses.register
def _(mechanism: PerturbedMLE, size: Size) -> Iterator[Loss]:
    """On a public graph estimate and noisy half wins determine each other; elsewhere by the law of a density."""
    if mechanism.graph == "public" and mechanism.link.name == "logistic":
        counted = NoisyCounts(mechanism.n_items, mechanism.scale, per_person=mechanism.per_person, score="half")
        one, other = map(counted.counts, worst_pairs(_once(counted))["one person's answers reversed"])
        scale = mechanism.scale / GRAIN["half"]
        yield Loss(_shifted("laplace", one - other, scale, 0.0), "exact law", "one person's answers reversed")
    else:
        yield from losses.dispatch(object)(mechanism, size)


def _once(mechanism: NoisyCounts) -> NoisyCounts:
    """Where no pair is answered twice, if there are so many."""
    fits = mechanism.per_person <= math.comb(mechanism.n_items, 2)
    return NoisyCounts(
        mechanism.n_items,
        mechanism.scale,
        per_person=mechanism.per_person,
        score=mechanism.score,
        design="once" if fits else "any",
    )


@losses.register
def _(mechanism: NoisyMatrix, size: Size) -> Iterator[Loss]:
    above = np.triu_indices(mechanism.n_items, 1)
    for name, pair in worst_pairs(mechanism).items():
        one, other = (mechanism.margins(data)[above] for data in pair)
        steps, scale = (one - other) / 2 / mechanism.grain, mechanism.scale / mechanism.grain
        yield Loss(_shifted(mechanism.noise, steps, scale, mechanism.delta, mechanism.law), "exact law", name)


@losses.register
def _(mechanism: PrivateBorda, size: Size) -> Iterator[Loss]:
    """Differences of sums come out: a common shift of all, here by the middle one, is not seen."""
    for name, pair in worst_pairs(mechanism).items():
        one, other = map(mechanism.counts, pair)
        moves = one - other
        moves = moves - (np.sort(moves)[len(moves) // 2] if mechanism.noise == "laplace" else 0)
        scale = mechanism.scale / mechanism.grain
        yield Loss(_shifted(mechanism.noise, moves, scale, mechanism.delta, mechanism.law), "exact law", name)


@losses.register
def _(mechanism: PrivateFootrule, size: Size) -> Iterator[Loss]:
    """Of noisy counts of places, of which the order alone comes out."""
    for name, pair in worst_pairs(mechanism).items():
        one, other = map(mechanism.counts, pair)
        moves = np.ravel(one - other)
        yield Loss(_shifted(mechanism.noise, moves, mechanism.scale, mechanism.delta, mechanism.law), "of more", name)


@losses.register(NoisyNorm)
@losses.register(LaplaceUnif)
def _(mechanism: Any, size: Size) -> Iterator[Loss]:
    for name, pair in worst_pairs(mechanism).items():
        one, other = (_tested(mechanism, data, _pairing(mechanism)) for data in pair)
        yield Loss(_shifted("laplace", [one - other], mechanism.scale, 0.0), "exact law", name)


def _pairing(mechanism: Any) -> NDArray[np.int64]:
    """One for all: where all ballots are alike, or reversed, every pairing of the items gives the same number."""
    return np.arange(mechanism.n_items // 2 * 2).reshape(-1, 2)


def _tested(mechanism: NoisyNorm | LaplaceUnif, data: Rankings, pairing: NDArray[np.int64]) -> float:
    """The whole number that a test adds noise to."""
    if isinstance(mechanism, LaplaceUnif):
        first = (pair_signs(data.positions, pairing) > 0).sum(0, dtype=np.int64)
        return float((first * (len(data) - first)).sum())
    pairs = pairing if mechanism.statistic == "pairs" else None
    return float(mechanism.on_grid(mechanism.squared_norm(data.positions, pairs)))


@losses.register
def _(mechanism: OptimalVote, size: Size) -> Iterator[Loss]:
    for name, pair in worst_pairs(mechanism).items():
        one, other = ([votes_by(mechanism, data, _pairing(mechanism))] for data in pair)
        law = tulap_votes_law(mechanism, one, other)
        yield Loss(law.epsilon(mechanism.guarantee.delta), "exact law", name)


def _shifted(noise: str, moves: ArrayLike, scale: float, delta: float, law: Law = "discrete") -> float:
    """Of noise on numbers that move, whole ones if the noise is discrete.

    Without delta the worst that may come out are numbers far out on one side; where noise is conditioned to sum to
    zero, far out to either side.
    """
    steps = np.abs(np.asarray(moves, float))
    if noise == "gaussian" and law == "continuous":
        return GaussianShift(float(np.linalg.norm(steps)), scale).epsilon(delta)
    if noise == "gaussian":
        return gaussian_loss(steps.astype(np.int64), scale, delta)
    return float(steps.max() if noise == "cube" else math.fsum(steps)) / scale


def gaussian_loss(moves: ArrayLike, scale: float, delta: float) -> float:
    """Least epsilon at a delta of discrete Gaussian noise on whole numbers that move.

    The loss is linear in the sum of moves times draws, whose law is the product of the transforms of all draws: exact
    to some 1e-9. Where its table would be longer than `LONGEST`, the law is so smooth that the density of continuous
    noise stands for it; then a share of 1e-3 of delta is in doubt. O(table * different moves).
    """
    steps, counts = np.unique(np.abs(np.asarray(moves, np.int64)), return_counts=True)
    steps, counts = steps[steps > 0], counts[steps > 0]
    if not len(steps):
        return 0.0
    l2, common = math.sqrt(float(counts @ steps.astype(float) ** 2)), int(np.gcd.reduce(steps))
    length = 2 * math.ceil(_REACH * scale * l2 / common) + 2 * int(steps.max() // common) + 2
    if length > LONGEST:
        return GaussianShift(l2, scale).epsilon(delta)
    length = 1 << (length - 1).bit_length()
    at = (np.arange(length) + length // 2) % length - length // 2
    wide = np.arange(-math.ceil(_REACH * scale) - 1, math.ceil(_REACH * scale) + 2)
    one = np.bincount(wide % length, np.exp(-((wide / scale) ** 2) / 2), length)
    transform = np.fft.fft(one / one.sum()).real
    whole = np.ones(length)
    for step, count in zip(steps, counts, strict=True):
        whole *= transform[step // common * at % length] ** count
    chance = np.maximum(np.fft.ifft(whole).real, 0)
    lost = (l2 * l2 + 2 * common * at) / (2 * scale * scale)
    order = np.argsort(lost)
    lost, chance = lost[order], chance[order]

    def excess(epsilon: float) -> float:
        return float(chance @ -np.expm1(-np.maximum(lost - epsilon, 0))) - delta

    return float(brentq(excess, 0.0, float(lost[-1]), xtol=1e-12)) if excess(0.0) > 0 else 0.0


# --- orders, of which the release shows nothing else ------------------------------------------------------------------


@losses.register
def _(mechanism: ExponentialMechanism, size: Size) -> Iterator[Loss]:
    enough = min(size.people, int(_FAR / mechanism.rate) + 1)
    for name, pair in alike(mechanism.n_items, enough).items():
        yield Loss(exact(mechanism, *pair).epsilon(0.0), "exact law", name)


@losses.register
def _(mechanism: PrivateWinner, size: Size) -> Iterator[Loss]:
    """The further behind an item is, the more its chance moves, as far as doubles tell it from 0."""
    for people in {max(2, min(size.people, 4000) >> halvings) for halvings in range(0, 12, 2)}:
        for name, (one, other) in alike(mechanism.n_items, people).items():
            if people == 2 or np.ptp(mechanism.scores(one)) < _SEEN * mechanism.scale:
                yield Loss(exact(mechanism, one, other).epsilon(0.0), "exact law", f"{name} of {people}")


@losses.register
def _(mechanism: PrivateKwikSort, size: Size) -> Iterator[Loss]:
    """All ways to cut few items; of many, bets. At a delta a lead of about the noise tells more than none."""
    people = min(size.people, 2 + size.people % 2 + 2 * int(2 * mechanism.scale))
    behind = min(int(mechanism.scale), people // 2 - 1) if mechanism.delta else 0
    try:
        law = exact(mechanism, *_leaning(mechanism.n_items, people, people // 2 - behind))
    except NoExactRoute:
        yield _bets(mechanism, split(mechanism.n_items, people))
        return
    name = f"{people // 2 - behind} of {people} ballots alike, or one less"
    yield Loss(law.epsilon(mechanism.delta), "exact law", name)


def _leaning(n_items: int, people: int, forwards: int) -> tuple[Rankings, Rankings]:
    """Ballots of which so many are alike and all others reversed; and one of them turned round."""
    items, order = tuple(map(str, range(n_items))), list(range(n_items))
    both = [np.repeat([order, order[::-1]], [n, people - n], axis=0) for n in (forwards, forwards - 1)]
    return Rankings(both[0], items), Rankings(both[1], items)


# --- items that are chosen by noisy counts ----------------------------------------------------------------------------


@losses.register
def _(mechanism: Oneshot, size: Size) -> Iterator[Loss]:
    how = "part of it" if mechanism.ordered or mechanism.value_scale else "exact law"
    for name, _, law in _turning(mechanism, size):
        yield Loss(law.epsilon(mechanism.delta), how, name)


@losses.register
def _(mechanism: Peeling, size: Size) -> Iterator[Loss]:
    """Without delta a list that nobody expects; with one how many of each kind are chosen, where a set tells most."""
    k, scale, noise = mechanism.k, mechanism.scale, mechanism.noise
    turning = list(_turning(mechanism, size))
    if not mechanism.delta:
        for name, types, _ in turning:
            yield Loss(list_loss(types, k, scale, noise), "exact law", name)
        return
    for name, types, _ in sorted(turning, key=lambda one: one[2].epsilon(mechanism.delta))[-_TRIED:]:
        yield Loss(taken_law(types, k, scale, noise).epsilon(mechanism.delta), "part of it", name)


def _turning(mechanism: Oneshot | Peeling, size: Size) -> Iterator[tuple[str, Types, PairLaw]]:
    """Somebody turns from some items, as many as a person has, to others; and the law of the set in one pass.

    Without delta the former lead by far, and none of them is chosen. With one both kinds are nearly as likely, and all
    other items are either sure to be chosen or sure not to be, as far as counts between 0 and all people allow.
    """
    assert mechanism.n_items is not None
    m, k, n, scale = mechanism.n_items, mechanism.k, size.people, mechanism.scale
    most, few = min(size.answers, m - 1), min(k, size.answers, m - k)
    kinds: list[tuple[str, list[tuple[int, int, int]]]] = []
    if mechanism.delta:
        for up, down in {(few, few), (min(most, m // 2),) * 2}:
            for gap in (round(offset * scale) for offset in _OFFSETS):
                low, high, sure = min(gap, 0), max(gap, 1), max(0, min(k - few, m - up - down))
                room = (n - high + low) // (2 if sure else 1)
                far = min(int(_FAR * scale), room)
                rest = [(sure, high + far, high + far), (m - up - down - sure, low - far, low - far)]
                if up + down <= m and far >= 0:
                    kinds.append((f"{up} items rise, {down} fall", [(up, 0, 1), (down, gap, gap - 1), *rest]))
    else:
        gap = min(int(_FAR * scale) + 1, n)
        for up, down in product({few, most}, {1, min(most, m - k)}):
            if up + down <= m:
                rest = [(m - up - down, 0, 0)]
                kinds.append((f"{up} items far behind rise, {down} fall", [(up, 0, 1), (down, gap, gap - 1), *rest]))
    for name, those in kinds:
        types = Types(*map(list, zip(*[kind for kind in those if kind[0]], strict=True)))
        yield name, types, pair_law(types, k, scale, mechanism.noise)


@losses.register
def _(mechanism: JointExponential, size: Size) -> Iterator[Loss]:
    """Somebody turns from one of k items far ahead to one of the others: how likely that one is chosen in its stead."""
    m, k = mechanism.n_items, mechanism.k
    if mechanism.ordered or not mechanism.largest or m is None or k == m:
        yield from losses.dispatch(object)(mechanism, size)
        return
    choices = gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1)
    gap = min(int((_FAR + choices) * mechanism.scale) + 1, size.people)
    before = np.where(np.arange(m) < k, gap, 0)
    after = before - (np.arange(m) == k - 1) + (np.arange(m) == k)
    one, other = (_log_instead(mechanism, values) for values in (before, after))
    yield Loss(abs(one - other), "exact law", f"1 item rises, 1 falls that leads by {gap}")


def _log_instead(mechanism: JointExponential, values: NDArray[np.int64]) -> float:
    """Log probability of the choice that has item k, counted from 0, in the stead of the one before it."""
    k, scale = mechanism.k, mechanism.scale
    if k == 1:
        return float(log_softmax(values / scale)[k])
    ranked, chosen = -np.sort(-values), np.delete(values, k - 1)[:k]
    least = ranked[k] - ranked[k - 1]
    lost = max(values[k - 1], *values[k + 1 :], -math.inf) - chosen.min()
    # so many lose at most so much more than the least: a sum by parts
    more, log_number = mechanism._choices(values)[1].log_counts()
    steps = np.r_[np.diff(more), math.inf] / scale
    with np.errstate(divide="ignore"):
        total = logsumexp(log_number - more / scale + np.log(-np.expm1(-steps)))
    return float(-(lost - least) / scale - total)


def list_loss(types: Types, k: int, scale: float, noise: Any) -> float:
    """Log ratio of the list in which rounds take the items that rise, first, and then those of the last kind."""
    left, total = np.array(types.counts), 0.0
    for _ in range(k):
        kind = 0 if left[0] else len(left) - 1
        one, other = (_log_winner(left, np.asarray(values, float) / scale, noise)[kind] for values in types[1:])
        total += abs(float(one - other))
        left[kind] -= 1
    return total


def taken_law(types: Types, k: int, scale: float, noise: Any) -> PairLaw:
    """Law of how many of each kind the k rounds take, but for what is rarer than `_NEVER`.

    O(k^(kinds that may be taken)).
    """
    chances: dict[tuple[int, ...], NDArray[np.float64]] = {tuple(types.counts): np.ones(2)}
    for _ in range(k):
        further: dict[tuple[int, ...], NDArray[np.float64]] = {}
        for left, chance in chances.items():
            there = np.array(left)
            won = np.exp([_log_winner(there, np.asarray(values, float) / scale, noise) for values in types[1:]])
            for kind in np.flatnonzero((chance[:, None] * won > _NEVER).any(axis=0)):
                now = tuple((there - (np.arange(len(there)) == kind)).tolist())
                further[now] = further.get(now, np.zeros(2)) + chance * won[:, kind]
        chances = further
    return pair_of(*np.array(list(chances.values())).T)


# --- answers of a test, and what a voter sends ------------------------------------------------------------------------


@losses.register
def _(mechanism: Trun, size: Size) -> Iterator[Loss]:
    """All ballots alike but for some that are reversed: of every such number, and one more."""
    n = mechanism.n_voters
    forwards = np.arange(n // 2, n + 1)
    sums = np.repeat((2 * forwards - n)[:, None], mechanism.n_items // 2, axis=1)
    accepts = mechanism.accepts(sums)
    ratios = np.maximum(np.abs(np.diff(np.log(accepts))), np.abs(np.diff(np.log1p(-accepts))))
    yield Loss(float(ratios.max()), "exact law", f"{n - forwards[ratios.argmax() + 1]} ballots reversed, or one more")


@losses.register(LocalPairs)
@losses.register(LocalOneBit)
@losses.register(LocalTwoStage)
def _(mechanism: LocalPairs | LocalOneBit | LocalTwoStage, size: Size) -> Iterator[Loss]:
    """Every sign that a voter sends is turned by a coin of its own; a reversed ballot turns all of them."""
    bits = mechanism.n_pairs if isinstance(mechanism, LocalPairs) else 1
    yield Loss(bits * math.log((COINS - mechanism.flips) / mechanism.flips), "exact law", "one ballot reversed")


@losses.register
def _(mechanism: OneRound, size: Size) -> Iterator[Loss]:
    """Any order of a few items, their own or, if a coin says so, any at all."""
    order = getattr(mechanism.randomiser, "order", mechanism.randomiser)
    if isinstance(order, SampledOrder):
        yield _told_or_not(math.factorial(order.length), 1, order.kept, "one ballot reversed")
    elif isinstance(order, PrintedPair):
        ballot = np.arange(order.n_items)
        yield Loss(exact(mechanism, ballot, ballot[::-1]).epsilon(0.0), "exact law", "one ballot reversed")
    else:
        yield from losses.dispatch(object)(mechanism, size)


@losses.register
def _(mechanism: LocalComparisons, size: Size) -> Iterator[Loss]:
    yield _told_or_not(1 << mechanism.length, 1, mechanism.kept, "one person's answers reversed")


@losses.register
def _(mechanism: LocalTopK, size: Size) -> Iterator[Loss]:
    overlap = mechanism.overlap
    yield _told_or_not(overlap.all, overlap.fitting, mechanism.kept, "one person's items, or other ones")


def _told_or_not(ways: int, fitting: int, kept: int, name: str) -> Loss:
    """Of a report that fits what is true or, if a coin says so, is any of so many; one that fits nothing else."""
    told, any_way = Fraction(kept, fitting * COINS), Fraction(COINS - kept, ways * COINS)
    ratio = (told + any_way) / any_way
    return Loss(math.log(ratio.numerator) - math.log(ratio.denominator), "exact law", name)
