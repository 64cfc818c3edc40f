"""What is enough: trivial answers, local needs, and where bounds meet."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import entr

from companion.chapters.aggregation_lower_bounds.packing import SHARE, least_error, printed_error, pure_floor
from companion.chapters.aggregation_lower_bounds.tracing import best_tracing, first_items
from companion.instruments.aggregation import (
    exponential_needs,
    matrix_error,
    one_pair_error,
    printed_rate,
    unanimous_excess,
)
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, name_lines, note, on_phone, panels, styled
from companion.instruments.uniformity import exponent
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
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


def sufficient(n_items: int, epsilon: float, delta: float, share: Fraction = SHARE) -> dict[str, float]:
    """Voters that suffice, by model, for an additive error of a share of m^2 at ratio 1."""
    error = float(printed_error(n_items, share))
    return {
        "pure": exponential_needs(n_items, error) / epsilon,
        "approximate": matrix_error(n_items, epsilon, delta) / error,
        "local": one_bit_needs(n_items, epsilon, error),
    }


def thresholds(items: Iterable[int], epsilon: float, delta: float, share: Fraction = SHARE) -> pd.DataFrame:
    """Voters for an additive error of a share of m^2: necessary and sufficient numbers.

    Columns: ``items``, ``model`` ("pure", "approximate", "local"), ``kind`` ("needed", "enough"), ``voters``,
    ``error``. What is needed is for any ratio in the pure and the local model, and for ratio 1 in the approximate one.
    """
    rows = []
    for m in items:
        error = printed_error(m, share)
        pure, local = pure_threshold(m, error) / epsilon, local_needs(m, epsilon, float(error))
        traced = best_tracing(m, epsilon, delta, error=float(error))
        needed = {"pure": pure, "approximate": traced, "local": max(pure, local)}
        for kind, found in (("needed", needed), ("enough", sufficient(m, epsilon, delta, share))):
            cell = {"items": m, "kind": kind, "error": float(error)}
            rows += [cell | {"model": model, "voters": n} for model, n in found.items()]
    return pd.DataFrame(rows)[["items", "model", "kind", "voters", "error"]]


def numbers(items: int, voters: int, epsilon: float, delta: float, share: Fraction) -> dict[str, str]:
    """Numbers of the road's sentences, as text."""
    found = thresholds([items], epsilon, delta, share).set_index(["model", "kind"]).voters
    pure, local = ([math.ceil(found[model, kind]) for kind in ("needed", "enough")] for model in ("pure", "local"))
    answer = "Nobody knows" if voters < pure[1] else "It can"
    first, least = first_items(epsilon, delta, share), least_error(items, epsilon * voters)
    return {
        "items": f"{items}",
        "voters": f"{voters:,}",
        "epsilon": f"{epsilon:g}",
        "odds": f"{math.exp(epsilon):.3g}",
        "delta": f"{delta:.12f}".rstrip("0"),
        "pairs": f"{math.comb(items, 2):,}",
        "error": f"{float(printed_error(items, share)):.3g}",
        "share": f"{float(share):g}",
        "answer": "It cannot" if voters < pure[0] else answer,
        "least": f"{least:.0f}" if least >= 10 else f"{least:.1f}" if least >= 0.1 else "hardly any",
        "needed": f"{pure[0]:,}",
        "enough": f"{pure[1]:,}",
        "apart": f"{pure[1] / pure[0]:,.0f}",
        "local-needed": f"{local[0]:,}",
        "local-enough": f"{local[1]:,}",
        "local-apart": f"{local[1] / local[0]:,.0f}",
        "first": f"{first:,}" if first < math.inf else "more than a million",
    }


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


#: The rates of the three models with the constants that we supply, and what they are called.
RATES: dict[str, tuple[str, float, Callable[[int, float, float], float]]] = {
    "pure": ("m log m / ε", 100.0, lambda m, e, d: m * math.log(m) / e),
    "approximate": ("√(m log m log(1/δ)) / ε", 100.0, lambda m, e, d: math.sqrt(m * math.log(m) * -math.log(d)) / e),
    "local": ("m log m / ε²", 6000.0, lambda m, e, d: m * math.log(m) / e**2),
}


