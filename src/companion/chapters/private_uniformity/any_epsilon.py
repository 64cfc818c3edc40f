"""Chapter 6 at its reader's parameters: its first figure, and the numbers of its sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from companion.chapters.private_uniformity import local_voters, trun_samples
from companion.chapters.private_uniformity.figure_3 import draw_power
from companion.chapters.private_uniformity.same_data import (
    BUCKETED,
    EXCHANGED,
    RANKS,
    TRUNCATED,
    batch_sums,
    printed_mu,
)
from companion.chapters.private_uniformity.trun import agreeing_loss, mu_at
from companion.instruments.style import styled
from companion.instruments.sweep import stream
from companion.instruments.uniformity import least, spread, wilson
from companion.printed import busafekete2021 as paper
from dprank.models.mallows import Mallows
from dprank.uniformity.friedman import null_rank_sums
from dprank.uniformity.noisy_norm import NoisyNorm
from dprank.uniformity.pairs import disjoint_pairs

#: Agreement in `spread`'s unit, in which all sizes behave alike.
SCALED = (0.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
#: Uniform data sets behind the threshold of all ranks.
NULL_DRAWS = 99
#: Method -> its name in a sentence; TRUN takes a second, so that only the page behind has it.
COMPARED = {
    "noisy norm of all ranks": "ranks",
    "noisy norm": "norm",
    "noisy vote of batches": "vote",
    "Laplace on Y": "laplace",
    "batches and a coin": "coin",
}
#: How neighbours in the common order are preferred there: 65 to 35.
BIAS = 0.3


def rank_threshold(test: NoisyNorm, delta: float) -> int:
    """The least step that the noisy norm of uniform rankings reaches with probability `delta` at most, simulated."""
    rng = stream("06: rank norms", {"n_items": test.n_items, "n_rankings": test.n_voters})
    sums = 2 * null_rank_sums(rng, NULL_DRAWS, test.n_voters, test.n_items) - test.n_voters * (test.n_items - 1)
    return trun_samples.least_step(test, test.on_grid((sums**2).sum(axis=1)), delta)


def powers(n_items: int, n_rankings: int, epsilon: float, delta: float, repetitions: int) -> pd.DataFrame:
    """With what probability the curator's tests as printed, and the norm of all ranks, reject along 1 - phi.

    TRUN's mu is that of `printed_mu`. Columns: ``n_items``, ``n_rankings``, ``gap`` (1 - phi), ``delta``, ``test``,
    ``mean``, ``low`` and ``high`` (Wilson, 95 %), ``repetitions``.
    """
    m, n = n_items, n_rankings
    bucketed = paper.bucketed(m, n, epsilon, delta).mechanism
    as_printed = paper.trun(m, n, epsilon, delta, printed_mu(m, n, epsilon, delta)).mechanism
    turned = {TRUNCATED: as_printed, EXCHANGED: replace(as_printed, accept_large=False)}
    ranks = NoisyNorm.calibrated(epsilon=epsilon, n_items=m, n_voters=n, size=delta, statistic="ranks")
    threshold = rank_threshold(ranks, delta)
    rows = []
    for scaled in SCALED:
        theta = spread(m, n, scaled)
        law, rng = Mallows(m, theta), stream("06: power", {"n_items": m, "n_rankings": n, "scaled": scaled})
        seen = np.empty((repetitions, 4))
        for r in range(repetitions):
            places, pairs = law.sample(n, rng=rng), disjoint_pairs(m, rng=rng)
            batched = batch_sums(places, pairs, {1, bucketed.n_batches})
            votes = (batched[bucketed.n_batches] ** 2).sum(axis=1) / bucketed.batch_voters >= bucketed.batch_threshold
            norm = ranks.on_grid(np.array([int(ranks.squared_norm(places))]))
            trun = [1 - float(test.accepts(batched[1][0])) for test in turned.values()]
            seen[r] = [votes.mean(), *trun, float(ranks.noise_sf(threshold - norm)[0])]
        cell = {"n_items": m, "n_rankings": n, "gap": -math.expm1(-theta), "delta": delta, "repetitions": repetitions}
        names = (BUCKETED, *turned, RANKS)
        rows += [cell | {"test": name, "mean": mean} for name, mean in zip(names, seen.mean(axis=0), strict=True)]
    frame = pd.DataFrame(rows)
    frame["low"], frame["high"] = wilson(frame["mean"], frame.repetitions)
    return frame


def needed(n_items: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Rankings for power 0.8 at equal size and privacy: ``test``, ``rankings``; neighbours have `BIAS`."""
    found = {}
    for test in COMPARED:

        def enough(k: int, test: str = test) -> bool:
            if test == "noisy norm of all ranks":
                return trun_samples.ranks_power(n_items, k, BIAS, 300, epsilon, delta) >= 0.8
            try:
                return trun_samples.exact_power(test, n_items, k, BIAS, epsilon, delta) >= 0.8
            except ValueError:  # so few rankings that there is no such test
                return False

        found[test] = least(enough, share=1 / 30)
    return pd.DataFrame({"test": found.keys(), "rankings": found.values()})


