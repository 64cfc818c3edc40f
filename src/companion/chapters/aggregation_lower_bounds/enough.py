"""What is enough: trivial answers, local needs, and where bounds meet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.aggregation_lower_bounds.packing import SHARE, pure_floor
from companion.chapters.aggregation_lower_bounds.tracing import best_tracing
from companion.instruments.aggregation import exponential_needs, matrix_error, one_pair_error
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, styled
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, claim, printed, supplied
from dprank.aggregation.lower_bounds import local_threshold, pure_threshold
from dprank.data.kendall import kendall_distances


def one_bit_needs(n_items: int, epsilon: float, error: float) -> float:
    """Voters with which one randomized answer each, on a random pair, gives that additive error at ratio 1.

    No interaction; the noisy matrix is solved exactly.
    """
    return (one_pair_error(n_items, epsilon) / error) ** 2


def local_needs(n_items: int, epsilon: float, error: float) -> float:
    """Voters below which no protocol of the local model has that additive error, at any ratio."""
    return local_threshold(n_items, error) / (epsilon * math.tanh(epsilon / 2))


def thresholds(items: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Voters for an additive error of 0.01 m^2: necessary and sufficient numbers.

    Columns: ``items``, ``model`` ("pure", "approximate", "local"), ``kind`` ("needed", "enough"), ``voters``. What is
    needed is for any ratio in the pure and the local model, and for ratio 1 in the approximate one.
    """
    rows = []
    for m in items:
        error = 0.01 * m * m
        pure = pure_threshold(m, SHARE * m * m) / epsilon
        found = {
            ("pure", "needed"): pure,
            ("pure", "enough"): exponential_needs(m, error) / epsilon,
            ("approximate", "needed"): best_tracing(m, epsilon, delta, error=error),
            ("approximate", "enough"): matrix_error(m, epsilon, delta) / error,
            ("local", "needed"): max(pure, local_needs(m, epsilon, error)),
            ("local", "enough"): one_bit_needs(m, epsilon, error),
        }
        rows += [{"items": m, "model": a, "kind": b, "voters": n} for (a, b), n in found.items()]
    return pd.DataFrame(rows)


def drift(frame: pd.DataFrame, since: int = 30) -> pd.DataFrame:
    """How far apart the lines of `thresholds` run.

    Columns: ``model``; ``slope needed`` and ``slope enough`` on doubly logarithmic axes, from `since` items on;
    ``orders differ by``, and the ``least`` and ``most`` of enough / needed over that, for all sizes.
    """
    rows = []
    for model, power, name in (("pure", 1.0, "log m"), ("approximate", 0.5, "√log m"), ("local", 1.0, "log m")):
        wide = frame[frame.model == model].pivot(index="items", columns="kind", values="voters")
        late = wide[wide.index >= since]
        slopes = {f"slope {kind}": exponent(late.index.to_numpy(float), late[kind]) for kind in ("needed", "enough")}
        apart = wide["enough"] / wide["needed"] / np.log(wide.index.to_numpy(float)) ** power
        rows.append({"model": model, **slopes, "orders differ by": name, "least": apart.min(), "most": apart.max()})
    return pd.DataFrame(rows)


@claim("alabi2022:sec-lower:trivial")
def check_trivial(items: Sequence[int] = (10, 100, 10**4, 10**6)) -> Iterator[Check]:
    """From which number of voters on the errors beat the trivial one."""
    for m in items:
        costs = kendall_distances(np.arange(m)[None, ::-1], np.arange(m)) if m <= 10**4 else [math.comb(m, 2)]
        yield printed(f"most cost of any ranking / m², m = {m:,}", int(costs[0]) / m**2, "<=", 0.5)
    m, power = 10**12, 0.9
    # printed for any epsilon: with epsilon = m^0.9 a single voter has (m / epsilon^2) polylog(m) beaten
    enough, needed = math.log(m) ** 4 * m ** (1 - 2 * power), pure_floor(m) / m**power
    what = f"voters needed for 0.01 m² at ε = m^{power}, m = 10^12, over max(1, m log⁴ m / ε²)"
    yield printed(f"local model: {what}", needed / max(1.0, enough), "<=", 1)
    for says in (supplied, amended):
        rates: dict[str, list[float]] = {"pure": [], "approximate": [], "local": []}
        for m in items:
            error, log_m = 0.01 * m * m, math.log(m)
            for epsilon in (0.01, 0.1, 1.0):
                rates["pure"].append(exponential_needs(m, error) / (m * log_m))
                for delta in (1e-6, 1e-12):
                    gauss = matrix_error(m, epsilon, delta) / error
                    rates["approximate"].append(gauss * epsilon / math.sqrt(m * log_m * -math.log(delta)))
                rates["local"].append(one_bit_needs(m, epsilon, error) * epsilon**2 / (m * log_m))
        names = {"pure": "m log m / ε", "approximate": "√(m log m log(1/δ)) / ε", "local": "m log m / ε²"}
        bounds = {"pure": 100.0, "approximate": 100.0, "local": 6000.0}
        for model in rates:
            yield says(
                f"{model}: most of n / ({names[model]}) for 0.01 m², ε ≤ 1", max(rates[model]), "<=", bounds[model]
            )


