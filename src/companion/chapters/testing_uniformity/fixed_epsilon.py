"""What a fixed epsilon means as the number of items grows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from scipy import stats

from companion.instruments.power_curves import LEAN
from companion.instruments.style import CALIBRATION, COLOURS, name_lines, note, on_phone, panels, styled
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, content, printed
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows, theta_at


def null_variance(items: float) -> float:
    """Variance of the Kendall distance of a uniform ranking from a given one."""
    return items * (items - 1) * (2 * items + 5) / 72


def limit(epsilon: float) -> float:
    """Where theta_epsilon times the standard deviation of the null distance goes: 2 Phi^-1((1 + epsilon) / 2)."""
    return float(2 * stats.norm.ppf((1 + epsilon) / 2))


def log_affinity(items: int, theta: float) -> float:
    """log of the sum of sqrt(p u), p Mallows and u uniform; 1 - TV lies between half its square and itself."""
    ends = Mallows(items, theta).log_normaliser + math.lgamma(items + 1)
    return Mallows(items, theta / 2).log_normaliser - ends / 2


def bracket(items: float, epsilon: float) -> tuple[float, float]:
    """Proved bounds on theta_epsilon: 2 epsilon / sd and 4 sqrt(L) / sd, L = -log(1 - epsilon).

    Here var and sd are those of the null distance. The upper bound asks that 16 L (m + 1)^5 <= 600 var^2; else it is
    infinite.
    """
    variance, apart = null_variance(items), -math.log1p(-epsilon)
    upper = 4 * math.sqrt(apart / variance) if 16 * apart * (items + 1) ** 5 <= 600 * variance**2 else math.inf
    return 2 * epsilon / math.sqrt(variance), upper


def known_limit(epsilon: float, delta: float) -> int:
    """Rankings of an (epsilon, delta)-tester of many items that knows the centre: normal limit."""
    return math.ceil((2 * stats.norm.isf(delta) / limit(epsilon)) ** 2)


def unif_samples(items: int, theta: float, delta: float) -> float:
    """Line 5 of UNIF where the number of pairs that it counts on, m_1, is positive; NaN elsewhere."""
    return paper.unif_samples(items, theta, delta) if items > 4 * math.log(2 / delta) else math.nan


def sample_table(items: Iterable[int], epsilons: Iterable[float], delta: float) -> pd.DataFrame:
    """What a fixed epsilon asks for.

    ``items``, ``epsilon``, ``theta`` (theta_epsilon), ``gap`` (1 - phi_epsilon), ``printed_gap`` (Theorem 4's), ``mu``,
    ``unif`` (line 5 of UNIF).
    """
    rows = []
    for epsilon in epsilons:
        for m in items:
            theta = theta_at(m, epsilon)
            row = {"items": m, "epsilon": epsilon, "theta": theta, "gap": -math.expm1(-theta)}
            row |= {"printed_gap": paper.two_sample_gap(m, delta), "mu": math.tanh(m * theta / 16)}
            rows.append(row | {"unif": unif_samples(m, theta, delta)})
    return pd.DataFrame(rows)


def condition_table(frame: pd.DataFrame, delta: float) -> pd.DataFrame:
    """A `sample_table` and below it, with no ``epsilon``, `least_epsilon` over the same range of items, or to 100."""
    most = max(100, frame["items"].max())  # below about 40 no law that is not constant meets the condition
    items = np.unique(np.geomspace(max(always_met(delta)) + 1, most, 200).astype(int))
    return pd.concat([frame[["items", "epsilon", "gap"]], least_epsilon(items, delta)], ignore_index=True)


def rate_table(items: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Rankings needed at one epsilon.

    ``items``, ``unif`` (line 5 of UNIF), ``bound`` (no test below it, to leading order), ``known`` (enough if the
    centre is known, normal limit), ``claimed`` (the abstract's m^-1/2 through the least ``unif``).
    """
    rows = []
    for m in items:
        theta = theta_at(m, epsilon)
        rows.append((m, unif_samples(m, theta, delta), least_samples(m, theta, delta), known_limit(epsilon, delta)))
    frame = pd.DataFrame(rows, columns=["items", "unif", "bound", "known"])
    least = frame.loc[frame.unif.idxmin()]
    return frame.assign(claimed=least.unif * (frame["items"] / least["items"]) ** -0.5)


def fixed_phi(items: Iterable[int], phi: float, delta: float) -> pd.DataFrame:
    """UNIF's k at a fixed phi: ``items``, ``unif``, and the `zeros` of 1 - TV."""
    theta = -math.log(phi)
    rows = [(m, unif_samples(m, theta, delta), zeros(m, theta)) for m in items]
    return pd.DataFrame(rows, columns=["items", "unif", "zeros"])


def ruler_table(items: Iterable[int], phi: float, epsilon: float) -> pd.DataFrame:
    """Two ways to stay put while items are added.

    ``items``; with phi fixed: ``phi`` and the ``distance`` (total variation) from uniform; with the distance fixed:
    ``epsilon`` and the ``gap`` 1 - phi_epsilon.
    """
    return pd.DataFrame(
        {
            "items": m,
            "phi": phi,
            "distance": Mallows.of_phi(m, phi).total_variation(),
            "epsilon": epsilon,
            "gap": -math.expm1(-theta_at(m, epsilon)),
        }
        for m in items
    )


def exponent_at(frame: pd.DataFrame, column: str, epsilon: float) -> float:
    """Slope of log column against log items at one epsilon, by least squares."""
    part = frame[frame.epsilon == epsilon].dropna(subset=column)
    return exponent(part["items"], part[column])


def zeros(items: int, theta: float) -> float:
    """-log10(1 - TV) of a Mallows law and the uniform one: how many zeros follow the point in 1 - TV."""
    return -Mallows(items, theta).log_overlap() / math.log(10)


def least_epsilon(items: Iterable[int], delta: float) -> pd.DataFrame:
    """How far from uniform a law must be to meet Theorem 4's condition.

    ``items``, ``gap`` (the printed one), ``zeros`` (-log10(1 - TV) of the law with 1 - phi = gap), ``proved`` (at least
    so many, by the affinity); only rows with 0 < gap < 1, for the others are met always or never.
    """
    rows = []
    for m in items:
        gap = paper.two_sample_gap(m, delta)
        if 0 < gap < 1:
            theta = -math.log1p(-gap)
            proved = -log_affinity(m, theta) / math.log(10)
            rows.append({"items": m, "gap": gap, "zeros": zeros(m, theta), "proved": proved})
    return pd.DataFrame(rows)


def always_met(delta: float, most: int = 10**4) -> list[int]:
    """The numbers of items at which Theorem 4's condition is met even by the uniform law."""
    return [m for m in range(2, most) if paper.two_sample_gap(m, delta) < 0]


@claim("busafekete2021:thm-4:epsilon")
def check_condition(frame: pd.DataFrame, delta: float, phi: float = 0.9) -> Iterator[Check]:
    """Theorem 4's condition, at a fixed phi and at a fixed epsilon."""
    asked = {m: paper.two_sample_gap(m, delta) for m in [*range(2, 2000), *np.geomspace(2000, 1e12, 40)]}
    scaled = {m: m * gap for m, gap in asked.items() if gap > 0}
    since = 1 + max(m for m in range(2, 10**5) if paper.two_sample_gap(m, delta) > 1 - phi)
    later = max(paper.two_sample_gap(m, delta) for m in np.geomspace(since, 1e12, 200))
    best = least_epsilon([*range(2, 300), 10**3, 10**4], delta)
    large = frame[frame["items"] == frame["items"].max()]
    share, free = float((large.gap / large.printed_gap).max()), always_met(delta)
    what = f"m times the least 1 − φ_ε allowed, where it is positive, m ≤ 10¹², δ = {delta:g}: smallest"
    yield printed(what, min(scaled.values()), ">=", 8 * (1 - 1e-6))
    most = max(gap for m, gap in scaled.items() if m >= 10**4)
    yield printed("the same from m = 10⁴ on: largest", most, "<=", 9)
    yield printed(f"φ_ε = {phi:g}: largest 1 − φ_ε asked for from m = {since} to 10¹²", later, "<=", 1 - phi)
    what = f"fixed ε = {large.epsilon.max():g}, m = {large['items'].max():,}: 1 − φ_ε over what is asked"
    yield content(what, share, ">=", 1)
    yield content(f"δ = {delta:g}: numbers of items at which even φ_ε = 1 passes", len(free), "==", 0)
    what = f"−log₁₀(1 − ε) where the condition can fail and can be met, smallest, m ≤ 10⁴, δ = {delta:g}"
    yield amended(what, float(best.zeros.min()), ">=", 22)
    yield amended("the same over its proved bound, smallest", float((best.zeros / best.proved).min()), ">=", 1)
    yield amended("proved bound at m = 10⁴, over m", float(best.proved.iloc[-1]) / 10**4, ">=", 0.07)


@claim("busafekete2021:thm-5:epsilon")
def check_phi_eps_rate(frame: pd.DataFrame, epsilon: float = 0.5) -> Iterator[Check]:
    """Is 1 - phi_epsilon at least of order epsilon / m? It is of order epsilon m^-3/2."""
    part = frame[frame.epsilon == epsilon]
    first, last = int(part["items"].min()), int(part["items"].max())
    scaled = part.assign(scaled=part.gap * part["items"] / epsilon)
    edge = [theta_at(m, m**-0.5) * m**1.5 for m in (first, last)]
    low, high = np.array([bracket(m, e) for m, e in zip(frame["items"], frame.epsilon, strict=True)]).T
    off = abs(float(part.theta.iloc[-1]) * math.sqrt(null_variance(last)) / limit(epsilon) - 1)
    what, grid = f"ε = {epsilon:g}, m = {first} to {last:,}", f"m = {first} to {last:,}, {frame.epsilon.nunique()} ε"
    below, above = "the garbled sign is ≤", "the garbled sign is ≥"
    slope, slope_mu = exponent_at(scaled, "scaled", epsilon), exponent_at(part, "mu", epsilon)
    proved, start = bracket(10**12, epsilon)[1] * 10**12 / epsilon, float(scaled.scaled.iloc[0])
    yield printed(f"{what}: exponent of m(1 − φ_ε)/ε, which is to be ≥ c > 0", slope, ">=", -0.1, reading=below)
    about = f"ε = {epsilon:g}: proved bound on mθ_ε/ε at m = 10¹², against its value at m = {first}"
    yield printed(about, proved, ">=", start, reading=below)
    about = f"ε = 1/√m: mθ_ε/ε at m = {last:,} over its value at m = {first}"
    yield printed(about, edge[1] / edge[0], ">=", 0.5, reading=below)
    yield printed(f"{what}: exponent of m(1 − φ_ε)/ε, which is to be ≤ c", slope, "<=", 0, reading=above)
    for reading in (below, above):
        yield printed(f"{what}: exponent of μ, which is to be free of m", slope_mu, ">=", -0.1, reading=reading)
    yield amended(f"θ_ε over its proved lower bound, smallest, {grid}", float((frame.theta / low).min()), ">=", 1)
    about = f"θ_ε over its upper bound, largest where that is proved, {grid}"
    yield amended(about, float((frame.theta / high).max()), "<=", 1)
    half, end = 0.5, 10**12
    low_end, high_end = (math.sqrt(null_variance(end)) * x for x in bracket(end, half))
    about = "ε = 1/2: the limit of θ_ε times sd"
    yield amended(f"{about} over the proved lower bound", limit(half) / low_end, "<=", 1.35)
    yield amended("the proved upper bound over that limit, ε = 1/2", high_end / limit(half), "<=", 2.5)
    yield amended(f"{what}: exponent of μ, plus 1/2", abs(slope_mu + 0.5), "<=", 0.01)
    yield amended(f"ε = {epsilon:g}, m = {last:,}: θ_ε times sd over its limit, less 1", off, "<=", 1 / last)


def shared_variance(items: int) -> tuple[float, float]:
    """Of the covariance C(c) of the distances of a uniform ranking from two centres: its variance over a random c, and
    the sub-Gaussian variance that the bounded differences inequality proves.

    C(c) is the sum over items i < j of (2 (j - i) + 1) / 12, with the sign of their order in c.
    """
    i = np.arange(1, items + 1, dtype=float)
    above, below = (items - i) * (items - i + 2) / 12, (i - 1) * (i + 1) / 12
    gap = np.arange(1, items, dtype=float)
    squares = ((items - gap) * (2 * gap + 1) ** 2).sum() / 144
    return float(squares / 3 + ((above - below) ** 2).sum() / 3), float(((above + below) ** 2).sum())


def least_samples(items: int, theta: float, delta: float) -> float:
    """Rankings below which no test with unknown centre has both errors at most delta, to leading order in theta.

    Solves exp(n (n - 1) theta^4 V / 2) - 1 = 4 (1 - 2 delta)^2 for n, V the variance of `shared_variance`.
    """
    room = 2 * math.log1p(4 * (1 - 2 * delta) ** 2) / shared_variance(items)[0] / theta**4
    return 0.5 + math.sqrt(0.25 + room)


@styled
def draw_rulers(frame: pd.DataFrame) -> Figure:
    """A `ruler_table`: a fixed phi on the ruler of distances, a fixed distance on that of agreement."""
    phi, epsilon = frame.phi.iloc[0], frame.epsilon.iloc[0]
    message = "With more items, the same lean is ever further from shuffled"
    figure, (first, second) = panels(2, message=message, height=2.8, sharey=True)
    rows = np.arange(len(frame))
    low = 10 ** math.floor(math.log10(frame.gap.min()) - 1)
    for axes, column, ends, said in (
        (first, "distance", (0, 1), [f"{it:.2f}" if it < 0.995 else "> 0.99" for it in frame.distance]),
        (second, "gap", (low, 1), [percent(float(f"{it:.1g}")) for it in frame.gap]),
    ):
        axes.hlines(rows, *ends, color="0.75", lw=3)
        axes.plot(frame[column], rows, color=COLOURS[0], marker="o", ms=7, ls="")
        for x, y, text in zip(frame[column], rows, said, strict=True):
            axes.annotate(text, (x, y), (0, 7), textcoords="offset points", ha="center", fontsize=9)
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
    first.set(xlim=(-0.06, 1.06), xlabel="distance from shuffled\n0: the same · 1: nothing in common")
    second.set(xscale="log", xlim=(low, 1.5), xlabel="lean 1 − φ\nto the left: nearer to shuffled")
    ticks = [t for t in (1, 1e-2, 1e-4, 1e-6) if t >= low]
    second.set_xticks(ticks, [percent(t) for t in ticks])
    second.minorticks_off()
    first.set_yticks(rows, [f"{m:,} items" for m in frame["items"]])
    first.set_ylim(len(frame) - 0.6, -0.7)
    first.set_title(f"lean fixed: 1 − φ = {percent(round(1 - phi, 6))}")
    second.set_title(f"distance fixed: {epsilon:g}")
    for axes in (first, second):
        axes.tick_params(axis="y", length=0, labelleft=axes is first or on_phone())
    note(
        figure,
        "Distance: the most by which the probability of any event differs from what it is for shuffled rankings. "
        "Lean: each reversed pair makes a ranking less likely by this percentage.",
    )
    return figure


def percent(share: float) -> str:
    """A share in percent, without an exponent."""
    return f"{np.format_float_positional(100 * share, precision=12, trim='-')} %"


@styled
def draw_condition(frame: pd.DataFrame) -> Figure:
    """1 - phi_epsilon against m for several epsilon with Theorem 4's line; and the least epsilon that reaches it."""
    laws, bound = frame.dropna(subset="epsilon"), frame[frame.epsilon.isna()]
    message = "Theorem 4 asks for far more agreement than long rankings have"
    figure, (first, second) = panels(2, message=message, height=3.2)
    as_printed = CALIBRATION["as printed"]["color"]
    for colour, (epsilon, part) in zip(COLOURS[2:], laws.groupby("epsilon", sort=False), strict=False):
        first.plot(part["items"], part.gap, marker="o", color=colour, label=f"distance {epsilon:g}")
    first.plot(bound["items"], bound.gap, color=as_printed, lw=2.2, label="Theorem 4")
    first.set(xscale="log", yscale="log", xlim=(laws["items"].min() / 1.3, None), ylabel=LEAN)
    second.plot(bound["items"], bound.zeros, color=as_printed, lw=2.2, label="exact")
    second.plot(bound["items"], bound.proved, color="black", lw=1, ls=":", label="proved lower bound")
    second.set(xscale="log", yscale="log", ylabel="number of nines (0.99 has 2)")
    second.yaxis.set_minor_formatter(NullFormatter())
    ticks = [t for t in (20, 100, 500, 2000, 10_000, 50_000) if t < bound.zeros.max()]
    second.set_yticks(ticks, [f"{t:,}" for t in ticks])
    for axes in (first, second):
        axes.set_xlabel("items")
    first.set_title("what Theorem 4 asks for,\nand what distances mean")
    second.set_title("least distance that meets\nTheorem 4: 0.99…9")
    second.legend(loc="upper left", fontsize=8.5, handlelength=1.2, borderaxespad=0)
    far = laws["epsilon"].max()
    note(
        figure,
        "Theorem 4 of Busa-Fekete et al.: where it is met, two rankings are enough for their test, and it is seldom "
        f"wrong. At distance {far:g} from chance, one ranking can be told from a shuffled one in "
        f"{50 * (1 + far):.4g}\N{NO-BREAK SPACE}% of cases, not more. φ: at 1 all is chance; near 0 nearly "
        "all are alike.",
    )
    name_lines(first, width=14)
    return figure
