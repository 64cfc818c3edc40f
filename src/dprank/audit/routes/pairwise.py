"""Noisy win counts and the perturbed likelihood of Cai, Chakraborty and Wang (2025): their exact laws, their cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from dprank import noise
from dprank._quadrature import gauss
from dprank.audit.case import Case, NoExactRoute, best_first, exact, features, sample
from dprank.audit.neighbours import ComparisonNeighbours, worst_pair
from dprank.comparisons import GRAIN, Comparisons, pairwise_wins, win_counts
from dprank.divergence import Divergence, PairLaw, noise_shift
from dprank.mechanism import Adjacency
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link
from dprank.noise import Law
from dprank.pairwise import NoisyCounts, NoisyRanking, PerturbedMLE

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
def _(mechanism: NoisyCounts, data: Comparisons, other: Comparisons) -> Divergence:
    one, two = (win_counts(d, mechanism.score) / GRAIN[mechanism.score] for d in (data, other))
    return noise_shift("laplace", mechanism.law, one - two, mechanism.scale / GRAIN[mechanism.score])


@sample.register
def _(mechanism: NoisyCounts, data: Comparisons, size: int, rng: np.random.Generator) -> Array:
    return _with_order(mechanism.perturb(win_counts(data, mechanism.score), rng, size), rng)


@features.register
def _(result: NoisyRanking) -> Array:
    return np.r_[result.scores, result.order]


def _with_order(scores: Array, rng: np.random.Generator) -> Array:
    """Features of many rankings: scores, and their orders with equal scores at random."""
    return np.hstack([scores, best_first(scores, rng)])


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
            sobol = qmc.Sobol(n, scramble=False).random(2**12)
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
def _(mechanism: PerturbedMLE, data: Comparisons, other: Comparisons) -> Divergence:
    """Of the minimisers: a release takes their mean away, and tells no more."""
    grain = GRAIN["half"]
    (one, graph), (two, other_graph) = ((win_counts(d, "half") / grain, _graph(d)) for d in (data, other))
    same = bool((graph == other_graph).all())
    if same and mechanism.link is LOGISTIC:
        # the estimate and the noisy counts determine each other
        return noise_shift("laplace", mechanism.law, one - two, mechanism.scale / grain)
    if mechanism.graph == "public" and not same:
        raise ValueError("other compares other pairs than data; graph = 'public' allows other outcomes only")
    return Densities(mechanism, data, other)


@sample.register
def _(mechanism: PerturbedMLE, data: Comparisons, size: int, rng: np.random.Generator) -> Array:
    """Minimisers as they are, like the exact law."""
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


# --- worst neighbours ------------------------------------------------------------------------------------------------


class Attained(NamedTuple):
    """Two neighbouring data sets and an output at which their densities are compared."""

    data: Comparisons
    other: Comparisons
    output: Array


def worst_neighbours(
    scale: float, ridge: float, far: float = FAR, answers: int = 1, link: Link = LOGISTIC, *, repeats: bool = False
) -> Attained:
    """Neighbours whose density ratio approaches `dprank.pairwise.objective_loss` as `far` grows.

    For every answer that moves, item i beats j in the first data set, at a distance where score and curvature together
    cost most. Helpers far away make the rest of the gradient point the other way at i and j without adding curvature.
    In the second data set that comparison is gone, and k has lost to l although the output puts k far ahead.

    Parameters
    ----------
    scale, ridge : float
        Of the mechanism.
    far : float
        Distance of what should be infinitely far.
    answers : int
        How many comparisons move.
    link : Link
    repeats : bool
        Whether a pair may be compared more than once: then k and l are the helpers, and 4 items an answer are enough.

    Returns
    -------
    Attained
    """
    x = np.linspace(-40, 40, 80_001)
    at = float(x[np.argmax(2 * link.score(x) / scale + np.log1p(2 * link.curvature(x) / ridge))])
    pull = math.ceil((float(link.score(at)) + ridge * abs(at)) / link.steepest) + 1
    output: list[float] = []
    common: list[tuple[int, int]] = []
    old: list[tuple[int, int]] = []
    new: list[tuple[int, int]] = []
    for _ in range(answers):
        i, j, k, loser = (len(output) + c for c in range(4))
        output += [at / 2, -at / 2, far, -far]
        if repeats:
            common += [(loser, i), (j, k)] * pull
        else:
            helpers = range(loser + 1, loser + 1 + 2 * pull)
            output += [-far] * pull + [far] * pull
            common += [(h, i) for h in helpers[:pull]] + [(j, h) for h in helpers[pull:]]
        old.append((i, j))
        new.append((loser, k))

    def data(games: list[tuple[int, int]]) -> Comparisons:
        voters = np.r_[np.arange(answers, answers + len(common)), np.zeros(answers, int)]
        return comparisons([(*game, 1.0) for game in games], len(output), voters)

    return Attained(data(common + old), data(common + new), np.array(output))


def worst_sheets(mechanism: NoisyCounts) -> tuple[Comparisons, Comparisons]:
    """The two sheets of one voter that noisy counts tell apart best, or none and the sheet to add: by exhaustion.

    The loss depends on nothing but the move of the counts, so that no other voters are needed.
    """
    m = mechanism
    sheets = ComparisonNeighbours(m.unit, m.adjacency, m.answers, m.design, m.ties).sheets(m.n_items)
    listed = [comparisons(sheet, m.n_items) for sheet in sheets]
    counts = np.array([win_counts(sheet, m.score) / GRAIN[m.score] for sheet in listed]).astype(np.int64)
    if m.adjacency == "add_remove":
        return comparisons([], m.n_items), listed[int(np.abs(counts).sum(axis=1).argmax())]
    _, one, two = worst_pair(counts)
    first, second = (int((counts == row).all(axis=1).argmax()) for row in (one, two))
    return listed[first], listed[second]


def comparisons(rows: Sequence[tuple[int, int, float]], n_items: int, voters: ArrayLike | None = None) -> Comparisons:
    """Comparisons from rows of first item, second item and outcome: of one voter, unless others are named."""
    first, second, won = zip(*rows, strict=True) if rows else ((), (), ())
    voter = np.zeros(len(rows), int) if voters is None else voters
    return Comparisons(np.array(first, int), np.array(second, int), won, [str(i) for i in range(n_items)], voter)


# --- cases -----------------------------------------------------------------------------------------------------------

_PAPER = "cai2025"


def cases() -> list[Case]:
    """Both mechanisms, as printed and as calibrated, on their worst neighbours."""
    return [*_count_cases(), *_likelihood_cases()]


def _count_cases() -> Iterator[Case]:
    """Exhausted over all sheets of one voter for 3 items; none depends on the law of the noise."""
    for name, mechanism in _count_mechanisms():
        data, other = worst_sheets(mechanism)
        loss, printed = mechanism.sensitivity / mechanism.scale, mechanism.claimed_epsilon
        source = "" if printed is None else _PAPER
        for law in get_args(Law):
            drawn = replace(mechanism, law=law)
            yield Case(f"NoisyCounts, {name}, {law}", drawn, data, other, printed, loss, "exhausted", source)


def _count_mechanisms() -> Iterator[tuple[str, NoisyCounts]]:
    yield "Algorithm 2", NoisyCounts.as_printed(2, 1.0, 3)
    yield "Algorithm 3, 2 answers", NoisyCounts.as_printed(3, 1.0, 3, answers=2)
    survey: dict[str, Any] = {"answers": 3, "design": "complete"}
    yield "Algorithm 3, complete without ties", NoisyCounts.as_printed(3, 1.0, 3, ties=False, **survey)
    designs: dict[str, dict[str, Any]] = {
        "one comparison": {"unit": "comparison", "score": "wins"},
        "net of 2 answers": {"answers": 2, "score": "net"},
        "half wins of 2 answers": {"answers": 2, "score": "half", "design": "once"},
        "complete": {"score": "wins"} | survey,
        "complete without ties": {"score": "wins", "ties": False} | survey,
    }
    for (name, design), adjacency in product(designs.items(), get_args(Adjacency)):
        change = adjacency.replace("_", "/")
        yield f"{name}, {change}", NoisyCounts.calibrated(1.0, 3, adjacency=adjacency, **design)


def _likelihood_cases() -> Iterator[Case]:
    """By hand where the closed form is met; all edge-adjacent data of 2 and 3 items exhausted."""

    def case(name: str, mechanism: PerturbedMLE, data: Comparisons, other: Comparisons, found: str = "by hand") -> Case:
        printed = mechanism.claimed_epsilon
        met = found == "by hand"
        loss = mechanism.guarantee.epsilon if met else None
        source = "" if printed is None else _PAPER
        return Case(f"PerturbedMLE, {name}", mechanism, data, other, printed, loss, found, source)

    def worst(name: str, mechanism: PerturbedMLE) -> Case:
        data, other, _ = worst_neighbours(
            mechanism.scale, mechanism.ridge, answers=mechanism.answers, link=mechanism.link, repeats=True
        )
        return case(name, replace(mechanism, n_items=data.n_items), data, other)

    pair: dict[str, Any] = {"answers": 2, "unit": "voter"}
    for link in (LOGISTIC, ARCTAN):
        yield worst(f"Algorithm 1, {link.name}", PerturbedMLE.as_printed(1.0, 4, link=link))
        yield worst(f"calibrated, {link.name}", PerturbedMLE.calibrated(1.0, 4, ridge=1.5, link=link))
    yield worst("Proposition 3.1, 2 answers", PerturbedMLE.as_printed(1.0, 8, **pair))
    yield worst("calibrated, 2 answers", PerturbedMLE.calibrated(1.0, 8, ridge=3.0, **pair))
    for law in ("continuous", "discrete"):
        chosen: dict[str, Any] = {"ridge": 0.2, "graph": "public", "law": law}
        won, lost = (comparisons([(0, 1, y)], 2) for y in (1.0, 0.0))
        yield case(f"public graph, {law}", PerturbedMLE.calibrated(1.0, 2, **chosen), won, lost)
        won, lost = (comparisons([(0, 1, y), (2, 3, y)], 4) for y in (1.0, 0.0))
        yield case(f"public graph, 2 answers, {law}", PerturbedMLE.calibrated(1.0, 4, **pair, **chosen), won, lost)
    # found among all neighbours of three items with at most one comparison a pair: a guarantee for any number of items
    won, lost = comparisons([(0, 1, 1.0)], 3), comparisons([(1, 2, 1.0)], 3)
    yield case("calibrated, three items", PerturbedMLE.calibrated(1.0, 3, ridge=1.5), won, lost, "exhausted")
    won, lost = (comparisons([(0, 1, y)], 2) for y in (1.0, 0.0))
    bound = PerturbedMLE.calibrated(1.0, 2, ridge=1.5, graph="public", link=ARCTAN)
    yield case("public graph, arctan", bound, won, lost, "exhausted")
