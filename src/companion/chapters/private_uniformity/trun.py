"""TRUN as printed: which way round its answer is, and what it loses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.private_uniformity.central import FIGURE_3, sign_data
from companion.instruments.allowance import ROUNDING
from companion.instruments.style import COLOURS, note, panels, styled
from companion.ledger.claim import Check, amended, argument, claim, printed
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import theta_at

#: Up to so many pairs all values of the sum of their orientations are summed.
MOST_PAIRS = 10_000_000
#: Scale of whole noise that no double tells from none: it is not 0 with chance exp(-10^4).
HARDLY = 1e-4
#: Significance and privacy of Figure 3.
DELTA, EPSILON_0 = 0.05, 1 / 3


def theorem_6(m: float, mu: float, epsilon_0: float, delta: float) -> NDArray[np.float64]:
    """The three terms of the sample size of Theorem 6, shape (3,)."""
    log = math.log(1 / delta)
    first = (delta**-1.5 / math.sqrt(m) + delta**-3 / m) / mu**2
    second = log ** (1 / 3) / (mu ** (4 / 3) * m ** (1 / 3) * (epsilon_0 * delta) ** (2 / 3))
    return np.array([first, second, math.sqrt(log) / (mu * epsilon_0 * delta)])


def printed_rankings(m: float, mu: float, epsilon_0: float, delta: float, constant: float = 1.0) -> int:
    """Sample size of Theorem 6 with a constant in front, at least 2."""
    return max(2, math.ceil(constant * theorem_6(m, mu, epsilon_0, delta).max()))


def private_rankings(mu: float, epsilon_0: float, delta: float) -> int:
    """A sample size at which Algorithm 3 is private whatever m: the corrected theorem, with its constants."""
    return max(2, math.ceil(max(64 / (mu**2 * epsilon_0 * delta) ** (2 / 3), 182 / (mu * epsilon_0 * delta))))


def mu_at(m: int, epsilon: float) -> float:
    """The paper's mu for a tolerance: (1 - phi^(m/8)) / (1 + phi^(m/8)) at phi = phi_epsilon."""
    return math.tanh(theta_at(m, epsilon) * m / 16)


def ramp_sums(test: paper.PrintedTrun) -> NDArray[np.float64]:
    """Sizes of pair sums that k rankings can have, above 0, from a little below the ramp to a little above it."""
    k, pairs = test.n_voters, test.n_items // 2
    end = math.sqrt((test.start + test.width) * k / pairs)
    low = max(2 - k % 2, int(math.sqrt(test.start * k / pairs)) - 8)
    return np.arange(low + (low - k) % 2, min(k, int(end) + 8) + 1, 2, dtype=float)