@claim("alabi2022:sec-lower:local")
def check_local(
    items: Sequence[int] = (10**2, 10**4, 10**8, 10**16), own: Sequence[int] = (3, 30, 300)
) -> Iterator[Check]:
    """How far Corollary 12's number of voters is from Theorem 13's, and ours from each other."""
    for epsilon in (1.0, 0.1):
        # both printed bounds with constant 1, error m^2
        first, last = (math.log(m) ** 2 * m / epsilon**2 / (m / epsilon) * epsilon for m in (items[0], items[-1]))
        what = f"ε (m log² m / ε²) / (m / ε), ε = {epsilon:g}: growth from m = {items[0]:.0e} to {items[-1]:.0e}"
        yield printed(what, last / first, "<=", 1 + ROUNDING)
    for m in own:
        for epsilon in (0.01, 1.0):
            error = 0.01 * m * m
            ratio = one_bit_needs(m, epsilon, error) / local_needs(m, epsilon, error) / math.log(m)
            what = f"local voters enough / needed / log m, one bit each, m = {m}, ε = {epsilon:g}"
            yield amended(what, ratio, "<=", 2000)
    floor = {m: local_threshold(m, 0.01 * m * m) / m for m in range(2, 101)}
    least = min(floor, key=lambda m: floor[m])
    what = f"local voters needed / (m / (ε tanh(ε/2))), 2 to 100 items (at m = {least})"
    yield amended(what, floor[least], ">=", 0.25)


def unanimous_excess(n_items: int, voters: int, epsilon: float) -> float:
    """Log of a bound on the additive error of the exponential mechanism at ratio 3.

    Where an order costs more than 3 OPT its weight, relative to the optimum's, is at most exp(-phi D) with D its
    distance from the optimum and phi = epsilon n / (4 C); so the error is at most the sum over all orders of
    D exp(-phi D), computed from the generating function of D.
    """
    phi = epsilon * voters / (4 * math.comb(n_items, 2))
    j = np.arange(1, n_items + 1)
    log_z = np.log(-np.expm1(-j * phi)).sum() - n_items * math.log(-math.expm1(-phi))
    mean = math.fsum(1 / math.expm1(phi) - j / np.expm1(np.minimum(j * phi, 700)))
    return float(log_z + math.log(mean))


def padded_error(n_items: int, voters: int, epsilon: float) -> float:
    """An additive error that no pure algorithm of ratio 1 goes below, for any number of voters: by pairs of opposites.

    The most voters below the threshold of Theorem 13, of the right parity, disagree with nobody; the rest come in pairs
    of a ranking and its reverse, which cost all orders the same.
    """
    most = math.ceil(pure_threshold(n_items, SHARE * n_items**2) / epsilon) - 1
    core = min(voters, most - (voters - most) % 2)
    return max(core, 0) / voters * float(SHARE) * n_items**2


@claim("alabi2022:sec-results:lower-match")
def check_lower_match(items: Sequence[int] = (30, 100, 300)) -> Iterator[Check]:
    """Whether lower and upper bounds on the additive error match: at the threshold (constants ours), and beyond."""
    threshold, beyond = "the n from which errors are below m²", "the additive error at every larger n"
    for m in items:
        frame = thresholds([m], 1.0, 1e-6).set_index(["model", "kind"]).voters
        for model, log_power, most in (("pure", 1.0, 100.0), ("approximate", 0.5, 5000.0)):
            ratio = frame[model, "enough"] / frame[model, "needed"] / math.log(m) ** log_power
            what = f"{model} DP: (voters enough) / (voters needed) / log^{log_power:g} m for 0.01 m², m = {m}, ε = 1"
            yield printed(what, ratio, "<=", most, reading=threshold)
        n = m**3
        small = math.exp(unanimous_excess(m, n, 1.0)) / (m**3 / n)
        what = f"log⁶ m × error of the exponential mechanism at ratio 3 / (m³/(εn)), m = {m}, n = m³, ε = 1"
        yield printed(what, small * math.log(m) ** 6, ">=", 1.0, reading=beyond)
        yield amended(f"the same without log⁶ m, m = {m}", small, "<", 1e-3)
        for n in (2 * m, m**2, m**3):
            low = padded_error(m, n, 1.0) / (m**3 / n)
            yield amended(f"ratio 1: least additive error / (m³/(εn)), m = {m}, n = {n:,}", low, ">=", 0.01)


_MODELS = {"pure": "pure", "approximate": "approximate", "local": "local, pure"}


@styled
def draw_thresholds(frame: pd.DataFrame) -> Figure:
    """Voters against items: needed (dashed) and enough (solid), a colour a model of privacy."""
    figure = Figure(figsize=(7.2, 4.4))
    axes = figure.subplots()
    for (model, name), colour in zip(_MODELS.items(), COLOURS, strict=False):
        for kind, line in (("enough", "-"), ("needed", "--")):
            part = frame[(frame.model == model) & (frame.kind == kind)]
            axes.plot(part["items"], part.voters, color=colour, ls=line, marker="o", label=f"{name}: {kind}")
    axes.set(xlabel="items m", ylabel="voters n", xscale="log", yscale="log")
    bottom = axes.get_ylim()[0]
    axes.axhspan(bottom, 1, color=COLOURS[6], alpha=0.12, lw=0)
    axes.set_ylim(bottom=bottom)
    axes.text(0.98, 0.02, "less than one voter: says nothing", ha="right", va="bottom", transform=axes.transAxes)
    figure.legend(loc="outside lower center", ncols=3)
    return figure
