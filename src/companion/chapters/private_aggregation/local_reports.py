"""Alabi, Ghazi, Kumar and Manurangsi (2022): Reduction I under local privacy, and what one report a voter can tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.instruments.aggregation import EXACT_ITEMS, numbered, one_pair_error, rule_for, split_vote
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import BAR, COLOURS, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_rankings, exponent
from companion.ledger.claim import Check, amended, claim, printed, supplied
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
#: Error of one entry in units of m / (epsilon sqrt(n)), which the text derives for epsilon up to 1.
ENTRY = 1.0
#: The same for orders of k items, with a factor log(epsilon + e), for every epsilon.
ORDERED = 2.8


def entry_deviation(name: str, n_items: int, epsilon: float) -> float:
    """Standard deviation of one estimated fraction, times the root of the number of voters: bounds its error."""
    return math.sqrt(RANDOMISERS[name](n_items, epsilon).variance) / 2


def deviations(sizes: Iterable[int], epsilons: Iterable[float]) -> pd.DataFrame:
    """Exact standard deviations of one fraction, for one voter.

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``epsilon``, ``randomiser``, ``deviation``.
    """
    return pd.DataFrame(
        {"n_items": m, "epsilon": epsilon, "randomiser": name, "deviation": entry_deviation(name, m, epsilon)}
        for m, epsilon, name in product(sizes, epsilons, RANDOMISERS)
    )


def unanimous_error(chance: float, shrinkage: float, voters: int) -> float:
    """Exact expected error of one fraction when all voters agree on the pair.

    Parameters
    ----------
    chance : float
        Probability that a report says anything of the pair.
    shrinkage : float
        Probability, given that, of the right sign less that of the wrong one.
    voters : int
        The law of the sum of so many reports is found by a discrete Fourier transform of 2 voters + 1 points.
    """
    size = 2 * voters + 1
    wave = np.exp(-2j * np.pi * np.arange(size) / size)
    one = 1 - chance + chance * ((1 + shrinkage) / 2 * wave + (1 - shrinkage) / 2 / wave)
    law = np.fft.ifft(one**voters).real
    sums = np.fft.fftfreq(size, 1 / size)
    return float((law * np.abs(sums / (voters * chance * shrinkage) - 1)).sum() / 2)


def exact_errors(n_items: int, voters: int, epsilons: Iterable[float]) -> pd.DataFrame:
    """Exact error of one fraction under unanimity, in units of the printed m / (epsilon sqrt(n)).

    Returns
    -------
    pandas.DataFrame
        ``epsilon``, then a column for the naive response, the cube and one pair.
    """
    rows = []
    for epsilon in epsilons:
        cube, pair = (
            VectorReport.calibrated(n_items=n_items, epsilon=epsilon, geometry="cube"),
            SampledOrder.calibrated(n_items=n_items, epsilon=epsilon, length=2),
        )
        forms = {
            "every pair (naive)": (1.0, SplitResponse.calibrated(n_items=n_items, epsilon=epsilon).kept),
            "cube": (1.0, cube.shrinkage),
            "one pair": (pair.chance, pair.shrinkage),
        }
        unit = n_items / (epsilon * math.sqrt(voters))
        rows.append(
            {"epsilon": epsilon} | {name: unanimous_error(*form, voters) / unit for name, form in forms.items()}
        )
    return pd.DataFrame(rows)


# --- laws of one report ----------------------------------------------------------------------------------------------


def report_law(report: Randomiser) -> NDArray[np.float64]:
    """Probability of every report (columns) under every ranking (rows) of 2 to 4 items.

    Parameters
    ----------
    report : SplitResponse, SampledOrder, PrintedPair, or VectorReport on the cube
    """
    return law_of_reports(report, all_rankings(report.n_items))


def largest_loss(law: NDArray[np.float64]) -> float:
    """Largest privacy loss between two rows."""
    return max(privacy_loss(a, b) for a in law for b in law)


def event_loss(law: NDArray[np.float64]) -> float:
    """The largest log ratio over all events, from a law of at most 12 outputs."""
    events = np.array(list(product((0, 1), repeat=law.shape[1])))[1:]
    chances = law @ events.T
    return float(np.log(chances.max(0) / chances.min(0)).max())


def order_loss(report: Randomiser) -> float:
    """Central privacy loss of the order found from two voters' reports; the naive response or the cube, 3 items."""
    law = report_law(report)
    sent = np.array(list(product((-1, 1), repeat=3)))
    orders = ranking_signs(all_rankings(3)).astype(int)
    totals = (sent[:, None] + sent).reshape(-1, 3)
    chosen = np.eye(len(orders))[np.argmax(totals @ orders.T, axis=1)]
    given = np.array([[np.kron(a, b) @ chosen for b in law] for a in law])
    return max(largest_loss(given[:, other]) for other in range(len(law)))


