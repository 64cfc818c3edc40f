"""Which ratio KwikSort reaches, and what it reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import linprog

from companion.instruments.aggregation import numbered
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, name_lines, note, panels, styled
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, claim, printed
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import before_probabilities, expected_cost
from dprank.aggregation.matrix import pairwise_fractions
from dprank.data.kendall import pairwise_kendall_distances

#: Arguments at which exponential moments are computed.
THETA = np.geomspace(1e-3, 10, 200)


def readers(n_items: int = 3, voters: int = 2) -> pd.DataFrame:
    """Which rules give different answers to profiles with one and the same pairwise matrix.

    A row a rule: ``rule``, ``matrices`` (those of several profiles), ``split`` (those among them whose profiles it
    tells apart), ``apart`` (largest total variation distance between its laws on two profiles of one matrix; a rule
    with several optima draws one of them). All profiles are listed, of 4 items at most.
    """
    places = all_rankings(n_items)
    kendall = pairwise_kendall_distances(places)
    spearman = abs(places[:, None] - places).sum(axis=2)
    groups: dict[bytes, list[list[int]]] = {}
    for profile in combinations_with_replacement(range(len(places)), voters):
        w = pairwise_fractions(numbered(places[list(profile)]))
        groups.setdefault(w.round(12).tobytes(), []).append(list(profile))
    shared = [profiles for profiles in groups.values() if len(profiles) > 1]
    rules: dict[str, Callable[[list[int]], NDArray[np.float64]]] = {
        "Kemeny": lambda profile: _least(kendall[profile].sum(axis=0)),
        "Borda": lambda profile: places[profile].sum(axis=0).astype(float),
        "footrule": lambda profile: _least(spearman[profile].sum(axis=0)),
        "Pick-a-Perm": lambda profile: np.bincount(profile, minlength=len(places)) / voters,
    }
    rows = []
    for rule, law in rules.items():
        gaps = [max(abs(law(a) - law(b)).sum() / 2 for a, b in combinations(profiles, 2)) for profiles in shared]
        rows.append({"rule": rule, "matrices": len(shared), "split": sum(g > 0 for g in gaps), "apart": max(gaps)})
    return pd.DataFrame(rows)


def _least(cost: NDArray[np.int64]) -> NDArray[np.float64]:
    best = (cost == cost.min()).astype(float)
    return best / best.sum()


@claim("alabi2022:sec-notation:only-w")
def check_only_w() -> Iterator[Check]:
    """Do all known rules depend on the rankings through the pairwise matrix only?"""
    frame = readers().set_index("rule")
    what = "total variation distance of {} on two profiles of 2 voters, 3 items, equal w"
    for rule in ("footrule", "Pick-a-Perm"):
        yield printed(what.format(rule), frame.apart[rule], "<=", 0)
    for voters, rule in product((2, 4), ("Kemeny", "Borda")):
        row = readers(voters=voters).set_index("rule").loc[rule]
        what = f"{rule}, {voters} voters, 3 items: matrices told apart, of {row.matrices:g} of several profiles"
        yield amended(what, row.split, "==", 0)


def tournament(n_items: int, code: int) -> NDArray[np.bool_]:
    """A tournament by number: bit k of it turns the k-th pair (i, j), i < j, so that j beats i."""
    beats = np.zeros((n_items, n_items), bool)
    for k, (i, j) in enumerate(combinations(range(n_items), 2)):
        beats[(j, i) if code >> k & 1 else (i, j)] = True
    return beats


@cache
def worst_case(n_items: int, rankings: bool, ratio: float | None = None) -> float:
    """How bad KwikSort can be, exactly: the largest value of linear programmes, one a tournament that it may follow.

    Cost is its expected Kemeny score, noise the least sum of abs(w~ - w) over the pairs in which a noisy w~ gives it
    that tournament against the majority of w. The optimal order may be taken to be 0, 1, ... as all tournaments are
    tried, one of each mirrored two. Of 3 to 5 items: there are 2^(n_items (n_items - 1) / 2) programmes. Over the
    fractions of all sets of rankings, which for so few items are those that meet the triangle inequality, or else over
    all matrices that meet the probability constraints. Without a `ratio` the largest cost / optimum without noise; with
    one the largest (cost - ratio optimum) / noise, infinite where the ratio fails already without noise.
    """
    if not 3 <= n_items <= 5:
        raise ValueError(f"n_items = {n_items}; allowed: 3 to 5")
    pairs = list(combinations(range(n_items), 2))
    size = len(pairs)
    keep, none, ones = np.eye(size), np.zeros((size, size)), np.ones((size, 1))
    shared = [np.c_[keep, none, -ones]]
    if rankings:
        for i, j, k in combinations(range(n_items), 3):
            row = np.zeros((1, 2 * size + 1))
            row[0, [pairs.index((i, j)), pairs.index((j, k)), pairs.index((i, k))]] = 1, 1, -1
            shared += [-row, row - np.eye(1, 2 * size + 1, 2 * size)]
    against = np.r_[-np.ones(size), np.zeros(size), size]
    fixed = against if ratio is None else np.r_[np.zeros(size), np.ones(size), 0]
    bounds = [(0, None)] * size + [(0, 0 if ratio is None else None)] * size + [(0, None)]
    mirror = [pairs.index((n_items - 1 - j, n_items - 1 - i)) for i, j in pairs]
    worst = 0.0
    for code in range(1, 1 << size):
        if sum((code >> k & 1) << other for k, other in enumerate(mirror)) < code:
            continue
        beats = tournament(n_items, code)
        ahead = before_probabilities(beats)[tuple(np.transpose(pairs))]
        sign = np.where(beats[tuple(np.transpose(pairs))], -1.0, 1.0)[:, None]
        rows = np.vstack([*shared, np.c_[sign * keep, -keep, -sign / 2]])
        gain = np.r_[1 - 2 * ahead, np.zeros(size), ahead.sum()] - (ratio or 0) * against
        solved = linprog(-gain, rows, np.zeros(len(rows)), fixed[None], [1], bounds)
        if solved.status == 3:
            return math.inf
        if solved.status:
            raise ArithmeticError(f"linear programme of tournament {code}: {solved.message}")
        worst = max(worst, -solved.fun)
    return worst


def back_arc(n_items: int, back: float) -> NDArray[np.float64]:
    """All voters agree on 0, 1, ..., but a share `back` puts the last item before the first: not always rankings."""
    w = np.triu(np.ones((n_items, n_items)), 1)
    w[0, -1], w[-1, 0] = 1 - back, back
    return w


def outsider(chain: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two voters who agree on a chain of items; one puts a last item before all of them, the other behind.

    Their fractions, and what KwikSort sees: a grain of noise has broken the ties, for the better half in favour of the
    last item.
    """
    w = np.triu(np.ones((chain + 1, chain + 1)), 1)
    w[:-1, -1] = w[-1, :-1] = 0.5
    seen = w.copy()
    lean = np.where(np.arange(chain) < chain / 2, -1e-9, 1e-9)
    seen[:-1, -1] += lean
    seen[-1, :-1] -= lean
    return w, seen


