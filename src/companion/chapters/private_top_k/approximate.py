"""Theorem 2.2 of Qiao, Su and Zhang (2021): whether it is true, when it is of use, and how much noise is enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from scipy.optimize import brentq

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.style import CALIBRATION, COLOURS, label_outer, name_lines, note, panels, styled
from companion.instruments.topk import (
    DELTA,
    EPSILON,
    certified,
    ends,
    gaussian_delta,
    printed_scale,
    split,
    theorem_2_1,
)
from companion.instruments.uniformity import least
from companion.ledger.claim import Check, amended, claim, printed
from dprank.privacy.composition import Composition, epsilon_per_round
from dprank.privacy.divergence import PairLaw
from dprank.topk.bound import shift_for
from dprank.topk.curve import least_scale, pair_law
from dprank.topk.noise_laws import LAWS, Noise

#: A range for epsilon that the proof of Theorem 2.2 in this book covers: epsilon <= RANGE * log(m / delta).
RANGE = 16.0
#: Deltas of the chapter's tables, from the largest that Theorem 2.2 allows.
DELTAS = (DELTA, 1e-3, 1e-6, 1e-12)


def candidate_pairs(k: int, most: int = 4) -> list[tuple[int, int]]:
    """Equal values, some of which go up and all others down: (up, down); the worst kind that searches found."""
    shares = [(k, k), (k + k // 30, k + k // 5), (k, k + 2 * k // 5), (k, 3 * k), (2 * k, 2 * k), (3 * k, 5 * k // 2)]
    return shares if k > most else [*shares, *product(range(1, k + 1), (k, 10 * k, 100 * k))]


def equal_values(up: int, down: int, k: int, scale: float, noise: Noise = "laplace") -> PairLaw:
    """Laws of the chosen set when `up` equal values go up by 1 and `down` values, equal to them, go down by 1."""
    return pair_law(split(up, down), k, scale, noise)


@cache
def needed_scale(k: int, epsilon: float, delta: float, noise: Noise = "laplace") -> float:
    """Scale below which one of `candidate_pairs` breaks (epsilon, delta) privacy: at most the true need."""
    best = 0.0
    for up, down in candidate_pairs(k):
        if not best or equal_values(up, down, k, best, noise).epsilon(delta) > epsilon:
            best = least_scale(split(up, down), k, epsilon, delta, noise)
    return best


def exponential_need(k: int, epsilon: float, delta: float) -> float:
    """Scale below which exponential noise breaks (epsilon, delta) privacy: of k + 1 equal values one goes up and all
    others down, and is left out with probability 1 / (k + 1) before and exp(-2 k / scale) / (k + 1) after.
    """
    room = -math.log1p(-delta * (k + 1)) if delta * (k + 1) < 1 else math.inf
    return 2 * k / (epsilon + room)


def gumbel_scale(k: int, epsilon: float, delta: float) -> float:
    """Gumbel noise that is proved enough for sensitivity 1, by zCDP or purely."""
    return min(theorem_2_1(k, epsilon), 2 / epsilon_per_round("zcdp", k, epsilon, delta, bounded_range=True))


def _peeled(composition: Composition) -> Callable[[int, float, float, float], float]:
    return lambda k, epsilon, delta, m: 2 / epsilon_per_round(composition, k, epsilon, delta)


#: Panel, label, noise and scale(k, epsilon, delta, number of items) of what the main picture compares.
MECHANISMS: tuple[tuple[str, str, Noise, Callable[[int, float, float, float], float]], ...] = (
    ("oneshot", "Laplace, Theorem 2.1", "laplace", lambda k, epsilon, delta, m: theorem_2_1(k, epsilon)),
    ("oneshot", "Laplace, Theorem 2.2", "laplace", printed_scale),
    ("oneshot", "Laplace, our bound", "laplace", lambda k, epsilon, delta, m: 1 / shift_for(k, epsilon, delta)),
    ("oneshot", "Laplace, true need at least", "laplace", lambda *cell: needed_scale(*cell[:3])),
    ("oneshot", "Gumbel, zCDP or pure", "gumbel", lambda *cell: gumbel_scale(*cell[:3])),
    ("oneshot", "Gumbel, true need at least", "gumbel", lambda *cell: needed_scale(*cell[:3], "gumbel")),
    ("oneshot", "exponential, pure", "exponential", lambda k, epsilon, delta, m: theorem_2_1(k, epsilon)),
    ("oneshot", "exponential, true need at least", "exponential", lambda *cell: exponential_need(*cell[:3])),
    ("peeling", "Laplace, basic", "laplace", _peeled("basic")),
    ("peeling", "Laplace, advanced", "laplace", _peeled("advanced")),
    ("peeling", "Laplace, zCDP", "laplace", _peeled("zcdp")),
    ("peeling", "Laplace, optimal", "laplace", _peeled("optimal")),
    ("peeling", "exponential mechanism, zCDP or pure", "gumbel", lambda *cell: gumbel_scale(*cell[:3])),
)


def scales(ks: Iterable[int], epsilon: float, delta: float, n_items: float) -> pd.DataFrame:
    """Noise that `MECHANISMS` need: ``panel``, ``mechanism``, ``noise``, ``k``, ``scale``, ``sd`` (its deviation),
    ``epsilon``, ``delta``.
    """
    rows = [(*names, k, scale(k, epsilon, delta, n_items)) for *names, scale in MECHANISMS for k in ks]
    frame = pd.DataFrame(rows, columns=["panel", "mechanism", "noise", "k", "scale"])
    sd = frame.scale * frame.noise.map({name: law.deviation for name, law in LAWS.items()})
    return frame.assign(sd=sd, epsilon=epsilon, delta=delta)


def winners(frame: pd.DataFrame) -> pd.DataFrame:
    """Standard deviations of the noise of the proved one-shot mechanisms, and the least of them, for every k."""
    proved = frame[(frame.panel == "oneshot") & ~frame.mechanism.str.contains("need")]
    wide = proved.pivot(index="k", columns="mechanism", values="sd")[proved.mechanism.unique()]
    return wide.assign(**{"least noise": wide.idxmin(axis=1)}).reset_index().rename_axis(columns=None)


def gumbel_wins(epsilon: float, delta: float) -> int:
    """Smallest k from which Gumbel noise has a smaller standard deviation than exponential noise, as far as proved."""
    gumbel, exponential = LAWS["gumbel"].deviation, LAWS["exponential"].deviation
    return least(lambda k: gumbel * gumbel_scale(k, epsilon, delta) < exponential * theorem_2_1(k, epsilon))


def proof_ratio(reach: float = RANGE, constant: float = 8.0) -> tuple[float, float]:
    """Certified bounds of -log(e^t + e^(r t) - e^((r + 1) t)) / t^2 at t = 2 / constant, r = 1 + reach / constant.

    The one number on which our proof of Theorem 2.2 turns; it increases in t: this is its supremum over t up to there.
    """
    t = mpmath.iv.mpf(2) / constant
    rate = 1 + mpmath.iv.mpf(reach) / constant
    kept = mpmath.iv.exp(t) + mpmath.iv.exp(rate * t) - mpmath.iv.exp((rate + 1) * t)
    return ends(-mpmath.iv.log(kept) / t**2) if kept.a > 0 else (math.inf, math.inf)


def proof_room(length: float, constant: float = 8.0) -> float:
    """What `proof_ratio` may be at most if log(m / delta) is at least `length`."""
    return constant - 1 - (1 + 4 / constant) / length


def _proof(what: str, length: float, reach: float = RANGE, constant: float = 8.0) -> Iterator[Check]:
    """What the k items cost in our proof, against what is left, and by a product in place of three powers."""
    t, cost = 2 / constant, proof_ratio(reach, constant)
    product_form = -math.log1p(-math.expm1(t) * math.expm1((1 + reach / constant) * t)) / t**2
    what = f"{what}: cost of the k items over log(m/δ)"
    yield certified(f"{what}, certified; bound: what is left", cost, "<=", proof_room(length, constant))
    yield agree(f"{what}, off its plain value", sum(cost) / 2 - product_form)


def boundary_ratios() -> list[float]:
    """Theorem 2.2's noise at its largest epsilon over the least that is proved, about where its use begins."""

    def first(delta: float) -> int:
        return least(lambda k: k > 16 * math.log(max(2, k) / delta))

    def ratios(k: int, delta: float) -> list[float]:
        proved = min(theorem_2_1(k, EPSILON), 1 / shift_for(k, EPSILON, delta))
        return [printed_scale(k, EPSILON, delta, max(2, m)) / proved for m in (k, k + 1, 2 * k, k + 10**6)]

    deltas, ks = (*DELTAS, 1e-100), (1, 2, 3, 10, 30, 100, 1000, 10**5)
    return [x for delta in deltas for k in (*ks, first(delta) - 1, first(delta)) for x in ratios(k, delta)]


