"""How often the betting audit calls a kept promise broken, and how often auditors with a bug of their own do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import joblib
import numpy as np
import pandas as pd
from scipy.stats import beta, norm

from companion.chapters.privacy_audited.cases.case import Case, sampler
from companion.chapters.privacy_audited.promises import known
from companion.instruments.sweep import stream
from companion.ledger.claim import Check, claim, printed
from dprank.audit.betting import FIRST, Judged, Seen, draw_rows
from dprank.audit.clopper_pearson import loss_bounds
from dprank.audit.events import proposals

#: Share of the promised epsilon that is really lost where a promise counts as tight.
TIGHT = 0.99
#: Confidence of one audit: a kept promise is called broken in one of a thousand audits at most.
CONFIDENCE = 0.999
#: What the book promises: share of false alarms, and mechanisms that it is measured on.
SHARE, MECHANISMS = 0.01, 12
#: Most features of a release that is audited a thousand times.
FEATURES = 3
#: Probability that an upper bound on a share of alarms is too low.
MISS = 0.05
#: Audits of one mechanism that share one stream.
_BLOCK = 50

Auditor = Callable[[Case, int, np.random.Generator], bool]


def tight_cases() -> list[Case]:
    """One case of every class whose calibrated mechanism loses all that it promises, and one more with a delta: the one
    of fewest features; where these are more than `FEATURES`, an audit takes too long to be repeated much.
    """
    chosen: dict[tuple[type, bool], tuple[int, Case]] = {}
    for case in known().values():
        promised = case.mechanism.guarantee.epsilon
        if case.printed is None and 0 < promised < np.inf and case.exact_epsilon() >= TIGHT * promised:
            key = type(case.mechanism), case.delta > 0
            width = sampler(case.mechanism)(case.data, 1, stream("audit: features", {"case": case.name})).shape[1]
            if key not in chosen or width < chosen[key][0]:
                chosen[key] = width, case
    return [case for width, case in chosen.values() if width <= FEATURES]


def betting(case: Case, budget: int, rng: np.random.Generator, confidence: float = CONFIDENCE) -> bool:
    """Whether the library's audit refutes the promise; the law on paper is audited, not its floats."""
    promise = case.mechanism.guarantee
    limits = {"rng": rng, "confidence": confidence, "budget": budget, "bits": False}
    return case.bet(promise.epsilon, promise.delta, **limits).refuted