def plain(number: float) -> str:
    """Two digits, and no exponent."""
    return f"{float(f'{number:.2g}'):,.10g}"


def numbers(
    power: pd.DataFrame, need: pd.DataFrame, voters: pd.DataFrame, *, rankings: int, epsilon: float, delta: float
) -> Mapping[str, str]:
    """Those of the chapter's sentences, by name."""
    n_items = int(power.n_items.iloc[0])
    uniform = power[(power.gap == 0) & (power.test == TRUNCATED)]
    lost = agreeing_loss(paper.trun(n_items, rankings, epsilon, delta, mu_at(n_items, 0.5)).mechanism)
    batches = paper.bucketed(n_items, rankings, epsilon, delta).mechanism.n_batches
    kept = "It does not keep its promise either" if lost > epsilon else "Here it keeps its promise"
    found = {
        "kept": kept,
        "size": f"{100 * uniform['mean'].item():.0f} %",
        "loss": f"{lost:.2g}",
        "odds": plain(math.exp(lost)),
        "promised": f"{epsilon:.2g}",
        "odds-promised": plain(math.exp(epsilon)),
        "factor": f"{lost / epsilon:.2g}",
        "factor-ceiling": f"{math.log((2 - delta) / delta) / epsilon:.2g}",
        "ceiling": f"{math.log((2 - delta) / delta):.2f}",
        "items": f"{n_items:,}",
        "rankings": f"{rankings:,}",
        "share": f"1/{batches}" if batches > 1 else "1",
    }
    for test, count in zip(need.test, need.rankings, strict=True):
        found[COMPARED[str(test)]] = f"{int(count):,}"
    by_test = voters.pivot(index="items", columns="test", values="voters")
    for name, items in (("most", by_test.index.max()), ("ten", by_test.index.min())):
        all_bits, one = by_test.loc[items, "all bits"], by_test.loc[items, "one bit"]
        found[f"local-{name}"] = f"{items:,}"
        for word, count in (("all", all_bits), ("one", one)):
            found[f"local-{name}-{word}"] = plain(count)
        found[f"local-{name}-gain"] = plain(all_bits / one)
    blind = local_voters.ceilings([(1000, 300_000)], epsilon, delta)["power, printed threshold"].item()
    return found | {"blind": f"{100 * float(blind):.1f} %"}


@styled
def draw_powers(frame: pd.DataFrame) -> Figure:
    """`powers`: the tests that the paper has for a curator, and the norm of all ranks."""
    size = frame[(frame.gap == 0) & (frame.test == TRUNCATED)]["mean"].item()
    return draw_power(
        frame,
        f"As printed, TRUN calls {100 * size:.0f} % of shuffled rankings not random",
        "A good test rejects few data sets at the left end, where all is chance (dotted: the share allowed), and all "
        "at the right end.",
    )