def needed_share(k: int, epsilon: float, delta: float) -> float:
    """Share of Theorem 2.2's noise that 2k equal values need, half of which go up by s and half down."""
    return least_scale(split(k, k), k, epsilon, delta) / printed_scale(k, epsilon, delta, 2 * k)


def normal_share(k: int, epsilon: float, delta: float) -> float:
    """The same if the loss were normal, of a Gaussian mechanism that moves by sqrt(2 k) / scale, as for many values."""
    mu = brentq(lambda mu: float(gaussian_delta(mu, epsilon)) - delta, 1e-6, 50)
    return math.sqrt(2 * k) / mu / printed_scale(k, epsilon, delta, 2 * k)


_NEED = "share of Theorem 2.2's noise that {} equal values, half up by s, half down, need, ε = {:g}, k = {}, δ = {}"


def _needs(k: int, reading: str = "") -> Iterator[Check]:
    """The largest share over `DELTAS`, and how far it is from normal: 1 / sqrt(k) is the order of the limit theorem."""
    what = _NEED.format(2 * k, EPSILON, k, ", ".join(f"{delta:g}" for delta in DELTAS))
    shares = [needed_share(k, EPSILON, delta) for delta in DELTAS]
    normal = [normal_share(k, EPSILON, delta) for delta in DELTAS]
    off = np.abs(np.divide(shares, normal) - 1).max()
    yield printed(f"{what}: largest", max(shares), "<=", 1, reading=reading)
    yield amended(f"{what}, over that of a normal loss, largest off 1", off, "==", 0, error=1 / math.sqrt(k))


