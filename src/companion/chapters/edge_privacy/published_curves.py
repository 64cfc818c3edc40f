"""The published curves: one vector of noise in all replicates, ties not broken at random; their points in figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from companion.chapters.edge_privacy.comparisons import edge_data, edge_methods
from companion.instruments import strengths as sim
from companion.instruments.allowance import Z
from companion.instruments.loss_curves import AXES, FLOOR, band, label_of, shown
from companion.instruments.style import COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.ledger.claim import Check, amended, claim, printed, supplied
from companion.printed.cai2025_curves import SETTINGS, curves
from dprank.models.bradley_terry import erdos_renyi_counts
from dprank.pairwise import mle_from_counts

#: The seed that the authors' code sets inside its objective function.
SEED = 13

#: Experiment 1, as published by the authors (120 repetitions): (method, epsilon) -> n -> share of the top k missed.
PUBLISHED_1: dict[tuple[str, float], dict[int, float]] = {
    ("counts", 0.5): {100: 0.235, 325: 0.055, 700: 0.006},
    ("counts", 1.0): {100: 0.160, 325: 0.037, 700: 0.003},
    ("counts", math.inf): {100: 0.141, 325: 0.032, 700: 0.003},
    ("MLE", 0.5): {100: 0.373, 325: 0.248, 700: 0.082},
    ("MLE", 1.0): {100: 0.272, 325: 0.134, 700: 0.020},
    ("MLE", 2.5): {100: 0.162, 325: 0.050, 700: 0.004},
    ("MLE", math.inf): {100: 0.129, 325: 0.028, 700: 0.003},
}
#: Experiment 2 (n = 300), p = 0.25, infinite epsilon, as published by the authors (120 repetitions).
PUBLISHED_2 = {"MLE": 0.190, "counts": 0.307}
#: Half a unit in the last published digit.
LAST_DIGIT = 0.0005


def r_uniform(seed: int, size: int) -> NDArray[np.float64]:
    """What R gives for ``set.seed(seed); runif(size)``: Mersenne Twister with R's scrambling of the seed."""
    word = seed % 2**32
    words = np.empty(625, np.uint64)
    for step in range(-50, 625):
        word = (69069 * word + 1) % 2**32
        if step >= 0:
            words[step] = word
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": words[1:].astype(np.uint32), "pos": 624}}
    return np.asarray(twister.random_raw(size) * 2.3283064365386963e-10)


def r_laplace(seed: int, size: int) -> NDArray[np.float64]:
    """Standard Laplace numbers as the authors' code makes them of R's uniform ones."""
    u = r_uniform(seed, size) - 0.5
    return np.asarray(np.sign(u) * np.log(1 - 2 * np.abs(u)))


def methods_as_run(n: int, p: float, noise: int) -> dict[str, sim.Method]:
    """MLE and counts, one vector of noise in all replicates of the MLE, ties as in the authors' code."""
    printed = edge_methods(n, p)

    def pulled(mechanism: Any, data: sim.Data) -> NDArray[np.float64]:
        return mle_from_counts(data.played, data.wins - mechanism.scale * r_laplace(noise, n), ridge=mechanism.ridge)[0]

    def missed_by(rule: str, scores: NDArray[np.float64], data: sim.Data) -> NDArray[np.float64]:
        return sim.missed(scores, data.truth, favours(n)[rule])

    return {
        "MLE": replace(printed["MLE"], scores=pulled, missed=partial(missed_by, "for the truth")),
        "counts": replace(printed["counts"], missed=partial(missed_by, "by index")),
    }


def one_draw(
    n: int,
    p: float,
    noise: str | int,
    theta: int,
    *,
    epsilons: Sequence[float],
    repetitions: int,
    rng: np.random.Generator,
) -> sim.Draws:
    """As `edge_draws`, draw `theta` of the strengths in all replicates, noise from a seed of R.

    A word for the noise, "fresh 0", stands for new noise in every replicate, and ties broken at random.
    """
    truth = sim.strengths(n, rng=stream("cai2025 strengths", {"n": n, "number": theta}))
    if isinstance(noise, str):
        methods = {name: method for name, method in edge_methods(n, p).items() if name in ("MLE", "counts")}
    else:
        methods = methods_as_run(n, p, noise)

    def draw(rows: int) -> sim.Draws:
        return sim.losses_of(edge_data(np.tile(truth, (rows, 1)), p, rng), methods, epsilons)

    return sim.in_chunks(n, repetitions, draw)