@claim("alabi2022:sec-lower:trivial")
def check_trivial(
    items: Sequence[int] = (10, 100, 10**4, 10**6),
    epsilons: Sequence[float] = (0.01, 0.1, 1.0),
    deltas: Sequence[float] = (1e-6, 1e-12),
    beyond: tuple[int, float] = (10**12, 0.9),
) -> Iterator[Check]:
    """From which number of voters on the errors beat the trivial one."""
    for m in items[:3]:
        most = int(kendall_distances(np.arange(m)[None, ::-1], np.arange(m))[0]) / m**2
        yield printed(f"most cost of any ranking / m², m = {m:,}", most, "<=", 0.5)
        yield argument(f"the same: (1 − 1/m)/2, m = {m:,}", most, "==", (1 - 1 / m) / 2, error=ROUNDING)
    m, power = beyond
    # printed for any epsilon: with epsilon = m^0.9 one voter is more than (m / epsilon^2) polylog(m)
    what = f"ε = m^{power}, m = {m:.0e}"
    yield argument(f"m log⁴ m / ε² voters, {what}", (printed_rate(12, m, m**power) / m**2 * math.log(m)) ** 2, "<", 1)
    yield printed(f"local model: voters needed for 0.01 m², {what}", pure_floor(m) / m**power, "<=", 1)
    cells, over = list(product(items, epsilons, deltas)), []
    for model, (name, constant, rate) in RATES.items():
        most = max(sufficient(*cell)[model] / rate(*cell) for cell in cells)
        over.append(most / constant)
        what = f"{model}: most of n / ({name}) for 0.01 m², ε ≤ 1, {len(cells)} cases"
        yield supplied(what, most, "<=", constant)
    yield amended("most of n over these rates with 100, 100 and 6000", max(over), "<=", 1)
    # at ratio 1: 100 (1 - 1/m) log m! / ε; 1250 (1 - 1/m)² log m! / tanh²(ε/2)
    m, log_factorial, found = items[-1], math.lgamma(items[-1] + 1), sufficient(items[-1], 1.0, deltas[0])
    pure, local = 100 * log_factorial, 1250 * log_factorial / math.tanh(0.5) ** 2
    for model, closed in (("pure", pure * (1 - 1 / m)), ("local", local * (1 - 1 / m) ** 2)):
        what = f"{model}: voters enough over the closed form, m = {m:,}, ε = 1"
        yield argument(what, found[model] / closed, "==", 1, error=ROUNDING)


@claim("alabi2022:sec-lower:local")
def check_local(
    far: tuple[int, int] = (10**2, 10**16),
    own: Sequence[int] = (3, 30, 300),
    epsilons: Sequence[float] = (0.01, 1.0),
    exact_to: int = 100,
) -> Iterator[Check]:
    """How far Corollary 12's number of voters is from Theorem 13's, and ours from each other."""
    for epsilon in epsilons:
        # both printed bounds with constant 1, error m^2
        first, last = (epsilon * (printed_rate(12, m, epsilon) / m**2) ** 2 / (m / epsilon) for m in far)
        what, grows = f"ε (m log² m / ε²) / (m / ε), ε = {epsilon:g}", f"growth from m = {far[0]:.0e} to {far[1]:.0e}"
        yield printed(f"{what}: {grows}", last / first, "<=", 1 + ROUNDING, reading="up to a constant")
        rest = last / first * (math.log(far[0]) / math.log(far[1])) ** 2
        yield printed(f"{what}, over log² m: {grows}", rest, "<=", 1 + ROUNDING, reading="up to logarithms, as Õ")
        squared = math.log(far[1]) ** 2
        yield argument(f"{what}, m = {far[1]:.0e}: log² m", last, "==", squared, error=ROUNDING * squared)
    for m, epsilon in product(own, epsilons):
        error = float(printed_error(m))
        bits = one_bit_needs(m, epsilon, error)
        sure = 1250 * (1 - 1 / m) ** 2 * math.lgamma(m + 1) / math.tanh(epsilon / 2) ** 2
        what = f"one bit each: voters enough over 1250 (1 − 1/m)² log m! / tanh²(ε/2), m = {m}, ε = {epsilon:g}"
        yield argument(what, bits / sure, "==", 1, error=ROUNDING)
        ratio = bits / local_needs(m, epsilon, error) / math.log(m)
        what = f"local voters enough / needed / log m, one bit each, m = {m}, ε = {epsilon:g}"
        yield amended(what, ratio, "<=", 2000)
    floor = {m: local_threshold(m, float(printed_error(m))) / m for m in range(2, exact_to + 1)}
    least = min(floor, key=lambda m: floor[m])
    what = f"local voters needed / (m / (ε tanh(ε/2))), 2 to {1 + len(floor)} items (at m = {least})"
    yield amended(what, floor[least], ">=", 0.25)
    # two items: a bit, known but for an error of chance 0.04
    two, bit = local_needs(2, 1.0, float(printed_error(2))) * math.tanh(0.5), math.log(2) - entr([0.04, 0.96]).sum()
    yield argument("the same for 2 items, over (log 2 − h(0.04))/2", two / bit, "==", 1, error=ROUNDING)