@claim("qiao2021:thm-2.2")
def check_thm_2_2(ks: Iterable[int]) -> Iterator[Check]:
    """Theorem 2.2 for the index set: the proof's number, its boundary, and the need of equal values."""
    yield from _proof("our proof for k > 16 log(m/δ)", math.log(2 / DELTA))
    ratios, what = boundary_ratios(), f"noise of Theorem 2.2 over noise proved enough, ε = {EPSILON}"
    yield printed(f"{what}, least of {len(ratios)} boundary cases of k, m, δ", min(ratios), ">=", 1 - ROUNDING)
    for k in ks:
        yield from _needs(k)


@claim("qiao2021:lem-4.1")
def check_lem_4_1(k: int) -> Iterator[Check]:
    """Lemma 4.1 for one set and for families of sets, and the 0.99 epsilon of its proof."""
    one = needed_share(1, EPSILON, DELTA)
    shift = 1 / (one * printed_scale(1, EPSILON, DELTA, 2))
    spent = (1 - math.exp(EPSILON - 2 * shift) * (1 + shift)) / 2

    # of two items one set is the worst family; with more items a set is the less probable
    yield printed(_NEED.format(2, EPSILON, "1 (one set)", DELTA), one, "<=", 1, reading="one set")
    yield agree("δ of two items at that noise by its closed form over δ, off 1", spent / DELTA - 1)
    yield from _needs(k, "families of sets")
    yield from _proof("our proof at 0.99ε, 7.92 for 8", math.log(2 / DELTA), reach=1.0, constant=7.92)


def beyond_range(k: int, delta: float, factors: Iterable[float]) -> pd.DataFrame:
    """Exact delta, 2k equal values, half up: ``ε / log(m/δ)``, ``ε``, ``λ/s`` printed, ``δ needed``, ``δ asked``."""
    rows = []
    for factor in factors:
        epsilon = factor * math.log(2 * k / delta)
        scale = printed_scale(k, epsilon, delta, 2 * k)
        rows.append((factor, epsilon, scale, float(equal_values(k, k, k, scale).delta(epsilon)), delta))
    return pd.DataFrame(rows, columns=["ε / log(m/δ)", "ε", "λ/s", "δ needed", "δ asked"])


@claim("qiao2021:sec-2:epsilon-range")
def check_epsilon_range(k: int) -> Iterator[Check]:
    """Theorem 2.2's noise is enough for every epsilon up to 16 log(m / delta), by the same proof."""
    yield from _proof(f"our proof, ε ≤ {RANGE:g} log(m/δ)", _shortest_length())
    for factor in (1.0, RANGE):
        epsilon = factor * math.log(2 * k / DELTA)
        what = f"{_NEED.format(2 * k, epsilon, k, DELTA)}: {factor:g} log(m/δ)"
        yield printed(what, needed_share(k, epsilon, DELTA), "<=", 1)


def _shortest_length() -> float:
    """Least log(m / delta) with 16 log(m / delta) < k <= m and delta < 1, hence with 16 log m < m."""
    return math.log(next(m for m in range(2, 1000) if m > RANGE * math.log(m)))


