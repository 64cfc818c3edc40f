"""Pure privacy: two adjacencies, and the worst that a released set or list can lose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, key, label_outer, note, on_phone, panels, styled
from companion.instruments.topk import NAMES, list_chances, theorem_2_1
from companion.ledger.claim import Check, amended, claim, content, printed
from dprank.topk.curve import log_set_probability
from dprank.topk.noise_laws import LAWS, Noise

#: Moves of the chosen items and of the others that hurt the chosen most, in units of the sensitivity.
WORST_MOVE = {"any direction": (-1.0, 1.0), "all one way": (-1.0, 0.0)}
#: What is published: whether its order is, and whether fresh values are. Own noisy values have laws of their own.
RELEASES = {
    "set": (False, False),
    "list": (True, False),
    "set, fresh values": (False, True),
    "list, fresh values": (True, True),
    "set, own noisy values": (False, False),
}
#: So many scales the chosen lie behind in a pair that stands for a limit.
FAR = 200.0
LAPLACE = LAWS["laplace"]
#: Error of the log of a chance by quadrature: 3e-13 is seen, where m items are 200 scales apart.
QUADRATURE = 1e-12
#: Two items of equal values, and neighbours of them: in any direction, and all one way.
EQUAL, APART, ONE_UP = (0.0, 0.0), (1.0, -1.0), (1.0, 0.0)


def log_set_chance(values: ArrayLike, k: int, noise: Noise = "laplace") -> float:
    """Log probability that the first k noisy values are the k largest; values in noise scales, k in 1 .. m."""
    x = _values(values, k)
    first = (np.arange(len(x)) < k)[None].astype(float)
    return float(log_set_probability(np.ones(len(x)), x, first, LAWS[noise])[0])


def log_list_chance(values: ArrayLike, k: int, noise: Noise = "laplace") -> float:
    """Log probability that the first k noisy values are the k largest, in this order; parameters as above."""
    return math.log(list_chances(_values(values, k), [range(k)], noise)[0])


def _values(values: ArrayLike, k: int) -> NDArray[np.float64]:
    x = np.asarray(values, float)
    if not 1 <= k <= len(x):
        raise ValueError(f"k = {k}; it must lie in 1 .. {len(x)}")
    return x


def supremum(release: str, m: int, k: int, adjacency: str) -> float:
    """Supremum of the loss over all values and neighbours, in sensitivities over the scale, fresh noise's too."""
    if release not in RELEASES:
        raise ValueError(f"release = {release!r}; allowed are {', '.join(map(repr, RELEASES))}")
    if adjacency not in WORST_MOVE:
        raise ValueError(f"adjacency = {adjacency!r}; allowed are {', '.join(map(repr, WORST_MOVE))}")
    if release == "set, own noisy values":
        return m
    ordered, fresh = RELEASES[release]
    each = 2 if adjacency == "any direction" else 1
    movable = m // 2 if ordered and not (fresh and each == 1) else m - k
    return each * min(k, movable) + k * fresh


def found_loss(
    release: str, m: int, k: int, shift: float, adjacency: str, gap: float = FAR, noise: Noise = "laplace"
) -> float:
    """Largest exact loss where some of the chosen (in a list the first) lie `gap` noise scales behind all others.

    A lower bound of the supremum. Values are fresh Laplace, at the scale of the selection, whatever the noise of that.
    """
    if release == "set, own noisy values":  # all move up, and all noisy values lie far below
        below = [k * LAPLACE.log_density(v) + (m - k) * LAPLACE.log_below(v) for v in (-gap, -gap - shift)]
        return float(below[0] - below[1])
    ordered, fresh = RELEASES[release]
    chance = log_list_chance if ordered else log_set_chance
    down, up = WORST_MOVE[adjacency]
    losses = []
    for behind in range(1, k + 1):
        first = np.arange(m) < behind
        before = np.where(first, -gap, 0.0)
        move = np.where(first, down, up)
        loss = chance(before, k, noise) - chance(before + shift * move, k, noise)
        losses.append(loss + fresh * shift * float(np.abs(move[:k]).sum()))
    return max(losses)


