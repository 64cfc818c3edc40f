"""Power of local tests at scale: laws of many voters, groups, and how many voters each test needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numba
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, norm

from companion.chapters.private_uniformity.local_channels import sign_vectors
from companion.chapters.private_uniformity.local_moments import randomised
from companion.instruments.style import COLOURS, name_lines, note, panels, styled
from companion.instruments.sweep import stream, sweep
from companion.printed import busafekete2021 as paper
from dprank.models.draws import binomial, multinomial
from dprank.models.mallows import Mallows, theta_at
from dprank.uniformity.local import LocalOneBit, LocalPairs
from dprank.uniformity.pairs import pair_signs
from dprank.uniformity.unif import unif_null_threshold

#: Up to so many items the joint law of all signs of a voter is used; beyond, independent counts.
JOINT = 10
#: Options of `local_rejections`, part of a cell's name and so of its seed.
DEFAULTS = {"public": True, "one_bit": False, "delta": 0.05, "threshold": "exact", "independent": False}
#: Beyond so many voters the null law of the statistic is taken to be chi-square.
MANY = 1_000_000


def joint_sign_laws(n_items: int, theta: float, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Exact laws of the signs of many pairings under one Mallows law, centre 0, 1, ...; for up to a dozen items.

    Of pairs of shape (pairings, pairs, 2), shape (pairings, 2^pairs), columns as in `sign_vectors`. A ranking is built
    from the top: given the set of items placed, item i comes next with probability proportional to phi^(items not
    placed before i in the centre). O(2^items items 2^pairs) each.
    """
    signs = sign_vectors(pairs.shape[1]) > 0
    rows = np.arange(len(pairs))
    partner = np.full((len(pairs), n_items), -1)
    waits = np.zeros((len(pairs), n_items, len(signs)), bool)
    for j in range(pairs.shape[1]):
        a, b = pairs[:, j].T
        partner[rows, a], partner[rows, b] = b, a
        waits[rows, a], waits[rows, b] = ~signs[:, j], signs[:, j]
    chances = np.zeros((n_items + 1, n_items))
    for free in range(1, n_items + 1):
        weight = Mallows(n_items, theta).phi ** np.arange(free)
        chances[free, :free] = weight / weight.sum()
    return np.asarray(_joint_laws(partner, waits, chances))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _joint_laws(partner, waits, chances):
    pairings, n_items, signs = waits.shape
    found = np.empty((pairings, signs))
    law = np.empty((1 << n_items, signs))
    for p in range(pairings):
        law[:] = 0
        law[0] = 1
        for mask in range((1 << n_items) - 1):
            free = 0
            for i in range(n_items):
                free += 1 - (mask >> i & 1)
            place = 0
            for i in range(n_items):
                if mask >> i & 1:
                    continue
                chance, other = chances[free, place], partner[p, i]
                place += 1
                met = mask >> max(other, 0) & 1
                for s in range(signs):
                    if met or not waits[p, i, s]:
                        law[mask | 1 << i, s] += chance * law[mask, s]
        found[p] = law[-1]
    return found