_NEEDED: dict[str, Any] = {"color": "0.2", "linestyle": ":", "zorder": 3}  # above what it lies on
_LOOK: dict[str, dict[str, Any]] = {
    "Laplace, Theorem 2.1": {"color": COLOURS[0], "linestyle": "--"},
    "Laplace, Theorem 2.2": CALIBRATION["as printed"],
    "Laplace, our bound": CALIBRATION["corrected"],
    "Laplace, true need at least": _NEEDED,
    "Gumbel, zCDP or pure": CALIBRATION["net wins"],
    "Gumbel, true need at least": _NEEDED,
    "exponential, pure": {"color": COLOURS[3], "marker": "^"},
    "exponential, true need at least": _NEEDED,
    "Laplace, basic": {"color": COLOURS[0], "linestyle": "--"},
    "Laplace, advanced": {"color": COLOURS[0], "linestyle": "-."},
    "Laplace, zCDP": {"color": COLOURS[5], "marker": "v"},
    "Laplace, optimal": {"color": COLOURS[0], "marker": "P"},
    "exponential mechanism, zCDP or pure": {"color": COLOURS[2], "marker": "D"},
}


#: Panels of `draw_scales`: the ``panel`` of the frame, and what a name on a line says of a mechanism.
_PANELS: dict[str, tuple[str, dict[str, str]]] = {
    "Laplace noise, once": (
        "oneshot",
        {
            "Laplace, Theorem 2.1": "Theorem 2.1",
            "Laplace, Theorem 2.2": "Theorem 2.2",
            "Laplace, our bound": "our bound",
            "Laplace, true need at least": "certainly needed",
        },
    ),
    "other noise, once": (
        "oneshot",
        {
            "Gumbel, zCDP or pure": "Gumbel noise",
            "Gumbel, true need at least": "needed, Gumbel",
            "exponential, pure": "exponential noise",
            "exponential, true need at least": "needed, exponential",
        },
    ),
    "round after round, an item each": (
        "peeling",
        {
            "Laplace, basic": "Laplace, basic",
            "Laplace, advanced": "advanced",
            "Laplace, zCDP": "zCDP",
            "Laplace, optimal": "optimal",
            "exponential mechanism, zCDP or pure": "Gumbel: as much as once",
        },
    ),
}


def widest_gap(frame: pd.DataFrame, *families: str) -> pd.Series:
    """Where the best proof of a noise drawn once asks for most over what is needed, in `scales`: ``k``, ``proof`` and
    ``need`` (standard deviations), ``over`` (their ratio).
    """
    gaps = pd.concat([_proved(frame, family) for family in families], ignore_index=True)
    return gaps.loc[gaps.over.idxmax()]


def _proved(frame: pd.DataFrame, family: str) -> pd.DataFrame:
    wide = frame[frame.panel == "oneshot"].pivot(index="k", columns="mechanism", values="sd")
    proofs = wide[[it for it in wide if it.startswith(family) and not it.endswith("at least")]].min(axis=1)
    need = wide[f"{family}, true need at least"]
    return pd.DataFrame({"proof": proofs, "need": need, "over": proofs / need}).reset_index()


@styled
def draw_scales(frame: pd.DataFrame) -> Figure:
    """Standard deviation of the noise that each mechanism needs, against k, from `scales`."""
    gaps = [widest_gap(frame, *families) for families in (("Laplace",), ("Gumbel", "exponential"))]
    over = [math.ceil(100 * gap.over) / 100 for gap in gaps]
    message = f"Proofs ask for up to {over[0]:g} times the necessary Laplace noise"
    figure, made = panels(len(_PANELS), message=message, height=2.9, columns=2, sharex=True, sharey=True)
    for axes, (title, (panel, names)) in zip(made, _PANELS.items(), strict=True):
        for mechanism, name in names.items():
            rows = frame[(frame.panel == panel) & (frame.mechanism == mechanism)]
            axes.plot(rows.k, rows.sd, label=name, **_LOOK[mechanism])
        axes.set(title=title, xscale="log", yscale="log")
        axes.tick_params(labelbottom=True, labelleft=True)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    label_outer(made, "", "standard deviation of noise")
    for axes, gap, times in zip(made, gaps, over, strict=False):
        look = {"arrowstyle": "<->", "color": "0.3", "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (gap.k, gap.need), (gap.k, gap.proof), arrowprops=look)
        place: dict[str, Any] = {"textcoords": "offset points", "va": "top", "color": "0.3", "fontsize": 9}
        axes.annotate(f"{times:g} ×", (gap.k, gap.need), (3, -3), **place)
    for axes in made:
        axes.set_xlabel("items selected")
        name_lines(axes, width=13)
    epsilon, delta = frame[["epsilon", "delta"]].iloc[0]
    note(
        figure,
        f"At ε = {epsilon:g}, δ = 1/{1 / delta:,.0f}; one person changes each count by at most 1. "
        "Theorems 2.1 and 2.2 of Qiao et al. Best proof: the lowest line of a noise. Dotted: less noise certainly "
        "breaks the promise (not computed for rounds). Basic, advanced, zCDP, optimal: four rules that add up the "
        "losses of all rounds.",
    )
    return figure
