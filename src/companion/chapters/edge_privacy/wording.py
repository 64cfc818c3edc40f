"""Single sentences on edge privacy: what data are, whom they resemble, what centring, ridge and one noise do."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from companion.chapters.edge_privacy.counting_rates import two_items_error
from companion.chapters.edge_privacy.private_programs import private_risk
from companion.instruments.allowance import ROUNDING, agree
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed.cai2025 import algorithm_1
from dprank.models.bradley_terry import LOGISTIC
from dprank.pairwise import objective_loss

#: Steps of a descent and their sizes; ridges that make the objective strongly convex, and no more.
STEPS, SIZES, SMALL = (1, 2, 10, 100, 1000), (0.01, 0.1, 0.5, 1.0), (1e-6, 0.01, 0.1)


def one_replaced(x: Sequence[int], y: Sequence[int]) -> bool:
    """Whether two collections differ in one element, however they are ordered."""
    return min(sum(a != b for a, b in zip(x, z, strict=True)) for z in permutations(y)) == 1


def as_sets(x: Sequence[int], y: Sequence[int]) -> bool:
    """The displayed condition, of sets: one element of each is not in the other."""
    return len(set(x) - set(y)) == len(set(y) - set(x)) == 1


def as_multisets(x: Sequence[int], y: Sequence[int]) -> bool:
    """The displayed condition, where an element counts as often as it occurs."""
    one, other = Counter(x), Counter(y)
    return (one - other).total() == (other - one).total() == 1


@claim("cai2025:sec-2.1:reals")
def check_reals(size: int = 3, values: int = 3) -> Iterator[Check]:
    """The display for sets of reals, on all collections of a few small numbers."""
    pairs = list(product(product(range(values), repeat=size), repeat=2))
    apart = [pair for pair in pairs if all(len(set(one)) == size for one in pair)]
    what = f"pairs in which display and 'differ by exactly one element' disagree, {size} of {values} values"
    for says, rule, name, of in (
        (printed, as_sets, "sets, values may repeat", pairs),
        (supplied, as_sets, "no value twice", apart),
        (supplied, as_multisets, "multisets", pairs),
        (amended, as_multisets, "multisets", pairs),
    ):
        yield says(f"{what}, {name}", sum(rule(*pair) != one_replaced(*pair) for pair in of), "==", 0)
    found = sum(one_replaced(*pair) for pair in pairs)
    yield argument("pairs that differ by one element: there are some", found, ">", 0)


def edge_steps(n_items: int) -> tuple[float, float, int]:
    """How two kinds of neighbours see each other, on all data of so many items.

    Most additions and removals of a comparison between neighbours of Section 2.1, fewest steps of Section 2.1 between
    data that differ in one comparison, more or less, and how many such data there are.
    """
    data = list(product((-1, 0, 1), repeat=math.comb(n_items, 2)))
    held = [{(pair, value) for pair, value in enumerate(one) if value >= 0} for one in data]
    gone = np.array([[len(a - b) for b in held] for a in held])
    swapped = (gone == 1) & (gone.T == 1)  # as the card of the definition has it
    added = (gone + gone.T) == 1
    by_edges, by_swaps = (shortest_path(sparse.csr_matrix(kind), unweighted=True) for kind in (added, swapped))
    return float(by_edges[swapped].max()), float(by_swaps[added].min()), int(added.sum()) // 2


@claim("cai2025:sec-2.1:akin")
def check_akin(n_items: int = 3) -> Iterator[Check]:
    """Edge privacy of graphs, where an edge comes or goes, against that of Section 2.1, where one is replaced."""
    there, back, pairs = edge_steps(n_items)
    of = f"all data of {n_items} items"
    at = f"comparisons that come or go between neighbours of Section 2.1, most, {of}"
    yield printed(at, there, "<=", 2, reading="what is private for graphs is private here, up to a factor")
    what = f"steps of Section 2.1 between data of which one has one comparison more, fewest, {of}"
    yield printed(what, back, "<=", 2, reading="and the other way round")
    yield amended(f"{at}: ε there is 2ε here", there, "==", 2)
    yield argument(f"pairs of data of which one has one comparison more, {of}", pairs, ">", 0)


@claim("cai2025:sec-2.2.1:centered")
def check_centered(sizes: Sequence[int] = (3, 4, 6)) -> Iterator[Check]:
    """What centring leaves as it is, and what it does not: the model, and the bound on the strengths."""
    model, bound = "the model stays", "the bound ‖θ*‖∞ ≤ 1 of the proofs stays"
    for n in sizes:
        corners = np.array(list(product((-1.0, 1.0), repeat=n)))
        centred = corners - corners.mean(1, keepdims=True)
        chances = [LOGISTIC.cdf(it[:, :, None] - it[:, None]) for it in (corners, centred)]
        at = f"all θ of ±1, n = {n}"
        moved = np.abs(chances[0] - chances[1]).max()
        yield printed(f"most that a chance moves by centring, {at}", moved, "==", 0, reading=model, error=ROUNDING)
        most = np.abs(centred).max()
        yield printed(f"largest ‖θ‖∞ after centring, {at}", most, "<=", 1, reading=bound)
        yield amended(f"the same, {at}", most, "==", 2 - 2 / n, error=ROUNDING)


@claim("cai2025:sec-2.2.1:convexity")
def check_convexity(epsilon: float = 1.0) -> Iterator[Check]:
    """Whether strong convexity is what the ridge is for: any ridge gives it, and only a large one gives privacy."""
    for ridge in SMALL:
        loss = objective_loss(1e9, ridge)
        at = f"exact privacy loss, λ = 10⁹, γ = {ridge:g}, logistic link, ε = {epsilon:g}"
        yield printed(at, loss, "<=", epsilon, reading="any γ that makes the objective strongly convex")
        closed = math.log1p(1 / (2 * ridge))  # a comparison of two equal items gives way to one that is decided
        yield amended(f"the same, γ = {ridge:g}, less log(1 + 1/(2γ))", loss - closed, "==", 0, error=1e-6)
    made = algorithm_1(epsilon, 2).mechanism
    at = f"exact privacy loss, λ = {made.scale:g}, γ = {made.ridge:g}"
    loss = objective_loss(made.scale, made.ridge)
    yield printed(at, loss, "<=", epsilon, reading="γ as large as Proposition 2.1 asks")


@claim("cai2025:sec-2.3.2:own")
def check_own(gaps: Sequence[float] = (0.05, 0.2, 0.4), epsilon: float = 1.0) -> Iterator[Check]:
    """Whether a lower bound on the error of Algorithm 2 is one for every private algorithm: two items, one answer."""
    for gap in gaps:
        win = 0.5 + gap
        laws = [[win, 1 - win], [1 - win, win]]
        best = private_risk(laws, epsilon, 0.0, 1 - np.eye(2), [(0, 1)])
        own, at = two_items_error(gap, epsilon), f"2 items, p = 1, gap {gap:g}, ε = {epsilon:g}"
        what = f"least worst error of all private algorithms over that of Algorithm 2, {at}"
        yield printed(what, best / own, ">=", 1 - ROUNDING, reading="S̃ is the set of Algorithm 2, as printed")
        what = f"worst error of Algorithm 2 over the least of all private algorithms, {at}"
        yield printed(what, own / best, ">=", 1 - ROUNDING, reading="S̃ is any private set")
        yield amended(what, own / best, ">=", 1 - ROUNDING)
        answer = win / (1 + math.exp(epsilon)) + (1 - win) / (1 + math.exp(-epsilon))
        yield agree(f"least worst error off that of randomised response, {at}", best - answer, 1e-7)


def charged(steps: int, size: float) -> float:
    """Privacy cost of a noisy descent for one number, every step charged, over that of one noise in the objective.

    Loss (theta - y)²/2, pure privacy, both with the same standard deviation over the same weight of y.
    """
    left = (1 - size) ** np.arange(steps)
    weight, spread = size * left.sum(), size * math.sqrt((left**2).sum())
    return steps * spread / weight


@claim("cai2025:sec-5:single-dose")
def check_single_dose() -> Iterator[Check]:
    """One noise in the objective against noise in every step of a descent: all steps charged, and the last alone."""
    grid = list(product(STEPS, SIZES))
    least = min(charged(*case) / math.sqrt(case[0]) for case in grid)
    what = "privacy cost of a noisy descent over that of one noise of equal effect, all T steps charged, over √T"
    yield printed(f"{what}, least of {len(grid)} cases", least, ">=", 1 - ROUNDING)
    more = max(charged(*case) for case in grid)
    yield printed("that cost over that of one noise, largest: it may be higher", more, ">", 1)
    yield agree("that cost, one step, off 1", [charged(1, size) - 1 for size in SIZES])
