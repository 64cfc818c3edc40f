"""Exact privacy curves of one-shot selection: the worst neighbours found, and what they say of the paper's text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.style import COLOURS, key, note, on_phone, panels, styled
from companion.instruments.topk import NAMES, gaussian_delta, printed_scale, split, theorem_2_1
from companion.ledger.claim import Check, amended, claim, printed
from dprank.privacy import composition
from dprank.privacy.divergence import PairLaw
from dprank.privacy.gaussian import zcdp
from dprank.topk.bound import log_delta, shift_for
from dprank.topk.curve import WorstPair, pair_law, worst_pair
from dprank.topk.noise_laws import LAWS, Noise

NOISES: tuple[Noise, ...] = ("laplace", "gumbel", "exponential")
#: Items for each that is selected: enough for every pair that the searches find.
ITEMS = 50
#: Epsilon and delta that are proved of Laplace noise, in all that compares noises of equal deviation.
PROVED = (1.0, 1e-6)


def half_and_half(k: int, shift: float, offset: float = 0.0) -> PairLaw:
    """Law of the set for 2k values: k rise by `shift` noise scales, from `offset` above the others, which fall."""
    return pair_law(split(k, k, shift, offset), k, 1.0)


# --- the worst neighbours that a search finds ------------------------------------------------------------------------


def scale_of(noise: Noise, k: int) -> float:
    """Scale, in sensitivities, of noise as wide as the least Laplace noise that is proved enough for `PROVED`."""
    least = min(theorem_2_1(k, PROVED[0]), 1 / shift_for(k, *PROVED))
    return LAWS["laplace"].deviation / LAWS[noise].deviation * least


@cache
def found(noise: Noise, k: int, delta: float) -> WorstPair:
    """Worst neighbours found in any direction at that scale."""
    return worst_pair(k, ITEMS * k, scale_of(noise, k), delta=delta, noise=noise)


def worst_neighbours(ks: Iterable[int], deltas: Iterable[float]) -> pd.DataFrame:
    """The worst neighbours found, for noises of equal deviation: ``noise``, ``k``, ``δ``, ``rise`` and ``fall`` (how
    many values do), ``offset / λ`` (of those that rise), ``chosen of these``, ``ε needed``, ``pure loss``,
    ``ρ / (k a²)``.
    """
    pairs = [
        (noise, k, delta, scale_of(noise, k), found(noise, k, delta)) for noise, k, delta in product(NOISES, ks, deltas)
    ]
    return pd.DataFrame(
        {
            "noise": NAMES[noise],
            "k": k,
            "δ": delta,
            "rise": pair.types.counts[0],
            "fall": pair.types.counts[1],
            "offset / λ": pair.types.before[0] / scale,
            "chosen of these": pair.k,
            "ε needed": pair.value,
            "pure loss": 2 * k / scale,
            "ρ / (k a²)": pair_law(pair.types, pair.k, scale, noise).rho() * scale**2 / k,
        }
        for noise, k, delta, scale, pair in pairs
    )


def curves(k: int, deltas: Iterable[float], epsilons: ArrayLike, least: float = 1e-12) -> pd.DataFrame:
    """Curves of noises of equal deviation: ``k``, ``noise``, ``curve``, ``epsilon``, ``delta`` (from `least` to 1).

    The curve "found" is the upper envelope at the worst neighbours found at each of the deltas; "proved" is our bound
    (Laplace), the zCDP of peeling (Gumbel), up to the pure guarantee, and that (exponential); "calibrated" is `PROVED`.
    """
    at = np.asarray(epsilons, float)
    parts = [("laplace", "calibrated", *np.atleast_2d(PROVED).T)]
    for noise in NOISES:
        scale = scale_of(noise, k)
        pairs = [found(noise, k, delta) for delta in deltas]
        needed = np.max([pair_law(pair.types, pair.k, scale, noise).delta(at) for pair in pairs], axis=0)
        parts += [(noise, "found", at, needed), (noise, "proved", *_proved(noise, k, 1 / scale, at, least))]
    frame = pd.concat(
        [pd.DataFrame({"k": k, "noise": n, "curve": c, "epsilon": e, "delta": d}) for n, c, e, d in parts],
        ignore_index=True,
    )
    return frame[frame.delta.between(least, 1, inclusive="left")].reset_index(drop=True)


def _proved(
    noise: Noise, k: int, shift: float, epsilons: NDArray[np.float64], least: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pure = 2 * k * shift
    if noise == "laplace":
        inside = epsilons < pure
        return epsilons[inside], np.exp([log_delta(k, shift, epsilon) for epsilon in epsilons[inside]])
    deltas = np.geomspace(0.5, least, 60)
    if noise == "exponential":
        return np.full(len(deltas), pure), deltas
    rho = composition.rho(k, 2 * shift, bounded_range=True)
    proved = np.array([zcdp(rho, delta) for delta in deltas])
    inside = proved < min(pure, epsilons.max())
    return proved[inside], deltas[inside]


# --- Section 1: many equal values ------------------------------------------------------------------------------------


def replaced(k: int, gap: float) -> int:
    """How many of the true top k one record replaces if it lowers them by 1 and raises k others, `gap` below, by 1."""
    before = np.repeat([gap, 0.0], k)
    after = before + np.repeat([-1.0, 1.0], k)
    return k - len(np.intersect1d(np.argsort(-before, kind="stable")[:k], np.argsort(-after, kind="stable")[:k]))


def first_order(ks: Iterable[int], shifts: Iterable[float], offsets: Iterable[float] = (0.0,)) -> pd.DataFrame:
    """Loss of `half_and_half`: ``offset / λ``, ``k``, ``a = s/λ``, ``mean loss / largest`` and ``/ (k a²)``."""
    rows = []
    for offset, k, shift in product(offsets, ks, shifts):
        law = half_and_half(k, shift, offset)
        rows.append((offset, k, shift, law.kl() / law.epsilon(0), law.kl() / (k * shift**2)))
    return pd.DataFrame(rows, columns=["offset / λ", "k", "a = s/λ", "mean loss / largest", "mean loss / (k a²)"])


def over_gaussian(law: PairLaw, mu: float) -> float:
    """Largest delta over that of a Gaussian mechanism."""
    epsilons = np.linspace(0, 6 * mu, 121)
    return float((law.delta(epsilons) / gaussian_delta(mu, epsilons)).max())


@claim("qiao2021:sec-1:equal-values")
def check_equal_values(ks: Iterable[int], shifts: Iterable[float]) -> Iterator[Check]:
    """Equal values: how far the true set moves, and how little the law of the private set; shifts in noise scales."""
    ks, shifts = list(ks), list(shifts)
    mean, most = first_order(ks, shifts)["mean loss / (k a²)"].max(), 1 + ROUNDING
    k, where = max(ks), f"2k equal values, k = {min(ks)} to {max(ks)}, a = s/λ = {min(shifts):g} to {max(shifts):g}"
    gaussian = max(over_gaussian(half_and_half(k, a), a * math.sqrt(2 * k)) for k in ks for a in shifts)
    what = f"members of the true top {k} that one record replaces"
    yield printed(f"{what}, 2k equal values", replaced(k, 0), "==", k)
    yield printed(f"{what}, the others 2.5s below", replaced(k, 2.5), "==", 0)
    yield printed(f"mean privacy loss over k a², largest, {where}", mean, "<=", most)
    yield printed(f"δ over that of a Gaussian mechanism with μ = a√(2k), largest, {where}", gaussian, "<=", most)
    # 1 / sqrt(k) is the order of the central limit theorem; the mean is a square
    for name, value, times in (("mean privacy loss over k a²", mean, 2), ("δ over Gaussian", gaussian, 1)):
        yield amended(f"{name}, largest: 1 is approached", value, "==", 1, error=times / math.sqrt(k))


# --- Section 5: other notions of privacy -----------------------------------------------------------------------------


def notions(ks: Iterable[int], epsilon: float, delta: float) -> pd.DataFrame:
    """Noise over the sensitivity, m = 2k items: ``k``, ``Theorem 2.2``, ``Rényi (ours)``, ``ours / Theorem 2.2``."""
    rows = [(k, printed_scale(k, epsilon, delta, 2 * k), 1 / shift_for(k, epsilon, delta)) for k in ks]
    frame = pd.DataFrame(rows, columns=["k", "Theorem 2.2", "Rényi (ours)"])
    return frame.assign(**{"ours / Theorem 2.2": frame["Rényi (ours)"] / frame["Theorem 2.2"]})


def strongest(ks: Iterable[int], shift: float) -> pd.DataFrame:
    """Most that (nearly) equal values need, of the pairs tried: ``k``, ``m`` (of the pair behind the last column),
    ``ρ / (k a²)``, ``δ over Gaussian`` with mu = a sqrt(2 k).
    """
    rows = []
    for k in ks:
        pairs = {(up, k + rest - up) for rest in (k, k + 1, k + 3, 2 * k) for up in (k, k + 1, (k + rest) // 2, rest)}
        laws = {
            (pair, offset): pair_law(split(*pair, shift, offset), k, 1.0)
            for pair in pairs
            if min(pair) > 0
            for offset in (0.0, -shift)
        }
        gaussian = {at: over_gaussian(law, shift * math.sqrt(2 * k)) for at, law in laws.items()}
        most = max(gaussian, key=lambda at: gaussian[at])
        rho = max(law.rho() for law in laws.values())
        rows.append((k, sum(most[0]), rho / (k * shift**2), gaussian[most]))
    return pd.DataFrame(rows, columns=["k", "m", "ρ / (k a²)", "δ over Gaussian"])


@claim("qiao2021:sec-5:notions")
def check_notions(ks: Iterable[int], settings: Iterable[tuple[float, float]]) -> Iterator[Check]:
    """A Rényi analysis against Theorem 2.2, at several (epsilon, delta)."""
    ks = list(ks)
    what = f"noise by our Rényi analysis over Theorem 2.2's, largest for k = {ks[0]} to {ks[-1]:,}, m = 2k"
    for epsilon, delta in settings:
        frame, at = notions(ks, epsilon, delta), f"ε = {epsilon:g}, δ = {delta:g}"
        proved = [log_delta(int(row.k), 1 / row[3], epsilon) / math.log(delta) - 1 for row in frame.itertuples()]
        squared = (epsilon * frame["Theorem 2.2"] / 8) ** 2 / (frame.k * np.log(2 * frame.k / delta))
        yield printed(f"{what}, {at}", frame["ours / Theorem 2.2"].max(), "<", 1)
        yield agree(f"log of the δ that our analysis proves over log δ, off 1, largest, {at}", np.abs(proved).max())
        yield agree(f"square of Theorem 2.2's noise over 64 k log(m/δ)/ε², off 1, {at}", np.abs(squared - 1).max())


# --- figures ----------------------------------------------------------------------------------------------------------


@styled
def draw_privacy_curves(frame: pd.DataFrame) -> Figure:
    """Delta against epsilon, a colour for each noise: needed at the worst pair found (solid) and proved (dashed)."""
    message = "Laplace noise may be far better than its proof shows"
    figure, (axes,) = panels(message=message, height=3.8 if on_phone() else 3.2)
    looks = {"laplace": ("Laplace", 0), "gumbel": ("Gumbel", 2), "exponential": ("exponential", 3)}
    for (noise, curve), part in frame.groupby(["noise", "curve"], sort=False):
        name, colour = looks[noise]
        style = {"found": "-", "proved": "--", "calibrated": "o"}[curve]
        label = "_" if curve == "calibrated" else f"{name}, {curve}"
        if curve == "calibrated":
            promised = f"promised:\nε = {part.epsilon.iloc[0]:g},\nδ = $10^{{{math.log10(part.delta.iloc[0]):.0f}}}$"
            axes.annotate(promised, (part.epsilon.iloc[0], part.delta.iloc[0]), (-5, -4), textcoords="offset points",
                          ha="right", va="top", fontsize=9, color=COLOURS[colour])  # fmt: skip
        axes.plot(part.epsilon, part.delta, style, color=COLOURS[colour], label=label)
    axes.set(title=f"{frame.k.iloc[0]} items selected", yscale="log")
    axes.set(
        xlabel="privacy loss allowed, ε",
        ylabel="δ: chance that the promise may fail",
        xlim=(0, None),
        ylim=(frame.delta.min(), 1),
    )
    key(figure, *axes.get_legend_handles_labels(), columns=3)
    note(
        figure,
        "Found: the worst data we found. Proved: no data lose more; exponential noise: at most the ε of its line. "
        "All noises have the same variance.",
    )
    return figure
