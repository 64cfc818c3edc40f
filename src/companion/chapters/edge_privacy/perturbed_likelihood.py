"""The perturbed likelihood of Cai, Chakraborty and Wang (2025): Algorithm 1, its privacy, its order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import integrate, optimize

from companion.chapters.edge_privacy.link_conditions import link_constants
from companion.chapters.privacy_audited.cases.pairwise import worst_neighbours
from companion.instruments.allowance import ROUNDING
from companion.instruments.loss_curves import shades
from companion.instruments.style import BAR, CALIBRATION, key, label_outer, note, panels, styled
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, amended, claim, printed
from companion.printed.cai2025 import algorithm_1, proposition_3_1
from dprank.data.comparisons import Comparisons
from dprank.data.counting import pairwise_wins, win_counts
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link, sample_erdos_renyi
from dprank.models.likelihood import gradient, hessian, mle, mle_from_counts
from dprank.pairwise import PerturbedMLE, objective_loss
from dprank.pairwise.laws import log_density

#: On the l2 norm of the gradient of a computed estimate.
TOLERANCE = 1e-8


def algorithm_1_runs(epsilon: float) -> pd.DataFrame:
    """Algorithm 1 on graphs of every kind: ``graph``, ``link``, ``items``, ``comparisons``, ``gradient``, ``distance``.

    The l2 norm of the gradient at its output, and a bound on the l2 distance to the one minimiser.
    """
    rng = stream("algorithm 1", {"epsilon": epsilon})
    theta = rng.uniform(-1, 1, 300)
    few, names = [str(i) for i in range(12)], [str(i) for i in range(1000)]
    step = np.arange(999)
    pair = rng.integers(0, 12, (2, 400))
    pair = pair[:, pair[0] != pair[1]]
    graphs = {
        "no comparison at all": Comparisons([], [], [], few),
        "two items, one comparison": Comparisons([0], [1], [1], ["0", "1"]),
        "complete": sample_erdos_renyi(theta, 1.0, rng=rng),
        "Erdős–Rényi, p = 1/20": sample_erdos_renyi(theta, 0.05, rng=rng),
        "path, every item beats the next": Comparisons(step, step + 1, np.ones(999), names),
        "two groups that never met": Comparisons([0, 1, 3, 4], [1, 2, 4, 5], [1, 0, 1, 1], few[:6]),
        "repeated comparisons and ties": Comparisons(pair[0], pair[1], rng.choice([0, 0.5, 1], pair.shape[1]), few),
    }
    rows = []
    for graph, data in graphs.items():
        for link in (LOGISTIC, ARCTAN):
            as_printed = algorithm_1(epsilon, data.n_items, link=link).mechanism
            noise = rng.laplace(0, as_printed.scale, data.n_items)
            fit = mle(data, link=link, ridge=as_printed.ridge, linear=noise, tolerance=TOLERANCE)
            exact = np.linalg.norm(gradient(fit.theta, data, link) + as_printed.ridge * fit.theta + noise)
            rows.append((graph, link.name, data.n_items, len(data), exact, fit.distance_bound))
    return pd.DataFrame(rows, columns=["graph", "link", "items", "comparisons", "gradient", "distance"])


@claim("cai2025:alg-1")
def check_alg_1(epsilons: Iterable[float]) -> Iterator[Check]:
    """The minimiser of Algorithm 1 exists, is unique and is found, on any graph."""
    for epsilon in epsilons:
        runs = algorithm_1_runs(epsilon)
        worst = runs.loc[runs.gradient.idxmax()]
        what = f"{len(runs)} runs on seven kinds of graph, two links, ε = {epsilon:g}"
        yield printed(f"largest gradient, {what}", worst.gradient, "==", 0, error=2 * TOLERANCE)
        ridge = min(algorithm_1(epsilon, 2, link=link).mechanism.ridge for link in (LOGISTIC, ARCTAN))
        yield printed(
            f"distance to the unique minimiser, {what}", runs.distance.max(), "==", 0, error=2 * TOLERANCE / ridge
        )


def attained_loss(scale: float, ridge: float, far: float = 60.0, answers: int = 1, link: Link = LOGISTIC) -> float:
    """Log density ratio at those neighbours: no smaller number is a privacy loss of the mechanism."""
    pair = worst_neighbours(scale, ridge, far, answers, link)
    laws = [log_density(pair.output, data, scale, ridge, link) for data in (pair.data, pair.other)]
    return float(abs(laws[0] - laws[1]))


def printed_losses(epsilons: Iterable[float], answers: int = 1) -> pd.DataFrame:
    """The perturbed MLE as printed: ``epsilon``, ``scale``, ``ridge``, ``loss`` (exact), ``attained`` by neighbours.

    And scales that are ``enough`` at that ridge, also if pairs are ``public``, and for noisy ``counts``.
    """
    rows = []
    for epsilon in epsilons:
        made = proposition_3_1(epsilon, 2, per_person=answers) if answers > 1 else algorithm_1(epsilon, 2)
        m: PerturbedMLE = made.mechanism
        wanted: dict[str, Any] = {"epsilon": epsilon, "ridge": m.ridge, "per_person": answers, "unit": m.unit}
        enough, public = (
            PerturbedMLE.calibrated(n_items=2, graph=graph, law="continuous", **wanted).scale
            for graph in ("private", "public")
        )
        attained = attained_loss(m.scale, m.ridge, answers=answers)
        rows.append((epsilon, m.scale, m.ridge, m.guarantee.epsilon, attained, enough, public, 2 * answers / epsilon))
    names = ["epsilon", "scale", "ridge", "loss", "attained", "enough", "public", "counts"]
    return pd.DataFrame(rows, columns=names)


def least_noise(epsilons: Iterable[float], ridges: Iterable[float]) -> pd.DataFrame:
    """Least noise against the ``ridge``, pairs private: ``epsilon``, ``scaled`` (scale times epsilon).

    ``printed``, ``printed_ridge``: of Algorithm 1. Ridges at which no noise is enough are left out.
    """
    rows = []
    for epsilon in epsilons:
        as_printed = algorithm_1(epsilon, 2).mechanism
        known = {"epsilon": epsilon, "printed": as_printed.scale * epsilon, "printed_ridge": as_printed.ridge}
        for ridge in ridges:
            if objective_loss(1e12, ridge) < epsilon:
                scale = PerturbedMLE.calibrated(
                    epsilon=epsilon, n_items=2, ridge=ridge, graph="private", unit="comparison", law="continuous"
                ).scale
                rows.append(known | {"ridge": ridge, "scaled": scale * epsilon})
    return pd.DataFrame(rows)


@claim("cai2025:prop-2.1")
def check_prop_2_1(epsilons: Iterable[float]) -> Iterator[Check]:
    """The printed noise and ridge are enough, with room to spare, for both links and both choices of kappa_2."""
    both = float(link_constants().kappa_2.iloc[0])
    for epsilon in epsilons:
        for what, as_printed in (
            ("logistic, κ₁ = 1, κ₂ = 1/4", algorithm_1(epsilon, 2)),
            (f"logistic, κ₁ = 1, κ₂ = {both:.1f}", algorithm_1(epsilon, 2, kappa_2=both)),
            ("arctan link, its least constants", algorithm_1(epsilon, 2, link=ARCTAN)),
        ):
            loss = as_printed.guarantee.epsilon
            yield printed(f"exact privacy loss, {what}, ε = {epsilon:g}", loss, "<=", epsilon)
        as_printed = algorithm_1(epsilon, 2).mechanism
        reached = attained_loss(as_printed.scale, as_printed.ridge)
        what = f"log density ratio of explicit neighbours, κ₂ = 1/4, ε = {epsilon:g}"
        yield printed(what, reached, "<=", epsilon)


def density_mass(power: int, scale: float = 1.0, ridge: float = 1.0) -> float:
    """Integral of exp(-norm of grad R / lambda) det(Hessian)^power / (2 lambda)^n, two items that met once.

    Over t1 + t2 in closed form, over d = t1 - t2 by quadrature on both sides of the kink.
    """

    def height(d: float) -> float:
        p = float(LOGISTIC.cdf(d))
        apart = abs(ridge * d - 2 * (1 - p))  # of the two entries of grad R
        volume = (ridge * (ridge + 2 * p * (1 - p))) ** power
        return math.exp(-apart / scale) * (apart + scale) * volume / (4 * scale**2 * ridge)

    kink = optimize.brentq(lambda d: ridge * d - 2 * LOGISTIC.cdf(-d), 0, 1 / ridge)
    ends = kink - 60 * scale / ridge, kink, kink + 60 * scale / ridge
    return sum(integrate.quad(height, a, b, epsabs=1e-13, epsrel=1e-13, limit=200)[0] for a, b in pairwise(ends))


def steps_of_the_proof(answers: int, trials: int) -> pd.DataFrame:
    """How far random data and outputs exhaust the inequalities of A.1 and B.1, ridge 1; `answers` move.

    A row a trial: ``gradient`` (change of the l1 norm over 4 L kappa_1), ``determinant`` (ratio of determinants).
    """
    rng = stream("steps of the proof", {"answers": answers})
    rows = []
    for _ in range(trials):
        n = int(rng.integers(2, 7))
        pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(2 * n + 2 * answers)])
        won = rng.integers(0, 2, len(pairs))
        kept, t = len(pairs) - 2 * answers, rng.normal(0, rng.choice([0.3, 3.0]), n)
        sizes, volumes = [], []
        for part in (slice(0, kept + answers), np.r_[:kept, kept + answers : len(pairs)]):
            data = Comparisons(pairs[part, 0], pairs[part, 1], won[part], [str(i) for i in range(n)])
            sizes.append(np.abs(gradient(t, data) + t).sum())
            volumes.append(np.linalg.slogdet(hessian(t, data).toarray() + np.eye(n))[1])
        rows.append((abs(sizes[1] - sizes[0]) / 4 / answers, math.exp(abs(volumes[1] - volumes[0]))))
    return pd.DataFrame(rows, columns=["gradient", "determinant"])


def determinants(answers: int, ridge: float) -> tuple[float, int]:
    """Ratio of determinants, and rank of the Hessians' difference, when a voter moves to disjoint pairs.

    All items are equally strong at the output, where the curvature is largest; no other comparison is there.
    """
    names = [str(i) for i in range(4 * answers)]
    item = np.arange(2 * answers)
    one = np.ones(answers)
    first, second = (Comparisons(side[::2], side[1::2], one, names) for side in (item, item + 2 * answers))
    t = np.zeros(len(names))
    new, old = hessian(t, first).toarray(), hessian(t, second).toarray()
    _, alone = np.linalg.slogdet(new + ridge * np.eye(len(t)))
    return math.exp(alone - len(t) * math.log(ridge)), int(np.linalg.matrix_rank(new - old, rtol=1e-9))


def density_check(power: int) -> Check:
    """Whether the density integrates to one: with the determinant as printed (-1), and the other way up (1)."""
    says, name = (printed, "printed") if power < 0 else (amended, "corrected (det¹)")
    what = f"integral of the {name} density, two items, one comparison, λ = γ = 1"
    return says(what, density_mass(power), "==", 1, error=ROUNDING)


@claim("cai2025:prop-2.1:proof")
def check_prop_2_1_proof(trials: int) -> Iterator[Check]:
    """The displayed steps of Appendix A.1: the density has its determinant upside down, the rest stands."""
    steps = steps_of_the_proof(1, trials)
    what = f"{trials} random data sets and outputs"
    ratio, _ = determinants(1, 1.0)
    yield density_check(-1)
    yield amended(f"largest change of ‖∇R‖₁ over 4κ₁, {what}", steps.gradient.max(), "<=", 1 + ROUNDING)
    yield amended(f"largest ratio of determinants, γ = 1, {what}", steps.determinant.max(), "<=", 1.5)
    yield amended("ratio of determinants, one edge on its own, γ = 1", ratio, "<=", 1.5 * (1 + ROUNDING))
    yield density_check(1)
    made = algorithm_1(1, 2).mechanism
    yield amended("log density ratio of explicit neighbours, ε = 1", attained_loss(made.scale, made.ridge), "<=", 1)


def order_differences(
    n_items: int, probabilities: Iterable[float], ridges: Iterable[float], repetitions: int, epsilon: float = 1.0
) -> pd.DataFrame:
    """Pairs of items that the perturbed MLE orders otherwise than noisy counts do: ``mean`` (percent), ``se``.

    By ``probability``, ``ridge``, ``score`` ("wins", "net wins"). All use one noise w: wins - w, and net wins - 2 w.
    """
    rows = []
    upper = np.triu_indices(n_items, 1)
    for probability in probabilities:
        rng = stream("order", {"items": n_items, "probability": probability})
        theta = rng.uniform(-1, 1, n_items)
        data = [sample_erdos_renyi(theta, probability, rng=rng) for _ in range(repetitions)]
        won = np.array([pairwise_wins(d) for d in data])
        played = won + won.transpose(0, 2, 1)
        noisy = np.array([win_counts(d) for d in data]) - rng.laplace(0, 2 / epsilon, (repetitions, n_items))
        scores = {"wins": noisy, "net wins": 2 * noisy - played.sum(2)}
        for ridge in ridges:
            strength, _ = mle_from_counts(played, noisy, ridge=ridge)
            for score, value in scores.items():
                gaps = [(x[:, upper[0]] - x[:, upper[1]]) for x in (strength, value)]
                # strengths of equal scores agree up to the solver's tolerance
                apart = 100 * ((gaps[0] * gaps[1] < 0) & (np.abs(gaps[0]) > 10 * TOLERANCE / ridge)).mean(1)
                rows.append((probability, ridge, score, apart.mean(), apart.std(ddof=1) / math.sqrt(repetitions)))
    return pd.DataFrame(rows, columns=["probability", "ridge", "score", "mean", "se"])


@styled
def draw_least_noise(frame: pd.DataFrame) -> Figure:
    """Least noise scale times epsilon against the ridge; what is printed, and what a public graph needs."""
    message = "With a strong pull to zero, half the printed noise is enough"
    figure, (axes,) = panels(message=message, height=3.1)
    groups = list(frame.groupby("epsilon"))
    for colour, (epsilon, part) in zip(shades(len(groups)), groups, strict=True):
        axes.plot(part.ridge, part.scaled, color=colour, label=f"enough, ε = {epsilon:g}")
        axes.plot(part.printed_ridge.iloc[0], part.printed.iloc[0], "s", color=colour)
    axes.axhline(4, color="black", lw=1, ls=":")
    axes.axhline(2, color="black", lw=1.6)
    for height, text in ((2, "public pairs, and noisy counts: 2"), (4, "secret pairs: at least 4")):
        axes.annotate(text, (frame.ridge.max(), height), (0, -12), textcoords="offset points", ha="right")
    last = frame.loc[frame.printed_ridge.idxmax()]
    axes.annotate("as printed", (last.printed_ridge, last.printed), (8, 0), textcoords="offset points", va="center")
    axes.set(xscale="log", ylabel="scale of the noise × ε", ylim=(0, 10))
    axes.set_xlabel("ridge γ: how hard the estimate is pulled to zero")
    key(figure, *axes.get_legend_handles_labels())
    note(
        figure,
        "Estimate: how strong the items are, from who beat whom. Noisy counts: of wins. Enough: on a curve and above "
        "it the promise is kept. Public pairs: it is no secret who met whom.",
    )
    return figure


@styled
def draw_order_differences(frame: pd.DataFrame) -> Figure:
    """Share of pairs that the estimate and two noisy scores order differently, against the ridge."""
    message = "Where all pairs are compared, estimate and counts give the same order"
    figure, made = panels(frame.probability.nunique(), message=message, height=2.6, sharey=True)
    looks = {"wins": CALIBRATION["corrected"] | {"ms": 9, "mfc": "none"}, "net wins": CALIBRATION["net wins"]}
    for axes, (probability, rows) in zip(made, frame.groupby("probability"), strict=True):
        for score, part in rows.groupby("score", sort=False):
            label = f"estimator against {score}" + " (wins − losses)" * (score == "net wins")
            axes.errorbar(part.ridge, part["mean"], BAR * part.se, capsize=2, label=label, **looks[str(score)])
        axes.set(title=f"{100 * probability:.0f} % of the pairs compared", xscale="log")
        axes.set_xticks([0.1, 10, 1000], ["0.1", "10", "1000"])
        axes.minorticks_off()
    label_outer(made, "ridge γ (pull to zero)", "pairs ordered differently (%)")
    key(figure, *made[0].get_legend_handles_labels())
    note(
        figure,
        "Estimator: the strengths that make the answers most likely, pulled to zero. Estimator and score have the "
        "very same noise. Bars: 95 %.",
    )
    return figure