@claim("alabi2022:sec-background:adjacency")
def check_adjacency(epsilon: float = 1.0) -> Iterator[Check]:
    """The definition over events against exact laws of reports, of what two voters send, and of an order."""
    small = {name: report_law(RANDOMISERS[name](3, epsilon)) for name in ("one pair, printed form", "cube")}
    small["every pair (naive)"] = report_law(SplitResponse.calibrated(n_items=3, epsilon=epsilon))
    small["order of 3 items"] = report_law(SampledOrder.calibrated(n_items=3, epsilon=epsilon, length=3))
    for name, law in small.items():
        yield printed(f"{name}, 3 items: loss over all events", event_loss(law), "<=", epsilon + ROUNDING)
        both = np.array([np.kron(a, law[0]) for a in law])
        what = f"{name}, two voters of whom one changes: loss of the transcript less that of a report"
        yield printed(what, largest_loss(both) - largest_loss(law), "==", 0, error=ROUNDING)
    both = np.array([np.kron(a, a) for a in small["one pair, printed form"]])
    what = "no neighbours, as both voters change: loss of the transcript"
    yield printed(what, largest_loss(both), ">", 1.5 * epsilon)
    for name in ("every pair (naive)", "cube"):
        what = f"{name}, two voters: central loss of the order"
        yield printed(what, order_loss(RANDOMISERS[name](3, epsilon)), "<=", epsilon + ROUNDING)
    what = "a voter who publishes the ranking: loss of the transcript"
    yield printed(what, largest_loss(np.eye(6)), "==", math.inf)


# --- Theorem 8 and Corollary 9 ---------------------------------------------------------------------------------------


def cube_excess(epsilon: float) -> float:
    """Least expected cost of an order that one voter's cube report on three items leads to, by enumeration.

    The best that an approximation of any ratio can do: where the report is a ranking, its order is due, for it costs
    nothing; otherwise the true order is put down to it. The optimum costs 0.
    """
    law = report_law(VectorReport.calibrated(n_items=3, epsilon=epsilon, geometry="cube"))[0]
    sent = np.array(list(product((-1, 1), repeat=3)))
    orders = ranking_signs(all_rankings(3))
    wrong = (sent != orders[0]).sum(1)
    is_order = (sent[:, None] == orders).all(-1).any(1)
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
    """Theorem 8 with the randomiser of its proof, for every epsilon; up to 1; and with a randomiser that can do more.

    Parameters
    ----------
    excess : pandas.DataFrame
        As of `excesses`; rows of the sphere are compared with the theorem.
    """
    growth = exponent(LARGE, exact_errors(8, 1000, LARGE).cube)
    what = "exact error of an entry / (m/(ε√n)), cube, m = 8, 1000 unanimous voters: exponent in ε from 10 to 1000"
    yield printed(what, growth, "<=", 0)
    for name in ("sphere", "cube"):
        worst = worst_entry(name, SIZES, GRID)
        yield supplied(f"error of an entry / (m/(ε√n)), {name}, ε ≤ 1, m ≤ 300", worst, "<=", ENTRY)
    for row in excess[(excess.randomiser == "sphere") & (excess.epsilon <= 1)].itertuples():
        bound = math.comb(row.n_items, 2) * 2 * ENTRY * row.n_items / (row.epsilon * math.sqrt(row.voters))
        what = f"K − OPT, optimum of clipped estimates, m = {row.n_items}, n = {row.voters:,}, ε = {row.epsilon:g}"
        yield supplied(what, row.mean, "<=", bound, error=Z * row.se)
    worst = worst_entry("order of k items", SIZES[:-1], WIDE, logarithm=True)
    what = "order of k items: error of an entry / (m log(ε+e)/(ε√n)), ε ≤ 10,000, m ≤ 100"
    yield amended(what, worst, "<=", ORDERED)