def edge_as_run(
    sizes: Iterable[int],
    epsilons: Sequence[float],
    repetitions: int,
    *,
    p: float = 1.0,
    noise: Iterable[str | int] = (SEED,),
    theta: Iterable[int] = (0,),
    jobs: int = 1,
) -> pd.DataFrame:
    """A curve for every ``noise`` and ``theta`` of `one_draw`; other columns as `edge`."""
    cells = [{"n": int(n), "p": float(p), "noise": w, "theta": t} for n, w, t in product(sizes, noise, theta)]
    return sweep(
        partial(one_draw, epsilons=epsilons),
        cells,
        experiment="cai2025 edge, one draw",
        repetitions=repetitions,
        outcomes=("epsilon", "method", "loss"),
        jobs=jobs,
    )


def tie_rules(n: int, repetitions: int) -> pd.DataFrame:
    """Share of the top k that counts miss at p = 1 without noise, by the treatment of ties (``rule``)."""
    return sweep(tie_draws, [{"n": n}], experiment="cai2025 ties", repetitions=repetitions, outcomes=("rule",))


def favours(n: int) -> dict[str, NDArray[Any]]:
    """Which of equal scores comes first, by the rule that the authors' code follows; the strong items are last."""
    return {"for the truth": np.arange(n) >= n - sim.top_size(n), "by index": -np.arange(n) / n}


def tie_draws(n: int, *, repetitions: int, rng: np.random.Generator) -> sim.Draws:
    """Draws of `tie_rules`."""
    truth = sim.centred(sim.strengths(n, repetitions, rng=rng)[:, ::-1])
    wins = erdos_renyi_counts(truth, 1.0, rng=rng)[1]
    run = favours(n)
    rules = {"for the truth": run["for the truth"], "at random": rng.random(wins.shape), "by index": run["by index"]}
    return {(rule,): sim.missed(wins, truth, favour) for rule, favour in rules.items()}


def scatter(frame: pd.DataFrame) -> pd.DataFrame:
    """Scatter of the MLE's curves of `edge_as_run` over the standard error that each shows, by ``noise``.

    ``n``, ``epsilon``, ``curves``, ``scatter``, ``se``, ``ratio``: near 1 without a common cause.
    """
    rows = frame[(frame.method == "MLE") & (frame.loss == sim.MISSED) & np.isfinite(frame.epsilon)]
    kind = rows.noise.map(lambda noise: "fresh" if isinstance(noise, str) else "one draw")
    grouped = rows.groupby(["n", "epsilon", kind.rename("noise")])
    table = grouped.agg(curves=("mean", "size"), scatter=("mean", "std"), se=("se", lambda x: np.sqrt((x**2).mean())))
    return table.assign(ratio=table.scatter / table.se).reset_index()


def one_draw_curves(frame: pd.DataFrame) -> pd.DataFrame:
    """The MLE's missed share by ``source``: "one draw" (a noise seed a curve), "seed 13", "new noise", "published"."""
    rows = frame[(frame.method == "MLE") & (frame.loss == sim.MISSED)]
    fresh = rows.noise.map(lambda noise: isinstance(noise, str))
    fixed = rows[~fresh].assign(source=np.where(rows.noise[~fresh] == SEED, f"seed {SEED}", "one draw"))
    grouped = rows[fresh].groupby(["n", "epsilon"], as_index=False)
    new = grouped.agg(mean=("mean", "mean"), se=("se", lambda x: np.sqrt((x**2).sum()) / len(x)))
    known = [
        {"n": n, "epsilon": epsilon, "mean": value, "source": "published"}
        for (method, epsilon), values in PUBLISHED_1.items()
        for n, value in values.items()
        if method == "MLE" and epsilon in set(rows.epsilon) and n <= rows.n.max()
    ]
    columns = ["source", "noise", "n", "epsilon", "mean", "se"]
    parts = [fixed[columns], new.assign(source="new noise"), pd.DataFrame(known)]
    return pd.concat(parts, ignore_index=True)[columns]


