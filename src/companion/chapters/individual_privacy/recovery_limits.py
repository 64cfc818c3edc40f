"""What no private ranking can do: Theorem 3.4."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, product

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from companion.chapters.edge_privacy.recovery import largest_packing
from companion.chapters.individual_privacy import packings
from companion.chapters.individual_privacy.noisy_counts import ENOUGH, SIZES, failure_bound
from companion.chapters.individual_privacy.voter_estimation import rate
from companion.instruments.allowance import ROUNDING, agree
from companion.instruments.style import COLOURS, key, note, panels, styled
from companion.ledger.claim import Check, amended, argument, claim, printed, supplied

#: Theorem 3.4 is evaluated at nu_1 = nu_2 = NU.
NU = 0.5
#: With what probability every private set is said to fail, at least.
LEAST_FAILURE = 0.1


def random_set_failure(n_items: int, k: int, tolerance: int) -> float:
    """Chance that a set of k items drawn blindly is at Hamming distance above 2u from a given one: no data are used."""
    missed = sum(math.comb(k, hit) * math.comb(n_items - k, k - hit) for hit in range(k - tolerance))
    return missed / math.comb(n_items, k)


def blind_sets(sizes: Iterable[int]) -> pd.DataFrame:
    """Failure of a blind half of the items: ``items``, ``k``, ``largest u``, ``failure``, ``u``, ``failure at u``."""
    rows = []
    for n in sizes:
        k = n // 2
        u = min(k - 1, math.ceil(3 * k / 4))
        failure = {"largest u": k - 1, "failure": random_set_failure(n, k, k - 1)}
        rows.append({"items": n, "k": k} | failure | {"u": u, "failure at u": random_set_failure(n, k, u)})
    return pd.DataFrame(rows)


def blind_failures(sizes: Iterable[int]) -> pd.DataFrame:
    """A blind half of the items at every tolerance: ``items``, ``k``, ``u``, ``share`` u / k, ``failure`` (exact)."""
    rows = [(n, n // 2, u, 2 * u / n, random_set_failure(n, n // 2, u)) for n in sizes for u in range(n // 2)]
    return pd.DataFrame(rows, columns=["items", "k", "u", "share", "failure"])


@styled
def draw_blind_failures(frame: pd.DataFrame) -> Figure:
    """Chance of failure against the tolerance, and the level that no private method is said to fall below."""
    message = "A blind draw misses less than the theorem calls unavoidable"
    figure, (axes,) = panels(message=message, height=2.8)
    axes.axhspan(0, LEAST_FAILURE, color=COLOURS[1], alpha=0.15, lw=0)
    looks = ((COLOURS[2], ":", "D"), (COLOURS[4], "--", "s"), (COLOURS[0], "-", ""))
    for (n, part), (colour, dashes, mark) in zip(frame.groupby("items"), looks, strict=True):
        axes.plot(
            part.share, part.failure, color=colour, ls=dashes, marker=mark, clip_on=False, label=f"blind, {n:,} items"
        )
    axes.axhline(LEAST_FAILURE, color=COLOURS[1], label="said to be unavoidable: 1/10")
    axes.set(xlim=(0, 1), ylim=(0, 1.03))
    axes.set_xlabel("tolerance: share of the top k that may be missed")
    axes.set_ylabel("chance of missing more")
    key(figure, *axes.get_legend_handles_labels(), columns=4)
    note(
        figure,
        "k is half of the items. A blind draw looks at no data, so it is perfectly private. Shaded: where the theorem "
        "says that no private method can be, at any tolerance.",
    )
    return figure


def tolerant_recovery(
    n_items: Iterable[float],
    tolerances: Iterable[float],
    epsilons: Iterable[float],
    rates: Iterable[float],
    answers: int = 1,
) -> pd.DataFrame:
    """Theorem 3.4 with u >= 1, nu_1 = nu_2 = 1/2, delta as printed, gap the rate / (1500 L).

    ``items``, ``u``, ``epsilon``, ``rate``, ``voters``, ``log size`` (of M = n^(0.225 u) sets over 4u apart),
    ``log code`` (of those of Gilbert's greedy argument), ``changed over printed`` (D over its bound), ``fails``.
    """
    grid = pd.DataFrame(
        [row for row in product(n_items, tolerances, epsilons, rates) if 2 * (1 + NU) * row[1] <= row[0] ** (1 - NU)],
        columns=["items", "u", "epsilon", "rate"],
    ).astype(float)
    n, u, epsilon, r = (grid[name].to_numpy() for name in grid)
    voters = packings.voters_for(n, epsilon, r)
    gap, w = r / (1500 * answers), 2 * (1 + NU) * u
    tv, kl = packings.draw_distances(n, w, gap)
    wanted = 0.9 * NU * NU * u * np.log(n)
    log_size = np.where(wanted > 30, wanted, np.log(np.floor(np.exp(np.minimum(wanted, 30)))))
    log_delta = packings.tolerant_log_delta(n, u, epsilon)
    half = np.floor(n / 2)
    return grid.assign(
        voters=voters,
        **{
            "log size": log_size,
            "log code": -stats.hypergeom.logsf(2 * NU * u - 1, half, w, w),
            "changed over printed": tv / (16 * (1 + NU) * u * gap / n),
            "fails": packings.fano(log_size, voters * answers * tv, voters * answers * kl, epsilon, log_delta),
        },
    )


#: Items and tolerances of which all numbers of exchanged items are tried.
EXCHANGED = tuple(product((10**3, 10**5, 10**9), (1, 5, 10)))
#: Items whose half is drawn blindly; epsilons at which noiseless counts are right all the same.
BLIND, TINY = (6, 10, 100, 1000), (1e-8, 1e-10)
#: Cases of Theorem 3.4 with a tolerance.
LARGE, TOLERANCES = (10**5, 10**6, 10**7, 10**9), (1, 2, 3, 10, 50, 100)


def listed_failure(n_items: int, k: int, tolerance: int) -> float:
    """`random_set_failure` by listing all sets."""
    target = set(range(k))
    return float(np.mean([len(target ^ set(s)) > 2 * tolerance for s in combinations(range(n_items), k)]))


@claim("cai2025:thm-3.4")
def check_thm_3_4() -> Iterator[Check]:
    """Theorem 3.4 for the printed tolerances, and for those of its proof."""
    failure = random_set_failure(4, 2, 1)
    yield argument("failure of a blindly drawn set, n = 4, k = 2, u = 1: it holds", failure, ">=", 0.1)
    for row in blind_sets(BLIND).itertuples():
        at = f"failure of a blindly drawn set, n = {row.items}, k = {row.k}"
        yield printed(f"{at}, u = k − 1", row.failure, ">=", 0.1)
        if row.items >= 100:
            yield printed(f"{at}, u = {row.u}", row[-1], ">=", 0.1)
    cases = [(n, k, u) for n in range(4, 8) for k in range(1, n) for u in range(min(k, n - k))]
    off = [random_set_failure(*case) - listed_failure(*case) for case in cases]
    yield agree(f"failure of a blindly drawn set, off the listing of sets, {len(cases)} cases", off)
    yield from tolerance_checks(amended, amended)
    for n in (100, 1000):
        k = n // 2
        u = math.ceil((0.5 + 1.5 / math.sqrt(n)) * k)
        what = f"failure of a blindly drawn half, n = {n:,}, u/k = {u / k:.3g}: no bound for such u can hold"
        yield amended(what, random_set_failure(n, k, u), "<", 0.1)
    enough = float((failure_bound(SIZES, 2 * ENOUGH, 1, 2) * SIZES**5).max())
    yield amended(
        "n⁵ × bound on the failure of private counts, u = 0, gap 16 rates: 2,560 L times 1/(160 L)", enough, "<=", 1
    )
    frame = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES)
    what = f"least bound on the worst failure, u = 0, δ = ε/(10 n log n), c = 1/160, L = 1, {len(frame):,} cases, n ≥ 4"
    yield amended(what, frame.wrong.min(), ">=", 0.1)
    yield from packings.packing_checks(11, 1)


def tolerance_checks(fails: Callable[..., Check], exist: Callable[..., Check]) -> Iterator[Check]:
    """What Theorem 3.4 and its proof share, for u >= 1."""
    frame = tolerant_recovery(LARGE, TOLERANCES, packings.EPSILONS, packings.RATES)
    cases = f"u ≥ 1, {len(frame)} cases, n ≥ 10^5, ν1 = ν2 = ½, c = 1/(1500 L), L = 1"
    yield fails(f"larger of the two Fano bounds on the worst failure, least, {cases}", frame.fails.min(), ">", 0.1)
    spare = (frame["log code"] - frame["log size"]).min()
    yield exist(f"log of sets that exist for k ≤ n/2 less log M, {cases}", spare, ">=", 0)
    off = frame["changed over printed"] * (frame["items"] - 1) / (frame["items"] - 3 * frame.u) - 0.5
    yield agree("D over its printed bound, times (n − 1)/(n − 3u), off ½", off)
    yield packings.rate_check(frame, "u ≥ 1")
    wanted = 0.225 * frame.u * np.log(frame["items"])
    most = (frame["log size"] / wanted).max()
    yield argument("log M over 0.225 u log n: M is rounded down", most, "<=", 1 + ROUNDING)
    yield argument("sets that M leaves out", (np.exp(wanted) - np.exp(frame["log size"]))[wanted < 30].max(), "<", 1)


def constant_failure(rho: NDArray[np.float64], guess: Iterable[int]) -> int:
    """Failure, 0 or 1, of the procedure that always names the same top set: it is perfectly private."""
    guess = set(guess)
    tau = np.asarray(rho, float).mean(1)
    return int(guess != set(np.argsort(-tau, kind="stable")[: len(guess)].tolist()))


def log_noiseless_failure(constant: float, epsilon: float, share: float = 0.1) -> float:
    """Hoeffding's bound on log P(noiseless counts miss the better of two items), gap `constant` times the rate, L = 1.

    Voters such that n log n / (m epsilon) = share.
    """
    voters = math.ceil(2 * math.log(2) / (share * epsilon))
    return -2 * voters * (constant * float(rate(2, voters, epsilon))) ** 2


@claim("cai2025:thm-3.4:u0")
def check_thm_3_4_u0() -> Iterator[Check]:
    """Exact recovery below the threshold: for one matrix, for every delta, and as a statement about the worst case."""
    for n, k in ((2, 1), (6, 3)):
        lead = np.repeat([1e-6, 0.0], [k, n - k])
        rho = 0.5 + lead[:, None] - lead
        what = f"failure of always naming the first {k} of {n} items, at a matrix with gap 10^−6"
        yield printed(what, constant_failure(rho, range(k)), ">=", 0.1)
    for epsilon in TINY:
        what = f"log of the failure of noiseless counts, at most, δ = 1, 2 items, ε = {epsilon:g}, gap 1/160 × the rate"
        yield printed(what, log_noiseless_failure(1 / 160, epsilon), ">=", math.log(0.1), error=ROUNDING)
    for answers in (1, 5):
        frame = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES, answers)
        what = f"least bound on the worst failure, δ = ε/(10 n log n), gap rate/(160 L), L = {answers}, n ≥ 4, any k"
        yield amended(what, frame.wrong.min(), ">=", 0.1)
        yield from packings.packing_checks(8 + answers, answers)


@claim("cai2025:thm-3.4:proof")
def check_thm_3_4_proof() -> Iterator[Check]:
    """Appendix B.5: the bound on D, and the two Fano bounds at tolerance 0 and from 1 on."""
    worst = max(
        float((packings.draw_distances(n, np.arange(1, 3 * u + 1), 0.01)[0] / (16 * (1 + NU) * u * 0.01 / n)).max())
        for n, u in EXCHANGED
    )
    what = "D over 16(1 + ν2)mLuΔ/n, ν2 = ½, largest of all numbers of exchanged items: a factor 2 to spare"
    yield argument(what, worst, "==", 0.5, error=1e-8)
    none = float(packings.fano(0.0, 0.0, 0.0, 1.0, -np.inf))
    yield printed("larger of the two Fano bounds, u = 0, M = n^0 = 1 matrix", none, ">", 0.1)
    w, n = 3, 10**6  # u = 1: the sets differ in all of their last three items, of which k = n - 3 leaves six
    most = largest_packing(list(combinations(range(2 * w), w)), 4)
    yield printed("most sets there are, k = n − 3, u = 1, ν1 = ν2 = ½, n = 10^6, against M", most, ">=", n**0.225)
    yield from tolerance_checks(supplied, supplied)
    least = packings.exact_recovery(packings.ITEMS, packings.EPSILONS, packings.RATES).wrong.min()
    what = "larger of the two Fano bounds, u = 0, n/2 + 1 sets with one item exchanged, C = 1/160, L = 1, least"
    yield amended(what, least, ">", 0.1)
    yield from packings.packing_checks(9, 1)


@claim("cai2025:sec-b.5:step")
def check_b5_step(gap: float = 0.01) -> Iterator[Check]:
    """The last step of the display that bounds D, and its two ends, for sets that have nothing in common."""
    for n, u in EXCHANGED:
        exchanged = 4 * (1 + NU) * u  # items in B_a or B_b
        middle, end = n * exchanged * 2 * gap / math.comb(n, 2), 16 * (1 + NU) * u * gap / n
        at = f"n = {n}, u = {u}, ν2 = ½"
        yield printed(f"n·4(1+ν2)u·2Δ/C(n, 2) over 16(1+ν2)uΔ/n, {at}", middle / end, "<=", 1)
        yield agree(f"that ratio off n/(n − 1), {at}", middle / end - n / (n - 1))
        changed = float(packings.draw_distances(n, np.array([2 * (1 + NU) * u]), gap)[0].max())
        yield amended(f"D over 16(1+ν2)mLuΔ/n, {at}", changed / end, "<=", 1)


@claim("cai2025:sec-b.5:users")
def check_b5_users(n: int = 100, users: int = 10_000, u: int = 1) -> Iterator[Check]:
    """B.5 with m as it stands there, the number of users, and with u."""
    size = round(2 * (1 + NU) * u)
    sets = math.log(math.comb(n // 2, size))
    for says, letter, value in ((printed, "m", users), (amended, "u", u)):
        at = f"n = {n}, m = {users:,}, u = {u}, ν1 = ν2 = ½"
        what = f"log of M = n^(0.9ν1ν2{letter}) less log of all sets of {size} of the last n/2 items, {at}"
        yield says(what, 0.9 * NU * NU * value * math.log(n) - sets, "<=", 0)
        yield says(f"largest d_H of two top sets less 4{letter}, {at}", 2 * size - 4 * value, ">", 0)