@claim("alabi2022:cor-9")
def check_cor_9(excess: pd.DataFrame, planted: pd.DataFrame) -> Iterator[Check]:
    """Corollary 9 at large epsilon and at epsilon up to 1; then the order's error without the sum over entries.

    Parameters
    ----------
    excess, planted : pandas.DataFrame
        As of the functions `excesses` and `planted`; rows of one pair a voter are compared with our bound.
    """
    lone = [cube_excess(e) for e in LARGE]
    what = "one voter, 3 items: K − OPT in units of m³/(ε√n), exponent in ε from 10 to 1000"
    yield printed(what, exponent(LARGE, np.array(LARGE) * lone), "<=", 0)
    for name in ("sphere", "cube"):
        # sum over pairs of entry errors, of which 2 + xi at most are charged
        worst = max(worst_entry(name, [m], GRID) * math.comb(m, 2) / m**2 for m in SIZES)
        yield supplied(f"Σ of entry errors / (m³/(ε√n)), {name}, ε ≤ 1", worst, "<=", ENTRY / 2)
    inputs = (
        ("Mallows voters", excess[excess.randomiser == "one pair"]),
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
    exact = exact_errors(8, 1000, (0.1, 1.0))
    savings = [saving(m, e) / m for m, e in product(SIZES, GRID)]
    ratios = [
        RANDOMISERS["sphere"](m, e).variance / RANDOMISERS["one pair"](m, e).variance
        for m, e in product(SIZES[1:], WIDE)
    ]
    growth = exponent(SIZES[-4:], [saving(m, 1.0) for m in SIZES[-4:]])
    shares = exact["every pair (naive)"] / exact.cube / 8
    yield printed("naive: error of an entry / (m²/(ε√n)), all ε, m ≤ 300", naive, "<=", 0.5)
    yield printed("error of naive response over the sphere's, ε = 1: exponent in m", growth, "==", 1, error=0.02)
    yield printed("error of naive response over the sphere's, m = 4, ε = 8", saving(4, 8.0), ">=", 1)
    yield supplied("saving / m, ε ≤ 1, m ≤ 300: least", min(savings), ">=", 0.4)
    yield supplied("saving / m, ε ≤ 1, m ≤ 300: largest", max(savings), "<=", 0.6)
    yield supplied("saving / m of exact errors, cube, n = 1000 unanimous voters, m = 8", min(shares), ">=", 0.4)
    yield amended("variance of the sphere over that of one pair: least", min(ratios), ">=", 1)
    yield amended("variance of the sphere over that of one pair: largest", max(ratios), "<=", 1.6)


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


def excesses(
    n_items: int,
    voters: Iterable[int],
    epsilons: Iterable[float],
    repetitions: int,
    names: Iterable[str] = tuple(RANDOMISERS)[:-1],
) -> pd.DataFrame:
    """Simulated K - OPT; without orders of k items, the best of which is one pair up to epsilon of about 1.

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``voters``, ``epsilon``, ``randomiser``, ``mean``, ``se``, ``repetitions``, ``random`` (the same of
        a random order, against the centre of the law).
    """
    law = Mallows(n_items, SPREAD)
    cells = [
        {"n_items": n_items, "voters": n, "epsilon": epsilon, "randomiser": name}
        for n, epsilon, name in product(voters, epsilons, names)
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
    """Orders of the hardest inputs we know, beside what is proved of them.

    Returns
    -------
    pandas.DataFrame
        ``n_items``, ``voters``, ``epsilon``, ``mean`` (of K - OPT), ``se``, ``repetitions``, ``ours`` (proved),
        ``entries`` (twice the sum of the entries' deviations, which Theorem 8 charges at ratio 1); for a reader see
        `planted_table`.
    """
    cells = [{"n_items": m, "voters": voters, "epsilon": epsilon} for m in sizes]
    frame = sweep(planted_costs, cells, experiment="alabi2022:cor-9:planted", repetitions=repetitions)
    charge = [2 * math.comb(m, 2) * entry_deviation("one pair", m, epsilon) / math.sqrt(voters) for m in frame.n_items]
    return frame.assign(ours=[one_pair_error(m, epsilon, voters) for m in frame.n_items], entries=charge)


def planted_table(frame: pd.DataFrame) -> pd.DataFrame:
    """What `planted` found, one row a number of items, for a reader."""
    heads = {
        "n_items": "items",
        "mean": "K − OPT",
        "se": "standard error",
        "ours": "our bound",
        "entries": "sum of errors",
    }
    return frame[[*heads]].rename(columns=heads)


def voters_needed(sizes: Iterable[int], epsilon: float) -> pd.DataFrame:
    """How many voters bring the deviation of an entry below 1/2, the largest error of the answer 1/2.

    Returns
    -------
    pandas.DataFrame
        ``items``, then a column a randomiser: least numbers of voters.
    """
    return pd.DataFrame(
        {"items": m} | {name: math.ceil(4 * entry_deviation(name, m, epsilon) ** 2) for name in RANDOMISERS}
        for m in sizes
    )


# --- figures ----------------------------------------------------------------------------------------------------------


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
    figure = Figure(figsize=(7.2, 3.9))
    for axes, (m, part) in zip(figure.subplots(1, len(sizes), squeeze=False)[0], sizes, strict=True):
        for name, curve in part.groupby("randomiser", sort=False):
            axes.plot(curve.epsilon, curve.deviation, ms=3, label=name, **_LOOK[str(name)])
        axes.set(xscale="log", yscale="log", title=f"{m} items", ylim=(0.2, 2 * part.deviation.max()))
    handles, labels = axes.get_legend_handles_labels()
    figure.supxlabel("ε", fontsize=10)
    figure.supylabel("error of a fraction × √n", fontsize=10)
    figure.legend(handles, labels, loc="outside upper left", ncols=2)
    return figure


@styled
def draw_excesses(frame: pd.DataFrame) -> Figure:
    """Cost above the optimum against the number of voters."""
    figure = Figure(figsize=(7.2, 3.9))
    axes = figure.subplots()
    for name, curve in frame.groupby("randomiser", sort=False):
        look = _LOOK[str(name)] | {"ms": 4, "lw": 1.2, "capsize": 2}
        axes.errorbar(curve.voters, curve["mean"], BAR * curve.se, label=name, **look)
    axes.axhline(frame.random.iloc[0], color="black", lw=0.8, ls=":", label="random order")
    axes.set(xscale="log", xlabel="voters", ylabel="K − OPT, pairs a voter", ylim=(-0.05, None))
    figure.legend(loc="outside upper center", ncols=3)
    return figure
