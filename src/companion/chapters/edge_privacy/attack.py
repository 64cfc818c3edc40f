"""The score attack of Section 2.2.2, and what Proposition 2.4 says it gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.style import CALIBRATION, name_lines, note, panels, styled
from companion.ledger.claim import Check, amended, argument, claim, content, printed
from dprank.models.bradley_terry import ARCTAN, LOGISTIC, Link

Array = NDArray[np.float64]

#: E abs(pi' / pi) under the prior (15 / 16) (1 - t^2)^2 on (-1, 1): twice its density at 0.
PRIOR_SLOPE = 15 / 8
#: Strengths of up to three items whose attack is listed, and nodes and radius of the integration over the prior.
THETA, NODES, RADIUS = 0.3 * np.arange(3) - 0.2, 12, 0.5


def all_outcomes(n_items: int) -> NDArray[np.int64]:
    """Every outcome of one comparison a pair, shape (2^pairs, items, items), [i, j] = 1 if i beats j; diagonal 0."""
    rows, columns = np.triu_indices(n_items, 1)
    wins = np.array(list(product((0, 1), repeat=len(rows))))
    outcomes = np.zeros((len(wins), n_items, n_items), np.int64)
    outcomes[:, rows, columns] = wins
    outcomes[:, columns, rows] = 1 - wins
    return outcomes


def outcome_law(win: ArrayLike, outcomes: NDArray[np.int64]) -> Array:
    """Chances of outcomes where i beats j with chance win[..., i, j]."""
    upper = np.triu_indices_from(outcomes[0], 1)
    return np.asarray(np.where(outcomes, win, 1 - np.asarray(win))[:, *upper].prod(1))


def score_terms(theta: ArrayLike, outcomes: ArrayLike, link: Link = LOGISTIC) -> NDArray[np.float64]:
    """Derivative in theta_i of the log likelihood of the comparison of i and j, [..., i, j]; antisymmetric."""
    theta = np.asarray(theta, float)
    gaps = theta[:, None] - theta
    win = link.cdf(gaps)
    terms = (np.asarray(outcomes) - win) * link.pdf(gaps) / (win * link.cdf(-gaps))
    return np.asarray(terms * (1 - np.eye(len(theta))))


def attack(errors: ArrayLike, terms: NDArray[np.float64], k: int, *, printed: bool) -> NDArray[np.float64]:
    """Attack of Section 2.2.2 on item k (from 0), of every pair i < j, (..., items, items); errors are of estimates.

    As printed, outcome and probability of the pair (i, k) are those of item i; else those of item k.
    """
    result = np.zeros(np.broadcast_shapes((*np.shape(errors)[:-1], 1, 1), terms.shape))
    error = np.asarray(errors, float)[..., k, None]
    result[..., k, k + 1 :] = error * terms[..., k, k + 1 :]
    result[..., :k, k] = error * (terms[..., :k, k] if printed else terms[..., k, :k])
    return result


def listed_outcomes(n_items: int) -> Iterator[Check]:
    """How many different outcomes are listed."""
    listed = len({outcome.tobytes() for outcome in all_outcomes(n_items)})
    yield argument(f"outcomes that are listed, {n_items} items", listed, "==", 2 ** math.comb(n_items, 2))


def score_checks(n_items: int, link: Link) -> Iterator[Check]:
    """The scores of all outcomes against central differences of their log likelihood; their number."""
    outcomes, theta, step = all_outcomes(n_items), THETA[:n_items], 1e-6 * np.eye(n_items)

    def log_likelihood(at: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((outcomes * link.log_cdf(at[:, None] - at)).sum((1, 2)))

    numeric = np.array([log_likelihood(theta + h) - log_likelihood(theta - h) for h in step]) / 2e-6
    off = score_terms(theta, outcomes, link).sum(-1).T - numeric
    what = f"{n_items} items, {link.name} link: scores of all outcomes, off central differences"
    yield agree(what, off, 1e-8)
    yield from listed_outcomes(n_items)


def corner_attacks(n_items: int, link: Link, printed: bool) -> tuple[Array, Array, list[Array]]:
    """Score terms of all outcomes, estimates in corners minus the strengths, and the attack on every item."""
    theta = THETA[:n_items]
    terms = score_terms(theta, all_outcomes(n_items), link)
    corners = np.array(list(product((-1.0, 1.0), repeat=n_items)))[:, None] - theta
    return terms, corners, [attack(corners, terms, k, printed=printed) for k in range(n_items)]


def off_score(n_items: int, k: int, *, printed: bool) -> float:
    """Largest distance of the attack on item k, from 0, from its error times its score, eq. (A.36), in corners."""
    terms, corners, each = corner_attacks(n_items, LOGISTIC, printed)
    return float(np.abs(each[k].sum((-1, -2)) - corners[..., k] * terms[..., k, :].sum(-1)).max())


@claim("cai2025:sec-2.2.2:attack-sum")
def check_attack_sum() -> Iterator[Check]:
    """The attack summed over items against the score attack for the l2 risk."""
    terms = score_terms([0.0, 0.0], [[0, 1], [0, 0]])
    tiny = sum(attack([1.0, 1.0], terms, k, printed=True).sum() for k in range(2))
    what = "2 items of strength 0, both overestimated by 1: the summed attack; the score attack is 0"
    yield printed(what, tiny, "==", 0, error=ROUNDING)
    for n, link in product((2, 3), (LOGISTIC, ARCTAN)):
        for as_printed, says in ((True, printed), (False, amended)):
            terms, corners, each = corner_attacks(n, link, as_printed)
            wanted = np.triu((corners[..., :, None] - corners[..., None, :]) * terms)
            gap = np.abs(sum(each) - wanted).max()
            what = f"{n} items, {link.name} link: largest distance from the score attack, all outcomes"
            yield says(what, gap, "==", 0, error=ROUNDING)
        yield from score_checks(n, link)


def prior_rule(radius: float, nodes: int = 40) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights of the prior (15 / 16) (1 - t^2)^2 stretched to (-radius, radius); weights sum to one."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    return radius * x, w * 15 / 16 * (1 - x * x) ** 2


def total_variation(theta: ArrayLike, other: ArrayLike, link: Link) -> float:
    """Distance in total variation of the laws of all outcomes under two vectors of strengths."""
    outcomes = all_outcomes(len(np.asarray(theta)))
    laws = [outcome_law(link.cdf(np.subtract.outer(at, at)), outcomes) for at in np.array([theta, other], float)]
    return float(np.abs(laws[0] - laws[1]).sum() / 2)


def least_risk(n_items: int, link: Link = LOGISTIC) -> float:
    """Lower bound (Le Cam) on the sup-norm risk over the cube of any estimator, from all strengths 1 and all -1."""
    ones = np.ones(n_items)
    return 1 - total_variation(ones, -ones, link)


def variation_checks(link: Link = LOGISTIC) -> Iterator[Check]:
    """Total variation, which `least_risk` finds to be 0, where it is not; and how many outcomes it is a sum over."""
    apart = total_variation([1, 0], [-1, 0], link)
    what = f"total variation of one comparison at gaps 1 and −1, {link.name} link, off 2F(1) − 1"
    yield agree(what, apart - 2 * float(link.cdf(1.0)) + 1)
    yield from listed_outcomes(4)


def expected_attacks(n_items: int, slope: float, radius: float, link: Link = LOGISTIC) -> pd.DataFrame:
    """Expected attack, p = 1, for the estimate slope (wins minus half): ``k``, ``calibration``, ``attack``.

    Its mean is slope (sum of F(theta_k - theta_j) - 1 / 2): every pair adds slope E F', with the sign of the
    definition.
    """
    k = np.arange(1, n_items + 1)
    x, w = prior_rule(radius)
    each = slope * float(w @ link.pdf(x[:, None] - x) @ w)
    signs = {"as printed": (n_items - k) - (k - 1), "corrected": np.full(n_items, n_items - 1)}
    return pd.concat(
        [pd.DataFrame({"k": k, "calibration": name, "attack": each * sign}) for name, sign in signs.items()],
        ignore_index=True,
    )


def over_prior(
    n_items: int, estimate: Callable[[NDArray[np.int64]], Array], value: Callable[[Array, Array], Array]
) -> float:
    """Mean of value(strengths, errors of all outcomes) over outcomes and the prior; target the centred strengths."""
    x, w = prior_rule(1.0, NODES)
    outcomes = all_outcomes(n_items)
    values, total = estimate(outcomes), 0.0
    for index in product(range(NODES), repeat=n_items):
        theta = x[list(index)]
        law = outcome_law(LOGISTIC.cdf(theta[:, None] - theta), outcomes)
        total += w[list(index)].prod() * float(law @ value(theta, values - (theta - theta.mean())))
    return total


def summed_attack(k: int, printed: bool) -> Callable[[Array, Array], Array]:
    """The attack on item k, from 0, summed over pairs, of all outcomes, for `over_prior`."""

    def value(theta: Array, errors: Array) -> Array:
        terms = score_terms(theta, all_outcomes(len(theta)))
        return np.asarray(attack(errors, terms, k, printed=printed).sum((-1, -2)))

    return value


def linear_risk(n_items: int, radius: float) -> float:
    """Upper bound on the sup-norm risk, p = 1, of (4 / n) (wins - half) for centred strengths up to `radius`.

    The bias, 4 F(x) - 2 - x at twice the radius, and the expected largest of 2 n sub-Gaussian errors.
    """
    bias = abs(4 * float(LOGISTIC.cdf(2 * radius)) - 2 - 2 * radius)
    return bias + 4 * math.sqrt(math.log(2 * n_items) / (2 * n_items))


def listed_attacks(slope: float) -> Iterator[Check]:
    """`expected_attacks` of two items against the listing of their outcomes."""
    frame = expected_attacks(2, slope, 1.0).set_index(["calibration", "k"]).attack
    for name, k in product(("as printed", "corrected"), range(2)):
        listed = over_prior(2, lambda y: slope * (y.sum(-1) - 0.5), summed_attack(k, name == "as printed"))
        what = f"expected attack on item {k + 1} of 2, {name}, off the listing of outcomes and strengths"
        yield agree(what, frame[name, k + 1] - listed, 1e-6)


@claim("cai2025:prop-2.4")
def check_prop_2_4(n_items: int = 10_000) -> Iterator[Check]:
    """Whether an estimator meets the hypothesis, and the corrected bound for centred strengths."""
    for link in (LOGISTIC, ARCTAN):
        for n in (2, 4):
            risk = least_risk(n, link)
            what = f"least sup-norm risk over the cube, {n} items, {link.name} link"
            yield printed(f"{what}: c = 1/4 excludes all estimators", risk, ">=", 0.25)
            yield content(f"{what}: an estimator with c = 1/4", risk, "<", 0.25)
        yield from variation_checks(link)
    risk = linear_risk(n_items, RADIUS)
    attacks = expected_attacks(n_items, 4 / n_items, RADIUS).set_index(["calibration", "k"]).attack
    bound = 1 - 1 / n_items - PRIOR_SLOPE / RADIUS * risk
    what = f"n = {n_items:,}, p = 1, centred strengths of a cube of half width 1/2, linear estimate"
    yield amended(f"sup-norm risk, {what}", risk, "<", 0.25)
    yield amended(f"our bound 1 - 1/n - 15c/4, {what}", bound, ">", 0)
    yield amended(f"expected attack, every k, {what}", attacks["corrected"].min(), ">=", bound)
    yield amended(f"with the printed sign, k = n, {what}", attacks["as printed"].iloc[-1], "<", 0)
    x = np.linspace(-2 * RADIUS, 2 * RADIUS, 401)
    bias = np.abs(4 * LOGISTIC.cdf(x) - 2 - x).max() + 4 * math.sqrt(math.log(2 * n_items) / (2 * n_items))
    yield agree("that risk, off the largest bias on a grid and its deviations", risk - bias)
    yield from listed_attacks(0.8)


@claim("cai2025:prop-2.4:proof")
def check_prop_2_4_proof() -> Iterator[Check]:
    """(A.36) on all outcomes; the constant; integration by parts."""
    for n in (2, 3):
        for k, says in enumerate((amended, printed, printed)[:n]):  # of item 1 the printed sign is right
            what = f"{n} items, k = {k + 1}: distance of the attack from (M - θ) times the score, all outcomes"
            yield says(what, off_score(n, k, printed=True), "==", 0, error=ROUNDING)
        worst = max(off_score(n, k, printed=False) for k in range(n))
        what = f"{n} items, every k, sign corrected: distance from (M - θ) times the score"
        yield amended(what, worst, "==", 0, error=ROUNDING)

    for n in (2, 3):
        for k in range(n):
            whole = over_prior(n, lambda y: np.sqrt(y.sum(-1)), summed_attack(k, False))
            parts = over_prior(n, lambda y: np.sqrt(y.sum(-1)), lambda t, e, k=k: e[:, k] * 4 * t[k] / (1 - t[k] ** 2))  # type: ignore[misc]
            gap = abs(whole - (1 - 1 / n + parts))
            what = f"{n} items, k = {k + 1}: expected attack against 1 - 1/n + E(θ - g)π'/π, centred"
            yield amended(what, gap, "==", 0, error=ROUNDING)
    x, w = prior_rule(1.0)
    slope = float(w @ np.abs(-4 * x / (1 - x * x)))
    yield amended("1 - c E|π'/π| at c = 1/4", 1 - slope / 4, ">=", 0.5)
    yield agree("E|π'/π| by quadrature, off twice the prior's density at 0", slope - PRIOR_SLOPE, 5e-3)


@styled
def draw_attack_by_item(frame: pd.DataFrame) -> Figure:
    """Expected attack on every item against its number, printed and corrected."""
    message = "With the sign as printed the attack fails on later items"
    figure, (axes,) = panels(message=message, height=2.8)
    for calibration, part in frame.groupby("calibration", sort=False):
        look = CALIBRATION[str(calibration)]
        axes.plot(part.k, part.attack, label=calibration, lw=1, **look)
    axes.axhline(0, color="black", lw=1)
    axes.set(
        xlabel="number of the attacked item", ylabel="strength of the attack, 1: full", xlim=(0, frame.k.max() + 1)
    )
    note(
        figure,
        "The attack asks whether what is published about an item goes with the answers on it. Strength: how far it "
        "does; below 0 it says the opposite. The sign: of the answers on pairs with items of a lower number.",
    )
    name_lines(axes, names={"as printed": "sign as printed", "corrected": "sign corrected"}, width=10)
    return figure
