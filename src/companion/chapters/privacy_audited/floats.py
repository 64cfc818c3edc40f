"""What the doubles that carry noise say of the data, and the path that is fit for releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.privacy_audited.cases.case import Case, sampler
from companion.instruments.style import BAR, COLOURS, key, panels, styled
from companion.instruments.sweep import stream, sweep
from dprank.audit.betting import lower_bound
from dprank.audit.floats import possible
from dprank.privacy import noise
from dprank.privacy.divergence import pair_of
from dprank.privacy.gaussian import gaussian_epsilon

#: Probability that a sound sampler is called unsound, each time.
ALARM = 1e-9
#: Delta at which Gaussian noise makes a promise.
DELTA = 1e-6


def betrayals(counts: Iterable[int], scales: Iterable[float], releases: int, jobs: int = 1) -> pd.DataFrame:
    """Share of releases of a count that prove a neighbouring count wrong: ``noise`` ("floats" or "whole numbers"),
    ``scale``, ``count``, ``ruled_out`` ("the next count", or "either neighbour"), ``mean``, ``se``, ``repetitions``.
    """
    axes = product(("floats", "whole numbers"), scales, counts)
    cells = [{"noise": kind, "scale": scale, "count": count} for kind, scale, count in axes]
    named: dict[str, Any] = {"experiment": "audit-betrayals", "outcomes": ["ruled_out"]}
    return sweep(_ruled_out, cells, repetitions=releases, jobs=jobs, **named)


def _ruled_out(
    noise: str, scale: float, count: int, repetitions: int, rng: np.random.Generator
) -> dict[tuple[str], NDArray[np.bool_]]:
    if noise == "floats":
        released = count + rng.laplace(0.0, scale, repetitions)
        above, below = (~possible(released, float(count + step), scale) for step in (1, -1))
    else:
        # of discrete Laplace noise every whole number has a positive probability, wherever it is centred
        above = below = np.zeros(repetitions, bool)
    return {("the next count",): above, ("either neighbour",): above | below}


def caught(count: int = 0, scale: float = 1.0, budget: int = 200_000) -> pd.DataFrame:
    """Each kind of noise on a count, audited with a look at the lowest bits: ``noise``, ``promised`` (epsilon on
    paper), ``delta``, ``refuted``, ``releases``, ``event`` (that refutes).
    """
    kinds: dict[str, tuple[Callable[..., Any], float, float]] = {
        "Laplace, floats": (noise.laplace, 1 / scale, 0.0),
        "Gaussian, floats": (noise.gaussian, gaussian_epsilon(1.0, scale, DELTA), DELTA),
        "Laplace, whole numbers": (noise.discrete_laplace, 1 / scale, 0.0),
        "Gaussian, whole numbers": (noise.discrete_gaussian, _whole_gaussian_loss(scale), DELTA),
    }
    rows = []
    for name, (draw, promised, delta) in kinds.items():
        sample = partial(_noisy, draw, scale)
        rng, pairs = stream("audit-float-noise", {"noise": name}), [(count, count + 1)]
        found = lower_bound(sample, pairs, promised, delta, rng=rng, budget=budget, names=["output"])
        rows.append((name, promised, delta, found.refuted, found.samples, found.event if found.refuted else ""))
    return pd.DataFrame(rows, columns=["noise", "promised", "delta", "refuted", "releases", "event"])


def research_only(cases: Iterable[Case], budget: int = 8192) -> pd.DataFrame:
    """The mechanisms that publish floats, audited with a look at their lowest bits: ``mechanism``, ``cases``,
    ``refuted`` (how many of them), ``releases`` (median of the refuted).
    """
    rows = []
    for case in cases:
        if getattr(case.mechanism, "law", "") != "continuous":
            continue
        rng, promise = stream("audit-research-only", {"case": case.name}), case.mechanism.guarantee
        seen = sampler(case.mechanism)(case.data, 16, rng)
        if (seen == np.round(seen)).all():
            continue
        found = case.bet(promise.epsilon, promise.delta, rng=rng, budget=budget)
        rows.append((case.kind.__name__, found.refuted, found.samples if found.refuted else np.nan))
    frame = pd.DataFrame(rows, columns=["mechanism", "refuted", "releases"])
    return frame.groupby("mechanism", sort=False, as_index=False).agg(
        cases=("refuted", "size"), refuted=("refuted", "sum"), releases=("releases", "median")
    )


def secure_p_value(scale: float = 1.0, draws: int = 20_000) -> float:
    """Chi-square test of the release path's Laplace noise against its exact law; cannot be seeded."""
    x = noise.discrete_laplace(scale, draws, rng=noise.SECURE)
    # cells that expect at least 10 draws, and the two tails
    reach = int(scale * np.log(draws * np.tanh(0.5 / scale) / 10))
    inner = np.tanh(0.5 / scale) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    tail = (1 - inner.sum()) / 2
    met = np.bincount(np.clip(x, -reach - 1, reach + 1) + reach + 1, minlength=2 * reach + 3)
    return float(stats.chisquare(met, draws * np.r_[tail, inner, tail]).pvalue)


def _noisy(draw: Callable[..., Any], scale: float, count: Any, size: int, rng: np.random.Generator) -> Any:
    """A count released so many times, each as one number."""
    return count + draw(scale, (size, 1), rng=rng).astype(float)


def _whole_gaussian_loss(scale: float) -> float:
    """Epsilon at `DELTA` of a count with Gaussian noise on whole numbers."""
    whole = np.arange(-int(20 * scale) - 2, int(20 * scale) + 3)
    weights = [np.exp(-((whole - centre) ** 2) / (2 * scale**2)) for centre in (0, 1)]
    return pair_of(*(weight / weight.sum() for weight in weights)).epsilon(DELTA)


@styled
def draw_betrayals(frame: pd.DataFrame) -> Figure:
    """Share of releases that rule out a neighbouring count against the true count; bars are 95 % intervals."""
    message = "A count of 0 with floating-point noise nearly always betrays itself"
    figure, (axes,) = panels(message=message, height=3.2)
    counts = sorted(frame["count"].unique())
    rows = frame[frame.ruled_out == "either neighbour"]
    for number, ((law, scale), part) in enumerate(rows.groupby(["noise", "scale"])):
        at = [counts.index(count) + 0.015 * (number - 1.5) for count in part["count"]]
        look: dict[str, Any] = {
            "color": COLOURS[(1, 3, 0, 2)[number % 4]],
            "marker": "sDo^"[number % 4],
            "ms": (5, 5, 8, 5)[number % 4],
        }
        axes.errorbar(at, part["mean"], BAR * part.se, capsize=2, label=f"{law}, noise of scale {scale:g}", **look)
    axes.set_xticks(range(len(counts)), [str(count) for count in counts])
    axes.set(
        xlabel="true count",
        ylabel="releases that prove that the count\nis not one more, or not one less",
        ylim=(-0.03, 1.03),
    )
    key(figure, *axes.get_legend_handles_labels())
    return figure
