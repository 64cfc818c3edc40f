"""The l2 error of the perturbed MLE under a voter's privacy, and the penalty it needs: Appendix B.2."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.edge_privacy.tails import UPPER, Array, condition_number, gradient, last_linear
from companion.chapters.individual_privacy.voter_tails import C_GRADIENT_VOTERS, C_SPECTRUM_VOTERS, LEMMA
from companion.instruments.allowance import ROUNDING, Z, agree
from companion.instruments.loss_curves import AXES
from companion.instruments.style import BAR, CALIBRATION, name_lines, note, panels, styled
from companion.instruments.sweep import sweep
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied
from dprank.models.bradley_terry import voter_counts
from dprank.models.likelihood import mle_from_counts

#: Numbers of items, epsilons, c0, answers and ratios at which two inequalities are compared.
CASES = tuple(product((1e1, 1e3, 1e6, 1e9, 1e40), (0.3, 0.9), (0.1, 1.0, 100.0), (1, 5), (0.01, 1.0, 10.0)))
#: Numbers of items, from the least on, and answers and ratios, for which our c0 is enough.
SIZES, SUPPLIED = (3, 10, 1e3, 1e6, 1e12), tuple(product((1, 5), (0.1, 1.0, 10.0)))


def first_step_norm(items: float, mean: float, scale: float, c0: float = 1.0) -> float:
    """A lower bound of the l2 error after one step from the truth 0; it fails with probability exp(-n / 8).

    An entry moves by more than lambda log 2 with probability at least 1/2, so a quarter of them do (Hoeffding).
    """
    gamma = c0 * math.sqrt(mean * math.log(items))
    return scale * math.log(2) * math.sqrt(items) / 2 / (gamma + 3 * condition_number() * mean)


def voter_rates(items: float, mean: float, scale: float, answers: int = 1) -> dict[str, float]:
    """Right side of (H1) without its constant: as printed, and with the factor sqrt(n) on both terms of (H2)."""
    log = math.log(items)
    as_printed = math.sqrt(log / mean) + answers * scale * log / (math.sqrt(items) * mean)
    corrected = math.sqrt(items) * (math.sqrt(log / mean) + answers * scale * log / mean)
    return {"as printed": as_printed, "corrected": corrected}


def norm_ratio(
    items: int, density: float, scale: float, rate: str, *, repetitions: int, rng: np.random.Generator
) -> Array:
    """Distance of the perturbed MLE from the truth over a rate of (H1), L = 1, gamma = sqrt(S log n).

    An item has S = density log n comparisons.
    """
    mean = density * math.log(items)
    theta, gamma = np.linspace(-1, 1, items), math.sqrt(mean * math.log(items))
    played, wins = voter_counts(theta, round(mean * items / 2), 1, repetitions, rng=rng)
    noisy = wins - rng.laplace(0, scale, wins.shape)
    error = np.linalg.norm(mle_from_counts(played, noisy, ridge=gamma)[0] - theta, axis=1)
    return np.asarray(error / voter_rates(items, mean, scale)[rate])


def norm_ratios(items: Iterable[int], repetitions: int, density: float = 20.0, scale: float = 8.0) -> pd.DataFrame:
    """`norm_ratio` against the number of items: ``items``, ``rate``, ``mean``, ``se``, ``repetitions``."""
    cells = [
        {"items": n, "density": density, "scale": scale, "rate": rate}
        for rate in ("as printed", "corrected")
        for n in items
    ]
    return sweep(norm_ratio, cells, experiment="cai2025:sec-b.2:induction", repetitions=repetitions)


def norm_growth(items: Iterable[float], density: float = 144.0, scale: float = 8.0) -> pd.DataFrame:
    """Lower bounds of the l2 error after one step over both rates of (H1): ``items``, ``as printed``, ``corrected``."""
    rows = []
    for n in items:
        mean = density * math.log(n)
        least = first_step_norm(n, mean, scale)
        rows.append({"items": n} | {name: least / rate for name, rate in voter_rates(n, mean, scale).items()})
    return pd.DataFrame(rows)


@claim("cai2025:sec-b.2:induction")
def check_induction(frame: pd.DataFrame) -> Iterator[Check]:
    """Hypothesis (H1) as printed and with the missing factor; a step of (A.33) that repeated pairs break."""
    growth = norm_growth([1e8, 1e12, 1e16])
    for (a, x), (b, y) in pairwise(zip(growth["items"], growth["as printed"], strict=True)):
        what = f"least ℓ2 error after one step over (H1), growth from n = {a:.0e} to {b:.0e}, S = 144 log n"
        yield printed(what, y / x, "<=", 1)
    # two items, seven draws of their one pair, all won by the same item: the degree is S = 7, and A_j adds up surprises
    draws = 7
    surprise = draws * float(gradient(np.array([[0.0, 0.0], [1.0, 0.0]]), np.zeros(2))[0])
    yield printed(f"Σ A_j², two items, {draws} draws, all won by one, θ* = 0", surprise**2, "<=", 1.5 * draws)
    for row in frame[frame.rate == "corrected"].itertuples():
        what = f"mean ℓ2 error of θ̃ over √n times the ℓ∞ rate, n = {row.items}, S = {row.density:g} log n"
        yield amended(what, row.mean, "<=", 2, error=Z * row.se)
    down = growth["corrected"].iloc[-1] / growth["corrected"].iloc[0]
    yield amended("the same lower bound over the corrected rate, growth", down, "<=", 1)


def penalty_margin(items: float, epsilon: float, c0: float, answers: int, ratio: float) -> tuple[float, float]:
    """Both sides of two inequalities of Theorem 3.1's proof, at `ratio` n log n / (m epsilon), logistic.

    c0 sqrt(2 m L log n / n) over 8 L kappa_2 / epsilon, and c' epsilon log(n)^2 over the ratio.
    """
    kappa, log = condition_number(), math.log(items)
    voters = items * log / (ratio * epsilon)
    penalty = c0 * math.sqrt(2 * voters * answers * log / items)
    share = c0**2 / (32 * answers * kappa**2)
    return penalty * epsilon / (8 * answers * kappa), share * epsilon * log**2 / ratio


def private_from(epsilon: float, c0: float = 1.0, answers: int = 1, ratio: float = 1.0) -> float:
    """Decimal logarithm of the number of items from which the penalty of the proof is large enough."""
    kappa = condition_number()
    return math.sqrt(ratio * 32 * answers * kappa**2 / (c0**2 * epsilon)) / math.log(10)


def sufficient_c0(answers: int, ratio: float, c2: float = 1.0) -> float:
    """A constant c0 with which that penalty is large enough for all n >= 3 and all epsilon > c2 / sqrt(log n)."""
    return 8 * condition_number() * math.sqrt(answers * ratio / (2 * c2)) * math.log(3) ** -0.75


@claim("cai2025:thm-3.1:proof")
def check_thm_3_1_proof() -> Iterator[Check]:
    """The equivalence, which is algebra, and the conclusion, which depends on the constant c0."""
    margins = np.array([penalty_margin(*case) for case in CASES])
    apart = margins[:, 0] ** 2 / margins[:, 1] - 1
    what = f"the first inequality, squared, over the second, {len(CASES)} cases, off 1"
    yield agree(what, apart)
    n, epsilon = 1e6, 0.9
    margin = penalty_margin(n, epsilon, 1.0, 1, 1.0)[0]
    what = "γ = c₀ √(2mL log n / n) over 8Lκ₂/ε, n log n / (mε) = 1, L = 1, c₀ = 1"
    yield printed(f"{what}, n = 10⁶, ε = 0.9", margin, ">=", 1)
    enough = penalty_margin(math.exp(private_from(epsilon) * math.log(10)), epsilon, 1.0, 1, 1.0)[0]
    yield argument(f"{what}, ε = 0.9, at the number of items that the text names", enough, "==", 1, error=ROUNDING)
    enough = min(
        penalty_margin(n, epsilon, sufficient_c0(answers, ratio), answers, ratio)[0]
        for n, (answers, ratio) in product(SIZES, SUPPLIED)
        for epsilon in np.linspace(1 / math.sqrt(math.log(n)), 1, 5)
    )
    what = "least γ over 8Lκ₂/ε, c₀ supplied, n = 3 to 10¹², all ε > 1/√(log n)"
    yield supplied(what, enough, ">=", 1 - ROUNDING)
    yield amended(f"{what}: no smaller c₀ will do", enough, "==", 1, error=ROUNDING)


def voter_numbers() -> dict[str, str]:
    """Numbers of the text on Appendix B.2."""
    return {
        "lemma-b-sharp": f"{9 / (2 * UPPER):.1f}",
        "lemma-b-draws": f"{LEMMA[1]:,}",
        "lemma-b-gradient": f"{C_GRADIENT_VOTERS:.0f}",
        "lemma-b-spectrum": f"{C_SPECTRUM_VOTERS:.0f}",
        "lemma-b-linear": f"{last_linear()}",
        "lemma-b-kappa": f"{condition_number():.0f}",
        "lemma-b-digits": f"{private_from(0.9):.0f}",
        "lemma-b-digits-low": f"{low_privacy_digits():.0f}",
    }


def low_privacy_digits() -> float:
    """Decimal logarithm of the number of items from which c0 = 1 suffices at epsilon = 1 / sqrt(log n), L = 1."""
    return (32 * condition_number() ** 2) ** (2 / 3) / math.log(10)


@styled
def draw_norm_ratios(frame: pd.DataFrame) -> Figure:
    """Distance of the perturbed MLE from the truth over two candidate rates, against the number of items."""
    message = "The error of all strengths grows faster than the printed rate"
    figure, (axes,) = panels(message=message, height=2.9)
    for rate, part in frame.groupby("rate", sort=False):
        look = CALIBRATION[str(rate)]
        axes.errorbar(part["items"], part["mean"], BAR * part.se, capsize=2, label=f"by the rate {rate}", **look)
    first = frame[frame.rate == "as printed"].iloc[0]
    ticks = np.sort(frame["items"].unique())
    root = (ticks / first["items"]) ** 0.5 * first["mean"]
    axes.plot(ticks, root, color="black", lw=0.8, ls=":", label="growth like √items")
    axes.set(xlabel=AXES["n"], ylabel="error / rate", xscale="log", yscale="log")
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    note(
        figure,
        "Strength: what is estimated of each item. Rate: the size of the error, up to a constant, by a theorem of "
        "Cai et al. as printed and corrected. Bars: 95 %.",
    )
    name_lines(axes, width=15)
    return figure
