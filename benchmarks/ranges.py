"""Places that noise leaves open, beside the peers: on the same noise, each with its known law.

Stepwise: all pairs not yet told apart, at every step (Mogstad, Romano, Shaikh and Wilhelm 2024), by simulated noise;
Tukey: one step with the quantile of the range (Al Mohamad, Goeman and van Zwet 2022); Bonferroni: an interval for each
pair; scores: intervals for each score that do not meet (Klein, Wright and Wieczorek 2020). Of noisy matrices, whose row
sums depend on each other, and with the drawing of persons, the narrowest known: the quantile of the range of simulated
row sums; and of a normal limit with the worst variance, which is valid in the limit only.

    python benchmarks/ranges.py [--draws 300]

Widths are mean numbers of places; an oracle that knows how the noise fell at each draw, and takes the least distance
that was right there, cannot be had, and shows what is left. Seconds of processor time, beside sorting.
"""

import argparse
import math
from itertools import product
from typing import Any

import numpy as np
from scipy import stats
from shared import best

import dprank
from dprank.privacy import ranges
from dprank.privacy.pair_errors import PairError
from dprank.privacy.pair_ranges import pair_places, score_places
from dprank.privacy.ranges import ScoreNoise, place_intervals, range_cdf, range_quantile

LEVEL = 0.95
SPREADS = {
    "tied": lambda m: np.zeros(m),  # noqa: PLW0108
    "two scales apart": lambda m: 2.0 * np.arange(m),
    "clusters": lambda m: 25.0 * (np.arange(m) * 3 // m),
    "far": lambda m: 20.0 * np.arange(m),
}
LAWS = {"Laplace": ScoreNoise("laplace", 1.0), "Gaussian": ScoreNoise("gaussian", 1.0)}


def bonferroni(law, m):
    """Distance that one of two noises is above the other by with probability (1 - level) / (m (m - 1))."""
    share = (1 - LEVEL) / (m * (m - 1))
    if law.noise == "gaussian":
        return math.sqrt(2) * stats.norm.isf(share)
    low, high = 0.0, 200.0
    while high - low > 1e-9:
        t = (low + high) / 2
        low, high = (t, high) if math.exp(-t) * (1 + t / 2) / 2 > share else (low, t)
    return high


def width(scores, apart):
    """Mean number of places that differences above `apart` leave open."""
    told = scores[:, :, None] - scores[:, None, :] > apart
    return scores.shape[1] - 2 * told.sum(axis=(1, 2)).mean() / scores.shape[1]


def alone(law, m):
    """Twice what no noise exceeds, of all."""
    beyond = -math.expm1(math.log(LEVEL) / m)
    return 2 * (stats.norm.isf(beyond / 2) if law.noise == "gaussian" else -math.log(beyond))


def stepped(scores, known):
    """Mean number of places that a step-down over all pairs leaves open."""
    m, differences = len(scores), scores[:, None] - scores
    left = ~np.eye(m, dtype=bool)
    while True:
        first, second = np.nonzero(left)
        largest = [(block[:, first] - block[:, second]).max(axis=1) for block in np.array_split(known, 40)]
        apart = np.quantile(np.concatenate(largest), LEVEL, method="higher")
        rest = left & (differences <= apart)
        if (rest == left).all():
            return m - 2 * (differences > apart).sum() / m
        left = rest


def widths(law, m, spread, draws):
    rng = np.random.default_rng(1)
    exact = SPREADS[spread](m)
    drawn = rng.laplace if law.noise == "laplace" else rng.normal
    noise, known = drawn(size=(draws, m)), drawn(size=(4000, m))
    scores, q = exact + noise, range_quantile(law, m, LEVEL)
    right, open_places = 0, 0
    first, last = 1 + (exact > exact[:, None]).sum(1), m - (exact < exact[:, None]).sum(1)
    for row in scores:
        lowest, highest = place_intervals(row, law, LEVEL)
        open_places += (highest - lowest + 1).mean() / draws
        right += ((lowest <= first) & (last <= highest)).all() / draws
    peers = {
        "stepwise": np.mean([stepped(row, known) for row in scores[: draws // 10]]),
        "Tukey": width(scores, q),
        "Bonferroni": width(scores, bonferroni(law, m)),
        "scores": width(scores, alone(law, m)),
        # of noise at hand: no larger difference of the wrong sign
        "oracle": np.mean([width(row[None], wrong(exact, one)) for row, one in zip(scores, noise, strict=True)]),
    }
    told = ", ".join(f"{name} {value:.2f} ({value / open_places:.3f}x)" for name, value in peers.items())
    print(f"{law.noise}, {m} items, {spread}: dprank {open_places:.2f} places, right in {right:.1%}; {told}")


def matrices(m, noise, spread, draws):
    """Row sums of noisy matrices."""
    rng = np.random.default_rng(2)
    delta = 1e-6 if noise == "gaussian" else 0.0
    mechanism = dprank.NoisyMatrix.calibrated(epsilon=1.0, delta=delta, n_items=m, rule="borda")
    unit = mechanism.scale * math.sqrt(2 * m)
    exact = np.rint(unit * SPREADS[spread](m) / m)
    margins = 2 * np.rint(exact[:, None] - exact)
    flat = np.zeros_like(margins)
    sums = np.array([mechanism.perturb(flat, rng).sum(1) for _ in range(4000)])
    apart = np.quantile(np.ptp(sums, axis=1), LEVEL, method="higher")
    ours, peer = 0.0, 0.0
    names = tuple(map(str, range(m)))
    for _ in range(draws):
        noisy = mechanism.perturb(margins, rng)
        order = np.argsort(-noisy.sum(1))
        release = dprank.Ranking(names, order, margins=noisy, mechanism=mechanism, source="seeded")
        lowest, highest = mechanism.open_places(release, LEVEL)
        ours += (highest - lowest + 1).mean() / draws
        peer += width(noisy.sum(1)[None], apart) / draws
    print(f"net wins of a {noise} matrix, {m} items, {spread}: dprank {ours:.2f}, simulated range {peer:.2f} "
          f"({peer / ours:.3f}x)")  # fmt: skip


def drawing(m, deviation):
    """Distances with drawing, in scales of Laplace noise: ours, a normal limit's, and quantiles added up."""
    law, share = ScoreNoise("laplace", 1.0), (1 - LEVEL) / (m * (m - 1))
    ours = PairError(((law, 2, 1.0),), deviation=deviation).quantile(share)
    normal = PairError(((law, 2, 1.0), (ScoreNoise("gaussian", deviation), 1, 1.0))).quantile(share)
    added = bonferroni(law, m) + deviation * math.sqrt(-2 * math.log(share))
    print(f"drawing of {deviation:g} scales, {m} items: dprank {ours:.2f}, normal limit {normal:.2f} "
          f"({ours / normal:.3f} of it), quantiles added {added:.2f} ({added / ours:.3f}x)")  # fmt: skip


def wrong(exact, noise):
    """Largest released difference of two items that has the wrong sign, or none."""
    differences = (exact[:, None] - exact) + (noise[:, None] - noise)
    return max(0.0, differences[exact[:, None] <= exact].max())


def distances():
    for law in LAWS.values():
        for m in (2, 10, 100, 1000):
            q, peer = range_quantile(law, m, LEVEL), bonferroni(law, m)
            told = 1 - range_cdf(law, m, peer)
            print(
                f"{law.noise}, {m} items: q = {q:.3f} scales, Bonferroni {peer:.3f} ({peer / q:.3f}x), errs {told:.2%}"
            )


def seconds(sizes=(10, 10**3, 10**5, 10**6)):
    for name, law in {**LAWS, "whole Laplace, 256 steps a scale": ScoreNoise("laplace", 256.0, 1.0)}.items():
        for m in sizes:
            scores = np.random.default_rng(2).normal(size=m) * law.scale

            def cold(law=law, m=m):
                ranges._quantile.cache_clear()
                range_quantile(law, m, LEVEL)

            calls: dict[str, Any] = {
                "quantile": cold,
                "places": lambda law=law, scores=scores: place_intervals(scores, law, LEVEL),
                "sorting": lambda scores=scores: np.sort(scores),
            }
            if m <= 10**3 and not law.step:
                error = PairError(((law, 2, 1.0),), deviation=3 * law.scale)
                calls["with drawing"] = lambda law=law, scores=scores: score_places(scores, law, LEVEL, 3 * law.scale)
                pair_places(scores, error, LEVEL)
            took = best(calls)
            ratio = took["places"] / max(took["sorting"], 1e-9)
            told = f"quantile {took['quantile']:.3f} s, places {took['places']:.3f} s ({ratio:.0f}x sorting)"
            more = f", with drawing {took['with drawing']:.3f} s" if "with drawing" in took else ""
            print(f"{name}, {m} items: {told}{more}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    given = parser.parse_args().draws
    distances()
    for which in LAWS.values():
        for number in (10, 30):
            for shape in SPREADS:
                widths(which, number, shape, given)
    for number, kind in product((3, 10, 30), ("laplace", "gaussian")):
        for shape in ("two scales apart", "clusters"):
            matrices(number, kind, shape, given)
    for number, by in product((2, 10, 100, 1000), (0.3, 3.0, 30.0)):
        drawing(number, by)
    seconds()
