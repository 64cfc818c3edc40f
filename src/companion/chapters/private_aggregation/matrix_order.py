"""The error of an order of a noisy matrix, and the exponential mechanism beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, pairwise, product
from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_softmax

from companion.chapters.private_aggregation.reduction_one import (
    CONSTANT,
    gaussian_privacy,
    matrix_loss,
    printed_delta,
    supplied_delta,
)
from companion.instruments.aggregation import BAR, best_order, exponential_needs, matrix_error, printed_rate, split_vote
from companion.instruments.allowance import ROUNDING, Z
from companion.instruments.style import CALIBRATION, COLOURS, name_lines, note, panels, styled
from companion.instruments.sweep import sweep
from companion.instruments.uniformity import all_rankings
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from companion.printed.alabi2022 import corollary_3, corollary_4
from dprank.aggregation.exponential import ExponentialMechanism
from dprank.aggregation.matrix import kemeny_score, pairwise_fractions
from dprank.aggregation.noisy_matrix import NoisyMatrix
from dprank.aggregation.private_borda import PrivateBorda
from dprank.data.kendall import pairwise_kendall_distances
from dprank.privacy.gaussian import gaussian_delta

#: Up to so many items a simulated release is ordered exactly; above by local search.
EXACT_ITEMS = 16


def order_bound(n_items: int, noise: str) -> float:
    """Bound on K - OPT of the best order of a noisy matrix, in units of the noise's scale; see the chapter."""
    kind: Literal["gaussian", "laplace"] = "gaussian" if noise == "gaussian" else "laplace"
    return NoisyMatrix(n_items, 1.0, kind, delta=0.5 if noise == "gaussian" else 0.0).additive_error(1)


def printed_bound(n_items: int, noise: str) -> float:
    """Theorem 1's bound (alpha + 1) m^2 e for ratio 1, in units of the noise's scale."""
    return 2 * n_items**2 * (math.sqrt(2 / math.pi) if noise == "gaussian" else 1.0)