def suprema(m: int, k: int, shift: float) -> pd.DataFrame:
    """Most that releases lose, in sensitivities over the scale: ``release``, ``adjacency``, ``supremum``, ``found``."""
    rows = [
        (*case, supremum(case[0], m, k, case[1]), found_loss(case[0], m, k, shift, case[1]) / shift)
        for case in product(RELEASES, WORST_MOVE)
    ]
    return pd.DataFrame(rows, columns=["release", "adjacency", "supremum", "found"])


def noise_laws(m: int, shift: float) -> pd.DataFrame:
    """Loss of the released set at a far pair, in sensitivities over the scale: ``k``, and a column a law."""
    law = {
        name: [found_loss("set", m, k, shift, "any direction", noise=noise) / shift for k in range(1, m)]
        for noise, name in NAMES.items()
    }
    return pd.DataFrame({"k": range(1, m)} | law)


def lattice_loss(m: int, k: int, scale: float, most: int, adjacency: str) -> float:
    """Exact largest loss of the Laplace set over all counts in 0 .. `most` and all their neighbours.

    The probability of a set falls when a chosen value falls and when another rises. So the worst neighbour of given
    values, for a given set, is `WORST_MOVE`, and no other need be looked at. O(most^m).
    """
    down, up = (int(move) for move in WORST_MOVE[adjacency])
    counts = range(most + 1)
    return max(
        _count_chance(a, b, scale) - _count_chance(tuple(x + down for x in a), tuple(x + up for x in b), scale)
        for a in combinations_with_replacement(counts, k)
        for b in combinations_with_replacement(counts, m - k)
    )


def _count_chance(chosen: tuple[int, ...], others: tuple[int, ...], scale: float) -> float:
    """Log probability of the chosen: by the differences of the counts, whatever the adjacency asks."""
    least = min(chosen + others)
    return _cached_chance(tuple(x - least for x in chosen + others), len(chosen), scale)


@cache
def _cached_chance(counts: tuple[int, ...], k: int, scale: float) -> float:
    return log_set_chance(np.array(counts) / scale, k)


def gap_curve(shapes: Iterable[tuple[int, int]], epsilon: float, gaps: Iterable[float]) -> pd.DataFrame:
    """Exact loss of Algorithm 1, noise of Theorem 2.1, the chosen behind all others: ``m``, ``k``, ``release``,
    ``adjacency``, ``gap`` (in noise scales), ``times`` (loss over epsilon).
    """
    return pd.DataFrame(
        {"m": m, "k": k, "release": release, "adjacency": adjacency, "gap": gap, "times": loss / epsilon}
        for (m, k), adjacency, gap in product(shapes, WORST_MOVE, gaps)
        for set_loss in [_behind_loss(m, k, epsilon / (2 * k), adjacency, gap)]
        for release, loss in (("set", set_loss), ("set, fresh values", set_loss + epsilon / 2))
    )


def _behind_loss(m: int, k: int, shift: float, adjacency: str, gap: float) -> float:
    first = np.arange(m) < k
    before = np.where(first, -gap, 0.0)
    return log_set_chance(before, k) - log_set_chance(before + shift * np.where(first, *WORST_MOVE[adjacency]), k)


def pair_loss(values: ArrayLike, moved: ArrayLike, k: int, shift: float) -> float:
    """Exact loss of the set of k and its fresh values between two vectors of values (in sensitivities), either way."""
    x, y = (shift * np.asarray(one, float) for one in (values, moved))
    sets = np.array([np.isin(range(len(x)), some) for some in combinations(range(len(x)), k)], float)
    before, after = (log_set_probability(np.ones(len(x)), one, sets, LAPLACE) for one in (x, y))
    return float((np.abs(before - after) + sets @ np.abs(x - y)).max())


def loss_check(what: str, loss: float, epsilon: float, says: Callable[..., Check] = printed, **reading: str) -> Check:
    """Whether a loss by quadrature is within epsilon, up to rounding."""
    return says(f"privacy loss of {what}", loss, "<=", epsilon * (1 + ROUNDING), error=QUADRATURE, **reading)