def outsider_ratio(chain: int) -> float:
    """Mean ratio of KwikSort on `outsider` if each tie is broken by a coin of its own.

    The chance that the other item is put first falls linearly from 1 at the first item of the chain to 0 at the last.
    Some way to break the ties is at least as bad. O(chain^3).
    """
    lean = np.linspace(1, 0, chain)
    loss = np.zeros((chain + 1, chain + 1))
    for length in range(2, chain + 1):
        for low in range(chain - length + 1):
            high = low + length
            p = lean[low:high]
            turned = (np.cumsum(p) * (1 - p)).sum() - (p * (1 - p)).sum()
            parts = p @ loss[low, low:high] + (1 - p) @ loss[low + 1 : high + 1, high]
            loss[low, high] = (turned + parts) / (length + 1)
    return float(1 + 2 * loss[0, chain] / chain)


def ratios(items: Iterable[int]) -> pd.DataFrame:
    """Worst ratios and the least constant of the noise, by `worst_case`, with the closed forms of extremal families.

    ``items``, ``any matrix`` and ``rankings`` (largest cost / optimum), ``noise`` (least C in cost <= 2 optimum + C
    noise), and the closed forms ``5 − 8/m`` and ``4 − 4/m``.
    """
    rows = []
    for m in items:
        row = {"items": m, "any matrix": worst_case(m, False), "5 − 8/m": 5 - 8 / m, "rankings": worst_case(m, True)}
        rows.append(row | {"noise": worst_case(m, True, 2.0), "4 − 4/m": 4 - 4 / m})
    return pd.DataFrame(rows)


