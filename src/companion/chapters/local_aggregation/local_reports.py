"""Alabi, Ghazi, Kumar and Manurangsi (2022): Reduction I under local privacy, and what one report a voter can tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.instruments.aggregation import EXACT_ITEMS, numbered, one_pair_error, rule_for, split_vote
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_rankings, exponent
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed.alabi2022 import PrintedPair
from dprank.aggregation.directions import VectorReport
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.local_laws import report_law as law_of_reports
from dprank.aggregation.local_reports import LocalMatrix
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions, shrink
from dprank.aggregation.randomisers import Randomiser, SampledOrder, SplitResponse, ranking_signs
from dprank.audit.exact import privacy_loss
from dprank.data.kendall import kendall_distances
from dprank.models.mallows import Mallows

#: Randomisers of the tables and figures, by number of items and epsilon.
RANDOMISERS: dict[str, Callable[[int, float], Randomiser]] = {
    "every pair (naive)": lambda n_items, epsilon: SplitResponse.calibrated(epsilon=epsilon, n_items=n_items),
    "sphere": lambda n_items, epsilon: VectorReport.calibrated(epsilon=epsilon, n_items=n_items),
    "cube": lambda n_items, epsilon: VectorReport.calibrated(n_items=n_items, epsilon=epsilon, geometry="cube"),
    "one pair, printed form": lambda n_items, epsilon: PrintedPair.calibrated(epsilon=epsilon, n_items=n_items),
    "one pair": lambda n_items, epsilon: SampledOrder.calibrated(n_items=n_items, epsilon=epsilon, length=2),
    "order of k items": lambda n_items, epsilon: SampledOrder.calibrated(epsilon=epsilon, n_items=n_items),
}
#: theta of the Mallows law that simulated voters follow: far from unanimous, with a clear best order.
SPREAD = 0.2
#: The least deviation that the figure shows.
_LEAST = 0.2
#: Error of one entry in units of m / (epsilon sqrt(n)), which the text derives for epsilon up to 1.
ENTRY = 1.0
#: The same for orders of k items, with a factor log(epsilon + e), for every epsilon.
ORDERED = 2.8


def entry_deviation(name: str, n_items: int, epsilon: float) -> float:
    """Standard deviation of one estimated fraction, times the root of the number of voters: bounds its error."""
    return math.sqrt(RANDOMISERS[name](n_items, epsilon).variance) / 2


def deviations(sizes: Iterable[int], epsilons: Iterable[float]) -> pd.DataFrame:
    """Exact deviations of one fraction, for one voter.

    ``n_items``, ``epsilon``, ``randomiser``, ``deviation``; ``k``, where items are drawn whose order is reported.
    """
    return pd.DataFrame(
        {"n_items": m, "epsilon": epsilon, "randomiser": name, "deviation": entry_deviation(name, m, epsilon)}
        | {"k": getattr(RANDOMISERS[name](m, epsilon), "length", math.nan)}
        for m, epsilon, name in product(sizes, epsilons, RANDOMISERS)
    )


def unanimous_error(name: str, n_items: int, voters: int, epsilon: float) -> float:
    """Exact expected error of one fraction over m / (epsilon sqrt(n)) if all agree; the naive response or the cube."""
    shrinkage = 1 / math.sqrt(1 + RANDOMISERS[name](n_items, epsilon).variance)
    right = np.arange(voters + 1)
    law = stats.binom.pmf(right, voters, (1 + shrinkage) / 2)
    error = law @ abs((2 * right / voters - 1) / shrinkage - 1) / 2
    return float(error * epsilon * math.sqrt(voters) / n_items)


# --- laws of one report ----------------------------------------------------------------------------------------------


def report_law(report: Randomiser) -> NDArray[np.float64]:
    """Probability of every report (columns) under every ranking (rows) of 2 to 4 items; not for the sphere."""
    return law_of_reports(report, all_rankings(report.n_items))


def largest_loss(law: NDArray[np.float64]) -> float:
    """Largest privacy loss between two rows."""
    return max(privacy_loss(a, b) for a in law for b in law)


def event_loss(law: NDArray[np.float64]) -> float:
    """The largest log ratio over all events, from a law of at most 12 outputs."""
    events = np.array(list(product((False, True), repeat=law.shape[1])))[1:]
    chances = law @ events.T
    return float(np.log(chances.max(0) / chances.min(0)).max())


#: All signs on the pairs of three items.
SENT = np.array(list(product((-1, 1), repeat=3)))


def order_law(report: Randomiser) -> NDArray[np.float64]:
    """Law of the order found from two voters' reports by their rankings; the naive response or the cube, 3 items."""
    law = report_law(report)
    orders = ranking_signs(all_rankings(3)).astype(int)
    totals = np.concatenate(SENT[:, None] + SENT)
    chosen = np.eye(len(orders))[np.argmax(totals @ orders.T, axis=1)]
    return np.array([[np.kron(a, b) @ chosen for b in law] for a in law])