_READINGS = {
    "any direction (the paper's Section 2)": "any direction",
    "all one way (Definition 1.1, counts)": "all one way",
}


@claim("qiao2021:def-1.1")
def check_adjacency(epsilon: float) -> Iterator[Check]:
    """Whether the two adjacencies make one promise of one mechanism, and how their losses are related."""
    shift, what = epsilon / 4, f"set and fresh values, 2 of 4 items, noise λ = 4s/ε, ε = {epsilon:g}"
    for reading, adjacency in _READINGS.items():
        loss = found_loss("set, fresh values", 4, 2, shift, adjacency)
        yield loss_check(what, loss, epsilon, reading=reading)
    near = pair_loss(np.repeat(EQUAL, 2), np.repeat(APART, 2), 2, shift)
    yield loss_check(f"{what}, x = (0, 0, 0, 0), x′ = (1, 1, −1, −1)", near, epsilon, reading=next(iter(_READINGS)))
    for release, ratio in (("set", 2.0), ("list", 2.0), ("set, fresh values", 1.5), ("set, own noisy values", 1.0)):
        both = [found_loss(release, 4, 2, shift, adjacency) for adjacency in WORST_MOVE]
        what = f"privacy loss in any direction over that all one way, {release}, 2 of 4 items, far pair"
        yield amended(what, both[0] / both[1], "==", ratio, error=4 / FAR)
    moved = found_loss("set", 4, 2, shift, "any direction", gap=3.0)
    halved = found_loss("set", 4, 2, 2 * shift, "all one way", gap=3.0)
    what = "privacy loss of the set, any direction with sensitivity s, less that all one way with 2s, 2 of 4 items"
    yield amended(what, moved - halved, "==", 0, error=ROUNDING)


@claim("qiao2021:sec-1:pure-k")
def check_pure_k(epsilon: float) -> Iterator[Check]:
    """Scale k s / epsilon, as the introduction says, in each adjacency."""
    for reading, adjacency in _READINGS.items():
        for m, k in ((2, 1), (6, 3)):
            loss = max(_behind_loss(m, k, epsilon / k, adjacency, gap) for gap in (0.0, 5.0, FAR))
            what = f"the set, {k} of {m} items, {adjacency}, noise λ = {k if k > 1 else ''}s/ε, ε = {epsilon:g}"
            yield loss_check(f"{what}, largest of 3 pairs", loss, epsilon, reading=reading)
    for adjacency, times in (("all one way", 1), ("any direction", 2)):
        shapes = ((2, 1), (6, 3), (6, 5))
        losses = [found_loss("set", m, k, epsilon / (times * min(k, m - k)), adjacency) for m, k in shapes]
        what = f"the set, noise λ = {times if times > 1 else ''}min(k, m − k)s/ε, {adjacency}, ε = {epsilon:g}"
        yield loss_check(f"{what}, largest of k of m = 1 of 2, 3 of 6, 5 of 6", max(losses), epsilon, amended)