def agreeing_acceptance(
    test: paper.PrintedTrun, s: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds on the probability of acceptance when all rankings are one ranking or its reverse, s more of the first.

    Each pair sum is s or -s, by a fair coin: the algorithm draws the pairs, in random order, and publishes neither.

    Lower and upper bound. Both are the exact value for up to `MOST_PAIRS` pairs. For more of them Hoeffding's
    inequality says that the sum of the coins is at most 8 sqrt(pairs) but with probability 2 exp(-32).
    """
    pairs = test.n_items // 2
    y = pairs * s**2 / test.n_voters
    if pairs > MOST_PAIRS:
        far = test.acceptance(y, 8 * math.sqrt(pairs) * s)
        return (1 - 2 * math.exp(-32)) * far, test.acceptance(y)
    # nine standard deviations either way
    half = math.ceil(4.5 * math.sqrt(pairs))
    heads = np.arange(max(0, pairs // 2 - half), min(pairs, pairs // 2 + half + 1) + 1)
    exact = test.acceptance(y[:, None], np.outer(s, 2 * heads - pairs)) @ stats.binom.pmf(heads, pairs, 0.5)
    return exact, exact


def agreeing_loss(test: paper.PrintedTrun) -> float:
    """Privacy loss of what is published, over data of rankings that agree or are opposed; one of them is reversed.

    The pairing is drawn and secret. A lower bound on the privacy loss over all data; exact over these data, near the
    ramp, for up to `MOST_PAIRS` pairs, and a lower bound for more.
    """
    s = ramp_sums(test)
    (low, high), (low_less, high_less) = agreeing_acceptance(test, s), agreeing_acceptance(test, s - 2)
    ratios = low / high_less, low_less / high, (1 - high) / (1 - low_less), (1 - high_less) / (1 - low)
    return float(np.log(ratios).max())


def worst_neighbours(test: paper.PrintedTrun) -> pd.Series:
    """The worst of some neighbours for an adversary who knows the pairing, which the algorithm keeps secret.

    All pair sums are plus or minus s or s + 2, and 2 closer to 0 instead.

    Columns: ``y`` and ``y_less`` (UNIF's statistic of either), ``accept`` and ``accept_less``, ``loss``. A lower bound
    on the privacy loss given the pairing: these data exist for s of the parity of k, since one ranking may have every
    sign. Half of the sums have either sign, so that the gate sees a mean sign of 0, or of one pair if their number is
    odd.
    """
    k, pairs = test.n_voters, test.n_items // 2
    s = ramp_sums(test)[:, None]
    larger = 2 * np.unique(np.floor(np.linspace(0, 1, 33) * (pairs // 2)))
    larger = np.where(s + 2 <= k, larger, 0.0)

    def accept(s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        y = ((pairs - larger) * s**2 + larger * (s + 2) ** 2) / k
        return y, test.acceptance(y, pairs % 2 * np.broadcast_to(s, y.shape))

    (y, more), (y_less, less) = accept(s), accept(s - 2)
    loss = np.maximum(np.abs(np.log(more / less)), np.abs(np.log((1 - more) / (1 - less))))
    i = np.unravel_index(loss.argmax(), loss.shape)
    columns = {"y": y, "y_less": y_less, "accept": more, "accept_less": less, "loss": loss}
    return pd.Series({name: float(values[i]) for name, values in columns.items()})


def exhaustive_loss(test: paper.PrintedTrun) -> float:
    """Exact privacy loss for a known pairing, over all sign data and all neighbours: 2^(pairs k) data sets.

    With the pairing drawn and secret the loss is at most this.
    """
    sums = sign_data(test.n_items // 2, test.n_voters)
    accept = test.accepts(sums)
    return float(max(np.ptp(np.log(p), axis=1).max() for p in (accept, 1 - accept)))


def losses(test: paper.PrintedTrun) -> dict[str, float]:
    """Privacy loss attained with the pairing secret (`agreeing_loss`), and known (`worst_neighbours`)."""
    return {"attained": agreeing_loss(test), "known pairing": worst_neighbours(test).loss}


def small_losses(sizes: Iterable[tuple[int, int]], epsilon_0: float, delta: float, mu: float) -> pd.DataFrame:
    """Privacy loss at tiny sizes, between two bounds, and the bound of the guarantee.

    Columns: ``items``, ``rankings``, ``attained`` (`agreeing_loss`), ``known pairing`` (`exhaustive_loss`: over all
    data), ``proved``.
    """
    rows = []
    for m, k in sizes:
        test = paper.trun(m, k, epsilon_0, delta, mu).mechanism
        bounds = {"known pairing": exhaustive_loss(test), "proved": test.guarantee.epsilon}
        rows.append({"items": m, "rankings": k, "attained": agreeing_loss(test)} | bounds)
    return pd.DataFrame(rows)


def figure_3_losses(epsilons: Iterable[float]) -> pd.DataFrame:
    """Privacy loss of Algorithm 3 at the sizes of Figure 3, for several tolerances: the paper names none.

    Columns: ``items``, ``rankings``, ``ε``, the tolerance, ``μ``, those of `losses`, ``proved``.
    """
    rows = []
    for (m, k), epsilon in product(FIGURE_3, epsilons):
        mu = mu_at(m, epsilon)
        test = paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism
        row = {"items": m, "rankings": k, "ε": epsilon, "μ": mu}
        rows.append(row | losses(test) | {"proved": test.guarantee.epsilon})
    return pd.DataFrame(rows)


def losses_by_items(items: Iterable[int], epsilon: float) -> pd.DataFrame:
    """Privacy loss with the sample size of Theorem 6 at a fixed tolerance.

    Columns: ``items``, ``μ``, ``rankings``, those of `losses`, ``private rankings`` (by `private_rankings`).
    """
    rows = []
    for m in items:
        mu = mu_at(m, epsilon)
        k = printed_rankings(m, mu, EPSILON_0, DELTA)
        row = {"items": m, "μ": mu, "rankings": k} | losses(paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism)
        rows.append(row | {"private rankings": private_rankings(mu, EPSILON_0, DELTA)})
    return pd.DataFrame(rows)


def losses_by_constant(constants: Iterable[float], epsilon_0: float, delta: float) -> pd.DataFrame:
    """For every constant in front of Theorem 6's sample size, parameters at which privacy fails.

    With mu = 1 / C^3, or 0.1, and about mu^(-4) items, or 10^18, the second of the corrected terms outgrows all
    printed ones by a factor of mu^(-1/3). The number of rankings is rounded up to a square, so that the ramp begins
    at data that there are.

    Columns: ``constant``, ``mu``, ``items``, ``rankings``, ``attained`` (`agreeing_loss`).
    """
    rows = []
    for constant in constants:
        mu = min(0.1, constant**-3)
        m = 2 * math.ceil(min(mu**-4, 1e18) / 2)
        k = (math.isqrt(printed_rankings(m, mu, epsilon_0, delta, constant) - 1) + 1) ** 2
        attained = agreeing_loss(paper.trun(m, k, epsilon_0, delta, mu).mechanism)
        rows.append({"constant": constant, "mu": mu, "items": m, "rankings": k, "attained": attained})
    return pd.DataFrame(rows)


def acceptance_curve(
    m: int, k: int, epsilon: float, epsilon_0: float = EPSILON_0, delta: float = DELTA
) -> pd.DataFrame:
    """What Algorithm 3 answers and what it reveals; the mean sign is 0.

    Columns: ``panel`` ("acceptance" or "loss"), ``rankings``, ``x`` (Y over its null mean; ``rankings``), ``value``
    (probability of acceptance at k rankings; loss of `worst_neighbours`, pairing known), ``low`` and ``high`` (the
    probability at a norm 2 sqrt(pairs) smaller and larger; `agreeing_loss`, pairing secret, and the guarantee's bound),
    ``promised``, ``items``, ``mu``, ``asked``: the sample size of Theorem 6.
    """
    mu = mu_at(m, epsilon)
    test = paper.trun(m, k, epsilon_0, delta, mu).mechanism
    norm = np.sqrt(np.linspace(0.7, 1.6, 200) * k * (m // 2))
    low, centre, high = (test.acceptance((norm + x) ** 2 / k) for x in (-test.reach, 0, test.reach))
    acceptance = pd.DataFrame({"x": norm**2 / k / (m // 2), "value": centre, "low": low, "high": high})
    tests = [paper.trun(m, n, epsilon_0, delta, mu).mechanism for n in np.unique(np.geomspace(10, 1e6, 60).astype(int))]
    rows = [(float(t.n_voters), worst_neighbours(t).loss, agreeing_loss(t), t.guarantee.epsilon) for t in tests]
    loss = pd.DataFrame(rows, columns=["x", "value", "low", "high"])
    frames = [acceptance.assign(panel="acceptance", rankings=k), loss.assign(panel="loss", rankings=loss.x)]
    asked = printed_rankings(m, mu, epsilon_0, delta)
    return pd.concat(frames, ignore_index=True).assign(promised=epsilon_0, items=m, mu=mu, asked=asked)


@claim("busafekete2021:alg-3")
def check_alg_3(cases: Iterable[tuple[int, int, float]] = ((2, 2, 0.5), (100, 1000, 0.05))) -> Iterator[Check]:
    """Algorithm 3 as a definition, on its smallest data and one larger case."""
    for m, k, mu in cases:
        # at even k all pair sums can be 0; where all agree a fair coin turns each pair round
        agree = np.resize([k, -k], m // 2)
        even = np.zeros_like(agree)
        as_printed, right = (
            paper.trun(m, k, EPSILON_0, DELTA, mu, accept_large=large).mechanism for large in (True, False)
        )
        at = f"m = {m}, k = {k}, μ = {mu:g}"
        least = -as_printed.start / as_printed.width
        yield printed(f"least p that line 15 asks for, {at}", least, ">=", 0)
        yield argument(f"the same, {at}: −8/(μ²(k − 1))", least, "==", -8 / (mu**2 * (k - 1)), error=ROUNDING)
        for test, says, sign in ((as_printed, printed, -1), (right, amended, 1)):
            what = f"P(accept) when each pair splits evenly less when all agree, {at}"
            gain = float(test.accepts(even) - test.accepts(agree))
            yield says(what, gain, ">", 0)
            yield argument(f"{what}: {sign:+d}, but for the coin", gain, "==", sign * (1 - DELTA), error=1e-6)
        rejects = float(1 - right.accepts(even))
        yield amended(
            f"P(reject) where p is clipped at 0, {at}: the coin alone", rejects, "==", DELTA / 2, error=ROUNDING
        )


@claim("busafekete2021:alg-3:tail")
def check_tail(
    cases: Iterable[tuple[int, float, float]] = ((2, 0.05, 1 / 3), (1000, 0.05, 1 / 3), (50, 0.5, 5.0)),
) -> Iterator[Check]:
    """The remark at line 3: the chance of the coin, by the law that the algorithm's acceptance is computed from."""
    for k, delta, epsilon_0 in cases:
        test = paper.trun(2, k, epsilon_0, delta, 1.0).mechanism
        cut = test.scale * math.log(1 / delta)
        chance = 2 * float(stats.laplace.sf(cut, scale=test.scale))
        at = f"k = {k}, δ = {delta:g}, ε₀ = {epsilon_0:.3g}"
        yield printed(f"chance of |Z| > (4/(kδε₀)) ln(1/δ), {at}", chance, "<=", delta * (1 + ROUNDING))
        # where p is clipped at 0 the coin alone accepts
        yield argument(
            f"twice the chance to accept there by the coin alone, {at}",
            2 * float(test.acceptance(0.0)),
            "==",
            chance,
            error=ROUNDING,
        )


@claim("busafekete2021:thm-6:privacy")
def check_thm_6_privacy(figure_3: pd.DataFrame, by_items: pd.DataFrame) -> Iterator[Check]:
    """Privacy of Algorithm 3 with the sample size of Theorem 6, for every constant in front of it."""
    for row in by_items[by_items["items"] >= 1000].itertuples():
        what = f"attained loss, δ = 0.05, ε = 1/2, constant 1, m = {row.items:,}, k = {row.rankings:,}"
        yield printed(what, row.attained, "<=", EPSILON_0)
    for row in losses_by_constant((0.1, 1, 10, 100), EPSILON_0, DELTA).itertuples():
        of = f"k = {row.constant:g} × the printed maximum or more, μ = {row.mu:.2g}, m = {row.items:.2g}"
        yield printed(f"attained loss, δ = {DELTA:g}, {of}", row.attained, "<=", EPSILON_0, error=ROUNDING)
    worst = figure_3[figure_3["items"] > 10]
    row = worst.loc[worst.attained.idxmin()]
    what = f"attained loss at Figure 3's sizes with 1000 rankings, least bad: m = {row['items']:.0f}, ε = {row['ε']:g}"
    yield printed(what, row.attained, "<=", EPSILON_0)
    what = "largest bound on loss / ε₀ with 64/(μ²ε₀δ)^(2/3) and 182/(με₀δ), grid of m, μ, ε₀, δ"
    yield amended(what, corrected_margin(), "<=", 1)
    for share, cells in (
        (5, ((10**6, 1e-6), (10**6, 1e-4))),
        (15, ((1000, 0.5), (1000, 0.01), (10**6, 0.1), (10**6, 1e-3))),
    ):
        for m, mu in cells:
            k = math.isqrt(private_rankings(mu, EPSILON_0, DELTA) // share) ** 2
            loss = agreeing_loss(paper.trun(m, k, EPSILON_0, DELTA, mu).mechanism)
            yield amended(
                f"attained loss / ε₀ with a {share}th of these rankings, m = {m:,}, μ = {mu:g}",
                loss / EPSILON_0,
                ">",
                1,
            )


def corrected_margin() -> float:
    """Largest guarantee over epsilon_0 of Algorithm 3 with `private_rankings`, on a grid."""
    grid = product((2, 3, 10, 101, 10_000), (1e-6, 1e-3, 0.1, 1.0), (1e-3, 1 / 3, 1.0, 5.0), (1e-4, 0.05, 0.5))
    return max(
        paper.trun(m, private_rankings(mu, e, d), e, d, mu).mechanism.guarantee.epsilon / e for m, mu, e, d in grid
    )


@styled
def draw_acceptance(frame: pd.DataFrame) -> Figure:
    """Probability of acceptance against UNIF's statistic, and privacy loss against the number of rankings."""
    part, promised = frame[frame.panel == "loss"], frame.promised.iloc[0]
    last = part.x[part.low > promised].max()
    enough = float(f"{last:.2g}")
    message = f"TRUN accepts where rankings agree, and loses too much below {enough:,.0f} rankings"
    if math.isnan(last):
        message = "TRUN accepts where rankings agree; here its coin keeps the promise"
    figure, (ramp, loss) = panels(2, message=message, height=3.0)
    part = frame[frame.panel == "acceptance"]
    ramp.plot(part.x, part["value"], color=COLOURS[1])
    ramp.fill_between(part.x, part.low, part.high, color=COLOURS[1], alpha=0.25, lw=0)
    ramp.axvline(1, color="black", lw=0.8, ls=":")
    title = f"band: what 1 of {part.rankings.iloc[0]:,.0f} rankings can change"
    ramp.set(title=title, ylabel="chance that it accepts", ylim=(0, 1))
    ramp.set_xlabel("agreement (1: mean if shuffled)")
    part = frame[frame.panel == "loss"]
    loss.plot(part.x, part.low, color=COLOURS[1], label="reached, pairs secret")
    loss.plot(part.x, part["value"], color=COLOURS[0], lw=1, ls="-.", label="if the attacker knows the pairs")
    loss.plot(part.x, part.high, color=COLOURS[6], ls="--", lw=1, label="never above (proved)")
    fraction = Fraction(promised).limit_denominator(100)
    loss.axhline(promised, color="black", lw=0.8, ls=":", label=f"promised: {fraction}")
    if not math.isnan(last):
        loss.plot(last, promised, "o", color=COLOURS[1])
        loss.annotate(
            f"about {enough:,.0f}",
            (last, promised),
            (-6, -6),
            ha="right",
            va="top",
            textcoords="offset points",
            fontsize=9,
        )
    loss.set(title="privacy lost through one ranking", xlabel="rankings", ylabel="privacy lost (ε)")
    loss.set(xscale="log", yscale="log")
    loss.legend(loc="lower left", fontsize=9)
    sizes = f"{frame['items'].iloc[0]} items, μ = {frame.mu.iloc[0]:.2g}"
    note(
        figure,
        f"{sizes}; Theorem 6 asks for {frame.asked.iloc[0]:,} rankings. TRUN pairs the items at random, and counts in "
        "how many rankings each pair has the same order.",
    )
    return figure
