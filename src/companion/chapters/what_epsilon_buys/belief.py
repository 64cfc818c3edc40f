"""What an attacker believes after a release: at most, by the promise, and in fact, by the exact law."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logsumexp

from companion.instruments.style import COLOURS, note, on_phone, panels, styled
from companion.instruments.sweep import stream
from dprank import PrivateBorda
from dprank.privacy.divergence import PairLaw, pair_of, whole_noise
from dprank.privacy.noise import discrete_laplace
from dprank.publication import gain

__all__ = [
    "after",
    "beliefs",
    "draw_most",
    "draw_twenty",
    "log_weight",
    "losses",
    "most",
    "names",
    "numbers",
    "order_law",
    "sums_of",
    "twenty",
]

#: Laplace scales beyond which noise is left out: one draw in 1e13.
REACH = 30.0
#: Epsilons that advice names.
CAPS = (0.2, 0.5, 1.0, 3.0)
#: What is published.
SCORES, ORDER = "order and scores", "order alone"
#: Of how many releases one speaks, and how many are drawn.
RELEASES, DRAWS = 20, 10_000


def names(items: int) -> str:
    """A letter an item."""
    return "ABCDEFGH"[:items]


def most(epsilons: Iterable[float], delta: float = 0.0, told: float = 1.0) -> pd.DataFrame:
    """The most that a belief may become: ``epsilon``, ``before``, ``after`` (both in [0, 1]); `told` is spoken of."""
    before = np.linspace(0.01, 0.99, 99)
    found = pd.DataFrame(
        {"epsilon": epsilon, "before": prior, "after": gain(epsilon, delta, prior)}
        for epsilon in epsilons
        for prior in before
    )
    return found.assign(told=told)


def order_law(sums: ArrayLike, scale: float) -> dict[tuple[int, ...], float]:
    """Chance of every order, least first, of a few sums with discrete Laplace noise; equal ones at random.

    O(2^m m! scale) with m sums. The end of an order is kept as a function of x: the chance that it comes so, after x.
    """
    starts = np.asarray(sums, np.int64) - np.min(np.asarray(sums, np.int64))
    steps, noise = whole_noise("laplace", scale, math.ceil(REACH * scale))
    chance = np.zeros((len(starts), len(steps) + int(starts.max())))
    for row, start in zip(chance, starts, strict=True):
        row[start : start + len(noise)] = noise
    law: dict[tuple[int, ...], float] = {}

    part = np.empty(chance.shape[1])

    def put_before(end: tuple[int, ...], later: list[NDArray[np.float64]]) -> None:
        for item in set(range(len(starts))) - set(end):
            order, tied = (item, *end), chance[item].copy()
            here = tied * later[-1]
            for together, after_them in enumerate(reversed(later[:-1]), 2):  # that share the first value
                tied *= chance[order[together - 1]]
                tied /= together
                here += np.multiply(tied, after_them, out=part)
            if len(order) == len(starts):
                law[order] = float(here.sum())
            else:
                put_before(order, [*later, np.r_[np.cumsum(here[:0:-1])[::-1], 0.0]])

    put_before((), [np.ones(chance.shape[1])])
    return dict(sorted(law.items()))


def sums_of(places: ArrayLike) -> NDArray[np.int64]:
    """Sums of places, from the place of every item on every ballot."""
    return np.asarray(places, np.int64).sum(axis=0)


def _turned(others: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Sums of places where one more person ranks the items in order, and where she turns that round."""
    mine = np.arange(len(others))
    return [others + mine, others + mine[::-1]]