def planted_errors(
    n_items: int, steepness: float, noise: str, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K - OPT of the order of a noisy matrix of independent noise of scale 1, in units of that scale.

    Ordered exactly up to `EXACT_ITEMS`, by local search above. All fractions are 1/2 plus or minus ``steepness /
    sqrt(n_items)``, with one order: a share of voters has it, the others its reverse.
    """
    gap = steepness / math.sqrt(n_items)
    order = rng.permuted(np.tile(np.arange(n_items), (repetitions, 1)), axis=1)
    planted = gap * np.sign(order[:, None, :] - order[:, :, None])
    found = np.array([best_order(w, EXACT_ITEMS) for w in planted + _noise(noise, planted.shape, rng)])
    return np.array([kemeny_score(o, w) + gap * math.comb(n_items, 2) for o, w in zip(found, planted, strict=True)])


def noise_gain(n_items: int, noise: str, repetitions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """What the best order gains on pure noise of scale 1: no true order matters, all of it is error's raw material."""
    drawn = _noise(noise, (repetitions, n_items, n_items), rng)
    return np.array([-kemeny_score(best_order(x, EXACT_ITEMS), x) for x in drawn])


def _noise(noise: str, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    """Antisymmetric noise of scale 1."""
    drawn = np.triu((rng.normal if noise == "gaussian" else rng.laplace)(0, 1, shape), 1)
    return drawn - np.swapaxes(drawn, 1, 2)


#: What `planted_sweep` tries.
STEEPNESS = (1.0, 1.5, 2.0, 3.0)


def planted_sweep(items: list[int], repetitions: int, noise: str = "gaussian") -> pd.DataFrame:
    """For every number of items the steepness with the largest mean error of `planted_errors`.

    ``n_items``, ``steepness``, ``mean``, ``se``, ``repetitions``. The largest of several means is a little too large as
    an estimate of the largest expectation; a bound on all of them holds for it nevertheless.
    """
    cells = [{"n_items": m, "steepness": s, "noise": noise} for m in items for s in STEEPNESS]
    frame = sweep(planted_errors, cells, experiment="alabi2022: planted", repetitions=repetitions)
    return frame.loc[frame.groupby("n_items")["mean"].idxmax()].reset_index(drop=True)


def gain_sweep(items: list[int], repetitions: int, noise: str = "gaussian") -> pd.DataFrame:
    """Mean of `noise_gain` for several numbers of items."""
    cells = [{"n_items": m, "noise": noise} for m in items]
    return sweep(noise_gain, cells, experiment="alabi2022: gain", repetitions=repetitions)


def error_curves(worst: pd.DataFrame) -> pd.DataFrame:
    """What `planted_sweep` found beside the bounds, in units of the noise's standard deviation.

    ``items``, ``curve``, ``error``, ``se`` (0 for bounds).
    """
    kind = worst.noise.iloc[0]
    parts = [
        pd.DataFrame(
            {"items": worst.n_items, "curve": "printed bound", "error": [printed_bound(m, kind) for m in worst.n_items]}
        ),
        pd.DataFrame(
            {"items": worst.n_items, "curve": "our bound", "error": [order_bound(m, kind) for m in worst.n_items]}
        ),
        pd.DataFrame({"items": worst.n_items, "curve": "measured", "error": worst["mean"], "se": worst.se}),
    ]
    return pd.concat(parts, ignore_index=True).fillna({"se": 0.0})


def told(curves: pd.DataFrame) -> dict[str, str]:
    """What `error_curves` come to at the most items: ``most``, ``saved`` of the printed bound, how much ``looser`` ours
    is than what is measured.
    """
    last = curves[curves["items"] == curves["items"].max()].set_index("curve")["error"]
    saved, looser = last["printed bound"] / last["measured"], last["our bound"] / last["measured"]
    return {"most": f"{curves['items'].max()}", "saved": f"{saved:.0f}", "looser": f"{looser:.1f}"}


def clipped_error(fraction: float, scale: float) -> float:
    """Exact mean distance of a fraction from itself after Laplace noise and clipping to [0, 1]."""
    return scale * (1 - (math.exp(-fraction / scale) + math.exp(-(1 - fraction) / scale)) / 2)


def printed_errors(
    corollary: Literal[3, 4], n_items: int, voters: int, repetitions: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """K - OPT over the error that Theorem 1 promises for ratio 1, of releases of Corollary 3 or 4 with epsilon 1.

    Three voters in four have one ranking, the others its reverse. Corollary 4 with `CONSTANT`, at delta 1e-6. Promised
    is 2 times the pairs times the noise's mean absolute value, at most half of the printed (alpha + 1) m^2 e.
    """
    made = corollary_3(n_items, 1.0) if corollary == 3 else corollary_4(n_items, 1.0, 1e-6, constant=CONSTANT)
    noisy = made.mechanism
    mean = noisy.scale / voters * (1.0 if corollary == 3 else math.sqrt(2 / math.pi))
    agree = 3 * voters // 4
    rankings = split_vote(n_items, agree, voters - agree)
    w = pairwise_fractions(rankings)
    least = kemeny_score(np.arange(n_items), w)
    costs = np.array([kemeny_score(noisy.release(rankings, rng).order, w) for _ in range(repetitions)])
    return (costs - least) / (2 * noisy.n_pairs * mean)


def slopes(curves: pd.DataFrame) -> pd.DataFrame:
    """Exponents of m between neighbouring sizes, for each curve of `error_curves`; 95 % error bars."""
    wide = curves.pivot(index="items", columns="curve", values=["error", "se"])
    log_ratio = np.diff(np.log(wide.index))
    relative = (wide["se"]["measured"] / wide["error"]["measured"]).to_numpy() ** 2
    rise = pd.DataFrame({name: np.diff(np.log(wide["error"][name])) / log_ratio for name in curves.curve.unique()})
    rise.insert(0, "from m to m", [f"{a} to {b}" for a, b in pairwise(wide.index)])
    return rise.assign(**{"measured, ±": BAR * np.sqrt(relative[1:] + relative[:-1]) / log_ratio})


def promised_share(corollary: int, repetitions: int) -> pd.DataFrame:
    """Mean of `printed_errors` for several sizes."""
    cells = [{"corollary": corollary, "n_items": m, "voters": v} for m, v in ((3, 40), (6, 160), (8, 400))]
    return sweep(printed_errors, cells, experiment="alabi2022: promised", repetitions=repetitions)


def _largest(what: str, frame: pd.DataFrame, limit: float, about: str, scale: float = 1.0) -> Check:
    """The row whose mean is nearest to its limit, from above or below."""
    row = frame.loc[frame["mean"].idxmax()]
    return Check(what, row["mean"] * scale, "<=", limit, about, error=Z * row.se * scale)


def over_bound(worst: pd.DataFrame) -> pd.DataFrame:
    """Means of `planted_sweep` or `gain_sweep` as shares of `order_bound`."""
    bound = [order_bound(m, noise) for m, noise in zip(worst.n_items, worst.noise, strict=True)]
    return worst.assign(mean=worst["mean"] / bound, se=worst.se / bound)


@claim("alabi2022:cor-3")
def check_cor_3(worst: pd.DataFrame, repetitions: int, epsilon: float = 1.0) -> Iterator[Check]:
    """Corollary 3: exact privacy loss, exact error of an answer, measured error of the order; and what is better.

    `worst` is of `planted_sweep` or `gain_sweep` under Laplace noise; `repetitions` of the printed mechanism, end to
    end.
    """
    sizes = range(2, 7)
    losses = {m: matrix_loss(m, epsilon) / epsilon for m in sizes}
    answers = max(clipped_error(w, b) / b for w in np.linspace(0, 1, 21) for b in np.geomspace(1e-3, 1e3, 13))
    unused = max(abs(loss - (m - 1) / (2 * m)) for m, loss in losses.items())
    yield printed("exact loss of the noisy matrix over ε, all rankings of 2 to 6 items", max(losses.values()), "<=", 1)
    yield printed("mean error of a clipped answer over its Laplace scale, largest", answers, "<=", 1)
    yield _largest(
        "mean K − OPT over m³(m − 1)/(εn), printed releases, best order", promised_share(3, repetitions), 1, "printed"
    )
    yield amended("exact loss over ε, distance from (m − 1)/(2m)", unused, "==", 0, error=ROUNDING)
    yield _largest(
        "gain of the best order of pure noise over the bound with √(log m! (C(m,2) + log m!))",
        over_bound(worst),
        1,
        "corrected",
    )


#: Numbers of items, and deltas, at which what Corollaries 4 and 7 say exists is looked for.
EXISTING = (*range(2, 101), 300, 10**3, 10**4, 10**6, 10**9)
DELTAS = (1e-12, 1e-6, 0.1, 0.9)


def existing(deltas: Iterable[float] = DELTAS) -> float:
    """Largest error, over Corollary 4's rate with constant 1, of the best order of a Gaussian matrix of least noise.

    At ratio 1, epsilon up to 4 m log(1 / delta) / log m.
    """
    cells = product(EXISTING, deltas, (1e-3, 0.25, 1.0))
    limits = ((m, share * 4 * m * math.log(1 / delta) / math.log(m), delta) for m, delta, share in cells)
    return max(matrix_error(*cell) / printed_rate(4, *cell) for cell in limits)


def fails_from(delta: float, n_items: int = 10**6) -> float:
    """Least epsilon over log(1 / delta) at which Corollary 4's noise with `CONSTANT` is not private: by bisection."""
    log = math.log(1 / delta)
    return brentq(lambda x: math.log(printed_delta(n_items, x * log, delta) / delta), 0.5, 8.0)


@claim("alabi2022:cor-4")
def check_cor_4(worst: pd.DataFrame, repetitions: int, delta: float = 1e-6) -> Iterator[Check]:
    """Corollary 4 with several constants for its O(); with a condition; and the error that an exact order has.

    `worst` is of `planted_sweep` or `gain_sweep` under Gaussian noise; `repetitions` of the printed mechanism, end to
    end.
    """
    bad = gaussian_privacy(delta=delta)
    for _, row in bad.iterrows():
        yield printed(
            f"exact δ, 10 items, constant {row.constant:.4g}, ε = {row['ε']:.7g}", row["δ exact"], "<=", delta
        )
    near = bad.iloc[0]["1 − δ claimed"]
    exact = bad.iloc[0]["1 − δ exact"]
    extremes = [(10, 128.0, delta), (10, 1e4, delta), (10, 1.0, 1 - 1e-6), (100, 1e-3, 1e-12)]
    calibrated = max(
        gaussian_delta(
            math.sqrt(math.comb(m, 2)), NoisyMatrix.calibrated(n_items=m, epsilon=e, delta=d, law="continuous").scale, e
        )
        / d
        for m, e, d in extremes
    )
    yield printed(f"exact δ, 10 items, constant {CONSTANT:.4g}, ε = 1", 1 - exact, "<=", 1 - near)
    yield supplied("exact δ over δ, constant (1 + √2)/2, ε up to log(1/δ), largest", supplied_delta(), "<=", 1)
    yield _largest(
        "mean K − OPT over 2 e m(m−1)/2 with this noise, largest", promised_share(4, repetitions), 1, "supplied"
    )
    yield amended("exact δ over δ of the calibrated noise, extreme ε and δ", calibrated, "<=", 1)
    what = "best order, least Gaussian noise: proved error over m³ √(log(1/δ))/(εn), ε ≤ 4 m log(1/δ)/log m, largest"
    yield amended(f"{what} of {len(EXISTING)} numbers of items, 2 to 10⁹", existing(), "<=", 1)
    what = "least ε/log(1/δ) at which the noise with constant (1 + √2)/2 fails, 10⁶ items, δ = 10⁻²⁰⁰"
    yield amended(what, fails_from(1e-200), "<=", 1.05)
    yield _largest(
        "mean K − OPT over √(m(m−1) log m!) noise deviations, planted orders", over_bound(worst), 1, "corrected"
    )


@claim("alabi2022:sec-intro:generative")
def check_generative(n_items: int = 10) -> Iterator[Check]:
    """Whether what was known is good under a law of the voters only: Table 1's last row assumes none."""
    m = n_items
    voters = math.ceil(100 * m * math.log(m))
    share = ExponentialMechanism.calibrated(n_items=m, epsilon=1.0).additive_error(voters) / m**2
    what = f"exponential mechanism, any votes: proved error over m², ratio 1, m = {m}, n = {voters:,}, ε = 1"
    coin = (1 - 1 / m) / 4
    yield printed(f"{what}; a fair coin's, if good under a law of the voters only", share, ">=", coin)
    frame = exponential_errors()
    worst = frame[frame.agree < 1]["of ours"].max()
    yield argument(
        "exact error over that bound, voters of two opposite orders, which no Mallows law has", worst, "<=", 1
    )
    share = PrivateBorda.calibrated(n_items=m, epsilon=1.0, law="continuous").additive_error(voters) / m**2
    what = f"noisy Borda scores, in polynomial time, any votes: proved error over m², ratio 5, m = {m}, n = {voters:,}"
    yield amended(f"{what}; a fair coin's", share, "<", coin)


def exponential_loss(n_items: int, voters: int, others: Literal["all", "unanimous"]) -> float:
    """Exact loss of the exponential mechanism as a share of its epsilon, which is 1.

    Over every data set of that many voters, of 6 items at most; or over those in which all who stay have the ranking
    that one leaves (`others` "unanimous").
    """
    orders = all_rankings(n_items)
    rate = ExponentialMechanism.calibrated(n_items=n_items, epsilon=1.0).rate
    distance = pairwise_kendall_distances(orders)
    if others == "all":
        chosen = combinations_with_replacement(range(len(orders)), voters - 1)
        crowds = np.array([np.bincount(np.array(c, int), minlength=len(orders)) for c in chosen])
    else:
        crowds = np.eye(len(orders), dtype=int)[:1] * (voters - 1)
    stay = crowds @ distance
    # relabelled, the voter leaves the first ranking
    before = log_softmax(-rate * (stay + distance[0]), axis=1)
    return max(float(abs(before - log_softmax(-rate * (stay + row), axis=1)).max()) for row in distance[1:])


def exponential_errors(items: tuple[int, ...] = (2, 3, 5, 8, 11, 14), epsilon: float = 1.0) -> pd.DataFrame:
    """Exact expected K - OPT of the exponential mechanism on planted orders.

    ``n_items``, ``agree`` (share of the voters who have the planted order, the others have its reverse), ``voters``,
    ``error``, and its share of ``m^3 log m / (eps n)`` (``of printed``) and of ``m (m - 1) log(m!) / (eps n)`` (``of
    ours``).
    """
    rows = []
    for m in items:
        mechanism, pairs = ExponentialMechanism.calibrated(n_items=m, epsilon=epsilon), math.comb(m, 2)
        for agree in (0.55, 0.75, 1.0):
            for voters in (20, 100, 20 * m, 20 * m**2, 20 * m**3):
                upper = np.triu(np.full((m, m), agree * voters), 1)
                votes = upper + np.tril((1 - agree) * voters * np.ones((m, m)), -1)
                error = mechanism.expected_disagreements(votes) / voters - (1 - agree) * pairs
                of_printed = error * voters / printed_rate(6, m, epsilon)
                rows.append((m, agree, voters, error, of_printed, error / mechanism.additive_error(voters)))
    return pd.DataFrame(rows, columns=["n_items", "agree", "voters", "error", "of printed", "of ours"])


@claim("alabi2022:table-1:hay")
def check_hay() -> Iterator[Check]:
    """The exponential mechanism: privacy over all data (`ROUNDING` allowed), error with constant 1, operations."""
    few, sizes = range(1, 9), (2, 4, 6)
    every = max(exponential_loss(3, n, "all") for n in few)
    crowd = max(exponential_loss(m, 10**k, "unanimous") for m in sizes for k in range(5))
    theirs, ours = exponential_errors()[["of printed", "of ours"]].max()
    work = max(m * 2.0 ** (m - 1) / math.factorial(m) for m in range(2, 23))
    yield printed(f"exact loss over ε, all data of 3 items and {few[0]} to {few[-1]} voters", every, "<=", 1 + ROUNDING)
    yield printed(
        f"the same, {', '.join(map(str, sizes))} items, 1 to 10⁴ voters who agree but for one",
        crowd,
        "<=",
        1 + ROUNDING,
    )
    yield printed("exact K − OPT over m³ log m/(εn), planted orders of 2 to 14 items, largest", theirs, "<=", 1)
    yield printed("terms of the programme over subsets over m!, 2 to 22 items, largest", work, "<=", 2)
    yield amended("exact K − OPT over m(m−1) log(m!)/(εn), planted orders of 2 to 14 items, largest", ours, "<=", 1)


def best_share(n_items: int, epsilon: float = 1.0) -> float:
    """Least chance that the exponential mechanism draws a best order, over all data of four voters, each copied.

    The copies are m (m - 1) log(2 m!) / epsilon, rounded up: a worse order then has 1 / (2 m!) of a best one's weight.
    """
    orders = all_rankings(n_items)
    copies = math.ceil(n_items * (n_items - 1) * (math.lgamma(n_items + 1) + math.log(2)) / epsilon)
    distance = pairwise_kendall_distances(orders)
    # relabelled, the first voter has the first ranking
    others = np.array(list(combinations_with_replacement(range(len(orders)), 3)))
    cost = distance[0] + distance[others].sum(axis=1)
    rate = ExponentialMechanism.calibrated(n_items=n_items, epsilon=epsilon).rate
    law = np.exp(log_softmax(-rate * copies * cost, axis=1))
    return float(np.where(cost == cost.min(axis=1, keepdims=True), law, 0).sum(axis=1).min())


@claim("alabi2022:sec-results:inefficient")
def check_inefficient(
    items: int = 10**5, degrees: Sequence[int] = (10, 1000), few: Sequence[int] = (2, 3, 4)
) -> Iterator[Check]:
    """What the mechanism sums over; and that a fast sampler of its law would find best orders."""
    ways = {
        "m! orders, as it is defined": lambda m: math.lgamma(m + 1),
        "the m 2^(m−1) terms over subsets": lambda m: math.log(m) + (m - 1) * math.log(2),
    }
    for way, log_terms in ways.items():
        for degree in degrees:
            logs = [log_terms(m) - degree * math.log(m) for m in (items, items + 1)]
            yield printed(f"log of {way} over m^{degree}, m = {items:,}", logs[0], ">", 0)
            yield printed(f"growth of that log to the next m, {way}, power {degree}", logs[1] - logs[0], ">", 0)
    least = min(best_share(m) for m in few)
    what = f"chance that a best order is drawn, four voters copied ⌈m(m−1) log(2 m!)⌉ times, ε = 1, m = {few[0]} to"
    yield amended(f"{what} {few[-1]}, least", least, ">=", 2 / 3)


def bounds_table(items: tuple[int, ...] = (5, 10, 20, 50, 100), delta: float = 1e-6) -> pd.DataFrame:
    """Bounds on K - OPT for epsilon = 1, times the number of voters: printed, from the order's noise, exponential."""
    return pd.DataFrame(
        {
            "items": m,
            "Laplace, printed": printed_bound(m, "laplace") * corollary_3(m, 1.0).mechanism.scale,
            "Laplace, ours": matrix_error(m, 1.0),
            "exponential mechanism": exponential_needs(m, 1.0),
            "Gaussian, printed": printed_bound(m, "gaussian")
            * corollary_4(m, 1.0, delta, constant=CONSTANT).mechanism.scale,
            "Gaussian, ours": matrix_error(m, 1.0, delta),
        }
        for m in items
    )


_LOOKS = {
    "printed bound": ("bound of Theorem 1", {"color": CALIBRATION["as printed"]["color"], "ls": "--"}),
    "our bound": ("our bound", {"color": CALIBRATION["corrected"]["color"], "ls": "--"}),
}


@styled
def draw_error_curves(frame: pd.DataFrame) -> Figure:
    """Error of the best order of a noisy matrix against the number of items, with the printed bound and ours."""
    message = "Noise on all pairs costs far less than Theorem 1 allows"
    figure, (axes,) = panels(message=message, height=3.4)
    for curve, (name, look) in _LOOKS.items():
        part = frame[frame.curve == curve]
        axes.plot(part["items"], part.error, label=name, **look)
    part = frame[frame.curve == "measured"]
    axes.errorbar(part["items"], part.error, BAR * part.se, color=COLOURS[2], marker="D", capsize=2, label="measured")
    ticks = sorted(frame["items"].unique())
    axes.set(xlabel="items", ylabel="more votes contradicted\nthan by the best order", xscale="log", yscale="log")
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    note(figure, "The unit is the standard deviation of the noise that is added to the count of votes for every pair.")
    name_lines(axes, width=10)
    return figure