def published_2(draws: int, repetitions: int) -> pd.DataFrame:
    """Experiment 2 at p = 1/4 without noise, published and ours: ``method``, ``published``, ``ours``, ``sd``."""
    frame = edge_as_run([300], [math.inf], repetitions, p=0.25, theta=range(draws))
    means = frame[frame.loss == sim.MISSED].groupby("method")["mean"]
    table = pd.DataFrame({"published": PUBLISHED_2, "ours": means.mean(), "sd": means.std() * math.sqrt(1 + 1 / draws)})
    return table.rename_axis("method").reset_index()


def against_published(fresh: pd.DataFrame, as_run: pd.DataFrame) -> pd.DataFrame:
    """Published values of Experiment 1 beside ours: ``method``, ``epsilon``, ``n``, ``published``.

    With new noise ("fresh") and with that of ``SEED`` ("as run"): the mean over draws of the strengths, "..., sd" of a
    run with strengths of its own, "..., z" that the published value is off, "..., draws".
    """
    rows = []
    for (method, epsilon), values in PUBLISHED_1.items():
        for n, published in values.items():
            row: dict[str, Any] = {"method": method, "epsilon": epsilon, "n": n, "published": published}
            for name, frame in (("fresh", fresh), ("as run", as_run)):
                here = (frame.method == method) & (frame.epsilon == epsilon) & (frame.n == n)
                means = frame["mean"][here & (frame.loss == sim.MISSED)]
                if len(means) > 1:
                    sd = math.hypot(means.std() * math.sqrt(1 + 1 / len(means)), LAST_DIGIT / math.sqrt(3))
                    row |= {name: means.mean(), f"{name}, sd": sd, f"{name}, z": (published - means.mean()) / sd}
                    row[f"{name}, draws"] = len(means)
            if "as run" in row and "fresh" in row:
                rows.append(row)
    return pd.DataFrame(rows)


@claim("cai2025:fig-1")
def check_published(table: pd.DataFrame) -> Iterator[Check]:
    """Published values of Figure 1 against ours: with new noise; with one noise vector and the authors' ties."""
    words = {"fresh": "new noise, ties at random", "as run": f"one noise vector (seed {SEED}), ties as run"}
    for name, says in (("fresh", printed), ("as run", supplied)):
        z = table[f"{name}, z"].abs()
        row = table.loc[z.idxmax()]
        value = f"{row.method}, n = {row.n}, ε = {shown(row.epsilon)}, worst of {len(table)}"
        what = f"{words[name]}: standard deviations between the published value and ours ({value})"
        error = z.max() * 2 / math.sqrt(2 * (row[f"{name}, draws"] - 1))
        yield says(what, z.max(), "<=", Z, error=error)
    square = float((table["as run, z"] ** 2).mean())
    what = f"{words['as run']}: mean square of the standard deviations off, {len(table)} values"
    yield amended(what, square, "<=", 3)


def contest(frames: Iterable[pd.DataFrame], epsilons: Sequence[float]) -> pd.DataFrame:
    """Missed shares of `edge` at some epsilons, a row a point: ``source`` is "ours", or "published" by the authors."""
    frame = pd.concat(frames, ignore_index=True)
    columns = ["source", "method", "epsilon", "n", "p", "mean", "se"]
    ours = frame[(frame.loss == sim.MISSED) & frame.epsilon.isin(epsilons)].assign(source="ours")
    if ours.p.nunique() > 1:
        known = curves(2)[lambda points: points.loss == sim.MISSED]
    else:
        first = [(m, e, n, 1.0, value) for (m, e), values in PUBLISHED_1.items() for n, value in values.items()]
        known = pd.DataFrame(first, columns=["method", "epsilon", "n", "p", "mean"])
    known = known.assign(source="published")
    inside = known.epsilon.isin(ours.epsilon) & known.p.between(ours.p.min(), ours.p.max())
    inside &= known.n.between(ours.n.min(), ours.n.max())
    return pd.concat([ours[columns], known[inside]], ignore_index=True)[columns]


def with_published(frame: pd.DataFrame, number: int) -> pd.DataFrame:
    """A frame of losses and points of the paper's figure of that number; ``variant`` tells them apart."""
    ours = frame if "variant" in frame else frame.assign(variant="corrected")
    known = curves(number)
    same, along, curve = SETTINGS[number]
    inside = known[along].between(ours[along].min(), ours[along].max()) & known[curve].isin(ours[curve])
    known = known[inside & known[list(same)].isin(ours[list(same)].to_dict("list")).all(axis=1)]
    return pd.concat([ours, known.assign(variant="published")], ignore_index=True)