def log_weight(noise: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """Log of the sum over whole c of exp(-(the sum of abs(noise - c)) / scale): of noise up to a common shift.

    Shape (draws, items) to (draws,). Between two neighbouring draws the exponent is linear in c: a geometric series.
    """
    z = np.sort(noise, axis=1) - np.median(noise, axis=1).astype(np.int64)[:, None]
    m = z.shape[1]
    # from z[j] on, up to the next: the distance there, and how fast it grows
    far = np.abs(z[:, :, None] - z[:, None, :]).sum(axis=2)
    slope = (2 * np.arange(1, m + 1) - m) / scale
    steps = np.diff(z, axis=1)
    rate = np.where(slope[:-1] == 0, 1.0, slope[:-1])
    series = np.where(slope[:-1] == 0, steps, np.expm1(-rate * steps) / np.expm1(-rate))
    ends = [np.full((len(z), 1), 1 / np.expm1(m / scale)), np.full((len(z), 1), -1 / np.expm1(-m / scale))]
    starts = np.concatenate([far[:, :1], far[:, :-1], far[:, -1:]], axis=1) / scale
    return np.asarray(logsumexp(-starts, b=np.concatenate([ends[0], series, ends[1]], axis=1), axis=1))


def losses(items: int, epsilon: float, size: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """Log odds that releases of noisy Borda scores give the truth: one person ranks the items in order, or turned.

    It is the same whoever else voted: the noise is added to what all others said, which the attacker subtracts. Scores
    are published up to a common shift.
    """
    scale = PrivateBorda.calibrated(epsilon=epsilon, n_items=items).scale
    move = 2 * np.arange(items) - (items - 1)
    noise = discrete_laplace(scale, (math.prod(size), items), rng=rng)
    return (log_weight(noise, scale) - log_weight(noise - move, scale)).reshape(size)


@lru_cache(maxsize=8)
def beliefs(items: int, epsilon: float, draws: int = DRAWS) -> NDArray[np.float64]:
    """Of so many releases, each from even odds; drawn by the truth."""
    rng = stream("16: beliefs", {"items": items, "epsilon": epsilon})
    return np.asarray(expit(losses(items, epsilon, (draws,), rng)))


def orders_law(others: NDArray[np.int64], epsilon: float) -> PairLaw:
    """The same of the published order alone, where all others have these sums of places."""
    return _orders_law(tuple(others.tolist()), epsilon)


@lru_cache(maxsize=8)
def _orders_law(others: tuple[int, ...], epsilon: float) -> PairLaw:
    scale = PrivateBorda.calibrated(epsilon=epsilon, n_items=len(others)).scale
    law, other = (order_law(sums, scale) for sums in _turned(np.array(others)))
    return pair_of(*(np.array(list(it.values())) / sum(it.values()) for it in (law, other)))


def _weighted(others: NDArray[np.int64], epsilon: float) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """By what is published, beliefs and their chances: of scores drawn, of orders all there are."""
    seen, law = beliefs(len(others), epsilon), orders_law(others, epsilon)
    return {
        SCORES: (seen, np.full(len(seen), 1 / len(seen))),
        ORDER: (expit(law.log_p - law.log_q), np.exp(law.log_p)),
    }


def after(others: NDArray[np.int64], epsilons: Iterable[float]) -> pd.DataFrame:
    """How sure somebody becomes who guessed at even odds how one person voted, and knows how all others did.

    A row an ``epsilon`` and what is ``published``: ``at most`` by the promise; ``reached``, the chance that a release
    comes within a point of it; ``right``, how often the better guess is right, and its ``se``, 0 where it is exact.
    """
    rows = []
    for epsilon in epsilons:
        bound = gain(epsilon)
        for published, (belief, chance) in _weighted(others, epsilon).items():
            # the two ballots are each other's mirror image, and so are the laws of the surer guess
            surer = np.maximum(belief, 1 - belief)
            exact = published == ORDER
            right = (1 + float(orders_law(others, epsilon).delta(0.0))) / 2 if exact else float(surer.mean())
            rows.append(
                {
                    "epsilon": epsilon,
                    "published": published,
                    "at most": bound,
                    "reached": float(chance[belief >= bound - 0.01].sum()),
                    "right": right,
                    "se": 0.0 if exact else float(surer.std(ddof=1) / len(surer) ** 0.5),
                }
            )
    return pd.DataFrame(rows)


def twenty(others: NDArray[np.int64], epsilons: Iterable[float]) -> pd.DataFrame:
    """Beliefs after twenty equally likely releases, where she voted as is guessed.

    ``epsilon``, ``published``, ``release`` (1 .. 20), ``belief``; and ``at most``, the bound.
    """
    levels = (np.arange(RELEASES) + 0.5) / RELEASES
    frames = []
    for epsilon in epsilons:
        for published, (belief, chance) in _weighted(others, epsilon).items():
            order = np.argsort(belief, kind="stable")
            found = belief[order][np.searchsorted(np.cumsum(chance[order]), levels)]
            columns = {"release": np.arange(RELEASES) + 1, "belief": found, "at most": gain(epsilon)}
            frames.append(pd.DataFrame({"epsilon": epsilon, "published": published} | columns))
    return pd.concat(frames, ignore_index=True)


def per_cent(share: float, digits: int = 0) -> str:
    """A share as the page writes it."""
    return f"{100 * share:.{digits}f} %"


def numbers(others: NDArray[np.int64], epsilon: float, before: float = 0.1) -> dict[str, str]:
    """Of one epsilon, as text: bounds, how often an attacker is right, and how often the bound is reached."""
    rows = after(others, [epsilon]).set_index("published")
    return {
        "epsilon": f"{epsilon:g}",
        **{f"cap-{at:g}".replace(".", "-"): per_cent(gain(at)) for at in CAPS},
        "odds": f"{math.exp(epsilon):.3g}",
        "most": per_cent(gain(epsilon)),
        "least": per_cent(1 - gain(epsilon)),
        "before": per_cent(before),
        "most-of-before": per_cent(gain(epsilon, before=before)),
        "right-scores": per_cent(rows.loc[SCORES, "right"], 1),
        "right-order": per_cent(rows.loc[ORDER, "right"], 1),
        "reached": f"{DRAWS * rows.loc[SCORES, 'reached']:.0f}",
    }


@styled
def draw_most(frame: pd.DataFrame) -> Figure:
    """Belief after against belief before, a line an epsilon with its name on it."""
    spoken = float(frame["told"].iloc[0])
    message = f"At ε = {spoken:g} even odds become {100 * gain(spoken):.0f} % at most"
    figure, (axes,) = panels(message=message, height=3.6)
    axes.plot([0, 100], [0, 100], color="0.5", lw=1, ls="--")
    epsilons = sorted(frame["epsilon"].unique())
    for colour, epsilon in zip(COLOURS, epsilons, strict=False):
        rows = frame[frame["epsilon"] == epsilon]
        x, y = 100 * rows["before"].to_numpy(), 100 * rows["after"].to_numpy()
        axes.plot(x, y, color=colour)
        middle = 3 * len(x) // 10
        rise = (y[middle + 1] - y[middle - 1]) / (x[middle + 1] - x[middle - 1])
        # along the line, as wide as it is high
        look: dict[str, Any] = {
            "rotation": math.degrees(math.atan(rise)),
            "rotation_mode": "anchor",
            "fontsize": 9,
            "color": colour,
        }
        axes.annotate(f"ε = {epsilon:g}", (x[middle], y[middle] + 1.5), ha="center", va="bottom", **look)
    told = 100 * gain(spoken)
    axes.plot([50, 50, 0], [0, told, told], color="black", lw=0.8, ls=":")
    axes.plot(50, told, "o", color="black")
    axes.annotate(f"50 % becomes {told:.0f} %", (53, 25), fontsize=9)
    axes.set(
        xlim=(0, 100),
        ylim=(0, 100),
        xlabel="belief before the release, %",
        ylabel="belief after the release, at most, %",
    )
    axes.set_aspect("equal")
    return figure


@styled
def draw_twenty(frame: pd.DataFrame) -> Figure:
    """A dot a release on a line of beliefs; a bar where the promise ends."""
    epsilons: Sequence[float] = sorted(frame["epsilon"].unique())
    within = bool(frame["belief"].between(1 - frame["at most"], frame["at most"], inclusive="neither").all())
    subject = "Every release teaches" if within else "Most releases teach"
    moved = 100 * (frame.loc[frame["published"] == ORDER, "belief"] - 0.5).abs().max()
    message = f"{subject} less than the promise allows"
    figure, made = panels(len(epsilons), message=message, height=1.65, columns=1, sharex=True)
    width = 1.2 if on_phone() else 0.6
    for axes, epsilon in zip(made, epsilons, strict=True):
        rows = frame[frame["epsilon"] == epsilon]
        bound = 100 * rows["at most"].iloc[0]
        for end in (bound, 100 - bound):
            axes.axvline(end, color=COLOURS[1], lw=1.4)
        axes.axvline(50, color="0.5", lw=0.8, ls="--")
        for base, published, colour in ((RELEASES + 2, SCORES, COLOURS[0]), (0, ORDER, COLOURS[2])):
            x = np.sort(100 * rows.loc[rows["published"] == published, "belief"].to_numpy())
            axes.plot(x, base + _stacked(x, width), ".", color=colour, markersize=4)
            if axes is made[0]:
                axes.annotate(published, (0.4, base + 1), fontsize=8.5, color=colour)
        axes.set(xlim=(0, 100), ylim=(-2, RELEASES + 14), yticks=[], title=f"ε = {epsilon:g}: at most {bound:.0f} %")
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
    cap = 100 * frame.loc[frame["epsilon"] == epsilons[0], "at most"].iloc[0]
    made[0].annotate("promise", (cap + 1, RELEASES + 6), fontsize=8.5, color=COLOURS[1])
    made[-1].set_xlabel("belief in what one person said, % (before: 50 %)")
    alone = f"The order alone moves the belief by less than {math.ceil(moved)} points."
    note(figure, f"A dot: one of {RELEASES} equally likely releases. Dashed: the belief before. {alone}")
    return figure


def _stacked(x: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    """How high dots at rising `x` lie: each as low as it can, apart from all dots beside it."""
    ends: list[float] = []
    high = []
    for one in x:
        level = next((i for i, end in enumerate(ends) if one - end >= width), len(ends))
        ends[level : level + 1] = [one]
        high.append(level)
    return np.array(high)
