"""How many releases it takes to prove that a noise is too small, by betting and by counting."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from companion.experiments.sweep import stream
from dprank.audit.betting import FIRST, LowerBound, Sampler, lower_bound
from dprank.audit.clopper_pearson import held_out_bound
from dprank.privacy import noise

#: Epsilon that the author of the count promises, and the counts of two neighbours.
PROMISE, PAIR = 1.0, (0, 1)
#: How the two auditors are called in pictures.
BETTING, COUNTING = "betting", "counting, held out"


def count_with_error(factor: float) -> Sampler:
    """A count with whole Laplace noise of scale 1 / (`factor` `PROMISE`): its true epsilon is `factor` `PROMISE`."""

    def sample(count: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(count + noise.discrete_laplace(1 / (factor * PROMISE), size, rng=rng), float)[:, None]

    return sample


def paths(factors: Iterable[float], runs: int, budget: int, *, confidence: float = 0.999) -> pd.DataFrame:
    """Wealth of bets against the promise.

    Parameters
    ----------
    factors : iterable of float
        True epsilon over promised; 1 for a promise that is kept.
    runs : int
        Audits of each.
    budget : int
        Releases of an audit, at most.
    confidence : float
        At which an audit stops.

    Returns
    -------
    pandas.DataFrame
        A row a round: ``factor``, ``run``, ``samples``, ``wealth``, ``goal``.
    """
    rows = []
    for factor in factors:
        for run in range(runs):
            found = _bet(factor, run, budget, confidence)
            common = {"factor": factor, "run": run, "goal": 1 / (1 - confidence)}
            rows += [common | {"samples": samples, "wealth": wealth} for samples, wealth in found.path]
    return pd.DataFrame(rows)


def to_catch(
    factors: Iterable[float], runs: int, budget: int, *, confidence: float = 0.999, jobs: int = 1
) -> pd.DataFrame:
    """Releases until the promise is refuted.

    Counting needs to know in advance how many it may have. It is given every power of two afresh, and what is shown is
    the first that suffices: it is not charged for the looks before, nor for what they do to its confidence.

    Parameters
    ----------
    factors, runs, budget, confidence
        As of `paths`; factors above 1.
    jobs : int
        Worker processes.

    Returns
    -------
    pandas.DataFrame
        A row a factor and ``method``: ``runs``, ``caught``; of the releases ``median`` and the quartiles ``low`` and
        ``high``, infinite where nothing is caught; ``lower``, the mean bound on the loss at the whole budget as a share
        of the true one.
    """
    cells = [(factor, run) for factor in factors for run in range(runs)]
    found = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(_needed)(factor, run, budget, confidence) for factor, run in cells
    )
    frame = pd.DataFrame([row for both in found for row in both])
    rows = []
    for (factor, method), part in frame.groupby(["factor", "method"], sort=False):
        low, median, high = np.quantile(part.samples, [0.25, 0.5, 0.75], method="inverted_cdf")
        caught = int(np.isfinite(part.samples).sum())
        rows.append(
            {"factor": factor, "method": method, "runs": runs, "caught": caught}
            | {"median": median, "low": low, "high": high, "lower": part.lower.mean()}
        )
    return pd.DataFrame(rows)


def _needed(factor: float, run: int, budget: int, confidence: float) -> list[dict[str, Any]]:
    bets = _bet(factor, run, budget, confidence)
    common: dict[str, Any] = {"factor": factor, "run": run}
    all_in = _bet(factor, run, budget, confidence, levels=PROMISE * factor * np.linspace(0.02, 1, 50))
    rows = [common | {"method": BETTING, "samples": bets.samples if bets.refuted else np.inf, "lower": all_in.epsilon}]
    rng = stream("audit: counting", {"factor": factor, "run": run})
    needed, count = np.inf, 4 * FIRST
    while count <= budget:
        counted = _count(factor, count, confidence, rng)
        if counted.refuted:
            needed = count
            break
        count *= 2
    last = _count(factor, budget, confidence, rng)
    rows.append(common | {"method": COUNTING, "samples": needed, "lower": last.epsilon})
    return [row | {"lower": row["lower"] / (factor * PROMISE)} for row in rows]


def _bet(factor: float, run: int, budget: int, confidence: float, levels: Any = ()) -> LowerBound:
    rng = stream("audit: betting", {"factor": factor, "run": run})
    return lower_bound(
        count_with_error(factor),
        [PAIR],
        PROMISE,
        rng=rng,
        confidence=confidence,
        budget=budget,
        levels=levels,
        names=["the count"],
    )


def _count(factor: float, budget: int, confidence: float, rng: np.random.Generator) -> LowerBound:
    return held_out_bound(
        count_with_error(factor), [PAIR], PROMISE, rng=rng, confidence=confidence, budget=budget, names=["the count"]
    )
