"""Selection of the k largest (Qiao, Su and Zhang 2021), on the worst neighbours known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from companion.chapters.privacy_audited.cases.case import Case
from companion.printed.qiao2021 import theorem_2_1, theorem_2_2, theorem_3_5
from dprank.data.comparisons import Comparisons
from dprank.privacy.composition import Composition
from dprank.privacy.guarantee import Adjacency
from dprank.topk.curve import worst_pair
from dprank.topk.joint import JointExponential
from dprank.topk.noise_laws import Noise
from dprank.topk.oneshot import Oneshot
from dprank.topk.peeling import Peeling
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.topk.selection import spread

Array = NDArray[np.float64]
_NOISES: tuple[Noise, ...] = ("laplace", "gumbel", "exponential")
_ADJACENCIES: tuple[Adjacency, ...] = ("replace", "add_remove")
#: Items that are far apart lie so many noise scales apart.
_FAR = 100
#: Composition and noise of approximate rounds; then of one to eight low items, as many high ones and gaps of -4 .. 3
#: scales those that lose most.
_APPROXIMATE_ROUNDS: tuple[tuple[Composition, Noise, int, int, int], ...] = (
    ("optimal", "laplace", 4, 4, 0),
    ("optimal", "gumbel", 7, 4, 1),
    ("optimal", "exponential", 1, 4, 0),
    ("zcdp", "gumbel", 4, 8, -1),
    ("advanced", "laplace", 3, 4, 0),
)
_PATH, _TRIANGLE = ((0, 1), (1, 2)), ((0, 1), (0, 2), (1, 2))


def cases() -> list[Case]:
    """All selections: every noise, sets and lists, both adjacencies, pure and approximate, printed and calibrated."""
    pure = [*_one_shot(), *_approximate(), *_values(), *_contributions(), *_as_printed(), *_peeling(), *_joint()]
    return [*pure, *_centrality()]


def _one_shot() -> Iterator[Case]:
    for noise in _NOISES:
        for ordered in (False, True):
            shape = "list" if ordered else "set"
            for adjacency in _ADJACENCIES:
                mechanism = Oneshot.calibrated(epsilon=1.0, k=2, noise=noise, ordered=ordered, adjacency=adjacency)
                # exponential noise loses all where the items are equal, the others in the limit of a wide gap
                gap = 0 if noise == "exponential" else _FAR * mechanism.scale
                loss = 2 * spread(1.0, adjacency) / mechanism.scale if noise == "exponential" else None
                name = f"Oneshot, {noise}, {shape}, {adjacency}"
                yield _case(name, mechanism, lows_rise(2, 2, gap, adjacency), closed_form=loss)
            mechanism = Oneshot.calibrated(epsilon=1.0, k=2, noise=noise, ordered=ordered)
            name = f"Oneshot, {noise}, {shape}, counts up to 6"
            yield _case(name, mechanism, _worst_counts(noise), found="exhausted")
    for noise, closed in (("laplace", _laplace_behind), ("gumbel", lambda gap: -float(np.logaddexp(0.0, gap)))):
        mechanism = Oneshot.calibrated(epsilon=1.0, k=1, noise=noise)
        loss = closed(1 / mechanism.scale) - closed(3 / mechanism.scale)
        yield _case(f"Oneshot, {noise}, one of two", mechanism, lows_rise(1, 1, 3, "replace"), closed_form=loss)
    few = Oneshot.calibrated(epsilon=1.0, n_items=5, k=4)
    yield _case("Oneshot, laplace, four of five", few, lows_rise(4, 1, _FAR * few.scale, "replace"))
    order = Oneshot.calibrated(epsilon=1.0, n_items=4, k=3, ordered=True)
    yield _case("Oneshot, laplace, order of three of four", order, lows_rise(2, 2, _FAR * order.scale, "replace"))


def _approximate() -> Iterator[Case]:
    for noise in ("laplace", "gumbel"):
        mechanism = Oneshot.calibrated(epsilon=1.0, delta=0.05, n_items=24, k=12, noise=noise)
        pair = _climbed(12, 24, mechanism.scale, 0.05, mechanism.noise)
        yield _case(f"Oneshot, {noise}, delta = 0.05", mechanism, pair, found="climbed")


def _values() -> Iterator[Case]:
    for noise in _NOISES:
        mechanism = Oneshot.calibrated(epsilon=1.0, k=2, noise=noise, values=True)
        gap = 0 if noise == "exponential" else _FAR * mechanism.scale
        yield _case(f"Oneshot, {noise}, with values", mechanism, lows_rise(2, 2, gap, "replace"))
    everything = Oneshot.calibrated(epsilon=1.0, n_items=2, k=2, values=True)
    loss = 2 / (everything.value_scale or math.inf)
    yield _case("Oneshot, laplace, all values", everything, lows_rise(2, 0, 0, "replace"), closed_form=loss)
    split = Oneshot.calibrated(epsilon=1.0, delta=0.05, k=2, values=True)
    yield _case("Oneshot, laplace, with values, delta = 0.05", split, lows_rise(2, 2, 2 * split.scale, "replace"))


def _contributions() -> Iterator[Case]:
    for adjacency in _ADJACENCIES:
        mechanism = Oneshot.calibrated(epsilon=1.0, k=3, adjacency=adjacency, per_person=1)
        data = np.r_[np.zeros(3), np.full(3, _FAR * mechanism.scale)]
        other = data + np.eye(6)[0] - (np.eye(6)[3] if adjacency == "replace" else 0)
        yield _case(f"Oneshot, laplace, one contribution, {adjacency}", mechanism, (data, other))


def _as_printed() -> Iterator[Case]:
    shown = {False: "", True: " with values"}
    for adjacency, values in product(_ADJACENCIES, shown):
        printed = theorem_2_1(epsilon=1.0, k=2, values=values, adjacency=adjacency)
        low, high = lows_rise(2, 2, _FAR * printed.mechanism.scale, adjacency)
        name = f"Oneshot, Theorem 2.1{shown[values]}, {adjacency}"
        yield _case(name, printed.mechanism, (-low, -high), printed=printed.claims.epsilon)
    low, high = lows_rise(2, 2, 0, "replace")
    for values in shown:
        printed = theorem_2_2(epsilon=0.2, delta=0.05, n_items=4, k=2, values=values)
        name = f"Oneshot, Theorem 2.2{shown[values]}"
        yield _case(name, printed.mechanism, (-low, -high), printed=printed.claims.epsilon)


def _peeling() -> Iterator[Case]:
    for noise in _NOISES:
        for adjacency in _ADJACENCIES:
            mechanism = Peeling.calibrated(epsilon=1.0, k=2, noise=noise, adjacency=adjacency, composition="basic")
            yield _case(f"Peeling, {noise}, {adjacency}", mechanism, lows_rise(2, 2, _FAR * mechanism.scale, adjacency))
        mechanism = Peeling.calibrated(epsilon=1.0, k=2, noise=noise, composition="basic")
        # permute-and-flip starts its rounds anew, and needs a gap again
        yield _case(f"Peeling, {noise}, counts up to 6", mechanism, _worst_counts("laplace"), found="exhausted")
    for composition, noise, lows, tops, gap in _APPROXIMATE_ROUNDS:
        mechanism = Peeling.calibrated(epsilon=1.0, delta=0.05, k=4, noise=noise, composition=composition)
        pair = lows_rise(lows, tops, gap * mechanism.scale, "replace")
        yield _case(f"Peeling, {noise}, {composition}, delta = 0.05", mechanism, pair, found="climbed")
    last = Peeling.calibrated(epsilon=1.0, n_items=3, k=3, noise="gumbel")
    yield _case("Peeling, gumbel, all three", last, lows_rise(2, 1, _FAR * last.scale, "replace"))


def _joint() -> Iterator[Case]:
    """Sets lose all where two items lie far above two others; lists of few items lose less, and most where one does."""
    for adjacency in _ADJACENCIES:
        make = partial(JointExponential.calibrated, epsilon=1.0, n_items=4, k=2, adjacency=adjacency)
        sets, lists = make(), make(ordered=True)
        pair = lows_rise(2, 2, _FAR * sets.scale, adjacency)
        loss = sets.spread / sets.scale
        yield _case(f"JointExponential, set, {adjacency}", sets, pair, closed_form=loss)
        data = np.r_[np.zeros(3), _FAR * lists.scale]
        other = data + (np.array([-1, -1, 1, -1]) if adjacency == "replace" else np.eye(4)[2])
        yield _case(f"JointExponential, list, {adjacency}", lists, (data, other), found="exhausted")


def _centrality() -> Iterator[Case]:
    """Worst of all neighbours on a small graph."""
    make = partial(PrivateRankCentrality.calibrated, epsilon=1.0)
    two = make(n_items=2, k=1, samples=20, damped=False, relative=False)
    before, after = (float(np.ptp(two.scores(np.array([won / 20])))) / two.scale for won in (0, 1))
    yield _graph_case("two items, shares", two, (0,), closed_form=_laplace_behind(after) - _laplace_behind(before))
    yield _graph_case("two items", make(n_items=2, k=1, samples=20), (9,))
    for k in (1, 2):
        yield _graph_case(f"triangle, k = {k}", make(n_items=3, k=k, samples=2, pairs=_TRIANGLE), (0, 0, 0))
    path = partial(make, n_items=3, k=1, samples=10, pairs=_PATH)
    yield _graph_case("path, damped shares", path(relative=False), (9, 0))
    yield _graph_case("path, relative", path(), (9, 0))
    yield _graph_case("path, teleport", path(teleport=0.3, damped=False, relative=False), (9, 0))
    printed = partial(theorem_3_5, epsilon=0.2, delta=1e-6, n_items=3, k=1)
    own, bounded = printed(samples=10, pairs=_PATH), printed(samples=2, rho=0.5)
    promise = {"printed": own.claims.epsilon, "printed_delta": own.claims.delta}
    yield _graph_case("Theorem 3.5, rho of the data", own.mechanism, (9, 0), **promise)
    yield _graph_case("Theorem 3.5, rho = 0.5", bounded.mechanism, (0, 0, 0), **promise)


def _case(name: str, mechanism: Any, pair: tuple[Any, Any], **known: Any) -> Case:
    return Case(name, mechanism, *pair, source="qiao2021", **known)


def _graph_case(name: str, mechanism: PrivateRankCentrality, wins: tuple[int, ...], **known: Any) -> Case:
    """Wins of the second item of every edge, and one more of the first edge."""
    pair = comparisons_of(mechanism, wins), comparisons_of(mechanism, (wins[0] + 1, *wins[1:]))
    return _case(f"PrivateRankCentrality, {name}", mechanism, pair, found="exhausted", **known)


def comparisons_of(mechanism: PrivateRankCentrality, wins: ArrayLike) -> Comparisons:
    """Data of a mechanism in which the second item of every edge won so often, items named by their codes."""
    first, second = np.repeat(mechanism.edges, mechanism.samples, axis=0).T
    lost = np.arange(len(first)) % mechanism.samples >= np.repeat(np.asarray(wins), mechanism.samples)
    return Comparisons(first, second, lost.astype(float), items=[str(code) for code in range(mechanism.n_items)])


def lows_rise(lows: int, tops: int, gap: float, adjacency: Adjacency) -> tuple[Array, Array]:
    """Items that lie low rise by 1; those a gap above fall by 1 where any direction is allowed."""
    data = np.r_[np.zeros(lows), np.full(tops, float(gap))]
    fall = 1.0 if adjacency == "replace" else 0.0
    return data, data + np.r_[np.ones(lows), np.full(tops, -fall)]


def _worst_counts(noise: Noise) -> tuple[Array, Array]:
    """Of all counts 0 .. 6 of three items and all that replacing a record may do, the worst for two of them."""
    return lows_rise(2, 1, 2 if noise == "exponential" else 6, "replace")


@cache
def _climbed(k: int, n_items: int, scale: float, delta: float, noise: Noise) -> tuple[Array, Array]:
    """What `worst_pair` finds, all items spelled out: those of no part are far above or below."""
    types, chosen = worst_pair(k, n_items, scale, delta=delta, noise=noise)[1:]
    far = 1e3 * scale
    counts = [*types.counts, k - chosen, n_items - sum(types.counts) - (k - chosen)]
    before, after = (np.repeat(np.r_[values, far, -far], counts) for values in (types.before, types.after))
    before.flags.writeable = after.flags.writeable = False
    return before, after


def _laplace_behind(gap: float) -> float:
    """Log probability that Laplace noise of scale 1 brings the lower of two values to the top."""
    return math.log1p(gap / 2) - gap - math.log(2)