#: How the figures of `contest` name and draw a method.
CONTESTANTS: dict[str, tuple[str, str, str]] = {
    "MLE": ("estimator, noise 8/ε", COLOURS[1], "s"),
    "counts": ("counts, noise 2/ε", COLOURS[0], "o"),
    "MLE, public pairs": ("estimate from those counts", COLOURS[2], "D"),
}


def contest_message(frame: pd.DataFrame, along: str) -> str:
    """What a figure of `contest` shows, by what its points with noise say."""
    noisy = frame[(frame.source == "ours") & np.isfinite(frame.epsilon)]
    missed = noisy.groupby("method")["mean"].mean()
    if along == "n":
        if missed["MLE"] > missed["counts"] + FLOOR:
            return "With a quarter of the noise, counting finds more of the best"
        return "With so little noise, counting and estimating find the same"
    thin = noisy[noisy.p == noisy.p.min()].set_index("method")["mean"]
    if thin.idxmin() == "MLE, public pairs":
        return "With few pairs compared, an estimate from noisy counts misses the least"
    if missed.get("MLE, public pairs", math.inf) < missed["MLE"]:
        return "An estimate from noisy counts misses less than the perturbed estimate"
    return "With so little noise, an estimate from noisy counts is no better"


@styled
def draw_contest(frame: pd.DataFrame) -> Figure:
    """What estimator and counts miss of the top k, a panel an epsilon; crosses are the authors' own values."""
    along = "n" if frame.n.nunique() > 1 else "p"
    figure, made = panels(frame.epsilon.nunique(), message=contest_message(frame, along), height=2.9, sharey=True)
    for axes, (epsilon, rows) in zip(made, frame.groupby("epsilon"), strict=True):
        for method, (name, colour, marker) in CONTESTANTS.items():
            part = rows[(rows.method == method) & (rows.source == "ours")].sort_values(along)
            if len(part):
                band(axes, part[along], part, color=colour, marker=marker, ms=4, label=name)
            known = rows[(rows.method == method) & (rows.source == "published")]
            axes.plot(known[along], known["mean"], "x", color=colour, ms=9, mew=2, label="_")
        axes.set(title="without noise" if math.isinf(epsilon) else f"ε = {label_of(epsilon)}")
        axes.set_ylim(bottom=0)
    if (frame.source == "published").any():
        made[0].plot([], [], "kx", ms=8, mew=2, label="published")
    label_outer(made, AXES[along], "share of the best missed")
    key(figure, *made[0].get_legend_handles_labels())
    return figure


@styled
def draw_one_draw(frame: pd.DataFrame) -> Figure:
    """Curves of the MLE's missed share, each with one noise vector in all replicates, and the published values."""
    groups = list(frame[frame.source != "published"].groupby("epsilon"))
    message = "The published points lie near one draw of noise, not the mean"
    figure, made = panels(len(groups), message=message, height=3.2, sharey=True)
    seeded = f"seed {SEED}"
    looks = (
        ("new noise", "mean of many draws", COLOURS[0], "o"),
        (seeded, f"draw of noise no. {SEED}", COLOURS[1], "s"),
    )
    for axes, (epsilon, rows) in zip(made, groups, strict=True):
        for number, (_, part) in enumerate(rows[rows.source == "one draw"].groupby("noise")):
            axes.plot(part.n, part["mean"], color="0.6", lw=0.8, label="_" if number else "each: another draw of noise")
        for source, name, colour, marker in looks:
            part = rows[rows.source == source]
            band(axes, part.n, part, label=name, ms=3.5, color=colour, marker=marker)
        known = frame[(frame.source == "published") & (frame.epsilon == epsilon)]
        axes.plot(known.n, known["mean"], "x", color="black", ms=8, mew=1.8, label="published")
        axes.set(title=f"ε = {label_of(epsilon)}")
    label_outer(made, AXES["n"], "share of the best missed")
    key(figure, *made[0].get_legend_handles_labels())
    note(figure, "Shaded: 95 % intervals of the mean over repetitions.")
    return figure