def families(items: Iterable[int]) -> pd.DataFrame:
    """The extremal families by the exact recursion, for more items than `worst_case` can list.

    ``items``, ``any matrix`` (ratio on `back_arc` of 1/2), ``rankings`` (ratio on `outsider`), ``noise`` (cost over
    noise when all voters agree and the first comparison with the last is turned).
    """
    rows = []
    for m in items:
        w, seen = outsider(m - 1)
        agreed = np.triu(np.ones((m, m)), 1)
        rows.append(
            {
                "items": m,
                "any matrix": expected_cost(back_arc(m, 0.5 + ROUNDING), back_arc(m, 0.5)) / 0.5,
                "rankings": expected_cost(seen, w) / ((m - 1) / 2),
                "noise": expected_cost(back_arc(m, 1.0), agreed) / 0.5,
            }
        )
    return pd.DataFrame(rows)


def noisy_instances(n_items: int, instances: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """Random sets of rankings under noise of random size: what is left of cost <= 2 optimum + 4 noise.

    ``voters``, ``scale`` (of the Laplace noise on fractions), ``cost``, ``optimum``, ``noise``; a row an instance,
    of 16 items at most.
    """
    rows = []
    for _ in range(instances):
        voters, scale = int(rng.integers(1, 8)), float(10 ** rng.uniform(-1.5, 1))
        w = pairwise_fractions(numbered(rng.permuted(np.tile(np.arange(n_items), (voters, 1)), axis=1)))
        error = np.triu(rng.laplace(scale=scale, size=w.shape), 1)
        seen = w + error - error.T
        wrong = np.triu((seen - seen.T) * (w - w.T) < 0, 1)
        row = {"voters": voters, "scale": scale, "cost": expected_cost(seen, w), "optimum": kemeny(w).cost}
        rows.append(row | {"noise": abs(error[wrong]).sum()})
    return pd.DataFrame(rows)


@claim("alabi2022:sec-central:kwiksort")
def check_kwiksort(items: Sequence[int], large: int) -> Iterator[Check]:
    """Is KwikSort a 5-approximation, and how much of the 5 is needed?"""
    for m in items:
        true = f"over all sets of rankings, {m} items"
        yield printed(
            f"largest E K / OPT, any matrix with w_ij + w_ji = 1, {m} items", worst_case(m, False), "<=", 5 + ROUNDING
        )
        yield printed(f"largest E K / OPT {true}", worst_case(m, True), "<=", 5 + ROUNDING)
        yield amended(f"largest E K / OPT {true}", worst_case(m, True), "<=", 2 + ROUNDING)
        yield amended(f"largest (E K − 2 OPT) / noise {true}", worst_case(m, True, 2.0), "<=", 4 + ROUNDING)
    reached = families([large])["any matrix"][0]
    yield printed(f"E K / OPT, {large} items in line, first and last tied", reached, "<=", 5)


@styled
def draw_noise_ratio(frame: pd.DataFrame) -> Figure:
    """Noise of the second reduction over that of the first, against the number of items, as printed and as planned."""
    message = "As printed, asking fewer questions adds noise unless there are many items"
    figure, (axes,) = panels(message=message, height=3.4)
    for (noise, part), colour in zip(frame.groupby("noise", sort=False), (COLOURS[0], COLOURS[2]), strict=True):
        for split, line in (("printed", "-"), ("planned", "--")):
            axes.plot(part["items"], part[split], line, color=colour, label=f"{noise}, {split}")
    axes.axhline(1, color="black", lw=1)
    axes.annotate("all pairs", (0, 1), (3, -11), ("axes fraction", "data"), "offset points")
    ticks = [m for m in (3, 5, 10, 20, 40, 100, 200) if m <= frame["items"].max()]
    axes.set(xscale="log", xlabel="items", ylabel="noise on an answer,\nover that of asking all pairs", ylim=(0, 2.1))
    axes.set_xticks(ticks, list(map(str, ticks)))
    axes.set_xticks([], minor=True)
    note(
        figure,
        "Fewer questions: only those that quicksort asks. Each answer gets its share of ε. Planned: less of ε is kept "
        "back for runs that need too many questions and then ask about all pairs.",
    )
    name_lines(axes, width=10)
    return figure