@claim("qiao2021:sec-2:rnm-value")
def check_noisy_min(epsilon: float) -> Iterator[Check]:
    """Report Noisy Min with a fresh value, index and value together."""
    shift = epsilon / 2
    at = f"index and fresh value, 2 items, noise λ = 2s/ε, ε = {epsilon:g}"
    far = {adjacency: found_loss("set, fresh values", 2, 1, shift, adjacency) for adjacency in WORST_MOVE}
    apart, up = (pair_loss(EQUAL, moved, 1, shift) for moved in (APART, ONE_UP))
    wider = found_loss("set, fresh values", 2, 1, epsilon / 3, "any direction")
    behind = f"chosen {FAR:g}λ behind"
    yield loss_check(f"{at}, any direction, x = (0, 0), x′ = (1, −1)", apart, epsilon)
    yield loss_check(f"{at}, any direction, {behind}", far["any direction"], epsilon)
    yield loss_check(f"{at}, all one way, x = (0, 0), x′ = (1, 0)", up, epsilon, amended)
    yield loss_check(f"{at}, all one way, {behind}", far["all one way"], epsilon, amended)
    near = "x = (0, 0), x′ = (1, −1): 1.5ε − log(1 + ε/2)"
    pairs = (near, apart, 0.0), (f"{behind}: 1.5ε is approached", far["any direction"], FAR)
    for pair, loss, gap in pairs:
        # two items a gap apart fall behind by 2s more, of which log(1 + 2s / (2λ + gap)) is got back
        closed = 1.5 * epsilon - math.log1p(epsilon / (2 + gap))
        yield amended(f"privacy loss of {at}, any direction, {pair}", loss, "==", closed, error=ROUNDING)
    yield loss_check("index and fresh value, 2 items, noise λ = 3s/ε, any direction", wider, epsilon, amended)
    # a far pair falls short of the supremum by less than 1 / FAR
    what = f"privacy loss of index and fresh value over ε, 2 items, noise λ = 3s/ε, any direction, {behind}: attained"
    yield amended(what, wider / epsilon, "==", 1, error=2 / FAR)


@claim("qiao2021:thm-2.1")
def check_theorem_2_1(epsilons: Iterable[float], items: int, most: int) -> Iterator[Check]:
    """The index set with the noise of Theorem 2.1: all counts and neighbours on a lattice, and far pairs."""
    epsilons, shapes = list(epsilons), ((2, 1), (6, 3), (6, 5), (10, 5))
    at, over = f"ε = {', '.join(f'{epsilon:g}' for epsilon in epsilons)}", "privacy loss of the set over ε"
    small = [(e, m, k) for e in epsilons for m in range(2, items + 1) for k in range(1, m)]
    for how in WORST_MOVE:
        most_lost = max(lattice_loss(m, k, theorem_2_1(k, e), most, how) / e for e, m, k in small)
        what = f"{over}, counts 0 to {most} of 2 to {items} items, all k < m, {how}, {at}"
        yield printed(f"{what}: largest", most_lost, "<=", 1 + ROUNDING)
    far = {(m, k): [_behind_loss(m, k, e / (2 * k), "any direction", FAR) / e for e in epsilons] for m, k in shapes}
    used = min(min(losses) for (m, k), losses in far.items() if 2 * k <= m)
    what, largest = f"{over}, any direction, chosen items {FAR:g}λ behind, {at}", max(map(max, far.values()))
    yield printed(f"{what}: largest over 1 of 2, 3 of 6, 5 of 6, 5 of 10", largest, "<=", 1 + ROUNDING)
    yield content(f"{what}: least over 1 of 2, 3 of 6, 5 of 10 (is ε used up)", used, ">=", 0.99)


@styled
def draw_gap_curve(frame: pd.DataFrame) -> Figure:
    """Exact loss over the claimed epsilon against how far behind the chosen lie, a panel a number of items and k."""
    shapes = frame.groupby(["m", "k"], sort=False)
    message = "The items alone keep the promise; their counts can break it"
    figure, made = panels(shapes.ngroups, message=message, height=2.7, sharey=True)
    for axes, ((m, k), part) in zip(made, shapes, strict=True):
        for (adjacency, release), line in part.groupby(["adjacency", "release"], sort=False):
            colour, style = COLOURS[adjacency == "any direction"], "-" if "values" in release else "--"
            name = "with counts" if "values" in release else "items"
            axes.plot(line.gap, line.times, color=colour, ls=style, label=f"{name}, {adjacency}")
        axes.axhline(1, color="black", lw=1, label="_")
        axes.set(title=f"{k} of {m} items", ylim=(0, 1.6))
    label_outer(made, "gap to the others, in noise scales", "loss ÷ promised ε")
    key(figure, *made[0].get_legend_handles_labels(), columns=1 if on_phone() else 2)
    note(
        figure,
        "Published: the items selected, or their noisy counts too. One person may move all counts the same way, or "
        "some up and some down. Gap: how far the others are behind. Black: the promise.",
    )
    return figure