@claim("alabi2022:sec-background:adjacency")
def check_adjacency(epsilon: float = 1.0) -> Iterator[Check]:
    """The definition over events against exact laws of reports, of what two voters send, and of an order."""
    reports = {name: RANDOMISERS[name](3, epsilon) for name in ("one pair, printed form", "cube", "every pair (naive)")}
    reports["order of 3 items"] = SampledOrder.calibrated(n_items=3, epsilon=epsilon, length=3)
    small = {f"{name}, {report.n_items} items": report_law(report) for name, report in reports.items()}
    for name, law in small.items():
        what = f"{name}, {len(law)} rankings: loss over all events, ε being used up"
        yield printed(what, event_loss(law), "==", epsilon, error=ROUNDING)
        both = np.array([np.kron(a, law[0]) for a in law])
        what = f"{name}, two voters of whom one changes: loss of the transcript less that of a report"
        yield printed(what, largest_loss(both) - largest_loss(law), "==", 0, error=ROUNDING)
    both = np.array([np.kron(a, a) for a in law])
    what = "no neighbours, as both voters change: loss of the transcript"
    yield printed(what, largest_loss(both), "==", epsilon + epsilon, error=ROUNDING)
    for name in ("every pair (naive)", "cube"):
        found = order_law(reports[name])
        what = f"{name}, two voters: central loss of the order"
        yield printed(what, max(map(largest_loss, found)), "<=", epsilon + ROUNDING)
        agreed = sum(found[k, k, k] > found[..., k].max() - ROUNDING for k in range(len(found)))
        what = f"{name}: orders that are found most often if both voters have them"
        yield argument(what, agreed, "==", len(found))
    what = "a voter who publishes the ranking: loss of the transcript"
    yield printed(what, largest_loss(np.eye(len(law))), "==", math.inf)


# --- Theorem 8 and Corollary 9 ---------------------------------------------------------------------------------------


@cache
def cube_excess(epsilon: float) -> float:
    """Least expected cost of an order that one voter's cube report on three items leads to, by enumeration.

    The best that an approximation of any ratio can do: where the report is a ranking, its order is due, for it costs
    nothing; otherwise the true order is put down to it. The optimum costs 0.
    """
    law = report_law(VectorReport.calibrated(n_items=3, epsilon=epsilon, geometry="cube"))[0]
    orders = ranking_signs(all_rankings(3))
    wrong = (orders[0] != SENT).sum(1)
    is_order = (SENT[:, None] == orders).all(-1).any(1)
    return float((law * wrong * is_order).sum())


