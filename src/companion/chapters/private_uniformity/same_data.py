"""Power of the private tests of the central model, all on the same data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from companion.chapters.private_uniformity.trun import theorem_6
from companion.chapters.private_uniformity.trun_samples import least_step
from companion.instruments.sweep import stream, sweep
from companion.instruments.uniformity import spread, wilson
from companion.printed import busafekete2021 as paper
from dprank.models.draws import binomial
from dprank.models.mallows import Mallows
from dprank.uniformity.bucketed import BatchVote, Bucketed
from dprank.uniformity.friedman import null_rank_sums
from dprank.uniformity.laplace import LaplaceUnif, discrete_laplace_cdf
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.pairs import disjoint_pairs
from dprank.uniformity.truncated import Trun
from dprank.uniformity.unif import Unif, unif_null_threshold

DELTA = 0.05
#: Section 7.3 says both 0.33 and 1/3.
EPSILON = 1 / 3
BUCKETED, TRUNCATED, EXCHANGED = "BUNIF", "TRUN", "TRUN, answers exchanged"
LEVEL = "BUNIF of TRUN's size"
COIN, VOTE, LAPLACE, RAMP = "BUNIF with a coin", "noisy vote of batches", "UNIF + Laplace", "TRUN, repaired"
#: How far TRUN, answers exchanged, is behind BUNIF of its size: a difference on the same data.
BEHIND = "TRUN behind"
PAIRS, RANKS, FREE = "noisy norm, pairs", "noisy norm, all ranks", "UNIF, not private"


def printed_mu(n_items: int, n_rankings: int, epsilon_0: float, delta: float = DELTA) -> float:
    """The mu for which Theorem 6 asks for just `n_rankings` rankings, at most 1: Figure 3 does not say its own."""

    def excess(mu: float) -> float:
        return float(theorem_6(n_items, mu, epsilon_0, delta).max()) - n_rankings

    return 1.0 if excess(1.0) >= 0 else float(brentq(excess, 1e-9, 1.0))


@numba.njit(cache=True, error_model="numpy")
def _running_sums(rows: Any, first: Any, second: Any, ends: Any) -> Any:
    """Sums of the pair signs over the first `ends[0]`, `ends[1]`, ... rankings, shape (ends, pairs)."""
    behind, start = np.zeros(len(first), np.int64), 0
    sums = np.empty((len(ends), len(first)), np.int64)
    for e in range(len(ends)):
        for r in range(start, ends[e]):
            row = rows[r]
            for p in range(len(first)):
                behind[p] += row[first[p]] > row[second[p]]
        sums[e] = ends[e] - 2 * behind
        start = ends[e]
    return sums


def batch_sums(rows: NDArray[Any], pairs: NDArray[np.int64], counts: Iterable[int]) -> dict[int, NDArray[np.int64]]:
    """Sums of the pair signs over each of so many batches of floor(rankings / batches) rankings, in one pass.

    Shape (batches, pairs).
    """
    ends = {b: np.arange(b + 1) * (len(rows) // b) for b in counts}
    every = np.unique(np.concatenate(list(ends.values())))
    first, second = np.ascontiguousarray(pairs.T, np.uint32)
    sums = _running_sums(rows, first, second, every)
    return {b: np.diff(sums[np.searchsorted(every, at)], axis=0) for b, at in ends.items()}


@cache
def central_tests(n_items: int, n_rankings: int, epsilon_0: float, null_draws: int) -> dict[str, Any]:
    """Private tests of the central model at one size; those that are not the paper's are pure epsilon_0-DP.

    A norm comes with the step it rejects from. The repaired and the better tests are of size `DELTA` at most; for all
    ranks that is certified by `null_draws` simulated uniform data sets.
    """
    m, n = n_items, n_rankings
    mu = printed_mu(m, n, epsilon_0)
    ranks = NoisyNorm.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA, statistic="ranks")
    pairs = NoisyNorm.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA)
    bucketed = paper.bucketed(m, n, epsilon_0, DELTA).mechanism
    exchanged = paper.trun(m, n, epsilon_0, DELTA, mu, accept_large=False).mechanism
    threshold = unif_null_threshold(m // 2, bucketed.batch_voters, trun_size(exchanged))
    return {
        BUCKETED: bucketed,
        LEVEL: replace(bucketed, batch_threshold=threshold),
        TRUNCATED: paper.trun(m, n, epsilon_0, DELTA, mu).mechanism,
        EXCHANGED: exchanged,
        COIN: Bucketed.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        VOTE: BatchVote.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        LAPLACE: LaplaceUnif.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        RAMP: Trun.calibrated(epsilon=epsilon_0, n_items=m, n_voters=n, size=DELTA),
        PAIRS: (pairs, pairs.threshold()),
        RANKS: (ranks, rank_threshold(ranks, null_draws)),
        FREE: Unif.calibrated(n_items=m, n_voters=n, size=DELTA),
    }


@cache
def trun_size(test: paper.PrintedTrun, draws: int = 20_000) -> float:
    """Probability that TRUN rejects uniform rankings, over simulated sign sums: off by less than 0.001 or so."""
    return float((1 - test.acceptance(*_null_sums(test.n_items, test.n_voters, draws))).mean())


@cache
def _null_sums(n_items: int, n_rankings: int, draws: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """UNIF's statistic and the sum of all signs, of uniform rankings."""
    rng = stream("busafekete2021 size of TRUN", {"n_items": n_items, "n_rankings": n_rankings})
    sums = 2 * binomial(n_rankings, 0.5, (draws, n_items // 2), rng=rng) - n_rankings
    return (sums**2).sum(-1) / n_rankings, sums.sum(-1)


def rank_threshold(test: NoisyNorm, null_draws: int) -> int:
    """The least step that the noisy norm of uniform rankings reaches with probability `DELTA` at most, simulated."""
    rng = stream("busafekete2021 rank norms", {"n_items": test.n_items, "n_rankings": test.n_voters})
    sums = 2 * null_rank_sums(rng, null_draws, test.n_voters, test.n_items) - test.n_voters * (test.n_items - 1)
    return least_step(test, test.on_grid((sums**2).sum(axis=1)))


def central_draws(
    n_items: int,
    n_rankings: int,
    scaled: float,
    epsilon_0: float,
    null_draws: int,
    *,
    repetitions: int,
    rng: np.random.Generator,
) -> dict[tuple[str], NDArray[np.float64]]:
    """With what probability each private test rejects each of many data sets, by its noise alone; for `sweep`.

    Rankings are drawn around the identity, with a fresh pairing each time. A random pairing makes that the paper's
    random centre, and the norm of the rank sums does not know the items' names. All tests see the same data: "TRUN
    behind" is the probability of `LEVEL` less that of `EXCHANGED`.
    """
    tests = central_tests(n_items, n_rankings, epsilon_0, null_draws)
    law = Mallows(n_items, spread(n_items, n_rankings, scaled))
    rejected = {name: np.zeros(repetitions) for name in tests}
    for r in range(repetitions):
        rows = law.sample(n_rankings, rng=rng)
        for name, share in rejection(tests, rows, disjoint_pairs(n_items, rng=rng)).items():
            rejected[name][r] = share
    rejected[BEHIND] = rejected[LEVEL] - rejected[EXCHANGED]
    return {(name,): values for name, values in rejected.items()}


def rejection(tests: dict[str, Any], rows: NDArray[Any], pairs: NDArray[np.int64]) -> dict[str, float]:
    """With what probability each of `central_tests` rejects the rankings `rows`, shape (rankings, items). Exact."""
    n, m = rows.shape
    batched = batch_sums(rows, pairs, {1, *(tests[name].n_batches for name in (BUCKETED, COIN, VOTE))})
    sums = batched[1][0]
    squared = int((sums**2).sum())
    y = squared / n

    def batch_rejects(test: Bucketed | BatchVote) -> NDArray[np.bool_]:
        return (batched[test.n_batches] ** 2).sum(axis=1) / test.batch_voters >= test.batch_threshold

    def noise_sf(steps: float, scale: float) -> float:
        return float(discrete_laplace_cdf(-np.asarray(math.ceil(steps)), scale))

    shares = {FREE: float(y >= tests[FREE].threshold)}
    for name in (BUCKETED, LEVEL, COIN):
        coin = tests[name].coin
        shares[name] = coin / 2 + (1 - coin) * float(batch_rejects(tests[name]).mean())
    shares[VOTE] = noise_sf(tests[VOTE].threshold - int(batch_rejects(tests[VOTE]).sum()), tests[VOTE].scale)
    # Y is at least the threshold where so many pairs disagree, or fewer
    most = math.floor((len(pairs) * n - tests[LAPLACE].threshold) * n / 4 + 1e-6)
    shares[LAPLACE] = noise_sf((len(pairs) * n * n - squared) // 4 - most, tests[LAPLACE].scale)
    for name in (TRUNCATED, EXCHANGED, RAMP):
        shares[name] = 1 - float(tests[name].accepts(sums))
    # a column's sum is below the number of entries
    spread_of_ranks = 2 * rows.sum(axis=0, dtype=np.int32).astype(np.int64) - n * (m - 1)
    for name, square in ((PAIRS, squared), (RANKS, int((spread_of_ranks**2).sum()))):
        test, threshold = tests[name]
        shares[name] = noise_sf(threshold - int(test.on_grid(square)), test.scale)
    return shares


def central_power(
    panels: Iterable[tuple[int, int]],
    scaled: Sequence[float],
    repetitions: int,
    *,
    epsilon_0: float = EPSILON,
    null_draws: int = 499,
    jobs: int = 1,
) -> pd.DataFrame:
    """Power of the private tests of the central model: the mean of their probabilities to reject, over data sets.

    Columns: ``n_items``, ``n_rankings``, ``scaled``, ``gap`` (1 - phi), ``delta``, ``test``, ``mean``, ``se``, ``low``
    and ``high`` (Wilson, 95 %; not of "TRUN behind", a difference), ``repetitions``.
    """
    cells = [
        {"n_items": m, "n_rankings": n, "scaled": float(s), "epsilon_0": epsilon_0, "null_draws": null_draws}
        for m, n in panels
        for s in scaled
    ]
    frame = sweep(
        central_draws,
        cells,
        experiment="busafekete2021 central power",
        repetitions=repetitions,
        outcomes=("test",),
        jobs=jobs,
    )
    theta = [spread(m, n, s) for m, n, s in zip(frame.n_items, frame.n_rankings, frame.scaled, strict=True)]
    frame["gap"], frame["delta"] = -np.expm1(-np.array(theta)), DELTA
    share = frame["mean"].where(frame.test != BEHIND)
    frame["low"], frame["high"] = wilson(share, frame.repetitions)
    return frame