def padded_error(n_items: int, voters: int, epsilon: float) -> float:
    """An additive error that no pure algorithm of ratio 1 goes below, for any number of voters: by pairs of opposites.

    The most voters below the threshold of Theorem 13, of the right parity, disagree with nobody; the rest come in pairs
    of a ranking and its reverse, which cost all orders the same.
    """
    most = math.ceil(pure_threshold(n_items, printed_error(n_items)) / epsilon) - 1
    core = min(voters, most - (voters - most) % 2)
    return core / voters * float(printed_error(n_items))


@claim("alabi2022:sec-results:lower-match")
def check_lower_match(items: Sequence[int] = (30, 100, 300), delta: float = 1e-6) -> Iterator[Check]:
    """Whether lower and upper bounds on the additive error match: at the threshold (constants ours), and beyond."""
    threshold, beyond = "the n from which errors are below m²", "the additive error at every larger n"
    for m in items:
        frame = thresholds([m], 1.0, delta).set_index(["model", "kind"]).voters
        for model, log_power, most in MATCHES:
            ratio = frame[model, "enough"] / frame[model, "needed"] / math.log(m) ** log_power
            what = f"{model} DP: (voters enough) / (voters needed) / log^{log_power:g} m for 0.01 m², m = {m}, ε = 1"
            yield printed(what, ratio, "<=", most, reading=threshold)
        n, phi = m**3, m**3 / (4 * math.comb(m, 2))
        log_error = unanimous_excess(m, n, 1.0)
        what = f"log of log⁶ m × error of the exponential mechanism at ratio 3 / (m³/(εn)), m = {m}, n = m³, ε = 1"
        log_rate = 6 * math.log(math.log(m))
        yield printed(what, log_error + log_rate, ">=", 0, reading=beyond, error=1e-12 * (log_rate - log_error))
        # orders at distance 1; those farther away, at most m^D at distance D, add 3 m exp(-phi) at most
        what = f"log of that error, without log⁶ m: log(m − 1) − εn/(4 C(m, 2)), m = {m}"
        rest = 3 * m * math.exp(-phi) + ROUNDING
        yield amended(what, log_error, "==", math.log(m - 1) - phi, error=rest)
        for n in (2 * m, m**2, m**3):
            low = padded_error(m, n, 1.0) / (m**3 / n)
            yield amended(f"ratio 1: least additive error / (m³/(εn)), m = {m}, n = {n:,}", low, ">=", 0.01)
        agreed = padded_error(m, m**3, 1.0) * m**3 / float(printed_error(m))
        what = f"voters who agree with no opponent, n = m³, m = {m}, less the εn of Theorem 13"
        yield argument(what, agreed - pure_threshold(m, printed_error(m)), "<", 0)
        yield argument(f"the same and two more, m = {m}", agreed + 2 - pure_threshold(m, printed_error(m)), ">=", 0)


#: Model of privacy, power of log m between the two numbers of voters, and what is then left at most: in the pure one by
#: Theorem 13's 3/2, since log m! < m log m.
MATCHES = (("pure", 1.0, 200 / 3), ("approximate", 0.5, 5000.0))
_MODELS = {
    "pure": "office, no\N{NO-BREAK SPACE}δ",
    "approximate": "office, small\N{NO-BREAK SPACE}δ",
    "local": "nobody trusted",
}
_DELTA = "δ: a small chance that the privacy may fail"