GRID = (1e-3, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
WIDE = (*GRID, *np.geomspace(1.2, 1e4, 60))
SIZES = (2, 3, 4, 5, 6, 8, 12, 20, 30, 60, 100, 300)
LARGE = (10.0, 100.0, 1000.0)


def worst_entry(name: str, sizes: Iterable[int], epsilons: Iterable[float], logarithm: bool = False) -> float:
    """The largest deviation of an entry in units of m / (epsilon sqrt(n)), or of log(epsilon + e) times that."""
    return max(
        entry_deviation(name, m, epsilon) * epsilon / m / (math.log(epsilon + math.e) if logarithm else 1)
        for m, epsilon in product(sizes, epsilons)
    )


@claim("alabi2022:thm-8")
def check_thm_8(excess: pd.DataFrame) -> Iterator[Check]:
    """Theorem 8 with its randomiser (`excesses` of the sphere), for all epsilon and up to 1; and with a better one."""
    growth = exponent(LARGE, [unanimous_error("cube", 8, 1000, epsilon) for epsilon in LARGE])
    what = "exact error of an entry / (m/(ε√n)), cube, m = 8, 1000 unanimous voters: exponent in ε from 10 to 1000"
    yield printed(what, growth, "<=", 0)
    for name in ("sphere", "cube"):
        worst = worst_entry(name, SIZES, GRID)
        yield supplied(f"error of an entry / (m/(ε√n)), {name}, ε ≤ 1, m ≤ 300", worst, "<=", ENTRY)
    for row in excess[(excess.randomiser == "sphere") & (excess.epsilon <= 1)].itertuples():
        bound = math.comb(row.n_items, 2) * 2 * ENTRY * row.n_items / (row.epsilon * math.sqrt(row.voters))
        cell = f"m = {row.n_items}, n = {row.voters:,}, ε = {row.epsilon:g}"
        what = f"K − OPT, optimum of clipped estimates, {cell}; the proof adds up all pairs' errors"
        yield supplied(what, row.mean, "<=", bound, error=Z * row.se)
    worst = worst_entry("order of k items", SIZES[:-1], WIDE, logarithm=True)
    what = "order of k items: error of an entry / (m log(ε+e)/(ε√n)), ε ≤ 10,000, m ≤ 100"
    yield amended(what, worst, "<=", ORDERED)


@claim("alabi2022:cor-9")
def check_cor_9(excess: pd.DataFrame, planted: pd.DataFrame) -> Iterator[Check]:
    """Corollary 9 at large epsilon and up to 1; then one pair a voter, without the sum over entries."""
    lone = [cube_excess(e) for e in LARGE]
    what = "one voter, 3 items: K − OPT in units of m³/(ε√n), exponent in ε from 10 to 1000"
    yield printed(what, exponent(LARGE, np.array(LARGE) * lone), "<=", 0)
    for name in ("sphere", "cube"):
        # sum over pairs of entry errors, of which 2 + xi at most are charged
        worst = max(worst_entry(name, [m], GRID) * math.comb(m, 2) / m**2 for m in SIZES)
        yield supplied(f"Σ of entry errors / (m³/(ε√n)), {name}, ε ≤ 1", worst, "<=", ENTRY / 2)
    inputs = (
        ("Mallows voters, few close pairs", excess[excess.randomiser == "one pair"]),
        ("planted", planted[planted.n_items <= EXACT_ITEMS]),
    )
    for name, row in ((name, row) for name, frame in inputs for row in frame.itertuples()):
        what = f"K − OPT, one pair, {name}, m = {row.n_items}, n = {row.voters:,}, ε = {row.epsilon:g}"
        bound = one_pair_error(row.n_items, row.epsilon, row.voters)
        yield amended(what, row.mean, "<=", bound, error=Z * row.se)
    worst = max(one_pair_error(m, e) * e / (m**2.5 * math.sqrt(math.log(m))) for m, e in product(SIZES, GRID))
    what = "our bound / (m^2.5 √(log m)/(ε√n)), ε ≤ 1, m ≤ 300"
    yield amended(what, worst, "<=", 0.8)


# --- the naive randomiser --------------------------------------------------------------------------------------------


def saving(n_items: int, epsilon: float) -> float:
    """Deviation of the naive response over that of the sphere."""
    return entry_deviation("every pair (naive)", n_items, epsilon) / entry_deviation("sphere", n_items, epsilon)


@claim("alabi2022:sec-local:naive")
def check_naive() -> Iterator[Check]:
    """Naive randomised response against Duchi, Jordan and Wainwright's, and against one random pair a voter."""
    naive = max(entry_deviation("every pair (naive)", m, e) * e / m**2 for m, e in product(SIZES, WIDE))
    savings = [saving(m, e) / m for m, e in product(SIZES, GRID)]
    ratios = [
        RANDOMISERS["sphere"](m, e).variance / RANDOMISERS["one pair"](m, e).variance
        for m, e in product(SIZES[1:], WIDE)
    ]
    most = SIZES[-1]
    growth = exponent(SIZES[-4:], [saving(m, 1.0) for m in SIZES[-4:]])
    yield printed("error of naive response over the sphere's, ε = 1: exponent in m", growth, "==", 1, error=0.02)
    yield printed("error of naive response over the sphere's, m = 4, ε = 8", saving(4, 8.0), ">=", 1)
    what = f"naive: error of an entry / (m²/(ε√n)), all ε, m ≤ {most}: (m − 1)/2m at the last"
    yield supplied(what, naive, "==", (most - 1) / (2 * most), error=1e-6)
    what = f"saving / m, ε ≤ 1, m ≤ {most}: least, at m = 3 and ε = 1"
    bound = 1 / (3 * math.sinh(1 / 6) * math.sqrt(4 / math.tanh(0.5) ** 2 - 1))
    yield supplied(what, min(savings), "==", bound, error=ROUNDING)
    # √((1 − 1/m)/π) for small ε, up to terms in 1/m²
    what = f"saving / m, ε ≤ 1, m ≤ {most}: largest, near 1/√π"
    yield supplied(what, max(savings), "==", 1 / math.sqrt(math.pi), error=1 / (2 * most))
    for name in ("every pair (naive)", "cube"):
        normal = math.sqrt(2 / math.pi) * entry_deviation(name, 8, 1.0) / 8
        # of n coins an error is that of a normal variable but for 1/n
        what = f"exact error over √(2/π) of its deviation, {name}, n = 1000 unanimous voters, m = 8, ε = 1"
        yield supplied(what, unanimous_error(name, 8, 1000, 1.0) / normal, "==", 1, error=1 / 1000)
    what = "variance of the sphere over that of one pair: least, at m = 3 and small ε"
    yield amended(what, min(ratios), "==", 4 / 3, error=1e-6)
    what = "variance of the sphere over that of one pair: largest, near π/2"
    yield amended(what, max(ratios), "==", math.pi / 2, error=2 / most**2)


# --- simulations of whole releases -----------------------------------------------------------------------------------


def excess_costs(
    n_items: int, voters: int, epsilon: float, randomiser: str, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K - OPT of orders found from one report a voter, for voters of a Mallows law, shape (repetitions,).

    Cheapest orders of the estimates: clipped to [0, 1] for the sphere, as in the proof of Theorem 8, else unclipped.
    """
    mechanism = LocalMatrix(RANDOMISERS[randomiser](n_items, epsilon))
    excess = np.empty(repetitions)
    for r in range(repetitions):
        rankings = numbered(Mallows(n_items, SPREAD).sample(voters, rng=rng))
        w = pairwise_fractions(rankings)
        found = mechanism.fractions(rankings.positions, rng)
        order = kemeny(np.clip(found, 0, 1) if randomiser == "sphere" else shrink(found)).order
        excess[r] = max(kemeny_score(order, w) - kemeny(w).cost, 0.0)
    return excess


def excesses(n_items: int, voters: Iterable[int], epsilons: Iterable[float], repetitions: int) -> pd.DataFrame:
    """Simulated K - OPT: ``n_items``, ``voters``, ``epsilon``, ``randomiser``, ``mean``, ``se``, ``repetitions``,
    ``random`` (of a random order, against the centre); without orders of k items, at best one pair up to epsilon of
    about 1.
    """
    law = Mallows(n_items, SPREAD)
    cells = [
        {"n_items": n_items, "voters": n, "epsilon": epsilon, "randomiser": name}
        for n, epsilon, name in product(voters, epsilons, tuple(RANDOMISERS)[:-1])
    ]
    frame = sweep(excess_costs, cells, experiment="alabi2022:thm-8:excess", repetitions=repetitions)
    return frame.assign(random=law.n_pairs / 2 - law.distance_moments()[0])


def planted_costs(
    n_items: int, voters: int, epsilon: float, *, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K - OPT of orders from one pair a voter where some voters have one order and the others its reverse.

    All pairs have the same margin, 2 / sqrt(items) deviations of its estimate, near which orders cost most. Cheapest
    orders of the estimates up to 12 items, beyond that by local search.
    """
    report = SampledOrder.calibrated(n_items=n_items, epsilon=epsilon, length=2)
    margin = 2 * math.sqrt(report.variance / (voters * n_items))
    forward = math.ceil(voters * (1 + min(margin, 1)) / 2)
    rankings = split_vote(n_items, forward, voters - forward)
    mechanism = LocalMatrix(report, rule_for(n_items))
    orders = [mechanism.release(rankings, rng).order for _ in range(repetitions)]
    return np.asarray((2 * forward / voters - 1) * kendall_distances(np.array(orders), np.arange(n_items)))


def planted(sizes: Iterable[int], voters: int, epsilon: float, repetitions: int) -> pd.DataFrame:
    """Orders of the hardest inputs we know: ``n_items``, ``voters``, ``epsilon``, ``mean`` (of K - OPT), ``se``,
    ``repetitions``, ``ours`` (proved), ``entries`` (twice the sum of the entries' deviations, Theorem 8's charge at
    ratio 1).
    """
    cells = [{"n_items": m, "voters": voters, "epsilon": epsilon} for m in sizes]
    frame = sweep(planted_costs, cells, experiment="alabi2022:cor-9:planted", repetitions=repetitions)
    charge = [2 * math.comb(m, 2) * entry_deviation("one pair", m, epsilon) / math.sqrt(voters) for m in frame.n_items]
    return frame.assign(ours=[one_pair_error(m, epsilon, voters) for m in frame.n_items], entries=charge)


def planted_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What `planted` found, one row a number of items, for a reader."""
    heads = {"n_items": "items", "mean": "K − OPT", "se": "standard error", "ours": "our bound"}
    return frame[[*heads, "entries"]].rename(columns=heads | {"entries": "sum of errors"})


def voters_needed(sizes: Iterable[int], epsilon: float) -> pd.DataFrame:
    """Voters that bring the deviation of an entry below 1/2, a guess's error: ``items``, a column a randomiser."""
    return pd.DataFrame(
        {"items": m} | {name: math.ceil(4 * entry_deviation(name, m, epsilon) ** 2) for name in RANDOMISERS}
        for m in sizes
    )


def told(n_items: int, epsilon: float) -> dict[str, str]:
    """`voters_needed` as the road says it: of one ``pair`` a voter, and of ``all``."""
    needed = voters_needed([n_items], epsilon).iloc[0]
    return {name: f"{needed[column]:,.0f}" for name, column in (("pair", "one pair"), ("all", "every pair (naive)"))}


#: Epsilons of the figure of deviations.
WIDTHS = tuple(np.geomspace(0.1, 30, 16))


# --- figures ----------------------------------------------------------------------------------------------------------


_NAMES = {
    "every pair (naive)": "all: every pair",
    "sphere": "one thing: sphere",
    "cube": "one thing: cube",
    "one pair, printed form": "one thing: a pair, as printed",
    "one pair": "one thing: a pair",
    "order of k items": "order of k items, the best k at each ε",
}
_GEOMETRY = "sphere, cube: one random direction that leans towards the voter's answers on all pairs"
# colour, mark and line of a randomiser, the same in both figures; the cube is dashed, as it covers the sphere
_LOOK: dict[str, dict[str, Any]] = {
    "every pair (naive)": {"color": COLOURS[1], "marker": "s", "ls": "-"},
    "sphere": {"color": COLOURS[4], "marker": "o", "ls": "-"},
    "cube": {"color": COLOURS[2], "marker": "v", "ls": (0, (4, 4))},
    "one pair, printed form": {"color": COLOURS[3], "marker": "D", "ls": "-"},
    "one pair": {"color": COLOURS[0], "marker": "^", "ls": "-"},
    "order of k items": {"color": COLOURS[6], "marker": "P", "ls": "-"},
}


@styled
def draw_deviations(frame: pd.DataFrame) -> Figure:
    """Deviation of one entry against epsilon, a panel a number of items."""
    sizes = list(frame.groupby("n_items"))
    message = "The larger ε, the more items a voter should put in order"
    figure, made = panels(len(sizes), message=message, height=3.2)
    for axes, (m, part) in zip(made, sizes, strict=True):
        for name, curve in part.groupby("randomiser", sort=False):
            axes.plot(curve.epsilon, curve.deviation, ms=3, label=_NAMES[str(name)], **_LOOK[str(name)])
        axes.set(xscale="log", yscale="log", title=f"{m} items", ylim=(_LEAST, 2 * part.deviation.max()))
        for k, same in curve[curve.deviation >= _LEAST].groupby("k"):
            middle = same.iloc[len(same) // 2][["epsilon", "deviation"]]
            below: dict[str, Any] = {"xytext": (-4, -3), "textcoords": "offset points", "ha": "right", "va": "top"}
            axes.annotate(f"k = {k:g}" if k == curve.k.min() else f"{k:g}", middle, **below, fontsize=8)
        if curve.deviation.min() < _LEAST:
            axes.text(0.62, 0.03, f"falls towards 0: the order\nof all {m} items is sent", ha="right", fontsize=9,
                      transform=axes.transAxes)  # fmt: skip
    label_outer(made, "ε", "error of a share × √voters")
    key(figure, *made[0].get_legend_handles_labels(), columns=3)
    pair = "A pair: yes and no are reversed equally often; as printed: a fair coin replaces every no."
    best = "Numbers on the black line: the k that is best at each ε, from a pair (2) to all items."
    note(
        figure,
        f"Share: how many voters prefer one item to another. {_GEOMETRY[0].upper()}{_GEOMETRY[1:]}. {pair} {best}",
    )
    return figure


@styled
def draw_excesses(frame: pd.DataFrame) -> Figure:
    """Cost above the optimum against the number of voters."""
    message = "If each voter says one thing, far fewer voters are enough"
    sides = dict(zip(frame.randomiser.unique(), np.linspace(-0.05, 0.05, frame.randomiser.nunique()), strict=True))
    figure, (axes,) = panels(message=message, height=3.2)
    for name, curve in frame.groupby("randomiser", sort=False):
        look = _LOOK[str(name)] | {"ms": 4, "lw": 1.2, "capsize": 2}
        beside = curve.voters * 10 ** sides[name]
        axes.errorbar(beside, curve["mean"], BAR * curve.se, label=_NAMES[str(name)], **look)
    axes.axhline(frame.random.iloc[0], color="black", lw=0.8, ls=":", label="random order")
    axes.set(xscale="log", xlabel="voters", ylabel="cost above the best order,\npairs per voter", ylim=(-0.05, None))
    key(figure, *axes.get_legend_handles_labels(), columns=3)
    note(figure, f"{frame.n_items.iloc[0]} items, ε = {frame.epsilon.iloc[0]:g}; {_GEOMETRY}; bars: 95 %.")
    return figure