def random_pairings(n_items: int, n_pairs: int, repetitions: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Disjoint random pairs, shape (repetitions, pairs, 2), of items numbered along the centre."""
    orders = rng.permuted(np.tile(np.arange(n_items), (repetitions, 1)), axis=1)
    return orders[:, : 2 * n_pairs].reshape(repetitions, n_pairs, 2)


@lru_cache(maxsize=64)
def _threshold(n_items: int, pairs: int, samples: int, delta: float, threshold: str) -> float:
    if threshold == "printed":
        return paper.unif_threshold(n_items, delta)
    return unif_null_threshold(pairs, samples, delta) if samples <= MANY else float(chi2.isf(delta, pairs))


def local_rejections(
    n_items: int,
    n_rankings: int,
    epsilon: float,
    gap: float,
    repetitions: int,
    rng: np.random.Generator,
    public: bool = True,
    one_bit: bool = False,
    delta: float = 0.05,
    threshold: str = "exact",
    independent: bool = False,
) -> NDArray[np.float64]:
    """Simulated decisions (1 = reject) of the local tests, each with a random centre or, equally, a random pairing.

    Counts of different pairs are drawn independently, each from its exact binomial law: exact for one bit a voter, for
    pairs that do not cross in the centre and for uniform rankings; else the error is bounded by `replacement_error`,
    and up to 10 items the joint law is used instead, unless `independent`. Not `public`: the fixed pairing with the
    centre that is worst for it, every pair adjacent. The threshold is "exact" (chi-square beyond 10^6 voters) or, with
    all bits, "printed"; gap is 1 - phi.
    """
    law, kind = Mallows.of_gap(n_items, gap), LocalOneBit if one_bit else LocalPairs
    test = kind.calibrated(epsilon=epsilon, n_items=n_items, size=delta)
    groups = test.groups if isinstance(test, LocalOneBit) else test.n_pairs
    samples = n_rankings // groups if one_bit else n_rankings
    pairs = random_pairings(n_items, groups, repetitions, rng)
    if public and not (one_bit or independent) and n_items <= JOINT:
        laws = randomised(joint_sign_laws(n_items, law.theta, pairs), test.shrinkage)
        sums = multinomial(samples, laws, rng=rng) @ sign_vectors(groups)
    else:
        apart = np.abs(pairs[..., 0] - pairs[..., 1]) if public else np.ones(pairs.shape[:2], int)
        chance = (1 + test.shrinkage * law.bias(np.arange(n_items))[apart]) / 2
        sums = 2 * binomial(samples, chance, rng=rng) - samples
    statistic = (sums.astype(float) ** 2).sum(-1) / samples
    critical = _threshold(n_items, groups, samples, delta, "exact" if one_bit else threshold)
    return (statistic >= critical * (1 - 1e-13)).astype(float)


def local_power(
    n_items: int, n_rankings: int, epsilon: float, gaps: Iterable[float], repetitions: int, **options: Any
) -> pd.DataFrame:
    """Simulated power of a local test along 1 - phi; the options are those of `local_rejections`.

    A row a gap: the parameters, ``mean`` (the power), ``se``, ``repetitions``.
    """
    fixed = {"n_items": n_items, "n_rankings": n_rankings, "epsilon": epsilon} | DEFAULTS | options
    cells = [fixed | {"gap": float(gap)} for gap in gaps]
    return sweep(local_rejections, cells, experiment="06: local power", repetitions=repetitions)


def replacement_error(
    n_items: int, gap: float, epsilon: float, n_rankings: int, samples: int, rng: np.random.Generator
) -> dict[str, float]:
    """Bound on the total variation distance between all reports and independent counts, for one random pairing.

    With t the shrinkage, b_i the biases and kappa_A the mean of the product of X_i - b_i over a set A of pairs, the
    chi-square divergence of one report is exactly the sum over sets A of two or more pairs of t^(2 size(A)) kappa_A^2 /
    prod(1 - t^2 b_i^2). Sets of two are estimated without bias from simulated rankings; all larger ones are bounded by
    abs(kappa_A) <= 2^size(A).

    ``Σκ², pairs``, estimated, with its ``error`` (four standard errors); ``V, pairs``, its part of the divergence at
    the upper end; ``V, larger sets``, a bound; ``distance``, the bound for all reports: sqrt(voters log(1 + divergence)
    / 2).
    """
    test, law = LocalPairs.calibrated(epsilon=epsilon, n_items=n_items), Mallows.of_gap(n_items, gap)
    pairs = random_pairings(n_items, test.n_pairs, 1, rng)[0]
    ahead = pairs[:, 1] - pairs[:, 0]
    centred = pair_signs(law.sample(samples, rng=rng), pairs) - (np.sign(ahead) * law.bias(np.abs(ahead)))
    tables = [block.T @ block / len(block) for block in np.split(centred.astype(np.float32), 16)]
    estimates = [float(np.triu(a * b, 1).sum(dtype=float)) for a, b in zip(tables[::2], tables[1::2], strict=True)]
    squares, error = float(np.mean(estimates)), 4 * float(np.std(estimates, ddof=1)) / math.sqrt(8)
    x = test.shrinkage**2 / (1 - test.shrinkage**2)
    pairwise = x**2 * max(squares + error, 0.0)
    p = test.n_pairs
    higher = max(math.expm1(p * math.log1p(4 * x)) - 4 * p * x - math.comb(p, 2) * (4 * x) ** 2, 0.0)
    distance = min(1.0, math.sqrt(n_rankings * math.log1p(pairwise + higher) / 2))
    row = {"Σκ², pairs": squares, "error": error, "V, pairs": pairwise, "V, larger sets": higher}
    return row | {"distance": distance}


def replacement_table(cells: Iterable[tuple[int, int, float]], epsilon: float, samples: int) -> pd.DataFrame:
    """`replacement_error` for several (items, voters, 1 - phi), as a frame with a row a cell."""
    return pd.DataFrame(
        {"items": m, "voters": n, "1 − φ": gap}
        | replacement_error(m, gap, epsilon, n, samples, stream("06: replacement", {"items": m, "gap": gap}))
        for m, n, gap in cells
    )


def replacement_by_power(n_rankings: int, epsilon: float, gaps: Sequence[float], repetitions: int) -> pd.DataFrame:
    """Ten items, all bits: simulated power by the joint law of the signs, and with independent counts in its place.

    Columns: ``1 − φ``, ``joint``, ``independent``, ``error`` (1.96 standard errors of the difference).
    """
    joint = local_power(JOINT, n_rankings, epsilon, gaps, repetitions)
    apart = local_power(JOINT, n_rankings, epsilon, gaps, repetitions, independent=True)
    error = 1.96 * np.hypot(joint.se, apart.se)
    return pd.DataFrame({"1 − φ": joint.gap, "joint": joint["mean"], "independent": apart["mean"], "error": error})


def ceilings(cells: Iterable[tuple[int, int]], epsilon: float, delta: float = 0.05) -> pd.DataFrame:
    """Power at phi = 0, where all voters agree and the test of all pairs cannot do better, for (items, voters).

    The limit for many voters, noncentral chi-square.

    Columns: ``items``, ``voters``, ``power, printed threshold``, ``power, exact threshold``.
    """
    rows = []
    for m, n in cells:
        test, p = LocalPairs.calibrated(epsilon=epsilon, n_items=m), m // 2
        shift = n * p * test.shrinkage**2
        row = {"items": m, "voters": n, "power, printed threshold": ncx2.sf(paper.unif_threshold(m, delta), p, shift)}
        rows.append(row | {"power, exact threshold": ncx2.sf(chi2.isf(delta, p), p, shift)})
    return pd.DataFrame(rows)


#: What `needed_table` asks for.
POWER = 0.8


def samples_needed(
    n_items: int,
    theta: float,
    epsilon: float,
    test: str,
    pairings: int,
    rng: np.random.Generator,
    power: float = POWER,
    delta: float = 0.05,
    groups: int | None = None,
) -> tuple[float, float]:
    """Voters for a given mean power over random pairings, and the standard error of its logarithm.

    The test is "all bits", "fixed pairing" or "one bit". Given the pairing, the statistic of many voters is noncentral
    chi-square; a shift of both the null and the alternative by their discreteness is of relative order 1 / voters a
    pair.
    """
    if test == "one bit":
        one = LocalOneBit.calibrated(epsilon=epsilon, n_items=n_items, size=delta, groups=groups)
        count, each, t = one.groups, 1 / one.groups, one.shrinkage
    else:
        every = LocalPairs.calibrated(epsilon=epsilon, n_items=n_items, size=delta)
        count, each, t = every.n_pairs, 1.0, every.shrinkage
    pairs = random_pairings(n_items, count, pairings, rng)
    apart = np.ones((1, count), int) if test == "fixed pairing" else np.abs(pairs[..., 0] - pairs[..., 1])
    shift = each * t**2 * (Mallows(n_items, theta).bias(np.arange(n_items))[apart] ** 2).sum(-1)
    critical = chi2.isf(delta, count)

    def mean_power(log_n: float) -> NDArray[np.float64]:
        return np.asarray(ncx2.sf(critical, count, math.exp(log_n) * shift))

    middle = math.log(count**0.5 / shift.mean())
    found = brentq(lambda x: mean_power(x).mean() - power, middle - 3, middle + 12, xtol=1e-4)
    slope = (mean_power(found + 0.02).mean() - mean_power(found - 0.02).mean()) / 0.04
    return math.exp(found), float(mean_power(found).std() / math.sqrt(len(shift)) / slope)


def needed_table(
    items: Sequence[int], epsilon: float, distance: float, pairings: int, delta: float = 0.05
) -> pd.DataFrame:
    """Voters for power 0.8 at a fixed total variation distance from uniform, at one size.

    Columns: ``items``, ``test``, ``voters``, ``low``, ``high`` (95 % interval over pairings), ``distance``.
    """
    rows = []
    for m, test in product(items, ("all bits", "fixed pairing", "one bit")):
        rng = stream("06: voters needed", {"items": m, "test": test, "epsilon": epsilon})
        voters, error = samples_needed(m, theta_at(m, distance), epsilon, test, pairings, rng, delta=delta)
        low, high = (voters * math.exp(s * 1.96 * error) for s in (-1, 1))
        rows.append({"items": m, "test": test, "voters": voters, "low": low, "high": high, "distance": distance})
    return pd.DataFrame(rows)


def confirm_needed(needed: pd.DataFrame, epsilon: float, distance: float, repetitions: int) -> pd.DataFrame:
    """Simulated power at the numbers of `needed_table`: it should be 0.8.

    Columns: ``items``, ``test``, ``voters``, ``power``, ``error`` (1.96 standard errors).
    """
    rows = []
    for row in needed.itertuples():
        gap = -math.expm1(-theta_at(row.items, distance))
        options = {"public": row.test != "fixed pairing", "one_bit": row.test == "one bit"}
        power = local_power(row.items, math.ceil(row.voters), epsilon, [gap], repetitions, **options).iloc[0]
        found = {"power": power["mean"], "error": 1.96 * power.se}
        rows.append({"items": row.items, "test": row.test, "voters": row.voters} | found)
    return pd.DataFrame(rows)


def best_groups(power: float) -> float:
    """4 (7/5) z^2, z the normal quantile of `power`: about the best number of groups, see the chapter."""
    return 5.6 * float(norm.ppf(power)) ** 2


def group_choice(
    n_items: int, epsilon: float, groups: Sequence[int], powers: Sequence[float], pairings: int
) -> pd.DataFrame:
    """Voters that `LocalOneBit` needs, by number of groups and power, over the least among those tried.

    Index ``groups``, a column a power.
    """
    theta = theta_at(n_items, 0.5)
    table = {
        f"power {power:g}": [
            samples_needed(
                n_items, theta, epsilon, "one bit", pairings, stream("06: groups", {"groups": g}), power, groups=g
            )[0]
            for g in groups
        ]
        for power in powers
    }
    frame = pd.DataFrame(table, index=pd.Index(groups, name="groups"))
    return frame / frame.min()


#: The tests in words, and what these mean.
WORDS = {
    "fixed pairing": "many answers share ε, fixed pairs",
    "all bits": "many answers share ε, random pairs",
    "one bit": "one answer has all of ε",
}
ANSWER = (
    "An answer: which item of a pair is better. Every test protects a voter by the same ε. Many answers: half as many "
    "as items. Fixed pairs: neighbours in the common order, the worst case."
)
_LOOK = {"fixed pairing": (COLOURS[3], "v"), "all bits": (COLOURS[0], "o"), "one bit": (COLOURS[2], "D")}


@styled
def draw_voters_needed(frame: pd.DataFrame) -> Figure:
    """Voters for power 0.8 against the number of items, one line a test, with intervals."""
    last = frame[frame["items"] == frame["items"].max()].set_index("test").voters
    times = float(f"{last['all bits'] / last['one bit']:.2g}")
    message = f"Many answers per voter take {times:,g} times as many voters as one"
    figure, (axes,) = panels(message=message, height=3.2)
    for test, (colour, marker) in _LOOK.items():
        part = frame[frame.test == test]
        bars = [part.voters - part.low, part.high - part.voters]
        axes.errorbar(part["items"], part.voters, yerr=bars, label=WORDS[test], color=colour, marker=marker, capsize=2)
    axes.set(
        xscale="log", yscale="log", xlabel="items", ylabel=f"voters until {100 * POWER:g} % of\ntests see the agreement"
    )
    told = 50 * (1 + frame["distance"].iloc[0])
    note(
        figure,
        f"{ANSWER} The agreement: one ranking can be told from a shuffled one in {told:g}\N{NO-BREAK SPACE}% of cases.",
    )
    name_lines(axes, width=12)
    return figure