@styled
def draw_thresholds(frame: pd.DataFrame) -> Figure:
    """Voters against items: needed (dashed) and enough (solid), a colour a model of privacy."""
    message = "The numbers of voters needed and enough lie far apart"
    figure, (axes,) = panels(message=message, height=3.8)
    for (model, name), colour in zip(_MODELS.items(), COLOURS, strict=False):
        for kind, line in (("enough", "-"), ("needed", "--")):
            part = frame[(frame.model == model) & (frame.kind == kind)]
            axes.plot(part["items"], part.voters, color=colour, ls=line, marker="o", label=f"{name}: {kind}")
    axes.set(xlabel="items", ylabel="voters for a good private order", xscale="log", yscale="log")
    bottom = axes.get_ylim()[0]
    axes.axhspan(bottom, 1, color=COLOURS[6], alpha=0.12, lw=0)
    axes.set_ylim(bottom=bottom)
    axes.text(0.98, 0.02, "below one: says nothing", ha="right", va="bottom", transform=axes.transAxes, fontsize=9)
    note(
        figure,
        "Enough: a method is proved to find a good order. Needed: no method can find one with fewer. Good: the order "
        f"contradicts voters on few pairs more than the best order. Office: trusted with the ballots. {_DELTA}.",
    )
    name_lines(axes, width=15)
    return figure


_RUNGS = {
    "approximate": "a trusted office,\na small δ allowed",
    "pure": "a trusted office,\nno δ",
    "local": "nobody\nis trusted",
}


@styled
def draw_ladder(frame: pd.DataFrame) -> Figure:
    """Of one number of items in `thresholds`, a rung a model: from the voters needed to those that are enough."""
    voters = frame.set_index(["model", "kind"]).voters
    apart = min(
        math.ceil(voters[model, "enough"]) / math.ceil(voters[model, "needed"])
        for model in _RUNGS
        if voters[model, "needed"] >= 1
    )
    items, error = int(frame["items"].iloc[0]), float(frame["error"].iloc[0])
    message = f"Lower and upper bounds differ by a factor of {apart:,.0f} or more"
    figure, (axes,) = panels(message=message, height=3.1)
    least, most = 0.2, max(2e6, 5 * voters["local", "enough"])
    for rung, model in enumerate(_RUNGS):
        bound, enough = voters[model, "needed"] >= 1, voters[model, "enough"]
        needed = voters[model, "needed"] if bound else least
        axes.barh(rung, needed - least, 0.46, left=least, color=COLOURS[1], alpha=0.75)
        axes.barh(rung, enough - needed, 0.46, left=needed, color="0.5", alpha=0.2)
        axes.barh(rung, 100 * most - enough, 0.46, left=enough, color=COLOURS[0], alpha=0.75)
        below = f"{math.ceil(needed):,}" if bound else "no bound" + (" above 1" if not on_phone() else "")
        axes.text(needed * 1.2, rung, below, va="center", ha="left", fontsize=9)
        axes.text(enough / 1.2, rung, f"{math.ceil(enough):,}", va="center", ha="right", fontsize=9)
        if bound:
            times = math.ceil(enough) / math.ceil(needed)
            weight = "bold" if times == apart else "normal"
            axes.text(math.sqrt(needed * enough), rung + 0.26, f"× {times:,.0f}", ha="center", va="bottom", fontsize=9,
                      weight=weight)  # fmt: skip
    axes.set_yticks(range(len(_RUNGS)), _RUNGS.values())
    axes.set(xscale="log", xlabel="voters", xlim=(least, most), ylim=(-0.4, 3.1))
    for at, colour, words in ((0.25, COLOURS[1], "impossible"), (0.85 * most, COLOURS[0], "sure")):
        axes.text(at, 2.9, words, color=colour, ha="left" if at < 1 else "right", va="center")
    axes.text(math.sqrt(0.25 * most), 2.9, "open", color="0.4", ha="center", va="center")
    axes.grid(visible=False, axis="y")
    few = f"{error:.3g} of {math.comb(items, 2):,} pairs"
    said = f"Good: the order contradicts voters on at most {few} more than the best order, on average. {_DELTA}."
    if "present" in frame:
        axes.axvline(frame["present"].iloc[0], ymax=0.9, color=COLOURS[6], lw=1, ls=":")
        said += f" Dotted: {frame['present'].iloc[0]:,} voters."
    note(figure, said)
    return figure
