"""What a person should use: Mallows populations, surveys, and who wins where."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from scipy.optimize import brentq

from companion.chapters.private_aggregation import borda as scores
from companion.chapters.private_aggregation.fitted_rates import Votes
from companion.chapters.private_aggregation.table_rows import DELTA, one_pair_margins
from companion.instruments.aggregation import EXACT_ITEMS, best_order, rule_for
from companion.instruments.style import BAR, COLOURS, key, label_outer, note, on_phone, panels, styled
from companion.instruments.sweep import sweep
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.kemeny import kemeny
from dprank.aggregation.kwiksort import kwiksort
from dprank.aggregation.local_kwiksort import LocalKwikSort
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.aggregation.private_kwiksort import PrivateKwikSort
from dprank.aggregation.rules import borda
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows

#: Share of all pairs in which a voter of the Mallows data contradicts the centre, on average.
SPREAD = 1 / 3
#: Share of the larger of two camps; the other one has the halves of its order exchanged.
CAMP = 0.55
#: The best mechanism counts as a coin toss where its excess is above this share of a random order's.
COIN = 0.9
#: Differences of excess up to this share of all pairs do not matter.
TIE = 5e-4
#: Data of any size; each can be had with any number of voters, up to rounding.
FAMILIES = ("Mallows", "two camps")
#: The rankings of real voters of the section on Borda's count.
SURVEYS = ("parties", "universities")
#: Models of privacy, and the delta of each.
MODELS = {"pure": 0.0, "approximate": DELTA, "local": 0.0}


@cache
def population(data: str, n_items: int) -> NDArray[np.float64]:
    """Margins w[i, j] - w[j, i] of one of `FAMILIES`, whose optimal order is 0, 1, ...; or of one of `SURVEYS`."""
    if data not in (*FAMILIES, *SURVEYS):
        raise ValueError(f"data = {data!r}; allowed are {', '.join((*FAMILIES, *SURVEYS))}")
    if data in SURVEYS:
        w = pairwise_fractions(scores.instance(data))
        return w - w.T
    item = np.arange(n_items)
    if data == "two camps":
        half = -(-n_items // 2)
        other = (item + n_items - half) % n_items
        signs = [np.sign(row - row[:, None]) for row in (item, other)]
        return CAMP * signs[0] + (1 - CAMP) * signs[1]
    pairs = math.comb(n_items, 2)
    theta = brentq(lambda x: Mallows(n_items, x).distance_moments()[0] - SPREAD * pairs, 1e-9, 50.0)
    return np.asarray(Mallows(n_items, theta).bias(item - item[:, None]))


@cache
def _central(n_items: int, epsilon: float, delta: float) -> tuple[NoisyMatrix, PrivateKwikSort, PrivateBorda]:
    rule = rule_for(n_items)
    return (
        NoisyMatrix.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous", rule=rule),
        PrivateKwikSort.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous", rule=rule),
        PrivateBorda.calibrated(n_items=n_items, epsilon=epsilon, delta=delta, law="continuous"),
    )


def _central_orders(
    margins: NDArray[np.float64], voters: int, epsilon: float, delta: float, repetitions: int, rng: np.random.Generator
) -> dict[str, list[NDArray[np.int64]]]:
    matrix, sorter, places = _central(len(margins), epsilon, delta)
    counts = voters * (1 + margins) / 2
    np.fill_diagonal(counts, 0)
    votes = Votes(counts)
    orders = {
        "matrix": [best_order(matrix.perturb(voters * margins, rng)) for _ in range(repetitions)],
        "KwikSort": [sorter.release(votes, rng).order for _ in range(repetitions)],
        "scores": list(
            np.argsort(places.perturb(np.tile(counts.sum(axis=0), (repetitions, 1)), rng), axis=1, kind="stable")
        ),
    }
    if not delta and len(margins) <= EXACT_ITEMS:
        orders["exponential"] = list(
            ExponentialMechanism.calibrated(n_items=len(margins), epsilon=epsilon).draw(counts, repetitions, rng)
        )
    return orders


def _local_orders(
    margins: NDArray[np.float64], voters: int, epsilon: float, repetitions: int, rng: np.random.Generator
) -> dict[str, list[NDArray[np.int64]]]:
    design = LocalKwikSort.calibrated(n_items=len(margins), epsilon=epsilon)
    orders: dict[str, list[NDArray[np.int64]]] = {"matrix": [], "scores": []}
    if voters >= design.blocks:
        orders["KwikSort"] = []
    for _ in range(repetitions):
        names = rng.permutation(len(margins))  # ties must not know the order
        true = margins[np.ix_(names, names)]
        seen = one_pair_margins(true, voters, epsilon, rng)
        orders["matrix"].append(names[best_order(seen)])
        orders["scores"].append(names[borda(seen)])
        if "KwikSort" in orders:
            plus = binomial(voters // design.blocks, (1 + math.tanh(epsilon / 2) * np.triu(true, 1)) / 2, rng=rng)
            upper = np.triu(plus / (voters // design.blocks), 1)
            orders["KwikSort"].append(names[kwiksort(upper + np.tril(1 - upper.T, -1), rng=rng)])
    return orders


def excess(
    data: str, n_items: int, voters: int, epsilon: float, model: str, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.float64]]:
    """K - OPT as a share of all pairs, of releases of all mechanisms of one model.

    Central mechanisms are given the margins; local ones draw reports of voters drawn from the population, one pair a
    voter, with the exact law. KwikSort's answers are independent over pairs, as its fresh blocks make them. Data are
    of `FAMILIES` or `SURVEYS`; above epsilon = 1 longer reports would be better in the local model.
    """
    if model not in MODELS:
        raise ValueError(f"model = {model!r}; allowed are {', '.join(MODELS)}")
    margins = population(data, n_items)
    if model == "local":
        orders = _local_orders(margins, voters, epsilon, repetitions, rng)
    else:
        orders = _central_orders(margins, voters, epsilon, MODELS[model], repetitions, rng)
    w, pairs = (1 + margins) / 2, math.comb(n_items, 2)
    least = kemeny_score(np.arange(n_items), w) if data in FAMILIES else kemeny(w).cost
    return {
        (name,): np.array([kemeny_score(order, w) - least for order in found]) / pairs for name, found in orders.items()
    }


def random_excess(data: str, n_items: int) -> float:
    """Exact mean of `excess` of a random order."""
    margins, pairs = population(data, n_items), math.comb(n_items, 2)
    order = np.arange(n_items) if data in FAMILIES else kemeny((1 + margins) / 2).order
    return 0.5 - kemeny_score(order, (1 + margins) / 2) / pairs


def compare(
    sizes: Iterable[int],
    voters: Iterable[int],
    epsilons: Sequence[float],
    repetitions: int,
    jobs: int = 1,
    surveys: Iterable[str] = SURVEYS,
) -> pd.DataFrame:
    """`excess` on both families for all sizes, and on surveys.

    ``data``, ``n_items``, ``voters``, ``epsilon``, ``model``, ``mechanism``, ``mean``, ``se``, ``repetitions``,
    ``random`` (`random_excess`).
    """
    shapes = [(data, m, n) for data, m, n in product(FAMILIES, sizes, voters)]
    shapes += [(name, scores.instance(name).n_items, len(scores.instance(name))) for name in surveys]
    cells = [
        {"data": data, "n_items": m, "voters": n, "epsilon": epsilon, "model": model}
        for (data, m, n), epsilon, model in product(shapes, epsilons, MODELS)
    ]
    frame = sweep(
        excess, cells, experiment="alabi2022: who", repetitions=repetitions, outcomes=["mechanism"], jobs=jobs
    )
    chance = [random_excess(data, m) for data, m in zip(frame["data"], frame.n_items, strict=True)]
    return frame.assign(random=chance)


_CELL = ["n_items", "voters", "epsilon", "model"]


def best_of(part: pd.DataFrame) -> dict[str, Any]:
    """The least mean, and those within two standard errors of the difference or `TIE`; a coin where none beats one."""
    best = part.loc[part["mean"].idxmin()]
    tied = part[part["mean"] - best["mean"] <= np.maximum(2 * np.hypot(part.se, best.se), TIE)].sort_values(
        "mean", kind="stable"
    )
    coin = best["mean"] > COIN * best.random
    use = "coin toss" if coin else " or ".join(tied.mechanism)
    return {"first": "coin toss" if coin else best.mechanism, "use": use, "mean": best["mean"], "se": best.se}


def winners(frame: pd.DataFrame) -> pd.DataFrame:
    """The mechanism of least measured excess in every cell of `compare`.

    ``data`` and the cell; ``first``; ``use``, ties included; ``mean``, ``se`` of the first.
    """
    rows = [
        dict(zip(["data", *_CELL], key, strict=True)) | best_of(part)
        for key, part in frame.groupby(["data", *_CELL], sort=False)
    ]
    return pd.DataFrame(rows)


def worse(frame: pd.DataFrame) -> pd.DataFrame:
    """Of `compare`, in every cell for each mechanism the one of the two families on which it loses more."""
    known = frame[frame["data"].isin(FAMILIES)].reset_index(drop=True)
    return known.loc[known.groupby([*_CELL, "mechanism"])["mean"].idxmax()]


def answers(frame: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """What to use where one does not know the data: least excess on the worse of the two families.

    A row a number of items and voters; a column a model, each with the mechanism, ties included, and its excess in per
    cent of all pairs on the family that is worse for it.
    """
    worst = worse(frame[frame.epsilon == epsilon])
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    for (m, n, _, model), part in worst.sort_index().groupby(_CELL, sort=False):
        best = best_of(part)
        text = f"{best['use']}, {100 * best['mean']:.1f} ± {196 * best['se']:.1f} %"
        rows.setdefault((m, n), {"items": m, "voters": n})[str(model)] = text
    return pd.DataFrame([rows[key] for key in sorted(rows)])[["items", "voters", *MODELS]]


def tally(best: pd.DataFrame) -> pd.DataFrame:
    """In how many cells of `winners` a mechanism is the only best one, or one of several.

    ``mechanism``, ``alone``, ``tied``; a row for the coin toss.
    """
    sets = [use.split(" or ") for use in best.use]
    names = ["matrix", "scores", "KwikSort", "exponential", "coin toss"]
    return pd.DataFrame(
        {
            "mechanism": name,
            "alone": sum(found == [name] for found in sets),
            "tied": sum(name in found and len(found) > 1 for found in sets),
        }
        for name in names
    )


TONES = {
    "coin toss": "0.4",
    "matrix": COLOURS[0],
    "KwikSort": COLOURS[1],
    "scores": COLOURS[2],
    "exponential": COLOURS[3],
}
#: Excess, as a share of all pairs, at which a cell of the map is darkest.
DARKEST = 0.3


@styled
def draw_winners(frame: pd.DataFrame) -> Figure:
    """The least excess in every cell, in per cent of all pairs; a mechanism is named where it alone is the best."""
    cells = list(frame.groupby(["data", "model"], sort=False))
    voters = sorted(frame["voters"].unique())
    lines = sorted({(row.n_items, -row.epsilon) for row in frame.itertuples()}, reverse=True)
    large = frame.loc[frame.voters == voters[-1], "mean"]
    few = (large < 0.01).sum()
    cases = f"{'all' if few == len(large) else f'{few} of'} {len(large)} cases"
    message = f"With {voters[-1]:,} voters <1 % is lost in {cases}"
    shared = {"sharex": True, "sharey": True}
    figure, made = panels(len(cells), message=message, height=2.7, columns=3, on_phone=2, **shared)
    for axes, ((kind, model), part) in zip(made, cells, strict=True):
        for cell in part.to_dict("records"):
            x, y = voters.index(cell["voters"]), lines.index((cell["n_items"], -cell["epsilon"]))
            shade = 0.65 * min(cell["mean"] / DARKEST, 1)
            axes.add_patch(Rectangle((x, y), 1, 1, color="#888888", alpha=shade, lw=0))
            name, colour = cell["use"], TONES.get(cell["use"])
            if colour:
                axes.add_patch(Rectangle((x + 0.05, y + 0.06), 0.9, 0.88, fill=False, edgecolor=colour, lw=1.6))
            word = "coin" if name == "coin toss" else name if colour else ""
            said = f"{word}\n{100 * cell['mean']:.1f}".strip()
            axes.annotate(said, (x + 0.5, y + 0.5), ha="center", va="center", fontsize=7.5)
        axes.set(xlim=(0, len(voters)), ylim=(0, len(lines)))
        axes.set_title(f"{kind},\n{model}" if on_phone() else f"{kind}, {model}", fontsize=9)
        names = [f"{n / 1e6:g} M" if n >= 1e6 else f"{n:,}" for n in voters]
        axes.set_xticks([x + 0.5 for x in range(len(voters))], names, fontsize=8.5)
        axes.set_yticks([y + 0.5 for y in range(len(lines))], [f"{m}, {-e:g}" for m, e in lines], fontsize=8.5)
        axes.grid(visible=False)
        if on_phone():
            axes.tick_params(labelbottom=True)
    label_outer(made, "voters", "items, ε")
    note(
        figure,
        "Number: pairs lost beyond those that the best order loses, % of all. Framed: one method alone is best, or a "
        "coin toss does as well; no frame: several are alike. Scores: noise on the items' scores; matrix: noise on "
        "every pair. Mallows: votes near one order; two camps: votes near two orders. Pure: ε alone; approximate: with "
        "a small δ; local: nobody is trusted.",
    )
    return figure


#: Share of all pairs lost above the best order that `needed` asks for.
LOST = 0.01
#: The mechanisms of a `frontier`, and what `equal_privacy` of Borda's count calls them.
_FRONTIER = {"scores": scores.SCORES, "matrix": scores.MATRIX, "KwikSort": "DPKwikSort"}


def frontier(n_items: int, voters: Iterable[int], epsilon: float, repetitions: int) -> pd.DataFrame:
    """`excess` on both families as voters are added, of the mechanisms that take any number of items; pure privacy.

    ``data``, ``n_items``, ``voters``, ``epsilon``, ``model``, ``mechanism``, ``mean``, ``se``, ``repetitions``.
    """
    cells = [
        {"data": data, "n_items": n_items, "voters": n, "epsilon": epsilon, "model": "pure"}
        for data, n in product(FAMILIES, sorted(voters))
    ]
    frame = sweep(excess, cells, experiment="alabi2022: frontier", repetitions=repetitions, outcomes=["mechanism"])
    return frame[frame.mechanism.isin(_FRONTIER)].reset_index(drop=True)


def needed(frame: pd.DataFrame, lost: float = LOST) -> pd.Series:
    """Of a `frontier`: the voters from which on the best mechanism loses no more than `lost`, by family.

    Between two numbers of voters the least mean is taken as a power of them; infinite where all of them lose more.
    """
    least = frame.groupby(["data", "voters"])["mean"].min()
    return pd.Series({data: _comes_down(curve.droplevel("data"), lost) for data, curve in least.groupby("data")})


def _comes_down(curve: pd.Series, level: float) -> float:
    """The index at which a curve has come down to a level for good, log-linear between its points."""
    above = np.flatnonzero(curve > level)
    if not len(above):
        return float(curve.index[0])
    if above[-1] == len(curve) - 1:
        return math.inf
    (x, y), (right, low) = curve.iloc[above[-1] : above[-1] + 2].items()
    return float(x * (right / x) ** (math.log(y / level) / math.log(y / low))) if low > 0 else float(right)


def told_frontier(frame: pd.DataFrame) -> dict[str, str]:
    """What `needed` finds, in words to two digits, by family."""
    known = {*frame.voters}

    def said(voters: float) -> str:
        if math.isinf(voters):
            return f"more than {max(known):,}"
        return f"at most {voters:,.0f}" if voters in known else f"about {float(f'{voters:.2g}'):,.0f}"

    return {str(data): said(voters) for data, voters in needed(frame).items()}


@styled
def draw_frontier(frame: pd.DataFrame) -> Figure:
    """Pairs lost against voters, a panel a family, a line a mechanism; the least of them and where it comes to 1 %."""
    enough = needed(frame)
    first, last = frame.voters.min(), frame.voters.max()
    more = "more" if enough["two camps"] > enough["Mallows"] else "no more"
    message = f"Two camps take {more} voters to lose only 1 %"
    if np.isinf(enough).all():
        message = f"With {last:,} voters more than 1 % of pairs are lost"
    figure, made = panels(2, message=message, height=3.0, sharey=True, sharex=True)
    camps = f"two camps, {100 * CAMP:.0f} % and {100 * (1 - CAMP):.0f} %"
    names = {"Mallows": "voters near one order (Mallows)", "two camps": camps}
    for axes, (data, part) in zip(made, frame.groupby("data", sort=False), strict=True):
        least = 100 * part.groupby("voters")["mean"].min()
        axes.plot(least.index, least, color="0.8", lw=9, solid_capstyle="round", zorder=0)
        for name, line in part.groupby("mechanism", sort=False):
            label, colour, marker = scores.LOOK[_FRONTIER[str(name)]]
            look: dict[str, Any] = {"color": colour, "marker": marker, "capsize": 2, "lw": 1.2}
            axes.errorbar(line.voters, 100 * line["mean"], 100 * BAR * line.se, label=label, **look)
        if frame.voters.min() < enough[data] < math.inf:
            axes.plot(enough[data], 100 * LOST, marker="o", ms=11, mfc="none", mew=2, color="black", ls="")
        axes.set(xscale="log", title=names[str(data)])
        axes.set_yscale("symlog", linthresh=0.1)
        axes.set_yticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
        axes.set_ylim(-0.03, 40)
    within = [n for n in (30, 100, 300, 1000, 3000, 10_000, 10**5, 10**6) if first <= n <= last]
    ticks = within if len(within) > 1 else [first, last]
    made[0].set_xticks(ticks, [f"{n:,}" for n in ticks])
    made[0].minorticks_off()
    label_outer(made, "", "pairs lost, %")
    for axes in made:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("voters")
    key(figure, *made[0].get_legend_handles_labels(), columns=2)
    note(
        figure,
        "Pairs lost: share of the pairs on which an order contradicts a voter, less that of the best order, on "
        "average. Grey: the best of the three; ring: where it loses 1 %. Below 0.1 the axis is linear. Bars: 95 %.",
    )
    return figure