def false_alarms(
    chosen: Sequence[Case], runs: int, budget: int, *, auditor: Auditor = betting, jobs: int = 1
) -> pd.DataFrame:
    """Audits of kept promises, a row a mechanism: ``mechanism``, ``epsilon``, ``delta``, ``runs``, ``alarms``, ``most``
    (an alarm is less likely, but with probability `MISS`). Every number of jobs gives the same alarms.
    """
    work = [(case, block) for case in chosen for block in range(-(-runs // _BLOCK))]
    blocks = [(case, auditor, min(_BLOCK, runs - block * _BLOCK), budget, block) for case, block in work]
    alarms = joblib.Parallel(n_jobs=jobs)(joblib.delayed(_alarms)(*block) for block in blocks)
    rows = []
    for case in chosen:
        found = sum(alarm for (of, _), alarm in zip(work, alarms, strict=True) if of is case)
        promise = case.mechanism.guarantee
        rows.append((case.name, promise.epsilon, promise.delta, runs, found, upper_share(found, runs)))
    return pd.DataFrame(rows, columns=["mechanism", "epsilon", "delta", "runs", "alarms", "most"])


def upper_share(hits: int, runs: int) -> float:
    """Clopper and Pearson's upper bound on a probability, too low with probability `MISS`."""
    return float(beta.isf(MISS, hits + 1, runs - hits)) if hits < runs else 1.0


def lower_share(hits: int, runs: int) -> float:
    """Their lower bound, too high with probability `MISS`."""
    return float(beta.ppf(MISS, hits, runs - hits + 1)) if hits else 0.0


def _alarms(case: Case, auditor: Auditor, runs: int, budget: int, block: int) -> int:
    cell = {"mechanism": case.name, "auditor": auditor.__name__, "budget": budget}
    rng = stream("audit: false alarms", cell, block)
    return sum(auditor(case, budget, rng) for _ in range(runs))


def _draw(case: Case, size: int, rng: np.random.Generator) -> Seen:
    return Seen(*(draw_rows(sampler(case.mechanism), data, size, rng) for data in (case.data, case.other)))


def betting_on_the_past(case: Case, budget: int, rng: np.random.Generator) -> bool:
    """Bets each round on the event and at the stake that the same draws have proposed."""
    promise = case.mechanism.guarantee
    grid = np.array([promise.epsilon])
    wealth, samples, size = 0.0, 0, FIRST
    while samples + 2 * size <= budget:
        drawn = _draw(case, size, rng)
        gains = drawn.plan(grid, promise.delta, bits=False).gains(drawn, grid, promise.delta)[:, 0]
        if wealth + gains.max() >= -np.log(1 - CONFIDENCE):
            return True
        wealth, samples, size = wealth + gains[-1], samples + 2 * size, 2 * size
    return False


def counting_on_the_past(case: Case, budget: int, rng: np.random.Generator) -> bool:
    """Learns events from the same releases that it counts, and trusts the best bound as if there were one event."""
    promise = case.mechanism.guarantee
    seen = _draw(case, budget // 2, rng)
    partitions = proposals(seen.first, seen.second, bits=False)
    counts = [(partition.counts(seen.first), partition.counts(seen.second)) for partition in partitions]
    high, low = (share * (budget // 2) for share in Judged(partitions, counts, budget // 2).shares())
    found = loss_bounds(high, low, budget // 2, promise.delta, (1 - CONFIDENCE) / 2)
    return bool(found.max() > promise.epsilon)


def watching_a_test(case: Case, budget: int, rng: np.random.Generator) -> bool:
    """Tests one event, chosen on releases of its own, but again after every hundred more until the test rejects."""
    promise = case.mechanism.guarantee
    learned = _draw(case, budget // 4, rng).judged(bits=False)
    high, low = learned.shares()
    best = np.argmax(loss_bounds(high * learned.rows, low * learned.rows, learned.rows, promise.delta, MISS))
    event = learned.event(int(best))
    x, y = (event.holds(rows) for rows in _draw(case, budget // 4, rng).ordered(event.swapped))
    gains = x - np.exp(promise.epsilon) * y - promise.delta
    looks = np.arange(100, len(gains) + 1, 100)
    means = np.cumsum(gains)[looks - 1] / looks
    variances = np.maximum(np.cumsum(gains**2)[looks - 1] / looks - means**2, 0)
    return bool((means * np.sqrt(looks) > norm.isf(1 - CONFIDENCE) * np.sqrt(variances)).any())


#: Auditors that call kept promises broken, by what is wrong with them.
BROKEN: dict[str, Auditor] = {
    "event and stake chosen on the draws that are bet on": betting_on_the_past,
    "event chosen on the draws that are counted": counting_on_the_past,
    "a test of fixed size, repeated until it rejects": watching_a_test,
}


def auditors(chosen: Sequence[Case], runs: int, budget: int, *, jobs: int = 1) -> pd.DataFrame:
    """Alarms of the betting audit and of auditors with a bug, all mechanisms together: ``auditor``, ``runs``,
    ``alarms``, ``share``, ``low``, ``most`` (bounds on the mean probability of an alarm, each wrong with probability
    `MISS`).
    """
    rows = []
    for name, auditor in {"betting, as it should be": betting, **BROKEN}.items():
        frame = false_alarms(chosen, runs, budget, auditor=auditor, jobs=jobs)
        hits, audits = int(frame.alarms.sum()), int(frame.runs.sum())
        rows.append((name, audits, hits, hits / audits, lower_share(hits, audits), upper_share(hits, audits)))
    return pd.DataFrame(rows, columns=["auditor", "runs", "alarms", "share", "low", "most"])


@claim("audit:false-alarms")
def check_false_alarms(frame: pd.DataFrame) -> Iterator[Check]:
    """At most `SHARE` of the audits of each mechanism, from `false_alarms`; with few runs that is open."""
    worst = frame.loc[frame.alarms.idxmax()]
    low, high = lower_share(worst.alarms, worst.runs), frame.most.max()
    yield printed("correct mechanisms of which the loss is tight", len(frame), ">=", MECHANISMS)
    what = f"chance of a false alarm where most were seen, {worst.alarms} in {worst.runs} audits: {worst.mechanism}"
    yield printed(what, (low + high) / 2, "<=", SHARE, error=(high - low) / 2)
