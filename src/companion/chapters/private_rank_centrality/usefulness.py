"""What the private method is good for: part of the top k that is found, beside noisy counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from companion.chapters.private_rank_centrality.comparison_graphs import connected_graph
from companion.instruments.strengths import strengths
from companion.instruments.style import BAR, COLOURS, key, label_outer, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.topk import EPSILON
from companion.printed.qiao2021 import theorem_3_5
from dprank.models.bradley_terry import win_probabilities
from dprank.models.draws import binomial
from dprank.models.likelihood import mle_from_counts
from dprank.pairwise import NoisyCounts
from dprank.topk.private_spectral import PrivateRankCentrality
from dprank.topk.spectral import stationary_distribution, transition_matrix

#: Methods of `recall`, in the order of the legend.
METHODS = (
    "no noise",
    "win counts, then the model",
    "win counts over degrees",
    "noise on every edge",
    "chain, relative",
    "chain, relative, teleport",
    "chain, as printed",
)
#: Of the likelihood fitted to noisy counts: a public number; from 1 to 30 it hardly matters.
COUNT_RIDGE = 10.0


def recall_draws(
    n_items: int,
    k: int,
    p: float,
    samples: int,
    epsilon: float,
    delta: float,
    teleport: float,
    repetitions: int,
    rng: np.random.Generator,
) -> dict[tuple[str], NDArray[np.float64]]:
    """Part of the true top k that is found, at equal privacy of one sample and on the same data.

    An edge of the public graph has chance p, and `samples` answers. Only the printed noise, and at large k our chains,
    spend the delta.
    """
    found: dict[tuple[str], list[float]] = {(method,): [] for method in METHODS}
    for _ in range(repetitions):
        theta = strengths(n_items, rng=rng, strong=k)[0]
        pairs = connected_graph(n_items, p, rng)
        degree = np.bincount(pairs.ravel(), minlength=n_items)
        second = binomial(samples, win_probabilities(theta)[pairs[:, 1], pairs[:, 0]], rng=rng)
        shares = second / samples
        wins = np.bincount(pairs[:, 1], second, n_items) + np.bincount(pairs[:, 0], samples - second, n_items)
        counts = NoisyCounts.calibrated(epsilon=epsilon, n_items=n_items, unit="comparison", score="wins", ties=False)
        played = np.zeros((1, n_items, n_items))
        played[0, pairs[:, 0], pairs[:, 1]] = played[0, pairs[:, 1], pairs[:, 0]] = samples
        noisy_wins = counts.perturb(wins, rng)
        fitted, _ = mle_from_counts(played, noisy_wins[None], ridge=COUNT_RIDGE)
        noisy = shares + rng.laplace(0, 1 / (samples * epsilon), len(pairs))
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
        asked |= {"n_items": n_items, "k": k, "samples": samples, "pairs": pairs}
        chains = {
            "chain, relative": PrivateRankCentrality.calibrated(**asked),
            "chain, relative, teleport": PrivateRankCentrality.calibrated(teleport=teleport, damped=False, **asked),
            "chain, as printed": theorem_3_5(**asked).mechanism,
        }
        chosen = {
            "no noise": _top(_inside(pairs, shares, samples, n_items), k),
            "noise on every edge": _top(_inside(pairs, noisy, samples, n_items), k),
            "win counts, then the model": _top(fitted[0], k),
            "win counts over degrees": _top(noisy_wins / degree, k),
        } | {name: chain.select(shares, rng).items for name, chain in chains.items()}
        for name, items in chosen.items():
            found[name,].append(float((items < k).mean()))
    return {key: np.array(values) for key, values in found.items()}


def _top(scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    return np.argsort(-scores, kind="stable")[:k]


def _inside(pairs: NDArray[np.int64], shares: NDArray[np.float64], samples: int, n_items: int) -> NDArray[np.float64]:
    """Rank centrality of shares kept away from 0 and 1 by what one more win for either side would do."""
    edge = 1 / (samples + 2)
    return stationary_distribution(transition_matrix(n_items, pairs, np.clip(shares, edge, 1 - edge)))


def recall(
    densities: Sequence[float],
    samples: Sequence[int],
    repetitions: int,
    *,
    n_items: int = 50,
    k: int = 5,
    epsilon: float = EPSILON,
    delta: float = 1e-6,
    teleport: float = 0.5,
    jobs: int = 1,
) -> pd.DataFrame:
    """`recall_draws` over graphs and numbers of samples.

    ``p``, ``samples``, ``method``, ``mean``, ``se``; ``blind``, what a set drawn uniformly finds.
    """
    fixed: dict[str, Any] = {"n_items": n_items, "k": k, "epsilon": epsilon, "delta": delta, "teleport": teleport}
    frame = sweep(
        partial(recall_draws, **fixed),
        [{"p": float(p), "samples": int(count)} for p in densities for count in samples],
        experiment="qiao2021 recall",
        repetitions=repetitions,
        outcomes=("method",),
        jobs=jobs,
    )
    return frame.assign(blind=k / n_items)


def noise_quantile(n_items: int, k: int) -> float:
    """Gap, in noise scales, at which Laplace noise leaves k of n_items values on top with chance one half.

    The k lie above by the gap, and all others are equal: the least of k noisy values exceeds the largest of the rest.
    """
    nodes = (np.arange(10_000) + 0.5) / 10_000
    largest = stats.laplace.ppf(nodes ** (1 / (n_items - k)))
    return float(brentq(lambda t: (stats.laplace.sf(largest - t) ** k).mean() - 0.5, 0, 100))


def least_samples(
    cases: Iterable[tuple[int, int]], *, weak: float = 0.45, epsilon: float = EPSILON, delta: float = 1e-6
) -> pd.DataFrame:
    """Comparisons of every edge from which on the noise alone leaves the top k in place with chance one half.

    ``m``, ``k``, a column for each method; "least noise" has the scores of Algorithm 3, and our noise. All pairs are
    compared; the k have strength 1, all others `weak`. With the exact scores of the model, so that L = (noise scale
    times L) t / gap, t from `noise_quantile`.
    """
    rows = []
    for m, k in cases:
        t, chance = noise_quantile(m, k), chances(m, k, weak)
        asked: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "n_items": m, "k": k, "samples": 1}
        as_printed = theorem_3_5(**asked).mechanism
        least = PrivateRankCentrality.calibrated(relative=False, **asked)
        relative = PrivateRankCentrality.calibrated(**asked)
        shares = chance.T[as_printed.edges[:, 0], as_printed.edges[:, 1]]
        survey = NoisyCounts.calibrated(epsilon=epsilon, n_items=m, unit="comparison", score="wins", ties=False)
        counts = survey.scale
        row: dict[str, float] = {"m": m, "k": k}
        for name, scale, scores in (
            ("win counts", counts, chance.sum(1)),
            ("chain, relative", relative.scale, relative.scores(shares)),
            ("chain, least noise", least.scale, least.scores(shares)),
            ("chain, as printed", as_printed.scale, as_printed.scores(shares)),
        ):
            row[name] = t * scale / (scores[k - 1] - scores[k])
        rows.append(row)
    return pd.DataFrame(rows).astype({"m": int, "k": int})


def numbers(n_items: int, k: int, epsilon: float) -> dict[str, str]:
    """What the road says of its own parameters: the games a pair that each way needs, to two digits."""
    needed = least_samples([(n_items, k)], epsilon=epsilon).iloc[0]
    ways = {"count": "win counts", "least": "chain, least noise", "printed": "chain, as printed"}
    games = {name: f"{max(1, float(f'{needed[way]:.2g}')):,.0f}" for name, way in ways.items()}
    return {"items": f"{n_items}", "k": f"{k}", "epsilon": f"{epsilon:g}"} | games


def chances(n_items: int, k: int, weak: float) -> NDArray[np.float64]:
    """Chance that one item beats another, the first k of strength 1 and all others weak; 0 against itself."""
    chance = win_probabilities(np.log(np.r_[np.ones(k), np.full(n_items - k, weak)]))
    np.fill_diagonal(chance, 0)
    return chance


def teleport_noise(teleports: Iterable[float], n_items: int = 50, k: int = 5, weak: float = 0.45) -> pd.DataFrame:
    """Noise over gap of pi over its largest entry, damped or with public teleport, in units of that of win counts.

    ``scores``, ``noise / gap, win counts = 1``; all pairs compared, both selections may move in any direction.
    """
    chance = chances(n_items, k, weak)
    wins = chance.sum(1)
    ways: list[tuple[str, dict[str, Any]]] = [("damped by 1 − τ₁ of the data, no teleport", {})]
    ways += [(f"undamped, teleport {g:g}", {"teleport": float(g), "damped": False}) for g in teleports]
    rows = []
    for name, way in ways:
        chain = PrivateRankCentrality(n_items, k, 1, 1.0, **way)
        scores = chain.scores(chance.T[chain.edges[:, 0], chain.edges[:, 1]])
        ratio = chain.sensitivity / (scores[k - 1] - scores[k]) * (wins[k - 1] - wins[k])
        rows.append({"scores": name, "noise / gap, win counts = 1": ratio})
    return pd.DataFrame(rows)


_COUNTS, _CHAIN = COLOURS[2], COLOURS[0]
#: What stands for comparison only is grey, and has no name on the lines.
_BLIND: dict[str, Any] = {"color": "0.6", "lw": 1, "ls": "-."}
_NAMES = {
    "win counts, then the model": "noisy wins, model fitted",
    "noise on every edge": "noise on every pair",
    "chain, relative": "noisy walk, ours",
    "chain, relative, teleport": "noisy walk, ours, with jumps",
    "chain, as printed": "noisy walk, as printed",
}
_LOOKS: dict[str, dict[str, Any]] = {
    "no noise": {"color": "0.6", "ls": ":"},
    "win counts, then the model": {"color": _COUNTS, "marker": "D"},
    "noise on every edge": {"color": COLOURS[3], "marker": "^"},
    "chain, relative": {"color": _CHAIN, "marker": "o"},
    "chain, relative, teleport": {"color": _CHAIN, "marker": "o", "ls": "--", "mfc": "none"},
    "chain, as printed": {"color": COLOURS[1], "marker": "s"},
}


@styled
def draw_recall(frame: pd.DataFrame) -> Figure:
    """Fraction of the true top k found against L, the comparisons of an edge, one panel a graph density."""
    densities = sorted(frame.p.unique(), reverse=True)
    message = "Noisy win counts find the best sooner than noisy walks without jumps"
    figure, made = panels(len(densities), message=message, height=2.6, sharex=True, sharey=True)
    for axes, p in zip(made, densities, strict=True):
        for number, (method, look) in enumerate(_LOOKS.items()):
            part = frame[(frame.p == p) & (frame.method == method)].sort_values("samples")
            beside = part.samples * 1.05 ** (number - len(_LOOKS) // 2)
            axes.errorbar(beside, part["mean"], BAR * part.se, label=_NAMES.get(method, "_"), lw=1.2, **look)
        axes.axhline(frame.blind.iloc[0], **_BLIND, label="_")
        axes.annotate("blind", (1.01, frame.blind.iloc[0]), xycoords=("axes fraction", "data"), fontsize=8.5,
                      va="center", color="0.4", annotation_clip=False)  # fmt: skip
        axes.set(xscale="log", title=f"{100 * p:g} % of pairs meet", ylim=(-0.03, 1.05))
    label_outer(made, "games per pair", "share of the best found")
    handles, labels = made[0].get_legend_handles_labels()
    key(figure, [*handles, Line2D([], [], **_LOOKS["no noise"])], [*labels, "no noise"], columns=3)
    note(
        figure,
        "Walk: it moves from player to player, towards those who win; the players where it stays longest are best. "
        "Jumps: at times it goes to any player. Blind: chosen by chance.",
    )
    return figure
